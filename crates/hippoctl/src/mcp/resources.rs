//! Which files can a client attach by itself, and what stands in them?

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rmcp::model::{Resource, ResourceContents};

use super::calls::{Line, Trouble};

/// What goes before the path in the workspace.
const SCHEME: &str = "hippod:///";
const MARKDOWN: &str = "text/markdown";
/// Most bytes of a file.
const LONGEST: u64 = 1 << 20;

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
    let files = OFFERED.into_iter().filter_map(|[path, title, what]| {
        let file = Path::new(&root).join(path).metadata().ok()?;
        file.is_file().then(|| {
            Resource::new(format!("{SCHEME}{path}"), path)
                .with_title(title)
                .with_description(what)
                .with_mime_type(MARKDOWN)
                .with_size(file.len())
        })
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

/// The text of one of them; `None`: it is not there.
///
/// # Errors
/// No daemon, no workspace; it cannot be read, is too large, or leads out of the workspace.
pub fn read(line: &mut Line, path: &'static str) -> Result<Option<String>, Trouble> {
    let root = line.root()?;
    let failed = |why: &dyn std::fmt::Display| Trouble::new(format!("could not read {path}: {why}"));
    let file = match Path::new(&root).join(path).canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| failed(&error))?,
    };
    // A pipe in its place would be waited for.
    if !file.starts_with(&root) || !file.is_file() {
        return Err(failed(&"it is no file of the workspace"));
    }
    let mut bytes = Vec::new();
    File::open(&file)
        .and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| failed(&error))?;
    if bytes.len() as u64 > LONGEST {
        return Err(failed(&format!("it is longer than {LONGEST} bytes")));
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The answer that carries it.
pub fn contents(uri: String, text: String) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type(MARKDOWN)
}
