//! Effects of an answered query on the entries.

use std::collections::{BTreeSet, HashSet};

use hippo_map::consolidation::{EntryRecord, LearnedAnswer, PassageKey, RecordPlace};
use hippo_proto::{SearchHit, SearchMode, SearchResponse, SearchTrace, TraceMatch};
use hippo_redact::without_secrets;
use hippo_text::terms;
use hippo_types::entry::{EntryId, Pointer, StrengthBand};

use super::index_first::{EntryConsultation, Route};
use super::question::SearchQuestion;
use super::{SearchAnswer, SearchState};
use crate::message::{Lesson, QueryEffects, WorkspaceMessage};

/// Number of results at the top of an answer whose entries count as accessed.
const READ: usize = 3;
/// Maximum number of pointers in an entry that a query creates.
const POINTERS: usize = 6;
/// Number of best passages that are compared to recognize another wording of a question.
const COMPARED: usize = 10;
/// Minimum number of equal passages among them. Passages are found by meaning, so other words find the same passages.
const ALIKE: usize = 8;
/// Maximum number of passages in a remembered answer.
const REMEMBERED: usize = 200;
/// Maximum number of words of a query that become tags of its entry.
const TAGS: usize = 6;
/// Maximum number of characters in the topic of an entry that a query creates.
const TOPIC: usize = 80;
/// Maximum number of characters in the summary of an entry that a query creates.
const SUMMARY: usize = 160;

/// Adds to each result the entry that describes it. Sends the effects of the query to the engine, which stores them
/// without a delay of the answer.
pub fn complete(state: &SearchState, answered: SearchAnswer) -> SearchResponse {
    let SearchState {
        searcher,
        view,
        question,
        consulted,
    } = state;
    let SearchAnswer {
        mut response,
        passages,
        all,
        ..
    } = answered;
    let index = &consulted.index;
    if !view.config.index.enabled {
        return response;
    }
    for hit in response.results.iter_mut().filter(|hit| hit.origin.is_none()) {
        if let Some(record) = index.of_place(&hit.path, &hit.heading) {
            hit.entry = Some(record.entry.id.0.clone());
            hit.strength = Some(index.strength(record, question.at));
        }
    }
    let asked = matches!(question.mode, SearchMode::Hybrid | SearchMode::Index);
    let mut trace = QueryEffects {
        at: question.at,
        ..QueryEffects::default()
    };
    if let Some((record, _)) = consulted
        .learned
        .as_ref()
        .filter(|_| consulted.route == Route::Index)
    {
        trace.accessed.push(record.entry.id.clone());
    }
    let read = good_hits(&response, &passages).take(READ);
    for id in read.filter_map(|hit| hit.entry.clone()).map(EntryId) {
        if !trace.accessed.contains(&id) {
            trace.accessed.push(id);
        }
    }
    // If the index was degraded, for example without vectors, do not remember the answer. A later answer may be better.
    // Passages of the team are not remembered either, because they can change at any time.
    let is_own = response.results.iter().all(|hit| hit.origin.is_none());
    let whole = response.index.degraded.is_none() && is_own;
    let searched = question.mode == SearchMode::Hybrid && consulted.route != Route::Index;
    if searched
        && whole
        && question.may_be_learned()
        && !question.filter.is_set()
        && question.request.min_score.is_none()
    {
        trace.learned = lesson(question, &response, passages, all);
        let reworded = trace.learned.as_ref().and_then(|lesson| {
            let is_new = index.learned(&lesson.learned.cue).is_none();
            let mut records = index.records().iter().filter(|_| is_new);
            records.find(|record| is_rewording(record, &lesson.learned))
        });
        if let Some(known) = reworded {
            trace.learned = None;
            if !trace.accessed.contains(&known.entry.id) {
                trace.accessed.push(known.entry.id.clone());
            }
        }
    }
    if question.request.explain && asked {
        let known = trace
            .learned
            .as_ref()
            .and_then(|lesson| index.learned(&lesson.learned.cue));
        let fresh = question.request.record && known.is_none();
        let created = trace
            .learned
            .as_ref()
            .filter(|_| fresh)
            .map(|lesson| lesson.topic.clone());
        response.trace = Some(explain(question, consulted, created, &trace));
    }
    if question.request.record && asked && (!trace.accessed.is_empty() || trace.learned.is_some()) {
        searcher
            .engine
            .send_to(&view.root, WorkspaceMessage::Asked(trace));
    }
    response
}

/// Returns the good results of an answer, best first.
fn good_hits<'a>(
    response: &'a SearchResponse,
    passages: &'a [(PassageKey, bool)],
) -> impl Iterator<Item = &'a SearchHit> {
    let hits = response.results.iter().zip(passages);
    hits.filter_map(|(hit, (_, is_good))| is_good.then_some(hit))
}

