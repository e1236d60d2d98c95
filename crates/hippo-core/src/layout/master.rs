//! How does the index file come to hold the chosen entries, with everything else as it was?
//!
//! The file is laid out until laying out changes nothing any more: then doing it again changes nothing either. What comes
//! in takes room for its heading and for its marks beyond its own lines, so one look does not always settle it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::Wanted;
use super::lists::{self, Lists};
use crate::consolidation::{Place, Record};
use crate::entry::{Entry, EntryId};
use crate::hierarchy::{self, Item, Limits, Selection};
use crate::index_file::{IndexDiagnostic, IndexFile, IndexProblem, IndexSection, as_written, written_text};
use crate::source::SourceKind;
use crate::tokens;

/// Times that the file is laid out with entries coming and going.
const OPEN: usize = 5;
/// Times in all: in the later ones entries only go, which comes to an end.
const TIMES: usize = 12;

/// An entry that belongs into a file of the index.
pub(super) struct Live<'a> {
    pub record: &'a Record,
    /// As filed, with moments of full precision.
    pub filed: Entry,
    /// As it comes back from a file.
    pub written: Entry,
    /// As it stands in a file that hippod alone writes.
    text: OnceCell<String>,
}

/// The entries that are in the index, by their ids as written.
pub(super) type All<'a> = BTreeMap<EntryId, Live<'a>>;

/// The index file as it is to be, and where the entries are.
pub(super) struct Master {
    pub bytes: Vec<u8>,
    pub selection: Selection,
    pub items: Vec<Item>,
}

/// Entries that are filed, neither archived nor forgotten.
pub(super) fn live<'a>(wanted: &Wanted<'a>) -> All<'a> {
    let mut all = All::new();
    for (id, record) in wanted.records {
        if wanted.forgotten.contains(id) || matches!(record.place, Place::Archive(_)) {
            continue;
        }
        if let Some(filed) = record.as_filed() {
            let written = as_written(&filed, &wanted.settings);
            all.entry(written.id.clone()).or_insert_with(|| Live {
                record,
                filed,
                written,
                text: OnceCell::new(),
            });
        }
    }
    all
}

/// Lays the index file out.
pub(super) fn lay_out(before: &[u8], all: &All<'_>, wanted: &Wanted<'_>) -> Master {
    let lists = Lists::of(all, wanted);
    let laid = [true, false]
        .into_iter()
        .find_map(|moving| settled(before, all, &lists, wanted, moving));
    let mut laid = laid.unwrap_or_else(|| as_it_is(before, all, wanted));
    if laid.bytes != before {
        let mut same = IndexFile::parse(before, wanted.settings);
        same.set_header(laid.selection.master.len(), wanted.now);
        if same.to_bytes() == laid.bytes {
            laid.bytes = before.to_vec();
        }
    }
    laid
}

/// The file that does not change any more when it is laid out.
fn settled(before: &[u8], all: &All<'_>, lists: &Lists, wanted: &Wanted<'_>, moving: bool) -> Option<Master> {
    let mut bytes = before.to_vec();
    for time in 0..TIMES {
        let next = once(&bytes, all, lists, wanted, time < OPEN, moving);
        if next.bytes == bytes {
            return Some(next);
        }
        bytes = next.bytes;
    }
    None
}

/// The file left alone: somebody wrote marks into it that make every edit mean something else.
fn as_it_is(before: &[u8], all: &All<'_>, wanted: &Wanted<'_>) -> Master {
    let items = Standing::of(&IndexFile::parse(before, wanted.settings), all, wanted).items;
    let all_of_it = Limits {
        max_tokens: usize::MAX,
        max_entries: usize::MAX,
        fill: 0.0,
        other_tokens: 0,
    };
    Master {
        bytes: before.to_vec(),
        selection: hierarchy::select(&items, &all_of_it),
        items: in_tokens(items),
    }
}

/// What stands in a file.
struct Standing {
    /// Sections of the entries in it that are hippod's to change.
    sections: BTreeMap<EntryId, Vec<String>>,
    /// Those of them that state no id.
    unnamed: BTreeSet<EntryId>,
    /// All entries, with their sizes in bytes.
    items: Vec<Item>,
    /// Bytes of everything else.
    other: usize,
}

