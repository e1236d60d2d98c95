//! New messages of a transcript in the daily logs: `session.flush`.
//!
//! Each message is appended once. A flush is recorded in the database before its text is appended to a log, and the
//! record is deleted afterwards. After a crash, the next flush finds the record and searches the log for the flush's
//! mark. If the mark is missing, it appends the text.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use hippo_proto::{ErrorKind, FlushedLog, RpcError, SessionFlushRequest, SessionFlushResponse, Viewer};
use hippo_session::flush::{FlushOptions, FlushResult, Flusher, LoggedMessageKey};
use hippo_store::contexts::{ContextReader, Flush, FlushPart, FlushPosition};
use hippo_store::system;
use hippo_types::time::{Date, Timestamp};

use super::Contexts;
use super::{ContextDatabase, now, refusal};
use crate::clock::date_in;
use crate::errors::root_missing;
use crate::files;
use crate::memory::private_folder;
use crate::remember;
use crate::tasks::{Cancellation, OneAtATimeGuard};
use crate::view::WorkspaceView;

/// Number of bytes read at a time.
const PIECE: usize = 256 << 10;
/// Size in bytes of two parts of a transcript, its start and the part before the read position. Their hash identifies
/// the transcript.
const KNOWN_BY: u64 = 64 << 10;
/// Maximum characters of a session id in a mark.
const SESSION: usize = 40;

/// Appends the new messages of a transcript to the daily logs. The caller must hold the guard of the flush queue.
///
/// # Errors
/// Returns `not-found` if the file does not exist, `bad-request` if it is not a regular file or cannot be read, and the
/// errors of `remember`; after such an error, the next flush appends what was read. Returns `internal` if the client
/// disconnected while the transcript was read; in this case, nothing was recorded.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn flush(
    contexts: &Contexts,
    view: &WorkspaceView,
    request: &SessionFlushRequest,
    cancellation: Cancellation<'_>,
    _: &OneAtATimeGuard,
) -> Result<SessionFlushResponse, RpcError> {
    if view.status().is_some_and(|status| !status.root_present) || !hippo_fs::is_present(&view.root) {
        return Err(root_missing(&view.root));
    }
    let path = Path::new(&request.path);
    if !path.is_absolute() {
        let what = format!("the path of the transcript is not absolute: {}", request.path);
        return Err(RpcError::bad_request(what).hint("give the absolute path of a transcript"));
    }
    let path = &path.canonicalize().map_err(|error| unread(path, &error))?;
    let name = path.display().to_string();
    let place = contexts.database_of(&view.root);
    let mut answer = SessionFlushResponse {
        done: true,
        ..SessionFlushResponse::default()
    };
    let begun = place.write(|store| store.read().flushes())?;
    for flush in begun {
        let own = flush.transcript == name;
        match complete(&place, view, &flush, &mut answer.appended) {
            Ok(()) => {}
            Err(error) if own => return Err(error),
            // The failed flush of another transcript does not block this one.
            Err(error) => answer.notes.push(format!(
                "messages of another transcript are still waiting to be appended: {}",
                error.message
            )),
        }
    }
    let session = FlushSession {
        contexts,
        view,
        request,
        path,
        name,
    };
    let found = place.read(|reader| Ok(session.read(reader, cancellation)))?;
    let Some(read) = found.transpose()? else {
        return Err(RpcError::internal("the database of the sessions was removed")
            .hint("try again: hippod creates the database"));
    };
    session.tell(&read, &mut answer);
    if read.is_nothing_new() {
        return Ok(answer);
    }
    let row = place.write(|store| {
        store.begin_flush(&session.name, &read.upto, &read.parts, &read.keys, now(contexts))
    })?;
    if let Some(row) = row {
        let flush = Flush {
            row,
            transcript: session.name.clone(),
            parts: read.parts,
        };
        complete(&place, view, &flush, &mut answer.appended)?;
    }
    Ok(answer)
}

