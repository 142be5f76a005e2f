//! The thread that stores results, in groups.

use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::bot::guard::guarded;
use crate::bot::os;
use crate::event::{GameId, GameResult, MatchResult, Slot};

/// Games that end within this time share one transaction and one sync.
const GROUP: Duration = Duration::from_millis(50);
/// The most entries of one group.
const MOST: usize = 2_000;

/// Something to be stored.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A game with the text of its record.
    Game {
        /// Its result.
        result: Box<GameResult>,
        /// Its record.
        record: Vec<u8>,
    },
    /// A game that was void.
    Void {
        /// The game.
        id: GameId,
        /// The slot on each seat.
        seats: Vec<Slot>,
        /// Why.
        why: String,
    },
    /// A match that is complete.
    Match(MatchResult),
}

impl Entry {
    /// The bytes of its record.
    pub fn bytes(&self) -> usize {
        match self {
            Entry::Game { record, .. } => record.len(),
            Entry::Void { .. } | Entry::Match(_) => 0,
        }
    }
}

/// Where results are kept.
pub trait Ledger: Send + 'static {
    /// Stores all of a group for good, or none of it.
    ///
    /// # Errors
    /// What went wrong, with the path; nothing of the group counts then.
    fn commit(&mut self, group: &[Entry]) -> anyhow::Result<()>;
}

/// Keeps nothing: for a duel without a folder.
#[derive(Debug, Default)]
pub struct Forget;

impl Ledger for Forget {
    fn commit(&mut self, _group: &[Entry]) -> anyhow::Result<()> {
        Ok(())
    }
}

/// The running thread; entries go in, and come out of `done` once they are stored.
#[derive(Debug)]
pub(crate) struct Writer {
    inbox: Option<mpsc::Sender<Entry>>,
    closing: Arc<Closing>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. `done` gets every stored group, in order; after an error nothing more is stored.
    ///
    /// `busy`: cores of which each has games to play. The thread goes from one to the next with every group, so that its work
    /// holds up no game more than another; without them it is wherever the system puts it.
    pub(crate) fn start(
        mut ledger: Box<dyn Ledger>,
        busy: Vec<usize>,
        done: impl Fn(anyhow::Result<Vec<Entry>>) + Send + 'static,
    ) -> std::io::Result<Writer> {
        let (inbox, entries) = mpsc::channel::<Entry>();
        let closing = Arc::new(Closing::default());
        let closes = closing.clone();
        let thread = std::thread::Builder::new()
            .name("ledger".into())
            .spawn(move || {
                let mut next = busy.iter().cycle();
                while let Ok(first) = entries.recv() {
                    if let Some(&core) = next.next() {
                        // Where it may not be there it stays where it is.
                        let _ = os::stay_on(&[core]);
                    }
                    let group = collect(first, &entries, &closes);
                    let stored = guarded(|| ledger.commit(&group))
                        .unwrap_or_else(|said| {
                            anyhow::bail!(
                                "results could not be stored: {said}, which is a bug of hakem"
                            )
                        })
                        .map(|()| group);
                    let failed = stored.is_err();
                    done(stored);
                    if failed {
                        return;
                    }
                }
            })?;
        Ok(Writer {
            inbox: Some(inbox),
            closing,
            thread: Some(thread),
        })
    }

    /// Hands over an entry.
    pub(crate) fn put(&self, entry: Entry) {
        if let Some(inbox) = &self.inbox {
            // A thread that stopped has said why.
            let _ = inbox.send(entry);
        }
    }

