//! Reversi (Othello). Two seats, a board of 8x8 squares.
//!
//! Seat 0 is Black and moves first, so a lot decides who sits on seat 0, not who begins.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::strict::in_words;

use super::{Ask, Facts, Game, Options, Outcome, Refusal, RulesError, Seat, Series, Setup, ToAct};

/// Files, and ranks, of the board.
const SIDE: usize = 8;
/// Squares of the board.
const SQUARES: usize = SIDE * SIDE;
/// The letter of each seat's discs in a state.
const DISC: [u8; 2] = [b'x', b'o'];

// ---- Options ----------------------------------------------------------------------------------------------------

/// The options of Reversi.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReversiOptions {
    /// Whether the winner's points include the empty squares (rule 3).
    pub empties_to_winner: bool,
}

impl Options for ReversiOptions {
    fn check(&self) -> Result<(), RulesError> {
        Ok(())
    }
}

// ---- Position ---------------------------------------------------------------------------------------------------

/// A set of squares: bit 0 is a1, bit 1 is b1, bit 8 is a2, bit 63 is h8.
pub type Squares = u64;

/// A square of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// The square of this bit of [`Squares`].
    const fn new(index: usize) -> Square {
        Square((index % SQUARES) as u8)
    }

    /// The square that a text like `d3` names.
    pub fn from_name(name: &str) -> Option<Square> {
        let [file @ b'a'..=b'h', rank @ b'1'..=b'8'] = name.as_bytes() else {
            return None;
        };
        Some(Square((rank - b'1') * SIDE as u8 + (file - b'a')))
    }

    /// Its bit in [`Squares`], 0 to 63.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The set of this square alone.
    pub const fn bit(self) -> Squares {
        1 << (self.0 % SQUARES as u8)
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, rank) = (self.0 % SIDE as u8, self.0 / SIDE as u8);
        write!(f, "{}{}", char::from(b'a' + file), rank + 1)
    }
}

impl Serialize for Square {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = [b'a' + self.0 % SIDE as u8, b'1' + self.0 / SIDE as u8];
        text(&name, serializer)
    }
}

/// The squares of a set, in ascending order.
pub(crate) fn each(set: Squares) -> impl Iterator<Item = Square> {
    super::bits(set).map(|bit| Square(bit as u8))
}

/// A position of Reversi.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reversi {
    discs: [Squares; 2],
    /// Where the seat on turn may move.
    moves: Squares,
    turn: u8,
    /// Whether neither seat can move.
    over: bool,
    empties_to_winner: bool,
}

impl Reversi {
    /// A position, and who can move in it.
    fn new(options: &ReversiOptions, discs: [Squares; 2], turn: u8) -> Reversi {
        let mut game = Reversi {
            discs,
            moves: 0,
            turn,
            over: false,
            empties_to_winner: options.empties_to_winner,
        };
        game.look();
        game
    }

    /// Finds out who can move.
    fn look(&mut self) {
        let (own, other) = (self.discs[self.seat()], self.discs[1 - self.seat()]);
        self.moves = mobility(own, other);
        self.over = self.moves == 0 && mobility(other, own) == 0;
    }

    fn seat(&self) -> Seat {
        usize::from(self.turn & 1)
    }

    /// The discs of a seat.
    pub fn discs(&self, seat: Seat) -> Squares {
        self.discs[seat]
    }

    /// Where the seat on turn may move; empty if it is passed over or the game is over.
    pub fn moves(&self) -> Squares {
        self.moves
    }

    fn empty(&self) -> Squares {
        !(self.discs[0] | self.discs[1])
    }
}

// ---- Setup and JSON ---------------------------------------------------------------------------------------------

/// The state as messages carry it.
#[derive(Deserialize)]
struct StateIn<'a> {
    #[serde(borrow)]
    board: [&'a str; SIDE],
    turn: u8,
}

/// A rank of the board as a state writes it.
struct Rank([u8; SIDE]);

impl Serialize for Rank {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        text(&self.0, serializer)
    }
}

/// Writes bytes that are ASCII.
fn text<S: Serializer>(ascii: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(std::str::from_utf8(ascii).map_err(serde::ser::Error::custom)?)
}

impl Serialize for Reversi {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut state = serializer.serialize_struct("Reversi", 2)?;
        state.serialize_field("board", &self.ranks().map(Rank))?;
        state.serialize_field("turn", &self.turn)?;
        state.end()
    }
}

