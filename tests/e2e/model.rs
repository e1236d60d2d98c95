//! The daemon with the real model.
//!
//! The tests cover semantic search, unloading, a change of the model, and verification of the installed files.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use hippo_proto::{
    Event, EventName, ModelListRequest, ModelListResponse, ModelLoad, ModelState, ModelVerifyRequest,
    ModelVerifyResponse, SearchMode, SearchRequest, SearchResponse, SubscribeRequest, SubscribeResponse,
    TreeCompactRequest, TreeCompactResponse,
};
use hippod_tests::{Caller, Daemon, PATIENCE, Scratch, program};

use super::backup::hippoctl;

pub(super) const REAL: (&str, &str) = ("HIPPOD_EMBED_MODEL", "minilm-l6-dialogue-int8");

/// Creates a home with the model and the runtime library that `cargo xtask setup` installed.
pub(super) fn with_model() -> Scratch {
    let installed = std::env::var_os("HIPPOD_TEST_MODEL_HOME").map(PathBuf::from);
    let installed =
        installed.expect("HIPPOD_TEST_MODEL_HOME is not set: run `cargo xtask setup` and use its folder");
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.home()).unwrap();
    for name in ["models", "runtime"] {
        std::os::unix::fs::symlink(installed.join(name), scratch.home().join(name)).unwrap();
    }
    scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n- The physician prescribed new tablets for the blood pressure.\n\n- We repainted the garden fence in green.\n",
    );
    scratch.write(
        "knowledge/harbour.md",
        "# Harbour\n\nThe ferry to the islands leaves at seven.\n\nThe lighthouse keeper retired in autumn.\n",
    );
    scratch
}

fn by_meaning(client: &mut Caller, scratch: &Scratch, query: &str) -> SearchResponse {
    let request = SearchRequest {
        mode: Some(SearchMode::Vector),
        ..SearchRequest::new(scratch.workspace().display().to_string(), query)
    };
    client.raw().call(&request.into()).expect("an answer")
}

fn best(client: &mut Caller, scratch: &Scratch, query: &str) -> String {
    by_meaning(client, scratch, query).results.remove(0).text
}

#[test]
fn a_packaged_model_and_runtime_are_found_and_the_users_own_have_priority() {
    let scratch = with_model();
    let (own, models) = (scratch.home().join("runtime"), scratch.home().join("models"));
    let runtime = fs::read_link(&own).unwrap();
    let shipped_models = fs::read_link(&models).unwrap();
    fs::remove_file(&own).unwrap();
    fs::remove_file(&models).unwrap();
    let prefix = scratch.beside("prefix");
    fs::create_dir_all(prefix.join("bin")).unwrap();
    fs::create_dir_all(prefix.join("lib/hippod")).unwrap();
    let hippod = prefix.join("bin/hippod");
    // Link the program instead of copying it if possible, because it is large.
    if fs::hard_link(program(), &hippod).is_err() {
        fs::copy(program(), &hippod).unwrap();
    }
    let started = || {
        let mut command = Command::new(&hippod);
        command.arg("run");
        Daemon::start_as(command, &scratch.home(), &[REAL])
    };
    let listed = |daemon: &Daemon| -> ModelListResponse {
        daemon.client().raw().call(&ModelListRequest {}.into()).unwrap()
    };
    let daemon = started();
    assert_eq!(listed(&daemon).runtime.state, ModelState::Absent);
    daemon.terminate();

    let shipped = prefix.join("lib/hippod/runtime");
    std::os::unix::fs::symlink(&runtime, &shipped).unwrap();
    std::os::unix::fs::symlink(&shipped_models, prefix.join("lib/hippod/models")).unwrap();
    let daemon = started();
    assert_eq!(listed(&daemon).models[0].state, ModelState::Installed);
    let found = listed(&daemon).runtime.path.expect("a path");
    assert!(found.starts_with(shipped.to_str().unwrap()), "{found}");
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    assert!(best(&mut client, &scratch, "when does the boat sail").contains("ferry"));
    drop(client);
    daemon.terminate();

    std::os::unix::fs::symlink(&runtime, &own).unwrap();
    let daemon = started();
    let found = listed(&daemon).runtime.path.expect("a path");
    assert!(found.starts_with(own.to_str().unwrap()), "{found}");
}

