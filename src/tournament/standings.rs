//! Standings: a fold over results. Nothing of them is stored.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::rulings::{Defaults, Status};
use super::{Bye, RankedBy};
use crate::event::{GameId, GameResult, MatchId, MatchResult, Slot, Verdict};
use crate::game::Share;
use crate::rating::{Counts, DEFAULT_TAU, Rating, RatingError, Score, rate_counts};
use crate::stats::{Estimate, Sums, Unit};

mod check;
#[cfg(test)]
mod tests;

pub use check::{ResultsError, check_game};

use check::{check_match, check_order};

/// Points are summed exactly, in twelfths: a win shared by up to four seats is a whole number of them.
const TWELFTHS: u64 = 12;

/// How results are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Counting {
    /// Whether matches are paired: in each round the first with the second, the third with the fourth ...
    pub paired: bool,
    /// Whether the points of a game are a statistic of their own ([`crate::game::Facts::points_a_game`]).
    pub points_a_game: bool,
    /// Glicko-2's tau.
    pub tau: f64,
    /// The ratings at the beginning, by slot; the bots that it does not reach are new.
    pub start: Vec<Rating>,
}

impl Default for Counting {
    fn default() -> Counting {
        Counting {
            paired: true,
            points_a_game: false,
            tau: DEFAULT_TAU,
            start: Vec::new(),
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
    /// What that place is.
    pub ranked_by: RankedBy,
    /// What decides between bots of equal points, in order. Who is equal in all shares a rank.
    pub tie_breaks: Vec<TieBreak>,
    /// Rounds without an opponent.
    pub byes: Vec<Bye>,
    /// Who is out, and matches that were won by default.
    pub defaults: Defaults,
    /// Rulings that are in force.
    pub rulings: usize,
}

impl Default for Placing {
    fn default() -> Placing {
        Placing {
            places: None,
            ranked_by: RankedBy::Points,
            tie_breaks: TieBreak::USUAL.to_vec(),
            byes: Vec::new(),
            defaults: Defaults::default(),
            rulings: 0,
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
    /// Matches won by default, because the opponent is out; they are points, and no matches played.
    pub by_default: u32,
    /// Whether it is out.
    pub status: Option<Status>,
    /// What decided between equal points, in the order of [`Standings::tie_breaks`]; `None` where it says nothing.
    pub tie_breaks: Vec<Option<f64>>,
    /// Its games that count.
    pub games: Tally,
    /// Its games that were void and count for nobody.
    pub void: u32,
    /// Its games that a rule of the event ended.
    pub adjudicated: u32,
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
    /// What decides a rank.
    pub ranked_by: RankedBy,
    /// What decides between equal points, where points decide.
    pub tie_breaks: Vec<TieBreak>,
    /// The rating periods, in order: one a round.
    pub periods: Vec<RatedRound>,
    /// Games that do not count yet, because their match is not complete.
    pub unfinished: usize,
    /// Rulings of the organiser that are in force.
    pub rulings: usize,
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
        let mut fold = Fold::new(counting, names.len());
        let mut matches: Vec<&MatchResult> = matches.iter().collect();
        matches.sort_by_key(|result| result.id);
        let complete: BTreeSet<MatchId> = matches.iter().map(|result| result.id).collect();
        matches
            .into_iter()
            .try_for_each(|result| fold.match_over(result))?;
        let mut games: Vec<&GameResult> = games.iter().collect();
        games.sort_by_key(|game| game.id);
        for game in games {
            fold.game(game, complete.contains(&game.id.of))?;
        }
        fold.standings(placing, names)
    }
}

// ---- Fold -------------------------------------------------------------------------------------------------------

/// Counts results one by one. It keeps what is known of each bot and of each two bots that met, and nothing of a game or match.
#[derive(Clone, Debug)]
pub struct Fold {
    counting: Counting,
    bots: Vec<Bot>,
    /// By two slots, the lesser first.
    met: HashMap<(Slot, Slot), Met>,
    last_match: Option<MatchId>,
    last_game: Option<GameId>,
    /// The observations of the games on one chance that are being counted: of each bot, by the number of the game in its match.
    open: BTreeMap<(Slot, u32), Unit>,
    open_pair: Option<MatchId>,
    /// The round that is being counted, its matches, and what two bots did to each other in it: won by the lesser slot, drawn, lost.
    round: Option<(u32, usize)>,
    in_round: HashMap<(Slot, Slot), [u32; 3]>,
    ratings: Vec<Rating>,
    periods: Vec<RatedRound>,
    unfinished: usize,
}

/// What is known of two bots that met.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    times: u32,
    /// What the lesser slot and the other scored, in halves.
    halves: [u64; 2],
    /// Rounds in which they met, and the last of them.
    rounds: u32,
    last_round: u32,
}

impl Fold {
    /// Nothing is counted yet, of so many bots.
    pub fn new(counting: Counting, bots: usize) -> Fold {
        let mut ratings = counting.start.clone();
        ratings.resize(bots, Rating::NEW);
        Fold {
            counting,
            bots: vec![Bot::default(); bots],
            met: HashMap::new(),
            last_match: None,
            last_game: None,
            open: BTreeMap::new(),
            open_pair: None,
            round: None,
            in_round: HashMap::new(),
            ratings,
            periods: Vec::new(),
            unfinished: 0,
        }
    }

    /// Counts a match that is over. Matches come in the order of their ids.
    ///
    /// # Errors
    /// A result that cannot be or is out of order, or ratings that cannot be computed.
    pub fn match_over(&mut self, result: &MatchResult) -> Result<(), ResultsError> {
        check_match(result, self.bots.len(), self.last_match)?;
        self.last_match = Some(result.id);
        for (&slot, &share) in result.seats.iter().zip(&result.score) {
            self.bots[slot].matches.add(share);
            self.bots[slot].points += twelfths(share).unwrap_or_default();
        }
        let round = result.id.round;
        match &mut self.round {
            Some((current, matches)) if *current == round => *matches += 1,
            _ => {
                self.rate_round()?;
                self.round = Some((round, 1));
            }
        }
        for (a, b, score) in result.meetings() {
            let (key, score) = if a < b {
                ((a, b), score)
            } else {
                ((b, a), score.of_the_other())
            };
            let met = self.met.entry(key).or_default();
            met.times += 1;
            met.halves[0] += halves(score);
            met.halves[1] += halves(score.of_the_other());
            if met.rounds == 0 || met.last_round != round {
                met.rounds += 1;
                met.last_round = round;
            }
            let place = match score {
                Score::Win => 0,
                Score::Draw => 1,
                Score::Loss => 2,
            };
            self.in_round.entry(key).or_default()[place] += 1;
        }
        Ok(())
    }

    /// Counts a game; `is_complete` says whether its match is over. Games come in the order of their ids; a void game is counted for what it
    /// is, and may come again.
    ///
    /// # Errors
    /// A result that cannot be or is out of order.
    pub fn game(&mut self, game: &GameResult, is_complete: bool) -> Result<(), ResultsError> {
        check_game(game, self.bots.len())?;
        if game.verdict == Verdict::Void {
            for &slot in &game.seats {
                self.bots[slot].void += 1;
            }
            return Ok(());
        }
        check_order(game.id, self.last_game)?;
        self.last_game = Some(game.id);
        if !is_complete {
            self.unfinished += 1;
            return Ok(());
        }
        self.count_game(game);
        Ok(())
    }

    fn count_game(&mut self, game: &GameResult) {
        let pair = pair_of(game.id.of, &self.counting);
        if self.open_pair != Some(pair) {
            self.close();
            self.open_pair = Some(pair);
        }
        for (seat, &slot) in game.seats.iter().enumerate() {
            let bot = &mut self.bots[slot];
            if let Some(shares) = &game.score {
                bot.games.add(shares[seat]);
            }
            bot.adjudicated += u32::from(game.verdict == Verdict::Adjudicated);
            if game.verdict.is_forfeit() && game.against == Some(seat) {
                *bot.forfeits.entry(game.verdict).or_default() += 1;
            }
            bot.time_us = bot.time_us.saturating_add(game.time_us[seat]);
            bot.cpu_us = bot.cpu_us.saturating_add(game.cpu_us[seat]);
            bot.wall_us = bot.wall_us.saturating_add(game.wall_us[seat]);
            if let Some(points) = game.points.as_ref().filter(|_| self.counting.points_a_game) {
                let all: f64 = points.iter().map(|&points| f64::from(points)).sum();
                let own = f64::from(points[seat]);
                let others = (all - own) / (points.len() - 1) as f64;
                self.open
                    .entry((slot, game.id.game))
                    .or_default()
                    .add(own - others);
            }
        }
    }

    /// The observations on one chance are complete.
    fn close(&mut self) {
        for ((slot, _), unit) in std::mem::take(&mut self.open) {
            self.bots[slot].points_a_game.add(unit);
        }
    }

    /// Rates the round that is complete.
    fn rate_round(&mut self) -> Result<(), RatingError> {
        let Some((round, matches)) = self.round.take() else {
            return Ok(());
        };
        let mut results: Vec<Counts> = self
            .in_round
            .drain()
            .map(|((a, b), [won, drawn, lost])| Counts {
                a,
                b,
                won,
                drawn,
                lost,
            })
            .collect();
        // The order of a map is another one each time, and the last bits of a sum follow it.
        results.sort_unstable_by_key(|counts| (counts.a, counts.b));
        self.ratings = rate_counts(&results, &self.ratings, self.counting.tau)?;
        self.periods.push(RatedRound {
            round,
            matches,
            ratings: self.ratings.clone(),
        });
        Ok(())
    }

    /// The standings of all that was counted.
    ///
    /// # Errors
    /// Ratings that cannot be computed.
    pub fn standings(
        mut self,
        placing: &Placing,
        names: &[String],
    ) -> Result<Standings, ResultsError> {
        self.close();
        self.rate_round()?;
        let mut bots = self.bots;
        for bye in &placing.byes {
            if let Some(bot) = bots.get_mut(bye.slot) {
                bot.byes += 1;
                bot.points += u64::from(bye.points) * TWELFTHS;
            }
        }
        for (slot, bot) in bots.iter_mut().enumerate() {
            let of = |counts: &BTreeMap<Slot, u32>| counts.get(&slot).copied().unwrap_or(0);
            bot.by_default = of(&placing.defaults.won);
            bot.rounds_by_default = of(&placing.defaults.rounds);
            bot.points += u64::from(bot.by_default) * TWELFTHS;
        }
        break_ties(&self.met, &mut bots);
        count_opponents(&self.met, &mut bots);
        Ok(Standings {
            rows: rows(names, bots, &self.ratings, placing),
            ranked_by: placing.ranked_by,
            tie_breaks: placing.tie_breaks.clone(),
            periods: self.periods,
            unfinished: self.unfinished,
            rulings: placing.rulings,
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
    by_default: u32,
    rounds_by_default: u32,
    direct: Option<u64>,
    /// In twelfths of halves.
    sonneborn_berger: u64,
    buchholz: u64,
    buchholz_cut_1: u64,
    games: Tally,
    void: u32,
    adjudicated: u32,
    forfeits: BTreeMap<Verdict, u32>,
    points_a_game: Sums,
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

/// The matches on one chance: in paired matches two of one number. The number of the match becomes that of the pair.
fn pair_of(of: MatchId, counting: &Counting) -> MatchId {
    let MatchId { round, number } = of;
    let number = if counting.paired {
        number.div_ceil(2)
    } else {
        number
    };
    MatchId { round, number }
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

fn break_ties(met: &HashMap<(Slot, Slot), Met>, bots: &mut [Bot]) {
    let points: Vec<u64> = bots.iter().map(|bot| bot.points).collect();
    let mut direct = vec![0; bots.len()];
    for (&(a, b), met) in met {
        bots[a].sonneborn_berger += met.halves[0] * points[b];
        bots[b].sonneborn_berger += met.halves[1] * points[a];
        if points[a] == points[b] {
            direct[a] += met.halves[0];
            direct[b] += met.halves[1];
        }
    }
    let mut groups: BTreeMap<u64, Vec<Slot>> = BTreeMap::new();
    for (slot, &points) in points.iter().enumerate() {
        groups.entry(points).or_default().push(slot);
    }
    for group in groups.into_values().filter(|group| group.len() > 1) {
        let times = |a: Slot, b: Slot| met.get(&(a, b)).map_or(0, |met| met.times);
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

/// Sums up the points of opponents, each once a round.
fn count_opponents(met: &HashMap<(Slot, Slot), Met>, bots: &mut [Bot]) {
    let points: Vec<u64> = bots.iter().map(|bot| bot.points).collect();
    let mut least: Vec<Option<u64>> = vec![None; bots.len()];
    let mut count = |slot: Slot, points: u64, rounds: u32, bots: &mut [Bot]| {
        bots[slot].buchholz += points * u64::from(rounds);
        if rounds > 0 {
            least[slot] = Some(least[slot].map_or(points, |least| least.min(points)));
        }
    };
    for (&(a, b), met) in met {
        count(a, points[b], met.rounds, bots);
        count(b, points[a], met.rounds, bots);
    }
    for slot in 0..bots.len() {
        let alone = bots[slot].byes + bots[slot].rounds_by_default;
        count(slot, points[slot], alone, bots);
    }
    for (bot, least) in bots.iter_mut().zip(least) {
        bot.buchholz_cut_1 = bot.buchholz - least.unwrap_or(0);
    }
}

fn rows(names: &[String], bots: Vec<Bot>, ratings: &[Rating], placing: &Placing) -> Vec<Row> {
    let place = |slot: Slot| {
        placing
            .places
            .as_ref()
            .and_then(|places| places.get(slot).copied())
    };
    let out = &placing.defaults.out;
    // Greater first, but for the place. Who was disqualified comes last.
    let key = |slot: Slot, bot: &Bot| {
        let tie_breaks: Vec<Option<u64>> = placing
            .tie_breaks
            .iter()
            .map(|&by| bot.compared(by))
            .collect();
        (
            out.get(&slot) != Some(&Status::Disqualified),
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
        rows.push(Row {
            rank: best_equal + 1,
            slot: *slot,
            name: names[*slot].clone(),
            matches: bot.matches,
            points: bot.points as f64 / TWELFTHS as f64,
            byes: bot.byes,
            by_default: bot.by_default,
            status: out.get(slot).copied(),
            tie_breaks: placing
                .tie_breaks
                .iter()
                .map(|&by| bot.tie_break(by))
                .collect(),
            games: bot.games,
            void: bot.void,
            adjudicated: bot.adjudicated,
            forfeits: bot.forfeits.clone(),
            points_a_game: bot.points_a_game.estimate().map(Estimate::if_spread),
            rating: ratings[*slot],
            time_us: bot.time_us,
            cpu_us: bot.cpu_us,
            wall_us: bot.wall_us,
        });
    }
    rows
}
