//! Weighted lines of a file, without markup.

use super::label::pointer;
use super::machine::{is_machine, without_header};
use super::table::read_rows;
use crate::chunk::text::strip_comments;
use crate::chunk::{Chunk, ChunkKind, Document, Speaker, chunk_text};
use crate::{instruction, speaker};
use hippo_redact::{piece_without_secrets, without_secrets};

/// Weight of an assistant's words; low, because answers are long and repeat the question.
const ASSISTANT: f32 = 0.15;
/// Weight of code.
const CODE: f32 = 0.3;
/// Weight of a heading.
const HEADING: f32 = 3.0;
/// Maximum number of bytes of a chunk that count towards its [`mass`].
const MASS: usize = 800;

/// Ends of the names of embedded files without text.
const IMAGES: [&str; 7] = [".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf"];

/// Lower-case labels of the user and the assistant.
const ROLES: [&str; 2] = ["user:", "assistant:"];

/// Line of text without markup.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedLine {
    /// The line, without markup and secrets.
    pub text: String,
    /// Weight of each word of the line.
    pub weight: f32,
    /// Index of the section that contains the line.
    pub section: u32,
    /// Kind of the chunk that contains the line.
    pub kind: ChunkKind,
    /// Speaker of the chunk that contains the line.
    pub speaker: Speaker,
    /// `true` if the line reads like an instruction to an agent. hippod does not copy such a line into derived text.
    pub steers: bool,
}

/// Returns the mass of a chunk, an estimate of its information. The unit is one byte of plain text without a speaker;
/// code, tables and words of an assistant weigh less.
pub fn mass(chunk: &Chunk) -> f32 {
    let bytes = usize::try_from(chunk.end_byte - chunk.start_byte).unwrap_or(MASS);
    let kind = match chunk.kind {
        ChunkKind::Heading => return 0.0,
        ChunkKind::Code => CODE,
        ChunkKind::Table => 0.7,
        _ => 1.0,
    };
    let speaker = match chunk.speaker {
        Speaker::Assistant => ASSISTANT,
        _ => 1.0,
    };
    bytes.min(MASS) as f32 * kind * speaker
}

/// Returns the lines of the chunks `from..to`, and the headings of the sections that begin in this range.
pub fn lines(document: &Document, bytes: &[u8], from: usize, to: usize) -> Vec<WeightedLine> {
    let mut out = Vec::new();
    let before = from.checked_sub(1).and_then(|before| document.chunks.get(before));
    let mut section = before.map(|chunk| chunk.section);
    // True while a private key continues in the next chunk.
    let mut key = false;
    for chunk in document.chunks.get(from..to).unwrap_or_default() {
        if section != Some(chunk.section) {
            section = Some(chunk.section);
            let section = document.sections.get(chunk.section as usize);
            let title = section.map_or_else(String::new, |section| clean(&section.title));
            push(&mut out, title, HEADING, chunk, ChunkKind::Heading);
        }
        let weight = match (chunk.speaker, chunk.kind) {
            (_, ChunkKind::Heading) => continue,
            (Speaker::Assistant, _) => ASSISTANT,
            (_, ChunkKind::Code) => CODE,
            _ => 1.0,
        };
        let text = chunk_text(bytes, chunk);
        let plain = piece_without_secrets(&strip_comments(&text), &mut key).into_owned();
        // Check before markup is removed, because delimiters of chat formats are not recognized afterwards.
        let mut text = instruction::quarantine(&plain).into_owned();
        if chunk.kind == ChunkKind::Table {
            let rows = read_rows(&text).into_iter();
            let shown = rows.map(|(_, row)| without_secrets(&row).into_owned());
            text = shown.collect::<Vec<_>>().join("\n");
        }
        if chunk.kind != ChunkKind::Code {
            let lines = rejoin_lines(&text).into_iter().map(|(_, line)| line);
            text = lines.collect::<Vec<_>>().join("\n");
        }
        for line in text.lines() {
            let line = without_role(line, chunk.speaker);
            if chunk.kind != ChunkKind::Code && is_machine(line) {
                continue;
            }
            let line = without_header(&unmarked(line));
            push(&mut out, line, weight, chunk, chunk.kind);
        }
    }
    let texts: Vec<&str> = out.iter().map(|line| line.text.as_str()).collect();
    let flags = instruction::flag_lines(&texts);
    for (line, steers) in out.iter_mut().zip(flags) {
        line.steers = steers || line.text.contains(instruction::MARK);
    }
    out
}

/// Removes the lines that read like an instruction. Returns `true` if there were any.
pub fn remove_instructions(lines: &mut Vec<WeightedLine>) -> bool {
    let all = lines.len();
    lines.retain(|line| !line.steers);
    lines.len() < all
}

/// Returns the summary. If the summary is empty and lines that read like instructions were `hidden`, returns
/// [`instruction::MARK`].
pub fn or_mark(summary: String, hidden: bool) -> String {
    if summary.is_empty() && hidden {
        return instruction::MARK.to_owned();
    }
    summary
}

