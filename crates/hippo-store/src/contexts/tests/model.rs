//! Random operations, compared with a simple model.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum ModelStep {
    Open(u8),
    Close(u8),
    Put {
        session: u8,
        content: u8,
        budget: u64,
        withhold: bool,
    },
    Pieces {
        contents: Vec<u8>,
        budget: u64,
    },
    Touch {
        entry: usize,
    },
    Use {
        content: u8,
    },
    Advance {
        session: u8,
        turn: u64,
    },
    Trim {
        budget: u64,
        keep_days: u32,
    },
    Reopen,
}

fn budget() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(PLENTY), 1 => 0u64..4_000]
}

fn steps() -> impl Strategy<Value = Vec<ModelStep>> {
    let step = prop_oneof![
        2 => (0u8..4).prop_map(ModelStep::Open),
        1 => (0u8..4).prop_map(ModelStep::Close),
        6 => (0u8..4, 0u8..12, budget(), proptest::bool::weighted(0.1))
            .prop_map(|(session, content, budget, withhold)| ModelStep::Put { session, content, budget, withhold }),
        2 => (proptest::collection::vec(0u8..12, 0..4), budget())
            .prop_map(|(contents, budget)| ModelStep::Pieces { contents, budget }),
        1 => any::<usize>().prop_map(|entry| ModelStep::Touch { entry }),
        1 => (0u8..12).prop_map(|content| ModelStep::Use { content }),
        1 => (0u8..4, 0u64..9).prop_map(|(session, turn)| ModelStep::Advance { session, turn }),
        1 => (budget(), 0u32..3).prop_map(|(budget, keep_days)| ModelStep::Trim { budget, keep_days }),
        1 => Just(ModelStep::Reopen),
    ];
    proptest::collection::vec(step, 1..60)
}

/// Returns the content with this number. It is incompressible, so its stored size is known.
fn bytes(content: u8) -> Vec<u8> {
    noise(u64::from(content), usize::from(content) * 100)
}

#[derive(Debug, Default)]
struct ModelSession {
    closed: bool,
    turn: u64,
    entries: Vec<String>,
}

#[derive(Debug, Default)]
struct MapModel {
    sessions: BTreeMap<u8, ModelSession>,
    entries: BTreeMap<String, (ContextEntry, u8, u8)>,
    /// Time of the last use of each stored content.
    kept: BTreeMap<u8, i64>,
    gone: BTreeSet<u8>,
    rows: Vec<u8>,
}

impl MapModel {
    fn stored(&self) -> u64 {
        self.kept.keys().map(|content| u64::from(*content) * 100).sum()
    }

    /// Returns an entry as a reader must see it. If its content is removed, it is not retrievable, because its source
    /// names no file.
    fn expected(&self, id: &str) -> ContextEntry {
        let (mut entry, _, content) = self.entries[id].clone();
        entry.source.retrievable = self.kept.contains_key(&content);
        entry
    }

    fn held(&self, content: u8) -> bool {
        self.entries
            .values()
            .any(|(_, session, other)| *other == content && !self.sessions[session].closed)
    }

    fn oldest(&self, also_held: &[u8]) -> Option<u8> {
        let free = self.rows.iter().enumerate().filter(|(_, content)| {
            self.kept.contains_key(content) && !self.held(**content) && !also_held.contains(content)
        });
        free.min_by_key(|(row, content)| (self.kept[content], *row))
            .map(|(_, content)| *content)
    }

    fn forget(&mut self, content: u8) {
        self.kept.remove(&content);
        self.gone.insert(content);
    }

