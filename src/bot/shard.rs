//! One thread with one poll loop, which plays matches.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, mpsc};

use hakem_protocol::ClockKind;
use rustix::event::Timespec;
use rustix::io::Errno;

use super::guard;
use super::os::{self, Bell, Events, Poller, Watch};

use super::process::{End, Program};
use super::seat::{Pipe, Read, SeatIo, Sent};
use super::yields::{self, Yields};
use crate::clock::Spent;
use crate::clock::pulse::{Pulse, REST};
use crate::event::{GameId, MatchId, MatchResult};
use crate::game::Seat;
use crate::referee::table::FinishedGame;
use crate::referee::{Effect, Gone, Input, MatchSetup, Outbox, Table};

/// A match to play, with what is started for each seat.
#[derive(Clone, Debug)]
pub struct Job {
    /// The match.
    pub setup: Arc<MatchSetup>,
    /// The programs by seat.
    pub programs: Vec<Program>,
    /// The game in which the referee is to fail, as if the rules had a bug: for tests of what becomes of the others.
    pub fails_in: Option<GameId>,
}

/// What a shard has to tell. The order within a match is that in which it happened.
#[derive(Debug)]
pub enum Report {
    /// A game is over.
    GameOver(Box<FinishedGame>),
    /// A game was void and is played again.
    GameVoid {
        /// The game.
        id: GameId,
        /// Why.
        why: String,
    },
    /// A match is over; its bots may still be leaving.
    MatchOver(MatchResult),
    /// A match was given up.
    GaveUp {
        /// The game that could not be played.
        id: GameId,
        /// Why.
        why: String,
    },
    /// The referee itself failed in a match, which has ended with all its processes. Others are not touched.
    Broke {
        /// The game in which it failed.
        id: GameId,
        /// What it said.
        why: String,
    },
    /// Something that does not touch a result.
    Warning(String),
    /// What a bot wrote to stderr could not be kept from here on: the file, and why. Its game does not suffer from it.
    LogCut(String),
    /// The shard stood still for so long, in nanoseconds: it was stopped or starved, or the machine slept. No bot was charged for it.
    StoodStill(u64),
    /// A match has left its place: all its processes are gone.
    Left(MatchId),
    /// The shard itself failed and has ended.
    Failed(String),
}

enum Order {
    Play(Box<Job>),
    Stop,
}

