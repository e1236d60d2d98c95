//! `hippoctl model pull` with the real model, from a mirror, through a proxy and from a folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use hippod_tests::{Daemon, Scratch};

use crate::backup::hippoctl;
use crate::model::REAL;
use crate::server::{Answer, Server};

/// The files of the model as its authors publish them: with 32-bit floats.
const FILES: [&str; 3] = ["model.safetensors", "tokenizer.json", "config.json"];

fn installed() -> PathBuf {
    let installed = std::env::var_os("HIPPOD_TEST_MODEL_HOME").map(PathBuf::from);
    installed.expect("HIPPOD_TEST_MODEL_HOME is not set: run `cargo xtask setup` and use its folder")
}

/// Creates a home that contains the runtime library, but no model.
fn without_a_model() -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.home()).unwrap();
    symlink(installed().join("runtime"), scratch.home().join("runtime")).unwrap();
    scratch
}

fn serve(answers: &[Answer]) -> Server {
    let read = |name: &str| fs::read(installed().join("models/all-minilm-l6-v2").join(name)).unwrap();
    let files: BTreeMap<String, Vec<u8>> = FILES.map(|name| (name.to_owned(), read(name))).into();
    Server::start(files, answers)
}

#[test]
fn the_model_is_pulled_from_a_mirror_that_interrupts_the_download() {
    let scratch = without_a_model();
    let _daemon = Daemon::start(&scratch.home(), &[REAL]);
    let server = serve(&[Answer::CutAfter(40_000_000), Answer::Whole]);
    let pulled = hippoctl(&scratch.home(), &["model", "pull", "--from", &server.url]);
    assert!(pulled.status.success(), "{pulled:?}");
    assert!(hippoctl(&scratch.home(), &["model", "verify"]).status.success());
    let ranges: Vec<_> = server.requests().into_iter().map(|(_, range)| range).collect();
    assert_eq!(ranges[..2], [None, Some("bytes=40000000-".to_owned())]);
    // The downloads were removed after the installation.
    assert_eq!(fs::read_dir(scratch.home().join("cache")).unwrap().count(), 0);

    // A complete installation sends no request.
    let before = server.requests().len();
    assert!(hippoctl(&scratch.home(), &["model", "pull"]).status.success());
    assert_eq!(server.requests().len(), before);
}

#[test]
fn the_proxy_in_the_environment_of_the_daemon_is_used() {
    let scratch = without_a_model();
    let proxy = serve(&[Answer::Status(502)]);
    let settings = [
        REAL,
        ("HTTPS_PROXY", proxy.url.as_str()),
        ("NO_PROXY", "direct.invalid"),
    ];
    let _daemon = Daemon::start(&scratch.home(), &settings);
    let pull = |url: &str| {
        let pulled = hippoctl(&scratch.home(), &["model", "pull", "--from", url]);
        assert_eq!(pulled.status.code(), Some(1), "{pulled:?}");
        let errors = String::from_utf8(pulled.stderr).unwrap();
        assert!(
            errors.contains(&format!("could not download {url}/model.safetensors: ")),
            "{errors}"
        );
        assert!(
            errors.contains("hint: ") && errors.contains("HTTPS_PROXY"),
            "{errors}"
        );
    };
    pull("https://mirror.invalid/files");
    let requests = proxy.requests();
    // A request that fails for another reason than its address is repeated twice.
    assert_eq!(requests.len(), 3, "{requests:?}");
    let connects = |(line, _): &(String, _)| line.starts_with("CONNECT mirror.invalid:443 ");
    assert!(requests.iter().all(connects), "{requests:?}");
    pull("https://direct.invalid/files");
    assert_eq!(proxy.requests().len(), 3);
}

#[test]
fn the_model_is_pulled_from_a_folder() {
    let scratch = Scratch::new();
    let folder = scratch.beside("files");
    fs::create_dir_all(&folder).unwrap();
    let library = "libonnxruntime.so.1.24.4";
    let model = installed().join("models/all-minilm-l6-v2");
    for name in FILES {
        symlink(model.join(name), folder.join(name)).unwrap();
    }
    let _daemon = Daemon::start(&scratch.home(), &[REAL]);
    let pull = || {
        hippoctl(
            &scratch.home(),
            &["model", "pull", "--from", folder.to_str().unwrap()],
        )
    };
    let missing = pull();
    assert_eq!(missing.status.code(), Some(1), "{missing:?}");
    assert!(
        String::from_utf8_lossy(&missing.stderr).contains(library),
        "{missing:?}"
    );
    let runtime = installed().join("runtime/onnxruntime-1.24.4");
    symlink(runtime.join(library), folder.join(library)).unwrap();
    let pulled = pull();
    assert!(pulled.status.success(), "{pulled:?}");
    assert!(hippoctl(&scratch.home(), &["model", "verify"]).status.success());
}
