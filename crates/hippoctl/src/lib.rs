//! The command line of hippoctl, for what is generated from it: completions, manual pages, the reference.

pub mod args;

#[cfg(test)]
mod shell;
