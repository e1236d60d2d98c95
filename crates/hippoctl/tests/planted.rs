//! Tests of `init` and its undo in untrusted folders.
//!
//! No file outside the folder is read or written.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

#[allow(dead_code, reason = "only the client is run here, without a daemon")]
mod scripted;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hippo_fs::WorkspaceDir;
use scripted::{hippoctl, out};
use serde_json::Value;
use tempfile::TempDir;

const SECRET: &str = "the-key-under-the-mat";
const PLATFORMS: [&str; 5] = ["claude-code", "openclaw", "opencode", "codex", "pi"];

/// A folder `w`, and beside `w` a folder `outside` and another workspace `other`.
struct Bed {
    folder: TempDir,
}

impl Bed {
    fn new() -> Self {
        let bed = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for name in ["w", "outside", "other"] {
            fs::create_dir(bed.at(name)).unwrap();
        }
        bed
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// Runs the client in `w`. Asserts that its output contains no text from outside `w`.
    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let words: Vec<&str> = words.iter().copied().chain(["--no-start"]).collect();
        let (code, told, errors) = out(&hippoctl(&self.at("home"), &self.at("w"), &words));
        assert!(!format!("{told}{errors}").contains(SECRET), "{told}{errors}");
        (code, told, errors)
    }

    /// Returns the mode of each file, and its bytes or its link target. Omits the client's own state.
    fn tree(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut tree = tree(&self.at("outside"));
        tree.extend(self::tree(&self.at("other")));
        tree.extend(self::tree(&self.at("w")));
        tree
    }
}

fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let bytes = if metadata.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                target.into_os_string().into_encoded_bytes()
            } else if metadata.file_type().is_fifo() {
                b"a pipe".to_vec()
            } else {
                fs::read(&path).unwrap()
            };
            tree.insert(path, (metadata.permissions().mode(), bytes));
        }
    }
    tree
}

/// Returns the files and folders that init creates for a platform.
fn laid_out(platform: &str) -> (Vec<String>, Vec<String>) {
    let bed = Bed::new();
    let words = ["init", "--full", "--platform", platform, "--dry-run", "--json"];
    let told: Value = serde_json::from_str(&bed.run(&words).1).unwrap();
    let changes = told["changes"].as_array().unwrap().iter();
    let paths = changes.map(|change| change["path"].as_str().unwrap().to_owned());
    // init does not write the index file; the daemon does.
    let paths = paths.filter(|path| path != "HIPPOCAMPUS.md");
    let (folders, files): (Vec<String>, Vec<String>) = paths.partition(|path| path.ends_with('/'));
    assert!(files.len() > 8, "{files:?}");
    let folders = folders.iter().map(|path| path.trim_end_matches('/').to_owned());
    (files, folders.collect())
}

/// A function that replaces a file or a folder in `w`.
type Plant = fn(&Bed, &str);

fn link_outside(bed: &Bed, path: &str) {
    let up = "../".repeat(path.matches('/').count() + 1);
    bed.link(&format!("w/{path}"), format!("{up}outside/{path}"));
}

fn link_to_another_workspace(bed: &Bed, path: &str) {
    bed.link(&format!("w/{path}"), bed.at("other").join(path));
}

fn link_to_nothing(bed: &Bed, path: &str) {
    bed.link(&format!("w/{path}"), bed.at("outside/absent").join(path));
}

fn pipe(bed: &Bed, path: &str) {
    let path = bed.at("w").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
}

fn folder(bed: &Bed, path: &str) {
    fs::create_dir_all(bed.at("w").join(path)).unwrap();
}

fn file(bed: &Bed, path: &str) {
    bed.write(&format!("w/{path}"), "a file");
}

const LINKS: [Plant; 3] = [link_outside, link_to_another_workspace, link_to_nothing];

