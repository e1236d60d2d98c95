//! Units that a package installed for all users.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::unit::program_in;
use super::{Manager, SERVICE_UNIT, SOCKET_UNIT, UnitValues};

/// Units from a package, in a folder that has lower priority than the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The unit of the daemon.
    pub unit: PathBuf,
    /// The program of the unit.
    pub program: PathBuf,
    /// The text of the socket unit.
    pub socket: String,
}

impl Package {
    /// Returns the units that systemd uses if the user has no units of their own.
    pub fn find(manager: Manager, lookup: &impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        match manager {
            Manager::Systemd => folders(lookup).iter().find_map(|folder| Self::in_folder(folder)),
            Manager::Launchd => None,
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the user's own folder")]
    fn in_folder(folder: &Path) -> Option<Self> {
        let unit = folder.join(SERVICE_UNIT);
        // A masked unit is empty.
        let program = program_in(&fs::read_to_string(&unit).ok()?)?;
        let socket = fs::read_to_string(folder.join(SOCKET_UNIT)).ok()?;
        Some(Self {
            unit,
            program,
            socket,
        })
    }

    /// Returns whether these units match the service to install: the same program, default paths, and the sandbox.
    #[expect(clippy::disallowed_methods, reason = "the user's own folder")]
    pub fn suits(&self, facts: &UnitValues) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        let same = real(&self.program).is_some_and(|program| Some(program) == real(&facts.program));
        same && facts.socket.is_none() && facts.environment.is_empty() && facts.sandbox
    }
}

/// Returns the folders that systemd searches after the user's own folder, in the order of the search (`man
/// systemd.unit`).
fn folders(lookup: &impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
    let listed = |name: &str, usual: &str| {
        let value = set(name).unwrap_or_else(|| usual.into());
        std::env::split_paths(&value).collect::<Vec<_>>()
    };
    let data = set("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| Some(Path::new(&set("HOME")?).join(".local/share")));
    let usual = |folder: &str| PathBuf::from(folder);
    let bases = listed("XDG_CONFIG_DIRS", "/etc/xdg").into_iter();
    bases
        .chain([usual("/etc"), usual("/run")])
        .chain(data)
        .chain(listed("XDG_DATA_DIRS", "/usr/local/share:/usr/share"))
        .chain([usual("/usr/local/lib"), usual("/usr/lib")])
        .filter(|base| base.is_absolute())
        .map(|base| base.join("systemd/user"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_folder_with_both_units_is_used() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dirs = std::env::join_paths([one.path(), two.path()]).unwrap();
        let find = |manager| {
            let lookup = |name: &str| (name == "XDG_DATA_DIRS").then(|| dirs.clone());
            Package::find(manager, &lookup).map(|package| package.unit)
        };
        let put = |folder: &Path, name: &str, text: &str| {
            let folder = folder.join("systemd/user");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), text).unwrap();
            folder.join(name)
        };
        let before = find(Manager::Systemd);
        put(one.path(), SERVICE_UNIT, "");
        put(one.path(), SOCKET_UNIT, "");
        put(two.path(), SOCKET_UNIT, "[Socket]\n");
        assert_eq!(find(Manager::Systemd), before, "it starts nothing");
        let unit = put(two.path(), SERVICE_UNIT, "ExecStart=/usr/bin/hippod run\n");
        assert_eq!(find(Manager::Systemd), Some(unit));
        assert_eq!(find(Manager::Launchd), None);
    }
}
