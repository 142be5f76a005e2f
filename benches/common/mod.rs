//! What the benchmarks share: the machine, and how figures are printed.

pub(crate) mod machine;
pub(crate) mod report;

/// Errors end a benchmark with their text.
pub(crate) type Fault = Box<dyn std::error::Error + Send + Sync>;
