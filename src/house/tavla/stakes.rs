//! What the end of a game is worth to a seat: points in money play, the chance to win the match in match play.

use crate::game::Seat;
use crate::game::tavla::Tavla;

use super::eval::Chances;

/// How often a game that is won is won with a gammon, in matches to come.
const GAMMON_RATE: f64 = 0.26;
/// The spread of the points of a match, for each point still to be played.
const MATCH_SPREAD: f64 = 1.77;
/// How much the holder of the cube makes of it: 0 as if it could not be turned any more, 1 as if it were always turned
/// at the best moment (Janowski's cube efficiency).
const CUBE_EFFICIENCY: f64 = 0.68;
/// How far the right to redouble lowers the chance at which a double is taken, if the cube is always well used.
const LIVE_CUBE: f64 = 0.8;

/// Who can turn the cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// Both: it is in the middle.
    Both,
    /// The seat whose stakes these are.
    Me,
    /// The other.
    You,
}

/// What a seat plays for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stakes {
    /// The points that each needs, its own first; `None` in money play.
    away: Option<[u32; 2]>,
    /// Whether the Crawford game is played or being played.
    after_crawford: bool,
    /// Gammons count only if the cube was turned.
    jacoby: bool,
    /// The highest value of the cube.
    highest: u32,
}

impl Stakes {
    /// The stakes of a seat in this game.
    pub(super) fn of(game: &Tavla, seat: Seat) -> Stakes {
        let score = game.score();
        let length = game.length();
        let away = [seat, 1 - seat].map(|seat| length.saturating_sub(score[seat]));
        Stakes {
            away: (length > 0).then_some(away),
            after_crawford: length > 0 && away.contains(&1),
            jacoby: game.is_jacoby(),
            highest: game.highest_cube(),
        }
    }

    /// What winning (or losing) so many points is worth.
    pub(super) fn points(&self, won: bool, points: u32) -> f64 {
        let Some([mine, yours]) = self.away else {
            return if won {
                f64::from(points)
            } else {
                -f64::from(points)
            };
        };
        if won {
            match_chance(mine.saturating_sub(points), yours, self.after_crawford)
        } else {
            match_chance(mine, yours.saturating_sub(points), self.after_crawford)
        }
    }

    /// What winning (or losing) is worth on average, with the cube at `value` and so many of these games gammons.
    fn game(&self, won: bool, value: u32, gammons: f64) -> f64 {
        let gammons = if self.jacoby && value == 1 {
            0.0
        } else {
            gammons
        };
        (1.0 - gammons) * self.points(won, value) + gammons * self.points(won, 2 * value)
    }

    /// What these chances are worth with the cube at `value`, if it is not turned any more.
    pub(super) fn dead(&self, chances: &Chances, value: u32) -> f64 {
        let shares = Shares::of(chances);
        shares.win * self.game(true, value, shares.gammons_won)
            + (1.0 - shares.win) * self.game(false, value, shares.gammons_lost)
    }

    /// What these chances are worth with the cube at `value` in these hands: between a cube that is dead and one that
    /// is always turned where the other is just able to take.
    pub(super) fn with_cube(&self, chances: &Chances, value: u32, holder: Holder) -> f64 {
        let shares = Shares::of(chances);
        let mut corners = [(0.0, 0.0); 4];
        let mut count = 0;
        let mut corner = |chance: f64, worth: f64| {
            corners[count] = (chance, worth);
            count += 1;
        };
        corner(0.0, self.game(false, value, shares.gammons_lost));
        if holder != Holder::Me && self.is_useful(1, value) {
            corner(
                self.take_point(&shares, value, 0),
                self.points(false, value),
            );
        }
        if holder != Holder::You && self.is_useful(0, value) {
            let theirs = self.take_point(&shares, value, 1);
            corner(1.0 - theirs, self.points(true, value));
        }
        corner(1.0, self.game(true, value, shares.gammons_won));
        let live = between(&corners[..count], shares.win);
        CUBE_EFFICIENCY * live + (1.0 - CUBE_EFFICIENCY) * self.dead(chances, value)
    }

