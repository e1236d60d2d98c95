//! Which statements does a log or a node hold?
//!
//! The chunker says what is code, whose words a line is and under which heading it stands; fields, tags and check boxes say
//! what kind of statement it is. Code, traces, listings, comments and what hippod itself wrote between its marks state nothing.
//! Secrets are left out before anything else is looked at.

use super::label::{self, field, kind_of_title, leading_tag, tag};
pub use super::label::{Kind, MemoryType};
use crate::bootstrap::line::unmarked;
use crate::chunk::text::strip_comments;
use crate::chunk::{ChunkKind, Document, Speaker, chunk, chunk_text};
use crate::consolidation::MACHINE;
use crate::own_block::generated_ranges;
use crate::redact::lines_without_secrets;
use crate::retrieval::speaker;
use crate::source::SourceKind;
use crate::time::{Date, find_date};

/// A line of at least this many bytes may go on in the next one.
const FULL_LINE: usize = 60;
/// Most bytes of a line that are looked at: what is longer is data.
const LONGEST: usize = 8_000;
/// The section of a node for what has no section of its own.
pub(super) const NOTES: &str = "Notes";
/// The section of a node that lists its topics.
pub(super) const TOPICS: &str = "Topics";

/// One source of a node: a log, or a node below it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its path in the workspace, with `/`.
    pub path: &'a str,
    /// Its text without front matter.
    pub text: &'a str,
    /// The line of the file at which that text begins, from 1.
    pub first_line: u32,
    /// The day that it tells of, or begins with.
    pub date: Option<Date>,
}

/// Where a statement comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The line of the source on which it stands, from 1.
    Line(u32),
    /// The pointer that it carries, `path#Lx`.
    Given(Box<str>),
}

/// Something that a source states.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What it is.
    pub kind: Kind,
    /// Index into [`Reading::sections`].
    pub section: u32,
    /// On one line, without marks of lists and emphasis; of users and feedback as it stands.
    pub text: String,
    /// Where it comes from.
    pub place: Place,
    /// Who says it.
    pub speaker: Speaker,
    /// It is a part of a table or a quote.
    pub aside: bool,
}

/// A heading and what stands below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its title without its tag; empty for none.
    pub title: String,
    /// From its tag.
    pub kind: MemoryType,
}

/// What a source says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// In their order; there is at least one when there are statements.
    pub sections: Vec<Section>,
    /// In their order.
    pub statements: Vec<Statement>,
    /// What a node lists as its topics.
    pub topics: Vec<(String, MemoryType)>,
}

/// Reads a log or the body of a node. Never fails; what is in no known form is a note.
#[must_use]
pub fn read(source: &Source<'_>) -> Reading {
    let text = lines_without_secrets(source.text, false);
    let document = chunk(text.as_bytes());
    let mut reader = Reader {
        out: Reading::default(),
        headings: headings(&document),
        first_line: source.first_line.max(1),
        node: matches!(SourceKind::from_path(source.path), SourceKind::Node(_)),
        at: None,
    };
    let own = generated_ranges(text.as_bytes());
    for chunk in &document.chunks {
        let (start, end) = (chunk.start_byte, chunk.end_byte);
        let within = own
            .iter()
            .any(|range| (range.start as u64) < end && start < range.end as u64);
        if within || matches!(chunk.kind, ChunkKind::Code | ChunkKind::Heading) {
            continue;
        }
        reader.begin(chunk.section);
        let body = chunk_text(text.as_bytes(), chunk);
        let mut open: Option<(u32, String)> = None;
        for (number, line) in (chunk.start_line..).zip(body.lines()) {
            let trimmed = line.trim();
            let fresh = trimmed.starts_with(['-', '*', '+', '>', '|', '#', '<'])
                || trimmed.starts_with(|first: char| first.is_ascii_digit());
            match open
                .as_mut()
                .filter(|(_, before)| goes_on(before) && !fresh && !trimmed.is_empty())
            {
                Some((_, before)) => {
                    before.push(' ');
                    before.push_str(trimmed);
                }
                None => {
                    let before = open.replace((number, trimmed.to_owned()));
                    reader.line(before, chunk.kind, chunk.speaker);
                }
            }
        }
        reader.line(open, chunk.kind, chunk.speaker);
    }
    reader.out
}

