//! Tests that each entry is in exactly one file and that selections are stable.

use jiff::civil::date;
use proptest::prelude::*;

use hippo_types::entry::Pointer;

use super::*;

fn item(name: &str, strength: f32, tokens: usize) -> SelectionItem {
    SelectionItem {
        id: EntryId(name.to_owned()),
        strength,
        hits: 0,
        priority: EntryPriority::Normal,
        group: "Technical Knowledge".to_owned(),
        file: String::new(),
        worth: EntryWorth::default(),
        date: date(2026, 1, 10),
        tokens,
        in_master: true,
        annotated: false,
    }
}

fn settle(items: &[SelectionItem], selection: &MasterSelection) -> Vec<SelectionItem> {
    let settled = items.iter().cloned().map(|item| SelectionItem {
        in_master: selection.master.contains(&item.id),
        ..item
    });
    settled.collect()
}

fn limits(max_tokens: usize, max_entries: usize) -> Limits {
    Limits {
        max_tokens,
        max_entries,
        ..Limits::default()
    }
}

#[test]
fn quick_access_is_ordered_by_hits_then_strength_then_worth() {
    let entry = |id: &str, path: &str, hits| Entry {
        id: EntryId(id.to_owned()),
        pointers: vec![Pointer {
            path: path.to_owned(),
            section: None,
        }],
        hits,
        ..Entry::default()
    };
    let entries = [
        entry("a-log", "memory/2026-03-01.md", 0),
        entry("b-asked", "memory/2026-03-02.md", 3),
        entry("c-knowledge", "knowledge/pump.md", 0),
        entry("d-memory", "MEMORY.md", 0),
        entry("e-strong", "memory/2026-03-03.md", 0),
    ];
    // Two of the strengths differ by less than the precision of the display.
    let strengths = [0.9, 0.1, 0.900_001, 0.9, 0.95];
    let listed = |most| -> Vec<String> {
        let ids = quick_access(entries.iter().zip(strengths), most);
        ids.into_iter().map(|id| id.0).collect()
    };
    assert_eq!(
        listed(20),
        ["b-asked", "e-strong", "d-memory", "c-knowledge", "a-log"]
    );
    assert_eq!(listed(1), ["b-asked"]);
}

#[test]
fn unused_entries_in_quick_access_are_about_different_files_outermost_first() {
    let entry = |id: &str, path: &str, section: Option<&str>, hits| Entry {
        id: EntryId(id.to_owned()),
        pointers: vec![Pointer {
            path: path.to_owned(),
            section: section.map(str::to_owned),
        }],
        hits,
        ..Entry::default()
    };
    let entries = [
        entry("icons", "apps/desktop/icons/README.md", None, 0),
        entry("readme", "README.md", None, 0),
        entry("readme-start", "README.md", Some("Start"), 0),
        entry("readme-used", "README.md", Some("Used"), 1),
    ];
    let ids = quick_access(entries.iter().map(|entry| (entry, 1.0)), 20);
    let ids: Vec<&str> = ids.iter().map(|id| id.0.as_str()).collect();
    assert_eq!(ids, ["readme-used", "readme", "icons"]);
}

#[test]
fn equal_entries_are_ranked_by_worth_and_then_by_date() {
    let items = [
        item("a-log", 0.5, 10),
        SelectionItem {
            date: date(2026, 2, 1),
            ..item("b-later-log", 0.5, 10)
        },
        SelectionItem {
            worth: EntryWorth {
                kind: 2,
                is_whole: false,
            },
            date: date(2025, 1, 1),
            ..item("c-memory", 0.5, 10)
        },
        item("d-stronger", 0.6, 10),
    ];
    let few = |tokens| -> Vec<String> {
        let selection = select_entries(&items, &limits(tokens, 200));
        selection.master.into_iter().map(|id| id.0).collect()
    };
    assert_eq!(few(10), ["d-stronger"]);
    assert_eq!(few(20), ["c-memory", "d-stronger"]);
    assert_eq!(few(30), ["b-later-log", "c-memory", "d-stronger"]);
}

#[test]
fn all_entries_stay_while_they_fit() {
    let items: Vec<SelectionItem> = (0..300).map(|at| item(&format!("e{at:03}"), 0.5, 10)).collect();
    let selection = select_entries(&items, &limits(3_000, 200));
    assert_eq!((selection.master.len(), selection.files.len()), (300, 0));
    let selection = select_entries(&items, &limits(2_999, 200));
    assert_eq!(
        (
            selection.master.len(),
            selection.files.values().map(BTreeSet::len).sum()
        ),
        (200, 100_usize)
    );
}

#[test]
fn large_topics_files_are_divided_by_path_and_stay_alike_when_an_entry_is_added() {
    let at = |at: usize| SelectionItem {
        file: format!(
            "{}/note-{:03}.md",
            if at.is_multiple_of(3) { "boats" } else { "pumps" },
            at / 3
        ),
        in_master: false,
        ..item(&format!("e{at:04}"), 0.5, 200)
    };
    let items: Vec<SelectionItem> = (0..1_500).map(at).collect();
    let files = |items: &[SelectionItem]| select_entries(items, &limits(1_000, 200)).files;
    let divided = files(&items);
    let placed: usize = divided.values().map(BTreeSet::len).sum();
    assert!(placed > 1_450 && divided.values().all(|ids| ids.len() * 200 <= 18_000));
    assert!((17..40).contains(&divided.len()), "{:?}", divided.keys());
    let names = divided
        .keys()
        .all(|path| path.contains("-boats") || path.contains("-pumps"));
    assert!(names, "{:?}", divided.keys());
    let more: Vec<SelectionItem> = items.into_iter().chain([at(1_500)]).collect();
    let again = files(&more);
    let changed = again.iter().filter(|(path, ids)| divided.get(*path) != Some(ids));
    assert!(changed.count() <= 3);
}

