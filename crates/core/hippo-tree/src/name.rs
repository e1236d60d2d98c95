//! Names in a line that lists them.

use std::ops::Range;

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

    #[test]
    fn names_of_a_list_are_found() {
        let text = "Ada, Ben、 小明";
        let listed = find_listed_names(text).into_iter();
        let listed: Vec<&str> = listed.map(|range| &text[range]).collect();
        assert_eq!(listed, ["Ada", "Ben", "小明"]);
    }
}
