//! The file of a node: front matter, writer and body.

use std::borrow::Cow;

use hippo_text::own_block::{self, BlockMarks};
use hippo_types::names;
use hippo_types::time::{Date, find_date};

use super::period::Period;

/// Name of the block that hippod appends to a submitted body. The block contains statements that are newer than the
/// body.
pub const SINCE: &str = "since";

/// State of a node's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeStatus {
    /// The period is not closed yet.
    Tentative,
    /// The period is closed.
    Fixed,
    /// An external writer should write the body.
    NeedsSummarization,
}

names!(NodeStatus { Tentative => "tentative", Fixed => "fixed", NeedsSummarization => "needs-summarization" });

/// Author of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BodyAuthor {
    /// hippod, which made the body from the sources alone and can regenerate it at any time.
    Hippod,
    /// An agent or a person who replaced the text of hippod.
    Agent,
    /// An unknown author: the node existed before hippod.
    Unknown,
}

impl BodyAuthor {
    /// Returns the name of the author in the front matter, or `None` for an unknown author.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Hippod => Some("hippod"),
            Self::Agent => Some("agent"),
            Self::Unknown => None,
        }
    }
}

/// The first 8 bytes of a BLAKE3 hash, written as hexadecimal digits in the front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Returns the fingerprint of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let hash = blake3::hash(bytes);
        let first = hash.as_bytes().iter().take(8);
        Self(first.fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    }

    /// Returns the combined fingerprint of sources, from their paths and fingerprints in the given order.
    #[must_use]
    pub fn of_all<'a>(sources: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        let sources = sources
            .into_iter()
            .map(|(path, digest)| format!("{path}\n{digest}\n"));
        Self::of(sources.collect::<String>().as_bytes())
    }

    /// Parses 16 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        digits.then(|| u64::from_str_radix(text, 16).ok().map(Self))?
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A node as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The period of the node.
    pub period: Period,
    /// State of the body; `None` if the file contains no status.
    pub status: Option<NodeStatus>,
    /// Files that the node was made from, relative to the workspace.
    pub sources: Vec<String>,
    /// Topics with their types, as one line.
    pub topics: String,
    /// Number of source lines before extraction; `None` if the body copies the sources verbatim.
    pub lines: Option<usize>,
    /// Date on which `ROOT.md` was made.
    pub updated: Option<Date>,
    /// Fingerprint of the sources when the node was made.
    pub source_digest: Option<Fingerprint>,
    /// Author of the body; [`BodyAuthor::Agent`] if hippod wrote the body and another author changed it.
    pub writer: BodyAuthor,
    /// Other lines of the front matter.
    pub others: Vec<String>,
    /// The text after the front matter, without leading empty lines.
    pub body: String,
}

impl Node {
    /// Creates a node written by hippod.
    #[must_use]
    pub fn new(
        period: Period,
        status: NodeStatus,
        sources: Vec<String>,
        source_digest: Option<Fingerprint>,
        body: String,
    ) -> Self {
        Self {
            period,
            status: Some(status),
            sources,
            topics: String::new(),
            lines: None,
            updated: None,
            source_digest,
            writer: BodyAuthor::Hippod,
            others: Vec::new(),
            body,
        }
    }

