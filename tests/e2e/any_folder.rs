//! Tests of folders without the layout of an agent: notes, vaults, repositories.

use hippo_proto::{SearchMode, SearchRequest, SearchResponse};
use hippod_tests::Scratch;

use super::backup::hippoctl;

#[test]
fn a_folder_of_notes_is_indexed_and_what_is_left_out_is_counted() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    scratch.write("ideas.md", "# Ideas\n\nA bench for the garden.\n");
    scratch.write("Journal/2026-11-20.markdown", "Fed the starter with rye.\n");
    scratch.write(
        "node_modules/pkg/README.md",
        "# pkg\n\nThe starter of a package.\n",
    );
    scratch.write(".gitignore", "private.md\n");
    scratch.write("private.md", "The starter stays secret.\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();

    let run = |words: &[&str]| {
        let place = root.display().to_string();
        let words = [&["--workspace", &place], words].concat();
        let output = hippoctl(&scratch.home(), &words);
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    let [out, err] = run(&["workspace", "add"]);
    assert!(out.contains("with 2 memory files"), "{out}");
    let left_out = "2 files are not indexed: 1 ignored by .gitignore, 1 in node_modules";
    assert!(err.contains(left_out), "{err}");

    let again = run(&["workspace", "add", "--progress", "plain"]).concat();
    assert!(again.contains("note: 2 files searchable by keyword; "), "{again}");
    client.sync(&root);
    let found = client.search(&root, "who fed the starter");
    assert_eq!(found.results[0].path, "Journal/2026-11-20.markdown");
    assert!(found.results.iter().all(|hit| !hit.text.contains("secret")));
    let status = run(&["status"]).concat();
    assert!(status.contains("1 markdown file in node_modules"), "{status}");
    let doctor = run(&["doctor", "--verbose"]).concat();
    assert!(doctor.contains(left_out), "{doctor}");

    // The name of a note without a title is searched.
    scratch.write("Trips/Pottery class.md", "Two hours, ask for Marta.\n");
    client.sync(&root);
    assert!(
        run(&["search", "--mode", "lexical", "pottery"])
            .concat()
            .contains("ask for Marta")
    );

    // The answer without results names the files that were not searched.
    let mut request = SearchRequest::new(root.display().to_string(), "zebra");
    request.mode = Some(SearchMode::Lexical);
    let nothing: SearchResponse = client.raw().call(&request.into()).expect("an answer");
    assert!(nothing.results.is_empty());
    assert!(
        nothing.notes.iter().any(|note| note == left_out),
        "{:?}",
        nothing.notes
    );

    // A file in UTF-16 is searched and read as text, with the lines of the file.
    let wide = "\u{feff}# Harbour\r\n\r\nDas Luftschiff heißt Zeppelin.\r\n".encode_utf16();
    std::fs::write(
        root.join("wide.md"),
        wide.flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
    )
    .unwrap();
    client.sync(&root);
    for mode in ["lexical", "hybrid"] {
        let [wide, _] = run(&["search", "-n", "1", "--mode", mode, "zeppelin"]);
        assert!(
            wide.contains("wide.md:3") && wide.contains("heißt Zeppelin."),
            "{wide}"
        );
    }
    let [wide, _] = run(&["get", "wide.md:3"]);
    assert_eq!(wide, "Das Luftschiff heißt Zeppelin.\r\n");
    std::fs::remove_file(root.join("wide.md")).unwrap();
    client.sync(&root);

    // A search of all workspaces has one ranking with absolute paths.
    let second = scratch.beside("second");
    std::fs::create_dir_all(&second).unwrap();
    std::fs::write(
        second.join("bread.md"),
        "# Bread\n\nThe starter wants rye twice a day.\n",
    )
    .unwrap();
    client.index(&second);
    let all = |most: &str| {
        let words = ["search", "--all", "-n", most, "--mode", "lexical", "starter rye"];
        String::from_utf8(hippoctl(&scratch.home(), &words).stdout).unwrap()
    };
    let both = all("2");
    let expected = ["second/bread.md:3", "workspace/Journal/2026-11-20.markdown:1"];
    assert!(expected.iter().all(|place| both.contains(place)), "{both}");
    let one = all("1");
    assert_eq!(
        expected.iter().filter(|place| one.contains(*place)).count(),
        1,
        "{one}"
    );

    // A search of several workspaces also has one ranking. Other commands use one workspace.
    let roots = [&root, &second].map(|root| root.display().to_string());
    let two = ["-w", &roots[0], "-w", &roots[1]];
    let words = ["search", "-n", "2", "--mode", "lexical", "starter rye"];
    assert_eq!(run(&[&words[..], &two].concat())[0], both);
    let [_, refused] = run(&["search", "--all", "starter"]);
    assert!(refused.contains("give either --all or --workspace"), "{refused}");
    for verb in ["sync", "status"] {
        let [_, refused] = run(&[&[verb], &two[..]].concat());
        let why = "only `search` accepts several workspaces";
        assert!(refused.contains(why), "{verb}: {refused}");
    }

    // `get` finds the workspace of an absolute path, and reads a range as `search` prints it.
    let [text, _] = run(&["get", &format!("{}:3-3", second.join("bread.md").display())]);
    assert_eq!(text, "The starter wants rye twice a day.\n");

    let link = scratch.beside("link");
    std::os::unix::fs::symlink(&second, &link).unwrap();
    let [linked, _] = run(&["get", &format!("{}:3", link.join("bread.md").display())]);
    assert_eq!(linked, text);

    // A change of the ignore file takes effect without a restart.
    scratch.write(".gitignore", "");
    client.sync(&root);
    assert_eq!(client.sync(&root).documents, 4);
}
