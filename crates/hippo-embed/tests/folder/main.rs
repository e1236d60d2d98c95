//! Tests of importing model folders: exact vectors, or an error.

// In a test, a failed preparation step is a failed test.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "onnx")]

mod fixture;
mod forward;
mod junk;

use std::fs;
use std::path::PathBuf;

use fixture::{TestFolder, TestShape};
use hippo_embed::acquire::{self, AcquireError, ImportOptions, Layout, Model, ModelManifest};
use hippo_embed::quantize::quantize;
use hippo_embed::{Embedder, OnnxEmbedder};

/// Maximum error of vectors that were computed with 32-bit numbers over a few layers.
const CLOSE: f64 = 2e-5;

fn ids(embedder: &mut OnnxEmbedder, text: &str) -> Vec<u32> {
    let tokenizer = &embedder.fastembed().tokenizer;
    tokenizer.encode(text, true).unwrap().get_ids().to_vec()
}

fn furthest(mine: &[f32], theirs: &[f64]) -> f64 {
    assert_eq!(mine.len(), theirs.len());
    let apart = mine.iter().zip(theirs).map(|(a, b)| (f64::from(*a) - b).abs());
    apart.fold(0.0, f64::max)
}

fn assert_same(embedder: &mut OnnxEmbedder, folder: &TestFolder, mine: &[f32], text: &str) {
    let ids = ids(embedder, text);
    let apart = furthest(mine, &folder.vector(&ids));
    assert!(apart < CLOSE, "{text}: {apart}");
}

fn shapes() -> Vec<TestShape> {
    let shape = TestShape::default();
    vec![
        shape.clone(),
        TestShape {
            layers: 1,
            heads: 1,
            width: 32,
            inner: 8,
            positions: 40,
            ..shape.clone()
        },
        TestShape {
            roberta: true,
            layers: 5,
            heads: 2,
            ..shape
        },
    ]
}

#[test]
fn every_shape_computes_the_same_vectors_as_plain_loops() {
    for shape in shapes() {
        let folder = TestFolder::new(shape.clone());
        let model = folder.import("mine").unwrap_or_else(|e| panic!("{shape:?}: {e}"));
        assert_eq!(model.id().dimension, shape.width);
        let mut embedder = folder.load(&model);
        for text in [
            "the ferry leaves at seven.",
            "die fähre um sieben",
            "паром уходит в семь",
            "渡船七点",
            "",
            "a",
        ] {
            let vector = embedder.embed_query(text).unwrap();
            assert_same(&mut embedder, &folder, &vector, text);
            let passage = embedder.embed_passages("", &[text]).unwrap();
            assert_same(&mut embedder, &folder, &passage[0], text);
        }
    }
}

/// The weights have 7 bits, and the activations 8.
#[test]
fn quantized_weights_compute_nearly_the_same_vectors() {
    for shape in shapes() {
        let folder = TestFolder::new(shape.clone());
        let weights = folder.path.join("model.safetensors");
        let quantized = quantize(&fs::read(&weights).unwrap(), None).unwrap();
        fs::write(&weights, quantized).unwrap();
        let model = folder.import("mine").unwrap_or_else(|e| panic!("{shape:?}: {e}"));
        let mut embedder = folder.load(&model);
        for text in ["the ferry leaves at seven.", "паром уходит в семь"] {
            let vector = embedder.embed_query(text).unwrap();
            let exact = folder.vector(&ids(&mut embedder, text));
            let cosine: f64 = vector.iter().zip(&exact).map(|(a, b)| f64::from(*a) * b).sum();
            assert!(cosine > 0.99 && cosine < 0.999_999, "{shape:?}, {text}: {cosine}");
        }
    }
}

