//! Tests of the initial entries of a workspace.

use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use hippo_text::chunk::chunk;
use hippo_types::entry::EntryPriority;

const NOW: Timestamp = Timestamp(1_775_000_000_000);

struct Files(Vec<(String, Vec<u8>, Document)>);

impl Files {
    fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| {
            let bytes = text.as_bytes().to_vec();
            let document = chunk(&bytes);
            ((*path).to_owned(), bytes, document)
        });
        Self(files.collect())
    }

    fn memory(&self) -> Vec<MemoryFile<'_>> {
        let files = self.0.iter().map(|(path, bytes, document)| MemoryFile {
            path,
            kind: SourceKind::from_path(path),
            document,
            bytes,
            modified: Timestamp::from_seconds(1_700_000_000),
            known: false,
        });
        files.collect()
    }

    fn entries(&self, settings: &BootstrapSettings) -> Vec<BootstrapEntry> {
        bootstrap(&self.memory(), settings)
    }
}

fn settings() -> BootstrapSettings {
    BootstrapSettings {
        now: NOW,
        ..BootstrapSettings::default()
    }
}

const PROJECT: &str = "# Heron\n\nA logger for river levels, built around an ultrasonic head and a radio.\n\n\
    ## Overview\n\n- The board sleeps at nine microamperes and wakes every five minutes to measure.\n- Cells last four \
    years when the radio joins at the first attempt.\n\n## Sleep current\n\n- Revision C of the board drew too much \
    because the regulator stayed on.\n- The regulator is switched by the watchdog pin now.\n\n## Empty\n\n";
const LOG: &str = "# 2026-03-18\n\n## Session s0470\n\nUser: I adopted a greyhound called Biscuit from the shelter in \
    Potsdam last month.\n\nAssistant: Congratulations on your greyhound! Never give chocolate to a dog.\n\nUser: Biscuit \
    sleeps on the sofa and is afraid of the vacuum cleaner.\n";

#[test]
fn each_section_becomes_an_entry() {
    let files = Files::of(&[
        ("projects/heron/PROJECT.md", PROJECT),
        ("memory/2026-03-18.md", LOG),
    ]);
    let entries = files.entries(&settings());
    let log = &entries[0].entry;
    assert_eq!(entries[0].group, DAILY_LOGS);
    assert_eq!(log.topic, "2026-03-18");
    assert!(log.summary.contains("Biscuit"), "{log:?}");
    assert_eq!(log.created, Timestamp::start_of(date(2026, 3, 18), 0));
    assert_eq!(log.priority, EntryPriority::Normal);
    assert_eq!(log.id.0, "2026-03-18");
    let topics: Vec<&str> = entries[1..].iter().map(|new| new.entry.topic.as_str()).collect();
    assert_eq!(topics, ["Heron", "Heron: Overview", "Heron: Sleep current"]);
    assert!(entries[1..].iter().all(|new| new.group == PROJECTS));
    assert_eq!(
        entries[3].entry.pointers[0].section.as_deref(),
        Some("Sleep current")
    );
    assert!(
        entries.iter().all(|new| new.entry.tags.len() >= 3),
        "{entries:#?}"
    );
}

#[test]
fn fields_of_front_matter_are_no_topics() {
    let text = "---\nname: greenhouse-valve\ndescription: Opens the valve of the greenhouse through the relay, and reads the pressure \
                before and after (read and write).\nallowed-tools: read exec\nkeywords:\n  - valve\n  - relay\n---\n\n# Greenhouse \
                valve\n\nThe valve opens at 24 degrees, because the seedlings dry out above.\n\n## Relay\n\nThe relay runs on port \
                8443.\n\n## Pressure\n\nThe pressure stays below 3 bar, otherwise the seal leaks.\n";
    let entries = Files::of(&[("skills/greenhouse-valve/SKILL.md", text)]).entries(&settings());
    let topics: Vec<&str> = entries.iter().map(|new| new.entry.topic.as_str()).collect();
    assert!(entries.len() > 2, "{topics:?}");
    for BootstrapEntry { entry, .. } in &entries {
        let said = format!("{} {}", entry.topic, entry.summary);
        assert!(
            !said.contains("description:") && !said.contains("name:"),
            "{said}"
        );
    }
    let has_summary =
        |new: &BootstrapEntry| new.entry.summary.starts_with("Opens the valve of the greenhouse");
    assert!(entries.iter().any(has_summary), "{entries:?}");
}

#[test]
fn nodes_and_known_files_get_no_entry() {
    let files = Files::of(&[
        ("memory/weekly/2026-W02.md", PROJECT),
        ("knowledge/heron.md", PROJECT),
    ]);
    let mut memory = files.memory();
    let entries = bootstrap(&memory, &settings());
    assert!(
        entries
            .iter()
            .all(|new| !new.entry.pointers[0].path.contains("weekly"))
    );
    memory[1].known = true;
    assert!(bootstrap(&memory, &settings()).is_empty());
}

