//! Three-way merge of sequences that keeps every addition.
//!
//! An element of the base is dropped if either side dropped it, except for the last copy of an element that both sides
//! have. Elements that one side added are kept. If both sides added an element at one position, it is kept once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Element of a merged sequence, by its index in the sides that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergedElement {
    /// In both sides, at these indices.
    Both(usize, usize),
    /// Only in our side.
    Ours(usize),
    /// Only in their side.
    Theirs(usize),
}

/// Maximum number of comparisons. Longer stretches without a common unique element count as different.
const MOST_COMPARISONS: usize = 250_000;
/// Maximum depth of splits at unique elements.
const DEEPEST: usize = 32;

/// Merges two sides with their base.
///
/// An element of our side for which `sticky` is true is kept even if their side dropped it.
pub(super) fn merge<T: Ord>(
    base: &[T],
    ours: &[T],
    theirs: &[T],
    sticky: impl Fn(&T) -> bool,
) -> Vec<MergedElement> {
    let (in_ours, in_theirs) = (match_elements(base, ours), match_elements(base, theirs));
    let (mut our_of, mut known_ours) = (vec![None; base.len()], vec![false; ours.len()]);
    for (at, our) in in_ours {
        our_of[at] = Some(our);
        known_ours[our] = true;
    }
    let mut known_theirs = vec![false; theirs.len()];
    let mut anchors = Vec::new();
    for (at, their) in in_theirs {
        known_theirs[their] = true;
        anchors.extend(our_of[at].map(|our| (our, their)));
    }
    let mut stays: Vec<bool> = (0..ours.len())
        .map(|at| !known_ours[at] || sticky(&ours[at]))
        .collect();
    let anchored = anchors.iter().map(|(our, _)| &ours[*our]);
    let added = (0..theirs.len())
        .filter(|at| !known_theirs[*at])
        .map(|at| &theirs[at]);
    let mut kept: BTreeSet<&T> = anchored.chain(added).collect();
    kept.extend((0..ours.len()).filter(|at| stays[*at]).map(|at| &ours[at]));
    // If the base has several copies, each side may have kept a different one.
    let both: BTreeSet<&T> = theirs.iter().collect();
    for (at, stays) in stays.iter_mut().enumerate() {
        *stays |= both.contains(&ours[at]) && kept.insert(&ours[at]);
    }
    let mut out = Vec::with_capacity(ours.len().max(theirs.len()));
    let mut from = (0, 0);
    for until in anchors.into_iter().chain([(ours.len(), theirs.len())]) {
        let stays = (from.0..until.0).filter(|at| stays[*at]);
        let added = (from.1..until.1).filter(|at| !known_theirs[*at]);
        append_union(
            ours,
            &stays.collect::<Vec<_>>(),
            theirs,
            &added.collect::<Vec<_>>(),
            &mut out,
        );
        if until.0 < ours.len() && until.1 < theirs.len() {
            out.push(MergedElement::Both(until.0, until.1));
        }
        from = (until.0 + 1, until.1 + 1);
    }
    out
}

/// Appends the chosen elements of both sides. Common elements are appended once; of the other elements, ours come
/// first.
fn append_union<T: Ord>(
    ours: &[T],
    mine: &[usize],
    theirs: &[T],
    yours: &[usize],
    out: &mut Vec<MergedElement>,
) {
    let (one, other): (Vec<&T>, Vec<&T>) = (
        mine.iter().map(|at| &ours[*at]).collect(),
        yours.iter().map(|at| &theirs[*at]).collect(),
    );
    let mut from = (0, 0);
    for until in match_elements(&one, &other)
        .into_iter()
        .chain([(one.len(), other.len())])
    {
        out.extend(mine[from.0..until.0].iter().map(|at| MergedElement::Ours(*at)));
        out.extend(yours[from.1..until.1].iter().map(|at| MergedElement::Theirs(*at)));
        if until.0 < one.len() && until.1 < other.len() {
            out.push(MergedElement::Both(mine[until.0], yours[until.1]));
        }
        from = (until.0 + 1, until.1 + 1);
    }
}

