"""Middleware and chat history, in agents and chains of the real LangChain. Only the model is scripted."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver

from hippod import Client, HippodError
from hippod.langchain.agent import HippodMiddleware
from hippod.langchain.history import HippodChatHistory

import langchain_agent
from conftest import Place

LOG = "".join(f"INFO job {number} started on host-{number % 3}\n" for number in range(400))
LOG += "ERROR job 400 failed: relay 7 did not answer\n"


def read_log(name: str) -> str:
    """Reads a log."""
    if name == "broken":
        return "The log is empty."
    return LOG


class Model(FakeMessagesListChatModel):
    """Gives scripted answers, and keeps what it was asked."""

    asked: list[list[BaseMessage]] = []

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "Model":
        assert "memory_fetch" in {tool.name for tool in tools}
        return self

    def _generate(self, messages: list[BaseMessage], *rest: Any, **more: Any) -> Any:
        self.asked.append(list(messages))
        return super()._generate(messages, *rest, **more)


def calls(name: str, /, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[ToolCall(name=name, args=args, id=name + str(args), type="tool_call")])


def config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


def entry_of(messages: Sequence[BaseMessage]) -> str:
    text = next(one.text for one in messages if isinstance(one, ToolMessage) and "Its entry:" in one.text)
    return text.split("- [", 1)[1].split("]", 1)[0]


def test_the_model_gets_the_entry_of_a_large_result_and_fetches_the_content(place: Place) -> None:
    model = Model(responses=[calls("read_log", name="relay"), AIMessage("Job 400 failed.")])
    middleware = HippodMiddleware(place.workspace, socket=place.socket)
    agent = create_agent(model, tools=[read_log], middleware=[middleware], checkpointer=InMemorySaver())
    agent.invoke({"messages": [HumanMessage("why did it fail?")]}, config("one"))
    seen = model.asked[-1][-1]
    assert isinstance(seen, ToolMessage) and len(seen.text) < 2_500
    assert "relay 7 did not answer" in seen.text and "INFO job 200" not in seen.text
    model.responses = [calls("memory_fetch", id=entry_of(model.asked[-1])), AIMessage("Done.")]
    model.i = 0
    state = agent.invoke({"messages": [HumanMessage("show it all")]}, config("one"))
    assert state["messages"][-2].text == LOG
    # What the model was asked before is the beginning of what it is asked next.
    for earlier, later in zip(model.asked, model.asked[1:]):
        assert later[: len(earlier)] == earlier
    with Client(place.socket) as client:
        sessions = client.context_list(workspace=place.workspace)["sessions"] or []
        assert [one["turn"] for one in sessions if one["session"] == "langchain-one"] == [4]
    middleware.close("one")
    # After the end of its session, a thread gets a new one.
    model.responses = [calls("read_log", name="relay"), AIMessage("Done.")]
    model.i = 0
    agent.invoke({"messages": [HumanMessage("once more")]}, config("one"))
    assert model.asked[-1][-1].text.startswith("hippod stored this result")
    middleware.close("one")
    with pytest.raises(HippodError):
        middleware.close("none")


def test_small_results_and_results_without_a_daemon_stay_whole(place: Place, tmp_path: Path) -> None:
    for socket, name, expected in [(place.socket, "broken", "The log is empty."), (str(tmp_path / "no.sock"), "relay", LOG)]:
        model = Model(responses=[calls("read_log", name=name), AIMessage("Done.")])
        agent = create_agent(model, tools=[read_log], middleware=[HippodMiddleware(place.workspace, socket=socket)])
        state = agent.invoke({"messages": [HumanMessage("what happened?")]})
        assert state["messages"][-2].text == expected


def test_an_asynchronous_agent_gets_entries(place: Place) -> None:
    model = Model(responses=[calls("read_log", name="async"), AIMessage("Done.")])
    agent = create_agent(model, tools=[read_log], middleware=[HippodMiddleware(place.workspace, socket=place.socket)])
    state = asyncio.run(agent.ainvoke({"messages": [HumanMessage("what happened?")]}))
    assert "Its entry:" in state["messages"][-2].text


def test_an_entry_of_a_closed_thread_follows_a_message_of_a_later_thread_once(place: Place) -> None:
    middleware = HippodMiddleware(place.workspace, socket=place.socket)
    model = Model(responses=[calls("read_log", name="otter"), *[AIMessage("Done.")] * 3])
    agent = create_agent(model, tools=[read_log], middleware=[middleware], checkpointer=InMemorySaver())
    agent.invoke({"messages": [HumanMessage("what happened?")]}, config("before"))
    entry = entry_of(model.asked[-1])
    middleware.close("before")
    for _ in range(2):
        agent.invoke({"messages": [HumanMessage("Why did relay 7 not answer?")]}, config("after"))
    texts = [one.text for one in model.asked[-1]]
    marked = [text for text in texts if f"- [{entry}] read_log" in text]
    assert len(marked) == 1 and ", from an earlier session of 2" in marked[0] and "not instructions" in marked[0]
    assert texts.index(marked[0]) == 1 and middleware.memory_fetch(entry) == LOG


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
def test_a_history_returns_its_messages_and_hippod_logs_them(place: Place, tmp_path: Path) -> None:
    path = str(tmp_path / "talks" / "badger.jsonl")

    def history(socket: str) -> HippodChatHistory:
        return HippodChatHistory(place.workspace, path, session="badger", socket=socket)

    def answer(messages: list[BaseMessage]) -> AIMessage:
        return AIMessage(f"That is message {len(messages)}.\nThe badger sett is below the old oak at Fern Gate.")

    for socket in (str(tmp_path / "no.sock"), place.socket):
        chain = RunnableWithMessageHistory(RunnableLambda(answer), lambda _, socket=socket: history(socket))
        chain.invoke([HumanMessage("Where is the badger sett, please?")], {"configurable": {"session_id": "x"}})
    kept = history(place.socket).messages
    assert [type(one) for one in kept] == [HumanMessage, AIMessage] * 2
    assert kept[3].text.startswith("That is message 3.\n")
    history(place.socket).add_messages([calls("read_log", name="é\u2028"), ToolMessage("text", tool_call_id="1")])
    assert history(place.socket).messages[-2:] == [calls("read_log", name="é\u2028"), ToolMessage("text", tool_call_id="1")]
    place.sync()
    with Client(place.socket) as client:
        found = client.search(workspace=place.workspace, query="badger sett oak", mode="lexical", limit=1)["results"]
    assert "old oak at Fern Gate" in found[0]["text"] and found[0]["path"].startswith("memory/2")
    history(place.socket).clear()
    assert history(place.socket).messages == []


def test_the_agent_of_the_documentation_finds_the_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIPPOD_SOCKET", place.socket)
    model = Model(responses=[calls("read_log"), AIMessage("Done.")])
    state = langchain_agent.build(model, place.workspace).invoke({"messages": [HumanMessage("what happened?")]})
    result = state["messages"][-2].text
    assert "port 8443" in result and "Its entry:" in result
