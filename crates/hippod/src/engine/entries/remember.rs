//! Entries for texts that `remember` appends to a daily log.

use std::time::Instant;

use hippo_map::bootstrap::{self, DAILY_LOGS, TimeBand};
use hippo_map::consolidation::{EntryRecord, RecordPlace};
use hippo_map::decay;
use hippo_proto::{IndexEntry, MemoryType, RememberRequest, RpcError};
use hippo_redact::without_secrets;
use hippo_types::entry::{Entry, EntryOrigin, EntryPriority, Pointer};

use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;
use crate::message::AppendedText;
use crate::remember::AppendResult;

/// Maximum number of tags of an entry.
const TAGS: usize = 8;

impl WorkspaceWorker {
    pub(super) fn remembered(&mut self, workspace: &mut Workspace, remembered: AppendedText, at: Instant) {
        let AppendedText {
            request,
            appended,
            reply,
        } = remembered;
        let entry = if workspace.entries.enabled {
            self.entry_of(workspace, &request, &appended, at).map(Some)
        } else {
            Ok(None)
        };
        // A client that has disconnected needs no answer.
        let _ = reply.send(entry);
    }

    fn entry_of(
        &mut self,
        workspace: &mut Workspace,
        request: &RememberRequest,
        appended: &AppendResult,
        at: Instant,
    ) -> Result<IndexEntry, RpcError> {
        self.before_a_change(workspace, at)?;
        let now = self.now_of(workspace, at);
        let moment = now.now;
        let (summary, inferred) = bootstrap::extract_gist(&appended.topic, &request.text);
        let (priority, rule) = match (request.priority, inferred) {
            (Some(priority), _) => (priority, None),
            // Entries for facts about the user and for the user's feedback never fade.
            (None, _) if matches!(request.type_, Some(MemoryType::User | MemoryType::Feedback)) => {
                (EntryPriority::Amygdala, Some("type".to_owned()))
            }
            (None, Some((priority, rule))) => (priority, Some(rule)),
            (None, None) => Default::default(),
        };
        let mut tags: Vec<String> = request.type_.iter().map(|kind| kind.name().to_owned()).collect();
        // Tags that contain a secret are dropped. In contrast, the text of the request is stored unchanged.
        let harmless = |tag: &&String| without_secrets(tag) == **tag;
        tags.extend(request.tags.iter().flatten().filter(harmless).cloned());
        tags.truncate(TAGS);
        let pointer = Pointer {
            path: appended.path.clone(),
            section: Some(appended.section.clone()),
        };
        if appended.repeated
            && let Some(mut known) = existing_entry(workspace, &pointer)
        {
            let profile = workspace.view.config.index.profile();
            decay::record_access(&profile, &mut known.entry, moment, 1);
            // Apply the tags and the priority of the repeated request to the existing entry.
            let more: Vec<String> = tags
                .into_iter()
                .filter(|tag| !known.entry.tags.contains(tag))
                .collect();
            known.entry.tags.extend(more);
            known.entry.tags.truncate(TAGS);
            if request.priority.is_some() {
                (known.entry.priority, known.entry.priority_rule) = (priority, None);
            }
            return self.put(workspace, known, at);
        }
        let id = workspace
            .entries
            .free_id(&hippo_map::index_file::slug(&appended.topic));
        let entry = Entry {
            id,
            topic: appended.topic.clone(),
            summary,
            pointers: vec![pointer],
            created: moment,
            accessed: moment,
            strength: 1.0,
            tags,
            priority,
            priority_rule: rule,
            origin: EntryOrigin::Manual,
            version: 1,
            ..Entry::default()
        };
        let record = EntryRecord {
            band: Some(TimeBand::ThisWeek),
            ..EntryRecord::new(entry, DAILY_LOGS)
        };
        self.put(workspace, record, at)
    }
}

/// Returns the entry that points to a section of a daily log; `None` if no entry outside the archive does.
fn existing_entry(workspace: &Workspace, pointer: &Pointer) -> Option<EntryRecord> {
    let mut records = workspace.entries.known.records.values();
    let of_it = records.find(|record| {
        !matches!(record.place, RecordPlace::Archive(_))
            && record.learned.is_none()
            && record.entry.pointers.contains(pointer)
    });
    of_it.cloned()
}
