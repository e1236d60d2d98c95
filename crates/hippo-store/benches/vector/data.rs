//! Vectors of the benchmark, exact search, and memory use.

use std::env;
use std::fs;
use std::io;

use multiversion::multiversion;

/// Unit-length vectors in rows, and queries that are not among the rows.
pub struct Dataset {
    pub dimension: usize,
    pub rows: Vec<f32>,
    pub queries: Vec<Vec<f32>>,
    pub origin: &'static str,
}

/// Reads a number from an environment variable; without the variable, returns `default`.
pub fn env_number(name: &str, default: usize) -> usize {
    env::var(name)
        .ok()
        .and_then(|v| v.replace('_', "").parse().ok())
        .unwrap_or(default)
}

impl Dataset {
    pub fn from_environment() -> io::Result<Self> {
        let count = env_number("HIPPOD_BENCH_COUNT", 100_000);
        let queries = env_number("HIPPOD_BENCH_QUERIES", 300);
        let dimension = env_number("HIPPOD_BENCH_DIMENSION", 384);
        match env::var_os("HIPPOD_BENCH_VECTORS") {
            Some(path) => Ok(Self::from_rows(read(&fs::read(path)?), dimension, count, queries)),
            None => Ok(Self::synthetic(dimension, count, queries)),
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.dimension
    }

    pub fn row(&self, id: usize) -> &[f32] {
        &self.rows[id * self.dimension..(id + 1) * self.dimension]
    }

    /// Returns a copy with only the first `count` rows.
    pub fn first(&self, count: usize) -> Self {
        Self {
            dimension: self.dimension,
            rows: self.rows[..count * self.dimension].to_vec(),
            queries: self.queries.clone(),
            origin: self.origin,
        }
    }

    /// Shuffles the rows and uses the last ones as queries. If there are too few rows, creates new ones: each is a
    /// mixture of two rows with a little noise.
    fn from_rows(all: Vec<f32>, dimension: usize, count: usize, queries: usize) -> Self {
        let mut random = BenchRandom(7);
        let mut order: Vec<usize> = (0..all.len() / dimension).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        let row = |i: usize| &all[i * dimension..(i + 1) * dimension];
        let held_out = order.split_off(order.len() - queries.min(order.len() / 10));
        let queries = held_out.iter().map(|&i| unit(row(i).to_vec())).collect();
        let mut rows = Vec::with_capacity(count * dimension);
        for &i in order.iter().take(count) {
            rows.extend(unit(row(i).to_vec()));
        }
        let real = rows.len() / dimension;
        for _ in real..count {
            let (a, b) = (order[random.below(order.len())], order[random.below(order.len())]);
            let share = 0.15 + 0.2 * random.uniform();
            let mixed: Vec<f32> = row(a)
                .iter()
                .zip(row(b))
                .map(|(x, y)| x * (1.0 - share) + y * share + 0.008 * random.normal())
                .collect();
            rows.extend(unit(mixed));
        }
        let origin = if real < count {
            "real, and mixtures of real ones"
        } else {
            "real"
        };
        Self {
            dimension,
            rows,
            queries,
            origin,
        }
    }

    /// Returns synthetic vectors in clusters of unequal size. The centres vary in 48 common directions, and each
    /// cluster varies around its centre in 24 directions.
    fn synthetic(dimension: usize, count: usize, queries: usize) -> Self {
        let mut random = BenchRandom(42);
        let directions = |n: usize, random: &mut BenchRandom| -> Vec<Vec<f32>> {
            (0..n)
                .map(|_| unit((0..dimension).map(|_| random.normal()).collect()))
                .collect()
        };
        let shared = directions(48, &mut random);
        let local = directions(512, &mut random);
        let centres: Vec<Vec<f32>> = (0..2000)
            .map(|_| {
                let mut centre = vec![0.0; dimension];
                shared.iter().for_each(|d| add(&mut centre, d, random.normal()));
                unit(centre)
            })
            .collect();
        let mut draw = || {
            let u = random.uniform();
            let cluster = (u * u * centres.len() as f32) as usize % centres.len();
            let mut vector = centres[cluster].clone();
            for j in 0..24 {
                add(
                    &mut vector,
                    &local[(cluster * 31 + j * 17) % local.len()],
                    0.16 * random.normal(),
                );
            }
            vector.iter_mut().for_each(|x| *x += 0.012 * random.normal());
            unit(vector)
        };
        let queries = (0..queries).map(|_| draw()).collect();
        let mut rows = Vec::with_capacity(count * dimension);
        (0..count).for_each(|_| rows.extend(draw()));
        Self {
            dimension,
            rows,
            queries,
            origin: "synthetic clusters",
        }
    }
}

fn add(to: &mut [f32], direction: &[f32], factor: f32) {
    to.iter_mut().zip(direction).for_each(|(x, d)| *x += factor * d);
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

/// Parses raw little-endian floats or the body of a `.npy` file.
fn read(bytes: &[u8]) -> Vec<f32> {
    let body = match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _, a, b, ..] => {
            &bytes[10 + usize::from(u16::from_le_bytes([*a, *b]))..]
        }
        _ => bytes,
    };
    body.as_chunks::<4>()
        .0
        .iter()
        .map(|b| f32::from_le_bytes(*b))
        .collect()
}

/// A small random generator (xorshift64*), so that the vectors are the same on every machine.
struct BenchRandom(u64);

impl BenchRandom {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.uniform()).sum::<f32>() - 6.0
    }
}

/// Returns the `k` nearest rows by brute force over f32.
pub fn exact_f32(vectors: &Dataset, query: &[f32], k: usize, passes: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut scores = vec![0.0f32; vectors.len()];
    dots(&vectors.rows, query, &mut scores);
    let mut best: Vec<(f32, u32)> = Vec::with_capacity(k + 1);
    for (id, &score) in scores.iter().enumerate() {
        if (best.len() < k || score > best[best.len() - 1].0) && passes(id as u32) {
            let at = best.partition_point(|(s, _)| *s >= score);
            best.insert(at, (score, id as u32));
            best.truncate(k);
        }
    }
    best.into_iter().map(|(_, id)| id).collect()
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2+fma"))]
fn dots(rows: &[f32], query: &[f32], out: &mut [f32]) {
    for (row, out) in rows.chunks_exact(query.len()).zip(out) {
        let mut acc = [0.0f32; 32];
        let (a, a_rest) = row.as_chunks::<32>();
        let (b, b_rest) = query.as_chunks::<32>();
        for (x, y) in a.iter().zip(b) {
            for i in 0..32 {
                acc[i] += x[i] * y[i];
            }
        }
        *out = acc.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f32>();
    }
}

/// Returns the resident memory of this process; 0 where the system does not report it.
pub fn resident_bytes() -> usize {
    status("VmRSS:")
}

/// Returns the peak resident memory since the last [`reset_peak`].
pub fn peak_bytes() -> usize {
    status("VmHWM:")
}

pub fn reset_peak() {
    // If this write fails, the peak includes earlier memory use.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn status(field: &str) -> usize {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix(field)).unwrap_or("0");
    1024 * line
        .trim()
        .trim_end_matches("kB")
        .trim()
        .parse::<usize>()
        .unwrap_or(0)
}
