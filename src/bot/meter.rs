//! Measures what a bot used: the processor time of all its processes and threads, and the time that they were ready to run and
//! waited for a core.
//!
//! A bot may be several processes (a script that starts the real program) and many threads (a virtual machine's). Which there are
//! is looked up now and then, because that costs more than to read the counters of those that are known.
//!
//! What a process used that came and went in between stands in the counters of whoever waited for its end: its parent, or where
//! that is gone the supervisor of the box. A parent that has the system forget its children (`SIGCHLD` ignored) leaves no trace of
//! them there; only the counter of the box's cgroup has all.

use std::fs::File;

use rustix::process::Pid;

use super::os::{self, tree};

/// What a bot had used at one instant, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Processor time of all processes and threads.
    pub cpu: u64,
    /// Time that its threads, each counted by itself, waited for a core; `None` where the system does not tell.
    pub waited: Option<u64>,
}

/// How soon the processes and threads are looked up again, nanoseconds; while nothing is new it is doubled, up to [`LATEST`].
const SOON: u64 = 20_000_000;
const LATEST: u64 = 640_000_000;
/// The counters of so many threads of a process stay open; those of others are opened for each reading, because the files that
/// may be open are few.
const KEPT_OPEN: usize = 2;

/// Reads the counters of one bot.
#[derive(Debug)]
pub struct Meter {
    /// The process that was started.
    root: Pid,
    /// How many generations of processes from the root on are the referee's own.
    wrappers: u32,
    /// The counter of all that the box used, its own processes included.
    usage: Option<File>,
    /// The referee's own processes, as far as they are known; the bot's orphans are children of the last.
    own: Vec<Pid>,
    /// What `usage` told before the bot began.
    before: Option<u64>,
    /// What the bot used beyond what the counters of its processes tell.
    hidden: u64,
    members: Vec<Member>,
    /// Whether the system tells how long a thread waited.
    tells_waiting: bool,
    /// Whether it was ever more than one process, or its processor time alone counts: then what ended children used is asked for too.
    family: bool,
    /// What threads that are gone had waited.
    waited_before: u64,
    /// The last reading; counters never fall.
    last: Reading,
    looked_up: u64,
    again: u64,
}

/// A process of the bot.
#[derive(Debug)]
struct Member {
    pid: Pid,
    cpu: u64,
    /// What its children used that have ended.
    children: u64,
    threads: Vec<Thread>,
}

#[derive(Debug)]
struct Thread {
    id: Pid,
    schedstat: Option<File>,
    /// All its counters: processor time, time spent waiting, how often it got a core.
    counters: [u64; 3],
    /// When they were last read, and when they were last seen to be other than they are.
    read: u64,
    other: u64,
}

impl Meter {
    /// A meter of what this process and its descendants use, but for the first generations, which are the referee's own.
    /// `usage` is the counter of the cgroup that all of them are in, where there is one.
    pub fn new(root: Pid, wrappers: u32, usage: Option<File>) -> Meter {
        Meter {
            root,
            wrappers,
            usage,
            own: Vec::new(),
            before: None,
            hidden: 0,
            members: Vec::new(),
            tells_waiting: tree::tells_waiting(),
            family: false,
            waited_before: 0,
            last: Reading::default(),
            looked_up: 0,
            again: SOON,
        }
    }

    /// Asks each time for all that is told: an answer that is judged by its processor time shall not have that of another.
    pub fn exact(mut self) -> Meter {
        self.family = true;
        self
    }

    /// The counters at this instant of the monotonic clock, when a question has been open for so long (0: none); nanoseconds.
    pub fn read(&mut self, now: u64, open: u64) -> Reading {
        let due = now.saturating_sub(self.looked_up) >= self.again;
        let looks = self.members.is_empty() || due || open >= SOON;
        if looks {
            let new = self.look_up();
            self.looked_up = now;
            self.again = if new {
                SOON
            } else {
                (2 * self.again).min(LATEST)
            };
        }
        let mut cpu = 0;
        let mut waited = self.waited_before;
        for member in &mut self.members {
            member.read(self.family, now);
            cpu += member.cpu + member.children;
            waited += member.waited();
        }
        if self.family {
            cpu += self.supervisor().map_or(0, tree::time_of_children);
        }
        if looks || self.family {
            self.look_for_hidden(cpu);
        }
        self.last = Reading {
            cpu: (cpu + self.hidden).max(self.last.cpu),
            waited: self.tells_waiting.then_some(waited).max(self.last.waited),
        };
        self.last
    }

