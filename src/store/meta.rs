//! What the results are of.

use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::{Store, StoreError};
use crate::config::{BotFiles, EventConfig};
use crate::tournament::ladder::List;

/// What the results are of. It is stored when the folder is made and does not change, but for the name and bots that the organiser adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    /// The event's name, for people.
    pub name: String,
    /// The event as [`crate::config::EventConfig::fingerprint`] describes it.
    pub event: Value,
    /// The bots, by slot.
    pub bots: Vec<BotMeta>,
    /// The game.
    pub game: String,
    /// The content of the files of the game's rules when the folder was made; empty where the game is built in.
    pub game_files: BotFiles,
    /// Every option of the game with its value.
    pub rules: Value,
    /// The seed of all chance: the event's, or the one that was drawn.
    pub seed: String,
    /// The version of this program that made the folder.
    pub hakem: String,
    /// When it was made, RFC 3339.
    pub created: String,
}

impl Meta {
    /// The description of an event that begins: `files` are those of its bots, by slot ([`crate::config::bot_files`]), `created` is the
    /// time now.
    pub fn new(config: &EventConfig, files: Vec<BotFiles>, seed: String, created: String) -> Meta {
        let event = config.fingerprint();
        let bots = config.bots.iter().zip(files);
        Meta {
            name: config.name.clone(),
            bots: bots
                .map(|(bot, files)| BotMeta {
                    name: bot.name.clone(),
                    files,
                })
                .collect(),
            game: config.game.clone(),
            game_files: config
                .own_game
                .as_ref()
                .map_or_else(BotFiles::default, |own| own.files.clone()),
            rules: event["rules"].clone(),
            event,
            seed,
            hakem: env!("CARGO_PKG_VERSION").to_owned(),
            created,
        }
    }

    /// What is different in an event that is to go on in these results, one sentence a change: settings of the event, bots, the content of
    /// their files. Empty where it is the same event.
    pub fn changes(&self, config: &EventConfig, files: &[BotFiles]) -> Vec<String> {
        let mut changes = crate::config::changes(&self.event, &config.fingerprint());
        for (bot, files) in config.bots.iter().zip(files) {
            // A bot that was added or removed is a change of the event.
            if let Some(was) = self.bots.iter().find(|was| was.name == bot.name) {
                changes.extend(was.files.changes(files, bot));
            }
        }
        // Another game is a change of the event.
        if let Some(own) = config
            .own_game
            .as_ref()
            .filter(|own| own.name() == self.game)
        {
            let whose = format!("game `{}`", self.game);
            changes.extend(self.game_files.changes_of(
                &own.files,
                &whose,
                own.argv.first().map(String::as_str),
            ));
        }
        changes
    }
}

/// The program of the rules of a game that is not built in, as results note it.
#[derive(Clone, Debug, PartialEq)]
pub struct GameProgram {
    /// How it is started ([`crate::config::OwnGame::place`]).
    pub place: Value,
    /// Whether the results file is the one that this was noted in, neither a copy nor brought from elsewhere.
    pub at_home: bool,
}

/// A bot as the results know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotMeta {
    /// Its name in the event.
    pub name: String,
    /// The content of its files when the folder was made; empty for a built-in bot.
    pub files: BotFiles,
}

