//! An event as one value that says whether two runs are of the same event.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::diagnose::quoted;
use super::files::shown;
use super::sections::{clock_kind_word, format_word, restart_word, sandbox_word};
use super::units::{show_duration, show_size};
use super::{BotSpec, EventConfig, Format, Limits, Program};
use crate::chance;
use crate::clock::ClockSpec;
use crate::referee::adjudicate::Adjudication;

impl EventConfig {
    /// The event in a canonical form: everything but `jobs` and `name`, every default filled in. Folders within the event's own are
    /// relative to it, so that an event that was moved as a whole is still the same.
    ///
    /// It holds the seed if the event names one.
    pub fn fingerprint(&self) -> Value {
        let bots: Vec<Value> = self.bots.iter().map(|bot| self.bot(bot)).collect();
        let mut event = json!({
            "event": {
                "game": self.game,
                "format": format_word(self.format),
                "games": self.games,
                "paired": self.paired,
                "rounds": self.rounds,
                "seats": self.seats,
                "opening_plies": self.opening_plies,
                "openings": openings_summary(&self.openings),
                "restart": restart_word(self.restart),
                "seed": self.seed,
            },
            "rules": super::game::all_rules(self.kind(), &self.rules),
            "clock": clock_values(&self.clock),
            "limits": self.limit_values(&self.limits),
            "bots": bots,
        });
        if let Some(own) = &self.own_game {
            event["event"]["game_program"] = own.fingerprint(&self.base);
        }
        // Only where there is one: results from before there was such a thing are of the same event.
        if let Some(rules) = &self.adjudication {
            event["adjudication"] = adjudication_values(rules);
        }
        // Only what means something in the format.
        let options = &self.options;
        match self.format {
            Format::RoundRobin | Format::Swiss | Format::Knockout => {}
            Format::Gauntlet => {
                let candidate = options.candidate.and_then(|slot| self.bots.get(slot));
                event["event"]["candidate"] = candidate.map(|bot| bot.name.clone()).into();
            }
            Format::Groups => {
                event["event"]["groups"] = options.groups.into();
                event["event"]["advance"] = options.advance.into();
            }
            Format::Ladder => {
                event["event"]["reach"] = options.reach.into();
                let file = options.ladder.as_ref().map(|file| shown(&self.base, file));
                event["event"]["ladder"] = file.into();
            }
        }
        event
    }

    fn limit_values(&self, limits: &Limits) -> Value {
        let runtime: Vec<String> = limits
            .runtime
            .iter()
            .map(|folder| shown(&self.base, folder))
            .collect();
        json!({
            "memory": show_size(limits.memory),
            "processes": limits.processes,
            "stderr": show_size(limits.stderr),
            "output": show_size(limits.output),
            "line": show_size(limits.line as u64),
            "note": show_size(limits.note as u64),
            "disk": show_size(limits.disk),
            "exit": show_duration(limits.exit_us),
            "cores": limits.cores,
            "ponder": limits.ponder,
            "runtime": runtime,
            "sandbox": sandbox_word(limits.sandbox),
        })
    }

    fn bot(&self, bot: &BotSpec) -> Value {
        let mut value = Map::new();
        value.insert("name".into(), bot.name.as_str().into());
        match &bot.program {
            Program::Builtin(name) => {
                value.insert("builtin".into(), name.as_str().into());
            }
            Program::Command { argv, dir, own_dir } => {
                value.insert("command".into(), argv.as_slice().into());
                if *own_dir {
                    value.insert("dir".into(), shown(&self.base, dir).into());
                }
            }
        }
        let env: Map<String, Value> = bot
            .env
            .iter()
            .map(|(name, text)| (name.clone(), text.as_str().into()))
            .collect();
        value.insert("env".into(), env.into());
        value.insert("options".into(), bot.options.clone().into());
        if bot.joins > 1 {
            value.insert("joins".into(), bot.joins.into());
        }
        if let Some(leaves) = bot.leaves {
            value.insert("leaves".into(), leaves.into());
        }
        // Only what is its own: a change of [limits] is one change, not one a bot.
        if let (Value::Object(mut own), Value::Object(common)) = (
            self.limit_values(&bot.limits),
            self.limit_values(&self.limits),
        ) {
            own.retain(|key, value| common.get(key) != Some(value));
            value.insert("limits".into(), own.into());
        }
        Value::Object(value)
    }
}

