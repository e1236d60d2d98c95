//! Command line of hippoctl, for generating completions and documentation.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod args;

#[cfg(test)]
mod shell;
