//! Messages of a transcript, independent of its format, and their ids.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A person, or a program that acts for a person.
    User,
    /// The agent.
    Assistant,
    /// A tool that returns a result.
    Tool,
    /// Any other author: the system, a hook.
    Other,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// Author of the message.
    pub role: Role,
    /// For a tool result, the name of the tool; for [`Role::Other`], the role as written; may be empty.
    pub name: Cow<'a, str>,
    /// The text of the message or tool result.
    pub text: Cow<'a, str>,
    /// The tool calls, one per line: `name(key=value, …)`.
    pub calls: String,
    /// True if the tool failed.
    pub error: bool,
    /// True if `name` is the id of a tool call instead of the name of a tool.
    pub by_call: bool,
}

impl<'a> Message<'a> {
    /// Creates a message with a text and no calls.
    #[must_use]
    pub fn new(role: Role, text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            role,
            name: Cow::Borrowed(""),
            text: text.into(),
            calls: String::new(),
            error: false,
            by_call: false,
        }
    }

    /// Sets the name.
    #[must_use]
    pub fn with_name(self, name: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// Creates the result of the tool call with this id.
    #[must_use]
    pub fn result_of(call: Option<&'a str>, text: impl Into<Cow<'a, str>>, error: bool) -> Self {
        Self {
            name: Cow::Borrowed(call.unwrap_or_default()),
            error,
            by_call: true,
            ..Self::new(Role::Tool, text)
        }
    }

    /// Returns the text followed by the calls. The id of the message is the hash of this content.
    #[must_use]
    pub fn content(&self) -> Cow<'_, str> {
        if self.calls.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        if self.text.is_empty() {
            return Cow::Borrowed(&self.calls);
        }
        Cow::Owned(format!("{}\n{}", self.text, self.calls))
    }
}

/// Id of content: `m` and nine characters that are computed from the hash of the bytes. The same content has the same
/// id in every session.
///
/// An id has 45 bits, enough to distinguish the messages of one session. Among the contents of a hundred million
/// messages, collisions are certain. A store of many sessions must therefore keep the full hash of the content of each
/// message and report ambiguous ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortContentId(u64);

impl ShortContentId {
    /// Length of a written id in bytes.
    pub const LENGTH: usize = 10;

    /// Computes the id of a text.
    #[must_use]
    pub fn from_content(content: &str) -> Self {
        let hash = blake3::hash(content.as_bytes());
        let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        Self(u64::from_be_bytes(first) >> (64 - Self::BITS))
    }

    /// Number of hash bits in an id.
    pub const BITS: u32 = 45;

    /// Parses a written id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let letters = text.strip_prefix('m').filter(|rest| rest.len() == 9)?;
        let value = |letter: u8| LETTERS.iter().position(|one| *one == letter).map(|at| at as u64);
        let mut id = 0;
        for letter in letters.bytes() {
            id = id << 5 | value(letter)?;
        }
        Some(Self(id))
    }

    /// Returns the first [`Self::BITS`] bits of the BLAKE3 hash of the content.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// Characters of an id: digits and letters, without letters that are easily confused.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

impl fmt::Display for ShortContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('m')?;
        let mut letters = (0..9)
            .rev()
            .map(|place| LETTERS[(self.0 >> (place * 5) & 31) as usize]);
        letters.try_for_each(|letter| f.write_char(char::from(letter)))
    }
}
