//! No text of an agent's private files reaches another reader, in generated workspaces.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hippo_proto::{
    AgentId, AuditRequest, ContextListRequest, Cycle, CycleHistoryRequest, DoctorRequest, GetRequest,
    HeartbeatRequest, IndexListRequest, IndexShowRequest, RecallLogRequest, RecallRequest, RecallWhyRequest,
    RememberRequest, Request, Scope, SearchMode, SearchRequest, StatusRequest, TreeCompactRequest,
    TreePendingRequest, TreeShowRequest, Viewer,
};
use hippod_tests::{Caller, Dice, PATIENCE, Scratch};
use serde_json::Value;

use super::scopes::ask_as;

/// Number of generated workspaces. `HIPPOD_TEST_LAYOUTS` sets another.
const LAYOUTS: usize = 5;
const AGENTS: [&str; 3] = ["scribe", "critic", "nova-7"];
const TOPICS: [&str; 5] = [
    "pump house",
    "staging port",
    "garden wall",
    "release plan",
    "night shift",
];

/// A file with a marker that no other file contains.
#[derive(Clone)]
struct MarkedFile {
    path: String,
    /// The agent in the front matter: none, an agent, or `private` without an agent.
    front: Option<&'static str>,
    topic: &'static str,
    marker: String,
}

impl MarkedFile {
    fn text(&self) -> String {
        let front = match self.front {
            None => String::new(),
            Some("private") => "---\nscope: private\n---\n".to_owned(),
            Some(agent) => format!("---\ntitle: Notes\nagent: {agent}\n---\n"),
        };
        let (topic, marker) = (self.topic, &self.marker);
        format!(
            "{front}# {topic} {marker}\n\n## Decision {marker}\n\n- decision: the {topic} gets {marker}, because it was \
             asked for\n- todo: check the {topic} again with {marker}\n- The {topic} was repaired in spring, says {marker}.\n"
        )
    }

    /// Returns the scope, computed independently of the daemon.
    fn scope(&self) -> Scope {
        let of_path = |path: &str| match path.strip_prefix("agents/").and_then(|rest| rest.split_once('/')) {
            Some((agent, _)) => agent.parse().map_or(Scope::Unclaimed, Scope::Private),
            None => Scope::Shared,
        };
        let scope = of_path(&self.path);
        match self.front {
            None => scope,
            Some("private") if scope.is_shared() => Scope::Unclaimed,
            Some("private") => scope,
            Some(agent) => scope.meet(Scope::Private(agent.parse().unwrap())),
        }
    }
}

fn place(dice: &mut Dice, number: usize) -> String {
    let day = 1 + dice.below(27);
    let shared = [
        format!("memory/2026-03-{day:02}-{number}.md"),
        format!("knowledge/n{number}.md"),
        format!("projects/red/n{number}.md"),
        format!("n{number}.md"),
    ];
    let agent = *dice.one_of(&AGENTS);
    let private = [
        format!("agents/{agent}/n{number}.md"),
        format!("agents/{agent}/memory/2026-03-{day:02}-{number}.md"),
        format!("agents/{agent}/knowledge/deep/n{number}.md"),
        format!("agents/Ada Lovelace/n{number}.md"),
    ];
    let places = if dice.below(2) == 0 { &shared } else { &private };
    dice.one_of(places).clone()
}

fn front(dice: &mut Dice) -> Option<&'static str> {
    match dice.below(8) {
        0 => Some("private"),
        1 => Some("scribe"),
        2 => Some("critic"),
        _ => None,
    }
}

fn put(root: &Path, file: &MarkedFile) {
    let path = root.join(&file.path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, file.text()).unwrap();
}

fn remove(root: &Path, file: &MarkedFile) {
    std::fs::remove_file(root.join(&file.path)).unwrap();
}

