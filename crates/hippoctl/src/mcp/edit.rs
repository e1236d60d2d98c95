//! Tool that changes an entry of the index file.

use hippo_proto::{
    EntryPlace, EntryPriority, GetRequest, IndexEditRequest, IndexEntry, IndexForgetRequest,
    IndexRestoreRequest, IndexShowRequest, Pointer,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::verbs::index::tags;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditArguments {
    id: String,
    topic: Option<String>,
    summary: Option<String>,
    tags: Option<Vec<String>>,
    path: Option<String>,
    pin: Option<bool>,
    forget: Option<bool>,
    #[serde(default)]
    dry_run: bool,
}

impl EditArguments {
    /// Returns whether an argument other than `forget` names a change.
    fn has_edit(&self) -> bool {
        let has_text = self.topic.is_some() || self.summary.is_some() || self.tags.is_some();
        has_text || self.path.is_some() || self.pin.is_some()
    }

    /// Returns the entry as it is after the change.
    fn applied(&self, mut entry: IndexEntry, target: Option<&Pointer>) -> IndexEntry {
        entry.topic = self.topic.clone().unwrap_or(entry.topic);
        entry.summary = self.summary.clone().unwrap_or(entry.summary);
        entry.tags = self.tags.clone().map_or(entry.tags, tags);
        entry.pointers = target.map_or(entry.pointers, |target| vec![target.clone()]);
        match self.pin {
            Some(true) => entry.priority = EntryPriority::Amygdala,
            // Only the daemon knows the earlier priority, but the list of changes does not show it.
            Some(false) => entry.priority = EntryPriority::Normal,
            None => {}
        }
        match self.forget {
            Some(true) => entry.place = EntryPlace::Archive,
            Some(false) => entry.place = EntryPlace::Index,
            None => {}
        }
        entry
    }
}

/// Changes an entry, and returns the list of changes. A dry run changes nothing.
pub fn edit(arguments: EditArguments, session: &mut DaemonSession) -> Result<Value, Failure> {
    if arguments.has_edit() == arguments.forget.is_some() {
        let what = "wrong arguments of memory_edit: give only `forget`, or at least one of `topic`, `summary`, \
                    `tags`, `path` and `pin`";
        return Err(Failure::new(Exit::Usage, what));
    }
    let (workspace, id) = (session.root()?, arguments.id.clone());
    let before = session.call(IndexShowRequest {
        workspace: workspace.clone(),
        id: id.clone(),
        at: None,
    })?;
    let target = arguments
        .path
        .as_deref()
        .map(|path| find_source(path, &workspace, session));
    let target = target.transpose()?;
    let after = arguments.applied(before.entry.clone(), target.as_ref());
    let changes = changes(&before.entry, &after);
    let is_applied = !arguments.dry_run && !changes.is_empty();
    match arguments.forget {
        _ if !is_applied => {}
        Some(true) => drop(session.call(IndexForgetRequest { workspace, id })?),
        Some(false) => drop(session.call(IndexRestoreRequest { workspace, id })?),
        None => drop(session.call(IndexEditRequest {
            workspace,
            id,
            topic: arguments.topic,
            summary: arguments.summary,
            tags: arguments.tags.map(tags),
            pointers: target.map(|target| vec![target]),
            priority: None,
            pinned: arguments.pin,
        })?),
    }
    Ok(json!({"changes": changes, "applied": is_applied}))
}

/// Returns the source that a path names, such as `notes.md`, `notes.md §Setup` or `[[Note#Setup]]`.
///
/// # Errors
/// Fails if the file or the section does not exist.
fn find_source(path: &str, workspace: &str, session: &mut DaemonSession) -> Result<Pointer, Failure> {
    let answer = session.call(GetRequest {
        workspace: Some(workspace.to_owned()),
        path: Some(path.to_owned()),
        count: Some(1),
        ..GetRequest::default()
    })?;
    let mut heading = answer.heading;
    let has_section = [" §", "#"].map(|mark| path.matches(mark).count() > answer.path.matches(mark).count());
    let section = heading.pop().filter(|_| has_section.contains(&true));
    Ok(Pointer {
        path: answer.path,
        section,
    })
}

/// Describes the differences between two versions of an entry.
fn changes(before: &IndexEntry, after: &IndexEntry) -> Vec<String> {
    let sources = |entry: &IndexEntry| {
        let sources: Vec<String> = entry.pointers.iter().map(Pointer::to_string).collect();
        sources.join(", ")
    };
    let is_pinned = |entry: &IndexEntry| (entry.priority == EntryPriority::Amygdala).to_string();
    let is_forgotten = |entry: &IndexEntry| (entry.place == EntryPlace::Archive).to_string();
    let fields = |entry: &IndexEntry| {
        [
            ("topic", entry.topic.clone()),
            ("summary", entry.summary.clone()),
            ("tags", entry.tags.join(", ")),
            ("source", sources(entry)),
            ("pinned", is_pinned(entry)),
            ("forgotten", is_forgotten(entry)),
        ]
    };
    let both = fields(before).into_iter().zip(fields(after));
    both.filter(|(before, after)| before != after)
        .map(|((name, before), (_, after))| format!("{name}: {before} → {after}"))
        .collect()
}
