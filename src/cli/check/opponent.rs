//! The other seat while a bot is checked: a built-in bot in this process, with some manners of its own.

use std::sync::Arc;

use hakem_protocol::{Ask, FromBot, FromReferee, Hello, Move, Pong, Ready, Turn};
use serde_json::{Map, Value, json};

use crate::game::{Ruleset, Seat};
use crate::house::{self, Games, HOUSES, House, Table};
use crate::runner::sitting::Partner;

/// How the opponent behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plays legal answers at random, or where none are listed as well as a built-in bot can; it raises the stakes whenever it
    /// may, so that the bot is asked what it thinks of that.
    Plain,
    /// The same, but it offers to resign where the rules allow it, at its first move and now and then; else it lets the stakes be.
    Resigning,
    /// Always the first of the legal answers.
    Dull,
}

/// The other seat.
pub struct Opponent {
    house: &'static dyn House,
    style: Style,
    rules: Arc<dyn Ruleset>,
    hello: Option<Hello>,
    moves: u32,
}

/// It offers to resign with every so manieth move.
const RESIGNS_EVERY: u32 = 4;

impl Opponent {
    /// An opponent in the game of these rules; `None` if no built-in bot plays it.
    pub fn new(rules: Arc<dyn Ruleset>, style: Style) -> Option<Opponent> {
        let game = rules.facts().name;
        let plays = |house: &&'static dyn House| house::check(*house, game, &Map::new()).is_ok();
        let made_for_it =
            |house: &&'static dyn House| matches!(house.facts().games, Games::Only(&[_]));
        let mut houses = HOUSES.iter().copied().filter(plays);
        let house = if rules.race().is_some() {
            houses.find(made_for_it)
        } else {
            houses.next()
        }?;
        Some(Opponent {
            house,
            style,
            rules,
            hello: None,
            moves: 0,
        })
    }

    fn answer(&mut self, turn: &Turn) -> Result<Move, String> {
        if self.style == Style::Plain
            && turn.ask == Ask::Cube
            && let Some(last) = turn
                .legal
                .as_ref()
                .and_then(|legal| legal.as_array()?.last())
        {
            // To let the stakes be is listed first.
            return Ok(answer(turn, last.clone()));
        }
        let first = match self.style {
            Style::Plain => false,
            Style::Resigning => turn.ask != Ask::Move,
            Style::Dull => true,
        };
        if first && let Some(first) = turn.legal.as_ref().and_then(|legal| legal.get(0)) {
            return Ok(answer(turn, first.clone()));
        }
        if turn.ask == Ask::Move {
            self.moves += 1;
            if self.style == Style::Resigning
                && self.moves % RESIGNS_EVERY == 1
                && let Some(mv) = self.resignation(turn)
            {
                return Ok(mv);
            }
        }
        let hello = self.hello.as_ref().ok_or("a turn came before hello")?;
        let table = Table {
            game: &hello.game,
            rules: &hello.rules,
            options: &hello.options,
            added_ms: 0,
            clock: &|| 0,
            withdrawn: &|| false,
        };
        self.house.answer(&table, turn)
    }

    /// A resignation, which is never listed, where the rules take it.
    fn resignation(&self, turn: &Turn) -> Option<Move> {
        let offer = json!({ "resign": 1 });
        let mut position = self.rules.read(&turn.state).ok()?;
        position.play(&offer, &mut Vec::new()).ok()?;
        Some(answer(turn, offer))
    }
}

fn answer(turn: &Turn, mv: Value) -> Move {
    Move {
        id: turn.id,
        mv,
        note: None,
        eval: None,
    }
}

impl Partner for Opponent {
    fn hear(&mut self, _: Seat, line: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
        let answer: FromBot = match serde_json::from_slice::<FromReferee<Value>>(line)? {
            FromReferee::Hello(mut hello) => {
                // The options are the bot's, not ours.
                hello.options = Map::new();
                self.hello = Some(hello);
                FromBot::Ready(Ready::default())
            }
            FromReferee::Turn(turn) => {
                FromBot::Move(self.answer(&turn).map_err(anyhow::Error::msg)?)
            }
            FromReferee::Ping(ping) => FromBot::Pong(Pong { id: ping.id }),
            _ => return Ok(None),
        };
        Ok(Some(serde_json::to_vec(&answer)?))
    }
}
