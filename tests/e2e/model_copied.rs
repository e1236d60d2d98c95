//! A copied model home without its timestamps, and a damaged copy.

use std::fs;
use std::path::{Path, PathBuf};

use hippo_proto::{ModelListRequest, ModelListResponse, ModelState, ModelVerifyRequest, ModelVerifyResponse};
use hippod_tests::{Caller, Daemon, Scratch};

use crate::model::REAL;

fn installed() -> PathBuf {
    let installed = std::env::var_os("HIPPOD_TEST_MODEL_HOME").map(PathBuf::from);
    installed.expect("HIPPOD_TEST_MODEL_HOME is not set: run `cargo xtask setup` and use its folder")
}

/// Copies a folder as `cp -r` does: the modification time of each copy is the current time.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::write(&to, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

fn copy_home(scratch: &Scratch) {
    for name in ["models", "runtime"] {
        copy(&installed().join(name), &scratch.home().join(name));
    }
}

fn begun() -> Scratch {
    let scratch = Scratch::new();
    scratch.write(
        "memory/2026-03-02.md",
        "- The physician prescribed new tablets.\n",
    );
    scratch
}

fn listed(client: &mut Caller) -> ModelListResponse {
    client.raw().call(&ModelListRequest {}.into()).unwrap()
}

fn state_of_default(list: &ModelListResponse) -> ModelState {
    list.models[0].state
}

#[test]
fn a_model_home_copied_without_times_is_installed_for_every_command() {
    let scratch = begun();
    copy_home(&scratch);
    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let answer = client.search(&scratch.workspace(), "which medicine did the doctor give");
    assert_eq!(answer.index.degraded, None, "{answer:?}");
    assert!(answer.results[0].scores.unwrap().vector.is_some(), "{answer:?}");
    let list = listed(&mut client);
    assert_eq!(state_of_default(&list), ModelState::Installed);
    assert_eq!(list.runtime.state, ModelState::Installed);
    let verified: ModelVerifyResponse = client
        .raw()
        .call(&ModelVerifyRequest { model: None }.into())
        .unwrap();
    assert!(verified.ok, "{verified:?}");
    let problems = client.doctor(false).problems;
    assert!(
        problems.iter().all(|problem| problem.id != "no-model"),
        "{problems:?}"
    );
}

#[test]
fn a_model_copied_while_the_daemon_runs_is_found_by_the_next_search() {
    let scratch = begun();
    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let answer = client.search(&scratch.workspace(), "tablets");
    assert_eq!(answer.index.degraded.as_deref(), Some("no-model"));
    copy_home(&scratch);
    client.search_until(&scratch.workspace(), "tablets", |answer| {
        answer.index.degraded.is_none()
    });
}

#[test]
fn damaged_bytes_of_the_right_size_are_refused_and_named_by_every_command() {
    let scratch = begun();
    copy_home(&scratch);
    let model = scratch.home().join("models").join(REAL.1);
    // An equal file of another model would replace the damaged one.
    for other in fs::read_dir(scratch.home().join("models")).unwrap() {
        let other = other.unwrap().path();
        if other != model {
            fs::remove_dir_all(other).unwrap();
        }
    }
    let weights = model.join("tokenizer.json");
    let mut bytes = fs::read(&weights).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&weights, &bytes).unwrap();
    let named = weights.file_name().unwrap().to_str().unwrap();

    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let answer = client.search(&scratch.workspace(), "tablets");
    assert_eq!(answer.index.degraded.as_deref(), Some("no-model"));
    assert!(answer.index.why.as_ref().unwrap().contains(named), "{answer:?}");
    assert_eq!(state_of_default(&listed(&mut client)), ModelState::Damaged);
    let verified: ModelVerifyResponse = client
        .raw()
        .call(&ModelVerifyRequest { model: None }.into())
        .unwrap();
    let bad: Vec<&str> = verified
        .files
        .iter()
        .filter(|file| !file.ok)
        .map(|file| file.path.as_str())
        .collect();
    assert!(bad.len() == 1 && bad[0].ends_with(named), "{verified:?}");
    let problems = client.doctor(false).problems;
    let told = problems.iter().find(|problem| problem.id == "no-model").unwrap();
    assert!(told.what.contains(named), "{told:?}");
}
