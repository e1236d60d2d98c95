//! How do the scored messages become a text within a budget?
//!
//! Sections and their order are the extension's. Within a budget the active context comes first, then what the user wants; what is left
//! goes to lines, and to the words in them that are the most likely to be needed again ([`super::words`]). All of it is a section
//! ([`crate::context::render`]): no message can end it, and what reads like an instruction is marked.

mod room;
mod written;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::classify::EntryType;
use super::ledger::{Core, Ledger, Scored};
use super::line;
use super::score::Tier;
use super::words;
use super::{ContentId, Options, Rest};
use crate::context::render::{CLOSE, FENCE, guarded, open};
use crate::redact::without_secrets;
use crate::text::start;
use crate::tokens;
use room::Room;
use written::Head;

/// Bytes for what stands around the entries: the fence, title, comments, headings, the line for the rest.
const AROUND: usize = 600 + FENCE;
/// Bytes of the headings of both indexes and of the line for the rest.
const HEADINGS: usize = 190;
/// Within a smaller budget in bytes there is only the newest message.
const TINY: usize = 800;
/// Parts of the room that is left when its turn comes: active context beyond the first characters of each, goals, an earlier summary,
/// lines. Words have what is left then.
const ACTIVE_SHARE: f64 = 0.6;
const GOAL_SHARE: f64 = 0.15;
const PRIOR_SHARE: f64 = 0.25;
const LINES_SHARE: f64 = 0.4;
/// Characters of active context that the extension shows.
const FIRST: usize = 500;
/// Characters of a goal.
const GOAL_LENGTH: usize = 150;
/// A goal says more than so many characters.
const GOAL_LEAST: usize = 10;
/// Bytes below which no line is tried: hardly one is as short.
const LINE_LEAST: usize = 32;
/// How often a summary is made for less room because its marks took more.
const TRIES: usize = 3;

/// The summary, and what of the messages has no place in it.
#[derive(Debug, Default)]
pub struct Built {
    pub text: String,
    /// Messages that say something and are not in it.
    pub rest: Rest,
    /// The id of the list of these, where contents are stored and there are any.
    pub rest_id: Option<ContentId>,
    /// Messages of each tier, by retention.
    pub tiers: [usize; 3],
}

/// Makes the summary; never more than the budget, in tokens.
pub fn build(ledger: &Ledger, options: &Options) -> Built {
    let scored: Vec<Scored> = ledger.lines().map(|index| ledger.scored(index)).collect();
    let mut built = Built::default();
    for index in 0..ledger.cores().len() {
        built.tiers[ledger.scored(index).tier as usize] += 1;
    }
    let limit = options.budget.map_or(usize::MAX, tokens::bytes);
    let head = Head {
        before: ledger.cores().iter().map(Core::tokens).sum(),
        stored: options.stored,
    };
    if limit < TINY {
        built.leave(ledger, BTreeSet::new(), options.stored);
        built.text = tiny(ledger, &scored, built.rest_id, limit);
        return built;
    }
    let mut room = limit;
    for _ in 0..TRIES {
        built.fill(ledger, &scored, options, head, room);
        // The marks of lines that read like an instruction are not known before.
        let over = built.text.len().saturating_sub(limit);
        if over == 0 || room < TINY + over {
            break;
        }
        room -= over;
    }
    built.text = within(built.text, limit);
    built
}

impl Built {
    /// Makes the text within so many bytes, but for marks.
    fn fill(&mut self, ledger: &Ledger, scored: &[Scored], options: &Options, head: Head, limit: usize) {
        let tight = options.budget.is_some();
        let mut room = Room(limit - AROUND);
        let mut parts = Parts::default();
        parts.active(ledger, scored, &mut room);
        parts.goal(ledger, scored, &mut room);
        parts.prior(ledger, &mut room);
        parts.lines(ledger, scored, &mut room, tight);
        if tight {
            // What stands around is known now, but for headings that words may need, and for the line of what has no room.
            let so_far = parts.written(ledger, scored, self, head).len();
            room.0 = limit.saturating_sub(so_far + HEADINGS);
        }
        parts.words(ledger, scored, &mut room, tight);
        parts.grow(ledger, &mut room);
        let shown = (parts.active.keys(), parts.lines.keys(), parts.goals.keys());
        let shown = shown.0.chain(shown.1).chain(shown.2).copied().collect();
        self.leave(ledger, shown, options.stored);
        self.text = parts.written(ledger, scored, self, head);
    }

