//! `hippoctl top` in a pseudo-terminal.

use std::process::{Command, Stdio};

use hippo_proto::{SearchRequest, SearchResponse};
use hippod_tests::{Caller, Daemon, QUIET, Scratch, Terminal, client_program};
use rustix::process::Signal;

fn begun() -> (Scratch, Daemon, Caller) {
    let scratch = Scratch::new();
    scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n## Deploy\n\n- Staging server port: 7000\n\n## Garden\n\n- The tomatoes moved.\n",
    );
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

fn start(scratch: &Scratch, columns: u16, rows: u16) -> Terminal {
    Terminal::start(command(scratch), columns, rows)
}

fn command(scratch: &Scratch) -> Command {
    let mut command = Command::new(client_program());
    command
        .args(["--no-start", "top"])
        .current_dir(scratch.workspace())
        .env("HIPPOD_HOME", scratch.home())
        .env_remove("HIPPOD_SOCKET")
        .env_remove("NO_COLOR");
    command
}

#[test]
fn edits_questions_and_strengthened_entries_appear_while_the_view_is_open() {
    let (scratch, _daemon, mut client) = begun();
    let workspace = scratch.workspace();
    let root = workspace.display().to_string();
    let cycle = hippo_proto::CycleRunRequest {
        workspace: root.clone(),
        cycle: hippo_types::cycle::Cycle::Deep,
        dry_run: false,
        at: None,
    };
    let _: hippo_proto::CycleReport = client.raw().call(&cycle.into()).expect("a cycle");
    let ask = |client: &mut Caller, query: &str, name: &str| {
        let request = SearchRequest {
            client: Some(name.to_owned()),
            ..SearchRequest::new(root.clone(), query)
        };
        let _: SearchResponse = client.raw().call(&request.into()).expect("an answer");
    };
    ask(&mut client, "tomatoes", "cli");
    let mut terminal = start(&scratch, 80, 24);
    let screen = terminal.shows("cli: tomatoes → memory/2026-03-02.md:");
    assert!(screen.starts_with("hippod "), "{screen}");
    assert!(
        screen.contains("all searchable") && screen.contains("cycles: "),
        "{screen}"
    );
    terminal.until(|screen| screen.contains('━') && screen.contains("0 edits"));
    scratch.write(
        "memory/2026-03-03.md",
        "# 2026-03-03\n\n- The \x1b[2J\u{202e}fence is green.\n",
    );
    terminal.shows("1 changed file read");
    ask(&mut client, "staging \x1b[2Jserver port", "hook");
    let screen = terminal.shows("↑ from 0.");
    assert!(screen.contains("hook: staging"), "{screen}");
    terminal.until(|screen| screen.contains("1 prompt of hooks"));
    terminal.resize(40, 12);
    terminal.until(|screen| screen.lines().any(|line| line.chars().count() == 40));
    terminal.keys("q");
    assert!(terminal.end().success());
    assert!(terminal.is_restored());
}

#[test]
fn the_view_reconnects_to_a_restarted_daemon() {
    let (scratch, daemon, _client) = begun();
    let mut terminal = start(&scratch, 80, 24);
    terminal.shows("all searchable");
    daemon.kill();
    terminal.shows("reconnecting");
    let _daemon = Daemon::start(&scratch.home(), &QUIET);
    terminal.shows("all searchable");
    terminal.signal(Signal::INT);
    assert_eq!(terminal.end().code(), Some(130));
    assert!(terminal.is_restored());
}

#[test]
fn a_key_during_a_change_of_the_size_is_not_lost() {
    let (scratch, _daemon, _client) = begun();
    for _ in 0..30 {
        let mut terminal = start(&scratch, 80, 24);
        terminal.shows("all searchable");
        // The second signal arrives while the view is drawn.
        terminal.resize(79, 24);
        terminal.resize(78, 24);
        terminal.keys("q");
        assert!(terminal.end().success());
    }
}

#[test]
fn the_live_view_needs_a_terminal() {
    let (scratch, _daemon, _client) = begun();
    let output = command(&scratch).stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(
        errors,
        "hippoctl: top needs a terminal\nhint: without a terminal: hippoctl status\n"
    );
}
