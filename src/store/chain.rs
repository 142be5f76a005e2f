//! What ties results together: the chain of rulings, and one hash over all that an event came to.

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Store, StoreError};
use crate::chance;

/// The layout that chains rulings.
pub(super) const CHAINED_SINCE: i64 = 4;
/// The hash before the first ruling.
const NONE_BEFORE: [u8; 32] = [0; 32];

/// How the chain of rulings stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// What is wrong with it, one sentence each; empty where it holds.
    pub faults: Vec<String>,
    /// Rulings that were stored by a version that chained none, before the first that is chained.
    pub before: usize,
}

/// A ruling as it is stored.
struct Link {
    number: i64,
    /// The hash that follows from it and those before.
    due: [u8; 32],
    /// The hash that is stored with it.
    stored: Option<Vec<u8>>,
}

/// The chain as it follows from what is stored, with the hashes that are stored if this layout has some.
fn links(connection: &Connection, has_hashes: bool) -> rusqlite::Result<Vec<Link>> {
    let hash = if has_hashes { "hash" } else { "NULL" };
    let sql =
        format!("SELECT number, since, at, what, reason, {hash} FROM rulings ORDER BY number");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    let mut due = NONE_BEFORE;
    while let Some(row) = rows.next()? {
        let [at, what, reason]: [String; 3] = [row.get(2)?, row.get(3)?, row.get(4)?];
        let number = row.get(0)?;
        due = next(&due, (number, row.get(1)?), [&at, &what, &reason]);
        all.push(Link {
            number,
            due,
            stored: row.get(5)?,
        });
    }
    Ok(all)
}

/// The hash of a ruling: SHA-256 of a JSON array of the hash before it in hex, its number, batch, time, content as it is stored, and
/// reason.
pub(super) fn next(
    before: &[u8; 32],
    (number, since): (i64, i64),
    [at, what, reason]: [&str; 3],
) -> [u8; 32] {
    let link = json!([chance::hex(before), number, since, at, what, reason]);
    Sha256::digest(link.to_string()).into()
}

/// The hash of the last ruling, of whatever layout it is.
pub(super) fn last(connection: &Connection) -> rusqlite::Result<[u8; 32]> {
    let last = links(connection, true)?.pop();
    Ok(last.map_or(NONE_BEFORE, |link| link.due))
}

/// Notes the hash of the last ruling beside the rulings.
pub(super) fn note_last(connection: &Connection, hash: &[u8; 32]) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT OR REPLACE INTO meta VALUES ('rulings', ?)",
        [chance::hex(hash)],
    )?;
    Ok(())
}

