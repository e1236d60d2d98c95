//! Trial of an archive for another processor, which QEMU emulates.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::Processor;
use crate::demo;
use crate::house::{self, ProjectFolders};
use crate::setup::copy_folder;
use crate::terminal::say;

/// Maximum time until the daemon answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// Unpacks an archive, and asks its programs about the example workspace. If the emulator is not installed, reports that
/// the archive was not tried.
///
/// # Errors
/// Fails if a program fails, or if the first results for a question contain no evidence.
pub fn try_out(house: &ProjectFolders, archive: &Path, processor: Processor) -> Result<()> {
    let emulator = format!("qemu-{}", processor.name);
    let libraries = format!("/usr/{}-linux-gnu", processor.name);
    let found = Command::new(&emulator)
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if found.is_err() || !Path::new(&libraries).is_dir() {
        say(format_args!(
            "{} was not tried: that needs qemu-user and the libraries of the cross compiler in {libraries}",
            archive.display()
        ));
        return Ok(());
    }
    let folder = tempfile::tempdir().context("could not create a temporary folder")?;
    let folder = folder.path();
    house::run(
        Command::new("tar")
            .args(["--extract", "--strip-components=1"])
            .args([
                "--file".as_ref(),
                archive.as_os_str(),
                "--directory".as_ref(),
                folder.as_os_str(),
            ]),
    )?;
    let memory = folder.join("memory");
    copy_folder(&house.root.join("examples/workspace"), &memory)?;
    let run = |program: &str, words: &[&str]| {
        let mut command = Command::new(&emulator);
        command
            .args(["-L", &libraries])
            .arg(folder.join("bin").join(program));
        command.args(words).current_dir(&memory);
        command
            .env("HIPPOD_HOME", folder.join("home"))
            .env_remove("HIPPOD_SOCKET");
        command
    };
    let mut daemon = run("hippod", &["run"])
        .stderr(Stdio::null())
        .spawn()
        .context("could not start hippod")?;
    let answered = (|| {
        let answers = || house::output(run("hippoctl", &["--no-start"]).arg("status")).is_ok();
        let begun = Instant::now();
        while !answers() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(200));
        }
        for words in [
            &["workspace", "add"][..],
            &["model", "verify"],
            &["sync", "--wait"],
        ] {
            house::output(run("hippoctl", &["--no-start"]).args(words))?;
        }
        for question in demo::questions(&house.root.join("examples/questions.jsonl"))? {
            let depth = demo::DEPTH.to_string();
            let words = [
                "--no-start",
                "--json",
                "search",
                "-n",
                &depth,
                "--",
                &question.query,
            ];
            let answer = serde_json::from_slice(&house::output(&mut run("hippoctl", &words))?)?;
            let Some(rank) = question.rank_in(&answer) else {
                bail!("the first results contain no evidence: {}", question.query);
            };
            say(format_args!("  result {}: {}", rank + 1, question.query));
        }
        house::output(&mut run("hippoctl", &["--no-start", "service", "stop"]))
    })();
    if answered.is_err() {
        // A daemon that has already ended cannot be stopped.
        let _ = daemon.kill();
    }
    daemon.wait().context("could not wait for hippod")?;
    answered.map(drop)
}
