//! Embedding with fastembed on ONNX Runtime, with a generated graph.

mod builder;
mod graph;
mod protobuf;
mod runtime;
mod tokens;
mod trial;
mod word_table;

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use fastembed::{
    InitOptionsUserDefined, OutputKey, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};

pub use runtime::check_processor;
pub(crate) use trial::{examine, run_trial};

use crate::acquire::Pooling;
use crate::weights::NamedTensors;
use crate::window::{TextPart, group_into_passes};
use crate::{EmbedError, Embedder, ModelFiles, ModelId, WordVectors, normalise};

/// Number of special tokens in a sequence: `[CLS]` and `[SEP]`.
const SPECIAL: usize = 2;
/// Share of a pass that the context before the texts may occupy: 1/16.
const CONTEXT_SHARE: usize = 16;
/// Share of a pass that the lead may occupy: 1/8. The lead is the end of the preceding text. The model reads the lead,
/// but its tokens are not pooled. The vectors at the start of a pass therefore depend on the preceding text. Without a
/// lead, late chunking is not better than embedding each text alone.
const LEAD_SHARE: usize = 8;
/// Maximum number of texts from which the lead is taken.
const LEAD_TEXTS: usize = 3;
/// Settings for fastembed. The tokenizer file defines the special tokens itself. fastembed requires padding, which is
/// disabled after loading.
const NO_PADDING: &str = r#"{"model_max_length":1000000,"pad_token":"[PAD]"}"#;
/// File name of the weights that the graph refers to, relative to the model's folder.
const DATA_FILE: &str = "model.safetensors";

/// The local model. One pass consists of one sequence without padding, which is the fastest method on a CPU.
pub struct OnnxEmbedder {
    id: ModelId,
    model: TextEmbedding,
    query_prefix: String,
    passage_prefix: String,
    /// Maximum number of word pieces in one pass, including special tokens.
    max_pieces: usize,
    /// Rows of the model's position table.
    positions: usize,
    pieces: u64,
    files: ModelFiles,
    /// Vectors of single words. They are read at the first request; `Some(None)` if this model has none.
    words: Option<Option<Arc<WordVectors>>>,
}

/// The token vectors of one pass, from `[CLS]` to `[SEP]`.
struct TokenVectors {
    vectors: Vec<f32>,
    width: usize,
}

/// The text at the start of a pass, before the passages: the prefix, followed by the context on the same line.
struct PassHead {
    text: String,
    pieces: usize,
}

/// The generated graph of a model and the settings behind it.
struct ModelGraph {
    config: graph::EncoderConfig,
    config_bytes: Vec<u8>,
    graph: Vec<u8>,
}

fn read(path: &Path) -> Result<Vec<u8>, EmbedError> {
    fs::read(path).map_err(|source| EmbedError::File {
        path: path.into(),
        source,
    })
}

fn build_graph(files: &ModelFiles) -> Result<ModelGraph, EmbedError> {
    let config_bytes = read(&files.config)?;
    let config = graph::EncoderConfig::parse(&config_bytes, &files.config)?;
    let weights = NamedTensors::read(&files.weights)?;
    let graph = graph::write(&config, &weights, DATA_FILE).map_err(|reason| EmbedError::Model {
        path: files.weights.clone(),
        reason,
    })?;
    Ok(ModelGraph {
        config,
        config_bytes,
        graph,
    })
}

impl OnnxEmbedder {
    /// Loads the runtime library and the model. `threads` is the maximum number of CPU cores for one pass.
    ///
    /// # Errors
    /// Fails if the runtime does not support this CPU or rejects the model, or if the files are missing or not a BERT
    /// model. Never panics.
    pub fn load(files: &ModelFiles, runtime: &Path, threads: usize) -> Result<Self, EmbedError> {
        runtime::load(runtime)?;
        let ModelGraph {
            config,
            config_bytes,
            graph,
        } = build_graph(files)?;
        let tokenizer = TokenizerFiles {
            tokenizer_file: read(&files.tokenizer)?,
            config_file: config_bytes,
            special_tokens_map_file: "{}".into(),
            tokenizer_config_file: NO_PADDING.into(),
        };
        // The runtime refuses a link to a file outside the folder, so it gets the folder of the target.
        let weights = files.weights.canonicalize().map_err(|source| EmbedError::File {
            path: files.weights.clone(),
            source,
        })?;
        let folder = weights.parent().unwrap_or(Path::new("."));
        let positions = usize::try_from(config.positions()).unwrap_or(usize::MAX);
        let max_pieces = files.max_pieces.min(positions).max(SPECIAL + 1);
        let options = InitOptionsUserDefined::new()
            .with_max_length(max_pieces)
            .with_intra_threads(threads.max(1))
            // Between two passes, a waiting thread of the runtime would use a whole core.
            .with_session_config("session.force_spinning_stop", "1")
            .with_session_config(
                "session.model_external_initializers_file_folder_path",
                folder.display().to_string(),
            );
        let model = UserDefinedEmbeddingModel::new(graph, tokenizer);
        let mut model = runtime::no_panic(|| TextEmbedding::try_new_from_user_defined(model, options))
            .and_then(|result| result.map_err(|e| e.to_string()))
            .map_err(EmbedError::Load)?;
        tokens::disable_truncation(&mut model)?;
        Ok(Self {
            id: files.id.clone(),
            model,
            query_prefix: files.query_prefix.clone(),
            passage_prefix: files.passage_prefix.clone(),
            max_pieces,
            positions,
            pieces: 0,
            files: files.clone(),
            words: None,
        })
    }

