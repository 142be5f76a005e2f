//! The figures, group by group.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use crate::common::machine::{self, Load};
use crate::common::report::{self, Figure, Promise, median};
use crate::process::{Cost, Sample};
use crate::script::Script;
use crate::subject::{Plan, Played, SHORT_MOVES, Subject};
use crate::{Fault, Options, process};

mod charge;

/// The record of a game, KiB; it is held in memory until the game is over.
const RECORD: f64 = 16.0;
/// The memory of a bot with half of its game's record, KiB.
const A_BOT: Promise = Promise::lower(20.0 + RECORD / 2.0, Some(8.0 + RECORD / 2.0));

/// What every group needs.
struct Bench<'a> {
    options: &'a Options,
    subject: Subject,
    cores: Vec<usize>,
    /// Where the script lies.
    script: String,
    /// The moves of a game between instant bots.
    moves: u64,
}

/// Runs what was asked for; whether every promise holds, or was not to be checked.
pub(crate) fn run(options: &Options) -> Result<bool, Fault> {
    let cores = machine::cores()?;
    report::describe_machine(&cores);
    println!("results in {}", options.dir.display());
    let subject = Subject::new(&options.hakem, &options.dir)?;
    let (script, moves) = if options.yardsticks {
        (Script::made_up(), 0)
    } else {
        capture(&subject, &cores)?
    };
    let (question, answer) = script.mean_lengths();
    println!("lines: {question} bytes to a bot a turn, {answer} bytes back, {moves} moves a game");
    let path = subject.dir().join("script.json");
    script.save(&path)?;
    let bench = Bench {
        options,
        subject,
        cores,
        script: path.to_string_lossy().into_owned(),
        moves,
    };
    if options.yardsticks {
        return bench.yardsticks();
    }
    let mut all = true;
    if options.wants("a") || options.wants("b") {
        all &= bench.one_core()?;
    }
    if bench.cores.len() < 2 {
        println!("only one core may be used: the figures for two are left out");
    } else {
        for tables in [8, 16, 32] {
            all &= bench.two_cores(tables)?;
        }
        if options.wants("d") {
            all &= bench.restarts()?;
        }
    }
    if options.wants("e") {
        all &= bench.memory()?;
    }
    if options.wants("f") {
        all &= bench.charges()?;
    }
    Ok(all || !options.check)
}

/// Plays a match once to learn its lines and the moves of a game.
fn capture(subject: &Subject, cores: &[usize]) -> Result<(Script, u64), Fault> {
    const SETS: usize = 4;
    let dir = subject.fresh("capture")?;
    let played = subject.play(
        &Plan {
            matches: 1,
            sets: SETS,
            jobs: 1,
            clock: "fair",
            cores: &cores[..1],
            short: false,
            bot: &["--capture", &dir.to_string_lossy()],
            moves: None,
            charges: false,
        },
        None,
    )?;
    let script = Script::from_captures(&dir)?;
    if script.steps.len() as u64 != played.moves || played.moves % SETS as u64 != 0 {
        let found = script.steps.len();
        return Err(format!("the bots saw {found} turns, hakem counts {}", played.moves).into());
    }
    Ok((script, played.moves / SETS as u64))
}

/// The median gap between the turns of a game, over all games, both bots together.
fn median_gap_ns(dir: &Path) -> Result<f64, Fault> {
    let mut games: HashMap<String, Vec<u64>> = HashMap::new();
    for entry in std::fs::read_dir(dir)? {
        for line in std::fs::read_to_string(entry?.path())?.lines() {
            let (game, stamps) = line.split_once(' ').ok_or("a game has turns")?;
            let stamps = stamps.split(' ').map(str::parse::<u64>);
            let all = games.entry(game.into()).or_default();
            for stamp in stamps {
                all.push(stamp?);
            }
        }
    }
    let mut gaps = Vec::new();
    for stamps in games.values_mut() {
        stamps.sort_unstable();
        gaps.extend(stamps.windows(2).map(|pair| (pair[1] - pair[0]) as f64));
    }
    if gaps.is_empty() {
        return Err("the bots left no stamps".into());
    }
    Ok(median(&gaps))
}

