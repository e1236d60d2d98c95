//! Verification of search hits against the files on disk.
//!
//! A query returns only text that is on disk at the location that the query reports.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_store::system;
use hippo_text::chunk::{self, ContentHash, Document};

/// Location of a chunk according to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// Offset of the first byte.
    pub start_byte: u64,
    /// Offset after the last byte.
    pub end_byte: u64,
    /// Hash of the bytes.
    pub hash: ContentHash,
}

/// Size and modification time of an indexed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMark {
    /// Size in bytes.
    pub size: u64,
    /// Last modification in nanoseconds since the Unix epoch.
    pub mtime_ns: i64,
}

impl FileMark {
    /// Returns the mark of a file from its metadata.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            mtime_ns: system::modified_ns(metadata),
        }
    }
}

impl From<hippo_fs::Stat> for FileMark {
    fn from(stat: hippo_fs::Stat) -> Self {
        Self {
            size: stat.size,
            mtime_ns: stat.modified_ns,
        }
    }
}

/// A verified hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The text; invalid UTF-8 is replaced.
    pub text: String,
    /// First line in the current file.
    pub start_line: u32,
    /// Last line in the current file.
    pub end_line: u32,
}

/// Verifier for the hits of one query. It opens each file only once.
pub struct Verifier<'root> {
    root: &'root Path,
    max_file_bytes: u64,
    files: HashMap<String, Seen>,
    changed: Vec<String>,
}

enum Seen {
    /// Unchanged since it was indexed.
    Same(File),
    /// Changed since it was indexed, and read again.
    Changed { bytes: Vec<u8>, document: Box<Document> },
    /// Missing, unreadable, or not a regular file.
    Gone,
}

impl<'root> Verifier<'root> {
    /// Creates a verifier for hits below `root`. A changed file above `max_file_bytes` counts as missing.
    pub fn new(root: &'root Path, max_file_bytes: u64) -> Self {
        Self {
            root,
            max_file_bytes,
            files: HashMap::new(),
            changed: Vec::new(),
        }
    }

    /// Returns the text of a hit, or `None` if it is no longer on disk.
    pub fn check(&mut self, path: &str, mark: FileMark, span: Span) -> Option<Verified> {
        if !self.files.contains_key(path) {
            let seen = self.open(path, mark);
            if !matches!(seen, Seen::Same(_)) {
                self.changed.push(path.to_owned());
            }
            self.files.insert(path.to_owned(), seen);
        }
        match self.files.get(path)? {
            Seen::Same(file) => read_span(file, span).or_else(|| {
                // The size and time are equal but the bytes differ: the file system's clock is coarse, or the time was
                // set back.
                self.changed.push(path.to_owned());
                None
            }),
            Seen::Changed { bytes, document } => find(bytes, document, span),
            Seen::Gone => None,
        }
    }

    /// Returns the checked files that are missing or unreadable.
    pub fn gone(&self) -> Vec<String> {
        let gone = self.files.iter().filter(|(_, seen)| matches!(seen, Seen::Gone));
        let mut paths: Vec<String> = gone.map(|(path, _)| path.clone()).collect();
        paths.sort_unstable();
        paths
    }

    /// Returns the checked files that differ from the index.
    pub fn changed(self) -> Vec<String> {
        self.changed
    }

    fn open(&self, path: &str, mark: FileMark) -> Seen {
        let Ok((mut file, metadata)) = WorkspaceDir::open(self.root).and_then(|dir| dir.open_source(path))
        else {
            return Seen::Gone;
        };
        if FileMark::of(&metadata) == mark {
            return Seen::Same(file);
        }
        let mut bytes = Vec::new();
        let read = (&mut file).take(self.max_file_bytes + 1).read_to_end(&mut bytes);
        if read.is_err() || bytes.len() as u64 > self.max_file_bytes {
            return Seen::Gone;
        }
        let document = Box::new(chunk::chunk(&bytes));
        Seen::Changed { bytes, document }
    }
}

