//! The keys of `[event]`, `[rules]`, `[clock]` and `[limits]`: what each may hold and what it sets.

use hakem_protocol::ClockKind;
use hakem_protocol::limits::MAX_NAME_CHARS;
use serde_json::{Map, Value};

use super::diagnose::{quoted, suggestion};
use super::game::Chosen;
use super::reader::{Reader, Section, Words, Wrong, integer, plain_text};
use super::units::show_duration;
use super::{Format, Limits, Restart, Sandbox};
use crate::clock::ClockSpec;
use crate::game::{ClockDefaults, GAMES, Kind};

/// The keys of a whole event file.
pub(super) const FILE_KEYS: &[&str] = &["event", "rules", "clock", "adjudication", "limits", "bot"];

/// The keys of `[event]`.
pub(super) const EVENT_KEYS: &[&str] = &[
    "name",
    "game",
    "format",
    "games",
    "paired",
    "rounds",
    "seats",
    "candidate",
    "groups",
    "advance",
    "ladder",
    "reach",
    "opening_plies",
    "openings",
    "restart",
    "seed",
    "max_time",
    "stop_when_clear",
    "jobs",
];

/// The keys of `[clock]`.
pub(super) const CLOCK_KEYS: &[&str] = &[
    "main",
    "increment",
    "move",
    "delay",
    "margin",
    "ready",
    "kind",
    "wall_ceiling",
];

/// The keys of `[limits]`.
pub(super) const LIMIT_KEYS: &[&str] = &[
    "memory",
    "processes",
    "stderr",
    "output",
    "line",
    "note",
    "disk",
    "exit",
    "ponder",
    "runtime",
    "sandbox",
    "cores",
];

/// Where keys belong, for one that stands in a wrong section.
pub(super) const HOMES: &[(&str, &[&str])] = &[
    ("[event]", EVENT_KEYS),
    ("[clock]", CLOCK_KEYS),
    ("[adjudication]", super::adjudication::ADJUDICATION_KEYS),
    ("[limits]", LIMIT_KEYS),
    ("[[bot]]", super::bots::BOT_KEYS),
];

/// The same for a bot, which may have limits of its own.
pub(super) const BOT_HOMES: &[(&str, &[&str])] = &[
    ("`limits = { ... }`", LIMIT_KEYS),
    ("[event]", EVENT_KEYS),
    ("[clock]", CLOCK_KEYS),
];

const FORMATS: &Words<Format> = &[
    ("round-robin", Some(Format::RoundRobin)),
    ("gauntlet", Some(Format::Gauntlet)),
    ("swiss", Some(Format::Swiss)),
    ("knockout", Some(Format::Knockout)),
    ("groups", Some(Format::Groups)),
    ("ladder", Some(Format::Ladder)),
];

const RESTARTS: &Words<Restart> = &[
    ("match", Some(Restart::Match)),
    ("game", Some(Restart::Game)),
];

const SANDBOXES: &Words<Sandbox> = &[
    ("auto", Some(Sandbox::Auto)),
    ("none", Some(Sandbox::None)),
    ("limits", Some(Sandbox::Limits)),
    ("strict", Some(Sandbox::Strict)),
];

pub(super) const CLOCK_KINDS: &Words<ClockKind> = &[
    ("fair", Some(ClockKind::Fair)),
    ("wall", Some(ClockKind::Wall)),
    ("cpu", Some(ClockKind::Cpu)),
];

/// The word of a format in an event file.
pub(super) fn format_word(format: Format) -> &'static str {
    word_of(FORMATS, format)
}

/// The word of a restart rule.
pub(super) fn restart_word(restart: Restart) -> &'static str {
    word_of(RESTARTS, restart)
}

/// The word of a clock kind.
pub(super) fn clock_kind_word(kind: ClockKind) -> &'static str {
    word_of(CLOCK_KINDS, kind)
}

/// The word of a sandbox level.
pub fn sandbox_word(sandbox: Sandbox) -> &'static str {
    word_of(SANDBOXES, sandbox)
}

