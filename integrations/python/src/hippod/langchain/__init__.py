"""What does LangChain get from hippod: a retriever, tools for an agent, and, in ``memory``, a memory for chains?

Needs ``pip install hippod[langchain]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool

from .. import protocol as p
from ..aio import AsyncClient
from ..client import Client

__all__ = ["HippodRetriever", "memory_tools"]


class HippodRetriever(BaseRetriever):
    """Finds in the memory of a workspace what answers a question.

    Each call has a connection of its own: a daemon that was started anew is found by the next one. Raises
    ``hippod.HippodError``.
    """

    workspace: str
    """Absolute path of a registered folder, or of anything below it."""
    k: int = 5
    """Most documents, 1 to 200."""
    mode: p.SearchMode | None = None
    """How candidates are found; without it by the index file first, then by words and meaning."""
    min_score: float | None = None
    """Leave out what fits less, 0 to 1."""
    budget_tokens: int | None = None
    """Most tokens of all documents together."""
    path: str | None = None
    """Only files whose path in the workspace fits this glob."""
    record: bool = True
    """Whether a question may strengthen the entries that answered it."""
    socket: str | None = None
    """Path of the daemon's socket; without it as the environment says."""

    def _params(self, query: str) -> dict[str, object]:
        params: dict[str, object] = {
            "workspace": self.workspace,
            "query": query,
            "mode": self.mode,
            "limit": self.k,
            "budget_tokens": self.budget_tokens,
            "min_score": self.min_score,
            "path": self.path,
            "record": self.record,
        }
        return params

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        with Client(self.socket) as client:
            answer: p.SearchResponse = client.call("search", self._params(query))
        return [document(hit) for hit in answer["results"]]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        async with await AsyncClient.connect(self.socket) as client:
            answer: p.SearchResponse = await client.call("search", self._params(query))
        return [document(hit) for hit in answer["results"]]


def document(hit: p.SearchHit) -> Document:
    """A result of a search: its text, and where it stands."""
    metadata: dict[str, Any] = {
        "source": f"{hit['path']}:{hit['start_line']}-{hit['end_line']}",
        "path": hit["path"],
        "start_line": hit["start_line"],
        "end_line": hit["end_line"],
        "heading": hit["heading"],
        "score": hit["score"],
        "strength": hit["strength"],
        "entry": hit["entry"],
        "date": hit["date"],
    }
    return Document(id=hit["id"], page_content=hit["text"], metadata=metadata)


def memory_tools(workspace: str, *, k: int = 5, socket: str | None = None) -> list[BaseTool]:
    """Tools with which an agent looks into the memory of a workspace, and writes into it."""
    retriever = HippodRetriever(workspace=workspace, k=k, socket=socket)

    def memory_search(query: str) -> str:
        """Search long-term memory: earlier work, decisions, people, preferences. Gives notes with their places."""
        return shown(retriever.invoke(query))

    async def amemory_search(query: str) -> str:
        return shown(await retriever.ainvoke(query))

    def memory_remember(
        text: str,
        topic: str | None = None,
        type: Literal["project", "feedback", "user", "reference"] | None = None,
    ) -> str:
        """Remember a fact, decision or preference for later sessions; topic is its heading."""
        with Client(socket) as client:
            kept = client.remember(workspace=workspace, text=text, topic=topic, type=type)
        return f"remembered in {kept['path']}"

    return [
        StructuredTool.from_function(memory_search, coroutine=amemory_search),
        StructuredTool.from_function(memory_remember),
    ]


def shown(documents: Sequence[Document]) -> str:
    """Documents as text for a prompt, each with its place."""
    return "\n\n".join(f"[{one.metadata['source']}]\n{one.page_content.strip()}" for one in documents)