    /// How long a thread of the bot may have been waiting for a core at the last reading, and wait still: the system adds a wait
    /// to the counters only when it is over. It began after the counters were last seen to be others. 0 if no thread is ready to
    /// run; nanoseconds.
    pub fn may_wait(&self) -> u64 {
        let ready = self.members.iter().flat_map(|member| {
            let threads = member.threads.iter();
            threads.filter(|thread| tree::is_ready(member.pid, thread.id))
        });
        ready
            .map(|thread| thread.read.saturating_sub(thread.other))
            .max()
            .unwrap_or(0)
    }

    /// Who looks after the bot's orphans.
    fn supervisor(&self) -> Option<Pid> {
        self.own
            .get(self.wrappers.checked_sub(1)? as usize)
            .copied()
    }

    /// Compares what the box used with what the counters of the bot's processes tell.
    fn look_for_hidden(&mut self, told: u64) {
        let Some(all) = self.usage.as_ref().and_then(usage) else {
            return;
        };
        if self.own.len() < self.wrappers as usize {
            return;
        }
        let own: u64 = self
            .own
            .iter()
            .copied()
            .filter_map(os::processor_time)
            .sum();
        let bots = all.saturating_sub(own);
        // A cgroup is older than the bot, and its own processes' times are not read at the same instant.
        let before = *self.before.get_or_insert(bots.saturating_sub(told));
        self.hidden = bots.saturating_sub(before).saturating_sub(told);
    }

    /// Looks up which processes and threads there are; whether any is new.
    fn look_up(&mut self) -> bool {
        if self.own.len() < self.wrappers as usize {
            let all = (0..self.wrappers).filter_map(|number| {
                let generation = tree::generation(self.root, number);
                generation.first().copied()
            });
            self.own = all.collect();
        }
        let pids = tree::processes(self.root, self.wrappers);
        let mut new = false;
        let mut gone = 0;
        self.members.retain(|member| {
            let stays = pids.contains(&member.pid);
            if !stays {
                gone += member.waited();
            }
            stays
        });
        for pid in pids {
            if self.members.iter().all(|member| member.pid != pid) {
                self.members.push(Member::new(pid));
            }
        }
        for member in &mut self.members {
            new |= member.look_up_threads(&mut gone);
        }
        self.waited_before += gone;
        let parents = self.members.iter().map(|member| member.pid);
        self.family |= self.members.len() > 1
            || parents
                .chain(self.supervisor())
                .any(|pid| tree::time_of_children(pid) > 0);
        new
    }
}

impl Member {
    fn new(pid: Pid) -> Member {
        Member {
            pid,
            cpu: 0,
            children: 0,
            threads: Vec::new(),
        }
    }

    /// Reads its counters; what it used when it is gone stands in those of who waited for it.
    fn read(&mut self, children: bool, now: u64) {
        self.cpu = os::processor_time(self.pid).unwrap_or(0);
        if children {
            self.children = tree::time_of_children(self.pid).max(self.children);
        }
        for thread in &mut self.threads {
            thread.read(self.pid, now);
        }
    }

    fn waited(&self) -> u64 {
        self.threads.iter().map(Thread::waited).sum()
    }

    /// Looks up its threads; whether any is new. What those that are gone had waited is added to `gone`.
    fn look_up_threads(&mut self, gone: &mut u64) -> bool {
        let ids = tree::threads(self.pid);
        self.threads.retain(|thread| {
            let stays = ids.contains(&thread.id);
            if !stays {
                *gone += thread.waited();
            }
            stays
        });
        let mut new = false;
        for id in ids {
            if self.threads.iter().all(|thread| thread.id != id) {
                new = true;
                let open = self.threads.len() < KEPT_OPEN;
                self.threads.push(Thread {
                    id,
                    schedstat: open.then(|| tree::schedstat(self.pid, id)).flatten(),
                    counters: [0; 3],
                    read: 0,
                    other: 0,
                });
            }
        }
        new
    }
}

impl Thread {
    fn read(&mut self, pid: Pid, now: u64) {
        let opened;
        let file = match &self.schedstat {
            Some(file) => file,
            None => {
                opened = tree::schedstat(pid, self.id);
                let Some(file) = &opened else { return };
                file
            }
        };
        let mut text = [0; 96];
        if let Ok(length) = rustix::io::pread(file, &mut text, 0)
            && let Some(counters) = parse(&text[..length])
        {
            if counters != self.counters {
                self.counters = counters;
                self.other = self.read;
            }
            self.read = now;
        }
    }

    fn waited(&self) -> u64 {
        self.counters[1]
    }
}

