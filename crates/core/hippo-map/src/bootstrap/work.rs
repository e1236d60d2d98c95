//! Creation of entries from units.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::topic::{self, IdAllocator};
use super::units::{self, MemoryUnit};
use super::{BootstrapEntry, BootstrapSettings, MemoryFile, group, priority};
use hippo_redact::without_secrets;
use hippo_text::chunk::{Document, Section, Speaker, chunk_text};
use hippo_text::gist::alone::is_clear;
use hippo_text::gist::headings::{HeadingStats, subject};
use hippo_text::gist::line;
use hippo_text::gist::phrases::{self, Phrase};
use hippo_text::gist::summary;
use hippo_text::gist::words::WordCounts;
use hippo_text::instruction::is_instruction;
use hippo_text::source::{SourceKind, date_in_name};
use hippo_text::speaker;
use hippo_types::entry::{Entry, EntryOrigin, EntryPriority, Pointer};
use hippo_types::time::{Date, Timestamp};

/// Maximum number of tags of an entry.
const TAGS: usize = 6;
/// Maximum number of sections to which an entry points. An entry about more sections points to the whole file.
const POINTERS: usize = 6;
/// Maximum number of bytes of headings in the topic of a daily log.
const DAY_TITLES: usize = 44;
/// Number of chunks in a block. When the rarity of a word is computed, the word counts once per block.
const BLOCK: usize = 12;
/// Milliseconds per day.
const DAY: i64 = 86_400_000;
/// Maximum age, in days, at which a new entry starts on the decay curve, so that the entries of a first index are not
/// weak. After 21 days, a strength of 0.30 remains, which is the minimum for an answer in v1 §6.3.
const OLDEST_START: i64 = 21;

/// State of a workspace while its entries are created.
pub(super) struct EntryBuilder<'w> {
    files: &'w [&'w MemoryFile<'w>],
    settings: &'w BootstrapSettings,
    words: WordCounts,
    headings: HeadingStats,
    groups: group::Groups,
    /// Names of speakers in lower case; `name_ids` has the ids of their stems.
    names: BTreeSet<String>,
    name_ids: HashSet<u32>,
    ids: IdAllocator,
}

impl<'w> EntryBuilder<'w> {
    /// Reads all files once to determine the rarity of each word.
    pub fn new(files: &'w [&'w MemoryFile<'w>], settings: &'w BootstrapSettings) -> Self {
        let mut words = WordCounts::new();
        let mut names = BTreeSet::new();
        for file in files {
            let mut section = None;
            for (number, chunk) in file.document.chunks.iter().enumerate() {
                if number % BLOCK == 0 || section != Some(chunk.section) {
                    words.begin_block();
                    section = Some(chunk.section);
                }
                let text = chunk_text(file.bytes, chunk);
                if chunk.speaker == Speaker::Other
                    && let Some(name) = speaker::name(&text)
                {
                    names.extend(name.split(' ').map(str::to_lowercase));
                }
                words.count(&text);
            }
        }
        let mut name_ids = HashSet::new();
        for name in &names {
            words.for_each_word(name, |word| _ = name_ids.insert(word.id));
        }
        let title = |section: &'w Section| section.title.as_str();
        let titles = files
            .iter()
            .map(|file| file.document.sections.iter().map(title).collect());
        Self {
            files,
            settings,
            words,
            headings: HeadingStats::count(titles),
            groups: group::Groups::from_paths(files.iter().map(|file| (file.path, file.kind))),
            names,
            name_ids,
            ids: IdAllocator::new(&settings.taken),
        }
    }

    /// Creates at most `most` entries from the files.
    pub fn entries(&mut self, most: usize) -> Vec<BootstrapEntry> {
        if most == 0 {
            return Vec::new();
        }
        let nothing = Document::default();
        let weighted = self.files.iter().map(|file| match file.known {
            true => (&nothing, 0.0),
            false => (file.document, source_weight(file.kind)),
        });
        let documents: Vec<(&Document, f32)> = weighted.collect();
        // The first entry of each file is about the whole file, so that every file is in the index.
        let is_filled = |(document, _): &&(&Document, f32)| !document.chunks.is_empty();
        let files = documents.iter().filter(is_filled).count();
        let mut units = units::split_into_units(&documents, most.saturating_sub(files).max(files).min(most));
        let mut whole: Vec<MemoryUnit> = Vec::new();
        for unit in &units {
            match whole.last_mut().filter(|file| file.file == unit.file) {
                Some(file) => (file.to, file.mass) = (unit.to, file.mass + unit.mass),
                None => whole.push(*unit),
            }
        }
        units.retain(|unit| !whole.contains(unit));
        let mut before: Option<(usize, Option<u32>)> = None;
        let mut entries = Vec::with_capacity(whole.len() + units.len());
        // Position, in `entries`, of each file's entry.
        let mut of_file: HashMap<usize, usize> = HashMap::new();
        for unit in whole {
            if let Some(new) = self.entry(unit, None, "") {
                of_file.insert(unit.file, entries.len());
                entries.push(new);
            }
        }
        for mut unit in units {
            // Stop at the limit: if some files have no unit, other files have more units, and there can be too many in
            // total.
            if entries.len() >= most {
                break;
            }
            let document = self.files[unit.file].document;
            // Skip the text directly below the file's title: the entry of the whole file covers that text.
            let title = title_section(document);
            let below_title = |at: &usize| title == Some(document.chunks[*at].section);
            let Some(from) = (unit.from..unit.to).find(|at| !below_title(at)) else {
                continue;
            };
            unit.from = from;
            let leads = units::lead_sections(document, unit);
            let key = (unit.file, leads.first().copied());
            let part = before == Some(key);
            before = Some((unit.file, leads.last().copied()));
            let of_file = of_file.get(&unit.file).copied();
            let file_summary = of_file.map_or_else(String::new, |at| entries[at].entry.summary.clone());
            let mut new = self.entry(unit, Some((&leads, part)), &file_summary);
            if new.is_none() && !file_summary.is_empty() {
                new = self.entry(unit, Some((&leads, part)), "");
                // The section has no sentence other than the file's summary. The section's entry gets this summary, and
                // the entry of the whole file loses it.
                if let Some(at) = of_file.filter(|_| new.is_some()) {
                    entries[at].entry.summary.clear();
                }
            }
            entries.extend(new);
        }
        entries
    }

