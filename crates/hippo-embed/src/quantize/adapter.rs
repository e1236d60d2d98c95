//! Adapter of the default model, which `lab/train/encoder.py` trained for questions about conversations and notes.
//!
//! For each linear layer with outputs × inputs weights, the adapter has two factors: `down` (rank × inputs) and `up`
//! (outputs × rank). Their product up · down is added to the weights (low-rank adaptation, Hu et al. 2021,
//! <https://arxiv.org/abs/2106.09685>).

use safetensors::{Dtype, SafeTensors};

/// Ending of the name of the factor that reads the inputs of a layer.
const DOWN: &str = ".down";
/// Ending of the name of the factor that writes the outputs of a layer.
const UP: &str = ".up";

/// A safetensors file with the factors as bfloat16.
#[derive(Debug)]
pub struct Adapter<'a>(SafeTensors<'a>);

impl<'a> Adapter<'a> {
    /// Returns the adapter of the default model.
    ///
    /// # Errors
    /// Fails if the file is not valid, which a test rules out.
    pub fn built_in() -> Result<Adapter<'static>, String> {
        Adapter::parse(include_bytes!("../../../../models/dialogue.safetensors"))
    }

    /// Parses a file.
    ///
    /// # Errors
    /// Fails if the file is not valid.
    pub fn parse(file: &'a [u8]) -> Result<Self, String> {
        SafeTensors::deserialize(file)
            .map(Self)
            .map_err(|e| e.to_string())
    }

    /// Adds the product of the factors to the weights of a layer. Weights without factors stay as they are. The sums have
    /// a fixed order, so all machines compute the same weights.
    pub(crate) fn add_to(
        &self,
        name: &str,
        weights: &mut [f32],
        [outputs, inputs]: [usize; 2],
    ) -> Result<(), String> {
        if [DOWN, UP]
            .iter()
            .all(|part| self.0.tensor(&format!("{name}{part}")).is_err())
        {
            return Ok(());
        }
        let (down, down_shape) = self.factor(name, DOWN)?;
        let (up, up_shape) = self.factor(name, UP)?;
        let rank = down_shape[0];
        if down_shape != [rank, inputs] || up_shape != [outputs, rank] || rank == 0 {
            return Err(format!("the adapter does not fit {name}"));
        }
        let rows = weights.chunks_exact_mut(inputs.max(1));
        for (row, factors) in rows.zip(up.chunks_exact(rank)) {
            for (factor, down) in factors.iter().zip(down.chunks_exact(inputs.max(1))) {
                for (weight, value) in row.iter_mut().zip(down) {
                    *weight += factor * value;
                }
            }
        }
        Ok(())
    }

    fn factor(&self, name: &str, part: &str) -> Result<(Vec<f32>, [usize; 2]), String> {
        let tensor = self
            .0
            .tensor(&format!("{name}{part}"))
            .map_err(|e| e.to_string())?;
        match (tensor.dtype(), tensor.shape()) {
            (Dtype::BF16, &[rows, columns]) => {
                let pairs = tensor.data().as_chunks::<2>().0.iter();
                let floats = pairs.map(|bytes| f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16));
                Ok((floats.collect(), [rows, columns]))
            }
            _ => Err(format!("the adapter has no bfloat16 matrix for {name}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::tensor::TensorView;

    const LAYER: &str = "encoder.layer.0.output.dense.weight";

    fn file(parts: &[(&str, [usize; 2], &[f32])]) -> Vec<u8> {
        let bytes: Vec<Vec<u8>> = (parts.iter())
            .map(|(_, _, values)| {
                let halves = values.iter().map(|value| (value.to_bits() >> 16) as u16);
                halves.flat_map(u16::to_le_bytes).collect()
            })
            .collect();
        let views = parts.iter().zip(&bytes).map(|((part, shape, _), bytes)| {
            let view = TensorView::new(Dtype::BF16, shape.to_vec(), bytes).unwrap();
            (format!("{LAYER}{part}"), view)
        });
        safetensors::serialize(views, None).unwrap()
    }

    #[test]
    fn the_product_of_the_factors_is_added() {
        let bytes = file(&[
            (DOWN, [2, 3], &[1.0, 0.0, 2.0, 0.0, 1.0, 0.0]),
            (UP, [2, 2], &[0.5, 1.0, 0.0, -2.0]),
        ]);
        let adapter = Adapter::parse(&bytes).unwrap();
        let mut weights = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
        adapter.add_to(LAYER, &mut weights, [2, 3]).unwrap();
        assert_eq!(weights, [1.5, 2.0, 2.0, 0.0, -2.0, 0.0]);
        adapter.add_to("other.weight", &mut weights, [2, 3]).unwrap();
        assert_eq!(weights, [1.5, 2.0, 2.0, 0.0, -2.0, 0.0]);
    }

    #[test]
    fn factors_that_do_not_fit_are_refused() {
        let mut weights = [0.0; 6];
        for shapes in [[[1, 2], [2, 1]], [[1, 3], [3, 1]], [[0, 3], [2, 0]]] {
            let [down, up] = shapes.map(|shape: [usize; 2]| vec![0.0; shape[0] * shape[1]]);
            let bytes = file(&[(DOWN, shapes[0], &down), (UP, shapes[1], &up)]);
            let adapter = Adapter::parse(&bytes).unwrap();
            assert!(adapter.add_to(LAYER, &mut weights, [2, 3]).is_err(), "{shapes:?}");
        }
        for part in [DOWN, UP] {
            let alone = file(&[(part, [1, 3], &[0.0; 3])]);
            let adapter = Adapter::parse(&alone).unwrap();
            assert!(adapter.add_to(LAYER, &mut weights, [2, 3]).is_err(), "{part}");
        }
        assert!(Adapter::parse(b"junk").is_err());
    }

    #[test]
    fn the_adapter_changes_all_linear_layers_of_the_encoder() {
        let adapter = Adapter::built_in().unwrap();
        let layers: Vec<&str> = adapter
            .0
            .names()
            .into_iter()
            .filter(|name| name.ends_with(DOWN))
            .collect();
        assert_eq!(layers.len(), 6 * 6);
    }
}
