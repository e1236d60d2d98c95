//! Writer of the parts of an ONNX graph.

use safetensors::Dtype;

use super::protobuf::ProtobufMessage;
use crate::weights::{NamedTensors, Tensor};

/// Version of the ONNX operator set, the first version with `Gelu`.
const OPSET: i64 = 20;
/// Version of the ONNX file format that supports this operator set.
const IR_VERSION: i64 = 9;

/// Element types of `onnx.proto`.
#[derive(Clone, Copy)]
pub(super) enum TensorElement {
    Float = 1,
    Int8 = 3,
    Int64 = 7,
}

/// A graph under construction.
pub(super) struct GraphBuilder<'a> {
    weights: &'a NamedTensors,
    data_file: &'a str,
    message: ProtobufMessage,
}

impl<'a> GraphBuilder<'a> {
    pub(super) fn new(weights: &'a NamedTensors, data_file: &'a str) -> Self {
        Self {
            weights,
            data_file,
            message: ProtobufMessage::new().bytes(2, "encoder"),
        }
    }

    /// Returns the serialised model.
    pub(super) fn finish(self) -> Vec<u8> {
        let opset = ProtobufMessage::new().bytes(1, "").int(2, OPSET);
        let model = ProtobufMessage::new()
            .int(1, IR_VERSION)
            .bytes(2, env!("CARGO_PKG_NAME"))
            .message(7, self.message)
            .message(8, opset);
        model.into_bytes()
    }

    pub(super) fn input(&mut self, name: &str, element: TensorElement, dims: &[Dim]) {
        self.add(11, value_info(name, element, dims));
    }

    pub(super) fn output(&mut self, name: &str, element: TensorElement, dims: &[Dim]) {
        self.add(12, value_info(name, element, dims));
    }

    pub(super) fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[NodeAttribute<'_>],
    ) {
        let node = ProtobufMessage::new()
            .each(inputs, |m, input| m.bytes(1, input))
            .each(outputs, |m, output| m.bytes(2, output))
            .bytes(3, outputs.concat())
            .bytes(4, operator)
            .each(attributes, |m, attribute| m.message(5, attribute.message()));
        self.add(1, node);
    }

    /// Adds a tensor of the weights file under its own name.
    pub(super) fn weight(&mut self, name: &str, shape: &[u64]) -> Result<(), String> {
        let tensor = self.weights.get(name, shape)?;
        self.external(name, &tensor);
        Ok(())
    }

    /// Adds a tensor of the weights file that contains 8-bit integers under its own name.
    pub(super) fn quantized_weight(&mut self, name: &str, shape: &[u64]) -> Result<(), String> {
        let tensor = self.weights.get_typed(name, shape, Dtype::I8)?;
        self.external(name, &tensor);
        Ok(())
    }

    /// Returns whether the weights file contains these weights as 8-bit integers.
    pub(super) fn is_quantized(&self, name: &str) -> bool {
        self.weights.is_quantized(name)
    }

    /// Adds a tensor whose data stays in the weights file, so the graph contains only its position.
    pub(super) fn external(&mut self, name: &str, tensor: &Tensor) {
        let element = match tensor.dtype {
            Dtype::I8 => TensorElement::Int8,
            _ => TensorElement::Float,
        };
        let entry = |key: &str, value: String| ProtobufMessage::new().bytes(1, key).bytes(2, value);
        let message = ProtobufMessage::new()
            .each(&tensor.shape, |m, size| m.int(1, size.cast_signed()))
            .int(2, element as i64)
            .bytes(8, name)
            .message(13, entry("location", self.data_file.into()))
            .message(13, entry("offset", tensor.offset.to_string()))
            .message(13, entry("length", tensor.length.to_string()))
            .int(14, 1);
        self.add(5, message);
    }

    pub(super) fn integers(&mut self, name: &str, values: &[i64]) {
        let data: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let message = ProtobufMessage::new()
            .int(1, values.len() as i64)
            .int(2, TensorElement::Int64 as i64)
            .bytes(8, name)
            .bytes(9, data);
        self.add(5, message);
    }

    pub(super) fn constant(&mut self, name: &str, value: f32) {
        self.add(
            5,
            ProtobufMessage::new()
                .int(2, TensorElement::Float as i64)
                .bytes(8, name)
                .bytes(9, value.to_le_bytes()),
        );
    }

    fn add(&mut self, field: u32, message: ProtobufMessage) {
        self.message = std::mem::take(&mut self.message).message(field, message);
    }
}

/// An attribute of a node.
pub(super) enum NodeAttribute<'a> {
    Int(&'a str, i64),
    Float(&'a str, f32),
    Ints(&'a str, &'a [i64]),
}

impl NodeAttribute<'_> {
    fn message(&self) -> ProtobufMessage {
        match *self {
            Self::Float(name, value) => ProtobufMessage::new().bytes(1, name).float(2, value).int(20, 1),
            Self::Int(name, value) => ProtobufMessage::new().bytes(1, name).int(3, value).int(20, 2),
            Self::Ints(name, values) => ProtobufMessage::new()
                .bytes(1, name)
                .each(values, |m, v| m.int(8, *v))
                .int(20, 7),
        }
    }
}

/// One dimension of a graph input or output.
#[derive(Clone, Copy)]
pub(super) enum Dim {
    Fixed(u64),
    Named(&'static str),
}

fn value_info(name: &str, element: TensorElement, dims: &[Dim]) -> ProtobufMessage {
    let shape = ProtobufMessage::new().each(dims, |m, dim| {
        m.message(
            1,
            match *dim {
                Dim::Fixed(size) => ProtobufMessage::new().int(1, size.cast_signed()),
                Dim::Named(name) => ProtobufMessage::new().bytes(2, name),
            },
        )
    });
    let tensor = ProtobufMessage::new().int(1, element as i64).message(2, shape);
    ProtobufMessage::new()
        .bytes(1, name)
        .message(2, ProtobufMessage::new().message(1, tensor))
}
