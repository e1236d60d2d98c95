//! Tensor offsets in a safetensors file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use crate::EmbedError;

/// Maximum size of the header in bytes.
const MAX_HEADER: u64 = 16 << 20;

/// The header of a safetensors file.
#[derive(Debug)]
pub(crate) struct NamedTensors {
    header: Metadata,
    /// Offset of the first byte of the data in the file.
    start: u64,
}

/// The shape and position of one tensor in the file.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    /// Dimensions.
    pub(crate) shape: Vec<u64>,
    /// Offset of the tensor's first byte in the file.
    pub(crate) offset: u64,
    /// Number of bytes.
    pub(crate) length: u64,
    /// Type of the elements.
    pub(crate) dtype: Dtype,
}

/// Prefixes that a larger model may put before the names of the encoder's tensors.
const NAME_PREFIXES: [&str; 3] = ["", "bert.", "roberta."];

impl NamedTensors {
    /// Reads the header, which precedes the data and is JSON. The first 8 bytes of the file are the length of the
    /// header.
    pub(crate) fn read(path: &Path) -> Result<Self, EmbedError> {
        let unreadable = |source| EmbedError::File {
            path: path.into(),
            source,
        };
        let mut file = File::open(path).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(unreadable)?;
        let length = u64::from_le_bytes(length);
        let invalid = |reason: String| EmbedError::Model {
            path: path.into(),
            reason,
        };
        if length > MAX_HEADER || length + 8 > size {
            return Err(invalid("it is not a safetensors file".into()));
        }
        let mut header = Vec::new();
        file.take(length).read_to_end(&mut header).map_err(unreadable)?;
        Self::parse(&header, size).map_err(invalid)
    }

    pub(crate) fn parse(header: &[u8], size: u64) -> Result<Self, String> {
        // Parsing also checks that the tensors have the sizes of their shapes, and that there are no gaps between
        // them.
        let tensors: Metadata = serde_json::from_slice(header).map_err(|e| e.to_string())?;
        let start = 8 + header.len() as u64;
        let end = start.checked_add(tensors.data_len() as u64);
        if end.is_none_or(|end| end > size) {
            return Err("its tensors end outside the file".into());
        }
        Ok(Self {
            header: tensors,
            start,
        })
    }

    /// Returns the tensor with this name, if it has 32-bit floats and this shape.
    pub(crate) fn get(&self, name: &str, shape: &[u64]) -> Result<Tensor, String> {
        self.get_typed(name, shape, Dtype::F32)
    }

    /// Returns the tensor with this name, if it has elements of this type and this shape.
    pub(crate) fn get_typed(&self, name: &str, shape: &[u64], dtype: Dtype) -> Result<Tensor, String> {
        let tensor = self.find(name, dtype);
        let tensor =
            tensor.ok_or_else(|| format!("it has no tensor {name} with elements of type {dtype}"))?;
        let found: Vec<u64> = tensor.shape.iter().map(|size| *size as u64).collect();
        if found != shape {
            return Err(format!("{name} has the shape {found:?}, expected {shape:?}"));
        }
        let (from, to) = tensor.data_offsets;
        Ok(Tensor {
            shape: found,
            offset: self.start + from as u64,
            length: (to - from) as u64,
            dtype,
        })
    }

    /// Returns whether the weights with this name are [quantized](crate::quantize).
    pub(crate) fn is_quantized(&self, name: &str) -> bool {
        self.find(name, Dtype::I8).is_some()
    }

    fn find(&self, name: &str, dtype: Dtype) -> Option<&TensorInfo> {
        let tensors = NAME_PREFIXES
            .iter()
            .filter_map(|within| self.header.info(&format!("{within}{name}")));
        tensors.into_iter().find(|tensor| tensor.dtype == dtype)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_found_at_their_place() {
        let header =
            br#"{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},
            "ids":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}"#;
        let weights = NamedTensors::parse(header, 8 + header.len() as u64 + 32).unwrap();
        let a = weights.get("a", &[2, 3]).unwrap();
        assert_eq!((a.offset, a.length), (8 + header.len() as u64 + 8, 24));
        assert!(weights.get("a", &[3, 2]).unwrap_err().contains("shape"));
        assert!(weights.get("ids", &[1]).is_err());
        assert!(weights.get("b", &[1]).is_err());
    }

    #[test]
    fn a_truncated_or_lying_file_is_refused() {
        let header = br#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
        assert!(NamedTensors::parse(header, 8 + header.len() as u64 + 7).is_err());
        let header = br#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#;
        assert!(NamedTensors::parse(header, 8 + header.len() as u64 + 8).is_err());
        let header = br#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,18446744073709551615]}}"#;
        assert!(NamedTensors::parse(header, 1 << 20).is_err());
    }

    #[test]
    fn tensors_over_each_other_are_refused() {
        let header = |second: &str| {
            format!(
                r#"{{"b":{{"dtype":"F32","shape":[2],"data_offsets":[{second}]}},"a":{{"dtype":"F16","shape":[4],"data_offsets":[0,8]}}}}"#
            )
        };
        let parse = |text: String| NamedTensors::parse(text.as_bytes(), 8 + text.len() as u64 + 16);
        assert!(parse(header("8,16")).is_ok());
        assert!(parse(header("4,12")).unwrap_err().contains("offset"));
    }
}
