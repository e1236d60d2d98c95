//! Kinds and types from headings, fields and tags of logs.

/// Kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Kind {
    /// A choice, possibly with its reason.
    Decision,
    /// Finished work.
    Task,
    /// A rule for future work.
    Lesson,
    /// An open task.
    Open,
    /// Names of people, things or files.
    Entity,
    /// A statement about the user; it never fades.
    User,
    /// Feedback by the user about the work; it never fades.
    Feedback,
    /// Any other statement.
    #[default]
    Note,
}

/// Type of a topic, as in `## Topic [feedback]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum MemoryType {
    /// Work; the default for topics without a tag.
    #[default]
    Project,
    /// Corrections and confirmations by the user.
    Feedback,
    /// Identity and preferences of the user.
    User,
    /// Location of external information.
    Reference,
}

impl MemoryType {
    /// Returns the word used in tags.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Feedback => "feedback",
            Self::User => "user",
            Self::Reference => "reference",
        }
    }

    /// Returns the type with this name, compared case-insensitively.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::Project, Self::Feedback, Self::User, Self::Reference]
            .into_iter()
            .find(|kind| kind.word().eq_ignore_ascii_case(word))
    }
}

/// Functional sections of a node, in order, with alternative titles.
#[rustfmt::skip] // a table is read in lines
const SECTIONS: [(Kind, &str, &[&str]); 7] = [
    (Kind::Decision, "Key Decisions", &["decisions", "major decisions", "decision"]),
    (Kind::Task, "Tasks Completed", &["completed work", "completed", "done", "tasks done", "work done"]),
    (Kind::Lesson, "Lessons Learned", &["lessons", "lessons & patterns", "learned", "learnings", "insights"]),
    (Kind::Open, "Open Items", &["open", "carried forward", "todo", "todos", "next", "next steps", "pending",
        "blocked", "blockers", "open questions"]),
    (Kind::Entity, "Entities", &["entities referenced", "recurring entities"]),
    (Kind::User, "User", &[]), (Kind::Feedback, "Feedback", &[]),
];

/// Field names that mark the kind of a line.
#[rustfmt::skip] // a table is read in lines
const FIELDS: [(Kind, &[&str]); 6] = [
    (Kind::Decision, &["decision", "decisions", "decided", "chosen"]),
    (Kind::Task, &["work done", "done", "completed", "outcome", "result", "fixed", "fix", "shipped"]),
    (Kind::Lesson, &["lesson", "lessons", "learned", "insight", "takeaway", "rule"]),
    (Kind::Open, &["pending", "todo", "open", "next", "next step", "next steps", "blocked", "blocker",
        "follow-up"]),
    (Kind::Entity, &["users", "people", "services", "files", "errors", "references", "reference",
        "tool calls"]),
    (Kind::Feedback, &["user feedback", "feedback", "correction", "user correction"]),
];

/// Returns the section title for a kind of statement; notes have no section.
pub fn title_of(kind: Kind) -> Option<&'static str> {
    SECTIONS
        .iter()
        .find(|(of, _, _)| *of == kind)
        .map(|(_, title, _)| *title)
}

/// Returns the kind of the statements below this heading.
pub fn kind_of_title(title: &str) -> Option<Kind> {
    let lower = title.trim_end_matches(':').trim().to_lowercase();
    SECTIONS
        .iter()
        .find(|(_, own, others)| own.eq_ignore_ascii_case(&lower) || others.contains(&&*lower))
        .map(|(kind, _, _)| *kind)
}

/// Returns the kind of a leading field and the text after it: `decision: the left one` is a decision.
pub fn field(text: &str) -> Option<(Kind, &str)> {
    let colon = text.find([':', '：']).filter(|colon| *colon <= 24)?;
    let name = text[..colon].trim().to_lowercase();
    let said = text[colon..].trim_start_matches([':', '：']).trim();
    FIELDS
        .iter()
        .find(|(_, names)| names.contains(&&*name))
        .map(|(kind, _)| (*kind, said))
}

/// Returns true if a log would read a line with this beginning as a statement by the user: a feedback field, or a
/// tag.
pub fn claims_the_user(line: &str) -> bool {
    let bare = line.trim_start_matches(|mark: char| !mark.is_alphanumeric() && mark != '[');
    let kept = |tag| matches!(tag, MemoryType::User | MemoryType::Feedback);
    leading_tag(bare).0.is_some_and(kept) || matches!(field(bare), Some((Kind::Feedback, _)))
}

/// Splits a title into its name and the tag at its end: `Talking [user]`, `Map [reference, 3d, ?]`.
pub fn tag(title: &str) -> (&str, Option<MemoryType>) {
    let title = title.trim();
    let parts = title.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let Some((name, tag)) = parts else {
        return (title, None);
    };
    let word = tag.split(',').next().unwrap_or(tag).trim();
    match MemoryType::named(word) {
        Some(kind) => (name.trim_end(), Some(kind)),
        None => (title, None),
    }
}

/// Splits a line into its leading tag and the rest: `[feedback] ask first`.
pub fn leading_tag(text: &str) -> (Option<MemoryType>, &str) {
    let parts = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match parts.and_then(|(word, rest)| Some((MemoryType::named(word)?, rest))) {
        Some((kind, rest)) => (Some(kind), rest.trim_start_matches([':', ' '])),
        None => (None, text),
    }
}

/// Splits a line into its text and its pointer: `text → memory/2026-01-10.md#L12`.
pub fn pointer(line: &str) -> (&str, Option<&str>) {
    let Some((text, pointer)) = line.rsplit_once(" → ") else {
        return (line, None);
    };
    let pointer = pointer.trim_end();
    let place = pointer.rsplit_once("#L").filter(|(path, line)| {
        !path.is_empty()
            && !path.contains(char::is_whitespace)
            && !line.is_empty()
            && line.len() <= 9
            && line.bytes().all(|byte| byte.is_ascii_digit())
    });
    match place {
        Some(_) => (text.trim_end(), Some(pointer)),
        None => (line, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_tags_and_pointers() {
        assert_eq!(field("decision: left"), Some((Kind::Decision, "left")));
        assert_eq!(
            field("User feedback: more of it"),
            Some((Kind::Feedback, "more of it"))
        );
        assert_eq!(field("port: 80"), None);
        assert_eq!(tag("Talking [user]"), ("Talking", Some(MemoryType::User)));
        assert_eq!(
            tag("Map [reference, 3d, ?]"),
            ("Map", Some(MemoryType::Reference))
        );
        assert_eq!(tag("Plan [draft]"), ("Plan [draft]", None));
        assert_eq!(
            leading_tag("[Feedback] ask first"),
            (Some(MemoryType::Feedback), "ask first")
        );
        assert_eq!(leading_tag("[x] done"), (None, "[x] done"));
        assert_eq!(pointer("a → b.md#L3"), ("a", Some("b.md#L3")));
        for line in ["a → b", "a → b#L", "a → b c#L3", "a → #L3", "a → b#L99999999999"] {
            assert_eq!(pointer(line), (line, None), "{line}");
        }
    }

    #[test]
    fn titles_name_kinds() {
        assert_eq!(kind_of_title("Key Decisions"), Some(Kind::Decision));
        assert_eq!(kind_of_title("Carried Forward"), Some(Kind::Open));
        assert_eq!(kind_of_title("Notes"), None);
        for (kind, title, _) in SECTIONS {
            assert_eq!((kind_of_title(title), title_of(kind)), (Some(kind), Some(title)));
        }
    }
}
