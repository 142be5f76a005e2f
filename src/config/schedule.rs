//! The matches of an event, from its fingerprint: the same for a run and for whoever reads its results later.

use serde_json::Value;

use crate::event::Slot;
use crate::tournament::groups::Groups;
use crate::tournament::knockout::Knockout;
use crate::tournament::ladder::{Ladder, List};
use crate::tournament::rulings::Desk;
use crate::tournament::standings::TieBreak;
use crate::tournament::swiss::{Entry, Swiss};
use crate::tournament::{Fixed, Format, Meetings, Pairing, gauntlet, round_robin};

/// The same for an event in which nothing was ruled.
pub fn format_of(fingerprint: &Value, ladder: &List) -> Box<dyn Format> {
    ruled_format_of(fingerprint, ladder, &Desk::default())
}

/// How the event that has this fingerprint ([`super::EventConfig::fingerprint`]) is made of matches. `ladder` is the list
/// of a ladder at its beginning; bots that it does not name stand at its end, in their own order. `desk` tells which
/// bots were added later.
pub fn ruled_format_of(fingerprint: &Value, ladder: &List, desk: &Desk) -> Box<dyn Format> {
    let event = &fingerprint["event"];
    let whole = |key: &str, usual: u64| {
        let number = event[key].as_u64().unwrap_or(usual);
        u32::try_from(number).unwrap_or(u32::MAX)
    };
    let none = Vec::new();
    let bots = fingerprint["bots"].as_array().unwrap_or(&none);
    let named = |name: &Value| bots.iter().position(|bot| bot["name"] == *name);
    let slots: Vec<Slot> = (0..bots.len()).collect();
    let stages = desk.stages(bots.len());
    let rounds = whole("rounds", 1);
    let (meetings, seats) = meetings_of(fingerprint);
    let Meetings { games, paired } = meetings;
    match event["format"].as_str().unwrap_or_default() {
        "gauntlet" => {
            let candidate = named(&event["candidate"]).unwrap_or(0);
            let schedule = gauntlet::in_stages(candidate, &stages, seats, games, paired, rounds);
            Box::new(Fixed(schedule))
        }
        "swiss" => Box::new(Swiss {
            entries: slots
                .into_iter()
                .map(|slot| entry(slot, &bots[slot]))
                .collect(),
            meetings,
            rounds,
        }),
        "knockout" => Box::new(Knockout {
            seeds: slots,
            meetings,
            rounds_before: 0,
        }),
        "groups" => Box::new(Groups {
            seeds: slots,
            groups: whole("groups", 2) as usize,
            advance: whole("advance", 2) as usize,
            meetings,
        }),
        "ladder" => {
            let mut order: Vec<Slot> = Vec::new();
            let known = ladder
                .order
                .iter()
                .filter_map(|name| named(&Value::from(name.as_str())));
            for slot in known.chain(slots) {
                if !order.contains(&slot) {
                    order.push(slot);
                }
            }
            Box::new(Ladder {
                order,
                reach: whole("reach", 2) as usize,
                meetings,
                rounds,
            })
        }
        _ => Box::new(Fixed(round_robin::in_stages(
            &stages,
            seats,
            games,
            paired,
            rounds,
            |_| true,
        ))),
    }
}

/// Which of its openings, round and round, an event plays a match from: the k-th meeting of two bots starts from the k-th, and each round
/// goes on where the one before stopped.
pub fn opening_number(pairing: &Pairing, meetings: Meetings, seats: usize) -> usize {
    let in_a_round = if meetings.paired {
        meetings.games.div_ceil(seats as u32)
    } else {
        meetings.games
    };
    (pairing.id.round as usize - 1) * in_a_round as usize + pairing.pair as usize
}

/// How often those that meet in the event that has this fingerprint play, and on how many seats.
pub fn meetings_of(fingerprint: &Value) -> (Meetings, usize) {
    let event = &fingerprint["event"];
    let whole = |key: &str| u32::try_from(event[key].as_u64().unwrap_or(2)).unwrap_or(u32::MAX);
    let meetings = Meetings {
        games: whole("games"),
        paired: event["paired"].as_bool().unwrap_or(true),
    };
    (meetings, whole("seats").max(1) as usize)
}

fn entry(slot: Slot, bot: &Value) -> Entry {
    let round = |key: &str| {
        bot[key]
            .as_u64()
            .and_then(|round| u32::try_from(round).ok())
    };
    Entry {
        slot,
        joins: round("joins").unwrap_or(1),
        leaves: round("leaves"),
    }
}

/// What decides between bots of equal points in the event that has this fingerprint.
pub fn tie_breaks_of(fingerprint: &Value) -> Vec<TieBreak> {
    match fingerprint["event"]["format"].as_str() {
        Some("swiss") => TieBreak::SWISS.to_vec(),
        _ => TieBreak::USUAL.to_vec(),
    }
}
