//! Structure of a document, stored as JSON.

use hippo_text::chunk::{self, Chunk, ChunkKind, ContentHash, Document, Section, Speaker};
use hippo_text::source;
use hippo_types::scope::ScopeRestriction;
use hippo_types::time::Date;
use serde::{Deserialize, Serialize};

use super::DocumentRecord;

/// The fields of a section: level, parent, title, first line, last line and date.
type SectionFields = (u8, Option<u32>, String, u32, u32, Option<Date>);
/// The fields of a chunk: section, kind, speaker, first line, last line, first byte and end.
type ChunkFields = (u32, u8, u8, u32, u32, u64, u64);

/// The title, sections and chunks of a document, without the hashes of the chunks.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct DocumentOutline {
    pub(super) title: Option<String>,
    /// The names by which the document is found, one a line, as [`names_of`] returns them.
    #[serde(default)]
    names: String,
    /// The [`chunk::VERSION`] that divided the document; 0 for a document of an earlier daemon.
    #[serde(default)]
    pub(super) version: u32,
    /// Restriction of the scope in the front matter.
    #[serde(default)]
    pub(super) restriction: ScopeRestriction,
    /// Path of the file to which the document is a link, if it is one.
    #[serde(default)]
    pub(super) target: Option<String>,
    sections: Vec<SectionFields>,
    chunks: Vec<ChunkFields>,
}

impl DocumentOutline {
    pub(super) fn of(record: &DocumentRecord, document: &Document) -> Self {
        let section = |s: &Section| {
            (
                s.level,
                s.parent,
                s.title.clone(),
                s.start_line,
                s.end_line,
                s.date,
            )
        };
        let chunk = |c: &Chunk| {
            let (kind, speaker) = (c.kind.code(), c.speaker.code());
            (
                c.section,
                kind,
                speaker,
                c.start_line,
                c.end_line,
                c.start_byte,
                c.end_byte,
            )
        };
        Self {
            title: document.title.clone(),
            names: names_of(&record.path, document),
            version: chunk::VERSION,
            restriction: document.front_matter.restriction.clone(),
            target: record.target.clone(),
            sections: document.sections.iter().map(section).collect(),
            chunks: document.chunks.iter().map(chunk).collect(),
        }
    }

    /// Returns the lines that are indexed before a chunk: the title of its section if the chunk is the first in the
    /// section, and the names of the document if the chunk is the first in the document.
    pub(super) fn lead(&self, ordinal: usize) -> String {
        let section = |at: usize| self.chunks.get(at).map(|chunk| chunk.0);
        let own = section(ordinal).filter(|own| ordinal == 0 || section(ordinal - 1) != Some(*own));
        let own = own.and_then(|own| self.sections.get(usize::try_from(own).ok()?));
        let title = own.map_or("", |section| &section.2);
        match ordinal {
            0 if !self.names.is_empty() => format!("{title}\n{}", self.names),
            _ => title.to_owned(),
        }
    }

    pub(super) fn sections(&self) -> Vec<Section> {
        let section = |fields: &SectionFields| {
            let (level, parent, title, start_line, end_line, date) = fields.clone();
            Section {
                level,
                title,
                parent,
                start_line,
                end_line,
                date,
            }
        };
        self.sections.iter().map(section).collect()
    }

    /// Returns the chunk with this ordinal and hash.
    pub(super) fn chunk(&self, ordinal: usize, hash: [u8; 16]) -> Option<Chunk> {
        let (section, kind, speaker, start_line, end_line, start_byte, end_byte) =
            *self.chunks.get(ordinal)?;
        Some(Chunk {
            kind: ChunkKind::from_code(kind),
            section,
            start_line,
            end_line,
            start_byte,
            end_byte,
            hash: ContentHash(hash),
            speaker: Speaker::from_code(speaker),
        })
    }
}

/// Returns the names by which a document is found, one a line: its aliases, its tags, the other values of its front
/// matter, and the name of the file if it has no title and no date. Such a name often is the title, for example in
/// Obsidian.
fn names_of(path: &str, document: &Document) -> String {
    let is_title = document.title.is_none() && source::date_in_name(path).is_none();
    let stem = is_title.then(|| source::stem(path));
    let fields = &document.front_matter;
    let names = [&fields.aliases, &fields.tags, &fields.values]
        .into_iter()
        .flatten();
    let names = names.map(String::as_str);
    let lines = stem.into_iter().chain(names).map(|name| format!("{name}\n"));
    lines.collect()
}