#[test]
fn derived_text_shows_no_secrets() {
    let secrets = [
        "Zx81kQ9dPw72LmA0vBt3",
        "swordfish",
        "3f2a9c1d0b4e5f60718293a4b5c6d7e8",
        "hunter2hunter2",
    ];
    let [random, word, hex, heading] = secrets;
    let text = format!(
        "# Weather station\n\n## Access\n\n- The password of the weather station is {word}.\n- The api key for the weather service \
        is {hex}, it feeds the station.\n\n## Token: {heading}\n\nThe station token {random} is sent with each measurement of the \
        station.\n"
    );
    let files = Files::of(&[("knowledge/weather.md", &text), ("memory/2026-03-18.md", &text)]);
    let entries = bootstrap(&files.memory(), &settings());
    assert_eq!(entries.len(), 2);
    let shown = serde_json::to_string(&entries.iter().map(|new| &new.entry).collect::<Vec<_>>()).unwrap();
    for secret in secrets {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    assert!(
        !entries
            .iter()
            .any(|new| new.entry.tags.iter().any(|tag| tag.contains("redacted"))),
        "{shown}"
    );
    let (summary, _) = extract_gist("Wifi", &format!("The password of the guest wifi is {word}."));
    assert_eq!(summary, "The password of the guest wifi is ….");
}

#[test]
fn the_maximum_number_of_entries_holds() {
    let text: String = (0..60).fold(String::from("# Notes\n\n"), |text, number| {
        text + &format!(
            "## Matter number {number}\n\n{}\n\n",
            format!("Thing {number} is described at length. ").repeat(9)
        )
    });
    let many: Vec<(String, &str)> = (0..40)
        .map(|at| (format!("knowledge/k{at}.md"), text.as_str()))
        .collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    for (count, low, high) in [(10, 30, 50), (40, 80, 200)] {
        let entries = Files::of(&many[..count]).entries(&settings());
        assert!(
            (low..=high).contains(&entries.len()),
            "{count}: {}",
            entries.len()
        );
    }
    let files = Files::of(&many);
    let few = BootstrapSettings {
        max_entries: Some(7),
        ..settings()
    };
    assert_eq!(files.entries(&few).len(), 7);
}

#[test]
fn entries_of_an_old_workspace_do_not_start_weak() {
    let files = Files::of(&[("memory/2019-03-18.md", "Biscuit the greyhound moved in.\n")]);
    let entry = &files.entries(&settings())[0].entry;
    assert_eq!(entry.curve_start(), NOW.plus(-21 * 86_400_000));
    assert_eq!(entry.accessed, entry.created);
}

/// Generates a file with all kinds of lines.
fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        3 => "[a-zA-Z ,.]{0,90}",
        2 => "#{1,4} [A-Za-z0-9 |→]{0,30}",
        1 => "- [a-z<>!|`*\\[\\]()-]{0,60}",
        1 => "(User|Assistant|\\*\\*Ada\\*\\*): [a-z ?]{0,90}",
        1 => "\\| [a-z]{1,9} \\| [a-z]{1,9} \\|",
        1 => "[a-zé日本 ]{0,60}",
        1 => Just("<!-- hx: id=x | str=1 -->".to_owned()),
        1 => Just("```".to_owned()),
    ];
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn entries_are_well_formed_and_ids_are_stable(texts in prop::collection::vec(file(), 1..6), most in 1_usize..40) {
        let names: Vec<String> = (0..texts.len()).map(|at| format!("knowledge/f{at}.md")).collect();
        let all: Vec<(&str, &str)> = names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let settings = BootstrapSettings { max_entries: Some(most), ..settings() };
        let entries = Files::of(&all).entries(&settings);
        prop_assert!(entries.len() <= most);
        let ids: BTreeSet<&EntryId> = entries.iter().map(|new| &new.entry.id).collect();
        prop_assert_eq!(ids.len(), entries.len());
        for new in &entries {
            let entry = &new.entry;
            let shown = format!("{}{}{}{}", entry.topic, entry.summary, entry.tags.join(""), entry.id);
            prop_assert!(!shown.contains(['\n', '|']) && !shown.contains("<!--") && !shown.contains("-->"), "{:?}", entry);
            prop_assert!(!entry.topic.is_empty() && !entry.pointers.is_empty());
            prop_assert!(entry.summary.split(' ').count() <= summary::MOST_WORDS);
            prop_assert!(entry.tags.iter().all(|tag| !tag.contains([' ', ','])));
        }
        // The ids do not depend on other files: bootstrap of the first file alone creates ids that bootstrap of all
        // files also creates.
        let free = BootstrapSettings { max_entries: Some(10_000), ..settings };
        let alone = Files::of(&all[..1]).entries(&free);
        let among: BTreeSet<EntryId> = Files::of(&all).entries(&free).into_iter().map(|new| new.entry.id).collect();
        for new in alone {
            prop_assert!(among.contains(&new.entry.id), "{}", new.entry.id);
        }
    }
}
