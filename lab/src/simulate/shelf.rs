//! Current files of the simulated workspace, parsed like the daemon does.

use std::collections::{BTreeMap, BTreeSet};

use hippo_map::bootstrap::MemoryFile;
use hippo_map::consolidation::{DocumentState, Fact, LogDay, SectionState, find_repeated_facts};
use hippo_text::chunk::{self, ContentHash, Document};
use hippo_text::source::{SourceKind, date_in_name};
use hippo_types::entry::Pointer;
use hippo_types::time::Timestamp;
use hippo_types::tokens;

use super::world::WorldFile;

/// A file with its parsed contents.
pub struct ShelfFile {
    bytes: Vec<u8>,
    document: Document,
    state: DocumentState,
    kind: SourceKind,
    modified: Timestamp,
}

/// All files, in memory.
#[derive(Default)]
pub struct Shelf {
    files: BTreeMap<String, ShelfFile>,
}

impl Shelf {
    /// Writes a file.
    pub fn put(&mut self, written: WorldFile, now: Timestamp) {
        let bytes = written.text.into_bytes();
        let document = chunk::chunk(&bytes);
        let shelved = ShelfFile {
            state: state(&bytes, &document),
            kind: SourceKind::from_path(&written.path),
            document,
            bytes,
            modified: now,
        };
        self.files.insert(written.path, shelved);
    }

    /// Returns the size of all files in bytes.
    pub fn bytes(&self) -> usize {
        self.files.values().map(|file| file.bytes.len()).sum()
    }

    /// Returns the files as input of bootstrap; all except `fresh` have entries already.
    pub fn memory<'s>(&'s self, fresh: &BTreeSet<String>) -> Vec<MemoryFile<'s>> {
        let files = self.files.iter().map(|(path, file)| MemoryFile {
            path,
            kind: file.kind,
            document: &file.document,
            bytes: &file.bytes,
            modified: file.modified,
            known: !fresh.contains(path),
        });
        files.collect()
    }

    /// Returns the files that were written since a moment.
    pub fn changed_since(&self, moment: Option<Timestamp>) -> BTreeSet<String> {
        let changed = self
            .files
            .iter()
            .filter(|(_, file)| moment.is_none_or(|moment| file.modified >= moment));
        changed.map(|(path, _)| path.clone()).collect()
    }

    /// Returns `true` for daily logs.
    pub fn is_log(&self, path: &str) -> bool {
        self.files
            .get(path)
            .is_some_and(|file| file.kind == SourceKind::DailyLog)
    }

    /// Returns all documents as input of consolidation.
    pub fn states(&self) -> BTreeMap<String, DocumentState> {
        let states = self
            .files
            .iter()
            .map(|(path, file)| (path.clone(), file.state.clone()));
        states.collect()
    }

    /// Returns `true` if the target of a pointer exists.
    pub fn holds(&self, pointer: &Pointer) -> bool {
        let Some(file) = self.files.get(&pointer.path) else {
            return false;
        };
        let there = |title: &String| file.state.sections.iter().any(|section| section.title == *title);
        pointer.section.as_ref().is_none_or(there)
    }

    /// Returns the tokens of the target of a pointer.
    pub fn tokens(&self, pointer: &Pointer) -> usize {
        let Some(file) = self.files.get(&pointer.path) else {
            return 0;
        };
        let sections = &file.document.sections;
        let at = pointer
            .section
            .as_ref()
            .and_then(|title| sections.iter().position(|section| section.title == *title));
        let Some(at) = at else {
            return tokens::of_bytes(file.bytes.len());
        };
        let (first, last) = (
            sections[at].start_line,
            chunk::section_end(&file.document, at as u32),
        );
        let lines = file.bytes.split(|byte| *byte == b'\n');
        let lines = lines.skip(first as usize - 1).take((last + 1 - first) as usize);
        tokens::of_bytes(lines.map(|line| line.len() + 1).sum())
    }

    /// Returns the facts that the logs repeat.
    pub fn facts(&self, hits: impl Fn(&Pointer) -> u32) -> Vec<Fact> {
        let logs = self
            .files
            .iter()
            .filter(|(_, file)| file.kind == SourceKind::DailyLog);
        let logs = logs.filter_map(|(path, file)| {
            Some(LogDay {
                path,
                date: date_in_name(path)?,
                document: &file.document,
                bytes: &file.bytes,
            })
        });
        find_repeated_facts(logs, hits)
    }
}

/// Returns the state of a document as the daemon computes it.
fn state(bytes: &[u8], document: &Document) -> DocumentState {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let sections = (0_u32..)
        .zip(&document.sections)
        .filter(|(_, section)| section.level > 0);
    let sections = sections.map(|(at, section)| {
        let (from, to) = (
            section.start_line as usize,
            chunk::section_end(document, at) as usize,
        );
        let text = lines.get(from..to.min(lines.len())).unwrap_or_default().concat();
        SectionState {
            title: section.title.clone(),
            hash: ContentHash::of(text.trim_ascii()),
        }
    });
    DocumentState {
        hash: ContentHash::of(bytes),
        sections: sections.collect(),
    }
}