fn word_of<T: Copy + PartialEq>(words: &Words<T>, meaning: T) -> &'static str {
    words
        .iter()
        .find(|(_, known)| *known == Some(meaning))
        .map_or("", |(word, _)| *word)
}

/// `[event]` as it is read, layer over layer.
#[derive(Clone, Default)]
pub(super) struct EventKeys {
    pub(super) name: Option<String>,
    pub(super) game: Option<Chosen>,
    pub(super) format: Option<Format>,
    pub(super) games: Option<u32>,
    pub(super) paired: Option<bool>,
    pub(super) rounds: Option<u32>,
    pub(super) seats: Option<usize>,
    pub(super) candidate: Option<String>,
    pub(super) groups: Option<usize>,
    pub(super) advance: Option<usize>,
    pub(super) ladder: Option<String>,
    pub(super) reach: Option<usize>,
    pub(super) opening_plies: Option<u32>,
    pub(super) openings: Option<String>,
    pub(super) restart: Option<Restart>,
    pub(super) seed: Option<String>,
    pub(super) max_time_us: Option<u64>,
    pub(super) stop_when_clear: Option<f64>,
    pub(super) jobs: Option<usize>,
}

/// Overwrites a setting where the file has its key.
fn set<T>(slot: &mut T, read: Option<T>) {
    if let Some(value) = read {
        *slot = value;
    }
}

/// Overwrites a setting that may be absent.
fn set_some<T>(slot: &mut Option<T>, read: Option<T>) {
    if read.is_some() {
        *slot = read;
    }
}

/// Matches for a pairing, and rounds, at most.
const MAX_GAMES: u32 = 1_000_000;

/// Characters of a seed at most.
pub(super) const MAX_SEED_CHARS: usize = 256;

/// Reads `[event]`.
pub(super) fn event(reader: &mut Reader, section: &Section<'_>, keys: &mut EventKeys) {
    set_some(
        &mut keys.name,
        reader.text(section, "name", 200, "Spring course"),
    );
    set_some(&mut keys.format, reader.word(section, "format", FORMATS));
    set_some(
        &mut keys.games,
        reader.whole(section, "games", 1..=MAX_GAMES),
    );
    set_some(&mut keys.paired, reader.flag(section, "paired"));
    set_some(
        &mut keys.rounds,
        reader.whole(section, "rounds", 1..=MAX_GAMES),
    );
    set_some(&mut keys.seats, reader.whole(section, "seats", 2..=4));
    set_some(
        &mut keys.opening_plies,
        reader.whole(section, "opening_plies", 0..=1000),
    );
    set_some(
        &mut keys.openings,
        reader.text(section, "openings", 4096, "openings.jsonl"),
    );
    set_some(&mut keys.restart, reader.word(section, "restart", RESTARTS));
    set_some(&mut keys.seed, reader.value(section, "seed", seed));
    set_some(
        &mut keys.max_time_us,
        reader.duration(section, "max_time", 1),
    );
    set_some(
        &mut keys.stop_when_clear,
        reader.value(section, "stop_when_clear", confidence),
    );
    set_some(&mut keys.jobs, reader.whole(section, "jobs", 1..=10_000));
    set_some(
        &mut keys.candidate,
        reader.text(section, "candidate", MAX_NAME_CHARS, "team-a"),
    );
    set_some(&mut keys.groups, reader.whole(section, "groups", 1..=1000));
    set_some(
        &mut keys.advance,
        reader.whole(section, "advance", 1..=1000),
    );
    set_some(
        &mut keys.ladder,
        reader.text(section, "ladder", 4096, "ladder.json"),
    );
    set_some(&mut keys.reach, reader.whole(section, "reach", 1..=1000));
}

/// The keys that mean something in one format only.
const OF_FORMATS: &[(&str, Format)] = &[
    ("candidate", Format::Gauntlet),
    ("groups", Format::Groups),
    ("advance", Format::Groups),
    ("ladder", Format::Ladder),
    ("reach", Format::Ladder),
];

