//! What bots say is shown only as text: whatever they write, and wherever it is shown, it acts on no terminal, no spreadsheet and no
//! page, and leads to no other file.
#![cfg(feature = "runner")]

mod common;

use common::{Event, Lab, text};

/// Texts that do something where they are shown as they are.
const EVIL: [&str; 8] = [
    "\u{1b}[2J\u{1b}]0;won\u{7}\u{1b}[31m",
    "\u{9b}2J\u{90}\u{9d}x",
    "abc\u{202e}fed\u{2066}x\u{200b}\u{feff}",
    "line\r\nRESULT: won\u{2028}\u{85}x",
    "=HYPERLINK(\"http://x.y\")",
    "@team <script>alert('x')</script> | `a` | [b](http://c)",
    "../../../../tmp/evil",
    "x\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}",
];

/// Asserts that there is nothing in an output that acts without being seen.
#[track_caller]
fn is_plain(ran: common::Ran) -> common::Ran {
    let ran = ran.stays_plain();
    for hidden in [
        "\u{202e}",
        "\u{2066}",
        "\u{200b}",
        "\u{feff}",
        "\u{2028}",
        "\u{85}",
        "\u{304}\u{305}",
    ] {
        assert!(
            !ran.stdout.contains(hidden) && !ran.stderr.contains(hidden),
            "{hidden:?} in {ran}"
        );
    }
    ran
}

#[test]
fn what_bots_say_is_shown_as_text_everywhere() {
    for evil in EVIL {
        let lab = Lab::new();
        let event = Event::new("mangala")
            .mock("honest", &["--name", evil, "--note", evil])
            // Its last line is no JSON and has the text in it; its words on stderr stand in the reason of its end.
            .mock(
                "liar",
                &[
                    "--name",
                    evil,
                    "--note",
                    evil,
                    "--stderr",
                    evil,
                    "--bad-json-at",
                    "3",
                ],
            )
            .mock(
                "faller",
                &["--name", evil, "--stderr", evil, "--crash-at", "3"],
            );
        let file = event.write(&lab, "event.toml");
        is_plain(lab.run(&file));
        let games = lab.games("event");
        assert_eq!(games.len(), 6);
        for format in ["table", "json", "csv", "markdown"] {
            for command in ["games", "standings"] {
                let ran = is_plain(lab.hakem([command, "event", "--format", format]).exits(0));
                if format == "csv" {
                    for line in ran.stdout.lines() {
                        for field in line.split(',') {
                            let field = field.trim_start_matches('"');
                            let number = field.parse::<f64>().is_ok();
                            assert!(number || !field.starts_with(['=', '@', '+', '-']), "{line}");
                        }
                    }
                }
                if format == "markdown" {
                    // Behind a backslash it is text.
                    let unescaped = ran.stdout.replace("\\<", "");
                    assert!(!unescaped.contains("<script"), "{ran}");
                    assert!(!ran.stdout.contains("http://"), "{ran}");
                }
            }
        }
        for game in &games {
            let shown = is_plain(lab.hakem(["show", "event", text(game, "id")]).exits(0));
            assert!(!shown.stdout.contains("\nRESULT"), "{shown}");
        }
        is_plain(lab.hakem(["verify", "event"]).exits(0));
        assert_logs_stay_in_their_folder(&lab);
    }
}

#[track_caller]
fn assert_logs_stay_in_their_folder(lab: &Lab) {
    let logs: Vec<_> = std::fs::read_dir(lab.path("event/logs"))
        .expect("logs")
        .flatten()
        .collect();
    assert!(!logs.is_empty());
    for log in logs {
        let name = log.file_name().into_string().expect("a name in ASCII");
        assert!(
            name.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)),
            "{name}"
        );
    }
}

#[test]
fn names_in_the_event_file_are_shown_as_text_too() {
    let lab = Lab::new();
    let mut event = Event::new("mangala");
    for evil in EVIL {
        event = event.mock(evil, &["--stderr", "a word"]);
    }
    let file = event.write(&lab, "event.toml");
    let ran = is_plain(lab.hakem([std::ffi::OsStr::new("run"), file.as_os_str()]));
    // Names that the event file may not have are refused; those that it may have are shown as text.
    if ran.code == Some(2) {
        return refused_one_by_one();
    }
    ran.exits(0);
    for format in ["table", "json", "csv", "markdown"] {
        for command in ["games", "standings"] {
            is_plain(lab.hakem([command, "event", "--format", format]).exits(0));
        }
    }
    assert_logs_stay_in_their_folder(&lab);
}

fn refused_one_by_one() {
    let mut taken = 0;
    for evil in EVIL {
        let lab = Lab::new();
        let file = Event::new("mangala")
            .mock(evil, &["--stderr", "a word"])
            .mock("other", &[])
            .write(&lab, "event.toml");
        let ran = is_plain(lab.hakem([std::ffi::OsStr::new("run"), file.as_os_str()]));
        if ran.code == Some(0) {
            taken += 1;
            assert_logs_stay_in_their_folder(&lab);
            is_plain(lab.hakem(["standings", "event"]).exits(0));
            is_plain(lab.hakem(["show", "event", "r1.m1.g1"]).exits(0));
        } else {
            ran.exits(2).says(&["name"]);
        }
    }
    assert!(taken > 0, "some of them are mere text");
}
