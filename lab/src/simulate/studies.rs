//! Additional studies for the open questions of v1 §12.

use std::collections::BTreeSet;

use hippo_embed::{Embedder, HashEmbedder};
use hippo_map::bootstrap::{self, BootstrapEntry, BootstrapSettings, entry_tokens};
use hippo_map::consolidation::{EntryRecord, RecordPlace, value_conflict};
use hippo_rank::cue::Cues;
use hippo_text::chunk::{ChunkKind, chunk_text};
use hippo_text::terms::Analyzer;
use hippo_types::entry::{Entry, EntryId, Pointer};

use super::agent::SimulatedAgent;
use super::dice::Dice;
use super::shelf::Shelf;
use super::world::World;
use super::year::{LOOKED_AT, Year, busy, first_moment};

/// Number of days of the cold start.
const COLD_DAYS: usize = 56;

/// Returns, for each question in order, whether an initially empty index answered it, and whether a bootstrapped index
/// did.
pub fn cold_start(seed: u64) -> Vec<(bool, bool)> {
    let start = first_moment();
    let (mut world, files) = World::new(seed, 1.0);
    let mut agent = SimulatedAgent::new(seed);
    let mut happenings = Dice::new(seed, "days");
    let mut analyzer = Analyzer::new();
    let mut shelf = Shelf::default();
    files.into_iter().for_each(|file| shelf.put(file, start));
    let mut known: BTreeSet<EntryId> = BTreeSet::new();
    let mut answered = Vec::new();
    for day in 0..COLD_DAYS {
        let midnight = start.plus(day as i64 * 86_400_000);
        if day % 7 == 0 {
            world
                .week(day / 7 + 1, day)
                .into_iter()
                .for_each(|file| shelf.put(file, midnight));
        }
        let pool: Vec<Entry> = made(&shelf, None).into_iter().map(|new| new.entry).collect();
        let warm = Cues::new(&pool);
        let mut learned: Vec<&Entry> = pool.iter().filter(|entry| known.contains(&entry.id)).collect();
        let mut cold = Cues::new(learned.iter().copied());
        for question in agent.day(&mut world, day) {
            let gold = &world.needs[question.need].gold;
            let terms = analyzer.query_terms(&question.text);
            let named = |cues: &Cues, entries: &dyn Fn(usize) -> bool| {
                cues.find(&terms, LOOKED_AT)
                    .iter()
                    .any(|found| entries(found.entry))
            };
            let by_cold = named(&cold, &|at| leads(learned[at], gold));
            answered.push((by_cold, named(&warm, &|at| leads(&pool[at], gold))));
            // A search result becomes an entry.
            let right = pool.iter().find(|entry| leads(entry, gold));
            if let Some(entry) = right.filter(|entry| !by_cold && known.insert(entry.id.clone())) {
                learned.push(entry);
                cold = Cues::new(learned.iter().copied());
            }
        }
        let evening = midnight.plus(64_000_000);
        let busy = busy(day, &mut happenings);
        let files = world.day(day, &evening.date(0).to_string(), busy);
        files.into_iter().for_each(|file| shelf.put(file, evening));
    }
    answered
}

fn made(shelf: &Shelf, most: Option<usize>) -> Vec<BootstrapEntry> {
    let all = shelf.changed_since(None);
    let settings = BootstrapSettings {
        max_entries: most,
        now: first_moment(),
        ..BootstrapSettings::default()
    };
    bootstrap::bootstrap(&shelf.memory(&all), &[], &settings)
}

fn leads(entry: &Entry, gold: &[Pointer]) -> bool {
    entry.pointers.iter().any(|pointer| {
        let same = |gold: &Pointer| pointer.section.is_none() || pointer.section == gold.section;
        gold.iter().any(|gold| gold.path == pointer.path && same(gold))
    })
}

/// Results of an index with entries of one size.
#[derive(Debug, Clone, Default)]
pub struct Grain {
    /// Scope of an entry.
    pub name: &'static str,
    /// Number of entries.
    pub entries: usize,
    /// Tokens of all entries.
    pub tokens: usize,
    /// Share of the questions for which the best entry points to the right place.
    pub first: f64,
    /// Share of the questions for which one of the five best entries points to the right place.
    pub found: f64,
    /// Mean tokens of the content behind the best entry.
    pub read: f64,
}

/// Compares entries for files, sections and lines with all needs of the year.
pub fn granularity(year: &Year) -> Vec<Grain> {
    let files = year.shelf.changed_since(None).len();
    let entries = |most| -> Vec<Entry> { made(&year.shelf, most).into_iter().map(|new| new.entry).collect() };
    let grains = [
        ("a file", entries(Some(files))),
        ("two or three sections", entries(Some(files * 2))),
        (
            "a section (the default)",
            entries(Some(files * bootstrap::ENTRIES_PER_FILE)),
        ),
        ("a line", lines(&year.shelf)),
    ];
    grains
        .into_iter()
        .map(|(name, entries)| grain(year, name, &entries))
        .collect()
}

fn grain(year: &Year, name: &'static str, entries: &[Entry]) -> Grain {
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
                .map(|pointer| year.shelf.tokens(pointer));
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

/// Returns an entry for each line: the headings as topic, the line as summary.
fn lines(shelf: &Shelf) -> Vec<Entry> {
    let mut entries = Vec::new();
    for file in shelf.memory(&BTreeSet::new()) {
        for chunk in file
            .document
            .chunks
            .iter()
            .filter(|chunk| chunk.kind != ChunkKind::Heading)
        {
            let Some(section) = file.document.sections.get(chunk.section as usize) else {
                continue;
            };
            let text = chunk_text(file.bytes, chunk);
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                entries.push(Entry {
                    id: EntryId(format!("{}-{}", file.path, entries.len())),
                    topic: match &file.document.title {
                        Some(title) if *title != section.title => format!("{title}: {}", section.title),
                        _ => section.title.clone(),
                    },
                    summary: line.trim_start_matches(['-', ' ']).to_owned(),
                    pointers: vec![Pointer {
                        path: file.path.to_owned(),
                        section: Some(section.title.clone()),
                    }],
                    ..Entry::default()
                });
            }
        }
    }
    entries
}

/// Pairs of similar live entries.
#[derive(Debug, Clone, Copy, Default)]
pub struct SimilarityStudy {
    /// Minimum cosine.
    pub cosine: f32,
    /// Number of pairs.
    pub pairs: usize,
    /// Pairs that pass a comparison of values.
    pub pass: usize,
    /// Passing pairs about different things.
    pub wrong: usize,
}

/// Measures the similarity of entries about different things.
///
/// # Errors
/// Fails if an entry cannot be embedded.
pub fn alike(year: &Year) -> anyhow::Result<Vec<SimilarityStudy>> {
    let records = year.brain.snapshot.records.values();
    let live: Vec<&EntryRecord> = records
        .filter(|record| record.place == RecordPlace::Index)
        .collect();
    let mut embedder = HashEmbedder::new();
    let mut texts = Vec::new();
    for record in &live {
        let text = format!("{}. {}", record.entry.topic, record.entry.summary);
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
            let same = live[at]
                .entry
                .pointers
                .iter()
                .any(|pointer| live[other].entry.pointers.contains(pointer));
            for row in alike.iter_mut().filter(|row| cosine >= row.cosine) {
                row.pairs += 1;
                row.pass += usize::from(pass);
                row.wrong += usize::from(pass && !same);
            }
        }
    }
    Ok(alike)
}
