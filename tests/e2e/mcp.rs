//! Memory tools over the Model Context Protocol.
//!
//! Every answer must match its schema.

use hippo_proto::{
    ContextKind, ContextOpenRequest, ContextOpenResponse, ContextPutRequest, ContextPutResponse,
    ContextPutSource,
};
use hippod_tests::{Daemon, Mcp, QUIET, Scratch};
use serde_json::{Value, json};

const CURRENT: &str = "2026-07-28";
const BEFORE: &str = "2025-11-25";
const LOG: &str = "# Acme\n\n## Staging\n\nStaging runs on port 8443.\nThe gateway is restarted at noon.\n";

/// Creates an indexed workspace with a daily log and a `ROOT.md`.
pub fn begun() -> (Scratch, Daemon) {
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-02.md", LOG);
    scratch.write(
        "memory/ROOT.md",
        "---\ntype: root\n---\n# Root\n\n- pumps: blue\n",
    );
    let daemon = Daemon::start(&scratch.home(), &QUIET);
    daemon.client().index(&scratch.workspace());
    (scratch, daemon)
}

/// Creates the workspace of [`begun`], and an MCP server that has completed its handshake.
pub fn served() -> (Scratch, Daemon, Mcp) {
    let (scratch, daemon) = begun();
    let mcp = Mcp::initialized(&scratch.home(), &scratch.workspace(), &[]);
    (scratch, daemon, mcp)
}

/// Returns the metadata that replaces the handshake in a request of the current protocol revision.
fn itself() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": CURRENT,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn the_current_and_the_previous_protocol_revision_are_supported() {
    let (scratch, _daemon) = begun();
    let (home, root) = (scratch.home(), scratch.workspace());
    for (asked, agreed) in [(BEFORE, BEFORE), ("2025-06-18", "2025-06-18"), (CURRENT, BEFORE)] {
        let mut mcp = Mcp::start(&home, &root, &[]);
        let about = mcp.initialize(asked);
        assert_eq!(about["protocolVersion"], agreed);
        assert_eq!(about["serverInfo"]["name"], "hippod");
        assert!(about["capabilities"]["tools"].is_object(), "{about}");
        assert!(about["instructions"].as_str().unwrap().len() < 300, "{about}");
        let found = mcp.gives("memory_search", json!({"query": "staging port"}));
        assert_eq!(found["results"][0]["path"], "memory/2026-03-02.md");
        assert_eq!(mcp.ask("ping", json!({}))["result"], json!({}));
    }

    let mut mcp = Mcp::start(&home, &root, &[]);
    let about = mcp.ask("server/discover", json!({"_meta": itself()}));
    let versions = about["result"]["supportedVersions"].as_array().unwrap();
    assert!(
        versions.contains(&CURRENT.into()) && versions.contains(&BEFORE.into()),
        "{about}"
    );
    let tools = mcp.ask("tools/list", json!({"_meta": itself()}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 6);
    let call = json!({"name": "memory_search", "arguments": {"query": "staging port"}, "_meta": itself()});
    let found = mcp.ask("tools/call", call);
    let result = &found["result"];
    assert_eq!(result["resultType"], "complete", "{found}");
    assert_eq!(
        result["structuredContent"]["results"][0]["path"],
        "memory/2026-03-02.md"
    );
}

/// Panics if a value does not match a schema, or has a member that the schema does not define.
fn conforms(schema: &Value, value: &Value) {
    let kind = schema["type"].as_str().unwrap();
    let fits = match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => panic!("{kind}"),
    };
    assert!(fits, "{value} is no {kind}");
    for (name, member) in value.as_object().into_iter().flatten() {
        let known = &schema["properties"][name];
        assert!(known.is_object(), "{name} is not in the schema");
        conforms(known, member);
    }
    for item in value.as_array().into_iter().flatten() {
        conforms(&schema["items"], item);
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(
            value.get(name.as_str().unwrap()).is_some(),
            "{name} is missing: {value}"
        );
    }
}

