//! Downloads by HTTP, their interruptions and their errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use hippo_embed::acquire::{AcquireError, Installation, PullOptions};

use crate::fixture::{DELIVER, Fixture, NO_PYTHON, content};
use crate::server::{Answer, Server};

/// Names of the files that the server offers, in the order in which they are downloaded.
const FILES: [&str; 4] = [
    "runtime.whl",
    "model.safetensors",
    "tokenizer.json",
    "config.json",
];

/// Creates a server for the wheel of the runtime and the files of the model, and a fixture whose manifest contains
/// their addresses.
fn start(answers: &[Answer]) -> (Fixture, Server) {
    let mut fixture = Fixture::new();
    let mut files = BTreeMap::from([(FILES[0].to_owned(), fixture.wheels["runtime.whl"].clone())]);
    for name in &FILES[1..] {
        files.insert((*name).to_owned(), content(&format!("m/{name}")));
    }
    let server = Server::start(files, answers);
    let address = |name: &str| Some(format!("{}/{name}", server.url));
    fixture.manifest.runtimes[0].package.wheel.url = address(FILES[0]);
    for file in &mut fixture.manifest.models[0].files {
        file.url = address(&file.name);
    }
    (fixture, server)
}

fn options() -> PullOptions<'static> {
    PullOptions {
        python: Path::new(NO_PYTHON),
        ..PullOptions::default()
    }
}

/// Returns the error of a download from the server as a mirror, which pip does not repeat.
fn refused(fixture: &Fixture, server: &Server) -> AcquireError {
    refused_by(fixture, server, options())
}

fn refused_by(fixture: &Fixture, server: &Server, options: PullOptions<'_>) -> AcquireError {
    let from = Some(server.url.as_str());
    let result: Result<Installation, _> = fixture.pull_with(PullOptions { from, ..options });
    let error = result.unwrap_err();
    assert!(matches!(error, AcquireError::Fetch { .. }), "{error}");
    assert!(error.to_string().contains(&server.url), "{error}");
    assert!(error.hint().unwrap().contains("--from"), "{error}");
    error
}

/// Returns the names in the cache folder.
fn cached(fixture: &Fixture) -> Vec<String> {
    let entries = fs::read_dir(&fixture.layout.cache).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn the_files_are_downloaded_from_their_addresses() {
    for answer in [Answer::Whole, Answer::Moved] {
        let (fixture, server) = start(&[answer]);
        fixture.pull_with(options()).unwrap();
        fixture.assert_complete();
        assert_eq!(cached(&fixture), ["runtime.whl"]);
        let asked: Vec<String> = server.requests().into_iter().map(|(line, _)| line).collect();
        for name in FILES {
            assert!(asked.contains(&format!("GET /{name} HTTP/1.1")), "{asked:?}");
        }
    }
}

#[test]
fn an_interrupted_download_continues() {
    let cut = Answer::CutAfter(100_000);
    let (fixture, server) = start(&[Answer::Whole, cut, cut, Answer::Whole]);
    fixture.pull_with(options()).unwrap();
    fixture.assert_complete();
    let ranges: Vec<Option<String>> = server.requests().into_iter().map(|(_, range)| range).collect();
    let expected = [
        None,
        None,
        Some("bytes=100000-"),
        Some("bytes=200000-"),
        None,
        None,
    ];
    assert_eq!(ranges, expected.map(|range| range.map(str::to_owned)));
}

#[test]
fn the_next_download_continues_after_a_failure() {
    // The connection breaks three times without new data.
    let none = Answer::CutAfter(0);
    let (fixture, server) = start(&[
        Answer::Whole,
        Answer::CutAfter(1000),
        none,
        none,
        none,
        Answer::Whole,
    ]);
    let error = refused(&fixture, &server).to_string();
    assert!(error.contains("1000 of 300000 bytes"), "{error}");
    assert!(cached(&fixture).iter().any(|name| name.ends_with(".part")));
    let before = server.requests().len();
    fixture.pull_with(options()).unwrap();
    fixture.assert_complete();
    assert_eq!(server.requests()[before].1.as_deref(), Some("bytes=1000-"));
    assert_eq!(cached(&fixture), ["runtime.whl"]);
}

#[test]
fn a_server_without_ranges_sends_the_file_again() {
    let (fixture, _server) = start(&[Answer::Whole, Answer::CutAfter(1000), Answer::WithoutRanges]);
    fixture.pull_with(options()).unwrap();
    fixture.assert_complete();

    // If each answer breaks at the same byte, the download ends.
    let (fixture, server) = start(&[Answer::Whole, Answer::CutAfter(1000), Answer::Status(503)]);
    assert!(refused(&fixture, &server).to_string().contains("status 503"));
}

#[test]
fn wrong_content_is_refused_and_removed() {
    for (answer, reason) in [
        (Answer::WrongBytes, "its SHA-256 is "),
        (Answer::TooLong, "more than the expected"),
    ] {
        let (fixture, server) = start(&[answer]);
        let error = refused(&fixture, &server).to_string();
        assert!(error.contains(reason), "{error}");
        assert_eq!(cached(&fixture), [] as [&str; 0]);
        assert!(!fixture.layout.runtime.exists());

        // The files of the model are checked as well.
        let (fixture, server) = start(&[Answer::Whole, answer]);
        refused(&fixture, &server);
        assert_eq!(cached(&fixture), ["runtime.whl"]);
        assert!(!fixture.layout.models.exists());
    }
}

#[test]
fn a_stored_beginning_with_wrong_bytes_is_removed() {
    let (fixture, server) = start(&[
        Answer::Whole,
        Answer::CutAfter(1000),
        Answer::Status(404),
        Answer::Whole,
    ]);
    refused(&fixture, &server);
    let part = cached(&fixture).into_iter().find(|name| name.ends_with(".part"));
    let part = fixture.layout.cache.join(part.unwrap());
    fs::write(&part, vec![b'x'; 1000]).unwrap();
    refused(&fixture, &server);
    assert!(!part.exists());
    fixture.pull_with(options()).unwrap();
    fixture.assert_complete();
}

#[test]
fn a_slow_server_is_named() {
    for first in [Answer::StallAfter(0), Answer::StallAfter(500)] {
        let (fixture, server) = start(&[first, Answer::StallAfter(0)]);
        let patience = Duration::from_millis(300);
        let options = PullOptions {
            patience,
            ..options()
        };
        let error = refused_by(&fixture, &server, options).to_string();
        assert!(error.contains("no data for 0.3 s"), "{error}");
    }
}

#[test]
fn a_failed_request_is_repeated() {
    let (fixture, server) = start(&[Answer::Status(503), Answer::StallAfter(0), Answer::Whole]);
    let patience = Duration::from_millis(300);
    fixture
        .pull_with(PullOptions {
            patience,
            ..options()
        })
        .unwrap();
    fixture.assert_complete();
    assert_eq!(server.requests().len(), FILES.len() + 2);
}

#[test]
fn a_wheel_in_the_cache_has_priority_over_a_mirror() {
    let fixture = Fixture::with_cache();
    let server = Server::start(BTreeMap::new(), &[Answer::Whole]);
    let from = Some(server.url.as_str());
    fixture.pull_with(PullOptions { from, ..options() }).unwrap();
    fixture.assert_complete();
    assert_eq!(server.requests(), []);
}

#[test]
fn an_error_does_not_contain_the_password_of_the_mirror() {
    let (fixture, server) = start(&[Answer::Status(404)]);
    let from = server.url.replace("://", "://user:s%40cret@");
    for from in [from.as_str(), "bad scheme://user:s%40cret@host"] {
        let from = Some(from);
        let error = fixture.pull_with(PullOptions { from, ..options() }).unwrap_err();
        assert!(matches!(error, AcquireError::Fetch { .. }), "{error}");
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(!text.contains("cret") && !text.contains("user"), "{text}");
        }
    }
}

