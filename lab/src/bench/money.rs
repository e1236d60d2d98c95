//! Price of recorded sessions with different ways to manage the context.

mod arm;
mod need;
mod price;
mod run;

use std::path::Path;

use anyhow::{Result, bail};

use super::replay::session;
use super::replay::thousands;
use super::table::Figure;
use crate::terminal::say;
use arm::{ArmResult, ContextArm, Summarizer};
use need::ItemList;
use price::{MODELS, ModelPrice};

const PART: &str = "money";
/// Tokens of a system prompt that recorded sessions do not contain, for a second price.
const SYSTEM: usize = 15_000;
/// Threshold and kept tokens of a harness's own compaction: 80 % and 10 % of a window of 200,000 tokens.
const HARNESS: [usize; 2] = [160_000, 20_000];
/// Number of tokens above which a tool result is large.
const LARGE: usize = 1_000;
/// Thresholds and kept tokens for hippod.
const EARLIER: [[usize; 2]; 7] = [
    HARNESS,
    [160_000, 40_000],
    [100_000, 25_000],
    [64_000, 16_000],
    [50_000, 12_500],
    [40_000, 10_000],
    [30_000, 7_500],
];
/// The arm that has to reach the goals.
const CHOSEN: [usize; 2] = EARLIER[5];
/// Maximum tokens of hippod's summary at a compaction.
const SUMMARY: usize = 6_000;
/// Tokens of a part that an agent fetches with a pattern.
const FETCHED: Option<usize> = Some(300);

/// Prices all transcripts.
///
/// # Errors
/// Fails if the data is missing.
pub fn run(eval: &Path) -> Result<Vec<Figure>> {
    let sessions = session::all(&eval.join("transcripts"))?;
    if sessions.is_empty() {
        bail!("no transcripts below {}", eval.display());
    }
    let lists: Vec<ItemList<'_>> = sessions.iter().map(ItemList::new).collect();
    let once = |arm, system| lists.iter().map(|list| run::play(list, arm, system)).collect();
    let replay = |arm| -> [Vec<ArmResult>; 2] { [once(arm, 0), once(arm, SYSTEM)] };
    say(format_args!(
        "| arm | fresh / cached / written / output, thousand tokens | {} | with {} tokens of system prompt | \
         compactions | fetches, price | needed / needed again, in the context | lost | sessions that cost more | \
         average and largest prompt |\n|---|---|---|---|---|---|---|---|---|---|",
        MODELS.map(|model| model.name).join(" / "),
        thousands(SYSTEM as f64)
    ));
    let base = replay(ContextArm::default());
    let (mut figures, mut masked) = (Vec::new(), ArmResult::default());
    for (name, arm) in arms() {
        let results = replay(arm);
        line(&name, &results, &base);
        let all = sum(&results[0]);
        if arm.newest == Some(10) {
            masked = all;
        }
        if name == format!("hippod at compaction {}", told(CHOSEN)) {
            figures = compare(&name, &all, &sum(&base[0]), &masked);
        }
    }
    let sizes: Vec<_> = lists.iter().flat_map(|list| run::entries(list, LARGE)).collect();
    let [whole, small] = sizes
        .iter()
        .fold([0, 0], |sum, one| [sum[0] + one.0, sum[1] + one.1]);
    let what = format!(
        "tokens of {} tool results above {LARGE} tokens → of their entries",
        sizes.len()
    );
    let measured = format!("{whole} → {small} ({:.0} ×)", whole as f64 / small.max(1) as f64);
    figures.push(Figure::new(PART, what, measured));
    Ok(figures)
}

