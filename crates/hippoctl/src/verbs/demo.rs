//! `demo`: a demonstration with an example workspace and a daemon of its own.

mod example;

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use hippo_proto::{
    ModelListRequest, ModelState, SearchHit, SearchRequest, WorkspaceAddRequest, WorkspaceSyncRequest,
};
use serde_json::json;

use super::own_daemon::OwnDaemon;
use crate::connect::{DaemonSession, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::{self, one_line};
use example::EXAMPLE;
use hippoctl::args::Global;

/// The questions, and the words that are searched instead if no model is installed.
const QUESTIONS: [(&str, &str); 5] = [
    ("Which seat does she prefer on a plane?", "aisle seat"),
    (
        "What did we get the kid for her birthday?",
        "birthday present lamp",
    ),
    ("Where does water get into the enclosure?", "water cable gland"),
    ("Do trees harm reception?", "uninterruptible power supply"),
    ("Did an insect disturb the instrument?", "spider web cone"),
];
/// The file of the edit, the line that is added to the file, and the question about the line.
const FILE: &str = "memory/2026-03-30.md";
const LINE: &str = "- The locksmith moved the appointment for the cellar door to Thursday at half past four.";
const EDIT: (&str, &str) = (
    "When will somebody come to repair the entrance to the basement?",
    "locksmith appointment",
);
/// Maximum time from the edit until a search finds the line.
const PATIENCE: Duration = Duration::from_secs(20);

/// Indexes a copy of the example workspace, asks questions about it, and edits a file. Removes all files afterwards.
///
/// # Errors
/// Fails if the daemon cannot be started, if a request fails, or if no search finds the edit.
pub fn demo(session: &DaemonSession, out: &mut Output) -> Result<(), Failure> {
    let home = OwnDaemon::create("hippod-demo-")?;
    let workspace = home.folder().join("workspace");
    let mut own = home.start(&session.paths, "home", &[], Global::default(), |_| {
        fill(&workspace)
    })?;
    let root = text(&workspace)?;
    let models = own.call(ModelListRequest {})?;
    let mut selected = models.models.iter().filter(|model| model.selected);
    let by_meaning = models.runtime.state == ModelState::Installed
        && selected.any(|model| model.state == ModelState::Installed);
    if !by_meaning {
        out.remark(
            "no model is installed, so the demonstration searches by keyword only (to install the model: \
             hippoctl model pull)",
        );
    }
    let begun = Instant::now();
    own.call(WorkspaceAddRequest {
        workspace: root.clone(),
    })?;
    let request = WorkspaceSyncRequest {
        workspace: root.clone(),
        wait: true,
        ..WorkspaceSyncRequest::default()
    };
    let files = render::plural(EXAMPLE.len() as u64, "file");
    say(
        out,
        &format!("an example memory of {files}, in a temporary folder\n"),
    )?;
    own.call_patiently(request)?;
    let indexed = begun.elapsed().as_secs_f64();
    let legend = "for each question: the score of the best answer, its text, and its file and line";
    say(out, &format!("indexed in {indexed:.1} s\n{legend}\n"))?;

    let mut answers = Vec::new();
    let choose = |(question, words)| if by_meaning { question } else { words };
    for query in QUESTIONS.map(choose) {
        let Some(hit) = search(&mut own, &root, query)?.into_iter().next() else {
            return Err(Failure::new(Exit::Failed, format!("nothing found: {query}")));
        };
        show(out, query, &hit, "")?;
        answers.push(hit);
    }

    say(out, &format!("\nadding a line to {FILE}:\n      {LINE}\n"))?;
    append(&workspace.join(FILE))?;
    let begun = Instant::now();
    let query = choose(EDIT);
    let hit = loop {
        let hits = search(&mut own, &root, query)?;
        if let Some(hit) = hits.into_iter().find(|hit| hit.text.contains(LINE)) {
            break hit;
        }
        if begun.elapsed() > PATIENCE {
            return Err(Failure::new(
                Exit::Failed,
                format!("no search found the edit of {FILE}"),
            ));
        }
    };
    let found = begun.elapsed().as_secs_f64();
    show(
        out,
        query,
        &hit,
        &format!(", {:.0} ms after the edit", found * 1e3),
    )?;
    home.close()?;
    if out.json {
        let report = json!({
            "by_meaning": by_meaning, "index_s": indexed, "answers": answers, "edit": hit, "edit_s": found,
        });
        return out.answer(&report, |_, _| String::new());
    }
    say(
        out,
        "\nremoved the example and its daemon\nto set up a memory in the folder of your agent: hippoctl init\n",
    )
}

fn search(own: &mut DaemonSession, root: &str, query: &str) -> Result<Vec<SearchHit>, Failure> {
    Ok(own.call(SearchRequest::new(root, query))?.results)
}

/// Prints a question and the first line of its answer.
fn show(out: &mut Output, query: &str, hit: &SearchHit, note: &str) -> Result<(), Failure> {
    let style = out.style;
    let score = style.strong(format!("{:.2}", hit.score));
    let line = hit.text.lines().find(|line| !line.trim().is_empty());
    let line = one_line(line.unwrap_or_default());
    let place = style.path(format!(
        "{}:{}",
        hit.path,
        render::lines(hit.start_line, hit.end_line)
    ));
    say(
        out,
        &format!("\n{query}\n {score} {}\n      {place}{note}\n", line.trim()),
    )
}

/// Prints a text at once, but not with `--json`.
fn say(out: &mut Output, text: &str) -> Result<(), Failure> {
    if !out.json {
        out.answer(&(), |(), _| text.to_owned())?;
        out.finish()?;
    }
    Ok(())
}

/// Writes the example workspace.
#[expect(clippy::disallowed_methods, reason = "a new folder")]
fn fill(workspace: &Path) -> io::Result<()> {
    for (name, text) in EXAMPLE {
        let file = workspace.join(name);
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(file, text)?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a file that the demonstration wrote")]
fn append(file: &Path) -> Result<(), Failure> {
    let opened = fs::OpenOptions::new().append(true).open(file);
    let written = opened.and_then(|mut file| writeln!(file, "{LINE}"));
    written.map_err(|error: io::Error| Failure::file("edit the file", file, error))
}
