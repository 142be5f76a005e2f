//! Keeps a bot's stderr.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

/// The end of stderr that is kept in memory, for the reason of a crash.
const TAIL: usize = 400;

/// The log of one bot in one match. The file is made when there is something to keep.
#[derive(Debug)]
pub struct Log {
    path: Option<PathBuf>,
    file: Option<File>,
    left: u64,
    cap: u64,
    appends: bool,
    cut: bool,
    tail: Vec<u8>,
    /// The first error of writing; the bot's game does not suffer from it.
    pub error: Option<io::Error>,
}

impl Log {
    /// A log that keeps at most `cap` bytes in this file, after what an earlier session of the match left there if it
    /// `appends`; without a path only the end is remembered.
    pub fn new(path: Option<PathBuf>, cap: u64, appends: bool) -> Log {
        Log {
            path,
            file: None,
            left: cap,
            cap,
            appends,
            cut: false,
            tail: Vec::new(),
            error: None,
        }
    }

    /// Adds what was read.
    pub fn add(&mut self, bytes: &[u8]) {
        let recent = &bytes[bytes.len().saturating_sub(TAIL)..];
        self.tail.extend_from_slice(recent);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
        if self.error.is_none()
            && let Err(error) = self.keep(bytes)
        {
            self.error = Some(error);
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        if self.cut {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = OpenOptions::new()
                    .create(true)
                    .write(true)
                    .append(self.appends)
                    .truncate(!self.appends)
                    .open(path)?;
                self.left = self.left.saturating_sub(file.metadata()?.len());
                self.file.insert(file)
            }
        };
        let fits = bytes
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        file.write_all(&bytes[..fits])?;
        self.left -= fits as u64;
        if fits < bytes.len() {
            self.cut = true;
            writeln!(file, "\n[hakem: cut here, after {} bytes]", self.cap)?;
        }
        Ok(())
    }

    /// The last line of stderr that says something, for the reason of a crash.
    pub fn last_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.tail);
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(line.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_cut_and_says_so() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        let mut log = Log::new(Some(path.clone()), 10, false);
        log.add(b"0123456");
        log.add(b"789abc\n");
        log.add(b"more\n\n");
        let kept = std::fs::read_to_string(path).expect("a log");
        assert_eq!(kept, "0123456789\n[hakem: cut here, after 10 bytes]\n");
        assert_eq!(log.last_line().as_deref(), Some("more"));
    }

    #[test]
    fn a_log_goes_on_where_an_earlier_session_stopped_and_keeps_its_limit() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        for (session, appends) in [
            (b"old..", false),
            (b"one..", false),
            (b"two..", true),
            (b"three", true),
        ] {
            Log::new(Some(path.clone()), 12, appends).add(session);
        }
        let kept = std::fs::read_to_string(path).expect("a log");
        assert!(kept.starts_with("one..two..th\n[hakem: cut here"), "{kept}");
    }

    #[test]
    fn silence_leaves_no_file_and_the_tail_is_short() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        let mut log = Log::new(Some(path.clone()), 10, false);
        assert!(!path.exists());
        log.add(&[b'x'; 5_000]);
        assert!(log.tail.len() <= TAIL);
        assert_eq!(log.last_line().map(|line| line.len()), Some(TAIL));
    }
}
