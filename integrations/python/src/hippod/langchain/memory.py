"""How does a chain of LangChain remember by hippod?

Needs ``pip install hippod[langchain-classic]``: LangChain keeps memories of chains there. An agent of today's LangChain
takes ``memory_tools`` or ``HippodRetriever`` instead.
"""

from __future__ import annotations

from typing import Any

from langchain_classic.base_memory import BaseMemory

from ..aio import AsyncClient
from ..client import Client
from . import HippodRetriever, shown

__all__ = ["HippodMemory"]

TOPIC = 80
"""Maximum characters of the topic, which is the beginning of the question."""


class HippodMemory(BaseMemory):
    """Puts what the memory of a workspace says about the input before the prompt, and remembers each exchange.

    Unlike a buffer it outlives the process, and shows what fits the input instead of what came last.
    """

    retriever: HippodRetriever
    """Which memory, and how much of it."""
    memory_key: str = "memory"
    """The variable of the prompt that what was found goes into."""
    input_key: str | None = None
    """Which input is the question; needed where there are several."""
    output_key: str | None = None
    """Which output is the answer; needed where there are several."""
    return_docs: bool = False
    """Give documents instead of text."""

    @property
    def memory_variables(self) -> list[str]:
        """The variables of the prompt that this memory fills."""
        return [self.memory_key]

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """What fits the input."""
        return self._loaded(self.retriever.invoke(self._said(inputs, self.input_key)))

    async def aload_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """What fits the input."""
        return self._loaded(await self.retriever.ainvoke(self._said(inputs, self.input_key)))

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, str]) -> None:
        """Appends what was asked and answered to the log of today; at most 64 KiB together."""
        with Client(self.retriever.socket) as client:
            client.call("remember", self._exchange(inputs, outputs))

    async def asave_context(self, inputs: dict[str, Any], outputs: dict[str, str]) -> None:
        """Appends what was asked and answered to the log of today; at most 64 KiB together."""
        async with await AsyncClient.connect(self.retriever.socket) as client:
            await client.call("remember", self._exchange(inputs, outputs))

    def clear(self) -> None:
        """Does nothing: the memory belongs to the workspace and not to the chain."""

    def _loaded(self, documents: list[Any]) -> dict[str, Any]:
        return {self.memory_key: documents if self.return_docs else shown(documents)}

    def _exchange(self, inputs: dict[str, Any], outputs: dict[str, str]) -> dict[str, object]:
        asked, answered = self._said(inputs, self.input_key), self._said(outputs, self.output_key)
        lines = [("request", asked), ("outcome", answered)]
        text = "\n".join(f"- {name}: " + said.replace("\n", "\n  ") for name, said in lines)
        exchange: dict[str, object] = {"workspace": self.retriever.workspace, "text": text}
        if topic := " ".join(asked.split())[:TOPIC]:
            exchange["topic"] = topic
        return exchange

    def _said(self, values: dict[str, Any], key: str | None) -> str:
        # What this memory itself put in is not remembered again.
        names = [name for name in values if name not in (self.memory_key, "stop")]
        if key is None and len(names) != 1:
            raise ValueError(f"one value is needed, and there are {names}: name it with input_key or output_key")
        return str(values[names[0] if key is None else key])
