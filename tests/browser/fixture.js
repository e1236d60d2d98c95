/** A daemon with a small memory, the page, and the browser. */

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const program = process.env["HIPPOCTL_PROGRAM"] ?? resolve(here, "../../target/debug/hippoctl");
export const home = mkdtempSync(join(tmpdir(), "hippod-page-"));
export const workspace = join(home, "workspace");
const env = { ...process.env, HIPPOD_HOME: home, HIPPOD_EMBED_MODEL: process.env["HIPPOD_EMBED_MODEL"] ?? "hash" };
delete env["HIPPOD_SOCKET"];

/** Text that would run if the page treated it as HTML. */
export const HOSTILE = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script> </div> [a](javascript:window.hacked=1)";

export const hippoctl = (...words) => execFileSync(program, words, { cwd: workspace, env, encoding: "utf8" });

/** Sends a request to the daemon, and returns the result. */
export async function call(method, params) {
  const socket = connect(join(home, "hippod.sock"));
  socket.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`);
  let text = "";
  for await (const part of socket) if ((text += part).endsWith("\n")) break;
  const { result, error } = JSON.parse(text);
  if (error) throw new Error(error.message);
  return result;
}

/** Writes the memory, and waits until it is searchable. */
export function begin() {
  mkdirSync(join(workspace, "memory"), { recursive: true });
  const write = (name, text) => writeFileSync(join(workspace, name), text);
  write("memory/2026-03-02.md", "# 2026-03-02\n\n## Deploy\n\n- Staging server port: 7000\n\n## Garden\n\n- The tomato seedlings moved to the balcony.\n");
  write("memory/2026-03-09.md", "# 2026-03-09\n\n## Deploy\n\n- Staging server port: 8443\n\n## Kitchen\n\n- The coffee machine is descaled on the first Monday of each month.\n");
  write("memory/hostile.md", `# Hostile ${HOSTILE}\n\nThe hostile passage about the zeppelin: ${HOSTILE}\n`);
  hippoctl("workspace", "add");
  hippoctl("sync", "--wait");
  hippoctl("consolidate", "deep");
  hippoctl("tree", "compact");
  hippoctl("search", "--record", "which port does staging use");
}

/** Starts the page, and returns its address and a function that ends it. */
export async function startPage(...options) {
  const child = spawn(program, ["ui", "--no-open", ...options], { cwd: workspace, env, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((done, failed) => {
    child.stdout.once("data", (text) => done(String(text).trim()));
    child.once("exit", (code) => failed(new Error(`hippoctl ui ended with ${code}`)));
  });
  return { url, origin: new URL(url).origin, end: () => child.kill() };
}

/** Starts Chromium. `evil.example` resolves to this machine, as after DNS rebinding. */
export function startBrowser() {
  const paths = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const executablePath = paths.find((path) => path && existsSync(path));
  const args = ["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"];
  return chromium.launch({ executablePath, args });
}

/** Stops the daemon, and removes the files. */
export function end() {
  hippoctl("service", "stop");
  rmSync(home, { recursive: true, force: true });
}
