//! The lines of a real match, as the yardsticks repeat them.

use std::path::Path;

use serde_json::{Value, json};

use crate::Fault;

/// One turn: all that is written to the seat (the question, and what was told before it), and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) seat: usize,
    pub(crate) question: Vec<u8>,
    pub(crate) answer: Vec<u8>,
}

/// The turns of a match in their order, to be repeated round and round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// The line that opens a session.
    pub(crate) hello: Vec<u8>,
    pub(crate) steps: Vec<Step>,
}

impl Script {
    /// Joins what the two bots of a match captured (see `bots::instant`).
    pub(crate) fn from_captures(dir: &Path) -> Result<Script, Fault> {
        let mut lines: Vec<(u64, usize, bool, String)> = Vec::new();
        for (seat, entry) in std::fs::read_dir(dir)?.enumerate() {
            for line in std::fs::read_to_string(entry?.path())?.lines() {
                let (stamp, rest) = line.split_once(' ').ok_or("a captured line has a stamp")?;
                let own = rest.strip_prefix("< ");
                let text = format!("{}\n", own.unwrap_or(rest));
                lines.push((stamp.parse()?, seat, own.is_some(), text));
            }
        }
        // Stable: an answer stays behind its question, which has the same stamp.
        lines.sort_by_key(|&(stamp, ..)| stamp);
        let mut script = Script {
            hello: Vec::new(),
            steps: Vec::new(),
        };
        let mut told = [Vec::new(), Vec::new()];
        for (_, seat, own, text) in lines {
            let told = told
                .get_mut(seat)
                .ok_or("a match of two bots leaves two captures")?;
            if text.starts_with(r#"{"type":"hello""#) {
                script.hello = text.into_bytes();
            } else if text.starts_with(r#"{"type":"move""#) && own {
                script.steps.push(Step {
                    seat,
                    question: std::mem::take(told),
                    answer: text.into_bytes(),
                });
            } else if !own {
                told.extend_from_slice(text.as_bytes());
            }
        }
        if script.hello.is_empty() || script.steps.is_empty() {
            return Err("the captured match has no greeting or no turn".into());
        }
        Ok(script)
    }

    /// A script in the form and length of Mangala's lines, for the yardsticks alone.
    pub(crate) fn made_up() -> Script {
        let turn = |seat: usize, id: usize| {
            let mv = id % 6 + 1;
            Step {
                seat,
                question: format!(
                    "{{\"type\":\"turn\",\"id\":{id},\"seat\":{seat},\"ask\":\"move\",\"state\":{{\"pits\":[[4,0,5,2,4,1],[0,4,4,3,4,4]],\
                     \"stores\":[7,6],\"turn\":{seat}}},\"legal\":[{mv},3,4,5,6],\"last\":[{{\"seat\":{seat},\"move\":{mv}}},{{\"seat\":{},\
                     \"move\":2}}],\"clock\":{{\"left_ms\":[59999,59998],\"limit_ms\":10000}}}}\n",
                    1 - seat
                )
                .into_bytes(),
                answer: format!("{{\"type\":\"move\",\"id\":{id},\"move\":{mv}}}\n").into_bytes(),
            }
        };
        Script {
            hello: b"{\"type\":\"hello\",\"protocol\":1}\n".to_vec(),
            steps: (2..102).map(|n| turn(n % 2, n / 2)).collect(),
        }
    }

    /// Writes it as a line of JSON.
    pub(crate) fn save(&self, path: &Path) -> Result<(), Fault> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let steps: Vec<Value> = self
            .steps
            .iter()
            .map(|step| json!([step.seat, text(&step.question), text(&step.answer)]))
            .collect();
        let script = json!({"hello": text(&self.hello), "steps": steps});
        std::fs::write(path, script.to_string())?;
        Ok(())
    }

    /// Reads what [`Script::save`] wrote.
    pub(crate) fn load(path: &Path) -> Result<Script, Fault> {
        let script: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        let bytes = |value: &Value| value.as_str().unwrap_or_default().as_bytes().to_vec();
        let steps = script["steps"].as_array().ok_or("a script has steps")?;
        let steps = steps.iter().map(|step| Step {
            seat: usize::from(step[0] == 1),
            question: bytes(&step[1]),
            answer: bytes(&step[2]),
        });
        Ok(Script {
            hello: bytes(&script["hello"]),
            steps: steps.collect(),
        })
    }

    /// The mean length of a question and of an answer.
    pub(crate) fn mean_lengths(&self) -> (usize, usize) {
        let mean = |length: fn(&Step) -> usize| {
            self.steps.iter().map(length).sum::<usize>() / self.steps.len()
        };
        (
            mean(|step| step.question.len()),
            mean(|step| step.answer.len()),
        )
    }
}
