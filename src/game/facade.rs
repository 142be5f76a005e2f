//! Makes the object-safe [`Kind`], [`Ruleset`] and [`Position`] from a typed [`Game`].

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::strict::in_words;

use super::{
    Claim, ClockDefaults, Drawn, Facts, Game, Kind, Options, Outcome, Position, Race, Refusal,
    RulesError, Ruleset, Seat, Series, Setup, ToAct,
};

/// A typed game as a [`Kind`].
pub struct Typed<G>(PhantomData<fn() -> G>);

impl<G: Game> Typed<G> {
    /// The entry for [`super::GAMES`].
    pub const NEW: Typed<G> = Typed(PhantomData);
}

impl<G: Game> Kind for Typed<G> {
    fn facts(&self) -> &'static Facts {
        G::FACTS
    }

    fn rules(&self, given: &Map<String, Value>) -> Result<Arc<dyn Ruleset>, RulesError> {
        read_options::<G::Options>(given)
            .map(|options| Arc::new(TypedRules::<G> { options }) as Arc<dyn Ruleset>)
    }
}

/// Reads options so that an error names its key.
fn read_options<O: Options>(given: &Map<String, Value>) -> Result<O, RulesError> {
    let Ok(Value::Object(known)) = serde_json::to_value(O::default()) else {
        unreachable!("options are a struct of plain values");
    };
    if let Some(key) = given.keys().find(|key| !known.contains_key(*key)) {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        return Err(RulesError {
            key: key.clone(),
            message: format!("there is no such option; known are {}", names.join(", ")),
        });
    }
    let options: O = serde_json::from_value(Value::Object(given.clone())).map_err(|error| {
        // The message of serde does not say which key was wrong: find the one that fails alone.
        let culprit = given.iter().find(|(key, value)| {
            let alone = Map::from_iter([((*key).clone(), (*value).clone())]);
            serde_json::from_value::<O>(Value::Object(alone)).is_err()
        });
        let key = culprit.map_or_else(String::new, |(key, _)| key.clone());
        let usual = known
            .get(&key)
            .map(|value| format!(" (the default is {value})"));
        RulesError {
            key,
            message: format!("{}{}", in_words(&error), usual.unwrap_or_default()),
        }
    })?;
    options.check()?;
    Ok(options)
}

struct TypedRules<G: Game> {
    options: G::Options,
}

impl<G: Game> fmt::Debug for TypedRules<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", G::FACTS.name, self.options)
    }
}

impl<G: Game> Ruleset for TypedRules<G> {
    fn facts(&self) -> &'static Facts {
        G::FACTS
    }

    fn race(&self) -> Option<Race> {
        G::race(&self.options)
    }

    fn options(&self) -> Value {
        serde_json::to_value(&self.options).unwrap_or_default()
    }

    fn start(&self, setup: &Setup<'_>) -> Box<dyn Position> {
        Box::new(TypedPosition {
            game: G::start(&self.options, setup),
            moves: Vec::new(),
        })
    }

    fn read(&self, state: &Value) -> Result<Box<dyn Position>, String> {
        let game = G::read(&self.options, state)?;
        Ok(Box::new(TypedPosition {
            game,
            moves: Vec::new(),
        }))
    }

    fn plays_over(&self, outcome: &Outcome, again: u32) -> bool {
        G::plays_over(&self.options, outcome, again)
    }

    fn series(&self, played: &[Outcome]) -> Series {
        G::series(&self.options, played)
    }

    fn clock_defaults(&self) -> Option<ClockDefaults> {
        G::clock_defaults(&self.options)
    }
}

#[derive(Clone)]
struct TypedPosition<G: Game> {
    game: G,
    /// The buffer of the move generator, kept so that a turn allocates nothing.
    moves: Vec<G::Move>,
}

impl<G: Game> fmt::Debug for TypedPosition<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.game.fmt(f)
    }
}

/// Writes JSON that cannot fail: our own types into memory.
pub(super) fn write_json(out: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(out, value).expect("plain data is written to memory");
}

/// Writes one element of `last`; by hand, as there is one for each move.
fn write_told(out: &mut Vec<u8>, seat: Seat, dice: Option<[u8; 2]>, mv: &impl Serialize) {
    out.extend_from_slice(b"{\"seat\":");
    write_json(out, &seat);
    if let Some(dice) = dice {
        out.extend_from_slice(b",\"dice\":");
        write_json(out, &dice);
    }
    out.extend_from_slice(b",\"move\":");
    write_json(out, mv);
    out.push(b'}');
}

impl<G: Game> Position for TypedPosition<G> {
    fn to_act(&self) -> ToAct {
        self.game.to_act()
    }

    fn write_state(&self, out: &mut Vec<u8>) {
        self.game.write_state(out);
    }

    fn write_legal(&mut self, out: &mut Vec<u8>) {
        self.game.legal(&mut self.moves);
        write_json(out, &self.moves);
    }

    fn count_legal(&mut self) -> usize {
        self.game.legal(&mut self.moves);
        self.moves.len()
    }

    fn nth_legal(&mut self, index: usize) -> Value {
        self.game.legal(&mut self.moves);
        serde_json::to_value(self.moves[index]).unwrap_or_default()
    }

    fn play(&mut self, answer: &Value, told: &mut Vec<u8>) -> Result<(), Refusal> {
        let (seat, dice) = match self.game.to_act() {
            ToAct::Seat(seat, _) => (seat, self.game.dice()),
            ToAct::Over => return Err(Refusal::new("the game is over")),
            ToAct::Pass(_) | ToAct::Chance(_) | ToAct::Race => {
                return Err(Refusal::new("no move is asked for here"));
            }
        };
        let mv = self.game.parse(answer)?;
        self.game.apply(&mv)?;
        write_told(told, seat, dice, &mv);
        Ok(())
    }

    fn pass(&mut self, told: &mut Vec<u8>) {
        if let ToAct::Pass(seat) = self.game.to_act() {
            let dice = self.game.dice();
            self.game.pass();
            write_told(told, seat, dice, &G::pass_move());
        }
    }

    fn pass_move(&self) -> Value {
        G::pass_move()
    }

    fn seats(&self) -> usize {
        self.game.seats()
    }

    fn racing(&self, seat: Seat) -> bool {
        self.game.racing(seat)
    }

    fn claim(&mut self, seat: Seat, answer: &Value, told: &mut Vec<u8>) -> Result<Claim, Refusal> {
        let mv = self.game.parse(answer)?;
        let claim = self.game.claim(seat, &mv)?;
        write_told(told, seat, None, &mv);
        Ok(claim)
    }

    fn award(&mut self, first: &[Seat]) {
        self.game.award(first);
    }

    fn withdraw(&mut self, seat: Seat) -> bool {
        self.game.withdraw(seat)
    }

    fn chance(&mut self, drawn: Drawn) {
        self.game.chance(drawn);
    }

    fn charged(&mut self, total_us: u64) {
        self.game.charged(total_us);
    }

    fn opening(&self) -> Option<[u8; 2]> {
        self.game.opening()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.game.outcome()
    }

    fn forfeit(&self, seat: Seat) -> Outcome {
        self.game.forfeit(seat)
    }

    fn adjudicated(&self, lost_by: Option<Seat>) -> Option<Outcome> {
        self.game.adjudicated(lost_by)
    }

    fn board(&self) -> String {
        self.game.board()
    }

    fn perft(&self, depth: u32) -> u64 {
        self.game.perft(depth)
    }

    fn boxed_clone(&self) -> Box<dyn Position> {
        Box::new(self.clone())
    }
}
