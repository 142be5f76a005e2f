//! Oware (Awale). Two seats, six houses each, 48 seeds.
//!
//! Rulings: at a cycle each seat takes the seeds on its own side; an endless game is ended after `max_plies` moves and
//! scored in the same way.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::strict::in_words;

use super::{Ask, Facts, Game, Options, Outcome, Refusal, RulesError, Seat, Series, Setup, ToAct};

/// Houses of a seat.
const HOUSES: usize = 6;
/// Seeds in play.
const SEEDS: usize = 48;
/// More than half of the seeds.
const MAJORITY: u8 = 25;
/// A position without a capture comes back after so many moves at the soonest: a house that gets a seed must be sown to
/// be as it was, which brings a seed to the next house, and so all the way round.
const SHORTEST_CYCLE: usize = 2 * HOUSES;

// ---- Options ----------------------------------------------------------------------------------------------------

/// The options of Oware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OwareOptions {
    /// Occurrences of a position that end the game (rule 5).
    pub cycle_repetitions: u32,
    /// Whether 25 seeds end the game (rule 6).
    pub stop_when_decided: bool,
    /// Moves after which the game is ended.
    pub max_plies: u32,
}

impl Default for OwareOptions {
    fn default() -> Self {
        OwareOptions {
            cycle_repetitions: 2,
            stop_when_decided: false,
            max_plies: 1000,
        }
    }
}

impl Options for OwareOptions {
    fn check(&self) -> Result<(), RulesError> {
        let within = |key: &str, value: u32, least: u32, most: u32, what: &str| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(RulesError {
                key: key.into(),
                message: format!("{value} is not {what}; {least} to {most} are possible"),
            })
        };
        let occurrences = "a number of occurrences that makes a cycle";
        within(
            "cycle_repetitions",
            self.cycle_repetitions,
            2,
            1000,
            occurrences,
        )?;
        within(
            "max_plies",
            self.max_plies,
            1,
            1_000_000,
            "a number of moves",
        )
    }
}

// ---- Position ---------------------------------------------------------------------------------------------------

/// One seat's seeds, a byte for each place: its houses from left to right in the six lowest bytes, then its store.
type Side = u64;

/// A one in the byte of each house.
const EACH_HOUSE: Side = 0x0000_0101_0101_0101;
/// All bits of the houses.
const ALL_HOUSES: Side = 0xff * EACH_HOUSE;
/// The highest bit of each house; no count reaches it.
const MARKS: Side = 0x80 * EACH_HOUSE;
/// The lowest bit of the store.
const STORE: u32 = 8 * HOUSES as u32;

/// The seeds in all houses of a side, or of a part of them.
fn seeds(side: Side) -> u64 {
    // The highest byte of the product is the sum of all bytes.
    (side & ALL_HOUSES).wrapping_mul(0x0101_0101_0101_0101) >> 56
}

/// Marks the houses that hold at least so many seeds, 1 to 128.
const fn marks_of(side: Side, least: u64) -> Side {
    ((side & ALL_HOUSES) + (128 - least) * EACH_HOUSE) & MARKS
}

/// The numbers of marked houses, 1 to 6, in ascending order.
fn each(marks: Side) -> impl Iterator<Item = u8> {
    super::bits(marks).map(|bit| bit as u8 / 8 + 1)
}

/// Houses, stores and the seat on turn: all that rules 1 to 4 need, and small enough for a search to copy. What a game
/// remembers besides (rule 5) is in [`Oware`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    /// The side of the seat on turn.
    own: Side,
    /// The side of its opponent.
    other: Side,
    turn: u8,
}

impl Board {
    fn new(sides: [Side; 2], turn: u8) -> Board {
        let [own, other] = if turn == 0 {
            sides
        } else {
            [sides[1], sides[0]]
        };
        Board { own, other, turn }
    }

    /// The seat on turn.
    pub fn turn(&self) -> Seat {
        usize::from(self.turn)
    }

    fn side(&self, seat: Seat) -> Side {
        if seat == self.turn() {
            self.own
        } else {
            self.other
        }
    }

    /// The seeds in a seat's houses, from its left to its right.
    pub fn houses(&self, seat: Seat) -> [u8; HOUSES] {
        let bytes = self.side(seat).to_le_bytes();
        std::array::from_fn(|house| bytes[house])
    }

