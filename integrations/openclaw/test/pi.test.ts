/** Tests with the program Pi 0.73.1, which sends its requests to a local stand-in for the API of a model. */

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { call, socketPath } from "../src/daemon.js";

const here = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const program = process.env["HIPPOD_PROGRAM"] ?? resolve(here, "../../target/debug/hippod");
const pi = join(here, "node_modules/@mariozechner/pi-coding-agent");
const home = mkdtempSync(join(tmpdir(), "hippod-pi-"));
const workspace = join(home, "workspace");
/** Where `hippoctl init` installs the extension. */
const installed = join(workspace, ".pi/extensions/hippod");

interface Message {
  role: string;
  content?: unknown;
  tool_call_id?: string;
}

/** What the model answers: text, or a call of a tool. */
type Reply = string | { tool: string; input: Record<string, unknown> };

/** A server that speaks the API for chat completions, and keeps all requests. */
class Model {
  readonly requests: Message[][] = [];
  #server: Server;

  constructor(reply: (messages: Message[]) => Reply) {
    this.#server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const { messages } = JSON.parse(Buffer.concat(pieces).toString("utf8")) as { messages: Message[] };
        this.requests.push(messages);
        const said = reply(messages);
        const delta =
          typeof said === "string"
            ? { role: "assistant", content: said }
            : {
                role: "assistant",
                tool_calls: [
                  {
                    index: 0,
                    id: `call_${this.requests.length}`,
                    type: "function",
                    function: { name: said.tool, arguments: JSON.stringify(said.input) },
                  },
                ],
              };
        const tokens = Math.ceil(JSON.stringify(messages).length / 4);
        const chunk = (choice: object): string =>
          `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, ...choice }] })}\n\n`;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(chunk({ delta, finish_reason: null }));
        response.write(chunk({ delta: {}, finish_reason: typeof said === "string" ? "stop" : "tool_calls" }));
        const usage = { prompt_tokens: tokens, completion_tokens: 5, total_tokens: tokens + 5 };
        response.end(`data: ${JSON.stringify({ id: "1", model: "m", choices: [], usage })}\n\ndata: [DONE]\n\n`);
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** A running Pi with the extension, in its mode for other programs. */
class Agent {
  #events: Record<string, unknown>[] = [];
  #wake: () => void = () => undefined;
  #rest = "";
  #errors = "";
  readonly process: ChildProcess;

  constructor(name: string, port: number, ...options: string[]) {
    const folder = join(home, name);
    mkdirSync(folder, { recursive: true });
    const model = { id: "m", contextWindow: 30_000, maxTokens: 1_000 };
    const provider = { baseUrl: `http://127.0.0.1:${port}/v1`, api: "openai-completions", apiKey: "none", models: [model] };
    writeFileSync(join(folder, "models.json"), JSON.stringify({ providers: { local: provider } }));
    writeFileSync(join(folder, "settings.json"), JSON.stringify({ compaction: { keepRecentTokens: 300, reserveTokens: 1_000 } }));
    const words = [join(pi, "dist/cli.js"), "--mode", "rpc", "--provider", "local", "--model", "m"];
    if (!existsSync(installed)) words.push("-e", join(here, "src/index.ts"));
    const env = { ...process.env, PI_CODING_AGENT_DIR: folder, PI_OFFLINE: "1", HIPPOD_HOME: home };
    this.process = spawn(process.execPath, [...words, ...options], { cwd: workspace, env, stdio: ["pipe", "pipe", "pipe"] });
    this.process.stderr?.on("data", (piece: Buffer) => (this.#errors += piece.toString("utf8")));
    this.process.stdout?.on("data", (piece: Buffer) => {
      const lines = (this.#rest + piece.toString("utf8")).split("\n");
      this.#rest = lines.pop() ?? "";
      this.#events.push(...lines.filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>));
      this.#wake();
    });
    this.process.on("exit", () => this.#wake());
  }

  async #until(what: string, found: (event: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const at = this.#events.findIndex(found);
      if (at >= 0) return this.#events.splice(0, at + 1).at(-1) ?? {};
      assert.ok(this.process.exitCode === null && Date.now() < deadline, `no ${what}: ${this.#errors}`);
      await new Promise<void>((done) => {
        const timer = setTimeout(done, 1_000);
        this.#wake = () => (clearTimeout(timer), done());
      });
    }
  }

  /** Sends a prompt, and waits until the agent has answered it. */
  async prompt(message: string): Promise<void> {
    this.process.stdin?.write(`${JSON.stringify({ type: "prompt", message })}\n`);
    await this.#until("end of the turn", (event) => event["type"] === "agent_end");
  }

  async command(type: string): Promise<Record<string, unknown>> {
    this.process.stdin?.write(`${JSON.stringify({ type })}\n`);
    const answer = await this.#until(type, (event) => event["type"] === "response" && event["command"] === type);
    assert.equal(answer["success"], true, JSON.stringify(answer));
    return answer;
  }

  async end(): Promise<void> {
    const ended = new Promise((done) => this.process.once("exit", done));
    this.process.stdin?.end();
    await ended;
  }
}

let daemon: ChildProcess;

async function startDaemon(): Promise<void> {
  daemon = spawn(program, ["run"], { env: { ...process.env, HIPPOD_HOME: home, HIPPOD_EMBED_MODEL: "hash" }, stdio: "ignore" });
  const deadline = Date.now() + 30_000;
  while (!(await asked("status", {}).catch(() => undefined))) {
    assert.ok(Date.now() < deadline, "the daemon did not start");
    await new Promise((done) => setTimeout(done, 10));
  }
}

const asked = (method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> =>
  call(socketPath({ HIPPOD_HOME: home }), method, params, 10_000) as Promise<Record<string, unknown>>;

before(async () => {
  mkdirSync(join(workspace, "memory"), { recursive: true });
  writeFileSync(join(workspace, "memory/2026-03-02.md"), "# Pump\n\nThe greenhouse pump runs on relay 7.\n");
  await startDaemon();
  await asked("workspace.add", { workspace });
  await asked("workspace.sync", { workspace, wait: true });
});

after(async () => {
  const ended = new Promise((done) => daemon.once("exit", done));
  daemon.kill();
  await ended;
  rmSync(home, { recursive: true, force: true });
});

const textOf = (message: Message | undefined): string => {
  const content = message?.content;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((block: { text?: string }) => block.text ?? "").join("\n") : "";
};

/** A log of about 12 KB. */
function logFile(number: number): string {
  const lines = Array.from({ length: 200 }, (_, at) => `2026-03-02T10:00:${String(at % 60).padStart(2, "0")} INFO job ${number}.${at} took ${at * 7} ms on host-${at % 9}`);
  lines[140] = `2026-03-02T10:02:20 ERROR job ${number} failed: relay ${number} of build-${number} did not answer`;
  return `${lines.join("\n")}\n`;
}

/** Answers the prompt "run COMMAND" or "TOOL JSON" with a call of the tool, and the result with a text. */
function scripted(messages: Message[]): Reply {
  const last = messages.at(-1);
  if (last?.role !== "user" && last?.role !== "system" && last?.role !== "developer") return "done";
  const user = messages.filter((message) => message.role === "user").map(textOf).filter((text) => !text.startsWith("<!--")).at(-1) ?? "";
  const [tool, ...rest] = user.split(" ");
  if (tool === "run") return { tool: "bash", input: { command: rest.join(" ") } };
  if (tool?.startsWith("memory_") || tool === "read") return { tool, input: JSON.parse(rest.join(" ")) as Record<string, unknown> };
  return "noted";
}

/** Asserts that each request begins with the messages of the request before. */
function assertPrefixes(requests: Message[][]): void {
  for (const [at, request] of requests.slice(1).entries()) {
    const earlier = requests[at] ?? [];
    assert.deepEqual(request.slice(0, earlier.length), earlier, `request ${at + 1} changes earlier messages`);
  }
}

const idOf = (text: string): string => /\[(ctx-[0-9a-f]+)\]/.exec(text)?.[1] ?? assert.fail(`no id: ${text}`);

test("large results enter the conversation as entries, over 60 turns, a crash and a compaction", async (t) => {
  const model = new Model(scripted);
  t.after(() => model.close());
  const port = await model.listen();
  const agent = new Agent("one", port);
  t.after(() => agent.process.kill("SIGKILL"));
  const ids: string[] = [];
  for (let number = 1; number <= 30; number += 1) {
    writeFileSync(join(workspace, `log-${number}.txt`), logFile(number));
    if (number === 15) {
      // Without a daemon, results enter the conversation as they are.
      const ended = new Promise((done) => daemon.once("exit", done));
      daemon.kill("SIGKILL");
      await ended;
    }
    if (number === 16) await startDaemon();
    await agent.prompt(`run cat log-${number}.txt`);
    const result = textOf(model.requests.at(-1)?.at(-1));
    if (number === 15) {
      assert.equal(result, logFile(number));
      continue;
    }
    assert.ok(result.startsWith(`hippod stored this result (${logFile(number).length} bytes)`), result);
    assert.ok(result.length < 2_000 && !result.includes("job 1.77"), result);
    assert.ok(result.includes(`relay ${number} of build-${number}`), result);
    ids.push(idOf(result));
  }
  assert.equal(new Set(ids).size, 29);
  assert.ok(model.requests.length >= 60);
  assertPrefixes(model.requests);

  await agent.prompt(`memory_fetch {"id":"${ids[0]}"}`);
  assert.equal(textOf(model.requests.at(-1)?.at(-1)), logFile(1));
  await agent.prompt(`memory_fetch {"id":"${ids[1]}","pattern":"did not answer"}`);
  const found = textOf(model.requests.at(-1)?.at(-1));
  assert.match(found, /^139: .*\n140: .*\n141: .*relay 2 of build-2.*\n142: .*\n143: .*$/);
  await agent.prompt("run cat log-3.txt");
  assert.equal(textOf(model.requests.at(-1)?.at(-1)), logFile(3), "the same call again returns the whole result");
  await agent.prompt('memory_search {"query":"what does the pump run on"}');
  assert.ok(textOf(model.requests.at(-1)?.at(-1)).includes("relay 7"), "the memory was searched");
  await agent.prompt('read {"path":"log-4.txt"}');
  assert.equal(textOf(model.requests.at(-1)?.at(-1)), logFile(4), "a file is read whole");
  assertPrefixes(model.requests);

  await agent.command("compact");
  const turns = model.requests.length;
  await agent.prompt("What did build-5 say about relay 5?");
  const request = JSON.stringify(model.requests[turns]);
  assert.ok(request.includes("Entries of results that hippod stored earlier"), request);
  assert.ok(request.length < 40_000, "the conversation is short after the compaction");
  assert.ok(request.includes(`[${ids[4]}]`), "the words of the prompt bring the entry back");
  await agent.prompt("Thanks.");
  assertPrefixes(model.requests.slice(turns));
  await agent.end();
  const { sessions } = (await asked("context.list", { workspace })) as { sessions: { closed: string | null; turn: number }[] };
  assert.equal(sessions.length, 1);
  assert.ok(sessions[0]?.closed && sessions[0].turn > 60, JSON.stringify(sessions));

  // A session that goes on after its end can fetch what it stored before.
  const again = new Agent("one", port, "--continue");
  t.after(() => again.process.kill("SIGKILL"));
  await again.prompt("run cat log-6.txt log-7.txt");
  assert.ok(textOf(model.requests.at(-1)?.at(-1)).startsWith("hippod stored this result"));
  await again.prompt(`memory_fetch {"id":"${ids[5]}"}`);
  assert.equal(textOf(model.requests.at(-1)?.at(-1)), logFile(6));
  await again.end();
});

test("two agents in one folder keep their entries apart", async (t) => {
  cpSync(join(here, "src"), installed, { recursive: true });
  const model = new Model(scripted);
  t.after(() => model.close());
  const port = await model.listen();
  const agents = ["left", "right"].map((name) => new Agent(name, port));
  t.after(() => agents.forEach((agent) => agent.process.kill("SIGKILL")));
  await Promise.all(
    agents.map(async (agent, at) => {
      for (const number of [1, 2, 3]) {
        const name = `log-${at}-${number}.txt`;
        writeFileSync(join(workspace, name), logFile(100 * (at + 1) + number));
        await agent.prompt(`run cat ${name}`);
      }
    }),
  );
  const results = model.requests.map((request) => request.at(-1)).filter((message) => message?.role === "tool").map(textOf);
  assert.equal(results.length, 6);
  assert.equal(new Set(results.map(idOf)).size, 6);
  const whole = model.requests.filter((request) => request.length === Math.max(...model.requests.map((other) => other.length)));
  for (const request of whole) {
    const builds = JSON.stringify(request).match(/build-[12]/g) ?? [];
    assert.equal(new Set(builds).size, 1, "an agent saw a result of the other");
  }
  for (const agent of agents) await agent.end();
});
