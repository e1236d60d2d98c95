//! Benchmarks of the search for similar entries.

use divan::{Bencher, counter::ItemsCount};
use hippo_map::consolidation::{find_similar, value_conflict};
use hippo_types::entry::EntryId;

const DIMENSION: usize = 384;

fn main() {
    divan::main();
}

/// Returns pseudorandom directions, which are the same in each run (a linear congruential generator).
fn vectors(count: usize) -> Vec<Vec<f32>> {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    let row = |_| {
        let row: Vec<f32> = (0..DIMENSION).map(|_| next()).collect();
        let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        row.into_iter().map(|x| x / length).collect()
    };
    (0..count).map(row).collect()
}

fn compare(bencher: Bencher<'_, '_>, count: usize, new: usize) {
    let ids: Vec<EntryId> = (0..count).map(|row| EntryId(format!("entry-{row}"))).collect();
    let fresh: Vec<bool> = (0..count).map(|row| row < new).collect();
    let vectors = vectors(count);
    bencher
        .counter(ItemsCount::new(new * (2 * count - new) / 2))
        .bench(|| find_similar(&ids, divan::black_box(&vectors), &fresh, 0.9).len());
}

#[divan::bench(args = [1_000, 10_000], sample_count = 10)]
fn all_new(bencher: Bencher<'_, '_>, count: usize) {
    compare(bencher, count, count);
}

#[divan::bench(args = [1_000, 10_000], sample_count = 10)]
fn thirty_new(bencher: Bencher<'_, '_>, count: usize) {
    compare(bencher, count, 30);
}

/// Measures log entries that differ only in a date.
#[divan::bench(args = [10_000], sample_count = 5)]
fn all_alike(bencher: Bencher<'_, '_>, count: usize) {
    let ids: Vec<EntryId> = (0..count).map(|row| EntryId(format!("entry-{row}"))).collect();
    let common = vectors(1).remove(0);
    let near = |mut row: Vec<f32>| {
        row.iter_mut()
            .zip(&common)
            .for_each(|(x, y)| *x = y * 0.995 + *x * 0.1);
        row
    };
    let vectors: Vec<Vec<f32>> = vectors(count).into_iter().map(near).collect();
    let fresh = vec![true; count];
    bencher.bench(|| find_similar(&ids, divan::black_box(&vectors), &fresh, 0.7).len());
}

#[divan::bench]
fn two_texts() -> bool {
    let a = "Deploys go out through make ship on the build host, then Caddy is reloaded.";
    let b = "To deploy, run make ship on the build host and reload Caddy afterwards.";
    value_conflict(divan::black_box(a), divan::black_box(b)).is_some()
}
