//! Audit of a workspace's memory, with stored results.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use hippo_map::audit::{AuditTally, AuditedChunk, AuditedEntry, AuditedFile, audit as look_through};
use hippo_map::consolidation::{EntryRecord, RecordPlace};
use hippo_proto::{
    AuditCount, AuditExample, AuditFinding, AuditKind, AuditRequest, AuditResponse, AuditRun, AuditUnit,
    RpcError,
};
use hippo_text::chunk;
use hippo_text::source::SourceKind;
use hippo_types::entry::Pointer;

use crate::clock::{Clock, rfc3339};
use crate::errors::client_gone;
use crate::files;
use crate::registry::{state_folder, write_atomically};
use crate::tasks::Cancellation;
use crate::verify::ChunkSpan;
use crate::view::WorkspaceView;

/// Default number of examples per finding.
const EXAMPLES: u32 = 5;
/// Maximum number of stored audits per workspace.
const KEPT: usize = 200;
/// Maximum number of earlier audits in a response.
const SHOWN: usize = 10;
/// File with the stored audits, in the state folder of the workspace.
pub const FILE: &str = "audits.json";

/// Auditor of the daemon's workspaces.
pub struct Auditor {
    /// State folder of the daemon.
    state: PathBuf,
    clock: Arc<dyn Clock>,
    /// Held while results are stored; otherwise concurrent audits would overwrite each other's results.
    storing: Mutex<()>,
}

impl Auditor {
    /// Creates an auditor that stores its results below this state folder.
    pub fn new(state: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self {
            state,
            clock,
            storing: Mutex::default(),
        }
    }
}

/// Handles `audit`. The audit stops once `given_up` is set.
///
/// # Errors
/// Returns `internal` if the results could not be stored or the client disconnected.
pub fn audit(
    auditor: &Auditor,
    view: &WorkspaceView,
    request: &AuditRequest,
    given_up: &AtomicBool,
) -> Result<AuditResponse, RpcError> {
    let begun = Instant::now();
    let go_on = || Cancellation::by(given_up).check();
    let (files, unread) = read(view, go_on)?;
    let entries = entries(view, go_on)?;
    let examples = request.examples.unwrap_or(EXAMPLES) as usize;
    let report =
        look_through(&files, &entries, examples, &mut |_| go_on().is_ok()).ok_or_else(client_gone)?;
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
    ];
    let now = AuditRun {
        at: rfc3339(auditor.clock.now()),
        findings: findings.iter().map(count).collect(),
    };
    let file = state_folder(&auditor.state, &view.root).join(FILE);
    let _storing = auditor.storing.lock().unwrap_or_else(PoisonError::into_inner);
    let mut kept = StoredAudits::read(&file);
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

fn finding(kind: AuditKind, unit: AuditUnit, found: AuditTally) -> AuditFinding {
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

#[expect(clippy::cast_precision_loss, reason = "line counts are far below 2^52")]
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

/// Reads the watched files with their chunks, sorted by path, and counts unreadable files. Tree nodes are
/// skipped, because they are derived from the logs and would count as duplicates.
fn read(
    view: &WorkspaceView,
    go_on: impl Fn() -> Result<(), RpcError>,
) -> Result<(Vec<AuditedFile>, u64), RpcError> {
    let limit = view.config.sources.max_file_bytes;
    let (mut found, mut unread) = (Vec::new(), 0);
    for file in known(view) {
        go_on()?;
        match hippo_fs::read_source(&view.root, &file.path, limit) {
            Ok(bytes) => found.push(AuditedFile {
                text: text_of(bytes),
                ..file
            }),
            Err(_) => unread += 1,
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((found, unread))
}

/// Returns the bytes as text of the same length, so that the ranges of the chunks remain valid: each byte
/// that is not UTF-8 becomes `?`.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut text = String::with_capacity(error.as_bytes().len());
        for piece in error.as_bytes().utf8_chunks() {
            text.push_str(piece.valid());
            piece.invalid().iter().for_each(|_| text.push('?'));
        }
        text
    })
}

fn known(view: &WorkspaceView) -> Vec<AuditedFile> {
    let snapshot = view.snapshot();
    let documents = snapshot.corpus.documents();
    let logs = documents
        .filter(|(_, document)| !matches!(SourceKind::from_path(&document.path), SourceKind::Node(_)));
    logs.map(|(_, document)| {
        let spans = document.chunks().iter();
        let spans = spans.filter_map(|chunk| snapshot.spans.get(*chunk as usize).copied().flatten());
        AuditedFile {
            path: document.path.to_string(),
            date: document.date,
            text: String::new(),
            chunks: spans.map(chunk).collect(),
        }
    })
    .collect()
}

fn chunk(span: ChunkSpan) -> AuditedChunk {
    // The daemon never reads a file larger than `usize`.
    let at = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX);
    AuditedChunk {
        line: span.start_line,
        bytes: at(span.start_byte)..at(span.end_byte),
    }
}

fn entries(
    view: &WorkspaceView,
    go_on: impl Fn() -> Result<(), RpcError>,
) -> Result<Vec<AuditedEntry>, RpcError> {
    let limit = view.config.sources.max_file_bytes;
    let index = view.index();
    let live = index.records().iter();
    let live = live.filter(|record| !matches!(record.place, RecordPlace::Archive(_)));
    // Many entries may point to the same file, so each file is read only once.
    let mut titles: HashMap<String, Option<HashSet<String>>> = HashMap::new();
    let mut leads = |pointer: &Pointer| {
        let Some(section) = &pointer.section else {
            return files::leads_somewhere(&view.root, pointer, limit);
        };
        let known = titles.entry(pointer.path.clone()).or_insert_with(|| {
            let file = Pointer {
                section: None,
                ..pointer.clone()
            };
            let readable = files::leads_somewhere(&view.root, &file, limit);
            let bytes = hippo_fs::read_source(&view.root, &pointer.path, limit)
                .ok()
                .filter(|_| readable)?;
            let sections = chunk::chunk(&bytes).sections.into_iter();
            Some(sections.map(|section| section.title).collect())
        });
        match known {
            Some(titles) => titles.contains(section),
            None => files::leads_somewhere(&view.root, pointer, limit),
        }
    };
    let mut lost = |record: &EntryRecord| {
        let mut pointers = record.entry.pointers.iter();
        let lost = pointers.find(|pointer| !leads(pointer));
        // The title of a section is content of the memory, so the report omits it.
        lost.map(|pointer| match pointer.section {
            Some(_) => format!("a section of {}", pointer.path),
            None => pointer.path.clone(),
        })
    };
    live.map(|record| {
        go_on()?;
        Ok(AuditedEntry {
            id: record.entry.id.0.to_string(),
            lost: lost(record),
        })
    })
    .collect()
}

/// Stored audits, oldest first.
#[derive(Default, Serialize, Deserialize)]
struct StoredAudits {
    audits: Vec<AuditRun>,
}

impl StoredAudits {
    /// Reads the stored audits. An unreadable file is replaced: it contains only derived data.
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
                "could not store the results of the audit: {}: {error}",
                file.display()
            ))
            .hint("check the permissions and the disk of the state folder, or send \"record\": false")
        })
    }
}