#[test]
fn each_tool_answer_conforms_to_its_schema() {
    let (scratch, daemon, mut mcp) = served();
    let root = scratch.workspace();
    let tools = mcp.ask("tools/list", json!({}))["result"]["tools"].clone();
    let mut gives = |tool: &str, arguments: Value| {
        let given = mcp.gives(tool, arguments);
        let of = tools.as_array().unwrap().iter().find(|of| of["name"] == tool);
        conforms(&of.unwrap()["outputSchema"], &given);
        given
    };

    let found = gives(
        "memory_search",
        json!({"query": "which port has staging", "maxResults": 1}),
    );
    let best = &found["results"][0];
    assert_eq!(found["results"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&best["path"], &best["source"]),
        (&json!("memory/2026-03-02.md"), &json!("memory"))
    );
    assert!(best["snippet"].as_str().unwrap().contains("port 8443"), "{found}");
    let score = best["score"].to_string();
    assert!(score.len() <= 6, "{score}");
    assert!(best["endLine"].as_u64() >= best["startLine"].as_u64(), "{found}");
    let none = gives("memory_search", json!({"query": "staging", "minScore": 1}));
    assert_eq!(none["results"], json!([]));

    let read = gives(
        "memory_get",
        json!({"path": "memory/2026-03-02.md", "from": 5, "lines": 1}),
    );
    assert_eq!(
        read["text"].as_str().unwrap().trim_end(),
        "Staging runs on port 8443."
    );
    assert_eq!(
        (&read["from"], &read["lines"], &read["totalLines"]),
        (&json!(5), &json!(1), &json!(6))
    );
    let whole = gives("memory_get", json!({"path": root.join("memory/2026-03-02.md")}));
    assert_eq!(
        (&whole["text"], &whole["path"]),
        (&json!(LOG), &json!("memory/2026-03-02.md"))
    );

    for pointer in ["memory/2026-03-02.md:5", "memory/2026-03-02.md#L5"] {
        let line = gives("memory_get", json!({"path": pointer, "lines": 1}));
        assert_eq!(line["text"], read["text"], "{pointer}");
    }

    let said = json!({"text": "The heron nests at the weir.", "topic": "Heron", "type": "project", "tags": ["birds"]});
    let kept = gives("memory_remember", said);
    let log = std::fs::read_to_string(root.join(kept["path"].as_str().unwrap())).unwrap();
    let line = log.lines().nth(kept["startLine"].as_u64().unwrap() as usize - 1);
    assert_eq!(line, Some("## Heron [project]"));
    let entry = daemon.client().entry(&root, kept["entry"].as_str().unwrap());
    assert!(entry.tags.contains(&"birds".to_owned()), "{entry:?}");

    gives(
        "memory_edit",
        json!({"id": entry.id, "pin": true, "dryRun": true}),
    );
    let status = gives("memory_status", json!({}));
    assert_eq!(
        status["workspace"],
        root.canonicalize().unwrap().display().to_string()
    );
    assert!(status["documents"].as_u64().unwrap() >= 2, "{status}");
    assert!(status["entries"].as_u64().unwrap() >= 1, "{status}");

    let content = "test heron::nests ... FAILED\n".repeat(400);
    let mut client = daemon.client();
    let open = ContextOpenRequest {
        workspace: root.display().to_string(),
        agent: None,
        session: None,
    };
    let open: ContextOpenResponse = client.raw().call(&open.into()).unwrap();
    let put = ContextPutRequest {
        session: open.session.clone(),
        turn: 1,
        type_: ContextKind::ToolResult,
        source: ContextPutSource {
            type_: "command".to_owned(),
            reference: "cargo test".to_owned(),
        },
        content: content.clone(),
        ..ContextPutRequest::default()
    };
    let put: ContextPutResponse = client.raw().call(&put.into()).unwrap();
    let id = put.entry.expect("an entry").id;
    let fetched = gives("context_fetch", json!({"id": id, "session": open.session}));
    assert_eq!(
        (&fetched["outcome"], &fetched["content"]),
        (&json!("full"), &json!(content))
    );

    mcp.close_input();
    let (status, errors) = mcp.wait();
    assert!(status.success() && errors.is_empty(), "{status}: {errors}");
}

#[test]
fn errors_are_reported_to_the_agent() {
    let (_scratch, _daemon, mut mcp) = served();
    mcp.send("{\"jsonrpc\": \"2.0\", \"id\": 99, \"method\":");
    mcp.send("no JSON at all \u{1b}[31m");
    mcp.send("[]");
    for code in [-32700, -32700, -32600] {
        let refused = mcp.line();
        assert_eq!(
            (&refused["error"]["code"], refused.get("id")),
            (&json!(code), Some(&Value::Null)),
            "{refused}"
        );
    }
    let refused = mcp.ask("tools/call", json!({"name": "memory_serach", "arguments": {}}));
    assert_eq!(refused["error"]["code"], -32602);
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("did you mean memory_search?"),
        "{refused}"
    );
    for (method, params) in [("memory/burn", json!({})), ("tools/call", json!({"name": 7}))] {
        // `ask` asserts that the id of the answer is that of the request.
        let refused = mcp.ask(method, params);
        assert_eq!(refused["error"]["code"], -32601, "{refused}");
    }

    let cases = [
        (
            "memory_search",
            json!({}),
            "wrong arguments of memory_search: missing field `query`",
        ),
        (
            "memory_search",
            json!({"query": " "}),
            "the field \"query\" is empty",
        ),
        (
            "memory_search",
            json!({"query": "q", "limit": 3}),
            "unknown field `limit`",
        ),
        (
            "memory_search",
            json!({"query": "q", "maxResults": "3"}),
            "expected u32",
        ),
        ("memory_get", json!({"path": "memory/none.md"}), "memory/none.md"),
        ("memory_get", json!({"path": "../x.md"}), "\nhint: "),
        ("memory_remember", json!({"text": ""}), "text"),
        (
            "context_fetch",
            json!({"id": "ctx-nothing"}),
            "no such entry or content",
        ),
    ];
    for (tool, arguments, expected) in cases {
        let told = mcp.fails(tool, arguments.clone());
        assert!(told.contains(expected), "{tool} {arguments}: {told}");
    }
    let found = mcp.gives("memory_search", json!({"query": "staging port"}));
    assert_eq!(found["results"][0]["path"], "memory/2026-03-02.md");
}
