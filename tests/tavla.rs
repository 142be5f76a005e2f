//! Tavla: the move generator against a plain second one, and what must hold in every game.

#[path = "oracle/tavla.rs"]
mod oracle;

use std::collections::BTreeSet;

use hakem::game::tavla::{BAR, OFF, Play, Points, Tavla, TavlaMove, TavlaOptions};
use hakem::game::{Ask, Chance, ChanceKind, Drawn, Game, Setup, ToAct};
use serde_json::{Value, json};

/// A small generator (SplitMix64), so that every run is the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn die(&mut self) -> u8 {
        self.below(6) as u8 + 1
    }

    fn drawn(&mut self, chance: Chance) -> Drawn {
        match chance.kind {
            ChanceKind::Lot => Drawn::Lot(self.below(2) as u32),
            _ => Drawn::Dice([self.die(), self.die()]),
        }
    }
}

/// Options with every part of the cube in play.
fn lively() -> TavlaOptions {
    TavlaOptions {
        beavers: true,
        raccoons: true,
        jacoby: true,
        ..TavlaOptions::default()
    }
}

fn state(game: &Tavla) -> Value {
    serde_json::to_value(game.state()).expect("a state is JSON")
}

fn setup(sides: [Points; 2], turn: usize, dice: Option<[u8; 2]>) -> Value {
    json!({
        "checkers": sides, "dice": dice, "cube": {"value": 1, "owner": null},
        "score": [0, 0], "length": 0, "crawford": false, "turn": turn,
    })
}

fn read(state: &Value) -> Tavla {
    Tavla::read(&lively(), state).unwrap_or_else(|error| panic!("{state}: {error}"))
}

/// Plays with random answers, a resignation now and then, and shows every position to `look`.
fn play_randomly(
    options: &TavlaOptions,
    random: &mut Random,
    look: &mut impl FnMut(&Tavla, &mut Random),
) -> Tavla {
    let mut game = Tavla::start(options, &Setup::SINGLE);
    let mut moves = Vec::new();
    loop {
        look(&game, random);
        match game.to_act() {
            ToAct::Over => return game,
            ToAct::Chance(chance) => game.chance(random.drawn(chance)),
            ToAct::Pass(_) => game.pass(),
            ToAct::Race => unreachable!("Tavla is no race"),
            ToAct::Seat(_, ask) => {
                game.legal(&mut moves);
                let mut mv = moves[random.below(moves.len())];
                // Let games last: double and resign seldom, and refuse most resignations.
                if ask == Ask::Cube && random.below(8) > 0 {
                    mv = TavlaMove::Roll;
                } else if ask == Ask::Take && mv == TavlaMove::Pass && random.below(3) > 0 {
                    mv = TavlaMove::Take;
                } else if ask == Ask::Resign && random.below(4) > 0 {
                    mv = TavlaMove::Refuse;
                } else if random.below(200) == 0 {
                    mv = TavlaMove::Resign(random.die() % 3 + 1);
                }
                let before = game;
                if let Err(refusal) = game.apply(&mv) {
                    assert!(matches!(mv, TavlaMove::Resign(_)), "{mv:?}: {refusal}");
                    assert_eq!(game, before);
                }
            }
        }
    }
}

/// Two sides set up at random: `spread` is the highest place that is used.
fn random_sides(random: &mut Random, spread: usize) -> [Points; 2] {
    let mut sides = [[0; 26]; 2];
    for seat in 0..2 {
        let mut left = 15;
        while left > 0 {
            let place = random.below(spread + 1);
            // Off and the bar are drawn less often than points.
            let is_edge = place == OFF || place == BAR;
            let taken = !is_edge && sides[1 - seat][25 - place] > 0;
            if taken || is_edge && random.below(3) > 0 {
                continue;
            }
            let count = (1 + random.below(3)).min(left);
            sides[seat][place] += count as u8;
            left -= count;
        }
    }
    // Nobody has won yet.
    for side in &mut sides {
        if side[OFF] == 15 {
            side[OFF] = 14;
            side[BAR] += 1;
        }
    }
    sides
}

/// Compares every roll of this position with the second implementation.
fn compare_all_rolls(sides: [Points; 2], turn: usize, random: &mut Random) -> usize {
    let mut count = 0;
    for high in 1..=6 {
        for low in 1..=high {
            let roll = if random.below(2) == 0 {
                [high, low]
            } else {
                [low, high]
            };
            compare_roll(sides, turn, roll, random);
            count += 1;
        }
    }
    count
}

