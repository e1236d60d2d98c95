//! `bench`: how well does retrieval answer the user's own questions, beside plain grep and a full scan?

mod baseline;
mod distinct;
mod metrics;
mod questions;
mod report;
mod run;

use std::path::PathBuf;

use hippo_proto::{WorkspaceSyncRequest, WorkspaceSyncResponse};
use indicatif::ProgressBar;

use crate::connect::{Session, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::{BenchArgs, BenchMode};

use report::Report;
use run::Measured;

/// What the file is to be.
const QUESTIONS: &str =
    "each line is one question with its evidence, as JSON: hippoctl bench --help shows the fields";

/// Asks every question in every mode and prints the figures.
///
/// # Errors
/// The questions cannot be read, the workspace is not registered, or the daemon fails.
pub fn bench(session: &mut Session, args: &BenchArgs, out: &mut Output) -> Result<(), Failure> {
    #[expect(clippy::disallowed_methods, reason = "a file that the user names")]
    let file = std::fs::read_to_string(&args.file)
        .map_err(|error| Failure::input("read the questions", &args.file, &error))?;
    let asked = questions::parse(&file)
        .map_err(|error| Failure::file("read the questions", &args.file, error).hint(QUESTIONS))?;
    let questions::Questions {
        questions,
        without_evidence,
    } = asked;
    let questions = questions::spread(questions, args.limit_questions);
    if questions.is_empty() {
        return Err(Failure::new(
            Exit::Failed,
            format!("no question has evidence: {}", args.file.display()),
        )
        .hint(QUESTIONS));
    }
    let root = workspace(session, args)?;
    let workspace = text(&root)?;
    if args.modes.iter().any(|mode| run::is_served(*mode)) {
        let request = WorkspaceSyncRequest {
            workspace: workspace.clone(),
            wait: true,
            accept_deletions: false,
        };
        let synced: WorkspaceSyncResponse = session.call_patiently(request, |_| {})?;
        for note in &synced.notes {
            out.note(&format!("note: {}", render::one_line(note)));
        }
    }
    let bar = out
        .progress
        .then(|| ProgressBar::new((questions.len() * args.modes.len()) as u64));
    let mut measured = Vec::new();
    let mut left_out = Vec::new();
    for mode in &args.modes {
        let mut step = || {
            if let Some(bar) = &bar {
                bar.inc(1);
            }
        };
        match mode {
            BenchMode::Grep | BenchMode::FullScan => {
                let outcomes = baseline::measure(*mode, &root, &questions, args, &mut step)?;
                measured.push((*mode, outcomes));
            }
            _ => match run::measure(session, *mode, &workspace, &questions, args, &mut step)? {
                Measured::Outcomes(outcomes) => measured.push((*mode, outcomes)),
                Measured::Refused(reason) => left_out.push((*mode, reason)),
            },
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let report = Report::new(
        workspace,
        args,
        &questions,
        without_evidence,
        &measured,
        &left_out,
    );
    if !out.json {
        for note in report.notes() {
            out.note(&note);
        }
    }
    out.answer(&report, |report, _| report.tables())
}

/// `--workspace`, else the folder `workspace` beside the questions, else the nearest registered folder.
fn workspace(session: &mut Session, args: &BenchArgs) -> Result<PathBuf, Failure> {
    let root = match session.given_workspace()? {
        Some(given) => given,
        None => {
            let beside = absolute(&args.file)?.with_file_name("workspace");
            if hippo_fs::is_present(&beside) {
                beside
            } else {
                PathBuf::from(session.workspace()?)
            }
        }
    };
    if hippo_fs::is_present(&root) {
        return Ok(root);
    }
    Err(Failure::new(
        Exit::NotFound,
        format!("there is no such workspace: {}", root.display()),
    )
    .hint("name it with --workspace DIR, or lay it beside the questions under the name workspace"))
}
