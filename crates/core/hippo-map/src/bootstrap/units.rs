//! Division of a workspace into units, one per entry.
//!
//! Each file starts as one unit. Then the heaviest unit is split, again and again, until the wanted number of units is
//! reached or no unit is worth splitting. Units are first split between sections, at the outermost headings first, so
//! that small neighbours stay together. A long section without inner headings, such as the log of one conversation, has
//! a reduced weight and is therefore split later.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use hippo_text::chunk::{Chunk, ChunkKind, Document, Speaker};
use hippo_text::gist::line::mass;

/// Minimum mass, which is the information content, of a unit of whole sections.
const LEAST_SECTION: f32 = 90.0;
/// Minimum mass, which is the information content, of a part of a section.
const LEAST_PART: f32 = 700.0;
/// Factor that reduces the weight of units without inner headings, so that they are split later than other units.
const INSIDE: f32 = 0.15;
/// Divisor for the maximum number of units per file: 1/8 of all units, if that is more than [`FEW`].
const SHARE: usize = 8;
/// Number of units that any file may have.
const FEW: usize = 6;

/// Run of chunks of one file that becomes an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MemoryUnit {
    /// Index of the file.
    pub file: usize,
    /// First chunk.
    pub from: usize,
    /// Chunk after the last one.
    pub to: usize,
    /// Information content; see [`mass`].
    pub mass: f32,
}

/// Unit that can be split, as a tuple: urgency; file and first chunk; end; best split position. The urgency is stored
/// as the bits of a non-negative float, which sort like the float.
type UnitSplit = (u32, Reverse<(usize, usize)>, usize, usize);

/// Divides files into units, sorted by file and position. The maximum number of units is `most`, but at least one.
///
/// `files` contains each document with the weight of its text. If there are more files than units, the heaviest files
/// get one unit each.
pub(super) fn split_into_units(files: &[(&Document, f32)], most: usize) -> Vec<MemoryUnit> {
    let mut whole: Vec<MemoryUnit> = (0..)
        .zip(files)
        .map(|(file, (document, _))| unit_of(files, file, 0, document.chunks.len()))
        .filter(|unit| unit.mass > 0.0)
        .collect();
    let most = most.max(1);
    if whole.len() > most {
        let weight = |unit: &MemoryUnit| unit.mass.sqrt() * files[unit.file].1;
        whole.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.file.cmp(&b.file)));
        whole.truncate(most);
    }
    let mut counts = vec![1_usize; files.len()];
    let ceiling = FEW.max(most / SHARE);
    let mut heap = BinaryHeap::new();
    let mut done = Vec::new();
    for unit in whole {
        push_unit(files, unit, &mut heap, &mut done);
    }
    while heap.len() + done.len() < most {
        let Some((_, Reverse((file, from)), to, at)) = heap.pop() else {
            break;
        };
        if counts[file] >= ceiling {
            done.push(unit_of(files, file, from, to));
            continue;
        }
        counts[file] += 1;
        push_unit(files, unit_of(files, file, from, at), &mut heap, &mut done);
        push_unit(files, unit_of(files, file, at, to), &mut heap, &mut done);
    }
    let rest = heap.into_iter();
    done.extend(rest.map(|(_, Reverse((file, from)), to, _)| unit_of(files, file, from, to)));
    done.sort_by_key(|unit| (unit.file, unit.from));
    done
}

fn unit_of(files: &[(&Document, f32)], file: usize, from: usize, to: usize) -> MemoryUnit {
    let mass = files[file].0.chunks[from..to].iter().map(mass).sum();
    MemoryUnit { file, from, to, mass }
}

/// Adds a unit to the heap if it can be split, otherwise to `done`.
fn push_unit(
    files: &[(&Document, f32)],
    unit: MemoryUnit,
    heap: &mut BinaryHeap<UnitSplit>,
    done: &mut Vec<MemoryUnit>,
) {
    let (document, weight) = files[unit.file];
    match best_split(document, unit) {
        Some((at, between)) => {
            let urgency = unit.mass * weight * if between { 1.0 } else { INSIDE };
            heap.push((urgency.to_bits(), Reverse((unit.file, unit.from)), unit.to, at));
        }
        None => done.push(unit),
    }
}

/// Returns the best split position of a unit, and `true` if this position is between sections.
fn best_split(document: &Document, unit: MemoryUnit) -> Option<(usize, bool)> {
    let chunks = document.chunks.get(unit.from..unit.to)?;
    // For each heading level, and for the inside of sections, find the position nearest to the middle.
    let mut best: [Option<(f32, usize)>; 8] = [None; 8];
    let mut before = 0.0;
    for (at, pair) in chunks.windows(2).enumerate() {
        before += mass(&pair[0]);
        let behind = unit.mass - before;
        let level = boundary_level(document, &pair[0], &pair[1]);
        let least = if level < 7 { LEAST_SECTION } else { LEAST_PART };
        if before < least || behind < least {
            continue;
        }
        let mut off = (before - behind).abs();
        // Avoid splitting a conversation before the assistant's answer: the best position is where the person speaks.
        if level == 7 && pair[1].speaker == Speaker::Assistant {
            off += unit.mass;
        }
        let slot = &mut best[level];
        if slot.is_none_or(|(known, _)| off < known) {
            *slot = Some((off, unit.from + at + 1));
        }
    }
    let level = best.iter().position(Option::is_some)?;
    best[level].map(|(_, at)| (at, level < 7))
}

