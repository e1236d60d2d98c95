//! Vector index: content, choice of search method, installation of builds.

use foldhash::HashMap;

use super::build::{BuildJob, BuiltGraph};
use super::error::VectorError;
use super::graph::HnswGraph;
use super::params::VectorParams;
use super::quantize;
use super::slots::{Codes, NONE, SlotSet};

/// Index that finds the ids of the nearest vectors. `search` takes `&self` and may run in many threads at once.
/// Changes take `&mut self`.
#[derive(Debug)]
pub struct VectorIndex {
    pub(super) dimension: usize,
    pub(super) params: VectorParams,
    pub(super) codes: Codes,
    /// The id in each slot; [`NONE`] if the vector was removed.
    pub(super) ids: Vec<u32>,
    pub(super) slot_of: HashMap<u32, u32>,
    pub(super) live: usize,
    /// Empty slots that are neither in the graph nor in the snapshot of a pending build.
    free: Vec<u32>,
    pub(super) graph: Option<HnswGraph>,
    /// Slots that the graph does not reach. They include empty slots.
    pub(super) outside: Vec<u32>,
    /// Number of vectors in the graph that were not removed.
    live_members: usize,
    pending: Option<PendingBuild>,
    next_token: u64,
}

/// A build in progress. Until it is installed, the codes in the slots of its snapshot must stay unchanged.
#[derive(Debug)]
struct PendingBuild {
    token: u64,
    slots: SlotSet,
}

impl VectorIndex {
    /// Creates an empty index for vectors of `dimension` (at least 1) with the default parameters.
    pub fn new(dimension: usize) -> Self {
        Self::with_params(dimension, VectorParams::default())
    }

    /// Creates an empty index with the given parameters.
    pub fn with_params(dimension: usize, params: VectorParams) -> Self {
        Self {
            dimension,
            params,
            codes: Codes::new(dimension),
            ids: Vec::new(),
            slot_of: HashMap::default(),
            live: 0,
            free: Vec::new(),
            graph: None,
            outside: Vec::new(),
            live_members: 0,
            pending: None,
            next_token: 1,
        }
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Returns true if the index has no vectors.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Returns the number of dimensions.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns true if `id` has a vector.
    pub fn contains(&self, id: u32) -> bool {
        self.slot_of.contains_key(&id)
    }

    /// Returns the parameters.
    pub fn params(&self) -> &VectorParams {
        &self.params
    }

    /// Changes the parameters. Graph parameters take effect with the next build.
    pub fn set_params(&mut self, params: VectorParams) {
        self.params = params;
    }

    /// Returns the memory used by codes, ids and graph, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.codes.memory_bytes()
            + 9 * self.slot_of.capacity()
            + 4 * (self.ids.capacity() + self.free.capacity() + self.outside.capacity())
            + self.graph.as_ref().map_or(0, HnswGraph::memory_bytes)
    }

