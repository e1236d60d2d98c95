//! Fuzz targets that check invariants of all readers and extractors.
//!
//! Each target accepts any bytes, and panics if an invariant is violated. The tests of this crate run seeds and
//! mutations for a few seconds. `fuzz/run` contains the same targets for libFuzzer, which needs a nightly toolchain
//! and `cargo-fuzz`:
//!
//! ```text
//! cargo +nightly fuzz run --fuzz-dir fuzz/run transcript -- -max_total_time=60
//! ```
//!
//! In many targets, the first byte selects the settings, so that all settings are tried.

use std::collections::BTreeSet;

use hippo_context::capture::{self, CaptureInput, CaptureSettings};
use hippo_context::extract::{self, Hints, MOST_TOKENS};
use hippo_context::policy;
use hippo_context::render::render;
use hippo_fs::harness;
use hippo_map::index_file::{self, IndexFile};
use hippo_proto::folder::Trust;
use hippo_session::compaction::{self, CompactionOptions, CompactionPass, CompactionResult, Compactor};
use hippo_session::flush;
use hippo_session::import::{self, LARGEST, Memory};
use hippo_text::fence::{CLOSE, OPEN, without_sections};
use hippo_text::{chunk, control, own_block};
use hippo_types::context::ContextState;
use hippo_types::time::Timestamp;
use hippo_types::tokens;
use hippo_types::transcript::{ExportProgram, TranscriptFormat};

/// A fuzz target: its name and its function.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [FuzzTarget; 13] = [
    ("transcript", transcript),
    ("extraction", extraction),
    ("entry", entry),
    ("policies", policies),
    ("compaction_config", compaction_config),
    ("index", index),
    ("markdown", markdown),
    ("secrets", secrets),
    ("block", block),
    ("request", request),
    ("imports", imports),
    ("harness_settings", harness_settings),
    ("trust", trust),
];

/// Source types with source references. Both help the extraction to detect the kind of the content.
const SOURCES: [(&str, &str); 12] = [
    ("", ""),
    ("read", "src/lib.rs"),
    ("read", "notes.md"),
    ("read", "data.csv"),
    ("read", "page.html"),
    ("read", "schema.json"),
    ("exec", "cargo test"),
    ("exec", "ls -la"),
    ("exec", "git diff"),
    ("grep", "valve"),
    ("browser.snapshot", "https://example.org/"),
    ("error", "Traceback (most recent call last):"),
];

fn split_first_byte(data: &[u8]) -> (usize, &[u8]) {
    data.split_first()
        .map_or((0, data), |(first, rest)| (usize::from(*first), rest))
}

/// Checks that the log sections of a transcript are short, and contain neither a heading nor the mark of a comment.
fn check_sections(bytes: &[u8]) {
    let mut seen = BTreeSet::new();
    let mut flusher = flush::Flusher::new(
        flush::FlushOptions::default(),
        |key| !seen.insert(*key),
        |at| at.date(0),
    );
    flusher.feed(bytes);
    let found = flusher.finish();
    for section in found.sections {
        assert!(section.text.len() < 4_000, "{}", section.text.len());
        assert!(!section.text.contains("<!--") && !section.text.contains("-->"));
        assert_eq!(
            section.text.lines().filter(|line| line.starts_with('#')).count(),
            1
        );
    }
}

/// Checks that the compaction of a transcript does not depend on the pieces in which the transcript is read, keeps to
/// its budget, and gives every message a score.
pub fn transcript(data: &[u8]) {
    check_sections(split_first_byte(data).1);
    let (choice, bytes) = split_first_byte(data);
    let options = CompactionOptions {
        format: TranscriptFormat::ALL[(choice + 1) % 5],
        budget: [None, Some(0), Some(40), Some(300), Some(5_000)][choice / 5 % 5],
        stored: choice / 25 % 2 == 1,
        ..CompactionOptions::default()
    };
    let whole = compact_in_pieces(bytes, &options, usize::MAX);
    let pieces = compact_in_pieces(bytes, &options, 1 + choice);
    assert_eq!(whole.summary, pieces.summary);
    assert_eq!(whole.stats.messages, pieces.stats.messages);
    assert_eq!(whole.scores().len() as u64, whole.stats.messages);
    if let Some(budget) = options.budget {
        assert!(tokens::of(&whole.summary) <= budget, "{}", whole.summary);
    }
}

