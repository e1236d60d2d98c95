//! What does the daemon make of the simulated year: entries, accesses, cycles, the index file?
//!
//! The parts are the daemon's own: bootstrap, decay, consolidation, the schedule, the layout of the index file, the words
//! of entries, the entry store. Only what holds them together is written anew here, with a clock that is an argument.

mod gather;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Context, Result};
use hippo_core::consolidation::{self, Cycle, Place, Plan, Record, Rule, Snapshot};
use hippo_core::decay::{self, DecayCurve};
use hippo_core::entry::{EntryId, Pointer};
use hippo_core::hierarchy::Limits;
use hippo_core::index_file::{self, IndexFile};
use hippo_core::layout::{self, LayoutInput};
use hippo_core::retrieval::cue::Cues;
use hippo_core::retrieval::terms::Analyzer;
use hippo_core::schedule::{self, Outcome, RunRecord};
use hippo_core::time::{Date, Timestamp};
use hippo_embed::HashEmbedder;
use hippo_store::db::{Access, Store};
use jiff::tz::TimeZone;

use super::shelf::Shelf;

/// What a simulated daemon is set to.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The curve.
    pub profile: DecayCurve,
    /// Entries and tokens of the index file.
    pub limits: Limits,
    /// Whether entries are kept in a store on disk, too.
    pub stored: bool,
}

/// Below this strength index-first does not answer (v1 §6.2).
pub const SILENT: f32 = 0.1;

/// The index of a workspace, and who looks after it.
pub struct Brain {
    options: Options,
    /// All entries, and what the next cycle knows.
    pub snapshot: Snapshot,
    schedule: schedule::Settings,
    runs: Vec<RunRecord>,
    known_since: Timestamp,
    fresh: BTreeSet<String>,
    last: BTreeMap<Cycle, Timestamp>,
    together: BTreeMap<(EntryId, EntryId), (u32, Timestamp)>,
    days: BTreeMap<EntryId, (Date, u32)>,
    cues: Cues,
    cued: Vec<EntryId>,
    places: HashMap<Pointer, Vec<EntryId>>,
    stale: bool,
    analyzer: Analyzer,
    embedder: HashEmbedder,
    vectors: BTreeMap<EntryId, ([u8; 16], Vec<f32>)>,
    /// The index file.
    pub file: Vec<u8>,
    /// Entries in it.
    pub shown: BTreeSet<EntryId>,
    store: Option<(tempfile::TempDir, Store)>,
    /// Steps that runs made, by cycle and rule.
    pub steps: BTreeMap<(Cycle, Rule), usize>,
    /// Runs by cycle.
    pub ran: BTreeMap<Cycle, usize>,
}

impl Brain {
    /// An index without entries.
    ///
    /// # Errors
    /// The store cannot be made.
    pub fn new(options: Options, now: Timestamp) -> Result<Self> {
        let store = if options.stored {
            let folder = tempfile::tempdir().context("could not create a temporary folder")?;
            let store = Store::open(&folder.path().join("index.db"), "/simulated")?;
            Some((folder, store))
        } else {
            None
        };
        Ok(Self {
            options,
            snapshot: Snapshot::default(),
            schedule: schedule::Settings::standard()?,
            runs: Vec::new(),
            known_since: now,
            fresh: BTreeSet::new(),
            last: BTreeMap::new(),
            together: BTreeMap::new(),
            days: BTreeMap::new(),
            cues: Cues::default(),
            cued: Vec::new(),
            places: HashMap::new(),
            stale: true,
            analyzer: Analyzer::new(),
            embedder: HashEmbedder::new(),
            vectors: BTreeMap::new(),
            file: Vec::new(),
            shown: BTreeSet::new(),
            store,
            steps: BTreeMap::new(),
            ran: BTreeMap::new(),
        })
    }

    /// A file came or changed.
    pub fn wrote(&mut self, path: &str) {
        self.fresh.insert(path.to_owned());
    }

