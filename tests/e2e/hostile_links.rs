//! Links in an untrusted folder.
//!
//! The daemon must not read or write anything outside the workspace through these links.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use hippo_proto::{
    ErrorKind, RememberRequest, RememberResponse, RpcError, WorkspaceAddRequest, WorkspaceAddResponse,
};
use hippod_tests::{Caller, Clocked, Daemon, PATIENCE, QUIET, Scratch, client_program};

use super::service_systemd::cannot;
use super::tree::{NOW, compact, fill as fill_logs};

/// Settings with which the daemon reconciles the disk and checks the watcher every second.
const EACH_SECOND: [(&str, &str); 1] = [("HIPPOD_WATCH_RECONCILE_SECS", "1")];

fn git(folder: &Path, words: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-C"])
        .arg(folder)
        .args(words)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {told}");
}

/// Creates a repository with the files that `make` writes, and clones it into the folder `name` beside the workspace.
fn cloned(scratch: &Scratch, name: &str, make: impl Fn(&Path)) -> PathBuf {
    let origin = scratch.beside(&format!("{name}-origin"));
    std::fs::create_dir_all(origin.join("memory")).unwrap();
    std::fs::write(origin.join("memory/note.md"), "# Note\n\n- the pump is blue\n").unwrap();
    make(&origin);
    git(&origin, &["init", "-q"]);
    git(&origin, &["add", "-A"]);
    git(&origin, &["commit", "-qm", "first"]);
    let clone = scratch.beside(name);
    let (from, to) = (origin.to_str().unwrap(), clone.to_str().unwrap());
    git(&scratch.beside("."), &["clone", "-q", from, to]);
    clone.canonicalize().unwrap()
}

fn own_folder(root: &Path) -> PathBuf {
    let own = root.join(".hippocampus");
    std::fs::create_dir_all(&own).unwrap();
    own
}

fn try_add(client: &mut Caller, root: &Path) -> Result<WorkspaceAddResponse, RpcError> {
    let request = WorkspaceAddRequest {
        workspace: root.display().to_string(),
    };
    client.raw().call(&request.into()).map_err(|error| match error {
        hippo_proto::ClientError::Refused(error) => error,
        other => panic!("{other}"),
    })
}

/// Asserts that `status` and `doctor` report this path as a link.
pub(super) fn assert_link_is_named(client: &mut Caller, root: &Path, path: &str) {
    let status = client.status();
    let place = root.display().to_string();
    let workspace = status.workspaces.iter().find(|it| it.root == place).unwrap();
    let named = workspace.skipped.iter().find(|skipped| skipped.path == path);
    let reason = &named.unwrap_or_else(|| panic!("{path}: {workspace:?}")).reason;
    assert!(reason.contains("a link"), "{reason}");
    let whole = root.join(path).display().to_string();
    let problems = client.doctor(false).problems;
    let problem = problems
        .iter()
        .find(|problem| problem.id == "link" && problem.where_ == whole);
    assert!(problem.is_some(), "{path}: {problems:?}");
}

