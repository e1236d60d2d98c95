//! Header comment of the index file.

use super::block::IndexBlock;
use super::text::one_line;
use super::{IndexFile, meta};
use hippo_types::time::Timestamp;

impl IndexFile {
    /// Returns the time of the last write from the header. This time distinguishes versions of the file.
    #[must_use]
    pub fn written_at(&self) -> Option<Timestamp> {
        self.header_time("reindexed:")
    }

    /// Returns the time of writing of the latest version of another machine that the file contains; `None` if no other
    /// machine wrote the file.
    #[must_use]
    pub fn received(&self) -> Option<Timestamp> {
        self.header_time("received:")
    }

    fn header_time(&self, name: &str) -> Option<Timestamp> {
        let text = self.blocks.iter().find_map(IndexBlock::header)?;
        let text = String::from_utf8_lossy(text);
        let mut parts = comment_text(&text).split('|').map(str::trim);
        let value = parts.find_map(|part| part.strip_prefix(name))?;
        meta::parse_moment(value.trim(), &self.settings)
    }

    /// Writes the time that [`IndexFile::received`] returns to the header, if the file has one.
    pub fn set_received(&mut self, received: Timestamp) {
        let header = self.blocks.iter_mut().find(|block| block.header().is_some());
        if let Some(block) = header {
            let text = String::from_utf8_lossy(block.bytes());
            let text = replace_values(&text, &[("received", &meta::format_exact(received))]);
            *block = IndexBlock::Header(text.into_bytes());
        }
    }

    /// Writes the entry count and the time of writing. A missing header is inserted below the title.
    pub fn set_header(&mut self, entries: usize, reindexed: Timestamp) {
        let (entries, reindexed) = (entries.to_string(), meta::format_exact(reindexed));
        if let Some(at) = self.blocks.iter().position(|block| block.header().is_some()) {
            let text = String::from_utf8_lossy(self.blocks[at].bytes()).into_owned();
            let text = replace_values(&text, &[("entries", &entries), ("reindexed", &reindexed)]);
            self.blocks[at] = IndexBlock::Header(text.into_bytes());
            return;
        }
        let text = format!("<!-- hippocampus.md v1.0 | entries: {entries} | reindexed: {reindexed} -->");
        let is_title = |block: &IndexBlock| matches!(block, IndexBlock::Section(it) if it.level == 1);
        let end = || IndexBlock::Text(self.line_end.into());
        let mut new = vec![IndexBlock::Header(text.into_bytes()), end()];
        let at = match self.blocks.iter().position(is_title) {
            Some(title) => {
                if !self.blocks[title].bytes().ends_with(b"\n") {
                    new.insert(0, end());
                }
                title + 1
            }
            None => match self.blocks.first_mut() {
                Some(IndexBlock::Text(text)) if text.starts_with(b"\xEF\xBB\xBF") => {
                    new.push(IndexBlock::Text(text.split_off(3)));
                    1
                }
                _ => 0,
            },
        };
        self.blocks.splice(at..at, new);
    }
}

/// Returns the text between the comment marks.
fn comment_text(text: &str) -> &str {
    text.trim_start_matches("<!--").trim_end_matches("-->")
}

/// Returns the comment with these values replaced or appended; its other parts keep their order.
fn replace_values(text: &str, values: &[(&str, &str)]) -> String {
    let mut parts: Vec<String> = comment_text(text).split('|').map(one_line).collect();
    for (key, value) in values {
        let stated = format!("{key}: {value}");
        let prefix = format!("{key}:");
        match parts.iter_mut().find(|part| part.starts_with(&prefix)) {
            Some(part) => *part = stated,
            None => parts.push(stated),
        }
    }
    format!("<!-- {} -->", parts.join(" | "))
}
