//! hippoctl
fn main() {}
