//! Standings: a fold over results. Nothing of them is stored.

use std::collections::{BTreeMap, BTreeSet};

use super::Bye;
use crate::event::{GameId, GameResult, MatchId, MatchResult, Slot, Verdict};
use crate::game::Share;
use crate::rating::{DEFAULT_TAU, Meeting, Period, Rating, RatingError, Score};
use crate::stats::{self, Estimate, Unit};

mod check;
#[cfg(test)]
mod tests;

pub use check::{ResultsError, check_game};

use check::{check_games, check_matches};

/// Points are summed exactly, in twelfths: a win shared by up to four seats is a whole number of them.
const TWELFTHS: u64 = 12;

/// How results are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counting {
    /// Whether matches are paired: in each round the first with the second, the third with the fourth ...
    pub paired: bool,
    /// Whether the points of a game are a statistic of their own ([`crate::game::Facts::points_a_game`]).
    pub points_a_game: bool,
    /// Glicko-2's tau.
    pub tau: f64,
}

impl Default for Counting {
    fn default() -> Counting {
        Counting {
            paired: true,
            points_a_game: false,
            tau: DEFAULT_TAU,
        }
    }
}

/// What decides between bots of equal points, in the order in which it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TieBreak {
    /// The points of the matches among those that are equal on points. Only where all of them met equally often.
    DirectEncounter,
    /// Each result times the points of the opponent, added up (W. Sonneborn and J. Berger).
    SonnebornBerger,
    /// Matches won.
    Wins,
    /// The points of all opponents, added up, each once a round (B. Buchholz). In a round with a bye the opponent counts as equal.
    Buchholz,
    /// The same without the weakest opponent.
    BuchholzCut1,
}

/// What decides who stands above whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placing {
    /// The place of each bot by slot, where the format decides it before the points.
    pub places: Option<Vec<usize>>,
    /// What decides between bots of equal points, in order. Who is equal in all shares a rank.
    pub tie_breaks: Vec<TieBreak>,
    /// Rounds without an opponent.
    pub byes: Vec<Bye>,
}

impl Default for Placing {
    fn default() -> Placing {
        Placing {
            places: None,
            tie_breaks: TieBreak::USUAL.to_vec(),
            byes: Vec::new(),
        }
    }
}

impl TieBreak {
    /// Every one of them.
    pub const ALL: [TieBreak; 5] = [
        TieBreak::DirectEncounter,
        TieBreak::SonnebornBerger,
        TieBreak::Wins,
        TieBreak::Buchholz,
        TieBreak::BuchholzCut1,
    ];

    /// Those of a format in which all meet all.
    pub const USUAL: [TieBreak; 3] = [
        TieBreak::DirectEncounter,
        TieBreak::SonnebornBerger,
        TieBreak::Wins,
    ];

    /// Those of a Swiss event, whose bots had different opponents.
    pub const SWISS: [TieBreak; 4] = [
        TieBreak::Buchholz,
        TieBreak::BuchholzCut1,
        TieBreak::SonnebornBerger,
        TieBreak::DirectEncounter,
    ];

    /// The name in data.
    pub const fn as_str(self) -> &'static str {
        match self {
            TieBreak::DirectEncounter => "direct",
            TieBreak::SonnebornBerger => "sonneborn_berger",
            TieBreak::Wins => "wins",
            TieBreak::Buchholz => "buchholz",
            TieBreak::BuchholzCut1 => "buchholz_cut_1",
        }
    }
}

/// How often a bot won, drew (or shared a win) and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Won alone.
    pub won: u32,
    /// Drawn, or the win shared.
    pub drawn: u32,
    /// Lost.
    pub lost: u32,
}

impl Tally {
    /// All of them.
    pub const fn played(self) -> u32 {
        self.won + self.drawn + self.lost
    }

    fn add(&mut self, share: Share) {
        match share {
            Share::WIN => self.won += 1,
            Share::LOSS => self.lost += 1,
            _ => self.drawn += 1,
        }
    }
}

