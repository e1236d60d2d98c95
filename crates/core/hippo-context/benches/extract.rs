//! Benchmarks of the extraction of summaries from tool results.

use divan::Bencher;
use divan::counter::BytesCount;
use hippo_context::extract::{Hints, extract};

fn main() {
    divan::main();
}

/// Kinds of content, each with a text that is repeated up to the required size.
const KINDS: [(&str, &str); 5] = [
    (
        "json",
        "{\"id\":\"ord-%\",\"name\":\"A boat\",\"price\":%,\"tags\":[\"a\",\"b\"]},",
    ),
    ("snapshot", "  - button \"Book boat %\" [ref=e%]\n"),
    ("log", "test boats::moors_% ... ok\n"),
    ("diff", "@@ -%,2 +%,2 @@ fn moor() {\n-old %\n+new %\n same\n"),
    (
        "text",
        "Boat % lies at berth hb_% and was seen by /srv/log/%.txt today.\n",
    ),
];

fn made_up(kind: &str, bytes: usize) -> Vec<u8> {
    let piece = KINDS
        .iter()
        .find(|(name, _)| *name == kind)
        .map_or("", |(_, piece)| piece);
    let mut text = match kind {
        "json" => "[".to_owned(),
        "diff" => "diff --git a/x b/x\n--- a/x\n+++ b/x\n".to_owned(),
        _ => String::new(),
    };
    for number in 1.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&piece.replace('%', &number.to_string()));
    }
    text.into_bytes()
}

/// Measures the extraction from a tool result of 50,000 tokens.
#[divan::bench(args = KINDS.map(|(name, _)| name))]
fn two_hundred_kilobytes(bencher: Bencher<'_, '_>, kind: &str) {
    run(bencher, &made_up(kind, 200_000));
}

#[divan::bench(args = KINDS.map(|(name, _)| name))]
fn a_megabyte(bencher: Bencher<'_, '_>, kind: &str) {
    run(bencher, &made_up(kind, 1_000_000));
}

#[divan::bench(args = KINDS.map(|(name, _)| name), sample_count = 3, sample_size = 1)]
fn fifty_megabytes(bencher: Bencher<'_, '_>, kind: &str) {
    run(bencher, &made_up(kind, 50_000_000));
}

/// Measures worst-case texts: deep nesting, unclosed tags and quotes, and one long line.
#[divan::bench(args = ["[", "{\"a\":", "<a ", "<a b=\"", "(", "/* ", "a.b_c ", "x"], sample_count = 3, sample_size = 1)]
fn repeated(bencher: Bencher<'_, '_>, part: &str) {
    run(bencher, part.repeat(10_000_000 / part.len()).as_bytes());
}

fn run(bencher: Bencher<'_, '_>, content: &[u8]) {
    bencher
        .counter(BytesCount::new(content.len()))
        .bench(|| extract(divan::black_box(content), &Hints::default(), None).entry_tokens);
}
