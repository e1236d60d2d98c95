//! Repeated `kill -9` while the daemon indexes.
//! The final answers equal those of an index that was built without a kill.

use hippod_tests::{Dice, Scratch, assert_same};

const KILLS: usize = 50;
/// Maximum number of `status` requests before a kill. The requests delay the kill while the daemon indexes.
const LONGEST_LIFE: usize = 60;

const WORDS: [&str; 30] = [
    "pump", "valve", "hose", "gauge", "ledger", "harbour", "lantern", "anchor", "compass", "kettle",
    "orchard", "violin", "teapot", "bridge", "engine", "blanket", "marble", "feather", "copper", "signal",
    "garden", "window", "pencil", "ladder", "basket", "tunnel", "candle", "saddle", "mirror", "wagon",
];

const QUERIES: [&str; 12] = [
    "pump valve",
    "where is the copper kettle",
    "lantern by the harbour",
    "who repairs the bridge",
    "violin teapot marble",
    "orchard ladder",
    "signal from the tunnel",
    "candle",
    "shared reminder about the anchor",
    "fact12",
    "mirror wagon saddle decision",
    "everything about the engine and the gauge",
];

/// A writer that changes memory files while the daemon is killed repeatedly.
struct Writer {
    dice: Dice,
    files: Vec<String>,
    written: usize,
}

impl Writer {
    fn text(&mut self) -> String {
        self.written += 1;
        let mut text = format!("# Notes {}\n\n- fact{}\n", self.written, self.written);
        for _ in 0..4 + self.dice.below(14) {
            let line: Vec<&str> = (0..5).map(|_| *self.dice.one_of(&WORDS)).collect();
            text.push_str(&format!("- {}\n", line.join(" ")));
        }
        if self.dice.below(3) == 0 {
            text.push_str("\n## Shared\n\nThe shared reminder: paint the anchor.\n");
        }
        text
    }

    fn add(&mut self, scratch: &Scratch) {
        let text = self.text();
        let number = self.written;
        let path = match self.dice.below(3) {
            0 => format!(
                "memory/2026-{:02}-{:02}-{number}.md",
                number % 12 + 1,
                number % 28 + 1
            ),
            1 => format!("memory/deep/er/{number}.md"),
            _ => format!("knowledge/{number}.md"),
        };
        scratch.write(&path, text);
        self.files.push(path);
    }

    fn step(&mut self, scratch: &Scratch) {
        let at = self.dice.below(self.files.len());
        let path = scratch.workspace().join(&self.files[at]);
        match self.dice.below(10) {
            0..=2 => {
                let text = self.text();
                scratch.write(&self.files[at], text);
            }
            3..=4 => {
                let mut text = std::fs::read_to_string(&path).unwrap();
                text.insert_str(0, "A line above everything else.\n\n");
                scratch.write(&self.files[at], text);
            }
            5..=6 => self.add(scratch),
            7 if self.files.len() > 40 => {
                std::fs::remove_file(path).unwrap();
                self.files.swap_remove(at);
            }
            _ => {
                self.written += 1;
                let to = format!("memory/renamed/{}.md", self.written);
                let target = scratch.workspace().join(&to);
                std::fs::create_dir_all(target.parent().unwrap()).unwrap();
                std::fs::rename(path, target).unwrap();
                self.files[at] = to;
            }
        }
    }
}

#[test]
fn fifty_kills_leave_the_answers_of_a_fresh_index() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let mut writer = Writer {
        dice: Dice::new(),
        files: Vec::new(),
        written: 0,
    };
    for _ in 0..100 {
        writer.add(&scratch);
    }
    for kill in 0..KILLS {
        let daemon = scratch.daemon();
        let mut client = daemon.client();
        if kill == 0 {
            client.add(&root);
        }
        client.search(&root, "copper kettle");
        if kill % 10 == 9 {
            // Wait for the first indexing, which each kill would otherwise interrupt.
            client.sync(&root);
        }
        for _ in 0..writer.dice.below(LONGEST_LIFE + 1) {
            client.status();
            if writer.dice.below(8) == 0 {
                writer.step(&scratch);
            }
        }
        daemon.kill();
        for _ in 0..writer.dice.below(6) {
            writer.step(&scratch);
        }
    }

    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.accept_deletions(&root);
    let fresh = scratch.fresh_daemon("fresh");
    let mut fresh_client = fresh.client();
    fresh_client.index(&root);
    let (kept, made) = (client.status(), fresh_client.status());
    let counts = |status: &hippo_proto::StatusResponse| {
        let workspace = &status.workspaces[0];
        (
            workspace.documents,
            workspace.chunks,
            workspace.embedded,
            workspace.pending,
        )
    };
    assert_eq!(counts(&kept), counts(&made));
    assert_eq!(kept.workspaces[0].documents, writer.files.len() as u64);
    assert_same(
        "after fifty kills",
        &client.answers(&root, &QUERIES),
        &fresh_client.answers(&root, &QUERIES),
    );
    let problems = client.doctor(false).problems;
    assert!(problems.is_empty(), "{problems:?}");
}
