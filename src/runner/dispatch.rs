//! Hands matches to shards, and tells what happened once it is stored.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::ledger::{Entry, Ledger, Writer};
use super::plan::Plan;
use super::source::Source;
use crate::bot::shard::{Handle, Report};
use crate::event::{Event, GameId};
use crate::tournament::Pairing;

/// Signals within this time are one wish.
const AGAIN: std::time::Duration = std::time::Duration::from_secs(1);
/// A stall of the referee of which the user is told, nanoseconds. On a busy machine shorter ones are common.
const WORTH_TELLING: u64 = 1_000_000_000;
/// How many results may wait to be stored before no new match is begun, and how many bytes of records.
const MAX_WAITING: usize = 5_000;
const MAX_WAITING_BYTES: usize = 32 << 20;
/// Matches that are given up with none played between them after which no new one is begun: one that was given up says
/// nothing of the others, so many say that none can be played.
const MAX_GIVEN_UP: usize = 20;

/// How a run ended.
#[derive(Debug)]
pub enum Ended {
    /// Everything was played.
    Done,
    /// It was interrupted; what was played is kept.
    Interrupted,
    /// Games could not be played, by the machine's or the referee's fault; others were.
    GaveUp {
        /// Games that were void too often, and why.
        void: Vec<String>,
        /// Games in which the referee itself failed, and what it said.
        broken: Vec<String>,
    },
    /// It could not go on.
    Failed(anyhow::Error),
}

/// Plays the matches of a source, `jobs` at once.
///
/// # Errors
/// Whatever keeps it from starting.
pub fn run(
    plan: &Plan,
    source: &mut dyn Source,
    jobs: usize,
    ledger: Box<dyn Ledger>,
    tell: &mut dyn FnMut(&Event),
) -> anyhow::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        tell(&Event::RunStarted {
            matches: source.total(),
            done: source.done(),
            jobs,
        });
        let mut dispatcher = Dispatcher::new(plan, source, jobs, ledger)?;
        for warning in &plan.warnings {
            tell(&Event::Warning(warning.clone()));
        }
        let ended = dispatcher.run(tell).await;
        // Ends what is still in play, then stores what is left.
        dispatcher.shards.clear();
        dispatcher.writer.finish();
        while let Ok(stored) = dispatcher.stored.try_recv() {
            match stored {
                Ok(group) => dispatcher.announce(group, tell),
                Err(error) => return Ok(Ended::Failed(error)),
            }
        }
        if dispatcher.logs_cut > 1 {
            tell(&Event::Warning(format!(
                "{} logs of bots could not be kept whole",
                dispatcher.logs_cut
            )));
        }
        if dispatcher.stood_still >= WORTH_TELLING {
            let why = match plan.config.own_game {
                None => "it was stopped or starved, or the machine slept",
                Some(_) => "it waited for the program of the rules, was stopped or starved, or the machine slept",
            };
            tell(&Event::Warning(format!(
                "the referee itself stood still, for {:.1} s at the longest: {why}; no bot was charged for it",
                dispatcher.stood_still as f64 / 1e9
            )));
        }
        match &ended {
            Ended::Interrupted => tell(&Event::Interrupted),
            Ended::Done => tell(&Event::RunFinished),
            Ended::GaveUp { .. } | Ended::Failed(_) => {}
        }
        Ok(ended)
    })
}

struct Dispatcher<'a> {
    plan: &'a Plan,
    source: &'a mut dyn Source,
    /// Whether the source had no match when it was asked last.
    dry: bool,
    /// Games at once on each shard.
    places: Vec<usize>,
    /// Matches in play, with their shard.
    playing: Vec<(Pairing, usize)>,
    shards: Vec<Handle>,
    reports: mpsc::UnboundedReceiver<(usize, Report)>,
    writer: Writer,
    stored: mpsc::UnboundedReceiver<anyhow::Result<Vec<Entry>>>,
    /// Entries handed to the writer and not stored yet, and the bytes of their records.
    waiting: usize,
    waiting_bytes: usize,
    gave_up: Vec<String>,
    /// Matches that were given up since one was played.
    in_a_row: usize,
    broken: Vec<String>,
    /// The longest that a shard stood still, in nanoseconds.
    stood_still: u64,
    /// Logs that could not be written.
    logs_cut: usize,
    signals: [Option<Signal>; 3],
}

