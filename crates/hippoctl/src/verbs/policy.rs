//! `context policy`: effect of the lifecycle policies on a transcript.
//!
//! No daemon is needed.

mod calls;
mod records;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hippo_context::capture::{CaptureSettings, Indexing};
use hippo_context::policy::{self, PolicyEvaluation, PolicyRecord, PolicyRule, evaluate};
use serde::Serialize;

use crate::connect::{DaemonSession, current_dir};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::ContextPolicyArgs;

/// The path of the rules in a workspace.
const POLICY_FILE: &str = ".hippocampus/policies.yaml";
/// Maximum size of a policy file in bytes.
const LARGEST: u64 = 1 << 20;
/// Maximum size of a transcript in bytes; it is limited because the whole transcript is read into memory.
const MOST: u64 = 1 << 30;

/// The effect of the rules on a transcript.
#[derive(Debug, PartialEq, Serialize)]
pub struct PolicyTestResult {
    /// The policy file of the workspace; null if there is none.
    pub policy: Option<String>,
    /// All rules, the built-in ones first.
    pub rules: Vec<RuleUse>,
    /// The records of the transcript, in its order.
    pub records: Vec<RecordUse>,
    /// The number of records that become entries.
    pub entries: usize,
    /// The number of records that stay in the context unchanged.
    pub passed: usize,
    /// The number of records that are dropped.
    pub dropped: usize,
}

/// A rule and the number of its matches.
#[derive(Debug, PartialEq, Serialize)]
pub struct RuleUse {
    /// The location of the rule.
    pub place: String,
    /// True if the rule applies in every workspace.
    pub built_in: bool,
    /// The number of matching records.
    pub matched: usize,
}

/// The effect of the rules on one record.
#[derive(Debug, PartialEq, Serialize)]
pub struct RecordUse {
    /// The position, from 0.
    pub index: usize,
    /// The type of the record.
    #[serde(rename = "type")]
    pub type_: &'static str,
    /// The type of the source.
    pub source: String,
    /// The size in tokens.
    pub tokens: u64,
    /// Outcome, reason and fields.
    #[serde(flatten)]
    pub evaluated: PolicyEvaluation,
}

/// Evaluates the rules on a transcript.
///
/// # Errors
/// Fails if the transcript or the rules are unreadable, or if the transcript is empty.
pub fn policy(session: &DaemonSession, args: &ContextPolicyArgs, out: &mut Output) -> Result<(), Failure> {
    let bytes = transcript(&args.file)?;
    let file = match &args.policy {
        Some(file) => Some((file.clone(), read_policy(file)?)),
        None => nearest(session.given_workspace()?)?,
    };
    let rules = match &file {
        Some((path, text)) => {
            policy::load_rules(text).map_err(|error| Failure::file("use the policies", path, error))?
        }
        None => policy::built_in_rules().to_vec(),
    };
    let file = file.map(|(path, _)| path);
    let settings = CaptureSettings {
        worth_tokens: args.worth_tokens,
        ..CaptureSettings::default()
    };
    let tested = test(file.as_deref(), &rules, &settings, |each| {
        records::each(&bytes, args.format, each);
    });
    if tested.records.is_empty() {
        let what = format!(
            "the transcript contains no content to store: {}",
            args.file.display()
        );
        return Err(Failure::new(Exit::Failed, what)
            .hint("for the supported formats: hippoctl context policy --help"));
    }
    if !out.json {
        for note in render::policy::notes(&tested) {
            out.note(&note);
        }
    }
    out.answer(&tested, |tested, style| {
        render::policy::tested(tested, args.all, style)
    })
}

/// Evaluates the rules on all records that `feed` yields.
fn test(
    file: Option<&Path>,
    rules: &[PolicyRule],
    settings: &CaptureSettings,
    feed: impl FnOnce(&mut dyn FnMut(Vec<PolicyRecord>)),
) -> PolicyTestResult {
    let mut tested = PolicyTestResult {
        policy: file.map(|file| file.display().to_string()),
        rules: rules
            .iter()
            .map(|rule| RuleUse {
                place: rule.location(),
                built_in: rule.built_in,
                matched: 0,
            })
            .collect(),
        records: Vec::new(),
        entries: 0,
        passed: 0,
        dropped: 0,
    };
    feed(&mut |records| {
        let evaluated = evaluate(rules, &records, settings);
        for (record, evaluated) in records.into_iter().zip(evaluated) {
            tested.take(record, evaluated);
        }
    });
    tested
}

impl PolicyTestResult {
    fn take(&mut self, record: PolicyRecord, evaluated: PolicyEvaluation) {
        for rule in &mut self.rules {
            rule.matched += usize::from(evaluated.matched.contains(&rule.place));
        }
        *match evaluated.outcome {
            Indexing::Entry => &mut self.entries,
            Indexing::Passed => &mut self.passed,
            Indexing::Dropped => &mut self.dropped,
        } += 1;
        let tokens = hippo_types::tokens::of(&record.content) as u64;
        self.records.push(RecordUse {
            index: self.records.len(),
            type_: record.kind.name(),
            source: record.source,
            tokens: record.tokens.unwrap_or(tokens),
            evaluated,
        });
    }
}

/// Reads a policy file that the user names.
#[expect(clippy::disallowed_methods, reason = "the user chose this file")]
fn read_policy(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::input("read the policies", path, &error))
}

/// Returns the path and text of the policy file in the given workspace or, without one, in the nearest folder at or
/// above the current folder.
fn nearest(workspace: Option<PathBuf>) -> Result<Option<(PathBuf, String)>, Failure> {
    let folders: Vec<PathBuf> = match workspace {
        Some(workspace) => vec![workspace],
        None => current_dir()?.ancestors().map(Path::to_path_buf).collect(),
    };
    for folder in folders {
        let path = folder.join(POLICY_FILE);
        let read = hippo_fs::read(&folder, POLICY_FILE, LARGEST);
        match read.and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other)) {
            Ok(text) => return Ok(Some((path, text))),
            Err(error) if hippo_fs::is_absence(&error) => {}
            Err(error) => {
                return Err(Failure::file("read the policies", &path, error)
                    .hint("replace it with a readable file, or choose another file with --policy"));
            }
        }
    }
    Ok(None)
}

#[expect(clippy::disallowed_methods, reason = "the user chose this file")]
fn transcript(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = |from: &mut dyn Read| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        from.take(MOST + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = if path == Path::new("-") {
        read(&mut io::stdin().lock())
            .map_err(|error| Failure::new(Exit::Failed, format!("could not read standard input: {error}")))?
    } else {
        File::open(path)
            .and_then(|mut file| read(&mut file))
            .map_err(|error| Failure::input("read the transcript", path, &error))?
    };
    if bytes.len() as u64 > MOST {
        let what = format!("the transcript is longer than {MOST} bytes: {}", path.display());
        return Err(Failure::new(Exit::Refused, what).hint("test the rules on a part of the transcript"));
    }
    Ok(bytes)
}
