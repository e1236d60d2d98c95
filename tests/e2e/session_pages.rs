//! Search of the transcripts that agents leave in the user's home folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use hippo_proto::{
    Cycle, CycleReport, CycleRunRequest, RecallRequest, RecallResponse, SearchHit, SearchRequest,
    SearchResponse,
};
use hippod_tests::{Daemon, PATIENCE, Scratch};
use serde_json::{Value, json};

const PAGES: &str = ".hippocampus/sessions";

/// Writes a transcript that was last changed some minutes ago.
fn write(scratch: &Scratch, path: &str, minutes: u64, records: &[Value]) -> PathBuf {
    let file = scratch.beside("user").join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    age(&file, minutes);
    file
}

/// Sets the time of the last change.
fn age(file: &Path, minutes: u64) {
    let time = SystemTime::now() - Duration::from_secs(60 * minutes);
    fs::File::options()
        .write(true)
        .open(file)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

/// Returns the records of Claude Code for one prompt and its answer.
fn claude(cwd: &Path, asked: &str, told: &str) -> [Value; 2] {
    let record = |role: &str, text: &str, at: &str| {
        json!({
            "type": role, "uuid": at, "cwd": cwd, "timestamp": at, "message": {"role": role, "content": text},
        })
    };
    [
        record("user", asked, "2026-03-02T12:00:00Z"),
        record("assistant", told, "2026-03-02T12:00:30Z"),
    ]
}

fn start(scratch: &Scratch) -> Daemon {
    let home = scratch.beside("user").display().to_string();
    let settings = [
        ("HOME", home.as_str()),
        ("HIPPOD_SESSIONS_SEARCH", "true"),
        ("HIPPOD_SEARCH_TIMEZONE", "UTC"),
    ];
    Daemon::start(&scratch.home(), &settings)
}

/// Repeats a search until the answer has a hit that `accepts` accepts. The search is not recorded, because the answer to
/// a recorded question would be repeated.
fn find(daemon: &Daemon, root: &Path, query: &str, accepts: impl Fn(&SearchHit) -> bool) -> SearchHit {
    let mut client = daemon.client();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let request = SearchRequest {
            record: false,
            ..SearchRequest::new(root.display().to_string(), query)
        };
        let answer: SearchResponse = client.raw().call(&request.into()).unwrap();
        if let Some(hit) = answer.results.iter().find(|hit| accepts(hit)) {
            return hit.clone();
        }
        assert!(Instant::now() < deadline, "{query}: {answer:?} {}", daemon.log());
        std::thread::yield_now();
    }
}

fn pages(scratch: &Scratch) -> Vec<String> {
    let Ok(folder) = fs::read_dir(scratch.workspace().join(PAGES)) else {
        return Vec::new();
    };
    let mut names: Vec<String> = (folder)
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names
}

