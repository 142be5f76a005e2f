//! How exactly this machine keeps time: measured before the first game, so that a limit below it is not taken for one.

use std::thread;
use std::time::Duration;

use crate::bot::os;

/// How long a timer runs in a try, and how many tries there are on each core.
const TIMER: Duration = Duration::from_millis(1);
const TRIES: usize = 24;

/// How late timers came on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Half of them were no later than this, microseconds.
    pub usual_us: u64,
    /// The latest of all, microseconds.
    pub most_us: u64,
}

impl Jitter {
    /// Measures it on all of these cores at once; takes some 30 ms.
    pub fn measure(cores: &[usize]) -> Jitter {
        let mut late: Vec<u64> = thread::scope(|scope| {
            // Where there is no thread to be had the core is not measured.
            let tries = cores.iter().filter_map(|&core| {
                thread::Builder::new()
                    .spawn_scoped(scope, move || lateness(core))
                    .ok()
            });
            let tries: Vec<_> = tries.collect();
            tries
                .into_iter()
                .flat_map(|tries| tries.join().unwrap_or_default())
                .collect()
        });
        late.sort_unstable();
        Jitter {
            usual_us: late.get(late.len() / 2).copied().unwrap_or(0),
            most_us: late.last().copied().unwrap_or(0),
        }
    }

    /// What there is to say of a limit of this length; nothing if the machine keeps time well enough for it.
    pub fn warning(self, limit_us: u64) -> Option<String> {
        let ms = |us: u64| format!("{}.{:03} ms", us / 1000, us % 1000);
        (limit_us < self.most_us).then(|| {
            format!(
                "timers of this machine came up to {} late (half of them {}), and the time for an answer is {}: what a bot \
                 takes cannot be told so exactly here; give more time, or keep the machine free of other work",
                ms(self.most_us),
                ms(self.usual_us),
                ms(limit_us),
            )
        })
    }
}

/// How late each of some timers came, microseconds.
fn lateness(core: usize) -> Vec<u64> {
    // Where it may not be kept on the core it is measured wherever it is.
    let _ = os::stay_on(&[core]);
    let one = || {
        let begun = os::now();
        thread::sleep(TIMER);
        let took = Duration::from_nanos(os::now().saturating_sub(begun));
        u64::try_from(took.saturating_sub(TIMER).as_micros()).unwrap_or(u64::MAX)
    };
    (0..TRIES).map(|_| one()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limit_below_the_jitter_is_worth_a_word() {
        let jitter = Jitter {
            usual_us: 80,
            most_us: 2_300,
        };
        assert_eq!(jitter.warning(2_300), None);
        let said = jitter.warning(500).expect("a warning");
        assert!(
            said.contains("2.300 ms late") && said.contains("is 0.500 ms"),
            "{said}"
        );
    }

    #[test]
    fn a_timer_is_never_early() {
        let jitter = Jitter::measure(&os::cores());
        assert!(jitter.usual_us <= jitter.most_us);
        assert!(
            jitter.most_us > 0,
            "no timer is exact to the microsecond on every try"
        );
    }
}
