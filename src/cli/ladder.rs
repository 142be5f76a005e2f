//! The file of a ladder: the names of the bots, best first. It lives from event to event.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::exit::Refused;

/// The version of the file's form.
const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    format: u32,
    order: Vec<String>,
}

/// The bots of a ladder, best first; none where there is no file yet.
///
/// # Errors
/// [`Refused`] for a file that is none of ours or cannot be read.
pub fn read(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(Refused(format!(
                "cannot read the ladder {}: {error}",
                path.display()
            ))
            .into());
        }
    };
    let content: Content = serde_json::from_str(&text).map_err(|error| {
        Refused(format!(
            "{} is no file of a ladder: {error}",
            path.display()
        ))
    })?;
    if content.format == FORMAT {
        Ok(content.order)
    } else {
        let what = format!(
            "{} has the form {}, and this version knows {FORMAT}",
            path.display(),
            content.format
        );
        Err(Refused(what).into())
    }
}

/// Writes the ladder after an event of these bots, best first. Bots of the ladder that took no part stay on their rungs; the others
/// share the rungs that they had, and new ones come to the end.
///
/// # Errors
/// As [`read`], and what the disk refused.
pub fn write(path: &Path, order: &[String]) -> anyhow::Result<()> {
    let order = merged(&read(path)?, order);
    let content = Content {
        format: FORMAT,
        order,
    };
    let mut text = serde_json::to_string_pretty(&content)?;
    text.push('\n');
    super::report::write(path, &text)
}

fn merged(before: &[String], order: &[String]) -> Vec<String> {
    let mut next = order.iter();
    let mut merged: Vec<String> = before
        .iter()
        .filter_map(|name| {
            if order.contains(name) {
                next.next().cloned()
            } else {
                Some(name.clone())
            }
        })
        .collect();
    merged.extend(next.cloned());
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &str) -> Vec<String> {
        of.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn bots_that_took_no_part_stay_on_their_rungs() {
        assert_eq!(merged(&names("a b c d"), &names("d b")), names("a d c b"));
        assert_eq!(merged(&names("a b"), &names("c b a")), names("c b a"));
        assert_eq!(merged(&[], &names("x y")), names("x y"));
        assert_eq!(merged(&names("a b c"), &names("n c a")), names("n b c a"));
    }

    #[test]
    fn a_file_is_read_back_and_others_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ladder.json");
        assert_eq!(read(&file).expect("none yet"), Vec::<String>::new());
        write(&file, &names("b a")).expect("it is written");
        assert_eq!(read(&file).expect("ours"), names("b a"));
        std::fs::write(&file, "{\"format\":9,\"order\":[]}").expect("it is written");
        assert!(read(&file).is_err());
        std::fs::write(&file, "[]").expect("it is written");
        assert!(read(&file).is_err());
    }
}
