//! Rendering of answers as text for people.

pub mod audit;
pub mod backup;
pub mod context;
pub mod curve;
pub mod cycle;
pub mod doctor;
pub mod import;
pub mod index;
pub mod ingest;
pub mod init;
pub mod model;
pub mod passage;
pub mod prompt;
pub mod search;
pub mod service;
pub mod share;
pub mod status;
pub mod sync_check;
pub mod tree;
pub mod trust;
pub mod why;

use serde::Serialize;

pub use hippo_text::text::plural;

const INDENT: &str = "   ";
/// The supported formats of transcripts, as part of a hint.
pub const FORMATS: &str = "supported formats: sessions of Claude Code, Pi, OpenClaw and Codex, and lists of messages; choose one with --format";

/// Replaces all control characters except tab and line feed, so that a terminal does not interpret them.
pub fn harmless(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n' && c != '\t', "\u{fffd}")
}

/// Returns a text from the daemon or a file as one line, with its control characters replaced.
pub fn one_line(text: &str) -> String {
    harmless(text).replace(['\n', '\t'], " ")
}

/// Shortens a text to at most `most` characters. A shortened text ends with an ellipsis.
pub fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short + "…"
}

/// Formats a line range: "12" or "12-14".
pub fn lines(first: u32, last: u32) -> String {
    match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    }
}

/// Formats a duration: "3 s", "2 min", "5 h", "4 d".
pub fn age(ms: u64) -> String {
    match ms / 1000 {
        0 => format!("{ms} ms"),
        s @ 1..=119 => format!("{s} s"),
        s @ 120..=7_199 => format!("{} min", s / 60),
        s @ 7_200..=172_799 => format!("{} h", s / 3_600),
        s => format!("{} d", s / 86_400),
    }
}

/// Formats a size in powers of 1000: "512 B", "1.4 MB".
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    match count.checked_ilog10().unwrap_or(0) / 3 {
        0 => format!("{count} B"),
        power => {
            let power = power.min(4);
            let value = count as f64 / 1_000_f64.powf(power.into());
            format!("{value:.1} {}", UNITS[power as usize - 1])
        }
    }
}

/// Draws a share from 0 to 1 as a bar of this width.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a number of columns"
)]
pub fn bar(share: f64, width: usize) -> String {
    let full = (share.clamp(0.0, 1.0) * width as f64).round() as usize;
    "━".repeat(full) + &"╌".repeat(width - full)
}

/// Formats a property: its label and its value, on an indented line.
pub fn pair(label: &str, value: &str) -> String {
    format!("  {label:<8} {value}\n")
}

/// Returns the JSON name of an enum value, such as "secret-bearing".
pub fn word(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Formats rows as columns with two spaces between them. The columns from number `numeric` on are right-aligned.
pub fn table(rows: &[Vec<String>], numeric: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column < numeric {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_abbreviated() {
        assert_eq!(
            [age(0), age(999), age(59_000), age(7_199_000), age(172_800_000)],
            ["0 ms", "999 ms", "59 s", "119 min", "2 d"]
        );
        assert_eq!(
            [bytes(999), bytes(1_000), bytes(16_250_000)],
            ["999 B", "1.0 kB", "16.2 MB"]
        );
        assert_eq!([plural(0, "file"), plural(1, "file")], ["0 files", "1 file"]);
    }

    #[test]
    fn escape_sequences_of_a_file_are_replaced() {
        assert_eq!(
            harmless("a\x1b[2Jb\tc\nd\u{9b}e\r"),
            "a\u{fffd}[2Jb\tc\nd\u{fffd}e\u{fffd}"
        );
    }

    #[test]
    fn a_bar_has_its_width() {
        let bars = [-1.0, 0.0, 0.04, 0.5, 1.0, 2.0].map(|share| bar(share, 4));
        assert_eq!(bars, ["╌╌╌╌", "╌╌╌╌", "╌╌╌╌", "━━╌╌", "━━━━", "━━━━"]);
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [
            vec!["mode".to_owned(), "r".to_owned()],
            vec!["é".to_owned(), "100.0".to_owned()],
        ];
        assert_eq!(table(&rows, 1), "mode      r\né     100.0\n");
    }
}
