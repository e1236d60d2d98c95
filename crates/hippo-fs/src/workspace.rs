//! The opened root of a workspace.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{PathRefusal, is_absence, outside_error, refusal};
use crate::folder::{DirEntry, FileKind, Folder, Stat};
use crate::path::{components, split_parent};

/// The opened root of a workspace. All paths are relative to the root, and no component may be a link.
#[derive(Debug)]
pub struct WorkspaceDir {
    root: PathBuf,
    top: Folder,
}

impl WorkspaceDir {
    /// Opens a root. The path to the root itself may contain links.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn open(root: &Path) -> io::Result<Self> {
        let (root, top) = (root.to_path_buf(), Folder::open_root(root)?);
        Ok(Self { root, top })
    }

    /// Returns the path that was opened.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Opens a folder; the empty path means the root.
    ///
    /// # Errors
    /// Fails if the path leaves the workspace, if a component is a link, or if the operating system reports an error.
    pub fn folder(&self, path: impl AsRef<Path>) -> io::Result<Folder> {
        self.walk(&components(path.as_ref())?, |folder, name| folder.folder(name))
    }

    /// Opens a folder. Creates the folder and its parents if they are missing.
    ///
    /// # Errors
    /// See [`folder`](Self::folder).
    pub fn make_folder(&self, path: impl AsRef<Path>) -> io::Result<Folder> {
        self.walk(&components(path.as_ref())?, |folder, name| {
            folder.make_folder(name)
        })
    }

    /// Opens the parent folder of a path. Returns that folder and the last name of the path.
    ///
    /// # Errors
    /// See [`folder`](Self::folder).
    pub fn parent<'p>(
        &self,
        path: &'p (impl AsRef<Path> + ?Sized),
    ) -> io::Result<(Folder, &'p std::ffi::OsStr)> {
        let (above, name) = split_parent(path.as_ref())?;
        Ok((self.walk(&above, |folder, name| folder.folder(name))?, name))
    }

    /// Opens the parent folder of a path, or creates it. Returns that folder and the last name of the path.
    ///
    /// # Errors
    /// See [`folder`](Self::folder).
    pub fn make_parent<'p>(
        &self,
        path: &'p (impl AsRef<Path> + ?Sized),
    ) -> io::Result<(Folder, &'p std::ffi::OsStr)> {
        let (above, name) = split_parent(path.as_ref())?;
        Ok((self.walk(&above, |folder, name| folder.make_folder(name))?, name))
    }

    fn walk(
        &self,
        names: &[&std::ffi::OsStr],
        step: impl Fn(&Folder, &std::ffi::OsStr) -> io::Result<Folder>,
    ) -> io::Result<Folder> {
        let Some((first, rest)) = names.split_first() else {
            return self.top.try_clone();
        };
        let first = step(&self.top, first)?;
        rest.iter().try_fold(first, |folder, name| step(&folder, name))
    }

    /// Opens a regular file for reading. Opening a pipe does not block.
    ///
    /// # Errors
    /// See [`Folder::open`].
    pub fn open_file(&self, path: impl AsRef<Path>) -> io::Result<(File, Metadata)> {
        let (folder, name) = self.parent(path.as_ref())?;
        folder.open(name)
    }

    /// Opens a regular file for reading. The file, the root and each folder in the path must have the same owner as
    /// `like`.
    ///
    /// # Errors
    /// Fails as [`open_file`](Self::open_file) does, or with [`PathRefusal::OtherOwner`].
    pub fn open_file_owned_like(
        &self,
        like: &Metadata,
        path: impl AsRef<Path>,
    ) -> io::Result<(File, Metadata)> {
        let check = |metadata: &Metadata, path: PathBuf| {
            if same_owner(metadata, like) {
                Ok(())
            } else {
                Err(io::Error::from(PathRefusal::OtherOwner(path)))
            }
        };
        let (above, name) = split_parent(path.as_ref())?;
        check(&self.top.metadata()?, PathBuf::new())?;
        let folder = self.walk(&above, |folder, name| {
            let inner = folder.folder(name)?;
            check(&inner.metadata()?, folder.path_of(name))?;
            Ok(inner)
        })?;
        let (file, metadata) = folder.open(name)?;
        check(&metadata, folder.path_of(name))?;
        Ok((file, metadata))
    }

    /// Reads the whole content of a regular file.
    ///
    /// # Errors
    /// See [`Folder::read`].
    pub fn read(&self, path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
        let (folder, name) = self.parent(path.as_ref())?;
        folder.read(name, limit)
    }

    /// Writes a file in place, or creates it.
    ///
    /// # Errors
    /// See [`Folder::overwrite`].
    pub fn overwrite(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = self.parent(path.as_ref())?;
        folder.overwrite(name, bytes)
    }

    /// Writes a file atomically: writes a draft in the same folder and renames it. Creates missing folders. On return,
    /// the content and the name are durable.
    ///
    /// # Errors
    /// See [`Folder::write_whole`].
    pub fn write_whole(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = self.make_parent(path.as_ref())?;
        let draft = format!(".{}.new", name.to_string_lossy());
        folder.write_whole(name, draft, bytes)?;
        folder.sync()
    }

    /// Removes a file or a link. The target of a link is not removed. Returns whether the path existed.
    ///
    /// # Errors
    /// Fails if a folder in the path is a link, or if the operating system reports an error.
    pub fn remove_file(&self, path: impl AsRef<Path>) -> io::Result<bool> {
        let removed = self
            .parent(path.as_ref())
            .and_then(|(folder, name)| folder.remove_file(name));
        match removed {
            Ok(()) => Ok(true),
            Err(error) if is_absence(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the metadata of a path without following links, or `None` if it does not exist.
    ///
    /// # Errors
    /// Fails if a folder in the path is a link, or if the operating system reports an error.
    pub fn stat(&self, path: impl AsRef<Path>) -> io::Result<Option<Stat>> {
        let stat = self
            .parent(path.as_ref())
            .and_then(|(folder, name)| folder.stat(name));
        match stat {
            Err(error) if is_absence(&error) => Ok(None),
            stat => stat,
        }
    }

    /// Returns whether a path is a folder and contains no links.
    pub fn is_folder(&self, path: impl AsRef<Path>) -> bool {
        self.folder(path).is_ok()
    }

    /// Returns whether a path is a regular file and contains no links.
    pub fn is_file(&self, path: impl AsRef<Path>) -> bool {
        let stat = self.stat(path).ok().flatten();
        stat.is_some_and(|stat| stat.kind == FileKind::File)
    }

    /// Lists the entries of a folder in arbitrary order.
    ///
    /// # Errors
    /// See [`folder`](Self::folder).
    pub fn entries(&self, path: impl AsRef<Path>) -> io::Result<Vec<DirEntry>> {
        self.folder(path)?.entries()
    }

    /// Returns the real path of an existing file or folder, for reading. Follows links that stay within the workspace.
    /// The caller then opens the returned path without following links. If a link replaces a component in the
    /// meantime, opening fails.
    ///
    /// # Errors
    /// Returns [`PathRefusal::Outside`] for a link that leaves the workspace, [`PathRefusal::Hidden`] for a link to a
    /// dotfile or into a dot folder, or an error of the operating system.
    pub fn resolve(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let path = path.as_ref();
        components(path)?;
        let real = self.root.join(path).canonicalize()?;
        let below = |root: &Path| real.strip_prefix(root).map(Path::to_path_buf).ok();
        let target = below(&self.root)
            .or_else(|| below(&self.root.canonicalize().ok()?))
            .ok_or_else(|| outside_error(path))?;
        match target != path && is_hidden(&target) {
            true => Err(PathRefusal::Hidden(path.to_path_buf()).into()),
            false => Ok(target),
        }
    }

    /// Reads the whole content of a regular file, and converts UTF-16 to UTF-8; follows links that stay within the
    /// workspace.
    ///
    /// # Errors
    /// See [`resolve`](Self::resolve) and [`read`](Self::read).
    pub fn read_source(&self, path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
        self.read_following_links(path.as_ref(), |path| self.read(path, limit))
            .map(crate::to_utf8)
    }

    /// Opens a regular file for reading; follows links that stay within the workspace.
    ///
    /// # Errors
    /// See [`resolve`](Self::resolve) and [`open_file`](Self::open_file).
    pub fn open_source(&self, path: impl AsRef<Path>) -> io::Result<(File, Metadata)> {
        self.read_following_links(path.as_ref(), |path| self.open_file(path))
    }

    /// Reads a path. If the path contains a link, reads the real path instead.
    fn read_following_links<T>(&self, path: &Path, read: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
        match read(path) {
            Err(error) if matches!(refusal(&error), Some(PathRefusal::Link(_))) => read(&self.resolve(path)?),
            done => done,
        }
    }

    /// Returns whether a path exists; follows links that stay within the workspace.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.resolve(path).is_ok()
    }

    /// Returns the file to write for a path that users may have made a link, such as `CLAUDE.md` → `AGENTS.md`. A path
    /// that is not a link is returned unchanged. The target of a link must be an existing file in the workspace with
    /// the same extension. Writing to a note therefore never overwrites a program or a settings file.
    ///
    /// # Errors
    /// Returns a [`PathRefusal`], or an error of the operating system.
    pub fn file_to_write(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let path = path.as_ref();
        let (folder, name) = match self.parent(path) {
            Ok(parent) => parent,
            Err(error) if is_absence(&error) => return Ok(path.to_path_buf()),
            Err(error) => return Err(error),
        };
        if folder.stat(name)?.is_none_or(|stat| stat.kind != FileKind::Link) {
            return Ok(path.to_path_buf());
        }
        let target = self.resolve(path)?;
        if target.extension() != path.extension() {
            let path = path.to_path_buf();
            return Err(PathRefusal::OtherKind { path, target }.into());
        }
        Ok(target)
    }
}

/// Returns whether a component of a path starts with a dot, as in `.git` and `.env`.
#[must_use]
pub fn is_hidden(path: &Path) -> bool {
    path.components()
        .any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
}

fn same_owner(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.uid() == other.uid()
}

#[cfg(test)]
mod tests;
