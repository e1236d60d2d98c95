//! Project rules: crate graph, file sizes, and promises of the documents.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

#[path = "tidy/crates.rs"]
mod crates;
#[path = "tidy/file_access.rs"]
mod file_access;
#[path = "tidy/generated.rs"]
mod generated;
#[path = "tidy/names.rs"]
mod names;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use hippo_proto::{ErrorKind, METHODS, Notification, RpcError};
use serde_json::Value;

/// Maximum number of lines of a source file.
const LONGEST_FILE: usize = 400;
/// Documents that have their own limits on the number of lines.
const LONGEST_DOCUMENTS: [(&str, usize); 2] = [("ARCHITECTURE.md", 420), ("CONTRIBUTING.md", 80)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_path_buf()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Compares a generated text with the committed file, or writes the file if the environment variable `UPDATE` is set.
fn compare(path: &str, made: &str, command: &str) {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(root().join(path), made).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    assert!(read(path) == made, "{path} is not up to date: run {command}");
}

/// Returns the paths of all files with this ending below these folders. The paths are relative to the root and use
/// `/`.
fn files(folders: &[&str], ending: &str) -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let (root, mut found) = (root(), Vec::new());
    folders
        .iter()
        .for_each(|folder| walk(&root.join(folder), &mut found));
    let relative = |path: PathBuf| {
        path.strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/")
    };
    let mut found: Vec<String> = found
        .into_iter()
        .map(relative)
        .filter(|path| path.ends_with(ending))
        .collect();
    found.sort();
    found
}

fn sources() -> Vec<String> {
    let found = files(&["crates", "lab", "tests", "xtask"], ".rs");
    assert!(found.len() > 50, "only {} sources found", found.len());
    found
}

fn documents() -> Vec<String> {
    let mut found = files(&["docs"], ".md");
    found.extend(
        [
            "README.md",
            "ARCHITECTURE.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
            "GLOSSARY.md",
        ]
        .map(str::to_owned),
    );
    found
}

