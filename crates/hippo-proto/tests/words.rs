//! Tests that enum values keep their wire names.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use hippo_proto::*;
use hippo_types::search::SearchMode;
use serde::Serialize;

#[test]
fn enum_values_keep_their_wire_names() {
    fn words<T: Serialize>(values: &[T]) -> String {
        serde_json::to_string(values).unwrap()
    }
    assert_eq!(
        words(&SearchMode::ALL),
        r#"["hybrid","lexical","vector","index"]"#
    );
    assert_eq!(
        words(&[Strategy::Index, Strategy::Search, Strategy::Hybrid]),
        r#"["index","search","hybrid"]"#
    );
    let loads = [
        ModelLoad::Absent,
        ModelLoad::Unloaded,
        ModelLoad::Loading,
        ModelLoad::Ready,
        ModelLoad::Failed,
    ];
    assert_eq!(
        words(&loads),
        r#"["absent","unloaded","loading","ready","failed"]"#
    );
    assert_eq!(
        words(&[WatcherMode::Notify, WatcherMode::Poll, WatcherMode::None]),
        r#"["notify","poll","none"]"#
    );
    assert_eq!(
        words(&[VectorBackend::Exact, VectorBackend::Hnsw]),
        r#"["exact","hnsw"]"#
    );
    assert_eq!(
        words(&[Severity::Error, Severity::Warning, Severity::Info]),
        r#"["error","warning","info"]"#
    );
    let states = [
        ModelState::Installed,
        ModelState::Absent,
        ModelState::Damaged,
        ModelState::Unsupported,
    ];
    assert_eq!(
        words(&states),
        r#"["installed","absent","damaged","unsupported"]"#
    );
}
