//! `merge-driver`: merge of two versions of a file, for git.
//!
//! git calls the verb for the files that `.gitattributes` assigns to it.

use std::path::Path;

use hippo_map::index_file::{IndexFileOptions, merge_versions};
use hippo_tree::{BodyAuthor, Node, Period};
use hippo_types::time::Timestamp;

use crate::failure::{Exit, Failure};
use hippoctl::args::MergeDriverArgs;

/// Name of the index file.
const INDEX: &str = "HIPPOCAMPUS.md";

/// Merges two versions of the index file by entries. Keeps our version of a node that hippod derives from the logs: the
/// daemon writes the node again. If another program or a person wrote one of the versions of the node, keeps this one.
///
/// # Errors
/// Fails if a file cannot be read or written, or if hippod has no rule for the versions. git then reports a conflict.
pub fn merge_driver(args: &MergeDriverArgs) -> Result<(), Failure> {
    let [base, ours, theirs] = [read(&args.base)?, read(&args.ours)?, read(&args.theirs)?];
    let is_text = |bytes: &Vec<u8>| !bytes.contains(&0);
    if ![&base, &ours, &theirs].into_iter().all(is_text) {
        return Err(refuse(&args.path));
    }
    if args.path.rsplit('/').next() == Some(INDEX) {
        let settings = IndexFileOptions {
            offset_seconds: 0,
            undated: Timestamp(jiff::Timestamp::now().as_millisecond()),
        };
        return write(&args.ours, &merge_versions(&base, &ours, &theirs, settings));
    }
    let path = args.path.rfind("memory/").map_or("", |at| &args.path[at..]);
    let period = Period::of_path(path).ok_or_else(|| refuse(&args.path))?;
    let is_derived = |bytes: &[u8]| {
        let node = Node::read(period, &String::from_utf8_lossy(bytes));
        node.writer == BodyAuthor::Hippod
    };
    match (is_derived(&ours), is_derived(&theirs)) {
        (_, true) => Ok(()),
        (true, false) => write(&args.ours, &theirs),
        (false, false) => Err(refuse(&args.path)),
    }
}

fn refuse(path: &str) -> Failure {
    let what = format!("hippod has no rule to merge these versions of {path}");
    Failure::new(Exit::Refused, what).hint("merge the file by hand, then run: git add FILE")
}

#[expect(clippy::disallowed_methods, reason = "temporary files of git")]
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::input("read the version", path, &error))
}

#[expect(clippy::disallowed_methods, reason = "temporary files of git")]
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| Failure::file("write the merged file", path, error))
}
