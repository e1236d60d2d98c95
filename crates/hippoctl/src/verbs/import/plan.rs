//! Plan of an import: files for the memories that the workspace lacks.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Component, Path};

use hippo_fs::{FileKind, WorkspaceDir};
use hippo_session::import::{Memory, MemorySection, hashes, section};
use hippo_text::source::{SourceKind, SourceRules};
use hippo_types::time::{DAY_MS, Date, Timestamp, is_far_ahead};
use hippo_types::transcript::ExportProgram;
use jiff::tz::TimeZone;

use crate::failure::{Exit, Failure};

/// Size in bytes at which a new file is started.
const FULL: usize = 4 << 20;
/// Maximum size in bytes of a file that is searched for marks.
const LOOKED_AT: u64 = 64 << 20;
/// Maximum number of impossible dates that a note lists.
const NAMED: usize = 3;
/// Number of memories between two progress reports.
const STEP: usize = 1000;

/// The creation time and the text of a memory.
type DatedSection = (Option<Timestamp>, MemorySection);

/// The files to write.
#[derive(Debug, Default)]
pub(super) struct ImportPlan {
    /// The files in the order of their paths.
    pub files: Vec<PlannedFile>,
    pub known: u64,
    pub redacted: u64,
    pub flagged: u64,
    pub notes: Vec<String>,
}

/// A file to create.
#[derive(Debug)]
pub(super) struct PlannedFile {
    /// The path relative to the workspace.
    pub path: String,
    pub text: String,
    pub memories: u64,
}

/// Returns the destination folder relative to the workspace.
pub(super) fn folder(root: &Path, into: &Path) -> Result<String, Failure> {
    let refused = |why: &str| {
        let what = format!("could not import into {}: {why}", into.display());
        Failure::new(Exit::Usage, what)
            .hint("give a memory folder in the workspace, for example memory/imported")
    };
    let mut parts = Vec::new();
    for part in into.strip_prefix(root).unwrap_or(into).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name.to_string_lossy()),
            _ => return Err(refused("the folder is outside the workspace")),
        }
    }
    let folder = parts.join("/");
    let log = format!("{folder}/2026-01-01.md");
    if matches!(SourceKind::from_path(&log), SourceKind::Node(_)) {
        return Err(refused("the folder belongs to the compaction tree"));
    }
    match folder.contains('\0') || !rules().is_source(&log) {
        true => Err(refused(
            "the folder is not below memory, knowledge, plans or projects",
        )),
        false => Ok(folder),
    }
}

/// Returns the default rules. They contain no patterns, so parsing them cannot fail.
fn rules() -> SourceRules {
    SourceRules::new(&[], &[]).expect("rules without patterns are valid")
}

/// Selects the new memories and assigns them to files.
pub(super) fn plan(
    dir: &WorkspaceDir,
    program: ExportProgram,
    memories: &[Memory],
    folder: &str,
    tell: &dyn Fn(&str, usize, usize),
) -> ImportPlan {
    let mut known = imported_hashes(dir);
    let mut plan = ImportPlan::default();
    let mut places: BTreeMap<(String, String), Vec<DatedSection>> = BTreeMap::new();
    let mut impossible = Vec::new();
    let today = day_of(Timestamp(jiff::Timestamp::now().as_millisecond()));
    for (number, memory) in memories.iter().enumerate() {
        if number.is_multiple_of(STEP) {
            tell("prepare", number, memories.len());
        }
        let section = section(program, memory);
        if !known.insert(section.hash.clone()) {
            plan.known += 1;
            continue;
        }
        plan.redacted += u64::from(section.redacted);
        plan.flagged += u64::from(section.flagged);
        // The first day of 1970 means that the clock of the exporting machine was never set.
        let is_day = |(moment, day): &(Timestamp, Date)| moment.0 >= DAY_MS && !is_far_ahead(today, *day);
        let dated = memory.created.map(|moment| (moment, day_of(moment)));
        let place = match dated.filter(is_day) {
            Some((_, day)) => (format!("{folder}/{day}"), day.to_string()),
            None => {
                impossible.extend(dated.map(|(_, day)| day));
                (
                    format!("{folder}/undated"),
                    format!("Imported from {}", program.name()),
                )
            }
        };
        places.entry(place).or_default().push((memory.created, section));
    }
    for ((stem, title), mut sections) in places {
        // Oldest memories first. The sort is stable, so memories with equal times keep the order of the export.
        sections.sort_by_key(|(created, _)| *created);
        fill(
            dir,
            &stem,
            &title,
            sections.into_iter().map(|(_, section)| section),
            &mut plan,
        );
    }
    plan.notes.extend(note_of(&impossible));
    plan
}

fn day_of(moment: Timestamp) -> Date {
    let end = if moment.0 < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    };
    let moment = jiff::Timestamp::from_millisecond(moment.0).unwrap_or(end);
    TimeZone::system().to_datetime(moment).date()
}

/// Returns the note about memories whose impossible dates were dropped.
fn note_of(days: &[Date]) -> Option<String> {
    let named: BTreeSet<Date> = days.iter().copied().collect();
    let named: Vec<String> = named.iter().take(NAMED).map(ToString::to_string).collect();
    (!days.is_empty()).then(|| {
        format!(
            "memories with a date before 1970, or a month or more in the future, are written without the \
             date: {} ({})",
            days.len(),
            named.join(", ")
        )
    })
}

/// Returns the hashes in the marks of all memory files.
fn imported_hashes(dir: &WorkspaceDir) -> HashSet<String> {
    let rules = rules();
    let mut found = HashSet::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in dir.entries(&folder).unwrap_or_default() {
            let Some(name) = entry.name.to_str() else { continue };
            let path = match folder.as_str() {
                "" => name.to_owned(),
                folder => format!("{folder}/{name}"),
            };
            match entry.kind {
                FileKind::Folder if rules.may_contain(&path) => folders.push(path),
                FileKind::File if rules.is_source(&path) => {
                    let bytes = dir.read_source(&path, LOOKED_AT).unwrap_or_default();
                    found.extend(hashes(&bytes));
                }
                _ => {}
            }
        }
    }
    found
}

/// Distributes sections among new files: `STEM.md`, `STEM-2.md`, …
fn fill(
    dir: &WorkspaceDir,
    stem: &str,
    title: &str,
    sections: impl Iterator<Item = MemorySection>,
    plan: &mut ImportPlan,
) {
    let names = (1..).map(|number| match number {
        1 => format!("{stem}.md"),
        number => format!("{stem}-{number}.md"),
    });
    // If a path cannot be checked here, the later write reports the reason.
    let mut free = names.filter(|path| dir.stat(path).map_or(true, |stat| stat.is_none()));
    let begun = plan.files.len();
    for section in sections {
        match plan.files[begun..].last_mut() {
            Some(file) if file.text.len() + section.text.len() < FULL => {
                file.text.push('\n');
                file.text.push_str(&section.text);
                file.memories += 1;
            }
            _ => plan.files.extend(free.next().map(|path| PlannedFile {
                path,
                text: format!("# {title}\n\n{}", section.text),
                memories: 1,
            })),
        }
    }
}
