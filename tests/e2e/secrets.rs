//! Secrets of every listed format: planted in each source, and looked for in all derived text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hippod_tests::{Daemon, QUIET, Scratch};
use serde_json::{Value, json};

use super::hostile_text::{ask, hook};

#[path = "../../crates/core/hippo-redact/tests/secrets/planted.rs"]
mod planted;
use planted::{Dice, Planted, formats, planted};

/// Number of formats in one workspace. It is small enough that each format gets a line in `HIPPOCAMPUS.md` and in
/// `ROOT.md`.
const BATCH: usize = 12;
/// Date of the planted daily log, and date of the transcript.
const LOGGED: &str = "2026-03-02";
const FLUSHED: &str = "2026-03-05";
/// Places in which nearly every format must leave some text, so that the check for secrets is meaningful.
#[rustfmt::skip] // keep several names per line
const TELLING: [&str; 15] = [
    "HIPPOCAMPUS.md", "index.list", "daily nodes", "weekly nodes", "monthly nodes", "ROOT.md", "session-start hook",
    "entry summary", "entry source.ref", "entry key_data", "context.render", "session.compact", "flushed logs",
    "persisted lines", "remember",
];

/// One listed format of secrets.
struct Format {
    name: &'static str,
    template: &'static str,
    /// Word that appears next to each secret of this format.
    marker: String,
    /// Planted secrets, each with its source.
    secrets: Vec<(&'static str, Planted)>,
}

impl Format {
    /// Plants a new secret of this format in a source.
    fn plant(&mut self, source: &'static str, dice: &mut Dice) -> String {
        let secret = planted(self.template, dice);
        let text = secret.text.clone();
        self.secrets.push((source, secret));
        text
    }
}

/// Derived text of one workspace, by the place where it was found.
type Places = BTreeMap<&'static str, String>;

fn write(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// Writes memory files with the secrets in paragraphs, list items, tables and headings.
fn plant_files(root: &Path, batch: &mut [Format], dice: &mut Dice) {
    let (mut memory, mut log) = ("# Memory\n\n".to_owned(), format!("# {LOGGED}\n\n"));
    for format in batch {
        let marker = format.marker.clone();
        let mut secret = |source| format.plant(source, dice);
        let (paragraph, item, row) = (secret("paragraph"), secret("item"), secret("row"));
        let page = format!(
            "# {marker} of hall 3\n\nThe {marker} valve opens with this:\n{paragraph}\n\n## {marker} access\n\n- {marker} uses {item}\n\n\
             | part | value |\n|---|---|\n| {marker} | {row} |\n"
        );
        write(root, &format!("knowledge/{marker}.md"), &page);
        let heading = secret("heading").replace('\n', " ");
        write(
            root,
            &format!("knowledge/{marker}-2.md"),
            &format!("# {heading}\n\nAbout the {marker}.\n"),
        );
        write!(
            memory,
            "## {marker}\n\nThe {marker} needs {}\n\n",
            secret("MEMORY.md")
        )
        .unwrap();
        let (decided, said) = (secret("decision"), secret("feedback"));
        write!(
            log,
            "## {marker} pump [project]\n\n- decision: {marker} runs with {decided}\n- user feedback: {marker} takes {said}\n\n"
        )
        .unwrap();
    }
    write(root, "MEMORY.md", &memory);
    write(root, &format!("memory/{LOGGED}.md"), &log);
}

/// Returns a transcript with secrets in requests, replies, tool calls and tool results.
fn transcript(batch: &mut [Format], dice: &mut Dice) -> String {
    let mut text = String::new();
    for (number, format) in batch.iter_mut().enumerate() {
        let marker = format.marker.clone();
        let mut secret = |source| format.plant(source, dice);
        let call = format!("c{number}");
        let messages = [
            (
                "user",
                json!(format!("Please set up the {marker}: {}", secret("asked"))),
            ),
            (
                "assistant",
                json!(format!(
                    "It was decided that {marker} runs with {}",
                    secret("said")
                )),
            ),
            (
                "assistant",
                json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": format!("{marker} --set {}", secret("called"))}}]),
            ),
            (
                "user",
                json!([{"type": "tool_result", "tool_use_id": call, "is_error": true, "content": format!("{marker}: error: {}", secret("answered"))}]),
            ),
            (
                "user",
                json!(format!("No, use {} for {marker} instead", secret("corrected"))),
            ),
            (
                "assistant",
                json!(format!("The {marker} is fixed with {}", secret("done"))),
            ),
        ];
        for (second, (role, content)) in messages.into_iter().enumerate() {
            let record = json!({"type": role, "uuid": format!("{number}-{second}"),
                "timestamp": format!("{FLUSHED}T09:{number:02}:{second:02}Z"), "message": {"role": role, "content": content}});
            writeln!(text, "{record}").unwrap();
        }
    }
    text
}

/// Puts three entries into a session: two tool results, whose summaries are derived, and a state with its own
/// summary.
fn put(daemon: &Daemon, session: &str, format: &mut Format, dice: &mut Dice, places: &mut Places) {
    let marker = format.marker.clone();
    let mut secret = |source| format.plant(source, dice);
    let filler: String = (0..40)
        .map(|line| format!("line {line} of {marker} is fine\n"))
        .collect();
    let output = format!(
        "error: {marker} failed with {}\n{filler}\n{marker} = {}\n",
        secret("output"),
        secret("output end")
    );
    let json_output = json!({"name": marker, "status": "failed", "setting": secret("output json"), "error": format!("{marker}: {}", secret("output json error"))});
    let puts = [
        json!({"type": "tool_result", "source": {"type": "exec", "ref": format!("{marker} --with {}", secret("ref"))}, "content": output,
            "error": true, "lifecycle": {"persist": true}}),
        json!({"type": "tool_result", "source": {"type": "http", "ref": marker}, "content": json_output.to_string(), "error": true}),
        json!({"type": "state", "source": {"type": "agent", "ref": ""}, "content": filler, "summary": format!("{marker} runs with {}", secret("summary")),
            "key_data": {"name": marker, "setting": secret("key_data")}, "lifecycle": {"persist": true}}),
    ];
    for mut put in puts {
        put["session"] = session.into();
        put["turn"] = 1.into();
        let entry = ask(daemon, "context.put", put)["entry"].clone();
        assert!(entry.is_object(), "{marker}");
        let mut show =
            |place, value: &Value| writeln!(places.entry(place).or_default(), "{}", plain(value)).unwrap();
        show("entry summary", &entry["summary"]);
        show("entry source.ref", &entry["source"]["ref"]);
        show("entry key_data", &entry["key_data"]);
    }
}

/// Returns all strings in a JSON value, unescaped, one per line.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(|value| plain(value) + "\n").collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| format!("{key}: {}\n", plain(value)))
            .collect(),
        other => other.to_string(),
    }
}

