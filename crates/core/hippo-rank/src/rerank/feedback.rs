//! Resemblance of the candidates to the best candidates (pseudo-relevance feedback).

use std::collections::{BTreeMap, HashMap};

use super::FEEDBACK;
use super::text::TextFacts;

/// Returns for each candidate its cosine with the sum of the best [`FEEDBACK`] other candidates. Terms are weighted by
/// their inverse document frequency among the candidates.
pub(super) fn resemblance(facts: &[TextFacts]) -> Vec<f32> {
    let mut counts: HashMap<u32, f32> = HashMap::new();
    for term in facts.iter().flat_map(|text| &text.terms) {
        *counts.entry(*term).or_default() += 1.0;
    }
    let all = facts.len() as f32;
    let weight = |term: &u32| (1.0 + all / counts[term]).ln();
    let mut top: BTreeMap<u32, f32> = BTreeMap::new();
    for term in facts.iter().take(FEEDBACK).flat_map(|text| &text.terms) {
        *top.entry(*term).or_default() += 1.0;
    }
    let of_top: f32 = top
        .iter()
        .map(|(term, count)| (count * weight(term)).powi(2))
        .sum();
    (facts.iter().enumerate())
        .map(|(at, text)| {
            let own = f32::from(u8::from(at < FEEDBACK));
            let (mut product, mut of_text, mut removed) = (0.0, 0.0, 0.0);
            for term in &text.terms {
                let square = weight(term).powi(2);
                let among = top.get(term).copied().unwrap_or(0.0);
                product += (among - own).max(0.0) * square;
                of_text += square;
                // A candidate at the top is compared with the sum of the others.
                removed += square * (among * among - (among - own).powi(2));
            }
            let norm = of_text * (of_top - removed);
            if norm > 0.0 { product / norm.sqrt() } else { 0.0 }
        })
        .collect()
}