fn compact_in_pieces(bytes: &[u8], options: &CompactionOptions, piece: usize) -> CompactionResult {
    let mut compactor = Compactor::new(options.clone());
    loop {
        bytes
            .chunks(piece)
            .for_each(|piece| compactor.feed(piece, |_, _| {}));
        match compactor.finish(|_, _| {}) {
            CompactionPass::Done(compacted) => return *compacted,
            CompactionPass::Again(again) => compactor = *again,
        }
    }
}

/// Checks that the extract of a tool's result keeps to its budget and is deterministic.
pub fn extraction(data: &[u8]) {
    let (choice, bytes) = split_first_byte(data);
    let (source_type, source_ref) = SOURCES[choice % SOURCES.len()];
    let hints = Hints {
        source_type,
        source_ref,
    };
    let budget = [None, Some(20), Some(100), Some(MOST_TOKENS)][choice / SOURCES.len() % 4];
    let told = extract::extract(bytes, &hints, budget);
    let most = budget.unwrap_or_else(|| extract::default_tokens(tokens::of_bytes(bytes.len())));
    assert!(
        tokens::of(&told.rendered()) <= most.max(20),
        "{}",
        told.rendered()
    );
    assert_eq!(
        told.rendered(),
        extract::extract(bytes, &hints, budget).rendered()
    );
}

/// Checks that an entry is small, and that its text cannot end the section in which it is shown.
pub fn entry(data: &[u8]) {
    let (choice, bytes) = split_first_byte(data);
    let (source_type, source_ref) = SOURCES[choice % SOURCES.len()];
    let content = String::from_utf8_lossy(bytes);
    let put = CaptureInput {
        id: "ctx-1",
        source_type,
        source_ref,
        turn: 1,
        content: &content,
        persist: Some(choice % 2 == 0),
        error: choice % 3 == 0,
        ..CaptureInput::default()
    };
    let captured = capture::capture(&put, policy::built_in_rules(), &CaptureSettings::default());
    assert!(captured.entry_tokens <= MOST_TOKENS as u64, "{captured:?}");
    if let Some(entry) = captured.entry {
        let count = |text: &str| tokens::of(text) as u64;
        let entries = std::slice::from_ref(&entry);
        let shown = render(entries, &[1.0], &[ContextState::Active], 5_000, count, |_| 0);
        let marks = |mark: &str| shown.text.matches(mark).count();
        assert!((marks(OPEN), marks(CLOSE)) == (1, 1), "{}", shown.text);
        assert!(without_sections(&shown.text).len() < shown.text.len());
    }
    // A text never becomes longer when its sections are removed.
    let without = without_sections(&content);
    assert!(without.len() <= content.len());
}

