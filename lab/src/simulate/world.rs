//! What does the simulated workspace tell, and what can be asked about it?
//!
//! Topics have facts that stay until they change, and events that happened on a day. Each is told in one section of one
//! file, and is one *need*: something that can be asked for, and whose right place is known.

use hippo_core::entry::Pointer;

use super::dice::Dice;
use super::templates::{self, Fact};
use super::words;

/// What a topic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Has an end.
    Project,
    /// Runs somewhere.
    System,
    /// Somebody.
    Person,
    /// How something is done.
    Practice,
}

/// Something that is talked about.
#[derive(Debug, Clone)]
pub struct Topic {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// File that holds its facts.
    pub path: String,
    /// Its facts, each a section of the file, with their needs.
    pub facts: Vec<(Fact, usize)>,
    /// Needs of its events.
    pub events: Vec<usize>,
}

/// Something that can be asked for.
#[derive(Debug, Clone)]
pub struct Need {
    /// Ways to ask for it.
    pub questions: Vec<String>,
    /// Where it is told.
    pub gold: Vec<Pointer>,
    /// Day of the simulation on which it was told first.
    pub told: usize,
    /// It happened on a day; else it is a fact.
    pub event: bool,
    /// How often it was asked for.
    pub asked: u32,
}

/// The topics of a workspace and all that was told of them.
pub struct World {
    /// Topics; the first are the oldest.
    pub topics: Vec<Topic>,
    /// What can be asked for.
    pub needs: Vec<Need>,
    /// Topics by how much they are talked about now, the most first.
    pub ranks: Vec<usize>,
    drift: f64,
    dice: Dice,
    unborn: Vec<&'static str>,
}

/// A file as it is written.
pub struct Written {
    /// Path relative to the workspace.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// How steep the distribution over topics is.
pub const TOPIC_ZIPF: f64 = 1.0;
/// Projects there are on the first day.
const FIRST_PROJECTS: usize = 12;

impl World {
    /// A workspace as it is on the first day, and its files. `drift` is how fast what matters changes: 1 as stated in
    /// the documentation, 0 not at all.
    pub fn new(seed: u64, drift: f64) -> (Self, Vec<Written>) {
        let mut world = Self {
            topics: Vec::new(),
            needs: Vec::new(),
            ranks: Vec::new(),
            drift,
            dice: Dice::new(seed, "world"),
            unborn: words::PROJECTS[FIRST_PROJECTS..].iter().rev().copied().collect(),
        };
        let kinds = [
            (Kind::Project, &words::PROJECTS[..FIRST_PROJECTS]),
            (Kind::System, &words::SYSTEMS[..]),
            (Kind::Person, &words::PEOPLE[..]),
            (Kind::Practice, &words::PRACTICES[..]),
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
        let mut files: Vec<Written> = (0..world.topics.len()).map(|topic| world.file(topic)).collect();
        files.extend(templates::root_files());
        (world, files)
    }

    /// A topic comes to be.
    fn begin(&mut self, kind: Kind, name: &str, day: usize) {
        let slug = name.to_lowercase().replace(' ', "-");
        let path = match kind {
            Kind::Project => format!("projects/{slug}/PROJECT.md"),
            Kind::System => format!("knowledge/systems/{slug}.md"),
            Kind::Person => format!("knowledge/people/{slug}.md"),
            Kind::Practice => format!("knowledge/practices/{slug}.md"),
        };
        let topic = self.topics.len();
        let mut facts = Vec::new();
        for fact in templates::facts(kind, &mut self.dice) {
            self.needs.push(Need {
                questions: fact.questions(name),
                gold: vec![pointer(&path, fact.title())],
                told: day,
                event: false,
                asked: 0,
            });
            facts.push((fact, self.needs.len() - 1));
        }
        self.topics.push(Topic {
            kind,
            name: name.to_owned(),
            path,
            facts,
            events: Vec::new(),
        });
        self.ranks.push(topic);
    }

    /// The file of a topic as it is now.
    fn file(&self, topic: usize) -> Written {
        let topic = &self.topics[topic];
        let mut text = format!("# {}\n", topic.name);
        for (fact, _) in &topic.facts {
            text += &format!("\n## {}\n\n{}\n", fact.title(), fact.told(&topic.name));
        }
        Written {
            path: topic.path.clone(),
            text,
        }
    }

    /// A day passes: what is told in its log, and the files that change. `busy` is how much happens.
    pub fn day(&mut self, day: usize, date: &str, busy: usize) -> Vec<Written> {
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
            // A fact changes about once in a dozen tellings, and the log says so.
            let mut more = String::new();
            if self.dice.happens(CHANGES) {
                let count = self.topics[topic].facts.len();
                let at = self.dice.below(count);
                let name = self.topics[topic].name.clone();
                let need = self.topics[topic].facts[at].1;
                let mut changed = self.topics[topic].facts[at].0.clone();
                changed.change(&mut self.dice);
                more = format!("- New: {}\n", changed.fact(&name));
                // Most people correct the file, too; what is told in the log alone is told nowhere else.
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
            self.needs.push(Need {
                questions: event.questions,
                gold: vec![pointer(&path, &section)],
                told: day,
                event: true,
                asked: 0,
            });
        }
        if !told.is_empty() {
            files.push(Written { path, text: log });
        }
        files
    }

    /// How often something happens that is expected this often.
    fn times(&mut self, expected: f64) -> usize {
        expected as usize + usize::from(self.dice.happens(expected.fract()))
    }

    /// A week passes: what is talked about drifts. Answers files that come or go.
    pub fn week(&mut self, week: usize, day: usize) -> Vec<Written> {
        for _ in 0..(SWAPS as f64 * self.drift) as usize {
            let at = self.dice.below(self.ranks.len() - 1);
            self.ranks.swap(at, at + 1);
        }
        // Something comes into focus, and something else is done with.
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
            .position(|topic| self.topics[*topic].kind == Kind::Project);
        if let Some(at) = done {
            let topic = self.ranks.remove(at);
            self.ranks.push(topic);
        }
        let Some(name) = self.unborn.pop() else {
            return Vec::new();
        };
        self.begin(Kind::Project, name, day);
        let topic = self.topics.len() - 1;
        self.ranks.pop();
        let to = self.dice.below(4);
        self.ranks.insert(to, topic);
        vec![self.file(topic)]
    }
}

/// How often a telling changes a fact.
pub const CHANGES: f64 = 0.08;
/// How often a changed fact is corrected in its file, too.
pub const CORRECTED: f64 = 0.75;
/// How often a telling repeats a fact.
pub const RETOLD: f64 = 0.25;
/// Neighbours in rank that change places in a week.
pub const SWAPS: usize = 12;
/// How likely a topic comes into focus in a week.
pub const FOCUS: f64 = 0.5;
/// Weeks between two projects that begin.
pub const PROJECT_WEEKS: usize = 5;

fn pointer(path: &str, section: &str) -> Pointer {
    Pointer {
        path: path.to_owned(),
        section: Some(section.to_owned()),
    }
}
