//! Generator of the ONNX graph of a BERT encoder.
//!
//! The initializers of the graph refer to positions in the safetensors file (ONNX external data). The graph therefore
//! takes only a few kilobytes, and the weights are memory-mapped instead of copied. The graph outputs the token
//! vectors, which the caller pools for each chunk.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::builder::{Dim, GraphBuilder, NodeAttribute, TensorElement};
use crate::EmbedError;
use crate::quantize::SCALE;
use crate::weights::NamedTensors;

/// Name of the table with the vectors of the word pieces.
pub(super) const WORD_TABLE: &str = "embeddings.word_embeddings.weight";

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
            other => return Err(format!("its model_type is {other}, not bert or xlm-roberta")),
        };
        if let Some(other) = self.architectures.iter().find(|name| *name != encoder) {
            return Err(format!("its architecture is {other}, not {encoder}"));
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

    /// Returns the row of the position table for the first word piece. In RoBERTa, the first position follows the row
    /// of the padding token.
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

/// Writes the graph as a serialised ONNX model. Its inputs are `input_ids` and `attention_mask` (int64, batch ×
/// sequence), its output is `last_hidden_state` (float, batch × sequence × width). The mask is ignored, because a pass
/// consists of one sequence without padding.
pub(super) fn write(
    config: &EncoderConfig,
    weights: &NamedTensors,
    data_file: &str,
) -> Result<Vec<u8>, String> {
    let mut graph = EncoderGraph {
        builder: GraphBuilder::new(weights, data_file),
        config,
        layer: 0,
        quantized: BTreeSet::new(),
    };
    graph.embeddings(weights)?;
    let mut hidden = "embedded".to_owned();
    for layer in 0..config.num_hidden_layers {
        graph.layer = layer;
        let output = match layer + 1 == config.num_hidden_layers {
            true => "last_hidden_state".to_owned(),
            false => format!("hidden.{layer}"),
        };
        graph.layer(&hidden, &output)?;
        hidden = output;
    }
    let mut builder = graph.builder;
    let sequences = [Dim::Named("batch"), Dim::Named("sequence")];
    builder.input("input_ids", TensorElement::Int64, &sequences);
    builder.input("attention_mask", TensorElement::Int64, &sequences);
    let [batch, sequence] = sequences;
    let output = [batch, sequence, Dim::Fixed(config.hidden_size)];
    builder.output(&hidden, TensorElement::Float, &output);
    Ok(builder.finish())
}

/// The layers of a BERT encoder. Names of values that begin with a dot are relative to the current layer.
struct EncoderGraph<'a> {
    builder: GraphBuilder<'a>,
    config: &'a EncoderConfig,
    layer: u64,
    /// Inputs of linear layers that the graph has already quantized.
    quantized: BTreeSet<(u64, String)>,
}

