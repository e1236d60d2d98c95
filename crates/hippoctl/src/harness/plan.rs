//! Plan of the file changes that produce a layout.

use std::collections::BTreeMap;

use hippo_fs::nesting;
use hippo_text::own_block::{BlockMarks, UnclosedBlock};

use super::json::{self, JsonEntries, JsonInsertion};
use super::layout::{INDEX, LayoutPart, ROOT_BLOCK, block_marks};
use super::platform::Harness;
use super::record::{FileRecord, InitRecord, Original, PutBlock, hash};
use super::splice::Splice;
use super::{PathReason, PathSnapshot, PathState};

/// Changes that are planned but not applied yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangePlan {
    /// The folders to create, outer ones first.
    pub folders: Vec<String>,
    /// The files to write or remove.
    pub changes: Vec<PathChange>,
    /// The folders to remove if they are empty after the changes, inner ones first.
    pub removed_folders: Vec<String>,
    /// The paths that stay unchanged, with reasons.
    pub kept: Vec<PathReason>,
    /// The problems. If there is any problem, no change is made.
    pub problems: Vec<PathReason>,
    /// The record of init, as it will be after the plan is applied.
    pub record: InitRecord,
}

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathChange {
    /// The path relative to the workspace, with links resolved.
    pub path: String,
    /// The expected content before the change, or `None` if the file must not exist.
    pub before: Option<Vec<u8>>,
    /// The content after the change; `None` removes the file.
    pub after: Option<Vec<u8>>,
    /// The description of the change, for display.
    pub what: String,
}

/// Returns the plan that installs `parts` for a platform.
pub fn plan(
    platform: Harness,
    parts: &[LayoutPart],
    there: &PathSnapshot,
    record: &InitRecord,
) -> ChangePlan {
    let mut planner = Planner {
        there,
        record,
        files: BTreeMap::new(),
        plan: ChangePlan {
            record: record.clone(),
            ..ChangePlan::default()
        },
    };
    for part in parts {
        if let Err(why) = planner.add(part) {
            planner.plan.problems.push(PathReason::new(part.path(), why));
        }
    }
    planner.finish(platform)
}

struct Planner<'a> {
    there: &'a PathSnapshot,
    record: &'a InitRecord,
    files: BTreeMap<String, FileDraft>,
    plan: ChangePlan,
}

impl Planner<'_> {
    /// Adds a part of the layout to the plan. Fails if something else exists at the path, or if the file cannot be
    /// changed.
    fn add(&mut self, part: &LayoutPart) -> Result<(), String> {
        match part {
            LayoutPart::Folder(path) => match self.there.state(path) {
                PathState::Missing => self.add_folder(self.there.real(path)),
                PathState::Folder => {}
                PathState::File(_) => return Err("a file exists at the path of this folder".to_owned()),
                PathState::Odd(why) => return Err(why.clone()),
            },
            LayoutPart::Template(path, text) => {
                let draft = self.draft(path)?;
                if draft.now.is_none() {
                    draft.set(text.as_bytes().to_vec(), "created".to_owned());
                }
            }
            LayoutPart::Own(path, text) => self.add_own(path, text)?,
            LayoutPart::Block(path, name, body) => self.draft(path)?.put_block(path, name, body)?,
            LayoutPart::Json(path, edit) => self.draft(path)?.enter_json(edit)?,
        }
        Ok(())
    }

    /// Plans to write a file of hippod. An existing file is replaced only if it still has the content that an earlier
    /// init wrote.
    fn add_own(&mut self, path: &str, text: &str) -> Result<(), String> {
        let entry = self.record.files.get(self.there.real(path));
        let known = entry.map(|entry| entry.hash.clone());
        let draft = self.draft(path)?;
        let what = match &draft.now {
            None => "created",
            Some(now) if now == text.as_bytes() => return Ok(()),
            Some(now) if known.as_ref() == Some(&hash(now)) => "renewed",
            Some(_) => {
                let why = "not created by init, or changed since then";
                self.plan.kept.push(PathReason::new(path, why));
                return Ok(());
            }
        };
        draft.set(text.as_bytes().to_vec(), what.to_owned());
        Ok(())
    }

    /// Returns the draft of the file at a path. Fails if the path is a folder or cannot be used.
    fn draft(&mut self, path: &str) -> Result<&mut FileDraft, String> {
        let before = match self.there.state(path) {
            PathState::Missing => None,
            PathState::File(bytes) => Some(bytes.clone()),
            PathState::Folder => return Err("a folder exists at the path of this file".to_owned()),
            PathState::Odd(why) => return Err(why.clone()),
        };
        let draft = self.files.entry(self.there.real(path).to_owned());
        Ok(draft.or_insert_with(|| FileDraft {
            now: before.clone(),
            before,
            ..FileDraft::default()
        }))
    }

    /// Adds a folder and its missing parents to the plan.
    fn add_folder(&mut self, real: &str) {
        let ends = real.match_indices('/').map(|(at, _)| at).chain([real.len()]);
        for end in ends {
            let folder = &real[..end];
            let planned = self.plan.folders.iter().any(|there| there == folder);
            if *self.there.state(folder) == PathState::Missing && !planned {
                self.plan.folders.push(folder.to_owned());
            }
        }
    }

    fn finish(mut self, platform: Harness) -> ChangePlan {
        for (path, draft) in std::mem::take(&mut self.files) {
            if draft.now == draft.before {
                continue;
            }
            if let Some((folder, _)) = path.rsplit_once('/') {
                self.add_folder(folder);
            }
            match draft.record(self.record.files.get(&path)) {
                Ok(entry) => {
                    self.plan.record.files.insert(path.clone(), entry);
                    self.plan.changes.push(PathChange {
                        path,
                        before: draft.before,
                        after: draft.now,
                        what: draft.what.join(", "),
                    });
                }
                Err(why) => self.plan.problems.push(PathReason::new(path, why)),
            }
        }
        // The daemon refuses a workspace without the folder `.hippocampus`.
        if let Err(why) = self.add(&LayoutPart::Folder(INDEX[1])) {
            self.plan.problems.push(PathReason::new(INDEX[1], why));
        }
        let ChangePlan { record, folders, .. } = &mut self.plan;
        if record.is_empty() {
            record.version = 1;
            let new = |path: &&str| *self.there.state(path) == PathState::Missing;
            record.index_is_new = INDEX.iter().all(new);
        }
        record.platforms.insert(platform);
        add_missing(&mut record.folders, folders);
        self.plan
    }
}

