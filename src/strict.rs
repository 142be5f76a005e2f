//! Strict JSON.
use serde_json::Value;
/// x
#[derive(Debug, thiserror::Error)]
pub enum StrictError {
    /// x
    #[error("not UTF-8 at byte {at}")]
    NotUtf8 {
        /// x
        at: usize,
    },
    /// x
    #[error("not JSON: {message}")]
    BadJson {
        /// x
        message: String,
    },
}
/// x
/// # Errors
/// x
pub fn parse(line: &[u8]) -> Result<Value, StrictError> {
    serde_json::from_slice(line).map_err(|e| StrictError::BadJson { message: e.to_string() })
}
