//! The yardsticks: bare pipes, a program that only moves lines, and bare starting of bots. Each is one shard a core: a
//! thread that is pinned to the core together with the bots that it started.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;

use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use serde_json::json;

use crate::Fault;
use crate::common::machine::{own_cpu_ns, pin};
use crate::process::{monotonic_ns, parse_cores};
use crate::script::Script;

/// A started child with both ends of its pipes.
struct Bot {
    child: Child,
    to: OwnedFd,
    from: OwnedFd,
}

impl Bot {
    fn start(role: &[&str]) -> Result<Bot, Fault> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("bench-role")
            .args(role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let to = child.stdin.take().ok_or("a child has its stdin")?.into();
        let from = child.stdout.take().ok_or("a child has its stdout")?.into();
        Ok(Bot { child, to, from })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Fault> {
        let written = rustix::io::write(&self.to, bytes)?;
        if written == bytes.len() {
            Ok(())
        } else {
            Err("a pipe took only a part of a line".into())
        }
    }

    /// Reads one answer, which was written at once.
    fn read(&self, buffer: &mut [u8]) -> Result<(), Fault> {
        let mut held = 0;
        loop {
            let read = rustix::io::read(&self.from, &mut buffer[held..])?;
            if read == 0 {
                return Err("a bot of a yardstick ended too early".into());
            }
            held += read;
            if buffer[held - 1] == b'\n' {
                return Ok(());
            }
        }
    }

    /// Starts an instant bot and greets it.
    fn greeted(hello: &[u8], buffer: &mut [u8]) -> Result<Bot, Fault> {
        let bot = Bot::start(&["instant-bot"])?;
        bot.write(hello)?;
        bot.read(buffer)?;
        Ok(bot)
    }

    /// Closes the pipes and waits for the end.
    fn end(self) -> Result<(), Fault> {
        let Bot {
            mut child,
            to,
            from,
        } = self;
        drop((to, from));
        child.wait()?;
        Ok(())
    }
}

/// A place where one question is open at a time: a pair of pipes, or a game of two bots.
struct Table<'a> {
    script: &'a Script,
    bots: Vec<Bot>,
    next: usize,
    left: u64,
}

impl Table<'_> {
    /// The bot that is asked next.
    fn asked(&self) -> &Bot {
        let seat = self.script.steps[self.next].seat;
        &self.bots[seat.min(self.bots.len() - 1)]
    }

    fn ask(&self) -> Result<(), Fault> {
        self.asked().write(&self.script.steps[self.next].question)
    }

    /// Takes the answer; whether another question is due.
    fn take(&mut self, buffer: &mut [u8]) -> Result<bool, Fault> {
        self.asked().read(buffer)?;
        self.next = (self.next + 1) % self.script.steps.len();
        self.left -= 1;
        Ok(self.left > 0)
    }
}

/// One table: blocking reads, the cheapest there is. Returns when each question was sent.
fn drive_one(table: &mut Table<'_>, buffer: &mut [u8]) -> Result<Vec<u64>, Fault> {
    let mut stamps = Vec::with_capacity(usize::try_from(table.left)?);
    loop {
        stamps.push(monotonic_ns());
        table.ask()?;
        if !table.take(buffer)? {
            return Ok(stamps);
        }
    }
}

/// Several tables: one poll loop.
fn drive_many(tables: &mut [Table<'_>], buffer: &mut [u8]) -> Result<(), Fault> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (index, table) in tables.iter().enumerate() {
        for bot in &table.bots {
            let data = epoll::EventData::new_u64(index as u64);
            epoll::add(&poll, bot.from.as_fd(), data, epoll::EventFlags::IN)?;
        }
        table.ask()?;
    }
    let mut open = tables.len();
    let mut events = Vec::with_capacity(256);
    while open > 0 {
        events.clear();
        epoll::wait(&poll, spare_capacity(&mut events), None)?;
        for event in &events {
            let table = &mut tables[usize::try_from(event.data.u64())?];
            if table.take(buffer)? {
                table.ask()?;
            } else {
                open -= 1;
            }
        }
    }
    Ok(())
}

/// What every shard of a yardstick does.
#[derive(Clone, Copy)]
enum Kind {
    RawPairs,
    LinesOnly,
}

