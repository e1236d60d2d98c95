//! Configuration keys: value types, descriptions, and limits for workspaces.

mod table;

use hippo_text::scope::ScopeRules;
use hippo_text::source::{PatternError, SourceRules};
use jiff::tz::TimeZone;
use toml::Value;

pub(super) use table::KEYS;

/// Definition of a configuration key.
pub(super) struct ConfigKey {
    /// Section and name of the key, such as `embed.threads`.
    pub name: &'static str,
    /// Default value, as TOML.
    pub default: &'static str,
    /// Type of the value.
    pub kind: ValueKind,
    /// Values that a workspace's own file may set.
    pub own: OverrideLimit,
    /// Description of the key, and when to change its value.
    pub about: &'static str,
}

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ValueKind {
    /// `true` or `false`.
    Bool,
    /// An integer in an inclusive range.
    Whole(i64, i64),
    /// A keyword from this list.
    Choice(&'static [&'static str]),
    /// A non-empty name.
    Name,
    /// Name of a time zone, or empty.
    Zone,
    /// A list of globs.
    Globs,
    /// A list of globs that contain `{agent}`.
    Agents,
    /// A list of texts.
    Texts,
    /// A text, or empty.
    Text,
    /// The URL of a PostgreSQL database without a password, or empty.
    ServerUrl,
    /// The name of a team, or empty.
    Team,
    /// A cron expression of five fields, or empty.
    Cron,
}

/// Values that a workspace's own file may set for a key. Without trust, a workspace can only restrict the user's
/// settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum OverrideLimit {
    /// None, even with trust.
    Never,
    /// Any value, but only with trust.
    Trusted,
    /// Without trust, only a smaller number.
    Smaller,
    /// Without trust, only a smaller number, where 0 means unlimited.
    SmallerNot0,
    /// Without trust, only a keyword from this list.
    Word(&'static [&'static str]),
    /// Without trust, only a subset of the user's list.
    Fewer,
    /// Without trust, only a superset of the user's list.
    More,
}

impl ConfigKey {
    /// Returns the key with this name.
    pub fn find_key(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Returns section and name separately.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.name.rsplit_once('.').unwrap_or(("", self.name))
    }

    /// Returns the environment variable that sets the key.
    pub fn variable(&self) -> String {
        format!("HIPPOD_{}", self.name.replace('.', "_").to_uppercase())
    }
}

impl OverrideLimit {
    /// Returns the value in effect without trust. `user` is the value in the user's settings, and `wanted` is the value
    /// in the workspace's file.
    pub fn narrowed(self, user: &Value, wanted: &Value) -> Value {
        let number = |value: &Value| value.as_integer().unwrap_or(i64::MAX);
        let unlimited = |value: &Value| match number(value) {
            0 => i64::MAX,
            limit => limit,
        };
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let narrows = match self {
            Self::Never | Self::Trusted => user == wanted,
            Self::Smaller => number(wanted) <= number(user),
            Self::SmallerNot0 => unlimited(wanted) <= unlimited(user),
            Self::Word(words) => {
                let word = wanted.as_str().map_or_else(|| wanted.to_string(), str::to_owned);
                user == wanted || words.contains(&word.as_str())
            }
            Self::Fewer => {
                let mut part = list(wanted);
                let known = list(user);
                part.retain(|one| known.contains(one));
                return Value::Array(part);
            }
            Self::More => {
                let (mut all, wanted) = (list(user), list(wanted));
                if all.iter().all(|one| wanted.contains(one)) {
                    return Value::Array(wanted);
                }
                let new: Vec<Value> = wanted.into_iter().filter(|one| !all.contains(one)).collect();
                all.extend(new);
                return Value::Array(all);
            }
        };
        if narrows { wanted.clone() } else { user.clone() }
    }

    /// Returns the note for the documentation about what a workspace may set.
    fn describe_limit(self) -> String {
        let how = match self {
            Self::Never => return String::new(),
            Self::Trusted => return " (workspace: with trust)".to_owned(),
            Self::Smaller | Self::SmallerNot0 => "lower",
            Self::Word(["true"]) => "switch on",
            Self::Word(["false"]) => "switch off",
            Self::Word([""]) => "switch off",
            Self::Word([word]) => {
                return format!(" (workspace: may set it only to {word})");
            }
            Self::Word(_) => "narrow",
            Self::Fewer => "shorten",
            Self::More => "add to it",
        };
        format!(" (workspace: may {how})")
    }
}

