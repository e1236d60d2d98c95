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
#[rustfmt::skip] // the table is read by columns
pub const KEYS: &[ConfigKey] = keys! {
    "sources.include" "HIPPOD_SOURCES_INCLUDE" ValueKind::Globs, OverrideLimit::Fewer,
        "Globs of additional memory files, relative to the workspace.",
        "Set it to index other notes.";
    "sources.exclude" "HIPPOD_SOURCES_EXCLUDE" ValueKind::Globs, OverrideLimit::More,
        "Globs of files that are never memory.",
        "Set it to hide drafts or generated files.";
    "sources.max_file_bytes" "HIPPOD_SOURCES_MAX_FILE_BYTES" ValueKind::Whole(1, 1 << 30), OverrideLimit::Never,
        "Maximum size of a memory file (bytes); larger files are reported.",
        "Raise it for large logs.";
    "sources.follow_links" "HIPPOD_SOURCES_FOLLOW_LINKS" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Follow symbolic links within the workspace.",
        "Switch it off if links lead to copies.";
    "sources.respect_ignore_files" "HIPPOD_SOURCES_RESPECT_IGNORE_FILES" ValueKind::Bool, OverrideLimit::Word(&["true"]),
        "Skip the files in .hippoignore and .ignore.",
        "Switch it off if another tool's .ignore lists memory files.";
    "watch.quiet_ms" "HIPPOD_WATCH_QUIET_MS" ValueKind::Whole(0, MINUTE_MS), OverrideLimit::Never,
        "Read a changed file after this time without changes (milliseconds).",
        "Raise it if a program writes in many steps.";
    "watch.max_wait_ms" "HIPPOD_WATCH_MAX_WAIT_MS" ValueKind::Whole(0, 10 * MINUTE_MS), OverrideLimit::Never,
        "Read a changed file after this time, even if it keeps changing (milliseconds).",
        "Raise it if a program writes continuously.";
    "watch.reconcile_secs" "HIPPOD_WATCH_RECONCILE_SECS" ValueKind::Whole(1, DAY_SECS), OverrideLimit::Never,
        "Interval between comparisons of disk and index (seconds).",
        "Raise it for slow network drives.";
    "watch.canary_secs" "HIPPOD_WATCH_CANARY_SECS" ValueKind::Whole(1, DAY_SECS), OverrideLimit::Never,
        "Interval between self-tests of the watcher, which write a small file (seconds).",
        "Raise it if they wake a disk.";
    "watch.poll" "HIPPOD_WATCH_POLL" ValueKind::Choice(&["auto", "always", "never"]), OverrideLimit::Never,
        "Poll the files: always, never, or auto (if the system sends no file events).",
        "Set it to always if edits on a network drive are noticed late.";
    "watch.poll_secs" "HIPPOD_WATCH_POLL_SECS" ValueKind::Whole(1, 3600), OverrideLimit::Never,
        "Interval between two polls (seconds).",
        "Raise it for slow network drives.";
    "watch.delete_confirm_ms" "HIPPOD_WATCH_DELETE_CONFIRM_MS" ValueKind::Whole(0, 60 * MINUTE_MS), OverrideLimit::Never,
        "Time after which a missing file counts as deleted (milliseconds).",
        "Raise it if a sync program removes files and writes them again.";
    "watch.mass_delete_share" "HIPPOD_WATCH_MASS_DELETE_SHARE" ValueKind::Share, OverrideLimit::Never,
        "If at least ten files and more than this share of all files (0 to 1) vanish at once, their deletion is held \
         back.",
        "Set it to 1 if you often remove many files.";
    "embed.enabled" "HIPPOD_EMBED_ENABLED" ValueKind::Bool, OverrideLimit::Never,
        "Search by meaning, not only by keyword.",
        "Switch it off on a machine with little memory.";
    "embed.model" "HIPPOD_EMBED_MODEL" ValueKind::Name, OverrideLimit::Trusted,
        "Name of the embedding model, from `hippoctl model list`.",
        "Set it after `hippoctl model import`.";
    "embed.threads" "HIPPOD_EMBED_THREADS" ValueKind::Whole(1, 256), OverrideLimit::Never,
        "Maximum number of threads that the model uses.",
        "Raise it to index a large memory faster.";
    "embed.idle_unload_secs" "HIPPOD_EMBED_IDLE_UNLOAD_SECS" ValueKind::Whole(1, 7 * DAY_SECS), OverrideLimit::Never,
        "Idle time after which the model is unloaded (seconds).",
        "Raise it if the first search after a pause is slow.";
    "embed.spare" "HIPPOD_EMBED_SPARE" ValueKind::Bool, OverrideLimit::Never,
        "On battery or on a busy machine, postpone the embedding of older texts.",
        "Switch it off to finish the first indexing on battery.";
    "search.limit" "HIPPOD_SEARCH_LIMIT" ValueKind::Whole(1, 1000), OverrideLimit::Smaller,
        "Maximum number of results if the request sets no limit.",
        "Lower it for small contexts.";
    "search.default_mode" "HIPPOD_SEARCH_DEFAULT_MODE" ValueKind::Choice(&["hybrid", "lexical", "vector", "index"]), OverrideLimit::Trusted,
        "Search mode if the request sets none: hybrid, lexical, vector or index.",
        "Set it to lexical if exact words matter more than meaning.";
    "search.timezone" "HIPPOD_SEARCH_TIMEZONE" ValueKind::Zone, OverrideLimit::Trusted,
        "IANA time zone for dates such as \"yesterday\"; empty: the system's.",
        "Set it if the daemon runs in another time zone.";
    "index.enabled" "HIPPOD_INDEX_ENABLED" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Maintain HIPPOCAMPUS.md and the files below .hippocampus/.",
        "Switch it off to search without a map.";
    "index.max_tokens" "HIPPOD_INDEX_MAX_TOKENS" ValueKind::Whole(500, 1_000_000), OverrideLimit::Smaller,
        "Maximum size of HIPPOCAMPUS.md (tokens, estimated as bytes / 4).",
        "Lower it for small contexts.";
    "index.tokens_per_file" "HIPPOD_INDEX_TOKENS_PER_FILE" ValueKind::Whole(0, 100_000), OverrideLimit::SmallerNot0,
        "Maximum size of HIPPOCAMPUS.md for each memory file (tokens); the number of files is rounded up to tens; 0: \
         no such limit.",
        "Set it to 0 for a few long files.";
    "index.max_entries" "HIPPOD_INDEX_MAX_ENTRIES" ValueKind::Whole(1, 100_000), OverrideLimit::Smaller,
        "Maximum number of entries in HIPPOCAMPUS.md if not all fit.",
        "Lower it if the agent should see fewer topics.";
    "index.merge_above" "HIPPOD_INDEX_MERGE_ABOVE" ValueKind::Share, OverrideLimit::Larger,
        "Minimum similarity of entries that cycles merge (cosine, 0 to 1).",
        "Raise it if cycles merge too much.";
    "cycles.light" "HIPPOD_CYCLES_LIGHT" ValueKind::Cron, OverrideLimit::Word(&[""]),
        "Schedule of light cycles: minute, hour, day, month, weekday in local time; empty: only on request.",
        "Change it if hourly updates disturb your commits.";
    "cycles.deep" "HIPPOD_CYCLES_DEEP" ValueKind::Cron, OverrideLimit::Word(&[""]),
        "Schedule of deep cycles.",
        "Change it if the machine is off at night.";
    "cycles.archival" "HIPPOD_CYCLES_ARCHIVAL" ValueKind::Cron, OverrideLimit::Word(&[""]),
        "Schedule of archival cycles, which run at most every 28 days.",
        "Change it to use another weekday.";
    "context.worth_tokens" "HIPPOD_CONTEXT_WORTH_TOKENS" ValueKind::Whole(0, 1_000_000), OverrideLimit::Trusted,
        "Minimum size of a tool result that becomes a context entry (tokens).",
        "Lower it for small contexts.";
    "context.budget_mb" "HIPPOD_CONTEXT_BUDGET_MB" ValueKind::Whole(1, 1_000_000), OverrideLimit::Smaller,
        "Maximum disk space for contents of sessions (MiB, compressed); contents of closed sessions are removed first.",
        "Lower it on a small disk.";
    "context.keep_days" "HIPPOD_CONTEXT_KEEP_DAYS" ValueKind::Whole(1, 36_500), OverrideLimit::Smaller,
        "Time for which contents of closed sessions are kept after their last use (days).",
        "Lower it to forget tool results sooner.";
    "context.render_tokens" "HIPPOD_CONTEXT_RENDER_TOKENS" ValueKind::Whole(100, 1_000_000), OverrideLimit::Smaller,
        "Maximum size of a rendered section if the request sets none (tokens).",
        "Lower it for small contexts.";
    "context.threshold" "HIPPOD_CONTEXT_THRESHOLD" ValueKind::Share, OverrideLimit::Trusted,
        "Share of the agent's context (0 to 1) from which a turn includes a deep cycle.",
        "Lower it if the harness compacts earlier.";
    "context.store_secrets" "HIPPOD_CONTEXT_STORE_SECRETS" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Store contents with secrets, readable only by you; if off, store only their entries.",
        "Switch it off if secrets must not be on disk.";
    "context.persist_to_memory_md" "HIPPOD_CONTEXT_PERSIST_TO_MEMORY_MD" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Also write the lasting entries of a closed session to MEMORY.md.",
        "Switch it on for agents that read no daily logs.";
    "tree.keep" "HIPPOD_TREE_KEEP" ValueKind::Choice(&["auto", "always", "never"]), OverrideLimit::Word(&["never"]),
        "Update the compaction tree after cycles: always, never, or auto (if memory/ROOT.md exists).",
        "Set it to never if another program maintains the tree.";
    "tree.root_max_tokens" "HIPPOD_TREE_ROOT_MAX_TOKENS" ValueKind::Whole(200, 1_000_000), OverrideLimit::Smaller,
        "Maximum size of memory/ROOT.md (tokens); compaction.rootMaxTokens in hipocampus.config.json overrides it.",
        "Lower it for small contexts.";
    "tree.cooldown_hours" "HIPPOD_TREE_COOLDOWN_HOURS" ValueKind::Whole(0, 8_760), OverrideLimit::Larger,
        "Minimum time between tree updates by hooks and heartbeats (hours), unless the logs have grown enough; \
         compaction.cooldownHours in hipocampus.config.json overrides it.",
        "Raise it on a slow machine.";
    "tree.summaries" "HIPPOD_TREE_SUMMARIES" ValueKind::Choice(&["off", "agent"]), OverrideLimit::Word(&["off"]),
        "Author of the summaries: agent (at heartbeats) or off (hippod selects sentences).",
        "Change it if your agent should write them.";
    "decay.profile" "HIPPOD_DECAY_PROFILE" ValueKind::Choice(&["protocol", "tuned"]), OverrideLimit::Trusted,
        "Curve of decay: tuned (see docs/simulation.md) or protocol.",
        "Set it to protocol if rarely used entries should fade earlier.";
    "server.max_connections" "HIPPOD_SERVER_MAX_CONNECTIONS" ValueKind::Whole(1, 65_536), OverrideLimit::Never,
        "Maximum number of simultaneous connections.",
        "Raise it for hundreds of agents.";
    "server.max_line_bytes" "HIPPOD_SERVER_MAX_LINE_BYTES" ValueKind::Whole(1024, 16 << 20), OverrideLimit::Never,
        "Maximum size of a request or a response (bytes).",
        "Lower it on a machine with little memory.";
    "log.level" "HIPPOD_LOG_LEVEL" ValueKind::Choice(&["error", "warn", "info", "debug", "trace"]), OverrideLimit::Never,
        "Lowest level to log: error, warn, info, debug or trace.",
        "Set it to debug to log every request.";
    "log.format" "HIPPOD_LOG_FORMAT" ValueKind::Choice(&["text", "json"]), OverrideLimit::Never,
        "Format of the log: text or json.",
        "Set it to json for a log collector.";
};

/// Keys of earlier versions, each with the reason for its removal. A file that still sets such a key causes a warning.
#[rustfmt::skip] // keep the list compact
pub const REMOVED: &[(&str, &str)] = &[
    ("context.close_idle_days", "a session is closed after 30 days without use"),
    ("cycles.archival_days", "archival cycles run at most every 28 days; `cycles.archival` sets the day"),
    ("index.entry_level", "a new entry is one heading level below its section"),
    ("index.loss_cap", "a run demotes at most a quarter of the live entries"),
    (
        "index.max_learned",
        "at most 300 entries are created from queries",
    ),
    ("search.index_weight", "entries of the index file do not change scores"),
    ("search.tree_weight", "nodes of the compaction tree are not searched"),
    ("watch.mass_delete_min", "deletions of fewer than ten files are never held back"),
];
