//! Models that a person imported from a folder.
//!
//! The tests cover selection, removal, damage, and a different dimension.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hippo_proto::{
    ErrorKind, ModelImportRequest, ModelInfo, ModelListRequest, ModelListResponse, ModelLoad,
    ModelPullResponse, ModelRemoveRequest, ModelRemoveResponse, ModelState, ModelVerifyRequest,
    ModelVerifyResponse, RpcError, SearchMode, SearchRequest, SearchResponse,
};
use hippod_tests::{Caller, Daemon, PATIENCE, Scratch};
use serde_json::json;

use crate::backup::{backup, refused, restore};
use crate::folder::{TestFolder, TestShape};
use crate::model::REAL;

const MINE: (&str, &str) = ("HIPPOD_EMBED_MODEL", "mine");

fn installed() -> PathBuf {
    let installed = std::env::var_os("HIPPOD_TEST_MODEL_HOME").map(PathBuf::from);
    installed.expect("HIPPOD_TEST_MODEL_HOME is not set: run `cargo xtask setup` and use its folder")
}

/// Creates a home with the model and the runtime library that `cargo xtask setup` installed. Its models folder is
/// writable, so that models can be imported.
pub(super) fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let models = scratch.home().join("models");
    fs::create_dir_all(&models).unwrap();
    symlink(installed().join("models").join(REAL.1), models.join(REAL.1)).unwrap();
    symlink(installed().join("runtime"), scratch.home().join("runtime")).unwrap();
    scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n- The physician prescribed new tablets for the blood pressure.\n\n- We repainted the garden fence in green.\n",
    );
    scratch.write(
        "knowledge/harbour.md",
        "# Harbour\n\nThe ferry leaves at seven.\n\nThe lighthouse keeper retired in autumn.\n",
    );
    scratch
}

/// Returns the default model in the layout in which its authors publish it. The files are links into a hub cache.
fn default_as_a_folder() -> TestFolder {
    let folder = TestFolder::new(TestShape::default());
    for name in ["model.safetensors", "tokenizer.json", "config.json"] {
        let place = folder.path.join(name);
        fs::remove_file(&place).unwrap();
        symlink(installed().join("models").join(REAL.1).join(name), place).unwrap();
    }
    folder.json(
        "sentence_bert_config.json",
        &json!({"max_seq_length": 256, "do_lower_case": false}),
    );
    folder
}

pub(super) fn import(client: &mut Caller, from: &Path, name: &str) -> Result<ModelPullResponse, RpcError> {
    let request = ModelImportRequest {
        from: from.display().to_string(),
        name: Some(name.into()),
        ..ModelImportRequest::default()
    };
    refused(client, request.into())
}

fn remove(client: &mut Caller, name: &str) -> Result<ModelRemoveResponse, RpcError> {
    refused(client, ModelRemoveRequest { model: name.into() }.into())
}

fn listed(client: &mut Caller, name: &str) -> Option<ModelInfo> {
    let listed: ModelListResponse = client.raw().call(&ModelListRequest {}.into()).unwrap();
    listed.models.into_iter().find(|model| model.name == name)
}

fn by_meaning(client: &mut Caller, root: &Path, query: &str) -> SearchResponse {
    let request = SearchRequest {
        mode: Some(SearchMode::Vector),
        record: false,
        ..SearchRequest::new(root.display().to_string(), query)
    };
    client.raw().call(&request.into()).expect("an answer")
}

fn all_found(client: &mut Caller, root: &Path) -> Vec<(String, f32)> {
    let questions = ["which medicine did the doctor give me", "when does the boat sail"];
    let found = questions.map(|question| by_meaning(client, root, question).results);
    assert!(
        found[0][0].text.contains("physician") && found[1][0].text.contains("ferry"),
        "{found:?}"
    );
    found
        .into_iter()
        .flatten()
        .map(|hit| (hit.path, hit.score))
        .collect()
}

