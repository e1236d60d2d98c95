"""Does the client that waits get its answers from the real daemon, and say what went wrong where it does not?"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hippod import PROTOCOL, Client, HippodError, socket_path
from hippod import protocol as p

from conftest import Place
from other import lines_of, serving

HERE = Path(__file__).resolve().parents[1]
TOO_MANY = {"code": -32008, "message": "too many", "data": {"kind": "warming", "hint": "", "retryable": True}}


def test_it_greets_searches_reads_and_remembers(client: Client, place: Place) -> None:
    about = client.hello(protocol=PROTOCOL, client="test/1")
    assert about["pid"] == place.pid
    assert len(client.status()["workspaces"]) == 1
    found = client.search(workspace=place.workspace, query="which port has staging?", mode="lexical", limit=1)
    best = found["results"][0]
    assert (best["path"], best["heading"]) == ("memory/2026-03-02.md", ["Acme", "Staging"])
    read = client.get(workspace=place.workspace, path=best["path"], from_=best["start_line"], count=1)
    assert "port 8443" in read["text"]
    kept = client.remember(workspace=place.workspace, topic="Heron", text="The heron nests — at the weir. 🪶")
    again = client.get(workspace=place.workspace, path=kept["path"], from_=kept["start_line"])
    assert "nests — at the weir. 🪶" in again["text"]


def test_a_session_keeps_large_content_aside(client: Client, place: Place) -> None:
    session = client.context_open(workspace=place.workspace)["session"]
    content = "test heron::nests ... FAILED\n" * 40_000
    source: p.ContextPutSource = {"type": "exec", "ref": "cargo test"}
    put = client.context_put(session=session, turn=1, type="tool_result", source=source, content=content)
    entry = put["entry"]
    assert entry is not None
    assert entry["id"] in client.context_render(session=session)["markdown"]
    fetched = client.context_fetch(session=session, id=entry["id"])
    assert (fetched["outcome"], fetched["content"]) == ("full", content)
    client.context_close(session=session)


def test_a_refusal_says_its_kind_and_what_to_do(client: Client, place: Place) -> None:
    with pytest.raises(HippodError, match=r"none\.md") as refused:
        client.get(workspace=place.workspace, path="memory/none.md")
    assert (refused.value.kind, refused.value.retryable, refused.value.code) == ("not-found", False, -32003)
    with pytest.raises(HippodError) as refused:
        client.call("search", {"workspace": place.workspace, "query": "q", "limt": 3})
    assert refused.value.hint == 'did you mean "limit"?'
    with pytest.raises(HippodError) as refused:
        client.remember(workspace=place.workspace, text="x" * (17 << 20))
    assert refused.value.kind == "too-large"
    assert client.status()["protocol"] == PROTOCOL


def test_events_come_to_whoever_subscribed(place: Place) -> None:
    with Client(place.socket) as listener, Client(place.socket) as client:
        listener.subscribe(workspace=place.workspace, events=["indexed"])
        place.log("2026-03-03.md", "# Tuesday\n\nThe tomatoes moved.\n")
        client.workspace_sync(workspace=place.workspace, wait=True)
        event = next(listener.events(timeout=60))
        assert event["event"] == "indexed"
        listener.call("status")


def test_a_late_answer_is_dropped_and_the_connection_goes_on(place: Place) -> None:
    def serve(peer: socket.socket) -> None:
        lines = lines_of(peer)
        next(lines)
        number = json.loads(next(lines))["id"]
        # The first one comes before the second and behind it, in pieces and after a blank line.
        first = b'{"jsonrpc":"2.0","id":1,"result":{"pid":1}}\n'
        peer.sendall(b"\n" + first + b'{"jsonrpc":"2.0","id":')
        peer.sendall(f'{number},"result":{{"pid":2}}}}\n'.encode() + first)

    with serving(place.home, serve) as path, Client(path) as client:
        with pytest.raises(HippodError) as late:
            client.call("status", timeout=0.001)
        assert late.value.kind == "timeout"
        assert client.call("status") == {"pid": 2}


def test_progress_is_told(place: Place) -> None:
    progress = {"id": 1, "stage": "download", "item": "m", "done": 1, "total": None}

    def serve(peer: socket.socket) -> None:
        next(lines_of(peer))
        peer.sendall(json.dumps({"jsonrpc": "2.0", "method": "progress", "params": progress}).encode() + b"\n")
        peer.sendall(b'{"jsonrpc":"2.0","id":1,"result":{"model":"m"}}\n')

    heard: list[p.Progress] = []
    with serving(place.home, serve) as path, Client(path) as client:
        assert client.call("model.pull", on_progress=heard.append) == {"model": "m"}
    assert heard == [progress]


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (b"", "closed"),
        (b"no JSON\n", "malformed"),
        (b"[]\n", "malformed"),
        (json.dumps({"jsonrpc": "2.0", "id": None, "error": TOO_MANY}).encode() + b"\n", "warming"),
    ],
)
def test_what_ends_the_connection_is_said_by_each_call(place: Place, sent: bytes, kind: str) -> None:
    def serve(peer: socket.socket) -> None:
        next(lines_of(peer))
        peer.sendall(sent)

    with serving(place.home, serve) as path, Client(path) as client:
        for _ in range(2):
            with pytest.raises(HippodError) as ended:
                client.status()
            assert ended.value.kind == kind


def test_nobody_there_is_said_with_what_to_do(place: Place) -> None:
    with pytest.raises(HippodError) as none:
        Client(str(place.home / "nobody.sock"))
    assert none.value.kind == "unreachable" and "hippoctl service start" in none.value.hint


@pytest.mark.parametrize(
    ("env", "platform", "expected"),
    [
        ({"HIPPOD_SOCKET": "/s", "HIPPOD_HOME": "/h"}, "linux", "/s"),
        ({"HIPPOD_SOCKET": "", "HIPPOD_HOME": "/h", "XDG_RUNTIME_DIR": "/run"}, "linux", "/h/hippod.sock"),
        ({"XDG_RUNTIME_DIR": "/run/user/1", "HOME": "/home/u"}, "linux", "/run/user/1/hippod/hippod.sock"),
        ({"XDG_RUNTIME_DIR": "relative", "XDG_STATE_HOME": "/s"}, "linux", "/s/hippod/hippod.sock"),
        ({"HOME": "/home/u"}, "linux", "/home/u/.local/state/hippod/hippod.sock"),
        ({"HOME": "/Users/u"}, "darwin", "/Users/u/Library/Application Support/hippod/hippod.sock"),
        ({"USERNAME": "u"}, "win32", r"\\.\pipe\hippod-u"),
        ({"USERNAME": "u", "HIPPOD_HOME": "/h/i"}, "win32", r"\\.\pipe\hippod--h-i"),
    ],
)
def test_the_socket_is_where_the_protocol_says(env: dict[str, str], platform: str, expected: str) -> None:
    assert socket_path(env, platform) == expected


@pytest.mark.parametrize("env", [{"HIPPOD_HOME": "here"}, {}])
def test_a_place_that_cannot_be_known_is_refused(env: dict[str, str]) -> None:
    with pytest.raises(HippodError):
        socket_path(env, "linux")


@pytest.mark.parametrize("name", ["search.py", "langchain_search.py", "langgraph_store.py"])
def test_the_examples_of_the_documentation_run(place: Place, name: str) -> None:
    env = {**os.environ, "HIPPOD_HOME": str(place.home), "PYTHONPATH": str(HERE / "src")}
    env.pop("HIPPOD_SOCKET", None)
    command = [sys.executable, "-B", str(HERE / "examples" / name), place.workspace]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert "port 8443" in ran.stdout
