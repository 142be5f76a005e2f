//! An event without a file, from the flags of a command.

use std::path::PathBuf;

use serde_json::{Map, Value};
use toml::de::DeValue;

use super::bots::Found;
use super::diagnose::{ConfigError, Place, quoted, suggestion};
use super::game::{self, Chosen};
use super::openings;
use super::read::{DEFAULTS, tidy, too_many_matches};
use super::reader::{Reader, Wrong, duration, json, plain_text};
use super::sections::{
    CLOCK_KEYS, MAX_SEED_CHARS, check_rules, clock_conflict, prescribed_clock, seats_problem,
    with_prescribed,
};
use super::{BotSpec, EventConfig, Format, FormatOptions, OwnGame, Restart, adjudication, bots};
use crate::clock::ClockSpec;
use crate::game::{ClockDefaults, Kind};

/// What an event is made of where there is no file; every text as it was typed.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The event's name, for people.
    pub name: String,
    /// The game: the name of a built-in one, a folder with a `game.toml`, or the command line of a program that knows the
    /// rules.
    pub game: String,
    /// The game whose program runs already; then `game` means nothing.
    pub own_game: Option<OwnGame>,
    /// The bots: `builtin:NAME` (with `,KEY=VALUE` for each option), a folder with a `bot.toml`, or a command line that is split into words.
    pub bots: Vec<String>,
    /// Options of the game, `KEY=VALUE` each; a value is written as in TOML, or is text without quotes.
    pub rules: Vec<String>,
    /// The clock, as [`parse_clock`] reads it; what it does not name is as the rules prescribe.
    pub clock: Option<String>,
    /// The clock where `clock` is absent and the rules prescribe none.
    pub usual_clock: Option<String>,
    /// The rules that may end games, `KEY=VALUE` with the keys of `[adjudication]`, commas between; absent: none.
    pub adjudication: Option<String>,
    /// Seats at a table. `None`: all bots sit at one, if the game has so many seats, else two.
    pub seats: Option<usize>,
    /// Matches for each pairing. One is played unpaired; more are paired, and of two seats must be even. `None`: as many
    /// as there are seats.
    pub games: Option<u32>,
    /// Random legal plies before the bots take over.
    pub opening_plies: u32,
    /// A file with positions to start from.
    pub openings: Option<PathBuf>,
    /// The seed of all chance.
    pub seed: Option<String>,
    /// Games at once.
    pub jobs: Option<usize>,
    /// The folder that bots are looked for in and started in; absolute.
    pub folder: PathBuf,
}

/// Makes an event of flags. `builtins` are the names of the built-in bots.
///
/// A bot is named after its built-in, its folder, its script or its program; one that is named like another is named after
/// the folder that it or its script lies in, or gets a number (`greedy`, `greedy-2`).
///
/// # Errors
/// Everything that is wrong with them.
pub fn from_flags(flags: &Flags, builtins: &[&str]) -> Result<EventConfig, ConfigError> {
    let mut reader = Reader::default();
    let layer = DEFAULTS.0.clone();
    let chosen = match &flags.own_game {
        Some(own) => Some(Chosen::Own(Box::new(own.clone()))),
        None => game::from_text(&mut reader, &flags.game, &flags.folder),
    };
    let kind = chosen.as_ref().map(Chosen::kind);
    let rules = kind.map_or_else(Map::new, |kind| rules(&mut reader, &flags.rules, kind));
    let prescribed = kind.and_then(|kind| prescribed_clock(kind, &rules));
    let usual = flags.usual_clock.as_ref().filter(|_| prescribed.is_none());
    let clock = match flags.clock.as_ref().or(usual) {
        Some(text) => clock(&mut reader, text, prescribed),
        None => with_prescribed(layer.clock, prescribed),
    };
    let seats = kind.map_or(2, |kind| seats(&mut reader, flags, kind));
    let adjudication = flags
        .adjudication
        .as_deref()
        .and_then(|text| adjudication::flag(&mut reader, text, kind, &rules, seats));
    let games = flags.games.unwrap_or(seats as u32);
    if games == 0 || (games > 1 && seats == 2 && !games.is_multiple_of(2)) {
        let title = format!(
            "{games} games are not possible: each is played twice, with sides swapped; one game, or an even number, is right"
        );
        reader.error.push(None, title, "");
    }
    let seed = flags.seed.as_deref().and_then(|text| {
        let right = "a number or text is right";
        plain_text(text.trim(), MAX_SEED_CHARS, right.into())
            .map_err(|wrong| {
                let title = format!("the seed {}; {}", wrong.what, wrong.right);
                reader.error.push(None, title, "");
            })
            .ok()
    });
    let bots = bots(&mut reader, flags, seats, &layer.limits, builtins);
    let openings = match (&flags.openings, kind) {
        (Some(path), Some(kind)) => {
            let path = tidy(flags.folder.join(path));
            openings::from_flag(&mut reader, &path, kind, &rules, seats)
        }
        _ => Vec::new(),
    };
    let config = EventConfig {
        file: None,
        base: flags.folder.clone(),
        name: flags.name.clone(),
        game: kind.map_or_else(String::new, |kind| kind.facts().name.to_owned()),
        own_game: chosen.clone().and_then(Chosen::own),
        format: Format::RoundRobin,
        options: FormatOptions::default(),
        games,
        paired: games != 1,
        rounds: 1,
        seats,
        opening_plies: flags.opening_plies,
        openings,
        restart: Restart::Match,
        seed,
        max_time_us: None,
        stop_when_clear: None,
        jobs: flags.jobs,
        rules,
        clock,
        adjudication,
        limits: layer.limits,
        bots,
    };
    if let Some(message) = too_many_matches(&config) {
        reader.error.push(None, message, "");
    }
    if reader.error.is_empty() {
        Ok(config)
    } else {
        Err(reader.error)
    }
}