/// One bot's line.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The place, from 1; shared where all is equal.
    pub rank: usize,
    /// The bot.
    pub slot: Slot,
    /// Its name in the event.
    pub name: String,
    /// Its matches.
    pub matches: Tally,
    /// Its shares of matches, and what it got for byes, added up.
    pub points: f64,
    /// Rounds without an opponent.
    pub byes: u32,
    /// What decided between equal points, in the order of [`Standings::tie_breaks`]; `None` where it says nothing.
    pub tie_breaks: Vec<Option<f64>>,
    /// Its games that count.
    pub games: Tally,
    /// Its games that were void and count for nobody.
    pub void: u32,
    /// The games that it forfeited, by kind.
    pub forfeits: BTreeMap<Verdict, u32>,
    /// Points won less points lost, a game; the interval is over games, or where matches are paired over pairs of games.
    pub points_a_game: Option<Estimate>,
    /// Its rating.
    pub rating: Rating,
    /// Charged time, microseconds.
    pub time_us: u64,
    /// Processor time, microseconds.
    pub cpu_us: u64,
    /// Wall time of its open questions, microseconds.
    pub wall_us: u64,
}

/// The ratings after a round.
#[derive(Clone, Debug, PartialEq)]
pub struct RatedRound {
    /// The round.
    pub round: u32,
    /// Matches in it that are complete.
    pub matches: usize,
    /// The ratings after it, by slot.
    pub ratings: Vec<Rating>,
}

/// Where an event stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standings {
    /// A row a bot, best first; equals in the order of their names.
    pub rows: Vec<Row>,
    /// What decides between equal points.
    pub tie_breaks: Vec<TieBreak>,
    /// The rating periods, in order: one a round.
    pub periods: Vec<RatedRound>,
    /// Games that do not count yet, because their match is not complete.
    pub unfinished: usize,
}

impl Standings {
    /// The standings of the bots of these names (by slot). Neither the order of `matches` nor that of `games` matters.
    ///
    /// # Errors
    /// A result that names an unknown bot, contradicts itself or is there twice; ratings that cannot be computed.
    pub fn of(
        counting: Counting,
        names: &[String],
        matches: &[MatchResult],
        games: &[GameResult],
    ) -> Result<Standings, ResultsError> {
        Standings::placed(counting, &Placing::default(), names, matches, games)
    }

    /// The same, with what a format says of who stands above whom.
    ///
    /// # Errors
    /// As [`Standings::of`].
    pub fn placed(
        counting: Counting,
        placing: &Placing,
        names: &[String],
        matches: &[MatchResult],
        games: &[GameResult],
    ) -> Result<Standings, ResultsError> {
        let mut matches: Vec<&MatchResult> = matches.iter().collect();
        matches.sort_by_key(|result| result.id);
        check_matches(&matches, names.len())?;
        let complete: BTreeSet<MatchId> = matches.iter().map(|result| result.id).collect();
        let mut games: Vec<&GameResult> = games.iter().collect();
        games.sort_by_key(|game| game.id);
        check_games(&games, names.len())?;

        let mut bots = vec![Bot::default(); names.len()];
        count_matches(&matches, &mut bots);
        for bye in placing.byes.iter().filter(|bye| bye.slot < names.len()) {
            bots[bye.slot].byes += 1;
            bots[bye.slot].points += u64::from(bye.points) * TWELFTHS;
        }
        let unfinished = count_games(&games, &complete, counting, &mut bots);
        let meetings: Vec<(u32, Meeting)> = matches
            .iter()
            .flat_map(|result| {
                let meeting = |(a, b, score)| (result.id.round, Meeting { a, b, score });
                result.meetings().map(meeting)
            })
            .collect();
        break_ties(&meetings, &mut bots);
        count_opponents(&meetings, &mut bots);
        let periods = rate(&matches, &meetings, names.len(), counting.tau)?;
        Ok(Standings {
            rows: rows(names, bots, &periods, placing),
            tie_breaks: placing.tie_breaks.clone(),
            periods,
            unfinished,
        })
    }
}

// ---- Counting ---------------------------------------------------------------------------------------------------

/// What is counted of a bot. Points are in twelfths.
#[derive(Clone, Debug, Default)]
struct Bot {
    matches: Tally,
    points: u64,
    byes: u32,
    direct: Option<u64>,
    /// In twelfths of halves.
    sonneborn_berger: u64,
    buchholz: u64,
    buchholz_cut_1: u64,
    games: Tally,
    void: u32,
    forfeits: BTreeMap<Verdict, u32>,
    units: BTreeMap<GameId, Unit>,
    wall_us: u64,
    time_us: u64,
    cpu_us: u64,
}

impl Bot {
    /// What is compared where points are equal, greater first, in a whole unit of its own.
    fn compared(&self, tie_break: TieBreak) -> Option<u64> {
        match tie_break {
            TieBreak::DirectEncounter => self.direct,
            TieBreak::SonnebornBerger => Some(self.sonneborn_berger),
            TieBreak::Wins => Some(u64::from(self.matches.won)),
            TieBreak::Buchholz => Some(self.buchholz),
            TieBreak::BuchholzCut1 => Some(self.buchholz_cut_1),
        }
    }

