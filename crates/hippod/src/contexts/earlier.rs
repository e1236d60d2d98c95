//! Entries of earlier sessions that match a cue.

use std::collections::HashMap;

use hippo_context::render::{EarlierEntry, steers};
use hippo_proto::Viewer;
use hippo_store::contexts::{ContextError, ContextReader, KeptEntry, SessionRow};
use hippo_types::context::{ContextEntry, ContextState};
use hippo_types::time::Timestamp;
use jiff::tz::TimeZone;

use super::session::EntryList;
use super::sources::{self, SourceReader};
use super::turn::STRONG_CUE;
use crate::clock::date_in;

/// Number of closed sessions that are searched, the latest first.
const SESSIONS: usize = 20;
/// Maximum number of entries that match a cue and are examined.
const EXAMINED: usize = 30;
/// Maximum number of entries that are returned.
const BROUGHT_BACK: usize = 3;

/// Returns the entries of closed sessions that match a cue, best first. Of entries with the same source, only the
/// latest is returned, and none if the session `own` has an entry with this source. Sessions of other agents than `owner`
/// are left out.
///
/// # Errors
/// Fails if the store could not be read.
pub fn matching(
    store: &ContextReader,
    reader: &SourceReader<'_>,
    (owner, own): (&Viewer, &EntryList),
    cue: &str,
    zone: &TimeZone,
) -> Result<Vec<EarlierEntry>, ContextError> {
    // Each entry with its session, and with the time of its session and its turn, which order entries of one source.
    let mut best: Vec<(KeptEntry, SessionRow, (i64, u64))> = Vec::new();
    let mut by_source: HashMap<(String, String), usize> = own
        .kept
        .iter()
        .map(|kept| (source(&kept.entry), usize::MAX))
        .collect();
    for hit in store.search_closed(SESSIONS, cue, EXAMINED)? {
        if hit.score < STRONG_CUE {
            break;
        }
        // Another entry may still match if one cannot be read.
        let Some(kept) = store.entry(&hit.id).ok().flatten() else {
            continue;
        };
        let Some(session) = store.session(&kept.session)? else {
            continue;
        };
        let scope = super::owner(&session).own_scope();
        if !owner.sees(&scope) || !is_usable(&kept, session.turn) {
            continue;
        }
        let order = (session.opened_ms, kept.kept.entry.source.turn);
        let at = *by_source.entry(source(&kept.kept.entry)).or_insert(best.len());
        match best.get_mut(at) {
            Some(known) if known.2 < order => *known = (kept, session, order),
            None if at != usize::MAX => best.push((kept, session, order)),
            _ => {}
        }
    }
    best.truncate(BROUGHT_BACK);
    let earlier = best.into_iter().map(|(mut kept, session, _)| {
        sources::mark(reader, store, &mut kept.kept, kept.content);
        EarlierEntry {
            date: date_in(Timestamp(session.opened_ms), zone),
            session: session.id,
            entry: kept.kept.entry,
        }
    });
    Ok(earlier.collect())
}

/// Returns whether an entry is not expired, its content can be fetched, and its text does not read like an instruction.
fn is_usable(kept: &KeptEntry, turn: u64) -> bool {
    let entry = &kept.kept.entry;
    entry.state_at(turn, 1.0) != ContextState::Expired
        && (kept.stored || kept.content.is_none())
        && !steers(entry)
}

/// Returns the source of an entry. Entries without a reference have different sources.
fn source(entry: &ContextEntry) -> (String, String) {
    let reference = match entry.source.reference.as_str() {
        "" => &entry.id,
        _ => &entry.source.reference,
    };
    (entry.source.kind.clone(), reference.clone())
}
