//! Benchmarks of transcript compaction, from bytes to summary.
//!
//! `HIPPOD_TRANSCRIPT` names the transcript to read. Without it, made-up sessions of two sizes are read.

use divan::Bencher;
use divan::counter::BytesCount;
use hippo_session::compaction::{CompactionOptions, compact};

fn main() {
    divan::main();
}

/// Measures made-up sessions. The time per token must not grow with the length.
#[divan::bench(args = [1_000, 16_000])]
fn made_up(bencher: Bencher<'_, '_>, messages: usize) {
    let bytes = session(messages);
    measure(bencher, &bytes, None);
}

#[divan::bench(args = [2_000, 8_000])]
fn within_a_budget(bencher: Bencher<'_, '_>, budget: usize) {
    measure(bencher, &session(4_000), Some(budget));
}

#[divan::bench]
#[allow(clippy::disallowed_methods, reason = "the user chose this path")]
fn given(bencher: Bencher<'_, '_>) {
    let bytes = std::env::var_os("HIPPOD_TRANSCRIPT").and_then(|path| std::fs::read(path).ok());
    measure(bencher, &bytes.unwrap_or_else(|| session(1_000)), Some(5_000));
}

fn measure(bencher: Bencher<'_, '_>, bytes: &[u8], budget: Option<usize>) {
    let options = CompactionOptions {
        budget,
        ..CompactionOptions::default()
    };
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench(|| compact(divan::black_box(bytes), &options).summary.len());
}

/// Returns the session of an agent that reads, changes and tests files.
fn session(messages: usize) -> Vec<u8> {
    let mut out = String::new();
    for number in 0..messages {
        let file = format!("src/part_{}/handler{}.rs", number % 37, number % 211);
        let line = match number % 4 {
            0 => format!(
                r#"{{"role":"user","content":"Please look at {file}: the timeout of {number} ms is wrong"}}"#
            ),
            1 => format!(
                r#"{{"role":"assistant","content":"My plan is to read it first.","tool_calls":[{{"id":"c{number}","function":{{"name":"read","arguments":"{{\"path\":\"{file}\"}}"}}}}]}}"#
            ),
            2 => {
                let body: String = (0..60)
                    .map(|row| format!("    let value_{row} = compute({row}, &self.limits[{row}])?;\\n"))
                    .collect();
                format!(
                    r#"{{"role":"tool","tool_call_id":"c{}","content":"{body}"}}"#,
                    number - 1
                )
            }
            _ => format!(
                r#"{{"role":"assistant","content":"The limit in {file} is {number}; I change it to the configured one."}}"#
            ),
        };
        out.push_str(&line);
        out.push('\n');
    }
    out.into_bytes()
}
