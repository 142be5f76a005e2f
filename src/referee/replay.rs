//! Drives a game again from its record. Pure.
//!
//! The game is played a second time from the header and the answers, and its record is written a second time: the two
//! must be equal byte for byte. So every move, clock, die and result is checked by the same code that made it.

use std::sync::Arc;

use hakem_protocol::ErrorCode;
use serde_json::{Map, Value};

use super::answer::{self, Said};
use super::play::{
    AnswerParts, Answered, Claimed, End, Fault, FaultKind, KEPT_LINE, Limit, Next, Play,
};
use super::record::{
    AnswerEntry, Entry, FIRST_PREV, FORMAT, FaultEntry, Header, ResultEntry, StoppedEntry,
    hash_line,
};
use crate::chance::{Draw, MatchChance};
use crate::clock::Open;
use crate::event::Verdict;
use crate::game::{self, Chance, ChanceKind, Drawn, Kind, Ruleset, Seat, ToAct};

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Mismatch {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

/// A record that holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// What the game began from.
    pub header: Header,
    /// How it ended.
    pub result: ResultEntry,
    /// The hash of its last line.
    pub hash: String,
    /// The seat that answered first, as [`crate::event::GameResult::first`].
    pub first: Option<Seat>,
    /// A hash of what was played, as [`crate::event::GameResult::play_hash`].
    pub play_hash: String,
    /// Whether each seat answered at all.
    pub answered: Vec<bool>,
    /// Whether the game has random events.
    pub has_chance: bool,
    /// Whether they were recomputed from the seed; else they were taken from the record.
    pub chance_checked: bool,
}

/// Checks a whole record; `seed` is the event's, where it is known. For each line but the header `each` is called with the
/// line and the game after it, and after the random events, passes and the end of a race that follow from it.
///
/// # Errors
/// The first line that does not hold, and why.
pub fn verify(
    text: &[u8],
    seed: Option<&str>,
    each: &mut dyn FnMut(&Entry, &mut Play),
) -> Result<Verified, Mismatch> {
    verify_of(None, text, seed, each)
}

/// As [`verify`], of a record whose game may also be `own`: one that is not among [`game::GAMES`].
///
/// # Errors
/// As [`verify`].
pub fn verify_of(
    own: Option<&dyn Kind>,
    text: &[u8],
    seed: Option<&str>,
    each: &mut dyn FnMut(&Entry, &mut Play),
) -> Result<Verified, Mismatch> {
    follow_of(own, text, seed, &mut |entry, play| {
        if let Some(entry) = entry {
            each(entry, play);
        }
    })
}

/// As [`verify`]; `each` is also called without a line, before the first one, when the game has begun. What the seats are
/// told of a line is in the news of the game while `each` is called.
///
/// # Errors
/// As [`verify`].
pub fn follow(
    text: &[u8],
    seed: Option<&str>,
    each: &mut dyn FnMut(Option<&Entry>, &mut Play),
) -> Result<Verified, Mismatch> {
    follow_of(None, text, seed, each)
}

