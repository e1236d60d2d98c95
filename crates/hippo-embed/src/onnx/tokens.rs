//! Where a text divides into word pieces, and how it is cut between words.

use std::ops::Range;

use fastembed::TextEmbedding;

use crate::EmbedError;
use crate::window::{Part, Piece, split};

/// Makes the tokenizer report true lengths: texts are cut before a pass, never by the tokenizer.
pub(super) fn uncut(model: &mut TextEmbedding) -> Result<(), EmbedError> {
    model
        .tokenizer
        .with_truncation(None)
        .map_err(|e| EmbedError::Load(e.to_string()))?;
    model.tokenizer.with_padding(None);
    Ok(())
}

/// Number of pieces without special ones. A text that the tokenizer refuses has none.
pub(super) fn count(model: &TextEmbedding, text: &str) -> usize {
    model
        .tokenizer
        .encode_fast(text, false)
        .map_or(0, |encoding| encoding.len())
}

/// The beginning of a text, cut between words to at most `room` pieces, and its number of pieces.
pub(super) fn beginning<'t>(
    model: &TextEmbedding,
    text: &'t str,
    room: usize,
) -> Result<(&'t str, usize), EmbedError> {
    let pieces = count(model, text);
    if pieces <= room {
        return Ok((text, pieces));
    }
    let pieces = places(model, text)?;
    let most = room.min(pieces.len());
    let mut cut = most;
    while cut > 0 && cut < pieces.len() && pieces[cut].continues(&pieces[cut - 1]) {
        cut -= 1;
    }
    if cut == 0 {
        // One word, as texts without spaces are to some tokenizers: better cut than left out.
        cut = most;
    }
    let end = pieces.get(cut).map_or(text.len(), |piece| piece.start);
    Ok((text.get(..letter(text, end)).unwrap_or_default(), cut))
}

/// The end of a text, cut between words to at most `room` pieces, and its number of pieces.
pub(super) fn ending<'t>(
    model: &TextEmbedding,
    text: &'t str,
    room: usize,
) -> Result<(&'t str, usize), EmbedError> {
    let pieces = places(model, text)?;
    let mut cut = pieces.len().saturating_sub(room);
    while cut > 0 && cut < pieces.len() && pieces[cut].continues(&pieces[cut - 1]) {
        cut += 1;
    }
    let start = pieces.get(cut).map_or(text.len(), |piece| piece.start);
    Ok((text.get(start..).unwrap_or_default(), pieces.len() - cut))
}

/// The texts as parts of at most `room` pieces: mostly one part each.
pub(super) fn parts(model: &TextEmbedding, texts: &[&str], room: usize) -> Result<Vec<Part>, EmbedError> {
    let mut parts = Vec::with_capacity(texts.len());
    for (text, content) in texts.iter().enumerate() {
        let pieces = count(model, content);
        if pieces <= room {
            parts.push(Part {
                text,
                bytes: 0..content.len(),
                pieces,
            });
        } else {
            let mut places = places(model, content)?;
            for place in &mut places {
                (place.start, place.end) = (letter(content, place.start), letter(content, place.end));
            }
            parts.extend(split(text, content.len(), &places, room));
        }
    }
    Ok(parts)
}

/// The next place at or after `byte` where a letter begins: pieces of bytes end within letters.
fn letter(text: &str, mut byte: usize) -> usize {
    while byte < text.len() && !text.is_char_boundary(byte) {
        byte += 1;
    }
    byte
}

/// For each range of bytes, the pieces that lie in it; none when the tokenizer finds another number of pieces than `wanted`.
pub(super) fn within(
    model: &TextEmbedding,
    text: &str,
    wanted: usize,
    ranges: &[Range<usize>],
) -> Result<Option<Vec<Range<usize>>>, EmbedError> {
    let pieces = places(model, text)?;
    if pieces.len() != wanted {
        return Ok(None);
    }
    let inside = |range: &Range<usize>| {
        let first = pieces.partition_point(|piece| piece.end <= range.start);
        let last = pieces.partition_point(|piece| piece.start < range.end);
        first..last.max(first)
    };
    Ok(Some(ranges.iter().map(inside).collect()))
}

/// The pieces that the tokenizer puts around a text.
pub(super) fn around(model: &TextEmbedding, text: &str) -> Result<usize, EmbedError> {
    let framed = model
        .tokenizer
        .encode(text, true)
        .map_err(|e| EmbedError::Tokenize(e.to_string()))?;
    Ok(framed.len().saturating_sub(count(model, text)))
}

fn places(model: &TextEmbedding, text: &str) -> Result<Vec<Piece>, EmbedError> {
    let encoding = model
        .tokenizer
        .encode(text, false)
        .map_err(|e| EmbedError::Tokenize(e.to_string()))?;
    let places = encoding.get_offsets().iter().zip(encoding.get_word_ids());
    Ok(places
        .map(|(&(start, end), &word)| Piece { start, end, word })
        .collect())
}
