use super::*;
use crate::game::Seat;
use crate::rating::{Meeting, Period};
use crate::stats;

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|&name| name.to_owned()).collect()
}

const LOST_AND_WON: [Share; 2] = [Share::LOSS, Share::WIN];
const WON_AND_LOST: [Share; 2] = [Share::WIN, Share::LOSS];
const DRAWN: [Share; 2] = [Share::HALF, Share::HALF];

fn a_match(id: (u32, u32), seats: &[Slot], score: &[Share]) -> MatchResult {
    MatchResult {
        id: MatchId {
            round: id.0,
            number: id.1,
        },
        seats: seats.to_vec(),
        score: score.to_vec(),
        series: score.iter().map(|share| share.value()).collect(),
        games: 1,
    }
}

/// A game of that match, won by the seat with more points.
fn a_game(of: &MatchResult, game: u32, points: &[u32]) -> GameResult {
    let most = points.iter().max();
    let winners = points.iter().filter(|&points| Some(points) == most).count() as u8;
    let share = |points: &u32| {
        if Some(points) == most {
            Share::one_of(winners)
        } else {
            Share::LOSS
        }
    };
    GameResult {
        id: of.id.game(game),
        seats: of.seats.clone(),
        winner: points
            .iter()
            .position(|points| Some(points) == most)
            .filter(|_| winners == 1),
        score: Some(points.iter().map(share).collect()),
        points: Some(points.to_vec()),
        verdict: Verdict::Rule,
        reason: "pits_empty".into(),
        against: None,
        moves: 20,
        time_us: (1..=points.len() as u64).map(|seat| seat * 1000).collect(),
        wall_us: (1..=points.len() as u64).map(|seat| seat * 2000).collect(),
        cpu_us: (1..=points.len() as u64).map(|seat| seat * 10).collect(),
        record_hash: String::new(),
        first: None,
        play_hash: String::new(),
    }
}

fn forfeited(mut game: GameResult, by: Seat, verdict: Verdict) -> GameResult {
    game.verdict = verdict;
    game.against = Some(by);
    game.winner = Some(1 - by);
    game.score = Some(if by == 0 { LOST_AND_WON } else { WON_AND_LOST }.to_vec());
    game
}

fn void(mut game: GameResult) -> GameResult {
    game.verdict = Verdict::Void;
    (game.winner, game.score, game.points) = (None, None, None);
    game
}

#[track_caller]
fn standings(
    counting: Counting,
    bots: &[String],
    matches: &[MatchResult],
    games: &[GameResult],
) -> Standings {
    Standings::of(counting, bots, matches, games).expect("the results are possible")
}

/// (rank, name, points, tie-breaks) of every row.
fn table(standings: &Standings) -> Vec<(usize, &str, f64, &[Option<f64>])> {
    standings
        .rows
        .iter()
        .map(|row| {
            (
                row.rank,
                row.name.as_str(),
                row.points,
                row.tie_breaks.as_slice(),
            )
        })
        .collect()
}

const UNPAIRED: Counting = Counting {
    paired: false,
    points_a_game: false,
    tau: DEFAULT_TAU,
    start: Vec::new(),
};

#[test]
fn a_table_by_hand() {
    // Ada beats Bo and Di, Bo beats Cy and Di, Cy beats Ada and draws with Di.
    let matches = [
        a_match((1, 1), &[0, 3], &WON_AND_LOST),
        a_match((1, 2), &[1, 2], &WON_AND_LOST),
        a_match((1, 3), &[3, 2], &DRAWN),
        a_match((1, 4), &[0, 1], &WON_AND_LOST),
        a_match((1, 5), &[1, 3], &WON_AND_LOST),
        a_match((1, 6), &[2, 0], &WON_AND_LOST),
    ];
    let found = standings(UNPAIRED, &names(&["Ada", "Bo", "Cy", "Di"]), &matches, &[]);
    assert_eq!(
        table(&found),
        [
            (1, "Ada", 2.0, &[Some(1.0), Some(2.5), Some(2.0)][..]),
            (2, "Bo", 2.0, &[Some(0.0), Some(2.0), Some(2.0)]),
            (3, "Cy", 1.5, &[None, Some(2.25), Some(1.0)]),
            (4, "Di", 0.5, &[None, Some(0.75), Some(0.0)]),
        ]
    );
    let cy = found.rows[2].matches;
    assert_eq!((cy.won, cy.drawn, cy.lost, cy.played()), (1, 1, 1, 3));
    assert_eq!(found.tie_breaks, TieBreak::USUAL);
    assert_eq!(found.periods.len(), 1);
    assert_eq!((found.periods[0].round, found.periods[0].matches), (1, 6));
}