/// As [`follow`], of a record whose game may also be `own`.
///
/// # Errors
/// As [`verify`].
pub fn follow_of(
    own: Option<&dyn Kind>,
    text: &[u8],
    seed: Option<&str>,
    each: &mut dyn FnMut(Option<&Entry>, &mut Play),
) -> Result<Verified, Mismatch> {
    let lines = split(text)?;
    check_chain(&lines)?;
    let header = read_header(lines[0])?;
    let entries = read_entries(&lines)?;
    let rules = rules_of(own, &header)?;
    let at = |line: usize, what: String| Mismatch { line, what };
    let mut source = match seed {
        Some(seed) => Source::Derived(header.chance.with_seed(seed).map_err(|what| at(1, what))?),
        None => Source::Recorded(Recorded::of(&entries)),
    };
    if let Source::Derived(chance) = &source
        && chance.first(header.seats.len()) != header.lot
    {
        return Err(at(1, "the coin toss is not the one of the seed".into()));
    }
    let mut play = Play::begin(header.clone(), rules, &mut source).map_err(|what| at(1, what))?;
    let mut over: Option<End> = None;
    let mut ids: Vec<Option<u64>> = vec![None; header.seats.len()];
    // What was passed before the start is told to nobody.
    play.news.clear();
    sound(&play).map_err(|what| at(1, what))?;
    each(None, &mut play);
    for (number, entry) in &entries {
        let number = *number;
        if over.is_some() && !matches!(entry, Entry::Result(_)) {
            return Err(at(number, "the game was over before".into()));
        }
        match entry {
            // They follow from what is recorded around them, and are compared below.
            Entry::Drawn(_) | Entry::Passed(_) | Entry::Race(_) => {}
            Entry::Again(_) => {
                if play.next() != Next::Again {
                    return Err(at(number, "the game is not played over here".into()));
                }
                play.play_over(&mut source);
                play.news.clear();
            }
            Entry::Answer(answer) => {
                answered(&mut play, answer, &mut ids, &mut source)
                    .map_err(|what| at(number, what))?;
            }
            Entry::Stopped(entry) => {
                stopped(&mut play, entry, &mut ids, &mut source)
                    .map_err(|what| at(number, what))?;
            }
            Entry::Fault(fault) => {
                if fault.seat >= header.seats.len() {
                    return Err(at(number, format!("there is no seat {}", fault.seat)));
                }
                let any = ids.iter().any(Option::is_some);
                check_fault(&mut play, fault, any).map_err(|what| at(number, what))?;
                over = play.record_forfeit(fault.clone(), &mut source);
            }
            Entry::Result(result) => {
                let end = match (over.take(), play.next()) {
                    (Some(end), _) => end,
                    (None, Next::Over(end)) => *end,
                    (None, _) => return Err(at(number, "the game is not over here".into())),
                };
                sound(&play).map_err(|what| at(number, what))?;
                each(Some(entry), &mut play);
                let (played, again) = play.finish(&end, &[]);
                compare(&lines, &again)?;
                let is_drawn = |(_, entry): &(usize, Entry)| matches!(entry, Entry::Drawn(_));
                return Ok(Verified {
                    header,
                    result: result.clone(),
                    hash: played.record_hash,
                    first: played.first,
                    play_hash: played.play_hash,
                    answered: ids.iter().map(Option::is_some).collect(),
                    has_chance: entries.iter().any(is_drawn),
                    chance_checked: matches!(source, Source::Derived(_)),
                });
            }
        }
        sound(&play).map_err(|what| at(number, what))?;
        each(Some(entry), &mut play);
        play.news.clear();
    }
    Err(at(
        lines.len(),
        "the record has no result: its end is missing".into(),
    ))
}

/// Nothing can be said of a record whose rules failed.
fn sound(play: &Play) -> Result<(), String> {
    match play.broken() {
        Some(why) => Err(format!("the rules failed: {why}")),
        None => Ok(()),
    }
}

/// Reads the header of a record without checking the rest.
///
/// # Errors
/// As [`verify`], of the first line.
pub fn header(text: &[u8]) -> Result<Header, Mismatch> {
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    read_header(first)
}

/// Gives a recorded answer again.
fn answered(
    play: &mut Play,
    answer: &AnswerEntry,
    ids: &mut [Option<u64>],
    source: &mut Source,
) -> Result<(), String> {
    let seat = answer.seat;
    next_id(play, seat, answer.id, ids)?;
    let parts = AnswerParts {
        id: answer.id,
        mv: answer.mv.clone(),
        note: answer.note.clone(),
        eval: answer.eval.clone(),
    };
    let fault = if play.is_running(seat) {
        match play.claim(seat, parts, answer.spent, source) {
            Claimed::Checked(_) => None,
            Claimed::Late(_) => return Err("the claim came too late to count".into()),
            Claimed::Refused(fault, _) => Some(fault),
        }
    } else {
        match play.answer(seat, parts, answer.spent, source) {
            Answered::Accepted => None,
            Answered::Refused(fault, _) => Some(fault),
        }
    };
    fault.map_or(Ok(()), |fault| Err(fault.reason()))
}

/// Stops a recorded question again.
fn stopped(
    play: &mut Play,
    entry: &StoppedEntry,
    ids: &mut [Option<u64>],
    source: &mut Source,
) -> Result<(), String> {
    next_id(play, entry.seat, entry.id, ids)?;
    if play.too_late(&entry.spent).is_none() {
        return Err("by the recorded times a claim would still have counted".into());
    }
    play.stop(entry.seat, entry.id, entry.spent, source);
    Ok(())
}

