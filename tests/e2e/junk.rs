//! Files, names, links and clocks as they should not be: read as far as they can be, else skipped with the reason.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::Duration;

use hippo_core::time::Timestamp;
use hippo_proto::{
    Client, ErrorKind, GetRequest, GetResponse, Mode, ModelLoad, Paths, SearchRequest, SearchResponse,
    WorkspaceAddRequest, WorkspaceAddResponse, WorkspaceSyncRequest, WorkspaceSyncResponse,
};
use hippod::clock::ManualClock;
use hippod::config::Config;
use hippod::{Options, run};
use hippod_tests::{Caller, Daemon, PATIENCE, Scratch};

fn best(client: &mut Caller, scratch: &Scratch, query: &str) -> Option<String> {
    client.best(&scratch.workspace(), query)
}

/// The reason why a path is not indexed, by `status` and by `doctor` alike.
fn reason(client: &mut Caller, path: &str) -> String {
    let status = client.status();
    let skipped = &status.workspaces[0].skipped;
    let found = skipped.iter().find(|skipped| skipped.path == path);
    let reason = found
        .unwrap_or_else(|| panic!("{path} is not skipped: {skipped:?}"))
        .reason
        .clone();
    let problems = client.doctor(false).problems;
    assert!(
        problems.iter().any(|problem| problem.id == "skipped"
            && problem.where_.ends_with(path)
            && problem.what.contains(&reason)),
        "{path}: {problems:?}"
    );
    reason
}

#[test]
fn odd_bytes_are_read_as_far_as_they_can_be() {
    let scratch = Scratch::new();
    let utf16: Vec<u8> = "\u{feff}- the periscope\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let files: [(&str, &[u8]); 9] = [
        ("memory/empty.md", b""),
        ("memory/blank.md", b" \n\n\t \r\n   "),
        ("memory/latin.md", b"- first\n- the caf\xe9 beside the sundial\n"),
        (
            "memory/nul.md",
            b"- before\0after the anvil\n\0\0\0\n- the bellows\n",
        ),
        ("memory/utf16.md", &utf16),
        ("memory/fence.md", b"- the gimlet\n\n```sh\nmake telescope\n"),
        (
            "memory/front.md",
            b"---\ntitle: never closed\ntags: [a\n\n- the sextant\n",
        ),
        ("memory/binary.md", &[0x80; 5000]),
        ("MEMORY.md", b"- the good old pump\n"),
    ];
    for (path, bytes) in files {
        scratch.write(path, bytes);
    }
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let synced = client.index(&scratch.workspace());
    assert_eq!((synced.documents, synced.pending), (9, 0));
    for (query, place) in [
        ("sundial", "memory/latin.md:2"),
        ("anvil", "memory/nul.md:1"),
        ("bellows", "memory/nul.md:3"),
        ("gimlet", "memory/fence.md:1"),
        ("telescope", "memory/fence.md:"),
        ("sextant", "memory/front.md:5"),
        ("good old pump", "MEMORY.md:1"),
    ] {
        let found = best(&mut client, &scratch, query);
        assert!(
            found.as_ref().is_some_and(|found| found.starts_with(place)),
            "{query}: {found:?}"
        );
    }
    let text = client
        .search(&scratch.workspace(), "sundial")
        .results
        .remove(0)
        .text;
    assert_eq!(text, "- the caf\u{fffd} beside the sundial");
    let problems = client.doctor(false).problems;
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn line_numbers_are_right_with_crlf_and_byte_order_mark() {
    let scratch = Scratch::new();
    scratch.write(
        "memory/crlf.md",
        "\u{feff}# Works\r\n\r\n- the kiln is hot\r\n- the lathe is cold\r\n\r\n## Yard\r\n\r\nThe crane\r\nstands still.\r\n",
    );
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let hit = client
        .search(&scratch.workspace(), "cold lathe")
        .results
        .remove(0);
    assert_eq!(
        (hit.start_line, hit.end_line, hit.text.as_str()),
        (4, 4, "- the lathe is cold")
    );
    assert_eq!(hit.heading, ["Works"]);
    let hit = client
        .search(&scratch.workspace(), "crane stands still")
        .results
        .remove(0);
    assert_eq!(
        (hit.start_line, hit.heading.join("/").as_str()),
        (8, "Works/Yard")
    );
    let request = GetRequest {
        workspace: Some(scratch.workspace().display().to_string()),
        path: Some("memory/crlf.md".into()),
        from: Some(3),
        count: Some(1),
        ..GetRequest::default()
    };
    let read: GetResponse = client.raw().call(&request.into()).unwrap();
    assert!(read.text.starts_with("- the kiln is hot"), "{read:?}");
}