    /// The seeds in a seat's store.
    pub fn store(&self, seat: Seat) -> u8 {
        self.side(seat).to_le_bytes()[HOUSES]
    }

    /// The seeds in a seat's houses together.
    pub fn on_side(&self, seat: Seat) -> u8 {
        seeds(self.side(seat)) as u8
    }

    /// Whether the seat on turn has no seed to play (rule 4).
    pub fn is_starved(&self) -> bool {
        self.own & ALL_HOUSES == 0
    }

    /// Every seat takes the seeds on its own side.
    fn take_own_sides(&mut self) {
        for side in [&mut self.own, &mut self.other] {
            *side = (*side & !ALL_HOUSES) + (seeds(*side) << STORE);
        }
    }
}

/// Why a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    NoSeeds,
    Cycle,
    Decided,
    PlyCap,
}

impl End {
    fn reason(self) -> &'static str {
        match self {
            End::NoSeeds => "no_seeds",
            End::Cycle => "cycle",
            End::Decided => "decided",
            End::PlyCap => "ply_cap",
        }
    }
}

/// A position of Oware, with what the game remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oware {
    board: Board,
    end: Option<End>,
    /// Moves played.
    plies: u32,
    options: OwareOptions,
    /// The positions since the last capture, the present one included: that of the seat on turn, then its opponent's.
    /// None of the positions before a capture can come back, because the stores belong to a position.
    since_capture: Vec<[Side; 2]>,
}

impl Oware {
    fn new(options: &OwareOptions, board: Board) -> Oware {
        let mut game = Oware {
            board,
            end: None,
            plies: 0,
            options: options.clone(),
            since_capture: Vec::with_capacity(256),
        };
        game.since_capture.push([board.own, board.other]);
        game
    }

    /// Houses, stores and the seat on turn.
    pub fn position(&self) -> &Board {
        &self.board
    }

    fn seat(&self) -> Seat {
        self.board.turn()
    }
}

// ---- Setup and JSON ---------------------------------------------------------------------------------------------

/// The state as messages carry it.
#[derive(Deserialize)]
struct StateIn {
    pits: [[u8; HOUSES]; 2],
    stores: [u8; 2],
    turn: u8,
}

impl Serialize for Oware {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut state = serializer.serialize_struct("Oware", 3)?;
        state.serialize_field("pits", &self.houses())?;
        state.serialize_field("stores", &self.stores())?;
        state.serialize_field("turn", &self.board.turn)?;
        state.end()
    }
}

impl Game for Oware {
    type Options = OwareOptions;
    /// A house, 1 to 6.
    type Move = u8;

