//! Storage for rejected summaries and replaced nodes.

use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use hippo_fs::WorkspaceDir;
use hippo_redact::without_secrets;
use hippo_tree::{BodyAuthor, BodyRejection, Fingerprint, Node, Period};

use super::disk::{DiskNode, LARGEST_NODE};

/// Folder of rejected summaries, relative to the workspace.
pub const REJECTED: &str = ".hippocampus/rejected";
/// Maximum number of rejected summaries kept per node.
const MOST_REJECTED: u32 = 20;
/// Folder of nodes by other writers that a summary replaced, relative to the workspace.
pub const REPLACED: &str = ".hippocampus/replaced";
/// Folder in which earlier builds kept the `ROOT.md` of another program, relative to the workspace.
pub const CARRIED: &str = ".hippocampus/carried";
/// Maximum size of a `ROOT.md`, in bytes.
const LARGEST_ROOT: u64 = 1 << 20;

/// Stores a rejected summary with the reason and without its secrets. Returns its path.
///
/// # Errors
/// Fails if the file could not be written, or `MOST_REJECTED` summaries of this node are already stored.
pub fn rejected(root: &Path, period: Period, body: &str, why: &BodyRejection) -> io::Result<String> {
    let folder = WorkspaceDir::open(root)?.make_folder(REJECTED)?;
    let text = format!("<!-- refused: {why} -->\n\n{}", without_secrets(body));
    for number in 1..=MOST_REJECTED {
        let name = format!("{period}-{number}.md");
        match folder.create_new(&name) {
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                return Ok(format!("{REJECTED}/{name}"));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!(
        "{MOST_REJECTED} rejected summaries of this node are already kept"
    )))
}

/// Stores the current bytes of a node before a summary replaces them. Does nothing if hippod wrote the node, or if the
/// node is a placeholder.
///
/// # Errors
/// Fails if the copy could not be written; in this case, the node must not be replaced.
pub fn replaced(root: &Path, found: &DiskNode) -> io::Result<()> {
    if found.node.writer == BodyAuthor::Hippod || found.node.is_placeholder() {
        return Ok(());
    }
    let (period, mark) = (found.node.period, Fingerprint::of(&found.bytes));
    keep(root, REPLACED, &format!("{period}-{mark}.md"), &found.bytes)
}

/// Returns the `ROOT.md` of another program that an earlier build took over, and the time at which it was stored.
pub fn carried(root: &Path) -> Option<(Node, SystemTime)> {
    let dir = WorkspaceDir::open(root).ok()?;
    let bytes = carried_bytes(root)?;
    let kept = dir.open_file(carried_file()).ok()?.1.modified().ok()?;
    Some((Node::read(Period::All, &String::from_utf8_lossy(&bytes)), kept))
}

/// Returns the bytes of that `ROOT.md`.
pub fn carried_bytes(root: &Path) -> Option<Vec<u8>> {
    hippo_fs::read(root, carried_file(), LARGEST_ROOT).ok()
}

/// Removes the stored `ROOT.md` of the other program.
///
/// # Errors
/// Fails if the file could not be removed.
pub fn let_go_of_carried(root: &Path) -> io::Result<()> {
    WorkspaceDir::open(root)?.remove_file(carried_file()).map(|_| ())
}

fn carried_file() -> String {
    format!("{CARRIED}/ROOT.md")
}

/// Writes a file below a folder of the workspace, unless it already has these bytes.
fn keep(root: &Path, folder: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let (dir, path) = (WorkspaceDir::open(root)?, format!("{folder}/{name}"));
    if dir.read(&path, LARGEST_NODE).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    dir.write_whole(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_foreign_bodies_are_kept_and_generated_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let period = Period::parse("2026-01-10").unwrap();
        let found = |text: &str| DiskNode {
            path: period.path(),
            node: Node::read(period, text),
            bytes: text.as_bytes().to_vec(),
        };
        replaced(&root, &found("mine\n")).unwrap();
        replaced(&root, &found("mine\n")).unwrap();
        let mut ours = Node::read(period, "ours\n");
        ours.writer = BodyAuthor::Hippod;
        replaced(&root, &found(&ours.write())).unwrap();
        let names: Vec<_> = std::fs::read_dir(root.join(REPLACED)).unwrap().collect();
        assert_eq!(names.len(), 1);
    }

    #[test]
    fn a_linked_folder_outside_the_workspace_receives_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (root, out) = (folder.path().join("w"), folder.path().join("out"));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir_all(&out).unwrap();
        std::os::unix::fs::symlink(&out, root.join(".hippocampus")).unwrap();
        let root = root.canonicalize().unwrap();
        assert!(rejected(&root, Period::All, "body", &BodyRejection::Short(0)).is_err());
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0, "not even folders");
    }
}
