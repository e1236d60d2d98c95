//! Questions of a comparison, from a file or from the recall log.

use std::collections::HashSet;
use std::path::Path;

use hippo_proto::{MAX_QUERY_BYTES, SearchHit};
use serde::Deserialize;

use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::verbs::{input, why};

/// Maximum size of a file with questions in bytes.
const MOST: usize = 16 << 20;
/// Maximum number of questions from the recall log, which the protocol limits.
const LOGGED: u32 = 1000;
/// The members of a question, as part of a hint.
const SHAPE: &str =
    r#"a line is {"query": "…", "evidence": [{"path": "memory/a.md", "start_line": 1, "end_line": 2}]}"#;

/// A question, with the lines that contain its answer, if they are known.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ComparedQuestion {
    /// Text of the question.
    pub query: String,
    /// The lines that contain the answer.
    #[serde(default)]
    pub evidence: Vec<EvidenceLines>,
}

/// Lines of a file that contain an answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EvidenceLines {
    /// Path relative to the workspace.
    pub path: String,
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
}

impl EvidenceLines {
    /// Returns whether a result contains one of the lines.
    pub fn overlaps(&self, hit: &SearchHit) -> bool {
        self.path == hit.path && self.start_line <= hit.end_line && hit.start_line <= self.end_line
    }
}

/// Reads questions from a file. Blank lines and unknown members are ignored.
///
/// # Errors
/// Fails if the file is unreadable or contains no question, if a line is not a question, or if the workspace does not
/// contain the lines of the evidence.
pub fn read(file: &Path, root: &str, out: &mut Output) -> Result<Vec<ComparedQuestion>, Failure> {
    let text = input::text(Some(file), MOST, "give a file with fewer questions", out)?;
    let lines = (1..)
        .zip(text.trim_start_matches('\u{feff}').lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let mut questions = Vec::new();
    for (number, line) in lines {
        questions.push(parse(line, Path::new(root)).map_err(|(reason, hint)| {
            let what = format!("could not use line {number} of {}: {reason}", file.display());
            Failure::new(Exit::Usage, what).hint(hint)
        })?);
    }
    if questions.is_empty() {
        let what = format!("no question in {}", file.display());
        return Err(Failure::new(Exit::Usage, what).hint(SHAPE));
    }
    Ok(questions)
}

/// Parses a question. The error consists of the reason and a hint.
fn parse(line: &str, root: &Path) -> Result<ComparedQuestion, (String, &'static str)> {
    let mut question: ComparedQuestion = serde_json::from_str(line).map_err(|error| {
        // The number of the line in the file is already known.
        (
            error.to_string().replace(" at line 1 column ", " at column "),
            SHAPE,
        )
    })?;
    if question.query.trim().is_empty() {
        return Err(("the query is empty".to_owned(), SHAPE));
    }
    if question.query.len() > MAX_QUERY_BYTES {
        let reason = format!("the query is longer than {MAX_QUERY_BYTES} bytes");
        return Err((reason, "keep only the relevant part of the question"));
    }
    for lines in &mut question.evidence {
        lines.path = lines.path.trim_start_matches("./").to_owned();
        if !hippo_fs::is_file(root, &lines.path) {
            let reason = format!("no such file in the workspace: {}", lines.path);
            return Err((reason, "give a path relative to the workspace"));
        }
        let text = hippo_fs::read_source(root, &lines.path, MOST as u64).map_err(|error| {
            let reason = format!("could not read {}: {error}", lines.path);
            (reason, "choose evidence in another file, or omit the evidence")
        })?;
        let last = String::from_utf8_lossy(&text).lines().count();
        let is_there = lines.start_line > 0 && lines.start_line <= lines.end_line;
        if !is_there || lines.end_line as usize > last {
            let reason = format!("no such lines: {}-{}", lines.start_line, lines.end_line);
            return Err((reason, "lines are counted from 1, and the last line is included"));
        }
    }
    Ok(question)
}

/// Returns the questions in the recall log, latest first, each once.
///
/// # Errors
/// Fails if the log is turned off or empty.
pub fn logged(session: &mut DaemonSession) -> Result<Vec<ComparedQuestion>, Failure> {
    let logged = why::last_questions(session, Some(LOGGED)).map_err(|failure| match failure.kind {
        None if failure.exit == Exit::NotFound => {
            failure.hint("give your questions in a file: --questions FILE")
        }
        _ => failure,
    })?;
    let mut seen = HashSet::new();
    let mut asked: Vec<String> = logged.into_iter().map(|logged| logged.question).collect();
    asked.retain(|query| seen.insert(query.clone()));
    let question = |query| ComparedQuestion {
        query,
        evidence: Vec::new(),
    };
    Ok(asked.into_iter().map(question).collect())
}
