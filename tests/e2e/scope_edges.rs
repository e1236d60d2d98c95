//! Ways in which a private text could reach another agent beside searches.

use hippo_proto::{
    ClientError, ContextFetchRequest, ContextListRequest, ContextOpenRequest, ErrorKind, RememberRequest,
    SessionFlushRequest, StatusRequest,
};

use super::scopes::{ask_as, get, started};

fn open(workspace: &str, session: &str) -> ContextOpenRequest {
    ContextOpenRequest {
        workspace: workspace.to_owned(),
        agent: None,
        session: Some(session.to_owned()),
    }
}

fn kind(error: &ClientError) -> Option<ErrorKind> {
    match error {
        ClientError::Refused(error) => Some(error.data.kind),
        _ => None,
    }
}

#[test]
fn an_entry_does_not_follow_its_file_into_the_scope_of_another_agent() {
    let shared = "# Plan\n\n- The heliotrope plan.\n".repeat(300);
    let (scratch, _daemon, mut client) = started(&[("knowledge/plan.md", &shared)]);
    let workspace = scratch.workspace().display().to_string();
    let critic = Some("critic");
    ask_as(&mut client, critic, open(&workspace, "review")).unwrap();
    let put = super::contexts::request("review", 1, ("file", "knowledge/plan.md"), &shared);
    let entry = ask_as(&mut client, critic, put).unwrap()["entry"]["id"].clone();
    let fetch = ContextFetchRequest {
        session: Some("review".to_owned()),
        id: entry.as_str().unwrap().to_owned(),
    };
    let list = ContextListRequest {
        workspace: Some(workspace),
        session: Some("review".to_owned()),
        ..ContextListRequest::default()
    };
    let before = ask_as(&mut client, critic, fetch.clone()).unwrap();
    assert!(before["content"].as_str().unwrap().contains("heliotrope"));
    for private in [
        "---\nagent: scribe\n---\n\n# Plan\n\n- The viridian plan.\n".to_owned(),
        "---\nagent: scribe\nan error\n---\n\n# Plan\n\n- The viridian plan.\n".to_owned(),
    ] {
        scratch.write("knowledge/plan.md", &private);
        let after = ask_as(&mut client, critic, fetch.clone()).unwrap().to_string();
        assert!(!after.contains("viridian"), "{after}");
        let listed = ask_as(&mut client, critic, list.clone()).unwrap().to_string();
        assert!(!listed.contains("viridian"), "{listed}");
    }
    // The content from before is still the agent's own.
    let after = ask_as(&mut client, critic, fetch).unwrap().to_string();
    assert!(after.contains("heliotrope"), "{after}");
}

#[test]
fn a_flush_does_not_close_the_session_of_another_agent() {
    let (scratch, _daemon, mut client) = started(&[("knowledge/a.md", "# A\n\n- A pump.\n")]);
    let workspace = scratch.workspace().display().to_string();
    ask_as(&mut client, Some("scribe"), open(&workspace, "draft")).unwrap();
    let transcript = scratch.beside("session.jsonl");
    std::fs::write(&transcript, "").unwrap();
    let flush = SessionFlushRequest {
        workspace: workspace.clone(),
        path: transcript.display().to_string(),
        session: Some("draft".to_owned()),
        close: true,
        wait: true,
        ..SessionFlushRequest::default()
    };
    // An empty transcript may be refused; the session is the point.
    let _ = ask_as(&mut client, Some("critic"), flush.clone());
    ask_as(&mut client, Some("scribe"), open(&workspace, "draft")).unwrap();
    let _ = ask_as(&mut client, Some("scribe"), flush);
    let closed = ask_as(&mut client, Some("scribe"), open(&workspace, "draft")).unwrap_err();
    assert!(closed.to_string().contains("closed"), "{closed}");
}

#[test]
fn a_shared_text_is_not_appended_to_a_private_log() {
    let (scratch, _daemon, mut client) = started(&[("knowledge/a.md", "# A\n\n- A pump.\n")]);
    let workspace = scratch.workspace().display().to_string();
    let remember = |text: &str| RememberRequest {
        workspace: workspace.clone(),
        text: text.to_owned(),
        ..RememberRequest::default()
    };
    let done = ask_as(&mut client, None, remember("The pump is blue.")).unwrap();
    let log = done["path"].as_str().unwrap().to_owned();
    let private = "---\nagent: scribe\n---\n\n# Day\n";
    scratch.write(&log, private);
    let refused = ask_as(&mut client, None, remember("The valve is red.")).unwrap_err();
    assert_eq!(kind(&refused), Some(ErrorKind::Conflict), "{refused}");
    assert!(refused.to_string().contains(&log), "{refused}");
    let kept = std::fs::read_to_string(scratch.workspace().join(&log)).unwrap();
    assert_eq!(kept, private);
}

#[test]
fn names_of_private_files_are_private_and_other_files_in_the_folder_are_not() {
    let (scratch, _daemon, mut client) = started(&[
        ("agents/README.md", "# Agents\n\n- Each agent has a folder.\n"),
        ("agents/critic/quit.md", "# Quit\n\n- A plan.\n"),
    ]);
    let root = scratch.workspace();
    std::os::unix::fs::symlink("../agents/critic/quit.md", root.join("note.md")).unwrap();
    std::os::unix::fs::symlink("nowhere.md", root.join("agents/critic/resign.md")).unwrap();
    client.sync(&root);
    ask_as(&mut client, None, get(&root, "agents/README.md")).unwrap();
    let status = ask_as(&mut client, None, StatusRequest::default())
        .unwrap()
        .to_string();
    for name in ["quit", "resign"] {
        assert!(!status.contains(name), "{status}");
    }
    for path in ["agents/critic", "./agents/critic/quit.md", "note.md"] {
        let refused = ask_as(&mut client, Some("scribe"), get(&root, path)).unwrap_err();
        assert_eq!(kind(&refused), Some(ErrorKind::NotFound), "{path}: {refused}");
    }
}
