//! Front matter: fields between `---` lines at the top of a file.

use super::line::{MarkdownLine, MarkdownLines, trim};
use hippo_types::scope::ScopeRestriction;
use hippo_types::time::{Date, find_date};

/// Maximum number of lines of front matter.
const LINES: u32 = 400;

/// Fields whose values say nothing about the subject of the file.
#[rustfmt::skip] // a list is read in lines
const TECHNICAL: [&str; 24] = [
    "agent", "created", "cssclass", "cssclasses", "date", "day", "draft", "id", "image", "lang", "layout", "locale",
    "modified", "name", "permalink", "publish", "published", "scope", "slug", "title", "updated", "url", "uuid",
    "version",
];

/// Maximum number of values of other fields that are read.
const MOST_VALUES: usize = 64;
/// Maximum bytes of such a value.
const LONGEST_VALUE: usize = 80;
/// Values that say nothing without their field.
const SWITCHES: [&str; 5] = ["true", "false", "null", "yes", "no"];

/// Front matter of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrontMatter {
    /// `date:` (or `day:`, `created:`), if it contains a full date.
    pub date: Option<Date>,
    /// `title:` (or `name:`).
    pub title: Option<String>,
    /// `tags:` (or `tag:`), without `#`.
    pub tags: Vec<String>,
    /// `aliases:` (or `alias:`): other names of the file.
    pub aliases: Vec<String>,
    /// Short values of other fields, such as `author:` and `status:`.
    pub values: Vec<String>,
    /// `agent:`, and `scope: private`.
    pub restriction: ScopeRestriction,
    /// True if a field contains prose, such as a description.
    pub(super) has_prose: bool,
}

/// Front matter with its position.
pub(super) struct FoundFrontMatter {
    pub fields: FrontMatter,
    /// First and last line with content between the `---` lines, if any.
    pub inner: Option<(MarkdownLine, MarkdownLine)>,
    /// Line that closes the front matter.
    pub close: MarkdownLine,
}

/// Parses the front matter at the top of a file; `None` if there is none.
///
/// Every line must look like a field, because a text may also start with a horizontal rule.
pub(super) fn parse_front_matter(bytes: &[u8]) -> Option<FoundFrontMatter> {
    let mut lines = MarkdownLines::new(bytes);
    let first = lines.next()?;
    if !bytes[first.start..first.end].starts_with(b"---") || trim(&bytes[first.start..first.end]) != b"---" {
        return None;
    }
    let mut fields = FrontMatter::default();
    let mut inner: Option<(MarkdownLine, MarkdownLine)> = None;
    let mut any = false;
    let mut last_key = String::new();
    for line in lines.take(LINES as usize) {
        let raw = &bytes[line.start..line.end];
        let text = trim(raw);
        if any && raw.len() == text.len() && (text == b"---" || text == b"...") {
            return Some(FoundFrontMatter {
                fields,
                inner,
                close: line,
            });
        }
        if !text.is_empty() {
            inner = Some((inner.map_or(line, |(start, _)| start), line));
        }
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        let nested =
            raw.first().is_some_and(|&byte| byte == b' ' || byte == b'\t') || text.starts_with(b"- ");
        if nested && any {
            let line = String::from_utf8_lossy(text);
            if last_key == "agent" {
                fields.restrict(ScopeRestriction::Unclear);
            }
            match (line.strip_prefix("- "), fields.list_of(&last_key)) {
                (Some(item), Some(list)) => add_names(list, [item]),
                (None, Some(list)) => add_names(list, split_list(&line)),
                // Other nested lines are nested fields, such as settings, or prose.
                (Some(item), None) => fields.add_values(&last_key, item),
                (None, None) => {}
            }
            continue;
        }
        let (key, value) = parse_field(text)?;
        any = true;
        fields.set_field(&key, &value);
        last_key = key;
    }
    None
}

/// Returns the restriction of a file whose front matter cannot be parsed. A line that names an agent or a private scope
/// must not be ignored because another line has an error. Without a closing line, the front matter ends before the first
/// empty line.
pub(super) fn read_restriction(bytes: &[u8]) -> ScopeRestriction {
    let mut lines = MarkdownLines::new(bytes).map(|line| trim(&bytes[line.start..line.end]));
    if lines.next() != Some(b"---") {
        return ScopeRestriction::None;
    }
    let lines: Vec<&[u8]> = lines.take(LINES as usize).collect();
    let close = lines.iter().position(|line| *line == b"---" || *line == b"...");
    let close = close.or_else(|| lines.iter().position(|line| line.is_empty()));
    let mut fields = FrontMatter::default();
    for line in &lines[..close.unwrap_or(lines.len())] {
        let line = String::from_utf8_lossy(line);
        if let Some((key, value)) = line.split_once(':') {
            let key = key.trim().trim_matches(['"', '\'']).to_lowercase();
            let value = value.trim().trim_matches(['[', ']', ' ']);
            if matches!(key.as_str(), "agent" | "scope") {
                fields.set_field(&key, value);
            }
        }
    }
    fields.restriction
}

