//! Effects of an untrusted folder on the user who opens it.
//! The folder contains its own settings, links and records.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use hippo_proto::{
    ContextPutOutcome, ErrorKind, GetRequest, GetResponse, SettingsFile, WorkspaceTrustRequest,
    WorkspaceTrustResponse,
};
use hippod_tests::{Caller, PATIENCE, Scratch, client_program};
use serde_json::{Value, json};

use super::contexts::{listing, open, put, request};
use super::hostile_text::ask;

const SETTINGS: &str = ".hippocampus/config.toml";

/// Runs the command line in a folder, with the home of `scratch` and an event as input.
fn hippoctl(scratch: &Scratch, folder: &Path, words: &[&str], event: &str) -> Output {
    use std::io::Write as _;
    let mut child = Command::new(client_program())
        .args(words)
        .current_dir(folder)
        .env("HIPPOD_HOME", scratch.home())
        .env("ANTHROPIC_API_KEY", "sk-ant-of-the-user")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("hippoctl starts");
    // The write fails if the command has exited, because it needs no event.
    let _ = child.stdin.take().expect("a pipe").write_all(event.as_bytes());
    child.wait_with_output().expect("hippoctl ends")
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Waits until the workspace reports `count` settings files that are not trusted, and returns these files.
fn untrusted(client: &mut Caller, count: usize) -> Vec<SettingsFile> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let untrusted = client.status().workspaces.remove(0).untrusted;
        if untrusted.len() == count {
            return untrusted;
        }
        assert!(Instant::now() < deadline, "{untrusted:#?}");
    }
}

fn decide(client: &mut Caller, request: WorkspaceTrustRequest) -> WorkspaceTrustResponse {
    client.raw().call(&request.into()).expect("an answer")
}

fn keys(file: &SettingsFile) -> Vec<&str> {
    file.changes.iter().map(|change| change.key.as_str()).collect()
}

#[test]
fn settings_of_a_cloned_folder_have_no_effect_until_the_user_trusts_them() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    scratch.write("drafts/crane.txt", "# Crane\n\nThe harbour crane was oiled.\n");
    scratch.write("memory/a.md", "# Pump\n\nThe pump is blue.\n");
    scratch.write("memory/private/b.md", "# Key\n\nThe key is under the mat.\n");
    let text = "[sources]\ninclude = [\"drafts/*.txt\"]\nexclude = [\"memory/private\"]\n";
    scratch.write(SETTINGS, text);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&root);
    assert_eq!(
        client.status().workspaces[0].documents,
        1,
        "leaving out files needs no trust"
    );
    let files = untrusted(&mut client, 1);
    assert_eq!(
        (&*files[0].path, keys(&files[0])),
        (SETTINGS, vec!["sources.include"])
    );
    let problems = client.doctor(false).problems;
    let problem = problems
        .iter()
        .find(|problem| problem.id == "untrusted")
        .expect("a problem");
    assert!(problem.fix.contains("hippoctl workspace trust"), "{problem:?}");
    assert!(told(&hippoctl(&scratch, &root, &["status"], "")).contains("hippoctl workspace trust"));

    let shown = told(&hippoctl(
        &scratch,
        &root,
        &["workspace", "trust", "--dry-run"],
        "",
    ));
    assert!(
        shown.contains("sources.include: [] -> [\"drafts/*.txt\"]"),
        "{shown}"
    );
    assert!(shown.contains("nothing was changed"), "{shown}");
    untrusted(&mut client, 1);
    let shown = told(&hippoctl(&scratch, &root, &["workspace", "trust"], ""));
    assert!(shown.contains("config.toml: trusted"), "{shown}");
    untrusted(&mut client, 0);
    client.search_until(&root, "harbour crane", |answer| {
        answer.results.iter().any(|hit| hit.path == "drafts/crane.txt")
    });

    // After a change, the user must trust the file again.
    scratch.write(SETTINGS, text.replace("drafts/*.txt", "**/*.md"));
    untrusted(&mut client, 1);
    client.search_until(&root, "harbour crane", |answer| {
        answer.results.iter().all(|hit| hit.path != "drafts/crane.txt")
    });
    let stale = WorkspaceTrustRequest {
        workspace: root.display().to_string(),
        files: Some([(SETTINGS.to_owned(), files[0].hash.clone())].into()),
        ..WorkspaceTrustRequest::default()
    };
    match client.raw().call::<WorkspaceTrustResponse>(&stale.into()) {
        Err(hippo_proto::ClientError::Refused(error)) => assert_eq!(error.data.kind, ErrorKind::Conflict),
        other => panic!("{other:?}"),
    }
    scratch.write(SETTINGS, text);
    untrusted(&mut client, 0);
    let revoke = WorkspaceTrustRequest {
        workspace: root.display().to_string(),
        revoke: true,
        ..WorkspaceTrustRequest::default()
    };
    assert!(!decide(&mut client, revoke).files[0].trusted);
    untrusted(&mut client, 1);
}