impl Standing {
    fn of(file: &IndexFile, all: &All<'_>, wanted: &Wanted<'_>) -> Self {
        let mut sections = BTreeMap::new();
        let mut unnamed = BTreeSet::new();
        let mut there: BTreeMap<EntryId, (usize, bool)> = BTreeMap::new();
        let mut other = file.to_bytes().len();
        let copied: BTreeSet<&EntryId> = file.diagnostics().iter().filter_map(copied).collect();
        for placed in file.placed_entries() {
            let (indexed, id) = (placed.indexed, &placed.indexed.entry.id);
            let known =
                all.contains_key(id) || wanted.records.contains_key(id) || wanted.forgotten.contains(id);
            if !(known || indexed.states_id()) {
                // Lines of a person that nobody took for an entry so far.
                continue;
            }
            if !indexed.states_id() {
                unnamed.insert(id.clone());
            }
            other -= placed.span.len();
            let kept = indexed.has_other_content() || copied.contains(id);
            there.insert(id.clone(), (placed.span.len(), kept));
            sections.insert(
                id.clone(),
                placed.section.into_iter().map(str::to_owned).collect(),
            );
        }
        let items = all.iter().map(|(id, live)| {
            let place = there.get(id);
            Item {
                id: id.clone(),
                strength: live.written.strength,
                hits: live.written.hits,
                priority: live.written.priority,
                group: live.record.group.clone(),
                core: is_core(&live.written),
                date: live.written.created.date(wanted.settings.offset_seconds),
                tokens: place.map_or_else(|| live.size(wanted), |(size, _)| *size),
                in_master: place.is_some(),
                // What a person wrote into an entry besides its fields, or copied, has no place elsewhere.
                annotated: place.is_some_and(|(_, kept)| *kept),
            }
        });
        Self {
            items: items.collect(),
            sections,
            unnamed,
            other,
        }
    }
}

impl Live<'_> {
    /// Its lines below a heading of level 2.
    pub fn text(&self, wanted: &Wanted<'_>) -> &str {
        self.text
            .get_or_init(|| written_text(&self.written, 2, "\n", &wanted.settings))
    }

    /// Bytes that it takes where it is new: two levels further down, with an empty line before the next one.
    fn size(&self, wanted: &Wanted<'_>) -> usize {
        self.text(wanted).len() + 3
    }
}

/// Whether an entry points into a file of the workspace's root.
fn is_core(entry: &Entry) -> bool {
    let mut paths = entry.pointers.iter().map(|pointer| pointer.path.as_str());
    paths.any(|path| SourceKind::of(path) == SourceKind::Root)
}

/// The id of an entry of which there is a second copy in the file.
fn copied(found: &IndexDiagnostic) -> Option<&EntryId> {
    match &found.problem {
        IndexProblem::DuplicateId(id) => Some(id),
        _ => None,
    }
}

/// Sizes in tokens, as `meta.json` tells them.
fn in_tokens(items: Vec<Item>) -> Vec<Item> {
    let items = items.into_iter().map(|item| Item {
        tokens: tokens::of_bytes(item.tokens),
        ..item
    });
    items.collect()
}

/// Lays the file out as far as can be seen from what stands in it. Unless it is `open`, nothing comes in.
fn once(bytes: &[u8], all: &All<'_>, lists: &Lists, wanted: &Wanted<'_>, open: bool, moving: bool) -> Master {
    let mut file = if bytes.trim_ascii().is_empty() {
        IndexFile::skeleton(wanted.now, wanted.settings)
    } else {
        IndexFile::parse(bytes, wanted.settings)
    };
    lists.write(&mut file);
    let standing = Standing::of(&file, all, wanted);
    // Bytes: what is rounded for each entry would add up to much.
    let mut limits = Limits {
        max_tokens: wanted.limits.max_tokens.saturating_mul(4),
        other_tokens: standing.other,
        fill: if open { wanted.limits.fill } else { 0.0 },
        ..wanted.limits
    };
    let mut more = 0;
    loop {
        let selection = hierarchy::select(&standing.items, &limits);
        let made = made(bytes, file.clone(), &standing, &selection, all, wanted, moving);
        let over = made.len().saturating_sub(limits.max_tokens);
        let mut inside = standing
            .items
            .iter()
            .filter(|item| selection.master.contains(&item.id));
        if over == 0 || inside.all(|item| item.annotated) {
            return Master {
                bytes: made,
                selection,
                items: in_tokens(standing.items),
            };
        }
        // Twice as much each time, lest this goes on byte by byte.
        more = over.max(more * 2);
        limits.other_tokens = limits.other_tokens.saturating_add(more);
    }
}

