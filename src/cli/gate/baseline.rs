//! The file of measured strengths: how well a bot did against a baseline, so that a later version can be held to it.
//!
//! A measurement belongs to the content of the baseline's files, the game, its rules and the clock: if any of them changes it is
//! not found any more.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hakem_protocol::results::GateResult;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Refused;
use crate::config::{EventConfig, Program};
use crate::stats::elo_difference;
use crate::tournament::gate::{BASELINE, CANDIDATE};

/// The version of the file's form.
const FORMAT: u32 = 1;
/// The most matches that a gate plays.
pub(super) const MOST_GAMES: u64 = 10_000_000;
/// The largest Elo difference that is measured: that of a score which is all but 1 after so many matches is below it.
const MOST_ELO: f64 = 3_000.0;
/// More points than a game can be worth.
const MOST_POINTS: f64 = 1e6;

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The baseline: a hash of its files, or the built-in bot with the version of hakem.
    pub(super) baseline: String,
    /// The bot that was measured, likewise.
    pub(super) candidate: String,
    /// The game.
    pub(super) game: String,
    /// Every option of it.
    pub(super) rules: Value,
    /// The clock.
    pub(super) clock: Value,
    /// The rules that may end games; null where there are none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) adjudication: Value,
    /// Where games begin: random plies, or a hash of the positions.
    pub(super) start: Value,
    /// Whether matches were paired.
    pub(super) paired: bool,
    /// Matches that were evidence.
    pub(super) games: u64,
    /// The mean score of the bot.
    pub(super) score: f64,
    /// The Elo difference of that score; where the score has none that ends, of it with half a win and half a loss added.
    pub(super) elo: f64,
    /// Points won less points lost, a game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) points_per_game: Option<f64>,
}

impl Entry {
    /// What a measurement of this event is of; nothing is measured yet.
    pub(super) fn about(config: &EventConfig, hashes: &[String], paired: bool) -> Entry {
        let fingerprint = config.fingerprint();
        let key = |slot: usize| match config
            .bots
            .get(slot)
            .map(|bot| (&bot.program, &bot.options))
        {
            Some((Program::Builtin(name), options)) => {
                let options: String = options
                    .iter()
                    .map(|(key, value)| format!(",{key}={value}"))
                    .collect();
                format!(
                    "builtin:{name}{options} of hakem {}",
                    env!("CARGO_PKG_VERSION")
                )
            }
            _ => hashes.get(slot).cloned().unwrap_or_default(),
        };
        Entry {
            baseline: key(BASELINE),
            candidate: key(CANDIDATE),
            // With other rules it would be another game.
            game: match &config.own_game {
                None => config.game.clone(),
                Some(own) => format!("{} {}", config.game, own.files.hash()),
            },
            rules: fingerprint["rules"].clone(),
            clock: fingerprint["clock"].clone(),
            adjudication: fingerprint["adjudication"].clone(),
            start: serde_json::json!({
                "opening_plies": fingerprint["event"]["opening_plies"],
                "openings": fingerprint["event"]["openings"],
            }),
            paired,
            games: 0,
            score: 0.5,
            elo: 0.0,
            points_per_game: None,
        }
    }

    /// The same, measured.
    pub(super) fn measured(mut self, result: &GateResult) -> Entry {
        let games = result.games as f64;
        self.games = result.games;
        self.score = result.score.unwrap_or(0.5);
        self.elo = result
            .elo
            .unwrap_or_else(|| elo_difference((self.score * games + 0.5) / (games + 1.0)));
        self.points_per_game = result.points_per_game;
        self
    }

    /// The first figure that no measurement gives: its key, its value, and what would be right.
    fn impossible(&self) -> Option<(&'static str, String, String)> {
        let points = self.points_per_game.unwrap_or(0.0);
        [
            (
                "games",
                (1..=MOST_GAMES).contains(&self.games),
                self.games.to_string(),
                format!("a whole number from 1 to {MOST_GAMES}"),
            ),
            (
                "score",
                (0.0..=1.0).contains(&self.score),
                self.score.to_string(),
                "a number from 0 to 1".to_owned(),
            ),
            (
                "elo",
                self.elo.abs() <= MOST_ELO,
                self.elo.to_string(),
                format!("a number from -{MOST_ELO} to {MOST_ELO}"),
            ),
            (
                "points_per_game",
                points.abs() <= MOST_POINTS,
                points.to_string(),
                format!("a number from -{MOST_POINTS} to {MOST_POINTS}"),
            ),
        ]
        .into_iter()
        .find(|&(_, is_right, ..)| !is_right)
        .map(|(key, _, value, right)| (key, value, right))
    }

    fn is_of_the_same(&self, other: &Entry) -> bool {
        let key = |entry: &Entry| {
            (
                entry.baseline.clone(),
                entry.game.clone(),
                entry.rules.clone(),
                entry.clock.clone(),
                entry.adjudication.clone(),
                entry.start.clone(),
                entry.paired,
            )
        };
        key(self) == key(other)
    }
}

/// The content of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    format: u32,
    measured: Vec<Entry>,
}

/// A file of measurements.
#[derive(Clone, Debug)]
pub(super) struct BaselineFile {
    path: PathBuf,
    content: Content,
}

impl BaselineFile {
    /// Reads a file; one that is not there is empty.
    ///
    /// # Errors
    /// [`Refused`] for a file that is none of ours; what the disk refused.
    pub(super) fn read(path: &Path) -> anyhow::Result<BaselineFile> {
        let content = match std::fs::read_to_string(path) {
            Ok(text) => {
                let content: Content = serde_json::from_str(&text).map_err(|error| {
                    Refused(format!(
                        "{} is no file of measured baselines: {error}",
                        path.display()
                    ))
                })?;
                if content.format != FORMAT {
                    return Err(Refused(format!(
                        "{} has the form {}, and this version knows {FORMAT}",
                        path.display(),
                        content.format
                    ))
                    .into());
                }
                for (place, entry) in content.measured.iter().enumerate() {
                    if let Some((key, value, right)) = entry.impossible() {
                        return Err(Refused(format!(
                            "{}: `measured[{place}].{key}` is {value}, and {right} would be right; --update-baseline measures anew once \
                             that entry is taken out",
                            path.display()
                        ))
                        .into());
                    }
                }
                content
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Content {
                format: FORMAT,
                measured: Vec::new(),
            },
            Err(error) => {
                return Err(Refused(format!("cannot read {}: {error}", path.display())).into());
            }
        };
        Ok(BaselineFile {
            path: path.to_owned(),
            content,
        })
    }

    /// What was measured against this baseline.
    pub(super) fn find(&self, about: &Entry) -> Option<&Entry> {
        self.content
            .measured
            .iter()
            .find(|entry| entry.is_of_the_same(about))
    }

    /// Puts a measurement in the place of the one before, and writes the file: all of it or nothing.
    ///
    /// # Errors
    /// What the disk refused.
    pub(super) fn put(&mut self, entry: Entry) -> anyhow::Result<()> {
        self.content
            .measured
            .retain(|other| !other.is_of_the_same(&entry));
        self.content.measured.push(entry);
        let mut text = serde_json::to_string_pretty(&self.content)?;
        text.push('\n');
        let write = || -> std::io::Result<()> {
            let path = std::path::absolute(&self.path)?;
            let folder = path.parent().unwrap_or(Path::new("/"));
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().with_context(|| format!("cannot write {}", self.path.display()))
    }
}
