//! A bot that looks at its own next move only, and takes what it likes best there.

use hakem_protocol::{Ask, Move, Turn};
use serde::Deserialize;
use serde_json::Value;

use super::{Facts, Games, House, Table, cubes, hizli};
use crate::game::Game;
use crate::game::dokuztas::Dokuztas;
use crate::game::dokuztas::board::{self, Points};
use crate::game::mangala::Mangala;
use crate::game::oware::Oware;
use crate::game::qbitz::faces::Answer;
use crate::game::reversi::Reversi;

/// Takes the move after which its game's own simple measure is highest; of equals the first.
#[derive(Debug)]
pub struct Greedy;

impl House for Greedy {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "greedy",
            summary: "the move that looks best at once: stones or seeds gained; corners and few replies; mills; hits, points and pips (never doubles); the first cube that fits",
            games: Games::Only(&["mangala", "oware", "reversi", "dokuztas", "tavla", "qbitz"]),
            options: &[],
        }
    }

    fn answer(&self, table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
        if turn.ask == Ask::Race {
            return qbitz(table, turn);
        }
        let legal = super::listed(turn)?;
        let answer = match (table.game, turn.ask) {
            ("mangala", Ask::Move) => mangala(table, turn, legal)?,
            ("oware", Ask::Move) => oware(table, turn, legal)?,
            ("reversi", Ask::Move) => reversi(table, turn, legal)?,
            ("dokuztas", Ask::Move) => dokuztas(table, turn, legal)?,
            ("tavla", Ask::Move) => tavla::play(turn, legal)?,
            ("tavla", Ask::Cube) => Value::from("roll"),
            ("tavla", Ask::Take) => Value::from(tavla::take_or_pass(turn)?),
            ("tavla", Ask::Resign) => Value::from("accept"),
            (game, ask) => return Err(format!("{game} does not ask `{}`", ask.as_str())),
        };
        Ok(super::answer(turn, answer))
    }
}

/// The first element with the highest measure.
fn best<M: Ord>(
    legal: &[Value],
    mut measure: impl FnMut(&Value) -> Result<M, String>,
) -> Result<&Value, String> {
    let mut best: Option<(M, &Value)> = None;
    for answer in legal {
        let found = measure(answer)?;
        if best.as_ref().is_none_or(|(most, _)| found > *most) {
            best = Some((found, answer));
        }
    }
    best.map(|(_, answer)| answer)
        .ok_or_else(|| "nothing is legal".into())
}

/// Mangala: the stones that this move gains over the opponent; another move counts as two.
fn mangala(table: &Table<'_>, turn: &Turn, legal: &[Value]) -> Result<Value, String> {
    let before: Mangala = super::position(table, turn)?;
    let me = turn.seat;
    let you = 1 - me;
    let lead = |game: &Mangala| i32::from(game.store(me)) - i32::from(game.store(you));
    let chosen = best(legal, |answer| {
        let mut after = before;
        let pit = before.parse(answer).map_err(|refusal| refusal.message)?;
        after.apply(&pit).map_err(|refusal| refusal.message)?;
        let again = after.to_act() == before.to_act();
        Ok(lead(&after) - lead(&before) + 2 * i32::from(again))
    })?;
    Ok(chosen.clone())
}

/// Oware: the seeds that this move gains over the opponent.
fn oware(table: &Table<'_>, turn: &Turn, legal: &[Value]) -> Result<Value, String> {
    let before: Oware = super::position(table, turn)?;
    let me = turn.seat;
    let lead = |game: &Oware| {
        let store = |seat| i32::from(game.position().store(seat));
        store(me) - store(1 - me)
    };
    let chosen = best(legal, |answer| {
        let mut after = before.clone();
        let house = before.parse(answer).map_err(|refusal| refusal.message)?;
        after.apply(&house).map_err(|refusal| refusal.message)?;
        Ok(lead(&after))
    })?;
    Ok(chosen.clone())
}

