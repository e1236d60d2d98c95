//! Pairs of entries with similar vectors.
//!
//! Every pair with at least one fresh entry is compared exactly: about a second for 10,000 fresh entries,
//! and close to nothing for few. Sixteen fresh rows form a panel that fits the cache, and all rows are
//! multiplied with it, four at a time. Each sum adds the components in order, so that the same vectors
//! yield the same pairs on every machine.

use std::collections::BTreeMap;

use multiversion::multiversion;

use super::SimilarPair;
use hippo_types::entry::EntryId;

/// Rows of a panel: one AVX-512 register.
const WIDTH: usize = 16;
/// Rows multiplied with a panel at a time.
const TOGETHER: usize = 4;
/// Maximum number of pairs for one fresh entry. Thousands of log entries that differ only in their dates are all
/// similar.
const MOST: usize = 32;

/// Returns the pairs with a cosine of at least `least` and at least one fresh entry, in the order of `ids`.
///
/// `ids`, `vectors` and `fresh` are parallel; rows beyond the shortest are ignored. Vectors have unit length. Empty and
/// non-finite vectors match nothing, and vectors of different lengths do not match each other. For a fresh entry with
/// very many matches, only some of the most similar are returned.
#[must_use]
pub fn find_similar(ids: &[EntryId], vectors: &[Vec<f32>], fresh: &[bool], least: f32) -> Vec<SimilarPair> {
    let rows = ids.len().min(vectors.len()).min(fresh.len());
    let mut lengths: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, vector) in vectors.iter().enumerate().take(rows) {
        if !vector.is_empty() && vector.iter().all(|x| x.is_finite()) {
            lengths.entry(vector.len()).or_default().push(row);
        }
    }
    let mut pairs = Vec::new();
    for rows in lengths.into_values() {
        let (mut order, known): (Vec<usize>, Vec<usize>) = rows.into_iter().partition(|row| fresh[*row]);
        // Fresh rows come first: each is compared with all rows after it.
        let new = order.len();
        order.extend(known);
        let ordered: Vec<&[f32]> = order.iter().map(|row| vectors[*row].as_slice()).collect();
        let named =
            |(a, b, cosine): (usize, usize, f32)| (order[a].min(order[b]), order[a].max(order[b]), cosine);
        pairs.extend(compare_panels(&ordered, new, least).into_iter().map(named));
    }
    pairs.sort_unstable_by_key(|(a, b, _)| (*a, *b));
    let named = |(a, b, cosine): (usize, usize, f32)| SimilarPair {
        a: ids[a].clone(),
        b: ids[b].clone(),
        cosine,
    };
    pairs.into_iter().map(named).collect()
}

/// Returns the pairs of rows of one length whose first row is among the first `new` rows.
fn compare_panels(vectors: &[&[f32]], new: usize, least: f32) -> Vec<(usize, usize, f32)> {
    let mut found = Vec::new();
    let mut panel = Vec::new();
    for first in (0..new).step_by(WIDTH) {
        let end = (first + WIDTH).min(new);
        pack(&vectors[first..end], &mut panel);
        let mut alike: [NearestRows; WIDTH] = std::array::from_fn(|_| NearestRows {
            least,
            ..NearestRows::default()
        });
        for at in (first..vectors.len()).step_by(TOGETHER) {
            // The last row pads the group of four.
            let four: [usize; TOGETHER] = std::array::from_fn(|place| (at + place).min(vectors.len() - 1));
            let sums = dots(&panel, four.map(|row| vectors[row]));
            for (other, cosines) in (at..vectors.len()).zip(&sums) {
                let behind = end.min(other).saturating_sub(first);
                for (best, cosine) in alike.iter_mut().zip(cosines).take(behind) {
                    best.add(other, *cosine);
                }
            }
        }
        for (row, mut best) in (first..end).zip(alike) {
            best.trim();
            found.extend(best.rows.into_iter().map(|(other, cosine)| (row, other, cosine)));
        }
    }
    found
}

/// Rows most similar to one row.
#[derive(Default)]
struct NearestRows {
    rows: Vec<(usize, f32)>,
    /// Minimum cosine of a row. Once there are enough rows, a further row must exceed it.
    least: f32,
    enough: bool,
}

impl NearestRows {
    /// Adds a row. Rows arrive in order, so that among equal rows the first are kept.
    fn add(&mut self, row: usize, cosine: f32) {
        if cosine > self.least || cosine == self.least && !self.enough {
            self.rows.push((row, cosine.clamp(-1.0, 1.0)));
            if self.rows.len() >= 4 * MOST {
                self.trim();
            }
        }
    }

    fn trim(&mut self) {
        self.rows
            .sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.rows.truncate(MOST);
        if let Some((_, worst)) = self.rows.get(MOST - 1) {
            self.least = *worst;
            self.enough = true;
        }
    }
}

/// Interleaves rows: one component of each row, then the next component of each.
fn pack(rows: &[&[f32]], panel: &mut Vec<[f32; WIDTH]>) {
    panel.clear();
    panel.resize(rows.first().map_or(0, |row| row.len()), [0.0; WIDTH]);
    for (lane, row) in rows.iter().enumerate() {
        for (column, x) in panel.iter_mut().zip(*row) {
            column[lane] = *x;
        }
    }
}