/// The file with the selected entries.
fn made(
    bytes: &[u8],
    mut file: IndexFile,
    standing: &Standing,
    selection: &Selection,
    all: &All<'_>,
    wanted: &Wanted<'_>,
    moving: bool,
) -> Vec<u8> {
    let stays = |id: &EntryId| selection.master.contains(id);
    let gone: BTreeSet<EntryId> = standing
        .sections
        .keys()
        .filter(|id| !stays(id))
        .cloned()
        .collect();
    let fixed = fixed(&file);
    let moves: Vec<(&EntryId, Vec<String>)> = standing
        .sections
        .iter()
        .filter(|(id, _)| moving && stays(id) && !fixed.contains(*id))
        .filter_map(|(id, section)| Some((id, moves(section, all.get(id)?.record)?)))
        .collect();
    if !(gone.is_empty() && moves.is_empty()) {
        for live in standing
            .unnamed
            .iter()
            .filter(|id| stays(id))
            .filter_map(|id| all.get(id))
        {
            // It is there: this is what stands in the file.
            let _ = file.update_with_id(&live.filed);
        }
    }
    file.remove_all(&gone);
    let differs = |there: &Entry| all.get(&there.id).filter(|live| live.written != *there);
    let differing: Vec<&Live<'_>> = file
        .entries()
        .filter(|there| stays(&there.entry.id))
        .filter_map(|there| differs(&there.entry))
        .collect();
    for live in differing {
        let _ = file.update(&live.filed);
    }
    for (id, to) in moves {
        let to: Vec<&str> = to.iter().map(String::as_str).collect();
        let _ = file.relocate(id, &to);
    }
    let new = selection
        .master
        .iter()
        .filter(|id| !standing.sections.contains_key(*id));
    let mut new: Vec<&Live<'_>> = new.filter_map(|id| all.get(id)).collect();
    // What matters most comes first in its section.
    new.sort_by(|a, b| {
        let (a, b) = (&a.written, &b.written);
        let order = b
            .priority
            .cmp(&a.priority)
            .then(b.strength.total_cmp(&a.strength));
        order.then(b.created.cmp(&a.created)).then(a.id.cmp(&b.id))
    });
    for live in new {
        let section = section_of(live.record);
        let section: Vec<&str> = section.iter().map(String::as_str).collect();
        // It is not there: it was looked for a moment ago.
        let _ = file.insert(&live.filed, &section);
    }
    lists::write_meta(&mut file, selection, all, wanted);
    let made = file.to_bytes();
    if made == bytes {
        return made;
    }
    file.set_header(selection.master.len(), wanted.now);
    file.to_bytes()
}

/// Entries that cannot be moved: a mark in them would close one that was left open somewhere else.
fn fixed(file: &IndexFile) -> BTreeSet<EntryId> {
    let open = |found: &IndexDiagnostic| {
        matches!(
            found.problem,
            IndexProblem::OpenFence | IndexProblem::OpenGenerated
        )
    };
    if !file.diagnostics().iter().any(open) {
        return BTreeSet::new();
    }
    let marked = file.entries().filter(|there| {
        let text = String::from_utf8_lossy(there.bytes());
        ["```", "~~~", "hippod"].iter().any(|mark| text.contains(mark))
    });
    marked.map(|there| there.entry.id.clone()).collect()
}

/// Where an entry belongs.
pub(super) fn section_of(record: &Record) -> Vec<String> {
    // As it reads in a heading.
    let group: Vec<&str> = record.group.split_whitespace().collect();
    match record.place {
        Place::Queue(_) => vec![IndexSection::DecayQueue.title().to_owned()],
        Place::Index | Place::Archive(_) if group.is_empty() => {
            vec![IndexSection::ByTopic.title().to_owned()]
        }
        Place::Index | Place::Archive(_) => vec![IndexSection::ByTopic.title().to_owned(), group.join(" ")],
    }
}

/// Where an entry that stands in `section` is to be moved. A section that a person made for it is left alone.
fn moves(section: &[String], record: &Record) -> Option<Vec<String>> {
    let to = section_of(record);
    let same = section.len() == to.len()
        && section
            .iter()
            .zip(&to)
            .all(|(is, to)| is.to_lowercase() == to.to_lowercase());
    let known = section.first().and_then(|title| IndexSection::from_title(title));
    let ours = match known {
        Some(IndexSection::DecayQueue) => true,
        Some(IndexSection::ByTopic) => section.len() <= 2 || matches!(record.place, Place::Queue(_)),
        _ => matches!(record.place, Place::Queue(_)),
    };
    (ours && !same).then_some(to)
}