#[test]
fn who_is_equal_in_all_shares_the_rank_in_the_order_of_names() {
    // Each of the first three beats the next, all beat the fourth.
    let matches = [
        a_match((1, 1), &[0, 1], &WON_AND_LOST),
        a_match((1, 2), &[1, 2], &WON_AND_LOST),
        a_match((1, 3), &[2, 0], &WON_AND_LOST),
        a_match((1, 4), &[3, 0], &LOST_AND_WON),
        a_match((1, 5), &[3, 1], &LOST_AND_WON),
        a_match((1, 6), &[3, 2], &LOST_AND_WON),
    ];
    let found = standings(UNPAIRED, &names(&["z", "b", "b", "a"]), &matches, &[]);
    let ranks: Vec<_> = found.rows.iter().map(|row| (row.rank, row.slot)).collect();
    assert_eq!(ranks, [(1, 1), (1, 2), (1, 0), (4, 3)]);
    assert!(
        found.rows[..3]
            .iter()
            .all(|row| row.tie_breaks[0] == Some(1.0))
    );
}

#[test]
fn direct_encounter_says_nothing_until_all_equals_have_met_equally_often() {
    // Ada and Bo have one point each and have not met; Ada's was won against the stronger opponent.
    let mut matches = vec![
        a_match((1, 1), &[0, 2], &WON_AND_LOST),
        a_match((1, 2), &[1, 3], &WON_AND_LOST),
        a_match((1, 3), &[2, 3], &DRAWN),
    ];
    let bots = names(&["Bo", "Ada", "Cy", "Di"]);
    let found = standings(UNPAIRED, &bots, &matches, &[]);
    assert!(
        found
            .rows
            .iter()
            .take(2)
            .all(|row| row.tie_breaks[0].is_none())
    );
    assert_eq!(found.rows[2].tie_breaks[0], Some(0.5));
    matches.push(a_match((1, 4), &[0, 1], &DRAWN));
    let found = standings(UNPAIRED, &bots, &matches, &[]);
    assert_eq!(found.rows[0].tie_breaks, [Some(0.5), Some(1.25), Some(1.0)]);
}

#[test]
fn shared_wins_add_up_exactly() {
    let third = [Share::one_of(3); 3];
    let mut matches = vec![a_match(
        (1, 4),
        &[1, 2, 0],
        &[Share::WIN, Share::LOSS, Share::LOSS],
    )];
    matches.extend((1..=3).map(|number| a_match((1, number), &[0, 1, 2], &third)));
    matches.push(a_match(
        (1, 5),
        &[0, 1, 2],
        &[Share::WIN, Share::LOSS, Share::LOSS],
    ));
    let found = standings(UNPAIRED, &names(&["a", "b", "c"]), &matches, &[]);
    let points: Vec<f64> = found.rows.iter().map(|row| row.points).collect();
    assert_eq!(points, [2.0, 2.0, 1.0]);
    // Between the first two: three draws, and each was better once.
    assert_eq!(found.rows[0].tie_breaks[0], Some(2.5));
    assert_eq!((found.rows[0].rank, found.rows[1].rank), (1, 1));
    assert_eq!(found.rows[0].matches.drawn, 3);
}