/// Returns the dot products of four rows with each row of a panel.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn dots(panel: &[[f32; WIDTH]], [a, b, c, d]: [&[f32]; TOGETHER]) -> [[f32; WIDTH]; TOGETHER] {
    let (mut of_a, mut of_b) = ([0.0; WIDTH], [0.0; WIDTH]);
    let (mut of_c, mut of_d) = ([0.0; WIDTH], [0.0; WIDTH]);
    for ((((column, a), b), c), d) in panel.iter().zip(a).zip(b).zip(c).zip(d) {
        // One loop per row lets the compiler keep each row's sums in a register.
        for lane in 0..WIDTH {
            of_a[lane] += column[lane] * a;
        }
        for lane in 0..WIDTH {
            of_b[lane] += column[lane] * b;
        }
        for lane in 0..WIDTH {
            of_c[lane] += column[lane] * c;
        }
        for lane in 0..WIDTH {
            of_d[lane] += column[lane] * d;
        }
    }
    [of_a, of_b, of_c, of_d]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(rows: usize) -> Vec<EntryId> {
        (0..rows).map(|row| EntryId(format!("e{row:03}"))).collect()
    }

    fn unit(mut vector: Vec<f32>) -> Vec<f32> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= length.max(1e-6));
        vector
    }

    /// Reference implementation.
    fn one_by_one(
        ids: &[EntryId],
        vectors: &[Vec<f32>],
        fresh: &[bool],
        least: f32,
    ) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for a in 0..ids.len() {
            for b in a + 1..ids.len() {
                let same = vectors[a].len() == vectors[b].len() && !vectors[a].is_empty();
                let cosine: f32 = vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum();
                if same && (fresh[a] || fresh[b]) && cosine >= least {
                    pairs.push((ids[a].0.clone(), ids[b].0.clone()));
                }
            }
        }
        pairs
    }

    fn names(pairs: &[SimilarPair]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|pair| (pair.a.0.clone(), pair.b.0.clone()))
            .collect()
    }

    #[test]
    fn empty_and_non_finite_vectors_match_nothing() {
        let axis = vec![1.0, 0.0];
        let rows = vec![
            axis.clone(),
            vec![f32::NAN, 0.0],
            vec![],
            vec![f32::INFINITY, 0.0],
            vec![1.0, 0.0, 0.0],
            axis.clone(),
        ];
        let found = find_similar(&named(6), &rows, &[true; 6], 0.9);
        assert_eq!(names(&found), [("e000".to_owned(), "e005".to_owned())]);
        assert_eq!(found[0].cosine, 1.0);
        assert!(find_similar(&named(6), &rows, &[true; 6], f32::NAN).is_empty());
        assert!(find_similar(&named(6), &rows, &[false; 6], 0.9).is_empty());
        assert!(find_similar(&named(6), &rows[..1], &[true; 6], 0.9).is_empty());
        assert!(find_similar(&[], &[], &[], 0.9).is_empty());
    }

    #[test]
    fn the_nearest_of_many_similar_rows_are_found() {
        let rows: Vec<Vec<f32>> = (0..300_u16)
            .map(|row| unit(vec![1.0, f32::from(row) / 1_000.0]))
            .collect();
        let found = find_similar(&named(300), &rows, &[true; 300], 0.5);
        assert!(found.len() <= 300 * MOST);
        assert!(found.len() >= 200 * MOST);
        for near in 0..299 {
            let (a, b) = (format!("e{near:03}"), format!("e{:03}", near + 1));
            assert!(found.iter().any(|pair| pair.a.0 == a && pair.b.0 == b), "{a}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn panels_find_the_same_pairs_as_the_reference(
            rows in prop::collection::vec((0_u8..4, any::<bool>(), 0_usize..3), 0..200),
            dimension in 1_usize..70,
            least in -0.5_f32..1.0,
        ) {
            // Few directions, so that there are pairs; some rows have another length or NaNs.
            let vectors: Vec<Vec<f32>> = rows.iter().enumerate().map(|(at, (kind, _, turn))| {
                let length = dimension + usize::from(*kind == 3);
                let mut row = unit((0..length).map(|x| ((x * (turn + 1)) as f32 + 0.1).sin()).collect());
                if at % 17 == 16 { row[0] = f32::NAN; }
                row
            }).collect();
            let fresh: Vec<bool> = rows.iter().map(|(_, fresh, _)| *fresh).collect();
            let ids = named(rows.len());
            // Avoid thresholds within rounding error of a cosine.
            let near = |a: &Vec<f32>, b: &Vec<f32>| {
                let cosine: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
                (cosine - least).abs() < 1e-4
            };
            prop_assume!(!vectors.iter().any(|a| vectors.iter().any(|b| near(a, b))));
            let found = find_similar(&ids, &vectors, &fresh, least);
            let expected = one_by_one(&ids, &vectors, &fresh, least);
            let partners = |id: &EntryId| expected.iter().filter(|(a, b)| *a == id.0 || *b == id.0).count();
            if ids.iter().all(|id| partners(id) <= MOST) {
                prop_assert_eq!(names(&found), expected);
            } else {
                prop_assert!(names(&found).iter().all(|pair| expected.contains(pair)));
            }
            prop_assert!(found.iter().all(|pair| (-1.0..=1.0).contains(&pair.cosine)));
        }
    }
}
