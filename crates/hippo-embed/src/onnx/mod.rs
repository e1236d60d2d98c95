//! How the local model turns text into vectors: fastembed over ONNX Runtime, with a graph of our own.

mod builder;
mod graph;
#[cfg(feature = "hub")]
mod named;
mod protobuf;
mod runtime;
mod tokens;
mod trial;
mod weights;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use fastembed::{
    InitOptionsUserDefined, OutputKey, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};

#[cfg(feature = "hub")]
pub use named::NamedEmbedder;
pub use runtime::check_processor;
pub(crate) use trial::{examine, try_out};

use crate::acquire::Pooling;
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
/// For a tokenizer that knows its special pieces itself: the padding that fastembed asks for is taken away again.
const NO_PADDING: &str = r#"{"model_max_length":1000000,"pad_token":"[PAD]"}"#;
/// The weights as the graph names them; the runtime finds them in the model's folder.
const DATA_FILE: &str = "model.safetensors";

/// The local model. One pass holds one sequence without padding, which measured fastest on processors.
pub struct OnnxEmbedder {
    id: ModelId,
    model: TextEmbedding,
    pooling: Pooling,
    query_prefix: String,
    passage_prefix: String,
    /// Pieces of one pass, special ones included.
    max_pieces: usize,
    /// Pieces that the model has positions for.
    positions: usize,
    pieces: u64,
}

/// One sequence after its pass: the token vectors, `[CLS]` first and `[SEP]` last.
struct Tokens {
    vectors: Vec<f32>,
    width: usize,
}

/// What stands before the texts of a pass: the prefix, then the context on the same line.
struct Head {
    text: String,
    pieces: usize,
}

/// The graph of a model, and what shaped it.
struct Drawn {
    config: graph::Config,
    config_bytes: Vec<u8>,
    graph: Vec<u8>,
}

fn read(path: &Path) -> Result<Vec<u8>, EmbedError> {
    fs::read(path).map_err(|source| EmbedError::File {
        path: path.into(),
        source,
    })
}

fn draw(files: &ModelFiles) -> Result<Drawn, EmbedError> {
    let config_bytes = read(&files.config)?;
    let config = graph::Config::parse(&config_bytes, &files.config)?;
    let weights = weights::Weights::read(&files.weights)?;
    let graph = graph::write(&config, &weights, DATA_FILE).map_err(|reason| EmbedError::Model {
        path: files.weights.clone(),
        reason,
    })?;
    Ok(Drawn {
        config,
        config_bytes,
        graph,
    })
}

