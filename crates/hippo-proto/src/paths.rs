//! Where do configuration, models, state and the socket live?
//!
//! Decided from environment variables alone, which come in as a function: nothing here reads the environment or
//! the disk, so daemon, client and tests agree.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use interprocess::local_socket::{GenericFilePath, Name, ToFsName};

/// The file in the state folder that the one daemon holds locked; it has the number of its process.
pub const LOCK_FILE: &str = "hippod.lock";

/// How the system calls the socket at this path: a file on Unix, a named pipe on Windows.
///
/// # Errors
/// A path that cannot be one, such as that of a file on Windows.
pub fn socket_name(path: &Path) -> std::io::Result<Name<'_>> {
    path.to_fs_name::<GenericFilePath>()
}

/// The places of one user's hippod. All are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// `config.toml`.
    pub config_file: PathBuf,
    /// One folder for each installed model.
    pub models: PathBuf,
    /// The ONNX Runtime library.
    pub runtime: PathBuf,
    /// The same as a package brought it, for all users; looked at after `runtime`, and never written.
    pub shipped_runtime: Option<PathBuf>,
    /// Databases, vector dumps, lock; created 0700.
    pub state: PathBuf,
    /// The socket; its folder is created 0700.
    pub socket: PathBuf,
    /// Downloads that can be thrown away.
    pub cache: PathBuf,
    /// The log of a daemon that the client started.
    pub log: PathBuf,
}

/// Whose customs decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// XDG base directories.
    Xdg,
    /// `~/Library`.
    MacOs,
    /// `%APPDATA%`, `%LOCALAPPDATA%`, and a named pipe.
    Windows,
}

impl Platform {
    /// The platform that this was built for.
    pub const HERE: Platform = if cfg!(target_os = "macos") {
        Platform::MacOs
    } else if cfg!(windows) {
        Platform::Windows
    } else {
        Platform::Xdg
    };
}

/// Why no places could be found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathsError {
    /// A variable of ours holds a relative path, which would mean another place in every folder.
    #[error("could not use {variable}: not an absolute path: {value}")]
    Relative {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// Neither `HIPPOD_HOME` nor a home folder is known.
    #[error("could not find the home folder: set HOME or HIPPOD_HOME")]
    NoHome,
}

