//! Databases that are removed or replaced while the daemon runs.
//! No acknowledged data is lost.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use hippo_proto::{
    ClientError, ContextPutOutcome, Cycle, CycleHistoryResponse, ErrorKind, FetchOutcome, IndexEntry,
    SearchRequest, SearchResponse,
};
use hippod_tests::{Answer, Caller, Daemon, PATIENCE, QUIET, Scratch, assert_same, begun};

use super::contexts::{fetch, listing, open, put, request};

const QUERIES: [&str; 3] = ["blue pump", "who repairs the lantern", "valve of hall 7"];

/// Everything that a workspace returns to queries: answers, entries, forgotten entries, and the history of cycles.
#[derive(Debug)]
struct Known {
    answers: Vec<Answer>,
    entries: Vec<IndexEntry>,
    all: BTreeSet<String>,
    history: CycleHistoryResponse,
}

fn known(client: &mut Caller, root: &Path) -> Known {
    client.sync(root);
    let mut entries = client.entries(root);
    // Entries with the same strength have no defined order.
    entries.sort_by(|one, other| one.id.cmp(&other.id));
    let all = client.listed(root, true, None).entries;
    Known {
        answers: client.answers(root, &QUERIES),
        entries,
        all: all.into_iter().map(|entry| entry.id).collect(),
        history: client.history(root, None),
    }
}

fn assert_known(what: &str, found: &Known, expected: &Known) {
    assert_same(what, &found.answers, &expected.answers);
    let use_of = |entries: &[IndexEntry]| -> Vec<String> {
        let told = entries
            .iter()
            .map(|entry| format!("{} {} {} {}", entry.id, entry.topic, entry.hits, entry.accessed));
        told.collect()
    };
    assert_eq!(use_of(&found.entries), use_of(&expected.entries), "{what}");
    assert_eq!(found.all, expected.all, "{what}");
    assert_eq!(found.history.runs, expected.history.runs, "{what}");
}

/// Creates entries in a workspace, forgets one, uses another one, and runs light cycles.
fn lived_in(scratch: &Scratch, client: &mut Caller) {
    let root = scratch.workspace();
    for hall in 0..20 {
        let text = format!("# Hall {hall}\n\n- The valve of hall {hall} is beside the blue pump.\n");
        scratch.write(&format!("memory/{hall:03}.md"), text);
    }
    client.index(&root);
    client.remember(&root, "Ida repairs the lantern of the harbour.", "lantern");
    client.remember(&root, "The ledger is kept in the kettle room.", "ledger");
    client.run(&root, Cycle::Light);
    client.sync(&root);
    let ids = client.ids(&root);
    assert!(ids.len() > 1, "{ids:?}");
    client.forget(&root, &ids[0]);
    client.ask(&root, "who repairs the lantern", true);
    client.run(&root, Cycle::Light);
    client.sync(&root);
}

/// Stores content in a session, and returns the id of the content.
fn stored(client: &mut Caller, root: &Path) -> String {
    let session = open(client, root, None).session;
    let asked = request(&session, 1, ("exec", "ls"), &listing("anchor"));
    put(client, asked).entry.expect("kept").id
}

fn take_away(scratch: &Scratch, what: &str) {
    let files = ["index.db", "index.db-wal", "index.db-shm"].map(|name| scratch.state(name));
    match what {
        "the database" => fs::remove_file(&files[0]).unwrap(),
        "the database and its log" => {
            for file in files {
                fs::remove_file(file).unwrap();
            }
        }
        "its folder" => fs::remove_dir_all(scratch.state("")).unwrap(),
        "replaced by junk" => {
            fs::remove_file(&files[0]).unwrap();
            fs::write(&files[0], "no database at all\n".repeat(500)).unwrap();
        }
        "replaced with its log" => {
            for file in &files[..2] {
                fs::remove_file(file).unwrap();
                fs::write(file, "no database at all\n".repeat(500)).unwrap();
            }
        }
        "moved away" => fs::rename(&files[0], scratch.beside("moved.db")).unwrap(),
        other => panic!("{other}"),
    }
}

