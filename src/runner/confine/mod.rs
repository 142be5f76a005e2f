//! Decides how each bot is confined, before the first game: finds its program, copies its files, chooses the level, and fills in
//! what its box is told.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;

use crate::bot::os;
use crate::bot::sandbox::order::{Order, Shown, settings};
use crate::bot::sandbox::probe::{self, Impossible, Machine};
use crate::bot::sandbox::slots::Slots;
use crate::bot::sandbox::{Confine, InForce, Level};
use crate::config::{self, BotSpec, EventConfig, Program, Sandbox};

mod interpreter;
mod snapshot;

use snapshot::{Copy, What};

/// The folder of the bots' copies in a folder of results.
pub const BOTS: &str = "bots";

/// What the level `limits` does not do on other systems than Linux.
const LESS: &str = "at `limits` this system holds neither the memory of a bot nor, but for root, its processes, and a child that \
                    leaves the bot's process group may outlive its game";

/// What is found out for one bot.
#[derive(Clone, Debug)]
pub struct Confined {
    /// The command with the program's place.
    pub argv: Vec<String>,
    /// The working folder, where the bot is not confined.
    pub dir: Option<PathBuf>,
    /// How it is confined; without it, not at all.
    pub confine: Option<Arc<Confine>>,
    /// What is in force, for records.
    pub in_force: InForce,
    /// The hash of the copy of its files, hex; empty without one.
    pub copy: String,
}

/// Confines the bots of an event.
#[derive(Debug)]
pub struct Shelter<'a> {
    config: &'a EventConfig,
    slots: Arc<Slots>,
    machine: Machine,
    /// This program.
    own: PathBuf,
    /// Where copies are kept.
    copies: PathBuf,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// The copies of a run that keeps nothing; removed at its end.
#[derive(Debug)]
pub struct Copies(PathBuf);

impl Drop for Copies {
    fn drop(&mut self) {
        crate::bot::sandbox::slots::open_again(&self.0);
        // The folder itself goes with that of the run.
    }
}

/// What is shown to a bot and what its command becomes.
struct Scene {
    argv: Vec<String>,
    dir: PathBuf,
    shown: Vec<Shown>,
    path: Vec<PathBuf>,
    hash: String,
}

impl<'a> Shelter<'a> {
    /// Finds out what this machine allows. `out` is the folder of results, if there is one.
    ///
    /// # Errors
    /// If there is no place for private folders.
    pub fn new(
        config: &'a EventConfig,
        out: Option<&Path>,
    ) -> anyhow::Result<(Shelter<'a>, Copies)> {
        let slots = Slots::new().context("no folder for the bots' temporary files can be made")?;
        // The link is this very program even if its file is replaced meanwhile.
        let link = Path::new("/proc/self/exe");
        let own = if link.exists() {
            link.to_owned()
        } else {
            std::env::current_exe().context("where is this program?")?
        };
        let machine = probe::machine(&own, &slots);
        let temporary = slots.folder().join(BOTS);
        let copies = out.map_or_else(|| temporary.clone(), |out| out.join(BOTS));
        let shelter = Shelter {
            config,
            slots,
            machine,
            own,
            copies: std::path::absolute(copies)?,
            warnings: Vec::new(),
        };
        Ok((shelter, Copies(temporary)))
    }

    /// Whether any bot of an event is to be confined.
    pub fn is_needed(config: &EventConfig) -> bool {
        config.bots.iter().any(|bot| {
            matches!(bot.program, Program::Command { .. }) && bot.limits.sandbox != Sandbox::None
        })
    }

    /// The level of a bot.
    ///
    /// # Errors
    /// A level that was asked for by name and is not possible, with the cause and the cure.
    fn level(&mut self, bot: &BotSpec) -> anyhow::Result<Level> {
        let refused = |level: Level, why: &Impossible| {
            anyhow::anyhow!("the sandbox `{}` is not possible: {why}", level.as_str())
        };
        match bot.limits.sandbox {
            Sandbox::None => Ok(Level::None),
            Sandbox::Limits => match &self.machine.limits {
                Ok(_) => Ok(Level::Limits),
                Err(why) => Err(refused(Level::Limits, why)),
            },
            Sandbox::Strict => match &self.machine.strict {
                Ok(_) => Ok(Level::Strict),
                Err(why) => Err(refused(Level::Strict, why)),
            },
            Sandbox::Auto => {
                let (level, warning) = match (&self.machine.strict, &self.machine.limits) {
                    (Ok(_), _) => return Ok(Level::Strict),
                    (Err(why), Ok(_)) => (
                        Level::Limits,
                        format!(
                            "bots run at the sandbox level `limits`, as `strict` is not possible: {}",
                            why.cause
                        ),
                    ),
                    (Err(_), Err(why)) => (
                        Level::None,
                        format!(
                            "bots run without a sandbox (level `none`); let only programs take part that you trust: {}",
                            why.cause
                        ),
                    ),
                };
                self.warn(&warning);
                Ok(level)
            }
        }
    }

