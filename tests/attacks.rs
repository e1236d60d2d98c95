//! Attacks: a few cases in the gate, many in `cargo xtask attack`.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

#[path = "attacks/archives.rs"]
mod archives;
#[path = "attacks/clocks.rs"]
mod clocks;
#[path = "attacks/damage.rs"]
mod damage;
#[path = "attacks/disk.rs"]
mod disk;
#[path = "attacks/exports.rs"]
mod exports;
#[path = "attacks/faults.rs"]
mod faults;
#[path = "attacks/files.rs"]
mod files;
#[path = "attacks/headers.rs"]
mod headers;
#[path = "attacks/kills.rs"]
mod kills;
#[path = "attacks/ledger.rs"]
mod ledger;
#[path = "attacks/lines.rs"]
mod lines;
#[path = "attacks/notes.rs"]
mod notes;
#[path = "attacks/power.rs"]
mod power;
#[path = "attacks/record.rs"]
mod record;
#[path = "attacks/repository.rs"]
mod repository;
#[path = "attacks/scale.rs"]
mod scale;
#[path = "attacks/shapes.rs"]
mod shapes;
#[path = "attacks/stage.rs"]
mod stage;
#[path = "attacks/stores.rs"]
mod stores;
#[path = "attacks/swarm.rs"]
mod swarm;
#[path = "attacks/threads.rs"]
mod threads;
#[path = "attacks/traced.rs"]
mod traced;
#[path = "attacks/wire.rs"]
mod wire;
