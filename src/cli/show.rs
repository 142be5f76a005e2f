//! `hakem show`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use hakem_protocol::StopWhy;

use super::exit::Refused;
use super::explain;
use super::own_game::{GameArgs, OwnGames};
use super::{shown, shown_lines, unless_closed};
use crate::event::{GameId, MatchId, Verdict};
use crate::game::{ChanceKind, Kind};
use crate::referee::play::Play;
use crate::referee::record::{AnswerEntry, ClaimEntry, Entry, Header};
use crate::referee::replay;
use crate::report::model::taken_out_in_words;
use crate::store::Store;
use crate::tournament::rulings::{Desk, NOW, Ruling, What};

/// Show one game move by move, with boards
///
/// The moves are numbered as `hakem replay` counts them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder of results
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The game's id, such as r1.m2.g1, or that of a match, such as r1.m2
    #[arg(value_name = "GAME")]
    pub game: String,
    /// Only say why it ended: the position, what was asked and what was legal, the line that lost it, the rule, the last lines of the
    /// bot's log, and how to ask it again
    #[arg(long)]
    pub explain: bool,
    /// The rules.
    #[command(flatten)]
    pub rules: GameArgs,
    /// The game as it was before this ruling of the organiser had it played again
    #[arg(long, value_name = "RULING")]
    pub before: Option<u32>,
}

