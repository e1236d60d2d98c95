//! Large removals from the index file.
//! The daemon forgets no entry until a person accepts the removal.

use hippo_proto::{Cycle, EntryPlace};
use hippod_tests::{Caller, Scratch};

use crate::index_file::{block_of, id_of, indexed};

/// Asserts that the file is unchanged, the daemon knows all entries, and all reports name the removal that is held
/// back.
fn assert_held(what: &str, scratch: &Scratch, client: &mut Caller, bytes: &[u8], ids: &[String]) {
    let root = scratch.workspace();
    client.sync(&root);
    let check = |client: &mut Caller, when: &str| {
        assert_eq!(
            std::fs::read(scratch.index_path()).unwrap(),
            bytes,
            "{what}, {when}"
        );
        assert_eq!(client.ids(&root), ids, "{what}, {when}");
    };
    check(client, "at once");
    let status = client.index_status();
    assert_eq!(status.file, "held", "{what}: {status:?}");
    assert!(status.held_removals > 0, "{what}: {status:?}");
    let trouble = status.trouble.expect("a reason");
    assert!(
        trouble.contains("hippoctl sync --accept-deletions"),
        "{what}: {trouble}"
    );
    let problems = client.doctor(false).problems;
    let held = problems.iter().find(|problem| problem.id == "held-removals");
    let held = held.unwrap_or_else(|| panic!("{what}: {problems:?}"));
    assert!(
        held.fix.contains("--accept-deletions") && held.where_.ends_with("HIPPOCAMPUS.md"),
        "{held:?}"
    );
    let pending = client.heartbeat(&root).pending;
    assert!(
        pending.iter().any(|pending| pending.kind == "removals-held"),
        "{what}: {pending:?}"
    );
    for cycle in [Cycle::Light, Cycle::Deep] {
        let report = client.run(&root, cycle);
        assert!(
            report
                .notes
                .iter()
                .any(|note| note.contains("--accept-deletions")),
            "{what}: {report:#?}"
        );
        check(client, &format!("after {cycle:?}"));
    }
    // The daemon still carries out requests, but writes their changes to the file later.
    let id = client
        .remember(&root, "The anchor was painted.", "Anchor paint")
        .entry
        .expect("an entry")
        .id;
    assert_eq!(std::fs::read(scratch.index_path()).unwrap(), bytes, "{what}");
    client.forget(&root, &id);
    assert!(
        !client
            .ask(&root, "coffee machine citric acid", false)
            .results
            .is_empty(),
        "{what}"
    );
}

fn assert_mended(what: &str, client: &mut Caller) {
    let status = client.index_status();
    assert_eq!(
        (status.file.as_str(), status.held_removals),
        ("written", 0),
        "{what}: {status:?}"
    );
    let problems = client.doctor(false).problems;
    assert!(problems.is_empty(), "{what}: {problems:?}");
}

#[test]
fn an_index_file_that_lost_many_entries_is_held_until_repaired() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    // Edit the summary of an entry near the end. This lets the daemon detect a truncation within the summary.
    let last = id_of(&mut client, &scratch, "Sensor drift");
    client.edit(&root, &last, |edit| {
        edit.summary = Some("Calibrate the sensor when the hall is cold.".into())
    });
    let ids = client.ids(&root);
    let whole = std::fs::read(scratch.index_path()).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let in_summary = text.find("Calibrate the sensor").unwrap() + 12;
    let junk = b"lorem ipsum dolor sit amet\n\nnothing of this is an entry\n".repeat(40);
    for (what, bytes) in [
        ("emptied", Vec::new()),
        ("cut in the middle", whole[..whole.len() / 2].to_vec()),
        ("cut within a summary", whole[..in_summary].to_vec()),
        (
            "cut after its first line",
            whole[..text.find('\n').unwrap() + 1].to_vec(),
        ),
        ("replaced by junk", junk),
    ] {
        scratch.write("HIPPOCAMPUS.md", &bytes);
        assert_held(what, &scratch, &mut client, &bytes, &ids);
        scratch.write("HIPPOCAMPUS.md", &whole);
        client.sync(&root);
        assert_mended(what, &mut client);
        assert_eq!(client.ids(&root), ids, "{what}");
        let entry = client.entry(&root, &last);
        assert_eq!(
            entry.summary, "Calibrate the sensor when the hall is cold.",
            "{what}"
        );
        assert!(
            block_of(&scratch.index_file(), &last).contains(&entry.summary),
            "{what}"
        );
        assert_eq!(entry.hits, 0, "{what}: nothing is counted again and again");
    }
}

