//! Text that others made (names, notes, reasons, lines on stderr), safe to show. All of it goes through here, and nothing
//! else makes it safe:
//!
//! | for | through |
//! |---|---|
//! | a terminal | [`escape`] |
//! | a field of CSV | [`csv_field`] |
//! | a cell or a line of Markdown | [`markdown`] |
//! | text and quoted attributes of HTML and XML (JUnit) | [`html`] |
//! | a part of a file's name | [`file_part`] |
//!
//! JSON has escapes of its own; its writer asks [`is_hidden`] what else is not to reach a terminal.

use std::borrow::Cow;

use tabled::grid::util::string::get_char_width;

/// How many marks may stand on one character (letters of Vietnamese and Hebrew have up to three). More are a way to paint
/// over other lines.
const MAX_MARKS: usize = 3;

/// Text for a terminal: what moves the cursor, reorders the line, or is there without being seen is written as
/// `\u{1b}`. The result is one line.
pub fn escape(text: &str) -> Cow<'_, str> {
    let mut escaped = String::new();
    let mut plain = 0;
    for (at, c) in acting(text) {
        escaped.push_str(&text[plain..at]);
        escaped.extend(c.escape_unicode());
        plain = at + c.len_utf8();
    }
    if plain == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[plain..]);
    Cow::Owned(escaped)
}

/// The characters of a text that a terminal would obey or hide, and the marks that pile up on one character, with their
/// places.
pub(super) fn acting(text: &str) -> impl Iterator<Item = (usize, char)> {
    // At the beginning a mark would stand on what is before the text.
    let mut marks = MAX_MARKS;
    text.char_indices().filter(move |&(_, c)| {
        if is_hidden(c) {
            marks = MAX_MARKS;
            return true;
        }
        marks = if get_char_width(c) == 0 { marks + 1 } else { 0 };
        marks > MAX_MARKS
    })
}

/// Whether a character has no sight of its own but an effect: controls, line separators, direction marks, joiners,
/// fillers, selectors, tags (Unicode: general categories Cc, Cf, Zl, Zp, and Default_Ignorable_Code_Point).
pub fn is_hidden(c: char) -> bool {
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
            | '\u{fdd0}'..='\u{fdef}' // no characters, nor the last two of each plane; XML refuses some of them
        )
        || u32::from(c) & 0xfffe == 0xfffe
}

/// Text for a field of CSV: as at a terminal, and marked with an apostrophe where a spreadsheet would take it for a
/// formula (OWASP, "CSV Injection"). A plain number is none.
pub fn csv_field(text: &str) -> Cow<'_, str> {
    let formula = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if text.starts_with(formula) && !is_number(text) {
        format!("'{}", escape(text)).into()
    } else {
        escape(text)
    }
}

/// Whether a text is a plain decimal number: a sign, digits, a point and digits.
fn is_number(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned.split_once('.') {
        Some((whole, decimals)) => digits(whole) && digits(decimals),
        None => digits(unsigned),
    }
}

/// Text for a cell or within a line of Markdown: as at a terminal, and without meaning to Markdown or to the sites that show it.
pub fn markdown(text: &str) -> String {
    let text = escape(text);
    let mut safe = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let active = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '$' => true,
            // Within a word it means nothing.
            '_' => !before.is_alphanumeric() || !next.is_some_and(char::is_alphanumeric),
            // Addresses become links.
            ':' => next == Some('/'),
            '.' => ends_with_www(&safe),
            _ => false,
        };
        if active {
            safe.push('\\');
        }
        safe.push(c);
        // A name behind it would be told of it, or become a link, even behind a backslash; a comment that says nothing
        // keeps the two apart.
        if c == '@' && next.is_some_and(char::is_alphanumeric) {
            safe.push_str("<!-- -->");
        }
        before = c;
    }
    safe
}

