//! Positions and moves as text: the state and the moves of messages, the board of a terminal.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::strict::in_words;

use super::board::{self, Point, Points, bit};
use super::{
    Dokuztas, DokuztasMove, DokuztasOptions, LOST, NOWHERE, RESTARTS, Refusal, STONES, Seat, Stage,
};

// ---- States ---------------------------------------------------------------------------------------------------------

/// The state as messages carry it.
#[derive(Deserialize)]
struct StateIn {
    stones: [Vec<String>; 2],
    in_hand: [u8; 2],
    turn: u8,
    #[serde(default)]
    quiet: u32,
    #[serde(default)]
    restarts: u32,
}

impl Serialize for Dokuztas {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut state = serializer.serialize_struct("Dokuztas", 5)?;
        state.serialize_field("stones", &self.stones.map(Named))?;
        state.serialize_field("in_hand", &self.in_hand)?;
        state.serialize_field("turn", &self.turn)?;
        state.serialize_field("quiet", &self.quiet)?;
        state.serialize_field("restarts", &self.restarts)?;
        state.end()
    }
}

/// Points by their names.
struct Named(Points);

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(board::each(self.0).map(board::name))
    }
}

/// Reads a state and checks that it can be.
pub(super) fn read(options: &DokuztasOptions, state: &Value) -> Result<Dokuztas, String> {
    let state = StateIn::deserialize(state).map_err(|error| {
        format!(
            "a state has stones (two lists of points), in_hand (two counts) and turn, and may have quiet and restarts: {}",
 in_words(&error)
        )
    })?;
    if state.turn > 1 {
        return Err(format!("turn is a seat, 0 or 1, not {}", state.turn));
    }
    if state.restarts > RESTARTS {
        return Err(format!(
            "restarts is {}, but a game is restarted at most {RESTARTS} times (rule 7)",
            state.restarts
        ));
    }
    let stones = read_stones(&state.stones)?;
    let mut game = Dokuztas {
        stones,
        in_hand: state.in_hand,
        left: [
            count(0, stones, state.in_hand)?,
            count(1, stones, state.in_hand)?,
        ],
        turn: state.turn,
        stage: Stage::Play,
        restarts: state.restarts as u8,
        quiet: state.quiet,
        plies: state.quiet,
        options: *options,
    };
    if game.left == [LOST; 2] {
        return Err(
            "both seats have two stones, but the game is over when one of them has (rule 5)".into(),
        );
    }
    game.end_if_due();
    Ok(game)
}

fn read_stones(lists: &[Vec<String>; 2]) -> Result<[Points; 2], String> {
    let mut stones = [0; 2];
    for (seat, list) in lists.iter().enumerate() {
        for text in list {
            let point = point(text).map_err(|words| format!("stones of seat {seat}: {words}"))?;
            if (stones[0] | stones[1]) & bit(point) != 0 {
                return Err(format!("there are two stones on {text}"));
            }
            stones[seat] |= bit(point);
        }
    }
    Ok(stones)
}

/// The stones that a seat has left.
fn count(seat: Seat, stones: [Points; 2], in_hand: [u8; 2]) -> Result<u8, String> {
    let left = stones[seat].count_ones() + u32::from(in_hand[seat]);
    let possible = u8::try_from(left).ok();
    possible
        .filter(|left| (LOST..=STONES).contains(left))
        .ok_or_else(|| {
            format!(
                "seat {seat} has {left} stones, {} of them in hand; {LOST} to {STONES} are possible",
                in_hand[seat]
            )
        })
}

fn point(text: &str) -> Result<Point, String> {
    board::named(text).ok_or_else(|| {
        format!(
            "{} is no point of the board; points are named by file and rank, like a7 or d2",
            crate::game::cut(&Value::from(text))
        )
    })
}

// ---- Moves ----------------------------------------------------------------------------------------------------------

impl Serialize for DokuztasMove {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = [
            ("from", self.from()),
            ("to", Some(self.to())),
            ("take", self.take()),
        ];
        let named = parts.iter().filter_map(|&(key, point)| Some((key, point?)));
        let mut mv = serializer.serialize_struct("DokuztasMove", named.clone().count())?;
        for (key, point) in named {
            mv.serialize_field(key, board::name(point))?;
        }
        mv.end()
    }
}

/// Reads a move. Fields that it does not know are left alone; one that is null is as good as absent.
pub(super) fn parse(answer: &Value) -> Result<DokuztasMove, Refusal> {
    let form = || {
        Refusal::new(format!(
            "a move is {{\"to\":\"d2\"}} to place a stone, {{\"from\":\"a7\",\"to\":\"a4\"}} to move one, with \"take\" where a \
             mill takes one, not {}",
            crate::game::cut(answer)
        ))
    };
    let Value::Object(fields) = answer else {
        return Err(form());
    };
    let read = |key: &str| match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => point(text)
            .map(Some)
            .map_err(|words| Refusal::new(format!("`{key}`: {words}"))),
        Some(other) => Err(Refusal::new(format!(
            "`{key}` is the name of a point, not {}",
            crate::game::cut(other)
        ))),
    };
    let to = read("to")?.ok_or_else(form)?;
    let from = read("from")?.unwrap_or(NOWHERE);
    let take = read("take")?.unwrap_or(NOWHERE);
    Ok(DokuztasMove::new(from, to, take))
}

// ---- Board text -----------------------------------------------------------------------------------------------------

/// The board with a `+` for each point.
const GRID: &str = "\
7  +-----------+-----------+
   |           |           |
6  |   +-------+-------+   |
   |   |       |       |   |
5  |   |   +---+---+   |   |
   |   |   |       |   |   |
4  +---+---+       +---+---+
   |   |   |       |   |   |
3  |   |   +---+---+   |   |
   |   |       |       |   |
2  |   +-------+-------+   |
   |           |           |
1  +-----------+-----------+
";

/// The line below the board.
const FILES: &str = "   a   b   c   d   e   f   g";

/// The marks of the seats on the board.
const MARKS: [char; 2] = ['x', 'o'];

pub(super) fn board_text(game: &Dokuztas) -> String {
    let mut text = String::new();
    for line in GRID.lines() {
        let rank = &line[..1];
        for (column, c) in line.chars().enumerate() {
            let file = FILES.chars().nth(column).unwrap_or_default();
            text.push(match board::named(&format!("{file}{rank}")) {
                Some(point) if c == '+' => mark(game, point),
                _ => c,
            });
        }
        text.push('\n');
    }
    let hand = |seat: Seat| {
        format!(
            "seat {seat}  {}  {} in hand\n",
            MARKS[seat],
            game.in_hand(seat)
        )
    };
    [hand(1), text, format!("{FILES}\n"), hand(0)].concat()
}

fn mark(game: &Dokuztas, point: Point) -> char {
    let seat = (0..2).find(|&seat| game.stones(seat) & bit(point) != 0);
    seat.map_or('.', |seat| MARKS[seat])
}
