"""Chat history of LangChain in a transcript, whose messages hippod adds to the daily log.

Needs ``pip install hippod[langchain]``. LangChain recommends a checkpointer to new programs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict

from ..client import Client
from ..errors import HippodError

__all__ = ["HippodChatHistory"]

ROLES = {"human": "user", "ai": "assistant"}
"""Roles of the types of messages in a transcript. Other types are their own role."""


class HippodChatHistory(BaseChatMessageHistory):
    """Keeps the messages of one conversation in a file, one JSON object per line.

    hippod adds the new messages of the user and of the model to the daily log of ``workspace``, without secrets and
    tool results. If the daemon does not run, it adds them at the next call of ``add_messages``.
    """

    def __init__(self, workspace: str, path: str, *, session: str | None = None, socket: str | None = None) -> None:
        self.workspace, self.path, self.session, self.socket = workspace, Path(path).absolute(), session, socket

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """Returns all messages of the conversation, oldest first."""
        lines = self.path.read_text(encoding="utf-8").split("\n") if self.path.exists() else []
        return messages_from_dict([json.loads(line)["langchain"] for line in lines if line])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Appends messages. Raises HippodError if the daemon runs and refuses them."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            for one in messages:
                record = {"role": ROLES.get(one.type, one.type), "content": one.text, "langchain": message_to_dict(one)}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        try:
            with Client(self.socket) as client:
                client.session_flush(workspace=self.workspace, path=str(self.path), session=self.session)
        except HippodError as error:
            if error.kind != "unreachable":
                raise

    def clear(self) -> None:
        """Removes the conversation. The daily log keeps the messages that hippod added to it."""
        self.path.unlink(missing_ok=True)
