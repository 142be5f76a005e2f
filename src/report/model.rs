//! What an event came to: the read model that all reports are made from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::config;
use crate::event::{GameId, GameResult, MatchId, MatchResult, Verdict};
use crate::game;
use crate::rating::Rating;
use crate::stats::rates::{Rates, Wins};
use crate::tournament::ladder::List;
use crate::tournament::rulings::{Desk, NOW, Ruling, What, defaults};
use crate::tournament::standings::{Counting, Placing, ResultsError, Standings};
use crate::tournament::{Unfolded, unfold_ruled};

/// The results of an event with what they are of.
#[derive(Clone, Debug)]
pub struct EventResults {
    /// The event's name.
    pub name: String,
    /// The game.
    pub game: String,
    /// The event as [`config::EventConfig::fingerprint`] describes it.
    pub event: Value,
    /// The names of the bots by slot.
    pub names: Vec<String>,
    /// The ladder at its beginning.
    pub ladder: List,
    /// The matches that are over and count.
    pub matches: Vec<MatchResult>,
    /// All games, void ones that were not played again included; those that count for nobody by a ruling are void.
    pub games: Vec<GameResult>,
    /// How the bots were confined, an entry for each way in which a session was played; empty where that is not known.
    pub confined: Vec<Value>,
    /// All matches that are over, whatever was ruled.
    pub played: Vec<MatchResult>,
    /// What the organiser ruled.
    pub desk: Desk,
    /// The rulings under which a match was played again to its end, by number.
    pub replayed: BTreeSet<u32>,
    /// Why the event ended before all was played, in words; empty where it did not.
    pub ended: String,
}

impl EventResults {
    /// Whether matches are paired.
    pub fn is_paired(&self) -> bool {
        self.event["event"]["paired"].as_bool().unwrap_or(true)
    }

    /// The matches that are known.
    pub fn unfolded(&self) -> Unfolded {
        let format = config::ruled_format_of(&self.event, &self.ladder, &self.desk);
        unfold_ruled(&*format, &by_id(&self.played), self.desk.clone())
    }

    /// How many matches are known and still to be played.
    pub fn left(&self) -> usize {
        let format = config::ruled_format_of(&self.event, &self.ladder, &self.desk);
        let results = by_id(&self.played);
        let unfolded = unfold_ruled(&*format, &results, self.desk.clone());
        unfolded.left(&*format, &results).count()
    }

    /// Takes all matches and games as they were played, and applies what was ruled.
    #[must_use]
    pub fn ruled(self, matches: Vec<MatchResult>, games: Vec<GameResult>, desk: Desk) -> Self {
        let counting = |result: &&MatchResult| desk.taken_out(result.id, &result.seats).is_none();
        EventResults {
            matches: matches.iter().filter(counting).cloned().collect(),
            games: games
                .into_iter()
                .map(|game| as_ruled(game, &desk, &self.names))
                .collect(),
            played: matches,
            desk,
            ..self
        }
    }

    /// The standings.
    ///
    /// # Errors
    /// Results that contradict themselves.
    pub fn standings(&self) -> Result<Standings, ResultsError> {
        let placing = placing(&self.event, &self.ladder, &self.desk, || {
            Ok::<_, ResultsError>(self.played.clone())
        })?;
        let counting = counting(&self.event, &self.game, self.ladder.ratings_of(&self.names));
        Standings::placed(counting, &placing, &self.names, &self.matches, &self.games)
    }

    /// The ways to win that the rules know.
    pub fn wins(&self) -> Wins {
        game::find(&self.game).map_or(&[], |kind| kind.facts().wins)
    }

    /// Counts over all games.
    pub fn rates(&self) -> Rates {
        let mut rates = Rates::default();
        let mut games: Vec<&GameResult> = self.games.iter().collect();
        games.sort_by_key(|game| (self.unit_of(game.id), game.id));
        for game in games {
            rates.add(game, self.unit_of(game.id), self.wins());
        }
        rates
    }

