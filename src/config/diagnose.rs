//! What is wrong with an event file, and how it is shown.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::report::text::is_hidden;

/// Problems that are shown at most; the rest is counted.
const MAX_SHOWN: usize = 20;
/// Characters of a text from outside that are repeated at most.
const MAX_QUOTED: usize = 60;
/// Columns of a source line that are shown at most.
const WIDTH: usize = 140;

/// Everything that is wrong with an event file, and with the files that it names: at least one problem.
///
/// It displays as plain text of several lines; [`ConfigError::render`] can add colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigError {
    sources: Vec<Source>,
    problems: Vec<Problem>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    name: String,
    text: String,
}

/// The place of a problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The file, by the number that [`ConfigError::add_source`] gave.
    pub(super) source: usize,
    /// Where its bytes begin; first in the order of problems.
    pub(super) start: usize,
    /// Where they end.
    pub(super) end: usize,
}

impl Place {
    pub(super) fn new(source: usize, span: Range<usize>) -> Place {
        Place {
            source,
            start: span.start,
            end: span.end,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    place: Option<Place>,
    title: String,
    label: String,
}

impl ConfigError {
    /// An error about a file as a whole, or about something that is in no file.
    pub(super) fn general(title: impl Into<String>) -> ConfigError {
        let mut error = ConfigError::default();
        error.push(None, title, "");
        error
    }

    /// Names a file for later problems.
    pub(super) fn add_source(&mut self, name: impl Into<String>, text: impl Into<String>) -> usize {
        self.sources.push(Source {
            name: name.into(),
            text: text.into(),
        });
        self.sources.len() - 1
    }

    /// Adds a problem: what is wrong, and at the caret what would be right.
    pub(super) fn push(
        &mut self,
        place: Option<Place>,
        title: impl Into<String>,
        label: impl Into<String>,
    ) {
        self.problems.push(Problem {
            place,
            title: title.into(),
            label: label.into(),
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Puts the problems in the order of the files and lines.
    pub(super) fn sort(&mut self) {
        self.problems.sort_by(|a, b| a.place.cmp(&b.place));
    }

    /// The line of a place, from 1.
    pub(super) fn line_of(&self, place: &Place) -> usize {
        let text = self.sources[place.source].text.as_bytes();
        1 + text[..place.start.min(text.len())]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
    }

    /// What is wrong, one sentence a problem, in the order of the files and lines.
    pub fn titles(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(|problem| problem.title.as_str())
    }

    /// All problems as text, each with its line and a caret; with colours of a terminal if `styled`.
    pub fn render(&self, styled: bool) -> String {
        let renderer = if styled {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let renderer = renderer.term_width(WIDTH);
        let mut shown: Vec<String> = self
            .problems
            .iter()
            .take(MAX_SHOWN)
            .map(|problem| renderer.render(&[self.group(problem)]))
            .collect();
        if let Some(more) = self
            .problems
            .len()
            .checked_sub(MAX_SHOWN)
            .filter(|&n| n > 0)
        {
            shown.push(format!("... and {more} more"));
        }
        // The renderer makes the old control characters seen, and uses some itself. Of the others a terminal obeys some.
        let unseen = |c: char| !c.is_ascii() && is_hidden(c);
        shown.join("\n\n").replace(unseen, "\u{fffd}")
    }

    fn group<'a>(&'a self, problem: &'a Problem) -> Group<'a> {
        let title = Level::ERROR.primary_title(&problem.title);
        let Some(place) = &problem.place else {
            return Group::with_title(title);
        };
        let source = &self.sources[place.source];
        let annotation = AnnotationKind::Primary.span(whole_chars(&source.text, place));
        let annotation = if problem.label.is_empty() {
            annotation
        } else {
            annotation.label(&problem.label)
        };
        title.element(
            Snippet::source(&source.text)
                .path(&source.name)
                .annotation(annotation),
        )
    }
}

/// The span of a place, within the text and at the borders of characters.
fn whole_chars(text: &str, place: &Place) -> Range<usize> {
    let start = text.floor_char_boundary(place.start);
    let end = text.ceil_char_boundary(place.end.max(start));
    start..end
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for ConfigError {}

/// A text from outside for a message: in quotes, without control characters, cut short.
pub(super) fn quoted(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars().take(MAX_QUOTED) {
        if letter == ' ' || letter.is_ascii_graphic() {
            shown.push(letter);
        } else {
            shown.extend(letter.escape_debug());
        }
    }
    if text.chars().nth(MAX_QUOTED).is_some() {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

/// The known word that is nearest to what was written, if any is near.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: String = word.chars().take(MAX_QUOTED).collect();
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().div_ceil(3))
        // Of two that are as near the one with more of the same letters: `gams` is `games` rather than `game`.
        .min_by(|a, b| {
            let alike = |word: &str, known: &str| strsim::jaro(word, known);
            let letters = || alike(&word, b.1).total_cmp(&alike(&word, a.1));
            a.0.cmp(&b.0).then_with(letters)
        })
        .map(|(_, candidate)| candidate)
}

/// "did you mean `rounds`?", or else what is known.
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let known: Vec<&str> = known.into_iter().collect();
            format!("known are {}", known.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words() {
        let known = ["round-robin", "rounds", "games", "paired"];
        assert_eq!(nearest("ronds", known), Some("rounds"));
        assert_eq!(nearest("gmaes", known), Some("games"));
        assert_eq!(nearest("gams", ["game", "games"]), Some("games"));
        assert_eq!(nearest("gme", ["game", "games"]), Some("game"));
        assert_eq!(nearest("zebra", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(
            suggestion("zebra", known),
            "known are round-robin, rounds, games, paired"
        );
    }

    #[test]
    fn quoting_is_short_and_plain() {
        assert_eq!(quoted("a\u{1b}[31m\n"), "`a\\u{1b}[31m\\n`");
        assert_eq!(quoted(&"x".repeat(100)).len(), 2 + 60 + 3);
    }
}