/// Returns pairs of equal elements in increasing order (a common subsequence), in time near linear in the
/// lengths.
fn match_elements<T: Ord>(one: &[T], other: &[T]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut work = vec![(0..one.len(), 0..other.len(), 0)];
    while let Some((mut a, mut b, depth)) = work.pop() {
        while !a.is_empty() && !b.is_empty() && one[a.start] == other[b.start] {
            found.push((a.start, b.start));
            (a.start, b.start) = (a.start + 1, b.start + 1);
        }
        while !a.is_empty() && !b.is_empty() && one[a.end - 1] == other[b.end - 1] {
            (a.end, b.end) = (a.end - 1, b.end - 1);
            found.push((a.end, b.end));
        }
        if a.is_empty() || b.is_empty() {
            continue;
        }
        let anchors = if depth < DEEPEST {
            match_unique(one, a.clone(), other, b.clone())
        } else {
            Vec::new()
        };
        if anchors.is_empty() {
            found.extend(longest_common(one, a, other, b));
            continue;
        }
        let mut from = (a.start, b.start);
        for (at, there) in anchors {
            work.push((from.0..at, from.1..there, depth + 1));
            found.push((at, there));
            from = (at + 1, there + 1);
        }
        work.push((from.0..a.end, from.1..b.end, depth + 1));
    }
    found.sort_unstable();
    found
}

/// Returns the longest increasing chain of elements that both stretches have exactly once (patience
/// sorting).
fn match_unique<T: Ord>(one: &[T], a: Range<usize>, other: &[T], b: Range<usize>) -> Vec<(usize, usize)> {
    let mut seen: BTreeMap<&T, (usize, usize, usize)> = BTreeMap::new();
    for at in a.clone() {
        let count = seen.entry(&one[at]).or_default();
        *count = (count.0 + 1, count.1, at);
    }
    let mut places: BTreeMap<&T, usize> = BTreeMap::new();
    for there in b {
        if let Some(count) = seen.get_mut(&other[there]) {
            count.1 += 1;
            places.insert(&other[there], there);
        }
    }
    let pairs = a.filter_map(|at| {
        let once = seen
            .get(&one[at])
            .is_some_and(|count| (count.0, count.1) == (1, 1));
        once.then(|| places.get(&one[at]).map(|there| (at, *there)))?
    });
    let pairs: Vec<(usize, usize)> = pairs.collect();
    // For each chain length, the pair that ends such a chain earliest; for each pair, its predecessor.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (number, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|last| ends[last]));
        if length == ends.len() {
            ends.push(number);
        } else {
            ends[length] = number;
        }
    }
    let mut chain = Vec::new();
    let mut next = ends.last().copied();
    while let Some(number) = next {
        chain.push(pairs[number]);
        next = before[number];
    }
    chain.reverse();
    chain
}

/// Returns the longest common subsequence of two short stretches, and an empty one for long stretches.
fn longest_common<T: Ord>(one: &[T], a: Range<usize>, other: &[T], b: Range<usize>) -> Vec<(usize, usize)> {
    let (rows, columns) = (a.len(), b.len());
    if rows.saturating_mul(columns) > MOST_COMPARISONS {
        return Vec::new();
    }
    // Length of the subsequence of the suffixes that start at each pair of indices.
    let mut lengths = vec![0_u32; (rows + 1) * (columns + 1)];
    let at = |row: usize, column: usize| row * (columns + 1) + column;
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            lengths[at(row, column)] = if one[a.start + row] == other[b.start + column] {
                lengths[at(row + 1, column + 1)] + 1
            } else {
                lengths[at(row + 1, column)].max(lengths[at(row, column + 1)])
            };
        }
    }
    let (mut row, mut column, mut found) = (0, 0, Vec::new());
    while row < rows && column < columns {
        if one[a.start + row] == other[b.start + column] {
            found.push((a.start + row, b.start + column));
            (row, column) = (row + 1, column + 1);
        } else if lengths[at(row + 1, column)] >= lengths[at(row, column + 1)] {
            row += 1;
        } else {
            column += 1;
        }
    }
    found
}
