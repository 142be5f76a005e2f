//! Makes the matches of an event.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use serde_json::{Value, json};

use crate::bot::os;
use crate::bot::process::Program;
use crate::bot::shard::Job;
use crate::chance::{self, MatchChance};
use crate::config::{self, BotSpec, EventConfig, Restart, Sandbox};
use crate::event::Slot;
use crate::game::{self, Ruleset};
use crate::referee::record::ChanceInfo;
use crate::referee::{MatchSetup, SeatSetup};
use crate::tournament::Pairing;

/// Files that the referee itself needs open: results, records, logs, terminal, libraries.
const OWN_FILES: u64 = 64;
/// Files for each bot: three pipes, its end, its counters, its log.
const FILES_A_BOT: u64 = 6;

/// All that is fixed before the first game.
#[derive(Debug)]
pub struct Plan {
    /// The event.
    pub config: EventConfig,
    /// What the user should know before the first game.
    pub warnings: Vec<String>,
    rules: Arc<dyn Ruleset>,
    seed: String,
    commitment: String,
    cores: Vec<usize>,
    bots: Vec<PlannedBot>,
    logs: Option<PathBuf>,
}

/// One bot, resolved.
#[derive(Debug)]
struct PlannedBot {
    argv: Vec<String>,
    dir: Option<PathBuf>,
    about: Value,
}

impl Plan {
    /// The plan of an event with this seed. `hashes` are those of the bots' files, by slot; `logs` is the
    /// folder for what bots write to stderr.
    ///
    /// # Errors
    /// A program that cannot be found.
    pub fn new(
        config: EventConfig,
        seed: String,
        hashes: &[String],
        logs: Option<PathBuf>,
    ) -> anyhow::Result<Plan> {
        let rules = game::find(&config.game)
            .with_context(|| format!("there is no game `{}`", config.game))?
            .rules(&config.rules)?;
        let bots = config
            .bots
            .iter()
            .enumerate()
            .map(|(slot, bot)| planned(bot, hashes.get(slot).map_or("", String::as_str)))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let mut warnings = config.warnings();
        warnings.extend(not_enforced(&config));
        if bots_are_unconfined(&config) {
            warnings.push(
                "bots run without a sandbox (level `none`): this version has no other; let only \
                 programs take part that you trust"
                    .to_owned(),
            );
        }
        Ok(Plan {
            commitment: chance::commitment(&seed),
            cores: os::cores(),
            rules,
            seed,
            warnings,
            bots,
            logs,
            config,
        })
    }

    /// Games at once: as the event says, else as many as leave each thinking bot a core; never more than the system
    /// allows open files for, which is then said.
    pub fn jobs(&mut self, asked: Option<usize>) -> usize {
        let cores_a_game = self.cores_a_game();
        let usual = (self.cores.len() / cores_a_game).max(1);
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
                "{wanted} games at once on {} cores: bots will wait for a core, which the clock kind `fair` takes off",
                self.cores.len()
            ));
        }
        wanted.min(most)
    }

    fn cores_a_game(&self) -> usize {
        let asked = self.config.bots.first().map_or(1, |bot| bot.limits.cores) as usize;
        asked.clamp(1, self.cores.len())
    }

    /// The cores of each shard. A game's bots and the referee's own work for it stay together: handing over a line to
    /// another core costs ten times as much, and both seats have the same conditions.
    pub(crate) fn core_groups(&self, jobs: usize) -> Vec<Vec<usize>> {
        let size = self.cores_a_game();
        let count = (self.cores.len() / size).clamp(1, jobs.max(1));
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

    /// What a shard needs for a match.
    ///
    /// # Errors
    /// None today; a schedule that names a bot that is not there is a bug.
    pub(crate) fn job(&self, pairing: &Pairing) -> anyhow::Result<Job> {
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
            restart_each_game: config.restart == Restart::Game,
            about: json!({
                "bots": pairing.seats.iter().map(|&slot| &self.bots[slot].about).collect::<Vec<_>>(),
                "sandbox": "none",
            }),
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
        })
    }

    /// The k-th meeting of two bots starts from the k-th opening, round and round; the rounds of an event go on where the
    /// one before stopped.
    fn opening(&self, pairing: &Pairing) -> Option<Value> {
        let openings = &self.config.openings;
        if openings.is_empty() {
            return None;
        }
        let meetings = if self.config.paired {
            self.config.games.div_ceil(self.config.seats as u32)
        } else {
            self.config.games
        };
        let index = (pairing.id.round as usize - 1) * meetings as usize + pairing.pair as usize;
        Some(openings[index % openings.len()].clone())
    }

    fn program(&self, pairing: &Pairing, seat: usize, slot: Slot) -> Program {
        let spec = &self.config.bots[slot];
        let bot = &self.bots[slot];
        let log = self.logs.as_ref().map(|logs| {
            logs.join(format!(
                "{}.s{seat}-{}.log",
                pairing.id,
                file_part(&spec.name)
            ))
        });
        Program {
            argv: bot.argv.clone(),
            dir: bot.dir.clone(),
            env: spec.env.clone(),
            log,
            max_stderr: spec.limits.stderr,
            max_line: spec.limits.line,
            max_output: spec.limits.output,
            exit_us: spec.limits.exit_us,
        }
    }
}

