//! Makes the matches of an event.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use serde_json::{Value, json};

use super::confine::{self, Confined, Copies, Shelter};
use super::jitter::Jitter;
use crate::bot::os;
use crate::bot::process::Program;
use crate::bot::sandbox::Level;
use crate::bot::shard::Job;
use crate::chance::{self, MatchChance};
use crate::config::{self, BotSpec, EventConfig, Restart};
use crate::event::{GameId, MatchId, Slot};
use crate::game::Ruleset;
use crate::referee::record::{About, ChanceInfo};
use crate::referee::{MatchSetup, SeatSetup};
use crate::report::text::file_part;
use crate::tournament::{Meetings, Pairing};

/// Files that the referee itself needs open: results, records, logs, terminal, libraries.
const OWN_FILES: u64 = 64;
/// Files for each bot: three pipes, its end, the counters of two threads, its log, the socket of its box.
const FILES_A_BOT: u64 = 8;

/// All that is fixed before the first game.
#[derive(Debug)]
pub struct Plan {
    /// The event.
    pub config: EventConfig,
    /// What the user should know before the first game.
    pub warnings: Vec<String>,
    /// The matches that are played again, each with its ruling: their logs have other names.
    pub replays: BTreeMap<MatchId, u32>,
    rules: Arc<dyn Ruleset>,
    seed: String,
    commitment: String,
    cores: Vec<usize>,
    /// Where nothing is kept: made removable before the folder that they are in goes with the last of `bots`.
    _copies: Option<Copies>,
    bots: Vec<PlannedBot>,
    logs: Option<PathBuf>,
    /// See [`Job::fails_in`].
    fails_in: Option<GameId>,
}

/// What the program of the rules of a game writes to stderr, beside the logs of bots.
const RULES_LOG: &str = "rules.log";

/// The variable that names a game in which the referee is to fail. For tests.
const FAILS_IN: &str = "HAKEM_TEST_FAILS_IN";

/// One bot, resolved.
#[derive(Debug)]
struct PlannedBot {
    confined: Confined,
    about: Value,
}

