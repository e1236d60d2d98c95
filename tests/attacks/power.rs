//! Power failures between two syncs, from recorded writes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hippo_proto::Severity;
use hippod_tests::{Daemon, Dice, Scratch};
use serde_json::json;

use crate::disk::Disk;
use crate::ledger::Ledger;
use crate::scale::{Cases, attack};
use crate::wire::{Wire, furnish, logs, roomy};
use crate::{record, traced};

/// Number of requests in the recorded run.
const WORK: usize = 40;
/// Text that a person wrote into the index file.
const WORDS: &str = "The words of a person stay.";

/// A run of a daemon with all of its writes.
struct Recorded {
    scratch: Scratch,
    ledger: Ledger,
    disk: Disk,
    calls: Vec<record::Call>,
}

impl Recorded {
    fn new() -> Self {
        let scratch = Scratch::new();
        furnish(&scratch, 6);
        let root = scratch.workspace();
        let daemon = Daemon::start(&scratch.home(), &roomy());
        let mut wire = Wire::new(&daemon);
        wire.expect("workspace.add", json!({"workspace": root}));
        wire.expect("workspace.sync", json!({"workspace": root, "wait": true}));
        let end = "\n## By Time\n";
        scratch.edit_index(end, &format!("\n{WORDS}\n{end}"));
        wire.expect("workspace.sync", json!({"workspace": root, "wait": true}));
        daemon.terminate();

        let mut disk = Disk::now(&[scratch.home(), root.clone()]);
        let options = ["-ttt", "-y", "-xx", "-s", "33554432", "-e"].map(str::to_owned);
        let options = [&options[..], &[format!("trace={}", record::CALLS)]].concat();
        let path = scratch.beside("record");
        let daemon = Daemon::start_as(traced::command(&path, &options), &scratch.home(), &roomy());
        let pid = daemon.pid();
        let ledger = Ledger::new(root, scratch.beside(""));
        let (mut wire, mut dice) = (Wire::new(&daemon), Dice::of(1));
        for _ in 0..WORK {
            ledger.durable(&mut wire, &mut dice).unwrap();
        }
        daemon.terminate();
        let calls = record::read(&traced::record_of(&path, pid));
        disk.follow(&calls);
        assert!(disk.unknown.is_empty(), "{:?}", disk.unknown);
        let recorded = Self {
            scratch,
            ledger,
            disk,
            calls,
        };
        recorded.assert_complete();
        recorded
    }

    /// Asserts that the recorded calls result in the current state of the disk if there is no power failure.
    fn assert_complete(&self) {
        let now = Disk::now(&[self.scratch.home(), self.scratch.workspace()]).whole();
        let told = self.disk.whole();
        let (names, names_told): (Vec<_>, Vec<_>) = (now.keys().collect(), told.keys().collect());
        assert_eq!(names, names_told);
        for (path, bytes) in &now {
            assert!(
                told[path] == *bytes,
                "the record does not explain {}",
                path.display()
            );
        }
    }

    fn restore(&self, image: &BTreeMap<PathBuf, Vec<u8>>) {
        for folder in [self.scratch.home(), self.scratch.workspace()] {
            std::fs::remove_dir_all(&folder).unwrap();
            std::fs::create_dir_all(&folder).unwrap();
        }
        for (path, bytes) in image {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }

    fn case(&self, dice: &mut Dice) -> usize {
        let points = self.disk.turning_points();
        let cut = match dice.below(3) {
            0 => dice.below(self.disk.calls()),
            // The power fails just before or just after a sync or a change of a name.
            1 => *dice.one_of(&points),
            _ => dice.one_of(&points).saturating_sub(1),
        };
        self.restore(&self.disk.after_power_cut(cut, dice));
        let daemon = Daemon::start(&self.scratch.home(), &roomy());
        let tried = self.ledger.verify(&daemon, self.calls[cut].at);
        let index = self.scratch.index_file();
        assert!(index.contains(WORDS), "cut behind call {cut}: {index}");
        let problems = daemon.client().doctor(false).problems;
        let worst = problems
            .iter()
            .find(|problem| problem.severity == Severity::Error);
        assert!(worst.is_none(), "cut behind call {cut}: {worst:?}");
        assert!(
            !logs(&self.scratch.workspace()).contains('\0'),
            "cut behind call {cut}"
        );
        tried + 1
    }
}

#[test]
fn a_power_cut_loses_no_acknowledged_write() {
    if !traced::is_possible("power") {
        return;
    }
    let recorded = Recorded::new();
    attack("power", Cases::Drawn(16), |dice, _| recorded.case(dice));
}
