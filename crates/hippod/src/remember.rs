//! Appending of a text to a daily log.
//!
//! Existing content is never changed, so other programs can append at the same time. Links, folders and read-only files
//! are rejected, because appending to them is unsafe or impossible; nothing is written.

mod append;
mod log;
mod secret;

use std::path::Path;

use hippo_proto::{ErrorKind, RememberRequest, RpcError};
use hippo_redact::without_secrets;
use hippo_text::chunk;
use hippo_text::scope::ScopeRules;
use hippo_text::section::{tamed, topic_of};
use hippo_types::time::Date;

pub use hippo_text::text::one_line;
use log::LogSnapshot;
pub use secret::Secrets;

/// Folder of the logs that all agents may read.
pub const SHARED_LOGS: &str = "memory/";

/// Result of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendResult {
    /// Path of the log, relative to the workspace.
    pub path: String,
    /// Topic of the text.
    pub topic: String,
    /// Title of the section in the log.
    pub section: String,
    /// First line of the section, 1-based.
    pub start_line: u32,
    /// Last line of the section, inclusive.
    pub end_line: u32,
    /// True if the log already contained the text, so that nothing was appended.
    pub repeated: bool,
}

/// Appends a text to the log of the day `today` in a folder.
///
/// # Errors
/// Returns `read-only` or `internal` with the error of the operating system. Either the log is unchanged, or the hint
/// describes what was written.
pub fn append(
    (root, scopes): (&Path, &ScopeRules),
    folder: &str,
    today: Date,
    request: &RememberRequest,
) -> Result<AppendResult, RpcError> {
    let topic = match &request.topic {
        Some(topic) => one_line(&without_secrets(topic)),
        None => topic_of(&without_secrets(&request.text)),
    };
    let section = match request.type_ {
        Some(kind) => format!("{topic} [{}]", kind.name()),
        None => topic.clone(),
    };
    let log = LogSnapshot::open(root, folder, today)?;
    let place = scopes.of_path(&log.path);
    if chunk::scope_restriction(&log.before).apply(place.clone()) != place {
        let what = format!(
            "the front matter of the log makes it private to others: {}",
            log.path
        );
        return Err(RpcError::new(ErrorKind::Conflict, what)
            .hint("remove `agent` and `scope` from the front matter of the log"));
    }
    let text = tamed(request.text.trim()).replace("\r\n", "\n");
    let (path, standing) = (log.path.clone(), find_text_section(&log.before, &section, &text));
    let repeated = standing.is_some();
    let (start_line, end_line) = match standing {
        Some(lines) => lines,
        None => log.append(&format!("## {section}\n\n{text}\n"), &section)?,
    };
    Ok(AppendResult {
        path,
        topic,
        section,
        start_line,
        end_line,
        repeated,
    })
}

/// Appends sections of a session to the log of a day in a folder, unless the log already contains the end `mark` of those sections.
/// Returns the appended lines.
///
/// # Errors
/// See [`append`].
pub fn append_marked(
    (root, folder): (&Path, &str),
    day: Date,
    text: &str,
    mark: &str,
) -> Result<Option<LogLines>, RpcError> {
    let log = LogSnapshot::open(root, folder, day)?;
    if String::from_utf8_lossy(&log.before).contains(mark) {
        return Ok(None);
    }
    let (start_line, end_line) = log.append(text, mark)?;
    Ok(Some(LogLines {
        path: log.path,
        start_line,
        end_line,
    }))
}

/// Lines of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLines {
    /// Path of the log, relative to the workspace.
    pub path: String,
    /// First line of the section, 1-based.
    pub start_line: u32,
    /// Last line of the section, inclusive.
    pub end_line: u32,
}

