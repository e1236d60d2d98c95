//! What does each verb do?

pub mod compact;
pub mod context;
pub mod cycle;
pub mod daemon;
pub mod get;
pub mod index;
mod input;
pub mod logs;
pub mod model;
pub mod policy;
pub mod remember;
pub mod search;
pub mod workspace;
