//! One bot at a table whose other seat this program plays itself.

use anyhow::Context;

use super::exit::Refused;
use super::output::Output;
use crate::bot::shard::Job;
use crate::config::{self, BotSpec, EventConfig, Flags, OwnGame, Program};
use crate::house;
use crate::runner::Plan;
use crate::tournament::round_robin;

/// The clock where none is given and the rules prescribe none.
const CLOCK: &str = "move=10s";
/// The name of the other seat.
const OTHER: &str = "opponent";

/// The game of a command: as it was named, or one whose program runs already.
#[derive(Debug)]
pub struct Game<'a> {
    /// As it was named.
    pub name: &'a str,
    /// The game, where it is at hand.
    pub own: Option<OwnGame>,
}

impl<'a> From<&'a str> for Game<'a> {
    fn from(name: &'a str) -> Game<'a> {
        Game { name, own: None }
    }
}

/// An event of this bot and another that is never started.
///
/// # Errors
/// [`Refused`] with all that is wrong with the game, the bot, the rules or the clock.
pub fn event(
    game: Game<'_>,
    bot: &str,
    rules: &[String],
    clock: Option<&str>,
    output: &Output,
) -> anyhow::Result<EventConfig> {
    let flags = Flags {
        name: "one bot".to_owned(),
        game: game.name.to_owned(),
        own_game: game.own,
        bots: vec![bot.to_owned(), format!("builtin:{}", house::names()[0])],
        rules: rules.to_vec(),
        clock: clock.map(str::to_owned),
        usual_clock: Some(CLOCK.to_owned()),
        folder: std::env::current_dir().context("the current folder is gone")?,
        ..Flags::default()
    };
    let config = config::from_flags(&flags, &house::names())
        .map_err(|error| Refused(error.render(output.color_on_stderr())))?;
    let least = config.kind().map_or(2, |kind| kind.facts().min_seats);
    if least > 2 {
        return Err(Refused(format!(
            "{} is for {least} seats at least, and here two sit down; an event file seats more",
            config.game
        ))
        .into());
    }
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
