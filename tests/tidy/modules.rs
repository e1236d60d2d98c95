//! Direction of the dependencies between the modules of the daemon.

use std::collections::{BTreeMap, BTreeSet};

use crate::{files, read};

const SOURCE: &str = "crates/hippod/src";
/// Start of the tests at the end of a file. Tests may use every module.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// For each top-level module, the top-level modules that it uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn modules_of_the_daemon_form_no_circle() {
    let graph = graph();
    assert!(graph.len() > 20, "only {} modules found", graph.len());
    let circles: Vec<String> = graph.keys().filter_map(|module| circle(&graph, module)).collect();
    assert_eq!(circles, Vec::<String>::new(), "modules that use each other");
}

fn graph() -> Graph {
    let modules: BTreeSet<String> = files(&[SOURCE], ".rs")
        .iter()
        .map(|path| module_of(path))
        .collect();
    let mut graph = Graph::new();
    for path in files(&[SOURCE], ".rs") {
        let is_test = |part: &str| matches!(part, "tests" | "tests.rs");
        if path.split('/').any(is_test) {
            continue;
        }
        let (text, module) = (read(&path), module_of(&path));
        let code = text.split(TESTS).next().unwrap_or_default();
        let used = used_modules(code).into_iter();
        let used = used.filter(|used| *used != module && modules.contains(used));
        graph.entry(module.clone()).or_default().extend(used);
    }
    graph
}

/// Returns the top-level module that contains a file. It is the first name below the source folder.
fn module_of(path: &str) -> String {
    let below = path.strip_prefix(SOURCE).unwrap().trim_start_matches('/');
    let first = below.split('/').next().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// Returns the first name of each `crate::` path. For a `crate::{…}` group, returns the first name of each path in
/// the group.
fn used_modules(code: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => {
                used.insert(name(rest));
            }
            Some(group) => {
                let mut depth = 0;
                let mut starts = true;
                for (at, letter) in group.char_indices() {
                    match letter {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => starts = true,
                        _ if starts && !letter.is_whitespace() => {
                            starts = false;
                            used.insert(name(&group[at..]));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    used
}

fn name(path: &str) -> String {
    let in_name = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    path.chars().take_while(in_name).collect()
}

/// Returns the shortest circular dependency that contains a module, in the form `a -> b -> a`.
fn circle(graph: &Graph, module: &str) -> Option<String> {
    let mut paths = vec![vec![module.to_owned()]];
    let mut seen = BTreeSet::new();
    while !paths.is_empty() {
        let mut longer = Vec::new();
        for path in paths {
            for used in graph.get(path.last()?).into_iter().flatten() {
                let path = [&path[..], std::slice::from_ref(used)].concat();
                if used == module {
                    return Some(path.join(" -> "));
                }
                if seen.insert(used.clone()) {
                    longer.push(path);
                }
            }
        }
        paths = longer;
    }
    None
}

#[test]
fn every_form_of_a_use_is_noticed() {
    let code = "use crate::{a, b::{c, d}, e as f};\nfn x() { crate::g::h(); }\npub(crate) use super::i;";
    let expected = ["a", "b", "e", "g"].map(str::to_owned);
    assert_eq!(used_modules(code), BTreeSet::from(expected));
}

#[test]
fn a_circle_is_named() {
    let uses = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let edges: [(&str, &[&str]); 3] = [("a", &["b", "c"]), ("b", &["c"]), ("c", &["a"])];
    let graph: Graph = edges
        .into_iter()
        .map(|(module, used)| (module.to_owned(), uses(used)))
        .collect();
    assert_eq!(circle(&graph, "a").as_deref(), Some("a -> c -> a"));
    assert_eq!(circle(&graph, "b").as_deref(), Some("b -> c -> a -> b"));
}