/// The game of flags, with its options; nothing else of them is looked at.
///
/// # Errors
/// Everything that is wrong with them.
pub fn game_from_flags(flags: &Flags) -> Result<(Chosen, Map<String, Value>), ConfigError> {
    let mut reader = Reader::default();
    let chosen = game::from_text(&mut reader, &flags.game, &flags.folder);
    let Some(chosen) = chosen else {
        return Err(reader.error);
    };
    let given = rules(&mut reader, &flags.rules, chosen.kind());
    if reader.error.is_empty() {
        Ok((chosen, given))
    } else {
        Err(reader.error)
    }
}

/// The seats at a table.
fn seats(reader: &mut Reader, flags: &Flags, kind: &dyn Kind) -> usize {
    let Some(seats) = flags.seats else {
        let all = flags.bots.len();
        return if seats_problem(kind, all).is_none() {
            all
        } else {
            kind.facts().min_seats
        };
    };
    if let Some(wrong) = seats_problem(kind, seats) {
        let title = format!("the number of seats {}; {}", wrong.what, wrong.right);
        reader.error.push(None, title, "");
        return kind.facts().min_seats;
    }
    seats
}

fn bots(
    reader: &mut Reader,
    flags: &Flags,
    seats: usize,
    limits: &super::Limits,
    builtins: &[&str],
) -> Vec<BotSpec> {
    if flags.bots.len() < seats {
        let count = match seats {
            3 => "three",
            4 => "four",
            _ => "two",
        };
        let title = format!(
            "at least {count} bots are needed: builtin:NAME, a command line, or a folder with a bot.toml each"
        );
        reader.error.push(None, title, "");
    }
    let mut all = Vec::new();
    for text in &flags.bots {
        all.extend(bots::from_text(reader, text, &flags.folder, builtins));
    }
    let mut bots: Vec<BotSpec> = Vec::new();
    let names: Vec<String> = all.iter().map(|found| own_name(found, &all)).collect();
    for (found, name) in all.into_iter().zip(names) {
        bots.push(BotSpec {
            name: free_name(&name, &bots),
            line: None,
            program: found.program,
            build: found.build,
            env: Vec::new(),
            options: found.options,
            limits: limits.clone(),
            joins: 1,
            leaves: None,
        });
    }
    bots
}

/// The bot's name; where another has the same, the name of its folder, if that tells them apart.
fn own_name(bot: &Found, all: &[Found]) -> String {
    let alike = || all.iter().filter(|other| other.name == bot.name);
    let in_folder = |folder: &&String| {
        let same = alike().filter(|other| other.folder.as_ref() == Some(*folder));
        same.count() == 1 && !all.iter().any(|other| other.name == **folder)
    };
    let folder = bot.folder.as_ref().filter(in_folder);
    match folder.filter(|_| alike().count() > 1) {
        Some(folder) => folder.clone(),
        None => bot.name.clone(),
    }
}

/// The name, or with a number behind it where a bot has it already.
fn free_name(name: &str, bots: &[BotSpec]) -> String {
    let taken = |name: &str| bots.iter().any(|bot| bot.name == name);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !taken(name))
        .unwrap_or_default()
}

