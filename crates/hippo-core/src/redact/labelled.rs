//! Recall and precision of redaction on labelled data.

use super::{REDACTED, redact};
use crate::chunk::chunk;
use crate::flush::{self, flush};
use crate::source::SourceKind;
use crate::time::{Date, Timestamp};
use crate::tree::{
    Action, Carried, Cause, Fingerprint, Node, Period, Source, Step, Writer, make, root, submitted, top,
};
use crate::{bootstrap, compaction};

const LABELLED: &str = include_str!("../../tests/data/secrets.txt");

/// Returns the lines with this sign; `⟦` and `⟧` enclose each secret.
fn labelled(sign: &str) -> Vec<String> {
    let lines = LABELLED.lines().filter_map(|line| line.strip_prefix(sign));
    lines
        .map(|line| line.replace('·', "").replace("\\n", "\n"))
        .collect()
}

/// Returns the secrets of a line.
fn secrets(line: &str) -> Vec<&str> {
    let after = line.split('⟦').skip(1);
    after.filter_map(|rest| Some(rest.split_once('⟧')?.0)).collect()
}

#[test]
fn at_least_99_percent_of_secrets_are_found_and_at_most_1_percent_of_other_lines_are_changed() {
    let (with, without) = (labelled("+ "), labelled("- "));
    assert!(with.len() >= 150 && without.len() >= 150);
    let (mut all, mut found, mut exact) = (0, 0, 0);
    let mut wrong = Vec::new();
    for line in &with {
        let text = line.replace(['⟦', '⟧'], "");
        let shown = redact(&text);
        let wanted = secrets(line)
            .into_iter()
            .fold(text.clone(), |text, secret| text.replacen(secret, REDACTED, 1));
        exact += usize::from(shown == wanted);
        for secret in secrets(line) {
            all += 1;
            // A secret of several lines counts as found if no line of it remains.
            if secret
                .lines()
                .map(str::trim)
                .any(|part| !part.is_empty() && shown.contains(part))
            {
                wrong.push(format!("missed: {text}\n     as: {shown}"));
            } else {
                found += 1;
            }
        }
        if shown != wanted {
            println!("not exact: {text}\n       as: {shown}");
        }
    }
    let changed = without.iter().filter(|line| redact(line) != line.as_str());
    let changed: Vec<String> = changed
        .map(|line| format!("no secret: {line}\n       as: {}", redact(line)))
        .collect();
    let figures = format!(
        "{found} of {all} secrets found, {exact} of {} lines exactly; {} of {} other lines changed",
        with.len(),
        changed.len(),
        without.len()
    );
    println!("{figures}");
    let enough = found * 100 >= all * 99 && changed.len() * 100 <= without.len();
    wrong.extend(changed);
    println!("{}", wrong.join("\n"));
    assert!(enough, "{figures}\n{}", wrong.join("\n"));
}

/// Returns lines with a secret that is found.
fn found_secrets() -> Vec<(String, String)> {
    let lines = labelled("+ ").into_iter().filter(|line| !line.contains('\n'));
    lines
        .filter_map(|line| {
            let secret = (*secrets(&line).first()?).to_owned();
            let text = line.replace(['⟦', '⟧'], "");
            let hidden = secret.len() >= 6 && !redact(&text).contains(&secret);
            hidden.then_some((text, secret))
        })
        .collect()
}

fn assert_shows_none(what: &str, shown: &str, of: &[(String, String)]) {
    let shown_: Vec<&str> = of
        .iter()
        .map(|(_, secret)| secret.as_str())
        .filter(|secret| shown.contains(secret))
        .collect();
    assert!(shown_.is_empty(), "{what} shows {shown_:?}");
}