    fn warn(&mut self, warning: &str) {
        if !self.warnings.iter().any(|known| known == warning) {
            self.warnings.push(warning.to_owned());
        }
    }

    /// Why a bot whose event leaves the level open has this one and no stricter one.
    pub fn missing(&self, bot: &BotSpec, level: Level) -> Option<String> {
        if bot.limits.sandbox != Sandbox::Auto || level == Level::Strict {
            return None;
        }
        let machine = &self.machine;
        let strict = machine.strict.as_ref().err().map(|why| ("strict", why));
        let limits = machine.limits.as_ref().err().map(|why| ("limits", why));
        let causes: Vec<String> = strict
            .into_iter()
            .chain(limits.filter(|_| level == Level::None))
            .map(|(level, why)| format!("{level}: {}", why.cause))
            .collect();
        (!causes.is_empty()).then(|| causes.join("; "))
    }

    /// How this bot is confined.
    ///
    /// # Errors
    /// A level that is not possible; a program or file that cannot be shown or copied. All are the user's to mend.
    pub fn confine(
        &mut self,
        bot: &BotSpec,
        argv: &[String],
        dir: &Path,
        own_dir: bool,
    ) -> anyhow::Result<Confined> {
        let level = self.level(bot)?;
        if level == Level::None {
            return bare(argv, dir);
        }
        let features = match level {
            Level::Strict => self.machine.strict.clone(),
            Level::None | Level::Limits => self.machine.limits.clone(),
        }
        .map_err(|why| anyhow::anyhow!("{why}"))?;
        let scene = self
            .scene(bot, level, argv, dir, own_dir)
            .map_err(|what| anyhow::anyhow!("{what}"))?;
        if !os::LINUX {
            self.warn(LESS);
        }
        let limits = &bot.limits;
        let (cgroup_memory, cgroup_processes) = self.slots.cgroup_limits();
        let cgroup_time = self.slots.cgroup_time();
        let in_force = InForce {
            level,
            features,
            memory: match cgroup_memory {
                true => "cgroup",
                false if os::LINUX => "watchdog",
                false => "none",
            },
            processes: match (cgroup_processes, level) {
                (true, _) => "cgroup",
                (false, Level::Strict) => "rlimit",
                (false, _) if os::LINUX => "watchdog",
                (false, _) if self.slots.own_users() => "rlimit",
                (false, _) => "none",
            },
            disk: if level == Level::Strict {
                "quota"
            } else {
                "watchdog"
            },
            time: if cgroup_time { "cgroup" } else { "processes" },
            frozen: !limits.ponder,
        };
        let order = Order {
            level,
            argv: scene.argv.clone(),
            dir: scene.dir,
            env: environment(bot, level, &scene.path),
            shown: scene.shown,
            settings: settings(),
            user: None,
            memory: limits.memory,
            processes: limits.processes,
            disk: limits.disk,
            private: None,
            cgroups: Vec::new(),
            cgroup_memory: false,
            events: Vec::new(),
        };
        Ok(Confined {
            argv: scene.argv,
            dir: None,
            confine: Some(Arc::new(Confine {
                own: self.own.clone(),
                order,
                freezes: !limits.ponder,
                slots: self.slots.clone(),
            })),
            in_force,
            copy: scene.hash,
        })
    }