fn ends_with_www(text: &str) -> bool {
    let end = text.len().checked_sub(3).and_then(|from| text.get(from..));
    end.is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

/// Text for HTML and XML, within an element or a quoted attribute: as at a terminal, and without meaning to them. Not for
/// scripts, styles, comments or the names of things, where no text of others has any business.
pub fn html(text: &str) -> String {
    let text = escape(text);
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// The longest part of a file's name that is made of a text, in bytes.
const MAX_FILE_PART: usize = 40;

/// Text as a part of a file's name: letters and digits of ASCII, `-` and `_`, not long. Two texts may become the same part, and it
/// may be empty, so a name needs other parts that tell files apart.
pub fn file_part(text: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    text.chars().take(MAX_FILE_PART).map(safe).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    #[test]
    fn what_a_spreadsheet_takes_for_a_formula_is_marked() {
        for text in [
            "=1", "+1+2", "-1-x", "-", "+.5", "-1.", "-1e5", "+٣", "@x", "\tx", "\rx", "＝1", "－1",
        ] {
            assert!(csv_field(text).starts_with('\''), "{text}");
        }
        for text in ["+1", "-1", "-223.3", "+0.0", "12"] {
            assert_eq!(csv_field(text), text);
        }
        assert_eq!(csv_field("a=1"), "a=1");
    }

    #[test]
    fn markdown_sees_no_markup() {
        for (text, shown) in [
            (
                "<b> https://x.y [z](w) ![i] `c` a&amp;b",
                r"\<b\> https\://x.y \[z\](w) !\[i\] \`c\` a\&amp;b",
            ),
            ("www.example.com WWW.x", r"www\.example.com WWW\.x"),
            ("@team, a@b.c @ x", "@<!-- -->team, a@<!-- -->b.c @ x"),
            ("snake_case _x_", r"snake_case \_x\_"),
        ] {
            assert_eq!(markdown(text), shown);
        }
    }

    #[test]
    fn html_sees_no_markup() {
        assert_eq!(
            html("<script>alert('1')</script> \"a\" & \u{202e}b\u{0}"),
            r"&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &quot;a&quot; &amp; \u{202e}b\u{0}"
        );
    }

    #[test]
    fn a_part_of_a_files_name_leads_nowhere() {
        assert_eq!(file_part("team-a_2"), "team-a_2");
        assert_eq!(file_part("../../etc/passwd\0"), "______etc_passwd_");
        assert_eq!(file_part("Ş ü.toml"), "____toml");
        assert_eq!(file_part(&"x".repeat(500)).len(), MAX_FILE_PART);
    }

    proptest! {
        #[test]
        fn any_text_is_safe_in_every_form(text in texts()) {
            let plain = |text: &str| !text.chars().any(is_hidden);
            let shown = escape(&text);
            prop_assert!(plain(&shown));
            prop_assert_eq!(shown.lines().count(), usize::from(!shown.is_empty()));
            // What was to be seen is still there: taken back, the escapes give the text.
            prop_assert_eq!(unescaped(&shown), unescaped(&text));

            let field = csv_field(&text);
            prop_assert!(plain(&field));
            prop_assert!(!field.starts_with(['=', '+', '-', '@']) || field.parse::<f64>().is_ok());

            let cell = markdown(&text);
            prop_assert!(plain(&cell));
            // The comment is ours; without it no bracket, bar or tick stands alone.
            let cell = cell.replace("<!-- -->", "");
            let mut chars = cell.chars();
            while let Some(c) = chars.next() {
                if c == '\\' {
                    chars.next();
                } else {
                    prop_assert!(!"`*[]<>|&~$".contains(c), "{} of {}", c, cell);
                }
            }

            let page = html(&text);
            prop_assert!(plain(&page));
            prop_assert!(!page.contains(['<', '>', '"', '\'']));
            for part in page.split('&').skip(1) {
                let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
                prop_assert!(known.iter().any(|entity| part.starts_with(entity)), "{}", page);
            }

            let part = file_part(&text);
            prop_assert!(part.len() <= MAX_FILE_PART);
            prop_assert!(part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        }
    }

    /// Texts of anything, with much of what matters.
    fn texts() -> impl Strategy<Value = String> {
        let special = proptest::sample::select(vec![
            "\u{1b}[2J",
            "\u{9b}",
            "\u{202e}",
            "\u{0}",
            "\r\n",
            "=",
            "@",
            "|",
            "`",
            "<!--",
            "-->",
            "<",
            "&",
            "\\",
            "www.",
            "://",
            "_",
            "*",
            "'",
            "\"",
            "\u{301}",
            "\u{feff}",
            "\u{fffe}",
            "../",
            "ş",
        ]);
        let part = prop_oneof![special.prop_map(str::to_owned), any::<String>()];
        proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
    }

    /// The text that an escaped one stands for.
    fn unescaped(text: &str) -> String {
        let mut whole = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(r"\u{") {
            whole.push_str(&rest[..at]);
            let code = rest[at + 3..].split_once('}');
            let found = code.and_then(|(digits, after)| {
                let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
                Some((c, after))
            });
            match found {
                Some((c, after)) => {
                    whole.push(c);
                    rest = after;
                }
                None => {
                    whole.push_str(&rest[at..at + 3]);
                    rest = &rest[at + 3..];
                }
            }
        }
        whole + rest
    }
}