/// A shard that runs in its own thread. Dropping it ends its matches and their processes.
#[derive(Debug)]
pub struct Handle {
    orders: mpsc::Sender<Order>,
    wake: Arc<Bell>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Handle {
    /// Starts a shard on these cores (none: wherever the system puts it) for so many games at once; it tells what happens through
    /// `report`.
    ///
    /// # Errors
    /// The system's, if the thread or its descriptors cannot be had.
    pub fn start(
        name: String,
        cores: Vec<usize>,
        games: usize,
        report: impl Fn(Report) + Send + 'static,
    ) -> io::Result<Handle> {
        let wake = Arc::new(Bell::new()?);
        let (orders, inbox) = mpsc::channel();
        let mut poller = Poller::new()?;
        poller.add(&*wake, WAKE, Watch::Input)?;
        let mut shard = Shard {
            poller,
            wake: wake.clone(),
            inbox,
            report: Reporter {
                send: Box::new(report),
                held: Vec::new(),
                since: 0,
            },
            tables: Vec::new(),
            free: Vec::new(),
            generation: 0,
            timers: BinaryHeap::new(),
            now: os::now(),
            crowded: games > 1,
            patient: false,
            expected: Vec::new(),
            reads: 0,
            pulse: Pulse::new(os::now(), os::slept()),
            buffer: vec![0; 1 << 16].into_boxed_slice(),
            outbox: Outbox::default(),
            queue: VecDeque::new(),
        };
        let thread = std::thread::Builder::new().name(name).spawn(move || {
            if !cores.is_empty()
                && let Err(error) = os::stay_on(&cores)
            {
                shard.report.tell(Report::Warning(format!(
                    "games could not be kept on core {cores:?}: {error}"
                )));
            }
            let ended = match guard::guarded(|| shard.run()) {
                Ok(ended) => ended.map_err(|error| error.to_string()),
                Err(said) => Err(format!("{said}, which is a bug of hakem")),
            };
            shard.report.flush();
            if let Err(why) = ended {
                shard.report.tell(Report::Failed(why));
            }
        })?;
        Ok(Handle {
            orders,
            wake,
            thread: Some(thread),
        })
    }

    /// Hands over a match.
    pub fn play(&self, job: Job) {
        // If the shard has failed it has said so.
        let _ = self.orders.send(Order::Play(Box::new(job)));
        self.ring();
    }

    fn ring(&self) {
        self.wake.ring();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let _ = self.orders.send(Order::Stop);
        self.ring();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The token of the bell that announces orders.
const WAKE: u64 = u64::MAX;
/// Reads of one bot in a row before others have their turn.
const FLOOD: usize = 16;
/// How long the result of a game may be held back, so that those of several games are handed over at once; nanoseconds. Handing
/// over wakes other threads, which would take the core from the games for every result.
const HOLD: u64 = 20_000_000;
/// How long a start that failed by the machine's fault is waited for before the game is void, nanoseconds.
const START_AGAIN: u64 = 200_000_000;

/// Names a pipe (or timer) of a seat of a match. The generation tells a match from an earlier one in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    place: u32,
    generation: u32,
    seat: u8,
    pipe: Pipe,
}

impl Key {
    fn pack(self) -> u64 {
        (u64::from(self.place) << 40)
            | (u64::from(self.generation & 0xff_ffff) << 16)
            | (u64::from(self.seat) << 8)
            | self.pipe as u64
    }

    fn unpack(token: u64) -> Option<Key> {
        Some(Key {
            place: (token >> 40) as u32,
            generation: (token >> 16) as u32 & 0xff_ffff,
            seat: (token >> 8) as u8,
            pipe: Pipe::from_u8(token as u8)?,
        })
    }
}

/// A match in play.
struct Seated {
    generation: u32,
    table: Table,
    job: Job,
    seats: Vec<Option<SeatIo>>,
    /// Whether each seat was started before.
    started: Vec<bool>,
    /// Starts that failed: when to tell the table, and why.
    failed: Vec<(u64, Seat, String)>,
}

/// Something that came up while effects were carried out, for the table afterwards.
enum Later {
    Ended(Seat),
    Gone(Seat, Gone),
    /// What the bot needs of the machine failed.
    Failed(Seat, String),
}

/// Tells what happened, in order.
struct Reporter {
    send: Box<dyn Fn(Report) + Send>,
    /// Games that are over and were not told yet.
    held: Vec<Report>,
    /// When the first of them was over.
    since: u64,
}

impl Reporter {
    fn tell(&mut self, report: Report) {
        self.flush();
        (self.send)(report);
    }

    fn game_over(&mut self, game: Box<FinishedGame>) {
        if self.held.is_empty() {
            self.since = os::now();
        }
        self.held.push(Report::GameOver(game));
    }

    /// When what is held must be told; `None` if nothing is.
    fn due(&self) -> Option<u64> {
        (!self.held.is_empty()).then(|| self.since + HOLD)
    }

    fn flush(&mut self) {
        for report in self.held.drain(..) {
            (self.send)(report);
        }
    }
}

struct Shard {
    poller: Poller,
    wake: Arc<Bell>,
    inbox: mpsc::Receiver<Order>,
    report: Reporter,
    tables: Vec<Option<Seated>>,
    free: Vec<usize>,
    generation: u32,
    timers: BinaryHeap<Reverse<(u64, Key)>>,
    /// When the timers were last looked at.
    now: u64,
    /// Whether several games are played at once.
    crowded: bool,
    /// Whether its bots wait for the core when they wake up.
    patient: bool,
    /// Seats that were asked since their answers were last looked for.
    expected: Vec<Key>,
    /// How often something was read from a bot.
    reads: u64,
    pulse: Pulse,
    buffer: Box<[u8]>,
    outbox: Outbox,
    queue: VecDeque<Later>,
}

impl Shard {
    fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_room();
        let mut yields = Yields::new(os::now());
        loop {
            let timeout = self.rest();
            let step = yields.step(!self.expected.is_empty(), self.patient);
            if step.yields {
                rustix::thread::sched_yield();
                // Bots that are not patient take it whenever they are asked.
                if self.patient && yields.is_displaced(os::times_displaced) {
                    std::thread::sleep(yields::APART);
                }
            }
            let woken = if step.asks {
                let watched = watched(&self.wake, &self.tables);
                self.poller.wait(&mut events, timeout.as_ref(), watched)
            } else {
                Ok(())
            };
            let now = os::now();
            yields.came_back(step, now, now.saturating_sub(self.pulse.last()));
            self.pulse.woken(now, os::slept);
            match woken {
                Ok(()) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if step.asks {
                self.forget_those_gone();
                for (token, closed) in events.iter() {
                    if token == WAKE {
                        if self.take_orders() {
                            return Ok(());
                        }
                    } else if let Some(key) = Key::unpack(token) {
                        self.happened(key, closed);
                    }
                }
            } else {
                let found = self.read_expected();
                yields.looked(step, found);
            }
            self.look_at_timers();
            if let Some(due) = self.report.due() {
                self.now = os::now();
                if due <= self.now {
                    self.report.flush();
                }
            }
            if let Some(length) = self.pulse.take_news() {
                self.report.tell(Report::StoodStill(length));
            }
        }
    }

    /// How long the loop may wait: until the next timer, but while there is one not long enough to lose sight of itself.
    fn rest(&mut self) -> Option<Timespec> {
        let timer = self.timers.peek().map(|Reverse((due, _))| *due);
        let Some(due) = timer.into_iter().chain(self.report.due()).min() else {
            self.pulse.rests(self.now, u64::MAX);
            return None;
        };
        let wait = due.saturating_sub(self.now).min(REST);
        self.pulse.rests(self.now, self.now.saturating_add(wait));
        Some(Timespec {
            tv_sec: i64::try_from(wait / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (wait % 1_000_000_000) as i64,
        })
    }

    /// Takes what was ordered; true if the shard is to end.
    fn take_orders(&mut self) -> bool {
        self.wake.hush();
        loop {
            match self.inbox.try_recv() {
                Ok(Order::Play(job)) => self.seat(*job),
                Ok(Order::Stop) | Err(mpsc::TryRecvError::Disconnected) => return true,
                Err(mpsc::TryRecvError::Empty) => return false,
            }
        }
    }

    fn seat(&mut self, job: Job) {
        self.generation = (self.generation + 1) & 0xff_ffff;
        let seated = Seated {
            generation: self.generation,
            table: Table::new(job.setup.clone()),
            seats: job.programs.iter().map(|_| None).collect(),
            started: vec![false; job.programs.len()],
            job,
            failed: Vec::new(),
        };
        let place = self.free.pop().unwrap_or_else(|| {
            self.tables.push(None);
            self.tables.len() - 1
        });
        self.tables[place] = Some(seated);
        self.guarded(place, |table, out| table.begin(out));
        self.carry_out(place);
    }

    /// The match that a key names, if it is still there.
    fn seated(&mut self, key: Key) -> Option<&mut Seated> {
        self.tables
            .get_mut(key.place as usize)?
            .as_mut()
            .filter(|seated| seated.generation == key.generation)
    }

    fn happened(&mut self, key: Key, closed: bool) {
        if self.seated(key).is_none() {
            return;
        }
        let (place, seat) = (key.place as usize, usize::from(key.seat));
        match key.pipe {
            Pipe::Stdout => self.stdout_ready(place, seat, key, closed),
            Pipe::Stderr => self.read_stderr(place, seat),
            Pipe::Stdin => self.stdin_ready(place, seat, closed),
            Pipe::Exit => self.exited(place, seat),
            Pipe::Control => self.hear(place, seat),
            Pipe::Timer => {}
        }
        self.carry_out(place);
    }

    /// Forgets answers that are expected of matches that are over, once they are many.
    fn forget_those_gone(&mut self) {
        if self.expected.len() > 8 * self.tables.len() {
            let mut expected = std::mem::take(&mut self.expected);
            expected.retain(|&key| self.seated(key).is_some());
            self.expected = expected;
        }
    }

    /// Reads the answers that are there of those that are expected, which a wait would only have announced; whether there was one.
    fn read_expected(&mut self) -> bool {
        let mut expected = std::mem::take(&mut self.expected);
        // What is asked meanwhile is expected in the next loop.
        let mut read = false;
        expected.retain(|&key| {
            let (place, seat) = (key.place as usize, usize::from(key.seat));
            let seated = self.seated(key);
            let io = seated.and_then(|seated| seated.seats[seat].as_mut());
            if !io.is_some_and(SeatIo::looked_for) {
                return false;
            }
            let before = self.reads;
            self.stdout_ready(place, seat, key, false);
            self.carry_out(place);
            let answered = self.reads != before;
            read |= answered;
            !answered && self.io(place, seat).is_some_and(SeatIo::expect)
        });
        expected.append(&mut self.expected);
        self.expected = expected;
        read
    }

    fn io(&mut self, place: usize, seat: Seat) -> Option<&mut SeatIo> {
        self.tables
            .get_mut(place)?
            .as_mut()?
            .seats
            .get_mut(seat)?
            .as_mut()
    }

    /// Reads what has come. The loop is told only once of it, so all is read; but one bot's flood shall not hold up the
    /// answers of others.
    fn stdout_ready(&mut self, place: usize, seat: Seat, key: Key, closed: bool) {
        let mut reads = 0;
        while self.read_stdout(place, seat) || closed {
            reads += 1;
            let seated = self.tables.get(place).and_then(Option::as_ref);
            let io = seated.and_then(|seated| seated.seats[seat].as_ref());
            let Some(stdout) = io.and_then(|io| io.stdout.as_ref()) else {
                return;
            };
            if reads == FLOOD {
                // Told again, after the others.
                let _ = self.poller.change(stdout, key.pack(), Watch::Answers);
                return;
            }
        }
    }

    /// Reads once and hands whole lines to the table; false when there is nothing more to read now.
    fn read_stdout(&mut self, place: usize, seat: Seat) -> bool {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut pulse = self.pulse;
        let Some(io) = self.io(place, seat) else {
            self.buffer = buffer;
            return false;
        };
        let (read, spent) = io.read_stdout(&mut buffer, &mut pulse);
        let stalled = io.stood_still(&pulse);
        self.pulse = pulse;
        self.reads += u64::from(matches!(read, Read::Bytes(_)));
        if stalled && matches!(read, Read::Bytes(_)) {
            self.guarded(place, |table, out| table.handle(Input::StoodStill, out));
        }
        let Some(io) = self.io(place, seat) else {
            self.buffer = buffer;
            return false;
        };
        let more = match read {
            Read::Bytes(length) => {
                let mut reader = std::mem::take(&mut io.reader);
                // A pipe gives all it has, so a read that is not full has emptied it.
                let full = length == buffer.len();
                let (max_line, max_output) = (io.max_line, io.max_output);
                reader.feed(&buffer[..length], |line| {
                    // What is read while a question still waits to be sent was there before it.
                    let early = self.will_ask(seat);
                    let input = input_of(line, seat, spent, early, max_line, max_output);
                    self.guarded(place, |table, out| table.handle(input, out));
                });
                let shut = reader.is_shut();
                if let Some(io) = self.io(place, seat) {
                    io.reader = reader;
                    if shut {
                        io.stdout = None;
                    }
                }
                !shut && full
            }
            Read::End => {
                io.pipe_broke();
                self.set_timer(place, seat);
                false
            }
            Read::Nothing => false,
        };
        self.buffer = buffer;
        more
    }

    /// Whether a question to this seat waits to be sent.
    fn will_ask(&self, seat: Seat) -> bool {
        self.outbox
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Ask { seat: asked, .. } if *asked == seat))
    }

    fn read_stderr(&mut self, place: usize, seat: Seat) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let failed = self.io(place, seat).and_then(|io| {
            io.read_stderr(&mut buffer);
            io.log.take_failure()
        });
        if let Some(why) = failed {
            self.report.tell(Report::LogCut(why));
        }
        self.buffer = buffer;
    }

