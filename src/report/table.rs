//! Columns and rows of cells, and their forms: text for a terminal, CSV, Markdown.

use std::borrow::Cow;
use std::io::{self, Write};

use tabled::builder::Builder;
use tabled::grid::util::string::{get_char_width, get_string_width};
use tabled::settings::object::{Columns, Rows};
use tabled::settings::{Alignment, Color, Style};

use super::text::{csv_field, escape, markdown};

/// The least width that a column of texts is cut to.
const MIN_TEXT: usize = 8;
/// The width of a column of texts that other columns do not take away.
const WISHED_TEXT: usize = 20;

/// What stands in one place of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// Text of this program, shown as it is.
    Plain(String),
    /// Text that may come from others: escaped for each form.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number, and how many decimals people see of it. As data it has six.
    Real(f64, usize),
}

/// Who sees a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// All.
    Always,
    /// Who reads the terminal or Markdown.
    People,
    /// Who reads CSV.
    Data,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name in CSV.
    pub key: String,
    /// The heading for people.
    pub title: Cow<'static, str>,
    /// Who sees it.
    pub shown: Shown,
    /// The turn in which it gets its room where a terminal is narrow: 1 before 2; 0 always has it.
    pub spare: u8,
}

impl Column {
    /// A column that all see, and that is never left out.
    pub fn new(key: impl Into<String>, title: impl Into<Cow<'static, str>>) -> Column {
        Column {
            key: key.into(),
            title: title.into(),
            shown: Shown::Always,
            spare: 0,
        }
    }

    /// The same, in this turn.
    pub fn spare(self, spare: u8) -> Column {
        Column { spare, ..self }
    }

    /// The same, for people only.
    pub fn for_people(self) -> Column {
        Column {
            shown: Shown::People,
            ..self
        }
    }

    /// A column of CSV only.
    pub fn data(key: impl Into<String>) -> Column {
        Column {
            shown: Shown::Data,
            ..Column::new(key, "")
        }
    }
}

/// Columns and rows.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table of these columns; each row has a cell for each of them.
    pub fn new(columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Table {
        debug_assert!(rows.iter().all(|row| row.len() == columns.len()));
        Table { columns, rows }
    }

    /// The columns for people that have something to say.
    fn for_people(&self) -> Vec<usize> {
        let says = |column: usize| {
            self.rows.is_empty() || self.rows.iter().any(|row| row[column] != Cell::Empty)
        };
        (0..self.columns.len())
            .filter(|&column| self.columns[column].shown != Shown::Data && says(column))
            .collect()
    }

    fn is_number(&self, column: usize) -> bool {
        let number = |row: &Vec<Cell>| matches!(row[column], Cell::Count(_) | Cell::Real(..));
        self.rows.iter().any(number)
    }

    fn is_text(&self, column: usize) -> bool {
        self.rows
            .iter()
            .any(|row| matches!(row[column], Cell::Text(_)))
    }

    /// The heading and the cells of a column, for people, each text through `safe`.
    fn texts(&self, column: usize, safe: impl Fn(&str) -> String) -> Vec<String> {
        let title = self.columns[column].title.clone().into_owned();
        let cells = self.rows.iter().map(|row| match &row[column] {
            Cell::Text(text) => safe(text),
            other => other.plain(),
        });
        std::iter::once(title).chain(cells).collect()
    }

    // ---- For a terminal -----------------------------------------------------------------------------------------

    /// Writes the table for people, in at most `width` columns of the terminal if it can be done, with the notes below.
    pub(super) fn write_text(
        &self,
        width: Option<usize>,
        color: bool,
        notes: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut shown: Vec<(usize, Vec<String>)> = self
            .for_people()
            .into_iter()
            .map(|column| (column, self.texts(column, |text| escape(text).into_owned())))
            .collect();
        let left_out = width.map_or_else(Vec::new, |width| self.fit(&mut shown, width));
        let mut table = built(shown.iter().map(|(_, texts)| texts.as_slice()));
        table.with(Style::psql());
        for (index, &(column, _)) in shown.iter().enumerate() {
            if self.is_number(column) {
                table.modify(Columns::one(index), Alignment::right());
            }
        }
        if color {
            table.modify(Rows::first(), Color::BOLD);
        }
        for line in table.to_string().lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            writeln!(
                out,
                "left out for want of width: {names} (--format csv has all)"
            )?;
        }
        notes.iter().try_for_each(|note| writeln!(out, "{note}"))
    }

    /// Cuts texts and leaves out columns so that the table fits. Returns the headings of what was left out.
    fn fit(&self, shown: &mut Vec<(usize, Vec<String>)>, width: usize) -> Vec<String> {
        let mut columns: Vec<Measured> = shown
            .iter()
            .map(|(column, texts)| Measured {
                column: *column,
                width: text_width(texts),
                is_text: self.is_text(*column),
            })
            .collect();
        if total_width(&columns, usize::MAX) <= width {
            return Vec::new();
        }
        // Each column in its turn, if there is room for it. Texts may have the width of most names.
        let spare = |column: usize| self.columns[column].spare;
        columns.sort_by_key(|measured| spare(measured.column));
        let mut chosen: Vec<Measured> = Vec::new();
        let mut left_out = Vec::new();
        for measured in columns {
            chosen.push(measured);
            if spare(measured.column) > 0 && total_width(&chosen, WISHED_TEXT) > width {
                chosen.pop();
                left_out.push(self.columns[measured.column].title.clone().into_owned());
            }
        }
        // Then texts get as much as there is, or as little as there must be.
        let limit = (MIN_TEXT..=width)
            .rev()
            .find(|&limit| total_width(&chosen, limit) <= width)
            .unwrap_or(MIN_TEXT);
        shown.retain(|(column, _)| chosen.iter().any(|other| other.column == *column));
        for (_, texts) in shown.iter_mut().filter(|(column, _)| self.is_text(*column)) {
            texts.iter_mut().for_each(|text| cut(text, limit));
        }
        left_out
    }

    // ---- For a page -----------------------------------------------------------------------------------------------

    /// The headings for people with whether the column holds numbers, and the rows: plain text, in which characters that act without being
    /// seen are written out.
    pub(super) fn for_page(&self) -> (Vec<(String, bool)>, Vec<Vec<String>>) {
        let columns = self.for_people();
        let headings = columns
            .iter()
            .map(|&column| {
                (
                    self.columns[column].title.clone().into_owned(),
                    self.is_number(column),
                )
            })
            .collect();
        let cell = |cell: &Cell| escape(&cell.plain()).into_owned();
        let rows = self
            .rows
            .iter()
            .map(|row| columns.iter().map(|&column| cell(&row[column])).collect())
            .collect();
        (headings, rows)
    }

    // ---- CSV and Markdown ---------------------------------------------------------------------------------------

    /// Writes CSV with a header line.
    pub(super) fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns: Vec<usize> = (0..self.columns.len())
            .filter(|&column| self.columns[column].shown != Shown::People)
            .collect();
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(columns.iter().map(|&column| &self.columns[column].key))
            .map_err(io_error)?;
        for row in &self.rows {
            csv.write_record(
                columns
                    .iter()
                    .map(|&column| row[column].data().into_owned()),
            )
            .map_err(io_error)?;
        }
        csv.flush()
    }

    /// Writes a table of Markdown, with the notes below.
    pub(super) fn write_markdown(&self, notes: &[String], out: &mut dyn Write) -> io::Result<()> {
        let columns = self.for_people();
        let shown: Vec<Vec<String>> = columns
            .iter()
            .map(|&column| self.texts(column, markdown))
            .collect();
        let mut table = built(shown.iter().map(Vec::as_slice));
        table.with(Style::markdown());
        for (index, &column) in columns.iter().enumerate() {
            if self.is_number(column) {
                table.modify(Columns::one(index), Alignment::right());
            }
        }
        writeln!(out, "{table}")?;
        notes.iter().try_for_each(|note| write!(out, "\n{note}\n"))
    }
}

