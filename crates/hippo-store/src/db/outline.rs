//! Structure of a document, stored as JSON.

use hippo_text::chunk::{Chunk, ChunkKind, ContentHash, Document, Section, Speaker};
use hippo_types::time::Date;
use serde::{Deserialize, Serialize};

/// The fields of a section: level, parent, title, first line, last line and date.
type SectionFields = (u8, Option<u32>, String, u32, u32, Option<Date>);
/// The fields of a chunk: section, kind, speaker, first line, last line, first byte and end.
type ChunkFields = (u32, u8, u8, u32, u32, u64, u64);

/// The title, sections and chunks of a document, without the hashes of the chunks.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct DocumentOutline {
    pub(super) title: Option<String>,
    sections: Vec<SectionFields>,
    chunks: Vec<ChunkFields>,
}

impl DocumentOutline {
    pub(super) fn of(document: &Document) -> Self {
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
            sections: document.sections.iter().map(section).collect(),
            chunks: document.chunks.iter().map(chunk).collect(),
        }
    }

    /// Returns the leading heading of a chunk. This is the title of its section if the chunk is the first in the
    /// section, otherwise an empty text.
    pub(super) fn lead(&self, ordinal: usize) -> &str {
        let section = |at: usize| self.chunks.get(at).map(|chunk| chunk.0);
        let Some(own) = section(ordinal) else { return "" };
        if ordinal > 0 && section(ordinal - 1) == Some(own) {
            return "";
        }
        let section = usize::try_from(own).ok().and_then(|own| self.sections.get(own));
        section.map_or("", |section| &section.2)
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
