//! Workspaces of any size, made from the evaluation data.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Two folders with the real memory of agents.
const REAL: [&str; 2] = ["workspaces/starknet", "workspaces/magi"];
/// Further sources of files for larger workspaces, in order, each with its target folder.
const FURTHER: [(&str, &str); 4] = [
    ("retrieval/locomo", "memory"),
    ("retrieval/memaware/workspace", "memory"),
    ("retrieval/scifact/workspace", "knowledge"),
    ("retrieval/cranfield/workspace", "knowledge"),
];

/// Creates a workspace of `count` markdown files from the evaluation data. It first takes the 336 files of two agents.
/// A smaller workspace gets a selection that is spread evenly over the list of these files. A larger workspace also
/// gets dated conversations, logs and short documents. When there are no more of them, each further file combines two
/// of the documents.
///
/// # Errors
/// Fails if the data is missing or cannot be copied.
pub fn lay(eval: &Path, to: &Path, count: usize) -> Result<()> {
    let mut real = Vec::new();
    for folder in REAL {
        let from = eval.join(folder);
        let name = folder.rsplit('/').next().unwrap_or(folder);
        for path in markdown(&from)? {
            let kind = if path.starts_with("memory") {
                "memory"
            } else {
                "knowledge"
            };
            let rest = path.strip_prefix("memory").unwrap_or(&path);
            real.push((from.join(&path), to.join(kind).join(name).join(rest)));
        }
    }
    let all = real.len();
    let mut files: Vec<(PathBuf, PathBuf)> = (0..count.min(all))
        .map(|at| real[at * all / count.min(all)].clone())
        .collect();
    let mut documents = Vec::new();
    for (folder, kind) in FURTHER {
        if files.len() >= count {
            break;
        }
        let from = eval.join(folder);
        for path in markdown(&from)? {
            if kind == "knowledge" {
                documents.push(from.join(&path));
            }
            let name = folder.split('/').nth(1).unwrap_or(folder);
            // For example, `conv-26/workspace/memory/2023-05-08.md` becomes `conv-26/2023-05-08.md`.
            let kept: PathBuf = path
                .components()
                .filter(|part| {
                    !["workspace", "memory", "knowledge"]
                        .iter()
                        .any(|no| part.as_os_str() == *no)
                })
                .collect();
            if files.len() < count {
                files.push((from.join(&path), to.join(kind).join(name).join(kept)));
            }
        }
    }
    for (from, to) in &files {
        write(
            to,
            &fs::read(from).with_context(|| format!("could not read {}", from.display()))?,
        )?;
    }
    for (at, pair) in documents
        .chunks(2)
        .take(count.saturating_sub(files.len()))
        .enumerate()
    {
        let mut text = format!("# Volume {}\n\n", at + 1);
        for path in pair {
            let document =
                fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
            text.push_str(&format!("#{}\n\n", document.trim_end()));
        }
        write(&to.join(format!("knowledge/volumes/{at}.md")), text.as_bytes())?;
    }
    let laid = markdown(to)?.len();
    if laid != count {
        bail!("{laid} files were created instead of {count}, so the evaluation data is a different version");
    }
    Ok(())
}

/// Creates files of `each` documents. Each document is one section, and there are `sections` sections in total.
///
/// # Errors
/// See [`lay`].
pub fn volumes(eval: &Path, to: &Path, sections: usize, each: usize) -> Result<()> {
    let mut documents = Vec::new();
    for folder in ["retrieval/scifact/workspace", "retrieval/cranfield/workspace"] {
        let from = eval.join(folder);
        documents.extend(markdown(&from)?.into_iter().map(|path| from.join(path)));
    }
    let chosen: Vec<&PathBuf> = documents.iter().cycle().take(sections).collect();
    for (at, some) in chosen.chunks(each).enumerate() {
        let mut text = format!("# Volume {}\n\n", at + 1);
        for (place, path) in some.iter().enumerate() {
            let document =
                fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
            let round = (at * each + place) / documents.len() + 1;
            let document = document.trim_end();
            // A document that is repeated gets a different title.
            match document.strip_prefix("# ").and_then(|rest| rest.split_once('\n')) {
                Some((title, rest)) if round > 1 => {
                    text.push_str(&format!("## {title}, edition {round}\n{rest}\n\n"));
                }
                _ => text.push_str(&format!("#{document}\n\n")),
            }
        }
        write(&to.join(format!("knowledge/volume-{at:04}.md")), text.as_bytes())?;
    }
    Ok(())
}

/// Returns the markdown files below a folder with relative paths, in path order.
///
/// # Errors
/// Fails if the folder cannot be read.
pub fn markdown(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let path = folder.join(&below);
        for entry in fs::read_dir(&path).with_context(|| format!("could not read {}", path.display()))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = || format!("could not write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(failed)?;
    }
    fs::write(path, bytes).with_context(failed)
}
