//! Small sentence-transformers folders of any shape, with random weights.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hippo_embed::acquire::{self, AcquireError, ImportOptions, Layout, Model, ModelManifest};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The shape of a synthetic model.
#[derive(Debug, Clone)]
pub struct TestShape {
    pub roberta: bool,
    pub layers: usize,
    pub heads: usize,
    pub width: usize,
    pub inner: usize,
    pub positions: usize,
}

impl Default for TestShape {
    fn default() -> Self {
        Self {
            roberta: false,
            layers: 3,
            heads: 4,
            width: 64,
            inner: 96,
            positions: 66,
        }
    }
}

/// Words of a Unigram tokenizer, with the marker for the start of a word.
const WORDS: [&str; 18] = [
    "▁die",
    "▁fähre",
    "▁leaves",
    "▁the",
    "▁ferry",
    "▁um",
    "▁sieben",
    "▁at",
    "▁seven",
    "▁паром",
    "▁уходит",
    "▁в",
    "▁семь",
    "渡船",
    "七点",
    "▁query:",
    "▁passage:",
    "▁",
];
/// Word pieces of a BERT tokenizer.
const PIECES: [&str; 12] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "ferry", "leaves", "at", "seven", ".", "##s", "harbour",
];
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzäöüß:.,-0123456789";

pub struct TestFolder {
    pub shape: TestShape,
    pub path: PathBuf,
    pub home: TempDir,
    pub tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl TestFolder {
    pub fn new(shape: TestShape) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("brought");
        fs::create_dir_all(path.join("1_Pooling")).unwrap();
        let mut folder = Self {
            tensors: BTreeMap::new(),
            shape,
            path,
            home,
        };
        folder.write_settings();
        folder.draw_tensors();
        folder.write_weights(&folder.path.join("model.safetensors"));
        folder
    }

    fn vocabulary(&self) -> usize {
        match self.shape.roberta {
            true => 4 + WORDS.len() + LETTERS.chars().count(),
            false => PIECES.len(),
        }
    }

    pub fn json(&self, name: &str, value: &Value) {
        fs::write(self.path.join(name), value.to_string()).unwrap();
    }

    pub fn config(&self) -> Value {
        let shape = &self.shape;
        json!({
            "architectures": [if shape.roberta { "XLMRobertaModel" } else { "BertModel" }],
            "model_type": if shape.roberta { "xlm-roberta" } else { "bert" },
            "hidden_act": "gelu", "hidden_size": shape.width, "intermediate_size": shape.inner,
            "layer_norm_eps": 1e-5, "max_position_embeddings": shape.positions, "pad_token_id": usize::from(shape.roberta),
            "num_attention_heads": shape.heads, "num_hidden_layers": shape.layers,
            "type_vocab_size": if shape.roberta { 1 } else { 2 }, "vocab_size": self.vocabulary(),
        })
    }

    fn write_settings(&self) {
        self.json("config.json", &self.config());
        let module = |path: &str, name: &str| json!({"idx": 0, "name": "0", "path": path, "type": format!("sentence_transformers.models.{name}")});
        self.json(
            "modules.json",
            &json!([
                module("", "Transformer"),
                module("1_Pooling", "Pooling"),
                module("2_Normalize", "Normalize")
            ]),
        );
        self.json(
            "1_Pooling/config.json",
            &json!({
                "word_embedding_dimension": self.shape.width, "pooling_mode_cls_token": false,
                "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": false,
            }),
        );
        self.json("tokenizer.json", &self.tokenizer());
    }

