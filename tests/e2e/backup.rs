//! Backup and restore of workspaces.
//! A restored workspace gives the same answers as the original.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output};

use hippo_proto::{
    BackupRequest, BackupResponse, BackupVerifyRequest, ClientError, ContextCloseRequest,
    ContextCloseResponse, ContextFetchResponse, Cycle, ErrorKind, IndexListResponse, Request, RestoreRequest,
    RestoreResponse, RpcError, WorkspaceRemoveRequest, WorkspaceRemoveResponse,
};
use hippod_tests::{Answer, Caller, Daemon, QUIET, Scratch, assert_same, begun, client_program};

use crate::contexts::{entry, fetch, open, request};

pub(super) const QUERIES: [&str; 6] = [
    "which food could poison the child",
    "where does she sit when flying",
    "greenhouse key",
    "postgres tuning",
    "who decides about the deploy on Fridays",
    "sapporo",
];
/// Time for which all strengths are computed before they are compared.
const LATER: &str = "2031-01-01T00:00:00Z";

/// Everything that a workspace returns to queries.
pub(super) struct Known {
    answers: Vec<Answer>,
    entries: Vec<String>,
    history: String,
    fetched: Vec<(String, ContextFetchResponse)>,
    forgotten: String,
}

/// Creates the example workspace and uses it. It remembers, searches and forgets entries, runs a cycle, and stores
/// contents in sessions.
pub(super) fn used() -> (Scratch, Daemon, Caller, Vec<String>, String) {
    let scratch = Scratch::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/workspace");
    copy(&example, &scratch.workspace());
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    client.remember(&root, "The greenhouse key hangs behind the door.", "Greenhouse");
    for query in QUERIES {
        client.ask(&root, query, true);
    }
    client.sync(&root);
    let forgotten = client.ids(&root)[3].clone();
    client.forget(&root, &forgotten);
    client.run(&root, Cycle::Deep);
    let contents = [
        text(b'a'),
        "\u{0}\u{1}binary \u{fffd} or not".repeat(400),
        text(b'z'),
    ];
    let mut ids = Vec::new();
    for (number, content) in contents.iter().enumerate() {
        let session = open(&mut client, &root, Some(&format!("session-{number}"))).session;
        let put = entry(&mut client, request(&session, 1, ("exec", "make all"), content));
        ids.push(put.id);
        if number == 1 {
            let close = ContextCloseRequest { session };
            let _: ContextCloseResponse = client.raw().call(&close.into()).unwrap();
        }
    }
    client.sync(&root);
    (scratch, daemon, client, ids, forgotten)
}

fn text(sign: u8) -> String {
    let line = |number: usize| format!("{number} {} of hall {}\n", char::from(sign), number * 7);
    (0..400).map(line).collect()
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let there = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &there),
            false => drop(std::fs::copy(entry.path(), there).unwrap()),
        }
    }
}

pub(super) fn known(client: &mut Caller, root: &Path, ids: &[String], forgotten: &str) -> Known {
    client.sync(root);
    let answers = client.answers(root, &QUERIES);
    let mut entries = client.listed(root, true, Some(LATER)).entries;
    entries.extend(client.listed(root, false, Some(LATER)).entries);
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    Known {
        answers,
        entries: entries.iter().map(|entry| format!("{entry:?}")).collect(),
        history: format!("{:?}", client.history(root, None).runs),
        fetched: ids.iter().map(|id| (id.clone(), fetch(client, id))).collect(),
        forgotten: forgotten.to_owned(),
    }
}

/// Panics if the workspace does not return exactly the same as `before`.
pub(super) fn assert_knows(what: &str, client: &mut Caller, root: &Path, before: &Known) {
    let ids: Vec<String> = before.fetched.iter().map(|(id, _)| id.clone()).collect();
    let after = known(client, root, &ids, &before.forgotten);
    assert_same(what, &after.answers, &before.answers);
    assert!(!after.entries.is_empty(), "{what}");
    assert_eq!(after.entries, before.entries, "{what}");
    assert_eq!(after.history, before.history, "{what}");
    assert_eq!(after.fetched, before.fetched, "{what}");
    let is_there = client.ids(root).contains(&before.forgotten);
    assert!(!is_there, "{what}: what was forgotten stays so");
    client.run(root, Cycle::Light);
    assert!(
        !client.ids(root).contains(&before.forgotten),
        "{what}: nor does a cycle bring it back"
    );
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}

