//! Changes of index entries over MCP.

use hippo_proto::IndexEntry;
use serde_json::{Value, json};

use crate::mcp::served;

#[test]
fn an_entry_is_corrected_moved_pinned_and_forgotten_and_a_dry_run_changes_nothing() {
    let (scratch, daemon, mut mcp) = served();
    let root = scratch.workspace();
    let kept = mcp.gives(
        "memory_remember",
        json!({"text": "The heron nests at the weir.", "topic": "Heron", "tags": ["birds"]}),
    );
    let id = kept["entry"].as_str().unwrap().to_owned();
    scratch.write(
        "memory/birds.md",
        "# Birds\n\n## Herons\n\nThe heron nests at the mill.\n",
    );
    daemon.client().index(&root);
    let found = mcp.gives(
        "memory_search",
        json!({"query": "where does the heron nest at the weir"}),
    );
    let entries: Vec<&Value> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| &hit["entry"])
        .collect();
    assert!(entries.contains(&&json!(id)), "{found}");

    let cases = [
        (
            json!({"topic": "Herons", "summary": "It nests at the mill.", "tags": ["birds", "mill"]}),
            vec![
                "topic: Heron → Herons",
                "→ It nests at the mill.",
                "tags: birds → birds, mill",
            ],
        ),
        (
            json!({"path": "memory/birds.md §herons"}),
            vec!["→ memory/birds.md §Herons"],
        ),
        (
            json!({"path": "[[birds]]", "pin": true}),
            vec!["→ memory/birds.md", "pinned: false → true"],
        ),
        (json!({"pin": false}), vec!["pinned: true → false"]),
        (json!({"forget": true}), vec!["forgotten: false → true"]),
        (json!({"forget": false}), vec!["forgotten: true → false"]),
    ];
    for (change, expected) in cases {
        let mut arguments = change.clone();
        arguments["id"] = json!(id);
        let state = |entry: IndexEntry| (entry.version, entry.priority, entry.place);
        let before = state(daemon.client().entry(&root, &id));
        let mut dry = arguments.clone();
        dry["dryRun"] = json!(true);
        let planned = mcp.gives("memory_edit", dry);
        assert_eq!(planned["applied"], false, "{planned}");
        assert_eq!(state(daemon.client().entry(&root, &id)), before, "{planned}");

        let done = mcp.gives("memory_edit", arguments.clone());
        assert_eq!(
            (&done["applied"], &done["changes"]),
            (&json!(true), &planned["changes"])
        );
        let changes: Vec<&str> = done["changes"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(changes.len(), expected.len(), "{done}");
        for (change, expected) in changes.iter().zip(expected) {
            assert!(change.ends_with(expected), "{done}");
        }
        let again = mcp.gives("memory_edit", arguments);
        assert_eq!(again, json!({"changes": [], "applied": false}), "{change}");
    }
    let entry = daemon.client().entry(&root, &id);
    assert_eq!(
        (&*entry.topic, &*entry.summary),
        ("Herons", "It nests at the mill.")
    );
    assert_eq!(entry.pointers[0].to_string(), "memory/birds.md");

    let wrong = [
        (json!({"id": id}), "give only `forget`"),
        (
            json!({"id": id, "forget": true, "topic": "x"}),
            "give only `forget`",
        ),
        (json!({"id": "none", "pin": true}), "none"),
        (json!({"id": id, "path": "memory/none.md"}), "no such file"),
        (
            json!({"id": id, "path": "memory/birds.md §Swans"}),
            "no such section",
        ),
    ];
    for (arguments, expected) in wrong {
        let told = mcp.fails("memory_edit", arguments.clone());
        assert!(told.contains(expected), "{arguments}: {told}");
    }
}