#[test]
fn a_removed_index_is_written_again() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    lived_in(&scratch, &mut daemon.client());
    daemon.terminate();
    let state = scratch.state("");
    for what in [
        "the database",
        "the database and its log",
        "its folder",
        "replaced by junk",
        "replaced with its log",
        "moved away",
    ] {
        let daemon = Daemon::start(&scratch.home(), &QUIET);
        let mut client = daemon.client();
        // After this, the newest entry may be only in the write-ahead log.
        client.remember(&root, &format!("After {what} the anchor is painted."), "anchor");
        let before = known(&mut client, &root);
        take_away(&scratch, what);
        let told = client.doctor(false);
        assert!(
            told.problems.iter().all(|problem| problem.id != "database"),
            "{what}: {told:?}"
        );
        assert!(state.join("index.db").exists(), "{what}");
        assert_known(what, &known(&mut client, &root), &before);
        assert!(
            daemon.log().contains("was removed while it was open"),
            "{what}: {}",
            daemon.log()
        );
        let theirs =
            |name: &str| fs::read(state.join(name)).is_ok_and(|bytes| bytes.starts_with(b"no database"));
        if what == "replaced by junk" {
            assert!(theirs("index.db.replaced"), "{what}");
            // This log belonged to the removed index. If it were kept, SQLite would apply it to the file beside it.
            assert!(!state.join("index.db.replaced-wal").exists(), "{what}");
        } else if what == "replaced with its log" {
            assert!(
                theirs("index.db.replaced.2") && theirs("index.db.replaced.2-wal"),
                "{what}"
            );
        }
        daemon.kill();

        let daemon = Daemon::start(&scratch.home(), &QUIET);
        assert_known(what, &known(&mut daemon.client(), &root), &before);
        daemon.terminate();
    }
}

#[test]
fn a_stop_restores_removed_databases() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    lived_in(&scratch, &mut client);
    let id = stored(&mut client, &root);
    let before = known(&mut client, &root);
    fs::remove_dir_all(scratch.state("")).unwrap();
    daemon.terminate();

    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    assert_known("stopped", &known(&mut client, &root), &before);
    let found = fetch(&mut client, &id);
    assert_eq!(found.content, Some(listing("anchor")));
}

#[test]
fn searches_while_an_index_is_written_again_are_retryable() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    lived_in(&scratch, &mut client);
    let before = known(&mut client, &root);
    drop(client);
    daemon.terminate();
    // This client has not searched yet, so the daemon has not opened the database for its searches.
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    client.sync(&root);
    take_away(&scratch, "the database and its log");
    let deadline = Instant::now() + PATIENCE;
    loop {
        let request = SearchRequest::new(root.display().to_string(), QUERIES[1]);
        let answer: Result<SearchResponse, _> = client.raw().call(&request.into());
        match answer {
            Ok(answer) => {
                assert!(answer.results[0].text.contains("Ida"), "{answer:?}");
                break;
            }
            Err(ClientError::Refused(refused)) => {
                assert_eq!(refused.data.kind, ErrorKind::Warming, "{refused:?}");
                assert!(refused.message.contains("writing it again"), "{refused:?}");
            }
            Err(other) => panic!("{other}"),
        }
        assert!(Instant::now() < deadline, "never written again");
    }
    // The searches above were recorded as accesses to the entries that answered.
    let after = known(&mut client, &root);
    assert_same("at last", &after.answers, &before.answers);
    assert_eq!(
        (&after.all, &after.history.runs),
        (&before.all, &before.history.runs)
    );
}

#[test]
fn session_contents_of_a_removed_database_are_written_again() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    let session = open(&mut client, &root, None).session;
    let first = put(
        &mut client,
        request(&session, 1, ("exec", "ls"), &listing("anchor")),
    );
    assert_eq!(first.outcome, ContextPutOutcome::Entry);
    // Find the state folder now, because it is found by its database.
    let state = scratch.state("");
    let mut ids = vec![(first.entry.unwrap().id, "anchor".to_owned())];
    for round in 0..3 {
        for name in ["contexts.db", "contexts.db-wal", "contexts.db-shm"]
            .iter()
            .take(1 + round)
        {
            fs::remove_file(state.join(name)).unwrap();
        }
        if round == 1 {
            fs::write(state.join("contexts.db"), b"").unwrap();
        }
        let word = format!("rope{round}");
        let asked = request(&session, 2 + round as u64, ("exec", "ls"), &listing(&word));
        ids.push((put(&mut client, asked).entry.expect("kept").id, word));
    }
    let all = |client: &mut Caller| {
        for (id, word) in &ids {
            let found = fetch(client, id);
            assert_eq!(found.outcome, FetchOutcome::Full, "{word}");
            assert_eq!(found.content, Some(listing(word)));
        }
    };
    all(&mut client);
    daemon.kill();
    let daemon = scratch.daemon();
    all(&mut daemon.client());
}

