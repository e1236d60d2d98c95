//! Does an import that is cut off in the middle end, when it is done again, as one that was not?

use std::fs;
use std::time::Instant;

use hippo_proto::{ImportFrom, ImportRequest, ImportResponse};
use hippod_tests::{Caller, PATIENCE, Scratch};
use serde_json::{Value, json};

use crate::import::{begun, fixture, import, memory_of};

#[test]
fn an_import_that_was_cut_off_anywhere_ends_as_one_that_was_not() {
    let scratch = Scratch::new();
    let (_daemon, mut client, root) = begun(&scratch);
    let path = fixture("claude-mem.json");
    let import = |client: &mut Caller| import(client, &root, ImportFrom::ClaudeMem, &path, true).unwrap();
    import(&mut client);
    let whole = memory_of(&root);
    let names: Vec<&String> = whole.keys().collect();
    for (number, name) in names.iter().enumerate() {
        let bytes = &whole[*name];
        // The end of each line, and places within one.
        let cuts = (1..bytes.len()).filter(|at| bytes[*at] == b'\n' || at % 41 == 0);
        for cut in cuts {
            fs::write(root.join(name), &bytes[..cut]).unwrap();
            for later in &names[number + 1..] {
                fs::remove_file(root.join(later)).unwrap();
            }
            import(&mut client);
            let now = memory_of(&root);
            assert!(
                now == whole,
                "{name} cut at {cut}: {}",
                String::from_utf8_lossy(&now[*name])
            );
        }
    }
}

#[test]
fn a_daemon_that_is_killed_in_the_middle_loses_and_repeats_nothing() {
    let scratch = Scratch::new();
    let large = scratch.beside("large.json");
    let record = |number: u32| {
        let day = jiff::civil::date(2024, 1, 1) + jiff::Span::new().days(number % 300);
        json!({"id": number, "memory": format!("Note {number}: {}", "the pump hums ".repeat(20)), "created_at": format!("{day}T12:00:00Z")})
    };
    let records: Vec<Value> = (0..6000).map(record).collect();
    fs::write(&large, serde_json::to_vec(&records).unwrap()).unwrap();
    let (daemon, mut client, root) = begun(&scratch);
    let request = ImportRequest {
        workspace: root.display().to_string(),
        from: ImportFrom::Mem0,
        path: large.display().to_string(),
        into: None,
        apply: true,
    };
    let cut_off = std::thread::spawn(move || client.raw().call::<ImportResponse>(&request.into()).is_ok());
    let deadline = Instant::now() + PATIENCE;
    while fs::read_dir(root.join("memory")).map_or(0, Iterator::count) < 20 {
        assert!(Instant::now() < deadline, "nothing is written");
        std::thread::yield_now();
    }
    daemon.kill();
    // It may have been done just before.
    let _ = cut_off.join().unwrap();
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    let answer = import(&mut client, &root, ImportFrom::Mem0, &large, true).unwrap();
    assert_eq!(answer.memories, 6000);
    let ended = memory_of(&root);
    let other = scratch.beside("other");
    fs::create_dir_all(&other).unwrap();
    client.add(&other);
    import(&mut client, &other, ImportFrom::Mem0, &large, true).unwrap();
    assert!(ended == memory_of(&other), "{} files", ended.len());
    assert_eq!(ended.len(), 300);
}
