//! Texts that other workspaces share, in the answers to `search` and `get`.

use std::collections::HashMap;
use std::sync::Arc;

use hippo_proto::{
    ErrorKind, ExplainedPassage, GetRequest, GetResponse, Origin, OriginKind, RpcError, SearchHit, SearchMode,
};
use hippo_redact::redact;
use hippo_text::chunk;
use hippo_text::instruction::is_instruction;
use hippo_types::scope::Viewer;

use super::fresh::Freshener;
use super::get::{Reader, no_such_file, read, select};
use super::hit::{ChunkHit, CollectedHit, locate_hit, public_id};
use super::{SearchState, Searcher};
use crate::local_share::{OwnerRules, OwnerUnavailable, Reach, mask};
use crate::message::WorkspaceMessage;
use crate::share::PendingSearch;
use crate::verify::{ChunkSpan, FileMark, VerifiedHit, Verifier};
use crate::view::WorkspaceView;

/// Maximum number of shared passages that are ranked together with those of the workspace.
const MOST: usize = 50;
/// First id of the shared passages. The ids of the workspace's own chunks are smaller, those of the team greater.
const FIRST_ID: u32 = u32::MAX / 4;

/// A passage from outside the workspace, with its text.
type OutsideHit = (ChunkHit, VerifiedHit);

/// A search for passages outside the workspace.
pub struct OutsideSearch {
    /// Search on the server of the team; `None` without a team.
    pub team: Option<PendingSearch>,
    /// Vector of the query, with the model that computed it.
    pub vector: Option<(Arc<str>, Vec<f32>)>,
}

/// Waits until the changed files of the workspaces that share with this one are indexed, unless that takes too long.
///
/// # Errors
/// Returns `internal` if a background task panicked.
pub async fn read_changes_of_owners(searcher: &Arc<Searcher>, view: &WorkspaceView) -> Result<(), RpcError> {
    for owner in searcher.local_shares.to(&view.root) {
        if let Ok(view) = owner.view(&searcher.views) {
            Freshener::new(searcher, &view).read_known_changes().await?;
        }
    }
    Ok(())
}

impl SearchState {
    /// Returns the passages of the team and of other workspaces, best first, and notes about those that are missing.
    pub(super) fn outside_hits(&self, outside: Option<OutsideSearch>) -> (Vec<OutsideHit>, Vec<String>) {
        let Some(OutsideSearch { team, vector }) = outside else {
            return Default::default();
        };
        let mut notes = Vec::new();
        let mut hits = Vec::new();
        if self.question.mode != SearchMode::Index {
            for owner in self.searcher.local_shares.to(&self.view.root) {
                let found = owner.view(&self.searcher.views).map_err(|why| why.to_string());
                let found = found.and_then(|view| self.hits_of(&owner, &view, vector.as_ref()));
                match found {
                    Ok(found) => hits.extend(found),
                    Err(why) => notes.push(format!("searched without the workspace {}: {why}", owner.name)),
                }
            }
        }
        hits.sort_by(|(one, _): &OutsideHit, (other, _)| other.score().total_cmp(&one.score()));
        hits.truncate(MOST);
        renumber(&mut hits);
        let (of_team, late) = self.team_hits(team);
        hits.extend(of_team);
        notes.extend(late);
        hits.sort_by(|(one, _), (other, _)| other.score().total_cmp(&one.score()));
        (hits, notes)
    }

