//! Who scored what against whom, and how sure that is.

use std::collections::BTreeMap;

use super::model::EventResults;
use super::{Cell, Column, Report, Table, rounded};
use crate::event::{MatchId, Slot, Verdict};
use crate::stats::crosstable::{Crosstable, Encounter};
use crate::stats::sign_flip::{SignFlip, sign_flip};
use crate::stats::{Estimate, Sums, Unit};

/// What two bots did to each other.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The two, the lesser slot first.
    pub slots: [Slot; 2],
    /// Matches, seen from the first.
    pub encounter: Encounter,
    /// The first bot's mean score, over pairs of matches where they are paired.
    pub score: Option<Estimate>,
    /// Whether a difference so large would come by chance.
    pub sign_flip: SignFlip,
    /// Games that one of them forfeited against the other: how often, and the first, in words.
    pub forfeits: (u64, Option<String>),
    /// Their games that a rule of the event ended.
    pub adjudicated: u64,
}

/// Every two bots that met, in the order of their slots.
pub fn pairs(results: &EventResults) -> Vec<Pair> {
    let table = Crosstable::of(&results.matches);
    let two_seats = results.matches.iter().all(|result| result.seats.len() == 2);
    // Each unit by the two that met in it: score of the first, in halves and as a number, and how many matches.
    let mut units: BTreeMap<(Slot, Slot), BTreeMap<MatchId, (i64, Unit)>> = BTreeMap::new();
    for result in &results.matches {
        let mut unit = result.id;
        if results.is_paired() && two_seats {
            unit.number = unit.number.div_ceil(2);
        }
        for (a, b, score) in result.meetings() {
            let (key, score) = if a < b {
                ((a, b), score)
            } else {
                ((b, a), score.of_the_other())
            };
            let (halves, observed) = units.entry(key).or_default().entry(unit).or_default();
            *halves += (4.0 * score.value()) as i64 - 2;
            observed.add(score.value());
        }
    }
    let mut forfeits = forfeits(results);
    let adjudicated = adjudicated(results);
    table
        .encounters()
        .map(|(a, b, encounter)| {
            let of_pair = units.remove(&(a, b)).unwrap_or_default();
            let mut sums = Sums::default();
            of_pair.values().for_each(|(_, unit)| sums.add(*unit));
            let differences: Vec<i64> = of_pair.values().map(|(halves, _)| *halves).collect();
            Pair {
                slots: [a, b],
                encounter,
                score: sums.estimate().map(Estimate::if_spread),
                sign_flip: sign_flip(&differences),
                forfeits: forfeits.remove(&(a, b)).unwrap_or_default(),
                adjudicated: adjudicated.get(&(a, b)).copied().unwrap_or(0),
            }
        })
        .collect()
}

fn adjudicated(results: &EventResults) -> BTreeMap<(Slot, Slot), u64> {
    let mut found = BTreeMap::new();
    let games = results.games.iter();
    for game in games.filter(|game| game.verdict == Verdict::Adjudicated) {
        // Only games of two seats can be.
        if let [a, b] = game.seats[..] {
            *found.entry((a.min(b), a.max(b))).or_default() += 1;
        }
    }
    found
}

fn forfeits(results: &EventResults) -> BTreeMap<(Slot, Slot), (u64, Option<String>)> {
    let mut found: BTreeMap<(Slot, Slot), (u64, Option<String>)> = BTreeMap::new();
    for game in results
        .games
        .iter()
        .filter(|game| game.verdict.is_forfeit())
    {
        let Some(by) = game.against.and_then(|seat| game.seats.get(seat).copied()) else {
            continue;
        };
        for &other in game.seats.iter().filter(|&&other| other != by) {
            let (count, first) = found.entry((by.min(other), by.max(other))).or_default();
            *count += 1;
            first.get_or_insert_with(|| {
                format!(
                    "{}: {} forfeits, {}",
                    game.id, results.names[by], game.reason
                )
            });
        }
    }
    found
}

/// The table of encounters.
pub fn report(results: &EventResults, pairs: &[Pair]) -> Report<()> {
    let columns = vec![
        Column::new("bot", "bot"),
        Column::new("opponent", "opponent"),
        Column::new("matches", "matches"),
        Column::new("won", "won"),
        Column::new("drawn", "drawn"),
        Column::new("lost", "lost"),
        Column::new("score", "score"),
        Column::new("elo", "Elo").for_people(),
        Column::data("elo"),
        Column::data("elo_low"),
        Column::data("elo_high"),
        Column::new("superiority", "superiority"),
        Column::new("p", "p (signs)"),
        Column::new("forfeits", "forfeits"),
        Column::new("adjudicated", "adjudicated").for_people(),
        Column::data("adjudicated"),
    ];
    let rows = pairs.iter().map(|pair| cells(results, pair)).collect();
    Report {
        rows: Vec::new(),
        table: Table::new(columns, rows),
        notes: vec![
            "Elo: the difference that makes this score the expected one, with its 95 % interval; superiority: the likelihood that the \
             bot is the better one; p (signs): the probability of so large a difference between equal bots (sign-flip test)."
                .to_owned(),
        ],
    }
}

