//! One test for each fault of a bot, with real processes: the fault is the bot's own loss, with the right verdict and
//! reason, against it; the other games of the event go on; nothing of it is left alive.
#![cfg(feature = "runner")]

mod common;

use common::{Event, Lab, of_bot, text};
use serde_json::{Value, json};

/// The move limit of the tests whose bot lets it pass.
const SHORT: &str = "\"400ms\"";

/// Three bots, each against each, both ways round: `mock` with the fault, and two honest ones.
fn field(args: &[&str]) -> Event {
    Event::new("mangala")
        .set("event", "jobs", "2")
        .mock("mock", args)
        .mock("honest", &["--pick", "hash:1"])
        .mock("third", &["--pick", "hash:2"])
}

/// Plays the event and checks what must hold whatever a bot does. Returns the games.
#[track_caller]
fn play(lab: &Lab, event: &Event) -> Vec<Value> {
    let file = event.write(lab, "event.toml");
    lab.run(&file).stays_plain();
    lab.assert_no_process_is_left();
    let games = lab.games("event");
    common::assert_ids(
        &games,
        &[
            "r1.m1.g1", "r1.m2.g1", "r1.m3.g1", "r1.m4.g1", "r1.m5.g1", "r1.m6.g1",
        ],
    );
    assert_eq!(
        lab.verify_records("event"),
        games.len(),
        "a record for every game"
    );
    let others: Vec<&Value> = games
        .iter()
        .filter(|game| {
            !game["seats"]
                .as_array()
                .is_some_and(|s| s.contains(&json!("mock")))
        })
        .collect();
    assert_eq!(others.len(), 2, "the pair of the honest bots was played");
    for game in others {
        assert_eq!(text(game, "verdict"), "rule", "{game}");
        assert_eq!(text(game, "reason"), "pits_empty", "{game}");
        assert_eq!(game["against"], Value::Null, "{game}");
    }
    games
}

/// The fault loses every game of its bot, with this verdict and a reason that begins so.
#[track_caller]
fn loses(event: &Event, verdict: &str, reason: &str) -> Vec<Value> {
    let lab = Lab::new();
    let games = play(&lab, event);
    let hit = of_bot(&games, "mock");
    assert_eq!(hit.len(), 4);
    for game in &hit {
        assert_eq!(text(game, "verdict"), verdict, "{game}");
        assert!(text(game, "reason").starts_with(reason), "{game}");
        assert_eq!(game["against"], "mock", "{game}");
        let seats = game["seats"].as_array().expect("seats is a list");
        let seat = seats.iter().position(|seat| seat == "mock");
        let seat = seat.expect("it sat there");
        assert_eq!(game["winner"], seats[1 - seat], "{game}");
        assert_eq!(game["score"][seat], 0, "{game}");
        assert_eq!(game["score"][1 - seat], 1, "{game}");
    }
    hit.into_iter().cloned().collect()
}

/// The oddity is allowed: every game ends by the rules.
#[track_caller]
fn plays(event: &Event) {
    let lab = Lab::new();
    for game in play(&lab, event) {
        assert_eq!(text(&game, "verdict"), "rule", "{game}");
        assert_eq!(game["against"], Value::Null, "{game}");
    }
}

macro_rules! loses {
    ($($name:ident: $args:expr => $verdict:literal, $reason:literal;)*) => {
        $(#[test]
        fn $name() {
            loses(&field(&$args), $verdict, $reason);
        })*
    };
}

macro_rules! plays {
    ($($name:ident: $args:expr;)*) => {
        $(#[test]
        fn $name() {
            plays(&field(&$args));
        })*
    };
}

