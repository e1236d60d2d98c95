//! Reader of the table with the vectors of the word pieces.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use serde::Deserialize;

use super::graph::{EncoderConfig, WORD_TABLE};
use super::read;
use super::weights::NamedTensors;
use crate::words::{CONTINUES, compress};
use crate::{EmbedError, ModelFiles, WordVectors};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 18;

/// The fields of `tokenizer.json` that divide a word into pieces.
#[derive(Deserialize)]
struct TokenizerFile {
    model: WordPieceModel,
}

#[derive(Deserialize)]
struct WordPieceModel {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "continuing_subword_prefix")]
    prefix: Option<String>,
    vocab: HashMap<Box<str>, u32>,
}

/// Reads the vectors of single words. Returns `None` for a model whose tokenizer is not WordPiece.
pub(super) fn read_words(files: &ModelFiles) -> Result<Option<WordVectors>, EmbedError> {
    let Ok(TokenizerFile { model }) = serde_json::from_slice(&read(&files.tokenizer)?) else {
        return Ok(None);
    };
    if model.kind.as_deref() != Some("WordPiece") || model.prefix.as_deref() != Some(CONTINUES) {
        return Ok(None);
    }
    let config = EncoderConfig::parse(&read(&files.config)?, &files.config)?;
    let shape = [config.vocab_size, config.hidden_size];
    let table = NamedTensors::read(&files.weights)?
        .get(WORD_TABLE, &shape)
        .map_err(|reason| EmbedError::Model {
            path: files.weights.clone(),
            reason,
        })?;
    let unreadable = |source| EmbedError::File {
        path: files.weights.clone(),
        source,
    };
    let mut file = File::open(&files.weights).map_err(unreadable)?;
    file.seek(SeekFrom::Start(table.offset)).map_err(unreadable)?;
    let width = usize::try_from(config.hidden_size).unwrap_or(usize::MAX);
    let mut file = BufReader::with_capacity(BUFFER, file.take(table.length));
    let mut rows = Vec::with_capacity(usize::try_from(table.length / 4).unwrap_or_default());
    let mut bytes = vec![0; 4 * width];
    let mut row = Vec::with_capacity(width);
    for _ in 0..config.vocab_size {
        file.read_exact(&mut bytes).map_err(unreadable)?;
        row.clear();
        row.extend(
            bytes
                .as_chunks::<4>()
                .0
                .iter()
                .map(|part| f32::from_le_bytes(*part)),
        );
        rows.extend(compress(&row));
    }
    Ok(Some(WordVectors::new(model.vocab, width, rows)))
}
