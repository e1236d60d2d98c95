//! Recognition of speaker labels at the start of a line.

use super::line::{Fence, trim};

/// Author of the text of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Speaker {
    /// No speaker is named.
    #[default]
    None,
    /// The user: `User:`, `Human:`.
    User,
    /// The agent: `Assistant:`, `AI:`.
    Assistant,
    /// Another named person: `**Caroline:**`.
    Other,
}

impl Speaker {
    /// Returns a stable number for storage: the position of the speaker in this enum.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the name of the speaker in answers and in the database of a team.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Other => "other",
        }
    }

    /// Returns the speaker with this name; [`Speaker::None`] for unknown names.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let all = [Self::User, Self::Assistant, Self::Other];
        let named = all.into_iter().find(|speaker| speaker.name() == name);
        named.unwrap_or_default()
    }

    /// Returns the speaker with this number; [`Speaker::None`] for unknown numbers.
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        let all = [Self::None, Self::User, Self::Assistant, Self::Other];
        all.get(usize::from(code)).copied().unwrap_or_default()
    }
}

/// Text before a colon at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeakerLabel<'a> {
    /// The user or the assistant.
    Role(Speaker),
    /// A name, such as `**Caroline:**`, or the name of a field, such as `Port: 5432`: both have the same form.
    Name(&'a str),
}

/// Maximum bytes of a name.
const NAME: usize = 40;

/// Words before a colon that are not names.
#[rustfmt::skip] // keep the list compact
const FIELD_WORDS: [&str; 40] = [
    "action", "answer", "caution", "context", "date", "decision", "description", "done", "example", "fix",
    "goal", "hint", "idea", "important", "input", "issue", "lesson", "link", "next", "note", "notes", "open",
    "output", "owner", "problem", "question", "reason", "result", "results", "session", "solution", "source",
    "status", "step", "summary", "tip", "todo", "update", "warning", "why",
];

/// Returns true if a line begins with the label of the user or the assistant, such as `User:`.
#[must_use]
pub fn is_role_label(line: &str) -> bool {
    matches!(parse_label(line.trim().as_bytes()), Some(SpeakerLabel::Role(_)))
}

/// Parses the label at the start of a trimmed line, after comments, time stamps and other marks.
pub(super) fn parse_label(line: &[u8]) -> Option<SpeakerLabel<'_>> {
    // A label and its prefix are short, so a line of megabytes need not be scanned.
    let head = &line[..line.len().min(200)];
    let head = head.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let head = skip_marks(head);
    let marks = head.len() - head.trim_start_matches(['*', '_']).len();
    let marked = (1..=3).contains(&marks);
    let named = &head[marks..];
    // A time in parentheses after the name contains colons itself.
    let open = named.find(" (").filter(|open| !named[..*open].contains(':'));
    let close = open.and_then(|open| Some(open + named[open..].find(')')?));
    let from = close.filter(|end| *end <= NAME).unwrap_or(0);
    let colon = from + named[from..].find([':', '\u{ff1a}'])?;
    if !(1..=NAME).contains(&colon) {
        return None;
    }
    let name = named[..colon].trim_end_matches(['*', '_']).trim_end();
    let wide = named[colon..].starts_with('\u{ff1a}');
    let rest = named[colon..].trim_start_matches([':', '\u{ff1a}']);
    let rest = rest.trim_start_matches(['*', '_']);
    if !(wide || rest.is_empty() || rest.starts_with(char::is_whitespace)) {
        return None;
    }
    // Remove the time of `User (10:30):` and the brackets of `[User]:`.
    let bare = name.split_once(" (").map_or(name, |(bare, _)| bare);
    let bare = bare.trim_matches(['[', ']', '@', '`', '"']);
    if let Some(role) = parse_role(bare, marked) {
        return Some(SpeakerLabel::Role(role));
    }
    is_name(bare).then_some(SpeakerLabel::Name(bare))
}

/// Parses the code fence that follows the label of a trimmed line: `Assistant: ```sh`.
pub(super) fn parse_fence_after_label(line: &[u8]) -> Option<Fence> {
    let head = &line[..line.len().min(200)];
    let at = head.windows(3).position(|marks| marks == b"```")?;
    let label = trim(&head[..at]);
    let is_label = label.ends_with(b":") || label.ends_with(b":**");
    Fence::parse(&line[at..]).filter(|_| is_label)
}

/// Returns the role if the whole heading names one: `## User`, `### Assistant:`.
pub(super) fn parse_heading_role(title: &str) -> Option<Speaker> {
    let title = title.trim_matches(|mark: char| !mark.is_alphanumeric());
    parse_role(title, true).filter(|_| title.len() <= NAME)
}

