"""A daemon over a workspace of its own, for all tests."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hippod import Client, HippodError

BUILT = Path(__file__).resolve().parents[3] / "target/debug/hippod"
PROGRAM = os.environ.get("HIPPOD_PROGRAM", str(BUILT))
PATIENCE = 60
LOG = "# Acme\n\n## Staging\n\nStaging runs on port 8443.\nThe gateway restarts at noon.\n"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--crewai", action="store_true", help="also run the tests with CrewAI, which must be installed")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--crewai"):
        # The import of CrewAI warns.
        config.addinivalue_line("filterwarnings", "ignore")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path.name == "test_crewai.py" and not config.getoption("--crewai") else None


@dataclass
class Place:
    """Where a daemon keeps its things, and what it watches."""

    home: Path
    workspace: str
    pid: int

    @property
    def socket(self) -> str:
        return str(self.home / "hippod.sock")

    def log(self, name: str, text: str) -> None:
        (Path(self.workspace) / "memory" / name).write_text(text)

    def sync(self) -> None:
        """All that was written is searchable afterwards."""
        with Client(self.socket) as client:
            client.workspace_sync(workspace=self.workspace, wait=True)


def reached(socket: str, daemon: "subprocess.Popen[bytes]") -> Client:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return Client(socket)
        except HippodError:
            assert daemon.poll() is None, "the daemon ended"
            assert time.monotonic() < deadline, "the daemon did not come"
            time.sleep(0.01)


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="hippod-py-") as folder:
        home = Path(folder).resolve()
        workspace = home / "workspace"
        (workspace / "memory").mkdir(parents=True)
        (workspace / "memory/2026-03-02.md").write_text(LOG)
        env = {name: value for name, value in os.environ.items() if name != "HIPPOD_SOCKET"}
        env |= {"HIPPOD_HOME": str(home), "HIPPOD_EMBED_MODEL": "hash"}
        daemon = subprocess.Popen([PROGRAM, "run"], env=env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with reached(str(home / "hippod.sock"), daemon) as client:
                client.workspace_add(workspace=str(workspace))
                client.workspace_sync(workspace=str(workspace), wait=True)
            yield Place(home, str(workspace), daemon.pid)
        finally:
            daemon.terminate()
            daemon.wait(PATIENCE)


@pytest.fixture
def client(place: Place) -> Iterator[Client]:
    with Client(place.socket) as client:
        yield client
