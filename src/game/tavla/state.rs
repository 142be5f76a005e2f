//! States and answers as messages carry them.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::{Map, Value};

use super::options::HIGHEST_CUBE;
use super::{
    BAR, CHECKERS, Cube, OFF, Offer, POINTS, Phase, Play, Points, Resign, Step, Tavla, TavlaMove,
    TavlaOptions, score,
};
use crate::game::{Refusal, Seat, cut, small_int};

// ---- Writing --------------------------------------------------------------------------------------------------------

impl Serialize for Tavla {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = 7 + usize::from(self.resign.is_some()) + usize::from(self.refused);
        let mut state = serializer.serialize_struct("Tavla", fields)?;
        state.serialize_field("checkers", &self.checkers)?;
        state.serialize_field("dice", &self.dice)?;
        state.serialize_field("cube", &self.cube)?;
        state.serialize_field("score", &self.score)?;
        state.serialize_field("length", &self.length)?;
        state.serialize_field("crawford", &self.crawford)?;
        state.serialize_field("turn", &self.turn)?;
        if let Some(resign) = &self.resign {
            state.serialize_field("resign", resign)?;
        }
        if self.refused {
            state.serialize_field("refused", &true)?;
        }
        state.end()
    }
}

impl Serialize for Cube {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = if self.offer.is_some() { 4 } else { 2 };
        let mut cube = serializer.serialize_struct("Cube", fields)?;
        cube.serialize_field("value", &self.value)?;
        cube.serialize_field("owner", &self.owner)?;
        if let Some(offer) = &self.offer {
            cube.serialize_field("offered", &self.offered())?;
            cube.serialize_field("doubler", &offer.doubler)?;
        }
        cube.end()
    }
}

impl Serialize for Resign {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut resign = serializer.serialize_struct("Resign", 2)?;
        resign.serialize_field("by", &self.by)?;
        resign.serialize_field("times", &self.times)?;
        resign.end()
    }
}

impl Serialize for TavlaMove {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            TavlaMove::Play(play) => play.serialize(serializer),
            TavlaMove::Resign(times) => {
                let mut resign = serializer.serialize_struct("Resign", 1)?;
                resign.serialize_field("resign", times)?;
                resign.end()
            }
            word => {
                let known = TavlaMove::WORDS.iter().find(|(mv, _)| mv == word);
                serializer.serialize_str(known.map_or("", |(_, name)| name))
            }
        }
    }
}

// ---- Reading an answer ----------------------------------------------------------------------------------------------

/// An answer of any kind; `None`: it is no move of this game.
pub(super) fn read_move(answer: &Value) -> Option<Result<TavlaMove, Refusal>> {
    match answer {
        Value::String(word) => TavlaMove::WORDS
            .iter()
            .find(|(_, name)| name == word)
            .map(|&(mv, _)| Ok(mv)),
        Value::Array(pairs) => Some(read_play(pairs).map(TavlaMove::Play).map_err(Refusal::new)),
        Value::Object(fields) => fields.get("resign").map(|times| {
            small_int(times)
                .and_then(|times| u8::try_from(times).ok())
                .filter(|times| (1..=3).contains(times))
                .map(TavlaMove::Resign)
                .ok_or_else(|| {
                    Refusal::new(format!(
                        "resign is 1, 2 or 3 times the cube, not {} (rule 11)",
                        cut(times)
                    ))
                })
        }),
        _ => None,
    }
}

fn read_play(pairs: &[Value]) -> Result<Play, String> {
    let mut play = Play::EMPTY;
    for pair in pairs {
        let step = read_step(pair).ok_or_else(|| {
            format!(
                "a pair is [from, to] with from 1 to 24, or 25 for the bar, and to 1 to 24, or 0 for off, not {}",
                cut(pair)
            )
        })?;
        if !play.push(step) {
            return Err(format!(
                "{} checker moves; a double gives four, other rolls two (rule 2)",
                pairs.len()
            ));
        }
    }
    Ok(play)
}

fn read_step(pair: &Value) -> Option<Step> {
    let [from, to] = pair.as_array()?.as_slice() else {
        return None;
    };
    let place = |value, places: std::ops::RangeInclusive<usize>| {
        small_int(value)
            .and_then(|place| usize::try_from(place).ok())
            .filter(|place| places.contains(place))
            .map(|place| place as u8)
    };
    Some(Step {
        from: place(from, 1..=BAR)?,
        to: place(to, OFF..=BAR - 1)?,
    })
}

// ---- Reading a state ------------------------------------------------------------------------------------------------

