//! Tests that importing an unsupported folder fails without leftovers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hippo_embed::acquire::ImportOptions;
use serde_json::{Value, json};

use crate::fixture::{TestFolder, TestShape};

fn refused(folder: &TestFolder, expected: &str) {
    let error = folder.import("mine").unwrap_err();
    let text = error.to_string();
    assert!(text.contains(expected), "{text}; expected {expected}");
    assert!(error.hint().is_some(), "{text}");
    assert_eq!(folder.model_entries(), Vec::<String>::new(), "{text}");
}

fn with_config(change: impl Fn(&mut serde_json::Map<String, Value>)) -> TestFolder {
    let folder = TestFolder::new(TestShape::default());
    let mut config = folder.config();
    change(config.as_object_mut().unwrap());
    folder.json("config.json", &config);
    folder
}

#[test]
fn unsupported_models_are_refused_with_the_reason() {
    let cases = [
        ("model_type", json!("mpnet"), "mpnet"),
        (
            "architectures",
            json!(["BertForSequenceClassification"]),
            "BertForSequenceClassification",
        ),
        ("hidden_act", json!("gelu_new"), "gelu_new"),
        ("position_embedding_type", json!("relative_key"), "not absolute"),
        ("is_decoder", json!(true), "decoder"),
        ("num_attention_heads", json!(0), "heads"),
        ("num_attention_heads", json!(3), "heads"),
        ("num_attention_heads", json!(-4), "invalid value"),
        ("hidden_size", json!(0), "no layers"),
        ("hidden_size", json!(1u64 << 63), "shape"),
        ("num_hidden_layers", json!(0), "no layers"),
        ("num_hidden_layers", json!(1u64 << 60), "no tensor"),
        ("layer_norm_eps", json!(0), "layer_norm_eps"),
        ("layer_norm_eps", json!("x"), "invalid type"),
        ("vocab_size", json!(u64::MAX), "shape"),
        ("vocab_size", json!(0), "no rows"),
        ("type_vocab_size", json!(0), "no rows"),
        ("max_position_embeddings", json!(65), "shape"),
        ("max_position_embeddings", json!(u64::MAX), "shape"),
    ];
    for (name, value, expected) in cases {
        let folder = with_config(|config| {
            config.insert(name.into(), value.clone());
        });
        refused(&folder, expected);
    }
    let folder = with_config(|config| {
        config.remove("hidden_size");
    });
    refused(&folder, "missing field `hidden_size`");
}

#[test]
fn missing_and_wrong_parts_are_refused_with_the_reason() {
    for (gone, expected) in [
        ("modules.json", "no modules.json"),
        ("model.safetensors", "no model.safetensors"),
        ("tokenizer.json", "no tokenizer.json"),
        ("config.json", "config.json"),
        ("1_Pooling/config.json", "1_Pooling/config.json"),
    ] {
        let folder = TestFolder::new(TestShape::default());
        fs::remove_file(folder.path.join(gone)).unwrap();
        refused(&folder, expected);
        // A folder with the name of the file does not count as the file, and neither does a dangling link.
        symlink("nowhere", folder.path.join(gone)).unwrap();
        refused(&folder, expected);
        fs::remove_file(folder.path.join(gone)).unwrap();
        fs::create_dir(folder.path.join(gone)).unwrap();
        assert!(folder.import("mine").is_err(), "{gone}");
    }
    let folder = TestFolder::new(TestShape::default());
    fs::rename(
        folder.path.join("model.safetensors"),
        folder.path.join("pytorch_model.bin"),
    )
    .unwrap();
    refused(&folder, "pickle");

    let folder = TestFolder::new(TestShape::default());
    let module = |kind: &str, path: &str| json!({"path": path, "type": format!("sentence_transformers.models.{kind}")});
    let dense = [
        module("Transformer", ""),
        module("Pooling", "1_Pooling"),
        module("Dense", "2_Dense"),
    ];
    folder.json("modules.json", &json!(dense));
    refused(&folder, "Dense");
    folder.json(
        "modules.json",
        &json!([module("Transformer", "../.."), module("Pooling", "1_Pooling")]),
    );
    refused(&folder, "outside");

    for (pooling, expected) in [
        (json!({"pooling_mode_max_tokens": true}), "max_tokens"),
        (
            json!({"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": true}),
            "max_tokens, mean_tokens",
        ),
        (json!({}), "not supported"),
        (json!([1]), "1_Pooling"),
    ] {
        let folder = TestFolder::new(TestShape::default());
        folder.json("1_Pooling/config.json", &pooling);
        refused(&folder, expected);
    }
    let folder = TestFolder::new(TestShape::default());
    folder.json(
        "1_Pooling/config.json",
        &json!({"pooling_mode_mean_tokens": true, "include_prompt": false}),
    );
    let prefixed = ImportOptions {
        name: "mine".into(),
        query_prefix: Some("q: ".into()),
        passage_prefix: None,
    };
    let error = folder.import_as(&prefixed).unwrap_err();
    assert!(error.to_string().contains("include_prompt"), "{error}");
    folder.import("mine").unwrap();

    // The tokenizer of this shape does not change the case.
    let folder = TestFolder::new(TestShape {
        roberta: true,
        ..TestShape::default()
    });
    folder.json("sentence_bert_config.json", &json!({"do_lower_case": true}));
    refused(&folder, "converts texts to lower case");
    folder.json("sentence_bert_config.json", &json!({"max_seq_length": 3}));
    refused(&folder, "3 word pieces");
}

