//! Dumps of the index: round trip, and refusal of damaged files.

use std::fs;
use std::path::Path;

use hippo_store::vector::{DUMP_FILE, DumpRejected, VectorIndex};

use crate::model::{TestRandom, build, filled, graph_params};

const STATE: &str = "all-minilm-l6-v2 3 50";

fn load(dir: &Path, identity: &str, dimension: usize) -> Result<VectorIndex, DumpRejected> {
    VectorIndex::load(dir, identity, dimension, graph_params())
}

#[test]
fn a_dump_survives_a_round_trip() {
    let dir = tempfile::tempdir().unwrap();
    for count in [0, 1, 99, 500] {
        let (mut index, mut model) = filled(count, 32, graph_params());
        build(&mut index);
        for id in 0..count / 10 {
            index.remove(id);
            model.0.remove(&id);
            let vector = TestRandom(u64::from(id) + 1).unit(32);
            index.insert(5000 + 2 * id, &vector).unwrap();
            model.0.insert(5000 + 2 * id, vector);
        }
        index.save(dir.path(), STATE).unwrap();
        let mut again = load(dir.path(), STATE, 32).unwrap();
        assert_eq!(
            (again.len(), again.uses_graph()),
            (index.len(), index.uses_graph())
        );
        for seed in 1..20 {
            let query = TestRandom(seed).unit(32);
            let answer = model.search(&again, &query, 10, &|_| true);
            assert_eq!(answer, model.search(&index, &query, 10, &|_| true));
        }
        again.insert(7, &TestRandom(8).unit(32)).unwrap();
        again.save(dir.path(), STATE).unwrap();
        assert!(
            load(dir.path(), STATE, 32).unwrap().contains(7),
            "a second dump replaces the first"
        );
    }
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn a_dump_of_another_state_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = filled(50, 16, graph_params());
    assert!(matches!(
        load(dir.path(), STATE, 16),
        Err(DumpRejected::Unreadable(_))
    ));
    index.save(dir.path(), STATE).unwrap();
    for other in ["other 3 50", "all-minilm-l6-v2 4 50", "all-minilm-l6-v2 3 51", ""] {
        let rejected = load(dir.path(), other, 16);
        assert!(matches!(rejected, Err(DumpRejected::Mismatch)), "{other}");
    }
}

#[test]
fn every_damaged_dump_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (mut index, _) = filled(300, 16, graph_params());
    build(&mut index);
    index.save(dir.path(), STATE).unwrap();
    let file = dir.path().join(DUMP_FILE);
    let bytes = fs::read(&file).unwrap();
    assert!(load(dir.path(), STATE, 16).is_ok());

    let cuts = (0..400)
        .chain((400..bytes.len()).step_by(977))
        .chain([bytes.len() - 1]);
    for cut in cuts {
        fs::write(&file, &bytes[..cut]).unwrap();
        assert!(load(dir.path(), STATE, 16).is_err(), "cut at {cut}");
    }
    fs::write(&file, [&bytes[..], b"x"].concat()).unwrap();
    assert!(matches!(load(dir.path(), STATE, 16), Err(DumpRejected::Mismatch)));

    let flips = (0..600)
        .chain((600..bytes.len()).step_by(331))
        .chain([bytes.len() - 1]);
    for (n, at) in flips.enumerate() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (n % 8);
        fs::write(&file, &damaged).unwrap();
        assert!(load(dir.path(), STATE, 16).is_err(), "bit {} of byte {at}", n % 8);
    }
    fs::write(&file, &bytes).unwrap();
    assert!(load(dir.path(), STATE, 16).is_ok());
}