    /// Stores content and removes other content if necessary. Returns `None` if there is not enough room for it.
    fn place(&mut self, content: u8, budget: u64, now: i64, held: &[u8]) -> Option<()> {
        if let Some(used) = self.kept.get_mut(&content) {
            *used = now.max(*used);
            return Some(());
        }
        while self.stored() + u64::from(content) * 100 > budget {
            let oldest = self.oldest(held)?;
            self.forget(oldest);
        }
        if !self.rows.contains(&content) {
            self.rows.push(content);
        }
        self.gone.remove(&content);
        self.kept.insert(content, now);
        Some(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn random_operations_give_the_same_result_as_a_map(steps in steps()) {
        let scratch = ContextScratch::new();
        let mut store = scratch.open();
        let reader = scratch.reader();
        let mut model = MapModel::default();
        let day = 86_400_000;
        for (number, step) in steps.into_iter().enumerate() {
            let now = i64::try_from(number).unwrap() * day / 4;
            apply(&mut store, &mut model, &scratch, step, number, now);
            assert_sums(&store);
            prop_assert_eq!(reader.usage().unwrap().stored_bytes, model.stored());
            for content in 0..12 {
                let found = reader.content(ContentId::of(&bytes(content))).unwrap();
                match found {
                    Lookup::Kept(found) => {
                        prop_assert!(model.kept.contains_key(&content), "{} is there", content);
                        prop_assert_eq!(found.bytes, bytes(content));
                    }
                    Lookup::Gone { why: UnavailableReason::Damaged { reason }, .. } => panic!("{reason}"),
                    Lookup::Gone { .. } => prop_assert!(model.gone.contains(&content), "{} is gone", content),
                    Lookup::Unknown => {
                        prop_assert!(!model.kept.contains_key(&content) && !model.gone.contains(&content));
                    }
                    Lookup::Ambiguous => panic!("ambiguous"),
                }
            }
            for (id, session) in &model.sessions {
                let found = reader.entries(&id.to_string()).unwrap();
                prop_assert!(found.damaged.is_empty());
                let expected: Vec<ContextEntry> =
                    session.entries.iter().map(|entry| model.expected(entry)).collect();
                prop_assert_eq!(found.entries.iter().map(|found| found.kept.entry.clone()).collect::<Vec<_>>(), expected);
                let row = reader.session(&id.to_string()).unwrap().unwrap();
                prop_assert_eq!((row.turn, row.closed_ms.is_some()), (session.turn, session.closed));
            }
        }
        reader.check().unwrap();
    }
}

fn apply(
    store: &mut ContextStore,
    model: &mut MapModel,
    scratch: &ContextScratch,
    step: ModelStep,
    number: usize,
    now: i64,
) {
    match step {
        ModelStep::Open(id) => {
            let closed = model.sessions.get(&id).is_some_and(|session| session.closed);
            assert_eq!(store.open_session(&id.to_string(), None, now).is_err(), closed);
            model.sessions.entry(id).or_default();
        }
        ModelStep::Close(id) => {
            let done = store.close_session(&id.to_string(), now);
            assert_eq!(done.is_ok(), model.sessions.contains_key(&id));
            let ends = model.sessions.get_mut(&id).filter(|session| !session.closed);
            if let Some(session) = ends {
                session.closed = true;
                for (_, whose, content) in model.entries.values() {
                    if let Some(used) = model.kept.get_mut(content).filter(|_| *whose == id) {
                        *used = now.max(*used);
                    }
                }
            }
        }
        ModelStep::Put {
            session,
            content,
            budget,
            withhold,
        } => {
            let (name, entry, bytes) = (session.to_string(), entry(&format!("e{number}")), bytes(content));
            let mut new = NewEntry {
                budget_bytes: budget,
                ..new(&name, &entry, &bytes, now)
            };
            new.content = new.content.map(|content| NewContent { withhold, ..content });
            let done = store.put(&new);
            if model.sessions.get(&session).is_none_or(|session| session.closed) {
                assert!(matches!(
                    done,
                    Err(ContextError::UnknownSession(_) | ContextError::ClosedSession(_))
                ));
                return;
            }
            let before = (model.kept.clone(), model.gone.clone(), model.rows.clone());
            if withhold {
                if let Some(used) = model.kept.get_mut(&content) {
                    *used = now.max(*used);
                } else {
                    model.gone.insert(content);
                    if !model.rows.contains(&content) {
                        model.rows.push(content);
                    }
                }
            } else if model.place(content, budget, now, &[]).is_none() {
                assert!(matches!(done, Err(ContextError::OverBudget { .. })), "{done:?}");
                (model.kept, model.gone, model.rows) = before;
                return;
            }
            assert!(matches!(done, Ok(PutOutcome::Entry { .. })), "{done:?}");
            model
                .entries
                .insert(entry.id.clone(), (entry.clone(), session, content));
            model.sessions.get_mut(&session).unwrap().entries.push(entry.id);
        }
        ModelStep::Pieces { contents, budget } => {
            let texts: Vec<Vec<u8>> = contents.iter().map(|content| bytes(*content)).collect();
            let pieces: Vec<NewContent<'_>> = texts.iter().map(|bytes| NewContent::new(bytes, 1)).collect();
            let done = store.put_pieces(&pieces, budget, now);
            let before = (model.kept.clone(), model.gone.clone(), model.rows.clone());
            let room = contents
                .iter()
                .enumerate()
                .all(|(at, content)| model.place(*content, budget, now, &contents[..at]).is_some());
            if !room {
                (model.kept, model.gone, model.rows) = before;
            }
            assert_eq!(done.is_ok(), room, "{done:?}");
        }
        ModelStep::Touch { entry } => {
            let Some(id) = model
                .entries
                .keys()
                .nth(entry % model.entries.len().max(1))
                .cloned()
            else {
                return;
            };
            let (mut entry, session, content) = model.entries[&id].clone();
            entry.touch(now.unsigned_abs());
            let done = store.update_entries(&[SessionEntry::new(entry.clone())], now);
            assert_eq!(done.is_err(), model.sessions[&session].closed);
            if done.is_ok() {
                model.entries.insert(id, (entry, session, content));
                if let Some(used) = model.kept.get_mut(&content) {
                    *used = now;
                }
            }
        }
        ModelStep::Use { content } => {
            store
                .use_contents(&[ContentId::of(&bytes(content))], now)
                .unwrap();
            if let Some(used) = model.kept.get_mut(&content) {
                *used = now;
            }
        }
        ModelStep::Advance { session, turn } => {
            let done = store.advance(&session.to_string(), turn, now);
            match model.sessions.get_mut(&session) {
                Some(session) if !session.closed => {
                    session.turn = session.turn.max(turn);
                    assert_eq!(done.unwrap(), session.turn);
                }
                _ => assert!(done.is_err()),
            }
        }
        ModelStep::Trim { budget, keep_days } => {
            let gone = store.trim(budget, keep_days, now).unwrap();
            let mut expected = Vec::new();
            while let Some(oldest) = model.oldest(&[]) {
                let young = model.kept[&oldest] >= now - i64::from(keep_days) * 86_400_000;
                if young && model.stored() <= budget {
                    break;
                }
                model.forget(oldest);
                expected.push(ContentId::of(&bytes(oldest)));
            }
            assert_eq!(gone.contents, expected);
        }
        ModelStep::Reopen => *store = scratch.open(),
    }
}
