//! Table of measured figures and their targets.

use std::fmt;
use std::io::{self, IsTerminal};

use crate::terminal::say;

/// Width of a bar.
const BAR: usize = 20;
/// Maximum width of the column with the names of the figures.
const WHAT: usize = 60;

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

/// Prints all figures: on a terminal as bars with a sentence of result, otherwise as one markdown table.
pub fn print(figures: &[Figure]) {
    if io::stdout().is_terminal() {
        return say(format_args!("\n{}", chart(figures)));
    }
    say(format_args!(
        "\n| what | measured | reach | reached | `cargo lab bench --eval DIR` |\n|---|---|---|---|---|"
    ));
    figures.iter().for_each(|figure| say(format_args!("{figure}")));
}

/// Draws each figure that has a target as a bar, in which `┃` is the target. Returns the other figures as text.
fn chart(figures: &[Figure]) -> String {
    let width = figures.iter().map(|figure| figure.what.chars().count()).max();
    let width = width.unwrap_or(0).min(WHAT);
    let mut text = String::new();
    for figure in figures {
        let bar = match (quantity(&figure.measured), quantity(&figure.reach)) {
            (Some((measured, unit)), Some((target, other))) if unit == other => bar(measured, target),
            _ => " ".repeat(BAR),
        };
        let reached = match figure.reached {
            Some(true) => format!(", target {}", figure.reach),
            Some(false) => format!(", MISSED the target {}", figure.reach),
            None => String::new(),
        };
        let Figure { what, measured, .. } = figure;
        text += &format!("{what:<width$} {bar} {measured}{reached}\n");
    }
    text + "\n" + &verdict(figures)
}

/// Returns the result of all figures as one sentence.
fn verdict(figures: &[Figure]) -> String {
    let missed = figures.iter().filter(|figure| figure.reached == Some(false));
    let missed: Vec<&str> = missed.map(|figure| &*figure.what).collect();
    let all = figures.iter().filter(|figure| figure.reached.is_some()).count();
    match (all, missed.len()) {
        (0, _) => format!("{} figures were measured, and none has a target.", figures.len()),
        (all, 0) => format!("All targets are reached: {all}."),
        (all, count) => format!(
            "{} of {all} targets are reached; missed: {}.",
            all - count,
            missed.join("; ")
        ),
    }
}

/// Draws a bar, and the target on the same scale.
fn bar(measured: f64, target: f64) -> String {
    let scale = measured.max(target).max(f64::MIN_POSITIVE);
    let column = |value: f64| (value / scale * BAR as f64).round() as usize;
    let (filled, mark) = (column(measured), column(target).clamp(1, BAR) - 1);
    let cell = |at: usize| match at {
        at if at == mark => '┃',
        at if at < filled => '━',
        _ => '╌',
    };
    (0..BAR).map(cell).collect()
}

/// Parses the first number of a text and its unit. Durations are in milliseconds.
fn quantity(text: &str) -> Option<(f64, &str)> {
    let text = &text[text.find(|mark: char| mark.is_ascii_digit())?..];
    let end = text.find(|mark: char| !mark.is_ascii_digit() && mark != '.');
    let (number, rest) = text.split_at(end.unwrap_or(text.len()));
    let number: f64 = number.parse().ok()?;
    match rest.split_whitespace().next().unwrap_or_default() {
        "s" => Some((number * 1e3, "ms")),
        "min" => Some((number * 60e3, "ms")),
        unit => Some((number, unit.trim_end_matches([',', ';']))),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_drawn_against_their_targets() {
        let figures = [
            Figure::new("latency", "median", "2.50 ms").reach("≤ 5 ms", true),
            Figure::new("restart", "restart", "1.0 s").reach("≤ 500 ms", false),
            Figure::new("size", "binary", "14.8 MB"),
        ];
        let expected = "\
median  ━━━━━━━━━━╌╌╌╌╌╌╌╌╌┃ 2.50 ms, target ≤ 5 ms
restart ━━━━━━━━━┃━━━━━━━━━━ 1.0 s, MISSED the target ≤ 500 ms
binary                       14.8 MB

1 of 2 targets are reached; missed: restart.";
        assert_eq!(chart(&figures), expected);
        assert_eq!(verdict(&figures[..1]), "All targets are reached: 1.");
    }
}