#[test]
fn held_removals_survive_a_restart_and_apply_when_accepted() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let ids = client.ids(&root);
    let id = id_of(&mut client, &scratch, "Backups");
    let block = block_of(&scratch.index_file(), &id);
    let short = format!("# HIPPOCAMPUS.md\n\n## By Topic\n\n{block}");
    scratch.write("HIPPOCAMPUS.md", &short);
    assert_held("shortened", &scratch, &mut client, short.as_bytes(), &ids);
    drop(client);
    daemon.terminate();

    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    assert_held("after a restart", &scratch, &mut client, short.as_bytes(), &ids);
    client.accept_deletions(&root);
    assert_mended("accepted", &mut client);
    assert_eq!(client.ids(&root), std::slice::from_ref(&id));
    let file = scratch.index_file();
    assert_eq!(file.matches("<!-- hx: ").count(), 1, "{file}");
    client.run(&root, Cycle::Light);
    client.run(&root, Cycle::Deep);
    assert_eq!(client.ids(&root), [id]);
    // After the removal was accepted, the removed entries can still be restored.
    for gone in ids.iter().filter(|gone| !file.contains(&format!("id={gone} "))) {
        assert_eq!(client.restore(&root, gone).place, EntryPlace::Index);
    }
    assert_eq!(client.ids(&root), ids);
}

#[test]
fn a_deleted_index_file_is_written_again_completely() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let ids = client.ids(&root);
    std::fs::remove_file(scratch.index_path()).unwrap();
    client.sync(&root);
    assert_eq!(client.ids(&root), ids);
    let file = scratch.index_file();
    for id in &ids {
        block_of(&file, id);
    }
    assert_mended("deleted", &mut client);
    drop(client);
    daemon.terminate();

    // While no daemon runs, remove entries in addition to the removals that were already held back.
    scratch.write("HIPPOCAMPUS.md", "");
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert_eq!(client.index_status().file, "held");
    std::fs::remove_file(scratch.index_path()).unwrap();
    client.sync(&root);
    assert_eq!(client.ids(&root), ids);
    for id in &ids {
        block_of(&scratch.index_file(), id);
    }
    assert_mended("deleted while held", &mut client);
}

#[test]
fn removals_of_a_few_entries_are_applied_at_once() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let ids = client.ids(&root);
    assert!(ids.len() >= 6, "{ids:?}");
    let mut file = scratch.index_file();
    for id in &ids[..2] {
        file = file.replace(&block_of(&file, id), "");
    }
    scratch.write("HIPPOCAMPUS.md", file);
    client.sync(&root);
    assert_eq!(client.ids(&root), ids[2..]);
    assert_mended("two went", &mut client);
}

/// A function that takes the text of the file and returns the edited text.
type Edit<'a> = &'a dyn Fn(&str) -> String;

/// Returns the file without the text between `from` and `to`.
fn without(file: &str, from: &str, to: &str) -> String {
    let start = file.find(from).unwrap_or_else(|| panic!("{from:?} in {file}"));
    let end = file[start..].find(to).map_or(file.len(), |at| start + at);
    format!("{}{}", &file[..start], &file[end..])
}

#[test]
fn users_can_remove_generated_text_and_edit_at_the_same_time() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let (changed, gone) = (
        id_of(&mut client, &scratch, "Backups"),
        id_of(&mut client, &scratch, "Coffee machine"),
    );
    client.ask(&root, "coffee machine citric acid", true);
    client.run(&root, Cycle::Deep);
    let header = |file: &str| without(file, "<!-- hippocampus.md", "\n");
    let marks = |file: &str| {
        let lines = file.split_inclusive('\n');
        lines.filter(|line| !line.contains("hippod")).collect::<String>()
    };
    let by_time = |file: &str| without(file, "## By Time\n", "## Associations\n");
    let end = |file: &str| without(file, "## Meta\n", "nowhere");
    let edits: [(&str, Edit<'_>); 5] = [
        ("the header", &header),
        ("all marks", &marks),
        ("a list", &by_time),
        ("the end", &end),
        ("all of it", &|file| end(&by_time(&header(file)))),
    ];
    let ids = client.ids(&root);
    for (number, (what, edit)) in edits.into_iter().enumerate() {
        let file = scratch.index_file();
        let words = format!("The words of edit {number}.");
        let file = file.replacen(&client.entry(&root, &changed).summary, &words, 1);
        let file = edit(&file.replacen(&block_of(&file, &gone), "", 1));
        scratch.write("HIPPOCAMPUS.md", &file);
        client.sync(&root);
        assert_mended(what, &mut client);
        assert_eq!(client.entry(&root, &changed).summary, words, "{what}");
        assert!(!client.ids(&root).contains(&gone), "{what}");
        client.restore(&root, &gone);
        client.run(&root, Cycle::Light);
        block_of(&scratch.index_file(), &gone);
        assert_eq!(client.ids(&root), ids, "{what}: lines of lists are no entries");
    }
}

