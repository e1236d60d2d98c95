//! Reference forward pass of an encoder, in plain loops.

use crate::fixture::TestFolder;

type Matrix = Vec<Vec<f64>>;

impl TestFolder {
    fn row(&self, name: &str, row: usize) -> Vec<f64> {
        let (dims, numbers) = &self.tensors[name];
        let width = dims.last().copied().unwrap();
        numbers[row * width..(row + 1) * width]
            .iter()
            .map(|x| f64::from(*x))
            .collect()
    }

    fn linear(&self, name: &str, rows: &Matrix) -> Matrix {
        let outputs = self.tensors[&format!("{name}.bias")].1.len();
        let bias = self.row(&format!("{name}.bias"), 0);
        let weight: Matrix = (0..outputs)
            .map(|row| self.row(&format!("{name}.weight"), row))
            .collect();
        let one = |input: &Vec<f64>| {
            weight
                .iter()
                .zip(&bias)
                .map(|(row, bias)| dot(row, input) + bias)
                .collect()
        };
        rows.iter().map(one).collect()
    }

    fn norm(&self, name: &str, rows: &Matrix) -> Matrix {
        let (weight, bias) = (
            self.row(&format!("{name}.weight"), 0),
            self.row(&format!("{name}.bias"), 0),
        );
        let one = |row: &Vec<f64>| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let spread = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
            let scale = 1.0 / (spread + 1e-5).sqrt();
            row.iter()
                .zip(&weight)
                .zip(&bias)
                .map(|((x, w), b)| (x - mean) * scale * w + b)
                .collect()
        };
        rows.iter().map(one).collect()
    }

    /// Returns one vector for each token.
    pub fn forward(&self, ids: &[u32]) -> Matrix {
        let first = if self.shape.roberta { 2 } else { 0 };
        let embedded = ids.iter().enumerate().map(|(place, id)| {
            let word = self.row("embeddings.word_embeddings.weight", *id as usize);
            let position = self.row("embeddings.position_embeddings.weight", place + first);
            let kind = self.row("embeddings.token_type_embeddings.weight", 0);
            add(&add(&word, &position), &kind)
        });
        let mut rows = self.norm("embeddings.LayerNorm", &embedded.collect());
        for layer in 0..self.shape.layers {
            let of = |part: &str| format!("encoder.layer.{layer}.{part}");
            let [query, key, value] = ["query", "key", "value"]
                .map(|part| self.linear(&of(&format!("attention.self.{part}")), &rows));
            let size = self.shape.width / self.shape.heads;
            let mut mixed = vec![vec![0.0; self.shape.width]; rows.len()];
            for head in 0..self.shape.heads {
                let part = head * size..(head + 1) * size;
                for (i, mixed) in mixed.iter_mut().enumerate() {
                    let scores = key
                        .iter()
                        .map(|key| dot(&query[i][part.clone()], &key[part.clone()]));
                    let scores: Vec<f64> = scores.map(|score| (score / (size as f64).sqrt()).exp()).collect();
                    let total: f64 = scores.iter().sum();
                    for (score, value) in scores.iter().zip(&value) {
                        for at in part.clone() {
                            mixed[at] += score / total * value[at];
                        }
                    }
                }
            }
            let attended = self.linear(&of("attention.output.dense"), &mixed);
            let rows_now = self.norm(&of("attention.output.LayerNorm"), &sum(&attended, &rows));
            let mut wide = self.linear(&of("intermediate.dense"), &rows_now);
            wide.iter_mut()
                .flatten()
                .for_each(|x| *x *= 0.5 * (1.0 + erf(*x / 2f64.sqrt())));
            let narrow = self.linear(&of("output.dense"), &wide);
            rows = self.norm(&of("output.LayerNorm"), &sum(&narrow, &rows_now));
        }
        rows
    }

    /// Returns the unit vector of the text that has these word pieces.
    pub fn vector(&self, ids: &[u32]) -> Vec<f64> {
        let rows = self.forward(ids);
        let pooled = rows[1..].iter().fold(rows[0].clone(), |sum, row| add(&sum, row));
        let length = dot(&pooled, &pooled).sqrt();
        pooled.iter().map(|x| x / length).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn sum(a: &Matrix, b: &Matrix) -> Matrix {
    a.iter().zip(b).map(|(a, b)| add(a, b)).collect()
}

/// Computes the error function from its series, which is exact enough for values below 6.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut total) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        total += term / f64::from(2 * n + 1);
    }
    total * 2.0 / std::f64::consts::PI.sqrt()
}