/// Returns the data for an entry that remembers the answer to a query; `None` if the results are too weak or too many.
fn lesson(
    question: &SearchQuestion,
    response: &SearchResponse,
    passages: Vec<(PassageKey, bool)>,
    all: bool,
) -> Option<Lesson> {
    let cue = question.cue();
    let best = good_hits(response, &passages).next()?;
    let telling = question.terms.iter().any(|term| !term.stop);
    if !telling || passages.len() > REMEMBERED {
        return None;
    }
    let mut pointers: Vec<Pointer> = Vec::new();
    for hit in good_hits(response, &passages) {
        // If the heading contains a secret, point to the whole file.
        let shown = |title: &&String| !title.is_empty() && without_secrets(title) == title.as_str();
        let section = hit.heading.last().filter(shown).cloned();
        let pointer = Pointer {
            path: hit.path.clone(),
            section,
        };
        if pointers.len() < POINTERS && !pointers.contains(&pointer) {
            pointers.push(pointer);
        }
    }
    Some(Lesson {
        topic: cut(&without_secrets(&question.request.query), TOPIC)
            .trim_end_matches(['?', '.', '!', ' '])
            .to_owned(),
        summary: cut(&without_secrets(&best.text), SUMMARY),
        tags: tags(&without_secrets(&question.request.query)),
        pointers,
        learned: LearnedAnswer {
            cue,
            scores: response.results.iter().map(|hit| hit.score).collect(),
            passages: passages.into_iter().map(|(passage, _)| passage).collect(),
            tokens: response.tokens,
            all,
            at: question.at,
            generation: response.index.generation,
        },
    })
}

/// Returns whether an active entry was created by another wording of a question: both have the same best passage, and
/// share half of their words or most of their best passages.
fn is_rewording(record: &EntryRecord, asked: &LearnedAnswer) -> bool {
    let Some(known) = record.learned.as_deref() else {
        return false;
    };
    let best = known.passages.first();
    if record.place != RecordPlace::Index || best.is_none() || best != asked.passages.first() {
        return false;
    }
    let is_shared = |word: &&String| asked.cue.binary_search(word).is_ok();
    let shared = known.cue.iter().filter(is_shared).count();
    let firsts = |answer: &LearnedAnswer| {
        answer
            .passages
            .iter()
            .take(COMPARED)
            .cloned()
            .collect::<HashSet<_>>()
    };
    2 * shared >= known.cue.len() + asked.cue.len() - shared
        || firsts(known).intersection(&firsts(asked)).count() >= ALIKE
}

/// Returns the words of a query in lower case, without stop words.
fn tags(query: &str) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for word in query.split_whitespace() {
        let word = word
            .trim_matches(|mark: char| !mark.is_alphanumeric())
            .to_lowercase();
        let says = terms::query_terms(&word).iter().any(|term| !term.stop);
        if says && tags.len() < TAGS && seen.insert(word.clone()) {
            tags.push(word);
        }
    }
    tags
}

/// Returns the beginning of a text as one line, cut between words.
fn cut(text: &str, most: usize) -> String {
    let mut short = String::new();
    for word in text.split_whitespace() {
        if short.chars().count() + word.chars().count() + 1 > most {
            if short.is_empty() {
                short = word.chars().take(most).collect();
            }
            break;
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
    }
    short
}

fn explain(
    question: &SearchQuestion,
    consulted: &EntryConsultation,
    created: Option<String>,
    trace: &QueryEffects,
) -> SearchTrace {
    let learned = consulted
        .learned
        .iter()
        .map(|(record, strength)| (1.0, record, *strength));
    let matched = consulted
        .matches
        .iter()
        .map(|(hit, record, strength)| (hit.relevance, record, *strength));
    let mut seen = BTreeSet::new();
    let all = learned
        .chain(matched)
        .filter(|(_, record, _)| seen.insert(record.entry.id.clone()));
    SearchTrace {
        reason: consulted.reason.to_owned(),
        matches: all
            .map(|(relevance, record, strength)| TraceMatch {
                entry: record.entry.id.0.clone(),
                topic: record.entry.topic.clone(),
                relevance,
                strength,
                band: StrengthBand::from_strength(strength),
            })
            .collect(),
        created,
        refreshed: if question.request.record {
            trace.accessed.iter().map(|id| id.0.clone()).collect()
        } else {
            Vec::new()
        },
    }
}

#[cfg(test)]
mod tests {
    use hippo_types::entry::Entry;
    use hippo_types::time::Timestamp;

    use super::*;

    #[test]
    fn questions_with_the_same_answer_and_half_of_their_words_are_the_same() {
        let question = |words: &str, best: Option<&str>| LearnedAnswer {
            cue: words.split(' ').map(ToOwned::to_owned).collect(),
            passages: best
                .map(|path| PassageKey {
                    path: path.to_owned(),
                    hash: [7; 16],
                })
                .into_iter()
                .collect(),
            ..LearnedAnswer::default()
        };
        let mut asked = EntryRecord::new(Entry::default(), "Questions");
        asked.learned = Some(Box::new(question("coffe descal machin", Some("kitchen.md"))));
        for (words, best, same) in [
            ("coffe descal often", Some("kitchen.md"), true),
            ("coffe descal often", Some("office.md"), false),
            ("coffe descal often", None, false),
            ("bean coffe price", Some("kitchen.md"), false),
        ] {
            assert_eq!(
                is_rewording(&asked, &question(words, best)),
                same,
                "{words} {best:?}"
            );
        }
        let with_others = |words, others: std::ops::Range<u8>| {
            let mut answer = question(words, Some("kitchen.md"));
            answer.passages.extend(others.map(|at| PassageKey {
                path: "office.md".to_owned(),
                hash: [at; 16],
            }));
            answer
        };
        asked.learned = Some(Box::new(with_others("coffe descal machin", 0..9)));
        assert!(is_rewording(&asked, &with_others("limescal remov", 0..7)));
        assert!(!is_rewording(&asked, &with_others("limescal remov", 3..12)));
        asked.place = RecordPlace::Archive(Timestamp(0));
        assert!(!is_rewording(
            &asked,
            &question("coffe descal often", Some("kitchen.md"))
        ));
    }
}
