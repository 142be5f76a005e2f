//! Random play through the typed interface of the rules: what is measured or counted of it is measured on this.

use hakem::game::{self, Chance, ChanceKind, Drawn, Game, Setup, ToAct};
use serde_json::Value;

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
        "tavla" => task.run::<game::tavla::Tavla>(),
        _ => return None,
    })
}

/// Choices of a seed (splitmix64): the same for ever.
#[derive(Clone, Debug)]
pub(crate) struct Picks(pub(crate) u64);

impl Picks {
    /// A number below the bound.
    #[inline]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * bound as u128) >> 64) as usize
    }

    /// What a random event of a game brings.
    #[inline]
    pub(crate) fn draw(&mut self, chance: Chance) -> Drawn {
        match chance.kind {
            ChanceKind::Dice => {
                let both = self.below(36) as u8;
                Drawn::Dice([both / 6 + 1, both % 6 + 1])
            }
            ChanceKind::Opening => {
                let first = self.below(6) as u8;
                let second = (first + 1 + self.below(5) as u8) % 6;
                Drawn::Dice([first + 1, second + 1])
            }
            _ => Drawn::Lot(self.below(2) as u32),
        }
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
                game.chance(self.picks.draw(chance));
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
