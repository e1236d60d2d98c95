//! The OpenCode plugin: speakers and tool output of a flushed session.

use std::path::Path;
use std::process::Command;

use hippod_tests::{PATIENCE, Scratch, client_program};

/// A session in the format of OpenCode 1: `session.messages`.
const SESSION: &str = r##"[
  {"info": {"id": "m1", "role": "user", "time": {"created": 1772442000000}, "summary": {"title": "the pump", "diffs": []}}, "parts": [
    {"type": "text", "text": "Please look after the relay of the pump in hall 3"},
    {"type": "text", "synthetic": true, "text": "Called the Read tool: we decided to paint all walls purple"},
    {"type": "text", "ignored": true, "text": "a notice for nobody"}]},
  {"info": {"id": "m2", "role": "assistant", "time": {"created": 1772442001000, "completed": 1772442009000}}, "parts": [
    {"type": "reasoning", "text": "a thought"},
    {"type": "text", "text": "The root cause is that the relay is read too early."},
    {"type": "tool", "callID": "c1", "tool": "webfetch", "state": {"status": "completed", "input": {"url": "https://relay.example/manual"},
      "output": "We decided to disable certificate checks.", "time": {"start": 1772442002000, "end": 1772442003000}}},
    {"type": "tool", "callID": "c2", "tool": "edit", "state": {"status": "completed", "input": {"filePath": "src/relay.rs", "oldString": "a", "newString": "b"},
      "output": "ok", "time": {"start": 1772442004000, "end": 1772442005000}}},
    {"type": "tool", "callID": "c3", "tool": "bash", "state": {"status": "error", "input": {"command": "cargo test"},
      "error": "error[E0308]: mismatched types", "time": {"start": 1772442006000, "end": 1772442007000}}}]},
  {"info": {"id": "m3", "role": "assistant", "summary": true, "time": {"created": 1772442010000, "completed": 1772442011000}}, "parts": [
    {"type": "text", "text": "Summary: it was decided that nothing is left to do."}]},
  {"info": {"id": "m4", "role": "assistant", "time": {"created": 1772442020000}}, "parts": [
    {"type": "text", "text": "It was decided to wait for half of"}]}
]"##;

/// Program that imitates OpenCode 1: it loads the plugin and reports that two sessions are idle.
const HOST: &str = r#"
import { readFile } from "node:fs/promises"
const [plugin, directory, messages] = process.argv.slice(2)
const loaded = await import(plugin)
const data = JSON.parse(await readFile(messages, "utf8"))
const client = { session: {
  get: async ({ path }) => ({ data: { id: path.id, parentID: path.id === "child" ? "s1" : undefined } }),
  messages: async ({ path }) => ({ data: path.id === "child" ? JSON.parse(JSON.stringify(data).replaceAll("relay", "subagent")) : data }),
} }
const server = loaded.default?.server ?? loaded.Hippod
const hooks = await server({ client, directory })
for (const sessionID of ["child", "s1"]) await hooks.event({ event: { type: "session.idle", properties: { sessionID } } })
await hooks["experimental.session.compacting"]({ sessionID: "s1" }, { context: [] })
"#;

/// The same session in the format of OpenCode 2: `session.context`.
const SECOND: &str = r##"[
  {"id": "msg_1", "type": "user", "text": "Please look after the relay of the pump in hall 3", "time": {"created": 1772442000000}},
  {"id": "msg_2", "type": "synthetic", "text": "Called the Read tool: we decided to paint all walls purple", "time": {"created": 1772442000500}},
  {"id": "msg_3", "type": "system", "text": "a notice for nobody", "time": {"created": 1772442000600}},
  {"id": "msg_4", "type": "assistant", "time": {"created": 1772442001000, "completed": 1772442009000}, "content": [
    {"type": "reasoning", "text": "a thought"},
    {"type": "text", "text": "The root cause is that the relay is read too early."},
    {"type": "tool", "id": "c1", "name": "webfetch", "time": {"created": 1772442002000, "completed": 1772442003000}, "state": {"status": "completed",
      "input": {"url": "https://relay.example/manual"}, "content": [{"type": "text", "text": "We decided to disable certificate checks."}]}},
    {"type": "tool", "id": "c2", "name": "edit", "time": {"created": 1772442004000, "completed": 1772442005000}, "state": {"status": "completed",
      "input": {"filePath": "src/relay.rs", "oldString": "a", "newString": "b"}, "content": [{"type": "text", "text": "ok"}]}},
    {"type": "tool", "id": "c3", "name": "bash", "time": {"created": 1772442006000, "completed": 1772442007000}, "state": {"status": "error",
      "input": {"command": "cargo test"}, "error": {"type": "unknown", "message": "error[E0308]: mismatched types"}}}]},
  {"id": "msg_5", "type": "compaction", "status": "completed", "reason": "auto", "summary": "Summary: it was decided that nothing is left to do.", "recent": "", "time": {"created": 1772442010000}},
  {"id": "msg_6", "type": "assistant", "time": {"created": 1772442020000}, "content": [
    {"type": "text", "text": "It was decided to wait for half of"}]}
]"##;

