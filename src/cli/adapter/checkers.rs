//! What the protocols of backgammon engines write: the FIBS board, XGID, position ids and plays. Every number is seen
//! by the player on whose behalf it is written, who moves from 24 down to 1.

use crate::game::Seat;
use crate::game::tavla::{BAR, OFF, Stage, Tavla};

/// The points of both seats as this seat sees them: its own checkers positive, the other's negative; 0 is the other's
/// bar, 25 its own.
fn signed(game: &Tavla, seat: Seat) -> [i32; 26] {
    let (own, other) = (game.checkers(seat), game.checkers(1 - seat));
    std::array::from_fn(|point| {
        let mine = if point == OFF { 0 } else { own[point] };
        let theirs = if point == BAR { 0 } else { other[BAR - point] };
        i32::from(mine) - i32::from(theirs)
    })
}

/// The score as this seat sees it; in money play none.
pub(super) fn score_of(game: &Tavla, seat: Seat) -> [u32; 2] {
    if game.length() == 0 {
        [0, 0]
    } else {
        [game.score()[seat], game.score()[1 - seat]]
    }
}

/// The FIBS board (`boardstyle 3`) as this seat sees it, on turn, with these dice (0 and 0 before the roll).
///
/// `score` is written as it is given, own points first; `doubled` is the field that says so. Both may double where the cube is in the middle, also in the Crawford game: as
/// FIBS writes it, the last two fields tell that game from later ones.
pub(super) fn fibs_board(
    game: &Tavla,
    seat: Seat,
    dice: [u8; 2],
    [own_score, other_score]: [u32; 2],
    doubled: bool,
) -> String {
    let length = game.length();
    let cube = game.cube();
    let may_double = |by: Seat| u8::from(cube.owner.is_none_or(|owner| owner == by));
    let (own, other) = (game.checkers(seat), game.checkers(1 - seat));
    let needs_one = length > 0 && game.score().iter().any(|points| points + 1 == length);
    let after_crawford = u8::from(needs_one && !game.is_crawford());
    let points: Vec<String> = signed(game, seat).iter().map(i32::to_string).collect();
    let [first, second] = dice;
    format!(
        "board:me:them:{length}:{own_score}:{other_score}:{}:1:{first}:{second}:{first}:{second}:{}:{}:{}:{}:1:-1:0:25:{}:{}:{}:{}:0:0:{after_crawford}:{}",
        points.join(":"),
        cube.value,
        may_double(seat),
        may_double(1 - seat),
        u8::from(doubled),
        own[OFF],
        other[OFF],
        own[BAR],
        other[BAR],
        // No Crawford rule, where there can be none any more.
        3 * after_crawford,
    )
}

/// The XGID of a position as this seat sees it, at the bottom of the board: the question that it is asked.
pub(super) fn xgid(
    game: &Tavla,
    seat: Seat,
    highest_cube: u32,
    jacoby: bool,
    beavers: bool,
) -> String {
    let points: String = signed(game, seat)
        .iter()
        .map(|&count| {
            let letter = |first: u8| char::from(first + count.unsigned_abs() as u8 - 1);
            match count {
                0 => '-',
                1.. => letter(b'A'),
                _ => letter(b'a'),
            }
        })
        .collect();
    let cube = game.cube();
    let side = |by: Seat| if by == seat { 1 } else { -1 };
    let (turn, dice) = match (cube.offer, game.roll_to_play()) {
        // Of a double, a beaver and a raccoon it is the first doubler's turn still.
        (Some(offer), _) => {
            let word = match offer.stage {
                Stage::Double => "D",
                Stage::Beaver => "B",
                Stage::Raccoon => "R",
            };
            (side(offer.doubler), word.to_owned())
        }
        (None, Some([first, second])) => (1, format!("{first}{second}")),
        (None, None) => (1, "00".to_owned()),
    };
    let length = game.length();
    let flag = if length > 0 {
        u8::from(game.is_crawford())
    } else {
        u8::from(jacoby) + 2 * u8::from(beavers)
    };
    format!(
        "XGID={points}:{}:{}:{turn}:{dice}:{}:{}:{flag}:{length}:{}",
        cube.value.ilog2(),
        cube.owner.map_or(0, side),
        game.score()[seat],
        game.score()[1 - seat],
        highest_cube.max(1).ilog2(),
    )
}

