//! Topics, facts and events of the simulated workspace.
//!
//! A topic has facts, which stay the same until they change, and events, which happen on one day. Each fact or event
//! is written in one section of one file. It is one *need*: a question whose right place is known.

use hippo_types::entry::Pointer;

use super::dice::Dice;
use super::templates::{self, ChangingFact};
use super::words;

/// Kind of topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopicKind {
    /// A project, which ends at some time.
    Project,
    /// A system that is in operation.
    System,
    /// A person.
    Person,
    /// A way of working.
    Practice,
}

/// A topic of the simulated workspace.
#[derive(Debug, Clone)]
pub struct SimulatedTopic {
    /// Kind of the topic.
    pub kind: TopicKind,
    /// Name of the topic.
    pub name: String,
    /// Path of the file that contains the facts.
    pub path: String,
    /// Facts, each with the number of its need. Each fact is a section of the file.
    pub facts: Vec<(ChangingFact, usize)>,
    /// Numbers of the needs of the events.
    pub events: Vec<usize>,
}

/// Information that the agent can ask for.
#[derive(Debug, Clone)]
pub struct InformationNeed {
    /// Questions that ask for the information.
    pub questions: Vec<String>,
    /// Places that contain the information.
    pub gold: Vec<Pointer>,
    /// Day of the simulation on which the information was written first.
    pub told: usize,
    /// `true` if the information is an event, `false` if it is a fact.
    pub event: bool,
    /// Number of times that the information was asked for.
    pub asked: u32,
}

/// The topics of a workspace and everything written about them.
pub struct World {
    /// Topics, the oldest first.
    pub topics: Vec<SimulatedTopic>,
    /// All needs.
    pub needs: Vec<InformationNeed>,
    /// Topics by the current frequency of questions, most frequent first.
    pub ranks: Vec<usize>,
    drift: f64,
    dice: Dice,
    unborn: Vec<&'static str>,
}

/// A file to write.
pub struct WorldFile {
    /// Path relative to the workspace.
    pub path: String,
    /// Text of the file.
    pub text: String,
}

/// Exponent of the Zipf distribution of questions over topics.
pub const TOPIC_ZIPF: f64 = 1.0;
/// Number of projects on the first day.
const FIRST_PROJECTS: usize = 12;

impl World {
    /// Creates a workspace in its state on the first day, and returns it with its files. `drift` is the speed at which
    /// relevance changes: 1 is the speed in the documentation, 0 means no change.
    pub fn new(seed: u64, drift: f64) -> (Self, Vec<WorldFile>) {
        let mut world = Self {
            topics: Vec::new(),
            needs: Vec::new(),
            ranks: Vec::new(),
            drift,
            dice: Dice::new(seed, "world"),
            unborn: words::PROJECTS[FIRST_PROJECTS..].iter().rev().copied().collect(),
        };
        let kinds = [
            (TopicKind::Project, &words::PROJECTS[..FIRST_PROJECTS]),
            (TopicKind::System, &words::SYSTEMS[..]),
            (TopicKind::Person, &words::PEOPLE[..]),
            (TopicKind::Practice, &words::PRACTICES[..]),
        ];
        for (kind, name) in kinds
            .into_iter()
            .flat_map(|(kind, names)| names.iter().map(move |name| (kind, *name)))
        {
            world.begin(kind, name, 0);
        }
        for at in (1..world.ranks.len()).rev() {
            let other = world.dice.below(at + 1);
            world.ranks.swap(at, other);
        }
        let mut files: Vec<WorldFile> = (0..world.topics.len()).map(|topic| world.file(topic)).collect();
        files.extend(templates::root_files());
        (world, files)
    }

    /// Adds a topic.
    fn begin(&mut self, kind: TopicKind, name: &str, day: usize) {
        let slug = name.to_lowercase().replace(' ', "-");
        let path = match kind {
            TopicKind::Project => format!("projects/{slug}/PROJECT.md"),
            TopicKind::System => format!("knowledge/systems/{slug}.md"),
            TopicKind::Person => format!("knowledge/people/{slug}.md"),
            TopicKind::Practice => format!("knowledge/practices/{slug}.md"),
        };
        let topic = self.topics.len();
        let mut facts = Vec::new();
        for fact in templates::facts(kind, &mut self.dice) {
            self.needs.push(InformationNeed {
                questions: fact.questions(name),
                gold: vec![pointer(&path, fact.title())],
                told: day,
                event: false,
                asked: 0,
            });
            facts.push((fact, self.needs.len() - 1));
        }
        self.topics.push(SimulatedTopic {
            kind,
            name: name.to_owned(),
            path,
            facts,
            events: Vec::new(),
        });
        self.ranks.push(topic);
    }

    /// Returns the current file of a topic.
    fn file(&self, topic: usize) -> WorldFile {
        let topic = &self.topics[topic];
        let mut text = format!("# {}\n", topic.name);
        for (fact, _) in &topic.facts {
            text += &format!("\n## {}\n\n{}\n", fact.title(), fact.told(&topic.name));
        }
        WorldFile {
            path: topic.path.clone(),
            text,
        }
    }

