//! Does a configuration file say what its documentation promises?

use super::keys::KEYS;
use super::*;

fn environment(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

fn from(text: &str) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, text).unwrap();
    Config::load(&file, [], &[])
}

fn complaint(text: &str) -> String {
    let error = from(text).unwrap_err().to_string();
    let (_, place) = error.split_once("config.toml:").unwrap();
    place.to_owned()
}

#[test]
fn each_layer_overrides_the_one_below() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, "[embed]\nthreads = 3\nmodel = 'm'\n[search]\nlimit = 11\n").unwrap();
    let workspace = folder.path().join("w");
    std::fs::create_dir_all(workspace.join(".hippocampus")).unwrap();
    let own = "[search]\nlimit = 12\ndefault_mode = 'lexical'\n[sources]\ninclude = ['notes/**/*.md']\n";
    std::fs::write(workspace.join(".hippocampus/config.toml"), own).unwrap();

    let variables = environment(&[
        ("HIPPOD_EMBED_THREADS", "4"),
        ("HIPPOD_SEARCH_DEFAULT_MODE", "vector"),
        ("HIPPOD_SOURCES_EXCLUDE", "a/**, b/*.md"),
        ("HIPPOD_LOG_LEVEL", ""),
        ("HIPPOD_HOME", "/h"),
        ("PATH", "/bin"),
    ]);
    let flags = [("embed.threads".to_owned(), "5".to_owned())];
    let config = Config::load(&file, variables, &flags).unwrap();
    assert_eq!(config.embed.threads, 5);
    assert_eq!(config.embed.model, "m");
    assert_eq!(config.search.limit, 11);
    assert_eq!(config.sources.exclude, ["a/**", "b/*.md"]);
    assert_eq!(config.log.level, "info");

    let of_workspace = config.for_workspace(&workspace).unwrap();
    assert_eq!(of_workspace.search.limit, 12);
    assert_eq!(
        of_workspace.search.default_mode,
        hippo_proto::Mode::Vector,
        "the environment wins"
    );
    assert_eq!(of_workspace.sources.include, ["notes/**/*.md"]);
    assert_eq!(config.for_workspace(folder.path()).unwrap().search.limit, 11);
}

#[test]
fn an_absent_or_empty_file_gives_the_defaults() {
    assert_eq!(from("").unwrap(), Config::default());
    let absent = Path::new("/nowhere/config.toml");
    assert_eq!(Config::load(absent, [], &[]).unwrap(), Config::default());
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_the_nearest_one() {
    assert_eq!(
        complaint("[embed]\n\nthread = 2\n"),
        "3: unknown key `embed.thread`; did you mean `embed.threads`?"
    );
    assert_eq!(
        complaint("[embd]\nthreads = 2\n"),
        "1: unknown key `embd`; did you mean `embed`?"
    );
    assert_eq!(
        complaint("# x\nthreads = 2\n"),
        "2: unknown key `threads`; did you mean `embed.threads`?"
    );
    assert_eq!(complaint("[zzz]\n"), "1: unknown key `zzz`");
    assert_eq!(complaint("embed = 1\n"), "1: expected a section: [embed]");
    assert_eq!(
        complaint("embed.thread = 1\n"),
        "1: unknown key `embed.thread`; did you mean `embed.threads`?"
    );
    let flags = [("serach.limit".to_owned(), "5".to_owned())];
    let error = Config::load(Path::new("/nowhere"), [], &flags).unwrap_err();
    assert!(
        error.to_string().contains("did you mean `search.limit`?"),
        "{error}"
    );
}

#[test]
fn a_wrong_value_is_refused_with_its_line() {
    let cases = [
        (
            "[embed]\nthreads = 'two'",
            "2: `embed.threads`: expected a whole number from 1 to 256, found \"two\"",
        ),
        (
            "[embed]\nthreads = 0",
            "2: `embed.threads`: expected a whole number from 1 to 256, found 0",
        ),
        (
            "[embed]\nenabled = 1",
            "2: `embed.enabled`: expected true or false, found 1",
        ),
        (
            "[watch]\nmass_delete_share = 1.5",
            "2: `watch.mass_delete_share`: expected a number from 0 to 1, found 1.5",
        ),
        (
            "[watch]\nmass_delete_share = nan",
            "2: `watch.mass_delete_share`: expected a number from 0 to 1, found nan",
        ),
        (
            "[watch]\npoll = 'allways'",
            "2: `watch.poll`: expected one of auto, always, never, found \"allways\"; did you mean \"always\"?",
        ),
        (
            "[search]\ntimezone = 'Mars/Base'",
            "2: `search.timezone`: unknown time zone \"Mars/Base\"",
        ),
        (
            "[sources]\ninclude = 'a'",
            "2: `sources.include`: expected a list of globs, found \"a\"",
        ),
        (
            "[sources]\ninclude = [1]",
            "2: `sources.include`: expected globs as texts, found 1",
        ),
        (
            "[log]\nlevel = []",
            "2: `log.level`: expected one of error, warn, info, debug, trace, found a list",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint(text), expected);
    }
    assert!(complaint("[sources]\ninclude = ['ok',\n '[']").contains("could not read the glob"));
    assert!(complaint("[embed]\nthreads = 1\nthreads = 2").starts_with("3: "));
    assert!(complaint("[embed\n").starts_with("1: "));
}

#[test]
fn a_wrong_variable_is_named() {
    let complaint = |name, value| {
        let error = Config::load(Path::new("/nowhere"), environment(&[(name, value)]), &[]).unwrap_err();
        error
            .to_string()
            .replace("could not use the environment variable ", "")
    };
    assert_eq!(
        complaint("HIPPOD_WATCH_QUIET_MS", "soon"),
        "HIPPOD_WATCH_QUIET_MS: expected a whole number from 0 to 60000, found \"soon\""
    );
    assert_eq!(
        complaint("HIPPOD_EMBED_THREDS", "2"),
        "HIPPOD_EMBED_THREDS: it sets nothing; did you mean `HIPPOD_EMBED_THREADS`?"
    );
}

#[test]
fn a_workspace_cannot_reach_beyond_itself() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".hippocampus")).unwrap();
    let own = folder.path().join(".hippocampus/config.toml");
    let config = Config::default();
    for key in KEYS.iter().filter(|key| !key.safe) {
        let (section, name) = key.parts();
        std::fs::write(&own, format!("[{section}]\n{name} = 1\n")).unwrap();
        let error = config.for_workspace(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains(&format!(":2: a workspace cannot set `{}`", key.name)),
            "{error}"
        );
    }
    let safe: Vec<_> = KEYS
        .iter()
        .filter(|key| key.safe)
        // One of the models that the user has installed, whatever a workspace says.
        .filter(|key| key.name != "embed.model")
        .map(|key| key.parts().0)
        .collect();
    assert!(safe.iter().all(|section| {
        ["sources", "search", "index", "cycles", "context", "tree", "decay"].contains(section)
    }));
}

#[test]
fn the_documented_defaults_are_the_defaults() {
    let text = Config::documented();
    assert_eq!(from(&text).unwrap(), Config::default());
    let table: toml::Table = text.parse().unwrap();
    assert_eq!(
        table,
        toml::Table::try_from(Config::default()).unwrap(),
        "every key is in the table of keys"
    );
    assert!(
        text.contains("# Threads that the model may use.\nthreads = 2\n"),
        "{text}"
    );
}

#[test]
fn variables_are_named_after_their_keys() {
    for key in KEYS {
        let expected = format!("HIPPOD_{}", key.name.replace('.', "_").to_uppercase());
        assert_eq!(key.variable, expected);
    }
}
