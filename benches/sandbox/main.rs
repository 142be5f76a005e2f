//! What the sandbox costs, as ratios to the same without it, in the same minutes on the same machine.
//!
//!     cargo bench --bench sandbox                     every figure
//!     cargo bench --bench sandbox -- --quick          a rough look
//!     cargo bench --bench sandbox -- --check          exit code 1 if a promise does not hold
//!     cargo bench --bench sandbox -- --hakem PATH     another build of the program
//!
//! - `start`: the processor time that `strict` adds to the start of a program, to its end;
//! - `share`: the same as a part of what the system's Python needs for its own start;
//! - `turn`: a line to a bot and back at `strict`, over the same at `none`; and with the freeze, for information.
//!
//! Rounds are interleaved and medians are compared. Each figure is a line for people and a line of JSON.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its figures, and the reason why it cannot"
)]

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "other benchmarks use the rest")]
mod common;

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::Fault;
use common::machine::{Load, TICK, cores, own_cpu_ns, pin};
use common::report::{Figure, Promise, describe_machine, median, print_alone, print_skipped};
use hakem::bot::process::{Program, Started};
use hakem::bot::sandbox::slots::Slots;
use hakem::bot::sandbox::{Confine, Level, probe};

/// The system's own Python; that of a version manager takes several times as long.
const PYTHON: &str = "/usr/bin/python3";

