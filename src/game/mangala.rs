//! Mangala. Two seats, six pits each, 48 stones.
//!
//! Ruling: the sources call the direction clockwise, but sow to the mover's own right; that is what is enforced.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::strict::in_words;

use super::{Ask, Facts, Game, Options, Outcome, Refusal, RulesError, Seat, Series, Setup, ToAct};

/// Pits of a seat.
const PITS: usize = 6;
/// Stones in play.
const STONES: u32 = 48;
/// Places in the sowing order of a seat: its pits, its treasury, the opponent's pits.
const TRACK: usize = 2 * PITS + 1;
/// How often a drawn set is replayed at most (rule 6).
const REMATCHES: u32 = 3;

// ---- Options ----------------------------------------------------------------------------------------------------

/// The options of Mangala.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MangalaOptions {
    /// Sets in a match (rule 7).
    pub sets: u32,
    /// Whether a drawn set is played over (rule 6).
    pub rematch_on_draw: bool,
}

impl Default for MangalaOptions {
    fn default() -> Self {
        MangalaOptions {
            sets: 1,
            rematch_on_draw: false,
        }
    }
}

impl Options for MangalaOptions {
    fn check(&self) -> Result<(), RulesError> {
        if (1..=1000).contains(&self.sets) {
            Ok(())
        } else {
            Err(RulesError {
                key: "sets".into(),
                message: format!(
                    "{} is not a number of sets; 1 to 1000 are possible",
                    self.sets
                ),
            })
        }
    }
}

// ---- Position ---------------------------------------------------------------------------------------------------

/// A position of Mangala.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mangala {
    pits: [[u8; PITS]; 2],
    stores: [u8; 2],
    turn: u8,
    over: bool,
}

impl Mangala {
    fn seat(&self) -> Seat {
        usize::from(self.turn)
    }

    /// The stones of a seat's pits, from its left to its right.
    pub fn pits(&self, seat: Seat) -> &[u8; PITS] {
        &self.pits[seat]
    }

    /// The stones in a seat's treasury.
    pub fn store(&self, seat: Seat) -> u8 {
        self.stores[seat]
    }
}

// ---- Setup and JSON ---------------------------------------------------------------------------------------------

/// The state as messages carry it.
#[derive(Deserialize)]
struct StateIn {
    pits: [[u8; PITS]; 2],
    stores: [u8; 2],
    turn: u8,
}

impl Serialize for Mangala {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut state = serializer.serialize_struct("Mangala", 3)?;
        state.serialize_field("pits", &self.pits)?;
        state.serialize_field("stores", &self.stores)?;
        state.serialize_field("turn", &self.turn)?;
        state.end()
    }
}

impl Game for Mangala {
    type Options = MangalaOptions;
    /// A pit, 1 to 6.
    type Move = u8;

