//! Scopes of the agents of one workspace.

use std::path::Path;

use hippo_proto::{
    ClientError, ContextFetchRequest, ContextListRequest, ContextOpenRequest, Cycle, ErrorKind, GetRequest,
    IndexListRequest, RecallLogRequest, RememberRequest, Request, SearchMode, SearchRequest,
    SessionFlushRequest,
};
use hippod_tests::{Caller, Daemon, Scratch};
use serde_json::Value;

/// Sends a request as an agent, or without one.
pub(super) fn ask_as(
    client: &mut Caller,
    agent: Option<&str>,
    request: impl Into<Request>,
) -> Result<Value, ClientError> {
    client.raw().set_agent(agent.map(|agent| agent.parse().unwrap()));
    let answer = client.raw().call(&request.into());
    client.raw().set_agent(None);
    answer
}

/// Returns the paths that a search finds.
fn found(client: &mut Caller, root: &Path, agent: Option<&str>, query: &str) -> Vec<String> {
    let request = SearchRequest {
        mode: Some(SearchMode::Lexical),
        ..SearchRequest::new(root.display().to_string(), query)
    };
    let answer = ask_as(client, agent, request).unwrap();
    let paths = answer["results"].as_array().unwrap().iter();
    paths
        .map(|hit| hit["path"].as_str().unwrap().to_owned())
        .collect()
}

pub(super) fn get(root: &Path, path: &str) -> GetRequest {
    GetRequest {
        workspace: Some(root.display().to_string()),
        path: Some(path.to_owned()),
        ..GetRequest::default()
    }
}