#[test]
fn forfeits_voids_and_times() {
    let matches = [
        a_match((1, 1), &[0, 1], &WON_AND_LOST),
        a_match((1, 2), &[1, 0], &WON_AND_LOST),
    ];
    let unfinished = a_match((1, 3), &[0, 1], &DRAWN);
    let games = [
        a_game(&matches[0], 1, &[30, 18]),
        forfeited(a_game(&matches[0], 2, &[20, 10]), 1, Verdict::Timeout),
        forfeited(a_game(&matches[1], 1, &[20, 10]), 0, Verdict::Timeout),
        void(a_game(&matches[1], 2, &[0, 0])),
        void(a_game(&matches[1], 2, &[0, 0])),
        a_game(&matches[1], 2, &[24, 24]),
        forfeited(a_game(&unfinished, 1, &[20, 10]), 0, Verdict::Crash),
        void(a_game(&unfinished, 2, &[0, 0])),
    ];
    let found = standings(UNPAIRED, &names(&["a", "b"]), &matches, &games);
    let [a, b] = &found.rows[..] else {
        panic!("two bots")
    };
    let tally = |won, drawn, lost| Tally { won, drawn, lost };
    assert_eq!((a.games, b.games), (tally(3, 1, 0), tally(0, 1, 3)));
    assert_eq!(a.forfeits, BTreeMap::new());
    assert_eq!(b.forfeits, BTreeMap::from([(Verdict::Timeout, 2)]));
    assert_eq!((a.void, b.void), (3, 3));
    assert_eq!(found.unfinished, 1);
    // Seat s takes (s + 1) ms in every game; each bot sat on both seats twice.
    assert_eq!((a.time_us, a.wall_us, a.cpu_us), (6000, 12000, 60));
    assert_eq!(a.points_a_game, None);
}

#[test]
fn points_a_game_by_pairs_and_by_games() {
    // Two pairs of one-game matches; the points of bot 0 less those of bot 1: 2, -1 and 4, -1.
    let score = |won: bool| if won { WON_AND_LOST } else { LOST_AND_WON };
    let matches = [
        a_match((1, 1), &[0, 1], &score(true)),
        a_match((1, 2), &[1, 0], &score(true)),
        a_match((1, 3), &[1, 0], &score(false)),
        a_match((1, 4), &[0, 1], &score(false)),
    ];
    let games = [
        a_game(&matches[0], 1, &[2, 0]),
        a_game(&matches[1], 1, &[1, 0]),
        a_game(&matches[2], 1, &[0, 4]),
        a_game(&matches[3], 1, &[0, 1]),
    ];
    let bots = names(&["a", "b"]);
    let counted = |paired| {
        let counting = Counting {
            paired,
            points_a_game: true,
            ..Counting::default()
        };
        let found = standings(counting, &bots, &matches, &games);
        let of = |slot| {
            let row = found.rows.iter().find(|row| row.slot == slot);
            row.and_then(|row| row.points_a_game)
                .expect("it has points")
        };
        (of(0), of(1))
    };
    let (a, b) = counted(true);
    assert_eq!((a.mean, a.units, b.mean, b.units), (1.0, 2, -1.0, 2));
    // The pairs' means are 0.5 and 1.5: standard error 0.5, one degree of freedom.
    let [low, high] = a.interval.expect("two pairs");
    assert!(
        (high - 1.0 - 0.5 * stats::student_95(1)).abs() < 1e-9,
        "{high}"
    );
    assert!((low + high - 2.0).abs() < 1e-9);
    // 2, -1, 4, -1: the sum of squares about 1 is 18, standard error sqrt(18 / 3 / 4).
    let (a, _) = counted(false);
    let [_, high] = a.interval.expect("four games");
    assert_eq!(a.units, 4);
    assert!(
        (high - 1.0 - 1.5f64.sqrt() * stats::student_95(3)).abs() < 1e-9,
        "{high}"
    );
}

#[test]
fn no_results_yet() {
    let found = standings(UNPAIRED, &names(&["b", "a"]), &[], &[]);
    let ranks: Vec<_> = found.rows.iter().map(|row| (row.rank, row.slot)).collect();
    assert_eq!(ranks, [(1, 1), (1, 0)]);
    assert!(found.rows.iter().all(|row| row.rating == Rating::NEW));
    assert_eq!(found.periods, []);
    assert_eq!(standings(UNPAIRED, &[], &[], &[]).rows, []);
}

