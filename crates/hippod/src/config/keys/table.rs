//! Table of all keys and of removed keys.

use super::{ConfigKey, OverrideLimit, ValueKind};

const DAY_SECS: i64 = 86_400;
const MINUTE_MS: i64 = 60_000;

macro_rules! keys {
    ($($name:literal $variable:literal $kind:expr, $own:expr, $meaning:literal, $reason:literal;)*) => {
        &[$(ConfigKey { name: $name, variable: $variable, kind: $kind, own: $own, meaning: $meaning, reason: $reason }),*]
    };
}

/// All keys, by section.
#[rustfmt::skip] // a table is read by its columns
pub const KEYS: &[ConfigKey] = keys! {
    "sources.include" "HIPPOD_SOURCES_INCLUDE" ValueKind::Globs, OverrideLimit::Fewer,
        "Globs of further memory files, relative to the workspace.",
        "Set it to index notes outside the standard folders.";
    "sources.exclude" "HIPPOD_SOURCES_EXCLUDE" ValueKind::Globs, OverrideLimit::More,
        "Globs of files that are not memory; they override all others.",
        "Set it to keep drafts or generated files out of search.";
    "sources.max_file_bytes" "HIPPOD_SOURCES_MAX_FILE_BYTES" ValueKind::Whole(1, 1 << 30), OverrideLimit::Never,
        "Larger files are skipped and reported (bytes).",
        "Raise it to index a log or export of more than 16 MiB.";
    "sources.follow_links" "HIPPOD_SOURCES_FOLLOW_LINKS" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Follow symbolic links that stay within the workspace.",
        "Switch it off if links lead to copies that would be found twice.";
    "sources.respect_ignore_files" "HIPPOD_SOURCES_RESPECT_IGNORE_FILES" ValueKind::Bool, OverrideLimit::Word(&["true"]),
        "Skip files that .hippoignore and .ignore files list. A .gitignore never hides memory.",
        "Switch it off if an .ignore file for other tools lists memory files.";
    "watch.quiet_ms" "HIPPOD_WATCH_QUIET_MS" ValueKind::Whole(0, MINUTE_MS), OverrideLimit::Never,
        "A change is read when the file has not changed for this long (milliseconds).",
        "Raise it if an editor or a sync program writes files in many steps.";
    "watch.max_wait_ms" "HIPPOD_WATCH_MAX_WAIT_MS" ValueKind::Whole(0, 10 * MINUTE_MS), OverrideLimit::Never,
        "A change is read after this long, even if the file keeps changing (milliseconds).",
        "Raise it if a program writes to a memory file without pause.";
    "watch.reconcile_secs" "HIPPOD_WATCH_RECONCILE_SECS" ValueKind::Whole(1, DAY_SECS), OverrideLimit::Never,
        "Interval between comparisons of the disk with the index (seconds).",
        "Raise it if reading all files is slow, as on a network drive.";
    "watch.canary_secs" "HIPPOD_WATCH_CANARY_SECS" ValueKind::Whole(1, DAY_SECS), OverrideLimit::Never,
        "Interval between tests of the watcher, which write a small file (seconds).",
        "Raise it if these writes wake a sleeping disk.";
    "watch.poll" "HIPPOD_WATCH_POLL" ValueKind::Choice(&["auto", "always", "never"]), OverrideLimit::Never,
        "Poll the files instead of receiving events: auto (where the file system sends no events), always, never.",
        "Set it to always if edits on a network drive are noticed late.";
    "watch.poll_secs" "HIPPOD_WATCH_POLL_SECS" ValueKind::Whole(1, 3600), OverrideLimit::Never,
        "Interval between two polls (seconds).",
        "Raise it if polling a network drive costs too much.";
    "watch.delete_confirm_ms" "HIPPOD_WATCH_DELETE_CONFIRM_MS" ValueKind::Whole(0, 60 * MINUTE_MS), OverrideLimit::Never,
        "A missing file counts as deleted after this long (milliseconds).",
        "Raise it if a sync program removes files and writes them again.";
    "watch.mass_delete_share" "HIPPOD_WATCH_MASS_DELETE_SHARE" ValueKind::Share, OverrideLimit::Never,
        "If more than this share of at least ten files disappears at once, the index keeps them until you confirm (0 to 1).",
        "Set it to 1 if you often remove many files at once.";
    "embed.enabled" "HIPPOD_EMBED_ENABLED" ValueKind::Bool, OverrideLimit::Never,
        "Search by meaning; otherwise only by words.",
        "Switch it off on a machine that has no memory to spare for a model.";
    "embed.model" "HIPPOD_EMBED_MODEL" ValueKind::Name, OverrideLimit::Trusted,
        "Name of the embedding model, from `hippoctl model list`.",
        "Set it to a model for another language that you imported with `hippoctl model import DIR --name NAME`.";
    "embed.threads" "HIPPOD_EMBED_THREADS" ValueKind::Whole(1, 256), OverrideLimit::Never,
        "Threads that the model may use.",
        "Raise it to index a large memory faster.";
    "embed.idle_unload_secs" "HIPPOD_EMBED_IDLE_UNLOAD_SECS" ValueKind::Whole(1, 7 * DAY_SECS), OverrideLimit::Never,
        "The model is unloaded after this long without work (seconds).",
        "Raise it if the first search after a pause is too slow; lower it to free memory sooner.";
    "embed.spare" "HIPPOD_EMBED_SPARE" ValueKind::Bool, OverrideLimit::Never,
        "On battery or a busy machine, embed only fresh edits and texts that a request waits for; search by words is complete meanwhile.",
        "Switch it off to finish a first indexing on battery.";
    "search.limit" "HIPPOD_SEARCH_LIMIT" ValueKind::Whole(1, 1000), OverrideLimit::Smaller,
        "Maximum results if the request sets none.",
        "Lower it for agents with a small context.";
    "search.default_mode" "HIPPOD_SEARCH_DEFAULT_MODE" ValueKind::Choice(&["hybrid", "lexical", "vector", "index"]), OverrideLimit::Trusted,
        "Mode if the request sets none: hybrid, lexical, vector, index.",
        "Set it to lexical if exact words matter more than meaning.";
    "search.timezone" "HIPPOD_SEARCH_TIMEZONE" ValueKind::Zone, OverrideLimit::Trusted,
        "IANA name of the time zone of dates such as \"yesterday\"; empty: the zone of the system.",
        "Set it if the daemon runs on a server in another zone.";
    "index.enabled" "HIPPOD_INDEX_ENABLED" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Maintain HIPPOCAMPUS.md and the files below .hippocampus/.",
        "Switch it off to search a folder without writing to it.";
    "index.max_tokens" "HIPPOD_INDEX_MAX_TOKENS" ValueKind::Whole(500, 1_000_000), OverrideLimit::Smaller,
        "Maximum size of HIPPOCAMPUS.md (tokens, estimated as bytes / 4); the rest is written below .hippocampus/.",
        "Lower it if the agent reads the whole file into a small context.";
    "index.tokens_per_file" "HIPPOD_INDEX_TOKENS_PER_FILE" ValueKind::Whole(0, 100_000), OverrideLimit::SmallerNot0,
        "Maximum tokens of HIPPOCAMPUS.md per memory file, counted in steps of ten files; 0: only max_tokens limits it.",
        "Set it to 0 for a memory of a few long files.";
    "index.max_entries" "HIPPOD_INDEX_MAX_ENTRIES" ValueKind::Whole(1, 100_000), OverrideLimit::Smaller,
        "Maximum entries in HIPPOCAMPUS.md when some do not fit.",
        "Lower it if the agent should see fewer topics at once.";
    "index.merge_above" "HIPPOD_INDEX_MERGE_ABOVE" ValueKind::Share, OverrideLimit::Larger,
        "Similarity from which two entries may be merged (cosine, 0 to 1).",
        "Raise it if the deep cycle merges entries that you want to keep apart.";
    "cycles.light" "HIPPOD_CYCLES_LIGHT" ValueKind::Cron, OverrideLimit::Word(&[""]),
        "When light cycles run: minute, hour, day, month, weekday in local time; empty: only on request.",
        "Change it if hourly updates of the index file disturb your commits.";
    "cycles.deep" "HIPPOD_CYCLES_DEEP" ValueKind::Cron, OverrideLimit::Word(&[""]),
        "When deep cycles run.",
        "Change it if the machine is off or busy at night.";
    "cycles.archival" "HIPPOD_CYCLES_ARCHIVAL" ValueKind::Cron, OverrideLimit::Word(&[""]),
        "When to check whether an archival cycle is due; it runs at most every 28 days.",
        "Change it to run on another weekday, or empty it to keep all entries out of the archive.";
    "context.worth_tokens" "HIPPOD_CONTEXT_WORTH_TOKENS" ValueKind::Whole(0, 1_000_000), OverrideLimit::Trusted,
        "Tool results with more tokens become entries (estimated as bytes / 4).",
        "Lower it for agents with a small context.";
    "context.budget_mb" "HIPPOD_CONTEXT_BUDGET_MB" ValueKind::Whole(1, 1_000_000), OverrideLimit::Smaller,
        "Maximum disk space for contents of sessions (MiB, compressed); contents of closed sessions are removed first.",
        "Lower it on a small disk.";
    "context.keep_days" "HIPPOD_CONTEXT_KEEP_DAYS" ValueKind::Whole(1, 36_500), OverrideLimit::Smaller,
        "Contents of closed sessions are kept this long after their last use (days).",
        "Lower it if tool results should not be stored for months.";
    "context.render_tokens" "HIPPOD_CONTEXT_RENDER_TOKENS" ValueKind::Whole(100, 1_000_000), OverrideLimit::Smaller,
        "Maximum size of a rendered section if the request sets none (tokens).",
        "Lower it for agents with a small context.";
    "context.threshold" "HIPPOD_CONTEXT_THRESHOLD" ValueKind::Share, OverrideLimit::Trusted,
        "Share of its limit from which a context counts as nearly full, so that the turn is a deep cycle (0 to 1).",
        "Lower it if the harness compacts its context before 80 %.";
    "context.store_secrets" "HIPPOD_CONTEXT_STORE_SECRETS" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Store content that contains a secret, readable only for you; otherwise only its entry.",
        "Switch it off if secrets must not be written to disk.";
    "context.persist_to_memory_md" "HIPPOD_CONTEXT_PERSIST_TO_MEMORY_MD" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Also write the lasting entries of a closed session to MEMORY.md, between markers; the daily log always gets them.",
        "Switch it on for agents that read only MEMORY.md.";
    "tree.keep" "HIPPOD_TREE_KEEP" ValueKind::Choice(&["auto", "always", "never"]), OverrideLimit::Word(&["never"]),
        "Update the compaction tree after cycles: auto (if memory/ROOT.md exists), always or never.",
        "Set it to never if another program maintains the tree.";
    "tree.root_max_tokens" "HIPPOD_TREE_ROOT_MAX_TOKENS" ValueKind::Whole(200, 1_000_000), OverrideLimit::Smaller,
        "Maximum size of memory/ROOT.md (tokens); compaction.rootMaxTokens of a hipocampus.config.json overrides it.",
        "Change it to the share of the prompt that ROOT.md may take.";
    "tree.cooldown_hours" "HIPPOD_TREE_COOLDOWN_HOURS" ValueKind::Whole(0, 8_760), OverrideLimit::Larger,
        "Interval between two runs that hooks and heartbeats request, unless the logs grow (hours); compaction.cooldownHours of a hipocampus.config.json overrides it.",
        "Raise it if summaries cost money.";
    "tree.summaries" "HIPPOD_TREE_SUMMARIES" ValueKind::Choice(&["off", "agent", "command"]), OverrideLimit::Word(&["off"]),
        "Writer of the summaries of days, weeks and months: off (hippod extracts lines), agent (at heartbeats) or \
         command.",
        "Change it for summaries that a language model writes.";
    "tree.command" "HIPPOD_TREE_COMMAND" ValueKind::Words, OverrideLimit::Never,
        "Program that writes a summary, and its arguments: it reads a job as JSON from standard input and prints the summary.",
        "Set it together with summaries = \"command\".";
    "tree.command_timeout_secs" "HIPPOD_TREE_COMMAND_TIMEOUT_SECS" ValueKind::Whole(1, 86_400), OverrideLimit::Never,
        "The program is stopped after this long (seconds).",
        "Raise it for a slow local model.";
    "tree.command_daily_jobs" "HIPPOD_TREE_COMMAND_DAILY_JOBS" ValueKind::Whole(0, 100_000), OverrideLimit::Never,
        "Maximum summaries by the program per day and workspace.",
        "Lower it if each summary costs money.";
    "decay.profile" "HIPPOD_DECAY_PROFILE" ValueKind::Choice(&["protocol", "tuned"]), OverrideLimit::Trusted,
        "Constants of the decay curve: protocol (those of the protocol), tuned (see docs/simulation.md).",
        "Set it to tuned if rarely used entries fade too early.";
    "server.max_connections" "HIPPOD_SERVER_MAX_CONNECTIONS" ValueKind::Whole(1, 65_536), OverrideLimit::Never,
        "Maximum connections at the same time.",
        "Raise it if hundreds of agents share one daemon.";
    "server.max_line_bytes" "HIPPOD_SERVER_MAX_LINE_BYTES" ValueKind::Whole(1024, 16 << 20), OverrideLimit::Never,
        "Maximum size of a request and of an answer (bytes).",
        "Lower it to limit the memory that one request can take on a small machine.";
    "log.level" "HIPPOD_LOG_LEVEL" ValueKind::Choice(&["error", "warn", "info", "debug", "trace"]), OverrideLimit::Never,
        "error, warn, info, debug or trace. Text of the memory is never logged above debug.",
        "Set it to debug to see every request.";
    "log.format" "HIPPOD_LOG_FORMAT" ValueKind::Choice(&["text", "json"]), OverrideLimit::Never,
        "Format of the log lines: text, or json (timestamp, level, target, fields, span).",
        "Set it to json for a log collector.";
};

/// Keys of earlier versions, with the reason for their removal. A file that still sets one causes a warning.
#[rustfmt::skip] // a list is read in lines
pub const REMOVED: &[(&str, &str)] = &[
    ("context.close_idle_days", "a session is closed after 30 days without use"),
    ("cycles.archival_days", "archival cycles run at most every 28 days; `cycles.archival` sets the day"),
    ("index.entry_level", "a new entry is one heading level below its section"),
    ("index.loss_cap", "a run demotes at most a quarter of the live entries"),
    ("index.max_learned", "at most 300 entries come from questions"),
    ("search.index_weight", "entries of the index file do not change scores"),
    ("search.tree_weight", "nodes of the compaction tree are not searched"),
    ("watch.mass_delete_min", "deletions of fewer than ten files are never held back"),
];
