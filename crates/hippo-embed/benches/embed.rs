//! Benchmarks of queries and passages, compared with fastembed alone.
//!
//! Needs `HIPPOD_TEST_MODEL_HOME`, a folder with `models/` and `runtime/`. `HIPPOD_BENCH_WORKSPACE` can name a folder
//! of markdown for the passages; without it, the text is synthetic.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use divan::Bencher;
use divan::counter::ItemsCount;
use hippo_embed::acquire::{Layout, ModelManifest, locate};
use hippo_embed::{Embedder, OnnxEmbedder};

/// Length of a window in word pieces.
const WINDOW: usize = 225;
const WINDOWS: usize = 40;
const CONTEXT: &str = "Notes > This month";

fn main() {
    divan::main();
}

thread_local! {
    static EMBEDDER: RefCell<OnnxEmbedder> = RefCell::new(load());
}

fn load() -> OnnxEmbedder {
    let home = std::env::var_os("HIPPOD_TEST_MODEL_HOME").map(PathBuf::from);
    let home = home.expect("HIPPOD_TEST_MODEL_HOME is not set: run `cargo xtask setup` and use its folder");
    let layout = Layout::in_home(&home, home.join("cache"));
    let installed = ModelManifest::built_in()
        .and_then(|m| locate(&layout, &m))
        .expect("run `cargo xtask setup` first");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    OnnxEmbedder::load(&installed.model, &installed.runtime, threads).expect("the model loads")
}

/// Returns lines of the workspace, grouped into windows.
fn windows() -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    if let Some(folder) = std::env::var_os("HIPPOD_BENCH_WORKSPACE") {
        collect(Path::new(&folder), &mut lines);
    }
    if lines.is_empty() {
        let words = [
            "the",
            "deployment",
            "of",
            "version",
            "two",
            "was",
            "postponed",
            "because",
            "tests",
            "failed",
        ];
        lines.extend((0..4000).map(|i| {
            let word = |k: usize| words[(i * 7 + k * (i % 5 + 1)) % words.len()];
            (0..14).map(word).collect::<Vec<_>>().join(" ")
        }));
    }
    EMBEDDER.with_borrow(|embedder| {
        let (mut windows, mut window, mut pieces) = (Vec::new(), Vec::new(), 0);
        for line in lines {
            let count = embedder.count_tokens(&line);
            if count == 0 || count > WINDOW {
                continue;
            }
            if pieces + count > WINDOW {
                windows.push(std::mem::take(&mut window));
                pieces = 0;
            }
            pieces += count;
            window.push(line);
            if windows.len() == WINDOWS {
                break;
            }
        }
        windows
    })
}

fn collect(folder: &Path, lines: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if lines.len() > 10_000 {
            return;
        }
        if path.is_dir() {
            collect(&path, lines);
        } else if path.extension().is_some_and(|e| e == "md") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            lines.extend(text.lines().filter(|l| !l.trim().is_empty()).map(str::to_owned));
        }
    }
}

#[divan::bench(sample_count = 200)]
fn query(bencher: Bencher) {
    EMBEDDER.with_borrow_mut(|embedder| {
        bencher.bench_local(|| embedder.embed_query("when did we move the staging database to the new port"));
    });
}

/// Measures late chunking: one vector for each line.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn passages_late_chunking(bencher: Bencher) {
    let windows = windows();
    let lines: usize = windows.iter().map(Vec::len).sum();
    EMBEDDER.with_borrow_mut(|embedder| {
        bencher.counter(ItemsCount::new(lines)).bench_local(|| {
            for window in &windows {
                let texts: Vec<&str> = window.iter().map(String::as_str).collect();
                divan::black_box(embedder.embed_passages(CONTEXT, &texts)).expect("the model runs");
            }
        });
    });
}

/// Embeds the same windows with fastembed directly: one text and one vector for each window.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn passages_fastembed_alone(bencher: Bencher) {
    let windows = windows();
    let lines: usize = windows.iter().map(Vec::len).sum();
    let texts: Vec<String> = windows
        .iter()
        .map(|w| format!("{CONTEXT}\n{}", w.join("\n")))
        .collect();
    EMBEDDER.with_borrow_mut(|embedder| {
        let model = embedder.fastembed();
        bencher.counter(ItemsCount::new(lines)).bench_local(|| {
            divan::black_box(model.embed(&texts, Some(1))).expect("the model runs");
        });
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn load_model(bencher: Bencher) {
    bencher.bench_local(load);
}