#[test]
fn a_database_that_was_only_read_is_written_again_at_the_stop() {
    let (scratch, daemon, mut client) = begun();
    let root = scratch.workspace();
    let id = stored(&mut client, &root);
    let state = scratch.state("");
    daemon.kill();
    for replaced in [false, true] {
        let daemon = scratch.daemon();
        let mut client = daemon.client();
        assert_eq!(fetch(&mut client, &id).content, Some(listing("anchor")));
        for name in ["contexts.db", "contexts.db-wal", "contexts.db-shm"] {
            let _ = fs::remove_file(state.join(name));
        }
        if replaced {
            fs::write(state.join("contexts.db"), "something else").unwrap();
        }
        daemon.terminate();
        let daemon = scratch.daemon();
        assert_eq!(fetch(&mut daemon.client(), &id).content, Some(listing("anchor")));
        daemon.terminate();
    }
}

#[test]
fn a_rescued_copy_is_used_after_a_kill() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    lived_in(&scratch, &mut client);
    let before = known(&mut client, &root);
    daemon.terminate();
    let file = scratch.state("index.db");
    root_page(&file, "runs");
    for other in [false, true] {
        fs::rename(&file, scratch.state("index.db.rescued")).unwrap();
        if other {
            fs::write(&file, "somebody else's").unwrap();
            fs::write(scratch.state("index.db-wal"), "and its log").unwrap();
        }
        let daemon = Daemon::start(&scratch.home(), &QUIET);
        assert_known("rescued", &known(&mut daemon.client(), &root), &before);
        daemon.terminate();
        root_page(&file, "runs");
    }
    let kept = |name: &str| fs::read_to_string(scratch.state(name)).unwrap();
    assert_eq!(kept("index.db.replaced"), "somebody else's");
    assert_eq!(kept("index.db.replaced-wal"), "and its log");
}

#[test]
fn rebuilds_and_restarts_keep_data_that_only_an_open_handle_has() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    lived_in(&scratch, &mut client);
    for round in 0..3 {
        // Remove the index again soon after the previous rebuild.
        let before = known(&mut client, &root);
        fs::remove_file(scratch.state("index.db")).unwrap();
        if round == 2 {
            let settings = ".hippocampus/config.toml";
            scratch.trusted(settings, "[search]\ndefault_mode = \"lexical\"\n");
        } else {
            let told = client.doctor(true);
            assert!(told.problems.iter().all(|problem| problem.id != "rebuild-lost"));
        }
        assert_known("rebuilt", &known(&mut client, &root), &before);
    }
}

#[test]
fn readable_data_of_a_damaged_index_is_salvaged() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    lived_in(&scratch, &mut client);
    let before = known(&mut client, &root);
    assert!(!before.history.runs.is_empty());
    daemon.terminate();
    // Only the first page of the table `documents` is damaged. All other tables are readable.
    let file = scratch.state("index.db");
    let page = root_page(&file, "documents") * 4096;
    let mut bytes = fs::read(&file).unwrap();
    bytes[page..page + 64].fill(0xa5);
    fs::write(&file, bytes).unwrap();

    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    let rebuilt = client.doctor(true);
    assert!(
        rebuilt
            .problems
            .iter()
            .all(|problem| problem.id != "rebuild-lost"),
        "{rebuilt:?}"
    );
    assert_known("rebuilt", &known(&mut client, &root), &before);
    daemon.terminate();

    // Recreate the state after a kill: the damaged database was moved away, and the new one is not in place.
    fs::rename(&file, scratch.state("index.db.rebuilt")).unwrap();
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    assert_known("finished", &known(&mut daemon.client(), &root), &before);
    daemon.terminate();

    // The daemon must report tables that cannot be read.
    let page = root_page(&file, "runs") * 4096;
    let mut bytes = fs::read(&file).unwrap();
    bytes[page..page + 64].fill(0xa5);
    fs::write(&file, bytes).unwrap();
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    let told = client.doctor(true).problems;
    let lost = told.iter().find(|problem| problem.id == "rebuild-lost");
    let lost = lost.unwrap_or_else(|| panic!("{told:?}"));
    assert!(
        lost.what.contains("runs") && lost.fix.contains("index.db.damaged"),
        "{lost:?}"
    );
    let found = known(&mut client, &root);
    assert_eq!(found.all, before.all, "the entries could be read");
}

/// Returns the number of the first page of a table, from 0. Closing the database applies the write-ahead log to the
/// file.
fn root_page(file: &Path, table: &str) -> usize {
    let connection = rusqlite::Connection::open(file).unwrap();
    let page: u32 = connection
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?1",
            [table],
            |row| row.get(0),
        )
        .unwrap();
    page as usize - 1
}