    /// Returns the fastembed model, for comparisons in benchmarks.
    #[doc(hidden)]
    pub fn fastembed(&mut self) -> &mut TextEmbedding {
        &mut self.model
    }

    fn run(&mut self, text: &str) -> Result<TokenVectors, EmbedError> {
        let mut text = text;
        if self.positions < 2 * self.max_pieces {
            // A joined text may have more pieces than its parts counted separately, and the model has a fixed number
            // of positions.
            text = tokens::cut_to_start(&self.model, text, self.positions - SPECIAL)?.0;
        }
        let failed = |e: fastembed::Error| EmbedError::Run(e.to_string());
        let batches = self.model.transform([text], Some(1)).map_err(failed)?.into_raw();
        let batch = batches
            .first()
            .ok_or_else(|| EmbedError::Run("the model returned no output".into()))?;
        let output = batch.select_output(&&OutputKey::OnlyOne).map_err(failed)?;
        let width = output.shape().last().copied().unwrap_or(0);
        if width != self.id.dimension || output.is_empty() {
            return Err(EmbedError::Run(format!(
                "the model returned vectors of {width} components"
            )));
        }
        let vectors: Vec<f32> = output.iter().copied().collect();
        self.pieces += (vectors.len() / width) as u64;
        Ok(TokenVectors { vectors, width })
    }

    fn head(&self, context: &str) -> Result<PassHead, EmbedError> {
        let room = (self.max_pieces - SPECIAL) / CONTEXT_SHARE;
        let (context, pieces) = tokens::cut_to_start(&self.model, context, room)?;
        Ok(PassHead {
            pieces: pieces + tokens::count(&self.model, &self.passage_prefix),
            text: format!("{}{context}", self.passage_prefix),
        })
    }

    /// Embeds neighbouring texts in common passes. The vector of a text is the mean of the vectors of the text's own
    /// tokens. If a text is alone in its pass and has no context, the mean includes the prefix, `[CLS]` and `[SEP]`.
    /// Such a text therefore has the same vector as an equal query, if the prefixes for queries and passages are
    /// equal. With [`Pooling::Cls`], there is only one text, and its vector is the sum of the first tokens of its
    /// passes.
    fn embed_jointly(&mut self, context: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let head = self.head(context)?;
        let room = (self.max_pieces - SPECIAL).saturating_sub(head.pieces).max(1);
        let lead_room = room / LEAD_SHARE;
        let parts = tokens::split_texts(&self.model, texts, room - lead_room)?;
        let all: usize = parts.iter().map(|part| part.pieces).sum();
        // If all texts fit into one pass, no lead is needed, because no earlier pass exists.
        let own = if all <= room { room } else { room - lead_room };
        let mut sums = vec![vec![0.0; self.id.dimension]; texts.len()];
        for range in group_into_passes(&parts, own) {
            let before = &parts[range.start.saturating_sub(LEAD_TEXTS)..range.start];
            let before = before
                .iter()
                .map(|part| text_of(texts, part))
                .collect::<Vec<_>>()
                .join("\n");
            let (lead, lead_pieces) = tokens::cut_to_end(&self.model, &before, lead_room)?;
            let pass = &parts[range];
            let mut sequence = head.text.clone();
            self.append(&mut sequence, lead);
            let places: Vec<Range<usize>> = pass
                .iter()
                .map(|part| self.append(&mut sequence, text_of(texts, part)))
                .collect();
            let tokens = self.run(&sequence)?;
            let alone = self.files.pooling == Pooling::Cls
                || (pass.len() == 1 && context.is_empty() && lead_pieces == 0);
            let spans = if alone {
                None
            } else {
                self.assign_tokens(&sequence, &tokens, head.pieces + lead_pieces, pass, &places)?
            };
            for (i, part) in pass.iter().enumerate() {
                // A text without tokens of its own gets the vector of the whole pass.
                let own = spans.as_ref().map(|spans| spans[i].clone());
                let span = own.filter(|own| !own.is_empty());
                tokens.add(span.unwrap_or(self.pooled(&tokens)), &mut sums[part.text]);
            }
        }
        sums.iter_mut().for_each(|sum| normalise(sum));
        Ok(sums)
    }

