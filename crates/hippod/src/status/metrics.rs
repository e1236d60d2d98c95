//! Prometheus text format for `metrics`.
//!
//! The text is written without a library. The maintained libraries write OpenMetrics, which names counters differently
//! and ends with a marker. Collectors of the older text format, such as the textfile collector of node_exporter,
//! reject that marker.

use std::fmt::Write as _;
use std::path::Path;

use hippo_proto::{MetricsResponse, ModelLoad, WorkspaceStatus};

use super::StatusReporter;
use crate::registry;

/// Name and help of a metric of each workspace, and the function that returns its value.
type WorkspaceMetric = (&'static str, &'static str, fn(&WorkspaceStatus) -> f64);

#[rustfmt::skip] // keep the table compact
const OF_WORKSPACES: [WorkspaceMetric; 7] = [
    ("hippod_documents", "Watched files in the index.", |of| of.documents as f64),
    ("hippod_pending_embeddings", "Chunks that wait for their vectors.", |of| of.pending as f64),
    ("hippod_index_lag_seconds", "Age of the oldest change that is not searchable yet; 0 if there is none.", |of| of.lag_ms as f64 / 1000.0),
    ("hippod_held_deletions", "Deletions held back because they affect a large share of the workspace.", |of| of.held_deletions as f64),
    ("hippod_watcher_alive", "1 if the watcher reported the last test file in time.", |of| flag(of.watcher.alive)),
    ("hippod_database_bytes", "Size of the index database and its log, in bytes.", |of| of.database_bytes as f64),
    ("hippod_degraded", "1 if the workspace is degraded; the reason is a label.", |of| flag(of.degraded.is_some())),
];

/// Handles `metrics`.
pub async fn metrics(reporter: &StatusReporter) -> MetricsResponse {
    let status = super::status(reporter).await;
    let measures = &reporter.measures;
    let mut text = String::new();
    let usable = !matches!(status.model.state, ModelLoad::Absent | ModelLoad::Failed);
    let one = |value: f64| [(String::new(), value)];
    let help = "Time since the daemon started.";
    let uptime = status.uptime_ms as f64 / 1000.0;
    write_family(&mut text, "hippod_uptime_seconds", help, one(uptime));
    let help = "Longest time that the engine has spent on one task since the start.";
    let longest = measures.longest_engine_slice().as_secs_f64();
    write_family(
        &mut text,
        "hippod_engine_longest_slice_seconds",
        help,
        one(longest),
    );
    let help = "1 unless the embedding model is missing or could not be loaded.";
    write_family(&mut text, "hippod_model_usable", help, one(flag(usable)));
    let requests = measures.requests().into_iter().map(|((method, outcome), count)| {
        let labels = format!("{{method=\"{method}\",outcome=\"{outcome}\"}}");
        (labels, count as f64)
    });
    let help = "Requests answered since the start, by method and outcome.";
    write_family(&mut text, "hippod_requests_total", help, requests);
    let cycles = measures.cycles().into_iter().map(|((cycle, outcome), count)| {
        let labels = format!("{{cycle=\"{cycle}\",outcome=\"{outcome}\"}}");
        (labels, count as f64)
    });
    let help = "Runs of consolidation cycles since the start, by cycle and outcome.";
    write_family(&mut text, "hippod_cycles_total", help, cycles);

    for (name, help, value) in OF_WORKSPACES {
        let samples = status.workspaces.iter().map(|of| {
            let id = registry::short_id(Path::new(&of.root));
            let reason = match name {
                "hippod_degraded" => format!(",reason=\"{}\"", of.degraded.as_deref().unwrap_or("none")),
                _ => String::new(),
            };
            (format!("{{workspace=\"{id}\"{reason}}}"), value(of))
        });
        write_family(&mut text, name, help, samples);
    }
    MetricsResponse { text }
}

fn flag(is_set: bool) -> f64 {
    f64::from(u8::from(is_set))
}

/// Writes a metric family. Labels need no escaping, because their values are ids and words of hippod.
fn write_family(text: &mut String, name: &str, help: &str, samples: impl IntoIterator<Item = (String, f64)>) {
    let kind = if name.ends_with("_total") {
        "counter"
    } else {
        "gauge"
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for (labels, value) in samples {
        let _ = writeln!(text, "{name}{labels} {value}");
    }
}
