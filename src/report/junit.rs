//! The report as JUnit XML, which hosted CI shows: a test case for each pairing, or for a gate.
//!
//! A pairing fails where one of its bots forfeited a game, which is a fault of a program and not a loss; it is an error where a game
//! was void. A lost match is no failure.

use hakem_protocol::results::{GateDecision, GateResult};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::encounters::{self, Pair};
use super::model::EventResults;
use super::{escape, gate, rulings};

/// The report of an event.
///
/// # Errors
/// The XML cannot be written: a bug.
pub fn event(results: &EventResults) -> anyhow::Result<String> {
    let pairs = encounters::pairs(results);
    let mut suite = TestSuite::new(shown(&results.name));
    for pair in &pairs {
        suite.add_test_case(case(results, pair));
    }
    let unfolded = results.unfolded();
    let left = results.left();
    if !unfolded.is_over() && left > 0 {
        let mut status = TestCaseStatus::skipped();
        status.set_message(format!("{left} matches are not played"));
        suite.add_test_case(TestCase::new("all matches are played", status));
    }
    if !results.desk.is_empty() {
        let mut case = TestCase::new("rulings of the organiser", TestCaseStatus::success());
        case.set_classname(shown(&results.name));
        let lines: Vec<String> = rulings::report(results)
            .rows
            .iter()
            .map(|row| {
                let about = row.about.join(", ");
                let undone = match (row.undone_by, row.overridden_by) {
                    (Some(by), _) => format!(" [undone by ruling {by}]"),
                    (None, Some(by)) => format!(" [ruling {by} decides]"),
                    (None, None) => String::new(),
                };
                format!(
                    "ruling {}, {} {about}: {} ({}){undone}",
                    row.number, row.ruling, row.effect, row.reason
                )
            })
            .collect();
        let lines: Vec<String> = lines.iter().map(|line| shown(line)).collect();
        case.set_system_out(lines.join("\n"));
        suite.add_test_case(case);
    }
    written(&results.name, suite)
}

/// The report of a gate.
///
/// # Errors
/// The XML cannot be written: a bug.
pub fn of_gate(result: &GateResult) -> anyhow::Result<String> {
    let status = match result.decision {
        GateDecision::Accepted | GateDecision::Measured => TestCaseStatus::success(),
        GateDecision::Rejected => failed(NonSuccessKind::Failure, "rejected", &result.why),
        GateDecision::NoDecision => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(shown(&result.why));
            status
        }
    };
    let name = format!("{} against {}", result.candidate, result.baseline);
    let mut case = TestCase::new(shown(&name), status);
    case.set_classname("gate");
    let lines: Vec<String> = gate::lines(result)
        .iter()
        .map(|(figure, value)| shown(&format!("{figure}: {value}")))
        .collect();
    case.set_system_out(lines.join("\n"));
    let mut suite = TestSuite::new("gate");
    suite.add_test_case(case);
    written("gate", suite)
}

fn case(results: &EventResults, pair: &Pair) -> TestCase {
    let [a, b] = pair.slots.map(|slot| results.names[slot].as_str());
    let (forfeits, first) = &pair.forfeits;
    let status = if let Some(void) = encounters::is_void(results, pair.slots) {
        failed(NonSuccessKind::Error, "void", &void)
    } else if let Some(first) = first {
        let words = match forfeits {
            1 => first.clone(),
            many => format!("{first} (and {} more)", many - 1),
        };
        failed(NonSuccessKind::Failure, "forfeit", &words)
    } else {
        TestCaseStatus::success()
    };
    let mut case = TestCase::new(shown(&format!("{a} against {b}")), status);
    case.set_classname(shown(&results.name));
    let met = pair.encounter;
    let adjudicated = match pair.adjudicated {
        0 => String::new(),
        1 => ", 1 game adjudicated".to_owned(),
        games => format!(", {games} games adjudicated"),
    };
    case.set_system_out(shown(&format!(
        "{a} {} : {} {b} in {} matches (+{} ={} -{}){adjudicated}",
        met.points(),
        met.turned().points(),
        met.played(),
        met.won,
        met.drawn,
        met.lost
    )));
    case
}

fn failed(kind: NonSuccessKind, of: &str, words: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(of);
    status.set_message(shown(words));
    status
}

/// Text of others without characters that act without being seen.
fn shown(text: &str) -> String {
    escape(text).into_owned()
}

fn written(name: &str, suite: TestSuite) -> anyhow::Result<String> {
    let mut report = Report::new(shown(name));
    report.add_test_suite(suite);
    Ok(report.to_string()?)
}
