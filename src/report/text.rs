//! Interim.
use std::borrow::Cow;
/// Interim.
pub fn escape(text: &str) -> Cow<'_, str> {
    Cow::Owned(text.escape_debug().to_string())
}