#[test]
fn a_missing_file_and_a_missing_server_are_named() {
    let (fixture, server) = start(&[Answer::Status(404)]);
    let error = refused(&fixture, &server).to_string();
    assert!(
        error.contains("/runtime.whl: the server answered with status 404"),
        "{error}"
    );

    assert_eq!(cached(&fixture), [] as [&str; 0]);

    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let from = format!("http://{}/mirror", free.unwrap());
    let error = fixture
        .pull_with(PullOptions {
            from: Some(&from),
            ..options()
        })
        .unwrap_err();
    assert!(error.to_string().contains("/mirror/runtime.whl: "), "{error}");
}

#[test]
fn pip_downloads_the_wheels_if_the_addresses_fail() {
    let (fixture, _server) = start(&[Answer::Status(404)]);
    let python = fixture.python(DELIVER);
    fixture.pull(&python).unwrap();
    fixture.assert_complete();

    // The beginning of a download is removed after pip has delivered the files.
    let (fixture, _server) = start(&[Answer::Whole, Answer::CutAfter(1000), Answer::Status(404)]);
    fixture.pull(fixture.python(DELIVER)).unwrap();
    fixture.assert_complete();
    assert!(cached(&fixture).iter().all(|name| name.ends_with(".whl")));

    let (fixture, server) = start(&[Answer::Status(404)]);
    let error = fixture.pull(NO_PYTHON).unwrap_err();
    assert!(matches!(error, AcquireError::BothWays { .. }), "{error}");
    for part in [server.url.as_str(), "status 404", NO_PYTHON] {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(error.hint().unwrap().contains("--from"));
}

#[test]
fn a_folder_with_the_files_replaces_the_network() {
    let fixture = Fixture::new();
    let folder = fixture.folder.path().join("files");
    let from = folder.to_str();
    let missing = fixture.pull_with(PullOptions { from, ..options() });
    assert!(matches!(missing, Err(AcquireError::NothingToImport(path)) if path == folder));
    fs::create_dir(&folder).unwrap();
    for name in &FILES[1..] {
        fs::write(folder.join(name), content(&format!("m/{name}"))).unwrap();
    }
    let pull = || fixture.pull_with(PullOptions { from, ..options() });
    let error = pull().unwrap_err();
    assert!(error.to_string().contains("libruntime.so"), "{error}");
    fs::write(folder.join("libruntime.so"), b"other").unwrap();
    assert!(matches!(pull(), Err(AcquireError::Checksum { .. })));
    assert!(
        !fixture
            .layout
            .runtime
            .join("p-runtime-1.0/libruntime.so")
            .exists()
    );
    fs::write(folder.join("runtime.whl"), &fixture.wheels["runtime.whl"]).unwrap();
    pull().unwrap();
    fixture.assert_complete();
    assert!(fixture.leftovers().is_empty());
}
