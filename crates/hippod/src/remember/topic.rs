//! Which words of a text name what it is about?

use super::one_line;

/// Longest topic that is made from a text, in characters.
const TOPIC: usize = 60;
/// Most words before a colon that are a topic.
const NAME: usize = 4;

/// The beginning of a text as a heading.
pub fn made(text: &str) -> String {
    let first = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let first = one_line(unmarked(first));
    let sentence = &first[..end_of_topic(&first)];
    let sentence = sentence.trim_end_matches(['.', ':', '。', ' ']);
    if sentence.chars().count() <= TOPIC {
        return sentence.to_owned();
    }
    let mut short = String::new();
    for word in sentence.split(' ') {
        if short.chars().count() + word.chars().count() >= TOPIC {
            break;
        }
        short = format!("{short} {word}");
    }
    let short = short.trim().to_owned();
    if short.is_empty() {
        sentence.chars().take(TOPIC).collect()
    } else {
        short
    }
}

/// A line without the marks of headings, lists and quotations before it. A sign before a number is none of them.
fn unmarked(line: &str) -> &str {
    let bare = line.trim_start_matches(['#', '-', '*', '>', ' ']);
    let marks = &line[..line.len() - bare.len()];
    if marks.ends_with('-') && bare.starts_with(|mark: char| mark.is_ascii_digit()) {
        return &line[marks.len() - 1..];
    }
    bare
}

/// Where the first sentence of a line ends, or the name before a colon: `Decision: …`. Marks within words end nothing:
/// `http://…`, `10:30`, `v1.2`.
fn end_of_topic(line: &str) -> usize {
    let marks = line.char_indices().filter(|(at, mark)| {
        let spaced = line[at + mark.len_utf8()..]
            .chars()
            .next()
            .is_none_or(|next| next == ' ');
        match mark {
            '。' => true,
            '.' | '!' | '?' => spaced,
            ':' => spaced && is_name(&line[..*at]),
            _ => false,
        }
    });
    marks
        .map(|(at, mark)| at + mark.len_utf8())
        .next()
        .unwrap_or(line.len())
}

/// Whether a few words name something, as before a colon.
fn is_name(text: &str) -> bool {
    let words = text.split(' ').count();
    let wordy = |mark: char| mark.is_alphabetic() || matches!(mark, ' ' | '-' | '\'' | '’');
    words <= NAME && text.chars().any(char::is_alphabetic) && text.chars().all(wordy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_ends_where_a_sentence_or_a_name_does() {
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
            assert_eq!(made(text), topic, "{text}");
        }
    }

    #[test]
    fn a_topic_is_the_first_sentence_within_sixty_characters() {
        assert_eq!(made("- **x** is so. And more"), "x** is so");
        let long = "word ".repeat(40);
        assert!(made(&long).chars().count() <= 60);
        assert_eq!(made("水".repeat(100).as_str()).chars().count(), 60);
    }
}
