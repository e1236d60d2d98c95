//! Under which terms are the crates given on that the programs are made of?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::house::House;

/// Files that hold terms begin with these, in capitals.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];
const BEGINNING: &str = "\
The programs hippod and hippoctl are made of these crates. For each: its name and version, the terms in its manifest, and where it comes
from. Their texts follow, each once, with the crates that it came with. SQLite, which rusqlite brings along, is in the public domain. The
standard library of Rust, which is in both, is under MIT or Apache-2.0 (https://www.rust-lang.org/policies/licenses).
";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    license_file: Option<PathBuf>,
    repository: Option<String>,
    source: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// The names of all linked crates with their terms, and the texts of these.
///
/// # Errors
/// Cargo does not tell, or a crate says nothing of its terms.
pub fn third_party(house: &House, target: &str) -> Result<String> {
    let mut command = house.cargo();
    command.args([
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--filter-platform",
        target,
    ]);
    let output = command.output().context("could not run cargo metadata")?;
    if !output.status.success() {
        bail!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let metadata =
        serde_json::from_slice(&output.stdout).context("could not read the answer of cargo metadata")?;
    describe(
        &linked(&metadata),
        &fs::read_to_string(house.root.join("LICENSE-APACHE"))?,
    )
}

/// Crates from elsewhere that end up in the programs: neither tests nor what runs while building.
fn linked(metadata: &Metadata) -> Vec<&Package> {
    let packages: BTreeMap<&str, &Package> = metadata
        .packages
        .iter()
        .map(|package| (package.id.as_str(), package))
        .collect();
    let nodes: BTreeMap<&str, &Node> = metadata
        .resolve
        .nodes
        .iter()
        .map(|node| (node.id.as_str(), node))
        .collect();
    let ours = metadata
        .packages
        .iter()
        .filter(|package| package.source.is_none());
    let programs = ours.filter(|package| matches!(package.name.as_str(), "hippod" | "hippoctl"));
    let mut waiting: Vec<&str> = programs.map(|package| package.id.as_str()).collect();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        let runs_while_building = packages.get(id).is_some_and(|package| {
            package
                .targets
                .iter()
                .any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
        });
        if runs_while_building || !seen.insert(id) {
            continue;
        }
        let edges = nodes.get(id).into_iter().flat_map(|node| &node.deps);
        let normal = edges.filter(|edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none()));
        waiting.extend(normal.map(|edge| edge.pkg.as_str()));
    }
    let mut found: Vec<&Package> = seen.iter().filter_map(|id| packages.get(id).copied()).collect();
    found.retain(|package| package.source.is_some());
    found.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    found
}

fn describe(packages: &[&Package], apache: &str) -> Result<String> {
    let mut text = BEGINNING.to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    text.push('\n');
    for package in packages {
        let name = format!("{} {}", package.name, package.version);
        let terms = match (&package.license, &package.license_file) {
            (Some(terms), _) => terms.as_str(),
            (None, Some(_)) => "see the text",
            (None, None) => bail!("{name} says nothing of its terms"),
        };
        let from = package.repository.as_deref().unwrap_or("crates.io");
        // Writing into a string does not fail.
        let _ = writeln!(text, "{name}: {terms} ({from})");
        let mut own = texts_of(package)?;
        if own.is_empty() {
            own.extend(standard(terms, apache, &package.name));
        }
        if own.is_empty() {
            bail!("{name} brings no text of its terms, {terms}, and none is known here");
        }
        for own in own {
            texts.entry(own).or_default().push(name.clone());
        }
    }
    let mut texts: Vec<(String, Vec<String>)> = texts.into_iter().collect();
    texts.sort_by(|one, other| one.1.cmp(&other.1).then_with(|| one.0.cmp(&other.0)));
    for (terms, names) in texts {
        let line = "=".repeat(80);
        let _ = write!(text, "\n{line}\n{}\n{line}\n\n{terms}\n", names.join(", "));
    }
    Ok(text)
}

/// The texts that a crate brings, without differences of line ends.
fn texts_of(package: &Package) -> Result<Vec<String>> {
    let folder = package.manifest_path.parent().unwrap_or(Path::new("."));
    let failed = || format!("could not read the terms in {}", folder.display());
    // A library in C that a crate brings along lies in a folder of its own, with its terms.
    let mut folders = paths_in(folder).with_context(failed)?;
    folders.retain(|path| path.is_dir());
    folders.push(folder.to_path_buf());
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let found = paths_in(&folder).with_context(failed)?;
        files.extend(found.into_iter().filter(|path| holds_terms(path)));
    }
    files.extend(package.license_file.iter().map(|file| folder.join(file)));
    files.sort();
    files.dedup();
    let read = |path: &PathBuf| -> Result<String> {
        let bytes = fs::read(path).with_context(failed)?;
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        Ok(text.trim_matches('\n').trim_end().to_owned())
    };
    files.iter().map(read).collect()
}

fn holds_terms(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_uppercase();
    path.is_file() && NAMES.iter().any(|beginning| name.starts_with(beginning))
}

fn paths_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

/// The standard text of terms, for a crate that names them and brings no text.
fn standard(terms: &str, apache: &str, name: &str) -> Option<String> {
    let may = |id: &str| terms.split([' ', '/', '(', ')']).any(|word| word == id);
    if may("Apache-2.0") {
        return Some(apache.trim().to_owned());
    }
    may("MIT").then(|| {
        format!(
            "MIT License\n\nCopyright (c) the authors of {name}\n\n{}",
            MIT.trim()
        )
    })
}

/// The permission of the MIT licence.
const MIT: &str = "\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
\"Software\"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH
THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
";
