//! Prometheus text format for `metrics`.
//!
//! The format is written by hand: the maintained libraries write OpenMetrics, which names counters
//! differently and ends in a marker that collectors of the older text format (such as files of node_exporter)
//! reject.

use std::fmt::Write as _;
use std::path::Path;

use hippo_proto::{MetricsResponse, ModelLoad, StatusResponse, WorkspaceStatus};

use super::StatusReporter;
use crate::measures::BUCKETS;
use crate::registry;

/// Handles `metrics`.
pub async fn metrics(reporter: &StatusReporter) -> MetricsResponse {
    let status = super::status(reporter).await;
    let mut page = Page::default();
    of_daemon(&mut page, &status);
    page.single(
        "hippod_engine_longest_slice_seconds",
        GAUGE,
        "Longest time since the start that the engine spent on one task.",
        reporter.measures.longest_engine_slice().as_secs_f64(),
    );
    of_requests(&mut page, reporter);
    of_model(&mut page, &status);
    let workspaces: Vec<MetricsWorkspace<'_>> = status
        .workspaces
        .iter()
        .map(|of| MetricsWorkspace {
            id: registry::short_id(Path::new(&of.root)),
            of,
        })
        .collect();
    of_workspaces(&mut page, &workspaces);
    of_index(&mut page, &workspaces);
    of_disk(&mut page, &workspaces);
    MetricsResponse { text: page.text }
}

fn of_daemon(page: &mut Page, status: &StatusResponse) {
    page.family("hippod_build_info", GAUGE, "Always 1; the version is a label.");
    page.sample("hippod_build_info", &[("version", &status.version)], 1.0);
    page.single(
        "hippod_uptime_seconds",
        GAUGE,
        "Time since the daemon started.",
        status.uptime_ms as f64 / 1000.0,
    );
    page.single(
        "hippod_resident_memory_bytes",
        GAUGE,
        "Resident memory of the process; 0 if the platform does not report it.",
        status.memory_rss_bytes as f64,
    );
    page.single(
        "hippod_workspaces",
        GAUGE,
        "Registered workspaces.",
        status.workspaces.len() as f64,
    );
}

fn of_requests(page: &mut Page, reporter: &StatusReporter) {
    let requests = reporter.measures.requests();
    let name = "hippod_requests_total";
    page.family(
        name,
        COUNTER,
        "Requests answered since the start, by method and outcome.",
    );
    for ((method, outcome), timing) in &requests {
        page.sample(
            name,
            &[("method", method), ("outcome", outcome)],
            timing.count as f64,
        );
    }
    let name = "hippod_request_duration_seconds";
    page.family(name, "histogram", "Time from a request to its answer.");
    for ((method, outcome), timing) in &requests {
        let (buckets, labels) = (
            format!("{name}_bucket"),
            [("method", *method), ("outcome", outcome)],
        );
        let mut below = 0;
        for (bound, class) in BUCKETS.iter().zip(timing.classes) {
            below += class;
            let bound = bound.to_string();
            page.sample(&buckets, &[labels[0], labels[1], ("le", &bound)], below as f64);
        }
        page.sample(
            &buckets,
            &[labels[0], labels[1], ("le", "+Inf")],
            timing.count as f64,
        );
        page.sample(&format!("{name}_sum"), &labels, timing.seconds);
        page.sample(&format!("{name}_count"), &labels, timing.count as f64);
    }
    let name = "hippod_cycles_total";
    page.family(
        name,
        COUNTER,
        "Runs of consolidation cycles since the start, by cycle and outcome.",
    );
    for ((cycle, outcome), count) in reporter.measures.cycles() {
        page.sample(name, &[("cycle", cycle), ("outcome", outcome)], count as f64);
    }
}

fn of_model(page: &mut Page, status: &StatusResponse) {
    let model = &status.model;
    page.single(
        "hippod_model_loaded",
        GAUGE,
        "1 while the embedding model is in memory.",
        f64::from(u8::from(model.state == ModelLoad::Ready)),
    );
    page.single(
        "hippod_model_usable",
        GAUGE,
        "1 unless the embedding model is absent or could not be loaded.",
        f64::from(u8::from(!matches!(
            model.state,
            ModelLoad::Absent | ModelLoad::Failed
        ))),
    );
    page.single(
        "hippod_model_loads_total",
        COUNTER,
        "Times the embedding model was loaded since the start.",
        model.loads as f64,
    );
    page.single(
        "hippod_model_word_pieces_total",
        COUNTER,
        "Word pieces sent through the embedding model since the start.",
        model.word_pieces as f64,
    );
}

/// A workspace with its id in the metrics.
struct MetricsWorkspace<'a> {
    id: String,
    of: &'a WorkspaceStatus,
}

