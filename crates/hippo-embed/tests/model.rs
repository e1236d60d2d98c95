//! Tests of the vectors of the local model.
// In a test, a failed preparation step is a failed test.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "onnx")]

use std::path::{Path, PathBuf};

use hippo_embed::acquire::{Installation, Layout, ModelFiles, ModelManifest, locate};
use hippo_embed::{EmbedError, Embedder, OnnxEmbedder};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    text: String,
    pieces: usize,
    vector: Vec<f32>,
}

fn home() -> Installation {
    let home = std::env::var_os("HIPPOD_TEST_MODEL_HOME").map(PathBuf::from);
    let home = home.expect("HIPPOD_TEST_MODEL_HOME is not set: run `cargo xtask setup` and use its folder");
    let layout = Layout::in_home(&home, home.join("cache"));
    locate(&layout, &ModelManifest::built_in().unwrap())
        .unwrap_or_else(|e| panic!("{e}: run `cargo xtask setup` first"))
}

fn load() -> OnnxEmbedder {
    let installed = home();
    OnnxEmbedder::load(&installed.model, &installed.runtime, 2).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn is_unit(vector: &[f32]) -> bool {
    vector.len() == 384 && (cosine(vector, vector) - 1.0).abs() < 1e-5
}

/// The reference uses weights and activations with 64 bits; the model has 7 and 8 bits.
#[test]
fn vectors_resemble_those_of_the_reference_implementation() {
    let mut embedder = load();
    let references: Vec<Reference> = serde_json::from_str(include_str!("reference.json")).unwrap();
    assert!(references.len() >= 10);
    for reference in references {
        let before = embedder.word_pieces_embedded();
        let vector = embedder.embed_query(&reference.text).unwrap();
        assert!(is_unit(&vector), "{}", reference.text);
        let pieces = embedder.word_pieces_embedded() - before;
        assert_eq!(pieces, reference.pieces as u64, "{}", reference.text);
        let cosine = cosine(&vector, &reference.vector);
        assert!(cosine > 0.97, "{}: {cosine}", reference.text);
    }
}

#[test]
fn a_lone_passage_has_the_vector_of_the_same_query() {
    let mut embedder = load();
    for text in [
        "ok",
        "The cache holds 64 MB at most.",
        "東京の会議は来週の火曜日です。",
    ] {
        let query = embedder.embed_query(text).unwrap();
        let passage = embedder.embed_passages("", &[text]).unwrap();
        assert!(cosine(&query, &passage[0]) > 0.9999, "{text}");
    }
}

#[test]
fn vectors_of_chunks_depend_on_their_neighbours() {
    let mut embedder = load();
    let texts = [
        "The staging database moved last week.",
        "It listens on port 5433 now.",
        "Ana was told.",
    ];
    let together = embedder
        .embed_passages("Infrastructure > Databases", &texts)
        .unwrap();
    assert_eq!(together.len(), texts.len());
    assert!(together.iter().all(|v| is_unit(v)));
    assert_eq!(
        together,
        embedder
            .embed_passages("Infrastructure > Databases", &texts)
            .unwrap()
    );
    let query = embedder
        .embed_query("on which port is the staging database")
        .unwrap();
    let alone = embedder.embed_passages("", &texts[1..2]).unwrap();
    assert!(cosine(&query, &together[1]) > cosine(&query, &alone[0]) + 0.05);
}

#[test]
fn long_runs_are_split_evenly_and_cheaply() {
    let mut embedder = load();
    let line =
        "We compared three vendors for the badge printers and chose the one that ships within two days.";
    let texts: Vec<&str> = std::iter::repeat_n(line, 60).collect();
    let own = embedder.count_tokens(line) * texts.len();
    let before = embedder.word_pieces_embedded();
    let vectors = embedder.embed_passages("Office > Badges", &texts).unwrap();
    let sent = embedder.word_pieces_embedded() - before;
    assert_eq!(vectors.len(), 60);
    assert!(vectors.iter().all(|v| is_unit(v)));
    assert!(sent as f64 / own as f64 <= 1.15, "{sent} pieces for {own}");
}

#[test]
fn a_text_longer_than_a_pass_is_embedded_whole() {
    let mut embedder = load();
    let filler =
        "The quarterly report covers revenue, hiring and the office lease in some detail. ".repeat(40);
    let long = format!("{filler}The telescope's primary mirror was polished in Jena.");
    let pieces = embedder.count_tokens(&long);
    assert!(pieces > 600);
    let before = embedder.word_pieces_embedded();
    let vectors = embedder.embed_passages("", &[&long, "Short neighbour."]).unwrap();
    assert!(vectors.iter().all(|v| is_unit(v)));
    assert!(embedder.word_pieces_embedded() - before >= pieces as u64);
    let query = embedder
        .embed_query("where was the mirror of the telescope polished")
        .unwrap();
    let cut = embedder.embed_passages("", &[&filler]).unwrap();
    assert!(cosine(&query, &vectors[0]) > cosine(&query, &cut[0]) + 0.02);
}

#[test]
fn unusual_texts_have_vectors() {
    let mut embedder = load();
    let long_word = "x".repeat(5000);
    let long_context = "deep > heading > path > ".repeat(100);
    let texts = [
        "",
        " \n\t ",
        "\u{0}\u{1}",
        "[SEP] [CLS] [MASK][PAD]",
        "e\u{301}",
        "\u{301}\u{301}",
        &long_word,
        "🦛",
    ];
    for context in ["", &long_context] {
        let vectors = embedder.embed_passages(context, &texts).unwrap();
        assert_eq!(vectors.len(), texts.len());
        assert!(vectors.iter().all(|v| is_unit(v)));
    }
    assert!(embedder.embed_passages("context", &[]).unwrap().is_empty());
    assert!(is_unit(
        &embedder.embed_query(&"many words ".repeat(5000)).unwrap()
    ));
}

#[test]
fn invalid_models_and_runtimes_are_errors() {
    let installed = home();
    let missing = Path::new("/nonexistent/libonnxruntime.so");
    let error = OnnxEmbedder::load(&installed.model, missing, 1).err().unwrap();
    assert!(
        matches!(&error, EmbedError::Runtime { path, .. } if path == missing),
        "{error}"
    );

    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("model.safetensors");
    std::fs::write(&broken, b"not a model").unwrap();
    let files = ModelFiles {
        weights: broken.clone(),
        ..installed.model.clone()
    };
    let error = OnnxEmbedder::load(&files, &installed.runtime, 1).err().unwrap();
    assert!(
        matches!(&error, EmbedError::Model { path, .. } if *path == broken),
        "{error}"
    );

    // The header of the weights is complete, but the data is truncated.
    let bytes = std::fs::read(&installed.model.weights).unwrap();
    std::fs::write(&broken, &bytes[..bytes.len() / 2]).unwrap();
    assert!(OnnxEmbedder::load(&files, &installed.runtime, 1).is_err());
}

#[test]
fn an_embedder_moves_between_threads() {
    let mut embedder = load();
    let there = std::thread::spawn(move || embedder.embed_query("hello").unwrap())
        .join()
        .unwrap();
    assert_eq!(there, load().embed_query("hello").unwrap());
}
