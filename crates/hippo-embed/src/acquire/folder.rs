//! Settings of a sentence-transformers model folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::model::Pooling;
use super::{AcquireError, CONFIG, TOKENIZER, WEIGHTS};

/// Maximum size of a settings file in bytes.
const MAX_SETTINGS: u64 = 1 << 20;
/// Maximum size of `tokenizer.json` in bytes.
const MAX_TOKENIZER: u64 = 128 << 20;
pub(super) const WANTED: &str = "give the whole folder of a sentence-transformers model, as downloaded from \
                                 its hub, with modules.json, config.json, tokenizer.json, model.safetensors \
                                 and 1_Pooling/config.json";

/// The settings of a sentence-transformers model, as stored in its folder.
#[derive(Debug)]
pub(super) struct ModelFolder {
    /// The folder that contains the weights, the tokenizer and the configuration: the model folder or a folder inside
    /// it.
    pub(super) transformer: PathBuf,
    pub(super) pooling: Pooling,
    /// True if the pooling includes the prompt, which is the prefix of a text. hippod always includes it.
    pub(super) pools_prompt: bool,
    /// Prefixes for queries and passages; empty if the folder does not name them.
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
    /// Maximum length of a sequence in word pieces, if the folder contains it.
    pub(super) max_pieces: Option<usize>,
}

/// Reads the settings of a model folder.
pub(super) fn read(root: &Path) -> Result<ModelFolder, AcquireError> {
    if !root.is_dir() {
        // If the folder cannot be read, this returns the exact error, such as a missing permission.
        fs::read_dir(root).map_err(|e| AcquireError::io("read", root, e))?;
    }
    let (transformer, pooling) = find_modules(root)?;
    required(&transformer.join(CONFIG))?;
    check_files(&transformer)?;
    let (pooling, pools_prompt) = read_pooling(&pooling.join(CONFIG))?;
    let prompts = settings(&root.join("config_sentence_transformers.json"))?;
    let prefix = |names: &[&str]| {
        let named = names
            .iter()
            .copied()
            .chain(prompts["default_prompt_name"].as_str());
        let prompt = named.filter_map(|name| prompts["prompts"][name].as_str()).next();
        prompt.unwrap_or_default().to_owned()
    };
    Ok(ModelFolder {
        pooling,
        pools_prompt,
        query_prefix: prefix(&["query"]),
        passage_prefix: prefix(&["document", "passage", "corpus"]),
        max_pieces: read_max_pieces(root, &transformer)?,
        transformer,
    })
}

/// Returns the folders of the two modules that have files: the transformer and the pooling.
fn find_modules(root: &Path) -> Result<(PathBuf, PathBuf), AcquireError> {
    let path = root.join("modules.json");
    let listed = settings(&path)?;
    let Some(modules) = listed.as_array() else {
        let what = "it has no modules.json, so it is not a sentence-transformers model";
        return Err(folder_error(root, what, WANTED));
    };
    let text = |module: &Value, key: &str| module[key].as_str().unwrap_or_default().to_owned();
    let kinds: Vec<String> = modules.iter().map(|module| text(module, "type")).collect();
    let kinds: Vec<&str> = kinds
        .iter()
        .map(|kind| kind.rsplit('.').next().unwrap_or_default())
        .collect();
    let (["Transformer", "Pooling"] | ["Transformer", "Pooling", "Normalize"], [first, second, ..]) =
        (&kinds[..], &modules[..])
    else {
        let what = format!("its modules are {}", kinds.join(", "));
        let fix =
            "choose a model whose modules are Transformer, Pooling and optionally Normalize, in this order";
        return Err(folder_error(&path, what, fix));
    };
    let inside = |part: String| {
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        match Path::new(&part).components().all(is_plain) {
            true => Ok(root.join(part)),
            false => {
                let what = format!("it names a folder outside the model: {part:?}");
                Err(folder_error(&path, what, WANTED))
            }
        }
    };
    Ok((inside(text(first, "path"))?, inside(text(second, "path"))?))
}

