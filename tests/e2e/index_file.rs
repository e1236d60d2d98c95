//! Writing, preservation and merging of the index file.
//!
//! The daemon and a person both edit the file, and no edit is lost.

use hippo_proto::{Cycle, EntryPlace, EntryPriority, Pointer};
use hippod_tests::{Caller, Daemon, Scratch};

use crate::index_odd::daemon_without_privilege;

/// Fills a workspace with several kinds of memory. Each section is long enough to get its own entry.
pub fn fill(scratch: &Scratch) {
    scratch.write(
        "MEMORY.md",
        "# Memory\n\n\
         ## Harbour project\n\n\
         The harbour crane gets new firmware in spring, and Ilse Brandt leads that work. The old controller stays mounted \
         beside the new one until the summer inspection; its wiring plan hangs in the control cabin at pier four.\n\n\
         ## Deployment rules\n\n\
         Never deploy on Fridays. Every deploy goes through the staging gate, where the smoke suite runs for twenty \
         minutes; whoever merges watches the error dashboard afterwards and writes the outcome into the release channel.\n",
    );
    scratch.write(
        "knowledge/database.md",
        "# Database\n\n\
         ## Backups\n\n\
         The nightly backup runs at two and is kept for thirty days. A copy goes to the cold bucket in Frankfurt; restoring \
         it was rehearsed in January and took fifty minutes for the largest tenant.\n\n\
         ## Connection pool\n\n\
         The pool has forty connections per replica. With more of them the kettle sensors timed out, because the primary \
         spent its time on context switches; the limit stands in the chart of the gateway.\n",
    );
    scratch.write(
        "knowledge/kitchen.md",
        "# Kitchen\n\n\
         ## Coffee machine\n\n\
         The coffee machine is descaled every second Monday with citric acid. Its water filter is changed in March and in \
         September; spare filters lie in the left drawer below the sink.\n\n\
         ## Fridge\n\n\
         Whoever finishes the milk writes it on the list at the fridge door. The lower shelf belongs to the lunch of the \
         workshop; everything without a name is thrown away on Friday evening.\n",
    );
    scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n\
         ## Lantern service\n\n\
         The lantern service was moved to the new cluster without downtime. The old nodes stay reserved until Thursday, in \
         case the certificates of the embedded clients turn out to be pinned.\n\n\
         ## Invoice export\n\n\
         The invoice export broke on umlauts and was repaired with an encoding test. Two customers had received garbled \
         names; Tomasz wrote to both of them and sent corrected documents the same afternoon.\n",
    );
    scratch.write(
        "memory/2026-03-03.md",
        "# 2026-03-03\n\n\
         ## Sensor drift\n\n\
         The pressure sensor drifts by two percent when the hall is cold. The supplier suggests a second calibration at five \
         degrees, and lends us a reference gauge for the week after Easter.\n\n\
         ## Gloves\n\n\
         Ilse ordered forty pairs of lined gloves for the night shift. They arrive on Thursday with the parts for the crane, \
         and the porter keeps them in the locker beside the gate.\n",
    );
}

