//! The table of all keys: values, meaning, and how far a workspace may set them.

use hippo_core::source::SourceRules;
use jiff::tz::TimeZone;
use toml::Value;

use super::Config;

/// One key.
pub(super) struct Key {
    /// Section and name: `embed.threads`.
    pub name: &'static str,
    /// The environment variable that sets it.
    pub variable: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// How far a workspace's own file may set it.
    pub own: Own,
    /// What it means.
    pub meaning: &'static str,
}

/// What a key may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number between these, both included.
    Whole(i64, i64),
    /// A number from 0 to 1.
    Share,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A name that is not empty.
    Name,
    /// The name of a time zone, or empty.
    Zone,
    /// A list of globs.
    Globs,
    /// A cron line of five fields, or empty.
    Cron,
    /// A program and its arguments, or nothing.
    Words,
}

/// How far a workspace's own file may set a key. Without trust it may only narrow what the user's settings say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Own {
    /// Not at all, trusted or not.
    Never,
    /// To any value, with trust alone.
    Trusted,
    /// To a smaller number; any other with trust.
    Smaller,
    /// The same where 0 stands for no limit.
    SmallerNot0,
    /// To a larger number; any other with trust.
    Larger,
    /// To one of these words; any other with trust.
    Word(&'static [&'static str]),
    /// To a part of the list; any other with trust.
    Fewer,
    /// To more than the list; any other with trust.
    More,
}

const DAY_SECS: i64 = 86_400;
const MINUTE_MS: i64 = 60_000;

macro_rules! keys {
    ($($name:literal $variable:literal $kind:expr, $own:expr, $meaning:literal;)*) => {
        &[$(Key { name: $name, variable: $variable, kind: $kind, own: $own, meaning: $meaning }),*]
    };
}