/// Reversi: few replies of the opponent, who has none at the end; a corner is worth nine of them, and a square from which
/// the opponent may take one costs five, diagonally nine.
fn reversi(table: &Table<'_>, turn: &Turn, legal: &[Value]) -> Result<Value, String> {
    let before: Reversi = super::position(table, turn)?;
    let chosen = best(legal, |answer| {
        let mut after = before;
        let square = before.parse(answer).map_err(|refusal| refusal.message)?;
        after.apply(&square).map_err(|refusal| refusal.message)?;
        let replies = after.moves().count_ones() as i32;
        let (file, rank) = (square.index() % 8, square.index() / 8);
        // How far the square is from the nearer edge, both ways: 0 is the edge.
        let place = match (file.min(7 - file), rank.min(7 - rank)) {
            (0, 0) => 9,
            (1, 1) => -9,
            (0, 1) | (1, 0) => -5,
            _ => 0,
        };
        Ok(place - replies)
    })?;
    Ok(chosen.clone())
}

/// Dokuztas: a stone taken above all, then lines in which two stones wait for the third, the opponent's a little more than
/// the own, since it moves next.
fn dokuztas(table: &Table<'_>, turn: &Turn, legal: &[Value]) -> Result<Value, String> {
    let before: Dokuztas = super::position(table, turn)?;
    let me = turn.seat;
    let twos = |game: &Dokuztas, seat| {
        let (own, empty) = (game.stones(seat), game.empty());
        let open = |mill: Points| (mill & own).count_ones() == 2 && mill & empty != 0;
        board::MILLS.iter().filter(|&&mill| open(mill)).count() as i32
    };
    let chosen = best(legal, |answer| {
        let mut after = before;
        let mv = before.parse(answer).map_err(|refusal| refusal.message)?;
        after.apply(&mv).map_err(|refusal| refusal.message)?;
        let won = after
            .outcome()
            .is_some_and(|outcome| outcome.winner == Some(me));
        let taken = before.left(1 - me) - after.left(1 - me);
        let lines = 2 * twos(&after, me) - 3 * twos(&after, 1 - me);
        Ok(1000 * i32::from(won) + 100 * taken as i32 + lines)
    })?;
    Ok(chosen.clone())
}

/// Q-Bitz: the cell with the fewest cubes first, and the first cube that fits; it never goes back, and gives up where that
/// leads nowhere.
fn qbitz(table: &Table<'_>, turn: &Turn) -> Result<Move, String> {
    let game = hizli::position(table, turn)?;
    let tray = serde_json::to_value(Answer(cubes::scarcest_first(&game)));
    Ok(super::answer(
        turn,
        tray.map_err(|error| error.to_string())?,
    ))
}

/// Tavla, from the message alone.
mod tavla {
    use super::{Deserialize, Turn, Value, best};

    /// Counts of a seat's checkers from its own view: 0 off, 1 to 24 the points, 25 the bar.
    type Side = [u8; 26];

    #[derive(Deserialize)]
    struct State {
        checkers: [Side; 2],
    }

    /// The sides of the seat that is asked and of its opponent.
    fn sides(turn: &Turn) -> Result<[Side; 2], String> {
        let State { checkers } = State::deserialize(&turn.state)
            .map_err(|error| format!("a state has checkers, two lists of 26 counts: {error}"))?;
        match turn.seat {
            0 => Ok(checkers),
            1 => Ok([checkers[1], checkers[0]]),
            seat => Err(format!("a seat is 0 or 1, not {seat}")),
        }
    }

    pub(super) fn play(turn: &Turn, legal: &[Value]) -> Result<Value, String> {
        let before = sides(turn)?;
        let chosen = best(legal, |answer| {
            let steps = Vec::<[usize; 2]>::deserialize(answer)
                .map_err(|error| format!("a play is a list of from-to pairs: {error}"))?;
            after(before, &steps)
                .map(|sides| measure(&sides))
                .ok_or_else(|| format!("{answer} does not fit the state"))
        })?;
        Ok(chosen.clone())
    }

    /// The sides after a play; `None` if it moves checkers that are not there.
    fn after([mut mine, mut theirs]: [Side; 2], steps: &[[usize; 2]]) -> Option<[Side; 2]> {
        for &[from, to] in steps {
            let source = mine.get_mut(from)?;
            *source = source.checked_sub(1)?;
            let target = mine.get_mut(to)?;
            *target = target.checked_add(1)?;
            if (1..=24).contains(&to) && theirs[25 - to] == 1 {
                theirs[25 - to] = 0;
                theirs[25] = theirs[25].checked_add(1)?;
            }
        }
        Some([mine, theirs])
    }

    /// The points that all checkers have still to move.
    fn pips(side: &Side) -> i32 {
        (0..)
            .zip(side)
            .map(|(point, &count)| point * i32::from(count))
            .sum()
    }

