//! The index itself: what is in it, which path a query takes, how a build is taken over.

use std::fmt;

use super::build::{BuildJob, Built};
use super::error::VectorError;
use super::graph::Graph;
use super::params::VectorParams;
use super::quantize;
use super::slots::{Codes, NONE, SlotOf, SlotSet};

/// The nearest vectors by id. `search` takes `&self` and may run in many threads; changes take `&mut self`.
pub struct VectorIndex {
    pub(super) dimension: usize,
    pub(super) params: VectorParams,
    pub(super) codes: Codes,
    /// The id in each slot, [`NONE`] where the vector was removed.
    pub(super) ids: Vec<u32>,
    pub(super) slot_of: SlotOf,
    pub(super) live: usize,
    /// Slots without a vector that neither the graph nor a pending build refers to.
    free: Vec<u32>,
    pub(super) graph: Option<Graph>,
    /// Slots that the graph does not reach, empty ones too.
    pub(super) outside: Vec<u32>,
    /// Live members of the graph.
    live_members: usize,
    pending: Option<Pending>,
    next_token: u64,
}

/// A build under way: the slots of its snapshot must keep their codes until it is installed.
struct Pending {
    token: u64,
    slots: SlotSet,
}

impl fmt::Debug for VectorIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("VectorIndex");
        f.field("dimension", &self.dimension)
            .field("live", &self.live)
            .field("slots", &self.ids.len());
        f.field("graph", &self.graph.is_some()).finish_non_exhaustive()
    }
}

impl VectorIndex {
    /// An empty index for vectors of `dimension` (at least 1) with the default parameters.
    pub fn new(dimension: usize) -> Self {
        Self::with_params(dimension, VectorParams::default())
    }

    /// An empty index with parameters of its own.
    pub fn with_params(dimension: usize, params: VectorParams) -> Self {
        let codes = Codes::new(dimension);
        Self::assemble(dimension, params, codes, Vec::new(), None)
    }

    /// Puts an index together from its stored parts. The parts must fit each other; a repeated id keeps its first
    /// slot.
    pub(super) fn assemble(
        dimension: usize,
        params: VectorParams,
        codes: Codes,
        mut ids: Vec<u32>,
        graph: Option<Graph>,
    ) -> Self {
        let mut slot_of = SlotOf::default();
        let mut live = 0;
        for (slot, id) in ids.iter_mut().enumerate().filter(|(_, id)| **id != NONE) {
            if slot_of.get(*id).is_some() {
                *id = NONE;
            } else {
                slot_of.set(*id, slot as u32);
                live += 1;
            }
        }
        let mut index = Self {
            dimension,
            params,
            codes,
            ids,
            slot_of,
            live,
            free: Vec::new(),
            graph,
            outside: Vec::new(),
            live_members: 0,
            pending: None,
            next_token: 1,
        };
        index.take_stock();
        index
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether there is no vector.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Number of dimensions of every vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Whether `id` has a vector.
    pub fn contains(&self, id: u32) -> bool {
        self.slot_of.get(id).is_some()
    }

    /// The parameters in force.
    pub fn params(&self) -> &VectorParams {
        &self.params
    }

    /// Changes the parameters; those of the graph act from the next build on.
    pub fn set_params(&mut self, params: VectorParams) {
        self.params = params;
    }

    /// Bytes held for codes, ids and graph.
    pub fn memory_bytes(&self) -> usize {
        self.codes.memory_bytes()
            + self.slot_of.memory_bytes()
            + 4 * (self.ids.capacity() + self.free.capacity() + self.outside.capacity())
            + self.graph.as_ref().map_or(0, Graph::memory_bytes)
    }

    /// Adds the vector of `id`, or replaces it.
    ///
    /// # Errors
    /// When the vector has another dimension, is not finite or not of unit length, or the id is `u32::MAX`; the
    /// index is unchanged then.
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
        self.slot_of.set(id, slot);
        self.live += 1;
        Ok(())
    }

    /// Removes the vector of `id`; false when there was none.
    pub fn remove(&mut self, id: u32) -> bool {
        let Some(slot) = self.slot_of.get(id) else {
            return false;
        };
        self.slot_of.set(id, NONE);
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

    /// Whether a search without filter would walk the graph.
    pub fn uses_graph(&self) -> bool {
        self.graph.is_some() && self.live > self.params.exact_below
    }

    /// Whether there is a graph.
    pub fn has_graph(&self) -> bool {
        self.graph.is_some()
    }

    /// Removed vectors that still take room, in the graph or as free slots.
    pub fn tombstones(&self) -> usize {
        let dead = self
            .graph
            .as_ref()
            .map_or(0, |graph| graph.members.count() - self.live_members);
        dead + self.free.len()
    }

    /// Whether a build would pay: there are more vectors than are scanned and no graph, or a graph of which more
    /// than 30 % was removed or beside which more than 10 % (at least 10,000) was added; or a graph that is not used
    /// any more.
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

    /// A snapshot to build a graph from; shares the codes with the index. A later snapshot makes an earlier one
    /// void.
    pub fn snapshot_for_build(&mut self) -> BuildJob {
        let mut kept = SlotSet::with_slots(self.ids.len());
        let slots: Vec<u32> = (0..self.ids.len() as u32)
            .filter(|&s| self.ids[s as usize] != NONE && kept.insert(s))
            .collect();
        let token = self.next_token;
        self.next_token += 1;
        self.pending = Some(Pending { token, slots: kept });
        self.take_stock();
        BuildJob {
            token,
            codes: self.codes.clone(),
            slots,
            params: self.params.clone(),
        }
    }

    /// Takes a finished build over. What was inserted or removed since the snapshot stays so. False, and nothing
    /// changes, when a later snapshot or [`abandon_build`](Self::abandon_build) made the build void.
    pub fn install(&mut self, built: Built) -> bool {
        if self.pending.as_ref().is_none_or(|p| p.token != built.token) {
            return false;
        }
        self.pending = None;
        self.graph = built.graph;
        self.take_stock();
        if self.graph.is_none() && !self.free.is_empty() {
            self.compact();
        }
        true
    }

    /// Forgets the last snapshot after its build was cancelled, so that its slots can be used again.
    pub fn abandon_build(&mut self) {
        self.pending = None;
        self.take_stock();
    }

    /// Recomputes what follows from slots, graph and pending build.
    fn take_stock(&mut self) {
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

    /// Closes the gaps that removals left. Only without graph and pending build, which refer to slots.
    fn compact(&mut self) {
        let slots: Vec<u32> = (0..self.ids.len() as u32)
            .filter(|&s| self.ids[s as usize] != NONE)
            .collect();
        self.codes = self.codes.gather(&slots);
        self.ids = slots.iter().map(|&s| self.ids[s as usize]).collect();
        for (slot, &id) in self.ids.iter().enumerate() {
            self.slot_of.set(id, slot as u32);
        }
        self.free = Vec::new();
    }
}
