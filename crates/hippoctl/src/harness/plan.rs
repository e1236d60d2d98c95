//! Plan of the file changes that produce a layout.

use std::collections::BTreeMap;

use hippo_fs::nesting;

use super::json::{self, JsonEntries};
use super::layout::{Block, INDEX, LayoutPart};
use super::platform::Harness;
use super::record::{FileRecord, InitRecord, Original, PutBlock, hash};
use super::{KeptPath, PathSnapshot, PathState, UnusableFile};

/// Changes that have not been applied yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangePlan {
    /// The folders to create, outer ones first.
    pub folders: Vec<String>,
    /// The files to write or remove.
    pub changes: Vec<PathChange>,
    /// The folders to remove if they are empty after the changes, inner ones first.
    pub removed_folders: Vec<String>,
    /// The parts that stay unchanged.
    pub kept: Vec<KeptPath>,
    /// The problems. A single problem prevents all changes.
    pub problems: Vec<UnusableFile>,
    /// The record as it is after the plan is applied.
    pub record: InitRecord,
}

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathChange {
    /// The path relative to the workspace, with links resolved.
    pub path: String,
    /// The expected content before the change; `None` for a missing file.
    pub before: Option<Vec<u8>>,
    /// The content after the change; `None` removes the file.
    pub after: Option<Vec<u8>>,
    /// The description of the change, for display.
    pub what: String,
}

/// A file that several parts of the layout may change.
struct FileDraft {
    before: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
    blocks: Vec<PutBlock>,
    json: Option<JsonEntries>,
    what: Vec<String>,
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
        planner.part(part);
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
    fn part(&mut self, part: &LayoutPart) {
        match part {
            LayoutPart::Folder(path) => match self.there.state(path) {
                PathState::Missing => self.folder(self.there.real(path)),
                PathState::Folder => {}
                PathState::File(_) => self.problem(path, "a file exists at the path of this folder"),
                PathState::Odd(why) => self.problem(path, why),
            },
            LayoutPart::Template(path, text) => {
                if let Some(work) = self.work(path)
                    && work.now.is_none()
                {
                    work.now = Some(text.clone().into_bytes());
                    work.what.push("made".to_owned());
                }
            }
            LayoutPart::Own(path, text) => self.own(path, text),
            LayoutPart::Block(block) => self.block(block),
            LayoutPart::Json(path, edit) => {
                let Some(work) = self.work(path) else { return };
                match json::enter(work.now.as_deref().unwrap_or(b"{}\n"), edit) {
                    Ok(None) => {}
                    Ok(Some((text, entered))) => {
                        work.now = Some(text);
                        work.json = Some(entered);
                        work.what.push(match edit {
                            json::JsonInsertion::Hooks(hooks) => {
                                let events: Vec<&str> = hooks.iter().map(|(event, _)| *event).collect();
                                format!("hooks {}", events.join(", "))
                            }
                            json::JsonInsertion::Instructions(paths) => {
                                format!("instructions {}", paths.join(", "))
                            }
                        });
                    }
                    Err(what) => self.problem(path, what),
                }
            }
        }
    }

    /// Creates a file of hippod, or replaces it if it is unchanged since init wrote it.
    fn own(&mut self, path: &str, text: &str) {
        let known = self
            .record
            .files
            .get(self.there.real(path))
            .map(|entry| entry.hash.clone());
        let Some(work) = self.work(path) else { return };
        match &work.now {
            None => work.what.push("made".to_owned()),
            Some(now) if now == text.as_bytes() => return,
            Some(now) if known.as_ref() == Some(&hash(now)) => work.what.push("renewed".to_owned()),
            Some(_) => {
                let why = "not created by init, or changed since then".to_owned();
                let path = path.to_owned();
                return self.plan.kept.push(KeptPath { path, why });
            }
        }
        work.now = Some(text.as_bytes().to_vec());
    }

    fn block(&mut self, block: &Block) {
        let Block {
            path, marks, name, ..
        } = block;
        let Some(work) = self.work(path) else { return };
        let now = work.now.as_deref().unwrap_or_default();
        let there = match marks.span(now, name) {
            Ok(there) => there.is_some(),
            Err(torn) => return self.problem(path, torn.to_string()),
        };
        if there && block.once {
            return;
        }
        let made = match marks.put(now, name, &block.body) {
            Ok(made) => made,
            Err(torn) => return self.problem(path, torn.to_string()),
        };
        if made == now {
            return;
        }
        if let Some(what) = path
            .ends_with(".toml")
            .then(|| unsound_toml(now, &made))
            .flatten()
        {
            return self.problem(path, what);
        }
        if there {
            work.what.push(format!("block \"{name}\" renewed"));
        } else {
            let start = marks
                .span(&made, name)
                .ok()
                .flatten()
                .map_or(now.len(), |span| span.start);
            work.blocks.push(PutBlock {
                name: name.clone(),
                hash_marks: *marks == hippo_text::own_block::BlockMarks::HASH,
                lead: String::from_utf8_lossy(&made[now.len()..start]).into_owned(),
            });
            work.what.push(format!("block \"{name}\""));
        }
        work.now = Some(made);
    }

