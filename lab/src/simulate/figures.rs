//! Figures of the simulation.

use hippo_map::decay::{self, DecayCurve};
use hippo_proto::IndexEntry;
use hippo_types::entry::{Entry, EntryPriority};
use hippo_types::time::Timestamp;

use super::plot::{Panel, figure};
use super::report::{DAY, Years};
use super::year::{QuestionResults, Week, Year};

/// Returns all figures, by file name.
pub fn all(years: &Years<'_>, cold: &[(bool, bool)]) -> Vec<(&'static str, String)> {
    vec![
        ("strengths.svg", strengths(years)),
        ("access.svg", access()),
        ("recall.svg", recall(years)),
        ("questions.svg", questions(years)),
        ("counts.svg", counts(years)),
        ("tokens.svg", tokens(years)),
        ("cold-start.svg", cold_start(cold)),
    ]
}

/// Returns typical entries. They are chosen by the number of days on which they were accessed with the second profile.
fn typical(years: &Years<'_>) -> Vec<(String, String)> {
    let last = &years[1].1;
    let early = |entry: &&IndexEntry| {
        let born = |year: &Year| Some(*year.strengths.get(&entry.id)?.first()? > 0.0);
        years.iter().all(|(_, year)| born(year) == Some(true))
    };
    let of_priority = |priority| {
        let entries = last.entries.iter().filter(early);
        entries.filter(move |entry| entry.priority == priority)
    };
    let days = |id: &String| last.touched.get(id).copied().unwrap_or(0);
    let mut all: Vec<(usize, &String)> = of_priority(EntryPriority::Normal)
        .map(|entry| (days(&entry.id), &entry.id))
        .collect();
    all.sort();
    let mut found = Vec::new();
    let wanted = [
        ("accessed on most days", usize::MAX),
        ("accessed about twice a month", 24),
        ("accessed about every other month", 6),
        ("never accessed", 0),
    ];
    for (name, days) in wanted {
        let nearest = all.iter().min_by_key(|(there, _)| there.abs_diff(days));
        if let Some((there, id)) = nearest {
            let name = if *there == 0 {
                name.to_owned()
            } else {
                format!("{name} ({there} days)")
            };
            found.push((name, (*id).clone()));
        }
    }
    let amygdala = of_priority(EntryPriority::Amygdala).next();
    found.extend(amygdala.map(|entry| ("amygdala".to_owned(), entry.id.clone())));
    found
}

fn strengths(years: &Years<'_>) -> String {
    let typical = typical(years);
    let panels = years.map(|(name, year)| Panel {
        title: format!("Strength of typical entries, {name}"),
        across: "day",
        top: 1.0,
        scale: plain,
        end: 364.0,
        lines: typical
            .iter()
            .filter_map(|(name, id)| {
                let line = year.strengths.get(id)?;
                let points = line
                    .iter()
                    .enumerate()
                    .map(|(day, strength)| (day as f64, f64::from(*strength)));
                Some((name.clone(), points.collect()))
            })
            .collect(),
    });
    figure(&panels)
}

/// Plots the strength of an entry that is accessed once, two months after its previous access.
fn access() -> String {
    let panels = [("PROTOCOL", DecayCurve::PROTOCOL), ("TUNED", DecayCurve::TUNED)].map(|(name, profile)| {
        let untouched = Entry {
            strength: 1.0,
            ..Entry::default()
        };
        let mut touched = untouched.clone();
        let line = |entry: &Entry, from: i64| {
            let days = (from * 4..=180 * 4).map(|quarter| quarter as f64 / 4.0);
            days.map(|day| {
                let now = Timestamp((day * DAY as f64) as i64);
                (day, f64::from(decay::strength_at(&profile, entry, now)))
            })
            .collect::<Vec<(f64, f64)>>()
        };
        let without = line(&untouched, 0);
        decay::record_access(&profile, &mut touched, Timestamp(60 * DAY), 1);
        Panel {
            title: format!("One access on day 60, {name}"),
            across: "day",
            top: 1.0,
            scale: plain,
            end: 180.0,
            lines: vec![
                ("without the access".to_owned(), without),
                ("with the access".to_owned(), line(&touched, 60)),
            ],
        }
    });
    figure(&panels)
}