    /// There is room in a seat's stdin, or nobody reads it any more.
    fn stdin_ready(&mut self, place: usize, seat: Seat, closed: bool) {
        let Some(io) = self.io(place, seat) else {
            return;
        };
        // What waits for room is written either way: that tells most clearly.
        if io.watches_stdin {
            match io.write_more() {
                Sent::Whole => self.watch_stdin(place, seat, false),
                Sent::Part => {}
                Sent::Broken => self.set_timer(place, seat),
            }
        } else if closed {
            io.reader_left();
            self.set_timer(place, seat);
        }
    }

    /// Watches for room in a seat's stdin, or no longer.
    fn watch_stdin(&mut self, place: usize, seat: Seat, watch: bool) {
        let Some(seated) = self.tables[place].as_mut() else {
            return;
        };
        let key = Key {
            place: place as u32,
            generation: seated.generation,
            seat: seat as u8,
            pipe: Pipe::Stdin,
        };
        let Some(io) = seated.seats[seat].as_mut() else {
            return;
        };
        if let (true, Some(stdin)) = (io.watches_stdin != watch, &io.stdin) {
            let how = watch_of(Pipe::Stdin, watch);
            if self.poller.change(stdin, key.pack(), how).is_ok() {
                io.watches_stdin = watch;
            }
        }
    }

