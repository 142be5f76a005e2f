//! The rules of games that were played, where they are a program of the organiser's: what `verify`, `show` and `replay` need
//! besides the records.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::exit::Refused;
use crate::config::{self, OwnGame};
use crate::game::Kind;
use crate::store::{self, Store};

/// `--game` of commands that look at what was played.
#[derive(Clone, Debug, clap::Args)]
pub struct GameArgs {
    /// The rules of a game that is not built in: a command line in quotes, or a folder with a game.toml [default: the
    /// program that the games were played with]
    #[arg(id = "own_game", long = "game", value_name = "GAME")]
    pub game: Option<String>,
}

/// The games that are not built in, by the folder of results that they were played in; each is started when it is needed.
#[derive(Debug)]
pub struct OwnGames {
    named: Option<OwnGame>,
    folders: BTreeMap<PathBuf, Option<OwnGame>>,
}

impl OwnGames {
    /// # Errors
    /// [`Refused`] for a game that is named and there is none of.
    pub fn new(args: &GameArgs) -> anyhow::Result<OwnGames> {
        let named = match &args.game {
            None => None,
            Some(text) => {
                let folder = std::env::current_dir()?;
                let chosen = config::choose_game(text, &folder)
                    .map_err(|error| Refused(error.render(false)))?;
                chosen.own()
            }
        };
        Ok(OwnGames {
            named,
            folders: BTreeMap::new(),
        })
    }

    /// The game of what was played in this folder of results; `None` where it is built in, or nothing is known of it.
    ///
    /// # Errors
    /// [`Refused`] if the program cannot be started, or should not be.
    pub fn of_folder(&mut self, dir: &Path) -> anyhow::Result<Option<&dyn Kind>> {
        if self.named.is_none() && !self.folders.contains_key(dir) {
            let own = noted(&Store::open_read_only(dir)?)?;
            self.folders.insert(dir.to_owned(), own);
        }
        let own = self.named.as_ref();
        let own = own.or_else(|| self.folders.get(dir).and_then(Option::as_ref));
        Ok(own.map(|own| own.kind() as &dyn Kind))
    }

    /// The same for a record, by the folder that it lies in.
    ///
    /// # Errors
    /// As [`OwnGames::of_folder`].
    pub fn of_record(&mut self, record: &Path) -> anyhow::Result<Option<&dyn Kind>> {
        match folder_of(record) {
            Some(folder) => self.of_folder(&folder),
            None => Ok(self.named.as_ref().map(|own| own.kind() as &dyn Kind)),
        }
    }

    /// The whole of it, for an event that is made anew.
    pub fn take_for_record(&self, record: &Path) -> Option<OwnGame> {
        let folder = folder_of(record);
        let known = folder.and_then(|folder| self.folders.get(&folder).cloned().flatten());
        self.named.clone().or(known)
    }
}

/// The folder of results that a record lies in.
fn folder_of(record: &Path) -> Option<PathBuf> {
    let folder = record.parent().and_then(Path::parent)?;
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    folder
        .join(store::RESULTS)
        .exists()
        .then(|| folder.to_owned())
}

/// The program that these results were played with.
fn noted(store: &Store) -> anyhow::Result<Option<OwnGame>> {
    let Some(noted) = store.game_program()? else {
        return Ok(None);
    };
    let dir = super::shown(&store.dir().to_string_lossy());
    if !noted.at_home {
        // Whoever made the folder could have written anything into it.
        return Err(Refused(format!(
            "the game of {dir} has a program for its rules, and the folder was not made where it is now: no program that it \
             names is started; name yours with --game"
        ))
        .into());
    }
    let own = OwnGame::at(&noted.place)
        .map_err(|what| Refused(format!("{dir}: {what}; --game names another")))?;
    let contents = |files: &config::BotFiles| {
        let mut contents: Vec<String> = files.0.values().cloned().collect();
        contents.sort();
        contents
    };
    if contents(&own.files) != contents(&store.meta()?.game_files) {
        super::say(format_args!(
            "the files of the rules are not those that {dir} was played with"
        ));
    }
    Ok(Some(own))
}
