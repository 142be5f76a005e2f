//! Tests of the event file.

use std::path::Path;

use super::*;

mod ends;
mod files;
mod golden;
mod mutate;
mod values;

/// The built-in bots of these tests.
const BUILTINS: &[&str] = &["greedy", "random"];

/// A file that uses every key.
const FULL: &str = r#"
[event]
name = "Spring course"
game = "mangala"
format = "round-robin"
games = 10
paired = true
rounds = 3
seats = 2
opening_plies = 4
restart = "game"
seed = 0x2A
jobs = 2

[rules]
sets = 3

[clock]
main = "60s"
increment = "100ms"
move = "5s"
delay = "0.5s"
margin = "20ms"
ready = "3s"
kind = "wall"
wall_ceiling = "51s"

[limits]
memory = "256MB"
processes = 8
stderr = "2MB"
output = "8MB"
line = "512KB"
note = "1KB"
disk = "32MB"
exit = "1s"
cores = 2
ponder = false
runtime = ["python", "/opt/python"]
sandbox = "none"

[[bot]]
name = " team-a "
command = ["python3", "bot.py"]
dir = "entries/team-a"
env = { LEVEL = "3" }
options = { depth = 4, deep = { list = [1, 2.5, "x", true] } }
limits = { memory = "1GB", ponder = true }

[[bot]]
name = "house"
builtin = "greedy"

[[bot]]
name = "shell words"
command = "./bot --name 'two words'"
"#;

/// An event in a folder that need not exist.
fn config(text: &str) -> EventConfig {
    match parse(text, Path::new("/events/spring.toml"), BUILTINS) {
        Ok(config) => config,
        Err(error) => panic!("{error}"),
    }
}
