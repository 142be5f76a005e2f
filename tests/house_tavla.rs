//! The built-in Tavla player: it answers legally whatever is asked, and it wins.

use hakem::game::tavla::{BAR, OFF, Play, Tavla, TavlaMove, TavlaOptions};
use hakem::game::{Ask, Drawn, Game, Outcome, Setup, ToAct};
use hakem::house::tavla;

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
}

type Player<'a> = &'a dyn Fn(&Tavla, &mut Random) -> TavlaMove;

fn house(game: &Tavla, _: &mut Random) -> TavlaMove {
    let answer = tavla::play(game).expect("a seat is asked");
    let mut legal = Vec::new();
    game.legal(&mut legal);
    assert!(legal.contains(&answer), "{answer:?} in {game:?}");
    answer
}

fn random(game: &Tavla, random: &mut Random) -> TavlaMove {
    let mut legal = Vec::new();
    game.legal(&mut legal);
    // A resignation now and then, so that there is one to answer.
    let may_resign = !matches!(game.to_act(), ToAct::Seat(_, Ask::Resign));
    if may_resign && random.below(400) == 0 {
        let resign = TavlaMove::Resign(1 + random.below(3) as u8);
        if game.clone().apply(&resign).is_ok() {
            return resign;
        }
    }
    legal[random.below(legal.len())]
}

/// Hits where it can, then makes points, then moves the most pips off; never doubles, takes everything.
fn greedy(game: &Tavla, _: &mut Random) -> TavlaMove {
    match game.to_act() {
        ToAct::Seat(_, Ask::Move) => {
            let measure = |play: &Play| {
                let [own, other] = game.after(play);
                let made = own[1..BAR].iter().filter(|&&count| count > 1).count();
                let pips: usize = own
                    .iter()
                    .enumerate()
                    .map(|(place, &count)| place * usize::from(count))
                    .sum();
                (other[BAR], own[OFF], made, std::cmp::Reverse(pips))
            };
            let mut best: Option<Play> = None;
            game.each_play(&mut |play| {
                if best.is_none_or(|best| measure(&play) > measure(&best)) {
                    best = Some(play);
                }
            });
            TavlaMove::Play(best.expect("a seat that is asked has a play"))
        }
        ToAct::Seat(_, Ask::Cube) => TavlaMove::Roll,
        ToAct::Seat(_, Ask::Take) => TavlaMove::Take,
        _ => TavlaMove::Accept,
    }
}

fn play(
    options: &TavlaOptions,
    setup: &Setup<'_>,
    seats: [Player<'_>; 2],
    dice: &mut Random,
) -> Outcome {
    let mut game = Tavla::start(options, setup);
    let mut choices = Random(dice.next());
    loop {
        match game.to_act() {
            ToAct::Over => return game.outcome().expect("a finished game has an outcome"),
            ToAct::Pass(_) => game.pass(),
            ToAct::Race => unreachable!("Tavla is no race"),
            ToAct::Chance(_) => {
                let die = |dice: &mut Random| dice.below(6) as u8 + 1;
                game.chance(Drawn::Dice([die(dice), die(dice)]));
            }
            ToAct::Seat(seat, _) => {
                let answer = seats[seat](&game, &mut choices);
                game.apply(&answer)
                    .unwrap_or_else(|refusal| panic!("{answer:?}: {refusal}"));
            }
        }
    }
}

/// Games won by the house and its points, of `games` against another player, with the seats exchanged every game.
fn score(options: &TavlaOptions, other: Player<'_>, games: u64) -> (u64, i64) {
    let (mut won, mut points) = (0, 0);
    for game in 0..games {
        let me = (game % 2) as usize;
        let seats: [Player<'_>; 2] = if me == 0 {
            [&house, other]
        } else {
            [other, &house]
        };
        // Each pair of games has the same dice.
        let outcome = play(options, &Setup::SINGLE, seats, &mut Random(game / 2));
        won += u64::from(outcome.winner == Some(me));
        points += i64::from(outcome.points[me]) - i64::from(outcome.points[1 - me]);
    }
    (won, points)
}

fn without_cube() -> TavlaOptions {
    TavlaOptions {
        cube: false,
        ..TavlaOptions::default()
    }
}

#[test]
fn it_beats_random_play() {
    let (won, points) = score(&without_cube(), &random, 600);
    assert!(won >= 594, "{won} of 600");
    assert!(points > 1200, "{points}");
}

#[test]
fn it_beats_greedy_play() {
    let (won, points) = score(&without_cube(), &greedy, 600);
    assert!(won >= 510, "{won} of 600");
    assert!(points > 600, "{points}");
}

#[test]
fn it_beats_greedy_play_with_the_cube() {
    let (won, points) = score(&TavlaOptions::default(), &greedy, 300);
    assert!(won >= 225, "{won} of 300");
    assert!(points > 600, "{points}");
}

#[test]
fn it_answers_every_question_of_every_kind_of_play() {
    let money = TavlaOptions {
        jacoby: true,
        beavers: true,
        raccoons: true,
        ..TavlaOptions::default()
    };
    let short = TavlaOptions {
        max_cube: 4,
        ..money.clone()
    };
    for options in [money, short] {
        score(&options, &random, 60);
        score(&options, &|game, _| house(game, &mut Random(0)), 10);
    }
    for length in [1, 2, 3, 5, 9] {
        let options = TavlaOptions {
            match_length: length,
            ..TavlaOptions::default()
        };
        for seed in 0..4 {
            let mut played = Vec::new();
            while !Tavla::series(&options, &played).over {
                let setup = Setup {
                    played: &played,
                    ..Setup::SINGLE
                };
                let mut dice = Random(seed << 8 | played.len() as u64);
                played.push(play(&options, &setup, [&house, &random], &mut dice));
            }
        }
    }
}

#[test]
fn the_same_question_has_the_same_answer() {
    let mut answers = Vec::new();
    for _ in 0..2 {
        let mut all = Vec::new();
        let watched = |game: &Tavla, random: &mut Random| {
            let answer = house(game, random);
            (answer, format!("{answer:?}"))
        };
        let log = std::cell::RefCell::new(&mut all);
        let player: Player<'_> = &|game, random| {
            let (answer, text) = watched(game, random);
            log.borrow_mut().push(text);
            answer
        };
        play(
            &TavlaOptions::default(),
            &Setup::SINGLE,
            [player, player],
            &mut Random(9),
        );
        answers.push(all);
    }
    assert_eq!(answers[0], answers[1]);
}