    /// How good a position is for the side that has just played, in thirty-sixths of a pip: the race, made points,
    /// checkers off, and what blots would lose on average if one of the opponent's 36 rolls hit them.
    fn measure([mine, theirs]: &[Side; 2]) -> i32 {
        let mut sum = 36 * (pips(theirs) - pips(mine)) + 72 * i32::from(mine[0]);
        for (point, &count) in mine.iter().enumerate().take(25).skip(1) {
            sum += match count {
                0 => 0,
                1 => -exposure(theirs, point),
                _ if point <= 6 => 36 * 6,
                _ => 36 * 3,
            };
        }
        sum
    }

    /// About 13 of 36 rolls hit a blot within six points, about 4 one within twelve.
    fn exposure(theirs: &Side, point: usize) -> i32 {
        let seen = 25 - point;
        let behind = |distance: usize| theirs.get(seen + distance).is_some_and(|&count| count > 0);
        let rolls = if (1..=6).any(behind) {
            13
        } else if (7..=12).any(behind) {
            4
        } else {
            0
        };
        rolls * seen as i32
    }

    /// Passes if the race is behind by ten pips and a fifth.
    pub(super) fn take_or_pass(turn: &Turn) -> Result<&'static str, String> {
        let [mine, theirs] = sides(turn)?;
        let lost = 10 * (pips(&mine) - 10) > 12 * pips(&theirs);
        Ok(if lost { "pass" } else { "take" })
    }

    #[cfg(test)]
    mod tests {
        use hakem_protocol::Ask;
        use serde_json::json;

        use super::*;
        use crate::house::tests::{ask, turn};

        /// A side with these checkers; the others are off.
        fn side(checkers: &[(usize, u8)]) -> Side {
            let mut side = [0; 26];
            for &(point, count) in checkers {
                side[point] = count;
            }
            side[0] = 15 - side.iter().sum::<u8>();
            side
        }

        fn start() -> Side {
            side(&[(24, 2), (13, 5), (8, 3), (6, 5)])
        }

        fn answer(seat: usize, asked: Ask, mine: Side, theirs: Side, legal: Value) -> Value {
            let checkers = if seat == 0 {
                [mine, theirs]
            } else {
                [theirs, mine]
            };
            let turn = turn(seat, asked, json!({"checkers": checkers}), legal);
            ask("greedy", "tavla", json!({}), &turn).expect("an answer")
        }

        #[test]
        fn it_makes_the_point_with_3_1() {
            let legal = json!([
                [[24, 23], [24, 21]],
                [[13, 10], [10, 9]],
                [[8, 5], [6, 5]],
                [[13, 10], [6, 5]]
            ]);
            for seat in 0..2 {
                let played = answer(seat, Ask::Move, start(), start(), legal.clone());
                assert_eq!(played, json!([[8, 5], [6, 5]]));
            }
        }

        #[test]
        fn it_hits() {
            // Their blot stands on my point 4.
            let theirs = side(&[(21, 1), (13, 6), (8, 3), (6, 5)]);
            let legal = json!([[[13, 11], [13, 9]], [[6, 4], [8, 4]]]);
            assert_eq!(
                answer(0, Ask::Move, start(), theirs, legal),
                json!([[6, 4], [8, 4]])
            );
            let hit = after([start(), theirs], &[[6, 4]]).expect("a play");
            assert_eq!((hit[1][21], hit[1][25]), (0, 1));
        }

        #[test]
        fn it_leaves_no_blot_where_it_can_be_hit() {
            let mine = side(&[(10, 2), (9, 1), (6, 2)]);
            let theirs = side(&[(25, 1), (1, 3)]);
            let legal = json!([
                [[10, 9], [10, 8]],
                [[10, 9], [9, 7]],
                [[6, 5], [6, 4]],
                [[10, 8], [9, 8]]
            ]);
            assert_eq!(
                answer(1, Ask::Move, mine, theirs, legal),
                json!([[10, 8], [9, 8]])
            );
        }

        #[test]
        fn it_never_doubles_and_passes_only_what_is_lost() {
            let cube = json!(["roll", "double"]);
            assert_eq!(answer(0, Ask::Cube, start(), start(), cube), json!("roll"));
            let take = |mine| {
                answer(
                    0,
                    Ask::Take,
                    mine,
                    side(&[(6, 15)]),
                    json!(["take", "pass"]),
                )
            };
            // 90 pips against 90, 118 and 120.
            assert_eq!(take(side(&[(6, 15)])), json!("take"));
            assert_eq!(take(side(&[(6, 13), (20, 2)])), json!("take"));
            assert_eq!(take(side(&[(6, 12), (24, 1), (13, 2)])), json!("pass"));
            let resign = json!(["accept", "refuse"]);
            assert_eq!(
                answer(0, Ask::Resign, start(), start(), resign),
                json!("accept")
            );
        }

        #[test]
        fn a_play_that_does_not_fit_is_an_error() {
            for legal in [
                json!([[[1, 0]]]),
                json!([[[13, 99]]]),
                json!([[[26, 20]]]),
                json!([7]),
            ] {
                let turn = turn(0, Ask::Move, json!({"checkers": [start(), start()]}), legal);
                assert!(ask("greedy", "tavla", json!({}), &turn).is_err());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hakem_protocol::Ask;
    use serde_json::{Value, json};

    use crate::house::tests::{ask, turn};

    #[test]
    fn it_takes_stops_and_builds_in_that_order() {
        let play = |mine: Value, theirs: Value, legal: Value| {
            let state = json!({"stones": [mine, theirs], "in_hand": [6, 6], "turn": 0});
            let turn = turn(0, Ask::Move, state, legal);
            ask("greedy", "dokuztas", json!({}), &turn).expect("an answer")
        };
        // Of the stones that the mill may take b6 makes a line of two with d6.
        let take = json!([{"to": "a1"}, {"to": "g7", "take": "f2"}, {"to": "g7", "take": "b6"}, {"to": "f6"}]);
        let chosen = play(json!(["a7", "d7"]), json!(["b6", "d6", "f2"]), take);
        assert_eq!(chosen, json!({"to": "g7", "take": "b6"}));
        let quiet = json!([{"to": "a1"}, {"to": "d1"}, {"to": "f6"}]);
        let stop = play(json!(["a7", "g4"]), json!(["b6", "d6", "f2"]), quiet);
        assert_eq!(stop, json!({"to": "f6"}));
        let build = json!([{"to": "c3"}, {"to": "a1"}, {"to": "d1"}]);
        let chosen = play(json!(["a7", "g4"]), json!(["b6", "f2", "c5"]), build);
        assert_eq!(chosen, json!({"to": "a1"}));
    }

    #[test]
    fn it_takes_the_most_stones_and_values_another_move() {
        let take = json!({"pits": [[2,2,0,1,1,1],[1,0,0,9,0,0]], "stores": [0,31], "turn": 0});
        let legal = json!([1, 2, 4, 5, 6]);
        let turn_a = turn(0, Ask::Move, take, legal.clone());
        assert_eq!(ask("greedy", "mangala", json!({}), &turn_a), Ok(json!(2)));

        // Pits 4, 5 and 6 bring one stone each; only pit 4 ends in the treasury.
        let again = json!({"pits": [[4,4,4,4,4,4],[4,4,4,4,4,4]], "stores": [0,0], "turn": 1});
        let turn_b = turn(1, Ask::Move, again, json!([1, 2, 3, 4, 5, 6]));
        assert_eq!(ask("greedy", "mangala", json!({}), &turn_b), Ok(json!(4)));
    }

    #[test]
    fn it_captures_the_most_seeds() {
        // House 4 captures seven, house 5 two.
        let state = json!({"pits": [[1,0,2,5,3,0],[2,1,1,4,3,5]], "stores": [11,10], "turn": 0});
        let turn = turn(0, Ask::Move, state, json!([1, 3, 4, 5]));
        assert_eq!(ask("greedy", "oware", json!({}), &turn), Ok(json!(4)));
    }

    #[test]
    fn it_takes_a_corner_and_shuns_the_squares_beside_it() {
        let board = [
            "..oooo..", "..oooo.o", "..xxoxxo", "..xxooxo", "..xoxxxx", ".xxxxxx.", "...ooox.",
            ".....o..",
        ];
        let state = json!({"board": board, "turn": 0});
        for (legal, best) in [
            (json!(["b1", "g1", "h1", "c7", "g8"]), "h1"),
            (json!(["b1", "d8", "g8"]), "d8"),
        ] {
            let turn = turn(0, Ask::Move, state.clone(), legal);
            assert_eq!(ask("greedy", "reversi", json!({}), &turn), Ok(json!(best)));
        }
    }
}
