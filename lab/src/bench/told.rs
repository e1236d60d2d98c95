//! Does the compaction tree of a workspace help search, or does it stand in its way?

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{
    MAX_LIMIT, Mode, Request, SearchRequest, TreeCompactRequest, TreeCompactResponse, WorkspaceSyncRequest,
    WorkspaceSyncResponse,
};
use serde::Deserialize;

use super::Ground;
use super::ask::{Asker, BUDGETS, Question, Span, mean, questions, recall};
use super::fresh::{settle, switch};
use super::table::{Figure, ms, percentile};

const PART: &str = "told";
/// How long nodes may take to be made and indexed.
const PATIENCE: Duration = Duration::from_secs(1800);
/// Pause between two looks at the index.
const PAUSE: Duration = Duration::from_secs(1);
/// Sessions that count.
const DEPTH: usize = 10;
/// The constants of reciprocal rank fusion that were tried, with the weights of ROOT.md's list.
const FUSIONS: [(f64, f64); 6] = [
    (60.0, 1.0),
    (60.0, 0.2),
    (60.0, 0.1),
    (10.0, 0.5),
    (10.0, 0.2),
    (10.0, 0.1),
];
/// Where nodes are.
const NODES: [&str; 4] = [
    "memory/daily",
    "memory/weekly",
    "memory/monthly",
    "memory/ROOT.md",
];

#[derive(Deserialize)]
struct Grouped {
    group: Option<String>,
    evidence: Vec<Span>,
}

/// The sessions that an answer names, best first, each by the first of its lines that was found.
type Sessions = Vec<Span>;

/// Sessions found and evidence recalled without a tree, with its nodes as files like all others, and with what they lead to;
/// and with the topics of ROOT.md as one more list.
///
/// # Errors
/// The data is not there, or the daemon fails.
pub fn run(ground: &mut Ground<'_>) -> Result<Vec<Figure>> {
    let mut figures = memaware(ground)?;
    figures.extend(locomo(ground)?);
    Ok(figures)
}

fn memaware(ground: &mut Ground<'_>) -> Result<Vec<Figure>> {
    let root = ground.workspaces.get("memaware")?.root;
    let folder = ground.workspaces.data("memaware");
    let mut asked = Vec::new();
    let mut groups = Vec::new();
    for (file, group) in [
        ("questions_explicit.jsonl", Some("explicit")),
        ("questions_implicit.jsonl", None),
    ] {
        asked.extend(questions(&folder.join(file))?);
        groups.extend(grouped(&folder.join(file), group)?);
    }
    let mut figures = Vec::new();
    let alone = sessions(ground, &root, &asked)?;
    figures.push(row("search alone", &asked, &groups, &alone));
    let before = plant(ground, &root)?;
    settle(ground, &root, "[search]\ntree_weight = 0.0\n")?;
    let among = sessions(ground, &root, &asked)?;
    figures.push(row("nodes in the index as other files", &asked, &groups, &among));
    let days = days(ground, &root, &asked)?;
    figures.push(hits(&asked, &groups, &days));
    for (constant, weight) in FUSIONS {
        let what = format!("topics of ROOT.md as one more list, RRF {constant}, weight {weight}");
        let fused = alone.iter().zip(&days);
        let fused: Vec<Sessions> = fused
            .map(|(sessions, days)| fuse(sessions, days, constant, weight))
            .collect();
        figures.push(row(&what, &asked, &groups, &fused));
    }
    settle(ground, &root, "[search]\n")?;
    let told = sessions(ground, &root, &asked)?;
    figures.push(row(
        "what daily nodes lead to, as shipped",
        &asked,
        &groups,
        &told,
    ));
    uproot(ground, &root, before)?;
    switch(ground, &root, true)?;
    Ok(figures)
}