    fn tie_break(&self, tie_break: TieBreak) -> Option<f64> {
        let unit = match tie_break {
            TieBreak::DirectEncounter => 2,
            TieBreak::SonnebornBerger => 2 * TWELFTHS,
            TieBreak::Wins => 1,
            TieBreak::Buchholz | TieBreak::BuchholzCut1 => TWELFTHS,
        };
        Some(self.compared(tie_break)? as f64 / unit as f64)
    }
}

/// A share in twelfths; `None` if it is not a whole number of them.
fn twelfths(share: Share) -> Option<u64> {
    (0..=TWELFTHS).find(|&count| share.value() == count as f64 / TWELFTHS as f64)
}

fn count_matches(matches: &[&MatchResult], bots: &mut [Bot]) {
    for result in matches {
        for (&slot, &share) in result.seats.iter().zip(&result.score) {
            bots[slot].matches.add(share);
            bots[slot].points += twelfths(share).unwrap_or_default();
        }
    }
}

/// Counts the games of complete matches, and every void game. Returns how many other games there are.
fn count_games(
    games: &[&GameResult],
    complete: &BTreeSet<MatchId>,
    counting: Counting,
    bots: &mut [Bot],
) -> usize {
    let mut unfinished = 0;
    for game in games {
        if game.verdict == Verdict::Void {
            game.seats.iter().for_each(|&slot| bots[slot].void += 1);
        } else if complete.contains(&game.id.of) {
            count_game(game, counting, bots);
        } else {
            unfinished += 1;
        }
    }
    unfinished
}

fn count_game(game: &GameResult, counting: Counting, bots: &mut [Bot]) {
    for (seat, &slot) in game.seats.iter().enumerate() {
        let bot = &mut bots[slot];
        if let Some(shares) = &game.score {
            bot.games.add(shares[seat]);
        }
        if game.verdict.is_forfeit() && game.against == Some(seat) {
            *bot.forfeits.entry(game.verdict).or_default() += 1;
        }
        bot.time_us = bot.time_us.saturating_add(game.time_us[seat]);
        bot.cpu_us = bot.cpu_us.saturating_add(game.cpu_us[seat]);
        bot.wall_us = bot.wall_us.saturating_add(game.wall_us[seat]);
        if let Some(points) = game.points.as_ref().filter(|_| counting.points_a_game) {
            let all: f64 = points.iter().map(|&points| f64::from(points)).sum();
            let own = f64::from(points[seat]);
            let others = (all - own) / (points.len() - 1) as f64;
            bot.units
                .entry(unit_of(game.id, counting))
                .or_default()
                .add(own - others);
        }
    }
}

/// The games that are one observation: in paired matches the two of one number, which are played on the same chance. The
/// number of the match becomes that of the pair.
fn unit_of(game: GameId, counting: Counting) -> GameId {
    let MatchId { round, number } = game.of;
    let number = if counting.paired {
        number.div_ceil(2)
    } else {
        number
    };
    MatchId { round, number }.game(game.game)
}

// ---- Tie-breaks, ratings, rows ----------------------------------------------------------------------------------

/// The score in halves.
fn halves(score: Score) -> u64 {
    match score {
        Score::Win => 2,
        Score::Draw => 1,
        Score::Loss => 0,
    }
}

fn break_ties(meetings: &[(u32, Meeting)], bots: &mut [Bot]) {
    let points: Vec<u64> = bots.iter().map(|bot| bot.points).collect();
    let mut direct = vec![0; bots.len()];
    let mut met: BTreeMap<(Slot, Slot), u32> = BTreeMap::new();
    for &(_, Meeting { a, b, score }) in meetings {
        let (for_a, for_b) = (halves(score), halves(score.of_the_other()));
        bots[a].sonneborn_berger += for_a * points[b];
        bots[b].sonneborn_berger += for_b * points[a];
        if points[a] == points[b] {
            direct[a] += for_a;
            direct[b] += for_b;
            *met.entry((a.min(b), a.max(b))).or_default() += 1;
        }
    }
    let mut groups: BTreeMap<u64, Vec<Slot>> = BTreeMap::new();
    for (slot, &points) in points.iter().enumerate() {
        groups.entry(points).or_default().push(slot);
    }
    for group in groups.into_values().filter(|group| group.len() > 1) {
        let times = |a: Slot, b: Slot| met.get(&(a, b)).copied().unwrap_or_default();
        let often = times(group[0], group[1]);
        let fair = often > 0
            && group
                .iter()
                .enumerate()
                .all(|(index, &a)| group[index + 1..].iter().all(|&b| times(a, b) == often));
        if fair {
            group
                .iter()
                .for_each(|&slot| bots[slot].direct = Some(direct[slot]));
        }
    }
}

