//! Composition of the summary within a token budget.
//!
//! The summary has the sections of the hippocampus.md extension, in the same order. If there is a budget, messages
//! shown in full (active context) have priority, then the goals of the user. One-line messages, and the words that are
//! most likely to be needed again ([`super::words`]), share the remaining room. The whole summary is one section
//! ([`hippo_context::render`]). No message can end this section, and text that reads like an instruction is marked.

mod written;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::classify::EntryType;
use super::ledger::{LineDetail, MessageLedger, ScoredMessage};
use super::line;
use super::score::Tier;
use super::words;
use super::{CompactionOptions, ShortContentId};
use hippo_redact::without_secrets;
use hippo_text::fence::{CLOSE, FENCE, guard_lines, opening};
use hippo_text::text::{characters, start};
use hippo_types::tokens;

/// Bytes reserved for text that is not from messages: fence, title, comments, headings, and the line about dropped
/// messages.
const AROUND: usize = 600 + FENCE;
/// Bytes reserved for the headings of the compressed messages and of the sparse index, and for the line about dropped
/// messages.
const HEADINGS: usize = 190;
/// Below this budget in bytes, the summary contains only the newest message.
const TINY: usize = 800;
/// Active messages may use this share of the remaining room, in addition to the first [`FIRST`] characters of each.
const ACTIVE_SHARE: f64 = 0.6;
/// The first goal of the user may use this share of the whole room, before the active messages.
const FIRST_GOAL_SHARE: f64 = 0.04;
/// Other goals of the user may use this share of the room that the active messages leave.
const GOAL_SHARE: f64 = 0.15;
/// An earlier summary may use this share of the room that the goals leave.
const PRIOR_SHARE: f64 = 0.25;
/// Lines of other messages may use this share of the room that the earlier summary leaves. Words get the rest.
const LINES_SHARE: f64 = 0.4;
/// Number of characters at the start of each active message that are selected first. The extension shows no more.
const FIRST: usize = 500;
/// Maximum number of characters that are shown of a goal.
const GOAL_LENGTH: usize = 150;
/// A message must have more characters than this to be shown as a goal.
const GOAL_LEAST: usize = 10;
/// Minimum bytes of room for another line. Almost every line is longer.
const LINE_LEAST: usize = 32;
/// Maximum number of attempts to shorten a summary that instruction marks made too long.
const TRIES: usize = 3;

/// A summary, and the messages that it does not show.
#[derive(Debug, Default)]
pub struct BuiltSummary {
    pub text: String,
    /// Number of messages with content that are not shown.
    pub dropped: usize,
    /// List of the dropped messages, one per line; empty if contents are not stored.
    pub dropped_list: String,
    /// Id of [`Self::dropped_list`]; `None` if the list is empty.
    pub rest_id: Option<ShortContentId>,
    /// Number of messages in each [`Tier`].
    pub tiers: [usize; 3],
    /// Total tokens of all messages.
    pub tokens: usize,
}

/// Builds the summary. If there is a token budget, the summary does not exceed it.
pub fn build(ledger: &MessageLedger, options: &CompactionOptions) -> BuiltSummary {
    let mut built = BuiltSummary::default();
    for (index, core) in ledger.cores.iter().enumerate() {
        built.tiers[ledger.score(index).tier as usize] += 1;
        built.tokens += core.tokens();
    }
    let limit = options.budget.map_or(usize::MAX, tokens::bytes);
    if limit < TINY {
        built.drop_unshown(ledger, options.stored, |_| false);
        built.text = build_tiny(ledger, built.rest_id, limit);
        return built;
    }
    let mut room = limit;
    for _ in 0..TRIES {
        built.fill(SummaryParts::new(ledger), options, room);
        // The length of the instruction marks is known only after formatting.
        let over = built.text.len().saturating_sub(limit);
        if over == 0 || room < TINY + over {
            break;
        }
        room -= over;
    }
    built.text = cut_to_limit(built.text, limit);
    built
}

impl BuiltSummary {
    /// Selects the parts of the summary and formats it. Without its instruction marks, it has at most `limit` bytes.
    fn fill(&mut self, mut parts: SummaryParts<'_>, options: &CompactionOptions, limit: usize) {
        let tight = options.budget.is_some();
        let mut room = ByteBudget(limit - AROUND);
        room.lend(FIRST_GOAL_SHARE, |room| parts.select_first_goal(room));
        parts.select_active(&mut room);
        room.lend(ACTIVE_SHARE, |room| parts.extend_active(room));
        room.lend(GOAL_SHARE, |room| parts.select_goals(room));
        room.lend(PRIOR_SHARE, |room| parts.select_prior(room));
        room.lend(if tight { LINES_SHARE } else { 1.0 }, |room| {
            parts.select_lines(room, tight)
        });
        if tight {
            // The exact length of the text so far is known now. It does not include the line about dropped messages,
            // and headings that added words may need.
            let so_far = parts.format(self, options.stored).len();
            room.0 = limit.saturating_sub(so_far + HEADINGS);
        }
        let most = if tight { room.0 } else { room.0.min(words::UNBOUND) };
        let mut words = ByteBudget(most);
        parts.select_words(&mut words);
        room.0 -= most - words.0;
        parts.extend_active(&mut room);
        self.drop_unshown(parts.ledger, options.stored, |index| parts.shows(index));
        self.text = parts.format(self, options.stored);
    }