#[test]
fn impossible_results_are_refused() {
    let bots = names(&["a", "b"]);
    let good = a_match((1, 1), &[0, 1], &WON_AND_LOST);
    let refusal = |matches: &[MatchResult], games: &[GameResult]| {
        Standings::of(UNPAIRED, &bots, matches, games)
            .expect_err("it is impossible")
            .to_string()
    };
    let of_match = |seats: &[Slot], score: &[Share]| refusal(&[a_match((1, 1), seats, score)], &[]);
    assert_eq!(
        of_match(&[0, 2], &WON_AND_LOST),
        "result r1.m1: bot 2 of 2 bots, counted from 0"
    );
    assert_eq!(
        of_match(&[0], &[Share::WIN]),
        "result r1.m1: 1 seats; a table has 2 to 4"
    );
    assert_eq!(
        of_match(&[1, 1], &DRAWN),
        "result r1.m1: a bot sits on two seats"
    );
    assert_eq!(
        of_match(&[0, 1], &[Share::WIN]),
        "result r1.m1: not one share a seat"
    );
    let text = of_match(&[0, 1], &[Share::one_of(5), Share::LOSS]);
    assert_eq!(
        text,
        "result r1.m1: a share of 0.2 is not that of 1 to 4 winners"
    );
    let text = refusal(&[good.clone(), good.clone()], &[]);
    assert_eq!(text, "result r1.m1: there are two results");

    let game = a_game(&good, 1, &[1, 0]);
    let of_game = |change: &dyn Fn(&mut GameResult)| {
        let mut changed = game.clone();
        change(&mut changed);
        refusal(std::slice::from_ref(&good), &[changed])
    };
    assert!(of_game(&|game| game.seats[0] = 9).ends_with("bot 9 of 2 bots, counted from 0"));
    assert!(of_game(&|game| game.winner = Some(2)).ends_with("a seat that is not there"));
    assert!(of_game(&|game| game.against = Some(7)).ends_with("a seat that is not there"));
    assert!(of_game(&|game| game.score = None).contains("one score"));
    assert!(of_game(&|game| game.points = Some(vec![1])).contains("one score"));
    assert!(of_game(&|game| game.cpu_us.clear()).ends_with("not one time a seat"));
    assert!(of_game(&|game| game.verdict = Verdict::Crash).ends_with("a forfeit of no seat"));
    let between = a_game(&good, 2, &[1, 0]);
    let games = [game.clone(), between, game.clone()];
    let text = refusal(std::slice::from_ref(&good), &games);
    assert_eq!(text, "result r1.m1.g1: there are two results");
    // No way for a number that a file holds to end the program.
    let odd = a_match((u32::MAX, 0), &[0, 1], &WON_AND_LOST);
    let counting = Counting {
        points_a_game: true,
        ..Counting::default()
    };
    let games = [a_game(&odd, u32::MAX, &[u32::MAX, 0])];
    assert_eq!(
        standings(counting, &bots, &[odd], &games).rows[0].points,
        1.0
    );
}

#[test]
fn ratings_follow_the_rounds_in_order() {
    // Bot 2 is new in the second round.
    let matches = [
        a_match((2, 1), &[1, 2], &WON_AND_LOST),
        a_match((1, 1), &[0, 1], &WON_AND_LOST),
    ];
    let found = standings(UNPAIRED, &names(&["a", "b", "c"]), &matches, &[]);
    let won = |a, b| Period {
        results: vec![Meeting {
            a,
            b,
            score: Score::Win,
        }],
    };
    let first = won(0, 1).rate(&[Rating::NEW; 3], 0.5).expect("possible");
    let second = won(1, 2).rate(&first, 0.5).expect("possible");
    // Where some are known from before, the others are new.
    let known = Rating {
        value: 1700.0,
        deviation: 80.0,
        ..Rating::NEW
    };
    let counting = Counting {
        start: vec![known],
        ..UNPAIRED
    };
    let carried = standings(counting, &names(&["a", "b", "c", "d"]), &matches, &[]);
    let start = [known, Rating::NEW, Rating::NEW, Rating::NEW];
    let rated = won(0, 1).rate(&start, 0.5).expect("possible");
    assert_eq!(carried.periods[0].ratings, rated);
    assert!(
        carried
            .rows
            .iter()
            .all(|row| row.slot != 0 || row.rating.value > 1600.0)
    );
    assert_eq!(found.periods[0].ratings, first);
    assert_eq!(found.periods[1].ratings, second);
    for row in &found.rows {
        assert_eq!(row.rating, second[row.slot]);
    }
    assert!(
        second[0].deviation > first[0].deviation,
        "who is idle grows less certain"
    );
}

// ---- A second implementation ------------------------------------------------------------------------------------

