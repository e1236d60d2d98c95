//! Memory tools, resources and prompts over the Model Context Protocol.
//! Every answer conforms to its schema.

use std::time::Instant;

use hippo_proto::{
    ContextKind, ContextOpenRequest, ContextOpenResponse, ContextPutRequest, ContextPutResponse,
    ContextPutSource,
};
use hippod_tests::{Daemon, Mcp, PATIENCE, QUIET, Scratch};
use serde_json::{Value, json};

const CURRENT: &str = "2026-07-28";
const BEFORE: &str = "2025-11-25";
const LOG: &str = "# Acme\n\n## Staging\n\nStaging runs on port 8443.\nThe gateway is restarted at noon.\n";

/// Creates an indexed workspace with a log and a root.
pub fn begun() -> (Scratch, Daemon) {
    begun_with(&QUIET)
}

fn begun_with(settings: &[(&str, &str)]) -> (Scratch, Daemon) {
    let scratch = Scratch::new();
    scratch.write("memory/2026-03-02.md", LOG);
    scratch.write(
        "memory/ROOT.md",
        "---\ntype: root\n---\n# Root\n\n- pumps: blue\n",
    );
    let daemon = Daemon::start(&scratch.home(), settings);
    daemon.client().index(&scratch.workspace());
    (scratch, daemon)
}

/// Creates the same workspace with an initialized MCP server.
pub fn served() -> (Scratch, Daemon, Mcp) {
    let (scratch, daemon) = begun();
    let mcp = Mcp::initialized(&scratch.home(), &scratch.workspace(), &[]);
    (scratch, daemon, mcp)
}

/// Returns the metadata that a request of the current revision carries instead of a handshake.
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
        for can in ["tools", "resources", "prompts"] {
            assert!(about["capabilities"][can].is_object(), "{about}");
        }
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
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 5);
    let call = json!({"name": "memory_search", "arguments": {"query": "staging port"}, "_meta": itself()});
    let found = mcp.ask("tools/call", call);
    let result = &found["result"];
    assert_eq!(result["resultType"], "complete", "{found}");
    assert_eq!(
        result["structuredContent"]["results"][0]["path"],
        "memory/2026-03-02.md"
    );
}

/// Panics if a value does not conform to a schema or has an unknown member.
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
        (&read["startLine"], &read["endLine"], &read["totalLines"]),
        (&json!(5), &json!(5), &json!(6))
    );
    let whole = gives("memory_get", json!({"path": root.join("memory/2026-03-02.md")}));
    assert_eq!(
        (&whole["text"], &whole["path"]),
        (&json!(LOG), &json!("memory/2026-03-02.md"))
    );

    let said = json!({"text": "The heron nests at the weir.", "topic": "Heron", "type": "project", "tags": ["birds"]});
    let kept = gives("memory_remember", said);
    let log = std::fs::read_to_string(root.join(kept["path"].as_str().unwrap())).unwrap();
    let line = log.lines().nth(kept["startLine"].as_u64().unwrap() as usize - 1);
    assert_eq!(line, Some("## Heron [project]"));
    let entry = daemon.client().entry(&root, kept["entry"].as_str().unwrap());
    assert!(entry.tags.contains(&"birds".to_owned()), "{entry:?}");

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
fn the_root_and_the_index_file_are_resources() {
    // The first light cycle writes the index file at an unknown time. With the index disabled, there is no such file.
    let settings = [QUIET.as_slice(), &[("HIPPOD_INDEX_ENABLED", "false")]].concat();
    let (scratch, daemon) = begun_with(&settings);
    let root = scratch.workspace();
    let mut mcp = Mcp::initialized(&scratch.home(), &root, &[]);
    let list = mcp.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    assert_eq!(list[0]["uri"], "hippod:///memory/ROOT.md");
    assert_eq!(list[0]["mimeType"], "text/markdown");
    scratch.write("HIPPOCAMPUS.md", "# mine\n");
    let list = mcp.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(list[1]["uri"], "hippod:///HIPPOCAMPUS.md", "{list}");
    let read = mcp.ask("resources/read", json!({"uri": "hippod:///memory/ROOT.md"}));
    let contents = &read["result"]["contents"][0];
    let root_text = std::fs::read_to_string(root.join("memory/ROOT.md")).unwrap();
    let section = contents["text"].as_str().unwrap();
    assert!(
        section.starts_with("<") && section.trim_end().ends_with(">"),
        "{section}"
    );
    let said = root_text.lines().find(|line| line.starts_with("- ")).unwrap();
    assert!(section.contains(said), "{section}");
    assert_eq!(
        (&contents["uri"], &contents["mimeType"]),
        (&list[0]["uri"], &json!("text/markdown"))
    );

    for uri in [
        "hippod:///memory/2026-03-02.md",
        "hippod:///../secret",
        "file:///etc/passwd",
        "",
    ] {
        let refused = mcp.ask("resources/read", json!({"uri": uri}));
        assert!(
            refused["error"]["message"]
                .as_str()
                .unwrap()
                .contains("no such resource"),
            "{refused}"
        );
    }
    // A link to a target outside the workspace is not followed.
    let secret = scratch.beside("secret.md");
    std::fs::write(&secret, "the word is swordfish").unwrap();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let _ = std::fs::remove_file(root.join("memory/ROOT.md"));
        let _ = std::os::unix::fs::symlink(&secret, root.join("memory/ROOT.md"));
        let refused = mcp.ask("resources/read", json!({"uri": "hippod:///memory/ROOT.md"}));
        assert!(!refused.to_string().contains("swordfish"), "{refused}");
        if refused["error"].is_object() {
            break;
        }
        // The daemon may have written the file again.
        assert!(Instant::now() < deadline, "{refused}");
    }
    drop(daemon);
}

