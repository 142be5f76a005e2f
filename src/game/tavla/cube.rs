//! The doubling cube (rules 7 and 8).

use super::TavlaOptions;
use crate::game::Seat;

/// The doubling cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cube {
    /// What the game is worth now, times which it is won; while an offer waits, what a pass loses.
    pub value: u32,
    /// The seat that alone may double; `None`: the cube is in the middle.
    pub owner: Option<Seat>,
    /// The offer that waits for an answer.
    pub offer: Option<Offer>,
}

/// A double that waits to be taken or passed. Taken, it doubles the cube's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Offer {
    /// The seat that doubled first.
    pub doubler: Seat,
    /// Which answer in the dialogue it is.
    pub stage: Stage,
}

/// The steps of the dialogue after a double.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The double itself; the other seat answers.
    Double,
    /// The other seat took and redoubled at once, keeping the cube; the doubler answers.
    Beaver,
    /// The doubler redoubled once more; the other seat answers, and keeps the cube.
    Raccoon,
}

impl Offer {
    /// The seat that answers.
    pub fn asked(&self) -> Seat {
        match self.stage {
            Stage::Double | Stage::Raccoon => 1 - self.doubler,
            Stage::Beaver => self.doubler,
        }
    }
}

impl Cube {
    /// A cube at 1 in the middle.
    pub const START: Cube = Cube {
        value: 1,
        owner: None,
        offer: None,
    };

    /// The value if the waiting offer is taken.
    pub fn offered(&self) -> u32 {
        2 * self.value
    }

    /// Whether this seat may double before its roll, in a game with a cube. A double that cannot gain it anything is not
    /// ruled out.
    pub(super) fn may_double(&self, seat: Seat, limits: &Limits) -> bool {
        limits.cube
            && self.offer.is_none()
            && self.owner.is_none_or(|owner| owner == seat)
            && self.offered() <= limits.max_cube
    }

    /// The doubler offers.
    pub(super) fn double(&mut self, doubler: Seat) {
        self.offer = Some(Offer {
            doubler,
            stage: Stage::Double,
        });
    }

    /// Whether the waiting offer may be answered by a redouble.
    pub(super) fn may_redouble(&self, limits: &Limits) -> bool {
        self.offer
            .is_some_and(|offer| limits.allow(next(offer.stage)))
            && 2 * self.offered() <= limits.max_cube
    }

    /// The seat asked takes and redoubles; the cube stays with the seat that was doubled first.
    pub(super) fn redouble(&mut self) {
        let Some(offer) = self.offer else { return };
        let Some(stage) = next(offer.stage) else {
            return;
        };
        self.take();
        self.offer = Some(Offer { stage, ..offer });
    }

    /// The seat asked takes.
    pub(super) fn take(&mut self) {
        if let Some(offer) = self.offer.take() {
            self.value *= 2;
            self.owner = Some(1 - offer.doubler);
        }
    }

    /// The stage of an offer on this cube, of which the first doubler and the seat asked are known; `None`: there is no
    /// such dialogue.
    pub(super) fn stage(&self, doubler: Seat, asked: Seat) -> Option<Stage> {
        let taken = self.owner == Some(1 - doubler);
        match (taken, asked == doubler) {
            (false, false) => Some(Stage::Double),
            (true, true) => Some(Stage::Beaver),
            // Taken twice, so doubled twice.
            (true, false) if self.value >= 4 => Some(Stage::Raccoon),
            _ => None,
        }
    }
}

/// The stage of the redouble that answers this stage.
fn next(stage: Stage) -> Option<Stage> {
    match stage {
        Stage::Double => Some(Stage::Beaver),
        Stage::Beaver => Some(Stage::Raccoon),
        Stage::Raccoon => None,
    }
}

/// What the options allow with the cube in one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Limits {
    /// Whether there is a cube: not without the option, not in the Crawford game.
    pub(super) cube: bool,
    /// The highest value.
    pub(super) max_cube: u32,
    beavers: bool,
    raccoons: bool,
}

impl Limits {
    /// The limits of a game of a match (`length` points) or of money play (0).
    pub(super) fn new(options: &TavlaOptions, length: u32, crawford: bool) -> Limits {
        let beavers = options.beavers && length == 0;
        Limits {
            cube: options.cube && !crawford,
            max_cube: options.max_cube,
            beavers,
            raccoons: beavers && options.raccoons,
        }
    }

    /// Whether an offer of this stage can be made; never of none.
    pub(super) fn allow(&self, stage: Option<Stage>) -> bool {
        match stage {
            Some(Stage::Double) => self.cube,
            Some(Stage::Beaver) => self.cube && self.beavers,
            Some(Stage::Raccoon) => self.cube && self.raccoons,
            None => false,
        }
    }
}