loses! {
    an_exit_in_mid_game: ["--crash-at", "2", "--exit-code", "1"] => "crash", "exit 1";
    an_exit_with_another_status: ["--crash", "--exit-code", "77"] => "crash", "exit 77";
    an_exit_with_status_0_is_a_loss_too: ["--crash", "--exit-code", "0"] => "crash", "exit 0";
    an_exit_at_the_first_question: ["--crash-at", "1"] => "crash", "exit 1";
    a_fault_of_memory: ["--signal", "11"] => "crash", "signal 11";
    a_kill: ["--signal", "9"] => "crash", "signal 9";
    an_exit_before_ready: ["--crash-before-ready", "--exit-code", "3"] => "crash", "exit 3";
    a_closed_stdin: ["--close-stdin"] => "crash", "closed_pipe";
    a_closed_stdout: ["--close-stdout"] => "crash", "";
    an_unfinished_line_is_no_answer: ["--partial-line-then-exit"] => "crash", "exit 0";
    a_child_that_holds_stdout: ["--fork-child-holds-stdout"] => "crash", "exit 0";
    an_illegal_move: ["--illegal"] => "illegal_move", "illegal_move";
    a_resignation_where_the_game_has_none: ["--resign"] => "illegal_move", "illegal_move";
    a_line_that_is_no_json: ["--bad-json"] => "bad_message", "bad_json";
    a_duplicate_key: ["--duplicate-key"] => "bad_message", "bad_json";
    a_number_beyond_64_bits: ["--big-number"] => "bad_message", "bad_json";
    a_late_byte_order_mark: ["--late-bom"] => "bad_message", "bad_json";
    a_message_without_its_move: ["--bad-message"] => "bad_message", "bad_message";
    a_line_that_is_no_utf8: ["--not-utf8"] => "bad_message", "not_utf8";
    a_wrong_id: ["--wrong-id"] => "bad_message", "wrong_id";
    an_answer_before_its_question: ["--unasked"] => "bad_message", "unasked";
    a_second_answer: ["--twice"] => "bad_message", "unasked";
    a_line_without_end: ["--flood-stdout"] => "flood", "line_too_long";
    a_flood_of_blank_lines: ["--flood-blank"] => "flood", "";
    another_protocol_version: ["--version", "2"] => "no_ready", "protocol_version";
    a_greeting_that_is_none: ["--bad-ready"] => "no_ready", "";
}

plays! {
    a_byte_order_mark_at_the_very_start: ["--bom"];
    carriage_returns: ["--crlf"];
    blank_lines: ["--blank-lines"];
    a_whole_number_written_as_a_fraction: ["--float-move"];
    a_ready_before_hello: ["--ready-early"];
    a_slow_but_timely_ready: ["--slow-ready", "300"];
    a_line_after_the_end: ["--after-end"];
    a_long_note_and_an_eval: ["--note-bytes", "200000", "--eval"];
    history_and_events_are_sent_to_who_asks: ["--history", "--events"];
    thinking_within_the_limit: ["--think-us", "2000"];
    a_name_of_escapes: ["--name", "\u{1b}[2J\u{7}\u{9b}31m\u{202e}evil\nRESULT: won"];
    a_blank_name: ["--name", "  "];
    the_same_name_as_another: ["--name", "honest"];
}

#[test]
fn an_answer_before_the_exit_counts() {
    let games = loses(&field(&["--answer-then-exit-at", "3"]), "crash", "exit 0");
    for game in games {
        // Its own three answers, at least, are in the count.
        assert!(game["moves"].as_u64() >= Some(3), "{game}");
    }
}

#[test]
fn silence_is_a_loss_on_time() {
    loses(
        &field(&["--stall"]).set("clock", "move", SHORT),
        "timeout",
        "timeout",
    );
}

#[test]
fn a_bot_that_reads_no_more_loses_on_time() {
    loses(
        &field(&["--no-read"]).set("clock", "move", SHORT),
        "timeout",
        "timeout",
    );
}

#[test]
fn a_late_answer_is_a_loss_on_time() {
    loses(
        &field(&["--late", "1000"]).set("clock", "move", SHORT),
        "timeout",
        "timeout",
    );
}

#[test]
fn bytes_that_trickle_do_not_extend_the_limit() {
    loses(
        &field(&["--slow-loris"]).set("clock", "move", SHORT),
        "timeout",
        "timeout",
    );
}

#[test]
fn the_total_of_a_seat_runs_out() {
    // No limit for one answer: 30 ms of computing an answer use up 150 ms at the sixth.
    let event = field(&["--think-us", "30000"]).set("clock", "main", "\"150ms\"");
    let games = loses(&event, "timeout", "timeout");
    for game in games {
        assert!(game["moves"].as_u64() >= Some(4), "{game}");
    }
}

#[test]
fn a_missing_ready_ends_the_match() {
    loses(
        &field(&["--no-ready"]).set("clock", "ready", "\"2s\""),
        "no_ready",
        "",
    );
}

