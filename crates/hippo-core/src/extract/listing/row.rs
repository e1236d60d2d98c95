//! What does one line of a listing name?

use crate::extract::values::is_path;
use crate::extract::words::extension;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::extract) enum Row<'t> {
    /// `src:` of `ls -R`: what follows is in it.
    Folder(&'t str),
    /// A file or folder.
    Entry(Entry<'t>),
    /// Anything else.
    Other,
    /// Nothing.
    Blank,
}

/// A file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::extract) struct Entry<'t> {
    pub path: &'t str,
    pub folder: bool,
    /// 0 where it is not told.
    pub bytes: u64,
    /// Its level in a tree.
    pub level: Option<usize>,
    /// What has become of it: `modified`, `deleted`.
    pub state: Option<&'static str>,
}

/// Words of `git` for what became of a file.
const STATES: [(&str, &str); 17] = [
    ("M ", "modified"),
    (" M ", "modified"),
    ("MM ", "modified"),
    ("A ", "added"),
    ("AM ", "added"),
    ("D ", "deleted"),
    (" D ", "deleted"),
    ("R ", "renamed"),
    ("UU ", "unmerged"),
    ("?? ", "untracked"),
    ("\tmodified: ", "modified"),
    ("\tnew file: ", "added"),
    ("\tdeleted: ", "deleted"),
    ("\trenamed: ", "renamed"),
    ("\tboth modified: ", "unmerged"),
    (" create mode 100", "added"),
    (" delete mode 100", "deleted"),
];

/// What a line of a listing names.
pub(in crate::extract) fn row(line: &str) -> Row<'_> {
    let line = line.trim_end();
    if line.trim().is_empty() {
        return Row::Blank;
    }
    if line.len() > 1_000 {
        return Row::Other;
    }
    tree(line)
        .or_else(|| long(line))
        .or_else(|| state(line))
        .or_else(|| sized(line))
        .or_else(|| plain(line))
        .unwrap_or(Row::Other)
}

const fn entry(path: &str) -> Entry<'_> {
    Entry {
        path,
        folder: false,
        bytes: 0,
        level: None,
        state: None,
    }
}

/// `│   ├── name`
fn tree(line: &str) -> Option<Row<'_>> {
    let at = line.find("── ").or_else(|| {
        line.find("-- ")
            .filter(|at| *at > 0 && line[..*at].ends_with(['|', '`', '+']))
    })?;
    let before = &line[..at];
    if !before
        .chars()
        .all(|c| matches!(c, '│' | '├' | '└' | '|' | '`' | '+' | ' ' | '\u{a0}'))
    {
        return None;
    }
    let name = line[at..].split_once(' ')?.1.trim_start();
    let name = name.split(" -> ").next().unwrap_or(name);
    // Four columns a level; a name without ending is most often a folder.
    let level = before.chars().count() / 4;
    Some(Row::Entry(Entry {
        folder: name.ends_with('/') || extension(name).is_empty(),
        level: Some(level),
        ..entry(name)
    }))
}

/// `-rw-r--r-- 1 user group 1234 Jan  1 12:00 name`
fn long(line: &str) -> Option<Row<'_>> {
    let rest = line.trim_start();
    let mode = rest.split(' ').next()?;
    let bytes = mode.as_bytes();
    let sound = bytes.len() >= 10
        && matches!(bytes[0], b'-' | b'd' | b'l' | b's' | b'p' | b'c' | b'b')
        && bytes[1..10].iter().all(|byte| b"rwxsStT-".contains(byte));
    if !sound {
        return None;
    }
    // Mode, links, owner, group, size, three fields of time; group or a field of time may be missing.
    let mut fields = Vec::new();
    let mut at = 0;
    while fields.len() < 12 {
        let start = at + (rest[at..].len() - rest[at..].trim_start().len());
        if start >= rest.len() {
            break;
        }
        let end = rest[start..]
            .find(' ')
            .map_or(rest.len(), |length| start + length);
        fields.push((start, &rest[start..end]));
        at = end;
    }
    let size = (3..=4).find(|&at| {
        let number = fields.get(at).is_some_and(|(_, text)| amount(text).is_some());
        number
            && fields
                .get(at + 1)
                .is_some_and(|(_, text)| text.parse::<f64>().is_err())
    })?;
    let dated = fields.get(size + 1).is_some_and(|(_, text)| text.contains('-'));
    let clock = fields.get(size + 2).is_some_and(|(_, text)| text.contains(':'));
    let zone = fields
        .get(size + 3)
        .is_some_and(|(_, text)| text.starts_with(['+', '-']) && text.len() == 5);
    let name = size
        + if dated && clock {
            3 + usize::from(zone)
        } else if dated {
            2
        } else {
            4
        };
    let name = &rest[fields.get(name)?.0..];
    if matches!(name, "." | "..") {
        return Some(Row::Blank);
    }
    Some(Row::Entry(Entry {
        folder: bytes[0] == b'd',
        bytes: if bytes[0] == b'd' {
            0
        } else {
            amount(fields[size].1).unwrap_or(0)
        },
        ..entry(name.split(" -> ").next().unwrap_or(name))
    }))
}