    const FACTS: &'static Facts = &Facts {
        name: "mangala",
        title: "Mangala",
        min_seats: 2,
        max_seats: 2,
        points: "stones in the treasury",
        points_a_game: false,
        wins: &[],
        match_fields: &[],
        chance: false,
        explicit_pass: false,
    };

    fn start(_options: &MangalaOptions, setup: &Setup<'_>) -> Mangala {
        // Rule 7: the first move alternates set by set; a rematch is the return game of its set.
        let shift = setup.played.len() + setup.again as usize;
        let first = (setup.lot + shift) % 2;
        Mangala {
            pits: [[4; PITS]; 2],
            stores: [0; 2],
            turn: first as u8,
            over: false,
        }
    }

    fn read(_options: &MangalaOptions, state: &Value) -> Result<Mangala, String> {
        let state = StateIn::deserialize(state).map_err(|error| {
            format!(
                "a state has pits (two lists of six counts), stores (two counts) and turn: {}",
                in_words(&error)
            )
        })?;
        if state.turn > 1 {
            return Err(format!("turn is a seat, 0 or 1, not {}", state.turn));
        }
        let stones: u32 = state
            .pits
            .iter()
            .flatten()
            .chain(&state.stores)
            .map(|&count| u32::from(count))
            .sum();
        if stones != STONES {
            return Err(format!(
                "pits and stores hold {stones} stones; there are {STONES}"
            ));
        }
        let mut game = Mangala {
            pits: state.pits,
            stores: state.stores,
            turn: state.turn,
            over: false,
        };
        game.finish_if_empty();
        Ok(game)
    }

    fn state(&self) -> impl Serialize + '_ {
        self
    }

    fn write_state(&self, out: &mut Vec<u8>) {
        let write_counts = |out: &mut Vec<u8>, counts: &[u8]| {
            for (index, &count) in counts.iter().enumerate() {
                out.push(if index == 0 { b'[' } else { b',' });
                if count >= 10 {
                    out.push(b'0' + count / 10);
                }
                out.push(b'0' + count % 10);
            }
            out.push(b']');
        };
        out.extend_from_slice(b"{\"pits\":[");
        write_counts(out, &self.pits[0]);
        out.push(b',');
        write_counts(out, &self.pits[1]);
        out.extend_from_slice(b"],\"stores\":");
        write_counts(out, &self.stores);
        out.extend_from_slice(if self.turn == 0 {
            b",\"turn\":0}"
        } else {
            b",\"turn\":1}"
        });
    }

    // ---- Legal moves --------------------------------------------------------------------------------------------

    fn to_act(&self) -> ToAct {
        if self.over {
            ToAct::Over
        } else {
            ToAct::Seat(self.seat(), Ask::Move)
        }
    }

    fn legal(&self, moves: &mut Vec<u8>) {
        moves.clear();
        if self.over {
            return;
        }
        let pits = &self.pits[self.seat()];
        moves.extend((1..=PITS as u8).filter(|&pit| pits[usize::from(pit) - 1] > 0));
    }

    fn parse(&self, answer: &Value) -> Result<u8, Refusal> {
        super::small_int(answer)
            .filter(|pit| (1..=PITS as i64).contains(pit))
            .map(|pit| pit as u8)
            .ok_or_else(|| {
                Refusal::new(format!(
                    "a move is a pit number from 1 to 6, not {}",
                    super::cut(answer)
                ))
            })
    }

    // ---- Applying a move ----------------------------------------------------------------------------------------

    fn apply(&mut self, &pit: &u8) -> Result<(), Refusal> {
        if self.over {
            return Err(Refusal::new("the game is over"));
        }
        let me = self.seat();
        let from = usize::from(pit) - 1;
        if self.pits[me][from] == 0 {
            return Err(Refusal::new(format!(
                "pit {pit} is empty (rule 1: a move names a non-empty own pit)"
            )));
        }
        let last = self.sow(me, from);
        let again = last == PITS;
        if last < PITS {
            self.capture_opposite(me, last);
        } else if last > PITS {
            self.capture_even(me, last - PITS - 1);
        }
        if !again {
            self.turn = 1 - self.turn;
        }
        self.finish_if_empty();
        Ok(())
    }

    // ---- End and score ------------------------------------------------------------------------------------------

    fn outcome(&self) -> Option<Outcome> {
        self.over
            .then(|| Outcome::by_points(self.points(), "pits_empty"))
    }

    fn forfeit(&self, seat: Seat) -> Outcome {
        Outcome::win(1 - seat, self.points(), super::FORFEIT)
    }

    // ---- Series -------------------------------------------------------------------------------------------------

    fn plays_over(options: &MangalaOptions, outcome: &Outcome, again: u32) -> bool {
        options.rematch_on_draw
            && outcome.winner.is_none()
            && outcome.reason != super::FORFEIT
            && again < REMATCHES
    }

    fn series(options: &MangalaOptions, played: &[Outcome]) -> Series {
        // Rule 7: all sets are played.
        Series::of_games(options.sets, played)
    }

    // ---- Board text ---------------------------------------------------------------------------------------------

    fn board(&self) -> String {
        board_text(self.pits, self.stores)
    }

    fn perft(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if self.over {
            return 0;
        }
        let pits = self.pits[self.seat()];
        (1..=PITS as u8)
            .filter(|&pit| pits[usize::from(pit) - 1] > 0)
            .map(|pit| {
                let mut next = *self;
                next.apply(&pit).map_or(0, |()| next.perft(depth - 1))
            })
            .sum()
    }
}

