"""One function for each method of the protocol. Made from docs/schema/protocol.schema.json by `cargo xtask schema`.

A parameter that is None is not sent. One whose name Python keeps for itself has a low line behind it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from . import protocol as p


def given(**parameters: object) -> dict[str, object]:
    """The parameters that have a value, by their names on the wire."""
    return {name.removesuffix("_"): value for name, value in parameters.items() if value is not None}


class Methods(ABC):
    """The methods, for callers that wait."""

    @abstractmethod
    def call(
        self, method: str, params: Mapping[str, object] | None = None, *, timeout: float | None = None
    ) -> Any:
        """Asks, and gives the answer."""

    def audit(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        examples: int | None = None,
    ) -> p.AuditResponse:
        """Measures the quality of a workspace's memory."""
        answer: p.AuditResponse = self.call("audit", given(workspace=workspace, agent=agent, examples=examples))
        return answer

    def backup(
        self,
        *,
        to: str,
        agent: str | None = None,
        workspace: str | None = None,
    ) -> p.BackupResponse:
        """Writes workspaces with all their data into one file, while they are in use."""
        answer: p.BackupResponse = self.call("backup", given(to=to, agent=agent, workspace=workspace))
        return answer

    def backup_verify(
        self,
        *,
        from_: str,
        agent: str | None = None,
    ) -> p.BackupResponse:
        """Verifies the checksums of a backup."""
        answer: p.BackupResponse = self.call("backup.verify", given(from_=from_, agent=agent))
        return answer

    def context_close(
        self,
        *,
        session: str,
        agent: str | None = None,
    ) -> p.ContextCloseResponse:
        """Closes a session, and writes its persistent entries to long-term memory."""
        answer: p.ContextCloseResponse = self.call("context.close", given(session=session, agent=agent))
        return answer

    def context_fetch(
        self,
        *,
        id: str,
        agent: str | None = None,
        session: str | None = None,
    ) -> p.ContextFetchResponse:
        """Returns content, given the id of the content or of its entry."""
        answer: p.ContextFetchResponse = self.call("context.fetch", given(id=id, agent=agent, session=session))
        return answer

    def context_list(
        self,
        *,
        agent: str | None = None,
        at_turn: int | None = None,
        limit: int | None = None,
        session: str | None = None,
        workspace: str | None = None,
    ) -> p.ContextListResponse:
        """Lists the sessions, or the entries of one."""
        answer: p.ContextListResponse = self.call("context.list", given(agent=agent, at_turn=at_turn, limit=limit, session=session, workspace=workspace))
        return answer

    def context_open(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        session: str | None = None,
    ) -> p.ContextOpenResponse:
        """Opens or resumes a session."""
        answer: p.ContextOpenResponse = self.call("context.open", given(workspace=workspace, agent=agent, session=session))
        return answer

    def context_put(
        self,
        *,
        content: str,
        session: str,
        source: p.ContextPutSource,
        turn: int,
        type: p.ContextKind,
        agent: str | None = None,
        error: bool | None = None,
        key_data: Mapping[str, Any] | None = None,
        lifecycle: p.ContextPutLifecycle | None = None,
        modifiers: p.ContextPutModifiers | None = None,
        summary: str | None = None,
    ) -> p.ContextPutResponse:
        """Adds content to a session, and returns the short entry that replaces the content in a prompt."""
        answer: p.ContextPutResponse = self.call("context.put", given(content=content, session=session, source=source, turn=turn, type=type, agent=agent, error=error, key_data=key_data, lifecycle=lifecycle, modifiers=modifiers, summary=summary))
        return answer

    def context_render(
        self,
        *,
        session: str,
        agent: str | None = None,
        budget_tokens: int | None = None,
        cue: str | None = None,
    ) -> p.ContextRenderResponse:
        """Renders the active entries of a session for a prompt."""
        answer: p.ContextRenderResponse = self.call("context.render", given(session=session, agent=agent, budget_tokens=budget_tokens, cue=cue))
        return answer

    def context_touch(
        self,
        *,
        id: str,
        session: str,
        agent: str | None = None,
        turn: int | None = None,
    ) -> p.ContextTouchResponse:
        """Records an access to an entry, which restores its strength."""
        answer: p.ContextTouchResponse = self.call("context.touch", given(id=id, session=session, agent=agent, turn=turn))
        return answer

    def context_turn(
        self,
        *,
        session: str,
        turn: int,
        agent: str | None = None,
        context_limit: int | None = None,
        context_tokens: int | None = None,
    ) -> p.ContextTurnResponse:
        """Completes a turn: the strength of entries falls, and weak entries leave the context."""
        answer: p.ContextTurnResponse = self.call("context.turn", given(session=session, turn=turn, agent=agent, context_limit=context_limit, context_tokens=context_tokens))
        return answer

    def cycle_history(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        limit: int | None = None,
        run: int | None = None,
    ) -> p.CycleHistoryResponse:
        """Lists past runs."""
        answer: p.CycleHistoryResponse = self.call("cycle.history", given(workspace=workspace, agent=agent, limit=limit, run=run))
        return answer

    def cycle_run(
        self,
        *,
        cycle: p.Cycle,
        workspace: str,
        agent: str | None = None,
        at: str | None = None,
        dry_run: bool | None = None,
    ) -> p.CycleReport:
        """Runs a consolidation cycle, or returns its plan."""
        answer: p.CycleReport = self.call("cycle.run", given(cycle=cycle, workspace=workspace, agent=agent, at=at, dry_run=dry_run))
        return answer

    def cycle_undo(
        self,
        *,
        run: int,
        workspace: str,
        agent: str | None = None,
    ) -> p.CycleUndoResponse:
        """Undoes a run."""
        answer: p.CycleUndoResponse = self.call("cycle.undo", given(run=run, workspace=workspace, agent=agent))
        return answer

    def doctor(
        self,
        *,
        agent: str | None = None,
        dry_run: bool | None = None,
        fix: bool | None = None,
        rebuild: bool | None = None,
        workspace: str | None = None,
    ) -> p.DoctorResponse:
        """Reports problems with their fixes; can rebuild data derived from the files."""
        answer: p.DoctorResponse = self.call("doctor", given(agent=agent, dry_run=dry_run, fix=fix, rebuild=rebuild, workspace=workspace))
        return answer

    def get(
        self,
        *,
        agent: str | None = None,
        count: int | None = None,
        from_: int | None = None,
        id: str | None = None,
        path: str | None = None,
        peek: bool | None = None,
        section: str | None = None,
        workspace: str | None = None,
    ) -> p.GetResponse:
        """Reads a file, section or line range."""
        answer: p.GetResponse = self.call("get", given(agent=agent, count=count, from_=from_, id=id, path=path, peek=peek, section=section, workspace=workspace))
        return answer

    def heartbeat(
        self,
        *,
        workspace: str,
        agent: str | None = None,
    ) -> p.HeartbeatResponse:
        """Runs the due cycles, and returns the tasks for the agent or the user."""
        answer: p.HeartbeatResponse = self.call("heartbeat", given(workspace=workspace, agent=agent))
        return answer

    def hello(
        self,
        *,
        client: str,
        protocol: int,
        agent: str | None = None,
    ) -> p.HelloResponse:
        """Optional greeting; checks the protocol version."""
        answer: p.HelloResponse = self.call("hello", given(client=client, protocol=protocol, agent=agent))
        return answer

    def index_edit(
        self,
        *,
        id: str,
        workspace: str,
        agent: str | None = None,
        pinned: bool | None = None,
        pointers: Sequence[p.PointerInput] | None = None,
        priority: p.EntryPriority | None = None,
        summary: str | None = None,
        tags: Sequence[str] | None = None,
        topic: str | None = None,
    ) -> p.IndexEditResponse:
        """Edits the text or the priority of an entry."""
        answer: p.IndexEditResponse = self.call("index.edit", given(id=id, workspace=workspace, agent=agent, pinned=pinned, pointers=pointers, priority=priority, summary=summary, tags=tags, topic=topic))
        return answer

    def index_forget(
        self,
        *,
        id: str,
        workspace: str,
        agent: str | None = None,
    ) -> p.IndexForgetResponse:
        """Removes an entry from the index file; its sources stay."""
        answer: p.IndexForgetResponse = self.call("index.forget", given(id=id, workspace=workspace, agent=agent))
        return answer

    def index_list(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        archived: bool | None = None,
        at: str | None = None,
        limit: int | None = None,
        private: bool | None = None,
    ) -> p.IndexListResponse:
        """Lists the entries of the index file with their strengths."""
        answer: p.IndexListResponse = self.call("index.list", given(workspace=workspace, agent=agent, archived=archived, at=at, limit=limit, private=private))
        return answer

    def index_restore(
        self,
        *,
        id: str,
        workspace: str,
        agent: str | None = None,
    ) -> p.IndexRestoreResponse:
        """Restores a forgotten or archived entry."""
        answer: p.IndexRestoreResponse = self.call("index.restore", given(id=id, workspace=workspace, agent=agent))
        return answer

    def index_show(
        self,
        *,
        id: str,
        workspace: str,
        agent: str | None = None,
        at: str | None = None,
    ) -> p.IndexShowResponse:
        """Returns one entry and the factors of its strength."""
        answer: p.IndexShowResponse = self.call("index.show", given(id=id, workspace=workspace, agent=agent, at=at))
        return answer

    def metrics(
        self,
        *,
        agent: str | None = None,
    ) -> p.MetricsResponse:
        """Returns counters and measurements for Prometheus."""
        answer: p.MetricsResponse = self.call("metrics", given(agent=agent))
        return answer

    def model_import(
        self,
        *,
        from_: str,
        agent: str | None = None,
        model: str | None = None,
        name: str | None = None,
        passage_prefix: str | None = None,
        query_prefix: str | None = None,
    ) -> p.ModelPullResponse:
        """Installs a model and the runtime from local files."""
        answer: p.ModelPullResponse = self.call("model.import", given(from_=from_, agent=agent, model=model, name=name, passage_prefix=passage_prefix, query_prefix=query_prefix))
        return answer

    def model_list(
        self,
        *,
        agent: str | None = None,
    ) -> p.ModelListResponse:
        """Lists the known embedding models."""
        answer: p.ModelListResponse = self.call("model.list", given(agent=agent))
        return answer

    def model_pull(
        self,
        *,
        agent: str | None = None,
        from_: str | None = None,
        model: str | None = None,
    ) -> p.ModelPullResponse:
        """Downloads a model and the runtime; streams progress."""
        answer: p.ModelPullResponse = self.call("model.pull", given(agent=agent, from_=from_, model=model))
        return answer

    def model_remove(
        self,
        *,
        model: str,
        agent: str | None = None,
    ) -> p.ModelRemoveResponse:
        """Removes an imported model."""
        answer: p.ModelRemoveResponse = self.call("model.remove", given(model=model, agent=agent))
        return answer

    def model_verify(
        self,
        *,
        agent: str | None = None,
        model: str | None = None,
    ) -> p.ModelVerifyResponse:
        """Verifies the checksums of the installed files."""
        answer: p.ModelVerifyResponse = self.call("model.verify", given(agent=agent, model=model))
        return answer

    def recall(
        self,
        *,
        prompt: str,
        workspace: str,
        agent: str | None = None,
        client: str | None = None,
        session: str | None = None,
        wait_ms: int | None = None,
    ) -> p.RecallResponse:
        """Returns passages that concern a prompt of the user, or none."""
        answer: p.RecallResponse = self.call("recall", given(prompt=prompt, workspace=workspace, agent=agent, client=client, session=session, wait_ms=wait_ms))
        return answer

    def recall_log(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        before: int | None = None,
        limit: int | None = None,
    ) -> p.RecallLogResponse:
        """Lists the last questions of a workspace with their answers."""
        answer: p.RecallLogResponse = self.call("recall.log", given(workspace=workspace, agent=agent, before=before, limit=limit))
        return answer

    def recall_why(
        self,
        *,
        query: str,
        workspace: str,
        agent: str | None = None,
        limit: int | None = None,
        line: int | None = None,
        mode: p.SearchMode | None = None,
        path: str | None = None,
    ) -> p.RecallWhyResponse:
        """Explains why a question finds passages, or does not find one."""
        answer: p.RecallWhyResponse = self.call("recall.why", given(query=query, workspace=workspace, agent=agent, limit=limit, line=line, mode=mode, path=path))
        return answer

    def remember(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        priority: p.EntryPriority | None = None,
        private: bool | None = None,
        tags: Sequence[str] | None = None,
        text: str | None = None,
        topic: str | None = None,
        type: p.MemoryType | None = None,
    ) -> p.RememberResponse:
        """Appends an entry to today's log and adds the entry to the index file."""
        answer: p.RememberResponse = self.call("remember", given(workspace=workspace, agent=agent, priority=priority, private=private, tags=tags, text=text, topic=topic, type=type))
        return answer

    def restore(
        self,
        *,
        from_: str,
        agent: str | None = None,
        into: str | None = None,
        other_files: bool | None = None,
        workspace: str | None = None,
    ) -> p.RestoreResponse:
        """Restores workspaces from a backup."""
        answer: p.RestoreResponse = self.call("restore", given(from_=from_, agent=agent, into=into, other_files=other_files, workspace=workspace))
        return answer

    def search(
        self,
        *,
        query: str,
        workspace: str,
        agent: str | None = None,
        budget_tokens: int | None = None,
        client: str | None = None,
        explain: bool | None = None,
        limit: int | None = None,
        log: bool | None = None,
        min_score: float | None = None,
        mode: p.SearchMode | None = None,
        path: str | None = None,
        record: bool | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> p.SearchResponse:
        """Searches the memory of a workspace."""
        answer: p.SearchResponse = self.call("search", given(query=query, workspace=workspace, agent=agent, budget_tokens=budget_tokens, client=client, explain=explain, limit=limit, log=log, min_score=min_score, mode=mode, path=path, record=record, since=since, until=until))
        return answer

    def session_compact(
        self,
        *,
        agent: str | None = None,
        budget_tokens: int | None = None,
        config: Mapping[str, Any] | None = None,
        format: p.TranscriptFormat | None = None,
        messages: Sequence[Any] | None = None,
        path: str | None = None,
        workspace: str | None = None,
    ) -> p.SessionCompactResponse:
        """Summarises a transcript; the full messages can still be fetched."""
        answer: p.SessionCompactResponse = self.call("session.compact", given(agent=agent, budget_tokens=budget_tokens, config=config, format=format, messages=messages, path=path, workspace=workspace))
        return answer

    def session_flush(
        self,
        *,
        path: str,
        workspace: str,
        agent: str | None = None,
        close: bool | None = None,
        compact: bool | None = None,
        format: p.TranscriptFormat | None = None,
        session: str | None = None,
        tree: bool | None = None,
        wait: bool | None = None,
    ) -> p.SessionFlushResponse:
        """Appends the new part of a transcript to the daily log."""
        answer: p.SessionFlushResponse = self.call("session.flush", given(path=path, workspace=workspace, agent=agent, close=close, compact=compact, format=format, session=session, tree=tree, wait=wait))
        return answer

    def share_add(
        self,
        *,
        to: str,
        workspace: str,
        agent: str | None = None,
        dry_run: bool | None = None,
        name: str | None = None,
        selectors: p.ShareSelectors | None = None,
    ) -> p.ShareAddResponse:
        """Lets another workspace of the machine read chosen entries, or returns what it would read."""
        answer: p.ShareAddResponse = self.call("share.add", given(to=to, workspace=workspace, agent=agent, dry_run=dry_run, name=name, selectors=selectors))
        return answer

    def share_init(
        self,
        *,
        agent: str | None = None,
        password_file: str | None = None,
        readers: Sequence[str] | None = None,
        team: str | None = None,
        url: str | None = None,
        writers: Sequence[str] | None = None,
    ) -> p.ShareInitResponse:
        """Prepares the database of a team."""
        answer: p.ShareInitResponse = self.call("share.init", given(agent=agent, password_file=password_file, readers=readers, team=team, url=url, writers=writers))
        return answer

    def share_list(
        self,
        *,
        agent: str | None = None,
        removed: bool | None = None,
        workspace: str | None = None,
    ) -> p.ShareListResponse:
        """Lists the shares between workspaces of the machine."""
        answer: p.ShareListResponse = self.call("share.list", given(agent=agent, removed=removed, workspace=workspace))
        return answer

    def share_publish(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        dry_run: bool | None = None,
    ) -> p.SharePublishResponse:
        """Publishes the changed text of a workspace to the team, or returns what would leave the machine."""
        answer: p.SharePublishResponse = self.call("share.publish", given(workspace=workspace, agent=agent, dry_run=dry_run))
        return answer

    def share_remove(
        self,
        *,
        id: str,
        agent: str | None = None,
    ) -> p.ShareRemoveResponse:
        """Withdraws a share between workspaces of the machine."""
        answer: p.ShareRemoveResponse = self.call("share.remove", given(id=id, agent=agent))
        return answer

    def share_status(
        self,
        *,
        agent: str | None = None,
    ) -> p.ShareStatusResponse:
        """Returns the state of the sharing with the team."""
        answer: p.ShareStatusResponse = self.call("share.status", given(agent=agent))
        return answer

    def shutdown(
        self,
        *,
        agent: str | None = None,
    ) -> p.ShutdownResponse:
        """Stops the daemon."""
        answer: p.ShutdownResponse = self.call("shutdown", given(agent=agent))
        return answer

    def status(
        self,
        *,
        agent: str | None = None,
    ) -> p.StatusResponse:
        """Returns the status of the daemon and its workspaces; does not wait for the model."""
        answer: p.StatusResponse = self.call("status", given(agent=agent))
        return answer

    def subscribe(
        self,
        *,
        agent: str | None = None,
        events: Sequence[p.EventName] | None = None,
        workspace: str | None = None,
    ) -> p.SubscribeResponse:
        """Streams events to this connection."""
        answer: p.SubscribeResponse = self.call("subscribe", given(agent=agent, events=events, workspace=workspace))
        return answer

    def tree_compact(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        at: str | None = None,
        dry_run: bool | None = None,
        take_over: bool | None = None,
        when_due: bool | None = None,
    ) -> p.TreeCompactResponse:
        """Updates the compaction tree."""
        answer: p.TreeCompactResponse = self.call("tree.compact", given(workspace=workspace, agent=agent, at=at, dry_run=dry_run, take_over=take_over, when_due=when_due))
        return answer

    def tree_pending(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        limit: int | None = None,
    ) -> p.TreePendingResponse:
        """Lists the nodes that need a summary."""
        answer: p.TreePendingResponse = self.call("tree.pending", given(workspace=workspace, agent=agent, limit=limit))
        return answer

    def tree_show(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        node: str | None = None,
    ) -> p.TreeShowResponse:
        """Returns one node and its state."""
        answer: p.TreeShowResponse = self.call("tree.show", given(workspace=workspace, agent=agent, node=node))
        return answer

    def tree_submit(
        self,
        *,
        body: str,
        node: str,
        workspace: str,
        agent: str | None = None,
        source_digest: str | None = None,
    ) -> p.TreeSubmitResponse:
        """Sets the text of a node."""
        answer: p.TreeSubmitResponse = self.call("tree.submit", given(body=body, node=node, workspace=workspace, agent=agent, source_digest=source_digest))
        return answer

    def workspace_add(
        self,
        *,
        workspace: str,
        agent: str | None = None,
    ) -> p.WorkspaceAddResponse:
        """Registers a folder."""
        answer: p.WorkspaceAddResponse = self.call("workspace.add", given(workspace=workspace, agent=agent))
        return answer

    def workspace_list(
        self,
        *,
        agent: str | None = None,
    ) -> p.WorkspaceListResponse:
        """Lists the registered folders."""
        answer: p.WorkspaceListResponse = self.call("workspace.list", given(agent=agent))
        return answer

    def workspace_remove(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        dry_run: bool | None = None,
        purge: bool | None = None,
    ) -> p.WorkspaceRemoveResponse:
        """Unregisters a folder and deletes its derived data; the files stay."""
        answer: p.WorkspaceRemoveResponse = self.call("workspace.remove", given(workspace=workspace, agent=agent, dry_run=dry_run, purge=purge))
        return answer

    def workspace_sync(
        self,
        *,
        workspace: str,
        accept_deletions: bool | None = None,
        agent: str | None = None,
        wait: bool | None = None,
    ) -> p.WorkspaceSyncResponse:
        """Synchronises the index with the disk."""
        answer: p.WorkspaceSyncResponse = self.call("workspace.sync", given(workspace=workspace, accept_deletions=accept_deletions, agent=agent, wait=wait))
        return answer

    def workspace_trust(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        dry_run: bool | None = None,
        files: Mapping[str, str] | None = None,
        revoke: bool | None = None,
    ) -> p.WorkspaceTrustResponse:
        """Lists the settings of a workspace that need trust, and trusts the files that contain them."""
        answer: p.WorkspaceTrustResponse = self.call("workspace.trust", given(workspace=workspace, agent=agent, dry_run=dry_run, files=files, revoke=revoke))
        return answer


class AsyncMethods(ABC):
    """The methods, for callers that await."""

    @abstractmethod
    async def call(
        self, method: str, params: Mapping[str, object] | None = None, *, timeout: float | None = None
    ) -> Any:
        """Asks, and gives the answer."""

    async def audit(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        examples: int | None = None,
    ) -> p.AuditResponse:
        """Measures the quality of a workspace's memory."""
        answer: p.AuditResponse = await self.call("audit", given(workspace=workspace, agent=agent, examples=examples))
        return answer

    async def backup(
        self,
        *,
        to: str,
        agent: str | None = None,
        workspace: str | None = None,
    ) -> p.BackupResponse:
        """Writes workspaces with all their data into one file, while they are in use."""
        answer: p.BackupResponse = await self.call("backup", given(to=to, agent=agent, workspace=workspace))
        return answer

    async def backup_verify(
        self,
        *,
        from_: str,
        agent: str | None = None,
    ) -> p.BackupResponse:
        """Verifies the checksums of a backup."""
        answer: p.BackupResponse = await self.call("backup.verify", given(from_=from_, agent=agent))
        return answer

    async def context_close(
        self,
        *,
        session: str,
        agent: str | None = None,
    ) -> p.ContextCloseResponse:
        """Closes a session, and writes its persistent entries to long-term memory."""
        answer: p.ContextCloseResponse = await self.call("context.close", given(session=session, agent=agent))
        return answer

    async def context_fetch(
        self,
        *,
        id: str,
        agent: str | None = None,
        session: str | None = None,
    ) -> p.ContextFetchResponse:
        """Returns content, given the id of the content or of its entry."""
        answer: p.ContextFetchResponse = await self.call("context.fetch", given(id=id, agent=agent, session=session))
        return answer

    async def context_list(
        self,
        *,
        agent: str | None = None,
        at_turn: int | None = None,
        limit: int | None = None,
        session: str | None = None,
        workspace: str | None = None,
    ) -> p.ContextListResponse:
        """Lists the sessions, or the entries of one."""
        answer: p.ContextListResponse = await self.call("context.list", given(agent=agent, at_turn=at_turn, limit=limit, session=session, workspace=workspace))
        return answer

    async def context_open(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        session: str | None = None,
    ) -> p.ContextOpenResponse:
        """Opens or resumes a session."""
        answer: p.ContextOpenResponse = await self.call("context.open", given(workspace=workspace, agent=agent, session=session))
        return answer

    async def context_put(
        self,
        *,
        content: str,
        session: str,
        source: p.ContextPutSource,
        turn: int,
        type: p.ContextKind,
        agent: str | None = None,
        error: bool | None = None,
        key_data: Mapping[str, Any] | None = None,
        lifecycle: p.ContextPutLifecycle | None = None,
        modifiers: p.ContextPutModifiers | None = None,
        summary: str | None = None,
    ) -> p.ContextPutResponse:
        """Adds content to a session, and returns the short entry that replaces the content in a prompt."""
        answer: p.ContextPutResponse = await self.call("context.put", given(content=content, session=session, source=source, turn=turn, type=type, agent=agent, error=error, key_data=key_data, lifecycle=lifecycle, modifiers=modifiers, summary=summary))
        return answer

    async def context_render(
        self,
        *,
        session: str,
        agent: str | None = None,
        budget_tokens: int | None = None,
        cue: str | None = None,
    ) -> p.ContextRenderResponse:
        """Renders the active entries of a session for a prompt."""
        answer: p.ContextRenderResponse = await self.call("context.render", given(session=session, agent=agent, budget_tokens=budget_tokens, cue=cue))
        return answer

    async def context_touch(
        self,
        *,
        id: str,
        session: str,
        agent: str | None = None,
        turn: int | None = None,
    ) -> p.ContextTouchResponse:
        """Records an access to an entry, which restores its strength."""
        answer: p.ContextTouchResponse = await self.call("context.touch", given(id=id, session=session, agent=agent, turn=turn))
        return answer

    async def context_turn(
        self,
        *,
        session: str,
        turn: int,
        agent: str | None = None,
        context_limit: int | None = None,
        context_tokens: int | None = None,
    ) -> p.ContextTurnResponse:
        """Completes a turn: the strength of entries falls, and weak entries leave the context."""
        answer: p.ContextTurnResponse = await self.call("context.turn", given(session=session, turn=turn, agent=agent, context_limit=context_limit, context_tokens=context_tokens))
        return answer

    async def cycle_history(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        limit: int | None = None,
        run: int | None = None,
    ) -> p.CycleHistoryResponse:
        """Lists past runs."""
        answer: p.CycleHistoryResponse = await self.call("cycle.history", given(workspace=workspace, agent=agent, limit=limit, run=run))
        return answer

    async def cycle_run(
        self,
        *,
        cycle: p.Cycle,
        workspace: str,
        agent: str | None = None,
        at: str | None = None,
        dry_run: bool | None = None,
    ) -> p.CycleReport:
        """Runs a consolidation cycle, or returns its plan."""
        answer: p.CycleReport = await self.call("cycle.run", given(cycle=cycle, workspace=workspace, agent=agent, at=at, dry_run=dry_run))
        return answer

    async def cycle_undo(
        self,
        *,
        run: int,
        workspace: str,
        agent: str | None = None,
    ) -> p.CycleUndoResponse:
        """Undoes a run."""
        answer: p.CycleUndoResponse = await self.call("cycle.undo", given(run=run, workspace=workspace, agent=agent))
        return answer

    async def doctor(
        self,
        *,
        agent: str | None = None,
        dry_run: bool | None = None,
        fix: bool | None = None,
        rebuild: bool | None = None,
        workspace: str | None = None,
    ) -> p.DoctorResponse:
        """Reports problems with their fixes; can rebuild data derived from the files."""
        answer: p.DoctorResponse = await self.call("doctor", given(agent=agent, dry_run=dry_run, fix=fix, rebuild=rebuild, workspace=workspace))
        return answer

    async def get(
        self,
        *,
        agent: str | None = None,
        count: int | None = None,
        from_: int | None = None,
        id: str | None = None,
        path: str | None = None,
        peek: bool | None = None,
        section: str | None = None,
        workspace: str | None = None,
    ) -> p.GetResponse:
        """Reads a file, section or line range."""
        answer: p.GetResponse = await self.call("get", given(agent=agent, count=count, from_=from_, id=id, path=path, peek=peek, section=section, workspace=workspace))
        return answer

    async def heartbeat(
        self,
        *,
        workspace: str,
        agent: str | None = None,
    ) -> p.HeartbeatResponse:
        """Runs the due cycles, and returns the tasks for the agent or the user."""
        answer: p.HeartbeatResponse = await self.call("heartbeat", given(workspace=workspace, agent=agent))
        return answer

    async def hello(
        self,
        *,
        client: str,
        protocol: int,
        agent: str | None = None,
    ) -> p.HelloResponse:
        """Optional greeting; checks the protocol version."""
        answer: p.HelloResponse = await self.call("hello", given(client=client, protocol=protocol, agent=agent))
        return answer

    async def index_edit(
        self,
        *,
        id: str,
        workspace: str,
        agent: str | None = None,
        pinned: bool | None = None,
        pointers: Sequence[p.PointerInput] | None = None,
        priority: p.EntryPriority | None = None,
        summary: str | None = None,
        tags: Sequence[str] | None = None,
        topic: str | None = None,
    ) -> p.IndexEditResponse:
        """Edits the text or the priority of an entry."""
        answer: p.IndexEditResponse = await self.call("index.edit", given(id=id, workspace=workspace, agent=agent, pinned=pinned, pointers=pointers, priority=priority, summary=summary, tags=tags, topic=topic))
        return answer

    async def index_forget(
        self,
        *,
        id: str,
        workspace: str,
        agent: str | None = None,
    ) -> p.IndexForgetResponse:
        """Removes an entry from the index file; its sources stay."""
        answer: p.IndexForgetResponse = await self.call("index.forget", given(id=id, workspace=workspace, agent=agent))
        return answer

    async def index_list(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        archived: bool | None = None,
        at: str | None = None,
        limit: int | None = None,
        private: bool | None = None,
    ) -> p.IndexListResponse:
        """Lists the entries of the index file with their strengths."""
        answer: p.IndexListResponse = await self.call("index.list", given(workspace=workspace, agent=agent, archived=archived, at=at, limit=limit, private=private))
        return answer

    async def index_restore(
        self,
        *,
        id: str,
        workspace: str,
        agent: str | None = None,
    ) -> p.IndexRestoreResponse:
        """Restores a forgotten or archived entry."""
        answer: p.IndexRestoreResponse = await self.call("index.restore", given(id=id, workspace=workspace, agent=agent))
        return answer

    async def index_show(
        self,
        *,
        id: str,
        workspace: str,
        agent: str | None = None,
        at: str | None = None,
    ) -> p.IndexShowResponse:
        """Returns one entry and the factors of its strength."""
        answer: p.IndexShowResponse = await self.call("index.show", given(id=id, workspace=workspace, agent=agent, at=at))
        return answer

    async def metrics(
        self,
        *,
        agent: str | None = None,
    ) -> p.MetricsResponse:
        """Returns counters and measurements for Prometheus."""
        answer: p.MetricsResponse = await self.call("metrics", given(agent=agent))
        return answer

    async def model_import(
        self,
        *,
        from_: str,
        agent: str | None = None,
        model: str | None = None,
        name: str | None = None,
        passage_prefix: str | None = None,
        query_prefix: str | None = None,
    ) -> p.ModelPullResponse:
        """Installs a model and the runtime from local files."""
        answer: p.ModelPullResponse = await self.call("model.import", given(from_=from_, agent=agent, model=model, name=name, passage_prefix=passage_prefix, query_prefix=query_prefix))
        return answer

    async def model_list(
        self,
        *,
        agent: str | None = None,
    ) -> p.ModelListResponse:
        """Lists the known embedding models."""
        answer: p.ModelListResponse = await self.call("model.list", given(agent=agent))
        return answer

    async def model_pull(
        self,
        *,
        agent: str | None = None,
        from_: str | None = None,
        model: str | None = None,
    ) -> p.ModelPullResponse:
        """Downloads a model and the runtime; streams progress."""
        answer: p.ModelPullResponse = await self.call("model.pull", given(agent=agent, from_=from_, model=model))
        return answer

    async def model_remove(
        self,
        *,
        model: str,
        agent: str | None = None,
    ) -> p.ModelRemoveResponse:
        """Removes an imported model."""
        answer: p.ModelRemoveResponse = await self.call("model.remove", given(model=model, agent=agent))
        return answer

    async def model_verify(
        self,
        *,
        agent: str | None = None,
        model: str | None = None,
    ) -> p.ModelVerifyResponse:
        """Verifies the checksums of the installed files."""
        answer: p.ModelVerifyResponse = await self.call("model.verify", given(agent=agent, model=model))
        return answer

    async def recall(
        self,
        *,
        prompt: str,
        workspace: str,
        agent: str | None = None,
        client: str | None = None,
        session: str | None = None,
        wait_ms: int | None = None,
    ) -> p.RecallResponse:
        """Returns passages that concern a prompt of the user, or none."""
        answer: p.RecallResponse = await self.call("recall", given(prompt=prompt, workspace=workspace, agent=agent, client=client, session=session, wait_ms=wait_ms))
        return answer

    async def recall_log(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        before: int | None = None,
        limit: int | None = None,
    ) -> p.RecallLogResponse:
        """Lists the last questions of a workspace with their answers."""
        answer: p.RecallLogResponse = await self.call("recall.log", given(workspace=workspace, agent=agent, before=before, limit=limit))
        return answer

    async def recall_why(
        self,
        *,
        query: str,
        workspace: str,
        agent: str | None = None,
        limit: int | None = None,
        line: int | None = None,
        mode: p.SearchMode | None = None,
        path: str | None = None,
    ) -> p.RecallWhyResponse:
        """Explains why a question finds passages, or does not find one."""
        answer: p.RecallWhyResponse = await self.call("recall.why", given(query=query, workspace=workspace, agent=agent, limit=limit, line=line, mode=mode, path=path))
        return answer

    async def remember(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        priority: p.EntryPriority | None = None,
        private: bool | None = None,
        tags: Sequence[str] | None = None,
        text: str | None = None,
        topic: str | None = None,
        type: p.MemoryType | None = None,
    ) -> p.RememberResponse:
        """Appends an entry to today's log and adds the entry to the index file."""
        answer: p.RememberResponse = await self.call("remember", given(workspace=workspace, agent=agent, priority=priority, private=private, tags=tags, text=text, topic=topic, type=type))
        return answer

    async def restore(
        self,
        *,
        from_: str,
        agent: str | None = None,
        into: str | None = None,
        other_files: bool | None = None,
        workspace: str | None = None,
    ) -> p.RestoreResponse:
        """Restores workspaces from a backup."""
        answer: p.RestoreResponse = await self.call("restore", given(from_=from_, agent=agent, into=into, other_files=other_files, workspace=workspace))
        return answer

    async def search(
        self,
        *,
        query: str,
        workspace: str,
        agent: str | None = None,
        budget_tokens: int | None = None,
        client: str | None = None,
        explain: bool | None = None,
        limit: int | None = None,
        log: bool | None = None,
        min_score: float | None = None,
        mode: p.SearchMode | None = None,
        path: str | None = None,
        record: bool | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> p.SearchResponse:
        """Searches the memory of a workspace."""
        answer: p.SearchResponse = await self.call("search", given(query=query, workspace=workspace, agent=agent, budget_tokens=budget_tokens, client=client, explain=explain, limit=limit, log=log, min_score=min_score, mode=mode, path=path, record=record, since=since, until=until))
        return answer

    async def session_compact(
        self,
        *,
        agent: str | None = None,
        budget_tokens: int | None = None,
        config: Mapping[str, Any] | None = None,
        format: p.TranscriptFormat | None = None,
        messages: Sequence[Any] | None = None,
        path: str | None = None,
        workspace: str | None = None,
    ) -> p.SessionCompactResponse:
        """Summarises a transcript; the full messages can still be fetched."""
        answer: p.SessionCompactResponse = await self.call("session.compact", given(agent=agent, budget_tokens=budget_tokens, config=config, format=format, messages=messages, path=path, workspace=workspace))
        return answer

    async def session_flush(
        self,
        *,
        path: str,
        workspace: str,
        agent: str | None = None,
        close: bool | None = None,
        compact: bool | None = None,
        format: p.TranscriptFormat | None = None,
        session: str | None = None,
        tree: bool | None = None,
        wait: bool | None = None,
    ) -> p.SessionFlushResponse:
        """Appends the new part of a transcript to the daily log."""
        answer: p.SessionFlushResponse = await self.call("session.flush", given(path=path, workspace=workspace, agent=agent, close=close, compact=compact, format=format, session=session, tree=tree, wait=wait))
        return answer

    async def share_add(
        self,
        *,
        to: str,
        workspace: str,
        agent: str | None = None,
        dry_run: bool | None = None,
        name: str | None = None,
        selectors: p.ShareSelectors | None = None,
    ) -> p.ShareAddResponse:
        """Lets another workspace of the machine read chosen entries, or returns what it would read."""
        answer: p.ShareAddResponse = await self.call("share.add", given(to=to, workspace=workspace, agent=agent, dry_run=dry_run, name=name, selectors=selectors))
        return answer

    async def share_init(
        self,
        *,
        agent: str | None = None,
        password_file: str | None = None,
        readers: Sequence[str] | None = None,
        team: str | None = None,
        url: str | None = None,
        writers: Sequence[str] | None = None,
    ) -> p.ShareInitResponse:
        """Prepares the database of a team."""
        answer: p.ShareInitResponse = await self.call("share.init", given(agent=agent, password_file=password_file, readers=readers, team=team, url=url, writers=writers))
        return answer

    async def share_list(
        self,
        *,
        agent: str | None = None,
        removed: bool | None = None,
        workspace: str | None = None,
    ) -> p.ShareListResponse:
        """Lists the shares between workspaces of the machine."""
        answer: p.ShareListResponse = await self.call("share.list", given(agent=agent, removed=removed, workspace=workspace))
        return answer

    async def share_publish(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        dry_run: bool | None = None,
    ) -> p.SharePublishResponse:
        """Publishes the changed text of a workspace to the team, or returns what would leave the machine."""
        answer: p.SharePublishResponse = await self.call("share.publish", given(workspace=workspace, agent=agent, dry_run=dry_run))
        return answer

    async def share_remove(
        self,
        *,
        id: str,
        agent: str | None = None,
    ) -> p.ShareRemoveResponse:
        """Withdraws a share between workspaces of the machine."""
        answer: p.ShareRemoveResponse = await self.call("share.remove", given(id=id, agent=agent))
        return answer

    async def share_status(
        self,
        *,
        agent: str | None = None,
    ) -> p.ShareStatusResponse:
        """Returns the state of the sharing with the team."""
        answer: p.ShareStatusResponse = await self.call("share.status", given(agent=agent))
        return answer

    async def shutdown(
        self,
        *,
        agent: str | None = None,
    ) -> p.ShutdownResponse:
        """Stops the daemon."""
        answer: p.ShutdownResponse = await self.call("shutdown", given(agent=agent))
        return answer

    async def status(
        self,
        *,
        agent: str | None = None,
    ) -> p.StatusResponse:
        """Returns the status of the daemon and its workspaces; does not wait for the model."""
        answer: p.StatusResponse = await self.call("status", given(agent=agent))
        return answer

    async def subscribe(
        self,
        *,
        agent: str | None = None,
        events: Sequence[p.EventName] | None = None,
        workspace: str | None = None,
    ) -> p.SubscribeResponse:
        """Streams events to this connection."""
        answer: p.SubscribeResponse = await self.call("subscribe", given(agent=agent, events=events, workspace=workspace))
        return answer

    async def tree_compact(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        at: str | None = None,
        dry_run: bool | None = None,
        take_over: bool | None = None,
        when_due: bool | None = None,
    ) -> p.TreeCompactResponse:
        """Updates the compaction tree."""
        answer: p.TreeCompactResponse = await self.call("tree.compact", given(workspace=workspace, agent=agent, at=at, dry_run=dry_run, take_over=take_over, when_due=when_due))
        return answer

    async def tree_pending(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        limit: int | None = None,
    ) -> p.TreePendingResponse:
        """Lists the nodes that need a summary."""
        answer: p.TreePendingResponse = await self.call("tree.pending", given(workspace=workspace, agent=agent, limit=limit))
        return answer

    async def tree_show(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        node: str | None = None,
    ) -> p.TreeShowResponse:
        """Returns one node and its state."""
        answer: p.TreeShowResponse = await self.call("tree.show", given(workspace=workspace, agent=agent, node=node))
        return answer

    async def tree_submit(
        self,
        *,
        body: str,
        node: str,
        workspace: str,
        agent: str | None = None,
        source_digest: str | None = None,
    ) -> p.TreeSubmitResponse:
        """Sets the text of a node."""
        answer: p.TreeSubmitResponse = await self.call("tree.submit", given(body=body, node=node, workspace=workspace, agent=agent, source_digest=source_digest))
        return answer

    async def workspace_add(
        self,
        *,
        workspace: str,
        agent: str | None = None,
    ) -> p.WorkspaceAddResponse:
        """Registers a folder."""
        answer: p.WorkspaceAddResponse = await self.call("workspace.add", given(workspace=workspace, agent=agent))
        return answer

    async def workspace_list(
        self,
        *,
        agent: str | None = None,
    ) -> p.WorkspaceListResponse:
        """Lists the registered folders."""
        answer: p.WorkspaceListResponse = await self.call("workspace.list", given(agent=agent))
        return answer

    async def workspace_remove(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        dry_run: bool | None = None,
        purge: bool | None = None,
    ) -> p.WorkspaceRemoveResponse:
        """Unregisters a folder and deletes its derived data; the files stay."""
        answer: p.WorkspaceRemoveResponse = await self.call("workspace.remove", given(workspace=workspace, agent=agent, dry_run=dry_run, purge=purge))
        return answer

    async def workspace_sync(
        self,
        *,
        workspace: str,
        accept_deletions: bool | None = None,
        agent: str | None = None,
        wait: bool | None = None,
    ) -> p.WorkspaceSyncResponse:
        """Synchronises the index with the disk."""
        answer: p.WorkspaceSyncResponse = await self.call("workspace.sync", given(workspace=workspace, accept_deletions=accept_deletions, agent=agent, wait=wait))
        return answer

    async def workspace_trust(
        self,
        *,
        workspace: str,
        agent: str | None = None,
        dry_run: bool | None = None,
        files: Mapping[str, str] | None = None,
        revoke: bool | None = None,
    ) -> p.WorkspaceTrustResponse:
        """Lists the settings of a workspace that need trust, and trusts the files that contain them."""
        answer: p.WorkspaceTrustResponse = await self.call("workspace.trust", given(workspace=workspace, agent=agent, dry_run=dry_run, files=files, revoke=revoke))
        return answer
