//! Detection of the active path of a session.
//!
//! In Pi, each entry links to the entry that it answers, and the active path ends at the last entry of the file. In
//! Claude Code, records have such links as well, but several tool results may link to one record. A branch of a Claude
//! Code session therefore counts as abandoned only if a person sends a new prompt from an earlier position.

use std::collections::HashMap;

use super::read::RecordLink;
use hippo_types::transcript::TranscriptFormat;

/// Collector of the links between the records of a session.
#[derive(Debug, Default)]
pub struct BranchTracker {
    links: Vec<RecordLink>,
    format: Option<TranscriptFormat>,
}

impl BranchTracker {
    /// Stores the link of the next record. The caller must do this for every record, so that positions agree with those
    /// in the second reading.
    pub fn note(&mut self, link: RecordLink, format: Option<TranscriptFormat>) {
        self.format = self.format.or(format);
        self.links.push(link);
    }

    /// Returns the treatment of each record in the second reading, by its position. Returns `None` if every record is
    /// on the active path.
    pub fn finish(self) -> Option<Vec<RecordReading>> {
        let readings = match self.format {
            Some(TranscriptFormat::Pi) => self.find_pi_path(),
            Some(TranscriptFormat::ClaudeCode) => self.find_claude_path(),
            _ => return None,
        };
        let selects = readings.iter().any(|reading| *reading != RecordReading::Keep);
        selects.then_some(readings)
    }

    /// Returns the positions of the records by id. For a repeated id, the last record counts.
    fn positions(&self) -> HashMap<u64, usize> {
        let links = self.links.iter().enumerate();
        links.filter_map(|(at, link)| Some((link.id?, at))).collect()
    }

    fn find_pi_path(&self) -> Vec<RecordReading> {
        let positions = self.positions();
        let off_path = |link: &RecordLink| link.id.map_or(RecordReading::Keep, |_| RecordReading::Skip);
        let mut readings: Vec<RecordReading> = self.links.iter().map(off_path).collect();
        let mut path = Vec::new();
        let mut next = self.links.iter().rposition(|link| link.id.is_some());
        // The walk ends at a record that is already on the path, because parents may form a cycle.
        while let Some(here) = next
            && readings[here] == RecordReading::Skip
        {
            readings[here] = RecordReading::Keep;
            path.push(here);
            next = self.links[here].parent.and_then(|id| positions.get(&id).copied());
        }
        // The last compaction on the path replaces the entries before the first entry that it kept.
        if let Some(folding) = path.iter().position(|here| self.links[*here].compaction) {
            let first_kept = self.links[path[folding]].first_kept;
            let first_kept = first_kept.and_then(|id| positions.get(&id));
            let kept_from = first_kept.and_then(|first| path.iter().rposition(|here| here == first));
            let last = kept_from.filter(|from| *from > folding).unwrap_or(folding);
            for here in &path[last + 1..] {
                readings[*here] = RecordReading::Fold;
            }
        }
        readings
    }

    /// Marks the records of abandoned branches as skipped. Starts at the last prompt. From each prompt, goes back to
    /// the turn that contains the prompt's parent, until there is no earlier turn.
    fn find_claude_path(&self) -> Vec<RecordReading> {
        let positions = self.positions();
        let mut readings = vec![RecordReading::Keep; self.links.len()];
        let is_prompt = |at: &usize| self.links[*at].prompt && self.links[*at].id.is_some();
        let prompts: Vec<usize> = (0..self.links.len()).filter(is_prompt).collect();
        let mut turn = prompts.len();
        while let Some(at) = turn.checked_sub(1) {
            let prompt = prompts[at];
            let asked_from = self.links[prompt].parent.and_then(|id| positions.get(&id));
            // A prompt whose parent is unknown continues the turn before it.
            let Some(parent) = asked_from.copied().filter(|parent| *parent < prompt) else {
                turn = at;
                continue;
            };
            turn = prompts[..at].partition_point(|before| *before <= parent);
            // If the parent is in the turn just before the prompt, no branch was abandoned: the records between the
            // parent and the prompt are tool results of the same answer.
            if turn < at {
                let abandoned = (parent + 1..prompt).filter(|at| self.links[*at].id.is_some());
                abandoned.for_each(|at| readings[at] = RecordReading::Skip);
            }
        }
        readings
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
