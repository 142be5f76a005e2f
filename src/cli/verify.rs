//! `hakem verify`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::exit::{self, Refused};
use super::own_game::{GameArgs, OwnGames};
use crate::event::{MatchId, MatchResult};
use crate::game::{Kind, Outcome};
use crate::referee::record::ResultEntry;
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
    /// The rules.
    #[command(flatten)]
    pub game: GameArgs,
}

/// Checks them all; the exit code is 1 if one does not hold.
///
/// # Errors
/// A file that is named and cannot be read; stdout that fails.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut lines = Lines {
        out: io::stdout().lock(),
        closed: false,
    };
    let (mut held, mut failed) = (0, 0);
    let seed = args.seed.as_deref();
    let mut games = OwnGames::new(&args.game)?;
    for path in &args.records {
        if path.is_dir() {
            let (good, bad) = check_folder(path, seed, games.of_folder(path)?, &mut lines)?;
            held += good;
            failed += bad;
            continue;
        }
        let text = fs::read(path)
            .map_err(|error| Refused(format!("{} cannot be read: {error}", path.display())))?;
        match lines.tell(path, check(path, &text, seed, games.of_record(path)?))? {
            true => held += 1,
            false => failed += 1,
        }
    }
    if held + failed > 1 {
        lines.write(&format!("{held} records hold, {failed} do not"))?;
    }
    Ok(ExitCode::from(if failed > 0 {
        exit::BAD
    } else {
        exit::DONE
    }))
}

/// Writes lines until nobody reads them any more, which is no failure.
struct Lines<W> {
    out: W,
    closed: bool,
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

    /// Tells what became of a record; whether it holds.
    fn tell(&mut self, path: &Path, checked: Result<Verified, String>) -> io::Result<bool> {
        let path = super::shown(&path.to_string_lossy());
        match checked {
            Ok(verified) => {
                let chance = if verified.chance_checked {
                    "dice checked"
                } else {
                    "dice not yet checkable"
                };
                let moves = verified.result.moves;
                self.write(&format!("{path}: ok, {moves} moves, {chance}"))?;
                Ok(true)
            }
            Err(what) => {
                self.write(&format!("{path}: does not verify: {}", super::shown(&what)))?;
                Ok(false)
            }
        }
    }
}

/// Checks a whole folder of results: every game's record, and that the results say of games and matches what the records
/// say. Returns how many hold and how many do not.
fn check_folder(
    dir: &Path,
    seed: Option<&str>,
    own: Option<&dyn Kind>,
    lines: &mut Lines<impl Write>,
) -> anyhow::Result<(u32, u32)> {
    let store = Store::open_read_only(dir)?;
    let (games, matches, records) = (store.games()?, store.matches()?, store.records());
    let (mut held, mut failed) = (0, 0);
    let mut played: BTreeMap<MatchId, Vec<Verified>> = BTreeMap::new();
    let aside = store.games_aside()?;
    let all = games
        .iter()
        .map(|game| (dir.join(records.name(game.id)), game, true))
        .chain(aside.iter().map(|(game, under)| {
            let path = dir.join(records.name_under(game.id, *under));
            (path, game, false)
        }));
    let mut known: BTreeSet<PathBuf> = BTreeSet::new();
    for (path, game, is_current) in all {
        let checked = fs::read(&path)
            .map_err(|error| format!("it cannot be read: {error}"))
            .and_then(|text| check(&path, &text, seed, own));
        known.insert(path.clone());
        if let Ok(verified) = &checked
            && is_current
        {
            played.entry(game.id.of).or_default().push(verified.clone());
        }
        match lines.tell(&path, checked)? {
            true => held += 1,
            false => failed += 1,
        }
    }
    let mut complain = |what: String| {
        failed += 1;
        let dir = super::shown(&dir.to_string_lossy());
        lines.write(&format!("{dir}: does not verify: {}", super::shown(&what)))
    };
    for result in &matches {
        let count = games.iter().filter(|game| game.id.of == result.id).count();
        if count != result.games as usize {
            complain(format!(
                "match {} has {} games, and {count} are there",
                result.id, result.games
            ))?;
        } else if let Some(what) = played
            .get(&result.id)
            .and_then(|games| contradicts(result, games, own))
        {
            complain(format!("match {}: {what}", result.id))?;
        }
    }
    // What an interrupted match left is played again; once all is played there is nothing to be left.
    if dir.join(store::SEED_FILE).exists() {
        let is_ruled = !store.desk()?.is_empty();
        let there = fs::read_dir(dir.join(store::RECORDS))
            .into_iter()
            .flatten()
            .flatten();
        for path in there
            .map(|entry| entry.path())
            .filter(|path| !known.contains(path) && !was_left(&store, is_ruled, path))
        {
            complain(format!("{} is the record of no game", path.display()))?;
        }
    }
    Ok((held, failed))
}

