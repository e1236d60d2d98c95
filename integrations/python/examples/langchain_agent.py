"""An agent that works with entries in place of large tool results."""

from typing import Any

from langchain.agents import create_agent

from hippod.langchain import memory_tools
from hippod.langchain.agent import HippodMiddleware


def read_log() -> str:
    """Reads the log of staging."""
    return "".join(f"INFO job {number} started\n" for number in range(400)) + "ERROR job 400 failed on port 8443\n"


def build(model: Any, workspace: str) -> Any:
    middleware = HippodMiddleware(workspace)
    return create_agent(model, tools=[read_log, *memory_tools(workspace)], middleware=[middleware])
