//! Reproducible packages: an archive and a Debian package.

mod build;
mod check;
mod contents;
mod emulate;
mod rehearsal;
mod root;
mod runtime;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::house::{self, ProjectFolders};
use crate::prerequisites::tool;
use crate::terminal::say;
use contents::{PackageKind, PackageParts};

pub use rehearsal::rehearse;
pub use runtime::sum;

/// Version of all crates in this project.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Command-line options.
struct DistOptions {
    out: Option<PathBuf>,
    check: bool,
    install: Option<PathBuf>,
    processor: Processor,
}

/// Processor for which packages are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Processor {
    /// Name in the names of Rust's targets: `x86_64`, `aarch64`.
    name: &'static str,
}

impl Processor {
    /// The processor of this machine.
    const HERE: Self = Self {
        name: std::env::consts::ARCH,
    };

    /// Returns the processor with a name.
    ///
    /// # Errors
    /// Fails if packages cannot be made for it.
    fn parse(name: &str) -> Result<Self> {
        let known = ["x86_64", "aarch64"].into_iter().find(|known| *known == name);
        let name = known.with_context(|| format!("unknown processor {name}: use x86_64 or aarch64"))?;
        Ok(Self { name })
    }

    /// Returns Rust's target if it is not this machine.
    fn foreign(self) -> Option<String> {
        (self != Self::HERE).then(|| format!("{}-unknown-linux-gnu", self.name))
    }
}

impl DistOptions {
    /// Parses the arguments after `dist`.
    ///
    /// # Errors
    /// Fails if an argument is unknown or its value is missing.
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            out: None,
            check: false,
            install: None,
            processor: Processor::HERE,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--out" => options.out = Some(value()?.into()),
                "--check" => options.check = true,
                "--arch" => options.processor = Processor::parse(value()?)?,
                "--try" => options.install = Some(value()?.into()),
                unknown => bail!("unknown argument of dist: {unknown}"),
            }
        }
        Ok(options)
    }
}

/// Builds the packages and copies them into the output folder.
///
/// # Errors
/// Fails if the build or a check failed.
pub fn run(house: &ProjectFolders, arguments: &[String]) -> Result<()> {
    let options = DistOptions::parse(arguments)?;
    if options.check {
        return check::run(house);
    }
    if let Some(package) = options.install {
        return check::try_out(house, &package);
    }
    let pages = contents::make_pages(house)?;
    let packages = make(house, time(house)?, &commit(house), &pages, options.processor)?;
    if options.processor.foreign().is_some() {
        emulate::try_out(house, &packages[0], options.processor)?;
    }
    let folder = options.out.unwrap_or_else(|| folder(house));
    write(&packages, &folder)
}

/// Returns the folder for packages.
pub fn folder(house: &ProjectFolders) -> PathBuf {
    house.target.join("packages")
}

/// Builds and packs the programs. Returns the paths of the archive and of the Debian package.
///
/// # Errors
/// Fails if the build failed, or if a program contains a path of this machine.
fn make(
    house: &ProjectFolders,
    time: u64,
    commit: &str,
    pages: &Path,
    processor: Processor,
) -> Result<[PathBuf; 2]> {
    let programs = build::build(house, commit, processor)?;
    for name in build::PROGRAMS {
        if let Some(named) = build::named_folder(house, &programs.join(name))? {
            bail!("{name} contains a path of this machine: {named}");
        }
    }
    let parts = PackageParts {
        programs: &programs,
        pages,
        licences: &licences(house)?,
        processor,
    };
    Ok([archive(house, parts, time)?, debian(house, parts, time)?])
}

/// Packs the archive.
///
/// # Errors
/// Fails if a part is missing.
fn archive(house: &ProjectFolders, parts: PackageParts<'_>, time: u64) -> Result<PathBuf> {
    let (os, arch) = (std::env::consts::OS, parts.processor.name);
    if os != "linux" {
        bail!("could not create packages on {os}: packages need Linux");
    }
    let name = format!("hippod-{VERSION}-{arch}-linux");
    let work = contents::stage(house, PackageKind::Archive, &name, parts)?;
    let place = work.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=gnu", "--sort=name", "--mode=u=rwX,go=rX"]);
    tar.args([
        "--owner=root:0",
        "--group=root:0",
        "--use-compress-program=gzip -n -9",
    ]);
    tar.arg(format!("--mtime=@{time}")).arg("--file").arg(&place);
    house::run(tar.arg("--directory").arg(&work).arg(&name))?;
    Ok(place)
}

/// Packs the Debian package that `[package.metadata.deb]` of hippod describes.
///
/// Installing the package neither starts nor enables a service, because each user runs a separate daemon.
///
/// # Errors
/// Fails if a part is missing, or if cargo-deb cannot be installed.
fn debian(house: &ProjectFolders, parts: PackageParts<'_>, time: u64) -> Result<PathBuf> {
    let work = contents::stage(house, PackageKind::Debian, "usr", parts)?;
    let mut deb = Command::new(tool(house, "cargo-deb", "3.8.0", &[])?);
    deb.args([
        "--package",
        "hippod",
        "--no-build",
        "--no-strip",
        "--locked",
        "--profile",
        "dist",
    ]);
    if let Some(target) = parts.processor.foreign() {
        deb.args(["--target", &target]);
    }
    deb.args(["--compress-type", "gz", "--output"]).arg(&work);
    deb.env("SOURCE_DATE_EPOCH", time.to_string())
        .env("CARGO_TARGET_DIR", &house.target);
    house::run(deb.current_dir(&house.root))?;
    let made = contents::names(&work)?;
    let made = made
        .iter()
        .find(|name| name.ends_with(".deb"))
        .context("cargo-deb created no package")?;
    Ok(work.join(made))
}