    /// Copies the bot's files and turns its command into one for the place where they are shown.
    fn scene(
        &mut self,
        bot: &BotSpec,
        level: Level,
        argv: &[String],
        dir: &Path,
        own_dir: bool,
    ) -> Result<Scene, String> {
        let (name, words) = argv.split_first().ok_or("an empty command")?;
        let found = config::resolve_program(name, dir)?;
        let mut stage = Stage {
            shelter: self,
            level,
            count: 0,
            shown: Vec::new(),
            path: Vec::new(),
        };
        stage.runtimes(&bot.limits.runtime)?;

        // What the command names within the bot's folder, and what it names elsewhere.
        let inside = |path: &Path| path.strip_prefix(dir).ok().map(Path::to_owned);
        let files: Vec<Option<PathBuf>> = words
            .iter()
            .map(|word| tidy(&dir.join(word)))
            .map(|path| path.is_file().then_some(path))
            .collect();
        let mut named: BTreeSet<PathBuf> = files
            .iter()
            .flatten()
            .filter_map(|path| inside(path))
            .collect();
        named.extend(inside(&found));
        let what = if own_dir {
            What::All(named)
        } else {
            What::AllOrOnly(named)
        };
        let copy = stage.copy(dir, &what)?;
        if copy.0.cut {
            stage.shelter.warnings.push(format!(
                "bot `{}` has no `dir` of its own and {} is large: only the files of its command are shown to it",
                bot.name,
                dir.display()
            ));
        }
        let home = copy.1.clone();

        let mut argv = stage.program(&found, dir, &home)?;
        for (word, file) in words.iter().zip(files) {
            argv.push(match file {
                Some(file) => match inside(&file) {
                    // As it was written, if it can be.
                    Some(_) if !Path::new(word).is_absolute() => word.clone(),
                    Some(below) => text(&home.join(below))?,
                    None => text(&stage.file_elsewhere(&file)?)?,
                },
                None => word.clone(),
            });
        }
        Ok(Scene {
            argv,
            dir: home,
            shown: stage.shown,
            path: stage.path,
            hash: copy.0.hash,
        })
    }
}

/// A scene that is being set.
struct Stage<'s, 'a> {
    shelter: &'s mut Shelter<'a>,
    level: Level,
    count: usize,
    shown: Vec<Shown>,
    path: Vec<PathBuf>,
}

impl Stage<'_, '_> {
    fn runtimes(&mut self, folders: &[PathBuf]) -> Result<(), String> {
        for folder in folders {
            if !folder.exists() {
                return Err(format!(
                    "`runtime` names {}, which does not exist",
                    folder.display()
                ));
            }
            self.show(folder);
            let bin = folder.join("bin");
            if bin.is_dir() {
                self.path.push(bin);
            }
        }
        Ok(())
    }

    /// Shows a folder or file where it is.
    fn show(&mut self, path: &Path) {
        let shown = Shown {
            from: path.to_owned(),
            to: path.to_owned(),
        };
        if !self.shown.contains(&shown) {
            self.shown.push(shown);
        }
    }

    fn is_shown(&self, path: &Path) -> bool {
        interpreter::is_visible(path) || self.shown.iter().any(|shown| path.starts_with(&shown.to))
    }

    /// Whether the bot reaches for its files as another user. At `strict` the box still has the referee's rights when it
    /// shows them.
    fn is_another_user(&self) -> bool {
        self.level != Level::Strict && rustix::process::geteuid().is_root()
    }

    /// Copies files, and shows the copy; with the folder by which the bot knows it.
    fn copy(&mut self, from: &Path, what: &What) -> Result<(Copy, PathBuf), String> {
        let mut into = self.shelter.copies.clone();
        if self.is_another_user() && !is_open_to_all(&into) {
            into = self.shelter.slots.folder().join(BOTS);
        }
        let copy = snapshot::take(from, what, self.shelter.config.file.as_deref(), &into)?;
        let to = match (self.level, self.count) {
            (Level::Strict, 0) => PathBuf::from("/bot"),
            (Level::Strict, count) => PathBuf::from(format!("/bot.{count}")),
            _ => copy.folder.clone(),
        };
        self.count += 1;
        self.shown.push(Shown {
            from: copy.folder.clone(),
            to: to.clone(),
        });
        Ok((copy, to))
    }

