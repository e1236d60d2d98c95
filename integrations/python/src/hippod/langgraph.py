"""A store for LangGraph, whose items are files of a workspace.

Needs ``pip install hippod[langgraph]``.
"""

from __future__ import annotations

import asyncio
import json
import operator
import os
import re
import tempfile
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import quote

from langgraph.store.base import BaseStore, GetOp, MatchCondition, Op, PutOp, Result, SearchItem, SearchOp

from .client import Client

__all__ = ["HippodStore"]

FORMAT = re.compile(r"```json\n(.*)\n```\n<!-- langgraph (.*) -->\n", re.S)
"""The value of an item; its namespace, key and times."""
OPERATORS = {"$eq": "eq", "$ne": "ne", "$gt": "gt", "$gte": "ge", "$lt": "lt", "$lte": "le"}


class HippodStore(BaseStore):
    """Keeps each item in a markdown file below ``memory/langgraph``, and searches the items with hippod.

    hippod indexes whole items, whatever ``index`` is. Items do not expire. The operations of a batch run in order.
    Raises ``hippod.HippodError`` if a search fails.
    """

    def __init__(self, workspace: str, *, socket: str | None = None) -> None:
        self.workspace, self.socket = Path(workspace).resolve(), socket
        self.folder = self.workspace / "memory/langgraph"

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Runs operations."""
        return [self._run(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Runs operations in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _run(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return read(self._path(op.namespace, op.key))
        if isinstance(op, PutOp):
            self._put(op)
            return None
        if isinstance(op, SearchOp):
            found = self._search(op.query, op.namespace_prefix) if op.query else self._items(op.namespace_prefix)
            wanted = (op.filter or {}).items()
            fitting = [item for item in found if all(fits(item.value.get(key), value) for key, value in wanted)]
            return fitting[op.offset : op.offset + op.limit]
        conditions = op.match_conditions or ()
        names = {item.namespace for item in self._items(())}
        cut = {name[: op.max_depth] for name in names if all(matches(name, one) for one in conditions)}
        return sorted(cut)[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp) -> None:
        path = self._path(op.namespace, op.key)
        if op.value is None:
            return path.unlink(missing_ok=True)
        now, before = datetime.now(timezone.utc), read(path)
        times = {"created_at": (before.created_at if before else now).isoformat(), "updated_at": now.isoformat()}
        about = json.dumps({"namespace": op.namespace, "key": op.key, **times}).replace(">", "\\u003e")
        title = " ".join(f"{' / '.join(op.namespace)}: {op.key}".split())
        value = json.dumps(dict(op.value), ensure_ascii=False, indent=1)
        # A folder from a stranger may contain links to other places.
        if path.parent.resolve() != path.parent:
            raise OSError(f"{path.parent} is a link or below a link")
        path.parent.mkdir(parents=True, exist_ok=True)
        # The file is replaced at once, so that hippod never reads a part of an item.
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".", delete=False, encoding="utf-8") as file:
            file.write(f"# {title}\n\n```json\n{value}\n```\n<!-- langgraph {about} -->\n")
        os.replace(file.name, path)

    def _items(self, prefix: tuple[str, ...]) -> list[SearchItem]:
        folder = self._path(prefix)
        paths = folder.rglob("*.md") if folder.resolve() == folder else ()
        items = [item for path in paths if (item := read(path))]
        return sorted(items, key=lambda item: item.updated_at, reverse=True)

    def _search(self, query: str, prefix: tuple[str, ...]) -> list[SearchItem]:
        below = self._path(prefix).relative_to(self.workspace).as_posix()
        with Client(self.socket) as client:
            client.workspace_sync(workspace=str(self.workspace), wait=True)
            hits = client.search(workspace=str(self.workspace), query=query, path=f"{below}/**", limit=200)["results"]
        scores: dict[str, float] = {}
        for hit in hits:
            scores.setdefault(hit["path"], hit["score"])
        return [item for path, score in scores.items() if (item := read(self.workspace / path, score))]

    def _path(self, namespace: tuple[str, ...], key: str | None = None) -> Path:
        # Only names of files contain a dot, so no folder has the name of a file.
        parts = [quote(part, safe=" ").replace(".", "%2E") for part in namespace]
        return self.folder.joinpath(*parts, *([] if key is None else [quote(key, safe=" ").replace(".", "%2E") + ".md"]))


def read(path: Path, score: float | None = None) -> SearchItem | None:
    """Reads the item in a file; None if there is no readable item."""
    try:
        found = FORMAT.search(path.read_text(encoding="utf-8")) if path.is_file() and not path.is_symlink() else None
        return found and SearchItem(value=json.loads(found[1]), score=score, **json.loads(found[2]))
    except (OSError, TypeError, ValueError):
        return None


def fits(value: Any, wanted: Any) -> bool:
    """Returns whether a value has the wanted value, or fulfils all conditions such as ``{"$gt": 1}``."""
    if not isinstance(wanted, dict) or not any(key.startswith("$") for key in wanted):
        return bool(value == wanted)
    return all(
        value != than if key == "$ne" else value is not None and getattr(operator, OPERATORS[key])(value, than)
        for key, than in wanted.items()
    )


def matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Returns whether a namespace begins or ends with a path, in which ``*`` stands for any name."""
    path = condition.path
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(part) == len(path) and all(one in ("*", name) for name, one in zip(part, path))
