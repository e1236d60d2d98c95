//! Files with invalid bytes.
//! The daemon reads as much as possible, and reports a reason for each file that it skips.

use hippo_proto::{GetRequest, GetResponse};
use hippod_tests::Scratch;

#[test]
fn unusual_bytes_are_indexed_as_far_as_possible() {
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
        let found = client.best(&scratch.workspace(), query);
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
    assert_eq!(text, "- the café beside the sundial");
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
fn a_line_of_fifty_megabytes_skips_only_its_own_file() {
    let scratch = Scratch::new();
    scratch.write("memory/huge.md", b"word ".repeat(10_000_000));
    scratch.write("memory/small.md", "- the pump is blue\n");
    let daemon = scratch.daemon();
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    let why = client.skipped("memory/huge.md");
    assert!(why.contains("max_file_bytes"), "{why}");
    assert_eq!(
        client.best(&scratch.workspace(), "blue pump").as_deref(),
        Some("memory/small.md:1")
    );
    // A file that becomes small enough is indexed, and a file that becomes too large is removed from the index.
    scratch.write("memory/huge.md", "- the valve is red\n");
    scratch.write("memory/small.md", b"pump ".repeat(4_000_000));
    client.sync(&scratch.workspace());
    assert_eq!(
        client.best(&scratch.workspace(), "red valve").as_deref(),
        Some("memory/huge.md:1")
    );
    let pump = client.search(&scratch.workspace(), "pump").results;
    assert!(pump.iter().all(|hit| hit.path == "memory/huge.md"), "{pump:?}");
    assert!(client.skipped("memory/small.md").contains("max_file_bytes"));
}

#[test]
fn a_line_of_fifteen_megabytes_is_indexed_with_small_answers() {
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
        client.best(&scratch.workspace(), "blue pump").as_deref(),
        Some("memory/short.md:1")
    );
    let answer = client.search(&scratch.workspace(), "where is the sextant");
    let hit = answer.results.first().expect("the long line is found");
    assert_eq!((hit.path.as_str(), hit.start_line), ("memory/long.md", 1));
    assert!(hit.text.len() < 1 << 20, "{} bytes in one hit", hit.text.len());
}

#[test]
fn deeply_nested_files_are_indexed() {
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
        let found = client.best(&scratch.workspace(), query);
        assert!(
            found.as_ref().is_some_and(|found| found.starts_with(path)),
            "{query}: {found:?}"
        );
    }
}