#[test]
fn fifty_megabytes_in_one_line_are_skipped_and_the_rest_is_not() {
    let scratch = Scratch::new();
    scratch.write("memory/huge.md", b"word ".repeat(10_000_000));
    scratch.write("memory/small.md", "- the pump is blue\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let why = reason(&mut client, "memory/huge.md");
    assert!(why.contains("max_file_bytes"), "{why}");
    assert_eq!(
        best(&mut client, &scratch, "blue pump").as_deref(),
        Some("memory/small.md:1")
    );
    // A file that shrinks comes in, one that grows too large goes.
    scratch.write("memory/huge.md", "- the valve is red\n");
    scratch.write("memory/small.md", b"pump ".repeat(4_000_000));
    client.sync(&scratch.workspace());
    assert_eq!(
        best(&mut client, &scratch, "red valve").as_deref(),
        Some("memory/huge.md:1")
    );
    let pump = client.search(&scratch.workspace(), "pump").results;
    assert!(pump.iter().all(|hit| hit.path == "memory/huge.md"), "{pump:?}");
    assert!(reason(&mut client, "memory/small.md").contains("max_file_bytes"));
}

#[test]
fn fifteen_megabytes_in_one_line_are_indexed_and_answers_stay_small() {
    let scratch = Scratch::new();
    let mut line = b"lorem ipsum dolor sit amet ".repeat(300_000);
    line.extend(b"the sextant lies here ");
    line.extend(b"consectetur adipiscing ".repeat(340_000));
    assert!(line.len() > 15 << 20 && line.len() < 16 << 20);
    scratch.write("memory/long.md", line);
    scratch.write("memory/short.md", "- the pump is blue\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    assert_eq!(
        best(&mut client, &scratch, "blue pump").as_deref(),
        Some("memory/short.md:1")
    );
    let answer = client.search(&scratch.workspace(), "where is the sextant");
    let hit = answer.results.first().expect("the long line is found");
    assert_eq!((hit.path.as_str(), hit.start_line), ("memory/long.md", 1));
    assert!(hit.text.len() < 1 << 20, "{} bytes in one hit", hit.text.len());
}

#[test]
fn folders_and_links_that_lead_astray_are_named() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    scratch.write("memory/real.md", "- the real pump\n");
    scratch.write("memory/folder.md/inside.md", "- the lantern inside\n");
    let outside = scratch.beside("outside.md");
    std::fs::write(&outside, "- the secret of the neighbour\n").unwrap();
    symlink(&outside, root.join("memory/outside.md")).unwrap();
    symlink("nowhere.md", root.join("memory/dangling.md")).unwrap();
    symlink("../memory", root.join("memory/loop")).unwrap();
    symlink("self.md", root.join("memory/self.md")).unwrap();
    symlink("real.md", root.join("memory/second-name.md")).unwrap();
    let deep = format!("memory/{}deep.md", "level/".repeat(60));
    scratch.write(&deep, "- the anchor at the bottom\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let synced = client.index(&root);
    assert_eq!(synced.documents, 3, "{:?}", client.status().workspaces[0]);
    for (path, word) in [
        ("memory/folder.md", "folder"),
        ("memory/outside.md", "outside"),
        ("memory/dangling.md", "link"),
        ("memory/loop", "link"),
        ("memory/self.md", "link"),
        ("memory/second-name.md", "memory/real.md"),
    ] {
        let why = reason(&mut client, path);
        assert!(why.contains(word), "{path}: {why}");
    }
    assert_eq!(
        best(&mut client, &scratch, "real pump").as_deref(),
        Some("memory/real.md:1")
    );
    assert_eq!(
        best(&mut client, &scratch, "lantern").as_deref(),
        Some("memory/folder.md/inside.md:1")
    );
    assert_eq!(best(&mut client, &scratch, "anchor"), Some(format!("{deep}:1")));
    let secret = client.search(&root, "secret of the neighbour");
    assert!(secret.results.iter().all(|hit| !hit.text.contains("secret")));
    for path in ["memory/outside.md", "memory/loop/../../../outside.md"] {
        let request = GetRequest {
            workspace: Some(root.display().to_string()),
            path: Some(path.into()),
            ..GetRequest::default()
        };
        assert!(
            client.raw().call::<GetResponse>(&request.into()).is_err(),
            "{path}"
        );
    }
}

#[test]
fn deep_nesting_is_no_danger() {
    let scratch = Scratch::new();
    let lists: String = (0..600)
        .map(|level| format!("{}- item{level}\n", "  ".repeat(level)))
        .collect();
    scratch.write("memory/lists.md", lists);
    scratch.write(
        "memory/quotes.md",
        format!("{} the lantern\n", ">".repeat(50_000)),
    );
    scratch.write("memory/dashes.md", format!("{}the anvil\n", "- ".repeat(50_000)));
    scratch.write(
        "memory/brackets.md",
        format!("{}the bellows\n", "[".repeat(50_000)),
    );
    let headings: String = (0..3000)
        .map(|n| format!("{} h{n}\n", "#".repeat(n % 6 + 1)))
        .collect();
    scratch.write("memory/headings.md", headings + "\nthe sextant\n");
    let yaml = format!("---\na: {}\n---\n\n- the sundial\n", "[".repeat(20_000));
    scratch.write("memory/yaml.md", yaml);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    assert_eq!(client.index(&scratch.workspace()).documents, 6);
    for (query, path) in [
        ("item599", "memory/lists.md"),
        ("lantern", "memory/quotes.md"),
        ("anvil", "memory/dashes.md"),
        ("bellows", "memory/brackets.md"),
        ("sextant", "memory/headings.md"),
        ("sundial", "memory/yaml.md"),
    ] {
        let found = best(&mut client, &scratch, query);
        assert!(
            found.as_ref().is_some_and(|found| found.starts_with(path)),
            "{query}: {found:?}"
        );
    }
}

#[test]
fn names_may_hold_anything_that_is_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    let names = [
        ("memory/ein Name mit Ümläuten.md", "lantern"),
        ("memory/two\nlines.md", "anvil"),
        ("memory/\"quoted\" 'name' & $(more).md", "bellows"),
        ("memory/東京 🗼.md", "sextant"),
        ("memory/%41%00.md", "sundial"),
        ("memory/[glob]*?{a,b}.md", "gimlet"),
    ];
    for (path, word) in names {
        scratch.write(path, format!("- first\n- the {word}\n"));
    }
    let odd = std::ffi::OsStr::from_bytes(b"memory/latin\xe9.md");
    std::fs::write(scratch.workspace().join(odd), "- unreachable\n").unwrap();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    assert_eq!(client.index(&scratch.workspace()).documents, 6);
    for (path, word) in names {
        assert_eq!(best(&mut client, &scratch, word), Some(format!("{path}:2")));
        let request = GetRequest {
            workspace: Some(scratch.workspace().display().to_string()),
            path: Some(path.into()),
            from: Some(2),
            count: Some(1),
            ..GetRequest::default()
        };
        let read: GetResponse = client.raw().call(&request.into()).unwrap();
        assert_eq!(read.text.trim_end(), format!("- the {word}"));
    }
    assert!(reason(&mut client, "memory/latin\u{fffd}.md").contains("UTF-8"));
    // By themselves, too: edits of such files are noticed.
    scratch.write(names[1].0, "- the anvil\n- the periscope\n");
    client.search_until(&scratch.workspace(), "periscope", |answer| {
        answer
            .results
            .first()
            .is_some_and(|hit| hit.path == names[1].0 && hit.start_line == 2)
    });
}

