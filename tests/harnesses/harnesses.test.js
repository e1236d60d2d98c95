// Tests with the programs Claude Code 2.1.197, OpenCode 1.18.33, Codex 0.171.0 and OpenClaw 2026.9.6, after
// `hippoctl init`. The programs send their requests to a local stand-in for the API of a model.
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join, resolve } from "node:path"
import { after, before, test } from "node:test"
import { fileURLToPath } from "node:url"

import { startModel } from "./model.js"

const here = dirname(fileURLToPath(import.meta.url))
const programs = process.env.HIPPOD_PROGRAMS ?? resolve(here, "../../target/debug")
const folder = mkdtempSync(join(tmpdir(), "hippod-harnesses-"))
const home = join(folder, "home")
const env = { PATH: [programs, process.env.PATH].join(delimiter), HOME: home, HIPPOD_HOME: join(folder, "hippod"), HIPPOD_EMBED_MODEL: "hash" }
const hippoctl = (cwd, ...words) => execFileSync(join(programs, "hippoctl"), words, { cwd, env, encoding: "utf8" })

// Codex cuts longer results itself.
const lines = Array.from({ length: 120 }, (_, at) => `INFO job ${at} of the batch of March took ${at * 7} ms on host-${at % 9}`)
lines[100] = "ERROR job 100 failed: relay 7 did not answer"
const log = `${lines.join("\n")}\n`

before(() => mkdirSync(home))

after(async () => {
  try {
    hippoctl(folder, "service", "stop")
  } catch {
    // The daemon was not started.
  }
  rmSync(folder, { recursive: true, force: true })
})

// Returns the program of a platform package below `node_modules`.
const programOf = (scope, pattern, path) => {
  const root = join(here, "node_modules", scope)
  const name = existsSync(root) ? readdirSync(root).find((name) => pattern.test(name)) : undefined
  assert.ok(name, `run npm install in ${here}`)
  return join(root, name, path)
}

const run = (program, words, cwd, more) =>
  new Promise((done, failed) => {
    const child = spawn(program, words, { cwd, env: { ...env, ...more }, stdio: ["ignore", "pipe", "pipe"], timeout: 90_000 })
    let printed = ""
    child.stdout.on("data", (piece) => (printed += piece))
    child.stderr.on("data", (piece) => (printed += piece))
    child.on("error", failed)
    child.on("exit", (code) => (code === 0 ? done(printed) : failed(new Error(`exit ${code}: ${printed}`))))
  })

// Runs a harness in a new project: it prints the log, reads it back by the id of its entry, and ends.
const session = async (platform, tool, input, resultOf, start) => {
  const project = join(folder, platform)
  mkdirSync(project)
  writeFileSync(join(project, "log.txt"), log)
  hippoctl(project, "init", "--platform", platform)
  hippoctl(project, "sync", "--wait")
  const model = await startModel((requests) => {
    if (requests.length === 1) return { tool, input: input("cat log.txt") }
    const id = /\[(ctx-[0-9a-f]+)\]/.exec(resultOf(requests[1]))?.[1]
    return requests.length === 2 && id ? { tool, input: input(`${join(programs, "hippoctl")} context fetch ${id}`) } : { text: "done" }
  })
  try {
    await start(project, model.url)
  } finally {
    model.close()
  }
  const [, second, third] = model.requests.map(resultOf)
  assert.match(second, /hippod stored this result \(\d+ bytes, as the tool returned it\)/)
  assert.ok(second.includes("relay 7") && !second.includes("job 77 "), second)
  assert.ok(second.length < 2_000, second)
  assert.ok(third.includes("job 77 ") && third.includes(lines[100]), `the agent reads the content back: ${third}`)
}

const last = (results) => results.at(-1) ?? ""

test("Claude Code", async () => {
  const program = programOf("@anthropic-ai", /^claude-code-[a-z]+-/, "claude")
  const resultOf = ({ messages }) => {
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === "tool_result")
    return last(blocks.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content))))
  }
  await session("claude-code", "Bash", (command) => ({ command }), resultOf, (project, url) =>
    run(program, ["-p", "do it", "--allowedTools", "Bash"], project, {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
    }),
  )
})