/// Returns the outermost level of the headings between two adjacent chunks; 7 if there is no heading between them.
fn boundary_level(document: &Document, left: &Chunk, right: &Chunk) -> usize {
    let sections = document
        .sections
        .get(left.section as usize + 1..=right.section as usize)
        .unwrap_or_default();
    let levels = sections.iter().map(|section| usize::from(section.level));
    levels.filter(|level| *level > 0).min().unwrap_or(7).min(7)
}

/// Returns the outermost sections of a unit: those that are not nested in another section of the unit.
pub(super) fn lead_sections(document: &Document, unit: MemoryUnit) -> Vec<u32> {
    let (mut leads, mut known): (Vec<u32>, HashSet<u32>) = (Vec::new(), HashSet::new());
    for chunk in document.chunks.get(unit.from..unit.to).unwrap_or_default() {
        // Skip headings: the heading of an empty section has no content.
        if leads.last() == Some(&chunk.section) || chunk.kind == ChunkKind::Heading {
            continue;
        }
        if !section_and_ancestors(document, chunk.section).any(|section| known.contains(&section)) {
            leads.push(chunk.section);
            known.insert(chunk.section);
        }
    }
    // If these sections are all the content of their parent section, use the parent instead.
    while leads.len() > 1 {
        let Some(parent) = section_and_ancestors(document, leads[0]).nth(1) else {
            break;
        };
        let neighbours = [unit.from.checked_sub(1), Some(unit.to)].into_iter().flatten();
        let mut neighbours = neighbours.filter_map(|at| document.chunks.get(at));
        let outside = neighbours.any(|chunk| is_below(document, chunk.section, parent));
        if outside || !leads.iter().all(|lead| is_below(document, *lead, parent)) {
            break;
        }
        leads = vec![parent];
    }
    leads
}

/// Returns `true` if `section` is the section `above` or is nested in that section.
fn is_below(document: &Document, section: u32, above: u32) -> bool {
    section_and_ancestors(document, section).any(|at| at == above)
}

/// Returns a section and its ancestors, nearest first; at most one per heading level.
fn section_and_ancestors(document: &Document, section: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(section), move |at| {
        document.sections.get(*at as usize)?.parent
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hippo_text::chunk::chunk;

    fn text(sections: &[(&str, usize)]) -> Vec<u8> {
        let mut text = String::from("# Title\n\n");
        for (name, lines) in sections {
            text.push_str(&format!("## {name}\n\n"));
            for line in 0..*lines {
                text.push_str(&format!(
                    "- {name} line {line} says something about the matter.\n"
                ));
            }
            text.push('\n');
        }
        text.into_bytes()
    }

    #[test]
    fn files_are_split_between_sections_first_and_small_sections_stay_together() {
        let document = chunk(&text(&[("One", 6), ("Two", 2), ("Three", 2), ("Four", 6)]));
        let titles = |most| -> Vec<Vec<&str>> {
            let leads_of = |unit: &MemoryUnit| {
                let leads = lead_sections(&document, *unit);
                let titles = leads
                    .iter()
                    .map(|at| document.sections[*at as usize].title.as_str());
                titles.collect()
            };
            split_into_units(&[(&document, 1.0)], most)
                .iter()
                .map(leads_of)
                .collect()
        };
        assert_eq!(titles(1), [["Title"]]);
        assert_eq!(titles(2), [vec!["One", "Two"], vec!["Three", "Four"]]);
        assert_eq!(titles(4), [["One"], ["Two"], ["Three"], ["Four"]]);
        assert_eq!(titles(6).len(), 4);
    }

    #[test]
    fn units_cover_each_chunk_once() {
        let long = chunk(&text(&[("Talk", 120)]));
        let short = chunk(&text(&[("A", 3), ("B", 3)]));
        for most in 1..30 {
            let files = [(&long, 1.0), (&short, 1.0)];
            let cut = split_into_units(&files, most);
            assert!(cut.len() <= most.max(1));
            for (number, (document, _)) in files.iter().enumerate() {
                let mine: Vec<&MemoryUnit> = cut.iter().filter(|unit| unit.file == number).collect();
                if most > 1 {
                    assert_eq!(
                        mine.iter().map(|unit| unit.to - unit.from).sum::<usize>(),
                        document.chunks.len()
                    );
                }
            }
        }
    }

    #[test]
    fn empty_sections_make_no_units() {
        let empty = chunk(b"# Only\n\n## Headings\n");
        assert!(split_into_units(&[(&empty, 1.0)], 9).is_empty());
    }
}
