//! Questions of the simulated agent, and their times.

use std::collections::VecDeque;

use super::dice::Dice;
use super::world::{TOPIC_ZIPF, World};

/// Number of questions on a working day.
pub const WEEKDAY: usize = 24;
/// Number of questions on a weekend day.
pub const WEEKEND: usize = 4;
/// Share of questions that repeat a question of the last two weeks.
pub const REPEATED: f64 = 0.15;
/// Share of facts among the questions that are not repeated; the others are about events.
pub const FACTS: f64 = 0.65;
/// Exponent of the Zipf distribution of questions over a topic's facts.
pub const FACT_ZIPF: f64 = 0.8;
/// Exponent with which questions about an event become rarer: `(days + 1)^−0.8` (Anderson and Schooler 1991).
pub const EVENT_AGE: f64 = 0.8;
/// Number of days within which a question may be repeated.
const RECENT: usize = 14;

/// The simulated agent.
pub struct SimulatedAgent {
    dice: Dice,
    recent: VecDeque<(usize, usize)>,
}

/// A question of the simulated agent.
pub struct SimulatedQuestion {
    /// Number of the need that the question is about.
    pub need: usize,
    /// Text of the question.
    pub text: String,
    /// Time of the question in seconds after midnight.
    pub second: i64,
}

impl SimulatedAgent {
    /// Creates an agent without earlier questions.
    pub fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed, "agent"),
            recent: VecDeque::new(),
        }
    }

    /// Returns the questions of a day, in sessions of one to five about one topic.
    pub fn day(&mut self, world: &mut World, day: usize) -> Vec<SimulatedQuestion> {
        while self.recent.front().is_some_and(|(_, asked)| asked + RECENT < day) {
            self.recent.pop_front();
        }
        let count = if day % 7 < 5 { WEEKDAY } else { WEEKEND };
        let mut questions: Vec<SimulatedQuestion> = Vec::new();
        let (mut topic, mut left) = (0, 0);
        for at in 0..count {
            if left == 0 {
                left = self.dice.between(1, 5);
                topic = self
                    .dice
                    .zipf(world.ranks.len(), TOPIC_ZIPF)
                    .map_or(0, |rank| world.ranks[rank]);
            }
            left -= 1;
            let Some(need) = self.need(world, topic, day) else {
                continue;
            };
            let asked = &mut world.needs[need];
            asked.asked += 1;
            let text = self.dice.pick(&asked.questions).clone();
            self.recent.push_back((need, day));
            // The agent asks from nine to half past five, before it writes the log of the day.
            let second = 9 * 3600 + (at * 30_600 / count) as i64 + self.dice.below(600) as i64;
            questions.push(SimulatedQuestion { need, text, second });
        }
        questions.sort_by_key(|question| question.second);
        questions
    }

    fn need(&mut self, world: &World, topic: usize, day: usize) -> Option<usize> {
        if self.dice.happens(REPEATED) {
            let ages = self
                .recent
                .iter()
                .map(|(_, asked)| ((day - asked + 1) as f64).recip());
            let again = self.dice.weighed(ages).and_then(|at| self.recent.get(at));
            if let Some((need, _)) = again {
                return Some(*need);
            }
        }
        let topic = &world.topics[topic];
        if !topic.events.is_empty() && !self.dice.happens(FACTS) {
            let weights = topic.events.iter().map(|need| {
                let days = day - world.needs[*need].told;
                ((days + 1) as f64).powf(-EVENT_AGE)
            });
            return self.dice.weighed(weights).map(|at| topic.events[at]);
        }
        let at = self.dice.zipf(topic.facts.len(), FACT_ZIPF)?;
        Some(topic.facts[at].1)
    }
}
