//! Tests that types, JSON Schema, examples and docs/context.md agree.

mod schema;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::capture::{CaptureInput, CaptureSettings, capture};
use super::complete::{CompletionSources, complete, content_hash};
use super::fade::strengths;
use super::policy::{PolicyRule, Subject, decide, load_rules, parse_rules};
use super::render::{EarlierEntry, append_earlier, render};
use super::*;
use hippo_types::context::{
    ContextEncoding, ContextEntry, ContextKind, ContextPriority, ContextState, FetchOutcome,
};
use hippo_types::time::Date;
use hippo_types::tokens;
use schema::{schema, whole, wrong};

const DOCS: &str = include_str!("../../../../docs/context.md");
/// Examples that docs/context.md leaves out.
const MORE: &str = include_str!("tests/examples.md");

/// Returns the fenced blocks of docs/context.md and examples.md, each with its info string and its text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for page in [DOCS, MORE] {
        let mut rest = page;
        while let Some((_, from)) = rest.split_once("\n```") {
            let (kind, body) = from.split_once('\n').unwrap();
            let (text, after) = body.split_once("\n```\n").unwrap();
            found.push((kind, text));
            rest = after;
        }
    }
    found
}

fn block(kind: &str) -> &'static str {
    let mut of_kind = blocks().into_iter().filter(|(found, _)| *found == kind);
    of_kind.next().map(|(_, text)| text).unwrap()
}

fn documented_entries() -> Vec<ContextEntry> {
    let of_kind = blocks().into_iter().filter(|(kind, _)| *kind == "json entry");
    of_kind
        .map(|(_, text)| serde_json::from_str(text).unwrap())
        .collect()
}

/// Returns the rows of the first table below a heading, as lists of cells.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let split = DOCS.split_once(heading).or_else(|| MORE.split_once(heading));
    let (_, below) = split.unwrap_or_else(|| panic!("{heading}"));
    let lines = below.lines().skip_while(|line| !line.starts_with("|---"));
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect()
}