#[test]
fn policies_and_limits_of_a_cloned_folder_are_listed_as_untrusted() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    scratch.write("memory/a.md", "# Pump\n\nThe pump is blue.\n");
    scratch.write(".hippocampus/policies.yaml", "decay_policies: []\n");
    scratch.write(
        "hipocampus.config.json",
        "{\"search\":{\"vector\":false},\"compaction\":{\"rootMaxTokens\":1000000,\"cooldownHours\":0},\"sessionCompaction\":{\"sparseThreshold\":0.0,\"maxSparseIndexTokens\":100}}",
    );
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&root);
    let files = untrusted(&mut client, 2);
    let asked: Vec<(&str, Vec<&str>)> = files.iter().map(|file| (&*file.path, keys(file))).collect();
    assert_eq!(
        asked,
        [
            (".hippocampus/policies.yaml", vec!["*"]),
            (
                "hipocampus.config.json",
                vec![
                    "compaction.rootMaxTokens",
                    "compaction.cooldownHours",
                    "sessionCompaction.sparseThreshold"
                ]
            ),
        ]
    );
    let all = WorkspaceTrustRequest {
        workspace: root.display().to_string(),
        ..WorkspaceTrustRequest::default()
    };
    assert!(decide(&mut client, all).files.iter().all(|file| file.trusted));
    untrusted(&mut client, 0);
}

#[test]
fn policies_of_a_cloned_folder_take_effect_only_with_trust() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let policies = ".hippocampus/policies.yaml";
    let text = "lifecycle_policies:\n  - match:\n      type: tool_result\n    action:\n      keep: false\n";
    scratch.write("memory/a.md", "# Pump\n\nThe pump is blue.\n");
    scratch.write(policies, text);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&root);
    let session = open(&mut client, &root, None).session;
    let mut turn = 0;
    let mut outcome = |client: &mut Caller| {
        turn += 1;
        let new = request(&session, turn, ("exec", "ls"), &listing(&format!("anchor{turn}")));
        let answer = put(client, new);
        let is_refused = answer.notes.iter().any(|note| note.contains("is not trusted"));
        (answer.outcome, is_refused)
    };
    let refused = (ContextPutOutcome::Entry, true);
    assert_eq!(outcome(&mut client), refused);
    hippoctl(&scratch, &root, &["workspace", "trust"], "");
    untrusted(&mut client, 0);
    assert_eq!(outcome(&mut client), (ContextPutOutcome::Dropped, false));
    scratch.write(policies, format!("{text}# changed\n"));
    assert_eq!(outcome(&mut client), refused);
}

#[test]
fn limits_of_an_untrusted_folder_can_only_narrow_a_compaction() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    scratch.write("memory/a.md", "# Pump\n\nThe pump is blue.\n");
    let numbers = json!({"maxSparseIndexTokens": 100, "sparseThreshold": 1.0, "compressThreshold": 1.0});
    let narrowed = json!({"maxSparseIndexTokens": 100});
    let file = json!({"sessionCompaction": numbers}).to_string();
    scratch.write("hipocampus.config.json", &file);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&root);
    untrusted(&mut client, 1);
    let said = |number: usize| {
        let role = ["user", "assistant", "tool"][number % 3];
        json!({"role": role, "content": format!("{number}: crate {number} goes to pier {}. {}", number % 5, "It is heavy. ".repeat(40))})
    };
    let messages: Vec<Value> = (0..60).map(said).collect();
    let compacted = |config: Option<&Value>| {
        let mut params = json!({"workspace": root, "messages": messages});
        if let Some(config) = config {
            params["config"] = config.clone();
        }
        let answer = ask(&daemon, "session.compact", params);
        let stats = &answer["stats"];
        let counts = ["kept", "compressed", "sparse", "dropped"].map(|name| stats[name].as_u64());
        (counts, stats["tokens_after"].as_u64())
    };
    let [narrow, wide, usual] = [narrowed, numbers.clone(), json!({})].map(|config| compacted(Some(&config)));
    assert!(narrow != wide && narrow != usual, "{narrow:?} {wide:?} {usual:?}");
    assert_eq!(compacted(None), narrow);
    hippoctl(&scratch, &root, &["workspace", "trust"], "");
    untrusted(&mut client, 0);
    assert_eq!(compacted(None), wide);
    scratch.write("hipocampus.config.json", format!("{file}\n"));
    assert_eq!(compacted(None), narrow);
}

