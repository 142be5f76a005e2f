//! What an event came to: the read model that all reports are made from.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::config;
use crate::event::{GameId, GameResult, MatchId, MatchResult};
use crate::game;
use crate::stats::rates::{Rates, Wins};
use crate::tournament::standings::{Counting, Placing, ResultsError, Standings};
use crate::tournament::{Unfolded, unfold};

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
    /// The bots of a ladder at its beginning, best first.
    pub ladder: Vec<String>,
    /// All matches that are over.
    pub matches: Vec<MatchResult>,
    /// All games, void ones that were not played again included.
    pub games: Vec<GameResult>,
    /// How the bots were confined, an entry for each way in which a session was played; empty where that is not known.
    pub confined: Vec<Value>,
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
        let results: BTreeMap<MatchId, MatchResult> = self
            .matches
            .iter()
            .map(|result| (result.id, result.clone()))
            .collect();
        unfold(&*config::format_of(&self.event, &self.ladder), &results)
    }

    /// The standings.
    ///
    /// # Errors
    /// Results that contradict themselves.
    pub fn standings(&self) -> Result<Standings, ResultsError> {
        let placing = placing(&self.event, &self.ladder, || {
            Ok::<_, ResultsError>(self.matches.clone())
        })?;
        let counting = counting(&self.event, &self.game);
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

/// How many matches are played, in words, of an event in which some are left; `None` where all are played.
pub fn progress(event: &Value, unfolded: &Unfolded, played: usize) -> Option<String> {
    let known = unfolded.pairings().count();
    if unfolded.is_over() || played >= known {
        return None;
    }
    // Elsewhere what follows depends on results.
    let all = matches!(
        event["event"]["format"].as_str(),
        None | Some("round-robin" | "gauntlet")
    );
    let least = if all { "" } else { "at least " };
    Some(format!("{played} of {least}{known} matches played."))
}

/// How the results of the event with this fingerprint are counted.
pub fn counting(event: &Value, game: &str) -> Counting {
    Counting {
        paired: event["event"]["paired"].as_bool().unwrap_or(true),
        points_a_game: game::find(game).is_some_and(|kind| kind.facts().points_a_game),
        ..Counting::default()
    }
}

/// What the format of the event says of who stands above whom. `matches` is asked only where the format depends on results.
///
/// # Errors
/// Whatever `matches` reports.
pub fn placing<E>(
    event: &Value,
    ladder: &[String],
    matches: impl FnOnce() -> Result<Vec<MatchResult>, E>,
) -> Result<Placing, E> {
    let tie_breaks = config::tie_breaks_of(event);
    if matches!(
        event["event"]["format"].as_str(),
        None | Some("round-robin" | "gauntlet")
    ) {
        return Ok(Placing {
            tie_breaks,
            ..Placing::default()
        });
    }
    let format = config::format_of(event, ladder);
    let results = matches()?
        .into_iter()
        .map(|result| (result.id, result))
        .collect();
    let unfolded = unfold(&*format, &results);
    let places = format.places(&unfolded.history);
    let mut byes = unfolded.history.byes;
    byes.extend(unfolded.batch.byes);
    Ok(Placing {
        places,
        tie_breaks,
        byes,
    })
}