/// One period a round, in order. All start new.
fn rate(
    matches: &[&MatchResult],
    meetings: &[(u32, Meeting)],
    bots: usize,
    tau: f64,
) -> Result<Vec<RatedRound>, RatingError> {
    let mut periods: Vec<RatedRound> = Vec::new();
    let mut ratings = vec![Rating::NEW; bots];
    for of_round in matches.chunk_by(|a, b| a.id.round == b.id.round) {
        let round = of_round[0].id.round;
        let begin = meetings.partition_point(|&(of, _)| of < round);
        let end = meetings.partition_point(|&(of, _)| of <= round);
        let results = meetings[begin..end]
            .iter()
            .map(|&(_, meeting)| meeting)
            .collect();
        ratings = Period { results }.rate(&ratings, tau)?;
        periods.push(RatedRound {
            round,
            matches: of_round.len(),
            ratings: ratings.clone(),
        });
    }
    Ok(periods)
}

/// Sums up the points of opponents.
fn count_opponents(meetings: &[(u32, Meeting)], bots: &mut [Bot]) {
    let met: BTreeSet<(Slot, u32, Slot)> = meetings
        .iter()
        .flat_map(|&(round, Meeting { a, b, .. })| [(a, round, b), (b, round, a)])
        .collect();
    let points: Vec<u64> = bots.iter().map(|bot| bot.points).collect();
    let mut least: Vec<Option<u64>> = vec![None; bots.len()];
    let mut count = |slot: Slot, points: u64, bots: &mut [Bot]| {
        bots[slot].buchholz += points;
        least[slot] = Some(least[slot].map_or(points, |least| least.min(points)));
    };
    for (slot, _, opponent) in met {
        count(slot, points[opponent], bots);
    }
    for slot in 0..bots.len() {
        for _ in 0..bots[slot].byes {
            count(slot, points[slot], bots);
        }
    }
    for (bot, least) in bots.iter_mut().zip(least) {
        bot.buchholz_cut_1 = bot.buchholz - least.unwrap_or(0);
    }
}

fn rows(names: &[String], bots: Vec<Bot>, periods: &[RatedRound], placing: &Placing) -> Vec<Row> {
    let place = |slot: Slot| {
        placing
            .places
            .as_ref()
            .and_then(|places| places.get(slot).copied())
    };
    // Greater first, but for the place.
    let key = |slot: Slot, bot: &Bot| {
        let tie_breaks: Vec<Option<u64>> = placing
            .tie_breaks
            .iter()
            .map(|&by| bot.compared(by))
            .collect();
        (
            std::cmp::Reverse(place(slot).unwrap_or(usize::MAX)),
            bot.points,
            tie_breaks,
        )
    };
    let mut order: Vec<_> = bots
        .into_iter()
        .enumerate()
        .map(|(slot, bot)| (key(slot, &bot), slot, bot))
        .collect();
    order.sort_by(|(key_a, a, _), (key_b, b, _)| {
        let by_name = || (&names[*a], a).cmp(&(&names[*b], b));
        key_b.cmp(key_a).then_with(by_name)
    });
    let mut rows: Vec<Row> = Vec::with_capacity(order.len());
    let mut best_equal = 0;
    for (index, (key, slot, bot)) in order.iter().enumerate() {
        if order[best_equal].0 != *key {
            best_equal = index;
        }
        let units: Vec<Unit> = bot.units.values().copied().collect();
        rows.push(Row {
            rank: best_equal + 1,
            slot: *slot,
            name: names[*slot].clone(),
            matches: bot.matches,
            points: bot.points as f64 / TWELFTHS as f64,
            byes: bot.byes,
            tie_breaks: placing
                .tie_breaks
                .iter()
                .map(|&by| bot.tie_break(by))
                .collect(),
            games: bot.games,
            void: bot.void,
            forfeits: bot.forfeits.clone(),
            points_a_game: stats::mean(&units),
            rating: periods
                .last()
                .map_or(Rating::NEW, |period| period.ratings[*slot]),
            time_us: bot.time_us,
            cpu_us: bot.cpu_us,
            wall_us: bot.wall_us,
        });
    }
    rows
}
