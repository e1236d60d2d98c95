//! Shares between workspaces of one machine.

use std::path::PathBuf;

use hippo_proto::{
    Cycle, ErrorKind, GetRequest, GetResponse, MemoryType, OriginKind, RecallWhyRequest, RecallWhyResponse,
    RememberRequest, RememberResponse, ShareAddRequest, ShareAddResponse, ShareListRequest,
    ShareListResponse, ShareSelectors,
};
use hippod_tests::{Daemon, QUIET};

use super::local_shares_machine::{Machine, paths, write};

const DEPLOY: &str = "# Deploying\n\nDeploys of the billing service run on Fridays at noon.\n";
const API: &[(&str, &str)] = &[
    ("knowledge/deploy.md", DEPLOY),
    (
        "knowledge/salary.md",
        "# Salaries\n\nThe salary of the harbour master is 5300 guilders.\n",
    ),
    (
        "MEMORY.md",
        "# Memory\n\n## Ports\n\nThe staging gateway listens on port 8443.\n\n## Keys\n\nThe safe in the cellar holds the \
         spare turbine.\n",
    ),
];
const WEB: &[(&str, &str)] = &[(
    "knowledge/style.md",
    "# Style\n\nButtons of the shop are green.\n",
)];

#[test]
fn a_workspace_finds_and_reads_only_what_another_shares() {
    let mut machine = Machine::new(&[("api", API), ("web", WEB)]);
    let question = "when do deploys of the billing service run";
    assert!(
        machine
            .found("web", question)
            .iter()
            .all(|path| !path.starts_with('@'))
    );
    let request = machine.request("api", "web", paths(&["knowledge/deploy.md"]));
    let preview: ShareAddResponse = machine
        .ask(ShareAddRequest {
            dry_run: true,
            ..request
        })
        .unwrap();
    assert!(!preview.added && preview.share.id.is_empty());
    assert!(
        preview
            .entries
            .iter()
            .all(|entry| entry.pointer.starts_with("@api/knowledge/deploy.md"))
    );
    assert!(!preview.entries.is_empty());
    let listed: ShareListResponse = machine.ask(ShareListRequest::default()).unwrap();
    assert!(listed.shares.is_empty(), "a dry run shares nothing");

    let added = machine.share("api", "web", paths(&["knowledge/deploy.md"]));
    assert_eq!((added.added, added.share.id.as_str()), (true, "s1"));
    assert_eq!(added.entries, preview.entries);
    assert!(!machine.share("api", "web", paths(&["knowledge/deploy.md"])).added);
    let answer = machine.search("web", question);
    let hit = answer.results.first().unwrap();
    assert_eq!(hit.path, "@api/knowledge/deploy.md");
    assert!(hit.text.contains("Fridays at noon"));
    let origin = hit.origin.clone().unwrap();
    assert_eq!(
        (origin.kind, origin.workspace.as_str()),
        (OriginKind::Workspace, "api")
    );
    assert_eq!(origin.share.as_deref(), Some("s1"));

    let id = hit.id.clone();
    for path in ["@api/knowledge/deploy.md", "@api/knowledge/deploy.md §Deploying"] {
        let text = machine.get("web", path).unwrap();
        assert_eq!(
            (text.path.as_str(), text.start_line),
            ("@api/knowledge/deploy.md", 1)
        );
        assert_eq!(text.text, DEPLOY, "{path}");
    }
    let by_id: GetResponse = machine
        .ask(GetRequest {
            id: Some(id),
            ..GetRequest::default()
        })
        .unwrap();
    assert!(
        by_id.text.contains("Fridays at noon") && by_id.start_line == 3,
        "{by_id:?}"
    );

    // Everything else is answered as if it were missing.
    let missing = machine.get("web", "@unknown/knowledge/none.md").unwrap_err();
    for path in [
        "@api/knowledge/salary.md",
        "@api/knowledge/none.md",
        "@api/MEMORY.md",
        "@api/../api/knowledge/salary.md",
        "@api/knowledge/../knowledge/salary.md",
        "@api/./knowledge/salary.md",
        "@api//knowledge/salary.md",
        "@api/HIPPOCAMPUS.md",
        "@api/",
        "@api",
        "@API/knowledge/deploy.md",
        "knowledge/deploy.md",
    ] {
        let error = machine.get("web", path).unwrap_err();
        assert_eq!(error.data.kind, ErrorKind::NotFound, "{path}");
        assert_eq!(error.message, format!("no such file: {path}"));
        assert_eq!(error.data.hint, missing.data.hint);
    }
    for question in ["salary of the harbour master", "spare turbine", "staging gateway"] {
        let found = machine.found("web", question);
        let others = found
            .iter()
            .filter(|path| path.starts_with('@') && !path.ends_with("deploy.md"));
        assert_eq!(others.count(), 0, "{question}: {found:?}");
    }
    // The owner does not see the texts of the other workspace.
    assert!(
        machine
            .found("api", "green buttons")
            .iter()
            .all(|path| !path.starts_with('@'))
    );
}