impl Paths {
    /// The places on this platform. `lookup` answers the value of an environment variable; empty counts as unset.
    ///
    /// `HIPPOD_HOME` puts everything below one folder; `HIPPOD_SOCKET` and `HIPPOD_CACHE` override one place each.
    ///
    /// # Errors
    /// A relative path in a variable of ours, or no home folder.
    pub fn resolve(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, PathsError> {
        Self::resolve_on(Platform::HERE, lookup)
    }

    /// The same by the customs of `platform`.
    ///
    /// # Errors
    /// As [`Paths::resolve`].
    pub fn resolve_on(
        platform: Platform,
        lookup: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, PathsError> {
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let ours = |variable: &'static str| match set(variable) {
            Some(path) if !is_absolute(&path, platform) => Err(PathsError::Relative {
                variable,
                value: path.display().to_string(),
            }),
            path => Ok(path),
        };
        let mut paths = match ours("HIPPOD_HOME")? {
            Some(home) if platform == Platform::Windows => {
                let named = home.display().to_string().replace(['\\', '/', ':'], "-");
                Self {
                    socket: pipe(&named),
                    ..Self::below(&home)
                }
            }
            Some(home) => Self::below(&home),
            None => match platform {
                Platform::Xdg => Self::xdg(&set)?,
                Platform::MacOs => {
                    let home = set("HOME").ok_or(PathsError::NoHome)?;
                    let below = Self::below(&home.join("Library/Application Support/hippod"));
                    Self {
                        cache: home.join("Library/Caches/hippod"),
                        ..below
                    }
                }
                Platform::Windows => {
                    let data = set("LOCALAPPDATA").ok_or(PathsError::NoHome)?.join("hippod");
                    let roaming = set("APPDATA").map(|dir| dir.join("hippod"));
                    let below = Self::below(&data);
                    let config_file =
                        roaming.map_or(below.config_file.clone(), |dir| dir.join("config.toml"));
                    let user = set("USERNAME").unwrap_or_else(|| PathBuf::from("user"));
                    Self {
                        config_file,
                        socket: pipe(&user.display().to_string()),
                        ..Self::below(&data)
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

    /// Everything below one folder.
    pub fn below(home: &Path) -> Self {
        let state = home.join("state");
        Self {
            config_file: home.join("config.toml"),
            models: home.join("models"),
            runtime: home.join("runtime"),
            shipped_runtime: None,
            socket: home.join("hippod.sock"),
            cache: home.join("cache"),
            log: state.join("hippod.log"),
            state,
        }
    }

    /// Where a package puts the runtime library for a program at this path: `../lib/hippod/runtime` from the program's folder, which
    /// for `/usr/bin/hippod` is `/usr/lib/hippod/runtime`. Who can write there can replace the program itself.
    pub fn shipped_with(program: &Path) -> Option<PathBuf> {
        let prefix = program.parent()?.parent()?;
        Some(prefix.join("lib/hippod/runtime"))
    }

    fn xdg(set: &impl Fn(&str) -> Option<PathBuf>) -> Result<Self, PathsError> {
        // The XDG specification: relative paths in these variables are to be ignored.
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
            shipped_runtime: None,
            socket: socket_folder.join("hippod.sock"),
            cache: base("XDG_CACHE_HOME", ".cache")?,
            log: state.join("hippod.log"),
            state,
        })
    }
}

/// Absolute by the customs of `platform`, so that tests of one platform run on all.
fn is_absolute(path: &Path, platform: Platform) -> bool {
    match platform {
        Platform::Windows => {
            let text = path.to_string_lossy();
            text.starts_with(r"\\") || text.as_bytes().get(1..3).is_some_and(|drive| drive[0] == b':')
        }
        _ => path.is_absolute(),
    }
}

fn pipe(of: &str) -> PathBuf {
    format!(r"\\.\pipe\hippod-{of}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(platform: Platform, variables: &[(&str, &str)]) -> Result<Paths, PathsError> {
        Paths::resolve_on(platform, |name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn hippod_home_holds_everything() {
        for platform in [Platform::Xdg, Platform::MacOs] {
            let paths = resolve(
                platform,
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
                shipped_runtime,
                state,
                socket,
                cache,
                log,
            } = paths.unwrap();
            assert_eq!(config_file, Path::new("/h/config.toml"));
            assert_eq!(models, Path::new("/h/models"));
            assert_eq!(runtime, Path::new("/h/runtime"));
            assert_eq!(shipped_runtime, None);
            assert_eq!(state, Path::new("/h/state"));
            assert_eq!(socket, Path::new("/h/hippod.sock"));
            assert_eq!(cache, Path::new("/h/cache"));
            assert_eq!(log, Path::new("/h/state/hippod.log"));
        }
    }

    #[test]
    fn on_windows_the_socket_is_a_pipe_that_is_called_after_the_home() {
        let socket = |variables: &[(&str, &str)]| resolve(Platform::Windows, variables).unwrap().socket;
        let home = [("HIPPOD_HOME", r"C:\Users\u\h"), ("USERNAME", "u")];
        assert_eq!(socket(&home), Path::new(r"\\.\pipe\hippod-C--Users-u-h"));
        let folders = [("LOCALAPPDATA", r"C:\Local"), ("USERNAME", "u")];
        assert_eq!(socket(&folders), Path::new(r"\\.\pipe\hippod-u"));
    }

    #[test]
    fn linux_follows_xdg() {
        let defaults = resolve(
            Platform::Xdg,
            &[("HOME", "/home/u"), ("XDG_CONFIG_HOME", "relative")],
        )
        .unwrap();
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
        let paths = resolve(Platform::Xdg, &set).unwrap();
        assert_eq!(paths.config_file, Path::new("/c/hippod/config.toml"));
        assert_eq!(paths.runtime, Path::new("/d/hippod/runtime"));
        assert_eq!(paths.log, Path::new("/s/hippod/hippod.log"));
        assert_eq!(paths.socket, Path::new("/run/user/1/hippod/hippod.sock"));
        assert_eq!(paths.cache, Path::new("/k/hippod"));
    }

    #[test]
    fn macos_follows_library() {
        let paths = resolve(Platform::MacOs, &[("HOME", "/Users/u")]).unwrap();
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
    fn one_place_can_be_moved_alone() {
        let set = [
            ("HIPPOD_HOME", "/h"),
            ("HIPPOD_SOCKET", "/tmp/s"),
            ("HIPPOD_CACHE", "/k"),
        ];
        let paths = resolve(Platform::Xdg, &set).unwrap();
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
    fn a_package_s_runtime_is_beside_its_program() {
        let shipped = |program: &str| Paths::shipped_with(Path::new(program));
        assert_eq!(shipped("/usr/bin/hippod"), Some("/usr/lib/hippod/runtime".into()));
        assert_eq!(
            shipped("/opt/x/bin/hippod"),
            Some("/opt/x/lib/hippod/runtime".into())
        );
        assert_eq!(shipped("/hippod"), None);
    }

    #[test]
    fn what_cannot_be_resolved_is_said() {
        assert_eq!(resolve(Platform::Xdg, &[]), Err(PathsError::NoHome));
        assert_eq!(resolve(Platform::MacOs, &[("HOME", "")]), Err(PathsError::NoHome));
        let relative = resolve(Platform::Xdg, &[("HIPPOD_HOME", "here")]).unwrap_err();
        assert_eq!(
            relative.to_string(),
            "could not use HIPPOD_HOME: not an absolute path: here"
        );
    }
}