/// Creates a workspace with memory and an index file.
pub fn indexed() -> (Scratch, Daemon, Caller) {
    let scratch = Scratch::new();
    fill(&scratch);
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

/// Returns the id of the entry whose topic ends with `topic`.
pub fn id_of(client: &mut Caller, scratch: &Scratch, topic: &str) -> String {
    let entries = client.listed(&scratch.workspace(), true, None).entries;
    // The topic of an entry may begin with the topic of its file.
    let found = entries.iter().find(|entry| entry.topic.ends_with(topic));
    match found {
        Some(entry) => entry.id.clone(),
        None => panic!("no entry {topic:?} in {entries:#?}"),
    }
}

/// Returns the lines of an entry in the index file, from its heading to its comment.
pub fn block_of(file: &str, id: &str) -> String {
    let comment = format!("<!-- hx: id={id} ");
    let at = file
        .find(&comment)
        .unwrap_or_else(|| panic!("no {id} in\n{file}"));
    let line_end = |from: usize| from + file[from..].find('\n').map_or(file.len() - from, |line| line + 1);
    let mut end = line_end(at);
    let start = file[..at].rfind('\n').map_or(0, |line| line + 1);
    if !file[start..].starts_with("- ") {
        let heading = file[..end].rfind("\n#").expect("a heading") + 1;
        return file[heading..end].to_owned();
    }
    if file[end..].starts_with("  ") {
        end = line_end(end);
    }
    file[start..end].to_owned()
}

#[test]
fn the_first_sync_returns_after_all_entries_are_in_the_index_file() {
    let scratch = Scratch::new();
    fill(&scratch);
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    // The entries must be in the file when the request returns. Therefore, read the file immediately.
    let file = scratch.index_file();
    assert!(file.starts_with("# HIPPOCAMPUS.md"), "{file}");
    assert!(file.contains("<!-- hippocampus.md v1.0 | entries: "), "{file}");
    for section in ["Quick Access", "By Topic", "By Time", "Decay Queue", "Meta"] {
        assert!(file.contains(&format!("\n## {section}\n")), "{section}: {file}");
    }
    let entries = client.entries(&scratch.workspace());
    for path in [
        "MEMORY.md",
        "knowledge/database.md",
        "knowledge/kitchen.md",
        "memory/2026-03-02.md",
        "memory/2026-03-03.md",
    ] {
        let points = |entry: &&hippo_proto::IndexEntry| entry.pointers.iter().any(|at| at.path == path);
        let entry = entries
            .iter()
            .find(points)
            .unwrap_or_else(|| panic!("none for {path}: {entries:#?}"));
        let block = block_of(&file, &entry.id);
        assert!(block.contains(&entry.topic) && block.contains(path), "{block}");
        assert!(block.contains(&entry.summary), "{block}");
    }
    let status = client.index_status();
    assert_eq!((status.file.as_str(), status.trouble), ("written", None));
    assert_eq!(status.entries, entries.len() as u64);
    let checks = client.doctor(false).checks;
    assert!(
        checks.iter().any(|check| check.id == "index-file" && check.ok),
        "{checks:?}"
    );
}

#[test]
fn cycles_without_work_write_nothing() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    // The first deep and archival cycles record facts that no earlier cycle has recorded, such as the targets of
    // pointers.
    for cycle in [Cycle::Deep, Cycle::Archival, Cycle::Light] {
        client.run(&root, cycle);
    }
    let modified = |scratch: &Scratch| scratch.index_path().metadata().unwrap().modified().unwrap();
    let (files, at) = (scratch.kept_files(), modified(&scratch));
    for cycle in [Cycle::Light, Cycle::Deep, Cycle::Light, Cycle::Archival] {
        let report = client.run(&root, cycle);
        assert!(report.plan.is_empty() && report.files.is_empty(), "{report:#?}");
        assert_eq!(scratch.kept_files(), files, "{cycle:?}");
        assert_eq!(modified(&scratch), at, "{cycle:?}");
    }
}

