//! Reads an event file, layer over layer.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hakem_protocol::ClockKind;
use serde_json::{Map, Value};

use super::adjudication::{self, ADJUDICATION_KEYS, AdjudicationKeys};
use super::bots;
use super::diagnose::{ConfigError, quoted, suggestion};
use super::game::{self, Chosen};
use super::openings;
use super::reader::{Reader, Section, Wrong};
use super::sections::{self, CLOCK_KEYS, EVENT_KEYS, EventKeys, FILE_KEYS, HOMES, LIMIT_KEYS};
use super::{BotSpec, DEFAULT_TOML, EventConfig, Format, FormatOptions, Limits, Restart, Sandbox};
use crate::clock::ClockSpec;
use crate::tournament::swiss;

/// The largest event file; a larger one was hardly meant as one.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// The most matches of an event.
const MAX_MATCHES: u128 = 10_000_000;

/// The first layer: what `default.toml` says.
#[derive(Clone)]
pub(super) struct Layer {
    pub(super) event: EventKeys,
    pub(super) clock: ClockSpec,
    pub(super) adjudication: AdjudicationKeys,
    pub(super) limits: Limits,
}

/// What holds where not even `default.toml` says anything. Its sizes are all overwritten.
fn blank() -> Layer {
    Layer {
        event: EventKeys::default(),
        clock: ClockSpec {
            main_us: None,
            increment_us: 0,
            move_us: None,
            delay_us: 0,
            margin_us: 0,
            ready_us: 0,
            // The fair clock needs what only Linux tells of a process.
            kind: if crate::bot::os::LINUX {
                ClockKind::Fair
            } else {
                ClockKind::Wall
            },
            ceiling_us: None,
        },
        adjudication: AdjudicationKeys::default(),
        limits: Limits {
            memory: 0,
            processes: 0,
            stderr: 0,
            output: 0,
            line: 0,
            note: 0,
            disk: 0,
            exit_us: 0,
            cores: 0,
            ponder: false,
            runtime: Vec::new(),
            sandbox: Sandbox::Auto,
        },
    }
}

/// The layer of the embedded `default.toml`, and what is wrong with that file: nothing, as a test sees to.
pub(super) static DEFAULTS: LazyLock<(Layer, ConfigError)> = LazyLock::new(|| {
    let mut reader = Reader::default();
    let mut layer = blank();
    if let Some((source, table)) = reader.file("default.toml", DEFAULT_TOML) {
        let root = reader.root(source, "the event file", &table, FILE_KEYS);
        layer.read(&mut reader, &root, Path::new(""), Path::new(""));
    }
    (layer, reader.error)
});

/// The time control of an event that sets none: no limit but that for `ready`.
pub fn default_clock() -> ClockSpec {
    DEFAULTS.0.clock
}

pub(super) fn default_limits() -> Limits {
    DEFAULTS.0.limits.clone()
}

impl Layer {
    /// Puts what a file says over this layer.
    fn read<'t>(
        &mut self,
        reader: &mut Reader,
        root: &Section<'t>,
        base: &Path,
        file: &Path,
    ) -> Option<Section<'t>> {
        let event = reader.section(root, "event", "[event]", EVENT_KEYS, HOMES);
        if let Some(section) = &event {
            sections::event(reader, section, &mut self.event);
            if section.has("game") {
                self.event.game = game::game(reader, section, base, file);
            }
        }
        if let Some(section) = reader.section(root, "clock", "[clock]", CLOCK_KEYS, HOMES) {
            sections::clock(reader, &section, &mut self.clock);
        }
        let known = ADJUDICATION_KEYS;
        if let Some(section) = reader.section(root, "adjudication", "[adjudication]", known, HOMES)
        {
            adjudication::section(reader, &section, &mut self.adjudication);
        }
        if let Some(section) = reader.section(root, "limits", "[limits]", LIMIT_KEYS, HOMES) {
            sections::limits(reader, &section, &mut self.limits, base);
        }
        event
    }
}

/// Reads an event file. `builtins` are the names of the built-in bots.
///
/// # Errors
/// Everything that is wrong with it and with the files that it names.
pub fn read(path: &Path, builtins: &[&str]) -> Result<EventConfig, ConfigError> {
    let text = read_text(path, MAX_FILE_BYTES, "the event file").map_err(ConfigError::general)?;
    parse(&text, path, builtins)
}

