//! Which file gets which memories, so that none is written twice and no file grows beyond what is indexed?

use std::collections::{BTreeMap, HashSet};

use hippo_core::import::{Memory, Program};
use hippo_core::time::{Date, Timestamp};
use hippo_proto::RpcError;

use super::section::{Section, hashes, section};
use crate::files;
use crate::scan;
use crate::view::WorkspaceView;

/// Bytes of a file beyond which the next one is begun; larger ones may not be indexed.
const FULL: u64 = 4 << 20;

/// Where memories go.
pub(super) struct Target<'t> {
    /// The folder that everything goes into.
    pub into: Option<String>,
    /// The day of a moment in the workspace.
    pub day: &'t dyn Fn(Timestamp) -> Date,
}

/// What is to be written.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// In the order of their paths.
    pub files: Vec<PlannedFile>,
    /// Memories that stand there already, or were found twice.
    pub known: u64,
    pub redacted: u64,
    pub flagged: u64,
    pub notes: Vec<String>,
}

/// What one file gets.
#[derive(Debug)]
pub(super) struct PlannedFile {
    /// Relative to the workspace.
    pub path: String,
    /// Of a file that is begun.
    pub title: Option<String>,
    /// One for each memory.
    pub sections: Vec<String>,
    /// There is none yet.
    pub new: bool,
}

/// A place for memories, before it is known how full it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// Path without its ending.
    stem: String,
    title: Option<String>,
}

/// What of the memories is new, and where it goes.
///
/// # Errors
/// A file that is in the way cannot be read.
pub(super) fn plan(
    view: &WorkspaceView,
    program: Program,
    memories: &[Memory],
    target: &Target<'_>,
) -> Result<Plan, RpcError> {
    let mut known = standing(view);
    let mut plan = Plan::default();
    let mut places: BTreeMap<Place, Vec<(Option<Timestamp>, Section)>> = BTreeMap::new();
    for memory in memories {
        let section = section(program, memory);
        if !known.insert(section.hash.clone()) {
            plan.known += 1;
            continue;
        }
        plan.redacted += u64::from(section.redacted);
        plan.flagged += u64::from(section.flagged);
        let place = place(view, program, memory, &section, target);
        places.entry(place).or_default().push((memory.created, section));
    }
    for (place, mut sections) in places {
        // The oldest first; what was read first comes first where the times are equal.
        sections.sort_by_key(|(created, _)| *created);
        fill(
            view,
            &place,
            sections.into_iter().map(|(_, section)| section),
            &mut plan,
        );
    }
    let unwatched = plan.files.iter().filter(|file| !view.rules.is_source(&file.path));
    let unwatched = unwatched.count();
    if unwatched > 0 {
        plan.notes.push(format!(
            "{unwatched} of the files are excluded by the settings of the workspace: search will not find what is in them"
        ));
    }
    Ok(plan)
}

/// The marks in all memory files.
fn standing(view: &WorkspaceView) -> HashSet<String> {
    let found = scan::scan(&view.root, &view.rules, &view.config, &|| ());
    let limit = view.config.sources.max_file_bytes;
    let texts = found
        .files
        .iter()
        .filter_map(|file| files::read(&file.abs, limit).ok());
    texts.flat_map(|text| hashes(&text)).collect()
}

fn place(
    view: &WorkspaceView,
    program: Program,
    memory: &Memory,
    section: &Section,
    target: &Target<'_>,
) -> Place {
    let imported = || match &target.into {
        Some(into) => into.clone(),
        None => format!("knowledge/imported/{}", program.name()),
    };
    if let Some(note) = &memory.note {
        let stem = note.strip_suffix(".md").unwrap_or(note);
        let stem = format!("{}/{stem}", imported());
        // Another note of that name, or an earlier version of this one, stays as it is.
        let free = match files::read(&view.root.join(format!("{stem}.md")), FULL) {
            Ok(there) => section.text.as_bytes().starts_with(&there),
            Err(error) => files::is_absence(&error),
        };
        return Place {
            stem: if free {
                stem
            } else {
                format!("{stem}-{}", &section.hash[..8])
            },
            title: None,
        };
    }
    match memory.created {
        Some(created) => {
            let day = (target.day)(created);
            let folder = target.into.as_deref().unwrap_or("memory");
            Place {
                stem: format!("{folder}/{day}"),
                title: Some(day.to_string()),
            }
        }
        None => Place {
            stem: format!("{}/undated", imported()),
            title: Some(format!("Imported from {}", program.name())),
        },
    }
}

/// Puts sections into a file, and into the next one of that name where it is full.
fn fill(view: &WorkspaceView, place: &Place, sections: impl Iterator<Item = Section>, plan: &mut Plan) {
    let mut number = 1_u32;
    let mut room = None;
    for section in sections {
        let bytes = section.text.len() as u64;
        let mut left = room.unwrap_or(0_u64);
        while room.is_none() || left < bytes {
            let suffix = if number == 1 {
                String::new()
            } else {
                format!("-{number}")
            };
            let path = format!("{}{suffix}.md", place.stem);
            let there = std::fs::metadata(view.root.join(&path)).map(|file| file.len());
            number += 1;
            left = FULL.saturating_sub(*there.as_ref().unwrap_or(&0));
            // A memory that no file has room for has one for itself.
            if left < bytes && there.is_ok() {
                room = Some(left);
                continue;
            }
            plan.files.push(PlannedFile {
                path,
                title: place.title.clone(),
                sections: Vec::new(),
                new: there.is_err(),
            });
            left = left.max(bytes);
            room = Some(left);
        }
        room = Some(left - bytes);
        if let Some(file) = plan.files.last_mut() {
            file.sections.push(section.text);
        }
    }
}
