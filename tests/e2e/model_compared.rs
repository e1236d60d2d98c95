//! `hippoctl model compare`: figures, refusals, and removal of all files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use hippod_tests::{Daemon, QUIET, Scratch, client_program};
use serde_json::Value;

use crate::folder::{TestFolder, TestShape};
use crate::model_brought::{import, scratch};

const DEFAULT: &str = "minilm-l6-dialogue-int8";
const QUESTIONS: &str = r#"{"id": "1", "query": "which medicine did the doctor give me", "evidence": [{"path": "memory/2026-03-02.md", "start_line": 3, "end_line": 3}], "group": "g", "answer": "tablets"}

{"query": "when does the boat sail", "evidence": [{"path": "./knowledge/harbour.md", "start_line": 3, "end_line": 3}]}
{"query": "when was the oven for pottery hot", "evidence": [{"path": "extra/kiln.md", "start_line": 3, "end_line": 3}]}
"#;

/// A user with a workspace, an installed model and an imported model.
struct Comparison {
    scratch: Scratch,
    temporary: PathBuf,
    daemon: Daemon,
}

impl Comparison {
    fn new() -> Self {
        let scratch = scratch();
        let folder = TestFolder::new(TestShape::default());
        // The trusted settings select another model, and an additional file.
        scratch.trusted(
            ".hippocampus/config.toml",
            "[sources]\ninclude = [\"extra/*.md\"]\n[embed]\nmodel = \"hash\"\n",
        );
        scratch.write("extra/kiln.md", "# Kiln\n\nThe kiln reached its heat at noon.\n");
        let daemon = Daemon::start(&scratch.home(), &QUIET);
        let mut client = daemon.client();
        import(&mut client, &folder.path, "toy").unwrap();
        client.index(&scratch.workspace());
        let temporary = scratch.beside("temporary");
        fs::create_dir_all(&temporary).unwrap();
        Self {
            scratch,
            temporary,
            daemon,
        }
    }

    fn command(&self, workspace: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(client_program());
        command
            .args(["model", "compare", "--workspace"])
            .arg(workspace)
            .args(args)
            .env("HIPPOD_HOME", self.scratch.home())
            .env("TMPDIR", &self.temporary)
            .stdin(Stdio::null());
        command
    }

    fn questions(&self, text: &str) -> String {
        let file = self.scratch.beside("questions.jsonl");
        fs::write(&file, text).unwrap();
        file.display().to_string()
    }

    fn run(&self, args: &[&str]) -> Output {
        self.run_in(&self.scratch.workspace(), args)
    }

    fn run_in(&self, workspace: &Path, args: &[&str]) -> Output {
        let output = self.command(workspace, args).output().unwrap();
        self.assert_clean();
        output
    }

    /// Panics if a comparison has left a file, or a daemon whose files were in its folder.
    fn assert_clean(&self) {
        assert_eq!(fs::read_dir(&self.temporary).unwrap().count(), 0);
        let folder = self.temporary.display().to_string();
        for process in fs::read_dir("/proc").unwrap() {
            let command = fs::read(process.unwrap().path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).into_owned();
            assert!(!command.contains(&folder), "{command}");
        }
    }

    fn report(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stderr, b"");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Returns the exit code and the message of a refused comparison.
    fn refusal(&self, args: &[&str]) -> (i32, String) {
        let output = self.run(args);
        assert_eq!(output.stdout, b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("\nhint: "), "{said}");
        (output.status.code().unwrap(), said)
    }
}