    /// All messages that are not shown and say something are left behind.
    fn leave(&mut self, ledger: &Ledger, shown: BTreeSet<usize>, stored: bool) {
        self.rest = Rest::new(ledger, shown);
        self.rest_id = (stored && self.rest.count > 0).then(|| self.rest.id(ledger));
    }
}

/// A section without the last lines that have no room.
fn within(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let shown = start(&text, limit.saturating_sub(CLOSE.len() + 1));
    let end = shown.rfind('\n').map_or(0, |end| end + 1);
    format!("{}{CLOSE}\n", &shown[..end])
}

/// The newest message that is kept, as much of it as fits.
fn tiny(ledger: &Ledger, scored: &[Scored], rest: Option<ContentId>, limit: usize) -> String {
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
    let id = ledger.cores()[newest.index].id();
    if limit <= FENCE + all.len().max(ContentId::LENGTH) {
        return String::new();
    }
    let said = guarded(&format!("{id} {text}")).join("\n");
    let said = start(&said, limit - FENCE - all.len() - 1);
    format!("{}{all}{said}\n{CLOSE}\n", open())
}

/// What has been chosen so far.
#[derive(Debug, Default)]
struct Parts<'l> {
    /// Active context: its text, cut where there is no room for all.
    active: BTreeMap<usize, &'l str>,
    /// Lines of goals, without their end.
    goals: BTreeMap<usize, String>,
    prior: &'l str,
    /// Lines of the other messages.
    lines: BTreeMap<usize, String>,
    /// Words that are added to a line.
    added: BTreeMap<usize, Vec<&'l str>>,
    /// Room in the sparse index.
    sparse: Room,
}

impl<'l> Parts<'l> {
    /// The beginning of each active message, the newest first, then more of each.
    fn active(&mut self, ledger: &'l Ledger, scored: &[Scored], room: &mut Room) {
        for scored in scored.iter().rev().filter(|scored| scored.tier == Tier::Keep) {
            let Some(text) = ledger.text(scored.index) else {
                continue;
            };
            let end = text.char_indices().nth(FIRST).map_or(text.len(), |(at, _)| at);
            // "### [user_intent] (r=0.87) m123456789" and three ends of lines.
            if room.take(end + 48) {
                self.active.insert(scored.index, &text[..end]);
            }
        }
        let mut share = room.share(ACTIVE_SHARE);
        let before = share.0;
        self.widen(ledger, &mut share);
        room.0 -= before - share.0;
    }

    /// More of the active messages, the newest first.
    fn widen(&mut self, ledger: &'l Ledger, room: &mut Room) {
        for (index, shown) in self.active.iter_mut().rev() {
            let text = ledger.text(*index).unwrap_or(shown);
            let wider = start(text, shown.len().saturating_add(room.0));
            room.0 -= wider.len() - shown.len();
            *shown = wider;
        }
    }

    fn goal(&mut self, ledger: &Ledger, scored: &[Scored], room: &mut Room) {
        let wanted = |scored: &&Scored| {
            ledger.cores()[scored.index].kind() == EntryType::UserIntent
                && scored.tier != Tier::Sparse
                && !self.active.contains_key(&scored.index)
        };
        let mut goals: Vec<&Scored> = scored.iter().filter(wanted).collect();
        goals.reverse();
        // The first one is what the session is about.
        let first = usize::from(!goals.is_empty());
        goals.rotate_right(first);
        let mut share = room.share(GOAL_SHARE);
        let before = share.0;
        for scored in goals {
            let Some(detail) = ledger.detail(scored.index) else {
                continue;
            };
            let text = detail
                .preview
                .char_indices()
                .nth(GOAL_LENGTH)
                .map_or(&*detail.preview, |(at, _)| &detail.preview[..at]);
            let line = format!(
                "- {} {}",
                without_secrets(text),
                ledger.cores()[scored.index].id()
            );
            if text.chars().count() > GOAL_LEAST && share.take(line.len() + 1) {
                self.goals.insert(scored.index, line);
            }
        }
        room.0 -= before - share.0;
    }