fn locomo(ground: &mut Ground<'_>) -> Result<Vec<Figure>> {
    let folder = ground.workspaces.data("locomo");
    let names = fs::read_dir(&folder).with_context(|| format!("could not read {}", folder.display()))?;
    let names: BTreeSet<String> = names
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("conv-"))
        .collect();
    let mut found: [Vec<Vec<f64>>; 2] = [Vec::new(), Vec::new()];
    let mut times: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for name in names {
        let root = ground.workspaces.get(&format!("locomo/{name}"))?.root;
        let asked = questions(&folder.join(&name).join("questions.jsonl"))?;
        let mut before = 0;
        for (at, found) in found.iter_mut().enumerate() {
            if at == 1 {
                before = plant(ground, &root)?;
            }
            let outcomes = Asker::new(ground.scratch, &root)?.measure(Mode::Hybrid, None, &asked)?;
            times[at].extend(outcomes.iter().map(|outcome| outcome.plain.ms));
            found.extend(
                outcomes
                    .iter()
                    .map(|outcome| outcome.within.iter().map(|within| within.recall).collect()),
            );
        }
        uproot(ground, &root, before)?;
    }
    let titles = ["without a tree", "with a tree"];
    let figures = titles.iter().zip(&found).map(|(title, found)| {
        let shares = (0..BUDGETS.len()).map(|at| mean(found.iter().map(|within| within[at])));
        let shares: Vec<String> = shares.map(|share| format!("{:.1}", share * 100.0)).collect();
        let what = format!("LoCoMo, {title}: evidence recall within {BUDGETS:?} tokens");
        Figure::new(PART, what, format!("{} %", shares.join(" / ")))
    });
    let [alone, told] = times.each_ref().map(|times| percentile(times, 0.5));
    let time = Figure::new(
        PART,
        "LoCoMo, a hybrid question over the socket, p50, with a tree (without)",
        format!("{} ({}): {:.2} ×", ms(told), ms(alone), told / alone),
    );
    Ok(figures.chain([time]).collect())
}

/// The groups of the questions that have evidence.
fn grouped(path: &Path, all: Option<&str>) -> Result<Vec<String>> {
    let text = fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    let mut groups = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let one: Grouped = serde_json::from_str(line)?;
        if !one.evidence.is_empty() {
            let group = all.map(str::to_owned).or(one.group);
            groups.push(group.unwrap_or_default());
        }
    }
    Ok(groups)
}

/// Has the daemon make the tree as of the last log, and waits until it is searchable; answers how many documents there were.
fn plant(ground: &Ground<'_>, root: &str) -> Result<u64> {
    let before = sync(ground, root)?;
    let logs = fs::read_dir(Path::new(root).join("memory"))?;
    let names = logs.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let last = names
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .filter(|name| name.starts_with("20"))
        .max();
    let request = TreeCompactRequest {
        workspace: root.to_owned(),
        at: last.and_then(|last| last.get(..10).map(str::to_owned)),
        ..TreeCompactRequest::default()
    };
    let _: TreeCompactResponse = ground.scratch.connect(PATIENCE)?.call(&Request::from(request))?;
    sync(ground, root)?;
    Ok(before)
}

