//! The report as one page of HTML that needs nothing else: no script, no font, no picture from elsewhere.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::escape;
use super::page::Section;

const TEMPLATE: &str = include_str!("page.html");

#[derive(Serialize)]
struct Page {
    title: String,
    version: &'static str,
    sections: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    title: &'static str,
    headings: Vec<Heading>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Heading {
    text: String,
    number: bool,
}

/// The page. Every text in it is escaped.
///
/// # Errors
/// The template cannot be filled in: a bug.
pub fn page(title: &str, sections: &[Section]) -> anyhow::Result<String> {
    let part = |section: &Section| {
        let (headings, rows) = section.table.for_page();
        Part {
            title: section.title,
            headings: headings
                .into_iter()
                .map(|(text, number)| Heading { text, number })
                .collect(),
            rows,
            notes: section
                .notes
                .iter()
                .map(|note| escape(note).into_owned())
                .collect(),
        }
    };
    let page = Page {
        title: escape(title).into_owned(),
        version: env!("CARGO_PKG_VERSION"),
        sections: sections.iter().map(part).collect(),
    };
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    let text = templates.render_str(TEMPLATE, Serde(&page))?;
    Ok(text)
}