impl Store {
    /// What the results are of.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn meta(&self) -> Result<Meta, StoreError> {
        self.with_added(Meta {
            name: self.meta_text("name")?,
            event: self.meta_json("event")?,
            bots: self.bots()?,
            game: self.meta_text("game")?,
            game_files: match self.note("game_files")? {
                None => BotFiles::default(),
                Some(text) => serde_json::from_str(&text)
                    .map_err(|error| self.corrupt(format!("the files of the game: {error}")))?,
            },
            rules: self.meta_json("rules")?,
            seed: self.meta_text("seed")?,
            hakem: self.meta_text("hakem")?,
            created: self.meta_text("created")?,
        })
    }

    pub(super) fn meta_text(&self, key: &str) -> Result<String, StoreError> {
        self.connection
            .query_row("SELECT value FROM meta WHERE key = ?", [key], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|error| self.fault(error))?
            .ok_or_else(|| self.corrupt(format!("it does not tell the event's {key}")))
    }

    /// The ladder when the event began: the bots that took part from the beginning, and the ratings of all that it knew. Empty where there
    /// is none.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn ladder(&self) -> Result<List, StoreError> {
        self.list("ladder", "ladder_ratings")
    }

    /// Notes the ladder as it stands when the event begins.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn set_ladder(&mut self, ladder: &List) -> Result<(), StoreError> {
        self.set_list("ladder", "ladder_ratings", ladder)
    }

    /// How the event left its bots in the file of the ladder when it was last written; empty where it was not.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn ladder_left(&self) -> Result<List, StoreError> {
        self.list("ladder_left", "ladder_left_ratings")
    }

    /// Notes how the event left its bots in the file of the ladder.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn set_ladder_left(&mut self, ladder: &List) -> Result<(), StoreError> {
        self.set_list("ladder_left", "ladder_left_ratings", ladder)
    }

    fn list(&self, order: &str, ratings: &str) -> Result<List, StoreError> {
        let corrupt = |error| self.corrupt(format!("the ladder cannot be read: {error}"));
        let mut list = List::default();
        if let Some(text) = self.note(order)? {
            list.order = serde_json::from_str(&text).map_err(corrupt)?;
        }
        if let Some(text) = self.note(ratings)? {
            list.ratings = serde_json::from_str(&text).map_err(corrupt)?;
        }
        Ok(list)
    }

    fn set_list(&mut self, order: &str, ratings: &str, list: &List) -> Result<(), StoreError> {
        // The order last: where it stands, all stands.
        let text = serde_json::to_string(&list.ratings).unwrap_or_default();
        self.set_note(ratings, &text)?;
        let text = serde_json::to_string(&list.order).unwrap_or_default();
        self.set_note(order, &text)
    }

    /// Why the event ended before all was played, in words; empty where it did not.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn ended(&self) -> Result<String, StoreError> {
        Ok(self.note("ended")?.unwrap_or_default())
    }

    /// Notes why the event ended before all was played.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn set_ended(&mut self, why: &str) -> Result<(), StoreError> {
        self.set_note("ended", why)
    }

    /// The program of the rules, where the game is not built in.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn game_program(&self) -> Result<Option<GameProgram>, StoreError> {
        let Some(text) = self.note("game_program")? else {
            return Ok(None);
        };
        let noted: Value = serde_json::from_str(&text)
            .map_err(|error| self.corrupt(format!("the program of the game: {error}")))?;
        Ok(Some(GameProgram {
            place: noted["place"].clone(),
            at_home: !noted["home"].is_null() && noted["home"] == self.home(),
        }))
    }

    /// Notes the program of the rules, and with it where these results are.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn set_game_program(&mut self, place: &Value) -> Result<(), StoreError> {
        let noted = serde_json::json!({ "place": place, "home": self.home() });
        self.set_note("game_program", &noted.to_string())
    }

    /// What tells the results file from every copy of it: nobody who makes a file elsewhere knows what these will be here.
    fn home(&self) -> Value {
        use std::os::unix::fs::MetadataExt;
        let Ok(found) = std::fs::metadata(self.dir().join(super::RESULTS)) else {
            return Value::Null;
        };
        let made = found
            .created()
            .ok()
            .and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok());
        format!("{}-{}", found.ino(), made.map_or(0, |made| made.as_nanos())).into()
    }

    fn set_note(&mut self, key: &str, text: &str) -> Result<(), StoreError> {
        self.check_writable()?;
        self.connection
            .execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, text])
            .map_err(|error| self.fault(error))?;
        Ok(())
    }

    pub(super) fn meta_json(&self, key: &str) -> Result<Value, StoreError> {
        serde_json::from_str(&self.meta_text(key)?)
            .map_err(|error| self.corrupt(format!("the event's {key} cannot be read: {error}")))
    }

    fn bots(&self) -> Result<Vec<BotMeta>, StoreError> {
        let rows: Vec<(usize, String, String)> = self
            .read_all("SELECT slot, name, files FROM bots ORDER BY slot", |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        rows.into_iter()
            .enumerate()
            .map(|(place, (slot, name, files))| {
                if slot != place {
                    return Err(self.corrupt(format!("it has no bot of slot {place}")));
                }
                let files = serde_json::from_str(&files)
                    .map_err(|error| self.corrupt(format!("the files of a bot: {error}")))?;
                Ok(BotMeta { name, files })
            })
            .collect()
    }

    /// How the bots were confined, and on which machine: an array with one entry for each way in which a session of this
    /// event was played. Empty where that was not noted.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], or what the disk refused.
    pub fn confined(&self) -> Result<Vec<Value>, StoreError> {
        let text: Option<String> = self
            .connection
            .query_row("SELECT value FROM meta WHERE key = 'confined'", [], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|error| self.fault(error))?;
        let Some(text) = text else {
            return Ok(Vec::new());
        };
        serde_json::from_str(&text)
            .map_err(|error| self.corrupt(format!("how bots were confined: {error}")))
    }

    /// Notes how the bots are confined in the session that begins, unless an earlier one was the same.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn note_confined(&mut self, confined: &Value) -> Result<(), StoreError> {
        self.check_writable()?;
        let mut all = self.confined()?;
        if all.contains(confined) {
            return Ok(());
        }
        all.push(confined.clone());
        self.connection
            .execute(
                "INSERT OR REPLACE INTO meta VALUES ('confined', ?)",
                [Value::from(all).to_string()],
            )
            .map_err(|error| self.fault(error))?;
        Ok(())
    }

    /// Notes another name of the event.
    ///
    /// # Errors
    /// What the disk refused.
    pub fn set_name(&mut self, name: &str) -> Result<(), StoreError> {
        self.check_writable()?;
        self.connection
            .execute("UPDATE meta SET value = ? WHERE key = 'name'", [name])
            .map_err(|error| self.fault(error))?;
        Ok(())
    }
}

/// Writes the description into an empty results file.
pub(super) fn insert(connection: &mut Connection, meta: &Meta) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for (key, value) in [
        ("name", meta.name.clone()),
        ("event", meta.event.to_string()),
        ("game", meta.game.clone()),
        ("rules", meta.rules.to_string()),
        ("seed", meta.seed.clone()),
        ("hakem", meta.hakem.clone()),
        ("created", meta.created.clone()),
        // What this layout has from the beginning, no row may lack.
        ("layout", super::open::known_version().to_string()),
    ] {
        transaction.execute("INSERT INTO meta VALUES (?, ?)", [key, &value])?;
    }
    if !meta.game_files.0.is_empty() {
        let files = serde_json::to_string(&meta.game_files).unwrap_or_default();
        transaction.execute("INSERT INTO meta VALUES (?, ?)", ["game_files", &files])?;
    }
    for (slot, bot) in meta.bots.iter().enumerate() {
        let files = serde_json::to_string(&bot.files).unwrap_or_default();
        transaction.execute(
            "INSERT INTO bots VALUES (?, ?, ?)",
            (slot, &bot.name, files),
        )?;
    }
    transaction.commit()
}