#[test]
fn parts_of_a_file_have_different_names_if_their_paths_are_long() {
    let folder = "projects/a-long-name-of-a-project/with-a-long-name-of-a-folder/and-another-one";
    let items: Vec<SelectionItem> = (0..400)
        .map(|at| SelectionItem {
            file: format!("{folder}/{}/note-{:03}.md", ["one", "two"][at % 2], at / 2),
            in_master: false,
            ..item(&format!("e{at:04}"), 0.5, 200)
        })
        .collect();
    let files = select_entries(&items, &limits(1_000, 200)).files;
    assert!(
        files.values().all(|ids| ids.len() * 200 <= 18_000),
        "{:?}",
        files.keys()
    );
    assert!(files.values().map(BTreeSet::len).sum::<usize>() > 390);
}

#[test]
fn the_weakest_entries_move_to_the_file_of_their_group() {
    let mut items = vec![
        item("strong", 0.9, 50),
        item("weak", 0.2, 50),
        item("log", 0.3, 50),
        item("never", 0.1, 40),
    ];
    items[2].group = DAILY_LOGS.to_owned();
    items[3].priority = EntryPriority::Amygdala;
    let selection = select_entries(&items, &limits(100, 200));
    let ids = |ids: &BTreeSet<EntryId>| ids.iter().map(|id| id.0.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!(ids(&selection.master), "never strong");
    let files: Vec<_> = selection
        .files
        .iter()
        .map(|(path, of)| format!("{path}: {}", ids(of)))
        .collect();
    assert_eq!(
        files,
        [
            ".hippocampus/temporal/2026-01.md: log",
            ".hippocampus/topics/technical-knowledge.md: weak"
        ]
    );
}

#[test]
fn only_large_changes_of_strength_swap_entries() {
    let mut items = vec![item("a", 0.50, 50), item("b", 0.48, 50), item("c", 0.46, 50)];
    let limits = limits(120, 200);
    items = settle(&items, &select_entries(&items, &limits));
    assert!(!items[2].in_master);
    items[2].strength = 0.52;
    assert!(!select_entries(&items, &limits).master.contains(&items[2].id));
    items[2].strength = 0.6;
    let swapped = select_entries(&items, &limits);
    assert!(swapped.master.contains(&items[2].id) && !swapped.master.contains(&items[1].id));
    items[2].strength = 0.4;
    // All entries (150 tokens) must return to the master file, but only if some room stays free.
    assert!(!select_entries(&items, &self::limits(160, 200)).files.is_empty());
    assert!(select_entries(&items, &self::limits(170, 200)).files.is_empty());
}

#[test]
fn file_names_are_safe() {
    let name = |group: &str| {
        let mut odd = item("x", 0.1, 1);
        odd.group = group.to_owned();
        file_path(&odd)
    };
    assert_eq!(name("../../etc"), ".hippocampus/topics/etc.md");
    assert_eq!(name("CI / CD"), ".hippocampus/topics/ci-cd.md");
    assert_eq!(name("…"), ".hippocampus/topics/other.md");
    assert!(name(&"日本語".repeat(99)).len() < 100);
}

fn an_item() -> impl Strategy<Value = SelectionItem> {
    let priority = prop::sample::select(vec![
        EntryPriority::Low,
        EntryPriority::Normal,
        EntryPriority::High,
        EntryPriority::Amygdala,
    ]);
    let group = prop::sample::select(vec!["Projects", DAILY_LOGS, "People"]);
    let strength = prop_oneof![9 => 0.0_f32..=1.0, 1 => Just(f32::NAN)];
    (
        0_u32..60,
        strength,
        0_u32..9,
        priority,
        group,
        1_usize..200,
        any::<bool>(),
    )
        .prop_map(
            |(name, strength, hits, priority, group, tokens, in_master)| SelectionItem {
                hits,
                priority,
                group: group.to_owned(),
                in_master,
                annotated: false,
                ..item(&format!("e{name}"), strength, tokens)
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_entry_is_in_one_file_and_the_limits_hold(
        items in prop::collection::vec(an_item(), 0..60), tokens in 0_usize..6_000, entries in 0_usize..50,
    ) {
        let limits = limits(tokens, entries);
        let selection = select_entries(&items, &limits);
        let ids: BTreeSet<&EntryId> = items.iter().map(|item| &item.id).collect();
        let mut placed: Vec<&EntryId> = selection.master.iter().collect();
        placed.extend(selection.files.values().flatten());
        prop_assert_eq!(placed.len(), ids.len());
        prop_assert_eq!(placed.into_iter().collect::<BTreeSet<_>>(), ids);
        let sizes: BTreeMap<&EntryId, usize> = items.iter().rev().map(|item| (&item.id, item.tokens)).collect();
        prop_assert!(selection.master.iter().map(|id| sizes[id]).sum::<usize>() <= tokens);
        prop_assert!(selection.files.is_empty() || selection.master.len() <= entries);
    }

    #[test]
    fn selecting_twice_moves_no_entry(
        items in prop::collection::vec(an_item(), 0..60), tokens in 0_usize..6_000, entries in 0_usize..50,
        fill in 0.5_f32..=1.0,
    ) {
        let limits = Limits { fill, ..limits(tokens, entries) };
        let first = select_entries(&items, &limits);
        let second = select_entries(&settle(&items, &first), &limits);
        prop_assert_eq!(&second.master, &first.master);
        prop_assert_eq!(&second.files, &first.files);
    }
}
