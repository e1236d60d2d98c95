//! `hippoctl search -i` in a pseudo-terminal.

use std::process::{Command, Stdio};
use std::time::Instant;

use hippo_proto::{RecallLogRequest, RecallLogResponse};
use hippod_tests::{Caller, Daemon, PATIENCE, QUIET, Scratch, Terminal, client_program};
use rustix::process::Signal;

/// Text that would change the screen, the title and the clipboard of a terminal that interprets it.
const HOSTILE: &str =
    "The zeppelin \x1b[2J\x1b]0;pwned\x07\x1b]52;c;cHduZWQ=\x07\u{202e}lands\u{9b}31m at nine.";

fn begun() -> (Scratch, Daemon, Caller) {
    let scratch = Scratch::new();
    let lines: String = (1..40)
        .map(|number| format!("- Rule {number} of the garden.\n"))
        .collect();
    scratch.write(
        "memory/2026-03-02.md",
        format!("# 2026-03-02\n\n## Deploy\n\n- Staging server port: 7000\n\n## Garden\n\n{lines}"),
    );
    scratch.write(
        "memory/2026-03-09.md",
        "# 2026-03-09\n\n## Kitchen\n\n- The coffee machine is descaled on Mondays.\n",
    );
    scratch.write("memory/hostile.md", format!("# Hostile\n\n{HOSTILE}\n"));
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

fn command(scratch: &Scratch, words: &[&str]) -> Command {
    let mut command = Command::new(client_program());
    command
        .args(["--no-start", "search", "-i"])
        .args(words)
        .current_dir(scratch.workspace())
        .env("HIPPOD_HOME", scratch.home())
        .env_remove("HIPPOD_SOCKET")
        .env_remove("NO_COLOR");
    command
}

/// Returns the command with an editor that appends its arguments to a file.
fn with_editor(scratch: &Scratch) -> Command {
    let mut command = command(scratch, &[]);
    let opened = scratch.beside("opened");
    let editor = format!("f() {{ echo \"$@\" > '{}'; }}; f", opened.display());
    command.env_remove("VISUAL").env("EDITOR", editor);
    command
}

fn questions(client: &mut Caller, scratch: &Scratch) -> Vec<String> {
    let request = RecallLogRequest {
        workspace: scratch.workspace().display().to_string(),
        ..RecallLogRequest::default()
    };
    let answer: RecallLogResponse = client.raw().call(&request.into()).expect("an answer");
    answer.questions.into_iter().map(|it| it.question).collect()
}

/// Waits until a file exists, and returns its text.
fn file(scratch: &Scratch, name: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match std::fs::read_to_string(scratch.beside(name)) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => assert!(Instant::now() < deadline, "{name} is never written"),
        }
        std::thread::yield_now();
    }
}

#[test]
fn enter_opens_the_editor_at_the_line_and_only_then_the_log_keeps_the_question() {
    let (scratch, _daemon, mut client) = begun();
    let mut terminal = Terminal::start(with_editor(&scratch), 80, 24);
    terminal.shows("type a question");
    terminal.keys("staging serv");
    let screen = terminal.shows("  5  - Staging server port: 7000");
    assert!(screen.contains("── memory/2026-03-02.md:"), "{screen}");
    assert!(
        screen.lines().last().unwrap().starts_with("Enter open"),
        "{screen}"
    );
    assert_eq!(questions(&mut client, &scratch), Vec::<String>::new());
    terminal.keys("er port\r");
    let opened = file(&scratch, "opened");
    let path = scratch.workspace().canonicalize().unwrap();
    let path = path.join("memory/2026-03-02.md");
    assert_eq!(opened, format!("+5 {}\n", path.display()));
    terminal.shows("5  - Staging server port: 7000");
    terminal.keys("\x1b");
    assert!(terminal.end().success());
    assert!(terminal.is_restored());
    assert_eq!(questions(&mut client, &scratch), ["staging server port"]);
}

