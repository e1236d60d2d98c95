//! Generation of the ONNX graph of a BERT encoder from its weights.
//!
//! The initializers point into the safetensors file (ONNX external data). The graph therefore takes only a few
//! kilobytes, and the weights are memory-mapped instead of copied. The output is the token vectors, which the caller
//! pools per chunk.

use std::path::Path;

use serde::Deserialize;

use super::builder::{Dim, GraphBuilder, NodeAttribute, TensorElement};
use super::weights::NamedTensors;
use crate::EmbedError;

/// The fields of `config.json` that determine the graph.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct EncoderConfig {
    model_type: String,
    #[serde(default)]
    architectures: Vec<String>,
    hidden_act: String,
    pub(super) hidden_size: u64,
    intermediate_size: u64,
    layer_norm_eps: f32,
    max_position_embeddings: u64,
    num_attention_heads: u64,
    num_hidden_layers: u64,
    type_vocab_size: u64,
    pub(super) vocab_size: u64,
    position_embedding_type: Option<String>,
    pad_token_id: Option<u64>,
    is_decoder: Option<bool>,
}

impl EncoderConfig {
    pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Self, EmbedError> {
        let invalid = |reason: String| EmbedError::Model {
            path: path.into(),
            reason,
        };
        let config: Self = serde_json::from_slice(bytes).map_err(|e| invalid(e.to_string()))?;
        config.check().map_err(invalid)?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        let encoder = match self.model_type.as_str() {
            "bert" => "BertModel",
            "xlm-roberta" => "XLMRobertaModel",
            other => return Err(format!("not a BERT or an XLM-RoBERTa: {other}")),
        };
        if let Some(other) = self.architectures.iter().find(|name| *name != encoder) {
            return Err(format!("not a {encoder}: {other}"));
        }
        if self.hidden_act != "gelu" {
            return Err(format!("its activation is not gelu: {}", self.hidden_act));
        }
        if self.position_embedding_type.as_deref().unwrap_or("absolute") != "absolute" {
            return Err("its positions are not absolute".into());
        }
        if self.is_decoder == Some(true) {
            return Err("it is a decoder".into());
        }
        if self.hidden_size == 0 || self.num_hidden_layers == 0 {
            return Err("it has no layers, or its layers have no width".into());
        }
        if self.num_attention_heads == 0 || !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err("its width is not a multiple of its attention heads".into());
        }
        if self.layer_norm_eps.is_nan() || self.layer_norm_eps <= 0.0 {
            return Err("its layer_norm_eps is not above 0".into());
        }
        if self.positions() == 0 || self.type_vocab_size == 0 || self.vocab_size == 0 {
            return Err("one of its tables has no rows".into());
        }
        Ok(())
    }

    /// Returns the row of the position table for the first word piece. In RoBERTa, this is the row after that of the
    /// padding token.
    fn first_position(&self) -> u64 {
        match self.model_type.as_str() {
            "bert" => 0,
            _ => self.pad_token_id.unwrap_or(1).saturating_add(1),
        }
    }

    /// Returns the maximum number of word pieces in a sequence.
    pub(super) fn positions(&self) -> u64 {
        self.max_position_embeddings.saturating_sub(self.first_position())
    }
}

/// Writes the graph as a serialised ONNX model with the inputs `input_ids` and `attention_mask` (int64, batch ×
/// sequence) and the output `last_hidden_state` (float, batch × sequence × width). The mask is accepted but ignored,
/// because a pass consists of one sequence without padding.
pub(super) fn write(
    config: &EncoderConfig,
    weights: &NamedTensors,
    data_file: &str,
) -> Result<Vec<u8>, String> {
    let mut graph = EncoderGraph(GraphBuilder::new(weights, data_file));
    graph.embeddings(config, weights)?;
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
    let mut builder = graph.0;
    let sequences = [Dim::Named("batch"), Dim::Named("sequence")];
    builder.input("input_ids", TensorElement::Int64, &sequences);
    builder.input("attention_mask", TensorElement::Int64, &sequences);
    let [batch, sequence] = sequences;
    builder.output(
        &hidden,
        TensorElement::Float,
        &[batch, sequence, Dim::Fixed(config.hidden_size)],
    );
    Ok(builder.finish())
}

/// The layers of a BERT encoder.
struct EncoderGraph<'a>(GraphBuilder<'a>);