struct Options {
    check: bool,
    /// Rounds, starts a round and turns a round.
    rounds: usize,
    starts: u32,
    turns: u32,
    hakem: PathBuf,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options, Fault> {
        let mut options = Options {
            check: false,
            rounds: 7,
            starts: 60,
            turns: 20_000,
            hakem: env!("CARGO_BIN_EXE_hakem").into(),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--bench" => {}
                "--check" => options.check = true,
                "--quick" => {
                    options.rounds = 3;
                    options.starts = 20;
                    options.turns = 4_000;
                }
                "--hakem" => options.hakem = args.next().ok_or("--hakem needs a value")?.into(),
                other => return Err(format!("there is no option {other}").into()),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --all-targets` starts benchmarks without this word.
    if !args.iter().any(|arg| arg == "--bench") {
        println!("the figures are measured by `cargo bench --bench sandbox`");
        return ExitCode::SUCCESS;
    }
    let done = Options::parse(&args).and_then(|options| Ok((run(&options)?, options.check)));
    match done {
        Ok((true, _) | (false, false)) => ExitCode::SUCCESS,
        Ok((false, true)) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("bench: {fault}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<bool, Fault> {
    let cores = cores()?;
    describe_machine(&cores);
    let slots = Slots::new()?;
    if let Err(why) = probe::machine(&options.hakem, &slots).strict {
        for name in ["start", "share", "turn"] {
            print_skipped(name, name, &why.to_string());
        }
        return Ok(true);
    }
    // A game's referee and bots share a core.
    pin(&cores[..1])?;
    let bench = Bench { options, slots };
    Ok(bench.starts()? & bench.turns()?)
}

struct Bench<'a> {
    options: &'a Options,
    slots: Arc<Slots>,
}

impl Bench<'_> {
    fn program(&self, argv: &[&str], level: Level, freezes: bool) -> Program {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let confine = (level != Level::None).then(|| {
            Arc::new(Confine {
                own: self.options.hakem.clone(),
                order: probe::order_for(level, argv.clone(), "/usr".into(), Vec::new()),
                freezes,
                slots: self.slots.clone(),
            })
        });
        Program {
            argv,
            dir: Some("/usr".into()),
            env: Vec::new(),
            log: None,
            max_stderr: 0,
            max_line: 1 << 10,
            max_output: u64::MAX,
            exit_us: 0,
            cores: 1,
            confine,
        }
    }

    /// The processor time of a start, all processes, milliseconds.
    fn start(&self, program: &Program) -> Result<f64, Fault> {
        let before = used()?;
        for _ in 0..self.options.starts {
            let started = program.start()?;
            wait(started)?;
        }
        Ok((used()? - before) * 1000.0 / f64::from(self.options.starts))
    }

    fn starts(&self) -> Result<bool, Fault> {
        let bare = self.program(&["/bin/true"], Level::None, false);
        let strict = self.program(&["/bin/true"], Level::Strict, false);
        let python = self.program(&[PYTHON, "-c", "pass"], Level::None, false);
        let has_python = std::path::Path::new(PYTHON).exists();
        let load = Load::now()?;
        let (mut bares, mut stricts, mut pythons) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.options.rounds {
            bares.push(self.start(&bare)?);
            stricts.push(self.start(&strict)?);
            if has_python {
                pythons.push(self.start(&python)?);
            }
        }
        let added: Vec<f64> = stricts.iter().zip(&bares).map(|(a, b)| a - b).collect();
        let mut holds = Figure {
            name: "start".into(),
            title: "processor time that strict adds to a start".into(),
            value: median(&added),
            rounds: added.clone(),
            unit: "ms",
            sides: Some((median(&stricts), median(&bares), "ms")),
            promise: Promise::lower(4.0, None),
        }
        .print(load)?;
        if has_python {
            let shares: Vec<f64> = added.iter().zip(&pythons).map(|(a, b)| a / b).collect();
            holds &= Figure {
                name: "share".into(),
                title: "the same over the start of python3".into(),
                value: median(&shares),
                rounds: shares,
                unit: "of it",
                sides: Some((median(&added), median(&pythons), "ms")),
                promise: Promise::lower(0.5, None),
            }
            .print(load)?;
        } else {
            print_skipped(
                "share",
                "the same over the start of python3",
                "there is no /usr/bin/python3",
            );
        }
        Ok(holds)
    }

    fn turns(&self) -> Result<bool, Fault> {
        let levels = [
            (Level::None, false),
            (Level::Strict, false),
            (Level::Strict, true),
        ];
        let mut bots = Vec::new();
        for (level, freezes) in levels {
            let bot = Bot::start(&self.program(&["/bin/cat"], level, freezes))?;
            bots.push((bot, Vec::new()));
        }
        let load = Load::now()?;
        for round in 0..=self.options.rounds {
            for (number, (bot, times)) in bots.iter_mut().enumerate() {
                // Those that are frozen each turn take longer.
                let turns = self.options.turns / if levels[number].1 { 10 } else { 1 };
                let time = bot.turns(turns)?;
                // The first round warms up.
                if round > 0 {
                    times.push(time);
                }
            }
        }
        let [bare, strict, frozen] = &bots[..] else {
            return Err("three bots were started".into());
        };
        let ratios: Vec<f64> = strict.1.iter().zip(&bare.1).map(|(a, b)| a / b).collect();
        let holds = Figure {
            name: "turn".into(),
            title: "a turn at strict over one at none".into(),
            value: median(&ratios),
            rounds: ratios,
            unit: "times",
            sides: Some((median(&strict.1), median(&bare.1), "us")),
            promise: Promise::lower(1.05, None),
        }
        .print(load)?;
        print_alone(
            "turn_frozen",
            "a turn at strict with the freeze",
            &frozen.1,
            "us",
            "nothing else freezes bots",
        );
        Ok(holds)
    }
}

/// Processor time of this process and of all children that were waited for, seconds.
fn used() -> Result<f64, Fault> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = stat.rsplit_once(") ").ok_or("/proc/self/stat has a name")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = fields[13].parse::<f64>()? + fields[14].parse::<f64>()?;
    Ok(ticks * TICK.as_secs_f64() + own_cpu_ns() as f64 / 1e9)
}

/// Waits until a program has ended by itself.
fn wait(mut started: Started) -> Result<(), Fault> {
    let timeout = Duration::from_secs(30).try_into()?;
    let mut files = [rustix::event::PollFd::new(
        &started.process.end,
        rustix::event::PollFlags::IN,
    )];
    if rustix::event::poll(&mut files, Some(&timeout))? == 0 {
        return Err("a program does not end".into());
    }
    started.process.ended().ok_or("a program has no end")?;
    Ok(())
}

/// A bot that writes back what it is told.
struct Bot {
    started: hakem::bot::process::Process,
    stdin: File,
    stdout: File,
}

impl Bot {
    fn start(program: &Program) -> Result<Bot, Fault> {
        let started = program.start()?;
        for pipe in [&started.stdin, &started.stdout] {
            rustix::io::ioctl_fionbio(pipe, false)?;
        }
        Ok(Bot {
            started: started.process,
            stdin: started.stdin.into(),
            stdout: started.stdout.into(),
        })
    }

    /// The time of a turn, microseconds.
    fn turns(&mut self, count: u32) -> Result<f64, Fault> {
        const LINE: &[u8] = b"{\"type\":\"turn\",\"id\":1,\"state\":[4,4,4,4,4,4]}\n";
        let mut answer = [0; LINE.len()];
        let begin = Instant::now();
        for _ in 0..count {
            if let Some(boxed) = self.started.boxed() {
                boxed.thaw();
            }
            self.stdin.write_all(LINE)?;
            self.stdout.read_exact(&mut answer)?;
            if let Some(boxed) = self.started.boxed() {
                boxed.freeze();
            }
        }
        let time = begin.elapsed();
        if let Some(boxed) = self.started.boxed() {
            boxed.thaw();
        }
        Ok(time.as_secs_f64() * 1e6 / f64::from(count))
    }
}
