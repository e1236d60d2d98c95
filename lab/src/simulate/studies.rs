//! Additional studies for open questions of the protocol (v1 §12).

use hippo_embed::{Embedder, HashEmbedder};
use hippo_map::bootstrap::{self, BootstrapSettings, MemoryFile};
use hippo_map::consolidation::value_conflict;
use hippo_rank::cue::Cues;
use hippo_text::chunk::{self, ChunkKind, Document, chunk_text};
use hippo_text::source::SourceKind;
use hippo_text::terms::Analyzer;
use hippo_types::entry::{Entry, EntryId, Pointer};
use hippo_types::entry::{EntryOrigin, EntryPlace};
use hippo_types::tokens;

use super::year::{LOOKED_AT, Year, first_moment};

/// A file with its chunks.
type Chunked<'a> = (&'a str, &'a [u8], Document);

fn chunked(year: &Year) -> Vec<Chunked<'_>> {
    let files = year.files.iter();
    files
        .map(|(path, text)| (path.as_str(), text.as_bytes(), chunk::chunk(text.as_bytes())))
        .collect()
}

/// Returns the entries of a new index that has at most `most` entries.
fn made(files: &[Chunked<'_>], most: usize) -> Vec<Entry> {
    let memory = files.iter().map(|(path, bytes, document)| MemoryFile {
        path,
        kind: SourceKind::from_path(path),
        document,
        bytes,
        modified: first_moment(),
        known: false,
    });
    let settings = BootstrapSettings {
        max_entries: Some(most),
        now: first_moment(),
        ..BootstrapSettings::default()
    };
    let made = bootstrap::bootstrap(&memory.collect::<Vec<_>>(), &settings);
    made.into_iter().map(|new| new.entry).collect()
}

/// Estimates the tokens that an entry with all its fields takes in the index file.
fn entry_tokens(entry: &Entry) -> usize {
    let pointers = entry.pointers.iter().map(|pointer| {
        pointer.path.len() + pointer.section.as_ref().map_or(0, |section| section.len() + 3) + 3
    });
    let lists = entry.tags.iter().map(|tag| tag.len() + 1);
    let words = entry.topic.len() + entry.summary.len() + entry.id.0.len();
    // Estimated bytes of markup, and of the fields in the comment except id and tags: dates, hits, strength, source.
    let marks = 80;
    tokens::of_bytes(words + marks + pointers.sum::<usize>() + lists.sum::<usize>())
}

/// Returns the number of tokens of the text that a pointer refers to.
fn target_tokens(files: &[Chunked<'_>], pointer: &Pointer) -> usize {
    let Some((_, bytes, document)) = files.iter().find(|(path, _, _)| *path == pointer.path) else {
        return 0;
    };
    let titled = |title: &String| {
        document
            .sections
            .iter()
            .position(|section| section.title == *title)
    };
    let Some(at) = pointer.section.as_ref().and_then(titled) else {
        return tokens::of_bytes(bytes.len());
    };
    let first = document.sections[at].start_line as usize;
    let last = chunk::section_end(document, at as u32) as usize;
    let lines = bytes.split(|byte| *byte == b'\n').skip(first - 1);
    tokens::of_bytes(lines.take(last + 1 - first).map(|line| line.len() + 1).sum())
}

fn leads(entry: &Entry, gold: &[Pointer]) -> bool {
    entry.pointers.iter().any(|pointer| {
        let same = |gold: &Pointer| pointer.section.is_none() || pointer.section == gold.section;
        gold.iter().any(|gold| gold.path == pointer.path && same(gold))
    })
}

/// Results for an index whose entries all have the same scope.
#[derive(Debug, Clone, Default)]
pub struct Grain {
    /// Scope of an entry, such as a file or a section.
    pub name: &'static str,
    /// Number of entries.
    pub entries: usize,
    /// Tokens of all entries.
    pub tokens: usize,
    /// Share of the questions for which the best entry points to the right place.
    pub first: f64,
    /// Share of the questions for which one of the five best entries points to the right place.
    pub found: f64,
    /// Mean number of tokens of the content that the best entry points to.
    pub read: f64,
}

/// Compares entries for files, sections and lines. The questions are all needs of the year.
pub fn granularity(year: &Year) -> Vec<Grain> {
    let files = chunked(year);
    let count = files.len();
    let grains = [
        ("a file", made(&files, count)),
        ("two or three sections", made(&files, count * 2)),
        (
            "a section (the default)",
            made(&files, count * bootstrap::ENTRIES_PER_FILE),
        ),
        ("a line", lines(&files)),
    ];
    grains
        .into_iter()
        .map(|(name, entries)| grain(year, &files, name, &entries))
        .collect()
}

fn grain(year: &Year, files: &[Chunked<'_>], name: &'static str, entries: &[Entry]) -> Grain {
    let cues = Cues::new(entries);
    let mut analyzer = Analyzer::new();
    let (mut asked, mut first, mut found, mut read) = (0.0, 0.0, 0.0, 0.0);
    for need in &year.world.needs {
        for question in &need.questions {
            let named = cues.find(&analyzer.query_terms(question), LOOKED_AT);
            asked += 1.0;
            let right = |at: usize| f64::from(u8::from(leads(&entries[at], &need.gold)));
            first += named.first().map_or(0.0, |best| right(best.entry));
            found += named.iter().map(|one| right(one.entry)).fold(0.0, f64::max);
            let pointers = named.first().map(|best| &entries[best.entry].pointers);
            let tokens = pointers
                .into_iter()
                .flatten()
                .map(|pointer| target_tokens(files, pointer));
            read += tokens.sum::<usize>() as f64;
        }
    }
    Grain {
        name,
        entries: entries.len(),
        tokens: entries.iter().map(entry_tokens).sum(),
        first: first / asked,
        found: found / asked,
        read: read / asked,
    }
}

/// Returns an entry for each line. The headings are its topic, and the line is its summary.
fn lines(files: &[Chunked<'_>]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (path, bytes, document) in files {
        let chunks = document.chunks.iter();
        for chunk in chunks.filter(|chunk| chunk.kind != ChunkKind::Heading) {
            let Some(section) = document.sections.get(chunk.section as usize) else {
                continue;
            };
            let text = chunk_text(bytes, chunk);
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                entries.push(Entry {
                    id: EntryId(format!("{path}-{}", entries.len())),
                    topic: match &document.title {
                        Some(title) if *title != section.title => format!("{title}: {}", section.title),
                        _ => section.title.clone(),
                    },
                    summary: line.trim_start_matches(['-', ' ']).to_owned(),
                    pointers: vec![Pointer {
                        path: (*path).to_owned(),
                        section: Some(section.title.clone()),
                    }],
                    ..Entry::default()
                });
            }
        }
    }
    entries
}

/// Counts of pairs of live entries above a minimum similarity.
#[derive(Debug, Clone, Copy, Default)]
pub struct SimilarityStudy {
    /// Minimum cosine of the two entries of a pair.
    pub cosine: f32,
    /// Number of pairs.
    pub pairs: usize,
    /// Number of pairs that contain the same values.
    pub pass: usize,
    /// Number of pairs that contain the same values but are about different things.
    pub wrong: usize,
}

/// Measures how often similar entries are about different things.
///
/// # Errors
/// Fails if an entry cannot be embedded.
pub fn alike(year: &Year) -> anyhow::Result<Vec<SimilarityStudy>> {
    let live = year
        .entries
        .iter()
        .filter(|entry| entry.place == EntryPlace::Index);
    let live: Vec<_> = live
        .filter(|entry| entry.origin != EntryOrigin::Retrieval)
        .collect();
    let mut embedder = HashEmbedder::new();
    let mut texts = Vec::new();
    for entry in &live {
        let text = format!("{}. {}", entry.topic, entry.summary);
        texts.push((embedder.embed_query(&text)?, text));
    }
    let mut alike: Vec<SimilarityStudy> = [0.8, 0.85, 0.9, 0.92, 0.95]
        .map(|cosine| SimilarityStudy {
            cosine,
            ..SimilarityStudy::default()
        })
        .into();
    for (at, (mine, text)) in texts.iter().enumerate() {
        for (other, (theirs, other_text)) in texts.iter().enumerate().skip(at + 1) {
            let cosine: f32 = mine.iter().zip(theirs).map(|(a, b)| a * b).sum();
            if cosine < alike[0].cosine {
                continue;
            }
            let pass = value_conflict(text.as_str(), other_text.as_str()).is_none();
            let mut pointers = live[at].pointers.iter();
            let same = pointers.any(|pointer| live[other].pointers.contains(pointer));
            for row in alike.iter_mut().filter(|row| cosine >= row.cosine) {
                row.pairs += 1;
                row.pass += usize::from(pass);
                row.wrong += usize::from(pass && !same);
            }
        }
    }
    Ok(alike)
}
