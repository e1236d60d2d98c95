"""Where does the daemon listen? As docs/protocol.md says, section 1."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from .errors import HippodError


def socket_path(env: Mapping[str, str] | None = None, platform: str = sys.platform) -> str:
    """The path of the socket, from environment variables.

    ``HIPPOD_SOCKET``, else below ``HIPPOD_HOME``, else where the platform has such things. An empty variable counts as
    unset. Raises HippodError of the kind ``unreachable``: a variable of hippod holds a relative path, or no home folder
    is known.
    """
    known = os.environ if env is None else env

    def ours(name: str) -> str | None:
        path = known.get(name) or None
        if path is not None and not os.path.isabs(path):
            what = f"could not use {name}: not an absolute path: {path}"
            raise HippodError(what, kind="unreachable", hint="give it as an absolute path")
        return path

    def absolute(name: str) -> str | None:
        # A relative path in a variable of XDG is to be ignored.
        path = known.get(name)
        return path if path and os.path.isabs(path) else None

    def home() -> str:
        path = absolute("HOME")
        if path is None:
            raise HippodError(
                "could not find the home folder", kind="unreachable", hint="set HOME or HIPPOD_HOME"
            )
        return path

    socket, below = ours("HIPPOD_SOCKET"), ours("HIPPOD_HOME")
    if socket is not None:
        return socket
    if platform == "win32":
        of = known.get("USERNAME") or "user" if below is None else re.sub(r"[\\/:]", "-", below)
        return rf"\\.\pipe\hippod-{of}"
    if below is not None:
        return os.path.join(below, "hippod.sock")
    if platform == "darwin":
        return os.path.join(home(), "Library/Application Support/hippod/hippod.sock")
    folder = absolute("XDG_RUNTIME_DIR") or absolute("XDG_STATE_HOME") or os.path.join(home(), ".local/state")
    return os.path.join(folder, "hippod/hippod.sock")
