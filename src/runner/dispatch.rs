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
/// How many results may wait to be stored before no new match is begun.
const MAX_WAITING: usize = 5_000;

/// How a run ended.
#[derive(Debug)]
pub enum Ended {
    /// Everything was played.
    Done,
    /// It was interrupted; what was played is kept.
    Interrupted,
    /// Games could not be played, by the machine's fault; the others were.
    GaveUp(Vec<String>),
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
        match &ended {
            Ended::Interrupted => tell(&Event::Interrupted),
            Ended::Done => tell(&Event::RunFinished),
            Ended::GaveUp(_) | Ended::Failed(_) => {}
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
    /// Entries handed to the writer and not stored yet.
    waiting: usize,
    gave_up: Vec<String>,
    signals: [Signal; 3],
}

impl<'a> Dispatcher<'a> {
    fn new(
        plan: &'a Plan,
        source: &'a mut dyn Source,
        jobs: usize,
        ledger: Box<dyn Ledger>,
    ) -> anyhow::Result<Dispatcher<'a>> {
        let (done, stored) = mpsc::unbounded_channel();
        let writer = Writer::start(ledger, move |group| {
            let _ = done.send(group);
        })?;
        let (report, reports) = mpsc::unbounded_channel();
        let groups = plan.core_groups(jobs);
        let mut shards = Vec::new();
        let mut places = Vec::new();
        for (index, cores) in groups.iter().enumerate() {
            let report = report.clone();
            shards.push(Handle::start(
                format!("shard-{index}"),
                cores.clone(),
                move |what| {
                    let _ = report.send((index, what));
                },
            )?);
            places.push(jobs / groups.len() + usize::from(index < jobs % groups.len()));
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
            gave_up: Vec::new(),
            signals: [
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
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
            if self.playing.is_empty()
                && self.waiting == 0
                && (self.dry || !self.gave_up.is_empty())
            {
                let gave_up = std::mem::take(&mut self.gave_up);
                return if gave_up.is_empty() {
                    Ended::Done
                } else {
                    Ended::GaveUp(gave_up)
                };
            }
            let deadline = self.source.deadline();
            let [interrupt, terminate, hangup] = &mut self.signals;
            tokio::select! {
                biased;
                _ = interrupt.recv() => return self.interrupted(),
                _ = terminate.recv() => return self.interrupted(),
                _ = hangup.recv() => return self.interrupted(),
                () = until(deadline) => self.source.time_is_up(),
                Some(stored) = self.stored.recv() => match stored {
                    Ok(group) => {
                        self.waiting -= group.len();
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

    /// Gives every free place a match.
    fn fill(&mut self, tell: &mut dyn FnMut(&Event)) -> anyhow::Result<()> {
        // After a match was given up the others in play are finished, and no more are begun.
        self.dry = false;
        while self.gave_up.is_empty() && self.waiting < MAX_WAITING {
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
            Report::MatchOver(result) => self.put(Entry::Match(result)),
            Report::GaveUp { id, why } => {
                self.void(id, why.clone());
                self.gave_up.push(format!("{id}: {why}"));
            }
            Report::Warning(text) => tell(&Event::Warning(text)),
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
        self.writer.put(entry);
    }

    /// The first signal stops the run cleanly. A second one, while it does so, ends the program at once, but not in the same
    /// instant: some programs send a signal both to a process and to its group, which is one wish.
    fn interrupted(&mut self) -> Ended {
        std::thread::spawn(|| {
            std::thread::sleep(AGAIN);
            for kind in [
                SignalKind::interrupt(),
                SignalKind::terminate(),
                SignalKind::hangup(),
            ] {
                reset_signal(kind);
            }
        });
        Ended::Interrupted
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
