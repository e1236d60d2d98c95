//! What are the nodes of the compaction tree: a day, a week, a month, and `ROOT.md` over all of them?
//!
//! A node is a file that people and agents read. It is derived from its sources, daily logs or the nodes below it, and made
//! again only when these change; what somebody else wrote into one is kept. docs/tree.md says the rules.

mod below;
mod carried;
pub mod digest;
pub mod item;
mod label;
mod make;
mod name;
mod node;
mod period;
mod plan;
pub mod root;
mod salience;
mod submitted;
mod top;
mod topic;
mod write;

pub use below::{Text, sources, told};
pub use carried::Carried;
pub use item::Source;
pub(crate) use label::claims_the_user;
pub use make::{make, threshold};
pub use node::{Fingerprint, Node, SINCE, Status, Writer, level_name};
pub use period::Period;
pub use plan::{Action, Cause, Input, SourceFile, Step, plan};
pub use submitted::{LEAST_OVERLAP, Rejected, most_tokens, submitted};
pub use top::top;

#[cfg(test)]
mod tests;
