//! Conversion of a model's weights to 8-bit integers.
//!
//! Each row of a weight matrix has a scale of its own: the largest absolute value of the row, divided by 63.
//! The matrices of linear layers are transposed to inputs × outputs, because `MatMulInteger` expects this layout. All
//! other tensors keep their 32-bit floats. The result depends only on the input, so its checksum can be pinned.

mod adapter;

use std::collections::BTreeMap;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

pub use adapter::Adapter;

/// Largest absolute value of a quantized weight. Processors without VNNI add two products of an 8-bit activation and a
/// weight in 16 bits. With 7 bits, this sum does not overflow, so all processors compute the same vectors.
const LARGEST: f32 = 63.0;
/// Suffix of the name of the tensor with the scales of quantized weights.
pub(crate) const SCALE: &str = ".scale";
/// Ending of the name of the table with the vectors of the word pieces.
const WORD_TABLE: &str = "word_embeddings.weight";
/// Parts of the names of linear layers.
const LINEAR: [&str; 2] = [".dense.weight", ".attention.self."];
/// Start of the names of tensors that the encoder does not use.
const UNUSED: &str = "pooler.";

/// A quantized matrix.
struct QuantizedMatrix {
    shape: Vec<usize>,
    weights: Vec<u8>,
    scales_shape: Vec<usize>,
    scales: Vec<u8>,
}

/// Converts a safetensors file with 32-bit floats into one with quantized weights. First adds the adapter to the weights.
///
/// # Errors
/// Fails if the file is not valid, or if the adapter does not fit it.
pub fn quantize(file: &[u8], adapter: Option<&Adapter<'_>>) -> Result<Vec<u8>, String> {
    let tensors = SafeTensors::deserialize(file).map_err(|e| e.to_string())?;
    let mut quantized: BTreeMap<String, QuantizedMatrix> = BTreeMap::new();
    let mut kept: Vec<(String, TensorView<'_>)> = Vec::new();
    for (name, tensor) in tensors.iter() {
        let is_linear = LINEAR.iter().any(|part| name.contains(part)) && name.ends_with(".weight");
        match tensor.shape() {
            _ if tensor.dtype() != Dtype::F32 || name.starts_with(UNUSED) => {}
            &[rows, columns] if is_linear || name.ends_with(WORD_TABLE) => {
                let mut values = floats(tensor.data());
                if let Some(adapter) = adapter {
                    adapter.add_to(name, &mut values, [rows, columns])?;
                }
                let matrix = quantize_matrix(&values, [rows, columns], is_linear);
                quantized.insert(name.to_owned(), matrix);
            }
            _ => kept.push((name.to_owned(), tensor)),
        }
    }
    for (name, matrix) in &quantized {
        let view = |dtype, shape, data| TensorView::new(dtype, shape, data).map_err(|e| e.to_string());
        kept.push((
            name.clone(),
            view(Dtype::I8, matrix.shape.clone(), &matrix.weights)?,
        ));
        let scales = view(Dtype::F32, matrix.scales_shape.clone(), &matrix.scales)?;
        kept.push((format!("{name}{SCALE}"), scales));
    }
    safetensors::serialize(kept, None).map_err(|e| e.to_string())
}

fn floats(data: &[u8]) -> Vec<f32> {
    (data.as_chunks::<4>().0.iter())
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect()
}

fn quantize_matrix(values: &[f32], [rows, columns]: [usize; 2], transpose: bool) -> QuantizedMatrix {
    let (mut weights, mut scales) = (vec![0; rows * columns], Vec::with_capacity(4 * rows));
    for (row, values) in values.chunks_exact(columns.max(1)).enumerate() {
        let largest = (values.iter()).fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { largest / LARGEST } else { 1.0 };
        scales.extend(scale.to_le_bytes());
        for (column, value) in values.iter().enumerate() {
            let place = match transpose {
                true => column * rows + row,
                false => row * columns + column,
            };
            #[expect(clippy::cast_possible_truncation, reason = "the values are from -63 to 63")]
            let weight = (value / scale).round() as i8;
            weights[place] = weight.cast_unsigned();
        }
    }
    let (shape, scales_shape) = match transpose {
        true => (vec![columns, rows], vec![rows]),
        false => (vec![rows, columns], vec![rows, 1]),
    };
    QuantizedMatrix {
        shape,
        weights,
        scales_shape,
        scales,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, shape: &[usize], values: &[f32]) -> Vec<u8> {
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let view = TensorView::new(Dtype::F32, shape.to_vec(), &data).unwrap();
        safetensors::serialize([(name, view)], None).unwrap()
    }

    #[test]
    fn a_quantized_weight_differs_by_at_most_half_a_scale() {
        let values = [0.5, -1.0, 0.0, 2.0, 0.1, -0.3];
        let bytes = quantize(
            &file("encoder.layer.0.output.dense.weight", &[2, 3], &values),
            None,
        )
        .unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let name = "encoder.layer.0.output.dense.weight";
        let weights = tensors.tensor(name).unwrap();
        assert_eq!((weights.dtype(), weights.shape()), (Dtype::I8, &[3, 2][..]));
        let scales = tensors.tensor(&format!("{name}{SCALE}")).unwrap();
        let scales: Vec<f32> = (scales.data().as_chunks::<4>().0.iter())
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        for (at, value) in values.into_iter().enumerate() {
            let (row, column) = (at / 3, at % 3);
            let weight = weights.data()[column * 2 + row].cast_signed();
            let found = f32::from(weight) * scales[row];
            assert!((found - value).abs() <= scales[row] / 2.0, "{found} {value}");
        }
    }

    #[test]
    fn the_word_table_keeps_its_layout_and_norms_stay_floats() {
        let bytes = quantize(
            &file(
                "embeddings.word_embeddings.weight",
                &[2, 2],
                &[1.0, 0.25, 0.0, 0.0],
            ),
            None,
        )
        .unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let table = tensors.tensor("embeddings.word_embeddings.weight").unwrap();
        assert_eq!(table.data(), [63, 16, 0, 0]);
        let bytes = quantize(&file("embeddings.LayerNorm.weight", &[2], &[1.0, 0.5]), None).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(
            tensors.tensor("embeddings.LayerNorm.weight").unwrap().dtype(),
            Dtype::F32
        );
        let bytes = quantize(&file("pooler.dense.weight", &[1, 1], &[1.0]), None).unwrap();
        assert!(SafeTensors::deserialize(&bytes).unwrap().is_empty());
    }

    #[test]
    fn a_file_in_another_format_is_refused() {
        assert!(quantize(b"", None).is_err());
        assert!(quantize(&[255; 64], None).is_err());
    }
}