/// The position id of GNU Backgammon, with this seat on turn: the checkers of the other, then its own, a bit each and a
/// gap after each point, in base 64.
pub(super) fn position_id(game: &Tavla, seat: Seat) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = [false; 84];
    let mut at = 0;
    for side in [1 - seat, seat] {
        for &count in &game.checkers(side)[1..=BAR] {
            for _ in 0..count {
                bits[at] = true;
                at += 1;
            }
            at += 1;
        }
    }
    let mut bytes = [0u8; 12];
    for (index, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
        bytes[index / 8] |= 1 << (index % 8);
    }
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = three
            .iter()
            .fold(0u32, |number, &byte| number << 8 | u32::from(byte));
        for shift in [18, 12, 6, 0] {
            text.push(char::from(DIGITS[(number >> shift & 63) as usize]));
        }
    }
    text.truncate(14);
    text
}

/// Reads a play: `8/5 6/5`, `bar/20*/14`, `13/10(2)`, `6/off`, and with `-` or a space in the place of `/`. Empty text is the
/// play of none.
///
/// # Errors
/// The part that is none.
pub(super) fn read_play(text: &str) -> Result<Vec<[u8; 2]>, String> {
    let mut pairs = Vec::new();
    let mut waiting: Option<u8> = None;
    for word in text.split_whitespace() {
        let wrong = || format!("{word:?} of {text:?} is no checker move");
        let (path, times) = match word.split_once('(') {
            Some((path, times)) => {
                let times = times.strip_suffix(')').and_then(|times| times.parse().ok());
                (
                    path,
                    times
                        .filter(|times| (1..=4).contains(times))
                        .ok_or_else(wrong)?,
                )
            }
            None => (word, 1),
        };
        let mut places = Vec::new();
        for place in path.split(['/', '-']) {
            places.push(read_place(place.trim_end_matches('*')).ok_or_else(wrong)?);
        }
        match (waiting.take(), places.as_slice()) {
            (None, &[place]) if times == 1 => waiting = Some(place),
            (Some(from), &[to]) if times == 1 => pairs.push([from, to]),
            (None, [_, _, ..]) => {
                for _ in 0..times {
                    pairs.extend(places.windows(2).map(|pair| [pair[0], pair[1]]));
                }
            }
            _ => return Err(wrong()),
        }
    }
    match waiting {
        Some(from) => Err(format!("{text:?} does not say where {from} goes")),
        None => Ok(pairs),
    }
}