/// Appends those parts of a flush that are not in the logs yet, then deletes the record of the flush.
fn complete(
    place: &ContextDatabase,
    view: &WorkspaceView,
    flush: &Flush,
    appended: &mut Vec<FlushedLog>,
) -> Result<(), RpcError> {
    for part in &flush.parts {
        // The day follows the folder of the logs of an agent.
        let (folder, day) = match part.day.rfind('/') {
            Some(at) => part.day.split_at(at + 1),
            None => (remember::SHARED_LOGS, part.day.as_str()),
        };
        let day: Date = day.parse().map_err(|_| {
            RpcError::internal(format!("the stored date of a log is not valid: {}", part.day))
        })?;
        if let Some(lines) = remember::append_marked((&view.root, folder), day, &part.text, &part.mark)? {
            let heading = |line: &str| {
                Some(
                    line.strip_prefix("## ")?
                        .trim_end_matches(" [project]")
                        .to_owned(),
                )
            };
            appended.push(FlushedLog {
                path: lines.path,
                start_line: lines.start_line,
                end_line: lines.end_line,
                topics: part.text.lines().filter_map(heading).collect(),
            });
        }
    }
    place.write(|store| store.end_flush(flush.row))
}

/// Session whose transcript is read.
struct FlushSession<'a> {
    contexts: &'a Contexts,
    view: &'a WorkspaceView,
    request: &'a SessionFlushRequest,
    path: &'a Path,
    /// Name under which the transcript is recorded.
    name: String,
}

/// Messages that one read of a transcript found.
struct TranscriptReading {
    from: u64,
    /// True if the file differs from the transcript that was read before.
    another: bool,
    before: Option<FlushPosition>,
    found: FlushResult,
    keys: Vec<LoggedMessageKey>,
    upto: FlushPosition,
    parts: Vec<FlushPart>,
}

impl TranscriptReading {
    fn is_nothing_new(&self) -> bool {
        self.parts.is_empty() && self.keys.is_empty() && self.before.as_ref() == Some(&self.upto)
    }
}