#[test]
fn the_name_of_a_speaker_is_not_compared_by_meaning() {
    let scratch = with_model();
    scratch.write(
        "memory/2026-03-03.md",
        "# 2026-03-03\n\n## Nora and Paul\n\n- **Nora:** Paul!\n- **Paul:** Nora, hi!\n\
         - **Nora:** My cello needs new strings.\n- **Paul:** Nora?\n",
    );
    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    assert!(best(&mut client, &scratch, "What does Nora play?").contains("cello"));
}

#[test]
fn a_first_search_returns_no_empty_headings() {
    let scratch = with_model();
    scratch.write(
        "memory/ROOT.md",
        include_str!("../../integrations/templates/ROOT.md"),
    );
    scratch.write("WORKING.md", "# Working\n");
    scratch.write(
        "notes.md",
        "# Call Anna\n\n# Dentist\n\n- The tablets are paid.\n",
    );
    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let mut texts = |query: &str| -> Vec<String> {
        let answer = client.search(&scratch.workspace(), query);
        answer.results.into_iter().map(|hit| hit.text).collect()
    };
    let found = texts("when does the boat sail");
    assert!(found.iter().any(|text| text.contains("ferry")), "{found:?}");
    assert!(
        found.iter().all(|text| !text.trim().starts_with('#')),
        "{found:?}"
    );
    assert_eq!(texts("anna")[0].trim(), "# Call Anna");
}

