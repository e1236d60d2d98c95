"""The memory, in crews of the real CrewAI. Only the model is scripted. Run by ``pytest --crewai``."""

import os
from typing import Any

import pytest

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from crewai import BaseLLM

from hippod import HippodError
from hippod.crewai import HippodMemory

import crewai_memory
from conftest import Place


class Model(BaseLLM):
    """Gives one answer, and keeps what it was asked."""

    answer: str = ""
    asked: list[str] = []

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        self.asked.append(str(messages))
        return f"Thought: I know it.\nFinal Answer: {self.answer}"


def ask(place: Place, answer: str, question: str) -> str:
    """Runs a crew, and returns what its model was asked."""
    model = Model(model="scripted", answer=answer)
    assert answer in str(crewai_memory.build(model, place.workspace, question).kickoff())
    return model.asked[0]


def test_a_crew_of_the_documentation_recalls_the_result_of_an_earlier_one(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPOD_SOCKET", place.socket)
    assert "north jetty" not in ask(place, "The walrus sleeps on the north jetty.", "Where does the walrus sleep?")
    place.sync()
    assert "north jetty" in ask(place, "At the water.", "Where can visitors see the walrus?")


def test_memories_are_found_by_their_words_and_never_removed(place: Place) -> None:
    memory = HippodMemory(workspace=place.workspace, socket=place.socket)
    kept = memory.remember("The ferret escaped through the drain.", categories=["incident"])
    assert kept and kept.id.startswith("memory/")
    memory.remember_many(["The ferret came back on Sunday."])
    place.sync()
    best = memory.recall("how did the ferret escape?", limit=2)
    assert "drain" in " ".join(one.record.content for one in best) and best[0].score > 0
    assert HippodMemory(workspace=place.workspace, socket=place.socket, read_only=True).remember("x") is None
    for refused in (memory.forget, memory.reset, memory.update):
        with pytest.raises(NotImplementedError, match="files"):
            refused()
    with pytest.raises(HippodError):
        HippodMemory(workspace="/nowhere", socket=place.socket).recall("x")
