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

    #: For a duplicate, the beginning of its text; for a contradicted line, the beginnings of that line and of the line that contradicts it. Secrets are redacted, and lines that read like an instruction are omitted.
    quotes: NotRequired[list[str]]

    #: The reason: the location of the other match, the kind of secret, or the name of a rule.
    why: str


class AuditFinding(TypedDict):
    """The count for one kind of finding."""

    #: Number of matches.
    count: int

    #: The first matches, sorted by path and line.
    examples: list[AuditExample]

    #: The kind of finding.
    kind: AuditKind

    #: Number of chunks, entries or lines that were checked.
    of: int

    #: `count` divided by `of`, 0 to 1; 0 if `of` is 0.
    share: float


#: The kind of a finding.
AuditKind: TypeAlias = Literal["duplicate", "stale", "contradicted", "secret-bearing", "instruction-like"]


class AuditRequest(TypedDict):
    """Parameters of `audit`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Examples per finding; default 5, at most `MAX_EXAMPLES`.
    examples: NotRequired[int | None]

    #: Path of a workspace, or of anything below it.
    workspace: str


class AuditResponse(TypedDict):
    """Answer to `audit`."""

    #: Time of the audit, RFC 3339.
    at: str

    #: Watched files that were read.
    files: int

    #: One finding of each kind, always in the order of the kinds.
    findings: list[AuditFinding]

    #: Duration in milliseconds.
    took_ms: float

    #: Unreadable watched files, which are not included in the numbers.
    unread: int


class BackedUp(TypedDict):
    """One workspace in a backup."""

    #: Unpacked size of all files of the workspace in the backup, in bytes.
    bytes: int

    #: Number of files of the workspace.
    files: int

    #: Files of the workspace that the backup does not contain, with reasons.
    left_out: NotRequired[list[LeftOut]]

    #: Canonical root of the workspace when the backup was made.
    root: str


class BackupRequest(TypedDict):
    """Parameters of `backup`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Absolute path of the file to write, which must not exist.
    to: str

    #: Absolute path of the workspace or of anything below it; default: all workspaces.
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

    #: Workspaces that a backup of all workspaces had to omit; the paths are their roots.
    left_out: NotRequired[list[LeftOut]]

    #: Duration in milliseconds.
    took_ms: float

    #: Workspaces that the backup contains.
    workspaces: list[BackedUp]


