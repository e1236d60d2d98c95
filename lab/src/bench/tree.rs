//! Contents, size and build time of nodes without a model.

mod answers;
mod facts;
mod nodes;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;

use super::table::Figure;
use nodes::Nodes;

pub(super) const PART: &str = "tree";
/// Sizes in bytes of the nodes that hipocampus creates over the same logs, with front matter: daily, weekly, monthly,
/// root.
const SIZES: [usize; 4] = [1_188_804, 219_587, 216_931, 11_834];
/// Target share of answers that the nodes of each level contain.
const REACH: [f64; 4] = [0.45, 0.20, 0.25, 0.10];
/// Number of days on which `ROOT.md` is compared with its version of the day before.
const DAYS: usize = 30;
const LEVELS: [&str; 4] = ["daily", "weekly", "monthly", "ROOT"];

/// Builds the nodes of `retrieval/memaware` and `retrieval/locomo`, and measures their contents.
///
/// # Errors
/// Fails if the data cannot be read.
pub fn run(eval: &Path) -> Result<Vec<Figure>> {
    let folder = eval.join("retrieval/memaware");
    let logs = nodes::logs(&folder.join("workspace"))?;
    let begin = Instant::now();
    let nodes = Nodes::of(&logs);
    let took = begin.elapsed();
    let mut figures = vec![
        Figure::new(
            PART,
            "time for all nodes of memaware, on one core",
            format!("{:.2} s", took.as_secs_f64()),
        )
        .reach("≤ 10 s", took.as_secs_f64() <= 10.0),
    ];
    let sizes = nodes.sizes();
    for level in 0..LEVELS.len() {
        figures.push(
            Figure::new(
                PART,
                format!("bytes, {}", LEVELS[level]),
                sizes[level].to_string(),
            )
            .reach(format!("≤ {}", SIZES[level]), sizes[level] <= SIZES[level]),
        );
    }
    let tokens = sizes[3].div_ceil(hippo_types::tokens::BYTES);
    figures.push(
        Figure::new(
            PART,
            "tokens of ROOT.md, including its front matter",
            tokens.to_string(),
        )
        .reach(format!("≤ {}", nodes::ROOT), tokens <= nodes::ROOT),
    );
    let answers = answers::read(&folder)?;
    let theirs = Nodes::read(&eval.join("compaction/hipocampus-on-memaware"))?;
    figures.extend(of_answers("a model's nodes", &answers, &theirs, false));
    figures.extend(of_answers("answers kept", &answers, &nodes, true));
    figures.extend(of_roots(&nodes));
    figures.extend(facts::run(&eval.join("retrieval/locomo"))?);
    Ok(figures)
}

fn of_roots(nodes: &Nodes) -> Vec<Figure> {
    let (represented, days) = nodes.represented();
    let roots = nodes.roots(DAYS);
    let (mut same, mut lines) = (0, 0);
    for pair in roots.windows(2) {
        let before: BTreeSet<&str> = pair[0].lines().collect();
        lines += pair[1].lines().count();
        same += pair[1].lines().filter(|line| before.contains(line)).count();
    }
    let share = represented as f64 / days.max(1) as f64;
    vec![
        Figure::new(
            PART,
            "share of days with a line in ROOT.md",
            format!("{:.0} % of {days}", share * 100.0),
        )
        .reach("≥ 80 %", share >= 0.8),
        Figure::new(
            PART,
            format!("share of lines of ROOT.md that a new day leaves unchanged, mean of {DAYS} days"),
            format!("{:.0} %", same as f64 * 100.0 / lines.max(1) as f64),
        ),
    ]
}

fn of_answers(what: &str, answers: &[answers::ShortAnswer], nodes: &Nodes, reach: bool) -> Vec<Figure> {
    let found = answers::found(answers, nodes);
    (0..LEVELS.len())
        .map(|level| {
            let share = found.pairs[level] as f64 / found.all_pairs.max(1) as f64;
            let figure = Figure::new(
                PART,
                format!("{what}, {}", LEVELS[level]),
                format!(
                    "{:.1} % of {} ({:.1} % of {} answers)",
                    share * 100.0,
                    found.all_pairs,
                    found.answers[level] as f64 * 100.0 / answers.len().max(1) as f64,
                    answers.len()
                ),
            );
            if reach {
                figure.reach(format!("≥ {:.0} %", REACH[level] * 100.0), share >= REACH[level])
            } else {
                figure
            }
        })
        .collect()
}
