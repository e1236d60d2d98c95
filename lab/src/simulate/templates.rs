//! Templates for facts, events and questions of the simulated workspace.

use super::dice::Dice;
use super::words;
use super::world::{TopicKind, WorldFile};

/// A fact that stays the same until it changes: a sentence template and its values.
#[derive(Debug, Clone)]
pub struct ChangingFact {
    form: &'static FactForm,
    values: Vec<String>,
    filler: usize,
}

/// Templates for one kind of fact.
#[derive(Debug)]
struct FactForm {
    title: &'static str,
    /// Sentence of the fact. `{T}` is the topic, and `{0}`, `{1}` are the values.
    told: &'static str,
    /// Additional sentence in the fact's section.
    beside: &'static str,
    values: &'static [FactValue],
    /// Two questions. The first uses the words of the file, the second uses other words.
    asked: [&'static str; 2],
}

/// Generator of a value.
#[derive(Debug, Clone, Copy)]
enum FactValue {
    Of(&'static [&'static str]),
    Number(usize, usize),
    Time,
    Month,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl FactValue {
    fn throw(self, dice: &mut Dice) -> String {
        match self {
            Self::Of(words) => (*dice.pick(words)).to_owned(),
            Self::Number(least, most) => dice.between(least, most).to_string(),
            Self::Time => format!("{:02}:{:02}", dice.below(24), dice.below(4) * 15),
            Self::Month => format!("{} {}", dice.between(1, 28), dice.pick(&MONTHS)),
        }
    }
}

const PROJECT: [FactForm; 6] = [
    FactForm {
        title: "Goal",
        told: "{T} {0} for {1}.",
        beside: "The first version went out before the summer.",
        values: &[FactValue::Of(&words::GOALS), FactValue::Of(&words::CLIENTS)],
        asked: ["What is the goal of {T}?", "Which client do we build {T} for?"],
    },
    FactForm {
        title: "Deployment",
        told: "{T} is deployed to {0} with {1}; a rollout takes {2} minutes.",
        beside: "Rollbacks use the same pipeline with the tag before.",
        values: &[
            FactValue::Of(&words::PLACES),
            FactValue::Of(&words::TOOLS),
            FactValue::Number(3, 55),
        ],
        asked: [
            "How is {T} deployed?",
            "Where does {T} run and how long is a rollout?",
        ],
    },
    FactForm {
        title: "Database",
        told: "{T} stores its data in {0} on port {1}.",
        beside: "Migrations are applied at startup, never by hand.",
        values: &[FactValue::Of(&words::TOOLS), FactValue::Number(1_100, 9_900)],
        asked: [
            "Which database does {T} use?",
            "On what port does the storage of {T} listen?",
        ],
    },
    FactForm {
        title: "Owners",
        told: "{0} owns {T}; {1} reviews its changes.",
        beside: "Both are in the release channel.",
        values: &[FactValue::Of(&words::PEOPLE), FactValue::Of(&words::PEOPLE)],
        asked: ["Who owns {T}?", "Whom do I ask for a review of {T} changes?"],
    },
    FactForm {
        title: "Milestones",
        told: "The next milestone of {T} is due on {0}: the {1}.",
        beside: "The one before was two weeks late.",
        values: &[FactValue::Month, FactValue::Of(&words::PARTS)],
        asked: ["When is the next milestone of {T}?", "What is due next for {T}?"],
    },
    FactForm {
        title: "Known problems",
        told: "The {0} of {T} stops now and then because of {1}.",
        beside: "A restart helps for some days.",
        values: &[FactValue::Of(&words::PARTS), FactValue::Of(&words::CAUSES)],
        asked: [
            "Which known problems does {T} have?",
            "Why does {T} stop now and then?",
        ],
    },
];

const SYSTEM: [FactForm; 5] = [
    FactForm {
        title: "Hosts",
        told: "The {T} runs in {0} on {1} machines.",
        beside: "They are named after rivers.",
        values: &[FactValue::Of(&words::PLACES), FactValue::Number(2, 40)],
        asked: [
            "On which hosts does the {T} run?",
            "How many machines does the {T} have?",
        ],
    },
    FactForm {
        title: "Backups",
        told: "Backups of the {T} start at {0} with {1} and are kept for {2} days.",
        beside: "A restore is tried once a quarter.",
        values: &[
            FactValue::Time,
            FactValue::Of(&words::TOOLS),
            FactValue::Number(7, 400),
        ],
        asked: [
            "When do backups of the {T} start?",
            "How long do we keep copies of the {T}?",
        ],
    },
    FactForm {
        title: "Alerts",
        told: "The {T} pages {0} when errors exceed {1} percent.",
        beside: "At night it waits for ten minutes first.",
        values: &[FactValue::Of(&words::PEOPLE), FactValue::Number(1, 20)],
        asked: [
            "Who gets alerts of the {T}?",
            "From how many errors on does the {T} page a person?",
        ],
    },
    FactForm {
        title: "Limits",
        told: "The {T} takes at most {0} {1} a second.",
        beside: "What is more waits in line.",
        values: &[FactValue::Number(10, 9_000), FactValue::Of(&words::UNITS)],
        asked: [
            "What are the limits of the {T}?",
            "How much can the {T} take a second?",
        ],
    },
    FactForm {
        title: "Access",
        told: "Access to the {T} is granted by {0} through {1}.",
        beside: "It ends with the contract.",
        values: &[FactValue::Of(&words::PEOPLE), FactValue::Of(&words::TOOLS)],
        asked: ["Who grants access to the {T}?", "How do I get into the {T}?"],
    },
];

const PERSON: [FactForm; 4] = [
    FactForm {
        title: "Role",
        told: "{T} is {0} in {1}.",
        beside: "Before that there were years at sea.",
        values: &[FactValue::Of(&words::ROLES), FactValue::Of(&words::PLACES)],
        asked: ["What is the role of {T}?", "Where does {T} work?"],
    },
    FactForm {
        title: "Contact",
        told: "Reach {T} through {0}, best at {1}.",
        beside: "Mail is read on Mondays only.",
        values: &[FactValue::Of(&words::TOOLS), FactValue::Time],
        asked: ["How do I contact {T}?", "When can I reach {T} best?"],
    },
    FactForm {
        title: "Preferences",
        told: "{T} prefers {0}.",
        beside: "This came up in the last talk.",
        values: &[FactValue::Of(&words::LIKINGS)],
        asked: ["What does {T} prefer?", "How does {T} like to work?"],
    },
    FactForm {
        title: "Birthday",
        told: "{T} was born on {0}.",
        beside: "Cake is always welcome.",
        values: &[FactValue::Month],
        asked: ["When is the birthday of {T}?", "On which day was {T} born?"],
    },
];

const PRACTICE: [FactForm; 4] = [
    FactForm {
        title: "Steps",
        told: "For {T}, fill in the {0} first and send it to {1}.",
        beside: "The form is in the shared folder.",
        values: &[FactValue::Of(&words::PARTS), FactValue::Of(&words::PEOPLE)],
        asked: ["What are the steps of {T}?", "How do we start with {T}?"],
    },
    FactForm {
        title: "Deadline",
        told: "Everything about {T} is to be done within {0} days.",
        beside: "Reminders go out after half of the time.",
        values: &[FactValue::Number(2, 60)],
        asked: ["What is the deadline for {T}?", "How much time is there for {T}?"],
    },
    FactForm {
        title: "Exceptions",
        told: "{0} may leave out {T} when there is {1}.",
        beside: "This has to be noted in the log.",
        values: &[FactValue::Of(&words::PEOPLE), FactValue::Of(&words::CAUSES)],
        asked: ["Which exceptions are there for {T}?", "When may {T} be left out?"],
    },
    FactForm {
        title: "Tools",
        told: "{T} is done in {0}; drafts are kept in {1}.",
        beside: "Paper copies are not needed any more.",
        values: &[FactValue::Of(&words::TOOLS), FactValue::Of(&words::TOOLS)],
        asked: ["Which tools are used for {T}?", "Where do I find drafts of {T}?"],
    },
];

/// Returns the facts of a new topic.
pub fn facts(kind: TopicKind, dice: &mut Dice) -> Vec<ChangingFact> {
    let forms: &'static [FactForm] = match kind {
        TopicKind::Project => &PROJECT,
        TopicKind::System => &SYSTEM,
        TopicKind::Person => &PERSON,
        TopicKind::Practice => &PRACTICE,
    };
    let mut fill = |form: &'static FactForm| ChangingFact {
        form,
        values: form.values.iter().map(|value| value.throw(dice)).collect(),
        filler: dice.below(words::FILLERS.len()),
    };
    forms.iter().map(&mut fill).collect()
}

