//! Two machines that share a memory through a git repository. Each machine has a clone, a home and a daemon.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hippod_tests::{Caller, Daemon, Scratch, client_program};

/// A machine with a clone of the repository.
struct Machine {
    folder: PathBuf,
    home: PathBuf,
    daemon: Daemon,
}

impl Machine {
    /// Clones the repository, prepares it, and starts a daemon.
    fn new(scratch: &Scratch, name: &str) -> Self {
        let folder = scratch.beside(name);
        let (from, to) = (scratch.beside("origin"), folder.to_str().unwrap());
        git(&scratch.beside("."), &["clone", "-q", from.to_str().unwrap(), to]);
        let home = scratch.beside(&format!("{name}-home"));
        let daemon = Daemon::start(&home, &[]);
        let machine = Self {
            folder: folder.canonicalize().unwrap(),
            home,
            daemon,
        };
        machine.check(&["--setup"], true);
        machine
    }

    fn client(&self) -> Caller {
        self.daemon.client()
    }

    fn git(&self, words: &[&str]) {
        git(&self.folder, words);
    }

    /// Runs `hippoctl sync-check`, and returns its output.
    fn check(&self, words: &[&str], safe: bool) -> String {
        let mut command = Command::new(client_program());
        command.arg("sync-check").args(words);
        let output = command
            .current_dir(&self.folder)
            .env("HIPPOD_HOME", &self.home)
            .output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), safe, "{text}{told}");
        text
    }

    /// Waits until the files contain all entries, and commits them.
    fn commit(&self) {
        self.client().sync(&self.folder);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "memory"]);
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.join(path)).unwrap()
    }
}

fn try_git(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-C"]);
    command.arg(folder).args(words).output().unwrap()
}

fn git(folder: &Path, words: &[&str]) {
    let output = try_git(folder, words);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {told}");
}

/// Creates the common repository with one note.
fn origin(scratch: &Scratch) {
    let (origin, first) = (scratch.beside("origin"), scratch.beside("first"));
    std::fs::create_dir_all(first.join("memory")).unwrap();
    std::fs::write(first.join("memory/pump.md"), "# Pump\n\n- The pump is blue.\n").unwrap();
    git(
        &scratch.beside("."),
        &["init", "-q", "--bare", "-b", "main", origin.to_str().unwrap()],
    );
    git(&first, &["init", "-q", "-b", "main"]);
    git(&first, &["add", "-A"]);
    git(&first, &["commit", "-qm", "first"]);
    git(&first, &["push", "-q", origin.to_str().unwrap(), "main"]);
}

#[test]
fn what_two_machines_remember_at_the_same_time_is_merged() {
    let scratch = Scratch::new();
    origin(&scratch);
    let one = Machine::new(&scratch, "one");
    one.client().index(&one.folder);
    one.commit();
    one.git(&["push", "-q"]);
    let two = Machine::new(&scratch, "two");
    two.client().index(&two.folder);
    let texts = ["The valve opens at noon.", "The tank holds forty litres."];
    for (machine, (text, topic)) in [&one, &two]
        .into_iter()
        .zip(texts.into_iter().zip(["Valve", "Tank"]))
    {
        machine.client().remember(&machine.folder, text, topic);
        machine.commit();
    }
    one.git(&["push", "-q"]);
    let shown = two.check(&["--fetch"], true);
    assert!(shown.contains("a pull works and deletes nothing"), "{shown}");
    two.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    two.git(&["push", "-q"]);
    one.git(&["pull", "-q", "--ff-only"]);
    for machine in [&one, &two] {
        let mut client = machine.client();
        client.sync(&machine.folder);
        let ids = client.ids(&machine.folder);
        let map = machine.read("HIPPOCAMPUS.md");
        assert!(!map.contains("<<<<"), "{map}");
        for (topic, text) in ["valve", "tank"].into_iter().zip(texts) {
            assert!(ids.iter().any(|id| id.contains(topic)), "{topic}: {ids:?}");
            let best = client.search(&machine.folder, text);
            assert_eq!(best.results[0].text.trim_start_matches("- ").trim(), text);
        }
    }
}

#[test]
fn a_check_names_what_a_pull_would_delete_or_refuse() {
    let scratch = Scratch::new();
    origin(&scratch);
    let one = Machine::new(&scratch, "one");
    one.client().index(&one.folder);
    one.commit();
    one.git(&["push", "-q"]);
    let two = Machine::new(&scratch, "two");
    two.client().index(&two.folder);
    two.commit();
    one.git(&["rm", "-q", "memory/pump.md"]);
    std::fs::write(one.folder.join("MEMORY.md"), "The tap is red.\n").unwrap();
    one.commit();
    one.git(&["push", "-q"]);
    let shown = two.check(&["--fetch"], false);
    assert!(shown.contains("the pull deletes memory/pump.md"), "{shown}");
    std::fs::write(two.folder.join("MEMORY.md"), "The tap is green.\n").unwrap();
    let shown = two.check(&[], false);
    assert!(
        shown.contains("refuse the pull until you commit MEMORY.md"),
        "{shown}"
    );
    two.commit();
    let shown = two.check(&[], false);
    assert!(shown.contains("git cannot merge MEMORY.md"), "{shown}");
    assert_eq!(two.read("MEMORY.md"), "The tap is green.\n");
}
