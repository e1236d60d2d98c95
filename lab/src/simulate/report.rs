//! Tables of the simulation.

use std::fmt::Write;
use std::ops::Range;

use hippo_map::decay::{self, DecayCurve, DecayModifiers};

use super::studies::{Grain, SimilarityStudy};
use super::sweep::CurveOutcome;
use super::year::{QuestionResults, Week, Year};

/// The two simulated years, each with the name of its decay profile.
pub type Years<'a> = [(&'static str, &'a Year); 2];

/// Milliseconds in a day.
pub const DAY: i64 = 86_400_000;
/// Ranges of weeks that a table compares.
const SPANS: [(&str, Range<usize>); 3] = [
    ("weeks 1–4", 0..4),
    ("weeks 23–26", 22..26),
    ("weeks 49–52", 48..52),
];

fn sum(year: &Year, span: &Range<usize>, which: impl Fn(&Week) -> QuestionResults) -> QuestionResults {
    let mut asked = QuestionResults::default();
    year.weeks
        .get(span.clone())
        .into_iter()
        .flatten()
        .for_each(|week| asked.add(&which(week)));
    asked
}

/// A row of the table: its name, the function that selects questions of a week, and the function that counts their
/// results.
type ResultRow = (
    &'static str,
    fn(&Week) -> QuestionResults,
    fn(&QuestionResults) -> usize,
);

/// Returns the table that compares the two years.
pub fn year_table(years: &Years<'_>) -> String {
    let mut table = "| | weeks | PROTOCOL | TUNED |\n|---|---|---|---|\n".to_owned();
    let rows: [ResultRow; 7] = [
        (
            "agent's questions: right entry among the 5 best",
            |week| week.asked,
            |asked| asked.found,
        ),
        (
            "agent's questions: right entry is the best",
            |week| week.asked,
            |asked| asked.first,
        ),
        (
            "agent's questions: right entry in the index file",
            |week| week.asked,
            |asked| asked.shown,
        ),
        (
            "agent's questions: right place among the 5 best results of search",
            |week| week.asked,
            |asked| asked.answered,
        ),
        (
            "agent's questions: right entry silent or archived",
            |week| week.asked,
            |asked| asked.lost,
        ),
        (
            "needs that came up before: right entry among the 5 best",
            |week| week.accessed,
            |asked| asked.found,
        ),
        (
            "needs that never came up before: right entry among the 5 best",
            |week| week.never,
            |asked| asked.found,
        ),
    ];
    for (name, which, of) in rows {
        for (span_name, span) in &SPANS {
            let cells = years.each_ref().map(|(_, year)| {
                let asked = sum(year, span, which);
                format!("{:.1} %", asked.share(of(&asked)) * 100.0)
            });
            let _ = writeln!(
                table,
                "| {name} | {} | {} | {} |",
                &span_name[6..],
                cells[0],
                cells[1]
            );
        }
    }
    let last = years
        .each_ref()
        .map(|(_, year)| year.weeks.last().cloned().unwrap_or_default());
    let mut end = |name: &str, of: &dyn Fn(&Week) -> String| {
        let _ = writeln!(table, "| {name} | end | {} | {} |", of(&last[0]), of(&last[1]));
    };
    end("live / Decay Queue / archive", &|week| {
        format!("{} / {} / {}", week.live, week.queued, week.archived)
    });
    end("entries / tokens of the index file", &|week| {
        format!("{} / {}", week.shown, week.tokens)
    });
    end("tokens of the index file and the files below it", &|week| {
        week.all_tokens.to_string()
    });
    end(
        "live entries silent / decaying / weak / moderate / strong",
        &|week| {
            let bands = week.bands.map(|band| band.to_string());
            bands.join(" / ")
        },
    );
    let pointers = years.each_ref().map(|(_, year)| {
        let (all, valid) = year.pointers;
        format!("{valid} of {all}")
    });
    let _ = writeln!(
        table,
        "| pointers that lead somewhere | end | {} | {} |",
        pointers[0], pointers[1]
    );
    let rules = [
        ("into the Decay Queue", "queue"),
        ("back from it", "revive"),
        ("pruned", "prune"),
        ("archived after 30 days in the queue", "archive"),
        ("merged", "merge"),
    ];
    for (name, rule) in rules {
        let steps = years
            .each_ref()
            .map(|(_, year)| year.steps.get(rule).copied().unwrap_or(0));
        let _ = writeln!(table, "| {name} | all | {} | {} |", steps[0], steps[1]);
    }
    table
}

