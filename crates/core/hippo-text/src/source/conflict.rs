//! Names of conflict copies, which programs that synchronize folders create.

/// Texts in the parentheses with which Dropbox, Nextcloud and Seafile mark a conflict copy.
const MARKS: [&str; 2] = ["conflicted copy", "SFConflict "];

/// Returns the name of the original if `name` is the name of a conflict copy that Syncthing, Dropbox, Nextcloud or
/// Seafile created. Names contain no folders.
#[must_use]
pub fn original_of_copy(name: &str) -> Option<String> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_dated = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
    let original = match stem.split_once(".sync-conflict-") {
        Some((original, rest)) if is_dated(rest) => original,
        _ => {
            let mark = MARKS.iter().find_map(|mark| stem.find(mark))?;
            let (original, author) = stem[..mark].rsplit_once(" (")?;
            (!author.contains(')')).then_some(original)?
        }
    };
    (!original.is_empty()).then(|| format!("{original}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_several_programs_lead_to_the_original() {
        for copy in [
            "HIPPOCAMPUS.sync-conflict-20261129-101500-ABCDEFG.md",
            "HIPPOCAMPUS.sync-conflict-20261129-101500.md",
            "HIPPOCAMPUS.sync-conflict-20261129-101500-A.sync-conflict-20261130-101500-B.md",
            "HIPPOCAMPUS (Ada's conflicted copy 2026-11-29).md",
            "HIPPOCAMPUS (Ada's conflicted copy 2026-11-29 (1)).md",
            "HIPPOCAMPUS (conflicted copy 2026-11-29 101500).md",
            "HIPPOCAMPUS (SFConflict ada@example.org 2026-11-29-10-15-00).md",
        ] {
            assert_eq!(
                original_of_copy(copy).as_deref(),
                Some("HIPPOCAMPUS.md"),
                "{copy}"
            );
        }
        let dated = original_of_copy("2026-11-02.sync-conflict-20261129-101500-A.md");
        assert_eq!(dated.as_deref(), Some("2026-11-02.md"));
        let nested = original_of_copy("Plan (draft) (Ada's conflicted copy 2026-11-29).md");
        assert_eq!(nested.as_deref(), Some("Plan (draft).md"));
        for other in [
            "HIPPOCAMPUS.md",
            "HIPPOCAMPUS (1).md",
            "about.sync-conflict-files.md",
            ".sync-conflict-20261129-101500.md",
            "How to merge (by hand) a conflicted copy.md",
            "conflicted copy",
            "",
        ] {
            assert_eq!(original_of_copy(other), None, "{other}");
        }
    }
}
