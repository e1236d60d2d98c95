//! Tests of scans and of the classification of single paths.

use super::*;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

struct Bed {
    _folder: tempfile::TempDir,
    root: PathBuf,
    config: Config,
}

fn bed(files: &[&str]) -> Bed {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("w");
    fs::create_dir(&root).unwrap();
    let bed = Bed {
        _folder: folder,
        root,
        config: Config::default(),
    };
    for file in files {
        bed.write(file, file);
    }
    bed
}

impl Bed {
    fn write(&self, rel: &str, text: &str) {
        let path = self.root.join(rel);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn rules(&self) -> SourceRules {
        SourceRules::new(&self.config.sources.include, &self.config.sources.exclude).unwrap()
    }

    fn scan(&self) -> ScanResult {
        let result = scan(&self.root, &self.rules(), &self.config, &|| ());
        // The classification of a single path must give the same result as a scan, except for second names.
        for file in &result.files {
            assert_eq!(self.look(&file.rel), PathClass::File(file.clone()));
        }
        for skipped in &result.skipped {
            let SkippedFile { rel, reason, .. } = skipped;
            assert_eq!(skipped.is_second_name, reason.starts_with("the same file as "));
            if !skipped.is_second_name && result.unreadable_dirs.is_empty() {
                assert_eq!(self.look(rel), PathClass::Skipped(reason.clone()));
            }
        }
        result
    }

    fn look(&self, rel: &str) -> PathClass {
        Looker::new(&self.root, &self.rules(), &self.config).look(rel)
    }
}

fn names(result: &ScanResult) -> Vec<&str> {
    result.files.iter().map(|file| file.rel.as_str()).collect()
}

fn skipped(result: &ScanResult) -> Vec<(&str, &str)> {
    result
        .skipped
        .iter()
        .map(|skipped| (skipped.rel.as_str(), skipped.reason.as_str()))
        .collect()
}

fn left_out(result: &ScanResult) -> Vec<(&str, u64)> {
    let left_out = result.left_out.iter();
    left_out
        .map(|(reason, files)| (reason.as_str(), files.count))
        .collect()
}

fn dirs(bed: &Bed, result: &ScanResult) -> Vec<String> {
    let mut dirs: Vec<String> = result
        .dirs
        .iter()
        .map(|dir| dir.strip_prefix(&bed.root).unwrap().to_str().unwrap().to_owned())
        .collect();
    dirs.sort();
    dirs
}

#[test]
fn a_scan_finds_only_memory_files() {
    let bed = bed(&[
        "MEMORY.md",
        "README.md",
        "memory/2026-01-10.md",
        "memory/deep/er/note.md",
        "memory/picture.png",
        "memory/.git/x.md",
        "memory/.hidden.md",
        ".hippocampus/topics/a.md",
        "node_modules/pkg/memory/a.md",
        "projects/node_modules/pkg/README.md",
        "projects/p/plan.md",
        "src/main.md",
    ]);
    fs::create_dir(bed.root.join("knowledge")).unwrap();
    let result = bed.scan();
    assert!(result.root_present && !result.root_empty);
    assert_eq!(
        names(&result),
        [
            "MEMORY.md",
            "README.md",
            "memory/2026-01-10.md",
            "memory/deep/er/note.md",
            "projects/p/plan.md",
            "src/main.md",
        ]
    );
    assert_eq!(skipped(&result), []);
    assert_eq!(left_out(&result), [("in node_modules", 2)]);
    assert_eq!(
        dirs(&bed, &result),
        [
            "",
            "knowledge",
            "memory",
            "memory/deep",
            "memory/deep/er",
            "projects",
            "projects/p",
            "src"
        ]
    );
    let file = &result.files[0];
    let metadata = fs::metadata(bed.root.join(&file.rel)).unwrap();
    assert_eq!((file.size, file.id), (9, FileId::of(&metadata)));
    let modified = metadata
        .modified()
        .unwrap()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    assert_eq!(
        i128::from(file.mtime_ns),
        i128::try_from(modified.as_nanos()).unwrap()
    );
    assert_eq!(bed.look("HIPPOCAMPUS.md"), PathClass::None);
    assert_eq!(bed.look("memory/.git/x.md"), PathClass::None);
    assert_eq!(bed.look("memory/absent.md"), PathClass::None);
}

#[test]
fn the_configuration_includes_and_excludes_files() {
    let mut bed = bed(&[
        "MEMORY.md",
        "memory/a.md",
        "memory/private/b.md",
        "notes/c.md",
        "notes/d.txt",
        "vendor/e.md",
        "vendor/kept/f.md",
    ]);
    bed.config.sources.include = vec!["notes/**/*.txt".into(), "vendor/kept".into()];
    bed.config.sources.exclude = vec!["memory/private/**".into()];
    let result = bed.scan();
    assert_eq!(
        names(&result),
        [
            "MEMORY.md",
            "memory/a.md",
            "notes/c.md",
            "notes/d.txt",
            "vendor/kept/f.md"
        ]
    );
    assert_eq!(
        left_out(&result),
        [("excluded by sources.exclude", 1), ("in vendor", 1)]
    );
}

#[test]
fn notes_in_any_folder_are_memory_files_unless_git_ignores_them() {
    let bed = bed(&[
        "ideas.md",
        "Journal/2026-11-20.markdown",
        "recipes/BREAD.MD",
        "site/draft/a.md",
        "site/b.md",
        "target/doc/c.md",
        "secret.md",
        ".obsidian/plugins/d.md",
        ".git/e.md",
    ]);
    bed.write(".gitignore", "draft/\nsecret.md\n");
    let result = bed.scan();
    assert_eq!(
        names(&result),
        [
            "Journal/2026-11-20.markdown",
            "ideas.md",
            "recipes/BREAD.MD",
            "site/b.md"
        ]
    );
    let expected = [("ignored by .gitignore", 2), ("in target", 1)];
    assert_eq!(left_out(&result), expected);
    let status: Vec<hippo_proto::NotIndexed> = (expected.iter())
        .map(|(reason, files)| hippo_proto::NotIndexed {
            reason: (*reason).to_owned(),
            files: *files,
            or_more: false,
        })
        .collect();
    assert_eq!(
        describe_left_out(&status, 1).unwrap(),
        "4 files are not indexed: 2 ignored by .gitignore, 1 in target, 1 skipped (for the reasons: hippoctl doctor)"
    );
    assert_eq!(describe_left_out(&[], 0), None);
    bed.write(".hippoignore", "!secret.md\n");
    assert!(names(&bed.scan()).contains(&"secret.md"));
}

#[test]
fn ignore_files_apply_and_gitignore_does_not_apply_to_the_agent_layout() {
    let bed = bed(&[
        "MEMORY.md",
        "memory/a.md",
        "memory/b.md",
        "memory/sub/c.md",
        "knowledge/d.md",
    ]);
    fs::create_dir(bed.root.join(".git")).unwrap();
    bed.write(".gitignore", "memory/\n*.md\n");
    assert_eq!(bed.scan().files.len(), 5);
    bed.write(".hippoignore", "knowledge/\n");
    bed.write("memory/.ignore", "b.md\nsub\n");
    assert_eq!(names(&bed.scan()), ["MEMORY.md", "memory/a.md"]);
    assert_eq!(bed.look("memory/b.md"), PathClass::None);
    assert_eq!(bed.look("memory/sub/c.md"), PathClass::None);
}

#[test]
fn unreadable_files_are_listed_as_skipped() {
    let mut bed = bed(&["memory/a.md", "memory/large.md", "memory/folder.md/inside.md"]);
    bed.config.sources.max_file_bytes = 20;
    bed.write("memory/large.md", "more than twenty bytes");
    let _socket = std::os::unix::net::UnixListener::bind(bed.root.join("memory/socket.md")).unwrap();
    fs::write(
        bed.root
            .join("memory")
            .join(std::ffi::OsStr::from_bytes(b"caf\xe9.md")),
        "x",
    )
    .unwrap();
    fs::write(
        bed.root
            .join("memory")
            .join(std::ffi::OsStr::from_bytes(b"caf\xe9.png")),
        "x",
    )
    .unwrap();
    let result = scan(&bed.root, &bed.rules(), &bed.config, &|| ());
    assert_eq!(names(&result), ["memory/a.md"]);
    assert_eq!(
        skipped(&result),
        [
            ("memory/caf\u{fffd}.md", "its name is not UTF-8"),
            ("memory/folder.md", "a folder that has the name of a memory file"),
            (
                "memory/folder.md/inside.md",
                "26 bytes, more than sources.max_file_bytes = 20"
            ),
            (
                "memory/large.md",
                "22 bytes, more than sources.max_file_bytes = 20"
            ),
            ("memory/socket.md", "not a regular file"),
        ]
    );
    assert_eq!(
        bed.look("memory/large.md"),
        PathClass::Skipped("22 bytes, more than sources.max_file_bytes = 20".into())
    );
}

#[test]
fn links_are_followed_only_within_the_workspace() {
    let bed = bed(&["MEMORY.md", "memory/2026/a.md", "vendor/b.md"]);
    let outside = bed.root.parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.md"), "x").unwrap();
    let link = |target: &str, rel: &str| symlink(target, bed.root.join(rel)).unwrap();
    link("../../outside", "memory/away");
    link("../../outside/secret.md", "memory/secret.md");
    link("2026", "memory/latest");
    link("../memory", "memory/loop");
    link("nowhere.md", "memory/broken.md");
    link("../vendor", "memory/other");
    link("../README.txt", "memory/readme.txt");
    let result = bed.scan();
    assert_eq!(
        names(&result),
        ["MEMORY.md", "memory/2026/a.md", "memory/other/b.md"]
    );
    assert_eq!(
        skipped(&result),
        [
            ("memory/away", "the link points outside the workspace"),
            ("memory/broken.md", "a link without a target"),
            ("memory/latest/a.md", "the same file as memory/2026/a.md"),
            ("memory/loop", "a link to its own parent folder memory"),
            ("memory/secret.md", "the link points outside the workspace"),
        ]
    );
    assert_eq!(dirs(&bed, &result), ["", "memory", "memory/2026", "memory/other"]);
}

#[test]
fn a_file_with_two_names_counts_once() {
    let bed = bed(&["memory/a.md"]);
    fs::hard_link(bed.root.join("memory/a.md"), bed.root.join("MEMORY.md")).unwrap();
    let result = bed.scan();
    assert_eq!(names(&result), ["MEMORY.md"]);
    assert_eq!(skipped(&result), [("memory/a.md", "the same file as MEMORY.md")]);
}

#[test]
fn progress_is_reported_for_each_entry() {
    let bed = bed(&["MEMORY.md", "memory/1.md", "memory/2.md", "knowledge/a/b.md"]);
    let told = std::cell::Cell::new(0);
    let result = scan(&bed.root, &bed.rules(), &bed.config, &|| told.set(told.get() + 1));
    assert_eq!(told.get(), result.files.len() + result.dirs.len());
}

#[test]
fn a_scan_distinguishes_absent_and_empty_roots() {
    let bed = bed(&["MEMORY.md"]);
    let absent = bed.root.join("absent");
    assert!(!scan(&absent, &bed.rules(), &bed.config, &|| ()).root_present);
    assert!(!scan(&bed.root.join("MEMORY.md"), &bed.rules(), &bed.config, &|| ()).root_present);
    assert_eq!(
        Looker::new(&absent, &bed.rules(), &bed.config).look("MEMORY.md"),
        PathClass::Unknown
    );
    fs::create_dir(&absent).unwrap();
    let result = scan(&absent, &bed.rules(), &bed.config, &|| ());
    assert!(result.root_present && result.root_empty);
    assert_eq!(result.dirs, [absent]);
}

#[test]
fn the_nearest_ignore_file_has_priority() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("memory/kept")).unwrap();
    for (file, text) in [
        (".ignore", "draft.md\n"),
        ("memory/kept/.ignore", "!draft.md\n"),
        ("memory/.hippoignore", "secret.md\n"),
        ("memory/kept/.ignore", "!draft.md\n!secret.md\n"),
    ] {
        fs::write(root.join(file), text).unwrap();
    }
    let rules = SourceRules::new(&[], &[]).unwrap();
    let config = Config::default();
    for (rel, expected) in [
        ("memory/draft.md", false),
        ("memory/kept/draft.md", true),
        ("memory/kept/secret.md", false),
        ("memory/kept/other.md", true),
    ] {
        fs::write(root.join(rel), rel).unwrap();
        let found = matches!(Looker::new(&root, &rules, &config).look(rel), PathClass::File(_));
        assert_eq!(found, expected, "{rel}");
        let scanned = scan(&root, &rules, &config, &|| ());
        assert_eq!(
            scanned.files.iter().any(|file| file.rel == rel),
            expected,
            "a scan says the same of {rel}"
        );
    }
}
