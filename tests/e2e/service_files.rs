//! Files and commands of `hippoctl service`, with and without a manager.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use hippod_tests::{Daemon, PATIENCE, Scratch, client_program, program};
use serde_json::Value;

/// Script that imitates a service manager and records its calls. It reports the state that the file `service`
/// contains, and knows no other service.
const RECORDER: &str = r#"#!/bin/sh
echo "$*" >> "$RECORD/calls"
case "$*" in
*" show hippod.service "*) cat "$RECORD/service" 2>/dev/null || printf 'ActiveState=inactive\nMainPID=0\n' ;;
*" show hippod.socket "*) echo ActiveState=inactive ;;
*" enable "*) test ! -e "$RECORD/refuses" || { rm "$RECORD/refuses"; exit 1; } ;;
esac
exit 0
"#;

/// The home of a person, and a service manager beside it.
pub struct Bed {
    pub scratch: Scratch,
    manager: bool,
}

impl Bed {
    pub fn new(manager: bool) -> Self {
        let scratch = Scratch::new();
        std::fs::create_dir_all(scratch.beside("bin")).unwrap();
        if manager {
            let place = scratch.beside("bin/systemctl");
            std::fs::write(&place, RECORDER).unwrap();
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { scratch, manager }
    }

    pub fn run(&self, words: &[&str], set: &[(&str, &str)]) -> Output {
        self.run_as(client_program(), words, set)
    }

    pub fn run_as(&self, client: &Path, words: &[&str], set: &[(&str, &str)]) -> Output {
        let bin = self.scratch.beside("bin").display().to_string();
        // The manager's script needs the standard programs of a shell.
        let path = if self.manager {
            format!("{bin}:/usr/bin:/bin")
        } else {
            bin
        };
        Command::new(client)
            .args(words)
            .env_clear()
            .env("PATH", path)
            .env("RECORD", self.scratch.beside("."))
            .env("HOME", self.scratch.beside("user"))
            .env("XDG_RUNTIME_DIR", self.scratch.beside("run"))
            .envs(set.iter().copied())
            .output()
            .unwrap()
    }

    pub fn done(&self, words: &[&str]) -> String {
        let output = self.run(words, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn unit(&self, name: &str) -> PathBuf {
        self.scratch.beside("user/.config/systemd/user").join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.unit(name)).unwrap()
    }

    /// Returns the calls of the manager since the last check, except queries.
    pub fn calls(&self) -> Vec<String> {
        let file = self.scratch.beside("calls");
        let calls = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(&file);
        let calls = calls.lines().filter(|line| !line.contains(" show "));
        calls
            .map(|line| line.trim_start_matches("--user ").to_owned())
            .collect()
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn install_is_idempotent_and_uninstall_reverts_it() {
    let bed = Bed::new(true);
    let dry = bed.done(&["service", "install", "--dry-run"]);
    assert!(
        dry.contains("would have written:") && dry.contains("would have run: systemctl --user daemon-reload"),
        "{dry}"
    );
    assert!(!bed.scratch.beside("user").exists() && bed.calls().is_empty());

    let told = bed.done(&["service", "install"]);
    assert!(
        told.contains("written: ") && told.contains("run: systemctl --user enable --now"),
        "{told}"
    );
    assert_eq!(
        bed.calls(),
        ["daemon-reload", "enable --now hippod.socket hippod.service"]
    );
    let line = format!("ExecStart=\"{}\" run\n", program().display());
    assert!(bed.text("hippod.service").contains(&line));
    assert!(
        bed.text("hippod.socket")
            .contains("ListenStream=%t/hippod/hippod.sock\n")
    );

    let before = (bed.text("hippod.service"), bed.text("hippod.socket"));
    let told = bed.done(&["service", "install"]);
    assert_eq!(told.matches("unchanged: ").count(), 2, "{told}");
    assert_eq!((bed.text("hippod.service"), bed.text("hippod.socket")), before);
    assert_eq!(
        bed.calls(),
        ["daemon-reload", "enable --now hippod.socket hippod.service"]
    );

    let json: Value = serde_json::from_str(&bed.done(&["service", "status", "--json"])).unwrap();
    assert_eq!(json["files"][0]["state"], "current");
    let told = bed.done(&["service", "uninstall", "--dry-run"]);
    assert!(told.contains("would have removed: "), "{told}");
    assert_eq!(names(&bed.unit("")).len(), 2);
    let told = bed.done(&["service", "uninstall"]);
    assert_eq!(told.matches("removed: ").count(), 2, "{told}");
    assert_eq!(
        bed.calls(),
        ["disable --now hippod.socket hippod.service", "daemon-reload"]
    );
    assert_eq!(names(&bed.unit("")), Vec::<String>::new());
    assert!(bed.done(&["service", "uninstall"]).contains("not installed"));
    assert!(bed.calls().is_empty());
}

#[test]
fn without_a_service_manager_files_are_written_and_commands_printed() {
    let bed = Bed::new(false);
    let told = bed.done(&["service", "install"]);
    assert!(told.contains("no service manager responds"), "{told}");
    let commands =
        "run: systemctl --user daemon-reload && systemctl --user enable --now hippod.socket hippod.service\n";
    assert!(told.contains(commands), "{told}");
    let told = bed.done(&["service", "status"]);
    assert!(
        told.contains("as installed by this version") && told.contains("no service manager responds"),
        "{told}"
    );
    bed.done(&["service", "uninstall"]);
    assert_eq!(names(&bed.unit("")), Vec::<String>::new());
}

#[test]
fn edited_unit_files_are_neither_replaced_nor_removed() {
    let bed = Bed::new(true);
    bed.done(&["service", "install"]);
    let changed = bed.text("hippod.service").replace("MemoryMax=4G", "MemoryMax=8G");
    std::fs::write(bed.unit("hippod.service"), &changed).unwrap();
    std::fs::remove_file(bed.unit("hippod.socket")).unwrap();
    bed.calls();
    for verb in ["install", "uninstall"] {
        let refused = bed.run(&["service", verb], &[]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(5), "{said}");
        assert!(
            said.contains("hippod.service") && said.contains("hint: to keep your own changes"),
            "{said}"
        );
        assert_eq!(names(&bed.unit("")), ["hippod.service"], "nothing was written");
        assert_eq!(bed.text("hippod.service"), changed);
        assert!(bed.calls().is_empty());
    }
    std::fs::remove_file(bed.unit("hippod.service")).unwrap();
    std::fs::write(bed.scratch.beside("service"), "ActiveState=active\nMainPID=7\n").unwrap();
    bed.done(&["service", "install"]);
    assert!(bed.text("hippod.service").contains("MemoryMax=4G"));
    assert_eq!(
        bed.calls(),
        [
            "daemon-reload",
            "stop hippod.socket hippod.service",
            "reset-failed hippod.socket hippod.service",
            "enable --now hippod.socket hippod.service"
        ]
    );
}

#[test]
fn an_older_install_is_brought_up_to_date() {
    let bed = Bed::new(true);
    let home = bed.scratch.beside("elsewhere").display().to_string();
    let output = bed.run(
        &["service", "install"],
        &[("HIPPOD_HOME", &home), ("HIPPOD_EMBED_MODEL", "hash")],
    );
    assert!(output.status.success());
    assert!(!bed.text("hippod.service").contains("HIPPOD_EMBED_MODEL"));
    assert!(
        bed.text("hippod.service")
            .contains(&format!("Environment=\"HIPPOD_HOME={home}\"\n"))
    );
    assert!(
        bed.text("hippod.socket")
            .contains(&format!("ListenStream={home}/hippod.sock\n"))
    );
    bed.calls();

    let status = bed.done(&["service", "status"]);
    assert!(
        status.contains("service-unit") && status.contains("different folders"),
        "{status}"
    );
    bed.done(&["service", "install"]);
    assert!(!bed.text("hippod.service").contains("Environment="));
    assert_eq!(bed.calls()[1], "stop hippod.socket hippod.service");
    let odd = bed.run(&["service", "install"], &[("HIPPOD_CACHE", "/a/\tb")]);
    assert_eq!(
        odd.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&odd.stderr)
    );
}

#[test]
fn a_manually_started_daemon_is_replaced_by_the_service() {
    let bed = Bed::new(true);
    let home = bed.scratch.home();
    let mut daemon = Daemon::start(&home, &[]);
    let pid = daemon.client().status().pid;
    let home = home.display().to_string();
    let set = [("HIPPOD_HOME", home.as_str())];
    let output = bed.run(&["service", "install", "--dry-run"], &set);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains(&format!("would have stopped: the running daemon (process {pid})")),
        "{told}"
    );
    assert!(daemon.is_alive());

    // The manager already runs the service as a different process.
    std::fs::write(
        bed.scratch.beside("service"),
        "ActiveState=active\nMainPID=1\nUnitFileState=enabled\n",
    )
    .unwrap();
    bed.run(&["service", "install", "--dry-run"], &set);
    let output = bed.run(&["service", "install"], &set);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let deadline = Instant::now() + PATIENCE;
    while daemon.is_alive() {
        assert!(Instant::now() < deadline, "it was not stopped");
        std::thread::yield_now();
    }
}

#[test]
fn a_service_without_its_program_is_reported_and_uninstalled() {
    let bed = Bed::new(true);
    let alone = bed.scratch.beside("bin/hippoctl");
    std::fs::copy(client_program(), &alone).unwrap();
    let run = |words: &[&str]| {
        let output = bed.run_as(&alone, words, &[]);
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let (code, said) = run(&["service", "install"]);
    assert!(code == Some(4) && said.contains("hint: install hippod"), "{said}");
    bed.done(&["service", "install"]);
    let (code, said) = run(&["service", "status"]);
    assert!(code == Some(0) && said.contains("warning service-unit"), "{said}");
    let (code, said) = run(&["service", "uninstall"]);
    assert!(code == Some(0) && said.contains("removed: "), "{said}");
}

#[test]
fn the_service_runs_without_a_sandbox_if_namespaces_are_forbidden() {
    let bed = Bed::new(true);
    let say = |text: &str| std::fs::write(bed.scratch.beside("service"), text).unwrap();
    say("ActiveState=failed\nMainPID=0\nExecMainStatus=1\n");
    std::fs::write(bed.scratch.beside("refuses"), "").unwrap();
    let refused = bed.run(&["service", "install"], &[]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("journalctl --user -u hippod") && bed.text("hippod.service").contains("PrivateUsers"),
        "{said}"
    );

    say("ActiveState=failed\nMainPID=0\nExecMainStatus=217\n");
    std::fs::write(bed.scratch.beside("refuses"), "").unwrap();
    let told = bed.done(&["service", "install"]);
    assert!(
        told.contains("note: ") && told.contains("user namespaces"),
        "{told}"
    );
    assert!(!bed.text("hippod.service").contains("PrivateUsers"));
    say("ActiveState=active\nMainPID=7\nUnitFileState=enabled\n");
    let status = bed.done(&["service", "status"]);
    assert!(status.contains("\nno problems\n"), "{status}");
    assert_eq!(
        bed.done(&["service", "install"]).matches("unchanged: ").count(),
        2
    );
}