/// Whether a line of prose was wrapped.
fn goes_on(line: &str) -> bool {
    (FULL_LINE..LONGEST).contains(&line.len())
        && label::pointer(line).1.is_none()
        && !line.ends_with(['.', '!', '?', ':', '。', '！', '？', '|', '>', ')', '"'])
}

/// What a heading, with those above it, says about the lines below.
#[derive(Debug, Clone)]
struct Heading {
    title: String,
    tag: Option<MemoryType>,
    kind: Option<Kind>,
    /// Each line below is about something of its own.
    loose: bool,
    topics: bool,
}

fn headings(document: &Document) -> Vec<Heading> {
    let mut out: Vec<Heading> = Vec::with_capacity(document.sections.len());
    for section in &document.sections {
        let (title, own) = tag(&section.title);
        let parent = section.parent.and_then(|parent| out.get(parent as usize));
        let kind = kind_of_title(title);
        let above = parent.and_then(|parent| parent.tag);
        // A section of decisions says what its lines are, the heading above it what they are about.
        let about = parent.filter(|parent| kind.is_some() && section.level > 2 && parent.kind.is_none());
        let heading = Heading {
            title: match about {
                Some(parent) => parent.title.clone(),
                None if kind.is_some() || section.date.is_some() || title == NOTES => String::new(),
                None => unmarked(title),
            },
            tag: own.or(above),
            kind,
            loose: title == NOTES || kind.is_some(),
            topics: title == TOPICS,
        };
        out.push(heading);
    }
    out
}

struct Reader {
    out: Reading,
    headings: Vec<Heading>,
    first_line: u32,
    /// The source is a node of the tree, whose lines hippod, or a summary, wrote.
    node: bool,
    /// The section of the document that the last section of the reading is of.
    at: Option<u32>,
}

impl Reader {
    fn begin(&mut self, section: u32) {
        if self.at != Some(section) {
            self.at = Some(section);
            let heading = self.headings.get(section as usize);
            self.out.sections.push(Section {
                title: heading.map(|heading| heading.title.clone()).unwrap_or_default(),
                kind: heading.and_then(|heading| heading.tag).unwrap_or_default(),
            });
        }
    }

