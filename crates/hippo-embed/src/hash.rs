//! Hash embedding of words and letter trigrams, without a model.

use crate::{EmbedError, Embedder, ModelId, normalise};

const DIMENSION: usize = 384;

/// Deterministic feature hashing. Texts that share words or parts of words have similar vectors; meaning is ignored.
/// It is intended for tests and for builds without a model.
#[derive(Debug)]
pub struct HashEmbedder {
    id: ModelId,
    pieces: u64,
}

impl HashEmbedder {
    /// Creates an embedder; all instances return the same vectors.
    pub fn new() -> Self {
        let id = ModelId {
            name: "feature-hash".into(),
            dimension: DIMENSION,
            revision: "1".into(),
        };
        Self { id, pieces: 0 }
    }

    fn embed(&mut self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; DIMENSION];
        for word in words(text) {
            self.pieces += 1;
            let letters: Vec<char> = word.chars().collect();
            add(&mut vector, "word", &word, 0.8);
            // Inflected forms of a word usually begin with the same letters.
            add(
                &mut vector,
                "stem",
                &letters.iter().take(5).collect::<String>(),
                0.9,
            );
            let padded: Vec<char> = [' '].into_iter().chain(letters).chain([' ']).collect();
            let weight = 0.8 / (padded.len() as f32).sqrt();
            for trigram in padded.windows(3) {
                add(
                    &mut vector,
                    "trigram",
                    &trigram.iter().collect::<String>(),
                    weight,
                );
            }
        }
        normalise(&mut vector);
        vector
    }
}

impl Default for HashEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedder for HashEmbedder {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn embed_query(&mut self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.embed(text))
    }

    /// Ignores `context`. The hash of a word does not depend on its neighbours, and a common heading would only make
    /// all vectors more similar.
    fn embed_passages(&mut self, _context: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.embed(text)).collect())
    }

    fn count_tokens(&self, text: &str) -> usize {
        words(text).count()
    }

    fn word_pieces_embedded(&self) -> u64 {
        self.pieces
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
}

/// Adds a feature to a vector. The hash of the feature selects the component and the sign.
fn add(vector: &mut [f32], kind: &str, feature: &str, weight: f32) {
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(kind.as_bytes())
        .update(b"\0")
        .update(feature.as_bytes());
    let hash = hasher.finalize();
    let [a, b, c, ..] = *hash.as_bytes();
    let place = usize::from(u16::from_le_bytes([a, b])) % vector.len();
    vector[place] += if c & 1 == 0 { weight } else { -weight };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let mut embedder = HashEmbedder::new();
        let (a, b) = (embedder.embed(a), embedder.embed(b));
        a.iter().zip(&b).map(|(x, y)| x * y).sum()
    }

    proptest! {
        #[test]
        fn every_text_has_one_unit_vector(text in ".{0,80}") {
            let mut embedder = HashEmbedder::new();
            let vector = embedder.embed_query(&text).unwrap();
            prop_assert_eq!(vector.len(), embedder.id().dimension);
            prop_assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-4);
            prop_assert_eq!(&vector, &HashEmbedder::new().embed_passages("heading", &[&text]).unwrap()[0]);
        }
    }

    #[test]
    fn shared_words_mean_similarity() {
        let query = "which port does the staging database use";
        assert!(cosine(query, "the staging database listens on port 5433") > 0.4);
        assert!(cosine(query, "mother's birthday is in April") < 0.15);
        assert!(cosine("deployments", "the deployment failed") > 0.3);
        assert!(cosine("Berlin", "berlin") > 0.999);
    }

    #[test]
    fn pieces_are_counted() {
        let mut embedder = HashEmbedder::new();
        assert_eq!(embedder.count_tokens("two words, no more?"), 4);
        embedder.embed_passages("ignored", &["one two", "three"]).unwrap();
        assert_eq!(embedder.word_pieces_embedded(), 3);
    }
}
