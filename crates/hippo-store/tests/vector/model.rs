//! Brute-force model of a vector index.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use hippo_store::vector::{PreparedQuery, VectorIndex, VectorParams};

/// A small random generator, so that the vectors are the same on every machine.
pub struct TestRandom(pub u64);

impl TestRandom {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn unit(&mut self, dimension: usize) -> Vec<f32> {
        let vector: Vec<f32> = (0..dimension)
            .map(|_| {
                (0..4)
                    .map(|_| (self.next() >> 40) as f32 / (1 << 24) as f32 - 0.5)
                    .sum()
            })
            .collect();
        let length = dot(&vector, &vector).sqrt();
        vector.into_iter().map(|x| x / length).collect()
    }
}

pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The expected content of the index, with brute-force search.
#[derive(Default, Clone)]
pub struct VectorModel(pub HashMap<u32, Vec<f32>>);

impl VectorModel {
    pub fn nearest(&self, query: &[f32], k: usize, passes: &dyn Fn(u32) -> bool) -> Vec<u32> {
        let mut all: Vec<(f32, u32)> = self
            .0
            .iter()
            .filter(|(id, _)| passes(**id))
            .map(|(&id, v)| (dot(query, v), id))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.into_iter().take(k).map(|(_, id)| id).collect()
    }

    pub fn search(
        &self,
        index: &VectorIndex,
        query: &[f32],
        k: usize,
        passes: &(dyn Fn(u32) -> bool + Sync),
    ) -> Vec<u32> {
        let rescore = |ids: &[u32]| ids.iter().map(|id| self.0.get(id).cloned()).collect();
        let hits = index
            .search(
                &PreparedQuery::new(query).expect("the queries have unit length"),
                k,
                Some(passes),
                &rescore,
            )
            .expect("the vectors have unit length");
        for (id, cosine) in &hits {
            assert!(
                (cosine - dot(query, &self.0[id])).abs() < 1e-5,
                "the score is the exact cosine"
            );
        }
        hits.into_iter().map(|(id, _)| id).collect()
    }

    pub fn recall(&self, index: &VectorIndex, queries: usize, passes: &(dyn Fn(u32) -> bool + Sync)) -> f64 {
        let mut random = TestRandom(99);
        let (mut found, mut wanted) = (0, 0);
        for _ in 0..queries {
            let query = random.unit(index.dimension());
            let truth = self.nearest(&query, 10, passes);
            let answer = self.search(index, &query, 10, passes);
            assert!(answer.iter().all(|&id| passes(id)), "all results pass the filter");
            found += truth.iter().filter(|id| answer.contains(id)).count();
            wanted += truth.len();
        }
        found as f64 / wanted as f64
    }
}

pub fn filled(count: u32, dimension: usize, params: VectorParams) -> (VectorIndex, VectorModel) {
    let mut random = TestRandom(7);
    let (mut index, mut model) = (
        VectorIndex::with_params(dimension, params),
        VectorModel::default(),
    );
    for id in 0..count {
        let vector = random.unit(dimension);
        index.insert(id, &vector).expect("the vectors have unit length");
        model.0.insert(id, vector);
    }
    (index, model)
}

pub fn graph_params() -> VectorParams {
    VectorParams {
        exact_below: 100,
        m: 12,
        ef_construction: 80,
        build_threads: 1,
        ..VectorParams::default()
    }
}

pub fn build(index: &mut VectorIndex) {
    let built = index
        .snapshot_for_build()
        .run(&AtomicBool::new(false))
        .expect("the build is not cancelled");
    assert!(index.install(built));
}
