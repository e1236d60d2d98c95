//! How does a database that was made beside it come into its place, and is the one that is open still the one that is there?
//!
//! Whoever removes or moves a database under a running daemon takes only its name: the connection goes on with what it has
//! open, and all of it would be gone with the process. So the writers look, and what is open is written out again. A database
//! that is made beside its place has a name of its own as soon as it is complete; [`finish`] does what a kill left to be done.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::StoreError;
use crate::copies::copy;
use crate::system::{self, FileId, PRIVATE_FOLDER, WithMode as _};

/// The files that a connection has open, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    database: Option<FileId>,
    log: Option<FileId>,
    /// The last copy that took its place, until that is what is open.
    placed: Option<FileId>,
}

impl Open {
    /// Those of a connection that was opened at `path` just now, and has read.
    pub(crate) fn at(path: &Path) -> Self {
        let found = |path: &Path| FileId::at(path).ok().flatten();
        Self {
            database: found(path),
            log: found(&with_suffix(path, "-wal")),
            placed: None,
        }
    }

    /// Whether `path` still names the database. Where that cannot be told, it does.
    #[must_use]
    pub fn is_at(self, path: &Path) -> bool {
        let there = FileId::at(path);
        self.database.is_none() || there.map_or(true, |there| there == self.database)
    }

    fn has_placed(self, path: &Path) -> bool {
        self.placed.is_some() && FileId::at(path).is_ok_and(|there| there == self.placed)
    }

    fn has_log(self, log: &Path) -> bool {
        self.log.is_some() && FileId::at(log).is_ok_and(|there| there == self.log)
    }
}

/// A database that is complete and not in its place yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// Of what could be read of a damaged one, which is kept as `.damaged`.
    Again,
    /// Of what was open when its file was taken away; what stands there meanwhile is kept as `.replaced`.
    OfWhatIsOpen,
}

impl Made {
    const ALL: [Self; 2] = [Self::Again, Self::OfWhatIsOpen];

    /// Where it stands until it is in its place.
    fn beside(self, path: &Path) -> PathBuf {
        with_suffix(
            path,
            match self {
                Self::Again => ".rebuilt",
                Self::OfWhatIsOpen => ".rescued",
            },
        )
    }

    /// A name to make it under, with nothing there.
    ///
    /// # Errors
    /// [`StoreError::Io`] where what a process left there cannot be removed.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn draft(self, path: &Path) -> Result<PathBuf, StoreError> {
        let draft = with_suffix(&self.beside(path), ".draft");
        for suffix in ["", "-wal", "-shm"] {
            let left = with_suffix(&draft, suffix);
            unless_missing(fs::remove_file(&left)).map_err(failed("remove an unfinished database", &left))?;
        }
        Ok(draft)
    }

    /// Puts a draft that is complete into its place. Answers where what stood there before is kept, if anything did.
    ///
    /// # Errors
    /// [`StoreError::Io`]; nothing has changed at `path` then, or [`finish`] finishes it.
    pub fn settle(self, draft: &Path, path: &Path) -> Result<Option<PathBuf>, StoreError> {
        self.name(draft, path)?;
        self.place(path, None)
    }

    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    fn name(self, draft: &Path, path: &Path) -> Result<(), StoreError> {
        fs::rename(draft, self.beside(path)).map_err(failed("name the database that was made", draft))?;
        // What it is made of goes only when it has its name.
        system::sync_folder(folder_of(path)).map_err(failed("make the name of the database durable", path))
    }

    /// Puts what is complete into its place. `open` is what was taken away, where it is open still.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    fn place(self, path: &Path, open: Option<Open>) -> Result<Option<PathBuf>, StoreError> {
        let made = self.beside(path);
        // A log is that of what was taken away, whose copy has all of it, or that of the file which stands there.
        let log = with_suffix(path, "-wal");
        let is_absent = match path.symlink_metadata() {
            Ok(_) => false,
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(error) => return Err(failed("look at the database", path)(error)),
        };
        let has_log = open.is_some_and(|open| open.has_log(&log));
        let is_spent = self == Self::OfWhatIsOpen && (is_absent || has_log);
        // A copy that was placed and could not be opened is not somebody else's.
        let is_ours = open.is_some_and(|open| open.has_placed(path));
        let aside = free(path, self);
        // The log first: SQLite would put what it says into the file that comes to stand beside it.
        for suffix in ["-wal", "-shm", ""] {
            let (from, to) = (with_suffix(path, suffix), with_suffix(&aside, suffix));
            let done = match is_ours || (is_spent && !suffix.is_empty()) {
                true => fs::remove_file(&from),
                false => fs::rename(&from, &to),
            };
            unless_missing(done).map_err(failed("put the former database aside", &from))?;
        }
        fs::rename(&made, path).map_err(failed("put the database in its place", path))?;
        system::sync_folder(folder_of(path)).map_err(failed("make the new name durable", path))?;
        Ok(aside.exists().then_some(aside))
    }
}

