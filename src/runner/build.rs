//! Builds the bots whose `bot.toml` says how, before the first game.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Pid;

use crate::bot::os;
use crate::config::{EventConfig, Program, ProgramProblem, resolve_program};

/// A build that takes longer has failed.
const LIMIT: Duration = Duration::from_secs(600);
/// What is shown of a failed build's output: so many of its first lines, where compilers tell their first error, and of
/// its last, where tools that build tell what failed.
const SHOWN_LINES: usize = 12;
/// What is read of it.
const READ: u64 = 1 << 20;

/// Builds every bot of the event that is to be built, each folder once; `each` hears the bot's name and the command
/// before. Returns what failed.
///
/// A build runs as the user who started hakem, with all that this user may do.
pub fn build(config: &EventConfig, each: &mut dyn FnMut(&str, &str)) -> Vec<ProgramProblem> {
    let mut done: BTreeMap<(&Path, &[String]), Result<(), String>> = BTreeMap::new();
    let mut problems = Vec::new();
    for bot in &config.bots {
        let (Some(argv), Program::Command { dir, .. }) = (&bot.build, &bot.program) else {
            continue;
        };
        let command = shell_words::join(argv);
        let result = done.entry((dir, argv)).or_insert_with(|| {
            each(&bot.name, &command);
            build_one(argv, dir)
        });
        if let Err(why) = result {
            problems.push(ProgramProblem {
                bot: bot.name.clone(),
                whose: config.place_of(bot),
                what: format!("its build `{command}` in {} failed: {why}", dir.display()),
                right: String::new(),
            });
        }
    }
    problems
}

fn build_one(argv: &[String], dir: &Path) -> Result<(), String> {
    let (program, arguments) = argv.split_first().ok_or("the command is empty")?;
    let program = resolve_program(program, dir)?;
    let broken = |error: std::io::Error| error.to_string();
    // A file, not a pipe: what a build leaves running must not hold us.
    let mut output = tempfile::tempfile().map_err(broken)?;
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(broken)?)
        .stderr(output.try_clone().map_err(broken)?)
        .spawn()
        .map_err(broken)?;
    let ends = os::end_of(Pid::from_child(&child));
    let in_time = ends.map_or(true, |ends| {
        let limit = LIMIT.try_into().ok();
        let mut fds = [PollFd::new(&ends, PollFlags::IN)];
        !matches!(poll(&mut fds, limit.as_ref()), Ok(0))
    });
    if !in_time {
        let _ = child.kill();
    }
    let status = child.wait().map_err(broken)?;
    if !in_time {
        return Err(format!(
            "it was not done after {} s{}",
            LIMIT.as_secs(),
            said(&mut output)
        ));
    }
    if status.success() {
        Ok(())
    } else {
        Err(format!("{status}{}", said(&mut output)))
    }
}

/// The output of a build, shortened, each line indented on a line of its own.
fn said(output: &mut File) -> String {
    let mut bytes = Vec::new();
    if output.rewind().is_err() || output.take(READ).read_to_end(&mut bytes).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.len() > 2 * SHOWN_LINES {
        lines.splice(SHOWN_LINES..lines.len() - SHOWN_LINES, ["..."]);
    }
    lines
        .iter()
        .map(|line| format!("\n         | {}", crate::report::escape(line)))
        .collect()
}
