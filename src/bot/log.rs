//! Keeps a bot's stderr.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What is kept in memory of the last line of stderr, for the reason of a crash: its beginning, bytes.
const LAST_LINE: usize = 400;

/// The log of one bot in one match. The file is made when there is something to keep.
#[derive(Debug)]
pub struct Log {
    path: Option<PathBuf>,
    file: Option<File>,
    left: u64,
    cap: u64,
    appends: bool,
    cut: bool,
    /// The beginning of the last line that says something, and of the line that is not ended yet.
    last: Vec<u8>,
    current: Vec<u8>,
    failure: Failure,
}

/// Whether the file could be written.
#[derive(Debug)]
enum Failure {
    None,
    Untold(String),
    Told,
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
            last: Vec::new(),
            current: Vec::new(),
            failure: Failure::None,
        }
    }

    /// Adds what was read.
    pub fn add(&mut self, bytes: &[u8]) {
        self.follow(bytes);
        if matches!(self.failure, Failure::None)
            && let Err(error) = self.keep(bytes)
        {
            let path = self.path.as_deref().unwrap_or_else(|| Path::new(""));
            self.failure = Failure::Untold(format!("{}: {error}", path.display()));
        }
    }

    /// The file, and why it could not be written, once; after that nothing more is written to it.
    pub fn take_failure(&mut self) -> Option<String> {
        match std::mem::replace(&mut self.failure, Failure::Told) {
            Failure::Untold(why) => Some(why),
            before => {
                self.failure = before;
                None
            }
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

    /// Keeps up with what the last line is.
    fn follow(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let room = LAST_LINE - self.current.len();
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            self.current
                .extend_from_slice(&text[..text.len().min(room)]);
            if piece.ends_with(b"\n") {
                if !self.current.trim_ascii().is_empty() {
                    std::mem::swap(&mut self.last, &mut self.current);
                }
                self.current.clear();
            }
        }
    }

    /// The last line of stderr that says something, for the reason of a crash; of a long one the beginning.
    pub fn last_line(&self) -> Option<String> {
        let line = [&self.current, &self.last]
            .into_iter()
            .find(|line| !line.trim_ascii().is_empty())?;
        Some(String::from_utf8_lossy(line).trim().to_owned())
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
    fn a_log_that_cannot_be_written_says_so_once() {
        let mut log = Log::new(Some("/proc/no/such/log".into()), 10, false);
        log.add(b"one\n");
        log.add(b"two\n");
        let why = log.take_failure().expect("it says so");
        assert!(why.starts_with("/proc/no/such/log: "), "{why}");
        log.add(b"three\n");
        assert_eq!(log.take_failure(), None);
        assert_eq!(log.last_line().as_deref(), Some("three"));
    }

    #[test]
    fn silence_leaves_no_file_and_of_the_last_line_the_beginning_is_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        let mut log = Log::new(Some(path.clone()), 10, false);
        assert!(!path.exists());
        log.add(b"first\nValueError: ");
        log.add(&[b'x'; 5_000]);
        let line = log.last_line().expect("a line");
        assert!(line.starts_with("ValueError: xxx") && line.len() == LAST_LINE);
        log.add(b"\n \n\n");
        assert_eq!(log.last_line(), Some(line));
        log.add(b"last");
        assert_eq!(log.last_line().as_deref(), Some("last"));
    }
}
