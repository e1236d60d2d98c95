//! Detection of the active path of a session.
//!
//! In Pi, each entry links to the entry that it answers, and the last entry of the file is the active one. In Claude
//! Code, lines link to lines as well, but several tool results may link to one line. There, a branch counts as
//! abandoned only if a person sends a new prompt from an earlier position.

use super::read::RecordLink;
use hippo_types::transcript::TranscriptFormat;

/// Collector of the links between records.
#[derive(Debug, Default)]
pub struct BranchTracker {
    /// Records so far.
    count: usize,
    /// Positions of the records that have an id; `ids` holds their hashed ids.
    places: Vec<u32>,
    ids: Vec<u64>,
    /// Hashed parent of a record, by its number among the records with an id; 0 for none. Only parents that differ
    /// from the preceding record with an id are stored.
    parents: Vec<(u32, u64)>,
    /// Numbers of the prompts that people wrote.
    prompts: Vec<u32>,
    /// Numbers of the compactions, each with the hashed id of the first entry that it kept.
    compactions: Vec<(u32, u64)>,
    format: Option<TranscriptFormat>,
}

/// Outcome of a record with an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordFate {
    Kept,
    Abandoned,
    Folded,
}

impl BranchTracker {
    /// Notes the next record. Every record must be noted, so that positions agree with those in the second reading.
    pub fn note(&mut self, link: RecordLink, format: Option<TranscriptFormat>) {
        let place = u32::try_from(self.count);
        self.count += 1;
        self.format = self.format.or(format);
        // Records beyond `u32::MAX` are never skipped.
        let (Some(id), Ok(place), Ok(number)) = (link.id, place, u32::try_from(self.ids.len())) else {
            return;
        };
        let parent = nonzero_hash(link.parent);
        if parent != self.ids.last().copied().unwrap_or(0) {
            self.parents.push((number, parent));
        }
        self.places.push(place);
        self.ids.push(nonzero_hash(Some(id)));
        if link.prompt {
            self.prompts.push(number);
        }
        if link.compaction {
            self.compactions.push((number, nonzero_hash(link.first_kept)));
        }
    }

    /// Returns the records that the second reading must skip, or `None` if every record is on the path.
    #[must_use]
    pub fn finish(self) -> Option<RecordSelection> {
        let linear = self.parents.is_empty();
        let fates = match self.format {
            Some(TranscriptFormat::Pi) if !linear || !self.compactions.is_empty() => self.find_pi_fates(),
            Some(TranscriptFormat::ClaudeCode) if !linear => self.find_claude_fates(),
            _ => return None,
        };
        let mut spans: Vec<RecordSpan> = Vec::new();
        for (&from, fate) in self.places.iter().zip(fates) {
            let folded = fate == RecordFate::Folded;
            match spans.last_mut() {
                _ if fate == RecordFate::Kept => {}
                Some(last) if last.to == from && last.folded == folded => last.to = from + 1,
                _ => spans.push(RecordSpan {
                    from,
                    to: from.saturating_add(1),
                    folded,
                }),
            }
        }
        (!spans.is_empty()).then_some(RecordSelection { spans })
    }

    /// Returns the hashed id of the parent; 0 for none.
    fn parent(&self, number: u32) -> u64 {
        match self.parents.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(at) => self.parents[at].1,
            Err(_) => (number as usize)
                .checked_sub(1)
                .and_then(|before| self.ids.get(before))
                .map_or(0, |id| *id),
        }
    }

    fn find_pi_fates(&self) -> Vec<RecordFate> {
        let ids = RecordIds::from_hashes(&self.ids);
        let mut fates = vec![RecordFate::Abandoned; self.ids.len()];
        let mut path = Vec::new();
        let mut at = self.ids.last().and_then(|last| ids.find(*last));
        // The walk ends at a record that is already on the path, because parents may form a cycle.
        while let Some(here) = at
            && let Some(fate) = fates.get_mut(here as usize)
            && *fate == RecordFate::Abandoned
        {
            *fate = RecordFate::Kept;
            path.push(here);
            at = ids.find(self.parent(here));
        }
        // The last compaction on the path replaces the entries before the first entry that it kept.
        let compaction = path.iter().enumerate().find_map(|(at, here)| {
            let found = self.compactions.binary_search_by_key(here, |(number, _)| *number);
            found.ok().map(|found| (at, self.compactions[found].1))
        });
        if let Some((folding, first_kept)) = compaction {
            let first_kept = ids.find(first_kept);
            let kept_from = first_kept.and_then(|first| path.iter().rposition(|here| *here == first));
            let last = kept_from.filter(|from| *from > folding).unwrap_or(folding);
            for here in &path[last + 1..] {
                fates[*here as usize] = RecordFate::Folded;
            }
        }
        fates
    }

    /// Walks back from the last prompt to the turn that contains its parent, then to the parent of that turn's
    /// prompt, and so on.
    fn find_claude_fates(&self) -> Vec<RecordFate> {
        let ids = RecordIds::from_hashes(&self.ids);
        let mut fates = vec![RecordFate::Kept; self.ids.len()];
        let mut turn = self.prompts.len();
        while let Some(at) = turn.checked_sub(1) {
            let prompt = self.prompts[at];
            let asked_from = ids.find(self.parent(prompt)).filter(|parent| *parent < prompt);
            // A prompt whose parent is unknown continues the turn before it.
            let Some(parent) = asked_from else {
                turn = at;
                continue;
            };
            turn = self.prompts[..at].partition_point(|before| *before <= parent);
            // In the immediately preceding turn, records after the parent belong to the same answer, because they are
            // tool results.
            if turn < at {
                fates[parent as usize + 1..prompt as usize].fill(RecordFate::Abandoned);
            }
        }
        fates
    }
}

/// Maps the hash 0 to 1, because 0 means "none".
fn nonzero_hash(id: Option<u64>) -> u64 {
    id.map_or(0, |id| id.max(1))
}

/// Record numbers by hashed id, sorted. For a repeated id, the last record counts.
struct RecordIds(Vec<(u64, u32)>);

impl RecordIds {
    fn from_hashes(ids: &[u64]) -> Self {
        let mut numbers: Vec<(u64, u32)> = ids.iter().copied().zip(0..).collect();
        numbers.sort_unstable();
        Self(numbers)
    }

    fn find(&self, id: u64) -> Option<u32> {
        let after = self.0.partition_point(|(other, _)| *other <= id);
        let (found, number) = self.0.get(after.checked_sub(1)?)?;
        (*found == id && id != 0).then_some(*number)
    }
}

/// Range of adjacent records that the second reading skips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RecordSpan {
    from: u32,
    to: u32,
    folded: bool,
}

/// Records that the second reading skips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordSelection {
    spans: Vec<RecordSpan>,
}

impl RecordSelection {
    /// Returns how to read the record at this position, from 0.
    #[must_use]
    pub(super) fn reading_at(&self, place: usize) -> RecordReading {
        let after = self.spans.partition_point(|span| span.from as usize <= place);
        let span = after.checked_sub(1).and_then(|before| self.spans.get(before));
        match span.filter(|span| place < span.to as usize) {
            None => RecordReading::Keep,
            Some(span) if span.folded => RecordReading::Fold,
            Some(_) => RecordReading::Skip,
        }
    }
}

/// Treatment of a record in the second reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordReading {
    /// The record is on the active path.
    Keep,
    /// The summary of an earlier compaction replaces the record.
    Fold,
    /// The record is on an abandoned branch.
    Skip,
}
