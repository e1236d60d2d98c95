//! File format of the vector index, with complete validation.
//!
//! `vectors.hvi` consists of the magic (8 bytes), the version (u32), the length of the header (u32), the header (JSON),
//! the BLAKE3 hash of all these (32 bytes), and the body. The header contains the identity, the shape and the BLAKE3
//! hash of the body. No part is interpreted before its checksum is verified. After that, the arrays are checked for
//! consistency, so that no file can make loading panic or abort. Integers and floats are little-endian.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::system::sync_folder;

use super::error::{DumpRejected, RejectReason};
use super::graph::{GraphLinks, GraphPart, HnswGraph, UpperLayer};
use super::index::VectorIndex;
use super::params::VectorParams;
use super::slots::{BLOCK, CodeBlock, Codes, NONE, SlotSet};

/// File name of the dump in its folder.
pub const DUMP_FILE: &str = "vectors.hvi";
const MAGIC: &[u8; 8] = b"HIPPOVEC";
const VERSION: u32 = 2;
/// Maximum length of a header in bytes. Actual headers are shorter than 1 KB.
const MAX_HEADER: usize = 64 * 1024;

/// The state of the store that a dump belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DumpIdentity {
    /// The model of the vectors.
    pub model_id: String,
    /// Number of dimensions.
    pub dimension: usize,
    /// Generation of the embeddings in the store.
    pub generation: u64,
    /// Number of vectors.
    pub count: usize,
    /// Checksum of the store over the ids and contents of the vectors.
    pub content: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DumpHeader {
    identity: DumpIdentity,
    slots: usize,
    graph: Option<GraphShape>,
    body_blake3: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphShape {
    /// Number of slots when the graph was built.
    slots: usize,
    base_links: usize,
    parts: Vec<PartShape>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartShape {
    entry: u32,
    /// Number of nodes and links of each layer above the lowest.
    uppers: Vec<(usize, usize)>,
}

impl VectorIndex {
    /// Writes the index to `dir`, which is created if necessary: temporary file, fsync, rename, fsync of the folder.
    ///
    /// # Errors
    /// Returns any error of the operating system. After an error, an earlier dump is unchanged.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn save(&self, dir: &Path, identity: &DumpIdentity) -> io::Result<()> {
        fs::create_dir_all(dir)?;
        let mut hasher = blake3::Hasher::new();
        self.write_body(&mut hasher)?;
        let header = DumpHeader {
            identity: identity.clone(),
            slots: self.ids.len(),
            graph: self.graph.as_ref().map(shape_of),
            body_blake3: hasher.finalize().to_hex().to_string(),
        };
        let json = serde_json::to_vec(&header)?;
        let mut head = Vec::with_capacity(json.len() + 48);
        head.extend_from_slice(MAGIC);
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.extend_from_slice(&(json.len() as u32).to_le_bytes());
        head.extend_from_slice(&json);
        head.extend_from_slice(blake3::hash(&head).as_bytes());

        let temporary = dir.join(format!("{DUMP_FILE}.tmp"));
        let written = (|| {
            let mut out = BufWriter::with_capacity(1 << 20, File::create(&temporary)?);
            out.write_all(&head)?;
            self.write_body(&mut out)?;
            out.into_inner()
                .map_err(io::IntoInnerError::into_error)?
                .sync_all()?;
            fs::rename(&temporary, dir.join(DUMP_FILE))
        })();
        if written.is_err() {
            // Ignore this error, because the first error is the one to report.
            let _ = fs::remove_file(&temporary);
            return written;
        }
        sync_folder(dir)
    }

    /// Loads the dump in `dir` if it belongs to `expect` and is intact.
    ///
    /// # Errors
    /// Returns [`DumpRejected`] with the reason. Never panics.
    pub fn load(dir: &Path, expect: &DumpIdentity, params: VectorParams) -> Result<Self, DumpRejected> {
        read(&dir.join(DUMP_FILE), expect, params).map_err(|reason| DumpRejected { reason })
    }

    fn write_body(&self, out: &mut dyn Write) -> io::Result<()> {
        write_u32s(out, &self.ids)?;
        for block in &self.codes.blocks {
            out.write_all(&block.upper)?;
            out.write_all(&block.lower)?;
            for scale in &block.scales {
                out.write_all(&scale.to_le_bytes())?;
            }
        }
        let Some(graph) = &self.graph else { return Ok(()) };
        for word in &graph.members.words {
            out.write_all(&word.to_le_bytes())?;
        }
        write_u32s(out, &graph.base.offsets)?;
        write_u32s(out, &graph.base.links)?;
        for upper in graph.parts.iter().flat_map(|part| &part.uppers) {
            write_u32s(out, &upper.nodes)?;
            write_u32s(out, &upper.links.offsets)?;
            write_u32s(out, &upper.links.links)?;
        }
        Ok(())
    }
}

fn shape_of(graph: &HnswGraph) -> GraphShape {
    let part = |part: &GraphPart| PartShape {
        entry: part.entry,
        uppers: part
            .uppers
            .iter()
            .map(|u| (u.nodes.len(), u.links.links.len()))
            .collect(),
    };
    GraphShape {
        slots: graph.base.offsets.len().saturating_sub(1),
        base_links: graph.base.links.len(),
        parts: graph.parts.iter().map(part).collect(),
    }
}

fn write_u32s(out: &mut dyn Write, values: &[u32]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(4 * 4096);
    for part in values.chunks(4096) {
        bytes.clear();
        part.iter()
            .for_each(|v| bytes.extend_from_slice(&v.to_le_bytes()));
        out.write_all(&bytes)?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn read(path: &Path, expect: &DumpIdentity, params: VectorParams) -> Result<VectorIndex, RejectReason> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(RejectReason::Missing),
        other => other?,
    };
    let size = file.metadata()?.len();
    let mut input = BufReader::with_capacity(1 << 20, file);
    let (header, head_len) = read_header(&mut input)?;
    compare(&header.identity, expect)?;
    let half = Codes::new(expect.dimension).plane_bytes();
    let body = body_len(&header, half).ok_or(RejectReason::Malformed)?;
    if size.checked_sub(head_len) != Some(body) {
        return Err(RejectReason::Length);
    }

    let mut body = DumpBody {
        input,
        hasher: blake3::Hasher::new(),
    };
    let ids = body.u32s(header.slots)?;
    let mut codes = Codes::new(expect.dimension);
    let mut left = header.slots;
    while left > 0 {
        let count = left.min(BLOCK);
        let (upper, lower) = (body.bytes(count * half)?, body.bytes(count * half)?);
        let scales = body.u32s(count)?.into_iter().map(f32::from_bits).collect();
        codes.push_block(CodeBlock { upper, lower, scales });
        left -= count;
    }
    let graph = match &header.graph {
        None => None,
        Some(shape) => Some(body.graph(shape)?),
    };
    if body.hasher.finalize().to_hex().as_str() != header.body_blake3 {
        return Err(RejectReason::Checksum);
    }
    let live = ids.iter().filter(|&&id| id != NONE).count();
    let scales_finite = codes
        .blocks
        .iter()
        .all(|b| b.scales.iter().all(|s| s.is_finite()));
    if live != expect.count || !scales_finite || graph.as_ref().is_some_and(|g| !g.is_valid(header.slots)) {
        return Err(RejectReason::Malformed);
    }
    let index = VectorIndex::assemble(expect.dimension, params, codes, ids, graph);
    // `assemble` drops repeated ids, which shows in the number of vectors.
    if index.len() == live {
        Ok(index)
    } else {
        Err(RejectReason::Malformed)
    }
}

fn read_header(input: &mut impl Read) -> Result<(DumpHeader, u64), RejectReason> {
    let mut fixed = [0u8; 16];
    input.read_exact(&mut fixed)?;
    let ([magic, words], _) = fixed.as_chunks::<8>() else {
        return Err(RejectReason::NotADump);
    };
    if magic != MAGIC {
        return Err(RejectReason::NotADump);
    }
    let version = u32::from_le_bytes([words[0], words[1], words[2], words[3]]);
    if version != VERSION {
        return Err(RejectReason::Version(version));
    }
    let len = u32::from_le_bytes([words[4], words[5], words[6], words[7]]) as usize;
    if len > MAX_HEADER {
        return Err(RejectReason::Checksum);
    }
    let mut rest = vec![0u8; len + 32];
    input.read_exact(&mut rest)?;
    let (json, checksum) = rest.split_at(len);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&fixed).update(json);
    if hasher.finalize().as_bytes() != checksum {
        return Err(RejectReason::Checksum);
    }
    let header = serde_json::from_slice(json).map_err(|_| RejectReason::Malformed)?;
    Ok((header, (fixed.len() + rest.len()) as u64))
}

