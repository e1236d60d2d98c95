//! Reader of `hipocampus.config.json`, and what of it a folder may set without trust.

use std::fmt;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::nesting::{self, TooDeep};

/// The file, in a workspace. It is the one that hipocampus has, so that its workspaces are understood.
pub const FILE: &str = "hipocampus.config.json";
/// Record of `init` as earlier builds left it in the workspace; it is used only where the user says so.
pub const OLD_INIT_RECORD: &str = ".hippocampus/harness.json";
/// Harnesses that `platform` may name.
pub const PLATFORMS: [&str; 5] = ["claude-code", "openclaw", "opencode", "codex", "none"];
/// Fewest and most tokens of `ROOT.md`.
pub const ROOT_TOKENS: (u32, u32) = (200, 1_000_000);
/// Most hours between two runs of the compaction tree: a year.
pub const MOST_HOURS: f64 = 8_760.0;

/// JSON as people write it into the settings of a harness: comments and trailing commas are allowed, nothing else beyond it.
#[must_use]
pub fn as_people_write() -> ParseOptions {
    ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
        ..ParseOptions::default()
    }
}

/// The keys of it that are understood. What is not said, or `null`, is `None`; all other keys are for others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// `platform`, one of [`PLATFORMS`].
    pub platform: Option<String>,
    /// `search.vector`
    pub vector: Option<bool>,
    /// `index.inPrompt`: whether the prompt begins with `HIPPOCAMPUS.md`.
    pub index_in_prompt: Option<bool>,
    /// `compaction.rootMaxTokens`, within [`ROOT_TOKENS`].
    pub root_max_tokens: Option<u32>,
    /// `compaction.cooldownHours`, 0 to [`MOST_HOURS`].
    pub cooldown_hours: Option<f64>,
}

/// A setting that a folder asks for and that only its trusted file has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wider {
    /// The key.
    pub key: &'static str,
    /// The value without trust.
    pub from: String,
    /// The value with trust.
    pub to: String,
}

impl Settings {
    /// These settings as far as they narrow what the user has, and those that do not: a larger root, more frequent runs, and
    /// `HIPPOCAMPUS.md` in the prompt.
    #[must_use]
    pub fn narrowed(&self, root_max_tokens: u32, cooldown_hours: f64) -> (Self, Vec<Wider>) {
        let mut narrowed = self.clone();
        let mut wider = Vec::new();
        let mut tell = |key, from: String, to: String| wider.push(Wider { key, from, to });
        if let Some(tokens) = self.root_max_tokens.filter(|tokens| *tokens > root_max_tokens) {
            narrowed.root_max_tokens = Some(root_max_tokens);
            tell(
                "compaction.rootMaxTokens",
                root_max_tokens.to_string(),
                tokens.to_string(),
            );
        }
        if let Some(hours) = self.cooldown_hours.filter(|hours| *hours < cooldown_hours) {
            narrowed.cooldown_hours = Some(cooldown_hours);
            tell(
                "compaction.cooldownHours",
                cooldown_hours.to_string(),
                hours.to_string(),
            );
        }
        if self.index_in_prompt == Some(true) {
            narrowed.index_in_prompt = None;
            tell("index.inPrompt", "false".to_owned(), "true".to_owned());
        }
        (narrowed, wider)
    }
}

/// A value that cannot be used, and what can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong; without the text of the file but for a short value.
    pub what: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, what } = self;
        write!(f, "line {line}, column {column}: {what}")
    }
}

/// Reads the file. A value that cannot be used is as if it were not said, and told; the others hold. Of a file that is no JSON nothing
/// holds.
#[must_use]
pub fn read(bytes: &[u8]) -> (Settings, Vec<Misfit>) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let sound = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let misfit = misfit(&sound, sound.len(), "it is no UTF-8".to_owned());
            return (Settings::default(), vec![misfit]);
        }
    };
    // It is only read: what some editors put before it does no harm.
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = Reader {
        text,
        misfits: Vec::new(),
    };
    if let Err(TooDeep { line, column, .. }) = nesting::check_json(text) {
        let what = TooDeep::WHAT.to_owned();
        return (Settings::default(), vec![Misfit { line, column, what }]);
    }
    let settings = match parse_to_ast(text, &CollectOptions::default(), &as_people_write()) {
        Ok(parsed) => reader.settings(parsed.value.as_ref()),
        Err(error) => {
            reader.misfits.push(Misfit {
                line: error.line_display(),
                column: error.column_display(),
                what: error.kind().to_string(),
            });
            Settings::default()
        }
    };
    (settings, reader.misfits)
}

