//! Tests of the configuration against its documentation.

mod any_bytes;

use super::keys::{KEYS, OverrideLimit};
use super::*;

fn environment(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

fn from(text: &str) -> Result<Config> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, text).unwrap();
    Config::load(&file, [])
}

/// Returns the settings that a workspace has with this settings file.
fn own(config: &Config, text: &str, trusted: bool) -> Config {
    let file = Path::new(".hippocampus/config.toml");
    config.for_workspace(file, text.as_bytes(), trusted).unwrap().0
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
    let own_text = "[search]\nlimit = 12\ntimezone = 'Asia/Tokyo'\n[sources]\ninclude = ['notes/**/*.md']\n";
    let variables = environment(&[
        ("HIPPOD_EMBED_THREADS", "4"),
        ("HIPPOD_SEARCH_TIMEZONE", "Europe/Paris"),
        ("HIPPOD_SOURCES_EXCLUDE", "a/**, b/*.md"),
        ("HIPPOD_LOG_LEVEL", ""),
        ("HIPPOD_HOME", "/h"),
        ("PATH", "/bin"),
    ]);
    let config = Config::load(&file, variables).unwrap();
    assert_eq!(config.embed.threads, 4);
    assert_eq!(config.embed.model, "m");
    assert_eq!(config.search.limit, 11);
    assert_eq!(config.sources.exclude, ["a/**", "b/*.md"]);
    assert_eq!(config.log.level, "info");

    let of_workspace = own(&config, own_text, true);
    assert_eq!(of_workspace.search.limit, 12);
    assert_eq!(
        of_workspace.search.timezone, "Europe/Paris",
        "the environment wins"
    );
    assert_eq!(of_workspace.sources.include, ["notes/**/*.md"]);
    assert_eq!(own(&config, "", false).search.limit, 11);
}

#[test]
fn an_absent_or_empty_file_gives_the_defaults() {
    assert_eq!(from("").unwrap(), Config::default());
    let absent = Path::new("/nowhere/config.toml");
    assert_eq!(Config::load(absent, []).unwrap(), Config::default());
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_a_suggestion() {
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
            "[watch]\nquiet_ms = 1.5",
            "2: `watch.quiet_ms`: expected a whole number from 0 to 60000, found 1.5",
        ),
        (
            "[watch]\npoll = 'allways'",
            "2: `watch.poll`: expected one of auto, always, found \"allways\"; did you mean \"always\"?",
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
            "2: `sources.include`: expected globs as strings, found 1",
        ),
        (
            "[log]\nlevel = []",
            "2: `log.level`: expected one of error, warn, info, debug, trace, found a list",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint(text), expected);
    }
    assert!(complaint("[sources]\ninclude = ['ok',\n '[']").contains("could not read the source pattern"));
    assert!(complaint("[embed]\nthreads = 1\nthreads = 2").starts_with("3: "));
    assert!(complaint("[embed\n").starts_with("1: "));
}

#[test]
fn an_invalid_environment_variable_is_named() {
    let complaint = |name, value| {
        let error = Config::load(Path::new("/nowhere"), environment(&[(name, value)])).unwrap_err();
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
        "HIPPOD_EMBED_THREDS: this variable has no effect; did you mean `HIPPOD_EMBED_THREADS`?"
    );
}

#[test]
fn a_workspace_cannot_set_keys_of_the_daemon() {
    let config = Config::default();
    let file = Path::new(".hippocampus/config.toml");
    for key in KEYS.iter().filter(|key| key.own == OverrideLimit::Never) {
        let (section, name) = key.parts();
        let text = format!("[{section}]\n{name} = 1\n");
        let error = config
            .for_workspace(file, text.as_bytes(), true)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(&format!(":2: a workspace cannot set `{}`", key.name)),
            "{error}"
        );
    }
    let settable: Vec<_> = KEYS
        .iter()
        .filter(|key| key.own != OverrideLimit::Never)
        // A workspace can only choose a model that the user installed.
        .filter(|key| key.name != "embed.model")
        .map(|key| key.parts().0)
        .collect();
    assert!(settable.iter().all(|section| {
        [
            "sources", "scopes", "sessions", "search", "recall", "index", "cycles", "context", "tree",
        ]
        .contains(section)
    }));
}