#[test]
fn a_late_ready_ends_the_match() {
    let event = field(&["--slow-ready", "60000"]).set("clock", "ready", "\"2s\"");
    loses(&event, "no_ready", "");
}

#[test]
fn a_ping_without_answer_has_one_outcome() {
    let lab = Lab::new();
    let games = play(&lab, &field(&["--ping-silent"]));
    let mut verdicts: Vec<&str> = of_bot(&games, "mock")
        .iter()
        .map(|game| text(game, "verdict"))
        .collect();
    verdicts.dedup();
    assert!(matches!(verdicts[..], ["rule" | "timeout"]), "{verdicts:?}");
}

#[test]
fn output_beyond_the_limit_of_a_game_is_a_flood() {
    let event = field(&["--flood-lines"]).set("limits", "output", "\"64KB\"");
    // The first of the flood's lines is wrong by itself; which comes first is fixed by the order of the bytes.
    loses(&event, "bad_message", "bad_json");
    let event = field(&["--note-bytes", "20000"]).set("limits", "output", "\"64KB\"");
    loses(&event, "flood", "");
}

#[test]
fn a_line_beyond_the_limit_is_a_flood() {
    let event = field(&["--note-bytes", "5000"]).set("limits", "line", "\"4KB\"");
    loses(&event, "flood", "line_too_long");
}

#[test]
fn stderr_is_drained_and_its_log_is_cut() {
    const CAP: u64 = 64 << 10;
    let lab = Lab::new();
    let event = field(&["--flood-stderr"]).set("limits", "stderr", "\"64KB\"");
    for game in play(&lab, &event) {
        assert_eq!(text(&game, "verdict"), "rule", "{game}");
    }
    let logs = common::files_below(&lab.path("event/logs"));
    let sizes: Vec<u64> = logs
        .iter()
        .map(|path| path.metadata().map_or(0, |data| data.len()))
        .collect();
    let noisy = sizes.iter().max().copied().unwrap_or(0);
    assert!(
        noisy > CAP / 2,
        "the beginning or end of stderr is kept: {sizes:?}"
    );
    // Four sessions of the noisy bot, whatever they share, and a line that says what was cut.
    let total: u64 = sizes.iter().sum();
    assert!(total < 4 * CAP + (16 << 10), "{sizes:?}");
}

#[test]
fn a_word_on_stderr_is_kept_in_the_log() {
    let lab = Lab::new();
    play(&lab, &field(&["--stderr", "the model is 7 layers deep"]));
    let logs = common::files_below(&lab.path("event/logs"));
    let found = logs.iter().any(|path| {
        std::fs::read_to_string(path).is_ok_and(|log| log.contains("the model is 7 layers deep"))
    });
    assert!(found, "not in {logs:?}");
}

#[test]
fn a_bot_that_ignores_sigterm_is_ended() {
    plays(&field(&["--ignore-term"]).set("limits", "exit", "\"200ms\""));
}

#[test]
fn a_child_in_a_session_of_its_own_does_not_hold_up_the_event() {
    let lab = Lab::new();
    let file = field(&["--setsid-child"]).write(&lab, "event.toml");
    lab.run(&file);
    let games = lab.games("event");
    assert_eq!(games.len(), 6);
    for game in &games {
        assert_eq!(text(game, "verdict"), "rule", "{game}");
    }
    // Without a sandbox such a child may live on; the bot itself may not.
    let bots: Vec<String> = lab
        .processes()
        .into_iter()
        .map(|(_, line)| line)
        .filter(|line| line.contains("mockbot"))
        .collect();
    assert!(bots.is_empty(), "{bots:?}");
}

/// A match of five sets.
fn sets(args: &[&str]) -> Event {
    Event::new("mangala")
        .set("event", "paired", "false")
        .set("event", "games", "1")
        .set("rules", "sets", "5")
        .mock("mock", args)
        .mock("honest", &["--pick", "hash:1"])
}

#[track_caller]
fn verdicts(event: &Event) -> Vec<(String, String)> {
    let lab = Lab::new();
    let file = event.write(&lab, "event.toml");
    lab.run(&file);
    lab.assert_no_process_is_left();
    lab.verify_records("event");
    lab.games("event")
        .iter()
        .map(|game| (text(game, "id").into(), text(game, "verdict").into()))
        .collect()
}

