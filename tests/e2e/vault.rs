//! Tests of folders of notes, as users of Obsidian write them.

use hippo_proto::{Cycle, Strategy};
use hippod_tests::{Caller, Scratch};

use super::backup::hippoctl;

/// Runs `hippoctl` in a workspace. Returns the exit code, the standard output and the standard error.
fn run(scratch: &Scratch, words: &[&str]) -> (i32, String, String) {
    let place = scratch.workspace().display().to_string();
    let output = hippoctl(&scratch.home(), &[&["--workspace", &place], words].concat());
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    (output.status.code().unwrap_or(-1), out, err)
}

#[test]
fn a_note_is_found_by_its_tags_and_aliases() {
    let scratch = Scratch::new();
    scratch.write(
        "Food/Sourdough.md",
        "---\ntags:\n  - fermentation\naliases: [Levain, \"Wild yeast\"]\ncssclasses: [wideboard]\n---\n\
         # Sourdough\n\nFeed it with rye.\n\n## Baking\n\nBake it at 230 degrees.\n",
    );
    scratch.write(
        "Food/Tea.md",
        "---\ntags: green, morning\n---\nTwo minutes at 70 degrees.\n",
    );
    scratch.write("Food/Miso.md", "---\ntags: [koji]\naliases: [Bean paste]\n---\n");
    let daemon = scratch.daemon();
    daemon.client().index(&scratch.workspace());
    for (word, path) in [
        ("koji", "Food/Miso.md"),
        ("bean paste", "Food/Miso.md"),
        ("miso", "Food/Miso.md"),
        ("fermentation", "Food/Sourdough.md"),
        ("levain", "Food/Sourdough.md"),
        ("wild yeast", "Food/Sourdough.md"),
        ("morning", "Food/Tea.md"),
    ] {
        let (_, out, err) = run(&scratch, &["search", "--mode", "lexical", word]);
        assert!(out.contains(path), "{word}: {out}{err}");
    }
    let (code, out, _) = run(&scratch, &["search", "--mode", "lexical", "wideboard"]);
    assert_eq!((code, out.as_str()), (1, ""), "other fields are not indexed");
}

