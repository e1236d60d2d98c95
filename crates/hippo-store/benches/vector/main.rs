//! Benchmark of the vector index against exact f32 and usearch: speed, recall and size.
//!
//! Run `cargo bench -p hippo-store --bench vector [--features bench-usearch] -- [PARTS]`. The parts are `table`
//! (default), `filters`, `crossover`, and `build`, which only builds and measures the graph and is intended for large
//! counts.
//!
//! Environment variables: `HIPPOD_BENCH_VECTORS` (a raw little-endian f32 file or a `.npy` file; without it, the
//! vectors are synthetic), `HIPPOD_BENCH_DIMENSION` (default 384), `HIPPOD_BENCH_COUNT` (default 100,000; if the file
//! has fewer rows, the others are mixtures of its rows), `HIPPOD_BENCH_QUERIES` (default 300), `HIPPOD_BENCH_M`,
//! `HIPPOD_BENCH_EFC`.

mod data;

use std::env;
use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use data::{Dataset, env_number};
use hippo_store::vector::{PreparedQuery, VectorIndex, VectorParams};

const K: usize = 10;

fn main() -> io::Result<()> {
    let mut parts: Vec<String> = env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    if parts.is_empty() {
        parts.push("table".into());
    }
    let vectors = Dataset::from_environment()?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} vectors of {} dimensions ({}), {} queries, k = {K}",
        vectors.len(),
        vectors.dimension,
        vectors.origin,
        vectors.queries.len()
    )?;
    for part in &parts {
        match part.as_str() {
            "table" => table(&vectors, &mut out)?,
            "filters" => filters(&vectors, &mut out)?,
            "crossover" => crossover(&vectors, &mut out)?,
            "build" => build(&vectors, &mut out)?,
            other => writeln!(out, "no such part {other}: table, filters, crossover, build")?,
        }
    }
    Ok(())
}

fn params(exact_below: usize, ef_search: usize) -> VectorParams {
    let default = VectorParams::default();
    VectorParams {
        exact_below,
        ef_search,
        m: env_number("HIPPOD_BENCH_M", default.m),
        ef_construction: env_number("HIPPOD_BENCH_EFC", default.ef_construction),
        ..default
    }
}

fn filled(vectors: &Dataset, params: VectorParams) -> VectorIndex {
    let mut index = VectorIndex::with_params(vectors.dimension, params);
    for id in 0..vectors.len() {
        index
            .insert(id as u32, vectors.row(id))
            .expect("the vectors have unit length");
    }
    index
}

/// Builds the graph of an index. Returns the duration in seconds.
fn build_graph(index: &mut VectorIndex) -> f64 {
    let start = Instant::now();
    let built = index
        .snapshot_for_build()
        .run(&AtomicBool::new(false))
        .expect("the build is not cancelled");
    assert!(index.install(built));
    start.elapsed().as_secs_f64()
}

struct Trial {
    answers: Vec<Vec<u32>>,
    times: Vec<Duration>,
}

fn run(vectors: &Dataset, mut search: impl FnMut(&[f32]) -> Vec<u32>) -> Trial {
    for query in vectors.queries.iter().take(20) {
        search(query);
    }
    let mut run = Trial {
        answers: Vec::new(),
        times: Vec::new(),
    };
    for query in &vectors.queries {
        let start = Instant::now();
        let answer = search(query);
        run.times.push(start.elapsed());
        run.answers.push(answer);
    }
    run.times.sort_unstable();
    run
}

fn run_index(vectors: &Dataset, index: &VectorIndex, filter: Option<&(dyn Fn(u32) -> bool + Sync)>) -> Trial {
    let rescore = |ids: &[u32]| {
        ids.iter()
            .map(|&id| Some(vectors.row(id as usize).to_vec()))
            .collect::<Vec<_>>()
    };
    run(vectors, |query| {
        let hits = index
            .search(
                &PreparedQuery::new(query).expect("the queries have unit length"),
                K,
                filter,
                &rescore,
            )
            .expect("the queries have unit length");
        hits.into_iter().map(|(id, _)| id).collect()
    })
}

impl Trial {
    fn quantile(&self, q: f64) -> f64 {
        self.times[((self.times.len() - 1) as f64 * q) as usize].as_secs_f64() * 1e3
    }

