//! Cache of postings of one generation of the index.

use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of chunk ids in the cache of postings. Each id has 4 bytes.
const POSTINGS_KEPT: usize = 1_000_000;

/// Postings of FTS5 expressions.
#[derive(Default)]
pub struct PostingsCache {
    generation: u64,
    kept: usize,
    terms: HashMap<String, Arc<[u32]>>,
}

impl PostingsCache {
    /// Returns the kept postings of an expression. Another generation empties the cache.
    pub fn get(&mut self, generation: u64, expression: &str) -> Option<Arc<[u32]>> {
        if self.generation != generation {
            *self = Self {
                generation,
                ..Self::default()
            };
        }
        self.terms.get(expression).cloned()
    }

    /// Keeps the postings of an expression.
    pub fn keep(&mut self, generation: u64, expression: &str, ids: &Arc<[u32]>) {
        if self.generation != generation || ids.len() > POSTINGS_KEPT {
            return;
        }
        if self.kept + ids.len() > POSTINGS_KEPT {
            self.terms.clear();
            self.kept = 0;
        }
        if self
            .terms
            .insert(expression.to_owned(), Arc::clone(ids))
            .is_none()
        {
            self.kept += ids.len();
        }
    }
}