/// Whether the seat's question is open.
fn is_asked(play: &Play, seat: Seat) -> bool {
    match play.next() {
        Next::Ask(asked, _) => asked == seat,
        Next::Race => play.is_running(seat),
        Next::Again | Next::Broken(_) | Next::Over(_) => false,
    }
}

/// The seat must be asked, and its question be the next: within a game a seat is asked one thing after the other.
fn next_id(play: &Play, seat: Seat, id: u64, ids: &mut [Option<u64>]) -> Result<(), String> {
    if !is_asked(play, seat) {
        return Err(format!("seat {seat} is not asked here"));
    }
    let before = ids[seat].replace(id);
    if before.is_some_and(|before| before.checked_add(1) != Some(id)) {
        return Err(format!("{id} is not the next id"));
    }
    Ok(())
}

fn split(text: &[u8]) -> Result<Vec<&[u8]>, Mismatch> {
    let Some(text) = text.strip_suffix(b"\n") else {
        let line = text.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let what = if text.is_empty() {
            "the record is empty"
        } else {
            "the last line is cut off"
        };
        return Err(Mismatch {
            line,
            what: what.into(),
        });
    };
    Ok(text.split(|&byte| byte == b'\n').collect())
}

fn check_chain(lines: &[&[u8]]) -> Result<(), Mismatch> {
    let mut prev = FIRST_PREV;
    for (index, line) in lines.iter().enumerate() {
        let end = [b",\"prev\":\"", &prev[..], b"\"}"].concat();
        if !line.ends_with(&end) {
            let what = if index == 0 {
                "the first line has to end with a `prev` of zeros".to_owned()
            } else {
                format!("its `prev` is not the hash of line {index}: one of the two was changed")
            };
            return Err(Mismatch {
                line: index + 1,
                what,
            });
        }
        prev = hash_line(line);
    }
    Ok(())
}

/// The one field of a line besides `prev`.
fn fields(line: &[u8], number: usize) -> Result<Map<String, Value>, Mismatch> {
    let mut fields: Map<String, Value> =
        serde_json::from_slice(line).map_err(|error| Mismatch {
            line: number,
            what: format!("not a JSON object: {error}"),
        })?;
    fields.remove("prev");
    Ok(fields)
}

fn read_header(line: &[u8]) -> Result<Header, Mismatch> {
    let at = |what: String| Mismatch { line: 1, what };
    let value = fields(line, 1)?
        .remove("header")
        .ok_or_else(|| at("the first line of a record is its header".into()))?;
    if let Some(version) = value.get("record").and_then(Value::as_u64)
        && version != u64::from(FORMAT)
    {
        return Err(at(format!(
            "the record has format {version}; this program reads format {FORMAT}"
        )));
    }
    let header: Header = serde_json::from_value(value)
        .map_err(|error| at(format!("the header is broken: {error}")))?;
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    let fits = header.lot < header.seats.len()
        && header.id.game == header.played.next_game()
        && header.id.of.round == header.chance.round
        && sorted(&header.seats) == sorted(&header.chance.field)
        && header.adjudication.is_none_or(|rules| rules.is_possible());
    if fits {
        Ok(header)
    } else {
        Err(at("the header contradicts itself".into()))
    }
}

fn read_entries(lines: &[&[u8]]) -> Result<Vec<(usize, Entry)>, Mismatch> {
    let read = |(index, line): (usize, &&[u8])| {
        let number = index + 1;
        serde_json::from_value(Value::Object(fields(line, number)?))
            .map(|entry| (number, entry))
            .map_err(|error| Mismatch {
                line: number,
                what: format!("not a line of a record: {error}"),
            })
    };
    lines.iter().enumerate().skip(1).map(read).collect()
}

/// The game of this name: `own` if that is called so, else a built-in one.
pub fn kind_of<'k>(own: Option<&'k dyn Kind>, name: &str) -> Option<&'k dyn Kind> {
    own.filter(|own| own.facts().name == name)
        .or_else(|| game::find(name))
}

