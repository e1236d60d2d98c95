//! A simulated year and its weekly observations.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use hippo_map::index_file::{IndexFile, IndexFileOptions};
use hippo_proto::IndexEntry;
use hippo_types::entry::{EntryOrigin, EntryPlace, Pointer, StrengthBand};
use hippo_types::time::{Date, Timestamp};
use hippo_types::tokens;
use hippod::config::DecayProfile;

use super::agent::SimulatedAgent;
use super::daemon::Daemon;
use super::dice::Dice;
use super::world::{World, WorldFile};

/// Number of simulated days.
pub const DAYS: usize = 364;
/// Number of needs that the simulation asks for at the end of each week. The next value is the share of events among
/// them.
const PROBED: usize = 100;
const PROBED_EVENTS: f64 = 0.35;
/// Milliseconds in a second and in a day.
const SECOND: i64 = 1_000;
const DAY: i64 = 86_400 * SECOND;
/// Time of the day at which the agent writes the log.
const EVENING: i64 = 64_000 * SECOND;
/// Time of the day at which the nightly cycles have finished.
const MORNING: i64 = 4 * 3_600 * SECOND;
/// Number of best entries or results that are checked for the right one.
pub const LOOKED_AT: usize = 5;

/// Options of a simulated year.
#[derive(Debug, Clone, Copy)]
pub struct YearOptions {
    /// The decay curve.
    pub profile: DecayProfile,
    /// `true` if cycles run; otherwise only questions create entries.
    pub cycles: bool,
    /// Number of days.
    pub days: usize,
}

/// Observations at the end of a week.
#[derive(Debug, Clone, Default)]
pub struct Week {
    /// Number of live entries: those in the index, without archived ones.
    pub live: usize,
    /// Number of entries in the Decay Queue.
    pub queued: usize,
    /// Number of entries in the archive.
    pub archived: usize,
    /// Number of entries in the index file.
    pub shown: usize,
    /// Size of the index file in tokens.
    pub tokens: usize,
    /// Size in tokens of the index file and of the files with entries below it.
    pub all_tokens: usize,
    /// Number of live entries in each band: silent, decaying, weak, moderate, strong.
    pub bands: [usize; 5],
    /// Results of the agent's own questions in the week.
    pub asked: QuestionResults,
    /// Results of questions about needs that were asked for before.
    pub accessed: QuestionResults,
    /// Results of questions about needs that were never asked for.
    pub never: QuestionResults,
}

/// Results of questions.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuestionResults {
    /// Number of questions.
    pub all: usize,
    /// Number of questions for which the right entry was the best.
    pub first: usize,
    /// Number of questions for which the right entry was among the five best.
    pub found: usize,
    /// Number of questions for which the right place was among the five best results of the daemon's answer.
    pub answered: usize,
    /// Number of questions for which all right entries are silent or archived.
    pub lost: usize,
    /// Number of questions whose right entry was in the index file, so that a reader sees the entry without asking.
    pub shown: usize,
}

impl QuestionResults {
    /// Returns the share of `part` in all questions.
    pub fn share(&self, part: usize) -> f64 {
        part as f64 / self.all.max(1) as f64
    }

    /// Adds the results of other questions.
    pub fn add(&mut self, other: &Self) {
        self.all += other.all;
        self.first += other.first;
        self.found += other.found;
        self.answered += other.answered;
        self.lost += other.lost;
        self.shown += other.shown;
    }
}

/// A simulated year.
pub struct Year {
    /// Observations by week.
    pub weeks: Vec<Week>,
    /// Strength of each entry on the morning of each day; 0 before its creation.
    pub strengths: BTreeMap<String, Vec<f32>>,
    /// Number of days on which an entry was accessed.
    pub touched: BTreeMap<String, usize>,
    /// For each question of the agent, in order, `true` if the index named the right entry.
    pub found: Vec<bool>,
    /// Number of applied steps, by rule.
    pub steps: BTreeMap<String, usize>,
    /// All entries at the end of the year.
    pub entries: Vec<IndexEntry>,
    /// Number of pointers of live entries at the end of the year, and number of valid ones among them.
    pub pointers: (usize, usize),
    /// The files at the end of the year, by path.
    pub files: BTreeMap<String, String>,
    /// Topics, facts and events of the workspace.
    pub world: World,
}

/// Returns the start time of the simulation.
pub fn first_moment() -> Timestamp {
    // This day is a Monday.
    Timestamp::start_of(Date::constant(2026, 1, 5), 0)
}