/// Moves a database, with what stands beside it, to a name that nothing is kept under yet. Returns that name.
///
/// # Errors
/// [`StoreError::Io`].
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(crate) fn set_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let aside = free(path, Made::Again);
    for suffix in ["-wal", "-shm", ""] {
        let (from, to) = (with_suffix(path, suffix), with_suffix(&aside, suffix));
        unless_missing(fs::rename(&from, &to)).map_err(failed("put the former database aside", &from))?;
    }
    Ok(aside)
}

/// Copies the log of a database to a name that nothing is kept under yet: the next change overwrites it.
///
/// # Errors
/// [`StoreError::Io`].
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(crate) fn keep_log(path: &Path) -> Result<(), StoreError> {
    let log = with_suffix(path, "-wal");
    if log.metadata().is_ok_and(|log| log.len() > 0) {
        let aside = with_suffix(&free(path, Made::Again), "-wal");
        fs::copy(&log, &aside).map_err(failed("keep a copy of the damaged log", &aside))?;
    }
    Ok(())
}

/// A name that nothing is kept under yet.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn free(path: &Path, made: Made) -> PathBuf {
    let suffix = match made {
        Made::Again => ".damaged",
        Made::OfWhatIsOpen => ".replaced",
    };
    let numbered = (2..).map(|number| with_suffix(path, &format!("{suffix}.{number}")));
    let is_free = |name: &PathBuf| {
        let taken = |suffix| with_suffix(name, suffix).symlink_metadata().is_ok();
        !taken("") && !taken("-wal")
    };
    std::iter::once(with_suffix(path, suffix))
        .chain(numbered)
        .find(is_free)
        .unwrap_or_else(|| with_suffix(path, suffix))
}

/// Puts what is complete beside `path` into its place: a process was ended before it did.
///
/// # Errors
/// [`StoreError::Io`].
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn finish(path: &Path) -> Result<(), StoreError> {
    for made in Made::ALL {
        if made.beside(path).exists() {
            made.place(path, None)?;
        }
    }
    Ok(())
}

/// Writes what `connection` has open to `path`, whole or not at all. What stands there meanwhile is kept beside it. The
/// connection is still the one to what was open before.
///
/// # Errors
/// See [`StoreError`]; nothing has changed at `path` then, or [`finish`] finishes it.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(crate) fn write_again(
    connection: &Connection,
    open: &mut Open,
    path: &Path,
    goes_on: &dyn Fn() -> bool,
) -> Result<(), StoreError> {
    let folder = folder_of(path);
    fs::DirBuilder::new()
        .recursive(true)
        .with_mode(PRIVATE_FOLDER)
        .create(folder)
        .map_err(failed("create the state folder", folder))?;
    let made = Made::OfWhatIsOpen;
    let draft = made.draft(path)?;
    if let Err(error) = copy(connection, &draft, goes_on) {
        // Nobody needs half of it.
        let _ = fs::remove_file(&draft);
        return Err(error);
    }
    made.name(&draft, path)?;
    made.place(path, Some(*open))?;
    open.placed = FileId::at(path).unwrap_or_default();
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError + use<> {
    let path = path.to_path_buf();
    move |source| StoreError::Io { what, path, source }
}

fn unless_missing(done: std::io::Result<()>) -> std::io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
