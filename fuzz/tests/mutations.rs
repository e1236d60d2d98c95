//! Invariants on seeds of every format, and on mutated seeds.

#[allow(dead_code, reason = "the other tests use the rest")]
mod inputs;

use hippo_fuzz::TARGETS;

/// Number of cases for each target.
const CASES: u32 = 1_500;

/// Short seeds of every format.
const SEEDS: [&str; 32] = [
    "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"Read src/lib.rs\"}}\n{\"type\":\"assistant\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Read\",\"input\":{\"file_path\":\"src/lib.rs\"}}]}}\n{\"type\":\"user\",\"uuid\":\"c\",\"parentUuid\":\"b\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"fn main() {}\"}]}}\n",
    "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/\"}\n{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"Hi\"}}\n{\"type\":\"compaction\",\"id\":\"b\",\"parentId\":\"a\",\"summary\":\"Said hi.\",\"firstKeptEntryId\":\"a\"}\n",
    "{\"timestamp\":\"2026-03-02T09:00:00Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{}\",\"call_id\":\"c\"}}\n{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"ok\"}}\n",
    "[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Remember: the valve is 30 bar.\"}]}]",
    "{\"i\":0,\"ts\":1,\"role\":\"tool\",\"kind\":\"tool_result\",\"name\":\"exec\",\"call_id\":\"1\",\"text\":\"exit 1\"}\n",
    "<html><head><title>Tides</title></head><body><h1>Tides</h1><form><input name=\"q\"><button id=\"go\">Go</button></form></body></html>",
    "- heading \"Tides\" [level=1] [ref=e1]\n- textbox \"Search\" [ref=e2]\n- button \"Go\" [ref=e3] [cursor=pointer]\n",
    "total 8\ndrwxr-xr-x 2 ada ada 4096 Mar  2 10:00 src\n-rw-r--r-- 1 ada ada 12 Mar  2 10:00 lib.rs\n",
    "pub fn moor(boat: &Boat) -> Result<(), Error> {\n    Err(Error::Tide)\n}\nclass Pump:\n    def run(self):\n        pass\n",
    "running 2 tests\ntest tide::low ... ok\ntest tide::high ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n",
    "Traceback (most recent call last):\n  File \"pump.py\", line 3, in run\n    raise ValueError(\"dry\")\nValueError: dry\n",
    "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,2 @@\n-old\n+new\n",
    "name,bar\npump,30\nvalve,\"4,5\"\n",
    "# Harbour\n\n## Pumps\n\n- The pump of hall 3 is blue. `moor_boat`\n\n```rust\nfn a() {}\n```\n",
    "src/a.rs:12:    let valve = open();\nsrc/b.rs:3:fn valve() {}\n",
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":\"string\",\"enum\":[\"b\"]}}}",
    "lifecycle_policies:\n  - match: { type: tool_result, source: 'browser.*' }\n    action: { decay_rate: 0.3, compression: aggressive }\n",
    "{\"sparseThreshold\": 0.25, \"halfLife\": 200, \"unknown\": [1]}",
    "# Memory Index\n\n## Projects\n\n### Pump → memory/2026-03-02.md §Pumps\n<!-- hx: id=abc s=0.8 a=2026-03-02 -->\nThe pump is blue.\n",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----\n",
    "before\n<!-- hippod: context -->\n- [ctx_9] file a.md @ turn 1: The garden.\n<!-- /hippod -->\nafter\n<!-- hippod: x -->\n- one\n<!-- /hippod -->\n",
    "\u{1b}[31mred\u{1b}[0m\u{9b}1m\u{1b}]0;title\u{7} 日本語 \u{202e}abc\u{0}\r\nprogress 1%\rprogress 2%\r\n",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"context.put\",\"params\":{\"session\":\"s\",\"turn\":1,\"source\":{\"type\":\"exec\",\"ref\":\"ls\"},\"content\":\"a\"}}",
    "{\"observations\":[{\"id\":7,\"type\":\"decision\",\"title\":\"Valve\",\"narrative\":\"Set to 30 bar.\",\"facts\":\"[\\\"30 bar\\\"]\",\"files_read\":[\"a.rs\"],\"created_at_epoch\":1767225600000}],\n\"summaries\":[{\"id\":1,\"request\":\"r\",\"learned\":\"l\"}],\"sessions\":[{}]}",
    "{\"results\":[{\"id\":\"m\",\"memory\":\"The pump is blue.\",\"user_id\":\"ada\",\"categories\":[\"pumps\"],\"metadata\":{\"category\":\"c\"},\"created_at\":\"2026-03-02T10:00:00Z\"}]}",
    "{\"memory\":\"one\",\"id\":1}\n{\"memory\":\"two\",\"created_at\":\"2026-03-02\"}\n[1]\n",
    "---\nid: mem_1\nlayer: semantic\ntags: [pumps, 'a b']\ncreated: 2026-03-02T10:00:00Z\npinned: true\nconfidence: observed\n---\nThe pump is blue.\n",
    "---\ntitle: Pump\ntype: note\npermalink: notes/pump\n---\n# Pump\n\n- [fact] blue\n",
    "{ // ours\n \"platform\": \"claude-code\", \"search\": {\"vector\": true, \"embedModel\": \"auto\"},\n \"index\": {\"inPrompt\": true},\n \"compaction\": {\"rootMaxTokens\": 3000, \"cooldownHours\": 1.5,},\n}\n",
    "{\"version\":1,\"files\":{\".hippocampus/config.toml\":\"0123456789abcdef0123456789abcdef\",\"hipocampus.config.json\":\"\"}}",
    "{\"compaction\": {\"rootMaxTokens\": 1, \"rootMaxTokens\": 1000001, \"cooldownHours\": -1e400}, \"platform\": null}",
    "",
];

#[test]
fn invariants_hold_for_seeds() {
    for (_, target) in TARGETS {
        inputs::assert_holds_for_seeds(target, &SEEDS);
    }
}

#[test]
fn invariants_hold_for_mutations() {
    for (name, target) in TARGETS {
        inputs::assert_holds_for_mutations(name, target, &SEEDS, CASES);
    }
}

#[test]
fn libfuzzer_runs_every_target() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/run/fuzz_targets");
    let manifest = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/run/Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        let text = std::fs::read_to_string(format!("{folder}/{name}.rs")).unwrap();
        assert!(text.contains(&format!("hippo_fuzz::{name}(data)")), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), TARGETS.len());
}