/// The discs that eight texts describe.
fn read_board(board: &[&str; SIDE]) -> Result<[Squares; 2], String> {
    let mut discs = [0; 2];
    for (rank, row) in board.iter().enumerate() {
        if row.chars().count() != SIDE {
            return Err(format!(
                "rank {} of the board is {}; it has eight squares, a to h",
                rank + 1,
                super::cut(&Value::from(*row))
            ));
        }
        for (file, letter) in row.chars().enumerate() {
            let square = Square::new(rank * SIDE + file);
            match letter {
                'x' => discs[0] |= square.bit(),
                'o' => discs[1] |= square.bit(),
                '.' => {}
                _ => {
                    return Err(format!(
                        "{square} of the board is {letter:?}; a square is `x`, `o` or `.`"
                    ));
                }
            }
        }
    }
    Ok(discs)
}

impl Game for Reversi {
    type Options = ReversiOptions;
    type Move = Square;

    const FACTS: &'static Facts = &Facts {
        name: "reversi",
        title: "Reversi",
        min_seats: 2,
        max_seats: 2,
        points: "discs",
        points_a_game: false,
        wins: &[],
        match_fields: &[],
        chance: false,
        explicit_pass: false,
    };

    fn start(options: &ReversiOptions, _setup: &Setup<'_>) -> Reversi {
        let discs = [["e4", "d5"], ["d4", "e5"]].map(|names| {
            names
                .into_iter()
                .filter_map(Square::from_name)
                .fold(0, |set, square| set | square.bit())
        });
        Reversi::new(options, discs, 0)
    }

    fn read(options: &ReversiOptions, state: &Value) -> Result<Reversi, String> {
        let state = StateIn::deserialize(state).map_err(|error| {
            format!(
                "a state has board (eight texts, rank 1 first, of eight letters) and turn: {}",
                in_words(&error)
            )
        })?;
        if state.turn > 1 {
            return Err(format!("turn is a seat, 0 or 1, not {}", state.turn));
        }
        Ok(Reversi::new(options, read_board(&state.board)?, state.turn))
    }

    fn state(&self) -> impl Serialize + '_ {
        self
    }

    // ---- Legal moves --------------------------------------------------------------------------------------------

    fn to_act(&self) -> ToAct {
        if self.over {
            ToAct::Over
        } else if self.moves == 0 {
            ToAct::Pass(self.seat())
        } else {
            ToAct::Seat(self.seat(), Ask::Move)
        }
    }

    fn legal(&self, moves: &mut Vec<Square>) {
        moves.clear();
        moves.extend(each(self.moves));
    }

    fn parse(&self, answer: &Value) -> Result<Square, Refusal> {
        match answer.as_str() {
            Some("pass") => Err(Refusal::new(
                "a pass is never an answer: a seat without a move is not asked (rule 2)",
            )),
            name => name.and_then(Square::from_name).ok_or_else(|| {
                Refusal::new(format!(
                    "a move is a square from \"a1\" to \"h8\", not {}",
                    super::cut(answer)
                ))
            }),
        }
    }

    // ---- Applying a move ----------------------------------------------------------------------------------------

    fn apply(&mut self, square: &Square) -> Result<(), Refusal> {
        if self.moves & square.bit() == 0 {
            return Err(self.refusal(*square));
        }
        self.place(*square);
        Ok(())
    }

    /// Rule 2.
    fn pass(&mut self) {
        if let ToAct::Pass(seat) = self.to_act() {
            self.turn = 1 - seat as u8;
            self.look();
        }
    }

    // ---- End and score ------------------------------------------------------------------------------------------

    fn outcome(&self) -> Option<Outcome> {
        if !self.over {
            return None;
        }
        let empty = self.empty();
        let reason = if empty == 0 { "board_full" } else { "no_moves" };
        let mut outcome = Outcome::by_points(self.points(), reason);
        if self.empties_to_winner
            && let Some(winner) = outcome.winner
        {
            outcome.points[winner] += empty.count_ones();
        }
        Some(outcome)
    }

    fn forfeit(&self, seat: Seat) -> Outcome {
        Outcome::win(1 - seat, self.points(), super::FORFEIT)
    }

    // ---- Series -------------------------------------------------------------------------------------------------

    fn series(_options: &ReversiOptions, played: &[Outcome]) -> Series {
        Series::of_games(1, played)
    }

    // ---- Board text ---------------------------------------------------------------------------------------------

    fn board(&self) -> String {
        const FILES: &str = "  a b c d e f g h\n";
        let ranks = self.ranks().into_iter().zip(1..).map(|(rank, number)| {
            let squares: String = rank
                .iter()
                .map(|&letter| format!(" {}", char::from(letter)))
                .collect();
            format!("{number}{squares} {number}\n")
        });
        let [black, white] = self.points();
        let counts = format!("x seat 0: {black}   o seat 1: {white}\n");
        [FILES.into(), ranks.collect(), FILES.into(), counts].concat()
    }

    fn perft(&self, depth: u32) -> u64 {
        paths(self.discs[self.seat()], self.discs[1 - self.seat()], depth)
    }
}

