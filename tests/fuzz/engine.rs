//! Runs a target on its corpus and on mutations of it.
//!
//! A target tells what an input did ([`Shape`]). An input that does something new is mutated further, so that the search goes
//! where the code has not been, without an instrumented build.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use crate::TARGETS;
use crate::mutate::Mutator;
use crate::picks::Picks;

/// What an input did, in short: a hash of the kind of answer, of the words of an error.
pub(crate) type Shape = u64;

/// Something that reads bytes.
pub(crate) struct Target {
    /// Its name, and that of its folders.
    pub(crate) name: &'static str,
    /// Reads an input, and panics if something does not hold.
    pub(crate) run: fn(&[u8]) -> Shape,
    /// Words that mean something in its inputs.
    pub(crate) words: &'static [&'static str],
}

/// The time of a target where none is set.
const USUAL: Duration = Duration::from_secs(1);
/// An input that takes longer hangs; far above what any takes.
const HANG: Duration = Duration::from_secs(120);
/// Inputs that are mutated further, at most.
const POOL: usize = 4_000;
/// A mutation does not grow beyond this many bytes.
const LONGEST: usize = 1 << 16;
/// Words of a text that its shape is made of.
const WORDS: usize = 14;
/// Tries to make an input smaller.
const SHRINKS: u32 = 3_000;

/// The shape of these texts, each by its first words: numbers and what stands in quotes have no part in it.
pub(crate) fn shape(texts: &[&str]) -> Shape {
    let mut hasher = DefaultHasher::new();
    for text in texts {
        let mut quoted = false;
        for word in text.split([' ', ',', '(', ')']).take(WORDS) {
            let quotes = word.matches(['`', '"']).count();
            if quotes == 0
                && !quoted
                && !word.contains(|c: char| c.is_ascii_digit() || !c.is_ascii())
            {
                word.hash(&mut hasher);
            }
            quoted ^= quotes % 2 == 1;
        }
        0xff_u8.hash(&mut hasher);
    }
    hasher.finish()
}

/// The shape of a value that is one by itself.
pub(crate) fn exact(value: &impl Hash) -> Shape {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// An input for which a target fails, and what was said then.
struct Find {
    input: Vec<u8>,
    message: String,
}

/// What came of a run.
struct Report {
    runs: u64,
    shapes: usize,
    find: Option<Find>,
}

/// The input that is being run, and the number of runs before it.
#[derive(Default)]
struct Current {
    input: Vec<u8>,
    runs: u64,
}

/// Runs the target of this name; panics with where it is kept if an input is found for which it fails.
pub(crate) fn fuzz(name: &str) {
    let target = TARGETS
        .iter()
        .find(|target| target.name == name)
        .expect("a target");
    let (corpus, found) = (Folder::new("corpus", name), Folder::new("found", name));
    let seeds = corpus.read();
    assert!(!seeds.is_empty(), "{} holds inputs", corpus.path.display());
    if let Some(file) = std::env::var_os("HAKEM_FUZZ_COLLECT") {
        collect(target, &corpus, &seeds, Path::new(&file));
        return;
    }
    let seed = seed();
    let current = Arc::new(Mutex::new(Current::default()));
    let (done, wait) = mpsc::channel();
    let worker = Worker {
        target,
        picks: Picks(seed),
        shapes: HashSet::new(),
        pool: Vec::new(),
        current: Arc::clone(&current),
    };
    let inputs = [found.read(), seeds].concat();
    std::thread::spawn(move || done.send(worker.work(&inputs, time())));
    let mut seen = 0;
    let report = loop {
        match wait.recv_timeout(HANG) {
            Ok(report) => break report,
            Err(RecvTimeoutError::Disconnected) => panic!("the worker of {name} is gone"),
            Err(RecvTimeoutError::Timeout) => {
                let current = current.lock().expect("nobody panics with it");
                if current.runs == seen {
                    let file = found.keep(&current.input);
                    panic!("{name} hangs: {} is kept", file.display());
                }
                seen = current.runs;
            }
        }
    };
    if let Some(find) = report.find {
        let file = found.keep(&find.input);
        panic!(
            "{name} fails: {}\nthe input is kept in {} (seed {seed}):\n{}",
            find.message,
            file.display(),
            find.input[..find.input.len().min(2_000)].escape_ascii()
        );
    }
    // Shown when the tests are run with --nocapture.
    #[expect(
        clippy::print_stdout,
        reason = "how far a run came is for people to read"
    )]
    {
        println!(
            "{name}: {} inputs, {} kinds of outcome, seed {seed}",
            report.runs, report.shapes
        );
    }
}

