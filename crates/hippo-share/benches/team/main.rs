//! Load, search and publication with many passages, 20 writers and 100 readers, on a server that the benchmark starts.
//!
//! `cargo bench -p hippo-share --bench team -- --eval DIR [--passages N]` reads the sentences of all text files below
//! `DIR`, and recombines them. The vector of a passage is the normalized sum of one random vector for each of its sentences
//! and of noise: it has the size and the neighbourhoods of an embedding, but is not one.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../../../../tests/postgres.rs"]
mod postgres;

mod data;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_share::device::DeviceKey;
use hippo_share::publish::Publisher;
use hippo_share::record::{LocalPassage, OutgoingDocument, WorkspaceIdentity, prepare};
use hippo_share::schema::{TeamPlan, init};
use hippo_share::search::SharedQuery;
use hippo_share::{PasswordSource, ServerConnection, ServerSettings, connect};
use hippo_text::chunk::Speaker;
use hippo_text::terms::query_terms;

use data::{Dice, combine, read_sentences};
use postgres::Postgres;

/// Maximum time of a single wait of the server's start.
const PATIENCE: Duration = Duration::from_secs(120);
const WRITERS: usize = 20;
const READERS: usize = 100;
const PER_DOCUMENT: usize = 20;
const DOCUMENTS_PER_BATCH: usize = 25;
/// Searches of each reader.
const SEARCHES: usize = 10;
/// Questions whose answers are compared with exact ones.
const COMPARED: usize = 100;
const TOP: usize = 10;
/// Number of passages for each sentence. Then each question has more near passages than [`TOP`].
const PASSAGES_PER_SENTENCE: usize = 20;
const MODEL: &str = "benchmark";

/// A writer or reader with an own login-independent device.
struct Member {
    key: Arc<DeviceKey>,
    workspace: WorkspaceIdentity,
    connection: ServerConnection,
    sentences: Arc<Vec<String>>,
    dice: Dice,
}

impl Member {
    async fn new(
        settings: &ServerSettings,
        folder: &Path,
        sentences: &Arc<Vec<String>>,
        number: usize,
    ) -> Self {
        Self {
            key: Arc::new(DeviceKey::load(&folder.join(format!("{number}.key"))).unwrap()),
            workspace: WorkspaceIdentity {
                id: format!("w{number}"),
                name: format!("workspace-{number}"),
            },
            connection: connect(settings).await.unwrap(),
            sentences: Arc::clone(sentences),
            dice: Dice(number as u64),
        }
    }

    fn document(&mut self, name: usize) -> OutgoingDocument {
        let passages = (0..PER_DOCUMENT).map(|at| {
            let count = 2 + self.dice.below(2);
            let chosen: Vec<usize> = (0..count)
                .map(|_| self.dice.below(self.sentences.len()))
                .collect();
            let (text, vector) = combine(&self.sentences, &chosen, self.dice.next());
            LocalPassage {
                lines: (at as u32 + 1, at as u32 + 1),
                heading: vec!["Notes".to_owned()],
                day: Some("2026-03-02".to_owned()),
                speaker: Speaker::None,
                text,
                vector: Some((MODEL.to_owned(), vector)),
            }
        });
        let passages = passages.collect();
        let path = format!("memory/{name}.md");
        prepare(&self.key, "core", &self.workspace, (&path, [0; 32]), "", passages)
    }

    async fn publish(&mut self, documents: std::ops::Range<usize>) -> Duration {
        let documents: Vec<OutgoingDocument> = documents.map(|name| self.document(name)).collect();
        let publisher = Publisher {
            key: &self.key,
            device_name: "bench",
            team: "core",
            workspace: &self.workspace,
        };
        let begun = Instant::now();
        publisher.put(&mut self.connection, &documents).await.unwrap();
        begun.elapsed()
    }

    fn query(&mut self, by_words: bool) -> SharedQuery {
        let chosen = self.dice.below(self.sentences.len());
        let (text, vector) = combine(&self.sentences, &[chosen], self.dice.next());
        let terms = query_terms(&text).into_iter().filter(|term| !term.stop);
        SharedQuery {
            team: "core".to_owned(),
            terms: terms.filter(|_| by_words).map(|term| term.term).take(8).collect(),
            vector: Some((MODEL.to_owned(), vector)),
            device: self.key.public().to_vec(),
            workspace: self.workspace.id.clone(),
        }
    }

