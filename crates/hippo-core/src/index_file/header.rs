//! What does the comment at the top of the file say about it?

use super::block::Block;
use super::text::one_line;
use super::{IndexFile, meta};
use crate::time::Timestamp;

/// The comment that says what the file is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    /// Version of the format, such as `1.0`; empty when the comment states none.
    pub version: String,
    /// How many entries the file had when it was written last.
    pub entries: Option<u32>,
    /// When it was written last; tells the versions of a file apart.
    pub reindexed: Option<Timestamp>,
}

impl IndexFile {
    /// The header, if there is one.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        let text = self.blocks.iter().find_map(|block| match block {
            Block::Header(text) => Some(String::from_utf8_lossy(text)),
            _ => None,
        })?;
        let mut header = Header::default();
        for part in inner(&text).split('|') {
            let part = part.trim();
            if let Some(version) = part.strip_prefix("hippocampus.md") {
                header.version = version.trim().trim_start_matches('v').to_owned();
            }
            match part.split_once(':') {
                Some(("entries", value)) => header.entries = value.trim().parse().ok(),
                Some(("reindexed", value)) => header.reindexed = meta::moment(value.trim(), &self.settings),
                _ => {}
            }
        }
        Some(header)
    }

    /// States how many entries there are and when they were written; a missing header goes below the title.
    pub fn set_header(&mut self, entries: usize, reindexed: Timestamp) {
        let (entries, reindexed) = (entries.to_string(), meta::exact(reindexed));
        let is_header = |block: &Block| matches!(block, Block::Header(_));
        if let Some(at) = self.blocks.iter().position(is_header) {
            let text = String::from_utf8_lossy(self.blocks[at].bytes()).into_owned();
            let text = restated(&text, &[("entries", &entries), ("reindexed", &reindexed)]);
            self.blocks[at] = Block::Header(text.into_bytes());
            return;
        }
        let text = format!("<!-- hippocampus.md v1.0 | entries: {entries} | reindexed: {reindexed} -->");
        let title = self
            .blocks
            .iter()
            .position(|block| matches!(block, Block::Section(it) if it.level == 1));
        let end = self.line_end;
        let Some(title) = title else {
            let mut after = 0;
            if let Some(Block::Text(text)) = self.blocks.first_mut()
                && text.starts_with(b"\xEF\xBB\xBF")
            {
                let rest = text.split_off(3);
                self.blocks.insert(1, Block::Text(rest));
                after = 1;
            }
            self.blocks.insert(after, Block::Header(text.into_bytes()));
            self.blocks.insert(after + 1, Block::Text(end.into()));
            return;
        };
        let open = !self.blocks[title].bytes().ends_with(b"\n");
        if open {
            self.blocks.insert(title + 1, Block::Text(end.into()));
        }
        let at = title + 1 + usize::from(open);
        self.blocks.insert(at, Block::Header(text.into_bytes()));
        self.blocks.insert(at + 1, Block::Text(end.into()));
    }
}

/// What is between the marks of a comment.
fn inner(text: &str) -> &str {
    let text = text.strip_prefix("<!--").unwrap_or(text);
    text.strip_suffix("-->").unwrap_or(text)
}

/// The comment with these values; its other parts stay, in their order.
fn restated(text: &str, values: &[(&str, &str)]) -> String {
    let mut parts: Vec<String> = inner(text).split('|').map(one_line).collect();
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