fn read_span(file: &File, span: Span) -> Option<Verified> {
    let length = usize::try_from(span.end_byte.checked_sub(span.start_byte)?).ok()?;
    let mut bytes = vec![0; length];
    system::read_exact_at(file, &mut bytes, span.start_byte).ok()?;
    if ContentHash::of(&bytes) != span.hash {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(Verified {
        text,
        start_line: span.start_line,
        end_line: span.end_line,
    })
}

/// Finds the chunk with the same text in the current file. If several chunks match, returns the one nearest to the
/// indexed line.
fn find(bytes: &[u8], document: &Document, span: Span) -> Option<Verified> {
    let same = document.chunks.iter().filter(|chunk| chunk.hash == span.hash);
    let chunk = same.min_by_key(|chunk| chunk.start_line.abs_diff(span.start_line))?;
    let text = chunk::chunk_text(bytes, chunk).into_owned();
    Some(Verified {
        text,
        start_line: chunk.start_line,
        end_line: chunk.end_line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indexed(root: &Path, path: &str) -> (FileMark, Vec<Span>) {
        let bytes = std::fs::read(root.join(path)).unwrap();
        let mark = FileMark::of(&std::fs::metadata(root.join(path)).unwrap());
        let document = chunk::chunk(&bytes);
        let spans = document.chunks.iter().map(|chunk| Span {
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            start_byte: chunk.start_byte,
            end_byte: chunk.end_byte,
            hash: chunk.hash,
        });
        (mark, spans.collect())
    }

    #[test]
    fn follows_a_line_that_moved_and_drops_one_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::write(root.join("a.md"), "- the pump is blue\n- the valve is red\n").unwrap();
        let (mark, spans) = indexed(root, "a.md");
        let mut verifier = Verifier::new(root, 1 << 20);
        let hit = verifier.check("a.md", mark, spans[1]).unwrap();
        assert_eq!((hit.text.as_str(), hit.start_line), ("- the valve is red", 2));
        assert!(verifier.changed().is_empty());

        std::fs::write(root.join("a.md"), "# New\n\nwords before\n\n- the valve is red\n").unwrap();
        let mut verifier = Verifier::new(root, 1 << 20);
        let hit = verifier.check("a.md", mark, spans[1]).unwrap();
        assert_eq!(
            (hit.text.as_str(), hit.start_line, hit.end_line),
            ("- the valve is red", 5, 5)
        );
        assert_eq!(verifier.check("a.md", mark, spans[0]), None);
        assert_eq!(verifier.changed(), ["a.md"]);
    }

    #[test]
    fn a_file_with_the_old_size_and_time_but_other_bytes_answers_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        std::fs::write(&path, "- the pump is blue\n").unwrap();
        let (mark, spans) = indexed(folder.path(), "a.md");
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "- the pump is gray\n").unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(modified)
            .unwrap();
        let mut verifier = Verifier::new(folder.path(), 1 << 20);
        assert_eq!(verifier.check("a.md", mark, spans[0]), None);
        assert_eq!(verifier.changed(), ["a.md"]);
    }

    #[test]
    fn a_missing_file_a_folder_and_a_file_that_grew_too_large_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::write(root.join("a.md"), "- one\n").unwrap();
        let (mark, spans) = indexed(root, "a.md");
        std::fs::write(root.join("a.md"), "- one\n".repeat(100)).unwrap();
        assert_eq!(Verifier::new(root, 64).check("a.md", mark, spans[0]), None);
        std::fs::remove_file(root.join("a.md")).unwrap();
        assert_eq!(Verifier::new(root, 64).check("a.md", mark, spans[0]), None);
        std::fs::create_dir(root.join("a.md")).unwrap();
        assert_eq!(Verifier::new(root, 64).check("a.md", mark, spans[0]), None);
    }
}