#[test]
fn settings_of_a_cloned_folder_cannot_expose_hidden_files() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    scratch.write(".git/config", "[remote]\nurl = https://user:token@host\n");
    scratch.write(".env", "KEY=1\n");
    scratch.trusted(
        SETTINGS,
        "[sources]\ninclude = [\"**/*\", \".git/**\", \".env\"]\n",
    );
    scratch.write("notes/a.txt", "The pump is blue.\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&root);
    let mut get = |path: &str| {
        let request = GetRequest {
            workspace: Some(root.display().to_string()),
            path: Some(path.to_owned()),
            ..GetRequest::default()
        };
        client.raw().call::<GetResponse>(&request.into())
    };
    get("notes/a.txt").unwrap();
    for path in [".git/config", ".env", "notes/../.git/config"] {
        assert!(get(path).is_err(), "{path}");
    }
}

#[test]
fn huge_settings_of_a_cloned_folder_are_refused_with_bounded_memory() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    scratch.write("memory/a.md", "# Pump\n\nThe pump is blue.\n");
    let many = |count: usize| format!("[sources]\nexclude = [{}]\n", "\"a/**/*b*.md\",".repeat(count));
    scratch.write(SETTINGS, many(40_000));
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&root);
    for (count, why) in [(40_000, "large"), (3_000, "the maximum is 256")] {
        scratch.write(SETTINGS, many(count));
        let deadline = Instant::now() + PATIENCE;
        loop {
            let status = client.status().workspaces.remove(0);
            assert_ne!(status.degraded.as_deref(), Some("not-open"), "{status:?}");
            if status.settings.as_ref().is_some_and(|story| story.contains(why)) {
                break;
            }
            assert!(Instant::now() < deadline, "{status:?}");
        }
        assert!(!client.search(&root, "pump").results.is_empty());
    }
    #[cfg(target_os = "linux")]
    assert!(daemon.most_memory() < 300 << 10, "{} KiB", daemon.most_memory());
}

#[test]
fn a_session_hook_shows_no_foreign_file_and_no_unregistered_folder() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    fs::write(scratch.beside("credentials"), "aws_secret\n").unwrap();
    scratch.write(
        "hipocampus.config.json",
        "{\"compaction\":{\"rootMaxTokens\":1000000}}",
    );
    let event = json!({"session_id": "s", "cwd": root}).to_string();
    let start = |scratch: &Scratch| {
        let output = hippoctl(scratch, &root, &["--no-start", "hook", "session-start"], &event);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let place = root.join("memory/ROOT.md");
    for registered in [false, true] {
        if registered {
            let daemon = scratch.daemon();
            daemon.client().add(&root);
            daemon.terminate();
        }
        for target in ["/proc/self/environ", "../../credentials"] {
            let _ = fs::remove_file(&place);
            std::os::unix::fs::symlink(target, &place).unwrap();
            assert_eq!(start(&scratch), "", "{target}");
        }
        let _ = fs::remove_file(&place);
        fs::write(&place, "- the pump is blue\n").unwrap();
        assert_eq!(start(&scratch).contains("pump"), registered);
    }
    // Use a file in a parent folder of the workspace.
    fs::remove_file(&place).unwrap();
    fs::create_dir_all(scratch.beside("memory")).unwrap();
    fs::write(scratch.beside("memory/ROOT.md"), "- of another user\n").unwrap();
    let _ = fs::remove_file(root.join("HIPPOCAMPUS.md"));
    assert_eq!(start(&scratch), "");
}

#[test]
fn deinit_ignores_the_record_of_a_cloned_folder() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let config = "[core]\n";
    scratch.write(".git/config", config);
    let empty = scratch.beside("emptydir");
    fs::create_dir(&empty).unwrap();
    let bad = "[core]\n\tfsmonitor = \"touch /tmp/proof; false\"\n";
    let record = json!({
        "version": 1, "platforms": ["claude-code"], "registered": true, "index_is_new": true,
        "folders": ["../emptydir", empty],
        "files": {".git/config": {"made": false, "hash": "00", "splice": {"at": 0, "old": bad, "new": config}}},
    });
    scratch.write(".hippocampus/harness.json", record.to_string());
    let daemon = scratch.daemon();
    daemon.client().add(&root);
    for (words, code) in [
        (&["init", "--undo"], 4),
        (&["init", "--bare"], 0),
        (&["init", "--undo"], 0),
    ] {
        let output = hippoctl(&scratch, &root, words, "");
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", told(&output));
        assert_eq!(fs::read_to_string(root.join(".git/config")).unwrap(), config);
        assert!(empty.exists(), "{words:?}");
    }
}