/// Reads the text of an event file; `path` is where it stands, for messages and relative paths.
///
/// # Errors
/// Everything that is wrong with it and with the files that it names.
pub fn parse(text: &str, path: &Path, builtins: &[&str]) -> Result<EventConfig, ConfigError> {
    let file = std::path::absolute(path).map_err(|error| {
        ConfigError::general(format!(
            "the path {} is not usable: {error}",
            path.display()
        ))
    })?;
    let base = file.parent().unwrap_or(Path::new("/")).to_owned();
    let mut reader = Reader::default();
    let config = reader
        .file(&path.display().to_string(), text)
        .and_then(|(source, table)| {
            let root = reader.root(source, "the event file", &table, FILE_KEYS);
            event(&mut reader, &root, &file, &base, builtins)
        });
    reader.error.sort();
    match config {
        Some(config) if reader.error.is_empty() => Ok(config),
        _ => Err(reader.error),
    }
}

/// `None` only where there is a problem.
fn event(
    reader: &mut Reader,
    root: &Section<'_>,
    file: &Path,
    base: &Path,
    builtins: &[&str],
) -> Option<EventConfig> {
    let mut layer = DEFAULTS.0.clone();
    let section = layer.read(reader, root, base, file);
    match &section {
        Some(section) => sections::check_event(reader, section, &mut layer.event),
        None if !root.has("event") => {
            let title = "the event file has no [event] section; it must name at least the game";
            reader.error.push(None, title, "");
        }
        None => {}
    }
    let chosen = layer.event.game.clone();
    let kind = chosen.as_ref().map(Chosen::kind);
    let rules_section = reader.open_section(root, "rules", "[rules]");
    let rules = kind.map_or_else(Map::new, |kind| {
        sections::rules(reader, rules_section.as_ref(), section.as_ref(), kind)
    });
    let prescribed = kind.and_then(|kind| sections::prescribed_clock(kind, &rules));
    sections::finish_clock(reader, root, prescribed, &mut layer.clock);
    let seats = layer.event.seats.unwrap_or(2);
    adjudication::check(reader, root, kind, &rules, seats);
    let bot_sections = reader.sections(root, "bot");
    if bot_sections.len() < seats {
        let found = match bot_sections.len() {
            0 => "no bot",
            _ => "too few bots",
        };
        reader.error.push(
            section.as_ref().map(Section::header),
            format!("the event has {found}"),
            format!("at least {seats} are needed, each headed [[bot]]"),
        );
    }
    let bots = bots::bots(reader, bot_sections, &layer.limits, base, builtins);
    let openings = match (&section, kind, &layer.event.openings) {
        (Some(section), Some(kind), Some(name)) => {
            openings::read(reader, section, name, base, kind, &rules, seats)
        }
        _ => Vec::new(),
    };
    let candidate = candidate(reader, section.as_ref(), &layer.event, &bots);
    check_rounds_of_bots(reader, root, &layer.event, &bots);
    let mut config = layer.finish(file, base, rules, openings, bots)?;
    config.options.candidate = candidate;
    if let Some(message) = too_many_matches(&config) {
        let place = section.as_ref().map(|section| section.place("games"));
        reader
            .error
            .push(place, message, "fewer games, rounds or bots are right");
    }
    Some(config)
}

/// The slot of the bot that a gauntlet is of.
fn candidate(
    reader: &mut Reader,
    section: Option<&Section<'_>>,
    keys: &EventKeys,
    bots: &[BotSpec],
) -> Option<usize> {
    let (section, name) = (section?, keys.candidate.as_ref()?);
    let slot = bots.iter().position(|bot| bot.name == *name);
    // Bots that could not be read have said so.
    if slot.is_none() && keys.format == Some(Format::Gauntlet) && reader.error.is_empty() {
        let names = bots.iter().map(|bot| bot.name.as_str());
        let wrong = Wrong::new(
            format!("names {}, and no bot is called so", quoted(name)),
            suggestion(name, names),
        );
        reader.wrong(section, "candidate", wrong);
    }
    slot
}

/// Bots join and leave between the rounds of a Swiss event only.
fn check_rounds_of_bots(
    reader: &mut Reader,
    root: &Section<'_>,
    keys: &EventKeys,
    bots: &[BotSpec],
) {
    if keys.format == Some(Format::Swiss)
        || bots
            .iter()
            .all(|bot| bot.joins == 1 && bot.leaves.is_none())
    {
        return;
    }
    for section in reader.sections(root, "bot") {
        for key in ["joins", "leaves"] {
            if section.has(key) {
                reader.error.push(
                    Some(section.key_place(key)),
                    format!(
                        "`{key}` in {} belongs to the format \"swiss\"",
                        section.name()
                    ),
                    "leave it out",
                );
            }
        }
    }
}

