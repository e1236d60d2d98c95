//! Paths of configuration, models, state and socket.
//!
//! All paths are computed from environment variables, which the caller provides as a function. This module reads
//! neither the environment nor the disk, so daemon, client and tests get the same result.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use interprocess::local_socket::{GenericFilePath, Name, ToFsName};

/// The lock file of the daemon in the state folder; it contains the process id.
pub const LOCK_FILE: &str = "hippod.lock";

/// Converts a path to the name of a socket.
///
/// # Errors
/// Returns an error if the path cannot name a socket.
pub fn socket_name(path: &Path) -> std::io::Result<Name<'_>> {
    path.to_fs_name::<GenericFilePath>()
}

/// The paths of one user's hippod. All are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// `config.toml`.
    pub config_file: PathBuf,
    /// Folder with one folder per installed model.
    pub models: PathBuf,
    /// Folder of the ONNX Runtime library.
    pub runtime: PathBuf,
    /// Folder of a package with the folders `models` and `runtime`, shared by all users. It is used for what `models` and
    /// `runtime` lack, and never written.
    pub shipped: Option<PathBuf>,
    /// Folder of the databases and the lock, created with mode 0700.
    pub state: PathBuf,
    /// The socket; its folder is created with mode 0700.
    pub socket: PathBuf,
    /// Folder of downloads, which the user can delete at any time.
    pub cache: PathBuf,
    /// The log of a daemon that a client started.
    pub log: PathBuf,
}

/// The reason why the paths could not be determined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathsError {
    /// An environment variable of hippod contains a relative path, which would depend on the current folder.
    #[error("could not use {variable}: not an absolute path: {value}")]
    Relative {
        /// The variable.
        variable: &'static str,
        /// Value of the path.
        value: String,
    },
    /// Neither `HIPPOD_HOME` nor a home folder is set.
    #[error("could not find the home folder: set HOME or HIPPOD_HOME")]
    NoHome,
}