    fn problem(&mut self, path: &str, what: impl Into<String>) {
        let (path, what) = (path.to_owned(), what.into());
        self.plan.problems.push(UnusableFile { path, what });
    }

    /// Returns the file at a path, or `None` after recording a problem if the path cannot hold a file.
    fn work(&mut self, path: &str) -> Option<&mut FileDraft> {
        let real = self.there.real(path);
        let before = match self.there.state(path) {
            PathState::Missing => None,
            PathState::File(bytes) => Some(bytes.clone()),
            PathState::Folder => {
                self.problem(path, "a folder exists at the path of this file");
                return None;
            }
            PathState::Odd(why) => {
                self.problem(path, why);
                return None;
            }
        };
        let work = self.files.entry(real.to_owned()).or_insert_with(|| FileDraft {
            now: before.clone(),
            before,
            blocks: Vec::new(),
            json: None,
            what: Vec::new(),
        });
        Some(work)
    }

    /// Adds a folder and its missing parents to the plan.
    fn folder(&mut self, real: &str) {
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
        for (path, work) in std::mem::take(&mut self.files) {
            if work.now == work.before {
                continue;
            }
            if let Some((folder, _)) = path.rsplit_once('/') {
                self.folder(folder);
            }
            match self.entry(&path, &work) {
                Ok(entry) => {
                    self.plan.record.files.insert(path.clone(), entry);
                    self.plan.changes.push(PathChange {
                        path,
                        before: work.before,
                        after: work.now,
                        what: work.what.join(", "),
                    });
                }
                Err(what) => self.problem(&path, what),
            }
        }
        // The daemon rejects a workspace without this folder.
        self.part(&LayoutPart::Folder(INDEX[1]));
        let ChangePlan { record, folders, .. } = &mut self.plan;
        if record.is_empty() {
            record.version = 1;
            let new = |path: &&str| *self.there.state(path) == PathState::Missing;
            record.index_is_new = INDEX.iter().all(new);
        }
        record.platforms.insert(platform);
        for folder in folders.iter() {
            if !record.folders.contains(folder) {
                record.folders.push(folder.clone());
            }
        }
        self.plan
    }

    /// Returns the record of a file, from which its state before the first init can be restored.
    fn entry(&self, path: &str, work: &FileDraft) -> Result<FileRecord, String> {
        let now = work.now.as_deref().unwrap_or_default();
        let old = self.record.files.get(path);
        let original = match (old, &work.before) {
            (_, None) => Original::Missing,
            (None, Some(before)) => Original::Text(before.clone()),
            (Some(old), Some(before)) => old.original(before)?,
        };
        let mut blocks = old.map_or_else(Vec::new, |old| old.blocks.clone());
        blocks.retain(|block| work.blocks.iter().all(|new| new.name != block.name));
        blocks.extend(work.blocks.iter().cloned());
        let mut json = old.and_then(|old| old.json.clone());
        if let Some(new) = &work.json {
            let all = json.get_or_insert_default();
            add(&mut all.made, &new.made);
            add(&mut all.hooks, &new.hooks);
            add(&mut all.instructions, &new.instructions);
        }
        let mut entry = FileRecord {
            made: original == Original::Missing,
            hash: hash(now),
            was: None,
            splice: None,
            blocks,
            json,
            rest: None,
        };
        match original {
            Original::Missing => entry.rest = Some(hash(&entry.strip(now)?)),
            Original::Text(before) => entry.keep(&before, now),
            Original::Theirs => entry.keep(work.before.as_deref().unwrap_or_default(), now),
        }
        Ok(entry)
    }
}

fn add(all: &mut Vec<String>, new: &[String]) {
    for name in new {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
}

/// Returns the reason why a TOML file is unusable, either in its current form or with our block.
pub(super) fn unsound_toml(now: &[u8], made: &[u8]) -> Option<String> {
    let read = |text: &[u8]| -> Result<(), String> {
        let text = std::str::from_utf8(text).map_err(|_| "it is not valid UTF-8".to_owned())?;
        nesting::check_toml(text).map_err(|error| error.to_string())?;
        text.parse::<toml::Table>().map(drop).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let before = text.get(..at).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
            format!("line {line}, column {column}: {}", error.message().trim_end())
        })
    };
    let after = |what| format!("the file would be invalid with the hooks of hippod ({what})");
    read(now).err().or_else(|| read(made).map_err(after).err())
}
