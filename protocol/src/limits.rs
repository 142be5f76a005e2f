//! The limits that hold where an event names no others.

/// The longest line of a bot, in bytes, its line end included.
pub const MAX_LINE_BYTES: usize = 1 << 20;
/// All that a bot may write to stdout in one game, in bytes.
pub const MAX_OUTPUT_BYTES: u64 = 16 << 20;
/// What is kept of a bot's stderr, in bytes.
pub const MAX_STDERR_BYTES: u64 = 1 << 20;
/// What is kept of a `note`, in bytes.
pub const MAX_NOTE_BYTES: usize = 4 << 10;
/// The longest name that is shown, in characters; a longer one is cut.
pub const MAX_NAME_CHARS: usize = 64;
/// The time to answer `hello`, in milliseconds.
pub const READY_MS: u64 = 10_000;
/// The time to leave after `bye`, in milliseconds.
pub const EXIT_MS: u64 = 2_000;
