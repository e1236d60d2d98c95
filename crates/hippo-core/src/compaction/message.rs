//! What is a message of a transcript, whichever program wrote it, and by which id is it known?

use std::borrow::Cow;
use std::fmt;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A person, or whoever stands for one.
    User,
    /// The agent.
    Assistant,
    /// A tool that answers.
    Tool,
    /// Anybody else: the system, a hook.
    Other,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// Who speaks.
    pub role: Role,
    /// The tool that answers, or the role as written where it is another one; may be empty.
    pub name: Cow<'a, str>,
    /// What is said, or answered.
    pub text: Cow<'a, str>,
    /// The calls of tools, one a line: `name(key=value, …)`.
    pub calls: String,
    /// A tool that failed.
    pub error: bool,
    /// The name above is the id of a call, whose tool is to be looked up.
    pub by_call: bool,
}

impl<'a> Message<'a> {
    /// A message that only says something.
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

    /// The same by somebody or something with a name.
    #[must_use]
    pub fn named(self, name: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// The same, borrowed from nothing.
    #[must_use]
    pub fn into_owned(self) -> Message<'static> {
        Message {
            role: self.role,
            name: Cow::Owned(self.name.into_owned()),
            text: Cow::Owned(self.text.into_owned()),
            calls: self.calls,
            error: self.error,
            by_call: self.by_call,
        }
    }

    /// All of it: what is said, then what is called. This is what its id stands for.
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

/// The id of a content: `m` and nine characters, from the hash of its bytes. The same content has the same id in every session.
///
/// 45 bits tell the messages of a session apart; among a hundred million contents two share one id for certain. Who keeps
/// contents of many sessions keeps the whole hash of each beside it, and says so where an id stands for several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId(u64);

impl ContentId {
    /// Bytes of an id as written.
    pub const LENGTH: usize = 10;

    /// The id of a text.
    #[must_use]
    pub fn of(content: &str) -> Self {
        Self::of_hash(&blake3::hash(content.as_bytes()))
    }

    /// The id of a text by its hash.
    #[must_use]
    pub fn of_hash(hash: &blake3::Hash) -> Self {
        let mut first = [0; 8];
        first.copy_from_slice(&hash.as_bytes()[..8]);
        Self(u64::from_be_bytes(first) >> (64 - Self::BITS))
    }

    /// The id of a number that [`ContentId::bits`] gave.
    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

impl ContentId {
    /// Bits of the hash that an id says.
    pub const BITS: u32 = 45;

    /// An id as it is written.
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

    /// The first [`Self::BITS`] bits of the BLAKE3 of the content, as a number.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// Digits and letters without those that are easily taken for others.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = [b'm'; Self::LENGTH];
        for (place, letter) in written[1..].iter_mut().rev().enumerate() {
            *letter = LETTERS[usize::try_from(self.0 >> (place * 5) & 31).unwrap_or(0)];
        }
        f.write_str(std::str::from_utf8(&written).unwrap_or_default())
    }
}