fn bots_are_unconfined(config: &EventConfig) -> bool {
    config.bots.iter().any(|bot| {
        matches!(bot.program, config::Program::Command { .. })
            && bot.limits.sandbox == Sandbox::Auto
    })
}

/// Limits that an event sets and this version does not enforce.
fn not_enforced(config: &EventConfig) -> Option<String> {
    let usual = config::Limits::default();
    let set = |pick: fn(&config::Limits, &config::Limits) -> bool| {
        config.bots.iter().any(|bot| pick(&bot.limits, &usual))
    };
    let keys = [
        ("memory", set(|limits, usual| limits.memory != usual.memory)),
        (
            "processes",
            set(|limits, usual| limits.processes != usual.processes),
        ),
        ("disk", set(|limits, usual| limits.disk != usual.disk)),
        ("ponder", set(|limits, usual| limits.ponder != usual.ponder)),
        (
            "runtime",
            set(|limits, usual| limits.runtime != usual.runtime),
        ),
    ];
    let set: Vec<&str> = keys
        .into_iter()
        .filter(|key| key.1)
        .map(|key| key.0)
        .collect();
    (!set.is_empty()).then(|| {
        format!(
            "[limits] sets {}, which this version does not enforce",
            set.join(", ")
        )
    })
}

/// Finds a bot's program, so that its place is fixed for the whole run.
fn planned(bot: &BotSpec, files: &str) -> anyhow::Result<PlannedBot> {
    match &bot.program {
        config::Program::Builtin(name) => {
            let own = std::env::current_exe().context("where is this program?")?;
            let own = text_of(&own)?;
            Ok(PlannedBot {
                argv: vec![own, "bot".into(), name.clone()],
                dir: None,
                about: json!({ "builtin": name }),
            })
        }
        config::Program::Command { argv, dir, .. } => {
            let mut found = argv.clone();
            if let Some(program) = found.first_mut() {
                let path = config::resolve_program(program, dir)
                    .map_err(|what| anyhow::anyhow!("bot `{}`: {what}", bot.name))?;
                *program = text_of(&path)?;
            }
            let about = json!({ "command": argv, "files": files });
            Ok(PlannedBot {
                argv: found,
                dir: Some(dir.clone()),
                about,
            })
        }
    }
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    path.to_str()
        .map(str::to_owned)
        .with_context(|| format!("the path {} is not UTF-8", path.display()))
}

/// A name as a part of a file's name: letters, digits, `-` and `_` of ASCII, not long.
fn file_part(name: &str) -> String {
    name.chars()
        .take(40)
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect()
}
