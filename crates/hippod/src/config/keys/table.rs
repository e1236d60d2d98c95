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
        "Set it to index notes outside the standard folders.";
    "sources.exclude" "HIPPOD_SOURCES_EXCLUDE" ValueKind::Globs, OverrideLimit::More,
        "Globs of files that are not memory; they take precedence over all other globs.",
        "Set it to keep drafts or generated files out of search.";
    "sources.max_file_bytes" "HIPPOD_SOURCES_MAX_FILE_BYTES" ValueKind::Whole(1, 1 << 30), OverrideLimit::Never,
        "Maximum size of a memory file (bytes); larger files are skipped and reported.",
        "Raise it to index a log or export of more than 16 MiB.";
    "sources.follow_links" "HIPPOD_SOURCES_FOLLOW_LINKS" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Follow symbolic links that stay within the workspace.",
        "Switch it off if links lead to copies of files, so that a search would find the same text twice.";
    "sources.respect_ignore_files" "HIPPOD_SOURCES_RESPECT_IGNORE_FILES" ValueKind::Bool, OverrideLimit::Word(&["true"]),
        "Skip the files that .hippoignore and .ignore files list. A .gitignore file never excludes memory files.",
        "Switch it off if an .ignore file for other tools lists memory files.";
    "watch.quiet_ms" "HIPPOD_WATCH_QUIET_MS" ValueKind::Whole(0, MINUTE_MS), OverrideLimit::Never,
        "Time that must pass without further changes before a changed file is read (milliseconds).",
        "Raise it if an editor or a sync program writes files in many steps.";
    "watch.max_wait_ms" "HIPPOD_WATCH_MAX_WAIT_MS" ValueKind::Whole(0, 10 * MINUTE_MS), OverrideLimit::Never,
        "Time after which a changed file is read even if it keeps changing (milliseconds).",
        "Raise it if a program writes to a memory file continuously.";
    "watch.reconcile_secs" "HIPPOD_WATCH_RECONCILE_SECS" ValueKind::Whole(1, DAY_SECS), OverrideLimit::Never,
        "Interval between comparisons of the disk with the index (seconds).",
        "Raise it if it takes long to read all files, for example on a network drive.";
    "watch.canary_secs" "HIPPOD_WATCH_CANARY_SECS" ValueKind::Whole(1, DAY_SECS), OverrideLimit::Never,
        "Interval between self-tests of the watcher; each test writes a small file (seconds).",
        "Raise it if the self-tests wake a disk from standby.";
    "watch.poll" "HIPPOD_WATCH_POLL" ValueKind::Choice(&["auto", "always", "never"]), OverrideLimit::Never,
        "When to poll the files instead of waiting for events of the file system: auto (if the file system \
         sends no events), always or never.",
        "Set it to always if edits on a network drive are noticed late.";
    "watch.poll_secs" "HIPPOD_WATCH_POLL_SECS" ValueKind::Whole(1, 3600), OverrideLimit::Never,
        "Interval between two polls (seconds).",
        "Raise it if polling slows down a network drive.";
    "watch.delete_confirm_ms" "HIPPOD_WATCH_DELETE_CONFIRM_MS" ValueKind::Whole(0, 60 * MINUTE_MS), OverrideLimit::Never,
        "Time after which a missing file counts as deleted (milliseconds).",
        "Raise it if a sync program removes files and writes them again.";
    "watch.mass_delete_share" "HIPPOD_WATCH_MASS_DELETE_SHARE" ValueKind::Share, OverrideLimit::Never,
        "Share of the indexed files (0 to 1): if at least ten files and more than this share disappear at \
         once, these files stay in the index until you confirm the deletion.",
        "Set it to 1 if you often remove many files at once.";
    "embed.enabled" "HIPPOD_EMBED_ENABLED" ValueKind::Bool, OverrideLimit::Never,
        "Enable search by meaning; without it, hippod searches only by keyword.",
        "Switch it off on a machine with too little memory for a model.";
    "embed.model" "HIPPOD_EMBED_MODEL" ValueKind::Name, OverrideLimit::Trusted,
        "Name of the embedding model, from `hippoctl model list`.",
        "To use a model for another language, import it with `hippoctl model import DIR --name NAME`, then set this \
         key.";
    "embed.threads" "HIPPOD_EMBED_THREADS" ValueKind::Whole(1, 256), OverrideLimit::Never,
        "Maximum number of threads that the model uses.",
        "Raise it to index a large memory faster.";
    "embed.idle_unload_secs" "HIPPOD_EMBED_IDLE_UNLOAD_SECS" ValueKind::Whole(1, 7 * DAY_SECS), OverrideLimit::Never,
        "Idle time after which the model is unloaded (seconds).",
        "Raise it if the first search after a pause is too slow; lower it to free memory sooner.";
    "embed.spare" "HIPPOD_EMBED_SPARE" ValueKind::Bool, OverrideLimit::Never,
        "While the machine runs on battery or is busy, embed only recent edits and texts that a request \
         waits for; keyword search still finds all texts.",
        "Switch it off to finish the first indexing on battery.";
    "search.limit" "HIPPOD_SEARCH_LIMIT" ValueKind::Whole(1, 1000), OverrideLimit::Smaller,
        "Maximum number of results if the request sets no limit.",
        "Lower it for agents with a small context.";
    "search.default_mode" "HIPPOD_SEARCH_DEFAULT_MODE" ValueKind::Choice(&["hybrid", "lexical", "vector", "index"]), OverrideLimit::Trusted,
        "Search mode if the request sets no mode: hybrid, lexical, vector or index.",
        "Set it to lexical if exact words matter more than meaning.";
    "search.timezone" "HIPPOD_SEARCH_TIMEZONE" ValueKind::Zone, OverrideLimit::Trusted,
        "IANA name of the time zone for dates such as \"yesterday\"; empty: the system's time zone.",
        "Set it if the daemon runs on a server in another time zone.";
    "index.enabled" "HIPPOD_INDEX_ENABLED" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Maintain HIPPOCAMPUS.md and the files below .hippocampus/.",
        "Switch it off to search a folder without writing to the folder.";
    "index.max_tokens" "HIPPOD_INDEX_MAX_TOKENS" ValueKind::Whole(500, 1_000_000), OverrideLimit::Smaller,
        "Maximum size of HIPPOCAMPUS.md (tokens, estimated as bytes / 4); entries that do not fit are written below \
         .hippocampus/.",
        "Lower it if the agent has a small context and reads all of HIPPOCAMPUS.md.";
    "index.tokens_per_file" "HIPPOD_INDEX_TOKENS_PER_FILE" ValueKind::Whole(0, 100_000), OverrideLimit::SmallerNot0,
        "Also limits HIPPOCAMPUS.md to this many tokens for each memory file; the number of files is rounded \
         up to a multiple of ten; 0: only max_tokens applies.",
        "Set it to 0 for a memory that consists of a few long files.";
    "index.max_entries" "HIPPOD_INDEX_MAX_ENTRIES" ValueKind::Whole(1, 100_000), OverrideLimit::Smaller,
        "Maximum number of entries in HIPPOCAMPUS.md if it has no room for all entries.",
        "Lower it if the agent should see fewer topics.";
    "index.merge_above" "HIPPOD_INDEX_MERGE_ABOVE" ValueKind::Share, OverrideLimit::Larger,
        "Minimum similarity at which two entries are merged (cosine, 0 to 1).",
        "Raise it if the deep cycle merges entries that you want to keep separate.";
    "cycles.light" "HIPPOD_CYCLES_LIGHT" ValueKind::Cron, OverrideLimit::Word(&[""]),
        "Schedule of light cycles: minute, hour, day, month and weekday in local time; empty: only on request.",
        "Change it if hourly updates of the index file disturb your commits.";
    "cycles.deep" "HIPPOD_CYCLES_DEEP" ValueKind::Cron, OverrideLimit::Word(&[""]),
        "Schedule of deep cycles.",
        "Change it if the machine is off or busy at night.";
    "cycles.archival" "HIPPOD_CYCLES_ARCHIVAL" ValueKind::Cron, OverrideLimit::Word(&[""]),
        "Schedule on which hippod checks whether an archival cycle is due; archival cycles run at most every \
         28 days.",
        "Change it to use another weekday; set it to an empty string to keep all entries out of the archive.";
    "context.worth_tokens" "HIPPOD_CONTEXT_WORTH_TOKENS" ValueKind::Whole(0, 1_000_000), OverrideLimit::Trusted,
        "Minimum size of a tool result that becomes an entry (tokens, estimated as bytes / 4).",
        "Lower it for agents with a small context.";
    "context.budget_mb" "HIPPOD_CONTEXT_BUDGET_MB" ValueKind::Whole(1, 1_000_000), OverrideLimit::Smaller,
        "Maximum disk space for the contents of sessions (MiB, compressed); when it is used up, contents of \
         closed sessions are removed first.",
        "Lower it on a small disk.";
    "context.keep_days" "HIPPOD_CONTEXT_KEEP_DAYS" ValueKind::Whole(1, 36_500), OverrideLimit::Smaller,
        "Time for which contents of closed sessions are kept after their last use (days).",
        "Lower it if tool results must not be stored for months.";
    "context.render_tokens" "HIPPOD_CONTEXT_RENDER_TOKENS" ValueKind::Whole(100, 1_000_000), OverrideLimit::Smaller,
        "Maximum size of a rendered section if the request sets no budget (tokens).",
        "Lower it for agents with a small context.";
    "context.threshold" "HIPPOD_CONTEXT_THRESHOLD" ValueKind::Share, OverrideLimit::Trusted,
        "A turn includes a deep cycle if the agent's context has reached this share of its limit (0 to 1).",
        "Lower it if the harness compacts the context before the context is 80 % full.";
    "context.store_secrets" "HIPPOD_CONTEXT_STORE_SECRETS" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Store contents that contain a secret, in files that only your user can read; if off, store only the \
         entry.",
        "Switch it off if secrets must not be written to disk.";
    "context.persist_to_memory_md" "HIPPOD_CONTEXT_PERSIST_TO_MEMORY_MD" ValueKind::Bool, OverrideLimit::Word(&["false"]),
        "Also write the lasting entries of a closed session to MEMORY.md, between markers; the daily log \
         contains these entries in any case.",
        "Switch it on for agents that read only MEMORY.md.";
    "tree.keep" "HIPPOD_TREE_KEEP" ValueKind::Choice(&["auto", "always", "never"]), OverrideLimit::Word(&["never"]),
        "When to update the compaction tree after cycles: auto (if memory/ROOT.md exists), always or never.",
        "Set it to never if another program maintains the tree.";
    "tree.root_max_tokens" "HIPPOD_TREE_ROOT_MAX_TOKENS" ValueKind::Whole(200, 1_000_000), OverrideLimit::Smaller,
        "Maximum size of memory/ROOT.md (tokens); compaction.rootMaxTokens in hipocampus.config.json takes \
         precedence.",
        "Change it to the number of tokens that ROOT.md may use in the prompt.";
    "tree.cooldown_hours" "HIPPOD_TREE_COOLDOWN_HOURS" ValueKind::Whole(0, 8_760), OverrideLimit::Larger,
        "Minimum time between two updates of the tree that hooks and heartbeats request (hours); an update \
         runs earlier if the logs have grown enough; compaction.cooldownHours in hipocampus.config.json \
         takes precedence.",
        "Raise it if summaries cost money.";
    "tree.summaries" "HIPPOD_TREE_SUMMARIES" ValueKind::Choice(&["off", "agent", "command"]), OverrideLimit::Word(&["off"]),
        "Author of the summaries of days, weeks and months: agent (at heartbeats), command (the program in \
         tree.command) or off (hippod extracts lines instead).",
        "Change it if a language model should write the summaries.";
    "tree.command" "HIPPOD_TREE_COMMAND" ValueKind::Words, OverrideLimit::Never,
        "Program that writes a summary, with its arguments; the program reads a job as JSON from standard \
         input and prints the summary.",
        "Set it if summaries = \"command\".";
    "tree.command_timeout_secs" "HIPPOD_TREE_COMMAND_TIMEOUT_SECS" ValueKind::Whole(1, 86_400), OverrideLimit::Never,
        "Time after which the program is stopped (seconds).",
        "Raise it for a slow local model.";
    "tree.command_daily_jobs" "HIPPOD_TREE_COMMAND_DAILY_JOBS" ValueKind::Whole(0, 100_000), OverrideLimit::Never,
        "Maximum number of summaries that the program writes per day and workspace.",
        "Lower it if each summary costs money.";
    "decay.profile" "HIPPOD_DECAY_PROFILE" ValueKind::Choice(&["protocol", "tuned"]), OverrideLimit::Trusted,
        "Constants of the decay curve: protocol (those of the hippocampus.md protocol) or tuned (see \
         docs/simulation.md).",
        "Set it to tuned if rarely used entries fade too early.";
    "server.max_connections" "HIPPOD_SERVER_MAX_CONNECTIONS" ValueKind::Whole(1, 65_536), OverrideLimit::Never,
        "Maximum number of simultaneous connections.",
        "Raise it if hundreds of agents share one daemon.";
    "server.max_line_bytes" "HIPPOD_SERVER_MAX_LINE_BYTES" ValueKind::Whole(1024, 16 << 20), OverrideLimit::Never,
        "Maximum size of a request and of a response (bytes).",
        "Lower it to limit the memory that one request can use on a small machine.";
    "log.level" "HIPPOD_LOG_LEVEL" ValueKind::Choice(&["error", "warn", "info", "debug", "trace"]), OverrideLimit::Never,
        "Lowest level to log: error, warn, info, debug or trace. No level logs text of the memory.",
        "Set it to debug to see every request.";
    "log.format" "HIPPOD_LOG_FORMAT" ValueKind::Choice(&["text", "json"]), OverrideLimit::Never,
        "Format of the log lines: text, or json (timestamp, level, target, fields, span).",
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