fn read_place(text: &str) -> Option<u8> {
    match text {
        "bar" => Some(BAR as u8),
        "off" => Some(OFF as u8),
        number => number.parse().ok().filter(|&place| place <= BAR as u8),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::game::Game;
    use crate::game::tavla::TavlaOptions;

    /// A seat's counts from (place, count) pairs.
    fn side(pairs: &[(usize, u8)]) -> [u8; 26] {
        let mut points = [0; 26];
        for &(place, count) in pairs {
            points[place] = count;
        }
        points
    }

    const START: &[(usize, u8)] = &[(24, 2), (13, 5), (8, 3), (6, 5)];

    fn game(options: &TavlaOptions, state: Value) -> Tavla {
        Tavla::read(options, &state).expect("a position")
    }

    fn at_start(changes: Value) -> Tavla {
        let mut state = json!({
            "checkers": [side(START), side(START)], "dice": [3, 1], "cube": {"value": 1, "owner": null}, "score": [0, 0],
            "length": 5, "crawford": false, "turn": 0,
        });
        for (key, value) in changes.as_object().expect("fields") {
            state[key] = value.clone();
        }
        game(
            &TavlaOptions {
                beavers: true,
                ..TavlaOptions::default()
            },
            state,
        )
    }

    #[test]
    fn the_fibs_board_has_52_fields_seen_by_the_seat() {
        let board = fibs_board(&at_start(json!({})), 0, [3, 1], [0, 0], false);
        assert_eq!(
            board,
            "board:me:them:5:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:0"
        );
        assert_eq!(board.split(':').count(), 53);
        let bars = at_start(json!({
            "checkers": [side(&[(0, 1), (25, 2), (13, 4), (8, 3), (6, 5)]), side(&[(0, 2), (25, 1), (24, 12)])],
            "cube": {"value": 2, "owner": 1}, "score": [4, 3], "turn": 1, "dice": null,
        }));
        let board = fibs_board(&bars, 1, [0, 0], score_of(&bars, 1), true);
        assert!(
            board.starts_with("board:me:them:5:3:4:-2:0:0:0:0:0:0:0:0:0:0:0:-4:0:0:0:0:-3:0:-5:0:0:0:0:12:1:1:0:0:0:0:2:1:0:1:"),
            "{board}"
        );
        assert!(
            board.ends_with(":1:-1:0:25:2:1:1:2:0:0:1:3"),
            "after the Crawford game: {board}"
        );
    }

    #[test]
    fn the_crawford_game_is_told_by_the_last_fields_alone() {
        let crawford = at_start(json!({"score": [4, 0], "crawford": true}));
        let board = fibs_board(&crawford, 0, [3, 1], [4, 0], false);
        assert!(
            board.ends_with(":1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:0"),
            "{board}"
        );
    }

    #[test]
    fn an_xgid_says_what_is_asked() {
        assert_eq!(
            xgid(&at_start(json!({})), 0, 64, false, false),
            "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:5:6"
        );
        let double = at_start(json!({
            "dice": null, "turn": 1, "cube": {"value": 1, "owner": null, "offered": 2, "doubler": 0}, "length": 0,
        }));
        assert_eq!(
            xgid(&double, 1, 64, true, true),
            "XGID=-b----E-C---eE---c-e----B-:0:0:-1:D:0:0:3:0:6"
        );
        let beaver = at_start(json!({
            "dice": null, "turn": 0, "cube": {"value": 2, "owner": 1, "offered": 4, "doubler": 0}, "length": 0, "score": [3, 1],
        }));
        assert_eq!(
            xgid(&beaver, 0, 64, false, true),
            "XGID=-b----E-C---eE---c-e----B-:1:-1:1:B:3:1:2:0:6"
        );
        let crawford =
            at_start(json!({"score": [4, 0], "crawford": true, "turn": 1, "dice": [6, 6]}));
        assert_eq!(
            xgid(&crawford, 1, 1, false, false),
            "XGID=-b----E-C---eE---c-e----B-:0:0:1:66:0:4:1:5:0"
        );
    }

    #[test]
    fn position_ids_are_those_that_gnu_backgammon_shows() {
        assert_eq!(position_id(&at_start(json!({})), 0), "4HPwATDgc/ABMA");
        // Shown by the program for the side on roll after 8/5 6/5 of the other.
        let after = at_start(json!({
            "checkers": [side(&[(24, 2), (13, 5), (8, 2), (6, 4), (5, 2)]), side(START)], "turn": 1,
        }));
        assert_eq!(position_id(&after, 1), "sGfwATDgc/ABMA");
    }

    #[test]
    fn plays_are_read_in_every_spelling() {
        for (text, pairs) in [
            ("8/5 6/5 ", vec![[8, 5], [6, 5]]),
            ("8 5 6 5", vec![[8, 5], [6, 5]]),
            ("8-5 6-5", vec![[8, 5], [6, 5]]),
            ("bar/20*/14", vec![[25, 20], [20, 14]]),
            ("25/20 6/0", vec![[25, 20], [6, 0]]),
            ("13/10(2) 6/off", vec![[13, 10], [13, 10], [6, 0]]),
            ("", vec![]),
        ] {
            assert_eq!(read_play(text), Ok(pairs), "{text}");
        }
        for text in [
            "8",
            "8/5 6",
            "26/20",
            "a/b",
            "8/5(5)",
            "8/",
            "roll",
            "8/5 6 5/4",
            "8(2)",
        ] {
            assert!(read_play(text).is_err(), "{text}");
        }
    }
}
