//! Fresh Debian systems in folders, for package tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::house;
use crate::prerequisites;
use crate::setup::copy_folder;
use crate::terminal::say;

/// Name of the Debian release.
const SUITE: &str = "bookworm";
const MIRROR: &str = "http://deb.debian.org/debian";
/// User account in the Debian system that runs the commands of the test.
const USER: &str = "ada";
/// Paths that the comparison skips: file systems of the kernel, the home of the user, and files that other programs
/// change.
const NOT_LOOKED_AT: [&str; 7] = [
    "proc",
    "sys",
    "dev",
    "home/ada",
    "var/lib/dpkg",
    "var/log",
    "var/cache",
];

/// A folder with a Debian system.
pub struct Root {
    folder: PathBuf,
}

impl Root {
    /// Checks that this machine can create a Debian system in a folder.
    ///
    /// # Errors
    /// Fails if a requirement is missing. The error names the requirement.
    pub fn possible() -> Result<()> {
        let id = Command::new("id")
            .arg("-u")
            .output()
            .context("could not run id")?;
        if id.stdout.trim_ascii() != b"0" {
            bail!(
                "a Debian system in a folder needs root: run this in your own container or virtual machine"
            );
        }
        for (program, package) in [("debootstrap", "debootstrap"), ("unshare", "util-linux")] {
            if !prerequisites::has_program(program) {
                bail!("{program} is missing: `apt install {package}`");
            }
        }
        Ok(())
    }

    /// Returns a fresh copy of a base system. The base system is created on first use.
    ///
    /// # Errors
    /// Fails if the base system cannot be created.
    pub fn fresh(work: &Path) -> Result<Self> {
        let base = work.join(SUITE);
        if !base.exists() {
            say(format_args!("creating a Debian ({SUITE}) in {}", base.display()));
            let (begun, debs) = (work.join("begun"), work.join("debs"));
            remove(&begun)?;
            fs::create_dir_all(&debs).with_context(|| format!("could not create {}", debs.display()))?;
            let mut command = Command::new("debootstrap");
            command
                .arg("--variant=minbase")
                .arg(format!("--cache-dir={}", debs.display()));
            house::run(command.arg(SUITE).arg(&begun).arg(MIRROR))?;
            house::run(
                Command::new("chroot")
                    .arg(&begun)
                    .args(["useradd", "--create-home", USER]),
            )?;
            fs::rename(&begun, &base).with_context(|| format!("could not rename {}", begun.display()))?;
        }
        let folder = work.join("root");
        remove(&folder)?;
        house::run(Command::new("cp").arg("-a").arg(&base).arg(&folder))?;
        Ok(Self { folder })
    }

    /// Runs a command in the system as root.
    ///
    /// # Errors
    /// Fails if the command failed.
    pub fn run_as_root(&self, words: &[&str]) -> Result<()> {
        house::run(self.inside("root").args(words))
    }

    /// Runs a script in the system as the user, in the user's home folder. Afterwards, ends all processes that the
    /// script started.
    ///
    /// # Errors
    /// Fails if a line of the script failed.
    pub fn run_as_user(&self, script: &str) -> Result<()> {
        let path = format!("home/{USER}/session.sh");
        self.write(&path, format!("set -eux\ncd \"$HOME\"\n{script}\n").as_bytes())?;
        house::run(self.inside(USER).args(["sh", "session.sh"]))
    }

    /// Returns a command that runs in the system without network access. Its processes and mounts are isolated, and
    /// end together with the command.
    fn inside(&self, user: &str) -> Command {
        let home = if user == "root" {
            "/root".to_owned()
        } else {
            format!("/home/{user}")
        };
        let mut command = Command::new("unshare");
        command.args([
            "--mount",
            "--net",
            "--pid",
            "--fork",
            "--kill-child",
            "sh",
            "-euc",
        ]);
        command.arg("mount -t proc proc \"$1/proc\"; cd \"$1\"; user=$2; home=$3; root=$1; shift 3; exec chroot --userspec=$user:$user \"$root\" env -i HOME=$home PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -c 'cd \"$HOME\" && exec \"$@\"' sh \"$@\"");
        command.args(["sh"]).arg(&self.folder).args([user, &home]);
        command
    }

    /// Writes a file in the system.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let place = self.folder.join(path);
        fs::write(&place, bytes).with_context(|| format!("could not write {}", place.display()))
    }

    /// Removes a file in the system.
    ///
    /// # Errors
    /// Fails if the file cannot be removed.
    pub fn remove(&self, path: &str) -> Result<()> {
        let place = self.folder.join(path);
        fs::remove_file(&place).with_context(|| format!("could not remove {}", place.display()))
    }

    /// Copies a file or a folder into the user's home folder, and makes the user its owner.
    ///
    /// # Errors
    /// Fails if the copy failed.
    pub fn copy_for_user(&self, from: &Path, name: &str) -> Result<()> {
        let to = self.folder.join("home").join(USER).join(name);
        if from.is_dir() {
            copy_folder(from, &to)?;
        } else {
            fs::copy(from, &to).with_context(|| format!("could not copy {}", from.display()))?;
        }
        let owner = format!("{USER}:{USER}");
        self.run_as_root(&["chown", "--recursive", &owner, &format!("/home/{USER}/{name}")])
    }

    /// Reads a file from the user's home folder.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn read_of_user(&self, name: &str) -> Result<Vec<u8>> {
        let place = self.folder.join("home").join(USER).join(name);
        fs::read(&place).with_context(|| format!("could not read {}", place.display()))
    }

    /// Returns a description of all files that a package could leave behind. Each path has a line with mode, owner and
    /// link target. Each file has another line with its checksum.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn files(&self) -> Result<BTreeSet<String>> {
        let pruned = NOT_LOOKED_AT.map(|path| format!("-path ./{path}")).join(" -o ");
        let script = format!(
            "cd \"$1\" && find . \\( {pruned} \\) -prune -o -printf '%p %M %U:%G %l\\n' && \
             find . \\( {pruned} \\) -prune -o -type f -exec sha256sum {{}} +"
        );
        let said = house::output(Command::new("sh").args(["-c", &script, "sh"]).arg(&self.folder))?;
        Ok(String::from_utf8_lossy(&said)
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// Removes this system. The base system is kept.
    ///
    /// # Errors
    /// Fails if the folder cannot be removed.
    pub fn discard(self) -> Result<()> {
        remove(&self.folder)
    }
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("could not remove {}", folder.display()))?;
    }
    Ok(())
}