fn compare(found: &DumpIdentity, expect: &DumpIdentity) -> Result<(), RejectReason> {
    let DumpIdentity {
        model_id,
        dimension,
        generation,
        count,
        content,
    } = found;
    let differs = [
        ("model", *model_id != expect.model_id),
        ("dimension", *dimension != expect.dimension),
        ("generation", *generation != expect.generation),
        ("count", *count != expect.count),
        ("content", *content != expect.content),
    ];
    match differs.iter().find(|(_, differs)| *differs) {
        Some((field, _)) => Err(RejectReason::Identity(field)),
        None => Ok(()),
    }
}

/// Returns the length of the body according to the header, or `None` if the numbers overflow.
fn body_len(header: &DumpHeader, half: usize) -> Option<u64> {
    let slots = header.slots as u64;
    let mut words = slots.checked_mul(2)?;
    let mut bytes = slots.checked_mul(2 * half as u64)?;
    if let Some(graph) = &header.graph {
        let slots = graph.slots as u64;
        bytes = bytes.checked_add(8 * slots.div_ceil(64))?;
        words = words
            .checked_add(slots.checked_add(1)?)?
            .checked_add(graph.base_links as u64)?;
        for &(nodes, links) in graph.parts.iter().flat_map(|part| &part.uppers) {
            words = words.checked_add((nodes as u64).checked_mul(2)?.checked_add(1)?)?;
            words = words.checked_add(links as u64)?;
        }
    }
    words.checked_mul(4)?.checked_add(bytes)
}

