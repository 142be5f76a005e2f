//! `hakem standings` and `hakem games`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::exit::Refused;
use super::output::OutputArgs;
use crate::config;
use crate::event::{GameId, GameResult, MatchId, MatchResult, Verdict};
use crate::report::model::{EventResults, counting, placing, progress};
use crate::store::{self, Store, StoreError, VoidNote};
use crate::tournament::rulings::{Desk, What};
use crate::tournament::standings::{Fold, ResultsError, Standings};
use crate::tournament::unfold_ruled;

/// Show the standings with ratings
#[derive(Debug, clap::Args)]
pub struct StandingsArgs {
    /// The folder of results
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// How they are written.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// List the games
#[derive(Debug, clap::Args)]
pub struct GamesArgs {
    /// The folder of results
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Only games in which this bot sat
    #[arg(long, value_name = "NAME")]
    pub bot: Option<String>,
    /// Only games of this round
    #[arg(long, value_name = "N")]
    pub round: Option<u32>,
    /// Only games that ended so
    #[arg(long, value_name = "V", value_parser = verdicts())]
    pub verdict: Option<Verdict>,
    /// How they are written.
    #[command(flatten)]
    pub output: OutputArgs,
}

fn verdicts() -> impl TypedValueParser<Value = Verdict> {
    PossibleValuesParser::new(Verdict::ALL.map(Verdict::as_str))
        .try_map(|word| word.parse::<Verdict>())
}

impl GamesArgs {
    /// Leaves out the games that are not asked for.
    ///
    /// # Errors
    /// [`Refused`] for a bot that is not in the event.
    fn choose(&self, results: &mut EventResults) -> Result<(), Refused> {
        let slot = match &self.bot {
            None => None,
            Some(name) => {
                let names = results.names.iter().map(String::as_str);
                let Some(slot) = names.clone().position(|other| other == name) else {
                    return Err(Refused(format!(
                        "there is no bot `{name}` in {}; {}",
                        self.dir.display(),
                        config::suggestion(name, names)
                    )));
                };
                Some(slot)
            }
        };
        results.games.retain(|game| {
            slot.is_none_or(|slot| game.seats.contains(&slot))
                && self.round.is_none_or(|round| game.id.of.round == round)
                && self.verdict.is_none_or(|verdict| game.verdict == verdict)
        });
        Ok(())
    }
}

/// Shows the standings; also while a run goes on.
///
/// # Errors
/// A folder that holds no results, or results that cannot be read.
pub fn standings(args: &StandingsArgs) -> anyhow::Result<ExitCode> {
    let store = Store::open_read_only(&args.dir)?;
    let output = args.output.get();
    // Once all is played there is the file that tells the seed; a large event is then not looked through for nothing.
    let left = if output.is_for_people() && !args.dir.join(store::SEED_FILE).exists() {
        left_to_play(&store)?
    } else {
        None
    };
    output.standings(&counted(&store)?, left)?;
    Ok(ExitCode::SUCCESS)
}

/// What is left to play, in words.
fn left_to_play(store: &Store) -> Result<Option<String>, StoreError> {
    let event = store.meta()?.event;
    let results: BTreeMap<MatchId, MatchResult> = store
        .matches()?
        .into_iter()
        .map(|result| (result.id, result))
        .collect();
    let desk = store.desk()?;
    let format = config::ruled_format_of(&event, &store.ladder()?, &desk);
    let unfolded = unfold_ruled(&*format, &results, desk);
    let left = unfolded.left(&*format, &results).count();
    Ok(progress(&event, results.len(), left))
}

/// The rulings under which a match was played again to its end.
fn replayed(store: &Store) -> Result<BTreeSet<u32>, StoreError> {
    let mut played = BTreeSet::new();
    for ruling in store.desk()?.rulings() {
        if let What::Replay { of } = ruling.what
            && store.match_under(of, Some(ruling.number))?.is_some()
        {
            played.insert(ruling.number);
        }
    }
    Ok(played)
}

/// The standings of a folder; its results are read one by one.
fn counted(store: &Store) -> anyhow::Result<Standings> {
    let desk = store.desk()?;
    if !desk.is_empty() {
        return Ok(event_results(store)?.standings()?);
    }
    let meta = store.meta()?;
    let names: Vec<String> = meta.bots.iter().map(|bot| bot.name.clone()).collect();
    let ladder = store.ladder()?;
    let placing = placing(&meta.event, &ladder, &desk, || store.matches())?;
    let counting = counting(&meta.event, &meta.game, ladder.ratings_of(&names));
    let mut fold = Fold::new(counting, names.len());
    let mut fault = None;
    let mut count = |counted: Result<(), ResultsError>| {
        if let Err(error) = counted {
            fault.get_or_insert(error);
        }
    };
    store.each_match(|result| count(fold.match_over(&result)))?;
    let unfinished = store.unfinished_matches()?;
    store.each_game(|game| count(fold.game(&game, !unfinished.contains(&game.id.of))))?;
    for game in void_games(store)? {
        count(fold.game(&game, false));
    }
    match fault {
        Some(error) => Err(error.into()),
        None => Ok(fold.standings(&placing, &names)?),
    }
}

/// The results of a folder.
///
/// # Errors
/// Results that cannot be read.
pub fn event_results(store: &Store) -> Result<EventResults, StoreError> {
    let meta = store.meta()?;
    let results = EventResults {
        name: meta.name,
        game: meta.game,
        event: meta.event,
        names: meta.bots.into_iter().map(|bot| bot.name).collect(),
        ladder: store.ladder()?,
        confined: store.confined()?,
        matches: Vec::new(),
        games: Vec::new(),
        played: Vec::new(),
        desk: Desk::default(),
        replayed: replayed(store)?,
        ended: store.ended()?,
    };
    Ok(results.ruled(store.matches()?, all_games(store)?, store.desk()?))
}

/// Lists the games; also while a run goes on.
///
/// # Errors
/// A folder that holds no results, or results that cannot be read.
pub fn games(args: &GamesArgs) -> anyhow::Result<ExitCode> {
    let store = Store::open_read_only(&args.dir)?;
    let mut results = event_results(&store)?;
    args.choose(&mut results)?;
    let records = store.records();
    let name_of = |id| records.name(id);
    args.output.get().games(&results, &name_of)?;
    Ok(ExitCode::SUCCESS)
}

/// The games that were played, and those that were void and not played since: by the machine's fault, or because the organiser has them
/// played again.
///
/// # Errors
/// Results that cannot be read.
pub fn all_games(store: &Store) -> Result<Vec<GameResult>, StoreError> {
    let mut games = store.games()?;
    games.extend(void_games(store)?);
    games.extend(games_to_come(store)?);
    Ok(games)
}

/// The games of matches that the organiser has played again and that were not played since, as they were played before, but void.
fn games_to_come(store: &Store) -> Result<Vec<GameResult>, StoreError> {
    if store.replays().is_empty() {
        return Ok(Vec::new());
    }
    let desk = store.desk()?;
    let complete = store.complete_matches()?;
    let unfinished = store.unfinished_matches()?;
    // What was played last before comes last.
    let mut last: BTreeMap<MatchId, (Option<u32>, Vec<GameResult>)> = BTreeMap::new();
    for (game, under) in store.games_aside()? {
        let of = game.id.of;
        if complete.contains(&of) || unfinished.contains(&of) || !store.replays().contains_key(&of)
        {
            continue;
        }
        let games = last.entry(of).or_insert((under, Vec::new()));
        if games.0 != under {
            *games = (under, Vec::new());
        }
        games.1.push(game);
    }
    let void = |game: GameResult| {
        let ruling = desk.replay(game.id.of);
        let words = ruling.map_or_else(String::new, |ruling| {
            format!(
                "void: to be played again by ruling {}: {}",
                ruling.number, ruling.reason
            )
        });
        GameResult {
            winner: None,
            score: None,
            points: None,
            verdict: Verdict::Void,
            reason: words,
            against: None,
            moves: 0,
            first: None,
            time_us: vec![0; game.seats.len()],
            wall_us: vec![0; game.seats.len()],
            cpu_us: vec![0; game.seats.len()],
            record_hash: String::new(),
            play_hash: String::new(),
            ..game
        }
    };
    let games = last.into_values().flat_map(|(_, games)| games);
    Ok(games.map(void).collect())
}

/// The games that were void and not played since.
fn void_games(store: &Store) -> Result<Vec<GameResult>, StoreError> {
    let mut void: BTreeMap<GameId, VoidNote> = BTreeMap::new();
    for note in store.voids()? {
        // What is to be played again is told as such.
        let is_to_come = store.replays().contains_key(&note.id.of);
        if !note.seats.is_empty() && !is_to_come && store.game(note.id)?.is_none() {
            void.insert(note.id, note);
        }
    }
    let result = |note: VoidNote| GameResult {
        id: note.id,
        winner: None,
        score: None,
        points: None,
        verdict: Verdict::Void,
        reason: format!("void: {}", note.why),
        against: None,
        moves: 0,
        first: None,
        time_us: vec![0; note.seats.len()],
        wall_us: vec![0; note.seats.len()],
        cpu_us: vec![0; note.seats.len()],
        record_hash: String::new(),
        play_hash: String::new(),
        seats: note.seats,
    };
    Ok(void.into_values().map(result).collect())
}