#[test]
fn edits_by_the_user_are_kept_through_every_cycle() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let backups = id_of(&mut client, &scratch, "Backups");
    let coffee = id_of(&mut client, &scratch, "Coffee machine");
    let drift = id_of(&mut client, &scratch, "Sensor drift");
    let pool = id_of(&mut client, &scratch, "Connection pool");
    let before = client.entry(&root, &backups);

    scratch.edit_index(&before.summary, "Backups are somebody's job: ask Ilse first.");
    let block = block_of(&scratch.index_file(), &coffee);
    let pointer = "→ knowledge/kitchen.md §Coffee machine";
    assert!(block.contains(pointer), "{block}");
    scratch.edit_index(
        &block,
        &block.replacen(pointer, &format!("{pointer} | knowledge/database.md"), 1),
    );
    let block = block_of(&scratch.index_file(), &drift);
    let tagged = match block.find("tags=") {
        Some(at) => format!("{}tags=cold,hall,{}", &block[..at], &block[at + 5..]),
        None => block.replace(" -->", " | tags=cold,hall -->"),
    };
    scratch.edit_index(&block, &tagged.replace(" -->", " | pri=high -->"));
    let block = block_of(&scratch.index_file(), &pool);
    scratch.edit_index(&block, "");
    scratch.edit_index(
        "\n## By Time\n",
        &format!("\n## Things I watch\n\n- Spare keys → knowledge/kitchen.md\n\n{block}\n## By Time\n"),
    );
    client.sync(&root);

    let expect = |client: &mut Caller, when: &str| {
        let entry = client.entry(&root, &backups);
        assert_eq!(
            entry.summary, "Backups are somebody's job: ask Ilse first.",
            "{when}"
        );
        let paths: Vec<String> = client
            .entry(&root, &coffee)
            .pointers
            .into_iter()
            .map(|at| at.path)
            .collect();
        assert_eq!(paths, ["knowledge/kitchen.md", "knowledge/database.md"], "{when}");
        let entry = client.entry(&root, &drift);
        assert!(
            entry.tags.starts_with(&["cold".into(), "hall".into()]),
            "{when}: {entry:?}"
        );
        assert_eq!(entry.priority, EntryPriority::High, "{when}");
        let keys = client.entry(&root, "spare-keys");
        assert_eq!(
            (keys.topic.as_str(), keys.place),
            ("Spare keys", EntryPlace::Index),
            "{when}"
        );
        let file = scratch.index_file();
        let mine = file.find("## Things I watch").expect("the section is there");
        let next = mine + file[mine..].find("\n## By Time").expect("By Time");
        assert!(
            file[mine..next].contains(&format!("id={pool} ")),
            "{when}: {file}"
        );
        assert!(file[mine..next].contains("Spare keys"), "{when}: {file}");
        assert_eq!(file.matches(&format!("id={pool} ")).count(), 1, "{when}");
        assert!(
            file.contains("Backups are somebody's job: ask Ilse first."),
            "{when}"
        );
    };
    expect(&mut client, "at once");
    for cycle in [Cycle::Light, Cycle::Deep, Cycle::Archival, Cycle::Light] {
        client.run(&root, cycle);
        expect(&mut client, &format!("after {cycle:?}"));
    }
    // A changed source must not replace a summary that a person wrote.
    scratch.write("knowledge/database.md", "# Database\n\n## Backups\n\nBackups are made every hour now, and each of them is read back and compared before it counts.\n");
    client.sync(&root);
    client.run(&root, Cycle::Deep);
    assert_eq!(
        client.entry(&root, &backups).summary,
        "Backups are somebody's job: ask Ilse first."
    );
    let entry = client.edit(&root, &backups, |edit| edit.tags = Some(vec!["ours".into()]));
    assert_eq!(entry.summary, "Backups are somebody's job: ask Ilse first.");
    assert!(block_of(&scratch.index_file(), &backups).contains("tags=ours"));
    drop(client);
    daemon.terminate();

    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    assert_eq!(
        client.entry(&root, &backups).summary,
        "Backups are somebody's job: ask Ilse first."
    );
    assert_eq!(client.entry(&root, &backups).tags, ["ours"]);
}

#[test]
fn a_conflicting_edit_is_reported_once() {
    let (scratch, _daemon, mut client) = indexed();
    let root = scratch.workspace();
    let id = id_of(&mut client, &scratch, "Backups");
    let stale = scratch.index_file();
    let summary = client.entry(&root, &id).summary;
    client.edit(&root, &id, |edit| {
        edit.summary = Some("What the agent says.".into())
    });
    // An editor that read the file before that edit now saves its outdated text.
    scratch.write(
        "HIPPOCAMPUS.md",
        stale.replacen(&summary, "What the person says.", 1),
    );
    client.sync(&root);
    assert_eq!(client.entry(&root, &id).summary, "What the person says.");
    // A cycle runs before the next heartbeat. The heartbeat must still report the conflict.
    let run = client.run(&root, Cycle::Light).run;
    let conflicts = |client: &mut Caller| {
        let mut pending = client.heartbeat(&root).pending;
        pending.retain(|pending| pending.kind == "conflict");
        pending
    };
    let told = conflicts(&mut client);
    assert_eq!(told.len(), 1, "{told:?}");
    for part in [id.as_str(), "summary", "hippod had: What the agent says."] {
        assert!(told[0].text.contains(part), "{part}: {told:?}");
    }
    assert_eq!(told[0].paths, ["HIPPOCAMPUS.md"]);
    assert_eq!(conflicts(&mut client), [], "told once");
    let notes = client.history(&root, run).report.expect("a report").notes;
    assert!(notes.contains(&told[0].text), "{notes:?}");
}