impl Reversi {
    /// The board as a state writes it, rank 1 first.
    fn ranks(&self) -> [[u8; SIDE]; SIDE] {
        let mut ranks = [[b'.'; SIDE]; SIDE];
        for (discs, letter) in self.discs.into_iter().zip(DISC) {
            for square in each(discs) {
                ranks[square.index() / SIDE][square.index() % SIDE] = letter;
            }
        }
        ranks
    }

    fn points(&self) -> [u32; 2] {
        self.discs.map(Squares::count_ones)
    }

    /// Rule 1, on a square of [`Reversi::moves`].
    pub(crate) fn place(&mut self, square: Square) {
        let seat = self.seat();
        let turned = turned(self.discs[seat], self.discs[1 - seat], square);
        self.discs[seat] ^= turned | square.bit();
        self.discs[1 - seat] ^= turned;
        self.turn = 1 - seat as u8;
        self.look();
    }

    /// Why no disc may be placed here.
    fn refusal(&self, square: Square) -> Refusal {
        if self.over {
            Refusal::new("the game is over")
        } else if self.empty() & square.bit() == 0 {
            Refusal::new(format!("{square} is not empty (rule 1)"))
        } else {
            Refusal::new(format!("{square} encloses no disc (rule 1)"))
        }
    }
}

// ---- Lines of the board -----------------------------------------------------------------------------------------

/// All squares but the files a and h: a line along a rank or a diagonal ends there.
const INNER_FILES: Squares = 0x7e7e_7e7e_7e7e_7e7e;

/// Where the owner of `own` may move against `other`. Fills runs of `other` that begin beside a disc of `own`, in all
/// eight directions at once (a parallel-prefix fill: runs of up to six discs in three steps).
pub(crate) fn mobility(own: Squares, other: Squares) -> Squares {
    let inner = other & INNER_FILES;
    let ends = run_ends(own, inner, 1)
        | run_ends(own, other, 8)
        | run_ends(own, inner, 7)
        | run_ends(own, inner, 9);
    ends & !(own | other)
}

/// The squares one step beyond runs of `other` that begin beside `own`, along a line whose squares are `step` bits
/// apart, both ways.
#[inline(always)]
fn run_ends(own: Squares, other: Squares, step: u32) -> Squares {
    let mut up = other & (own << step);
    let mut down = other & (own >> step);
    up |= other & (up << step);
    down |= other & (down >> step);
    // Pairs of neighbours of `other`, by their upper and their lower square.
    let upper = other & (other << step);
    let lower = upper >> step;
    for _ in 0..2 {
        up |= upper & (up << (2 * step));
        down |= lower & (down >> (2 * step));
    }
    (up << step) | (down >> step)
}

/// The squares that lie in each direction from each square: four directions to higher bits, then four to lower ones.
static RAYS: [[Squares; 8]; SQUARES] = {
    const STEPS: [(isize, isize); 8] = [
        (1, 0),
        (-1, 1),
        (0, 1),
        (1, 1),
        (-1, 0),
        (1, -1),
        (0, -1),
        (-1, -1),
    ];
    let mut rays = [[0; 8]; SQUARES];
    let mut index = 0;
    while index < SQUARES {
        let mut way = 0;
        while way < STEPS.len() {
            let (files, ranks) = STEPS[way];
            let mut file = (index % SIDE) as isize + files;
            let mut rank = (index / SIDE) as isize + ranks;
            while 0 <= file && file < SIDE as isize && 0 <= rank && rank < SIDE as isize {
                rays[index][way] |= Square::new(rank as usize * SIDE + file as usize).bit();
                file += files;
                rank += ranks;
            }
            way += 1;
        }
        index += 1;
    }
    rays
};