/// Checks the keys that belong to a format.
fn check_format(reader: &mut Reader, section: &Section<'_>, keys: &mut EventKeys) {
    let Some(format) = keys.format else { return };
    for &(key, of) in OF_FORMATS {
        if section.has(key) && of != format {
            reader.error.push(
                Some(section.key_place(key)),
                format!(
                    "`{key}` in [event] belongs to the format {:?}, and the format is {:?}",
                    format_word(of),
                    format_word(format)
                ),
                "leave it out, or name that format",
            );
        }
    }
    if format == Format::Gauntlet && !section.has("candidate") {
        reader.error.push(
            Some(section.place("format")),
            "the format is \"gauntlet\", and no `candidate` is named",
            "`candidate = \"...\"` names the bot that meets all others",
        );
    }
    if matches!(format, Format::Knockout | Format::Groups) && section.has("rounds") {
        reader.error.push(
            Some(section.key_place("rounds")),
            format!(
                "`rounds` in [event] means nothing where the format is {:?}: the number of bots decides",
                format_word(format)
            ),
            "leave it out",
        );
    }
    let tables = matches!(format, Format::RoundRobin | Format::Gauntlet);
    if !tables && keys.seats.is_some_and(|seats| seats > 2) {
        reader.error.push(
            Some(section.place("seats")),
            format!(
                "`seats` in [event] is {}, but the format {:?} is for two",
                keys.seats.unwrap_or(2),
                format_word(format)
            ),
            "2 is right, or another format: round-robin, gauntlet",
        );
    }
    if !tables && format != Format::Swiss && section.has("stop_when_clear") {
        reader.error.push(
            Some(section.key_place("stop_when_clear")),
            format!(
                "`stop_when_clear` in [event] looks at points, and places do not follow from them where the format is {:?}",
                format_word(format)
            ),
            "leave it out",
        );
    }
    if format == Format::Swiss && !section.has("rounds") {
        keys.rounds = None;
    }
}

fn confidence(value: &toml::de::DeValue<'_>) -> Result<f64, Wrong> {
    let right = "a number from 0.5 to below 1 is right, like 0.99";
    let number = match value {
        toml::de::DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
        _ => None,
    };
    number
        .filter(|number| (0.5..1.0).contains(number))
        .ok_or_else(|| Wrong::new("is no confidence", right))
}

fn seed(value: &toml::de::DeValue<'_>) -> Result<String, Wrong> {
    let right = || "a whole number or text is right, like 42 or \"spring\"".to_owned();
    if let Some(number) = integer(value) {
        return Ok(number.to_string());
    }
    match value.as_str() {
        Some(text) => plain_text(text.trim(), MAX_SEED_CHARS, right()),
        None => Err(Wrong::new(
            format!("is {}", super::reader::kind(value)),
            right(),
        )),
    }
}

/// What belongs together in `[event]`. Fills in what depends on other keys.
pub(super) fn check_event(reader: &mut Reader, section: &Section<'_>, keys: &mut EventKeys) {
    if !section.has("game") {
        reader.error.push(
            Some(section.header()),
            "[event] does not name its game",
            format!("`game = \"{}\"`, or another", GAMES[0].facts().name),
        );
    }
    let paired = keys.paired.unwrap_or(true);
    let seats = keys.seats.unwrap_or(2);
    match keys.games {
        None => keys.games = Some(if paired { seats as u32 } else { 1 }),
        Some(games) if paired && seats == 2 && !games.is_multiple_of(2) => reader.error.push(
            Some(section.place("games")),
            format!(
                "`games` in [event] is {games}, but each match is played twice, with sides swapped"
            ),
            format!(
                "an even number is right, like {}; or `paired = false`",
                games + 1
            ),
        ),
        Some(_) => {}
    }
    check_format(reader, section, keys);
    if section.has("openings") && keys.opening_plies.is_some_and(|plies| plies > 0) {
        reader.error.push(
            Some(section.key_place("openings")),
            "`openings` and `opening_plies` in [event] both say where games begin",
            "leave one of them out",
        );
    }
    let kind = keys.game.as_ref().map(Chosen::kind);
    if let (Some(kind), Some(seats)) = (kind, keys.seats)
        && let Some(wrong) = seats_problem(kind, seats)
    {
        reader.wrong(section, "seats", wrong);
        keys.seats = None;
    }
}