    /// Creates the entry of a whole file, or of some sections. For a whole file, `sections` is `None`. Otherwise,
    /// `sections` contains the outermost sections, and `true` if the unit continues a section of the previous unit. The
    /// entry's summary differs from `file_summary`.
    fn entry(
        &mut self,
        unit: MemoryUnit,
        sections: Option<(&[u32], bool)>,
        file_summary: &str,
    ) -> Option<BootstrapEntry> {
        let file = self.files[unit.file];
        let mut lines = line::lines(file.document, file.bytes, unit.from, unit.to);
        let is_front_matter = sections.is_some() && unit.from == 0 && file.bytes.starts_with(b"---");
        let (leads, part) = sections.unwrap_or_default();
        let sections_of = |lead: &u32| file.document.sections.get(*lead as usize);
        let titled = leads
            .iter()
            .filter_map(sections_of)
            .filter(|section| section.level > 0);
        let titles = titled.map(|section| line::clean(&section.title));
        let mut titles: Vec<String> = titles.filter(|title| !title.is_empty()).collect();
        let rule = priority::infer_priority(&titles, &lines);
        titles.retain(|title| !is_instruction(title));
        let mut known = HashSet::new();
        titles.retain(|title| known.insert(title.clone()));
        let about = self.about(file);
        let heading = topic::compose_topic(
            &titles,
            about.as_deref(),
            matches!(file.kind, SourceKind::Project),
            |title| self.headings.is_meaningful(title, &self.names),
        );
        let heading = match (sections, file.kind) {
            (None, SourceKind::DailyLog) => self.day_topic(file),
            (None, _) => Some(about.unwrap_or_else(|| topic::file_name(file.path))),
            // The fields of the front matter are about the whole file.
            (Some(_), _) if is_front_matter => heading.or(about),
            (Some(_), _) => heading,
        };
        let hidden = line::remove_instructions(&mut lines);
        let ranked = phrases::choose_phrases(&mut self.words, &lines, &self.name_ids, TAGS + 3);
        let (tags, shown) = self.tags(heading.as_deref().unwrap_or_default(), &ranked);
        let summary = summary::extract_summary(&mut self.words, &lines, &shown, file_summary);
        let mut summary = line::or_mark(summary, hidden);
        if is_front_matter
            && let Some((field, value)) = summary.split_once(": ")
            && !field.contains(' ')
        {
            summary = value.to_owned();
        }
        if summary.is_empty() && sections.is_some() {
            return None;
        }
        // Without a meaningful heading, the summary is used as the topic. A summary that is unclear alone needs the heading.
        let unclear = heading.is_none() && !is_clear(&summary);
        let title = titles.first().map_or("", |title| subject(title));
        let named = Some(title).filter(|title| unclear && !title.is_empty());
        let named = named.and_then(|title| Some(format!("{}: {title}", date_in_name(file.path)?)));
        let heading = heading.or(named);
        let topic = heading.unwrap_or_else(|| topic::shorten(&summary));
        if topic == summary {
            summary.clear();
        }
        if topic.is_empty() {
            return None;
        }
        let created = self.created(file, leads);
        let hash = file.document.chunks.get(unit.from).map(|chunk| chunk.hash);
        let headings: Vec<&str> = titles.iter().map(String::as_str).collect();
        let title = headings.first().copied().unwrap_or_default();
        Some(BootstrapEntry {
            group: self.groups.group(file.path, file.kind, &headings),
            entry: Entry {
                id: self.ids.assign(file.path, title, hash.filter(|_| part)),
                topic,
                summary,
                pointers: self.pointers(file, leads),
                tags,
                priority: rule.map_or(EntryPriority::Normal, |rule| rule.priority),
                priority_rule: rule.map(|rule| rule.name.to_owned()),
                ..self.unused_entry(created)
            },
        })
    }

