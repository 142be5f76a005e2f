//! Playing allocates nothing for a position: once its buffers have grown, neither the list of legal moves nor a move does.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use hakem::game::{GAMES, Game};
use serde_json::{Value, json};

#[expect(dead_code, reason = "whole games are played by the benchmark")]
#[path = "support/playouts.rs"]
mod playouts;

use playouts::{Player, Task, with_game};

/// Games in which no seat moves: they have no list of moves.
const RACES: [&str; 1] = ["qbitz"];

thread_local! {
    /// How often this thread has asked for memory.
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counted.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(
    unsafe_code,
    reason = "an allocator cannot be written without; it hands all on as it came"
)]
// SAFETY: every call is the system allocator's own, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// How often memory was asked for while something was done.
fn asked<T>(done: impl FnOnce() -> T) -> u64 {
    let before = ASKED.get();
    black_box(done());
    ASKED.get() - before
}

/// Plays random games; counts the steps of all but the first, and how often they asked for memory.
struct Count<'a>(&'a Value);

impl Task for Count<'_> {
    type Output = (u64, u64);

    fn run<G: Game>(self) -> (u64, u64) {
        let mut player = Player::<G>::new(self.0, 1);
        let (mut steps, mut count) = (0, 0);
        for number in 0..600 {
            let mut game = player.start();
            loop {
                let mut going = false;
                let times = asked(|| going = player.step(&mut game).is_some());
                if !going {
                    break;
                }
                // The first games let the buffers grow.
                if number >= 300 {
                    steps += 1;
                    count += times;
                }
            }
        }
        (steps, count)
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(asked(|| 1 + black_box(1)), 0);
    assert_eq!(asked(|| vec![black_box(1u8); 100]), 1);
    assert!(asked(|| "a".repeat(black_box(100)) + "b") >= 2);
}

#[test]
fn neither_a_list_of_moves_nor_a_move_allocates() {
    for kind in GAMES {
        let name = kind.facts().name;
        if RACES.contains(&name) {
            continue;
        }
        let (steps, count) = with_game(name, Count(&json!({})))
            .unwrap_or_else(|| panic!("tests/support/playouts.rs has no line for {name}"));
        assert!(steps > 5_000, "{name}: only {steps} steps were played");
        assert_eq!(count, 0, "{name} asked for memory in {steps} steps");
    }
}
