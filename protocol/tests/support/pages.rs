//! Reads the written pages: the specification and a page a game.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Every game of the contract; a page and two schemas each.
pub(crate) const GAMES: [&str; 6] = ["mangala", "oware", "reversi", "dokuztas", "tavla", "qbitz"];

/// Who writes a line of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// The referee, or who asks the rules tool.
    Referee,
    /// A bot, or the rules tool.
    Bot,
    /// Nobody: a row of results.
    Row,
}

/// A line of an example.
#[derive(Debug)]
pub(crate) struct Example {
    /// Page and line number.
    pub(crate) place: String,
    /// Who writes it.
    pub(crate) writer: Writer,
    /// What.
    pub(crate) line: Value,
}

/// The text of a file of the crate.
pub(crate) fn text(name: &str) -> String {
    // The crate itself, or the package above it that has the rules.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let inside = here.join(name);
    let path = if inside.is_file() {
        inside
    } else {
        here.join("protocol").join(name)
    };
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All pages: their names and texts.
pub(crate) fn all() -> Vec<(String, String)> {
    let mut names = vec!["SPEC.md".to_owned()];
    names.extend(GAMES.map(|game| format!("games/{game}.md")));
    names
        .into_iter()
        .map(|name| (name.clone(), text(&name)))
        .collect()
}

/// The examples of a page. Its code blocks are indented; a line of an example is whole, never abbreviated.
pub(crate) fn examples(name: &str, page: &str) -> Vec<Example> {
    let mut found = Vec::new();
    for (index, line) in page.lines().enumerate() {
        let Some(code) = line.strip_prefix("    ") else {
            continue;
        };
        let (writer, json) = match code.split_at_checked(2) {
            Some(("> ", json)) => (Writer::Referee, json),
            Some(("< ", json)) => (Writer::Bot, json),
            _ if code.starts_with('{') => (Writer::Row, code),
            _ => continue,
        };
        let place = format!("{name}:{}", index + 1);
        let line = serde_json::from_str(json).unwrap_or_else(|error| panic!("{place}: {error}"));
        found.push(Example {
            place,
            writer,
            line,
        });
    }
    found
}

/// The clauses that a text cites as `[S 4.3]`.
pub(crate) fn cited(text: &str) -> Vec<String> {
    text.split("[S ")
        .skip(1)
        .filter_map(|rest| rest.split_once(']'))
        .map(|(clause, _)| clause.to_owned())
        .collect()
}

/// The numbers of the clauses of the specification, in the order of the page.
pub(crate) fn clauses(spec: &str) -> Vec<(u32, u32)> {
    spec.lines()
        .filter_map(|line| line.strip_prefix("**")?.split_once("**"))
        .filter_map(|(number, _)| {
            let (section, clause) = number.split_once('.')?;
            Some((section.parse().ok()?, clause.parse().ok()?))
        })
        .collect()
}
