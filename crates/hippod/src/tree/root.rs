//! Creation of `memory/ROOT.md`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use hippo_fs::WorkspaceDir;
use hippo_text::own_block;
use hippo_text::source::NodeKind;
use hippo_tree::{BodyAuthor, Fingerprint, ForeignRoot, Node, Period, build_root_file, collect_root_sources};

use super::disk::{self, DiskNode};
use super::outdated::current_bodies;
use super::passages::IndexedPassages;
use super::run::TreeRun;
use crate::own_part;
use crate::view::WorkspaceView;

/// Maximum size in bytes of a `MEMORY.md` that is read.
const LARGEST: u64 = 1 << 20;
/// Name of the block in `MEMORY.md` that repeats `ROOT.md` for harnesses that load only `MEMORY.md`.
const BLOCK: &str = "root";

impl TreeRun<'_> {
    /// Updates `ROOT.md`.
    pub fn root(&mut self) {
        let path = Period::All.path();
        let digest = self.below();
        let is_alone = self.disk.nodes.keys().all(|period| *period == Period::All);
        if is_alone || self.disk.is_held(Period::All) {
            return;
        }
        let before = self.disk.nodes.get(&Period::All).cloned();
        let known = before
            .as_ref()
            .and_then(|found| self.known_sources(Period::All, &found.node));
        // If hippod finds a `ROOT.md` by another writer for the first time, it does not change the file until this or a
        // later run changes a node.
        let made = ["made", "outdated"];
        let changed = self
            .answer
            .nodes
            .iter()
            .any(|node| made.contains(&node.action.as_str()));
        let theirs = |node: &Node| node.writer != BodyAuthor::Hippod && says_something(node);
        let carried = match &before {
            Some(found) if theirs(&found.node) => {
                let stands = known.map_or(!changed, |known| known == digest);
                if stands {
                    self.state.adopt(Period::All, digest);
                    if known.is_none() {
                        self.record_change(&path, ["adopted", "found"], Some(&found.node));
                    } else {
                        self.answer.unchanged += 1;
                    }
                    return;
                }
                // If a person edited hippod's own `ROOT.md`, do not copy its lines to the new version, because they
                // would appear twice.
                if is_edited(&found.bytes) {
                    self.earlier_root()
                } else {
                    Some(found.node.clone())
                }
            }
            _ => self.earlier_root(),
        };
        let accesses = accesses(self.view);
        let found = self.disk.nodes.values();
        let files: Vec<(&DiskNode, Cow<'_, str>)> = found
            .map(|found| (found, String::from_utf8_lossy(&found.bytes)))
            .collect();
        let nodes: Vec<(&str, &Node, &str)> = files
            .iter()
            .map(|(found, file)| (found.path.as_str(), &found.node, &**file))
            .collect();
        let carry = carried.as_ref().map(|node| ForeignRoot {
            body: &node.body,
            updated: node.updated.unwrap_or(self.today),
        });
        let months = self.disk.nodes.keys();
        let months = months.filter(|period| period.level() == NodeKind::Monthly);
        let months: Vec<String> = months.map(|month| month.path()).collect();
        let most = self.settings.root_max_tokens;
        let passages = IndexedPassages::of(self.view);
        let passage = |path: &str, line| passages.find(path, line);
        let mut below = collect_root_sources(&nodes, &accesses);
        let current = current_bodies(&below);
        below
            .iter_mut()
            .zip(&current)
            .for_each(|(node, body)| node.body = body);
        let made = build_root_file(&below, &passage, carry, &months, self.today, most);
        let Some(node) = made else {
            self.refuse(
                &path,
                "the maximum size is too small for even one line: raise tree.root_max_tokens",
            );
            return;
        };
        let ours = before
            .as_ref()
            .filter(|found| found.node.writer == BodyAuthor::Hippod);
        if ours.is_some_and(|found| found.node.body == node.body) {
            self.state.adopt(Period::All, digest);
            self.answer.unchanged += 1;
            self.embed(&node.body);
            return;
        }
        if let Some(found) = before.as_ref().filter(|found| theirs(&found.node))
            && let Err(error) = self.set_aside(found)
        {
            self.refuse(
                &path,
                format!("could not keep a copy of the edited ROOT.md: {error}; the file stays unchanged"),
            );
            return;
        }
        let cause = if before.is_some() {
            "sources-changed"
        } else {
            "new"
        };
        if let Err(error) = self.put(&path, ["made", cause], &node, before.as_ref()) {
            self.refuse(&path, error.message);
            return;
        }
        self.state.adopt(Period::All, digest);
        self.embed(&node.body);
    }

    /// Returns the combined fingerprint of the nodes from which `ROOT.md` is generated.
    pub fn below(&self) -> Fingerprint {
        let nodes: Vec<(String, Fingerprint)> = self
            .disk
            .nodes
            .iter()
            .filter(|(period, _)| **period != Period::All)
            .map(|(period, found)| (period.path(), found.node.digest()))
            .collect();
        Fingerprint::of_all(nodes.iter().map(|(path, digest)| (path.as_str(), *digest)))
    }

    /// Stores a copy of a `ROOT.md` that a person or another program wrote, and adds a note with its location to the
    /// answer.
    fn set_aside(&mut self, found: &DiskNode) -> io::Result<()> {
        // At a take-over, the ledger stores the `ROOT.md` of the other program, so no copy is needed.
        let first = self.ledger.taken_over && self.ledger.root(&self.folder, &self.view.root).is_none();
        if first && !is_edited(&found.bytes) {
            return Ok(());
        }
        if !self.wish.dry_run {
            disk::keep_replaced(&self.view.root, found)?;
        }
        let place = disk::REPLACED;
        self.answer.notes.push(format!(
            "memory/ROOT.md was edited, so hippod generated it again: the edited file is kept in {place}; \
             put instructions for every session into AGENTS.md or CLAUDE.md, and memories into a log"
        ));
        Ok(())
    }

    /// Returns the original `ROOT.md` of another program. If it contains no date, it receives the day on which it was
    /// stored.
    fn earlier_root(&self) -> Option<Node> {
        let (mut node, kept) = self.ledger.root(&self.folder, &self.view.root)?;
        let kept = jiff::Timestamp::try_from(kept).ok();
        let kept = kept.map(|kept| kept.to_zoned(self.zone.clone()).date());
        node.updated = node.updated.or(kept);
        Some(node)
    }

    /// Updates the block in `MEMORY.md` that repeats `ROOT.md`.
    pub fn embed(&mut self, body: &str) {
        let file = "MEMORY.md";
        if self.wish.dry_run {
            return;
        }
        let shown = body.replace("\n## ", "\n### ");
        let shown = shown
            .strip_prefix("## ")
            .map_or_else(|| shown.clone(), |rest| format!("### {rest}"));
        let shown = format!("## Compaction Root\n\n{}", shown.trim_end());
        let there = WorkspaceDir::open(&self.view.root)
            .and_then(|dir| dir.read(dir.file_to_write(file)?, LARGEST))
            .unwrap_or_default();
        // Without the block, for example because the user removed it, do not add it.
        if !matches!(own_block::body(&there, BLOCK), Ok(Some(block)) if block.trim_ascii() != shown.as_bytes())
        {
            return;
        }
        if let Err(error) = own_part::change(&self.view.root, file, BLOCK, |_| shown.clone()) {
            self.refuse(file, format!("{}; {}", error.message, error.data.hint));
        }
    }
}

/// Returns whether a file has the front matter that hippod writes. If such a file has a body by another writer, a
/// person edited hippod's `ROOT.md`.
fn is_edited(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mut front = text.lines().take_while(|line| !line.starts_with('#'));
    front.any(|line| line.trim_end() == "written-by: hippod")
}

/// Returns whether `ROOT.md` has lines other than headings. A `ROOT.md` that was created without sources has only
/// headings.
fn says_something(root: &Node) -> bool {
    let mut lines = root.body.lines().map(str::trim);
    lines.any(|line| !line.is_empty() && !line.starts_with(['#', '<']))
}

/// Returns a measure of the accesses to each file: the bit length of the number of accesses to entries that point to
/// the file.
fn accesses(view: &WorkspaceView) -> BTreeMap<String, u32> {
    let mut accesses: BTreeMap<String, u32> = BTreeMap::new();
    for record in view.index().records() {
        for pointer in &record.entry.pointers {
            let count = accesses.entry(pointer.path.clone()).or_default();
            *count = count.saturating_add(record.entry.hits);
        }
    }
    // Use the bit length, so that `ROOT.md` does not change with every query.
    accesses
        .values_mut()
        .for_each(|count| *count = u32::BITS - count.leading_zeros());
    accesses
}