    /// Returns the tokens that the vector of a whole pass is computed from.
    fn pooled(&self, tokens: &TokenVectors) -> Range<usize> {
        match self.files.pooling {
            Pooling::Mean => 0..tokens.len(),
            Pooling::Cls => 0..1,
        }
    }

    /// Appends a text on a new line; directly after the prefix, no line break is added. Returns the byte range of the
    /// text.
    fn append(&self, sequence: &mut String, text: &str) -> Range<usize> {
        if sequence.len() > self.passage_prefix.len() {
            sequence.push('\n');
        }
        let start = sequence.len();
        sequence.push_str(text);
        start..sequence.len()
    }

    /// Assigns the tokens of a pass to its texts. If the pieces of the texts add up to the tokens of the pass, each
    /// text gets as many tokens as it has pieces. Otherwise, byte offsets determine the tokens of each text.
    fn assign_tokens(
        &self,
        sequence: &str,
        tokens: &TokenVectors,
        before: usize,
        pass: &[TextPart],
        places: &[Range<usize>],
    ) -> Result<Option<Vec<Range<usize>>>, EmbedError> {
        let total: usize = pass.iter().map(|part| part.pieces).sum();
        let own = tokens.len().saturating_sub(SPECIAL);
        if own == before + total {
            let mut at = 1 + before;
            let next = pass.iter().map(|part| {
                at += part.pieces;
                at - part.pieces..at
            });
            return Ok(Some(next.collect()));
        }
        let within = tokens::pieces_in_ranges(&self.model, sequence, own, places)?;
        let framed = |span: Range<usize>| span.start + 1..span.end + 1;
        Ok(within.map(|spans| spans.into_iter().map(framed).collect()))
    }
}

fn text_of<'t>(texts: &[&'t str], part: &TextPart) -> &'t str {
    texts[part.text].get(part.bytes.clone()).unwrap_or_default()
}

impl Embedder for OnnxEmbedder {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn embed_query(&mut self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let text = format!("{}{text}", self.query_prefix);
        let (text, _) = tokens::cut_to_start(&self.model, &text, self.max_pieces - SPECIAL)?;
        let tokens = self.run(text)?;
        let mut vector = vec![0.0; tokens.width];
        tokens.add(self.pooled(&tokens), &mut vector);
        normalise(&mut vector);
        Ok(vector)
    }

    fn embed_passages(&mut self, context: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.passage_prefix.is_empty() && self.files.pooling == Pooling::Mean {
            return self.embed_jointly(context, texts);
        }
        // A prefix must precede each text, and a pass has one first token, so each text gets a pass of its own.
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            vectors.extend(self.embed_jointly(context, &[text])?);
        }
        Ok(vectors)
    }

    fn count_tokens(&self, text: &str) -> usize {
        tokens::count(&self.model, text)
    }

    fn words(&mut self) -> Option<Arc<WordVectors>> {
        let files = &self.files;
        let words = self.words.get_or_insert_with(|| {
            let words = word_table::read_words(files).unwrap_or_else(|error| {
                tracing::warn!(%error, "could not read the vectors of single words");
                None
            });
            words.map(Arc::new)
        });
        words.clone()
    }

    fn word_pieces_embedded(&self) -> u64 {
        self.pieces
    }
}

impl TokenVectors {
    fn len(&self) -> usize {
        self.vectors.len() / self.width
    }

    /// Adds the vectors of a token range to `sum`. If a text has several passes, the number of added tokens is the
    /// weight of each pass.
    fn add(&self, range: Range<usize>, sum: &mut [f32]) {
        let tokens = self.vectors.chunks_exact(self.width);
        for token in tokens.skip(range.start).take(range.len()) {
            for (total, x) in sum.iter_mut().zip(token) {
                *total += x;
            }
        }
    }
}
