//! `schema`: what of the clients is made from the types of the protocol, and is what is committed that?

mod python;
mod shape;
mod typescript;

use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::house::House;
use crate::terminal::say;

/// How a file is told from the schema.
type Make = fn(&Value) -> Result<String>;

/// What is made: the file, and how.
const MADE: [(&str, Make); 4] = [
    ("docs/schema/protocol.schema.json", text),
    ("integrations/typescript/src/protocol.ts", typescript::types),
    ("integrations/python/src/hippod/protocol.py", python::types),
    ("integrations/python/src/hippod/methods.py", python::methods),
];

/// Writes each file that is not as the types give it.
///
/// # Errors
/// A type says what these clients do not know, or a file cannot be written.
pub fn run(house: &House) -> Result<()> {
    let schema = hippo_proto::schema::document();
    for (name, make) in MADE {
        let path = house.root.join(name);
        let made = make(&schema).with_context(|| format!("could not make {name}"))?;
        if fs::read_to_string(&path).is_ok_and(|there| there == made) {
            say(format_args!("as it was: {name}"));
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("could not make the folder: {}", folder.display()))?;
        }
        fs::write(&path, made).with_context(|| format!("could not write {}", path.display()))?;
        say(format_args!("written: {name}"));
    }
    Ok(())
}

fn text(schema: &Value) -> Result<String> {
    let mut text = serde_json::to_string_pretty(schema)?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_is_committed_is_what_the_types_give() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let schema = hippo_proto::schema::document();
        for (name, make) in MADE {
            let committed = fs::read_to_string(root.join(name)).unwrap_or_default();
            assert!(
                committed == make(&schema).unwrap(),
                "{name} is not what the types give: run cargo xtask schema"
            );
        }
    }

    #[test]
    fn the_page_quotes_the_examples_that_are_run() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let page = fs::read_to_string(root.join("docs/clients.md")).unwrap();
        let examples = [
            ("ts", "typescript/examples/search.ts"),
            ("python", "python/examples/search.py"),
            ("python", "python/examples/langchain_search.py"),
        ];
        for (language, name) in examples {
            let code = fs::read_to_string(root.join("integrations").join(name)).unwrap();
            let quoted = format!("```{language}\n{code}```\n");
            assert!(
                page.contains(&quoted),
                "docs/clients.md does not quote {name} as it is"
            );
        }
        assert_eq!(page.matches("```").count(), 2 * examples.len());
    }
}
