"""Do the classes work in chains of the real LangChain?"""

import asyncio

import pytest
from langchain_classic.base_memory import BaseMemory
from langchain_classic.chains import LLMChain
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import ToolCall
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from hippod import HippodError
from hippod.langchain import HippodRetriever, memory_tools
from hippod.langchain.memory import HippodMemory

from conftest import Place


def retriever(place: Place, k: int = 3) -> HippodRetriever:
    return HippodRetriever(workspace=place.workspace, socket=place.socket, mode="lexical", k=k)


def test_the_retriever_is_a_step_of_a_chain(place: Place) -> None:
    found = retriever(place, 1).invoke("when does the gateway restart?")
    assert isinstance(found[0], Document) and "restarts at noon" in found[0].page_content
    assert found[0].metadata["path"] == "memory/2026-03-02.md"
    assert found[0].metadata["source"].startswith("memory/2026-03-02.md:")
    again = asyncio.run(retriever(place, 1).ainvoke("when does the gateway restart?"))
    assert [one.id for one in again] == [one.id for one in found]

    def joined(documents: list[Document]) -> str:
        return "\n".join(one.page_content for one in documents)

    prompt = PromptTemplate.from_template("{memory}\n\nQuestion: {question}")
    steps = {"memory": retriever(place) | RunnableLambda(joined), "question": RunnablePassthrough()}
    chain = steps | prompt | FakeListChatModel(responses=["noon"])
    assert chain.invoke("when does the gateway restart?").content == "noon"
    asked = (steps | prompt).invoke("when does the gateway restart?").to_string()
    assert "restarts at noon" in asked and asked.endswith("Question: when does the gateway restart?")


def test_what_the_daemon_refuses_is_raised(place: Place) -> None:
    with pytest.raises(HippodError) as refused:
        HippodRetriever(workspace="/nowhere", socket=place.socket).invoke("q")
    assert refused.value.kind == "no-workspace"


def test_a_chain_remembers_an_exchange_and_another_one_recalls_it(place: Place) -> None:
    def chain(answer: str) -> LLMChain:
        prompt = PromptTemplate.from_template("{memory}\n\nQuestion: {question}")
        memory = HippodMemory(retriever=retriever(place))
        assert isinstance(memory, BaseMemory)
        return LLMChain(llm=FakeListChatModel(responses=[answer]), prompt=prompt, memory=memory)

    first = chain("The kingfisher nests in the clay bank at Oxbow.")
    assert first.invoke({"question": "Where does the kingfisher nest?"})["text"].endswith("Oxbow.")
    place.sync()
    # Another process would do as well: nothing is kept here.
    later = chain("Oxbow").invoke({"question": "And the kingfisher's nest?"})
    assert "clay bank at Oxbow" in later["memory"]
    place.sync()
    memory = HippodMemory(retriever=retriever(place), return_docs=True)
    documents = memory.load_memory_variables({"input": "kingfisher"})["memory"]
    assert all(isinstance(one, Document) for one in documents) and documents
    memory.clear()
    again = asyncio.run(memory.aload_memory_variables({"input": "kingfisher"}))["memory"]
    assert [one.id for one in again] == [one.id for one in documents]


def test_what_was_put_in_is_not_remembered_again(place: Place) -> None:
    memory = HippodMemory(retriever=retriever(place))
    said = {"question": "Who feeds the otter?", "memory": "a wall of old notes"}
    asyncio.run(memory.asave_context(said, {"text": "The warden feeds the otter."}))
    place.sync()
    shown = memory.load_memory_variables({"question": "who feeds the otter?"})["memory"]
    assert "warden feeds the otter" in shown and "wall of old notes" not in shown
    with pytest.raises(ValueError, match="input_key"):
        memory.save_context({"a": "1", "b": "2"}, {"text": "t"})
    named = HippodMemory(retriever=retriever(place), input_key="b")
    assert "warden" in named.load_memory_variables({"a": "1", "b": "otter"})["memory"]


def test_an_agent_has_tools(place: Place) -> None:
    search, remember = memory_tools(place.workspace, socket=place.socket)
    assert [search.name, remember.name] == ["memory_search", "memory_remember"]
    said = {"text": "The lynx was seen at Fern Gate.", "topic": "Lynx", "type": "project"}
    call = ToolCall(name="memory_remember", args=said, id="1", type="tool_call")
    assert remember.invoke(call).content.startswith("remembered in memory/")
    place.sync()
    assert "Fern Gate" in search.invoke({"query": "where was the lynx?"})
    assert "Fern Gate" in asyncio.run(search.ainvoke({"query": "where was the lynx?"}))