    fn line(&mut self, line: Option<(u32, String)>, chunk: ChunkKind, speaker: Speaker) {
        let Some((number, line)) = line else { return };
        let shown = strip_comments(&line);
        let shown = shown.trim();
        if shown.starts_with("<!--") || shown.len() > LONGEST || is_machine(shown) {
            return;
        }
        let (said, given) = label::pointer(shown);
        let heading = self.at.and_then(|at| self.headings.get(at as usize));
        if heading.is_some_and(|heading| heading.topics) {
            let topics = said.trim_start_matches(['-', ' ']).split(", ").map(tag);
            let before = self.out.topics.len();
            self.out
                .topics
                .extend(topics.filter_map(|(name, kind)| Some((name.to_owned(), kind?))));
            if self.out.topics.len() > before {
                return;
            }
        }
        let (mut kind, tagged) = match heading {
            Some(heading) => (heading.kind.unwrap_or_default(), heading.tag),
            None => (Kind::Note, None),
        };
        let (title, loose) = heading.map_or((String::new(), false), |heading| {
            (heading.title.clone(), heading.loose)
        });
        // Only a node has sections of the user and of feedback: elsewhere such a heading names who speaks.
        let given = given.filter(|_| self.node || !matches!(kind, Kind::User | Kind::Feedback));
        if matches!(kind, Kind::User | Kind::Feedback) && given.is_none() {
            kind = Kind::Note;
        }
        let (boxed, bare) = check_box(said);
        let listed = bare.len() < said.len();
        let (leading, bare) = leading_tag(bare);
        // An assistant, or somebody who is quoted, cannot speak for the user.
        let others = matches!(speaker, Speaker::Assistant | Speaker::Other) && given.is_none();
        let tagged = leading.or(tagged).filter(|tag| !others || !is_kept(*tag));
        let says_feedback = |bare: &str| matches!(field(bare), Some((Kind::Feedback, _)));
        // `- user feedback: …` is what a log has; a paragraph or a numbered point of that name is anybody's.
        let feedback = speaker == Speaker::User || listed && !others && says_feedback(bare);
        let kept = kind;
        kind = match (boxed, tagged) {
            (_, Some(MemoryType::User)) => Kind::User,
            (_, Some(MemoryType::Feedback)) => Kind::Feedback,
            _ if matches!(kept, Kind::User | Kind::Feedback) => kept,
            (Some(true), _) => Kind::Task,
            (Some(false), _) => Kind::Open,
            _ => kind,
        };
        let verbatim = matches!(kind, Kind::User | Kind::Feedback);
        let mut text = match boxed {
            _ if !verbatim => unmarked(bare),
            // Whether it is done is a part of what was said.
            Some(done) => format!("[{}] {bare}", if done { 'x' } else { ' ' }),
            None => bare.to_owned(),
        };
        if !verbatim
            && given.is_none()
            && let Some((named, said)) = field(&text)
            && !said.is_empty()
            && (named != Kind::Feedback || feedback)
        {
            kind = named;
            if named != Kind::Feedback {
                text = said.to_owned();
            }
        }
        let speaker = if given.is_some() { Speaker::None } else { speaker };
        if matches!(speaker, Speaker::User | Speaker::Assistant) && speaker::name(&text).is_some() {
            text = text
                .split_once(':')
                .map_or_else(String::new, |(_, said)| said.trim().to_owned());
        }
        // In a section of its own a line says what it is about itself; elsewhere the heading says it.
        let functional = !matches!(kind, Kind::Note | Kind::User | Kind::Feedback | Kind::Entity);
        if functional
            && given.is_none()
            && !title.is_empty()
            && !text.contains(&title)
            && (kind != kept || loose)
        {
            text = format!("{title}: {text}");
        }
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        if loose && given.is_some() && kind == Kind::Note {
            self.out.sections.push(Section {
                title: String::new(),
                kind: MemoryType::Project,
            });
        }
        let line = number.saturating_add(self.first_line - 1);
        self.out.statements.push(Statement {
            kind,
            section: u32::try_from(self.out.sections.len().saturating_sub(1)).unwrap_or(u32::MAX),
            text,
            place: given.map_or(Place::Line(line), |given| Place::Given(given.into())),
            speaker,
            aside: matches!(chunk, ChunkKind::Table | ChunkKind::Quote),
        });
    }
}

/// Whether statements of this type are kept word for word and never fade.
const fn is_kept(tag: MemoryType) -> bool {
    matches!(tag, MemoryType::User | MemoryType::Feedback)
}

/// Whether a line has a check box, and what stands behind it or behind the mark of its list.
fn check_box(line: &str) -> (Option<bool>, &str) {
    let line = line.trim_start_matches(['>', ' ', '\t']);
    let Some(item) = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) else {
        return (None, line);
    };
    for (mark, done) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
        if let Some(rest) = item.strip_prefix(mark) {
            return (Some(done), rest);
        }
    }
    (None, item)
}

/// Whether a line is of a machine's: a frame of a trace, a listing, numbers, a call to an agent.
fn is_machine(line: &str) -> bool {
    if MACHINE.iter().any(|mark| line.contains(mark)) {
        return true;
    }
    // What a log says of itself: `Session Date: 2026-01-10`.
    let dated = line.split_once(':').is_some_and(|(_, value)| {
        let value = value.trim();
        value.len() <= 10 && find_date(value).is_some()
    });
    let frame = (line.starts_with("at ") && line.ends_with(')') && line.contains(':'))
        || (line.starts_with("File \"") && line.contains("\", line "));
    let listing = line.len() > 11
        && matches!(line.as_bytes()[0], b'-' | b'd' | b'l')
        && line.as_bytes()[1..10].iter().all(|byte| b"rwxst-".contains(byte))
        && line.as_bytes()[10] != b'-';
    let letters = line.chars().filter(|mark| mark.is_alphabetic()).count();
    let marks = line.chars().filter(|mark| !mark.is_whitespace()).count();
    dated
        || frame
        || listing
        || (marks > 24 && letters * 3 < marks)
        || line.contains("├──")
        || line.contains("└──")
}

#[cfg(test)]
mod tests;