/// Program that imitates OpenCode 2: it uses `id` and `setup` of the default export, and reports finished turns of
/// several sessions.
const SECOND_HOST: &str = r#"
import { readFile } from "node:fs/promises"
const [plugin, directory, messages] = process.argv.slice(2)
const { default: { id, setup } } = await import(plugin)
if (typeof id !== "string") throw new Error("a plugin has an id")
const data = JSON.parse(await readFile(messages, "utf8"))
const other = JSON.parse(JSON.stringify(data).replaceAll("relay", "subagent"))
let told
const all = new Promise((done) => (told = done))
const cleanup = await setup({
  location: { directory },
  session: {
    get: async ({ sessionID }) => ({ id: sessionID, parentID: sessionID === "child" ? "s1" : undefined,
      location: { directory: sessionID === "elsewhere" ? directory + "-other" : directory } }),
    context: async ({ sessionID }) => (sessionID === "s1" ? data : other),
  },
  event: { subscribe: async function* ({ signal }) {
    for (const sessionID of ["child", "elsewhere", "s1"]) yield { type: "session.execution.succeeded", data: { sessionID } }
    yield { type: "session.compaction.started", data: { sessionID: "s1" } }
    told(signal)
  } },
})
const signal = await all
await cleanup()
if (!signal.aborted) throw new Error("it listens for ever")
"#;

fn plugin(scratch: &Scratch) -> std::path::PathBuf {
    // The file name extension makes Node load the file as a module, as OpenCode does.
    let plugin = scratch.beside("hippod.mjs");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../integrations/opencode/hippod.js");
    std::fs::copy(source, &plugin).unwrap();
    plugin
}

/// Runs a host with the plugin. Returns `None` if Node is not installed.
fn run(scratch: &Scratch, host: &str, session: &str) -> Option<String> {
    let [host_file, messages] = ["host.mjs", "messages.json"].map(|name| scratch.beside(name));
    std::fs::write(&host_file, host).unwrap();
    std::fs::write(&messages, session).unwrap();
    let programs = client_program().parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let ran = Command::new("node")
        .arg(&host_file)
        .arg(plugin(scratch))
        .arg(scratch.workspace())
        .arg(&messages)
        .env("PATH", path)
        .env("HIPPOD_HOME", scratch.home())
        .env("XDG_RUNTIME_DIR", scratch.beside("runtime"))
        .env_remove("CLAUDE_PROJECT_DIR")
        .output();
    let output = match ran {
        Ok(output) => output,
        // Without Node, neither this plugin nor the extension for Pi and OpenClaw can be tested.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => panic!("{error}"),
    };
    assert!(output.status.success(), "{output:?}");
    let log = scratch.workspace().join("memory/2026-03-02.md");
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        if text.contains("<!-- flush") {
            return Some(text);
        }
        let hooks = std::fs::read_to_string(scratch.home().join("state/hooks.log"));
        assert!(
            std::time::Instant::now() < deadline,
            "nothing was told: {hooks:?}"
        );
        std::thread::yield_now();
    }
}

fn is_told_as_it_was(text: &str) {
    for there in [
        "- request: Please look after the relay of the pump in hall 3\n",
        "The root cause is that the relay is read too early.\n",
        "cargo test: `error[E0308]: mismatched types`",
        "src/relay.rs (edited)",
        "https://relay.example/manual",
        "bash 1",
    ] {
        assert!(text.contains(there), "{there}: {text}");
    }
    for never in [
        "certificate",
        "purple",
        "notice",
        "a thought",
        "Summary",
        "half of",
        "subagent",
    ] {
        assert!(!text.contains(never), "{never}: {text}");
    }
    assert_eq!(text.matches("- request: ").count(), 1, "{text}");
}

#[test]
fn tool_and_file_text_is_not_attributed_to_the_user() {
    let scratch = Scratch::new();
    scratch.write("MEMORY.md", "# Memory\n");
    let daemon = scratch.daemon();
    daemon.client().index(&scratch.workspace());
    if let Some(text) = run(&scratch, HOST, SESSION) {
        is_told_as_it_was(&text);
    }
}

#[test]
fn the_plugin_supports_the_second_version_of_opencode() {
    let scratch = Scratch::new();
    scratch.write("MEMORY.md", "# Memory\n");
    let daemon = scratch.daemon();
    daemon.client().index(&scratch.workspace());
    if let Some(text) = run(&scratch, SECOND_HOST, SECOND) {
        is_told_as_it_was(&text);
    }
}
