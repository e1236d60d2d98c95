//! Settings of a sentence-transformers model folder.
//!
//! This module reads only the settings. The graph writer later compares them with the shapes of the weights.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{AcquireError, Pooling};

/// Maximum size of a settings file in bytes.
const MAX_SETTINGS: u64 = 1 << 20;
/// Maximum size of a tokenizer in bytes. A tokenizer with half a million word pieces takes about 40 MB.
const MAX_TOKENIZER: u64 = 128 << 20;

/// The hint for a folder that is not a complete model.
pub(super) const WANTED: &str = "give the whole folder of a sentence-transformers model, as downloaded from \
                                 its hub, with modules.json, config.json, tokenizer.json, model.safetensors \
                                 and 1_Pooling/config.json";

/// A sentence-transformers model, as its folder describes it.
#[derive(Debug)]
pub(super) struct ModelFolder {
    /// The folder of the three files below: either the model folder or a folder inside it.
    pub(super) config: PathBuf,
    pub(super) tokenizer: PathBuf,
    pub(super) weights: PathBuf,
    pub(super) pooling: Pooling,
    /// True if the pooling includes the prompt before a text. hippod always includes it.
    pub(super) pools_prompt: bool,
    /// Prefixes for queries and passages; empty if the folder does not name them.
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
    /// Maximum length of a sequence in word pieces, if the folder states it.
    pub(super) max_pieces: Option<usize>,
    /// Highest word piece id plus one.
    pub(super) pieces: u64,
}

#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

/// `1_Pooling/config.json`. Unknown pooling modes are an error if they are enabled.
#[derive(Deserialize)]
struct PoolingFile {
    pooling_mode: Option<String>,
    include_prompt: Option<bool>,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

#[derive(Default, Deserialize)]
struct SentenceFile {
    max_seq_length: Option<usize>,
    do_lower_case: Option<bool>,
}

#[derive(Default, Deserialize)]
struct PromptFile {
    #[serde(default)]
    prompts: std::collections::BTreeMap<String, Option<String>>,
    default_prompt_name: Option<String>,
}

#[derive(Default, Deserialize)]
struct LengthFile {
    model_max_length: Option<f64>,
}

#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
}

#[derive(Deserialize)]
struct TokenizerModel {
    vocab: Vocabulary,
}

/// The vocabulary: a list for Unigram, a map to ids for the other models.
#[derive(Deserialize)]
#[serde(untagged)]
enum Vocabulary {
    Listed(Vec<serde::de::IgnoredAny>),
    Numbered(std::collections::HashMap<String, u64>),
}

#[derive(Deserialize)]
struct AddedToken {
    id: u64,
}

/// Reads the settings of a model folder.
pub(super) fn read(root: &Path) -> Result<ModelFolder, AcquireError> {
    if !root.is_dir() {
        // If the folder cannot be read, report the exact error: not found, no permission, or another error.
        fs::read_dir(root).map_err(|e| AcquireError::io("read", root, e))?;
    }
    let modules_path = root.join("modules.json");
    let modules: Vec<Module> = settings(&modules_path)?.ok_or_else(|| {
        folder_error(
            root,
            "it has no modules.json, so it is not a sentence-transformers model",
            WANTED,
        )
    })?;
    let (transformer, pooling_folder) = parts(root, &modules_path, &modules)?;
    let config = transformer.join("config.json");
    settings::<serde::de::IgnoredAny>(&config)?
        .ok_or_else(|| folder_error(&config, "it does not exist", WANTED))?;
    let weights = weights(&transformer)?;
    let tokenizer = tokenizer(&transformer)?;
    let (pooling, pools_prompt) = pooling(&pooling_folder.join("config.json"))?;
    let (query_prefix, passage_prefix) = prompts(&root.join("config_sentence_transformers.json"))?;
    let pieces = pieces(&tokenizer)?;
    Ok(ModelFolder {
        max_pieces: max_pieces(root, &transformer)?,
        config,
        tokenizer,
        weights,
        pooling,
        pools_prompt,
        query_prefix,
        passage_prefix,
        pieces,
    })
}

/// Returns the folders of the encoder and of the pooling. After the pooling, only `Normalize` is allowed, because
/// hippod always normalises.
fn parts(root: &Path, path: &Path, modules: &[Module]) -> Result<(PathBuf, PathBuf), AcquireError> {
    let kinds: Vec<&str> = modules
        .iter()
        .map(|module| module.kind.rsplit('.').next().unwrap_or_default())
        .collect();
    let [transformer, pooling] = match (&kinds[..], modules) {
        (["Transformer", "Pooling"] | ["Transformer", "Pooling", "Normalize"], [first, second, ..]) => {
            [first, second]
        }
        _ => {
            let what = format!("its modules are {}", kinds.join(", "));
            let fix = "hippod supports Transformer, Pooling and Normalize, in this order";
            return Err(folder_error(path, what, fix));
        }
    };
    Ok((
        resolve_inside(root, path, &transformer.path)?,
        resolve_inside(root, path, &pooling.path)?,
    ))
}