/// Checks that a policy file is parsed, or is rejected with a line number that exists.
pub fn policies(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(error) = policy::load_rules(&text) {
        // In YAML, more characters end a line than in most formats.
        let ends = |letter: &char| matches!(letter, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
        let lines = text.chars().filter(ends).count() + 2;
        assert!((1..=lines).contains(&error.line), "{error}");
    }
}

/// Checks that compaction works with the settings from any file.
pub fn compaction_config(data: &[u8]) {
    let keys = harness::read(data).0.session_compaction;
    let (config, _) = compaction::CompactionConfig::read(&keys.unwrap_or_default());
    let options = CompactionOptions {
        config,
        ..CompactionOptions::default()
    };
    let said = b"{\"role\":\"user\",\"content\":\"Decided: the valve is set to 30 bar.\"}\n";
    assert_eq!(compaction::compact(said, &options).stats.messages, 1);
}

/// Checks that an index file is the same after it is read and written.
pub fn index(data: &[u8]) {
    let settings = index_file::IndexFileOptions {
        offset_seconds: 0,
        undated: Timestamp(0),
    };
    assert_eq!(IndexFile::parse(data, settings).to_bytes(), data);
}

/// Checks that any markdown can be chunked, and that the text of each chunk can be read.
pub fn markdown(data: &[u8]) {
    let document = chunk::chunk(data);
    for one in &document.chunks {
        let _ = chunk::chunk_text(data, one);
    }
}

/// Checks that removing escape sequences twice is the same as removing them once, and that redaction never empties a
/// text.
pub fn secrets(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let plain = control::without_escapes(&text);
    assert_eq!(control::without_escapes(&plain), plain);
    let _ = control::as_seen(&text);
    let redacted = hippo_redact::redact(&text);
    assert!(!redacted.is_empty() || text.is_empty());
}

/// Checks that writing a block does not change the rest of a file.
pub fn block(data: &[u8]) {
    if let Ok(made) = own_block::put(data, "x", "- one") {
        let changed = own_block::put(&made, "x", "- two\n- three");
        let again = changed.and_then(|changed| own_block::put(&changed, "x", "- one"));
        assert_eq!(again.as_deref(), Ok(&made[..]));
        if own_block::body(data, "x") == Ok(None) {
            assert!(made.starts_with(data));
        }
    }
}

/// Checks that any line is parsed as a request, or is rejected.
pub fn request(data: &[u8]) {
    if let Err(reply) = hippo_proto::parse_request(data) {
        drop(reply);
    }
}

/// Checks that imported memories are at most eight times as large as their source, plus 1,000 bytes, and that
/// problems are short.
pub fn imports(data: &[u8]) {
    let (choice, bytes) = split_first_byte(data);
    let found = match choice % 2 {
        0 => import::export(ExportProgram::Mem0, bytes),
        _ => import::export(ExportProgram::ClaudeMem, bytes),
    };
    let (memories, problems) = match found {
        Ok(found) => (found.memories, found.problems),
        Err(problem) => (Vec::new(), vec![problem]),
    };
    let told = |memory: &Memory| {
        let details: usize = memory.details.iter().map(|(_, said)| said.len()).sum();
        assert!(memory.text.len() <= LARGEST);
        memory.text.len() + memory.title.as_ref().map_or(0, String::len) + details
    };
    // The Markdown of a list contains words that are not in the source, and a title can be repeated as the text.
    let said: usize = memories.iter().map(told).sum();
    assert!(said <= 8 * bytes.len() + 1_000, "{said} of {}", bytes.len());
    for problem in problems {
        assert!(problem.len() < 1_000, "{} bytes of {problem:.100}", problem.len());
    }
}

/// Checks that problems in harness settings are short, and that untrusted settings
/// never exceed the user's own.
pub fn harness_settings(data: &[u8]) {
    let bytes = split_first_byte(data).1;
    let (settings, misfits) = harness::read(bytes);
    for misfit in misfits {
        assert!(misfit.len() < 500, "{misfit}");
    }
    let (narrowed, _) = settings.narrowed(3_000, 3.0);
    assert!(narrowed.root_max_tokens.is_none_or(|tokens| tokens <= 3_000));
    assert!(narrowed.cooldown_hours.is_none_or(|hours| hours >= 3.0));
    assert_ne!(narrowed.index_in_prompt, Some(true));
}

/// Checks that a record of trust is the same after it is written and read, and covers only the files that it names.
pub fn trust(data: &[u8]) {
    let bytes = split_first_byte(data).1;
    let trust = Trust::parse(bytes);
    let again = Trust::parse(&trust.to_bytes());
    assert!(again == trust || trust == Trust::default());
    assert_eq!(Trust::parse(&again.to_bytes()), again);
    assert!(!trust.covers("hipocampus.config.json", b"another"));
}