#[test]
fn a_decision_is_found_in_the_transcript_of_each_harness() {
    let scratch = Scratch::new();
    scratch.write("MEMORY.md", "# Memory\n\nThe plant has two pumps.\n");
    let root = scratch.workspace().canonicalize().unwrap();
    let below = root.join("control");
    write(
        &scratch,
        ".claude/projects/-plant/0b6f.jsonl",
        30,
        &claude(
            &below,
            "Why did we choose Modbus?",
            "Because the pumps of hall 3 speak nothing else.",
        ),
    );
    write(
        &scratch,
        ".codex/sessions/2026/03/03/rollout-2026-03-03T09-00-00-77aa.jsonl",
        30,
        &[
            json!({"timestamp": "2026-03-03T09:00:00Z", "type": "session_meta", "payload": {"id": "77aa", "cwd": &root}}),
            json!({"timestamp": "2026-03-03T09:00:01Z", "type": "response_item", "payload":
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Which baud rate?"}]}}),
            json!({"timestamp": "2026-03-03T09:00:09Z", "type": "response_item", "payload":
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "The converter needs 19200."}]}}),
        ],
    );
    let pi = |words: &str| {
        [
            json!({"type": "session", "id": "s", "timestamp": "2026-03-04T09:00:00Z", "cwd": &root}),
            json!({"type": "message", "id": "a", "timestamp": "2026-03-04T09:00:00Z", "message":
                {"role": "user", "content": [{"type": "text", "text": words}]}}),
        ]
    };
    write(
        &scratch,
        ".pi/agent/sessions/--plant--/x.jsonl",
        30,
        &pi("Label the cabinets in yellow."),
    );
    write(
        &scratch,
        ".openclaw/agents/main/sessions/y.jsonl",
        30,
        &pi("Order two gaskets."),
    );
    // These have no page: another folder, a subagent, a session that goes on, and one without a prompt.
    let other = claude(Path::new("/elsewhere"), "Elsewhere?", "Yes.");
    write(&scratch, ".claude/projects/-other/1.jsonl", 30, &other);
    write(
        &scratch,
        ".claude/projects/-plant/agent-2.jsonl",
        30,
        &claude(&root, "Sub?", "Yes."),
    );
    write(
        &scratch,
        ".claude/projects/-plant/3.jsonl",
        0,
        &claude(&root, "Live?", "Yes."),
    );
    write(
        &scratch,
        ".claude/projects/-plant/4.jsonl",
        30,
        &[json!({"type": "summary", "summary": "x", "cwd": &root})],
    );

    // Files that are no transcripts do no harm.
    let folder = scratch.beside("user").join(".claude/projects/-plant");
    fs::create_dir_all(folder.join("5.jsonl")).unwrap();
    for (name, bytes) in [("6.jsonl", &b""[..]), ("7.jsonl", b"\xff\xfe{\n{\"cwd\":1}\n\0")] {
        fs::write(folder.join(name), bytes).unwrap();
        age(&folder.join(name), 30);
    }

    let daemon = start(&scratch);
    daemon.client().index(&root);
    for (query, day, path) in [
        ("why Modbus hall 3", "2026-03-02", "claude-code"),
        ("converter baud rate 19200", "2026-03-03", "codex"),
        ("cabinets yellow", "2026-03-04", "pi"),
        ("gaskets", "2026-03-04", "openclaw"),
    ] {
        let place = format!("{PAGES}/{day}-{path}-");
        let hit = find(&daemon, &root, query, |hit| hit.path.starts_with(&place));
        assert_eq!(hit.date.as_deref(), Some(day));
        assert!(hit.heading.last().unwrap().starts_with(day), "{:?}", hit.heading);
    }
    assert_eq!(pages(&scratch).len(), 4, "{:?}", pages(&scratch));
    let page = scratch.workspace().join(PAGES).join(&pages(&scratch)[0]);
    let text = fs::read_to_string(page).unwrap();
    assert!(
        text.starts_with("# Claude Code session 0b6f\n\n<!-- transcript: /"),
        "{text}"
    );
    assert!(
        text.ends_with(
            " -->\n\n## 2026-03-02 12:00\n\nUser: Why did we choose Modbus?\n\nAssistant: Because the pumps of hall 3 \
             speak nothing else.\n"
        ),
        "{text}"
    );
    let ignored = fs::read_to_string(scratch.workspace().join(PAGES).join(".gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
}

#[test]
fn a_page_follows_its_transcript_and_outlives_it() {
    let scratch = Scratch::new();
    scratch.write("MEMORY.md", "# Memory\n\nThe plant has two pumps.\n");
    let root = scratch.workspace().canonicalize().unwrap();
    let place = ".claude/projects/-plant/0b6f.jsonl";
    write(
        &scratch,
        place,
        90,
        &claude(&root, "Which valve?", "The left one."),
    );
    let mut daemon = start(&scratch);
    daemon.client().index(&root);
    let has = |daemon: &Daemon, query: &str, text: &str| {
        find(daemon, &root, query, |hit| {
            hit.path.starts_with(PAGES) && hit.text.contains(text)
        });
    };
    has(&daemon, "which valve", "left");
    let before = pages(&scratch);
    drop(daemon);
    let file = write(
        &scratch,
        place,
        60,
        &claude(&root, "Which valve?", "The right one, says the drawing."),
    );
    let bytes = fs::read(&file).unwrap();
    daemon = start(&scratch);
    has(&daemon, "which valve", "right one, says");
    assert_eq!(pages(&scratch), before);
    assert_eq!(fs::read(&file).unwrap(), bytes, "transcripts are only read");
    drop(daemon);
    fs::remove_file(&file).unwrap();
    daemon = start(&scratch);
    has(&daemon, "which valve", "right one, says");
}

#[test]
fn sessions_are_searched_only_on_request_and_reach_no_prompt() {
    let scratch = Scratch::new();
    scratch.write("MEMORY.md", "# Memory\n\nThe plant has two pumps.\n");
    let root = scratch.workspace().canonicalize().unwrap();
    let told = "The gasket of the reactor is made of graphite, because rubber melted in May.";
    let transcript = claude(&root, "What is the gasket of the reactor made of?", told);
    write(&scratch, ".claude/projects/-plant/0b6f.jsonl", 30, &transcript);
    let home = scratch.beside("user").display().to_string();
    // A folder cannot turn the search on: its settings are not trusted.
    scratch.write(".hippocampus/config.toml", "[sessions]\nsearch = true\n");
    scratch.write(
        &format!("{PAGES}/2026-01-01-pi-00000000.md"),
        "# Forged\n\nUser: the reactor gasket is made of paper\n",
    );
    let daemon = Daemon::start(&scratch.home(), &[("HOME", &home)]);
    let mut client = daemon.client();
    client.index(&root);
    let found = client.search(&root, "reactor gasket").results;
    assert!(found.iter().all(|hit| hit.path == "MEMORY.md"), "{found:?}");
    assert_eq!(pages(&scratch).len(), 1);
    drop(client);
    drop(daemon);

    fs::remove_dir_all(scratch.workspace().join(PAGES)).unwrap();
    let daemon = start(&scratch);
    let mut client = daemon.client();
    find(&daemon, &root, "reactor gasket graphite", |hit| {
        hit.path.starts_with(PAGES)
    });
    client.sync(&root);
    let workspace = root.display().to_string();
    let run = CycleRunRequest {
        workspace: workspace.clone(),
        cycle: Cycle::Light,
        dry_run: false,
        at: None,
    };
    client.raw().call::<CycleReport>(&run.into()).unwrap();
    let map = fs::read_to_string(root.join("HIPPOCAMPUS.md")).unwrap();
    assert!(map.contains("MEMORY.md") && !map.contains("gasket"), "{map}");
    let recall = RecallRequest {
        workspace: workspace.clone(),
        prompt: "What is the gasket of the reactor made of?".to_owned(),
        session: None,
        client: None,
        wait_ms: Some(60_000),
    };
    let recalled: RecallResponse = client.raw().call(&recall.into()).unwrap();
    assert!(recalled.passages.is_empty(), "{recalled:?}");
    let request = SearchRequest {
        path: Some("memory/**".to_owned()),
        ..SearchRequest::new(workspace, "reactor gasket")
    };
    let found: SearchResponse = client.raw().call(&request.into()).unwrap();
    assert!(found.results.is_empty());
}

#[test]
fn an_assistant_in_a_transcript_corrects_no_memory() {
    let scratch = Scratch::new();
    let log = "memory/2026-03-01.md";
    scratch.write(
        log,
        "# 2026-03-01\n\n- The public port of the main boiler is 8443.\n",
    );
    let root = scratch.workspace().canonicalize().unwrap();
    let told = "I noted it.\n\nThe public port of the main boiler is 9001.";
    let transcript = claude(&root, "Note what you see.", told);
    write(&scratch, ".claude/projects/-plant/0b6f.jsonl", 30, &transcript);
    let daemon = start(&scratch);
    daemon.client().index(&root);
    let query = "public port of the main boiler";
    find(&daemon, &root, query, |hit| {
        hit.path.starts_with(PAGES) && hit.text.contains("9001")
    });
    let hit = find(&daemon, &root, query, |hit| hit.path == log);
    assert_eq!(hit.superseded_by, None);
}

#[test]
fn pages_are_not_written_through_a_link() {
    let scratch = Scratch::new();
    scratch.write("MEMORY.md", "# Memory\n\nThe plant has two pumps.\n");
    let root = scratch.workspace().canonicalize().unwrap();
    let outside = scratch.beside("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::create_dir_all(root.join(".hippocampus")).unwrap();
    std::os::unix::fs::symlink(&outside, root.join(PAGES)).unwrap();
    let transcript = claude(&root, "Which valve?", "The left one.");
    write(&scratch, ".claude/projects/-plant/0b6f.jsonl", 30, &transcript);
    let daemon = start(&scratch);
    daemon.client().index(&root);
    let deadline = Instant::now() + PATIENCE;
    while !daemon.log().contains("could not write the pages of sessions") {
        assert!(Instant::now() < deadline, "{}", daemon.log());
        std::thread::yield_now();
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}