    fn hear(&mut self, place: usize, seat: Seat) {
        let Some(seated) = self.tables[place].as_mut() else {
            return;
        };
        let Some(io) = seated.seats[seat].as_mut() else {
            return;
        };
        if !io.hear()
            && let Some(control) = io.process.control()
        {
            let key = Key {
                place: place as u32,
                generation: seated.generation,
                seat: seat as u8,
                pipe: Pipe::Control,
            };
            self.poller.remove(control, key.pack());
        }
        // The box takes a moment longer to be gone, and the game need not wait for that.
        let end = io.process.reported_end();
        if let Some(End::Bot(kind, words)) = end {
            self.drain(place, seat);
            if let Some(io) = self.io(place, seat)
                && !io.leaving
            {
                let gone = io.gone(kind, &words);
                self.queue.push_back(Later::Gone(seat, gone));
            }
        }
    }

    /// Reads what a process that has ended left in its pipes.
    fn drain(&mut self, place: usize, seat: Seat) {
        while self.io(place, seat).is_some_and(|io| io.stdout.is_some())
            && self.read_stdout(place, seat)
        {}
        // A pipe holds no more than this; a child that goes on writing is not listened to for ever.
        for _ in 0..FLOOD {
            let io = self.io(place, seat);
            if !io.is_some_and(|io| io.stderr.is_some() && io.stderr_ready()) {
                break;
            }
            self.read_stderr(place, seat);
        }
        self.carry_out(place);
    }

