//! Names in documents: modules of the code map, tests, terms of the glossary.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{documents, files, read, root, sources};

#[test]
fn the_code_map_lists_exactly_the_existing_modules() {
    let text = read("ARCHITECTURE.md");
    let (_, map) = text.split_once("\n## Code map\n").expect("no code map");
    let map = map.split("\n## ").next().unwrap();
    let mut named: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for part in map.split("\n### ").skip(1) {
        let (heading, rows) = part.split_once('\n').unwrap();
        let rows = rows
            .lines()
            .filter_map(|row| row.strip_prefix("| `")?.split('`').next());
        named.insert(
            heading.split('`').nth(1).expect("a heading names its crate"),
            rows.collect(),
        );
    }
    let folders: BTreeMap<String, PathBuf> = files(&["crates"], "Cargo.toml")
        .iter()
        .map(|path| {
            let folder = Path::new(path).parent().unwrap();
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            (name, root().join(folder))
        })
        .collect();
    assert_eq!(
        named
            .keys()
            .map(|name| (*name).to_owned())
            .collect::<BTreeSet<_>>(),
        folders.keys().cloned().collect()
    );
    let mut wrong = Vec::new();
    for (name, rows) in &named {
        let source = folders[*name].join("src");
        for entry in fs::read_dir(&source).unwrap() {
            let path = entry.unwrap().path();
            let module = path.file_stem().unwrap().to_str().unwrap();
            let is_test = module.ends_with("tests") || module == "snapshots";
            if !matches!(module, "lib" | "main") && !is_test && !rows.contains(module) {
                wrong.push(format!("{name}: `{module}` is not on the map"));
            }
        }
        for row in rows {
            let exists = source.join(row).is_dir() || source.join(format!("{row}.rs")).is_file();
            if !exists {
                wrong.push(format!("{name}: `{row}` is on the map and not there"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn invariants_name_existing_tests() {
    assert_tests_exist(&read("docs/invariants.md"));
}

/// Returns the names of the threats in docs/security.md. For a threat whose defences have bold names, returns these
/// names instead.
fn threats(page: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for threat in page.split("\n## ").skip(1) {
        let (heading, body) = threat.split_once('\n').unwrap();
        let defences: Vec<&str> = body
            .lines()
            .filter_map(|line| Some(line.strip_prefix("- **")?.split_once(".**")?.0))
            .collect();
        if defences.is_empty() {
            names.insert(heading);
        }
        names.extend(defences);
    }
    names
}

#[test]
fn threats_name_existing_tests() {
    let page = read("docs/attacks.md");
    let (_, table) = page
        .split_once("\n## Tests of the defences\n")
        .expect("no table of tests");
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    let rows: BTreeMap<&str, &str> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            (cells[0].trim_start_matches("| "), cells[1])
        })
        .collect();
    let security = read("docs/security.md");
    let threats = threats(&security);
    assert!(threats.len() > 15, "{threats:?}");
    assert_eq!(rows.keys().copied().collect::<BTreeSet<_>>(), threats);
    let names_a_test = |tests: &str| {
        let mut words = tests.split('`').skip(1).step_by(2);
        words.any(|word| word.ends_with(".test.ts") || word.matches('_').count() > 1)
    };
    let unheld: Vec<&str> = rows
        .into_iter()
        .filter(|(_, tests)| !names_a_test(tests))
        .map(|(threat, _)| threat)
        .collect();
    assert_eq!(unheld, Vec::<&str>::new(), "threats that no test holds");
    assert_tests_exist(table);
}

fn assert_tests_exist(text: &str) {
    let mut places = sources();
    places.extend(files(&["fuzz/tests"], ".rs"));
    let code: String = places.iter().map(|path| read(path)).collect();
    let tests: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| {
            word.contains('_')
                && word
                    .chars()
                    .all(|letter| letter.is_ascii_lowercase() || "_0123456789".contains(letter))
        })
        .collect();
    assert!(tests.len() >= 8, "only {} tests named", tests.len());
    let is_missing = |test: &&&str| !code.contains(&format!("fn {test}("));
    let missing: Vec<&&str> = tests.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
}

/// Returns the terms of the glossary, and the words that must not be used instead of these terms.
fn glossary(text: &str) -> (Vec<&str>, Vec<&str>) {
    let rows = text.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let (mut terms, mut others) = (Vec::new(), Vec::new());
    for row in cells {
        terms.push(row[1]);
        others.extend(row[3].split(", ").filter(|word| !word.is_empty()));
    }
    (terms, others)
}

#[test]
fn terms_of_the_glossary_are_used_and_their_synonyms_are_not() {
    let text = read("GLOSSARY.md");
    let (terms, others) = glossary(&text);
    assert!(terms.len() > 20 && others.len() >= 10, "{others:?}");
    let words = |text: &str| {
        let marks = |mark: char| !mark.is_alphanumeric() && mark != '_';
        let words: Vec<&str> = text.split(marks).filter(|word| !word.is_empty()).collect();
        format!(" {} ", words.join(" ").to_lowercase())
    };
    let pages = documents().into_iter().filter(|path| path != "GLOSSARY.md");
    let documents: String = pages.map(|path| words(&read(&path))).collect();
    let unused: Vec<&&str> = terms
        .iter()
        .filter(|term| !documents.contains(words(term).trim()))
        .collect();
    assert_eq!(unused, Vec::<&&str>::new(), "terms that no document uses");
    let code = sources().into_iter().filter(|path| !path.starts_with("tests/"));
    let comments: String = code
        .flat_map(|path| {
            let text = read(&path);
            let lines = text
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix("//"));
            lines.map(words).collect::<Vec<_>>()
        })
        .collect();
    let used: Vec<&&str> = others
        .iter()
        .filter(|word| {
            [&documents, &comments]
                .iter()
                .any(|text| text.contains(&words(word)))
        })
        .collect();
    assert_eq!(used, Vec::<&&str>::new(), "synonyms in use");
}
