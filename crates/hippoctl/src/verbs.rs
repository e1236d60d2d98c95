//! Verbs of the command line.

pub mod backup;
pub mod compact;
pub mod context;
pub mod cycle;
pub mod daemon;
pub mod deinit;
pub mod demo;
pub mod get;
pub mod hook;
pub mod import;
pub mod index;
pub mod ingest;
pub mod init;
mod input;
pub mod logs;
pub mod model;
mod place;
pub mod prompt;
pub mod remember;
pub mod search;
pub mod service;
pub mod tree;
pub mod trust;
pub mod ui;
mod watched;
pub mod why;
pub mod workspace;
