//! Files generated from the protocol types: schema and client types.

#[path = "generated/python.rs"]
mod python;
#[path = "generated/schema.rs"]
mod schema;
#[path = "generated/shape.rs"]
mod shape;
#[path = "generated/typescript.rs"]
mod typescript;

use anyhow::Result;
use serde_json::Value;

use super::{compare, read};

/// Generates a file from the schema.
type Make = fn(&Value) -> Result<String>;

/// Generated files and their generators.
const MADE: [(&str, Make); 4] = [
    ("docs/schema/protocol.schema.json", text),
    ("integrations/typescript/src/protocol.ts", typescript::types),
    ("integrations/python/src/hippod/protocol.py", python::types),
    ("integrations/python/src/hippod/methods.py", python::methods),
];

fn text(schema: &Value) -> Result<String> {
    let mut text = serde_json::to_string_pretty(schema)?;
    text.push('\n');
    Ok(text)
}

#[test]
fn committed_files_match_the_generated_types() {
    let schema = schema::document();
    for (name, make) in MADE {
        compare(name, &make(&schema).unwrap(), "cargo xtask schema");
    }
}

#[test]
fn the_pages_of_clients_and_frameworks_quote_the_tested_examples() {
    let clients = [
        ("ts", "typescript/examples/search.ts"),
        ("python", "python/examples/search.py"),
    ];
    let frameworks = [
        ("python", "python/examples/langchain_agent.py"),
        ("python", "python/examples/langchain_search.py"),
        ("python", "python/examples/langgraph_store.py"),
        ("python", "python/examples/crewai_memory.py"),
    ];
    for (page, examples) in [
        ("docs/clients.md", &clients[..]),
        ("docs/frameworks.md", &frameworks[..]),
    ] {
        let text = read(page);
        for (language, name) in examples {
            let code = read(&format!("integrations/{name}"));
            let quoted = format!("```{language}\n{code}```\n");
            assert!(text.contains(&quoted), "{page} does not quote {name} as it is");
        }
        assert_eq!(text.matches("```").count(), 2 * examples.len());
    }
}
