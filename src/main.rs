//! The `hakem` program.
use clap::Parser;
use std::process::ExitCode;
#[derive(clap::Parser)]
struct Cli { #[command(subcommand)] c: C }
#[derive(clap::Subcommand)]
enum C { Duel(hakem::cli::duel::Args) }
fn main() -> ExitCode {
    match Cli::parse().c { C::Duel(a) => hakem::cli::duel::run(&a).unwrap_or_else(|e| { eprintln!("{e:#}"); ExitCode::from(3) }) }
}