/// Two rows of pits and the stores between them, seat 0 below.
pub(super) fn board_text(pits: [[u8; PITS]; 2], stores: [u8; 2]) -> String {
    let row = |name: &str, cells: [u8; PITS]| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>4}")).collect();
        format!("{name:<11}{cells}\n")
    };
    let numbers = [1, 2, 3, 4, 5, 6];
    let turned = |mut cells: [u8; PITS]| {
        cells.reverse();
        cells
    };
    [
        row("seat 1", turned(numbers)),
        row("", turned(pits[1])),
        format!("{:>9}{:>30}\n", stores[1], stores[0]),
        row("", pits[0]),
        row("seat 0", numbers),
    ]
    .concat()
}

impl Mangala {
    fn points(&self) -> [u32; 2] {
        self.stores.map(u32::from)
    }

    /// Rule 1. Returns the place of the last stone on the mover's track: 0 to 5 its own pits, 6 its treasury, 7 to 12
    /// the opponent's pits.
    fn sow(&mut self, me: Seat, from: usize) -> usize {
        let stones = usize::from(self.pits[me][from]);
        // The first of several stones goes back into the pit; a single one moves on.
        let first = if stones == 1 { from + 1 } else { from };
        self.pits[me][from] = 0;
        let mut place = first;
        for step in 0..stones {
            place = (first + step) % TRACK;
            *self.place(me, place) += 1;
        }
        place
    }

    fn place(&mut self, me: Seat, place: usize) -> &mut u8 {
        match place {
            0..PITS => &mut self.pits[me][place],
            PITS => &mut self.stores[me],
            _ => &mut self.pits[1 - me][place - PITS - 1],
        }
    }

    /// Rule 3.
    fn capture_even(&mut self, me: Seat, pit: usize) {
        let count = self.pits[1 - me][pit];
        if count.is_multiple_of(2) {
            self.pits[1 - me][pit] = 0;
            self.stores[me] += count;
        }
    }

    /// Rule 4. A pit with exactly one stone after the sowing was empty before its last stone, and got no other.
    fn capture_opposite(&mut self, me: Seat, pit: usize) {
        let opposite = self.pits[1 - me][PITS - 1 - pit];
        if self.pits[me][pit] == 1 && opposite > 0 {
            self.pits[1 - me][PITS - 1 - pit] = 0;
            self.pits[me][pit] = 0;
            self.stores[me] += opposite + 1;
        }
    }

    /// Rule 5.
    fn finish_if_empty(&mut self) {
        for seat in 0..2 {
            if self.pits[seat].iter().all(|&count| count == 0) {
                let rest: u8 = self.pits[1 - seat].iter().sum();
                self.pits[1 - seat] = [0; PITS];
                self.stores[seat] += rest;
                self.over = true;
            }
        }
    }
}

