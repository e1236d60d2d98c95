//! Recording of a session in a terminal, for the README.
//!
//! The test runs the commands with the example workspace. With the variable `UPDATE`, it writes the recording.

#[path = "pictures/film.rs"]
mod film;

use std::path::{Path, PathBuf};
use std::process::Command;

use hippod_tests::{Daemon, Scratch, Terminal, client_program};

use super::model::{REAL, with_model};
use film::{COLUMNS, Film, ROWS};

/// The recording.
const FILE: &str = "docs/pictures/session.svg";
/// Maximum size of the recording in bytes.
const MOST: usize = 300_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

fn hippoctl(scratch: &Scratch, words: &[&str]) -> Terminal {
    let mut command = Command::new(client_program());
    let folder = client_program().parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    command
        .args(words)
        .env("PATH", path)
        .current_dir(scratch.beside("my-notes"))
        .env("HIPPOD_HOME", scratch.home())
        .env("EDITOR", "true")
        .env_remove("VISUAL")
        .env_remove("HIPPOD_SOCKET")
        .env_remove("NO_COLOR");
    Terminal::start(command, COLUMNS, ROWS)
}

/// Runs a command, and records it as if a person had typed it.
fn record(film: &mut Film, scratch: &Scratch, shown: &str, words: &[&str]) -> Terminal {
    film.type_command(shown);
    let mut terminal = hippoctl(scratch, words);
    assert!(terminal.end().success(), "{}", terminal.text());
    film.print(terminal.written());
    terminal
}

#[test]
fn the_session_of_the_readme_can_be_recorded() {
    let scratch = with_model();
    let notes = scratch.beside("my-notes");
    copy(&root().join("examples/workspace"), &notes);
    let _daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut film = Film::new(&notes.canonicalize().unwrap().display().to_string());

    record(&mut film, &scratch, "hippoctl init", &["init"]);
    film.hold(2.5);
    hippoctl(&scratch, &["sync", "--wait"]).end();
    hippoctl(&scratch, &["consolidate", "deep"]).end();
    film.clear();
    let question = "what is Mila allergic to";
    let shown = format!("hippoctl search -n 2 \"{question}\"");
    let answer = record(&mut film, &scratch, &shown, &["search", "-n", "2", question]);
    assert!(
        answer.text().contains("allergic to hazelnuts"),
        "{}",
        answer.text()
    );
    film.hold(4.0);

    film.clear();
    film.type_command("hippoctl search -i");
    let mut search = hippoctl(&scratch, &["search", "-i"]);
    search.shows("type a question");
    film.shot(search.screen(), 0.8);
    let question = "seat on flights";
    for end in 1..=question.len() {
        let typed = format!("❯ {}", &question[..end]);
        search.keys(&question[end - 1..end]);
        let is_shown = |screen: &str| screen.lines().next() == Some(typed.trim_end());
        search.until(|screen| is_shown(screen) && (end < 3 || screen.contains("── ")));
        film.shot(search.screen(), 0.06);
    }
    search.until(|screen| screen.contains("aisle seat") && screen.contains("── "));
    film.shot(search.screen(), 2.5);
    film.keep_for_still();
    search.keys("\x1b[B");
    let first = search.text();
    search.until(|screen| screen != first && screen.lines().any(|line| line.starts_with(" 1")));
    film.shot(search.screen(), 2.0);
    search.keys("\x1b");
    assert!(search.end().success());

    film.clear();
    let words = ["index", "show", "homelab-backups"];
    record(&mut film, &scratch, "hippoctl index show homelab-backups", &words);
    film.hold(3.5);

    film.clear();
    film.type_command("hippoctl top");
    let mut top = hippoctl(&scratch, &["top"]);
    top.until(|screen| screen.contains("all searchable") && screen.contains('╌'));
    film.shot(top.screen(), 2.0);
    let log = notes.join("memory/2026-03-30.md");
    let text = std::fs::read_to_string(&log).unwrap() + "\n- The photo backup ran again on Sunday.\n";
    std::fs::write(&log, text).unwrap();
    top.shows("1 changed file read");
    film.shot(top.screen(), 1.5);
    let question = "seat on flights";
    hippoctl(&scratch, &["search", "--record", "-n", "1", question]).end();
    top.until(|screen| screen.contains(question) && screen.contains("↑ from"));
    film.shot(top.screen(), 4.0);
    top.keys("q");
    assert!(top.end().success());

    let svg = film.svg("hippoctl in a terminal: init, search, search -i, index show, top");
    assert!(svg.len() < MOST, "{} bytes", svg.len());
    if std::env::var_os("UPDATE").is_some() {
        let file = root().join(FILE);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, svg).unwrap();
    }
}
