//! Reasons to verify a remembered answer with a search.

use hippo_map::consolidation::{EntryRecord, LearnedAnswer};
use hippo_types::entry::StrengthBand;

use super::super::question::SearchQuestion;

/// Returns the reason why the entry of the same question cannot answer alone, or `None` if it can.
pub(super) fn doubt(record: &EntryRecord, strength: f32, question: &SearchQuestion) -> Option<&'static str> {
    if StrengthBand::from_strength(strength) < StrengthBand::Moderate {
        return Some("the entry for the same query has a strength below 0.5: a search verifies the entry");
    }
    if question.filter.is_set() || question.request.min_score.is_some() {
        return Some("the query has a filter, and entries do not store filters: a search answers");
    }
    let learned = record.learned.as_deref();
    let full = learned.is_some_and(|learned| suffices(learned, question));
    (!full).then_some(
        "the entry for the same query stores fewer passages than requested: a search verifies the entry",
    )
}

/// Returns whether the entry remembers enough passages for the request.
fn suffices(learned: &LearnedAnswer, question: &SearchQuestion) -> bool {
    let budget = question.request.budget_tokens;
    let full = match (question.request.limit, budget) {
        (None, Some(budget)) => learned.tokens * 5 >= u64::from(budget) * 4,
        _ => learned.passages.len() >= question.limit,
    };
    full || learned.all
}
