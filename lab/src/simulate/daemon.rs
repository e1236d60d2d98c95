//! A daemon in this process, on a manual clock.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, bail};
use hippo_proto::{
    Client, CycleHistoryRequest, CycleHistoryResponse, HeartbeatRequest, HeartbeatResponse, IndexEntry,
    IndexListRequest, IndexListResponse, IndexShowRequest, IndexShowResponse, Paths, Request, SearchRequest,
    SearchResponse, WorkspaceAddRequest, WorkspaceAddResponse, WorkspaceSyncRequest, WorkspaceSyncResponse,
};
use hippo_types::search::SearchMode;
use hippo_types::time::Timestamp;
use hippod::clock::{Clock, ManualClock};
use hippod::config::{Config, KeepTree, PollMode};
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::world::WorldFile;

/// Time limit of a request.
const PATIENCE: Duration = Duration::from_secs(300);
/// Seconds in a day.
const DAY_SECS: u64 = 86_400;
/// Maximum number of cycle runs in an answer. It is larger than the number of runs in a day.
const RUNS: u32 = 60;

/// A running daemon with one workspace in a temporary folder.
pub struct Daemon {
    clock: Arc<ManualClock>,
    /// Client, which is closed before the daemon stops.
    client: Option<Client>,
    root: PathBuf,
    /// Number of the last cycle run whose steps were read.
    run: i64,
    /// `true` if files were written since the last `workspace.sync`.
    unread: bool,
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<Result<()>>>,
    runtime: Runtime,
    /// Folder of the workspace, which is removed last.
    _folder: tempfile::TempDir,
}

impl Daemon {
    /// Starts a daemon whose workspace contains these files.
    ///
    /// # Errors
    /// Fails if the daemon does not start, or if a file cannot be written.
    pub fn start(now: Timestamp, change: impl FnOnce(&mut Config), files: &[WorldFile]) -> Result<Self> {
        let folder = tempfile::tempdir().context("could not create a temporary folder")?;
        let root = folder.path().join("workspace");
        fs::create_dir_all(&root).context("could not create the workspace")?;
        let paths = Paths::below(&folder.path().join("home"));
        let socket = paths.socket.clone();
        let mut config = Config::default();
        config.embed.model = "hash".to_owned();
        config.tree.keep = KeepTree::Never;
        // Only `workspace.sync` finds changes, so that two simulations find them in the same order.
        config.watch.poll = PollMode::Always;
        (config.watch.poll_secs, config.watch.reconcile_secs) = (3_600, DAY_SECS);
        // Light cycles run only twice a day, because a cycle takes longer to run than a day of questions.
        config.cycles.light = "0 4,23 * * *".to_owned();
        change(&mut config);
        let clock = Arc::new(ManualClock::new(now, jiff::tz::TimeZone::UTC));
        let options = hippod::DaemonOptions {
            config,
            paths,
            clock: clock.clone(),
            passed: None,
        };
        let runtime = Runtime::new().context("could not start a runtime")?;
        let (stop, stopped) = oneshot::channel();
        let task = runtime.spawn(hippod::run(options, async {
            // Dropping the sender has the same effect as a stop request.
            let _ = stopped.await;
        }));
        let mut daemon = Self {
            clock,
            client: None,
            root,
            run: 0,
            unread: false,
            stop: Some(stop),
            task: Some(task),
            runtime,
            _folder: folder,
        };
        while daemon.client.is_none() {
            daemon.client = Client::connect(&socket, Some(PATIENCE)).ok();
            if daemon.task.as_ref().is_some_and(JoinHandle::is_finished) {
                bail!("the daemon has ended");
            }
            std::thread::yield_now();
        }
        daemon.write(files)?;
        let workspace = daemon.workspace();
        let _: WorkspaceAddResponse = daemon.call(WorkspaceAddRequest { workspace })?;
        daemon.sync()?;
        Ok(daemon)
    }

    fn workspace(&self) -> String {
        self.root.display().to_string()
    }