#[test]
fn prompts_contain_their_question() {
    let (_scratch, _daemon, mut mcp) = served();
    let list = mcp.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["recall", "flush"]);
    assert_eq!(list[0]["arguments"][0]["name"], "question");
    assert_eq!(list[0]["arguments"][0]["required"], true);
    let mut filled =
        |name: &str, arguments: Value| mcp.ask("prompts/get", json!({"name": name, "arguments": arguments}));
    let recall = filled("recall", json!({"question": "who nests at the weir?"}));
    let text = recall["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(
        text.contains("who nests at the weir?") && text.contains("memory_search"),
        "{text}"
    );
    let flush = filled("flush", json!({}));
    let text = flush["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(text.contains("memory_remember"), "{text}");
    for (name, arguments) in [
        ("recall", json!({})),
        ("recall", json!({"question": " "})),
        ("x", json!({})),
    ] {
        let refused = filled(name, arguments);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[test]
fn errors_are_reported_to_the_agent() {
    let (_scratch, _daemon, mut mcp) = served();
    mcp.send("{\"jsonrpc\": \"2.0\", \"id\": 99, \"method\":");
    mcp.send("no JSON at all \u{1b}[31m");
    mcp.send("[]");
    let refused = mcp.line();
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let refused = mcp.ask("tools/call", json!({"name": "memory_serach", "arguments": {}}));
    assert_eq!(refused["error"]["code"], -32602);
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("did you mean memory_search?"),
        "{refused}"
    );
    for (method, params, code, told) in [
        ("memory/burn", json!({}), -32601, "the methods are"),
        ("tools/cal", json!({}), -32601, "did you mean tools/call?"),
        ("tools/call", json!({"name": 7}), -32602, "the name of a tool"),
        (
            "tools/call",
            json!({"name": "memory_search", "arguments": [1]}),
            -32602,
            "arguments as an object",
        ),
        ("resources/read", json!({}), -32602, "the uri of a resource"),
    ] {
        // `ask` asserts that the answer has the id of the request.
        let refused = mcp.ask(method, params);
        assert_eq!(refused["error"]["code"], code, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
    }

    let cases = [
        (
            "memory_search",
            json!({}),
            "\"query\" of memory_search is missing",
        ),
        (
            "memory_search",
            json!({"query": " "}),
            "the field \"query\" is empty",
        ),
        (
            "memory_search",
            json!({"query": "q", "limit": 3}),
            "unknown argument \"limit\"",
        ),
        (
            "memory_search",
            json!({"query": "q", "corpus": "mine"}),
            "unknown corpus \"mine\"",
        ),
        (
            "memory_search",
            json!({"query": "q", "maxResults": "3"}),
            "must be a whole number from 1 to 200",
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