    /// A file of the command outside the bot's folder: a script with what lies beside it, another file alone.
    fn file_elsewhere(&mut self, file: &Path) -> Result<PathBuf, String> {
        if self.is_shown(file) {
            return Ok(file.to_owned());
        }
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
            return Err(format!("{} is no file", file.display()));
        };
        let only = BTreeSet::from([PathBuf::from(name)]);
        let what = if config::is_script(&name.to_string_lossy()) {
            What::AllOrOnly(only)
        } else {
            What::Only(only)
        };
        let (_, to) = self.copy(folder, &what)?;
        Ok(to.join(name))
    }

    /// The words that start a program.
    fn program(&mut self, found: &Path, dir: &Path, home: &Path) -> Result<Vec<String>, String> {
        let program = interpreter::behind_shim(found, dir).map_err(|why| {
            format!("{why}; name the program itself in `command`, or its folder in `runtime`")
        })?;
        if let Ok(below) = program.strip_prefix(dir) {
            // The interpreter of a script is found by the search path here, and would be another one inside.
            let script = text(&home.join(below))?;
            if let Some(words) = interpreter::of_script(&program, dir)
                && let Some((interpreter, rest)) = words.split_first()
                && !interpreter::is_visible(interpreter)
            {
                let mut argv = match interpreter.strip_prefix(dir) {
                    Ok(below) => vec![text(&home.join(below))?],
                    Err(_) => self.interpreter(interpreter, dir)?,
                };
                for word in rest {
                    argv.push(text(word)?);
                }
                argv.push(script);
                return Ok(argv);
            }
            return Ok(vec![script]);
        }
        self.interpreter(&program, dir)
    }

    fn interpreter(&mut self, program: &Path, dir: &Path) -> Result<Vec<String>, String> {
        let program = &interpreter::behind_shim(program, dir)?;
        let real = program.canonicalize().unwrap_or_else(|_| program.clone());
        if self.is_shown(program) && self.is_shown(&real) {
            return Ok(vec![text(program)?]);
        }
        for folder in interpreter::prefixes(program) {
            let bin = folder.join("bin");
            if bin.is_dir() {
                self.path.push(bin);
            }
            self.show(&folder);
        }
        if self.is_shown(program) && self.is_shown(&real) {
            if self.is_another_user() && !is_open_to_all(&real) {
                return Err(format!(
                    "{} is {}, which the user that the bot runs as may not reach; use a program of the system, or run hakem as an ordinary user",
                    program.file_name().unwrap_or_default().display(),
                    real.display()
                ));
            }
            return Ok(vec![text(program)?]);
        }
        // A program by itself, as a compiler leaves it.
        if interpreter::of_script(&real, dir).is_none() {
            let file = if self.is_shown(program) {
                &real
            } else {
                program
            };
            return Ok(vec![text(&self.file_elsewhere(file)?)?]);
        }
        Err(format!(
            "{} is {}, which the sandbox does not show; add its folder to `runtime` in [limits]",
            program.file_name().unwrap_or_default().display(),
            program.display()
        ))
    }
}

/// A bot that is not confined.
fn bare(argv: &[String], dir: &Path) -> anyhow::Result<Confined> {
    let mut found = argv.to_vec();
    if let Some(program) = found.first_mut() {
        let path =
            config::resolve_program(program, dir).map_err(|what| anyhow::anyhow!("{what}"))?;
        // A shim takes longer to start than what it stands for, but would do.
        let path = interpreter::behind_shim(&path, dir).unwrap_or(path);
        *program = text(&path).map_err(|what| anyhow::anyhow!("{what}"))?;
    }
    Ok(Confined {
        argv: found,
        dir: Some(dir.to_owned()),
        confine: None,
        in_force: InForce::none(),
        copy: String::new(),
    })
}

/// A bot of this program, which needs no walls.
pub fn builtin(name: &str) -> anyhow::Result<Confined> {
    let own = std::env::current_exe().context("where is this program?")?;
    let own = text(&own).map_err(|what| anyhow::anyhow!("{what}"))?;
    Ok(Confined {
        argv: vec![own, "bot".into(), name.into()],
        dir: None,
        confine: None,
        in_force: InForce::none(),
        copy: String::new(),
    })
}

/// A bot where none is confined.
///
/// # Errors
/// A program that cannot be found.
pub fn unconfined(argv: &[String], dir: &Path) -> anyhow::Result<Confined> {
    bare(argv, dir)
}

/// The whole environment: what programs need, and what the event lists, which goes before.
fn environment(bot: &BotSpec, level: Level, path: &[PathBuf]) -> Vec<(String, String)> {
    let mut search: Vec<String> = path
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    search.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(String::from));
    let mut env: Vec<(String, String)> = vec![
        ("PATH".into(), search.join(":")),
        ("LANG".into(), "C.UTF-8".into()),
        // Else a Python bot that forgets to flush would lose on time, the commonest fault of beginners.
        ("PYTHONUNBUFFERED".into(), "1".into()),
    ];
    if level == Level::Strict {
        env.push(("HOME".into(), "/tmp".into()));
        env.push(("TMPDIR".into(), "/tmp".into()));
    }
    env.retain(|(name, _)| !bot.env.iter().any(|(known, _)| known == name));
    env.extend(bot.env.iter().cloned());
    env
}

fn text(path: &Path) -> Result<String, String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| format!("the path {} is not UTF-8", path.display()))
}

/// A path without `.` and `..`, as it is written.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            part => tidy.push(part),
        }
    }
    tidy
}

/// Whether any user may go into this folder, or into the nearest that is there.
fn is_open_to_all(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    folder.ancestors().all(|folder| {
        std::fs::metadata(folder).map_or(true, |found| found.permissions().mode() & 0o001 != 0)
    })
}