fn compare_roll(sides: [Points; 2], turn: usize, roll: [u8; 2], random: &mut Random) {
    let game = read(&setup(sides, turn, Some(roll)));
    let lines = oracle::all_lines(&sides[turn], &sides[1 - turn], roll);
    let legal = oracle::legal_lines(&lines, roll);
    let expected = oracle::reached(&legal);
    let at = || format!("{sides:?}, seat {turn} with {roll:?}");
    if legal.iter().all(|line| line.steps.is_empty()) {
        assert_eq!(game.to_act(), ToAct::Pass(turn), "{}", at());
        return;
    }
    let mut moves = Vec::new();
    game.legal(&mut moves);
    let mut found = BTreeSet::new();
    for mv in &moves {
        let next =
            applied(&game, mv).unwrap_or_else(|refusal| panic!("{}: {mv:?}: {refusal}", at()));
        assert!(
            found.insert(next),
            "{}: {mv:?} leads where another does",
            at()
        );
    }
    assert_eq!(found, expected, "{}", at());
    // A listed play is written in an order in which it can be played.
    for mv in &moves {
        let TavlaMove::Play(play) = mv else {
            panic!("{mv:?} is no play")
        };
        assert!(
            can_be_played_in_order(&sides, turn, roll, play),
            "{}: {mv:?}",
            at()
        );
    }
    // Every line, legal or not, some of them shuffled, and some that are no lines at all.
    let picks: Vec<&oracle::Line> = lines.iter().collect();
    for _ in 0..12 {
        let mut steps = picks[random.below(picks.len())].steps.clone();
        spoil(&mut steps, random);
        let is_legal = oracle::accepts(&lines, &expected, &steps);
        let answer = game.parse(&json!(steps)).and_then(|mv| applied(&game, &mv));
        assert_eq!(answer.is_ok(), is_legal, "{}: {steps:?}: {answer:?}", at());
        if let Err(refusal) = answer {
            assert!(!refusal.message.is_empty());
        }
    }
}

/// Sometimes changes the order, a step, or the number of the steps.
fn spoil(steps: &mut Vec<oracle::Step>, random: &mut Random) {
    for index in (1..steps.len()).rev() {
        steps.swap(index, random.below(index + 1));
    }
    match random.below(6) {
        0 => {
            steps.pop();
        }
        1 if !steps.is_empty() => {
            let again = steps[random.below(steps.len())];
            steps.push(again);
        }
        2 if !steps.is_empty() => {
            let index = random.below(steps.len());
            steps[index].1 = (random.below(25)) as u8;
        }
        3 => steps.push((random.below(25) as u8 + 1, random.below(25) as u8)),
        _ => {}
    }
}

/// The checkers after this answer, the mover's first.
fn applied(game: &Tavla, mv: &TavlaMove) -> Result<(Points, Points), hakem::game::Refusal> {
    let ToAct::Seat(seat, _) = game.to_act() else {
        panic!("nobody is asked")
    };
    let mut next = *game;
    let result = next.apply(mv);
    if result.is_err() {
        assert_eq!(next, *game, "a refused move changes nothing");
    }
    result.map(|()| (*next.checkers(seat), *next.checkers(1 - seat)))
}

fn can_be_played_in_order(sides: &[Points; 2], turn: usize, roll: [u8; 2], play: &Play) -> bool {
    let mut line = oracle::Line::start(&sides[turn], &sides[1 - turn]);
    play.steps().iter().all(|step| {
        let next = roll
            .iter()
            .filter_map(|&die| oracle::move_checker(&line, step.from, die))
            .find(|next| next.steps.contains(&(step.from, step.to)));
        next.is_some_and(|next| {
            line = oracle::Line::start(&next.own, &next.other);
            true
        })
    })
}

#[test]
fn plays_of_set_up_positions_are_those_of_the_second_implementation() {
    let mut random = Random(1);
    let mut rolls = 0;
    // Whole boards, contact near the homes, and bearing off.
    for spread in [25, 25, 25, 12, 8, 6, 6] {
        for _ in 0..300 {
            let sides = random_sides(&mut random, spread);
            rolls += compare_all_rolls(sides, random.below(2), &mut random);
        }
    }
    assert_eq!(rolls, 44_100);
}

#[test]
fn plays_of_reached_positions_are_those_of_the_second_implementation() {
    let mut random = Random(2);
    let mut seen = 0;
    for _ in 0..30 {
        let mut choice = Random(random.next());
        play_randomly(&TavlaOptions::default(), &mut random, &mut |game, _| {
            if matches!(game.to_act(), ToAct::Seat(_, Ask::Move)) && choice.below(2) == 0 {
                let sides = [*game.checkers(0), *game.checkers(1)];
                seen += compare_all_rolls(sides, choice.below(2), &mut choice);
            }
        });
    }
    assert!(seen > 10_000, "{seen}");
}

#[test]
fn last_checkers_are_borne_off_as_the_second_implementation_does() {
    let mut random = Random(3);
    for _ in 0..2000 {
        let mut sides = [[0; 26]; 2];
        for place in [random.below(8), random.below(8), random.below(8)] {
            sides[0][place] += 1;
        }
        sides[0][OFF] += 12;
        sides[0][1] += u8::from(sides[0][OFF] == 15);
        sides[0][OFF] = 15 - sides[0][1..].iter().sum::<u8>();
        // Blots and points of the other seat stand among them.
        for place in 17..=24 {
            if sides[0][25 - place] == 0 {
                sides[1][place] =
                    [0, 0, 1, 2][random.below(4)].min(15 - sides[1].iter().sum::<u8>());
            }
        }
        sides[1][13] = 15 - sides[1].iter().sum::<u8>();
        compare_all_rolls(sides, 0, &mut random);
    }
}

