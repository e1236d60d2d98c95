//! Reader of the table with the vectors of the word pieces.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use foldhash::HashMap;
use safetensors::Dtype;
use serde::Deserialize;

use super::graph::{EncoderConfig, WORD_TABLE};
use super::read;
use crate::weights::NamedTensors;
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
    let weights = NamedTensors::read(&files.weights)?;
    let is_quantized = weights.is_quantized(WORD_TABLE);
    let table = match is_quantized {
        true => weights.get_typed(WORD_TABLE, &shape, Dtype::I8),
        false => weights.get(WORD_TABLE, &shape),
    };
    let table = table.map_err(|reason| EmbedError::Model {
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
    let size = if is_quantized { 1 } else { 4 };
    let mut rows = Vec::with_capacity(usize::try_from(table.length).unwrap_or_default() / size);
    let mut bytes = vec![0; size * width];
    let mut row = Vec::with_capacity(width);
    for _ in 0..config.vocab_size {
        file.read_exact(&mut bytes).map_err(unreadable)?;
        row.clear();
        // The scale of a row does not change the direction of its vector.
        match is_quantized {
            true => row.extend(bytes.iter().map(|byte| f32::from(byte.cast_signed()))),
            false => row.extend((bytes.as_chunks::<4>().0.iter()).map(|part| f32::from_le_bytes(*part))),
        }
        rows.extend(compress(&row));
    }
    Ok(Some(WordVectors::new(model.vocab, width, rows)))
}