impl FlushSession<'_> {
    fn read(
        &self,
        reader: &ContextReader,
        cancellation: Cancellation<'_>,
    ) -> Result<TranscriptReading, RpcError> {
        let failed = |error| unread(self.path, &error);
        let (mut file, metadata) = files::open(self.path).map_err(failed)?;
        let before = reader.taken_up(&self.name).map_err(refusal)?;
        let length = metadata.len();
        let known = match &before {
            Some(taken) if taken.position > 0 && taken.position <= length => {
                known_by(&mut file, taken.position).map_err(failed)? == taken.before
            }
            _ => false,
        };
        let from = before
            .as_ref()
            .filter(|_| known)
            .map_or(0, |taken| taken.position);
        let another = before.as_ref().is_some_and(|taken| taken.position > 0) && !known;
        let topic = before
            .as_ref()
            .filter(|_| known)
            .and_then(|taken| taken.topic.clone());
        let zone = self.view.zone(&*self.contexts.clock);
        let day = |at: Timestamp| date_in(at, &zone);
        let keys = RefCell::new(Vec::new());
        let trouble = RefCell::new(None);
        let mut seen = HashSet::new();
        let mut flusher = Flusher::new(
            FlushOptions {
                format: self.request.format.unwrap_or_default(),
                root: self.view.root.to_str().map(str::to_owned),
                topic,
                within: self.message_scopes(),
                resumed: from > 0,
            },
            |key| {
                // After a read error, the messages found so far are discarded.
                if trouble.borrow().is_some() {
                    return false;
                }
                if !seen.insert(*key) {
                    return true;
                }
                match reader.is_told(key) {
                    Ok(true) => true,
                    Ok(false) => {
                        keys.borrow_mut().push(*key);
                        false
                    }
                    Err(error) => {
                        *trouble.borrow_mut() = Some(refusal(error));
                        false
                    }
                }
            },
            day,
        );
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        // The file may grow while it is read; later messages are left for the next flush.
        let mut rest = (&mut file).take(length - from);
        let mut buffer = vec![0; PIECE];
        loop {
            cancellation.check()?;
            let size = match rest.read(&mut buffer) {
                Ok(0) => break,
                Ok(size) => size,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed(error)),
            };
            flusher.feed(&buffer[..size]);
            if trouble.borrow().is_some() {
                break;
            }
        }
        let found = flusher.finish();
        if let Some(error) = trouble.into_inner() {
            return Err(error);
        }
        let position = found.upto.map_or(0, |upto| from + upto);
        let upto = FlushPosition {
            position,
            before: known_by(&mut file, position).map_err(failed)?,
            topic: found.topic.clone(),
        };
        let written = Timestamp(system::modified_ns(&metadata) / 1_000_000);
        let folder = match &self.request.agent {
            Some(agent) => private_folder(self.view, &Viewer(Some(agent.clone())))?,
            None => String::new(),
        };
        let parts = self.parts(&found, &folder, day(written), position);
        Ok(TranscriptReading {
            from,
            another,
            before,
            found,
            keys: keys.into_inner(),
            upto,
            parts,
        })
    }

    /// Returns the names by which a flush recognises messages without a time: the session, if the request names one,
    /// and the transcript, because `hippoctl ingest` knows no session.
    fn message_scopes(&self) -> Vec<String> {
        let session = self.request.session.iter().map(|id| format!("session {id}"));
        session.chain([format!("transcript {}", self.name)]).collect()
    }

    /// Returns the text for each log in a folder. Messages without a time get the modification date of the transcript.
    fn parts(&self, found: &FlushResult, folder: &str, written: Date, position: u64) -> Vec<FlushPart> {
        let mut days: BTreeMap<Date, String> = BTreeMap::new();
        for section in &found.sections {
            let text = days.entry(section.day.unwrap_or(written)).or_default();
            text.push_str(&section.text);
            text.push('\n');
        }
        let session = self.request.session.as_deref().unwrap_or_default();
        let session: String = session
            .chars()
            .filter(|mark| mark.is_ascii_alphanumeric() || "._-".contains(*mark))
            .take(SESSION)
            .collect();
        // Two hyphens could end the HTML comment.
        let session = session.replace("--", "-");
        let session = if session.is_empty() {
            String::new()
        } else {
            format!(" session {session}")
        };
        let begun = now(self.contexts);
        days.into_iter()
            .map(|(day, text)| {
                let mut hasher = blake3::Hasher::new();
                hasher.update(self.name.as_bytes());
                hasher.update(&position.to_le_bytes());
                hasher.update(&begun.to_le_bytes());
                hasher.update(text.as_bytes());
                let id = &hasher.finalize().to_hex()[..16];
                let mark = format!("<!-- flush {id}{session} -->");
                FlushPart {
                    day: format!("{folder}{day}"),
                    text: format!("{text}{mark}\n"),
                    mark,
                }
            })
            .collect()
    }

    fn tell(&self, read: &TranscriptReading, answer: &mut SessionFlushResponse) {
        let found = &read.found;
        answer.messages = found.messages;
        answer.known = found.known;
        answer.format = found.format.map(|format| format.name().to_owned());
        answer.malformed = found.malformed;
        answer.problems.clone_from(&found.problems);
        answer.from = read.from;
        if read.another {
            answer.notes.push(
                "the file is not the transcript that was read before, so hippod read the file from the start \
                 and skipped known messages"
                    .to_owned(),
            );
        }
    }
}

/// Returns a hash of the start of a file and of the bytes before a position.
fn known_by(file: &mut File, position: u64) -> io::Result<Vec<u8>> {
    let part = position.min(KNOWN_BY);
    let mut hasher = blake3::Hasher::new();
    for from in [0, position - part] {
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        (&mut *file).take(part).read_to_end(&mut bytes)?;
        hasher.update(&bytes);
    }
    Ok(hasher.finalize().as_bytes()[..16].to_vec())
}

/// Returns the error for a transcript that could not be read.
pub(super) fn unread(path: &Path, error: &io::Error) -> RpcError {
    let what = format!("could not read the transcript {}: {error}", path.display());
    if files::is_absence(error) {
        RpcError::not_found(what).hint("give the absolute path of a transcript")
    } else {
        RpcError::new(ErrorKind::BadRequest, what).hint("give a file that hippod may read")
    }
}
