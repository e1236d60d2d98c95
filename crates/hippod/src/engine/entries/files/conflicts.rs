//! Conflicts in merges of the index file.

/// Maximum number of conflicts in each list. The oldest conflicts above the maximum are dropped.
const MOST: usize = 100;

/// Conflicts since the last run, and conflicts that no heartbeat has reported yet.
#[derive(Debug, Clone, Default)]
pub struct Conflicts {
    of_run: Vec<String>,
    untold: Vec<String>,
}

impl Conflicts {
    /// Records a conflict as a message for the user.
    pub fn push(&mut self, told: String) {
        for list in [&mut self.of_run, &mut self.untold] {
            list.push(told.clone());
            let more = list.len().saturating_sub(MOST);
            list.drain(..more);
        }
    }

    /// Removes and returns the conflicts since the last run, to be stored with the run that is about to end.
    pub fn take_for_run(&mut self) -> Vec<String> {
        std::mem::take(&mut self.of_run)
    }

    /// Returns the conflicts that no heartbeat has reported yet, newest first.
    pub fn unreported(&self) -> impl Iterator<Item = &String> {
        self.untold.iter().rev()
    }

    /// Marks all conflicts as reported by a heartbeat.
    pub fn are_told(&mut self) {
        self.untold.clear();
    }
}
