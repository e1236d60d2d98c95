//! Dumps of the index: round trip, and refusal of damaged files.

use std::fs;
use std::path::Path;

use hippo_store::vector::{DUMP_FILE, DumpIdentity, RejectReason, VectorIndex};

use crate::model::{TestRandom, build, filled, graph_params};

fn identity(index: &VectorIndex) -> DumpIdentity {
    DumpIdentity {
        model_id: "all-minilm-l6-v2".into(),
        dimension: index.dimension(),
        generation: 3,
        count: index.len(),
        content: "c0ffee".into(),
    }
}

fn load(dir: &Path, expect: &DumpIdentity) -> Result<VectorIndex, RejectReason> {
    VectorIndex::load(dir, expect, graph_params()).map_err(|rejected| rejected.reason)
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
        index.save(dir.path(), &identity(&index)).unwrap();
        let mut again = load(dir.path(), &identity(&index)).unwrap();
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
        again.save(dir.path(), &identity(&again)).unwrap();
        assert!(
            load(dir.path(), &identity(&again)).unwrap().contains(7),
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
    let good = identity(&index);
    assert!(matches!(load(dir.path(), &good), Err(RejectReason::Missing)));
    index.save(dir.path(), &good).unwrap();
    let others = [
        (
            "model",
            DumpIdentity {
                model_id: "other".into(),
                ..good.clone()
            },
        ),
        (
            "dimension",
            DumpIdentity {
                dimension: 17,
                ..good.clone()
            },
        ),
        (
            "generation",
            DumpIdentity {
                generation: 4,
                ..good.clone()
            },
        ),
        (
            "count",
            DumpIdentity {
                count: 51,
                ..good.clone()
            },
        ),
        (
            "content",
            DumpIdentity {
                content: String::new(),
                ..good.clone()
            },
        ),
    ];
    for (field, other) in others {
        assert!(
            matches!(load(dir.path(), &other), Err(RejectReason::Identity(f)) if f == field),
            "{field}"
        );
    }
    let wrong_count = DumpIdentity { count: 51, ..good };
    index.save(dir.path(), &wrong_count).unwrap();
    assert!(matches!(
        load(dir.path(), &wrong_count),
        Err(RejectReason::Malformed)
    ));
}

#[test]
fn every_damaged_dump_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (mut index, _) = filled(300, 16, graph_params());
    build(&mut index);
    let good = identity(&index);
    index.save(dir.path(), &good).unwrap();
    let file = dir.path().join(DUMP_FILE);
    let bytes = fs::read(&file).unwrap();
    assert!(load(dir.path(), &good).is_ok());

    let cuts = (0..400)
        .chain((400..bytes.len()).step_by(977))
        .chain([bytes.len() - 1]);
    for cut in cuts {
        fs::write(&file, &bytes[..cut]).unwrap();
        assert!(load(dir.path(), &good).is_err(), "cut at {cut}");
    }
    fs::write(&file, [&bytes[..], b"x"].concat()).unwrap();
    assert!(matches!(load(dir.path(), &good), Err(RejectReason::Length)));

    let flips = (0..600)
        .chain((600..bytes.len()).step_by(331))
        .chain([bytes.len() - 1]);
    for (n, at) in flips.enumerate() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (n % 8);
        fs::write(&file, &damaged).unwrap();
        assert!(load(dir.path(), &good).is_err(), "bit {} of byte {at}", n % 8);
    }
    fs::write(&file, &bytes).unwrap();
    assert!(load(dir.path(), &good).is_ok());
}
