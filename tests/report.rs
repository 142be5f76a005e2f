//! `hakem report`, and the page that a run leaves.
#![cfg(feature = "runner")]

mod common;

use common::{Event, Lab};

/// Two honest bots and one that answers nonsense, with names that would be markup.
fn played(format: &str) -> Lab {
    let lab = Lab::new();
    let event = Event::new("mangala")
        .set("event", "format", &format!("\"{format}\""))
        .set("event", "name", "\"<b>Spring</b> & red\"")
        .mock("a|b", &["--pick", "hash:1"])
        .mock("<script>alert(1)</script>", &["--pick", "hash:2"])
        .bot("crashes", &["false"]);
    lab.run(&event.write(&lab, "event.toml"));
    lab
}

fn read(lab: &Lab, name: &str) -> String {
    std::fs::read_to_string(lab.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_run_leaves_a_page_that_needs_nothing_else() {
    let lab = played("round-robin");
    let page = read(&lab, "event/report.html");
    for part in [
        "Standings",
        "Cross table",
        "Encounters",
        "sandbox in force",
        "&lt;script&gt;",
    ] {
        assert!(page.contains(part), "`{part}` in {page}");
    }
    for bad in ["<script", "<b>Spring", "\u{1b}", "http:", "https:", "src="] {
        assert!(!page.contains(bad), "`{bad}` in {page}");
    }
    // Every tag that is opened is closed.
    for tag in ["table", "tr", "td", "th", "section", "div", "p", "h2"] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn reports_are_written_again_from_what_is_stored() {
    let lab = played("round-robin");
    let first = read(&lab, "event/report.html");
    std::fs::remove_file(lab.path("event/report.html")).expect("it was there");
    lab.hakem(["report", "event"]).exits(0);
    assert_eq!(read(&lab, "event/report.html"), first);
    let args = [
        "report",
        "event",
        "--html",
        "a.html",
        "--junit",
        "a.xml",
        "--markdown",
        "a.md",
        "--csv",
        "a.csv",
        "--json",
        "a.json",
    ];
    lab.hakem(args).exits(0);
    assert_eq!(read(&lab, "a.html"), first);
    let markdown = read(&lab, "a.md");
    assert!(
        markdown.contains("## Standings") && markdown.contains("a\\|b"),
        "{markdown}"
    );
    assert!(!markdown.contains("<script>"), "{markdown}");
    let csv = lab
        .hakem(["standings", "event", "--format", "csv"])
        .exits(0);
    assert_eq!(read(&lab, "a.csv"), csv.stdout);
    let json: serde_json::Value = serde_json::from_str(&read(&lab, "a.json")).expect("it is JSON");
    assert_eq!(json["standings"], lab.standings("event"));
    assert_eq!(
        (&json["game"], &json["matches"]),
        (&"mangala".into(), &6.into())
    );
    assert_eq!(json["sandbox"][0]["level"], "none");
    assert_eq!(json["sandbox"][0]["asked"], "none");
    assert_eq!(json.get("seed"), None);
    lab.hakem(["report", "missing"]).exits(2);
    lab.hakem(["report", "event", "--html", "no/such/folder/x.html"])
        .exits(2);
    let stdout = lab.hakem(["report", "event", "--csv", "-"]).exits(0);
    assert_eq!(stdout.stdout, csv.stdout);
}

#[test]
fn junit_has_a_test_case_for_each_pairing_and_fails_where_a_bot_forfeits() {
    let lab = played("round-robin");
    let xml = lab
        .hakem(["report", "event", "--junit", "-"])
        .exits(0)
        .stdout;
    assert_eq!(xml.matches("<testcase ").count(), 3, "{xml}");
    assert_eq!(xml.matches("<failure ").count(), 2, "{xml}");
    assert!(xml.contains("crashes forfeits"), "{xml}");
    assert!(xml.contains("&lt;script&gt;"), "{xml}");
    assert!(!xml.contains('\u{1b}'), "{xml}");
    assert!(xml.contains("tests=\"3\""), "{xml}");
}

#[test]
fn every_format_has_its_report() {
    for format in ["swiss", "knockout", "groups", "ladder"] {
        let lab = played(format);
        let page = read(&lab, "event/report.html");
        assert!(
            page.contains(&format!("<td>{format}</td>")),
            "{format}: {page}"
        );
    }
}

#[test]
fn a_gate_writes_junit_too() {
    let lab = Lab::new();
    let gate = |candidate, baseline, code| {
        let args = [
            "gate",
            "--game",
            "mangala",
            "--seed",
            "1",
            "--opening-plies",
            "4",
            "--candidate",
            candidate,
            "--baseline",
            baseline,
            "--junit",
            "gate.xml",
        ];
        lab.hakem(args).exits(code);
        read(&lab, "gate.xml")
    };
    let good = gate("builtin:greedy", "builtin:random", 0);
    assert!(
        good.contains("greedy against random") && !good.contains("<failure"),
        "{good}"
    );
    let bad = gate("builtin:random", "builtin:greedy", 1);
    assert!(
        bad.contains("<failure") && bad.contains("rejected"),
        "{bad}"
    );
}
