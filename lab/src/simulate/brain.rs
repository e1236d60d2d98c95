//! The daemon's index during the simulated year.
//!
//! Bootstrap, decay, consolidation, schedule, index file layout, entry words and entry store are the daemon's own
//! code.
//! Only their integration is reimplemented here, with the clock as an argument.

mod gather;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Context, Result};
use hippo_embed::HashEmbedder;
use hippo_map::consolidation::{
    self, ConsolidationPlan, ConsolidationSnapshot, EntryRecord, RecordPlace, Rule,
};
use hippo_map::decay::{self, DecayCurve};
use hippo_map::hierarchy::Limits;
use hippo_map::index_file::{self, IndexFile};
use hippo_map::layout::{self, LayoutInput};
use hippo_map::schedule::{self, RunOutcome, RunRecord};
use hippo_rank::cue::Cues;
use hippo_store::db::{Access, Store};
use hippo_text::terms::Analyzer;
use hippo_types::cycle::Cycle;
use hippo_types::entry::{EntryId, Pointer};
use hippo_types::time::{Date, Timestamp};
use jiff::tz::TimeZone;

use super::shelf::Shelf;

/// Options of a simulated daemon.
#[derive(Debug, Clone, Copy)]
pub struct BrainOptions {
    /// The decay curve.
    pub profile: DecayCurve,
    /// Limits of the index file: entries and tokens.
    pub limits: Limits,
    /// `true` if entries are also kept in a store on disk.
    pub stored: bool,
}

/// Minimum strength for index-first answers (v1 §6.2).
pub const SILENT: f32 = 0.1;

/// The index of a workspace with its maintenance.
pub struct Brain {
    options: BrainOptions,
    /// All entries, and the input of the next cycle.
    pub snapshot: ConsolidationSnapshot,
    schedule: schedule::ScheduleSettings,
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
    /// Entries in the index file.
    pub shown: BTreeSet<EntryId>,
    store: Option<(tempfile::TempDir, Store)>,
    /// Number of executed steps, by cycle and rule.
    pub steps: BTreeMap<(Cycle, Rule), usize>,
    /// Number of runs by cycle.
    pub ran: BTreeMap<Cycle, usize>,
}

impl Brain {
    /// Creates an index without entries.
    ///
    /// # Errors
    /// Fails if the store cannot be created.
    pub fn new(options: BrainOptions, now: Timestamp) -> Result<Self> {
        let store = if options.stored {
            let folder = tempfile::tempdir().context("could not create a temporary folder")?;
            let store = Store::open(&folder.path().join("index.db"), "/simulated")?;
            Some((folder, store))
        } else {
            None
        };
        Ok(Self {
            options,
            snapshot: ConsolidationSnapshot::default(),
            schedule: schedule::ScheduleSettings::standard()?,
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

    /// Records that a file was added or changed.
    pub fn wrote(&mut self, path: &str) {
        self.fresh.insert(path.to_owned());
    }

    /// Returns the strength of an entry at a moment.
    pub fn strength(&self, id: &EntryId, now: Timestamp) -> f32 {
        let record = self.snapshot.records.get(id);
        record.map_or(0.0, |record| {
            decay::strength_at(&self.options.profile, &record.entry, now)
        })
    }

    /// Rebuilds the lookup of entries after their words or pointers changed.
    fn look_up(&mut self) {
        if !self.stale {
            return;
        }
        self.stale = false;
        let records = self.snapshot.records.values();
        let live: Vec<&EntryRecord> = records
            .filter(|record| !matches!(record.place, RecordPlace::Archive(_)))
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

    /// Returns at most `limit` entries that a question names and that are not silent.
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

    /// Returns entries that point to a place, including archived ones.
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
    /// Fails if the store refuses the write.
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

    /// Restores an archived entry, as a search that found the text of the entry would do.
    ///
    /// # Errors
    /// Fails if the store refuses the write.
    pub fn restore(&mut self, id: &EntryId, now: Timestamp) -> Result<()> {
        let Some(record) = self.snapshot.records.get_mut(id) else {
            return Ok(());
        };
        if !matches!(record.place, RecordPlace::Archive(_)) {
            return Ok(());
        }
        record.place = RecordPlace::Index;
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

    /// Returns the next moment at which a cycle can become due.
    pub fn next_tick(&self, now: Timestamp) -> Option<Timestamp> {
        schedule::next_tick(&self.runs, self.known_since, now, &TimeZone::UTC, &self.schedule)
    }

    /// Runs all due cycles.
    ///
    /// # Errors
    /// Fails if the store refuses a write.
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
        let outcome = if capped {
            RunOutcome::Capped
        } else {
            RunOutcome::Done
        };
        if let (Some((_, store)), Some(id)) = (&mut self.store, id) {
            store.finish_run(id, outcome, now)?;
        }
        self.end(cycle, &plan, outcome, now);
        Ok(())
    }

    fn end(&mut self, cycle: Cycle, plan: &ConsolidationPlan, outcome: RunOutcome, now: Timestamp) {
        if cycle != Cycle::Light && !plan.steps.is_empty() {
            self.write(now);
        }
        self.fresh.clear();
        // Unused input is not copied into the next plan.
        self.snapshot.documents.clear();
        self.snapshot.co_access.clear();
        self.snapshot.candidates.clear();
        self.last.insert(cycle, now);
        *self.ran.entry(cycle).or_default() += 1;
        // Only the last run of each cycle determines the due cycles.
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

    /// Returns `true` if the store on disk equals the simulated state, or `None` without a store.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn store_agrees(&self) -> Result<Option<bool>> {
        let Some((_, store)) = &self.store else {
            return Ok(None);
        };
        let kept = store.entries()?.records;
        let same = |(id, record): (&EntryId, &EntryRecord)| {
            kept.get(id).is_some_and(|kept| {
                // The current strength is computed on demand.
                kept.entry == record.entry && kept.place == record.place && kept.filed == record.filed
            })
        };
        Ok(Some(
            kept.len() == self.snapshot.records.len() && self.snapshot.records.iter().all(same),
        ))
    }
}