#[test]
fn a_match_goes_on_after_a_forfeit() {
    let found = verdicts(&sets(&["--crash-at", "1", "--in-game", "r1.m1.g1"]));
    let expected = ["crash", "rule", "rule", "rule", "rule"];
    let expected: Vec<(String, String)> = expected
        .iter()
        .enumerate()
        .map(|(index, verdict)| (format!("r1.m1.g{}", index + 1), (*verdict).into()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_second_forfeit_in_a_row_loses_the_match() {
    let lab = Lab::new();
    let file = sets(&["--illegal-at", "1"]).write(&lab, "event.toml");
    lab.run(&file);
    let games = lab.games("event");
    common::assert_ids(&games, &["r1.m1.g1", "r1.m1.g2"]);
    let standings = lab.standings("event");
    let honest = row(&standings, "honest");
    assert_eq!(honest["won"], 1, "{standings}");
    assert_eq!(row(&standings, "mock")["lost"], 1, "{standings}");
    assert_eq!(honest["played"], 1, "a match is one result: {standings}");
}

#[test]
fn a_failed_handshake_loses_the_match() {
    let found = verdicts(&sets(&["--version", "2"]));
    assert_eq!(found, [("r1.m1.g1".into(), "no_ready".into())]);
}

#[test]
fn bots_may_start_once_a_game() {
    // Its second turn of a session never comes in the same game if a session were a match; each game has one.
    let event =
        sets(&["--crash-at", "2", "--in-game", "r1.m1.g3"]).set("event", "restart", "\"game\"");
    let found: Vec<String> = verdicts(&event)
        .into_iter()
        .map(|(_, verdict)| verdict)
        .collect();
    assert_eq!(found, ["rule", "rule", "crash", "rule", "rule"]);
    // With one session a match the second turn lies in the first set: the crash does not happen.
    let event = sets(&["--crash-at", "2", "--in-game", "r1.m1.g3"]);
    let found: Vec<String> = verdicts(&event)
        .into_iter()
        .map(|(_, verdict)| verdict)
        .collect();
    assert_eq!(found, ["rule", "rule", "rule", "rule", "rule"]);
}

/// A bot's row of the standings.
#[track_caller]
fn row<'a>(standings: &'a Value, bot: &str) -> &'a Value {
    standings
        .as_array()
        .and_then(|rows| rows.iter().find(|row| row["name"] == bot))
        .unwrap_or_else(|| panic!("no row of {bot} in {standings}"))
}

#[test]
fn a_tavla_match_survives_a_crash_and_knows_the_cube() {
    let lab = Lab::new();
    let file = Event::new("tavla")
        .set("rules", "match_length", "7")
        .mock(
            "mock",
            &[
                "--answer-take",
                "take",
                "--crash-at",
                "5",
                "--in-game",
                "r1.m1.g1",
            ],
        )
        .mock(
            "doubler",
            &["--pick", "hash:4", "--double", "--answer-take", "take"],
        )
        .write(&lab, "event.toml");
    lab.run(&file);
    lab.assert_no_process_is_left();
    lab.verify_records("event");
    let games = lab.games("event");
    assert_eq!(text(&games[0], "id"), "r1.m1.g1");
    assert_eq!(text(&games[0], "verdict"), "crash", "{}", games[0]);
    assert_eq!(games[0]["against"], "mock");
    // A forfeit pays at most three times a cube of 2: the match to 7 goes on.
    assert_eq!(text(&games[1], "id"), "r1.m1.g2");
    assert!(
        games.iter().any(|game| text(game, "id") == "r1.m2.g1"),
        "the other match was played: {games:?}"
    );
    for game in &games[1..] {
        assert!(
            matches!(text(game, "verdict"), "rule" | "resigned"),
            "{game}"
        );
    }
}

#[test]
fn a_resignation_in_tavla_is_offered_and_answered() {
    let lab = Lab::new();
    // An honest bot answers `resign` by the first of legal, which is accept or refuse; both end in a finished game.
    let file = Event::new("tavla")
        .mock("mock", &["--resign-at", "3"])
        .mock("honest", &["--pick", "hash:9"])
        .write(&lab, "event.toml");
    lab.run(&file);
    for game in lab.games("event") {
        assert!(
            matches!(text(&game, "verdict"), "rule" | "resigned"),
            "{game}"
        );
        assert_eq!(game["against"], Value::Null, "{game}");
    }
    lab.verify_records("event");
}
