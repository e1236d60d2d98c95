//! How the ONNX graph of a BERT encoder is written when only its weights are at hand.
//!
//! The initializers point into the safetensors file (ONNX external data), so that the graph is a few kilobytes
//! and the weights are mapped, not copied. Its output are the token vectors: pooling is done outside, per chunk.

use std::path::Path;

use serde::Deserialize;

use super::protobuf::Message;
use super::weights::{Tensor, Weights};
use crate::EmbedError;

/// ONNX operator set: the first with `Gelu`.
const OPSET: i64 = 20;
/// The file format version that belongs to it.
const IR_VERSION: i64 = 9;
const FLOAT: i64 = 1;
const INT64: i64 = 7;

/// The fields of `config.json` that shape the graph.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Config {
    model_type: String,
    hidden_act: String,
    pub(super) hidden_size: u64,
    intermediate_size: u64,
    layer_norm_eps: f32,
    pub(super) max_position_embeddings: u64,
    num_attention_heads: u64,
    num_hidden_layers: u64,
    type_vocab_size: u64,
    vocab_size: u64,
    position_embedding_type: Option<String>,
}

impl Config {
    pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Self, EmbedError> {
        let invalid = |reason: String| EmbedError::Model {
            path: path.into(),
            reason,
        };
        let config: Self = serde_json::from_slice(bytes).map_err(|e| invalid(e.to_string()))?;
        if config.model_type != "bert" || config.hidden_act != "gelu" {
            return Err(invalid(format!(
                "not a BERT with GELU: {} {}",
                config.model_type, config.hidden_act
            )));
        }
        if config.position_embedding_type.as_deref().unwrap_or("absolute") != "absolute" {
            return Err(invalid("its positions are not absolute".into()));
        }
        if config.num_attention_heads == 0 || config.hidden_size % config.num_attention_heads != 0 {
            return Err(invalid("its width does not divide by its attention heads".into()));
        }
        Ok(config)
    }
}

/// The graph as a serialised ONNX model with the inputs `input_ids` and `attention_mask` (int64, batch × sequence)
/// and the output `last_hidden_state` (float, batch × sequence × width). The mask is accepted and ignored: a pass
/// holds one sequence, without padding.
pub(super) fn write(config: &Config, weights: &Weights, data_file: &str) -> Result<Vec<u8>, String> {
    let mut graph = Graph {
        weights,
        data_file,
        message: Message::new(),
    };
    graph.embeddings(config)?;
    let mut hidden = "embedded".to_owned();
    for layer in 0..config.num_hidden_layers {
        let last = layer + 1 == config.num_hidden_layers;
        let output = if last {
            "last_hidden_state".into()
        } else {
            format!("hidden.{layer}")
        };
        graph.layer(config, layer, &hidden, &output)?;
        hidden = output;
    }
    let width = Dim::Fixed(config.hidden_size);
    let message = graph
        .message
        .bytes(2, "bert")
        .message(
            11,
            value_info("input_ids", INT64, &[Dim::Named("batch"), Dim::Named("sequence")]),
        )
        .message(
            11,
            value_info(
                "attention_mask",
                INT64,
                &[Dim::Named("batch"), Dim::Named("sequence")],
            ),
        )
        .message(
            12,
            value_info(
                &hidden,
                FLOAT,
                &[Dim::Named("batch"), Dim::Named("sequence"), width],
            ),
        );
    let opset = |domain: &str, version| Message::new().bytes(1, domain).int(2, version);
    let model = Message::new()
        .int(1, IR_VERSION)
        .bytes(2, env!("CARGO_PKG_NAME"))
        .message(7, message)
        .message(8, opset("", OPSET));
    Ok(model.into_bytes())
}

struct Graph<'a> {
    weights: &'a Weights,
    data_file: &'a str,
    message: Message,
}