/// All keys, by section.
#[rustfmt::skip] // a table is read by its columns
pub(super) const KEYS: &[Key] = keys! {
    "sources.include" "HIPPOD_SOURCES_INCLUDE" Kind::Globs, Own::Fewer,
        "Globs of further memory files, relative to the workspace.";
    "sources.exclude" "HIPPOD_SOURCES_EXCLUDE" Kind::Globs, Own::More,
        "Globs of files that are no memory; they win over all others.";
    "sources.max_file_bytes" "HIPPOD_SOURCES_MAX_FILE_BYTES" Kind::Whole(1, 1 << 30), Own::Never,
        "Larger files are skipped and reported (bytes).";
    "sources.follow_links" "HIPPOD_SOURCES_FOLLOW_LINKS" Kind::Bool, Own::Word(&["false"]),
        "Follow symbolic links, as long as they stay within the workspace.";
    "sources.respect_ignore_files" "HIPPOD_SOURCES_RESPECT_IGNORE_FILES" Kind::Bool, Own::Word(&["true"]),
        "Honour .hippoignore and .ignore files. A .gitignore never hides memory.";
    "watch.quiet_ms" "HIPPOD_WATCH_QUIET_MS" Kind::Whole(0, MINUTE_MS), Own::Never,
        "A change is read when nothing more has come for this long (milliseconds).";
    "watch.max_wait_ms" "HIPPOD_WATCH_MAX_WAIT_MS" Kind::Whole(0, 10 * MINUTE_MS), Own::Never,
        "It is read after this long in any case (milliseconds).";
    "watch.reconcile_secs" "HIPPOD_WATCH_RECONCILE_SECS" Kind::Whole(1, DAY_SECS), Own::Never,
        "Distance between two comparisons of disk and index (seconds).";
    "watch.canary_secs" "HIPPOD_WATCH_CANARY_SECS" Kind::Whole(1, DAY_SECS), Own::Never,
        "Distance between two proofs that the watcher is alive (seconds).";
    "watch.poll" "HIPPOD_WATCH_POLL" Kind::Choice(&["auto", "always", "never"]), Own::Never,
        "Look at the files instead of being told: auto (where the system cannot tell), always, never.";
    "watch.poll_secs" "HIPPOD_WATCH_POLL_SECS" Kind::Whole(1, 3600), Own::Never,
        "Distance between two looks (seconds).";
    "watch.delete_confirm_ms" "HIPPOD_WATCH_DELETE_CONFIRM_MS" Kind::Whole(0, 60 * MINUTE_MS), Own::Never,
        "A missing file counts as deleted after this long (milliseconds).";
    "watch.mass_delete_share" "HIPPOD_WATCH_MASS_DELETE_SHARE" Kind::Share, Own::Never,
        "When more than this share of the files goes at once, their index is kept until you confirm (0 to 1).";
    "watch.mass_delete_min" "HIPPOD_WATCH_MASS_DELETE_MIN" Kind::Whole(1, 1_000_000), Own::Never,
        "Fewer files than this are never held back.";
    "embed.enabled" "HIPPOD_EMBED_ENABLED" Kind::Bool, Own::Never,
        "Search by meaning; without it, by words alone.";
    "embed.model" "HIPPOD_EMBED_MODEL" Kind::Name, Own::Trusted,
        "Name of the embedding model, one of `hippoctl model list`; others come by `hippoctl model import DIR --name NAME`.";
    "embed.threads" "HIPPOD_EMBED_THREADS" Kind::Whole(1, 256), Own::Never,
        "Threads that the model may use.";
    "embed.idle_unload_secs" "HIPPOD_EMBED_IDLE_UNLOAD_SECS" Kind::Whole(1, 7 * DAY_SECS), Own::Never,
        "The model leaves memory after this long without work (seconds).";
    "embed.spare" "HIPPOD_EMBED_SPARE" Kind::Bool, Own::Never,
        "On battery or a busy machine, embed only fresh edits and what somebody waits for; search by words is complete meanwhile.";
    "search.limit" "HIPPOD_SEARCH_LIMIT" Kind::Whole(1, 1000), Own::Smaller,
        "Results, when the request does not say.";
    "search.default_mode" "HIPPOD_SEARCH_DEFAULT_MODE" Kind::Choice(&["hybrid", "lexical", "vector", "index"]), Own::Trusted,
        "Mode, when the request does not say: hybrid, lexical, vector, index.";
    "search.timezone" "HIPPOD_SEARCH_TIMEZONE" Kind::Zone, Own::Trusted,
        "IANA name of the zone in which \"yesterday\" is understood; empty is the system's.";
    "index.enabled" "HIPPOD_INDEX_ENABLED" Kind::Bool, Own::Word(&["false"]),
        "Keep HIPPOCAMPUS.md and the files below .hippocampus/.";
    "index.max_tokens" "HIPPOD_INDEX_MAX_TOKENS" Kind::Whole(500, 1_000_000), Own::Smaller,
        "Size of HIPPOCAMPUS.md at most (tokens, estimated as bytes / 4); what does not fit goes below .hippocampus/.";
    "index.tokens_per_file" "HIPPOD_INDEX_TOKENS_PER_FILE" Kind::Whole(0, 100_000), Own::SmallerNot0,
        "Tokens of HIPPOCAMPUS.md for each file of the memory, at most, counted by tens of files; 0: only max_tokens holds.";
    "index.max_entries" "HIPPOD_INDEX_MAX_ENTRIES" Kind::Whole(1, 100_000), Own::Smaller,
        "Entries in HIPPOCAMPUS.md once not all of them fit.";
    "index.entry_level" "HIPPOD_INDEX_ENTRY_LEVEL" Kind::Whole(0, 6), Own::Trusted,
        "Level of the headings of new entries, 2 to 6; 0: one below the heading of their section.";
    "index.max_learned" "HIPPOD_INDEX_MAX_LEARNED" Kind::Whole(0, 100_000), Own::Smaller,
        "Entries that questions made, at most; the weakest one is archived for a new one.";
    "index.merge_above" "HIPPOD_INDEX_MERGE_ABOVE" Kind::Share, Own::Larger,
        "Cosine from which two entries may be merged (0 to 1).";
    "index.loss_cap" "HIPPOD_INDEX_LOSS_CAP" Kind::Share, Own::Smaller,
        "Share of the live entries that one run may demote (0 to 1); one entry always.";
    "cycles.light" "HIPPOD_CYCLES_LIGHT" Kind::Cron, Own::Word(&[""]),
        "When light cycles run: minute, hour, day, month, weekday in local time; empty: only when asked for.";
    "cycles.deep" "HIPPOD_CYCLES_DEEP" Kind::Cron, Own::Word(&[""]),
        "When deep cycles run.";
    "cycles.archival" "HIPPOD_CYCLES_ARCHIVAL" Kind::Cron, Own::Word(&[""]),
        "When it is checked whether an archival cycle is due.";
    "cycles.archival_days" "HIPPOD_CYCLES_ARCHIVAL_DAYS" Kind::Whole(1, 366), Own::Larger,
        "Days between two archival cycles, at least.";
    "context.worth_tokens" "HIPPOD_CONTEXT_WORTH_TOKENS" Kind::Whole(0, 1_000_000), Own::Trusted,
        "Tool results of more tokens become sparse entries (estimated as bytes / 4).";
    "context.budget_mb" "HIPPOD_CONTEXT_BUDGET_MB" Kind::Whole(1, 1_000_000), Own::Smaller,
        "What contents of sessions may take on the disk (MiB, compressed); those of closed sessions give way.";
    "context.keep_days" "HIPPOD_CONTEXT_KEEP_DAYS" Kind::Whole(1, 36_500), Own::Smaller,
        "Contents of closed sessions are kept this long after their last use (days).";
    "context.close_idle_days" "HIPPOD_CONTEXT_CLOSE_IDLE_DAYS" Kind::Whole(0, 36_500), Own::Trusted,
        "A session in which nothing was done for so long is closed (days); 0: never.";
    "context.render_tokens" "HIPPOD_CONTEXT_RENDER_TOKENS" Kind::Whole(100, 1_000_000), Own::Smaller,
        "Size of a rendered section at most, unless the request says otherwise (tokens).";
    "context.threshold" "HIPPOD_CONTEXT_THRESHOLD" Kind::Share, Own::Trusted,
        "Share of its limit from which a context is nearly full: the turn is a deep cycle (0 to 1).";
    "context.store_secrets" "HIPPOD_CONTEXT_STORE_SECRETS" Kind::Bool, Own::Word(&["false"]),
        "Keep content that shows a secret, readable for you alone; without it only its entry is kept.";
    "context.persist_to_memory_md" "HIPPOD_CONTEXT_PERSIST_TO_MEMORY_MD" Kind::Bool, Own::Word(&["false"]),
        "Write what remains of a closed session into MEMORY.md too, between markers of its own; the daily log has it in any case.";
    "tree.keep" "HIPPOD_TREE_KEEP" Kind::Choice(&["auto", "always", "never"]), Own::Word(&["never"]),
        "Keep the compaction tree up to date after cycles: auto (where there is a memory/ROOT.md), always or never.";
    "tree.root_max_tokens" "HIPPOD_TREE_ROOT_MAX_TOKENS" Kind::Whole(200, 1_000_000), Own::Smaller,
        "Size of memory/ROOT.md at most (tokens); compaction.rootMaxTokens of a hipocampus.config.json goes before it.";
    "tree.cooldown_hours" "HIPPOD_TREE_COOLDOWN_HOURS" Kind::Whole(0, 8_760), Own::Larger,
        "Time between two runs that hooks and heartbeats ask for, unless the logs grow (hours); compaction.cooldownHours of a hipocampus.config.json goes before it.";
    "tree.summaries" "HIPPOD_TREE_SUMMARIES" Kind::Choice(&["off", "agent", "command"]), Own::Word(&["off"]),
        "Who writes summaries of days, weeks and months in the place of what is extracted: off (nobody), agent (at heartbeats) or command.";
    "tree.command" "HIPPOD_TREE_COMMAND" Kind::Words, Own::Never,
        "Program that writes a summary, and its arguments: a job as JSON on standard input, the summary on standard output.";
    "tree.command_timeout_secs" "HIPPOD_TREE_COMMAND_TIMEOUT_SECS" Kind::Whole(1, 86_400), Own::Never,
        "It is ended after this long (seconds).";
    "tree.command_daily_jobs" "HIPPOD_TREE_COMMAND_DAILY_JOBS" Kind::Whole(0, 100_000), Own::Never,
        "Summaries that it may write on one day, for each workspace.";
    "decay.profile" "HIPPOD_DECAY_PROFILE" Kind::Choice(&["protocol", "tuned"]), Own::Trusted,
        "Numbers of the curve by which strength fades: protocol (those of the protocol), tuned (see docs/simulation.md).";
    "server.max_connections" "HIPPOD_SERVER_MAX_CONNECTIONS" Kind::Whole(1, 65_536), Own::Never,
        "Connections at the same time.";
    "server.max_line_bytes" "HIPPOD_SERVER_MAX_LINE_BYTES" Kind::Whole(1024, 16 << 20), Own::Never,
        "Longest request (bytes).";
    "log.level" "HIPPOD_LOG_LEVEL" Kind::Choice(&["error", "warn", "info", "debug", "trace"]), Own::Never,
        "error, warn, info, debug or trace. Memory text is never logged above debug.";
    "log.format" "HIPPOD_LOG_FORMAT" Kind::Choice(&["text", "json"]), Own::Never,
        "How a line of the log looks: text, or json (timestamp, level, target, fields, span).";
};

