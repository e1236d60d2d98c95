//! Size and usefulness of entries for large tool results.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use hippo_context::capture::{CaptureInput, CaptureSettings, capture};
use hippo_context::extract::{ContentKind, Extract, Hints, extract};
use hippo_context::policy::built_in_rules;
use hippo_text::text::start;
use hippo_types::tokens;

use super::table::{Figure, percentile};
use super::transcripts::{TranscriptLine, files, lines, read};

/// Number of tokens above which a tool result is large.
const LARGE: usize = 1_000;
/// Token budgets of an entry for which usefulness is reported, in addition to the default budget.
const BUDGETS: [usize; 3] = [100, 200, 500];

/// A large tool result.
struct LargeResult {
    from: String,
    tool: String,
    call: String,
    content: String,
    /// Values that later messages use again, and that earlier messages do not contain.
    asked: BTreeSet<String>,
}

impl LargeResult {
    fn extract(&self, tokens: Option<usize>) -> Extract {
        let hints = Hints {
            source_type: &self.tool,
            source_ref: &self.call,
        };
        extract(self.content.as_bytes(), &hints, tokens)
    }
}

/// Measures compression ratios, the largest entry, usefulness, and speed. The baseline for usefulness is the start of
/// the content.
///
/// # Errors
/// Fails if the evaluation data is missing.
pub fn run(eval: &Path) -> Result<Vec<Figure>> {
    let results = results(eval)?;
    if results.is_empty() {
        bail!("no large tool results below {}", eval.display());
    }
    let began = Instant::now();
    let entries: Vec<Extract> = results.iter().map(|result| result.extract(None)).collect();
    let took = began.elapsed();
    if std::env::var_os("HIPPOD_BENCH_SHOW").is_some() {
        show(&results, &entries);
    }
    let ratios: Vec<f64> = entries
        .iter()
        .map(|entry| entry.content_tokens as f64 / entry.entry_tokens.max(1) as f64)
        .collect();
    let median = percentile(&ratios, 0.5);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let bytes: usize = results.iter().map(|result| result.content.len()).sum();
    let large: usize = entries.iter().map(|entry| entry.content_tokens).sum();
    let small: usize = entries.iter().map(|entry| entry.entry_tokens).sum();
    let largest = entries.iter().map(|entry| entry.entry_tokens).max().unwrap_or(0);
    let figure = |what: String, measured: String| Figure::new("extract", what, measured);
    let mut figures = vec![
        figure(
            format!(
                "tool result tokens ÷ entry tokens (median of {} results above {LARGE} tokens)",
                results.len()
            ),
            format!("{median:.1} ×"),
        )
        .reach("≥ 15 ×", median >= 15.0),
        figure("the same, mean".into(), format!("{mean:.1} ×")),
        figure(
            "all tool result tokens ÷ all entry tokens".into(),
            format!("{:.1} ×", large as f64 / small as f64),
        ),
        figure("largest entry".into(), format!("{largest} tokens")).reach("≤ 500", largest <= 500),
        figure("by kind".into(), by_kind(&entries, &ratios)),
    ];
    figures.push(rendered(&results));
    for budget in [None].into_iter().chain(BUDGETS.map(Some)) {
        figures.push(usefulness(&results, budget));
    }
    figures.push(figure(
        "extraction of all these results: throughput".into(),
        format!("{:.0} MB/s", bytes as f64 / 1e6 / took.as_secs_f64()),
    ));
    Ok(figures)
}

/// Measures entries as they appear in a prompt, with id, source, reference and turn.
fn rendered(results: &[LargeResult]) -> Figure {
    let ratios: Vec<f64> = results
        .iter()
        .map(|result| {
            let put = CaptureInput {
                id: "ctx-0123456789",
                source_type: &result.tool,
                source_ref: &result.call,
                turn: 10,
                content: &result.content,
                ..CaptureInput::default()
            };
            let captured = capture(&put, built_in_rules(), &CaptureSettings::default());
            captured.tokens as f64 / captured.entry_tokens.max(1) as f64
        })
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    Figure::new(
        "extract",
        "tool result tokens ÷ tokens of the rendered entry, with id, source, reference and turn: median, \
         mean"
            .to_owned(),
        format!("{:.1} ×, {mean:.1} ×", percentile(&ratios, 0.5)),
    )
}

/// Measures the share of requested values that the entries contain. The baseline is an equal number of tokens from the
/// start of the content.
fn usefulness(results: &[LargeResult], budget: Option<usize>) -> Figure {
    let (mut asked, mut entry, mut other_entry) = (0, 0, 0);
    let (mut shares, mut start_shares) = (Vec::new(), Vec::new());
    for result in results.iter().filter(|result| !result.asked.is_empty()) {
        let extract = result.extract(budget);
        // If there is a budget, the baseline gets the whole budget.
        let bytes = tokens::bytes(budget.unwrap_or(extract.entry_tokens));
        let first = start(&result.content, bytes);
        let (own, other) = (
            held(&result.asked, &extract.rendered()),
            held(&result.asked, first),
        );
        asked += result.asked.len();
        entry += own;
        other_entry += other;
        shares.push(own as f64 / result.asked.len() as f64);
        start_shares.push(other as f64 / result.asked.len() as f64);
    }
    let mean = |shares: &[f64]| 100.0 * shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let percent = |count: usize| 100.0 * count as f64 / asked.max(1) as f64;
    let size = budget.map_or("default size".to_owned(), |budget| format!("{budget} tokens"));
    let (own, other) = (mean(&shares), mean(&start_shares));
    Figure::new(
        "extract",
        format!(
            "share of values needed again that the entry contains, {size}: mean of {} results (all {asked} \
             values); for comparison, the start of the content of the same size",
            shares.len()
        ),
        format!(
            "{own:.1} % ({:.1} %); {other:.1} % ({:.1} %)",
            percent(entry),
            percent(other_entry)
        ),
    )
    .reach("> start", own > other && entry > other_entry)
}

