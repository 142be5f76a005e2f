//! `hakem report`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::exit::Refused;

use super::results::event_results;
use super::unless_closed;
use crate::report::model::EventResults;
use crate::report::{self, Format, Look, data, html, junit, page};
use crate::store::Store;

/// The page in the folder of results.
pub const PAGE: &str = "report.html";

/// Write the reports of an event again, from what is stored
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder of results
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Write one page of HTML, which needs nothing else; - is stdout [default, if nothing else is asked for: DIR/report.html]
    #[arg(long, value_name = "F")]
    pub html: Option<PathBuf>,
    /// Write JUnit XML: a test case for each pairing, failed where a bot forfeited a game
    #[arg(long, value_name = "F")]
    pub junit: Option<PathBuf>,
    /// Write the same tables in Markdown
    #[arg(long, value_name = "F")]
    pub markdown: Option<PathBuf>,
    /// Write the event, its standings and what confined the bots as one JSON object
    #[arg(long, value_name = "F")]
    pub json: Option<PathBuf>,
    /// Write the standings as CSV
    #[arg(long, value_name = "F")]
    pub csv: Option<PathBuf>,
}

/// Writes them.
///
/// # Errors
/// A folder that holds no results, results that cannot be read, a file that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let results = event_results(&Store::open_read_only(&args.dir)?)?;
    let mut wrote = false;
    let mut put =
        |path: &Option<PathBuf>, make: &dyn Fn() -> anyhow::Result<String>| -> anyhow::Result<()> {
            let Some(path) = path else { return Ok(()) };
            wrote = true;
            write(path, &make()?)
        };
    put(&args.html, &|| html_page(&results))?;
    put(&args.junit, &|| junit::event(&results))?;
    put(&args.markdown, &|| markdown(&results))?;
    put(&args.json, &|| data::event(&results))?;
    put(&args.csv, &|| csv(&results))?;
    if !wrote {
        write_page(&args.dir, &results)?;
        super::say(format!("wrote {}", args.dir.join(PAGE).display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of an event into its folder.
///
/// # Errors
/// Results that contradict themselves; what the disk refused.
pub fn write_page(dir: &Path, results: &EventResults) -> anyhow::Result<()> {
    write(&dir.join(PAGE), &html_page(results)?)
}

fn html_page(results: &EventResults) -> anyhow::Result<String> {
    html::page(&results.name, &page::sections(results)?)
}

fn markdown(results: &EventResults) -> anyhow::Result<String> {
    let look = Look {
        format: Format::Markdown,
        ..Look::default()
    };
    let mut text = format!("# {}\n", report::markdown(&results.name)).into_bytes();
    for section in page::sections(results)? {
        writeln!(text, "\n## {}\n", section.title)?;
        section.write(look, &mut text)?;
    }
    Ok(String::from_utf8(text)?)
}

fn csv(results: &EventResults) -> anyhow::Result<String> {
    let look = Look {
        format: Format::Csv,
        ..Look::default()
    };
    let mut text = Vec::new();
    report::standings::report(&results.standings()?).write(look, &mut text)?;
    Ok(String::from_utf8(text)?)
}

/// Writes a file whole or not at all; `-` is stdout.
///
/// # Errors
/// What the disk refused.
pub fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if path == Path::new("-") {
        unless_closed(io::stdout().write_all(text.as_bytes()))?;
        return Ok(());
    }
    let write = || -> io::Result<()> {
        let path = std::path::absolute(path)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut file = tempfile::Builder::new()
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&path)?;
        Ok(())
    };
    let folder = std::path::absolute(path)?;
    let folder = folder.parent().unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        return Err(Refused(format!(
            "cannot write {}: there is no folder {}",
            path.display(),
            folder.display()
        ))
        .into());
    }
    write().map_err(|error| {
        // Its words name the file that it was to be before it is whole.
        let what = match error.get_ref().and_then(|inner| inner.source()) {
            Some(source) => source.to_string(),
            None => error.to_string(),
        };
        let what = format!("cannot write {}: {what}", path.display());
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::IsADirectory => Refused(what).into(),
            _ => anyhow::Error::msg(what),
        }
    })
}
