"""How does a program that awaits talk to the daemon: many calls at once, and events?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any

from . import protocol as p
from .errors import HippodError, closed, late, unreachable
from .methods import AsyncMethods
from .paths import socket_path
from .wire import CHUNK, PATIENCE, Wire, outcome


class _Waiting:
    """A call that has no answer yet."""

    def __init__(self, on_progress: Callable[[p.Progress], object] | None) -> None:
        self.answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.moved = False
        self.on_progress = on_progress


class AsyncClient(AsyncMethods):
    """One connection; many calls may wait at once, and answers come in any order.

    Each method of the protocol is a method here. A call whose task is cancelled is not waited for; what the daemon does
    already it ends. Reconnecting is left to the caller.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, timeout: float = PATIENCE
    ) -> None:
        """Over a connection that is open: :meth:`connect` opens one."""
        self._reader = reader
        self._writer = writer
        self._timeout = timeout
        self._wire = Wire()
        self._waiting: dict[int, _Waiting] = {}
        self._events: asyncio.Queue[p.Event | None] = asyncio.Queue()
        self._ended: HippodError | None = None
        self._task = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def connect(cls, socket: str | None = None, *, timeout: float = PATIENCE) -> AsyncClient:
        """Connects to a daemon that runs already; ``hippoctl service start`` starts one.

        ``socket`` is its path, without it as the environment says. ``timeout`` is how many seconds connecting and each
        call may take; ``math.inf``: as long as they take.
        """
        path = socket or socket_path()
        try:
            opening = asyncio.open_unix_connection(path)
            reader, writer = await asyncio.wait_for(opening, _seconds(timeout))
        except asyncio.TimeoutError as error:
            raise unreachable(path, f"no answer within {timeout:g} s") from error
        except (AttributeError, NotImplementedError, OSError) as error:
            raise unreachable(path, error) from error
        return cls(reader, writer, timeout=timeout)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connection; calls that wait fail."""
        self._end(closed())
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        try:
            await self._writer.wait_closed()
        except OSError:
            # It was closed by the other side.
            pass

    async def call(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callable[[p.Progress], object] | None = None,
    ) -> Any:
        """Asks, and gives the answer.

        ``timeout`` is in seconds; a call that made progress within it has as many again. Raises HippodError.
        """
        if self._ended:
            raise self._ended
        seconds = self._timeout if timeout is None else timeout
        number, line = self._wire.request(method, params)
        waiting = self._waiting[number] = _Waiting(on_progress)
        try:
            self._writer.write(line)
            return outcome(await self._answer(waiting, seconds))
        finally:
            del self._waiting[number]

    async def events(self) -> AsyncIterator[p.Event]:
        """What ``subscribe`` asked for, the oldest first; ends with the connection."""
        while (event := await self._events.get()) is not None:
            yield event
        # For others that listen.
        self._events.put_nowait(None)

    async def _answer(self, waiting: _Waiting, seconds: float) -> dict[str, Any]:
        while True:
            waiting.moved = False
            await asyncio.wait([waiting.answer], timeout=_seconds(seconds))
            if waiting.answer.done():
                return waiting.answer.result()
            if not waiting.moved:
                raise late(seconds)

    async def _read(self) -> None:
        try:
            while data := await self._reader.read(CHUNK):
                for message in self._wire.receive(data):
                    self._take(message)
            self._end(closed())
        except HippodError as error:
            self._end(error)
        except OSError:
            self._end(closed())

    def _take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method == "event":
            self._events.put_nowait(message["params"])
        elif method == "progress":
            waiting = self._waiting.get(message["params"]["id"])
            if waiting:
                waiting.moved = True
                if waiting.on_progress:
                    waiting.on_progress(message["params"])
        elif method is None and message.get("id") is None:
            # It concerns the connection, such as that there are too many.
            raise HippodError.refused(message.get("error") or {})
        elif method is None:
            waiting = self._waiting.get(message["id"])
            if waiting and not waiting.answer.done():
                waiting.answer.set_result(message)

    def _end(self, error: HippodError) -> None:
        if self._ended:
            return
        self._ended = error
        self._writer.close()
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(error)
        self._events.put_nowait(None)


def _seconds(timeout: float) -> float | None:
    return None if timeout == float("inf") else timeout
