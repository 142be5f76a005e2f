//! Golden error messages: what a bad event file brings, word by word.

use super::*;

const GAME: &str = "[event]\ngame = \"mangala\"\n";
const BOTS: &str = r#"
[[bot]]
name = "a"
builtin = "random"
[[bot]]
name = "b"
builtin = "greedy"
"#;

/// What is wrong with a file of these parts.
fn errors(parts: &[&str]) -> String {
    match parse(&parts.concat(), Path::new("/events/spring.toml"), BUILTINS) {
        Ok(config) => panic!("no error in {config:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn no_toml() {
    insta::assert_snapshot!(errors(&[r##"[event
game = "mangala"
rounds =
"##]), @r##"
    error: the head of a section is not closed
     --> /events/spring.toml:1:7
      |
    1 | [event
      |       ^ [...] is right
    "##);
}

#[test]
fn unknown_keys_are_told_together() {
    insta::assert_snapshot!(errors(&[GAME, r##"ronds = 2
main = "60s"
colour = "red"
[clok]
"##, BOTS]), @r##"
    error: `ronds` is no key of [event]
     --> /events/spring.toml:3:1
      |
    3 | ronds = 2
      | ^^^^^ did you mean `rounds`?

    error: `main` is no key of [event]
     --> /events/spring.toml:4:1
      |
    4 | main = "60s"
      | ^^^^ it belongs in [clock]

    error: `colour` is no key of [event]
     --> /events/spring.toml:5:1
      |
    5 | colour = "red"
      | ^^^^^^ known are name, game, format, games, paired, rounds, seats, candidate, groups, advance, ladder, reach, opening_plies, openings, restart, seed, max_time, stop_when_clear, jobs

    error: `clok` is no key of the event file
     --> /events/spring.toml:6:2
      |
    6 | [clok]
      |  ^^^^ did you mean `clock`?
    "##);
}

#[test]
fn wrong_types() {
    insta::assert_snapshot!(errors(&[GAME, r##"games = "ten"
paired = "yes"
name = 7
rounds = 1.5
seed = 1.5
[clock]
main = 60
kind = 1
[limits]
memory = 512
runtime = "x"
"##, BOTS]), @r##"
    error: `games` in [event] is text
     --> /events/spring.toml:3:9
      |
    3 | games = "ten"
      |         ^^^^^ a whole number from 1 to 1000000 is right

    error: `paired` in [event] is text
     --> /events/spring.toml:4:10
      |
    4 | paired = "yes"
      |          ^^^^^ true or false is right, without quotes

    error: `name` in [event] is a whole number
     --> /events/spring.toml:5:8
      |
    5 | name = 7
      |        ^ text is right, like "Spring course"

    error: `rounds` in [event] is a number with a point
     --> /events/spring.toml:6:10
      |
    6 | rounds = 1.5
      |          ^^^ a whole number from 1 to 1000000 is right

    error: `seed` in [event] is a number with a point
     --> /events/spring.toml:7:8
      |
    7 | seed = 1.5
      |        ^^^ a whole number or text is right, like 42 or "spring"

    error: `main` in [clock] is a whole number
     --> /events/spring.toml:9:8
      |
    9 | main = 60
      |        ^^ a duration is text with a unit, like "60s" or "100ms"

    error: `kind` in [clock] is a whole number
      --> /events/spring.toml:10:8
       |
    10 | kind = 1
       |        ^ "fair" or "wall" or "cpu" is right

    error: `memory` in [limits] is a whole number
      --> /events/spring.toml:12:10
       |
    12 | memory = 512
       |          ^^^ a size is text with a unit, like "512MB" or "4KB"

    error: `runtime` in [limits] is text
      --> /events/spring.toml:13:11
       |
    13 | runtime = "x"
       |           ^^^ a list of texts is right, like ["~/.pyenv/versions/3.11.7"]
    "##);
}

#[test]
fn impossible_values() {
    insta::assert_snapshot!(errors(&[GAME, r##"name = " "
games = 3
rounds = 0
jobs = 0
opening_plies = -1
[clock]
main = "0s"
increment = "10 parsecs"
margin = "60"
move = "5s"
wall_ceiling = "1s"
[limits]
memory = "12XB"
line = "10B"
processes = 0
"##, BOTS]), @r##"
    error: `name` in [event] is blank
     --> /events/spring.toml:3:8
      |
    3 | name = " "
      |        ^^^ text is right, like "Spring course"

    error: `games` in [event] is 3, but each match is played twice, with sides swapped
     --> /events/spring.toml:4:9
      |
    4 | games = 3
      |         ^ an even number is right, like 4; or `paired = false`

    error: `rounds` in [event] is 0
     --> /events/spring.toml:5:10
      |
    5 | rounds = 0
      |          ^ a whole number from 1 to 1000000 is right

    error: `jobs` in [event] is 0
     --> /events/spring.toml:6:8
      |
    6 | jobs = 0
      |        ^ a whole number from 1 to 10000 is right

    error: `opening_plies` in [event] is -1
     --> /events/spring.toml:7:17
      |
    7 | opening_plies = -1
      |                 ^^ a whole number from 0 to 1000 is right

    error: `main` in [clock] is 0s
     --> /events/spring.toml:9:8
      |
    9 | main = "0s"
      |        ^^^^ 1us is the least

    error: `increment` in [clock] is no duration: `parsecs` is no unit
      --> /events/spring.toml:10:13
       |
    10 | increment = "10 parsecs"
       |             ^^^^^^^^^^^^ a duration is a number and a unit (us, ms, s, m, h), like "60s", "100ms", "0.5s" or "1h 30m"

    error: `margin` in [clock] is no duration: it has no unit
      --> /events/spring.toml:11:10
       |
    11 | margin = "60"
       |          ^^^^ a duration is a number and a unit (us, ms, s, m, h), like "60s", "100ms", "0.5s" or "1h 30m"

    error: `wall_ceiling` in [clock] is 1s, but an answer may take 5s (`move`, `delay` and `margin`)
      --> /events/spring.toml:13:16
       |
    13 | wall_ceiling = "1s"
       |                ^^^^ 5s is the least

    error: `memory` in [limits] is no size: `XB` is no unit
      --> /events/spring.toml:15:10
       |
    15 | memory = "12XB"
       |          ^^^^^^ a size is a whole number and B, KB, MB or GB, like "64MB"

    error: `line` in [limits] is 10B
      --> /events/spring.toml:16:8
       |
    16 | line = "10B"
       |        ^^^^^ 1KB to 64MB are possible

    error: `processes` in [limits] is 0
      --> /events/spring.toml:17:13
       |
    17 | processes = 0
       |             ^ a whole number from 1 to 100000 is right
    "##);
}

#[test]
fn words() {
    insta::assert_snapshot!(errors(&[r##"[event]
game = "mangela"
format = "round robin"
restart = "games"
[clock]
kind = "fiar"
[limits]
sandbox = "off"
"##, BOTS]), @r##"
    error: `game` in [event] is `mangela`
     --> /events/spring.toml:2:8
      |
    2 | game = "mangela"
      |        ^^^^^^^^^ did you mean `mangala`?

    error: `format` in [event] is `round robin`
     --> /events/spring.toml:3:10
      |
    3 | format = "round robin"
      |          ^^^^^^^^^^^^^ did you mean `round-robin`?

    error: `restart` in [event] is `games`
     --> /events/spring.toml:4:11
      |
    4 | restart = "games"
      |           ^^^^^^^ did you mean `game`?

    error: `kind` in [clock] is `fiar`
     --> /events/spring.toml:6:8
      |
    6 | kind = "fiar"
      |        ^^^^^^ did you mean `fair`?

    error: `sandbox` in [limits] is `off`
     --> /events/spring.toml:8:11
      |
    8 | sandbox = "off"
      |           ^^^^^ known are auto, none, limits, strict
    "##);
}

#[test]
fn a_ceiling_below_what_the_rules_prescribe() {
    insta::assert_snapshot!(errors(&[r##"[event]
game = "dokuztas"
[rules]
preset = "okul"
[clock]
wall_ceiling = "1m"
"##, BOTS]), @r##"
    error: `wall_ceiling` in [clock] is 60s, but an answer may take 180s (`move`, `delay` and `margin`)
     --> /events/spring.toml:6:16
      |
    6 | wall_ceiling = "1m"
      |                ^^^^ 180s is the least
    "##);
}

#[test]
fn keys_of_other_formats() {
    insta::assert_snapshot!(errors(&[GAME, r##"format = "swiss"
candidate = "a"
groups = 3
"##, BOTS]), @r##"
    error: `candidate` in [event] belongs to the format "gauntlet", and the format is "swiss"
     --> /events/spring.toml:4:1
      |
    4 | candidate = "a"
      | ^^^^^^^^^ leave it out, or name that format

    error: `groups` in [event] belongs to the format "groups", and the format is "swiss"
     --> /events/spring.toml:5:1
      |
    5 | groups = 3
      | ^^^^^^ leave it out, or name that format
    "##);
    insta::assert_snapshot!(errors(&[GAME, r##"format = "gauntlet"
"##, BOTS]), @r##"
    error: the format is "gauntlet", and no `candidate` is named
     --> /events/spring.toml:3:10
      |
    3 | format = "gauntlet"
      |          ^^^^^^^^^^ `candidate = "..."` names the bot that meets all others
    "##);
    insta::assert_snapshot!(errors(&[GAME, r##"format = "knockout"
rounds = 2
"##, BOTS]), @r##"
    error: `rounds` in [event] means nothing where the format is "knockout": the number of bots decides
     --> /events/spring.toml:4:1
      |
    4 | rounds = 2
      | ^^^^^^ leave it out
    "##);
}

#[test]
fn seats() {
    insta::assert_snapshot!(errors(&[GAME, r##"seats = 3
"##, BOTS]), @r##"
    error: `seats` in [event] is 3, but Mangala is not played so
     --> /events/spring.toml:3:9
      |
    3 | seats = 3
      |         ^ 2 is right
    "##);
}

#[test]
fn rules_of_the_game() {
    insta::assert_snapshot!(errors(&[GAME, r##"[rules]
set = 3
sets = 0
rematch_on_draw = 1
when = 2024-01-01
"##, BOTS]), @r##"
    error: `set` in [rules] is no option of Mangala
     --> /events/spring.toml:4:1
      |
    4 | set = 3
      | ^^^ did you mean `sets`?

    error: `sets` in [rules] does not fit
     --> /events/spring.toml:5:8
      |
    5 | sets = 0
      |        ^ 0 is not a number of sets; 1 to 1000 are possible

    error: `rematch_on_draw` in [rules] does not fit
     --> /events/spring.toml:6:19
      |
    6 | rematch_on_draw = 1
      |                   ^ the number `1` does not fit: true or false is right (the default is false)

    error: `when` in [rules] holds a date or time
     --> /events/spring.toml:7:8
      |
    7 | when = 2024-01-01
      |        ^^^^^^^^^^ a number, text, true, false, a list or a table is right
    "##);
}

#[test]
fn rules_one_after_the_other() {
    insta::assert_snapshot!(errors(&[GAME, r##"[rules]
sets = "three"
rematch_on_draw = 1
"##, BOTS]), @r##"
    error: `sets` in [rules] does not fit
     --> /events/spring.toml:4:8
      |
    4 | sets = "three"
      |        ^^^^^^^ the text "three" does not fit: a whole number is right (the default is 1)

    error: `rematch_on_draw` in [rules] does not fit
     --> /events/spring.toml:5:19
      |
    5 | rematch_on_draw = 1
      |                   ^ the number `1` does not fit: true or false is right (the default is false)
    "##);
}

#[test]
fn no_event() {
    insta::assert_snapshot!(errors(&[BOTS]), @r##"
    error: the event file has no [event] section; it must name at least the game
    "##);
}

#[test]
fn event_is_no_table() {
    insta::assert_snapshot!(errors(&[r##"event = 3
bot = "a"
"##]), @r##"
    error: the event has no bot

    error: [event] is a whole number
     --> /events/spring.toml:1:9
      |
    1 | event = 3
      |         ^ a table with keys is right

    error: `bot` is text
     --> /events/spring.toml:2:7
      |
    2 | bot = "a"
      |       ^^^ each bot is a table of its own, headed [[bot]]
    "##);
}

#[test]
fn no_game_and_one_bot() {
    insta::assert_snapshot!(errors(&[r##"[event]
name = "x"
[[bot]]
name = "a"
builtin = "random"
"##]), @r##"
    error: [event] does not name its game
     --> /events/spring.toml:1:1
      |
    1 | [event]
      | ^^^^^^^ `game = "mangala"`, or another

    error: the event has too few bots
     --> /events/spring.toml:1:1
      |
    1 | [event]
      | ^^^^^^^ at least 2 are needed, each headed [[bot]]
    "##);
}

#[test]
fn bots() {
    insta::assert_snapshot!(errors(&[GAME, r##"[[bot]]
builtin = "random"
[[bot]]
name = "a"
builtin = "gredy"
[[bot]]
name = " a "
[[bot]]
name = "tab\there"
command = []
[[bot]]
name = "c"
command = "python3 'bot.py"
builtin = "greedy"
[[bot]]
name = "d"
command = ["python3", 3]
env = { LEVEL = 3, "A=B" = "x" }
memory = "1GB"
[[bot]]
name = "e"
command = "./bot"
options = { when = 2024-01-01 }
limits = { cores = 2, memroy = "1GB" }
[[bot]]
name = "f"
dir = "no such folder"
"##]), @r##"
    error: [[bot]] number 1 has no name
     --> /events/spring.toml:3:1
      |
    3 | [[bot]]
      | ^^^^^^^ `name = "..."` is missing

    error: `builtin` in [[bot]] `a` is `gredy`, which is no built-in bot
     --> /events/spring.toml:7:11
      |
    7 | builtin = "gredy"
      |           ^^^^^^^ did you mean `greedy`?

    error: [[bot]] `a` does not say what to start
     --> /events/spring.toml:8:1
      |
    8 | [[bot]]
      | ^^^^^^^ `command = [...]` or `builtin = "..."` is missing

    error: the bot of line 5 is also named `a`
     --> /events/spring.toml:9:8
      |
    9 | name = " a "
      |        ^^^^^ each bot needs a name of its own

    error: `name` in [[bot]] number 4 holds the control character \t
      --> /events/spring.toml:11:8
       |
    11 | name = "tab\there"
       |        ^^^^^^^^^^^ letters, digits, signs and spaces are right

    error: `command` in [[bot]] number 4 is empty
      --> /events/spring.toml:12:11
       |
    12 | command = []
       |           ^^ a program and its arguments are right

    error: [[bot]] `c` has `builtin` and `command`
      --> /events/spring.toml:15:1
       |
    15 | command = "python3 'bot.py"
       | ^^^^^^^ leave one of them out

    error: `command` in [[bot]] `d` holds a whole number
      --> /events/spring.toml:19:11
       |
    19 | command = ["python3", 3]
       |           ^^^^^^^^^^^^^^ a list of texts is right, like ["python3", "bot.py"]

    error: `LEVEL` in `env` in [[bot]] `d` is a whole number
      --> /events/spring.toml:20:17
       |
    20 | env = { LEVEL = 3, "A=B" = "x" }
       |                 ^ text is right: put it in quotes

    error: `A=B` cannot be the name of a variable
      --> /events/spring.toml:20:20
       |
    20 | env = { LEVEL = 3, "A=B" = "x" }
       |                    ^^^^^ a name without `=` is right

    error: `memory` is no key of [[bot]] `d`
      --> /events/spring.toml:21:1
       |
    21 | memory = "1GB"
       | ^^^^^^ it belongs in `limits = { ... }`

    error: `when` in `options` in [[bot]] `e` holds a date or time
      --> /events/spring.toml:25:20
       |
    25 | options = { when = 2024-01-01 }
       |                    ^^^^^^^^^^ a number, text, true, false, a list or a table is right

    error: `cores` holds for a whole game, not for one bot
      --> /events/spring.toml:26:12
       |
    26 | limits = { cores = 2, memroy = "1GB" }
       |            ^^^^^ it stands in [limits]

    error: `memroy` is no key of `limits` of a bot
      --> /events/spring.toml:26:23
       |
    26 | limits = { cores = 2, memroy = "1GB" }
       |                       ^^^^^^ did you mean `memory`?

    error: `dir` in [[bot]] `f` names the folder /events/no such folder, which does not exist
      --> /events/spring.toml:29:7
       |
    29 | dir = "no such folder"
       |       ^^^^^^^^^^^^^^^^ a bot's folder, with `command = [...]` or its bot.toml, is right
    "##);
}

#[test]
fn a_bot_that_is_no_table() {
    insta::assert_snapshot!(errors(&[r##"bot = [3]
[event]
game = "mangala"
"##]), @r##"
    error: [[bot]] number 1 is a whole number
     --> /events/spring.toml:1:8
      |
    1 | bot = [3]
      |        ^ a table with keys is right

    error: the event has no bot
     --> /events/spring.toml:2:1
      |
    2 | [event]
      | ^^^^^^^ at least 2 are needed, each headed [[bot]]
    "##);
}

#[test]
fn too_many_matches() {
    insta::assert_snapshot!(errors(&[GAME, r##"games = 1000000
rounds = 100
"##, BOTS]), @r##"
    error: the event would have 100000000 matches; 10000000 are the most
     --> /events/spring.toml:3:9
      |
    3 | games = 1000000
      |         ^^^^^^^ fewer games, rounds or bots are right
    "##);
}
