//! The text of this crate's own files. `hakem new` writes a copy beside a bot, so that the bot builds wherever it is.

/// The files with their paths below `src/`; enough to build the crate without its optional features.
pub const FILES: &[(&str, &str)] = &[
    ("lib.rs", include_str!("lib.rs")),
    ("bot.rs", include_str!("bot.rs")),
    ("limits.rs", include_str!("limits.rs")),
    ("number.rs", include_str!("number.rs")),
    ("referee.rs", include_str!("referee.rs")),
    ("results.rs", include_str!("results.rs")),
    ("tool.rs", include_str!("tool.rs")),
];

/// A manifest for such a copy.
pub const MANIFEST: &str = concat!(
    "[package]\nname = \"hakem-protocol\"\nversion = \"",
    env!("CARGO_PKG_VERSION"),
    "\"\nedition = \"2024\"\nlicense = \"MIT OR Apache-2.0\"\npublish = false\n\n",
    "[features]\nschema = []\nsource = []\n\n",
    "[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n"
);