    /// Whether doubling a cube at `value` can gain the seat (0: this one, 1: the other) anything.
    pub(super) fn is_useful(&self, seat: usize, value: u32) -> bool {
        2 * value <= self.highest && self.away.is_none_or(|away| away[seat] > value)
    }

    /// Whether losing this game with the cube at `value` loses the match.
    pub(super) fn loses_match(&self, value: u32) -> bool {
        self.away.is_some_and(|[_, yours]| yours <= value)
    }

    /// The chance to win that the seat (0: this one, 1: the other) needs to take a double of a cube at `value`.
    fn take_point(&self, shares: &Shares, value: u32, seat: usize) -> f64 {
        let me = seat == 0;
        let (won, lost) = if me {
            (shares.gammons_won, shares.gammons_lost)
        } else {
            (shares.gammons_lost, shares.gammons_won)
        };
        let (win, lose) = (
            self.game(me, 2 * value, won),
            self.game(!me, 2 * value, lost),
        );
        let pass = self.points(!me, value);
        if (win - lose).abs() < 1e-9 {
            return 0.0;
        }
        let dead = ((pass - lose) / (win - lose)).clamp(0.0, 1.0);
        if self.is_useful(seat, 2 * value) {
            dead * LIVE_CUBE
        } else {
            dead
        }
    }
}

/// Chances with the gammons as shares of the games won and lost.
struct Shares {
    win: f64,
    gammons_won: f64,
    gammons_lost: f64,
}

impl Shares {
    fn of(chances: &Chances) -> Shares {
        let share = |part: f64, whole: f64| {
            if whole > 0.0 {
                (part / whole).min(1.0)
            } else {
                0.0
            }
        };
        Shares {
            win: chances.win,
            gammons_won: share(chances.gammon, chances.win),
            gammons_lost: share(chances.gammon_loss, 1.0 - chances.win),
        }
    }
}

/// The height at `x` of the line through these corners, the first at 0 and the last at 1. Corners out of order (where
/// one would both double and pass) are passed over.
fn between(corners: &[(f64, f64)], x: f64) -> f64 {
    let mut left = corners[0];
    for &right in &corners[1..] {
        if right.0 < left.0 {
            continue;
        }
        if x <= right.0 {
            let width = right.0 - left.0;
            return if width > 0.0 {
                left.1 + (right.1 - left.1) * (x - left.0) / width
            } else {
                right.1
            };
        }
        left = right;
    }
    left.1
}

/// The chance to win a match in which the seat needs `mine` points and the other `yours`, between two games.
///
/// With one point to go the cube decides: the trailing seat wins nothing by it in the Crawford game, and doubles every game
/// after. Else the lead is measured by what the points still to be played stray; within two hundredths of the tables
/// in use.
pub(super) fn match_chance(mine: u32, yours: u32, after_crawford: bool) -> f64 {
    match (mine, yours) {
        (0, _) => 1.0,
        (_, 0) => 0.0,
        (1, 1) => 0.5,
        (1, trailing) => 1.0 - trailing_chance(trailing, after_crawford),
        (trailing, 1) => trailing_chance(trailing, after_crawford),
        _ => {
            let lead = f64::from(yours) - f64::from(mine);
            let to_play = (f64::from(yours) + f64::from(mine)).sqrt();
            0.5 * (1.0 + libm::erf(lead / (MATCH_SPREAD * to_play * std::f64::consts::SQRT_2)))
        }
    }
}