#[test]
fn a_share_can_cover_a_section_by_its_topic_tag_or_type() {
    let mut machine = Machine::new(&[("api", API), ("web", WEB)]);
    let workspace = machine.root("api").display().to_string();
    let mut remember = |topic: &str, tag: Option<&str>, type_, text: &str| -> RememberResponse {
        let request = RememberRequest {
            workspace: workspace.clone(),
            text: text.to_owned(),
            topic: Some(topic.to_owned()),
            tags: tag.map(|tag| vec![tag.to_owned()]),
            type_,
            ..RememberRequest::default()
        };
        machine.ask(request).unwrap()
    };
    let log = remember("Crane", Some("release"), None, "The crane moves at dawn.").path;
    let manual = remember(
        "Manual",
        None,
        Some(MemoryType::Reference),
        "The manual lies in hall seven.",
    );
    remember("Foreman", None, None, "The foreman dislikes herring.");
    let gate = remember("Gate", None, None, "The northern gate opens with a brass key.");
    let one = |value: &str| vec![value.to_owned()];
    let none = ShareSelectors::default;
    for selectors in [
        ShareSelectors {
            topics: one("GATE"),
            ..none()
        },
        ShareSelectors {
            tags: one("Release"),
            ..none()
        },
        ShareSelectors {
            types: vec![MemoryType::Reference],
            paths: one("memory/*.md"),
            ..none()
        },
    ] {
        let added = machine.share("api", "web", selectors);
        assert_eq!(added.entries.len(), 1, "{added:?}");
    }
    let both = ShareSelectors {
        topics: one("Gate"),
        tags: one("release"),
        ..none()
    };
    assert!(machine.share("api", "web", both).entries.is_empty());
    for (question, answer) in [
        ("when does the crane move", "dawn"),
        ("where is the manual", "hall seven"),
        ("which key opens the northern gate", "brass"),
        ("what does the foreman dislike", ""),
        ("which port does the staging gateway use", ""),
    ] {
        let found = machine.search("web", question).results.into_iter();
        let texts: String = found
            .filter(|hit| hit.path.starts_with('@'))
            .map(|hit| hit.text)
            .collect();
        assert!(texts.contains(answer), "{question}: {texts}");
        assert!(
            !texts.contains("herring") && !texts.contains("8443"),
            "{question}: {texts}"
        );
    }
    // Only the lines of the sections are visible, with their numbers in the file.
    let shown = format!("@api/{log}");
    let text = machine.get("web", &shown).unwrap();
    assert!(
        text.text.contains("dawn") && text.text.contains("brass") && !text.text.contains("herring"),
        "{text:?}"
    );
    assert!(!text.text.contains("Foreman"), "{text:?}");
    let of_gate = machine.get("web", &format!("{shown} §Gate")).unwrap();
    assert_eq!(of_gate.end_line, gate.end_line);
    assert!(
        of_gate.text.contains("brass") && !of_gate.text.contains("dawn"),
        "{of_gate:?}"
    );
    let request = GetRequest {
        workspace: Some(machine.root("web").display().to_string()),
        path: Some(shown.clone()),
        from: Some(manual.end_line + 1),
        count: Some(4),
        ..GetRequest::default()
    };
    let between: GetResponse = machine.ask(request).unwrap();
    assert!(
        !between.text.contains("herring") && !between.text.contains("Foreman"),
        "{between:?}"
    );
    assert_eq!(
        machine
            .get("web", &format!("{shown} §Foreman"))
            .unwrap_err()
            .data
            .kind,
        ErrorKind::NotFound
    );
}

