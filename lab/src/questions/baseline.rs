//! Baselines: grep and a full scan.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use hippo_fs::{FileKind, WorkspaceDir};
use hippo_types::tokens;

use super::file::EvidenceQuestion;
use super::metrics::{EvidenceSpan, RankingFigures, judge, recall};
use super::run::QuestionOutcome;
use super::{BenchMode, QuestionArguments};

/// Number of files that the grep row reads whole.
const GREP_FILES: usize = 5;
/// The derived index file in the root of the workspace.
const INDEX_FILE: &str = "HIPPOCAMPUS.md";

/// A file with its content.
struct BaselineFile {
    path: String,
    body: String,
}

/// Measures a row without the daemon. The files are read again for each question, as grep would do.
///
/// # Errors
/// Fails if the workspace cannot be read.
pub fn measure(
    mode: BenchMode,
    root: &Path,
    questions: &[EvidenceQuestion],
    args: &QuestionArguments,
) -> Result<Vec<QuestionOutcome>> {
    let failed = || format!("could not read the workspace: {}", root.display());
    let dir = WorkspaceDir::open(root).with_context(failed)?;
    let files = markdown_files(&dir).with_context(failed)?;
    let mut outcomes = Vec::with_capacity(questions.len());
    for question in questions {
        let begun = Instant::now();
        let texts = files.iter().filter_map(|path| read(&dir, path)).collect();
        let read = match mode {
            BenchMode::Grep => grep(&question.query, texts),
            _ => texts,
        };
        let latency_ms = begun.elapsed().as_secs_f64() * 1000.0;
        let whole: Vec<EvidenceSpan> = read.iter().map(|text| first_bytes(text, usize::MAX)).collect();
        let judged = match mode {
            BenchMode::Grep => judge(&whole, &question.evidence, &args.k),
            _ => all_at_once(&whole, &question.evidence, &args.k),
        };
        let budget = |budget: &u32| (*budget, recall(&within(&read, *budget), &question.evidence));
        outcomes.push(QuestionOutcome {
            judged,
            budget_recall: args.budgets.iter().map(budget).collect(),
            tokens: tokens::of_bytes(read.iter().map(|text| text.body.len()).sum()) as f64,
            latency_ms,
            degraded: None,
        });
    }
    Ok(outcomes)
}

/// Judges a full scan, which has no ranking. Its figures that depend on rank are meaningless.
fn all_at_once(whole: &[EvidenceSpan], evidence: &[EvidenceSpan], ks: &[u32]) -> RankingFigures {
    let recall = recall(whole, evidence);
    let hit = if recall > 0.0 { 1.0 } else { 0.0 };
    RankingFigures {
        recall: ks.iter().map(|k| (*k, recall)).collect(),
        hit: ks.iter().map(|k| (*k, hit)).collect(),
        ..RankingFigures::default()
    }
}

/// Returns the files with the most words of the query. Ties are ordered by the number of occurrences, then by path.
fn grep(query: &str, texts: Vec<BaselineFile>) -> Vec<BaselineFile> {
    let query = query.to_lowercase();
    let words: BTreeSet<&str> = query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let score = |text: &BaselineFile| {
        let body = text.body.to_lowercase();
        let counts = words
            .iter()
            .map(|word| body.matches(word).count())
            .filter(|count| *count > 0);
        counts.fold((0usize, 0usize), |(distinct, all), count| {
            (distinct + 1, all + count)
        })
    };
    let mut scored: Vec<_> = texts.into_iter().map(|text| (score(&text), text)).collect();
    scored.retain(|((distinct, _), _)| *distinct > 0);
    scored.sort_by(|(a, _), (b, _)| b.cmp(a));
    scored
        .into_iter()
        .take(GREP_FILES)
        .map(|(_, text)| text)
        .collect()
}

/// Returns the lines that a reader of one file after the other sees before the budget is used up.
fn within(texts: &[BaselineFile], budget_tokens: u32) -> Vec<EvidenceSpan> {
    let mut left = tokens::bytes(budget_tokens as usize);
    let mut spans = Vec::new();
    for text in texts {
        let span = first_bytes(text, left);
        if span.end_line > 0 {
            spans.push(span);
        }
        left = left.saturating_sub(text.body.len());
        if left == 0 {
            break;
        }
    }
    spans
}

