"""What does this package offer: a client of hippod that waits, and one that awaits?"""

from .aio import AsyncClient
from .client import Client
from .errors import HippodError
from .paths import socket_path
from .wire import PROTOCOL

__all__ = ["PROTOCOL", "AsyncClient", "Client", "HippodError", "socket_path"]
