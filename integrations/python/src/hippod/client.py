"""How does a program that waits talk to the daemon?"""

from __future__ import annotations

import socket as sockets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any

from . import protocol as p
from .errors import HippodError, closed, late, unreachable
from .methods import Methods
from .paths import socket_path
from .wire import CHUNK, PATIENCE, Wire, outcome


class Client(Methods):
    """One connection. Calls go one at a time: threads that share one wait for each other.

    Each method of the protocol is a method here. Reconnecting is left to the caller.
    """

    def __init__(self, socket: str | None = None, *, timeout: float = PATIENCE) -> None:
        """Connects to a daemon that runs already; ``hippoctl service start`` starts one.

        ``socket`` is its path, without it as the environment says. ``timeout`` is how many seconds connecting and each
        call may take; ``math.inf``: as long as they take.
        """
        path = socket or socket_path()
        self._timeout = timeout
        self._wire = Wire()
        self._events: deque[p.Event] = deque()
        self._lock = threading.RLock()
        self._ended: HippodError | None = None
        if not hasattr(sockets, "AF_UNIX"):
            raise unreachable(path, "this Python has no local sockets")
        self._socket = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        try:
            self._bound(time.monotonic() + timeout, timeout)
            self._socket.connect(path)
        except (OSError, HippodError) as error:
            self._socket.close()
            raise unreachable(path, error) from error

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._ended = self._ended or closed()
        self._socket.close()

    def call(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callable[[p.Progress], object] | None = None,
    ) -> Any:
        """Asks, and gives the answer.

        ``timeout`` is in seconds and starts anew with each progress. Raises HippodError. After one of the kind
        ``timeout`` the connection can still be used.
        """
        with self._lock:
            seconds = self._timeout if timeout is None else timeout
            deadline = time.monotonic() + seconds
            number, line = self._wire.request(method, params)
            self._send(line, deadline, seconds)
            answer: dict[str, Any] | None = None
            while answer is None:
                for message in self._receive(deadline, seconds):
                    if message.get("method") == "event":
                        self._events.append(message["params"])
                    elif message.get("method") == "progress":
                        deadline = time.monotonic() + seconds
                        if on_progress and message["params"]["id"] == number:
                            on_progress(message["params"])
                    elif message.get("id") is None and "method" not in message:
                        # It concerns the connection, such as that there are too many.
                        raise self._end(HippodError.refused(message.get("error") or {}))
                    elif message.get("id") == number:
                        answer = message
            return outcome(answer)

    def events(self, *, timeout: float | None = None) -> Iterator[p.Event]:
        """What ``subscribe`` asked for, the oldest first; ends when nothing came for ``timeout`` seconds.

        Without a timeout it waits for ever. It holds the connection while it waits: use another one for calls.
        """
        seconds = float("inf") if timeout is None else timeout
        while True:
            while self._events:
                yield self._events.popleft()
            with self._lock:
                try:
                    messages = self._receive(time.monotonic() + seconds, seconds)
                except HippodError as error:
                    if error.kind == "timeout":
                        return
                    raise
                self._events.extend(one["params"] for one in messages if one.get("method") == "event")

    def _send(self, line: bytes, deadline: float, seconds: float) -> None:
        if self._ended:
            raise self._ended
        self._bound(deadline, seconds)
        try:
            self._socket.sendall(line)
        except TimeoutError as error:
            # A part of it is sent: what follows would be read as the rest.
            raise self._end(late(seconds)) from error
        except OSError as error:
            raise self._end(closed()) from error

    def _receive(self, deadline: float, seconds: float) -> list[dict[str, Any]]:
        if self._ended:
            raise self._ended
        self._bound(deadline, seconds)
        try:
            data = self._socket.recv(CHUNK)
        except TimeoutError as error:
            raise late(seconds) from error
        except OSError as error:
            raise self._end(closed()) from error
        if not data:
            raise self._end(closed())
        try:
            return self._wire.receive(data)
        except HippodError as error:
            raise self._end(error) from None

    def _bound(self, deadline: float, seconds: float) -> None:
        if deadline == float("inf"):
            self._socket.settimeout(None)
            return
        left = deadline - time.monotonic()
        if left <= 0:
            raise late(seconds)
        # The longest time that every platform takes.
        self._socket.settimeout(min(left, 1e6))

    def _end(self, error: HippodError) -> HippodError:
        self._ended = error
        self._socket.close()
        return error