impl Key {
    /// Finds a key by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Section and name, apart.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or(("", self.name))
    }
}

impl Own {
    /// The value that holds without trust where the user's settings say `user` and the workspace wants `wanted`.
    pub fn narrowed(self, user: &Value, wanted: &Value) -> Value {
        let number = |value: &Value| match value {
            #[expect(clippy::cast_precision_loss, reason = "limits are far below 2^52")]
            Value::Integer(number) => *number as f64,
            Value::Float(number) => *number,
            _ => f64::NAN,
        };
        let unlimited = |value: &Value| match number(value) {
            0.0 => f64::INFINITY,
            limit => limit,
        };
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let narrows = match self {
            Self::Never | Self::Trusted => user == wanted,
            Self::Smaller => number(wanted) <= number(user),
            Self::SmallerNot0 => unlimited(wanted) <= unlimited(user),
            Self::Larger => number(wanted) >= number(user),
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

    /// What the documentation says about it.
    fn told(self) -> String {
        let how = match self {
            Self::Never => return String::new(),
            Self::Trusted => return " A workspace may set it with trust.".to_owned(),
            Self::Smaller | Self::SmallerNot0 => "lower it",
            Self::Larger => "raise it",
            Self::Word(["true"]) => "switch it on",
            Self::Word(["false"]) => "switch it off",
            Self::Word([""]) => "empty it",
            Self::Word([word]) => return format!(" A workspace may set it to {word}, to others with trust."),
            Self::Word(_) => "narrow it",
            Self::Fewer => "shorten it",
            Self::More => "add to it",
        };
        format!(" A workspace may {how}, and set it with trust.")
    }
}

impl Kind {
    /// What is wrong with a value, if something is.
    pub fn check(self, value: &Value) -> Result<(), String> {
        let wrong = |expected: &str| Err(format!("expected {expected}, found {}", describe(value)));
        match (self, value) {
            (Self::Bool, Value::Boolean(_)) => Ok(()),
            (Self::Bool, _) => wrong("true or false"),
            (Self::Whole(least, most), Value::Integer(number)) if (least..=most).contains(number) => Ok(()),
            (Self::Whole(least, most), _) => wrong(&format!("a whole number from {least} to {most}")),
            (Self::Share, Value::Integer(0 | 1)) => Ok(()),
            (Self::Share, Value::Float(number)) if (0.0..=1.0).contains(number) => Ok(()),
            (Self::Share, _) => wrong("a number from 0 to 1"),
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
            (Self::Cron, Value::String(line)) => super::index::cron(line).map(|_| ()),
            (Self::Cron, _) => wrong("a cron line"),
            (Self::Words, Value::Array(words)) if words.iter().all(Value::is_str) => Ok(()),
            (Self::Words, _) => wrong("a list of texts: a program and its arguments"),
            (Self::Globs, Value::Array(globs)) => check_globs(globs),
            (Self::Globs, _) => wrong("a list of globs"),
        }
    }

    /// Reads the text of an environment variable or flag; what it cannot be read as is left to [`Kind::check`].
    pub fn read(self, text: &str) -> Value {
        let trimmed = text.trim();
        let read = match self {
            Self::Bool => trimmed.parse().ok().map(Value::Boolean),
            Self::Whole(..) => trimmed.replace('_', "").parse().ok().map(Value::Integer),
            Self::Share => trimmed.parse().ok().map(Value::Float),
            Self::Choice(_) | Self::Name | Self::Zone | Self::Cron => None,
            Self::Words => trimmed.parse().ok(),
            Self::Globs if trimmed.starts_with('[') => trimmed.parse().ok(),
            Self::Globs => {
                let globs = trimmed.split(',').map(str::trim).filter(|glob| !glob.is_empty());
                Some(Value::Array(
                    globs.map(|glob| Value::String(glob.to_owned())).collect(),
                ))
            }
        };
        read.unwrap_or_else(|| Value::String(trimmed.to_owned()))
    }
}

/// The zone of a name; `None` for the empty name.
pub(super) fn time_zone(name: &str) -> Result<Option<TimeZone>, String> {
    if name.is_empty() {
        return Ok(None);
    }
    TimeZone::get(name)
        .map(Some)
        .map_err(|_| format!("unknown time zone \"{name}\""))
}

fn check_globs(globs: &[Value]) -> Result<(), String> {
    let mut texts = Vec::with_capacity(globs.len());
    for glob in globs {
        match glob {
            Value::String(glob) => texts.push(glob.clone()),
            other => return Err(format!("expected globs as texts, found {}", describe(other))),
        }
    }
    SourceRules::new(&texts, &[])
        .map(drop)
        .map_err(|error| error.to_string())
}

fn describe(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Table(_) => "a table".into(),
        scalar => scalar.to_string(),
    }
}

/// The table above as commented TOML, with the values of `config`.
pub(super) fn documented(config: &Config) -> String {
    let table = toml::Table::try_from(config).unwrap_or_default();
    let mut text = String::new();
    let mut current = "";
    for key in KEYS {
        let (section, name) = key.parts();
        if section != current {
            text += &format!("{}[{section}]\n", if current.is_empty() { "" } else { "\n" });
            current = section;
        }
        text += &format!("# {}{}\n", key.meaning, key.own.told());
        if let Some(value) = table.get(section).and_then(|section| section.get(name)) {
            text += &format!("{name} = {value}\n");
        }
    }
    text
}
