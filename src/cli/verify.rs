//! `hakem verify`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::exit::{self, Refused};
use crate::referee::replay::{self, Verified};
use crate::store::{self, Store};

/// Replay records: every move legal, every result, die and clock as recorded
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Record files, or folders of results, all of whose records are checked
    #[arg(value_name = "RECORD", required = true)]
    pub records: Vec<PathBuf>,
    /// The event's seed [default: from seed.json beside the folder of the record, once all is played]
    #[arg(long, value_name = "S")]
    pub seed: Option<String>,
}

/// Checks them all; the exit code is 1 if one does not hold.
///
/// # Errors
/// A file that cannot be read.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut stdout = io::stdout().lock();
    let mut bad = false;
    for path in expand(&args.records)? {
        let text = fs::read(&path)
            .map_err(|error| Refused(format!("{} cannot be read: {error}", path.display())))?;
        let line = match check(&path, &text, args.seed.as_deref()) {
            Ok(verified) => {
                let chance = if verified.chance_checked {
                    "dice checked"
                } else {
                    "dice not yet checkable"
                };
                format!(
                    "{}: ok, {} moves, {chance}",
                    path.display(),
                    verified.result.moves
                )
            }
            Err(what) => {
                bad = true;
                format!(
                    "{}: does not verify: {}",
                    path.display(),
                    super::shown(&what)
                )
            }
        };
        if writeln!(stdout, "{line}").is_err() {
            break;
        }
    }
    Ok(ExitCode::from(if bad { exit::BAD } else { exit::DONE }))
}

/// The record files that are meant.
fn expand(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let store = Store::open_read_only(path)?;
        let records = store.records();
        all.extend(store.games()?.iter().map(|game| records.path(game.id)));
    }
    Ok(all)
}

fn check(path: &Path, text: &[u8], seed: Option<&str>) -> Result<Verified, String> {
    let folder = path.parent().and_then(Path::parent);
    let told = match (seed, folder) {
        (Some(seed), _) => Some(seed.to_owned()),
        (None, Some(folder)) => store::read_seed(folder)
            .map_err(|error| error.to_string())?
            .map(|file| file.seed),
        (None, None) => None,
    };
    let verified =
        replay::verify(text, told.as_deref(), &mut |_, _| {}).map_err(|error| error.to_string())?;
    compare_with_results(folder, &verified)?;
    Ok(verified)
}

/// Where the record lies in a folder of results, they must know it by its hash.
fn compare_with_results(folder: Option<&Path>, verified: &Verified) -> Result<(), String> {
    let Some(folder) = folder.filter(|folder| folder.join(store::RESULTS).exists()) else {
        return Ok(());
    };
    let stored = Store::open_read_only(folder)
        .and_then(|store| store.game(verified.header.id))
        .map_err(|error| error.to_string())?;
    match stored {
        Some(game) if game.record_hash == verified.hash => Ok(()),
        Some(_) => Err(format!(
            "its last line's hash is not the one in the results of {}: the record or the results were changed",
            verified.header.id
        )),
        None => Err(format!("the results hold no game {}", verified.header.id)),
    }
}
