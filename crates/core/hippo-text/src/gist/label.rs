//! Kinds and types of statements, from headings, fields and tags.

use hippo_types::memory::MemoryType;

/// Kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum StatementKind {
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
    /// A statement about the user. Nodes contain it word for word.
    User,
    /// Feedback by the user about the work. Nodes contain it word for word.
    Feedback,
    /// Any other statement.
    #[default]
    Note,
}

/// Sections of a node, in order: the kind of their statements, their title, and other titles with the same meaning.
#[rustfmt::skip] // a table is read in lines
const SECTIONS: [(StatementKind, &str, &[&str]); 7] = [
    (StatementKind::Decision, "Key Decisions", &["decisions", "major decisions", "decision"]),
    (StatementKind::Task, "Tasks Completed", &["completed work", "completed", "done", "tasks done", "work done"]),
    (StatementKind::Lesson, "Lessons Learned", &["lessons", "lessons & patterns", "learned", "learnings", "insights"]),
    (StatementKind::Open, "Open Items", &["open", "carried forward", "todo", "todos", "next", "next steps", "pending",
        "blocked", "blockers", "open questions"]),
    (StatementKind::Entity, "Entities", &["entities referenced", "recurring entities"]),
    (StatementKind::User, "User", &[]), (StatementKind::Feedback, "Feedback", &[]),
];

/// Field names that determine the kind of a line.
#[rustfmt::skip] // a table is read in lines
const FIELDS: [(StatementKind, &[&str]); 6] = [
    (StatementKind::Decision, &["decision", "decisions", "decided", "chosen"]),
    (StatementKind::Task, &["work done", "done", "completed", "outcome", "result", "fixed", "fix", "shipped"]),
    (StatementKind::Lesson, &["lesson", "lessons", "learned", "insight", "takeaway", "rule"]),
    (StatementKind::Open, &["pending", "todo", "open", "next", "next step", "next steps", "blocked", "blocker",
        "follow-up"]),
    (StatementKind::Entity, &["users", "people", "services", "files", "errors", "references", "reference",
        "tool calls"]),
    (StatementKind::Feedback, &["user feedback", "feedback", "correction", "user correction"]),
];

/// Returns the section title for a kind of statement; notes have no section.
pub fn title_of(kind: StatementKind) -> Option<&'static str> {
    SECTIONS
        .iter()
        .find(|(of, _, _)| *of == kind)
        .map(|(_, title, _)| *title)
}

/// Returns the kind of the statements below this heading; `None` for other headings.
pub fn kind_of_title(title: &str) -> Option<StatementKind> {
    let lower = title.trim_end_matches(':').trim().to_lowercase();
    SECTIONS
        .iter()
        .find(|(_, own, others)| own.eq_ignore_ascii_case(&lower) || others.contains(&&*lower))
        .map(|(kind, _, _)| *kind)
}

/// Returns the kind of a leading field and the text after it: `decision: the left one` is a decision.
pub fn field(text: &str) -> Option<(StatementKind, &str)> {
    let colon = text.find([':', '：']).filter(|colon| *colon <= 24)?;
    let name = text[..colon].trim().to_lowercase();
    let said = text[colon..].trim_start_matches([':', '：']).trim();
    FIELDS
        .iter()
        .find(|(_, names)| names.contains(&&*name))
        .map(|(kind, _)| (*kind, said))
}

/// Returns true if hippod would read a log line with this beginning as a statement by the user, because the line has a
/// feedback field, or a `[user]` or `[feedback]` tag.
pub fn claims_the_user(line: &str) -> bool {
    let bare = line.trim_start_matches(|mark: char| !mark.is_alphanumeric() && mark != '[');
    let kept = |tag| matches!(tag, MemoryType::User | MemoryType::Feedback);
    leading_tag(bare).0.is_some_and(kept) || matches!(field(bare), Some((StatementKind::Feedback, _)))
}

/// Splits a title into its name and the tag at its end: `Talking [user]`, `Map [reference, 3d, ?]`.
pub fn tag(title: &str) -> (&str, Option<MemoryType>) {
    let title = title.trim();
    let parts = title.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let Some((name, tag)) = parts else {
        return (title, None);
    };
    let word = tag.split(',').next().unwrap_or(tag).trim();
    match word.parse() {
        Ok(kind) => (name.trim_end(), Some(kind)),
        Err(_) => (title, None),
    }
}

/// Splits a line into its leading tag and the rest: `[feedback] ask first`.
pub fn leading_tag(text: &str) -> (Option<MemoryType>, &str) {
    let parts = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match parts.and_then(|(word, rest)| Some((word.parse().ok()?, rest))) {
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

/// Returns the state of a check box, if any, and the text after the box or the list marker.
pub fn check_box(line: &str) -> (Option<bool>, &str) {
    let line = line.trim_start_matches(['>', ' ', '\t']);
    let Some(item) = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) else {
        return (None, line);
    };
    for (mark, done) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
        if let Some(rest) = item.strip_prefix(mark) {
            return (Some(done), rest);
        }
    }
    (None, item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_tags_and_pointers_are_parsed() {
        assert_eq!(field("decision: left"), Some((StatementKind::Decision, "left")));
        assert_eq!(
            field("User feedback: more of it"),
            Some((StatementKind::Feedback, "more of it"))
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
    fn section_titles_determine_the_kind() {
        assert_eq!(kind_of_title("Key Decisions"), Some(StatementKind::Decision));
        assert_eq!(kind_of_title("Carried Forward"), Some(StatementKind::Open));
        assert_eq!(kind_of_title("Notes"), None);
        for (kind, title, _) in SECTIONS {
            assert_eq!((kind_of_title(title), title_of(kind)), (Some(kind), Some(title)));
        }
    }
}
