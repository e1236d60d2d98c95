//! Tests of `init` and its undo on real files.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use hippo_proto::folder;
use hippo_proto::{
    ErrorKind, Paths, Request, RpcError, WorkspaceAddResponse, WorkspaceRemoveResponse, encode_error,
    encode_result,
};
use hippo_tree::{Node, NodeStatus, Period};
use scripted::{Daemon, hippoctl, out};
use serde_json::Value;
use tempfile::TempDir;

/// A folder, and a home in which no daemon runs.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("w")).unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("w")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn record(&self) -> PathBuf {
        let state = Paths::below(&self.home()).state;
        folder::decisions(&state, &self.root()).join(folder::HARNESS)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let words: Vec<&str> = words.iter().copied().chain(["--no-start"]).collect();
        out(&hippoctl(&self.home(), &self.root(), &words))
    }
}

/// Returns the mode of each path, and its bytes or its link target.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let bytes = if metadata.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                target.into_os_string().into_encoded_bytes()
            } else {
                fs::read(&path).unwrap()
            };
            tree.insert(path, (metadata.permissions().mode(), bytes));
        }
    }
    tree
}

#[test]
fn init_without_a_daemon_writes_files_and_names_the_next_step() {
    let place = Place::new();
    place.write("AGENTS.md", "# Rules\r\n");
    fs::set_permissions(place.root().join("AGENTS.md"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("AGENTS.md", place.root().join("CLAUDE.md")).unwrap();
    let before = tree(&place.root());
    let (code, dry, _) = place.run(&["init", "--dry-run"]);
    assert_eq!(code, 0);
    assert_eq!(tree(&place.root()), before, "--dry-run writes nothing");
    let (code, told, errors) = place.run(&["init"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{told}");
    assert!(
        told.contains("once a daemon is running, repeat: hippoctl init "),
        "{told}"
    );
    let listed = |text: &str, words: [&str; 2]| -> Vec<String> {
        let lines = text.lines().map(str::trim);
        let found = lines.filter_map(|line| words.iter().find_map(|word| line.strip_prefix(word)));
        found.map(|rest| rest.trim().to_owned()).collect()
    };
    let mut planned = listed(&dry, ["would create", "would change"]);
    assert_eq!(planned.pop().unwrap(), "HIPPOCAMPUS.md: the daemon writes it");
    assert_eq!(planned, listed(&told, ["created", "changed"]));
    let agents = fs::read_to_string(place.root().join("AGENTS.md")).unwrap();
    assert!(agents.starts_with("# Rules\r\n\r\n<!-- hippod: ") && agents.contains("\r\n@memory/ROOT.md\r\n"));
    assert!(place.root().join("CLAUDE.md").is_symlink(), "a link stays a link");
    let once = tree(&place.root());
    let (_, again, _) = place.run(&["init"]);
    assert!(again.contains("nothing to change"), "{again}");
    assert_eq!(tree(&place.root()), once);
    let (_, dry, _) = place.run(&["init", "--undo", "--dry-run"]);
    assert!(
        dry.starts_with("would revert init in ") && dry.contains("would remove  memory/ROOT.md"),
        "{dry}"
    );
    for done in ["removed", "changed  ", "reverted", "no longer contains"] {
        assert!(!dry.contains(done), "{dry}");
    }
    assert_eq!(tree(&place.root()), once);
    let (code, told, errors) = place.run(&["init", "--undo"]);
    assert_eq!(code, 0, "{told}{errors}");
    assert_eq!(tree(&place.root()), before);
    let (code, _, errors) = place.run(&["init", "--undo"]);
    assert_eq!(code, 4, "{errors}");
}

#[test]
fn init_with_an_unusable_file_writes_nothing() {
    let place = Place::new();
    place.write("CLAUDE.md", "mine\n");
    place.write(".claude/settings.json", "{\n  \"model\": \"opus\",\n  oops\n}\n");
    symlink("../outside", place.root().join("knowledge")).unwrap();
    place.write("plans", "a file");
    let before = tree(&place.root());
    let (code, told, errors) = place.run(&["init", "--full"]);
    assert_eq!((code, told.as_str()), (5, ""));
    for what in [
        ".claude/settings.json: line 3, column 3",
        "knowledge: it is a link without a target",
        "plans: a file exists at the path of this folder",
        "nothing was written",
    ] {
        assert!(errors.contains(what), "{errors}");
    }
    assert_eq!(tree(&place.root()), before);
    let (code, _, errors) = place.run(&["init", "nowhere"]);
    assert_eq!(code, 4, "{errors}");
    let (code, _, errors) = place.run(&["init", "--platform", "vim"]);
    assert_eq!(code, 2, "{errors}");
}

#[test]
fn init_keeps_the_files_of_a_hipocampus_folder() {
    let place = Place::new();
    let protocol =
        "<!-- hipocampus:protocol:start -->\nfollow\n<!-- hipocampus:protocol:end -->\n@memory/ROOT.md\n";
    place.write("CLAUDE.md", protocol);
    let config = "{\n  \"platform\": \"claude-code\",\n  \"search\": { \"vector\": false },\n  \"tenants\": [\"a\"]\n}\n";
    place.write("hipocampus.config.json", config);
    place.write(
        "memory/ROOT.md",
        "---\ntype: root\n---\n## Topics Index\n- pump: blue\n",
    );
    place.write("SCRATCHPAD.md", "mine\n");
    place.write(".claude/skills/hipocampus-core/SKILL.md", "theirs\n");
    let before = tree(&place.root());
    let (code, told, errors) = place.run(&["init", "--json"]);
    assert_eq!(code, 0, "{errors}");
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&told["platform"], &told["told_by"]),
        (&"claude-code".into(), &"hipocampus.config.json".into())
    );
    assert!(
        told["notes"]
            .to_string()
            .contains("also contains the protocol of hipocampus"),
        "{told}"
    );
    let now = tree(&place.root());
    for (path, state) in before.iter().filter(|(path, _)| !path.ends_with("CLAUDE.md")) {
        assert_eq!(now[path], *state, "{}", path.display());
    }
    let claude = fs::read_to_string(place.root().join("CLAUDE.md")).unwrap();
    assert!(
        claude.starts_with(protocol) && claude.matches("@memory/ROOT.md\n").count() == 1,
        "{claude}"
    );
    place.run(&["init", "--undo"]);
    assert_eq!(tree(&place.root()), before);
}

#[test]
fn deinit_keeps_a_link_made_later_and_removes_all_blocks() {
    for merged in [false, true] {
        let place = Place::new();
        place.write("CLAUDE.md", "# Mine\n");
        place.run(&["init", "--platform", "claude-code"]);
        let [claude, agents] = ["CLAUDE.md", "AGENTS.md"].map(|name| place.root().join(name));
        if merged {
            // The blocks of both platforms are now in the same file.
            place.write("AGENTS.md", "# Too\n");
            place.run(&["init", "--platform", "codex"]);
            let both = fs::read_to_string(&agents).unwrap() + &fs::read_to_string(&claude).unwrap();
            fs::remove_file(&claude).unwrap();
            fs::write(&agents, both).unwrap();
        } else {
            fs::rename(&claude, &agents).unwrap();
        }
        symlink("AGENTS.md", &claude).unwrap();
        let (code, told, errors) = place.run(&["init", "--undo"]);
        assert_eq!(code, 0, "{told}{errors}");
        assert!(claude.is_symlink());
        let text = fs::read_to_string(&agents).unwrap();
        assert!(text.contains("# Mine\n") && !text.contains("hippo"), "{text}");
        assert_eq!(text.contains("# Too\n"), merged, "{text}");
    }
}

#[test]
fn undo_without_a_daemon_changes_nothing() {
    let place = Place::new();
    let before = tree(&place.root());
    let root = place.root().display().to_string();
    let record = || fs::read_to_string(place.record()).unwrap();
    let (seen, heard) = std::sync::mpsc::channel();
    let file = place.record();
    let taking = Daemon::start(move |call| {
        // At this point, the record on disk is the record that an interrupted process would leave behind.
        let _ = seen.send(fs::read_to_string(&file).unwrap());
        encode_result(
            &call.id,
            &WorkspaceAddResponse {
                root: root.clone(),
                added: true,
            },
        )
    });
    let (code, told, _) = out(&taking.run_in(&place.home(), &place.root(), &["init"]));
    assert_eq!(code, 0, "{told}");
    assert!(heard.recv().unwrap().contains("\"registered\": true"));
    assert!(record().contains("\"registered\": true"));
    let made = (tree(&place.root()), record());
    let (code, told, errors) = place.run(&["init", "--undo"]);
    assert_eq!((code, told.as_str()), (3, ""), "{errors}");
    assert!(errors.contains("still registered"), "{errors}");
    assert_eq!((tree(&place.root()), record()), made);
    // The daemon has written `memory/ROOT.md` since init created it.
    let period = Period::All;
    let topics = Node::new(period, NodeStatus::Fixed, vec![], None, "## Topics\n".to_owned());
    place.write("memory/ROOT.md", &topics.write());
    let removing = Daemon::start(move |call| {
        let removed = WorkspaceRemoveResponse {
            root: String::new(),
            contexts_kept: false,
            restored: Vec::new(),
            notes: Vec::new(),
        };
        encode_result(&call.id, &removed)
    });
    let (code, told, errors) = out(&removing.run_in(&place.home(), &place.root(), &["init", "--undo"]));
    assert_eq!(code, 0, "{told}{errors}");
    assert!(told.contains("memory/ROOT.md"), "{told}");
    assert_eq!(tree(&place.root()), before);
}

#[test]
fn git_still_sees_the_existing_files_of_the_project() {
    let place = Place::new();
    for path in ["plans/one.md", "memory/arena.rs"] {
        place.write(path, "ours\n");
    }
    let git = |words: &[&str]| {
        let ran = std::process::Command::new("git")
            .args(words)
            .current_dir(place.root())
            .output()
            .unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    git(&["init", "-q"]);
    place.run(&["init", "--full"]);
    let once = fs::read(place.root().join(".gitignore")).unwrap();
    place.run(&["init"]);
    assert_eq!(fs::read(place.root().join(".gitignore")).unwrap(), once);
    for path in [
        "plans/two.md",
        "memory/pool.rs",
        "memory/2026-03-02.md",
        "memory/2026-03-02-b.md",
        "memory/daily/2026-03-02.md",
        "knowledge/relay.md",
    ] {
        place.write(path, "new\n");
    }
    let seen = git(&["status", "--porcelain", "-uall"]);
    let seen: Vec<&str> = seen.lines().filter_map(|line| line.strip_prefix("?? ")).collect();
    for path in [
        "plans/one.md",
        "plans/two.md",
        "memory/arena.rs",
        "memory/pool.rs",
    ] {
        assert!(seen.contains(&path), "{path}: {seen:?}");
    }
    let hidden = |path: &&&str| {
        path.starts_with("knowledge/") || path.starts_with("memory/") && !path.ends_with(".rs")
    };
    assert_eq!(seen.iter().find(hidden), None, "{seen:?}");
}

#[test]
fn only_init_with_full_creates_working_files() {
    let place = Place::new();
    place.run(&["init", "--platform", "claude-code"]);
    let names = || -> Vec<String> {
        let names = tree(&place.root()).into_keys();
        let names = names.map(|path| path.strip_prefix(place.root()).unwrap().display().to_string());
        names.collect()
    };
    let less = names();
    let files = less.iter().filter(|name| place.root().join(name).is_file());
    assert_eq!(
        files.collect::<Vec<_>>(),
        [
            ".claude/settings.json",
            ".claude/skills/hippod-core/SKILL.md",
            ".gitignore",
            ".mcp.json",
            "CLAUDE.md",
            "hipocampus.config.json",
            "memory/ROOT.md"
        ]
    );
    let claude = || fs::read_to_string(place.root().join("CLAUDE.md")).unwrap();
    assert!(!claude().contains("SCRATCHPAD.md"));
    place.run(&["init", "--full"]);
    assert!(claude().contains("SCRATCHPAD.md"));
    let all = names();
    for name in [
        "SCRATCHPAD.md",
        "knowledge",
        "plans",
        ".claude/skills/hippod-flush/SKILL.md",
    ] {
        assert!(all.iter().any(|there| there == name), "{name}: {all:?}");
    }
    let (_, told, _) = place.run(&["init"]);
    assert!(told.contains("nothing to change"), "{told}");
    place.run(&["init", "--undo"]);
    assert_eq!(tree(&place.root()).len(), 0);
}

#[test]
fn bare_writes_only_a_first_root_and_the_folders_of_nodes() {
    let place = Place::new();
    place.run(&["init", "--bare"]);
    let mut there = tree(&place.root()).into_keys();
    assert!(
        there.all(|path| path.ends_with(".hippocampus") || path.starts_with(place.root().join("memory")))
    );
    let nodes = ["ROOT.md", "daily", "weekly", "monthly"].map(|name| place.root().join("memory").join(name));
    assert!(nodes.iter().all(|path| path.exists()));
    place.run(&["init", "--undo"]);
    assert_eq!(tree(&place.root()).len(), 0);
}

#[test]
fn init_writes_files_and_reports_a_refusal_of_the_daemon() {
    let place = Place::new();
    let refusing = Daemon::start(|call| {
        let refusal = RpcError::new(ErrorKind::Conflict, "too near to another one").hint("choose another");
        encode_error(&call.id, &refusal)
    });
    let (code, told, errors) = out(&refusing.run_in(&place.home(), &place.root(), &["init"]));
    assert_eq!(code, 5, "{told}");
    let named = errors.contains("too near") && errors.contains("choose another");
    assert!(named, "{errors}");
    assert!(place.root().join("CLAUDE.md").is_file());
    let root = place.root().display().to_string();
    let taking = Daemon::start(move |call| {
        let root = root.clone();
        let added = WorkspaceAddResponse { root, added: true };
        encode_result(&call.id, &added)
    });
    let (code, told, _) = out(&taking.run_in(&place.home(), &place.root(), &["init", "--json"]));
    let asked = taking.requests.try_iter().next().unwrap();
    assert!(matches!(asked, Request::WorkspaceAdd(_)), "{asked:?}");
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (code, &told["registered"], &told["changes"]),
        (0, &true.into(), &Value::Array(vec![]))
    );
}