/// Returns the names of all linked crates, with the names and texts of their licences.
///
/// # Errors
/// Fails if a crate has no licence, or if cargo-about cannot be installed.
fn licences(house: &ProjectFolders) -> Result<String> {
    let program = tool(house, "cargo-about", "0.9.3", &["--features", "cli"])?;
    // cargo-about reads the dependencies of all platforms. The build has downloaded only those of this platform.
    house::run(
        Command::new("cargo")
            .args(["fetch", "--locked"])
            .current_dir(&house.root),
    )?;
    let mut text = String::new();
    for package in ["hippod", "hippoctl"] {
        let mut about = Command::new(&program);
        about.args(["about", "generate", "--locked", "--offline", "--fail"]);
        about.args(["--config", "xtask/about.toml", "--manifest-path"]);
        about
            .arg(format!("crates/{package}/Cargo.toml"))
            .arg("xtask/about.hbs");
        let said = house::output(about.current_dir(&house.root))?;
        text.push_str(&String::from_utf8(said).context("could not parse the output of cargo-about")?);
    }
    Ok(text)
}

/// Copies the packages into a folder, each with a file that contains its checksum. Prints the paths of the copies. If
/// the variable `HIPPOD_URL` names the place of the release, also writes the Homebrew formula for the archive.
///
/// # Errors
/// Fails if the packages cannot be written.
fn write(packages: &[PathBuf], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
    for package in packages {
        let place = folder.join(package.file_name().unwrap_or_default());
        let size =
            fs::copy(package, &place).with_context(|| format!("could not write {}", place.display()))?;
        say(format_args!("{}: {:.1} MB", place.display(), size as f64 / 1e6));
        write_sum(&place)?;
    }
    let Some(url) = std::env::var("HIPPOD_URL").ok().filter(|url| !url.is_empty()) else {
        return Ok(());
    };
    let [archive, ..] = packages else { return Ok(()) };
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let formula = formula(&url, &name, &sum(archive)?);
    let place = folder.join("hippod.rb");
    say(format_args!("{}", place.display()));
    fs::write(&place, formula).with_context(|| format!("could not write {}", place.display()))
}

/// Returns the Homebrew formula for an archive at an address. The first line of the template is a comment about it.
fn formula(url: &str, archive: &str, sha256: &str) -> String {
    let template = include_str!("../../packaging/hippod.rb");
    let formula = template.split_once('\n').map_or(template, |(_, formula)| formula);
    formula
        .replace("@URL@", url.trim_end_matches('/'))
        .replace("@ARCHIVE@", archive)
        .replace("@VERSION@", VERSION)
        .replace("@SHA256@", sha256)
}

/// Writes the SHA-256 of a package beside it, in the format of `sha256sum`.
fn write_sum(package: &Path) -> Result<()> {
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    let place = package.with_file_name(format!("{name}.sha256"));
    let line = format!("{}  {name}\n", sum(package)?);
    fs::write(&place, line).with_context(|| format!("could not write {}", place.display()))
}

/// Returns the commit of the source code: `HIPPOD_COMMIT` if it is set, otherwise the commit that git reports, with
/// `-dirty` if files differ from the commit. Without git, returns an empty text, and the programs print only their
/// version.
fn commit(house: &ProjectFolders) -> String {
    std::env::var("HIPPOD_COMMIT").unwrap_or_else(|_| {
        let words = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
        let said = house::output(house.git().args(words)).unwrap_or_default();
        String::from_utf8_lossy(&said).trim().to_owned()
    })
}

/// Returns the modification time for all files: `SOURCE_DATE_EPOCH` if it is set, otherwise the time of the commit.
fn time(house: &ProjectFolders) -> Result<u64> {
    let hint = "set SOURCE_DATE_EPOCH to the modification time for the files, in seconds since 1970";
    if let Some(set) = std::env::var_os("SOURCE_DATE_EPOCH") {
        let set = set.to_string_lossy();
        return set
            .parse()
            .with_context(|| format!("could not read SOURCE_DATE_EPOCH ({set}): {hint}"));
    }
    let said =
        house::output(house.git().args(["log", "-1", "--format=%ct"])).with_context(|| hint.to_owned())?;
    let text = String::from_utf8_lossy(&said);
    text.trim()
        .parse()
        .with_context(|| format!("could not find the time of the commit: {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_names_the_archive() {
        let formula = formula("https://example.org/v1/", "hippod.tar.gz", "0123");
        assert!(formula.starts_with("class Hippod < Formula\n"), "{formula}");
        for line in ["url \"https://example.org/v1/hippod.tar.gz\"", "sha256 \"0123\""] {
            assert!(formula.contains(line), "{formula}");
        }
        assert!(!formula.contains('@'), "{formula}");
    }

    #[test]
    fn packages_are_made_for_known_processors() {
        assert_eq!(Processor::HERE.foreign(), None);
        let names = ["x86_64", "aarch64"].map(|name| Processor::parse(name).unwrap().foreign());
        assert!(
            names
                .iter()
                .flatten()
                .any(|target| target.ends_with("-unknown-linux-gnu"))
        );
        assert!(Processor::parse("arm").is_err());
    }

    #[test]
    fn arguments_are_read_strictly() {
        let parse =
            |line: &str| DistOptions::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(parse("--out x").unwrap().out, Some("x".into()));
        assert!(parse("--check").unwrap().check);
        for wrong in ["--out", "--chek"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
