/** Tests of the extension with the real daemon, without one, and in the folder of a stranger. */

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";

import { appendLine, call, folders, settings, socketPath } from "../src/daemon.js";
import hippocampus from "../src/index.js";
import openclaw from "../src/openclaw.js";
import { message } from "../src/session.js";

const here = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const program = process.env["HIPPOD_PROGRAM"] ?? resolve(here, "../../target/debug/hippod");
const event: unknown = JSON.parse(readFileSync(join(here, "fixtures/event.json"), "utf8"));

type Handler = (event: unknown, ctx: ExtensionContext) => unknown;

/** The extension as a host loads it. */
function loaded(): Map<string, Handler> {
  const handlers = new Map<string, Handler>();
  const api = { on: (name: string, handler: Handler) => handlers.set(name, handler) };
  hippocampus(api as unknown as ExtensionAPI);
  return handlers;
}

/** What a host tells of a session in a folder, and what it was asked to show. */
function session(cwd: string, id: string, file?: string): { ctx: ExtensionContext; shown: string[] } {
  const shown: string[] = [];
  const ctx = {
    cwd,
    hasUI: true,
    ui: { notify: (text: string) => shown.push(text) },
    sessionManager: { getSessionId: () => id, getSessionFile: () => file },
    getContextUsage: () => ({ tokens: 900, contextWindow: 1000, percent: 90 }),
  };
  return { ctx: ctx as unknown as ExtensionContext, shown };
}

function run(handlers: Map<string, Handler>, name: string, ctx: ExtensionContext, of: unknown = { type: name }): unknown {
  const handler = handlers.get(name);
  assert.ok(handler, name);
  return handler(of, ctx);
}

const before_compact = (signal?: AbortSignal): unknown => ({
  ...(event as object),
  signal: signal ?? new AbortController().signal,
});

const home = mkdtempSync(join(tmpdir(), "hippod-openclaw-"));
const workspace = join(home, "workspace");
let daemon: ChildProcess;

const asked = (method: string, params: Record<string, unknown>): Promise<unknown> =>
  call(socketPath(process.env), method, params, 10_000);

