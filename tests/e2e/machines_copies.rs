//! Conflict copies of programs that synchronize folders, such as Syncthing.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use hippo_map::index_file::{IndexFile, IndexFileOptions};
use hippo_proto::{Cycle, IndexEntry};
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippod_tests::{Caller, Daemon, Dice, PATIENCE, QUIET, Scratch, client_program};

use crate::index_file::{fill, id_of, indexed};
use crate::index_odd::daemon_without_privilege;

const SYNCTHING: &str = "HIPPOCAMPUS.sync-conflict-20261129-101500-ABCDEFG.md";
const DROPBOX: &str = "HIPPOCAMPUS (Ada's conflicted copy 2026-11-29).md";

/// Returns the file after the edits of another machine: `hits` accesses of an entry, a tag, a new entry and a line.
fn edited_elsewhere(file: &str, id: &str, hits: u32, name: &str) -> String {
    let mut file = IndexFile::parse(file.as_bytes(), IndexFileOptions::default());
    let old = file.get(&EntryId(id.to_owned())).unwrap().entry.clone();
    let tags = old.tags.iter().cloned().chain([format!("tag-{name}")]).collect();
    file.update(&Entry {
        hits: old.hits + hits,
        tags,
        ..old.clone()
    });
    let pointer = Pointer {
        path: format!("knowledge/{name}.md"),
        ..Pointer::default()
    };
    let new = Entry {
        id: EntryId(name.to_owned()),
        topic: format!("Topic {name}"),
        pointers: vec![pointer],
        ..old
    };
    assert!(file.insert(&new, &[]));
    String::from_utf8(file.to_bytes()).unwrap() + &format!("\nThe line of {name}.\n")
}

/// Creates a conflict copy. hippod merges it at once, because the time of its last change is long ago.
fn write_copy(root: &Path, name: &str, text: impl AsRef<[u8]>) {
    let draft = root.join(".copy.tmp");
    std::fs::write(&draft, text).unwrap();
    let file = std::fs::File::options().append(true).open(&draft).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60))
        .unwrap();
    std::fs::rename(&draft, root.join(name)).unwrap();
}

/// Returns the conflict copies in the folder, and those that hippod put away.
fn copies(root: &Path) -> [Vec<String>; 2] {
    [root.to_path_buf(), root.join(".hippocampus/conflicts")].map(|folder| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.contains("onflict")).collect();
        names.retain(|name| name != "conflicts");
        names.sort();
        names
    })
}

fn problems(client: &mut Caller) -> Vec<(String, String)> {
    let problems = client.doctor(false).problems.into_iter();
    let found = problems.filter(|problem| problem.id == "conflict-copy");
    found.map(|problem| (problem.where_, problem.what)).collect()
}

#[test]
fn a_conflict_copy_is_merged_by_entries_and_moved_away() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let id = id_of(&mut client, &scratch, "Backups");
    let (before, base) = (client.entry(&root, &id), scratch.index_file());
    client.edit(&root, &id, |edit| {
        edit.summary = Some("Backups run at three.".into())
    });
    client.sync(&root);
    let documents = client.status().workspaces[0].documents;
    let [one, two] = [(5, "wharf"), (2, "quay")].map(|(hits, name)| edited_elsewhere(&base, &id, hits, name));
    write_copy(&root, SYNCTHING, &one);
    write_copy(&root, DROPBOX, &two);
    // The watcher notices the copies.
    let deadline = Instant::now() + PATIENCE;
    while copies(&root)[0] != [""; 0] {
        assert!(Instant::now() < deadline, "{:?}", copies(&root));
        std::thread::yield_now();
    }
    client.sync(&root);
    let entry = client.entry(&root, &id);
    assert_eq!(
        (entry.hits, entry.summary.as_str()),
        (before.hits + 7, "Backups run at three.")
    );
    let ids = client.ids(&root);
    for name in ["wharf", "quay"] {
        assert!(entry.tags.contains(&format!("tag-{name}")), "{:?}", entry.tags);
        assert!(ids.contains(&name.to_owned()), "{ids:?}");
        let line = format!("The line of {name}.");
        assert_eq!(
            scratch.index_file().matches(&line).count(),
            1,
            "{}",
            scratch.index_file()
        );
        let found = client.search(&root, &line);
        assert!(
            found.results.iter().all(|hit| !hit.text.contains(&line)),
            "{:?}",
            found.results
        );
    }
    assert_eq!(copies(&root)[1], [DROPBOX, SYNCTHING]);
    let kept = std::fs::read_to_string(root.join(".hippocampus/conflicts").join(SYNCTHING)).unwrap();
    assert_eq!(kept, one);
    assert_eq!(client.status().workspaces[0].documents, documents);
    assert_eq!(problems(&mut client), []);
    // A copy that another machine sends again changes nothing.
    // It can be incomplete, so hippod waits until it is quiet.
    scratch.write(DROPBOX, &two);
    client.sync(&root);
    assert_eq!(client.entry(&root, &id).hits, before.hits + 7);
    assert_eq!(copies(&root)[1].len(), 3);
}

