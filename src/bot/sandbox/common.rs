//! What every box has: its end of the control socket, a private folder, and words on limits.

use std::fs::File;
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::io::FdFlags;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg, send};

use super::QUIET;
use super::order::{Failure, Order, Report};
use crate::referee::Limit;

/// Says what was being done when something failed.
pub(super) trait Step<T> {
    fn step(self, what: impl Into<String>) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, what: impl Into<String>) -> Result<T, Failure> {
        self.map_err(|error| {
            let error: io::Error = error.into();
            Failure {
                step: what.into(),
                errno: error.raw_os_error(),
                what: error.to_string(),
            }
        })
    }
}

/// The box's end of the control socket.
#[derive(Debug)]
pub(super) struct Control(pub(super) OwnedFd);

impl Control {
    pub(super) fn report(&self, report: &Report) {
        // If nobody listens any more, everything is about to end.
        if let Ok(mut text) = serde_json::to_vec(report) {
            text.push(b'\n');
            let _ = send(&self.0, &text, QUIET);
        }
    }
}

/// Takes the order, and the bot's stdin as this process's own.
pub(super) fn receive() -> io::Result<(OwnedFd, Order)> {
    let control = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        &control,
        &mut [IoSliceMut::new(&mut byte)],
        &mut ancillary,
        RecvFlags::empty(),
    )?;
    let mut files: Vec<OwnedFd> = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            files.extend(passed);
        }
    }
    let (Some(stdin), Some(order)) = (files.pop(), files.pop()) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    // Not all systems can do this while the files are passed; here nothing is executed yet.
    for file in [&stdin, &order] {
        rustix::io::fcntl_setfd(file, FdFlags::CLOEXEC)?;
    }
    rustix::stdio::dup2_stdin(&stdin)?;
    let mut order = File::from(order);
    rustix::fs::seek(&order, rustix::fs::SeekFrom::Start(0))?;
    let mut text = Vec::new();
    order.read_to_end(&mut text)?;
    Ok((control, serde_json::from_slice(&text)?))
}

/// Lets go of the bot's pipes: who else holds them would hide their end.
pub(super) fn let_go_of_pipes() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}

pub(super) fn make_private(private: &Path, user: Option<u32>) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(private)
        .step(format!("making the private folder {}", private.display()))?;
    if let Some(user) = user {
        std::os::unix::fs::chown(private, Some(user), Some(user))
            .step("giving the private folder to the bot")?;
    }
    Ok(())
}

// ---- Limits -----------------------------------------------------------------------------------------------------

/// The words of a reason.
pub(super) fn words(limit: Limit, order: &Order) -> String {
    match limit {
        Limit::Memory => format!("it may use {} of memory", megabytes(order.memory)),
        Limit::Processes => format!("it may have {} processes and threads", order.processes),
        Limit::Disk => format!("it may write {} to disk", megabytes(order.disk)),
    }
}

/// A size in words; a small part of a unit counts as a whole one.
pub(super) fn megabytes(bytes: u64) -> String {
    // Whole units are shown whole; else it is what is next above.
    let unit = if bytes > 1 << 20 { 1 << 20 } else { 1 << 10 };
    crate::config::units::show_size(bytes.next_multiple_of(unit))
}

/// Bytes of the files in a folder and all below it; links are not followed.
pub(super) fn bytes_below(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else {
                continue;
            };
            bytes += found.blocks() * 512;
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    bytes
}
