//! Rulings of the organiser, and what was played again under them. They are only ever appended.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};

use super::meta::{BotMeta, Meta};
use super::rows::StoredRow;
use super::{Store, StoreError, chain, rows};
use crate::event::{GameId, GameResult, MatchId, MatchResult};
use crate::tournament::rulings::{Desk, Ruling, What};

/// The ruling under which each match that is played again is played.
pub type Replays = BTreeMap<MatchId, u32>;

/// The layout that knows rulings.
pub(super) const SINCE_LAYOUT: i64 = 3;

impl Store {
    /// The rulings, in order.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn desk(&self) -> Result<Desk, StoreError> {
        // A reader brings nothing up to date.
        if self.layout()? < SINCE_LAYOUT {
            return Ok(Desk::default());
        }
        type Columns = (u32, i64, String, String, String);
        let all: Vec<Columns> = self.read_all(
            "SELECT number, since, at, what, reason FROM rulings ORDER BY number",
            |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                ))
            },
        )?;
        let ruling = |(number, since, at, what, reason): Columns| {
            let bad = |why: String| self.corrupt(format!("ruling {number} cannot be read: {why}"));
            let what: What = serde_json::from_str(&what).map_err(|error| bad(error.to_string()))?;
            let slots = match what {
                What::Disqualify { slot, .. } | What::Withdraw { slot } => slot + 1,
                What::Add { first, count, .. } => first.saturating_add(count),
                _ => 0,
            };
            if slots > self.bots {
                return Err(bad("it names a bot that is not there".into()));
            }
            Ok(Ruling {
                number,
                since: usize::try_from(since).map_err(|_| bad("its batch is negative".into()))?,
                at,
                what,
                reason,
            })
        };
        all.into_iter()
            .map(ruling)
            .collect::<Result<_, _>>()
            .map(Desk::new)
    }

    /// Appends a ruling; `bots` are those that it adds. When it returns, it survives a power cut.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn rule(&mut self, ruling: &Ruling, bots: &[BotMeta]) -> Result<(), StoreError> {
        self.check_writable()?;
        let results = self.dir.join(super::RESULTS);
        let fault = |error| StoreError::sql(&results, error);
        let transaction = self.connection.transaction().map_err(fault)?;
        let what = serde_json::to_string(&ruling.what).unwrap_or_default();
        let since = i64::try_from(ruling.since).unwrap_or(i64::MAX);
        let before = chain::last(&transaction).map_err(fault)?;
        let hash = chain::next(
            &before,
            (ruling.number.into(), since),
            [&ruling.at, &what, &ruling.reason],
        );
        transaction
            .execute(
                "INSERT INTO rulings VALUES (?, ?, ?, ?, ?, ?)",
                params![ruling.number, since, ruling.at, what, ruling.reason, hash],
            )
            .map_err(fault)?;
        chain::note_last(&transaction, &hash).map_err(fault)?;
        for (place, bot) in bots.iter().enumerate() {
            let files = serde_json::to_string(&bot.files).unwrap_or_default();
            transaction
                .execute(
                    "INSERT INTO bots VALUES (?, ?, ?)",
                    (self.bots + place, &bot.name, files),
                )
                .map_err(fault)?;
        }
        transaction.commit().map_err(fault)?;
        self.take_in()
    }

    /// Takes note of the bots and of the matches that are played again.
    pub(super) fn take_in(&mut self) -> Result<(), StoreError> {
        self.bots = self.read_one("SELECT count(*) FROM bots")?;
        self.replays = self.desk()?.replays();
        Ok(())
    }

    /// The matches that are played again, each with its ruling.
    pub fn replays(&self) -> &Replays {
        &self.replays
    }

    /// The event with the bots that were added.
    pub(super) fn with_added(&self, mut meta: Meta) -> Result<Meta, StoreError> {
        for ruling in self.desk()?.rulings() {
            if let What::Add { event, .. } = &ruling.what {
                meta.event = event.clone();
            }
        }
        Ok(meta)
    }

    /// A game as it was played at first, or under a ruling.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn game_under(
        &self,
        id: GameId,
        ruling: Option<u32>,
    ) -> Result<Option<GameResult>, StoreError> {
        let GameId { of, game } = id;
        let found = match ruling {
            None => {
                let key = (of.round, of.number, game);
                self.connection
                    .query_row(rows::SELECT_GAME, key, rows::game)
            }
            Some(ruling) => {
                let key = (ruling, of.round, of.number, game);
                let sql = format!(
                    "SELECT {} FROM replayed_games WHERE ruling = ? AND round = ? AND number = ? AND game = ?",
                    rows::GAME_COLUMNS
                );
                self.connection.query_row(&sql, key, rows::game)
            }
        };
        found.optional().map_err(|error| self.fault(error))
    }

    /// A match as it was played at first, or under a ruling.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn match_under(
        &self,
        of: MatchId,
        ruling: Option<u32>,
    ) -> Result<Option<MatchResult>, StoreError> {
        let (table, under) = match ruling {
            None => ("matches", String::new()),
            Some(ruling) => ("replayed_matches", format!("ruling = {ruling} AND ")),
        };
        let sql = format!(
            "SELECT {} FROM {table} WHERE {under}round = ? AND number = ?",
            rows::MATCH_COLUMNS
        );
        self.connection
            .query_row(&sql, (of.round, of.number), rows::match_result)
            .optional()
            .map_err(|error| self.fault(error))
    }

    /// The games that were played and then set aside by a ruling that has their match played again, each with the ruling under which it was
    /// played, if it was one.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn games_aside(&self) -> Result<Vec<(GameResult, Option<u32>)>, StoreError> {
        let mut aside = Vec::new();
        let desk = self.desk()?;
        let replays = desk
            .rulings()
            .iter()
            .filter(|ruling| matches!(ruling.what, What::Replay { .. }));
        if replays.clone().next().is_none() {
            return Ok(aside);
        }
        let first: Vec<GameResult> = self.read_all(
            &format!(
                "SELECT {} FROM games WHERE {} ORDER BY round, number, game",
                rows::GAME_COLUMNS,
                rows::is_one_of(self.replays.keys())
            ),
            rows::game,
        )?;
        aside.extend(first.into_iter().map(|game| (game, None)));
        for ruling in replays {
            let What::Replay { of } = ruling.what else {
                continue;
            };
            if self.replays.get(&of) == Some(&ruling.number) {
                continue;
            }
            let games: Vec<GameResult> = self.read_all(
                &format!(
                    "SELECT {} FROM replayed_games WHERE ruling = {} ORDER BY round, number, game",
                    rows::GAME_COLUMNS,
                    ruling.number
                ),
                rows::game,
            )?;
            aside.extend(games.into_iter().map(|game| (game, Some(ruling.number))));
        }
        Ok(aside)
    }

    /// Every row of a game, also of what was set aside, in the order of the schedule. A row that cannot be read does not hide the others.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn game_rows(&self) -> Result<Vec<StoredRow<GameId, GameResult>>, StoreError> {
        let again = format!("SELECT {}, ruling FROM replayed_games", rows::GAME_COLUMNS);
        let mut all = self.read_all(rows::SELECT_GAMES, rows::any_game)?;
        if self.layout()? >= SINCE_LAYOUT {
            all.extend(self.read_all(&again, rows::any_game)?);
        }
        all.sort_by_key(|row| (row.id.of, row.under, row.id.game));
        Ok(all)
    }

    /// The same of matches.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn match_rows(&self) -> Result<Vec<StoredRow<MatchId, MatchResult>>, StoreError> {
        let again = format!(
            "SELECT {}, ruling FROM replayed_matches",
            rows::MATCH_COLUMNS
        );
        let mut all = self.read_all(rows::SELECT_MATCHES, rows::any_match)?;
        if self.layout()? >= SINCE_LAYOUT {
            all.extend(self.read_all(&again, rows::any_match)?);
        }
        all.sort_by_key(|row| (row.id, row.under));
        Ok(all)
    }
}