pub(super) fn started(files: &[(&str, &str)]) -> (Scratch, Daemon, Caller) {
    let scratch = Scratch::new();
    for (path, text) in files {
        scratch.write(path, text);
    }
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

const FILES: [(&str, &str); 5] = [
    (
        "knowledge/pump.md",
        "# Pump\n\n- The pump house has a blue door.\n",
    ),
    (
        "agents/scribe/notes.md",
        "# Draft\n\n- The heroine owns a blue lantern.\n",
    ),
    (
        "agents/critic/notes.md",
        "# Review\n\n- The blue lantern is a cliche.\n",
    ),
    (
        "knowledge/mine.md",
        "---\nagent: scribe\n---\n# Mine\n\n- A blue secret garden.\n",
    ),
    (
        "knowledge/lost.md",
        "---\nscope: private\n---\n# Lost\n\n- A blue note of no agent.\n",
    ),
];

#[test]
fn an_agent_finds_shared_texts_and_its_own() {
    let (scratch, _daemon, mut client) = started(&FILES);
    let root = scratch.workspace();
    let mut of = |agent| {
        let mut paths = found(&mut client, &root, agent, "blue");
        paths.sort();
        paths
    };
    assert_eq!(of(None), ["knowledge/pump.md"]);
    assert_eq!(
        of(Some("scribe")),
        ["agents/scribe/notes.md", "knowledge/mine.md", "knowledge/pump.md"]
    );
    assert_eq!(
        of(Some("critic")),
        ["agents/critic/notes.md", "knowledge/pump.md"]
    );
    assert_eq!(of(Some("nova")), ["knowledge/pump.md"]);
    let request = SearchRequest::new(root.display().to_string(), "blue lantern");
    let answer = ask_as(&mut client, Some("critic"), request).unwrap();
    let mut hits = answer["results"].as_array().unwrap().iter();
    let own = hits.find(|hit| hit["path"] == "agents/critic/notes.md").unwrap();
    assert_eq!(own["scope"], "private:critic");
    let status = &client.status().workspaces[0];
    assert_eq!((status.documents, status.private, status.unclaimed), (5, 3, 1));
}

#[test]
fn a_private_path_of_another_agent_is_answered_like_a_missing_one() {
    let (scratch, _daemon, mut client) = started(&FILES);
    let root = scratch.workspace();
    let mut answer = |agent, path: &str| ask_as(&mut client, agent, get(&root, path));
    assert!(answer(Some("scribe"), "agents/scribe/notes.md").is_ok());
    assert!(answer(Some("scribe"), "knowledge/mine.md").is_ok());
    for agent in [None, Some("critic")] {
        let mut refusals = Vec::new();
        for path in [
            "agents/scribe/notes.md",
            "agents/scribe/none.md",
            "agents/scribe",
            "knowledge/mine.md",
        ] {
            let absolute = root.join(path).display().to_string();
            for path in [path, &format!("{path} §Draft"), &absolute] {
                match answer(agent, path) {
                    Err(ClientError::Refused(error)) => {
                        assert_eq!(error.data.kind, ErrorKind::NotFound, "{error:?}");
                        let is_missing = error.message.starts_with("no such file: ");
                        refusals.push((is_missing, error.data.hint));
                    }
                    other => panic!("{agent:?} {path}: {other:?}"),
                }
            }
        }
        refusals.dedup();
        assert!(matches!(refusals[..], [(true, _)]), "{refusals:?}");
    }
    // The name of a note finds only notes that the reader may see.
    assert!(answer(Some("scribe"), "mine").is_ok());
    assert!(answer(Some("critic"), "mine").is_err());
}

#[test]
fn a_private_text_is_found_by_its_agent_only_and_has_no_shared_entry() {
    let (scratch, _daemon, mut client) = started(&FILES);
    let root = scratch.workspace();
    let request = RememberRequest {
        workspace: root.display().to_string(),
        text: "The password hint is turquoise".to_owned(),
        private: true,
        ..RememberRequest::default()
    };
    let refused = ask_as(&mut client, None, request.clone()).unwrap_err();
    assert!(refused.to_string().contains("needs an agent"), "{refused}");
    let answer = ask_as(&mut client, Some("scribe"), request).unwrap();
    let path = answer["path"].as_str().unwrap();
    assert!(path.starts_with("agents/scribe/memory/"), "{path}");
    assert!(answer["entry"].is_null());
    assert_eq!(found(&mut client, &root, Some("scribe"), "turquoise"), [path]);
    assert!(found(&mut client, &root, Some("critic"), "turquoise").is_empty());
    assert!(found(&mut client, &root, None, "turquoise").is_empty());
    client.run(&root, Cycle::Deep);
    assert!(!scratch.index_file().contains("turquoise"));
    let list = |private| IndexListRequest {
        workspace: root.display().to_string(),
        private,
        ..IndexListRequest::default()
    };
    let own = ask_as(&mut client, Some("scribe"), list(true)).unwrap();
    assert!(own.to_string().contains("turquoise"), "{own}");
    assert_eq!(own["entries"][0]["scope"], "private:scribe");
    let other = ask_as(&mut client, Some("critic"), list(false))
        .unwrap()
        .to_string();
    assert!(
        !other.contains("turquoise") && other.contains("cliche"),
        "{other}"
    );
}

#[test]
fn the_entries_of_a_shared_file_vanish_when_it_becomes_private_and_return_later() {
    let (scratch, _daemon, mut client) = started(&[
        (
            "knowledge/pump.md",
            "# Pump house\n\n- The pump house has a vermilion door.\n",
        ),
        ("knowledge/well.md", "# Well\n\n- The well has an indigo lid.\n"),
        (
            "memory/2026-03-02.md",
            "# 2026-03-02\n\n## Lamp\n\n- decision: the lamp is amaranth, because it was cheap\n",
        ),
    ]);
    let root = scratch.workspace();
    client.run(&root, Cycle::Light);
    let text = |scratch: &Scratch| {
        let kept = scratch.kept_files().into_iter();
        kept.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned())
            .collect::<String>()
    };
    for word in ["vermilion", "indigo", "amaranth"] {
        assert!(text(&scratch).contains(word), "{word}");
    }
    // One file names its agent, one is moved to the folder of an agent.
    scratch.write(
        "knowledge/pump.md",
        "---\nagent: scribe\n---\n# Pump house\n\n- The pump house has a vermilion door.\n",
    );
    std::fs::create_dir_all(root.join("agents/scribe")).unwrap();
    std::fs::rename(root.join("knowledge/well.md"), root.join("agents/scribe/well.md")).unwrap();
    client.sync(&root);
    for cycle in [Cycle::Light, Cycle::Deep, Cycle::Archival] {
        client.run(&root, cycle);
        for word in ["vermilion", "indigo", "Pump house"] {
            assert!(
                !text(&scratch).contains(word),
                "{word} after {cycle}: {}",
                text(&scratch)
            );
        }
        assert!(text(&scratch).contains("amaranth"));
    }
    let all = client.listed(&root, true, None);
    assert!(!format!("{all:?}").contains("indigo"), "{all:?}");
    assert_eq!(
        found(&mut client, &root, Some("scribe"), "indigo"),
        ["agents/scribe/well.md"]
    );
    // A file that is shared again has entries again.
    std::fs::rename(root.join("agents/scribe/well.md"), root.join("knowledge/well.md")).unwrap();
    client.sync(&root);
    client.run(&root, Cycle::Light);
    assert!(text(&scratch).contains("indigo"));
    assert_eq!(found(&mut client, &root, None, "indigo"), ["knowledge/well.md"]);
}

#[test]
fn a_changed_pattern_takes_effect_like_a_changed_file() {
    let (scratch, _daemon, mut client) = started(&[
        ("desk/scribe/a.md", "# Desk\n\n- The desk is cerulean.\n"),
        ("knowledge/pump.md", "# Pump\n\n- The pump is loud.\n"),
    ]);
    let root = scratch.workspace();
    client.run(&root, Cycle::Light);
    assert_eq!(found(&mut client, &root, None, "cerulean"), ["desk/scribe/a.md"]);
    assert!(scratch.index_file().contains("cerulean"));
    // More private files need no trust.
    scratch.write(
        ".hippocampus/config.toml",
        "[scopes]\nprivate = [\"desk/{agent}/**\"]\n",
    );
    wait_for(&mut client, &root, |client| {
        found(client, &root, None, "cerulean").is_empty()
    });
    assert_eq!(
        found(&mut client, &root, Some("scribe"), "cerulean"),
        ["desk/scribe/a.md"]
    );
    client.run(&root, Cycle::Light);
    assert!(
        !scratch.index_file().contains("cerulean"),
        "{}",
        scratch.index_file()
    );
    std::fs::remove_file(root.join(".hippocampus/config.toml")).unwrap();
    wait_for(&mut client, &root, |client| {
        found(client, &root, None, "cerulean") == ["desk/scribe/a.md"]
    });
}

