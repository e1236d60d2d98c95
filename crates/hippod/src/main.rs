//! hippod
fn main() {}