/// A position from a state, checked.
pub(super) fn read(options: &TavlaOptions, state: &Value) -> Result<Tavla, String> {
    let state = Fields::of(state, "a state")?;
    let checkers = read_checkers(state.get("checkers")?)?;
    let turn = state.seat("turn")?;
    let (score, length, crawford) = read_match(&state)?;
    let mut game = Tavla {
        checkers,
        score,
        turn,
        dice: read_dice(state.get("dice")?)?,
        ..Tavla::new(options, length, crawford)
    };
    game.refused = state.flag("refused")?.unwrap_or(false);
    game.resign = state
        .optional("resign")
        .map(|value| read_resign(value, turn))
        .transpose()?;
    let asked = game.resign.map_or(turn, |resign| resign.by);
    game.cube = read_cube(state.get("cube")?, &game, asked)?;
    settle(&mut game, asked)?;
    Ok(game)
}

/// Finds out what the position waits for, with `asked` to answer.
fn settle(game: &mut Tavla, asked: Seat) -> Result<(), String> {
    let (resign, refused) = (game.resign.is_some(), game.refused);
    if let Some(winner) = score::finished(&game.checkers) {
        if resign || refused || game.cube.offer.is_some() {
            return Err("a seat has borne off all its checkers; no question can be open".into());
        }
        game.win_by_bearing_off(winner);
        return Ok(());
    }
    if resign && refused {
        return Err("a refused seat cannot offer to resign again before it has answered".into());
    }
    match (game.cube.offer, game.dice) {
        (Some(_), Some(_)) => {
            return Err("a double is offered before the roll: dice must be null".into());
        }
        (Some(_), None) => game.phase = Phase::Take,
        (None, Some(dice)) => {
            let turn = std::mem::replace(&mut game.turn, asked);
            game.roll(dice);
            game.turn = turn;
        }
        (None, None) => {
            let turn = std::mem::replace(&mut game.turn, asked);
            game.begin_turn();
            game.turn = turn;
            if game.phase == Phase::Roll && (resign || refused) {
                return Err(format!(
                    "seat {asked} waits for its dice and is asked nothing; only a seat that is asked can offer to resign"
                ));
            }
        }
    }
    Ok(())
}

fn read_checkers(value: &Value) -> Result<[Points; 2], String> {
    let side = |seat: Seat| -> Result<Points, String> {
        let counts = value
            .as_array()
            .filter(|sides| sides.len() == 2)
            .and_then(|sides| sides[seat].as_array())
            .filter(|counts| counts.len() == POINTS)
            .ok_or("checkers are two lists, one a seat, of 26 counts: off, points 1 to 24, bar")?;
        let mut points = [0; POINTS];
        for (place, count) in counts.iter().enumerate() {
            points[place] = small_int(count)
                .filter(|count| (0..=i64::from(CHECKERS)).contains(count))
                .ok_or_else(|| {
                    format!(
                        "checkers of seat {seat}, place {place}: {} is no count from 0 to 15",
                        cut(count)
                    )
                })? as u8;
        }
        let sum: u32 = points.iter().map(|&count| u32::from(count)).sum();
        if sum != u32::from(CHECKERS) {
            return Err(format!("seat {seat} has {sum} checkers; each seat has 15"));
        }
        Ok(points)
    };
    let sides = [side(0)?, side(1)?];
    if let Some(point) = (1..BAR).find(|&point| sides[0][point] > 0 && sides[1][BAR - point] > 0) {
        return Err(format!(
            "both seats have checkers on one point: seat 0's {point} is seat 1's {}",
            BAR - point
        ));
    }
    if sides.iter().all(|side| side[OFF] == CHECKERS) {
        return Err("both seats have borne off all their checkers; only one can have won".into());
    }
    Ok(sides)
}

fn read_dice(value: &Value) -> Result<Option<[u8; 2]>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let die = |value| {
        small_int(value)
            .filter(|die| (1..=6).contains(die))
            .map(|die| die as u8)
    };
    match value.as_array().map(Vec::as_slice) {
        Some([first, second]) => die(first)
            .zip(die(second))
            .map(|(first, second)| Some([first, second])),
        _ => None,
    }
    .ok_or_else(|| {
        format!(
            "dice are two numbers from 1 to 6, or null before the roll, not {}",
            cut(value)
        )
    })
}

/// Score, length and whether it is the Crawford game.
fn read_match(state: &Fields<'_>) -> Result<([u32; 2], u32, bool), String> {
    let length = state.number("length")?;
    let crawford = state
        .flag("crawford")?
        .ok_or("a state has `crawford`, true or false")?;
    let score = state.get("score")?;
    let score: [u32; 2] = score
        .as_array()
        .and_then(|both| both.iter().map(whole).collect::<Option<Vec<u32>>>())
        .and_then(|both| both.try_into().ok())
        .ok_or_else(|| format!("score is two numbers of points, not {}", cut(score)))?;
    if length > 0 && score.iter().any(|&points| points >= length) {
        return Err(format!(
            "a match to {length} points is over at {}-{}",
            score[0], score[1]
        ));
    }
    // The game before the Crawford game had a seat that needed more: both need one only in a match to one point.
    let needs_one = |points: &&u32| points.checked_add(1) == Some(length);
    let need_one = score.iter().filter(needs_one).count();
    if crawford && (need_one == 0 || need_one == 2 && length > 1) {
        return Err(format!(
            "crawford: the Crawford game is the first in which a seat needs one point; at {}-{} in a match to {length} it is not",
            score[0], score[1]
        ));
    }
    Ok((score, length, crawford))
}