fn number(result: &Value, key: &str) -> Result<f64, Fault> {
    result[key]
        .as_f64()
        .ok_or_else(|| format!("a yardstick printed no {key}: {result}").into())
}

/// The values of both sides, round by round.
#[derive(Default)]
struct Sides {
    hakem: Vec<f64>,
    yardstick: Vec<f64>,
}

impl Sides {
    fn figure(self, name: String, title: String, unit: &'static str, promise: Promise) -> Figure {
        let (own, yard) = (median(&self.hakem), median(&self.yardstick));
        let rounds = self.hakem.iter().zip(&self.yardstick);
        Figure {
            name,
            title,
            value: own / yard,
            rounds: rounds.map(|(own, yard)| own / yard).collect(),
            unit: "times",
            sides: Some((own, yard, unit)),
            promise,
        }
    }
}

/// What a longer run cost beyond a short one of the same event: start and end are left out.
fn beyond(long: &Played, short: &Played) -> (u64, Cost) {
    let cost = Cost {
        wall: long.cost.wall.saturating_sub(short.cost.wall),
        cpu: long.cost.cpu.saturating_sub(short.cost.cpu),
        resident: Vec::new(),
    };
    (long.moves - short.moves, cost)
}

impl Bench<'_> {
    fn pick<T>(&self, quick: T, full: T) -> T {
        if self.options.quick { quick } else { full }
    }

    fn yardstick(
        &self,
        role: &str,
        cores: &[usize],
        tables: usize,
        turns: u64,
    ) -> Result<Value, Fault> {
        let args = [
            &self.script,
            &process::list(cores),
            &tables.to_string(),
            &turns.to_string(),
        ];
        self.subject.yardstick(role, &args.map(String::as_str))
    }

    fn plan<'b>(&'b self, matches: usize, sets: usize, clock: &'b str) -> Plan<'b> {
        Plan {
            matches,
            sets,
            jobs: matches,
            clock,
            cores: &self.cores,
            short: false,
            bot: &[],
            moves: Some(self.moves),
            charges: false,
        }
    }

    /// The yardsticks by themselves.
    fn yardsticks(&self) -> Result<bool, Fault> {
        let turns = self.pick(20_000, 100_000);
        let mut layouts = vec![(1, &self.cores[..1])];
        layouts.extend([8, 16, 32].map(|tables| (tables, &self.cores[..])));
        for (tables, cores) in layouts {
            for role in ["raw-pairs", "lines-only"] {
                let found = self.yardstick(role, cores, tables, turns / tables as u64)?;
                let (turns, wall) = (number(&found, "turns")?, number(&found, "wall_ns")?);
                let cpu = number(&found, "cpu_ns")? / turns / 1e3;
                let rate = turns / wall * 1e6;
                let trip = found["median_ns"].as_f64().map_or_else(String::new, |ns| {
                    format!(", median round trip {:.2} us", ns / 1e3)
                });
                println!(
                    "{role}, {tables} at once on {} cores: {rate:.0} k turns/s, {cpu:.2} us processor time a turn{trip}",
                    cores.len()
                );
            }
        }
        let pairs = self.pick(100, 500);
        let found = self.spawn_pairs(pairs)?;
        println!(
            "spawn-pairs, {} cores: {found:.0} pairs/s",
            self.cores.len()
        );
        Ok(true)
    }

    /// What raw pipes and moving lines alone come to right now.
    fn floor(&self, cores: &[usize], tables: usize, turns: u64) -> Result<Floor, Fault> {
        let raw = self.yardstick("raw-pairs", cores, tables, turns)?;
        let lines = self.yardstick("lines-only", cores, tables, turns)?;
        Ok(Floor {
            trip: raw["median_ns"].as_f64().unwrap_or_default() / 1e3,
            rate: number(&raw, "turns")? / number(&raw, "wall_ns")? * 1e6,
            cpu: number(&lines, "cpu_ns")? / number(&lines, "turns")? / 1e3,
        })
    }

    /// Groups a and b: one game, everything on one core.
    fn one_core(&self) -> Result<bool, Fault> {
        let since = Load::now()?;
        let core = &self.cores[..1];
        let (matches, sets) = self.pick((1, 500), (3, 1000));
        let turns = self.moves * (matches * sets) as u64;
        let stamps = self.subject.dir().join("stamps");
        let kinds = ["wall", "fair"];
        let mut trips = kinds.map(|_| Sides::default());
        let mut times = kinds.map(|_| Sides::default());
        for _ in 0..self.options.rounds {
            let mut before = self.floor(core, 1, turns)?;
            for (kind, (trip, time)) in kinds.iter().zip(trips.iter_mut().zip(&mut times)) {
                let stamped = ["--stamps", &stamps.to_string_lossy()];
                let plan = Plan {
                    jobs: 1,
                    cores: core,
                    bot: &stamped,
                    ..self.plan(matches, sets, kind)
                };
                self.subject.fresh("stamps")?;
                let long = self.subject.play(&plan, None)?;
                let after = self.floor(core, 1, turns)?;
                let floor = Floor::between(before, after);
                before = after;
                trip.hakem.push(median_gap_ns(&stamps)? / 1e3);
                trip.yardstick.push(floor.trip);
                let few = Plan {
                    sets: sets / 50,
                    ..plan
                };
                let (moves, cost) = beyond(&long, &self.subject.play(&few, None)?);
                time.hakem.push(cost.cpu.as_secs_f64() * 1e6 / moves as f64);
                time.yardstick.push(floor.cpu);
            }
        }
        let mut all = true;
        let bounds = [(1.6, 1.4), (2.2, 1.8)];
        if self.options.wants("a") {
            for ((kind, sides), (bound, stretch)) in kinds.iter().zip(trips).zip(bounds) {
                let figure = sides.figure(
                    format!("round_trip.{kind}"),
                    format!("a. round trip of a turn, one core, clock {kind}, to a raw pipe"),
                    "us",
                    Promise::lower(bound, Some(stretch)),
                );
                all &= figure.print(since)?;
            }
        }
        if self.options.wants("b") {
            for (kind, sides) in kinds.iter().zip(times) {
                all &= self.cpu_figure(1, kind, sides).print(since)?;
            }
        }
        Ok(all)
    }

    fn cpu_figure(&self, tables: usize, kind: &str, sides: Sides) -> Figure {
        let cores = if tables == 1 { 1 } else { self.cores.len() };
        sides.figure(
            format!("cpu.{tables}.{kind}"),
            format!(
                "b. processor time of a move, {tables} at once, {cores} cores, clock {kind}, to lines only"
            ),
            "us",
            Promise::lower(2.2, Some(1.6)),
        )
    }

    /// Groups b and c: several games at once on two cores.
    fn two_cores(&self, tables: usize) -> Result<bool, Fault> {
        let wants_cpu = self.options.wants("b") && tables != 16;
        if !wants_cpu && !self.options.wants("c") {
            return Ok(true);
        }
        let since = Load::now()?;
        let total = self.pick(60_000, 240_000);
        let sets = usize::try_from(total / self.moves)?
            .div_ceil(tables)
            .max(20);
        let turns = self.moves * sets as u64;
        let kinds = ["wall", "fair"];
        let mut rates = kinds.map(|_| Sides::default());
        let mut times = kinds.map(|_| Sides::default());
        for _ in 0..self.options.rounds {
            let mut before = self.floor(&self.cores, tables, turns)?;
            for (kind, (rate, time)) in kinds.iter().zip(rates.iter_mut().zip(&mut times)) {
                let plan = self.plan(tables, sets, kind);
                let few = Plan {
                    sets: sets / 20,
                    ..plan.clone()
                };
                let long = self.subject.play(&plan, None)?;
                let after = self.floor(&self.cores, tables, turns)?;
                let floor = Floor::between(before, after);
                before = after;
                let (moves, cost) = beyond(&long, &self.subject.play(&few, None)?);
                rate.hakem
                    .push(moves as f64 / cost.wall.as_secs_f64() / 1e3);
                rate.yardstick.push(floor.rate);
                time.hakem.push(cost.cpu.as_secs_f64() * 1e6 / moves as f64);
                time.yardstick.push(floor.cpu);
            }
        }
        let mut all = true;
        if wants_cpu {
            for (kind, sides) in kinds.iter().zip(times) {
                all &= self.cpu_figure(tables, kind, sides).print(since)?;
            }
        }
        if self.options.wants("c") {
            for (kind, sides) in kinds.iter().zip(rates) {
                let figure = sides.figure(
                    format!("rate.{tables}.{kind}"),
                    format!(
                        "c. moves a second, {tables} at once, two cores, clock {kind}, to raw pipes"
                    ),
                    "k/s",
                    Promise::higher(0.6, None),
                );
                all &= figure.print(since)?;
            }
        }
        Ok(all)
    }

    fn spawn_pairs(&self, pairs: usize) -> Result<f64, Fault> {
        let args = [
            &self.script,
            &process::list(&self.cores),
            &pairs.to_string(),
        ];
        let found = self
            .subject
            .yardstick("spawn-pairs", &args.map(String::as_str))?;
        Ok(number(&found, "pairs")? / number(&found, "wall_ns")? * 1e9)
    }

    /// Group d: bots started for every game.
    fn restarts(&self) -> Result<bool, Fault> {
        let since = Load::now()?;
        let games = self.pick(300, 1500);
        let mut rates = Sides::default();
        for _ in 0..self.options.rounds {
            rates.yardstick.push(self.spawn_pairs(games)?);
            let plan = Plan {
                jobs: 8,
                short: true,
                moves: Some(SHORT_MOVES),
                ..self.plan(games, 1, "fair")
            };
            let few = Plan {
                matches: games / 20,
                ..plan.clone()
            };
            let (long, short) = (
                self.subject.play(&plan, None)?,
                self.subject.play(&few, None)?,
            );
            let (_, cost) = beyond(&long, &short);
            let games = (long.games - short.games) as f64;
            rates.hakem.push(games / cost.wall.as_secs_f64());
        }
        let figure = rates.figure(
            "restarts".into(),
            "d. games a second with bots started for each, two cores, to bare starting".into(),
            "games/s",
            Promise::higher(0.7, None),
        );
        figure.print(since)
    }

    /// Group e: resident memory.
    fn memory(&self) -> Result<bool, Fault> {
        let mut all = self.memory_of_a_bot()?;
        all &= self.memory_over_time()?;
        all &= self.many_at_once()?;
        Ok(all)
    }

    fn memory_of_a_bot(&self) -> Result<bool, Fault> {
        const MANY: usize = 64;
        let since = Load::now()?;
        let games = self.pick(1, 4);
        let mut values = Vec::new();
        for _ in 0..self.options.rounds.min(3) {
            let [many, one] = [(MANY, games), (1, games * MANY / 2)].map(|(tables, sets)| {
                // Bots that take their time: else the records of finished games that wait for the disk are measured, which are
                // more the faster games end, not the more bots there are.
                let plan = Plan {
                    bot: &["--think", "1000"],
                    ..self.plan(tables, sets, "fair")
                };
                let played = self.subject.play(&plan, Some(&mut || 0))?;
                Ok::<f64, Fault>(middle_kib(&played.cost.resident))
            });
            let bots = 2 * (MANY - 1);
            values.push((many? - one?) / bots as f64);
        }
        let figure = Figure {
            name: "memory.bot".into(),
            title: format!(
                "e. resident memory of hakem for a bot more and half of its game's record, {MANY} games against 1"
            ),
            value: median(&values),
            rounds: values,
            unit: "KiB",
            sides: None,
            promise: A_BOT,
        };
        figure.print(since)
    }

    fn memory_over_time(&self) -> Result<bool, Fault> {
        const MATCHES: usize = 10;
        let since = Load::now()?;
        // Never fewer: a run settles a little higher once it has had its first bursts.
        let sets = 1000;
        let mut sides = Sides::default();
        for _ in 0..self.pick(1, self.options.rounds.min(3)) {
            let marks = self.subject.fresh("marks")?;
            let marked = ["--mark", &marks.to_string_lossy()];
            let plan = Plan {
                jobs: 1,
                bot: &marked,
                ..self.plan(MATCHES, sets, "fair")
            };
            let mut started = || std::fs::read_dir(&marks).map_or(0, Iterator::count);
            let played = self.subject.play(&plan, Some(&mut started))?;
            // Within a match headers grow with the games before, so whole matches are compared: the second, whose bots are the
            // third and fourth, and the last. The least, because now few and now many records wait for the disk.
            let least = |bots| {
                let samples = played.cost.resident.iter();
                let samples = samples.filter(|sample| sample.count == bots);
                let least = samples.map(|sample| sample.kib).min();
                least.ok_or("the run was too short to take samples of its memory")
            };
            sides.yardstick.push(least(4)? as f64);
            sides.hakem.push(least(2 * MATCHES)? as f64);
        }
        let games = MATCHES * sets;
        let figure = sides.figure(
            "memory.flat".into(),
            format!(
                "e. resident memory in the last {sets} of {games} games, to that in the second {sets}"
            ),
            "KiB",
            Promise::lower(1.05, None),
        );
        figure.print(since)
    }

    fn many_at_once(&self) -> Result<bool, Fault> {
        let since = Load::now()?;
        let games = self.pick(200, 1000);
        let open = process::raise_open_files()?;
        // Two or three descriptors a bot, and some.
        if open < 2 * 3 * games as u64 + 100 {
            println!("only {open} files may be open: {games} games at once are left out");
            return Ok(true);
        }
        let plan = self.plan(games, 2, "fair");
        let played = self.subject.play(&plan, Some(&mut || 0))?;
        let peak = played.cost.resident.iter().map(|sample| sample.kib).max();
        let peak = peak.unwrap_or(0) as f64 / 1024.0;
        let figure = Figure {
            name: "memory.many".into(),
            title: format!(
                "e. {games} games at once, {} moves in {:.1} s, none lost; resident memory of hakem",
                played.moves,
                played.cost.wall.as_secs_f64()
            ),
            value: peak,
            rounds: vec![peak],
            unit: "MiB",
            sides: None,
            promise: Promise::lower(40.0, None),
        };
        figure.print(since)
    }
}

/// What the yardsticks reach.
#[derive(Clone, Copy)]
struct Floor {
    /// The median round trip of one raw pipe, microseconds; 0 with several.
    trip: f64,
    /// Turns of raw pipes, thousands a second.
    rate: f64,
    /// Processor time of a turn where lines alone are moved, microseconds.
    cpu: f64,
}

impl Floor {
    /// Between two moments: the machine's speed changes while a round goes on.
    fn between(before: Floor, after: Floor) -> Floor {
        let mean = |of: fn(Floor) -> f64| f64::midpoint(of(before), of(after));
        Floor {
            trip: mean(|floor| floor.trip),
            rate: mean(|floor| floor.rate),
            cpu: mean(|floor| floor.cpu),
        }
    }
}

/// The median of the middle half of the samples: without start and end.
fn middle_kib(samples: &[Sample]) -> f64 {
    let quarter = samples.len() / 4;
    let middle: Vec<f64> = samples[quarter..samples.len() - quarter]
        .iter()
        .map(|sample| sample.kib as f64)
        .collect();
    median(&middle)
}
