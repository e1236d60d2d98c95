//! Plan of an import: files for memories that the workspace lacks.

use std::collections::{BTreeMap, HashSet};

use hippo_fs::{FileKind, WorkspaceDir};
use hippo_session::import::{Memory, MemorySection, hashes, section};
use hippo_text::source::SourceRules;
use hippo_types::time::{DAY_MS, Date, Timestamp, is_far_ahead};
use hippo_types::transcript::ExportProgram;
use jiff::tz::TimeZone;

use super::{ImportReport, NewFile};

/// Maximum size of a new file in bytes. Further memories are written to another file.
const FULL: usize = 4 << 20;
/// Maximum size in bytes of a memory file that is searched for marks of imported memories.
const LOOKED_AT: u64 = 64 << 20;
/// The name of the file for memories without a date.
const UNDATED: &str = "undated";

/// Selects the new memories, and adds the files for these memories to the report.
pub(super) fn add_files(
    report: &mut ImportReport,
    dir: &WorkspaceDir,
    program: ExportProgram,
    memories: &[Memory],
) {
    let mut known = imported_hashes(dir);
    let mut days: BTreeMap<String, Vec<(Option<Timestamp>, MemorySection)>> = BTreeMap::new();
    let today = jiff::Zoned::now().date();
    for memory in memories {
        let section = section(program, memory);
        if !known.insert(section.hash.clone()) {
            report.known += 1;
            continue;
        }
        report.redacted += u64::from(section.redacted);
        report.flagged += u64::from(section.flagged);
        let day = memory.created.and_then(|created| plausible_day(created, today));
        let day = day.map_or_else(|| UNDATED.to_owned(), |day| day.to_string());
        days.entry(day).or_default().push((memory.created, section));
    }
    for (day, mut sections) in days {
        // The oldest memories come first. The sort is stable, so memories of the same time keep the order of the
        // export.
        sections.sort_by_key(|(created, _)| *created);
        let title = match day.as_str() {
            UNDATED => format!("Imported from {program}"),
            day => day.to_owned(),
        };
        let stem = format!("memory/imported/{program}/{day}");
        let mut names = std::iter::once(format!("{stem}.md"))
            .chain((2..).map(|number| format!("{stem}-{number}.md")))
            // If a path cannot be checked here, writing the file will report the reason.
            .filter(|path| dir.stat(path).map_or(true, |stat| stat.is_none()));
        let begun = report.files.len();
        for (_, section) in sections {
            match report.files[begun..].last_mut() {
                Some(file) if file.text.len() + section.text.len() < FULL => {
                    file.text.push('\n');
                    file.text.push_str(&section.text);
                    file.memories += 1;
                }
                _ => report.files.extend(names.next().map(|path| NewFile {
                    path,
                    text: format!("# {title}\n\n{}", section.text),
                    memories: 1,
                })),
            }
        }
    }
}

/// Returns the local day, unless it is far in the future or before the second day of 1970, which is the date of a clock
/// that was never set.
fn plausible_day(created: Timestamp, today: Date) -> Option<Date> {
    let moment = jiff::Timestamp::from_millisecond(created.0).ok()?;
    let day = TimeZone::system().to_datetime(moment).date();
    (created.0 >= DAY_MS && !is_far_ahead(today, day)).then_some(day)
}

/// Returns the hashes in the marks of imported memories, from all files of the agent layout.
fn imported_hashes(dir: &WorkspaceDir) -> HashSet<String> {
    let rules = SourceRules::new(&[], &[]).expect("rules without patterns are valid");
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
                FileKind::Folder if rules.may_contain(&path) && rules.may_contain_selected(&path) => {
                    folders.push(path)
                }
                FileKind::File if rules.is_source(&path) && rules.is_selected(&path) => {
                    let bytes = dir.read_source(&path, LOOKED_AT).unwrap_or_default();
                    found.extend(hashes(&bytes));
                }
                _ => {}
            }
        }
    }
    found
}