/// State of a workspace during the simulation.
struct Life {
    daemon: Daemon,
    year: Year,
    week: Week,
    /// Entries by id, when they were last listed.
    known: BTreeMap<String, IndexEntry>,
    /// Ids of the entries that were in the index file, when it was last read.
    shown: BTreeSet<String>,
}

/// Simulates a year.
///
/// # Errors
/// Fails if the daemon returns an error.
pub fn live(seed: u64, options: YearOptions) -> Result<Year> {
    let start = first_moment();
    let (world, files) = World::new(seed, 1.0);
    let mut agent = SimulatedAgent::new(seed);
    let mut happenings = Dice::new(seed, "days");
    let mut probes = Dice::new(seed, "probes");
    let settings = |config: &mut hippod::config::Config| {
        config.index.decay = options.profile;
        if !options.cycles {
            let cycles = &mut config.cycles;
            for line in [&mut cycles.light, &mut cycles.deep, &mut cycles.archival] {
                line.clear();
            }
        }
    };
    let mut life = Life {
        daemon: Daemon::start(start, settings, &files)?,
        year: Year {
            weeks: Vec::new(),
            strengths: BTreeMap::new(),
            touched: BTreeMap::new(),
            found: Vec::new(),
            steps: BTreeMap::new(),
            entries: Vec::new(),
            pointers: (0, 0),
            files: files.into_iter().map(|file| (file.path, file.text)).collect(),
            world,
        },
        week: Week::default(),
        known: BTreeMap::new(),
        shown: BTreeSet::new(),
    };
    for day in 0..options.days {
        let midnight = start.plus(day as i64 * DAY);
        if day % 7 == 0 {
            life.daemon.advance_to(midnight)?;
            let files = life.year.world.week(day / 7 + 1, day);
            life.write(files)?;
        }
        life.daemon.sleep_until(midnight.plus(MORNING))?;
        life.look()?;
        life.measure(day);
        for question in agent.day(&mut life.year.world, day) {
            life.daemon.advance_to(midnight.plus(question.second * SECOND))?;
            life.ask(question.need, &question.text)?;
        }
        let evening = midnight.plus(EVENING);
        life.daemon.advance_to(evening)?;
        let busy = busy(day, &mut happenings);
        let files = life.year.world.day(day, &evening.date(0).to_string(), busy);
        life.write(files)?;
        life.daemon.sleep_until(midnight.plus(DAY - 2 * SECOND))?;
        for rule in life.daemon.new_steps()? {
            *life.year.steps.entry(rule).or_default() += 1;
        }
        if day % 7 == 6 {
            life.end_week(&mut probes)?;
        }
    }
    life.end()
}

/// Returns the number of events on a day, which is random.
pub fn busy(day: usize, dice: &mut Dice) -> usize {
    if day % 7 < 5 {
        dice.between(3, 6)
    } else {
        dice.below(2)
    }
}

impl Life {
    fn write(&mut self, files: Vec<WorldFile>) -> Result<()> {
        self.daemon.write(&files)?;
        let files = files.into_iter().map(|file| (file.path, file.text));
        self.year.files.extend(files);
        Ok(())
    }

    /// Lists the entries. Returns the size of the index file in tokens.
    fn look(&mut self) -> Result<usize> {
        let listed = self.daemon.list()?;
        self.known = listed
            .entries
            .into_iter()
            .map(|entry| (entry.id.clone(), entry))
            .collect();
        let file = IndexFile::parse(&self.daemon.index_file(), IndexFileOptions::default());
        self.shown = file.entries().map(|indexed| indexed.entry.id.0.clone()).collect();
        Ok(listed.tokens as usize)
    }

    /// Records strengths and accesses as of the morning of a day.
    fn measure(&mut self, day: usize) {
        let yesterday = first_moment().plus((day as i64 - 1) * DAY).date(0).to_string();
        for (id, entry) in &self.known {
            let line = self.year.strengths.entry(id.clone()).or_default();
            line.resize(day, 0.0);
            line.push(entry.strength);
            if entry.hits > 0 && entry.accessed.starts_with(&yesterday) {
                *self.year.touched.entry(id.clone()).or_default() += 1;
            }
        }
    }

