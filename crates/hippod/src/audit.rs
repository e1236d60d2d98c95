//! `audit`: what is looked through, and how are its numbers kept for the next one to be shown beside?

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use hippo_core::audit::{Entry, File, Finding, audit as look_through};
use hippo_core::consolidation::{Place, Record};
use hippo_core::source::SourceKind;
use hippo_proto::{
    AuditCount, AuditExample, AuditFinding, AuditKind, AuditRequest, AuditResponse, AuditRun, AuditUnit,
    RpcError,
};

use crate::clock::rfc3339;
use crate::files;
use crate::recall::gone;
use crate::registry::{state_folder, write_atomically};
use crate::shared::Shared;
use crate::view::WorkspaceView;

/// Files that harnesses put before an agent whenever it starts.
const BOOT: [&str; 5] = ["AGENTS.md", "CLAUDE.md", "SOUL.md", "TOOLS.md", "USER.md"];
/// Examples of each finding where the request does not say.
const EXAMPLES: u32 = 5;
/// Audits that are kept of a workspace.
const KEPT: usize = 200;
/// Earlier audits that are answered.
const SHOWN: usize = 10;
/// What is kept of them, in the state of the workspace.
pub const FILE: &str = "audits.json";

/// Answers `audit`, on a thread of its own.
///
/// # Errors
/// `no-workspace`; `internal` where the numbers could not be kept.
pub async fn audit(shared: &Arc<Shared>, request: AuditRequest) -> Result<AuditResponse, RpcError> {
    let view = shared.views.get(&request.workspace).await?;
    let shared = Arc::clone(shared);
    let span = tracing::Span::current();
    let work = move || span.in_scope(|| examine(&shared, &view, &request));
    tokio::task::spawn_blocking(work).await.map_err(gone)?
}

fn examine(shared: &Shared, view: &WorkspaceView, request: &AuditRequest) -> Result<AuditResponse, RpcError> {
    let begun = Instant::now();
    let (files, unread) = read(view);
    let entries = entries(view);
    let boot = boot(view);
    let examples = request.examples.unwrap_or(EXAMPLES) as usize;
    let report = look_through(&files, &entries, &boot, examples);
    let findings = vec![
        finding(AuditKind::Duplicate, AuditUnit::Chunks, report.duplicate),
        finding(AuditKind::Stale, AuditUnit::Entries, report.stale),
        finding(AuditKind::Contradicted, AuditUnit::Lines, report.contradicted),
        finding(AuditKind::SecretBearing, AuditUnit::Lines, report.secret_bearing),
        finding(
            AuditKind::InstructionLike,
            AuditUnit::Lines,
            report.instruction_like,
        ),
        finding(AuditKind::BootRestating, AuditUnit::Lines, report.boot_restating),
    ];
    let now = AuditRun {
        at: rfc3339(shared.clock.now()),
        findings: findings.iter().map(count).collect(),
    };
    let file = state_folder(&shared.paths.state, &view.root).join(FILE);
    // Two audits at once would each forget the other.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut kept = Kept::read(&file);
    let before = kept.audits.iter().rev().take(SHOWN).cloned().collect();
    let at = now.at.clone();
    if request.record {
        kept.audits.push(now);
        kept.write(&file)?;
    }
    Ok(AuditResponse {
        at,
        files: files.len() as u64,
        unread,
        findings,
        before,
        took_ms: begun.elapsed().as_secs_f64() * 1000.0,
    })
}

fn finding(kind: AuditKind, unit: AuditUnit, found: Finding) -> AuditFinding {
    let (count, of) = (found.count as u64, found.of as u64);
    let examples = found.examples.into_iter().map(|example| AuditExample {
        path: example.place,
        line: example.line,
        why: example.why,
    });
    AuditFinding {
        kind,
        unit,
        count,
        of,
        share: share(count, of),
        examples: examples.collect(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of lines")]
fn share(count: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { count as f64 / of as f64 }
}

fn count(finding: &AuditFinding) -> AuditCount {
    AuditCount {
        kind: finding.kind,
        count: finding.count,
        of: finding.of,
        share: finding.share,
    }
}

/// The watched files as they are on disk, by path, with their chunks; and how many could not be read. Nodes of the tree are
/// made from the logs, and would be found to say the same.
fn read(view: &WorkspaceView) -> (Vec<File>, u64) {
    let limit = view.config.sources.max_file_bytes;
    let (mut found, mut unread) = (Vec::new(), 0);
    for file in known(view) {
        match hippo_fs::read_source(&view.root, &file.path, limit) {
            Ok(bytes) => found.push(File {
                text: String::from_utf8_lossy(&bytes).into_owned(),
                ..file
            }),
            Err(_) => unread += 1,
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    (found, unread)
}

fn known(view: &WorkspaceView) -> Vec<File> {
    let picture = view.picture();
    let documents = picture.corpus.documents();
    let logs =
        documents.filter(|(_, document)| !matches!(SourceKind::of(&document.path), SourceKind::Node(_)));
    logs.map(|(_, document)| {
        let spans = document.chunks().iter();
        let spans = spans.filter_map(|chunk| picture.spans.get(*chunk as usize).copied().flatten());
        File {
            path: document.path.to_string(),
            date: document.date,
            text: String::new(),
            chunks: spans.map(|span| (span.start_line, span.end_line)).collect(),
        }
    })
    .collect()
}

fn entries(view: &WorkspaceView) -> Vec<Entry> {
    let limit = view.config.sources.max_file_bytes;
    let index = view.index();
    let live = index.records().iter();
    let live = live.filter(|record| !matches!(record.place, Place::Archive(_)));
    let lost = |record: &Record| {
        let mut pointers = record.entry.pointers.iter();
        let lost = pointers.find(|pointer| !files::leads_somewhere(&view.root, pointer, limit));
        // The title of a section is text of the memory.
        lost.map(|pointer| match pointer.section {
            Some(_) => format!("a section of {}", pointer.path),
            None => pointer.path.clone(),
        })
    };
    live.map(|record| Entry {
        id: record.entry.id.0.to_string(),
        lost: lost(record),
    })
    .collect()
}

fn boot(view: &WorkspaceView) -> Vec<(String, String)> {
    let limit = view.config.sources.max_file_bytes;
    let text = |name: &str| {
        let bytes = hippo_fs::read_source(&view.root, name, limit).ok()?;
        Some((name.to_owned(), String::from_utf8_lossy(&bytes).into_owned()))
    };
    BOOT.into_iter().filter_map(text).collect()
}

/// Earlier audits, the oldest first.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    audits: Vec<AuditRun>,
}

impl Kept {
    /// A file that cannot be read is begun anew: it says nothing that the memory does not say.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    fn read(file: &Path) -> Self {
        let bytes = std::fs::read(file).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn write(&mut self, file: &Path) -> Result<(), RpcError> {
        let more = self.audits.len().saturating_sub(KEPT);
        self.audits.drain(..more);
        let written = serde_json::to_vec(self)
            .map_err(std::io::Error::other)
            .and_then(|bytes| write_atomically(file, &bytes));
        written.map_err(|error| {
            RpcError::internal(format!(
                "could not keep the numbers of the audit: {}: {error}",
                file.display()
            ))
            .hint("look after the rights and the disk of the state folder, or ask with \"record\": false")
        })
    }
}
