//! Random play through the typed interface of the rules: what is measured or counted of it is measured on this.

use hakem::game::{self, Chance, ChanceKind, Drawn, Game, Setup, ToAct};
use serde_json::Value;

mod picks;

pub(crate) use picks::Picks;

/// Something to be done with a game by its type.
pub(crate) trait Task {
    /// What comes of it.
    type Output;

    /// Does it.
    fn run<G: Game>(self) -> Self::Output;
}

/// Does a task with the game of this name; nothing if there is no line for it here. Every game has one but races, in which
/// no seat moves.
pub(crate) fn with_game<T: Task>(name: &str, task: T) -> Option<T::Output> {
    Some(match name {
        "mangala" => task.run::<game::mangala::Mangala>(),
        "oware" => task.run::<game::oware::Oware>(),
        "reversi" => task.run::<game::reversi::Reversi>(),
        "dokuztas" => task.run::<game::dokuztas::Dokuztas>(),
        "tavla" => task.run::<game::tavla::Tavla>(),
        _ => return None,
    })
}

/// What a random event of a game brings.
#[inline]
pub(crate) fn draw(picks: &mut Picks, chance: Chance) -> Drawn {
    match chance.kind {
        ChanceKind::Dice => {
            let both = picks.below(36) as u8;
            Drawn::Dice([both / 6 + 1, both % 6 + 1])
        }
        ChanceKind::Opening => {
            let first = picks.below(6) as u8;
            let second = (first + 1 + picks.below(5) as u8) % 6;
            Drawn::Dice([first + 1, second + 1])
        }
        _ => Drawn::Lot(picks.below(2) as u32),
    }
}

/// Plays games at random.
#[derive(Debug)]
pub(crate) struct Player<G: Game> {
    options: G::Options,
    moves: Vec<G::Move>,
    picks: Picks,
}

impl<G: Game> Player<G> {
    /// With these options of the game and the choices of this seed.
    pub(crate) fn new(options: &Value, seed: u64) -> Player<G> {
        Player {
            options: serde_json::from_value(options.clone()).expect("options of the game"),
            moves: Vec::new(),
            picks: Picks(seed),
        }
    }

    /// The first position of a game.
    #[inline]
    pub(crate) fn start(&mut self) -> G {
        let lot = self.picks.below(2);
        G::start(
            &self.options,
            &Setup {
                lot,
                ..Setup::SINGLE
            },
        )
    }

    /// Lets happen what is due; how many plies it was, a pass included. `None`: the game is over.
    #[inline]
    pub(crate) fn step(&mut self, game: &mut G) -> Option<u64> {
        match game.to_act() {
            ToAct::Seat(..) => {
                game.legal(&mut self.moves);
                let pick = self.moves[self.picks.below(self.moves.len())];
                game.apply(&pick).expect("a listed move is legal");
                Some(1)
            }
            ToAct::Pass(_) => {
                game.pass();
                Some(1)
            }
            ToAct::Chance(chance) => {
                game.chance(draw(&mut self.picks, chance));
                Some(0)
            }
            _ => None,
        }
    }

    /// Plays one game; its plies.
    pub(crate) fn play(&mut self) -> u64 {
        let mut game = self.start();
        let mut plies = 0;
        while let Some(played) = self.step(&mut game) {
            plies += played;
        }
        assert!(
            game.outcome().is_some(),
            "a game that is over has an outcome"
        );
        plies
    }
}