impl OnnxEmbedder {
    /// Loads the runtime library and the model; `threads` caps the processor cores used by one pass.
    ///
    /// # Errors
    /// Fails on a processor that the runtime does not support, on files that are missing or not a BERT, and when
    /// the runtime refuses them. Never panics.
    pub fn load(files: &ModelFiles, runtime: &Path, threads: usize) -> Result<Self, EmbedError> {
        runtime::load(runtime)?;
        let Drawn {
            config,
            config_bytes,
            graph,
        } = draw(files)?;
        let optional = |path: &Option<PathBuf>, without: &str| match path {
            Some(path) => read(path),
            None => Ok(without.into()),
        };
        let tokenizer = TokenizerFiles {
            tokenizer_file: read(&files.tokenizer)?,
            config_file: config_bytes,
            special_tokens_map_file: optional(&files.special_tokens_map, "{}")?,
            tokenizer_config_file: optional(&files.tokenizer_config, NO_PADDING)?,
        };
        let folder = files.weights.parent().unwrap_or(Path::new("."));
        let folder = std::path::absolute(folder).map_err(|source| EmbedError::File {
            path: folder.into(),
            source,
        })?;
        let positions = usize::try_from(config.positions()).unwrap_or(usize::MAX);
        let max_pieces = files.max_pieces.min(positions).max(SPECIAL + 1);
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
            pooling: files.pooling,
            query_prefix: files.query_prefix.clone(),
            passage_prefix: files.passage_prefix.clone(),
            max_pieces,
            positions,
            pieces: 0,
        })
    }

    /// The model inside, for comparisons.
    #[doc(hidden)]
    pub fn fastembed(&mut self) -> &mut TextEmbedding {
        &mut self.model
    }

    fn run(&mut self, text: &str) -> Result<Tokens, EmbedError> {
        let mut text = text;
        if self.positions < 2 * self.max_pieces {
            // Texts that were counted one by one may have more pieces together, and the model has no more positions.
            text = tokens::beginning(&self.model, text, self.positions - SPECIAL)?.0;
        }
        let failed = |e: fastembed::Error| EmbedError::Run(e.to_string());
        let batches = self.model.transform([text], Some(1)).map_err(failed)?.into_raw();
        let batch = batches
            .first()
            .ok_or_else(|| EmbedError::Run("the model gave no output".into()))?;
        let output = batch.select_output(&&OutputKey::OnlyOne).map_err(failed)?;
        let width = output.shape().last().copied().unwrap_or(0);
        if width != self.id.dimension || output.is_empty() {
            return Err(EmbedError::Run(format!(
                "the model gave vectors of {width} components"
            )));
        }
        let vectors: Vec<f32> = output.iter().copied().collect();
        self.pieces += (vectors.len() / width) as u64;
        Ok(Tokens { vectors, width })
    }

    fn head(&self, context: &str) -> Result<Head, EmbedError> {
        let room = (self.max_pieces - SPECIAL) / CONTEXT_SHARE;
        let (context, pieces) = tokens::beginning(&self.model, context, room)?;
        Ok(Head {
            pieces: pieces + tokens::count(&self.model, &self.passage_prefix),
            text: format!("{}{context}", self.passage_prefix),
        })
    }

    /// Each text in a pass of its own, for models whose first token stands for the whole pass.
    fn one_by_one(&mut self, context: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let head = self.head(context)?;
        let room = (self.max_pieces - SPECIAL).saturating_sub(head.pieces).max(1);
        let mut sums = vec![vec![0.0; self.id.dimension]; texts.len()];
        for part in tokens::parts(&self.model, texts, room)? {
            let mut sequence = head.text.clone();
            self.append(&mut sequence, text_of(texts, &part));
            let tokens = self.run(&sequence)?;
            let mut vector = vec![0.0; self.id.dimension];
            tokens.add(0..1, &mut vector);
            normalise(&mut vector);
            let weight = part.pieces.max(1) as f32;
            for (total, x) in sums[part.text].iter_mut().zip(vector) {
                *total += weight * x;
            }
        }
        sums.iter_mut().for_each(|sum| normalise(sum));
        Ok(sums)
    }

    /// Neighbours share a pass. The vector of a text is the mean of its own token vectors; a text that passes alone and without context
    /// counts the prefix, `[CLS]` and `[SEP]` too: where questions have the same prefix, it gets the vector that it has as a question.
    fn together(&mut self, context: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let head = self.head(context)?;
        let room = (self.max_pieces - SPECIAL).saturating_sub(head.pieces).max(1);
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
            let mut sequence = head.text.clone();
            self.append(&mut sequence, lead);
            let places: Vec<Range<usize>> = pass
                .iter()
                .map(|part| self.append(&mut sequence, text_of(texts, part)))
                .collect();
            let tokens = self.run(&sequence)?;
            let alone = pass.len() == 1 && context.is_empty() && lead_pieces == 0;
            let spans = if alone {
                None
            } else {
                self.spans(&sequence, &tokens, head.pieces + lead_pieces, pass, &places)?
            };
            for (i, part) in pass.iter().enumerate() {
                // Without pieces of its own a text is known by the pass that it is in.
                let own = spans.as_ref().map(|spans| spans[i].clone());
                let span = own.filter(|own| !own.is_empty());
                tokens.add(span.unwrap_or(0..tokens.len()), &mut sums[part.text]);
            }
        }
        sums.iter_mut().for_each(|sum| normalise(sum));
        Ok(sums)
    }

    /// Puts a text on a line of its own after what is there, the prefix apart. Answers its bytes.
    fn append(&self, sequence: &mut String, text: &str) -> Range<usize> {
        if sequence.len() > self.passage_prefix.len() {
            sequence.push('\n');
        }
        let start = sequence.len();
        sequence.push_str(text);
        start..sequence.len()
    }

    /// Which tokens belong to which text of a pass: by the numbers of their pieces where these add up, else by their places.
    fn spans(
        &self,
        sequence: &str,
        tokens: &Tokens,
        before: usize,
        pass: &[Part],
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
        let within = tokens::within(&self.model, sequence, own, places)?;
        let framed = |span: Range<usize>| span.start + 1..span.end + 1;
        Ok(within.map(|spans| spans.into_iter().map(framed).collect()))
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
        let text = format!("{}{text}", self.query_prefix);
        let (text, _) = tokens::beginning(&self.model, &text, self.max_pieces - SPECIAL)?;
        let tokens = self.run(text)?;
        let mut vector = vec![0.0; tokens.width];
        let pooled = match self.pooling {
            Pooling::Mean => 0..tokens.len(),
            Pooling::Cls => 0..1,
        };
        tokens.add(pooled, &mut vector);
        normalise(&mut vector);
        Ok(vector)
    }

    fn embed_passages(&mut self, context: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        match self.pooling {
            Pooling::Cls => self.one_by_one(context, texts),
            Pooling::Mean if self.passage_prefix.is_empty() => self.together(context, texts),
            // In a pass that texts share, the prefix would stand before the first one alone.
            Pooling::Mean => {
                let mut vectors = Vec::with_capacity(texts.len());
                for text in texts {
                    vectors.extend(self.together(context, &[text])?);
                }
                Ok(vectors)
            }
        }
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
        let tokens = self.vectors.chunks_exact(self.width);
        for token in tokens.skip(range.start).take(range.len()) {
            for (total, x) in sum.iter_mut().zip(token) {
                *total += x;
            }
        }
    }
}
