//! Opening of a workspace: database, search snapshot and entries.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};

use hippo_rank::corpus::Corpus;
use hippo_store::StoreError;
use hippo_store::db::Store;
use hippo_store::vector::VectorIndex;
use hippo_text::scope::ScopeRules;
use hippo_text::source::SourceRules;

use super::agenda::Agenda;
use super::entries::WorkspaceEntries;
use super::workspace::{EventTimes, KnownDocument, PendingChunks, Workspace};
use super::{Resources, patch, settings};
use crate::registry;
use crate::tasks::Pulse;
use crate::verify::FileMark;
use crate::view::{SearchSnapshot, WorkspaceView};

/// Opens the database of a workspace, and loads the entries and the search snapshot. Of the files below the root, only
/// settings files are read.
///
/// # Errors
/// For a damaged database, the error chain contains a [`StoreError`] with [`StoreError::needs_rebuild`].
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn open(resources: &Resources, root: &Path, key: u64, pulse: Pulse) -> Result<Workspace> {
    let (state, now) = (&resources.paths.state, resources.clock.monotonic());
    let (config, own) = settings::settings_of(resources, root);
    let model = resources.models.find_model(&config.embed.model);
    let rules = SourceRules::new(&config.sources.include, &config.sources.exclude)
        .context("could not parse the patterns in sources.include and sources.exclude")?
        .with_sessions(config.sessions.search);
    let scopes =
        ScopeRules::new(&config.scopes.private).context("could not parse the patterns in scopes.private")?;
    let folder = registry::state_folder(state, root);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("could not create the state folder: {}", folder.display()))?;
    let file = registry::database_file(state, root);
    let recovered = hippo_store::db::recover(&file, &root.to_string_lossy())?;
    if let Some(recovered) = &recovered {
        tracing::error!(
            database = %file.display(), aside = %recovered.aside.display(), rows = recovered.rows, lost = recovered.lost.len(),
            "the database was empty or missing; rebuilding it from its spare copy and from the files"
        );
    }
    let mut store = Store::open(&file, &root.to_string_lossy())?;
    let mended = store.mend()?;
    if let Some(mended) = mended {
        tracing::error!(
            database = %file.display(), documents = mended.documents, vectors = mended.vectors,
            "rows of the database were damaged; rebuilding them from the files"
        );
    }
    let embedder = model
        .map(|model| store.embedder(&model.id, model.dimension))
        .transpose()?;
    let mut entries = WorkspaceEntries::load(&mut store, &config, resources.clock.now(), now)?;
    if resources.local_shares.have_named(root) {
        // A share may have been added or withdrawn just before the last process ended.
        entries.file.foreign_at = Some(now);
    }
    let (snapshot, known) = load(&store, &scopes)?;
    let view = Arc::new(WorkspaceView::new(
        root.to_path_buf(),
        config,
        (rules, scopes),
        file,
        snapshot,
        now,
    ));
    entries.publish(&view);
    entries.notice(&known);
    let mut workspace = Workspace {
        entries,
        key,
        root: root.to_path_buf(),
        store,
        pulse,
        view,
        watcher: None,
        known,
        own_nodes: HashMap::new(),
        dirty: BTreeMap::new(),
        missing: BTreeMap::new(),
        held: BTreeSet::new(),
        skipped: BTreeMap::new(),
        left_out: BTreeMap::new(),
        files_on_disk: 0,
        changed_at_reconcile: 0,
        root_present: true,
        embedder: None,
        pending: PendingChunks::default(),
        waiters: Vec::new(),
        readers: Vec::new(),
        reports_taken: 0,
        times: EventTimes::default(),
        own,
        agenda: Agenda::default(),
        canary_unprovable: None,
        watcher_silent: false,
        trouble: None,
        last_write: now,
        untidy: 0,
        graph_build: None,
        busy: true,
        due: Some(now),
        rest: std::time::Duration::ZERO,
        recovered,
        mended,
        repair_is_told: false,
        spared: None,
    };
    if let Some(embedder) = embedder {
        workspace.set_embedder(embedder)?;
    }
    workspace.look_at_harness();
    Ok(workspace)
}

fn load(
    store: &Store,
    scopes: &ScopeRules,
) -> Result<(SearchSnapshot, HashMap<String, KnownDocument>), StoreError> {
    let documents = store.load()?;
    let active = store.embedders()?.into_iter().find(|embedder| embedder.active);
    let dimension = active.as_ref().map_or(0, |embedder| embedder.dimension);
    let mut snapshot = SearchSnapshot {
        corpus: Corpus::new(),
        vectors: VectorIndex::new(dimension),
        spans: Vec::new(),
        tokens: Vec::new(),
        facts: HashMap::new(),
        scopes: HashMap::new(),
        model: active.map(|embedder| embedder.model.into()),
        generation: store.generation()?,
    };
    let mut known = HashMap::with_capacity(documents.len());
    for document in &documents {
        patch::load(&mut snapshot, document, scopes);
        let mark = FileMark {
            size: document.record.size,
            mtime_ns: document.record.mtime_ns,
        };
        known.insert(
            document.record.path.clone(),
            KnownDocument {
                document: document.id,
                mark,
                hash: document.record.hash,
                racy: false,
                is_outdated: document.is_outdated,
                is_shared: snapshot.scope(document.id).is_shared(),
            },
        );
    }
    store.for_each_vector(|chunk, vector| {
        if let Err(error) = snapshot.vectors.insert(chunk, vector) {
            tracing::warn!(chunk, %error, "could not index a vector");
        }
    })?;
    Ok((snapshot, known))
}
