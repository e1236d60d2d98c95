//! `merge-driver`: merge of two versions of a file, for git.
//!
//! git calls the verb for the files that `.gitattributes` assigns to it.

use std::path::Path;

use hippo_map::index_file::{IndexFileOptions, merge_versions};
use hippo_text::source::SourceKind;
use hippo_types::time::Timestamp;

use crate::failure::{Exit, Failure};
use hippoctl::args::MergeDriverArgs;

/// Name of the index file.
const INDEX: &str = "HIPPOCAMPUS.md";

/// Merges two versions of the index file by entries. Of a file that hippod derives from other files, keeps our version:
/// the daemon writes it again.
///
/// # Errors
/// Fails if a file cannot be read or written, or if git knows no other way to merge the file. git then reports a
/// conflict.
pub fn merge_driver(args: &MergeDriverArgs) -> Result<(), Failure> {
    let name = args.path.rsplit('/').next().unwrap_or_default();
    if name == INDEX {
        let [base, ours, theirs] = [read(&args.base)?, read(&args.ours)?, read(&args.theirs)?];
        let settings = IndexFileOptions {
            offset_seconds: 0,
            undated: Timestamp(jiff::Timestamp::now().as_millisecond()),
        };
        let merged = merge_versions(&base, &ours, &theirs, settings);
        return write(&args.ours, &merged);
    }
    let path = args.path.rfind("memory/").map_or("", |at| &args.path[at..]);
    if SourceKind::from_path(path).is_derived() {
        return Ok(());
    }
    let what = format!("hippod has no rule to merge {}", args.path);
    let hint = "remove the path from .gitattributes, and merge it with git";
    Err(Failure::new(Exit::Refused, what).hint(hint))
}

#[expect(clippy::disallowed_methods, reason = "temporary files of git")]
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::input("read the version", path, &error))
}

#[expect(clippy::disallowed_methods, reason = "temporary files of git")]
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| Failure::file("write the merged file", path, error))
}