#[test]
fn keys_move_between_results_and_copy_the_pointer() {
    let (scratch, _daemon, _client) = begun();
    let mut terminal = Terminal::start(command(&scratch, &["garden", "rule"]), 40, 12);
    // The output can end within the line. The heading is at its end.
    let title = |screen: &str| {
        let mut lines = screen.lines();
        let whole = lines.find(|line| line.starts_with("── memory/") && line.contains('›'));
        whole.map(str::to_owned)
    };
    let first = terminal.until(|screen| title(screen).is_some());
    terminal.keys("\x1b[B");
    let second = terminal.until(|screen| title(screen).is_some_and(|line| Some(line) != title(&first)));
    terminal.keys("\x10");
    terminal.until(|screen| title(screen) == title(&first));
    terminal.keys("\x0e");
    terminal.until(|screen| title(screen) == title(&second));
    terminal.keys("\x1b[A\x19");
    terminal.shows("copied memory/2026-03-02.md:");
    // "memory/2026-03-02.md:" in base64.
    assert!(
        terminal.copied()[0].starts_with("bWVtb3J5LzIwMjYtMDMtMDIubWQ6"),
        "{:?}",
        terminal.copied()
    );
    // Every line fits, also after the terminal has grown and shrunk.
    for (columns, rows) in [(80, 24), (40, 12), (20, 4)] {
        terminal.resize(columns, rows);
        let wide = usize::from(columns) - 10;
        terminal.until(|screen| screen.lines().any(|line| line.chars().count() > wide));
    }
    terminal.keys("\x03");
    assert!(terminal.end().success());
    assert!(terminal.is_restored());
}

#[test]
fn text_of_the_memory_never_controls_the_terminal() {
    let (scratch, _daemon, _client) = begun();
    let mut terminal = Terminal::start(command(&scratch, &["zeppelin"]), 80, 24);
    let screen = terminal.shows("  3  The zeppelin");
    assert!(
        screen.contains("❯ zeppelin") && screen.contains("lands"),
        "{screen}"
    );
    terminal.keys("\x1b[200~ \x1b]0;pwned\x07 lands\x1b[201~");
    terminal.shows("lands");
    terminal.keys("\x1b");
    assert!(terminal.end().success());
    let written = String::from_utf8_lossy(terminal.written()).into_owned();
    assert!(!written.contains("\x1b]0;") && !written.contains('\u{202e}') && !written.contains('\u{9b}'));
    assert_eq!(terminal.copied(), Vec::<String>::new());
}

#[test]
fn without_colour_no_colour_is_written() {
    let (scratch, _daemon, _client) = begun();
    for is_plain in [true, false] {
        let mut command = command(&scratch, &["coffee"]);
        if is_plain {
            command.env("NO_COLOR", "1");
        }
        let mut terminal = Terminal::start(command, 80, 24);
        terminal.shows("5  - The coffee machine");
        let colours = terminal.colours();
        assert_eq!(colours == 0, is_plain, "{colours}");
        terminal.signal(Signal::TERM);
        assert_eq!(terminal.end().code(), Some(130));
        assert!(terminal.is_restored());
    }
}

#[test]
fn a_restarted_daemon_answers_the_waiting_question() {
    let (scratch, daemon, _client) = begun();
    let mut terminal = Terminal::start(command(&scratch, &["coffee"]), 80, 24);
    terminal.shows("5  - The coffee machine");
    daemon.kill();
    terminal.keys("\x15garden");
    terminal.shows("reconnecting");
    let _daemon = Daemon::start(&scratch.home(), &QUIET);
    let is_answered = |screen: &str| {
        screen.starts_with("❯ garden") && screen.contains("of the garden") && !screen.contains("reconnecting")
    };
    terminal.until(is_answered);
}

#[test]
fn the_interactive_search_needs_a_terminal() {
    let (scratch, _daemon, _client) = begun();
    let output = command(&scratch, &["coffee"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(
        errors,
        "hippoctl: search --interactive needs a terminal\nhint: without a terminal: hippoctl search QUERY\n"
    );
}
