//! One bot at a table whose other seat this program plays itself.

use anyhow::Context;

use super::exit::Refused;
use super::output::Output;
use crate::bot::shard::Job;
use crate::config::{self, BotSpec, EventConfig, Flags, Program};
use crate::house;
use crate::runner::Plan;
use crate::tournament::round_robin;

/// The clock where none is given and the rules prescribe none.
const CLOCK: &str = "move=10s";
/// The name of the other seat.
const OTHER: &str = "opponent";

/// An event of this bot and another that is never started.
///
/// # Errors
/// [`Refused`] with all that is wrong with the game, the bot, the rules or the clock.
pub fn event(
    game: &str,
    bot: &str,
    rules: &[String],
    clock: Option<&str>,
    output: &Output,
) -> anyhow::Result<EventConfig> {
    let flags = Flags {
        name: "one bot".to_owned(),
        game: game.to_owned(),
        bots: vec![bot.to_owned(), format!("builtin:{}", house::names()[0])],
        rules: rules.to_vec(),
        clock: clock.map(str::to_owned),
        usual_clock: Some(CLOCK.to_owned()),
        folder: std::env::current_dir().context("the current folder is gone")?,
        ..Flags::default()
    };
    let config = config::from_flags(&flags, &house::names())
        .map_err(|error| Refused(error.render(output.color_on_stderr())))?;
    let bot = config.bots[0].clone();
    Ok(at_a_table_of_two(&config, bot))
}

/// The event with this bot as the first of two, the second never to be started, and each match played in both seats.
pub fn at_a_table_of_two(config: &EventConfig, bot: BotSpec) -> EventConfig {
    let other = BotSpec {
        name: if bot.name == OTHER { "other" } else { OTHER }.to_owned(),
        program: Program::Builtin(house::names()[0].to_owned()),
        build: None,
        ..bot.clone()
    };
    EventConfig {
        bots: vec![bot, other],
        seats: 2,
        games: 2,
        paired: true,
        rounds: 1,
        // The bot is looked at in whole games.
        adjudication: None,
        ..config.clone()
    }
}

/// The two matches of such an event. The bot's files that its confinement needs last as long as this.
#[derive(Debug)]
pub struct Seats(Plan);

impl Seats {
    /// Makes all ready.
    ///
    /// # Errors
    /// [`Refused`] for a program that cannot be found, or a sandbox that is not possible.
    pub fn new(config: EventConfig, seed: String) -> anyhow::Result<Seats> {
        let plan =
            Plan::new(config, seed, &[], None).map_err(|error| Refused(format!("{error:#}")))?;
        Ok(Seats(plan))
    }

    /// The matches: in the first the bot sits on seat 0, in the second on seat 1.
    ///
    /// # Errors
    /// None today.
    pub fn jobs(&self) -> anyhow::Result<Vec<Job>> {
        let schedule = round_robin::schedule(2, 2, 2, true, 1);
        schedule.iter().map(|pairing| self.0.job(pairing)).collect()
    }
}
