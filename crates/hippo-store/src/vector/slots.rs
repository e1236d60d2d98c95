//! Storage of codes in slots and blocks, and sets of slots.

use std::sync::Arc;

use super::quantize;

/// Number of vectors per block. A block with 384 dimensions takes 1.5 MB. A change to a
/// block that a build also uses copies the block first.
pub(super) const BLOCK: usize = 4096;
/// The id of an empty slot.
pub(super) const NONE: u32 = u32::MAX;

/// Codes of up to [`BLOCK`] vectors.
#[derive(Debug, Clone, Default)]
pub(super) struct CodeBlock {
    pub upper: Vec<u8>,
    pub lower: Vec<u8>,
    pub scales: Vec<f32>,
}

/// The codes of all slots. A clone shares the blocks, so that a snapshot for a build is cheap.
#[derive(Debug, Clone)]
pub(super) struct Codes {
    half: usize,
    pub blocks: Vec<Arc<CodeBlock>>,
    len: usize,
}

impl Codes {
    pub fn new(dimension: usize) -> Self {
        Self {
            half: quantize::half_len(dimension),
            blocks: Vec::new(),
            len: 0,
        }
    }

    /// Returns the number of slots, including empty ones.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of bytes in one plane of one vector.
    pub fn plane_bytes(&self) -> usize {
        self.half
    }

    /// Writes a validated vector into an existing slot, or into a new slot at the end.
    pub fn write(&mut self, slot: usize, vector: &[f32]) {
        if slot == self.len {
            if slot.is_multiple_of(BLOCK) {
                self.blocks.push(Arc::default());
            }
            self.len += 1;
        }
        let half = self.half;
        let block = Arc::make_mut(&mut self.blocks[slot / BLOCK]);
        let at = slot % BLOCK;
        if at == block.scales.len() {
            block.upper.resize((at + 1) * half, 0);
            block.lower.resize((at + 1) * half, 0);
            block.scales.push(0.0);
        }
        let range = at * half..(at + 1) * half;
        block.scales[at] = quantize::encode(vector, &mut block.upper[range.clone()], &mut block.lower[range]);
    }

    pub fn upper_plane(&self, slot: u32) -> &[u8] {
        let at = slot as usize % BLOCK * self.half;
        &self.blocks[slot as usize / BLOCK].upper[at..at + self.half]
    }

    pub fn lower_plane(&self, slot: u32) -> &[u8] {
        let at = slot as usize % BLOCK * self.half;
        &self.blocks[slot as usize / BLOCK].lower[at..at + self.half]
    }

    pub fn scale(&self, slot: u32) -> f32 {
        self.blocks[slot as usize / BLOCK].scales[slot as usize % BLOCK]
    }

    /// Returns a copy with only the given slots, in the given order.
    pub fn gather(&self, slots: &[u32]) -> Self {
        let mut to = Self {
            half: self.half,
            blocks: Vec::new(),
            len: 0,
        };
        for part in slots.chunks(BLOCK) {
            let mut block = CodeBlock::default();
            for &slot in part {
                block.upper.extend_from_slice(self.upper_plane(slot));
                block.lower.extend_from_slice(self.lower_plane(slot));
                block.scales.push(self.scale(slot));
            }
            to.len += part.len();
            to.blocks.push(Arc::new(block));
        }
        to
    }

    pub fn memory_bytes(&self) -> usize {
        let of = |b: &Arc<CodeBlock>| b.upper.capacity() + b.lower.capacity() + 4 * b.scales.capacity();
        self.blocks.iter().map(of).sum()
    }
}

/// A fixed set of slots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SlotSet {
    pub words: Vec<u64>,
}

impl SlotSet {
    pub fn with_slots(slots: usize) -> Self {
        Self {
            words: vec![0; slots.div_ceil(64)],
        }
    }

    pub fn contains(&self, slot: u32) -> bool {
        self.words
            .get(slot as usize / 64)
            .is_some_and(|w| w >> (slot % 64) & 1 == 1)
    }

    /// Adds a slot to the set. Returns false if it was already in the set. The slot must be below the size of the
    /// set.
    pub fn insert(&mut self, slot: u32) -> bool {
        let word = &mut self.words[slot as usize / 64];
        let bit = 1 << (slot % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }
}
