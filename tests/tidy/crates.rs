//! Direction of the dependencies between crates.

#[path = "modules.rs"]
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use super::root;

#[test]
fn crates_depend_on_each_other_in_one_direction() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let ours: BTreeSet<&str> = packages
        .iter()
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    let graph: BTreeMap<&str, BTreeSet<&str>> = packages
        .iter()
        .filter(|package| {
            !matches!(
                package["name"].as_str(),
                Some("xtask" | "hippod-tests" | "hippo-fuzz")
            )
        })
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let names = dependencies.map(|dependency| dependency["name"].as_str().unwrap());
            (
                package["name"].as_str().unwrap(),
                names.filter(|name| ours.contains(name)).collect(),
            )
        })
        .collect();
    let allowed: BTreeMap<&str, Vec<&str>> = BTreeMap::from([
        ("hippo-types", vec![]),
        ("hippo-redact", vec![]),
        ("hippo-fs", vec![]),
        ("hippo-embed", vec![]),
        ("hippo-version", vec![]),
        ("hippo-share", vec!["hippo-types", "hippo-redact", "hippo-text"]),
        ("hippo-proto", vec!["hippo-types"]),
        ("hippo-text", vec!["hippo-types", "hippo-redact"]),
        ("hippo-rank", vec!["hippo-types", "hippo-text"]),
        ("hippo-map", vec!["hippo-types", "hippo-redact", "hippo-text"]),
        ("hippo-session", vec!["hippo-types", "hippo-redact", "hippo-text"]),
        ("hippo-context", vec!["hippo-types", "hippo-redact", "hippo-text"]),
        ("hippo-tree", vec!["hippo-types", "hippo-redact", "hippo-text"]),
        (
            "hippo-store",
            vec![
                "hippo-types",
                "hippo-text",
                "hippo-map",
                "hippo-context",
                "hippo-fs",
            ],
        ),
        (
            "hippoctl",
            vec![
                "hippo-types",
                "hippo-redact",
                "hippo-text",
                "hippo-rank",
                "hippo-map",
                "hippo-session",
                "hippo-context",
                "hippo-tree",
                "hippo-fs",
                "hippo-proto",
                "hippo-version",
            ],
        ),
        (
            "hippod",
            vec![
                "hippo-types",
                "hippo-redact",
                "hippo-text",
                "hippo-rank",
                "hippo-map",
                "hippo-session",
                "hippo-context",
                "hippo-tree",
                "hippo-fs",
                "hippo-embed",
                "hippo-proto",
                "hippo-share",
                "hippo-store",
                "hippo-version",
            ],
        ),
    ]);
    assert_eq!(
        graph.keys().collect::<Vec<_>>(),
        allowed.keys().collect::<Vec<_>>()
    );
    for (name, dependencies) in &graph {
        assert!(
            dependencies.iter().all(|other| allowed[name].contains(other)),
            "{name} depends on {dependencies:?}"
        );
    }
}