fn push(out: &mut Vec<WeightedLine>, text: String, weight: f32, chunk: &Chunk, kind: ChunkKind) {
    if text.contains(char::is_alphanumeric) {
        out.push(WeightedLine {
            text,
            weight,
            section: chunk.section,
            kind,
            speaker: chunk.speaker,
            steers: false,
        });
    }
}

/// Minimum bytes of a line that may continue on the next line.
const FULL_LINE: usize = 60;
/// Maximum bytes of a line that may continue on the next line; longer lines are data.
const LONGEST_LINE: usize = 8_000;

/// Returns the lines of a text, with wrapped lines rejoined. Each line has the number of its first part, from 0.
pub fn rejoin_lines(text: &str) -> Vec<(u32, String)> {
    let goes_on = |line: &str| {
        (FULL_LINE..LONGEST_LINE).contains(&line.len())
            && pointer(line).1.is_none()
            && !line.ends_with(['.', '!', '?', ':', '。', '！', '？', '|', '>', ')', '"'])
    };
    let mut lines: Vec<(u32, String)> = Vec::new();
    for (number, line) in (0..).zip(text.lines()) {
        let line = line.trim();
        let begins = line.is_empty()
            || line.starts_with(['-', '*', '+', '>', '|', '#', '<'])
            || line.starts_with(|first: char| first.is_ascii_digit());
        match lines.last_mut().filter(|(_, before)| !begins && goes_on(before)) {
            Some((_, before)) => {
                before.push(' ');
                before.push_str(line);
            }
            None => lines.push((number, line.to_owned())),
        }
    }
    lines
}

/// Removes a role such as `User:` from a line. Keeps the name of a person, because it belongs to the statement.
pub fn without_role(line: &str, speaker: Speaker) -> &str {
    match speaker {
        Speaker::User | Speaker::Assistant
            if speaker::name(line).is_some() || ROLES.iter().any(|role| line.starts_with(role)) =>
        {
            line.split_once(':').map_or(line, |(_, rest)| rest)
        }
        _ => line,
    }
}

/// Removes secrets and the marks of lists, quotes, emphasis, code, links and tables; collapses white space.
pub fn clean(line: &str) -> String {
    unmarked(&without_secrets(line))
}

/// Returns a line without the marks of lists, quotes and headings.
pub fn unmarked(line: &str) -> String {
    let line = line.trim().trim_start_matches(['>', '#', ' ', '\t']);
    let marks = ["- [ ] ", "- [x] ", "- [X] ", "- ", "* ", "+ "];
    let item = marks.iter().find_map(|mark| line.strip_prefix(mark));
    let mut line = item.map_or(line, str::trim_start);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = [". ", ") "]
        .iter()
        .find_map(|mark| line[digits..].strip_prefix(mark));
    if let Some(rest) = numbered.filter(|_| (1..=3).contains(&digits)) {
        line = rest;
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        if let Some((name, behind)) = wiki_link(rest) {
            out.push_str(&name.replace(['*', '`', '|'], ""));
            rest = behind;
            continue;
        }
        let width = next.len_utf8();
        match next {
            '*' if out.ends_with([' ', '(']) && rest[1..].starts_with([' ', ')']) => out.push('*'),
            '*' | '`' => {}
            '_' if rest.starts_with("__") => {}
            '!' if rest.starts_with("![") => {}
            '[' => {
                if let Some((name, behind)) = link(rest) {
                    out.push_str(&name.replace(['*', '`', '|'], ""));
                    rest = behind;
                    continue;
                }
                out.push('[');
            }
            '|' => {
                if !(out.is_empty() || out.ends_with(", ")) {
                    out.truncate(out.trim_end().len());
                    out.push_str(", ");
                }
            }
            '<' if rest.starts_with("<!--") || rest.starts_with("</") || is_tag(rest) => {
                if let Some(end) = rest.find('>') {
                    rest = &rest[end + 1..];
                    continue;
                }
            }
            mark if mark.is_whitespace() || mark.is_control() => {
                if !(out.is_empty() || out.ends_with(' ')) {
                    out.push(' ');
                }
            }
            mark => out.push(mark),
        }
        rest = &rest[width..];
    }
    out.truncate(out.trim_end_matches([' ', ',', '\\']).len());
    out
}

/// Returns the text of the link with which the text begins, and the rest after the link.
fn link(text: &str) -> Option<(&str, &str)> {
    let close = text.find("](")?;
    let name = text.get(1..close).filter(|name| !name.contains(['[', ']']))?;
    let end = text[close..].find(')')?;
    Some((name, &text[close + end + 1..]))
}

