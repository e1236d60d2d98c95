//! Word pieces of a text, and cuts at word boundaries.

use std::ops::Range;

use fastembed::TextEmbedding;

use crate::EmbedError;
use crate::window::{TextPart, WordPiece, split_text};

/// Disables truncation and padding, so that the tokenizer reports the true lengths. The caller cuts texts before a
/// pass.
pub(super) fn disable_truncation(model: &mut TextEmbedding) -> Result<(), EmbedError> {
    model
        .tokenizer
        .with_truncation(None)
        .map_err(|e| EmbedError::Load(e.to_string()))?;
    model.tokenizer.with_padding(None);
    Ok(())
}

/// Returns the number of word pieces, excluding special tokens. Returns 0 for a text that the tokenizer rejects.
pub(super) fn count(model: &TextEmbedding, text: &str) -> usize {
    model
        .tokenizer
        .encode_fast(text, false)
        .map_or(0, |encoding| encoding.len())
}

/// Returns the start of a text and its number of pieces. The start has at most `room` pieces and ends at a word
/// boundary.
pub(super) fn cut_to_start<'t>(
    model: &TextEmbedding,
    text: &'t str,
    room: usize,
) -> Result<(&'t str, usize), EmbedError> {
    let pieces = count(model, text);
    if pieces <= room {
        return Ok((text, pieces));
    }
    let pieces = locate_pieces(model, text)?;
    let most = room.min(pieces.len());
    let mut cut = most;
    while cut > 0 && cut < pieces.len() && pieces[cut].continues_word(&pieces[cut - 1]) {
        cut -= 1;
    }
    if cut == 0 {
        // A text that is a single word is cut inside the word instead of being dropped. For some tokenizers, any text
        // without spaces is a single word.
        cut = most;
    }
    let end = pieces.get(cut).map_or(text.len(), |piece| piece.start);
    Ok((text.get(..next_char_boundary(text, end)).unwrap_or_default(), cut))
}

/// Returns the end of a text and its number of pieces. The end has at most `room` pieces and begins at a word
/// boundary.
pub(super) fn cut_to_end<'t>(
    model: &TextEmbedding,
    text: &'t str,
    room: usize,
) -> Result<(&'t str, usize), EmbedError> {
    let pieces = locate_pieces(model, text)?;
    let mut cut = pieces.len().saturating_sub(room);
    while cut > 0 && cut < pieces.len() && pieces[cut].continues_word(&pieces[cut - 1]) {
        cut += 1;
    }
    let start = pieces.get(cut).map_or(text.len(), |piece| piece.start);
    Ok((text.get(start..).unwrap_or_default(), pieces.len() - cut))
}

/// Splits texts into parts of at most `room` pieces. Most texts become one part.
pub(super) fn split_texts(
    model: &TextEmbedding,
    texts: &[&str],
    room: usize,
) -> Result<Vec<TextPart>, EmbedError> {
    let mut parts = Vec::with_capacity(texts.len());
    for (text, content) in texts.iter().enumerate() {
        let pieces = count(model, content);
        if pieces <= room {
            parts.push(TextPart {
                text,
                bytes: 0..content.len(),
                pieces,
            });
        } else {
            let mut places = locate_pieces(model, content)?;
            for place in &mut places {
                (place.start, place.end) = (
                    next_char_boundary(content, place.start),
                    next_char_boundary(content, place.end),
                );
            }
            parts.extend(split_text(text, content.len(), &places, room));
        }
    }
    Ok(parts)
}

/// Returns the next char boundary at or after `byte`, because byte-level pieces may end inside a character.
fn next_char_boundary(text: &str, mut byte: usize) -> usize {
    while byte < text.len() && !text.is_char_boundary(byte) {
        byte += 1;
    }
    byte
}

/// Returns the pieces in each byte range, or `None` if the number of pieces differs from `wanted`.
pub(super) fn pieces_in_ranges(
    model: &TextEmbedding,
    text: &str,
    wanted: usize,
    ranges: &[Range<usize>],
) -> Result<Option<Vec<Range<usize>>>, EmbedError> {
    let pieces = locate_pieces(model, text)?;
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

/// Returns the number of special tokens that the tokenizer adds to a text.
pub(super) fn count_special(model: &TextEmbedding, text: &str) -> Result<usize, EmbedError> {
    let framed = model
        .tokenizer
        .encode(text, true)
        .map_err(|e| EmbedError::Tokenize(e.to_string()))?;
    Ok(framed.len().saturating_sub(count(model, text)))
}

fn locate_pieces(model: &TextEmbedding, text: &str) -> Result<Vec<WordPiece>, EmbedError> {
    let encoding = model
        .tokenizer
        .encode(text, false)
        .map_err(|e| EmbedError::Tokenize(e.to_string()))?;
    let places = encoding.get_offsets().iter().zip(encoding.get_word_ids());
    Ok(places
        .map(|(&(start, end), &word)| WordPiece { start, end, word })
        .collect())
}
