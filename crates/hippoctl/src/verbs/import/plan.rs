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

/// The creation time of a memory, if known, and its section.
type DatedSection = (Option<Timestamp>, MemorySection);

/// Selects the new memories, and adds the files for these memories to the report.
pub(super) fn add_files(
    report: &mut ImportReport,
    dir: &WorkspaceDir,
    program: ExportProgram,
    memories: &[Memory],
) {
    let mut known = imported_hashes(dir);
    let mut places: BTreeMap<(String, String), Vec<DatedSection>> = BTreeMap::new();
    let mut impossible = 0;
    let today = day_of(Timestamp(jiff::Timestamp::now().as_millisecond()));
    let name = program.name();
    let folder = format!("memory/imported/{name}");
    for memory in memories {
        let section = section(program, memory);
        if !known.insert(section.hash.clone()) {
            report.known += 1;
            continue;
        }
        report.redacted += u64::from(section.redacted);
        report.flagged += u64::from(section.flagged);
        // If the clock of the exporting machine was not set, the date is the first day of 1970. Such a date is ignored.
        let is_day = |(moment, day): &(Timestamp, Date)| moment.0 >= DAY_MS && !is_far_ahead(today, *day);
        let dated = memory.created.map(|moment| (moment, day_of(moment)));
        let place = match dated.filter(is_day) {
            Some((_, day)) => (format!("{folder}/{day}"), day.to_string()),
            None => {
                impossible += u64::from(dated.is_some());
                (format!("{folder}/undated"), format!("Imported from {name}"))
            }
        };
        places.entry(place).or_default().push((memory.created, section));
    }
    for ((stem, title), mut sections) in places {
        // The oldest memories are written first. The sort is stable, so memories of the same time keep the order of the
        // export.
        sections.sort_by_key(|(created, _)| *created);
        fill(
            report,
            dir,
            &stem,
            &title,
            sections.iter().map(|(_, section)| section),
        );
    }
    if impossible > 0 {
        report.notes.push(format!(
            "memories with a date before 1970, or a month or more in the future, are written without the \
             date: {impossible}"
        ));
    }
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

/// Returns the hashes in the marks of imported memories, from all memory files.
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

/// Distributes sections over new files with the names `STEM.md`, `STEM-2.md` and so on.
fn fill<'s>(
    report: &mut ImportReport,
    dir: &WorkspaceDir,
    stem: &str,
    title: &str,
    sections: impl Iterator<Item = &'s MemorySection>,
) {
    let names = (1..).map(|number| match number {
        1 => format!("{stem}.md"),
        number => format!("{stem}-{number}.md"),
    });
    // If a path cannot be checked here, writing the file will report the reason.
    let mut free = names.filter(|path| dir.stat(path).map_or(true, |stat| stat.is_none()));
    let begun = report.files.len();
    for section in sections {
        match report.files[begun..].last_mut() {
            Some(file) if file.text.len() + section.text.len() < FULL => {
                file.text.push('\n');
                file.text.push_str(&section.text);
                file.memories += 1;
            }
            _ => report.files.extend(free.next().map(|path| NewFile {
                path,
                text: format!("# {title}\n\n{}", section.text),
                memories: 1,
            })),
        }
    }
}