/// Returns the shown text of an Obsidian link at the beginning of the text, and the rest after the link: the alias of
/// `[[note|alias]]`, the name of `![[note]]`. An embedded image and a block reference of Logseq, `((UUID))`, have no
/// text.
fn wiki_link(text: &str) -> Option<(String, &str)> {
    if let Some((id, behind)) = text.strip_prefix("((").and_then(|rest| rest.split_once("))")) {
        let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_uuid = id.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && id.split('-').all(is_hex);
        return is_uuid.then_some((String::new(), behind));
    }
    let embedded = text.strip_prefix('!');
    let (name, behind) = embedded.unwrap_or(text).strip_prefix("[[")?.split_once("]]")?;
    // In the test `[[ -f a ]]` of a shell, a space follows the brackets.
    if name.starts_with(char::is_whitespace) || name.contains(['[', ']']) {
        return None;
    }
    let (target, alias) = name.split_once('|').unwrap_or((name, ""));
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let is_image = || IMAGES.iter().any(|end| file.to_ascii_lowercase().ends_with(end));
    let shown = match embedded {
        Some(_) if is_image() => String::new(),
        None if !alias.is_empty() => alias.to_owned(),
        _ if heading.is_empty() => target.to_owned(),
        _ => target.replace('#', ": "),
    };
    Some((shown, behind))
}

/// Returns `true` if the text starts with an HTML tag.
fn is_tag(text: &str) -> bool {
    const TAGS: [&str; 10] = [
        "<br", "<p", "<div", "<img", "<a ", "<h", "<details", "<summary", "<sub", "<span",
    ];
    TAGS.iter().any(|tag| text.starts_with(tag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::chunk;

    #[test]
    fn marks_are_removed_and_words_kept() {
        let table = [
            ("- **Deploy:** `cargo run` now", "Deploy: cargo run now"),
            (
                "12. see [the docs](https://a.example/x) first",
                "see the docs first",
            ),
            ("| name | what |", "name, what"),
            ("> quoted <br/>  line", "quoted line"),
            ("- [x] paid", "paid"),
            ("![logo](a.png) text", "logo text"),
            ("a < b and 2 * 3", "a < b and 2 * 3"),
            (
                "select count(*) from **parcels** *",
                "select count(*) from parcels",
            ),
            (
                "- met [[Ada Brandt|Ada]] at [[Port#Gate 3]]",
                "met Ada at Port: Gate 3",
            ),
            ("[[Jonas]] said: ![[map.png|300]] ![[Map]]", "Jonas said: Map"),
            (
                "[[C sharp|C#]] and [[C#]] ![[Map.PNG]] ![[plan.pdf#page=3]]",
                "C# and C#",
            ),
            ("Look!! ![[Map]] !![[Map]]", "Look!! Map !Map"),
            (
                "see ((6543a024-1b2c-4d3e-8f90-0123456789ab)) and ((this)) or ((0-1))",
                "see and ((this)) or ((0-1))",
            ),
            ("if [[ -f a || -f b ]]; then", "if [[ -f a, -f b ]]; then"),
            ("- **Password:** `hunter2`", "Password: …"),
            ("2026. was a year", "2026. was a year"),
            ("", ""),
        ];
        for (line, expected) in table {
            assert_eq!(clean(line), expected, "{line}");
        }
    }

    #[test]
    fn no_part_of_a_private_key_is_shown() {
        let body = "MIIEowIBAAKCAQEA7vN3kq1Zx81kQ9dPw72LmA0vBt3Zx81kQ9dPw72LmA0vBt3x\n".repeat(60);
        let text = format!(
            "# Server\n\nbefore\n\n```\n-----BEGIN RSA PRIVATE KEY-----\n{body}shortEnd==\n-----END RSA PRIVATE KEY-----\n```\n\n\
            after, {}\n",
            "with words enough to be a chunk of its own ".repeat(9)
        );
        let document = chunk(text.as_bytes());
        assert!(document.chunks.len() > 3, "{}", document.chunks.len());
        for from in 0..document.chunks.len() {
            let lines = lines(&document, text.as_bytes(), from, document.chunks.len());
            assert!(lines.iter().all(|line| !line.text.contains("MIIE")), "{lines:?}");
            assert!(
                lines.iter().all(|line| !line.text.contains("shortEnd")),
                "{lines:?}"
            );
            assert!(
                lines.iter().any(|line| line.text.starts_with("after")),
                "{lines:?}"
            );
        }
        let shown: Vec<String> = lines(&document, text.as_bytes(), 0, document.chunks.len())
            .into_iter()
            .map(|line| line.text)
            .collect();
        assert_eq!(shown[..2], ["Server", "before"]);
        assert_eq!(shown.len(), 3, "{shown:?}");
    }

    #[test]
    fn roles_are_removed_and_names_kept() {
        let text = b"# Day\n\n## Talk\n\nUser: I adopted a cat\nAssistant: Lovely!\n\n## More\n\n- **Ada:** hi <!-- 1 -->\n";
        let document = chunk(text);
        let lines = lines(&document, text, 0, document.chunks.len());
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert!(texts.contains(&"I adopted a cat"), "{texts:?}");
        assert!(texts.contains(&"Ada: hi"), "{texts:?}");
        let of = |text: &str| {
            lines
                .iter()
                .find(|line| line.text == text)
                .map(|line| line.weight)
        };
        assert!(of("Lovely!") < of("I adopted a cat"), "{lines:?}");
    }
}
