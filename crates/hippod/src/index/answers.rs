//! Responses to `index.list` and `index.show`.

use hippo_map::consolidation::{EntryRecord, RecordPlace};
use hippo_map::decay::{self, DecayModifiers};
use hippo_proto::{
    EntryPlace, IndexEntry, IndexForecast, IndexListRequest, IndexListResponse, IndexShowRequest,
    IndexShowResponse, RpcError, StrengthBand,
};
use hippo_types::entry::{Entry, EntryId, EntryPriority, Pointer};
use hippo_types::scope::Scope;
use hippo_types::time::{DAY_MS, Timestamp};

use super::IndexView;
use crate::clock::rfc3339;

/// Strength below which a deep cycle archives an entry (specification v1 §8.2). The threshold cannot be configured.
const ARCHIVED: f32 = 0.05;

/// Handles `index.list`. The strengths are those at the time `at`.
pub fn list(view: &IndexView, request: &IndexListRequest, at: Timestamp) -> IndexListResponse {
    // If the request contains a day without a time, include all entries that were created before the end of that day.
    let is_day = request.at.as_ref().is_some_and(|at| !at.contains(':'));
    let last = at.0 + if is_day { DAY_MS - 1 } else { 0 };
    let wanted = |record: &&std::sync::Arc<EntryRecord>| {
        let exists = request.at.is_none() || record.entry.created.0 <= last;
        exists && (request.archived || !matches!(record.place, RecordPlace::Archive(_)))
    };
    let mut found: Vec<(f32, &EntryRecord)> = view
        .records()
        .iter()
        .filter(wanted)
        .map(|record| (view.strength(record, at), &**record))
        .collect();
    found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.entry.id.cmp(&other.entry.id)));
    let total = found.len() as u64;
    let limit = request.limit.unwrap_or(hippo_proto::MAX_ENTRIES) as usize;
    let entries = found
        .into_iter()
        .take(limit)
        .map(|(strength, record)| described(record, strength));
    IndexListResponse {
        entries: entries.collect(),
        total,
        tokens: view.tokens,
        notes: vec!["tokens are estimated as bytes / 4".to_owned()],
    }
}

/// Handles `index.show`. `stale` returns whether the target of a pointer is missing. `file` returns the path of the
/// file that contains an entry outside the archive.
///
/// # Errors
/// Returns `not-found` for an unknown id.
pub fn show(
    view: &IndexView,
    request: &IndexShowRequest,
    at: Timestamp,
    stale: impl Fn(&Pointer) -> bool,
    file: impl Fn(&EntryId) -> Option<String>,
) -> Result<IndexShowResponse, RpcError> {
    let ids = || view.records().iter().map(|record| record.entry.id.0.as_str());
    let record = view
        .get(&EntryId(request.id.clone()))
        .ok_or_else(|| unknown(&request.id, ids()))?;
    let entry = &record.entry;
    let profile = view.profile();
    let modifiers = DecayModifiers::from_entry(entry);
    let exponent = profile.exponent(modifiers);
    let mut told = Vec::new();
    match entry.priority {
        EntryPriority::Amygdala => told.push("priority amygdala: the entry never fades".to_owned()),
        EntryPriority::Low => told.push(format!(
            "priority low: the exponent is multiplied by {}",
            profile.low
        )),
        EntryPriority::Normal | EntryPriority::High => {}
    }
    if modifiers.manual {
        told.push(format!(
            "a person or an agent created the entry: the exponent is multiplied by {}",
            profile.manual
        ));
    }
    if modifiers.links >= profile.associated_from {
        told.push(format!(
            "{} related entries: the exponent is multiplied by {}",
            modifiers.links, profile.associated
        ));
    }
    let now = view.strength(record, at);
    // An entry enters a band when its strength falls below the threshold of the next higher band.
    let bands = [
        ("moderate", StrengthBand::Strong),
        ("weak", StrengthBand::Moderate),
        ("decaying", StrengthBand::Weak),
        ("silent", StrengthBand::Decaying),
    ];
    let mut events: Vec<(&str, f32)> = bands.map(|(name, above)| (name, above.threshold())).to_vec();
    events.retain(|(_, target)| now >= *target);
    let archived = match record.place {
        RecordPlace::Archive(since) => Some(since),
        RecordPlace::Index | RecordPlace::Queue(_) => None,
    };
    if archived.is_none() {
        events.push(("archive", ARCHIVED));
    }
    let forecast = events.into_iter().map(|(event, target)| {
        let when = decay::time_until(profile, entry.strength, target, modifiers);
        IndexForecast {
            event: event.to_owned(),
            at: when.map(|after| rfc3339(entry.curve_start().plus(after))),
        }
    });
    Ok(IndexShowResponse {
        entry: described(record, now),
        base_strength: entry.strength,
        curve: format!(
            "{:.2} · (1 + {:.4} · h)^(−{exponent:.3}), where h is the number of hours since {}",
            entry.strength,
            profile.decay_rate,
            rfc3339(entry.curve_start())
        ),
        modifiers: told,
        priority_rule: entry.priority_rule.clone(),
        forecast: forecast.collect(),
        stale: entry
            .pointers
            .iter()
            .filter(|pointer| stale(pointer))
            .map(ToString::to_string)
            .collect(),
        file: archived.is_none().then(|| file(&entry.id)).flatten(),
        archived: archived.map(rfc3339),
    })
}

/// Returns the error for an unknown id. The hint suggests the most similar id of `ids`.
pub fn unknown<'i>(id: &str, ids: impl Iterator<Item = &'i str>) -> RpcError {
    let error = RpcError::not_found(format!("could not find the entry: {}", hippo_proto::shorten(id)));
    match hippo_proto::nearest(id, ids) {
        Some(near) => error.hint(format!(
            "did you mean {near}? to list all entries: hippoctl index list"
        )),
        None => error.hint("to list all entries: hippoctl index list"),
    }
}

/// Converts an entry to wire format.
pub fn described(record: &EntryRecord, strength: f32) -> IndexEntry {
    let Entry {
        id,
        topic,
        summary,
        pointers,
        created,
        accessed,
        hits,
        tags,
        related,
        priority,
        origin,
        version,
        ..
    } = record.entry.clone();
    IndexEntry {
        id: id.0,
        topic,
        summary,
        pointers,
        strength,
        band: StrengthBand::from_strength(strength),
        place: match record.place {
            RecordPlace::Index => EntryPlace::Index,
            RecordPlace::Queue(_) => EntryPlace::Queue,
            RecordPlace::Archive(_) => EntryPlace::Archive,
        },
        group: record.group.clone(),
        tags,
        related: related.into_iter().map(|id| id.0).collect(),
        priority,
        origin,
        created: rfc3339(created),
        accessed: rfc3339(accessed),
        hits,
        version,
        scope: Scope::Shared,
    }
}
