//! Checks a program of rules.

use serde_json::{Map, Value};

use super::finding::{Findings, Grade};
use crate::config::OwnGame;
use crate::game::outside::probe::probe;

/// Tries the rules of a game under these options.
pub(super) fn check(own: &OwnGame, rules: &Map<String, Value>) -> Findings {
    let mut findings = Findings::new(own.name());
    for found in probe(own.kind(), rules) {
        let grade = match (found.good, found.grave) {
            (None, _) => Grade::Note,
            (Some(true), _) => Grade::Pass,
            (Some(false), false) => Grade::Warn,
            (Some(false), true) => Grade::Fail,
        };
        findings.add(found.check, grade, found.what, found.cure);
    }
    findings
}