#[test]
fn every_code_block_of_the_page_is_valid() {
    let mut seen = BTreeSet::new();
    for (kind, text) in blocks() {
        seen.insert(kind);
        match kind {
            "typescript" => assert_eq!(text.lines().next(), Some("interface HippocampusEntry {")),
            "json entry" => {
                let value: Value = serde_json::from_str(text).unwrap();
                assert_eq!(wrong(&value, &schema(), ""), [""; 0]);
                let entry: ContextEntry = serde_json::from_value(value).unwrap();
                assert!((entry.decay.rate - entry.kind.rate()).abs() < 1e-6, "the default");
            }
            "yaml policies" => assert_eq!(parse_rules(text).unwrap().len(), 4),
            "json records" => assert_eq!(serde_json::from_str::<Vec<Value>>(text).unwrap().len(), 4),
            "markdown section" => assert!(text.contains(hippo_text::fence::OPEN)),
            "markdown earlier" => assert!(text.contains(", from an earlier session of ")),
            other => panic!("no test reads blocks of `{other}`"),
        }
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
    let mut none = whole();
    none["lifecycle"]["expires"] = Value::Null;
    assert_eq!(
        serde_json::from_value::<ContextEntry>(none)
            .unwrap()
            .lifecycle
            .expires,
        None
    );
    let mut more = whole();
    more["new"] = json!(1);
    assert!(
        serde_json::from_value::<ContextEntry>(more.clone()).is_ok()
            && wrong(&more, &schema(), "").is_empty()
    );
}

#[test]
fn the_example_uses_every_condition_and_action_and_decides_as_documented() {
    let text = block("yaml policies");
    let named = ["type:", "priority:", "source.type:", "contains:"].map(str::to_owned);
    for key in named
        .into_iter()
        .chain(policy::FIELDS.map(|field| format!("{field}:")))
    {
        assert!(text.contains(&format!(" {key} ")), "{key}");
    }
    let records: Vec<Value> = serde_json::from_str(block("json records")).unwrap();
    let rules = load_rules(text).unwrap();
    let rows = table("which rule decided which field:");
    assert_eq!(rows.len(), records.len());
    for (row, record) in rows.iter().zip(&records) {
        let size = record["tokens"].as_u64().unwrap_or_default() as usize;
        let long = "word".repeat(size);
        let put = CaptureInput {
            kind: serde_json::from_value(record["type"].clone()).unwrap(),
            priority: serde_json::from_value(record["priority"].clone()).unwrap(),
            source_type: record["source.type"].as_str().unwrap(),
            content: record["content"].as_str().unwrap_or(&long),
            error: record["error"] == true,
            ..CaptureInput::default()
        };
        let outcome = capture(&put, &rules, &CaptureSettings::default()).indexing;
        assert_eq!(json!(outcome), row[1], "{row:?}");
        let subject = Subject {
            kind: put.kind.unwrap(),
            priority: put.priority.unwrap_or_default(),
            source: put.source_type,
            content: put.content,
            error: put.error,
        };
        let decided = decide(&rules, &subject);
        let fields: [(&str, Option<(Value, &PolicyRule)>); 8] = [
            ("keep", decided.value(|action| action.keep.map(Value::from))),
            ("index", decided.value(|action| action.index.map(Value::from))),
            (
                "compression",
                decided.value(|action| {
                    action
                        .compression
                        .map(|how| json!(format!("{how:?}").to_lowercase()))
                }),
            ),
            (
                "decay_rate",
                decided.value(|action| action.decay_rate.map(|rate| json!(rate.to_string()))),
            ),
            (
                "floor",
                decided.value(|action| action.floor.map(|floor| json!(floor.to_string()))),
            ),
            (
                "priority",
                decided.value(|action| action.priority.map(|priority| json!(priority))),
            ),
            ("persist", decided.value(|action| action.persist.map(Value::from))),
            (
                "expires_after_turns",
                decided.value(|action| action.expires_after_turns.map(Value::from)),
            ),
        ];
        let told = fields.into_iter().filter_map(|(field, value)| {
            let (value, _) = value.filter(|(_, rule)| !rule.built_in)?;
            Some(format!("`{field}` {}", value.to_string().trim_matches('"')))
        });
        let told: BTreeSet<String> = told.collect();
        let said: BTreeSet<String> = row[2]
            .split(", ")
            .filter(|cell| *cell != "–")
            .map(str::to_owned)
            .collect();
        assert_eq!(told, said, "{row:?}");
    }
}

#[test]
fn the_decay_tables_match_the_formula() {
    let of = |change: fn(&mut ContextEntry), associated: bool, turns: u64| {
        let mut entry = documented_entries().remove(0);
        change(&mut entry);
        format!(
            "{:.3}",
            entry.strength_at(entry.decay.last_access + turns, associated)
        )
    };
    let rows = table("that differ in one modifier:");
    assert_eq!(rows.len(), 6);
    for row in rows {
        let turns = row[0].trim_start_matches('|').trim().parse().unwrap();
        let computed = [
            of(|_| {}, false, turns),
            of(
                |entry| entry.modifiers.priority = ContextPriority::High,
                false,
                turns,
            ),
            of(
                |entry| entry.modifiers.priority = ContextPriority::Low,
                false,
                turns,
            ),
            of(
                |entry| entry.modifiers.encoding = ContextEncoding::Manual,
                false,
                turns,
            ),
            of(|_| {}, true, turns),
        ];
        assert_eq!(row[1..], computed, "{turns}");
    }
    let rates = ContextKind::ALL
        .map(|kind| format!("{} {}", kind.name(), kind.rate()))
        .join(", ");
    assert!(DOCS.contains(&format!("| rate | {rates} |")), "{rates}");
    let factors = ContextPriority::ALL
        .map(|priority| format!("{} {}", priority.name(), priority.factor()))
        .join(", ");
    assert!(DOCS.contains(&format!("| priority | {factors} |")), "{factors}");
}

#[test]
fn the_documented_sections_match_the_rendering() {
    let mut entries = documented_entries();
    entries.push(ContextEntry {
        id: "ctx_0".to_owned(),
        ..entries[0].clone()
    });
    let strengths = strengths(&entries, 13);
    let states = [ContextState::Active, ContextState::Active, ContextState::Dormant];
    let count = |text: &str| tokens::of(text) as u64;
    let mut section = render(&entries, &strengths, &states, 1_000, count, |_| 0);
    assert_eq!(section.text.trim_end(), block("markdown section"));
    let documented = entries.into_iter().find(|entry| entry.id == "ctx_3f9a");
    let earlier = EarlierEntry {
        entry: documented.unwrap(),
        session: "s".to_owned(),
        date: Date::new(2026, 3, 2).unwrap(),
    };
    append_earlier(&mut section, &[earlier], 1_000, count);
    assert!(section.text.contains(block("markdown earlier")));
}

#[test]
fn the_documented_outcomes_match_the_code() {
    let (then, now) = (b"then".as_slice(), b"now".as_slice());
    let hash = content_hash(then);
    let cases = [
        (Ok(then), Err("gone"), "a summary"),
        (Ok(then), Ok(now), "a summary"),
        (Err("old"), Ok(then), "a summary"),
        (Err("old"), Ok(now), "a summary"),
        (Err("old"), Err("gone"), "a summary"),
        (Err("old"), Err("gone"), ""),
    ];
    let rows = table("## Pattern completion");
    assert_eq!(rows.len(), cases.len());
    for (row, (stored, source, summary)) in rows.iter().zip(cases) {
        let given = complete(&CompletionSources {
            follows_source: false,
            stored,
            source,
            stored_hash: Some(&hash),
            summary,
            key_data: None,
        });
        let outcome = json!(given.outcome);
        assert!(
            row[1].starts_with(&format!("`{}`", outcome.as_str().unwrap())),
            "{row:?}"
        );
        let from = given.from.map_or("–".to_owned(), |from| {
            format!("`{}`", json!(from).as_str().unwrap())
        });
        let stale = if given.stale { "yes" } else { "no" };
        assert_eq!((row[2], row[3]), (from.as_str(), stale), "{row:?}");
        let plain = given.outcome == FetchOutcome::Full && !given.stale;
        assert_eq!(given.reason.is_none(), plain, "{row:?}");
    }
}
