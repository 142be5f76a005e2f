//! Interim.
use std::path::PathBuf;
use std::process::ExitCode;
use super::output::OutputArgs;
use crate::store::Store;
/// Standings
#[derive(Debug, clap::Args)]
pub struct StandingsArgs { /// d
    pub dir: PathBuf, #[command(flatten)] pub output: OutputArgs }
/// Games
#[derive(Debug, clap::Args)]
pub struct GamesArgs { /// d
    pub dir: PathBuf, #[command(flatten)] pub output: OutputArgs }
/// x
/// # Errors
/// x
pub fn standings(args: &StandingsArgs) -> anyhow::Result<ExitCode> {
    let store = Store::open_read_only(&args.dir)?;
    let meta = store.meta()?;
    let names: Vec<String> = meta.bots.iter().map(|bot| bot.name.clone()).collect();
    args.output.get().standings(&names, &meta.game, true, &store.matches()?, &store.games()?)?;
    Ok(ExitCode::SUCCESS)
}
/// x
/// # Errors
/// x
pub fn games(args: &GamesArgs) -> anyhow::Result<ExitCode> {
    let store = Store::open_read_only(&args.dir)?;
    for g in store.games()? { println!("{g:?}"); }
    Ok(ExitCode::SUCCESS)
}