/// Returns the table of curves and the quality of their predictions.
pub fn curve_table(rows: &[(String, [CurveOutcome; 4])]) -> String {
    let mut table = "| ranked by | drift 0 | 0.3 | 1 | 3 | silent when asked for | not silent at the end |\n|---|---|---|---|---|---|---|\n".to_owned();
    for (name, outcomes) in rows {
        let mean =
            |of: fn(&CurveOutcome) -> f64| outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64;
        let seen = outcomes
            .map(|outcome| format!("{:.1} %", outcome.seen * 100.0))
            .join(" | ");
        let (silent, loud) = (mean(|outcome| outcome.silent), mean(|outcome| outcome.loud));
        let _ = match name.contains('=') || name.contains("PROTOCOL") || name.contains("TUNED") {
            true => writeln!(
                table,
                "| {name} | {seen} | {:.1} % | {:.0} % |",
                silent * 100.0,
                loud * 100.0
            ),
            false => writeln!(table, "| {name} | {seen} | – | – |"),
        };
    }
    table
}

/// Returns the table of the cold start.
pub fn cold_table(cold: &[(bool, bool)]) -> String {
    let mut table = "| questions | empty at first | bootstrapped |\n|---|---|---|\n".to_owned();
    for span in [0..20, 20..40, 40..100, 100..200, 200..400, 400..800] {
        let Some(block) = cold.get(span.clone()) else {
            continue;
        };
        let share = |which: fn(&(bool, bool)) -> bool| {
            let found = block.iter().filter(|answered| which(answered)).count();
            format!("{:.0} %", found as f64 / block.len() as f64 * 100.0)
        };
        let _ = writeln!(
            table,
            "| {}–{} | {} | {} |",
            span.start + 1,
            span.end,
            share(|one| one.0),
            share(|one| one.1)
        );
    }
    table
}

/// Returns the table of entry sizes.
pub fn grain_table(grains: &[Grain]) -> String {
    let mut table =
        "| an entry is about | entries | tokens of all | best | among 5 best | tokens to read behind the best |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for grain in grains {
        let _ = writeln!(
            table,
            "| {} | {} | {} | {:.1} % | {:.1} % | {:.0} |",
            grain.name,
            grain.entries,
            grain.tokens,
            grain.first * 100.0,
            grain.found * 100.0,
            grain.read
        );
    }
    table
}

/// Returns the table of pairs of entries by similarity.
pub fn alike_table(rows: &[SimilarityStudy]) -> String {
    let mut table =
        "| cosine from | pairs | state the same values | of these about different things |\n|---|---|---|---|\n".to_owned();
    for row in rows {
        let _ = writeln!(
            table,
            "| {:.2} | {} | {} | {} |",
            row.cosine, row.pairs, row.pass, row.wrong
        );
    }
    table
}

/// Returns a table with the days until a strength falls into each band, for a few kinds of entries. A dash means 5
/// years or more.
pub fn band_table() -> String {
    let mut table = "| entry | PROTOCOL: days until below 0.8 / 0.5 / 0.3 / 0.1 | TUNED: days until below 0.8 / 0.5 / 0.3 / 0.1 |\n|---|---|---|\n"
        .to_owned();
    let kinds = [
        ("never accessed", 0, false),
        ("accessed once", 1, false),
        ("accessed 5 times", 5, false),
        ("accessed 50 times", 50, false),
        ("never accessed, created manually", 0, true),
    ];
    for (name, hits, manual) in kinds {
        let days = |profile: &DecayCurve| {
            let modifiers = DecayModifiers {
                hits,
                manual,
                ..DecayModifiers::default()
            };
            let of = |target| match decay::time_until(profile, 1.0, target, modifiers) {
                Some(time) if time < 5 * 365 * DAY => format!("{:.1}", time as f64 / DAY as f64),
                _ => "–".to_owned(),
            };
            [0.8, 0.5, 0.3, 0.1].map(of).join(" / ")
        };
        let _ = writeln!(
            table,
            "| {name} | {} | {} |",
            days(&DecayCurve::PROTOCOL),
            days(&DecayCurve::TUNED)
        );
    }
    table
}

/// Replaces the table between the markers with this name in a document.
///
/// # Errors
/// Fails if the document does not contain these markers.
pub fn fill(document: &str, name: &str, table: &str) -> anyhow::Result<String> {
    let (open, close) = (format!("<!-- simulate: {name} -->\n"), "<!-- /simulate -->");
    let place = document
        .split_once(&open)
        .and_then(|(before, rest)| Some((before, rest.split_once(close)?.1)));
    let Some((before, after)) = place else {
        anyhow::bail!(
            "the document has no place for the table {name}: add these markers: {}{close}",
            open.trim()
        );
    };
    Ok(format!("{before}{open}\n{table}\n{close}{after}"))
}
