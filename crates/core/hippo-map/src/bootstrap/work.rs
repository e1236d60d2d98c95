//! Creation of entries from units.

use std::collections::{BTreeSet, HashSet};

use super::topic::{self, IdAllocator, UnitNaming};
use super::units::{self, MemoryUnit};
use super::{BootstrapEntry, BootstrapSettings, MemoryFile, StateFile, group, priority, state};
use hippo_redact::without_secrets;
use hippo_text::chunk::{Document, Speaker, chunk_text};
use hippo_text::gist::headings::HeadingStats;
use hippo_text::gist::line::{self, WeightedLine};
use hippo_text::gist::phrases::{self, Phrase};
use hippo_text::gist::summary;
use hippo_text::gist::words::WordCounts;
use hippo_text::source::{SourceKind, date_in_name};
use hippo_text::speaker;
use hippo_types::entry::{Entry, EntryOrigin, EntryPriority, Pointer};
use hippo_types::time::{Date, Timestamp};

/// Maximum number of tags of an entry.
const TAGS: usize = 6;
/// Maximum number of sections to which an entry points. An entry about more sections points to the file.
const POINTERS: usize = 6;
/// Number of chunks in a block. When the rarity of a word is computed, the word counts once per block.
const BLOCK: usize = 12;
/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// State of a workspace while its entries are created.
pub(super) struct EntryBuilder<'w> {
    files: &'w [&'w MemoryFile<'w>],
    settings: &'w BootstrapSettings,
    words: WordCounts,
    headings: HeadingStats,
    groups: group::Groups,
    /// Lower-case names of speakers, and the ids of their stems.
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
            words.for_each_word(name, |word| {
                name_ids.insert(word.id);
            });
        }
        let titles = files.iter().map(|file| {
            file.document
                .sections
                .iter()
                .map(|section| section.title.as_str())
                .collect()
        });
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

    /// Creates at most `most` entries of the markdown files.
    pub fn entries(&mut self, most: usize) -> Vec<BootstrapEntry> {
        if most == 0 {
            return Vec::new();
        }
        self.ids = IdAllocator::new(&self.settings.taken);
        let nothing = Document::default();
        let documents: Vec<(&Document, f32)> = self
            .files
            .iter()
            .map(|file| {
                if file.known {
                    (&nothing, 0.0)
                } else {
                    (file.document, source_weight(file.kind))
                }
            })
            .collect();
        let units = units::split_into_units(&documents, most);
        let mut before: Option<(usize, Option<u32>)> = None;
        let mut entries = Vec::with_capacity(units.len());
        for unit in units {
            let leads = units::lead_sections(self.files[unit.file].document, unit);
            let key = (unit.file, leads.first().copied());
            let part = before == Some(key);
            before = Some((unit.file, leads.last().copied()));
            entries.extend(self.entry(unit, &leads, part));
        }
        entries
    }

    fn entry(&mut self, unit: MemoryUnit, leads: &[u32], part: bool) -> Option<BootstrapEntry> {
        let file = self.files[unit.file];
        let lines = line::lines(file.document, file.bytes, unit.from, unit.to);
        let titles: Vec<String> = leads
            .iter()
            .filter_map(|lead| file.document.sections.get(*lead as usize))
            .filter(|section| section.level > 0)
            .map(|section| line::clean(&section.title))
            .filter(|title| !title.is_empty())
            .collect();
        let ranked = phrases::choose_phrases(&mut self.words, &lines, &self.name_ids, TAGS + 3);
        let about = self.about(file);
        let naming = UnitNaming {
            titles: &titles,
            about: about.as_deref(),
            part,
            project: matches!(file.kind, SourceKind::Project),
        };
        let (topic, used) = topic::compose_topic(
            &naming,
            |title| self.headings.is_meaningful(title, &self.names),
            &ranked,
        );
        let (tags, shown) = self.tags(&topic, ranked.get(used..).unwrap_or_default());
        let summary = summary::extract_summary(&mut self.words, &lines, &shown);
        if topic.is_empty() || summary.is_empty() {
            return None;
        }
        let (priority, priority_rule) = self.priority(&titles, &lines);
        let created = self.created(file, leads);
        let hash = file.document.chunks.get(unit.from).map(|chunk| chunk.hash);
        let title = titles.first().map_or("", String::as_str);
        let headings: Vec<&str> = titles.iter().map(String::as_str).collect();
        Some(BootstrapEntry {
            group: self.groups.group(file.path, file.kind, &headings),
            entry: Entry {
                id: self.ids.assign(file.path, title, hash.filter(|_| part)),
                topic,
                summary,
                pointers: self.pointers(file, unit, leads),
                created,
                accessed: self.accessed(created),
                replayed_to: None,
                hits: 0,
                strength: 1.0,
                tags,
                related: Vec::new(),
                priority,
                priority_rule,
                origin: EntryOrigin::Auto,
                version: 1,
            },
        })
    }

    /// Returns the name of a file or project, if meaningful.
    fn about(&self, file: &MemoryFile<'_>) -> Option<String> {
        let title = file.document.title.as_deref().map(line::clean);
        let title = title.filter(|title| self.headings.is_meaningful(title, &self.names));
        let named = || {
            Some(topic::file_name(file.path)).filter(|name| self.headings.is_meaningful(name, &self.names))
        };
        title.or_else(named)
    }

    /// Returns tags that add to the topic, and the ids of all words in topic and tags.
    fn tags(&mut self, topic: &str, phrases: &[Phrase]) -> (Vec<String>, HashSet<u32>) {
        let mut shown = HashSet::new();
        self.words.for_each_word(topic, |word| {
            shown.insert(word.id);
        });
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

    fn priority(&self, titles: &[String], lines: &[WeightedLine]) -> (EntryPriority, Option<String>) {
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        match priority::infer_priority(&self.settings.priority_rules, &titles, lines) {
            Some(rule) => (rule.priority, Some(rule.name.clone())),
            None => (EntryPriority::Normal, None),
        }
    }

    fn pointers(&self, file: &MemoryFile<'_>, unit: MemoryUnit, leads: &[u32]) -> Vec<Pointer> {
        let of = |section: Option<String>| Pointer {
            path: file.path.to_owned(),
            section,
        };
        let whole = unit.from == 0 && unit.to == file.document.chunks.len();
        if leads.len() > POINTERS || (whole && leads.len() == 1) {
            return vec![of(None)];
        }
        let mut pointers: Vec<Pointer> = Vec::new();
        for lead in leads {
            let title = file
                .document
                .sections
                .get(*lead as usize)
                .map(|section| &section.title);
            // For a heading that contains a secret, point at the file.
            let shown = title.filter(|title| !title.is_empty() && without_secrets(title) == **title);
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
        let date = date
            .or(file.document.front_matter.date)
            .or_else(|| date_in_name(file.path));
        let day = date.map(|date| Timestamp::start_of(date, self.settings.offset_seconds));
        day.unwrap_or(file.modified).min(self.settings.now)
    }

    fn accessed(&self, created: Timestamp) -> Timestamp {
        let oldest = self
            .settings
            .now
            .plus(-i64::from(self.settings.oldest_access) * DAY);
        created.max(oldest)
    }

    /// Creates the entry of a state file; `None` if the file is empty.
    pub fn state_entry(&mut self, file: &StateFile<'_>) -> Option<BootstrapEntry> {
        let (summary, tags) = state::describe(file.path, file.bytes)?;
        let created = file.modified.min(self.settings.now);
        Some(BootstrapEntry {
            group: self.groups.group(file.path, SourceKind::Other, &[]),
            entry: Entry {
                id: self.ids.assign(file.path, "", None),
                topic: topic::file_name(file.path),
                summary,
                pointers: vec![Pointer {
                    path: file.path.to_owned(),
                    section: None,
                }],
                created,
                accessed: self.accessed(created),
                replayed_to: None,
                hits: 0,
                strength: 1.0,
                tags: tags
                    .into_iter()
                    .take(TAGS)
                    .map(|tag| topic::slug(&tag))
                    .filter(|tag| !tag.is_empty())
                    .collect(),
                related: Vec::new(),
                priority: EntryPriority::Normal,
                priority_rule: None,
                origin: EntryOrigin::Auto,
                version: 1,
            },
        })
    }
}

/// Returns the weight of a byte of a source. Distilled text counts more than conversation.
const fn source_weight(kind: SourceKind) -> f32 {
    match kind {
        SourceKind::Root => 3.0,
        SourceKind::Knowledge | SourceKind::Project | SourceKind::Plan => 2.0,
        SourceKind::DailyLog | SourceKind::Other | SourceKind::Node(_) => 1.0,
    }
}