    /// Stores what is left and ends the thread.
    pub(crate) fn finish(&mut self) {
        self.inbox = None;
        self.closing.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Whether no more will come, and a way to wait for that.
#[derive(Debug, Default)]
struct Closing {
    closed: Mutex<bool>,
    changed: Condvar,
}

impl Closing {
    fn close(&self) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Returns once it is closed, and after this time at the latest.
    fn wait(&self, time: Duration) {
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        // Poisoned or not, the time is over.
        let _ = self
            .changed
            .wait_timeout_while(closed, time, |closed| !*closed);
    }
}

/// The entries of a group. Waiting for each by itself would wake the thread for every game.
fn collect(first: Entry, entries: &mpsc::Receiver<Entry>, closing: &Closing) -> Vec<Entry> {
    closing.wait(GROUP);
    let mut group = vec![first];
    group.extend(entries.try_iter().take(MOST - 1));
    group
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::MatchId;

    struct Remember(mpsc::Sender<usize>);

    impl Ledger for Remember {
        fn commit(&mut self, group: &[Entry]) -> anyhow::Result<()> {
            self.0.send(group.len())?;
            assert!(group.len() < 5, "five at once");
            anyhow::ensure!(group.len() < 3, "full");
            Ok(())
        }
    }

    fn void() -> Entry {
        Entry::Void {
            id: MatchId {
                round: 1,
                number: 1,
            }
            .game(1),
            seats: vec![0, 1],
            why: "x".into(),
        }
    }

    #[test]
    fn entries_are_stored_in_groups_and_nothing_is_left_behind() {
        let (sizes, seen) = mpsc::channel();
        let (done, stored) = mpsc::channel();
        let mut writer = Writer::start(Box::new(Remember(sizes)), Vec::new(), move |group| {
            let _ = done.send(
                group
                    .map(|group| group.len())
                    .map_err(|error| error.to_string()),
            );
        })
        .expect("a thread");
        writer.put(void());
        writer.put(void());
        writer.finish();
        assert_eq!(seen.iter().sum::<usize>(), 2);
        assert_eq!(
            stored
                .iter()
                .map(|group| group.expect("stored"))
                .sum::<usize>(),
            2
        );
    }

    #[cfg(all(target_os = "linux", not(hakem_portable)))]
    #[test]
    fn it_takes_turns_on_busy_cores_and_stays_where_it_may_be() {
        struct Where(mpsc::Sender<Vec<usize>>);
        impl Ledger for Where {
            fn commit(&mut self, _group: &[Entry]) -> anyhow::Result<()> {
                Ok(self.0.send(os::cores())?)
            }
        }
        let all = os::cores();
        let (first, last) = (all[0], all[all.len() - 1]);
        // No machine that runs this test has the core in the middle.
        let busy = vec![first, 1_023, last];
        let (places, seen) = mpsc::channel();
        let (done, stored) = mpsc::channel();
        let mut writer = Writer::start(Box::new(Where(places)), busy, move |group| {
            let _ = done.send(group.is_ok());
        })
        .expect("a thread");
        for place in [first, first, last, first] {
            writer.put(void());
            assert_eq!(stored.recv(), Ok(true));
            assert_eq!(seen.recv(), Ok(vec![place]));
        }
        writer.finish();
    }

    #[test]
    fn an_error_is_told_and_ends_it() {
        let (sizes, _seen) = mpsc::channel();
        let (done, stored) = mpsc::channel();
        let mut writer = Writer::start(Box::new(Remember(sizes)), Vec::new(), move |group| {
            let _ = done.send(group.map_err(|error| error.to_string()));
        })
        .expect("a thread");
        (0..3).for_each(|_| writer.put(void()));
        writer.finish();
        assert!(stored.iter().any(|group| group == Err("full".to_owned())));
    }

    #[test]
    fn a_panic_is_told_as_an_error() {
        let (sizes, _seen) = mpsc::channel();
        let (done, stored) = mpsc::channel();
        let mut writer = Writer::start(Box::new(Remember(sizes)), Vec::new(), move |group| {
            let _ = done.send(group.map_err(|error| error.to_string()));
        })
        .expect("a thread");
        (0..9).for_each(|_| writer.put(void()));
        writer.finish();
        let told = stored.iter().find_map(Result::err).expect("it is told");
        // Where the thread was too quick for five at once it failed on fewer.
        assert!(
            told == "full" || told.contains("five at once at src"),
            "{told}"
        );
    }
}
