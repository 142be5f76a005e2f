//! Finds out what this machine allows: a box is built and a program looks around in it. And says in words why something is not
//! possible, and what would help.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::order::{Failure, Features};
use super::slots::Slots;
use super::{Confine, Level};

/// What this machine allows.
#[derive(Debug)]
pub struct Machine {
    /// The walls of `strict`, or why it is not possible.
    pub strict: Result<Features, Impossible>,
    /// The walls of `limits`, or why it is not possible.
    pub limits: Result<Features, Impossible>,
}

/// Why a level is not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// The cause.
    pub cause: String,
    /// What would help.
    pub cure: String,
}

impl std::fmt::Display for Impossible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}. {}", self.cause, self.cure)
    }
}

/// What the program in the box saw; written to its stdout as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Whether a file of the referee can be read.
    pub file: bool,
    /// Whether a port that the referee listens on can be reached.
    pub network: bool,
    /// Processes that are not its own, process 1 aside.
    pub others: usize,
    /// Open files besides stdin, stdout and stderr.
    pub files: usize,
    /// Whether new privileges can be had.
    pub privileges: bool,
    /// Whether a file can be made beside the program.
    pub writes: bool,
}

/// Looks around from within a box: `FILE PORT`.
pub fn look(args: &[OsString]) {
    let file = args.first().map(PathBuf::from).unwrap_or_default();
    let port = args
        .get(1)
        .and_then(|port| port.to_str()?.parse::<u16>().ok())
        .unwrap_or(0);
    let entries = |folder: &str| std::fs::read_dir(folder).map(|list| list.flatten());
    let me = std::process::id();
    let others = entries("/proc").map_or(0, |list| {
        list.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|&pid| pid != 1 && pid != me)
            .count()
    });
    // One of them is the folder that is being read.
    let files = entries("/proc/self/fd").map_or(0, |list| list.count().saturating_sub(4));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let seen = Seen {
        file: std::fs::read(file).is_ok(),
        network: std::net::TcpStream::connect(("127.0.0.1", port)).is_ok(),
        others,
        files,
        privileges: !status.contains("NoNewPrivs:\t1"),
        writes: std::fs::write("written", "").is_ok(),
    };
    let text = serde_json::to_string(&seen).unwrap_or_default();
    // Nobody is left to tell it to if stdout is closed.
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
}

pub use trial::{explain, machine, order_for};

/// Why `strict` is not possible on systems that have nothing it could be made of.
fn no_strict() -> Impossible {
    Impossible {
        cause: format!(
            "{} has none of the namespaces and filters that it is made of",
            if cfg!(hakem_portable) {
                "this build"
            } else {
                std::env::consts::OS
            }
        ),
        cure: "Run on Linux (a virtual machine will do), or choose sandbox = \"limits\" and let only programs take part \
               that you trust"
            .into(),
    }
}