    fn recall(&self, truth: &[Vec<u32>]) -> f64 {
        let found: usize = self
            .answers
            .iter()
            .zip(truth)
            .map(|(a, t)| t.iter().filter(|id| a.contains(id)).count())
            .sum();
        found as f64 / truth.iter().map(Vec::len).sum::<usize>().max(1) as f64
    }
}

struct BenchTable<'a> {
    out: &'a mut dyn Write,
    truth: Vec<Vec<u32>>,
    reference: f64,
}

impl BenchTable<'_> {
    fn head(&mut self) -> io::Result<()> {
        writeln!(
            self.out,
            "\n{:<40} {:>9} {:>8} {:>8} {:>8} {:>9} {:>10} {:>9}",
            "method", "recall@10", "p5 ms", "p50 ms", "p95 ms", "build s", "memory MB", "/ f32"
        )
    }

    fn row(&mut self, name: &str, run: &Trial, build: Option<f64>, bytes: usize) -> io::Result<()> {
        let build = build.map_or_else(|| "-".into(), |s| format!("{s:.1}"));
        writeln!(
            self.out,
            "{name:<40} {:>9.4} {:>8.3} {:>8.3} {:>8.3} {build:>9} {:>10.1} {:>9.3}",
            run.recall(&self.truth),
            run.quantile(0.05),
            run.quantile(0.5),
            run.quantile(0.95),
            bytes as f64 / 1e6,
            run.quantile(0.5) / self.reference,
        )?;
        self.out.flush()
    }
}

fn table(vectors: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let f32_bytes = 4 * vectors.rows.len();
    let reference = run(vectors, |query| data::exact_f32(vectors, query, K, |_| true));
    let mut table = BenchTable {
        out,
        truth: reference.answers.clone(),
        reference: reference.quantile(0.5),
    };
    table.head()?;
    table.row("exact f32, vectorised, one thread", &reference, None, f32_bytes)?;

    let start = Instant::now();
    let mut index = filled(vectors, params(usize::MAX, 0));
    let fill = start.elapsed().as_secs_f64();
    for threads in [1, 2] {
        index.set_params(VectorParams {
            scan_threads: threads,
            ..params(usize::MAX, 0)
        });
        let run = run_index(vectors, &index, None);
        table.row(
            &format!("index: exact scan, {threads} threads"),
            &run,
            Some(fill),
            index.memory_bytes(),
        )?;
    }
    index.set_params(VectorParams::default());
    let chosen = if index.needs_rebuild() {
        build_graph(&mut index)
    } else {
        fill
    };
    let path = if index.uses_graph() { "graph" } else { "exact" };
    let run = run_index(vectors, &index, None);
    table.row(
        &format!("index: automatically chosen path ({path})"),
        &run,
        Some(chosen),
        index.memory_bytes(),
    )?;

    index.set_params(params(0, 0));
    let seconds = build_graph(&mut index);
    for ef in [200, 300, 400] {
        index.set_params(params(0, ef));
        let run = run_index(vectors, &index, None);
        table.row(
            &format!("index: graph, ef {ef}"),
            &run,
            Some(seconds),
            index.memory_bytes(),
        )?;
    }
    #[cfg(feature = "bench-usearch")]
    usearch_rows(vectors, &mut table)?;
    Ok(())
}

#[cfg(feature = "bench-usearch")]
fn usearch_rows(vectors: &Dataset, table: &mut BenchTable<'_>) -> io::Result<()> {
    use usearch::{Index, IndexOptions, MetricKind, ScalarKind};
    for (name, quantization) in [
        ("f32", ScalarKind::F32),
        ("f16", ScalarKind::F16),
        ("i8", ScalarKind::I8),
    ] {
        let options = IndexOptions {
            dimensions: vectors.dimension,
            metric: MetricKind::Cos,
            quantization,
            connectivity: 16,
            expansion_add: 128,
            expansion_search: 64,
            ..IndexOptions::default()
        };
        let index = Index::new(&options).map_err(io::Error::other)?;
        index.reserve(vectors.len()).map_err(io::Error::other)?;
        let start = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let index = &index;
                scope.spawn(move || {
                    for id in (thread..vectors.len()).step_by(2) {
                        index
                            .add(id as u64, vectors.row(id))
                            .expect("usearch accepts the vector");
                    }
                });
            }
        });
        let seconds = start.elapsed().as_secs_f64();
        for ef in [64, 128, 256] {
            index.change_expansion_search(ef);
            let run = run(vectors, |query| {
                let matches = index.search(query, K).expect("usearch answers");
                matches.keys.into_iter().map(|key| key as u32).collect()
            });
            let name = format!("usearch {name}, ef {ef}");
            table.row(&name, &run, Some(seconds), index.memory_usage())?;
        }
    }
    Ok(())
}

