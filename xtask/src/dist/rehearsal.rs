//! Packaging of debug programs, as a rehearsal of a release.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::contents::{self, DOCUMENTS, PackageKind, PackageParts, names};
use super::{Processor, archive, time, write_sum};
use crate::house::{self, ProjectFolders};
use crate::terminal::say;

/// Files that both packages contain, apart from manual pages and documents.
const BOTH: [&str; 17] = [
    "bin/hippoctl",
    "bin/hippod",
    "share/bash-completion/completions/hippoctl",
    "share/bash-completion/completions/hippod",
    "lib/hippod/models/minilm-l6-dialogue-int8/config.json",
    "lib/hippod/models/minilm-l6-dialogue-int8/model.safetensors",
    "lib/hippod/models/minilm-l6-dialogue-int8/tokenizer.json",
    "share/doc/hippod/MODEL-PACKAGE-LICENSE",
    "share/doc/hippod/ONNXRUNTIME-LICENSE",
    "share/doc/hippod/ONNXRUNTIME-ThirdPartyNotices.txt",
    "share/doc/hippod/THIRD-PARTY.txt",
    "share/doc/hippod/copyright",
    "share/fish/vendor_completions.d/hippoctl.fish",
    "share/fish/vendor_completions.d/hippod.fish",
    "share/hippod/manifest.toml",
    "share/man/man1/hippoctl-search.1.gz",
    "lib/hippod/runtime/onnxruntime-1.24.4/libonnxruntime.so.1.24.4",
];

/// The list of the files that `install.sh` has installed.
const LIST: &str = "share/hippod/installed-files";

/// Packs the archive twice and compares the bytes. Compares the files of both packages with the expected lists. Installs
/// the archive with `install.sh`, and removes it.
///
/// The rehearsal neither collects the licences of the crates nor builds the Debian package, because these steps need
/// cargo-about and cargo-deb. `cargo xtask dist` does both.
///
/// # Errors
/// Fails if the packages are not as expected. The error lists files that are missing, unexpected or different.
pub fn rehearse(house: &ProjectFolders) -> Result<()> {
    let parts = PackageParts {
        programs: &house.target.join("debug"),
        pages: &contents::make_pages(house)?,
        licences: "Not made for a rehearsal.\n",
        processor: Processor::HERE,
    };
    let time = time(house)?;
    let pack = || -> Result<(Vec<u8>, PathBuf)> {
        let place = archive(house, parts, time)?;
        let bytes = fs::read(&place).with_context(|| format!("could not read {}", place.display()))?;
        Ok((bytes, place))
    };
    let ((first, _), (again, place)) = (pack()?, pack()?);
    let found = files(&place.with_extension("").with_extension(""))?;
    if first != again {
        bail!("the archive differs when it is packed again");
    }
    compare(house, "the archive", &found, PackageKind::Archive)?;
    install(house, &place, &found)?;
    let debian = contents::stage(house, PackageKind::Debian, "usr", parts)?.join("usr");
    compare(house, "the Debian package", &files(&debian)?, PackageKind::Debian)?;
    say(format_args!(
        "the archive: {:.1} MB, identical in both builds",
        first.len() as f64 / 1e6
    ));
    Ok(())
}

