//! Composition of the summary within a token budget.
//!
//! Sections and their order are those of the extension. Within a budget, active context has priority, then the goals
//! of the user. The remaining room is divided between lines and the words most likely to be needed again
//! ([`super::words`]). The whole summary is one section ([`hippo_context::render`]): no message can end it, and text
//! that reads like an instruction is marked.

mod room;
mod written;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::classify::EntryType;
use super::ledger::{MessageCore, MessageLedger, ScoredMessage};
use super::line;
use super::score::Tier;
use super::words;
use super::{CompactionOptions, DroppedMessages, ShortContentId};
use hippo_redact::without_secrets;
use hippo_text::fence::{CLOSE, FENCE, guard_lines, opening};
use hippo_text::text::{characters, start};
use hippo_types::tokens;
use room::ByteBudget;
use written::SummaryHeader;

/// Bytes reserved for the frame: fence, title, comments, headings, the line for the dropped messages.
const AROUND: usize = 600 + FENCE;
/// Bytes of the headings of both indexes and of the line for the dropped messages.
const HEADINGS: usize = 190;
/// Below this budget in bytes, the summary contains only the newest message.
const TINY: usize = 800;
/// Shares of the remaining room, in the order of allocation: active context beyond the first characters of each
/// message, goals, an earlier summary, lines. The words get the rest.
const ACTIVE_SHARE: f64 = 0.6;
const GOAL_SHARE: f64 = 0.15;
const PRIOR_SHARE: f64 = 0.25;
const LINES_SHARE: f64 = 0.4;
/// Characters of each active message that the extension shows.
const FIRST: usize = 500;
/// Maximum characters of a goal.
const GOAL_LENGTH: usize = 150;
/// A goal must have more characters than this.
const GOAL_LEAST: usize = 10;
/// Minimum bytes of room for another line; almost every line is longer.
const LINE_LEAST: usize = 32;
/// Maximum attempts to fit the summary after instruction marks made it too long.
const TRIES: usize = 3;

/// The summary, and the messages that are missing from it.
#[derive(Debug, Default)]
pub struct BuiltSummary {
    pub text: String,
    /// Messages with content that are not shown.
    pub rest: DroppedMessages,
    /// Id of the list of dropped messages, if there are any and contents are stored.
    pub rest_id: Option<ShortContentId>,
    /// Number of messages in each tier.
    pub tiers: [usize; 3],
}

