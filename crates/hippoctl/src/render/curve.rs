//! Curve of the strength of an entry over the next days, for terminals.

use crate::output::Style;

/// Days that the curve covers.
const DAYS: u32 = 90;
/// Days between two points of the curve.
const STEP: u32 = 3;
/// Columns of a point.
const WIDTH: usize = 2;
/// Rows of the curve.
const ROWS: u32 = 6;
/// Blocks of an eighth to eight eighths of a row.
const BLOCKS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Returns the days for which the curve needs strengths.
pub fn days() -> impl Iterator<Item = u32> {
    (0..=DAYS / STEP).map(|point| point * STEP)
}

/// Draws the strengths, from 0 to 1, at the [`days`].
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a number of blocks"
)]
pub fn curve(strengths: &[f32], style: Style) -> String {
    let mut text = "  strength in the next 90 days, unless it is accessed\n".to_owned();
    for row in (0..ROWS).rev() {
        let label = match row {
            0 => "0.0",
            row if row + 1 == ROWS => "1.0",
            row if row == ROWS / 2 => "0.5",
            _ => "",
        };
        let block = |strength: &f32| {
            let eighths = (strength.clamp(0.0, 1.0) * (ROWS * 8) as f32).round() as u32;
            let here = eighths.saturating_sub(row * 8).min(8);
            BLOCKS[here as usize].repeat(WIDTH)
        };
        let blocks: String = strengths.iter().map(block).collect();
        text += &format!("  {label:>8} {}\n", style.path(blocks.trim_end()));
    }
    let month = 30 / STEP as usize * WIDTH;
    text + &format!(
        "  {:>8} {:<month$}{:<month$}{:<month$}90 d\n",
        "", "now", "30 d", "60 d"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_falls_from_left_to_right_in_few_lines() {
        let strengths: Vec<f32> = days().map(|day| 1.0 / (1.0 + day as f32 / 30.0)).collect();
        let text = curve(&strengths, Style::default());
        assert!(text.lines().count() <= 12);
        assert!(text.lines().all(|line| line.chars().count() < 80));
        insta::assert_snapshot!(text);
    }
}
