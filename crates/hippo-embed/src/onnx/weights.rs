//! Tensor offsets in a safetensors file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use crate::EmbedError;

/// Maximum size of the header in bytes.
const MAX_HEADER: u64 = 16 << 20;

/// The tensors of a safetensors file, by name.
#[derive(Debug)]
pub(super) struct NamedTensors(BTreeMap<String, Tensor>);

/// The shape and position of one tensor in the file.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    /// Dimensions.
    pub(super) shape: Vec<u64>,
    /// First byte in the file.
    pub(super) offset: u64,
    /// Number of bytes.
    pub(super) length: u64,
}

/// Prefixes of the encoder's tensors within a larger model.
const NAME_PREFIXES: [&str; 3] = ["", "bert.", "roberta."];

#[derive(Deserialize)]
struct TensorEntry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl NamedTensors {
    /// Reads the header. The first 8 bytes of the file are the length of the header, which is JSON and precedes the
    /// data.
    pub(super) fn read(path: &Path) -> Result<Self, EmbedError> {
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

    pub(super) fn parse(header: &[u8], size: u64) -> Result<Self, String> {
        let entries: BTreeMap<String, serde_json::Value> =
            serde_json::from_slice(header).map_err(|e| e.to_string())?;
        let start = 8 + header.len() as u64;
        let (mut tensors, mut taken) = (BTreeMap::new(), Vec::new());
        for (name, value) in entries {
            if name == "__metadata__" {
                continue;
            }
            let entry: TensorEntry = serde_json::from_value(value).map_err(|e| format!("{name}: {e}"))?;
            let [from, to] = entry.data_offsets;
            let elements = entry.shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
            if from > to || start.checked_add(to).is_none_or(|end| end > size) {
                return Err(format!("{name} is outside the file"));
            }
            taken.push((from, to, name.clone()));
            if entry.dtype != "F32" {
                continue;
            }
            if elements.and_then(|n| n.checked_mul(4)) != Some(to - from) {
                return Err(format!("the size of {name} does not match its shape"));
            }
            tensors.insert(
                name,
                Tensor {
                    shape: entry.shape,
                    offset: start + from,
                    length: to - from,
                },
            );
        }
        taken.sort_unstable();
        match taken.windows(2).find(|pair| pair[0].1 > pair[1].0) {
            Some(pair) => Err(format!("{} and {} overlap", pair[0].2, pair[1].2)),
            None => Ok(Self(tensors)),
        }
    }

    /// Returns a floating-point tensor of this shape.
    pub(super) fn get(&self, name: &str, shape: &[u64]) -> Result<Tensor, String> {
        let tensor = NAME_PREFIXES
            .iter()
            .find_map(|within| self.0.get(&format!("{within}{name}")));
        let tensor = tensor.ok_or_else(|| format!("it has no tensor {name} of 32-bit floats"))?;
        if tensor.shape != shape {
            return Err(format!(
                "{name} has the shape {:?}, expected {shape:?}",
                tensor.shape
            ));
        }
        Ok(tensor.clone())
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
        assert!(parse(header("4,12")).unwrap_err().contains("a and b"));
    }
}
