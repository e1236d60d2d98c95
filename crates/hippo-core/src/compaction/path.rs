//! Which records of a session are on its active path, and which were left behind by going back or by an earlier compaction?
//!
//! Pi links each entry to the one that it answers, and the last entry of the file is where the session stands. Claude Code links lines
//! too, but several answers of tools hang on one line; there a path is left only when a person asks anew from an earlier place.

use super::read::{Format, Link};

/// No such record.
const NONE: u32 = u32::MAX;

/// Notes how records hang together while they are read.
#[derive(Debug, Default)]
pub struct Tracker {
    /// Of each record its id and what it answers, hashed; 0 for none.
    links: Vec<(u64, u64)>,
    /// Places of prompts that people wrote.
    prompts: Vec<u32>,
    /// Places of compactions, and the first entry that stayed, hashed.
    compactions: Vec<(u32, u64)>,
    format: Option<Format>,
    /// Every entry answers the one before it.
    linear: bool,
    /// The id of the last entry that has one.
    last: u64,
}

impl Tracker {
    /// Nothing was read yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            linear: true,
            ..Self::default()
        }
    }

    /// Notes the next record; every record is noted, so that places are counted alike in a second reading.
    pub fn note(&mut self, link: Link, format: Option<Format>) {
        let place = u32::try_from(self.links.len()).unwrap_or(NONE);
        self.format = self.format.or(format);
        // A hash of 0 would be taken for none.
        let hashed = |id: Option<u64>| id.map_or(0, |id| id.max(1));
        let (id, parent) = (hashed(link.id), hashed(link.parent));
        self.links.push((id, parent));
        if id != 0 {
            self.linear &= parent == self.last;
            self.last = id;
        }
        if link.prompt {
            self.prompts.push(place);
        }
        if link.compaction {
            self.compactions.push((place, hashed(link.first_kept)));
        }
    }

    /// What to leave out; none where every record is on the path.
    #[must_use]
    pub fn finish(self) -> Option<Selection> {
        let left_out = match self.format {
            Some(Format::Pi) if !self.linear || !self.compactions.is_empty() => self.off_the_path(),
            Some(Format::ClaudeCode) if !self.linear => self.gone_back(),
            _ => return None,
        };
        left_out
            .iter()
            .any(|left_out| *left_out)
            .then_some(Selection { left_out })
    }

    /// Places of ids, sorted by id; of one id that stands twice the last place.
    fn places(&self) -> Vec<(u64, u32)> {
        let mut places: Vec<(u64, u32)> = (0..)
            .zip(&self.links)
            .map(|(place, link)| (link.0, place))
            .collect();
        places.retain(|(id, _)| *id != 0);
        places.sort_unstable();
        places
    }

    fn off_the_path(&self) -> Vec<bool> {
        let places = self.places();
        let mut left_out: Vec<bool> = self.links.iter().map(|(id, _)| *id != 0).collect();
        let mut path = Vec::new();
        let mut at = place(&places, self.last);
        // What is on the path already ends the walk: parents may form a circle.
        while let Some(here) = at
            && let Some(out) = left_out.get_mut(here as usize)
            && *out
        {
            *out = false;
            path.push(here);
            at = place(&places, self.links[here as usize].1);
        }
        // From here on places fall.
        let folding = path
            .iter()
            .position(|here| self.compactions.iter().any(|(place, _)| place == here));
        if let Some(folding) = folding {
            let kept = self.compactions.iter().find(|(place, _)| *place == path[folding]);
            let first_kept = kept.and_then(|(_, id)| place(&places, *id));
            let kept_from = first_kept.and_then(|first| path.iter().rposition(|here| *here == first));
            let last = kept_from.filter(|from| *from > folding).unwrap_or(folding);
            for here in &path[last + 1..] {
                left_out[*here as usize] = true;
            }
        }
        left_out
    }

    fn gone_back(&self) -> Vec<bool> {
        let places = self.places();
        let mut left_out = vec![false; self.links.len()];
        let mut asked: Vec<u32> = Vec::new();
        for &prompt in &self.prompts {
            let parent = place(&places, self.links[prompt as usize].1).filter(|parent| *parent < prompt);
            if let Some(parent) = parent
                && asked.last().is_some_and(|last| *last > parent)
            {
                while asked.last().is_some_and(|last| *last > parent) {
                    asked.pop();
                }
                let (from, to) = (parent as usize + 1, prompt as usize);
                // Without an id a line is on every path.
                for (out, link) in left_out[from..to].iter_mut().zip(&self.links[from..to]) {
                    *out = link.0 != 0;
                }
            }
            asked.push(prompt);
        }
        left_out
    }
}

fn place(places: &[(u64, u32)], id: u64) -> Option<u32> {
    let after = places.partition_point(|(other, _)| *other <= id);
    let (found, place) = places.get(after.checked_sub(1)?)?;
    (*found == id && id != 0).then_some(*place)
}

/// Which records a second reading leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    left_out: Vec<bool>,
}

impl Selection {
    /// Whether the record at this place, from 0, is read.
    #[must_use]
    pub fn takes(&self, place: usize) -> bool {
        !self.left_out.get(place).copied().unwrap_or(false)
    }
}