    const FACTS: &'static Facts = &Facts {
        name: "oware",
        title: "Oware",
        min_seats: 2,
        max_seats: 2,
        points: "seeds in the store",
        points_a_game: false,
        wins: &[],
        match_fields: &[],
        chance: false,
        explicit_pass: false,
    };

    fn start(options: &OwareOptions, setup: &Setup<'_>) -> Oware {
        let first = (setup.lot % 2) as u8;
        Oware::new(options, Board::new([4 * EACH_HOUSE; 2], first))
    }

    fn read(options: &OwareOptions, state: &Value) -> Result<Oware, String> {
        let state = StateIn::deserialize(state).map_err(|error| {
            format!(
                "a state has pits (two lists of six counts), stores (two counts) and turn: {}",
                in_words(&error)
            )
        })?;
        if state.turn > 1 {
            return Err(format!("turn is a seat, 0 or 1, not {}", state.turn));
        }
        let seeds: usize = state
            .pits
            .iter()
            .flatten()
            .chain(&state.stores)
            .map(|&count| usize::from(count))
            .sum();
        if seeds != SEEDS {
            return Err(format!(
                "pits and stores hold {seeds} seeds; there are {SEEDS}"
            ));
        }
        let side = |seat: Seat| {
            let [a, b, c, d, e, f] = state.pits[seat];
            Side::from_le_bytes([a, b, c, d, e, f, state.stores[seat], 0])
        };
        let board = Board::new([side(0), side(1)], state.turn);
        let mut game = Oware::new(options, board);
        game.end_by_seeds();
        Ok(game)
    }

    fn state(&self) -> impl Serialize + '_ {
        self
    }

    // ---- Legal moves --------------------------------------------------------------------------------------------

    fn to_act(&self) -> ToAct {
        if self.end.is_some() {
            ToAct::Over
        } else {
            ToAct::Seat(self.seat(), Ask::Move)
        }
    }

    fn legal(&self, moves: &mut Vec<u8>) {
        moves.clear();
        if self.end.is_none() {
            moves.extend(self.board.legal());
        }
    }

    fn parse(&self, answer: &Value) -> Result<u8, Refusal> {
        super::small_int(answer)
            .filter(|house| (1..=HOUSES as i64).contains(house))
            .map(|house| house as u8)
            .ok_or_else(|| {
                Refusal::new(format!(
                    "a move is a house number from 1 to 6, not {}",
                    super::cut(answer)
                ))
            })
    }

    // ---- Applying a move ----------------------------------------------------------------------------------------

    fn apply(&mut self, &house: &u8) -> Result<(), Refusal> {
        if self.end.is_some() {
            return Err(Refusal::new("the game is over"));
        }
        let after = self
            .board
            .after(house)
            .ok_or_else(|| Refusal::new(format!("house {house} is empty (rule 1)")))?;
        if after.is_starved() {
            self.board.may_starve(house)?;
        }
        if self.board.captures_into(&after) {
            self.since_capture.clear();
        }
        self.since_capture.push([after.own, after.other]);
        self.board = after;
        self.plies += 1;
        self.end_by_seeds();
        if self.end.is_none() {
            self.end_by_length();
        }
        Ok(())
    }

    // ---- End and score ------------------------------------------------------------------------------------------

    fn outcome(&self) -> Option<Outcome> {
        self.end
            .map(|end| Outcome::by_points(self.points(), end.reason()))
    }

    fn forfeit(&self, seat: Seat) -> Outcome {
        Outcome::win(1 - seat, self.points(), super::FORFEIT)
    }

    // ---- Series -------------------------------------------------------------------------------------------------

    fn series(_options: &OwareOptions, played: &[Outcome]) -> Series {
        Series::of_games(1, played)
    }

    // ---- Board text ---------------------------------------------------------------------------------------------

    fn board(&self) -> String {
        super::mangala::board_text(self.houses(), self.stores())
    }

    fn perft(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if self.end.is_some() {
            return 0;
        }
        let moves = self.board.legal();
        if depth == 1 {
            // Whatever the last move brings, it is a path.
            return moves.count() as u64;
        }
        moves
            .map(|house| {
                let mut next = self.clone();
                next.apply(&house).map_or(0, |()| next.perft(depth - 1))
            })
            .sum()
    }
}

impl Oware {
    fn houses(&self) -> [[u8; HOUSES]; 2] {
        [0, 1].map(|seat| self.board.houses(seat))
    }

    fn stores(&self) -> [u8; 2] {
        [0, 1].map(|seat| self.board.store(seat))
    }

    fn points(&self) -> [u32; 2] {
        self.stores().map(u32::from)
    }

    /// Rules 6 and 4, in this order: a decided game ends right after the capture.
    fn end_by_seeds(&mut self) {
        let decided = (0..2).any(|seat| self.board.store(seat) >= MAJORITY);
        if self.options.stop_when_decided && decided {
            self.end = Some(End::Decided);
        } else if self.board.is_starved() {
            // The opponent takes every seed, all of which are on its side.
            self.board.take_own_sides();
            self.end = Some(End::NoSeeds);
        }
    }

    /// Rule 5, and the limit of moves.
    fn end_by_length(&mut self) {
        if self.occurrences() >= self.options.cycle_repetitions {
            self.end = Some(End::Cycle);
        } else if self.plies >= self.options.max_plies {
            self.end = Some(End::PlyCap);
        }
        if self.end.is_some() {
            self.board.take_own_sides();
        }
    }

    /// How often the position has occurred, now included.
    fn occurrences(&self) -> u32 {
        // Back from the soonest that can be the same, with the same seat on turn.
        let earlier = self.since_capture.iter().rev().skip(SHORTEST_CYCLE);
        let present = [self.board.own, self.board.other];
        1 + earlier
            .step_by(2)
            .filter(|&&sides| sides == present)
            .count() as u32
    }
}

// ---- Sowing -----------------------------------------------------------------------------------------------------