/// What is wrong with a number of seats that the game does not have.
pub(super) fn seats_problem(kind: &dyn Kind, seats: usize) -> Option<Wrong> {
    let facts = kind.facts();
    if (facts.min_seats..=facts.max_seats).contains(&seats) {
        return None;
    }
    let possible = if facts.min_seats == facts.max_seats {
        format!("{} is right", facts.min_seats)
    } else {
        format!("{} to {} are possible", facts.min_seats, facts.max_seats)
    };
    let what = format!("is {seats}, but {} is not played so", facts.title);
    Some(Wrong::new(what, possible))
}

/// Reads `[rules]` against the game that `event` names; all wrong options are found.
pub(super) fn rules(
    reader: &mut Reader,
    section: Option<&Section<'_>>,
    event: Option<&Section<'_>>,
    kind: &dyn Kind,
) -> Map<String, Value> {
    let given = section.map_or_else(Map::new, |section| reader.json(section));
    check_rules(&given, kind, |key, wrong, is_known| {
        let Some(section) = section.filter(|_| !key.is_empty()) else {
            let place = event.map(|event| event.place("game"));
            reader.error.push(place, wrong.right, "");
            return;
        };
        // Options that were already refused are not in `given`.
        let place = if is_known {
            section.place(key)
        } else {
            section.key_place(key)
        };
        let title = format!("{} in {} {}", quoted(key), section.name(), wrong.what);
        reader.error.push(Some(place), title, wrong.right);
    });
    given
}

/// Checks options against the game. `tell` gets each bad one: its key, what is wrong, and whether its name is known at all.
/// Without a key it is the game itself that cannot be played, and what is right says why.
pub(super) fn check_rules(
    given: &Map<String, Value>,
    kind: &dyn Kind,
    mut tell: impl FnMut(&str, Wrong, bool),
) {
    let mut left = given.clone();
    let defaults = kind.rules(&Map::new()).map(|rules| rules.options());
    if let Ok(Value::Object(known)) = defaults {
        for key in given.keys().filter(|key| !known.contains_key(*key)) {
            let wrong = Wrong::new(
                format!("is no option of {}", kind.facts().title),
                suggestion(key, known.keys().map(String::as_str)),
            );
            tell(key, wrong, false);
            left.remove(key);
        }
    }
    // The game tells one error at a time: without that option it tells the next.
    while let Err(error) = kind.rules(&left) {
        tell(&error.key, Wrong::new("does not fit", error.message), true);
        if left.remove(&error.key).is_none() {
            break;
        }
    }
}

/// Why there can be no clock of this kind where the system does not tell what processor time a bot used.
pub(super) fn kind_problem(kind: ClockKind, tells_time: bool) -> Option<Wrong> {
    (kind != ClockKind::Wall && !tells_time).then(|| {
        Wrong::new(
            format!(
                "is {:?}, which needs what only Linux tells of a process: the processor time of a bot",
                clock_kind_word(kind)
            ),
            "\"wall\" is right here; or play on Linux",
        )
    })
}

/// Reads `[clock]`.
pub(super) fn clock(reader: &mut Reader, section: &Section<'_>, clock: &mut ClockSpec) {
    set_some(&mut clock.main_us, reader.duration(section, "main", 1));
    set(
        &mut clock.increment_us,
        reader.duration(section, "increment", 0),
    );
    set_some(&mut clock.move_us, reader.duration(section, "move", 1));
    set(&mut clock.delay_us, reader.duration(section, "delay", 0));
    set(&mut clock.margin_us, reader.duration(section, "margin", 0));
    set(&mut clock.ready_us, reader.duration(section, "ready", 1));
    let kind = reader.word(section, "kind", CLOCK_KINDS);
    if let Some(wrong) = kind.and_then(|kind| kind_problem(kind, crate::bot::os::TELLS_TIME)) {
        reader.wrong(section, "kind", wrong);
    }
    set(&mut clock.kind, kind);
    set_some(
        &mut clock.ceiling_us,
        reader.duration(section, "wall_ceiling", 1),
    );
}