fn read_resign(value: &Value, turn: Seat) -> Result<Resign, String> {
    let fields = Fields::of(value, "resign")?;
    let (by, times) = (fields.seat("by")?, fields.number("times")?);
    if !(1..=3).contains(&times) {
        return Err(format!("resign.times is 1, 2 or 3, not {times}"));
    }
    if turn == by {
        return Err(format!(
            "seat {by} offers to resign, so the turn is the other seat's"
        ));
    }
    Ok(Resign {
        by,
        times: times as u8,
    })
}

/// The cube of a game of which all else but the phase is read.
fn read_cube(value: &Value, game: &Tavla, asked: Seat) -> Result<Cube, String> {
    let fields = Fields::of(value, "cube")?;
    let limits = &game.limits;
    let value = fields.number("value")?;
    let owner = match fields.get("owner")? {
        Value::Null => None,
        _ => Some(fields.seat("owner")?),
    };
    let highest = game.highest_cube();
    if !value.is_power_of_two() || value > HIGHEST_CUBE {
        return Err(format!(
            "cube.value {value} is no power of two that a cube shows"
        ));
    }
    if value > highest {
        return Err(format!(
            "cube.value {value}: in this game it stops at {highest}"
        ));
    }
    if (value == 1) != owner.is_none() {
        return Err(format!(
            "cube.value {value} and owner {}: a cube at 1 is in the middle, a turned one is the taker's",
            owner.map_or("null".into(), |seat| seat.to_string())
        ));
    }
    let mut cube = Cube {
        value,
        owner,
        offer: None,
    };
    let Some(offered) = fields.optional("offered") else {
        return match fields.optional("doubler") {
            None => Ok(cube),
            Some(_) => {
                Err("cube.doubler without cube.offered: both are there while a double waits".into())
            }
        };
    };
    let doubler = fields.seat("doubler")?;
    let stage = cube
        .stage(doubler, asked)
        .filter(|&stage| limits.allow(Some(stage)));
    let Some(stage) = stage else {
        return Err(format!(
            "cube.offered: by these rules seat {asked} cannot be asked about a double of seat {doubler} with the cube as it is"
        ));
    };
    if whole(offered) != Some(cube.offered()) || cube.offered() > highest {
        return Err(format!(
            "cube.offered {}: a double of {value} is at {}, and the cube stops at {highest}",
            cut(offered),
            cube.offered()
        ));
    }
    cube.offer = Some(Offer { doubler, stage });
    Ok(cube)
}

// ---- Fields of an object --------------------------------------------------------------------------------------------

/// A number of points or a value: whole and not negative.
fn whole(value: &Value) -> Option<u32> {
    small_int(value).and_then(|number| u32::try_from(number).ok())
}

/// An object of a state, with its name for errors.
struct Fields<'a> {
    fields: &'a Map<String, Value>,
    name: &'static str,
}

impl<'a> Fields<'a> {
    fn of(value: &'a Value, name: &'static str) -> Result<Fields<'a>, String> {
        match value {
            Value::Object(fields) => Ok(Fields { fields, name }),
            _ => Err(format!("{name} is an object, not {}", cut(value))),
        }
    }

    fn get(&self, key: &str) -> Result<&'a Value, String> {
        self.fields
            .get(key)
            .ok_or_else(|| format!("{} has no field `{key}`", self.name))
    }

    /// A field that may be missing, or null.
    fn optional(&self, key: &str) -> Option<&'a Value> {
        self.fields.get(key).filter(|value| !value.is_null())
    }

    fn number(&self, key: &str) -> Result<u32, String> {
        let value = self.get(key)?;
        whole(value).ok_or_else(|| format!("`{key}` is a whole number, not {}", cut(value)))
    }

    fn seat(&self, key: &str) -> Result<Seat, String> {
        match self.number(key)? {
            0 => Ok(0),
            1 => Ok(1),
            other => Err(format!("`{key}` is a seat, 0 or 1, not {other}")),
        }
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        self.optional(key)
            .map(|value| {
                value
                    .as_bool()
                    .ok_or_else(|| format!("`{key}` is true or false, not {}", cut(value)))
            })
            .transpose()
    }
}