/// Builds the summary, within the token budget.
pub fn build(ledger: &MessageLedger, options: &CompactionOptions) -> BuiltSummary {
    let scored: Vec<ScoredMessage> = ledger.line_indexes().map(|index| ledger.score(index)).collect();
    let mut built = BuiltSummary::default();
    for index in 0..ledger.cores().len() {
        built.tiers[ledger.score(index).tier as usize] += 1;
    }
    let limit = options.budget.map_or(usize::MAX, tokens::bytes);
    let head = SummaryHeader {
        before: ledger.cores().iter().map(MessageCore::tokens).sum(),
        stored: options.stored,
    };
    if limit < TINY {
        built.drop_unshown(ledger, BTreeSet::new(), options.stored);
        built.text = build_tiny(ledger, &scored, built.rest_id, limit);
        return built;
    }
    let mut room = limit;
    for _ in 0..TRIES {
        built.fill(ledger, &scored, options, head, room);
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
    /// Fills the summary up to the limit in bytes, not counting instruction marks.
    fn fill(
        &mut self,
        ledger: &MessageLedger,
        scored: &[ScoredMessage],
        options: &CompactionOptions,
        head: SummaryHeader,
        limit: usize,
    ) {
        let tight = options.budget.is_some();
        let mut room = ByteBudget(limit - AROUND);
        let mut parts = SummaryParts::default();
        parts.select_active(ledger, scored, &mut room);
        parts.select_goals(ledger, scored, &mut room);
        parts.select_prior(ledger, &mut room);
        parts.select_lines(ledger, scored, &mut room, tight);
        if tight {
            // The length of the frame is known now, except for headings that words may add and the line for dropped
            // messages.
            let so_far = parts.format(ledger, scored, self, head).len();
            room.0 = limit.saturating_sub(so_far + HEADINGS);
        }
        parts.select_words(ledger, scored, &mut room, tight);
        parts.extend_active(ledger, &mut room);
        let shown = (parts.active.keys(), parts.lines.keys(), parts.goals.keys());
        let shown = shown.0.chain(shown.1).chain(shown.2).copied().collect();
        self.drop_unshown(ledger, shown, options.stored);
        self.text = parts.format(ledger, scored, self, head);
    }

    /// Records all messages with content that are not shown as dropped.
    fn drop_unshown(&mut self, ledger: &MessageLedger, shown: BTreeSet<usize>, stored: bool) {
        self.rest = DroppedMessages::new(ledger, shown);
        self.rest_id =
            (stored && self.rest.count > 0).then(|| ShortContentId::from_content(&self.rest.list(ledger)));
    }
}

/// Cuts a section at a line end to fit the limit, and closes it.
fn cut_to_limit(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let shown = start(&text, limit.saturating_sub(CLOSE.len() + 1));
    let end = shown.rfind('\n').map_or(0, |end| end + 1);
    format!("{}{CLOSE}\n", &shown[..end])
}

/// Formats the newest kept message, cut to fit the limit.
fn build_tiny(
    ledger: &MessageLedger,
    scored: &[ScoredMessage],
    rest: Option<ShortContentId>,
    limit: usize,
) -> String {
    let newest = scored
        .iter()
        .rev()
        .find(|scored| scored.tier == Tier::Keep)
        .or(scored.last());
    let Some(newest) = newest else {
        return String::new();
    };
    let preview = ledger.detail(newest.index).map_or("", |detail| &detail.preview);
    let text = ledger
        .text(newest.index)
        .map_or_else(|| without_secrets(preview), Cow::Borrowed);
    let all = rest.map_or_else(String::new, |rest| format!("<!-- all entries: {rest} -->\n"));
    let id = ledger.cores()[newest.index].id;
    if limit <= FENCE + all.len().max(ShortContentId::LENGTH) {
        return String::new();
    }
    let said = guard_lines(&format!("{id} {text}")).join("\n");
    let said = start(&said, limit - FENCE - all.len() - 1);
    format!("{}{all}{said}\n{CLOSE}\n", opening())
}

/// Parts of the summary that were selected so far.
#[derive(Debug, Default)]
struct SummaryParts<'l> {
    /// Active messages with their text, cut where room is short.
    active: BTreeMap<usize, &'l str>,
    /// Lines of goals, without a line break.
    goals: BTreeMap<usize, String>,
    prior: &'l str,
    /// Lines of the other messages.
    lines: BTreeMap<usize, String>,
    /// Words that are appended to a line.
    added: BTreeMap<usize, Vec<&'l str>>,
    /// Remaining room in the sparse index.
    sparse: ByteBudget,
}

impl<'l> SummaryParts<'l> {
    /// Selects the start of each active message, newest first, then extends them.
    fn select_active(&mut self, ledger: &'l MessageLedger, scored: &[ScoredMessage], room: &mut ByteBudget) {
        for scored in scored.iter().rev().filter(|scored| scored.tier == Tier::Keep) {
            let Some(text) = ledger.text(scored.index) else {
                continue;
            };
            let first = characters(text, FIRST);
            // Length of "### [user_intent] (r=0.87) m123456789" and three line breaks.
            if room.spend(first.len() + 48) {
                self.active.insert(scored.index, first);
            }
        }
        let mut share = room.share(ACTIVE_SHARE);
        let before = share.0;
        self.extend_active(ledger, &mut share);
        room.0 -= before - share.0;
    }

    /// Extends the active messages, newest first.
    fn extend_active(&mut self, ledger: &'l MessageLedger, room: &mut ByteBudget) {
        for (index, shown) in self.active.iter_mut().rev() {
            let text = ledger.text(*index).unwrap_or(shown);
            let wider = start(text, shown.len().saturating_add(room.0));
            room.0 -= wider.len() - shown.len();
            *shown = wider;
        }
    }

    fn select_goals(&mut self, ledger: &MessageLedger, scored: &[ScoredMessage], room: &mut ByteBudget) {
        let wanted = |scored: &&ScoredMessage| {
            ledger.cores()[scored.index].kind == EntryType::UserIntent
                && scored.tier != Tier::Sparse
                && !self.active.contains_key(&scored.index)
        };
        let mut goals: Vec<&ScoredMessage> = scored.iter().filter(wanted).collect();
        goals.reverse();
        // The first goal is what the session is about.
        let first = usize::from(!goals.is_empty());
        goals.rotate_right(first);
        let mut share = room.share(GOAL_SHARE);
        let before = share.0;
        for scored in goals {
            let Some(detail) = ledger.detail(scored.index) else {
                continue;
            };
            let text = characters(&detail.preview, GOAL_LENGTH);
            let line = format!("- {} {}", without_secrets(text), ledger.cores()[scored.index].id);
            if text.chars().count() > GOAL_LEAST && share.spend(line.len() + 1) {
                self.goals.insert(scored.index, line);
            }
        }
        room.0 -= before - share.0;
    }