fn cells(results: &EventResults, pair: &Pair) -> Vec<Cell> {
    let [a, b] = pair.slots;
    let Encounter { won, drawn, lost } = pair.encounter;
    let elo = pair.score.map(Estimate::elo);
    let real = |value: f64| {
        if value.is_finite() {
            Cell::Real(rounded(value), 1)
        } else {
            Cell::Empty
        }
    };
    let sign = |end: f64| {
        if end.is_finite() {
            format!("{end:+.0}")
        } else if end > 0.0 {
            "+inf".to_owned()
        } else {
            "-inf".to_owned()
        }
    };
    let people = elo.map_or(Cell::Empty, |elo| match elo.interval {
        Some([low, high]) => Cell::Plain(format!(
            "{} [{}, {}]",
            sign(elo.mean),
            sign(low),
            sign(high)
        )),
        None => Cell::Plain(sign(elo.mean)),
    });
    let ends = elo.and_then(|elo| elo.interval);
    let count = |count: u32| Cell::Count(u64::from(count));
    vec![
        Cell::Text(results.names[a].clone()),
        Cell::Text(results.names[b].clone()),
        count(pair.encounter.played()),
        count(won),
        count(drawn),
        count(lost),
        pair.score
            .map_or(Cell::Empty, |score| Cell::Real(score.mean, 3)),
        people,
        elo.map_or(Cell::Empty, |elo| real(elo.mean)),
        ends.map_or(Cell::Empty, |[low, _]| real(low)),
        ends.map_or(Cell::Empty, |[_, high]| real(high)),
        pair.score
            .and_then(|score| score.likelihood_above(0.5))
            .map_or(Cell::Empty, |likely| Cell::Real(likely, 3)),
        if pair.sign_flip.units == 0 {
            Cell::Empty
        } else {
            Cell::Real(pair.sign_flip.p, 4)
        },
        Cell::Count(pair.forfeits.0),
        match pair.adjudicated {
            0 => Cell::Empty,
            games => Cell::Count(games),
        },
        Cell::Count(pair.adjudicated),
    ]
}

/// The most bots of a cross table; a larger one could not be read.
const MOST_IN_CROSSTABLE: usize = 40;

/// The cross table, bots in the order of the standings (slots): each cell is what the bot of the row scored against the bot of the
/// column. `None` for more bots than can be read.
pub fn crosstable(results: &EventResults, order: &[Slot]) -> Option<Report<()>> {
    if order.len() > MOST_IN_CROSSTABLE || order.len() < 2 {
        return None;
    }
    let table = Crosstable::of(&results.matches);
    let mut columns = vec![Column::new("rank", "#"), Column::new("bot", "bot")];
    columns
        .extend((1..=order.len()).map(|place| Column::new(place.to_string(), place.to_string())));
    let rows = order
        .iter()
        .enumerate()
        .map(|(place, &slot)| {
            let mut row = vec![
                Cell::Count(place as u64 + 1),
                Cell::Text(results.names[slot].clone()),
            ];
            row.extend(order.iter().map(|&other| {
                let met = table.between(slot, other);
                if slot == other {
                    Cell::Plain("\u{2013}".to_owned())
                } else if met.played() == 0 {
                    Cell::Plain(String::new())
                } else {
                    Cell::Plain(format!("{} / {}", met.points(), met.played()))
                }
            }));
            row
        })
        .collect();
    Some(Report {
        rows: Vec::new(),
        table: Table::new(columns, rows),
        notes: Vec::new(),
    })
}

/// Whether anything went wrong in games of a pair that a run should be told of.
pub fn is_void(results: &EventResults, slots: [Slot; 2]) -> Option<String> {
    results
        .games
        .iter()
        .find(|game| {
            // What the organiser ruled void is no fault of the machine.
            let is_ruled = results.desk.taken_out(game.id.of, &game.seats).is_some();
            game.verdict == Verdict::Void
                && !is_ruled
                && slots.iter().all(|slot| game.seats.contains(slot))
        })
        .map(|game| format!("{}: {}", game.id, game.reason))
}
