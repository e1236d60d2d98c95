//! Texts that a share covers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use hippo_map::consolidation::{EntryRecord, RecordPlace};
use hippo_map::truth::{DatedText, find_superseded};
use hippo_redact::redact_lines;
use hippo_text::chunk::{Document, Section, chunk_text};
use hippo_text::gist::label;
use hippo_text::instruction::is_instruction;
use hippo_text::source::SourceKind;
use hippo_types::entry::{Entry, Pointer};
use hippo_types::memory::MemoryType;
use hippo_types::scope::Viewer;

use super::{OwnerRules, ShareRule};
use crate::view::{SearchSnapshot, WorkspaceView};

/// Maximum number of different values of an attribute. One with more values is a form that is filled in repeatedly.
const VALUES: usize = 16;

/// The texts of one owner that one other workspace may read.
pub struct Reach {
    /// Name of the shares in pointers.
    pub name: String,
    /// The entries, with the pointers that are covered, and the id of the share.
    pub entries: Vec<(Arc<EntryRecord>, Vec<Pointer>, String)>,
    /// The sections by path; `None` is the whole file.
    pub places: BTreeMap<String, Vec<Option<String>>>,
}

impl Reach {
    /// Finds the texts that the rules of an owner cover now. Leaves out private texts, archived entries, the answers to
    /// questions, entries that read like an instruction, and statements that a later entry corrects.
    pub(super) fn find(owner: &OwnerRules, view: &WorkspaceView) -> Self {
        let index = view.index();
        let mut found: Vec<(Arc<EntryRecord>, Vec<Pointer>, String)> = Vec::new();
        for record in index.records() {
            let rule = owner.rules.iter().find_map(|rule| {
                let pointers = rule.pointers(record);
                (!pointers.is_empty()).then(|| (pointers, rule.id()))
            });
            if let Some((pointers, id)) = rule {
                found.push((Arc::clone(record), pointers, id));
            }
        }
        let wanted = found.iter().flat_map(|(_, pointers, _)| pointers);
        let wanted: HashSet<&str> = wanted.map(|one| one.path.as_str()).collect();
        let snapshot = view.snapshot();
        let mut readable: HashMap<String, Vec<&str>> = HashMap::new();
        for (row, document) in snapshot.documents(&Viewer::default()) {
            if wanted.contains(&*document.path) {
                let sections = snapshot.facts.get(&row).map(|facts| &*facts.sections);
                let titles = sections.unwrap_or_default().iter();
                let titles = titles.map(|section| section.title.as_str()).collect();
                readable.insert(document.path.to_string(), titles);
            }
        }
        let is_there = |pointer: &Pointer| {
            let titles = readable.get(&pointer.path);
            let section = pointer.section.as_deref();
            titles.is_some_and(|titles| section.is_none_or(|section| titles.contains(&section)))
        };
        // The text of an entry comes from its first pointer.
        found.retain(|(_, pointers, _)| pointers.first().is_some_and(is_there));
        let corrected = corrected(&found);
        let mut corrected = corrected.into_iter();
        found.retain(|_| corrected.next() == Some(false));
        let mut places: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
        for (_, pointers, _) in &mut found {
            pointers.retain(is_there);
            for pointer in pointers {
                let sections = places.entry(pointer.path.clone()).or_default();
                sections.push(pointer.section.clone());
            }
        }
        drop(snapshot);
        Self {
            name: owner.name.clone(),
            entries: found,
            places,
        }
    }

    /// Returns the path of a text for the other workspace.
    pub fn shown_path(&self, path: &str) -> String {
        format!("@{}/{path}", self.name)
    }

    /// Returns the chunks that the share covers, with `true` at their ids.
    pub fn chunks(&self, snapshot: &SearchSnapshot) -> Vec<bool> {
        let mut covered = vec![false; snapshot.spans.len()];
        for (row, document) in snapshot.documents(&Viewer::default()) {
            let (Some(wanted), Some(facts)) = (self.places.get(&*document.path), snapshot.facts.get(&row))
            else {
                continue;
            };
            let inside = sections_within(&facts.sections, wanted);
            for chunk in document.chunks() {
                let section = snapshot.corpus.place(*chunk).map_or(0, |place| place.section);
                let is_inside = inside.get(section as usize).copied().unwrap_or(false);
                if let Some(covered) = covered.get_mut(*chunk as usize) {
                    *covered = is_inside;
                }
            }
        }
        covered
    }

    /// Returns the id of the share that covers a text.
    pub fn share_of(&self, path: &str, heading: &[String]) -> Option<String> {
        let covers = |pointer: &Pointer| {
            let section = pointer.section.as_ref();
            pointer.path == path && section.is_none_or(|section| heading.contains(section))
        };
        let mut entries = self.entries.iter();
        let found = entries.find(|(_, pointers, _)| pointers.iter().any(covers));
        found.map(|(_, _, id)| id.clone())
    }
}