#[test]
fn tree_nodes_and_roots_show_no_secret() {
    let found = found_secrets();
    assert!(found.len() >= 120, "{}", found.len());
    let date = |day: i8| Date::new(2026, 3, day).unwrap();
    let headings: Vec<String> = found
        .iter()
        .enumerate()
        .map(|(at, (line, _))| format!("## Pier {at}: {line}\n\n- decision: crate {at} goes to pier {at}, with {line}\n- my habit is {line}\n\n"))
        .collect();
    let step = |period, action| Step {
        period,
        action,
        cause: Cause::New,
        digest: Fingerprint::of(b"x"),
        sources: Vec::new(),
    };
    let made = |period: Period, path: &str, text: &str, first_day: Date| {
        let source = [source_of(path, text, first_day)];
        let node = make(&step(period, Action::Make), &source, None, date(31), false);
        node.map(|node| node.write()).unwrap_or_default()
    };
    // Below the size threshold, a day is copied into its node; above it, the node is an extract.
    for some in [&headings[..20], &headings[..]] {
        let log = some.concat();
        let day = made(Period::Day(date(3)), "memory/2026-03-03.md", &log, date(3));
        assert!(day.len() > 200, "{day}");
        assert_shows_none("a day", &day, &found);
        // Higher levels redact too, because a person may have written the node.
        let week = made(
            Period::parse("2026-W10").unwrap(),
            "memory/daily/2026-03-03.md",
            &log,
            date(2),
        );
        assert_shows_none("a week", &week, &found);
        let month = made(
            Period::parse("2026-03").unwrap(),
            "memory/weekly/2026-W10.md",
            &log,
            date(1),
        );
        assert_shows_none("a month", &month, &found);
        let below = [root::Node {
            date: date(3),
            path: "memory/daily/2026-03-03.md",
            first_line: 1,
            body: &log,
            accesses: 0,
        }];
        let carried = format!(
            "## Topics Index\n\n{}\n## Historical Summary\n\n{}",
            some.join("- "),
            some.join("- ")
        );
        let carried = Carried {
            body: &carried,
            updated: date(1),
        };
        for carried in [None, Some(carried)] {
            let root = top(&below, &|_, _| None, carried, &[], date(31), 20_000);
            let root = root.unwrap();
            assert!(root.body.len() > 50, "{root:?}");
            assert_shows_none("ROOT.md", &root.write(), &found);
        }
        let taken = submitted(
            Period::Day(date(3)),
            &log,
            None,
            &[],
            &[source_of("memory/2026-03-03.md", &log.repeat(20), date(3))],
            Writer::Agent,
            date(31),
        );
        assert_shows_none("a body", &taken.unwrap().0.body, &found);
        let theirs = Node::read(Period::Day(date(3)), "---\nstatus: fixed\n---\n- mine\n");
        let source = [source_of("memory/2026-03-03.md", &log, date(3))];
        let since = make(
            &step(Period::Day(date(3)), Action::Outdate),
            &source,
            Some(&theirs),
            date(31),
            false,
        );
        assert_shows_none("what is new since", &since.unwrap().write(), &found);
    }
}

fn source_of<'t>(path: &'t str, text: &'t str, date: Date) -> Source<'t> {
    Source {
        path,
        text,
        first_line: 1,
        date: Some(date),
    }
}

#[test]
fn session_sections_and_summaries_show_no_secret() {
    let found = found_secrets();
    let mut transcript = String::new();
    for (at, (line, _)) in found.iter().enumerate() {
        for (role, text) in [
            ("user", format!("Please set up pier {at} with {line}")),
            (
                "assistant",
                format!("We decided on pier {at}: {line}. Fixed: all tests pass with {line}"),
            ),
            ("user", format!("no, always use {line}")),
        ] {
            let message = serde_json::json!({"type": role, "uuid": format!("{at}{text}"), "timestamp": "2026-03-02T09:00:00Z",
                "message": {"role": role, "content": text}});
            transcript.push_str(&format!("{message}\n"));
        }
    }
    let flushed = flush(transcript.as_bytes(), flush::FlushOptions::default(), |_| {
        Date::new(2026, 3, 2).unwrap()
    });
    let sections: String = flushed
        .sections
        .iter()
        .map(|section| section.text.as_str())
        .collect();
    assert!(sections.len() > 1_000, "{sections}");
    assert_shows_none("a section of the log", &sections, &found);
    assert_shows_none(
        "the topic of a session",
        &flushed.topic.unwrap_or_default(),
        &found,
    );
    for tokens in [500, 20_000] {
        let options = compaction::CompactionOptions {
            budget: Some(tokens),
            ..compaction::CompactionOptions::default()
        };
        let compacted = compaction::compact(transcript.as_bytes(), &options);
        assert_shows_none("a summary", &compacted.summary, &found);
    }
}

#[test]
fn index_entries_show_no_secret() {
    let found = found_secrets();
    let text: String = found
        .iter()
        .enumerate()
        .map(|(at, (line, _))| format!("## Pier {at}: {line}\n\nThe pier {at} of the harbour works with {line}\n\n- pier {at}: {line}\n\n"))
        .collect();
    let document = chunk(text.as_bytes());
    let file = |path| bootstrap::MemoryFile {
        path,
        kind: SourceKind::from_path(path),
        document: &document,
        bytes: text.as_bytes(),
        modified: Timestamp::from_seconds(1_700_000_000),
        known: false,
    };
    let files = [file("knowledge/piers.md"), file("memory/2026-03-03.md")];
    let entries = bootstrap::bootstrap(&files, &[], &bootstrap::BootstrapSettings::default());
    assert!(entries.len() >= 2);
    for new in &entries {
        let entry = &new.entry;
        // A pointer quotes the heading that it refers to; the report says so.
        let shown = format!(
            "{}\n{}\n{:?}\n{:?}",
            entry.topic, entry.summary, entry.tags, entry.pointers
        );
        assert_shows_none("an entry", &shown, &found);
    }
}