impl Store {
    /// The layout of the results file.
    pub(super) fn layout(&self) -> Result<i64, StoreError> {
        self.connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|error| self.fault(error))
    }

    /// The layout in which the folder was made, where that is known: what it has from the beginning every row must have.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn made_in_layout(&self) -> Result<Option<i64>, StoreError> {
        Ok(self.note("layout")?.and_then(|text| text.parse().ok()))
    }

    /// Whether the rulings are those that were made, as far as their chain tells: none was changed or taken away, nor put between.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn chain(&self) -> Result<Chain, StoreError> {
        let layout = self.layout()?;
        let mut chain = Chain::default();
        if layout < super::rulings::SINCE_LAYOUT {
            return Ok(chain);
        }
        let links =
            links(&self.connection, layout >= CHAINED_SINCE).map_err(|error| self.fault(error))?;
        let always = self
            .made_in_layout()?
            .is_some_and(|layout| layout >= CHAINED_SINCE);
        let mut any = false;
        for (place, link) in links.iter().enumerate() {
            let number = link.number;
            if usize::try_from(number).ok() != Some(place + 1) {
                chain.faults.push(format!(
                    "ruling {} is missing: rulings are numbered from 1, and the next is {number}",
                    place + 1
                ));
                return Ok(chain);
            }
            match &link.stored {
                Some(stored) if stored[..] == link.due => any = true,
                Some(_) => {
                    chain.faults.push(format!(
                        "ruling {number} is not as it was made: its hash is not that of what it and those before say"
                    ));
                    // All that follow have other hashes by that.
                    return Ok(chain);
                }
                None if any || always => {
                    chain.faults.push(format!("ruling {number} has no hash"));
                }
                None => chain.before += 1,
            }
        }
        let noted = self.note("rulings")?;
        let last = links.last().map(|link| chance::hex(&link.due));
        match noted {
            Some(noted) if Some(&noted) != last.as_ref() => chain.faults.push(format!(
                "the last ruling is not {}: a later one was taken away, or the note of the last hash was changed",
                links.len()
            )),
            None if any => chain
                .faults
                .push("the hash of the last ruling is not noted".to_owned()),
            Some(_) | None => {}
        }
        Ok(chain)
    }

    /// One hash over all that the event came to, hex: what it is of, bots, rulings, void games, the hash of each game's record, and each
    /// match. Whoever keeps it can tell later whether any of that is other. Left out is what does not decide anything: the
    /// event's name, sandboxes and machines, notes for people.
    ///
    /// It is SHA-256 of lines, each a JSON array and a line feed; the first is `["hakem-results-1"]`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn hash(&self) -> Result<String, StoreError> {
        let mut hasher = Sha256::new();
        let mut line = |value: Value| {
            hasher.update(value.to_string());
            hasher.update("\n");
        };
        line(json!(["hakem-results-1"]));
        for key in ["game", "hakem", "created"] {
            line(json!([key, self.meta_text(key)?]));
        }
        for key in ["event", "rules"] {
            line(json!([key, self.meta_json(key)?]));
        }
        for key in ["ladder", "ladder_ratings", "game_files"] {
            line(json!([key, self.note(key)?]));
        }
        // The seed may be a secret yet.
        line(json!([
            "seed",
            chance::commitment(&self.meta_text("seed")?)
        ]));
        let mut lines = |kind: &str, sql: &str| self.add_rows(kind, sql, &mut line);
        lines("bot", "SELECT slot, name, files FROM bots ORDER BY slot")?;
        lines(
            "void",
            "SELECT round, number, game, slots, why FROM voids ORDER BY id",
        )?;
        let of_match = "seats, slot0, slot1, slot2, slot3, score0, score1, score2, score3, \
                        series0, series1, series2, series3, games";
        let of_game = "round, number, game, hex(record_hash)";
        lines(
            "game",
            &format!("SELECT {of_game} FROM games ORDER BY round, number, game"),
        )?;
        lines(
            "match",
            &format!("SELECT round, number, {of_match} FROM matches ORDER BY round, number"),
        )?;
        if self.layout()? >= super::rulings::SINCE_LAYOUT {
            lines(
                "ruling",
                "SELECT number, since, at, what, reason FROM rulings ORDER BY number",
            )?;
            lines(
                "game again",
                &format!(
                    "SELECT ruling, {of_game} FROM replayed_games ORDER BY ruling, round, number, game"
                ),
            )?;
            lines(
                "match again",
                &format!(
                    "SELECT ruling, round, number, {of_match} FROM replayed_matches ORDER BY ruling, round, number"
                ),
            )?;
        }
        Ok(chance::hex(&hasher.finalize()))
    }

    /// Each row as a line: its kind, then its columns.
    fn add_rows(
        &self,
        kind: &str,
        sql: &str,
        line: &mut dyn FnMut(Value),
    ) -> Result<(), StoreError> {
        use rusqlite::types::ValueRef;
        let mut add = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let mut values = vec![Value::from(kind)];
                for column in 0..columns {
                    values.push(match row.get_ref(column)? {
                        ValueRef::Null => Value::Null,
                        ValueRef::Integer(number) => number.into(),
                        ValueRef::Real(number) => number.into(),
                        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
                        ValueRef::Blob(bytes) => chance::hex(bytes).into(),
                    });
                }
                line(values.into());
            }
            Ok(())
        };
        add().map_err(|error| self.fault(error))
    }

    /// A value of `meta` that need not be there.
    pub(super) fn note(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.connection
            .query_row("SELECT value FROM meta WHERE key = ?", [key], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|error| self.fault(error))
    }
}
