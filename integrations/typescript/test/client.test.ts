/** Does the client get its answers from the real daemon, and say what went wrong where it does not? */

import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Client, HippodError, PROTOCOL, socketPath, type Event, type Kind } from "hippod-client";

const here = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const program = process.env["HIPPOD_PROGRAM"] ?? resolve(here, "../../target/debug/hippod");
const home = mkdtempSync(join(tmpdir(), "hippod-ts-"));
const workspace = join(home, "workspace");
const env: NodeJS.ProcessEnv = { ...process.env, HIPPOD_HOME: home, HIPPOD_EMBED_MODEL: "hash" };
delete env["HIPPOD_SOCKET"];
const socket = socketPath(env);
let daemon: ChildProcess;

async function until<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    assert.ok(Date.now() < deadline, `${what} did not come`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

before(async () => {
  assert.ok(existsSync(program), `build the daemon first: cargo build -p hippod (${program})`);
  mkdirSync(join(workspace, "memory"), { recursive: true });
  writeFileSync(join(workspace, "memory/2026-03-02.md"), "# Acme\n\n## Staging\n\nStaging runs on port 8443.\n");
  daemon = spawn(program, ["run"], { env, stdio: "ignore" });
  const client = await until("the daemon", () => Client.connect({ socket }).catch(() => undefined));
  await client.call("workspace.add", { workspace });
  await client.call("workspace.sync", { workspace, wait: true });
  await client.close();
});

after(async () => {
  const ended = new Promise((done) => daemon.once("exit", done));
  daemon.kill();
  await ended;
  rmSync(home, { recursive: true, force: true });
  // Whatever a test left open must not keep the process, and with it the gate, from ending.
  setTimeout(() => {
    console.error("something is still open after the last test");
    process.exit(1);
  }, 10_000).unref();
});

async function connected<T>(work: (client: Client) => Promise<T>, path = socket, timeout = 60_000): Promise<T> {
  const client = await Client.connect({ socket: path, timeout });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** A daemon that does as a test says. */
async function serving<T>(serve: (peer: Socket) => void, work: (path: string) => Promise<T>): Promise<T> {
  const path = join(home, "other.sock");
  const server: Server = createServer((peer) => {
    peer.on("error", () => {});
    serve(peer);
  });
  await new Promise<void>((done) => server.listen(path, done));
  try {
    return await work(path);
  } finally {
    await new Promise((done) => server.close(done));
  }
}

const is = (kind: Kind) => (error: unknown) => error instanceof HippodError && error.kind === kind;

test("it greets, searches, reads and remembers", () =>
  connected(async (client) => {
    const about = await client.hello("test/1");
    assert.equal(about.protocol, PROTOCOL);
    assert.equal(about.pid, daemon.pid);
    assert.equal((await client.status()).workspaces.length, 1);
    const found = await client.search({ workspace, query: "which port has staging?", mode: "lexical", limit: 1 });
    const best = found.results[0];
    assert.ok(best);
    assert.deepEqual([best.path, best.heading], ["memory/2026-03-02.md", ["Acme", "Staging"]]);
    const read = await client.get({ workspace, path: best.path, from: best.start_line, count: 1 });
    assert.match(read.text, /port 8443/);
    const kept = await client.remember({ workspace, topic: "Heron", text: "The heron nests — at the weir. 🪶" });
    const again = await client.get({ workspace, path: kept.path, from: kept.start_line });
    assert.match(again.text, /nests — at the weir\. 🪶/);
  }));

test("a session keeps large content aside", () =>
  connected(async ({ context }) => {
    const { session } = await context.open({ workspace });
    const content = "test heron::nests ... FAILED\n".repeat(40_000);
    const source = { type: "exec", ref: "cargo test" };
    const { entry } = await context.put({ session, turn: 1, type: "tool_result", source, content });
    assert.ok(entry);
    const { markdown } = await context.render({ session });
    assert.ok(markdown.includes(entry.id) && markdown.length < content.length / 100);
    const fetched = await context.fetch({ session, id: entry.id });
    assert.deepEqual([fetched.outcome, fetched.content], ["full", content]);
    await context.turn({ session, turn: 2 });
    await context.close({ session });
  }));

test("many calls wait at once, and each gets its own answer", () =>
  connected(async (client) => {
    const queries = Array.from({ length: 200 }, (_, nth) => `heron number ${nth}`);
    const answers = await Promise.all(
      queries.map((query) => client.search({ workspace, query, mode: "lexical", record: false })),
    );
    assert.deepEqual(answers.map((answer) => answer.query), queries);
  }));

test("a refusal says its kind, what to do, and whether to try again", () =>
  connected(async (client) => {
    const refused = await client.call("get", { workspace, path: "memory/none.md" }).catch((error: unknown) => error);
    assert.ok(refused instanceof HippodError);
    assert.deepEqual([refused.kind, refused.retryable, refused.code], ["not-found", false, -32003]);
    assert.match(refused.message, /none\.md/);
    // @ts-expect-error: a parameter that there is not
    const unknown = client.search({ workspace, query: "q", limt: 3 });
    await assert.rejects(unknown, (error) => error instanceof HippodError && /did you mean "limit"\?/.test(error.hint));
    await assert.rejects(client.call("remember", { workspace, text: "x".repeat(17 << 20) }), is("too-large"));
    assert.equal((await client.status()).protocol, PROTOCOL);
  }));

test("events come to whoever subscribed", () =>
  connected(async (client) => {
    const events: Event[] = [];
    const stop = await client.subscribe({ workspace, events: ["indexed"] }, (event) => events.push(event));
    writeFileSync(join(workspace, "memory/2026-03-03.md"), "# Tuesday\n\nThe tomatoes moved.\n");
    await client.call("workspace.sync", { workspace, wait: true });
    const event = await until("an event", async () => events[0]);
    assert.equal(event.event, "indexed");
    stop();
    // @ts-expect-error: an event that there is not
    await assert.rejects(client.subscribe({ events: ["x"] }, () => {}), is("bad-request"));
  }));

test("a call is given up by its signal or in time, and the connection goes on", () =>
  serving(
    (peer) =>
      peer.on("data", (data) => {
        for (const line of data.toString().trim().split("\n")) {
          const { id, method } = JSON.parse(line) as { id: number; method: string };
          if (method === "status") peer.write(`{"jsonrpc":"2.0","id":${id},"result":{"pid":7}}\n`);
        }
      }),
    async (path) =>
      connected(async (client) => {
        const giving_up = new AbortController();
        const call = client.call("workspace.list", {}, { signal: giving_up.signal });
        giving_up.abort(new Error("enough"));
        await assert.rejects(call, /enough/);
        await assert.rejects(client.call("workspace.list", {}, { signal: giving_up.signal }), /enough/);
        await assert.rejects(client.call("workspace.list", {}, { timeout: 1 }), is("timeout"));
        assert.equal((await client.status()).pid, 7);
      }, path),
  ));

test("progress keeps a call from being late", () =>
  serving(
    (peer) =>
      peer.once("data", () => {
        const progress = { id: 1, stage: "download", item: "m", done: 1, total: null };
        peer.write(`{"jsonrpc":"2.0","method":"progress","params":${JSON.stringify(progress)}}\n`);
        // In pieces, and after a blank line.
        peer.write('\n{"jsonrpc":"2.0","id":1,');
        peer.write('"result":{"model":"m","files":[],"took_ms":1}}\n');
      }),
    async (path) =>
      connected(async (client) => {
        const heard: number[] = [];
        const pulled = await client.call("model.pull", {}, { onProgress: ({ done }) => heard.push(done) });
        assert.deepEqual([pulled.model, heard], ["m", [1]]);
      }, path),
  ));

test("what ends the connection ends every call", async () => {
  const gone = join(home, "nobody.sock");
  await assert.rejects(Client.connect({ socket: gone }), (error) => is("unreachable")(error) && /hippoctl service start/.test((error as HippodError).hint));
  const cases: [string, Kind][] = [
    ["", "closed"],
    ["no JSON\n", "malformed"],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":-32008,"message":"too many","data":{"kind":"warming","hint":"","retryable":true}}}\n', "warming"],
  ];
  for (const [sent, kind] of cases) {
    await serving(
      (peer) => peer.once("data", () => peer.end(sent)),
      (path) =>
        connected(async (client) => {
          const calls = [client.status(), client.call("workspace.list")];
          for (const call of await Promise.allSettled(calls)) {
            assert.ok(call.status === "rejected" && is(kind)(call.reason), `${kind}: ${JSON.stringify(call)}`);
          }
          assert.ok(client.closed);
          await assert.rejects(client.status(), is(kind));
        }, path),
    );
  }
  const client = await Client.connect({ socket });
  const call = client.search({ workspace, query: "q" });
  const rejected = assert.rejects(call, is("closed"));
  await client.close();
  await rejected;
});

test("the socket is where the protocol says", () => {
  const cases: [NodeJS.ProcessEnv, NodeJS.Platform, string][] = [
    [{ HIPPOD_SOCKET: "/s", HIPPOD_HOME: "/h" }, "linux", "/s"],
    [{ HIPPOD_SOCKET: "", HIPPOD_HOME: "/h", XDG_RUNTIME_DIR: "/run" }, "linux", "/h/hippod.sock"],
    [{ XDG_RUNTIME_DIR: "/run/user/1", HOME: "/home/u" }, "linux", "/run/user/1/hippod/hippod.sock"],
    [{ XDG_RUNTIME_DIR: "relative", XDG_STATE_HOME: "/s" }, "linux", "/s/hippod/hippod.sock"],
    [{ HOME: "/home/u" }, "linux", "/home/u/.local/state/hippod/hippod.sock"],
    [{ HOME: "/Users/u" }, "darwin", "/Users/u/Library/Application Support/hippod/hippod.sock"],
    [{ USERNAME: "u" }, "win32", "\\\\.\\pipe\\hippod-u"],
    [{ USERNAME: "u", HIPPOD_HOME: "/h/i" }, "win32", "\\\\.\\pipe\\hippod--h-i"],
  ];
  for (const [variables, platform, expected] of cases) assert.equal(socketPath(variables, platform), expected);
  assert.throws(() => socketPath({ HIPPOD_HOME: "here" }, "linux"), /not an absolute path: here/);
  assert.throws(() => socketPath({}, "linux"), /home folder/);
});

test("the example of the documentation runs", () => {
  const output = execFileSync(process.execPath, [join(here, "dist/examples/search.js"), workspace], { env, encoding: "utf8" });
  assert.match(output, /memory\/.*\.md:\d+: .*port 8443/s);
});