#[test]
fn prefixes_are_read_from_the_folder_or_given_at_import() {
    let shape = TestShape {
        roberta: true,
        ..TestShape::default()
    };
    let folder = TestFolder::new(shape);
    let prompts = serde_json::json!({"prompts": {"query": "query: ", "passage": "passage: "}, "default_prompt_name": null});
    folder.json("config_sentence_transformers.json", &prompts);
    let model = folder.import("mine").unwrap();
    let mut embedder = folder.load(&model);
    let vector = embedder.embed_query("die fähre").unwrap();
    assert_same(&mut embedder, &folder, &vector, "query: die fähre");
    let vectors = embedder.embed_passages("", &["die fähre"]).unwrap();
    assert_same(&mut embedder, &folder, &vectors[0], "passage: die fähre");

    let wish = ImportOptions {
        name: "other".into(),
        query_prefix: Some(String::new()),
        passage_prefix: Some("um: ".into()),
    };
    let other = folder.import_as(&wish).unwrap();
    assert_ne!(model.id().revision, other.id().revision);
    let mut embedder = folder.load(&other);
    let vector = embedder.embed_query("die fähre").unwrap();
    assert_same(&mut embedder, &folder, &vector, "die fähre");
    let vectors = embedder.embed_passages("", &["die fähre"]).unwrap();
    assert_same(&mut embedder, &folder, &vectors[0], "um: die fähre");
}

/// Returns the vector of the first token, with unit length.
fn first_token(embedder: &mut OnnxEmbedder, folder: &TestFolder, text: &str) -> Vec<f64> {
    let mut row = folder.forward(&ids(embedder, text)).swap_remove(0);
    let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    row.iter_mut().for_each(|x| *x /= length);
    row
}

#[test]
fn a_model_that_pools_by_the_first_token_embeds_each_text_alone() {
    let folder = TestFolder::new(TestShape::default());
    let mean = folder.import("mean").unwrap();
    folder.json(
        "1_Pooling/config.json",
        &serde_json::json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}),
    );
    let model = folder.import("mine").unwrap();
    assert_ne!(mean.id().revision, model.id().revision);
    let mut embedder = folder.load(&model);
    let texts = ["the ferry leaves at seven.", "harbours"];
    let vectors = embedder.embed_passages("", &texts).unwrap();
    for (text, passage) in texts.iter().zip(&vectors) {
        let expected = first_token(&mut embedder, &folder, text);
        assert!(furthest(passage, &expected) < CLOSE, "{text}");
        let query = embedder.embed_query(text).unwrap();
        assert!(furthest(&query, &expected) < CLOSE, "{text}");
    }
    let vectors = embedder.embed_passages("the harbour", &texts).unwrap();
    let expected = first_token(&mut embedder, &folder, "the harbour\nharbours");
    assert!(
        furthest(&vectors[1], &expected) < CLOSE,
        "the heading is part of the pass"
    );
    // Two parts in one pass.
    let long = "the ferry leaves at seven. ".repeat(10);
    let vectors = embedder.embed_passages("", &[&long]).unwrap();
    let expected = first_token(&mut embedder, &folder, long.trim_end());
    assert!(furthest(&vectors[0], &expected) < CLOSE, "two parts in one pass");
    // Several passes.
    let longer = "the ferry leaves at seven. ".repeat(40);
    let by_first = embedder.embed_passages("", &[&longer]).unwrap();
    let by_mean = folder.load(&mean).embed_passages("", &[&longer]).unwrap();
    assert!((by_first[0].iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
    assert_ne!(by_first, by_mean);
    // The record on disk names the pooling.
    let manifest = ModelManifest::built_in().unwrap();
    let found = Model::find(&folder.layout(), &manifest, "mine").unwrap();
    assert_eq!(found, Some(model));
}

#[test]
fn a_folder_that_lowercases_texts_needs_a_tokenizer_that_does_so() {
    let folder = TestFolder::new(TestShape::default());
    folder.json(
        "sentence_bert_config.json",
        &serde_json::json!({"max_seq_length": 64, "do_lower_case": true}),
    );
    let mut tokenizer: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path.join("tokenizer.json")).unwrap()).unwrap();
    let normalizers = [
        (serde_json::json!(null), false),
        (serde_json::json!({"type": "NFC"}), false),
        (
            serde_json::json!({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": false}),
            false,
        ),
        (
            serde_json::json!({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true}),
            true,
        ),
        (
            serde_json::json!({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]}),
            true,
        ),
    ];
    for (at, (normalizer, is_lower)) in normalizers.into_iter().enumerate() {
        tokenizer["normalizer"] = normalizer;
        folder.json("tokenizer.json", &tokenizer);
        let refusal = folder
            .import(&format!("mine-{at}"))
            .err()
            .map(|error| error.to_string());
        match is_lower {
            true => assert_eq!(refusal, None),
            false => assert!(refusal.unwrap().contains("converts texts to lower case")),
        }
    }
}