/// `M  path`, `?? path`, `modified:   path`
fn state(line: &str) -> Option<Row<'_>> {
    let (mark, state) = STATES.iter().find(|(mark, _)| line.starts_with(mark))?;
    let mut path = line[mark.len()..].trim_start();
    if mark.ends_with("100") {
        path = path.split_once(' ')?.1;
    } else if mark.trim().len() <= 2 && !is_name(path) {
        return None;
    }
    let path = path.rsplit(" -> ").next().unwrap_or(path);
    Some(Row::Entry(Entry {
        state: Some(state),
        ..entry(path)
    }))
}

/// `12K ./path` of `du` and `wc -l`
fn sized(line: &str) -> Option<Row<'_>> {
    let rest = line.trim_start();
    let (size, path) = rest.split_once(['\t', ' '])?;
    let bytes = amount(size)?;
    let path = path.trim_start();
    (is_name(path) && (path.contains('/') || path.contains('.')))
        .then_some(Row::Entry(Entry { bytes, ..entry(path) }))
}

/// A path alone, or a folder with its colon.
fn plain(line: &str) -> Option<Row<'_>> {
    let path = line.trim();
    if let Some(folder) = path.strip_suffix(':').filter(|path| is_name(path)) {
        return Some(Row::Folder(folder));
    }
    let path = path.trim_matches(['"', '\'']).trim_start_matches("- ");
    let named = is_path(path) || path.ends_with('/') || !extension(path).is_empty();
    (is_name(path) && named).then(|| {
        Row::Entry(Entry {
            folder: path.ends_with('/'),
            ..entry(path)
        })
    })
}

/// Whether it may be a path: no spaces but within a name, and nothing that code is made of.
fn is_name(text: &str) -> bool {
    let spaces = text.matches(' ').count();
    !text.is_empty()
        && text.len() < 300
        && (spaces == 0 || (spaces < 6 && !extension(text).is_empty() && !text.contains(": ")))
        && !text.contains(['(', ')', '{', '}', ';', '=', '<', '>', '|', '"', '`', ','])
        && !text.contains("::")
        && !text.contains("://")
        && !text.ends_with('.')
        && text.chars().any(char::is_alphanumeric)
}

/// A number of bytes, with or without its unit.
fn amount(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'T', 'B', 'k', 'i']);
    let unit = text[digits.len()..].to_ascii_uppercase();
    let number: f64 = digits
        .parse()
        .ok()
        .filter(|_| digits.starts_with(|c: char| c.is_ascii_digit()))?;
    let factor = match unit.as_bytes().first() {
        None | Some(b'B') => 1.0,
        Some(b'K') => 1_024.0,
        Some(b'M') => 1_048_576.0,
        Some(b'G') => 1_073_741_824.0,
        _ => 1_099_511_627_776.0,
    };
    Some((number * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_usual_tools_name_what_they_name() {
        let file = |path| Row::Entry(entry(path));
        let with = |path, folder, bytes| {
            Row::Entry(Entry {
                folder,
                bytes,
                ..entry(path)
            })
        };
        let stated = |path, state| {
            Row::Entry(Entry {
                state: Some(state),
                ..entry(path)
            })
        };
        for (line, expected) in [
            (
                "-rw-r--r--  1 ada staff 1234 Jan  2 12:00 my notes.md",
                with("my notes.md", false, 1_234),
            ),
            (
                "drwxr-xr-x 2 ada staff 4.0K 2026-01-02 12:00 src",
                with("src", true, 0),
            ),
            (
                "lrwxrwxrwx 1 ada staff 7 Jan  2  2025 now -> then",
                with("now", false, 7),
            ),
            ("total 48", Row::Other),
            ("M  src/lib.rs", stated("src/lib.rs", "modified")),
            ("?? notes/", stated("notes/", "untracked")),
            ("\tmodified:   src/main.rs", stated("src/main.rs", "modified")),
            (" create mode 100644 docs/a.md", stated("docs/a.md", "added")),
            ("12K\t./docs/a.md", with("./docs/a.md", false, 12_288)),
            ("./docs/a.md", file("./docs/a.md")),
            ("src/engine:", Row::Folder("src/engine")),
            ("let x = 1;", Row::Other),
            ("Just a sentence.", Row::Other),
            ("", Row::Blank),
        ] {
            assert_eq!(row(line), expected, "{line}");
        }
        let Row::Entry(found) = row("│   ├── main.rs") else {
            panic!()
        };
        assert_eq!(
            (found.path, found.level, found.folder),
            ("main.rs", Some(1), false)
        );
    }
}