fn misfit(text: &str, at: usize, what: String) -> Misfit {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    Misfit {
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
        what,
    }
}

/// Longest value that is shown, in bytes.
const SHOWN: usize = 40;

struct Reader<'t> {
    text: &'t str,
    misfits: Vec<Misfit>,
}

impl<'t> Reader<'t> {
    fn settings(&mut self, root: Option<&Value<'t>>) -> Settings {
        let Some(Value::Object(root)) = root else {
            let at = root.map_or(self.text.len(), Ranged::start);
            let found = misfit(self.text, at, "it holds no object { … }".to_owned());
            self.misfits.push(found);
            return Settings::default();
        };
        let platforms = format!("one of {}", PLATFORMS.join(", "));
        let platform = self.value(root, "", "platform", &platforms, |value| {
            let name = value.as_string_lit()?.value.as_ref();
            PLATFORMS.contains(&name).then(|| name.to_owned())
        });
        let search = self.section(root, "search");
        let compaction = self.section(root, "compaction");
        let index = self.section(root, "index");
        let flag = |value: &Value<'t>| Some(value.as_boolean_lit()?.value);
        let vector = search.and_then(|search| self.value(search, "search.", "vector", "true or false", flag));
        if let Some(search) = search {
            let name = |value: &Value<'t>| value.as_string_lit().map(drop);
            self.value(search, "search.", "embedModel", "a text such as \"auto\"", name);
        }
        let index_in_prompt =
            index.and_then(|index| self.value(index, "index.", "inPrompt", "true or false", flag));
        let (least, most) = ROOT_TOKENS;
        let tokens = |value: &Value<'t>| {
            let tokens: u32 = value.as_number_lit()?.value.parse().ok()?;
            (least..=most).contains(&tokens).then_some(tokens)
        };
        let hours = |value: &Value<'t>| {
            let hours: f64 = value.as_number_lit()?.value.parse().ok()?;
            (0.0..=MOST_HOURS).contains(&hours).then_some(hours)
        };
        let root_max_tokens = compaction.and_then(|section| {
            let range = format!("a whole number from {least} to {most}");
            self.value(section, "compaction.", "rootMaxTokens", &range, tokens)
        });
        let cooldown_hours = compaction.and_then(|section| {
            let range = format!("a number of hours from 0 to {MOST_HOURS}");
            self.value(section, "compaction.", "cooldownHours", &range, hours)
        });
        self.misfits.sort_by_key(|misfit| (misfit.line, misfit.column));
        Settings {
            platform,
            vector,
            index_in_prompt,
            root_max_tokens,
            cooldown_hours,
        }
    }

    fn section<'v>(&mut self, root: &'v Object<'t>, key: &str) -> Option<&'v Object<'t>> {
        let found = self.property(root, "", key)?;
        let section = found.value.as_object();
        if section.is_none() {
            self.tell(found, key, "an object { … }");
        }
        section
    }

    /// The value of a key, where it is one that can be used.
    fn value<T>(
        &mut self,
        object: &Object<'t>,
        section: &str,
        key: &str,
        expected: &str,
        usable: impl Fn(&Value<'t>) -> Option<T>,
    ) -> Option<T> {
        let found = self.property(object, section, key)?;
        let value = usable(&found.value);
        if value.is_none() {
            self.tell(found, &format!("{section}{key}"), expected);
        }
        value
    }

    /// A key that is said and not `null`. One that is said twice means nothing.
    fn property<'v>(
        &mut self,
        object: &'v Object<'t>,
        section: &str,
        key: &str,
    ) -> Option<&'v ObjectProp<'t>> {
        let mut named = object
            .properties
            .iter()
            .filter(|found| found.name.as_str() == key);
        let first = named.next()?;
        if let Some(second) = named.next() {
            let what = format!("{section}{key} stands there twice: leave one");
            self.misfits.push(misfit(self.text, second.start(), what));
            return None;
        }
        first.value.as_null_keyword().is_none().then_some(first)
    }

    fn tell(&mut self, found: &ObjectProp<'t>, key: &str, expected: &str) {
        let value = &found.value;
        let shown = match value {
            Value::Object(_) => "an object".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            _ => {
                let text = value.text(self.text);
                let short = crate::text::start(text, SHOWN);
                let cut = if short.len() < text.len() { "…" } else { "" };
                format!("{short}{cut}")
            }
        };
        let what = format!("{key} is {shown}; expected is {expected}");
        self.misfits.push(misfit(self.text, value.start(), what));
    }
}

#[cfg(test)]
mod tests;