impl Paths {
    /// Returns the paths on this platform. `lookup` returns the value of an environment variable; an empty value counts as unset.
    ///
    /// `HIPPOD_HOME` moves everything below one folder; `HIPPOD_SOCKET` and `HIPPOD_CACHE` override a single path.
    ///
    /// # Errors
    /// Returns an error if a variable of hippod contains a relative path, or if no home folder is set.
    pub fn resolve(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, PathsError> {
        Self::resolve_on(cfg!(target_os = "macos"), lookup)
    }

    /// Returns the paths as [`Paths::resolve`] does, by the conventions of macOS or of XDG.
    ///
    /// # Errors
    /// See [`Paths::resolve`].
    pub fn resolve_on(mac_os: bool, lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, PathsError> {
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let ours = |variable: &'static str| match set(variable) {
            Some(path) if !path.is_absolute() => Err(PathsError::Relative {
                variable,
                value: path.display().to_string(),
            }),
            path => Ok(path),
        };
        let mut paths = match ours("HIPPOD_HOME")? {
            Some(home) => Self::below(&home),
            None => match mac_os {
                false => Self::xdg(&set)?,
                true => {
                    let home = set("HOME").ok_or(PathsError::NoHome)?;
                    let below = Self::below(&home.join("Library/Application Support/hippod"));
                    Self {
                        cache: home.join("Library/Caches/hippod"),
                        ..below
                    }
                }
            },
        };
        if let Some(socket) = ours("HIPPOD_SOCKET")? {
            paths.socket = socket;
        }
        if let Some(cache) = ours("HIPPOD_CACHE")? {
            paths.cache = cache;
        }
        Ok(paths)
    }

    /// Returns the paths of a hippod that keeps all its files below the folder `home`.
    pub fn below(home: &Path) -> Self {
        let state = home.join("state");
        Self {
            config_file: home.join("config.toml"),
            models: home.join("models"),
            runtime: home.join("runtime"),
            shipped: None,
            socket: home.join("hippod.sock"),
            cache: home.join("cache"),
            log: state.join("hippod.log"),
            state,
        }
    }

    /// Returns the folder in which a package installs the model and the runtime library of the program at this path:
    /// `/usr/lib/hippod` for `/usr/bin/hippod`. A user who can write to that folder can also replace the program.
    pub fn shipped_with(program: &Path) -> Option<PathBuf> {
        let prefix = program.parent()?.parent()?;
        Some(prefix.join("lib/hippod"))
    }

    fn xdg(set: &impl Fn(&str) -> Option<PathBuf>) -> Result<Self, PathsError> {
        // The XDG specification requires relative paths in these variables to be ignored.
        let absolute = |name: &str| set(name).filter(|path| path.is_absolute());
        let base = |name: &str, default: &str| match absolute(name) {
            Some(base) => Ok(base.join("hippod")),
            None => Ok(absolute("HOME")
                .ok_or(PathsError::NoHome)?
                .join(default)
                .join("hippod")),
        };
        let data = base("XDG_DATA_HOME", ".local/share")?;
        let state = base("XDG_STATE_HOME", ".local/state")?;
        let socket_folder =
            absolute("XDG_RUNTIME_DIR").map_or_else(|| state.clone(), |dir| dir.join("hippod"));
        Ok(Self {
            config_file: base("XDG_CONFIG_HOME", ".config")?.join("config.toml"),
            models: data.join("models"),
            runtime: data.join("runtime"),
            shipped: None,
            socket: socket_folder.join("hippod.sock"),
            cache: base("XDG_CACHE_HOME", ".cache")?,
            log: state.join("hippod.log"),
            state,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(mac_os: bool, variables: &[(&str, &str)]) -> Result<Paths, PathsError> {
        Paths::resolve_on(mac_os, |name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn hippod_home_contains_all_folders() {
        for mac_os in [false, true] {
            let paths = resolve(
                mac_os,
                &[
                    ("HIPPOD_HOME", "/h"),
                    ("HOME", "/home/u"),
                    ("XDG_STATE_HOME", "/s"),
                ],
            );
            let Paths {
                config_file,
                models,
                runtime,
                shipped,
                state,
                socket,
                cache,
                log,
            } = paths.unwrap();
            assert_eq!(config_file, Path::new("/h/config.toml"));
            assert_eq!(models, Path::new("/h/models"));
            assert_eq!(runtime, Path::new("/h/runtime"));
            assert_eq!(shipped, None);
            assert_eq!(state, Path::new("/h/state"));
            assert_eq!(socket, Path::new("/h/hippod.sock"));
            assert_eq!(cache, Path::new("/h/cache"));
            assert_eq!(log, Path::new("/h/state/hippod.log"));
        }
    }

    #[test]
    fn linux_follows_xdg() {
        let defaults = resolve(false, &[("HOME", "/home/u"), ("XDG_CONFIG_HOME", "relative")]).unwrap();
        assert_eq!(
            defaults.config_file,
            Path::new("/home/u/.config/hippod/config.toml")
        );
        assert_eq!(defaults.models, Path::new("/home/u/.local/share/hippod/models"));
        assert_eq!(defaults.runtime, Path::new("/home/u/.local/share/hippod/runtime"));
        assert_eq!(defaults.state, Path::new("/home/u/.local/state/hippod"));
        assert_eq!(
            defaults.socket,
            Path::new("/home/u/.local/state/hippod/hippod.sock")
        );
        assert_eq!(defaults.cache, Path::new("/home/u/.cache/hippod"));

        let set = [
            ("XDG_CONFIG_HOME", "/c"),
            ("XDG_DATA_HOME", "/d"),
            ("XDG_STATE_HOME", "/s"),
            ("XDG_CACHE_HOME", "/k"),
            ("XDG_RUNTIME_DIR", "/run/user/1"),
        ];
        let paths = resolve(false, &set).unwrap();
        assert_eq!(paths.config_file, Path::new("/c/hippod/config.toml"));
        assert_eq!(paths.runtime, Path::new("/d/hippod/runtime"));
        assert_eq!(paths.log, Path::new("/s/hippod/hippod.log"));
        assert_eq!(paths.socket, Path::new("/run/user/1/hippod/hippod.sock"));
        assert_eq!(paths.cache, Path::new("/k/hippod"));
    }

    #[test]
    fn macos_follows_library() {
        let paths = resolve(true, &[("HOME", "/Users/u")]).unwrap();
        assert_eq!(
            paths.state,
            Path::new("/Users/u/Library/Application Support/hippod/state")
        );
        assert_eq!(
            paths.socket,
            Path::new("/Users/u/Library/Application Support/hippod/hippod.sock")
        );
        assert_eq!(paths.cache, Path::new("/Users/u/Library/Caches/hippod"));
    }

    #[test]
    fn a_single_path_can_be_overridden() {
        let set = [
            ("HIPPOD_HOME", "/h"),
            ("HIPPOD_SOCKET", "/tmp/s"),
            ("HIPPOD_CACHE", "/k"),
        ];
        let paths = resolve(false, &set).unwrap();
        assert_eq!(
            paths,
            Paths {
                socket: "/tmp/s".into(),
                cache: "/k".into(),
                ..Paths::below(Path::new("/h"))
            }
        );
    }

    #[test]
    fn the_model_of_a_package_is_next_to_its_program() {
        let shipped = |program: &str| Paths::shipped_with(Path::new(program));
        assert_eq!(shipped("/usr/bin/hippod"), Some("/usr/lib/hippod".into()));
        assert_eq!(shipped("/opt/x/bin/hippod"), Some("/opt/x/lib/hippod".into()));
        assert_eq!(shipped("/hippod"), None);
    }

    #[test]
    fn unresolvable_paths_are_errors() {
        assert_eq!(resolve(false, &[]), Err(PathsError::NoHome));
        assert_eq!(resolve(true, &[("HOME", "")]), Err(PathsError::NoHome));
        let relative = resolve(false, &[("HIPPOD_HOME", "here")]).unwrap_err();
        assert_eq!(
            relative.to_string(),
            "could not use HIPPOD_HOME: not an absolute path: here"
        );
    }
}
