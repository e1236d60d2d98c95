//! Kills under mixed load, while another program writes files.

use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use hippo_proto::Severity;
use hippod_tests::{Daemon, Dice, Scratch};
use serde_json::json;

use crate::ledger::Ledger;
use crate::scale::{Cases, attack};
use crate::wire::{Failure, Wire, furnish, logs, pause, roomy};

/// Number of kills per case.
const KILLS: usize = 4;
/// Maximum number of acknowledged writes before a kill, and maximum delay in microseconds between the last write and
/// the kill.
const MOST_WORK: usize = 30;
const LONGEST_WAIT: usize = 60_000;

/// Appends lines to today's log, each with one system call. Also adds the lines to `lines`.
fn write_beside(scratch: &Scratch, ledger: &Ledger, lines: &Mutex<Vec<String>>, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        if let Some(log) = ledger.log() {
            let line = format!("- another program wrote line {}.", ledger.number());
            let path = scratch.workspace().join(log);
            let mut file = std::fs::File::options().append(true).open(path).unwrap();
            file.write_all(format!("{line}\n").as_bytes()).unwrap();
            lines.lock().unwrap().push(line);
        }
        pause(Duration::from_millis(3));
    }
}

/// Sends requests until the daemon exits.
fn work(daemon: &Daemon, ledger: &Ledger, dice: &mut Dice) {
    let mut wire = Wire::new(daemon);
    loop {
        match ledger.any(&mut wire, dice) {
            Ok(()) => {}
            Err(Failure::Gone) => return,
            Err(Failure::Refused(error)) => panic!("refused: {error}"),
        }
    }
}

fn case(dice: &mut Dice) -> usize {
    let scratch = Scratch::new();
    furnish(&scratch, 12);
    let start = || Daemon::start(&scratch.home(), &roomy());
    let mut daemon = start();
    let request = json!({"workspace": scratch.workspace()});
    Wire::new(&daemon).expect("workspace.add", request);
    let ledger = Ledger::new(scratch.workspace(), scratch.beside(""));
    let (lines, mut tried) = (Mutex::new(Vec::new()), 0);
    for _ in 0..KILLS {
        let over = AtomicBool::new(false);
        let fates = [dice.below(1 << 30), dice.below(1 << 30)];
        let until = ledger.acknowledged() + dice.below(MOST_WORK);
        std::thread::scope(|scope| {
            let (daemon, scratch, ledger, over) = (&daemon, &scratch, &ledger, &over);
            let lines = &lines;
            scope.spawn(move || write_beside(scratch, ledger, lines, over));
            let begin = |fate| scope.spawn(move || work(daemon, ledger, &mut Dice::of(fate as u64)));
            let workers = fates.map(begin);
            while ledger.acknowledged() < until && !workers.iter().any(|worker| worker.is_finished()) {
                std::thread::yield_now();
            }
            pause(Duration::from_micros(dice.below(LONGEST_WAIT) as u64));
            daemon.shoot();
            over.store(true, Ordering::Relaxed);
            for worker in workers {
                worker.join().unwrap();
            }
        });
        drop(daemon);
        daemon = start();
        tried = ledger.verify(&daemon, SystemTime::now());
        let text = logs(&scratch.workspace());
        for line in lines.lock().unwrap().iter() {
            assert!(text.contains(line), "lost: {line}");
        }
    }
    let problems = daemon.client().doctor(false).problems;
    let worst = problems
        .iter()
        .find(|problem| problem.severity == Severity::Error);
    assert!(worst.is_none(), "{worst:?}");
    tried
}

#[test]
fn kills_lose_no_acknowledged_write_and_no_line_of_another_writer() {
    attack("kills", Cases::Drawn(3), |dice, _| case(dice));
}
