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
    /// Tokens of the turns that are not summarised, the oldest first.
    turns: Vec<usize>,
    /// How often it was compacted.
    pub compactions: usize,
}

impl Window {
    /// An empty one of so many tokens.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
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
        while from > 0 && kept + self.turns[from - 1] <= room {
            from -= 1;
            kept += self.turns[from];
        }
        // A summary that stands for less than itself is no help.
        if self.summary + self.turns[..from].iter().sum::<usize>() > SUMMARY {
            self.turns.drain(..from);
            self.summary = SUMMARY;
            self.compactions += 1;
        }
        self.size() + besides
    }

    /// What is left of a turn after it.
    pub fn keep(&mut self, tokens: usize) {
        self.turns.push(tokens);
    }

    fn size(&self) -> usize {
        self.summary + self.turns.iter().sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_keeps_the_newest_turns_and_a_summary() {
        let mut window = Window::new(100_000);
        for _ in 0..20 {
            window.keep(3_500);
        }
        assert_eq!((window.prompt(9_999), window.compactions), (79_999, 0));
        assert_eq!(
            (window.prompt(10_000), window.compactions),
            (SUMMARY + 7_000 + 10_000, 1)
        );
        window.keep(70_000);
        assert_eq!((window.prompt(1_000), window.compactions), (SUMMARY + 1_000, 2));
        // What has just come is read, however large it is: nothing is left that could go.
        assert_eq!((window.prompt(99_000), window.compactions), (SUMMARY + 99_000, 2));
    }
}
