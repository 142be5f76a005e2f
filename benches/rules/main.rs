//! How fast the rules are, beside other implementations that run in the same minutes on the same machine.
//!
//!     cargo bench --bench rules                       every figure
//!     cargo bench --bench rules -- --quick            a rough look in a minute or so
//!     cargo bench --bench rules -- --only a,c         some groups of figures
//!
//! Groups: `a` random games to the end, to OpenSpiel's in C++; `b` paths of Reversi, to the crate rust_reversi_core;
//! `c` lines a second of the rules tool. Everything but the pipes of `c` is processor time of one core. Rounds are interleaved
//! (hakem, yardstick, hakem, yardstick ...) and medians are compared. Each figure is a line for people and a line of JSON.
//!
//! OpenSpiel comes from its Python package, which is installed into the build's folder; `--python PATH` names a Python that
//! has it. Without it hakem's own figures are printed, and what is left out is named. `--rounds N`, `--hakem PATH` (another
//! build of the program for `c`; the pure library has none), `--check` (exit code 1 if a promise does not hold).
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its figures, and the reason why it cannot"
)]

#[expect(dead_code, reason = "each benchmark uses its own part of it")]
#[path = "../common/mod.rs"]
mod common;
mod lines;
mod openspiel;
mod perft;
mod playouts;
#[path = "../../tests/support/playouts.rs"]
mod support;

use std::path::PathBuf;
use std::process::ExitCode;

use common::{Fault, machine, report};
use openspiel::OpenSpiel;

/// What was asked for on the command line.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    quick: bool,
    check: bool,
    only: Option<String>,
    rounds: usize,
    python: Option<PathBuf>,
    hakem: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Options, Fault> {
        let mut options = Options {
            quick: false,
            check: false,
            only: None,
            rounds: 0,
            python: None,
            // Without the runner there may still be a program, but of an older build.
            hakem: option_env!("CARGO_BIN_EXE_hakem")
                .filter(|_| cfg!(feature = "runner"))
                .map(PathBuf::from),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--bench" => {}
                "--quick" => options.quick = true,
                "--check" => options.check = true,
                "--only" => options.only = Some(value()?.clone()),
                "--rounds" => options.rounds = value()?.parse()?,
                "--python" => options.python = Some(value()?.into()),
                "--hakem" => options.hakem = Some(value()?.into()),
                other => return Err(format!("there is no option {other}").into()),
            }
        }
        if options.rounds == 0 {
            options.rounds = options.pick(3, 7);
        }
        Ok(options)
    }

    fn pick<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
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
    // `cargo test --all-targets` starts benchmarks without this word.
    if !args.iter().any(|arg| arg == "--bench") {
        println!("the figures are measured by `cargo bench --bench rules`");
        return ExitCode::SUCCESS;
    }
    match Options::parse(&args).and_then(|options| run(&options).map(|all| all || !options.check)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("bench: {fault}");
            ExitCode::from(2)
        }
    }
}

/// Runs what was asked for; whether every promise holds.
fn run(options: &Options) -> Result<bool, Fault> {
    let cores = machine::cores()?;
    report::describe_machine(&cores);
    let mut all = true;
    let one = &cores[..1];
    machine::pin(one)?;
    if options.wants("a") {
        let mut spiel = OpenSpiel::start(options.python.as_deref());
        all &= playouts::run(options, &mut spiel)?;
    }
    if options.wants("b") {
        all &= perft::run(options)?;
    }
    // The program and what asks it may use a core each.
    machine::pin(&cores)?;
    if options.wants("c") {
        all &= lines::run(options)?;
    }
    Ok(all)
}
