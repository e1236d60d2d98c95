//! Which records of a session are on its active path, and which were left behind by going back or by an earlier compaction?
//!
//! Pi links each entry to the one that it answers, and the last entry of the file is where the session stands. Claude Code links lines
//! too, but several answers of tools hang on one line; there a path is left only when a person asks anew from an earlier place.

use super::read::{Format, Link};

/// Notes how records hang together while they are read.
#[derive(Debug, Default)]
pub struct Tracker {
    /// Records so far.
    count: usize,
    /// Places and hashed ids of the records that have an id.
    places: Vec<u32>,
    ids: Vec<u64>,
    /// What a record answers, hashed, where that is not the record with an id before it: the number of the record among those
    /// with an id, and 0 for nothing.
    parents: Vec<(u32, u64)>,
    /// Numbers of the prompts that people wrote.
    prompts: Vec<u32>,
    /// Numbers of compactions, and the first entry that stayed, hashed.
    compactions: Vec<(u32, u64)>,
    format: Option<Format>,
}

/// What became of a record with an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Taken,
    Left,
    Folded,
}

impl Tracker {
    /// Notes the next record; every record is noted, so that places are counted alike in a second reading.
    pub fn note(&mut self, link: Link, format: Option<Format>) {
        let place = u32::try_from(self.count);
        self.count += 1;
        self.format = self.format.or(format);
        // More records than that are all read.
        let (Some(id), Ok(place), Ok(number)) = (link.id, place, u32::try_from(self.ids.len())) else {
            return;
        };
        let parent = hashed(link.parent);
        if parent != self.ids.last().copied().unwrap_or(0) {
            self.parents.push((number, parent));
        }
        self.places.push(place);
        self.ids.push(hashed(Some(id)));
        if link.prompt {
            self.prompts.push(number);
        }
        if link.compaction {
            self.compactions.push((number, hashed(link.first_kept)));
        }
    }

    /// What to leave out; none where every record is on the path.
    #[must_use]
    pub fn finish(self) -> Option<Selection> {
        let linear = self.parents.is_empty();
        let fates = match self.format {
            Some(Format::Pi) if !linear || !self.compactions.is_empty() => self.off_the_path(),
            Some(Format::ClaudeCode) if !linear => self.gone_back(),
            _ => return None,
        };
        let mut spans: Vec<Span> = Vec::new();
        for (&from, fate) in self.places.iter().zip(fates) {
            let folded = fate == Fate::Folded;
            match spans.last_mut() {
                _ if fate == Fate::Taken => {}
                Some(last) if last.to == from && last.folded == folded => last.to = from + 1,
                _ => spans.push(Span {
                    from,
                    to: from.saturating_add(1),
                    folded,
                }),
            }
        }
        (!spans.is_empty()).then_some(Selection { spans })
    }

    /// The hashed id of what a record answers; 0 for nothing.
    fn parent(&self, number: u32) -> u64 {
        match self.parents.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(at) => self.parents[at].1,
            Err(_) => (number as usize)
                .checked_sub(1)
                .and_then(|before| self.ids.get(before))
                .map_or(0, |id| *id),
        }
    }

    fn off_the_path(&self) -> Vec<Fate> {
        let ids = Ids::of(&self.ids);
        let mut fates = vec![Fate::Left; self.ids.len()];
        let mut path = Vec::new();
        let mut at = self.ids.last().and_then(|last| ids.number(*last));
        // What is on the path already ends the walk: parents may form a circle.
        while let Some(here) = at
            && let Some(fate) = fates.get_mut(here as usize)
            && *fate == Fate::Left
        {
            *fate = Fate::Taken;
            path.push(here);
            at = ids.number(self.parent(here));
        }
        // The last compaction on the path folds what is before the first entry that it kept.
        let compaction = path.iter().enumerate().find_map(|(at, here)| {
            let found = self.compactions.binary_search_by_key(here, |(number, _)| *number);
            found.ok().map(|found| (at, self.compactions[found].1))
        });
        if let Some((folding, first_kept)) = compaction {
            let first_kept = ids.number(first_kept);
            let kept_from = first_kept.and_then(|first| path.iter().rposition(|here| *here == first));
            let last = kept_from.filter(|from| *from > folding).unwrap_or(folding);
            for here in &path[last + 1..] {
                fates[*here as usize] = Fate::Folded;
            }
        }
        fates
    }

    /// Back from the last prompt: the turn in which it was asked, the turn of the prompt which that one began with, and so on.
    fn gone_back(&self) -> Vec<Fate> {
        let ids = Ids::of(&self.ids);
        let mut fates = vec![Fate::Taken; self.ids.len()];
        let mut turn = self.prompts.len();
        while let Some(at) = turn.checked_sub(1) {
            let prompt = self.prompts[at];
            let asked_from = ids.number(self.parent(prompt)).filter(|parent| *parent < prompt);
            // A prompt that answers nothing known goes on from where the file is.
            let Some(parent) = asked_from else {
                turn = at;
                continue;
            };
            turn = self.prompts[..at].partition_point(|before| *before <= parent);
            // In the turn right before, what stands beside the parent belongs to it: answers of tools.
            if turn < at {
                fates[parent as usize + 1..prompt as usize].fill(Fate::Left);
            }
        }
        fates
    }
}

/// A hash of 0 would be taken for none.
fn hashed(id: Option<u64>) -> u64 {
    id.map_or(0, |id| id.max(1))
}

/// Numbers by hashed id, sorted; of an id that stands twice the last one counts.
struct Ids(Vec<(u64, u32)>);

impl Ids {
    fn of(ids: &[u64]) -> Self {
        let mut numbers: Vec<(u64, u32)> = ids.iter().copied().zip(0..).collect();
        numbers.sort_unstable();
        Self(numbers)
    }

    fn number(&self, id: u64) -> Option<u32> {
        let after = self.0.partition_point(|(other, _)| *other <= id);
        let (found, number) = self.0.get(after.checked_sub(1)?)?;
        (*found == id && id != 0).then_some(*number)
    }
}

/// Records next to each other that a second reading leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    from: u32,
    to: u32,
    folded: bool,
}

/// Which records a second reading leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    spans: Vec<Span>,
}

impl Selection {
    /// What is to be done with the record at this place, from 0.
    #[must_use]
    pub(super) fn of(&self, place: usize) -> Reading {
        let after = self.spans.partition_point(|span| span.from as usize <= place);
        let span = after.checked_sub(1).and_then(|before| self.spans.get(before));
        match span.filter(|span| place < span.to as usize) {
            None => Reading::Take,
            Some(span) if span.folded => Reading::Fold,
            Some(_) => Reading::Leave,
        }
    }
}

/// What is to be done with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// It is on the path.
    Take,
    /// The summary of an earlier compaction stands for it.
    Fold,
    /// It is on a branch that was left.
    Leave,
}
