//! How much smaller is the context of recorded sessions with the daemon, and where is what was asked for again?

mod play;
mod session;
mod uses;
mod window;

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::Ground;
use super::client::{self, root_of};
use super::table::Figure;
use crate::simulate::plot::{Panel, grid};
use crate::terminal::say;
use play::{Found, Played, play};
use session::Session;

const PART: &str = "replay";
/// Windows of models, tokens. The first is that of the agents whose sessions these are.
const LIMITS: [usize; 3] = [200_000, 64_000, 32_000];
/// How long one call may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Sessions that are drawn, and how many stand in a row.
const DRAWN: usize = 6;
const COLUMNS: usize = 3;

/// A session, and what it came to in each window.
struct Replayed {
    session: Session,
    played: [Played; 3],
}

/// Replays all transcripts against the daemon, and draws the largest into docs/replay.svg.
///
/// # Errors
/// The data is not there, the daemon refuses something, or gives something else than was put.
pub fn run(ground: &mut Ground<'_>) -> Result<Vec<Figure>> {
    let began = Instant::now();
    let sessions = session::all(&ground.workspaces.eval().join("transcripts"))?;
    if sessions.is_empty() {
        bail!("no transcripts below {}", ground.workspaces.eval().display());
    }
    let folder = ground.scratch.folder.join(PART);
    fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
    let root = root_of(&folder)?;
    let mut client = ground.scratch.connect(PATIENCE)?;
    client::add(&mut client, &root)?;
    let mut all = Vec::new();
    for session in sessions {
        let uses = uses::of(&session);
        let mut once = |limit: usize| {
            play(&mut client, &root, &session, &uses, limit)
                .with_context(|| format!("session {} in a window of {limit} tokens", session.name))
        };
        let played = [once(LIMITS[0])?, once(LIMITS[1])?, once(LIMITS[2])?];
        all.push(Replayed { session, played });
    }
    let took = began.elapsed();
    print(&all);
    let path = ground.house.root.join("docs/replay.svg");
    fs::write(&path, draw(&all)).with_context(|| format!("could not write {}", path.display()))?;
    let mut figures = figures(&all);
    let calls: usize = all.iter().map(|one| one.session.turns.len()).sum();
    figures.push(Figure::new(
        PART,
        format!(
            "replaying {} sessions, {calls} turns, in each of {} windows",
            all.len(),
            LIMITS.len()
        ),
        format!("{:.0} s", took.as_secs_f64()),
    ));
    Ok(figures)
}

fn mean(values: &[usize]) -> f64 {
    values.iter().sum::<usize>() as f64 / values.len().max(1) as f64
}

fn most(values: &[usize]) -> usize {
    values.iter().copied().max().unwrap_or(0)
}

fn less(without: f64, with: f64) -> String {
    let change = (with / without.max(1.0) - 1.0) * 100.0;
    format!("{} → {} ({change:+.1} %)", thousands(without), thousands(with))
}

fn thousands(value: f64) -> String {
    let value = format!("{value:.0}");
    match value.len() {
        0..=3 => value,
        length => format!("{},{}", &value[..length - 3], &value[length - 3..]),
    }
}

fn shares(found: &Found) -> String {
    let share = |count: usize| 100.0 * count as f64 / found.all().max(1) as f64;
    match found.all() {
        0 => "–".to_owned(),
        all => format!(
            "{all}: {:.0} / {:.0} / {:.0} %",
            share(found.summary),
            share(found.key_data),
            share(found.fetched)
        ),
    }
}

fn figures(all: &[Replayed]) -> Vec<Figure> {
    let figure = |what: String, measured: String| Figure::new(PART, what, measured);
    let with_entries: Vec<&Replayed> = all
        .iter()
        .filter(|one| !one.played[0].entries.is_empty())
        .collect();
    let mut figures = Vec::new();
    let results: usize = all
        .iter()
        .flat_map(|one| one.session.results())
        .map(|r| hippo_core::tokens::of(&r.content))
        .sum();
    let entries: Vec<(usize, usize)> = all.iter().flat_map(|one| one.played[0].entries.clone()).collect();
    let (large, small) = entries
        .iter()
        .fold((0, 0), |(large, small), entry| (large + entry.0, small + entry.1));
    let worse = entries.iter().filter(|(whole, entry)| entry > whole);
    let (count, more) = worse.fold((0, 0), |(count, more), (whole, entry)| {
        (count + 1, more + entry - whole)
    });
    figures.push(figure(
        format!(
            "tool results that became entries: {} of {} sessions",
            with_entries.len(),
            all.len()
        ),
        format!(
            "{} with {} of {} tokens; their entries {}",
            entries.len(),
            thousands(large as f64),
            thousands(results as f64),
            thousands(small as f64)
        ),
    ));
    figures.push(figure(
        "entries that are larger than what they stand for".into(),
        format!("{count}, by {more} tokens together"),
    ));
    for (at, limit) in LIMITS.iter().enumerate() {
        let together = |of: fn(&Played) -> &Vec<usize>| -> Vec<usize> {
            let values = with_entries.iter().flat_map(|one| of(&one.played[at]));
            values.copied().collect()
        };
        let (without, with) = (together(|p| &p.without), together(|p| &p.with));
        let sum = |which: usize| all.iter().map(|one| one.played[at].compactions[which]).sum();
        let [before, after]: [usize; 2] = [sum(0), sum(1)];
        let window = thousands(*limit as f64);
        figures.push(figure(
            format!(
                "window of {window}: context of a turn, average of {} turns",
                with.len()
            ),
            less(mean(&without), mean(&with)),
        ));
        figures.push(figure(
            format!("window of {window}: largest context"),
            less(most(&without) as f64, most(&with) as f64),
        ));
        figures.push(figure(
            format!("window of {window}: compactions"),
            format!("{before} → {after}: {} avoided", before as i64 - after as i64),
        ));
    }
    let (mut named, mut needed, mut fetches) = (Found::default(), Found::default(), 0);
    for one in all {
        named.add(&one.played[0].named);
        needed.add(&one.played[0].needed);
        fetches += one.played[0].fetches;
    }
    for (what, found) in [
        ("values named later that stood nowhere else by then", &needed),
        ("all values of entries that the agent named later", &named),
    ] {
        figures.push(
            figure(
                format!("{what}, number: in the summary / key data / by fetch"),
                format!("{}; {} secrets", shares(found), found.secret),
            )
            .reach("all found", found.lost == 0),
        );
    }
    figures.push(figure(
        "contents fetched for them in their turn".into(),
        fetches.to_string(),
    ));
    let section = all.iter().map(|one| one.played[0].section).max().unwrap_or(0);
    figures.push(
        figure("largest section".into(), format!("{section} tokens")).reach("≤ 5,000", section <= 5_000),
    );
    figures
}