/// Counts the values that a text contains as whole words.
fn held(asked: &BTreeSet<String>, text: &str) -> usize {
    asked.iter().filter(|value| holds(text, value)).count()
}

/// Returns `true` if a text contains a value as a whole word.
pub(super) fn holds(text: &str, value: &str) -> bool {
    let inside = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    text.match_indices(value).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        !inside(before) && !inside(text.as_bytes().get(at + value.len()))
    })
}

fn by_kind(entries: &[Extract], ratios: &[f64]) -> String {
    let mut kinds: BTreeMap<ContentKind, Vec<f64>> = BTreeMap::new();
    for (entry, ratio) in entries.iter().zip(ratios) {
        kinds.entry(entry.kind).or_default().push(*ratio);
    }
    let told: Vec<String> = kinds
        .iter()
        .map(|(kind, ratios)| {
            format!(
                "{} {} ({:.0} ×)",
                ratios.len(),
                kind.name(),
                percentile(ratios, 0.5)
            )
        })
        .collect();
    told.join(", ")
}

fn show(results: &[LargeResult], entries: &[Extract]) {
    for (result, entry) in results.iter().zip(entries) {
        crate::terminal::say(format_args!(
            "--- {} {} {} → {} {:?} asked {:?}\n{}",
            result.from,
            entry.kind.name(),
            entry.content_tokens,
            entry.entry_tokens,
            start(&result.call, 100),
            result.asked.iter().take(30).collect::<Vec<_>>(),
            entry.rendered()
        ));
    }
}

/// Returns the concatenated tool results and logs of each program, by program name.
///
/// # Errors
/// Fails if the evaluation data is missing.
pub fn by_program(eval: &Path) -> Result<BTreeMap<String, String>> {
    let mut programs: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |path: &Path, text: &str| {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let all = programs.entry(folder.to_string_lossy().into_owned()).or_default();
        all.push_str(text);
        all.push('\n');
    };
    for path in files(&eval.join("transcripts/norm"))? {
        let results = lines(&path)?;
        let results = results.iter().filter(|message| message.kind == "tool_result");
        results.for_each(|message| add(&path, &message.text));
    }
    for path in files(&eval.join("tool_outputs"))? {
        add(&path, &read(&path)?);
    }
    Ok(programs)
}

/// Returns the large tool results of all transcripts, and the large logs.
fn results(eval: &Path) -> Result<Vec<LargeResult>> {
    let mut results = Vec::new();
    for path in files(&eval.join("transcripts/norm"))? {
        from_transcript(&path, &lines(&path)?, &mut results);
    }
    for path in files(&eval.join("tool_outputs"))? {
        let content = read(&path)?;
        if tokens::of(&content) > LARGE {
            results.push(LargeResult {
                from: path.display().to_string(),
                tool: "exec".into(),
                call: String::new(),
                content,
                asked: BTreeSet::new(),
            });
        }
    }
    Ok(results)
}

fn from_transcript(path: &Path, messages: &[TranscriptLine], results: &mut Vec<LargeResult>) {
    let mut seen = BTreeSet::new();
    let mut calls: BTreeMap<&str, &TranscriptLine> = BTreeMap::new();
    let mut last = None;
    let is_result = |message: &TranscriptLine| message.kind == "tool_result";
    for (at, message) in messages.iter().enumerate() {
        let text = message.text.as_str();
        if message.kind == "tool_call" {
            last = Some(message);
            if let Some(id) = &message.call_id {
                calls.insert(id, message);
            }
        }
        let values = values(text);
        if is_result(message) && tokens::of(text) > LARGE {
            let later = messages
                .get(at + 1..)
                .unwrap_or_default()
                .iter()
                .filter(|later| !is_result(later));
            let wanted: BTreeSet<String> = later.flat_map(|later| self::values(&later.text)).collect();
            let own = message
                .call_id
                .as_deref()
                .and_then(|id| calls.get(id).copied())
                .or(last);
            results.push(LargeResult {
                from: format!("{} {at}", path.display()),
                tool: message
                    .name
                    .clone()
                    .or_else(|| own?.name.clone())
                    .unwrap_or_default(),
                call: own.map(|call| call.text.clone()).unwrap_or_default(),
                content: text.to_owned(),
                asked: values
                    .difference(&seen)
                    .filter(|value| wanted.contains(*value))
                    .cloned()
                    .collect(),
            });
        }
        seen.extend(values);
    }
}

/// Returns the values in a text that an agent can request by name: paths, addresses, names with special characters or
/// inner capitals, and numbers.
///
/// This code is independent of the extraction that it evaluates.
fn values(text: &str) -> BTreeSet<String> {
    let part = |c: char| c.is_ascii_alphanumeric() || "_./:@#%+~$-".contains(c);
    text.split(|c: char| !part(c))
        .map(|word| word.trim_end_matches(['.', ':', '-']).trim_start_matches('-'))
        .filter(|word| (3..200).contains(&word.len()) && is_value(word))
        .map(str::to_owned)
        .collect()
}

fn is_value(word: &str) -> bool {
    let bytes = word.as_bytes();
    let letter = bytes.iter().any(u8::is_ascii_alphabetic);
    let digit = bytes.iter().any(u8::is_ascii_digit);
    let hump = bytes
        .windows(2)
        .any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    let file = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && [
                "py", "rs", "ts", "js", "md", "c", "h", "json", "toml", "go", "java", "txt",
            ]
            .contains(&ending)
    });
    word.contains("://")
        || (word.contains('/') && letter)
        || file
        || digit
        || (letter && word.contains('_'))
        || hump
}
