//! Table of all keys.

use super::ConfigKey;
use super::OverrideLimit::{self, Fewer, More, Never, Smaller, SmallerNot0, Trusted, Word};
use super::ValueKind::{
    self, Agents, Bool, Choice, Cron, Globs, Name, ServerUrl, Team, Text, Texts, Whole, Zone,
};

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
        "Globs of additional memory files, relative to the workspace. Set this to index files that are not markdown."),
    key("sources.exclude", "[]", Globs, More,
        "Globs of files that are never memory files. Set this to hide drafts or generated files."),
    key("sources.max_file_bytes", "16777216", Whole(1, 1 << 30), Never,
        "Maximum size of a memory file in bytes. hippod skips larger files and reports them. Raise it for large \
         logs."),
    key("scopes.private", "[\"agents/{agent}/**\"]", Agents, More,
        "Globs of the files that are private to an agent; {agent} matches the id of the agent. Add a glob if your \
         agents keep their own files elsewhere."),
    key("sessions.search", "false", Bool, Word(&["false"]),
        "Search the transcripts that agents leave in their own folders, if the sessions ran in this workspace. Set it \
         to true if your agent should remember why something was decided."),
    key("watch.quiet_ms", "300", Whole(0, MINUTE_MS), Never,
        "Milliseconds without a further change after which hippod reads a changed file. Raise it if a program \
         writes a file in many steps."),
    key("watch.reconcile_secs", "300", Whole(1, DAY_SECS), Never,
        "Seconds between two comparisons of the files with the index, and between two self-tests of the file \
         watcher, which write a small file. Raise it for slow network drives."),
    key("watch.poll", "\"auto\"", Choice(&["auto", "always"]), Never,
        "When hippod polls the files for changes: always, or auto (only if the system sends no file events). Set \
         it to always if hippod notices edits on a network drive late."),
    key("watch.poll_secs", "2", Whole(1, 3600), Never,
        "Seconds between two polls of the files. Raise it for slow network drives."),
    key("watch.delete_confirm_ms", "1500", Whole(0, 60 * MINUTE_MS), Never,
        "Milliseconds after which a missing file counts as deleted. Raise it if a sync program removes files and \
         writes them again."),
    key("embed.enabled", "true", Bool, Never,
        "Search by meaning, not only by keyword. Set it to false on a machine with little memory."),
    key("embed.model", "\"minilm-l6-dialogue-int8\"", Name, Trusted,
        "Name of the embedding model; `hippoctl model list` prints the names. Change it after \
         `hippoctl model import`."),
    key("embed.threads", "2", Whole(1, 256), Never,
        "Maximum number of threads that the embedding model uses. Raise it to index a large memory faster."),
    key("embed.idle_unload_secs", "600", Whole(1, 7 * DAY_SECS), Never,
        "Seconds without use after which hippod unloads the embedding model. Raise it if the first search after \
         a pause is slow."),
    key("search.limit", "10", Whole(1, 1000), Smaller,
        "Maximum number of results of a search that sets no limit. Lower it for agents with a small context."),
    key("search.default_mode", "\"hybrid\"", Choice(&["hybrid", "lexical", "vector", "index"]), Trusted,
        "Mode of a search that sets no mode: hybrid, lexical, vector or index. Set it to lexical if exact words \
         matter more than meaning."),
    key("search.timezone", "\"\"", Zone, Trusted,
        "IANA name of the time zone for dates such as \"yesterday\"; empty: the system's time zone. Set it if \
         the daemon runs in another time zone than you."),
    key("recall.enabled", "true", Bool, Word(&["false"]),
        "Answer `recall`: add passages of the memory to a prompt that concerns them. Set it to false if only \
         searches should read the memory."),
    key("recall.log_questions", "2000", Whole(0, 100_000), Smaller,
        "Number of questions that the recall log of a workspace keeps; 0: no log. The log contains no secrets and no \
         passages. Set it to 0 if hippod should not store questions."),
    key("recall.log_days", "30", Whole(1, 3650), Smaller,
        "Days for which the recall log keeps a question. Lower it to forget questions sooner."),
    key("index.enabled", "true", Bool, Word(&["false"]),
        "Maintain HIPPOCAMPUS.md and the files below .hippocampus/. Set it to false to search without a map."),
    key("index.max_tokens", "15000", Whole(500, 1_000_000), Smaller,
        "Maximum size of HIPPOCAMPUS.md in tokens, estimated as bytes / 4. Lower it for agents with a small \
         context."),
    key("index.tokens_per_file", "70", Whole(0, 100_000), SmallerNot0,
        "Another maximum size of HIPPOCAMPUS.md: this number of tokens times the number of memory files, rounded up \
         to a multiple of ten; 0: no such limit. Set it to 0 if the workspace has few but long files."),
    key("index.max_entries", "200", Whole(1, 100_000), Smaller,
        "Maximum number of entries in HIPPOCAMPUS.md if not all entries fit. Lower it if the agent should see \
         fewer topics."),
    key("index.decay", "\"tuned\"", Choice(&["protocol", "tuned"]), Trusted,
        "Curve by which entries fade: tuned (see docs/simulation.md) or protocol. Set it to protocol if rarely \
         used entries should fade earlier."),
    key("cycles.light", "\"0 * * * *\"", Cron, Word(&[""]),
        "Schedule of light cycles: minute, hour, day, month, weekday in local time; empty: they run only on \
         request. Change it if hourly updates disturb your commits."),
    key("cycles.deep", "\"30 2 * * *\"", Cron, Word(&[""]),
        "Schedule of deep cycles, in the same form as cycles.light. Change it if the machine is off at night."),
    key("cycles.archival", "\"30 3 * * sun\"", Cron, Word(&[""]),
        "Schedule of archival cycles, in the same form as cycles.light; they run at most every 28 days. Change \
         it to use another weekday."),
    key("context.worth_tokens", "1000", Whole(0, 1_000_000), Trusted,
        "Size in tokens above which a tool result becomes a context entry. Lower it for agents with a small \
         context."),
    key("context.budget_mb", "1024", Whole(1, 1_000_000), Smaller,
        "Maximum disk space in MiB for the compressed contents of sessions. hippod first removes contents of \
         closed sessions. Lower it on a small disk."),
    key("context.keep_days", "90", Whole(1, 36_500), Smaller,
        "Days for which hippod keeps contents of closed sessions after their last use. Lower it to forget tool \
         results sooner."),
    key("context.store_secrets", "true", Bool, Word(&["false"]),
        "Store contents with secrets in files that only you can read; if false, store only their entries. Set it \
         to false if secrets must not be on disk."),
    key("context.earlier_sessions", "true", Bool, Word(&["false"]),
        "Let the words of a prompt bring back context entries of closed sessions of the same workspace. Set it to \
         false if each session should begin without them."),
    key("tree.keep", "\"auto\"", Choice(&["auto", "always", "never"]), Word(&["never"]),
        "When cycles update the compaction tree: always, never, or auto (only if memory/ROOT.md exists). Set it \
         to never if another program maintains the tree."),
    key("tree.root_max_tokens", "3000", Whole(200, 1_000_000), Smaller,
        "Maximum size of memory/ROOT.md in tokens; compaction.rootMaxTokens in hipocampus.config.json overrides \
         it. Lower it for agents with a small context."),
    key("tree.summaries", "\"off\"", Choice(&["off", "agent"]), Word(&["off"]),
        "Author of the summaries in the compaction tree: agent (your agent, at heartbeats) or off (hippod \
         selects sentences). Set it to agent if your agent should write the summaries."),
    key("share.postgres.url", "\"\"", ServerUrl, Never,
        "URL of a PostgreSQL database, without a password, such as postgres://ada@db.example/hippod; empty: no team. \
         Set it to share memory with a team (docs/team.md)."),
    key("share.postgres.team", "\"\"", Team, Never,
        "Name of the team. Set it to the name that the administrator gave to `hippoctl share init-db`."),
    key("share.postgres.workspaces", "[]", Texts, Never,
        "Folders of the workspaces that share with the team. Only these workspaces publish text to the server, and \
         only their searches ask the server."),
    key("share.postgres.publish", "true", Bool, Never,
        "Publish the text of these workspaces. Set it to false to search the memory of the team only."),
    key("share.postgres.password_file", "\"\"", Text, Never,
        "File whose first line is the password; only you may have access to it. Empty: no password from a file."),
    key("share.postgres.password_command", "[]", Texts, Never,
        "Command that prints the password, for example of a keyring: [\"secret-tool\", \"lookup\", \"service\", \
         \"hippod\"]. Set it instead of password_file."),
    key("share.postgres.ca_file", "\"\"", Text, Never,
        "PEM file with the certificates of the authorities that may sign the server's certificate; empty: the public \
         authorities. Set it if your company has its own authority."),
    key("share.postgres.budget_ms", "150", Whole(10, 10_000), Never,
        "Maximum time in milliseconds that a search waits for the server. A later answer is left out. Raise it for a \
         distant server."),
    key("log.level", "\"info\"", Choice(&["error", "warn", "info", "debug", "trace"]), Never,
        "Lowest level of the messages in the log: error, warn, info, debug or trace. Set it to debug to log \
         every request."),
];
