//! Recognition of messages that were flushed before.

use std::collections::BTreeMap;

use crate::compaction::{Message, Role};
use hippo_types::time::Timestamp;

/// Key of a message: a hash of author, time and content. A copy of the transcript yields the same keys.
pub type LoggedMessageKey = [u8; 16];

/// Filter for messages that were flushed before.
#[derive(Debug, Default)]
pub struct KnownMessages {
    /// Names of the session and of the transcript. A message without a time stamp is known if it was recorded for the
    /// first name in the list. A new message is recorded for all names.
    within: Vec<String>,
    /// True if the input starts where an earlier flush ended.
    resumed: bool,
    /// True while the messages are copies from the session from which this one was forked. The first unknown message
    /// sets it to false.
    pub copied: bool,
    /// Number of occurrences so far of each message without a time stamp.
    met: BTreeMap<LoggedMessageKey, u64>,
}

impl KnownMessages {
    /// Creates the filter for a transcript, or for its continuation.
    pub fn new(within: Vec<String>, resumed: bool) -> Self {
        let all = within.is_empty().then(String::new);
        Self {
            within: within.into_iter().chain(all).collect(),
            resumed,
            ..Self::default()
        }
    }

    /// Returns true if a message is known. `is_known` returns true for a known key, and records the key. `restamped` is
    /// true if copies of messages have another time stamp.
    pub fn is_known(
        &mut self,
        message: &Message<'_>,
        at: Option<Timestamp>,
        restamped: bool,
        mut is_known: impl FnMut(&LoggedMessageKey) -> bool,
    ) -> bool {
        let content = message_key(message, at);
        if at.is_some() && restamped {
            let said_before = is_known(&occurrence_key(&message_key(message, None), "whenever", 0));
            self.copied &= said_before;
            return is_known(&content) || self.copied;
        }
        if at.is_some() {
            return is_known(&content);
        }
        // Equal messages without a time stamp may occur several times, so each occurrence gets a number.
        let met = self.met.entry(content).or_default();
        loop {
            let number = *met;
            *met += 1;
            let mut told = self
                .within
                .iter()
                .map(|whole| is_known(&occurrence_key(&content, whole, number)));
            let known = told.next().unwrap_or_default();
            told.for_each(drop);
            // Every message of a continuation is new, even if the same words occurred before.
            if !(known && self.resumed) {
                return known;
            }
        }
    }
}

/// Returns the key of a message. It does not depend on the session.
fn message_key(message: &Message<'_>, at: Option<Timestamp>) -> LoggedMessageKey {
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
    finish_key(&hasher)
}

/// Returns the key of one occurrence of a message. `whole` is the name of the session or transcript.
fn occurrence_key(content: &LoggedMessageKey, whole: &str, number: u64) -> LoggedMessageKey {
    let mut hasher = blake3::Hasher::new();
    hasher.update(content);
    hasher.update(&number.to_le_bytes());
    hasher.update(whole.as_bytes());
    finish_key(&hasher)
}

fn finish_key(hasher: &blake3::Hasher) -> LoggedMessageKey {
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}
