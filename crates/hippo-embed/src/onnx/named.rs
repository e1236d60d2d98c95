//! fastembed's named models from the model hub.

use std::path::Path;

use fastembed::{EmbeddingModel, ModelInfo, Pooling, TextEmbedding, TextInitOptions};

use super::{SPECIAL, runtime, tokens};
use crate::{EmbedError, Embedder, ModelId, normalise};

/// Maximum length of a sequence in one pass, including special tokens. fastembed uses this value for all its models.
const MAX_PIECES: usize = 512;

/// A model from fastembed's list. Each text has a pass of its own, because these graphs pool internally, and
/// dynamically quantised graphs return different vectors in different batches.
pub struct NamedEmbedder {
    id: ModelId,
    model: TextEmbedding,
    pieces: u64,
}

impl NamedEmbedder {
    /// Returns the names that [`Self::load`] accepts.
    pub fn names() -> Vec<String> {
        TextEmbedding::list_supported_models()
            .into_iter()
            .map(|info| info.model_code)
            .collect()
    }

    /// Returns the identity of a model by name, without loading it.
    ///
    /// # Errors
    /// Returns [`EmbedError::UnknownModel`] for a name not in [`Self::names`].
    pub fn identify(name: &str, prefix: &str) -> Result<ModelId, EmbedError> {
        Ok(id_of(&find(name)?, prefix))
    }

    /// Loads a model by its hub name (`owner/name`) or by fastembed's name, from `cache` or, if it is not there, from
    /// the hub. `prefix` is put before every text.
    ///
    /// # Errors
    /// Returns [`EmbedError::UnknownModel`] for a name that is not in [`Self::names`]; otherwise fails as for the local
    /// model, and also if the hub does not answer.
    pub fn load(
        name: &str,
        prefix: &str,
        cache: &Path,
        runtime: &Path,
        threads: usize,
    ) -> Result<Self, EmbedError> {
        let info = find(name)?;
        runtime::load(runtime)?;
        let id = id_of(&info, prefix);
        let options = TextInitOptions::new(info.model)
            .with_cache_dir(cache.into())
            .with_show_download_progress(false)
            .with_max_length(MAX_PIECES)
            .with_intra_threads(threads.max(1));
        let mut model = runtime::no_panic(|| TextEmbedding::try_new(options))
            .and_then(|result| result.map_err(|e| e.to_string()))
            .map_err(EmbedError::Load)?;
        tokens::disable_truncation(&mut model)?;
        Ok(Self { id, model, pieces: 0 })
    }

    fn embed(&mut self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let text = format!("{}{text}", self.id.prefix);
        let (text, pieces) = tokens::cut_to_start(&self.model, &text, MAX_PIECES - SPECIAL)?;
        let vectors = self
            .model
            .embed([text], None)
            .map_err(|e| EmbedError::Run(e.to_string()))?;
        self.pieces += (pieces + SPECIAL) as u64;
        let mut vector = vectors
            .into_iter()
            .next()
            .ok_or_else(|| EmbedError::Run("the model returned no vector".into()))?;
        normalise(&mut vector);
        Ok(vector)
    }
}

fn find(name: &str) -> Result<ModelInfo<EmbeddingModel>, EmbedError> {
    let same = |other: &str| other.eq_ignore_ascii_case(name);
    TextEmbedding::list_supported_models()
        .into_iter()
        .find(|info| same(&info.model_code) || same(&format!("{:?}", info.model)))
        .ok_or_else(|| EmbedError::UnknownModel(name.into()))
}

fn id_of(info: &ModelInfo<EmbeddingModel>, prefix: &str) -> ModelId {
    let pooling = match TextEmbedding::get_default_pooling_method(&info.model) {
        Some(Pooling::Mean) => "mean",
        Some(Pooling::Cls) | None => "cls",
    };
    ModelId {
        name: info.model_code.clone(),
        dimension: info.dim,
        // One repository contains several model files, such as a plain and a quantised one.
        revision: info.model_file.clone(),
        pooling: pooling.into(),
        prefix: prefix.into(),
    }
}

impl Embedder for NamedEmbedder {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn embed_query(&mut self, text: &str) -> Result<Vec<f32>, EmbedError> {
        self.embed(text)
    }

    fn embed_passages(&mut self, context: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let with_context = |text: &&str| {
            if context.is_empty() {
                (*text).to_owned()
            } else {
                format!("{context}\n{text}")
            }
        };
        texts
            .iter()
            .map(with_context)
            .map(|text| self.embed(&text))
            .collect()
    }

    fn count_tokens(&self, text: &str) -> usize {
        tokens::count(&self.model, text)
    }

    fn word_pieces_embedded(&self) -> u64 {
        self.pieces
    }
}