/// Asserts that init fails without changes. The error must name each planted path, or a path below the planted path.
fn assert_refused(bed: &Bed, platform: &str, planted: &[&String]) {
    let before = bed.tree();
    let (code, told, errors) = bed.run(&["init", "--full", "--platform", platform]);
    assert_eq!((code, told.as_str()), (5, ""), "{errors}");
    assert!(
        errors.contains("nothing was written") && errors.contains("\nhint: correct these"),
        "{errors}"
    );
    for path in planted {
        assert!(errors.contains(&format!("\n  {path}")), "{path}: {errors}");
    }
    assert_eq!(bed.tree(), before);
    assert!(!bed.at("home").join("state/decisions").exists());
}

#[test]
fn init_refuses_a_link_pipe_or_folder_at_the_path_of_any_of_its_files() {
    for platform in PLATFORMS {
        let (files, _) = laid_out(platform);
        for plant in LINKS.into_iter().chain([pipe as Plant, folder]) {
            let bed = Bed::new();
            for path in &files {
                bed.write(&format!("outside/{path}"), SECRET);
                bed.write(&format!("other/{path}"), SECRET);
                plant(&bed, path);
            }
            assert_refused(&bed, platform, &files.iter().collect::<Vec<_>>());
        }
    }
}

#[test]
fn init_refuses_a_link_pipe_or_file_at_the_path_of_any_of_its_folders() {
    for platform in PLATFORMS {
        let (files, folders) = laid_out(platform);
        for depth in 0..3 {
            let planted: Vec<&String> = folders
                .iter()
                .filter(|path| path.matches('/').count() == depth)
                .collect();
            for plant in LINKS.into_iter().chain([pipe as Plant, file]) {
                let bed = Bed::new();
                for path in &files {
                    bed.write(&format!("outside/{path}"), SECRET);
                    bed.write(&format!("other/{path}"), SECRET);
                }
                for path in &planted {
                    fs::create_dir_all(bed.at("outside").join(path)).unwrap();
                    fs::create_dir_all(bed.at("other").join(path)).unwrap();
                    plant(&bed, path);
                }
                if !planted.is_empty() {
                    assert_refused(&bed, platform, &planted);
                }
            }
        }
    }
}

#[test]
fn a_hard_link_is_replaced_without_writing_the_file_outside() {
    for platform in PLATFORMS {
        let (files, _) = laid_out(platform);
        let bed = Bed::new();
        for path in &files {
            let text = match Path::new(path).extension().and_then(|end| end.to_str()) {
                Some("json") => "{}\n".to_owned(),
                Some("toml") => String::new(),
                _ => format!("# {SECRET}\n"),
            };
            bed.write(&format!("outside/{path}"), &text);
            let linked = bed.at("w").join(path);
            fs::create_dir_all(linked.parent().unwrap()).unwrap();
            fs::hard_link(bed.at("outside").join(path), linked).unwrap();
        }
        let before = bed.tree();
        let outside = tree(&bed.at("outside"));
        let (code, told, errors) = bed.run(&["init", "--full", "--platform", platform]);
        assert_eq!((code, errors.as_str()), (0, ""), "{told}");
        assert!(told.contains("\n  changed "), "{told}");
        assert_eq!(tree(&bed.at("outside")), outside);
        let (code, told, errors) = bed.run(&["init", "--undo"]);
        assert_eq!((code, errors.as_str()), (0, ""), "{told}");
        assert_eq!(bed.tree(), before);
    }
}

