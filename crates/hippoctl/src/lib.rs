//! The command line of hippoctl, for what is generated from it: completions, manual pages, the reference.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod args;

#[cfg(test)]
mod shell;
