//! Reader of `hipocampus.config.json`, and the settings allowed without trust.

use std::fmt;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Map;

use crate::nesting::{self, TooDeep};

/// Name of the file in a workspace. The original hipocampus uses the same file.
pub const FILE: &str = "hipocampus.config.json";
/// Harnesses accepted as `platform`.
pub const PLATFORMS: [&str; 5] = ["claude-code", "openclaw", "opencode", "codex", "none"];
/// Minimum and maximum tokens of `ROOT.md`.
pub const ROOT_TOKENS: (u32, u32) = (200, 1_000_000);
/// Maximum hours between two runs of the compaction tree: a year.
pub const MOST_HOURS: f64 = 8_760.0;

/// Returns parse options for hand-written JSON: comments and trailing commas, but no other extensions.
#[must_use]
pub fn json_options() -> ParseOptions {
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

/// Supported keys of the file. Missing and `null` values are `None`; other keys are ignored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HarnessSettings {
    /// `platform`, one of [`PLATFORMS`].
    pub platform: Option<String>,
    /// `search.vector`
    pub vector: Option<bool>,
    /// `index.inPrompt`: includes `HIPPOCAMPUS.md` in the prompt.
    pub index_in_prompt: Option<bool>,
    /// `compaction.rootMaxTokens`, within [`ROOT_TOKENS`].
    pub root_max_tokens: Option<u32>,
    /// `compaction.cooldownHours`, 0 to [`MOST_HOURS`].
    pub cooldown_hours: Option<f64>,
    /// `sessionCompaction`: settings for the summaries of sessions.
    pub session_compaction: Option<Map<String, serde_json::Value>>,
}

/// Setting of a folder that needs trust to take effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WiderSetting {
    /// Key.
    pub key: &'static str,
    /// Value without trust.
    pub from: String,
    /// Value with trust.
    pub to: String,
}

impl HarnessSettings {
    /// Returns these settings limited to the user's values, and those values that exceed the user's: a larger root,
    /// more frequent runs, or `HIPPOCAMPUS.md` in the prompt.
    #[must_use]
    pub fn narrowed(&self, root_max_tokens: u32, cooldown_hours: f64) -> (Self, Vec<WiderSetting>) {
        let mut narrowed = self.clone();
        let mut wider = Vec::new();
        let mut add_wider = |key, from: String, to: String| wider.push(WiderSetting { key, from, to });
        if let Some(tokens) = self.root_max_tokens.filter(|tokens| *tokens > root_max_tokens) {
            narrowed.root_max_tokens = Some(root_max_tokens);
            add_wider(
                "compaction.rootMaxTokens",
                root_max_tokens.to_string(),
                tokens.to_string(),
            );
        }
        if let Some(hours) = self.cooldown_hours.filter(|hours| *hours < cooldown_hours) {
            narrowed.cooldown_hours = Some(cooldown_hours);
            add_wider(
                "compaction.cooldownHours",
                cooldown_hours.to_string(),
                hours.to_string(),
            );
        }
        if self.index_in_prompt == Some(true) {
            narrowed.index_in_prompt = None;
            add_wider("index.inPrompt", "false".to_owned(), "true".to_owned());
        }
        (narrowed, wider)
    }
}

/// An invalid value, with the expected value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidSetting {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the problem. It quotes at most a short value from the file.
    pub what: String,
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, what } = self;
        write!(f, "line {line}, column {column}: {what}")
    }
}

/// Reads the file. Invalid values are reported and treated as missing, and all other values are used. A file that is
/// not JSON yields no settings.
#[must_use]
pub fn read(bytes: &[u8]) -> (HarnessSettings, Vec<InvalidSetting>) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let sound = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let misfit = invalid_at(&sound, sound.len(), "not valid UTF-8".to_owned());
            return (HarnessSettings::default(), vec![misfit]);
        }
    };
    // Some editors write a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = HarnessReader {
        text,
        invalid: Vec::new(),
    };
    if let Err(TooDeep { line, column, .. }) = nesting::check_json(text) {
        let what = TooDeep::WHAT.to_owned();
        return (
            HarnessSettings::default(),
            vec![InvalidSetting { line, column, what }],
        );
    }
    let settings = match parse_to_ast(text, &CollectOptions::default(), &json_options()) {
        Ok(parsed) => reader.settings(parsed.value.as_ref()),
        Err(error) => {
            reader.invalid.push(InvalidSetting {
                line: error.line_display(),
                column: error.column_display(),
                what: error.kind().to_string(),
            });
            HarnessSettings::default()
        }
    };
    (settings, reader.invalid)
}

