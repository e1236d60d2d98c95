//! File format of the saved vector index.
//!
//! `vectors.hvi` consists of the magic (8 bytes), a BLAKE3 hash (32 bytes) and the body. The hash covers the identity of
//! the stored state, which is not in the file, and the body. The body is a sequence of lists, each preceded by its length
//! in bytes (u64). Integers and floats are little-endian.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use crate::system::sync_folder;

use super::error::DumpRejected;
use super::graph::{GraphLinks, GraphPart, HnswGraph, UpperLayer};
use super::index::VectorIndex;
use super::params::VectorParams;
use super::slots::{BLOCK, CodeBlock, Codes, SlotSet};

/// File name of the dump in its folder.
pub const DUMP_FILE: &str = "vectors.hvi";
const MAGIC: &[u8; 8] = b"HIPPOVE3";

impl VectorIndex {
    /// Saves the index in `dir`, in place of an earlier dump. The file is durable before it gets its name. `identity`
    /// describes the state of the store: the model, the generation of its vectors and their number.
    ///
    /// # Errors
    /// Returns the error of the operating system; the earlier dump then stays.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn save(&self, dir: &Path, identity: &str) -> io::Result<()> {
        fs::create_dir_all(dir)?;
        let mut hasher = hasher_of(identity);
        self.write_body(&mut hasher)?;
        let temporary = dir.join(format!("{DUMP_FILE}.tmp"));
        let written = (|| {
            let mut out = BufWriter::with_capacity(1 << 20, File::create(&temporary)?);
            out.write_all(MAGIC)?;
            out.write_all(hasher.finalize().as_bytes())?;
            self.write_body(&mut out)?;
            out.into_inner()
                .map_err(io::IntoInnerError::into_error)?
                .sync_all()?;
            fs::rename(&temporary, dir.join(DUMP_FILE))
        })();
        if written.is_err() {
            // An incomplete file is useless.
            let _ = fs::remove_file(&temporary);
            return written;
        }
        sync_folder(dir)
    }

    /// Loads the index of this identity from `dir`.
    ///
    /// # Errors
    /// Returns [`DumpRejected`] if there is no dump, or if it is damaged or has another identity.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn load(
        dir: &Path,
        identity: &str,
        dimension: usize,
        params: VectorParams,
    ) -> Result<Self, DumpRejected> {
        let file = File::open(dir.join(DUMP_FILE))?;
        let mut body = DumpReader {
            left: file.metadata()?.len(),
            input: BufReader::with_capacity(1 << 20, file),
            hasher: hasher_of(identity),
        };
        let mut head = [0; 40];
        body.input.read_exact(&mut head)?;
        body.left -= head.len() as u64;
        let ids = body.u32s()?;
        let mut codes = Codes::new(dimension);
        for _ in 0..ids.len().div_ceil(BLOCK) {
            let (upper, lower) = (body.list()?, body.list()?);
            let scales = body.u32s()?.into_iter().map(f32::from_bits).collect();
            codes.push_block(CodeBlock { upper, lower, scales });
        }
        let graph = body.graph()?;
        let is_whole = body.left == 0 && head[..8] == *MAGIC;
        if !is_whole || head[8..] != *body.hasher.finalize().as_bytes() {
            return Err(DumpRejected::Mismatch);
        }
        Ok(Self::assemble(dimension, params, codes, ids, graph))
    }

    fn write_body(&self, out: &mut dyn Write) -> io::Result<()> {
        write_u32s(out, &self.ids)?;
        for block in &self.codes.blocks {
            write_list(out, &block.upper)?;
            write_list(out, &block.lower)?;
            let scales: Vec<u32> = block.scales.iter().map(|scale| scale.to_bits()).collect();
            write_u32s(out, &scales)?;
        }
        let Some(graph) = &self.graph else {
            return write_u32s(out, &[]);
        };
        let entries: Vec<u32> = graph.parts.iter().map(|part| part.entry).collect();
        write_u32s(out, &entries)?;
        for part in &graph.parts {
            write_u32s(out, &[part.uppers.len() as u32])?;
            for layer in &part.uppers {
                write_u32s(out, &layer.nodes)?;
                write_links(out, &layer.links)?;
            }
        }
        write_links(out, &graph.base)?;
        let members: Vec<u8> = graph
            .members
            .words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        write_list(out, &members)
    }
}

fn hasher_of(identity: &str) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(identity.len() as u64).to_le_bytes());
    hasher.update(identity.as_bytes());
    hasher
}

fn write_list(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(&(bytes.len() as u64).to_le_bytes())?;
    out.write_all(bytes)
}

fn write_u32s(out: &mut dyn Write, values: &[u32]) -> io::Result<()> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    write_list(out, &bytes)
}

fn write_links(out: &mut dyn Write, links: &GraphLinks) -> io::Result<()> {
    write_u32s(out, &links.offsets)?;
    write_u32s(out, &links.links)
}

/// The body of a dump. Everything that is read goes through the hasher.
struct DumpReader {
    input: BufReader<File>,
    hasher: blake3::Hasher,
    /// Number of unread bytes, so that a damaged length does not allocate memory.
    left: u64,
}

impl DumpReader {
    fn take(&mut self, count: u64) -> Result<Vec<u8>, DumpRejected> {
        self.left = self.left.checked_sub(count).ok_or(DumpRejected::Mismatch)?;
        let mut bytes = vec![0; usize::try_from(count).map_err(|_| DumpRejected::Mismatch)?];
        self.input.read_exact(&mut bytes)?;
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    fn list(&mut self) -> Result<Vec<u8>, DumpRejected> {
        let length = self.take(8)?;
        let length = length.as_chunks().0.first().copied().unwrap_or_default();
        self.take(u64::from_le_bytes(length))
    }

    fn u32s(&mut self) -> Result<Vec<u32>, DumpRejected> {
        let bytes = self.list()?;
        Ok(bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| u32::from_le_bytes(*b))
            .collect())
    }

    fn links(&mut self) -> Result<GraphLinks, DumpRejected> {
        Ok(GraphLinks {
            offsets: self.u32s()?,
            links: self.u32s()?,
        })
    }

    fn graph(&mut self) -> Result<Option<HnswGraph>, DumpRejected> {
        let mut parts = Vec::new();
        for entry in self.u32s()? {
            let mut uppers = Vec::new();
            for _ in 0..self.u32s()?.first().copied().unwrap_or_default() {
                let nodes = self.u32s()?;
                let links = self.links()?;
                uppers.push(UpperLayer { nodes, links });
            }
            parts.push(GraphPart { entry, uppers });
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let base = self.links()?;
        let words = self.list()?;
        let words = words
            .as_chunks()
            .0
            .iter()
            .map(|b| u64::from_le_bytes(*b))
            .collect();
        Ok(Some(HnswGraph {
            parts,
            base,
            members: SlotSet { words },
        }))
    }
}