#[test]
fn a_missing_end_of_the_file_is_held_and_reported() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let ids = client.ids(&root);
    let whole = scratch.index_file();
    let last = whole.rfind("<!-- hx: id=").expect("an entry") + "<!-- hx: id=".len();
    let last = whole[last..].split(' ').next().unwrap().to_owned();
    let at = whole.find(&block_of(&whole, &last)).unwrap();
    for (what, end) in [
        ("between two entries", at),
        (
            "after a heading",
            at + block_of(&whole, &last).find('\n').unwrap() + 1,
        ),
    ] {
        scratch.write("HIPPOCAMPUS.md", &whole[..end]);
        client.sync(&root);
        let status = client.index_status();
        assert_eq!(
            (status.file.as_str(), status.held_removals),
            ("held", 1),
            "{what}"
        );
        let trouble = status.trouble.unwrap();
        assert!(
            trouble.contains("the end of HIPPOCAMPUS.md is missing"),
            "{what}: {trouble}"
        );
        assert_eq!(client.ids(&root), ids, "{what}");
        scratch.write("HIPPOCAMPUS.md", &whole);
        client.sync(&root);
        assert_mended(what, &mut client);
    }
}

/// The store contains only entries. Text between entries exists only in the file.
#[test]
fn truncated_text_after_the_last_entry_is_held() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let ids = client.ids(&root);
    let own =
        "\n## Own\n\nThe pier is closed on Mondays.\nThe second key hangs behind the clock, says Ilse.\n";
    scratch.write("HIPPOCAMPUS.md", scratch.index_file() + own);
    client.sync(&root);
    client.run(&root, Cycle::Light);
    assert_mended("written", &mut client);
    let whole = scratch.index_file();
    assert!(whole.contains(own), "{whole}");
    let cut = whole[..whole.find("behind the clock").unwrap() + 3].to_owned();
    let held = |client: &mut Caller| {
        client.sync(&root);
        client.run(&root, Cycle::Light);
        client.remember(&root, "The anchor was painted.", "Anchor paint");
        assert_eq!(scratch.index_file(), cut);
        let status = client.index_status();
        assert_eq!((status.file.as_str(), status.held_removals), ("held", 0));
        let trouble = status.trouble.unwrap();
        for words in [
            "the end of HIPPOCAMPUS.md is missing",
            "text that hippod did not write",
            "--accept-deletions",
        ] {
            assert!(trouble.contains(words), "{trouble}");
        }
        let problems = client.doctor(false).problems;
        assert!(
            problems.iter().any(|problem| problem.id == "held-removals"),
            "{problems:?}"
        );
        let pending = client.heartbeat(&root).pending;
        assert!(
            pending.iter().any(|pending| pending.kind == "removals-held"),
            "{pending:?}"
        );
    };
    let mended = |client: &mut Caller, what: &str| {
        client.sync(&root);
        assert_mended(what, client);
        assert!(scratch.index_file().contains(own), "{what}");
        assert!(ids.iter().all(|id| client.ids(&root).contains(id)), "{what}");
        block_of(&scratch.index_file(), "anchor-paint");
    };
    scratch.write("HIPPOCAMPUS.md", &cut);
    held(&mut client);
    scratch.write("HIPPOCAMPUS.md", &whole);
    mended(&mut client, "put back");

    // The removal must still be held back after a restart, when no process remembers the removed text.
    let cut = scratch.index_file();
    let cut = cut[..cut.find("behind the clock").unwrap() + 3].to_owned();
    scratch.write("HIPPOCAMPUS.md", &cut);
    client.sync(&root);
    assert_eq!(client.index_status().file, "held");
    drop(client);
    daemon.terminate();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert_eq!(
        (client.index_status().file.as_str(), scratch.index_file()),
        ("held", cut.clone())
    );
    std::fs::remove_file(scratch.index_path()).unwrap();
    mended(&mut client, "removed");

    scratch.write("HIPPOCAMPUS.md", &cut);
    client.sync(&root);
    assert_eq!(client.index_status().file, "held");
    client.accept_deletions(&root);
    assert_mended("accepted", &mut client);
    let file = scratch.index_file();
    assert!(
        file.ends_with("The second key hangs beh") || file.contains("The second key hangs beh\n"),
        "{file}"
    );
}
