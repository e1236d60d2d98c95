//! Rendering of search results.

use std::fmt::Write;

use hippo_proto::{Origin, OriginKind, SearchHit, SearchResponse, SearchTrace, Strategy};

use super::passage::TerminalView;
use super::{INDENT, harmless, lines, one_line, plural, table};
use crate::output::Style;

/// Number of features in a line of an explanation.
const FEATURES_PER_LINE: usize = 8;

/// Renders the search results, best first. With `view`, the passages are short, and paths are links. If the answer has
/// a trace of the entries that the search used, renders the trace, too.
pub fn search(answer: &SearchResponse, view: Option<&TerminalView>, style: Style) -> String {
    let results = answer.results.iter().enumerate();
    let results = results.map(|(at, result)| hit(at + 1, result, view, style));
    let trace = answer.trace.iter().map(|it| trace(answer.strategy, it, style));
    results.chain(trace).collect::<Vec<_>>().join("\n")
}

/// Returns the notes that are printed together with the search results.
pub fn notes(answer: &SearchResponse) -> Vec<String> {
    let mut notes = Vec::new();
    if answer.results.is_empty() {
        notes.push("nothing found".to_owned());
    }
    let index = &answer.index;
    if let Some(degraded) = &index.degraded {
        let why = index.why.as_deref().unwrap_or("for details: hippoctl doctor");
        notes.push(format!("degraded: {degraded}: {why}"));
    }
    // The note of this state contains the number of chunks.
    if index.pending > 0 && index.degraded.as_deref() != Some("embeddings-behind") {
        let chunks = plural(index.pending, "chunk");
        notes.push(format!("note: not searchable by meaning yet: {chunks}"));
    }
    if index.lag_ms > 0 {
        let lag = super::age(index.lag_ms);
        notes.push(format!("note: changes of the last {lag} are not searchable yet"));
    }
    notes.extend(answer.notes.iter().map(|note| format!("note: {note}")));
    notes
}

fn hit(rank: usize, hit: &SearchHit, view: Option<&TerminalView>, style: Style) -> String {
    let lines = lines(hit.start_line, hit.end_line);
    // A passage from outside the workspace has no file here.
    let files = view.filter(|_| hit.origin.is_none());
    let shown = |path: &str| harmless(&files.map_or_else(|| path.to_owned(), |view| view.path(path)));
    let mut place = style.path(format!("{}:{lines}", shown(&hit.path)));
    if let Some(view) = files {
        place = view.link(&hit.path, &place, style);
    }
    let date = hit.date.as_ref().map(|date| style.quiet(format!("  {date}")));
    let (score, date) = (
        style.strong(format!("{:.2}", hit.score)),
        date.unwrap_or_default(),
    );
    let scope = match hit.scope.is_shared() {
        true => String::new(),
        false => style.quiet(format!("  {}", one_line(&hit.scope.to_string()))),
    };
    let mut text = format!("{rank:>2} {score} {place}{date}{scope}{}\n", entry(hit, style));
    if !hit.heading.is_empty() {
        let heading = style.quiet(harmless(&hit.heading.join(" › ")));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{INDENT}{heading}");
    }
    let whole = || harmless(hit.text.trim_end().replace("\r\n", "\n").as_str());
    let passage = match view {
        Some(view) => view.passage(hit, style),
        None => whole().lines().map(str::to_owned).collect(),
    };
    for line in passage {
        let _ = writeln!(text, "{}", format!("{INDENT}{line}").trim_end());
    }
    if let Some(origin) = &hit.origin {
        let _ = writeln!(
            text,
            "{INDENT}{}",
            style.quiet(harmless(&describe_origin(origin)))
        );
    }
    if hit.copies > 0 {
        let copies = plural(hit.copies.into(), "other place");
        let _ = writeln!(text, "{INDENT}{}", style.quiet(format!("also in {copies}")));
    }
    if let Some(newer) = &hit.superseded_by {
        let _ = writeln!(text, "{INDENT}superseded by {}", style.path(shown(newer)));
    }
    if let Some(explain) = &hit.explain {
        let features: Vec<String> = (explain.iter())
            .map(|(feature, value)| format!("{feature} {value:.3}"))
            .collect();
        for line in features.chunks(FEATURES_PER_LINE) {
            let _ = writeln!(text, "{INDENT}{}", style.quiet(line.join(" · ")));
        }
    }
    text
}