#[test]
fn source_files_have_a_module_comment_and_a_maximum_length() {
    let mut wrong = Vec::new();
    for path in sources() {
        let text = read(&path);
        if !text.starts_with("//! ") {
            wrong.push(format!("{path}: the first line is no //! comment"));
        }
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            wrong.push(format!("{path}: {lines} lines, {LONGEST_FILE} are allowed"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn documents_stay_within_their_maximum_length() {
    for (path, most) in LONGEST_DOCUMENTS {
        let lines = read(path).lines().count();
        assert!(lines <= most, "{path}: {lines} lines, {most} are allowed");
    }
}

#[test]
fn tests_neither_sleep_nor_are_skipped() {
    let skipped = concat!("#[", "ignore");
    let sleeps = [
        concat!("thread::", "sleep"),
        concat!("time::", "sleep"),
        concat!("std::thread::", "park"),
    ];
    let mut wrong = Vec::new();
    for path in sources() {
        let text = read(&path);
        if text.contains(skipped) {
            wrong.push(format!("{path}: a test is skipped"));
        }
        let whole = path.contains("/tests") || path.starts_with("tests/");
        let tests = if whole {
            Some(&text[..])
        } else {
            text.split_once("#[cfg(test)]").map(|(_, tests)| tests)
        };
        if tests.is_some_and(|tests| sleeps.iter().any(|sleep| tests.contains(sleep))) {
            wrong.push(format!("{path}: a test sleeps"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn documents_contain_no_local_paths() {
    let homes = [
        concat!("/", "work/"),
        concat!("/", "root/"),
        concat!("/", "Users/"),
        concat!("/", "tmp/"),
    ];
    for path in documents() {
        let text = read(&path).replace("/home/ada/", "");
        for home in homes.iter().chain(&[concat!("/", "home/")]) {
            assert!(!text.contains(home), "{path} names {home}");
        }
    }
}

#[test]
fn the_pictures_of_the_readme_are_small_files() {
    let pictures = [
        ("docs/pictures/session.svg", 300_000),
        ("docs/pictures/search.png", 200_000),
    ];
    for (path, most) in pictures {
        let size = fs::metadata(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(size.len() <= most, "{path}: {} bytes", size.len());
        assert!(read("README.md").contains(&format!("]({path})")), "{path}");
    }
}

#[test]
fn the_changelog_has_a_section_for_this_version() {
    let text = read("CHANGELOG.md");
    let version = format!("\n## {}", env!("CARGO_PKG_VERSION"));
    assert!(
        text.contains(&version) || text.contains("\n## Unreleased"),
        "no section for this version"
    );
}

#[test]
fn the_licence_files_of_the_manifest_exist() {
    assert!(read("Cargo.toml").contains("license = \"MIT OR Apache-2.0\""));
    assert!(read("LICENSE-MIT").contains("MIT License"));
    assert!(read("LICENSE-APACHE").contains("Apache License"));
}

#[test]
fn packaged_documents_link_to_packaged_documents() {
    let packed = read("xtask/src/dist/contents.rs");
    let mut seen = 0;
    for document in documents() {
        for (path, _) in hippod_tests::page::links(&read(&document)) {
            let mut target = PathBuf::from(&document);
            target.pop();
            for part in Path::new(path).components() {
                match part {
                    Component::ParentDir => drop(target.pop()),
                    part => target.push(part),
                }
            }
            let name = target.to_str().unwrap();
            let is_packed = if name.starts_with("docs") {
                root().join(&target).exists()
            } else {
                packed.contains(&format!("\"{name}\","))
            };
            assert!(path.is_empty() || is_packed, "{document}: {path}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn ci_runs_only_the_gate() {
    let text = read(".ci/run");
    let commands = text.lines().filter(|line| line.starts_with("cargo "));
    assert_eq!(commands.collect::<Vec<_>>(), ["cargo xtask test"]);
    for (workflow, expected) in [
        ("ci", &[".ci/run"][..]),
        (
            "release",
            &["cargo xtask dist", "cargo xtask dist --arch aarch64"],
        ),
    ] {
        let text = read(&format!(".github/workflows/{workflow}.yml"));
        let steps = text
            .lines()
            .filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("run:"));
        let steps = steps.map(str::trim).filter(|step| {
            !["gh release ", "sudo apt-get ", "rustup target "]
                .iter()
                .any(|other| step.starts_with(other))
        });
        let steps: Vec<&str> = steps.collect();
        assert_eq!(steps, expected, "{workflow}");
    }
}

#[test]
fn the_installer_and_the_documents_name_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("install.sh").contains(&format!("\nVERSION={version}\n")));
    for document in ["README.md", "docs/install.md"] {
        let text = read(document);
        let names = text
            .split("hippod")
            .filter_map(|rest| rest.strip_prefix(['-', '_']));
        let mut names = names.filter(|name| name.starts_with(|first: char| first.is_ascii_digit()));
        assert!(names.next().is_some(), "{document}");
        assert!(names.all(|name| name.starts_with(version)), "{document}");
    }
}

#[test]
fn the_documented_settings_are_up_to_date() {
    let text = read("docs/configuration.md");
    let (before, rest) = text.split_once("\n```toml\n").expect("no block of settings");
    let (_, after) = rest.split_once("```\n").unwrap();
    let settings = hippod::config::Config::documented();
    let made = format!("{before}\n```toml\n{settings}```\n{after}");
    compare("docs/configuration.md", &made, "cargo xtask docs");
}

#[test]
fn the_protocol_documents_every_method_and_error_kind() {
    let text = read("docs/protocol.md");
    let headings: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'))
        .collect();
    assert_eq!(headings, METHODS.iter().copied().collect::<BTreeSet<_>>());

    let documented: BTreeSet<String> = text
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let (kind, code) = (cells.get(1)?.strip_prefix('`')?.strip_suffix('`')?, cells.get(2)?);
            code.parse::<i32>()
                .ok()
                .map(|code| format!("{kind} {code} {}", cells[3]))
        })
        .collect();
    let kinds = all_kinds().into_iter().map(|kind| {
        let retryable = if kind.retryable() { "yes" } else { "no" };
        let name = serde_json::to_value(kind).unwrap();
        format!(
            "{} {} {retryable}",
            name.as_str().unwrap(),
            RpcError::new(kind, "").code
        )
    });
    assert_eq!(documented, kinds.collect());
}

#[test]
fn the_documented_notifications_can_be_parsed() {
    let text = read("docs/protocol.md");
    let mut events = BTreeSet::new();
    for block in text.split("\n```events\n").skip(1) {
        for line in block.lines().take_while(|line| *line != "```") {
            let value: Value = serde_json::from_str(line).unwrap();
            let method = value["method"].as_str().unwrap().to_owned();
            let notification = Notification {
                method,
                params: value["params"].clone(),
            };
            match (notification.event(), notification.progress()) {
                (Some(event), None) => events.insert(format!("{:?}", event.name())),
                (None, Some(progress)) => events.insert(progress.stage),
                _ => panic!("no notification: {line}"),
            };
        }
    }
    let told = events.into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(told, "Cycle Degraded Indexed Job download");
}

/// Returns all kinds of errors. If a kind is missing from the list, this function does not compile.
fn all_kinds() -> Vec<ErrorKind> {
    use ErrorKind as Kind;
    let known = |kind| match kind {
        Kind::BadRequest | Kind::UnsupportedProtocol | Kind::NoWorkspace | Kind::NotFound | Kind::Stale => {
            kind
        }
        Kind::Conflict | Kind::TooLarge | Kind::Budget | Kind::Warming | Kind::Degraded | Kind::ReadOnly => {
            kind
        }
        Kind::TooManyOpenFiles | Kind::Internal => kind,
    };
    let kinds = [
        Kind::BadRequest,
        Kind::UnsupportedProtocol,
        Kind::NoWorkspace,
        Kind::NotFound,
        Kind::Stale,
        Kind::Conflict,
        Kind::TooLarge,
        Kind::Budget,
        Kind::Warming,
        Kind::Degraded,
        Kind::ReadOnly,
        Kind::TooManyOpenFiles,
        Kind::Internal,
    ];
    kinds.into_iter().map(known).collect()
}
