//! Time of a first lexical index by number of files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{Paths, Request, WorkspaceRemoveRequest, WorkspaceRemoveResponse};

use super::BenchEnvironment;
use super::client::{add, root_of};
use super::process::processor_seconds;
use super::table::Figure;
use crate::terminal::{duration, say};

/// Time limit of one index.
const PATIENCE: Duration = Duration::from_secs(1800);
/// Shapes of the workspaces: the number of folders and the total number of files.
const SHAPES: [(usize, usize); 4] = [(1, 1_000), (1, 4_000), (1, 16_000), (200, 100_000)];
/// Maximum time for indexing the third shape.
const REACH: Duration = Duration::from_secs(60);
/// Maximum ratio of the processor time per file to that of the smallest shape.
const GROWTH: f64 = 1.5;

/// Indexes each shape as a workspace, with semantic search switched off.
///
/// # Errors
/// Fails if the daemon fails, or does not index all files.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let scratch = ground.scratch;
    let settings = Paths::below(&scratch.folder.join("home")).config_file;
    scratch.stop()?;
    fs::write(
        &settings,
        "[embed]\nenabled = false\n\n[cycles]\nlight = \"\"\ndeep = \"\"\narchival = \"\"\n",
    )?;
    scratch.start()?;
    let figures = SHAPES
        .iter()
        .map(|(folders, files)| Ok((*folders, *files, index(ground, *folders, *files)?)))
        .collect::<Result<Vec<_>>>();
    scratch.stop()?;
    fs::remove_file(&settings)?;
    scratch.start()?;
    let measured = figures?;
    let (_, _, smallest) = measured.first().context("nothing was measured")?;
    let figures = measured.iter().map(|(folders, files, took)| {
        let growth = took.per_file / smallest.per_file;
        let what = format!("first keyword index, {files} files in {folders} folder(s)");
        let shown = format!(
            "{}, {:.2} ms of processor time per file = {growth:.2} × that of the first row",
            duration(took.wall),
            took.per_file * 1e3
        );
        let figure = Figure::new("folders", what, shown);
        let linear = growth <= GROWTH;
        if *files == 16_000 {
            return figure.reach("≤ 60 s, ≤ 1.5 ×", took.wall <= REACH && linear);
        }
        figure.reach("≤ 1.5 ×", linear)
    });
    Ok(figures.collect())
}

struct ScanTime {
    wall: Duration,
    /// Processor time of the daemon per file, in seconds.
    per_file: f64,
}

fn index(ground: &BenchEnvironment<'_>, folders: usize, files: usize) -> Result<ScanTime> {
    let scratch = ground.scratch;
    let place = scratch
        .folder
        .join("eval")
        .join(format!("files-{folders}-{files}"));
    if !place.exists() {
        fill(&place, folders, files)?;
    }
    let root = root_of(&place)?;
    let mut client = scratch.connect(PATIENCE)?;
    let (begun, before) = (Instant::now(), processor_seconds(scratch)?);
    let synced = add(&mut client, &root)?;
    let wall = begun.elapsed();
    let per_file = (processor_seconds(scratch)? - before) / files as f64;
    say(format_args!(
        "{files} files in {folders} folders: indexed in {}",
        duration(wall)
    ));
    if synced.documents < files as u64 {
        bail!("{} of {files} files are indexed", synced.documents);
    }
    let remove = WorkspaceRemoveRequest {
        workspace: root,
        purge: true,
        ..WorkspaceRemoveRequest::default()
    };
    let _: WorkspaceRemoveResponse = client.call(&Request::from(remove))?;
    fs::remove_dir_all(&place)?;
    Ok(ScanTime { wall, per_file })
}

/// Writes notes with a heading and a sentence each, evenly spread over the folders.
fn fill(place: &Path, folders: usize, files: usize) -> Result<()> {
    for folder in 0..folders {
        let path = place.join(format!("memory/{folder}"));
        fs::create_dir_all(&path).with_context(|| format!("could not create {}", path.display()))?;
        for number in (folder..files).step_by(folders) {
            let text =
                format!("# Machine {number}\n\nThe machine called thing{number} is in hall {folder}.\n");
            fs::write(path.join(format!("{number}.md")), text)?;
        }
    }
    Ok(())
}