/// Takes the tree away, and waits until the index has as many documents as before it.
fn uproot(ground: &Ground<'_>, root: &str, before: u64) -> Result<()> {
    for node in NODES {
        let path = Path::new(root).join(node);
        if path.is_dir() {
            fs::remove_dir_all(&path)?;
        } else if path.exists() {
            fs::remove_file(&path)?;
        }
    }
    // What is missing counts as deleted only after a while.
    let begun = Instant::now();
    while sync(ground, root)? != before {
        if begun.elapsed() > PATIENCE {
            bail!("the index of {root} still has nodes that are gone");
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// Waits until all that is on disk is searchable; answers how many documents that are.
fn sync(ground: &Ground<'_>, root: &str) -> Result<u64> {
    let request = WorkspaceSyncRequest {
        workspace: root.to_owned(),
        wait: true,
        accept_deletions: true,
    };
    let synced: WorkspaceSyncResponse = ground.scratch.connect(PATIENCE)?.call(&Request::from(request))?;
    Ok(synced.documents)
}

fn sessions(ground: &Ground<'_>, root: &str, asked: &[Question]) -> Result<Vec<Sessions>> {
    let mut asker = Asker::new(ground.scratch, root)?;
    let one = |question: &Question| {
        let request = SearchRequest {
            limit: Some(MAX_LIMIT),
            ..asker.request(Mode::Hybrid, &question.query)
        };
        let (answer, _) = asker.ask(request)?;
        let mut seen = BTreeSet::new();
        let hits = answer.results.into_iter().filter(|hit| {
            let heading = hit.heading.iter().take(2).cloned().collect::<Vec<_>>();
            seen.insert((hit.path.clone(), heading))
        });
        let spans = hits.map(|hit| Span {
            path: hit.path,
            start_line: hit.start_line,
            end_line: hit.end_line,
        });
        Ok(spans.collect())
    };
    asked.iter().map(one).collect()
}

/// The days that lines of ROOT.md lead to, those of the best lines first.
fn days(ground: &Ground<'_>, root: &str, asked: &[Question]) -> Result<Vec<Vec<String>>> {
    let mut asker = Asker::new(ground.scratch, root)?;
    let one = |question: &Question| {
        let request = SearchRequest {
            limit: Some(MAX_LIMIT),
            path: Some("memory/ROOT.md".to_owned()),
            ..asker.request(Mode::Hybrid, &question.query)
        };
        let (answer, _) = asker.ask(request)?;
        let mut days: Vec<String> = Vec::new();
        for line in answer.results.iter().flat_map(|hit| hit.text.lines()) {
            let day = line.rsplit_once(" → ").map(|(_, day)| day.trim().to_owned());
            days.extend(day.filter(|day| day.len() == 10 && !days.contains(day)));
        }
        Ok(days)
    };
    asked.iter().map(one).collect()
}

/// Reciprocal rank fusion of sessions with the days that they are of.
fn fuse(sessions: &Sessions, days: &[String], constant: f64, weight: f64) -> Sessions {
    let days: HashMap<&str, usize> = (1..).zip(days).map(|(rank, day)| (day.as_str(), rank)).collect();
    let worth = |rank: usize, span: &Span| {
        let day = days.iter().find(|(day, _)| span.path.contains(**day));
        let of_day = day.map_or(0.0, |(_, rank)| weight / (constant + *rank as f64));
        1.0 / (constant + rank as f64) + of_day
    };
    let mut fused: Vec<(f64, &Span)> = (1..)
        .zip(sessions)
        .map(|(rank, span)| (worth(rank, span), span))
        .collect();
    fused.sort_by(|a, b| b.0.total_cmp(&a.0));
    fused.into_iter().map(|(_, span)| span.clone()).collect()
}

/// R@10 over sessions by group, and MRR of the explicit questions.
fn row(what: &str, asked: &[Question], groups: &[String], found: &[Sessions]) -> Figure {
    let mut recalls: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut ranks = Vec::new();
    for ((question, group), sessions) in asked.iter().zip(groups).zip(found) {
        let first = &sessions[..sessions.len().min(DEPTH)];
        recalls
            .entry(group)
            .or_default()
            .push(recall(first, &question.evidence));
        if group == "explicit" {
            let is_evidence = |span: &Span| recall(std::slice::from_ref(span), &question.evidence) > 0.0;
            let rank = sessions.iter().position(is_evidence);
            ranks.push(rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64));
        }
    }
    let shares = recalls.into_iter();
    let shares: Vec<String> = shares
        .map(|(group, recalls)| format!("{group} {:.1} %", mean(recalls) * 100.0))
        .collect();
    Figure::new(
        PART,
        format!("memaware, R@10 over sessions, {what}"),
        format!("{}; MRR of explicit {:.3}", shares.join(", "), mean(ranks)),
    )
}

/// How often a day of the evidence is among the ten that ROOT.md's best lines lead to.
fn hits(asked: &[Question], groups: &[String], days: &[Vec<String>]) -> Figure {
    let mut shares: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for ((question, group), days) in asked.iter().zip(groups).zip(days) {
        let ten = &days[..days.len().min(DEPTH)];
        let is_named = |span: &&Span| ten.iter().any(|day| span.path.contains(day.as_str()));
        let named = question.evidence.iter().filter(is_named).count();
        shares
            .entry(group)
            .or_default()
            .push(named as f64 / question.evidence.len().max(1) as f64);
    }
    let shares = shares.into_iter();
    let shares: Vec<String> = shares
        .map(|(group, shares)| format!("{group} {:.1} %", mean(shares) * 100.0))
        .collect();
    Figure::new(
        PART,
        "memaware, days of the evidence among the ten that ROOT.md's best lines name (by chance: 10 of 91, 11.0 %)",
        shares.join(", "),
    )
}
