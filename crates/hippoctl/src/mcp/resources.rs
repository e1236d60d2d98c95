//! Which files can a client attach by itself, and what stands in them?

use std::io;
use std::path::Path;

use hippo_core::context::render::fenced;
use hippo_core::tokens;
use hippo_fs::WorkspaceDir;
use rmcp::model::{Resource, ResourceContents};

use super::calls::{Line, Trouble};

/// What goes before the path in the workspace.
const SCHEME: &str = "hippod:///";
const MARKDOWN: &str = "text/markdown";
/// Most bytes of a file.
const LONGEST: u64 = 1 << 20;
/// Tokens of a section: such a file and a mark in each line fit in.
const BUDGET: usize = tokens::of_bytes(LONGEST as usize * 32);

/// Path in the workspace, title, what it is.
const OFFERED: [[&str; 3]; 2] = [
    [
        "memory/ROOT.md",
        "Root of the memory",
        "Topics and months in a few lines: what there is to be found.",
    ],
    [
        "HIPPOCAMPUS.md",
        "Index of the memory",
        "What the memory tells of, with strengths, and where it stands.",
    ],
];

/// Those of the workspace that are there.
///
/// # Errors
/// No daemon, or no workspace.
pub fn there(line: &mut Line) -> Result<Vec<Resource>, Trouble> {
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

/// The path in the workspace of what is offered under this address.
pub fn path(uri: &str) -> Option<&'static str> {
    let wanted = uri.strip_prefix(SCHEME)?;
    OFFERED
        .iter()
        .map(|[path, ..]| *path)
        .find(|path| *path == wanted)
}

/// The refusal of any other address.
pub fn unknown(uri: &str) -> String {
    let offered = OFFERED.map(|[path, ..]| format!("{SCHEME}{path}"));
    let uri = hippo_proto::shorten(uri);
    format!("no resource {uri}; there are {}", offered.join(" and "))
}

/// The text of one of them as a section of a prompt; `None`: it is not there.
///
/// # Errors
/// No daemon, no workspace; it cannot be read, is too large, or leads out of the workspace.
pub fn read(line: &mut Line, path: &'static str) -> Result<Option<String>, Trouble> {
    let root = line.root()?;
    let failed = |why: &dyn std::fmt::Display| Trouble::new(format!("could not read {path}: {why}"));
    match hippo_fs::read_source(Path::new(&root), path, LONGEST) {
        Ok(bytes) => Ok(Some(fenced(&String::from_utf8_lossy(&bytes), BUDGET, path))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if hippo_fs::refusal(&error).is_some() => Err(failed(&"it is no file of the workspace")),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(failed(&format!("it is longer than {LONGEST} bytes")))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// The answer that carries it.
pub fn contents(uri: String, text: String) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type(MARKDOWN)
}
