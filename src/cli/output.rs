//! Interim.
use crate::event::{GameResult, MatchResult};
use crate::game;
use crate::tournament::standings::{Counting, Standings};
/// x
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// How a table is written
    #[arg(long, default_value = "table")]
    pub format: String,
    /// Whether to use colors
    #[arg(long, default_value = "auto")]
    pub color: String,
}
/// x
#[derive(Debug)]
pub struct Output {
    /// x
    pub format: String,
}
impl OutputArgs {
    /// x
    pub fn get(&self) -> Output {
        Output { format: self.format.clone() }
    }
}
impl Output {
    /// x
    pub fn color_on_stderr(&self) -> bool {
        false
    }
    /// x
    /// # Errors
    /// x
    pub fn standings(&self, names: &[String], game: &str, paired: bool, matches: &[MatchResult], games: &[GameResult]) -> anyhow::Result<()> {
        let counting = Counting { paired, points_a_game: game::find(game).is_some_and(|kind| kind.facts().points_a_game), ..Counting::default() };
        let standings = Standings::of(counting, names, matches, games)?;
        for row in standings.rows {
            println!("{} {} {} {:?} {:?} {:?}", row.rank, row.name, row.points, row.matches, row.rating, row.points_a_game);
        }
        Ok(())
    }
}