/// Installs the archive with `install.sh` into temporary folders, uses it, upgrades it, and removes it. Before, checks
/// that the script refuses an archive with a wrong checksum, and a prefix with a link of another program.
fn install(house: &ProjectFolders, archive: &Path, expected: &BTreeSet<String>) -> Result<()> {
    let folder = tempfile::tempdir().context("could not create a temporary folder")?;
    let (fresh, prefix) = (folder.path().join("fresh"), folder.path().join("prefix"));
    let script = |words: &[&str], prefix: &Path| {
        let mut command = Command::new("sh");
        command.arg(house.root.join("install.sh")).args(words);
        command.arg("--prefix").arg(prefix).env_remove("HIPPOD_URL");
        // The script stops the daemon of this home.
        command
            .env("HIPPOD_HOME", folder.path().join("home"))
            .env_remove("HIPPOD_SOCKET");
        command
    };
    let from = archive.parent().unwrap_or(archive).display().to_string();
    let refused = |prefix: &Path| -> Result<bool> {
        let output = script(&["--from", &from], prefix).output();
        Ok(!output.context("could not run install.sh")?.status.success())
    };
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let sum = archive.with_file_name(format!("{name}.sha256"));
    fs::write(&sum, format!("{}  {name}\n", "0".repeat(64))).context("could not write a checksum")?;
    if !refused(&fresh)? || fresh.exists() {
        bail!("install.sh accepted an archive with a wrong checksum");
    }
    write_sum(archive)?;
    house::output(&mut script(&["--from", &from], &fresh))?;
    house::output(&mut script(&["--uninstall"], &fresh))?;
    if fresh.exists() {
        bail!("install.sh --uninstall left the folder that the script had created");
    }

    let write = |name: &str, text: &str| {
        fs::write(prefix.join(name), text).with_context(|| format!("could not write {name}"))
    };
    fs::create_dir_all(prefix.join("bin")).context("could not create the prefix")?;
    let link = prefix.join("bin/hippod");
    symlink("/nonexistent", &link).context("could not create a link")?;
    if !refused(&prefix)? || fs::read_link(&link).is_err() || prefix.join("share").exists() {
        bail!("install.sh replaced a link of another program");
    }
    fs::remove_file(&link).context("could not remove a link")?;
    write("bin/of-another-program", "kept\n")?;
    for what in ["installation", "upgrade"] {
        house::output(&mut script(&["--from", &from], &prefix))?;
        let mut found = files(&prefix)?;
        let others = ["bin/of-another-program", LIST];
        if !others.iter().all(|name| found.remove(*name)) || found != *expected {
            bail!("after the {what}, install.sh has installed other files: {found:?}");
        }
        // The upgrade removes a file that only the earlier version contained.
        let list = fs::read_to_string(prefix.join(LIST)).context("could not read the list of files")?;
        if what == "installation" {
            write(LIST, &format!("{list}file bin/former\n"))?;
            write("bin/former", "former\n")?;
        }
    }
    for program in ["hippoctl", "hippod"] {
        let said = house::output(Command::new(prefix.join("bin").join(program)).arg("--version"))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let commit = super::commit(house);
        if !said.contains(super::VERSION) || !said.contains(commit.get(..12).unwrap_or_default()) {
            bail!(
                "{program} --version printed {said:?}, expected {} ({commit})",
                super::VERSION
            );
        }
    }
    let mut verify = Command::new(prefix.join("bin/hippoctl"));
    verify
        .args(["model", "verify"])
        .env("HIPPOD_HOME", folder.path().join("home"));
    house::output(&mut verify)?;
    house::output(&mut script(&["--uninstall"], &prefix))?;
    let left = files(&prefix)?;
    if left.len() != 1 || ["share", "lib"].iter().any(|name| prefix.join(name).exists()) {
        bail!("install.sh --uninstall left {left:?}");
    }
    Ok(())
}

fn compare(house: &ProjectFolders, what: &str, found: &BTreeSet<String>, kind: PackageKind) -> Result<()> {
    let mut expected: BTreeSet<String> = BOTH.map(str::to_owned).into();
    let document = |name: &String| format!("share/doc/hippod/{name}");
    expected.extend(DOCUMENTS.iter().map(|name| document(&(*name).to_owned())));
    expected.extend(
        files(&house.root.join("docs"))?
            .iter()
            .map(|name| document(&format!("docs/{name}"))),
    );
    let zsh = match kind {
        PackageKind::Archive => "share/zsh/site-functions",
        PackageKind::Debian => "share/zsh/vendor-completions",
    };
    expected.extend(["hippoctl", "hippod"].map(|program| format!("{zsh}/_{program}")));
    if kind == PackageKind::Debian {
        let units = names(&house.root.join("systemd"))?;
        expected.extend(units.iter().map(|name| format!("lib/systemd/user/{name}")));
    }
    let missing: Vec<_> = expected.difference(found).collect();
    let more = found.difference(&expected);
    let more: Vec<_> = more
        .filter(|path| !path.starts_with("share/man/man1/hippo"))
        .collect();
    if !missing.is_empty() || !more.is_empty() {
        bail!("{what} has wrong contents: missing {missing:?}, unexpected {more:?}");
    }
    Ok(())
}

/// Returns the paths of the files below a folder. An empty file is an error.
fn files(folder: &Path) -> Result<BTreeSet<String>> {
    let failed = || format!("could not read {}", folder.display());
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(
                files(&entry.path())?
                    .iter()
                    .map(|below| format!("{name}/{below}")),
            );
        } else if entry.metadata().with_context(failed)?.len() == 0 {
            bail!("{} is empty", entry.path().display());
        } else {
            found.insert(name);
        }
    }
    Ok(found)
}