pub(super) fn backup(client: &mut Caller, to: &Path) -> Result<BackupResponse, RpcError> {
    let request = BackupRequest {
        workspace: None,
        to: shown(to),
    };
    refused(client, request.into())
}

/// Returns the path and the content of each member of an intact backup.
pub(super) fn members(sound: &Path) -> Vec<(String, Vec<u8>)> {
    let packed = zstd::Decoder::new(std::fs::File::open(sound).unwrap()).unwrap();
    let mut archive = tar::Archive::new(packed);
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.path().unwrap().display().to_string(), bytes)
    };
    archive.entries().unwrap().map(read).collect()
}

pub(super) fn verify(client: &mut Caller, from: &Path) -> Result<BackupResponse, RpcError> {
    refused(client, BackupVerifyRequest { from: shown(from) }.into())
}

pub(super) fn restore(
    client: &mut Caller,
    from: &Path,
    into: Option<&Path>,
) -> Result<RestoreResponse, RpcError> {
    let request = RestoreRequest {
        from: shown(from),
        workspace: None,
        into: into.map(shown),
        other_files: false,
    };
    refused(client, request.into())
}

pub(super) fn refused<T: serde::de::DeserializeOwned>(
    client: &mut Caller,
    request: Request,
) -> Result<T, RpcError> {
    match client.raw().call(&request) {
        Ok(answer) => Ok(answer),
        Err(ClientError::Refused(error)) => Err(error),
        Err(error) => panic!("no answer: {error}"),
    }
}

/// Starts a daemon with its own home, as if it ran on another machine.
pub(super) fn elsewhere(scratch: &Scratch, name: &str) -> Daemon {
    Daemon::start(&scratch.beside(name), &QUIET)
}

#[test]
fn a_restored_workspace_gives_the_same_answers() {
    let (scratch, daemon, mut client, ids, forgotten) = used();
    let root = scratch.workspace();
    let before = known(&mut client, &root, &ids, &forgotten);
    let file = scratch.beside("memory.tar.zst");
    let written = backup(&mut client, &file).unwrap();
    assert_eq!(written.workspaces[0].root, shown(&root));
    assert_eq!(written.bytes, std::fs::metadata(&file).unwrap().len());
    let checked = verify(&mut client, &file).unwrap();
    assert_eq!(checked.workspaces, written.workspaces);
    let private = |path: &Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).unwrap().permissions().mode() & 0o077 == 0
    };
    assert!(private(&file), "others read nothing of it");

    // Restore on another machine, into a folder with another name, two levels below an existing folder.
    let other = elsewhere(&scratch, "other");
    let mut there = other.client();
    let moved = scratch.beside("a/moved");
    let answer = restore(&mut there, &file, Some(&moved)).unwrap();
    assert_eq!(answer.workspaces[0].root, shown(&moved));
    assert_eq!(answer.workspaces[0].was, shown(&root));
    assert_eq!(answer.workspaces[0].files, written.workspaces[0].files);
    assert_knows("moved", &mut there, &moved, &before);
    let problems = there.doctor(false).problems;
    assert!(problems.is_empty(), "{problems:?}");

    // Restore at the original path, after the folder of the workspace was deleted.
    std::fs::remove_dir_all(&root).unwrap();
    let refusal = restore(&mut client, &file, None).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::Conflict, "{refusal:?}");
    let purge = format!("hippoctl workspace remove --purge {}", root.display());
    assert!(refusal.data.hint.contains(&purge), "{refusal:?}");
    let remove = WorkspaceRemoveRequest {
        workspace: shown(&root),
        purge: true,
        ..WorkspaceRemoveRequest::default()
    };
    let _: WorkspaceRemoveResponse = refused(&mut client, remove.into()).unwrap();
    restore(&mut client, &file, None).unwrap();
    assert_knows("where it was", &mut client, &root, &before);
    drop(client);
    daemon.terminate();
    let daemon = scratch.quiet_daemon();
    let status = daemon.client().status();
    assert_eq!(status.workspaces.len(), 1, "it is registered");
}