/// What the sowing of a house brings.
#[derive(Clone, Copy)]
struct Sowing {
    /// The seeds that are added to the houses of the mover.
    own: Side,
    /// The seeds that are added to the houses of the opponent.
    other: Side,
    /// All bits of the opponent's houses up to the last seed's; none if it fell on the mover's side.
    reach: Side,
}

/// Rule 1: the sowing of every house (index 0 to 5) with every number of seeds.
static SOWINGS: [[Sowing; SEEDS + 1]; HOUSES] = {
    let none = Sowing {
        own: 0,
        other: 0,
        reach: 0,
    };
    let mut all = [[none; SEEDS + 1]; HOUSES];
    let mut house = 0;
    while house < HOUSES {
        let (mut sowing, mut place, mut seeds) = (none, house, 1);
        while seeds <= SEEDS {
            place = (place + 1) % (2 * HOUSES);
            if place == house {
                // Skipped on every lap.
                place += 1;
            }
            if place < HOUSES {
                sowing.own += 1 << (8 * place);
                sowing.reach = 0;
            } else {
                let theirs = place - HOUSES;
                sowing.other += 1 << (8 * theirs);
                sowing.reach = (1 << (8 * (theirs + 1))) - 1;
            }
            all[house][seeds] = sowing;
            seeds += 1;
        }
        house += 1;
    }
    all
};

/// Rule 2: the seeds that are captured from this side, each in its place.
fn captured(side: Side, reach: Side) -> Side {
    // 2 and 3 differ in their lowest bit alone.
    let neither = marks_of((side ^ (2 * EACH_HOUSE)) & !EACH_HOUSE, 1);
    // The chain begins above the highest such house in reach.
    let begin = Side::BITS - (neither & reach).leading_zeros();
    side & reach & (Side::MAX << begin)
}

impl Board {
    /// The position after this house (1 to 6) was sown, by rules 1 and 2 alone; `None` if it is empty or none of the
    /// six.
    pub fn after(&self, house: u8) -> Option<Board> {
        let from = usize::from(house).wrapping_sub(1);
        if from >= HOUSES {
            return None;
        }
        let count = (self.own >> (8 * from)) & 0xff;
        if count == 0 {
            return None;
        }
        let sowing = &SOWINGS[from][count as usize];
        let other = self.other + sowing.other;
        let taken = captured(other, sowing.reach);
        let own = self.own - (count << (8 * from)) + sowing.own + (seeds(taken) << STORE);
        Some(Board {
            own: other - taken,
            other: own,
            turn: self.turn ^ 1,
        })
    }

    /// Whether the move to this position captured.
    fn captures_into(&self, after: &Board) -> bool {
        self.own >> STORE != after.other >> STORE
    }

    /// The houses that may be played (rules 1 and 3), in ascending order.
    pub fn legal(&self) -> impl Iterator<Item = u8> + use<> {
        let filled = marks_of(self.own, 1);
        // A house of three or more is never emptied: if it gets no seed, then none of the chain.
        let legal = if marks_of(self.other, 3) != 0 {
            filled
        } else {
            match self.feeding(filled) {
                0 => filled,
                feeding => feeding,
            }
        };
        each(legal)
    }

    /// Of these houses those whose sowing leaves the opponent a seed.
    fn feeding(&self, filled: Side) -> Side {
        each(filled)
            .filter(|&house| self.after(house).is_some_and(|after| !after.is_starved()))
            .fold(0, |marks, house| marks | 0x80 << (8 * (house - 1)))
    }

    /// Rule 3, for a house whose sowing leaves the opponent without a seed.
    fn may_starve(&self, house: u8) -> Result<(), Refusal> {
        let feeding = self.feeding(marks_of(self.own, 1));
        let others: Vec<String> = each(feeding).map(|other| other.to_string()).collect();
        match others.split_last() {
            None => Ok(()),
            Some((last, first)) => {
                let list = if first.is_empty() {
                    last.clone()
                } else {
                    format!("{} and {last}", first.join(", "))
                };
                Err(Refusal::new(format!(
                    "house {house} would leave the opponent without seeds (rule 3), while {list} would not"
                )))
            }
        }
    }
}

