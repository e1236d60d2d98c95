//! Tests of links in paths, races, and special files.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use crate::refusal;

/// A workspace beside a folder that must never be read or changed.
struct OutsideBed {
    _folder: tempfile::TempDir,
    root: PathBuf,
    outside: PathBuf,
}

impl OutsideBed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, outside) = (base.join("workspace"), base.join("outside"));
        fs::create_dir_all(root.join("real")).unwrap();
        fs::create_dir_all(outside.join("folder")).unwrap();
        fs::write(outside.join("secret.md"), "secret\n").unwrap();
        fs::write(outside.join("folder/secret.md"), "secret\n").unwrap();
        Self {
            _folder: folder,
            root,
            outside,
        }
    }

    fn dir(&self) -> WorkspaceDir {
        WorkspaceDir::open(&self.root).unwrap()
    }

    fn link(&self, target: impl AsRef<Path>, path: &str) {
        symlink(target, self.root.join(path)).unwrap();
    }

    fn assert_outside_is_unchanged(&self) {
        assert_eq!(names(&self.outside), ["folder", "secret.md"]);
        assert_eq!(names(&self.outside.join("folder")), ["secret.md"]);
        for file in ["secret.md", "folder/secret.md"] {
            assert_eq!(fs::read(self.outside.join(file)).unwrap(), b"secret\n");
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Calls every write operation once, at one path.
fn write_all(dir: &WorkspaceDir, path: &str) -> Vec<io::Result<()>> {
    let append = || {
        let (folder, name) = dir.parent(path)?;
        folder.append(name)?.0.write_all(b"appended\n")
    };
    let create = || {
        let (folder, name) = dir.parent(path)?;
        folder.create_new(name)?.write_all(b"created\n")
    };
    let create_whole = || {
        let (folder, name) = dir.parent(path)?;
        folder.write_whole_new(name, "draft", b"created\n")
    };
    let rename = || {
        dir.overwrite("real/moved", b"moved\n")?;
        let (folder, name) = dir.parent(path)?;
        dir.folder("real")?.rename_to("moved", &folder, name)
    };
    vec![
        dir.overwrite(path, b"overwritten\n"),
        dir.write_whole(path, b"whole\n"),
        append(),
        create(),
        create_whole(),
        rename(),
        dir.make_folder(path).map(drop),
        dir.file_to_write(path).map(drop),
    ]
}

#[test]
fn no_write_operation_follows_a_link() {
    let bed = OutsideBed::new();
    bed.link("../outside/secret.md", "file.md");
    bed.link("../outside/absent.md", "dangling.md");
    bed.link("../outside/folder", "folder");
    bed.link(bed.outside.join("folder"), "absolute");
    bed.link("real", "inside");
    bed.link("self", "self");
    let dir = bed.dir();
    for path in [
        "file.md",
        "dangling.md",
        "folder/secret.md",
        "folder/new/file.md",
        "absolute/secret.md",
        "inside/file.md",
        "self/file.md",
    ] {
        for (at, result) in write_all(&dir, path).into_iter().enumerate() {
            let error = result.expect_err(&format!("{path}, write {at}"));
            let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
            let refused = matches!(
                refusal(&error),
                Some(PathRefusal::Link(_) | PathRefusal::Outside(_))
            );
            let is_absent = at == 7 && is_absence(&error);
            assert!(refused || is_taken || is_absent, "{path}, write {at}: {error:?}");
        }
    }
    bed.assert_outside_is_unchanged();
    for path in [
        "/tmp/file.md",
        "../outside/secret.md",
        "real/../../outside/secret.md",
    ] {
        assert!(write_all(&dir, path).iter().all(Result::is_err), "{path}");
        assert!(dir.read(path, 100).is_err(), "{path}");
        assert!(dir.resolve(path).is_err(), "{path}");
    }
    bed.assert_outside_is_unchanged();
    let link = dir.overwrite("folder/secret.md", b"").unwrap_err();
    assert_eq!(link.to_string(), "folder is a link");
}

#[test]
fn files_and_folders_without_links_are_read_and_written() {
    let bed = OutsideBed::new();
    let dir = bed.dir();
    dir.write_whole("a/b/file.md", b"one\n").unwrap();
    fs::set_permissions(
        bed.root.join("a/b/file.md"),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    dir.write_whole("a/b/file.md", b"two\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(bed.root.join("a/b/file.md")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(names(&bed.root.join("a/b")), ["file.md"]);
    assert_eq!(dir.read("./a/b/file.md", 4).unwrap(), b"two\n");
    assert_eq!(
        dir.read("a/b/file.md", 3).unwrap_err().kind(),
        io::ErrorKind::FileTooLarge
    );
    let (folder, name) = dir.parent("a/b/file.md").unwrap();
    let (mut log, is_new) = folder.append(name).unwrap();
    log.write_all(b"three\n").unwrap();
    assert!(!is_new && folder.append("new").unwrap().1);
    assert_eq!(dir.read("a/b/file.md", 100).unwrap(), b"two\nthree\n");
    folder.exchange(name, "new").unwrap();
    assert_eq!(dir.read("a/b/new", 100).unwrap(), b"two\nthree\n");
    assert_eq!(
        folder.rename_to_free("new", name).unwrap_err().kind(),
        io::ErrorKind::AlreadyExists
    );
    let taken = folder.write_whole_new("new", "draft", b"three\n").unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
    folder.write_whole_new("newest", "draft", b"three\n").unwrap();
    assert_eq!(
        names(&bed.root.join("a/b")),
        ["file.md", "new", "newest"],
        "no draft is left"
    );
    let stat = dir.stat("a/b/new").unwrap().unwrap();
    assert_eq!((stat.kind, stat.size), (FileKind::File, 10));
    assert_eq!(dir.stat("a/none/new").unwrap(), None);
    assert!(dir.remove_file("a/b/new").unwrap() && !dir.remove_file("a/b/new").unwrap());
    assert!(dir.is_folder("a") && dir.is_folder("") && !dir.is_folder("a/b/file.md"));
    assert!(dir.is_file("a/b/file.md") && !dir.is_file("a"));
    folder.check_writable().unwrap();
}

#[test]
fn special_files_are_refused_without_blocking() {
    let bed = OutsideBed::new();
    let pipe = bed.root.join("pipe.md");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(bed.root.join("socket.md")).unwrap();
    let dir = bed.dir();
    for path in ["pipe.md", "socket.md", "real"] {
        let error = dir.read(path, 10).unwrap_err();
        assert!(
            matches!(refusal(&error), Some(PathRefusal::NotRegular(_))),
            "{path}: {error:?}"
        );
        dir.overwrite(path, b"x").unwrap_err();
    }
    let reader = dir
        .top
        .dir_for_tests()
        .open_with("pipe.md", &nonblocking())
        .unwrap();
    assert!(matches!(
        refusal(&dir.overwrite("pipe.md", b"x").unwrap_err()),
        Some(PathRefusal::NotRegular(_))
    ));
    drop(reader);
}

fn nonblocking() -> cap_std::fs::OpenOptions {
    use cap_fs_ext::OpenOptionsSyncExt;
    let mut options = cap_std::fs::OpenOptions::new();
    options.read(true).nonblock(true);
    options
}

#[test]
fn a_source_may_be_a_link_within_the_workspace() {
    let bed = OutsideBed::new();
    fs::write(bed.root.join("real/AGENTS.md"), "rules\n").unwrap();
    fs::write(bed.root.join("Makefile"), "all:\n").unwrap();
    fs::create_dir_all(bed.root.join(".git")).unwrap();
    fs::write(bed.root.join(".git/note.md"), "x").unwrap();
    bed.link("real/AGENTS.md", "CLAUDE.md");
    bed.link("real", "linked");
    bed.link("../outside/secret.md", "secret.md");
    bed.link("Makefile", "make.md");
    bed.link(".git/note.md", "git.md");
    let dir = bed.dir();
    for path in ["CLAUDE.md", "linked/AGENTS.md", "real/AGENTS.md"] {
        assert_eq!(dir.read_source(path, 100).unwrap(), b"rules\n", "{path}");
        assert_eq!(dir.resolve(path).unwrap(), Path::new("real/AGENTS.md"));
    }
    assert_eq!(
        dir.file_to_write("CLAUDE.md").unwrap(),
        Path::new("real/AGENTS.md")
    );
    assert_eq!(dir.file_to_write("new.md").unwrap(), Path::new("new.md"));
    assert_eq!(dir.file_to_write("no/new.md").unwrap(), Path::new("no/new.md"));
    let error = dir.read_source("secret.md", 100).unwrap_err();
    assert_eq!(refusal(&error), Some(&PathRefusal::Outside("secret.md".into())));
    let error = dir.file_to_write("make.md").unwrap_err();
    assert!(
        matches!(refusal(&error), Some(PathRefusal::OtherKind { .. })),
        "{error:?}"
    );
    let hidden = Some(PathRefusal::Hidden("git.md".into()));
    assert_eq!(
        refusal(&dir.file_to_write("git.md").unwrap_err()),
        hidden.as_ref()
    );
    assert_eq!(
        refusal(&dir.read_source("git.md", 100).unwrap_err()),
        hidden.as_ref()
    );
    assert_eq!(dir.read_source(".git/note.md", 100).unwrap(), b"x");
}

#[test]
fn a_file_opens_only_if_every_folder_in_its_path_has_the_same_owner() {
    use std::os::unix::fs::{MetadataExt, chown};

    let bed = OutsideBed::new();
    let dir = bed.dir();
    let open = |like: &Metadata| dir.open_file_owned_like(like, "real/file.md").map(drop);
    fs::write(bed.root.join("real/file.md"), "mine\n").unwrap();
    let mine = fs::metadata(bed.root.join("real/file.md")).unwrap();
    open(&mine).unwrap();
    let of_the_system = fs::metadata("/").unwrap();
    if of_the_system.uid() != mine.uid() {
        let error = open(&of_the_system).unwrap_err();
        assert_eq!(error.to_string(), ". belongs to another user");
    }
    // Only root can change the owner of a file.
    for path in ["", "real", "real/file.md"] {
        if chown(bed.root.join(path), Some(65_534), None).is_ok() {
            let error = open(&mine).unwrap_err();
            assert_eq!(refusal(&error), Some(&PathRefusal::OtherOwner(path.into())));
            chown(bed.root.join(path), Some(mine.uid()), None).unwrap();
        }
    }
    open(&mine).unwrap();
    bed.link("file.md", "real/link.md");
    let error = dir.open_file_owned_like(&mine, "real/link.md").unwrap_err();
    assert!(matches!(refusal(&error), Some(PathRefusal::Link(_))), "{error:?}");
}

#[test]
fn a_thousand_swaps_of_a_folder_with_a_link_change_nothing_outside() {
    let bed = OutsideBed::new();
    bed.link("../outside/folder", "link");
    let (swaps, finished) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut leaked = false;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let dir = bed.dir();
            while !finished.load(Ordering::Acquire) {
                if dir.top.exchange("real", "link").is_ok() {
                    swaps.fetch_add(1, Ordering::Release);
                }
            }
        });
        let dir = bed.dir();
        let mut rounds = 0;
        while rounds < 200 || swaps.load(Ordering::Acquire) < 1_000 {
            rounds += 1;
            for path in ["real/secret.md", "real/new.md", "real/deep/new.md"] {
                // A write may succeed or fail, depending on when the other thread swaps the folder and the link.
                drop(write_all(&dir, path));
                let _ = dir.remove_file(path);
                leaked |= dir.read(path, 100).is_ok_and(|bytes| bytes == b"secret\n");
            }
        }
        finished.store(true, Ordering::Release);
    });
    assert!(!leaked, "read through the link");
    bed.assert_outside_is_unchanged();
}
