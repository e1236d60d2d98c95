//! Notes appended to the index file while the daemon replaces it.

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hippod_tests::{Daemon, Dice, Scratch};
use serde_json::json;

use crate::scale::{Cases, attack};
use crate::wire::{Failure, Wire, furnish, pause, roomy};

/// Number of notes per case.
const NOTES: usize = 60;

/// Returns the text of the index file and of all versions that hippod keeps beside it.
fn text(root: &Path) -> String {
    let files = std::fs::read_dir(root).unwrap().flatten();
    let ours = files.filter(|file| file.file_name().to_string_lossy().contains("HIPPOCAMPUS.md"));
    ours.filter_map(|file| std::fs::read_to_string(file.path()).ok())
        .collect()
}

/// Pins and unpins an entry until the daemon exits or the writer of notes finishes.
fn edit(daemon: &Daemon, root: &Path, id: &str, over: &AtomicBool) {
    let mut wire = Wire::new(daemon);
    let mut pinned = false;
    while !over.load(Ordering::Relaxed) {
        pinned = !pinned;
        match wire.call(
            "index.edit",
            json!({"workspace": root, "id": id, "pinned": pinned}),
        ) {
            Ok(_) => {}
            Err(Failure::Gone) => return,
            Err(Failure::Refused(error)) => panic!("refused: {error}"),
        }
    }
}

fn case(dice: &mut Dice) -> usize {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    furnish(&scratch, 6);
    let start = || Daemon::start(&scratch.home(), &roomy());
    let mut daemon = start();
    let mut client = daemon.client();
    client.index(&root);
    let id = client.ids(&root).remove(0);
    let kill_at = dice.below(2 * NOTES);
    let mut notes = Vec::new();
    let over = AtomicBool::new(false);
    let mut append = |upto: usize, notes: &mut Vec<String>| {
        while notes.len() < upto {
            let note = format!("note {} of a person", notes.len());
            let mut file = std::fs::File::options()
                .append(true)
                .open(scratch.index_path())
                .unwrap();
            file.write_all(format!("\n{note}.\n").as_bytes()).unwrap();
            notes.push(note);
            pause(Duration::from_micros(dice.below(20_000) as u64));
        }
    };
    for upto in [kill_at.min(NOTES), NOTES] {
        std::thread::scope(|scope| {
            let editor = scope.spawn(|| edit(&daemon, &root, &id, &over));
            append(upto, &mut notes);
            if upto < NOTES {
                daemon.shoot();
            } else {
                over.store(true, Ordering::Relaxed);
            }
            editor.join().unwrap();
        });
        if upto < NOTES {
            drop(daemon);
            daemon = start();
        } else {
            break;
        }
    }
    daemon.client().sync(&root);
    daemon.terminate();
    let text = text(&root);
    let lost: Vec<&String> = notes
        .iter()
        .filter(|note| !text.contains(&format!("{note}.")))
        .collect();
    assert!(lost.is_empty(), "lost: {lost:?}\n{text}");
    NOTES
}

#[test]
fn notes_written_while_the_index_file_is_replaced_are_kept() {
    attack("notes", Cases::Drawn(4), |dice, _| case(dice));
}