/// The discs of `other` that turn if `own` places one on this empty square (rule 1).
#[inline(always)]
pub(crate) fn turned(own: Squares, other: Squares, square: Square) -> Squares {
    let mut turned = 0;
    let (up, down) = RAYS[square.index() % SQUARES].split_at(4);
    for &ray in up {
        // With all but the ray filled, adding 1 carries through the run of `other` to the first square after it.
        let end = (other | !ray).wrapping_add(1) & own & ray;
        // The squares below the end, or none where there is no end.
        turned |= end.wrapping_sub(u64::from(end != 0)) & ray;
    }
    for &ray in down {
        // The highest square of the ray that `other` does not hold; bit 0 where there is none, which the ray then lacks
        // or `other` holds.
        let stop = (ray & !other) | 1;
        let end = (1 << (63 - stop.leading_zeros())) & own & ray;
        // The squares above the end, or none where there is no end.
        turned |= (end.wrapping_neg() << 1) & ray;
    }
    turned
}

/// Paths of exactly `depth` plies for the owner of `own`, who is on turn. Every one of them is played out: inlined into
/// itself, the function would not make the moves of the last ply, only count them.
#[inline(never)]
fn paths(own: Squares, other: Squares, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = mobility(own, other);
    if moves == 0 {
        return if mobility(other, own) == 0 {
            0
        } else {
            paths(other, own, depth - 1)
        };
    }
    each(moves)
        .map(|square| {
            let turned = turned(own, other, square);
            paths(other ^ turned, own ^ (turned | square.bit()), depth - 1)
        })
        .sum()
}

