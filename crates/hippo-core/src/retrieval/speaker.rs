//! Whose words is a line, as a term of the index?
//!
//! "When did Caroline paint?" is answered by what Caroline said more often than by what was said to her. Who says a
//! line is indexed beside its words as one more term, `@carolin`, which no word can be mistaken for: a term of words
//! never starts with `@`.

/// What a term starts with that names a speaker.
const MARK: char = '@';
/// Longest name, in bytes.
const NAME: usize = 40;

/// The speaker term of a name's term.
pub(crate) fn speaker_term(term: &str) -> String {
    let mut marked = String::with_capacity(term.len() + 1);
    marked.push(MARK);
    marked.push_str(term);
    marked
}

/// Whether a term names a speaker.
pub(crate) fn is_speaker_term(term: &str) -> bool {
    term.starts_with(MARK)
}

/// The name in front of the colon at the start of a line of the text: of `- **Caroline:** hi`, `Caroline`. Whether it
/// is one is known to the chunker, which marks the chunk as somebody's words.
pub(crate) fn name(text: &str) -> Option<&str> {
    text.lines().find_map(label)
}

fn label(line: &str) -> Option<&str> {
    let mut line = line.trim_start();
    if let Some(item) = line
        .strip_prefix(['-', '*', '+'])
        .filter(|item| item.starts_with(' '))
    {
        line = item.trim_start();
    }
    if let Some(comment) = line.strip_prefix("<!--") {
        line = comment.split_once("-->")?.1.trim_start();
    }
    let colon = line.find(':').filter(|colon| *colon <= NAME + 4)?;
    let name = line[..colon].trim_matches(['*', '_', ' ']);
    let rest = line[colon + 1..].trim_start_matches(['*', '_']);
    let is_name = name
        .chars()
        .next()
        .is_some_and(|first| first.is_alphabetic() && !first.is_lowercase())
        && name.split(' ').count() <= 3
        && name
            .chars()
            .all(|mark| mark.is_alphabetic() || matches!(mark, ' ' | '-' | '\'' | '.' | '’'));
    (is_name && (rest.is_empty() || rest.starts_with(' '))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn finds_the_name_in_front_of_the_words() {
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
