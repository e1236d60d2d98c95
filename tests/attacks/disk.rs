//! Possible disk states after a power failure, from recorded system calls.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use hippod_tests::Dice;

use crate::record::{Call, Change};

/// Number of bytes that a disk writes atomically.
const SECTOR: usize = 512;

/// A change of a file's content. It applies to the file even if the file is renamed.
enum Data {
    Bytes { at: usize, bytes: Vec<u8> },
    Length(usize),
}

/// A change of a name in a folder.
enum Name {
    /// Creates a name for the file with this number, or for a folder if the number is `None`.
    Put(PathBuf, Option<usize>),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
    Exchange(PathBuf, PathBuf),
}

enum Step {
    Data(usize, Data),
    Name(Name),
    SyncFile(usize),
    /// Sync of a folder: all name changes before this step become durable. The contents of files do not.
    SyncNames,
    SyncAll,
}

/// The file number of each path, or `None` for a folder.
type Names = BTreeMap<PathBuf, Option<usize>>;

/// The initial state of a disk and all later changes.
pub struct Disk {
    below: Vec<PathBuf>,
    names: Names,
    files: Vec<Vec<u8>>,
    /// Each step, with the number of the system call that caused it.
    steps: Vec<(usize, Step)>,
    /// System calls that could not be parsed.
    pub unknown: Vec<String>,
}

impl Disk {
    /// Creates a disk with the current contents of these folders.
    pub fn now(below: &[PathBuf]) -> Self {
        let mut disk = Self {
            below: below.to_vec(),
            names: Names::new(),
            files: Vec::new(),
            steps: Vec::new(),
            unknown: Vec::new(),
        };
        for folder in below {
            disk.read(folder);
        }
        disk
    }

