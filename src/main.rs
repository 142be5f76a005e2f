//! The `hakem` program.
fn main() {}
