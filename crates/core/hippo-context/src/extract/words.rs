//! Wording of counts and file names.

/// Returns a count with its noun: `1 file`, `3 files`.
pub(in crate::extract) fn counted(count: usize, what: &str) -> String {
    let plural = match what.as_bytes() {
        _ if count == 1 => "",
        [.., b's' | b'x'] | [.., b'c' | b's', b'h'] => "es",
        _ => "s",
    };
    match what.strip_suffix('y').filter(|_| count != 1) {
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {what}{plural}"),
    }
}

/// Returns the last component of a path.
fn name_of(path: &str) -> &str {
    path.trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(path)
}

/// Returns the extension of a name in lower case without the dot, or an empty string.
pub(in crate::extract) fn extension(path: &str) -> String {
    match name_of(path).rsplit_once('.') {
        Some((stem, ending))
            if !stem.is_empty()
                && ending.len() <= 10
                && ending.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            ending.to_ascii_lowercase()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_extensions_and_plurals_are_formatted() {
        assert_eq!(name_of("a/b/c.rs"), "c.rs");
        assert_eq!(extension("a.d/readme"), "");
        assert_eq!(extension(".env"), "");
        assert_eq!(extension("A.TAR.GZ"), "gz");
        assert_eq!(counted(1, "entry"), "1 entry");
        assert_eq!(counted(2, "entry"), "2 entries");
        assert_eq!(counted(2, "match"), "2 matches");
    }
}