/// Checks that the weights and the tokenizer exist.
fn check_files(folder: &Path) -> Result<(), AcquireError> {
    if !folder.join(WEIGHTS).is_file() {
        let there = |name: &str| folder.join(name).exists();
        let (what, fix) = if there("model.safetensors.index.json") {
            (
                "its weights are in several files",
                "save the weights in one file: model.save_pretrained(DIR, max_shard_size=\"100GB\")",
            )
        } else if there("pytorch_model.bin") {
            (
                "its weights are a pickle file (pytorch_model.bin), which hippod does not read, because a pickle \
                 file can run any code",
                "save the model again with sentence-transformers 2.3 or later, which writes model.safetensors: \
                 SentenceTransformer(DIR).save(OTHER)",
            )
        } else {
            ("it has no model.safetensors", WANTED)
        };
        return Err(folder_error(folder, what, fix));
    }
    let tokenizer = folder.join(TOKENIZER);
    if !tokenizer.is_file() {
        let fix =
            "create the file with transformers: AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)";
        return Err(folder_error(folder, "it has no tokenizer.json", fix));
    }
    check_size(&tokenizer, MAX_TOKENIZER).map(drop)
}

/// Returns the pooling, and whether it includes the prompt.
fn read_pooling(path: &Path) -> Result<(Pooling, bool), AcquireError> {
    let file = required(path)?;
    let modes = file.as_object().into_iter().flatten();
    let mut modes: Vec<&str> = modes
        .filter(|(_, value)| value.as_bool() == Some(true))
        .filter_map(|(name, _)| name.strip_prefix("pooling_mode_"))
        .collect();
    modes.extend(file["pooling_mode"].as_str());
    let pooling = match modes[..] {
        ["mean_tokens" | "mean"] => Pooling::Mean,
        ["cls_token" | "cls"] => Pooling::Cls,
        _ => {
            let what = format!("its pooling is not supported: {}", modes.join(", "));
            let fix = "hippod supports the mean of the tokens, and the first token";
            return Err(folder_error(path, what, fix));
        }
    };
    // The first token depends on the prompt in any case.
    let pools_prompt = pooling == Pooling::Cls || file["include_prompt"].as_bool().unwrap_or(true);
    Ok((pooling, pools_prompt))
}

/// Returns the maximum length of a sequence. `sentence_bert_config.json` has priority over `tokenizer_config.json`. A
/// huge number in the latter means that there is no limit.
fn read_max_pieces(root: &Path, transformer: &Path) -> Result<Option<usize>, AcquireError> {
    let path = root.join("sentence_bert_config.json");
    let sentence = settings(&path)?;
    if sentence["do_lower_case"].as_bool() == Some(true) && !lowercases(&transformer.join(TOKENIZER))? {
        let what =
            "it converts texts to lower case before they reach the tokenizer, and tokenizer.json does not";
        let fix =
            "hippod does not change the case of texts: choose a model whose tokenizer.json lowercases them";
        return Err(folder_error(&path, what, fix));
    }
    let length = match sentence["max_seq_length"].as_f64() {
        None => settings(&transformer.join("tokenizer_config.json"))?["model_max_length"].as_f64(),
        length => length,
    };
    let length = length.filter(|length| (1.0..1e6).contains(length));
    Ok(length.map(|length| length as usize))
}

/// Returns whether a tokenizer converts texts to lower case.
fn lowercases(tokenizer: &Path) -> Result<bool, AcquireError> {
    let file = parse(tokenizer)?;
    let normalizer = &file["normalizer"];
    let steps = normalizer["normalizers"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let is_lower = |step: &Value| match step["type"].as_str() {
        Some("BertNormalizer") => step["lowercase"].as_bool().unwrap_or(true),
        kind => kind == Some("Lowercase"),
    };
    Ok(is_lower(normalizer) || steps.iter().any(is_lower))
}

fn required(path: &Path) -> Result<Value, AcquireError> {
    match settings(path)? {
        Value::Null => Err(folder_error(path, "it does not exist", WANTED)),
        value => Ok(value),
    }
}

/// Reads a settings file; null if it does not exist.
fn settings(path: &Path) -> Result<Value, AcquireError> {
    if !check_size(path, MAX_SETTINGS)? {
        return Ok(Value::Null);
    }
    parse(path)
}

fn parse(path: &Path) -> Result<Value, AcquireError> {
    let bytes = fs::read(path).map_err(|e| AcquireError::io("read", path, e))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| folder_error(path, format!("it is not valid: {error}"), WANTED))
}

/// Returns whether a file exists. A folder, or a file above `limit` bytes, is an error.
fn check_size(path: &Path, limit: u64) -> Result<bool, AcquireError> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(folder_error(path, "it is not a file", WANTED)),
        Ok(metadata) if metadata.len() > limit => {
            let what = format!("it is larger than {limit} bytes");
            Err(folder_error(path, what, WANTED))
        }
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(AcquireError::io("read", path, error)),
    }
}

pub(super) fn folder_error(path: &Path, reason: impl Into<String>, fix: &'static str) -> AcquireError {
    AcquireError::Refused {
        path: path.into(),
        reason: reason.into(),
        fix,
    }
}