test("OpenCode", async () => {
  const program = programOf("", /^opencode-[a-z]+-[a-z0-9]+$/, "bin/opencode")
  const resultOf = ({ messages }) => last(messages.filter(({ role }) => role === "tool").map(({ content }) => String(content)))
  await session("opencode", "bash", (command) => ({ command, description: "run" }), resultOf, (project, url) => {
    const models = { m: { name: "m", limit: { context: 200_000, output: 8_000 } } }
    const local = { npm: "@ai-sdk/openai-compatible", name: "local", options: { baseURL: `${url}/v1`, apiKey: "none" }, models }
    const settings = { model: "local/m", small_model: "local/m", autoupdate: false, share: "disabled", provider: { local } }
    const config = join(folder, "opencode-config.json")
    writeFileSync(config, JSON.stringify(settings))
    return run(program, ["run", "do it"], project, { OPENCODE_CONFIG: config, OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" })
  })
})

test("Codex", async () => {
  const platform = process.arch === "arm64" ? "aarch64" : "x86_64"
  const program = programOf("@openai", /^codex-linux-/, `vendor/${platform}-unknown-linux-musl/bin/codex`)
  const resultOf = ({ input }) => last(input.filter(({ type }) => /output$/.test(type)).map(({ output }) => (typeof output === "string" ? output : JSON.stringify(output))))
  await session("codex", "exec_command", (cmd) => ({ cmd }), resultOf, (project, url) => {
    mkdirSync(join(home, ".codex"), { recursive: true })
    const provider = `[model_providers.local]\nname = "local"\nbase_url = "${url}/v1"\nwire_api = "responses"\n`
    writeFileSync(join(home, ".codex/config.toml"), `model = "gpt-5.1-codex"\nmodel_provider = "local"\n${provider}[projects."${project}"]\ntrust_level = "trusted"\n`)
    const options = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"]
    return run(program, ["exec", ...options, "do it"], project, {})
  })
})

test("OpenClaw", async () => {
  const project = join(folder, "openclaw")
  const memory = join(project, "memory")
  const state = join(folder, "openclaw-state")
  const day = join(memory, `${new Date().toISOString().slice(0, 10)}.md`)
  mkdirSync(memory, { recursive: true })
  mkdirSync(state)
  writeFileSync(join(memory, "2026-03-02.md"), "# Pump\n\nThe greenhouse pump runs on relay 7.\n")
  writeFileSync(join(project, "log.txt"), log)
  hippoctl(project, "init", "--platform", "openclaw")
  hippoctl(project, "sync", "--wait")

  // Runs one prompt. Each answer is a tool with its input, or a text.
  const prompt = async (text, ...answers) => {
    const model = await startModel((requests) => {
      const answer = answers[requests.length - 1] ?? { text: "not expected" }
      return typeof answer === "function" ? answer(resultOf(requests.at(-1))) : answer
    })
    const models = [{ id: "m", name: "m", contextWindow: 128_000, maxTokens: 4_096 }]
    const local = { baseUrl: `${model.url}/v1`, apiKey: "none", api: "openai-completions", models }
    const compaction = { provider: "hippod", mode: "safeguard", keepRecentTokens: 100 }
    const defaults = { model: { primary: "local/m" }, workspace: project, skipBootstrap: true, compaction }
    const hippod = { enabled: true, hooks: { allowConversationAccess: true } }
    const plugins = { slots: { memory: "none" }, entries: { hippod } }
    writeFileSync(join(state, "openclaw.json"), JSON.stringify({ models: { mode: "replace", providers: { local } }, agents: { defaults }, plugins }))
    const words = [join(here, "node_modules/openclaw/openclaw.mjs"), "agent", "--local", "--session-id", "one", "--message", text]
    try {
      await run(programOf("", /^node-linux-/, "bin/node"), words, project, { OPENCLAW_STATE_DIR: state })
    } finally {
      model.close()
    }
    assert.equal(model.requests.length, answers.length)
    return model.requests
  }
  const textOf = ({ content }) => (typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("\n"))
  const resultOf = ({ messages }) => last(messages.filter(({ role }) => role === "tool").map(textOf))
  // The prompt cache of a provider is valid as long as a request begins with the messages of the request before. OpenClaw
  // itself adds a message about its state to the end of a request, and removes this message from the next request.
  const kept = ({ messages }) => messages.filter((message) => !textOf(message).startsWith("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"))
  const assertPrefix = (earlier, later) => assert.deepEqual(kept(later).slice(0, kept(earlier).length), kept(earlier))

  const fetch = (result) => ({ tool: "memory_fetch", input: { id: /\[(ctx-[0-9a-f]+)\]/.exec(result)?.[1], pattern: "relay" } })
  const search = { tool: "memory_search", input: { query: "what does the pump run on" } }
  const calls = await prompt("Check the batch of March", { tool: "exec", input: { command: "cat log.txt" } }, fetch, search, { text: "Done.", used: 126_000 })
  calls.slice(1).forEach((call, at) => assertPrefix(calls[at], call))
  const [, stub, lines, passages] = calls.map(resultOf)
  assert.match(stub, /hippod stored this result \(\d+ bytes\)/)
  assert.ok(stub.includes("relay 7") && !stub.includes("job 77 ") && stub.length < 2_000, stub)
  assert.match(lines, /101: ERROR job 100 failed/)
  assert.match(passages, /greenhouse pump/)
  assert.match(readFileSync(day, "utf8"), /Check the batch of March/)

  // The context is full, so OpenClaw compacts the session.
  const [compacted] = await prompt("Which relay did not answer in job 100?", { text: "Relay 7." })
  const summary = compacted.messages.map(textOf).find((text) => text.includes("<summary>")) ?? ""
  assert.match(summary, /hippocampus.md Compaction/)
  assert.ok(summary.includes(/\[ctx-[0-9a-f]+\]/.exec(stub)[0]), summary)

  // Another session of the folder has an entry that the words of a prompt bring back.
  const event = { session_id: "two", cwd: project, tool_name: "exec", tool_input: { command: "cat windmill.log" }, tool_response: log.replaceAll("job", "windmill gearbox") }
  execFileSync(join(programs, "hippoctl"), ["hook", "tool-result"], { cwd: project, env, input: JSON.stringify(event) })
  hippoctl(project, "context", "close", "--session", "two")
  const [cued] = await prompt("What did the windmill report about the gearbox?", { text: "Nothing." })
  const asked = cued.messages.map(textOf).find((text) => text.includes("about the gearbox"))
  assert.match(asked, /ERROR windmill gearbox 100 failed/)
  const [later] = await prompt("Thanks", { text: "You are welcome." })
  assertPrefix(cued, later)
  assert.ok(!readFileSync(day, "utf8").includes("ctx-"), "the daily log contains only what the user said")
})
