//! Insertion and removal of entries in JSON files.
//!
//! Comments, the order of keys and indentation are preserved.

#[cfg(test)]
mod tests;

use hippo_fs::harness::json_options;
use hippo_fs::nesting;
use jsonc_parser::cst::{CstArray, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::json;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Time limit in seconds after which the harness stops a hook. hippod's hooks take about a tenth of a second.
const PATIENCE: u32 = 10;
/// Name of the MCP server in `mcpServers`.
const MCP_SERVER: &str = "hippod";

/// An insertion into a JSON file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonInsertion {
    /// Hooks for the key `hooks`, each with its event and its command.
    Hooks(&'static [(&'static str, &'static str)]),
    /// Hooks as in `Hooks`, and rules for the list `permissions.allow`.
    Claude(&'static [(&'static str, &'static str)], &'static [&'static str]),
    /// Paths for the list `instructions`.
    Instructions(Vec<&'static str>),
    /// hippod's MCP server for the key `mcpServers`.
    McpServer,
}

impl fmt::Display for JsonInsertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hooks(hooks) => {
                let events: Vec<&str> = hooks.iter().map(|(event, _)| *event).collect();
                write!(f, "hooks {}", events.join(", "))
            }
            Self::Claude(hooks, rules) => {
                write!(f, "{}; permissions {}", Self::Hooks(hooks), rules.join(", "))
            }
            Self::Instructions(paths) => write!(f, "instructions {}", paths.join(", ")),
            Self::McpServer => write!(f, "MCP server {MCP_SERVER}"),
        }
    }
}

/// The inserted entries, and the keys that were added for them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonEntries {
    /// The added keys as paths with `/` between the keys, outer keys first.
    pub made: Vec<String>,
    /// The events for which a hook was inserted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<String>,
    /// The paths inserted into `instructions`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<String>,
    /// The rules inserted into `permissions.allow`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// True if the MCP server was inserted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mcp_server: bool,
}

/// Parses a JSON file. Comments and trailing commas are allowed.
///
/// # Errors
/// The error describes the syntax error with line and column.
pub fn parse(bytes: &[u8]) -> Result<CstRootNode, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n');
        format!("line {}: invalid UTF-8", before.count())
    })?;
    if text.starts_with('\u{feff}') {
        let what = "the file begins with a byte order mark, which is invalid in JSON";
        return Err(format!("line 1, column 1: {what}"));
    }
    nesting::check_json(text).map_err(|error| error.to_string())?;
    let root = CstRootNode::parse(text, &json_options()).map_err(|error| {
        let (line, column) = (error.line_display(), error.column_display());
        format!("line {line}, column {column}: {}", error.kind())
    })?;
    // If the parser cannot reproduce the file exactly, writing the file would damage it.
    if root.to_string() != text {
        return Err("hippoctl cannot edit the file without changing its formatting".to_owned());
    }
    Ok(root)
}

/// Returns whether the content of a file is a JSON list.
pub fn is_list(bytes: &[u8]) -> bool {
    parse(bytes).is_ok_and(|root| root.array_value().is_some())
}

/// Inserts the entries that are missing. Returns `None` if all entries exist already.
///
/// # Errors
/// The error describes the problem in the file, with line and column if known.
pub fn enter(bytes: &[u8], edit: &JsonInsertion) -> Result<Option<(Vec<u8>, JsonEntries)>, String> {
    let root = parse(bytes)?;
    let object = root
        .object_value_or_create()
        .ok_or("it is not a JSON object, so entries cannot be added")?;
    let mut entered = JsonEntries::default();
    let changed = match edit {
        JsonInsertion::Hooks(hooks) => enter_hooks(&object, hooks, &mut entered)?,
        JsonInsertion::Claude(hooks, rules) => {
            let has_hooks = enter_hooks(&object, hooks, &mut entered)?;
            enter_permissions(&object, rules, &mut entered)? || has_hooks
        }
        JsonInsertion::Instructions(paths) => enter_instructions(&object, paths, &mut entered)?,
        JsonInsertion::McpServer => enter_mcp_server(&object, &mut entered)?,
    };
    if !changed {
        return Ok(None);
    }
    let text = root.to_string();
    parse(text.as_bytes()).map_err(|what| format!("the changed file would be invalid ({what})"))?;
    Ok(Some((text.into_bytes(), entered)))
}

fn enter_hooks(
    object: &CstObject,
    hooks: &[(&str, &str)],
    entered: &mut JsonEntries,
) -> Result<bool, String> {
    let all = made_object(object, "hooks", entered)?;
    for (event, command) in hooks {
        let path = format!("hooks/{event}");
        let groups = made_array(&all, &path, entered)?;
        // A hook is recognized as hippod's even if the user added options to its command.
        if commands(&groups)
            .any(|there| hook_named(&there).is_some_and(|name| Some(name) == hook_named(command)))
        {
            continue;
        }
        entered.hooks.push((*event).to_owned());
        let hook = json!({"type": "command", "command": (*command), "timeout": PATIENCE});
        groups.append(json!({"hooks": [hook]}));
    }
    Ok(!entered.hooks.is_empty())
}

fn enter_permissions(object: &CstObject, rules: &[&str], entered: &mut JsonEntries) -> Result<bool, String> {
    let permissions = made_object(object, "permissions", entered)?;
    let list = made_array(&permissions, "permissions/allow", entered)?;
    entered.allowed = append_missing(&list, rules);
    Ok(!entered.allowed.is_empty())
}

