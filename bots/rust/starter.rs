//! A hakem bot in one file: it answers every turn with a legal answer picked at random, and lays the cards of Q-Bitz.
//!
//! Change `choose`. Nothing else has to be touched: the rest speaks the protocol, one JSON object a line.
//! Do not use `println!` elsewhere, stdout belongs to the protocol; `eprintln!` goes to the bot's log.

use std::io::{self, BufRead, Write};

use hakem_protocol::{Ask, FromBot, FromReferee, Hello, Move, Pong, Ready, Turn, VERSION};
use serde_json::{Value, json};

const NAME: &str = "starter";

/// Returns the answer to a turn. THIS IS THE PLACE TO CHANGE.
///
/// - `turn.seat`: your seat; lists in the state are by seat, each seen from its own seat
/// - `turn.ask`: `Move`; in Tavla also `Cube` (before rolling), `Take` (a double), `Resign` (a resignation); in Q-Bitz `Race`
/// - `turn.state`: the position; `turn.state["pits"][0]` and the like
/// - `turn.legal`: everything that you may answer: return one of these
/// - `turn.last`: what happened since your last answer
/// - `turn.clock`: `left_ms` by seat, `limit_ms` for this answer (`None`: no limit)
/// - `hello`: `game`, `rules`, `clock` and `options`, as the referee told them when it began
fn choose(turn: &Turn, _hello: &Hello, chance: &mut Chance) -> Value {
    if turn.ask == Ask::Race {
        // Q-Bitz lists no answers: the first right tray wins the round.
        return json!({ "qbitz": lay(&turn.state) });
    }
    match turn.legal.as_ref().and_then(Value::as_array) {
        Some(legal) if !legal.is_empty() => legal[chance.below(legal.len())].clone(),
        _ => Value::Null,
    }
}

// ---- Q-Bitz ----------------------------------------------------------------------------------------------------

/// The tray that lays a card, or `None`: each cell takes a cube that has its face.
fn lay(state: &Value) -> Option<Value> {
    let cells: Vec<&Value> = state["pattern"]
        .as_array()?
        .iter()
        .flat_map(|row| row.as_array().into_iter().flatten())
        .collect();
    let cubes = state["cubes"].as_array()?;
    let face_of = |cube: usize, cell: usize| {
        let faces = cubes[cube].as_array()?;
        faces.iter().position(|face| *face == cells[cell]["face"])
    };
    // Which cell each cube lies on.
    let mut cell_of = vec![None; cubes.len()];
    for cell in 0..cells.len() {
        let mut tried = vec![false; cubes.len()];
        if !place(
            cell,
            &|cube, cell| face_of(cube, cell).is_some(),
            &mut cell_of,
            &mut tried,
        ) {
            return None;
        }
    }
    let laid = |cell: usize| {
        let cube = cell_of.iter().position(|&on| on == Some(cell))?;
        Some(json!({"cube": cube, "face": face_of(cube, cell)?, "turn": cells[cell]["turn"]}))
    };
    let tray: Option<Vec<Value>> = (0..cells.len()).map(laid).collect();
    Some(
        tray?
            .chunks(4)
            .map(|row| Value::from(row.to_vec()))
            .collect(),
    )
}

/// Lays a cube with the right face on the cell; a cube that lies elsewhere may have to make room.
fn place(
    cell: usize,
    fits: &dyn Fn(usize, usize) -> bool,
    cell_of: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for cube in 0..cell_of.len() {
        if tried[cube] || !fits(cube, cell) {
            continue;
        }
        tried[cube] = true;
        // The cube is free, or its cell can do with another one.
        if cell_of[cube].is_none_or(|other| place(other, fits, cell_of, tried)) {
            cell_of[cube] = Some(cell);
            return true;
        }
    }
    false
}

// ---- Chance ----------------------------------------------------------------------------------------------------

/// Random numbers (splitmix64), so that no further crate is needed.
struct Chance(u64);

impl Chance {
    /// From the option `seed`, so that a game can be played again, else from the clock.
    fn new(hello: &Hello) -> Chance {
        let seed = hello.options.get("seed").and_then(Value::as_u64);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Chance(seed.unwrap_or_else(|| now.map_or(1, |now| now.as_nanos() as u64)))
    }

    /// A number from 0 below `count`.
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % count as u64) as usize
    }
}

// ---- The protocol ----------------------------------------------------------------------------------------------

fn send(message: &FromBot) -> io::Result<()> {
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, message)?;
    output.write_all(b"\n")?;
    // Without this the line might wait in a buffer, and the referee with it.
    output.flush()
}

fn main() -> io::Result<()> {
    let mut session: Option<(Hello, Chance)> = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        // A message that this version of the crate does not know needs no answer.
        let Ok(message) = serde_json::from_str::<FromReferee>(&line) else {
            continue;
        };
        match message {
            FromReferee::Hello(hello) => {
                let chance = Chance::new(&hello);
                session = Some((hello, chance));
                send(&FromBot::Ready(Ready {
                    protocol: VERSION,
                    name: Some(NAME.to_owned()),
                    version: Some("1.0".to_owned()),
                    ..Ready::default()
                }))?;
            }
            FromReferee::Turn(turn) => {
                if let Some((hello, chance)) = &mut session {
                    let mv = choose(&turn, hello, chance);
                    send(&FromBot::Move(Move {
                        id: turn.id,
                        mv,
                        note: None,
                        eval: None,
                    }))?;
                }
            }
            FromReferee::Ping(ping) => send(&FromBot::Pong(Pong { id: ping.id }))?,
            FromReferee::Error(error) => eprintln!("{}: {}", error.code.as_str(), error.message),
            FromReferee::Bye(_) => break,
            // They need no answer. An answer to a turn that `Stop` has withdrawn meanwhile does no harm.
            FromReferee::Start(_)
            | FromReferee::Played(_)
            | FromReferee::Stop(_)
            | FromReferee::End(_) => {}
        }
    }
    Ok(())
}
