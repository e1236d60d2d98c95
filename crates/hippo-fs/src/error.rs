//! Errors for workspace paths that this crate refuses to open.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

/// The reason why this crate refuses to open a path. A missing permission is an error of the operating system instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathRefusal {
    /// A component of the path is a link. The value is the path up to that component.
    Link(PathBuf),
    /// A link in the path, or the path itself, leads out of the workspace.
    Outside(PathBuf),
    /// A link to a hidden file or folder in the workspace.
    Hidden(PathBuf),
    /// Something other than a regular file: a folder, a pipe, a socket, a device.
    NotRegular(PathBuf),
    /// A link within the workspace to a file with another extension.
    OtherKind {
        /// The link.
        path: PathBuf,
        /// The target of the link.
        target: PathBuf,
    },
    /// The file, or a folder above it, belongs to another user.
    OtherOwner(PathBuf),
}

impl Display for PathRefusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(path) => write!(f, "{} is a link", path.display()),
            Self::Outside(path) => write!(f, "{} leads to a place outside the workspace", path.display()),
            Self::Hidden(path) => write!(f, "{} leads to a hidden file", path.display()),
            Self::NotRegular(path) => write!(f, "{} is not a regular file", path.display()),
            Self::OtherKind { path, target } => write!(
                f,
                "{} is a link to {}, which is a different kind of file",
                path.display(),
                target.display()
            ),
            Self::OtherOwner(path) => {
                let path = if path.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    path
                };
                write!(f, "{} belongs to another user", path.display())
            }
        }
    }
}

impl std::error::Error for PathRefusal {}

impl From<PathRefusal> for io::Error {
    fn from(refusal: PathRefusal) -> Self {
        Self::new(io::ErrorKind::InvalidInput, refusal)
    }
}

/// Returns the refusal that caused an I/O error, if there is one.
pub fn refusal(error: &io::Error) -> Option<&PathRefusal> {
    error.get_ref()?.downcast_ref()
}

/// Returns whether an error means that the file does not exist. With any other error, the file may exist.
pub fn is_absence(error: &io::Error) -> bool {
    // `NotADirectory` means that a component in the middle of the path is a file.
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

pub(crate) fn link_error(path: &Path) -> io::Error {
    PathRefusal::Link(path.to_path_buf()).into()
}

pub(crate) fn not_regular_error(path: &Path) -> io::Error {
    PathRefusal::NotRegular(path.to_path_buf()).into()
}

pub(crate) fn outside_error(path: &Path) -> io::Error {
    PathRefusal::Outside(path.to_path_buf()).into()
}