    /// Strength of an entry at a moment.
    pub fn strength(&self, id: &EntryId, now: Timestamp) -> f32 {
        let record = self.snapshot.records.get(id);
        record.map_or(0.0, |record| {
            decay::strength_at(&self.options.profile, &record.entry, now)
        })
    }

    /// Makes what entries are found by anew, when their words or pointers have changed.
    fn look_up(&mut self) {
        if !self.stale {
            return;
        }
        self.stale = false;
        let records = self.snapshot.records.values();
        let live: Vec<&Record> = records
            .filter(|record| !matches!(record.place, Place::Archive(_)))
            .collect();
        self.cues = Cues::new(live.iter().map(|record| &record.entry));
        self.cued = live.iter().map(|record| record.entry.id.clone()).collect();
        self.places.clear();
        for record in self.snapshot.records.values() {
            for pointer in &record.entry.pointers {
                let there = self.places.entry(pointer.clone()).or_default();
                there.push(record.entry.id.clone());
            }
        }
    }

    /// The entries that a question names and that are not silent, at most `limit`.
    pub fn ask(&mut self, question: &str, now: Timestamp, limit: usize) -> Vec<EntryId> {
        self.look_up();
        let terms = self.analyzer.query_terms(question);
        let named = self
            .cues
            .find(&terms, usize::MAX)
            .into_iter()
            .map(|found| &self.cued[found.entry]);
        let loud = named.filter(|id| self.strength(id, now) >= SILENT);
        loud.take(limit).cloned().collect()
    }