impl<'a> Dispatcher<'a> {
    fn new(
        plan: &'a Plan,
        source: &'a mut dyn Source,
        jobs: usize,
        ledger: Box<dyn Ledger>,
    ) -> anyhow::Result<Dispatcher<'a>> {
        let (done, stored) = mpsc::unbounded_channel();
        let groups = plan.core_groups(jobs);
        let writer = Writer::start(ledger, plan.busy_cores(&groups), move |group| {
            let _ = done.send(group);
        })?;
        let (report, reports) = mpsc::unbounded_channel();
        let mut shards = Vec::new();
        let mut places = Vec::new();
        for (index, cores) in groups.iter().enumerate() {
            let report = report.clone();
            let games = jobs / groups.len() + usize::from(index < jobs % groups.len());
            shards.push(Handle::start(
                format!("shard-{index}"),
                cores.clone(),
                games,
                move |what| {
                    let _ = report.send((index, what));
                },
            )?);
            places.push(games);
        }
        Ok(Dispatcher {
            plan,
            source,
            dry: false,
            places,
            playing: Vec::new(),
            shards,
            reports,
            writer,
            stored,
            waiting: 0,
            waiting_bytes: 0,
            gave_up: Vec::new(),
            in_a_row: 0,
            broken: Vec::new(),
            stood_still: 0,
            logs_cut: 0,
            signals: [
                heard(SignalKind::interrupt())?,
                heard(SignalKind::terminate())?,
                heard(SignalKind::hangup())?,
            ],
        })
    }

    async fn run(&mut self, tell: &mut dyn FnMut(&Event)) -> Ended {
        loop {
            if self.source.stop() {
                return Ended::Done;
            }
            if let Err(error) = self.fill(tell) {
                return Ended::Failed(error);
            }
            if self.playing.is_empty() && self.waiting == 0 && (self.dry || self.is_hopeless()) {
                let void = std::mem::take(&mut self.gave_up);
                let broken = std::mem::take(&mut self.broken);
                return if void.is_empty() && broken.is_empty() {
                    Ended::Done
                } else {
                    Ended::GaveUp { void, broken }
                };
            }
            let deadline = self.source.deadline();
            let [interrupt, terminate, hangup] = &mut self.signals;
            tokio::select! {
                biased;
                () = comes(interrupt) => return self.interrupted(),
                () = comes(terminate) => return self.interrupted(),
                () = comes(hangup) => return self.interrupted(),
                () = until(deadline) => self.source.time_is_up(),
                Some(stored) = self.stored.recv() => match stored {
                    Ok(group) => {
                        self.waiting -= group.len();
                        self.waiting_bytes -= group.iter().map(Entry::bytes).sum::<usize>();
                        self.announce(group, tell);
                    }
                    Err(error) => return Ended::Failed(error),
                },
                Some((shard, report)) = self.reports.recv() => {
                    if let Some(ended) = self.reported(shard, report, tell) {
                        return ended;
                    }
                }
            }
        }
    }

    /// Whether so many matches were given up that no more are begun.
    fn is_hopeless(&self) -> bool {
        let most = if self.source.goes_on() {
            MAX_GIVEN_UP
        } else {
            1
        };
        self.in_a_row >= most
    }

    /// Gives every free place a match.
    fn fill(&mut self, tell: &mut dyn FnMut(&Event)) -> anyhow::Result<()> {
        self.dry = false;
        while !self.is_hopeless()
            && self.waiting < MAX_WAITING
            && self.waiting_bytes < MAX_WAITING_BYTES
        {
            let Some(shard) = (0..self.places.len())
                .filter(|&shard| self.places[shard] > 0)
                .max_by_key(|&shard| (self.places[shard], std::cmp::Reverse(shard)))
            else {
                break;
            };
            let Some(pairing) = self.source.next() else {
                self.dry = true;
                break;
            };
            let job = self.plan.job(&pairing)?;
            self.places[shard] -= 1;
            tell(&Event::MatchStarted {
                id: pairing.id,
                seats: pairing.seats.clone(),
            });
            self.playing.push((pairing, shard));
            self.shards[shard].play(job);
        }
        Ok(())
    }

    fn reported(
        &mut self,
        shard: usize,
        report: Report,
        tell: &mut dyn FnMut(&Event),
    ) -> Option<Ended> {
        match report {
            Report::GameOver(game) => {
                self.put(Entry::Game {
                    result: Box::new(game.result),
                    record: game.record,
                });
            }
            Report::GameVoid { id, why } => self.void(id, why),
            Report::MatchOver(result) => {
                self.in_a_row = 0;
                self.put(Entry::Match(result));
            }
            // Its match alone: the others are played.
            Report::GaveUp { id, why } => {
                self.in_a_row += 1;
                self.void(id, why.clone());
                self.gave_up.push(format!("{id}: {why}"));
            }
            // Its match alone: that the rules fail in one position says nothing of others.
            Report::Broke { id, why } => {
                self.void(id, why.clone());
                self.broken.push(format!("{id}: {why}"));
            }
            Report::Warning(text) => tell(&Event::Warning(text)),
            Report::LogCut(why) => {
                if self.logs_cut == 0 {
                    tell(&Event::Warning(format!(
                        "what a bot wrote to stderr could not be kept: {why}; the games go on"
                    )));
                }
                self.logs_cut += 1;
            }
            Report::StoodStill(length) => self.stood_still = self.stood_still.max(length),
            Report::Left(id) => {
                if let Some(index) = self.playing.iter().position(|playing| playing.0.id == id) {
                    self.playing.swap_remove(index);
                    self.places[shard] += 1;
                }
            }
            Report::Failed(why) => {
                return Some(Ended::Failed(anyhow::anyhow!(
                    "the poll loop failed: {why}"
                )));
            }
        }
        None
    }

    /// Tells of what is stored.
    fn announce(&mut self, group: Vec<Entry>, tell: &mut dyn FnMut(&Event)) {
        for entry in group {
            tell(&match entry {
                Entry::Game { result, .. } => {
                    self.source.game(&result);
                    Event::GameFinished(result)
                }
                Entry::Void { id, why, .. } => Event::GameVoided { id, why },
                Entry::Match(result) => {
                    self.source.finished(&result);
                    Event::MatchFinished(result)
                }
            });
        }
    }

    fn void(&mut self, id: GameId, why: String) {
        let pairing = self.playing.iter().find(|playing| playing.0.id == id.of);
        let seats = pairing.map_or_else(Vec::new, |(pairing, _)| pairing.seats.clone());
        self.put(Entry::Void { id, seats, why });
    }

    fn put(&mut self, entry: Entry) {
        self.waiting += 1;
        self.waiting_bytes += entry.bytes();
        self.writer.put(entry);
    }

    /// The first signal stops the run cleanly. A second one, while it does so, ends the program at once, but not in the same
    /// instant: some programs send a signal both to a process and to its group, which is one wish.
    fn interrupted(&mut self) -> Ended {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let heard: Vec<SignalKind> = kinds
            .into_iter()
            .zip(&self.signals)
            .filter_map(|(kind, signal)| signal.as_ref().map(|_| kind))
            .collect();
        // Without the thread a second signal does nothing, and the first has its effect all the same.
        let _ = std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                std::thread::sleep(AGAIN);
                heard.into_iter().for_each(reset_signal);
            });
        Ended::Interrupted
    }
}

/// Listens for a signal. One that is ignored when the program starts stays ignored (`nohup`, jobs in the background of a
/// script).
fn heard(kind: SignalKind) -> std::io::Result<Option<Signal>> {
    if is_ignored(kind) {
        return Ok(None);
    }
    signal(kind).map(Some)
}

/// Waits for a signal; for ever for one that is ignored.
async fn comes(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether a signal has no effect on this program.
#[expect(
    unsafe_code,
    reason = "the present action of a signal has no safe wrapper"
)]
fn is_ignored(kind: SignalKind) -> bool {
    // SAFETY: the call with no new action only writes the present one to a local of the right type.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(kind.as_raw_value(), std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Gives a signal its default action back.
#[expect(
    unsafe_code,
    reason = "the default action of a signal has no safe wrapper"
)]
fn reset_signal(kind: SignalKind) {
    // SAFETY: SIG_DFL is a valid disposition, and no handler data is touched.
    unsafe {
        libc::signal(kind.as_raw_value(), libc::SIG_DFL);
    }
}

/// Waits until then; for ever, where there is no such time.
async fn until(deadline: Option<std::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