#[test]
fn an_entry_removed_by_the_user_stays_forgotten_until_restored() {
    let (scratch, daemon, mut client) = indexed();
    let root = scratch.workspace();
    let id = id_of(&mut client, &scratch, "Coffee machine");
    let block = block_of(&scratch.index_file(), &id);
    scratch.edit_index(&block, "");
    client.sync(&root);
    let gone = |client: &mut Caller, when: &str| {
        assert!(!client.ids(&root).contains(&id), "{when}");
        assert!(!scratch.index_file().contains(&format!("id={id} ")), "{when}");
    };
    gone(&mut client, "at once");
    for cycle in [Cycle::Light, Cycle::Deep, Cycle::Archival] {
        client.run(&root, cycle);
        gone(&mut client, &format!("after {cycle:?}"));
        assert!(
            !scratch.index_file().contains("Coffee machine"),
            "no list has it: {cycle:?}"
        );
    }
    let text = "# Kitchen\n\n## Coffee machine\n\nThe coffee machine was sold; a teapot stands there.\n";
    scratch.write("knowledge/kitchen.md", text);
    client.sync(&root);
    for cycle in [Cycle::Light, Cycle::Deep] {
        client.run(&root, cycle);
        gone(&mut client, &format!("its file changed, after {cycle:?}"));
    }
    drop(client);
    daemon.terminate();
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.sync(&root);
    client.run(&root, Cycle::Light);
    gone(&mut client, "after a restart");
    let found = client.search(&root, "coffee machine teapot").results;
    assert_eq!(found[0].path, "knowledge/kitchen.md", "the text is still found");

    assert_eq!(client.restore(&root, &id).place, EntryPlace::Index);
    assert!(block_of(&scratch.index_file(), &id).contains("Coffee machine"));
    client.run(&root, Cycle::Light);
    assert!(client.ids(&root).contains(&id));

    // Forget the entry. Then a person restores it in the file.
    client.forget(&root, &id);
    gone(&mut client, "forgotten");
    client.run(&root, Cycle::Deep);
    gone(&mut client, "forgotten, after Deep");
    scratch.edit_index("\n## By Time\n", &format!("\n{block}\n## By Time\n"));
    client.sync(&root);
    client.run(&root, Cycle::Deep);
    assert!(client.ids(&root).contains(&id));
    assert!(scratch.index_file().contains(&format!("id={id} ")));
}

#[test]
fn pointers_to_unreadable_files_are_kept() {
    let scratch = Scratch::new();
    fill(&scratch);
    let root = scratch.workspace();
    let daemon = daemon_without_privilege(&scratch);
    let mut client = daemon.client();
    client.index(&root);
    let coffee = id_of(&mut client, &scratch, "Coffee machine");
    let to = |path: &str, section: &str| Pointer {
        path: path.into(),
        section: Some(section.into()),
    };
    let pointers = [
        to("knowledge/kitchen.md", "Coffee machine"),
        to("knowledge/database.md", "Backups"),
    ];
    client.edit(&root, &coffee, |edit| edit.pointers = Some(pointers.to_vec()));
    client.run(&root, Cycle::Deep);
    drop(client);
    daemon.terminate();
    for (what, of) in [("a file", "knowledge/database.md"), ("its folder", "knowledge")] {
        let path = root.join(of);
        let mode = |mode| {
            let rights = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(&path, rights).unwrap();
        };
        mode(0o000);
        // After the restart, the daemon knows only the content of the store.
        let daemon = daemon_without_privilege(&scratch);
        let mut client = daemon.client();
        client.sync(&root);
        let report = client.run(&root, Cycle::Deep);
        let shown = client.show(&root, &coffee);
        assert_eq!(shown.entry.pointers, pointers, "{what}: {report:#?}");
        assert_eq!(shown.stale, [""; 0], "{what}");
        mode(0o755);
        client.sync(&root);
        client.run(&root, Cycle::Deep);
        assert_eq!(client.entry(&root, &coffee).pointers, pointers, "{what}");
        drop(client);
        daemon.terminate();
    }
}