/// In a common pass, each text gets the mean of its own tokens, even if the tokenizer splits the joined text
/// differently from the single text.
#[test]
fn texts_of_one_pass_get_the_mean_of_their_own_tokens() {
    let shape = TestShape {
        roberta: true,
        ..TestShape::default()
    };
    let folder = TestFolder::new(shape);
    let mut embedder = folder.load(&folder.import("mine").unwrap());
    let texts = ["die fähre ", "уходит в семь", "渡船"];
    let vectors = embedder.embed_passages("um", &texts).unwrap();
    let whole = format!("um\n{}", texts.join("\n"));
    let ids = ids(&mut embedder, &whole);
    let encoding = embedder.fastembed().tokenizer.encode(&*whole, true).unwrap();
    let rows = folder.forward(&ids);
    for (text, vector) in texts.iter().zip(&vectors) {
        let start = whole.find(text).unwrap();
        let own = encoding
            .get_offsets()
            .iter()
            .enumerate()
            .filter(|(token, place)| {
                *token > 0 && token + 1 < ids.len() && place.1 > start && place.0 < start + text.len()
            });
        let own: Vec<usize> = own.map(|(token, _)| token).collect();
        assert!(!own.is_empty() && own.len() < ids.len() - 2, "{text}: {own:?}");
        let mut mean = vec![0.0; 64];
        for token in own {
            mean.iter_mut().zip(&rows[token]).for_each(|(sum, x)| *sum += x);
        }
        let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
        mean.iter_mut().for_each(|x| *x /= length);
        let apart = furthest(vector, &mean);
        assert!(apart < CLOSE, "{text}: {apart}");
    }
}

#[test]
fn the_passage_prefix_precedes_every_passage() {
    let folder = TestFolder::new(TestShape {
        roberta: true,
        ..TestShape::default()
    });
    let wish = ImportOptions {
        name: "mine".into(),
        query_prefix: None,
        passage_prefix: Some("passage: ".into()),
    };
    let mut embedder = folder.load(&folder.import_as(&wish).unwrap());
    let texts = ["die fähre", "уходит в семь", "渡船"];
    let vectors = embedder.embed_passages("um", &texts).unwrap();
    for (text, vector) in texts.iter().zip(&vectors) {
        let alone = embedder.embed_passages("um", &[text]).unwrap();
        assert_eq!(alone.first(), Some(vector));
    }
    assert!(embedder.embed_passages("um", &[]).unwrap().is_empty());
}

#[test]
fn texts_without_spaces_and_beyond_a_pass_are_embedded_whole() {
    let folder = TestFolder::new(TestShape {
        roberta: true,
        ..TestShape::default()
    });
    let mut embedder = folder.load(&folder.import("mine").unwrap());
    let long = "渡船七点".repeat(200);
    let pieces = embedder.count_tokens(&long);
    assert!(pieces >= 400);
    let before = embedder.word_pieces_embedded();
    let vectors = embedder
        .embed_passages("Hafen > 渡船", &[&long, "die fähre"])
        .unwrap();
    assert!(embedder.word_pieces_embedded() - before >= pieces as u64);
    assert!(vectors.iter().flatten().all(|x| x.is_finite()));
    // Only the start of a long query is embedded, even if the query is one word.
    let query = embedder.embed_query(&long).unwrap();
    let nothing = embedder.embed_query("").unwrap();
    assert_ne!(query, nothing);
}

