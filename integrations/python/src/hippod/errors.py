"""Why did a call give no answer?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class HippodError(Exception):
    """A call that gave no answer.

    ``kind`` is one of the daemon's, as docs/protocol.md lists them (newer daemons may have others), or one of the
    connection: ``unreachable`` (nothing listens there), ``closed`` (it ended before the answer), ``timeout`` (no answer
    in time), ``malformed`` (what came is none).
    """

    def __init__(
        self, message: str, *, kind: str, hint: str = "", retryable: bool = False, code: int | None = None
    ) -> None:
        super().__init__(message)
        #: Why, in one word.
        self.kind = kind
        #: What to do about it; may be empty.
        self.hint = hint
        #: Whether the same call may succeed later.
        self.retryable = retryable
        #: Of JSON-RPC, where the daemon refused.
        self.code = code

    @classmethod
    def refused(cls, error: Mapping[str, Any]) -> HippodError:
        """A refusal of the daemon."""
        data = error.get("data") or {}
        return cls(
            str(error.get("message", "")),
            kind=data.get("kind", "internal"),
            hint=data.get("hint", ""),
            retryable=bool(data.get("retryable", False)),
            code=error.get("code"),
        )


def unreachable(path: str, why: object) -> HippodError:
    """Nothing listens there."""
    return HippodError(
        f"could not connect to the daemon: {path}: {why}",
        kind="unreachable",
        hint="start the daemon with: hippoctl service start",
        retryable=True,
    )


def closed() -> HippodError:
    """The connection is over."""
    return HippodError(
        "the connection to the daemon is closed",
        kind="closed",
        hint="connect again; check the daemon with: hippoctl status",
        retryable=True,
    )


def late(seconds: float) -> HippodError:
    """No answer in time."""
    return HippodError(f"the daemon did not answer within {seconds:g} s", kind="timeout", retryable=True)


def malformed(why: object) -> HippodError:
    """What came cannot be read."""
    return HippodError(f"could not read the daemon's answer: {why}", kind="malformed")
