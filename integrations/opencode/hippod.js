// Tells hippod when a session of OpenCode (1 or 2) is idle or about to be compacted, so that nothing of it is lost.
// Laid out by `hippoctl init`, taken back by `hippoctl init --undo`. It never fails the session.
import { spawn } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join, relative, isAbsolute } from "node:path"

const PATIENCE_MS = 10_000
// Events of OpenCode 2.
const IDLE = ["session.execution.succeeded", "session.execution.failed", "session.execution.interrupted"]
const COMPACTING = "session.compaction.started"

// Milliseconds since 1970, however a moment is given.
const moment = (at) => (at == null ? undefined : Number(at.epochMilliseconds ?? at.epochMillis ?? new Date(at)))

// What was said, called and answered in a message, each as a record of its own: what a tool answered is nobody's word.
// `calls`: id, name, input, whether it failed, answer (nothing while there is none), and when.
const records = (role, texts, calls, at) => {
  const content = [
    ...texts.filter(Boolean).map((text) => ({ type: "text", text })),
    ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input: input ?? {} })),
  ]
  if (!content.length) return []
  const answers = calls.filter(({ answer }) => answer !== undefined)
  const timestamp = moment(at)
  return [
    { role, content, timestamp },
    ...answers.map(({ id, answer, failed, at }) => ({
      role: "tool",
      tool_call_id: id,
      content: answer,
      is_error: failed,
      timestamp: moment(at) ?? timestamp,
    })),
  ]
}

// A message of OpenCode 1. What a program put into a prompt, and what is not complete yet, is left out.
const first = ({ info, parts }) => {
  const { role, time, error, summary } = info ?? {}
  // A summary of an earlier compaction is `true`; the one of a prompt is an object with its title.
  if (!role || summary === true || (role === "assistant" && !time?.completed && !error)) return []
  const of = (type) => (parts ?? []).filter((part) => part.type === type)
  const said = of("text").filter((part) => !part.synthetic && !part.ignored)
  const calls = of("tool").map(({ callID, tool, state = {} }) => {
    const failed = state.status === "error"
    const answer = failed || state.status === "completed" ? `${(failed ? state.error : state.output) ?? ""}` : undefined
    return { id: callID, name: tool, input: state.input, failed, answer, at: state.time?.end }
  })
  return records(role, said.map((part) => part.text), calls, time?.created)
}

// A message of OpenCode 2: of its kinds a person and the agent speak in two.
const second = ({ type, text, content, time, error }) => {
  if (type === "user") return records("user", [text], [], time?.created)
  if (type !== "assistant" || (!time?.completed && !error)) return []
  const of = (type) => (content ?? []).filter((part) => part.type === type)
  const calls = of("tool").map(({ id, name, state = {}, time }) => {
    const failed = state.status === "error"
    const said = (state.content ?? []).filter((part) => part.type === "text").map((part) => part.text)
    const answer = failed ? (state.error?.message ?? said.join("\n")) : state.status === "completed" ? said.join("\n") : undefined
    const input = typeof state.input === "object" ? state.input : {}
    return { id, name, input, failed, answer, at: time?.completed }
  })
  return records("assistant", of("text").map((part) => part.text), calls, time?.created)
}

// The session as a file that only its user reads. It grows with the session and keeps its name.
const written = async (session, messages) => {
  const folder = join(process.env.XDG_RUNTIME_DIR || join(homedir(), ".cache"), "hippod-opencode")
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `${session.replace(/[^\w-]/g, "_")}.json`)
  await writeFile(file, JSON.stringify(messages), { mode: 0o600 })
  return file
}

// Calls a hook with an event. Returns what the hook printed.
const tell = (verb, input, cwd) =>
  new Promise((done) => {
    const child = spawn("hippoctl", ["hook", verb], { cwd, stdio: ["pipe", "pipe", "ignore"], timeout: PATIENCE_MS })
    let printed = ""
    child.stdout.on("data", (piece) => (printed += piece))
    child.on("error", () => done(""))
    child.on("close", () => done(printed))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(input))
  })

// Returns the entry that replaces a large result of a tool, or nothing if the result stays whole.
const entryOf = async ({ sessionID, tool, args }, text, cwd) => {
  try {
    const event = { session_id: sessionID, cwd, tool_name: tool, tool_input: args ?? {}, tool_response: text }
    return JSON.parse((await tell("tool-result", event, cwd)) || "{}").stopReason
  } catch {
    // The result then stays whole.
  }
}

// Calls a hook. `read` answers the session and its messages; one of a subagent is left out: what came of it stands in the
// one that asked for it.
const hooks = (read) => async (verb, session) => {
  if (!session) return
  try {
    const { parent, cwd, messages } = await read(session)
    if (parent || !messages) return
    const transcript_path = await written(session, messages)
    await tell(verb, { hook_event_name: verb, session_id: session, cwd, transcript_path }, cwd)
  } catch {
    // Memory is no reason to stop the work; the next call takes up what this one did not.
  }
}

// OpenCode 1.
const server = async ({ client, directory }) => {
  const hook = hooks(async (id) => {
    const about = await client.session.get({ path: { id } })
    const answer = await client.session.messages({ path: { id } })
    const messages = (answer?.data ?? answer ?? []).flatMap(first)
    return { parent: (about?.data ?? about)?.parentID, cwd: directory, messages }
  })
  return {
    event: async ({ event }) => {
      if (event.type === "session.idle") await hook("task-completed", event.properties?.sessionID)
    },
    "experimental.session.compacting": async ({ sessionID }) => hook("pre-compact", sessionID),
    "tool.execute.after": async (call, result) => {
      if (typeof result?.output === "string") result.output = (await entryOf(call, result.output, directory)) ?? result.output
    },
  }
}

// OpenCode 2. One process serves many folders: sessions elsewhere are not this folder's.
const setup = async (ctx) => {
  const here = ctx.location?.directory
  const hook = hooks(async (sessionID) => {
    const about = await ctx.session.get({ sessionID })
    const { parentID: parent, location } = about?.data ?? about ?? {}
    const cwd = location?.directory ?? here ?? process.cwd()
    const way = here ? relative(here, cwd) : ""
    if (parent || way.startsWith("..") || isAbsolute(way)) return {}
    const answer = await ctx.session.context({ sessionID })
    return { cwd, messages: (answer?.data ?? answer ?? []).flatMap(second) }
  })
  const over = new AbortController()
  const listen = async () => {
    for await (const event of ctx.event.subscribe({ signal: over.signal })) {
      const session = event.data?.sessionID ?? event.durable?.aggregateID
      if (IDLE.includes(event.type)) await hook("task-completed", session)
      if (event.type === COMPACTING) await hook("pre-compact", session)
    }
  }
  // The stream ends with the plugin.
  listen().catch(() => {})
  return () => over.abort()
}

// OpenCode 1 takes `server`, OpenCode 2 `setup`.
export default { id: "hippod", server, setup }
