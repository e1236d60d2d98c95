//! Size and build time of index files by workspace size.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use hippo_proto::{
    CycleHistoryRequest, CycleHistoryResponse, Request, WorkspaceRemoveRequest, WorkspaceRemoveResponse,
};
use hippo_types::tokens;

use super::BenchEnvironment;
use super::client::{self, root_of};
use super::fresh::grown;
use super::mixture;
use super::table::{Figure, ms};
use crate::terminal::say;

/// Time limit of one workspace.
const PATIENCE: Duration = Duration::from_secs(1800);
/// Ranges from the protocol (v1 §9.1). Each row is a number of files, the range of entries, and the range of tokens.
const RANGES: [(usize, [u64; 2], [u64; 2]); 4] = [
    (10, [30, 50], [500, 1_000]),
    (50, [100, 250], [2_000, 5_000]),
    (100, [200, 500], [4_000, 10_000]),
    (200, [400, 1_000], [8_000, 20_000]),
];
/// Larger numbers of files, for which the protocol describes a hierarchy of files.
const LARGER: [usize; 2] = [1_000, 10_000];

/// Measurements of one workspace.
struct EntrySizes {
    entries: u64,
    master_bytes: usize,
    master_entries: u64,
    below_bytes: usize,
    below_files: usize,
    took_ms: f64,
}

/// Measures workspaces of six sizes. No model is used, because entries need no vectors.
///
/// # Errors
/// Fails if the data is missing, or the daemon fails.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    embedding(ground, false)?;
    let measured = measure(ground);
    embedding(ground, true)?;
    measured
}

fn measure(ground: &BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    say(format_args!(
        "| files | entries | entries expected by v1 | size of HIPPOCAMPUS.md | tokens of HIPPOCAMPUS.md | tokens expected by v1 | entries in HIPPOCAMPUS.md | files in .hippocampus/ | tokens of these files | first light cycle |\n|---|---|---|---|---|---|---|---|---|---|"
    ));
    let known = RANGES
        .iter()
        .map(|(count, entries, tokens)| (*count, Some((*entries, *tokens))));
    for (count, range) in known.chain(LARGER.iter().map(|count| (*count, None))) {
        let size = of(ground, count)?;
        let (tokens, below) = (
            tokens::of_bytes(size.master_bytes) as u64,
            tokens::of_bytes(size.below_bytes) as u64,
        );
        let shown = |range: Option<[u64; 2]>| {
            range.map_or("–".to_owned(), |[least, most]| format!("{least}–{most}"))
        };
        say(format_args!(
            "| {count} | {} | {} | {} KB | {tokens} | {} | {} | {} files, {} KB | {below} | {} |",
            size.entries,
            shown(range.map(|range| range.0)),
            size.master_bytes / 1000,
            shown(range.map(|range| range.1)),
            size.master_entries,
            size.below_files,
            size.below_bytes / 1000,
            ms(size.took_ms),
        ));
        let figure = |what: String, measured: u64| Figure::new("entries", what, measured.to_string());
        if let Some(([least, most], [fewest, all])) = range {
            let entries = size.entries;
            figures.push(
                figure(format!("{count} files: entries"), entries)
                    .reach(format!("{least}–{most}"), (least..=most).contains(&entries)),
            );
            // The agent reads the other files only on demand, so only HIPPOCAMPUS.md has a target.
            figures.push(
                figure(format!("{count} files: tokens of HIPPOCAMPUS.md"), tokens)
                    .reach(format!("{fewest}–{all}"), (fewest..=all).contains(&tokens)),
            );
        } else {
            figures.push(
                figure(format!("{count} files: tokens of HIPPOCAMPUS.md"), tokens)
                    .reach("≤ 15000", tokens <= 15_000),
            );
        }
        figures.push(Figure::new(
            "entries",
            format!("{count} files: first light cycle, {} entries", size.entries),
            ms(size.took_ms),
        ));
    }
    Ok(figures)
}

fn of(ground: &BenchEnvironment<'_>, count: usize) -> Result<EntrySizes> {
    let folder = ground.scratch.folder.join("eval").join(format!("files-{count}"));
    clear(ground, &folder)?;
    mixture::lay(ground.workspaces.eval(), &folder, count)?;
    let root = add(ground, &folder)?;
    let mut client = ground.scratch.connect(PATIENCE)?;
    let status = grown(&mut client, &root)?;
    let took_ms = first_cycle(ground, &root)?;
    let (mut below_bytes, mut below_files) = (0, 0);
    let below = folder.join(".hippocampus");
    if below.exists() {
        for path in mixture::markdown(&below)? {
            below_bytes += usize::try_from(fs::metadata(below.join(&path))?.len())?;
            below_files += 1;
        }
    }
    let master = folder.join("HIPPOCAMPUS.md");
    let text = fs::read_to_string(&master).with_context(|| format!("could not read {}", master.display()))?;
    let size = EntrySizes {
        entries: status.index.unwrap_or_default().entries,
        master_bytes: text.len(),
        master_entries: text.matches("<!-- hx:").count() as u64,
        below_bytes,
        below_files,
        took_ms,
    };
    clear(ground, &folder)?;
    Ok(size)
}

/// Registers a folder, waits until it is searchable and has its entries, and returns its root.
///
/// # Errors
/// Fails if the daemon refuses.
pub fn add(ground: &BenchEnvironment<'_>, folder: &Path) -> Result<String> {
    let root = root_of(folder)?;
    let mut client = ground.scratch.connect(PATIENCE)?;
    client::add(&mut client, &root)?;
    grown(&mut client, &root)?;
    Ok(root)
}

/// Unregisters and removes the folder of an earlier run.
///
/// # Errors
/// Fails if the folder cannot be removed.
pub fn clear(ground: &BenchEnvironment<'_>, folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let workspace = root_of(folder)?;
    let remove = WorkspaceRemoveRequest {
        workspace,
        purge: true,
        ..WorkspaceRemoveRequest::default()
    };
    // The call fails if the folder is not registered.
    let _ = ground
        .scratch
        .connect(PATIENCE)?
        .call::<WorkspaceRemoveResponse>(&Request::from(remove));
    fs::remove_dir_all(folder).with_context(|| format!("could not remove {}", folder.display()))
}

/// Returns the duration of the earliest recorded cycle, in milliseconds.
fn first_cycle(ground: &BenchEnvironment<'_>, root: &str) -> Result<f64> {
    let mut client = ground.scratch.connect(PATIENCE)?;
    let mut history = |run| {
        let request = CycleHistoryRequest {
            workspace: root.to_owned(),
            limit: Some(1000),
            run,
        };
        client.call::<CycleHistoryResponse>(&Request::from(request))
    };
    let first = history(None)?
        .runs
        .last()
        .map(|run| run.run)
        .context("no cycle ran")?;
    let report = history(Some(first))?
        .report
        .context("the first run has no report")?;
    Ok(report.took_ms)
}

/// Switches semantic search off, or back to its default.
///
/// # Errors
/// Fails if the daemon does not restart.
pub fn embedding(ground: &BenchEnvironment<'_>, on: bool) -> Result<()> {
    let path = ground.scratch.folder.join("home/config.toml");
    ground.scratch.stop()?;
    let written = if on {
        String::new()
    } else {
        "[embed]\nenabled = false\n".to_owned()
    };
    fs::write(&path, written).with_context(|| format!("could not write {}", path.display()))?;
    ground.scratch.start()?;
    Ok(())
}
