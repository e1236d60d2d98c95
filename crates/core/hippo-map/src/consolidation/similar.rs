//! Pairs of entries with similar vectors.

use super::SimilarPair;
use hippo_types::entry::EntryId;

/// Number of partial sums of a dot product. They are added in a fixed order, so that the same vectors yield the same
/// pairs on every machine.
const LANES: usize = 16;
/// Maximum number of pairs for one fresh entry, which is an entry that no earlier run compared. A limit is needed
/// because thousands of log entries that differ only in their dates are all similar.
const MOST: usize = 32;

/// Returns the pairs with a cosine of at least `least` in which at least one entry is fresh, in the order of `ids`.
///
/// A fresh entry is one that no earlier run compared.
///
/// `ids`, `vectors` and `fresh` are parallel; rows beyond the shortest are ignored. Vectors have unit length. Empty and
/// non-finite vectors match nothing, and vectors of different lengths do not match each other. For each fresh entry,
/// only the most similar pairs are returned, up to 32.
#[must_use]
pub fn find_similar(ids: &[EntryId], vectors: &[Vec<f32>], fresh: &[bool], least: f32) -> Vec<SimilarPair> {
    let rows = ids.len().min(vectors.len()).min(fresh.len());
    let usable = |row: &usize| !vectors[*row].is_empty() && vectors[*row].iter().all(|x| x.is_finite());
    let rows: Vec<usize> = (0..rows).filter(usable).collect();
    let mut pairs = Vec::new();
    for &row in rows.iter().filter(|row| fresh[**row]) {
        // Compare two fresh rows only once.
        let others = rows.iter().filter(|other| **other > row || !fresh[**other]);
        let others = others.filter(|other| vectors[**other].len() == vectors[row].len());
        let cosines = others.map(|other| (*other, dot(&vectors[row], &vectors[*other])));
        let mut alike: Vec<(usize, f32)> = cosines.filter(|(_, cosine)| *cosine >= least).collect();
        alike.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        alike.truncate(MOST);
        pairs.extend(
            alike
                .into_iter()
                .map(|(other, cosine)| (row.min(other), row.max(other), cosine)),
        );
    }
    pairs.sort_unstable_by_key(|(a, b, _)| (*a, *b));
    let named = |(a, b, cosine): (usize, usize, f32)| SimilarPair {
        a: ids[a].clone(),
        b: ids[b].clone(),
        cosine: cosine.clamp(-1.0, 1.0),
    };
    pairs.into_iter().map(named).collect()
}

/// Returns the dot product of two vectors of the same length.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
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

    /// Reference implementation, which compares the pairs one by one.
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
        fn the_same_pairs_are_found_as_by_the_reference(
            rows in prop::collection::vec((0_u8..4, any::<bool>(), 0_usize..3), 0..200),
            dimension in 1_usize..70,
            least in -0.5_f32..1.0,
        ) {
            // Use few directions, so that there are similar pairs. Some rows have another length or contain NaNs.
            let vectors: Vec<Vec<f32>> = rows.iter().enumerate().map(|(at, (kind, _, turn))| {
                let length = dimension + usize::from(*kind == 3);
                let mut row = unit((0..length).map(|x| ((x * (turn + 1)) as f32 + 0.1).sin()).collect());
                if at % 17 == 16 { row[0] = f32::NAN; }
                row
            }).collect();
            let fresh: Vec<bool> = rows.iter().map(|(_, fresh, _)| *fresh).collect();
            let ids = named(rows.len());
            // Avoid a threshold that differs from a cosine only by rounding.
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
