//! Updates of hippod's own block in a shared file.
//!
//! A write replaces the whole file by a version that contains the new block. Another program may save at the same time,
//! possibly through an open handle, so that its text ends up in the replaced file. That file is therefore checked
//! again, and its new content is merged. A version that cannot be merged is kept beside the file, so no content is
//! lost.

use std::io::{self, ErrorKind as IoErrorKind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hippo_fs::WorkspaceDir;
use hippo_proto::{ErrorKind, RpcError};
use hippo_store::shared_file::SharedFile;
use hippo_text::own_block::{self, UnclosedBlock};

use crate::errors;

/// Maximum file size in bytes; larger files are left unchanged.
const LARGEST: u64 = 16 << 20;
/// Maximum number of attempts if other writers interfere.
const TRIES: u32 = 5;
/// Delay before the replaced file is checked again, for writers that had it open.
const SETTLE: Duration = Duration::from_secs(1);

/// Replaces the body of a block in a file of a workspace with the result of `change`. Creates the file if it does not
/// exist. Returns whether the file changed. After a change, the call blocks for a second.
///
/// # Errors
/// Returns `bad-request` for an unclosed block, a file in UTF-16 or a link out of the workspace, and `read-only` or `internal` for an
/// error of the operating system. After an error, the file is unchanged.
pub fn change(
    root: &Path,
    file: &str,
    block: &str,
    change: impl Fn(&str) -> String,
) -> Result<bool, RpcError> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let refused = |error: io::Error| refusal(file, &error);
    let dir = WorkspaceDir::open(root).map_err(refused)?;
    let path = dir.file_to_write(file).map_err(refused)?;
    let shared = SharedFile::open(&dir, &path).map_err(refused)?;
    let changed = |text: &[u8]| -> Result<Vec<u8>, RpcError> {
        errors::require_utf8(file, text)?;
        let body = own_block::body(text, block).map_err(|torn| is_torn(file, torn))?;
        let body = change(&String::from_utf8_lossy(body.unwrap_or_default()));
        own_block::put(text, block, &body).map_err(|torn| is_torn(file, torn))
    };
    let read = || match dir.read(&path, LARGEST) {
        Err(error) if error.kind() == IoErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(refused),
    };
    settle_earlier(&shared, &read()?, block).map_err(refused)?;
    let mut base = read()?;
    // The content that the file is expected to have.
    let mut expected = base.clone();
    for slot in 0..TRIES {
        let wanted = changed(&base)?;
        if wanted == expected {
            return settle(&shared, slot).map(|()| slot > 0).map_err(refused);
        }
        let replaced = shared.replace(&wanted, slot).map_err(refused)?;
        let mut taken = replaced.unwrap_or_default();
        if taken == expected {
            std::thread::sleep(SETTLE);
            let late = shared.read_slot(slot).map_err(refused)?;
            taken = late.unwrap_or_default();
        }
        if taken == expected {
            return settle(&shared, slot + 1).map(|()| true).map_err(refused);
        }
        if slot > 0 {
            // Another writer replaced the merged version, and its text may lack the earlier edit. The file with that
            // edit is therefore kept.
            shared.set_aside(slot - 1).map_err(refused)?;
        }
        (base, expected) = (taken, wanted);
    }
    Err(RpcError::internal(format!(
        "could not write into {file}: another program keeps writing to it"
    ))
    .hint("close the other program, or try again later"))
}

/// Removes the copies of replaced files in all slots with a number below `before`.
fn settle(file: &SharedFile, before: u32) -> io::Result<()> {
    (0..before).try_for_each(|slot| file.settle(slot))
}

/// Cleans up after an interrupted process. A copy of a replaced file is removed if it differs from the current file
/// only in the block; otherwise the copy is kept for the user.
fn settle_earlier(file: &SharedFile, current: &[u8], block: &str) -> io::Result<()> {
    file.tidy();
    let others = |text: &[u8]| own_block::put(text, block, "").unwrap_or_else(|_| text.to_vec());
    for slot in 0..TRIES {
        let Some(left) = file.read_slot(slot)? else {
            continue;
        };
        if left.is_empty() || others(&left) == others(current) {
            file.settle(slot)?;
        } else {
            let kept = file.set_aside(slot)?;
            tracing::warn!(file = %kept.display(), "kept an earlier version of a file after an interrupted write");
        }
    }
    Ok(())
}

fn is_torn(file: &str, torn: UnclosedBlock) -> RpcError {
    RpcError::bad_request(format!("could not write into {file}: {torn}"))
        .hint("add the end line of the block, or remove its first line; nothing was written")
}