/// Returns the whole lines within the first `bytes` of a file. The last line is 0 if no line fits.
fn first_bytes(text: &BaselineFile, bytes: usize) -> EvidenceSpan {
    let mut used = 0;
    let lines = text.body.split_inclusive('\n').take_while(|line| {
        used += line.len();
        used <= bytes
    });
    let end_line = u32::try_from(lines.count()).unwrap_or(u32::MAX);
    EvidenceSpan {
        path: text.path.clone(),
        start_line: 1,
        end_line,
    }
}

fn read(dir: &WorkspaceDir, path: &str) -> Option<BaselineFile> {
    // A file that was removed after the listing is skipped, as by grep.
    let bytes = dir.read(path, u64::MAX).ok()?;
    Some(BaselineFile {
        path: path.to_owned(),
        body: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// Returns every markdown file of a workspace in path order. Hidden folders and the derived index file are skipped,
/// and links are not followed.
fn markdown_files(dir: &WorkspaceDir) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in dir.entries(&folder)? {
            let Ok(name) = entry.name.into_string() else {
                continue;
            };
            let path = folder.join(&name);
            if name.starts_with('.') || path == Path::new(INDEX_FILE) {
                continue;
            }
            match entry.kind {
                FileKind::Folder => folders.push(path),
                FileKind::File if name.ends_with(".md") => {
                    found.push(path.to_string_lossy().replace('\\', "/"));
                }
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str, body: &str) -> BaselineFile {
        BaselineFile {
            path: path.into(),
            body: body.into(),
        }
    }

    fn paths(texts: &[BaselineFile]) -> Vec<&str> {
        texts.iter().map(|text| text.path.as_str()).collect()
    }

    #[test]
    fn grep_ranks_by_distinct_words_then_by_count() {
        let texts = vec![
            text("many", "deploy deploy deploy"),
            text("both", "We DEPLOY on a Friday."),
            text("none", "lunch"),
            text("same", "deploy deploy deploy"),
        ];
        assert_eq!(paths(&grep("Deploy, friday?", texts)), ["both", "many", "same"]);
        let crowd = (0..9).map(|at| text(&at.to_string(), "deploy")).collect();
        assert_eq!(paths(&grep("deploy", crowd)), ["0", "1", "2", "3", "4"]);
    }

    #[test]
    fn a_budget_ends_reading_at_a_line_boundary() {
        // Each line has 8 bytes: two tokens.
        let texts = [text("a", "1234567\n1234567\n"), text("b", "1234567\n1234567\n")];
        let ends = |budget| {
            within(&texts, budget)
                .iter()
                .map(|span| (span.path.clone(), span.end_line))
                .collect::<Vec<_>>()
        };
        assert_eq!(ends(1), []);
        assert_eq!(ends(3), [("a".to_owned(), 1)]);
        assert_eq!(ends(4), [("a".to_owned(), 2)]);
        assert_eq!(ends(6), [("a".to_owned(), 2), ("b".to_owned(), 1)]);
        assert_eq!(ends(100), [("a".to_owned(), 2), ("b".to_owned(), 2)]);
    }

    #[test]
    fn markdown_outside_hidden_folders_is_read() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "b.md",
            "memory/a.md",
            ".hidden/x.md",
            "memory/note.txt",
            "HIPPOCAMPUS.md",
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let dir = WorkspaceDir::open(root.path()).unwrap();
        assert_eq!(markdown_files(&dir).unwrap(), ["b.md", "memory/a.md"]);
    }

    #[test]
    fn a_full_scan_finds_all_and_ranks_nothing() {
        let evidence = [EvidenceSpan {
            path: "a".into(),
            start_line: 1,
            end_line: 1,
        }];
        let judged = all_at_once(
            &[EvidenceSpan {
                path: "a".into(),
                start_line: 1,
                end_line: 9,
            }],
            &evidence,
            &[1, 5],
        );
        assert_eq!(
            (judged.recall[&1], judged.hit[&5], judged.reciprocal_rank),
            (1.0, 1.0, 0.0)
        );
    }
}