impl Layer {
    /// The event of all layers; `None` where the game or the number of games was refused.
    fn finish(
        self,
        file: &Path,
        base: &Path,
        rules: Map<String, Value>,
        openings: Vec<Value>,
        bots: Vec<BotSpec>,
    ) -> Option<EventConfig> {
        let keys = self.event;
        let options = FormatOptions {
            candidate: None,
            groups: keys.groups.unwrap_or(1),
            advance: keys.advance.unwrap_or(1),
            reach: keys.reach.unwrap_or(1),
            ladder: keys.ladder.as_deref().map(|path| resolve(base, path)),
        };
        let usual_rounds = match keys.format {
            Some(Format::Swiss) => swiss::usual_rounds(bots.len()),
            _ => 1,
        };
        let chosen = keys.game?;
        Some(EventConfig {
            file: Some(file.to_owned()),
            base: base.to_owned(),
            name: keys.name.unwrap_or_else(|| stem(file)),
            game: chosen.kind().facts().name.to_owned(),
            own_game: chosen.own(),
            format: keys.format.unwrap_or(Format::RoundRobin),
            options,
            games: keys.games?,
            paired: keys.paired.unwrap_or(true),
            rounds: keys.rounds.unwrap_or(usual_rounds),
            seats: keys.seats.unwrap_or(2),
            opening_plies: keys.opening_plies.unwrap_or(0),
            openings,
            restart: keys.restart.unwrap_or(Restart::Match),
            seed: keys.seed,
            max_time_us: keys.max_time_us,
            stop_when_clear: keys.stop_when_clear,
            jobs: keys.jobs,
            rules,
            clock: self.clock,
            adjudication: self.adjudication.rules(),
            limits: self.limits,
            bots,
        })
    }
}

/// The matches of an event that has too many, in words.
pub(super) fn too_many_matches(config: &EventConfig) -> Option<String> {
    let bots = config.bots.len() as u128;
    let pairings = match config.format {
        Format::RoundRobin | Format::Groups => choices(bots, config.seats as u128),
        Format::Gauntlet => choices(bots.saturating_sub(1), config.seats as u128 - 1),
        Format::Swiss | Format::Ladder => bots / 2,
        Format::Knockout => bots,
    };
    let rounds = match config.format {
        Format::Groups | Format::Knockout => 1,
        _ => config.rounds,
    };
    let matches = pairings
        .saturating_mul(u128::from(config.games))
        .saturating_mul(u128::from(rounds));
    (matches > MAX_MATCHES)
        .then(|| format!("the event would have {matches} matches; {MAX_MATCHES} are the most"))
}

/// In how many ways so many of the bots can sit at a table, whatever the seats.
fn choices(bots: u128, seats: u128) -> u128 {
    (0..seats).fold(1, |ways: u128, taken| {
        ways.saturating_mul(bots.saturating_sub(taken)) / (taken + 1)
    })
}

/// The name of an event that gives none: its file's, without `.toml`.
fn stem(file: &Path) -> String {
    file.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_else(|| "event".into())
}

/// Why a text cannot be a path.
pub(super) fn path_problem(text: &str) -> Option<Wrong> {
    if text.trim().is_empty() {
        Some(Wrong::new("is blank", "a path is right"))
    } else if text.contains('\0') {
        Some(Wrong::new("holds a zero byte", "a path is right"))
    } else {
        None
    }
}

/// A path of an event as an absolute one.
pub(super) fn resolve(base: &Path, text: &str) -> PathBuf {
    let path = match text.strip_prefix("~/").zip(std::env::home_dir()) {
        Some((rest, home)) => home.join(rest),
        None => base.join(text),
    };
    tidy(path)
}

/// An absolute path without `.` and doubled slashes; `..` stays, as it may follow a symbolic link.
pub(super) fn tidy(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// The text of a regular file of bounded size.
///
/// # Errors
/// What is wrong, with the path.
pub(super) fn read_text(path: &Path, max: u64, what: &str) -> Result<String, String> {
    let shown = path.display();
    let fault = |error: std::io::Error| format!("cannot read {what} {shown}: {error}");
    let kind = std::fs::metadata(path).map_err(fault)?;
    if !kind.is_file() {
        let found = if kind.is_dir() {
            "a folder"
        } else {
            "no regular file"
        };
        return Err(format!("cannot read {what} {shown}: it is {found}"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(max + 1).read_to_end(&mut bytes))
        .map_err(fault)?;
    if bytes.len() as u64 > max {
        return Err(format!(
            "cannot read {what} {shown}: it is larger than {}",
            super::units::show_size(max)
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        format!("cannot read {what} {shown}: line {line} is not UTF-8 text")
    })
}
