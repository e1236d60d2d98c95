//! Ways to manage the context, and the result of a replay.

use std::ops::AddAssign;

use super::price::BilledTokens;

/// A way to manage the context. By default, the agent keeps everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContextArm {
    /// hippod: a tool result above so many tokens is an entry when it is first sent.
    pub first: Option<usize>,
    /// hippod: contents of files are whole when they are first sent.
    pub files_whole: bool,
    /// Number of newest tool results that stay whole. Older ones are replaced in each request.
    pub newest: Option<usize>,
    /// An entry of hippod replaces a result, not a short line.
    pub entries: bool,
    /// Anthropic's `clear_tool_uses_20250919`, with `trigger`, `keep` and `clear_at_least`: in a prompt above the
    /// trigger, a line replaces all tool results except the newest, if this removes enough tokens.
    pub clear: Option<[usize; 3]>,
    /// In a prompt with messages above so many tokens, a summary replaces all messages except the newest, which have
    /// at most so many tokens.
    pub compact: Option<([usize; 2], Summarizer)>,
    /// Maximum tokens of a fetched part around a value; `None` fetches the whole content.
    pub part: Option<usize>,
}

/// Author of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summarizer {
    /// The model, with an additional call.
    Model,
    /// hippod, with at most so many tokens.
    Extract(usize),
}

impl ContextArm {
    /// Returns `true` if the definitions of hippod's tools are in each prompt.
    pub fn uses_hippod(&self) -> bool {
        self.entries || matches!(self.compact, Some((_, Summarizer::Extract(_))))
    }
}

/// Result of a replay.
#[derive(Debug, Default, Clone, Copy)]
pub struct ArmResult {
    pub billed: BilledTokens,
    /// Part of [`Self::billed`] for requests that fetch values. It does not include the contents in later prompts.
    pub refetched: BilledTokens,
    pub fetches: usize,
    pub compactions: usize,
    /// Values that the agent named and that earlier messages contained: all, and those that the new messages of the
    /// turn did not contain.
    pub needed: [usize; 2],
    /// Those of the needed values that the context contained.
    pub present: [usize; 2],
    /// Needed values that could not be fetched.
    pub lost: usize,
    pub requests: usize,
    /// Tokens of all requests, and of the largest.
    pub prompts: [usize; 2],
}

impl ArmResult {
    /// Returns the percentage of the needed values that the context contained.
    pub fn shares(&self) -> [f64; 2] {
        [0, 1].map(|at| 100.0 * self.present[at] as f64 / self.needed[at].max(1) as f64)
    }
}

impl AddAssign<&Self> for ArmResult {
    fn add_assign(&mut self, other: &Self) {
        for at in 0..self.billed.len() {
            self.billed[at] += other.billed[at];
            self.refetched[at] += other.refetched[at];
        }
        self.fetches += other.fetches;
        self.compactions += other.compactions;
        self.lost += other.lost;
        self.requests += other.requests;
        self.prompts = [
            self.prompts[0] + other.prompts[0],
            self.prompts[1].max(other.prompts[1]),
        ];
        for at in [0, 1] {
            self.needed[at] += other.needed[at];
            self.present[at] += other.present[at];
        }
    }
}
