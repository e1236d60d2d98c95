//! How the local model turns text into vectors: fastembed over ONNX Runtime, with a graph of our own.

mod builder;
mod graph;
#[cfg(feature = "hub")]
mod named;
mod protobuf;
mod runtime;
mod tokens;
mod weights;

use std::fs;
use std::ops::Range;
use std::path::Path;

use fastembed::{
    InitOptionsUserDefined, OutputKey, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};

#[cfg(feature = "hub")]
pub use named::NamedEmbedder;
pub use runtime::check_processor;

use crate::window::{Part, passes};
use crate::{EmbedError, Embedder, ModelFiles, ModelId, normalise};

/// `[CLS]` and `[SEP]`.
const SPECIAL: usize = 2;
/// Most pieces of context before the texts of a pass, as a share of the pass.
const CONTEXT_SHARE: usize = 16;
/// Of the room of a pass, the share for the end of the text before it, which is read and not pooled: a vector at the
/// start of a pass knows what came before. Without it late chunking is no better than embedding each text alone
/// (docs/benchmarks.md).
const LEAD_SHARE: usize = 8;
/// Texts before a pass that its lead is taken from, at most.
const LEAD_TEXTS: usize = 3;
/// The weights as the graph names them; the runtime finds them in the model's folder.
const DATA_FILE: &str = "model.safetensors";

/// The local model. One pass holds one sequence without padding, which measured fastest on processors.
pub struct OnnxEmbedder {
    id: ModelId,
    model: TextEmbedding,
    /// Pieces of one pass, special ones included.
    max_pieces: usize,
    pieces: u64,
}

/// One sequence after its pass: the token vectors, `[CLS]` first and `[SEP]` last.
struct Tokens {
    vectors: Vec<f32>,
    width: usize,
}

impl OnnxEmbedder {
    /// Loads the runtime library and the model; `threads` caps the processor cores used by one pass.
    ///
    /// # Errors
    /// Fails on a processor that the runtime does not support, on files that are missing or not a BERT, and when
    /// the runtime refuses them. Never panics.
    pub fn load(files: &ModelFiles, runtime: &Path, threads: usize) -> Result<Self, EmbedError> {
        runtime::load(runtime)?;
        let read = |path: &Path| {
            fs::read(path).map_err(|source| EmbedError::File {
                path: path.into(),
                source,
            })
        };
        let config_bytes = read(&files.config)?;
        let config = graph::Config::parse(&config_bytes, &files.config)?;
        let weights = weights::Weights::read(&files.weights)?;
        let graph = graph::write(&config, &weights, DATA_FILE).map_err(|reason| EmbedError::Model {
            path: files.weights.clone(),
            reason,
        })?;
        let tokenizer = TokenizerFiles {
            tokenizer_file: read(&files.tokenizer)?,
            config_file: config_bytes,
            special_tokens_map_file: read(&files.special_tokens_map)?,
            tokenizer_config_file: read(&files.tokenizer_config)?,
        };
        let folder = files.weights.parent().unwrap_or(Path::new("."));
        let folder = std::path::absolute(folder).map_err(|source| EmbedError::File {
            path: folder.into(),
            source,
        })?;
        let max_pieces = files
            .max_pieces
            .min(config.max_position_embeddings as usize)
            .max(SPECIAL + 1);
        let options = InitOptionsUserDefined::new()
            .with_max_length(max_pieces)
            .with_intra_threads(threads.max(1))
            .with_session_config(
                "session.model_external_initializers_file_folder_path",
                folder.display().to_string(),
            );
        let model = UserDefinedEmbeddingModel::new(graph, tokenizer);
        let mut model = runtime::no_panic(|| TextEmbedding::try_new_from_user_defined(model, options))
            .and_then(|result| result.map_err(|e| e.to_string()))
            .map_err(EmbedError::Load)?;
        tokens::uncut(&mut model)?;
        Ok(Self {
            id: files.id.clone(),
            model,
            max_pieces,
            pieces: 0,
        })
    }

    /// The model inside, for comparisons.
    #[doc(hidden)]
    pub fn fastembed(&mut self) -> &mut TextEmbedding {
        &mut self.model
    }

