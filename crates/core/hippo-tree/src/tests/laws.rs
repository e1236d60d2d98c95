//! Properties that hold for any logs, days and edits.

use jiff::ToSpan;
use jiff::civil::date;
use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn daily_compaction_yields_the_same_tree_as_one_compaction(
        days in proptest::collection::btree_map(0_i32..70, 1_usize..260, 1..8),
        edits in proptest::collection::vec((0_usize..12, 0_usize..12), 0..4),
    ) {
        let first = date(2025, 12, 1);
        let day = |offset: i32| first.checked_add(offset.days()).unwrap();
        let mut by_day = Tree::default();
        for (offset, lines) in &days {
            by_day.logs.insert(day(*offset), long_log(day(*offset), *lines));
            by_day.compact(day(*offset), false);
        }
        let offsets: Vec<i32> = days.keys().copied().collect();
        for (which, line) in edits {
            let at = day(offsets[which % offsets.len()]);
            by_day.logs.get_mut(&at).unwrap().push_str(&format!("- lesson: edit {line} was late\n"));
            by_day.compact(TODAY, false);
        }
        by_day.compact(TODAY, false);
        prop_assert_eq!(by_day.compact(TODAY, false), vec![]);
        let mut at_once = with(by_day.logs.clone());
        at_once.compact(TODAY, false);
        let differ: Vec<&Period> = by_day.nodes.iter().filter(|(period, text)| at_once.nodes.get(period) != Some(*text)).map(|(period, _)| period).collect();
        prop_assert!(differ.is_empty() && by_day.nodes.len() == at_once.nodes.len(), "{differ:?}");
    }

    #[test]
    fn any_node_text_is_parsed_and_survives_a_round_trip(text in "(---\n)?([a-z-]{0,12}: ?[ -~]{0,20}\n){0,6}(---\n)?[ -~\n]{0,200}") {
        let node = Node::read(Period::Day(TODAY), &text);
        let written = node.write();
        let again = Node::read(Period::Day(TODAY), &written);
        prop_assert_eq!(again.body.trim_end(), node.body.trim_end());
        prop_assert_eq!(&again.others, &node.others);
        prop_assert_eq!(again.write(), written);
    }

    #[test]
    fn any_bytes_yield_a_stable_tree(bytes in proptest::collection::vec(any::<u8>(), 0..3_000), lines in 0_usize..300) {
        let day = date(2026, 3, 18);
        let text = String::from_utf8_lossy(&bytes).into_owned() + &long_log(day, lines);
        let mut tree = with([(day, text)]);
        tree.compact(TODAY, false);
        prop_assert_eq!(tree.compact(TODAY, false), vec![]);
    }
}