fn rules_of(own: Option<&dyn Kind>, header: &Header) -> Result<Arc<dyn Ruleset>, Mismatch> {
    let at = |what: String| Mismatch { line: 1, what };
    let kind = kind_of(own, &header.game).ok_or_else(|| {
        at(format!(
            "there is no game `{}`; the rules of one that is not built in are named with --game",
            header.game
        ))
    })?;
    let facts = kind.facts();
    if !(facts.min_seats..=facts.max_seats).contains(&header.seats.len()) {
        return Err(at(format!(
            "{} is not played by {}",
            facts.title,
            header.seats.len()
        )));
    }
    let fits = |game: &game::Outcome| {
        game.score.len() == header.seats.len() && game.points.len() == header.seats.len()
    };
    if !header.played.outcomes().iter().all(fits) {
        return Err(at(
            "a game before this one has another number of seats".into()
        ));
    }
    let sums = (0..header.seats.len()).map(|seat| {
        let mut points = header
            .played
            .outcomes()
            .iter()
            .map(|game| game.points[seat]);
        points.try_fold(0u32, u32::checked_add)
    });
    if sums.into_iter().any(|sum| sum.is_none()) {
        return Err(at(
            "the games before this one have more points than there are".into(),
        ));
    }
    let rules = kind
        .rules(&header.rules)
        .map_err(|error| at(error.to_string()))?;
    if rules.series(header.played.outcomes()).over {
        return Err(at("the match was over before this game".into()));
    }
    Ok(rules)
}

/// A forfeit is checked where the record holds what it rests on: somebody must have been asked, a refused move be refused,
/// a clock be over, a line have the fault. A death, a flood and what was too long to keep leave nothing to look at.
fn check_fault(play: &mut Play, fault: &FaultEntry, answered: bool) -> Result<(), String> {
    if play.has_forfeited(fault.seat) || matches!(play.next(), Next::Over(_)) {
        return Err(format!("the game was over for seat {} before", fault.seat));
    }
    let asked = is_asked(play, fault.seat);
    // What was wrong before the first question is judged there, whoever is asked first.
    if answered && !asked {
        return Err(format!(
            "seat {} is not asked here, so that nothing is judged",
            fault.seat
        ));
    }
    let code = fault.reason.split(':').next().unwrap_or_default();
    if !fits_verdict(fault.verdict, code) {
        let verdict = fault.verdict.as_str();
        return Err(format!("`{code}` is no reason for the verdict `{verdict}`"));
    }
    match fault.verdict {
        Verdict::NoReady if answered => Err("greetings are over once there are answers".into()),
        Verdict::IllegalMove if !asked => Err("nobody asked for the move".into()),
        Verdict::IllegalMove
            if fault
                .mv
                .as_ref()
                .is_some_and(|mv| is_legal(play, fault.seat, mv)) =>
        {
            Err("the move that was refused is legal".into())
        }
        Verdict::Timeout if answered && play.next() == Next::Race => {
            Err("nobody loses on time in a race".into())
        }
        // A ping that was not answered has no measured time; a turn has.
        Verdict::Timeout
            if (answered || fault.spent.wall_us > 0)
                && !(asked && play.look(fault.seat, &fault.spent) == Open::Flag) =>
        {
            Err("by the recorded times the seat was not too late".into())
        }
        _ if has_its_fault(fault, code) => Ok(()),
        _ => Err(format!("the line that is kept is not `{code}`")),
    }
}

/// Whether a reason that begins so is one of this verdict.
fn fits_verdict(verdict: Verdict, code: &str) -> bool {
    let number = |prefix: &str| code.strip_prefix(prefix).map(str::parse::<i32>);
    let named = ErrorCode::ALL
        .into_iter()
        .find(|known| known.as_str() == code);
    match verdict {
        Verdict::Crash => {
            code == "closed_pipe" || matches!(number("exit ").or(number("signal ")), Some(Ok(_)))
        }
        Verdict::NoReady => named.is_some(),
        Verdict::Limit => Limit::ALL.into_iter().any(|limit| limit.as_str() == code),
        _ => named.is_some_and(|code| Fault::code(code, "").verdict() == verdict),
    }
}

