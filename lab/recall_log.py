"""Measures the cost of the recall log: `python3 lab/recall_log.py PROGRAMS WORKSPACE`.

Copies WORKSPACE twice, and asks the same questions in both copies by turns. Only one copy has a recall log. PROGRAMS is
the folder of hippod and hippoctl. With HIPPOD_EMBED_MODEL=minilm-l6-dialogue-int8, HIPPOD_TEST_MODEL_HOME is the folder that
contains the model.
"""

import json
import os
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUESTIONS = 2000
WARM = 100


def questions(source: Path) -> list[str]:
    """Returns different questions, made of words of the memory files."""
    dice = random.Random(7)
    texts = [path.read_text() for path in sorted(source.rglob("*.md"))]
    lines = [words for line in "\n".join(texts).splitlines() if len(words := re.findall(r"\w{3,}", line)) >= 5]
    return [" ".join([*dice.sample(dice.choice(lines), 4), f"v{at}"]) for at in range(WARM + QUESTIONS)]


class Daemon:
    """A connection to the daemon."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.answers = self.socket.makefile("rb")

    def search(self, workspace: Path, query: str) -> float:
        """Searches, and returns the seconds until the answer."""
        params = {"workspace": str(workspace), "query": query}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "search", "params": params}) + "\n"
        begun = time.perf_counter()
        self.socket.sendall(line.encode())
        answer = self.answers.readline()
        taken = time.perf_counter() - begun
        if "result" not in json.loads(answer):
            sys.exit(answer.decode())
        return taken


def log_size(home: Path) -> tuple[int, int]:
    """Returns the number of questions in the recall log, and the bytes of their pages in the database."""
    best = (0, 0)
    for path in home.glob("state/workspaces/*/index.db"):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            (count,) = database.execute("SELECT count(*) FROM questions").fetchone()
            (size,) = database.execute("SELECT sum(pgsize) FROM dbstat WHERE name = 'questions'").fetchone()
            best = max(best, (count, size))
    return best


def main(programs: Path, source: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        if model_home := os.environ.get("HIPPOD_TEST_MODEL_HOME"):
            for name in ["models", "runtime"]:
                (home / name).symlink_to(Path(model_home) / name)
        env = {"HIPPOD_EMBED_MODEL": "hash", **os.environ, "HIPPOD_HOME": folder}

        def hippoctl(*words: str, cwd: Path = home) -> str:
            command = [programs / "hippoctl", *words]
            return subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout

        logged, plain = home / "logged", home / "plain"
        for copy in [logged, plain]:
            shutil.copytree(source, copy)
        (plain / ".hippocampus").mkdir(exist_ok=True)
        (plain / ".hippocampus" / "config.toml").write_text("[recall]\nlog_questions = 0\n")
        for copy in [logged, plain]:
            hippoctl("workspace", "add", cwd=copy)
            hippoctl("sync", "--wait", cwd=copy)
        try:
            daemon = Daemon(json.loads(hippoctl("status", "--json"))["socket"])
            times: dict[Path, list[float]] = {logged: [], plain: []}
            for at, question in enumerate(questions(source)):
                # By turns, each copy is the first.
                for copy in [logged, plain] if at % 2 else [plain, logged]:
                    times[copy].append(daemon.search(copy, question))
        finally:
            hippoctl("service", "stop")
        for share in [50, 95]:
            with_log, without = (sorted(times[copy][WARM:])[QUESTIONS * share // 100] for copy in [logged, plain])
            ratio = with_log / without
            print(f"p{share}: {with_log * 1e3:.2f} ms with the log, {without * 1e3:.2f} ms without, ratio {ratio:.3f}")
        count, size = log_size(home)
        print(f"{count} questions in the log: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
