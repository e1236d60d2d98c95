//! What was decided against somebody when the index file was merged, and who has been told of it?

/// Conflicts that are kept for whoever was not told yet, at most; the newest stay.
const MOST: usize = 100;

/// Conflicts since the last run, and those that no heartbeat has told.
#[derive(Debug, Clone, Default)]
pub struct Conflicts {
    of_run: Vec<String>,
    untold: Vec<String>,
}

impl Conflicts {
    /// Notes one, for people.
    pub fn push(&mut self, told: String) {
        for list in [&mut self.of_run, &mut self.untold] {
            list.push(told.clone());
            let more = list.len().saturating_sub(MOST);
            list.drain(..more);
        }
    }

    /// Those since the last run: they are kept with the run that ends.
    pub fn take_for_run(&mut self) -> Vec<String> {
        std::mem::take(&mut self.of_run)
    }

    /// Those that no heartbeat has told, the newest first.
    pub fn untold(&self) -> impl Iterator<Item = &String> {
        self.untold.iter().rev()
    }

    /// A heartbeat tells them.
    pub fn are_told(&mut self) {
        self.untold.clear();
    }
}