/// A line for each session with entries; those of a program without any share one.
fn print(all: &[Replayed]) {
    say(format_args!(
        "| session | turns | tokens of tool results | entries | average context | largest context | compactions in {} | needed again: summary / key data / fetch | all named again |\n|---|---|---|---|---|---|---|---|---|",
        LIMITS.map(|limit| format!("{}k", limit / 1_000)).join(", ")
    ));
    let program = |one: &Replayed| one.session.name.split('/').next().unwrap_or_default().to_owned();
    let mut rest: Vec<&Replayed> = Vec::new();
    for (at, one) in all.iter().enumerate() {
        if one.played[0].entries.is_empty() {
            rest.push(one);
        } else {
            line(&one.session.name, &[one]);
        }
        if all.get(at + 1).is_none_or(|next| program(next) != program(one)) && !rest.is_empty() {
            let numbers: Vec<&str> = rest
                .iter()
                .filter_map(|one| one.session.name.split('/').nth(1))
                .collect();
            let name = match numbers.as_slice() {
                [one] => format!("{}/{one}", program(rest[0])),
                many => format!("{}, {} sessions", program(rest[0]), many.len()),
            };
            line(&name, &rest);
            rest.clear();
        }
    }
}

fn line(name: &str, of: &[&Replayed]) {
    let count = of.len() as f64;
    let first = |f: fn(&Played) -> f64| of.iter().map(|one| f(&one.played[0])).sum::<f64>() / count;
    let largest = |f: fn(&Played) -> &Vec<usize>| {
        of.iter().map(|one| most(f(&one.played[0]))).max().unwrap_or(0) as f64
    };
    let (mut needed, mut named) = (Found::default(), Found::default());
    let (mut turns, mut results, mut entries) = (0, 0, (0, 0, 0));
    for one in of {
        needed.add(&one.played[0].needed);
        named.add(&one.played[0].named);
        turns += one.session.turns.len();
        results += one
            .session
            .results()
            .map(|result| hippo_core::tokens::of(&result.content))
            .sum::<usize>();
        for (whole, entry) in &one.played[0].entries {
            entries = (entries.0 + 1, entries.1 + whole, entries.2 + entry);
        }
    }
    let compactions: Vec<String> = (0..LIMITS.len())
        .map(|at| {
            let sum =
                |which: usize| -> usize { of.iter().map(|one| one.played[at].compactions[which]).sum() };
            format!("{} → {}", sum(0), sum(1))
        })
        .collect();
    say(format_args!(
        "| {name} | {turns} | {} | {} | {} | {} | {} | {} | {} |",
        thousands(results as f64),
        match entries {
            (0, ..) => "–".to_owned(),
            (count, large, small) => format!("{count}: {}", less(large as f64, small as f64)),
        },
        less(first(|p| mean(&p.without)), first(|p| mean(&p.with))),
        less(largest(|p| &p.without), largest(|p| &p.with)),
        compactions.join(", "),
        shares(&needed),
        shares(&named)
    ));
}

/// The sessions with the most tokens, turn by turn.
fn draw(all: &[Replayed]) -> String {
    let mut drawn: Vec<&Replayed> = all
        .iter()
        .filter(|one| !one.played[0].entries.is_empty())
        .collect();
    drawn.sort_by_key(|one| std::cmp::Reverse(most(&one.played[0].without)));
    let panels: Vec<Panel<'_>> = drawn.into_iter().take(DRAWN).map(panel).collect();
    grid(&panels, COLUMNS)
}

fn panel(one: &Replayed) -> Panel<'_> {
    let line = |sizes: &[usize]| {
        let points = sizes.iter().enumerate();
        points
            .map(|(turn, size)| ((turn + 1) as f64, *size as f64))
            .collect()
    };
    let played = &one.played[0];
    let top = most(&played.without).max(most(&played.with));
    Panel {
        title: format!("{}: tokens in the context", one.session.name),
        across: "turn",
        top: top.next_multiple_of(4_000) as f64,
        scale: |value| format!("{:.0}k", value / 1_000.0),
        end: played.with.len() as f64,
        lines: vec![
            ("without hippod".to_owned(), line(&played.without)),
            ("with hippod".to_owned(), line(&played.with)),
        ],
    }
}