#[test]
fn changed_tags_are_found_and_an_index_of_an_earlier_version_is_renewed() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let note = |tag: &str| format!("---\ntags: [{tag}]\n---\n# Sourdough\n\nFeed it with rye.\n");
    scratch.write("Sourdough.md", note("fermentation"));
    let daemon = scratch.daemon();
    daemon.client().index(&root);
    scratch.write("Sourdough.md", note("levain"));
    daemon.client().sync(&root);
    let finds = |word: &str| run(&scratch, &["search", "--mode", "lexical", word]).0 == 0;
    assert!(finds("levain") && finds("rye") && !finds("fermentation"));
    daemon.terminate();

    // An earlier version wrote no version, and no words for tags.
    let database = rusqlite::Connection::open(scratch.state("index.db")).unwrap();
    let words = "DELETE FROM lexical; DELETE FROM checksums WHERE name = 'derived'";
    let outline = "UPDATE documents SET outline = json_remove(outline, '$.names', '$.version')";
    let stored: (u32, Vec<u8>) = database
        .query_row("SELECT id, vector FROM vectors", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    database.execute_batch(&format!("{words}; {outline}")).unwrap();
    drop(database);
    let daemon = scratch.daemon();
    daemon.client().sync(&root);
    let status = daemon.client().status().workspaces.remove(0);
    assert_eq!(status.degraded, None, "{status:?}");
    assert!(finds("levain") && finds("rye"));
    daemon.terminate();
    let database = rusqlite::Connection::open(scratch.state("index.db")).unwrap();
    let kept = database
        .query_row("SELECT id, vector FROM vectors", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(stored, kept, "the text is not embedded again");
}

#[test]
fn a_note_is_read_by_its_name_or_alias() {
    let scratch = Scratch::new();
    scratch.write(
        "Food/Sourdough.md",
        "---\naliases: [Levain, \"Wild yeast\"]\n---\n# Sourdough\n\n## Feeding\n\nFeed it with rye.\n",
    );
    scratch.write("Food/Plan.md", "Bake on Friday.\n");
    scratch.write("Work/Plan.md", "Deploy on Monday.\n");
    scratch.write("cafe.md", "Open until five.\n");
    let daemon = scratch.daemon();
    daemon.client().index(&scratch.workspace());
    let whole = std::fs::read_to_string(scratch.workspace().join("Food/Sourdough.md")).unwrap();
    for name in [
        "Sourdough",
        "sourdough",
        "Food/Sourdough",
        "[[Sourdough]]",
        "Levain",
        "wild yeast",
    ] {
        let (code, out, err) = run(&scratch, &["get", name]);
        assert_eq!((code, &out), (0, &whole), "{name}: {err}");
    }
    for name in [
        "[[Sourdough#Feeding]]",
        "Sourdough#feeding",
        "[[Levain#Feeding|how]]",
    ] {
        let (_, out, err) = run(&scratch, &["get", name]);
        assert_eq!(out, "## Feeding\n\nFeed it with rye.\n", "{name}: {err}");
    }
    assert_eq!(run(&scratch, &["get", "cafe"]).1, "Open until five.\n");
    assert_eq!(run(&scratch, &["get", "Work/Plan"]).1, "Deploy on Monday.\n");
    let (code, out, err) = run(&scratch, &["get", "plan"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("2 files have the name: plan"), "{err}");
    assert!(
        err.contains("hint: give the path of one of them: Food/Plan.md, Work/Plan.md"),
        "{err}"
    );
    let (_, _, err) = run(&scratch, &["get", "Rye bread"]);
    assert!(err.contains("no such file: Rye bread"), "{err}");
}

#[test]
fn templates_of_a_vault_are_left_out_and_counted() {
    let scratch = Scratch::new();
    scratch.write(".obsidian/app.json", "{}");
    scratch.write(
        "Templates/Daily.md",
        "# {{date:YYYY-MM-DD}}\n\nWhat did the harbour look like?\n",
    );
    scratch.write("Templates/Guide.md", "The harbour guide has no placeholders.\n");
    scratch.write("Other/templates/Mail.md", "Dear {{title}}, the harbour.\n");
    scratch.write("Note.md", "The harbour opens at six.\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let found = client.search(&scratch.workspace(), "harbour");
    let mut paths: Vec<&str> = found.results.iter().map(|hit| hit.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        ["Note.md", "Other/templates/Mail.md", "Templates/Guide.md"]
    );
    let (_, out, _) = run(&scratch, &["status"]);
    assert!(
        out.contains("1 markdown file with placeholders of a template"),
        "{out}"
    );

    // Without the placeholder, the file is a note.
    scratch.write("Templates/Daily.md", "The harbour closed early.\n");
    client.sync(&scratch.workspace());
    assert!(
        run(&scratch, &["search", "closed early"])
            .1
            .contains("Templates/Daily.md")
    );
}

#[test]
fn a_note_in_windows_1252_is_searched_and_never_rewritten() {
    let scratch = Scratch::new();
    let latin = b"# Caf\xe9\n\nDas Fr\xfchst\xfcck kostet 5 \x80.\n\nDer K\xe4se ist aus.\n";
    scratch.write("Latin.md", latin);
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let (_, out, _) = run(&scratch, &["search", "-n", "1", "Frühstück"]);
    assert!(
        out.contains("Latin.md:3") && out.contains("Frühstück kostet 5 €."),
        "{out}"
    );
    assert!(out.contains("Café"), "{out}");
    let (_, out, _) = run(&scratch, &["get", "latin:5"]);
    assert_eq!(out, "Der Käse ist aus.\n");
    let (_, _, _) = run(&scratch, &["sync", "--wait"]);
    let status = client.status();
    assert_eq!(status.workspaces[0].pending, 0, "every passage has a vector");

    let (_, _, err) = run(&scratch, &["remember", "Der Tee ist aus."]);
    assert_eq!(err, "");
    let log = std::fs::read_dir(scratch.workspace().join("memory"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "md") && !path.ends_with("ROOT.md"))
        .unwrap();
    std::fs::write(&log, latin).unwrap();
    let (code, _, err) = run(&scratch, &["remember", "Der Kaffee ist aus."]);
    assert_ne!(code, 0);
    assert!(
        err.contains("the file is in Windows-1252") && err.contains("hint: save the file in UTF-8"),
        "{err}"
    );
    assert_eq!(std::fs::read(&log).unwrap(), latin);
}

#[test]
fn weak_results_in_a_pipe_are_printed_with_the_exit_code_of_no_result() {
    let scratch = Scratch::new();
    scratch.write("Tea.md", "Two minutes at 70 degrees.\n");
    let daemon = scratch.daemon();
    daemon.client().index(&scratch.workspace());
    run(&scratch, &["sync", "--wait"]);
    let (code, out, err) = run(&scratch, &["search", "zebra"]);
    assert!(out.contains("Tea.md"), "{out}");
    assert_eq!((code, err.contains("nothing relevant found")), (1, true), "{err}");
    let (code, out, _) = run(&scratch, &["search", "--json", "zebra"]);
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &answer["nothing_relevant"]), (0, &true.into()));
    assert_eq!(answer["results"][0]["path"], "Tea.md");
    let (code, _, err) = run(&scratch, &["search", "--min-score", "0", "zebra"]);
    assert_eq!((code, err.contains("nothing relevant")), (0, false), "{err}");
    let (code, out, _) = run(&scratch, &["search", "--json", "70 degrees"]);
    assert!(code == 0 && !out.contains("nothing_relevant"), "{out}");
    let (code, out, _) = run(&scratch, &["search", "--json", "--mode", "lexical", "70 zebras"]);
    assert!(
        code == 0 && out.contains("Tea.md") && !out.contains("nothing_relevant"),
        "{out}"
    );
}

#[test]
fn a_question_about_a_deleted_note_finds_nothing_relevant() {
    let scratch = Scratch::new();
    scratch.write(
        "Iceland.md",
        "# Iceland\n\nThe rental car was booked with Lava Cars.\n",
    );
    for name in ["Tea", "Boiler", "Dentist"] {
        scratch.write(
            &format!("{name}.md"),
            format!("# {name}\n\nTwo minutes at 70 degrees.\n"),
        );
    }
    let daemon = scratch.daemon();
    let (mut client, root) = (daemon.client(), scratch.workspace());
    client.index(&root);
    client.run(&root, Cycle::Light);
    let ask = |client: &mut Caller| client.ask(&root, "rental car in Iceland", false);
    let before = ask(&mut client);
    assert_eq!(
        (&*before.results[0].path, before.nothing_relevant),
        ("Iceland.md", false)
    );
    std::fs::remove_file(root.join("Iceland.md")).unwrap();
    for synced in [false, true] {
        let after = ask(&mut client);
        assert!(after.nothing_relevant, "{synced}: {after:?}");
        let (code, _, err) = run(&scratch, &["search", "rental car in Iceland"]);
        assert_eq!((code, err.contains("nothing relevant found")), (1, true), "{err}");
        client.sync(&root);
    }
    let strategy = ask(&mut client).strategy;
    assert_eq!(strategy, Strategy::Hybrid, "the entry of the note still matches");
}