impl Cell {
    /// For people, without regard to who made it.
    fn plain(&self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Plain(text) | Cell::Text(text) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Real(value, decimals) => format!("{value:.decimals$}"),
        }
    }

    /// For CSV.
    fn data(&self) -> Cow<'_, str> {
        match self {
            Cell::Text(text) => csv_field(text),
            Cell::Real(value, _) => super::rounded(*value).to_string().into(),
            other => other.plain().into(),
        }
    }
}

/// What stopped the writer of CSV, of its own kind: a reader that went away is told by it.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// A table of tabled's from columns of texts.
fn built<'a>(columns: impl Iterator<Item = &'a [String]> + Clone) -> tabled::Table {
    let height = columns.clone().map(<[String]>::len).max().unwrap_or(0);
    let mut builder = Builder::default();
    for row in 0..height {
        builder.push_record(columns.clone().map(|texts| texts[row].as_str()));
    }
    builder.build()
}

fn text_width(texts: &[String]) -> usize {
    texts
        .iter()
        .map(|text| get_string_width(text))
        .max()
        .unwrap_or(0)
}

/// A column that is to be shown.
#[derive(Clone, Copy)]
struct Measured {
    column: usize,
    width: usize,
    is_text: bool,
}

/// The width of the table with its texts cut to `limit`: a blank on both sides of every column, a line between two.
fn total_width(columns: &[Measured], limit: usize) -> usize {
    let width = |column: &Measured| match column.is_text {
        true => column.width.min(limit),
        false => column.width,
    };
    let widths: usize = columns.iter().map(|column| width(column) + 2).sum();
    (widths + columns.len()).saturating_sub(1)
}

