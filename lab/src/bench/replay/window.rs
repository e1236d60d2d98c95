//! How does a harness keep a session within the window of its model?
//!
//! As Pi and OpenClaw do it: when the next prompt would fill so much of the window, everything but the newest turns becomes
//! a summary. What is summarised again goes into the new summary.

/// Share of the limit from which a prompt is compacted.
pub const FULL: f64 = 0.8;
/// Share of the limit that the newest turns may keep. Of 200,000 tokens these are the 20,000 that Pi and OpenClaw keep.
const KEPT: f64 = 0.1;
/// Tokens of the summary.
pub const SUMMARY: usize = 2_000;

/// What stands in the window from the calls so far.
pub struct Window {
    limit: usize,
    /// Tokens of the summary, 0 before there is one.
    summary: usize,
    /// Turns for which what tools gave stays whole, at least 1: that in which it came.
    whole: usize,
    /// Tokens of the turns that are not summarised, the oldest first: at first, and when what tools gave has gone.
    turns: Vec<(usize, usize)>,
    /// How often it was compacted.
    pub compactions: usize,
}

impl Window {
    /// An empty one of so many tokens, in which what tools gave stays whole for so many turns.
    pub fn new(limit: usize, whole: usize) -> Self {
        Self {
            limit,
            whole,
            summary: 0,
            turns: Vec::new(),
            compactions: 0,
        }
    }

    /// Tokens of the next prompt, which consists of what stands here and `besides`. Compacts first where that is needed and something
    /// can go.
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
        // A summary that stands for less than itself is no help.
        if self.summary + (0..from).map(|at| self.turn(at)).sum::<usize>() > SUMMARY {
            self.turns.drain(..from);
            self.summary = SUMMARY;
            self.compactions += 1;
        }
        self.size() + besides
    }

    /// Ends a turn of which so many tokens stay at first, and so many for good.
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
        let mut window = Window::new(100_000, 1);
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
        // What has just come is read, however large it is: nothing is left that could go.
        assert_eq!((window.prompt(99_000), window.compactions), (SUMMARY + 99_000, 2));
    }

    #[test]
    fn what_tools_gave_stays_whole_for_some_turns() {
        let mut window = Window::new(100_000, 3);
        let mut sizes = Vec::new();
        for first in [1_000, 100, 100, 100] {
            window.keep(first, 100);
            sizes.push(window.prompt(0));
        }
        // The first was whole in its own turn and in the two after it.
        assert_eq!(sizes, [1_000, 1_100, 300, 400]);
    }
}