/// Fills in what the rules prescribe of the clock, and checks whether its parts fit each other. `root` is the whole file.
pub(super) fn finish_clock(
    reader: &mut Reader,
    root: &Section<'_>,
    prescribed: Option<ClockDefaults>,
    clock: &mut ClockSpec,
) {
    *clock = with_prescribed(*clock, prescribed);
    if let Some(wrong) = clock_conflict(clock)
        && let Some(section) = reader.open_section(root, "clock", "[clock]")
    {
        reader.wrong(&section, "wall_ceiling", wrong);
    }
}

/// The clock that the rules with these options prescribe.
pub(super) fn prescribed_clock(
    kind: &dyn Kind,
    options: &Map<String, Value>,
) -> Option<ClockDefaults> {
    kind.rules(options).ok()?.clock_defaults()
}

/// The clock with what the rules prescribe where it has no such limit.
pub(super) fn with_prescribed(clock: ClockSpec, prescribed: Option<ClockDefaults>) -> ClockSpec {
    ClockSpec {
        main_us: clock.main_us.or(prescribed.and_then(|clock| clock.main_us)),
        move_us: clock.move_us.or(prescribed.and_then(|clock| clock.move_us)),
        ..clock
    }
}

/// What is wrong with the ceiling of a clock whose parts fit one by one.
pub(super) fn clock_conflict(clock: &ClockSpec) -> Option<Wrong> {
    let longest = clock.move_us? + clock.delay_us + clock.margin_us;
    let ceiling = clock.ceiling_us.filter(|&ceiling| ceiling < longest)?;
    Some(Wrong::new(
        format!(
            "is {}, but an answer may take {} (`move`, `delay` and `margin`)",
            show_duration(ceiling),
            show_duration(longest)
        ),
        format!("{} is the least", show_duration(longest)),
    ))
}

const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;
const GB: u64 = 1 << 30;

/// Reads `[limits]`, or a bot's own.
pub(super) fn limits(
    reader: &mut Reader,
    section: &Section<'_>,
    limits: &mut Limits,
    base: &std::path::Path,
) {
    set(
        &mut limits.memory,
        reader.size(section, "memory", MB..=1024 * GB),
    );
    set(
        &mut limits.processes,
        reader.whole(section, "processes", 1..=100_000),
    );
    set(
        &mut limits.stderr,
        reader.size(section, "stderr", 0..=64 * GB),
    );
    set(
        &mut limits.output,
        reader.size(section, "output", KB..=64 * GB),
    );
    // A line and a note are held in memory, so their bounds are ours.
    let line = reader.size(section, "line", KB..=64 * MB);
    set(&mut limits.line, line.and_then(|n| usize::try_from(n).ok()));
    let note = reader.size(section, "note", 0..=MB);
    set(&mut limits.note, note.and_then(|n| usize::try_from(n).ok()));
    set(&mut limits.disk, reader.size(section, "disk", 0..=64 * GB));
    set(&mut limits.exit_us, reader.duration(section, "exit", 0));
    set(
        &mut limits.cores,
        reader.whole(section, "cores", 1..=10_000),
    );
    set(&mut limits.ponder, reader.flag(section, "ponder"));
    if let Some(folders) = reader.texts(section, "runtime", "[\"~/.pyenv/versions/3.11.7\"]") {
        let wrong = folders
            .iter()
            .find_map(|folder| super::read::path_problem(folder));
        match wrong {
            Some(wrong) => reader.wrong(section, "runtime", wrong),
            None => {
                limits.runtime = folders
                    .iter()
                    .map(|folder| super::read::resolve(base, folder))
                    .collect();
            }
        }
    }
    set(
        &mut limits.sandbox,
        reader.word(section, "sandbox", SANDBOXES),
    );
}