impl ChangingFact {
    /// Returns the title of the section that contains the fact.
    pub fn title(&self) -> &'static str {
        self.form.title
    }

    /// Returns the fact as one sentence.
    pub fn fact(&self, topic: &str) -> String {
        let told = self
            .values
            .iter()
            .enumerate()
            .fold(self.form.told.to_owned(), |told, (at, value)| {
                told.replace(&format!("{{{at}}}"), value)
            });
        told.replace("{T}", topic)
    }

    /// Returns the text of the section that contains the fact.
    pub fn told(&self, topic: &str) -> String {
        format!(
            "{} {} {}",
            self.fact(topic),
            self.form.beside,
            words::FILLERS[self.filler]
        )
    }

    /// Returns the questions that the fact answers.
    pub fn questions(&self, topic: &str) -> Vec<String> {
        self.form
            .asked
            .iter()
            .map(|asked| asked.replace("{T}", topic))
            .collect()
    }

    /// Changes one value of the fact.
    pub fn change(&mut self, dice: &mut Dice) {
        let at = dice.below(self.values.len());
        self.values[at] = self.form.values[at].throw(dice);
    }
}

/// An event of one day.
pub struct SimulatedEvent {
    /// Title of the section that describes the event.
    pub title: String,
    /// Description in one sentence.
    pub told: String,
    /// Questions that the event answers.
    pub questions: Vec<String>,
}

