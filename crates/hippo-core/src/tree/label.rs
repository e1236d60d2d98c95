//! What do headings, fields and tags of a log say about the lines that they stand before?

/// What a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Kind {
    /// Something was chosen, and perhaps why.
    Decision,
    /// Work that is done.
    Task,
    /// What to do, or to leave, from now on.
    Lesson,
    /// What is still to be done.
    Open,
    /// Names of people, things, files.
    Entity,
    /// About the user: never fades.
    User,
    /// What the user said about the work: never fades.
    Feedback,
    /// Anything else.
    #[default]
    Note,
}

/// The type of a topic, as in `## Topic [feedback]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum MemoryType {
    /// Work; what has no tag is this.
    #[default]
    Project,
    /// Corrections and confirmations by the user.
    Feedback,
    /// Who the user is, and what they prefer.
    User,
    /// Where something is found outside.
    Reference,
}

impl MemoryType {
    /// As in tags.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Feedback => "feedback",
            Self::User => "user",
            Self::Reference => "reference",
        }
    }

    /// The type that this word names, in any case.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::Project, Self::Feedback, Self::User, Self::Reference]
            .into_iter()
            .find(|kind| kind.word().eq_ignore_ascii_case(word))
    }
}

/// The functional sections of a node, in their order, and other titles for what stands in them.
const SECTIONS: [(Kind, &str, &[&str]); 7] = [
    (
        Kind::Decision,
        "Key Decisions",
        &["decisions", "major decisions", "decision"],
    ),
    (
        Kind::Task,
        "Tasks Completed",
        &["completed work", "completed", "done", "tasks done", "work done"],
    ),
    (
        Kind::Lesson,
        "Lessons Learned",
        &[
            "lessons",
            "lessons & patterns",
            "learned",
            "learnings",
            "insights",
        ],
    ),
    (
        Kind::Open,
        "Open Items",
        &[
            "open",
            "carried forward",
            "todo",
            "todos",
            "next",
            "next steps",
            "pending",
            "blocked",
            "blockers",
            "open questions",
        ],
    ),
    (
        Kind::Entity,
        "Entities",
        &["entities referenced", "recurring entities"],
    ),
    (Kind::User, "User", &[]),
    (Kind::Feedback, "Feedback", &[]),
];

/// Names of fields, and what a line says that begins with one.
const FIELDS: [(Kind, &[&str]); 6] = [
    (Kind::Decision, &["decision", "decisions", "decided", "chosen"]),
    (
        Kind::Task,
        &[
            "work done",
            "done",
            "completed",
            "outcome",
            "result",
            "fixed",
            "fix",
            "shipped",
        ],
    ),
    (
        Kind::Lesson,
        &["lesson", "lessons", "learned", "insight", "takeaway", "rule"],
    ),
    (
        Kind::Open,
        &[
            "pending",
            "todo",
            "open",
            "next",
            "next step",
            "next steps",
            "blocked",
            "blocker",
            "follow-up",
        ],
    ),
    (
        Kind::Entity,
        &[
            "users",
            "people",
            "services",
            "files",
            "errors",
            "references",
            "reference",
            "tool calls",
        ],
    ),
    (
        Kind::Feedback,
        &["user feedback", "feedback", "correction", "user correction"],
    ),
];

/// The title of the section for statements of a kind; notes have none of their own.
pub(super) fn title_of(kind: Kind) -> Option<&'static str> {
    SECTIONS
        .iter()
        .find(|(of, _, _)| *of == kind)
        .map(|(_, title, _)| *title)
}

/// The kind of what stands below this heading.
pub(super) fn kind_of_title(title: &str) -> Option<Kind> {
    let lower = title.trim_end_matches(':').trim().to_lowercase();
    SECTIONS
        .iter()
        .find(|(_, own, others)| own.eq_ignore_ascii_case(&lower) || others.contains(&&*lower))
        .map(|(kind, _, _)| *kind)
}

/// The field that a line begins with, and what it says: `decision: the left one` is a decision.
pub(super) fn field(text: &str) -> Option<(Kind, &str)> {
    let colon = text.find([':', '：']).filter(|colon| *colon <= 24)?;
    let name = text[..colon].trim().to_lowercase();
    let said = text[colon..].trim_start_matches([':', '：']).trim();
    FIELDS
        .iter()
        .find(|(_, names)| names.contains(&&*name))
        .map(|(kind, _)| (*kind, said))
}

/// Whether a log would take a line that begins so for the word of the user: a field of feedback, or a tag.
pub(crate) fn claims_the_user(line: &str) -> bool {
    let bare = line.trim_start_matches(|mark: char| !mark.is_alphanumeric() && mark != '[');
    let kept = |tag| matches!(tag, MemoryType::User | MemoryType::Feedback);
    leading_tag(bare).0.is_some_and(kept) || matches!(field(bare), Some((Kind::Feedback, _)))
}

/// A title and the tag at its end: `Talking [user]`, `Map [reference, 3d, ?]`.
pub(super) fn tag(title: &str) -> (&str, Option<MemoryType>) {
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

/// The tag at the start of a line, and what follows it: `[feedback] ask first`.
pub(super) fn leading_tag(text: &str) -> (Option<MemoryType>, &str) {
    let parts = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match parts.and_then(|(word, rest)| Some((MemoryType::named(word)?, rest))) {
        Some((kind, rest)) => (Some(kind), rest.trim_start_matches([':', ' '])),
        None => (None, text),
    }
}

/// What a line says, and the place that it leads to: `text → memory/2026-01-10.md#L12`.
pub(super) fn pointer(line: &str) -> (&str, Option<&str>) {
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
