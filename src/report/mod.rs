//! What is printed: one read model a report, written as a table for people, JSON, CSV or Markdown.
//!
//! A [`Report`] has its rows twice: as data (the protocol's rows, which become JSON) and as a [`Table`] of cells. A new
//! report is one file with a function that makes a [`Report`].

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use serde::Serialize;

pub mod bots;
pub mod confinement;
pub mod data;
pub mod encounters;
pub mod games;
pub mod gate;
pub mod html;
mod json;
pub mod junit;
pub mod model;
pub mod page;
pub mod ratings;
pub mod rulings;
pub mod standings;
mod table;
pub mod text;

pub use table::{Cell, Column, Shown, Table};
pub use text::{escape, markdown};

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people, at a terminal.
    #[default]
    Table,
    /// An array with an object a row.
    Json,
    /// With a header line; lists are spread over columns.
    Csv,
    /// A table in Markdown.
    Markdown,
}

impl Format {
    /// Every form.
    pub const ALL: [Format; 4] = [Format::Table, Format::Json, Format::Csv, Format::Markdown];

    /// The word on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Markdown => "markdown",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        Format::ALL
            .into_iter()
            .find(|format| format.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no format; there are table, json, csv, markdown"))
    }
}

/// How a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The form.
    pub format: Format,
    /// The columns of the terminal that a table must fit into; `None`: as wide as it is.
    pub width: Option<usize>,
    /// Whether a table may use colour.
    pub color: bool,
}

/// The rows of a report.
#[derive(Clone, Debug)]
pub struct Report<R> {
    /// As data.
    pub rows: Vec<R>,
    /// As cells, a row for each of [`Report::rows`].
    pub table: Table,
    /// What people should know besides, a line each.
    pub notes: Vec<String>,
}

impl<R: Serialize> Report<R> {
    /// Writes the report.
    ///
    /// # Errors
    /// Whatever `out` reports; a reader that went away is [`io::ErrorKind::BrokenPipe`].
    pub fn write(&self, look: Look, out: &mut dyn Write) -> io::Result<()> {
        match look.format {
            Format::Table => self
                .table
                .write_text(look.width, look.color, &self.notes, out),
            Format::Json => json::write_rows(&self.rows, out),
            Format::Csv => self.table.write_csv(out),
            Format::Markdown => self.table.write_markdown(&self.notes, out),
        }?;
        out.flush()
    }

    /// Writes a report that has one row: as JSON it is an object, not an array.
    ///
    /// # Errors
    /// As [`Report::write`].
    pub fn write_one(&self, look: Look, out: &mut dyn Write) -> io::Result<()> {
        match (look.format, self.rows.first()) {
            (Format::Json, Some(row)) => {
                json::write_row(row, out)?;
                out.flush()
            }
            _ => self.write(look, out),
        }
    }
}

/// A number as data: six decimals, so that the last bits of a computation do not show.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    // No minus zero; a number that cannot be scaled stays as it is.
    if rounded.is_finite() {
        rounded + 0.0
    } else {
        value
    }
}

/// Whole milliseconds.
const fn ms(us: u64) -> u64 {
    us / 1000
}

/// Seconds with one decimal, as people read them.
fn seconds(us: u64) -> Cell {
    Cell::Real(us as f64 / 1e6, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_their_words() {
        for format in Format::ALL {
            assert_eq!(format.as_str().parse(), Ok(format));
        }
        let error = "yaml".parse::<Format>().expect_err("there is none");
        assert!(error.contains("yaml") && error.contains("json"), "{error}");
    }

    #[test]
    fn numbers_are_rounded_to_six_decimals() {
        assert_eq!(rounded(1_464.050_670_7), 1_464.050_671);
        assert!(rounded(-1e-9).is_sign_positive());
        assert_eq!(rounded(f64::INFINITY), f64::INFINITY);
        assert_eq!(rounded(1e305), 1e305);
    }
}
