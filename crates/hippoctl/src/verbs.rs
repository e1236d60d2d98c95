//! What does each verb do?

pub mod daemon;
pub mod get;
pub mod index;
pub mod logs;
pub mod model;
pub mod search;
pub mod workspace;
