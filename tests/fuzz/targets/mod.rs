//! The targets.

#[cfg(feature = "runner")]
pub(crate) mod event;
pub(crate) mod lines;
pub(crate) mod race;
pub(crate) mod record;
pub(crate) mod rules;
pub(crate) mod table;
#[cfg(feature = "runner")]
pub(crate) mod text;