    /// The process has ended: what it left in its pipes is read first.
    fn exited(&mut self, place: usize, seat: Seat) {
        self.drain(place, seat);
        let Some(io) = self.io(place, seat) else {
            return;
        };
        let Some(end) = io.process.ended() else {
            return;
        };
        match end {
            _ if io.leaving => {}
            End::Bot(kind, words) => {
                let gone = io.gone(kind, &words);
                self.queue.push_back(Later::Gone(seat, gone));
            }
            End::Machine(why) => self.queue.push_back(Later::Failed(seat, why)),
        }
        self.queue.push_back(Later::Ended(seat));
    }

    /// Calls the table so that a panic in the rules costs this match only.
    fn guarded(&mut self, place: usize, call: impl FnOnce(&mut Table, &mut Outbox)) {
        let Some(seated) = self.tables.get_mut(place).and_then(Option::as_mut) else {
            return;
        };
        let table = &mut seated.table;
        let outbox = &mut self.outbox;
        let fails_in = seated.job.fails_in;
        let called = guard::guarded(|| {
            call(table, outbox);
            assert!(
                fails_in != Some(table.game_id()) || !table.is_playing(),
                "a failure that was asked for"
            );
        });
        let Err(said) = called else { return };
        let id = table.game_id();
        let of = id.of;
        self.outbox.clear();
        self.queue.clear();
        self.tables[place] = None;
        self.free.push(place);
        let why =
            format!("the referee itself failed in this game, which is a bug of hakem: {said}");
        self.report.tell(Report::Broke { id, why });
        self.report.tell(Report::Left(of));
    }