#[test]
fn what_must_hold_holds_in_every_game() {
    let mut random = Random(4);
    let matches = TavlaOptions {
        match_length: 5,
        ..TavlaOptions::default()
    };
    let short = TavlaOptions {
        max_plies: 30,
        max_cube: 4,
        ..lively()
    };
    for options in [TavlaOptions::default(), lively(), matches, short] {
        for _ in 0..60 {
            let mut turns = 0;
            let end = play_randomly(&options, &mut random, &mut |game, _| {
                for seat in 0..2 {
                    assert_eq!(game.checkers(seat).iter().sum::<u8>(), 15);
                }
                check_round_trip(&options, game);
                check_answers(game);
                // Every turn begins with the dice of a seat.
                turns += u32::from(matches!(game.to_act(), ToAct::Chance(_)));
            });
            // The opening may be rolled again, and a lot may follow.
            assert!(turns <= options.max_plies + 20);
            let outcome = end.outcome().expect("a finished game has an outcome");
            let winner = outcome.winner.expect("a game of Tavla is won");
            assert!(outcome.points[winner] > 0 && outcome.points[1 - winner] == 0);
        }
    }
}

/// A state read back asks the same, if it is not the opening, a roll already decided on, or an end that a state does not
/// show.
fn check_round_trip(options: &TavlaOptions, game: &Tavla) {
    let written = state(game);
    let again = Tavla::read(options, &written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!(state(&again), written);
    let borne_off = (0..2).any(|seat| game.checkers(seat)[OFF] == 15);
    match game.to_act() {
        ToAct::Chance(_) => {}
        ToAct::Over if !borne_off => {}
        act => {
            assert_eq!(again.to_act(), act, "{written}");
            assert_eq!(again.outcome(), game.outcome());
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            game.legal(&mut ours);
            again.legal(&mut theirs);
            assert_eq!(ours, theirs);
        }
    }
}

/// What is listed is taken, what is not is refused and changes nothing.
fn check_answers(game: &Tavla) {
    let mut moves = Vec::new();
    game.legal(&mut moves);
    let asked = matches!(game.to_act(), ToAct::Seat(..));
    assert_eq!(moves.is_empty(), !asked);
    let words = [
        TavlaMove::Roll,
        TavlaMove::Double,
        TavlaMove::Take,
        TavlaMove::Pass,
        TavlaMove::Beaver,
        TavlaMove::Accept,
        TavlaMove::Refuse,
        TavlaMove::Play(Play::EMPTY),
        TavlaMove::Resign(0),
        TavlaMove::Resign(4),
    ];
    for mv in moves.iter().chain(&words) {
        let mut next = *game;
        let result = next.apply(mv);
        assert_eq!(
            result.is_ok(),
            moves.contains(mv),
            "{mv:?} in {game:?}: {result:?}"
        );
        assert_eq!(result.is_err(), next == *game);
        // What is written is read as the same answer.
        if moves.contains(mv) {
            let written = serde_json::to_value(mv).expect("an answer is JSON");
            assert_eq!(game.parse(&written).as_ref(), Ok(mv));
        }
    }
}

#[test]
fn changed_seats_change_the_result() {
    let mut random = Random(5);
    for seed in 0..40 {
        let mut game = Tavla::start(&lively(), &Setup::SINGLE);
        let mut mirror = game;
        random = Random(random.next() ^ seed);
        let mut moves = Vec::new();
        while game.to_act() != ToAct::Over {
            match game.to_act() {
                ToAct::Chance(chance) => {
                    let drawn = random.drawn(chance);
                    let turned = match (chance.kind, drawn) {
                        (ChanceKind::Opening, Drawn::Dice([first, second])) => {
                            Drawn::Dice([second, first])
                        }
                        (_, Drawn::Lot(seat)) => Drawn::Lot(1 - seat),
                        _ => drawn,
                    };
                    game.chance(drawn);
                    mirror.chance(turned);
                }
                ToAct::Pass(_) => {
                    game.pass();
                    mirror.pass();
                }
                _ => {
                    game.legal(&mut moves);
                    let ours = moves.clone();
                    mirror.legal(&mut moves);
                    assert_eq!(ours, moves);
                    let mv = moves[random.below(moves.len())];
                    game.apply(&mv).expect("a listed answer is legal");
                    mirror.apply(&mv).expect("and so in the mirror");
                }
            }
            for seat in 0..2 {
                assert_eq!(game.checkers(seat), mirror.checkers(1 - seat));
            }
        }
        let (ours, theirs) = (
            game.outcome().expect("over"),
            mirror.outcome().expect("over"),
        );
        assert_eq!(ours.points, [theirs.points[1], theirs.points[0]]);
        assert_eq!(
            (ours.winner.map(|seat| 1 - seat), ours.reason),
            (theirs.winner, theirs.reason)
        );
    }
}
