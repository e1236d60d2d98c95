//! Texts of shares that are kept in memory.

use std::sync::Arc;

use super::{LocalShares, OwnerRules, Reach, ShareRule};
use crate::index::IndexView;
use crate::view::WorkspaceView;

/// Number of owners whose covered texts are kept in memory.
const REACHES: usize = 32;

/// Covered texts, and the state of the owner in which they were found.
pub(super) struct KnownReach {
    rules: Vec<Arc<ShareRule>>,
    index: Arc<IndexView>,
    generation: u64,
    reach: Arc<Reach>,
}

impl LocalShares {
    /// Returns the texts that the rules of an owner cover now. Finds them again only if the owner has changed.
    pub fn reach(&self, owner: &OwnerRules, view: &WorkspaceView) -> Arc<Reach> {
        let (index, generation) = (view.index(), view.snapshot().generation);
        let has_rules = |known: &KnownReach| {
            let both = known.rules.iter().zip(&owner.rules);
            known.rules.len() == owner.rules.len()
                && both.into_iter().all(|(one, other)| Arc::ptr_eq(one, other))
        };
        let is_same = |known: &&KnownReach| {
            Arc::ptr_eq(&known.index, &index) && known.generation == generation && has_rules(known)
        };
        if let Some(known) = self.reaches.lock().iter().find(is_same) {
            return Arc::clone(&known.reach);
        }
        let reach = Arc::new(Reach::find(owner, view));
        let mut reaches = self.reaches.lock();
        reaches.retain(|known| !has_rules(known));
        if reaches.len() == REACHES {
            reaches.remove(0);
        }
        reaches.push(KnownReach {
            rules: owner.rules.clone(),
            index,
            generation,
            reach: Arc::clone(&reach),
        });
        reach
    }
}
