//! Rules 2 to 5 of Tavla once more, as plainly as they can be said: every order of the dice, every checker, kept in sets.

use std::collections::BTreeSet;

/// The checkers of a seat by its own places: 0 off, 1 to 24, 25 the bar.
pub(crate) type Side = [u8; 26];
/// One checker from a place to a place.
pub(crate) type Step = (u8, u8);

/// Checker moves made so far and what they lead to. The moves are sorted: their order is of no account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Line {
    pub(crate) steps: Vec<Step>,
    /// The dice used, sorted.
    pub(crate) dice: Vec<u8>,
    pub(crate) own: Side,
    pub(crate) other: Side,
}

impl Line {
    /// Nothing moved yet.
    pub(crate) fn start(own: &Side, other: &Side) -> Line {
        Line {
            steps: Vec::new(),
            dice: Vec::new(),
            own: *own,
            other: *other,
        }
    }
}

/// Moves a checker by one die, if the rules allow it.
pub(crate) fn move_checker(line: &Line, from: u8, die: u8) -> Option<Line> {
    let place = usize::from(from);
    if line.own[place] == 0 {
        return None;
    }
    // Rule 3.
    if line.own[25] > 0 && from != 25 {
        return None;
    }
    let to = from.saturating_sub(die);
    if from <= die {
        // Rule 5.
        let all_home = line.own[7..].iter().all(|&count| count == 0);
        let higher = line.own[place + 1..].iter().any(|&count| count > 0);
        if !all_home || (from < die && higher) {
            return None;
        }
    }
    let mut next = line.clone();
    if to > 0 {
        // Rule 2.
        let there = 25 - usize::from(to);
        if next.other[there] >= 2 {
            return None;
        }
        next.other[25] += next.other[there];
        next.other[there] = 0;
    }
    next.own[place] -= 1;
    next.own[usize::from(to)] += 1;
    next.steps.push((from, to));
    next.steps.sort_unstable();
    next.dice.push(die);
    next.dice.sort_unstable();
    Some(next)
}

/// Every line of legal one-die moves with some of these dice, in whatever order, the empty one included.
pub(crate) fn all_lines(own: &Side, other: &Side, roll: [u8; 2]) -> BTreeSet<Line> {
    let orders: Vec<Vec<u8>> = if roll[0] == roll[1] {
        vec![vec![roll[0]; 4]]
    } else {
        vec![vec![roll[0], roll[1]], vec![roll[1], roll[0]]]
    };
    let start = Line::start(own, other);
    let mut all = BTreeSet::from([start.clone()]);
    for order in orders {
        let mut layer = BTreeSet::from([start.clone()]);
        for die in order {
            layer = layer
                .iter()
                .flat_map(|line| (1..=25).filter_map(move |from| move_checker(line, from, die)))
                .collect();
            all.extend(layer.iter().cloned());
        }
    }
    all
}

/// The lines that rule 4 allows: as many dice as possible, and of one die alone the higher.
pub(crate) fn legal_lines(lines: &BTreeSet<Line>, roll: [u8; 2]) -> Vec<&Line> {
    let most = lines.iter().map(|line| line.dice.len()).max().unwrap_or(0);
    let longest: Vec<&Line> = lines
        .iter()
        .filter(|line| line.dice.len() == most)
        .collect();
    let higher = roll[0].max(roll[1]);
    let must_be_higher = most == 1 && longest.iter().any(|line| line.dice == [higher]);
    longest
        .into_iter()
        .filter(|line| !must_be_higher || line.dice == [higher])
        .collect()
}

/// The positions, mover's checkers first, that legal plays reach.
pub(crate) fn reached(legal: &[&Line]) -> BTreeSet<(Side, Side)> {
    legal.iter().map(|line| (line.own, line.other)).collect()
}

/// Whether a play of these steps is legal: some order of them is a line, and it reaches what a legal play reaches.
pub(crate) fn accepts(
    lines: &BTreeSet<Line>,
    legal: &BTreeSet<(Side, Side)>,
    steps: &[Step],
) -> bool {
    let mut sorted = steps.to_vec();
    sorted.sort_unstable();
    lines
        .iter()
        .any(|line| line.steps == sorted && legal.contains(&(line.own, line.other)))
}
