//! Context window of a session, with compaction.
//!
//! The behaviour is that of Pi and OpenClaw. When the next prompt would exceed the share [`FULL`] of the limit, a
//! summary replaces all but the newest turns. The summary also covers the previous summary.

/// Share of the limit above which a prompt is compacted.
pub const FULL: f64 = 0.8;
/// Share of the limit for the newest turns, which a compaction keeps. For a limit of 200,000 tokens, it is 20,000
/// tokens, as in Pi and OpenClaw.
const KEPT: f64 = 0.1;
/// Number of tokens of a summary.
pub const SUMMARY: usize = 2_000;

/// Contents of the window after the calls so far.
pub struct ContextWindow {
    limit: usize,
    /// Number of tokens of the current summary; 0 before the first one.
    summary: usize,
    /// Number of turns for which a tool result stays whole. It is at least 1, because a result is whole in its own
    /// turn.
    whole: usize,
    /// Tokens of the turns after the summary, oldest first: with whole tool results, and without them.
    turns: Vec<(usize, usize)>,
    /// Number of compactions.
    pub compactions: usize,
}

impl ContextWindow {
    /// Creates an empty window of `limit` tokens, in which tool results stay whole for `whole` turns.
    pub fn new(limit: usize, whole: usize) -> Self {
        Self {
            limit,
            whole,
            summary: 0,
            turns: Vec::new(),
            compactions: 0,
        }
    }

    /// Returns the tokens of the next prompt, which consists of the window and `besides` more tokens. First compacts
    /// the window if this is necessary and possible.
    pub fn prompt(&mut self, besides: usize) -> usize {
        let all = self.size() + besides;
        if (all as f64) < FULL * self.limit as f64 {
            return all;
        }
        let room = (KEPT * self.limit as f64) as usize;
        let mut kept = 0;
        let mut from = self.turns.len();
        while from > 0 && kept + self.turn(from - 1) <= room {
            from -= 1;
            kept += self.turn(from);
        }
        // A summary must be smaller than the turns that it replaces.
        if self.summary + (0..from).map(|at| self.turn(at)).sum::<usize>() > SUMMARY {
            self.turns.drain(..from);
            self.summary = SUMMARY;
            self.compactions += 1;
        }
        self.size() + besides
    }

    /// Ends a turn. The turn has `first` tokens while its tool results are whole, and `left` tokens afterwards.
    pub fn keep(&mut self, first: usize, left: usize) {
        self.turns.push((first, left));
    }

    fn turn(&self, at: usize) -> usize {
        let (first, left) = self.turns[at];
        if self.turns.len() - at < self.whole {
            first
        } else {
            left
        }
    }

    fn size(&self) -> usize {
        self.summary + (0..self.turns.len()).map(|at| self.turn(at)).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_keeps_the_newest_turns_and_a_summary() {
        let mut window = ContextWindow::new(100_000, 1);
        for _ in 0..20 {
            window.keep(9_000, 3_500);
        }
        assert_eq!((window.prompt(9_999), window.compactions), (79_999, 0));
        assert_eq!(
            (window.prompt(10_000), window.compactions),
            (SUMMARY + 7_000 + 10_000, 1)
        );
        window.keep(0, 70_000);
        assert_eq!((window.prompt(1_000), window.compactions), (SUMMARY + 1_000, 2));
        // New input is always read, whatever its size. No other turn can be removed.
        assert_eq!((window.prompt(99_000), window.compactions), (SUMMARY + 99_000, 2));
    }

    #[test]
    fn tool_results_stay_complete_for_some_turns() {
        let mut window = ContextWindow::new(100_000, 3);
        let mut sizes = Vec::new();
        for first in [1_000, 100, 100, 100] {
            window.keep(first, 100);
            sizes.push(window.prompt(0));
        }
        // The first result was whole in its own turn and in the next two turns.
        assert_eq!(sizes, [1_000, 1_100, 300, 400]);
    }
}
