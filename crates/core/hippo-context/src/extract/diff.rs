//! Extraction of changed files and locations from a diff.

use super::draft::Draft;
use super::lines::NumberedText;
use super::{ContentKind, counted};
use hippo_text::text::clip;

/// Maximum number of changed files that are recorded.
const FILES: usize = 2_000;
/// Maximum number of hunk locations kept.
const PLACES: usize = 200;

#[derive(Default)]
struct ChangedFile {
    path: String,
    added: usize,
    removed: usize,
    how: &'static str,
}

pub(super) fn draft(text: &NumberedText<'_>) -> Option<Draft> {
    let mut files: Vec<ChangedFile> = Vec::new();
    let mut places: Vec<String> = Vec::new();
    let (mut hunks, mut left) = (0_usize, (0_u64, 0_u64));
    let mut old = "";
    for line in text.lines() {
        let line = line.text;
        if left == (0, 0) {
            if let Some(rest) = line.strip_prefix("diff --git ") {
                let path = rest.rsplit_once(" b/").map_or(rest, |(_, path)| path);
                open(&mut files, path);
            } else if let Some(path) = line.strip_prefix("--- ") {
                old = path;
            } else if let Some(path) = line.strip_prefix("+++ ") {
                let path = if path.starts_with("/dev/null") { old } else { path };
                open(&mut files, named(path));
            } else if let Some(last) = files.last_mut() {
                match line {
                    _ if line.starts_with("new file") => last.how = "new ",
                    _ if line.starts_with("deleted file") => last.how = "deleted ",
                    _ if line.starts_with("rename from") => last.how = "renamed ",
                    _ if line.starts_with("Binary files") => last.how = "binary ",
                    _ => {}
                }
            }
        }
        let Some(file) = files.last_mut() else { continue };
        if let Some(hunk) = line.strip_prefix("@@ ").and_then(Hunk::of) {
            hunks += 1;
            left = (hunk.old, hunk.new);
            if places.len() < PLACES {
                let about = clip(hunk.about, 60);
                let space = if about.is_empty() { "" } else { " " };
                places.push(format!("{}:{}{space}{about}", file.path, hunk.line));
            }
        } else if left != (0, 0) {
            match line.as_bytes().first() {
                Some(b'+') => {
                    file.added += 1;
                    left.1 = left.1.saturating_sub(1);
                }
                Some(b'-') => {
                    file.removed += 1;
                    left.0 = left.0.saturating_sub(1);
                }
                Some(b'\\') => {}
                _ => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
            }
        }
    }
    if files.is_empty() {
        return None;
    }
    files.sort_by_key(|file| std::cmp::Reverse(file.added + file.removed));
    let added: usize = files.iter().map(|file| file.added).sum();
    let removed: usize = files.iter().map(|file| file.removed).sum();
    let counts = format!("{}, {}", counted(files.len(), "file"), counted(hunks, "hunk"));
    let mut draft = Draft::new(ContentKind::Diff, format!("{counts}, +{added} −{removed}"));
    let changes = files.into_iter().map(|file| {
        let changes = format!("{}+{} −{}", file.how, file.added, file.removed);
        (file.path, changes)
    });
    draft.pairs("files", changes, 4);
    draft.list("hunks", places, 2);
    Some(draft)
}

fn open(files: &mut Vec<ChangedFile>, path: &str) {
    let known = files.last().is_some_and(|last| last.path == path);
    if !known && files.len() < FILES {
        files.push(ChangedFile {
            path: path.to_owned(),
            ..ChangedFile::default()
        });
    }
}

/// Returns the path in a header line without `a/` or `b/` and without a timestamp.
fn named(path: &str) -> &str {
    let path = path.split('\t').next().unwrap_or(path).trim();
    path.strip_prefix("b/")
        .or_else(|| path.strip_prefix("a/"))
        .unwrap_or(path)
}

/// Parts of a hunk header such as `@@ -1,2 +3,4 @@ fn name`.
struct Hunk<'t> {
    old: u64,
    line: u64,
    new: u64,
    about: &'t str,
}

impl<'t> Hunk<'t> {
    fn of(rest: &'t str) -> Option<Self> {
        let (ranges, about) = rest.split_once(" @@")?;
        let (old, new) = ranges.strip_prefix('-')?.split_once(" +")?;
        let range = |text: &str| -> Option<(u64, u64)> {
            let (line, count) = text.split_once(',').unwrap_or((text, "1"));
            Some((line.parse().ok()?, count.parse().ok()?))
        };
        let (line, count) = range(new)?;
        Some(Self {
            old: range(old)?.1,
            line,
            new: count,
            about: about.trim(),
        })
    }
}
