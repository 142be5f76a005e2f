//! Tells on stderr what happens in a run: a bar on a terminal, warnings everywhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::event::{Event, Slot, Verdict};

/// The progress of a run.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    names: Vec<String>,
    games: u64,
    forfeits: u64,
    voids: u64,
    note: Option<String>,
}

impl Progress {
    /// Progress of bots with these names; the bar is only drawn on a terminal.
    pub fn new(names: Vec<String>, terminal: bool) -> Progress {
        let target = if terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Progress {
            bar: ProgressBar::with_draw_target(None, target),
            names,
            games: 0,
            forfeits: 0,
            voids: 0,
            note: None,
        }
    }

    /// Shows this beside the bar, instead of who plays.
    pub fn note(&mut self, note: String) {
        self.bar.set_message(note.clone());
        self.note = Some(note);
    }

    /// Tells an event.
    pub fn tell(&mut self, event: &Event) {
        match event {
            Event::RunStarted {
                matches,
                done,
                jobs,
            } => {
                let template = match matches {
                    Some(matches) => {
                        self.bar.set_length(*matches as u64);
                        "{bar:30} {pos}/{len} matches, {elapsed_precise}, {eta} left  {msg}"
                    }
                    None => "{pos} matches, {elapsed_precise}  {msg}",
                };
                if let Ok(style) = ProgressStyle::with_template(template) {
                    self.bar.set_style(style);
                }
                self.bar.set_position(*done as u64);
                self.bar.reset_eta();
                self.bar.set_message(format!("{jobs} at once"));
            }
            Event::Warning(text) => self.line(&format!("warning: {}", super::shown(text))),
            Event::MatchStarted { seats, .. } => {
                if self.note.is_none() {
                    self.bar.set_message(self.between(seats));
                }
            }
            Event::GameFinished(result) => {
                self.games += 1;
                if result.verdict.is_forfeit() {
                    self.forfeits += 1;
                    self.forfeit(result);
                }
            }
            Event::GameVoided { id, why } => {
                self.voids += 1;
                self.line(&format!("warning: {id} was void: {}", super::shown(why)));
            }
            Event::MatchFinished(_) => {
                self.bar.inc(1);
                // A knockout that is played on has more matches than were known.
                if let Some(length) = self.bar.length() {
                    self.bar.set_length(length.max(self.bar.position()));
                }
            }
            Event::RunFinished | Event::Interrupted => {}
        }
    }

    /// Takes the bar away; on a terminal a line with the sums stays.
    pub fn finish(&self) {
        let line = format!(
            "{} games played, {} forfeits, {} void",
            self.games, self.forfeits, self.voids
        );
        if !self.bar.is_hidden() {
            self.bar.println(line);
        }
        self.bar.finish_and_clear();
    }

    fn between(&self, seats: &[Slot]) -> String {
        let names: Vec<String> = seats
            .iter()
            .map(|&slot| super::shown(&self.names[slot]))
            .collect();
        names.join(" - ")
    }

    /// A forfeit is worth a line on a terminal; elsewhere the table of games has it.
    fn forfeit(&self, result: &crate::event::GameResult) {
        if self.bar.is_hidden() || result.verdict == Verdict::Void {
            return;
        }
        let who = result
            .against
            .map(|seat| super::shown(&self.names[result.seats[seat]]));
        self.bar.println(format!(
            "{}: {} forfeits, {}",
            result.id,
            who.unwrap_or_default(),
            super::shown(&result.reason)
        ));
    }

    fn line(&self, text: &str) {
        if self.bar.is_hidden() {
            super::say(text);
        } else {
            self.bar.println(text);
        }
    }
}
