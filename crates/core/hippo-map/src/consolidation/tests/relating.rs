//! Tests of the relations that common accesses create.

use super::*;

#[test]
fn common_accesses_relate_entries_and_dead_links_are_removed() {
    let mut one = record("one", 0.5, RecordPlace::Index);
    one.entry.related = vec![id("gone"), id("kept")];
    let mut state = snapshot(vec![
        one,
        record("kept", 0.5, RecordPlace::Index),
        record("two", 0.5, RecordPlace::Index),
    ]);
    let pair = |a: &str, b: &str, count| CoAccess {
        a: id(a),
        b: id(b),
        count,
    };
    state.co_access = vec![
        pair("one", "two", 3),
        pair("two", "kept", 1),
        pair("one", "nowhere", 9),
    ];
    let after = apply(&state, &plan(&state, Cycle::Deep));
    assert_eq!(after.records[&id("one")].entry.related, [id("kept"), id("two")]);
    assert_eq!(after.records[&id("two")].entry.related, [id("one")]);
}

#[test]
fn common_accesses_halve_in_thirty_days_and_daily_accesses_add_up() {
    let left = |count, days: i64| decayed_co_access(count, Timestamp(0), Timestamp(days * 86_400_000));
    let is = [
        left(1, 1),
        left(1, 29),
        left(1, 31),
        left(2, 12),
        left(2, 61),
        left(8, 30),
    ];
    assert_eq!(is, [1, 1, 0, 2, 0, 4]);
    // One access a day for a week leaves a higher count than seven accesses a month ago.
    let spaced = (0..7).fold(0, |count, _| left(count, 1) + 1);
    assert!(spaced == 7 && left(7, 30) == 4, "{spaced}");
}
