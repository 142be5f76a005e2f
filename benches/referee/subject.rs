//! hakem as it is measured: event files, runs, and the games that must come of them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Fault;
use crate::process::{self, Cost};

/// Two moves before the end: seat 0 plays 5, seat 1 plays 6 into its treasury.
const OPENING: &str = r#"{"pits":[[0,0,0,0,1,0],[0,0,0,0,0,1]],"stores":[23,23],"turn":0}"#;
/// The moves of a game from [`OPENING`].
pub(crate) const SHORT_MOVES: u64 = 2;

/// An event of two instant bots.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) matches: usize,
    /// Games of each match.
    pub(crate) sets: usize,
    pub(crate) jobs: usize,
    /// The kind of clock.
    pub(crate) clock: &'a str,
    pub(crate) cores: &'a [usize],
    /// Start the bots for every game, and play only the last moves of a game.
    pub(crate) short: bool,
    /// Options of the bots.
    pub(crate) bot: &'a [&'a str],
    /// The moves that every game must have; `None` while that is not known.
    pub(crate) moves: Option<u64>,
    /// Whether the charge of every move is to be read from the records.
    pub(crate) charges: bool,
}

/// What a run did.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) cost: Cost,
    pub(crate) games: usize,
    pub(crate) moves: u64,
    /// What each move was charged, microseconds, if that was asked for.
    pub(crate) charges: Vec<f64>,
}

/// The program that is measured, and a folder for its runs.
pub(crate) struct Subject {
    hakem: PathBuf,
    me: PathBuf,
    dir: tempfile::TempDir,
}

impl Subject {
    /// For this program, with its results below this folder.
    pub(crate) fn new(hakem: &Path, dir: &Path) -> Result<Subject, Fault> {
        Ok(Subject {
            hakem: hakem.into(),
            me: std::env::current_exe()?,
            dir: tempfile::Builder::new()
                .prefix("hakem-bench-")
                .tempdir_in(dir)?,
        })
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// An empty folder.
    pub(crate) fn fresh(&self, name: &str) -> Result<PathBuf, Fault> {
        let path = self.dir().join(name);
        if path.exists() {
            std::fs::remove_dir_all(&path)?;
        }
        std::fs::create_dir(&path)?;
        Ok(path)
    }

    /// Runs a role of this program and reads the JSON that it prints.
    pub(crate) fn yardstick(&self, role: &str, args: &[&str]) -> Result<Value, Fault> {
        let mut command = Command::new(&self.me);
        command.args(["bench-role", role]).args(args);
        process::measure(command, self.dir(), role, None)?;
        let text = std::fs::read_to_string(self.dir().join(format!("{role}.out")))?;
        Ok(serde_json::from_str(&text)?)
    }

    fn event(&self, plan: &Plan<'_>) -> Result<PathBuf, Fault> {
        let mut text = format!(
            "[event]\nname = \"bench\"\ngame = \"mangala\"\ngames = {}\npaired = false\nseed = 1\njobs = {}\n",
            plan.matches, plan.jobs
        );
        if plan.short {
            std::fs::write(self.dir().join("openings.jsonl"), format!("{OPENING}\n"))?;
            text.push_str("restart = \"game\"\nopenings = \"openings.jsonl\"\n");
        }
        write!(
            text,
            "[rules]\nsets = {}\n[clock]\nmain = \"600s\"\nincrement = \"100ms\"\nmove = \"60s\"\nready = \"60s\"\n\
             kind = \"{}\"\n[limits]\nsandbox = \"none\"\nexit = \"30s\"\n",
            plan.sets, plan.clock
        )?;
        let me = self.me.to_string_lossy();
        let argv: Vec<&str> = [me.as_ref(), "bench-role", "instant-bot"]
            .iter()
            .chain(plan.bot)
            .copied()
            .collect();
        for name in ["one", "two"] {
            write!(
                text,
                "[[bot]]\nname = \"{name}\"\ncommand = {}\n",
                Value::from(argv.clone())
            )?;
        }
        let path = self.dir().join("event.toml");
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// Plays an event and counts its games and moves.
    ///
    /// # Errors
    /// Also if a game is missing, did not end by its rules, or has another number of moves than it must.
    pub(crate) fn play(
        &self,
        plan: &Plan<'_>,
        count: Option<&mut dyn FnMut() -> usize>,
    ) -> Result<Played, Fault> {
        let event = self.event(plan)?;
        let out = self.dir().join("run");
        if out.exists() {
            std::fs::remove_dir_all(&out)?;
        }
        let mut command = Command::new(&self.me);
        command
            .args(["bench-role", "pinned", &process::list(plan.cores)])
            .arg(&self.hakem)
            .arg("run")
            .arg(&event)
            .arg("--out")
            .arg(&out)
            .args(["--jobs", &plan.jobs.to_string()]);
        let cost = process::measure(command, self.dir(), "hakem", count)?;
        let (games, moves) = self.count(&out, plan)?;
        let charges = if plan.charges {
            charges(&out.join("records"))?
        } else {
            Vec::new()
        };
        std::fs::remove_dir_all(&out)?;
        Ok(Played {
            cost,
            games,
            moves,
            charges,
        })
    }

    fn count(&self, out: &Path, plan: &Plan<'_>) -> Result<(usize, u64), Fault> {
        let printed = Command::new(&self.hakem)
            .arg("games")
            .arg(out)
            .args(["--format", "json"])
            .output()?;
        let games: Vec<Value> = serde_json::from_slice(&printed.stdout)
            .map_err(|error| format!("`hakem games` printed no list of games: {error}"))?;
        if games.len() != plan.matches * plan.sets {
            let planned = plan.matches * plan.sets;
            return Err(format!("{} games of {planned} were played", games.len()).into());
        }
        let mut moves = 0;
        for game in &games {
            let count = game["moves"].as_u64();
            if game["verdict"] != "rule" || count.is_none() {
                return Err(format!("a game did not end by its rules: {game}").into());
            }
            if plan.moves.is_some() && count != plan.moves {
                let wanted = plan.moves.unwrap_or_default();
                return Err(format!("a game has not its {wanted} moves: {game}").into());
            }
            moves += count.unwrap_or_default();
        }
        Ok((games.len(), moves))
    }
}

/// What the records of a run say each move was charged.
fn charges(records: &Path) -> Result<Vec<f64>, Fault> {
    let mut charges = Vec::new();
    for entry in std::fs::read_dir(records)? {
        for line in std::fs::read_to_string(entry?.path())?.lines() {
            let line: Value = serde_json::from_str(line)?;
            charges.extend(line["answer"]["charged_us"].as_f64());
        }
    }
    Ok(charges)
}
