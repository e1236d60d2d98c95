//! Selection and wording of the entries written to long-term memory.

use serde::Serialize;

use super::{PERSIST_TOKENS, SessionEntry};
use crate::render::{format_key_data, steers};
use hippo_text::fence::to_safe_line;
use hippo_text::gist::label::claims_the_user;
use hippo_text::instruction;
use hippo_text::text::clip;
use hippo_types::context::{ContextKind, ContextPriority, ContextState};
use hippo_types::tokens;

/// Maximum bytes of the summary and the key data in a line of the daily log.
const TEXT: usize = 1_200;
/// Maximum bytes of key data in a line of the daily log. Longer key data is left out.
const VALUES: usize = 240;
/// Maximum bytes of the source reference in a line of the daily log.
const REFERENCE: usize = 160;
/// Number of the latest state entries that are written at the end of a session.
const STATES: usize = 3;

/// Maximum entries that one session writes to long-term memory.
const MOST_PERSISTED: usize = 20;
/// Minimum number of turns with an access for [`PersistReason::OftenUsed`].
const OFTEN: usize = 3;

/// Reason for writing an entry to long-term memory. If several reasons apply, the first variant is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PersistReason {
    /// `lifecycle.persist` is set.
    Asked,
    /// The priority is critical.
    Critical,
    /// The priority is high.
    High,
    /// The entry is a recent state of the agent.
    State,
    /// The entry was used in many turns.
    OftenUsed,
}

/// Entry to write to long-term memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistedEntry {
    /// Index of the entry in the entries of the session.
    pub at: usize,
    /// Reason for the selection.
    pub why: PersistReason,
    /// One redacted line for the daily log, with the summary and the source.
    pub text: String,
}

/// Selects the entries to write to long-term memory, most important first. Also returns the number of entries that
/// exceed the limits.
pub(super) fn select_persisted(
    entries: &[SessionEntry],
    strengths: &[f32],
    turn: u64,
) -> (Vec<PersistedEntry>, usize) {
    let is_state = |kept: &SessionEntry| kept.entry.kind == ContextKind::State;
    let made = entries.iter().filter(|kept| is_state(kept));
    let mut made: Vec<u64> = made.map(|kept| kept.entry.lifecycle.created).collect();
    made.sort_unstable_by(|a, b| b.cmp(a));
    let last = made.get(STATES - 1).or(made.last()).copied().unwrap_or(0);
    let mut wanted: Vec<(PersistReason, usize, f32)> = Vec::new();
    for (at, (kept, strength)) in entries.iter().zip(strengths).enumerate() {
        let state = kept.entry.state_at(turn, *strength);
        let why = match kept.entry.modifiers.priority {
            _ if kept.entry.lifecycle.persist => Some(PersistReason::Asked),
            _ if state == ContextState::Expired => None,
            ContextPriority::Critical => Some(PersistReason::Critical),
            ContextPriority::High => Some(PersistReason::High),
            _ if is_state(kept) && state == ContextState::Active && kept.entry.lifecycle.created >= last => {
                Some(PersistReason::State)
            }
            _ if kept.uses.len() >= OFTEN => Some(PersistReason::OftenUsed),
            _ => None,
        };
        if let Some(why) = why {
            wanted.push((why, at, *strength));
        }
    }
    wanted.sort_by(|(why, at, strength), (other, place, weaker)| {
        why.cmp(other)
            .then_with(|| weaker.total_cmp(strength))
            .then_with(|| at.cmp(place))
    });
    // Entries that were written earlier count toward the limits. Otherwise, each repeated plan would write further
    // entries.
    let (mut chosen, mut left_out, mut count, mut room) = (Vec::new(), 0, 0, PERSIST_TOKENS);
    for (why, at, _) in wanted {
        let kept = &entries[at];
        let text = describe(kept);
        let cost = tokens::of(&text);
        if count == MOST_PERSISTED || cost > room {
            left_out += usize::from(!kept.persisted);
            continue;
        }
        count += 1;
        room -= cost;
        if !kept.persisted {
            chosen.push(PersistedEntry { at, why, text });
        }
    }
    (chosen, left_out)
}

/// Returns the line that describes an entry in the daily log.
fn describe(kept: &SessionEntry) -> String {
    let entry = &kept.entry;
    if steers(entry) {
        let (kind, turn, id) = (to_safe_line(&entry.source.kind), entry.source.turn, &entry.id);
        return format!("{} ({kind}, turn {turn}, {id})", instruction::MARK);
    }
    let data = entry.key_data.as_ref().map(format_key_data);
    let data = data.filter(|data| !data.is_empty() && data.len() <= VALUES);
    let data = data.map(|data| format!(" [{data}]")).unwrap_or_default();
    let reference = clip(&entry.source.reference, REFERENCE);
    let from = format!("{} {reference}", entry.source.kind);
    // A summary that begins with a field or a tag would look as if the user had written it. Put the kind of the entry
    // in front of the summary to prevent that.
    let claims = match claims_the_user(&entry.summary) {
        true => format!("{}: ", entry.kind.name()),
        false => String::new(),
    };
    let said = clip(&format!("{claims}{}{data}", entry.summary), TEXT);
    let (from, turn, id) = (from.trim(), entry.source.turn, &entry.id);
    let text = format!("{said} ({from}, turn {turn}, {id})");
    to_safe_line(&hippo_redact::without_secrets(&text)).into_owned()
}
