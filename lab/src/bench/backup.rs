//! Backup time under load, and answers after a restore.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{
    BackupRequest, BackupResponse, Client, Request, RestoreRequest, RestoreResponse, SearchMode,
    SearchRequest, SearchResponse,
};

use super::BenchEnvironment;
use super::fresh::{at_rest, fresh};
use super::latency::queries;
use super::table::{Figure, ms, percentile};
use crate::house;
use crate::scratch::Scratch;

/// Time limit of one request.
const PATIENCE: Duration = Duration::from_secs(300);
/// Number of backups. The slowest one is reported.
const ROUNDS: usize = 3;
/// Target time of a backup, in seconds.
const REACH: f64 = 5.0;

/// Measures the backup of memaware, and compares the answers of the restored workspace with the original ones.
///
/// # Errors
/// Fails if the data is missing, if the daemon refuses a request, or if a restored workspace answers differently.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let root = fresh(ground, "memaware")?;
    let queries = queries(ground)?;
    let scratch = ground.scratch;
    let folder = scratch.folder.join("backups");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut client = scratch.connect(PATIENCE)?;
    let before = ask_all(&mut client, &root, &queries)?;
    let calm = ask_all(&mut client, &root, &queries)?;
    let file = folder.join("memaware.tar.zst");
    let (mut slowest, mut meanwhile, mut bytes) = (0.0_f64, Vec::new(), 0);
    for _ in 0..ROUNDS {
        if file.exists() {
            fs::remove_file(&file)?;
        }
        let (took, answer, times) = while_asking(scratch, &root, &queries, &file)?;
        slowest = slowest.max(took);
        bytes = answer.bytes;
        meanwhile.extend(times);
    }
    let limit = tar(scratch, &root, &folder.join("limit.tar"))?;
    let into = folder.join("restored");
    let restored = text(&into)?;
    let begun = Instant::now();
    let request = RestoreRequest {
        from: text(&file)?,
        into: Some(restored.clone()),
        ..RestoreRequest::default()
    };
    let _: RestoreResponse = client.call(&Request::from(request))?;
    let restore = begun.elapsed().as_secs_f64();
    let restored = fs::canonicalize(restored)?;
    let restored = text(&restored)?;
    at_rest(&mut client, &restored)?;
    let after = ask_all(&mut client, &restored, &queries)?;
    if after.found != before.found {
        bail!("the restored workspace returns different answers");
    }
    let mib = |bytes: u64| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20));
    Ok(vec![
        Figure::new(
            "backup",
            format!("backup of memaware during searches: time of the slowest of {ROUNDS} backups"),
            format!("{slowest:.1} s"),
        )
        .reach("≤ 5 s", slowest <= REACH),
        Figure::new(
            "backup",
            "hybrid queries: p95 during the backup / without a backup",
            format!(
                "{} / {}",
                ms(percentile(&meanwhile, 0.95)),
                ms(percentile(&calm.times, 0.95))
            ),
        ),
        Figure::new("backup", "size of the backup", mib(bytes)),
        Figure::new(
            "backup",
            "`tar` of the same files without compression: time, size",
            format!("{:.1} s, {}", limit.0, mib(limit.1)),
        ),
        Figure::new(
            "backup",
            "restore, including the check that the answers are the same",
            format!("{restore:.1} s"),
        ),
    ])
}

/// Results, and the time of each question in milliseconds.
struct TimedResults {
    found: Vec<Vec<(String, u32, u32)>>,
    times: Vec<f64>,
}

fn ask_all(client: &mut Client, root: &str, queries: &[String]) -> Result<TimedResults> {
    let mut asked = TimedResults {
        found: Vec::new(),
        times: Vec::new(),
    };
    for query in queries {
        let (answer, took) = ask(client, root, query)?;
        let places = answer
            .results
            .into_iter()
            .map(|hit| (hit.path, hit.start_line, hit.end_line));
        asked.found.push(places.collect());
        asked.times.push(took);
    }
    Ok(asked)
}

fn ask(client: &mut Client, root: &str, query: &str) -> Result<(SearchResponse, f64)> {
    let request = SearchRequest {
        mode: Some(SearchMode::Hybrid),
        record: false,
        ..SearchRequest::new(root, query)
    };
    let begun = Instant::now();
    let answer = client.call(&Request::from(request))?;
    Ok((answer, begun.elapsed().as_secs_f64() * 1e3))
}

/// Makes a backup while another client asks questions. Returns the duration of the backup in seconds, its answer, and
/// the milliseconds of each question.
fn while_asking(
    scratch: &Scratch,
    root: &str,
    queries: &[String],
    file: &Path,
) -> Result<(f64, BackupResponse, Vec<f64>)> {
    let (mut asker, mut client) = (scratch.connect(PATIENCE)?, scratch.connect(PATIENCE)?);
    let done = AtomicBool::new(false);
    let request = BackupRequest {
        workspace: Some(root.to_owned()),
        to: text(file)?,
    };
    thread::scope(|scope| {
        let asking = scope.spawn(|| -> Result<Vec<f64>> {
            let mut times = Vec::new();
            for query in queries.iter().cycle() {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                times.push(ask(&mut asker, root, query)?.1);
            }
            Ok(times)
        });
        let begun = Instant::now();
        let answer = client.call(&Request::from(request));
        let took = begun.elapsed().as_secs_f64();
        done.store(true, Ordering::Relaxed);
        let times = asking
            .join()
            .map_err(|_| anyhow::anyhow!("the thread that sends the questions failed"))??;
        Ok((took, answer?, times))
    })
}

/// Returns the seconds for creating a plain archive of files and databases, and its size in bytes.
fn tar(scratch: &Scratch, root: &str, to: &Path) -> Result<(f64, u64)> {
    let begun = Instant::now();
    let mut command = Command::new("tar");
    command
        .arg("-cf")
        .arg(to)
        .arg(root)
        .arg(scratch.folder.join("home/state/workspaces"));
    house::run(&mut command)?;
    fs::File::open(to)?.sync_all()?;
    Ok((begun.elapsed().as_secs_f64(), fs::metadata(to)?.len()))
}

fn text(path: &Path) -> Result<String> {
    path.to_str()
        .map(str::to_owned)
        .context("the name of the folder is not Unicode")
}
