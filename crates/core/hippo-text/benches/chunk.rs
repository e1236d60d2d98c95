//! Benchmarks of dividing text into chunks and terms.
//!
//! The environment variable `HIPPOD_BENCH_WORKSPACE` names a folder of markdown files. Without this variable, the
//! benchmarks use generated text.
#![allow(clippy::disallowed_methods)] // A benchmark reads its input from disk.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::BytesCount;
use hippo_text::chunk::{chunk, chunk_text};
use hippo_text::terms::Analyzer;

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| match std::env::var_os("HIPPOD_BENCH_WORKSPACE") {
    Some(folder) => read_folder(Path::new(&folder)),
    None => vec![made_up()],
});

fn main() {
    divan::main();
}

#[divan::bench]
fn chunks(bencher: Bencher<'_, '_>) {
    bencher.counter(BytesCount::new(size())).bench(|| {
        FILES
            .iter()
            .map(|bytes| chunk(divan::black_box(bytes)).chunks.len())
            .sum::<usize>()
    });
}

#[divan::bench]
fn terms(bencher: Bencher<'_, '_>) {
    let texts: Vec<String> = FILES
        .iter()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .collect();
    let mut analyzer = Analyzer::new();
    let mut out = String::new();
    bencher.counter(BytesCount::new(size())).bench_local(|| {
        out.clear();
        texts
            .iter()
            .map(|text| analyzer.index_terms(divan::black_box(text), &mut out))
            .sum::<usize>()
    });
}

#[divan::bench]
fn chunks_and_terms(bencher: Bencher<'_, '_>) {
    let mut analyzer = Analyzer::new();
    let mut out = String::new();
    bencher.counter(BytesCount::new(size())).bench_local(|| {
        let mut count = 0;
        for bytes in &*FILES {
            for chunk in chunk(divan::black_box(bytes)).chunks {
                out.clear();
                count += analyzer.index_terms(&chunk_text(bytes, &chunk), &mut out);
            }
        }
        count
    });
}

fn size() -> usize {
    FILES.iter().map(Vec::len).sum()
}

fn read_folder(folder: &Path) -> Vec<Vec<u8>> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                files.extend(std::fs::read(path));
            }
        }
    }
    files
}

fn made_up() -> Vec<u8> {
    let mut text = String::new();
    for day in 1..=400 {
        text.push_str(&format!(
            "# Day {day}\n\n## Session {day}\n\nUser: How do I raise max_connections to {day}?\n"
        ));
        text.push_str("Assistant: There are several ways. Here are the ones that I would try first:\n\n");
        for item in 1..=12 {
            text.push_str(&format!(
                "{item}. **Step {item}**: edit the setting, restart the server and look at its log.\n"
            ));
        }
        text.push_str("\n```toml\nmax_connections = 100\n```\n\nRemember to measure before and after.\n\n");
    }
    text.into_bytes()
}
