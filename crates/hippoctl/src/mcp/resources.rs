//! Files that an MCP client can attach as resources.

use std::io;
use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_text::fence::fenced;
use hippo_types::tokens;
use rmcp::model::{Resource, ResourceContents};

use super::calls::{CallConnection, CallFailure};

/// The prefix of the address, before the path in the workspace.
const SCHEME: &str = "hippod:///";
const MARKDOWN: &str = "text/markdown";
/// Maximum size of a file in bytes.
const LONGEST: u64 = 1 << 20;
/// Token budget for a section. It is large enough for a file of maximum size with a marker in each line.
const BUDGET: usize = tokens::of_bytes(LONGEST as usize * 32);

/// The path in the workspace, the title and the description of each file.
#[rustfmt::skip] // keep the list compact
const OFFERED: [[&str; 3]; 2] = [
    ["memory/ROOT.md", "Root of the memory", "Overview of the memory: topics and months in a few lines."],
    ["HIPPOCAMPUS.md", "Index of the memory", "The topics of the memory, with their strengths and places."],
];

/// Returns the offered files that exist in the workspace.
///
/// # Errors
/// Fails without a daemon or a workspace.
pub fn there(line: &mut CallConnection) -> Result<Vec<Resource>, CallFailure> {
    let root = line.root()?;
    let Ok(dir) = WorkspaceDir::open(Path::new(&root)) else {
        return Ok(Vec::new());
    };
    let files = OFFERED.into_iter().filter_map(|[path, title, what]| {
        let (_, file) = dir.open_source(path).ok()?;
        let resource = Resource::new(format!("{SCHEME}{path}"), path)
            .with_title(title)
            .with_description(what)
            .with_mime_type(MARKDOWN)
            .with_size(file.len());
        Some(resource)
    });
    Ok(files.collect())
}

/// Returns the path in the workspace for a resource address.
pub fn path(uri: &str) -> Option<&'static str> {
    let wanted = uri.strip_prefix(SCHEME)?;
    OFFERED
        .iter()
        .map(|[path, ..]| *path)
        .find(|path| *path == wanted)
}

/// Returns the error message for an unknown address.
pub fn unknown(uri: &str) -> String {
    let offered = OFFERED.map(|[path, ..]| format!("{SCHEME}{path}"));
    let uri = hippo_proto::shorten(uri);
    format!(
        "no such resource: {uri}; the resources are {}",
        offered.join(" and ")
    )
}

/// Returns the text of a resource as a fenced section of a prompt, or `None` if the file does not exist.
///
/// # Errors
/// Fails without a daemon or a workspace, or if the file is unreadable, too large, or outside the workspace.
pub fn read(line: &mut CallConnection, path: &'static str) -> Result<Option<String>, CallFailure> {
    let root = line.root()?;
    let failed = |why: &dyn std::fmt::Display| CallFailure::new(format!("could not read {path}: {why}"));
    match hippo_fs::read_source(Path::new(&root), path, LONGEST) {
        Ok(bytes) => Ok(Some(fenced(&String::from_utf8_lossy(&bytes), BUDGET, path))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if hippo_fs::refusal(&error).is_some() => {
            Err(failed(&"it is not a file of the workspace"))
        }
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(failed(&format!("it is longer than {LONGEST} bytes")))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Returns the resource with this text.
pub fn contents(uri: String, text: String) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type(MARKDOWN)
}