/// A machine whose folder a program synchronizes, apart from hidden files.
struct Machine {
    root: PathBuf,
    _daemon: Daemon,
    client: Caller,
}

impl Machine {
    fn new(scratch: &Scratch, name: &str) -> Self {
        let daemon = Daemon::start(&scratch.beside(&format!("{name}-home")), &QUIET);
        let mut client = daemon.client();
        client.index(&scratch.beside(name));
        Self {
            root: scratch.beside(name).canonicalize().unwrap(),
            _daemon: daemon,
            client,
        }
    }

    fn file(&self) -> Vec<u8> {
        std::fs::read(self.root.join("HIPPOCAMPUS.md")).unwrap()
    }

    /// Replaces the file with the one of another machine, and keeps its own as a conflict copy on both machines.
    fn lose(&self, to: &Self) {
        let (mine, theirs) = (self.file(), to.file());
        let draft = self.root.join(".sync.tmp");
        std::fs::rename(self.root.join("HIPPOCAMPUS.md"), self.root.join(SYNCTHING)).unwrap();
        std::fs::write(&draft, theirs).unwrap();
        std::fs::rename(&draft, self.root.join("HIPPOCAMPUS.md")).unwrap();
        write_copy(&to.root, SYNCTHING, mine);
    }

    fn entries(&mut self) -> Vec<IndexEntry> {
        self.client.sync(&self.root);
        self.client.entries(&self.root)
    }

    fn edit(&mut self, id: &str, summary: Option<&str>, tags: Option<&str>) {
        self.client.edit(&self.root, id, |edit| {
            edit.summary = summary.map(str::to_owned);
            edit.tags = tags.map(|tag| vec![tag.to_owned()]);
        });
        self.client.sync(&self.root);
    }
}

#[test]
fn machines_whose_folder_is_synchronized_converge_and_lose_no_edit() {
    let scratch = Scratch::new();
    fill(&scratch);
    std::fs::rename(scratch.workspace(), scratch.beside("one")).unwrap();
    let mut one = Machine::new(&scratch, "one");
    let copied = Command::new("cp")
        .arg("-r")
        .args([&one.root, &scratch.beside("two")])
        .status();
    assert!(copied.unwrap().success());
    std::fs::remove_dir_all(scratch.beside("two/.hippocampus")).unwrap();
    let mut two = Machine::new(&scratch, "two");
    let ids: Vec<String> = one.entries().into_iter().map(|entry| entry.id).collect();
    assert_eq!(
        two.entries()
            .into_iter()
            .map(|entry| entry.id)
            .collect::<Vec<_>>(),
        ids
    );
    // Each machine writes several versions before the program connects them.
    for (round, loser) in [(1, 2), (2, 1), (3, 2)] {
        let [summary, tag] = [format!("Summary {round}."), format!("tag-{round}")];
        one.edit(&ids[0], Some(&summary), None);
        one.edit(&ids[1], None, Some(&tag));
        two.edit(&ids[2], Some(&summary), None);
        two.edit(&ids[3], Some(&summary), None);
        two.client.forget(&two.root, &ids[3 + round]);
        two.edit(&ids[3], None, Some(&tag));
        match loser {
            1 => one.lose(&two),
            _ => two.lose(&one),
        }
        for machine in [&mut one, &mut two] {
            let entries = machine.entries();
            let entry = |at: usize| entries.iter().find(|entry| entry.id == ids[at]).unwrap();
            for at in [0, 2, 3] {
                assert_eq!(entry(at).summary, summary, "{round}: {at}");
            }
            for at in [1, 3] {
                assert_eq!(entry(at).tags, [tag.as_str()], "{round}: {at}");
            }
            let removed = &ids[4..4 + round];
            assert!(
                entries.iter().all(|entry| !removed.contains(&entry.id)),
                "{round}"
            );
            assert_eq!(entries.len(), ids.len() - round);
            assert!(copies(&machine.root)[0].is_empty());
            assert_eq!(problems(&mut machine.client), []);
        }
        // The program copies the file that was written last. No further conflict arises.
        std::fs::write(one.root.join("HIPPOCAMPUS.md"), two.file()).unwrap();
        one.client.sync(&one.root);
        std::fs::write(two.root.join("HIPPOCAMPUS.md"), one.file()).unwrap();
        two.client.sync(&two.root);
    }
}

