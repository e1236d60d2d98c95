//! Table of measured figures and their targets.

use std::fmt;

use crate::terminal::say;

/// One measured figure, with its target if there is one.
pub struct Figure {
    part: &'static str,
    what: String,
    measured: String,
    reach: String,
    reached: Option<bool>,
}

impl Figure {
    /// Creates a figure without a target.
    pub fn new(part: &'static str, what: impl Into<String>, measured: impl Into<String>) -> Self {
        Self {
            part,
            what: what.into(),
            measured: measured.into(),
            reach: "–".into(),
            reached: None,
        }
    }

    /// Adds a target.
    pub fn reach(self, reach: impl Into<String>, reached: bool) -> Self {
        Self {
            reach: reach.into(),
            reached: Some(reached),
            ..self
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            part,
            what,
            measured,
            reach,
            reached,
        } = self;
        let reached = match reached {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "",
        };
        write!(
            f,
            "| {what} | {measured} | {reach} | {reached} | `--only {part}` |"
        )
    }
}

/// Prints all figures as one markdown table.
pub fn print(figures: &[Figure]) {
    say(format_args!(
        "\n| what | measured | reach | reached | `cargo lab bench --eval DIR` |\n|---|---|---|---|---|"
    ));
    figures.iter().for_each(|figure| say(format_args!("{figure}")));
}

/// Formats milliseconds.
pub fn ms(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.2} ms")
    } else {
        format!("{value:.0} ms")
    }
}

/// Returns the nearest-rank percentile, or 0 without values. `share` is 0 to 1.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}
