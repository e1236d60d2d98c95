//! Which file gets which memories, so that none is written twice and no file grows beyond what is indexed?

use std::collections::{BTreeMap, BTreeSet, HashSet};

use hippo_core::import::{Memory, Program};
use hippo_core::time::{DAY_MS, Date, Timestamp};
use hippo_fs::WorkspaceDir;
use hippo_proto::RpcError;

use super::Job;
use super::section::{Section, hashes, section};
use crate::files;
use crate::scan;
use crate::tree::is_far_ahead;
use crate::view::WorkspaceView;

/// Bytes of a file beyond which the next one is begun, where larger ones are indexed at all.
const FULL: u64 = 4 << 20;
/// Bytes of a file that marks are looked for in: also one that has become too large to be indexed.
const LOOKED_AT: u64 = 64 << 20;
/// Bytes beside the sections of a file: its title, and what keeps them apart from what stands there.
const ROOM: u64 = 256;
/// Days that are named which are none.
const NAMED: usize = 3;
/// Milliseconds since 1970 of which a clock tells that was never set.
const UNSET: i64 = DAY_MS;

/// Where memories go.
pub(super) struct Target<'t> {
    /// The folder that everything goes into.
    pub into: Option<String>,
    /// The day of a moment in the workspace.
    pub day: &'t dyn Fn(Timestamp) -> Date,
    pub today: Date,
}

impl Target<'_> {
    /// The day of the log that a moment belongs into; the day itself where no log can be of it.
    fn log_of(&self, moment: Timestamp) -> Result<Date, Date> {
        let day = (self.day)(moment);
        let is_none = moment.0 < UNSET || is_far_ahead(self.today, day);
        if is_none { Err(day) } else { Ok(day) }
    }
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
    /// What is wrong with memories that are not written.
    pub unfit: Vec<String>,
    pub notes: Vec<String>,
}

/// What one file gets.
#[derive(Debug, Default)]
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

impl Place {
    /// The path of the first file, or of a later one.
    fn path(&self, number: u32) -> String {
        match number {
            1 => format!("{}.md", self.stem),
            number => format!("{}-{number}.md", self.stem),
        }
    }
}

/// What of the memories is new, and where it goes.
///
/// # Errors
/// Nobody waits for it any more.
pub(super) fn plan(
    view: &WorkspaceView,
    program: Program,
    memories: &[Memory],
    target: &Target<'_>,
    job: &mut Job<'_>,
) -> Result<Plan, RpcError> {
    job.begin("compare", &view.root.display().to_string());
    let mut known = standing(view);
    let mut plan = Plan::default();
    let mut places: BTreeMap<Place, Vec<(Option<Timestamp>, Section)>> = BTreeMap::new();
    let mut no_days = Vec::new();
    let most = view.config.sources.max_file_bytes;
    for (number, memory) in memories.iter().enumerate() {
        job.advance("prepare", program.name(), number, memories.len())?;
        let section = section(program, memory);
        let place = place(view, program, memory, &section, target);
        let standing = places.entry(place).or_insert_with_key(|place| {
            known.extend(unwatched(view, place));
            Vec::new()
        });
        if !known.insert(section.hash.clone()) {
            plan.known += 1;
            continue;
        }
        let bytes = section.text.len() as u64 + ROOM;
        if bytes > most {
            plan.unfit.push(format!(
                "the memory {:?} has {bytes} bytes with what stands beside it, more than sources.max_file_bytes = {most}: cut it into parts",
                section.name
            ));
            continue;
        }
        plan.redacted += u64::from(section.redacted);
        plan.flagged += u64::from(section.flagged);
        if memory.note.is_none() {
            no_days.extend(memory.created.and_then(|created| target.log_of(created).err()));
        }
        standing.push((memory.created, section));
    }
    for (place, mut sections) in places {
        // The oldest first; what was read first comes first where the times are equal.
        sections.sort_by_key(|(created, _)| *created);
        let sections = sections.into_iter().map(|(_, section)| section);
        fill(view, &place, sections, &mut plan);
    }
    plan.notes.extend(told_of(&no_days));
    let unwatched = plan.files.iter().filter(|file| !view.rules.is_source(&file.path));
    let unwatched = unwatched.count();
    if unwatched > 0 {
        plan.notes.push(format!(
            "{unwatched} of the files are excluded by the settings of the workspace: search will not find what is in them"
        ));
    }
    Ok(plan)
}

/// What is told of memories that stand without a date because theirs can be none.
fn told_of(days: &[Date]) -> Option<String> {
    let named: BTreeSet<Date> = days.iter().copied().collect();
    let named: Vec<String> = named.iter().take(NAMED).map(ToString::to_string).collect();
    let named = named.join(", ");
    let why = "before 1970, or a month ahead or more, which is no day that can be meant";
    match days.len() {
        0 => None,
        1 => Some(format!(
            "1 memory is dated {why} ({named}): it goes where those without a date go"
        )),
        many => Some(format!(
            "{many} memories are dated {why} ({named}): they go where those without a date go"
        )),
    }
}

/// The marks in all memory files.
fn standing(view: &WorkspaceView) -> HashSet<String> {
    let mut config = view.config.clone();
    config.sources.max_file_bytes = config.sources.max_file_bytes.max(LOOKED_AT);
    let found = scan::scan(&view.root, &view.rules, &config, &|| ());
    let texts = found
        .files
        .iter()
        .filter_map(|file| hippo_fs::read_source(&view.root, &file.rel, config.sources.max_file_bytes).ok());
    texts.flat_map(|text| hashes(&text)).collect()
}

/// The marks in files that are no memory by the settings, and get memories all the same.
fn unwatched(view: &WorkspaceView, place: &Place) -> HashSet<String> {
    let mut found = HashSet::new();
    if view.rules.is_source(&place.path(1)) {
        return found;
    }
    for number in 1.. {
        let Ok(text) = hippo_fs::read_source(&view.root, place.path(number), LOOKED_AT) else {
            break;
        };
        found.extend(hashes(&text));
    }
    found
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
        let free = match hippo_fs::read_source(&view.root, format!("{stem}.md"), FULL) {
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
    match memory.created.and_then(|created| target.log_of(created).ok()) {
        Some(day) => {
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
    let full = FULL.min(view.config.sources.max_file_bytes).saturating_sub(ROOM);
    let mut number = 0;
    let mut room = None;
    for section in sections {
        let bytes = section.text.len() as u64 + 1;
        let left = match room {
            Some(room) if room >= bytes => room,
            _ => loop {
                number += 1;
                let path = place.path(number);
                let stat = WorkspaceDir::open(&view.root).and_then(|dir| dir.stat(&path));
                // A name that cannot be looked at is taken.
                let there = stat.map_or(Some(full), |stat| stat.map(|stat| stat.size));
                let left = full.saturating_sub(there.unwrap_or(0));
                // A memory that no file has room for has one for itself.
                if left < bytes && there.is_some() {
                    continue;
                }
                plan.files.push(PlannedFile {
                    path,
                    title: place.title.clone(),
                    new: there.is_none(),
                    ..PlannedFile::default()
                });
                break left.max(bytes);
            },
        };
        room = Some(left - bytes);
        if let Some(file) = plan.files.last_mut() {
            file.sections.push(section.text);
        }
    }
}
