"""Writes the features of the second ranking for questions with known evidence.

Usage: dump.py --eval DIR --home DIR --out FILE [--only NAME]

The daemon of the given home must run. The features do not depend on its trees. Registers the data sets as workspaces,
asks each question, and writes one JSON object per line:
{"set", "part", "question", "group", "evidence", "relevant", "units", "tokens", "features", "names"}. `relevant` lists
for each candidate the evidence spans that it overlaps. `units` contains the unit that counts as one place in the
ranking. For questions about another workspace, `evidence` is 0.
"""

import argparse
import json
import pathlib
import shutil
import socket

LIMIT = 100


class Daemon:
    """A connection to the daemon's socket."""

    def __init__(self, home):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(find_socket(home)))
        self.lines = self.socket.makefile("rb")

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            reply = json.loads(self.lines.readline())
            if reply.get("id") == 1:
                if "error" in reply:
                    raise RuntimeError(reply["error"])
                return reply["result"]


def find_socket(home):
    return next(path for path in pathlib.Path(home).rglob("*.sock"))


def questions_in(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def data_sets(folder):
    """Yields set, part, workspace folder, questions, and the unit of the ranking."""
    for name in sorted(path.name for path in (folder / "locomo").iterdir()):
        yield "locomo", name, folder / "locomo" / name, "questions.jsonl", "chunk"
    for kind, size in [("beam", "100K"), ("beam-500k", "500K")]:
        for name in sorted(path.name for path in (folder / "beam").glob(f"{size}-*")):
            yield kind, name, folder / "beam" / name, "questions.jsonl", "chunk"
    yield "scifact", "scifact", folder / "scifact", "questions.jsonl", "file"
    yield "cranfield", "cranfield", folder / "cranfield", "questions.jsonl", "file"
    yield "example", "example", pathlib.Path(__file__).parents[2] / "examples", "questions.jsonl", "chunk"
    yield "memaware-explicit", "memaware", folder / "memaware", "questions_explicit.jsonl", "section"
    yield "memaware-implicit", "memaware", folder / "memaware", "questions_implicit.jsonl", "section"


def unit_of(hit, unit):
    if unit == "file":
        return hit["path"]
    if unit == "section":
        return "\t".join([hit["path"], *hit["heading"][:2]])
    return hit["id"]


def overlapped(hit, evidence):
    def is_over(span):
        return (
            span["path"] == hit["path"]
            and span["start_line"] <= hit["end_line"]
            and hit["start_line"] <= span["end_line"]
        )

    return [at for at, span in enumerate(evidence) if is_over(span)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", type=pathlib.Path, required=True)
    parser.add_argument("--home", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    daemon = Daemon(options.home)
    names = None
    with open(options.out, "w", encoding="utf-8") as out:
        sets = [row for row in data_sets(options.eval / "retrieval") if options.only in row[0]]
        for name, part, folder, file, unit in sets:
            kept = options.home / "eval" / (part if name.startswith(part) else f"{name}/{part}")
            if not kept.exists():
                shutil.copytree(folder / "workspace", kept)
            root = str(kept.resolve())
            daemon.call("workspace.add", workspace=root)
            daemon.call("workspace.sync", workspace=root, wait=True)
            asked = [(question, question["evidence"]) for question in questions_in(folder / file)]
            others = [row for row in sets if row[0] == name and row[1] != part]
            for _, _, other, other_file, _ in others:
                asked += [(question, []) for question in questions_in(other / other_file)]
            for question, evidence in asked:
                answer = daemon.call(
                    "search", workspace=root, query=question["query"], limit=LIMIT, explain=True, record=False
                )
                hits = [hit for hit in answer["results"] if "length" in (hit.get("explain") or {})]
                # The order of the first ranking.
                hits.sort(key=lambda hit: hit["explain"]["rank"])
                names = names or sorted(hits[0]["explain"]) if hits else names
                row = {
                    "set": name if evidence else name + "-other",
                    "part": part,
                    "question": question["id"],
                    "group": question.get("group"),
                    "evidence": len(evidence),
                    "relevant": [overlapped(hit, evidence) for hit in hits],
                    "units": [unit_of(hit, unit) for hit in hits],
                    "tokens": [hit["tokens"] for hit in hits],
                    "features": [[hit["explain"].get(key, 0.0) for key in names] for hit in hits],
                    "names": names,
                }
                out.write(json.dumps(row) + "\n")
            print(name, part, len(asked), flush=True)


if __name__ == "__main__":
    main()
