//! Which topics say in other words what another one says already?
//!
//! A line of ROOT.md is dear, and headings name one thing in many ways. Two topics are alike where the passages that they are
//! taken from mean nearly the same. The later one stays, for what it says is newer; the first topic of a day always does, so
//! that each day is told. Days, weeks and months are not made with vectors: they are the same bytes with and without a model.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::gather::Topic;
use crate::time::Date;

/// The part of a file that one vector stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// The same for all lines of one passage.
    pub id: u32,
    /// Of unit length.
    pub vector: Vec<f32>,
}

/// The passage in which a line of a file stands, by its path and its number from 1; `None` where none has a vector.
pub type Passages<'a> = dyn Fn(&str, u32) -> Option<Passage> + 'a;

/// Passages of two files with at least this cosine say the same.
///
/// Of some twenty pairs between days of talk with an assistant that were read, those from 0.86 on said the same, and those up
/// to 0.80 did not.
const ALIKE: f32 = 0.85;
/// Of one file it takes more: what stands side by side is embedded with the same neighbours.
const ALIKE_BESIDE: f32 = 0.98;
/// Topics that are compared, the first ones of the days before others: more have no lines in a root of the usual size.
const COMPARED: usize = 400;

/// The topics but those that are alike a later or a first one; and for each of these the day of the one that stays.
pub(super) fn apart(mut topics: Vec<Topic>, passages: &Passages<'_>) -> (Vec<Topic>, BTreeMap<String, Date>) {
    let mut order: Vec<usize> = (0..topics.len()).collect();
    order.sort_by_key(|at| (topics[*at].rank, Reverse(topics[*at].last), *at));
    order.truncate(COMPARED);
    order.sort_by_key(|at| {
        (
            topics[*at].rank > 0,
            Reverse(topics[*at].last),
            topics[*at].rank,
            *at,
        )
    });
    let mut stay: Vec<(usize, Passage)> = Vec::new();
    let mut said = BTreeMap::new();
    for at in order {
        let Some((path, line)) = &topics[at].place else {
            continue;
        };
        let Some(passage) = passages(path, *line) else {
            continue;
        };
        let says_it = |(other, said): &&(usize, Passage)| {
            let beside = topics[*other]
                .place
                .as_ref()
                .is_some_and(|(other, _)| other == path);
            is_alike(&passage, said, if beside { ALIKE_BESIDE } else { ALIKE })
        };
        let found = stay.iter().find(says_it).filter(|_| topics[at].rank > 0);
        match found.map(|(found, _)| *found) {
            Some(found) => {
                said.insert(topics[at].name.to_lowercase(), topics[found].last);
                // What comes again is told before what came once.
                topics[found].rank = topics[found].rank.min(topics[at].rank);
            }
            None => stay.push((at, passage)),
        }
    }
    topics.retain(|topic| !said.contains_key(&topic.name.to_lowercase()));
    (topics, said)
}

/// Two statements of one passage are two things that it says.
fn is_alike(a: &Passage, b: &Passage, least: f32) -> bool {
    let cosine = || -> f32 { a.vector.iter().zip(&b.vector).map(|(a, b)| a * b).sum() };
    a.id != b.id && a.vector.len() == b.vector.len() && cosine() >= least
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::tree::item::MemoryType;

    /// A topic of a day of January 2026, told on a line of a log of that day.
    fn topic(name: &str, day: i8, rank: usize, line: u32) -> Topic {
        Topic {
            name: name.to_owned(),
            kind: MemoryType::Project,
            words: String::new(),
            told: format!("{name} is told"),
            place: Some((format!("memory/2026-01-{day:02}.md"), line)),
            last: date(2026, 1, day),
            rank,
        }
    }

    /// Each line is a passage of its own, and means what its number says, in degrees.
    fn meaning(path: &str, line: u32) -> Option<Passage> {
        let day: u32 = path.get(15..17)?.parse().ok()?;
        let angle = f64::from(line).to_radians();
        Some(Passage {
            id: day * 1_000 + line,
            vector: vec![angle.cos() as f32, angle.sin() as f32],
        })
    }

    fn names(topics: &[Topic]) -> Vec<&str> {
        topics.iter().map(|topic| topic.name.as_str()).collect()
    }

    #[test]
    fn of_topics_that_say_the_same_the_later_one_stays_and_has_the_better_place() {
        let topics = vec![
            topic("dumps", 1, 1, 10),
            topic("backup", 5, 3, 40),
            topic("cats", 5, 2, 80),
        ];
        let (topics, said) = apart(topics, &meaning);
        assert_eq!(names(&topics), ["backup", "cats"]);
        assert_eq!(topics[0].rank, 1);
        assert_eq!(
            said.into_iter().collect::<Vec<_>>(),
            [("dumps".to_owned(), date(2026, 1, 5))]
        );
    }

    #[test]
    fn the_first_topic_of_a_day_stays_whatever_others_say() {
        let topics = vec![
            topic("dumps", 1, 0, 10),
            topic("backup", 5, 0, 11),
            topic("copies", 7, 1, 12),
        ];
        let (topics, said) = apart(topics, &meaning);
        assert_eq!(names(&topics), ["dumps", "backup"]);
        assert!(said.contains_key("copies"), "{said:?}");
    }

    #[test]
    fn what_is_in_one_passage_or_near_in_one_file_or_has_no_vector_is_not_the_same() {
        let beside = vec![topic("dumps", 1, 1, 10), topic("backup", 1, 2, 30)];
        assert_eq!(apart(beside, &meaning).0.len(), 2);
        let twice = vec![topic("dumps", 1, 1, 10), topic("backup", 1, 2, 11)];
        assert_eq!(apart(twice, &meaning).0.len(), 1);
        let one = |_: &str, _: u32| meaning("memory/2026-01-01.md", 10);
        let shared = vec![topic("dumps", 1, 1, 10), topic("backup", 1, 2, 11)];
        assert_eq!(apart(shared, &one).0.len(), 2);
        let unknown = vec![topic("dumps", 1, 1, 10), topic("backup", 5, 1, 10)];
        assert_eq!(apart(unknown, &|_, _| None).0.len(), 2);
    }

    #[test]
    fn vectors_of_two_models_are_not_compared() {
        let topics = vec![topic("dumps", 1, 1, 10), topic("backup", 5, 1, 10)];
        let other = |path: &str, line: u32| {
            let mut passage = meaning(path, line)?;
            passage.vector.resize(passage.id as usize, 0.0);
            Some(passage)
        };
        assert_eq!(apart(topics, &other).0.len(), 2);
    }
}
