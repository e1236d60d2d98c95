//! The memory daemon.
//!
//! This is the project's only crate that uses threads, the clock, signals or sockets.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod audit;
mod backup;
pub mod clock;
pub mod config;
mod contexts;
mod cycles;
mod doctor;
mod embed_worker;
mod engine;
mod errors;
mod files;
mod handles;
mod harness;
mod index;
pub mod instance;
mod local_share;
mod measures;
mod memory;
mod message;
mod models;
mod own_part;
mod recall;
mod registry;
mod remember;
mod scan;
mod server;
pub mod service;
mod sessions;
mod share;
mod staged;
mod status;
mod survey;
mod tasks;
mod ticks;
mod tree;
mod trust;
mod verify;
mod view;
mod views;
mod watcher;

#[cfg(test)]
#[allow(dead_code, reason = "only the fuzz tests use the whole module")]
#[path = "../../../fuzz/tests/inputs/mod.rs"]
mod inputs;

mod run;

pub use run::{DaemonOptions, StderrLog, log_to, run};
