//! Index terms for the speakers of lines.
//!
//! The answer to "When did Caroline paint?" is more often in Caroline's own lines than in lines addressed to her. The
//! index therefore stores the speaker of a line as an additional term: the stem of the name after `@`, such as
//! `@carolin`. Terms of words never start with `@`, so the two kinds cannot collide.

use crate::terms;

/// First character of a speaker term.
const MARK: char = '@';
/// Maximum bytes of a name.
const NAME: usize = 40;

/// Returns the speaker term for the stem of a name: `@carolin` for `carolin`.
pub fn speaker_term(term: &str) -> String {
    format!("{MARK}{term}")
}

/// Returns true if a term is a speaker term.
pub fn is_speaker_term(term: &str) -> bool {
    term.starts_with(MARK)
}

/// Returns a query in the first person, as the speaker that it names would say it: `When did I paint my cat?` for
/// `When did Caroline paint Caroline's cat?`. For the speaker term of a capitalized word, `is_speaker` returns whether it
/// is the name of a speaker.
///
/// Embedding models overrate names: without this change, each of Caroline's lines resembles a question about her.
pub fn in_first_person(query: &str, mut is_speaker: impl FnMut(&str) -> bool) -> String {
    let mut changed = String::with_capacity(query.len());
    for part in query.split_inclusive(char::is_whitespace) {
        let bare = part.trim_matches(|mark: char| !mark.is_alphanumeric());
        let (name, pronoun) = match bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")) {
            Some(owner) => (owner, "my"),
            None => (bare, "I"),
        };
        let is_name = name.starts_with(|first: char| first.is_alphabetic() && !first.is_lowercase())
            && matches!(&terms::index_terms(name)[..], [term] if is_speaker(&speaker_term(term)));
        if is_name {
            changed.push_str(&part.replacen(bare, pronoun, 1));
        } else {
            changed.push_str(part);
        }
    }
    changed
}

/// Returns the first name that begins a line of the text, before a colon: `Caroline` for `- **Caroline:** hi`. The
/// caller must know from the chunker that the chunk has a speaker, because a field name has the same form.
pub fn name(text: &str) -> Option<&str> {
    text.lines().find_map(label)
}

fn label(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    let mut line = item.unwrap_or(line).trim_start();
    if let Some(comment) = line.strip_prefix("<!--") {
        line = comment.split_once("-->")?.1.trim_start();
    }
    let colon = line.find(':').filter(|colon| *colon <= NAME + 4)?;
    let name = line[..colon].trim_matches(['*', '_', ' ']);
    let rest = line[colon + 1..].trim_start_matches(['*', '_']);
    let in_name = |mark: char| mark.is_alphabetic() || matches!(mark, ' ' | '-' | '\'' | '.' | '’');
    let is_name = name.starts_with(|first: char| first.is_alphabetic() && !first.is_lowercase())
        && name.split(' ').count() <= 3
        && name.chars().all(in_name);
    (is_name && (rest.is_empty() || rest.starts_with(' '))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{in_first_person, name};

    #[test]
    fn names_of_speakers_become_the_first_person() {
        let table = [
            (
                "When did Caroline paint Caroline's cat?",
                "When did I paint my cat?",
            ),
            ("What did “Caroline” say to Ben?", "What did “I” say to Ben?"),
            ("Caroline’s  plans,\nCaroline", "my  plans,\nI"),
            ("the carolines of caroline", "the carolines of caroline"),
            ("小明在哪里", "小明在哪里"),
            ("", ""),
        ];
        for (query, expected) in table {
            assert_eq!(in_first_person(query, |term| term == "@carolin"), expected);
        }
    }

    #[test]
    fn the_speaker_name_before_a_turn_is_found() {
        let table = [
            ("- **Caroline:** hi", Some("Caroline")),
            ("**Mary Ann:** hi", Some("Mary Ann")),
            ("<!-- m1 --> **Ada:** hi", Some("Ada")),
            ("Ada: hi", Some("Ada")),
            ("14:10 Ada and Ben\n- **Ben:** hi", Some("Ben")),
            ("- **Zoë:**", Some("Zoë")),
            ("小明: 你好", Some("小明")),
            ("https://example.org", None),
            ("key: value", None),
            ("10:30 lunch", None),
            ("<!-- never closed Ada: x", None),
            ("One two three four: five", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(name(text), expected, "{text}");
        }
    }
}