/// Returns for each entry `true` if a later one states another value.
fn corrected(entries: &[(Arc<EntryRecord>, Vec<Pointer>, String)]) -> Vec<bool> {
    let days: Vec<String> = entries
        .iter()
        .map(|(record, ..)| record.entry.created.date(0).to_string())
        .collect();
    let texts = entries.iter().zip(&days).map(|((record, ..), day)| DatedText {
        date: Some(day),
        place: (&record.entry.topic, 0),
        heading: &[],
        text: &record.entry.summary,
    });
    let newer = find_superseded(&texts.collect::<Vec<_>>(), VALUES);
    newer.into_iter().map(|newer| newer.is_some()).collect()
}

impl ShareRule {
    /// Returns the pointers of an entry that the rule covers; none if the entry does not match. The first pointer of the
    /// entry, from which its text comes, must match.
    fn pointers(&self, record: &EntryRecord) -> Vec<Pointer> {
        let (entry, wanted) = (&record.entry, &self.share.selectors);
        let is_live = record.learned.is_none() && !matches!(record.place, RecordPlace::Archive(_));
        let same = |one: &str, other: &str| one.trim().to_lowercase() == other.trim().to_lowercase();
        let topics = [entry.topic.as_str(), label::tag(&entry.topic).0, &entry.id.0];
        let is_topic = |topic: &String| topics.iter().any(|own| same(own, topic));
        let is_tag = |tag: &String| entry.tags.iter().any(|own| same(own, tag));
        let matches = (wanted.topics.is_empty() || wanted.topics.iter().any(is_topic))
            && (wanted.tags.is_empty() || wanted.tags.iter().any(is_tag))
            && (wanted.types.is_empty() || wanted.types.contains(&type_of(entry)));
        if !is_live || !matches || reads_like_an_instruction(entry) {
            return Vec::new();
        }
        let covers = |pointer: &Pointer| {
            let is_wanted = wanted.paths.is_empty() || self.paths.is_match(&pointer.path);
            is_wanted && !SourceKind::from_path(&pointer.path).is_derived()
        };
        match entry.pointers.first().is_some_and(covers) {
            true => entry
                .pointers
                .iter()
                .filter(|pointer| covers(pointer))
                .cloned()
                .collect(),
            false => Vec::new(),
        }
    }
}

/// Returns the kind of memory of an entry: the one in its tags, or at the end of its heading.
fn type_of(entry: &Entry) -> MemoryType {
    let section = entry.pointers.first().and_then(|first| first.section.as_deref());
    let of_tags = entry.tags.iter().find_map(|tag| tag.parse().ok());
    let of_title = || {
        [section.unwrap_or_default(), &entry.topic]
            .into_iter()
            .find_map(|title| label::tag(title).1)
    };
    of_tags.or_else(of_title).unwrap_or_default()
}

fn reads_like_an_instruction(entry: &Entry) -> bool {
    let pointers = entry.pointers.iter().map(ToString::to_string);
    let mut texts = pointers.chain([entry.topic.clone(), entry.summary.clone()]);
    texts.any(|text| is_instruction(&text))
}

/// Returns for each section `true` if it is one of the wanted sections, or below one.
fn sections_within(sections: &[Section], wanted: &[Option<String>]) -> Vec<bool> {
    let is_whole = wanted.contains(&None);
    let mut inside = vec![is_whole; sections.len()];
    for (at, section) in sections.iter().enumerate() {
        let above = section.parent.is_some_and(|parent| inside[parent as usize]);
        let named = || wanted.iter().flatten().any(|title| *title == section.title);
        inside[at] = is_whole || above || named();
    }
    inside
}

/// Returns the text of a file with empty lines in place of everything that the share does not cover, and of the passages
/// that read like an instruction. Secrets are redacted. Returns `None` if nothing is left.
pub fn mask(bytes: &[u8], document: &Document, wanted: &[Option<String>]) -> Option<String> {
    let inside = sections_within(&document.sections, wanted);
    let is_inside = |section: u32| inside.get(section as usize).copied().unwrap_or(false);
    let count = bytes.split(|byte| *byte == b'\n').count();
    let mut shown = vec![false; count + 1];
    let mut show = |first: u32, last: u32, is_shown: bool| {
        let last = (last as usize + 1).min(shown.len());
        shown[(first as usize).min(last)..last].fill(is_shown);
    };
    for (at, section) in (0u32..).zip(&document.sections) {
        let is_shown = is_inside(at) && section.level > 0 && !is_instruction(&section.title);
        show(section.start_line, section.start_line, is_shown);
    }
    for chunk in document.chunks.iter().filter(|chunk| is_inside(chunk.section)) {
        let is_shown = !is_instruction(&chunk_text(bytes, chunk));
        show(chunk.start_line, chunk.end_line, is_shown);
    }
    if !shown.contains(&true) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let masked: String = (text.split_inclusive('\n').zip(&shown[1..]))
        .map(|(line, shown)| match (shown, line.ends_with('\n')) {
            (true, _) => line,
            (false, true) => "\n",
            (false, false) => "",
        })
        .collect();
    Some(redact_lines(&masked).into_owned())
}
