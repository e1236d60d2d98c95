//! Isolation of workspaces from each other.
//! A file or a client that keeps one workspace busy does not delay other workspaces.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use hippo_proto::{
    Event, EventName, MetricsRequest, MetricsResponse, SubscribeRequest, SubscribeResponse,
    WorkspaceRemoveRequest, WorkspaceRemoveResponse, WorkspaceSyncRequest, WorkspaceSyncResponse,
};
use hippod_tests::{Caller, Daemon, PATIENCE, Scratch};

/// Number of identical paragraphs in a file.
const EQUAL: usize = 6_000;
/// Number of sections in a file. If their texts were different, there would be so many vectors that a search would
/// need a graph.
const MORE_THAN_ARE_SCANNED: usize = 91_000;

fn metric(client: &mut Caller, name: &str) -> f64 {
    let answer: MetricsResponse = client.raw().call(&MetricsRequest {}.into()).expect("metrics");
    let line = answer
        .text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name} ")).map(str::to_owned));
    line.and_then(|value| value.parse().ok()).expect("a sample")
}

fn look(client: &mut Caller, workspace: &Path) {
    let request = WorkspaceSyncRequest {
        workspace: workspace.display().to_string(),
        wait: false,
        accept_deletions: false,
    };
    let _: WorkspaceSyncResponse = client.raw().call(&request.into()).expect("looked");
}

fn pending(client: &mut Caller, root: &Path) -> u64 {
    let root = root.display().to_string();
    let status = client.status();
    status
        .workspaces
        .iter()
        .find(|one| one.root == root)
        .expect("there")
        .pending
}

/// Requests to another workspace that were answered while a file was indexed.
struct Meanwhile {
    answered: u32,
    /// Duration of the longest request.
    longest: Duration,
    all: Duration,
}

/// Indexes a file with `equal` identical paragraphs. Meanwhile, texts are remembered and searched in another
/// workspace.
fn index_beside_another(scratch: &Scratch, daemon: &Daemon, equal: usize) -> Meanwhile {
    let mut client = daemon.client();
    let (busy, other) = (scratch.beside("busy"), scratch.beside("other"));
    for folder in [&busy, &other] {
        fs::create_dir_all(folder.join("memory")).unwrap();
    }
    client.index(&other);
    // The first search waits until the model is loaded, and this wait has nothing to do with the large file.
    client.remember(&other, "The valve of hall 0 is open.", "valves");
    client.search(&other, "valve of hall 0");
    client.add(&busy);
    fs::write(busy.join("memory/x.md"), "# h\n\nx\n\n".repeat(equal)).unwrap();
    look(&mut client, &busy);
    let mut meanwhile = Meanwhile {
        answered: 0,
        longest: Duration::ZERO,
        all: Duration::ZERO,
    };
    // Each request is answered while the file is read, chunked, stored and embedded.
    let begun = Instant::now();
    loop {
        let asked = Instant::now();
        let fact = format!("The valve of hall {} is open.", meanwhile.answered);
        client.remember(&other, &fact, "valves");
        let found = client.search(&other, "valve of hall 0").results;
        assert!(found.iter().any(|hit| hit.text.contains("hall 0")), "{found:?}");
        meanwhile.longest = meanwhile.longest.max(asked.elapsed());
        meanwhile.answered += 1;
        let indexed = client
            .status()
            .workspaces
            .iter()
            .any(|one| one.chunks >= equal as u64);
        if indexed && pending(&mut client, &busy) == 0 {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "after {} answers", meanwhile.answered);
    }
    meanwhile.all = begun.elapsed();
    let Meanwhile {
        answered,
        longest,
        all,
    } = &meanwhile;
    let told = format!("{equal} paragraphs: {answered} answers in {all:?}, the longest took {longest:?}");
    let _ = writeln!(std::io::stderr(), "{told}");
    let slice = metric(&mut client, "hippod_engine_longest_slice_seconds");
    // The engine works in slices of a few milliseconds. The limit is higher, because the machine may be busy.
    assert!(slice < 2.0, "the engine heard nothing else for {slice} s");
    meanwhile
}

#[test]
fn a_file_of_equal_paragraphs_blocks_no_other_workspace() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    index_beside_another(&scratch, &daemon, EQUAL);
}

#[cfg(feature = "onnx")]
#[test]
fn embedding_30000_equal_paragraphs_blocks_no_other_workspace() {
    let scratch = super::model::with_model();
    let daemon = Daemon::start(&scratch.home(), &[super::model::REAL]);
    let pieces = daemon.client().status().model.word_pieces;
    let meanwhile = index_beside_another(&scratch, &daemon, 30_000);
    let Meanwhile {
        answered,
        longest,
        all,
    } = meanwhile;
    // If indexing the file blocked the engine, only one request would be answered before its end.
    assert!(answered >= 10, "{answered} answers in {all:?}");
    assert!(
        longest * 3 < all,
        "one of {answered} answers took {longest:?} of {all:?}"
    );
    // The identical paragraphs are embedded only once. All other embedded texts are from the other workspace.
    let embedded = daemon.client().status().model.word_pieces - pieces;
    assert!(embedded < 30_000, "{embedded} word pieces");
}

#[test]
fn many_chunks_of_one_text_need_no_vector_graph() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    let mut listener = daemon.client();
    let subscribe = SubscribeRequest {
        workspace: None,
        events: Some(vec![EventName::Indexed, EventName::Job]),
    };
    let _: SubscribeResponse = listener.raw().call(&subscribe.into()).expect("subscribed");
    scratch.write("memory/x.md", "# a\n".repeat(MORE_THAN_ARE_SCANNED));
    client.index(&root);
    scratch.write("memory/y.md", "- the pump is blue\n");
    let last = client.sync(&root).generation;
    for news in listener.raw().notifications() {
        match news.event() {
            Some(Event::Indexed { generation, .. }) if generation >= last => break,
            Some(Event::Job { job, .. }) => assert_ne!(job, "vector-rebuild"),
            _ => {}
        }
    }
    let found = client.search(&root, "blue pump").results;
    assert_eq!(found[0].path, "memory/y.md");
}

#[test]
fn a_workspace_can_be_removed_while_a_large_file_is_indexed() {
    let scratch = Scratch::new();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    scratch.write("memory/x.md", "# h\n\nx\n\n".repeat(EQUAL));
    client.add(&root);
    look(&mut client, &root);
    let database = scratch.state("index.db");
    let request = WorkspaceRemoveRequest {
        workspace: root.display().to_string(),
        purge: false,
        dry_run: false,
    };
    let _: WorkspaceRemoveResponse = client.raw().call(&request.into()).expect("removed");
    assert!(client.status().workspaces.is_empty());
    assert!(!database.exists());
    client.index(&root);
}