    fn select_prior(&mut self, ledger: &'l MessageLedger, room: &mut ByteBudget) {
        let Some(prior) = ledger.prior.as_deref() else {
            return;
        };
        self.prior = start(prior, room.share(PRIOR_SHARE).0);
        room.0 -= self.prior.len();
    }

    /// Selects lines by retention; of equal ones, the newer first.
    fn select_lines(
        &mut self,
        ledger: &MessageLedger,
        scored: &[ScoredMessage],
        room: &mut ByteBudget,
        tight: bool,
    ) {
        let mut ranked: Vec<&ScoredMessage> = scored
            .iter()
            .filter(|scored| !self.active.contains_key(&scored.index))
            .collect();
        ranked.sort_by(|a, b| b.retention.total_cmp(&a.retention).then(b.index.cmp(&a.index)));
        let mut share = room.share(if tight { LINES_SHARE } else { 1.0 });
        let before = share.0;
        self.sparse = ByteBudget(tokens::bytes(ledger.config().max_sparse_index_tokens));
        for scored in ranked {
            if share.0 < LINE_LEAST {
                break;
            }
            // Within a budget, a goal is not repeated as a line.
            if tight && self.goals.contains_key(&scored.index) {
                continue;
            }
            let Some(detail) = ledger.detail(scored.index) else {
                continue;
            };
            let line = line::format_line(&ledger.cores()[scored.index], detail, *scored);
            if scored.tier == Tier::Sparse && line.len() >= self.sparse.0 {
                continue;
            }
            if share.spend(line.len() + 1) {
                if scored.tier == Tier::Sparse {
                    self.sparse.0 -= line.len() + 1;
                }
                self.lines.insert(scored.index, line);
            }
        }
        room.0 -= before - share.0;
    }

    /// Appends the words that are likely to be needed again, each to the line of a message that contains it.
    fn select_words(
        &mut self,
        ledger: &'l MessageLedger,
        scored: &[ScoredMessage],
        room: &mut ByteBudget,
        tight: bool,
    ) {
        let mut known = words::SummaryWords::default();
        self.active.values().for_each(|text| known.add(text));
        self.goals.values().for_each(|text| known.add(text));
        self.lines.values().for_each(|text| known.add(text));
        known.add(self.prior);
        let mut left = ByteBudget(if tight { room.0 } else { room.0.min(words::UNBOUND) });
        let before = left.0;
        let told = |place: &usize| scored.binary_search_by_key(place, |scored| scored.index).is_ok();
        for (word, seen) in words::rank_words(ledger) {
            if left.0 < 8 {
                break;
            }
            if known.contains(word) {
                continue;
            }
            let places = [seen.last_said, seen.last, seen.first].map(|index| index as usize);
            let lined = places.into_iter().filter(|place| self.lines.contains_key(place));
            let free = |place: &usize| {
                !self.lines.contains_key(place)
                    && !self.active.contains_key(place)
                    && !self.goals.contains_key(place)
                    && told(place)
            };
            let places: Vec<usize> = lined.chain(places.into_iter().filter(free)).collect();
            let added = places
                .into_iter()
                .any(|place| self.add_word(ledger, place, word, &mut left));
            if added {
                known.add(word);
            }
        }
        room.0 -= before - left.0;
    }

    /// Appends a word to the line of a message, or to a new pointer. Returns false if there is no room.
    fn add_word(
        &mut self,
        ledger: &'l MessageLedger,
        place: usize,
        word: &'l str,
        room: &mut ByteBudget,
    ) -> bool {
        let pointer = match (self.lines.contains_key(&place), ledger.detail(place)) {
            (true, _) => None,
            (false, Some(detail)) => Some(line::format_pointer(&ledger.cores()[place], detail)),
            (false, None) => return false,
        };
        let mark = if self.added.contains_key(&place) { 0 } else { 2 };
        let cost = word.len() + 1 + mark + pointer.as_ref().map_or(0, |line| line.len() + 1);
        let sparse = ledger.score(place).tier == Tier::Sparse;
        if sparse && cost > self.sparse.0 || !room.spend(cost) {
            return false;
        }
        if sparse {
            self.sparse.0 -= cost;
        }
        if let Some(pointer) = pointer {
            self.lines.insert(place, pointer);
        }
        self.added.entry(place).or_default().push(word);
        true
    }
}
