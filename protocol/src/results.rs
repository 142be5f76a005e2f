//! Results as data: the rows of `hakem games --format json` and `hakem standings --format json`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Score;

/// Why a game counts as it does. A closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The game's own end.
    Rule,
    /// A resignation was accepted.
    Resigned,
    /// An answer that the rules refuse.
    IllegalMove,
    /// A line that is no fitting message (`bad_json`, `bad_message`, `wrong_id`, `unasked`, `not_utf8`).
    BadMessage,
    /// Too long a line, or too much output.
    Flood,
    /// The time was over.
    Timeout,
    /// `ready` was late or not valid, or of another version of the protocol.
    NoReady,
    /// The process ended or closed its pipe.
    Crash,
    /// A limit on memory, processes or disk ended the bot.
    Limit,
    /// The event's own rule ended the game.
    Adjudicated,
    /// The referee's or the machine's fault, or an organiser's ruling: counts for nobody.
    Void,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Verdict; 11] = [
        Verdict::Rule,
        Verdict::Resigned,
        Verdict::IllegalMove,
        Verdict::BadMessage,
        Verdict::Flood,
        Verdict::Timeout,
        Verdict::NoReady,
        Verdict::Crash,
        Verdict::Limit,
        Verdict::Adjudicated,
        Verdict::Void,
    ];

    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Rule => "rule",
            Verdict::Resigned => "resigned",
            Verdict::IllegalMove => "illegal_move",
            Verdict::BadMessage => "bad_message",
            Verdict::Flood => "flood",
            Verdict::Timeout => "timeout",
            Verdict::NoReady => "no_ready",
            Verdict::Crash => "crash",
            Verdict::Limit => "limit",
            Verdict::Adjudicated => "adjudicated",
            Verdict::Void => "void",
        }
    }

    /// Whether a seat forfeited.
    pub const fn is_forfeit(self) -> bool {
        matches!(
            self,
            Verdict::IllegalMove
                | Verdict::BadMessage
                | Verdict::Flood
                | Verdict::Timeout
                | Verdict::NoReady
                | Verdict::Crash
                | Verdict::Limit
        )
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Verdict {
    type Err = String;

    fn from_str(text: &str) -> Result<Verdict, String> {
        Verdict::ALL
            .into_iter()
            .find(|verdict| verdict.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no verdict"))
    }
}

/// One game in the list of games, which is in schedule order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameRow {
    /// The game's id (`r1.m1.g1`).
    pub id: String,
    /// The event file's names of the bots, by seat.
    pub seats: Vec<String>,
    /// The name of the bot that won alone; `null` for a draw, a shared win and a void game.
    pub winner: Option<String>,
    /// 1, 1/2 or 0 by seat; `null` for a void game.
    pub score: Option<Vec<Score>>,
    /// What the game counts, by seat; `null` for a void game.
    pub points: Option<Vec<u32>>,
    /// Why it counts so.
    pub verdict: Verdict,
    /// Begins with the code, the rules' reason or the event's rule (`mars`, `wrong_id`, `exit 1`, `max_moves`); words for people may follow.
    pub reason: String,
    /// The name of the bot at fault; `null` where none is.
    pub against: Option<String>,
    /// Answers given by all seats.
    pub moves: u32,
    /// Charged time by seat, in milliseconds.
    pub time_ms: Vec<u64>,
    /// Processor time by seat, in milliseconds.
    pub cpu_ms: Vec<u64>,
    /// The record file, relative to the event's folder; `null` where none is kept.
    pub record: Option<String>,
    /// The hash of the record's last line, in hexadecimal; `null` where no record is kept.
    pub record_hash: Option<String>,
    /// The number of the organiser's ruling by which the game is void, or was played again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<u32>,
}

/// One bot in the table of standings. Matches are counted, not games: one match is one result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandingRow {
    /// The place, from 1; equal bots share one.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub rank: u32,
    /// The bot's name in the event file.
    pub name: String,
    /// Matches played.
    pub played: u32,
    /// Matches won alone.
    pub won: u32,
    /// Matches drawn or won together with others.
    pub drawn: u32,
    /// Matches lost.
    pub lost: u32,
    /// The sum of the bot's shares: 1 for a win, 1/2 for a draw of two, 1/n for a win shared by n.
    pub points: Score,
    /// Rounds in which it had no opponent; its points count what it got for them.
    #[serde(default)]
    pub byes: u32,
    /// Games that count and that it won alone.
    #[serde(default)]
    pub games_won: u32,
    /// Games drawn or won together with others.
    #[serde(default)]
    pub games_drawn: u32,
    /// Games lost.
    #[serde(default)]
    pub games_lost: u32,
    /// Games that were void and count for nobody.
    #[serde(default)]
    pub void: u32,
    /// Games of the bot that a rule of the event ended.
    #[serde(default)]
    pub adjudicated: u32,
    /// Matches won by default, because the opponent is out; its points count them, `played` and `won` do not.
    #[serde(default)]
    pub by_default: u32,
    /// `disqualified` or `withdrawn`, where the bot is out.
    #[serde(default)]
    pub status: Option<String>,
    /// Games that the bot forfeited, by kind.
    pub forfeits: Forfeits,
    /// The Glicko-2 rating after the last period, on the scale where a new bot has 1500.
    pub rating: f64,
    /// The rating deviation, on the same scale; 350 for a new bot.
    pub deviation: f64,
    /// The rating volatility.
    pub volatility: f64,
    /// Where the rating lies with 95 % confidence: low and high.
    pub interval: [f64; 2],
    /// The figures that part bots with equal points, by name.
    pub tie_breaks: BTreeMap<String, f64>,
    /// Charged time in all games, in milliseconds.
    #[serde(default)]
    pub time_ms: u64,
    /// Processor time in all games, in milliseconds.
    pub cpu_ms: u64,
    /// Wall time of its turns in all games, in milliseconds.
    pub wall_ms: u64,
    /// The mean of the game's points won less points lost in a game, where they are a statistic of their own (Tavla).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_per_game: Option<f64>,
    /// Where that mean lies with 95 % confidence: low and high.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_per_game_interval: Option<[f64; 2]>,
}

