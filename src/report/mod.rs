//! Interim.
pub mod text;
