//! What a record's header says of the event, against the event.

use serde_json::Value;

use super::event::Stated;
use crate::chance::{self, MatchChance};
use crate::config;
use crate::referee::record::Header;
use crate::referee::turn;
use crate::tournament::Pairing;

/// Checks a header against the event and the match of its schedule.
///
/// Not checked are the names that the bots gave themselves and the machine: nothing but the record tells of them.
///
/// # Errors
/// Says what is otherwise.
pub(super) fn check(stated: &Stated, header: &Header, pairing: &Pairing) -> Result<(), String> {
    let (meta, event) = (&stated.meta, &stated.meta.event);
    let of = |what: &str| Err(format!("the record's {what} is not that of the event"));
    if header.game != meta.game {
        return of("game");
    }
    if let Some(rules) = &stated.rules
        && turn::options_of(&**rules) != header.rules
    {
        return Err("the record's rules are not those of the event".to_owned());
    }
    if config::clock_values(&header.clock) != event["clock"] {
        return of("clock");
    }
    if !(1..=cores_of(event)).contains(&u64::from(header.cores)) {
        return Err(format!(
            "the record says {} cores, and the event {}",
            header.cores,
            cores_of(event)
        ));
    }
    let adjudication = header.adjudication.as_ref();
    if adjudication.map_or(Value::Null, config::adjudication_values) != event["adjudication"] {
        return Err("the record's rules of adjudication are not those of the event".to_owned());
    }
    if event["event"]["opening_plies"].as_u64().unwrap_or(0) != u64::from(header.opening_plies) {
        return of("number of opening plies");
    }
    check_seats(stated, header, pairing)?;
    check_chance(stated, header, pairing)?;
    check_opening(stated, header, pairing)?;
    check_programs(stated, header, pairing)
}

/// The cores that the event gives a game at most; a machine may have fewer.
fn cores_of(event: &Value) -> u64 {
    let own = &event["bots"][0]["limits"]["cores"];
    let cores = own.as_u64().or(event["limits"]["cores"].as_u64());
    cores.unwrap_or(1).max(1)
}

fn check_seats(stated: &Stated, header: &Header, pairing: &Pairing) -> Result<(), String> {
    let seats = pairing.seats.iter().map(|&slot| stated.name(slot));
    if !seats.eq(header.seats.iter()) {
        return Err(format!(
            "the record seats {}, and the schedule {}",
            header.seats.join(", "),
            stated.names_of(&pairing.seats)
        ));
    }
    if header.names.len() != header.seats.len() {
        return Err("the record does not name a bot a seat".to_owned());
    }
    Ok(())
}

/// What the dice follow from, and the coin toss.
fn check_chance(stated: &Stated, header: &Header, pairing: &Pairing) -> Result<(), String> {
    let (info, seed) = (&header.chance, &stated.meta.seed);
    if !stated.commits(&info.commitment) || info.guessable != chance::is_guessable(seed) {
        return Err("the record commits to another seed than the event has".to_owned());
    }
    let field = || pairing.field.iter().map(|&slot| stated.name(slot));
    let fits = info.round == pairing.id.round && info.pair == pairing.pair;
    if !fits || !field().eq(info.field.iter()) {
        return Err("the record's chance is that of another match".to_owned());
    }
    let chance = MatchChance::new(seed, info.round, field(), info.pair);
    if chance.first(header.seats.len()) != header.lot {
        return Err("the coin toss is not the one of the seed".to_owned());
    }
    Ok(())
}

/// How many positions an event starts games from, by what its fingerprint notes of them.
pub(super) fn openings_of(noted: &Value) -> usize {
    let count = noted.as_str().and_then(|text| text.split(' ').next());
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// A fingerprint tells how many openings there are and their common hash: games of one opening start alike, and once all were played
/// their hash is compared.
fn check_opening(stated: &Stated, header: &Header, pairing: &Pairing) -> Result<(), String> {
    let count = openings_of(&stated.meta.event["event"]["openings"]);
    let Some(opening) = &header.opening else {
        return match count {
            0 => Ok(()),
            _ => Err("the record has no opening, and the event has".to_owned()),
        };
    };
    if count == 0 {
        return Err("the record has an opening, and the event has none".to_owned());
    }
    let (meetings, seats) = config::meetings_of(&stated.meta.event);
    let number = config::opening_number(pairing, meetings, seats) % count;
    let mut seen = stated.openings.borrow_mut();
    if seen.entry(number).or_insert_with(|| opening.clone()) != opening {
        return Err(format!(
            "the record's opening is not the one of other games that start from opening {}",
            number + 1
        ));
    }
    Ok(())
}

/// The bots' programs. The hash of their files is not compared: a file that a bot leaves beside itself is no other bot.
fn check_programs(stated: &Stated, header: &Header, pairing: &Pairing) -> Result<(), String> {
    let about = header.about.value();
    for (seat, &slot) in pairing.seats.iter().enumerate() {
        let (said, due) = (&about["bots"][seat], &stated.meta.event["bots"][slot]);
        if said["builtin"] != due["builtin"] || said["command"] != due["command"] {
            return Err(format!(
                "the record's program of {} is not that of the event",
                stated.name(slot)
            ));
        }
    }
    Ok(())
}
