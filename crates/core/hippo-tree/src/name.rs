//! Names in a text: quoted phrases and capitalized words.

use std::ops::Range;

/// Maximum bytes of a name.
const LONGEST: usize = 60;
/// Maximum number of names of one text.
const MOST: usize = 60;

/// Returns the names of a text, in order and without overlaps.
pub(super) fn names(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    if let Some(head) = head(text) {
        out.push(head);
    }
    let mut run: Option<Range<usize>> = None;
    let mut starts = true;
    let mut from = 0;
    for piece in text.split_inclusive(' ') {
        let at = from;
        from += piece.len();
        let word = piece
            .trim_matches(|mark: char| !mark.is_alphanumeric() && !matches!(mark, '$' | '€' | '£' | '%'));
        let Some(inner) = piece.find(word).filter(|_| !word.is_empty()) else {
            end(&mut run, &mut out);
            continue;
        };
        let place = at + inner..at + inner + word.len();
        let first = word.chars().next().unwrap_or(' ');
        // An opening bracket ends the current name.
        let opens = piece.trim_start_matches(['"', '“']).starts_with(['(', '[', '{']);
        if opens {
            end(&mut run, &mut out);
        }
        let capital = first.is_uppercase() && word.chars().count() > 1;
        let figure = first.is_ascii_digit() || matches!(first, '$' | '€' | '£');
        let follows = run.is_some();
        // The first word of a sentence has a capital even if it is not a name.
        if (capital && !starts)
            || (follows && (capital || figure))
            || (matches!(first, '$' | '€' | '£') && word.len() > 2)
        {
            run = Some(run.map_or(place.start, |run| run.start)..place.end);
        } else {
            end(&mut run, &mut out);
        }
        let closed = piece.trim_end().len() > inner + word.len();
        if closed {
            end(&mut run, &mut out);
        }
        starts = piece
            .trim_end()
            .ends_with(['.', '!', '?', ':', '"', '(', '-', '–', '—']);
        if out.len() >= MOST {
            break;
        }
    }
    end(&mut run, &mut out);
    out
}

fn end(run: &mut Option<Range<usize>>, out: &mut Vec<Range<usize>>) {
    if let Some(run) = run.take() {
        let free = out.last().is_none_or(|last| last.end <= run.start);
        if free && (3..=LONGEST).contains(&run.len()) {
            out.push(run);
        }
    }
}

/// Returns the term that a list item explains: `Klean Kanteen` for `Klean Kanteen: bottles of steel`.
fn head(text: &str) -> Option<Range<usize>> {
    let colon = text
        .find([':', '：'])
        .filter(|colon| (3..=LONGEST).contains(colon))?;
    let words = text[..colon].split(' ').count();
    (words <= 6 && text.starts_with(|first: char| first.is_alphanumeric() && !first.is_lowercase()))
        .then_some(0..colon)
}

/// Returns the names in a line that lists them: `Ada, Ben`.
pub(super) fn find_listed_names(text: &str) -> Vec<Range<usize>> {
    let mut from = 0;
    let mut out = Vec::new();
    for piece in text.split_inclusive([',', '，', '、', ';']) {
        let start = from + (piece.len() - piece.trim_start().len());
        from += piece.len();
        let bare = piece.trim().trim_end_matches([',', '，', '、', ';']).trim_end();
        if !bare.is_empty() {
            out.push(start..start + bare.len());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<&str> {
        names(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn proper_names_and_amounts_are_found() {
        assert_eq!(
            of("Klean Kanteen: Their bottles from San Francisco cost $27.95 at Target."),
            ["Klean Kanteen", "San Francisco", "$27.95", "Target"]
        );
        assert_eq!(of("Nothing here to see. It is so."), Vec::<&str>::new());
        assert_eq!(of("日本語のテキスト"), Vec::<&str>::new());
        let text = "Ada, Ben、 小明";
        let listed: Vec<&str> = find_listed_names(text)
            .into_iter()
            .map(|range| &text[range])
            .collect();
        assert_eq!(listed, ["Ada", "Ben", "小明"]);
    }
}
