//! Replay of recorded sessions with the daemon.

mod play;
pub(super) mod session;
mod show;
pub(super) mod uses;
mod window;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use hippo_proto::Client;

use super::BenchEnvironment;
use super::client::{self, root_of};
use super::table::Figure;
use play::{ReplayOptions, ReplayResult, ValueTally, play};
use session::ReplaySession;
pub(super) use show::thousands;
use show::{less, shares};

const PART: &str = "replay";
/// Window sizes of models in tokens. The recorded agents had the first one.
const LIMITS: [usize; 3] = [200_000, 64_000, 32_000];
/// Default number of tokens above which a tool result becomes an entry.
const WORTH: usize = 1_000;
/// Additional replay options, used only with the first window size.
const OTHERS: [ReplayOptions; 8] = [
    way(LIMITS[0], 3, None, WORTH),
    way(LIMITS[0], 10, None, WORTH),
    way(LIMITS[0], 1, Some(100), WORTH),
    way(LIMITS[0], 1, Some(200), WORTH),
    way(LIMITS[0], 1, Some(450), WORTH),
    way(LIMITS[0], 10, Some(450), WORTH),
    way(LIMITS[0], 1, None, 300),
    way(LIMITS[0], 10, Some(200), 300),
];

const fn way(limit: usize, whole: usize, told: Option<usize>, worth: usize) -> ReplayOptions {
    ReplayOptions {
        limit,
        whole,
        told,
        worth,
    }
}

/// Time limit of one call.
const PATIENCE: Duration = Duration::from_secs(30);
/// A session and its replays.
struct SessionReplays {
    session: ReplaySession,
    /// One replay for each window size.
    played: [ReplayResult; 3],
    /// Replays with the additional options [`OTHERS`].
    others: Vec<ReplayResult>,
}

impl SessionReplays {
    fn has_entries(&self) -> bool {
        !self.played[0].entries.is_empty()
    }
}

/// Replays all transcripts with the daemon. Draws the sessions with the most tokens into docs/replay.svg.
///
/// # Errors
/// Fails if the data is missing, the daemon refuses a request, or fetched content differs from the stored content.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let began = Instant::now();
    let sessions = session::all(&ground.workspaces.eval().join("transcripts"))?;
    if sessions.is_empty() {
        bail!("no transcripts below {}", ground.workspaces.eval().display());
    }
    let mut client = ground.scratch.connect(PATIENCE)?;
    let mut roots = BTreeMap::new();
    for worth in OTHERS.map(|way| way.worth) {
        if let Entry::Vacant(vacant) = roots.entry(worth) {
            let folder = ground.scratch.folder.join(format!("{PART}-{worth}"));
            vacant.insert(workspace(&mut client, &folder, worth)?);
        }
    }
    let mut all = Vec::new();
    for session in sessions {
        let uses = uses::of(&session);
        let mut once = |way: ReplayOptions| {
            let root = roots
                .get(&way.worth)
                .context("there is a workspace for each entry threshold")?;
            play(&mut client, root, &session, &uses, way)
                .with_context(|| format!("session {}, {way:?}", session.name))
        };
        let mut first = |limit: usize| once(way(limit, 1, None, WORTH));
        let played = [first(LIMITS[0])?, first(LIMITS[1])?, first(LIMITS[2])?];
        // If no tool result became an entry, the options do not differ.
        let others = if played[0].entries.is_empty() {
            Vec::new()
        } else {
            OTHERS.into_iter().map(once).collect::<Result<_>>()?
        };
        all.push(SessionReplays {
            session,
            played,
            others,
        });
    }
    let took = began.elapsed();
    show::sessions(&all);
    show::others(&all);
    let path = ground.house.root.join("docs/replay.svg");
    fs::write(&path, show::draw(&all)).with_context(|| format!("could not write {}", path.display()))?;
    let mut figures = figures(&all);
    let calls: usize = all.iter().map(|one| one.session.turns.len()).sum();
    figures.push(Figure::new(
        PART,
        format!(
            "replay of {} sessions with {calls} turns, in {} context windows each",
            all.len(),
            LIMITS.len()
        ),
        format!("{:.0} s", took.as_secs_f64()),
    ));
    Ok(figures)
}

/// Creates an empty workspace in which tool results of more than `worth` tokens become entries.
fn workspace(client: &mut Client, folder: &Path, worth: usize) -> Result<String> {
    let own = folder.join(".hippocampus");
    fs::create_dir_all(&own).with_context(|| format!("could not create {}", own.display()))?;
    let config = own.join("config.toml");
    fs::write(&config, format!("[context]\nworth_tokens = {worth}\n"))
        .with_context(|| format!("could not write {}", config.display()))?;
    let root = root_of(folder)?;
    client::add(client, &root)?;
    Ok(root)
}

fn mean(values: &[usize]) -> f64 {
    values.iter().sum::<usize>() as f64 / values.len().max(1) as f64
}

fn most(values: &[usize]) -> usize {
    values.iter().copied().max().unwrap_or(0)
}

fn figures(all: &[SessionReplays]) -> Vec<Figure> {
    let figure = |what: String, measured: String| Figure::new(PART, what, measured);
    let with_entries: Vec<&SessionReplays> = all.iter().filter(|one| one.has_entries()).collect();
    let mut figures = Vec::new();
    let results: usize = all
        .iter()
        .flat_map(|one| one.session.results())
        .map(|r| hippo_types::tokens::of(&r.content))
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
            "{} results with {} of {} tokens; the entries have {} tokens",
            entries.len(),
            thousands(large as f64),
            thousands(results as f64),
            thousands(small as f64)
        ),
    ));
    figures.push(figure(
        "entries that are larger than their content".into(),
        format!("{count}, by {more} tokens in total"),
    ));
    for (at, limit) in LIMITS.iter().enumerate() {
        let together = |of: fn(&ReplayResult) -> &Vec<usize>| -> Vec<usize> {
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
    let (mut named, mut needed, mut fetches) = (ValueTally::default(), ValueTally::default(), 0);
    for one in all {
        named.add(&one.played[0].named);
        needed.add(&one.played[0].needed);
        fetches += one.played[0].fetches;
    }
    for (what, found) in [
        (
            "values that the agent named later and no other text contained",
            &needed,
        ),
        ("all values in entries that the agent named later", &named),
    ] {
        figures.push(
            figure(
                format!("{what}: number found in the summary / in the key data / by a fetch"),
                format!("{}; {} secrets", shares(found), found.secret),
            )
            .reach("all found", found.lost == 0),
        );
    }
    figures.push(figure(
        "contents fetched for these values".into(),
        fetches.to_string(),
    ));
    let section = all.iter().map(|one| one.played[0].section).max().unwrap_or(0);
    figures.push(
        figure("largest section".into(), format!("{section} tokens")).reach("≤ 5,000", section <= 5_000),
    );
    figures
}