#[test]
fn an_imported_model_is_checked_repaired_and_removed() {
    let folder = TestFolder::new(TestShape::default());
    let layout = folder.layout();
    let model = folder.import("mine").unwrap();
    assert_eq!(
        Model::find(&layout, &ModelManifest::built_in().unwrap(), "mine")
            .unwrap()
            .as_ref(),
        Some(&model)
    );
    assert!(model.artifact(&layout).fault().is_none());
    assert_eq!(folder.model_entries(), ["mine"]);

    // The damaged file keeps its size and modification time, as after a disk error.
    let weights = model.files(&layout).weights;
    let mut bytes = fs::read(&weights).unwrap();
    let time = fs::metadata(&weights).unwrap().modified().unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&weights, &bytes).unwrap();
    let file = fs::File::options().write(true).open(&weights).unwrap();
    file.set_modified(time).unwrap();
    assert!(model.artifact(&layout).fault().is_none());
    let states = |model: &Model| model.artifact(&layout).verify();
    let damaged = states(&model).into_iter().filter(|check| !check.ok);
    assert_eq!(
        damaged.map(|check| check.path).collect::<Vec<_>>(),
        std::slice::from_ref(&weights)
    );
    let fault = model.artifact(&layout).fault();
    assert!(matches!(fault, Some(AcquireError::Changed(path)) if path == weights));

    // Importing the same folder again repairs the model. Another folder cannot use its name.
    assert_eq!(folder.import("mine").unwrap(), model);
    assert!(states(&model).iter().all(|check| check.ok));
    let other = TestFolder::new(TestShape {
        layers: 2,
        ..TestShape::default()
    });
    let manifest = ModelManifest::built_in().unwrap();
    let wish = ImportOptions {
        name: "mine".into(),
        ..ImportOptions::default()
    };
    let refusal = acquire::import_folder(&layout, &manifest, &other.path, &wish).unwrap_err();
    assert!(refusal.to_string().contains("already has the name"), "{refusal}");
    assert_eq!(folder.import("mine").unwrap(), model);

    acquire::remove(&layout, "mine").unwrap();
    assert_eq!(folder.model_entries(), Vec::<String>::new());
    assert!(acquire::remove(&layout, "mine").is_err());
    for elsewhere in ["..", "../brought", ".", "", "a/b"] {
        assert!(acquire::remove(&layout, elsewhere).is_err(), "{elsewhere}");
    }
    // After the first model is removed, another model with the same name has another identity.
    let again = acquire::import_folder(&layout, &manifest, &other.path, &wish).unwrap();
    assert_ne!(again.id(), model.id());
}

/// Imports the files of the default model in the layout in which its authors publish it.
#[test]
fn the_default_model_under_another_name_makes_the_same_vectors() {
    let installed = PathBuf::from(std::env::var_os("HIPPOD_TEST_MODEL_HOME").unwrap());
    let manifest = ModelManifest::built_in().unwrap();
    let default = acquire::locate(&Layout::in_home(&installed, installed.join("cache")), &manifest).unwrap();
    let folder = TestFolder::new(TestShape::default());
    for (from, name) in [
        (&default.model.weights, "model.safetensors"),
        (&default.model.tokenizer, "tokenizer.json"),
        (&default.model.config, "config.json"),
    ] {
        fs::copy(from, folder.path.join(name)).unwrap();
    }
    folder.json(
        "sentence_bert_config.json",
        &serde_json::json!({"max_seq_length": 256, "do_lower_case": false}),
    );
    let mut mine = folder.load(&folder.import("mine").unwrap());
    let mut theirs = OnnxEmbedder::load(&default.model, &default.runtime, 1).unwrap();
    let long = "The quarterly report covers revenue, hiring and the office lease. ".repeat(30);
    let texts = ["The staging database moved.", "It listens on port 5433.", &long];
    assert_eq!(
        mine.embed_passages("Infra > Databases", &texts).unwrap(),
        theirs.embed_passages("Infra > Databases", &texts).unwrap()
    );
    assert_eq!(
        mine.embed_query("which port").unwrap(),
        theirs.embed_query("which port").unwrap()
    );
}