/// One ruling of an event's organiser, in the list of `hakem desk DIR`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RulingRow {
    /// Counts the rulings of the event, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub number: u32,
    /// When it was made, RFC 3339.
    pub at: String,
    /// `disqualify`, `withdraw`, `void`, `replay`, `add`, `close` or `undo`.
    pub ruling: String,
    /// What it is about: the names of bots, the id of a match, the number of a ruling; nothing for `close`.
    pub about: Vec<String>,
    /// The organiser's reason.
    pub reason: String,
    /// Whether it is in force: it is not undone, and no later ruling about the same match decides instead. One that undoes another is.
    pub in_force: bool,
    /// The number of the ruling that undid it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<u32>,
    /// The number of the later ruling about the same match that decides instead of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden_by: Option<u32>,
    /// What follows from it, in words.
    pub effect: String,
}

/// What `hakem gate --format json` prints: one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateResult {
    /// What the gate came to.
    pub decision: GateDecision,
    /// Why, in words.
    pub why: String,
    /// The candidate's name.
    pub candidate: String,
    /// The baseline's name.
    pub baseline: String,
    /// What the hypotheses are about.
    pub scale: GateScale,
    /// The difference that is not good enough: Elo points, or points a game; `null` where nothing was tested.
    pub elo0: Option<f64>,
    /// The difference that is good enough.
    pub elo1: Option<f64>,
    /// The probability to accept a candidate that is as in `elo0`.
    pub alpha: f64,
    /// The probability to reject one that is as in `elo1`.
    pub beta: f64,
    /// The log-likelihood ratio of `elo1` to `elo0`.
    pub llr: f64,
    /// The bounds of the ratio: to reject at or below the first, to accept at or above the second.
    pub bounds: [f64; 2],
    /// Pairs that are evidence; 0 where games are not paired.
    pub pairs: u64,
    /// Matches that are evidence: two a pair.
    pub games: u64,
    /// Pairs (or matches without partner) that were copies of an earlier one, and no evidence. One with a forfeit is none.
    pub copies: u64,
    /// How many pairs had each score of the candidate, from 0 to 2 in halves; of matches without partner from 0 to 1.
    pub counts: Vec<u64>,
    /// The candidate's mean score, from 0 to 1; `null` before the first game.
    pub score: Option<f64>,
    /// The Elo difference of that score; `null` where it has no end.
    pub elo: Option<f64>,
    /// Where the Elo difference lies with 95 % confidence, low and high; an end is `null` where it has none. Both are `null`, too, where
    /// no interval can be told: fewer than two pairs, or one score in all of them.
    pub interval: [Option<f64>; 2],
    /// The normalised Elo difference; `null` where all pairs had one score.
    pub normalised_elo: Option<f64>,
    /// The likelihood that the candidate is better, from 0 to 1; `null` where no interval can be told.
    pub superiority: Option<f64>,
    /// The mean of points won less points lost in a game, where they are a statistic of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_per_game: Option<f64>,
    /// Where that mean lies with 95 % confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_per_game_interval: Option<[f64; 2]>,
    /// Games that the candidate forfeited.
    pub candidate_forfeits: u64,
    /// Games that the baseline forfeited.
    pub baseline_forfeits: u64,
    /// Games that a rule of the event ended.
    #[serde(default)]
    pub adjudicated: u64,
}

