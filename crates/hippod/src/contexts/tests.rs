//! Is what was let go of left alone?

use super::*;

#[test]
fn what_was_let_go_of_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    for let_go in [false, true] {
        let place = Place {
            file: folder.path().join(FILE),
            open: Mutex::default(),
            held: Mutex::default(),
            readers: Mutex::default(),
            packers: Mutex::default(),
            policies: Policies::default(),
            let_go: AtomicBool::new(false),
        };
        drop(place.held().unwrap());
        place.let_go.store(let_go, Ordering::Relaxed);
        std::fs::remove_file(&place.file).unwrap();
        assert_eq!(place.is_there().unwrap(), !let_go);
    }
}
