//! Group a: random games to the end, beside OpenSpiel's in C++.

use hakem::game::{self, Game};
use serde_json::{Value, json};

use crate::common::machine::{Load, own_cpu_ns};
use crate::common::report::{self, Figure, Promise, median};
use crate::openspiel::{OpenSpiel, VERSION};
use crate::support::{Player, Task, with_game};
use crate::{Fault, Options};

/// Random games are played in batches of so many, each from the same seed.
const BATCH: u64 = 1000;
const SEED: u64 = 2026;

/// A game beside OpenSpiel's nearest.
struct Contest {
    game: &'static str,
    options: Value,
    /// OpenSpiel's name.
    yardstick: &'static str,
    /// Whether plies are compared; else games.
    by_plies: bool,
    bound: f64,
    stretch: f64,
    /// The plies of a batch.
    plies: u64,
}

fn contests() -> [Contest; 5] {
    let contest = |game, yardstick, (bound, stretch), plies| Contest {
        game,
        options: json!({}),
        yardstick,
        by_plies: false,
        bound,
        stretch,
        plies,
    };
    [
        // OpenSpiel's game has no cube, and plays a double as two plies.
        Contest {
            options: json!({"cube": false}),
            by_plies: true,
            ..contest("tavla", "backgammon", (7.0, 20.0), 95_744)
        },
        contest("reversi", "othello", (15.0, 60.0), 60_344),
        contest("oware", "oware", (3.0, 7.0), 141_489),
        contest("mangala", "mancala", (1.5, 3.0), 42_530),
        contest("dokuztas", "nine_mens_morris", (2.3, 4.5), 81_323),
    ]
}

/// Plays batches for at least so long; what is told is a second of processor time.
struct Batches<'a> {
    options: &'a Value,
    plies: u64,
    seconds: f64,
}

impl Task for Batches<'_> {
    /// Games a second.
    type Output = f64;

    fn run<G: Game>(self) -> f64 {
        let begin = own_cpu_ns();
        let mut games = 0;
        loop {
            let mut player = Player::<G>::new(self.options, SEED);
            let plies: u64 = (0..BATCH).map(|_| player.play()).sum();
            assert_eq!(
                plies,
                self.plies,
                "{}: plies of {BATCH} games",
                G::FACTS.name
            );
            games += BATCH;
            let spent = (own_cpu_ns() - begin) as f64 / 1e9;
            if spent >= self.seconds {
                return games as f64 / spent;
            }
        }
    }
}

/// All games; whether every promise holds.
pub(crate) fn run(options: &Options, spiel: &mut Result<OpenSpiel, Fault>) -> Result<bool, Fault> {
    let mut all = true;
    for contest in contests() {
        all &= contest.run(options, spiel)?;
    }
    Ok(all)
}

impl Contest {
    fn run(&self, options: &Options, spiel: &mut Result<OpenSpiel, Fault>) -> Result<bool, Fault> {
        let name = format!("playouts.{}", self.game);
        let title = format!("a. random games of {}", self.game);
        if game::find(self.game).is_none() {
            report::print_skipped(&name, &title, "there is no such game yet");
            return Ok(true);
        }
        let since = Load::now()?;
        let helper = spiel
            .as_ref()
            .map_or_else(|_| Default::default(), OpenSpiel::cpu);
        let own_plies = self.plies as f64 / BATCH as f64;
        let yard_plies = match spiel {
            Ok(spiel) => spiel.mean_plies(self.yardstick, options.pick(100, 1000))?,
            Err(_) => 0.0,
        };
        let (own_scale, yard_scale) = if self.by_plies {
            (own_plies, yard_plies)
        } else {
            (1.0, 1.0)
        };
        let seconds = options.pick(0.3, 1.0);
        let (mut own, mut yard) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds {
            let batches = Batches {
                options: &self.options,
                plies: self.plies,
                seconds,
            };
            let games = with_game(self.game, batches).ok_or_else(|| {
                format!("tests/support/playouts.rs has no line for {}", self.game)
            })?;
            own.push(games * own_scale);
            if let Ok(spiel) = spiel {
                yard.push(spiel.playouts(self.yardstick, seconds)? * yard_scale);
            }
        }
        let unit = if self.by_plies { "plies/s" } else { "games/s" };
        match spiel {
            Err(why) => {
                let title = format!("{title}, {own_plies:.1} plies a game");
                report::print_alone(&name, &title, &own, unit, &why.to_string());
                Ok(true)
            }
            Ok(spiel) => {
                let (games, plies) = (
                    median(&own) / own_scale / (median(&yard) / yard_scale),
                    median(&own) / own_scale * own_plies
                        / (median(&yard) / yard_scale * yard_plies),
                );
                let figure = Figure {
                    name,
                    title: format!(
                        "{title} to OpenSpiel {VERSION}'s {}, {own_plies:.1} plies a game to {yard_plies:.1} (in games {games:.2} times, in plies {plies:.2} times)",
                        self.yardstick
                    ),
                    value: median(&own) / median(&yard),
                    rounds: own
                        .iter()
                        .zip(&yard)
                        .map(|(own, yard)| own / yard)
                        .collect(),
                    unit: if self.by_plies {
                        "times the plies"
                    } else {
                        "times the games"
                    },
                    sides: Some((median(&own), median(&yard), unit)),
                    promise: Promise::higher(self.bound, Some(self.stretch)),
                };
                figure.print(since.besides(spiel.cpu() - helper))
            }
        }
    }
}