impl Plan {
    /// The plan of an event with this seed. `hashes` are those of the bots' files, by slot; `out` is the
    /// folder of results, where copies of the bots' files and what they write to stderr are kept.
    ///
    /// # Errors
    /// A program that cannot be found or shown, a sandbox that is not possible.
    pub fn new(
        config: EventConfig,
        seed: String,
        hashes: &[String],
        out: Option<&Path>,
    ) -> anyhow::Result<Plan> {
        let rules = config
            .kind()
            .with_context(|| format!("there is no game `{}`", config.game))?
            .rules(&config.rules)?;
        let mut warnings = config.warnings();
        let (mut shelter, copies) = if Shelter::is_needed(&config) {
            let (shelter, copies) = Shelter::new(&config, out)?;
            (Some(shelter), Some(copies))
        } else {
            (None, None)
        };
        let bots = config
            .bots
            .iter()
            .enumerate()
            .map(|(slot, bot)| {
                let files = hashes.get(slot).map_or("", String::as_str);
                planned(bot, files, shelter.as_mut()).with_context(|| format!("bot `{}`", bot.name))
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        warnings.extend(shelter.map_or_else(Vec::new, |shelter| shelter.warnings));
        warnings.extend(not_enforced(&config, &bots));
        if let (Some(own), Some(out)) = (&config.own_game, out) {
            own.log_to(out.join(crate::store::LOGS).join(RULES_LOG));
        }
        Ok(Plan {
            commitment: chance::commitment(&seed),
            cores: os::cores(),
            rules,
            seed,
            warnings,
            bots,
            replays: BTreeMap::new(),
            logs: out.map(|out| out.join(crate::store::LOGS)),
            _copies: copies,
            config,
            fails_in: std::env::var(FAILS_IN).ok().and_then(|id| id.parse().ok()),
        })
    }

    /// Games at once: as the event says, else as many as leave each thinking bot a core; never more than the system
    /// allows open files for, which is then said.
    pub fn jobs(&mut self, asked: Option<usize>) -> usize {
        // Where seats race they all think at once, elsewhere one of them.
        let thinking = if self.config.is_race() {
            self.config.seats
        } else {
            1
        };
        let usual = (self.cores.len() / (self.cores_a_game() * thinking)).max(1);
        let wanted = asked.or(self.config.jobs).unwrap_or(usual);
        let files = os::raise_open_files();
        let seats = self.config.seats as u64;
        let possible = files.saturating_sub(OWN_FILES) / (FILES_A_BOT * seats);
        let most = usize::try_from(possible).unwrap_or(usize::MAX).max(1);
        if wanted > most {
            self.warnings.push(format!(
                "{wanted} games at once need {} open files and the system allows {files}: {most} are played at once",
                wanted as u64 * FILES_A_BOT * seats + OWN_FILES
            ));
        } else if wanted > usual {
            self.warnings.push(format!(
                "{wanted} games at once on {} cores, with {thinking} thinking at a time in each: bots will wait for a core, which \
                 the clock kind `fair` takes off",
                self.cores.len()
            ));
        }
        wanted.min(most)
    }

    /// Measures how exactly the machine keeps time, and adds a warning if that is not exact enough for the clock.
    pub fn measure_machine(&mut self) {
        let clock = &self.config.clock;
        let limits = [
            clock.move_us,
            clock.main_us.map(|main| main + clock.delay_us),
        ];
        let Some(limit) = limits.into_iter().flatten().min() else {
            return;
        };
        let jitter = Jitter::measure(&self.cores);
        self.warnings
            .extend(jitter.warning(limit + clock.margin_us));
    }

    fn cores_a_game(&self) -> usize {
        let asked = self.config.bots.first().map_or(1, |bot| bot.limits.cores) as usize;
        asked.clamp(1, self.cores.len())
    }

    /// The cores of each shard. A game's bots and the referee's own work for it stay together: handing over a line to
    /// another core costs ten times as much, and both seats have the same conditions.
    pub(crate) fn core_groups(&self, jobs: usize) -> Vec<Vec<usize>> {
        let size = self.cores_a_game();
        let count = if self.config.own_game.is_some() {
            // A thread that asks a program for the rules waits for it: no other game is to wait with it.
            jobs.max(1)
        } else {
            (self.cores.len() / size).clamp(1, jobs.max(1))
        };
        // Two runs on one machine should not both begin with the first core.
        let shift = std::process::id() as usize % self.cores.len();
        (0..count)
            .map(|group| {
                (0..size)
                    .map(|n| self.cores[(shift + group * size + n) % self.cores.len()])
                    .collect()
            })
            .collect()
    }

    /// All cores, if each is of one of these groups; none, if one is free for other work than games.
    pub(crate) fn busy_cores(&self, groups: &[Vec<usize>]) -> Vec<usize> {
        let is_taken = |core| groups.iter().flatten().any(|taken| taken == core);
        let all = self.cores.iter().all(is_taken);
        if all { self.cores.clone() } else { Vec::new() }
    }

    /// The event's seed.
    pub fn seed(&self) -> &str {
        &self.seed
    }

    /// The names of the bots by slot.
    pub fn names(&self) -> Vec<String> {
        self.config
            .bots
            .iter()
            .map(|bot| bot.name.clone())
            .collect()
    }

    /// How each bot is confined, and the machine; for results.
    pub fn confined(&self) -> Value {
        let bots: Vec<Value> = self
            .config
            .bots
            .iter()
            .zip(&self.bots)
            .map(|(bot, planned)| json!({ "name": bot.name, "sandbox": planned.about["sandbox"] }))
            .collect();
        json!({ "bots": bots, "machine": machine() })
    }

    /// What a shard needs for a match.
    ///
    /// # Errors
    /// None today; a schedule that names a bot that is not there is a bug.
    pub fn job(&self, pairing: &Pairing) -> anyhow::Result<Job> {
        let config = &self.config;
        let name = |slot: &Slot| config.bots[*slot].name.clone();
        let field: Vec<String> = pairing.field.iter().map(name).collect();
        let round = pairing.id.round;
        let setup = MatchSetup {
            id: pairing.id,
            slots: pairing.seats.clone(),
            seats: pairing
                .seats
                .iter()
                .map(|&slot| SeatSetup {
                    name: config.bots[slot].name.clone(),
                    options: config.bots[slot].options.clone(),
                    max_note: config.bots[slot].limits.note,
                })
                .collect(),
            rules: self.rules.clone(),
            clock: config.clock,
            cores: self.cores_a_game() as u32,
            chance: MatchChance::new(
                &self.seed,
                round,
                field.iter().map(String::as_str),
                pairing.pair,
            ),
            chance_info: ChanceInfo {
                commitment: self.commitment.clone(),
                guessable: chance::is_guessable(&self.seed),
                round,
                field,
                pair: pairing.pair,
            },
            opening: self.opening(pairing),
            opening_plies: config.opening_plies,
            adjudication: config.adjudication,
            restart_each_game: config.restart == Restart::Game,
            about: About::from(&self.about(pairing)),
        };
        let programs = pairing
            .seats
            .iter()
            .enumerate()
            .map(|(seat, &slot)| self.program(pairing, seat, slot))
            .collect();
        Ok(Job {
            setup: Arc::new(setup),
            programs,
            fails_in: self.fails_in,
        })
    }

    /// What a record says of the bots, the machine, and the rules where they are a program's.
    fn about(&self, pairing: &Pairing) -> Value {
        let bots = pairing.seats.iter().map(|&slot| &self.bots[slot].about);
        let mut about = json!({
            "bots": bots.collect::<Vec<_>>(),
            "machine": machine(),
        });
        if let Some(own) = &self.config.own_game {
            about["rules"] = json!({ "command": own.argv, "files": own.files.hash() });
        }
        about
    }

    fn opening(&self, pairing: &Pairing) -> Option<Value> {
        let config = &self.config;
        let meetings = Meetings {
            games: config.games,
            paired: config.paired,
        };
        let number = config::opening_number(pairing, meetings, config.seats);
        let count = config.openings.len().max(1);
        config.openings.get(number % count).cloned()
    }

    fn program(&self, pairing: &Pairing, seat: usize, slot: Slot) -> Program {
        let spec = &self.config.bots[slot];
        let bot = &self.bots[slot];
        let log = self.logs.as_ref().map(|logs| {
            let ruling = self.replays.get(&pairing.id).copied();
            logs.join(log_name(pairing.id, ruling, seat, &spec.name))
        });
        Program {
            argv: bot.confined.argv.clone(),
            dir: bot.confined.dir.clone(),
            env: spec.env.clone(),
            log,
            max_stderr: spec.limits.stderr,
            max_line: spec.limits.line,
            max_output: spec.limits.output,
            exit_us: spec.limits.exit_us,
            cores: self.cores_a_game() as u32,
            confine: bot.confined.confine.clone(),
        }
    }
}

/// The name of the log of a bot on a seat of a match; of one that is played again it tells the ruling.
pub fn log_name(of: MatchId, ruling: Option<u32>, seat: usize, name: &str) -> String {
    let again = ruling.map_or_else(String::new, |ruling| format!(".replay-{ruling}"));
    format!("{of}{again}.s{seat}-{}.log", file_part(name))
}

/// Limits that an event sets and the level of a bot does not enforce.
fn not_enforced(config: &EventConfig, bots: &[PlannedBot]) -> Option<String> {
    let usual = config::Limits::default();
    let set = |pick: fn(&config::Limits, &config::Limits) -> bool| {
        config.bots.iter().zip(bots).any(|(bot, planned)| {
            matches!(bot.program, config::Program::Command { .. })
                && planned.confined.in_force.level == Level::None
                && pick(&bot.limits, &usual)
        })
    };
    let keys = [
        ("memory", set(|limits, usual| limits.memory != usual.memory)),
        (
            "processes",
            set(|limits, usual| limits.processes != usual.processes),
        ),
        ("disk", set(|limits, usual| limits.disk != usual.disk)),
        ("ponder", set(|limits, usual| limits.ponder != usual.ponder)),
    ];
    let set: Vec<&str> = keys
        .into_iter()
        .filter(|key| key.1)
        .map(|key| key.0)
        .collect();
    (!set.is_empty()).then(|| {
        format!(
            "[limits] sets {}, which the sandbox level `none` does not enforce",
            set.join(", ")
        )
    })
}

/// Finds a bot's program, so that its place is fixed for the whole run, and how it is confined.
fn planned(
    bot: &BotSpec,
    files: &str,
    shelter: Option<&mut Shelter<'_>>,
) -> anyhow::Result<PlannedBot> {
    let mut missing = None;
    let (confined, mut about) = match &bot.program {
        config::Program::Builtin(name) => (confine::builtin(name)?, json!({ "builtin": name })),
        config::Program::Command { argv, dir, own_dir } => {
            let confined = match shelter {
                Some(shelter) => {
                    let confined = shelter.confine(bot, argv, dir, *own_dir)?;
                    missing = shelter.missing(bot, confined.in_force.level);
                    confined
                }
                None => confine::unconfined(argv, dir)?,
            };
            (confined, json!({ "command": argv, "files": files }))
        }
    };
    if !confined.copy.is_empty() {
        about["copy"] = confined.copy.as_str().into();
    }
    about["sandbox"] = confined.in_force.describe(&bot.limits);
    // A built-in bot is confined as little as this program itself, whatever the event asks for.
    if matches!(bot.program, config::Program::Command { .. }) {
        about["sandbox"]["asked"] = config::sandbox_word(bot.limits.sandbox).into();
    }
    if let Some(missing) = missing {
        about["sandbox"]["missing"] = missing.into();
    }
    Ok(PlannedBot { confined, about })
}

/// The machine, for records.
fn machine() -> Value {
    let name = rustix::system::uname();
    json!({
        "system": name.sysname().to_string_lossy(),
        "kernel": name.release().to_string_lossy(),
        "processor": name.machine().to_string_lossy(),
    })
}