    /// Asks a question of the agent, and records the result.
    fn ask(&mut self, need: usize, question: &str) -> Result<()> {
        let gold = self.year.world.needs[need].gold.clone();
        let mut asked = self.judge(question, &gold)?;
        let answer = self.daemon.ask(question)?;
        let right = answer.results.iter().take(LOOKED_AT).any(|hit| {
            let of_path = gold.iter().filter(|gold| gold.path == hit.path);
            let mut titles = of_path.map(|gold| gold.section.as_ref());
            titles.any(|title| title.is_none_or(|title| hit.heading.contains(title)))
        });
        asked.answered += usize::from(right);
        self.year.found.push(asked.found > 0);
        self.week.asked.add(&asked);
        Ok(())
    }

    /// Judges the entries that match a question. The daemon does not record the question.
    fn judge(&mut self, question: &str, gold: &[Pointer]) -> Result<QuestionResults> {
        let mut right = Vec::new();
        for id in self.daemon.matches(question)?.into_iter().take(LOOKED_AT) {
            // Only cycles change entries that no question created, so the last list is still correct for these entries.
            let known = self
                .known
                .get(&id)
                .filter(|entry| entry.origin != EntryOrigin::Retrieval);
            right.push(match known {
                Some(entry) => leads(entry, gold),
                None => leads(&self.daemon.show(&id)?.0, gold),
            });
        }
        let all: Vec<&IndexEntry> = self.known.values().filter(|entry| leads(entry, gold)).collect();
        let lost =
            |entry: &&IndexEntry| entry.place == EntryPlace::Archive || entry.band == StrengthBand::Silent;
        Ok(QuestionResults {
            all: 1,
            first: usize::from(right.first() == Some(&true)),
            found: usize::from(right.contains(&true)),
            answered: 0,
            lost: usize::from(!all.is_empty() && all.iter().all(lost)),
            shown: usize::from(all.iter().any(|entry| self.shown.contains(&entry.id))),
        })
    }

    /// Records all observations at the end of a week.
    fn end_week(&mut self, probes: &mut Dice) -> Result<()> {
        let mut week = std::mem::take(&mut self.week);
        week.tokens = self.look()?;
        week.all_tokens = tokens::of_bytes(self.daemon.index_bytes());
        week.shown = self.shown.len();
        for entry in self.known.values() {
            match entry.place {
                EntryPlace::Queue => week.queued += 1,
                EntryPlace::Archive => week.archived += 1,
                EntryPlace::Index => {
                    week.live += 1;
                    week.bands[match entry.band {
                        StrengthBand::Silent => 0,
                        StrengthBand::Decaying => 1,
                        StrengthBand::Weak => 2,
                        StrengthBand::Moderate => 3,
                        StrengthBand::Strong => 4,
                    }] += 1;
                }
            }
        }
        for _ in 0..PROBED {
            let event = probes.happens(PROBED_EVENTS);
            let needs = self.year.world.needs.iter().filter(|need| need.event == event);
            let need = (*probes.pick(&needs.collect::<Vec<_>>())).clone();
            let question = probes.pick(&need.questions);
            let asked = self.judge(question, &need.gold)?;
            let of_kind = if need.asked > 0 {
                &mut week.accessed
            } else {
                &mut week.never
            };
            of_kind.add(&asked);
        }
        self.year.weeks.push(week);
        Ok(())
    }

    /// Checks the pointers at the end of the last day, and returns the year.
    fn end(mut self) -> Result<Year> {
        let (mut all, mut stale) = (0, 0);
        let live = self
            .known
            .values()
            .filter(|entry| entry.place == EntryPlace::Index);
        for entry in live {
            all += entry.pointers.len();
            stale += self.daemon.show(&entry.id)?.1.len();
        }
        self.year.pointers = (all, all - stale);
        self.year.entries = self.known.into_values().collect();
        Ok(self.year)
    }
}

/// Returns `true` if an entry points to one of the right places. An entry that a question created has one pointer for
/// each result. Only its first pointer counts, which is that of the best result.
fn leads(entry: &IndexEntry, gold: &[Pointer]) -> bool {
    let asked = entry.origin == EntryOrigin::Retrieval;
    let pointers = entry.pointers.iter().take(if asked { 1 } else { usize::MAX });
    let mut pointers = pointers.flat_map(|pointer| gold.iter().map(move |gold| (pointer, gold)));
    pointers.any(|(pointer, gold)| {
        let whole = pointer.section.is_none() && !asked;
        pointer.path == gold.path && (whole || pointer.section == gold.section)
    })
}
