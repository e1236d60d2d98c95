//! Layers of settings: files and environment variables.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use hippo_fs::nesting::{TooDeep, check_toml};
use hippo_proto::SettingChange;
use hippo_text::text::start;

use super::Config;
use super::keys::{ConfigKey, KEYS, OverrideLimit};

/// Maximum length of a displayed value in bytes.
const SHOWN: usize = 200;
/// Error for values that are valid individually but not in combination.
pub(super) const TOGETHER: &str = "could not combine the layers of the configuration";

/// Keys with validated values.
#[derive(Debug, Clone, Default)]
pub(super) struct ConfigLayer {
    values: Vec<(&'static str, Value)>,
}

/// Owner of a configuration file. The owner determines which keys the file may set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LayerOwner {
    /// The user: all keys.
    Daemon,
    /// A workspace: all keys except [`OverrideLimit::Never`].
    Workspace,
}

impl ConfigLayer {
    /// Returns the keys that are set.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.values.iter().map(|(key, _)| *key)
    }

    /// Removes these keys.
    pub fn drop_keys(&mut self, keys: &BTreeSet<&'static str>) {
        self.values.retain(|(key, _)| !keys.contains(key));
    }

    /// Replaces each value with the closest value that only restricts the settings of `user`. Returns the changed
    /// values.
    pub fn narrow(&mut self, user: &Config) -> Result<Vec<SettingChange>> {
        let table = Table::try_from(user).context(TOGETHER)?;
        let mut changes = Vec::new();
        for (name, wanted) in &mut self.values {
            let Some(key) = ConfigKey::find_key(name) else {
                continue;
            };
            let (section, inside) = key.parts();
            let Some(has) = table.get(section).and_then(|section| section.get(inside)) else {
                continue;
            };
            let narrowed = key.own.narrowed(has, wanted);
            if narrowed != *wanted {
                changes.push(SettingChange {
                    key: (*name).to_owned(),
                    from: shown(&narrowed),
                    to: shown(wanted),
                });
                *wanted = narrowed;
            }
        }
        Ok(changes)
    }
}

/// Returns a value for display, shortened if necessary.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    let shown = start(&text, SHOWN);
    let cut = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown}{cut}")
}

/// Returns the settings of `base`, overridden by each layer in order.
pub(super) fn merge(base: &Config, layers: &[ConfigLayer]) -> Result<Config> {
    let mut table = Table::try_from(base).context(TOGETHER)?;
    for (name, value) in layers.iter().flat_map(|layer| &layer.values) {
        let (sections, key) = name.rsplit_once('.').unwrap_or(("", name));
        let section = sections.split('.').try_fold(&mut table, |table, section| {
            table.get_mut(section).and_then(Value::as_table_mut)
        });
        if let Some(section) = section {
            section.insert(key.to_owned(), value.clone());
        }
    }
    table.try_into().context(TOGETHER)
}

/// Loads the user's configuration file. A missing file yields an empty layer.
#[expect(clippy::disallowed_methods, reason = "the user's own configuration")]
pub(super) fn of_daemon(file: &Path) -> Result<ConfigLayer> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(ConfigLayer::default());
        }
        Err(error) => return Err(unreadable(file, &error)),
    };
    read_layer(file, &text, LayerOwner::Daemon)
}

/// Parses a workspace's own file.
pub(super) fn of_workspace(file: &Path, bytes: &[u8]) -> Result<ConfigLayer> {
    let text = std::str::from_utf8(bytes).map_err(|error| unreadable(file, &error))?;
    read_layer(file, text, LayerOwner::Workspace)
}

/// Returns the error for a file that exists but cannot be read.
pub fn unreadable(file: &Path, why: &dyn std::error::Error) -> anyhow::Error {
    anyhow!("could not read the configuration: {}: {why}", file.display())
}

fn read_layer(file: &Path, text: &str, whose: LayerOwner) -> Result<ConfigLayer> {
    of_text(text, whose).map_err(|(at, message)| {
        let line = line_of(text, at);
        anyhow!(
            "could not use the configuration: {}:{line}: {message}",
            file.display()
        )
    })
}