/// Reads `KEY=VALUE` pairs as options of the game.
fn rules(reader: &mut Reader, pairs: &[String], kind: &dyn Kind) -> Map<String, Value> {
    let mut given = Map::new();
    let mut places = Vec::new();
    for pair in pairs {
        let source = reader.error.add_source("--rule", pair);
        let whole = Place::new(source, 0..pair.len());
        let Some((key, text)) = pair.split_once('=') else {
            let title = format!("{} is no option with its value", quoted(pair));
            reader.error.push(Some(whole), title, "KEY=VALUE is right");
            continue;
        };
        let key = key.trim();
        let value = if given.contains_key(key) {
            Err(Wrong::new("is given twice", "leave one out"))
        } else {
            option_value(text)
        };
        match value {
            Ok(value) => {
                given.insert(key.to_owned(), value);
                places.push((key, whole));
            }
            Err(wrong) => {
                let title = format!("the option {} {}", quoted(key), wrong.what);
                reader.error.push(Some(whole), title, wrong.right);
            }
        }
    }
    check_rules(&given, kind, |key, wrong, _| {
        if key.is_empty() {
            reader.error.push(None, wrong.right, "");
            return;
        }
        let place = places.iter().find(|(name, _)| *name == key);
        let place = place.map(|(_, place)| place.clone());
        let title = format!("the option {} {}", quoted(key), wrong.what);
        reader.error.push(place, title, wrong.right);
    });
    given
}

/// The value of an option: TOML, or else the text itself.
pub(super) fn option_value(text: &str) -> Result<Value, Wrong> {
    let text = text.trim();
    match DeValue::parse(text) {
        Ok(value) if !matches!(value.get_ref(), DeValue::Datetime(_)) => json(value.get_ref()),
        _ => Ok(Value::from(text)),
    }
}

/// Reads a clock in one line, over the default clock.
///
/// The line is a list with commas. Each part is `KEY=VALUE` with a key of `[clock]`: `main`, `increment`, `move`, `delay`,
/// `margin`, `ready`, `kind`, `wall_ceiling`. The first part may be the short form `MAIN` or `MAIN+INCREMENT` instead.
/// A duration needs its unit. Examples: `60s+100ms`, `2m`, `move=5s`, `60s+1s,kind=wall,margin=20ms`.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse_clock(text: &str) -> Result<ClockSpec, ConfigError> {
    let mut reader = Reader::default();
    let spec = clock(&mut reader, text, None);
    if reader.error.is_empty() {
        Ok(spec)
    } else {
        Err(reader.error)
    }
}

fn clock(reader: &mut Reader, text: &str, prescribed: Option<ClockDefaults>) -> ClockSpec {
    let source = reader.error.add_source("--clock", text);
    let mut spec = DEFAULTS.0.clock;
    let mut given: Vec<&str> = Vec::new();
    let mut start = 0;
    for (index, part) in text.split(',').enumerate() {
        let place = Place::new(source, start..start + part.len());
        start += part.len() + 1;
        let settings: Vec<(&str, &str)> = match part.split_once('=') {
            Some((key, value)) => vec![(key.trim(), value.trim())],
            None if index == 0 => match part.split_once('+') {
                Some((main, increment)) => vec![("main", main), ("increment", increment)],
                None => vec![("main", part)],
            },
            None => {
                let title = format!("{} is no part of a clock", quoted(part));
                let right = "KEY=VALUE is right; MAIN+INCREMENT stands first";
                reader.error.push(Some(place), title, right);
                continue;
            }
        };
        for (key, value) in settings {
            let result = if given.contains(&key) {
                Err(Wrong::new("is given twice", "leave one out"))
            } else {
                set_clock(&mut spec, key, value)
            };
            given.push(key);
            if let Err(wrong) = result {
                let title = format!("{} {}", quoted(key), wrong.what);
                reader.error.push(Some(place.clone()), title, wrong.right);
            }
        }
    }
    let spec = with_prescribed(spec, prescribed);
    if reader.error.is_empty()
        && let Some(wrong) = clock_conflict(&spec)
    {
        let title = format!("`wall_ceiling` {}", wrong.what);
        let place = Place::new(source, 0..text.len());
        reader.error.push(Some(place), title, wrong.right);
    }
    spec
}

fn set_clock(spec: &mut ClockSpec, key: &str, value: &str) -> Result<(), Wrong> {
    match key {
        "main" => spec.main_us = Some(duration(value, 1)?),
        "increment" => spec.increment_us = duration(value, 0)?,
        "move" => spec.move_us = Some(duration(value, 1)?),
        "delay" => spec.delay_us = duration(value, 0)?,
        "margin" => spec.margin_us = duration(value, 0)?,
        "ready" => spec.ready_us = duration(value, 1)?,
        "kind" => {
            spec.kind = super::reader::word(value, super::sections::CLOCK_KINDS)?;
            let tells_time = crate::bot::os::TELLS_TIME;
            if let Some(wrong) = super::sections::kind_problem(spec.kind, tells_time) {
                return Err(wrong);
            }
        }
        "wall_ceiling" => spec.ceiling_us = Some(duration(value, 1)?),
        _ => {
            return Err(Wrong::new(
                "is no key of a clock",
                suggestion(key, CLOCK_KEYS.iter().copied()),
            ));
        }
    }
    Ok(())
}