/// Shows it.
///
/// # Errors
/// A game that is not there, a record that cannot be read or does not hold.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let store = Store::open_read_only(&args.dir)?;
    let mut page = String::new();
    let mut games = OwnGames::new(&args.rules)?;
    let own = games.of_folder(&args.dir)?;
    for (index, id) in wanted(args, &store)?.into_iter().enumerate() {
        if index > 0 {
            page.push_str("\n\n");
        }
        page.push_str(&page_of(args, &store, id, own)?);
    }
    // The boards of a game that is not built in are another program's texts.
    unless_closed(io::stdout().write_all(shown_lines(&page).as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// The games that are asked for: one, or those of a match.
fn wanted(args: &Args, store: &Store) -> anyhow::Result<Vec<GameId>> {
    let dir = args.dir.display();
    let of_match = |of: MatchId| -> anyhow::Result<Vec<GameId>> {
        let games = match args.before {
            None => store.games()?,
            Some(_) => store
                .games_aside()?
                .into_iter()
                .map(|aside| aside.0)
                .collect(),
        };
        let ids = games.iter().map(|game| game.id);
        // A game may have been set aside more than once.
        let ids: BTreeSet<GameId> = ids.filter(|id| id.of == of).collect();
        Ok(ids.into_iter().collect())
    };
    let id: GameId = match (args.game.parse::<GameId>(), args.game.parse::<MatchId>()) {
        (Ok(id), _) => id,
        (Err(_), Ok(of)) => {
            let games = of_match(of)?;
            if games.is_empty() {
                let what = format!("{dir} has no match {of}; `hakem games {dir}` lists all games");
                return Err(Refused(what).into());
            }
            return Ok(games);
        }
        (Err(error), Err(_)) => {
            let what = format!("{error}; `hakem games {dir}` lists the games");
            return Err(Refused(what).into());
        }
    };
    if store.game(id)?.is_some() || args.before.is_some() {
        return Ok(vec![id]);
    }
    let others: Vec<String> = of_match(id.of)?.iter().map(ToString::to_string).collect();
    let hint = match others.as_slice() {
        [] if store.replays().contains_key(&id.of) => format!(
            "its match is to be played again; `--before {}` shows what was played",
            store.replays()[&id.of]
        ),
        [] => format!("`hakem games {dir}` lists them"),
        others => format!("its match has {}", others.join(", ")),
    };
    Err(Refused(format!("{dir} has no game {id}; {hint}")).into())
}

fn page_of(
    args: &Args,
    store: &Store,
    id: GameId,
    own: Option<&dyn Kind>,
) -> anyhow::Result<String> {
    let under = match args.before {
        Some(number) => before(&store.desk()?, id, number)?,
        None => store.replays().get(&id.of).copied(),
    };
    let path = args.dir.join(store.records().name_under(id, under));
    let text = std::fs::read(&path)
        .map_err(|error| Refused(format!("{} cannot be read: {error}", path.display())))?;
    let header = replay::header(&text)
        .map_err(|error| Refused(format!("the record of {id} cannot be shown: {error}")))?;
    let mut page = title(&header);
    page.push_str(&ruled(args, store, id)?);
    if args.explain {
        page.push_str(&explain::page(&args.dir, &header, under, &text, own)?);
        return Ok(page);
    }
    let mut at = At::default();
    let verified = replay::verify_of(own, &text, None, &mut |entry, play| {
        describe(&mut page, &header, entry, play, &mut at)
    })
    .map_err(|error| Refused(format!("the record of {id} does not verify: {error}")))?;
    let _ = writeln!(page, "{}", ending(&header, &verified.result));
    Ok(page)
}

/// The ruling under which a game was played that another had played again.
fn before(desk: &Desk, id: GameId, number: u32) -> anyhow::Result<Option<u32>> {
    let of_game: Vec<&Ruling> = desk
        .rulings()
        .iter()
        .filter(|ruling| matches!(ruling.what, What::Replay { of } if of == id.of))
        .collect();
    if !of_game.iter().any(|ruling| ruling.number == number) {
        let known: Vec<String> = of_game
            .iter()
            .map(|ruling| ruling.number.to_string())
            .collect();
        let what = if known.is_empty() {
            format!("no ruling has {} played again", id.of)
        } else {
            format!(
                "ruling {number} has {} not played again; these have: {}",
                id.of,
                known.join(", ")
            )
        };
        return Err(Refused(what).into());
    }
    // Only what was in force then.
    let was_undone = |ruling: &Ruling| {
        let undone = desk.undone_by(ruling.number, NOW);
        undone.is_some_and(|undoing| undoing.number < number)
    };
    let earlier = of_game
        .into_iter()
        .rfind(|ruling| ruling.number < number && !was_undone(ruling));
    Ok(earlier.map(|ruling| ruling.number))
}

/// What was ruled of a game, a line each.
fn ruled(args: &Args, store: &Store, id: GameId) -> anyhow::Result<String> {
    let desk = store.desk()?;
    let mut lines = String::new();
    if desk.is_empty() {
        return Ok(lines);
    }
    let names: Vec<String> = store.meta()?.bots.into_iter().map(|bot| bot.name).collect();
    if let Some(game) = store.game(id)?
        && let Some(ruling) = desk.taken_out(id.of, &game.seats)
    {
        let _ = writeln!(lines, "{}", shown(&taken_out_in_words(ruling, &names)));
    }
    if let (Some(ruling), None) = (desk.replay(id.of), args.before) {
        let _ = writeln!(
            lines,
            "played again by ruling {0}: {1}; `hakem show DIR {id} --before {0}` shows the game before",
            ruling.number,
            shown(&ruling.reason)
        );
    }
    if let Some(number) = args.before {
        let _ = writeln!(lines, "set aside by ruling {number}, or a later one");
    }
    Ok(lines)
}

fn title(header: &Header) -> String {
    let names: Vec<String> = header
        .seats
        .iter()
        .enumerate()
        .map(|(seat, name)| format!("{} (seat {seat})", shown(name)))
        .collect();
    let mut page = format!("{}  {}  {}\n", header.id, header.game, names.join(" - "));
    if !header.played.outcomes().is_empty() {
        let _ = writeln!(page, "game {} of the match", header.played.next_game());
    }
    if let Some(opening) = &header.opening {
        let opening = shown(&opening.to_string());
        let _ = writeln!(page, "from the position {opening}");
    }
    page
}

/// How far a game was shown.
#[derive(Default)]
struct At {
    /// The number of the last question.
    number: u32,
    /// The dice that were rolled and not yet played: `4-6`.
    dice: Option<String>,
}

fn describe(page: &mut String, header: &Header, entry: &Entry, play: &mut Play, at: &mut At) {
    let name = |seat: usize| shown(&header.seats[seat]);
    match entry {
        Entry::Answer(answer) => {
            at.number += 1;
            let number = at.number;
            // Words answer for the cube, and an object for a resignation; a list plays the dice.
            let dice = at.dice.take_if(|_| answer.mv.is_array());
            let with = dice.map_or_else(String::new, |dice| format!(" with {dice}"));
            let by = format!("{number}. {}{with}", name(answer.seat));
            let (ms, remarks) = (in_ms(answer.charged_us), remarks(answer));
            let _ = match &answer.claim {
                None => write!(
                    page,
                    "\n{by}: {}  ({ms}){remarks}\n{}",
                    shown(&answer.mv.to_string()),
                    play.position().board()
                ),
                Some(claim) => writeln!(page, "{by} {}  ({ms}){remarks}", came_to(claim)),
            };
        }
        Entry::Stopped(stopped) => {
            let why = match stopped.why {
                StopWhy::Claimed => "another seat has claimed",
                StopWhy::Time => "the time is over",
            };
            at.number += 1;
            let ms = in_ms(stopped.charged_us);
            let _ = writeln!(
                page,
                "{}. {} is stopped, {why}  ({ms})",
                at.number,
                name(stopped.seat)
            );
        }
        Entry::Race(race) => {
            let first: Vec<String> = race.first.iter().map(|&seat| name(seat)).collect();
            let _ = match first.as_slice() {
                [] => writeln!(page, "nobody was right in time"),
                [one] => writeln!(page, "{one} wins the round"),
                several => writeln!(page, "dead heat: {}", several.join(", ")),
            };
        }
        Entry::Drawn(drawn) if drawn.kind.0 == ChanceKind::Card => {
            let _ = write!(page, "\n{}", play.position().board());
        }
        Entry::Drawn(drawn) if drawn.value.is_some() => {
            let value = drawn.value.as_ref().map(ToString::to_string);
            let _ = writeln!(page, "drawn: {}", shown(&value.unwrap_or_default()));
        }
        Entry::Again(times) => {
            let _ = write!(page, "\nplayed over ({times})\n{}", play.position().board());
        }
        Entry::Fault(fault) => {
            let _ = writeln!(
                page,
                "\n{} forfeits: {}",
                name(fault.seat),
                shown(&fault.reason)
            );
            if let Some(line) = &fault.line {
                let _ = writeln!(page, "its line was: {}", shown(line));
            }
        }
        Entry::Drawn(drawn) => {
            if let Some([first, second]) = drawn.dice {
                at.dice = Some(format!("{first}-{second}"));
            }
        }
        Entry::Passed(_) => {
            if let Some(dice) = at.dice.take() {
                let _ = writeln!(page, "\n{dice} cannot be played");
            }
        }
        Entry::Result(_) => {}
    }
}

/// What a claim came to, in words.
fn came_to(claim: &ClaimEntry) -> String {
    match claim {
        ClaimEntry::Right => "claims, and is right".into(),
        ClaimEntry::Wrong(why) => format!("claims, and is out of the round: {}", shown(why)),
        ClaimEntry::GaveUp => "gives up the round".into(),
    }
}

/// What a bot added to its answer.
fn remarks(answer: &AnswerEntry) -> String {
    let eval = answer.eval.as_ref().map(|eval| shown(&eval.to_string()));
    let note = answer.note.as_ref().map(|note| shown(note));
    let eval = eval.map_or_else(String::new, |eval| format!("  eval {eval}"));
    eval + &note.map_or_else(String::new, |note| format!("  \"{note}\""))
}

pub(super) fn in_ms(us: u64) -> String {
    format!("{:.1} ms", us as f64 / 1000.0)
}

pub(super) fn ending(header: &Header, result: &crate::referee::record::ResultEntry) -> String {
    let points = result.points.as_ref().map(|points| {
        points
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("-")
    });
    let winner = result.winner.map_or("nobody wins".to_owned(), |seat| {
        format!("{} wins", shown(&header.seats[seat]))
    });
    let by = match result.verdict {
        Verdict::Adjudicated => "adjudicated, ",
        _ => "",
    };
    format!(
        "\n{winner}: {by}{}{}",
        shown(&result.reason),
        points.map_or(String::new(), |points| format!(", points {points}"))
    )
}