// ---- Tests ------------------------------------------------------------------------------------------------------

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(state: &Value) -> Result<Reversi, String> {
        Reversi::read(&ReversiOptions::default(), state)
    }

    /// A position from its ranks, 1 first.
    fn position(board: [&str; 8], turn: Seat) -> Reversi {
        read(&json!({"board": board, "turn": turn})).expect("a position")
    }

    /// A board with nothing but this rank 8.
    fn last_rank(rank: &str, turn: Seat) -> Reversi {
        let none = "........";
        position([none, none, none, none, none, none, none, rank], turn)
    }

    fn start() -> Reversi {
        Reversi::start(&ReversiOptions::default(), &Setup::SINGLE)
    }

    fn square(name: &str) -> Square {
        Square::from_name(name).expect("a square")
    }

    fn played(mut game: Reversi, names: &str) -> Reversi {
        for name in names.split(' ') {
            game.apply(&square(name)).expect("a legal move");
        }
        game
    }

    fn legal(game: &Reversi) -> String {
        let mut moves = Vec::new();
        game.legal(&mut moves);
        let names: Vec<String> = moves.iter().map(Square::to_string).collect();
        names.join(" ")
    }

    fn board(game: &Reversi) -> Vec<String> {
        let rank = |rank: [u8; 8]| rank.map(char::from).iter().collect();
        game.ranks().map(rank).to_vec()
    }

    #[test]
    fn squares_have_names_and_bits() {
        for (name, index) in [("a1", 0), ("b1", 1), ("h1", 7), ("a2", 8), ("h8", 63)] {
            assert_eq!(square(name).index(), index);
            assert_eq!(Square::new(index).to_string(), name);
            assert_eq!(json!(Square::new(index)), json!(name));
        }
        for name in [
            "", "a", "a0", "a9", "i1", "A1", "a11", "1a", " a1", "ä1", "é",
        ] {
            assert_eq!(Square::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn black_begins_whatever_the_lot_says() {
        let setup = Setup {
            lot: 1,
            ..Setup::SINGLE
        };
        let game = Reversi::start(&ReversiOptions::default(), &setup);
        assert_eq!(game, start());
        assert_eq!(game.to_act(), ToAct::Seat(0, Ask::Move));
        assert_eq!(legal(&game), "d3 c4 f5 e6");
    }

    #[test]
    fn rule_1_an_enclosed_disc_turns() {
        let game = played(start(), "d3");
        assert_eq!(board(&game)[2..5], ["...x....", "...xx...", "...xo..."]);
        assert_eq!((game.seat(), game.points()), (1, [4, 1]));
    }

    #[test]
    fn rule_1_a_disc_turns_lines_in_all_eight_directions() {
        let game = position(
            [
                "x..x..x.", ".o.o.o..", "..ooo...", "xoo.ooox", "..ooo...", ".o.o.o..", "x..x..x.",
                "........",
            ],
            0,
        );
        let after = played(game, "d4");
        assert_eq!(
            board(&after),
            [
                "x..x..x.", ".x.x.x..", "..xxx...", "xxxxxxxx", "..xxx...", ".x.x.x..", "x..x..x.",
                "........",
            ]
        );
    }

    #[test]
    fn rule_1_the_longest_lines_reach_from_edge_to_edge() {
        for (rank, to) in [(".oooooox", "a8"), ("xoooooo.", "h8")] {
            let game = played(last_rank(rank, 0), to);
            assert_eq!(game.points(), [8, 0]);
        }
    }

    #[test]
    fn rule_1_a_line_with_a_gap_or_up_to_the_edge_encloses_nothing() {
        // h8 would have to jump the gap on f8.
        assert_eq!(legal(&last_rank("xoo..o..", 0)), "d8");
        assert_eq!(legal(&last_rank("oo.xo.oo", 0)), "f8");
        // Lines do not go round the edge: h4, then a5 and b5.
        let none = "........";
        let round = [none, none, none, "......xo", "ox......", none, none, none];
        assert_eq!(legal(&position(round, 0)), "");
    }

    #[test]
    fn rule_1_a_turned_disc_encloses_nothing_by_itself() {
        // c8 turns b8, not d7, although b8 would then enclose it.
        let none = "........";
        let game = position(
            [
                none, none, none, none, "....o...", "...o....", "..o.....", "xo......",
            ],
            0,
        );
        let after = played(game, "c8");
        assert_eq!(board(&after)[6..], ["..o.....", "xxx....."]);
    }

    #[test]
    fn rule_1_what_is_refused_is_named() {
        for (name, words) in [("d4", "d4 is not empty"), ("a1", "a1 encloses no disc")] {
            let mut game = start();
            let refusal = game.apply(&square(name)).expect_err("not legal");
            assert!(refusal.message.contains(words), "{refusal}");
            assert!(refusal.message.contains("(rule 1)"));
            assert_eq!(game, start());
        }
    }

    #[test]
    fn an_answer_that_is_no_square_is_refused() {
        for (answer, words) in [
            (json!("pass"), "rule 2"),
            (json!("i9"), "\"i9\""),
            (json!("D3"), "\"a1\" to \"h8\""),
            (json!(19), "19"),
            (json!(["d3"]), "[\"d3\"]"),
            (json!(null), "null"),
        ] {
            let refusal = start().parse(&answer).expect_err("no square");
            assert!(refusal.message.contains(words), "{answer}: {refusal}");
        }
        assert_eq!(start().parse(&json!("d3")), Ok(square("d3")));
    }

    #[test]
    fn rule_2_a_seat_without_a_move_passes() {
        let mut game = last_rank("xo.o....", 1);
        assert_eq!(game.to_act(), ToAct::Pass(1));
        assert_eq!(legal(&game), "");
        assert!(game.apply(&square("c8")).is_err());
        game.pass();
        assert_eq!(game.to_act(), ToAct::Seat(0, Ask::Move));
        assert_eq!(legal(&game), "c8");
        // Nobody else passes.
        let before = game;
        game.pass();
        assert_eq!(game, before);
        assert_eq!(Reversi::pass_move(), json!("pass"));
    }

    #[test]
    fn rule_2_a_pass_is_a_ply_of_a_path() {
        let game = last_rank("xo.o....", 1);
        // White passes, c8, White passes again, e8, and nobody can move.
        let counts: Vec<u64> = (0..6).map(|depth| game.perft(depth)).collect();
        assert_eq!(counts, [1, 1, 1, 1, 1, 0]);
    }

    #[test]
    fn rule_3_the_game_ends_when_neither_can_move() {
        let moves = "e6 f4 e3 f6 g5 d6 e7 f5 c5";
        let outcome = played(start(), moves).outcome().expect("over");
        assert_eq!((outcome.winner, outcome.reason), (Some(0), "no_moves"));
        assert_eq!(outcome.points, [13, 0]);
        let options = ReversiOptions {
            empties_to_winner: true,
        };
        let game = Reversi::start(&options, &Setup::SINGLE);
        let outcome = played(game, moves).outcome().expect("over");
        assert_eq!((outcome.winner, outcome.points), (Some(0), vec![64, 0]));
        assert_eq!(outcome.reason, "no_moves");
    }

    #[test]
    fn rule_3_a_full_board_ends_the_game() {
        let half = |white_on_a5: char| {
            let fifth = format!("{white_on_a5}ooooooo");
            let (black, white) = ("xxxxxxxx", "oooooooo");
            position([black, black, black, black, &fifth, white, white, white], 1)
        };
        let draw = half('o').outcome().expect("over");
        assert_eq!((draw.winner, draw.points), (None, vec![32, 32]));
        assert_eq!(draw.reason, "board_full");
        let win = half('x').outcome().expect("over");
        assert_eq!((win.winner, win.points), (Some(0), vec![33, 31]));
        // The last square stays empty if nobody can move there.
        let left = half('.').outcome().expect("over");
        assert_eq!((left.reason, left.points), ("no_moves", vec![32, 31]));
    }

    #[test]
    fn rule_3_empty_squares_go_to_nobody_in_a_draw_or_a_forfeit() {
        let options = ReversiOptions {
            empties_to_winner: true,
        };
        let none = "........";
        let state =
            json!({"board": ["x......o", none, none, none, none, none, none, none], "turn": 0});
        let game = Reversi::read(&options, &state).expect("a position");
        let draw = game.outcome().expect("over");
        assert_eq!((draw.winner, draw.points), (None, vec![1, 1]));
        let forfeit = Reversi::start(&options, &Setup::SINGLE).forfeit(0);
        assert_eq!((forfeit.winner, forfeit.points), (Some(1), vec![2, 2]));
        assert_eq!(forfeit.reason, crate::game::FORFEIT);
    }

    #[test]
    fn a_match_is_one_game() {
        let none = Reversi::series(&ReversiOptions::default(), &[]);
        assert_eq!(
            (none.score, none.over, none.of),
            (vec![0.0, 0.0], false, Some(1))
        );
        let game = Outcome::by_points([20, 44], "board_full");
        let one = Reversi::series(&ReversiOptions::default(), &[game]);
        assert_eq!((one.score, one.over), (vec![0.0, 1.0], true));
    }

    #[test]
    fn a_state_that_cannot_be_is_refused_in_words() {
        let good = json!({"board": board(&start()), "turn": 0});
        assert_eq!(read(&good), Ok(start()));
        let with = |rank: usize, text: Value| {
            let mut state = good.clone();
            state["board"][rank] = text;
            state
        };
        let mut nine = good.clone();
        nine["board"]
            .as_array_mut()
            .expect("a list")
            .push(json!("........"));
        for (state, words) in [
            (json!({"board": ["........"], "turn": 0}), "eight texts"),
            (nine, "eight texts"),
            (with(2, json!(".......")), "rank 3"),
            (with(2, json!(".........")), "rank 3"),
            (with(2, json!("..é....")), "rank 3"),
            (with(7, json!(".......X")), "h8"),
            (with(0, json!("é.......")), "a1"),
            (with(0, json!(null)), "board"),
            (with(0, json!(["."])), "board"),
            (json!({"board": good["board"], "turn": 2}), "seat"),
            (json!({"board": good["board"], "turn": -1}), "turn"),
            (json!({"board": good["board"]}), "turn"),
            (json!({"turn": 0}), "board"),
            (json!([]), "board"),
        ] {
            let refused = read(&state).expect_err("no position");
            assert!(refused.contains(words), "{state}: {refused}");
        }
    }

    #[test]
    fn the_board_shows_rank_1_above() {
        insta::assert_snapshot!(played(start(), "d3").board(), @r"
          a b c d e f g h
        1 . . . . . . . . 1
        2 . . . . . . . . 2
        3 . . . x . . . . 3
        4 . . . x x . . . 4
        5 . . . x o . . . 5
        6 . . . . . . . . 6
        7 . . . . . . . . 7
        8 . . . . . . . . 8
          a b c d e f g h
        x seat 0: 4   o seat 1: 1
        ");
    }
}