/// Waits until each chunk has a vector. After a change of the model, the daemon opens its workspaces again.
fn embedded(client: &mut Caller, root: &Path) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        client.sync(root);
        let status = client.status();
        let workspace = &status.workspaces[0];
        if workspace.chunks > 0 && workspace.embedded == workspace.chunks && workspace.degraded.is_none() {
            return;
        }
        assert!(Instant::now() < deadline, "never embedded: {status:?}");
        std::thread::yield_now();
    }
}

#[test]
fn an_imported_model_answers_like_its_origin_and_can_be_removed() {
    let (scratch, folder) = (scratch(), default_as_a_folder());
    let root = scratch.workspace();
    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    client.index(&root);
    let before = all_found(&mut client, &root);
    let imported = import(&mut client, &folder.path, "mine").unwrap();
    assert!(imported.files.iter().all(|file| file.ok), "{imported:?}");
    let (mine, default) = (listed(&mut client, "mine"), listed(&mut client, REAL.1));
    let (mine, default) = (mine.unwrap(), default.unwrap());
    assert_eq!((mine.state, mine.selected), (ModelState::Installed, false));
    assert!(mine.sha256.is_some() && mine.sha256 == default.sha256);
    drop(client);
    daemon.terminate();

    let daemon = Daemon::start(&scratch.home(), &[MINE]);
    let mut client = daemon.client();
    embedded(&mut client, &root);
    assert_eq!(client.status().model.id, mine.id);
    assert_eq!(all_found(&mut client, &root), before);
    let in_use = remove(&mut client, "mine").unwrap_err();
    assert_eq!(in_use.data.kind, ErrorKind::Conflict);
    drop(client);
    daemon.kill();

    let daemon = Daemon::start(&scratch.home(), &[MINE]);
    let mut client = daemon.client();
    client.sync(&root);
    assert_eq!(all_found(&mut client, &root), before);
    drop(client);
    daemon.terminate();

    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    embedded(&mut client, &root);
    assert!(client.status().model.id.starts_with(&format!("{}|", REAL.1)));
    assert_eq!(all_found(&mut client, &root), before);
    assert!(remove(&mut client, "mine").unwrap().bytes > 20_000_000);
    assert_eq!(listed(&mut client, "mine"), None);
    let gone = remove(&mut client, "mine").unwrap_err();
    assert_eq!(gone.data.kind, ErrorKind::NotFound);
    let built_in = remove(&mut client, "hash").unwrap_err();
    assert_eq!(built_in.data.kind, ErrorKind::BadRequest);
}

