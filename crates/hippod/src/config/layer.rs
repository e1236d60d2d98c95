//! What does one file, the environment, or the command line set?

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

use toml::de::DeTable;
use toml::{Spanned, Table, Value};

use super::keys::{KEYS, Key};
use super::{Config, ConfigError};

/// A workspace's settings are not read above this size.
const LARGEST: u64 = 1 << 20;

/// Keys with checked values.
#[derive(Debug, Default)]
pub(super) struct Layer(Vec<(&'static str, Value)>);

/// Whose file it is decides which keys it may set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Whose {
    /// The user's: all.
    Daemon,
    /// A workspace's: those that change how its own files are read and searched.
    Workspace,
}

impl Layer {
    /// The keys that are set.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(key, _)| *key)
    }

    /// Sets these keys no longer.
    pub fn drop_keys(&mut self, keys: &BTreeSet<&'static str>) {
        self.0.retain(|(key, _)| !keys.contains(key));
    }
}

/// The settings of `base`, overridden by each layer in turn.
pub(super) fn merge(base: &Config, layers: &[Layer]) -> Result<Config, ConfigError> {
    let mut table = Table::try_from(base).map_err(|error| ConfigError::Together(error.into()))?;
    for (name, value) in layers.iter().flat_map(|layer| &layer.0) {
        let (section, key) = name.split_once('.').unwrap_or(("", name));
        if let Some(Value::Table(section)) = table.get_mut(section) {
            section.insert(key.to_owned(), value.clone());
        }
    }
    table
        .try_into()
        .map_err(|error| ConfigError::Together(error.into()))
}

/// What the user's file sets; an absent file sets nothing.
#[expect(clippy::disallowed_methods, reason = "the user's own configuration")]
pub(super) fn of_daemon(file: &Path) -> Result<Layer, ConfigError> {
    of_read(file, std::fs::read_to_string(file), Whose::Daemon)
}

/// What the file of a workspace sets; an absent file sets nothing. Anything may be in its place.
pub(super) fn of_workspace(root: &Path, file: &Path) -> Result<Layer, ConfigError> {
    let text = hippo_fs::read(root, file, LARGEST).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
    });
    of_read(&root.join(file), text, Whose::Workspace)
}

fn of_read(file: &Path, text: std::io::Result<String>, whose: Whose) -> Result<Layer, ConfigError> {
    let text = match text {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Layer::default());
        }
        Err(source) => {
            return Err(ConfigError::Read {
                file: file.to_path_buf(),
                source,
            });
        }
    };
    of_text(&text, whose).map_err(|problem| ConfigError::File {
        file: file.to_path_buf(),
        line: line_of(&text, problem.at),
        message: problem.message,
    })
}

/// What the environment sets. A variable named after a section (`HIPPOD_EMBED_…`) must be named after a key.
pub(super) fn of_environment(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Layer, ConfigError> {
    let mut layer = Layer::default();
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| is_ours(name)) else {
            continue;
        };
        if value.is_empty() {
            continue;
        }
        let wrong = |message| ConfigError::Variable {
            name: name.to_owned(),
            message,
        };
        let Some(key) = KEYS.iter().find(|key| key.variable == name) else {
            let nearest = hippo_proto::nearest(name, KEYS.iter().map(|key| key.variable));
            return Err(wrong(suggest("it sets nothing".into(), nearest)));
        };
        let text = value.to_str().ok_or_else(|| wrong("expected UTF-8".into()))?;
        let value = key.kind.read(text);
        key.kind.check(&value).map_err(wrong)?;
        layer.0.push((key.name, value));
    }
    Ok(layer)
}

fn is_ours(variable: &str) -> bool {
    let section = variable
        .strip_prefix("HIPPOD_")
        .and_then(|rest| rest.split_once('_'));
    section.is_some_and(|(section, _)| KEYS.iter().any(|key| key.parts().0.eq_ignore_ascii_case(section)))
}

/// What pairs of key and value set.
pub(super) fn of_flags(flags: &[(String, String)]) -> Result<Layer, ConfigError> {
    let mut layer = Layer::default();
    for (name, text) in flags {
        let wrong = |message| ConfigError::Flag {
            key: name.clone(),
            message,
        };
        let key = Key::named(name).ok_or_else(|| wrong(unknown(name)))?;
        let value = key.kind.read(text);
        key.kind.check(&value).map_err(wrong)?;
        layer.0.push((key.name, value));
    }
    Ok(layer)
}

/// Something wrong at a byte of a file.
struct Problem {
    at: usize,
    message: String,
}

fn of_text(text: &str, whose: Whose) -> Result<Layer, Problem> {
    let syntax = |error: toml::de::Error| Problem {
        at: error.span().map_or(0, |span| span.start),
        message: error.message().to_owned(),
    };
    // Once for the places, once for the values.
    let places = DeTable::parse(text).map_err(syntax)?.into_inner();
    let values: Table = text.parse().map_err(syntax)?;
    let mut layer = Layer::default();
    for (section, inside) in &places {
        let at = section.span().start;
        let section: &str = section.get_ref();
        if !KEYS.iter().any(|key| key.parts().0 == section) {
            return Err(Problem {
                at,
                message: unknown(section),
            });
        }
        let Some(inside) = inside.get_ref().as_table() else {
            return Err(Problem {
                at,
                message: format!("expected a section: [{section}]"),
            });
        };
        for (name, place) in inside {
            let value = values
                .get(section)
                .and_then(|section| section.get(name.get_ref().as_ref()));
            let Some(value) = value else { continue };
            let key = one(section, name, place, value, whose)?;
            layer.0.push((key, value.clone()));
        }
    }
    Ok(layer)
}

fn one<T>(
    section: &str,
    name: &Spanned<impl AsRef<str>>,
    place: &Spanned<T>,
    value: &Value,
    whose: Whose,
) -> Result<&'static str, Problem> {
    let full = format!("{section}.{}", name.get_ref().as_ref());
    let at = name.span().start;
    let key = Key::named(&full).ok_or_else(|| Problem {
        at,
        message: unknown(&full),
    })?;
    if whose == Whose::Workspace && !key.safe {
        let message = format!("a workspace cannot set `{full}`; set it in hippod's own config.toml");
        return Err(Problem { at, message });
    }
    key.kind.check(value).map_err(|message| Problem {
        at: place.span().start,
        message: format!("`{full}`: {message}"),
    })?;
    Ok(key.name)
}

fn unknown(name: &str) -> String {
    let sections = KEYS.iter().map(|key| key.parts().0);
    let names = KEYS.iter().map(|key| key.name);
    let nearest = if name.contains('.') {
        hippo_proto::nearest(name, names)
    } else {
        // `threads = 4` without its section.
        let bare = KEYS.iter().find(|key| key.parts().1 == name);
        bare.map(|key| key.name)
            .or_else(|| hippo_proto::nearest(name, sections))
    };
    suggest(format!("unknown key `{name}`"), nearest)
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