impl ValueKind {
    /// Checks a value.
    ///
    /// # Errors
    /// Returns a description of the problem.
    pub fn check(self, value: &Value) -> Result<(), String> {
        let wrong = |expected: &str| Err(format!("expected {expected}, found {}", describe(value)));
        match (self, value) {
            (Self::Bool, Value::Boolean(_)) => Ok(()),
            (Self::Bool, _) => wrong("true or false"),
            (Self::Whole(least, most), Value::Integer(number)) if (least..=most).contains(number) => Ok(()),
            (Self::Whole(least, most), _) => wrong(&format!("a whole number from {least} to {most}")),
            (Self::Choice(words), Value::String(word)) if words.contains(&word.as_str()) => Ok(()),
            (Self::Choice(words), Value::String(word)) => {
                let nearest = hippo_proto::nearest(word, words.iter().copied());
                let hint = nearest.map_or(String::new(), |word| format!("; did you mean \"{word}\"?"));
                wrong(&format!("one of {}", words.join(", "))).map_err(|message| message + &hint)
            }
            (Self::Choice(words), _) => wrong(&format!("one of {}", words.join(", "))),
            (Self::Name, Value::String(name)) if !name.trim().is_empty() => Ok(()),
            (Self::Name, _) => wrong("a name"),
            (Self::Zone, Value::String(name)) => time_zone(name).map(|_| ()),
            (Self::Zone, _) => wrong("the name of a time zone"),
            (Self::Cron, Value::String(line)) => super::sections::cron(line).map(|_| ()),
            (Self::Cron, _) => wrong("a cron line"),
            (Self::Globs, Value::Array(globs)) => {
                check_globs(globs, |globs| SourceRules::new(globs, &[]).map(drop))
            }
            (Self::Agents, Value::Array(globs)) => {
                check_globs(globs, |globs| ScopeRules::new(globs).map(drop))
            }
            (Self::Globs | Self::Agents, _) => wrong("a list of globs"),
            (Self::Texts, Value::Array(texts)) if texts.iter().all(Value::is_str) => Ok(()),
            (Self::Texts, _) => wrong("a list of texts"),
            (Self::Text, Value::String(_)) => Ok(()),
            (Self::Text, _) => wrong("a text"),
            (Self::ServerUrl | Self::Team, Value::String(text)) if text.is_empty() => Ok(()),
            // The messages do not repeat a URL, because it may contain a password.
            (Self::ServerUrl, value) => hippo_share::check_url(value.as_str().unwrap_or_default()),
            (Self::Team, value) => hippo_share::check_team(value.as_str().unwrap_or_default()),
        }
    }

    /// Parses the text of an environment variable or flag. Text that cannot be parsed becomes a string, which
    /// [`ValueKind::check`] rejects.
    pub fn read(self, text: &str) -> Value {
        let trimmed = text.trim();
        let read = match self {
            Self::Bool => trimmed.parse().ok().map(Value::Boolean),
            Self::Whole(..) => trimmed.replace('_', "").parse().ok().map(Value::Integer),
            Self::Choice(_)
            | Self::Name
            | Self::Zone
            | Self::Cron
            | Self::Text
            | Self::ServerUrl
            | Self::Team => None,
            Self::Globs | Self::Agents | Self::Texts if trimmed.starts_with('[') => trimmed.parse().ok(),
            Self::Globs | Self::Agents | Self::Texts => {
                let globs = trimmed.split(',').map(str::trim).filter(|glob| !glob.is_empty());
                Some(Value::Array(
                    globs.map(|glob| Value::String(glob.to_owned())).collect(),
                ))
            }
        };
        read.unwrap_or_else(|| Value::String(trimmed.to_owned()))
    }
}

/// Returns the time zone with this name; `None` for the empty name.
pub(super) fn time_zone(name: &str) -> Result<Option<TimeZone>, String> {
    if name.is_empty() {
        return Ok(None);
    }
    TimeZone::get(name)
        .map(Some)
        .map_err(|_| format!("unknown time zone \"{name}\""))
}

fn check_globs(
    globs: &[Value],
    compile: impl FnOnce(&[String]) -> Result<(), PatternError>,
) -> Result<(), String> {
    let mut texts = Vec::with_capacity(globs.len());
    for glob in globs {
        match glob {
            Value::String(glob) => texts.push(glob.clone()),
            other => return Err(format!("expected globs as strings, found {}", describe(other))),
        }
    }
    compile(&texts).map_err(|error| error.to_string())
}

fn describe(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Table(_) => "a table".into(),
        scalar => scalar.to_string(),
    }
}

/// Returns all keys as commented TOML, with their default values.
pub(super) fn documented() -> String {
    let mut text = String::new();
    let mut current = "";
    for key in KEYS {
        let (section, name) = key.parts();
        if section != current {
            text += &format!("{}[{section}]\n", if current.is_empty() { "" } else { "\n" });
            current = section;
        }
        text += &format!("# {}{}\n", key.about, key.own.describe_limit());
        text += &format!("{name} = {}\n", key.default);
    }
    text
}
