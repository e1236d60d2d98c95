//! `hippoctl demo`: answers with and without the model, and removal of all files.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use hippod_tests::{Daemon, Scratch, client_program};

use super::backup::hippoctl;
use super::model::{REAL, with_model};

const NAME: &str = "minilm-l6-dialogue-int8";

/// Returns the command, and the folder that contains its temporary files.
fn demo(scratch: &Scratch) -> (Command, PathBuf) {
    let folder = scratch.beside("temporary");
    fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new(client_program());
    command
        .arg("demo")
        .env("HIPPOD_HOME", scratch.home())
        .env("HIPPOD_EMBED_MODEL", "hash")
        .env("TMPDIR", &folder)
        .stdin(Stdio::null());
    (command, folder)
}

fn change_time(file: &Path, time: SystemTime) {
    let file = fs::File::options().append(true).open(file).unwrap();
    file.set_modified(time).unwrap();
}

fn signal(name: &str, pid: &str) {
    let sent = Command::new("kill").args([name, pid.trim()]).status();
    assert!(sent.unwrap().success());
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_demonstration_finds_answers_by_meaning_and_leaves_no_files() {
    let scratch = with_model();
    let (mut command, folder) = demo(&scratch);
    let output = command.output().unwrap();
    let (said, errors) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(output.status.success(), "{said}{errors}");
    for (question, answer) in [
        ("Which seat does she prefer on a plane?", "in an aisle seat"),
        ("What did we get the kid for her birthday?", "a tawny owl"),
        ("Where does water get into the enclosure?", "at the cable gland"),
        ("Do trees harm reception?", "whip antenna away from wet foliage"),
        (
            "Did an insect disturb the instrument?",
            "a spider had spun its web",
        ),
        ("to repair the entrance to the basement?", "The locksmith moved"),
    ] {
        let after = said.split_once(question).expect(question).1;
        let line = after.lines().nth(1).unwrap().trim_start();
        let (score, text) = line.split_once(' ').unwrap();
        assert!((0.0..1.0).contains(&score.parse::<f64>().unwrap()), "{line}");
        assert!(text.contains(answer), "{said}");
    }
    assert!(said.contains("memory/2026-03-30.md:41, "), "{said}");
    assert_eq!(errors, "");
    // Neither the temporary folder nor the home of the user contains a new file.
    assert_eq!(names(&folder), [] as [&str; 0]);
    assert_eq!(names(&scratch.home()), ["models", "runtime"]);
}

#[test]
fn the_demonstration_does_not_change_the_model_or_the_daemon_of_the_user() {
    let scratch = with_model();
    let models = scratch.home().join("models");
    let installed = fs::read_link(&models).unwrap().join(NAME);
    fs::remove_file(&models).unwrap();
    let model = models.join(NAME);
    fs::create_dir_all(&model).unwrap();
    for file in fs::read_dir(&installed).unwrap() {
        let file = file.unwrap();
        if file.file_name() == "model.safetensors" {
            symlink(file.path(), model.join(file.file_name())).unwrap();
        } else {
            let copy = model.join(file.file_name());
            fs::copy(file.path(), &copy).unwrap();
            let time = file.metadata().unwrap().modified().unwrap();
            change_time(&copy, time);
        }
    }
    let mut user = Daemon::start(&scratch.home(), &[REAL]);
    assert!(hippoctl(&scratch.home(), &["model", "verify"]).status.success());
    // After this change of a time, a daemon that starts reads the file, and records its new time.
    change_time(&model.join("config.json"), SystemTime::now());
    let record = || fs::read_to_string(model.join("installed.json")).unwrap();
    let before = (names(&model), record());

    let (mut command, folder) = demo(&scratch);
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(errors, "");
    assert_eq!((names(&model), record()), before);
    assert_eq!(names(&folder), [] as [&str; 0]);
    assert!(user.is_alive());
}

#[test]
fn without_a_model_the_demonstration_searches_by_keyword() {
    let scratch = Scratch::new();
    let (mut command, folder) = demo(&scratch);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("hippoctl model pull"));
    assert!(
        said.contains("in an aisle seat") && said.contains("The locksmith moved"),
        "{said}"
    );
    assert_eq!(names(&folder), [] as [&str; 0]);
    assert!(!scratch.home().exists());

    let output = demo(&scratch).0.arg("--json").output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["by_meaning"], false);
    assert_eq!(report["answers"].as_array().unwrap().len(), 5);
    assert_eq!(output.stderr, b"");
}

#[test]
fn an_interrupt_before_the_daemon_answers_leaves_no_files() {
    let scratch = Scratch::new();
    let (mut command, folder) = demo(&scratch);
    let mut client = command
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while names(&folder).is_empty() {
        std::hint::spin_loop();
    }
    signal("-INT", &client.id().to_string());
    assert_eq!(client.wait().unwrap().code(), Some(130));
    assert_eq!(names(&folder), [] as [&str; 0]);
}

#[test]
fn an_interrupted_demonstration_leaves_neither_files_nor_a_daemon() {
    let scratch = Scratch::new();
    let (mut command, folder) = demo(&scratch);
    let mut client = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(client.stderr.take().unwrap()).lines();
    // The note about the missing model: the daemon has answered a request.
    lines.next().unwrap().unwrap();
    let created = names(&folder);
    assert_eq!(created.len(), 1, "{created:?}");
    let daemon = fs::read_to_string(folder.join(&created[0]).join("home/state/hippod.lock")).unwrap();
    // The daemon stops, so that the client waits when the interrupt arrives.
    signal("-STOP", &daemon);
    signal("-INT", &client.id().to_string());
    assert_eq!(client.wait().unwrap().code(), Some(130));
    assert_eq!(names(&folder), [] as [&str; 0]);
    assert!(!Path::new("/proc").join(daemon.trim()).exists(), "{daemon}");
}