#[test]
fn a_clock_that_is_set_back_hides_no_edit() {
    let scratch = Scratch::new();
    scratch.write("memory/a.md", "- the pump is blue\n");
    let home = scratch.home();
    let paths = Paths::below(&home);
    let socket = paths.socket.clone();
    let settings = [("HIPPOD_EMBED_MODEL", "hash"), ("HIPPOD_WATCH_QUIET_MS", "30")];
    let variables = settings.map(|(name, value)| (name.into(), value.into()));
    let config = Config::load(&paths.config_file, variables, &[]).unwrap();
    let now = jiff::Timestamp::now().as_millisecond();
    let clock = Arc::new(ManualClock::new(Timestamp(now), jiff::tz::TimeZone::UTC));
    let options = Options {
        config,
        paths,
        clock: clock.clone(),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let daemon = runtime.spawn(run(options, async {
        // Dropped without a word, it stops as well.
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
    // The times of files go back with the clock, and this edit even keeps the size.
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
    // Once more with the very time that the index knows.
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
fn without_the_model_words_answer_and_doctor_names_the_fix() {
    let scratch = Scratch::new();
    scratch.write("memory/a.md", "- the pump is blue\n- the valve is red\n");
    let cache = scratch.beside("cache").display().to_string();
    let settings = [
        ("HIPPOD_EMBED_MODEL", "all-minilm-l6-v2"),
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
    for mode in [None, Some(Mode::Lexical)] {
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
    request.mode = Some(Mode::Vector);
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
        ("model-unsupported", "search by words works")
    };
    assert!(
        problems
            .iter()
            .any(|problem| problem.id == named.0 && problem.fix.contains(named.1)),
        "{problems:?}"
    );
    drop(client);
    drop(daemon);

    // With a model at last, everything that waited is embedded.
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    assert_eq!(client.sync(&scratch.workspace()).pending, 0);
    let mut request = SearchRequest::new(scratch.workspace().display().to_string(), "red valve");
    request.mode = Some(Mode::Vector);
    let answer: SearchResponse = client.raw().call(&request.into()).unwrap();
    assert_eq!(
        (answer.results[0].text.as_str(), answer.index.degraded),
        ("- the valve is red", None)
    );
}
