"""How do requests and answers look on the wire? Nothing here reads or writes a socket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .errors import HippodError, malformed

#: The version of the protocol that these clients speak.
PROTOCOL = 1
#: How long a call may take where nobody says, in seconds.
PATIENCE = 60.0
#: A line has at most so many bytes.
MAX_LINE_BYTES = 16 * 1024 * 1024
#: How much is read at once.
CHUNK = 64 * 1024


class Wire:
    """The lines of one connection."""

    def __init__(self) -> None:
        self._next_id = 1
        self._parts: list[bytes] = []
        self._bytes = 0

    def request(self, method: str, params: Mapping[str, object] | None) -> tuple[int, bytes]:
        """A request as a line, and the id that its answer will have."""
        number = self._next_id
        self._next_id += 1
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        line = json.dumps(request, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        if len(line) > MAX_LINE_BYTES:
            what = f"could not call {method}: the request is longer than {MAX_LINE_BYTES} bytes"
            raise HippodError(what, kind="too-large", hint="send a smaller request")
        return number, line

    def receive(self, data: bytes) -> list[dict[str, Any]]:
        """What is whole with these bytes: answers and notifications, in their order."""
        whole = []
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._keep(end)
            line = b"".join(self._parts)
            self._parts, self._bytes = [], 0
            if line.strip():
                whole.append(_message(line))
        self._keep(rest)
        return whole

    def _keep(self, part: bytes) -> None:
        self._bytes += len(part)
        if self._bytes > MAX_LINE_BYTES:
            raise malformed(f"a line is longer than {MAX_LINE_BYTES} bytes")
        self._parts.append(part)


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise malformed(error) from error
    if not isinstance(message, dict):
        raise malformed("a line is not a JSON object")
    return message


def outcome(answer: Mapping[str, Any]) -> Any:
    """The result of an answer; raises its refusal."""
    error = answer.get("error")
    if error is not None:
        raise HippodError.refused(error)
    return answer.get("result")
