//! Trial run of an imported model.

use std::path::Path;

use super::{OnnxEmbedder, SPECIAL, build_graph, tokens};
use crate::{EmbedError, Embedder, ModelFiles};

/// Minimum length of a pass in word pieces, which leaves room for heading, lead and text.
const SHORTEST_PASS: usize = 32;
/// Texts of the trial run.
const TRIAL: [&str; 2] = [
    "The ferry leaves at seven.",
    "Der Leuchtturmwärter ist im Herbst in den Ruhestand gegangen.",
];

/// Dimensions of the model, confirmed by the shapes of its weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelShape {
    /// Components of a vector.
    pub(crate) dimension: usize,
    /// Maximum length of a sequence in one pass, in word pieces.
    pub(crate) max_pieces: usize,
}

/// Checks that the weights have the shapes that the settings describe. The runtime library is not needed.
///
/// # Errors
/// Returns an error that names the invalid file and the problem.
pub(crate) fn examine(files: &ModelFiles) -> Result<ModelShape, EmbedError> {
    let config = build_graph(files)?.config;
    let invalid = || EmbedError::Model {
        path: files.config.clone(),
        reason: "the model contains a number that is too large".into(),
    };
    let positions = usize::try_from(config.positions()).map_err(|_| invalid())?;
    let max_pieces = files.max_pieces.min(positions);
    if max_pieces < SHORTEST_PASS {
        return Err(EmbedError::Model {
            path: files.config.clone(),
            reason: format!(
                "the model accepts at most {max_pieces} word pieces per text, and hippod needs \
                 {SHORTEST_PASS}"
            ),
        });
    }
    Ok(ModelShape {
        dimension: usize::try_from(config.hidden_size).map_err(|_| invalid())?,
        max_pieces,
    })
}

/// Loads a model and embeds test texts. This runs before the model is used for a memory.
///
/// # Errors
/// Fails if the model cannot be loaded, if its tokenizer adds other special tokens than the graph expects, or if it
/// returns unusable vectors.
pub(crate) fn run_trial(files: &ModelFiles, runtime: &Path) -> Result<(), EmbedError> {
    let unusable = |reason: String| EmbedError::Model {
        path: files.tokenizer.clone(),
        reason,
    };
    let mut model = OnnxEmbedder::load(files, runtime, 1).map_err(|error| match error {
        EmbedError::Load(reason) => unusable(reason),
        error => error,
    })?;
    let last = model.model.tokenizer.get_vocab(true).into_values().max();
    let rows = build_graph(files)?.config.vocab_size;
    if let Some(last) = last.filter(|last| u64::from(*last) >= rows) {
        return Err(unusable(format!(
            "its largest word piece id is {last}, but its weights have only {rows} rows for word pieces"
        )));
    }
    let around = tokens::count_special(&model.model, TRIAL[0])?;
    if around != SPECIAL {
        return Err(unusable(format!(
            "the tokenizer adds {around} special tokens to each text; hippod requires exactly 2"
        )));
    }
    for prefix in [&model.query_prefix, &model.passage_prefix] {
        if tokens::count(&model.model, prefix) > (model.max_pieces - SPECIAL) / 2 {
            return Err(unusable(
                "a prefix takes up more than half of the longest text that the model accepts".into(),
            ));
        }
    }
    let mut vectors = Vec::new();
    for text in TRIAL {
        vectors.push(model.embed_query(text)?);
        vectors.extend(model.embed_passages("Trial", &[text])?);
    }
    let [first, _, second, _] = &vectors[..] else {
        return Err(EmbedError::Run("the model returned no vectors".into()));
    };
    if vectors.iter().flatten().any(|x| !x.is_finite()) || first == second {
        return Err(unusable(
            "the model returns the same vector for different texts".into(),
        ));
    }
    Ok(())
}