    fn run(&mut self, text: &str) -> Result<Tokens, EmbedError> {
        let failed = |e: fastembed::Error| EmbedError::Run(e.to_string());
        let batches = self.model.transform([text], Some(1)).map_err(failed)?.into_raw();
        let batch = batches
            .first()
            .ok_or_else(|| EmbedError::Run("the model gave no output".into()))?;
        let output = batch.select_output(&&OutputKey::OnlyOne).map_err(failed)?;
        let width = output.shape().last().copied().unwrap_or(0);
        if width != self.id.dimension {
            return Err(EmbedError::Run(format!(
                "the model gave vectors of {width} components"
            )));
        }
        let vectors: Vec<f32> = output.iter().copied().collect();
        self.pieces += (vectors.len() / width) as u64;
        Ok(Tokens { vectors, width })
    }
}

fn text_of<'t>(texts: &[&'t str], part: &Part) -> &'t str {
    texts[part.text].get(part.bytes.clone()).unwrap_or_default()
}

impl Embedder for OnnxEmbedder {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn embed_query(&mut self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let text = format!("{}{text}", self.id.prefix);
        let (text, _) = tokens::beginning(&self.model, &text, self.max_pieces - SPECIAL)?;
        let tokens = self.run(text)?;
        let mut vector = vec![0.0; tokens.width];
        tokens.add(0..tokens.len(), &mut vector);
        normalise(&mut vector);
        Ok(vector)
    }

    /// The vector of a text is the mean of its own token vectors; a text that passes alone and without context
    /// counts `[CLS]` and `[SEP]` too and so gets the vector that it has as a query.
    fn embed_passages(&mut self, context: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let room = self.max_pieces - SPECIAL;
        let context = format!("{}{context}", self.id.prefix);
        let (context, context_pieces) = tokens::beginning(&self.model, &context, room / CONTEXT_SHARE)?;
        let context = context.to_owned();
        let room = room - context_pieces;
        let lead_room = room / LEAD_SHARE;
        let parts = tokens::parts(&self.model, texts, room - lead_room)?;
        let all: usize = parts.iter().map(|part| part.pieces).sum();
        // A run that fits into one pass needs no lead.
        let own = if all <= room { room } else { room - lead_room };
        let mut sums = vec![vec![0.0; self.id.dimension]; texts.len()];
        for range in passes(&parts, own) {
            let before = &parts[range.start.saturating_sub(LEAD_TEXTS)..range.start];
            let before = before
                .iter()
                .map(|part| text_of(texts, part))
                .collect::<Vec<_>>()
                .join("\n");
            let (lead, lead_pieces) = tokens::ending(&self.model, &before, lead_room)?;
            let pass = &parts[range];
            let mut sequence = context.clone();
            for text in std::iter::once(lead).chain(pass.iter().map(|part| text_of(texts, part))) {
                if !sequence.is_empty() {
                    sequence.push('\n');
                }
                sequence.push_str(text);
            }
            let tokens = self.run(&sequence)?;
            let total: usize = pass.iter().map(|p| p.pieces).sum();
            let mut at = 1 + context_pieces + lead_pieces;
            let exact = tokens.len() == SPECIAL + context_pieces + lead_pieces + total;
            for part in pass {
                // Without pieces of its own, or with pieces that merged with a neighbour's, a text is known by
                // the pass that it is in.
                let alone = pass.len() == 1 && context_pieces + lead_pieces == 0;
                let own = at..at + part.pieces;
                let span = if alone || !exact || own.is_empty() {
                    0..tokens.len()
                } else {
                    own
                };
                tokens.add(span, &mut sums[part.text]);
                at += part.pieces;
            }
        }
        sums.iter_mut().for_each(|sum| normalise(sum));
        Ok(sums)
    }

    fn count_tokens(&self, text: &str) -> usize {
        tokens::count(&self.model, text)
    }

    fn word_pieces_embedded(&self) -> u64 {
        self.pieces
    }
}

impl Tokens {
    fn len(&self) -> usize {
        self.vectors.len() / self.width
    }

    /// Adds the vectors of a range of tokens; sums over the passes of a text weigh each by its pieces.
    fn add(&self, range: Range<usize>, sum: &mut [f32]) {
        for token in self.vectors[range.start * self.width..range.end * self.width].chunks_exact(self.width) {
            for (total, x) in sum.iter_mut().zip(token) {
                *total += x;
            }
        }
    }
}