/// What a gate came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateDecision {
    /// The candidate is good enough. Exit code 0.
    Accepted,
    /// It is not. Exit code 1.
    Rejected,
    /// The budget was used up before it was clear. Exit code 4.
    NoDecision,
    /// Nothing was tested: the strength was measured and stored. Exit code 0.
    Measured,
}

impl GateDecision {
    /// The word in data.
    pub const fn as_str(self) -> &'static str {
        match self {
            GateDecision::Accepted => "accepted",
            GateDecision::Rejected => "rejected",
            GateDecision::NoDecision => "no_decision",
            GateDecision::Measured => "measured",
        }
    }
}

/// What the hypotheses of a gate are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateScale {
    /// The Elo difference of the logistic curve.
    Logistic,
    /// The normalised Elo difference: mean score in standard deviations of a game.
    Normalised,
    /// Points a game.
    Points,
}

impl GateScale {
    /// The word in data.
    pub const fn as_str(self) -> &'static str {
        match self {
            GateScale::Logistic => "logistic",
            GateScale::Normalised => "normalised",
            GateScale::Points => "points",
        }
    }
}

/// One bot in the ratings across events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatingRow {
    /// The place, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub rank: u32,
    /// The bot's name in the events.
    pub name: String,
    /// The Glicko-2 rating after the last period.
    pub rating: f64,
    /// The rating deviation.
    pub deviation: f64,
    /// The rating volatility.
    pub volatility: f64,
    /// Where the rating lies with 95 % confidence: low and high.
    pub interval: [f64; 2],
    /// Whether the rating is fixed.
    pub anchor: bool,
    /// Periods in which it played.
    pub periods: u32,
    /// Matches in them.
    pub played: u32,
    /// What it scored in them: 1 for a win, 1/2 for a draw.
    pub score: f64,
    /// What the ratings before each period let expect.
    pub expected: f64,
}

/// Forfeited games by kind: a field for each verdict that is a forfeit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Forfeits {
    /// Moves that the rules refuse.
    pub illegal_move: u32,
    /// Lines that are no fitting message.
    pub bad_message: u32,
    /// Too long a line, or too much output.
    pub flood: u32,
    /// The time was over.
    pub timeout: u32,
    /// `ready` was late or not valid.
    pub no_ready: u32,
    /// The process ended or closed its pipe.
    pub crash: u32,
    /// A limit on memory, processes or disk.
    pub limit: u32,
}

impl Forfeits {
    /// Counts one more game with this verdict; a verdict that is no forfeit counts nothing.
    pub fn add(&mut self, verdict: Verdict) {
        if let Some(count) = self.of(verdict) {
            *count += 1;
        }
    }

    /// All of them.
    pub const fn total(&self) -> u32 {
        self.illegal_move
            + self.bad_message
            + self.flood
            + self.timeout
            + self.no_ready
            + self.crash
            + self.limit
    }

    /// How many have this verdict; none for one that is no forfeit.
    pub fn count(mut self, verdict: Verdict) -> u32 {
        self.of(verdict).copied().unwrap_or(0)
    }

    fn of(&mut self, verdict: Verdict) -> Option<&mut u32> {
        match verdict {
            Verdict::IllegalMove => Some(&mut self.illegal_move),
            Verdict::BadMessage => Some(&mut self.bad_message),
            Verdict::Flood => Some(&mut self.flood),
            Verdict::Timeout => Some(&mut self.timeout),
            Verdict::NoReady => Some(&mut self.no_ready),
            Verdict::Crash => Some(&mut self.crash),
            Verdict::Limit => Some(&mut self.limit),
            Verdict::Rule | Verdict::Resigned | Verdict::Adjudicated | Verdict::Void => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_verdicts_correspond() {
        for verdict in Verdict::ALL {
            assert_eq!(verdict.as_str().parse(), Ok(verdict));
            let word = serde_json::to_value(verdict).expect("a verdict is a word");
            assert_eq!(word, verdict.as_str());
        }
        assert!("nothing".parse::<Verdict>().is_err());
    }

    #[test]
    fn every_forfeit_has_its_count_and_nothing_else_has() {
        let mut forfeits = Forfeits::default();
        for verdict in Verdict::ALL {
            let before = forfeits.total();
            forfeits.add(verdict);
            assert_eq!(
                forfeits.total() - before,
                u32::from(verdict.is_forfeit()),
                "{verdict}"
            );
        }
        let fields = serde_json::to_value(forfeits).expect("plain data");
        for verdict in Verdict::ALL.into_iter().filter(|one| one.is_forfeit()) {
            assert_eq!(fields[verdict.as_str()], 1, "{verdict}");
        }
    }
}