    /// The games that are one observation share this.
    fn unit_of(&self, game: GameId) -> GameId {
        let MatchId { round, number } = game.of;
        let number = if self.is_paired() {
            number.div_ceil(2)
        } else {
            number
        };
        MatchId { round, number }.game(game.game)
    }
}

/// Whether all matches of the event are known from its beginning; elsewhere what follows depends on results.
pub fn is_known_whole(event: &Value) -> bool {
    matches!(
        event["event"]["format"].as_str(),
        None | Some("round-robin" | "gauntlet")
    )
}

/// How many matches are played, in words, of an event in which so many that are known are left to play; `None` where none is. What
/// rulings keep from being played is not among them.
pub fn progress(event: &Value, played: usize, left: usize) -> Option<String> {
    if left == 0 {
        return None;
    }
    let known = played + left;
    let least = if is_known_whole(event) {
        ""
    } else {
        "at least "
    };
    Some(format!("{played} of {least}{known} matches played."))
}

/// How the results of the event with this fingerprint are counted; `start` are the ratings of its bots at its beginning.
pub fn counting(event: &Value, game: &str, start: Vec<Rating>) -> Counting {
    Counting {
        paired: event["event"]["paired"].as_bool().unwrap_or(true),
        points_a_game: game::find(game).is_some_and(|kind| kind.facts().points_a_game),
        start,
        ..Counting::default()
    }
}

/// What the format of the event says of who stands above whom. `matches` is asked only where the format depends on results.
///
/// # Errors
/// Whatever `matches` reports.
pub fn placing<E>(
    event: &Value,
    ladder: &List,
    desk: &Desk,
    matches: impl FnOnce() -> Result<Vec<MatchResult>, E>,
) -> Result<Placing, E> {
    let tie_breaks = config::tie_breaks_of(event);
    if desk.is_empty() && is_known_whole(event) {
        return Ok(Placing {
            tie_breaks,
            ..Placing::default()
        });
    }
    let format = config::ruled_format_of(event, ladder, desk);
    let results = by_id(&matches()?);
    let unfolded = unfold_ruled(&*format, &results, desk.clone());
    let bots = event["bots"].as_array().map_or(0, Vec::len);
    let defaults = defaults(&*format, &unfolded, &results, bots);
    let places = format.places(&unfolded.history);
    let ranked_by = format.ranked_by();
    let mut byes = unfolded.history.byes;
    byes.extend(unfolded.batch.byes);
    byes.retain(|bye| !desk.out(bye.slot, NOW).is_some_and(|out| out.annuls));
    Ok(Placing {
        places,
        ranked_by,
        tie_breaks,
        byes,
        defaults,
        rulings: desk.in_force(NOW).count(),
    })
}

fn by_id(matches: &[MatchResult]) -> BTreeMap<MatchId, MatchResult> {
    let keyed = |result: &MatchResult| (result.id, result.clone());
    matches.iter().map(keyed).collect()
}

/// A game as it counts: for nobody, if it was ruled so.
fn as_ruled(game: GameResult, desk: &Desk, names: &[String]) -> GameResult {
    let ruled = desk.taken_out(game.id.of, &game.seats);
    match ruled.filter(|_| game.verdict != Verdict::Void) {
        None => game,
        Some(ruling) => GameResult {
            winner: None,
            score: None,
            points: None,
            verdict: Verdict::Void,
            reason: taken_out_in_words(ruling, names),
            against: None,
            ..game
        },
    }
}

/// Why a game counts for nobody, as its reason.
pub fn taken_out_in_words(ruling: &Ruling, names: &[String]) -> String {
    let why = match &ruling.what {
        What::Disqualify { slot, .. } => {
            let name = names.get(*slot).map_or("a bot", String::as_str);
            format!("{name} is disqualified: {}", ruling.reason)
        }
        _ => ruling.reason.clone(),
    };
    format!("void by ruling {}: {why}", ruling.number)
}
