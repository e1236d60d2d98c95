//! Model benchmarks without a daemon, with JSON output for `cargo lab bench`.
//!
//! - `cargo bench -p hippo-embed --bench bare -- questions FILE` times each line of a file as a query.
//! - `-- pieces FOLDER` counts the word pieces of a folder of markdown.
//! - `-- passages FOLDER` embeds the folder through fastembed directly, with 32-bit floats, in windows of the length that the daemon uses.
//!
//! Needs `HIPPOD_TEST_MODEL_HOME`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use hippo_embed::acquire::{Layout, ModelManifest};
use hippo_embed::{Embedder, OnnxEmbedder};
use serde_json::json;

/// Length of a window in word pieces.
const WINDOW: usize = 250;
/// Maximum length of a line in bytes; longer lines are cut.
const LONGEST_LINE: usize = 800;

fn main() {
    // Cargo adds the argument `--bench`.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let [part, input] = &arguments[..] else { return };
    // The measure of the speed is the model with 32-bit floats, as fastembed runs it.
    let mut embedder = load((part == "passages").then_some("all-minilm-l6-v2"));
    let answer = match part.as_str() {
        "questions" => questions(&mut embedder, Path::new(input)),
        "pieces" => {
            json!({ "pieces": texts(Path::new(input)).iter().map(|text| count(&embedder, text)).sum::<usize>() })
        }
        "passages" => passages(&mut embedder, Path::new(input)),
        other => panic!("no such part: {other}; the parts are questions, pieces and passages"),
    };
    writeln!(io::stdout(), "{answer}").expect("standard output is open");
}

fn load(model: Option<&str>) -> OnnxEmbedder {
    let home = std::env::var_os("HIPPOD_TEST_MODEL_HOME").map(PathBuf::from);
    let home = home.expect("HIPPOD_TEST_MODEL_HOME is not set: run `cargo xtask setup` and use its folder");
    let layout = Layout::in_home(&home, home.join("cache"));
    let installed = ModelManifest::built_in()
        .and_then(|manifest| manifest.pinned(model)?.locate(&layout, &manifest))
        .expect("run `cargo xtask setup` first");
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(2);
    OnnxEmbedder::load(&installed.model, &installed.runtime, threads).expect("the model loads")
}

fn questions(embedder: &mut OnnxEmbedder, file: &Path) -> serde_json::Value {
    let text = fs::read_to_string(file).expect("the questions can be read");
    let lines: Vec<&str> = text.lines().collect();
    let mut times = Vec::new();
    for (at, line) in lines.iter().cycle().take(4 * lines.len()).enumerate() {
        let begun = Instant::now();
        embedder.embed_query(line).expect("the model runs");
        if at >= lines.len() {
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    json!({ "times_ms": times })
}

fn passages(embedder: &mut OnnxEmbedder, folder: &Path) -> serde_json::Value {
    let mut windows: Vec<String> = Vec::new();
    for text in texts(folder) {
        let (mut window, mut pieces) = (String::new(), 0);
        for line in lines(&text) {
            let own = embedder.count_tokens(line);
            if pieces + own > WINDOW && !window.is_empty() {
                windows.push(std::mem::take(&mut window));
                pieces = 0;
            }
            window.push_str(line);
            window.push('\n');
            pieces += own;
        }
        windows.extend((!window.trim().is_empty()).then_some(window));
    }
    // One text per call, sorted by length, is the fastest way to run fastembed on a CPU.
    windows.sort_by_key(String::len);
    let model = embedder.fastembed();
    let begun = Instant::now();
    for window in &windows {
        model.embed([window], Some(1)).expect("the model runs");
    }
    json!({ "seconds": begun.elapsed().as_secs_f64(), "windows": windows.len() })
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .flat_map(|line| {
            let mut rest = line;
            std::iter::from_fn(move || {
                let mut at = LONGEST_LINE.min(rest.len());
                while !rest.is_char_boundary(at) {
                    at -= 1;
                }
                let (first, after) = rest.split_at(at);
                rest = after;
                (!first.is_empty()).then_some(first)
            })
        })
}

/// Counts the word pieces of each line separately, as the daemon embeds text. The tokenizer therefore never receives a
/// whole file.
fn count(embedder: &OnnxEmbedder, text: &str) -> usize {
    text.lines().map(|line| embedder.count_tokens(line)).sum()
}

fn texts(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(texts(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(fs::read_to_string(&path).expect("the file can be read"));
        }
    }
    found
}