/// Parses the environment. If the name of a variable begins with that of a section (`HIPPOD_EMBED_…`), the variable
/// must match a key.
pub(super) fn of_environment(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<ConfigLayer> {
    let mut layer = ConfigLayer::default();
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| is_ours(name)) else {
            continue;
        };
        if value.is_empty() {
            continue;
        }
        let wrong = |message: String| anyhow!("could not use the environment variable {name}: {message}");
        let Some(key) = KEYS.iter().find(|key| key.variable() == name) else {
            let variables: Vec<String> = KEYS.iter().map(ConfigKey::variable).collect();
            let nearest = hippo_proto::nearest(name, variables.iter().map(String::as_str));
            return Err(wrong(suggest("this variable has no effect".into(), nearest)));
        };
        let text = value.to_str().ok_or_else(|| wrong("expected UTF-8".into()))?;
        let value = key.kind.read(text);
        key.kind.check(&value).map_err(wrong)?;
        layer.values.push((key.name, value));
    }
    Ok(layer)
}

fn is_ours(variable: &str) -> bool {
    let section = variable
        .strip_prefix("HIPPOD_")
        .and_then(|rest| rest.split_once('_'));
    let is_first = |key: &ConfigKey, section: &str| {
        let first = key.name.split('.').next();
        first.is_some_and(|first| first.eq_ignore_ascii_case(section))
    };
    section.is_some_and(|(section, _)| KEYS.iter().any(|key| is_first(key, section)))
}

/// Byte offset in a file, and description of the problem there.
type LayerError = (usize, String);

fn of_text(text: &str, whose: LayerOwner) -> Result<ConfigLayer, LayerError> {
    let syntax = |error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        (at, error.message().to_owned())
    };
    check_toml(text).map_err(|error| (error.at, TooDeep::WHAT.to_owned()))?;
    // The first parser yields the locations of the keys, the second one their values.
    let places = DeTable::parse(text).map_err(syntax)?.into_inner();
    let values: Table = text.parse().map_err(syntax)?;
    let mut layer = ConfigLayer::default();
    for (section, inside) in &places {
        let values = values.get(section.get_ref().as_ref());
        layer.read_section(
            section.get_ref(),
            section.span().start,
            inside.get_ref(),
            values,
            whose,
        )?;
    }
    Ok(layer)
}

impl ConfigLayer {
    /// Reads a section and the sections inside it. `at` is the location of the section.
    fn read_section(
        &mut self,
        section: &str,
        at: usize,
        inside: &DeValue<'_>,
        values: Option<&Value>,
        whose: LayerOwner,
    ) -> Result<(), LayerError> {
        let is_section = |name: &str| {
            let rest = KEYS.iter().filter_map(|key| key.parts().0.strip_prefix(name));
            rest.into_iter()
                .any(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if !is_section(section) {
            return Err((at, unknown(section)));
        }
        let Some(inside) = inside.as_table() else {
            return Err((at, format!("expected a section: [{section}]")));
        };
        for (name, place) in inside {
            let Some(value) = values.and_then(|values| values.get(name.get_ref().as_ref())) else {
                continue;
            };
            let full = format!("{section}.{}", name.get_ref());
            let at = name.span().start;
            if is_section(&full) {
                self.read_section(&full, at, place.get_ref(), Some(value), whose)?;
                continue;
            }
            let key = ConfigKey::find_key(&full).ok_or_else(|| (at, unknown(&full)))?;
            if whose == LayerOwner::Workspace && key.own == OverrideLimit::Never {
                let message = format!("a workspace cannot set `{full}`; set it in hippod's own config.toml");
                return Err((at, message));
            }
            let wrong = |message| (place.span().start, format!("`{full}`: {message}"));
            key.kind.check(value).map_err(wrong)?;
            self.values.push((key.name, value.clone()));
        }
        Ok(())
    }
}

fn unknown(name: &str) -> String {
    let sections = KEYS.iter().map(|key| key.parts().0);
    let names = KEYS.iter().map(|key| key.name);
    let nearest = if name.contains('.') {
        hippo_proto::nearest(name, names)
    } else {
        // The name of a key without its section, such as `threads = 4`.
        let bare = KEYS.iter().find(|key| key.parts().1 == name);
        bare.map(|key| key.name)
            .or_else(|| hippo_proto::nearest(name, sections))
    };
    suggest(format!("unknown key `{}`", start(name, SHOWN)), nearest)
}

fn suggest(message: String, nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("{message}; did you mean `{nearest}`?"),
        None => message,
    }
}

fn line_of(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}