/// Whether a record is of a match that was cut short and, by what was ruled since, not played to its end.
fn was_left(store: &Store, is_ruled: bool, path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let Some((id, under)) = name.and_then(store::recorded_in).filter(|_| is_ruled) else {
        return false;
    };
    store
        .match_under(id.of, under)
        .is_ok_and(|result| result.is_none())
}

/// What a match's result says otherwise than the records of its games.
fn contradicts(result: &MatchResult, games: &[Verified], own: Option<&dyn Kind>) -> Option<String> {
    let last = games.last()?;
    let rules = replay::kind_of(own, &last.header.game)?
        .rules(&last.header.rules)
        .ok()?;
    let mut all = (*last.header.played).clone();
    let outcome = |entry: &ResultEntry| {
        Some(Outcome {
            winner: entry.winner,
            score: entry.score.clone()?,
            points: entry.points.clone()?,
            reason: "",
        })
    };
    all.push(outcome(&last.result)?);
    let series = rules.series(all.outcomes());
    if series.score != result.series {
        return Some("its score is not the sum of its games".to_owned());
    }
    // A match may be lost by a forfeit whatever its score is.
    let forfeited = last.result.verdict.is_forfeit();
    (!forfeited && series.shares() != result.score)
        .then(|| "its winner is not the one of its score".to_owned())
}

fn check(
    path: &Path,
    text: &[u8],
    seed: Option<&str>,
    own: Option<&dyn Kind>,
) -> Result<Verified, String> {
    let folder = path.parent().and_then(Path::parent);
    let told = match (seed, folder) {
        (Some(seed), _) => Some(seed.to_owned()),
        (None, Some(folder)) => store::read_seed(folder)
            .map_err(|error| error.to_string())?
            .map(|file| file.seed),
        (None, None) => None,
    };
    let verified = replay::verify_of(own, text, told.as_deref(), &mut |_, _| {})
        .map_err(|error| error.to_string())?;
    let in_results = folder.is_some_and(|folder| folder.join(store::RESULTS).exists());
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let id = verified.header.id;
    let under = match store::recorded_in(name).filter(|(of, _)| *of == id) {
        Some((_, under)) => under,
        None if in_results => return Err(format!("it is the record of game {id}")),
        None => None,
    };
    compare_with_results(folder, &verified, under)?;
    Ok(verified)
}

/// Where the record lies in a folder of results, they must know it by its hash.
fn compare_with_results(
    folder: Option<&Path>,
    verified: &Verified,
    under: Option<u32>,
) -> Result<(), String> {
    let Some(folder) = folder.filter(|folder| folder.join(store::RESULTS).exists()) else {
        return Ok(());
    };
    let stored = Store::open_read_only(folder)
        .and_then(|store| store.game_under(verified.header.id, under))
        .map_err(|error| error.to_string())?;
    let id = verified.header.id;
    let Some(game) = stored else {
        return Err(format!("the results hold no game {id}"));
    };
    if game.record_hash != verified.hash {
        return Err(format!(
            "its last line's hash is not the one in the results of {id}: the record or the results were changed"
        ));
    }
    let result = &verified.result;
    let same = game.winner == result.winner
        && game.score == result.score
        && game.points == result.points
        && (game.verdict, game.against, game.moves)
            == (result.verdict, result.against, result.moves)
        && game.reason == result.reason
        && (&game.time_us, &game.wall_us, &game.cpu_us)
            == (&result.time_us, &result.wall_us, &result.cpu_us);
    if same {
        Ok(())
    } else {
        Err(format!("the results say otherwise of {id} than its record"))
    }
}