/// A random event, not complete: matches of two to four seats in several rounds, games of every verdict, some of them of
/// matches without a result.
struct Random {
    bots: Vec<String>,
    matches: Vec<MatchResult>,
    games: Vec<GameResult>,
}

fn next(seed: &mut u64, below: usize) -> usize {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    ((*seed >> 33) as usize) % below
}

fn random_event(seed: &mut u64) -> Random {
    let bots = 2 + next(seed, 6);
    let mut event = Random {
        bots: (0..bots).map(|slot| format!("bot {}", slot % 3)).collect(),
        matches: Vec::new(),
        games: Vec::new(),
    };
    let seats = 2 + next(seed, 3).min(bots - 2);
    for round in 1..=1 + next(seed, 3) as u32 {
        for number in 1..=2 + next(seed, 14) as u32 {
            let mut table: Vec<Slot> = (0..bots).collect();
            for seat in 0..seats {
                let other = seat + next(seed, bots - seat);
                table.swap(seat, other);
            }
            table.truncate(seats);
            let winners = match next(seed, 3) {
                0 => seats,
                1 => 2,
                _ => 1,
            };
            let shift = next(seed, seats);
            let score: Vec<Share> = (0..seats)
                .map(|seat| match (seat + shift) % seats < winners {
                    true => Share::one_of(winners as u8),
                    false => Share::LOSS,
                })
                .collect();
            let result = a_match((round, number), &table, &score);
            for game in 1..=next(seed, 4) as u32 {
                event.games.push(random_game(seed, &result, game));
            }
            if next(seed, 5) > 0 {
                event.matches.push(result);
            }
        }
    }
    event
}

fn random_game(seed: &mut u64, of: &MatchResult, number: u32) -> GameResult {
    let points: Vec<u32> = of.seats.iter().map(|_| next(seed, 4) as u32).collect();
    let mut game = a_game(of, number, &points);
    game.verdict = Verdict::ALL[next(seed, Verdict::ALL.len())];
    game.time_us
        .iter_mut()
        .for_each(|time| *time += next(seed, 1000) as u64);
    if game.verdict.is_forfeit() {
        game.against = Some(next(seed, of.seats.len()));
    }
    if game.verdict == Verdict::Void {
        game = void(game);
    }
    game
}

fn shuffle<T>(seed: &mut u64, list: &mut [T]) {
    for end in (1..list.len()).rev() {
        list.swap(end, next(seed, end + 1));
    }
}

/// What one bot got against another in one match: 2 for better, 1 for equal, 0 for worse; `None` if they did not meet.
fn against(result: &MatchResult, a: Slot, b: Slot) -> Option<u32> {
    let share = |slot| {
        let seat = result.seats.iter().position(|&seated| seated == slot)?;
        Some(result.score[seat].value())
    };
    let (mine, theirs) = (share(a)?, share(b)?);
    Some(u32::from(mine >= theirs) + u32::from(mine > theirs))
}

