/** Do the official clients, of both lines that are in use, get along with the server, and does it end with them? */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Client as Current } from "@modelcontextprotocol/client";
import { StdioClientTransport as CurrentTransport } from "@modelcontextprotocol/client/stdio";
import { Client as First } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const here = dirname(fileURLToPath(import.meta.url));
const program = process.env["HIPPOCTL_PROGRAM"] ?? resolve(here, "../../target/debug/hippoctl");
const home = mkdtempSync(join(tmpdir(), "hippod-mcp-"));
const workspace = join(home, "workspace");
const env = { ...process.env, HIPPOD_HOME: home, HIPPOD_EMBED_MODEL: "hash" };
delete env["HIPPOD_SOCKET"];

const hippoctl = (...words) => execFileSync(program, words, { cwd: workspace, env, encoding: "utf8" });

before(() => {
  mkdirSync(join(workspace, "memory"), { recursive: true });
  writeFileSync(join(workspace, "memory/2026-03-02.md"), "# Acme\n\n## Staging\n\nStaging runs on port 8443.\n");
  hippoctl("workspace", "add");
  hippoctl("sync", "--wait");
});

after(() => {
  hippoctl("service", "stop");
  rmSync(home, { recursive: true, force: true });
  // Exit even if a test left something open, because the gate waits for this process.
  setTimeout(() => {
    console.error("something is still open after the last test");
    process.exit(1);
  }, 10_000).unref();
});

const about = { name: "hippod-mcp-clients", version: "1" };
const pinned = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const CLIENTS = [
  ["the first line", () => new First(about), FirstTransport],
  ["the current line, by the handshake", () => new Current(about), CurrentTransport],
  ["the current line, by the current revision", () => new Current(about, pinned), CurrentTransport],
];

const alive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

for (const [name, make, Transport] of CLIENTS) {
  test(`a client of ${name}`, async () => {
    const client = make();
    const errors = [];
    client.onerror = (error) => errors.push(error);
    const transport = new Transport({ command: program, args: ["mcp"], cwd: workspace, env, stderr: "inherit" });
    await client.connect(transport);
    const pid = transport.pid;
    assert.equal(client.getServerVersion()?.name, "hippod");

    // List the tools first. After that, the client checks each answer against the schema of its tool.
    const { tools } = await client.listTools();
    const names = [
      "memory_search", "memory_get", "memory_remember", "memory_edit", "memory_status", "context_fetch",
    ];
    assert.deepEqual(tools.map((tool) => tool.name), names);
    const gives = async (tool, args) => {
      const { structuredContent, isError, content } = await client.callTool({ name: tool, arguments: args });
      assert.ok(!isError, JSON.stringify(content));
      assert.deepEqual(JSON.parse(content[0].text), structuredContent);
      return structuredContent;
    };
    const found = await gives("memory_search", { query: "staging port", maxResults: 3 });
    assert.equal(found.results[0].path, "memory/2026-03-02.md");
    const { path, startLine } = found.results[0];
    const read = await gives("memory_get", { path, from: startLine });
    assert.match(read.text, /port 8443/);
    const kept = await gives("memory_remember", { text: `The heron of ${name} nests.`, topic: "Heron", type: "project" });
    assert.match(kept.path, /^memory\//);
    assert.equal((await gives("memory_status", {})).documents >= 1, true);
    const wrong = await client.callTool({ name: "context_fetch", arguments: { id: "ctx-nothing" } });
    assert.equal(wrong.isError, true);
    await assert.rejects(client.callTool({ name: "memory_burn", arguments: {} }), /unknown tool/);

    // Check this before a call is cancelled: some clients report a late answer to a cancelled call as an error.
    assert.deepEqual(errors, []);
    const given_up = new AbortController();
    const call = client.callTool({ name: "memory_search", arguments: { query: "x" } }, ...options(client, given_up.signal));
    given_up.abort();
    await assert.rejects(call);
    await gives("memory_status", {});

    await client.close();
    const deadline = Date.now() + 30_000;
    while (alive(pid)) {
      assert.ok(Date.now() < deadline, "the server outlives its client");
      await new Promise((done) => setTimeout(done, 10));
    }
  });
}

/** The options of a call come third in the first line, after a schema of the answer. */
function options(client, signal) {
  return client instanceof First ? [undefined, { signal }] : [{ signal }];
}
