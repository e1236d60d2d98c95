//! Acknowledged context changes survive `kill -9`.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use hippo_store::contexts::{
    ContentId, ContextReader, ContextStore, Lookup, NewContent, NewEntry, PutOutcome,
};
use hippo_types::context::{
    ContextDecay, ContextEntry, ContextKind, ContextLifecycle, ContextModifiers, ContextSource,
};

/// Environment variable with the database path for the process that is killed.
const CHILD: &str = "HIPPOD_TEST_CONTEXTS";
const KILLS: u64 = 12;
const BUDGET: u64 = u64::MAX;

fn entry(number: u64) -> ContextEntry {
    ContextEntry {
        id: format!("e{number}"),
        kind: ContextKind::ToolResult,
        source: ContextSource {
            kind: "exec".to_owned(),
            reference: format!("command {number}"),
            turn: number,
            retrievable: true,
            stale: false,
        },
        summary: format!("Result {number}"),
        key_data: None,
        strength: 1.0,
        decay: ContextDecay {
            rate: 0.1,
            floor: 0.0,
            last_access: number,
        },
        modifiers: ContextModifiers::default(),
        lifecycle: ContextLifecycle::default(),
    }
}

/// Returns up to 100 KB of content that is different for each number. Half of it is text.
fn content(number: u64) -> Vec<u8> {
    let length = usize::try_from(number * 7_919 % 50_000).unwrap();
    let mut bytes = vec![0; length];
    blake3::Hasher::new()
        .update(&number.to_le_bytes())
        .finalize_xof()
        .fill(&mut bytes);
    bytes.extend(
        format!("line of result {number}\n")
            .repeat(length / 20)
            .into_bytes(),
    );
    bytes
}

/// Not a test: the body of the process that is killed. It continues from the state of the database and prints each
/// completed change.
#[test]
fn child_process_to_be_killed() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    let mut store = ContextStore::open(Path::new(&path)).unwrap();
    let session = store.open_session("s", None, 1).unwrap().0;
    let mut out = std::io::stdout().lock();
    for number in session.entries.. {
        let bytes = content(number);
        let piece = bytes.iter().rev().copied().collect::<Vec<u8>>();
        store
            .put_pieces(&[NewContent::new(&piece, 1)], BUDGET, 1)
            .unwrap();
        let entry = entry(number);
        let new = NewEntry {
            session: "s",
            entry: &entry,
            file: None,
            content: Some(NewContent::new(&bytes, number)),
            budget_bytes: BUDGET,
            now_ms: 1,
        };
        assert!(matches!(store.put(&new), Ok(PutOutcome::Entry { .. })));
        writeln!(out, "\nput {number}").unwrap();
        assert_eq!(store.advance("s", number, 1).unwrap(), number);
        writeln!(out, "\nturn {number}").unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn acknowledged_changes_survive_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("contexts.db");
    let (mut put, mut turn) = (None, None);
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_process_to_be_killed", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut more = 3 + kill * 5 % 17;
        // Wait for `more` acknowledged changes before the kill. The rest of the output is read after the kill.
        while more > 0 {
            let line = lines
                .next()
                .expect("the process runs until it is killed")
                .unwrap();
            more -= u64::from(note(&line, &mut put, &mut turn));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines {
            note(&line.unwrap(), &mut put, &mut turn);
        }
        assert_sound(&path, put.unwrap(), turn.unwrap_or(0));
    }
    assert!(put.unwrap() > 30, "{put:?}");
}

/// Parses a line of output. Returns true if the line acknowledges a change.
fn note(line: &str, put: &mut Option<u64>, turn: &mut Option<u64>) -> bool {
    // The kill may truncate a line, so that its number is wrong. A truncated number is smaller than the last number,
    // and is ignored.
    for (word, last) in [("put ", put), ("turn ", turn)] {
        if let Some(number) = line.strip_prefix(word).and_then(|rest| rest.parse().ok())
            && last.is_none_or(|last| number > last)
        {
            *last = Some(number);
            return true;
        }
    }
    false
}

fn assert_sound(path: &Path, put: u64, turn: u64) {
    for reader in [ContextReader::open(path).ok(), {
        drop(ContextStore::open(path).unwrap());
        Some(ContextReader::open(path).unwrap())
    }]
    .into_iter()
    .flatten()
    {
        let found = reader.entries("s").unwrap();
        assert!(found.damaged.is_empty());
        let count = u64::try_from(found.entries.len()).unwrap();
        assert!(
            count == put + 1 || count == put + 2,
            "{count} entries, the last acknowledged one is {put}"
        );
        for (number, kept) in (0..).zip(&found.entries) {
            assert_eq!(kept.kept.entry, entry(number));
            let bytes = content(number);
            for expected in [bytes.clone(), bytes.iter().rev().copied().collect()] {
                let found = reader.content(ContentId::of(&expected)).unwrap();
                assert!(
                    matches!(found, Lookup::Kept(content) if content.bytes == expected),
                    "{number}"
                );
            }
        }
        assert!(reader.session("s").unwrap().unwrap().turn >= turn);
        assert_eq!(reader.usage().unwrap().entries, count);
        reader.check().unwrap();
    }
}
