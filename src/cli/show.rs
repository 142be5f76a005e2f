//! `hakem show`.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use hakem_protocol::StopWhy;

use super::exit::Refused;
use super::explain;
use super::own_game::{GameArgs, OwnGames};
use super::{shown, unless_closed};
use crate::event::{GameId, MatchId, Verdict};
use crate::game::{ChanceKind, Kind};
use crate::referee::play::Play;
use crate::referee::record::{AnswerEntry, ClaimEntry, Entry, Header};
use crate::referee::replay;
use crate::store::Store;

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
    unless_closed(io::stdout().write_all(page.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// The games that are asked for: one, or those of a match.
fn wanted(args: &Args, store: &Store) -> anyhow::Result<Vec<GameId>> {
    let dir = args.dir.display();
    let of_match = |of: MatchId| -> anyhow::Result<Vec<GameId>> {
        let games = store.games()?;
        let ids = games.iter().map(|game| game.id);
        Ok(ids.filter(|id| id.of == of).collect())
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
    if store.game(id)?.is_some() {
        return Ok(vec![id]);
    }
    let others: Vec<String> = of_match(id.of)?.iter().map(ToString::to_string).collect();
    let hint = match others.as_slice() {
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
    let text = store.records().read(id)?;
    let header = replay::header(&text)
        .map_err(|error| Refused(format!("the record of {id} cannot be shown: {error}")))?;
    let mut page = title(&header);
    if args.explain {
        page.push_str(&explain::page(&args.dir, &header, &text, own)?);
        return Ok(page);
    }
    let mut number = 0;
    let verified = replay::verify_of(own, &text, None, &mut |entry, play| {
        describe(&mut page, &header, entry, play, &mut number)
    })
    .map_err(|error| Refused(format!("the record of {id} does not verify: {error}")))?;
    let _ = writeln!(page, "{}", ending(&header, &verified.result));
    Ok(page)
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

fn describe(page: &mut String, header: &Header, entry: &Entry, play: &mut Play, number: &mut u32) {
    let name = |seat: usize| shown(&header.seats[seat]);
    match entry {
        Entry::Answer(answer) => {
            *number += 1;
            let by = format!("{number}. {}", name(answer.seat));
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
            *number += 1;
            let ms = in_ms(stopped.charged_us);
            let _ = writeln!(
                page,
                "{number}. {} is stopped, {why}  ({ms})",
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
        // Dice stand in the boards and in the moves.
        Entry::Drawn(_) | Entry::Passed(_) | Entry::Result(_) => {}
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
