//! Reader of `hipocampus.config.json`, with limits for untrusted settings.

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use crate::nesting;

/// Name of the file in a workspace. The original hipocampus uses the same file.
pub const FILE: &str = "hipocampus.config.json";
/// Harnesses accepted as `platform`.
pub const PLATFORMS: [&str; 6] = ["claude-code", "openclaw", "opencode", "codex", "pi", "none"];
/// Minimum and maximum tokens of `ROOT.md`.
pub const ROOT_TOKENS: (u32, u32) = (200, 1_000_000);
/// Maximum hours between two updates of the compaction tree: a year.
pub const MOST_HOURS: f64 = 8_760.0;
/// Description of a valid section, for messages.
const SECTION: &str = "an object { … }";

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

/// Values of the supported keys. A missing key or a `null` value is `None`; other keys in the file are ignored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HarnessSettings {
    /// `platform`, one of [`PLATFORMS`].
    pub platform: Option<String>,
    /// `search.vector`: true if semantic search is enabled.
    pub vector: Option<bool>,
    /// `index.inPrompt`: true if harnesses include `HIPPOCAMPUS.md` in the prompt.
    pub index_in_prompt: Option<bool>,
    /// `compaction.rootMaxTokens`, within [`ROOT_TOKENS`].
    pub root_max_tokens: Option<u32>,
    /// `compaction.cooldownHours`, 0 to [`MOST_HOURS`].
    pub cooldown_hours: Option<f64>,
    /// `sessionCompaction`: settings for the summaries of sessions.
    pub session_compaction: Option<Map<String, Value>>,
}

/// A setting of a workspace that takes effect only with trust.
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
    /// Returns these settings, limited to the user's values. Also returns the settings that exceed the user's values:
    /// a larger `ROOT.md`, more frequent updates, or `HIPPOCAMPUS.md` in the prompt.
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

/// Reads the settings of a file. An invalid value is reported and treated as missing; the other values are still used.
/// A file that is not JSON yields no settings.
#[must_use]
pub fn read(bytes: &[u8]) -> (HarnessSettings, Vec<String>) {
    let mut reader = HarnessReader::default();
    let settings = match parse(bytes) {
        Ok(root) => reader.settings(&root),
        Err(what) => {
            reader.invalid.push(what);
            HarnessSettings::default()
        }
    };
    (settings, reader.invalid)
}

fn parse(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "not valid UTF-8".to_owned())?;
    // Some editors write a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    nesting::check_json(text).map_err(|error| error.to_string())?;
    let parsed = parse_to_ast(text, &CollectOptions::default(), &json_options());
    match parsed.map_err(|error| error.to_string())?.value.map(Value::from) {
        Some(Value::Object(root)) => Ok(root),
        _ => Err(format!("expected {SECTION}")),
    }
}

/// Maximum length of a shown value in bytes.
const SHOWN: usize = 40;

#[derive(Default)]
struct HarnessReader {
    /// Invalid values, each with the expected value. Each message quotes at most a short value from the file.
    invalid: Vec<String>,
}

impl HarnessReader {
    fn settings(&mut self, root: &Map<String, Value>) -> HarnessSettings {
        let platforms = format!("one of {}", PLATFORMS.join(", "));
        let (least, most) = ROOT_TOKENS;
        let tokens = |value: &Value| {
            let tokens = u32::try_from(value.as_u64()?).ok()?;
            (least..=most).contains(&tokens).then_some(tokens)
        };
        let hours = |value: &Value| {
            let hours = value.as_f64()?;
            (0.0..=MOST_HOURS).contains(&hours).then_some(hours)
        };
        let platform = |value: &Value| {
            let name = value.as_str()?;
            PLATFORMS.contains(&name).then(|| name.to_owned())
        };
        let flag = "true or false";
        let token_range = format!("a whole number from {least} to {most}");
        let hour_range = format!("a number of hours from 0 to {MOST_HOURS}");
        HarnessSettings {
            platform: self.value(root, "platform", &platforms, platform),
            vector: self.value(root, "search.vector", flag, Value::as_bool),
            index_in_prompt: self.value(root, "index.inPrompt", flag, Value::as_bool),
            root_max_tokens: self.value(root, "compaction.rootMaxTokens", &token_range, tokens),
            cooldown_hours: self.value(root, "compaction.cooldownHours", &hour_range, hours),
            session_compaction: self.value(root, "sessionCompaction", SECTION, |value| {
                value.as_object().cloned()
            }),
        }
    }

    /// Returns the value of a key, such as `section.name`, if it is valid. A missing or `null` value is `None`.
    fn value<T>(
        &mut self,
        root: &Map<String, Value>,
        key: &str,
        expected: &str,
        usable: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let is_set = |value: &&Value| !value.is_null();
        let found = match key.split_once('.') {
            None => root.get(key).filter(is_set)?,
            Some((section, name)) => {
                let found = root.get(section).filter(is_set)?;
                let Some(keys) = found.as_object() else {
                    self.report_invalid(section, found, SECTION);
                    return None;
                };
                keys.get(name).filter(is_set)?
            }
        };
        let value = usable(found);
        if value.is_none() {
            self.report_invalid(key, found, expected);
        }
        value
    }

    /// Adds a message for an invalid value, unless a message for the same section was added before.
    fn report_invalid(&mut self, key: &str, found: &Value, expected: &str) {
        let shown = match found {
            Value::Object(_) => "an object".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            _ => {
                let text = found.to_string();
                let short = &text[..text.floor_char_boundary(SHOWN)];
                let cut = if short.len() < text.len() { "…" } else { "" };
                format!("{short}{cut}")
            }
        };
        let what = format!("{key} is {shown}; expected {expected}");
        if !self.invalid.contains(&what) {
            self.invalid.push(what);
        }
    }
}

#[cfg(test)]
mod tests;
