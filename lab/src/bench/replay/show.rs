//! Tables and curves of replayed sessions.

use super::play::{ReplayOptions, ReplayResult, ValueTally};
use super::{LIMITS, OTHERS, SessionReplays, WORTH, mean, most};
use crate::simulate::plot::{Panel, grid};
use crate::terminal::say;

/// Number of sessions to draw, and of columns in the drawing.
const DRAWN: usize = 6;
const COLUMNS: usize = 3;

/// Returns text with both numbers, and the change from the first to the second in percent.
pub fn less(without: f64, with: f64) -> String {
    let change = (with / without.max(1.0) - 1.0) * 100.0;
    let change = match format!("{change:.0}").as_str() {
        "0" | "-0" => "±0".to_owned(),
        less if less.starts_with('-') => less.replace('-', "−"),
        more => format!("+{more}"),
    };
    format!("{} → {} ({change} %)", thousands(without), thousands(with))
}

/// Returns a number with thousands separators.
pub fn thousands(value: f64) -> String {
    let value = format!("{value:.0}");
    match value.len() {
        0..=3 => value,
        length => format!("{},{}", &value[..length - 3], &value[length - 3..]),
    }
}

/// Returns text with the number of values and, for each place, the share of the values that were found there.
pub fn shares(found: &ValueTally) -> String {
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

/// Prints a line for each session with entries. For each program, all sessions without entries share one line.
pub fn sessions(all: &[SessionReplays]) {
    say(format_args!(
        "| session | turns | tokens of tool results | entries | average context | largest context | compactions in {} | needed again: summary / key data / fetch | all named again |\n|---|---|---|---|---|---|---|---|---|",
        LIMITS.map(|limit| format!("{}k", limit / 1_000)).join(", ")
    ));
    let program = |one: &SessionReplays| one.session.name.split('/').next().unwrap_or_default().to_owned();
    let mut rest: Vec<&SessionReplays> = Vec::new();
    for (at, one) in all.iter().enumerate() {
        if !one.has_entries() {
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

fn line(name: &str, of: &[&SessionReplays]) {
    let count = of.len() as f64;
    let first = |f: fn(&ReplayResult) -> f64| of.iter().map(|one| f(&one.played[0])).sum::<f64>() / count;
    let largest = |f: fn(&ReplayResult) -> &Vec<usize>| {
        of.iter().map(|one| most(f(&one.played[0]))).max().unwrap_or(0) as f64
    };
    let (mut needed, mut named) = (ValueTally::default(), ValueTally::default());
    let (mut turns, mut results, mut entries) = (0, 0, (0, 0, 0));
    for one in of {
        needed.add(&one.played[0].needed);
        named.add(&one.played[0].named);
        turns += one.session.turns.len();
        results += one
            .session
            .results()
            .map(|result| hippo_types::tokens::of(&result.content))
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

/// Prints a line for the default options, and a line for each of the additional options [`OTHERS`].
pub fn others(all: &[SessionReplays]) {
    say(format_args!(
        "\n| window of {}: entries above, of, what tools gave whole for so many turns | average context | largest context | entries | needed again: summary / key data / fetch | contents fetched |\n|---|---|---|---|---|---|",
        thousands(LIMITS[0] as f64)
    ));
    let all: Vec<&SessionReplays> = all.iter().filter(|one| one.has_entries()).collect();
    way(
        super::way(LIMITS[0], 1, None, WORTH),
        &all.iter().map(|one| &one.played[0]).collect::<Vec<_>>(),
    );
    for (at, other) in OTHERS.into_iter().enumerate() {
        way(
            other,
            &all.iter()
                .filter_map(|one| one.others.get(at))
                .collect::<Vec<_>>(),
        );
    }
}

fn way(way: ReplayOptions, of: &[&ReplayResult]) {
    let (mut needed, mut fetches, mut entries) = (ValueTally::default(), 0, (0, 0));
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for played in of {
        needed.add(&played.needed);
        fetches += played.fetches;
        without.extend(&played.without);
        with.extend(&played.with);
        for (large, small) in &played.entries {
            entries = (entries.0 + large, entries.1 + small);
        }
    }
    let ReplayOptions {
        whole, told, worth, ..
    } = way;
    let told = told.map_or("of the daemon's default size".to_owned(), |told| {
        format!("of at most {told} tokens")
    });
    say(format_args!(
        "| entries for results above {} tokens, {told}, result whole for {whole} turns | {} | {} | {} | {} | \
         {fetches} |",
        thousands(worth as f64),
        less(mean(&without), mean(&with)),
        less(most(&without) as f64, most(&with) as f64),
        less(entries.0 as f64, entries.1 as f64),
        shares(&needed),
    ));
}

/// Draws the sessions with the most tokens, turn by turn.
pub fn draw(all: &[SessionReplays]) -> String {
    let mut drawn: Vec<&SessionReplays> = all.iter().filter(|one| one.has_entries()).collect();
    drawn.sort_by_key(|one| std::cmp::Reverse(most(&one.played[0].without)));
    let panels: Vec<Panel<'_>> = drawn.into_iter().take(DRAWN).map(panel).collect();
    grid(&panels, COLUMNS)
}

fn panel(one: &SessionReplays) -> Panel<'_> {
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
