//! Similarity of single words, from the input embeddings of the model.

use std::borrow::Cow;

use foldhash::HashMap;
use multiversion::multiversion;

/// Maximum bytes of a word. Longer words have no vector.
const WORD: usize = 40;
/// Prefix of a word piece that continues a word.
pub(crate) const CONTINUES: &str = "##";
/// Largest absolute value of a component.
const LARGEST: f32 = 127.0;

/// The input embeddings of the word pieces of a model, in 8 bits per component.
#[derive(Debug)]
pub struct WordVectors {
    pieces: HashMap<Box<str>, u32>,
    rows: Vec<i8>,
    width: usize,
}

impl WordVectors {
    /// Creates the vectors from the row of each word piece and a table of compressed rows with `width`
    /// components each. Pieces without a row are dropped.
    pub fn new(mut pieces: HashMap<Box<str>, u32>, width: usize, rows: Vec<i8>) -> Self {
        let count = rows.len() / width.max(1);
        pieces.retain(|_, row| (*row as usize) < count);
        Self { pieces, rows, width }
    }

    /// Returns the cosine of each pair of words; all pairs of the first word of `words` come first. Words are in lower
    /// case. Equal words have the cosine 1. A word without a vector has the cosine 0 with all other words.
    #[must_use]
    pub fn similarities(&self, words: &[&str], others: &[&str]) -> Vec<f32> {
        let vectors = |words: &[&str]| -> Vec<(Cow<'_, [i8]>, f32)> {
            words.iter().map(|word| with_norm(self.vector(word))).collect()
        };
        let (rows, columns) = (vectors(words), vectors(others));
        let mut cosines = Vec::with_capacity(words.len() * others.len());
        for (word, (row, norm)) in words.iter().zip(&rows) {
            for (other, (column, other_norm)) in others.iter().zip(&columns) {
                let product = norm * other_norm;
                cosines.push(match () {
                    () if word == other => 1.0,
                    () if product > 0.0 => dot(row, column) as f32 / product,
                    () => 0.0,
                });
            }
        }
        cosines
    }

    /// Returns the sum of the vectors of the word's pieces. If a part of the word is no piece, the result is empty.
    fn vector(&self, word: &str) -> Cow<'_, [i8]> {
        let Some(pieces) = self.split(word) else {
            return Cow::default();
        };
        let row = |piece: &u32| {
            let start = *piece as usize * self.width;
            &self.rows[start..start + self.width]
        };
        if let [piece] = pieces.as_slice() {
            return Cow::Borrowed(row(piece));
        }
        let mut sum = vec![0.0; self.width];
        for piece in &pieces {
            for (sum, value) in sum.iter_mut().zip(row(piece)) {
                *sum += f32::from(*value);
            }
        }
        Cow::Owned(compress(&sum).collect())
    }

    /// Divides a word into the longest pieces, from its start.
    fn split(&self, word: &str) -> Option<Vec<u32>> {
        if word.is_empty() || word.len() > WORD {
            return None;
        }
        let mut pieces = Vec::new();
        let mut at = 0;
        let mut buffer = String::new();
        while at < word.len() {
            let ends = word[at..]
                .char_indices()
                .map(|(start, mark)| at + start + mark.len_utf8());
            let found = ends.rev().find_map(|end| {
                buffer.clear();
                if at > 0 {
                    buffer.push_str(CONTINUES);
                }
                buffer.push_str(&word[at..end]);
                Some((end, *self.pieces.get(buffer.as_str())?))
            });
            let (end, piece) = found?;
            pieces.push(piece);
            at = end;
        }
        Some(pieces)
    }
}

/// Scales a vector to components of 8 bits.
pub(crate) fn compress(vector: &[f32]) -> impl Iterator<Item = i8> {
    let largest = vector
        .iter()
        .fold(0.0, |largest: f32, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { LARGEST / largest } else { 0.0 };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the scaled values are from -127 to 127"
    )]
    vector.iter().map(move |value| (value * scale).round() as i8)
}

fn with_norm(vector: Cow<'_, [i8]>) -> (Cow<'_, [i8]>, f32) {
    let norm = (dot(&vector, &vector) as f32).sqrt();
    (vector, norm)
}

/// Returns the dot product. The loop is compiled for several instruction sets.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn dot(one: &[i8], other: &[i8]) -> i32 {
    one.iter()
        .zip(other)
        .map(|(one, other)| i32::from(*one) * i32::from(*other))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors() -> WordVectors {
        let pieces = ["pump", "valve", "##s", "blue"];
        let pieces = (0..)
            .zip(pieces)
            .map(|(row, piece)| (piece.into(), row))
            .collect();
        let rows = [[100, 20], [90, 30], [5, 5], [-20, 100]].concat();
        WordVectors {
            pieces,
            rows,
            width: 2,
        }
    }

    #[test]
    fn words_are_compared_by_the_sum_of_their_pieces() {
        let cosines = vectors().similarities(&["pump", "pumps"], &["valve", "blue", "pumps", "x"]);
        assert!(cosines[0] > 0.9 && cosines[1].abs() < 0.1 && cosines[2] > 0.9);
        assert_eq!(cosines[6], 1.0, "equal words");
        assert_eq!((cosines[3], cosines[7]), (0.0, 0.0), "a word without pieces");
    }

    #[test]
    fn words_without_pieces_are_equal_only_to_themselves() {
        let words = ["xyz", ""];
        assert_eq!(vectors().similarities(&words, &words), [1.0, 0.0, 0.0, 1.0]);
        assert!(vectors().similarities(&[], &["pump"]).is_empty());
    }
}