#[test]
fn files_left_out_of_a_backup_are_listed() {
    let (scratch, _daemon, mut client) = begun();
    let root = scratch.workspace();
    std::os::unix::fs::symlink("/etc/passwd", root.join("memory/link.md")).unwrap();
    scratch.write(".hippoignore", "private.md\n");
    scratch.write("memory/private.md", "- not memory\n");
    scratch.write(".hippocampus/config.toml", "[search]\nlimit = 7\n");
    std::os::unix::fs::symlink("/etc", root.join(".hippocampus/link")).unwrap();
    client.sync(&root);
    let file = scratch.beside("b.tar.zst");
    let written = backup(&mut client, &file).unwrap();
    let members: BTreeMap<String, Vec<u8>> = members(&file).into_iter().collect();
    let left: Vec<&str> = written.workspaces[0]
        .left_out
        .iter()
        .map(|left| left.path.as_str())
        .collect();
    assert_eq!(left, [".hippocampus/link", "memory/link.md"]);
    for name in [
        ".hippoignore",
        ".hippocampus/config.toml",
        "MEMORY.md",
        "HIPPOCAMPUS.md",
    ] {
        assert_eq!(
            members[&format!("1/files/{name}")],
            std::fs::read(root.join(name)).unwrap(),
            "{name}"
        );
    }
    assert!(!members.contains_key("1/files/memory/private.md"));
    assert!(!members.contains_key("1/files/.hippocampus/canary"));
}

pub(super) fn hippoctl(home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(client_program());
    let output = command
        .arg("--no-start")
        .args(words)
        .env("HIPPOD_HOME", home)
        .output();
    output.expect("hippoctl runs")
}

#[test]
fn the_command_line_backs_up_and_restores_several_workspaces() {
    let (scratch, _daemon, mut client) = begun();
    let second = scratch.beside("second");
    std::fs::create_dir_all(second.join("memory")).unwrap();
    std::fs::write(second.join("memory/2026-03-02.md"), "- the lantern is green\n").unwrap();
    client.index(&second);
    let (home, root) = (scratch.home(), scratch.workspace());
    let path = |name: &str| shown(&scratch.beside(name));
    let done = |words: &[&str]| {
        let output = hippoctl(&home, words);
        assert!(
            output.status.success(),
            "{words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let (one, all) = (path("one.tar.zst"), path("all.tar.zst"));
    done(&["--workspace", &shown(&root), "backup", &one]);
    let told = done(&["backup", "--all", &all]);
    assert!(
        told.contains(&shown(&root)) && told.contains(&shown(&second)),
        "{told}"
    );
    assert!(done(&["backup", "verify", &all]).contains("ok"));
    let entries = done(&["--workspace", &shown(&root), "index", "export"]);
    let entries: IndexListResponse = serde_json::from_str(&entries).unwrap();
    // The strengths decay between the two answers, so only the other fields are compared.
    let texts = |listed: IndexListResponse| -> Vec<(String, String, String)> {
        let entries = listed.entries.into_iter();
        entries
            .map(|entry| (entry.id, entry.topic, entry.summary))
            .collect()
    };
    assert!(!entries.entries.is_empty());
    assert_eq!(texts(entries), texts(client.listed(&root, true, None)));
    let code = |words: &[&str]| hippoctl(&home, words).status.code();
    assert_eq!(code(&["backup", "--all", &all]), Some(5), "it is there already");
    assert_eq!(
        code(&["restore", &all, "--into", &path("both")]),
        Some(2),
        "two into one"
    );
    assert_eq!(code(&["restore", &one]), Some(5), "the folder is not empty");
    assert_eq!(code(&["restore", &path("none.tar.zst")]), Some(4));
    let into = path("again");
    done(&["--workspace", &shown(&second), "restore", &all, "--into", &into]);
    client.sync(Path::new(&into));
    assert_eq!(
        client.best(Path::new(&into), "lantern").as_deref(),
        Some("memory/2026-03-02.md:1")
    );
    let refusal = restore(&mut client, Path::new(&one), Some(&home)).unwrap_err();
    assert_eq!(refusal.data.kind, ErrorKind::BadRequest, "{refusal:?}");
    // If the disk of a workspace is absent, a backup of all workspaces reports this workspace as missing and contains
    // the others.
    let away = scratch.beside("away");
    std::fs::rename(&second, &away).unwrap();
    let rest = path("rest.tar.zst");
    let output = hippoctl(&home, &["backup", "--all", &rest]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains(&format!("left out: {}: its folder", shown(&second))),
        "{told}"
    );
    assert!(done(&["backup", "verify", &rest]).contains(&shown(&root)));
}
