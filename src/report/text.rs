//! Text that others made, safe to show.

use std::borrow::Cow;

use tabled::grid::util::string::get_char_width;

/// How many marks may stand on one character (letters of Vietnamese and Hebrew have up to three). More are a way to paint
/// over other lines.
const MAX_MARKS: usize = 3;

/// Text for a terminal: what moves the cursor, reorders the line, or is there without being seen is written as
/// `\u{1b}`. The result is one line.
pub fn escape(text: &str) -> Cow<'_, str> {
    // At the beginning a mark would stand on what is before the text.
    let mut marks = MAX_MARKS;
    let mut judge = |c: char| {
        if is_hidden(c) {
            marks = MAX_MARKS;
            return true;
        }
        marks = if get_char_width(c) == 0 { marks + 1 } else { 0 };
        marks > MAX_MARKS
    };
    let Some((first, _)) = text.char_indices().find(|&(_, c)| judge(c)) else {
        return Cow::Borrowed(text);
    };
    let mut escaped = text[..first].to_owned();
    let mut rest = text[first..].chars();
    if let Some(c) = rest.next() {
        escaped.extend(c.escape_unicode());
    }
    for c in rest {
        if judge(c) {
            escaped.extend(c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Whether a character has no sight of its own but an effect: controls, line separators, direction marks, joiners,
/// fillers, selectors, tags (Unicode: general categories Cc, Cf, Zl, Zp, and Default_Ignorable_Code_Point).
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' // soft hyphen
            | '\u{34f}' // grapheme joiner
            | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // fillers of Hangul
            | '\u{17b4}' | '\u{17b5}' // vowels of Khmer that are not seen
            | '\u{180b}'..='\u{180f}' // of Mongolian
            | '\u{200b}'..='\u{200f}' // zero-width space and joiners, direction marks
            | '\u{2028}'..='\u{202e}' // line separators, embeddings and overrides of direction
            | '\u{2060}'..='\u{206f}' // word joiner, invisible operators, isolates
            | '\u{fe00}'..='\u{fe0f}' // selectors of variants
            | '\u{feff}' // byte order mark
            | '\u{fff0}'..='\u{fffb}' // annotations
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' // shorthand
            | '\u{1d173}'..='\u{1d17a}' // music
            | '\u{e0000}'..='\u{e0fff}' // tags, selectors
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in [
            "",
            "team-a",
            "Şükrü Ğ. İçli",
            "a\u{308}o\u{308}",
            "漢字 ½ ± …",
            "\\u{1b}",
            "שָׁלוֹם",
            "Tiê\u{301}ng",
        ] {
            assert!(
                matches!(escape(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn what_acts_without_being_seen_is_written_out() {
        for (text, shown) in [
            ("\u{1b}[31mred\u{7}", r"\u{1b}[31mred\u{7}"),
            ("a\r\nb\tc", r"a\u{d}\u{a}b\u{9}c"),
            ("\u{9b}2J", r"\u{9b}2J"),
            ("abc\u{202e}fed", r"abc\u{202e}fed"),
            ("\u{2066}x\u{2069}", r"\u{2066}x\u{2069}"),
            ("te\u{200b}am", r"te\u{200b}am"),
            ("\u{feff}a\u{ad}b\u{fe0f}", r"\u{feff}a\u{ad}b\u{fe0f}"),
            ("a\u{e0041}", r"a\u{e0041}"),
            ("\u{0}\u{7f}", r"\u{0}\u{7f}"),
            ("\u{2028}", r"\u{2028}"),
        ] {
            assert_eq!(escape(text), shown);
        }
    }

    #[test]
    fn marks_stand_on_a_character_and_do_not_pile_up() {
        assert_eq!(escape("\u{301}a"), r"\u{301}a");
        assert_eq!(escape("x\u{301}\u{301}\u{301}"), "x\u{301}\u{301}\u{301}");
        let piled = escape("x\u{301}\u{302}\u{303}\u{304}\u{305}y").into_owned();
        assert_eq!(piled, "x\u{301}\u{302}\u{303}\\u{304}\\u{305}y");
        assert_eq!(escape("\u{1b}\u{301}"), r"\u{1b}\u{301}");
    }

    /// Nothing that is left has no width, but for marks; and the result is safe: escaping it again changes nothing.
    #[test]
    fn every_character_ends_up_visible() {
        for c in '\0'..=char::MAX {
            let text = format!("x{c}");
            let shown = escape(&text);
            assert_eq!(escape(&shown), shown);
            assert!(
                !shown.chars().any(|c| c.is_control() || is_hidden(c)),
                "{text:?}"
            );
        }
    }
}
