//! Checks that every command in the documents exists, with the options that the document shows.

use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use super::command;
use crate::shell::simple_commands;

/// Returns the `hippoctl` commands in a script, including those that are passed as arguments to another program.
fn ours(script: &str) -> impl Iterator<Item = Vec<String>> {
    simple_commands(script).into_iter().filter_map(|words| {
        let at = words.iter().position(|word| word == "hippoctl")?;
        (at + 1 < words.len()).then(|| words[at..].to_vec())
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the documents for users, with their paths.
fn documents() -> Vec<(PathBuf, String)> {
    let mut folders = vec![root().join("docs")];
    let mut paths = vec![root().join("README.md")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                paths.push(path);
            }
        }
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// Splits a text into the shell commands in its code fences, and the code spans in its sentences.
fn parts(text: &str) -> (String, Vec<String>) {
    let (mut scripts, mut spans) = (String::new(), Vec::new());
    for (index, part) in text.split("```").enumerate() {
        if index % 2 == 0 {
            spans.extend(part.split('`').skip(1).step_by(2).map(str::to_owned));
        } else if let Some((info, body)) = part.split_once('\n')
            && (info.starts_with("sh") || info.starts_with("console"))
        {
            for line in body.lines() {
                scripts.push_str(line.trim_start().trim_start_matches("$ "));
                scripts.push('\n');
            }
        }
    }
    (scripts, spans)
}

#[test]
fn every_command_in_the_documents_is_valid() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (path, text) in documents() {
        let (script, spans) = parts(&text);
        for words in ours(&script) {
            count += 1;
            if let Err(error) = command().try_get_matches_from(&words) {
                wrong.push(format!("{}: {words:?}: {error}", path.display()));
            }
        }
        // A code span in a sentence may omit required arguments and use a placeholder for a value.
        for words in spans.iter().flat_map(|span| ours(span)) {
            let unknown = [ErrorKind::InvalidSubcommand, ErrorKind::UnknownArgument];
            if let Err(error) = command().try_get_matches_from(&words)
                && unknown.contains(&error.kind())
            {
                wrong.push(format!("{}: {words:?}: {error}", path.display()));
            }
        }
    }
    assert!(count > 60, "only {count} commands found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
