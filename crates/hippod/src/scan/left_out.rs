//! Count of the markdown files that are not memory files, by reason.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use hippo_proto::NotIndexed;
use hippo_text::source::is_markdown;

/// Maximum number of files and folders below excluded folders that one scan examines.
const MOST: usize = 20_000;
/// Folders whose markdown files are not counted: hippod's own folder, and the repository of git.
const UNCOUNTED: [&str; 2] = [".hippocampus", ".git"];

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
        let is_own = rel.ends_with("HIPPOCAMPUS.md") || rel.split('/').any(|part| UNCOUNTED.contains(&part));
        let mut found = LeftOutFiles::default();
        if is_dir && !is_own {
            self.walk(path, &mut found);
        } else if is_markdown(rel) && !is_own {
            found.count = 1;
        }
        if found != LeftOutFiles::default() {
            let sum = self.by_reason.entry(reason).or_default();
            sum.count += found.count;
            sum.is_minimum |= found.is_minimum;
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
                let is_uncounted = UNCOUNTED.iter().any(|own| name == OsStr::new(own));
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !is_uncounted => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() && name.to_str().is_some_and(is_markdown) => found.count += 1,
                    _ => {}
                }
            }
        }
    }
}
