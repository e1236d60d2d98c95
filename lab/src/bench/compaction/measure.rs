//! Share of later needs that a session summary contains.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hippo_session::compaction::{
    CompactionOptions, CompactionPass, Compactor, Message, Role, ShortContentId,
};
use hippo_types::tokens;
use serde_json::Value;

use super::{needs, reference};
use crate::bench::transcripts::TranscriptLine;

/// Positions at which each transcript is cut, as shares of its messages.
const CUTS: [f64; 3] = [0.4, 0.6, 0.8];
/// Minimum number of messages before a cut.
const LEAST: usize = 8;

/// Sums of shares over a group of cuts.
#[derive(Debug, Default, Clone, Copy)]
pub struct CompactionSums {
    pub cuts: f64,
    pub ours: f64,
    pub reference: f64,
    pub truncated: f64,
    pub reachable: f64,
    /// Number of tokens before the cut. The next two fields are the tokens of hippod's summary and of the reference
    /// summary.
    pub before: f64,
    pub tokens: f64,
    pub budget: f64,
}

impl CompactionSums {
    /// Adds the sums of another group.
    pub fn add(&mut self, other: &Self) {
        let Self {
            cuts,
            ours,
            reference,
            truncated,
            reachable,
            before,
            tokens,
            budget,
        } = other;
        self.cuts += cuts;
        self.ours += ours;
        self.reference += reference;
        self.truncated += truncated;
        self.reachable += reachable;
        self.before += before;
        self.tokens += tokens;
        self.budget += budget;
    }
}

/// Returns the sums over all cuts of the transcripts below a folder, by program name.
///
/// # Errors
/// Fails if a file cannot be read, or if a summary violates an invariant.
pub fn all(folder: &Path) -> Result<BTreeMap<String, CompactionSums>> {
    let mut sums: BTreeMap<String, CompactionSums> = BTreeMap::new();
    for group in entries(folder)? {
        let name = group
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for file in entries(&group)? {
            let bytes = fs::read(&file).with_context(|| format!("could not read {}", file.display()))?;
            let found = transcript(&bytes).with_context(|| format!("in {}", file.display()))?;
            sums.entry(name.clone()).or_default().add(&found);
        }
    }
    Ok(sums)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    let mut paths = read.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn transcript(bytes: &[u8]) -> Result<CompactionSums> {
    let mut sums = CompactionSums::default();
    let mut raw = Vec::new();
    let mut lines = Vec::new();
    for bytes in bytes.split_inclusive(|byte| *byte == b'\n') {
        let mut line: TranscriptLine = serde_json::from_slice(bytes)?;
        if line.kind == "tool_call" {
            // Only the argument values are kept, without JSON syntax.
            line.text = needs::flat(&serde_json::from_str(&line.text).unwrap_or(Value::String(line.text)));
        }
        // No program keeps the model's thoughts in its context.
        if line.kind != "thinking" {
            raw.push(bytes);
            lines.push(line);
        }
    }
    for cut in CUTS {
        let at = (lines.len() as f64 * cut) as usize;
        if at >= LEAST {
            sums.add(&one(&raw[..at].concat(), &lines[..at], &lines[at..])?);
        }
    }
    Ok(sums)
}

fn one(bytes: &[u8], before: &[TranscriptLine], after: &[TranscriptLine]) -> Result<CompactionSums> {
    let texts: Vec<&str> = before.iter().map(|line| line.text.as_str()).collect();
    let all_before = texts.join("\n");
    let known: BTreeSet<&str> = needs::words(&all_before);
    let known_errors = needs::errors(&all_before);
    let all_after = after
        .iter()
        .map(|line| line.text.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    let mut needed: Vec<&str> = needs::words(&all_after)
        .into_iter()
        .filter(|word| known.contains(word))
        .collect();
    needed.extend(
        needs::errors(&all_after)
            .into_iter()
            .filter(|line| known_errors.contains(line)),
    );
    if needed.is_empty() {
        return Ok(CompactionSums::default());
    }
    let reference = reference::summary(&before.iter().map(message).collect::<Vec<_>>());
    let budget = tokens::of(&reference);
    let mut compactor = Compactor::new(CompactionOptions {
        budget: Some(budget),
        // The contents count as stored. Otherwise, the summary would not contain the ids of omitted content.
        stored: true,
        ..CompactionOptions::default()
    });
    compactor.feed(bytes, |_, _| {});
    let CompactionPass::Done(compacted) = compactor.finish(|_, _| {}) else {
        bail!("a list of messages has no paths")
    };
    let summary = &compacted.summary;
    if tokens::of(summary) > budget {
        bail!("{} tokens within a budget of {budget}", tokens::of(summary));
    }
    let mut contents: Vec<(ShortContentId, String)> = Vec::new();
    let mut again = Compactor::new(CompactionOptions::default());
    let mut keep =
        |id: ShortContentId, message: &Message<'_>| contents.push((id, message.content().into_owned()));
    again.feed(bytes, &mut keep);
    let _ = again.finish(&mut keep);
    let rest = &compacted.dropped_list;
    let led_on = compacted
        .stats
        .rest
        .as_ref()
        .is_some_and(|id| summary.contains(id.as_str()));
    let mut reached = String::new();
    for (id, content) in &contents {
        let id = id.to_string();
        if summary.contains(&id) || led_on && rest.contains(&id) {
            reached.push_str(content);
            reached.push('\n');
        }
    }
    let missing: Vec<&&str> = needed
        .iter()
        .filter(|word| !reached.contains(**word) && !summary.contains(**word))
        .collect();
    if std::env::var_os("HIPPOD_BENCH_MISSING").is_some() && !missing.is_empty() {
        crate::terminal::say(format_args!("not reached: {missing:?}"));
    }
    let share =
        |text: &str| needed.iter().filter(|word| text.contains(**word)).count() as f64 / needed.len() as f64;
    let mut from = all_before.len().saturating_sub(budget * 4);
    while !all_before.is_char_boundary(from) {
        from += 1;
    }
    Ok(CompactionSums {
        cuts: 1.0,
        ours: share(summary),
        reference: share(&reference),
        truncated: share(&all_before[from..]),
        reachable: 1.0 - missing.len() as f64 / needed.len() as f64,
        before: tokens::of(&all_before) as f64,
        tokens: tokens::of(summary) as f64,
        budget: budget as f64,
    })
}

fn message(line: &TranscriptLine) -> Message<'_> {
    let role = match line.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::Other,
    };
    Message::new(role, line.text.as_str()).with_name(line.name.as_deref().unwrap_or_default())
}
