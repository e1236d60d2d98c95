//! Tests of context databases that the daemon releases.

use super::*;

#[test]
fn a_released_database_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    for let_go in [false, true] {
        let place = ContextDatabase::new(folder.path().join(FILE));
        drop(place.held().unwrap());
        place.let_go.store(let_go, Ordering::Relaxed);
        std::fs::remove_file(&place.file).unwrap();
        assert_eq!(place.is_there().unwrap(), !let_go);
    }
}
