//! Command line of hippoctl, for generated completions and pages.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod args;

#[cfg(test)]
mod shell;
