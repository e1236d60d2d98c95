//! Merging of labelled pairs of entries with the real model.
//!
//! The pairs were written for this test. The pairs with `in_view` were used to develop the comparison rules, so only
//! the recall on the other pairs shows what to expect in practice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hippo_embed::acquire::{Layout, ModelManifest, locate};
use hippo_embed::{Embedder, OnnxEmbedder};
use hippo_map::consolidation::{self, ConsolidationSnapshot, EntryRecord, Rule, SimilarPair};
use hippo_types::cycle::Cycle;
use hippo_types::entry::{Entry, EntryId, EntryOrigin, Pointer};
use hippo_types::time::Timestamp;
use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Label {
    /// Both entries state the same fact.
    Same,
    /// The entries have the same topic but state different facts.
    OtherFact,
    /// The entries state the same fact with different values.
    ChangedValue,
    /// The entries have only words in common.
    Unrelated,
}

#[derive(Debug, Deserialize)]
struct Told {
    topic: String,
    summary: String,
    pointers: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Pair {
    a: Told,
    b: Told,
    label: Label,
    /// `true` if this pair was used to develop the rules.
    in_view: bool,
}

impl Told {
    fn record(&self, id: &str) -> EntryRecord {
        let pointers = self.pointers.iter().map(|pointer| {
            let (path, section) = pointer.split_once(" §").unzip();
            Pointer {
                path: path.unwrap_or(pointer).to_owned(),
                section: section.map(str::to_owned),
            }
        });
        let entry = Entry {
            id: EntryId(id.to_owned()),
            topic: self.topic.clone(),
            summary: self.summary.clone(),
            pointers: pointers.collect(),
            origin: EntryOrigin::Auto,
            ..Entry::default()
        };
        EntryRecord::new(entry, "Projects")
    }

    fn text(&self) -> String {
        format!("{}. {}", self.topic, self.summary)
    }
}

/// For each label, the number of merged pairs, and the number of all pairs.
#[derive(Debug, Default)]
struct Count(BTreeMap<Label, (u32, u32)>);

impl Count {
    fn add(&mut self, label: Label, merged: bool) {
        let (count, all) = self.0.entry(label).or_default();
        *count += u32::from(merged);
        *all += 1;
    }

    fn merged(&self, label: Label) -> u32 {
        self.0.get(&label).map_or(0, |(merged, _)| *merged)
    }

    /// Returns the fraction of the merged pairs in which both entries state the same fact.
    fn precision(&self) -> f64 {
        let all: u32 = self.0.values().map(|(merged, _)| merged).sum();
        f64::from(self.merged(Label::Same)) / f64::from(all.max(1))
    }

    /// Returns the fraction of the pairs with the same fact that were merged.
    fn recall(&self) -> f64 {
        let all = self.0.get(&Label::Same).map_or(0, |(_, all)| *all);
        f64::from(self.merged(Label::Same)) / f64::from(all.max(1))
    }
}

fn pairs() -> Vec<Pair> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/near_duplicates.jsonl");
    let text = std::fs::read_to_string(file).expect("the labelled pairs");
    let pairs = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a pair"));
    pairs.collect()
}

fn model() -> OnnxEmbedder {
    let home = std::env::var_os("HIPPOD_TEST_MODEL_HOME").map(PathBuf::from);
    let home = home.expect("HIPPOD_TEST_MODEL_HOME is not set: run `cargo xtask setup` and use its folder");
    let layout = Layout::in_home(&home, home.join("cache"));
    let installed = locate(&layout, &ModelManifest::built_in().unwrap())
        .unwrap_or_else(|error| panic!("{error}: run `cargo xtask setup` first"));
    OnnxEmbedder::load(&installed.model, &installed.runtime, 2).unwrap()
}

/// Returns true if a deep cycle merges the entries of a pair.
fn merges(pair: &Pair, cosine: f32) -> bool {
    let (a, b) = (EntryId("a".to_owned()), EntryId("b".to_owned()));
    let mut snapshot = ConsolidationSnapshot {
        records: BTreeMap::from([(a.clone(), pair.a.record("a")), (b.clone(), pair.b.record("b"))]),
        similar: vec![SimilarPair { a, b, cosine }],
        ..ConsolidationSnapshot::default()
    };
    snapshot.begin(Timestamp(0));
    let plan = consolidation::plan(&snapshot, Cycle::Deep);
    plan.steps.iter().any(|step| step.rule == Rule::Merge)
}

#[test]
fn equivalent_pairs_are_merged_and_changed_values_never() {
    let pairs = pairs();
    let labelled = |label| pairs.iter().filter(|pair| pair.label == label).count();
    assert!(labelled(Label::Same) >= 90 && labelled(Label::OtherFact) >= 80);
    assert!(labelled(Label::ChangedValue) >= 80 && labelled(Label::Unrelated) >= 40);

    let mut model = model();
    let mut halves = BTreeMap::from([(false, Count::default()), (true, Count::default())]);
    let mut wrong = Vec::new();
    for pair in &pairs {
        let vectors = [&pair.a, &pair.b].map(|told| model.embed_query(&told.text()).unwrap());
        let cosine = vectors[0].iter().zip(&vectors[1]).map(|(x, y)| x * y).sum();
        let merged = merges(pair, cosine);
        halves.get_mut(&pair.in_view).unwrap().add(pair.label, merged);
        if merged && pair.label != Label::Same {
            wrong.push(pair);
        }
    }
    for (in_view, count) in &halves {
        let (precision, recall) = (count.precision(), count.recall());
        println!("in view: {in_view}, precision {precision:.3}, recall {recall:.3}, {count:?}");
        assert!(precision >= 0.98, "{wrong:#?}");
        assert_eq!(count.merged(Label::ChangedValue), 0, "{wrong:#?}");
        assert!(
            recall >= 0.5,
            "precision is worth nothing when hardly anything merges"
        );
    }
}
