//! Atomic replacement of a database with a rebuilt copy.
//!
//! If a database is deleted or moved while the daemon runs, the connection still works on the open file. However, the
//! file has no name at the old path, and all data would be lost when the process ends. The writers therefore check
//! the path regularly, and write the open database to the path again if necessary.
//!
//! A rebuilt database gets a temporary name when it is complete, and is then moved into place. After a crash,
//! [`finish`] completes the move.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::StoreError;
use crate::copies::copy;
use crate::system::{self, FileId, PRIVATE_FOLDER};

/// The identities of the files that a connection has open, if known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFiles {
    database: Option<FileId>,
    log: Option<FileId>,
    /// Identity of the copy that was last moved into place. It is set until the connection opens that copy.
    placed: Option<FileId>,
}

impl OpenFiles {
    /// Returns the identities for a connection that was just opened at `path` and has read from it.
    pub(crate) fn open_at(path: &Path) -> Self {
        let found = |path: &Path| FileId::at(path).ok().flatten();
        Self {
            database: found(path),
            log: found(&with_suffix(path, "-wal")),
            placed: None,
        }
    }

    /// Returns true if `path` still names the open database, or if this cannot be determined.
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

/// Origin of a complete database that is not in its final place yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// Rebuilt from the readable rows of a damaged database. The damaged database is renamed with the suffix
    /// `.damaged`.
    Rebuilt,
    /// Copied from an open database whose file was removed. If another file is now at its path, that file is renamed
    /// with the suffix `.replaced`.
    Rescued,
}

impl Replacement {
    const ALL: [Self; 2] = [Self::Rebuilt, Self::Rescued];

    /// Returns the temporary path of the complete database, before it is moved into place.
    fn temporary_path(self, path: &Path) -> PathBuf {
        with_suffix(
            path,
            match self {
                Self::Rebuilt => ".rebuilt",
                Self::Rescued => ".rescued",
            },
        )
    }

    /// Returns a path for a draft of the new database. Removes files that an earlier process left there.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if an old file cannot be removed.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn draft(self, path: &Path) -> Result<PathBuf, StoreError> {
        let draft = with_suffix(&self.temporary_path(path), ".draft");
        for suffix in ["", "-wal", "-shm"] {
            let left = with_suffix(&draft, suffix);
            unless_missing(fs::remove_file(&left))
                .map_err(StoreError::io("remove an unfinished database", &left))?;
        }
        Ok(draft)
    }

    /// Moves a complete draft into place. If there was a previous file, returns its new path.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`]. After an error, either `path` is unchanged, or [`finish`] completes the move.
    pub fn settle(self, draft: &Path, path: &Path) -> Result<Option<PathBuf>, StoreError> {
        self.name_draft(draft, path)?;
        self.move_into_place(path, None)
    }

    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    fn name_draft(self, draft: &Path, path: &Path) -> Result<(), StoreError> {
        fs::rename(draft, self.temporary_path(path))
            .map_err(StoreError::io("rename the new database", draft))?;
        // The previous database may be removed only after the temporary name is durable.
        system::sync_folder(folder_of(path)).map_err(StoreError::io("sync the folder of the database", path))
    }

    /// Moves the complete database into place. If the removed database is still open, `open` identifies
    /// its files.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    fn move_into_place(self, path: &Path, open: Option<OpenFiles>) -> Result<Option<PathBuf>, StoreError> {
        let made = self.temporary_path(path);
        // There are two cases. The WAL may belong to the removed database, whose copy already contains its data.
        // Otherwise, it belongs to the file that is now at `path`.
        let log = with_suffix(path, "-wal");
        let is_absent = match path.symlink_metadata() {
            Ok(_) => false,
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(error) => return Err(StoreError::io("inspect the database", path)(error)),
        };
        let has_log = open.is_some_and(|open| open.has_log(&log));
        let is_spent = self == Self::Rescued && (is_absent || has_log);
        // True if this process moved a copy to `path` but could not open it afterwards. That copy is not worth
        // keeping.
        let is_ours = open.is_some_and(|open| open.has_placed(path));
        let aside = free_name(path, self);
        // Rename the WAL before the database. Otherwise, SQLite would replay it into the new database.
        for suffix in ["-wal", "-shm", ""] {
            let (from, to) = (with_suffix(path, suffix), with_suffix(&aside, suffix));
            let done = match is_ours || (is_spent && !suffix.is_empty()) {
                true => fs::remove_file(&from),
                false => fs::rename(&from, &to),
            };
            unless_missing(done).map_err(StoreError::io("rename the previous database", &from))?;
        }
        fs::rename(&made, path).map_err(StoreError::io("move the database into place", path))?;
        system::sync_folder(folder_of(path))
            .map_err(StoreError::io("sync the folder of the database", path))?;
        Ok(aside.exists().then_some(aside))
    }
}

/// Moves a database and its WAL to an unused name. Returns that name.
///
/// # Errors
/// Returns [`StoreError::Io`].
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(crate) fn set_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let aside = free_name(path, Replacement::Rebuilt);
    for suffix in ["-wal", "-shm", ""] {
        let (from, to) = (with_suffix(path, suffix), with_suffix(&aside, suffix));
        unless_missing(fs::rename(&from, &to))
            .map_err(StoreError::io("rename the previous database", &from))?;
    }
    Ok(aside)
}

/// Copies the WAL of a database to an unused name. The next change overwrites the original WAL.
///
/// # Errors
/// Returns [`StoreError::Io`].
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(crate) fn keep_log(path: &Path) -> Result<(), StoreError> {
    let log = with_suffix(path, "-wal");
    if log.metadata().is_ok_and(|log| log.len() > 0) {
        let aside = with_suffix(&free_name(path, Replacement::Rebuilt), "-wal");
        fs::copy(&log, &aside).map_err(StoreError::io("copy the damaged write-ahead log", &aside))?;
    }
    Ok(())
}

/// Returns an unused name for the previous database.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn free_name(path: &Path, made: Replacement) -> PathBuf {
    let suffix = match made {
        Replacement::Rebuilt => ".damaged",
        Replacement::Rescued => ".replaced",
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

/// Completes a move that an earlier process began and did not complete.
///
/// # Errors
/// Returns [`StoreError::Io`].
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn finish(path: &Path) -> Result<(), StoreError> {
    for made in Replacement::ALL {
        if made.temporary_path(path).exists() {
            made.move_into_place(path, None)?;
        }
    }
    Ok(())
}

/// Writes the open database of `connection` to `path`, completely or not at all. If another file is at `path`, that
/// file is renamed. After that, the connection still uses the previous file.
///
/// # Errors
/// See [`StoreError`]. After an error, either `path` is unchanged, or [`finish`] completes the move.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(crate) fn write_again(
    connection: &Connection,
    open: &mut OpenFiles,
    path: &Path,
    goes_on: &dyn Fn() -> bool,
) -> Result<(), StoreError> {
    let folder = folder_of(path);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(PRIVATE_FOLDER)
        .create(folder)
        .map_err(StoreError::io("create the state folder", folder))?;
    let made = Replacement::Rescued;
    let draft = made.draft(path)?;
    if let Err(error) = copy(connection, &draft, goes_on) {
        // Remove the draft, because an incomplete copy is useless.
        let _ = fs::remove_file(&draft);
        return Err(error);
    }
    made.name_draft(&draft, path)?;
    made.move_into_place(path, Some(*open))?;
    open.placed = FileId::at(path).unwrap_or_default();
    Ok(())
}

/// Returns the folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
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
