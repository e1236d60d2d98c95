//! Jumps of the clock by days, years and centuries, forwards and backwards.

use hippo_proto::Cycle;
use hippod_tests::{Clocked, Dice, Scratch};

use crate::scale::{Cases, attack};
use crate::wire::{furnish, logs, roomy};

/// Times to which the clock jumps.
const MOMENTS: [&str; 9] = [
    "1971-05-30T10:00:00Z",
    "2000-02-29T23:59:59Z",
    "2026-03-01T10:00:00Z",
    "2026-03-02T09:59:59Z",
    "2026-03-03T10:00:00Z",
    "2027-03-02T10:00:00Z",
    "2038-01-19T03:14:08Z",
    "2126-03-02T10:00:00Z",
    "9966-01-01T00:00:00Z",
];
/// Number of jumps per case.
const JUMPS: usize = 6;

fn case(dice: &mut Dice) -> usize {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    furnish(&scratch, 4);
    let daemon = Clocked::start(&scratch, "2026-03-02T10:00:00Z", &roomy());
    let mut client = daemon.client();
    client.index(&root);
    let mut entries: Vec<String> = client.ids(&root);
    let mut way = Vec::new();
    for number in 0..JUMPS {
        let moment = *dice.one_of(&MOMENTS);
        way.push(moment);
        daemon.set(moment);
        let topic = format!("Fact {number}");
        let answer = client.remember(&root, &format!("The anchor number{number} is blue."), &topic);
        entries.extend(answer.entry.map(|entry| entry.id));
        let cycle = *dice.one_of(&[Cycle::Light, Cycle::Deep, Cycle::Archival]);
        // The daemon refuses the cycle if the clock is now before the last run.
        let _ = client.try_run(&root, cycle, None, false);
        client.heartbeat(&root);
    }
    client.sync(&root);
    let text = logs(&root);
    for number in 0..JUMPS {
        let count = text.matches(&format!("\n## Fact {number}\n")).count();
        assert_eq!(count, 1, "fact {number}, by the way {way:?}");
        let word = format!("number{number}");
        let hits = client.search(&root, &word).results;
        assert!(
            hits.iter().any(|hit| hit.text.contains(&word)),
            "{word}, by the way {way:?}: {hits:?}"
        );
    }
    for id in &entries {
        client.entry(&root, id);
    }
    JUMPS
}

#[test]
fn no_jump_of_the_clock_loses_a_fact_or_an_entry() {
    attack("clocks", Cases::Drawn(4), |dice, _| case(dice));
}