fn refusal(file: &str, error: &io::Error) -> RpcError {
    let what = format!("could not write into {file}: {error}");
    match error.kind() {
        _ if hippo_fs::refusal(error).is_some() => {
            RpcError::bad_request(what).hint("replace this path with a regular file")
        }
        // The name exists but its target does not, so it is a link.
        IoErrorKind::NotFound => RpcError::bad_request(what).hint("replace this path with a regular file"),
        IoErrorKind::PermissionDenied | IoErrorKind::ReadOnlyFilesystem => {
            RpcError::new(ErrorKind::ReadOnly, what)
                .hint("make the file and its folder writable; nothing was written")
        }
        _ => RpcError::internal(what).hint("check the file and the disk of the workspace"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::path::PathBuf;

    use super::*;

    fn add(root: &Path, line: &str) -> Result<bool, RpcError> {
        change(root, "MEMORY.md", "x", |body| format!("{body}- {line}\n"))
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        (folder, root)
    }

    #[test]
    fn a_file_in_utf_16_is_left_unchanged() {
        let (_folder, root) = place();
        let wide: Vec<u8> = "\u{feff}# Core\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        fs::write(root.join("MEMORY.md"), &wide).unwrap();
        let refused = add(&root, "one").unwrap_err();
        assert!(refused.message.contains("the file is in UTF-16"), "{refused:?}");
        assert_eq!(fs::read(root.join("MEMORY.md")).unwrap(), wide);
    }

    fn shared(root: &Path) -> SharedFile {
        SharedFile::open(&WorkspaceDir::open(root).unwrap(), "MEMORY.md").unwrap()
    }

    fn names(root: &Path) -> Vec<String> {
        let names = fs::read_dir(root).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn only_the_block_changes_and_no_temporary_file_remains() {
        let (_folder, root) = place();
        let path = root.join("MEMORY.md");
        fs::write(&path, "# Core\n\nmine\n").unwrap();
        assert!(add(&root, "one").unwrap());
        assert!(add(&root, "two").unwrap());
        assert!(!change(&root, "MEMORY.md", "x", str::to_owned).unwrap());
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "# Core\n\nmine\n\n<!-- hippod: x -->\n- one\n- two\n<!-- /hippod -->\n"
        );
        assert_eq!(names(&root), ["MEMORY.md"]);
    }

    #[test]
    fn writes_through_an_open_handle_are_kept() {
        let (_folder, root) = place();
        let path = root.join("MEMORY.md");
        fs::write(&path, "# Core\n").unwrap();
        let mut open = fs::File::options().append(true).open(&path).unwrap();
        let old = shared(&root).replaced_path(0);
        let writer = std::thread::spawn(move || {
            while !old.exists() {
                std::thread::yield_now();
            }
            open.write_all(b"late\n").unwrap();
        });
        assert!(add(&root, "one").unwrap());
        writer.join().unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "# Core\nlate\n\n<!-- hippod: x -->\n- one\n<!-- /hippod -->\n"
        );
        assert_eq!(names(&root), ["MEMORY.md"]);
    }

    #[test]
    fn leftovers_of_a_stopped_process_are_deleted_only_without_loss() {
        let (_folder, root) = place();
        let path = root.join("MEMORY.md");
        fs::write(&path, "# Core\n").unwrap();
        // This is the state between the replacement and the removal of the replaced file.
        let made = own_block::put(b"# Core\n", "x", "- one").unwrap();
        shared(&root).replace(&made, 0).unwrap();
        assert!(add(&root, "two").unwrap());
        assert_eq!(names(&root), ["MEMORY.md"]);
        let made = fs::read(&path).unwrap();
        fs::write(&path, "# Core, and more\n").unwrap();
        shared(&root).replace(&made, 0).unwrap();
        assert!(add(&root, "three").unwrap());
        let names = names(&root);
        let kept = names
            .iter()
            .find(|name| name.contains(hippo_store::shared_file::UNMERGED))
            .unwrap();
        assert_eq!(fs::read_to_string(root.join(kept)).unwrap(), "# Core, and more\n");
        assert_eq!(names.len(), 2, "{names:?}");
    }

    #[test]
    fn unsafe_files_are_refused_and_left_unchanged() {
        let (_folder, root) = place();
        let path = root.join("MEMORY.md");
        fs::write(&path, "a\n<!-- hippod: x -->\nb\n").unwrap();
        let torn = add(&root, "one").unwrap_err();
        assert!(torn.message.contains("line 2"), "{torn:?}");
        assert_eq!(fs::read(&path).unwrap(), b"a\n<!-- hippod: x -->\nb\n");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        add(&root, "one").unwrap_err();
        fs::remove_dir(&path).unwrap();
        let out = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(out.path().join("there"), &path).unwrap();
        add(&root, "one").unwrap_err();
        fs::write(out.path().join("there"), "theirs\n").unwrap();
        add(&root, "one").unwrap_err();
        assert_eq!(fs::read(out.path().join("there")).unwrap(), b"theirs\n");
    }
}