impl EncoderGraph<'_> {
    fn embeddings(&mut self, config: &EncoderConfig, weights: &NamedTensors) -> Result<(), String> {
        let width = config.hidden_size;
        let name = |table: &str| format!("embeddings.{table}_embeddings.weight");
        self.0.weight(&name("word"), &[config.vocab_size, width])?;
        self.0
            .weight(&name("position"), &[config.max_position_embeddings, width])?;
        // Only single sequences are embedded, so only the first row of the segment table is needed.
        let mut segment = weights.get(&name("token_type"), &[config.type_vocab_size, width])?;
        (segment.shape, segment.length) = (vec![width], segment.number.size() * width);
        self.0.external("segment", &segment);
        self.0.integers("zero", &[0]);
        self.0.integers("one", &[1]);
        self.0.integers("two", &[2]);
        self.0.integers("rows", &[-1, width.cast_signed()]);
        let heads = config.num_attention_heads;
        self.0.integers(
            "to_heads",
            &[0, 0, heads.cast_signed(), (width / heads).cast_signed()],
        );
        self.0.integers("from_heads", &[0, 0, width.cast_signed()]);
        let scale = 1.0 / ((width / heads) as f32).sqrt();
        self.0.constant("scale", scale);

        self.0.node("Gather", &[&name("word"), "input_ids"], "word", &[]);
        self.0.node("Shape", &["input_ids"], "shape", &[]);
        self.0.node("Slice", &["shape", "one", "two"], "length", &[]);
        let positions = name("position");
        match config.first_position() {
            0 => self
                .0
                .node("Slice", &[&positions, "zero", "length"], "position", &[]),
            first => {
                self.0.integers("first", &[first.cast_signed()]);
                self.0.node("Add", &["first", "length"], "end", &[]);
                self.0
                    .node("Slice", &[&positions, "first", "end"], "position", &[]);
            }
        }
        self.0.node("Add", &["position", "segment"], "place", &[]);
        self.0.node("Add", &["word", "place"], "summed", &[]);
        self.norm(config, "embeddings.LayerNorm", "summed", "embedded")
    }

    fn layer(&mut self, config: &EncoderConfig, layer: u64, input: &str, output: &str) -> Result<(), String> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let weight = |part: &str| format!("encoder.layer.{layer}.{part}");
        let value = |part: &str| format!("{layer}.{part}");
        // Gemm multiplies matrices and accepts the weights in the layout in which they are stored. It requires two
        // dimensions, so flatten the input to one row per token.
        self.0.node("Reshape", &[input, "rows"], &value("rows"), &[]);
        self.0.node("Shape", &[input], &value("shape"), &[]);
        for (part, permutation) in [
            ("query", [0, 2, 1, 3]),
            ("key", [0, 2, 3, 1]),
            ("value", [0, 2, 1, 3]),
        ] {
            let (flat, heads) = (value(&format!("{part}.flat")), value(&format!("{part}.heads")));
            let named = weight(&format!("attention.self.{part}"));
            self.linear(&named, &value("rows"), &flat, width, width)?;
            self.0.node(
                "Reshape",
                &[&flat, &value("shape")],
                &value(&format!("{part}.shaped")),
                &[],
            );
            self.0.node(
                "Reshape",
                &[&value(&format!("{part}.shaped")), "to_heads"],
                &heads,
                &[],
            );
            self.0.node(
                "Transpose",
                &[&heads],
                &value(part),
                &[NodeAttribute::Ints("perm", &permutation)],
            );
        }
        self.0.node(
            "MatMul",
            &[&value("query"), &value("key")],
            &value("products"),
            &[],
        );
        self.0
            .node("Mul", &[&value("products"), "scale"], &value("scores"), &[]);
        self.0.node(
            "Softmax",
            &[&value("scores")],
            &value("attention"),
            &[NodeAttribute::Int("axis", -1)],
        );
        self.0.node(
            "MatMul",
            &[&value("attention"), &value("value")],
            &value("mixed"),
            &[],
        );
        let permutation = NodeAttribute::Ints("perm", &[0, 2, 1, 3]);
        self.0.node(
            "Transpose",
            &[&value("mixed")],
            &value("mixed.heads"),
            &[permutation],
        );
        self.0.node(
            "Reshape",
            &[&value("mixed.heads"), "rows"],
            &value("mixed.rows"),
            &[],
        );

        let named = weight("attention.output.dense");
        self.linear(&named, &value("mixed.rows"), &value("projected"), width, width)?;
        self.0.node(
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
        self.0.node("Gelu", &[&value("wide")], &value("active"), &[]);
        self.linear(
            &weight("output.dense"),
            &value("active"),
            &value("narrow"),
            inner,
            width,
        )?;
        self.0
            .node("Add", &[&value("narrow"), &value("attended")], &value("sum"), &[]);
        self.norm(
            config,
            &weight("output.LayerNorm"),
            &value("sum"),
            &value("normed"),
        )?;
        self.0
            .node("Reshape", &[&value("normed"), &value("shape")], output, &[]);
        Ok(())
    }

    /// Adds `output = input × weightᵀ + bias`. Torch stores a linear layer as outputs × inputs.
    fn linear(&mut self, name: &str, input: &str, output: &str, from: u64, to: u64) -> Result<(), String> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        self.0.weight(&weight, &[to, from])?;
        self.0.weight(&bias, &[to])?;
        self.0.node(
            "Gemm",
            &[input, &weight, &bias],
            output,
            &[NodeAttribute::Int("transB", 1)],
        );
        Ok(())
    }

    fn norm(&mut self, config: &EncoderConfig, name: &str, input: &str, output: &str) -> Result<(), String> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        self.0.weight(&weight, &[config.hidden_size])?;
        self.0.weight(&bias, &[config.hidden_size])?;
        let attributes = [
            NodeAttribute::Int("axis", -1),
            NodeAttribute::Float("epsilon", config.layer_norm_eps),
        ];
        self.0.node(
            "LayerNormalization",
            &[input, &weight, &bias],
            output,
            &attributes,
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests;