    /// Returns the passages of one owner.
    fn hits_of(
        &self,
        owner: &OwnerRules,
        view: &Arc<WorkspaceView>,
        vector: Option<&(Arc<str>, Vec<f32>)>,
    ) -> Result<Vec<OutsideHit>, String> {
        let reach = self.searcher.local_shares.reach(owner, view);
        let state = Self {
            searcher: Arc::clone(&self.searcher),
            view: Arc::clone(view),
            question: Arc::new(self.question.of_another_workspace()),
            consulted: self.consulted.clone(),
        };
        let snapshot = view.snapshot();
        let vector = vector.filter(|(model, _)| snapshot.model.as_ref() == Some(model));
        let vector = vector.map(|(_, vector)| &vector[..]);
        let covered = reach.chunks(&snapshot);
        let within = |chunk: u32| covered.get(chunk as usize).copied().unwrap_or(false);
        let ranked = state.rank(&snapshot, vector, Some(&within));
        let ranked = ranked.map_err(|error| error.message)?;
        let located: Vec<ChunkHit> = ranked
            .iter()
            .filter_map(|ranked| locate_hit(&snapshot, ranked))
            .collect();
        drop(snapshot);
        let mut verifier = Verifier::new(&view.root, view.config.sources.max_file_bytes);
        let mut hits = Vec::new();
        for mut hit in located {
            let shown = reach.shown_path(&hit.path);
            if hits.len() == MOST || !self.question.filter.admits_path(&shown) {
                continue;
            }
            let Some(mut text) = verifier.check(&hit.path, hit.mark, hit.span) else {
                continue;
            };
            let texts = [&text.text, &hit.path];
            if texts
                .into_iter()
                .chain(&hit.heading)
                .any(|text| is_instruction(text))
            {
                continue;
            }
            text.text = redact(&text.text).into_owned();
            hit.origin = Some(Origin {
                kind: OriginKind::Workspace,
                workspace: owner.name.clone(),
                share: reach.share_of(&hit.path, &hit.heading),
                verified: true,
                ..Origin::default()
            });
            hit.path = shown;
            for title in &mut hit.heading {
                *title = redact(title).into_owned();
            }
            hits.push((hit, text));
        }
        let changed = verifier.changed();
        if !changed.is_empty() {
            let stale = WorkspaceMessage::Stale(changed);
            self.searcher.engine.send_to(&view.root, stale);
        }
        Ok(hits)
    }
}

/// Removes the shared results that a later text corrects.
pub fn drop_corrected(results: &mut Vec<CollectedHit>) {
    let is_shared = |hit: &SearchHit| hit.origin.as_ref().is_some_and(|origin| origin.share.is_some());
    results.retain(|collected| collected.hit.superseded_by.is_none() || !is_shared(&collected.hit));
}

/// Explains why the text at a line of a share is not a result. Returns `None` if no share covers the file.
pub fn explain_missed(state: &SearchState, path: &str, line: u32) -> Option<ExplainedPassage> {
    let (owner, below) = state.searcher.local_shares.find(&state.view.root, path)?;
    let view = owner.view(&state.searcher.views).ok()?;
    let reach = state.searcher.local_shares.reach(&owner, &view);
    let is_covered = reach.places.contains_key(below);
    is_covered.then(|| ExplainedPassage {
        path: path.to_owned(),
        start_line: line,
        end_line: line,
        outcome: "no-match".to_owned(),
        because: vec![format!(
            "The workspace {} shares texts of the file, but no passage at the line is a result.",
            owner.name
        )],
        change: Some("Use words of the passage in the question.".to_owned()),
        ..ExplainedPassage::default()
    })
}

/// Gives the passages ids that no passage of the workspace or of the team has. Those of one file stay together.
fn renumber(hits: &mut [OutsideHit]) {
    let mut documents: HashMap<String, u32> = HashMap::new();
    for (id, (hit, _)) in (FIRST_ID..).zip(hits) {
        hit.ranked.chunk = id;
        hit.position.document = *documents.entry(hit.path.clone()).or_insert(id);
    }
}

