//! Tests of the installed texts, and of the plugin.
//!
//! Every command in the texts exists, and the plugin contains the files that init installs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use serde_json::Value;

use super::layout::{self, LayoutPart, layout};
use super::{Harness, LayoutConfig, PathSnapshot, text};
use crate::shell::simple_commands;
use hippoctl::args::Cli;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../integrations")
        .join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(folder(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn json(name: &str) -> Value {
    serde_json::from_str(&read(name)).unwrap()
}

/// Returns the name and the text of each file that is written for agents.
fn texts() -> Vec<(String, String)> {
    let mut texts: Vec<(String, String)> = text::SKILLS
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec();
    for platform in <Harness as clap::ValueEnum>::value_variants() {
        let config = LayoutConfig {
            full: true,
            ..LayoutConfig::default()
        };
        for part in layout(*platform, &config, &PathSnapshot::default(), &[]) {
            if let LayoutPart::Block(path, _, body) = part {
                texts.push((format!("{} {path}", platform.name()), body));
            }
        }
    }
    texts
}

/// Returns the `hippoctl` commands in the code spans and code fences of a text.
fn commands(text: &str) -> Vec<Vec<String>> {
    let spans = text.split('`').skip(1).step_by(2);
    let quoted = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("command = \""));
    let lines = spans.flat_map(str::lines).chain(quoted);
    lines
        .map(|line| line.trim().trim_end_matches('"'))
        .filter(|line| line.starts_with("hippoctl "))
        .flat_map(|line| simple_commands(line).into_iter().take(1))
        .collect()
}

#[test]
fn every_command_in_the_integration_texts_is_valid() {
    let mut all = Vec::new();
    for (name, text) in texts() {
        let found = commands(&text);
        assert!(
            !found.is_empty()
                || name.ends_with(".gitignore")
                || name.ends_with("MEMORY.md")
                || text == layout::CODEX_SERVER,
            "{name}"
        );
        all.extend(found);
    }
    assert!(all.len() > 25, "only {} commands found", all.len());
    let hooks = json("claude-code/hooks/hooks.json");
    all.extend(
        hook_commands(&hooks)
            .iter()
            .flat_map(|command| simple_commands(command)),
    );
    let mcp = &json("claude-code/.mcp.json")["mcpServers"]["hippod"];
    let args = mcp["args"].as_array().unwrap().iter();
    let args = args.map(|word| word.as_str().unwrap().to_owned());
    all.push(
        [mcp["command"].as_str().unwrap().to_owned()]
            .into_iter()
            .chain(args)
            .collect(),
    );
    for command in &all {
        if let Err(error) = Cli::try_parse_from(command) {
            panic!("{command:?}: {error}");
        }
    }
}

fn hook_commands(hooks: &Value) -> Vec<String> {
    let events = hooks["hooks"].as_object().unwrap().values();
    let groups = events.flat_map(|groups| groups.as_array().unwrap());
    let hooks = groups.flat_map(|group| group["hooks"].as_array().unwrap());
    hooks
        .map(|hook| hook["command"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn skills_are_short_and_named_after_their_folders() {
    for (name, text) in text::SKILLS {
        let (front, body) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        assert!(
            front.starts_with(&format!("name: {name}\ndescription: ")),
            "{name}"
        );
        assert!(front.lines().count() == 2 && front.len() < 400, "{name}");
        assert!(body.lines().count() <= 60 && body.len() < 4096, "{name}");
    }
    let known = ["core", "compaction", "recall", "flush"];
    let known: BTreeSet<String> = known.iter().map(|name| format!("hippod-{name}")).collect();
    let there = fs::read_dir(folder("claude-code/skills")).unwrap();
    let there = there.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(there.collect::<BTreeSet<_>>(), known);
}

#[test]
fn the_claude_code_plugin_contains_the_files_of_init() {
    let plugin = json("claude-code/.claude-plugin/plugin.json");
    assert_eq!(plugin["name"], "hippod");
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    let market = json("claude-code/.claude-plugin/marketplace.json");
    assert_eq!(
        (&market["plugins"][0]["name"], &market["plugins"][0]["source"]),
        (&plugin["name"], &"./".into())
    );
    let nothing = PathSnapshot::default();
    let parts = layout(Harness::ClaudeCode, &LayoutConfig::default(), &nothing, &[]);
    let settings = super::plan::plan(
        Harness::ClaudeCode,
        &parts,
        &nothing,
        &super::InitRecord::default(),
    );
    let written = |path: &str| -> Value {
        let change = settings.changes.iter().find(|change| change.path == path);
        serde_json::from_slice(change.unwrap().after.as_deref().unwrap()).unwrap()
    };
    let hooks = &written(".claude/settings.json")["hooks"];
    assert_eq!(&json("claude-code/hooks/hooks.json")["hooks"], hooks);
    assert_eq!(json("claude-code/.mcp.json"), written(".mcp.json"));
}

#[test]
fn no_integration_text_contains_a_block_mark() {
    for (name, text) in texts() {
        assert!(
            !text
                .lines()
                .any(|line| line.contains("hippod -->") || line.trim_start().starts_with("<!-- hippod:")),
            "{name}"
        );
    }
}