/// The chance of a seat that needs so many points against one that needs one.
fn trailing_chance(needs: u32, after_crawford: bool) -> f64 {
    // The chances with 1, 2, 3, 4 points more won than needed so far: all won.
    let mut fewer = [1.0; 4];
    let step =
        |single: f64, gammon: f64| 0.5 * ((1.0 - GAMMON_RATE) * single + GAMMON_RATE * gammon);
    for _ in 1..needs {
        let next = step(fewer[1], fewer[3]);
        fewer = [next, fewer[0], fewer[1], fewer[2]];
    }
    if after_crawford {
        step(fewer[1], fewer[3])
    } else {
        step(fewer[0], fewer[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONEY: Stakes = Stakes {
        away: None,
        after_crawford: false,
        jacoby: false,
        highest: 64,
    };

    fn at(mine: u32, yours: u32, after_crawford: bool) -> Stakes {
        Stakes {
            away: Some([mine, yours]),
            after_crawford,
            ..MONEY
        }
    }

    fn win(win: f64) -> Chances {
        Chances {
            win,
            ..Chances::default()
        }
    }

    #[test]
    fn the_match_chances_are_near_the_tables_in_use() {
        // Needs, the other needs, after the Crawford game: per cent by published tables.
        for (mine, yours, after, expected) in [
            (2, 3, false, 60.0),
            (2, 4, false, 68.0),
            (3, 5, false, 65.5),
            (5, 10, false, 76.0),
            (4, 4, false, 50.0),
            (1, 2, false, 68.0),
            (1, 3, false, 75.0),
            (1, 4, false, 82.5),
            (1, 2, true, 51.0),
            (1, 3, true, 68.0),
            (1, 5, true, 81.0),
        ] {
            let found = 100.0 * match_chance(mine, yours, after);
            assert!((found - expected).abs() < 2.0, "{mine}-{yours}: {found}");
            let other = 100.0 * match_chance(yours, mine, after);
            assert!((found + other - 100.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_longer_way_is_never_better() {
        for yours in 1..40 {
            for mine in 1..40 {
                for after in [false, true] {
                    let less = match_chance(mine, yours, after);
                    let more = match_chance(mine + 1, yours, after);
                    assert!((0.0..=1.0).contains(&less));
                    // The step to the last point belongs to another formula.
                    assert!(
                        more <= less + 0.01,
                        "{mine}-{yours} {after}: {less}, {more}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_quarter_is_the_take_point_of_a_dead_cube_for_money() {
        let dead = Stakes {
            highest: 2,
            ..MONEY
        };
        let shares = Shares::of(&win(0.5));
        assert!((dead.take_point(&shares, 1, 0) - 0.25).abs() < 1e-9);
        assert!((MONEY.take_point(&shares, 1, 0) - 0.2).abs() < 1e-9);
        assert!((MONEY.take_point(&shares, 4, 1) - 0.2).abs() < 1e-9);
    }

    #[test]
    fn holding_the_cube_is_worth_something() {
        for chance in [0.1, 0.3, 0.5, 0.7, 0.9] {
            let chances = win(chance);
            let worth = [Holder::You, Holder::Both, Holder::Me]
                .map(|holder| MONEY.with_cube(&chances, 2, holder));
            assert!(worth[0] <= worth[1] && worth[1] <= worth[2], "{worth:?}");
            assert!(worth[0] < worth[2]);
        }
        // A cube that decides the match anyway is of no use to its holder.
        let last = at(2, 2, false);
        let chances = win(0.6);
        assert_eq!(
            last.with_cube(&chances, 2, Holder::Me),
            last.dead(&chances, 2)
        );
    }

    #[test]
    fn gammons_count_only_where_the_stakes_say() {
        let chances = Chances {
            win: 0.6,
            gammon: 0.3,
            gammon_loss: 0.0,
        };
        assert!((MONEY.dead(&chances, 1) - 0.5).abs() < 1e-9);
        let jacoby = Stakes {
            jacoby: true,
            ..MONEY
        };
        assert!((jacoby.dead(&chances, 1) - 0.2).abs() < 1e-9);
        assert!((jacoby.dead(&chances, 2) - 1.0).abs() < 1e-9);
        // One point is enough: a gammon wins nothing more.
        let last = at(1, 3, true);
        assert_eq!(last.dead(&chances, 1), last.dead(&win(0.6), 1));
    }
}
