//! `hakem verify`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::exit::{self, Refused};
use super::own_game::{GameArgs, OwnGames};
use crate::chance;
use crate::game::Kind;
use crate::referee::replay::{self, Verified};
use crate::store;

mod event;
mod folder;
mod header;
mod rows;

use event::Stated;

/// Replay records: every move legal, every result, die and clock as recorded
///
/// Of a folder of results also: what it says of games, matches, bots and rulings is what follows from the event and the records. A folder
/// that holds has one hash; who kept it from before can tell that nothing was changed since (--expect).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Record files, or folders of results, all of which is checked
    #[arg(value_name = "RECORD", required = true)]
    pub records: Vec<PathBuf>,
    /// The event's seed [default: from seed.json beside the folder of the record, once all is played]
    #[arg(long, value_name = "S")]
    pub seed: Option<String>,
    /// The hash that the results had, of one folder
    #[arg(long, value_name = "HASH")]
    pub expect: Option<String>,
    /// The rules.
    #[command(flatten)]
    pub game: GameArgs,
}

impl Args {
    /// The hash that is expected, in small digits.
    fn expected(&self) -> Result<Option<String>, Refused> {
        let Some(text) = &self.expect else {
            return Ok(None);
        };
        let hash = text.trim().to_ascii_lowercase();
        if chance::from_hex(&hash).is_none() {
            return Err(Refused(format!(
                "--expect {} is no hash of results; 64 hex digits are right, as `hakem verify DIR` prints them",
                super::shown(text)
            )));
        }
        match self.records.as_slice() {
            [one] if one.is_dir() => Ok(Some(hash)),
            _ => Err(Refused(
                "--expect is about one folder of results; name just that".into(),
            )),
        }
    }
}

/// Checks them all; the exit code is 1 if one does not hold.
///
/// # Errors
/// A file that is named and cannot be read, or is no record; stdout that fails.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut lines = Lines {
        out: io::stdout().lock(),
        closed: false,
        held: 0,
        failed: 0,
    };
    let expected = args.expected()?;
    let seed = args.seed.as_deref();
    let mut games = OwnGames::new(&args.game)?;
    let mut known: BTreeMap<PathBuf, Result<Stated, String>> = BTreeMap::new();
    for path in &args.records {
        if path.is_dir() {
            folder::check(path, seed, expected.as_deref(), &mut games, &mut lines)?;
            continue;
        }
        let text = fs::read(path)
            .map_err(|error| Refused(format!("{} cannot be read: {error}", path.display())))?;
        if !may_be_record(path, &text) {
            return Err(Refused(format!(
                "{} is no record of a game; records lie in records/ of a folder of results and end in .jsonl",
                path.display()
            ))
            .into());
        }
        let own = games.of_record(path)?;
        let stated = folder_of(path).map(|folder| {
            let read = || Stated::read(&folder, own);
            &*known.entry(folder.clone()).or_insert_with(read)
        });
        let checked = match stated {
            Some(Ok(stated)) => alone_in(stated, path, &text, seed, own),
            Some(Err(what)) => Err(what.clone()),
            None => replayed(path, &text, seed, own),
        };
        lines.tell(path, checked.as_ref())?;
    }
    lines.finish()
}

/// Whether this can be a record, or can have been one before it was damaged.
fn may_be_record(path: &Path, text: &[u8]) -> bool {
    let link = b"\"prev\":\"";
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(store::recorded_in).is_some()
        || text.windows(link.len()).any(|bytes| bytes == link)
}

/// The folder of results that a record lies in.
fn folder_of(record: &Path) -> Option<PathBuf> {
    let folder = record.parent().and_then(Path::parent)?;
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let found = folder.join(store::RESULTS).exists();
    found.then(|| folder.to_owned())
}

/// Plays a record again.
fn replayed(
    path: &Path,
    text: &[u8],
    seed: Option<&str>,
    own: Option<&dyn Kind>,
) -> Result<Verified, String> {
    let told = match (seed, path.parent().and_then(Path::parent)) {
        (Some(seed), _) => Some(seed.to_owned()),
        (None, Some(folder)) => store::read_seed(folder)
            .map_err(|error| error.to_string())?
            .map(|file| file.seed),
        (None, None) => None,
    };
    replay::verify_of(own, text, told.as_deref(), &mut |_, _| {}).map_err(|error| error.to_string())
}

/// Checks one record in a folder of results, which must know it by its hash.
fn alone_in(
    stated: &Stated,
    path: &Path,
    text: &[u8],
    seed: Option<&str>,
    own: Option<&dyn Kind>,
) -> Result<Verified, String> {
    let verified = replayed(path, text, seed, own)?;
    let id = verified.header.id;
    let name = path.file_name().and_then(|name| name.to_str());
    let (_, under) = name
        .and_then(store::recorded_in)
        .filter(|(of, _)| *of == id)
        .ok_or_else(|| format!("it is the record of game {id}"))?;
    let row = stated
        .store
        .game_under(id, under)
        .map_err(|error| error.to_string())?
        .ok_or_else(|| format!("the results hold no game {id}"))?;
    stated.check_game(&row, &verified)?;
    Ok(verified)
}

/// Writes lines until nobody reads them any more, which is no failure; counts what holds.
struct Lines<W> {
    out: W,
    closed: bool,
    held: u32,
    failed: u32,
}

impl<W: Write> Lines<W> {
    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let written = writeln!(self.out, "{line}");
        self.closed = matches!(&written, Err(error) if error.kind() == io::ErrorKind::BrokenPipe);
        super::unless_closed(written)
    }

    /// Tells what became of a record.
    fn tell(&mut self, path: &Path, checked: Result<&Verified, &String>) -> io::Result<()> {
        match checked {
            Ok(verified) => {
                self.held += 1;
                let chance = match (verified.has_chance, verified.chance_checked) {
                    (false, _) => "",
                    (true, true) => ", dice checked",
                    (true, false) => ", dice not yet checkable",
                };
                let moves = verified.result.moves;
                self.write(&format!("{}: ok, {moves} moves{chance}", shown(path)))
            }
            Err(what) => self.complain(path, what),
        }
    }

    /// Tells what does not hold.
    fn complain(&mut self, path: &Path, what: &str) -> io::Result<()> {
        self.failed += 1;
        self.write(&format!(
            "{}: does not verify: {}",
            shown(path),
            super::shown(what)
        ))
    }

    /// Tells something that is no fault.
    fn note(&mut self, path: &Path, what: &str) -> io::Result<()> {
        self.write(&format!("{}: {what}", shown(path)))
    }

    /// The sum of it all.
    fn finish(&mut self) -> anyhow::Result<ExitCode> {
        let (held, failed) = (self.held, self.failed);
        if held + failed > 1 {
            self.write(&format!("{held} records hold, {failed} do not"))?;
        }
        Ok(ExitCode::from(if failed > 0 {
            exit::BAD
        } else {
            exit::DONE
        }))
    }
}

fn shown(path: &Path) -> String {
    super::shown(&path.to_string_lossy())
}
