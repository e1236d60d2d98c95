//! Tests of complete graphs, and of offsets in the weights file.

use std::collections::BTreeSet;

use super::*;
use crate::onnx::protobuf::fields;

const CONFIG: &str = r#"{"model_type":"bert","hidden_act":"gelu","hidden_size":8,"intermediate_size":16,
    "layer_norm_eps":1e-12,"max_position_embeddings":32,"num_attention_heads":2,"num_hidden_layers":2,
    "type_vocab_size":2,"vocab_size":50}"#;

fn config(text: &str) -> Result<EncoderConfig, EmbedError> {
    EncoderConfig::parse(text.as_bytes(), Path::new("config.json"))
}

/// Returns the safetensors header of a small BERT, and the size of the file.
fn header() -> (String, u64) {
    let mut shapes: Vec<(String, Vec<u64>)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![50, 8]),
        ("embeddings.position_embeddings.weight".into(), vec![32, 8]),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, 8]),
        ("embeddings.LayerNorm.weight".into(), vec![8]),
        ("embeddings.LayerNorm.bias".into(), vec![8]),
    ];
    for layer in 0..2 {
        let names = [
            ("attention.self.query", vec![8, 8]),
            ("attention.self.key", vec![8, 8]),
            ("attention.self.value", vec![8, 8]),
            ("attention.output.dense", vec![8, 8]),
            ("attention.output.LayerNorm", vec![8]),
            ("intermediate.dense", vec![16, 8]),
            ("output.dense", vec![8, 16]),
            ("output.LayerNorm", vec![8]),
        ];
        for (name, shape) in names {
            shapes.push((format!("encoder.layer.{layer}.{name}.bias"), vec![shape[0]]));
            shapes.push((format!("encoder.layer.{layer}.{name}.weight"), shape));
        }
    }
    let mut end = 0;
    let entries: Vec<String> = shapes
        .iter()
        .map(|(name, shape)| {
            let start = end;
            end += 4 * shape.iter().product::<u64>();
            format!(r#""{name}":{{"dtype":"F32","shape":{shape:?},"data_offsets":[{start},{end}]}}"#)
        })
        .collect();
    let header = format!("{{{}}}", entries.join(","));
    let size = 8 + header.len() as u64 + end;
    (header, size)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn every_graph_input_is_defined_before_use_and_every_weight_is_inside_the_file() {
    let (header, size) = header();
    let weights = NamedTensors::parse(header.as_bytes(), size).unwrap();
    let model = write(&config(CONFIG).unwrap(), &weights, "model.safetensors").unwrap();
    let graph = fields(&model)
        .into_iter()
        .find(|(field, _)| *field == 7)
        .unwrap()
        .1;
    let graph = fields(&graph);
    let mut known = BTreeSet::new();
    let mut external = 0;
    for (_, tensor) in graph.iter().filter(|(field, _)| *field == 5) {
        let tensor = fields(tensor);
        let name = text(&tensor.iter().find(|(field, _)| *field == 8).unwrap().1);
        let entries: Vec<String> = tensor
            .iter()
            .filter(|(field, _)| *field == 13)
            .map(|(_, entry)| text(&fields(entry)[1].1))
            .collect();
        if let [file, offset, length] = &entries[..] {
            let (offset, length): (u64, u64) = (offset.parse().unwrap(), length.parse().unwrap());
            assert_eq!(file, "model.safetensors");
            assert!(
                offset >= 8 + header.len() as u64 && offset + length <= size,
                "{name}"
            );
            external += 1;
        }
        assert!(known.insert(name.clone()), "{name} is written twice");
    }
    // There are 3 tables and 1 norm. Each layer has 6 linear transforms and 2 norms. All but the tables have two
    // tensors each.
    assert_eq!(external, 3 + 2 + 2 * 8 * 2);
    for (_, input) in graph.iter().filter(|(field, _)| *field == 11) {
        known.insert(text(&fields(input)[0].1));
    }
    for (_, node) in graph.iter().filter(|(field, _)| *field == 1) {
        let node = fields(node);
        for (_, input) in node.iter().filter(|(field, _)| *field == 1) {
            assert!(known.contains(&text(input)), "{} is not known", text(input));
        }
        for (_, output) in node.iter().filter(|(field, _)| *field == 2) {
            assert!(known.insert(text(output)), "{} is made twice", text(output));
        }
    }
    let output = graph.iter().find(|(field, _)| *field == 12).unwrap();
    assert_eq!(text(&fields(&output.1)[0].1), "last_hidden_state");
    assert!(known.contains("last_hidden_state"));
}

#[test]
fn other_architectures_are_refused() {
    for (from, to) in [
        ("bert", "roberta"),
        ("gelu", "relu"),
        (r#"heads":2"#, r#"heads":3"#),
    ] {
        assert!(config(&CONFIG.replace(from, to)).is_err(), "{to}");
    }
    assert!(config(&CONFIG.replace("{", r#"{"position_embedding_type":"relative_key","#)).is_err());
}

#[test]
fn a_missing_tensor_is_named() {
    let (header, size) = header();
    let header = header.replace("layer.1.output.dense.bias", "layer.1.output.dense.bias2");
    let weights = NamedTensors::parse(header.as_bytes(), size + 1).unwrap();
    let error = write(&config(CONFIG).unwrap(), &weights, "model.safetensors").unwrap_err();
    assert!(error.contains("encoder.layer.1.output.dense.bias"), "{error}");
}
