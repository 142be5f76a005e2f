//! OpenSpiel in a Python of its own, driven by `spiel.py`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::Fault;

/// The version that the promises were made against.
pub(crate) const VERSION: &str = "2.0.2";
const SCRIPT: &str = include_str!("spiel.py");

/// A running `spiel.py`.
pub(crate) struct OpenSpiel {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// Processor time of all that was asked so far.
    cpu: Duration,
}

impl OpenSpiel {
    /// Starts it with this Python, or with one of a folder of its own, where OpenSpiel is installed first.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn start(python: Option<&Path>) -> Result<OpenSpiel, Fault> {
        let python = match python {
            Some(python) => python.to_owned(),
            None => install()?,
        };
        let mut child = Command::new(&python)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", python.display()))?;
        let to = child.stdin.take().ok_or("a child has its stdin")?;
        let from = BufReader::new(child.stdout.take().ok_or("a child has its stdout")?);
        let mut spiel = OpenSpiel {
            child,
            to,
            from,
            cpu: Duration::ZERO,
        };
        let found = spiel
            .hear()
            .map_err(|_| format!("{} has no OpenSpiel", python.display()))?;
        if found["version"] == VERSION {
            Ok(spiel)
        } else {
            let found = &found["version"];
            Err(format!("{} has OpenSpiel {found}, not {VERSION}", python.display()).into())
        }
    }

    /// The mean number of plies of so many random games.
    pub(crate) fn mean_plies(&mut self, game: &str, games: u32) -> Result<f64, Fault> {
        let found = self.ask(&format!("plies {game} {games}"))?;
        Ok(number(&found, "plies")? / number(&found, "games")?)
    }

    /// Random games for each second of processor time.
    pub(crate) fn playouts(&mut self, game: &str, seconds: f64) -> Result<f64, Fault> {
        let found = self.ask(&format!("playouts {game} {seconds}"))?;
        let cpu = number(&found, "cpu_s")?;
        self.cpu += Duration::from_secs_f64(cpu);
        Ok(number(&found, "playouts")? / cpu)
    }

    /// The processor time that it has used for what was measured.
    pub(crate) fn cpu(&self) -> Duration {
        self.cpu
    }

    fn ask(&mut self, request: &str) -> Result<Value, Fault> {
        writeln!(self.to, "{request}")?;
        self.hear()
    }

    fn hear(&mut self) -> Result<Value, Fault> {
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        if line.is_empty() {
            return Err("spiel.py has ended".into());
        }
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for OpenSpiel {
    fn drop(&mut self) {
        // It may be in the middle of something; nothing of it is kept.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn number(found: &Value, key: &str) -> Result<f64, Fault> {
    found[key]
        .as_f64()
        .ok_or_else(|| format!("spiel.py told no {key}: {found}").into())
}

/// The Python of an environment with OpenSpiel, which is made where there is none yet: in the build's folder for what
/// tests and benchmarks leave.
fn install() -> Result<PathBuf, Fault> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("openspiel-{VERSION}"));
    let python = folder.join("bin/python");
    let has = |module: &str| {
        let mut command = Command::new(&python);
        command.args(["-c", module]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if has("import pyspiel") {
        return Ok(python);
    }
    println!("OpenSpiel {VERSION} is installed in {}", folder.display());
    let venv = Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&folder)
        .stdout(Stdio::null())
        .status();
    if !venv.is_ok_and(|status| status.success()) {
        return Err("python3 with its module venv is needed to install OpenSpiel".into());
    }
    let pip = Command::new(&python)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ])
        .arg(format!("open_spiel=={VERSION}"))
        .stdout(Stdio::null())
        .status();
    if !pip.is_ok_and(|status| status.success()) {
        return Err(format!("open_spiel=={VERSION} could not be installed").into());
    }
    Ok(python)
}