// ---- Tests ------------------------------------------------------------------------------------------------------

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_with(options: &OwareOptions, state: &Value) -> Result<Oware, String> {
        Oware::read(options, state)
    }

    fn read(state: &Value) -> Result<Oware, String> {
        read_with(&OwareOptions::default(), state)
    }

    fn state(houses: [[u8; HOUSES]; 2], store: u8, turn: Seat) -> Value {
        let seeds: u8 = houses.iter().flatten().sum::<u8>() + store;
        json!({"pits": houses, "stores": [store, 48 - seeds], "turn": turn})
    }

    /// A position from the houses of both seats and the store of seat 0; what is missing to 48 is in seat 1's store.
    fn position(mine: [u8; HOUSES], theirs: [u8; HOUSES], store: u8, turn: Seat) -> Oware {
        read(&state([mine, theirs], store, turn)).expect("a position")
    }

    fn start() -> Oware {
        Oware::start(&OwareOptions::default(), &Setup::SINGLE)
    }

    fn played(mut game: Oware, houses: &[u8]) -> Oware {
        for house in houses {
            game.apply(house).expect("a legal move");
        }
        game
    }

    fn legal(game: &Oware) -> Vec<u8> {
        let mut moves = vec![9];
        game.legal(&mut moves);
        moves
    }

    fn refusal(game: &Oware, house: u8) -> String {
        let mut tried = game.clone();
        let refusal = tried.apply(&house).expect_err("not legal");
        assert_eq!(&tried, game);
        refusal.message
    }

    fn ended(game: &Oware) -> (Option<Seat>, Vec<u32>, &'static str) {
        assert_eq!(game.to_act(), ToAct::Over);
        assert_eq!(legal(game), [0; 0]);
        let outcome = game.outcome().expect("over");
        (outcome.winner, outcome.points, outcome.reason)
    }

    #[test]
    fn rule_1_the_first_seed_goes_to_the_next_house() {
        let game = played(start(), &[3]);
        assert_eq!(game.houses(), [[4, 4, 0, 5, 5, 5], [5, 4, 4, 4, 4, 4]]);
        assert_eq!((game.stores(), game.seat()), ([0, 0], 1));
    }

    #[test]
    fn rule_1_seat_1_sows_into_the_houses_of_seat_0() {
        let setup = Setup {
            lot: 1,
            ..Setup::SINGLE
        };
        let game = played(Oware::start(&OwareOptions::default(), &setup), &[6]);
        assert_eq!(game.houses(), [[5, 5, 5, 5, 4, 4], [4, 4, 4, 4, 4, 0]]);
    }

    #[test]
    fn rule_1_eleven_seeds_end_before_their_house_and_twelve_beyond_it() {
        let theirs = [4, 4, 5, 4, 5, 1];
        let game = played(position([1, 0, 11, 1, 0, 2], theirs, 5, 0), &[3]);
        assert_eq!(game.houses(), [[2, 1, 0, 2, 1, 3], [5, 5, 6, 5, 6, 2]]);
        let game = played(position([1, 0, 12, 1, 0, 2], theirs, 5, 0), &[3]);
        assert_eq!(game.houses(), [[2, 1, 0, 3, 1, 3], [5, 5, 6, 5, 6, 2]]);
    }

    #[test]
    fn rule_1_the_house_is_skipped_on_every_lap() {
        // Forty-eight in house 1: four laps of eleven, and four more.
        let game = played(position([48, 0, 0, 0, 0, 0], [0; 6], 0, 0), &[1]);
        assert_eq!(game.houses(), [[0, 5, 5, 5, 5, 4], [4; 6]]);
    }

    #[test]
    fn rule_1_an_empty_house_is_no_move() {
        let game = position([0, 1, 3, 0, 4, 4], [5, 0, 3, 3, 2, 2], 10, 0);
        assert_eq!(legal(&game), [2, 3, 5, 6]);
        assert_eq!(refusal(&game, 1), "house 1 is empty (rule 1)");
        for none in [0, 7, 255] {
            assert!(game.clone().apply(&none).is_err());
        }
    }

    #[test]
    fn rule_2_two_and_three_are_captured_one_and_four_are_not() {
        for (before, after, gain) in [(0, 1, 0), (1, 0, 2), (2, 0, 3), (3, 4, 0)] {
            let mine = [1, 0, 2, 1, 1, 1];
            let game = played(position(mine, [before, 9, 1, 4, 3, 5], 11, 0), &[6]);
            assert_eq!(game.houses()[1][0], after);
            assert_eq!(game.stores()[0], 11 + gain);
        }
    }

    #[test]
    fn rule_2_the_chain_takes_each_house_before_it() {
        let game = position([1, 0, 2, 5, 1, 0], [2, 1, 1, 4, 3, 5], 11, 0);
        let game = played(game, &[4]);
        assert_eq!(game.houses(), [[1, 0, 2, 0, 2, 1], [0, 0, 0, 4, 3, 5]]);
        assert_eq!(game.stores(), [18, 12]);
    }

    #[test]
    fn rule_2_the_chain_stops_at_the_first_house_that_is_not_2_or_3() {
        let game = position([1, 0, 2, 1, 1, 4], [1, 5, 1, 1, 3, 5], 11, 0);
        let game = played(game, &[6]);
        assert_eq!(game.houses()[1], [2, 6, 0, 0, 3, 5]);
        assert_eq!(game.stores()[0], 15);
        // The last house itself is not 2 or 3: nothing is taken.
        let game = position([1, 0, 2, 1, 1, 3], [1, 2, 5, 1, 3, 5], 11, 0);
        let game = played(game, &[6]);
        assert_eq!(game.houses()[1], [2, 3, 6, 1, 3, 5]);
        assert_eq!(game.stores()[0], 11);
    }

    #[test]
    fn rule_2_own_houses_are_never_captured() {
        // The chain ends at the edge: houses 5 and 6 have 2 and 3, but they are the mover's.
        let game = played(
            position([1, 0, 2, 6, 1, 2], [1, 2, 1, 1, 3, 5], 11, 0),
            &[4],
        );
        assert_eq!(game.houses()[0], [1, 0, 2, 0, 2, 3]);
        assert_eq!(
            (game.houses()[1], game.stores()[0]),
            ([0, 0, 0, 0, 3, 5], 11 + 9)
        );
        // The last seed falls on the own side.
        let game = played(
            position([1, 1, 2, 1, 2, 2], [1, 2, 5, 1, 3, 5], 11, 0),
            &[1],
        );
        assert_eq!(
            (game.houses()[0], game.stores()[0]),
            ([0, 2, 2, 1, 2, 2], 11)
        );
    }

    #[test]
    fn rule_2_two_seeds_of_one_sowing_count_like_any() {
        // Twenty from house 6: the opponent's houses get one each, the own five too, then 1 to 6 again, and the last
        // three fall on the own houses 1 to 3.
        let game = position([0, 0, 0, 0, 0, 20], [0, 0, 5, 0, 0, 5], 5, 0);
        assert_eq!(played(game, &[6]).stores()[0], 5);
        // Thirteen end in the opponent's house 2, which was empty and now has 2, like house 1 before it.
        let game = position([0, 0, 0, 0, 0, 13], [0, 0, 5, 0, 0, 5], 5, 0);
        let game = played(game, &[6]);
        assert_eq!(game.houses(), [[1, 1, 1, 1, 1, 0], [0, 0, 6, 1, 1, 6]]);
        assert_eq!(game.stores()[0], 9);
    }

    #[test]
    fn rule_3_taking_all_is_illegal_while_another_move_leaves_a_seed() {
        let game = position([1, 0, 0, 0, 0, 2], [1, 1, 0, 0, 0, 0], 20, 0);
        assert_eq!(legal(&game), [1]);
        assert_eq!(
            refusal(&game, 6),
            "house 6 would leave the opponent without seeds (rule 3), while 1 would not"
        );
    }

    #[test]
    fn rule_3_taking_all_counts_in_full_if_nothing_else_is_left() {
        let game = position([0, 0, 0, 0, 0, 2], [1, 1, 0, 0, 0, 0], 20, 0);
        assert_eq!(legal(&game), [6]);
        assert_eq!(ended(&played(game, &[6])), (None, vec![24, 24], "no_seeds"));
        // What the mover has left on its side is taken by rule 4.
        let game = position([0, 0, 0, 0, 0, 20], [0, 0, 0, 0, 0, 0], 20, 0);
        assert_eq!(legal(&game), [6]);
    }

    #[test]
    fn rule_3_an_opponent_without_seeds_must_be_fed() {
        let game = position([1, 2, 3, 3, 1, 2], [0; 6], 20, 0);
        assert_eq!(legal(&game), [4, 6]);
        assert_eq!(
            refusal(&game, 2),
            "house 2 would leave the opponent without seeds (rule 3), while 4 and 6 would not"
        );
        let game = position([6, 2, 4, 3, 1, 2], [0; 6], 20, 0);
        assert!(refusal(&game, 2).ends_with("while 1, 3, 4 and 6 would not"));
        assert_eq!(refusal(&game, 7), "house 7 is empty (rule 1)");
    }

    #[test]
    fn rule_3_every_house_may_be_played_if_none_feeds() {
        let game = position([1, 0, 2, 1, 0, 0], [0; 6], 20, 0);
        assert_eq!(legal(&game), [1, 3, 4]);
    }

    #[test]
    fn rule_3_a_lap_that_takes_the_six_houses_it_has_just_filled_starves() {
        // Seventeen from house 6 fill all twelve places but its own, then the opponent's six again: two in each.
        let game = position([1, 0, 0, 0, 0, 17], [0, 1, 0, 0, 1, 0], 10, 0);
        assert_eq!(legal(&game), [1]);
        let game = position([0, 0, 0, 0, 0, 17], [0, 1, 0, 0, 1, 0], 10, 0);
        assert_eq!(legal(&game), [6]);
        let game = played(game, &[6]);
        // The capture of 14, then the five seeds on the own side.
        assert_eq!(ended(&game), (Some(0), vec![10 + 14 + 5, 19], "no_seeds"));
    }

    #[test]
    fn rule_4_a_seat_without_seeds_at_its_turn_ends_the_game() {
        let game = played(position([1, 0, 2, 1, 0, 0], [0; 6], 20, 0), &[3]);
        assert_eq!(game.houses(), [[0; 6]; 2]);
        assert_eq!(ended(&game), (None, vec![24, 24], "no_seeds"));
        let game = position([0; 6], [1, 0, 3, 0, 0, 2], 20, 0);
        assert_eq!(ended(&game), (Some(1), vec![20, 28], "no_seeds"));
        // The seat that is not on turn may be without seeds.
        assert_eq!(legal(&position([0; 6], [1, 0, 3, 0, 0, 2], 20, 1)), [6]);
    }

    /// Two seeds that go round the board until both are where they were.
    const ROUND: [u8; 12] = [2, 3, 3, 4, 4, 5, 5, 6, 6, 1, 1, 2];

    fn two_seeds(options: &OwareOptions) -> Oware {
        let houses = [[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]];
        read_with(options, &state(houses, 23, 0)).expect("a position")
    }

    #[test]
    fn rule_5_a_position_that_comes_back_ends_the_game() {
        let game = two_seeds(&OwareOptions::default());
        let before = played(game, &ROUND[..11]);
        assert_eq!(before.to_act(), ToAct::Seat(1, Ask::Move));
        let game = played(before, &ROUND[11..]);
        assert_eq!(game.houses(), [[0; 6]; 2]);
        assert_eq!(ended(&game), (None, vec![24, 24], "cycle"));
    }

    #[test]
    fn rule_5_as_many_occurrences_as_the_option_says() {
        let options = OwareOptions {
            cycle_repetitions: 4,
            ..OwareOptions::default()
        };
        let mut game = two_seeds(&options);
        for _ in 0..2 {
            game = played(game, &ROUND);
            assert_eq!(game.end, None);
        }
        assert_eq!(ended(&played(game, &ROUND)).2, "cycle");
    }

    #[test]
    fn rule_5_the_seat_on_turn_belongs_to_a_position() {
        let moves = [
            2, 2, 4, 3, 3, 4, 4, 5, 5, 6, 2, 1, 1, 2, 2, 3, 6, 4, 3, 5, 5, 6, 1, 1, 2, 2, 6, 3, 3,
            4, 4, 1, 6, 5, 5, 1, 6, 6, 1, 1, 2, 2, 3, 3, 4, 5, 5, 4, 6, 6, 1, 5, 2, 6, 4, 1, 5,
        ];
        let mut game = position([0, 1, 0, 1, 0, 0], [0, 2, 0, 0, 0, 0], 22, 1);
        let mut seen = Vec::new();
        for house in moves {
            seen.push((game.houses(), game.seat()));
            game = played(game, &[house]);
        }
        assert!(seen.contains(&(game.houses(), 1 - game.seat())));
        assert_eq!(game.to_act(), ToAct::Seat(0, Ask::Move));
    }

    #[test]
    fn rule_5_a_capture_forgets_what_was_before() {
        let game = position([0, 0, 0, 0, 0, 1], [1, 0, 0, 5, 0, 0], 20, 0);
        assert_eq!(played(game.clone(), &[6]).since_capture.len(), 1);
        let game = position([0, 0, 0, 0, 1, 1], [1, 0, 0, 5, 0, 0], 20, 0);
        assert_eq!(played(game, &[5, 4]).since_capture.len(), 3);
    }

    #[test]
    fn rule_6_the_game_goes_on_with_25_seeds_unless_the_option_stops_it() {
        let houses = [[1, 0, 2, 1, 1, 2], [4, 2, 1, 4, 3, 2]];
        let game = read(&state(houses, 22, 0)).expect("a position");
        assert_eq!(played(game, &[6]).outcome(), None);
        let stop = OwareOptions {
            stop_when_decided: true,
            ..OwareOptions::default()
        };
        let game = read_with(&stop, &state(houses, 22, 0)).expect("a position");
        let game = played(game, &[6]);
        assert_eq!(game.houses(), [[1, 0, 2, 1, 1, 0], [5, 0, 1, 4, 3, 2]]);
        assert_eq!(ended(&game), (Some(0), vec![25, 3], "decided"));
        // Twenty-four decide nothing.
        let game = read_with(&stop, &state(houses, 21, 0)).expect("a position");
        assert_eq!(played(game, &[6]).outcome(), None);
    }

    #[test]
    fn rule_6_a_decided_game_ends_before_rule_4_gives_anything() {
        let stop = OwareOptions {
            stop_when_decided: true,
            ..OwareOptions::default()
        };
        let houses = [[0, 0, 0, 0, 0, 2], [1, 1, 0, 0, 0, 0]];
        let game = read_with(&stop, &state(houses, 21, 0)).expect("a position");
        assert_eq!(
            ended(&played(game, &[6])),
            (Some(0), vec![25, 23], "decided")
        );
        let decided = read_with(&stop, &state([[0; 6], [1, 0, 0, 0, 0, 0]], 20, 0));
        assert_eq!(ended(&decided.expect("a position")).1, [20, 27]);
    }

    #[test]
    fn a_game_that_is_too_long_is_scored_like_a_cycle() {
        let options = OwareOptions {
            max_plies: 2,
            ..OwareOptions::default()
        };
        let game = played(Oware::start(&options, &Setup::SINGLE), &[1, 1]);
        assert_eq!(game.houses(), [[0; 6]; 2]);
        assert_eq!(ended(&game), (None, vec![24, 24], "ply_cap"));
        // A game that ends by its rules with its last move does so.
        let options = OwareOptions {
            max_plies: 12,
            ..OwareOptions::default()
        };
        let game = played(two_seeds(&options), &ROUND);
        assert_eq!(ended(&game).2, "cycle");
    }

    #[test]
    fn a_forfeit_keeps_the_seeds_where_they_are() {
        let outcome = position([1; 6], [2; 6], 25, 0).forfeit(0);
        assert_eq!((outcome.winner, outcome.points), (Some(1), vec![25, 5]));
        assert_eq!(outcome.reason, crate::game::FORFEIT);
    }

    #[test]
    fn options_that_cannot_be_are_refused() {
        for (options, key) in [
            (json!({"cycle_repetitions": 1}), "cycle_repetitions"),
            (json!({"cycle_repetitions": 1001}), "cycle_repetitions"),
            (json!({"max_plies": 0}), "max_plies"),
        ] {
            let options: OwareOptions = serde_json::from_value(options).expect("types fit");
            let refused = options.check().expect_err("impossible");
            assert_eq!(refused.key, key);
        }
    }

    #[test]
    fn a_state_that_cannot_be_is_refused_in_words() {
        let (four, many) = ([4; HOUSES], [255; HOUSES]);
        let good = json!({"pits": [four, four], "stores": [0, 0], "turn": 0});
        assert_eq!(read(&good), Ok(start()));
        for (key, value, words) in [
            ("pits", json!([four]), "pits"),
            ("pits", json!([four, [4, 4, 4, 4, 4, 4, 0]]), "six"),
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
}