/// A file, with the changes that the parts of the layout make to it.
#[derive(Default)]
struct FileDraft {
    before: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
    blocks: Vec<PutBlock>,
    json: Option<JsonEntries>,
    what: Vec<String>,
}

impl FileDraft {
    fn set(&mut self, text: Vec<u8>, what: String) {
        self.now = Some(text);
        self.what.push(what);
    }

    fn enter_json(&mut self, edit: &JsonInsertion) -> Result<(), String> {
        let Some((text, entered)) = json::enter(self.now.as_deref().unwrap_or(b"{}\n"), edit)? else {
            return Ok(());
        };
        self.json = Some(entered);
        self.set(text, edit.to_string());
        Ok(())
    }

    fn put_block(&mut self, path: &str, name: &str, body: &str) -> Result<(), String> {
        let marks = block_marks(path);
        let now = self.now.as_deref().unwrap_or_default();
        if let Some(encoding) = hippo_fs::foreign_encoding(now) {
            return Err(format!("the file is in {encoding}: save the file in UTF-8"));
        }
        let torn = |torn: UnclosedBlock| torn.to_string();
        let is_there = marks.span(now, name).map_err(torn)?.is_some();
        let made = marks.put(now, name, body).map_err(torn)?;
        // init does not change an existing block `root`, because the daemon keeps the block up to date.
        if made == now || is_there && name == ROOT_BLOCK {
            return Ok(());
        }
        if path.ends_with(".toml") {
            check_toml(now)?;
            check_toml(&made)
                .map_err(|why| format!("the file would be invalid with the hooks of hippod ({why})"))?;
        }
        if is_there {
            self.set(made, format!("block \"{name}\" renewed"));
            return Ok(());
        }
        let span = marks.span(&made, name).map_err(torn)?;
        let start = span.map_or(now.len(), |span| span.start);
        self.blocks.push(PutBlock {
            name: name.to_owned(),
            hash_marks: marks == BlockMarks::HASH,
            lead: String::from_utf8_lossy(&made[now.len()..start]).into_owned(),
        });
        self.set(made, format!("block \"{name}\""));
        Ok(())
    }

    /// Returns the record of the file, which is sufficient to restore the state before the first init.
    fn record(&self, old: Option<&FileRecord>) -> Result<FileRecord, String> {
        let now = self.now.as_deref().unwrap_or_default();
        let original = match (old, &self.before) {
            (_, None) => Original::Missing,
            (None, Some(before)) => Original::Text(before.clone()),
            (Some(old), Some(before)) => match old.original(before)? {
                Original::Theirs => Original::Text(before.clone()),
                original => original,
            },
        };
        let mut entry = old.cloned().unwrap_or_default();
        let is_old = |block: &PutBlock| self.blocks.iter().all(|new| new.name != block.name);
        entry.blocks.retain(is_old);
        entry.blocks.extend(self.blocks.iter().cloned());
        if let Some(new) = &self.json {
            let all = entry.json.get_or_insert_default();
            add_missing(&mut all.made, &new.made);
            add_missing(&mut all.hooks, &new.hooks);
            add_missing(&mut all.instructions, &new.instructions);
            add_missing(&mut all.allowed, &new.allowed);
            all.mcp_server |= new.mcp_server;
        }
        entry.hash = hash(now);
        entry.made = original == Original::Missing;
        (entry.splice, entry.rest) = match original {
            Original::Text(before) => (Splice::between(&before, now), None),
            _ => (None, Some(hash(&entry.strip(now)?))),
        };
        Ok(entry)
    }
}

fn add_missing(all: &mut Vec<String>, new: &[String]) {
    for name in new {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
}

/// Checks whether a TOML file can be parsed. The error contains line and column.
pub(super) fn check_toml(text: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(text).map_err(|_| "it is not valid UTF-8".to_owned())?;
    nesting::check_toml(text).map_err(|error| error.to_string())?;
    let parsed = text.parse::<toml::Table>();
    parsed.map(drop).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        format!("line {line}, column {column}: {}", error.message().trim_end())
    })
}
