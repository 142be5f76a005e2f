//! How results are written: the flags that every command with a table takes.

use std::io::{self, IsTerminal, Write};

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;

use hakem_protocol::results::GateResult;

use super::unless_closed;
use crate::event::GameId;
use crate::rating::history::{History, Step};
use crate::report::model::EventResults;
use crate::report::page::Figure;
use crate::report::rulings;
use crate::report::{self, Format, Look};
use crate::tournament::standings::Standings;

/// The flags.
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// How the table is written
    #[arg(long, value_name = "FORMAT", default_value_t, value_parser = formats(), global = true)]
    pub format: Format,
    /// Whether to use colours; the variable NO_COLOR is honoured
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: When,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

fn formats() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::as_str))
        .try_map(|word| word.parse::<Format>())
}

/// How results are written, decided.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    look: Look,
    color: When,
}

impl OutputArgs {
    /// Decides.
    pub fn get(&self) -> Output {
        let stdout = io::stdout();
        let width = rustix::termios::tcgetwinsize(&stdout)
            .ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|&width| width > 0);
        let color = wants_color(self.color, stdout.is_terminal());
        Output {
            look: Look {
                format: self.format,
                width,
                color,
            },
            color: self.color,
        }
    }
}

fn wants_color(when: When, terminal: bool) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

impl Output {
    /// Whether the form is one that people read.
    pub fn is_for_people(&self) -> bool {
        matches!(self.look.format, Format::Table | Format::Markdown)
    }

    /// Whether the form is the one for a terminal.
    pub fn is_text(&self) -> bool {
        self.look.format == Format::Table
    }

    /// How a report is written.
    pub fn look(&self) -> Look {
        self.look
    }

    /// Whether messages on stderr are coloured.
    pub fn color_on_stderr(&self) -> bool {
        wants_color(self.color, io::stderr().is_terminal())
    }

    /// Writes the standings of an event; `progress` says what is left to play.
    ///
    /// # Errors
    /// Stdout that fails.
    pub fn standings(&self, standings: &Standings, progress: Option<String>) -> anyhow::Result<()> {
        let mut report = report::standings::report(standings);
        report.notes.extend(progress);
        self.write(|look, out| report.write(look, out))
    }

    /// Writes the list of built-in bots.
    ///
    /// # Errors
    /// Stdout that fails.
    pub fn bots(&self) -> anyhow::Result<()> {
        self.write(|look, out| report::bots::report().write(look, out))
    }

    /// Writes what the organiser of an event ruled.
    ///
    /// # Errors
    /// Stdout that fails.
    pub fn rulings(&self, results: &EventResults) -> anyhow::Result<()> {
        self.write(|look, out| rulings::report(results).write(look, out))
    }

    /// Writes the verdict of a gate.
    ///
    /// # Errors
    /// Stdout that fails.
    pub fn gate(&self, result: GateResult) -> anyhow::Result<()> {
        self.write(|look, out| report::gate::write(result, look, out))
    }

    /// Writes a list of figures.
    ///
    /// # Errors
    /// Stdout that fails.
    pub fn list(&self, list: report::Report<Figure>) -> anyhow::Result<()> {
        self.write(|look, out| list.write(look, out))
    }

    /// Writes ratings across events.
    ///
    /// # Errors
    /// Stdout that fails.
    pub fn ratings(
        &self,
        names: &[String],
        anchors: &[Option<f64>],
        history: &History,
    ) -> anyhow::Result<()> {
        self.write(|look, out| report::ratings::report(names, anchors, history).write(look, out))
    }

    /// Writes the way of one bot through events of these names.
    ///
    /// # Errors
    /// Stdout that fails.
    pub fn rating_history(&self, steps: &[Step], events: &[String]) -> anyhow::Result<()> {
        self.write(|look, out| report::ratings::history(steps, events).write(look, out))
    }

    /// Writes the list of games.
    ///
    /// # Errors
    /// Results that contradict themselves; stdout that fails.
    pub fn games(
        &self,
        results: &EventResults,
        record_name: &dyn Fn(GameId) -> String,
    ) -> anyhow::Result<()> {
        let EventResults { names, games, .. } = results;
        let mut report = report::games::report_ruled(names, games, &results.desk, record_name)?;
        if self.is_text() {
            report.notes = report::games::reasons(games);
            report.notes.extend(rulings::notes(results));
        }
        self.write(|look, out| report.write(look, out))
    }

    fn write(
        &self,
        write: impl FnOnce(Look, &mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        let written = write(self.look, &mut stdout).and_then(|()| stdout.flush());
        Ok(unless_closed(written)?)
    }
}
