//! Text that people write into the index file while hippod replaces it.

use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use hippod_tests::{Daemon, PATIENCE, Scratch};

use crate::index_file::{id_of, indexed};
use crate::index_writers::settled;

/// Number of written lines.
const LINES: usize = 200;

fn line(number: usize) -> String {
    format!("my note {number} of the harbour")
}

/// Appends a line, as a shell does with `>>`.
fn append(path: &Path, number: usize) {
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    write!(file, "\n{}\n", line(number)).unwrap();
}

/// Reads the file and inserts a line before the section `Meta`. Writes the text to a new file, and renames it to the
/// old path.
fn rename(path: &Path, number: usize) {
    let draft = path.with_file_name("draft.tmp");
    std::fs::write(&draft, with_line(path, number)).unwrap();
    std::fs::rename(&draft, path).unwrap();
}

/// Reads the file and rewrites it in place with one more line.
fn rewrite(path: &Path, number: usize) {
    std::fs::write(path, with_line(path, number)).unwrap();
}

fn with_line(path: &Path, number: usize) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let at = text.find("\n## Meta\n").expect("the section Meta") + 1;
    format!("{}{}\n\n{}", &text[..at], line(number), &text[at..])
}

/// Writes one line for each message on `beats`. The receiver is dropped after the last line.
fn write_lines(path: &Path, lines: std::ops::Range<usize>, write: fn(&Path, usize), beats: Receiver<()>) {
    for (number, ()) in lines.zip(beats) {
        write(path, number);
    }
}

/// Edits an entry repeatedly while the lines are written, and kills the daemon `kills` times. Returns the numbers of
/// the lines that were lost.
fn lost(write: fn(&Path, usize), kills: usize) -> Vec<usize> {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let id = id_of(&mut client, &scratch, "Backups");
    settled(&mut client, &scratch);
    let path = scratch.index_path();
    let share = LINES / (kills + 1);
    let mut daemon = Some(daemon);
    for round in 0..=kills {
        // hippod edits the file while each line is written.
        let (beat, beats) = sync_channel(0);
        std::thread::scope(|scope| {
            let lines = round * share..(round + 1) * share;
            let writer = scope.spawn(|| write_lines(&path, lines, write, beats));
            let mut pinned = false;
            while beat.send(()).is_ok() {
                pinned = !pinned;
                client.edit(&root, &id, |edit| edit.pinned = Some(pinned));
            }
            writer.join().unwrap();
        });
        if round < kills {
            daemon.take().expect("a daemon").kill();
            daemon = Some(scratch.quiet_daemon());
            client = daemon.as_ref().expect("a daemon").client();
            client.sync(&root);
        }
    }
    settled(&mut client, &scratch);
    let daemon = daemon.expect("a daemon");
    let text = scratch.index_file();
    let there: std::collections::BTreeSet<&str> = text.lines().map(str::trim).collect();
    let lost = (0..share * (kills + 1)).filter(|number| !there.contains(line(*number).as_str()));
    let lost: Vec<usize> = lost.collect();
    for number in 0..share * (kills + 1) {
        assert!(
            text.matches(&format!("{}\n", line(number))).count() < 3,
            "line {number} again and again"
        );
    }
    assert_stopped_cleanly(&scratch, daemon);
    lost
}

/// Asserts that an orderly stop leaves no file beside the index file.
fn assert_stopped_cleanly(scratch: &Scratch, daemon: Daemon) {
    daemon.terminate();
    assert_eq!(scratch.remains(), Vec::<String>::new());
}

#[test]
fn no_line_appended_while_hippod_writes_is_lost() {
    assert_eq!(lost(append, 0), Vec::<usize>::new());
}

#[test]
fn no_line_appended_while_hippod_is_killed_is_lost() {
    assert_eq!(lost(append, 3), Vec::<usize>::new());
}

#[test]
fn no_line_of_an_editor_that_renames_is_lost() {
    assert_eq!(lost(rename, 1), Vec::<usize>::new());
}

#[test]
fn no_line_of_an_editor_that_rewrites_is_lost() {
    assert_eq!(lost(rewrite, 1), Vec::<usize>::new());
}

#[test]
fn a_regular_stop_leaves_no_temporary_files() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let id = id_of(&mut client, &scratch, "Backups");
    settled(&mut client, &scratch);
    let mut held = std::fs::File::options()
        .append(true)
        .open(scratch.index_path())
        .unwrap();
    for number in 0..5 {
        client.edit(&root, &id, |edit| edit.tags = Some(vec![format!("tag-{number}")]));
    }
    assert!(!scratch.remains().is_empty(), "they wait for a second");
    // This line is written into a version of the file that hippod has already replaced.
    held.write_all(b"\nWords of the last moment.\n").unwrap();
    assert_stopped_cleanly(&scratch, daemon);
    let file = scratch.index_file();
    assert!(file.contains("Words of the last moment."), "{file}");
    assert!(file.contains("tag-4"), "{file}");
}

#[test]
fn invalid_text_is_saved_in_a_copy_that_doctor_names() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let id = id_of(&mut client, &scratch, "Backups");
    settled(&mut client, &scratch);
    let mut held = std::fs::File::options()
        .append(true)
        .open(scratch.index_path())
        .unwrap();
    client.edit(&root, &id, |edit| edit.pinned = Some(true));
    held.write_all(b"\nWords\0 and zeros.\n").unwrap();
    let deadline = Instant::now() + PATIENCE;
    let kept = root.join("HIPPOCAMPUS.md.unmerged");
    while !kept.exists() {
        client.sync(&root);
        assert!(Instant::now() < deadline, "{:?}", scratch.remains());
    }
    let bytes = std::fs::read(&kept).unwrap();
    assert!(bytes.ends_with(b"\nWords\0 and zeros.\n"));
    let problems = client.doctor(false).problems;
    assert!(
        problems.iter().any(|problem| problem.id == "index-copy"),
        "{problems:?}"
    );
}