    /// Carries out what the table wants, and what follows from that, until nothing is left.
    fn carry_out(&mut self, place: usize) {
        loop {
            let mut outbox = std::mem::take(&mut self.outbox);
            let bytes = std::mem::take(&mut outbox.bytes);
            for effect in outbox.effects.drain(..) {
                self.perform(place, effect, &bytes);
            }
            outbox.bytes = bytes;
            outbox.clear();
            self.outbox = outbox;
            let Some(next) = self.queue.pop_front() else {
                break;
            };
            match next {
                Later::Gone(seat, how) => {
                    let spent = self.spent_now(place, seat);
                    self.guarded(place, |table, out| {
                        table.handle(Input::Gone { seat, how, spent }, out);
                    });
                }
                Later::Failed(seat, why) => {
                    self.guarded(place, |table, out| {
                        table.handle(Input::Failed { seat, why }, out);
                    });
                }
                Later::Ended(seat) => {
                    if let Some(seated) = self.tables[place].as_mut() {
                        seated.seats[seat] = None;
                    }
                    self.guarded(place, |table, out| table.handle(Input::Ended { seat }, out));
                }
            }
        }
        if self.tables[place]
            .as_ref()
            .is_some_and(|seated| seated.table.is_done())
            && let Some(seated) = self.tables[place].take()
        {
            self.free.push(place);
            self.report.tell(Report::Left(seated.job.setup.id));
        }
    }

    /// An answer of this seat is expected.
    fn expect(&mut self, place: usize, seat: Seat) {
        if let Some(seated) = &self.tables[place] {
            self.expected.push(Key {
                place: place as u32,
                generation: seated.generation,
                seat: seat as u8,
                pipe: Pipe::Stdout,
            });
        }
    }

    /// What a seat's open question has taken until now.
    fn spent_now(&mut self, place: usize, seat: Seat) -> Spent {
        let mut pulse = self.pulse;
        let spent = self.io(place, seat).map(|io| io.spent_now(&mut pulse));
        self.pulse = pulse;
        spent.unwrap_or_default()
    }

