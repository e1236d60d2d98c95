//! The vector index compared with brute force: changes, builds.

mod model;

use std::sync::atomic::AtomicBool;

use hippo_store::vector::{PreparedQuery, Rescore, VectorError, VectorIndex, VectorParams};
use model::{TestRandom, VectorModel, build, dot, filled, graph_params};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum VectorChange {
    Insert(u32, u64),
    Remove(u32),
}

fn changes() -> impl Strategy<Value = Vec<VectorChange>> {
    let change = prop_oneof![
        3 => (0u32..60, 1u64..40).prop_map(|(id, value)| VectorChange::Insert(id, value)),
        2 => (0u32..60).prop_map(VectorChange::Remove),
    ];
    proptest::collection::vec(change, 0..150)
}

fn apply(index: &mut VectorIndex, model: &mut VectorModel, changes: &[VectorChange]) {
    for change in changes {
        match *change {
            VectorChange::Insert(id, value) => {
                // There are only a few distinct values, so that equal vectors are common.
                let vector = TestRandom(value * 7919).unit(index.dimension());
                index.insert(id, &vector).expect("the vectors have unit length");
                model.0.insert(id, vector);
            }
            VectorChange::Remove(id) => assert_eq!(index.remove(id), model.0.remove(&id).is_some()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Makes arbitrary changes, takes snapshots before some of them, and installs builds after some of them. The
    /// index must always answer like brute force.
    #[test]
    fn changes_and_builds_give_the_answers_of_brute_force(
        before in changes(), during in changes(), after in changes(), dimension in 3usize..80, graph in any::<bool>(),
    ) {
        let params = VectorParams { exact_below: if graph { 0 } else { 1000 }, build_threads: 1, ..graph_params() };
        let (mut index, mut model) = (VectorIndex::with_params(dimension, params), VectorModel::default());
        apply(&mut index, &mut model, &before);
        let job = index.snapshot_for_build();
        apply(&mut index, &mut model, &during);
        let built = job.run(&AtomicBool::new(false)).unwrap();
        prop_assert!(index.install(built));
        apply(&mut index, &mut model, &after);
        prop_assert_eq!(index.len(), model.0.len());
        for passes in [|_: u32| true, |id: u32| id.is_multiple_of(2), |id: u32| id == 7] {
            let query = TestRandom(5).unit(dimension);
            let truth = model.nearest(&query, 10, &passes);
            let answer = model.search(&index, &query, 10, &passes);
            // If several ids have the same vector, each of these ids is correct. Therefore, compare the cosines.
            let cosines = |ids: &[u32]| ids.iter().map(|id| dot(&query, &model.0[id])).collect::<Vec<_>>();
            let (truth, answer) = (cosines(&truth), cosines(&answer));
            prop_assert_eq!(truth.len(), answer.len());
            prop_assert!(truth.iter().zip(&answer).all(|(a, b)| (a - b).abs() < 1e-5), "{truth:?} {answer:?}");
        }
    }
}

#[test]
fn exact_search_equals_brute_force() {
    let (index, model) = filled(
        3000,
        64,
        VectorParams {
            scan_threads: 2,
            ..VectorParams::default()
        },
    );
    assert!(!index.uses_graph());
    assert_eq!(model.recall(&index, 40, &|_| true), 1.0);
    assert_eq!(model.recall(&index, 20, &|id| id % 3 == 0), 1.0);
    assert_eq!(model.recall(&index, 20, &|id| id % 100 == 0), 1.0);
}

#[test]
fn two_threads_return_the_same_results() {
    let one = VectorParams {
        scan_threads: 1,
        ..VectorParams::default()
    };
    let (mut index, model) = filled(81_000, 8, one.clone());
    let query = TestRandom(3).unit(8);
    let answer = model.search(&index, &query, 50, &|_| true);
    index.set_params(VectorParams {
        scan_threads: 2,
        ..one
    });
    assert_eq!(answer, model.search(&index, &query, 50, &|_| true));
    assert_eq!(answer.len(), 50);
}

#[test]
fn the_graph_finds_nearly_all_neighbours_with_filters_and_changes() {
    let (mut index, mut model) = filled(1200, 32, graph_params());
    assert!(index.needs_rebuild());
    build(&mut index);
    assert!(index.uses_graph() && !index.needs_rebuild());
    assert!(model.recall(&index, 30, &|_| true) > 0.98);
    assert!(model.recall(&index, 30, &|id| id % 2 == 0) > 0.98);
    assert_eq!(
        model.recall(&index, 20, &|id| id % 25 == 0),
        1.0,
        "a strict filter uses the exact path"
    );

    let mut random = TestRandom(1234);
    for id in 0..320 {
        assert!(index.remove(id));
        model.0.remove(&id);
        let vector = random.unit(32);
        index.insert(10_000 + id, &vector).unwrap();
        model.0.insert(10_000 + id, vector);
    }
    assert_eq!(index.len(), 1200);
    assert!(model.recall(&index, 30, &|_| true) > 0.98);
    for id in 320..480 {
        index.remove(id);
        model.0.remove(&id);
    }
    assert!(
        index.needs_rebuild(),
        "more than 30 % of the graph are tombstones"
    );
    build(&mut index);
    assert!(!index.needs_rebuild());
    assert!(model.recall(&index, 30, &|_| true) > 0.98);
}

#[test]
fn a_shrunken_index_drops_its_graph() {
    let (mut index, mut model) = filled(600, 16, graph_params());
    build(&mut index);
    for id in 0..560 {
        index.remove(id);
        model.0.remove(&id);
    }
    assert!(!index.uses_graph() && index.needs_rebuild());
    assert_eq!(model.recall(&index, 10, &|_| true), 1.0);
    let before = index.memory_bytes();
    build(&mut index);
    assert!(!index.needs_rebuild() && index.memory_bytes() < before);
    assert_eq!(model.recall(&index, 10, &|_| true), 1.0);
}

#[test]
fn a_build_is_invalid_after_a_later_snapshot_or_a_cancellation() {
    let (mut index, model) = filled(300, 16, graph_params());
    let first = index.snapshot_for_build();
    let second = index.snapshot_for_build();
    let stale = first.run(&AtomicBool::new(false)).unwrap();
    assert!(!index.install(stale) && !index.uses_graph());
    assert!(second.run(&AtomicBool::new(true)).is_none());
    index.abandon_build();
    assert_eq!(model.recall(&index, 5, &|_| true), 1.0);
}

#[test]
fn duplicates_do_not_affect_building_or_searching() {
    let mut random = TestRandom(11);
    let (mut index, mut model) = (
        VectorIndex::with_params(24, graph_params()),
        VectorModel::default(),
    );
    let same = random.unit(24);
    for id in 0..600 {
        let vector = if id % 2 == 0 {
            same.clone()
        } else {
            random.unit(24)
        };
        index.insert(id, &vector).unwrap();
        model.0.insert(id, vector);
    }
    build(&mut index);
    let hits = model.search(&index, &same, 30, &|_| true);
    assert!(hits.iter().all(|id| id % 2 == 0) && hits.len() == 30);
    assert!(
        model.recall(&index, 30, &|id| id % 2 == 1) > 0.97,
        "vectors other than the duplicates are found"
    );
}

#[test]
fn scores_are_close_and_unknown_ids_have_nan() {
    let (index, model) = filled(200, 48, VectorParams::default());
    let query = TestRandom(21).unit(48);
    let prepared = PreparedQuery::new(&query).unwrap();
    let scores = index.scores(&prepared, &[5, 999_999, 7, 5]).unwrap();
    assert!(scores[1].is_nan());
    for (score, id) in [(scores[0], 5), (scores[2], 7), (scores[3], 5)] {
        assert!((score - dot(&query, &model.0[&id])).abs() < 0.02);
    }
}

#[test]
fn invalid_vectors_and_queries_are_refused() {
    let (mut index, _) = filled(3, 4, VectorParams::default());
    let none: Rescore<'_> = &|ids| vec![None; ids.len()];
    assert_eq!(
        index.insert(1, &[f32::NAN, 0.0, 0.0, 1.0]),
        Err(VectorError::NotFinite)
    );
    assert_eq!(
        index.insert(1, &[0.0; 4]),
        Err(VectorError::NotUnit { length: 0.0 })
    );
    assert_eq!(
        index.insert(1, &[1.0]),
        Err(VectorError::Dimension { expected: 4, got: 1 })
    );
    assert_eq!(
        PreparedQuery::new(&[0.0; 4]).map(drop),
        Err(VectorError::NotUnit { length: 0.0 })
    );
    let query = |vector: &[f32]| PreparedQuery::new(vector).unwrap();
    assert_eq!(
        index.search(&query(&[1.0]), 3, None, none),
        Err(VectorError::Dimension { expected: 4, got: 1 })
    );
    assert!(
        index.contains(1) && index.len() == 3,
        "a refused vector changes nothing"
    );
    assert_eq!(
        index
            .search(&query(&[1.0, 0.0, 0.0, 0.0]), 9, None, none)
            .unwrap()
            .len(),
        3
    );
    assert_eq!(
        index
            .search(&query(&[1.0, 0.0, 0.0, 0.0]), 0, None, none)
            .unwrap(),
        []
    );
    index.insert(u32::MAX - 1, &[1.0, 0.0, 0.0, 0.0]).unwrap();
    assert!(index.contains(u32::MAX - 1) && index.memory_bytes() < 32_000_000);
}