/// Runs everything that makes texts from texts.
fn derive(client: &mut Caller, root: &Path, at: &str) {
    client.accept_deletions(root);
    for cycle in [Cycle::Light, Cycle::Deep, Cycle::Archival] {
        client.run_at(root, cycle, at);
    }
    let tree = TreeCompactRequest {
        workspace: root.display().to_string(),
        at: Some(at.to_owned()),
        dry_run: false,
        when_due: false,
        take_over: false,
    };
    let _: Value = client.raw().call(&tree.into()).unwrap();
    client.run_at(root, Cycle::Light, at);
    // The daemon keeps the replaced index file for a moment, because an editor may still write to it.
    let deadline = Instant::now() + PATIENCE;
    let is_replacing = || {
        let mut names = std::fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().starts_with(".HIPPOCAMPUS.md"))
    };
    while is_replacing() {
        assert!(Instant::now() < deadline, "the replaced index file stays");
        client.sync(root);
    }
}

/// Returns every answer that a reader can get, without the questions that answers repeat.
fn everything(client: &mut Caller, root: &Path, agent: Option<&str>, files: &[MarkedFile]) -> String {
    let workspace = root.display().to_string();
    let mut text = String::new();
    let mut ask = |request: Request| {
        let asked = request.method();
        let answer = match ask_as(client, agent, request) {
            Ok(mut answer) => {
                if let Some(members) = answer.as_object_mut() {
                    members.remove("query");
                }
                answer
            }
            Err(error) => error.to_string().into(),
        };
        writeln!(text, "{asked}: {answer}").unwrap();
        answer
    };
    let mut questions: Vec<String> = TOPICS
        .iter()
        .map(|topic| format!("what about the {topic}?"))
        .collect();
    questions.extend(files.iter().map(|file| file.marker.clone()));
    for (number, question) in questions.iter().enumerate() {
        let modes = [
            SearchMode::Hybrid,
            SearchMode::Lexical,
            SearchMode::Index,
            SearchMode::Vector,
        ];
        let request = SearchRequest {
            mode: Some(modes[number % modes.len()]),
            explain: true,
            log: number < TOPICS.len(),
            record: number < TOPICS.len(),
            limit: Some(100),
            ..SearchRequest::new(&workspace, question)
        };
        ask(request.into());
    }
    for topic in TOPICS {
        ask(RecallRequest {
            workspace: workspace.clone(),
            prompt: format!("Please look at the {topic} again"),
            session: None,
            wait_ms: Some(60_000),
            client: None,
        }
        .into());
        ask(RecallWhyRequest {
            workspace: workspace.clone(),
            query: topic.to_owned(),
            ..Default::default()
        }
        .into());
    }
    for file in files {
        let get = GetRequest {
            workspace: Some(workspace.clone()),
            path: Some(file.path.clone()),
            ..Default::default()
        };
        ask(get.into());
        ask(RecallWhyRequest {
            workspace: workspace.clone(),
            query: file.topic.to_owned(),
            path: Some(file.path.clone()),
            line: Some(5),
            ..Default::default()
        }
        .into());
    }
    let list = IndexListRequest {
        workspace: workspace.clone(),
        archived: true,
        ..Default::default()
    };
    let listed = ask(list.into());
    for entry in listed["entries"].as_array().into_iter().flatten() {
        let id = entry["id"].as_str().unwrap().to_owned();
        ask(IndexShowRequest {
            workspace: workspace.clone(),
            id,
            at: None,
        }
        .into());
    }
    ask(RecallLogRequest {
        workspace: workspace.clone(),
        limit: Some(1000),
        before: None,
    }
    .into());
    ask(AuditRequest {
        workspace: workspace.clone(),
        examples: Some(100),
    }
    .into());
    ask(HeartbeatRequest {
        workspace: workspace.clone(),
    }
    .into());
    ask(TreeShowRequest {
        workspace: workspace.clone(),
        node: None,
    }
    .into());
    ask(TreePendingRequest {
        workspace: workspace.clone(),
        limit: None,
    }
    .into());
    ask(ContextListRequest {
        workspace: Some(workspace.clone()),
        ..Default::default()
    }
    .into());
    ask(CycleHistoryRequest {
        workspace: workspace.clone(),
        ..Default::default()
    }
    .into());
    ask(DoctorRequest {
        workspace: Some(workspace),
        ..Default::default()
    }
    .into());
    ask(StatusRequest {}.into());
    text
}

