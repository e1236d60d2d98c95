//! Extraction of results and errors from build and test logs.

mod outcome;

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher as _, Hash};

use serde_json::Value;

use super::draft::Draft;
use super::lines::NumberedText;
use super::trace::{self, StackFrame};
use super::values::Values;
use super::{ContentKind, counted};
use hippo_text::literal::LiteralKind;
use hippo_text::text::clip;
pub(super) use outcome::{LogLineInfo, outcome};

/// Maximum number of failed tests, of errors and of locations that are kept. Further ones are only counted.
const KEPT: usize = 400;
/// Maximum number of failed tests and of errors that are checked for duplicates. Further ones are counted each time
/// they occur.
const MET: usize = 50_000;

#[derive(Default)]
struct LogSummary<'t> {
    lines: usize,
    /// Lines with the numbers of passed and failed tests.
    totals: Vec<String>,
    failed: DistinctItems<&'t str>,
    errors: DistinctItems<String>,
    places: Vec<String>,
    frames: Vec<StackFrame>,
    warnings: usize,
    passed: usize,
    exit: Option<&'t str>,
    took: Option<String>,
    levels: BTreeMap<&'static str, usize>,
    first: &'t str,
    last: &'t str,
}

pub(super) fn draft(text: &NumberedText<'_>) -> Option<Draft> {
    let mut run = LogSummary::default();
    text.lines().for_each(|line| run.take(line.text));
    Some(run.told(text))
}

/// Distinct items. Only the first ones are kept, but all are counted.
#[derive(Debug, Default)]
struct DistinctItems<T> {
    kept: Vec<T>,
    /// Hashes of the first [`MET`] items.
    met: HashSet<u64>,
    count: usize,
}

impl<T: Hash> DistinctItems<T> {
    fn take(&mut self, value: T) {
        let hash = self.met.hasher().hash_one(&value);
        if self.met.contains(&hash) {
            return;
        }
        self.count += 1;
        if self.met.len() < MET {
            self.met.insert(hash);
        }
        if self.kept.len() < KEPT {
            self.kept.push(value);
        }
    }
}

impl<'t> LogSummary<'t> {
    fn take(&mut self, line: &'t str) {
        self.lines += 1;
        if !line.trim().is_empty() {
            if self.first.is_empty() {
                self.first = line.trim();
            }
            self.last = line.trim();
        }
        match outcome(line) {
            Some(LogLineInfo::Total(text)) => self.sum(text),
            Some(LogLineInfo::Failed(name)) => self.failed.take(name),
            // A test that runs other test suites may print their failure lists as well. The last list is that of the
            // whole run.
            Some(LogLineInfo::Summary) => self.failed = DistinctItems::default(),
            Some(LogLineInfo::Passed) => self.passed += 1,
            Some(LogLineInfo::Error(text)) => self.errors.take(clip(text, 200)),
            Some(LogLineInfo::Place(place)) if self.places.len() < KEPT && !self.places.contains(&place) => {
                self.places.push(place);
            }
            Some(LogLineInfo::Warning) => self.warnings += 1,
            Some(LogLineInfo::Exit(code)) => self.exit = Some(code),
            Some(LogLineInfo::Took(took)) => self.took = Some(took),
            Some(LogLineInfo::Level(level)) => *self.levels.entry(level).or_default() += 1,
            _ => {}
        }
        if let Some(frame) = trace::frame(line).filter(|_| self.frames.len() < KEPT) {
            self.frames.push(frame);
        }
    }

    /// Stores the total of passed and failed tests. If several packages print totals, keeps the last one with failures,
    /// or else the last one.
    fn sum(&mut self, text: String) {
        let failed = |text: &str| {
            ["fail", "FAIL", "error"].iter().any(|word| text.contains(word)) && !text.contains(" 0 failed")
        };
        if text.contains(" 0 passed; 0 failed") {
            return;
        }
        match self.totals.last_mut() {
            // unittest prints its total on two lines.
            Some(last)
                if last.starts_with("Ran ") && (text.starts_with("FAILED") || text.starts_with("OK")) =>
            {
                *last = format!("{text} {}", last.replacen('R', "r", 1));
            }
            Some(last) if failed(last) && !failed(&text) => {}
            _ => self.totals = vec![text],
        }
    }

    fn told(self, text: &NumberedText<'_>) -> Draft {
        let mut said = self.totals.last().cloned().unwrap_or_default();
        if said.is_empty() && (self.passed > 0 || self.failed.count > 0) {
            said = format!("{} failed, {} passed", self.failed.count, self.passed);
        }
        let first_error = self.errors.kept.first().cloned();
        if said.is_empty() && self.errors.count > 0 {
            said = counted(self.errors.count, "error");
        }
        if said.is_empty() && !self.levels.is_empty() {
            let levels = self
                .levels
                .iter()
                .map(|(level, count)| format!("{count} {level}"));
            let levels: Vec<String> = levels.collect();
            said = format!("{}: {}", counted(self.lines, "line"), levels.join(", "));
        }
        if said.is_empty() {
            said = format!("{}: {}", counted(self.lines, "line"), clip(self.last, 160));
        } else if let Some(took) = self.took.as_ref().filter(|_| !said.contains(" in ")) {
            said.push_str(&format!(" in {took}"));
        }
        let mut draft = Draft::new(ContentKind::Log, said);
        let has_error = first_error.is_some();
        if let Some(error) = first_error {
            draft.one("error", clip(&error, 140));
        }
        // If all failed tests are in the same file, list them without the file.
        let failed = self.failed.kept;
        let file_of = |name: &&'t str| name.split_once("::").map(|(file, _)| file);
        let file = failed.first().and_then(file_of).filter(|file| file.contains('.'));
        let file = file.filter(|file| failed.iter().all(|name| file_of(name) == Some(*file)));
        let names = failed.iter().map(|name| match file {
            Some(file) => name.get(file.len() + 2..).unwrap_or(name),
            None => name,
        });
        draft.list("failed", names.map(str::to_owned), 1);
        let mut at: Vec<String> = self.places;
        // A Python trace ends with the failing frame.
        at.extend(self.frames.iter().rev().map(|frame| frame.place.clone()));
        let (foreign, own): (Vec<_>, Vec<_>) = at.into_iter().partition(|place| trace::is_foreign(place));
        let file = file.map(str::to_owned);
        draft.list("at", own.into_iter().chain(file).chain(foreign), 1);
        draft.list("errors", self.errors.kept.into_iter().skip(1), 1);
        if self.warnings > 0 {
            draft.one("warnings", self.warnings);
        }
        if let Some(code) = self.exit {
            let code: Value = serde_json::from_str(code).unwrap_or_else(|_| code.into());
            draft.one("exit", code);
        }
        if !has_error && failed.is_empty() {
            draft.say(clip(self.last, 160));
            // Search for values only if the log has no failures, because this search would take most of the time.
            let mut values = Values::default();
            text.lines().for_each(|line| values.take(line.text));
            for (key, sort) in [
                ("paths", LiteralKind::Path),
                ("ids", LiteralKind::Id),
                ("numbers", LiteralKind::Number),
            ] {
                let found = values.of(&[sort]).into_iter();
                draft.list(key, found.map(|found| found.text.to_owned()), 2);
            }
            draft.say(clip(self.first, 160));
        }
        draft
    }
}
