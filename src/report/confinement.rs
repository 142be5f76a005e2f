//! What confined the bots: the sandbox that was in force, as results note it.

use serde::Serialize;
use serde_json::Value;

use super::model::EventResults;
use super::{Cell, Column, Report, Table};

/// What confined some bots of an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SandboxRow {
    /// The names of the bots that were confined so.
    pub bots: Vec<String>,
    /// The level in force: `none`, `limits` or `strict`.
    pub level: String,
    /// What the event asked for: one of these, or `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Under `auto`, why it is less than `strict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// All that records say of it: each wall, and each limit with what held it.
    pub in_force: Value,
}

/// The sandbox in force, a row for each way in which bots were confined; none where that was not noted.
pub fn report(results: &EventResults) -> Report<SandboxRow> {
    let rows = rows(results);
    let columns = vec![
        Column::new("bots", "bots"),
        Column::new("level", "level"),
        Column::new("asked", "asked for"),
        Column::new("missing", "missing"),
        Column::new("walls", "walls"),
        Column::new("memory", "memory held by"),
        Column::new("processes", "processes held by"),
        Column::new("disk", "disk held by"),
        Column::new("time", "time counted by"),
    ];
    let cells = rows.iter().map(|row| cells(results, row)).collect();
    let mut notes = Vec::new();
    if rows.iter().any(|row| row.level == "none") {
        notes.push(
            "At the level none a bot is held by pipes, deadlines and output caps only; bots of this program need no more."
                .to_owned(),
        );
    }
    Report {
        table: Table::new(columns, cells),
        rows,
        notes,
    }
}

/// The levels in force, for one line. Bots of this program need none, so theirs is told only where there are no others.
pub fn levels(results: &EventResults) -> Option<String> {
    let rows = rows(results);
    let bots = results.event["bots"].as_array();
    let is_own = |name: &String| {
        let mut bots = bots.into_iter().flatten();
        bots.any(|bot| bot["name"] == **name && !bot["builtin"].is_null())
    };
    let strangers = |row: &&SandboxRow| !row.bots.iter().all(is_own);
    let others = rows.iter().any(|row| strangers(&row));
    let mut words: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| !others || strangers(row)) {
        let word = match &row.missing {
            Some(_) => format!("{} (more was not possible)", row.level),
            None => row.level.clone(),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    (!words.is_empty()).then(|| words.join(", "))
}

fn rows(results: &EventResults) -> Vec<SandboxRow> {
    let mut rows: Vec<SandboxRow> = Vec::new();
    let sessions = results.confined.iter();
    for bot in sessions.flat_map(|session| session["bots"].as_array().into_iter().flatten()) {
        let (Some(name), sandbox) = (bot["name"].as_str(), &bot["sandbox"]) else {
            continue;
        };
        match rows.iter_mut().find(|row| row.in_force == *sandbox) {
            Some(row) if row.bots.iter().any(|known| known == name) => {}
            Some(row) => row.bots.push(name.to_owned()),
            None => rows.push(row(name, sandbox)),
        }
    }
    rows
}

fn row(bot: &str, sandbox: &Value) -> SandboxRow {
    let text = |key: &str| sandbox[key].as_str().map(str::to_owned);
    SandboxRow {
        bots: vec![bot.to_owned()],
        level: text("level").unwrap_or_default(),
        asked: text("asked"),
        missing: text("missing"),
        in_force: sandbox.clone(),
    }
}

fn cells(results: &EventResults, row: &SandboxRow) -> Vec<Cell> {
    let text = |text: Option<String>| text.map_or(Cell::Empty, Cell::Text);
    let by = |key: &str| text(row.in_force[key]["by"].as_str().map(str::to_owned));
    let all = results.names.len() > 1 && row.bots.len() == results.names.len();
    vec![
        Cell::Text(if all {
            "all".to_owned()
        } else {
            row.bots.join(", ")
        }),
        Cell::Text(row.level.clone()),
        text(row.asked.clone()),
        text(row.missing.clone()),
        text(walls(&row.in_force)),
        by("memory"),
        by("processes"),
        by("disk"),
        by("time"),
    ]
}

/// The walls that stood, in words.
fn walls(sandbox: &Value) -> Option<String> {
    let mut walls = Vec::new();
    let namespaces = sandbox["namespaces"].as_array().into_iter().flatten();
    let names: Vec<&str> = namespaces.filter_map(Value::as_str).collect();
    if !names.is_empty() {
        walls.push(format!("namespaces {}", names.join(" ")));
    }
    if sandbox["network"] == "none" {
        walls.push("no network".to_owned());
    }
    if sandbox["seccomp"] == true {
        walls.push("seccomp".to_owned());
    }
    if let Some(landlock) = sandbox["landlock"].as_str().filter(|word| *word != "none") {
        walls.push(format!("landlock {landlock}"));
    }
    if sandbox["own_user"] == true {
        walls.push("own user".to_owned());
    }
    if sandbox["frozen"] == true {
        walls.push("frozen outside its turns".to_owned());
    }
    (!walls.is_empty()).then(|| walls.join(", "))
}