    fn call<R: DeserializeOwned>(&mut self, request: impl Into<Request>) -> Result<R> {
        let client = self.client.as_mut().context("no connection")?;
        Ok(client.call(&request.into())?)
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Writes files. Their modification time is the current time of the manual clock.
    ///
    /// # Errors
    /// Fails if a file cannot be written.
    pub fn write(&mut self, files: &[WorldFile]) -> Result<()> {
        self.unread = true;
        let modified = UNIX_EPOCH + Duration::from_millis(self.now().0.unsigned_abs());
        for written in files {
            let path = self.root.join(&written.path);
            let failed = || format!("could not write {}", path.display());
            fs::create_dir_all(path.parent().unwrap_or(&self.root)).with_context(failed)?;
            fs::write(&path, &written.text).with_context(failed)?;
            let file = File::options().write(true).open(&path).with_context(failed)?;
            file.set_modified(modified).with_context(failed)?;
        }
        Ok(())
    }

    /// Advances the clock. Waits until the daemon has read all files and recorded all questions.
    ///
    /// # Errors
    /// Fails if the daemon refuses a request.
    pub fn advance_to(&mut self, then: Timestamp) -> Result<()> {
        let by = then.since(self.now());
        self.clock.advance(Duration::from_millis(by));
        if std::mem::take(&mut self.unread) {
            self.sync()?;
        }
        // The engine answers the second request after it has finished its work for the first one.
        self.history(None, 1)?;
        self.history(None, 1)?;
        Ok(())
    }

    /// Advances the clock, and runs the cycles that became due meanwhile.
    ///
    /// # Errors
    /// Fails if the daemon refuses a request, or if a cycle fails.
    pub fn sleep_until(&mut self, then: Timestamp) -> Result<()> {
        self.advance_to(then)?;
        let workspace = self.workspace();
        let beat: HeartbeatResponse = self.call(HeartbeatRequest { workspace })?;
        match beat.pending.iter().find(|pending| pending.kind == "cycle-failed") {
            Some(failed) => bail!("a cycle failed: {}", failed.text),
            // Questions see the changes of a cycle only a moment later.
            None => self.advance_to(self.now().plus(1_000)),
        }
    }

    fn history(&mut self, run: Option<i64>, limit: u32) -> Result<CycleHistoryResponse> {
        let request = CycleHistoryRequest {
            workspace: self.workspace(),
            limit: Some(limit),
            run,
        };
        self.call(request)
    }

    fn sync(&mut self) -> Result<()> {
        let request = WorkspaceSyncRequest {
            workspace: self.workspace(),
            wait: true,
            accept_deletions: false,
        };
        let synced: WorkspaceSyncResponse = self.call(request)?;
        match synced.notes.first() {
            Some(note) => Err(anyhow!("the workspace is not in sync: {note}")),
            None => Ok(()),
        }
    }

    /// Asks a question as an agent does. The daemon records the question, and may create an entry for it.
    ///
    /// # Errors
    /// Fails if the daemon refuses the request.
    pub fn ask(&mut self, question: &str) -> Result<SearchResponse> {
        self.call(SearchRequest::new(self.workspace(), question))
    }

    /// Returns the ids of the entries that match a question, best first. The daemon does not record the question.
    ///
    /// # Errors
    /// Fails if the daemon refuses the request.
    pub fn matches(&mut self, question: &str) -> Result<Vec<String>> {
        let mut request = SearchRequest::new(self.workspace(), question);
        (request.mode, request.explain, request.record) = (Some(SearchMode::Index), true, false);
        let answer: SearchResponse = self.call(request)?;
        let trace = answer.trace.context("the answer has no trace")?;
        Ok(trace.matches.into_iter().map(|one| one.entry).collect())
    }

    /// Returns all entries, including archived ones, and the tokens of the index file.
    ///
    /// # Errors
    /// Fails if the daemon refuses the request.
    pub fn list(&mut self) -> Result<IndexListResponse> {
        let request = IndexListRequest {
            workspace: self.workspace(),
            archived: true,
            ..IndexListRequest::default()
        };
        self.call(request)
    }

    /// Returns an entry, and those of its pointers whose target does not exist.
    ///
    /// # Errors
    /// Fails if the daemon refuses the request.
    pub fn show(&mut self, id: &str) -> Result<(IndexEntry, Vec<String>)> {
        let request = IndexShowRequest {
            workspace: self.workspace(),
            id: id.to_owned(),
            at: None,
        };
        let shown: IndexShowResponse = self.call(request)?;
        Ok((shown.entry, shown.stale))
    }

    /// Returns the rules of all steps that cycles have applied since the last call.
    ///
    /// # Errors
    /// Fails if the daemon refuses a request.
    pub fn new_steps(&mut self) -> Result<Vec<String>> {
        let listed = self.history(None, RUNS)?;
        let (before, mut rules) = (self.run, Vec::new());
        for run in listed.runs.iter().filter(|run| run.run > before && run.done > 0) {
            let one = self.history(Some(run.run), 1)?;
            let report = one.report.context("a run has no report")?;
            rules.extend(report.plan.into_iter().map(|step| step.rule));
        }
        self.run = listed.runs.first().map_or(self.run, |run| run.run);
        Ok(rules)
    }

    /// Returns the bytes of the index file.
    pub fn index_file(&self) -> Vec<u8> {
        // While there are no entries, the file does not exist.
        fs::read(self.root.join("HIPPOCAMPUS.md")).unwrap_or_default()
    }

    /// Returns the total size in bytes of the index file and of the files below `.hippocampus` with entries.
    pub fn index_bytes(&self) -> usize {
        let folders = ["topics", "temporal"].map(|name| self.root.join(".hippocampus").join(name));
        let files = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok());
        let sizes = files.flatten().flatten().filter_map(|file| file.metadata().ok());
        let below: u64 = sizes.map(|metadata| metadata.len()).sum();
        self.index_file().len() + below as usize
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop((self.client.take(), self.stop.take()));
        if let Some(task) = self.task.take() {
            // The result of the simulation does not depend on how the daemon ends.
            let _ = self.runtime.block_on(task);
        }
    }
}
