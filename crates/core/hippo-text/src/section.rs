//! Topics and heading levels of log sections.

use crate::text::{characters, one_line};

/// Maximum characters of a topic derived from a text.
const TOPIC: usize = 60;
/// Maximum number of words of a name before a colon.
const NAME: usize = 4;

/// Returns a heading for a text: its first sentence, or the name before a colon, in at most 60 characters.
#[must_use]
pub fn topic_of(text: &str) -> String {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let first = one_line(unmarked(first));
    let sentence = &first[..end_of_topic(&first)];
    let sentence = sentence.trim_end_matches(['.', ':', '。', ' ']);
    if sentence.chars().count() <= TOPIC {
        return sentence.to_owned();
    }
    let cut = characters(sentence, TOPIC);
    cut.rsplit_once(' ').map_or(cut, |(words, _)| words).to_owned()
}

/// Returns a line without the markdown characters of headings, lists and quotes at its start. Keeps a minus sign before
/// a number.
fn unmarked(line: &str) -> &str {
    let bare = line.trim_start_matches(['#', '-', '*', '>', ' ']);
    let marks = &line[..line.len() - bare.len()];
    if marks.ends_with('-') && bare.starts_with(|mark: char| mark.is_ascii_digit()) {
        return &line[marks.len() - 1..];
    }
    bare
}

/// Returns the byte offset at which the topic of a line ends: after the first sentence, or after the name before a
/// colon (`Decision: …`). Ignores punctuation within words: `http://…`, `10:30`, `v1.2`.
fn end_of_topic(line: &str) -> usize {
    let mut marks = line.char_indices().filter(|(at, mark)| {
        let after = &line[at + mark.len_utf8()..];
        let spaced = after.is_empty() || after.starts_with(' ');
        match mark {
            '。' => true,
            '.' | '!' | '?' => spaced,
            ':' => spaced && is_name(&line[..*at]),
            _ => false,
        }
    });
    marks.next().map_or(line.len(), |(at, mark)| at + mark.len_utf8())
}

/// Returns true if a text can be the name before a colon: it has letters and at most [`NAME`] words.
fn is_name(text: &str) -> bool {
    let words = text.split(' ').count();
    let wordy = |mark: char| mark.is_alphabetic() || matches!(mark, ' ' | '-' | '\'' | '’');
    words <= NAME && text.chars().any(char::is_alphabetic) && text.chars().all(wordy)
}

/// Returns a text that cannot leave its section: its headings become subheadings of the section, underlined headings
/// are escaped, and an unclosed fence is closed.
#[must_use]
pub fn tamed(text: &str) -> String {
    let mut open: Option<&str> = None;
    let mut before = "";
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let bare = line.trim_start();
        let fence = ["```", "~~~"].into_iter().find(|fence| bare.starts_with(fence));
        match (open, fence) {
            (None, Some(_)) => open = fence,
            (Some(mark), Some(fence)) if mark == fence => open = None,
            _ => {}
        }
        let marks = bare.bytes().take_while(|byte| *byte == b'#').count();
        let heading = (1..=2).contains(&marks) && bare[marks..].starts_with([' ', '\t']);
        let outside = open.is_none() && line.len() - bare.len() < 4;
        if heading && outside {
            out.push_str(&"#".repeat(3 - marks));
            out.push_str(bare);
        } else if outside && is_underline(bare) && !before.trim().is_empty() {
            // An underline would turn the line above into a heading of the section's level or higher.
            out.push('\\');
            out.push_str(bare);
        } else {
            out.push_str(line);
        }
        out.push('\n');
        before = line;
    }
    if let Some(fence) = open {
        out.push_str(fence);
    }
    out.trim_end().to_owned()
}

/// Returns true for a line of only `=` or only `-`, which turns the line above into a heading.
fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    ['=', '-']
        .iter()
        .any(|mark| !line.is_empty() && line.trim_matches(*mark).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_ends_with_its_sentence_or_label() {
        let table = [
            ("Decision: use Postgres for billing", "Decision"),
            (
                "The wiki is at http://wiki.local:8080/x now",
                "The wiki is at http://wiki.local:8080/x now",
            ),
            ("Standup is at 10:30 daily. Be there", "Standup is at 10:30 daily"),
            ("hippod v1.2 is out! Update", "hippod v1.2 is out!"),
            ("Port 8443: staging", "Port 8443: staging"),
            ("one two three four five: six", "one two three four five: six"),
            ("泵是蓝色的。它很响", "泵是蓝色的"),
            ("Notes:", "Notes"),
            ("-5 degrees in the cellar", "-5 degrees in the cellar"),
            ("- -5 degrees", "-5 degrees"),
            ("- 5 degrees", "5 degrees"),
        ];
        for (text, topic) in table {
            assert_eq!(topic_of(text), topic, "{text}");
        }
    }

    #[test]
    fn a_topic_is_the_first_sentence_within_sixty_characters() {
        assert_eq!(topic_of("- **x** is so. And more"), "x** is so");
        let long = "word ".repeat(40);
        assert!(topic_of(&long).chars().count() <= 60);
        assert_eq!(topic_of("水".repeat(100).as_str()).chars().count(), 60);
    }

    #[test]
    fn a_text_stays_within_its_section() {
        assert_eq!(
            tamed("# Day\nx\n## Other\n### Mine"),
            "### Day\nx\n### Other\n### Mine"
        );
        assert_eq!(tamed("Code:\n```sh\n# ls\n"), "Code:\n```sh\n# ls\n```");
        assert_eq!(tamed("```\nx\n```\n#tag"), "```\nx\n```\n#tag");
        assert_eq!(
            tamed("Result\n======\nDone\n---  \n\n---\na | b\n--|--"),
            "Result\n\\======\nDone\n\\---  \n\n---\na | b\n--|--"
        );
        assert_eq!(tamed("```\nx\n===\n```"), "```\nx\n===\n```");
    }
}