    /// Entries that lead to a place, the archived ones too.
    pub fn of_place(&mut self, gold: &[Pointer]) -> Vec<EntryId> {
        self.look_up();
        let mut found: Vec<&EntryId> = Vec::new();
        for gold in gold {
            let whole = Pointer {
                path: gold.path.clone(),
                section: None,
            };
            for pointer in [gold, &whole] {
                found.extend(self.places.get(pointer).into_iter().flatten());
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().cloned().collect()
    }

    /// Records that entries answered a question.
    ///
    /// # Errors
    /// The store refuses.
    pub fn access(&mut self, ids: &[EntryId], now: Timestamp) -> Result<()> {
        let day = now.date(0);
        for (at, a) in ids.iter().enumerate() {
            for b in &ids[at + 1..] {
                let pair = if a < b { (a, b) } else { (b, a) };
                let known = self
                    .together
                    .entry((pair.0.clone(), pair.1.clone()))
                    .or_insert((0, now));
                *known = (known.0 + 1, now);
            }
        }
        if let Some((_, store)) = &mut self.store {
            let accesses = ids.iter().map(|entry| Access {
                entry: entry.clone(),
                at: now,
                day,
            });
            let accesses: Vec<Access> = accesses.collect();
            let mut batch = store.begin_entries()?;
            batch.record_accesses(&accesses)?;
            batch.add_co_access(ids, now)?;
            batch.commit()?;
            for record in store.fold_accesses(&self.options.profile, now)?.records {
                self.snapshot.records.insert(record.entry.id.clone(), record);
            }
            return Ok(());
        }
        for id in ids {
            let known = self.days.entry(id.clone()).or_insert((day, 0));
            *known = (day, if known.0 == day { known.1 + 1 } else { 1 });
            if let Some(record) = self.snapshot.records.get_mut(id) {
                decay::record_access(&self.options.profile, &mut record.entry, now, known.1);
                record.strength = decay::strength_at(&self.options.profile, &record.entry, now);
            }
        }
        Ok(())
    }

    /// Brings an archived entry back, as a question does that found its text by search.
    ///
    /// # Errors
    /// The store refuses.
    pub fn restore(&mut self, id: &EntryId, now: Timestamp) -> Result<()> {
        let Some(record) = self.snapshot.records.get_mut(id) else {
            return Ok(());
        };
        if !matches!(record.place, Place::Archive(_)) {
            return Ok(());
        }
        record.place = Place::Index;
        record.entry.strength = 1.0;
        record.entry.accessed = now;
        self.stale = true;
        if let Some((_, store)) = &mut self.store {
            let mut batch = store.begin_entries()?;
            batch.put_record(record)?;
            batch.commit()?;
        }
        Ok(())
    }

    /// When something can become due after a moment.
    pub fn next_tick(&self, now: Timestamp) -> Option<Timestamp> {
        schedule::next_tick(&self.runs, self.known_since, now, &TimeZone::UTC, &self.schedule)
    }

    /// Runs what is due.
    ///
    /// # Errors
    /// The store refuses.
    pub fn tick(&mut self, shelf: &Shelf, now: Timestamp) -> Result<()> {
        for due in schedule::due(&self.runs, self.known_since, now, &TimeZone::UTC, &self.schedule) {
            self.run(due.cycle, shelf, now)?;
        }
        Ok(())
    }

    fn run(&mut self, cycle: Cycle, shelf: &Shelf, now: Timestamp) -> Result<()> {
        self.gather(cycle, shelf, now);
        let run = self.snapshot.run;
        let (plan, after) = consolidation::plan_and_apply(std::mem::take(&mut self.snapshot), cycle);
        self.snapshot = after;
        let id = match &mut self.store {
            Some((_, store)) => Some(store.start_run(&run, &plan)?),
            None => None,
        };
        for step in &plan.steps {
            if let (Some((_, store)), Some(id)) = (&mut self.store, id) {
                store.apply_step(id, step)?;
            }
            *self.steps.entry((cycle, step.rule)).or_default() += 1;
            let quiet = [
                Rule::Source,
                Rule::Flush,
                Rule::Strong,
                Rule::Replay,
                Rule::QuickAccess,
                Rule::ByTime,
                Rule::Associate,
            ];
            self.stale |= !quiet.contains(&step.rule);
        }
        let capped = plan.refused.iter().any(|refusal| refusal.rule == Rule::LossCap);
        let outcome = if capped { Outcome::Capped } else { Outcome::Done };
        if let (Some((_, store)), Some(id)) = (&mut self.store, id) {
            store.finish_run(id, outcome, now)?;
        }
        self.end(cycle, &plan, outcome, now);
        Ok(())
    }

    fn end(&mut self, cycle: Cycle, plan: &Plan, outcome: Outcome, now: Timestamp) {
        if cycle != Cycle::Light && !plan.steps.is_empty() {
            self.write(now);
        }
        self.fresh.clear();
        // What the next cycle does not look at need not be copied into its plan.
        self.snapshot.documents.clear();
        self.snapshot.co_access.clear();
        self.snapshot.candidates.clear();
        self.last.insert(cycle, now);
        *self.ran.entry(cycle).or_default() += 1;
        // Of each cycle the last run alone decides what is due.
        self.runs.retain(|run| run.cycle != cycle);
        self.runs.push(RunRecord {
            cycle,
            started: now,
            finished: Some(now),
            outcome,
        });
    }

    /// Writes the index file.
    fn write(&mut self, now: Timestamp) {
        let nobody = BTreeSet::new();
        let settings = index_file::IndexFileOptions::default();
        let wanted = LayoutInput {
            records: &self.snapshot.records,
            forgotten: &nobody,
            quick_access: &self.snapshot.quick_access,
            meta: None,
            limits: self.options.limits,
            settings,
            now,
        };
        self.file = layout::lay_out(Some(&self.file), &wanted).master;
        let placed = IndexFile::parse(&self.file, settings);
        self.shown = placed
            .placed_entries()
            .into_iter()
            .map(|placed| placed.indexed.entry.id.clone())
            .collect();
    }

    /// Whether the store on disk holds what the simulation holds. `None` without a store.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn store_agrees(&self) -> Result<Option<bool>> {
        let Some((_, store)) = &self.store else {
            return Ok(None);
        };
        let kept = store.entries()?.records;
        let same = |(id, record): (&EntryId, &Record)| {
            kept.get(id).is_some_and(|kept| {
                // The current strength is computed whenever it is needed.
                kept.entry == record.entry && kept.place == record.place && kept.filed == record.filed
            })
        };
        Ok(Some(
            kept.len() == self.snapshot.records.len() && self.snapshot.records.iter().all(same),
        ))
    }
}
