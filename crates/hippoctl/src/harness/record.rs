//! Record of the changes that `init` made to a workspace.
//!
//! `init --undo` rewrites the files that the record names, and a record in an untrusted repository could be forged.
//! Therefore, the record is stored in the state folder, and a record inside a workspace is never read.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use hippo_proto::folder;
use hippo_text::own_block::BlockMarks;
use serde::{Deserialize, Serialize};

use super::PathReason;
use super::json::{self, JsonEntries};
use super::platform::Harness;
use super::splice::Splice;

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
    /// True if init was run with `--full`.
    #[serde(default)]
    pub full: bool,
    /// True if the workspace had no index file before init.
    pub index_is_new: bool,
    /// The folders that init created, outer ones first.
    pub folders: Vec<String>,
    /// The files that init created or changed. The key is the path with links resolved.
    pub files: BTreeMap<String, FileRecord>,
}

/// The change of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// True if the file did not exist before init.
    pub made: bool,
    /// Hash of the file as init wrote it.
    pub hash: String,
    /// For a file that existed before init: the replacement that init made in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splice: Option<Splice>,
    /// The inserted blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<PutBlock>,
    /// The inserted JSON entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<JsonEntries>,
    /// For a file that init created: the hash of its content without the inserted blocks and entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
}

/// An inserted block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutBlock {
    /// The name of the block.
    pub name: String,
    /// True if the marker lines of the block begin with `#`.
    pub hash_marks: bool,
    /// The newlines that init inserted before the block.
    pub lead: String,
}

/// The state of a file before init.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Original {
    /// The file did not exist.
    Missing,
    /// The file existed, with this content. Later edits by the user are part of the content.
    Text(Vec<u8>),
    /// Init created the file, but the user has edited it since. The whole file now belongs to the user.
    Theirs,
}

impl InitRecord {
    /// Reads the record of a workspace from the state folder. If the file is missing, returns an empty record.
    ///
    /// # Errors
    /// Fails if the record cannot be read.
    pub fn read(state: &Path, root: &Path) -> Result<Self, PathReason> {
        let file = folder::decisions(state, root).join(folder::HARNESS);
        let record = match folder::read(&file) {
            Ok(bytes) => Self::parse(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => Err(error.to_string()),
        };
        record.map_err(|why| PathReason::new(file.display().to_string(), why))
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
        // The removal fails if the folder also contains the user's decisions about trusted settings.
        let _ = std::fs::remove_dir(&place);
        Ok(())
    }

    /// Parses the bytes of a record file.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let record: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match record.version {
            1 => Ok(record),
            version => Err(format!("a later version of hippoctl wrote it (format {version})")),
        }
    }

    /// Returns whether the record is empty, which means that init has not changed the workspace.
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
    /// Derives the state of the file before init from `now`, the current content of the file.
    ///
    /// # Errors
    /// Fails if hippod's parts cannot be separated from the rest of the file.
    pub fn original(&self, now: &[u8]) -> Result<Original, String> {
        if hash(now) == self.hash {
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
        let moved = self.splice.as_ref().zip(std::str::from_utf8(now).ok());
        if let Some(before) = moved.and_then(|(splice, now)| splice.undo_moved(now)) {
            return Ok(Original::Text(before));
        }
        let left = self.strip(now)?;
        if self.made && self.rest.as_deref() == Some(&hash(&left)) {
            return Ok(Original::Missing);
        }
        Ok(Original::Text(left))
    }

    /// Returns the content without hippod's blocks and entries.
    ///
    /// # Errors
    /// Fails if a block is not closed, or if the file is not valid JSON.
    pub fn strip(&self, now: &[u8]) -> Result<Vec<u8>, String> {
        let mut text = now.to_vec();
        for block in &self.blocks {
            let marks = match block.hash_marks {
                true => BlockMarks::HASH,
                false => BlockMarks::MARKDOWN,
            };
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

/// Returns a hash for the comparison of file contents.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}
