//! Three-way merge of sequences that keeps every addition.
//!
//! An element of the base is dropped if either side dropped it. The last copy of an element that both sides have is
//! never dropped. Elements that one side added are kept. If both sides added an element at one position, it is kept
//! once.

use std::collections::BTreeSet;
use std::hash::Hash;

use similar::{Algorithm, DiffOp, capture_diff_slices};

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

/// Maximum number of element comparisons. Longer inputs are not compared.
const MOST_COMPARISONS: usize = 100_000_000;

/// Merges two sides with their base.
///
/// An element of our side for which `sticky` is true is kept even if their side dropped it.
pub(super) fn merge<T: Hash + Ord>(
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

/// Appends the chosen elements of both sides. Common elements are appended once. Among the other elements, ours are
/// first.
fn append_union<T: Hash + Ord>(
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

/// Returns pairs of equal elements in increasing order. Returns no pairs if the inputs exceed [`MOST_COMPARISONS`].
fn match_elements<T: Hash + Ord>(one: &[T], other: &[T]) -> Vec<(usize, usize)> {
    if one.len().saturating_mul(other.len()) > MOST_COMPARISONS {
        return Vec::new();
    }
    let equal = |op: DiffOp| match op {
        DiffOp::Equal {
            old_index,
            new_index,
            len,
        } => (old_index..old_index + len).zip(new_index..new_index + len),
        _ => (0..0).zip(0..0),
    };
    let ops = capture_diff_slices(Algorithm::Patience, one, other);
    ops.into_iter().flat_map(equal).collect()
}