    fn tokenizer(&self) -> Value {
        let special = |id: usize, content: &str| {
            json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": true})
        };
        let frame = |first: &str, last: &str, ids: [usize; 2]| {
            json!({"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": first, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": last, "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                "special_tokens": {first: {"id": first, "ids": [ids[0]], "tokens": [first]},
                    last: {"id": last, "ids": [ids[1]], "tokens": [last]}}})
        };
        if self.shape.roberta {
            let mut vocab = vec![
                json!(["<s>", 0.0]),
                json!(["<pad>", 0.0]),
                json!(["</s>", 0.0]),
                json!(["<unk>", 0.0]),
            ];
            vocab.extend(WORDS.iter().map(|word| json!([word, -2.0])));
            vocab.extend(LETTERS.chars().map(|letter| json!([letter.to_string(), -6.0])));
            return json!({"version": "1.0", "truncation": null, "padding": null,
                "added_tokens": [special(0, "<s>"), special(1, "<pad>"), special(2, "</s>"), special(3, "<unk>")],
                "normalizer": {"type": "Replace", "pattern": {"Regex": "[\\n ]+"}, "content": " "},
                "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
                "post_processor": frame("<s>", "</s>", [0, 2]), "decoder": null,
                "model": {"type": "Unigram", "unk_id": 3, "vocab": vocab, "byte_fallback": false}});
        }
        let vocab: serde_json::Map<String, Value> = PIECES
            .iter()
            .enumerate()
            .map(|(id, piece)| ((*piece).to_owned(), json!(id)))
            .collect();
        json!({"version": "1.0", "truncation": null, "padding": null,
            "added_tokens": [special(0, "[PAD]"), special(1, "[UNK]"), special(2, "[CLS]"), special(3, "[SEP]")],
            "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": frame("[CLS]", "[SEP]", [2, 3]),
            "decoder": null, "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocab}})
    }

    fn draw_tensors(&mut self) {
        let TestShape { width, inner, .. } = self.shape;
        let tables = [
            ("word", self.vocabulary()),
            ("position", self.shape.positions),
            ("token_type", if self.shape.roberta { 1 } else { 2 }),
        ];
        for (name, rows) in tables {
            self.draw(format!("embeddings.{name}_embeddings.weight"), vec![rows, width]);
        }
        self.draw_pair("embeddings.LayerNorm", vec![width]);
        for layer in 0..self.shape.layers {
            let parts = [
                ("attention.self.query", vec![width, width]),
                ("attention.self.key", vec![width, width]),
                ("attention.self.value", vec![width, width]),
                ("attention.output.dense", vec![width, width]),
                ("attention.output.LayerNorm", vec![width]),
                ("intermediate.dense", vec![inner, width]),
                ("output.dense", vec![width, inner]),
                ("output.LayerNorm", vec![width]),
            ];
            for (part, dims) in parts {
                self.draw_pair(&format!("encoder.layer.{layer}.{part}"), dims);
            }
        }
    }

    fn draw_pair(&mut self, name: &str, dims: Vec<usize>) {
        self.draw(format!("{name}.bias"), vec![dims[0]]);
        self.draw(format!("{name}.weight"), dims);
    }

    /// Adds a tensor with small random numbers.
    fn draw(&mut self, name: String, dims: Vec<usize>) {
        let norm = name.contains("LayerNorm.weight");
        let mut state = name
            .bytes()
            .fold(0x9e37_79b9_u32, |n, b| n.rotate_left(5) ^ u32::from(b));
        let numbers = (0..dims.iter().product()).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let small = ((state >> 24) as f32 - 128.0) / 1024.0;
            if norm {
                1.0 + (small * 8.0).trunc() / 8.0
            } else {
                small
            }
        });
        let numbers = numbers.collect();
        self.tensors.insert(name, (dims, numbers));
    }

    pub fn write_weights(&self, path: &Path) {
        let mut header = serde_json::Map::new();
        let mut data = Vec::new();
        for (name, (dims, numbers)) in &self.tensors {
            let start = data.len();
            for number in numbers {
                data.extend(number.to_le_bytes());
            }
            let entry = json!({"dtype": "F32", "shape": dims, "data_offsets": [start, data.len()]});
            header.insert(name.clone(), entry);
        }
        let header = Value::Object(header).to_string();
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        fs::write(path, bytes).unwrap();
    }

    /// Returns a layout with its own models folder, and with the runtime library that `cargo xtask setup` installed.
    pub fn layout(&self) -> Layout {
        let installed = std::env::var_os("HIPPOD_TEST_MODEL_HOME").map(PathBuf::from);
        let installed =
            installed.expect("HIPPOD_TEST_MODEL_HOME is not set: run `cargo xtask setup` and use its folder");
        Layout {
            runtime: installed.join("runtime"),
            ..Layout::in_home(self.home.path(), self.home.path().join("cache"))
        }
    }

    pub fn import(&self, name: &str) -> Result<Model, AcquireError> {
        self.import_as(&ImportOptions {
            name: name.into(),
            ..ImportOptions::default()
        })
    }

    pub fn import_as(&self, wish: &ImportOptions) -> Result<Model, AcquireError> {
        acquire::import_folder(
            &self.layout(),
            &ModelManifest::built_in().unwrap(),
            &self.path,
            wish,
        )
    }

    pub fn load(&self, model: &Model) -> hippo_embed::OnnxEmbedder {
        let layout = self.layout();
        let runtime = acquire::locate_runtime(&layout, &ModelManifest::built_in().unwrap()).unwrap();
        hippo_embed::OnnxEmbedder::load(&model.files(&layout), &runtime, 1).unwrap()
    }

    /// Returns the names in the models folder, including hidden ones.
    pub fn model_entries(&self) -> Vec<String> {
        let entries = fs::read_dir(self.layout().models).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect()
    }
}
