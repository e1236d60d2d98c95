//! Audit of a workspace's memory.

use std::time::Instant;

use hippo_map::audit::{AuditTally, AuditedChunk, AuditedEntry, AuditedFile, audit as look_through};
use hippo_map::consolidation::{EntryRecord, RecordPlace};
use hippo_proto::{AuditExample, AuditFinding, AuditKind, AuditRequest, AuditResponse, RpcError, Viewer};
use hippo_text::{chunk::Speaker, source::SourceKind};

use crate::clock::{Clock, rfc3339};
use crate::errors::client_gone;
use crate::files;
use crate::tasks::Cancellation;
use crate::verify::ChunkSpan;
use crate::view::WorkspaceView;

/// Default number of examples per finding.
const EXAMPLES: u32 = 5;
/// Handles `audit`.
///
/// # Errors
/// Returns `internal` if the client disconnects; the audit then stops.
pub fn audit(
    clock: &dyn Clock,
    view: &WorkspaceView,
    viewer: &Viewer,
    request: &AuditRequest,
    cancellation: Cancellation<'_>,
) -> Result<AuditResponse, RpcError> {
    let begun = Instant::now();
    let go_on = || cancellation.check();
    let (files, unread) = read(view, viewer, go_on)?;
    let entries = entries(view, go_on)?;
    let examples = request.examples.unwrap_or(EXAMPLES) as usize;
    let report =
        look_through(&files, &entries, examples, &mut |_| go_on().is_ok()).ok_or_else(client_gone)?;
    let findings = vec![
        finding(AuditKind::Duplicate, report.duplicate),
        finding(AuditKind::Stale, report.stale),
        finding(AuditKind::Contradicted, report.contradicted),
        finding(AuditKind::SecretBearing, report.secret_bearing),
        finding(AuditKind::InstructionLike, report.instruction_like),
    ];
    Ok(AuditResponse {
        at: rfc3339(clock.now()),
        files: files.len() as u64,
        unread,
        findings,
        took_ms: begun.elapsed().as_secs_f64() * 1000.0,
    })
}

fn finding(kind: AuditKind, found: AuditTally) -> AuditFinding {
    let (count, of) = (found.count as u64, found.of as u64);
    let examples = found.examples.into_iter().map(|example| AuditExample {
        path: example.place,
        line: example.line,
        why: example.why,
        quotes: example.quotes,
    });
    AuditFinding {
        kind,
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

/// Reads the files that the reader may see, with their chunks, sorted by path, and counts unreadable files. Tree nodes are
/// skipped, because they are derived from the logs and would count as duplicates.
fn read(
    view: &WorkspaceView,
    viewer: &Viewer,
    go_on: impl Fn() -> Result<(), RpcError>,
) -> Result<(Vec<AuditedFile>, u64), RpcError> {
    let limit = view.config.sources.max_file_bytes;
    let (mut found, mut unread) = (Vec::new(), 0);
    for file in known(view, viewer) {
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

fn known(view: &WorkspaceView, viewer: &Viewer) -> Vec<AuditedFile> {
    let snapshot = view.snapshot();
    let documents = snapshot.documents(viewer);
    let logs = documents.filter(|(_, document)| !SourceKind::from_path(&document.path).is_derived());
    logs.map(|(_, document)| {
        let spans = document.chunks().iter();
        let spans = spans.filter_map(|chunk| {
            let span = snapshot.spans.get(*chunk as usize).copied().flatten()?;
            Some(audited_chunk(span, snapshot.corpus.place(*chunk)?.speaker))
        });
        AuditedFile {
            path: document.path.to_string(),
            date: document.date,
            text: String::new(),
            chunks: spans.collect(),
        }
    })
    .collect()
}

fn audited_chunk(span: ChunkSpan, speaker: Speaker) -> AuditedChunk {
    // Offsets fit into `usize`, because the file is in memory.
    let at = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX);
    AuditedChunk {
        line: span.start_line,
        bytes: at(span.start_byte)..at(span.end_byte),
        speaker,
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
    let lost = |record: &EntryRecord| {
        let mut pointers = record.entry.pointers.iter();
        let lost = pointers.find(|pointer| !files::leads_somewhere(&view.root, pointer, limit));
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