    /// Counts and lists the messages with content that the summary does not show.
    fn drop_unshown(&mut self, ledger: &MessageLedger, stored: bool, shows: impl Fn(usize) -> bool) {
        (self.dropped, self.dropped_list) = (0, String::new());
        for (index, core) in ledger.cores.iter().enumerate() {
            if core.tokens() == 0 || shows(index) {
                continue;
            }
            self.dropped += 1;
            if stored {
                // Writing to a `String` cannot fail.
                let _ = writeln!(
                    self.dropped_list,
                    "{} [{}] {}tok",
                    core.id,
                    core.kind.name(),
                    core.tokens()
                );
            }
        }
        let list = Some(&self.dropped_list).filter(|list| !list.is_empty());
        self.rest_id = list.map(|list| ShortContentId::from_content(list));
    }
}

/// Number of bytes that are still available.
#[derive(Debug, Default)]
struct ByteBudget(usize);

impl ByteBudget {
    /// Deducts the bytes if they are available. Returns false otherwise.
    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// Lets `spend` use a share of the remaining bytes.
    fn lend(&mut self, share: f64, spend: impl FnOnce(&mut Self)) {
        let lent = ((self.0 as f64 * share) as usize).min(self.0);
        let mut left = Self(lent);
        spend(&mut left);
        self.0 -= lent - left.0;
    }
}

/// Cuts the summary at a line end to fit the limit, and appends the closing fence.
fn cut_to_limit(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let shown = start(&text, limit.saturating_sub(CLOSE.len() + 1));
    let end = shown.rfind('\n').map_or(0, |end| end + 1);
    format!("{}{CLOSE}\n", &shown[..end])
}

/// Returns a summary for a very small budget: the newest message of the tier `Keep`, cut to fit the limit.
fn build_tiny(ledger: &MessageLedger, rest: Option<ShortContentId>, limit: usize) -> String {
    let lines = || ledger.lines().rev().map(|(scored, _)| scored);
    let newest = lines().find(|scored| scored.tier == Tier::Keep);
    let Some(newest) = newest.or_else(|| lines().next()) else {
        return String::new();
    };
    let text = ledger.text(newest.index).unwrap_or_default();
    let all = rest.map_or_else(String::new, |rest| format!("<!-- all entries: {rest} -->\n"));
    let id = newest.core.id;
    if limit <= FENCE + all.len().max(ShortContentId::LENGTH) {
        return String::new();
    }
    let said = guard_lines(&format!("{id} {text}")).join("\n");
    let said = start(&said, limit - FENCE - all.len() - 1);
    format!("{}{all}{said}\n{CLOSE}\n", opening())
}

/// The parts of a summary that were selected so far.
#[derive(Debug)]
struct SummaryParts<'l> {
    ledger: &'l MessageLedger,
    /// Messages that are shown in full, with their text. The text is cut if there is not enough room.
    active: BTreeMap<usize, &'l str>,
    /// Lines about the goals of the user, without a line break.
    goals: BTreeMap<usize, String>,
    prior: &'l str,
    /// Lines of the messages that are not shown in full.
    lines: BTreeMap<usize, String>,
    /// Words that are appended to the line of a message.
    added: BTreeMap<usize, Vec<&'l str>>,
    /// Remaining room in the sparse index.
    sparse: ByteBudget,
}

impl<'l> SummaryParts<'l> {
    fn new(ledger: &'l MessageLedger) -> Self {
        Self {
            ledger,
            active: BTreeMap::new(),
            goals: BTreeMap::new(),
            prior: "",
            lines: BTreeMap::new(),
            added: BTreeMap::new(),
            sparse: ByteBudget(tokens::bytes(ledger.config.max_sparse_index_tokens)),
        }
    }

    /// Returns true if the summary shows the message.
    fn shows(&self, index: usize) -> bool {
        self.active.contains_key(&index) || self.lines.contains_key(&index) || self.goals.contains_key(&index)
    }

    /// Selects the start of each active message, newest first.
    fn select_active(&mut self, room: &mut ByteBudget) {
        let lines = self.ledger.lines().rev();
        for (scored, _) in lines.filter(|(scored, _)| scored.tier == Tier::Keep) {
            let Some(text) = self.ledger.text(scored.index) else {
                continue;
            };
            let first = characters(text, FIRST);
            // 48 bytes are enough for a heading such as "### [user_intent] (r=0.87) m123456789" and three line breaks.
            if room.spend(first.len() + 48) {
                self.active.insert(scored.index, first);
            }
        }
    }

    /// Extends the active messages, newest first.
    fn extend_active(&mut self, room: &mut ByteBudget) {
        for (index, shown) in self.active.iter_mut().rev() {
            let text = self.ledger.text(*index).unwrap_or(shown);
            let wider = start(text, shown.len().saturating_add(room.0));
            room.0 -= wider.len() - shown.len();
            *shown = wider;
        }
    }

