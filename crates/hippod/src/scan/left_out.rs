//! Count of the markdown files that are not memory files, by reason. Hidden files are not counted.

use std::collections::BTreeMap;
use std::path::Path;

use hippo_proto::NotIndexed;
use hippo_text::source::{is_index_file, is_markdown};

/// Maximum number of files and folders below excluded folders that one scan examines.
const MOST: usize = 20_000;

/// Number of markdown files that a scan left out for one reason.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LeftOutFiles {
    /// Number of files.
    pub count: u64,
    /// True if the scan did not count all files, because the excluded folders are too large.
    pub is_minimum: bool,
}

/// Describes the files that are not indexed: those that the rules leave out, and a number of skipped files. Returns
/// `None` if there are none.
pub fn describe_left_out(left_out: &[NotIndexed], skipped: u64) -> Option<String> {
    let total = left_out.iter().map(|of| of.files).sum::<u64>() + skipped;
    let or_more = if left_out.iter().any(|of| of.or_more) {
        " or more"
    } else {
        ""
    };
    let mut parts: Vec<String> = (left_out.iter())
        .map(|of| format!("{} {}", of.files, of.reason))
        .collect();
    if skipped > 0 {
        parts.push(format!("{skipped} skipped (for the reasons: hippoctl doctor)"));
    }
    let files = if total == 1 { "file is" } else { "files are" };
    (total > 0).then(|| format!("{total}{or_more} {files} not indexed: {}", parts.join(", ")))
}

/// Counter for one scan.
#[derive(Default)]
pub(super) struct LeftOutCount {
    pub by_reason: BTreeMap<String, LeftOutFiles>,
    examined: usize,
}

impl LeftOutCount {
    /// Counts a markdown file, or the markdown files below a folder.
    pub fn add(&mut self, path: &Path, rel: &str, is_dir: bool, reason: String) {
        let name = rel.rsplit('/').next().unwrap_or(rel);
        let mut found = LeftOutFiles::default();
        if is_dir && !name.starts_with('.') {
            self.walk(path, &mut found);
        } else if is_counted(name) {
            found.count = 1;
        }
        if found.count > 0 {
            self.by_reason.entry(reason).or_default().count += found.count;
        }
        if found.is_minimum {
            self.by_reason.values_mut().for_each(|sum| sum.is_minimum = true);
        }
    }

    /// Counts the markdown files below a folder. Follows no links. Unreadable folders are ignored.
    #[expect(clippy::disallowed_methods, reason = "reads only names of files")]
    fn walk(&mut self, folder: &Path, found: &mut LeftOutFiles) {
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                self.examined += 1;
                if self.examined > MOST {
                    found.is_minimum = true;
                    return;
                }
                let name = entry.file_name();
                let Some(name) = name.to_str() else { continue };
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !name.starts_with('.') => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() && is_counted(name) => found.count += 1,
                    _ => {}
                }
            }
        }
    }
}

/// Returns whether a file of this name is counted: a markdown file, not hidden, and not written by hippod.
fn is_counted(name: &str) -> bool {
    is_markdown(name) && !name.starts_with('.') && !is_index_file(name)
}