/// Returns a line with a point for each week. Each point covers that week and the three weeks before.
fn weekly(
    year: &Year,
    of: impl Fn(&QuestionResults) -> usize,
    which: impl Fn(&Week) -> QuestionResults,
) -> Vec<(f64, f64)> {
    let weeks = year.weeks.iter().enumerate();
    weeks
        .map(|(at, _)| {
            let mut asked = QuestionResults::default();
            for week in &year.weeks[at.saturating_sub(3)..=at] {
                asked.add(&which(week));
            }
            ((at + 1) as f64, asked.share(of(&asked)))
        })
        .collect()
}

fn recall(years: &Years<'_>) -> String {
    let panels = years.map(|(name, year)| Panel {
        title: format!("Right entry among the 5 best, {name}"),
        across: "week",
        top: 1.0,
        scale: percent,
        end: 52.0,
        lines: vec![
            (
                "asked for before".to_owned(),
                weekly(year, |asked| asked.found, |week| week.accessed),
            ),
            (
                "never asked for".to_owned(),
                weekly(year, |asked| asked.found, |week| week.never),
            ),
        ],
    });
    figure(&panels)
}

fn questions(years: &Years<'_>) -> String {
    let panels = years.map(|(name, year)| Panel {
        title: format!("The agent's own questions, {name}"),
        across: "week",
        top: 1.0,
        scale: percent,
        end: 52.0,
        lines: vec![
            (
                "right entry among the 5 best".to_owned(),
                weekly(year, |asked| asked.found, |week| week.asked),
            ),
            (
                "right entry in the index file".to_owned(),
                weekly(year, |asked| asked.shown, |week| week.asked),
            ),
            (
                "right place among the 5 best results".to_owned(),
                weekly(year, |asked| asked.answered, |week| week.asked),
            ),
            (
                "right entry silent or archived".to_owned(),
                weekly(year, |asked| asked.lost, |week| week.asked),
            ),
        ],
    });
    figure(&panels)
}

fn line(year: &Year, of: impl Fn(&Week) -> usize) -> Vec<(f64, f64)> {
    let weeks = year.weeks.iter().enumerate();
    weeks
        .map(|(at, week)| ((at + 1) as f64, of(week) as f64))
        .collect()
}

fn counts(years: &Years<'_>) -> String {
    let panels = years.map(|(name, year)| Panel {
        title: format!("Entries, {name}"),
        across: "week",
        top: 1_600.0,
        scale: count,
        end: 52.0,
        lines: vec![
            ("live".to_owned(), line(year, |week| week.live)),
            ("in the Decay Queue".to_owned(), line(year, |week| week.queued)),
            ("archived".to_owned(), line(year, |week| week.archived)),
        ],
    });
    figure(&panels)
}

fn tokens(years: &Years<'_>) -> String {
    let panels = years.map(|(name, year)| Panel {
        title: format!("Tokens, {name}"),
        across: "week",
        top: 120_000.0,
        scale: |value| format!("{:.0}k", value / 1_000.0),
        end: 52.0,
        lines: vec![
            ("the index file".to_owned(), line(year, |week| week.tokens)),
            (
                "with the files below it".to_owned(),
                line(year, |week| week.all_tokens),
            ),
        ],
    });
    figure(&panels)
}

/// Number of questions for each point of the cold start.
const BLOCK: usize = 20;

fn blocks(cold: &[(bool, bool)]) -> Vec<(f64, f64, f64)> {
    let share = |block: &[(bool, bool)], which: fn(&(bool, bool)) -> bool| {
        block.iter().filter(|answered| which(answered)).count() as f64 / block.len() as f64
    };
    let blocks = cold.chunks(BLOCK).enumerate();
    blocks
        .map(|(at, block)| {
            (
                ((at + 1) * BLOCK) as f64,
                share(block, |one| one.0),
                share(block, |one| one.1),
            )
        })
        .collect()
}

fn cold_start(cold: &[(bool, bool)]) -> String {
    let shown: Vec<(f64, f64, f64)> = blocks(cold).into_iter().take(40).collect();
    let panel = Panel {
        title: "Right entry among the 5 best".to_owned(),
        across: "question",
        top: 1.0,
        scale: percent,
        end: 800.0,
        lines: vec![
            (
                "index empty at first".to_owned(),
                shown.iter().map(|(at, cold, _)| (*at, *cold)).collect(),
            ),
            (
                "bootstrapped".to_owned(),
                shown.iter().map(|(at, _, warm)| (*at, *warm)).collect(),
            ),
        ],
    };
    figure(&[panel])
}

fn percent(value: f64) -> String {
    format!("{:.0} %", value * 100.0)
}

fn plain(value: f64) -> String {
    format!("{value:.2}")
}

fn count(value: f64) -> String {
    format!("{value:.0}")
}