/// Whether the line that lost the game, where it was kept whole, has the fault of this code.
fn has_its_fault(fault: &FaultEntry, code: &str) -> bool {
    let cut = |line: &&String| line.len() > KEPT_LINE - 4 || line.contains('\u{fffd}');
    let Some(line) = fault.line.as_ref().filter(|line| !cut(line)) else {
        return true;
    };
    match (code, answer::read(line.as_bytes())) {
        // Whatever it says.
        ("timeout" | "unasked", _) => true,
        ("illegal_move", Ok(Said::Move { mv, .. })) => {
            fault.mv.as_ref().is_none_or(|kept| *kept == mv)
        }
        ("wrong_id", Ok(Said::Move { .. })) | ("bad_message", Ok(Said::Ready(_))) => true,
        (
            code,
            Err(Fault {
                kind: FaultKind::Code(found),
                ..
            }),
        ) => found.as_str() == code,
        _ => false,
    }
}

fn is_legal(play: &mut Play, seat: Seat, mv: &Value) -> bool {
    let mut position = play.position().boxed_clone();
    if position.to_act() == ToAct::Race {
        position.claim(seat, mv, &mut Vec::new()).is_ok()
    } else {
        position.play(mv, &mut Vec::new()).is_ok()
    }
}

fn compare(lines: &[&[u8]], again: &[u8]) -> Result<(), Mismatch> {
    let again = split(again)?;
    for (index, line) in lines.iter().enumerate() {
        if again.get(index) != Some(line) {
            let what = match again.get(index) {
                None => "there is no such line when the game is played again".to_owned(),
                Some(line) => {
                    let end = line.len().min(300);
                    format!(
                        "played again, it is {}",
                        String::from_utf8_lossy(&line[..end])
                    )
                }
            };
            return Err(Mismatch {
                line: index + 1,
                what,
            });
        }
    }
    if again.len() > lines.len() {
        return Err(Mismatch {
            line: lines.len(),
            what: "lines are missing after it".into(),
        });
    }
    Ok(())
}

enum Source {
    Derived(MatchChance),
    Recorded(Recorded),
}

impl Draw for Source {
    fn draw(&mut self, game: u32, chance: Chance, n: u32, choices: u32) -> Drawn {
        match self {
            Source::Derived(derived) => derived.draw(game, chance, n, choices),
            Source::Recorded(recorded) => recorded.draw(game, chance, n, choices),
        }
    }
}

/// The random events of a record, in order.
struct Recorded {
    drawn: std::vec::IntoIter<Drawn>,
}

impl Recorded {
    fn of(entries: &[(usize, Entry)]) -> Recorded {
        let drawn: Vec<Drawn> = entries
            .iter()
            .filter_map(|(_, entry)| match entry {
                Entry::Drawn(drawn) => drawn.drawn(),
                _ => None,
            })
            .collect();
        Recorded {
            drawn: drawn.into_iter(),
        }
    }
}

impl Draw for Recorded {
    fn draw(&mut self, _game: u32, chance: Chance, _n: u32, choices: u32) -> Drawn {
        let possible = |drawn: &Drawn| match (chance.kind, drawn) {
            (ChanceKind::Dice, Drawn::Dice(dice)) => dice.iter().all(|die| (1..=6).contains(die)),
            (ChanceKind::Opening, Drawn::Dice([a, b])) => {
                a != b && (1..=6).contains(a) && (1..=6).contains(b)
            }
            (
                ChanceKind::First | ChanceKind::Lot | ChanceKind::Ply | ChanceKind::Outcome,
                Drawn::Lot(lot),
            ) => *lot < choices,
            (ChanceKind::Cubes | ChanceKind::Card, Drawn::Bytes(_)) => true,
            _ => false,
        };
        // What is missing or cannot be is filled in; the comparison of the lines then finds the place.
        self.drawn
            .next()
            .filter(possible)
            .unwrap_or(match chance.kind {
                ChanceKind::Dice | ChanceKind::Opening => Drawn::Dice([2, 1]),
                ChanceKind::First | ChanceKind::Lot | ChanceKind::Ply | ChanceKind::Outcome => {
                    Drawn::Lot(0)
                }
                ChanceKind::Cubes | ChanceKind::Card => Drawn::Bytes([0; 32]),
            })
    }
}