mod trial {
    use std::io::Read;
    use std::net::TcpListener;
    use std::path::Component;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags};

    use super::*;
    use crate::bot::os;
    use crate::bot::sandbox::order::{Order, Shown, settings};
    use crate::bot::sandbox::{BOX, LOOK};

    /// How long a self-test may take; one that takes longer hangs.
    const PATIENCE: Duration = Duration::from_secs(20);

    /// Tries both levels.
    pub fn machine(own: &Path, slots: &Arc<Slots>) -> Machine {
        Machine {
            strict: if os::LINUX {
                try_level(Level::Strict, own, slots)
            } else {
                Err(no_strict())
            },
            limits: try_level(Level::Limits, own, slots),
        }
    }

    /// An order with usual limits, for a program that is shown in `/bot`.
    pub fn order_for(level: Level, argv: Vec<String>, dir: PathBuf, shown: Vec<Shown>) -> Order {
        Order {
            level,
            argv,
            dir,
            env: Vec::new(),
            shown,
            settings: settings(),
            user: None,
            memory: 256 << 20,
            processes: 8,
            disk: 1 << 20,
            private: None,
            cgroups: Vec::new(),
            cgroup_memory: false,
            events: Vec::new(),
        }
    }

    fn try_level(level: Level, own: &Path, slots: &Arc<Slots>) -> Result<Features, Impossible> {
        let trouble = |what: &str, error: std::io::Error| Impossible {
            cause: format!("the self-test could not be made: {what}: {error}"),
            cure: "Mend that, or choose another level with `sandbox` in [limits]".into(),
        };
        let secret = slots.folder().join("secret");
        std::fs::write(&secret, "secret").map_err(|error| trouble("a file", error))?;
        let listener = TcpListener::bind(("127.0.0.1", 0));
        let port = listener
            .as_ref()
            .ok()
            .and_then(|listener| listener.local_addr().ok())
            .map_or(0, |address| address.port());
        let real = std::fs::read_link(own).unwrap_or_else(|_| own.to_owned());
        let (program, shown) = if level == Level::Strict {
            let to = PathBuf::from("/bot/hakem");
            let from = real.clone();
            (to.clone(), vec![Shown { from, to }])
        } else {
            let (from, to) = (real.clone(), real.clone());
            (real, vec![Shown { from, to }])
        };
        let dir = program.parent().unwrap_or(Path::new("/")).to_owned();
        debug_assert!(dir.components().all(|part| part != Component::ParentDir));
        let text = |path: &Path| path.display().to_string();
        let argv = vec![text(&program), LOOK.into(), text(&secret), port.to_string()];
        let dir = if level == Level::Strict {
            dir
        } else {
            "/".into()
        };
        let confine = Confine {
            own: own.to_owned(),
            order: order_for(level, argv, dir, shown),
            freezes: false,
            slots: slots.clone(),
        };
        let result = run(&confine, trouble);
        let _ = std::fs::remove_file(&secret);
        let (features, seen) = result?;
        let open = match level {
            Level::Strict => opening(&seen),
            // Only Linux lets a process forgo them.
            Level::None | Level::Limits => {
                (seen.privileges && os::LINUX).then_some("gain privileges")
            }
        };
        match open {
            None => Ok(features),
            Some(what) => Err(Impossible {
                cause: format!("the self-test could {what} from within, so the walls do not hold here"),
                cure: "Please report this with the output of `uname -a`; until then sandbox = \"none\" for programs that you trust"
                    .into(),
            }),
        }
    }

    fn opening(seen: &Seen) -> Option<&'static str> {
        [
            (seen.file, "read a file of the host"),
            (seen.network, "reach the host's network"),
            (seen.others > 0, "see other processes"),
            (seen.files > 0, "use files of the referee"),
            (seen.privileges, "gain privileges"),
            (seen.writes, "write to its own folder"),
        ]
        .into_iter()
        .find_map(|(is_open, what)| is_open.then_some(what))
    }

    fn run(
        confine: &Confine,
        trouble: impl Fn(&str, std::io::Error) -> Impossible,
    ) -> Result<(Features, Seen), Impossible> {
        let started = confine.start(std::process::Stdio::piped());
        let (mut child, stdin, mut boxed) =
            started.map_err(|error| trouble(&format!("starting `{BOX}`"), error))?;
        drop(stdin);
        let mut output = Vec::new();
        if let Some(mut stdout) = child.stdout.take() {
            let wait = PATIENCE.try_into().ok();
            let mut files = [PollFd::new(&stdout, PollFlags::IN)];
            if rustix::event::poll(&mut files, wait.as_ref()) == Ok(0) {
                boxed.end();
                let _ = child.kill();
            }
            // Only the self-test writes here, a line.
            let _ = stdout.read_to_end(&mut output);
        }
        // The box ends after its program; what it says is said by then.
        let _ = child.wait();
        boxed.listen();
        if let Some(failure) = boxed.no_box() {
            return Err(explain(failure));
        }
        if let Some(why) = boxed.no_program() {
            return Err(trouble(
                "the program",
                std::io::Error::other(why.to_owned()),
            ));
        }
        let seen = serde_json::from_slice(&output);
        match (seen, boxed.features()) {
            (Ok(seen), Some(features)) => Ok((features.clone(), seen)),
            (seen, _) => {
                let why = match (seen.err(), boxed.ended()) {
                    (_, Some(ended)) => format!("the program ended: {ended:?}"),
                    (Some(error), None) => error.to_string(),
                    (None, None) => "the box ended".into(),
                };
                Err(trouble("the program", std::io::Error::other(why)))
            }
        }
    }

    /// The cause of a failure and what would help.
    pub fn explain(failure: &Failure) -> Impossible {
        let setting = |path: &str| {
            std::fs::read_to_string(format!("/proc/sys/{path}")).map(|text| text.trim().to_owned())
        };
        let is = |path: &str, value: &str| setting(path).is_ok_and(|found| found == value);
        let unshare = failure.step.contains("unshare");
        let else_limits = "or choose sandbox = \"limits\"";
        let (cause, cure) = match failure.errno {
            Some(libc::ENOSPC) if unshare => (
                "the system allows no more user namespaces (user.max_user_namespaces)".to_owned(),
                format!("Run: sudo sysctl -w user.max_user_namespaces=10000, {else_limits}"),
            ),
            Some(libc::EPERM | libc::EACCES)
                if is("kernel/apparmor_restrict_unprivileged_userns", "1") =>
            {
                (
                    "user namespaces are blocked by AppArmor (kernel.apparmor_restrict_unprivileged_userns=1)"
                        .to_owned(),
                    format!(
                        "Run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, {else_limits}"
                    ),
                )
            }
            Some(libc::EPERM) if is("kernel/unprivileged_userns_clone", "0") => (
                "user namespaces are switched off (kernel.unprivileged_userns_clone=0)".to_owned(),
                format!("Run: sudo sysctl -w kernel.unprivileged_userns_clone=1, {else_limits}"),
            ),
            Some(libc::EPERM | libc::EACCES) => (
                format!(
                    "{} is not permitted, as in a container whose own filter of system calls forbids it",
                    failure.step
                ),
                format!(
                    "Run outside the container, or start it with --security-opt seccomp=unconfined --cap-add SYS_ADMIN, {else_limits}"
                ),
            ),
            Some(libc::ENOSYS) => (
                format!("{} needs Linux 5.12 or newer", failure.step),
                format!("Use a newer kernel, {else_limits}"),
            ),
            Some(libc::EINVAL) if unshare => (
                "the kernel was built without some kind of namespace".to_owned(),
                format!("Use a kernel with CONFIG_NAMESPACES and its kinds, {else_limits}"),
            ),
            _ => (
                format!("{} failed: {}", failure.step, failure.what),
                format!("Mend that, {else_limits}"),
            ),
        };
        Impossible { cause, cure }
    }
}

#[cfg(all(test, target_os = "linux", not(hakem_portable)))]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_with_a_cure() {
        let failure = |step: &str, errno| Failure {
            step: step.into(),
            errno: Some(errno),
            what: "x".into(),
        };
        let cause = |step: &str, errno| explain(&failure(step, errno)).to_string();
        assert!(cause("making namespaces (unshare)", libc::ENOSPC).contains("max_user_namespaces"));
        assert!(cause("showing /usr (open_tree)", libc::ENOSYS).contains("5.12"));
        assert!(cause("making namespaces (unshare)", libc::EINVAL).contains("CONFIG_NAMESPACES"));
        assert!(cause("joining the cgroup x", libc::EIO).contains("joining the cgroup x failed"));
        for errno in [libc::ENOSPC, libc::EPERM, libc::ENOSYS, libc::EIO] {
            assert!(cause("making namespaces (unshare)", errno).contains("sandbox = \"limits\""));
        }
    }
}
