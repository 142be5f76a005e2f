//! `hakem new`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Map;

use super::exit::Refused;
use super::starters::{LANGUAGES, Language};
use crate::config;
use crate::game::{self, GAMES};
use crate::house::{self, HOUSES};

/// Write a working starter bot into a new folder
///
/// Languages: python, javascript, java, c, cpp, go, rust. The bot plays every game; GAME is the one that its README and the
/// next commands name.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Example: hakem new python {} my-bot", GAMES[0].facts().name))]
pub struct Args {
    /// The programming language
    #[arg(value_name = "LANGUAGE")]
    pub language: String,
    /// The game
    #[arg(value_name = "GAME")]
    pub game: String,
    /// The folder to make
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

/// The built-in bot that the pages of the starters name as an opponent, where it plays the game.
const OPPONENT: &str = "random";

/// Writes it.
///
/// # Errors
/// An unknown language or game, a folder that holds something already; a disk that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let language = Language::find(&args.language).ok_or_else(|| {
        let names = LANGUAGES.iter().map(|language| language.name);
        let hint = config::suggestion(&args.language, names);
        Refused(format!(
            "there is no starter in {:?}; {hint}",
            super::shown(&args.language)
        ))
    })?;
    let game = game::find(&args.game).ok_or_else(|| {
        let names = GAMES.iter().map(|kind| kind.facts().name);
        let hint = config::suggestion(&args.game, names);
        Refused(format!(
            "there is no game {:?}; {hint}",
            super::shown(&args.game)
        ))
    })?;
    let dir = &args.dir;
    check_free(dir)?;
    let name = bot_name(dir);
    let game = game.facts().name;
    let opponent = opponent(game);
    for (file, text) in language.all_files() {
        let text = match file.as_str() {
            "README.md" => text.replace(GAMES[0].facts().name, game).replace(
                &format!("builtin:{OPPONENT}"),
                &format!("builtin:{opponent}"),
            ),
            "bot.toml" => text.replace(
                &format!("\"starter-{}\"", language.name),
                &serde_json::Value::from(name.as_str()).to_string(),
            ),
            _ => text,
        };
        let path = dir.join(file);
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text));
        written
            .map_err(|error| Refused(format!("{} cannot be written: {error}", path.display())))?;
    }
    let (program, hint) = language.needs;
    if config::resolve_program(program, dir).is_err() {
        super::say(format_args!(
            "{} needs `{program}`, which is not on the search path ({hint})",
            language.title
        ));
    }
    let shown = shell_words::quote(&dir.display().to_string()).into_owned();
    let page = format!(
        "{shown} holds a bot in {}: {} is the file to change. Next:\n\n    hakem check --game {game} {shown}\n    \
         hakem duel --game {game} {shown} builtin:{opponent}\n",
        language.title, language.files[0].0
    );
    super::unless_closed(io::stdout().write_all(page.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// Nothing is ever written over.
fn check_free(dir: &Path) -> Result<(), Refused> {
    let refused = |what: String| Refused(format!("{what}; name a folder that is not there yet"));
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(refused(format!(
                "{} holds something already",
                dir.display()
            ))),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(refused(format!(
            "{} cannot be used: {error}",
            dir.display()
        ))),
    }
}

/// The name of the bot: that of its folder, as far as it makes one.
fn bot_name(dir: &Path) -> String {
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let name = absolute.file_name().map(|name| name.to_string_lossy());
    let name: String = name
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .take(hakem_protocol::limits::MAX_NAME_CHARS)
        .collect();
    let name = name.trim();
    if name.is_empty() {
        "bot".to_owned()
    } else {
        name.to_owned()
    }
}

/// A built-in bot that plays the game.
fn opponent(game: &str) -> &'static str {
    let plays = |name: &&str| {
        house::find(name).is_some_and(|house| house::check(house, game, &Map::new()).is_ok())
    };
    std::iter::once(OPPONENT)
        .chain(HOUSES.iter().map(|house| house.facts().name))
        .find(|name| plays(name))
        .unwrap_or(OPPONENT)
}
