//! Whether a given play is legal, and in what words one that is not is refused.

use super::moves::{BAR_BIT, Demand, HOME, Play, Step, View, bits, ordered, plays, step};
use super::{BAR, OFF, Points};
use crate::game::Refusal;

// ---- Whether a play is legal ---------------------------------------------------------------------------------------

/// The dice not yet played: a die and how often.
type Left = [(u8, u8); 2];

fn all_dice(dice: [u8; 2]) -> Left {
    if dice[0] == dice[1] {
        [(dice[0], 4), (0, 0)]
    } else {
        [(dice[0], 1), (dice[1], 1)]
    }
}

/// Whether the steps with a bit in `open` can be played in some order with these dice.
fn can_follow(view: &View, play: &Play, open: u8, left: Left) -> bool {
    if open == 0 {
        return true;
    }
    for index in bits(u32::from(open)) {
        let wanted = play.steps()[usize::from(index)];
        for (which, &(die, times)) in left.iter().enumerate() {
            if times == 0 || !plays_step(view, wanted, die) {
                continue;
            }
            let (mut next, mut rest) = (*view, left);
            next.step(wanted);
            rest[which].1 -= 1;
            if can_follow(&next, play, open & !(1 << index), rest) {
                return true;
            }
        }
    }
    false
}

/// Whether this die makes this checker move now.
fn plays_step(view: &View, wanted: Step, die: u8) -> bool {
    wanted == step(wanted.from, die) && view.movable(die) & 1 << wanted.from != 0
}

/// Whether a play is legal: by the dice it uses and the position it reaches, not by its spelling (rule 4).
///
/// # Errors
/// The reason, with the rule.
pub(super) fn check(
    own: &Points,
    other: &Points,
    dice: [u8; 2],
    demand: Demand,
    play: &Play,
) -> Result<(), Refusal> {
    let view = View::new(own, other);
    let all = (1u8 << play.len()) - 1;
    let demanded = match demand.die {
        0 => all_dice(dice),
        die => [(die, 1), (0, 0)],
    };
    if play.len() == demand.count && can_follow(&view, play, all, demanded) {
        return Ok(());
    }
    if can_follow(&view, play, all, all_dice(dice)) && reaches_legal(own, other, dice, demand, play)
    {
        return Ok(());
    }
    Err(Refusal::new(explain(&view, dice, demand, play)))
}

/// Whether the position after this sequence of legal moves is one that a legal play reaches.
fn reaches_legal(own: &Points, other: &Points, dice: [u8; 2], demand: Demand, play: &Play) -> bool {
    let reached = |play: &Play| {
        let mut sides = (*own, *other);
        play.carry_out(&mut sides.0, &mut sides.1);
        sides
    };
    let wanted = reached(play);
    let mut found = false;
    plays(own, other, dice, demand, &mut |legal| {
        found |= reached(&legal) == wanted;
    });
    found
}

// ---- Why a play is refused -----------------------------------------------------------------------------------------

/// Why this play, which is not legal, is not.
fn explain(view: &View, dice: [u8; 2], demand: Demand, play: &Play) -> String {
    if let Some(fault) = play.steps().iter().find_map(|&step| bad_shape(step, dice)) {
        return fault;
    }
    let given = all_dice(dice);
    let available = given.iter().map(|&(_, times)| times).sum::<u8>();
    if play.len() > available {
        return format!(
            "{} checker moves, but the dice {} give {available} (rule 2)",
            play.len(),
            roll(dice)
        );
    }
    // Play as much of it as can be played, then say why the rest cannot.
    let (start, mut view, mut left) = (view, *view, given);
    let mut open: Vec<Step> = play.steps().to_vec();
    while !open.is_empty() {
        let playable = (0..open.len() * left.len()).find(|&choice| {
            let (die, times) = left[choice % left.len()];
            times > 0 && plays_step(&view, open[choice / left.len()], die)
        });
        let Some(choice) = playable else {
            return stuck(start, &view, open[0], dice, left);
        };
        left[choice % left.len()].1 -= 1;
        view.step(open.remove(choice / left.len()));
    }
    too_little(dice, demand, play)
}

/// What is wrong with a checker move whatever the position.
fn bad_shape(step: Step, dice: [u8; 2]) -> Option<String> {
    let Step { from, to } = step;
    let (high, _) = ordered(dice);
    if to >= from {
        Some(format!(
            "{} does not move down; a checker moves from 24 towards 1, as its own seat counts the points",
            named(step)
        ))
    } else if to > 0 && !dice.contains(&(from - to)) {
        Some(format!(
            "{} is {} pips; each pair is the move of one die, and the dice are {} (rule 2)",
            named(step),
            from - to,
            roll(dice)
        ))
    } else if to == 0 && from > high {
        Some(format!(
            "{} takes a {from} or higher; the dice are {} (rule 5)",
            named(step),
            roll(dice)
        ))
    } else {
        None
    }
}

/// Why a checker cannot be moved so now (`view`), when a part of the play is made.
fn stuck(start: &View, view: &View, step: Step, dice: [u8; 2], left: Left) -> String {
    let Step { from, to } = step;
    let unused =
        |fits: &dyn Fn(u8) -> bool| left.iter().any(|&(die, times)| times > 0 && fits(die));
    if view.held & BAR_BIT != 0 && usize::from(from) != BAR {
        "with a checker on the bar, it must enter first (rule 3)".into()
    } else if view.own[usize::from(from)] == 0 {
        let more = if start.own[usize::from(from)] == 0 {
            ""
        } else {
            " left"
        };
        match usize::from(from) {
            BAR => format!("the bar has no checker{more}"),
            _ => format!("the point {from} has no checker{more}"),
        }
    } else if to > 0 && view.blocked & 1 << to != 0 {
        format!(
            "{} ends on a point that two or more opposing checkers hold (rule 2)",
            named(step)
        )
    } else if to > 0 && !unused(&|die| die == from - to) || !unused(&|die| die >= from - to) {
        format!(
            "{} takes a die that this play has used already; the dice are {} (rule 2)",
            named(step),
            roll(dice)
        )
    } else if view.held & !HOME != 0 {
        format!(
            "{}: checkers are borne off only when all are in the home board, points 6 to 1 (rule 5)",
            named(step)
        )
    } else {
        format!(
            "{}: with no die for that point itself, a checker on a higher point must be moved (rule 5)",
            named(step)
        )
    }
}

/// Why a play of legal moves is refused: it plays too few dice, or the lower one.
fn too_little(dice: [u8; 2], demand: Demand, play: &Play) -> String {
    let (high, low) = ordered(dice);
    if high == low {
        format!(
            "{} moves of the double {} can be played; this play has {} (rule 4)",
            demand.count,
            roll(dice),
            play.len()
        )
    } else if demand.count == 2 {
        let uses = if play.len() == 0 { "none" } else { "one" };
        format!("both dice can be played; this play uses {uses} (rule 4)")
    } else if play.len() == 0 {
        format!("the {} can be played, and must be (rule 4)", demand.die)
    } else {
        format!("either die can be played but not both; the higher, the {high}, must be (rule 4)")
    }
}

/// A checker move as players write it: `13/9`, `bar/21`, `6/off`.
fn named(step: Step) -> String {
    let from = match usize::from(step.from) {
        BAR => "bar".into(),
        _ => step.from.to_string(),
    };
    let to = match usize::from(step.to) {
        OFF => "off".into(),
        _ => step.to.to_string(),
    };
    format!("{from}/{to}")
}

fn roll(dice: [u8; 2]) -> String {
    format!("{}-{}", dice[0], dice[1])
}