impl EncoderGraph<'_> {
    fn node(&mut self, operator: &str, inputs: &[&str], output: &str) {
        self.node_with(operator, inputs, &[output], &[]);
    }

    fn node_with(
        &mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[NodeAttribute<'_>],
    ) {
        let layer = self.layer;
        let full = |name: &str| match name.starts_with('.') {
            true => format!("{layer}{name}"),
            false => name.to_owned(),
        };
        let [inputs, outputs] =
            [inputs, outputs].map(|names| -> Vec<String> { names.iter().map(|name| full(name)).collect() });
        let [inputs, outputs] =
            [&inputs, &outputs].map(|names| -> Vec<&str> { names.iter().map(String::as_str).collect() });
        self.builder.node(operator, &inputs, &outputs, attributes);
    }

    fn embeddings(&mut self, weights: &NamedTensors) -> Result<(), String> {
        let config = self.config;
        let (width, heads) = (config.hidden_size, config.num_attention_heads);
        let name = |table: &str| format!("embeddings.{table}_embeddings.weight");
        let positions = name("position");
        let builder = &mut self.builder;
        builder.weight(&positions, &[config.max_position_embeddings, width])?;
        // Only single sequences are embedded, so only the first row of the segment table is used.
        let mut segment = weights.get(&name("token_type"), &[config.type_vocab_size, width])?;
        (segment.shape, segment.length) = (vec![width], 4 * width);
        builder.external("segment", &segment);
        let first = config.first_position().cast_signed();
        let (per_head, width) = ((width / heads).cast_signed(), width.cast_signed());
        builder.integers("one", &[1]);
        builder.integers("two", &[2]);
        builder.integers("first", &[first]);
        builder.integers("rows", &[-1, width]);
        builder.integers("to_heads", &[0, 0, heads.cast_signed(), per_head]);
        builder.constant("scale", 1.0 / (per_head as f32).sqrt());

        self.word_vectors([config.vocab_size, config.hidden_size])?;
        self.node("Shape", &["input_ids"], "shape");
        self.node("Slice", &["shape", "one", "two"], "length");
        self.node("Add", &["first", "length"], "end");
        self.node("Slice", &[&positions, "first", "end"], "position");
        self.node("Add", &["position", "segment"], "place");
        self.node("Add", &["word", "place"], "summed");
        self.norm("embeddings.LayerNorm", "summed", "embedded")
    }

    fn layer(&mut self, input: &str, output: &str) -> Result<(), String> {
        let (width, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let layer = self.layer;
        let weight = |part: &str| format!("encoder.layer.{layer}.{part}");
        // Gemm multiplies matrices and accepts the weights in their stored layout. It requires two dimensions, so the
        // input is flattened to one row per token.
        self.node("Reshape", &[input, "rows"], ".rows");
        self.node("Shape", &[input], ".shape");
        for (part, permutation) in [
            ("query", [0, 2, 1, 3]),
            ("key", [0, 2, 3, 1]),
            ("value", [0, 2, 1, 3]),
        ] {
            let [flat, shaped, heads] = ["flat", "shaped", "heads"].map(|step| format!(".{part}.{step}"));
            let named = weight(&format!("attention.self.{part}"));
            self.linear(&named, ".rows", &flat, [width, width])?;
            self.node("Reshape", &[&flat, ".shape"], &shaped);
            self.node("Reshape", &[&shaped, "to_heads"], &heads);
            let permutation = [NodeAttribute::Ints("perm", &permutation)];
            self.node_with("Transpose", &[&heads], &[&format!(".{part}")], &permutation);
        }
        self.node("MatMul", &[".query", ".key"], ".products");
        self.node("Mul", &[".products", "scale"], ".scores");
        let last_axis = [NodeAttribute::Int("axis", -1)];
        self.node_with("Softmax", &[".scores"], &[".attention"], &last_axis);
        self.node("MatMul", &[".attention", ".value"], ".mixed");
        let permutation = [NodeAttribute::Ints("perm", &[0, 2, 1, 3])];
        self.node_with("Transpose", &[".mixed"], &[".mixed.heads"], &permutation);
        self.node("Reshape", &[".mixed.heads", "rows"], ".mixed.rows");

        let named = weight("attention.output.dense");
        self.linear(&named, ".mixed.rows", ".projected", [width, width])?;
        self.node("Add", &[".projected", ".rows"], ".residual");
        self.norm(&weight("attention.output.LayerNorm"), ".residual", ".attended")?;

        let named = weight("intermediate.dense");
        self.linear(&named, ".attended", ".wide", [width, inner])?;
        self.node("Gelu", &[".wide"], ".active");
        self.linear(&weight("output.dense"), ".active", ".narrow", [inner, width])?;
        self.node("Add", &[".narrow", ".attended"], ".sum");
        self.norm(&weight("output.LayerNorm"), ".sum", ".normed")?;
        self.node("Reshape", &[".normed", ".shape"], output);
        Ok(())
    }

    /// Adds `output = input × weightᵀ + bias`. Torch stores the weights of a linear layer as outputs × inputs.
    fn linear(&mut self, name: &str, input: &str, output: &str, [from, to]: [u64; 2]) -> Result<(), String> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        self.builder.weight(&bias, &[to])?;
        if self.builder.is_quantized(&weight) {
            return self.quantized_linear(&weight, &bias, input, output, [from, to]);
        }
        self.builder.weight(&weight, &[to, from])?;
        let transposed = [NodeAttribute::Int("transB", 1)];
        self.node_with("Gemm", &[input, &weight, &bias], &[output], &transposed);
        Ok(())
    }

    /// Adds a linear layer with quantized weights. The graph quantizes the input, too, with one scale for each pass.
    fn quantized_linear(
        &mut self,
        weight: &str,
        bias: &str,
        input: &str,
        output: &str,
        [from, to]: [u64; 2],
    ) -> Result<(), String> {
        let weight_scale = format!("{weight}{SCALE}");
        self.builder.quantized_weight(weight, &[from, to])?;
        self.builder.weight(&weight_scale, &[to])?;
        let [integers, scale, zero] = ["integers", "scale", "zero"].map(|step| format!("{input}.{step}"));
        if self.quantized.insert((self.layer, input.to_owned())) {
            let outputs = [integers.as_str(), &scale, &zero];
            self.node_with("DynamicQuantizeLinear", &[input], &outputs, &[]);
        }
        let [sums, floats, scales, product] =
            ["sums", "floats", "scales", "product"].map(|step| format!("{output}.{step}"));
        self.node("MatMulInteger", &[&integers, weight, &zero], &sums);
        self.cast_to_float(&sums, &floats);
        self.node("Mul", &[&scale, &weight_scale], &scales);
        self.node("Mul", &[&floats, &scales], &product);
        self.node("Add", &[&product, bias], output);
        Ok(())
    }

    /// Adds the vectors of the word pieces, before the sum with their positions.
    fn word_vectors(&mut self, shape: [u64; 2]) -> Result<(), String> {
        if !self.builder.is_quantized(WORD_TABLE) {
            self.builder.weight(WORD_TABLE, &shape)?;
            self.node("Gather", &[WORD_TABLE, "input_ids"], "word");
            return Ok(());
        }
        let scale = format!("{WORD_TABLE}{SCALE}");
        self.builder.quantized_weight(WORD_TABLE, &shape)?;
        self.builder.weight(&scale, &[shape[0], 1])?;
        self.node("Gather", &[WORD_TABLE, "input_ids"], "word.integers");
        self.node("Gather", &[&scale, "input_ids"], "word.scale");
        self.cast_to_float("word.integers", "word.floats");
        self.node("Mul", &["word.floats", "word.scale"], "word");
        Ok(())
    }

    fn cast_to_float(&mut self, input: &str, output: &str) {
        let float = [NodeAttribute::Int("to", TensorElement::Float as i64)];
        self.node_with("Cast", &[input], &[output], &float);
    }

    fn norm(&mut self, name: &str, input: &str, output: &str) -> Result<(), String> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        self.builder.weight(&weight, &[self.config.hidden_size])?;
        self.builder.weight(&bias, &[self.config.hidden_size])?;
        let attributes = [
            NodeAttribute::Int("axis", -1),
            NodeAttribute::Float("epsilon", self.config.layer_norm_eps),
        ];
        self.node_with(
            "LayerNormalization",
            &[input, &weight, &bias],
            &[output],
            &attributes,
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests;