fn enter_mcp_server(object: &CstObject, entered: &mut JsonEntries) -> Result<bool, String> {
    let servers = made_object(object, "mcpServers", entered)?;
    // The user may have named hippod's server differently, or may use the name for another program.
    let is_there = servers.get(MCP_SERVER).is_some() || servers.properties().iter().any(runs_hippoctl);
    if !is_there {
        servers.append(MCP_SERVER, json!({"command": "hippoctl", "args": ["mcp"]}));
        entered.mcp_server = true;
    }
    Ok(!is_there)
}

fn runs_hippoctl(server: &CstObjectProp) -> bool {
    let command = server.value().and_then(|value| command(&value));
    command.is_some_and(|command| command.rsplit('/').next() == Some("hippoctl"))
}

fn enter_instructions(object: &CstObject, paths: &[&str], entered: &mut JsonEntries) -> Result<bool, String> {
    let list = made_array(object, "instructions", entered)?;
    entered.instructions = append_missing(&list, paths);
    Ok(!entered.instructions.is_empty())
}

/// Appends the items that a list lacks. A path with `./` at its start counts as the same path without it. Returns the
/// appended items.
fn append_missing(list: &CstArray, items: &[&str]) -> Vec<String> {
    let present: Vec<String> = list.elements().iter().filter_map(string).collect();
    let is_missing = |item: &&&str| {
        let is_same = |present: &String| present.trim_start_matches("./") == **item;
        !present.iter().any(is_same)
    };
    let missing: Vec<&str> = items.iter().filter(is_missing).copied().collect();
    missing.iter().for_each(|item| _ = list.append((*item).into()));
    missing.into_iter().map(str::to_owned).collect()
}

fn made_object(object: &CstObject, key: &str, entered: &mut JsonEntries) -> Result<CstObject, String> {
    if object.get(key).is_none() {
        entered.made.push(key.to_owned());
    }
    let value = object.object_value_or_create(key);
    value.ok_or_else(|| format!("\"{key}\" is not an object, so entries cannot be added"))
}

fn made_array(object: &CstObject, path: &str, entered: &mut JsonEntries) -> Result<CstArray, String> {
    let key = path.rsplit('/').next().unwrap_or(path);
    if object.get(key).is_none() {
        entered.made.push(path.to_owned());
    }
    let value = object.array_value_or_create(key);
    value.ok_or_else(|| format!("\"{path}\" is not a list, so entries cannot be added"))
}

/// Removes hippod's entries. Then removes each key that was added for these entries, if the key has no other content.
///
/// # Errors
/// The error describes the problem in the file, with line and column if known.
pub fn take_out(bytes: &[u8], entered: &JsonEntries) -> Result<Vec<u8>, String> {
    let root = parse(bytes)?;
    let Some(object) = root.object_value() else {
        return Ok(bytes.to_vec());
    };
    remove_items(object.array_value("instructions"), &entered.instructions);
    let permissions = object.object_value("permissions");
    remove_items(
        permissions.and_then(|permissions| permissions.array_value("allow")),
        &entered.allowed,
    );
    for event in &entered.hooks {
        let groups = object
            .object_value("hooks")
            .and_then(|hooks| hooks.array_value(event));
        groups.iter().for_each(take_out_hooks);
    }
    let server = object
        .object_value("mcpServers")
        .and_then(|servers| servers.get(MCP_SERVER));
    if let Some(server) = server.filter(|server| entered.mcp_server && runs_hippoctl(server)) {
        server.remove();
    }
    for path in entered.made.iter().rev() {
        let (outer, key) = match path.rsplit_once('/') {
            Some((outer, key)) => (object.object_value(outer), key),
            None => (Some(object.clone()), path.as_str()),
        };
        let is_empty = |value: CstNode| {
            // A comment in the value is from the user, so a value with a comment stays.
            let bare = value.children().iter().all(|child| !child.is_comment());
            bare && value.children_exclude_trivia_and_tokens().is_empty()
                && (value.as_array().is_some() || value.as_object().is_some())
        };
        let property = outer.and_then(|outer| outer.get(key));
        if let Some(property) = property.filter(|property| property.value().is_some_and(is_empty)) {
            property.remove();
        }
    }
    Ok(root.to_string().into_bytes())
}

fn remove_items(list: Option<CstArray>, items: &[String]) {
    let ours = |node: &CstNode| string(node).is_some_and(|item| items.contains(&item));
    let elements = list.iter().flat_map(CstArray::elements);
    elements.filter(ours).for_each(CstNode::remove);
}

fn take_out_hooks(groups: &CstArray) {
    for group in groups.elements() {
        let Some(hooks) = group.as_object().and_then(|group| group.array_value("hooks")) else {
            continue;
        };
        let (ours, others): (Vec<_>, Vec<_>) = hooks.elements().into_iter().partition(is_ours);
        if !ours.is_empty() && others.is_empty() {
            group.remove();
        } else {
            ours.into_iter().for_each(CstNode::remove);
        }
    }
}

fn commands(groups: &CstArray) -> impl Iterator<Item = String> {
    let groups = groups.elements().into_iter();
    let hooks = groups.filter_map(|group| group.as_object()?.array_value("hooks"));
    let hooks = hooks.flat_map(|hooks| hooks.elements());
    hooks.filter_map(|hook| command(&hook))
}

fn is_ours(hook: &CstNode) -> bool {
    command(hook).is_some_and(|command| hook_named(&command).is_some())
}

/// Returns the name of the hook in a `hippoctl hook` command. Ignores the path of the program and the options.
fn hook_named(command: &str) -> Option<&str> {
    let mut words = command
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'']));
    words.find(|word| word.rsplit('/').next() == Some("hippoctl"))?;
    words.find(|word| *word == "hook")?;
    words.next()
}

fn command(hook: &CstNode) -> Option<String> {
    string(&hook.as_object()?.get("command")?.value()?)
}

fn string(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}