/// For each key, two values: one that restricts the user's setting, and one that does not.
const NARROW_AND_WIDE: [(&str, &str, &str); 25] = [
    ("sources.include", "['notes/*.md']", "['**/*']"),
    ("sources.exclude", "['a', 'mine', 'b']", "['a']"),
    ("scopes.private", "['agents/{agent}/**', 'desk/{agent}/']", "[]"),
    ("sessions.search", "false", "true"),
    ("embed.model", "'minilm-l6-dialogue-int8'", "'other'"),
    ("search.limit", "5", "11"),
    ("search.default_mode", "'hybrid'", "'vector'"),
    ("search.timezone", "''", "'Europe/Paris'"),
    ("recall.enabled", "false", "true"),
    ("recall.log_questions", "0", "9000"),
    ("recall.log_days", "1", "90"),
    ("index.enabled", "false", "true"),
    ("index.max_tokens", "600", "900000"),
    ("index.tokens_per_file", "5", "0"),
    ("index.max_entries", "5", "900"),
    ("index.decay", "'tuned'", "'protocol'"),
    ("cycles.light", "''", "'* * * * *'"),
    ("cycles.deep", "''", "'* * * * *'"),
    ("cycles.archival", "''", "'* * * * *'"),
    ("context.worth_tokens", "1000", "0"),
    ("context.budget_mb", "5", "900000"),
    ("context.keep_days", "5", "900"),
    ("context.earlier_sessions", "false", "true"),
    ("tree.keep", "'never'", "'always'"),
    ("tree.summaries", "'off'", "'agent'"),
];

#[test]
fn an_untrusted_workspace_can_only_narrow_settings() {
    let user =
        from("[sources]\ninclude = ['notes/*.md', 'x']\nexclude = ['mine']\n[index]\nenabled = false\n[recall]\nenabled = false\n[context]\nearlier_sessions = false\n")
            .unwrap();
    let file = Path::new(".hippocampus/config.toml");
    for (name, narrow, wide) in NARROW_AND_WIDE {
        let (section, key) = name.split_once('.').unwrap();
        let of = |value: &str, trusted: bool| {
            let text = format!("[{section}]\n{key} = {value}\n");
            user.for_workspace(file, text.as_bytes(), trusted).unwrap()
        };
        let (narrowed, changes) = of(narrow, false);
        let asks_for_more: Vec<_> = changes.iter().map(|change| change.key.as_str()).collect();
        assert_eq!(
            (narrowed, asks_for_more),
            (of(narrow, true).0, vec![]),
            "{name} = {narrow}"
        );
        let (held, changes) = of(wide, false);
        assert_ne!(held, of(wide, true).0, "{name} = {wide}");
        assert_eq!(changes.len(), 1, "{name} = {wide}");
        assert_eq!(changes[0].key, name);
        assert_eq!(changes, of(wide, true).1, "{name}");
    }
    let settable = KEYS
        .iter()
        .filter(|key| key.own != OverrideLimit::Never)
        .map(|key| key.name);
    let untried: Vec<&str> = settable
        .filter(|name| NARROW_AND_WIDE.iter().all(|(tried, ..)| tried != name))
        .collect();
    let plain = ["context.store_secrets", "tree.root_max_tokens"];
    assert_eq!(untried, plain);
}

#[test]
fn too_many_patterns_of_a_workspace_are_refused_with_their_line() {
    let many = vec!["'a/*.md'"; 20_000].join(",");
    let text = format!("[search]\nlimit = 5\n[sources]\nexclude = [{many}]\n");
    let error = Config::default()
        .for_workspace(Path::new("config.toml"), text.as_bytes(), false)
        .unwrap_err();
    let told = error.to_string();
    assert!(
        told.contains("config.toml:4:") && told.contains("the maximum is 256"),
        "{told}"
    );
    // Each of the two lists is within the limit, but both together exceed it.
    let many = "x/*.md,".repeat(200);
    let user = Config::load(
        Path::new("/nowhere"),
        environment(&[("HIPPOD_SOURCES_EXCLUDE", &many)]),
    );
    let list = vec!["'a/*.md'"; 200].join(",");
    let text = format!("[sources]\nexclude = [{list}]\n");
    // A pattern that occurs twice counts once.
    assert!(
        user.unwrap()
            .for_workspace(Path::new("c"), text.as_bytes(), false)
            .is_ok()
    );
}

#[test]
fn the_default_model_is_pinned_and_has_the_second_ranking() {
    let pinned = hippo_embed::acquire::ModelManifest::built_in().unwrap();
    assert_eq!(Config::default().embed.model, pinned.default_model().name);
    assert_eq!(hippo_rank::rerank::MODEL, pinned.default_model().name);
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
    assert_eq!(
        Config::default().context.worth_tokens,
        hippo_context::WORTH_AN_ENTRY
    );
    assert!(
        text.contains(
            "# Maximum number of threads that the embedding model uses. Raise it to index a large memory faster.\nthreads = 2\n"
        ),
        "{text}"
    );
}