/// Returns the files below a folder, except databases, with their text.
fn written(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && !path.to_string_lossy().contains(".db") {
                let bytes = std::fs::read(&path).unwrap_or_default();
                files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    files
}

fn check(scratch: &Scratch, client: &mut Caller, root: &Path, files: &[MarkedFile], moment: &str) {
    for agent in [None].into_iter().chain(AGENTS.map(Some)) {
        let viewer = Viewer(agent.map(|agent| agent.parse::<AgentId>().unwrap()));
        let text = everything(client, root, agent, files);
        for file in files {
            let sees = viewer.sees(&file.scope());
            let line = text.lines().find(|line| line.contains(&file.marker));
            let (path, scope) = (&file.path, file.scope());
            assert_eq!(
                line.is_some(),
                sees,
                "{moment}: {agent:?} {path} {scope}: {line:?}"
            );
        }
    }
    let sources: Vec<PathBuf> = files.iter().map(|file| root.join(&file.path)).collect();
    let all = written(root).into_iter().chain(written(&scratch.home()));
    for (path, text) in all.filter(|(path, _)| !sources.contains(path)) {
        for file in files.iter().filter(|file| !file.scope().is_shared()) {
            assert!(
                !text.contains(&file.marker),
                "{moment}: {} is in {}: {text}",
                file.path,
                path.display()
            );
        }
    }
}

#[test]
fn no_private_text_reaches_another_reader() {
    let layouts = std::env::var("HIPPOD_TEST_LAYOUTS").ok();
    let layouts = layouts.map_or(LAYOUTS, |number| number.parse().unwrap());
    let mut dice = Dice::new();
    let scratch = Scratch::new();
    let daemon = hippod_tests::Daemon::start(
        &scratch.home(),
        &[
            hippod_tests::QUIET[0],
            hippod_tests::QUIET[1],
            hippod_tests::QUIET[2],
            ("HIPPOD_LOG_LEVEL", "trace"),
            ("HIPPOD_TREE_KEEP", "always"),
        ],
    );
    let mut client = daemon.client();
    for layout in 0..layouts {
        let root = scratch.beside(&format!("w{layout}"));
        std::fs::create_dir_all(root.join("memory")).unwrap();
        let root = root.canonicalize().unwrap();
        let mut files: Vec<MarkedFile> = Vec::new();
        for number in 0..8 + dice.below(6) {
            let file = MarkedFile {
                path: place(&mut dice, number),
                front: front(&mut dice),
                topic: TOPICS[dice.below(TOPICS.len())],
                marker: format!("zq{layout}x{number}kv"),
            };
            put(&root, &file);
            files.push(file);
        }
        // Links show texts of private files at shared paths.
        let link = |target: &str, path: &str| std::os::unix::fs::symlink(root.join(target), root.join(path));
        std::fs::create_dir_all(root.join("agents/scribe")).unwrap();
        link("agents/scribe", "desk").unwrap();
        link(&dice.one_of(&files).path, "memory/2026-03-28-link.md").unwrap();
        client.index(&root);
        let mut own: Vec<MarkedFile> = Vec::new();
        for moment in ["new", "moved"] {
            if moment == "moved" {
                for (number, file) in files.iter_mut().enumerate() {
                    match dice.below(4) {
                        0 => {
                            let before = file.clone();
                            file.path = place(&mut dice, number);
                            if file.path != before.path {
                                put(&root, file);
                                remove(&root, &before);
                            }
                        }
                        1 => {
                            file.front = front(&mut dice);
                            put(&root, file);
                        }
                        _ => {}
                    }
                }
                let gone = files.remove(dice.below(files.len()));
                remove(&root, &gone);
            }
            let private = RememberRequest {
                workspace: root.display().to_string(),
                text: format!("The {} stays between us: zq{layout}{moment}own", TOPICS[0]),
                private: true,
                ..RememberRequest::default()
            };
            let remembered = ask_as(&mut client, Some(AGENTS[0]), private).unwrap();
            derive(&mut client, &root, "2026-12-01T12:00:00Z");
            let path = remembered["path"].as_str().unwrap();
            own.push(MarkedFile {
                path: path.to_owned(),
                front: None,
                topic: TOPICS[0],
                marker: format!("zq{layout}{moment}own"),
            });
            let all: Vec<MarkedFile> = files.iter().chain(&own).cloned().collect();
            check(&scratch, &mut client, &root, &all, moment);
        }
    }
    daemon.kill();
}
