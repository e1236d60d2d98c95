"""The store, in graphs of the real LangGraph."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, InvalidNamespaceError, PutOp
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from hippod import Client
from hippod.langgraph import HippodStore

from conftest import Place

ITEMS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("users", "ada"), "drink", {"text": "Ada drinks green tea, never coffee.", "score": 3}),
    (("users", "ada"), "city", {"text": "Ada lives in Lisbon.", "score": 5, "tags": ["place"]}),
    (("users", "bob"), "drink", {"text": "Bob drinks espresso.", "score": 8}),
    (("users", "bob", "v1"), "a.md", {"text": "A note in a folder.", "nested": {"a": None}}),
    (("docs", "/etc"), "../../etc/passwd", {"text": "```json\n{}\n```\n<!-- langgraph --> é\u2028"}),
    (("docs", "a b / -->"), "", {"text": ""}),
]


def filled(store: BaseStore) -> BaseStore:
    for namespace, key, value in ITEMS:
        store.put(namespace, key, value)
    return store


@pytest.fixture
def store(place: Place) -> HippodStore:
    store = HippodStore(place.workspace, socket=place.socket)
    shutil.rmtree(store.folder, ignore_errors=True)
    return store


def test_the_store_answers_like_the_store_in_memory(store: HippodStore) -> None:
    ours, theirs = filled(store), filled(InMemoryStore())
    folder = store.folder.resolve()
    assert len(list(folder.rglob("*.md"))) == len(ITEMS)
    for namespace, key, value in ITEMS:
        item = ours.get(namespace, key)
        assert item and (item.namespace, item.key, item.value) == (namespace, key, value)
    assert ours.get(("users",), "ada") is None and ours.get(("users", "bob"), "v1") is None

    def found(store: BaseStore, *args: Any, **rest: Any) -> set[tuple[tuple[str, ...], str]]:
        return {(item.namespace, item.key) for item in store.search(*args, **rest)}

    for prefix in [(), ("users",), ("users", "ada"), ("docs", "/etc"), ("nobody",)]:
        for filter in [None, {"score": 3}, {"no": 1}]:
            assert found(ours, prefix, filter=filter) == found(theirs, prefix, filter=filter), (prefix, filter)
    for wanted in [{"$gt": 3}, {"$gte": 3}, {"$lte": 5, "$ne": 3}, {"$lt": 3}]:
        both = [found(store, ("users", "ada"), filter={"score": wanted}) for store in (ours, theirs)]
        assert both[0] == both[1], wanted
    assert found(ours, (), filter={"score": {"$gt": 3}}) == {(("users", "ada"), "city"), (("users", "bob"), "drink")}
    lists: list[dict[str, Any]] = [{}, {"prefix": ("users",)}, {"suffix": ("v1",)}, {"prefix": ("*", "bob")}]
    for asked in [*lists, {"max_depth": 1}, {"limit": 2, "offset": 1}]:
        assert ours.list_namespaces(**asked) == theirs.list_namespaces(**asked), asked
    with pytest.raises(InvalidNamespaceError):
        ours.put(("langgraph",), "x", {})
    # A batch does not check names.
    ours.batch([PutOp(("..", "..", "x"), "../y", {"out": True})])
    assert len(list(folder.rglob("*.md"))) == len(ITEMS) + 1
    ours.batch([PutOp(("..", "..", "x"), "../y", None)])
    assert len(list(folder.rglob("*.md"))) == len(ITEMS)
    for namespace, key, _ in ITEMS[3:]:
        ours.delete(namespace, key)
        assert ours.get(namespace, key) is None
    ours.delete(("users", "nobody"), "x")


def test_a_changed_item_keeps_its_creation_time_and_survives_the_process(store: HippodStore, place: Place) -> None:
    store.put(("users", "eve"), "city", {"text": "Eve lives in Porto."})
    first = store.get(("users", "eve"), "city")
    store.put(("users", "eve"), "city", {"text": "Eve lives in Braga."})
    second = HippodStore(place.workspace).get(("users", "eve"), "city")
    assert first and second and second.value == {"text": "Eve lives in Braga."}
    assert second.created_at == first.created_at and second.updated_at > first.updated_at


def test_a_search_with_a_query_ranks_the_items_by_words(store: HippodStore, place: Place) -> None:
    filled(store)
    best = store.search(("users",), query="what does Ada drink, coffee?", limit=1)[0]
    assert (best.namespace, best.key) == (("users", "ada"), "drink") and best.score and best.score > 0
    assert {item.namespace[1] for item in store.search(("users", "bob"), query="drinks", filter={"score": 8})} == {"bob"}
    with Client(place.socket) as client:
        hit = client.search(workspace=place.workspace, query="Ada lives in Lisbon", mode="lexical")["results"][0]
    assert hit["path"] == "memory/langgraph/users/ada/city.md"
    (Path(place.workspace) / hit["path"]).write_text("A person replaced this file.\n")
    assert store.get(("users", "ada"), "city") is None


def test_a_node_of_a_graph_uses_the_store(store: HippodStore) -> None:
    class State(TypedDict):
        name: str

    async def node(state: State, runtime: Runtime[None]) -> State:
        assert runtime.store
        await runtime.store.aput(("names",), state["name"], {"seen": True})
        found = await runtime.store.aget(("names",), state["name"])
        return {"name": found.key.upper() if found else "nothing"}

    graph = StateGraph(State).add_node("node", node).add_edge(START, "node").compile(store=store)
    assert asyncio.run(graph.ainvoke({"name": "heron"})) == {"name": "HERON"}


def test_damaged_items_and_links_are_ignored(store: HippodStore, tmp_path: Path) -> None:
    filled(store)
    for name, text in [("cut.md", '```json\n{"a": \n```\n<!-- langgraph {} -->\n'), ("odd.md", '```json\n{}\n```\n<!-- langgraph {"x": 1} -->\n')]:
        (store.folder / name).write_text(text, encoding="utf-8")
    (store.folder / "bytes.md").write_bytes(b"\xff\xfe")
    assert len(store.search((), limit=100)) == len(ITEMS)
    shutil.rmtree(store.folder)
    store.folder.parent.mkdir(exist_ok=True)
    store.folder.symlink_to(tmp_path)
    with pytest.raises(OSError):
        store.put(("users",), "ada", {"text": "outside"})
    assert not list(tmp_path.iterdir()) and store.search(()) == []
    store.folder.unlink()