    async fn search(&mut self) -> Duration {
        let query = self.query(true);
        let begun = Instant::now();
        self.connection.search(&query, PATIENCE).await.unwrap();
        begun.elapsed()
    }
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    format!("p50 {:.1} ms, p95 {:.1} ms", at(50), at(95))
}

/// Searches with this number of readers at the same time.
async fn read_together(members: Vec<Member>) -> (Vec<Member>, Vec<Duration>) {
    let tasks: Vec<_> = members
        .into_iter()
        .map(|mut member| {
            tokio::spawn(async move {
                let mut times = Vec::new();
                for _ in 0..SEARCHES {
                    times.push(member.search().await);
                }
                (member, times)
            })
        })
        .collect();
    let (mut members, mut all) = (Vec::new(), Vec::new());
    for task in tasks {
        let (member, times) = task.await.unwrap();
        members.push(member);
        all.extend(times);
    }
    (members, all)
}

/// Publishes documents with all writers at the same time. Returns the times of the transactions.
async fn write_together(
    writers: Vec<Member>,
    names: std::ops::Range<usize>,
    batch: usize,
) -> (Vec<Member>, Vec<Duration>) {
    let tasks: Vec<_> = writers
        .into_iter()
        .map(|mut writer| {
            let names = names.clone();
            tokio::spawn(async move {
                let mut times = Vec::new();
                for first in names.clone().step_by(batch) {
                    times.push(writer.publish(first..(first + batch).min(names.end)).await);
                }
                (writer, times)
            })
        })
        .collect();
    let (mut writers, mut all) = (Vec::new(), Vec::new());
    for task in tasks {
        let (writer, times) = task.await.unwrap();
        writers.push(writer);
        all.extend(times);
    }
    (writers, all)
}

fn vector_text(vector: &[f32]) -> String {
    format!("{vector:?}")
}

/// Returns the share of the exact nearest passages that the search by vector finds.
async fn recall(server: &Postgres, member: &mut Member) -> f64 {
    let mut found = 0;
    for _ in 0..COMPARED {
        let query = member.query(false);
        let vector = vector_text(&query.vector.as_ref().unwrap().1);
        let exact = format!(
            "SET enable_indexscan = off; SELECT text FROM hippod.passages_core ORDER BY vector <=> '{vector}' LIMIT {TOP}"
        );
        let exact = server.query("postgres", &exact).unwrap();
        let mut answer = member.connection.search(&query, PATIENCE).await.unwrap().passages;
        answer.sort_by(|one, other| other.cosine.unwrap().total_cmp(&one.cosine.unwrap()));
        let best: Vec<&str> = answer
            .iter()
            .take(TOP)
            .map(|passage| passage.text.as_str())
            .collect();
        found += exact.lines().filter(|text| best.contains(text)).count();
    }
    found as f64 / (COMPARED * TOP) as f64
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let Some(eval) = value("--eval") else {
        println!("usage: cargo bench -p hippo-share --bench team -- --eval DIR [--passages N]");
        return;
    };
    let passages: usize = value("--passages").map_or(1_000_000, |text| text.parse().unwrap());
    let mut sentences = Vec::new();
    read_sentences(Path::new(&eval), &mut sentences);
    sentences.sort_unstable();
    sentences.dedup();
    let step = (sentences.len() * PASSAGES_PER_SENTENCE / passages).max(1);
    let sentences: Vec<String> = sentences.into_iter().step_by(step).collect();
    println!("{} different sentences", sentences.len());
    let Some(mut server) = Postgres::start() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(measure(&mut server, Arc::new(sentences), passages));
}

