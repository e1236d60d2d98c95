//! Sharing with a team while the server or the daemon dies, or the server does not answer.

use std::time::Instant;

use hippo_proto::SearchResponse;
use hippod_tests::{PATIENCE, Postgres};

use crate::share_team::{Member, team};

const FILES: usize = 40;

/// Writes files with unique and with repeated texts. `round` changes some of the lines.
fn write_files(member: &Member, round: usize) {
    for file in 0..FILES {
        let mut text = format!("# Notes {file}\n\n");
        for line in 0..20 {
            let part = if line % 5 == 0 { round } else { 0 };
            text += &format!("- machine {file} has valve {line} in state {part}\n");
        }
        text += "\n## Shared\n\n- oil the pump\n- oil the pump\n";
        member.scratch.write(&format!("knowledge/{file}.md"), text);
    }
}

/// Waits until everything is on the server.
fn wait_until_published(member: &mut Member) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        member.index();
        // A publication reports the error of a server that just starts.
        if member.try_publish(false).is_ok_and(|done| done.notes.is_empty())
            && member.publish(true).documents == 0
        {
            return;
        }
        assert!(Instant::now() < deadline, "{:#?}", member.status());
    }
}

fn rows_of(server: &Postgres, author: &str) -> String {
    let sql = format!(
        "SELECT d.path, p.first_line, p.nth, p.text, p.model IS NOT NULL
         FROM hippod.passages AS p JOIN hippod.documents AS d ON d.team = p.team AND d.id = p.document
         WHERE p.author = '{author}' AND NOT d.removed ORDER BY 1, 2, 3"
    );
    server.query("postgres", &sql).unwrap()
}

/// Waits until the server has some rows of ada, so that the publication has begun.
fn wait_for_rows(server: &Postgres, more_than: usize) -> usize {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let sql = "SELECT count(*) FROM hippod.documents WHERE author = 'ada'";
        let count = server.query("postgres", sql).unwrap().parse().unwrap();
        if count > more_than {
            return count;
        }
        assert!(Instant::now() < deadline, "{}", server.log());
    }
}

#[test]
fn kills_of_the_server_and_of_the_daemon_lose_nothing_and_repeat_nothing() {
    let Some(mut server) = team() else { return };
    let mut ada = Member::new(&server, "ada", "core");
    write_files(&ada, 0);
    ada.client.add(&ada.scratch.workspace());
    let mut rows = 0;
    for round in 1..=3 {
        rows = wait_for_rows(&server, rows.min(FILES - 1));
        server.kill();
        write_files(&ada, round);
        std::fs::remove_file(ada.scratch.workspace().join(format!("knowledge/{round}.md"))).unwrap();
        ada = ada.restart();
        server.run();
        ada = ada.restart();
    }
    ada.client.accept_deletions(&ada.scratch.workspace());
    wait_until_published(&mut ada);

    let mut ben = Member::new(&server, "ben", "core");
    let copied = std::process::Command::new("cp")
        .args(["-R"])
        .args([ada.scratch.workspace().join("knowledge"), ben.scratch.workspace()])
        .status();
    assert!(copied.unwrap().success());
    wait_until_published(&mut ben);
    let expected = rows_of(&server, "ben");
    assert!(expected.lines().count() > 20 * (FILES - 4), "{expected}");
    assert_eq!(rows_of(&server, "ada"), expected);
}

fn is_without_team(found: &SearchResponse) -> bool {
    found
        .notes
        .iter()
        .any(|note| note.starts_with("searched without the team"))
}

#[test]
fn a_search_waits_for_a_frozen_or_absent_server_only_within_its_budget() {
    let Some(mut server) = team() else { return };
    let mut ada = Member::new(&server, "ada", "core");
    ada.scratch
        .write("MEMORY.md", "# Memory\n\n- The relay of the dam has port 8443.\n");
    ada.index();
    ada.publish(false);
    let mut ben = Member::with(&server, "ben", "core", "publish = false");
    ben.scratch
        .write("MEMORY.md", "# Memory\n\n- The pump of hall 3 is blue.\n");
    ben.index();
    let is_found = |found: &SearchResponse| found.results.iter().any(|hit| hit.origin.is_some());
    ben.search_until("relay of the dam", is_found);

    server.freeze();
    let frozen = ben.search("pump of hall 3");
    assert!(
        is_without_team(&frozen) && !frozen.results.is_empty(),
        "{frozen:#?}"
    );
    // The budget of this member is 5 s. During the pause after the failure, searches do not wait at all.
    assert!(frozen.took_ms < 10_000.0, "{}", frozen.took_ms);
    assert!(frozen.results[0].text.contains("blue") && frozen.index.degraded.is_none());
    let paused = ben.search("pump of hall 3");
    assert!(
        is_without_team(&paused) && paused.took_ms < 4000.0,
        "{}",
        paused.took_ms
    );
    server.thaw();
    ben.search_until("relay of the dam", is_found);

    server.kill();
    let absent = ben.search_until("pump of hall 3", is_without_team);
    assert!(absent.results[0].text.contains("blue"), "{absent:#?}");
    let status = ben.status();
    assert!(!status.reachable && status.why.is_some(), "{status:#?}");
    server.run();
    ben.search_until("relay of the dam", is_found);
    assert!(ben.status().reachable);
}
