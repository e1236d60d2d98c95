//! Commands and links of the documents.
//!
//! Each page runs as one shell script, in a home that [`seed`] prepares. [`hippod_tests::page`] defines which blocks
//! run, and how their output is compared.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use hippod_tests::page::{Block, Step, are_like, blocks, headings, links, steps};
use hippod_tests::{QUIET, client_program};
use serde_json::json;

use crate::import::fixture;

/// Programs that a document may name but a test must not run, because their effects outlast the test.
const OUT_OF_REACH: &str =
    "apt brew cargo claude codex curl dpkg launchctl loginctl npm npx pip scp ssh sudo systemctl";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_path_buf()
}

/// Returns README.md and all pages below docs/ by path.
fn pages() -> Vec<(String, String)> {
    let mut folders = vec!["docs".to_owned()];
    let mut paths = vec!["README.md".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let read = |path: String| {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn code_blocks_with_commands_have_a_language_and_a_mode() {
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        for block in blocks(&text) {
            let line = block.line;
            // A usage line of the reference is not a command.
            let usage = |line: &str| line.contains("[OPTIONS]") || line.contains("<COMMAND>");
            let names =
                |line: &&str| (line.starts_with("hippoctl ") || line.starts_with("hippod ")) && !usage(line);
            if block.language.is_empty() && block.lines.iter().any(names) {
                wrong.push(format!("{page}:{line}: commands of ours, and no language"));
            }
            let known = ["", "apart"].contains(&block.rest)
                || block
                    .rest
                    .strip_prefix("not-run: ")
                    .is_some_and(|why| why.len() > 5);
            if matches!(block.language, "sh" | "console") && !known {
                wrong.push(format!(
                    "{page}:{line}: neither apart nor not-run with its reason"
                ));
            }
            if matches!(block.language, "bash" | "shell" | "zsh") {
                wrong.push(format!("{page}:{line}: sh or console instead"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn links_in_the_documents_have_existing_targets() {
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        for (path, heading) in links(&text) {
            let file = root().join(&page);
            let target = if path.is_empty() {
                file
            } else {
                file.parent().unwrap().join(path)
            };
            let there = if heading.is_empty() {
                target.exists()
            } else {
                let text = fs::read_to_string(&target).unwrap_or_default();
                headings(&text).iter().any(|name| name == heading)
            };
            if !there {
                wrong.push(format!("{page}: {path}#{heading}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn documented_builds_use_locked_dependencies() {
    let pages = pages();
    let lines = pages
        .iter()
        .flat_map(|(page, text)| text.lines().map(move |line| (page, line)));
    let builds = lines.flat_map(|(page, line)| {
        line.split("cargo install --path")
            .skip(1)
            .map(move |rest| (page, rest))
    });
    let loose: Vec<_> = builds
        .filter(|(_, rest)| {
            !rest
                .split(['&', '`'])
                .next()
                .is_some_and(|words| words.contains("--locked"))
        })
        .collect();
    assert!(loose.is_empty(), "{loose:?}");
}

/// A home in which the commands of a page run.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Self { folder };
        for name in ["bin", "run", "out", "ada"] {
            fs::create_dir(home.path(name)).unwrap();
        }
        for name in OUT_OF_REACH.split(' ') {
            let file = home.path("bin").join(name);
            let text =
                format!("#!/bin/sh\necho 'no test may run {name}: mark the block as not-run' >&2\nexit 97\n");
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
        }
        seed(&home.path("ada"));
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command that runs in this home, isolated from the test's environment.
    fn command(&self, program: &Path) -> Command {
        let own = client_program().parent().unwrap();
        let folders = [
            self.path("bin").as_path(),
            own,
            Path::new("/usr/local/bin"),
            Path::new("/usr/bin"),
            Path::new("/bin"),
        ]
        .map(Path::to_path_buf);
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::join_paths(folders).unwrap())
            .env("HOME", self.path("ada"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("LANG", "C.UTF-8")
            .env("HIPPOD_EMBED_MODEL", "hash")
            .env("HIPPOD_WATCH_QUIET_MS", "30")
            .envs(QUIET)
            .current_dir(self.path("ada"))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, script: &str) -> Output {
        let file = self.path("script");
        fs::write(&file, script).unwrap();
        self.command(Path::new("sh")).arg(&file).output().unwrap()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // The command fails if the service is not running.
        let _ = self
            .command(client_program())
            .args(["--no-start", "service", "stop"])
            .output();
    }
}

/// Creates the files that the pages mention: the folder of an agent with two logs, transcripts of the agent's
/// sessions, and questions about the memory.
fn seed(home: &Path) {
    let write = |path: &str, text: &str| {
        let file = home.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write(
        "my-agent/memory/2026-03-02.md",
        "# 2026-03-02\n\n## Deploy\n\n- Staging runs on port 8443 since the certificate was renewed.\n- decision: every rollback is \
         done by hand, with two people.\n\n## Greenhouse\n\n- Ada wants the window to open at 24 degrees.\n",
    );
    write(
        "my-agent/memory/2026-03-03.md",
        "# 2026-03-03\n\n## Pump\n\n- The pump restarts after a power cut, 500 ms after the relay has settled.\n",
    );
    copy(
        &root().join("examples/workspace"),
        &home.join("examples/workspace"),
    );
    let said = |id: u32, who: &str, text: &str| {
        json!({"type": who, "uuid": id.to_string(), "sessionId": "4f1c", "timestamp": format!("2026-03-04T09:0{id}:00Z"),
            "message": {"role": who, "content": text}})
    };
    let session = format!(
        "{}\n{}\n",
        said(
            1,
            "user",
            "Please look after the valve of the greenhouse. It drips."
        ),
        said(
            2,
            "assistant",
            "We decided to replace the seal. The valve is fixed, and all tests pass."
        ),
    );
    write("my-agent/session.jsonl", &session);
    write(".claude/projects/-home-ada-agent/4f1c.jsonl", &session);
    let messages = json!([{"role": "user", "content": "Where is the key?"}, {"role": "assistant", "content": "Under the mat."}]);
    write("my-agent/messages.json", &messages.to_string());
    write(
        "my-agent/rollout.jsonl",
        &format!(
            "{}\n",
            json!({"role": "user", "content": "Paint the fence green."})
        ),
    );
    let known = json!({"results": [{"id": "1", "memory": "Ada reads the meter on Fridays.", "created_at": "2026-03-01T09:00:00Z"}]});
    write("my-agent/memories.json", &known.to_string());
    fs::copy(fixture("claude-mem.json"), home.join("my-agent/export.json")).unwrap();
    for (name, place) in [("basic-memory", "basic-memory"), ("hippo-memory", "orchard")] {
        copy(&fixture(name), &home.join(place));
    }
    let question = json!({"id": "1", "query": "which port does staging use",
        "evidence": [{"path": "memory/2026-03-02.md", "start_line": 5, "end_line": 5}], "group": "ports"});
    write("my-agent/questions.jsonl", &format!("{question}\n"));
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, to) = entry
            .map(|entry| (entry.path(), to.join(entry.file_name())))
            .unwrap();
        if entry.is_dir() {
            copy(&entry, &to);
        } else {
            fs::copy(&entry, &to).unwrap();
        }
    }
}

/// Returns the shell script of a part of a page, and the expected output of each console command. If a command fails,
/// the script prints the page and the line of the command.
fn script<'a>(page: &str, blocks: &[&Block<'a>], out: &Path) -> (String, Vec<Step<'a>>) {
    let mut text =
        "set -eu\ntrap 'code=$?; [ $code = 0 ] || echo \"stopped with $code at $at\" >&2' EXIT\n".to_owned();
    let mut told = Vec::new();
    for block in blocks {
        writeln!(text, "at='{page}:{}'", block.line).unwrap();
        if block.language == "sh" {
            writeln!(text, "{}", block.lines.join("\n")).unwrap();
            continue;
        }
        for step in steps(block) {
            let file = out.join(told.len().to_string());
            let (line, command) = (step.line, &step.command);
            // A search that finds nothing exits with 1.
            let is_empty = step.prints.contains(&"nothing found");
            let accepted = if is_empty { " || [ $? = 1 ]" } else { "" };
            writeln!(
                text,
                "at='{page}:{line}'\n{{ {command}\n}} > '{}' 2>&1{accepted}",
                file.display()
            )
            .unwrap();
            told.push(step);
        }
    }
    (text, told)
}

/// Runs a part of a page and returns the problems that were found.
fn problems(page: &str, blocks: &[&Block<'_>]) -> Vec<String> {
    let home = Home::new();
    let out = home.path("out");
    let (script, told) = script(page, blocks, &out);
    let output = home.run(&script);
    let mut wrong = Vec::new();
    let printed: Vec<String> = (0..told.len())
        .map(|number| fs::read_to_string(out.join(number.to_string())).unwrap_or_default())
        .collect();
    if !output.status.success() {
        let [told, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        let last = printed.iter().rfind(|text| !text.is_empty());
        wrong.push(format!("{told}\n{errors}\n{}", last.map_or("", String::as_str)));
    }
    for (step, printed) in told.iter().zip(&printed) {
        // Any answer can contain the note on files that are not searchable yet, because the daemon may write its own
        // files at any time.
        let lines = printed.lines().filter(|line| !line.contains(" not searchable "));
        let lines: Vec<&str> = lines.collect();
        if output.status.success() && !are_like(&lines, &step.prints) {
            let (line, command) = (step.line, &step.command);
            wrong.push(format!("{page}:{line}: `{command}` prints\n{printed}"));
        }
    }
    wrong
}

#[test]
fn every_command_of_the_documents_runs() {
    let pages = pages();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (page, text) in &pages {
        let blocks = blocks(text);
        let run: Vec<&Block<'_>> = blocks.iter().filter(|block| block.is_run()).collect();
        count += run.len();
        let (apart, together): (Vec<_>, Vec<_>) = run.into_iter().partition(|block| block.rest == "apart");
        if !together.is_empty() {
            wrong.extend(problems(page, &together));
        }
        for block in apart {
            wrong.extend(problems(page, &[block]));
        }
    }
    assert!(count > 20, "only {count} blocks found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