fn of_workspaces(page: &mut Page, workspaces: &[MetricsWorkspace<'_>]) {
    page.each(
        "hippod_documents",
        "Watched files in the index.",
        workspaces,
        |of| of.documents as f64,
    );
    page.each("hippod_chunks", "Chunks in the index.", workspaces, |of| {
        of.chunks as f64
    });
    page.each(
        "hippod_pending_embeddings",
        "Chunks that wait for their vectors.",
        workspaces,
        |of| of.pending as f64,
    );
    page.each(
        "hippod_index_lag_seconds",
        "Age of the oldest change that is not searchable yet; 0 when there is none.",
        workspaces,
        |of| of.lag_ms as f64 / 1000.0,
    );
    page.each(
        "hippod_skipped_files",
        "Files that are not indexed.",
        workspaces,
        |of| of.skipped_count as f64,
    );
    page.each(
        "hippod_held_deletions",
        "Deletions held back because they affect a large share of the workspace.",
        workspaces,
        |of| of.held_deletions as f64,
    );
    page.each(
        "hippod_watcher_alive",
        "1 if the watcher noticed its last test file in time.",
        workspaces,
        |of| f64::from(u8::from(of.watcher.alive)),
    );
    let name = "hippod_degraded";
    page.family(
        name,
        GAUGE,
        "1 if the workspace is degraded; the reason is a label.",
    );
    for MetricsWorkspace { id, of } in workspaces {
        let reason = of.degraded.as_deref().unwrap_or("none");
        let is_degraded = f64::from(u8::from(of.degraded.is_some()));
        page.sample(name, &[("workspace", id), ("reason", reason)], is_degraded);
    }
}

fn of_index(page: &mut Page, workspaces: &[MetricsWorkspace<'_>]) {
    let name = "hippod_entries";
    page.family(name, GAUGE, "Entries of the index file, by place.");
    for MetricsWorkspace { id, of } in workspaces {
        let index = of.index.as_ref();
        for (place, count) in [
            (
                "index",
                index.map_or(0, |index| index.entries.saturating_sub(index.queued)),
            ),
            ("queue", index.map_or(0, |index| index.queued)),
            ("archive", index.map_or(0, |index| index.archived)),
        ] {
            page.sample(name, &[("workspace", id), ("place", place)], count as f64);
        }
    }
}

fn of_disk(page: &mut Page, workspaces: &[MetricsWorkspace<'_>]) {
    page.each(
        "hippod_database_bytes",
        "Bytes of the database of the index, with its log.",
        workspaces,
        |of| of.database_bytes as f64,
    );
    page.each(
        "hippod_contexts_stored_bytes",
        "Bytes used by the contents of sessions.",
        workspaces,
        |of| of.contexts.as_ref().map_or(0, |of| of.stored_bytes) as f64,
    );
    page.each(
        "hippod_contexts_budget_bytes",
        "Maximum bytes for the contents of sessions; 0 before the first session.",
        workspaces,
        |of| of.contexts.as_ref().map_or(0, |of| of.budget_bytes) as f64,
    );
    page.each(
        "hippod_contexts_entries",
        "Context entries of sessions.",
        workspaces,
        |of| of.contexts.as_ref().map_or(0, |of| of.entries) as f64,
    );
    page.each("hippod_sessions_open", "Open sessions.", workspaces, |of| {
        of.contexts.as_ref().map_or(0, |of| of.open) as f64
    });
}

const GAUGE: &str = "gauge";
const COUNTER: &str = "counter";

/// Text of the metrics.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    /// Writes the header of a metric family.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.text.push_str(name);
        for (at, (label, of)) in labels.iter().enumerate() {
            let mark = if at == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{mark}{label}=\"{}\"", escaped(of));
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    /// Writes a gauge with one sample for each workspace.
    fn each(
        &mut self,
        name: &str,
        help: &str,
        workspaces: &[MetricsWorkspace<'_>],
        value: impl Fn(&WorkspaceStatus) -> f64,
    ) {
        self.family(name, GAUGE, help);
        for MetricsWorkspace { id, of } in workspaces {
            self.sample(name, &[("workspace", id)], value(of));
        }
    }
}

/// Returns the value of a label with its special characters escaped.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_follow_the_exposition_format() {
        let mut page = Page::default();
        page.family("a_seconds", "histogram", "Time.");
        page.sample("a_seconds_bucket", &[("le", "0.005"), ("m", "x\"y\\z\n")], 3.0);
        page.single("b_total", COUNTER, "Count.", 0.25);
        assert_eq!(
            page.text,
            "# HELP a_seconds Time.\n# TYPE a_seconds histogram\na_seconds_bucket{le=\"0.005\",m=\"x\\\"y\\\\z\\n\"} 3\n\
             # HELP b_total Count.\n# TYPE b_total counter\nb_total 0.25\n"
        );
    }
}