/// The positions that games start from, as a fingerprint notes them.
pub fn openings_summary(openings: &[Value]) -> Value {
    if openings.is_empty() {
        return Value::Null;
    }
    let mut hasher = Sha256::new();
    for state in openings {
        hasher.update(state.to_string());
        hasher.update("\n");
    }
    let hash = chance::hex(&hasher.finalize());
    Value::from(format!("{} positions, sha256 {hash}", openings.len()))
}

/// A clock, as a fingerprint notes it.
pub fn clock_values(clock: &ClockSpec) -> Value {
    json!({
        "main": clock.main_us.map(show_duration),
        "increment": show_duration(clock.increment_us),
        "move": clock.move_us.map(show_duration),
        "delay": show_duration(clock.delay_us),
        "margin": show_duration(clock.margin_us),
        "ready": show_duration(clock.ready_us),
        "kind": clock_kind_word(clock.kind),
        "wall_ceiling": clock.ceiling_us.map(show_duration),
    })
}

/// The rules that may end a game, as a fingerprint notes them.
pub fn adjudication_values(rules: &Adjudication) -> Value {
    json!({
        "resign_eval": rules.resign.map(|rule| rule.eval),
        "resign_moves": rules.resign.map(|rule| rule.moves),
        "max_moves": rules.max_moves,
    })
}

/// What is different between two fingerprints, one sentence a change: `[clock].main was 60s, is 30s`. Empty where they are of the same
/// event.
pub fn changes(was: &Value, is: &Value) -> Vec<String> {
    let mut changes = Vec::new();
    for section in ["event", "rules", "clock", "adjudication", "limits"] {
        let name = format!("[{section}]");
        compare(&name, &was[section], &is[section], &mut changes);
    }
    compare_bots(&was["bots"], &is["bots"], &mut changes);
    if changes.is_empty() && was != is {
        // Written by a version that knew other keys.
        changes.push("the description of the event has another form".into());
    }
    changes
}

/// Compares two values key by key; what is no table is compared as a whole.
fn compare(path: &str, was: &Value, is: &Value, changes: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            let added = is.keys().filter(|key| !was.contains_key(*key));
            for key in was.keys().chain(added) {
                let get = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                compare(&format!("{path}.{key}"), &get(was), &get(is), changes);
            }
        }
        (Value::Object(was), Value::Null) => {
            compare(path, &Value::Object(was.clone()), &json!({}), changes);
        }
        (Value::Null, Value::Object(is)) => {
            compare(path, &json!({}), &Value::Object(is.clone()), changes);
        }
        (was, is) if was != is => {
            changes.push(format!("{path} was {}, is {}", words(was), words(is)));
        }
        _ => {}
    }
}

/// A value in a sentence.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "absent".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn compare_bots(was: &Value, is: &Value, changes: &mut Vec<String>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (was, is) = (list(was), list(is));
    let name = |bot: &Value| bot["name"].as_str().unwrap_or_default().to_owned();
    let find = |bots: &[Value], wanted: &str| bots.iter().find(|bot| name(bot) == wanted).cloned();
    for bot in &was {
        let shown = quoted(&name(bot));
        match find(&is, &name(bot)) {
            None => changes.push(format!("bot {shown} was removed")),
            Some(now) => compare(&format!("bot {shown}"), bot, &now, changes),
        }
    }
    for bot in &is {
        if find(&was, &name(bot)).is_none() {
            changes.push(format!("bot {} was added", quoted(&name(bot))));
        }
    }
    let names = |bots: &[Value]| bots.iter().map(name).collect::<Vec<_>>();
    let (was, is) = (names(&was), names(&is));
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    if was != is && sorted(&was) == sorted(&is) {
        changes.push("the bots stand in another order".into());
    }
}
