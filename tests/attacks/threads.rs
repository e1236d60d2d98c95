//! Threads of the daemon that move and sync files, recorded by `strace`.

use hippod_tests::{Daemon, Scratch};
use serde_json::json;

use crate::traced;
use crate::wire::{Wire, furnish, roomy};

/// System calls that wait for the disk or move files.
const CALLS: &str = "trace=?rename,renameat,renameat2,?unlink,unlinkat,?rmdir,fsync,fdatasync";

#[test]
fn the_engine_thread_renames_and_syncs_only_the_registry() {
    if !traced::is_possible("threads") {
        return;
    }
    let scratch = Scratch::new();
    furnish(&scratch, 6);
    let record = scratch.beside("record");
    let options = ["-Y", "-y", "-s", "4096", "-e", CALLS].map(str::to_owned);
    let daemon = Daemon::start_as(traced::command(&record, &options), &scratch.home(), &roomy());
    let pid = daemon.pid();
    let mut wire = Wire::new(&daemon);
    let (root, moved) = (scratch.workspace(), scratch.beside("moved"));
    let archive = scratch.beside("memory.tar.zst");
    wire.expect("workspace.add", json!({"workspace": root}));
    wire.expect("workspace.sync", json!({"workspace": root, "wait": true}));
    wire.expect("backup", json!({"to": archive}));
    wire.expect("workspace.remove", json!({"workspace": root, "purge": true}));
    std::fs::rename(&root, scratch.beside("before")).unwrap();
    wire.expect("restore", json!({"from": archive}));
    wire.expect("restore", json!({"from": archive, "into": moved}));
    for place in [&root, &moved] {
        wire.expect("workspace.sync", json!({"workspace": place, "wait": true}));
        let answer = wire.expect("search", json!({"workspace": place, "query": "thing3"}));
        assert_eq!(
            answer["results"][0]["path"], "knowledge/machines/3.md",
            "{answer}"
        );
    }
    wire.expect("workspace.remove", json!({"workspace": moved, "purge": true}));
    // Kill the daemon, because an orderly stop saves data on the engine thread. This is allowed at a stop, since no
    // client waits anymore.
    daemon.kill();
    let text = traced::record_of(&record, pid);
    let places =
        |line: &&str| line.contains("<workspace>") && line.contains("rename") && line.contains("moved");
    assert!(
        text.lines().any(|line| places(&line)),
        "no folder is moved into its place by the thread of a workspace: {text:.2000}"
    );
    let state = format!("{}>", scratch.home().join("state").display());
    let of_registry = |line: &str| line.contains("registry") || line.contains(&state);
    // The second line of an interrupted call and the line for the end of a thread contain no file name.
    let names_none = |line: &str| line.contains(" resumed>") || line.contains("+++");
    let by_engine = text.lines().filter(|line| line.contains("<engine>"));
    let others: Vec<&str> = by_engine
        .filter(|line| !of_registry(line) && !names_none(line))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}