async fn measure(server: &mut Postgres, sentences: Arc<Vec<String>>, passages: usize) {
    for setting in [
        "max_connections = 200",
        "shared_buffers = '4GB'",
        "maintenance_work_mem = '4GB'",
        "max_wal_size = '2GB'",
    ] {
        server
            .query("postgres", &format!("ALTER SYSTEM SET {setting}"))
            .unwrap();
    }
    server.add_logins(&["ada"]);
    let folder = tempfile::tempdir().unwrap();
    server.kill();
    server.run();
    let server: &Postgres = server;
    let settings = |login: &str| {
        let path = folder.path().join(login);
        std::fs::write(&path, Postgres::password(login)).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        ServerSettings {
            url: server.url(login),
            password: PasswordSource::File(path),
            ca_file: None,
        }
    };
    let plan = TeamPlan {
        team: "core".to_owned(),
        writers: vec!["ada".to_owned()],
        readers: Vec::new(),
    };
    init(&settings("postgres"), &plan).await.unwrap();
    let own = settings("ada");
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        writers.push(Member::new(&own, folder.path(), &sentences, number).await);
    }
    let sql = |sql: &str| server.query("postgres", sql).unwrap();
    // A bulk load is faster without the indexes of the searches.
    let indexes = sql(
        "SELECT indexrelid::regclass || '|' || pg_get_indexdef(indexrelid) FROM pg_index
                       JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
                       WHERE indrelid = 'hippod.passages'::regclass AND amname IN ('gin', 'hnsw')",
    );
    for index in indexes.lines() {
        sql(&format!("DROP INDEX {}", index.split('|').next().unwrap()));
    }
    let begun = Instant::now();
    let each = passages / PER_DOCUMENT / WRITERS;
    let (mut writers, _) = write_together(writers, 0..each, DOCUMENTS_PER_BATCH).await;
    println!(
        "load of {} passages by {WRITERS} writers, without indexes: {:.0} s",
        sql("SELECT count(*) FROM hippod.passages"),
        begun.elapsed().as_secs_f64()
    );
    let begun = Instant::now();
    for index in indexes.lines() {
        let definition = index.split('|').nth(1).unwrap().replace("ON ONLY", "ON");
        sql(&format!("SET max_parallel_maintenance_workers = 2; {definition}"));
        println!(
            "index built after {:.0} s: {definition}",
            begun.elapsed().as_secs_f64()
        );
    }
    sql("VACUUM ANALYZE hippod.passages");
    println!("indexes and statistics: {:.0} s", begun.elapsed().as_secs_f64());
    println!(
        "size of the team: {}",
        sql("SELECT pg_size_pretty(pg_total_relation_size('hippod.passages_core'))")
    );
    println!(
        "{}",
        sql(
            "SELECT string_agg(relname || ' ' || pg_size_pretty(pg_relation_size(oid)), ', ') FROM pg_class WHERE relname LIKE 'passages_core%'"
        )
    );
    let mut reader = Member::new(&own, folder.path(), &sentences, 1000).await;
    println!(
        "recall@{TOP} of the vector index against exact search: {:.3}",
        recall(server, &mut reader).await
    );
    let mut readers = vec![reader];
    let warm;
    (readers, warm) = read_together(readers).await;
    drop(warm);
    let times;
    (readers, times) = read_together(readers).await;
    println!("search, 1 reader: {}", percentiles(times));
    for number in 1..READERS {
        readers.push(Member::new(&own, folder.path(), &sentences, 1000 + number).await);
    }
    let begun = Instant::now();
    let (_, times) = read_together(readers).await;
    let rate = times.len() as f64 / begun.elapsed().as_secs_f64();
    println!(
        "search, {READERS} readers: {}, {rate:.0} searches per second",
        percentiles(times)
    );
    let begun = Instant::now();
    let times = vec![
        writers[0].publish(each..each + 1).await,
        writers[0].publish(each + 1..each + 2).await,
    ];
    println!(
        "publish of one document of {PER_DOCUMENT} passages, 1 writer: {}",
        percentiles(times)
    );
    let (_, times) = write_together(writers, each + 10..each + 20, 1).await;
    let rate = (times.len() * PER_DOCUMENT) as f64 / begun.elapsed().as_secs_f64();
    println!(
        "publish of one document, {WRITERS} writers: {}, {rate:.0} passages per second",
        percentiles(times)
    );
}