    fn perform(&mut self, place: usize, effect: Effect, bytes: &[u8]) {
        match effect {
            Effect::Start(seat) => self.start(place, seat),
            Effect::Ask {
                seat,
                line,
                wake_us,
            } => {
                let mut pulse = self.pulse;
                if let Some(io) = self.io(place, seat) {
                    let sent = io.ask(&bytes[line], wake_us, &mut pulse);
                    let is_new = io.expect();
                    self.pulse = pulse;
                    if is_new {
                        self.expect(place, seat);
                    }
                    self.sent(place, seat, sent);
                    self.set_timer(place, seat);
                }
            }
            Effect::Tell { seat, line } => {
                if let Some(io) = self.io(place, seat) {
                    let sent = io.send(&bytes[line]);
                    self.sent(place, seat, sent);
                }
            }
            Effect::Wake { seat, wake_us } => {
                let pulse = self.pulse;
                if let Some(io) = self.io(place, seat) {
                    io.wake_at(wake_us, &pulse);
                    self.set_timer(place, seat);
                }
            }
            Effect::Close(seat) => {
                if let Some(io) = self.io(place, seat) {
                    io.close_question();
                }
            }
            Effect::Refill(seat) => {
                if let Some(io) = self.io(place, seat) {
                    io.reader.refill();
                }
            }
            Effect::Release(seat) => {
                if let Some(io) = self.io(place, seat) {
                    io.release();
                    self.set_timer(place, seat);
                }
            }
            Effect::Kill(seat) => {
                if let Some(io) = self.io(place, seat) {
                    io.kill();
                    self.set_timer(place, seat);
                }
            }
            Effect::GameOver(game) => self.report.game_over(game),
            Effect::GameVoid { id, why } => self.report.tell(Report::GameVoid { id, why }),
            Effect::MatchOver(result) => self.report.tell(Report::MatchOver(result)),
            Effect::GaveUp { id, why } => self.report.tell(Report::GaveUp { id, why }),
        }
    }

    fn start(&mut self, place: usize, seat: Seat) {
        let Some(seated) = self.tables[place].as_mut() else {
            return;
        };
        let clock = seated.job.setup.clock.kind;
        // A clock that counts what a bot waits for a core keeps its wait short, as far as bots have cores of their own.
        self.patient = self.crowded || clock != ClockKind::Wall;
        let patient = self.patient;
        let key = Key {
            place: place as u32,
            generation: seated.generation,
            seat: seat as u8,
            pipe: Pipe::Timer,
        };
        let started = seated.job.programs[seat].start().and_then(|started| {
            let again = std::mem::replace(&mut seated.started[seat], true);
            if patient {
                os::wait_for_core(started.process.pid());
            }
            let io = SeatIo::new(started, &seated.job.programs[seat], clock, again);
            for (pipe, fd) in io.watched() {
                let token = Key { pipe, ..key }.pack();
                self.poller.add(fd, token, watch_of(pipe, false))?;
            }
            Ok(io)
        });
        match started {
            Ok(io) => seated.seats[seat] = Some(io),
            Err(error) => {
                let due = os::now() + START_AGAIN;
                seated.failed.push((due, seat, error.to_string()));
                self.timers.push(Reverse((due, key)));
            }
        }
    }

    /// After a write: watches a full pipe, or gives the process of a broken one a moment to end.
    fn sent(&mut self, place: usize, seat: Seat, sent: Sent) {
        match sent {
            Sent::Whole => {}
            Sent::Broken => self.set_timer(place, seat),
            Sent::Part => self.watch_stdin(place, seat, true),
        }
    }

    /// Makes sure that there is a timer for the seat no later than it needs one. There is about one for each seat: a later
    /// need is seen when the earlier timer comes.
    fn set_timer(&mut self, place: usize, seat: Seat) {
        let Some(seated) = self.tables[place].as_mut() else {
            return;
        };
        let generation = seated.generation;
        let Some(io) = seated.seats[seat].as_mut() else {
            return;
        };
        let due = io.due();
        if due < io.timer {
            io.timer = due;
            let key = Key {
                place: place as u32,
                generation,
                seat: seat as u8,
                pipe: Pipe::Timer,
            };
            self.timers.push(Reverse((due, key)));
        }
    }

    fn look_at_timers(&mut self) {
        // One stamp serves the timers and the wait that follows.
        let mut now = 0;
        while let Some(Reverse((due, key))) = self.timers.peek().copied() {
            if due > now {
                now = os::now();
                self.now = now;
                if due > now {
                    return;
                }
            }
            self.timers.pop();
            if self.seated(key).is_some() {
                let (place, seat) = (key.place as usize, usize::from(key.seat));
                self.timer(place, seat, due);
                self.carry_out(place);
                self.set_timer_if_there(place, seat);
            }
        }
    }