fn describe_origin(origin: &Origin) -> String {
    let Origin {
        kind,
        workspace,
        device,
        author,
        verified,
        ..
    } = origin;
    match kind {
        OriginKind::Workspace => format!("shared by the workspace {workspace}"),
        OriginKind::Team if *verified => format!("from {author} on {device}"),
        OriginKind::Team => {
            format!("from {author} on {device}; NOT VERIFIED: the text was changed on the server")
        }
    }
}

/// Formats the entry of a search result and its strength. The strength has no effect on the score of the result.
fn entry(hit: &SearchHit, style: Style) -> String {
    let strength = hit.strength.map(|strength| format!("strength {strength:.2}"));
    let entry = hit
        .entry
        .as_ref()
        .map(|entry| format!("entry {}", one_line(entry)));
    let parts: Vec<String> = entry.into_iter().chain(strength).collect();
    match parts.is_empty() {
        true => String::new(),
        false => style.quiet(format!("  {}", parts.join(", "))),
    }
}

fn trace(strategy: Strategy, trace: &SearchTrace, style: Style) -> String {
    let route = match strategy {
        Strategy::Index => "by the index file",
        Strategy::Search => "by search",
        Strategy::Hybrid => "by the index file and by search",
    };
    let mut text = format!("answered {route}: {}\n", one_line(&trace.reason));
    let rows = trace.matches.iter().map(|it| {
        vec![
            format!("{INDENT}{}", style.strong(one_line(&it.entry))),
            format!("relevance {:.2}", it.relevance),
            format!("strength {:.2}", it.strength),
            it.band.name().to_owned(),
            one_line(&it.topic),
        ]
    });
    text.push_str(&table(&rows.collect::<Vec<_>>(), 5));
    if !trace.refreshed.is_empty() {
        let refreshed = one_line(&trace.refreshed.join(", "));
        let _ = writeln!(text, "{INDENT}strengthened: {refreshed}");
    }
    if let Some(created) = &trace.created {
        let _ = writeln!(text, "{INDENT}new entry: {}", one_line(created));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hippo_proto::{IndexState, Scores, SearchMode, TraceMatch};

    use super::*;
    use hippo_types::entry::StrengthBand;

    fn answer() -> SearchResponse {
        let hit = SearchHit {
            id: "c1f".into(),
            path: "memory/2026-01-10.md".into(),
            start_line: 12,
            end_line: 14,
            heading: vec!["Acme".into(), "Deploy".into()],
            score: 0.834,
            scores: Some(Scores {
                lexical: Some(0.7),
                vector: None,
            }),
            strength: None,
            entry: None,
            tokens: 20,
            text: "- deploys run on Fridays\r\n\n- never at \x1b[31mnight\n".into(),
            date: Some("2026-01-10".into()),
            scope: hippo_proto::Scope::Shared,
            copies: 2,
            speaker: None,
            superseded_by: None,
            origin: None,
            explain: Some(BTreeMap::from([("bm25".into(), 0.7), ("window".into(), 0.25)])),
        };
        let plain = SearchHit {
            path: "MEMORY.md".into(),
            start_line: 3,
            end_line: 3,
            heading: vec![],
            score: 0.1,
            text: "Fridays".into(),
            date: None,
            scope: hippo_proto::Scope::Shared,
            copies: 1,
            speaker: None,
            superseded_by: None,
            origin: None,
            explain: None,
            ..hit.clone()
        };
        SearchResponse {
            query: "when".into(),
            mode: SearchMode::Hybrid,
            strategy: Strategy::Search,
            results: vec![hit, plain],
            tokens: 40,
            index: IndexState {
                generation: 4,
                pending: 1,
                lag_ms: 1500,
                degraded: Some("no-model".into()),
                why: Some("no model is installed; hippoctl model pull".into()),
            },
            notes: vec!["tokens are bytes/4".into()],
            trace: None,
            nothing_relevant: false,
            took_ms: 1.0,
        }
    }

    #[test]
    fn results_are_rendered_without_colour() {
        insta::assert_snapshot!(search(&answer(), None, Style { colour: false }));
    }

    #[test]
    fn results_are_rendered_with_colour() {
        let text = search(&answer(), None, Style { colour: true }).replace('\x1b', "^");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn results_on_a_terminal_are_short_and_marked() {
        let mut answer = answer();
        answer.query = "when are deploys at night?".into();
        answer.results[0].text = (1..9).map(|line| format!("- rule {line}\n")).collect();
        answer.results[0].text += "\n- deploys run on Fridays\r\n\n- never at \x1b[31mnight\n";
        let view = TerminalView::new("/w/memory".into(), Some("/w".into()), &answer.query);
        let plain = search(&answer, Some(&view), Style::default());
        let coloured = search(&answer, Some(&view), Style { colour: true });
        let host = coloured
            .split("file://")
            .nth(1)
            .unwrap()
            .split('/')
            .next()
            .unwrap();
        let coloured = coloured.replace(host, "HOST").replace('\x1b', "^");
        insta::assert_snapshot!(format!("{plain}\n{coloured}"));
    }

    #[test]
    fn the_trace_of_an_answer_is_rendered() {
        let fits = |entry: &str, topic: &str, strength, band| TraceMatch {
            entry: entry.into(),
            topic: topic.into(),
            relevance: 0.82,
            strength,
            band,
        };
        let hits = answer().results.into_iter().skip(1);
        let found = SearchResponse {
            strategy: Strategy::Hybrid,
            results: hits
                .map(|hit| SearchHit {
                    strength: Some(0.35),
                    entry: Some("acme-deploy".into()),
                    ..hit
                })
                .collect(),
            trace: Some(SearchTrace {
                reason: "the best entry is weak: search verified it".into(),
                matches: vec![
                    fits("acme-deploy", "Acme \x1b[31mdeploys", 0.35, StrengthBand::Weak),
                    fits("acme", "Acme", 0.912, StrengthBand::Strong),
                ],
                created: None,
                refreshed: vec!["acme-deploy".into()],
            }),
            ..answer()
        };
        let missed = SearchResponse {
            strategy: Strategy::Search,
            results: vec![],
            trace: Some(SearchTrace {
                reason: "no entry fits".into(),
                created: Some("fridays".into()),
                ..SearchTrace::default()
            }),
            ..answer()
        };
        let by_index = SearchResponse {
            strategy: Strategy::Index,
            ..found.clone()
        };
        let plain = [&found, &missed, &by_index].map(|answer| search(answer, None, Style::default()));
        insta::assert_snapshot!(plain.join("\n"));
        let colour = search(&found, None, Style { colour: true });
        insta::assert_snapshot!(colour.replace('\x1b', "^"));
    }

    #[test]
    fn notes_of_results_are_rendered() {
        insta::assert_snapshot!(notes(&answer()).join("\n"));
        let empty = SearchResponse {
            results: vec![],
            index: IndexState::default(),
            notes: vec![],
            ..answer()
        };
        assert_eq!(notes(&empty), ["nothing found"]);
        let mut behind = answer();
        behind.index.degraded = Some("embeddings-behind".into());
        assert!(notes(&behind).iter().all(|note| !note.ends_with("1 chunk")));
    }
}