    fn prior(&mut self, ledger: &'l Ledger, room: &mut Room) {
        let Some(prior) = ledger.prior.as_deref() else {
            return;
        };
        self.prior = start(prior, room.share(PRIOR_SHARE).0);
        room.0 -= self.prior.len();
    }

    /// Lines in the order of retention; of two alike the newer one.
    fn lines(&mut self, ledger: &Ledger, scored: &[Scored], room: &mut Room, tight: bool) {
        let mut ranked: Vec<&Scored> = scored
            .iter()
            .filter(|scored| !self.active.contains_key(&scored.index))
            .collect();
        ranked.sort_by(|a, b| b.retention.total_cmp(&a.retention).then(b.index.cmp(&a.index)));
        let mut share = room.share(if tight { LINES_SHARE } else { 1.0 });
        let before = share.0;
        self.sparse = Room(tokens::bytes(ledger.config().max_sparse_index_tokens));
        for scored in ranked {
            if share.0 < LINE_LEAST {
                break;
            }
            // Within a budget a goal is not told twice.
            if tight && self.goals.contains_key(&scored.index) {
                continue;
            }
            let Some(detail) = ledger.detail(scored.index) else {
                continue;
            };
            let line = line::line(&ledger.cores()[scored.index], detail, *scored);
            if scored.tier == Tier::Sparse && line.len() >= self.sparse.0 {
                continue;
            }
            if share.take(line.len() + 1) {
                if scored.tier == Tier::Sparse {
                    self.sparse.0 -= line.len() + 1;
                }
                self.lines.insert(scored.index, line);
            }
        }
        room.0 -= before - share.0;
    }

    /// Words that are likely to be needed again, each in the line of a message that has it.
    fn words(&mut self, ledger: &'l Ledger, scored: &[Scored], room: &mut Room, tight: bool) {
        let mut known = words::Known::default();
        self.active.values().for_each(|text| known.note(text));
        self.goals.values().for_each(|text| known.note(text));
        self.lines.values().for_each(|text| known.note(text));
        known.note(self.prior);
        let mut left = Room(if tight { room.0 } else { room.0.min(words::UNBOUND) });
        let before = left.0;
        let told = |place: &usize| scored.binary_search_by_key(place, |scored| scored.index).is_ok();
        for (word, seen) in words::ranked(ledger) {
            if left.0 < 8 {
                break;
            }
            if known.has(word) {
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
                .any(|place| self.add(ledger, place, word, &mut left));
            if added {
                known.note(word);
            }
        }
        room.0 -= before - left.0;
    }

    /// Adds a word to the line of a message, or to a new pointer to it; false where there is no room.
    fn add(&mut self, ledger: &'l Ledger, place: usize, word: &'l str, room: &mut Room) -> bool {
        let pointer = match (self.lines.contains_key(&place), ledger.detail(place)) {
            (true, _) => None,
            (false, Some(detail)) => Some(line::pointer(&ledger.cores()[place], detail)),
            (false, None) => return false,
        };
        let mark = if self.added.contains_key(&place) { 0 } else { 2 };
        let cost = word.len() + 1 + mark + pointer.as_ref().map_or(0, |line| line.len() + 1);
        let sparse = ledger.scored(place).tier == Tier::Sparse;
        if sparse && cost > self.sparse.0 || !room.take(cost) {
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

    /// What is left goes to the active context.
    fn grow(&mut self, ledger: &'l Ledger, room: &mut Room) {
        self.widen(ledger, room);
    }
}