/// Waits until the daemon has read the changed settings and opened the workspace again.
fn wait_for(client: &mut Caller, root: &Path, is_done: impl Fn(&mut Caller) -> bool) {
    let deadline = std::time::Instant::now() + hippod_tests::PATIENCE;
    while !is_done(client) {
        assert!(
            std::time::Instant::now() < deadline,
            "the settings have no effect"
        );
        client.sync(root);
    }
}

#[test]
fn questions_and_sessions_of_an_agent_are_seen_by_this_agent() {
    let (scratch, _daemon, mut client) = started(&FILES);
    let root = scratch.workspace();
    let workspace = root.display().to_string();
    ask_as(
        &mut client,
        Some("scribe"),
        SearchRequest::new(&workspace, "periwinkle lantern"),
    )
    .unwrap();
    let log = RecallLogRequest {
        workspace: workspace.clone(),
        ..RecallLogRequest::default()
    };
    // The daemon writes the log after the answer.
    let mut own = String::new();
    let deadline = std::time::Instant::now() + hippod_tests::PATIENCE;
    while !own.contains("periwinkle") && std::time::Instant::now() < deadline {
        own = ask_as(&mut client, Some("scribe"), log.clone())
            .unwrap()
            .to_string();
    }
    assert!(own.contains("periwinkle"), "{own}");
    for agent in [None, Some("critic")] {
        let other = ask_as(&mut client, agent, log.clone()).unwrap().to_string();
        assert!(!other.contains("periwinkle"), "{other}");
    }
    let open = ContextOpenRequest {
        workspace: workspace.clone(),
        agent: None,
        session: Some("draft-1".to_owned()),
    };
    ask_as(&mut client, Some("scribe"), open.clone()).unwrap();
    let content = super::contexts::request(
        "draft-1",
        1,
        ("exec", "make"),
        &"chapter periwinkle\n".repeat(900),
    );
    let put = ask_as(&mut client, Some("scribe"), content).unwrap();
    let entry = put["entry"]["id"].as_str().unwrap().to_owned();
    let list = |session: Option<&str>| ContextListRequest {
        workspace: Some(workspace.clone()),
        session: session.map(str::to_owned),
        ..ContextListRequest::default()
    };
    let fetch = |session: Option<&str>| ContextFetchRequest {
        session: session.map(str::to_owned),
        id: entry.clone(),
    };
    for agent in [None, Some("critic")] {
        let listed = ask_as(&mut client, agent, list(None)).unwrap();
        assert_eq!(listed["total"], 0, "{listed}");
        ask_as(&mut client, agent, fetch(None)).unwrap_err();
    }
    ask_as(&mut client, Some("critic"), list(Some("draft-1"))).unwrap_err();
    ask_as(&mut client, Some("critic"), fetch(Some("draft-1"))).unwrap_err();
    ask_as(&mut client, Some("critic"), open).unwrap_err();
    for session in [None, Some("draft-1")] {
        let fetched = ask_as(&mut client, Some("scribe"), fetch(session)).unwrap();
        assert!(fetched["content"].as_str().unwrap().contains("periwinkle"));
    }
    assert_eq!(
        ask_as(&mut client, Some("scribe"), list(None)).unwrap()["total"],
        1
    );
}

#[test]
fn the_session_of_an_agent_is_logged_in_the_agents_own_log() {
    let (scratch, daemon, mut client) = started(&FILES);
    let root = scratch.workspace();
    let line = |role: &str, text: &str| {
        let message = serde_json::json!({"type": role, "timestamp": "2026-03-02T10:00:00Z",
            "message": {"role": role, "content": text}});
        format!("{message}\n")
    };
    let transcript = scratch.beside("session.jsonl");
    let text = line("user", "Please write the heliotrope chapter today")
        + &line(
            "assistant",
            "It was decided that the heliotrope chapter comes first.",
        );
    std::fs::write(&transcript, text).unwrap();
    let flush = |wait| SessionFlushRequest {
        workspace: root.display().to_string(),
        path: transcript.display().to_string(),
        session: Some("s1".to_owned()),
        wait,
        ..SessionFlushRequest::default()
    };
    ask_as(&mut client, Some("scribe"), flush(false)).unwrap();
    // A restart must not forget to whom the accepted transcript belongs.
    daemon.kill();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    ask_as(&mut client, Some("scribe"), flush(true)).unwrap();
    client.sync(&root);
    let log = "agents/scribe/memory/2026-03-02.md";
    assert_eq!(
        found(&mut client, &root, Some("scribe"), "heliotrope chapter")[0],
        log
    );
    assert!(found(&mut client, &root, None, "heliotrope").is_empty());
    assert!(!root.join("memory/2026-03-02.md").exists());
}