impl Graph<'_> {
    fn embeddings(&mut self, config: &Config) -> Result<(), String> {
        let width = config.hidden_size;
        let name = |table: &str| format!("embeddings.{table}_embeddings.weight");
        self.weight(&name("word"), &[config.vocab_size, width])?;
        self.weight(&name("position"), &[config.max_position_embeddings, width])?;
        // Only single sequences are embedded: of the segment table, the first row is needed.
        let mut segment = self
            .weights
            .get(&name("token_type"), &[config.type_vocab_size, width])?;
        (segment.shape, segment.length) = (vec![width], 4 * width);
        self.external("segment", &segment);
        self.integers("zero", &[0]);
        self.integers("one", &[1]);
        self.integers("two", &[2]);
        self.integers("rows", &[-1, width.cast_signed()]);
        let heads = config.num_attention_heads;
        self.integers(
            "to_heads",
            &[0, 0, heads.cast_signed(), (width / heads).cast_signed()],
        );
        self.integers("from_heads", &[0, 0, width.cast_signed()]);
        let scale = 1.0 / ((width / heads) as f32).sqrt();
        self.constant("scale", scale);

        self.node("Gather", &[&name("word"), "input_ids"], "word", &[]);
        self.node("Shape", &["input_ids"], "shape", &[]);
        self.node("Slice", &["shape", "one", "two"], "length", &[]);
        self.node("Slice", &[&name("position"), "zero", "length"], "position", &[]);
        self.node("Add", &["position", "segment"], "place", &[]);
        self.node("Add", &["word", "place"], "summed", &[]);
        self.norm(config, "embeddings.LayerNorm", "summed", "embedded")
    }

    fn layer(&mut self, config: &Config, layer: u64, input: &str, output: &str) -> Result<(), String> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let weight = |part: &str| format!("encoder.layer.{layer}.{part}");
        let value = |part: &str| format!("{layer}.{part}");
        // Rows of tokens, because Gemm multiplies matrices and takes the weights as they are stored.
        self.node("Reshape", &[input, "rows"], &value("rows"), &[]);
        self.node("Shape", &[input], &value("shape"), &[]);
        for (part, permutation) in [
            ("query", [0, 2, 1, 3]),
            ("key", [0, 2, 3, 1]),
            ("value", [0, 2, 1, 3]),
        ] {
            let (flat, heads) = (value(&format!("{part}.flat")), value(&format!("{part}.heads")));
            let named = weight(&format!("attention.self.{part}"));
            self.linear(&named, &value("rows"), &flat, width, width)?;
            self.node(
                "Reshape",
                &[&flat, &value("shape")],
                &value(&format!("{part}.shaped")),
                &[],
            );
            self.node(
                "Reshape",
                &[&value(&format!("{part}.shaped")), "to_heads"],
                &heads,
                &[],
            );
            self.node(
                "Transpose",
                &[&heads],
                &value(part),
                &[Attribute::Ints("perm", &permutation)],
            );
        }
        self.node(
            "MatMul",
            &[&value("query"), &value("key")],
            &value("products"),
            &[],
        );
        self.node("Mul", &[&value("products"), "scale"], &value("scores"), &[]);
        self.node(
            "Softmax",
            &[&value("scores")],
            &value("attention"),
            &[Attribute::Int("axis", -1)],
        );
        self.node(
            "MatMul",
            &[&value("attention"), &value("value")],
            &value("mixed"),
            &[],
        );
        let permutation = Attribute::Ints("perm", &[0, 2, 1, 3]);
        self.node(
            "Transpose",
            &[&value("mixed")],
            &value("mixed.heads"),
            &[permutation],
        );
        self.node(
            "Reshape",
            &[&value("mixed.heads"), "rows"],
            &value("mixed.rows"),
            &[],
        );

        let named = weight("attention.output.dense");
        self.linear(&named, &value("mixed.rows"), &value("projected"), width, width)?;
        self.node(
            "Add",
            &[&value("projected"), &value("rows")],
            &value("residual"),
            &[],
        );
        let named = weight("attention.output.LayerNorm");
        self.norm(config, &named, &value("residual"), &value("attended"))?;

        self.linear(
            &weight("intermediate.dense"),
            &value("attended"),
            &value("wide"),
            width,
            inner,
        )?;
        self.node("Gelu", &[&value("wide")], &value("active"), &[]);
        self.linear(
            &weight("output.dense"),
            &value("active"),
            &value("narrow"),
            inner,
            width,
        )?;
        self.node("Add", &[&value("narrow"), &value("attended")], &value("sum"), &[]);
        self.norm(
            config,
            &weight("output.LayerNorm"),
            &value("sum"),
            &value("normed"),
        )?;
        self.node("Reshape", &[&value("normed"), &value("shape")], output, &[]);
        Ok(())
    }

    /// `output = input × weightᵀ + bias`: torch stores a linear layer as outputs × inputs.
    fn linear(&mut self, name: &str, input: &str, output: &str, from: u64, to: u64) -> Result<(), String> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        self.weight(&weight, &[to, from])?;
        self.weight(&bias, &[to])?;
        self.node(
            "Gemm",
            &[input, &weight, &bias],
            output,
            &[Attribute::Int("transB", 1)],
        );
        Ok(())
    }

    fn norm(&mut self, config: &Config, name: &str, input: &str, output: &str) -> Result<(), String> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        self.weight(&weight, &[config.hidden_size])?;
        self.weight(&bias, &[config.hidden_size])?;
        let attributes = [
            Attribute::Int("axis", -1),
            Attribute::Float("epsilon", config.layer_norm_eps),
        ];
        self.node(
            "LayerNormalization",
            &[input, &weight, &bias],
            output,
            &attributes,
        );
        Ok(())
    }

    fn node(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: &[Attribute<'_>]) {
        let node = Message::new()
            .each(inputs, |m, input| m.bytes(1, input))
            .bytes(2, output)
            .bytes(3, output)
            .bytes(4, operator)
            .each(attributes, |m, attribute| m.message(5, attribute.message()));
        self.add(1, node);
    }

    fn weight(&mut self, name: &str, shape: &[u64]) -> Result<(), String> {
        let tensor = self.weights.get(name, shape)?;
        self.external(name, &tensor);
        Ok(())
    }

    fn external(&mut self, name: &str, tensor: &Tensor) {
        let entry = |key: &str, value: String| Message::new().bytes(1, key).bytes(2, value);
        let message = Message::new()
            .each(&tensor.shape, |m, size| m.int(1, size.cast_signed()))
            .int(2, FLOAT)
            .bytes(8, name)
            .message(13, entry("location", self.data_file.into()))
            .message(13, entry("offset", tensor.offset.to_string()))
            .message(13, entry("length", tensor.length.to_string()))
            .int(14, 1);
        self.add(5, message);
    }

    fn integers(&mut self, name: &str, values: &[i64]) {
        let data: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let message = Message::new()
            .int(1, values.len() as i64)
            .int(2, INT64)
            .bytes(8, name)
            .bytes(9, data);
        self.add(5, message);
    }

    fn constant(&mut self, name: &str, value: f32) {
        self.add(
            5,
            Message::new()
                .int(2, FLOAT)
                .bytes(8, name)
                .bytes(9, value.to_le_bytes()),
        );
    }

    fn add(&mut self, field: u32, message: Message) {
        self.message = std::mem::take(&mut self.message).message(field, message);
    }
}

enum Attribute<'a> {
    Int(&'a str, i64),
    Float(&'a str, f32),
    Ints(&'a str, &'a [i64]),
}

impl Attribute<'_> {
    fn message(&self) -> Message {
        match *self {
            Self::Float(name, value) => Message::new().bytes(1, name).float(2, value).int(20, 1),
            Self::Int(name, value) => Message::new().bytes(1, name).int(3, value).int(20, 2),
            Self::Ints(name, values) => Message::new()
                .bytes(1, name)
                .each(values, |m, v| m.int(8, *v))
                .int(20, 7),
        }
    }
}

#[derive(Clone, Copy)]
enum Dim {
    Fixed(u64),
    Named(&'static str),
}

fn value_info(name: &str, element: i64, dims: &[Dim]) -> Message {
    let shape = Message::new().each(dims, |m, dim| {
        m.message(
            1,
            match *dim {
                Dim::Fixed(size) => Message::new().int(1, size.cast_signed()),
                Dim::Named(name) => Message::new().bytes(2, name),
            },
        )
    });
    let tensor = Message::new().int(1, element).message(2, shape);
    Message::new()
        .bytes(1, name)
        .message(2, Message::new().message(1, tensor))
}