#[test]
fn copies_that_cannot_be_merged_stay_and_are_reported() {
    let scratch = Scratch::new();
    fill(&scratch);
    let daemon = daemon_without_privilege(&scratch);
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let (file, ids) = (scratch.index_file(), client.ids(&root));
    let outside = scratch.beside("outside.md");
    std::fs::write(
        &outside,
        file.replace("## Meta", "A line from outside.\n\n## Meta"),
    )
    .unwrap();
    let path = |number: u32| {
        root.join(format!(
            "HIPPOCAMPUS.sync-conflict-20261129-10150{number}-ABCDEFG.md"
        ))
    };
    std::os::unix::fs::symlink(&outside, path(0)).unwrap();
    std::fs::create_dir(path(1)).unwrap();
    std::fs::write(path(2), b"- a line of fifty megabytes\n".repeat((50 << 20) / 28)).unwrap();
    std::fs::write(path(3), [file.as_bytes(), b"\n\xff\xfe\n"].concat()).unwrap();
    std::fs::write(path(4), format!("{file}\nA hidden line.\n")).unwrap();
    std::fs::set_permissions(path(4), std::fs::Permissions::from_mode(0o0)).unwrap();
    std::fs::write(path(5), &file[..=file.find('\n').unwrap()]).unwrap();
    assert!(Command::new("mkfifo").arg(path(6)).status().unwrap().success());
    // This copy was cut off.
    let cut = (file.len() / 3..).find(|at| file.is_char_boundary(*at)).unwrap();
    std::fs::write(path(7), &file[..cut]).unwrap();
    client.sync(&root);
    assert_eq!(client.ids(&root), ids);
    assert_eq!(scratch.index_file(), file);
    let reported = problems(&mut client);
    for (number, why) in [
        (0, "not a regular file"),
        (1, "not a regular file"),
        (2, "more than"),
        (3, "not text"),
        (4, "cannot be read"),
        (6, "not a regular file"),
        (7, "lacks many entries"),
    ] {
        let place = path(number).display().to_string();
        let is_reported = |(at, what): &(String, String)| *at == place && what.contains(why);
        assert!(reported.iter().any(is_reported), "{number}: {reported:?}");
        assert!(path(number).symlink_metadata().is_ok());
    }
    // A copy without a header and without entries adds nothing and removes nothing.
    assert_eq!(copies(&root)[1].len(), 1);
    // Conflict copies of other files stay as well.
    let note = "knowledge/kitchen.sync-conflict-20261129-101500-ABCDEFG.md";
    scratch.write(note, "# Kitchen\n\nThe fridge is green.\n");
    client.sync(&root);
    let reported = problems(&mut client);
    let is_reported = |(at, what): &(String, String)| at.ends_with(note) && what.contains("kitchen.md");
    assert!(reported.iter().any(is_reported), "{reported:?}");
    assert!(root.join(note).exists());
}

#[test]
fn a_daemon_killed_between_merge_and_move_merges_a_copy_once() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let id = id_of(&mut client, &scratch, "Backups");
    let hits = client.entry(&root, &id).hits;
    // A file at the place of the folder prevents the move.
    scratch.write(".hippocampus/conflicts", "mine");
    let copy = edited_elsewhere(&scratch.index_file(), &id, 5, "wharf");
    write_copy(&root, SYNCTHING, copy);
    client.sync(&root);
    assert_eq!(client.entry(&root, &id).hits, hits + 5);
    assert_eq!(copies(&root)[0], [SYNCTHING]);
    assert!(problems(&mut client)[0].1.contains("it is merged"));
    daemon.kill();
    std::fs::remove_file(root.join(".hippocampus/conflicts")).unwrap();
    let mut expected = hits + 5;
    let (mut dice, mut number) = (Dice::new(), 0);
    for round in 0..20 {
        let daemon = scratch.quiet_daemon();
        let mut client = daemon.client();
        if round == 0 {
            client.sync(&root);
            assert_eq!(copies(&root), [vec![], vec![SYNCTHING.to_owned()]]);
        }
        assert_eq!(client.entry(&root, &id).hits, expected, "{round}");
        number += 1;
        let copy = edited_elsewhere(&scratch.index_file(), &id, 1, &format!("name{number}"));
        write_copy(&root, &format!("HIPPOCAMPUS (conflicted copy {number}).md"), copy);
        expected += 1;
        // Kill the daemon at any time during the merge.
        for _ in 0..dice.below(1 << (round % 20)) {
            std::thread::yield_now();
        }
        daemon.kill();
        let daemon = scratch.quiet_daemon();
        let mut client = daemon.client();
        client.sync(&root);
        assert_eq!(client.entry(&root, &id).hits, expected, "{round}");
        assert_eq!(
            scratch
                .index_file()
                .matches(&format!("line of name{number}."))
                .count(),
            1
        );
        assert!(copies(&root)[0].is_empty());
        client.sync(&root);
        daemon.terminate();
    }
}

#[test]
fn sync_check_names_conflict_copies() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let note = "memory/2026-03-02.sync-conflict-20261129-101500-ABCDEFG.md";
    scratch.write(note, "# 2026-03-02\n\nThe fridge is green.\n");
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-C"]);
        assert!(
            command.arg(&root).args(words).status().unwrap().success(),
            "{words:?}"
        );
    };
    let origin = scratch.beside("origin");
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "memory"]);
    git(&["init", "-q", "--bare", origin.to_str().unwrap()]);
    git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    git(&["push", "-q", "-u", "origin", "main"]);
    let mut command = Command::new(client_program());
    command
        .arg("sync-check")
        .current_dir(&root)
        .env("HIPPOD_HOME", scratch.home());
    let output = command.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        shown.contains(&format!(
            "conflict copies of another program; compare them with the originals, then delete them: {note}"
        )),
        "{shown}"
    );
    client.run(&root, Cycle::Light);
    assert!(root.join(note).exists());
}