/// A reader of the body that also computes its hash.
struct DumpBody<R> {
    input: R,
    hasher: blake3::Hasher,
}

impl<R: Read> DumpBody<R> {
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, RejectReason> {
        let mut bytes = vec![0u8; count];
        self.input.read_exact(&mut bytes)?;
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    fn u32s(&mut self, count: usize) -> Result<Vec<u32>, RejectReason> {
        let mut values = Vec::with_capacity(count);
        let mut left = count;
        while left > 0 {
            let part = left.min(1 << 16);
            let bytes = self.bytes(4 * part)?;
            values.extend(bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)));
            left -= part;
        }
        Ok(values)
    }

    fn links(&mut self, nodes: usize, links: usize) -> Result<GraphLinks, RejectReason> {
        Ok(GraphLinks {
            offsets: self.u32s(nodes + 1)?,
            links: self.u32s(links)?,
        })
    }

    fn part(&mut self, shape: &PartShape) -> Result<GraphPart, RejectReason> {
        let upper = |&(nodes, links): &(usize, usize)| {
            let nodes_of = self.u32s(nodes)?;
            self.links(nodes, links).map(|links| UpperLayer {
                nodes: nodes_of,
                links,
            })
        };
        let uppers = shape.uppers.iter().map(upper).collect::<Result<_, _>>()?;
        Ok(GraphPart {
            entry: shape.entry,
            uppers,
        })
    }

    fn graph(&mut self, shape: &GraphShape) -> Result<HnswGraph, RejectReason> {
        let slots = shape.slots;
        let words = self.bytes(8 * slots.div_ceil(64))?;
        let words = words
            .as_chunks::<8>()
            .0
            .iter()
            .map(|b| u64::from_le_bytes(*b))
            .collect();
        let base = self.links(slots, shape.base_links)?;
        let parts = shape.parts.iter().map(|part| self.part(part));
        let parts = parts.collect::<Result<_, _>>()?;
        Ok(HnswGraph {
            parts,
            base,
            members: SlotSet { words },
        })
    }
}