/// Everything from the definitions, by going through all results again for every number.
#[expect(clippy::too_many_lines, reason = "one definition after the other")]
fn check_against_definitions(event: &Random, counting: &Counting, found: &Standings) {
    let Random {
        bots,
        matches,
        games,
    } = event;
    let all = 0..bots.len();
    // 60 is divided by every number of winners.
    let points = |slot: Slot| -> u64 {
        let share = |m: &MatchResult| {
            let seat = m.seats.iter().position(|&seated| seated == slot)?;
            Some((m.score[seat].value() * 60.0).round() as u64)
        };
        matches.iter().filter_map(share).sum()
    };
    let met = |a: Slot, b: Slot| {
        matches
            .iter()
            .filter(|m| against(m, a, b).is_some())
            .count()
    };
    let halves = |a: Slot, b: Slot| -> u64 {
        matches
            .iter()
            .filter_map(|m| against(m, a, b))
            .map(u64::from)
            .sum()
    };
    let group = |slot: Slot| -> Vec<Slot> {
        all.clone()
            .filter(|&other| points(other) == points(slot))
            .collect()
    };
    let direct = |slot: Slot| -> Option<u64> {
        let group = group(slot);
        let mut times: Vec<usize> = Vec::new();
        for &a in &group {
            times.extend(group.iter().filter(|&&b| b != a).map(|&b| met(a, b)));
        }
        let fair = times
            .first()
            .is_some_and(|&n| n > 0 && times.iter().all(|&t| t == n));
        fair.then(|| {
            group
                .iter()
                .filter(|&&b| b != slot)
                .map(|&b| halves(slot, b))
                .sum()
        })
    };
    let berger = |slot: Slot| -> u64 {
        let others = all.clone().filter(|&other| other != slot);
        others
            .map(|other| halves(slot, other) * points(other))
            .sum()
    };
    let wins = |slot: Slot| {
        let won = |m: &&MatchResult| {
            m.seats
                .iter()
                .zip(&m.score)
                .any(|(&s, &share)| s == slot && share == Share::WIN)
        };
        matches.iter().filter(won).count() as u64
    };
    let better = |a: Slot, b: Slot| {
        let key = |slot| (points(slot), direct(slot), berger(slot), wins(slot));
        key(a) > key(b)
    };
    let complete = |game: &&GameResult| {
        game.verdict != Verdict::Void && matches.iter().any(|m| m.id == game.id.of)
    };

    let mut seen: Vec<Slot> = found.rows.iter().map(|row| row.slot).collect();
    seen.sort_unstable();
    assert_eq!(seen, all.clone().collect::<Vec<_>>());
    for two in found.rows.windows(2) {
        let in_order =
            (two[0].rank, &two[0].name, two[0].slot) < (two[1].rank, &two[1].name, two[1].slot);
        assert!(in_order, "{two:?}");
    }
    for row in &found.rows {
        let slot = row.slot;
        assert_eq!(row.name, bots[slot]);
        assert_eq!(
            row.rank,
            1 + all.clone().filter(|&other| better(other, slot)).count()
        );
        assert_eq!((row.points * 60.0).round() as u64, points(slot));
        assert_eq!(
            row.tie_breaks[0],
            direct(slot).map(|halves| halves as f64 / 2.0)
        );
        let sonneborn_berger = row.tie_breaks[1].expect("it always is");
        assert!((sonneborn_berger - berger(slot) as f64 / 120.0).abs() < 1e-9);
        assert_eq!(row.tie_breaks[2], Some(wins(slot) as f64));
        let played = matches.iter().filter(|m| m.seats.contains(&slot)).count();
        assert_eq!(row.matches.played() as usize, played);
        assert_eq!(u64::from(row.matches.won), wins(slot));

        let mine = |game: &&GameResult| game.seats.contains(&slot);
        let counted: Vec<(&GameResult, Seat)> = games
            .iter()
            .filter(complete)
            .filter_map(|game| Some((game, game.seats.iter().position(|&s| s == slot)?)))
            .collect();
        let voids = games
            .iter()
            .filter(mine)
            .filter(|game| game.verdict == Verdict::Void);
        assert_eq!(row.void as usize, voids.count());
        assert_eq!(row.games.played() as usize, counted.len());
        let won = counted
            .iter()
            .filter(|(game, seat)| game.winner == Some(*seat));
        assert_eq!(row.games.won as usize, won.count());
        for verdict in Verdict::ALL
            .into_iter()
            .filter(|verdict| verdict.is_forfeit())
        {
            let times = counted
                .iter()
                .filter(|(game, seat)| game.verdict == verdict && game.against == Some(*seat))
                .count();
            assert_eq!(
                row.forfeits.get(&verdict).copied().unwrap_or(0) as usize,
                times
            );
        }
        let sum = |of: fn(&GameResult) -> &[u64]| -> u64 {
            counted.iter().map(|(game, seat)| of(game)[*seat]).sum()
        };
        assert_eq!(row.time_us, sum(|game| &game.time_us));
        assert_eq!(row.wall_us, sum(|game| &game.wall_us));
        assert_eq!(row.cpu_us, sum(|game| &game.cpu_us));

        let net = |(game, seat): &(&GameResult, Seat)| {
            let points = game.points.as_ref().expect("it counts");
            let others = points.iter().enumerate().filter(|(other, _)| other != seat);
            let others: f64 = others.map(|(_, &points)| f64::from(points)).sum();
            f64::from(points[*seat]) - others / (points.len() - 1) as f64
        };
        let Some(points_a_game) = row.points_a_game else {
            assert!(counted.is_empty() || !counting.points_a_game);
            continue;
        };
        let mean = counted.iter().map(net).sum::<f64>() / counted.len() as f64;
        assert!((points_a_game.mean - mean).abs() < 1e-9);
        let mut units: Vec<_> = counted
            .iter()
            .map(|(game, _)| {
                let number = game.id.of.number;
                let pair = if counting.paired {
                    number.div_ceil(2)
                } else {
                    number
                };
                (game.id.of.round, pair, game.id.game)
            })
            .collect();
        units.sort_unstable();
        units.dedup();
        assert_eq!(points_a_game.units, units.len());
    }
}