/// Parses `key: value`, where the key is one word.
fn parse_field(text: &[u8]) -> Option<(String, String)> {
    let colon = text.iter().position(|&byte| byte == b':')?;
    let (key, value) = (&text[..colon], &text[colon + 1..]);
    let word = !key.is_empty()
        && key
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') || *byte >= 0x80);
    let apart = value.first().is_none_or(|&byte| byte == b' ' || byte == b'\t');
    (word && apart).then(|| {
        (
            String::from_utf8_lossy(key).to_lowercase(),
            String::from_utf8_lossy(trim(value)).into_owned(),
        )
    })
}

impl FrontMatter {
    /// Returns whether the front matter contains names by which the file is found.
    pub(super) fn has_names(&self) -> bool {
        let lists = [&self.tags, &self.aliases, &self.values];
        self.title.is_some() || lists.iter().any(|list| !list.is_empty())
    }

    /// Returns the list of names that a field contains, if it contains names.
    fn list_of(&mut self, key: &str) -> Option<&mut Vec<String>> {
        match key {
            "tags" | "tag" => Some(&mut self.tags),
            "aliases" | "alias" => Some(&mut self.aliases),
            _ => None,
        }
    }

    /// Adds the values of a field without a meaning of its own, or notes that the field contains prose.
    fn add_values(&mut self, key: &str, value: &str) {
        if TECHNICAL.contains(&key) {
            return;
        }
        let is_word = |value: &&str| {
            let has_letter =
                !value.starts_with(|mark: char| mark.is_numeric()) && value.contains(char::is_alphabetic);
            has_letter && value.len() <= LONGEST_VALUE && !value.contains(": ") && !SWITCHES.contains(value)
        };
        for value in split_list(value).into_iter().filter(is_word) {
            if is_prose(value) {
                self.has_prose = true;
            } else if self.values.len() < MOST_VALUES {
                add_names(&mut self.values, [value]);
            }
        }
    }

    fn restrict(&mut self, restriction: ScopeRestriction) {
        self.restriction = std::mem::take(&mut self.restriction).and(restriction);
    }

    fn set_field(&mut self, key: &str, value: &str) {
        if let Some(list) = self.list_of(key) {
            return add_names(list, split_list(value));
        }
        let value = unquote(value);
        match (key, value.to_lowercase().as_str()) {
            ("agent", "") => {}
            ("agent", _) => self.restrict(
                value
                    .parse()
                    .map_or(ScopeRestriction::Unclear, ScopeRestriction::Agent),
            ),
            ("scope", "private") => self.restrict(ScopeRestriction::Private),
            _ => {}
        }
        if value.starts_with('[') {
            return self.add_values(key, &value);
        }
        if value.is_empty() || value.starts_with(['|', '>', '{', '&', '*']) {
            return;
        }
        self.has_prose |= is_prose(&value);
        if !is_prose(&value) {
            self.add_values(key, &value);
        }
        match key {
            "date" | "day" => self.date = find_date(&value).or(self.date),
            "created" => self.date = self.date.or_else(|| find_date(&value)),
            "title" => self.title = Some(value),
            "name" if self.title.is_none() => self.title = Some(value),
            _ => {}
        }
    }
}

fn is_prose(value: &str) -> bool {
    value.split_whitespace().count() >= 4
}

/// Adds the names of tags or of a file to a list.
fn add_names<'v>(list: &mut Vec<String>, values: impl IntoIterator<Item = &'v str>) {
    let names = values
        .into_iter()
        .map(|value| unquote(value).trim_start_matches('#').to_owned());
    list.extend(names.filter(|name| !name.is_empty()));
}

/// Splits an inline list, such as `[a, "b, c"]` or `a, b`, at the commas outside quotes.
fn split_list(value: &str) -> Vec<&str> {
    let value = value.trim().trim_start_matches('[').trim_end_matches(']');
    let (mut quote, mut is_start) = (None, true);
    let at_comma = |sign: char| {
        match quote {
            None if is_start && matches!(sign, '"' | '\'') => quote = Some(sign),
            Some(open) if open == sign => quote = None,
            _ => {}
        }
        let is_comma = quote.is_none() && sign == ',';
        is_start = is_comma || is_start && sign == ' ';
        is_comma
    };
    value.split(at_comma).map(str::trim).collect()
}