#[test]
fn a_workspace_can_choose_a_model_before_it_is_installed() {
    let (scratch, folder) = (scratch(), TestFolder::new(TestShape::default()));
    let root = scratch.workspace();
    let settings = ".hippocampus/config.toml";
    scratch.trusted(settings, "[embed]\nmodel = \"toy\"\n");
    // The daemon's model must be set in the file, because a workspace cannot override an environment variable.
    fs::write(scratch.home().join("config.toml"), "[embed]\nmodel = \"hash\"\n").unwrap();
    let unsaid = [("HIPPOD_EMBED_MODEL", "")];
    let daemon = Daemon::start(&scratch.home(), &unsaid);
    let mut client = daemon.client();
    client.index(&root);
    let answer = client.search(&root, "ferry");
    assert!(answer.results[0].text.contains("ferry"));
    assert_eq!(answer.index.degraded.as_deref(), Some("no-model"));
    let why = answer.index.why.unwrap();
    assert!(why.contains("hippoctl model import DIR --name toy"), "{why}");
    let problems = client.doctor(false).problems;
    let found = problems
        .iter()
        .find(|problem| problem.id == "no-model")
        .expect("a problem");
    assert!(found.fix.contains("--name toy"), "{found:?}");

    import(&mut client, &folder.path, "toy").unwrap();
    embedded(&mut client, &root);
    let ferry = |client: &mut Caller, root: &Path| {
        let found = by_meaning(client, root, "Harbour\nThe ferry leaves at seven.");
        assert!(found.results[0].text.contains("ferry"), "{found:?}");
    };
    ferry(&mut client, &root);
    let first = listed(&mut client, "toy").unwrap();
    assert_eq!((first.dimension, first.selected), (64, false));
    let status = client.status();
    let its_own = status.workspaces[0].vector.model.clone().unwrap();
    assert!(
        its_own.starts_with("toy|") && status.model.id != its_own,
        "{status:?}"
    );
    assert_eq!(
        remove(&mut client, "toy").unwrap_err().data.kind,
        ErrorKind::Conflict
    );

    let to = scratch.beside("kept.tar.zst");
    backup(&mut client, &to).unwrap();
    let other = scratch.beside("restored");
    restore(&mut client, &to, Some(&other)).unwrap();
    client.sync(&other);
    ferry(&mut client, &other);
    drop(client);
    daemon.kill();

    let daemon = Daemon::start(&scratch.home(), &unsaid);
    let mut client = daemon.client();
    client.sync(&root);
    ferry(&mut client, &root);

    // The workspaces use the daemon's own model again. Then another model is imported under the same name.
    for root in [&root, &other] {
        fs::remove_file(root.join(settings)).unwrap();
        client.sync(root);
    }
    let deadline = Instant::now() + PATIENCE;
    while remove(&mut client, "toy").is_err() {
        assert!(
            Instant::now() < deadline,
            "in use for ever: {:?}",
            client.status()
        );
        client.sync(&root);
        client.sync(&other);
    }
    let another = TestFolder::new(TestShape {
        layers: 2,
        width: 32,
        ..TestShape::default()
    });
    import(&mut client, &another.path, "toy").unwrap();
    let second = listed(&mut client, "toy").unwrap();
    assert!(second.dimension == 32 && second.id != first.id, "{second:?}");
    scratch.trusted(settings, "[embed]\nmodel = \"toy\"\n");
    embedded(&mut client, &root);
    ferry(&mut client, &root);
}

#[test]
fn a_damaged_model_is_named_and_repaired_by_another_import() {
    let (scratch, folder) = (scratch(), TestFolder::new(TestShape::default()));
    let root = scratch.workspace();
    let daemon = Daemon::start(&scratch.home(), &[]);
    import(&mut daemon.client(), &folder.path, "mine").unwrap();
    daemon.terminate();
    let weights = scratch.home().join("models/mine/model.safetensors");
    let whole = fs::read(&weights).unwrap();
    fs::write(&weights, &whole[..whole.len() / 2]).unwrap();

    let daemon = Daemon::start(&scratch.home(), &[MINE]);
    let mut client = daemon.client();
    client.index(&root);
    assert!(client.search(&root, "ferry").results[0].text.contains("ferry"));
    let problems = client.doctor(false).problems;
    let found = problems
        .iter()
        .find(|problem| problem.id == "no-model")
        .expect("a problem");
    assert!(found.what.contains("models/mine/model.safetensors"), "{found:?}");
    assert!(
        found.fix.contains("hippoctl model import DIR --name mine"),
        "{found:?}"
    );
    assert_eq!(listed(&mut client, "mine").unwrap().state, ModelState::Damaged);
    let verified: ModelVerifyResponse = client
        .raw()
        .call(&ModelVerifyRequest { model: None }.into())
        .unwrap();
    assert!(!verified.ok && verified.model == "mine", "{verified:?}");

    import(&mut client, &folder.path, "mine").unwrap();
    embedded(&mut client, &root);
    assert_ne!(client.status().model.state, ModelLoad::Absent);
    assert!(!by_meaning(&mut client, &root, "the ferry").results.is_empty());

    // An import from an unsupported folder does not change the installed models.
    fs::remove_file(folder.path.join("model.safetensors")).unwrap();
    fs::write(folder.path.join("pytorch_model.bin"), b"pickle").unwrap();
    let told = import(&mut client, &folder.path, "other").unwrap_err();
    assert_eq!(told.data.kind, ErrorKind::BadRequest);
    assert!(
        told.message.contains("pickle") && told.data.hint.contains("safetensors"),
        "{told:?}"
    );
    assert_eq!(listed(&mut client, "other"), None);
}
