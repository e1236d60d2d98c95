//! What does a person install: an archive and a Debian package, the same bytes wherever they are built?

mod archive;
mod build;
mod check;
mod contents;
mod deb;
mod elf;
mod licences;
mod rehearsal;
mod root;
mod runtime;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use flate2::Compression;

use crate::house::House;
use crate::terminal::say;
use archive::Make;
use build::{Profile, Programs};
use contents::{Kind, Material};
use runtime::Runtime;

pub use rehearsal::rehearse;

/// Of everything in this workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the user asks for.
struct Options {
    profile: Profile,
    out: Option<PathBuf>,
    check: bool,
    install: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments after `dist`.
    ///
    /// # Errors
    /// An argument is unknown or lacks its value.
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            profile: Profile::Release,
            out: None,
            check: false,
            install: None,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--out" => options.out = Some(value()?.into()),
                "--check" => options.check = true,
                "--try" => options.install = Some(value()?.into()),
                "--profile" => {
                    options.profile = match value()?.as_str() {
                        "release" => Profile::Release,
                        "dev" => Profile::Dev,
                        other => bail!("unknown profile: {other}; there are release and dev"),
                    }
                }
                unknown => bail!("unknown argument of dist: {unknown}"),
            }
        }
        Ok(options)
    }
}

/// The processor family of this machine: in the name of the archive, and as Debian says it.
struct Platform {
    triple: String,
    archive: String,
    debian: &'static str,
}

impl Platform {
    /// # Errors
    /// Packages are made on Linux, for Linux.
    fn here() -> Result<Self> {
        let arch = std::env::consts::ARCH;
        let debian = match (std::env::consts::OS, arch) {
            ("linux", "x86_64") => "amd64",
            ("linux", "aarch64") => "arm64",
            (os, arch) => bail!("could not make packages on {os} {arch}: they are made on Linux"),
        };
        Ok(Self {
            triple: format!("{arch}-unknown-linux-gnu"),
            archive: format!("{arch}-linux"),
            debian,
        })
    }
}

/// A package: its file name and its bytes.
pub struct Package {
    /// Name of the file.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Both packages.
pub struct Packages {
    /// The archive.
    pub archive: Package,
    /// The Debian package.
    pub debian: Package,
}

/// Makes the packages.
///
/// # Errors
/// Something does not build, or is not as it must be.
pub fn run(house: &House, arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    match (options.check, options.profile) {
        (true, Profile::Dev) => return rehearse(house),
        (true, Profile::Release) => return check::run(house),
        (false, _) => {}
    }
    if let Some(package) = options.install {
        return check::try_out(house, &package);
    }
    let folder = options.out.unwrap_or_else(|| folder(house));
    make(house, options.profile, time(house)?)?.write(&folder)
}

/// Where packages go.
pub fn folder(house: &House) -> PathBuf {
    house.target.join("packages")
}

/// Builds the programs and packs them.
///
/// # Errors
/// Something does not build, or names a folder of this machine.
fn make(house: &House, profile: Profile, time: u64) -> Result<Packages> {
    let programs = Programs::build(house, profile)?;
    if profile == Profile::Release {
        for (name, program) in [("hippod", &programs.hippod), ("hippoctl", &programs.hippoctl)] {
            if let Some(told) = build::told_of_the_machine(house, program)? {
                bail!("{name} names a folder of this machine: {told}");
            }
        }
    }
    let level = match profile {
        Profile::Release => Compression::best(),
        Profile::Dev => Compression::fast(),
    };
    pack(house, &programs, level, time)
}

/// Packs programs that are built.
///
/// # Errors
/// A part is missing.
fn pack(house: &House, programs: &Programs, level: Compression, time: u64) -> Result<Packages> {
    let platform = Platform::here()?;
    let runtime = Runtime::obtain(house)?;
    let material = Material {
        house,
        programs,
        runtime: &runtime,
        third_party: &licences::third_party(house, &platform.triple)?,
    };
    let make = Make { time, level };
    let folder = format!("hippod-{VERSION}-{}", platform.archive);
    let depends = elf::depends(
        [&programs.hippod[..], &programs.hippoctl]
            .into_iter()
            .chain(runtime.files.iter().map(|(_, bytes)| &bytes[..])),
    )?;
    let control = deb::Control {
        version: VERSION,
        architecture: platform.debian,
        depends: &depends,
    };
    Ok(Packages {
        archive: Package {
            bytes: make.tar_gz(&format!("{folder}/"), &material.files(Kind::Archive, make)?)?,
            name: format!("{folder}.tar.gz"),
        },
        debian: Package {
            bytes: deb::package(make, &control, &material.files(Kind::Debian, make)?)?,
            name: format!("hippod_{VERSION}_{}.deb", platform.debian),
        },
    })
}

impl Packages {
    /// Writes both into a folder, and says so.
    ///
    /// # Errors
    /// They cannot be written.
    fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
        for package in [&self.archive, &self.debian] {
            let place = folder.join(&package.name);
            fs::write(&place, &package.bytes)
                .with_context(|| format!("could not write {}", place.display()))?;
            let size = package.bytes.len() as f64 / 1e6;
            say(format_args!("{}: {size:.1} MB", place.display()));
        }
        Ok(())
    }
}

/// The time that all files bear: `SOURCE_DATE_EPOCH`, else that of the commit.
fn time(house: &House) -> Result<u64> {
    let hint = "set SOURCE_DATE_EPOCH to the seconds since 1970 that files shall bear";
    if let Some(set) = std::env::var_os("SOURCE_DATE_EPOCH") {
        let set = set.to_string_lossy();
        return set
            .parse()
            .with_context(|| format!("could not read SOURCE_DATE_EPOCH ({set}): {hint}"));
    }
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]).current_dir(&house.root);
    let output = git
        .output()
        .with_context(|| format!("could not run git: {hint}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim()
        .parse()
        .with_context(|| format!("could not find the time of the commit: {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_strictly() {
        let parse =
            |line: &str| Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let options = parse("--profile dev --out x").unwrap();
        assert!(options.profile == Profile::Dev && options.out == Some("x".into()) && !options.check);
        assert!(parse("--check").unwrap().check);
        for wrong in ["--profile", "--profile fast", "--chek"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