    fn read(&mut self, folder: &Path) {
        self.names.insert(folder.to_path_buf(), None);
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                self.read(&entry.path());
            } else if kind.is_file() && !is_left_out(&entry.path()) {
                self.names.insert(entry.path(), Some(self.files.len()));
                self.files.push(std::fs::read(entry.path()).unwrap());
            }
        }
    }

    /// Appends the effects of the calls. Each name refers to the file that has the name at the time of the call.
    pub fn follow(&mut self, calls: &[Call]) {
        let mut names = self.names.clone();
        let mut lengths: Vec<usize> = self.files.iter().map(Vec::len).collect();
        let mut opened: HashMap<i64, (usize, bool)> = HashMap::new();
        for (number, call) in calls.iter().enumerate() {
            let before = self.steps.len();
            let mut steps = Vec::new();
            self.step(&call.change, &names, &mut lengths, &mut opened, &mut steps);
            self.steps.extend(steps.into_iter().map(|step| (number, step)));
            for (_, step) in &self.steps[before..] {
                if let Step::Name(name) = step {
                    rename(&mut names, name);
                }
            }
        }
    }

    fn step(
        &mut self,
        change: &Change,
        names: &Names,
        lengths: &mut Vec<usize>,
        opened: &mut HashMap<i64, (usize, bool)>,
        steps: &mut Vec<Step>,
    ) {
        let is_ours =
            |path: &Path| self.below.iter().any(|folder| path.starts_with(folder)) && !is_left_out(path);
        let file = |path: &Path| names.get(path).copied().flatten();
        match change {
            Change::Open {
                fd,
                path,
                made,
                cut,
                append,
            } if is_ours(path) => {
                opened.insert(*fd, (0, *append));
                match file(path) {
                    Some(file) if *cut => {
                        lengths[file] = 0;
                        steps.push(Step::Data(file, Data::Length(0)));
                    }
                    None if *made => {
                        let new = lengths.len();
                        lengths.push(0);
                        self.files.push(Vec::new());
                        steps.push(Step::Name(Name::Put(path.clone(), Some(new))));
                    }
                    _ => {}
                }
            }
            Change::Write { fd, path, at, bytes } if is_ours(path) => {
                let Some(file) = file(path) else { return };
                let (place, append) = opened.entry(*fd).or_default();
                let begin = match at {
                    Some(at) => usize::try_from(*at).unwrap(),
                    None if *append => lengths[file],
                    None => *place,
                };
                if at.is_none() {
                    *place = begin + bytes.len();
                }
                lengths[file] = lengths[file].max(begin + bytes.len());
                let bytes = bytes.clone();
                steps.push(Step::Data(file, Data::Bytes { at: begin, bytes }));
            }
            Change::Seek { fd, to } => {
                opened.entry(*fd).or_default().0 = usize::try_from(*to).unwrap();
            }
            Change::Resize { path, length } if is_ours(path) => {
                let Some(file) = file(path) else { return };
                lengths[file] = usize::try_from(*length).unwrap();
                steps.push(Step::Data(file, Data::Length(lengths[file])));
            }
            Change::Rename {
                from,
                to,
                exchange: true,
            } if is_ours(to) => {
                steps.push(Step::Name(Name::Exchange(from.clone(), to.clone())));
            }
            Change::Rename { from, to, .. } if is_ours(to) => {
                steps.push(Step::Name(Name::Rename(from.clone(), to.clone())));
            }
            Change::Link { from, to } if is_ours(to) => {
                steps.push(Step::Name(Name::Put(to.clone(), file(from))));
            }
            Change::Remove { path } if is_ours(path) => steps.push(Step::Name(Name::Remove(path.clone()))),
            Change::Folder { path } if is_ours(path) => steps.push(Step::Name(Name::Put(path.clone(), None))),
            Change::Sync { path } if is_ours(path) => {
                steps.push(file(path).map_or(Step::SyncNames, Step::SyncFile));
            }
            Change::SyncAll => steps.push(Step::SyncAll),
            Change::Unknown(text) => self.unknown.push(text.clone()),
            _ => {}
        }
    }

    /// Returns the content of each file after all calls, without a power failure.
    pub fn whole(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.image(usize::MAX, &mut |_| usize::MAX, &mut |_| Fate::Done)
    }

    /// Returns a possible state of the disk after a power failure just after call number `cut`. Name changes are
    /// applied in order, at least up to the last sync. Each write that was not synced is complete, lost or torn.
    pub fn after_power_cut(&self, cut: usize, dice: &mut Dice) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut fates = Dice::of(dice.below(1 << 40) as u64);
        let mut journal = |names: std::ops::Range<usize>| names.start + dice.below(names.len() + 1);
        let mut fate = |length: usize| match fates.below(4) {
            0 => Fate::Lost,
            1 if length > SECTOR => Fate::Torn(fates.below(1 << 40) as u64),
            _ => Fate::Done,
        };
        self.image(cut, &mut journal, &mut fate)
    }

    /// Returns the content of each file by path. `journal` selects the last name change that is applied. `fate`
    /// selects the outcome of each write.
    fn image(
        &self,
        cut: usize,
        journal: &mut dyn FnMut(std::ops::Range<usize>) -> usize,
        fate: &mut dyn FnMut(usize) -> Fate,
    ) -> BTreeMap<PathBuf, Vec<u8>> {
        let upto = self.steps.partition_point(|(call, _)| *call <= cut);
        let steps = &self.steps[..upto];
        let mut synced: HashMap<usize, usize> = HashMap::new();
        let (mut all, mut names_synced) = (0, 0);
        for (at, (_, step)) in steps.iter().enumerate() {
            match step {
                Step::SyncFile(file) => drop(synced.insert(*file, at)),
                Step::SyncAll => all = at,
                Step::SyncNames => {}
                _ => continue,
            }
            names_synced = at;
        }
        let written = journal(names_synced..upto);
        let (mut names, mut files) = (self.names.clone(), self.files.clone());
        for (at, (_, step)) in steps.iter().enumerate() {
            match step {
                Step::Name(name) if at < written => rename(&mut names, name),
                Step::Data(file, data) => {
                    let durable = at < all || synced.get(file).is_some_and(|synced| at < *synced);
                    let fate = if durable { Fate::Done } else { fate(data.len()) };
                    data.apply(&mut files[*file], &fate);
                }
                _ => {}
            }
        }
        let content = |(path, file): (PathBuf, Option<usize>)| Some((path, files[file?].clone()));
        names.into_iter().filter_map(content).collect()
    }

    pub fn calls(&self) -> usize {
        self.steps.last().map_or(0, |(call, _)| *call + 1)
    }

    /// Returns the numbers of the system calls that make data durable or change a name.
    pub fn turning_points(&self) -> Vec<usize> {
        let is_one = |step: &Step| !matches!(step, Step::Data(..));
        let mut all: Vec<usize> = self
            .steps
            .iter()
            .filter(|(_, step)| is_one(step))
            .map(|(call, _)| *call)
            .collect();
        all.dedup();
        all
    }
}