    /// Selects the first goal, which has priority because it states what the session is about.
    fn select_first_goal(&mut self, room: &mut ByteBudget) {
        let ledger = self.ledger;
        let first = ledger.first_goal.map(|index| ledger.score(index));
        if let Some(scored) =
            first.filter(|scored| scored.tier == Tier::Compress && !self.shows(scored.index))
            && let Some(detail) = ledger.detail(scored.index)
        {
            self.add_goal(scored, detail, room);
        }
    }

    /// Selects the first goal if it did not fit before, and then the other goals, newest first.
    fn select_goals(&mut self, room: &mut ByteBudget) {
        self.select_first_goal(room);
        for (scored, detail) in self.ledger.lines().rev() {
            if scored.core.kind == EntryType::UserIntent
                && scored.tier != Tier::Sparse
                && !self.shows(scored.index)
            {
                self.add_goal(scored, detail, room);
            }
        }
    }

    fn add_goal(&mut self, scored: ScoredMessage<'_>, detail: &LineDetail, room: &mut ByteBudget) {
        let text = characters(&detail.preview, GOAL_LENGTH);
        let line = format!("- {} {}", without_secrets(text), scored.core.id);
        if text.chars().count() > GOAL_LEAST && room.spend(line.len() + 1) {
            self.goals.insert(scored.index, line);
        }
    }

    fn select_prior(&mut self, room: &mut ByteBudget) {
        self.prior = start(self.ledger.prior.as_deref().unwrap_or_default(), room.0);
        room.0 -= self.prior.len();
    }

    /// Selects the lines of messages with the highest retention. Of messages with equal retention, newer ones have
    /// priority.
    fn select_lines(&mut self, room: &mut ByteBudget, tight: bool) {
        // If there is a budget, a goal is not repeated as a line.
        let wanted = |index: &usize| {
            let is_goal = tight && self.goals.contains_key(index);
            !is_goal && !self.active.contains_key(index)
        };
        let ranked = self.ledger.lines().filter(|(scored, _)| wanted(&scored.index));
        let mut ranked: Vec<_> = ranked.collect();
        let by_retention = |a: &ScoredMessage<'_>, b: &ScoredMessage<'_>| b.retention.total_cmp(&a.retention);
        ranked.sort_by(|(a, _), (b, _)| by_retention(a, b).then(b.index.cmp(&a.index)));
        for (scored, detail) in ranked {
            if room.0 < LINE_LEAST {
                break;
            }
            let line = line::format_line(scored, detail);
            if self.spend_line(scored.tier, line.len() + 1, room) {
                self.lines.insert(scored.index, line);
            }
        }
    }

    /// Deducts the bytes of a line from `room`, and those of a pointer also from the room of the sparse index. Returns
    /// false if there is not enough room.
    fn spend_line(&mut self, tier: Tier, bytes: usize, room: &mut ByteBudget) -> bool {
        let sparse = tier == Tier::Sparse;
        if sparse && bytes > self.sparse.0 || !room.spend(bytes) {
            return false;
        }
        !sparse || self.sparse.spend(bytes)
    }

    /// Appends the words that are likely to be needed again, each to the line of a message that contains it.
    fn select_words(&mut self, room: &mut ByteBudget) {
        let mut known = words::SummaryWords::default();
        self.active.values().for_each(|text| known.add(text));
        let lines = self.goals.values().chain(self.lines.values());
        lines.for_each(|text| known.add(text));
        known.add(self.prior);
        for (word, seen) in words::rank_words(self.ledger) {
            if room.0 < 8 {
                break;
            }
            if known.contains(word) {
                continue;
            }
            let places = [seen.last_said, seen.last, seen.first].map(|index| index as usize);
            let lined = places.into_iter().filter(|place| self.lines.contains_key(place));
            let free = places.into_iter().filter(|place| !self.shows(*place));
            let places: Vec<usize> = lined.chain(free).collect();
            if places.into_iter().any(|place| self.add_word(place, word, room)) {
                known.add(word);
            }
        }
    }

    /// Appends a word to the line of the message `place`. Adds a pointer if the message has no line. Returns false if
    /// there is not enough room.
    fn add_word(&mut self, place: usize, word: &'l str, room: &mut ByteBudget) -> bool {
        let pointer = match (self.lines.contains_key(&place), self.ledger.detail(place)) {
            (true, _) => None,
            (false, Some(detail)) => Some(line::format_pointer(&self.ledger.cores[place], detail)),
            (false, None) => return false,
        };
        let mark = if self.added.contains_key(&place) { 0 } else { 2 };
        let cost = word.len() + 1 + mark + pointer.as_ref().map_or(0, |line| line.len() + 1);
        if !self.spend_line(self.ledger.score(place).tier, cost, room) {
            return false;
        }
        if let Some(pointer) = pointer {
            self.lines.insert(place, pointer);
        }
        self.added.entry(place).or_default().push(word);
        true
    }
}
