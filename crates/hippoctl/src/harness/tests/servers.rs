//! Tests of the MCP server that `init` adds.

use super::*;

#[test]
fn the_mcp_server_is_added_once_and_servers_of_the_user_are_kept() {
    let theirs = "{\n\t\"mcpServers\": {\n\t\t\"files\": { \"command\": \"files\" }\n\t}\n}\n";
    let mut world = World::of([(".mcp.json", theirs)]);
    world.init(Harness::ClaudeCode);
    let made = world.text(".mcp.json").to_owned();
    insta::assert_snapshot!(made);
    // The user adds an option to the server.
    world.write(
        ".mcp.json",
        made.replace("\"mcp\"", "\"mcp\", \"--no-start\"").as_bytes(),
    );
    assert!(world.plan(Harness::ClaudeCode).changes.is_empty());
    world.deinit();
    assert_eq!(world.text(".mcp.json"), theirs);

    for (platform, path, file) in [
        (
            Harness::ClaudeCode,
            ".mcp.json",
            "{\"mcpServers\": {\"m\": {\"command\": \"/opt/hippoctl\"}}}",
        ),
        (
            Harness::ClaudeCode,
            ".mcp.json",
            "{\"mcpServers\": {\"hippod\": {\"command\": \"other\"}}}",
        ),
        (
            Harness::Codex,
            ".codex/config.toml",
            "[mcp_servers.m]\ncommand = \"/opt/hippoctl\"\n",
        ),
        (
            Harness::Codex,
            ".codex/config.toml",
            "[mcp_servers.hippod]\ncommand = \"other\"\n",
        ),
        (
            Harness::Codex,
            ".codex/config.toml",
            "mcp_servers = { m = { command = \"other\" } }\n",
        ),
    ] {
        let mut world = World::of([(path, file)]);
        world.init(platform);
        let text = world.text(path);
        assert!(text.starts_with(file) && !text.contains("args ="), "{text}");
    }
    let mut codex = World::of([(".codex/config.toml", "model = \"o\"\n")]);
    codex.init(Harness::Codex);
    let config: toml::Table = codex.text(".codex/config.toml").parse().unwrap();
    assert_eq!(
        config["mcp_servers"]["hippod"]["command"].as_str(),
        Some("hippoctl")
    );
}