fn parse_role(name: &str, marked: bool) -> Option<Speaker> {
    let lower = name.to_lowercase();
    match lower.as_str() {
        "user"
        | "human"
        | "nutzer"
        | "utilisateur"
        | "usuario"
        | "пользователь"
        | "用户"
        | "ユーザー"
        | "사용자" => Some(Speaker::User),
        "assistant" | "assistent" | "asistente" | "ассистент" | "助手" | "アシスタント" => {
            Some(Speaker::Assistant)
        }
        // Without emphasis, these words are probably names of fields. Names of models also count without emphasis if
        // they have a capital.
        "me" | "you" if marked => Some(Speaker::User),
        "agent" | "bot" | "model" if marked => Some(Speaker::Assistant),
        "ai" | "claude" | "chatgpt" | "gpt" | "copilot" | "gemini" | "codex" if marked || name != lower => {
            Some(Speaker::Assistant)
        }
        _ => None,
    }
}

/// Returns true for one to three capitalized words of letters.
fn is_name(text: &str) -> bool {
    let letters = |word: &str| {
        word.chars()
            .all(|mark| mark.is_alphabetic() || matches!(mark, '-' | '\'' | '.' | '’'))
            && word.starts_with(|first: char| first.is_alphabetic() && !first.is_lowercase())
    };
    text.split(' ').count() <= 3
        && text.split(' ').all(letters)
        && !FIELD_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Skips comments, time stamps, emoji and brackets at the start.
fn skip_marks(mut line: &str) -> &str {
    loop {
        line = line.trim_start();
        if let Some(comment) = line.strip_prefix("<!--") {
            match comment.find("-->") {
                Some(end) => line = &comment[end + 3..],
                None => return "",
            }
            continue;
        }
        if let Some(stamp) = line.strip_prefix(['[', '(']) {
            let end = stamp.find([']', ')']);
            match end.filter(|&end| stamp.as_bytes()[..end].iter().any(u8::is_ascii_digit)) {
                Some(end) => line = &stamp[end + 1..],
                None => return line,
            }
            continue;
        }
        let clock = line
            .bytes()
            .take_while(|byte| byte.is_ascii_digit() || *byte == b':')
            .count();
        if clock >= 4 && line[..clock].contains(':') && line[clock..].starts_with(' ') {
            line = &line[clock..];
            continue;
        }
        let first = line.chars().next();
        match first {
            Some(mark) if !mark.is_ascii() && !mark.is_alphanumeric() => line = &line[mark.len_utf8()..],
            _ => return line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_recognised() {
        let user = Some(SpeakerLabel::Role(Speaker::User));
        let assistant = Some(SpeakerLabel::Role(Speaker::Assistant));
        let table = [
            ("User: hello", user),
            ("user: hello", user),
            ("USER:", user),
            ("**User:** hello", user),
            ("**User**: hello", user),
            ("<!-- m116 --> **User:** hello", user),
            ("[10:30:45] Human: hello", user),
            ("10:30 User: hello", user),
            ("👤 User: hello", user),
            ("User (10:30): hello", user),
            ("Assistant: hi", assistant),
            ("助手：好的", assistant),
            ("AI: hi", assistant),
            ("ai: hi", None),
            ("agent: main", None),
            ("**Agent:** hi", assistant),
            ("**Caroline:** hi", Some(SpeakerLabel::Name("Caroline"))),
            ("**Caroline**: hi", Some(SpeakerLabel::Name("Caroline"))),
            ("Caroline: hi", Some(SpeakerLabel::Name("Caroline"))),
            ("Session Date: 2023", Some(SpeakerLabel::Name("Session Date"))),
            ("**Note:** hi", None),
            ("https://example.org", None),
            ("Http: //x", Some(SpeakerLabel::Name("Http"))),
            ("10:30 lunch", None),
            ("user:password@host", None),
            ("Users: many", Some(SpeakerLabel::Name("Users"))),
            ("plain text: more", None),
            ("Core principle: more", None),
            ("", None),
            (":", None),
        ];
        for (line, expected) in table {
            assert_eq!(parse_label(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn fences_after_labels_are_recognised() {
        assert!(parse_fence_after_label(b"Assistant: ```sh").is_some());
        assert!(parse_fence_after_label(b"**Assistant:** ```").is_some());
        assert!(parse_fence_after_label(b"Assistant: run ```").is_none());
        assert!(parse_fence_after_label(b"Assistant: ```ls``` lists").is_none());
    }

    #[test]
    fn invalid_bytes_are_not_labels() {
        assert_eq!(parse_label(b"\xFF\xFE: x"), None);
        assert_eq!(parse_label("é".repeat(300).as_bytes()), None);
        assert_eq!(parse_label(b"<!-- never closed User: x"), None);
    }

    #[test]
    fn headings_name_roles() {
        assert_eq!(parse_heading_role("User"), Some(Speaker::User));
        assert_eq!(parse_heading_role("🤖 Assistant:"), Some(Speaker::Assistant));
        assert_eq!(parse_heading_role("User guide"), None);
    }

    #[test]
    fn speaker_codes_are_stable() {
        for speaker in [Speaker::None, Speaker::User, Speaker::Assistant, Speaker::Other] {
            assert_eq!(Speaker::from_code(speaker.code()), speaker);
        }
    }
}