    /// Adds or replaces the vector of `id`.
    ///
    /// # Errors
    /// Fails if the vector has a different number of dimensions, is not finite or is not of unit length, or if the id
    /// is `u32::MAX`. After an error, the index is unchanged.
    pub fn insert(&mut self, id: u32, vector: &[f32]) -> Result<(), VectorError> {
        quantize::check(vector, self.dimension)?;
        if id == NONE {
            return Err(VectorError::Id);
        }
        self.remove(id);
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = self.codes.len() as u32;
                self.ids.push(NONE);
                if self.graph.is_some() {
                    self.outside.push(slot);
                }
                slot
            }
        };
        self.codes.write(slot as usize, vector);
        self.ids[slot as usize] = id;
        self.slot_of.insert(id, slot);
        self.live += 1;
        Ok(())
    }

    /// Removes the vector of `id`. Returns false if there was none.
    pub fn remove(&mut self, id: u32) -> bool {
        let Some(slot) = self.slot_of.remove(&id) else {
            return false;
        };
        self.ids[slot as usize] = NONE;
        self.live -= 1;
        let member = self.graph.as_ref().is_some_and(|g| g.members.contains(slot));
        self.live_members -= usize::from(member);
        if !member && !self.pending.as_ref().is_some_and(|p| p.slots.contains(slot)) {
            self.free.push(slot);
            if self.graph.is_none() && self.pending.is_none() && self.free.len() > self.live + 4096 {
                self.compact();
            }
        }
        true
    }

    /// Returns true if a search without a filter would use the graph.
    pub fn uses_graph(&self) -> bool {
        self.graph.is_some() && self.live > self.params.exact_below
    }

    /// Returns true if a graph is installed.
    pub fn has_graph(&self) -> bool {
        self.graph.is_some()
    }

    /// Returns the number of removed vectors that still occupy memory, in the graph or in free slots.
    pub fn tombstones(&self) -> usize {
        let dead = self
            .graph
            .as_ref()
            .map_or(0, |graph| graph.members.count() - self.live_members);
        dead + self.free.len()
    }

    /// Returns true if a build is worthwhile. There are four cases: the index is too large for a scan and has no
    /// graph; more than 30 % of the graph's vectors were removed; more than 10 % (at least 10,000) were added
    /// outside the graph; or the graph is no longer used.
    pub fn needs_rebuild(&self) -> bool {
        let Some(graph) = &self.graph else {
            return self.live > self.params.exact_below;
        };
        let members = graph.members.count();
        let dead = members - self.live_members;
        let added = self.live - self.live_members;
        self.live <= self.params.exact_below / 2
            || 10 * dead > 3 * members
            || added > (members / 10).max(10_000)
    }

    /// Creates a snapshot from which a graph can be built. The snapshot shares the codes with the index. It
    /// invalidates any earlier snapshot.
    pub fn snapshot_for_build(&mut self) -> BuildJob {
        let mut kept = SlotSet::with_slots(self.ids.len());
        let slots: Vec<u32> = (0..self.ids.len() as u32)
            .filter(|&s| self.ids[s as usize] != NONE && kept.insert(s))
            .collect();
        let token = self.next_token;
        self.next_token += 1;
        self.pending = Some(PendingBuild { token, slots: kept });
        self.recompute_slots();
        BuildJob {
            token,
            codes: self.codes.clone(),
            slots,
            params: self.params.clone(),
        }
    }

    /// Installs a completed build and preserves the changes since its snapshot. Returns false and changes nothing if
    /// a later snapshot or a call of [`abandon_build`](Self::abandon_build) invalidated the build.
    pub fn install(&mut self, built: BuiltGraph) -> bool {
        if self.pending.as_ref().is_none_or(|p| p.token != built.token) {
            return false;
        }
        self.pending = None;
        self.graph = built.graph;
        self.recompute_slots();
        if self.graph.is_none() && !self.free.is_empty() {
            self.compact();
        }
        true
    }

    /// Discards the last snapshot after its build was cancelled. This releases the slots of the snapshot.
    pub fn abandon_build(&mut self) {
        self.pending = None;
        self.recompute_slots();
    }

    /// Recomputes the fields that are derived from the slots, the graph and the pending build.
    fn recompute_slots(&mut self) {
        let member = |slot: u32| self.graph.as_ref().is_some_and(|g| g.members.contains(slot));
        let pinned = |slot: u32| self.pending.as_ref().is_some_and(|p| p.slots.contains(slot));
        let slots = 0..self.ids.len() as u32;
        let dead = |slot: u32| self.ids[slot as usize] == NONE;
        self.live_members = slots.clone().filter(|&s| !dead(s) && member(s)).count();
        self.free = slots
            .clone()
            .filter(|&s| dead(s) && !member(s) && !pinned(s))
            .collect();
        self.outside = if self.graph.is_some() {
            slots.filter(|&s| !member(s)).collect()
        } else {
            Vec::new()
        };
    }

    /// Removes empty slots. Call it only without a graph and without a pending build, because both refer to slots.
    fn compact(&mut self) {
        let slots: Vec<u32> = (0..self.ids.len() as u32)
            .filter(|&s| self.ids[s as usize] != NONE)
            .collect();
        self.codes = self.codes.gather(&slots);
        self.ids = slots.iter().map(|&s| self.ids[s as usize]).collect();
        for (slot, &id) in self.ids.iter().enumerate() {
            self.slot_of.insert(id, slot as u32);
        }
        self.free = Vec::new();
    }
}
