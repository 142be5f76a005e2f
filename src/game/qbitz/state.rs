//! The state as messages carry it.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::faces::{Cell, Cubes, Face, Pattern, grid, list};
use super::{MAX_SEATS, MAX_VOIDS, Qbitz, QbitzOptions};
use crate::game::{Seat, small_int};

impl Serialize for Qbitz {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut state = serializer.serialize_map(None)?;
        state.serialize_entry("pattern", &self.pattern)?;
        state.serialize_entry("cubes", &self.cubes)?;
        state.serialize_entry("points", &self.points)?;
        state.serialize_entry("round", &self.round)?;
        state.serialize_entry("out", &seats_of(&self.out))?;
        let gone = seats_of(&self.gone);
        if !gone.is_empty() {
            state.serialize_entry("gone", &gone)?;
        }
        if self.voids > 0 {
            state.serialize_entry("dead_heats", &self.voids)?;
        }
        state.end()
    }
}

/// The seats that are marked, ascending.
fn seats_of(marked: &[bool; MAX_SEATS]) -> Vec<Seat> {
    (0..MAX_SEATS).filter(|&seat| marked[seat]).collect()
}

impl Qbitz {
    /// A position from the state of a message.
    pub(super) fn from_state(options: &QbitzOptions, state: &Value) -> Result<Qbitz, String> {
        let field = |name: &str| {
            state.get(name).ok_or_else(|| {
                format!("a state has pattern, cubes, points and round; `{name}` is missing")
            })
        };
        if !state.is_object() {
            return Err("a state is an object with pattern, cubes, points and round".into());
        }
        let pattern = match field("pattern")? {
            Value::Null => None,
            pattern => Some(read_pattern(pattern)?),
        };
        let points = read_points(field("points")?)?;
        let marked = |name: &str| match state.get(name) {
            None | Some(Value::Null) => Ok([false; MAX_SEATS]),
            Some(seats) => read_seats(name, seats, points.len()),
        };
        let mut game = Qbitz {
            cubes: Some(read_cubes(field("cubes")?)?),
            round: read_round(field("round")?, pattern.is_some(), options)?,
            out: marked("out")?,
            gone: marked("gone")?,
            voids: match state.get("dead_heats") {
                None | Some(Value::Null) => 0,
                Some(count) => small_int(count)
                    .filter(|count| (0..=i64::from(MAX_VOIDS)).contains(count))
                    .ok_or_else(|| {
                        format!("dead_heats counts the void rounds in a row, 0 to {MAX_VOIDS}")
                    })? as u8,
            },
            pattern,
            points,
            target: options.target_points,
            rounds: options.rounds,
        };
        if game.seats_in_play() < 2 {
            return Err("all seats but one have left the game, so it was over before".into());
        }
        if game.pattern.is_some() && !game.is_over() {
            for seat in 0..MAX_SEATS {
                game.out[seat] |= game.gone[seat];
            }
            if !(0..game.points.len()).any(|seat| !game.out[seat]) {
                return Err(
                    "all seats are out of the round, so it is over and its pattern null".into(),
                );
            }
        } else {
            game.out = [false; MAX_SEATS];
        }
        Ok(game)
    }
}

fn read_pattern(value: &Value) -> Result<Pattern, String> {
    let cell = |value: &Value| {
        let turn = small_int(value.get("turn")?).filter(|turn| (0..4).contains(turn))?;
        Some(Cell {
            face: Face::named(value.get("face")?)?,
            turn: turn as u8,
        })
    };
    grid(value, cell).ok_or_else(|| {
        format!(
            "pattern is null, or four rows of four cells with face ({}) and turn (0 to 3)",
            face_names()
        )
    })
}

fn read_cubes(value: &Value) -> Result<Cubes, String> {
    list(value, |cube| list(cube, Face::named)).ok_or_else(|| {
        format!(
            "cubes are sixteen lists of six faces, each {}",
            face_names()
        )
    })
}

fn face_names() -> String {
    Face::ALL.map(Face::as_str).join(", ")
}

fn read_points(value: &Value) -> Result<Vec<u32>, String> {
    let counts: Option<Vec<u32>> = value.as_array().and_then(|counts| {
        let count = |count| small_int(count).and_then(|count| u32::try_from(count).ok());
        counts.iter().map(count).collect()
    });
    counts
        .filter(|counts| (2..=MAX_SEATS).contains(&counts.len()))
        .ok_or_else(|| format!("points are the rounds won by seat, for 2 to {MAX_SEATS} seats"))
}

/// While a pattern is shown `round` is its number; between rounds it is that of the last one, 0 before the first.
fn read_round(value: &Value, shown: bool, options: &QbitzOptions) -> Result<u32, String> {
    let (least, most) = (u32::from(shown), options.rounds);
    small_int(value)
        .and_then(|round| u32::try_from(round).ok())
        .filter(|round| (least..=most).contains(round))
        .ok_or_else(|| {
            format!(
                "round is a number from {least} to {most} here, not {}",
                crate::game::cut(value)
            )
        })
}

fn read_seats(name: &str, value: &Value, seats: usize) -> Result<[bool; MAX_SEATS], String> {
    let wrong = || {
        format!(
            "`{name}` lists seats, each once, 0 to {}, not {}",
            seats - 1,
            crate::game::cut(value)
        )
    };
    let mut marked = [false; MAX_SEATS];
    for seat in value.as_array().ok_or_else(wrong)? {
        let seat = small_int(seat)
            .and_then(|seat| Seat::try_from(seat).ok())
            .filter(|&seat| seat < seats)
            .ok_or_else(wrong)?;
        if std::mem::replace(&mut marked[seat], true) {
            return Err(wrong());
        }
    }
    Ok(marked)
}