    fn set_timer_if_there(&mut self, place: usize, seat: Seat) {
        if self.io(place, seat).is_some() {
            self.set_timer(place, seat);
        }
    }

    fn timer(&mut self, place: usize, seat: Seat, due: u64) {
        let Some(seated) = self.tables[place].as_mut() else {
            return;
        };
        if let Some(index) = seated
            .failed
            .iter()
            .position(|failed| failed.0 <= due && failed.1 == seat)
        {
            let (_, seat, why) = seated.failed.swap_remove(index);
            self.guarded(place, |table, out| {
                table.handle(Input::NotStarted { seat, why }, out)
            });
            return;
        }
        let Some(io) = seated.seats[seat].as_mut() else {
            return;
        };
        if io.timer == due {
            io.timer = u64::MAX;
        }
        let now = os::now();
        if io.must_leave(now) {
            self.queue.push_back(Later::Ended(seat));
            return;
        }
        if let Some(gone) = io.broke_for_good(now) {
            self.queue.push_back(Later::Gone(seat, gone));
            return;
        }
        if io.is_due(now) {
            // What is there to read is read before the clock is looked at.
            let asked = io.asked_at();
            while self.read_stdout(place, seat) {}
            self.carry_out(place);
            let Some(io) = self.io(place, seat) else {
                return;
            };
            if io.asked_at() == asked && asked.is_some() {
                io.looked();
                let bytes = io.reader.unfinished();
                let unfinished = Input::Unfinished { seat, bytes };
                let spent = self.spent_now(place, seat);
                self.guarded(place, |table, out| {
                    table.handle(unfinished, out);
                    table.handle(Input::Deadline { seat, spent }, out);
                });
            }
        }
    }
}

/// How a pipe is watched: for room in stdin only where something waits for it.
fn watch_of(pipe: Pipe, for_room: bool) -> Watch {
    match pipe {
        Pipe::Stdout => Watch::Answers,
        Pipe::Stderr | Pipe::Exit | Pipe::Timer | Pipe::Control => Watch::Input,
        Pipe::Stdin if for_room => Watch::Room,
        Pipe::Stdin => Watch::Closed,
    }
}

/// All that is watched, for systems that want to be told each time.
fn watched<'a>(
    bell: &'a Bell,
    tables: &'a [Option<Seated>],
) -> impl Iterator<Item = (u64, BorrowedFd<'a>, Watch)> {
    let places = tables.iter().enumerate();
    let seated = places.filter_map(|(place, seated)| Some((place, seated.as_ref()?)));
    let pipes = seated.flat_map(|(place, seated)| {
        let seats = seated.seats.iter().enumerate();
        let seats = seats.filter_map(|(seat, io)| Some((seat, io.as_ref()?)));
        seats.flat_map(move |(seat, io)| {
            io.watched().map(move |(pipe, file)| {
                let key = Key {
                    place: place as u32,
                    generation: seated.generation,
                    seat: seat as u8,
                    pipe,
                };
                (key.pack(), file, watch_of(pipe, io.watches_stdin))
            })
        })
    });
    std::iter::once((WAKE, bell.as_fd(), Watch::Input)).chain(pipes)
}

fn input_of<'a>(
    line: crate::referee::lines::Line<'a>,
    seat: Seat,
    spent: Spent,
    early: bool,
    max_line: usize,
    max_output: u64,
) -> Input<'a> {
    use crate::referee::lines::Line;
    match line {
        Line::Whole(line) => Input::Line {
            seat,
            line,
            spent,
            early,
        },
        Line::TooLong => Input::Flood {
            seat,
            what: format!("a line longer than {max_line} bytes"),
            spent,
        },
        Line::TooMuch => Input::Flood {
            seat,
            what: format!("more than {max_output} bytes of output in one game"),
            spent,
        },
    }
}