/// Returns the first and last line of a section with exactly this text, if the log contains one.
fn find_text_section(log: &[u8], section: &str, text: &str) -> Option<(u32, u32)> {
    let log = String::from_utf8_lossy(log).replace("\r\n", "\n");
    let wanted = format!("## {section}\n\n{text}");
    let at = log.match_indices(&wanted).map(|(at, _)| at).find(|at| {
        let rest = log[at + wanted.len()..].trim_start();
        // Text up to the next heading of the same or a higher level belongs to the section. If such text follows, the
        // section contains more than `text`.
        let ends = rest.is_empty() || rest.starts_with("# ") || rest.starts_with("## ");
        ends && (*at == 0 || log[..*at].ends_with('\n'))
    })?;
    let line = |upto: usize| 1 + log[..upto].matches('\n').count();
    let (first, last) = (line(at), line(at + wanted.len()));
    Some((u32::try_from(first).ok()?, u32::try_from(last).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str, topic: Option<&str>) -> RememberRequest {
        RememberRequest {
            text: text.to_owned(),
            topic: topic.map(str::to_owned),
            ..RememberRequest::default()
        }
    }

    fn day() -> Date {
        "2026-03-02".parse().unwrap()
    }

    #[test]
    fn a_text_is_appended_at_the_end_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let first = append(
            (&root, &ScopeRules::default()),
            SHARED_LOGS,
            day(),
            &request("The pump is blue. It hums.", None),
        )
        .unwrap();
        assert_eq!((first.start_line, first.end_line), (3, 5));
        let log = root.join("memory/2026-03-02.md");
        let before = std::fs::read_to_string(&log).unwrap();
        assert_eq!(
            before,
            "# 2026-03-02\n\n## The pump is blue\n\nThe pump is blue. It hums.\n"
        );
        let second = append(
            (&root, &ScopeRules::default()),
            SHARED_LOGS,
            day(),
            &request("two\nlines\n\n", Some("Valves")),
        )
        .unwrap();
        let after = std::fs::read_to_string(&log).unwrap();
        assert!(after.starts_with(&before));
        assert_eq!(&after[before.len()..], "\n## Valves\n\ntwo\nlines\n");
        let lines: Vec<&str> = after.lines().collect();
        assert_eq!(lines[second.start_line as usize - 1], "## Valves");
        assert_eq!(lines[second.end_line as usize - 1], "lines");
    }

    #[test]
    fn line_ends_are_kept_and_an_unterminated_last_line_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("memory")).unwrap();
        let log = root.join("memory/2026-03-02.md");
        std::fs::write(&log, "# Day\r\n\r\nopen").unwrap();
        let done = append(
            (&root, &ScopeRules::default()),
            SHARED_LOGS,
            day(),
            &request("x\ny", Some("T")),
        )
        .unwrap();
        assert_eq!(
            std::fs::read_to_string(&log).unwrap(),
            "# Day\r\n\r\nopen\r\n\r\n## T\r\n\r\nx\r\ny\r\n"
        );
        assert_eq!((done.start_line, done.end_line), (5, 8));
    }

    #[test]
    fn folders_and_links_at_the_log_path_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("memory/2026-03-02.md")).unwrap();
        append(
            (&root, &ScopeRules::default()),
            SHARED_LOGS,
            day(),
            &request("x", None),
        )
        .unwrap_err();
        let other = tempfile::tempdir().unwrap();
        let away = other.path().join("log.md");
        std::fs::write(&away, "untouched").unwrap();
        std::os::unix::fs::symlink(&away, root.join("memory/2026-03-03.md")).unwrap();
        let error = append(
            (&root, &ScopeRules::default()),
            SHARED_LOGS,
            "2026-03-03".parse().unwrap(),
            &request("x", None),
        )
        .unwrap_err();
        assert!(error.message.contains("is a link"), "{error:?}");
        assert_eq!(std::fs::read_to_string(&away).unwrap(), "untouched");
        let nowhere = other.path().join("not-there.md");
        std::os::unix::fs::symlink(&nowhere, root.join("memory/2026-03-04.md")).unwrap();
        append(
            (&root, &ScopeRules::default()),
            SHARED_LOGS,
            "2026-03-04".parse().unwrap(),
            &request("x", None),
        )
        .unwrap_err();
        assert!(!nowhere.exists());
    }

    #[test]
    fn secrets_are_removed_from_topics() {
        let folder = tempfile::tempdir().unwrap();
        let named = append(
            (&folder.path().canonicalize().unwrap(), &ScopeRules::default()),
            SHARED_LOGS,
            day(),
            &request("x", Some("Token glpat-1234567890abcdefghij")),
        );
        assert_eq!(named.unwrap().section, "Token …");
        assert_eq!(
            topic_of(&without_secrets("The deploy token is glpat-1234567890abcdefghij")),
            "The deploy token is …"
        );
    }

    #[test]
    fn identical_texts_are_appended_once_and_different_ones_always() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let log = root.join("memory/2026-03-02.md");
        let add = |text: &str, topic| {
            append(
                (&root, &ScopeRules::default()),
                SHARED_LOGS,
                day(),
                &request(text, topic),
            )
            .unwrap()
        };
        let first = add("blue\n\n# and new", Some("Pump"));
        let once = std::fs::read(&log).unwrap();
        let again = add(" blue\r\n\r\n# and new\n", Some("Pump"));
        assert!(again.repeated && !first.repeated);
        assert_eq!(
            (again.start_line, again.end_line),
            (first.start_line, first.end_line)
        );
        assert_eq!(std::fs::read(&log).unwrap(), once);
        // Not repeated: a prefix of an existing text, an existing text with another topic, and another text.
        for (text, topic) in [("blue", "Pump"), ("blue\n\n# and new", "Valve"), ("red", "Pump")] {
            assert!(!add(text, Some(topic)).repeated, "{topic}: {text}");
        }
        assert!(add("blue\n\n# and new", Some("Pump")).repeated);
        // Text that the user adds below an entry belongs to the section of that entry.
        std::fs::write(&log, "# Day\r\n\r\n## Pump\r\n\r\nblue\r\n\r\nno, green\r\n").unwrap();
        assert!(!add("blue", Some("Pump")).repeated);
        assert!(add("blue\n\nno, green", Some("Pump")).repeated);
    }
}