// ---- Tests ------------------------------------------------------------------------------------------------------

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A position from the pits of both seats; what is missing to 48 stones lies in seat 1's treasury.
    fn position(mine: [u8; PITS], theirs: [u8; PITS], store: u8, turn: Seat) -> Mangala {
        let stones: u8 = mine.iter().chain(&theirs).sum::<u8>() + store;
        let state = json!({"pits": [mine, theirs], "stores": [store, 48 - stones], "turn": turn});
        read(&state).expect("a position")
    }

    fn read(state: &Value) -> Result<Mangala, String> {
        Mangala::read(&MangalaOptions::default(), state)
    }

    fn played(mut game: Mangala, pit: u8) -> Mangala {
        game.apply(&pit).expect("a legal move");
        game
    }

    fn start() -> Mangala {
        Mangala::start(&MangalaOptions::default(), &Setup::SINGLE)
    }

    #[test]
    fn rule_1_the_first_stone_goes_back_into_its_pit() {
        let game = played(start(), 2);
        assert_eq!(game.pits, [[4, 1, 5, 5, 5, 4], [4; 6]]);
        assert_eq!((game.stores, game.turn), ([0, 0], 1));
    }

    #[test]
    fn rule_1_sowing_runs_through_the_own_treasury_into_the_opponents_pits() {
        let game = played(start(), 6);
        assert_eq!(game.pits, [[4, 4, 4, 4, 4, 1], [5, 5, 4, 4, 4, 4]]);
        assert_eq!((game.stores, game.turn), ([1, 0], 1));
    }

    #[test]
    fn rule_1_a_lone_stone_moves_on_and_leaves_its_pit_empty() {
        let game = played(position([1, 3, 0, 0, 0, 0], [1; 6], 0, 0), 1);
        assert_eq!(game.pits[0], [0, 4, 0, 0, 0, 0]);
    }

    #[test]
    fn rule_1_a_long_sowing_leaves_out_the_opponents_treasury() {
        // Fourteen stones from pit 1: one back into it, one on each of the twelve other places, the last into it again.
        let game = played(position([14, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], 3, 0), 1);
        assert_eq!(game.pits, [[2, 1, 1, 1, 1, 1], [2, 1, 1, 1, 1, 1]]);
        assert_eq!((game.stores, game.turn), ([4, 30], 1));
    }

    #[test]
    fn rule_1_an_empty_pit_is_no_move() {
        let mut game = position([0, 3, 0, 0, 0, 0], [1; 6], 0, 0);
        let before = game;
        assert!(
            game.apply(&1)
                .is_err_and(|refusal| refusal.message.contains("empty"))
        );
        assert_eq!(game, before);
    }

    #[test]
    fn rule_2_a_last_stone_in_the_own_treasury_gives_another_move() {
        assert_eq!(played(start(), 4).turn, 0);
        // A lone stone of pit 6 gets there as well.
        assert_eq!(
            played(position([2, 0, 0, 0, 0, 1], [1; 6], 0, 0), 6).turn,
            0
        );
    }

    #[test]
    fn rule_3_an_even_count_in_the_last_opposing_pit_is_taken() {
        let game = played(position([1, 0, 0, 0, 0, 3], [3, 0, 0, 0, 0, 1], 0, 0), 6);
        assert_eq!(game.pits, [[1, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1]]);
        assert_eq!((game.stores[0], game.turn), (5, 1));
    }

    #[test]
    fn rule_3_two_is_even_and_three_is_not() {
        let game = played(position([1, 0, 0, 0, 0, 3], [1, 0, 0, 0, 0, 1], 0, 0), 6);
        assert_eq!((game.pits[1][0], game.stores[0]), (0, 3));
        let game = played(position([1, 0, 0, 0, 0, 3], [2, 0, 0, 0, 0, 1], 0, 0), 6);
        assert_eq!((game.pits[1][0], game.stores[0]), (3, 1));
    }

    #[test]
    fn rule_3_only_the_last_pit_counts() {
        // Pit 1 becomes 4 on the way, pit 2 becomes 3: nothing is taken.
        let game = played(position([1, 0, 0, 0, 0, 4], [3, 2, 0, 0, 0, 1], 0, 0), 6);
        assert_eq!(game.pits[1], [4, 3, 0, 0, 0, 1]);
        assert_eq!(game.stores[0], 1);
    }

    #[test]
    fn rule_3_an_own_pit_that_becomes_even_stays() {
        let game = played(position([2, 3, 0, 0, 0, 0], [1; 6], 0, 0), 1);
        assert_eq!(game.pits, [[1, 4, 0, 0, 0, 0], [1; 6]]);
        assert_eq!(game.stores[0], 0);
    }

    #[test]
    fn rule_4_a_last_stone_in_an_empty_own_pit_takes_the_opposite_one() {
        // Pit 3 faces the opponent's pit 4.
        let game = played(position([2, 2, 0, 0, 0, 0], [1, 0, 0, 5, 0, 0], 0, 0), 2);
        assert_eq!(game.pits, [[2, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]);
        assert_eq!((game.stores[0], game.turn), (6, 1));
    }

    #[test]
    fn rule_4_an_empty_opposite_pit_gives_nothing() {
        let game = played(position([2, 2, 0, 0, 0, 0], [1, 0, 0, 0, 5, 0], 0, 0), 2);
        assert_eq!(game.pits[0], [2, 1, 1, 0, 0, 0]);
        assert_eq!((game.stores[0], game.turn), (0, 1));
    }

    #[test]
    fn rule_4_thirteen_stones_come_round_to_an_empty_pit() {
        // Thirteen from pit 2 end in pit 1, empty until then; the opposite pit 6 got a stone from the same sowing.
        let game = played(position([0, 13, 0, 0, 0, 0], [1, 0, 0, 0, 0, 2], 0, 0), 2);
        assert_eq!(game.pits, [[0, 1, 1, 1, 1, 1], [2, 1, 1, 1, 1, 0]]);
        assert_eq!((game.stores[0], game.turn), (1 + 1 + 3, 1));
    }

    #[test]
    fn rule_4_a_pit_that_the_same_sowing_filled_is_not_empty() {
        // Fifteen from pit 2 reach pit 3 twice: it was empty before the move, not before its last stone.
        let game = played(position([0, 15, 0, 0, 0, 0], [0, 0, 0, 7, 0, 0], 0, 0), 2);
        assert_eq!(game.pits, [[1, 2, 2, 1, 1, 1], [1, 1, 1, 8, 1, 1]]);
        assert_eq!(game.stores[0], 1);
    }

    #[test]
    fn rule_5_a_mover_who_runs_out_takes_what_is_left() {
        // The last stone reaches the treasury, but rule 2 gives no move after the end.
        let game = played(position([0, 0, 0, 0, 0, 1], [0, 3, 0, 0, 2, 0], 20, 0), 6);
        assert_eq!((game.pits, game.stores), ([[0; 6]; 2], [26, 22]));
        assert_eq!(game.to_act(), ToAct::Over);
    }

    #[test]
    fn rule_5_an_opponent_whose_last_stones_were_taken_gets_the_movers() {
        let game = played(position([2, 2, 0, 0, 0, 0], [0, 0, 0, 5, 0, 0], 20, 0), 2);
        assert_eq!((game.pits, game.stores), ([[0; 6]; 2], [26, 22]));
        assert_eq!(game.to_act(), ToAct::Over);
    }

    #[test]
    fn rule_5_two_empty_sides_leave_nothing_to_take() {
        let game = played(position([0, 1, 0, 0, 0, 0], [0, 0, 0, 5, 0, 0], 20, 0), 2);
        assert_eq!((game.pits, game.stores), ([[0; 6]; 2], [26, 22]));
    }

    #[test]
    fn rule_6_more_stones_win_and_24_all_is_a_draw() {
        let last = |store| {
            played(
                position([0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0], store, 0),
                6,
            )
        };
        assert_eq!(
            last(30).outcome().and_then(|outcome| outcome.winner),
            Some(0)
        );
        assert_eq!(
            last(10).outcome().and_then(|outcome| outcome.winner),
            Some(1)
        );
        let draw = last(22).outcome().expect("over");
        assert_eq!((draw.winner, draw.points), (None, vec![24, 24]));
    }

    #[test]
    fn rule_6_a_drawn_set_is_replayed_at_most_three_times_if_asked_for() {
        let draw = Outcome::by_points([24, 24], "pits_empty");
        let win = Outcome::by_points([25, 23], "pits_empty");
        let asked = MangalaOptions {
            rematch_on_draw: true,
            ..MangalaOptions::default()
        };
        assert!(!Mangala::plays_over(&MangalaOptions::default(), &draw, 0));
        assert!(!Mangala::plays_over(&asked, &win, 0));
        let replays = (0..9).filter(|&again| Mangala::plays_over(&asked, &draw, again));
        assert_eq!(replays.count(), 3);
        // The other seat begins the return game.
        let setup = Setup {
            again: 1,
            ..Setup::SINGLE
        };
        assert_eq!(Mangala::start(&asked, &setup).seat(), 1);
    }

    #[test]
    fn rule_7_the_first_move_alternates_and_a_drawn_set_counts_half() {
        let options = MangalaOptions {
            sets: 3,
            ..MangalaOptions::default()
        };
        let draw = Outcome::by_points([24, 24], "pits_empty");
        let win = Outcome::by_points([20, 28], "pits_empty");
        let mut sets = Vec::new();
        for (first, over) in [(1, false), (0, false), (1, false), (0, true)] {
            let setup = Setup {
                played: &sets,
                lot: 1,
                ..Setup::SINGLE
            };
            assert_eq!(Mangala::start(&options, &setup).seat(), first);
            assert_eq!(Mangala::series(&options, &sets).over, over);
            sets.push(if sets.is_empty() {
                draw.clone()
            } else {
                win.clone()
            });
        }
        assert_eq!(Mangala::series(&options, &sets[..3]).score, [0.5, 2.5]);
    }

    #[test]
    fn a_forfeit_keeps_the_stones_where_they_are() {
        let outcome = position([1; 6], [2; 6], 25, 0).forfeit(0);
        assert_eq!((outcome.winner, outcome.points), (Some(1), vec![25, 5]));
        assert_eq!(outcome.reason, crate::game::FORFEIT);
    }

    #[test]
    fn a_state_that_cannot_be_is_refused_in_words() {
        let (four, many) = ([4; PITS], [255; PITS]);
        let good = json!({"pits": [four, four], "stores": [0, 0], "turn": 0});
        assert_eq!(read(&good), Ok(start()));
        for (key, value, words) in [
            ("pits", json!([four]), "pits"),
            ("pits", json!([four, [4, 4, 4, 4, 4]]), "six"),
            ("pits", json!([four, [4, 4, 4, 4, 4, 5]]), "49"),
            ("pits", json!([four, [4, 4, 4, 4, 9, -1]]), "-1"),
            ("pits", json!([many, four]), "1554"),
            ("stores", json!([0, 0, 0]), "stores"),
            ("stores", json!("0"), "stores"),
            ("turn", json!(2), "seat"),
            ("turn", json!(null), "turn"),
        ] {
            let mut state = good.clone();
            state[key] = value;
            let refused = read(&state).expect_err("no position");
            assert!(refused.contains(words), "{state}: {refused}");
        }
    }

    #[test]
    fn a_state_with_an_empty_side_is_over() {
        let game = position([0; 6], [0, 0, 4, 0, 0, 0], 20, 1);
        assert_eq!((game.to_act(), game.stores), (ToAct::Over, [24, 24]));
        let mut moves = vec![3];
        game.legal(&mut moves);
        assert!(moves.is_empty());
    }

    #[test]
    fn the_board_shows_seat_0_below() {
        let game = position([1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 0], 3, 0);
        insta::assert_snapshot!(game.board(), @r"
        seat 1        6   5   4   3   2   1
                      0   2   3   4   5   6
                4                             3
                      1   2   3   4   5   6
        seat 0        1   2   3   4   5   6
        ");
    }

    #[test]
    fn a_state_is_written_by_hand_as_its_types_write_it() {
        for stones in [0, 9, 10, 48] {
            let game = Mangala {
                pits: [[stones, 1, 2, 3, 4, 5], [6; 6]],
                stores: [stones, 7],
                turn: 1,
                over: false,
            };
            let mut by_hand = Vec::new();
            game.write_state(&mut by_hand);
            assert_eq!(by_hand, serde_json::to_vec(&game).expect("plain data"));
        }
    }
}
