//! Durations and sizes as event files write them.

use std::time::Duration;

/// The longest duration an event may name: 30 days.
pub const MAX_DURATION_US: u64 = 30 * 24 * 3600 * 1_000_000;

/// A duration in microseconds: a number and a unit, as [`humantime`] reads it (`60s`, `100ms`, `2m`, `0.5s`, `1h 30m`).
///
/// # Errors
/// What is wrong with the text.
pub fn parse_duration(text: &str) -> Result<u64, String> {
    let duration: Duration = humantime::parse_duration(text.trim()).map_err(|error| {
        use humantime::DurationError::{
            Empty, InvalidCharacter, NumberExpected, NumberOverflow, UnknownUnit,
        };
        match error {
            Empty => "it is blank".to_owned(),
            NumberExpected(0) => "it does not begin with a number".to_owned(),
            InvalidCharacter(_) | NumberExpected(_) => {
                "something in it is neither a number nor a unit".to_owned()
            }
            UnknownUnit { ref unit, .. } if unit.is_empty() => "it has no unit".to_owned(),
            UnknownUnit { unit, .. } => {
                format!("{} is no unit", super::diagnose::quoted(&unit))
            }
            NumberOverflow => "too large".to_owned(),
        }
    })?;
    if !duration.subsec_nanos().is_multiple_of(1000) {
        return Err("finer than a microsecond".into());
    }
    u64::try_from(duration.as_micros())
        .ok()
        .filter(|&micros| micros <= MAX_DURATION_US)
        .ok_or_else(|| "more than 30 days (`m` is a minute, `M` a month)".into())
}

/// A duration in the largest unit of `s`, `ms` and `us` that needs no fraction: `60s`, `100ms`.
pub fn show_duration(micros: u64) -> String {
    if micros.is_multiple_of(1_000_000) {
        format!("{}s", micros / 1_000_000)
    } else if micros.is_multiple_of(1000) {
        format!("{}ms", micros / 1000)
    } else {
        format!("{micros}us")
    }
}

/// The units of sizes; each is 1024 of the one before.
const SIZE_UNITS: [&str; 4] = ["B", "KB", "MB", "GB"];

/// A size in bytes: a whole number and `B`, `KB`, `MB` or `GB`, where a KB is 1024 bytes, an MB 1024 KB, a GB 1024 MB.
/// `KiB`, `MiB` and `GiB` are the same, and so are small letters.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err("there is no whole number at its beginning".into());
    }
    let unit = unit.trim();
    if unit.is_empty() {
        return Err("it has no unit".into());
    }
    let power = SIZE_UNITS
        .iter()
        .position(|known| {
            let binary = known.replace('B', "iB");
            unit.eq_ignore_ascii_case(known)
                || (*known != "B" && unit.eq_ignore_ascii_case(&binary))
        })
        .ok_or_else(|| format!("{} is no unit", super::diagnose::quoted(unit)))?;
    let factor = 1u64 << (10 * power);
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| "too large".into())
}

/// A size in the largest unit that needs no fraction: `512MB`, `1500B`.
pub fn show_size(bytes: u64) -> String {
    let mut number = bytes;
    let mut power = 0;
    while number > 0 && number.is_multiple_of(1024) && power + 1 < SIZE_UNITS.len() {
        number /= 1024;
        power += 1;
    }
    format!("{number}{}", SIZE_UNITS[power])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, micros) in [
            ("60s", 60_000_000),
            ("100ms", 100_000),
            ("2m", 120_000_000),
            ("0.5s", 500_000),
            ("1h 30m", 5_400_000_000),
            ("0s", 0),
            ("250us", 250),
            ("30days", MAX_DURATION_US),
        ] {
            assert_eq!(parse_duration(text), Ok(micros), "{text}");
            assert_eq!(parse_duration(&show_duration(micros)), Ok(micros), "{text}");
        }
        for text in [
            "",
            "60",
            "-1s",
            "s",
            "100ns",
            "31days",
            "1M",
            "5 parsecs",
            "∞",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert_eq!(show_duration(90_000_000), "90s");
        assert_eq!(show_duration(1_500_000), "1500ms");
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0B", 0),
            ("1B", 1),
            ("4KB", 4096),
            ("4 kib", 4096),
            ("1MB", 1 << 20),
            ("1MiB", 1 << 20),
            ("1mb", 1 << 20),
            ("2GB", 2 << 30),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
            assert_eq!(parse_size(&show_size(bytes)), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "12",
            "MB",
            "-1MB",
            "1.5MB",
            "1iB",
            "1TBB",
            "99999999999999999999B",
            "17179869184GB",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
        assert_eq!(show_size(1 << 20), "1MB");
        assert_eq!(show_size(1500), "1500B");
        assert_eq!(show_size(5 << 40), "5120GB");
    }
}