#[test]
fn deinit_keeps_planted_files_and_finishes_once_they_are_gone() {
    for platform in PLATFORMS {
        for plant in LINKS.into_iter().chain([pipe as Plant]) {
            let bed = Bed::new();
            bed.run(&["init", "--full", "--platform", platform]);
            let (files, _) = laid_out(platform);
            for path in &files {
                let now = bed.at("w").join(path);
                // The files outside have the same bytes as the client's own files. A client that followed a link
                // would therefore treat them as its own files.
                let text = fs::read_to_string(&now).unwrap();
                for place in ["outside", "other", "kept"] {
                    bed.write(&format!("{place}/{path}"), &text);
                }
                fs::remove_file(now).unwrap();
                plant(&bed, path);
            }
            let before = bed.tree();
            let (code, told, errors) = bed.run(&["init", "--undo"]);
            assert_eq!(code, 5, "{told}{errors}");
            assert!(
                errors.contains("\nhint: correct the files listed above"),
                "{errors}"
            );
            for path in &files {
                assert!(told.contains(&format!(" {path}: it is ")), "{path}: {told}");
            }
            let mut now = bed.tree();
            for (path, state) in &before {
                let is_empty_folder = state.1.is_empty() && path.starts_with(bed.at("w"));
                assert!(
                    now.remove(path).as_ref() == Some(state) || is_empty_folder,
                    "{}",
                    path.display()
                );
            }
            assert!(now.is_empty(), "{now:?}");
            for path in &files {
                let back = bed.at("w").join(path);
                fs::remove_file(&back).unwrap();
                fs::rename(bed.at("kept").join(path), back).unwrap();
            }
            let (code, told, errors) = bed.run(&["init", "--undo"]);
            assert_eq!((code, errors.as_str()), (0, ""), "{told}");
            assert_eq!(tree(&bed.at("w")).len(), 0);
        }
    }
}

#[test]
fn deinit_does_not_follow_a_folder_moved_outside_and_linked() {
    for platform in PLATFORMS {
        let bed = Bed::new();
        bed.run(&["init", "--full", "--platform", platform]);
        let (files, folders) = laid_out(platform);
        let tops: Vec<&String> = folders.iter().filter(|path| !path.contains('/')).collect();
        for path in &tops {
            fs::rename(bed.at("w").join(path), bed.at("outside").join(path)).unwrap();
            link_outside(&bed, path);
        }
        let outside = tree(&bed.at("outside"));
        let (code, told, errors) = bed.run(&["init", "--undo"]);
        assert_eq!(code, 5, "{told}{errors}");
        for path in files.iter().filter(|path| path.contains('/')) {
            assert!(told.contains(&format!(" {path}: it is a link")), "{path}: {told}");
        }
        assert_eq!(tree(&bed.at("outside")), outside);
        for path in &tops {
            assert!(bed.at("w").join(path).is_symlink(), "{path}");
        }
    }
}

/// A guard that stops the swaps when the guard is dropped, even if an assertion fails.
struct Finish<'a>(&'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn links_swapped_in_during_init_and_deinit_change_nothing_outside() {
    let bed = Bed::new();
    bed.write("outside/CLAUDE.md", &format!("# {SECRET}\n"));
    bed.write("outside/claude/settings.json", &format!("{{\"{SECRET}\": 1}}\n"));
    bed.write("w/CLAUDE.md", "# Mine\n");
    bed.write("w/.claude/settings.json", "{}\n");
    bed.link("w/link.md", "../outside/CLAUDE.md");
    bed.link("w/link", "../outside/claude");
    let outside = tree(&bed.at("outside"));
    let (swaps, finished) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let top = WorkspaceDir::open(&bed.at("w")).unwrap().folder("").unwrap();
            while !finished.load(Ordering::Acquire) {
                // An error is ignored, because the client may have removed one of the two paths for a moment.
                let _ = top.exchange("CLAUDE.md", "link.md");
                let _ = top.exchange(".claude", "link");
                swaps.fetch_add(1, Ordering::Release);
                std::thread::yield_now();
            }
        });
        let _finish = Finish(&finished);
        for _ in 0..50 {
            for words in [
                &["init", "--full", "--platform", "claude-code"][..],
                &["init", "--undo"],
            ] {
                bed.run(words);
                assert_eq!(tree(&bed.at("outside")), outside, "{words:?}");
            }
        }
    });
    assert!(swaps.into_inner() > 100);
}
