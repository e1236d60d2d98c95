"""A daemon that does as a test says."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(home: Path, serve: Callable[[socket.socket], None]) -> Iterator[str]:
    path = home / "other.sock"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def accept() -> None:
            peer, _ = listener.accept()
            with peer:
                serve(peer)
                # What is still unread when a socket is closed takes away what was sent.
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65536):
                    pass

        thread = threading.Thread(target=accept)
        thread.start()
        yield str(path)
        thread.join()


def lines_of(peer: socket.socket) -> Iterator[bytes]:
    with peer.makefile("rb") as lines:
        yield from lines
