//! The simplest bot there is.

use hakem_protocol::{Move, Turn};

use super::{Facts, Games, House};

/// Takes the first of the legal answers, whatever it is (in Tavla it never doubles and always takes, because those
/// stand first).
#[derive(Debug)]
pub struct First;

impl House for First {
    fn facts(&self) -> &'static Facts {
        &Facts {
            name: "first",
            summary: "the first of the legal answers, whatever is asked",
            games: Games::Listed,
            options: &[],
        }
    }

    fn answer(&self, _table: &super::Table<'_>, turn: &Turn) -> Result<Move, String> {
        Ok(super::answer(turn, super::listed(turn)?[0].clone()))
    }
}

#[cfg(test)]
mod tests {
    use hakem_protocol::Ask;
    use serde_json::json;

    use crate::house::tests::{ask, turn};

    #[test]
    fn it_takes_the_first() {
        let turn = turn(0, Ask::Cube, json!({}), json!(["roll", "double"]));
        assert_eq!(ask("first", "tavla", json!({}), &turn), Ok(json!("roll")));
    }
}
