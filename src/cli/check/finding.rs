//! What a check found, and how it is written.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;

use crate::report::{Cell, Column, Format, Look, Report, Table, escape};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// All is well.
    Pass,
    /// Good to know; nothing is wrong.
    Note,
    /// Allowed, or harmless today; better mended.
    Warn,
    /// This loses games, or harms others.
    Fail,
}

impl Grade {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Grade::Pass => "pass",
            Grade::Note => "note",
            Grade::Warn => "warn",
            Grade::Fail => "fail",
        }
    }
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The bot's name.
    pub bot: String,
    /// What was checked, in a word that stays the same.
    pub check: &'static str,
    /// How it ended.
    pub result: Grade,
    /// What was seen.
    pub what: String,
    /// What mends it; empty where nothing has to be.
    pub cure: String,
}

/// The findings of one bot.
#[derive(Debug)]
pub struct Findings {
    bot: String,
    /// Whether the bot's program is missing, so that nothing could be checked.
    pub is_missing: bool,
    /// In the order in which they were found.
    pub list: Vec<Finding>,
}

impl Findings {
    /// None yet.
    pub fn new(bot: &str) -> Findings {
        Findings {
            bot: bot.to_owned(),
            is_missing: false,
            list: Vec::new(),
        }
    }

    /// Adds one.
    pub fn add(
        &mut self,
        check: &'static str,
        result: Grade,
        what: impl Into<String>,
        cure: impl Into<String>,
    ) {
        let finding = Finding {
            bot: self.bot.clone(),
            check,
            result,
            what: what.into(),
            cure: cure.into(),
        };
        // Several scenes may come upon the same fault.
        let known = |known: &&Finding| known.check == check && known.result == result;
        if result == Grade::Pass || !self.list.iter().any(|one| known(&one)) {
            self.list.push(finding);
        }
    }

    /// Whether this was found to be a fault.
    pub fn has_failed(&self, check: &str) -> bool {
        self.list
            .iter()
            .any(|found| found.check == check && found.result == Grade::Fail)
    }

    /// How many ended so.
    pub fn count(&self, result: Grade) -> usize {
        self.list
            .iter()
            .filter(|found| found.result == result)
            .count()
    }
}

/// Writes the findings of all bots.
///
/// # Errors
/// What `out` reports.
pub fn write(all: &[Findings], look: Look, out: &mut dyn Write) -> io::Result<()> {
    if look.format == Format::Table {
        for findings in all {
            out.write_all(text(findings, look).as_bytes())?;
        }
        return Ok(());
    }
    let list = || all.iter().flat_map(|findings| &findings.list);
    let columns = ["bot", "check", "result", "what", "cure"];
    let row = |found: &Finding| {
        vec![
            Cell::Text(found.bot.clone()),
            Cell::Plain(found.check.to_owned()),
            Cell::Plain(found.result.as_str().to_owned()),
            Cell::Text(found.what.clone()),
            Cell::Text(found.cure.clone()),
        ]
    };
    let report = Report {
        rows: list().cloned().collect(),
        table: Table::new(
            columns.map(|name| Column::new(name, name)).into(),
            list().map(row).collect(),
        ),
        notes: Vec::new(),
    };
    report.write(look, out)
}

/// For people: a line for each check, the cure below.
fn text(findings: &Findings, look: Look) -> String {
    let mut page = String::new();
    let paint = |grade: Grade| {
        let word = match grade {
            Grade::Fail => "FAIL",
            other => other.as_str(),
        };
        let code = match grade {
            Grade::Pass => "32",
            Grade::Note => "2",
            Grade::Warn => "33",
            Grade::Fail => "31;1",
        };
        match look.color {
            true => format!("\u{1b}[{code}m{word}\u{1b}[0m"),
            false => word.to_owned(),
        }
    };
    let wide = findings
        .list
        .iter()
        .map(|found| found.check.len())
        .max()
        .unwrap_or(0);
    for found in &findings.list {
        let what = indented(&found.what, wide + 10);
        let _ = writeln!(
            page,
            "  {}  {:<wide$}  {what}",
            paint(found.result),
            found.check
        );
        if !found.cure.is_empty() {
            let cure = indented(&found.cure, wide + 16);
            let _ = writeln!(page, "  {:>wide$}        cure: {cure}", "");
        }
    }
    let (warnings, failures) = (findings.count(Grade::Warn), findings.count(Grade::Fail));
    let verdict = match (failures, warnings) {
        (0, 0) => "nothing is wrong with it".to_owned(),
        (0, n) => format!("fit to play, with {}", many(n, "warning")),
        (n, 0) => format!("not fit to play: {}", many(n, "fault")),
        (n, w) => format!(
            "not fit to play: {}, {}",
            many(n, "fault"),
            many(w, "warning")
        ),
    };
    let _ = writeln!(page, "{}: {verdict}\n", escape(&findings.bot));
    page
}

/// `1 fault`, `2 faults`.
pub fn many(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// Text of several lines, each but the first indented; nothing in it steers a terminal.
fn indented(text: &str, by: usize) -> String {
    let lines: Vec<String> = text.lines().map(|line| escape(line).into_owned()).collect();
    lines.join(&format!("\n{:by$}", ""))
}