/// `raw-pairs|lines-only SCRIPT CORES TABLES TURNS`: TURNS for each table; prints what it took.
fn run(kind: Kind, args: &[String]) -> Result<(), Fault> {
    let [path, cores, tables, turns] = args else {
        return Err("SCRIPT CORES TABLES TURNS are needed".into());
    };
    let script = Arc::new(Script::load(path.as_ref())?);
    let (cores, tables, turns) = (
        parse_cores(cores)?,
        tables.parse::<usize>()?,
        turns.parse()?,
    );
    let ready = Arc::new(Barrier::new(cores.len() + 1));
    let over = Arc::new(Barrier::new(cores.len() + 1));
    let shards: Vec<_> = cores
        .iter()
        .enumerate()
        .map(|(shard, &core)| {
            let count = (shard..tables).step_by(cores.len()).count();
            let (script, path) = (script.clone(), path.clone());
            let (ready, over) = (ready.clone(), over.clone());
            thread::spawn(move || {
                pin(&[core])?;
                run_shard(kind, &script, &path, (count, turns), (&ready, &over))
            })
        })
        .collect();
    ready.wait();
    let (wall, cpu) = (monotonic_ns(), own_cpu_ns());
    over.wait();
    let (wall, cpu) = (monotonic_ns() - wall, own_cpu_ns() - cpu);
    let mut gaps: Vec<u64> = Vec::new();
    for shard in shards {
        let stamps = shard.join().map_err(|_| "a shard panicked")??;
        gaps.extend(stamps.windows(2).map(|pair| pair[1] - pair[0]));
    }
    gaps.sort_unstable();
    let turns = turns * tables as u64;
    let median_ns = gaps.get(gaps.len() / 2);
    writeln!(
        std::io::stdout(),
        "{}",
        json!({"turns": turns, "wall_ns": wall, "cpu_ns": cpu, "median_ns": median_ns})
    )?;
    Ok(())
}

fn run_shard(
    kind: Kind,
    script: &Script,
    path: &str,
    (count, turns): (usize, u64),
    (ready, over): (&Barrier, &Barrier),
) -> Result<Vec<u64>, Fault> {
    let mut buffer = vec![0; 1 << 16];
    let start = |buffer: &mut [u8]| -> Result<Vec<Bot>, Fault> {
        match kind {
            Kind::RawPairs => Ok(vec![Bot::start(&["raw-child", path])?]),
            Kind::LinesOnly => (0..2)
                .map(|_| Bot::greeted(&script.hello, buffer))
                .collect(),
        }
    };
    let tables = (0..count).map(|_| {
        Ok(Table {
            script,
            bots: start(&mut buffer)?,
            next: 0,
            left: turns,
        })
    });
    let tables: Result<Vec<Table<'_>>, Fault> = tables.collect();
    // The barriers are passed even after a fault: the others wait there.
    ready.wait();
    let done = tables.and_then(|mut tables| {
        let stamps = match &mut tables[..] {
            [table] => drive_one(table, &mut buffer)?,
            tables => {
                drive_many(tables, &mut buffer)?;
                Vec::new()
            }
        };
        Ok((tables, stamps))
    });
    over.wait();
    let (tables, stamps) = done?;
    for bot in tables.into_iter().flat_map(|table| table.bots) {
        bot.end()?;
    }
    Ok(stamps)
}

/// Bare ping-pong: one child a pair, which looks at nothing.
pub(crate) fn raw_pairs(args: &[String]) -> Result<(), Fault> {
    run(Kind::RawPairs, args)
}

/// A referee that only moves lines: two instant bots a game, no JSON, no rules, no clock, no record.
pub(crate) fn lines_only(args: &[String]) -> Result<(), Fault> {
    run(Kind::LinesOnly, args)
}

/// `spawn-pairs SCRIPT CORES PAIRS`: starts, greets and ends so many pairs of bots, one pair after another on each
/// core; prints what it took.
pub(crate) fn spawn_pairs(args: &[String]) -> Result<(), Fault> {
    let [path, cores, pairs] = args else {
        return Err("SCRIPT CORES PAIRS are needed".into());
    };
    let script = Arc::new(Script::load(path.as_ref())?);
    let (cores, pairs) = (parse_cores(cores)?, pairs.parse::<usize>()?);
    let begin = monotonic_ns();
    let shards: Vec<_> = cores
        .iter()
        .enumerate()
        .map(|(shard, &core)| {
            let count = (shard..pairs).step_by(cores.len()).count();
            let script = script.clone();
            thread::spawn(move || -> Result<(), Fault> {
                pin(&[core])?;
                let mut buffer = vec![0; 1 << 16];
                for _ in 0..count {
                    let bots = [(); 2].map(|()| Bot::greeted(&script.hello, &mut buffer));
                    for bot in bots {
                        bot?.end()?;
                    }
                }
                Ok(())
            })
        })
        .collect();
    for shard in shards {
        shard.join().map_err(|_| "a shard panicked")??;
    }
    let wall = monotonic_ns() - begin;
    writeln!(
        std::io::stdout(),
        "{}",
        json!({"pairs": pairs, "wall_ns": wall})
    )?;
    Ok(())
}
