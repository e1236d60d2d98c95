//! Relative paths that cannot leave their base folder.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path};

use crate::error::outside_error;

/// Returns the components of a relative path.
///
/// # Errors
/// Fails if the path is absolute or contains `..`.
pub fn components(path: &Path) -> io::Result<Vec<&OsStr>> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(outside_error(path)),
        }
    }
    Ok(names)
}

/// Splits a relative path into the components of its folder and the last name.
///
/// # Errors
/// Fails as [`components`] does, or if the path is empty.
pub fn split_parent(path: &Path) -> io::Result<(Vec<&OsStr>, &OsStr)> {
    let mut names = components(path)?;
    let name = names.pop().ok_or_else(|| outside_error(path))?;
    Ok((names, name))
}

/// Checks that a name is a single path component, and returns it.
///
/// # Errors
/// Fails if the name is empty, contains a separator, or is `.` or `..`.
pub fn check_name(name: &OsStr) -> io::Result<&OsStr> {
    match components(Path::new(name))?.as_slice() {
        [only] if *only == name => Ok(name),
        _ => Err(outside_error(Path::new(name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_could_leave_its_folder_has_no_names() {
        for path in ["/etc/passwd", "..", "a/../b", "a/..", "../a", "/"] {
            assert!(components(Path::new(path)).is_err(), "{path}");
        }
        for (path, expected) in [
            ("a", vec!["a"]),
            ("a/b.md", vec!["a", "b.md"]),
            ("./a/./b", vec!["a", "b"]),
            ("", vec![]),
        ] {
            assert_eq!(components(Path::new(path)).unwrap(), expected, "{path}");
        }
        for path in ["", "."] {
            assert!(split_parent(Path::new(path)).is_err(), "{path}");
        }
        for name in ["", ".", "..", "a/b", "/a", "a/"] {
            assert!(check_name(OsStr::new(name)).is_err(), "{name}");
        }
        assert_eq!(check_name(OsStr::new("a.md")).unwrap(), "a.md");
    }
}
