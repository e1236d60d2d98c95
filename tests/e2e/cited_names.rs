//! Files with unusual names: `get` reads every path that search cites.

use std::process::Command;

use hippo_proto::{GetRequest, GetResponse};
use hippod_tests::{Scratch, begun, client_program};

#[test]
fn cited_files_can_be_read_by_their_literal_names() {
    let scratch = Scratch::new();
    let names = [
        ("memory/hash#tag.md", "anchor"),
        ("memory/a § b.md", "lantern"),
        ("memory/colon:12.md", "compass"),
        ("knowledge/LOUD.MD", "trumpet"),
    ];
    for (name, word) in names {
        scratch.write(name, format!("# Part\n\nThe {word} is painted blue.\n"));
    }
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let root = scratch.workspace();
    client.index(&root);
    let get = |target: &str| {
        let output = Command::new(client_program())
            .env("HIPPOD_HOME", scratch.home())
            .current_dir(&root)
            .args(["--no-start", "get", target])
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for (name, word) in names {
        let cited = client.best(&root, word).unwrap();
        assert_eq!(cited, format!("{name}:3"));
        for target in [
            name.to_owned(),
            cited,
            format!("{name}#Part"),
            format!("{name} §Part"),
        ] {
            let (code, text, errors) = get(&target);
            assert!(code == Some(0) && text.contains(word), "{target}: {text}{errors}");
        }
    }
    let (code, _, errors) = get("memory/none#tag.md");
    assert!(code == Some(4), "{errors}");
}

#[test]
fn a_path_with_many_section_marks_is_refused() {
    let (scratch, _daemon, mut client) = begun();
    // The path could end before any of these section marks. Trying all of them would take minutes.
    let request = GetRequest {
        workspace: Some(scratch.workspace().display().to_string()),
        path: Some(" §".repeat(400_000)),
        ..GetRequest::default()
    };
    let answer = client.raw().call::<GetResponse>(&request.into());
    assert!(answer.is_err(), "{answer:?}");
}
