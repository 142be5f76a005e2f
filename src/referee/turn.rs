//! The messages that ask a seat, made from a game. Pure.

use hakem_protocol::{self as protocol, Ask, Hello, Score, Start};
use serde_json::{Map, Value};

use super::play::{Next, Play};
use super::record::{write_number, write_option};
use crate::clock::ClockSpec;
use crate::game::{Ruleset, Seat};

/// What a turn says besides what the game tells.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The question's id.
    pub id: u64,
    /// Who is asked.
    pub seat: Seat,
    /// What.
    pub ask: Ask,
    /// The elements of `last`, with commas between.
    pub last: &'a [u8],
    /// Those of `history`, where the bot wants it.
    pub history: Option<&'a [u8]>,
    /// Whether it wants the list of legal answers.
    pub legal: bool,
}

/// Appends a turn as a line with its end.
///
/// Written by hand: this is the line that is sent for every move. A test reads it back with the types.
pub fn write(text: &mut Vec<u8>, play: &mut Play, asked: &Asked<'_>) {
    text.extend_from_slice(b"{\"type\":\"turn\",\"id\":");
    write_number(text, asked.id);
    text.extend_from_slice(b",\"seat\":");
    write_number(text, asked.seat as u64);
    text.extend_from_slice(b",\"ask\":\"");
    text.extend_from_slice(asked.ask.as_str().as_bytes());
    text.extend_from_slice(b"\",\"state\":");
    play.position().write_state(text);
    if asked.legal {
        text.extend_from_slice(b",\"legal\":");
        play.position().write_legal(text);
    }
    text.extend_from_slice(b",\"last\":[");
    text.extend_from_slice(asked.last);
    text.push(b']');
    if let Some(history) = asked.history {
        text.extend_from_slice(b",\"history\":[");
        text.extend_from_slice(history);
        text.push(b']');
    }
    text.extend_from_slice(b",\"clock\":{\"left_ms\":[");
    let seats = play.header().seats.len();
    for other in 0..seats {
        if other > 0 {
            text.push(b',');
        }
        write_ms(text, play.left_us(other));
    }
    text.extend_from_slice(b"],\"limit_ms\":");
    write_ms(text, play.limit_us(asked.seat));
    text.extend_from_slice(b"}}\n");
}

fn write_ms(out: &mut Vec<u8>, us: Option<u64>) {
    write_option(out, us.map(|us| us / 1000));
}

/// `hello` for a bot with these options.
pub fn hello(rules: &dyn Ruleset, clock: &ClockSpec, options: Map<String, Value>) -> Hello {
    let ms = |us: u64| us / 1000;
    let clock = match rules.race() {
        Some(race) => clock.for_race(race.limit_us),
        None => *clock,
    };
    Hello {
        protocol: protocol::VERSION,
        referee: concat!("hakem ", env!("CARGO_PKG_VERSION")).to_owned(),
        game: rules.facts().name.to_owned(),
        rules: options_of(rules),
        clock: protocol::Clock {
            kind: clock.kind,
            main_ms: clock.main_us.map(ms),
            increment_ms: ms(clock.increment_us),
            move_ms: clock.move_us.map(ms),
            delay_ms: ms(clock.delay_us),
        },
        options,
    }
}

/// `start` of a game that has just begun, for seat 0; for another one only `seat` differs.
pub fn start(play: &mut Play, rules: &dyn Ruleset) -> Start {
    let first = match play.next() {
        Next::Ask(seat, _) => seat,
        Next::Race | Next::Again | Next::Broken(_) | Next::Over(_) => play.header().lot,
    };
    let mut state = Vec::new();
    play.position().write_state(&mut state);
    let header = play.header();
    let series = rules.series(header.played.outcomes());
    let mut score: Vec<Score> = series.score.iter().copied().map(Score).collect();
    // Before the first game the rules do not know how many seats there are.
    score.resize(header.seats.len(), Score(0.0));
    Start {
        game_id: header.id.to_string(),
        seat: 0,
        names: header.names.clone(),
        first,
        opening: play.opening_roll(),
        again: play.again(),
        rules: options_of(rules),
        in_match: protocol::Match {
            game: header.played.next_game(),
            of: series.of,
            score,
        },
        state: serde_json::from_slice(&state).unwrap_or_default(),
    }
}

/// The options of a game as an object.
pub fn options_of(rules: &dyn Ruleset) -> Map<String, Value> {
    match rules.options() {
        Value::Object(options) => options,
        _ => Map::new(),
    }
}