/// Outcome of a write that was not synced.
enum Fate {
    Done,
    Lost,
    /// Only some sectors are written. The seed selects these sectors.
    Torn(u64),
}

impl Data {
    fn len(&self) -> usize {
        match self {
            Self::Bytes { bytes, .. } => bytes.len(),
            Self::Length(_) => 0,
        }
    }

    fn apply(&self, file: &mut Vec<u8>, fate: &Fate) {
        match (self, fate) {
            (_, Fate::Lost) => {}
            (Self::Length(length), _) => file.resize(*length, 0),
            (Self::Bytes { at, bytes }, Fate::Done) => put(file, *at, bytes),
            (Self::Bytes { at, bytes }, Fate::Torn(seed)) => {
                let mut dice = Dice::of(*seed);
                for (number, sector) in bytes.chunks(SECTOR).enumerate() {
                    if dice.below(2) == 0 {
                        put(file, at + number * SECTOR, sector);
                    }
                }
            }
        }
    }
}

fn put(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if file.len() < at + bytes.len() {
        file.resize(at + bytes.len(), 0);
    }
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

fn rename(names: &mut Names, name: &Name) {
    match name {
        Name::Put(path, file) => drop(names.insert(path.clone(), *file)),
        Name::Remove(path) => drop(names.remove(path)),
        Name::Exchange(one, other) => {
            let (of_one, of_other) = (names.remove(one), names.remove(other));
            names.extend(of_one.map(|file| (other.clone(), file)));
            names.extend(of_other.map(|file| (one.clone(), file)));
        }
        Name::Rename(from, to) => {
            let moved: Vec<PathBuf> = names
                .keys()
                .filter(|path| path.starts_with(from))
                .cloned()
                .collect();
            for path in moved {
                let file = names.remove(&path).flatten();
                let rest = path.strip_prefix(from).unwrap();
                let new = if rest.as_os_str().is_empty() {
                    to.clone()
                } else {
                    to.join(rest)
                };
                names.insert(new, file);
            }
        }
    }
}

/// Returns `true` for files that are not part of the state: logs, locks, canaries, and the shared-memory files of
/// databases, which SQLite rebuilds.
fn is_left_out(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with("-shm") || name == "log" || name.ends_with(".lock") || name == "canary"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record;

    /// Returns the contents that a file can have after a power failure. Before the failure, a draft is written,
    /// synced if `sync` is true, and renamed over the file.
    fn contents(sync: bool) -> std::collections::BTreeSet<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let (draft, file) = (folder.path().join("draft"), folder.path().join("file"));
        std::fs::write(&file, "old").unwrap();
        let mut disk = Disk::now(&[folder.path().to_path_buf()]);
        let hex = |path: &Path| -> String {
            let bytes = path.to_str().unwrap().bytes();
            bytes.map(|byte| format!("\\x{byte:02x}")).collect()
        };
        let (here, draft, file_is) = (hex(folder.path()), hex(&draft), hex(&file));
        let synced = format!("7 1.3 fsync(5<{draft}>) = 0\n");
        let text = format!(
            "7 1.0 openat(AT_FDCWD<{here}>, \"{draft}\", O_WRONLY|O_CREAT|O_CLOEXEC, 0666) = 5<{draft}>\n\
             7 1.1 write(5<{draft}>, \"\\x6e\\x65\\x77\", 3 <unfinished ...>\n8 1.1 fsync(9<{here}>) = 0\n\
             7 1.2 <... write resumed>) = 3\n{}\
             7 1.4 renameat2(AT_FDCWD<{here}>, \"{draft}\", AT_FDCWD<{here}>, \"{file_is}\", 0) = 0\n",
            if sync { &synced } else { "" }
        );
        let calls = record::read(&text);
        assert_eq!(calls.len(), if sync { 5 } else { 4 });
        disk.follow(&calls);
        assert_eq!(disk.whole()[&file], b"new");
        let mut dice = Dice::of(1);
        let states = (0..200).map(|_| disk.after_power_cut(calls.len(), &mut dice)[&file].clone());
        states.collect()
    }

    #[test]
    fn a_rename_may_precede_its_data_unless_a_sync_is_between() {
        let all = |states: &[&str]| states.iter().map(|state| state.as_bytes().to_vec()).collect();
        assert_eq!(contents(false), all(&["", "new", "old"]));
        assert_eq!(contents(true), all(&["new", "old"]));
    }
}