/// Returns the concatenated text of all files below a folder.
fn files(folder: PathBuf) -> String {
    let mut folders = vec![folder];
    let mut all = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let bytes = std::fs::read(entry.path()).unwrap();
                writeln!(
                    all,
                    "{}\n{}",
                    entry.path().display(),
                    String::from_utf8_lossy(&bytes)
                )
                .unwrap();
            }
        }
    }
    all
}

/// Returns the log lines that `context.close` appended.
fn persisted(root: &Path, closed: &Value) -> String {
    let mut lines = String::new();
    for entry in closed["persisted"].as_array().unwrap() {
        let log = std::fs::read_to_string(root.join(entry["path"].as_str().unwrap())).unwrap();
        let line = entry["line"].as_u64().unwrap() as usize;
        writeln!(lines, "{}", log.lines().nth(line - 1).unwrap()).unwrap();
    }
    lines
}

/// Plants the secrets of some formats in a workspace, and returns all text that is derived from them.
fn derived(daemon: &Daemon, home: &Path, root: &Path, batch: &mut [Format], dice: &mut Dice) -> Places {
    let mut places = Places::new();
    plant_files(root, batch, dice);
    daemon.client().index(root);
    let here = |mut params: Value| {
        params["workspace"] = json!(root);
        params
    };
    // In the log, the daemon writes the headings, and the user writes the text below them.
    let today_before = today(root);
    for (given, format) in batch.iter_mut().enumerate() {
        let marker = format.marker.clone();
        let (text, topic) = (
            format.plant("remember", dice),
            format.plant("topic", dice).replace('\n', " "),
        );
        let tag = format.plant("tag", dice).replace('\n', " ");
        // Without a topic, the daemon derives the heading from the text.
        let topic = (given % 2 == 0).then(|| format!("{marker} {topic}"));
        let text = format!("The {marker} of the pier takes {text}");
        let answer = ask(
            daemon,
            "remember",
            here(json!({"text": text, "topic": topic, "tags": [tag]})),
        );
        writeln!(places.entry("remember").or_default(), "{}", plain(&answer)).unwrap();
    }
    let headings: String = today(root)
        .lines()
        .filter(|line| line.starts_with("## ") && !today_before.contains(line))
        .fold(String::new(), |all, line| all + line + "\n");
    places.insert("headings of remember", headings);

    let path = root.with_extension("jsonl");
    std::fs::write(&path, transcript(batch, dice)).unwrap();
    let compacted = ask(daemon, "session.compact", here(json!({"path": path})));
    places.insert("session.compact", plain(&compacted));
    let small = ask(
        daemon,
        "session.compact",
        here(json!({"path": path, "budget_tokens": 400})),
    );
    places.insert("session.compact within a budget", plain(&small));
    let flushed = ask(
        daemon,
        "session.flush",
        here(json!({"path": path, "session": "s1", "compact": true})),
    );
    let log = std::fs::read_to_string(root.join(format!("memory/{FLUSHED}.md"))).unwrap();
    places.insert("flushed logs", plain(&flushed) + &log);

    let name = root.file_name().unwrap().to_str().unwrap();
    ask(daemon, "context.open", here(json!({"session": name})));
    for format in &mut *batch {
        put(daemon, name, format, dice, &mut places);
    }
    let rendered = ask(
        daemon,
        "context.render",
        json!({"session": name, "budget_tokens": 100_000}),
    );
    places.insert("context.render", plain(&rendered));
    places.insert(
        "context.list",
        plain(&ask(daemon, "context.list", json!({"session": name}))),
    );
    let closed = ask(daemon, "context.close", json!({"session": name}));
    places.insert("persisted lines", plain(&closed) + &persisted(root, &closed));

    daemon.client().sync(root);
    for cycle in ["light", "deep", "archival"] {
        let report = ask(daemon, "cycle.run", here(json!({"cycle": cycle})));
        writeln!(places.entry("cycle.run").or_default(), "{}", plain(&report)).unwrap();
    }
    let made = ask(daemon, "tree.compact", here(json!({})));
    places.insert("tree.compact", plain(&made));
    let runs = ask(daemon, "cycle.history", here(json!({"run": 1})));
    places.insert("cycle.history", plain(&runs));
    for (place, method, params) in [
        ("heartbeat", "heartbeat", json!({})),
        ("audit", "audit", json!({})),
        ("tree.pending", "tree.pending", json!({"limit": 100})),
        ("tree.show", "tree.show", json!({})),
        ("index.list", "index.list", json!({"archived": true})),
        ("doctor", "doctor", json!({})),
    ] {
        places.insert(place, plain(&ask(daemon, method, here(params))));
    }
    places.insert("status", plain(&ask(daemon, "status", json!({}))));
    for (place, folder) in [
        ("files below .hippocampus", ".hippocampus"),
        ("daily nodes", "memory/daily"),
        ("weekly nodes", "memory/weekly"),
        ("monthly nodes", "memory/monthly"),
    ] {
        places.insert(place, files(root.join(folder)));
    }
    for (place, path) in [
        ("HIPPOCAMPUS.md", "HIPPOCAMPUS.md"),
        ("ROOT.md", "memory/ROOT.md"),
    ] {
        places.insert(place, std::fs::read_to_string(root.join(path)).unwrap());
    }
    places.insert("session-start hook", hook(home, root, "session-start"));
    places
}

