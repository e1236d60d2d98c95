//! Time until a saved edit is found.

use std::time::Duration;

use anyhow::Result;

use super::BenchEnvironment;
use super::table::{Figure, ms, percentile};
use crate::edit::{Editor, TimedEdit};

const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum rank at which an appended line counts as found. It is the maximum number of results of a search, because up
/// to 200 similar lines compete with the appended line, and the question shares hardly any words with this line.
const DEPTH: u32 = hippo_proto::MAX_LIMIT;

const WHO: [&str; 20] = [
    "the glassblower",
    "our beekeeper",
    "a lighthouse keeper",
    "the tuba player",
    "her dentist",
    "the falconer",
    "a cartographer",
    "the puppeteer",
    "my violin maker",
    "the chess referee",
    "a mushroom farmer",
    "the diver",
    "an elevator mechanic",
    "the opera prompter",
    "a snail breeder",
    "the stamp dealer",
    "our blacksmith",
    "the weather balloonist",
    "a sword swallower",
    "the piano tuner",
];
const WHAT: [(&str, &str); 10] = [
    (
        "lost a green suitcase at the ferry terminal",
        "whose luggage went missing at the harbour",
    ),
    ("won a lifetime supply of marmalade", "who got a prize of jam"),
    (
        "adopted a three-legged greyhound",
        "which person took in a disabled dog",
    ),
    (
        "repainted the submarine yellow",
        "who gave the underwater boat a new colour",
    ),
    (
        "was stung by a jellyfish near Split",
        "who was hurt by a sea animal in Croatia",
    ),
    (
        "sold the vineyard to a cousin",
        "which relative bought the grapes",
    ),
    (
        "broke a collarbone while ice skating",
        "winter sport injury of the shoulder",
    ),
    (
        "sued the circus over a runaway llama",
        "court case about an escaped animal",
    ),
    (
        "baked forty sourdough loaves overnight",
        "who made bread until the morning",
    ),
    (
        "proposed marriage in a hot-air balloon",
        "engagement high up in the sky",
    ),
];

/// Appends 200 lines to daily logs of memaware, one after the other.
///
/// # Errors
/// Fails if a line is not found in time.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let root = ground.workspaces.get("memaware")?.root;
    let mut editor = Editor::new(
        &root,
        ground.scratch.connect(PATIENCE)?,
        ground.scratch.connect(PATIENCE)?,
    )?;
    let (mut lexical, mut vector) = (Vec::new(), Vec::new());
    for (at, (who, (what, asked))) in WHO
        .iter()
        .flat_map(|who| WHAT.iter().map(move |what| (who, what)))
        .enumerate()
    {
        let line = format!("- User: {who} {what} (note {at})");
        let file = format!("memory/2023-06-{:02}.md", 1 + at % 20);
        let words = format!("{who} {what}");
        let meaning = format!("{asked}: {who}");
        let found = editor.make(&TimedEdit {
            file: &file,
            line: &line,
            words: &words,
            meaning: &meaning,
            depth: DEPTH,
        })?;
        lexical.push(found.lexical.as_secs_f64() * 1e3);
        vector.push(found.vector.as_secs_f64() * 1e3);
    }
    let figure = |how: &str, times: &[f64], most: f64| {
        let (p50, p95) = (percentile(times, 0.5), percentile(times, 0.95));
        let what = format!(
            "time from a saved edit until a search by {how} finds the edit, {} edits, memaware: p95 (p50)",
            times.len()
        );
        let reach = format!("≤ {} s", most / 1e3);
        Figure::new("edits", what, format!("{} ({})", ms(p95), ms(p50))).reach(reach, p95 <= most)
    };
    Ok(vec![
        figure("keyword", &lexical, 800.0),
        figure("meaning", &vector, 1500.0),
    ])
}
