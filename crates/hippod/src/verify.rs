//! Verification of search hits against the files on disk.
//!
//! A search returns only text that is on disk at the reported location.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::io::Read;
use std::path::Path;

use hippo_fs::{FileContent, WorkspaceDir};
use hippo_store::system;
use hippo_text::chunk::{self, ContentHash, Document};
use hippo_types::scope::ScopeRestriction;

/// Number of checked files from which unchanged files are closed.
const OPEN: usize = 32;

/// Location of a chunk according to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSpan {
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

/// Size and modification time of a file, by which a change since indexing is noticed.
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
pub struct VerifiedHit {
    /// The text; invalid UTF-8 is replaced.
    pub text: String,
    /// First line in the current file.
    pub start_line: u32,
    /// Last line in the current file.
    pub end_line: u32,
}

/// Verifier for the hits of one query. It keeps files open from hit to hit.
pub struct Verifier {
    /// The workspace; `None` if its root cannot be opened.
    root: Option<WorkspaceDir>,
    max_file_bytes: u64,
    files: HashMap<String, FileCheckResult>,
    changed: Vec<String>,
}

enum FileCheckResult {
    /// Unchanged since it was indexed.
    Same(FileContent),
    /// Changed since it was indexed, and read again.
    Changed { bytes: Vec<u8>, document: Box<Document> },
    /// Missing, unreadable, or not a regular file.
    Gone,
}

impl Verifier {
    /// Creates a verifier for hits below `root`. A changed file above `max_file_bytes` counts as missing.
    pub fn new(root: &Path, max_file_bytes: u64) -> Self {
        Self {
            root: WorkspaceDir::open(root).ok(),
            max_file_bytes,
            files: HashMap::new(),
            changed: Vec::new(),
        }
    }

    /// Returns the text of a hit, or `None` if it is no longer on disk.
    pub fn check(&mut self, path: &str, mark: FileMark, span: ChunkSpan) -> Option<VerifiedHit> {
        if !self.files.contains_key(path) {
            let seen = self.open(path, mark);
            if !matches!(seen, FileCheckResult::Same(_)) {
                self.changed.push(path.to_owned());
            }
            self.close_some();
            self.files.insert(path.to_owned(), seen);
        }
        match self.files.get_mut(path)? {
            FileCheckResult::Same(content) => find_span(content, span).or_else(|| {
                // Size and time are equal, but the bytes differ. The file system's clock is coarse, or the time was
                // set back.
                self.changed.push(path.to_owned());
                None
            }),
            // The file may have become private, so its hits wait until it has been indexed again.
            FileCheckResult::Changed { document, .. }
                if document.front_matter.restriction != ScopeRestriction::None =>
            {
                None
            }
            FileCheckResult::Changed { bytes, document } => find(bytes, document, span),
            FileCheckResult::Gone => None,
        }
    }

    /// Closes the open files if there are many. A file is opened again if another hit needs it.
    fn close_some(&mut self) {
        if self.files.len() >= OPEN {
            self.files
                .retain(|_, seen| !matches!(seen, FileCheckResult::Same(_)));
        }
    }

    /// Returns the checked files that are missing or unreadable.
    pub fn missing_files(&self) -> Vec<String> {
        let gone = self
            .files
            .iter()
            .filter(|(_, seen)| matches!(seen, FileCheckResult::Gone));
        let mut paths: Vec<String> = gone.map(|(path, _)| path.clone()).collect();
        paths.sort_unstable();
        paths
    }

    /// Returns the checked files that differ from the index, each once, in the order of the checks.
    pub fn changed(self) -> Vec<String> {
        let mut seen = HashSet::new();
        let is_new = |path: &String| seen.insert(path.clone());
        self.changed.into_iter().filter(is_new).collect()
    }

    fn open(&self, path: &str, mark: FileMark) -> FileCheckResult {
        let opened = self.root.as_ref().map(|root| root.open_source(path));
        let Some(Ok((mut file, metadata))) = opened else {
            return FileCheckResult::Gone;
        };
        if FileMark::of(&metadata) == mark {
            return FileContent::of(file).map_or(FileCheckResult::Gone, FileCheckResult::Same);
        }
        let mut bytes = Vec::new();
        let read = (&mut file).take(self.max_file_bytes + 1).read_to_end(&mut bytes);
        if read.is_err() || bytes.len() as u64 > self.max_file_bytes {
            return FileCheckResult::Gone;
        }
        let bytes = hippo_fs::to_utf8(bytes);
        let document = Box::new(chunk::chunk(&bytes));
        FileCheckResult::Changed { bytes, document }
    }
}

/// Reads the text of a chunk. If the bytes differ, the file may be in Windows-1252: converts the file and reads again.
fn find_span(content: &mut FileContent, span: ChunkSpan) -> Option<VerifiedHit> {
    let found = read_span(content, span);
    found.or_else(|| content.convert().then(|| read_span(content, span)).flatten())
}

fn read_span(content: &FileContent, span: ChunkSpan) -> Option<VerifiedHit> {
    let at = |byte: u64| usize::try_from(byte).ok();
    let bytes = content.read(at(span.start_byte)?..at(span.end_byte)?).ok()?;
    if ContentHash::of(&bytes) != span.hash {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(VerifiedHit {
        text,
        start_line: span.start_line,
        end_line: span.end_line,
    })
}

/// Finds the chunk with the same text in the current file. If several chunks match, returns the one nearest to the
/// indexed line.
fn find(bytes: &[u8], document: &Document, span: ChunkSpan) -> Option<VerifiedHit> {
    let same = document.chunks.iter().filter(|chunk| chunk.hash == span.hash);
    let chunk = same.min_by_key(|chunk| chunk.start_line.abs_diff(span.start_line))?;
    let text = chunk::chunk_text(bytes, chunk).into_owned();
    Some(VerifiedHit {
        text,
        start_line: chunk.start_line,
        end_line: chunk.end_line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indexed(root: &Path, path: &str) -> (FileMark, Vec<ChunkSpan>) {
        let bytes = std::fs::read(root.join(path)).unwrap();
        let mark = FileMark::of(&std::fs::metadata(root.join(path)).unwrap());
        let document = chunk::chunk(&bytes);
        let spans = document.chunks.iter().map(|chunk| ChunkSpan {
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            start_byte: chunk.start_byte,
            end_byte: chunk.end_byte,
            hash: chunk.hash,
        });
        (mark, spans.collect())
    }

    #[test]
    fn a_moved_line_is_followed_and_a_deleted_line_is_dropped() {
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
    fn changed_bytes_with_unchanged_size_and_time_are_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        std::fs::write(&path, "- the pump is blue\n").unwrap();
        let (mark, spans) = indexed(folder.path(), "a.md");
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "- the pump is gray\n").unwrap();
        std::fs::File::options()
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
    fn missing_files_folders_and_oversized_files_yield_no_hit() {
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
