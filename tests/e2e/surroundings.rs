//! Abnormal environments: a wrong clock, and a missing model.

use std::sync::Arc;
use std::time::Duration;

use hippo_proto::{
    Client, ErrorKind, ModelLoad, Paths, SearchMode, SearchRequest, SearchResponse, WorkspaceAddRequest,
    WorkspaceAddResponse, WorkspaceSyncRequest, WorkspaceSyncResponse,
};
use hippo_types::time::Timestamp;
use hippod::clock::ManualClock;
use hippod::config::Config;
use hippod::{DaemonOptions, run};
use hippod_tests::{Daemon, PATIENCE, Scratch};

#[test]
fn a_clock_set_back_hides_no_edit() {
    let scratch = Scratch::new();
    scratch.write("memory/a.md", "- the pump is blue\n");
    let home = scratch.home();
    let paths = Paths::below(&home);
    let socket = paths.socket.clone();
    let settings = [("HIPPOD_EMBED_MODEL", "hash"), ("HIPPOD_WATCH_QUIET_MS", "30")];
    let variables = settings.map(|(name, value)| (name.into(), value.into()));
    let config = Config::load(&paths.config_file, variables).unwrap();
    let now = jiff::Timestamp::now().as_millisecond();
    let clock = Arc::new(ManualClock::new(Timestamp(now), jiff::tz::TimeZone::UTC));
    let options = DaemonOptions {
        config,
        paths,
        clock: clock.clone(),
        passed: None,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let daemon = runtime.spawn(run(options, async {
        // The wait also ends when the sender is dropped, so dropping the sender stops the daemon too.
        let _ = stopped.await;
    }));
    let mut client = loop {
        match Client::connect(&socket, Some(PATIENCE)) {
            Ok(client) => break client,
            Err(_) => assert!(!daemon.is_finished(), "{:?}", runtime.block_on(daemon)),
        }
        std::thread::yield_now();
    };
    let root = scratch.workspace().display().to_string();
    let add = WorkspaceAddRequest {
        workspace: root.clone(),
    };
    client.call::<WorkspaceAddResponse>(&add.into()).unwrap();
    let sync = |client: &mut Client| {
        let request = WorkspaceSyncRequest {
            workspace: root.clone(),
            wait: true,
            accept_deletions: false,
        };
        client.call::<WorkspaceSyncResponse>(&request.into()).unwrap()
    };
    assert_eq!(sync(&mut client).documents, 1);
    let search = |client: &mut Client, query: &str| {
        let response: SearchResponse = client
            .call(&SearchRequest::new(root.clone(), query).into())
            .unwrap();
        response.results.first().map(|hit| hit.text.clone())
    };
    assert_eq!(
        search(&mut client, "blue pump").as_deref(),
        Some("- the pump is blue")
    );

    clock.set_wall(Timestamp(now - 3_600_000));
    // The clock was set back, so an edit gives a file an older modification time. The edit of `a.md` does not change
    // the size of the file.
    let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
    let set_back = |path: &str| {
        let file = std::fs::File::options()
            .write(true)
            .open(scratch.workspace().join(path))
            .unwrap();
        file.set_modified(hour_ago).unwrap();
    };
    scratch.write("memory/a.md", "- the pump is gray\n");
    set_back("memory/a.md");
    scratch.write("memory/b.md", "- the valve is red\n");
    set_back("memory/b.md");
    assert_eq!(sync(&mut client).documents, 2);
    assert_eq!(
        search(&mut client, "gray pump").as_deref(),
        Some("- the pump is gray")
    );
    assert_eq!(
        search(&mut client, "red valve").as_deref(),
        Some("- the valve is red")
    );
    // Write the file again with exactly the modification time that the index has recorded.
    scratch.write("memory/a.md", "- the pump is pink\n");
    set_back("memory/a.md");
    sync(&mut client);
    assert_eq!(
        search(&mut client, "pink pump").as_deref(),
        Some("- the pump is pink")
    );
    drop(stop);
    runtime.block_on(daemon).unwrap().unwrap();
}

#[test]
fn without_a_model_words_are_searched_and_doctor_names_the_fix() {
    let scratch = Scratch::new();
    scratch.write("memory/a.md", "- the pump is blue\n- the valve is red\n");
    let cache = scratch.beside("cache").display().to_string();
    let settings = [
        ("HIPPOD_EMBED_MODEL", "minilm-l6-dialogue-int8"),
        ("HIPPOD_CACHE", &cache),
    ];
    let daemon = Daemon::start(&scratch.home(), &settings);
    let mut client = daemon.client();
    let synced = client.index(&scratch.workspace());
    assert_eq!(
        (synced.documents, synced.pending),
        (1, 2),
        "nothing waits for a model that is not there"
    );
    let tells = |note: &String| {
        let words = [
            "all text is searchable by keyword",
            "not searchable by meaning yet",
            "2",
            "cannot be used: ",
        ];
        words.iter().all(|word| note.contains(word))
    };
    assert!(synced.notes.iter().any(tells), "{:?}", synced.notes);
    for mode in [None, Some(SearchMode::Lexical)] {
        let mut request = SearchRequest::new(scratch.workspace().display().to_string(), "red valve");
        request.mode = mode;
        let answer: SearchResponse = client.raw().call(&request.into()).unwrap();
        assert_eq!(answer.results[0].text, "- the valve is red");
        assert_eq!(answer.index.degraded.as_deref(), Some("no-model"));
        assert!(
            answer
                .index
                .why
                .is_some_and(|why| why.contains("hippoctl model pull"))
        );
    }
    let mut request = SearchRequest::new(scratch.workspace().display().to_string(), "red valve");
    request.mode = Some(SearchMode::Vector);
    let error = client.refusal(request);
    assert_eq!(error.data.kind, ErrorKind::Degraded, "{error:?}");
    assert!(error.data.hint.contains("hippoctl model pull"), "{error:?}");
    let status = client.status();
    assert_eq!(status.model.state, ModelLoad::Absent);
    assert!(status.model.reason.is_some());
    assert_eq!(status.workspaces[0].degraded.as_deref(), Some("no-model"));
    let problems = client.doctor(false).problems;
    let named = if cfg!(feature = "onnx") {
        ("no-model", "hippoctl model pull")
    } else {
        ("model-unsupported", "keyword search still works")
    };
    assert!(
        problems
            .iter()
            .any(|problem| problem.id == named.0 && problem.fix.contains(named.1)),
        "{problems:?}"
    );
    drop(client);
    drop(daemon);

    // When a model is available, the daemon embeds all waiting chunks.
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    assert_eq!(client.sync(&scratch.workspace()).pending, 0);
    let mut request = SearchRequest::new(scratch.workspace().display().to_string(), "red valve");
    request.mode = Some(SearchMode::Vector);
    let answer: SearchResponse = client.raw().call(&request.into()).unwrap();
    assert_eq!(
        (answer.results[0].text.as_str(), answer.index.degraded),
        ("- the valve is red", None)
    );
}
