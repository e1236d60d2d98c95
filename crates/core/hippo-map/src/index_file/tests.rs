//! Tests of the examples in docs/format.md and of edits.

use super::*;
use hippo_types::entry::Pointer;
use hippo_types::time::Date;

const FORMAT: &str = include_str!("../../../../../docs/format.md");
/// Examples that docs/format.md leaves out.
const MORE: &str = include_str!("tests/examples.md");

fn day(text: &str) -> Timestamp {
    Timestamp::start_of(text.parse::<Date>().unwrap(), 0)
}

fn settings() -> IndexFileOptions {
    IndexFileOptions {
        undated: day("2026-02-01"),
        ..IndexFileOptions::default()
    }
}

fn parse(text: &str) -> IndexFile {
    IndexFile::parse(text.as_bytes(), settings())
}

fn id(text: &str) -> EntryId {
    EntryId(text.to_owned())
}

fn text(file: &IndexFile) -> String {
    String::from_utf8(file.to_bytes()).unwrap()
}

/// Returns the fenced blocks of a document, each with its info string and its lines.
fn blocks(document: &'static str) -> Vec<(&'static str, String)> {
    let mut blocks: Vec<(&str, String)> = Vec::new();
    let mut open = false;
    for line in document.lines() {
        match line.strip_prefix("```") {
            Some("") if open => open = false,
            Some(kind) => {
                open = true;
                blocks.push((kind, String::new()));
            }
            None if open => {
                let block = &mut blocks.last_mut().unwrap().1;
                block.push_str(line);
                block.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// Formats the parsed entries as the document does.
fn describe(file: &IndexFile) -> String {
    let mut out = String::new();
    for placed in file.placed_entries() {
        let (it, section) = (placed.indexed, placed.section.join(" > "));
        let level = it
            .level
            .map_or("item".to_owned(), |level| format!("level {level}"));
        let section = if section.is_empty() { "-" } else { &section };
        let Entry {
            id,
            topic,
            summary,
            pointers,
            created,
            accessed,
            replayed_to: _,
            hits,
            strength,
            tags,
            related,
            priority,
            priority_rule,
            origin,
            version,
        } = &it.entry;
        let pointers: Vec<String> = pointers
            .iter()
            .map(|Pointer { path, section }| match section {
                Some(section) => format!("{path} §{section}"),
                None => path.clone(),
            })
            .collect();
        let related: Vec<&str> = related.iter().map(|id| id.0.as_str()).collect();
        out.push_str(&format!("{id}: {topic:?}, {level}, in {section}\n"));
        let mut line = |name: &str, value: &str| {
            if !value.is_empty() {
                out.push_str(&format!("  {name}{value}\n"));
            }
        };
        line("summary: ", summary);
        line("pointers: ", &pointers.join(" | "));
        let days = [created, accessed].map(|moment| moment.date(0));
        let (created, accessed) = (days[0], days[1]);
        line(
            "created ",
            &format!(
                "{created}, accessed {accessed}, hits {hits}, strength {strength:.2}, priority {priority}, by {origin}, version {version}"
            ),
        );
        line("tags: ", &tags.join(", "));
        line("related: ", &related.join(", "));
        line("rule: ", priority_rule.as_deref().unwrap_or_default());
    }
    out
}

#[test]
fn every_example_of_the_format_document_is_parsed_as_documented() {
    let mut blocks = blocks(FORMAT);
    blocks.extend(self::blocks(MORE));
    let mut count = 0;
    for pair in blocks.windows(2) {
        let ((kind, example), (next, result)) = (&pair[0], &pair[1]);
        if !kind.starts_with("index") {
            continue;
        }
        count += 1;
        assert_eq!(*next, "result");
        let file = parse(example);
        assert_eq!(&describe(&file), result);
        assert_eq!(&text(&file), example);
        if kind.ends_with("canonical") {
            let entry = &file.entries().next().unwrap().entry;
            assert_eq!(&entry_text(entry, Some(2), "\n", &settings()), example);
        }
    }
    assert!(count >= 7, "{count} examples");
}

#[test]
fn a_new_file_matches_the_format_document() {
    let file = IndexFile::skeleton(day("2026-02-01"), settings());
    let blocks = blocks(FORMAT);
    let (_, expected) = blocks.iter().find(|(kind, _)| *kind == "skeleton").unwrap();
    assert_eq!(&text(&file), expected);
    assert_eq!(file.written_at(), Some(day("2026-02-01")));
}

#[test]
fn every_key_is_in_the_format_document() {
    let keys = FORMAT
        .lines()
        .skip_while(|line| !line.starts_with("| key |"))
        .skip(2);
    let keys = keys.take_while(|line| line.starts_with("| `"));
    let keys: Vec<&str> = keys.map(|line| line.split('`').nth(1).unwrap()).collect();
    assert_eq!(keys, meta::KEYS);
}

#[test]
fn an_edit_changes_only_its_value() {
    let before = "# T\r\n\r\n## Acme ##\r\nWrapped\r\nsummary.\r\n\r\nProse of a person.\r\n\
        → a.md\r\n<!-- hx: id=acme\r\n| hits=1 | x=y\r\n| str=0.9 -->glued\r\n";
    let mut file = parse(before);
    let mut entry = file.get(&id("acme")).unwrap().entry.clone();
    entry.hits = 2;
    assert!(file.update(&entry));
    assert_eq!(text(&file), before.replace("hits=1", "hits=2"));
    entry.tags = vec!["a".to_owned(), "b,c".to_owned()];
    entry.topic = "Beta".to_owned();
    entry.summary = "One line.".to_owned();
    entry.accessed = day("2026-02-02");
    assert!(file.update(&entry));
    let after = "# T\r\n\r\n## Beta\r\nOne line.\r\n\r\nProse of a person.\r\n\
        → a.md\r\n<!-- hx: id=acme\r\n| created=2026-02-01 | accessed=2026-02-02 | hits=2 | x=y\r\n| str=0.9 | tags=a,b%2Cc -->glued\r\n";
    assert_eq!(text(&file), after);
    let nobody = Entry::default();
    assert!(!file.update(&nobody));
}

#[test]
fn a_timestamp_keeps_its_written_precision_until_its_day_changes() {
    let before = "## A\n<!-- hx: id=a | created=2026-01-01 | accessed=2026-01-02T03:04:05Z -->\n";
    let mut file = parse(before);
    let mut entry = file.get(&id("a")).unwrap().entry.clone();
    entry.accessed = entry.accessed.plus(60_000);
    assert!(!file.update(&entry));
    entry.accessed = entry.accessed.plus(86_400_000);
    assert!(file.update(&entry));
    assert_eq!(text(&file), before.replace("02T03:04:05Z", "03"));
}

#[test]
fn an_edited_list_item_gets_a_comment_on_its_line() {
    let mut file = parse("## Places\n- Deploy → TOOLS.md\n- Other → b.md");
    let mut entry = file.get(&id("deploy")).unwrap().entry.clone();
    entry.hits = 1;
    assert!(file.update(&entry));
    let comment = "<!-- hx: id=deploy | created=2026-02-01 | hits=1 | src=manual -->";
    assert_eq!(
        text(&file),
        format!("## Places\n- Deploy → TOOLS.md {comment}\n- Other → b.md")
    );
    assert_eq!(parse(&text(&file)).get(&id("deploy")).unwrap().entry, entry);
}

#[test]
fn entries_are_inserted_into_and_moved_to_their_section() {
    let mut file = parse("# T\n\n## By Topic\n\n### People\n\n## Meta\nmine\n");
    let entry = Entry {
        id: id("x"),
        topic: "X".to_owned(),
        version: 1,
        ..Entry::default()
    };
    assert!(file.insert(&entry, &["By Topic", "Projects"]));
    assert!(!file.insert(&entry, &[]));
    let comment = "<!-- hx: id=x | created=1970-01-01 | str=0.00 -->";
    let projects = format!("### Projects\n\n#### X\n{comment}\n\n");
    assert_eq!(
        text(&file),
        format!("# T\n\n## By Topic\n\n### People\n\n{projects}## Meta\nmine\n")
    );

    assert!(file.relocate(&id("x"), &["Decay Queue"]));
    let queue = format!("## Decay Queue\n\n#### X\n{comment}\n\n");
    let expected = format!("# T\n\n## By Topic\n\n### People\n\n### Projects\n\n{queue}## Meta\nmine\n");
    assert_eq!(text(&file), expected);

    assert!(file.set_generated(&["meta"], "1 entry"));
    let generated = "mine\n\n<!-- hippod: meta -->\n1 entry\n<!-- /hippod -->\n";
    assert_eq!(text(&file), expected.replace("mine\n", generated));
    file.set_generated(&["Meta"], "2 entries");
    assert_eq!(
        text(&file),
        expected.replace("mine\n", &generated.replace("1 entry", "2 entries"))
    );

    let removed = file.remove(&id("x")).unwrap();
    assert_eq!(removed.bytes(), format!("#### X\n{comment}\n\n").as_bytes());
    let mut file = parse("");
    assert!(file.insert(&entry, &["People"]));
    assert_eq!(text(&file), format!("## People\n\n#### X\n{comment}\n"));
    assert_eq!(file.placed_entries()[0].section, ["People"]);
}

#[test]
fn the_header_is_updated_or_created() {
    let now = day("2026-02-03");
    let stated = "<!-- hippocampus.md v1.0 | entries: 5 | reindexed: 2026-02-03T00:00:00Z -->";
    let table = [
        (
            "# H — Index <!-- hippocampus.md v1.0 | entries: 127 | reindexed: 2026-01-31T02:30:00Z -->\n## A\n",
            "# H — Index {}\n## A\n",
        ),
        ("# H\n<!-- hippocampus.md v1.0 -->\n", "# H\n{}\n"),
        ("# H", "# H\n{}\n"),
        ("# H\r\n## A\r\n", "# H\r\n{}\r\n## A\r\n"),
        ("\u{feff}text\n", "\u{feff}{}\ntext\n"),
        ("", "{}\n"),
    ];
    for (before, after) in table {
        let mut file = parse(before);
        file.set_header(5, now);
        assert_eq!(text(&file), after.replace("{}", stated), "{before}");
        assert_eq!(parse(&text(&file)).written_at(), Some(now));
    }
    let mut file = parse("<!-- hippocampus.md v2 | by: ada | entries: many -->");
    assert_eq!(file.written_at(), None);
    file.set_header(1, now);
    assert_eq!(
        text(&file),
        "<!-- hippocampus.md v2 | by: ada | entries: 1 | reindexed: 2026-02-03T00:00:00Z -->"
    );
}

mod protocol;
