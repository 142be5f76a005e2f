//! What the referee costs, as ratios to yardsticks that run in the same minutes on the same machine.
//!
//!     cargo bench --bench referee                     every figure
//!     cargo bench --bench referee -- --quick          a rough look in a minute or so
//!     cargo bench --bench referee -- --only a,c       some groups of figures
//!     cargo bench --bench referee -- --yardsticks     the yardsticks alone, with made-up lines
//!
//! Groups: `a` round trip of a turn, `b` processor time of a move, `c` moves a second, `d` games a second with bots
//! started anew, `e` memory, `f` what bots are charged that compute for 2 ms.
//! Rounds are interleaved (yardstick, hakem, yardstick, hakem ...) and medians are compared.
//! Each figure is a line for people and a line of JSON. `--rounds N`, `--hakem PATH` (another build of the program),
//! `--check` (exit code 1 if a promise does not hold), `--dir DIR` (where results go; a folder in memory leaves the disk's
//! syncs out).
//!
//! The program starts itself again in its roles (`bench-role NAME ...`): the bots and the yardsticks.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its figures, and the reason why it cannot"
)]

mod bots;
#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "the benchmark of the rules uses the rest")]
mod common;
mod figures;
mod process;
mod script;
mod subject;
mod yardsticks;

use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) use common::Fault;

/// What was asked for on the command line.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    quick: bool,
    yardsticks: bool,
    check: bool,
    only: Option<String>,
    rounds: usize,
    hakem: PathBuf,
    dir: PathBuf,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options, Fault> {
        let mut options = Options {
            quick: false,
            yardsticks: false,
            check: false,
            only: None,
            rounds: 0,
            hakem: env!("CARGO_BIN_EXE_hakem").into(),
            dir: std::env::temp_dir(),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--bench" => {}
                "--quick" => options.quick = true,
                "--yardsticks" => options.yardsticks = true,
                "--check" => options.check = true,
                "--only" => options.only = Some(value()?.clone()),
                "--rounds" => options.rounds = value()?.parse()?,
                "--hakem" => options.hakem = value()?.into(),
                "--dir" => options.dir = value()?.into(),
                other => return Err(format!("there is no option {other}").into()),
            }
        }
        if options.rounds == 0 {
            options.rounds = if options.quick { 3 } else { 7 };
        }
        Ok(options)
    }

    /// Whether this group of figures was asked for.
    fn wants(&self, group: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|only| only.split(',').any(|name| name == group))
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.split_first() {
        Some((first, rest)) if first == "bench-role" => role(rest).map(|()| true),
        // `cargo test --all-targets` starts benchmarks without this word.
        _ if !args.iter().any(|arg| arg == "--bench") => {
            println!("the figures are measured by `cargo bench --bench referee`");
            Ok(true)
        }
        _ => Options::parse(&args).and_then(|options| figures::run(&options)),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("bench: {fault}");
            ExitCode::from(2)
        }
    }
}

/// Plays one of the parts that the benchmark starts itself in.
fn role(args: &[String]) -> Result<(), Fault> {
    let (name, args) = args.split_first().ok_or("bench-role needs a name")?;
    match name.as_str() {
        "instant-bot" => bots::instant(args),
        "raw-child" => bots::raw_child(args),
        "raw-pairs" => yardsticks::raw_pairs(args),
        "lines-only" => yardsticks::lines_only(args),
        "spawn-pairs" => yardsticks::spawn_pairs(args),
        "pinned" => process::exec_pinned(args),
        other => Err(format!("there is no role {other}").into()),
    }
}
