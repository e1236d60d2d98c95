//! Does the text of a hit stand on disk at that place, now? Nothing is answered that does not.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use hippo_core::chunk::{self, ContentHash, Document};
use hippo_fs::WorkspaceDir;
use hippo_store::system;

/// Where the index says that a chunk stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First line, 1-based.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// First byte.
    pub start_byte: u64,
    /// One past the last byte.
    pub end_byte: u64,
    /// Hash of the bytes.
    pub hash: ContentHash,
}

/// What the index knows of a file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMark {
    /// Bytes.
    pub size: u64,
    /// Last modification, nanoseconds since the Unix epoch.
    pub mtime_ns: i64,
}

impl FileMark {
    /// The mark of a file as it is.
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

/// A hit that stands on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The text, invalid UTF-8 replaced.
    pub text: String,
    /// First line as the file is now.
    pub start_line: u32,
    /// Last line as the file is now.
    pub end_line: u32,
}

/// Checks the hits of one query; each file is opened once.
pub struct Verifier<'root> {
    root: &'root Path,
    max_file_bytes: u64,
    files: HashMap<String, Seen>,
    changed: Vec<String>,
}

enum Seen {
    /// As the index knows it.
    Same(File),
    /// Changed since; read again.
    Changed { bytes: Vec<u8>, document: Box<Document> },
    /// Gone, unreadable, or no file any more.
    Gone,
}

impl<'root> Verifier<'root> {
    /// For hits below `root`; a changed file above `max_file_bytes` counts as gone.
    pub fn new(root: &'root Path, max_file_bytes: u64) -> Self {
        Self {
            root,
            max_file_bytes,
            files: HashMap::new(),
            changed: Vec::new(),
        }
    }

    /// The text of a hit, or `None` when it is not on disk any more.
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
                // Same size and time, other bytes: the clock of the file system is coarse, or somebody set it back.
                self.changed.push(path.to_owned());
                None
            }),
            Seen::Changed { bytes, document } => find(bytes, document, span),
            Seen::Gone => None,
        }
    }

    /// Of the checked files, those that are gone or cannot be read.
    pub fn gone(&self) -> Vec<String> {
        let gone = self.files.iter().filter(|(_, seen)| matches!(seen, Seen::Gone));
        let mut paths: Vec<String> = gone.map(|(path, _)| path.clone()).collect();
        paths.sort_unstable();
        paths
    }

    /// Files that are not as the index knows them.
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

/// The chunk with the same text in the file as it is now; of several, the one nearest to where it was.
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