#[test]
fn damaged_weights_are_refused() {
    let folder = TestFolder::new(TestShape::default());
    let place = folder.path.join("model.safetensors");
    let whole = fs::read(&place).unwrap();
    for length in [0, 7, 8, 200, whole.len() / 2, whole.len() - 1] {
        fs::write(&place, &whole[..length]).unwrap();
        refused(&folder, "model.safetensors");
    }
    for claimed in [1u64 << 60, u64::MAX, 0] {
        let mut bytes = whole.clone();
        bytes[..8].copy_from_slice(&claimed.to_le_bytes());
        fs::write(&place, bytes).unwrap();
        refused(&folder, "model.safetensors");
    }
    // Gives two tensors of the same size the same offsets.
    let text = String::from_utf8_lossy(&whole[8..8 + usize::from(u16::from_le_bytes([whole[0], whole[1]]))])
        .into_owned();
    let mut header: Value = serde_json::from_str(&text).unwrap();
    header["encoder.layer.0.attention.self.key.bias"]["data_offsets"] =
        header["encoder.layer.0.attention.self.query.bias"]["data_offsets"].clone();
    let header = header.to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(&whole[8 + text.len()..]);
    fs::write(&place, bytes).unwrap();
    refused(&folder, "offset");

    // The model is valid but useless: all texts get the same vector.
    let mut empty = TestFolder::new(TestShape::default());
    empty
        .tensors
        .values_mut()
        .for_each(|(_, numbers)| numbers.fill(0.0));
    empty.write_weights(&empty.path.join("model.safetensors"));
    refused(&empty, "different texts");
}

#[test]
fn tokenizers_that_do_not_match_the_weights_are_refused() {
    let folder = TestFolder::new(TestShape::default());
    let place = folder.path.join("tokenizer.json");
    let mut sound: Value = serde_json::from_slice(&fs::read(&place).unwrap()).unwrap();
    for garbage in [b"[".repeat(50 << 20), b"\"\xff\0x".repeat(12 << 20), Vec::new()] {
        fs::write(&place, garbage).unwrap();
        refused(&folder, "tokenizer.json");
    }
    let file = fs::File::create(&place).unwrap();
    file.set_len(1 << 40).unwrap();
    refused(&folder, "larger than");

    sound["model"]["vocab"]["beyond"] = json!(12);
    folder.json("tokenizer.json", &sound);
    refused(&folder, "id is 12, but its weights have only 12 rows");
    sound["model"]["vocab"]["beyond"] = json!(11);
    sound["post_processor"] = Value::Null;
    folder.json("tokenizer.json", &sound);
    refused(&folder, "0 special tokens");
    sound["model"]["type"] = json!("Nothing");
    folder.json("tokenizer.json", &sound);
    assert!(folder.import("mine").is_err());
    assert_eq!(folder.model_entries(), Vec::<String>::new());
}

#[test]
fn paths_that_are_not_folders_and_invalid_names_are_refused() {
    let folder = TestFolder::new(TestShape::default());
    for name in [
        "",
        ".",
        "..",
        "a/b",
        "a|b",
        "-x",
        "hash",
        "All-MiniLM-L6-v2",
        "ü",
        &"n".repeat(65),
    ] {
        let error = folder.import(name).unwrap_err();
        assert!(error.to_string().contains("could not use the name"), "{error}");
    }
    let prefix = ImportOptions {
        name: "mine".into(),
        query_prefix: Some("the ferry leaves ".repeat(100)),
        passage_prefix: None,
    };
    let error = folder.import_as(&prefix).unwrap_err();
    assert!(error.to_string().contains("prefix"), "{error}");

    let mut elsewhere = TestFolder::new(TestShape::default());
    for place in ["/nonexistent/model", "/dev/null", "/proc/self/mem", "/sys/kernel"] {
        elsewhere.path = Path::new(place).into();
        assert!(elsewhere.import("mine").is_err(), "{place}");
    }
    assert_eq!(elsewhere.model_entries(), Vec::<String>::new());

    // In the cache of the Hugging Face hub, files are links. The import follows a link to another file, but fails for a
    // link to itself.
    let place = folder.path.join("model.safetensors");
    fs::rename(&place, folder.home.path().join("blob")).unwrap();
    symlink("../blob", &place).unwrap();
    folder.import("mine").unwrap();
    fs::remove_file(&place).unwrap();
    symlink("model.safetensors", &place).unwrap();
    assert!(folder.import("other").is_err());
    assert_eq!(folder.model_entries(), ["mine"]);
}
