//! Record of what `init` made in a workspace, in the state folder.
//!
//! Nothing below a workspace is believed to be this record: it names files to rewrite, and a repository of a stranger could bring
//! one. Builds before kept it there; such a one is used only where the user says so, and only for files that init lays out.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use hippo_core::own_block::BlockMarks;
use hippo_core::text::start;
use hippo_proto::folder;
use serde::{Deserialize, Serialize};

use super::json::{self, Entered};
use super::platform::Platform;
use super::splice::Splice;
use super::{Problem, Snapshot, State, layout};

/// Where builds before kept the record, in the workspace.
pub const OLD_RECORD: &str = hippo_core::harness::OLD_INIT_RECORD;
/// Maximum parts of one kind in a file; init puts in fewer than ten.
const MOST_PARTS: usize = 64;
/// Bytes of a reason that are shown.
const SAID: usize = 200;

/// What init made in a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The version of this format; 1.
    pub version: u32,
    /// For which harnesses.
    pub platforms: BTreeSet<Platform>,
    /// Whether the workspace was registered by it.
    pub registered: bool,
    /// Whether there was no index file before.
    pub index_is_new: bool,
    /// Folders that were made, outer ones first.
    pub folders: Vec<String>,
    /// Files that were made or changed, by where they really are.
    pub files: BTreeMap<String, Entry>,
}

/// What was done to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Whether there was none before.
    pub made: bool,
    /// Hash of the file as it was written.
    pub hash: String,
    /// Hash of the file as it was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// What was put in the place of what, in a file that was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splice: Option<Splice>,
    /// Blocks that were put in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<PutBlock>,
    /// Entries of JSON that were put in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Entered>,
    /// Hash of a file that was made, without these blocks and entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
}

/// A block that was put in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutBlock {
    /// Its name.
    pub name: String,
    /// Whether its lines begin with `#`.
    pub hash_marks: bool,
    /// Line ends that were put before it.
    pub lead: String,
}

/// What a file was before init.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Original {
    /// Not there.
    Missing,
    /// These bytes; where people changed the file since, with what they changed.
    Text(Vec<u8>),
    /// Of people as a whole by now.
    Theirs,
}

impl Record {
    /// The record of a workspace, from the state folder; an empty one where there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(state: &Path, root: &Path) -> Result<Self, Problem> {
        let file = folder::decisions(state, root).join(folder::HARNESS);
        let parsed = match folder::read(&file) {
            Ok(bytes) => Self::parse(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => Err(error.to_string()),
        };
        parsed.map_err(|what| Problem {
            path: file.display().to_string(),
            what,
        })
    }