/// Returns a value without its quotes, or an unquoted value without the comment after it.
fn unquote(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            return inner.split(quote).next().unwrap_or_default().to_owned();
        }
    }
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn fields(text: &str) -> Option<FrontMatter> {
        parse_front_matter(text.as_bytes()).map(|found| found.fields)
    }

    #[test]
    fn scalars_and_lists_are_parsed() {
        let text = "---\r\ntitle: \"A: plan\" # why\r\nDate: 2026-01-10T08:00\r\ntype: daily\r\ntags: [a, 'b c', d]\r\n\
                    nested:\r\n  key: value\r\n# comment\r\nempty:\r\n---\r\ntext";
        let found = fields(text).unwrap();
        assert_eq!(found.title.as_deref(), Some("A: plan"));
        assert_eq!(found.date, Some(date(2026, 1, 10)));
        assert!(!found.has_prose);
        let lists = "---\ntags:\n  - a\n- b\nsummary: three words and more\n---\n";
        assert!(fields(lists).unwrap().has_prose);
    }

    #[test]
    fn tags_and_aliases_are_read_in_every_form() {
        for text in [
            "tags: [cooking, 'b, c']\naliases: [Levain, \"Wild yeast\"]\n",
            "tags:\n  - cooking\n  - \"b, c\"\naliases:\n- Levain\n- Wild yeast\n",
            "tags: \"#cooking\", 'b, c'\nalias: Levain, Wild yeast\n",
            "tags: [\n  cooking, \"b, c\"\n  ]\nalias: [Levain,\n  Wild yeast]\n",
        ] {
            let found = fields(&format!("---\n{text}cssclasses: [wide]\n---\n")).unwrap();
            assert_eq!(found.tags, ["cooking", "b, c"], "{text}");
            assert_eq!(found.aliases, ["Levain", "Wild yeast"], "{text}");
            assert!(!found.has_prose, "{text}");
        }
        // An apostrophe inside a word starts no quote.
        let found = fields("---\naliases: Ada's bread, Levain\n---\n").unwrap();
        assert_eq!(found.aliases, ["Ada's bread", "Levain"]);
    }

    #[test]
    fn values_of_other_fields_are_read() {
        let found = fields(
            "---\ntitle: T\nauthor: Mary Shelley\nstatus: \"read\"\nrating: 4\ngenres: [gothic, 'a, b']\nwhere:\n  \
             - the shelf\ncssclass: wide\nseen: true\nabout:\n  city: Geneva\n---\n",
        )
        .unwrap();
        let values = ["Mary Shelley", "read", "gothic", "a, b", "the shelf"];
        assert_eq!(found.values, values);
        assert!(!found.has_prose);
        let (list, image) = ("ab, ".repeat(9_000), "x".repeat(9_000));
        let many = format!("---\nword: [{list}]\nimage: data:{image}\n---\n");
        assert_eq!(fields(&many).unwrap().values.len(), MOST_VALUES);
    }

    #[test]
    fn agents_and_private_scopes_are_read() {
        use ScopeRestriction::{Agent, None, Private, Unclear};
        let scribe = || Agent("scribe".parse().unwrap());
        for (text, expected) in [
            ("agent: scribe\n", scribe()),
            ("agent: \"scribe\" # mine\nscope: private\n", scribe()),
            ("Scope: Private\nagent: scribe\n", scribe()),
            ("agent: scribe\nagent: scribe\n", scribe()),
            ("scope: private\n", Private),
            ("agent:\nscope: team\n", None),
            ("agent: Claude Code\n", Unclear),
            ("agent: [scribe, critic]\n", Unclear),
            ("agent:\n  - scribe\n", Unclear),
            ("agent: scribe\nagent: critic\n", Unclear),
        ] {
            let found = fields(&format!("---\ntitle: T\n{text}---\n")).unwrap();
            assert_eq!(found.restriction, expected, "{text}");
        }
    }

    #[test]
    fn an_error_in_another_line_does_not_make_a_private_file_shared() {
        let agent = || ScopeRestriction::Agent("scribe".parse().unwrap());
        for (text, expected) in [
            ("---\nagent: scribe\nreviewed by: Ana\n---\ntext", agent()),
            ("---\n\"agent\": scribe\n---\ntext", agent()),
            ("---\nagent: scribe\n\ntext", agent()),
            (
                "---\nscope: [private]\nno field\n---\ntext",
                ScopeRestriction::Private,
            ),
            ("---\n\nThe agent: scribe\n", ScopeRestriction::None),
            ("agent: scribe\n", ScopeRestriction::None),
        ] {
            assert!(parse_front_matter(text.as_bytes()).is_none(), "{text}");
            assert_eq!(read_restriction(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_horizontal_rule_is_not_front_matter() {
        assert_eq!(fields("---\nSome prose here.\n---\n"), None);
        assert_eq!(fields("---\n\n---\n"), None);
        assert_eq!(fields("----\na: b\n----\n"), None);
        assert_eq!(fields("text\n---\na: b\n---\n"), None);
    }

    #[test]
    fn unclosed_front_matter_is_text() {
        assert_eq!(fields("---\na: b\n"), None);
    }
}