#[test]
fn an_edit_of_the_owner_is_visible_at_once_and_a_withdrawn_share_disappears_everywhere() {
    let mut machine = Machine::new(&[("api", API), ("web", WEB), ("docs", WEB)]);
    let added = machine.share("api", "web", paths(&["knowledge/deploy.md"]));
    machine.share("api", "docs", paths(&["knowledge/deploy.md"]));
    let map = machine.wait_for_map("web", "- @api/knowledge/deploy.md", true);
    assert!(
        map.contains("Fridays at noon") && map.contains("## Shared\n"),
        "{map}"
    );
    assert!(map.trim_end().ends_with("<!-- /hippod -->"));
    machine.wait_for_map("docs", "Fridays at noon", true);
    let question = "when do deploys of the billing service run";
    // The second answer must not come from an entry that remembers the first.
    for _ in 0..2 {
        let answer = machine.search("web", question);
        assert!(answer.results[0].text.contains("Fridays"), "{answer:?}");
    }
    write(
        &machine.root("api"),
        "knowledge/deploy.md",
        &DEPLOY.replace("Fridays", "Sundays"),
    );
    let answer = machine.search("web", question);
    assert!(answer.results[0].text.contains("Sundays"), "{answer:?}");
    assert!(
        machine
            .get("web", "@api/knowledge/deploy.md")
            .unwrap()
            .text
            .contains("Sundays")
    );
    // An entry of the receiver, its databases and its tree contain nothing of the share.
    machine.client.sync(&machine.root("api"));
    machine.client.run(&machine.root("api"), Cycle::Light);
    machine.client.run(&machine.root("web"), Cycle::Light);
    let map = machine.map("web");
    assert!(
        map.contains("Sundays at noon") && !map.contains("Fridays"),
        "{map}"
    );
    for entry in machine.client.entries(&machine.root("web")) {
        assert!(!format!("{entry:?}").contains("at noon"), "{entry:?}");
    }
    let why: RecallWhyResponse = machine
        .ask(RecallWhyRequest {
            workspace: machine.root("web").display().to_string(),
            query: question.to_owned(),
            ..RecallWhyRequest::default()
        })
        .unwrap();
    assert_eq!(why.passages[0].path, "@api/knowledge/deploy.md");
    let because = why.passages[0].because.join(" ");
    assert!(because.contains("The workspace api shares it (s1)"), "{because}");

    machine.withdraw(&added.share.id);
    assert!(
        machine
            .found("web", question)
            .iter()
            .all(|path| !path.starts_with('@'))
    );
    assert!(machine.get("web", "@api/knowledge/deploy.md").is_err());
    machine.wait_for_map("web", "shared", false);
    machine.wait_for_map("docs", "at noon", true);
    let listed: ShareListResponse = machine
        .ask(ShareListRequest {
            removed: true,
            workspace: Some(machine.root("web").display().to_string()),
        })
        .unwrap();
    assert!(listed.shares[0].removed.is_some() && listed.shares[0].selectors == ShareSelectors::default());
    let daemon = std::mem::replace(
        &mut machine.daemon,
        Daemon::start(&machine.scratch.beside("spare"), &QUIET),
    );
    daemon.terminate();
    let api = state_folder(&machine, "api");
    let docs = state_folder(&machine, "docs");
    let mut left = machine.files_with("web", "at noon");
    left.retain(|path| !path.starts_with(&api) && !path.starts_with(&docs));
    assert_eq!(left, Vec::<PathBuf>::new());
    // The workspace that still has the share stores no text of it either.
    let mut stored = machine.files_with("docs", "at noon");
    stored.retain(|path| !path.starts_with(&api));
    assert_eq!(stored, [machine.root("docs").join("HIPPOCAMPUS.md")]);
}

fn state_folder(machine: &Machine, name: &str) -> PathBuf {
    let root = machine.root(name).canonicalize().unwrap();
    let key = hippo_proto::folder::key(&root);
    machine.scratch.home().join("state/workspaces").join(key)
}
