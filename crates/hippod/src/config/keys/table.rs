//! Table of all keys.

use super::ConfigKey;
use super::OverrideLimit::{self, Fewer, More, Never, Smaller, SmallerNot0, Trusted, Word};
use super::ValueKind::{self, Bool, Choice, Cron, Globs, Name, Whole, Zone};

const DAY_SECS: i64 = 86_400;
const MINUTE_MS: i64 = 60_000;

const fn key(
    name: &'static str,
    default: &'static str,
    kind: ValueKind,
    own: OverrideLimit,
    about: &'static str,
) -> ConfigKey {
    ConfigKey {
        name,
        default,
        kind,
        own,
        about,
    }
}

/// All keys, by section.
#[rustfmt::skip] // the table is read by columns
pub const KEYS: &[ConfigKey] = &[
    key("sources.include", "[]", Globs, Fewer,
        "Globs of additional memory files, relative to the workspace. Set it to index other notes."),
    key("sources.exclude", "[]", Globs, More,
        "Globs of files that are never memory. Set it to hide drafts or generated files."),
    key("sources.max_file_bytes", "16777216", Whole(1, 1 << 30), Never,
        "Maximum size of a memory file (bytes); larger files are reported. Raise it for large logs."),
    key("watch.quiet_ms", "300", Whole(0, MINUTE_MS), Never,
        "Time without further changes after which a changed file is read (milliseconds). Raise it if a program \
         writes a file in many steps."),
    key("watch.reconcile_secs", "300", Whole(1, DAY_SECS), Never,
        "Interval between comparisons of disk and index (seconds); also the interval between self-tests of the \
         watcher, which write a small file. Raise it for slow network drives."),
    key("watch.poll", "\"auto\"", Choice(&["auto", "always"]), Never,
        "When to poll the files: always, or auto (only if the system sends no file events). Set it to always if \
         edits on a network drive are noticed late."),
    key("watch.poll_secs", "2", Whole(1, 3600), Never,
        "Interval between two polls (seconds). Raise it for slow network drives."),
    key("watch.delete_confirm_ms", "1500", Whole(0, 60 * MINUTE_MS), Never,
        "Time after which a missing file counts as deleted (milliseconds). Raise it if a sync program removes \
         files and writes them again."),
    key("embed.enabled", "true", Bool, Never,
        "Search by meaning, not only by keyword. Switch it off on a machine with little memory."),
    key("embed.model", "\"all-minilm-l6-v2\"", Name, Trusted,
        "Name of the embedding model, from `hippoctl model list`. Set it after `hippoctl model import`."),
    key("embed.threads", "2", Whole(1, 256), Never,
        "Maximum number of threads that the model uses. Raise it to index a large memory faster."),
    key("embed.idle_unload_secs", "600", Whole(1, 7 * DAY_SECS), Never,
        "Idle time after which the model is unloaded (seconds). Raise it if the first search after a pause is \
         slow."),
    key("search.limit", "10", Whole(1, 1000), Smaller,
        "Maximum number of results if the request sets no limit. Lower it for small contexts."),
    key("search.default_mode", "\"hybrid\"", Choice(&["hybrid", "lexical", "vector", "index"]), Trusted,
        "Search mode if the request sets none: hybrid, lexical, vector or index. Set it to lexical if exact words \
         matter more than meaning."),
    key("search.timezone", "\"\"", Zone, Trusted,
        "IANA time zone for dates such as \"yesterday\"; empty: the system's. Set it if the daemon runs in \
         another time zone."),
    key("index.enabled", "true", Bool, Word(&["false"]),
        "Maintain HIPPOCAMPUS.md and the files below .hippocampus/. Switch it off to search without a map."),
    key("index.max_tokens", "15000", Whole(500, 1_000_000), Smaller,
        "Maximum size of HIPPOCAMPUS.md (tokens, estimated as bytes / 4). Lower it for small contexts."),
    key("index.tokens_per_file", "70", Whole(0, 100_000), SmallerNot0,
        "Additional limit for the size of HIPPOCAMPUS.md: this number of tokens times the number of memory files \
         (rounded up to a multiple of ten); 0: no such limit. Set it to 0 for a few long files."),
    key("index.max_entries", "200", Whole(1, 100_000), Smaller,
        "Maximum number of entries in HIPPOCAMPUS.md if there is no room for all. Lower it if the agent should \
         see fewer topics."),
    key("index.decay", "\"tuned\"", Choice(&["protocol", "tuned"]), Trusted,
        "Curve of decay: tuned (see docs/simulation.md) or protocol. Set it to protocol if rarely used entries \
         should fade earlier."),
    key("cycles.light", "\"0 * * * *\"", Cron, Word(&[""]),
        "Schedule of light cycles: minute, hour, day, month, weekday in local time; an empty value: only on request. \
         Change it if hourly updates disturb your commits."),
    key("cycles.deep", "\"30 2 * * *\"", Cron, Word(&[""]),
        "Schedule of deep cycles. Change it if the machine is off at night."),
    key("cycles.archival", "\"30 3 * * sun\"", Cron, Word(&[""]),
        "Schedule of archival cycles, which run at most every 28 days. Change it to use another weekday."),
    key("context.worth_tokens", "1000", Whole(0, 1_000_000), Trusted,
        "Minimum size of a tool result that becomes a context entry (tokens). Lower it for small contexts."),
    key("context.budget_mb", "1024", Whole(1, 1_000_000), Smaller,
        "Maximum disk space for contents of sessions (MiB, compressed); contents of closed sessions are removed \
         first. Lower it on a small disk."),
    key("context.keep_days", "90", Whole(1, 36_500), Smaller,
        "Time for which contents of closed sessions are kept after their last use (days). Lower it to forget tool \
         results sooner."),
    key("context.store_secrets", "true", Bool, Word(&["false"]),
        "Store contents that contain secrets, in a database that only you can read; if off, store only their \
         entries. Switch it off if secrets must not be on disk."),
    key("tree.keep", "\"auto\"", Choice(&["auto", "always", "never"]), Word(&["never"]),
        "Update the compaction tree after cycles: always, never, or auto (if memory/ROOT.md exists). Set it to \
         never if another program maintains the tree."),
    key("tree.root_max_tokens", "3000", Whole(200, 1_000_000), Smaller,
        "Maximum size of memory/ROOT.md (tokens); compaction.rootMaxTokens in hipocampus.config.json overrides \
         this value. Lower it for small contexts."),
    key("tree.summaries", "\"off\"", Choice(&["off", "agent"]), Word(&["off"]),
        "Author of the summaries in the compaction tree: agent (at heartbeats), or off (hippod selects \
         sentences). Set it to agent if your agent should write them."),
    key("log.level", "\"info\"", Choice(&["error", "warn", "info", "debug", "trace"]), Never,
        "Lowest level to log: error, warn, info, debug or trace. Set it to debug to log every request."),
];