    /// Simulates a day with `busy` events. Returns the log of the day and the changed files.
    pub fn day(&mut self, day: usize, date: &str, busy: usize) -> Vec<WorldFile> {
        let mut files = Vec::new();
        let path = format!("memory/{date}.md");
        let mut log = format!("# {date}\n");
        let mut told = Vec::new();
        for _ in 0..busy {
            let Some(topic) = self
                .dice
                .zipf(self.ranks.len(), TOPIC_ZIPF)
                .map(|rank| self.ranks[rank])
            else {
                continue;
            };
            if told.contains(&topic) {
                continue;
            }
            told.push(topic);
            let event = templates::event(&self.topics[topic].name, &mut self.dice);
            let mut section = event.title.clone();
            // About one in twelve events changes a fact, and the log mentions the change.
            let mut more = String::new();
            if self.dice.happens(CHANGES) {
                let count = self.topics[topic].facts.len();
                let at = self.dice.below(count);
                let name = self.topics[topic].name.clone();
                let need = self.topics[topic].facts[at].1;
                let mut changed = self.topics[topic].facts[at].0.clone();
                changed.change(&mut self.dice);
                more = format!("- New: {}\n", changed.fact(&name));
                // Most changes are also made in the file of the topic. For the others, the log is the only place of
                // the new value.
                if self.dice.happens(CORRECTED) {
                    self.topics[topic].facts[at].0 = changed;
                    self.needs[need].gold = vec![pointer(
                        &self.topics[topic].path,
                        self.topics[topic].facts[at].0.title(),
                    )];
                    files.push(self.file(topic));
                } else {
                    self.needs[need].gold = vec![pointer(&path, &section)];
                }
            } else if self.dice.happens(RETOLD) {
                let topic = &self.topics[topic];
                more = format!("- {}\n", self.dice.pick(&topic.facts).0.fact(&topic.name));
            }
            if log.contains(&format!("## {section}\n")) {
                section += " again";
            }
            log += &format!("\n## {section}\n\n- {}\n{more}", event.told);
            for _ in 0..self.dice.between(1, 3) {
                log += &format!("- {}\n", self.dice.pick(&words::FILLERS));
            }
            self.topics[topic].events.push(self.needs.len());
            self.needs.push(InformationNeed {
                questions: event.questions,
                gold: vec![pointer(&path, &section)],
                told: day,
                event: true,
                asked: 0,
            });
        }
        if !told.is_empty() {
            files.push(WorldFile { path, text: log });
        }
        files
    }

    /// Returns a random count with the expected value `expected`.
    fn times(&mut self, expected: f64) -> usize {
        expected as usize + usize::from(self.dice.happens(expected.fract()))
    }

    /// Simulates the end of a week, at which the relevance of topics changes. Returns new files.
    pub fn week(&mut self, week: usize, day: usize) -> Vec<WorldFile> {
        for _ in 0..(SWAPS as f64 * self.drift) as usize {
            let at = self.dice.below(self.ranks.len() - 1);
            self.ranks.swap(at, at + 1);
        }
        // Some topics move into the first five ranks.
        for _ in 0..self.times(FOCUS * self.drift) {
            let from = self.dice.between(10, self.ranks.len() - 1);
            let topic = self.ranks.remove(from);
            let to = self.dice.below(5);
            self.ranks.insert(to, topic);
        }
        if !week.is_multiple_of(PROJECT_WEEKS) || self.drift == 0.0 {
            return Vec::new();
        }
        let done = self
            .ranks
            .iter()
            .position(|topic| self.topics[*topic].kind == TopicKind::Project);
        if let Some(at) = done {
            let topic = self.ranks.remove(at);
            self.ranks.push(topic);
        }
        let Some(name) = self.unborn.pop() else {
            return Vec::new();
        };
        self.begin(TopicKind::Project, name, day);
        let topic = self.topics.len() - 1;
        self.ranks.pop();
        let to = self.dice.below(4);
        self.ranks.insert(to, topic);
        vec![self.file(topic)]
    }
}

/// Probability that an event changes a fact.
pub const CHANGES: f64 = 0.08;
/// Probability that a changed fact is also corrected in its file.
pub const CORRECTED: f64 = 0.75;
/// Probability that an event repeats a fact.
pub const RETOLD: f64 = 0.25;
/// Number of times in a week that two topics with neighbouring ranks are swapped.
pub const SWAPS: usize = 12;
/// Probability that a topic moves into the first ranks in a week.
pub const FOCUS: f64 = 0.5;
/// Number of weeks between the starts of two projects.
pub const PROJECT_WEEKS: usize = 5;

fn pointer(path: &str, section: &str) -> Pointer {
    Pointer {
        path: path.to_owned(),
        section: Some(section.to_owned()),
    }
}
