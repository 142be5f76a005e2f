//! `[adjudication]` and `--adjudicate`.

use super::*;
use crate::referee::adjudicate::ResignRule;

const BOTS: &str =
    "[[bot]]\nname = \"a\"\nbuiltin = \"greedy\"\n[[bot]]\nname = \"b\"\nbuiltin = \"random\"\n";

fn event(game: &str, section: &str) -> Result<EventConfig, ConfigError> {
    let text = format!("[event]\ngame = \"{game}\"\n{section}\n{BOTS}");
    parse(&text, Path::new("/events/spring.toml"), BUILTINS)
}

fn rules(section: &str) -> Option<Adjudication> {
    event("mangala", section)
        .unwrap_or_else(|error| panic!("{error}"))
        .adjudication
}

fn of_flag(game: &str, text: &str) -> Result<Option<Adjudication>, String> {
    let flags = Flags {
        game: game.into(),
        bots: vec!["builtin:greedy".into(), "builtin:random".into()],
        adjudication: Some(text.into()),
        folder: "/events".into(),
        ..Flags::default()
    };
    from_flags(&flags, BUILTINS)
        .map(|config| config.adjudication)
        .map_err(|error| error.to_string())
}

fn resign(eval: f64, moves: u32) -> Option<Adjudication> {
    Some(Adjudication {
        resign: Some(ResignRule { eval, moves }),
        max_moves: None,
    })
}

#[test]
fn nothing_ends_a_game_unless_the_event_says_so() {
    assert_eq!(rules(""), None);
    assert_eq!(rules("[adjudication]"), None);
    assert_eq!(config(FULL).adjudication, None);
}

#[test]
fn the_rules_of_a_file_and_of_a_flag() {
    let cases = [
        ("resign_eval = 3", resign(3.0, 4)),
        ("resign_eval = 0.25", resign(0.25, 4)),
        ("resign_eval = 1_000.5\nresign_moves = 2", resign(1000.5, 2)),
        (
            "max_moves = 300",
            Some(Adjudication {
                resign: None,
                max_moves: Some(300),
            }),
        ),
        (
            "max_moves = 300\nresign_eval = 2.0\nresign_moves = 1",
            Some(Adjudication {
                resign: Some(ResignRule {
                    eval: 2.0,
                    moves: 1,
                }),
                max_moves: Some(300),
            }),
        ),
    ];
    for (lines, wanted) in cases {
        assert_eq!(rules(&format!("[adjudication]\n{lines}")), wanted);
        let flag = lines.replace('\n', ", ");
        assert_eq!(of_flag("mangala", &flag), Ok(wanted), "{flag}");
    }
}

#[test]
fn what_cannot_be_is_told_with_what_would_be_right() {
    let number = "a number above 0 is right";
    let whole = "a whole number from 1 to 1000000 is right";
    for (line, what, right) in [
        ("resign_eval = 0", "is no number above 0", number),
        ("resign_eval = -1.5", "is no number above 0", number),
        ("resign_eval = inf", "is no number above 0", number),
        ("resign_eval = nan", "is no number above 0", number),
        ("resign_eval = \"3\"", "is text", number),
        ("max_moves = 0", "is 0", whole),
        ("max_moves = 1000001", "is 1000001", whole),
        ("max_moves = 2.5", "is a number with a point", whole),
        (
            "resign_eval = 1\nresign_moves = 0",
            "`resign_moves` in [adjudication] is 0",
            whole,
        ),
        (
            "resign_moves = 3",
            "`resign_moves` in [adjudication] means nothing without `resign_eval`",
            "name `resign_eval`",
        ),
        (
            "max_move = 3",
            "`max_move` is no key of [adjudication]",
            "did you mean `max_moves`?",
        ),
        (
            "main = \"60s\"",
            "`main` is no key of [adjudication]",
            "it belongs in [clock]",
        ),
    ] {
        let error = event("mangala", &format!("[adjudication]\n{line}"))
            .expect_err(line)
            .to_string();
        for words in [what, right, "spring.toml:4"] {
            let at = words != "spring.toml:4" || !line.contains('\n');
            assert!(error.contains(words) || !at, "{line}: {error}");
        }
    }
    for (flag, what) in [
        ("", "`` is no rule that ends games"),
        ("resign_eval", "`resign_eval` is no rule that ends games"),
        (
            "resign_eval=3,resign_eval=4",
            "`resign_eval` is given twice",
        ),
        ("resign_eval=x", "`resign_eval` is text"),
        ("resign_eval=", "`resign_eval` is text"),
        ("max_moves=-1", "`max_moves` is -1"),
        ("resign_moves=2", "`resign_moves` means nothing without"),
        ("max_plys=3", "`max_plys` is no rule that ends games"),
    ] {
        let error = of_flag("mangala", flag).expect_err(flag);
        assert!(error.contains(what), "{flag}: {error}");
    }
}

#[test]
fn a_race_cannot_be_adjudicated() {
    let what = "for games in which the seats move in turn, and Q-Bitz is a race";
    for section in ["[adjudication]", "[adjudication]\nmax_moves = 5"] {
        let error = event("qbitz", section).expect_err("a race").to_string();
        assert!(
            error.contains(&format!("[adjudication] is {what}")),
            "{error}"
        );
        assert!(error.contains("leave it out"), "{error}");
    }
    let error = of_flag("qbitz", "max_moves=5").expect_err("a race");
    assert!(
        error.contains(&format!("--adjudicate is {what}")),
        "{error}"
    );
}

#[test]
fn another_rule_is_another_event() {
    let of = |section: &str| {
        let config = event("mangala", section).unwrap_or_else(|error| panic!("{error}"));
        config.fingerprint()
    };
    let without = of("");
    assert_eq!(
        changes(
            &without,
            &of("[adjudication]\nresign_moves = 4\nresign_eval = 3")
        ),
        [
            "[adjudication].resign_eval was absent, is 3.0",
            "[adjudication].resign_moves was absent, is 4",
        ]
    );
    assert_eq!(without, of("[adjudication]"));
    let three = of("[adjudication]\nresign_eval = 3.0");
    assert_eq!(
        changes(
            &three,
            &of("[adjudication]\nresign_eval = 2.5\nmax_moves = 9")
        ),
        [
            "[adjudication].max_moves was absent, is 9",
            "[adjudication].resign_eval was 3.0, is 2.5",
        ]
    );
    assert_eq!(
        changes(&three, &without),
        [
            "[adjudication].resign_eval was 3.0, is absent",
            "[adjudication].resign_moves was 4, is absent",
        ]
    );
    assert_eq!(
        three,
        of("[adjudication]\nresign_eval = 3\nresign_moves = 4")
    );
}