/// Answers a `get` for a pointer such as `@project/memory/a.md`, or for the id of a shared passage. Returns `None` if no
/// share has the name or the passage.
pub fn get(
    searcher: &Searcher,
    view: &WorkspaceView,
    request: &GetRequest,
) -> Option<Result<GetResponse, RpcError>> {
    if let Some(id) = &request.id {
        return by_id(searcher, view, id);
    }
    let path = request.path.as_deref()?;
    let (owner, below) = searcher.local_shares.find(&view.root, path)?;
    let missing = || no_such_file(path);
    Some(
        owner
            .view(&searcher.views)
            .map_err(|why| match why {
                OwnerUnavailable::Opening => RpcError::new(
                    ErrorKind::Warming,
                    format!("the workspace {} is still being opened", owner.name),
                )
                .hint("try again in a moment"),
                _ => missing(),
            })
            .and_then(|view| {
                let reach = searcher.local_shares.reach(&owner, &view);
                let marks = below
                    .rmatch_indices(" §")
                    .map(|(at, mark)| (at, Some(at + mark.len())));
                let mut places = std::iter::once((below.len(), None)).chain(marks);
                let place = places.find(|(end, _)| reach.places.contains_key(&below[..*end]));
                let (end, section) = place.ok_or_else(missing)?;
                let section = section.map(|from| below[from..].to_owned());
                let section = section.as_ref().or(request.section.as_ref());
                let text = visible_text(&reach, &view, &below[..end]).ok_or_else(missing)?;
                let lines = match (section, request.from) {
                    (None, None) => shown_lines(&text),
                    _ => None,
                };
                let request = GetRequest {
                    from: request.from.or(lines.map(|(first, _)| first)),
                    count: request.count.or(lines.map(|(first, last)| last - first + 1)),
                    ..GetRequest::default()
                };
                select(
                    &reach.shown_path(&below[..end]),
                    text.as_bytes(),
                    section,
                    &request,
                )
            }),
    )
}

fn by_id(searcher: &Searcher, view: &WorkspaceView, id: &str) -> Option<Result<GetResponse, RpcError>> {
    searcher
        .local_shares
        .to(&view.root)
        .into_iter()
        .find_map(|owner| {
            let view = owner.view(&searcher.views).ok()?;
            let reach = searcher.local_shares.reach(&owner, &view);
            let (path, mark, span) = find_passage(&reach, &view, id)?;
            let mut verifier = Verifier::new(&view.root, view.config.sources.max_file_bytes);
            let found = verifier.check(&path, mark, span)?;
            let request = GetRequest {
                from: Some(found.start_line),
                count: Some(found.end_line - found.start_line + 1),
                ..GetRequest::default()
            };
            let text = visible_text(&reach, &view, &path)?;
            Some(select(&reach.shown_path(&path), text.as_bytes(), None, &request))
        })
}

/// Returns the location of the shared passage with an id.
fn find_passage(reach: &Reach, view: &WorkspaceView, id: &str) -> Option<(String, FileMark, ChunkSpan)> {
    let (snapshot, viewer) = (view.snapshot(), Viewer::default());
    let covered = reach.chunks(&snapshot);
    let mut documents = snapshot.documents(&viewer);
    documents.find_map(|(row, document)| {
        let shown = reach.shown_path(&document.path);
        let mut chunks = document.chunks().iter().map(|chunk| *chunk as usize);
        chunks.find_map(|chunk| {
            let span = snapshot.spans.get(chunk).copied().flatten()?;
            let is_it = covered.get(chunk) == Some(&true) && public_id(&shown, span.hash) == id;
            let mark = snapshot.facts.get(&row)?.mark;
            is_it.then(|| (document.path.to_string(), mark, span))
        })
    })
}

/// Returns the text of a file with empty lines in place of everything that the share does not cover.
fn visible_text(reach: &Reach, view: &WorkspaceView, path: &str) -> Option<String> {
    let viewer = &Viewer::default();
    let bytes = read(Reader { view, viewer }, path).ok()?;
    mask(&bytes, &chunk::chunk(&bytes), reach.places.get(path)?)
}

/// Returns the first and the last line that are not empty.
fn shown_lines(text: &str) -> Option<(u32, u32)> {
    let lines = (1u32..).zip(text.lines()).filter(|(_, line)| !line.is_empty());
    let mut numbers = lines.map(|(number, _)| number);
    let first = numbers.next()?;
    Some((first, numbers.last().unwrap_or(first)))
}