    /// Parses the text of a node's file. Any text is a valid node; without front matter, the whole text is the body.
    #[must_use]
    pub fn read(period: Period, text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (front, body) = split(text);
        let body = body.trim_start_matches(['\n', '\r']).to_owned();
        let mut node = Self {
            status: None,
            writer: BodyAuthor::Unknown,
            ..Self::new(period, NodeStatus::Tentative, Vec::new(), None, body)
        };
        let mut body_digest = None;
        for line in front.lines() {
            let Some((key, value)) = line.split_once(':') else {
                node.others
                    .extend((!line.trim().is_empty()).then(|| line.to_owned()));
                continue;
            };
            let value = value.trim();
            match key {
                "type" | "period" | "dates" | "weeks" => {}
                "lines" => node.lines = value.parse().ok(),
                "status" => node.status = value.parse().ok(),
                "source-files" => node.sources = list(value),
                "topics" => strip_brackets(value).clone_into(&mut node.topics),
                "last-updated" => node.updated = find_date(value),
                "source-digest" => node.source_digest = Fingerprint::parse(value),
                "body-digest" => body_digest = Fingerprint::parse(value),
                "written-by" => {
                    let known = [BodyAuthor::Hippod, BodyAuthor::Agent];
                    let named = known.into_iter().find(|writer| writer.name() == Some(value));
                    node.writer = named.unwrap_or(BodyAuthor::Unknown);
                }
                _ => node.others.push(line.to_owned()),
            }
        }
        if node.writer == BodyAuthor::Hippod && body_digest != Some(node.digest()) {
            node.writer = BodyAuthor::Agent;
        }
        node
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn write(&self) -> String {
        let mut out = String::with_capacity(self.body.len() + 512);
        let mut line = |key: &str, value: &str| out += &format!("{key}: {value}\n");
        line("type", self.period.level().name());
        line("status", self.status.unwrap_or(NodeStatus::Tentative).name());
        if self.period != Period::All {
            line("period", &self.period.to_string());
        }
        if let (Period::Week(_), Some(first), Some(last)) =
            (self.period, self.period.first_day(), self.period.last_day())
        {
            line("dates", &format!("{first} to {last}"));
        }
        if let Period::Month(_) = self.period {
            let weeks = self.sources.iter().filter_map(|path| Period::of_path(path));
            let weeks: Vec<String> = weeks.map(|week| week.to_string()).collect();
            line("weeks", &weeks.join(", "));
        }
        if let Some(updated) = self.updated {
            line("last-updated", &updated.to_string());
        }
        line("source-files", &format!("[{}]", self.sources.join(", ")));
        if !self.topics.is_empty() {
            line("topics", &self.topics);
        }
        if let Some(lines) = self.lines {
            line("lines", &lines.to_string());
        }
        if let Some(digest) = self.source_digest {
            line("source-digest", &digest.to_string());
        }
        if self.writer == BodyAuthor::Hippod {
            line("body-digest", &self.digest().to_string());
        }
        if let Some(writer) = self.writer.name() {
            line("written-by", writer);
        }
        let others: String = self
            .others
            .iter()
            .flat_map(|line| [line.as_str(), "\n"])
            .collect();
        let has_end = self.body.is_empty() || self.body.ends_with('\n');
        let end = if has_end { "" } else { "\n" };
        format!("---\n{out}{others}---\n\n{}{end}", self.body)
    }

    /// Returns the fingerprint of the body, which is the digest of this node as a source. It does not depend on the
    /// status.
    #[must_use]
    pub fn digest(&self) -> Fingerprint {
        Fingerprint::of(self.body.trim_end().as_bytes())
    }

    /// Returns true if hippod requests the body from an external writer.
    ///
    /// The period must be closed, and the current body must be written by hippod or be older than its sources. hippod
    /// does not request a submitted body again while the sources are unchanged, regardless of the status.
    #[must_use]
    pub fn is_wanted(&self, today: Date) -> bool {
        self.status == Some(NodeStatus::NeedsSummarization)
            && self.period.is_fixed(today)
            && (self.writer == BodyAuthor::Hippod || self.is_behind())
    }

    /// Returns true if the body was written by others and has an appended block of newer statements.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        // A damaged block counts as a block.
        self.writer != BodyAuthor::Hippod && !matches!(own_block::body(self.body.as_bytes(), SINCE), Ok(None))
    }

    /// Returns the body without the block of newer statements.
    #[must_use]
    pub fn own_body(&self) -> Cow<'_, str> {
        match BlockMarks::MARKDOWN.span(self.body.as_bytes(), SINCE) {
            Ok(Some(block)) => [&self.body[..block.start], &self.body[block.end..]]
                .concat()
                .into(),
            // A damaged block counts as text of the author.
            Ok(None) | Err(_) => self.body.as_str().into(),
        }
    }

    /// Returns true if another program or a person wrote the whole file: it has content, none of which hippod wrote.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let mut lines = self.body.lines().map(str::trim);
        self.writer == BodyAuthor::Unknown
            && lines.any(|line| !line.is_empty() && !line.starts_with(['#', '<']))
    }

    /// Returns true if the file only reserves the place for a body to be written later.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        /// Maximum number of lines of a placeholder, without blank lines.
        const MOST_LINES: usize = 6;
        self.writer == BodyAuthor::Unknown
            && self.status == Some(NodeStatus::NeedsSummarization)
            && self.body.lines().filter(|line| !line.trim().is_empty()).count() <= MOST_LINES
            && self.body.contains("needs LLM summarization")
    }
}

/// Returns the key-value pairs of a text's front matter.
pub(super) fn front_matter_pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = split(text).0.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(key, value)| (key.trim(), value.trim()))
}

/// Splits a text into front matter and body; a text without front matter is all body.
fn split(text: &str) -> (&str, &str) {
    let mut lines = text.split_inclusive('\n');
    let is_mark = |line: &str| line.trim_end() == "---";
    let Some(first) = lines.next().filter(|line| is_mark(line)) else {
        return ("", text);
    };
    let mut at = first.len();
    for line in lines {
        if is_mark(line) {
            return (&text[first.len()..at], &text[at + line.len()..]);
        }
        at += line.len();
    }
    ("", text)
}

/// Returns a value without the brackets that enclose it.
fn strip_brackets(value: &str) -> &str {
    let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.unwrap_or(value).trim()
}

/// Parses a list such as `[a, b]`; the brackets are optional.
fn list(value: &str) -> Vec<String> {
    let parts = strip_brackets(value)
        .split(',')
        .map(|part| part.trim().trim_matches(['"', '\'']));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}
