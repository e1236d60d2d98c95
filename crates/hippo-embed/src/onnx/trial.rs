//! Can a model that somebody brought be used? Asked before it is trusted with a memory.

use std::path::Path;

use super::{OnnxEmbedder, SPECIAL, draw, tokens};
use crate::{EmbedError, Embedder, ModelFiles};

/// Pieces that the longest text must have room for: heading, lead and text share them.
const SHORTEST_PASS: usize = 32;
/// What a model is tried with before it is used.
const TRIAL: [&str; 2] = [
    "The ferry leaves at seven.",
    "Der Leuchtturmwärter ist im Herbst in den Ruhestand gegangen.",
];

/// What the files of a model say that its weights have the shape for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Components of a vector.
    pub(crate) dimension: usize,
    /// Longest sequence of one pass in word pieces.
    pub(crate) max_pieces: usize,
    /// Word pieces that it knows.
    pub(crate) vocabulary: u64,
}

/// Whether the weights have the shape that the settings name, without the runtime library.
///
/// # Errors
/// Says which file is not as it should be, and how.
pub(crate) fn examine(files: &ModelFiles) -> Result<Shape, EmbedError> {
    let config = draw(files)?.config;
    let invalid = || EmbedError::Model {
        path: files.config.clone(),
        reason: "it has a number that is too large".into(),
    };
    let positions = usize::try_from(config.positions()).map_err(|_| invalid())?;
    let max_pieces = files.max_pieces.min(positions);
    if max_pieces < SHORTEST_PASS {
        return Err(EmbedError::Model {
            path: files.config.clone(),
            reason: format!("its texts have {max_pieces} word pieces at most, {SHORTEST_PASS} are needed"),
        });
    }
    Ok(Shape {
        dimension: usize::try_from(config.hidden_size).map_err(|_| invalid())?,
        max_pieces,
        vocabulary: config.vocab_size,
    })
}

/// Loads a model and has it make vectors, before it is trusted with a memory.
///
/// # Errors
/// When it cannot be loaded, frames texts in another way than the graph expects, or makes no vectors of them.
pub(crate) fn try_out(files: &ModelFiles, runtime: &Path) -> Result<(), EmbedError> {
    let mut model = OnnxEmbedder::load(files, runtime, 1)?;
    let unusable = |reason: String| EmbedError::Model {
        path: files.tokenizer.clone(),
        reason,
    };
    let around = tokens::around(&model.model, TRIAL[0])?;
    if around != SPECIAL {
        return Err(unusable(format!(
            "it puts {around} special pieces around a text, 2 are needed"
        )));
    }
    for prefix in [&model.query_prefix, &model.passage_prefix] {
        if tokens::count(&model.model, prefix) > (model.max_pieces - SPECIAL) / 2 {
            return Err(unusable(
                "a prefix takes more than half of the longest text".into(),
            ));
        }
    }
    let mut vectors = Vec::new();
    for text in TRIAL {
        vectors.push(model.embed_query(text)?);
        vectors.extend(model.embed_passages("Trial", &[text])?);
    }
    let [first, _, second, _] = &vectors[..] else {
        return Err(EmbedError::Run("it gave no vectors".into()));
    };
    if vectors.iter().flatten().any(|x| !x.is_finite()) || first == second {
        return Err(unusable("different texts get no vectors of their own".into()));
    }
    Ok(())
}
