//! The seed, told when an event is done.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::records::write_durably;
use super::{Store, StoreError};

/// The file of the seed in a folder of results.
pub const SEED_FILE: &str = "seed.json";

/// The seed of an event that is done, and what was promised of it before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedFile {
    /// The seed.
    pub seed: String,
    /// Its commitment, as it stands in the header of each record.
    pub commitment: String,
    /// Whether the seed could have been guessed before (it was chosen, not drawn).
    pub guessable: bool,
}

impl Store {
    /// Writes `seed.json`, for good. To be called when every match is done: from then on everybody may know the seed.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn write_seed(&self, seed: &SeedFile) -> Result<(), StoreError> {
        self.check_writable()?;
        let mut text = serde_json::to_string(seed).unwrap_or_default();
        text.push('\n');
        write_durably(&self.dir, SEED_FILE, text.as_bytes())
    }
}

/// Reads the `seed.json` of a folder of results; `None` where there is none yet.
///
/// # Errors
/// What the disk refused; [`StoreError::Corrupt`] for a file that is no such thing.
pub fn read_seed(dir: &Path) -> Result<Option<SeedFile>, StoreError> {
    let path = dir.join(SEED_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", &path, error)),
    };
    match serde_json::from_str(&text) {
        Ok(seed) => Ok(Some(seed)),
        Err(error) => Err(StoreError::Corrupt {
            path,
            what: error.to_string(),
            copy: None,
        }),
    }
}
