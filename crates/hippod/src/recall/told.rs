//! Which passages do the nodes of the compaction tree lead a question to?

use std::collections::{HashMap, HashSet};
use std::sync::RwLockReadGuard;

use hippo_core::corpus::Lengths;
use hippo_core::retrieval::collapse::{self, repeating};
use hippo_core::retrieval::rank::Ranked;
use hippo_core::retrieval::told::{Told, places, tell};
use hippo_core::source::{NodeKind, SourceKind};
use hippo_proto::{Mode, RpcError};

use super::Recall;
use super::part::Part;
use crate::verify::{FileMark, Span, Verifier};
use crate::view::Picture;

/// Lines of nodes that are read for each passage that may be wanted of them: several lines are of one passage.
const LINES: usize = 2;

/// Ranked chunks, and the picture that they are of.
type Found<'v> = (RwLockReadGuard<'v, Picture>, Vec<Ranked>);

/// The nodes of a workspace that hippod wrote and whose sources are there too, as a question sees them.
struct Nodes {
    /// By the id of a document: asked for each chunk that a search looks at.
    all: Vec<bool>,
    days: Vec<bool>,
    all_lengths: Lengths,
    days_lengths: Lengths,
}

impl Recall<'_> {
    /// Chunks by how well they answer, with what nodes lead to; nothing where another model than `vector`'s answers by now.
    pub(super) fn rank_with_nodes(
        &self,
        vector: Option<&[f32]>,
        model: Option<&str>,
    ) -> Result<Option<Found<'_>>, RpcError> {
        let is_other = |picture: &Picture| vector.is_some() && picture.model.as_deref() != model;
        let picture = self.view.picture();
        if is_other(&picture) {
            return Ok(None);
        }
        let (ranked, lines) = self.rank_apart(&picture, vector)?;
        if lines.is_empty() {
            return Ok(Some((picture, ranked)));
        }
        let generation = picture.generation;
        drop(picture);
        let named = self.read(lines);
        let picture = self.view.picture();
        if is_other(&picture) {
            return Ok(None);
        }
        let ranked = if picture.generation == generation {
            self.tell(&picture, ranked, &named)
        } else {
            // An edit came between: the answer is that of a search alone.
            self.rank_apart(&picture, vector)?.0
        };
        Ok(Some((picture, ranked)))
    }

    /// The nodes that speak through the lines that they were made from; `None`: there are none, or nodes are answered with as
    /// any other file is.
    fn nodes(&self, picture: &Picture) -> Option<Nodes> {
        let asked = self.question.mode == Mode::Hybrid && self.question.request.path.is_none();
        if !asked || self.view.config.search.tree_weight <= 0.0 {
            return None;
        }
        let documents = picture.corpus.documents();
        let all = repeating(documents.map(|(id, document)| (id, &*document.path, document.own_words)));
        // Weeks and months repeat the lines of their days.
        let of_a_day = |id: &u32| {
            let document = picture.corpus.document(*id);
            let kind = document.map(|document| SourceKind::from_path(&document.path));
            kind == Some(SourceKind::Node(NodeKind::Daily))
        };
        let bound = all.iter().max().map_or(0, |last| *last as usize + 1);
        let mut nodes = Nodes {
            all: vec![false; bound],
            days: vec![false; bound],
            all_lengths: picture.corpus.lengths_of(all.iter().copied()),
            days_lengths: picture
                .corpus
                .lengths_of(all.iter().copied().filter(|id| of_a_day(id))),
        };
        for id in &all {
            nodes.all[*id as usize] = true;
            nodes.days[*id as usize] = of_a_day(id);
        }
        (!all.is_empty()).then_some(nodes)
    }

    /// Chunks by how well they answer, but those of such nodes; and the lines of daily nodes that answer best.
    fn rank_apart(
        &self,
        picture: &Picture,
        vector: Option<&[f32]>,
    ) -> Result<(Vec<Ranked>, Vec<Line>), RpcError> {
        let Some(nodes) = self.nodes(picture) else {
            return Ok((self.rank(picture, vector, Part::default())?, Vec::new()));
        };
        let is = |of: &[bool], chunk: u32| {
            let place = picture.corpus.place(chunk);
            place.is_some_and(|place| of.get(place.document as usize).copied().unwrap_or(false))
        };
        // Each is ranked as if the other were not there: nodes repeat just the words that tell most.
        let (others, days) = (|chunk| !is(&nodes.all, chunk), |chunk| is(&nodes.days, chunk));
        let all = picture.corpus.lengths().without(&nodes.all_lengths);
        let ranked = self.rank(picture, vector, Part::apart(&others, all))?;
        let lines = self.rank(picture, vector, Part::apart(&days, nodes.days_lengths))?;
        // A node that is its log as it stands says nothing that search has not.
        let mark = |hit: &Ranked| picture.corpus.place(hit.chunk).map(|place| place.mark);
        let found: HashSet<u32> = ranked.iter().filter_map(mark).collect();
        let fresh = |line: &&Ranked| mark(line).is_some_and(|mark| !found.contains(&mark));
        let lines = lines.iter().filter(fresh).take(self.question.limit * LINES);
        Ok((ranked, lines.filter_map(|line| Line::of(picture, line)).collect()))
    }

    /// The places in logs that lines of nodes name, as the nodes stand on disk; the picture is not held meanwhile.
    fn read(&self, lines: Vec<Line>) -> Vec<Named> {
        let mut verifier = Verifier::new(&self.view.root, self.view.config.sources.max_file_bytes);
        let mut named = Vec::new();
        for line in lines {
            // What stands there no longer leads nowhere.
            let Some(found) = verifier.check(&line.path, line.mark, line.span) else {
                continue;
            };
            let before = named.len();
            let (chunk, score) = (line.chunk, line.score);
            named.extend(places(&found.text).map(|(path, number)| Named {
                place: Some((path.to_owned(), number)),
                chunk,
                score,
            }));
            if named.len() == before && !line.lists_topics {
                // What names no line stands for itself.
                named.push(Named {
                    place: None,
                    chunk,
                    score,
                });
            }
        }
        named
    }

    /// The ranked chunks, and in between what nodes tell of, as far as it may be answered with.
    fn tell(&self, picture: &Picture, ranked: Vec<Ranked>, named: &[Named]) -> Vec<Ranked> {
        let paths = named.iter().filter_map(|named| named.place.as_ref());
        let paths: HashSet<&str> = paths.map(|(path, _)| path.as_str()).collect();
        let documents = picture.corpus.documents();
        let documents: HashMap<&str, &[u32]> = documents
            .filter(|(_, document)| paths.contains(&*document.path))
            .map(|(_, document)| (&*document.path, document.chunks()))
            .collect();
        let told = named.iter().filter_map(|named| {
            let chunk = match &named.place {
                Some((path, number)) => picture.chunk_at(documents.get(path.as_str())?, *number)?,
                None => named.chunk,
            };
            let score = named.score;
            let passes = self.question.filter.passes(picture, chunk);
            passes.then_some(Told { chunk, score })
        });
        let told: Vec<Told> = told.collect();
        #[expect(clippy::cast_possible_truncation, reason = "a weight of a few digits")]
        let weight = self.view.config.search.tree_weight as f32;
        let told = tell(ranked, &told, weight, &picture.corpus);
        collapse::collapse(&told, &picture.corpus, told.len())
    }
}

/// A line of a node, and where it stands.
struct Line {
    chunk: u32,
    score: f32,
    path: String,
    mark: FileMark,
    span: Span,
    /// It is the list of the node's topics, which is of all its lines.
    lists_topics: bool,
}

impl Line {
    fn of(picture: &Picture, line: &Ranked) -> Option<Self> {
        let place = picture.corpus.place(line.chunk)?;
        let heading = picture.heading_path(place.document, place.section);
        Some(Self {
            chunk: line.chunk,
            score: line.score,
            path: picture.corpus.document(place.document)?.path.to_string(),
            mark: picture.facts.get(&place.document)?.mark,
            span: picture.spans.get(line.chunk as usize).copied().flatten()?,
            lists_topics: heading.last().is_some_and(|title| title == "Topics"),
        })
    }
}

/// What a line of a node says of where it is from: a line of a file, or nothing.
struct Named {
    place: Option<(String, u32)>,
    chunk: u32,
    score: f32,
}
