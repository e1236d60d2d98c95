//! Record of the changes that `init` made to a workspace.
//!
//! The record is kept in the state folder. Because it names files to rewrite, and an untrusted repository could contain
//! a forged one, no record inside a workspace is trusted. Earlier builds kept the record in the workspace: such a
//! record is used only at the user's request, and only for files that init installs.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use hippo_proto::folder;
use hippo_text::own_block::BlockMarks;
use hippo_text::text::start;
use serde::{Deserialize, Serialize};

use super::json::{self, JsonEntries};
use super::platform::Harness;
use super::splice::Splice;
use super::{PathSnapshot, PathState, UnusableFile, layout};

/// The path of the record in the workspace, where earlier builds wrote it.
pub const OLD_RECORD: &str = hippo_fs::harness::OLD_INIT_RECORD;
/// Maximum number of parts of one kind in a file. init inserts fewer than ten.
const MOST_PARTS: usize = 64;
/// Maximum length of a displayed reason in bytes.
const SAID: usize = 200;

/// The changes that init made to a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InitRecord {
    /// The version of this format: 1.
    pub version: u32,
    /// The platforms for which init was run.
    pub platforms: BTreeSet<Harness>,
    /// True if init registered the workspace.
    pub registered: bool,
    /// True if the workspace had no index file before init.
    pub index_is_new: bool,
    /// The created folders, outer ones first.
    pub folders: Vec<String>,
    /// The created or changed files, by path with links resolved.
    pub files: BTreeMap<String, FileRecord>,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// True if the file did not exist before init.
    pub made: bool,
    /// Hash of the file as init wrote it.
    pub hash: String,
    /// Hash of the file before init.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// The piece of a file that init replaced, if the file existed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splice: Option<Splice>,
    /// The inserted blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<PutBlock>,
    /// The inserted JSON entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<JsonEntries>,
    /// Hash of a created file without the inserted blocks and entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
}

/// An inserted block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutBlock {
    /// The name of the block.
    pub name: String,
    /// True if its marker lines begin with `#`.
    pub hash_marks: bool,
    /// The newlines that were inserted before the block.
    pub lead: String,
}

/// The state of a file before init.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Original {
    /// The file did not exist.
    Missing,
    /// The file had these bytes, in which later edits of the user are included.
    Text(Vec<u8>),
    /// The whole file now belongs to the user.
    Theirs,
}

impl InitRecord {
    /// Reads the record of a workspace from the state folder. If the file is missing, returns an empty record.
    ///
    /// # Errors
    /// Fails if the record cannot be read.
    pub fn read(state: &Path, root: &Path) -> Result<Self, UnusableFile> {
        let file = folder::decisions(state, root).join(folder::HARNESS);
        let parsed = match folder::read(&file) {
            Ok(bytes) => Self::parse(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => Err(error.to_string()),
        };
        parsed.map_err(|what| UnusableFile {
            path: file.display().to_string(),
            what,
        })
    }

    /// Writes the record into the state folder. If the record is empty, removes its file.
    ///
    /// # Errors
    /// Returns the error of the operating system. The previous record remains.
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
        // The folder may also contain decisions about trusted settings.
        let _ = std::fs::remove_dir(&place);
        Ok(())
    }

    /// Returns the record inside the workspace, which was written by an earlier build or is forged.
    ///
    /// # Errors
    /// Fails if the record is unreadable, or if it names a file or folder that init does not create.
    pub fn in_workspace(there: &PathSnapshot) -> Result<Option<Self>, Vec<UnusableFile>> {
        let problem = |path: &str, what: &str| UnusableFile {
            path: path.to_owned(),
            what: what.to_owned(),
        };
        let bytes = match there.state(OLD_RECORD) {
            PathState::Missing => return Ok(None),
            PathState::File(bytes) => bytes,
            PathState::Folder => {
                return Err(vec![problem(
                    OLD_RECORD,
                    "a folder exists at the path of the record",
                )]);
            }
            PathState::Odd(why) => return Err(vec![problem(OLD_RECORD, why)]),
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
        let strange: Vec<UnusableFile> = files
            .chain(folders)
            .map(|path| problem(path, "the record lists this path, but init never creates it"))
            .collect();
        if strange.is_empty() {
            Ok(Some(record))
        } else {
            Err(strange)
        }
    }

    /// Parses a record.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let record: Self = serde_json::from_slice(bytes).map_err(|error| said(&error))?;
        if record.version != 1 {
            return Err(format!("version {} belongs to a later hippoctl", record.version));
        }
        let parts = |entry: &FileRecord| {
            let json = entry.json.as_ref();
            let entered = |json: &JsonEntries| [json.made.len(), json.hooks.len(), json.instructions.len()];
            let entered = json.map_or([0; 3], entered);
            entered.into_iter().fold(entry.blocks.len(), usize::max)
        };
        // Each part is searched for in the whole file, so the number of parts is limited.
        match record.files.iter().find(|(_, entry)| parts(entry) > MOST_PARTS) {
            Some((path, _)) => Err(format!("it lists more than {MOST_PARTS} parts of {path:.100}")),
            None => Ok(record),
        }
    }

    /// Returns whether the record is empty, as in a workspace in which init was not run.
    pub fn is_empty(&self) -> bool {
        self.version == 0
    }

    /// Returns the bytes of the record file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

impl FileRecord {
    /// Stores the data with which the previous file can be restored.
    pub fn keep(&mut self, before: &[u8], now: &[u8]) {
        self.was = Some(hash(before));
        self.splice = Splice::between(before, now);
    }

    /// Returns the state of the file before init, derived from its current content.
    ///
    /// # Errors
    /// Fails if our parts cannot be separated from the rest of the file.
    pub fn original(&self, now: &[u8]) -> Result<Original, String> {
        let is = hash(now);
        if self.was.as_ref() == Some(&is) {
            // The file was not written yet, or our part has been removed since.
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

    /// Returns the file without our blocks and entries.
    ///
    /// # Errors
    /// Fails if a block is not closed, or if the file is not valid JSON.
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
    /// Returns the marker lines of the block.
    pub fn marks(&self) -> BlockMarks {
        if self.hash_marks {
            BlockMarks::HASH
        } else {
            BlockMarks::MARKDOWN
        }
    }
}

/// Returns the message of serde, shortened because it may quote the file.
fn said(error: &serde_json::Error) -> String {
    let what = error.to_string();
    start(&what, SAID).to_owned()
}

/// Returns the hash of a text, for comparison.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}