/// Cuts a text to this width, the last column of it a mark that it was cut.
fn cut(text: &mut String, width: usize) {
    if get_string_width(text) <= width {
        return;
    }
    let mut left = width.saturating_sub(1);
    let end = text
        .char_indices()
        .find(|&(_, c)| match left.checked_sub(get_char_width(c)) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
    text.truncate(end.map_or(0, |(at, _)| at));
    text.push('…');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = vec![
            Column::new("name", "name"),
            Column::new("played", "played"),
            Column::new("rating", "rating").spare(1),
            Column::data("exact"),
            Column::new("forfeits", "forfeits").for_people().spare(2),
            Column::new("empty", "never shown").for_people(),
        ];
        let row = |name: &str, played, rating, forfeits: &str| {
            vec![
                Cell::Text(name.into()),
                Cell::Count(played),
                Cell::Real(rating, 1),
                Cell::Real(rating, 9),
                Cell::Plain(forfeits.into()),
                Cell::Empty,
            ]
        };
        let rows = vec![
            row("=HYPERLINK(\"x\")", 10, -1_500.123_456_78, "1 timeout"),
            row("a|b\u{1b}[2J *c* d_e _f_", 7, 2.0, ""),
        ];
        Table::new(columns, rows)
    }

    fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory takes it");
        String::from_utf8(out).expect("it is text")
    }

    #[test]
    fn text_for_a_terminal() {
        let text = written(|out| table().write_text(None, false, &["a note".into()], out));
        let right = r#"
 name                     | played |  rating | forfeits
--------------------------+--------+---------+-----------
 =HYPERLINK("x")          |     10 | -1500.1 | 1 timeout
 a|b\u{1b}[2J *c* d_e _f_ |      7 |     2.0 |
a note
"#;
        assert_eq!(text, right[1..]);
    }

    #[test]
    fn colour_only_where_it_is_wanted() {
        let text = written(|out| table().write_text(None, true, &[], out));
        assert!(
            text.lines()
                .next()
                .is_some_and(|line| line.contains("\u{1b}[1m")),
            "{text}"
        );
        assert!(
            !text.lines().skip(1).any(|line| line.contains('\u{1b}')),
            "{text}"
        );
    }

    #[test]
    fn narrow_terminals_get_less() {
        for width in 1..70 {
            let text = written(|out| table().write_text(Some(width), false, &[], out));
            let (notes, lines): (Vec<&str>, Vec<&str>) =
                text.lines().partition(|line| line.starts_with("left out"));
            let widest = lines.iter().map(|line| get_string_width(line)).max();
            // Name and number of matches stay, the name with eight columns.
            assert!(
                widest <= Some(width.max(MIN_TEXT + 2 + 1 + 8)),
                "{width}\n{text}"
            );
            // The whole is 57 wide, and with the names cut to 20 columns 53.
            assert_eq!(notes.is_empty(), width >= 53, "{width}\n{text}");
            assert!(text.contains("=HYPERL"), "{text}");
        }
        let text = written(|out| table().write_text(Some(20), false, &[], out));
        assert!(text.contains(" =HYPERLI… |     10"), "{text}");
        assert!(
            text.contains("left out for want of width: rating, forfeits ("),
            "{text}"
        );
        // No room for the rating, but for what comes after it in turn.
        let columns = vec![
            Column::new("name", "name"),
            Column::new("rating", "rating").spare(1),
            Column::new("void", "void").spare(2),
        ];
        let row = vec![
            Cell::Text("x".repeat(30)),
            Cell::Plain("1".repeat(30)),
            Cell::Count(3),
        ];
        let table = Table::new(columns, vec![row]);
        let text = written(|out| table.write_text(Some(39), false, &[], out));
        let line = format!(" {} |    3\n", "x".repeat(30));
        assert!(text.contains(&line), "{text}");
    }

    #[test]
    fn csv_guards_text_and_leaves_numbers_alone() {
        let text = written(|out| table().write_csv(out));
        assert_eq!(
            text,
            "name,played,rating,exact\n\
             \"'=HYPERLINK(\"\"x\"\")\",10,-1500.123457,-1500.123457\n\
             a|b\\u{1b}[2J *c* d_e _f_,7,2,2\n"
        );
    }

    #[test]
    fn markdown_has_no_meaning_in_names() {
        let text = written(|out| table().write_markdown(&["a note".into()], out));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert!(
            lines[3].contains(r"a\|b\\u{1b}\[2J \*c\* d_e \_f\_"),
            "{text}"
        );
        assert_eq!(lines[5], "a note");
    }

    #[test]
    fn cuts_by_what_is_seen() {
        let mut text = String::from("漢字漢字");
        cut(&mut text, 6);
        assert_eq!(text, "漢字…");
        let mut text = String::from("漢字漢字");
        cut(&mut text, 8);
        assert_eq!(text, "漢字漢字");
        let mut text = String::from("e\u{301}e\u{301}e\u{301}");
        cut(&mut text, 2);
        assert_eq!(text, "e\u{301}…");
    }

    /// A reader that went away is an error that the caller sees, in every form, and no panic.
    #[test]
    fn a_closed_pipe_is_an_error() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        let columns = vec![Column::new("number", "number")];
        // More than a buffer holds, so that the writing fails and not only the flushing.
        let rows = vec![vec![Cell::Count(7)]; 20_000];
        let report = super::super::Report {
            rows: vec![7; rows.len()],
            table: Table::new(columns, rows),
            notes: Vec::new(),
        };
        for format in super::super::Format::ALL {
            let look = super::super::Look {
                format,
                ..Default::default()
            };
            let error = report.write(look, &mut Closed).expect_err("it is closed");
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "{format}");
        }
    }
}