/// Returns the files below a folder with their contents. Links are followed.
fn contents(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => contents(&path, into),
            false => drop(into.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
}

#[test]
fn a_comparison_judges_each_model_and_changes_no_file_of_the_user() {
    let user = Comparison::new();
    let questions = user.questions(QUESTIONS);
    let snapshot = || {
        let mut files = BTreeMap::new();
        contents(&user.scratch.workspace(), &mut files);
        contents(&user.scratch.home().join("models"), &mut files);
        files
    };
    let before = snapshot();
    let report = user.report(&[DEFAULT, "toy", "hash", "--questions", &questions]);
    assert!(snapshot() == before, "a file has changed");
    assert_eq!(
        (&report["questions"], &report["with_evidence"]),
        (&3.into(), &3.into())
    );
    let models = report["models"].as_array().unwrap();
    let names: Vec<&Value> = models.iter().map(|model| &model["model"]).collect();
    assert_eq!(names, [DEFAULT, "toy", "hash"]);
    assert_eq!(
        (&models[0]["recall_at_10"], &models[0]["mrr"]),
        (&1.0.into(), &1.0.into())
    );
    assert!(models[2]["mrr"].as_f64().unwrap() < 1.0, "{report}");
    assert!(models[0]["bytes"].as_u64() > models[1]["bytes"].as_u64());
    assert_eq!(models[2]["bytes"], 0);
    for model in models {
        assert!(model["index_s"].as_f64().unwrap() > 0.0 && model["p50_ms"].as_f64().unwrap() > 0.0);
    }
    let difference = &report["differences"][0];
    assert_eq!(difference["first"][0]["evidence_rank"], 1);
    let note = report["notes"][0].as_str().unwrap();
    assert!(note.contains(DEFAULT) && note.ends_with(": toy, hash"), "{note}");

    let output = user.run(&[DEFAULT, "hash", "--questions", &questions]);
    let (said, rest) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(
        said.contains("100.0 %  1.000") && said.contains("(evidence at 1)"),
        "{said}"
    );
    assert!(!said.contains("same first"), "{said}");
    assert!(rest.contains("include a second ranking of results"), "{rest}");
}

#[test]
fn without_evidence_models_are_compared_with_the_first_by_their_results() {
    let user = Comparison::new();
    let (code, said) = user.refusal(&["hash", "toy"]);
    assert_eq!(code, 4);
    assert!(
        said.contains("no question") && said.contains("--questions FILE"),
        "{said}"
    );

    // Files that are memory only because of a trusted setting are compared as well.
    let mut client = user.daemon.client();
    for query in ["when did the kiln reach its heat", "ferry", "ferry"] {
        client.search(&user.scratch.workspace(), query);
    }
    let report = user.report(&["hash", "toy"]);
    assert_eq!(
        (&report["questions"], &report["with_evidence"]),
        (&2.into(), &0.into())
    );
    let models = report["models"].as_array().unwrap();
    assert_eq!(
        (&models[0]["same_first"], &models[0]["shared"]),
        (&2.into(), &1.0.into())
    );
    assert_eq!(models[0]["recall_at_10"], Value::Null);
    let questions = user.questions(r#"{"query": "when did the kiln reach its heat"}"#);
    let report = user.report(&["hash", DEFAULT, "--questions", &questions]);
    assert_eq!(
        (&report["models"][1]["same_first"], &report["differences"]),
        (&1.into(), &Value::Array(vec![]))
    );
    let said = user.run(&["hash", DEFAULT, "--questions", &questions]).stdout;
    assert!(String::from_utf8(said).unwrap().contains("1 of 1"));
}

#[test]
fn unusable_models_and_questions_are_refused_before_any_work() {
    let user = Comparison::new();
    let (code, said) = user.refusal(&["hash", "tpy"]);
    assert!(code == 4 && said.contains("no such model: tpy"), "{said}");
    let (code, said) = user.refusal(&["hash", "hash"]);
    assert!(code == 2 && said.contains("named twice: hash"), "{said}");
    let (code, said) = user.refusal(&["hash", "all-minilm-l6-v2"]);
    assert!(code == 4 && said.contains("it is absent"), "{said}");
    assert!(said.contains("hippoctl model pull all-minilm-l6-v2"), "{said}");
    fs::write(user.scratch.home().join("models/toy/tokenizer.json"), "{}").unwrap();
    let (code, said) = user.refusal(&["hash", "toy"]);
    assert!(
        code == 4 && said.contains("hippoctl model import DIR --name toy"),
        "{said}"
    );

    let evidence = |path: &str, first: u32, last: u32| {
        format!(
            r#"{{"query": "q", "evidence": [{{"path": "{path}", "start_line": {first}, "end_line": {last}}}]}}"#
        )
    };
    for (text, reason) in [
        (String::new(), "no question in "),
        ("\nwhere is it?\n".to_owned(), "could not use line 2 of "),
        (r#"{"question": "q"}"#.to_owned(), "missing field `query`"),
        (r#"{"query": "  "}"#.to_owned(), "the query is empty"),
        (
            format!(r#"{{"query": "{}"}}"#, "a ".repeat(9000)),
            "the query is longer than 16384 bytes",
        ),
        (
            r#"{"query": "q", "evidence": "memory/2026-03-02.md"}"#.to_owned(),
            "invalid type: string",
        ),
        (
            r#"{"query": "q", "evidence": [{"path": "memory/2026-03-02.md"}]}"#.to_owned(),
            "missing field `start_line`",
        ),
        (evidence("memory/2026-03-02.md", 0, 3), "no such lines: 0-3"),
        (evidence("memory/2026-03-02.md", 5, 3), "no such lines: 5-3"),
        (evidence("memory/2026-03-02.md", 1, 900), "no such lines: 1-900"),
        (
            evidence("memory/2026-03-09.md", 1, 3),
            "no such file in the workspace: memory/2026-03-09.md",
        ),
        (
            evidence("../questions.jsonl", 1, 1),
            "no such file in the workspace: ../questions.jsonl",
        ),
    ] {
        let (code, said) = user.refusal(&["hash", DEFAULT, "--questions", &user.questions(&text)]);
        assert!(code == 2 && said.contains(reason), "{text}: {said}");
        assert!(!said.contains("indexing"), "{said}");
    }
    let (code, said) = user.refusal(&["hash", DEFAULT, "--questions", "/no/such/file"]);
    assert!(code == 1 && said.contains("/no/such/file"), "{said}");
    assert_eq!(user.run(&["hash"]).status.code(), Some(2));

    let settings = user.scratch.home().join("config.toml");
    fs::write(&settings, "[search\n").unwrap();
    let (code, said) = user.refusal(&["hash", DEFAULT, "--questions", &user.questions(QUESTIONS)]);
    assert!(code == 1 && said.contains(settings.to_str().unwrap()), "{said}");
    assert!(!said.contains("copying"), "{said}");
}

#[test]
fn a_workspace_without_text_is_refused_and_leaves_no_files() {
    let user = Comparison::new();
    let empty = user.scratch.beside("empty");
    fs::create_dir_all(&empty).unwrap();
    user.daemon.client().index(&empty);
    let questions = user.questions(r#"{"query": "q"}"#);
    let output = user.run_in(&empty, &["hash", "toy", "--questions", &questions]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("no text to search") && said.contains("hint: "),
        "{said}"
    );
}

#[test]
fn an_interrupted_comparison_leaves_neither_files_nor_a_daemon() {
    let user = Comparison::new();
    let questions = user.questions(QUESTIONS);
    let mut command = user.command(
        &user.scratch.workspace(),
        &["hash", DEFAULT, "--questions", &questions],
    );
    let mut client = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(client.stderr.take().unwrap()).lines();
    let begins = lines.any(|line| line.unwrap().starts_with("hash: indexing"));
    assert!(begins);
    assert_eq!(fs::read_dir(&user.temporary).unwrap().count(), 1);
    let sent = Command::new("kill")
        .args(["-INT", &client.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    assert_eq!(client.wait().unwrap().code(), Some(130));
    user.assert_clean();
}
