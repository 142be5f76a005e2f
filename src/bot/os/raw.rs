//! The few system calls of the sandbox that have no safe wrapper. Each function is one call, and nothing else is here.
//!
//! All but [`fork`] act on the calling process alone and take plain numbers or borrowed values, so no memory can be harmed
//! by them.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Makes a copy of this process; `None` in the copy.
///
/// # Errors
/// The system's; also where this process has more than one thread, as a copy has only the calling one, and locks that others
/// held would stay locked in it for ever.
#[expect(unsafe_code, reason = "a copy of a process has no safe wrapper")]
pub fn fork() -> io::Result<Option<Pid>> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("a process with threads is not copied"));
    }
    // SAFETY: there is one thread, so the copy is whole: no lock is held by a thread that is not there.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(Pid::from_raw(pid)),
    }
}

/// Puts this process, or for some namespaces its children, into new namespaces.
///
/// # Errors
/// The system's.
#[expect(unsafe_code, reason = "the call could also part the threads' files")]
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    let flags = flags.difference(UnshareFlags::FILES);
    // SAFETY: only the flag for open files may do harm, and it is not set.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Sets attributes (`MOUNT_ATTR_*`) of a mount, and if `deep` of all below it.
///
/// # Errors
/// The system's; `ENOSYS` before Linux 5.12.
#[expect(unsafe_code, reason = "the call has no safe wrapper")]
pub fn set_mount_attributes(mount: BorrowedFd<'_>, attributes: u64, deep: bool) -> io::Result<()> {
    let attr = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    let deep = if deep { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty string and the attributes are a local of the size that is told; neither is kept.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | deep,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Marks every open file from number `first` on to be closed when another program is executed.
///
/// # Errors
/// The system's; `ENOSYS` before Linux 5.11.
#[expect(unsafe_code, reason = "the call has no safe wrapper")]
pub fn close_on_exec_from(first: u32) -> io::Result<()> {
    const CLOSE_ON_EXEC: u32 = 4;
    // SAFETY: no file is closed, only marked; the call takes three numbers.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, CLOSE_ON_EXEC) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Parts this process, which leads no session, from its terminal: it can no longer be opened by `/dev/tty`, and what is started
/// from here on has none either.
///
/// A new session would do that too. But the scheduler reckons sessions as groups, and a turn that goes to and fro between two
/// groups on one core costs twice the time.
#[expect(unsafe_code, reason = "the request has no safe wrapper")]
pub fn leave_terminal() {
    // There is none: then there is nothing to do.
    let Ok(terminal) = std::fs::File::open("/dev/tty") else {
        return;
    };
    // SAFETY: the request takes no argument.
    unsafe {
        libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY);
    }
}

/// Gives every signal its default action, also those that the C library keeps for itself and does not let be set.
#[expect(
    unsafe_code,
    reason = "the default action of a signal has no safe wrapper"
)]
pub fn reset_signals() {
    // The kernel's own structure, all zero: the default action, no flags, no signals blocked meanwhile. It is at most as long
    // as this.
    const DEFAULT: [u64; 8] = [0; 8];
    const SET: usize = 8;
    for signal in 1..=64 {
        // SAFETY: the kernel reads a constant that is longer than its structure, and no handler is set. What cannot be set
        // stays as it is.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                DEFAULT.as_ptr(),
                std::ptr::null_mut::<u64>(),
                SET,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_threads_is_not_copied() {
        let (wait, go) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            let _ = go.recv();
        });
        let result = fork();
        drop(wait);
        other.join().expect("the other thread ends");
        assert!(result.is_err(), "no copy was made");
    }
}