fn invalid_at(text: &str, at: usize, what: String) -> InvalidSetting {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    InvalidSetting {
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
        what,
    }
}

/// Maximum length of a shown value in bytes.
const SHOWN: usize = 40;
const OBJECT: &str = "an object { … }";

struct HarnessReader<'t> {
    text: &'t str,
    invalid: Vec<InvalidSetting>,
}

impl<'t> HarnessReader<'t> {
    fn settings(&mut self, root: Option<&Value<'t>>) -> HarnessSettings {
        let Some(Value::Object(root)) = root else {
            let at = root.map_or(self.text.len(), Ranged::start);
            let found = invalid_at(self.text, at, format!("expected {OBJECT}"));
            self.invalid.push(found);
            return HarnessSettings::default();
        };
        let flag = |value: &Value<'t>| Some(value.as_boolean_lit()?.value);
        let platforms = format!("one of {}", PLATFORMS.join(", "));
        let (least, most) = ROOT_TOKENS;
        let tokens = format!("a whole number from {least} to {most}");
        let hours = format!("a number of hours from 0 to {MOST_HOURS}");
        let settings = HarnessSettings {
            platform: self.value(root, "platform", &platforms, |value| {
                let name = value.as_string_lit()?.value.as_ref();
                PLATFORMS.contains(&name).then(|| name.to_owned())
            }),
            vector: self.value(root, "search.vector", "true or false", flag),
            index_in_prompt: self.value(root, "index.inPrompt", "true or false", flag),
            root_max_tokens: self.value(root, "compaction.rootMaxTokens", &tokens, |value| {
                let tokens: u32 = value.as_number_lit()?.value.parse().ok()?;
                (least..=most).contains(&tokens).then_some(tokens)
            }),
            cooldown_hours: self.value(root, "compaction.cooldownHours", &hours, |value| {
                let hours: f64 = value.as_number_lit()?.value.parse().ok()?;
                (0.0..=MOST_HOURS).contains(&hours).then_some(hours)
            }),
            session_compaction: self.value(root, "sessionCompaction", OBJECT, |value| {
                let properties = value.as_object()?.properties.iter();
                let pairs =
                    properties.map(|found| (found.name.as_str().to_owned(), found.value.clone().into()));
                Some(pairs.collect())
            }),
        };
        self.value(root, "search.embedModel", "a string such as \"auto\"", |value| {
            value.as_string_lit().map(drop)
        });
        self.invalid.sort_by_key(|misfit| (misfit.line, misfit.column));
        // A section that is not an object is found once per key.
        self.invalid.dedup();
        settings
    }

    /// Returns the value of a key if it is valid. A key in a section is written as `section.key`.
    fn value<T>(
        &mut self,
        root: &Object<'t>,
        key: &str,
        expected: &str,
        usable: impl Fn(&Value<'t>) -> Option<T>,
    ) -> Option<T> {
        let mut object = root;
        if let Some((section, _)) = key.split_once('.') {
            let found = self.property(root, section)?;
            let Some(inner) = found.value.as_object() else {
                self.report_invalid(found, section, OBJECT);
                return None;
            };
            object = inner;
        }
        let found = self.property(object, key)?;
        let value = usable(&found.value);
        if value.is_none() {
            self.report_invalid(found, key, expected);
        }
        value
    }

    /// Returns a key that is set and not `null`. A duplicate key is reported and ignored.
    fn property<'v>(&mut self, object: &'v Object<'t>, key: &str) -> Option<&'v ObjectProp<'t>> {
        let name = key.rsplit('.').next()?;
        let mut named = object
            .properties
            .iter()
            .filter(|found| found.name.as_str() == name);
        let first = named.next()?;
        if let Some(second) = named.next() {
            let what = format!("{key} is set twice: remove one");
            self.invalid.push(invalid_at(self.text, second.start(), what));
            return None;
        }
        first.value.as_null_keyword().is_none().then_some(first)
    }

    fn report_invalid(&mut self, found: &ObjectProp<'t>, key: &str, expected: &str) {
        let value = &found.value;
        let shown = match value {
            Value::Object(_) => "an object".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            _ => {
                let text = value.text(self.text);
                let short = &text[..text.floor_char_boundary(SHOWN)];
                let cut = if short.len() < text.len() { "…" } else { "" };
                format!("{short}{cut}")
            }
        };
        let what = format!("{key} is {shown}; expected {expected}");
        self.invalid.push(invalid_at(self.text, value.start(), what));
    }
}

#[cfg(test)]
mod tests;