fn arms() -> Vec<(String, ContextArm)> {
    let mut arms = Vec::new();
    let mut add = |name: &str, set: &dyn Fn(&mut ContextArm)| {
        let mut arm = ContextArm::default();
        set(&mut arm);
        arms.push((name.to_owned(), arm));
    };
    add("everything kept", &|_| {});
    add("masking: newest 10 results whole", &|arm| arm.newest = Some(10));
    for at in [HARNESS, CHOSEN] {
        let name = format!("harness: compaction {}", told(at));
        add(&name, &|arm| arm.compact = Some((at, Summarizer::Model)));
    }
    for clear in [[100_000, 3, 0], [30_000, 3, 5_000]] {
        let [trigger, keep, least] = clear.map(|number| thousands(number as f64));
        let name = format!("clear_tool_uses: trigger {trigger}, keep {keep}, at least {least}");
        add(&name, &|arm| arm.clear = Some(clear));
    }
    for (worth, files_whole, part) in [
        (LARGE, false, None),
        (LARGE, true, None),
        (300, false, None),
        (300, false, FETCHED),
    ] {
        let files = if files_whole { ", files whole" } else { "" };
        let name = format!(
            "hippod at first insertion: results above {worth} tokens{files}{}",
            told_part(part)
        );
        add(&name, &|arm| {
            arm.first = Some(worth);
            (arm.files_whole, arm.part, arm.entries) = (files_whole, part, true);
        });
    }
    add("hippod one request later: newest result whole", &|arm| {
        (arm.newest, arm.entries) = (Some(1), true);
    });
    for (at, part) in EARLIER
        .map(|at| (at, None))
        .into_iter()
        .chain([(CHOSEN, FETCHED)])
    {
        let name = format!("hippod at compaction {}{}", told(at), told_part(part));
        add(&name, &|arm| {
            (arm.compact, arm.part) = (Some((at, Summarizer::Extract(SUMMARY))), part);
        });
    }
    arms
}

fn told([above, keep]: [usize; 2]) -> String {
    let [above, keep] = [above, keep].map(|tokens| thousands(tokens as f64));
    format!("above {above} tokens, {keep} stay")
}

fn told_part(part: Option<usize>) -> String {
    part.map_or_else(String::new, |tokens| {
        format!(", fetched in parts of {tokens} tokens")
    })
}

fn sum(results: &[ArmResult]) -> ArmResult {
    let mut all = ArmResult::default();
    results.iter().for_each(|one| all += one);
    all
}

fn compare(name: &str, ours: &ArmResult, kept: &ArmResult, masked: &ArmResult) -> Vec<Figure> {
    let [ratio, other] = [ours, masked].map(|one| ratio(&MODELS[0], one, kept));
    let [share, others] = [ours, masked].map(|one| one.shares()[1]);
    let figure = |what: &str, measured| Figure::new(PART, format!("{name}: {what}"), measured);
    let price = figure("price ÷ price of everything kept", format!("{ratio:.2}"));
    let values = figure(
        "values needed again that the context contains",
        format!("{share:.1} %"),
    );
    let cheap = format!("≤ 0.75, and less than masking ({other:.2})");
    vec![
        price.reach(cheap, ratio <= 0.75 && ratio < other),
        values.reach(format!("more than with masking ({others:.1} %)"), share > others),
    ]
}

fn ratio(model: &ModelPrice, one: &ArmResult, kept: &ArmResult) -> f64 {
    model.dollars(&one.billed) / model.dollars(&kept.billed)
}

fn line(name: &str, results: &[Vec<ArmResult>; 2], base: &[Vec<ArmResult>; 2]) {
    let (all, kept, model) = (sum(&results[0]), sum(&base[0]), &MODELS[0]);
    let dearer = |(one, kept): &(&ArmResult, &ArmResult)| ratio(model, one, kept) > 1.001;
    let prices = MODELS.map(|model| {
        format!(
            "${:.2} ({:.2})",
            model.dollars(&all.billed),
            ratio(&model, &all, &kept)
        )
    });
    let [needed, again] = all.shares();
    say(format_args!(
        "| {name} | {} | {} | {:.2} | {} | {}, ${:.2} | {needed:.1} / {again:.1} % | {} | {} | {}, {} |",
        all.billed
            .map(|tokens| thousands(tokens as f64 / 1e3))
            .join(" / "),
        prices.join(" / "),
        ratio(model, &sum(&results[1]), &sum(&base[1])),
        all.compactions,
        all.fetches,
        model.dollars(&all.refetched),
        all.lost,
        results[0].iter().zip(&base[0]).filter(dearer).count(),
        thousands((all.prompts[0] / all.requests.max(1)) as f64),
        thousands(all.prompts[1] as f64),
    ));
}