/// Returns a folder that the model names. It must be inside the model folder.
fn resolve_inside(root: &Path, path: &Path, part: &str) -> Result<PathBuf, AcquireError> {
    let plain = Path::new(part)
        .components()
        .all(|component| matches!(component, Component::Normal(_) | Component::CurDir));
    if plain {
        Ok(root.join(part))
    } else {
        Err(folder_error(
            path,
            format!("it names a folder outside the model: {part:?}"),
            WANTED,
        ))
    }
}

fn weights(folder: &Path) -> Result<PathBuf, AcquireError> {
    let weights = folder.join("model.safetensors");
    if weights.is_file() {
        return Ok(weights);
    }
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
    Err(folder_error(folder, what, fix))
}

fn tokenizer(folder: &Path) -> Result<PathBuf, AcquireError> {
    let tokenizer = folder.join("tokenizer.json");
    if tokenizer.is_file() {
        return Ok(tokenizer);
    }
    let fix = "create the file with transformers: AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)";
    Err(folder_error(folder, "it has no tokenizer.json", fix))
}

fn pieces(path: &Path) -> Result<u64, AcquireError> {
    let tokenizer: TokenizerFile =
        json(path, MAX_TOKENIZER)?.ok_or_else(|| folder_error(path, "it does not exist", WANTED))?;
    let own = match &tokenizer.model.vocab {
        Vocabulary::Listed(pieces) => pieces.len() as u64,
        Vocabulary::Numbered(pieces) => pieces.values().max().map_or(0, |last| last.saturating_add(1)),
    };
    let added = tokenizer
        .added_tokens
        .iter()
        .map(|token| token.id.saturating_add(1));
    Ok(added.fold(own, u64::max))
}

/// Returns the pooling mode, and whether the pooling includes the prompt.
fn pooling(path: &Path) -> Result<(Pooling, bool), AcquireError> {
    let file: PoolingFile = settings(path)?.ok_or_else(|| folder_error(path, "it does not exist", WANTED))?;
    let on = file
        .rest
        .iter()
        .filter(|(name, value)| name.starts_with("pooling_mode_") && value.as_bool() == Some(true));
    let mut modes: Vec<&str> = on
        .map(|(name, _)| name.trim_start_matches("pooling_mode_"))
        .collect();
    modes.extend(file.pooling_mode.as_deref());
    let pooling = match modes[..] {
        ["mean_tokens" | "mean"] => Pooling::Mean,
        ["cls_token" | "cls"] => Pooling::Cls,
        _ => {
            let what = format!("its pooling is not supported: {}", modes.join(", "));
            return Err(folder_error(
                path,
                what,
                "hippod supports the mean of the tokens, and the first token (cls)",
            ));
        }
    };
    Ok((pooling, file.include_prompt.unwrap_or(true)))
}

/// Returns the prefixes for queries and passages, which are looked up under the same names as in sentence-transformers.
fn prompts(path: &Path) -> Result<(String, String), AcquireError> {
    let file: PromptFile = settings(path)?.unwrap_or_default();
    let named = |names: &[&str]| {
        let default = file.default_prompt_name.as_deref();
        let mut names = names.iter().copied().chain(default);
        let prompt = names.find_map(|name| file.prompts.get(name).cloned().flatten());
        prompt.unwrap_or_default()
    };
    Ok((named(&["query"]), named(&["document", "passage", "corpus"])))
}

fn max_pieces(root: &Path, transformer: &Path) -> Result<Option<usize>, AcquireError> {
    let path = root.join("sentence_bert_config.json");
    let sentence: SentenceFile = settings(&path)?.unwrap_or_default();
    if sentence.do_lower_case == Some(true) {
        let fix =
            "hippod does not change the case of texts: choose a model whose tokenizer.json lowercases them";
        return Err(folder_error(
            &path,
            "it converts texts to lower case before they reach the tokenizer, which is not supported",
            fix,
        ));
    }
    if sentence.max_seq_length.is_some() {
        return Ok(sentence.max_seq_length);
    }
    let length: LengthFile = settings(&transformer.join("tokenizer_config.json"))?.unwrap_or_default();
    // If the length is not set, the file contains a number with thirty digits.
    let length = length
        .model_max_length
        .filter(|length| (1.0..1e6).contains(length));
    Ok(length.map(|length| length as usize))
}

fn settings<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, AcquireError> {
    json(path, MAX_SETTINGS)
}

/// Parses a JSON file; returns `None` if it does not exist.
fn json<T: DeserializeOwned>(path: &Path, limit: u64) -> Result<Option<T>, AcquireError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(AcquireError::io("read", path, error)),
    };
    if !metadata.is_file() {
        return Err(folder_error(path, "it is not a file", WANTED));
    }
    if metadata.len() > limit {
        return Err(folder_error(
            path,
            format!("it is larger than {limit} bytes"),
            WANTED,
        ));
    }
    let bytes = fs::read(path).map_err(|e| AcquireError::io("read", path, e))?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| folder_error(path, format!("it is not valid: {error}"), WANTED))
}

pub(super) fn folder_error(path: &Path, reason: impl Into<String>, fix: &'static str) -> AcquireError {
    AcquireError::Refused {
        path: path.into(),
        reason: reason.into(),
        fix,
    }
}