/// Generates a random event of a topic.
pub fn event(topic: &str, dice: &mut Dice) -> SimulatedEvent {
    let part = *dice.pick(&words::PARTS);
    let (cause, tool, person) = (
        *dice.pick(&words::CAUSES),
        *dice.pick(&words::TOOLS),
        *dice.pick(&words::PEOPLE),
    );
    let (number, month) = (dice.between(12, 990), FactValue::Month.throw(dice));
    let (title, told, questions) = match dice.below(6) {
        0 => (
            format!("{topic}: outage"),
            format!("The {part} of {topic} failed because of {cause}."),
            [
                format!("Why did the {part} of {topic} fail?"),
                format!("What broke the {part} of {topic}?"),
            ],
        ),
        1 => (
            format!("{topic}: decision"),
            format!("Decided to use {tool} for the {part} of {topic} from {month} on."),
            [
                format!("What did we decide for the {part} of {topic}?"),
                format!("Which tool did we choose for the {part} of {topic}?"),
            ],
        ),
        2 => (
            format!("{topic}: call with {person}"),
            format!("{person} wants a new {part} for {topic} by {month}."),
            [
                format!("What did {person} want for {topic}?"),
                format!("Until when does {person} need the {part} of {topic}?"),
            ],
        ),
        3 => (
            format!("{topic}: measurements"),
            format!("The {part} of {topic} took {number} ms under load, due to {cause}."),
            [
                format!("How long did the {part} of {topic} take under load?"),
                format!("How slow was the {part} of {topic}?"),
            ],
        ),
        4 => (
            format!("{topic}: fix"),
            format!("Fixed the {part} of {topic}: it was {cause}, found with {tool}."),
            [
                format!("How was the {part} of {topic} fixed?"),
                format!("What was wrong with the {part} of {topic}?"),
            ],
        ),
        _ => (
            format!("{topic}: cost"),
            format!("{person} approved {number} euros for the {part} of {topic}."),
            [
                format!("How much was approved for the {part} of {topic}?"),
                format!("Who paid for the {part} of {topic}?"),
            ],
        ),
    };
    SimulatedEvent {
        title,
        told,
        questions: questions.into(),
    }
}

/// Returns the files in the root of the workspace, the same in every simulation.
pub fn root_files() -> Vec<WorldFile> {
    let files = [
        (
            "MEMORY.md",
            "# Memory\n\n## Rules\n\nNever deploy on a Friday afternoon. Always ask before money is spent.\n\n\
             ## Company\n\nThe office is in Bremen; the team has eighteen people and twelve clients.\n",
        ),
        (
            "USER.md",
            "# User\n\n## Preferences\n\nAnswers are to be short, with the source. Metric units, 24-hour times.\n\n\
             ## Working hours\n\nMonday to Friday, nine to six. Weekends only when something is down.\n",
        ),
        (
            "TOOLS.md",
            "# Tools\n\n## Shell\n\nLong jobs are started in tmux, and their logs are kept for a week.\n\n\
             ## Calendar\n\nThe shared calendar is read-only; changes go through the office.\n",
        ),
    ];
    files
        .into_iter()
        .map(|(path, text)| WorldFile {
            path: path.to_owned(),
            text: text.to_owned(),
        })
        .collect()
}
