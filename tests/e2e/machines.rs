//! Two machines that share a memory through a git repository. Each machine has a clone, a home and a daemon.

use std::path::{Path, PathBuf};
use std::process::Command;

use hippo_proto::Cycle;
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
        let shown = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), safe, "{text}{shown}");
        let lines: std::collections::BTreeSet<&str> = text.lines().collect();
        assert_eq!(lines.len(), text.lines().count(), "a repeated line: {text}");
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

fn git(folder: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-C"]);
    let output = command.arg(folder).args(words).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {shown}");
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

/// Makes two machines that share an origin, each with its own daemon.
fn two_machines(scratch: &Scratch) -> (Machine, Machine) {
    origin(scratch);
    let one = Machine::new(scratch, "one");
    one.client().index(&one.folder);
    one.commit();
    one.git(&["push", "-q"]);
    let two = Machine::new(scratch, "two");
    two.client().index(&two.folder);
    (one, two)
}

#[test]
fn memories_of_two_machines_are_merged() {
    let scratch = Scratch::new();
    let (one, two) = two_machines(&scratch);
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
    assert!(shown.contains("a pull works and deletes no file"), "{shown}");
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
fn an_entry_removed_on_one_machine_stays_removed_on_the_others_until_it_is_restored() {
    let scratch = Scratch::new();
    let (one, two) = two_machines(&scratch);
    let [gone, kept] = ["The valve opens at noon.", "The tank holds forty litres."].map(|text| {
        two.client()
            .remember(&two.folder, text, &text[4..9])
            .entry
            .unwrap()
            .id
    });
    two.commit();
    two.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    two.git(&["push", "-q"]);
    one.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    one.client().sync(&one.folder);
    one.client().forget(&one.folder, &gone);
    one.commit();
    one.git(&["push", "-q"]);
    // The other machine changes another entry at the same time, so git merges the files.
    two.client().edit(&two.folder, &kept, |edit| {
        edit.tags = Some(vec!["litres".to_owned()])
    });
    two.commit();
    two.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    let mut client = two.client();
    client.sync(&two.folder);
    for cycle in [Cycle::Light, Cycle::Deep, Cycle::Light] {
        let ids = client.ids(&two.folder);
        assert!(ids.contains(&kept) && !ids.contains(&gone), "{ids:?}");
        assert!(!two.read("HIPPOCAMPUS.md").contains("The valve opens"));
        // A cycle reads the section of the entry again, because its file has changed.
        client.remember(&two.folder, &format!("The {cycle} lamp is lit."), "Lamp");
        client.run(&two.folder, cycle);
    }
    assert!(client.show(&two.folder, &gone).archived.is_some());
    client.restore(&two.folder, &gone);
    assert_eq!(client.show(&two.folder, &gone).archived, None);
    assert!(client.ids(&two.folder).contains(&gone));
    assert!(two.read("HIPPOCAMPUS.md").contains(&format!("id={gone} ")));
    two.commit();
    two.git(&["push", "-q"]);
    one.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    one.client().sync(&one.folder);
    assert!(one.client().ids(&one.folder).contains(&gone));
}

#[test]
fn a_check_names_what_a_pull_would_delete_or_refuse() {
    let scratch = Scratch::new();
    let (one, two) = two_machines(&scratch);
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

#[test]
fn a_check_names_ignored_files_that_a_pull_overwrites() {
    let scratch = Scratch::new();
    origin(&scratch);
    let [one, two] = ["one", "two"].map(|name| Machine::new(&scratch, name));
    for machine in [&one, &two] {
        machine.client().index(&machine.folder);
    }
    one.commit();
    one.git(&["push", "-q"]);
    two.commit();
    two.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    std::fs::write(two.folder.join(".git/info/exclude"), "MEMORY.md\n").unwrap();
    std::fs::write(two.folder.join("MEMORY.md"), "The tap is green.\n").unwrap();
    std::fs::write(one.folder.join("MEMORY.md"), "The tap is red.\n").unwrap();
    one.commit();
    one.git(&["push", "-q"]);
    let shown = two.check(&["--fetch"], false);
    assert!(shown.contains("the pull overwrites them: MEMORY.md"), "{shown}");
}

#[test]
fn init_does_not_exclude_a_shared_memory_from_git() {
    let scratch = Scratch::new();
    origin(&scratch);
    let one = Machine::new(&scratch, "one");
    let mut command = Command::new(client_program());
    command.args(["init", "--platform", "claude-code"]);
    let output = command
        .current_dir(&one.folder)
        .env("HIPPOD_HOME", &one.home)
        .output();
    assert!(output.unwrap().status.success());
    assert!(!one.read(".gitignore").contains("HIPPOCAMPUS.md\n"));
    // In the other order, the setup removes the lines of init.
    let two = scratch.beside("two");
    git(
        &scratch.beside("."),
        &[
            "clone",
            "-q",
            scratch.beside("origin").to_str().unwrap(),
            two.to_str().unwrap(),
        ],
    );
    for words in [
        &["init", "--platform", "claude-code"][..],
        &["sync-check", "--setup"],
    ] {
        let mut command = Command::new(client_program());
        command
            .args(words)
            .current_dir(&two)
            .env("HIPPOD_HOME", &one.home);
        assert!(command.output().unwrap().status.success(), "{words:?}");
    }
    let ignored = std::fs::read_to_string(two.join(".gitignore")).unwrap();
    assert!(
        !ignored.contains("HIPPOCAMPUS.md\n") && ignored.contains("/.hippocampus/"),
        "{ignored}"
    );
}

#[test]
fn versions_without_a_rule_are_a_conflict() {
    let scratch = Scratch::new();
    let file = |name: &str, text: &[u8]| {
        scratch.write(name, text);
        scratch.workspace().join(name)
    };
    let run = |ours: &[u8], theirs: &[u8], path: &str| {
        let [base, ours, theirs] =
            [("base", &b""[..]), ("ours", ours), ("theirs", theirs)].map(|(name, text)| file(name, text));
        let mut command = Command::new(client_program());
        command
            .arg("merge-driver")
            .args([&base, &ours, &theirs])
            .arg(path);
        command.output().unwrap().status.success()
    };
    let (mine, other) = (b"# Root\n\nMine.\n".as_slice(), b"# Root\n\nOther.\n".as_slice());
    assert!(!run(mine, other, "memory/ROOT.md"));
    assert!(!run(b"\xff\xfeM\0", other, "HIPPOCAMPUS.md"), "UTF-16");
    assert!(!run(mine, other, "MEMORY.md"), "a file without a rule");
}