fn filters(vectors: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let mut index = filled(vectors, params(0, params(0, 0).ef_search));
    let seconds = build_graph(&mut index);
    for percent in [100u32, 50, 30, 20, 10, 5, 1] {
        let passes = move |id: u32| id.wrapping_mul(2_654_435_761) >> 16 & 0xFFFF < 65_536 / 100 * percent;
        let reference = run(vectors, |query| data::exact_f32(vectors, query, K, passes));
        let mut table = BenchTable {
            out,
            truth: reference.answers.clone(),
            reference: reference.quantile(0.5),
        };
        if percent == 100 {
            table.head()?;
        }
        let default = VectorParams::default();
        for (name, exact_below, rate) in [("exact", usize::MAX, 1.0), ("graph", 0, 0.0)] {
            index.set_params(VectorParams {
                exact_below,
                graph_pass_rate: rate,
                ..default.clone()
            });
            let run = run_index(vectors, &index, Some(&passes));
            let name = format!("{name}, filter passes {percent} %");
            table.row(&name, &run, Some(seconds), index.memory_bytes())?;
        }
    }
    Ok(())
}

fn crossover(vectors: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let ef = env_number("HIPPOD_BENCH_EF", VectorParams::default().ef_search);
    for count in [10_000, 25_000, 50_000, 100_000, 200_000, 300_000] {
        if count > vectors.len() {
            break;
        }
        let part = vectors.first(count);
        let reference = run(&part, |query| data::exact_f32(&part, query, K, |_| true));
        let mut table = BenchTable {
            out,
            truth: reference.answers.clone(),
            reference: reference.quantile(0.5),
        };
        table.head()?;
        let mut index = filled(&part, params(0, ef));
        let seconds = build_graph(&mut index);
        let run = run_index(&part, &index, None);
        table.row(
            &format!("{count}: graph, ef {ef}"),
            &run,
            Some(seconds),
            index.memory_bytes(),
        )?;
        for threads in [1, 2] {
            index.set_params(VectorParams {
                scan_threads: threads,
                ..params(usize::MAX, ef)
            });
            let run = run_index(&part, &index, None);
            table.row(
                &format!("{count}: exact, {threads} threads"),
                &run,
                None,
                index.memory_bytes(),
            )?;
        }
    }
    Ok(())
}

fn build(vectors: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let reference = run(vectors, |query| data::exact_f32(vectors, query, K, |_| true));
    let before = data::resident_bytes();
    data::reset_peak();
    let mut index = filled(vectors, params(0, 200));
    let filled = data::resident_bytes();
    let seconds = build_graph(&mut index);
    let (after, peak) = (data::resident_bytes(), data::peak_bytes());
    let mut table = BenchTable {
        out,
        truth: reference.answers.clone(),
        reference: reference.quantile(0.5),
    };
    table.head()?;
    table.row(
        "exact f32, vectorised, one thread",
        &reference,
        None,
        4 * vectors.rows.len(),
    )?;
    for ef in [200, 300, 400, 600] {
        index.set_params(params(0, ef));
        let run = run_index(vectors, &index, None);
        table.row(
            &format!("index: graph, ef {ef}"),
            &run,
            Some(seconds),
            index.memory_bytes(),
        )?;
    }
    index.set_params(params(usize::MAX, 0));
    let run = run_index(vectors, &index, None);
    table.row("index: exact scan", &run, None, index.memory_bytes())?;
    let mb = |bytes: usize| bytes.saturating_sub(before) as f64 / 1e6;
    writeln!(
        table.out,
        "resident memory without the f32 vectors of this benchmark: {:.0} MB after filling, {:.0} MB at the \
         peak of the graph build, {:.0} MB after the build",
        mb(filled),
        mb(peak),
        mb(after)
    )
}