    /// Keeps the record in the state folder; an empty one is removed.
    ///
    /// # Errors
    /// As the system says; the one that was there stays.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn write(&self, state: &Path, root: &Path) -> io::Result<()> {
        let place = folder::decisions(state, root);
        let file = place.join(folder::HARNESS);
        if !self.is_empty() {
            return folder::write(&file, &self.to_bytes());
        }
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Trust in settings may be kept beside it.
        let _ = std::fs::remove_dir(&place);
        Ok(())
    }

    /// The record that a build before left in the workspace, or that a stranger put there.
    ///
    /// # Errors
    /// It cannot be read, or it names a file or a folder that init does not make.
    pub fn in_workspace(there: &Snapshot) -> Result<Option<Self>, Vec<Problem>> {
        let problem = |path: &str, what: &str| Problem {
            path: path.to_owned(),
            what: what.to_owned(),
        };
        let bytes = match there.state(OLD_RECORD) {
            State::Missing => return Ok(None),
            State::File(bytes) => bytes,
            State::Folder => return Err(vec![problem(OLD_RECORD, "a folder stands in its place")]),
            State::Odd(why) => return Err(vec![problem(OLD_RECORD, why)]),
        };
        let record = Self::parse(bytes).map_err(|what| vec![problem(OLD_RECORD, &what)])?;
        let known: BTreeSet<String> = layout::paths()
            .into_iter()
            .flat_map(|path| [there.real(&path).to_owned(), path])
            .collect();
        let above: BTreeSet<&str> = known
            .iter()
            .flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at]))
            .collect();
        let files = record.files.keys().filter(|path| !known.contains(*path));
        let folders = record
            .folders
            .iter()
            .filter(|path| !known.contains(*path) && !above.contains(path.as_str()));
        let strange: Vec<Problem> = files
            .chain(folders)
            .map(|path| problem(path, "the record names it, and init never makes it"))
            .collect();
        if strange.is_empty() {
            Ok(Some(record))
        } else {
            Err(strange)
        }
    }

    /// Reads a record.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let record: Self = serde_json::from_slice(bytes).map_err(|error| said(&error))?;
        if record.version != 1 {
            return Err(format!("version {} is of a later hippoctl", record.version));
        }
        let parts = |entry: &Entry| {
            let json = entry.json.as_ref();
            let entered = |json: &Entered| [json.made.len(), json.hooks.len(), json.instructions.len()];
            let entered = json.map_or([0; 3], entered);
            entered.into_iter().fold(entry.blocks.len(), usize::max)
        };
        // Each is looked for in the whole file.
        match record.files.iter().find(|(_, entry)| parts(entry) > MOST_PARTS) {
            Some((path, _)) => Err(format!("it names more than {MOST_PARTS} parts of {path:.100}")),
            None => Ok(record),
        }
    }

    /// Whether nothing was made.
    pub fn is_empty(&self) -> bool {
        self.version == 0
    }

    /// As a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

impl Entry {
    /// Keeps what makes the file of before again.
    pub fn keep(&mut self, before: &[u8], now: &[u8]) {
        self.was = Some(hash(before));
        self.splice = Splice::between(before, now);
    }

    /// What the file was before, given what it is now.
    ///
    /// # Errors
    /// Our parts cannot be told from the others.
    pub fn original(&self, now: &[u8]) -> Result<Original, String> {
        let is = hash(now);
        if self.was.as_ref() == Some(&is) {
            // It was not written yet, or somebody else took our part out.
            return Ok(Original::Text(now.to_vec()));
        }
        if is == self.hash {
            if self.made {
                return Ok(Original::Missing);
            }
            if let Some(before) = self.splice.as_ref().and_then(|splice| splice.undo(now)) {
                return Ok(Original::Text(before));
            }
        }
        if self.blocks.is_empty() && self.json.is_none() && self.splice.is_none() {
            return Ok(Original::Theirs);
        }
        let moved = self.splice.as_ref().and_then(|splice| {
            let now = std::str::from_utf8(now).ok()?;
            splice.undo_moved(now)
        });
        if let Some(before) = moved {
            return Ok(Original::Text(before));
        }
        let left = self.strip(now)?;
        if self.made && self.rest.as_deref() == Some(&hash(&left)) {
            return Ok(Original::Missing);
        }
        Ok(Original::Text(left))
    }

    /// The file without our blocks and entries.
    ///
    /// # Errors
    /// A block is not closed, or the file is no JSON.
    pub fn strip(&self, now: &[u8]) -> Result<Vec<u8>, String> {
        let mut text = now.to_vec();
        for block in &self.blocks {
            let marks = block.marks();
            let Some(span) = marks.span(&text, &block.name).map_err(|torn| torn.to_string())? else {
                continue;
            };
            let before = &text[..span.start];
            let before = before.strip_suffix(block.lead.as_bytes()).unwrap_or(before);
            text = [before, &text[span.end..]].concat();
        }
        match &self.json {
            Some(entered) => json::take_out(&text, entered),
            None => Ok(text),
        }
    }
}

impl PutBlock {
    /// Its lines.
    pub fn marks(&self) -> BlockMarks {
        if self.hash_marks {
            BlockMarks::HASH
        } else {
            BlockMarks::MARKDOWN
        }
    }
}

/// What serde says, which may repeat what stands there.
fn said(error: &serde_json::Error) -> String {
    let what = error.to_string();
    start(&what, SAID).to_owned()
}

/// Tells texts apart.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}
