//! Command-line arguments of hippoctl, shared with the documentation generator.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod args;

#[cfg(test)]
mod shell;
