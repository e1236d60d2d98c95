//! Removal of topics that repeat another topic in other words.
//!
//! Room in `ROOT.md` is scarce, and headings name the same thing in many ways. Two topics are alike if the passages
//! from which they were taken have similar vectors. Of two alike topics, the later one is kept. The first topic of each
//! day is always kept, so that each day is represented. The nodes of days, weeks and months are built without vectors,
//! so that their bytes are the same with and without an embedding model.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::gather::RootTopic;
use hippo_types::time::Date;

/// The part of a file that one vector represents.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageVector {
    /// Identifier shared by all lines of one passage.
    pub id: u32,
    /// Vector of unit length.
    pub vector: Vec<f32>,
}

/// Lookup of the passage that contains a line, by path and line number from 1; `None` if the line has no vector.
pub type PassageLookup<'a> = dyn Fn(&str, u32) -> Option<PassageVector> + 'a;

/// Minimum cosine at which passages of two different files say the same.
///
/// In about twenty manually read pairs of days of assistant conversations, pairs at 0.86 and above said the same, and
/// pairs at 0.80 and below did not.
const ALIKE: f32 = 0.85;
/// Minimum cosine for two passages of one file. It is higher because neighbouring passages are embedded with shared
/// context.
const ALIKE_BESIDE: f32 = 0.98;
/// Maximum number of topics that are compared, beginning with the first topics of each day. A `ROOT.md` of usual size
/// has no room for lines of further topics.
const COMPARED: usize = 400;

/// Returns the topics except those that repeat a kept topic. Also returns the name of each removed topic in lower case,
/// with the last date of the kept topic that it repeats.
pub(super) fn drop_repeated_topics(
    mut topics: Vec<RootTopic>,
    passages: &PassageLookup<'_>,
) -> (Vec<RootTopic>, BTreeMap<String, Date>) {
    let mut order: Vec<usize> = (0..topics.len()).collect();
    order.sort_by_key(|at| (topics[*at].rank, Reverse(topics[*at].last), *at));
    order.truncate(COMPARED);
    order.sort_by_key(|at| {
        let RootTopic { rank, last, .. } = topics[*at];
        (rank > 0, Reverse(last), rank, *at)
    });
    let mut stay: Vec<(usize, PassageVector)> = Vec::new();
    let mut said = BTreeMap::new();
    for at in order {
        let place = topics[at].place.as_ref();
        let Some((path, passage)) = place.and_then(|(path, line)| Some((path, passages(path, *line)?)))
        else {
            continue;
        };
        let says_it = |(other, said): &&(usize, PassageVector)| {
            let other = topics[*other].place.as_ref();
            let beside = other.is_some_and(|(other, _)| other == path);
            is_alike(&passage, said, if beside { ALIKE_BESIDE } else { ALIKE })
        };
        let found = stay.iter().find(says_it).filter(|_| topics[at].rank > 0);
        match found.map(|(found, _)| *found) {
            Some(found) => {
                said.insert(topics[at].name.to_lowercase(), topics[found].last);
                // The kept topic takes the better of both ranks, because topics that occur repeatedly are listed first.
                topics[found].rank = topics[found].rank.min(topics[at].rank);
            }
            None => stay.push((at, passage)),
        }
    }
    topics.retain(|topic| !said.contains_key(&topic.name.to_lowercase()));
    (topics, said)
}

/// Returns true if the vectors of two different passages have a cosine of at least `least`. Two statements of the same
/// passage are never alike.
fn is_alike(a: &PassageVector, b: &PassageVector, least: f32) -> bool {
    let cosine = || -> f32 { a.vector.iter().zip(&b.vector).map(|(a, b)| a * b).sum() };
    a.id != b.id && a.vector.len() == b.vector.len() && cosine() >= least
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use hippo_types::memory::MemoryType;

    /// Returns a topic from a line of the log of a day in January 2026.
    fn topic(name: &str, day: i8, rank: usize, line: u32) -> RootTopic {
        RootTopic {
            name: name.to_owned(),
            kind: MemoryType::Project,
            shown: name.to_owned(),
            told: format!("{name} is told"),
            place: Some((format!("memory/2026-01-{day:02}.md"), line)),
            last: date(2026, 1, day),
            days: vec![date(2026, 1, day)],
            rank,
        }
    }

    /// Returns the passage for a line. Its vector has the line number as its angle in degrees.
    fn meaning(path: &str, line: u32) -> Option<PassageVector> {
        let day: u32 = path.get(15..17)?.parse().ok()?;
        let angle = f64::from(line).to_radians();
        Some(PassageVector {
            id: day * 1_000 + line,
            vector: vec![angle.cos() as f32, angle.sin() as f32],
        })
    }

    fn names(topics: &[RootTopic]) -> Vec<&str> {
        topics.iter().map(|topic| topic.name.as_str()).collect()
    }

    #[test]
    fn the_later_of_similar_topics_is_kept_with_the_better_rank() {
        let topics = vec![
            topic("dumps", 1, 1, 10),
            topic("backup", 5, 3, 40),
            topic("cats", 5, 2, 80),
        ];
        let (topics, said) = drop_repeated_topics(topics, &meaning);
        assert_eq!(names(&topics), ["backup", "cats"]);
        assert_eq!(topics[0].rank, 1);
        assert_eq!(
            said.into_iter().collect::<Vec<_>>(),
            [("dumps".to_owned(), date(2026, 1, 5))]
        );
    }

    #[test]
    fn the_first_topic_of_a_day_is_always_kept() {
        let topics = vec![
            topic("dumps", 1, 0, 10),
            topic("backup", 5, 0, 11),
            topic("copies", 7, 1, 12),
        ];
        let (topics, said) = drop_repeated_topics(topics, &meaning);
        assert_eq!(names(&topics), ["dumps", "backup"]);
        assert!(said.contains_key("copies"), "{said:?}");
    }

    #[test]
    fn topics_of_one_passage_or_without_vectors_are_not_similar() {
        let beside = vec![topic("dumps", 1, 1, 10), topic("backup", 1, 2, 30)];
        assert_eq!(drop_repeated_topics(beside, &meaning).0.len(), 2);
        let twice = vec![topic("dumps", 1, 1, 10), topic("backup", 1, 2, 11)];
        assert_eq!(drop_repeated_topics(twice, &meaning).0.len(), 1);
        let one = |_: &str, _: u32| meaning("memory/2026-01-01.md", 10);
        let shared = vec![topic("dumps", 1, 1, 10), topic("backup", 1, 2, 11)];
        assert_eq!(drop_repeated_topics(shared, &one).0.len(), 2);
        let unknown = vec![topic("dumps", 1, 1, 10), topic("backup", 5, 1, 10)];
        assert_eq!(drop_repeated_topics(unknown, &|_, _| None).0.len(), 2);
    }

    #[test]
    fn vectors_of_two_models_are_not_compared() {
        let topics = vec![topic("dumps", 1, 1, 10), topic("backup", 5, 1, 10)];
        let other = |path: &str, line: u32| {
            let mut passage = meaning(path, line)?;
            passage.vector.resize(passage.id as usize, 0.0);
            Some(passage)
        };
        assert_eq!(drop_repeated_topics(topics, &other).0.len(), 2);
    }
}