#[test]
fn a_hybrid_search_ranks_the_best_passages_again() {
    let scratch = with_model();
    let lines: String = (1..=30)
        .map(|day| format!("- Day {day}: watered the plants in room {day}.\n\n"))
        .collect();
    scratch.write("knowledge/plants.md", format!("# Plants\n\n{lines}"));
    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let mut ask = |mode: SearchMode, min_score: Option<f32>| -> SearchResponse {
        let request = SearchRequest {
            mode: Some(mode),
            min_score,
            explain: true,
            limit: Some(20),
            ..SearchRequest::new(
                scratch.workspace().display().to_string(),
                "which medicine did the physician prescribe",
            )
        };
        client.raw().call(&request.into()).expect("an answer")
    };
    let hybrid = ask(SearchMode::Hybrid, None).results;
    assert!(hybrid[0].text.contains("tablets"), "{hybrid:?}");
    assert!(hybrid.len() > 5);
    assert!(hybrid.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert!(hybrid.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
    let has_first = |hit: &hippo_proto::SearchHit| hit.explain.as_ref().unwrap().contains_key("first");
    assert!(hybrid.iter().all(has_first));
    let least = hybrid[0].score;
    let strong = ask(SearchMode::Hybrid, Some(least)).results;
    assert!(!strong.is_empty() && strong.iter().all(|hit| hit.score >= least));
    for mode in [SearchMode::Lexical, SearchMode::Vector] {
        assert!(!ask(mode, None).results.iter().any(has_first), "{mode:?}");
    }
}

#[test]
fn search_by_meaning_works_and_an_idle_model_is_unloaded() {
    let scratch = with_model();
    let daemon = Daemon::start(&scratch.home(), &[REAL, ("HIPPOD_EMBED_IDLE_UNLOAD_SECS", "1")]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    assert!(best(&mut client, &scratch, "which medicine did the doctor give me").contains("physician"));
    assert!(best(&mut client, &scratch, "when does the boat sail").contains("ferry"));
    let loads = client.status().model.loads;
    let deadline = Instant::now() + PATIENCE;
    while client.status().model.state != ModelLoad::Unloaded {
        assert!(
            Instant::now() < deadline,
            "the model stays: {:?}",
            client.status().model
        );
        std::thread::yield_now();
    }
    assert!(best(&mut client, &scratch, "when does the boat sail").contains("ferry"));
    assert!(client.status().model.loads > loads, "it was loaded again");
}

#[test]
fn the_old_model_answers_until_the_vectors_of_the_new_one_are_complete() {
    let scratch = with_model();
    let daemon = Daemon::start(&scratch.home(), &[]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let hashed = client.status();
    assert!(hashed.model.id.starts_with("feature-hash"), "{:?}", hashed.model);
    daemon.terminate();

    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    // During the change, either model may answer a query. Each must use its own vectors.
    for _ in 0..20 {
        let answer = by_meaning(&mut client, &scratch, "the ferry to the islands leaves at seven");
        assert!(answer.results[0].text.contains("ferry"), "{answer:?}");
    }
    client.sync(&scratch.workspace());
    let status = client.status();
    assert!(status.model.id.starts_with(REAL.1), "{:?}", status.model);
    assert_eq!(status.workspaces[0].embedded, status.workspaces[0].chunks);
    assert!(best(&mut client, &scratch, "which medicine did the doctor give me").contains("physician"));
}

#[test]
fn a_disabled_model_is_not_used_despite_stored_vectors() {
    let scratch = with_model();
    let daemon = Daemon::start(&scratch.home(), &[]);
    daemon.client().index(&scratch.workspace());
    daemon.terminate();
    let daemon = Daemon::start(&scratch.home(), &[REAL, ("HIPPOD_EMBED_ENABLED", "false")]);
    let mut client = daemon.client();
    client.sync(&scratch.workspace());
    let request = SearchRequest {
        mode: Some(SearchMode::Vector),
        ..SearchRequest::new(scratch.workspace().display().to_string(), "ferry")
    };
    let refusal = client.refusal(request);
    assert!(
        refusal.message.contains("could not search by meaning"),
        "{refusal}"
    );
    let answer = client.search(&scratch.workspace(), "ferry");
    assert!(answer.results[0].text.contains("ferry") && answer.index.degraded.is_none());
    let model = client.status().model;
    assert_eq!((model.state, model.loads), (ModelLoad::Absent, 0));
}

#[test]
fn a_manually_installed_model_is_found_at_the_next_sync() {
    let scratch = with_model();
    let (models, aside) = (scratch.home().join("models"), scratch.beside("models"));
    fs::rename(&models, &aside).unwrap();
    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    assert_eq!(client.status().model.state, ModelLoad::Absent);
    // Waiting does not help without a model, and has an exit status of its own.
    let root = scratch.workspace().display().to_string();
    let waited = hippoctl(&scratch.home(), &["--workspace", &root, "sync", "--wait"]);
    let errors = String::from_utf8_lossy(&waited.stderr).into_owned();
    assert_eq!(waited.status.code(), Some(6), "{errors}");
    assert!(
        errors.contains("not searchable by meaning") && errors.contains("hippoctl model pull"),
        "{errors}"
    );
    fs::rename(&aside, &models).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while client.sync(&scratch.workspace()).pending > 0 {
        assert!(Instant::now() < deadline, "never seen: {:?}", client.status());
        std::thread::yield_now();
    }
    assert!(best(&mut client, &scratch, "when does the boat sail").contains("ferry"));
    let waited = hippoctl(&scratch.home(), &["--workspace", &root, "sync", "--wait"]);
    assert!(waited.status.success(), "{waited:?}");
}

#[test]
fn installed_models_are_listed_and_verified() {
    let scratch = with_model();
    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    let listed: ModelListResponse = client.raw().call(&ModelListRequest {}.into()).unwrap();
    let default = &listed.models[0];
    assert_eq!((default.state, default.selected), (ModelState::Installed, true));
    assert_eq!(listed.runtime.state, ModelState::Installed);
    assert!(
        listed
            .runtime
            .path
            .is_some_and(|path| PathBuf::from(path).exists())
    );
    let verified: ModelVerifyResponse = client
        .raw()
        .call(&ModelVerifyRequest { model: None }.into())
        .unwrap();
    assert!(verified.ok && verified.files.len() == 4, "{verified:?}");
}

#[test]
fn subscribers_are_notified_of_newly_searchable_text() {
    let scratch = with_model();
    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    daemon.client().index(&scratch.workspace());
    let mut listener = daemon.client();
    let root = scratch.workspace().canonicalize().unwrap().display().to_string();
    let subscribe = SubscribeRequest {
        workspace: Some(root.clone()),
        events: Some(vec![EventName::Indexed, EventName::Job]),
    };
    let _: SubscribeResponse = listener.raw().call(&subscribe.into()).unwrap();
    scratch.write(
        "memory/2026-03-03.md",
        "# 2026-03-03\n\n- The kiln reached its heat at noon.\n",
    );
    let mut heard = Vec::new();
    for news in listener.raw().notifications() {
        heard.extend(news.event());
        let embedded =
            |event: &Event| matches!(event, Event::Job { job, finished: true, .. } if job == "embed");
        if heard.iter().any(embedded) {
            break;
        }
    }
    let indexed = heard.iter().position(
        |event| matches!(event, Event::Indexed { workspace, changed: 1, .. } if *workspace == root),
    );
    assert!(indexed.is_some_and(|at| at + 1 < heard.len()), "{heard:?}");
    assert!(best(&mut daemon.client(), &scratch, "the oven for pottery was hot").contains("kiln"));
}

/// Rewrites the root of the compaction tree, and returns the topics in the root.
fn topics(client: &mut Caller, scratch: &Scratch) -> Vec<String> {
    let request = TreeCompactRequest {
        workspace: scratch.workspace().display().to_string(),
        ..TreeCompactRequest::default()
    };
    let answer: TreeCompactResponse = client.raw().call(&request.into()).expect("a tree");
    assert_eq!(answer.refused, []);
    let root = fs::read_to_string(scratch.workspace().join("memory/ROOT.md")).expect("a root");
    let index = root.split("## Topics Index\n").nth(1).expect("topics");
    let names = index
        .lines()
        .filter_map(|line| line.strip_prefix("- ")?.split(" [").next());
    names.map(str::to_owned).collect()
}

#[test]
fn a_paraphrased_topic_has_one_line_in_the_root() {
    let scratch = with_model();
    for (day, topics) in [
        (
            "2026-03-02",
            "## Depot [project]\n- Ada met the landlord in Lyon, measured all windows of the depot, and asked three carpenters for an offer\n\n\
             ## Nightly backup [project]\n- every night at two the database is dumped and copied to the storage box in Falkenstein\n",
        ),
        (
            "2026-03-09",
            "## Van [project]\n- the grey van failed its inspection because of rust below the doors; Grace found a welder near the harbour\n\n\
             ## Database dumps [project]\n- the database is dumped each night at 2 am and copied to the storage box in Falkenstein\n",
        ),
        (
            "2026-03-16",
            "## Roof [project]\n- rain came through above the stairs, tiles are ordered at Brandt's, a scaffold costs nine hundred a week\n\n\
             ## Espresso machine [project]\n- the espresso machine in the kitchen leaks again and needs a new gasket\n",
        ),
    ] {
        scratch.write(&format!("memory/{day}.md"), format!("# {day}\n\n{topics}"));
    }
    let mut all = vec![
        "Database dumps",
        "Depot",
        "Espresso machine",
        "Nightly backup",
        "Roof",
        "Van",
    ];
    let by_words = Daemon::start(&scratch.home(), &[("HIPPOD_EMBED_ENABLED", "false")]);
    let mut client = by_words.client();
    client.index(&scratch.workspace());
    assert_eq!(topics(&mut client, &scratch), all);
    drop((client, by_words));

    let daemon = Daemon::start(&scratch.home(), &[REAL]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    all.retain(|topic| *topic != "Nightly backup");
    assert_eq!(topics(&mut client, &scratch), all);
}