#[test]
fn equal_to_the_definitions_whatever_the_order() {
    let mut seed = 1;
    let mut ties = 0;
    for step in 0..1500 {
        let mut event = random_event(&mut seed);
        let counting = Counting {
            paired: step % 2 == 0,
            points_a_game: step % 3 > 0,
            ..Counting::default()
        };
        let found = standings(counting.clone(), &event.bots, &event.matches, &event.games);
        check_against_definitions(&event, &counting, &found);
        ties += found
            .rows
            .iter()
            .filter(|row| row.tie_breaks[0].is_some())
            .count();
        shuffle(&mut seed, &mut event.matches);
        shuffle(&mut seed, &mut event.games);
        let again = standings(counting, &event.bots, &event.matches, &event.games);
        assert_eq!(found, again);
    }
    assert!(ties > 200, "direct encounter was tried only {ties} times");
}

/// A Swiss event of five as a table prints it: Ada wins all, one bye each round; Buchholz by hand.
#[test]
fn a_swiss_table_by_hand() {
    // Round 1: Ada beats Cy, Bo draws Di, Ed has the bye. Round 2: Ada beats Ed, Bo beats Cy, Di has the bye.
    let matches = [
        a_match((1, 1), &[0, 2], &WON_AND_LOST),
        a_match((1, 2), &[1, 3], &DRAWN),
        a_match((2, 1), &[4, 0], &LOST_AND_WON),
        a_match((2, 2), &[1, 2], &WON_AND_LOST),
    ];
    let bye = |round, slot| Bye {
        round,
        slot,
        points: 1,
    };
    let placing = Placing {
        places: None,
        tie_breaks: TieBreak::SWISS.to_vec(),
        byes: vec![bye(1, 4), bye(2, 3)],
        ..Placing::default()
    };
    let bots = names(&["Ada", "Bo", "Cy", "Di", "Ed"]);
    let found = Standings::placed(UNPAIRED, &placing, &bots, &matches, &[]).expect("possible");
    // Points: Ada 2, Bo 1.5, Di 1.5, Ed 1, Cy 0. Buchholz: Ada 0 + 1; Bo 1.5 + 0; Di 1.5 + its own 1.5; Ed its own 1 + 2; Cy 2 + 1.5.
    assert_eq!(
        table(&found),
        [
            (1, "Ada", 2.0, &[Some(1.0), Some(1.0), Some(1.0), None][..]),
            (2, "Di", 1.5, &[Some(3.0), Some(1.5), Some(0.75), Some(0.5)]),
            (3, "Bo", 1.5, &[Some(1.5), Some(1.5), Some(0.75), Some(0.5)]),
            (4, "Ed", 1.0, &[Some(3.0), Some(2.0), Some(0.0), None]),
            (5, "Cy", 0.0, &[Some(3.5), Some(2.0), Some(0.0), None]),
        ]
    );
    let byes: Vec<u32> = found.rows.iter().map(|row| row.byes).collect();
    assert_eq!(byes, [0, 1, 0, 1, 0]);
}

/// Where a format decides the places, points come after.
#[test]
fn places_of_a_format_come_first() {
    let matches = [
        a_match((1, 1), &[0, 1], &WON_AND_LOST),
        a_match((2, 1), &[1, 2], &LOST_AND_WON),
    ];
    let placing = Placing {
        places: Some(vec![3, 1, 1]),
        ..Placing::default()
    };
    let bots = names(&["Ada", "Bo", "Cy"]);
    let found = Standings::placed(UNPAIRED, &placing, &bots, &matches, &[]).expect("possible");
    let order: Vec<(usize, &str)> = found
        .rows
        .iter()
        .map(|row| (row.rank, row.name.as_str()))
        .collect();
    assert_eq!(order, [(1, "Cy"), (2, "Bo"), (3, "Ada")]);
}