/// What a cgroup used, nanoseconds: version 1 tells just that, version 2 microseconds after a word.
fn usage(file: &File) -> Option<u64> {
    let mut text = [0; 64];
    let length = rustix::io::pread(file, &mut text, 0).ok()?;
    parse_usage(std::str::from_utf8(&text[..length]).ok()?)
}

fn parse_usage(text: &str) -> Option<u64> {
    let line = text.lines().next()?;
    match line.strip_prefix("usage_usec ") {
        Some(us) => us.parse::<u64>().ok()?.checked_mul(1000),
        None => line.parse().ok(),
    }
}

/// The three fields of schedstat.
fn parse(text: &[u8]) -> Option<[u64; 3]> {
    let mut fields = text.trim_ascii().split(|&byte| byte == b' ');
    let mut number = || {
        fields.next()?.iter().try_fold(0u64, |number, &digit| {
            let digit = digit.checked_sub(b'0').filter(|&digit| digit < 10)?;
            number.checked_mul(10)?.checked_add(u64::from(digit))
        })
    };
    Some([number()?, number()?, number()?])
}

#[cfg(all(test, target_os = "linux", not(hakem_portable)))]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn schedstat_is_read() {
        assert_eq!(parse(b"3061474 27410 15\n"), Some([3_061_474, 27_410, 15]));
        assert_eq!(parse(b"3061474"), None);
        assert_eq!(parse(b"1 x 2"), None);
        assert_eq!(parse(b"1 99999999999999999999 2"), None);
    }

    #[test]
    fn the_counter_of_a_cgroup_is_read() {
        assert_eq!(parse_usage("3061474\n"), Some(3_061_474));
        let two = "usage_usec 17\nuser_usec 12\nsystem_usec 5\nnr_pe";
        assert_eq!(parse_usage(two), Some(17_000));
        assert_eq!(parse_usage(""), None);
        assert_eq!(parse_usage("user_usec 12\n"), None);
    }

    /// Starts a program that works for each line that it gets, and says so.
    fn worker(program: &str, arguments: &[&str]) -> Child {
        Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// What a reading rises by while the program does its work once.
    fn work(meter: &mut Meter, child: &mut Child) -> (u64, u64) {
        let before = meter.read(os::now(), 0);
        writeln!(child.stdin.as_mut().expect("a pipe")).expect("a line");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        assert_eq!(line, "done\n");
        let after = meter.read(os::now(), SOON);
        let waited = |reading: Reading| reading.waited.expect("Linux tells");
        (after.cpu - before.cpu, waited(after) - waited(before))
    }

    fn check(program: &str, arguments: &[&str], wrappers: u32) {
        let mut child = worker(program, arguments);
        let mut meter = Meter::new(Pid::from_child(&child), wrappers, None);
        for _ in 0..3 {
            let (cpu, waited) = work(&mut meter, &mut child);
            // 100 ms, less what the coarse counter of ended children does not show yet.
            assert!(cpu >= 85_000_000, "{program} {arguments:?}: {cpu} ns");
            assert!(waited < u64::MAX / 2);
        }
        child.stdin = None;
        child.wait().expect("it ends");
        let last = meter.read(os::now(), SOON);
        assert_eq!(meter.read(os::now(), SOON), last, "the last values stand");
    }

    const BURN: &str =
        "import time\ndef burn(clock):\n    end = clock() + 0.1\n    while clock() < end: pass\n";

    #[test]
    fn work_of_one_process_is_seen() {
        let code = format!(
            "{BURN}while input() == '':\n    burn(time.process_time); print('done', flush=True)"
        );
        check("python3", &["-c", &code], 0);
    }

    #[test]
    fn work_of_a_thread_is_seen() {
        let code = format!(
            "{BURN}import threading\nwhile input() == '':\n    t = threading.Thread(target=burn, args=(time.thread_time,)); t.start(); t.join(); print('done', flush=True)"
        );
        check("python3", &["-c", &code], 0);
    }

    #[test]
    fn work_of_children_is_seen_while_they_live_and_after() {
        let code = format!(
            "{BURN}import os\nwhile input() == '':\n    if os.fork() == 0:\n        burn(time.process_time); os._exit(0)\n    os.wait(); print('done', flush=True)"
        );
        check("python3", &["-c", &code], 0);
        let code = format!(
            "{BURN}while input() == '':\n    burn(time.process_time); print('done', flush=True)"
        );
        let script = format!("python3 -c \"{code}\"; true");
        check("sh", &["-c", &script], 0);
        // The shell is the referee's own here.
        check("sh", &["-c", &script], 1);
    }
}
