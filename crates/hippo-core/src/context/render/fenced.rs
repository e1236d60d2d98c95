//! How does a text of the memory stand in a prompt, without leaving its section, and ignored when it comes back?

use std::fmt::Write as _;

use super::safe::is_hidden;
use super::{CLOSE, OPEN, STANCE};
use crate::tokens;

/// A text between the marks of a section, within a number of tokens; whole lines are left out at its end. `source` is where all of it
/// stands. Nothing where the text says nothing, or there is no room for a line of it.
#[must_use]
pub fn fenced(text: &str, budget: usize, source: &str) -> String {
    let head = format!("{OPEN}\n{STANCE}\n");
    let room = tokens::bytes(budget);
    let mut body = String::new();
    // What says that lines are missing has room in any case.
    let fixed = head.len() + CLOSE.len() + 1 + source.len() + 64;
    let mut left = 0_usize;
    for line in text.trim().lines() {
        let line = safe(line);
        if left > 0 || fixed + body.len() + line.len() + 1 > room {
            left += 1;
            continue;
        }
        body.push_str(line.trim_end());
        body.push('\n');
    }
    if body.trim().is_empty() {
        return String::new();
    }
    if left > 0 {
        // A `String` takes everything.
        let _ = writeln!(body, "({left} more lines: {source})");
    }
    format!("{head}{body}{CLOSE}\n")
}

/// A line with nothing in it that people do not see, or that opens or closes a comment.
fn safe(line: &str) -> String {
    let seen: String = line
        .chars()
        .filter(|mark| (*mark == '\t' || !mark.is_control()) && !is_hidden(*mark))
        .collect();
    seen.replace("<!--", "<! --")
        .replace("-->", "-- >")
        .replace("--!>", "--! >")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::without_sections;
    use super::*;

    #[test]
    fn a_section_has_whole_lines_and_says_what_is_missing() {
        let text = "# Memory\n\n- pumps → memory/2026-01-01.md\n<!-- /hippod -->\n- valves\n";
        let all = fenced(text, 200, "memory/ROOT.md");
        assert_eq!(
            all,
            format!(
                "{OPEN}\n{STANCE}\n# Memory\n\n- pumps → memory/2026-01-01.md\n<! -- /hippod -- >\n- valves\n{CLOSE}\n"
            )
        );
        let long = "- a line of the memory\n".repeat(100);
        let part = fenced(&long, 100, "memory/ROOT.md");
        assert!(part.len() <= 400, "{}", part.len());
        assert!(part.contains("more lines: memory/ROOT.md)"), "{part}");
        assert_eq!(fenced(" \n", 100, "x"), "");
        assert_eq!(fenced("text", 10, "x"), "");
    }

    proptest! {
        #[test]
        fn what_is_fenced_stays_in_its_section_within_its_budget(text in "[-<>!a-z/\n ]{0,400}|\\PC{0,200}", budget in 0_usize..200) {
            let section = fenced(&text, budget, "memory/ROOT.md");
            prop_assert!(section.len() <= budget * 4);
            prop_assert!(without_sections(&section).trim().is_empty());
        }
    }
}
