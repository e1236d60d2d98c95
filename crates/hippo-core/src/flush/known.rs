//! By what is a message known again, also one that does not say when it was said?

use std::collections::BTreeMap;

use crate::compaction::{Message, Role};
use crate::time::Timestamp;

/// By which a message is known: who said it, when, and what. The same message in a copy of the transcript has the same key.
pub type Key = [u8; 16];

/// Tells messages that are known from those that are new.
#[derive(Debug)]
pub struct Known {
    /// Of what a message without a time is a part; the first one decides, the others are noted with it.
    within: Vec<String>,
    /// What is read goes on behind what was read before.
    goes_on: bool,
    /// What is read is the beginning of another session, which may be known.
    copied: bool,
    /// How often each content without a time was met.
    met: BTreeMap<Key, u64>,
}

impl Known {
    /// Begins a transcript, or goes on with one.
    pub fn new(within: Vec<String>, goes_on: bool) -> Self {
        let within = if within.is_empty() {
            vec![String::new()]
        } else {
            within
        };
        Self {
            within,
            goes_on,
            copied: false,
            met: BTreeMap::new(),
        }
    }

    /// What follows was copied from another session, up to the first message that no session had.
    pub fn copy_follows(&mut self) {
        self.copied = true;
    }

    /// Whether a message is known. `is_told` answers it for a key, and notes the key. `stamped_anew`: a copy of it has another time.
    pub fn has(
        &mut self,
        message: &Message<'_>,
        at: Option<Timestamp>,
        stamped_anew: bool,
        mut is_told: impl FnMut(&Key) -> bool,
    ) -> bool {
        let content = key(message, at);
        if at.is_some() && stamped_anew {
            let said_before = is_told(&part_of(&key(message, None), "whenever", 0));
            self.copied &= said_before;
            return is_told(&content) || self.copied;
        }
        if at.is_some() {
            return is_told(&content);
        }
        // The same words without a time are said again in another session, and in this one: they are counted.
        let met = self.met.entry(content).or_default();
        loop {
            let number = *met;
            *met += 1;
            let mut told = self
                .within
                .iter()
                .map(|whole| is_told(&part_of(&content, whole, number)));
            let known = told.next().unwrap_or_default();
            told.for_each(drop);
            // What stands behind all that was read is new, whatever was said before it.
            if !(known && self.goes_on) {
                return known;
            }
        }
    }
}

/// The key of a message by itself.
fn key(message: &Message<'_>, at: Option<Timestamp>) -> Key {
    let mut hasher = blake3::Hasher::new();
    let role = match message.role {
        Role::User => b'u',
        Role::Assistant => b'a',
        Role::Tool => b't',
        Role::Other => b'o',
    };
    hasher.update(&[role, u8::from(at.is_some())]);
    hasher.update(&at.unwrap_or_default().0.to_le_bytes());
    for part in [&*message.name, &*message.text, &message.calls] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    cut(&hasher)
}

/// The key of the message that has this content for the so many-th time in a session or transcript.
fn part_of(content: &Key, whole: &str, number: u64) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(content);
    hasher.update(&number.to_le_bytes());
    hasher.update(whole.as_bytes());
    cut(&hasher)
}

fn cut(hasher: &blake3::Hasher) -> Key {
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}