    /// Returns the topic of a daily log: its date and its first meaningful headings.
    fn day_topic(&self, file: &MemoryFile<'_>) -> Option<String> {
        let date = date_in_name(file.path)?.to_string();
        let marks = [' ', '—', '–', '-', ':'];
        let undated = |section: &Section| {
            let title = line::clean(&section.title).replace(&date, "");
            subject(title.trim_matches(marks)).to_owned()
        };
        let titles = file.document.sections.iter().map(undated);
        let titles = titles.filter(|title| !is_instruction(title));
        let mut shown = String::new();
        for title in titles.filter(|title| self.headings.is_meaningful(title, &self.names)) {
            if shown.len() + title.len() > DAY_TITLES {
                break;
            }
            shown.push_str(if shown.is_empty() { ": " } else { ", " });
            shown.push_str(&title);
        }
        Some(topic::shorten(&format!("{date}{shown}")))
    }

    /// Returns the title of a file or, failing that, the name from its path; `None` if neither is meaningful.
    fn about(&self, file: &MemoryFile<'_>) -> Option<String> {
        let title = file.document.title.as_deref().map(line::clean);
        let is_meaningful = |name: &String| self.headings.is_meaningful(name, &self.names);
        let title = title.filter(|title| is_meaningful(title) && !is_instruction(title));
        title.or_else(|| Some(topic::file_name(file.path)).filter(is_meaningful))
    }

    /// Returns tags with words that the topic lacks, and the ids of all words in the topic and the tags.
    fn tags(&mut self, topic: &str, phrases: &[Phrase]) -> (Vec<String>, HashSet<u32>) {
        let mut shown = HashSet::new();
        self.words.for_each_word(topic, |word| _ = shown.insert(word.id));
        let mut tags = Vec::new();
        for phrase in phrases {
            if tags.len() >= TAGS || phrase.ids.iter().all(|id| shown.contains(id)) {
                continue;
            }
            let tag = phrase.text.to_lowercase().replace([' ', ',', '|', '='], "-");
            shown.extend(&phrase.ids);
            tags.push(tag);
        }
        (tags, shown)
    }

    fn pointers(&self, file: &MemoryFile<'_>, leads: &[u32]) -> Vec<Pointer> {
        let of = |section: Option<String>| Pointer {
            path: file.path.to_owned(),
            section,
        };
        if leads.is_empty() || leads.len() > POINTERS {
            return vec![of(None)];
        }
        let mut pointers: Vec<Pointer> = Vec::new();
        for lead in leads {
            let section = file.document.sections.get(*lead as usize);
            let title = section.map(|section| &section.title);
            // If the heading contains a secret or reads like an instruction, the pointer leads to the whole file.
            let is_shown = |title: &&String| without_secrets(title) == **title && !is_instruction(title);
            let shown = title.filter(|title| !title.is_empty() && is_shown(title));
            let pointer = of(shown.cloned());
            if !pointers.contains(&pointer) {
                pointers.push(pointer);
            }
        }
        pointers
    }

    fn created(&self, file: &MemoryFile<'_>, leads: &[u32]) -> Timestamp {
        let mut above = leads.first().copied();
        let mut date: Option<Date> = None;
        while let Some(section) = above.and_then(|at| file.document.sections.get(at as usize)) {
            date = date.or(section.date);
            above = section.parent;
        }
        let date = date.or(file.document.front_matter.date);
        let date = date.or_else(|| date_in_name(file.path));
        let day = date.map(|date| Timestamp::start_of(date, self.settings.offset_seconds));
        day.unwrap_or(file.modified).min(self.settings.now)
    }

    /// Returns an entry without text and accesses. If `created` is long ago, the decay starts [`OLDEST_START`] days
    /// ago.
    fn unused_entry(&self, created: Timestamp) -> Entry {
        let oldest = self.settings.now.plus(-OLDEST_START * DAY);
        Entry {
            created,
            accessed: created,
            replayed_to: (created < oldest).then_some(oldest),
            strength: 1.0,
            origin: EntryOrigin::Auto,
            version: 1,
            ..Entry::default()
        }
    }
}

/// Returns the index of the section whose heading is the title of the document.
fn title_section(document: &Document) -> Option<u32> {
    let is_title = |section: &Section| section.level == 1 && Some(&section.title) == document.title.as_ref();
    let at = document.sections.iter().position(is_title)?;
    u32::try_from(at).ok()
}

/// Returns the weight of text from a kind of source. Distilled text has a higher weight than conversation.
const fn source_weight(kind: SourceKind) -> f32 {
    match kind {
        SourceKind::Root => 3.0,
        SourceKind::Knowledge | SourceKind::Project | SourceKind::Plan => 2.0,
        SourceKind::DailyLog | SourceKind::Other | SourceKind::Node(_) | SourceKind::Session => 1.0,
    }
}