async function until<T>(what: string, find: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const deadline = Date.now() + 30_000;
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
  process.env["HIPPOD_HOME"] = home;
  delete process.env["HIPPOD_SOCKET"];
  const env = { ...process.env, HIPPOD_EMBED_MODEL: "hash" };
  daemon = spawn(program, ["run"], { env, stdio: "ignore" });
  await until("the daemon", () => asked("status", {}).catch(() => undefined));
  await asked("workspace.add", { workspace });
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

test("a compaction is the daemon's, and every message of it can be fetched", async () => {
  const file = join(home, "session.jsonl");
  const line = (id: string, role: string, text: string, at: string): string =>
    `${JSON.stringify({ type: "message", id, parentId: null, timestamp: at, message: { role, content: [{ type: "text", text }] } })}\n`;
  writeFileSync(
    file,
    line("1", "user", "Please find out why the pump of the greenhouse stops", "2026-03-02T10:00:00Z") +
      line("2", "assistant", "The root cause is relay 7. It is fixed now.", "2026-03-02T10:01:00Z"),
  );
  const { ctx, shown } = session(workspace, "pi-1", file);
  const handlers = loaded();
  run(handlers, "session_start", ctx);
  const answer = (await run(handlers, "session_before_compact", ctx, before_compact())) as {
    compaction: { summary: string; firstKeptEntryId: string; tokensBefore: number };
  };
  assert.deepEqual(shown, []);
  const { summary, firstKeptEntryId, tokensBefore } = answer.compaction;
  assert.equal(firstKeptEntryId, "e9");
  assert.equal(tokensBefore, 4200);
  for (const part of ["pump of the greenhouse", "Finder 55.32", "relay 7 did not answer", "boiler was cleaned"]) {
    assert.ok(summary.includes(part), `${part}: ${summary}`);
  }
  assert.ok(!summary.includes("thought") && !summary.includes("AAAABBBB"), summary);
  const id = /m[0-9a-hjkmnp-tv-z]{9}/.exec(summary)?.[0];
  assert.ok(id, summary);
  const fetched = (await asked("context.fetch", { id })) as { outcome: string };
  assert.equal(fetched.outcome, "full");

  const log = readFileSync(join(home, "state/hippocampus.log"), "utf8").trim().split("\n");
  assert.match(log[0] ?? "", /^\[\d{4}-.*Z\] \[hippocampus\] 🧠 extension loaded$/);
  assert.match(log[1] ?? "", /🔬 Compaction triggered \{"messages":6,"tokensBefore":4200\}$/);
  assert.match(log[2] ?? "", /📊 Scoring complete \{"total":5,"sparse":\d+,"compressed":\d+,"kept":\d+\}$/);
  assert.match(log[3] ?? "", /📝 Summary built \{"summaryTokens":\d+,"compressionRatio":"[\d.]+"\}$/);
  const day = join(workspace, "memory/2026-03-02.md");
  const request = "- request: Please find out why the pump of the greenhouse stops";
  // The daemon creates the log before it writes the first lines into it.
  await until(`the log of the day with ${request}`, () => (existsSync(day) && readFileSync(day, "utf8").includes(request)) || undefined);
});

test("a folder that is no workspace gets a summary as well", async () => {
  const other = join(home, "other");
  mkdirSync(other);
  const { ctx, shown } = session(other, "pi-2");
  const answer = (await run(loaded(), "session_before_compact", ctx, before_compact())) as {
    compaction: { summary: string };
  };
  assert.ok(answer.compaction.summary.includes("Finder 55.32"));
  assert.deepEqual(shown, []);
});

test("turns are reported in their order", async () => {
  const { ctx } = session(workspace, "pi-3");
  const handlers = loaded();
  for (const turnIndex of [0, 1, 0]) run(handlers, "turn_end", ctx, { type: "turn_end", turnIndex });
  await run(handlers, "session_shutdown", ctx);
  const opened = (await asked("context.open", { workspace, session: "pi-3" })) as { turn: number; resumed: boolean };
  assert.deepEqual([opened.turn, opened.resumed], [3, true]);
});

test("without an answer in time the host compacts, and the user is told", async (t) => {
  const silent = createServer(() => undefined);
  t.after(() => {
    silent.close();
    delete process.env["HIPPOD_SOCKET"];
  });
  const socket = join(home, "silent.sock");
  await new Promise<void>((done) => silent.listen(socket, done));
  const folder = join(home, "silent");
  mkdirSync(folder);
  writeFileSync(join(folder, "hipocampus.config.json"), JSON.stringify({ sessionCompaction: { hippod: { timeoutMs: 50 } } }));
  for (const [listens, reason] of [
    [socket, /no answer within 50 ms/],
    [join(home, "nowhere.sock"), /ENOENT/],
  ] as const) {
    process.env["HIPPOD_SOCKET"] = listens;
    const { ctx, shown } = session(folder, "pi-4");
    assert.equal(await run(loaded(), "session_before_compact", ctx, before_compact()), undefined);
    assert.match(shown.join(), reason);
    run(loaded(), "turn_end", ctx);
  }
  delete process.env["HIPPOD_SOCKET"];
  const gone = new AbortController();
  const { ctx, shown } = session(workspace, "pi-5");
  gone.abort();
  assert.equal(await run(loaded(), "session_before_compact", ctx, before_compact(gone.signal)), undefined);
  assert.deepEqual(shown, []);
});

test("a daemon that does not answer delays a result only once", async (t) => {
  let connections = 0;
  const silent = createServer(() => (connections += 1));
  t.after(() => {
    silent.close();
    delete process.env["HIPPOD_SOCKET"];
  });
  process.env["HIPPOD_SOCKET"] = join(home, "mute.sock");
  await new Promise<void>((done) => silent.listen(process.env["HIPPOD_SOCKET"], done));
  const { ctx } = session(workspace, "pi-5");
  const handlers = loaded();
  const result = { type: "tool_result", toolName: "bash", input: {}, isError: false, content: [{ type: "text", text: "x".repeat(5_000) }] };
  assert.equal(await run(handlers, "tool_result", ctx, result), undefined);
  assert.equal(connections, 1);
  assert.equal(await run(handlers, "tool_result", ctx, result), undefined);
  assert.equal(connections, 1, "the second result does not wait for the daemon");
});

type Call = (...values: unknown[]) => unknown;

/** The plugin as OpenClaw loads it: its handlers by name. */
function plugin(): Map<string, Call> {
  const handlers = new Map<string, Call>();
  const api = {
    on: (name: string, handler: Call) => handlers.set(name, handler),
    registerTool: (factory: Call) => handlers.set("tools", factory),
    registerAgentToolResultMiddleware: (handler: Call) => handlers.set("result", handler),
    registerCompactionProvider: ({ summarize }: { summarize: Call }) => handlers.set("summarize", summarize),
  };
  openclaw.register(api as unknown as Parameters<typeof openclaw.register>[0]);
  return handlers;
}

/** The result of a tool in OpenClaw. */
const toolEvent = (text: string): unknown => ({ toolName: "exec", args: { command: `cat ${text.length}` }, result: { content: [{ type: "text", text }] } });
const longText = (word: string): string => Array.from({ length: 200 }, (_, at) => `the ${word} reported ${at * 7} ms in line ${at}`).join("\n");

test("without a daemon, the plugin for OpenClaw changes nothing", async (t) => {
  t.after(() => delete process.env["HIPPOD_SOCKET"]);
  process.env["HIPPOD_SOCKET"] = join(home, "nowhere.sock");
  const handlers = plugin();
  const ctx = { sessionId: "claw-1", sessionKey: "agent:main:one", workspaceDir: workspace };
  assert.equal(await handlers.get("before_prompt_build")?.({ prompt: "What about the windmill?", messages: [] }, ctx), undefined);
  assert.equal(await handlers.get("result")?.(toolEvent(longText("windmill")), ctx), undefined);
});

test("each session of OpenClaw has its own entries, and a summary contains only those of its session", async () => {
  const handlers = plugin();
  const contexts = ["left", "right"].map((name) => ({ sessionId: `claw-${name}`, sessionKey: `agent:main:${name}`, workspaceDir: workspace }));
  const stubs = await Promise.all(contexts.map((ctx) => handlers.get("result")?.(toolEvent(longText(ctx.sessionId)), ctx)));
  const ids = stubs.map((stub) => /\[(ctx-[0-9a-f]+)\]/.exec(JSON.stringify(stub))?.[1] ?? assert.fail(JSON.stringify(stub)));
  assert.notEqual(ids[0], ids[1]);
  const messages = [{ role: "user", content: "Please check the windmill", timestamp: 1772445600000 }];
  handlers.get("before_compaction")?.({}, { sessionKey: "agent:main:left" });
  const one = String(await handlers.get("summarize")?.({ messages }));
  assert.ok(one.includes(`[${ids[0]}]`) && !one.includes(`[${ids[1]}]`), one);
  // OpenClaw does not say which of two sessions a summary is for.
  for (const ctx of contexts) handlers.get("before_compaction")?.({}, ctx);
  const none = String(await handlers.get("summarize")?.({ messages }));
  assert.ok(none.includes("check the windmill") && !none.includes("[ctx-"), none);

  // A session that OpenClaw ended is closed. A later session under the same key is another one.
  await handlers.get("session_end")?.({ reason: "new" }, contexts[0]);
  const { sessions } = (await asked("context.list", { workspace })) as { sessions: { session: string; closed: string | null }[] };
  assert.deepEqual(sessions.filter(({ closed }) => closed).map(({ session }) => session), ["claw-left"]);
  const next = { ...contexts[0], sessionId: "claw-next" };
  const added = (await handlers.get("before_prompt_build")?.({ prompt: "What did claw-left report?", messages: [] }, next)) as { appendContext: string };
  assert.ok(added.appendContext.includes(`[${ids[0]}]`), "an entry of the earlier session");
  const stored = handlers.get("before_message_write")?.({ message: { role: "user", content: [{ type: "text", text: "What?" }] } }, next);
  assert.deepEqual(stored, { message: { role: "user", content: [{ type: "text", text: `What?\n\n${added.appendContext}` }] } });
});

test("the folder of a stranger names neither a socket nor a log", async () => {
  const folder = join(home, "stranger");
  mkdirSync(folder);
  const profile = join(home, ".bashrc");
  writeFileSync(profile, "# mine\n");
  const socket = "/nonexistent/$(touch /tmp/proof)";
  for (const logFile of ["../.bashrc", profile]) {
    writeFileSync(join(folder, "hipocampus.config.json"), JSON.stringify({ sessionCompaction: { logFile, debug: true, hippod: { socket } } }));
    const { ctx, shown } = session(folder, "pi-6");
    const answer = (await run(loaded(), "session_before_compact", ctx, before_compact())) as { compaction: unknown };
    assert.ok(answer.compaction, "the daemon of the user answers");
    assert.deepEqual(shown, []);
  }
  assert.equal(readFileSync(profile, "utf8"), "# mine\n");
  assert.ok(!readFileSync(join(home, "state/hippocampus.log"), "utf8").includes("/tmp/proof"));
});

test("the folder of a stranger may only narrow what the user set", () => {
  const user = join(home, "own");
  const folder = join(home, "narrow");
  mkdirSync(user);
  mkdirSync(folder);
  const write = (where: string, of: unknown): void => writeFileSync(join(where, "hipocampus.config.json"), JSON.stringify({ sessionCompaction: of }));
  const read = (): unknown => {
    const { timeoutMs, budgetTokens, turns, flush, debug, numbers } = settings(folder, { HIPPOD_HOME: user });
    return [timeoutMs, budgetTokens, turns, flush, debug, numbers];
  };
  write(folder, { debug: true, sparseThreshold: 0, maxSparseIndexTokens: 900, hippod: { timeoutMs: 9e9, budgetTokens: 400.5 } });
  assert.deepEqual(read(), [5_000, 400, true, true, false, { maxSparseIndexTokens: 900 }]);
  write(user, { debug: true, sparseThreshold: 0.3, maxSparseIndexTokens: 500, hippod: { timeoutMs: 7_000, budgetTokens: 300, turns: false } });
  assert.deepEqual(read(), [7_000, 300, false, true, true, { sparseThreshold: 0.3, maxSparseIndexTokens: 500 }]);
  write(folder, { hippod: { timeoutMs: 20, turns: true, flush: false } });
  assert.deepEqual(read(), [20, 300, false, false, true, { sparseThreshold: 0.3, maxSparseIndexTokens: 500 }]);
  // A link may lead to a pipe that nobody writes to.
  rmSync(join(folder, "hipocampus.config.json"));
  symlinkSync(join(user, "hipocampus.config.json"), join(folder, "hipocampus.config.json"));
  assert.deepEqual(read(), [7_000, 300, false, true, true, { sparseThreshold: 0.3, maxSparseIndexTokens: 500 }]);
});

test("a log line is one line whatever it says, and a full log is rotated", () => {
  const file = join(home, "lines/hippocampus.log");
  appendLine(file, "a\nb\u001b[2Jc\u009bd\u2028e");
  assert.equal(readFileSync(file, "utf8"), "a\\u000ab\\u001b[2Jc\\u009bd\\u2028e\n");
  writeFileSync(file, "x".repeat(1024 * 1024 + 1));
  appendLine(file, "new");
  assert.equal(readFileSync(file, "utf8"), "new\n");
  assert.ok(existsSync(`${file}.1`));
});

test("settings that cannot be used are the defaults", () => {
  const folder = join(home, "settings");
  mkdirSync(folder);
  const of = (env: NodeJS.ProcessEnv): ReturnType<typeof settings> => settings(folder, env);
  const user = { HIPPOD_HOME: folder };
  assert.equal(of(user).timeoutMs, 5_000);
  writeFileSync(join(folder, "hipocampus.config.json"), "{");
  assert.equal(of(user).logFile, join(folder, "state/hippocampus.log"));
  const odd = { sparseThreshold: 0.3, logFile: "relative.log", hippod: { timeoutMs: "soon", budgetTokens: -1, turns: false } };
  writeFileSync(join(folder, "hipocampus.config.json"), JSON.stringify({ sessionCompaction: odd }));
  const { timeoutMs, budgetTokens, turns, numbers, logFile } = of(user);
  assert.deepEqual([timeoutMs, budgetTokens, turns], [5_000, undefined, false]);
  assert.deepEqual(numbers, { sparseThreshold: 0.3 });
  assert.equal(logFile, join(folder, "state/hippocampus.log"));
  assert.equal(message("text"), undefined);
  assert.equal(message({ content: "x" }), undefined);
});

test("settings and log are where hippod has its own", () => {
  const env = { HOME: "/home/u" };
  assert.deepEqual(folders({ ...env, HIPPOD_HOME: "/h" }, "linux"), { config: "/h", state: "/h/state" });
  assert.deepEqual(folders({ ...env, XDG_STATE_HOME: "/s", XDG_CONFIG_HOME: "c" }, "linux"), {
    config: "/home/u/.config/hippod",
    state: "/s/hippod",
  });
  const mac = "/home/u/Library/Application Support/hippod";
  assert.deepEqual(folders(env, "darwin"), { config: mac, state: `${mac}/state` });
});

test("the socket is where the daemon has it", () => {
  const env = { HOME: "/home/u" };
  assert.equal(socketPath({ ...env, HIPPOD_SOCKET: "/s" }, "linux"), "/s");
  assert.equal(socketPath({ ...env, HIPPOD_HOME: "/h" }, "linux"), "/h/hippod.sock");
  assert.equal(socketPath({ ...env, XDG_RUNTIME_DIR: "/run/u" }, "linux"), "/run/u/hippod/hippod.sock");
  assert.equal(socketPath({ ...env, XDG_RUNTIME_DIR: "run" }, "linux"), "/home/u/.local/state/hippod/hippod.sock");
  assert.equal(socketPath(env, "darwin"), "/home/u/Library/Application Support/hippod/hippod.sock");
});
