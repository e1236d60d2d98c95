"""Does the client that awaits have many calls at once, and are those given up that nobody awaits?"""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable

import pytest

from hippod import AsyncClient, HippodError

from conftest import Place
from other import lines_of, serving


def talking(path: str, work: Callable[[AsyncClient], Awaitable[None]]) -> None:
    async def talk() -> None:
        async with await AsyncClient.connect(path) as client:
            await asyncio.wait_for(work(client), 120)

    asyncio.run(talk())


def test_many_calls_wait_at_once_and_each_gets_its_own_answer(place: Place) -> None:
    async def work(client: AsyncClient) -> None:
        queries = [f"heron number {nth}" for nth in range(200)]
        answers = await asyncio.gather(
            *(
                client.search(workspace=place.workspace, query=query, mode="lexical", record=False)
                for query in queries
            )
        )
        assert [answer["query"] for answer in answers] == queries

    talking(place.socket, work)


def test_events_come_between_the_answers(place: Place) -> None:
    async def work(client: AsyncClient) -> None:
        await client.subscribe(workspace=place.workspace, events=["indexed"])
        place.log("2026-03-04.md", "# Wednesday\n\nThe pump is blue.\n")
        await client.workspace_sync(workspace=place.workspace, wait=True)
        event = await anext(aiter(client.events()))
        assert event["event"] == "indexed"

    talking(place.socket, work)


def test_a_call_is_given_up_and_the_connection_goes_on(place: Place) -> None:
    def serve(peer: socket.socket) -> None:
        for one in map(json.loads, lines_of(peer)):
            if one["method"] == "status":
                peer.sendall(f'{{"jsonrpc":"2.0","id":{one["id"]},"result":{{"pid":7}}}}\n'.encode())

    async def work(client: AsyncClient) -> None:
        call = asyncio.create_task(client.workspace_list())
        await client.call("status")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        with pytest.raises(HippodError) as late:
            await client.call("workspace.list", timeout=0.001)
        assert late.value.kind == "timeout"
        assert await client.call("status") == {"pid": 7}

    with serving(place.home, serve) as path:
        talking(path, work)


@pytest.mark.parametrize(("sent", "kind"), [(b"", "closed"), (b"no JSON\n", "malformed")])
def test_what_ends_the_connection_ends_every_call(place: Place, sent: bytes, kind: str) -> None:
    def serve(peer: socket.socket) -> None:
        next(lines_of(peer))
        peer.sendall(sent)

    async def work(client: AsyncClient) -> None:
        calls = await asyncio.gather(client.status(), client.workspace_list(), return_exceptions=True)
        assert [one.kind for one in calls if isinstance(one, HippodError)] == [kind, kind]
        with pytest.raises(HippodError):
            await client.status()
        assert [event async for event in client.events()] == []

    with serving(place.home, serve) as path:
        talking(path, work)


def test_nobody_there_is_said_with_what_to_do(place: Place) -> None:
    with pytest.raises(HippodError) as none:
        asyncio.run(AsyncClient.connect(str(place.home / "nobody.sock")))
    assert none.value.kind == "unreachable" and "hippoctl service start" in none.value.hint
