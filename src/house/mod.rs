//! The built-in bots. Pure: an answer is a function of the position.

pub mod tavla;