/// Waits until the check of the watcher reports that it cannot write its canary.
fn wait_for_a_refused_canary(client: &mut Caller, root: &Path) {
    let deadline = Instant::now() + PATIENCE;
    let place = root.display().to_string();
    loop {
        let checks = client.doctor(false).checks;
        let is_refused =
            |detail: &str| detail.contains(&place) && detail.contains(".hippocampus/canary is a link");
        if checks.iter().any(|check| is_refused(&check.detail)) {
            return;
        }
        assert!(Instant::now() < deadline, "{place}: {checks:?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_linked_canary_in_a_clone_overwrites_and_creates_no_file() {
    let scratch = Scratch::new();
    let (thesis, absent) = (scratch.beside("thesis.txt"), scratch.beside("absent.txt"));
    std::fs::write(&thesis, "thesis\n").unwrap();
    let with_link =
        |target: &'static str| move |root: &Path| symlink(target, own_folder(root).join("canary")).unwrap();
    let roots = [
        cloned(&scratch, "relative", with_link("../../thesis.txt")),
        cloned(&scratch, "dangling", with_link("../../absent.txt")),
        cloned(&scratch, "absolute", |root| {
            symlink(&thesis, own_folder(root).join("canary")).unwrap();
        }),
    ];
    let assert_untouched = |when: &str| {
        assert_eq!(std::fs::read_to_string(&thesis).unwrap(), "thesis\n", "{when}");
        assert!(!absent.exists(), "{when}");
    };
    for round in ["added", "started again"] {
        let daemon = Daemon::start(&scratch.home(), &EACH_SECOND);
        let mut client = daemon.client();
        for root in &roots {
            client.index(root);
            assert_eq!(
                client.best(root, "blue pump").as_deref(),
                Some("memory/note.md:3")
            );
            wait_for_a_refused_canary(&mut client, root);
            assert_link_is_named(&mut client, root, ".hippocampus/canary");
        }
        assert_untouched(round);
        daemon.terminate();
    }
    let hippoctl = |words: &[&str]| {
        let mut command = Command::new(client_program());
        command.env("HIPPOD_HOME", scratch.home()).current_dir(&roots[0]);
        command.args(words).output().unwrap()
    };
    let init = hippoctl(&["init", "--bare"]);
    assert_untouched(&String::from_utf8_lossy(&init.stderr));
    // `init` has started a daemon.
    hippoctl(&["service", "stop"]);
}

#[test]
fn a_canary_replaced_by_a_link_is_not_written() {
    let scratch = Scratch::new();
    scratch.write("memory/note.md", "# Note\n\n- the pump is blue\n");
    let thesis = scratch.beside("thesis.txt");
    std::fs::write(&thesis, "thesis\n").unwrap();
    let daemon = Daemon::start(&scratch.home(), &EACH_SECOND);
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let canary = root.join(".hippocampus/canary");
    let deadline = Instant::now() + PATIENCE;
    while !canary.is_file() {
        assert!(Instant::now() < deadline, "no canary");
        std::thread::yield_now();
    }
    std::fs::remove_file(&canary).unwrap();
    symlink(&thesis, &canary).unwrap();
    wait_for_a_refused_canary(&mut client, &root);
    assert_eq!(std::fs::read_to_string(&thesis).unwrap(), "thesis\n");
}

#[test]
fn a_linked_own_folder_is_refused_and_reported() {
    let scratch = Scratch::new();
    let outside = scratch.beside("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("canary"), "thesis\n").unwrap();
    let root = cloned(&scratch, "clone", |root| {
        symlink("../outside", root.join(".hippocampus")).unwrap()
    });
    let daemon = Daemon::start(&scratch.home(), &EACH_SECOND);
    let mut client = daemon.client();
    let refused = try_add(&mut client, &root).unwrap_err();
    assert_eq!(refused.data.kind, ErrorKind::BadRequest);
    assert!(
        refused.message.ends_with(".hippocampus: it is a link"),
        "{refused:?}"
    );
    // A workspace that was registered before the link was created can still be used.
    std::fs::remove_file(root.join(".hippocampus")).unwrap();
    fill_clone(&root);
    client.index(&root);
    daemon.terminate();
    std::fs::remove_dir_all(root.join(".hippocampus")).unwrap();
    symlink("../outside", root.join(".hippocampus")).unwrap();
    let daemon = Daemon::start(&scratch.home(), &EACH_SECOND);
    let mut client = daemon.client();
    client.sync(&root);
    assert_eq!(
        client.best(&root, "blue pump").as_deref(),
        Some("memory/note.md:3")
    );
    assert_link_is_named(&mut client, &root, ".hippocampus");
    let names: Vec<_> = std::fs::read_dir(&outside).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(
        std::fs::read_to_string(outside.join("canary")).unwrap(),
        "thesis\n"
    );
}

fn fill_clone(root: &Path) {
    std::fs::write(
        root.join("MEMORY.md"),
        "# Memory\n\n## Pumps\n\nThe pump of hall 3 is blue, and Ilse Brandt looks after it until the summer.\n",
    )
    .unwrap();
}

/// Returns the text of a file with one entry. hippod writes such files into `.hippocampus/topics` when the entries do
/// not fit into the index file.
fn topic_of_a_merger() -> String {
    let today = jiff::Zoned::now().date();
    format!(
        "# topics/projects\n\n<!-- Written by hippod; edits here are not read. -->\n\n## Merger\n\
         The merger with Acme closes on Friday.\n→ MEMORY.md\n\
         <!-- hx: id=merger | created={today} | accessed={today} | hits=0 | str=0.90 -->\n"
    )
}

#[test]
fn linked_topics_and_archives_neither_read_nor_delete_foreign_files() {
    let scratch = Scratch::new();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    let topics = scratch.beside("other/topics");
    std::fs::create_dir_all(&topics).unwrap();
    let private = topic_of_a_merger();
    std::fs::write(topics.join("projects.md"), &private).unwrap();
    let drafts = scratch.beside("drafts");
    std::fs::create_dir_all(&drafts).unwrap();
    std::fs::write(drafts.join(".letter.new"), "dear\n").unwrap();
    let linked = cloned(&scratch, "linked", |root| {
        symlink("../../other/topics", own_folder(root).join("topics")).unwrap();
        symlink("../../drafts", own_folder(root).join("archive")).unwrap();
        fill_clone(root);
    });
    // The daemon reads this file, because the clone contains a real folder instead of a link.
    let own = cloned(&scratch, "own", |root| {
        let topics = own_folder(root).join("topics");
        std::fs::create_dir(&topics).unwrap();
        std::fs::write(topics.join("projects.md"), &private).unwrap();
        fill_clone(root);
    });
    for (root, is_read) in [(&linked, false), (&own, true)] {
        client.index(root);
        let entries = client.entries(root);
        let is_entry = entries.iter().any(|entry| entry.topic.contains("Merger"));
        assert_eq!(is_entry, is_read, "{entries:?}");
        let index = std::fs::read_to_string(root.join("HIPPOCAMPUS.md")).unwrap_or_default();
        assert_eq!(index.contains("Acme"), is_read, "{index}");
    }
    for path in ["topics", "archive"] {
        assert_link_is_named(&mut client, &linked, &format!(".hippocampus/{path}"));
    }
    assert_eq!(
        std::fs::read_to_string(drafts.join(".letter.new")).unwrap(),
        "dear\n"
    );
    assert_eq!(
        std::fs::read_to_string(topics.join("projects.md")).unwrap(),
        private
    );
}

#[test]
fn no_tree_folder_is_created_through_a_link() {
    let scratch = Scratch::new();
    let outside = scratch.beside("outside");
    std::fs::create_dir_all(&outside).unwrap();
    fill_logs(&scratch);
    let root = scratch.workspace();
    symlink("../../outside", root.join("memory/weekly")).unwrap();
    symlink("../../outside/new", root.join("memory/monthly")).unwrap();
    let daemon = Clocked::start(&scratch, NOW, &[]);
    let mut client = daemon.client();
    client.index(&root);
    let made = compact(&mut client, &root);
    let weekly = made
        .refused
        .iter()
        .find(|it| it.path.starts_with("memory/weekly"));
    assert!(
        weekly.is_some_and(|it| it.reason.contains("is a link")),
        "{made:?}"
    );
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_log_is_not_appended_to_through_a_link() {
    let scratch = Scratch::new();
    let outside = scratch.beside("outside");
    std::fs::create_dir_all(&outside).unwrap();
    let root = cloned(&scratch, "clone", |root| {
        std::fs::rename(root.join("memory"), root.join("notes")).unwrap();
        symlink("../outside", root.join("memory")).unwrap();
    });
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    client.index(&root);
    let request = RememberRequest {
        workspace: root.display().to_string(),
        text: "The pump is blue.".to_owned(),
        ..RememberRequest::default()
    };
    let refused = client
        .raw()
        .call::<RememberResponse>(&request.into())
        .unwrap_err();
    assert!(refused.to_string().contains("memory is a link"), "{refused}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_linked_configuration_is_not_read() {
    let scratch = Scratch::new();
    let secret = scratch.beside("credentials");
    std::fs::write(&secret, "aws_secret_access_key = \"wJalrXUtnFEMI\"\n- {\n").unwrap();
    let root = cloned(&scratch, "clone", |root| {
        for name in ["config.toml", "policies.yaml"] {
            symlink("../../credentials", own_folder(root).join(name)).unwrap();
        }
        symlink("../credentials", root.join("hipocampus.config.json")).unwrap();
        symlink("../credentials", root.join(".hippoignore")).unwrap();
    });
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&root);
    for path in [
        ".hippocampus/config.toml",
        ".hippocampus/policies.yaml",
        "hipocampus.config.json",
    ] {
        assert_link_is_named(&mut client, &root, path);
    }
    let told = format!(
        "{:?} {:?} {}",
        client.status(),
        client.doctor(false),
        daemon.log()
    );
    for word in ["wJalrXUtnFEMI", "aws_secret_access_key"] {
        assert!(!told.contains(word), "{word}: {told}");
    }
    assert_eq!(
        client.best(&root, "blue pump").as_deref(),
        Some("memory/note.md:3")
    );
}

#[test]
fn folders_of_the_system_and_of_hippod_are_refused_as_workspaces() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    for root in [
        PathBuf::from("/dev"),
        PathBuf::from("/proc/self"),
        PathBuf::from("/sys"),
        PathBuf::from("/"),
        scratch.home(),
        scratch.home().join("state"),
        scratch.beside("."),
    ] {
        let refused = try_add(&mut client, &root).unwrap_err();
        assert_eq!(refused.data.kind, ErrorKind::BadRequest, "{refused:?}");
    }
    assert!(client.status().workspaces.is_empty());
}

#[test]
fn a_home_of_another_user_is_refused_at_the_start() {
    if !rustix::process::geteuid().is_root() {
        return cannot("only root can give a folder away");
    }
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.home()).unwrap();
    std::os::unix::fs::chown(scratch.home(), Some(65534), Some(65534)).unwrap();
    let refused = scratch.refused_daemon();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && told.contains("belongs to another user"),
        "{told}"
    );
}