/// Returns the text of today's log.
fn today(root: &Path) -> String {
    let today = jiff::Zoned::now().date();
    std::fs::read_to_string(root.join(format!("memory/{today}.md"))).unwrap_or_default()
}

#[test]
fn no_secret_of_a_listed_format_reaches_derived_text() {
    let scratch = Scratch::new();
    let settings = [
        ("HIPPOD_LOG_LEVEL", "debug"),
        ("HIPPOD_TREE_KEEP", "always"),
        ("HIPPOD_TREE_SUMMARIES", "agent"),
    ];
    let daemon = Daemon::start(&scratch.home(), &[&QUIET[..], &settings[..]].concat());
    let mut dice = Dice(0x00c0_ffee);
    let all = formats();
    let (mut pairs, mut leaks) = (0, Vec::new());
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, formats) in all.chunks(BATCH).enumerate() {
        let mut batch: Vec<Format> = Vec::new();
        for (at, (name, template)) in formats.iter().enumerate() {
            let marker = format!("zone{:03}", number * BATCH + at);
            batch.push(Format {
                name,
                template,
                marker,
                secrets: Vec::new(),
            });
        }
        let root = scratch.beside(&format!("workspace-{number}"));
        std::fs::create_dir_all(&root).unwrap();
        let mut places = derived(&daemon, &scratch.home(), &root, &mut batch, &mut dice);
        places.insert("log of the daemon", daemon.log());
        for (place, text) in &places {
            for format in &batch {
                pairs += 1;
                *shown.entry(place).or_default() += usize::from(text.contains(&format.marker));
                let seen = format.secrets.iter().filter(|(_, secret)| secret.is_seen(text));
                let seen: Vec<&str> = seen.map(|(source, _)| *source).collect();
                if !seen.is_empty() {
                    leaks.push(format!("{} in {place}: from {}", format.name, seen.join(", ")));
                }
            }
        }
    }
    println!(
        "{} leaks in {pairs} pairs of a format and a place; formats shown by place: {shown:?}\n{}",
        leaks.len(),
        leaks.join("\n")
    );
    for place in TELLING {
        let (seen, of) = (shown[place], all.len());
        assert!(seen * 5 >= of * 4, "{place} shows {seen} of {of} formats");
    }
    assert!(
        leaks.len() * 100 <= pairs,
        "{} of {pairs}:\n{}",
        leaks.len(),
        leaks.join("\n")
    );
}