#: Parameters of `backup.verify`.
BackupVerifyRequest = TypedDict(
    "BackupVerifyRequest",
    {
        # The agent that asks. The answer then also contains the texts that only this agent may read.
        "agent": "NotRequired[str | None]",
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

    #: Number of messages shortened to a line.
    compressed: int

    #: Number of messages that do not fit into the summary. `rest` is the id of their list.
    dropped: int

    #: Number of messages before an earlier compaction. The summary of that compaction represents them.
    folded: int

    #: The detected format; null if no format was detected.
    format: TranscriptFormat | None

    #: Number of messages kept in full.
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

    #: Number of messages reduced to a pointer.
    sparse: int

    #: Number of contents newly stored in the workspace; absent without a workspace.
    stored: NotRequired[int]

    #: Tokens of the summary.
    tokens_after: int

    #: Tokens of the messages.
    tokens_before: int


class ContextCloseRequest(TypedDict):
    """Parameters of `context.close`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Id of a session.
    session: str


class ContextCloseResponse(TypedDict):
    """Answer to `context.close`."""

    #: True if the session was already closed, so that the request had no effect.
    already: NotRequired[bool]

    #: Time of closing, RFC 3339.
    closed_at: str

    #: Number of the session's entries. Entries and contents are kept as long as the budget allows.
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

    #: Decay rate per turn since the last access; at least 0.
    rate: float


#: How a context entry was created: manually or automatically.
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

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Id of an entry or of content. The id of content is `b3:` and at least 12 hexadecimal digits, or the id in a summary of `session.compact`.
    id: str

    #: Id of the session that requests the content. The fetch counts as an access to its entry.
    session: NotRequired[str | None]


#: Answer to `context.fetch`.
ContextFetchResponse = TypedDict(
    "ContextFetchResponse",
    {
        # The content; only for the outcome `full`.
        "content": "NotRequired[str]",
        # The entry after this access; absent if the id does not belong to an entry.
        "entry": "NotRequired[ContextEntry]",
        # Origin of the text: the store, the source, or the summary; null if there is no text.
        "from": "FetchOrigin | None",
        # Outcome of the fetch: the full content, a part, or nothing.
        "outcome": "FetchOutcome",
        # The reason why the content is incomplete or has changed; absent if it is complete and unchanged.
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


#: Kind of content of a context entry.
ContextKind: TypeAlias = Literal["tool_result", "message", "state", "memory"]


class ContextLifecycle(TypedDict):
    """Creation and expiry of an entry."""

    #: The turn of creation.
    created: int

    #: The turn from which the entry is expired, whatever its strength; absent if it does not expire.
    expires: NotRequired[int]

    #: True if the entry is written to long-term memory when its session closes.
    persist: bool


class ContextListRequest(TypedDict):
    """Parameters of `context.list`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Turn for which the strengths are computed; default: the highest turn. Requires `session`.
    at_turn: NotRequired[int | None]

    #: Maximum number of results, 1 to 10000; default 10000.
    limit: NotRequired[int | None]

    #: List the entries of this session; without it, list sessions.
    session: NotRequired[str | None]

    #: Return only sessions of this workspace.
    workspace: NotRequired[str | None]


class ContextListResponse(TypedDict):
    """Answer to `context.list`: `sessions`, or `entries` and `turn`."""

    #: Entries, strongest first, then newest first; absent if no session was named.
    entries: NotRequired[list[ContextListed]]

    #: Sessions, last used first; absent if a session was named.
    sessions: NotRequired[list[ContextSession]]

    #: Number of results that exist, regardless of `limit`.
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

    #: The agent that owns the session. If it is the id of an agent, requests of other agents do not find the session.
    agent: NotRequired[str | None]

    #: Id of the session. If an open session has this id, it is resumed. By default, the daemon creates an id.
    session: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class ContextOpenResponse(TypedDict):
    """Answer to `context.open`."""

    #: Number of entries.
    entries: int

    #: True if the session existed before.
    resumed: bool

    #: Id of the session, unique across all workspaces.
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
    """Lifetime of the new entry."""

    #: The first turn in which the entry is no longer in the context; must be after the turn of the request.
    expires: NotRequired[int | None]

    #: True to write the entry to long-term memory when the session closes.
    persist: NotRequired[bool | None]


class ContextPutModifiers(TypedDict):
    """Factors that slow or speed up the decay of the new entry."""

    #: Ids of related entries; unknown ids are ignored.
    associations: NotRequired[list[str] | None]

    #: Kind of creation: `manual` if the agent creates the entry deliberately.
    encoding: NotRequired[ContextEncoding | None]

    #: The importance of the entry.
    priority: NotRequired[ContextPriority | None]


#: The result of `context.put`.
ContextPutOutcome: TypeAlias = Literal["entry", "passed", "known", "dropped"]


class ContextPutRequest(TypedDict):
    """Parameters of `context.put`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: The whole content, at most 8388608 bytes.
    content: str

    #: True if the content reports a failure. Such content gets an entry even if it is small.
    error: NotRequired[bool]

    #: Values that are likely to be needed again; by default they are extracted from the content.
    key_data: NotRequired[dict[str, Any] | None]

    #: Lifetime of the entry. The policies set the values that are absent.
    lifecycle: NotRequired[ContextPutLifecycle | None]

    #: Factors of the entry's decay. The policies set the factors that are absent.
    modifiers: NotRequired[ContextPutModifiers | None]

    #: Id of an open session.
    session: str

    #: The source of the content.
    source: ContextPutSource

    #: Summary in a few lines; by default it is extracted from the content.
    summary: NotRequired[str | None]

    #: The turn in which the content was created.
    turn: int

    #: The kind of content.
    type: ContextKind


class ContextPutResponse(TypedDict):
    """Answer to `context.put`. The reported changes are stored durably."""

    #: `b3:` and the BLAKE3 hash of the content, 64 hexadecimal digits; absent if the content is not stored.
    content_id: NotRequired[str]

    #: The entry of the content; null if it has none.
    entry: ContextEntry | None

    #: Size of the entry in a prompt, in tokens; 0 without an entry.
    entry_tokens: int

    #: Notes, such as an unusable policy file.
    notes: NotRequired[list[str]]

    #: The result.
    outcome: ContextPutOutcome

    #: The reason for the outcome, as text.
    reason: NotRequired[str]

    #: Location of the policy rule that decided, such as `line 4`; absent if no rule did.
    rule: NotRequired[str]

    #: Size of the content in tokens.
    tokens: int


class ContextPutSource(TypedDict):
    """The source of content."""

    #: The place that the content is from: a path, a command or an address; may be empty.
    ref: str

    #: Method that created the content and can create it again, for example `browser.snapshot`, `file` or `exec`.
    type: str


class ContextRenderRequest(TypedDict):
    """Parameters of `context.render`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Maximum size of the section in tokens, at least 1; default 5000.
    budget_tokens: NotRequired[int | None]

    #: Description of the agent's next step. Dormant entries that match it are reactivated. Matching entries of earlier sessions are added.
    cue: NotRequired[str | None]

    #: Id of a session.
    session: str


class ContextRenderResponse(TypedDict):
    """Answer to `context.render`."""

    #: Number of dormant or expired entries.
    dormant: int

    #: The entries in the section, in order.
    entries: list[ContextShown]

    #: Number of active entries that do not fit into the budget.
    left_out: int

    #: The section with its start and end markers; empty if there is nothing to show.
    markdown: str

    #: Notes about this answer.
    notes: NotRequired[list[str]]

    #: Size in tokens of all contents that can be fetched.
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

    #: Time of the last use, RFC 3339.
    used: str

    #: Canonical root of its workspace.
    workspace: str


class ContextShown(TypedDict):
    """An entry in a rendered section."""

    #: Id of the closed session that the entry belongs to, if the entry is from an earlier session.
    earlier_session: NotRequired[str]

    #: Id with which a client fetches the content of the entry.
    id: str

    #: Values that are likely to be needed again.
    key_data: NotRequired[dict[str, Any]]

    #: The source of the content.
    source: ContextSource

    #: Current strength, 0 to 1.
    strength: float

    #: Summary in one to a few lines.
    summary: str

    #: Estimated number of tokens of the entry as markdown.
    tokens: int

    #: The kind of content.
    type: ContextKind


class ContextSource(TypedDict):
    """The source of an entry's content."""

    #: The origin: a path, a command, an address; may be empty.
    ref: str

    #: True if the content can be fetched again.
    retrievable: bool

    #: True if the source has changed or disappeared since the capture, so the entry may be outdated.
    stale: NotRequired[bool]

    #: The turn in which the content was captured.
    turn: int

    #: How the content was created and can be created again: `browser.snapshot`, `file`, `exec`.
    type: str


#: State of a context entry in a turn.
ContextState: TypeAlias = Literal["active", "dormant", "expired"]


class ContextTouchRequest(TypedDict):
    """Parameters of `context.touch`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Id of an entry in the session.
    id: str

    #: Id of an open session.
    session: str

    #: The turn in which the entry was accessed; default: the highest turn of the session.
    turn: NotRequired[int | None]


class ContextTouchResponse(TypedDict):
    """Answer to `context.touch`."""

    #: The entry after this access.
    entry: ContextEntry


class ContextTurnRequest(TypedDict):
    """Parameters of `context.turn`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Size of the agent's context window in tokens, at least 1.
    context_limit: NotRequired[int | None]

    #: Number of tokens in the agent's context now; requires `context_limit`.
    context_tokens: NotRequired[int | None]

    #: Id of an open session.
    session: str

    #: Number of the completed turn.
    turn: int


class ContextTurnResponse(TypedDict):
    """Answer to `context.turn`."""

    #: Number of entries in the context.
    active: int

    #: The cycle that ran on the session's entries: `light` or `deep`.
    cycle: Cycle

    #: Number of entries that left the context because their strength is below 0.1.
    dormant: int

    #: Number of expired entries.
    expired: int

    #: Entries whose state changed.
    moved: list[ContextMove]

    #: A note, for example that the turn is lower than an earlier one.
    note: NotRequired[str]

    #: Size of all active entries in a prompt, in tokens.
    tokens: int

    #: The highest turn so far, which is the current turn.
    turn: int


class ContextsStatus(TypedDict):
    """Stored contents of a workspace's sessions."""

    #: Maximum size of all contents after compression, in bytes.
    budget_bytes: int

    #: Number of distinct stored contents.
    contents: int

    #: Number of context entries.
    entries: int

    #: Time at which the oldest content was stored, RFC 3339; null without contents.
    oldest: str | None

    #: Number of open sessions.
    open: int

    #: Size of all contents before compression, in bytes.
    raw_bytes: int

    #: Number of sessions, including closed ones.
    sessions: int

    #: Size of all contents after compression, in bytes.
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

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

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
    """A change that the run did not make, because a rule forbids it."""

    #: Ids of the entries that would have changed.
    entries: list[str]

    #: The reason, as text.
    reason: str

    #: The rule that forbids the change, in kebab-case.
    rule: str


class CycleReport(TypedDict):
    """Answer to `cycle.run`: the report of one run."""

    #: Number of applied steps.
    applied: int

    #: Time that the cycle used as the current time, RFC 3339.
    at: str

    #: The cycle that ran.
    cycle: Cycle

    #: Files that the run wrote, relative to the workspace.
    files: list[str]

    #: Findings for the user to review; the run did not act on them.
    findings: list[CycleFinding]

    #: Statistics of the entries; null if this cycle does not compute them.
    health: IndexHealth | None

    #: Notes about this run.
    notes: NotRequired[list[str]]

    #: The outcome of the run.
    outcome: CycleOutcome

    #: The planned steps, in order.
    plan: list[CycleStep]

    #: Changes that the run did not make, because a rule forbids them.
    refused: list[CycleRefusal]

    #: Number of the run in the workspace, which `cycle.undo` accepts; null for a dry run.
    run: int | None

    #: Duration in the daemon, in milliseconds.
    took_ms: float

    #: The update of the compaction tree after the run; absent without a tree and after an archival cycle.
    tree: NotRequired[TreeCompactResponse]


class CycleRun(TypedDict):
    """Summary of one run."""

    #: The cycle that ran.
    cycle: Cycle

    #: Number of entries that the run moved to the Decay Queue or the archive.
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

    #: Time at which the run was undone, RFC 3339; null if it was not undone.
    undone: str | None


class CycleRunRequest(TypedDict):
    """Parameters of `cycle.run`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Time that the cycle uses as the current time, RFC 3339 or `YYYY-MM-DD`; default: the current time.
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

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: The run to undo.
    run: int

    #: Path of the workspace, or of anything below it.
    workspace: str


class CycleUndoResponse(TypedDict):
    """Answer to `cycle.undo`."""

    #: Files that the undo wrote, relative to the workspace.
    files: list[str]

    #: Notes, for example on entries that are kept, and on changes that the next cycle will make again.
    notes: NotRequired[list[str]]

    #: Number of the run.
    run: int

    #: Number of undone changes; 0 if the run was already undone or has nothing to undo.
    undone: int

    #: True if the run was already undone.
    undone_before: NotRequired[bool]


class DiskStatus(TypedDict):
    """Number of files on disk and in the index, when the daemon last compared them."""

    #: Watched files on disk.
    files: int

    #: Files in the index.
    indexed_files: int


class DoctorRequest(TypedDict):
    """Parameters of `doctor`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

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

    #: All checks that were made.
    checks: list[Check]

    #: With `fix`, the applied fixes; with `dry_run`, the planned ones. A failed fix is also listed as a problem.
    fixed: NotRequired[list[Fixed]]

    #: Problems, worst first; empty if none was found.
    problems: list[Problem]


#: Creator of an entry (`src` in the index file).
EntryOrigin: TypeAlias = Literal["defrag", "manual", "retrieval", "auto"]


#: Place of an entry.
EntryPlace: TypeAlias = Literal["index", "queue", "archive"]


#: Resistance of an entry to decay.
EntryPriority: TypeAlias = Literal["amygdala", "high", "normal", "low"]


class ErrorData(TypedDict):
    """The `data` member of an error."""

    #: The fix for the error, as text; may be empty.
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

    #: The meaning of the state and how to fix it, as text.
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

    #: Number of the run, which is unique in the workspace.
    run: int

    #: Canonical root of the workspace.
    workspace: str


#: Parameters of an `event` notification: `{"event":"indexed", …}`.
Event: TypeAlias = "EventIndexed | EventDegraded | EventJob | EventCycle"


#: The events of a subscription.
EventName: TypeAlias = Literal["indexed", "degraded", "job", "cycle"]


class ExplainedPassage(TypedDict):
    """Why a passage was found, or not."""

    #: Sentences that explain the outcome.
    because: list[str]

    #: The change that would find the passage.
    change: str | None

    #: Last line, inclusive.
    end_line: int

    #: `given` if the passage is in the answer. Otherwise the reason why not: `no-file`, `not-indexed`, `no-text`, `no-match`, `below-limit`, `equal-text`, or a reason of the recall log; newer daemons may have others.
    outcome: str

    #: Path relative to the workspace, with `/`.
    path: str

    #: Position among the results, 1-based; null if the passage is not among them.
    rank: int | None

    #: Relevance, 0 to 1; null if the passage does not match.
    score: float | None

    #: First line, 1-based.
    start_line: int


#: Origin of fetched content.
FetchOrigin: TypeAlias = Literal["store", "source", "summary"]


#: Completeness of fetched content.
FetchOutcome: TypeAlias = Literal["full", "partial", "unavailable"]


class Fixed(TypedDict):
    """A fix by `doctor`."""

    #: The reason why the fix failed; absent if it succeeded.
    failed: NotRequired[str]

    #: The kind of the fixed problem, in kebab-case.
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


#: Parameters of `get`: `{workspace, path, section?, from?, count?}` or `{workspace?, id}`, with `peek?`.
GetRequest = TypedDict(
    "GetRequest",
    {
        # The agent that asks. The answer then also contains the texts that only this agent may read.
        "agent": "NotRequired[str | None]",
        # Maximum number of lines, at least 1.
        "count": "NotRequired[int | None]",
        # First line to return, 1-based; counted from the start of the section if one is given, otherwise of the file.
        "from": "NotRequired[int | None]",
        # Id of a search result; cannot be combined with `path`, `section`, `from` and `count`.
        "id": "NotRequired[str | None]",
        # Path of a document, relative to the workspace.
        "path": "NotRequired[str | None]",
        # True if the request is not an access of the entry that points to the text, because a person looks at the memory.
        "peek": "NotRequired[bool]",
        # Heading of a section, or a part of the heading; case is ignored.
        "section": "NotRequired[str | None]",
        # Path of the workspace, or of anything below it; required with `path`.
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

    #: The text, as it is on disk now.
    text: str

    #: Number of lines of the whole file.
    total_lines: int

    #: True if the requested text continues after `end_line`.
    truncated: bool


class HeartbeatRequest(TypedDict):
    """Parameters of `heartbeat`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class HeartbeatResponse(TypedDict):
    """Answer to `heartbeat`, sent after the due cycles have run."""

    #: The next run of each cycle, earliest first.
    next: list[NextCycle]

    #: Tasks for the agent or its user.
    pending: list[Pending]

    #: The cycles that ran because they were due, in order.
    ran: list[CycleRun]


class HelloRequest(TypedDict):
    """Parameters of `hello`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Name and version of the client as `name/version`, for the log.
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
    """Parameters of `index.edit`. Absent fields stay unchanged; at least one field to change is required."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Id of the entry.
    id: str

    #: True to stop the decay of the entry, false to restore its former priority. Not allowed together with `priority`.
    pinned: NotRequired[bool | None]

    #: New pointers to the sources, most important first; they replace all pointers.
    pointers: NotRequired[list[PointerInput] | None]

    #: Resistance to decay.
    priority: NotRequired[EntryPriority | None]

    #: New summary; an empty text removes the summary.
    summary: NotRequired[str | None]

    #: New tags, which replace all tags; an empty list removes them.
    tags: NotRequired[list[str] | None]

    #: New heading of the entry; must not be empty.
    topic: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexEditResponse(TypedDict):
    """Answer to `index.edit`."""

    #: The changed entry.
    entry: IndexEntry


class IndexEntry(TypedDict):
    """One entry of the index file."""

    #: Time of the last access, RFC 3339; before the first access, the time of creation.
    accessed: str

    #: The band of the entry's strength.
    band: StrengthBand

    #: Time of creation, RFC 3339.
    created: str

    #: The group in the index file; may be empty.
    group: str

    #: Number of accesses.
    hits: int

    #: Id in the workspace; it never changes.
    id: str

    #: Creator of the entry: a cycle, a user or agent, a search, or the scan of a file.
    origin: EntryOrigin

    #: Place of the entry: the index file, its Decay Queue, or the archive.
    place: EntryPlace

    #: Pointers to the sources of the entry, most important first.
    pointers: list[Pointer]

    #: Resistance to decay.
    priority: EntryPriority

    #: Ids of related entries.
    related: list[str]

    #: The scope of the entry: `private:` and the id of the agent. Absent for an entry that all agents may read.
    scope: NotRequired[str]

    #: Strength at the requested time, 0 to 1.
    strength: float

    #: Summary in one line; may be empty.
    summary: str

    #: Keywords.
    tags: list[str]

    #: The topic, which is the heading of the entry in the index file.
    topic: str

    #: Number of the entry's version, from 1.
    version: int


class IndexForecast(TypedDict):
    """A future event of an entry that is not accessed again."""

    #: Time, RFC 3339; null if the event never happens.
    at: str | None

    #: The new band, as in `StrengthBand`, or another event in kebab-case (`archive`).
    event: str


class IndexForgetRequest(TypedDict):
    """Parameters of `index.forget`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

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

    #: Number of entries of priority `amygdala`, which do not decay.
    amygdala: int

    #: Number of entries in the archive, which are not in the index file.
    archived: int

    #: Number of entries by band, as in `StrengthBand`.
    bands: dict[str, int]

    #: Number of entries by group.
    groups: dict[str, int]

    #: Number of entries in the index file and its topic files, without those in the Decay Queue.
    live: int

    #: Mean strength, 0 to 1, of the entries that `live` counts.
    mean_strength: float

    #: Number of entries in the Decay Queue.
    queued: int

    #: Number of entries without related entries.
    unlinked: int


class IndexListRequest(TypedDict):
    """Parameters of `index.list`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Include archived and forgotten entries.
    archived: NotRequired[bool]

    #: Time for which the strengths are computed, RFC 3339 or `YYYY-MM-DD`; entries that were created later are omitted. Default: now.
    at: NotRequired[str | None]

    #: Maximum number of entries, 1 to 10000; default 10000.
    limit: NotRequired[int | None]

    #: Return only the entries of the files that only the agent of the request may read.
    private: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexListResponse(TypedDict):
    """Answer to `index.list`."""

    #: Entries, strongest first, then by id.
    entries: list[IndexEntry]

    #: Notes about this answer, such as the method of counting tokens.
    notes: NotRequired[list[str]]

    #: Size of the index file in tokens.
    tokens: int

    #: Number of entries that exist, regardless of `limit`.
    total: int


class IndexRestoreRequest(TypedDict):
    """Parameters of `index.restore`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

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

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Time for which the strength is computed, RFC 3339 or `YYYY-MM-DD`; default: now.
    at: NotRequired[str | None]

    #: Id of the entry.
    id: str

    #: Path of the workspace, or of anything below it.
    workspace: str


class IndexShowResponse(TypedDict):
    """Answer to `index.show`."""

    #: Time at which the entry was removed or archived, RFC 3339; absent if the entry is not in the archive.
    archived: NotRequired[str]

    #: Strength right after the last access, 0 to 1. The decay starts from this value.
    base_strength: float

    #: The formula of the strength, with the numbers of this entry, as text.
    curve: str

    #: The entry.
    entry: IndexEntry

    #: The file that contains the entry, relative to the workspace; absent if the entry is in no file.
    file: NotRequired[str]

    #: Future events of the entry if it is not accessed again, earliest first.
    forecast: list[IndexForecast]

    #: Factors of the entry's decay curve, as text.
    modifiers: list[str]

    #: The rule that set the priority; null if no rule did.
    priority_rule: str | None

    #: Sources that no longer exist, as `path` or `path §section`.
    stale: list[str]


class IndexState(TypedDict):
    """The state of the index at the time of an answer."""

    #: The missing part as one kebab-case word, for example `no-model`; null if no part is missing.
    degraded: str | None

    #: Counter of changes: each change of the searchable text increases the number.
    generation: int

    #: Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable.
    lag_ms: int

    #: Number of files to index plus number of chunks without a vector.
    pending: int

    #: The reason why the part is missing, and the fix; absent if `degraded` is null.
    why: NotRequired[str]


class IndexStatus(TypedDict):
    """The index file of a workspace and its cycles."""

    #: Number of archived or forgotten entries.
    archived: int

    #: Number of entries in the index file and its topic files, including the Decay Queue.
    entries: int

    #: `written`: up to date; `unwritten`: the next light cycle updates the file; `held`: the daemon does not write the file, for the reason in `trouble`; `off`: disabled in the configuration.
    file: str

    #: Number of entries that a user removed from the index file in bulk, and that the daemon keeps until the removal is confirmed.
    held_removals: int

    #: The latest run of any cycle; null if none has run.
    last_cycle: CycleRun | None

    #: The next run of each cycle, earliest first.
    next: list[NextCycle]

    #: Number of entries in the Decay Queue.
    queued: int

    #: Size of the index file in tokens.
    tokens: int

    #: A problem of the index file and how to fix it; absent without a problem.
    trouble: NotRequired[str]


class LeftOut(TypedDict):
    """A file or workspace that a backup does not contain."""

    #: Path relative to the workspace, with `/`; invalid UTF-8 replaced.
    path: str

    #: The reason, as text.
    reason: str


class LoggedPassage(TypedDict):
    """A passage that was found for a question."""

    #: Score by words, 0 to 1; null if no word matches.
    lexical: NotRequired[float]

    #: `given` if the passage was returned. Otherwise the reason why not: `below-floor`, `given-before`, `session`, `instruction`, `superseded`, `no-room`, `not-needed`, `near-duplicate`, `only-heading` or `changed`; newer daemons may have others.
    outcome: str

    #: Path and line, for example `memory/2026-03-02.md:5`.
    place: str

    #: Score of a search result, or confidence that the passage concerns the prompt; 0 to 1.
    score: float

    #: Path and line of the result that corrects this passage.
    superseded_by: NotRequired[str]

    #: Score by meaning, 0 to 1; null without a vector.
    vector: NotRequired[float]


class LoggedQuestion(TypedDict):
    """A question in the recall log, with the answer that it got."""

    #: The agent that asked; absent if the request named none. Only this agent sees the question.
    agent: NotRequired[str]

    #: Time of the answer.
    at: str

    #: Name of the client, for example `cli`; null if the client gave none.
    client: str | None

    #: The part of the search that was missing, for example `no-model`; null if no part was missing.
    degraded: str | None

    #: Filters of the search in words; null without a filter.
    filters: str | None

    #: Minimum confidence of the best passage, 0 to 1; null for a search.
    floor: float | None

    #: Number of the question, higher for later questions.
    id: int

    #: Method of the request: `search` or `recall`.
    method: str

    #: The method of finding candidates.
    mode: SearchMode

    #: True if all results of the search were weak.
    nothing_relevant: bool

    #: The returned passages, best first, and then those that were dropped.
    passages: list[LoggedPassage]

    #: The beginning of the question, without secrets.
    question: str

    #: Why passages were returned, or none; null for a search.
    reason: str | None

    #: Id of the session, if the request had one.
    session: str | None

    #: Duration in the daemon, in milliseconds.
    took_ms: float


#: Type of a memory, as in `## Topic [feedback]`.
MemoryType: TypeAlias = Literal["project", "feedback", "user", "reference"]


class MessageScore(TypedDict):
    """The scores of one message."""

    #: The id to fetch the message's content with, if the content is stored.
    id: str

    #: Importance before decay, 0 to 1.
    importance: float

    #: Position among the messages of the session, from 0.
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

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]


class MetricsResponse(TypedDict):
    """Answer to `metrics`."""

    #: The metrics in the text format of Prometheus, version 0.0.4. They contain neither text of the memory nor paths.
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

    #: Package that contains the file.
    source: str


#: Parameters of `model.import`.
ModelImportRequest = TypedDict(
    "ModelImportRequest",
    {
        # The agent that asks. The answer then also contains the texts that only this agent may read.
        "agent": "NotRequired[str | None]",
        # Absolute path of a Python wheel or of a folder with wheels. With `name`, absolute path of the folder of a sentence-transformers model.
        "from": "str",
        # Name of a built-in model; default: the default model of this build.
        "model": "NotRequired[str | None]",
        # Name for a model that is not built in, for use in `embed.model`: up to 64 letters, digits, dots, dashes and underscores.
        "name": "NotRequired[str | None]",
        # Text that is put before each passage; default: the prefix in the folder. Requires `name`.
        "passage_prefix": "NotRequired[str | None]",
        # Text that is put before each query; default: the prefix in the folder. Requires `name`.
        "query_prefix": "NotRequired[str | None]",
    },
)


class ModelInfo(TypedDict):
    """One embedding model."""

    #: Size in bytes on disk, or of the download if the model is absent; 0 if unknown.
    bytes: int

    #: Number of components of a vector.
    dimension: int

    #: Name, dimension and revision of the model in one string, which is stored with each vector.
    id: str

    #: SPDX expression of the licence, if known.
    licence: str | None

    #: Name for `model.pull`.
    name: str

    #: True if the configuration selects this model.
    selected: bool

    #: SHA-256 of the weights, in hexadecimal; null without weights.
    sha256: str | None

    #: Package that contains the model; `built in` or `imported` if there is none.
    source: str

    #: The installation state.
    state: ModelState


class ModelListRequest(TypedDict):
    """Parameters of `model.list`: none."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]


class ModelListResponse(TypedDict):
    """Answer to `model.list`."""

    #: Models, the default one first.
    models: list[ModelInfo]

    #: The runtime library of the models.
    runtime: RuntimeInfo


#: The state of the model.
ModelLoad: TypeAlias = Literal["absent", "unloaded", "loading", "ready", "failed"]


#: Parameters of `model.pull`. `progress` notifications precede the answer.
ModelPullRequest = TypedDict(
    "ModelPullRequest",
    {
        # The agent that asks. The answer then also contains the texts that only this agent may read.
        "agent": "NotRequired[str | None]",
        # Address of a mirror, or absolute path of a folder, that contains the files or wheels under the names in `models/manifest.toml`; default: the addresses in the manifest, and then pip.
        "from": "NotRequired[str | None]",
        # Name of the model; default: the configured one.
        "model": "NotRequired[str | None]",
    },
)


class ModelPullResponse(TypedDict):
    """Answer to `model.pull` and `model.import`."""

    #: The files that are installed now, including the runtime library.
    files: list[ModelFile]

    #: Name of the model.
    model: str

    #: Duration in milliseconds.
    took_ms: float


class ModelRemoveRequest(TypedDict):
    """Parameters of `model.remove`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Name of the imported model.
    model: str


class ModelRemoveResponse(TypedDict):
    """Answer to `model.remove`."""

    #: Size of the removed files in bytes.
    bytes: int

    #: Name of the removed model.
    model: str


#: The installation state.
ModelState: TypeAlias = Literal["installed", "absent", "damaged", "unsupported"]


class ModelStatus(TypedDict):
    """The embedding model."""

    #: Name, dimension and revision in one string.
    id: str

    #: Number of times that the model was loaded since the start.
    loads: int

    #: The reason why the model is absent or could not be loaded.
    reason: NotRequired[str]

    #: The state of the model.
    state: ModelLoad

    #: Maximum number of threads that the model uses.
    threads: int

    #: Word pieces processed since the start.
    word_pieces: int


class ModelVerifyRequest(TypedDict):
    """Parameters of `model.verify`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

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


class NotIndexed(TypedDict):
    """Markdown files that are left out for one reason."""

    #: Number of files.
    files: int

    #: True if there may be more files. hippod stops counting in very large folders.
    or_more: NotRequired[bool]

    #: The reason, as a phrase that follows the number, for example "in node_modules".
    reason: str


class Origin(TypedDict):
    """Origin of a result from outside the workspace."""

    #: Login that published the text; absent for a workspace of this machine.
    author: NotRequired[str]

    #: Name of the device; if it is not registered, the first digits of its key. Absent for a workspace of this machine.
    device: NotRequired[str]

    #: Kind of origin.
    kind: OriginKind

    #: Id of the share that covers the text; absent for a text of a team.
    share: NotRequired[str]

    #: Name of the team; absent for a workspace of this machine.
    team: NotRequired[str]

    #: True if the login has registered the device, and the signature of the device is valid for this text at this place. Otherwise, the text may have been changed on the server. Always true for a workspace of this machine.
    verified: bool

    #: Name of the workspace; for a workspace of this machine, the name of the share.
    workspace: str


#: Kind of origin of a result from outside the workspace.
OriginKind: TypeAlias = Literal["team", "workspace"]


class OutgoingChunk(TypedDict):
    """A passage that would leave the machine."""

    #: Date of the text, `YYYY-MM-DD`.
    date: str | None

    #: The headings above the passage.
    heading: list[str]

    #: First line in the document.
    line: int

    #: Model of the vector that leaves with the text; null without a vector.
    model: str | None

    #: The text without secrets.
    text: str


class OutgoingText(TypedDict):
    """A document that would leave the machine."""

    #: The passages, in order.
    passages: list[OutgoingChunk]

    #: Path relative to the workspace.
    path: str


class Pending(TypedDict):
    """A task or decision that hippod leaves to the agent or the user."""

    #: The kind in kebab-case: `orphan`, `removals-held`, `conflict`, `cycle-failed`, `summaries-wanted`; newer daemons may have others.
    kind: str

    #: The affected files, relative to the workspace.
    paths: list[str]

    #: Description and instructions, as text.
    text: str


class Pointer(TypedDict):
    """Location of a topic: a file, and optionally a section."""

    #: Path relative to the workspace, with `/`.
    path: str

    #: Title of the section, without the `#` marks; `None` for the whole file.
    section: NotRequired[str]


class PointerInput(TypedDict):
    """Location of a topic: a file, and optionally a section."""

    #: Path relative to the workspace, with `/`.
    path: str

    #: Title of the section, without the `#` marks; `None` for the whole file.
    section: NotRequired[str | None]


class Problem(TypedDict):
    """One problem with its fix."""

    #: The fix for the user to apply: a command or a setting.
    fix: str

    #: True if `doctor` with `fix` can fix the problem.
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


class RecallLogRequest(TypedDict):
    """Parameters of `recall.log`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Return only questions before the question with this id.
    before: NotRequired[int | None]

    #: Maximum number of questions, 1 to 1,000; default: 20.
    limit: NotRequired[int | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class RecallLogResponse(TypedDict):
    """Answer to `recall.log`."""

    #: Days for which the log keeps a question.
    days: int

    #: Maximum number of questions in the log; 0 if the log is turned off.
    limit: int

    #: The last questions of the workspace, latest first.
    questions: list[LoggedQuestion]


class RecallRequest(TypedDict):
    """Parameters of `recall`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Name of the program that asks, for the recall log, for example `hook`; at most 64 bytes.
    client: NotRequired[str | None]

    #: The user's prompt, at most 1 MiB.
    prompt: str

    #: Id of the session in the harness. The daemon returns each passage only once for a session.
    session: NotRequired[str | None]

    #: Maximum time in milliseconds for the search, 1 to 60,000; default: 300. If the search takes longer, the daemon returns no passage.
    wait_ms: NotRequired[int | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class RecallResponse(TypedDict):
    """Answer to `recall`."""

    #: The chosen passages, best first; at most three.
    passages: list[RecalledPassage]

    #: Why the daemon chose these passages, or none.
    reason: str

    #: Section for the prompt, which marks the passages as stored material; empty if no passage was chosen.
    text: str

    #: Size of `text` in tokens, estimated as bytes / 4; at most 300.
    tokens: int

    #: Duration in the daemon, in milliseconds.
    took_ms: float


class RecallWhyRequest(TypedDict):
    """Parameters of `recall.why`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Number of results that the answer to the question has; default: the configured one, initially 10.
    limit: NotRequired[int | None]

    #: Line of the passage, 1-based; default: 1.
    line: NotRequired[int | None]

    #: The method of finding candidates; default: the configured one.
    mode: NotRequired[SearchMode | None]

    #: Path of the file that contains a passage, relative to the workspace. Without a path, the daemon explains the results.
    path: NotRequired[str | None]

    #: The question, as for `search`.
    query: str

    #: Path of the workspace, or of anything below it.
    workspace: str


class RecallWhyResponse(TypedDict):
    """Answer to `recall.why`."""

    #: Notes about the search.
    notes: NotRequired[list[str]]

    #: The explained passages.
    passages: list[ExplainedPassage]

    #: The query as received.
    query: str


class RecalledPassage(TypedDict):
    """A passage that the daemon chose for a prompt."""

    #: Confidence that the passage concerns the prompt, 0 to 1.
    confidence: float

    #: Date of the text, `YYYY-MM-DD`.
    date: str | None

    #: Last line, inclusive.
    end_line: int

    #: The headings above the text, outermost first.
    heading: list[str]

    #: Id of this text for `get`.
    id: str

    #: Path relative to the workspace, with `/`.
    path: str

    #: The scope of the text: `private:` and the id of the agent. Absent for a text that all agents may read.
    scope: NotRequired[str]

    #: First line, 1-based.
    start_line: int

    #: The text without secrets, shortened if it is long.
    text: str


class RememberRequest(TypedDict):
    """Parameters of `remember`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Resistance of the entry to decay.
    priority: NotRequired[EntryPriority | None]

    #: True to write to a log that only the agent of the request may read. The text then has no entry in the index file.
    private: NotRequired[bool]

    #: Keywords of the entry.
    tags: NotRequired[list[str] | None]

    #: The text: one or more lines of markdown, at most 65536 bytes.
    text: NotRequired[str]

    #: The topic in one line; by default, the daemon derives the topic from the text.
    topic: NotRequired[str | None]

    #: The kind of memory.
    type: NotRequired[MemoryType | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class RememberResponse(TypedDict):
    """Answer to `remember`, sent after the text is stored durably."""

    #: Last line of the appended text, inclusive.
    end_line: int

    #: The entry in the index file; null for a private text, and if the index file is disabled.
    entry: IndexEntry | None

    #: Notes, such as the reason for a missing entry.
    notes: NotRequired[list[str]]

    #: The log, relative to the workspace.
    path: str

    #: Kinds of suspected secrets in the request, without their values. `notes` describes how to remove them.
    secrets: NotRequired[list[str]]

    #: First line of the appended text, 1-based.
    start_line: int


#: Parameters of `restore`.
RestoreRequest = TypedDict(
    "RestoreRequest",
    {
        # The agent that asks. The answer then also contains the texts that only this agent may read.
        "agent": "NotRequired[str | None]",
        # Absolute path of a backup.
        "from": "str",
        # Absolute path of the folder that becomes the workspace, which must be empty or must not exist; default: the root of the workspace when the backup was made.
        "into": "NotRequired[str | None]",
        # True to restore also files that counted as memory only because of the workspace's own settings.
        "other_files": "NotRequired[bool]",
        # Root of the only workspace to restore, exactly as in the backup; default: all workspaces.
        "workspace": "NotRequired[str | None]",
    },
)


class RestoreResponse(TypedDict):
    """Answer to `restore`. The daemon indexes the restored files in the background."""

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

    #: Lexical score; null if no word matches or without lexical search.
    lexical: float | None

    #: Vector score; null if the text has no vector or without vector search.
    vector: float | None


class SearchHit(TypedDict):
    """One result."""

    #: Number of other places with the same text, which the answer leaves out.
    copies: NotRequired[int]

    #: Date of the text, `YYYY-MM-DD`.
    date: str | None

    #: Last line, inclusive.
    end_line: int

    #: Id of the result's index entry; null without an entry.
    entry: str | None

    #: Components of the score by name, if `explain` was requested.
    explain: NotRequired[dict[str, float]]

    #: The headings above the text, outermost first.
    heading: list[str]

    #: Id of this text for `get`. It is valid while the text is unchanged.
    id: str

    #: Origin of the text, if it is not from this workspace. `get` cannot read a text of the team.
    origin: NotRequired[Origin]

    #: Path relative to the workspace, with `/`.
    path: str

    #: The scope of the text: `private:` and the id of the agent. Absent for a text that all agents may read.
    scope: NotRequired[str]

    #: Relevance, 0 to 1.
    score: float

    #: The components of the score, if known.
    scores: Scores | None

    #: Author of a message: `user`, `assistant` or `other`. Absent for text that is no message.
    speaker: NotRequired[str]

    #: First line, 1-based.
    start_line: int

    #: Strength of the result's index entry, 0 to 1; null without an entry.
    strength: float | None

    #: Path and line of another result that is dated later and changes a value of this text.
    superseded_by: NotRequired[str]

    #: The current text on disk.
    text: str

    #: Size of `text` in tokens of the model's tokenizer; if a note says so, a quarter of the bytes instead.
    tokens: int


#: Mode of a search.
SearchMode: TypeAlias = Literal["hybrid", "lexical", "vector", "index"]


class SearchRequest(TypedDict):
    """Parameters of `search`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Maximum size of all results in tokens, at least 1.
    budget_tokens: NotRequired[int | None]

    #: Name of the program that asks, for the recall log, for example `cli`; at most 64 bytes.
    client: NotRequired[str | None]

    #: True to return the features of each score, and a trace of the index entries.
    explain: NotRequired[bool]

    #: Maximum number of results, 1 to 200. By default, the daemon returns as many results as fit into `budget_tokens`. Without `budget_tokens`, it returns the configured number, initially 10.
    limit: NotRequired[int | None]

    #: True if the recall log keeps the question. Set this to false for searches while a person types.
    log: NotRequired[bool]

    #: Minimum score of a result, 0 to 1.
    min_score: NotRequired[float | None]

    #: The method of finding candidates; default: the configured one, initially `hybrid`.
    mode: NotRequired[SearchMode | None]

    #: Return only text of documents whose path, relative to the workspace, matches this glob.
    path: NotRequired[str | None]

    #: The query in natural language, without a query syntax.
    query: str

    #: True if the query may change the index. The daemon then strengthens the entries whose text was found, and creates an entry for results without one.
    record: NotRequired[bool]

    #: Return only text dated on or after this day, `YYYY-MM-DD`.
    since: NotRequired[str | None]

    #: Return only text dated on or before this day, `YYYY-MM-DD`.
    until: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class SearchResponse(TypedDict):
    """Answer to `search`."""

    #: The state of the index.
    index: IndexState

    #: The requested mode. `index.degraded` reports a part of the search that was missing.
    mode: SearchMode

    #: Notes about this answer, such as the method of counting tokens.
    notes: NotRequired[list[str]]

    #: True if all results of a hybrid search are weak: their scores are low, and none contains all words of the query.
    nothing_relevant: NotRequired[bool]

    #: The query as received.
    query: str

    #: Results, best first.
    results: list[SearchHit]

    #: Source of the results: the entries, the documents, or both.
    strategy: Strategy

    #: Size of all returned texts in tokens.
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

    #: The reason for the strategy, as text.
    reason: str

    #: Ids of the strengthened entries.
    refreshed: list[str]


class SessionCompactRequest(TypedDict):
    """Parameters of `session.compact`, with either `path` or `messages`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Maximum size of the summary in tokens, at least 1; by default, the settings determine the size.
    budget_tokens: NotRequired[int | None]

    #: Settings with the keys of `sessionCompaction` in `hipocampus.config.json`. By default, the settings of the workspace apply if it has any, otherwise the built-in defaults.
    config: NotRequired[dict[str, Any] | None]

    #: Format of the transcript; without it, the format of each record is detected.
    format: NotRequired[TranscriptFormat | None]

    #: Messages in the format of the OpenAI or Anthropic API, oldest first.
    messages: NotRequired[list[Any] | None]

    #: Absolute path of a transcript.
    path: NotRequired[str | None]

    #: Path of the workspace that stores the messages, or of anything below it. Without a workspace, no messages are stored.
    workspace: NotRequired[str | None]


class SessionCompactResponse(TypedDict):
    """Answer to `session.compact`."""

    #: The scores of the messages, in order. With more than 50000 messages, only the last scores are included.
    entries: list[MessageScore]

    #: Notes about this answer, such as unknown keys of the settings.
    notes: NotRequired[list[str]]

    #: Statistics of the compaction.
    stats: CompactStats

    #: The summary, markdown.
    summary: str


class SessionFlushRequest(TypedDict):
    """Parameters of `session.flush`."""

    #: The agent of the session. The messages then go to the agent's own log.
    agent: NotRequired[str | None]

    #: True to close the context session with the id `session` after the flush, as `context.close` does; requires `session`. A missing context session is not an error.
    close: NotRequired[bool]

    #: True to store the content of each message as well, as `session.compact` does.
    compact: NotRequired[bool]

    #: Format of the transcript; without it, the format of each record is detected.
    format: NotRequired[TranscriptFormat | None]

    #: Absolute path of the transcript.
    path: str

    #: Id that the harness gave the session. It is part of the marker after the appended text.
    session: NotRequired[str | None]

    #: True to update the compaction tree after the flush, as `tree.compact` does.
    tree: NotRequired[bool]

    #: True to answer after the flush; false to answer at once and flush in the background.
    wait: NotRequired[bool]

    #: Path of the workspace whose logs are written, or of anything below it.
    workspace: str


#: Answer to `session.flush`.
SessionFlushResponse = TypedDict(
    "SessionFlushResponse",
    {
        # The appended text, one item for each log.
        "appended": "list[FlushedLog]",
        # True if the flush is done. False if it was only accepted; then ignore all other members.
        "done": "bool",
        # The detected format; null if no format was detected or nothing is new.
        "format": "str | None",
        # Number of bytes at the start of the transcript that an earlier flush had read, so that this flush skipped them.
        "from": "int",
        # Number of messages that were flushed before, from this transcript or from a copy.
        "known": "int",
        # Number of records that could not be read.
        "malformed": "int",
        # Number of new messages.
        "messages": "int",
        # Notes about this flush.
        "notes": "NotRequired[list[str]]",
        # The first records that could not be read. Their lines are counted from the position `from`.
        "problems": "list[TranscriptProblem]",
        # Number of message contents that were stored for the first time; absent without `compact`.
        "stored": "NotRequired[int]",
    },
)


#: A setting that has a different value with trust.
SettingChange = TypedDict(
    "SettingChange",
    {
        # The value in effect without trust.
        "from": "str",
        # The key in the file; `*` for the whole file.
        "key": "str",
        # The value in effect with trust.
        "to": "str",
    },
)


class SettingsFile(TypedDict):
    """A settings file of a workspace."""

    #: Settings in the file that need trust.
    changes: list[SettingChange]

    #: Hash of the content: the first 32 hexadecimal digits of BLAKE3.
    hash: str

    #: Path relative to the root.
    path: str

    #: True if the user trusts its current content.
    trusted: bool

    #: The reason why the file cannot be used, with a line number; absent if the file can be used.
    wrong: NotRequired[str]


#: The severity of a problem.
Severity: TypeAlias = Literal["error", "warning", "info"]


#: A share: lets one workspace read chosen entries of another.
Share = TypedDict(
    "Share",
    {
        # Time of creation.
        "created": "str",
        # Number of entries that the share covers now; null if the workspace of the owner is not open.
        "entries": "int | None",
        # Root of the workspace that owns the text.
        "from": "str",
        # Id of the share; empty for a share that was not created.
        "id": "str",
        # Name of the share in pointers: `@NAME/memory/a.md`.
        "name": "str",
        # Time of withdrawal; absent for a share in effect.
        "removed": "NotRequired[str]",
        # The entries; empty for a withdrawn share.
        "selectors": "ShareSelectors",
        # Root of the workspace that reads the text.
        "to": "str",
    },
)


class ShareAddRequest(TypedDict):
    """Parameters of `share.add`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: True to list the entries without sharing them.
    dry_run: NotRequired[bool]

    #: Name of the share in pointers, at most 64 bytes, without `/`; default: the name of the owner's folder.
    name: NotRequired[str | None]

    #: The entries. At least one condition is required.
    selectors: NotRequired[ShareSelectors]

    #: Path of the workspace that may read the text, or of anything below it.
    to: str

    #: Path of the workspace that owns the text, or of anything below it.
    workspace: str


class ShareAddResponse(TypedDict):
    """Answer to `share.add`."""

    #: True if the share is new; false if the same share existed, and for a dry run.
    added: bool

    #: The entries that the other workspace sees now.
    entries: list[SharedEntry]

    #: The share.
    share: Share


class ShareInitRequest(TypedDict):
    """Parameters of `share.init`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Absolute path of a file with the password of this login; default: the configured source.
    password_file: NotRequired[str | None]

    #: Existing logins that may only read.
    readers: NotRequired[list[str]]

    #: Name of the team; default: the configured team.
    team: NotRequired[str | None]

    #: URL of the database with the login of an administrator, without a password; default: the configured URL.
    url: NotRequired[str | None]

    #: Existing logins that may read and publish.
    writers: NotRequired[list[str]]


#: Answer to `share.init`.
ShareInitResponse = TypedDict(
    "ShareInitResponse",
    {
        # Version of the tables before; 0 without tables.
        "from": "int",
        # Name of the team.
        "team": "str",
        # True if the team was created.
        "team_created": "bool",
        # Version of the tables after.
        "to": "int",
    },
)


class ShareListRequest(TypedDict):
    """Parameters of `share.list`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: True to include withdrawn shares.
    removed: NotRequired[bool]

    #: Path of a workspace whose shares in both directions are listed; default: all workspaces.
    workspace: NotRequired[str | None]


class ShareListResponse(TypedDict):
    """Answer to `share.list`."""

    #: The shares, in the order of creation.
    shares: list[Share]


class SharePublishRequest(TypedDict):
    """Parameters of `share.publish`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: True to return exactly what would leave the machine, and publish nothing.
    dry_run: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class SharePublishResponse(TypedDict):
    """Answer to `share.publish`."""

    #: Number of new or changed documents.
    documents: int

    #: Notes, for example that the server could not be asked which documents it has.
    notes: NotRequired[list[str]]

    #: With `dry_run`: the documents that would leave the machine.
    outgoing: NotRequired[list[OutgoingText]]

    #: Number of their passages.
    passages: int

    #: Number of removed documents.
    removed: int

    #: Name of the team.
    team: str

    #: Number of unchanged documents.
    unchanged: int

    #: Name of the workspace as the team sees it.
    workspace: str


class ShareRemoveRequest(TypedDict):
    """Parameters of `share.remove`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Id of the share.
    id: str


class ShareRemoveResponse(TypedDict):
    """Answer to `share.remove`."""

    #: Notes, for example that the other workspace is not registered.
    notes: NotRequired[list[str]]

    #: The withdrawn share.
    share: Share


class ShareSelectors(TypedDict):
    """Conditions on the entries of a share. An entry must match each kind of condition that has values, and one value of the kind."""

    #: Globs for the paths of the texts, relative to the workspace.
    paths: NotRequired[list[str]]

    #: Tags; case is ignored.
    tags: NotRequired[list[str]]

    #: Topics or ids of entries; case is ignored.
    topics: NotRequired[list[str]]

    #: Kinds of memory.
    types: NotRequired[list[MemoryType]]


class ShareStatusRequest(TypedDict):
    """Parameters of `share.status`: none."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]


class ShareStatusResponse(TypedDict):
    """Answer to `share.status`."""

    #: Public key of this device, in hexadecimal.
    device: str

    #: True if the login may publish.
    may_publish: bool

    #: Number of passages of the team on the server.
    passages: int

    #: True if the server answers.
    reachable: bool

    #: Name of the team.
    team: str

    #: URL of the database; null without a team.
    url: str | None

    #: The reason why the server cannot be used, with a hint.
    why: NotRequired[str]

    #: The workspaces that share.
    workspaces: list[SharedWorkspace]


class SharedEntry(TypedDict):
    """An entry as the other workspace sees it."""

    #: Pointer to the text, such as `@project/memory/a.md §Deploy`.
    pointer: str

    #: Summary of the text.
    summary: str

    #: Topic of the entry.
    topic: str


class SharedWorkspace(TypedDict):
    """A workspace that shares with the team."""

    #: Error of the last attempt to publish.
    error: NotRequired[str]

    #: Root of the workspace.
    root: str

    #: Number of documents that differ from the server; null until the daemon has compared them.
    waiting: int | None


class ShutdownRequest(TypedDict):
    """Parameters of `shutdown`: none."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]


class ShutdownResponse(TypedDict):
    """Answer to `shutdown`, sent before the daemon stops."""

    #: The process id of the daemon. The connection closes after the process has ended.
    pid: int


class Skipped(TypedDict):
    """A file that is not indexed."""

    #: Path relative to the workspace.
    path: str

    #: The reason why the file is not indexed.
    reason: str


class StatusRequest(TypedDict):
    """Parameters of `status`: none."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]


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


#: Source of the results: the entries, the documents, or both.
Strategy: TypeAlias = Literal["index", "search", "hybrid"]


#: Band of strength.
StrengthBand: TypeAlias = Literal["strong", "moderate", "weak", "decaying", "silent"]


class SubscribeRequest(TypedDict):
    """Parameters of `subscribe`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Return only events with these names; default: all events.
    events: NotRequired[list[EventName] | None]

    #: Return only events of this workspace, and events without a workspace; default: all events.
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

    #: Strength of the entry, 0 to 1; it does not affect the relevance.
    strength: float

    #: Heading of the entry.
    topic: str


#: Program or interface that defines the format of a transcript.
TranscriptFormat: TypeAlias = Literal["auto", "claude-code", "pi", "codex", "messages"]


class TranscriptProblem(TypedDict):
    """An unreadable record."""

    #: Line number, from 1. In a list of messages, the number of the message.
    line: int

    #: Description of the problem.
    what: str


class TreeChange(TypedDict):
    """A changed node."""

    #: `made` (hippod wrote the body), `restated` (only the status changed), `outdated` (the body is by another author and stays, but needs an update), or `adopted` (the node existed before and is unchanged).
    action: str

    #: The reason: `new`, `sources-changed`, `placeholder`, `period-over`, `found` or `written`.
    cause: str

    #: File of the node, relative to the workspace.
    path: str

    #: The new status of the node.
    status: str

    #: Size of the node in tokens, estimated as a quarter of its bytes.
    tokens: int


class TreeCompactRequest(TypedDict):
    """Parameters of `tree.compact`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Time that the update uses as the current time, RFC 3339 or `YYYY-MM-DD`; default: the current time.
    at: NotRequired[str | None]

    #: Return the changes without applying them.
    dry_run: NotRequired[bool]

    #: True to take over a tree of another program. By default, such a tree is left unchanged.
    take_over: NotRequired[bool]

    #: True to update the tree only if an update is due. Hooks, which run often, use this.
    when_due: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreeCompactResponse(TypedDict):
    """The result of an update of the tree."""

    #: Files of the nodes of another program, which were left unchanged.
    foreign: NotRequired[list[str]]

    #: Changed nodes, days first; for a dry run, planned changes.
    nodes: list[TreeChange]

    #: Notes about the update.
    notes: NotRequired[list[str]]

    #: True if an update ran; false if none was due.
    ran: bool

    #: Nodes that could not be written, with reasons.
    refused: list[TreeRefusal]

    #: The date that the update used as today, `YYYY-MM-DD`.
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

    #: Digest of the current sources. `tree.submit` rejects the body if the sources have changed since.
    source_digest: str

    #: The sources, relative to the workspace.
    sources: list[str]


class TreePendingRequest(TypedDict):
    """Parameters of `tree.pending`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Maximum number of jobs, 1 to 1000; default 10.
    limit: NotRequired[int | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreePendingResponse(TypedDict):
    """Answer to `tree.pending`."""

    #: Nodes that need a body, days first, newest first within a level.
    jobs: list[TreeJob]

    #: Number of all nodes that need a body, regardless of the limit.
    total: int


class TreeRefusal(TypedDict):
    """A node that could not be written."""

    #: File of the node, relative to the workspace.
    path: str

    #: The reason and the fix.
    reason: str


class TreeShowRequest(TypedDict):
    """Parameters of `tree.show`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

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

    #: True if the sources have changed since the body was written.
    stale: bool

    #: The status: `tentative`, `fixed` or `needs-summarization`; null if the file has no status.
    status: str | None

    #: Size of the body in tokens.
    tokens: int

    #: Author of the body: `hippod` or `agent`; null if the node existed before hippod.
    written_by: str | None


class TreeStatus(TypedDict):
    """The compaction tree of a workspace."""

    #: Number of nodes that another program wrote; hippod does not change them.
    foreign: NotRequired[int]

    #: Time of the last full update, RFC 3339; null if there was none.
    last: str | None

    #: Number of nodes.
    nodes: int


class TreeSubmitRequest(TypedDict):
    """Parameters of `tree.submit`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: The body, markdown with or without front matter; at most 1048576 bytes.
    body: str

    #: The node: `2026-01-10`, `2026-W02`, `2026-01`, or the path of its file.
    node: str

    #: `source_digest` of the job. A body for older sources is rejected.
    source_digest: NotRequired[str | None]

    #: Path of the workspace, or of anything below it.
    workspace: str


class TreeSubmitResponse(TypedDict):
    """Answer to `tree.submit`."""

    #: Percentage of the words in the body that also occur in the sources, 0 to 100.
    overlap_percent: int

    #: File of the node, relative to the workspace.
    path: str

    #: The new status of the node.
    status: str

    #: Size of the body in tokens.
    tokens: int


#: The kind of vector index in use.
VectorBackend: TypeAlias = Literal["exact", "hnsw"]


class VectorStatus(TypedDict):
    """The vector index."""

    #: The kind of vector index in use.
    backend: VectorBackend

    #: True if a new graph is being built.
    building: bool

    #: Id of the model that computed the vectors; absent without vectors.
    model: NotRequired[str]

    #: Number of deleted vectors that still occupy memory.
    tombstones: int

    #: Number of vectors in use.
    vectors: int


#: Method by which the daemon detects changes of files.
WatcherMode: TypeAlias = Literal["notify", "poll", "none"]


class WatcherStatus(TypedDict):
    """State of the watcher. Times are ages in milliseconds; an age is absent if the event never happened."""

    #: True if the watcher reported the last test file in time.
    alive: bool

    #: Number of changes that the last comparison found and the watcher had not reported.
    changed_at_last_reconcile: int

    #: Time since the watcher last reported a test file.
    last_canary_ms_ago: NotRequired[int]

    #: Time since the last event of a watched file.
    last_event_ms_ago: NotRequired[int]

    #: Time since the last comparison of disk and index.
    last_reconcile_ms_ago: NotRequired[int]

    #: Method by which the daemon detects changes of files.
    mode: WatcherMode


class WorkspaceAddRequest(TypedDict):
    """Parameters of `workspace.add`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: Absolute path of the folder.
    workspace: str


class WorkspaceAddResponse(TypedDict):
    """Answer to `workspace.add`; indexing continues in the background."""

    #: True if the folder was registered by this request; false if it was registered before.
    added: bool

    #: Canonical root of the workspace, which identifies it.
    root: str


class WorkspaceInfo(TypedDict):
    """One registered workspace."""

    #: Watched files in the index.
    documents: int

    #: Generation of the index: a number that every searchable change increases.
    generation: int

    #: True if the workspace is still being opened, so that the numbers are unknown.
    opening: NotRequired[bool]

    #: Number of chunks without a vector.
    pending: int

    #: Canonical root of the workspace.
    root: str

    #: True if the root folder exists.
    root_present: bool


class WorkspaceListRequest(TypedDict):
    """Parameters of `workspace.list`: none."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]


class WorkspaceListResponse(TypedDict):
    """Answer to `workspace.list`."""

    #: The workspaces, sorted by root.
    workspaces: list[WorkspaceInfo]


class WorkspaceRemoveRequest(TypedDict):
    """Parameters of `workspace.remove`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: True to return the files that would be restored, without changing anything.
    dry_run: NotRequired[bool]

    #: True to delete also the contents of its sessions.
    purge: NotRequired[bool]

    #: Path of the folder, which may no longer exist.
    workspace: str


class WorkspaceRemoveResponse(TypedDict):
    """Answer to `workspace.remove`."""

    #: True if hippod keeps the contents of the sessions, so that they are available if the folder is added again.
    contexts_kept: NotRequired[bool]

    #: Notes about files that could not be restored.
    notes: NotRequired[list[str]]

    #: Files of another program's tree that were restored because hippod had taken over the tree; with `dry_run`, those that would be restored.
    restored: NotRequired[list[str]]

    #: Root of the workspace. With `dry_run`, the workspace stays registered.
    root: str


class WorkspaceStatus(TypedDict):
    """One workspace."""

    #: Chunks in the index.
    chunks: int

    #: Sessions and their contents; absent if the workspace never had a session, and from older daemons.
    contexts: NotRequired[ContextsStatus]

    #: Size of the database in bytes, including its write-ahead log.
    database_bytes: int

    #: The missing part as one kebab-case word, for example `no-model`; null if no part is missing.
    degraded: str | None

    #: Number of files on disk and in the index, when the daemon last compared them.
    disk: DiskStatus

    #: Watched files in the index.
    documents: int

    #: Chunks with a vector of the active model.
    embedded: int

    #: Counter of changes: each change of the searchable text increases the number.
    generation: int

    #: Number of deletions held back because they affect many files.
    held_deletions: int

    #: State of the index file; absent if the workspace is not open yet, and from older daemons.
    index: NotRequired[IndexStatus]

    #: Age of the oldest change that is not searchable yet, in milliseconds; 0 if all changes are searchable.
    lag_ms: int

    #: Markdown files that are not memory files, by reason; absent if there are none.
    left_out: NotRequired[list[NotIndexed]]

    #: Chunks without a vector.
    pending: int

    #: Those of them that only one agent may read.
    private: NotRequired[int]

    #: Canonical root of the workspace.
    root: str

    #: True if the root folder exists.
    root_present: bool

    #: Problems in the workspace's settings file, with line numbers, and the settings used instead; absent without problems.
    settings: NotRequired[str]

    #: The first 20 skipped files, with reasons.
    skipped: list[Skipped]

    #: Number of skipped files.
    skipped_count: int

    #: State of the compaction tree; absent without a tree, if reading the tree took too long, and from older daemons.
    tree: NotRequired[TreeStatus]

    #: Private files that no agent may read, because they name no agent or several agents.
    unclaimed: NotRequired[int]

    #: Settings files that the user does not trust yet; `hippoctl workspace trust` trusts them.
    untrusted: NotRequired[list[SettingsFile]]

    #: State of the vector index.
    vector: VectorStatus

    #: The state of the watcher.
    watcher: WatcherStatus

    #: The reason why the part is missing, and the fix; absent if `degraded` is null.
    why: NotRequired[str]


class WorkspaceSyncRequest(TypedDict):
    """Parameters of `workspace.sync`."""

    #: True to confirm deletions that were held back because they affect many files, and bulk removals of entries from the index file.
    accept_deletions: NotRequired[bool]

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: True to answer only when everything on disk is searchable, including vectors if a model is installed.
    wait: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class WorkspaceSyncResponse(TypedDict):
    """Answer to `workspace.sync`."""

    #: Number of added or changed documents.
    changed: int

    #: Watched files in the index.
    documents: int

    #: Memory files on disk; some may not be indexed yet.
    files: int

    #: The new generation of the index.
    generation: int

    #: Markdown files that are left out, and reasons why index and disk still differ: the folder is missing, or deletions are held back.
    notes: NotRequired[list[str]]

    #: Number of chunks without a vector.
    pending: int

    #: Number of removed documents.
    removed: int

    #: Duration in milliseconds.
    took_ms: float


class WorkspaceTrustRequest(TypedDict):
    """Parameters of `workspace.trust`."""

    #: The agent that asks. The answer then also contains the texts that only this agent may read.
    agent: NotRequired[str | None]

    #: True to return the files and their effects without changing anything.
    dry_run: NotRequired[bool]

    #: Trust only these files, given as path and hash of the content; default: all settings files with their current content.
    files: NotRequired[dict[str, str] | None]

    #: True to withdraw the trust.
    revoke: NotRequired[bool]

    #: Path of the workspace, or of anything below it.
    workspace: str


class WorkspaceTrustResponse(TypedDict):
    """Answer to `workspace.trust`."""

    #: The settings files of the workspace.
    files: list[SettingsFile]

    #: Canonical root of the workspace.
    root: str