/// Adds those lines of a file to the corpus that do something new.
fn collect(target: &Target, corpus: &Folder, seeds: &[Vec<u8>], file: &Path) {
    let mut shapes: HashSet<Shape> = seeds.iter().map(|seed| (target.run)(seed)).collect();
    let text = std::fs::read(file).expect("a file with an input a line");
    for line in text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        if shapes.insert((target.run)(line)) {
            corpus.keep(line);
        }
    }
}

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a whole number, not {text}")),
    )
}

/// The time of each target.
fn time() -> Duration {
    number("HAKEM_FUZZ_SECONDS").map_or(USUAL, |all| {
        Duration::from_secs(all) / u32::try_from(TARGETS.len()).expect("a few targets")
    })
}

/// The seed of all choices: the usual run repeats itself, so that it fails for one that changed something; a longer one looks
/// elsewhere each time.
fn seed() -> u64 {
    match (number("HAKEM_FUZZ_SEED"), number("HAKEM_FUZZ_SECONDS")) {
        (Some(seed), _) => seed,
        (None, None) => 1,
        (None, Some(_)) => RandomState::new().hash_one(0),
    }
}

struct Worker {
    target: &'static Target,
    picks: Picks,
    shapes: HashSet<Shape>,
    pool: Vec<Vec<u8>>,
    current: Arc<Mutex<Current>>,
}

impl Worker {
    fn work(mut self, inputs: &[Vec<u8>], time: Duration) -> Report {
        let begin = Instant::now();
        let mut find = None;
        for input in inputs {
            if let Err(message) = self.run(input) {
                find = Some(self.shrink(input.clone(), message));
                break;
            }
        }
        let mut mutator = Mutator::new(self.target.words, self.picks.0);
        while find.is_none() && begin.elapsed() < time {
            let mut input = self.pool[self.picks.below(self.pool.len())].clone();
            // Mostly one or two changes, seldom many.
            loop {
                let donor = &self.pool[self.picks.below(self.pool.len())];
                mutator.change(&mut input, donor, &mut self.picks);
                if self.picks.below(2) == 0 {
                    break;
                }
            }
            input.truncate(LONGEST);
            if let Err(message) = self.run(&input) {
                find = Some(self.shrink(input, message));
            }
        }
        let runs = self.current.lock().map_or(0, |current| current.runs);
        Report {
            runs,
            shapes: self.shapes.len(),
            find,
        }
    }

    /// Runs an input; keeps it for further mutation if it did something new.
    fn run(&mut self, input: &[u8]) -> Result<(), String> {
        if let Ok(mut current) = self.current.lock() {
            current.runs += 1;
            current.input.clear();
            current.input.extend_from_slice(input);
        }
        let shape = caught(|| (self.target.run)(input))?;
        if self.shapes.insert(shape) && self.pool.len() < POOL {
            self.pool.push(input.to_vec());
        }
        Ok(())
    }

    /// Makes an input smaller for which the target fails.
    fn shrink(&mut self, mut input: Vec<u8>, mut message: String) -> Find {
        let mut mutator = Mutator::shrinking(self.picks.0);
        for _ in 0..SHRINKS {
            let mut smaller = input.clone();
            mutator.cut(&mut smaller);
            if smaller.len() < input.len()
                && let Err(said) = self.run(&smaller)
            {
                (input, message) = (smaller, said);
            }
        }
        Find { input, message }
    }
}

thread_local! {
    /// Whether a panic of this thread is caught here.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    /// What the last caught panic said, and where.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What a function returns, or what it said when it panicked.
fn caught<T>(done: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if CATCHING.get() {
                SAID.set(info.to_string());
            } else {
                usual(info);
            }
        }));
    });
    CATCHING.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(done));
    CATCHING.set(false);
    outcome.map_err(|_| SAID.take())
}

/// A folder of inputs, a file each.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new(kind: &str, target: &str) -> Folder {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fuzz")
            .join(kind);
        Folder {
            path: path.join(target),
        }
    }

    /// Its inputs, in the order of their names; none where there is no such folder.
    fn read(&self) -> Vec<Vec<u8>> {
        let Ok(entries) = std::fs::read_dir(&self.path) else {
            return Vec::new();
        };
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        let read = |path: &PathBuf| std::fs::read(path).expect("an input can be read");
        files.iter().map(read).collect()
    }

    /// Keeps an input; where.
    fn keep(&self, input: &[u8]) -> PathBuf {
        let file = self.path.join(format!("{:016x}", exact(&input)));
        std::fs::create_dir_all(&self.path).expect("the folder of inputs can be made");
        std::fs::write(&file, input).expect("an input can be kept");
        file
    }
}
