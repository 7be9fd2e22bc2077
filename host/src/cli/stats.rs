//! `personal-memory stats`.

use anyhow::Result;
use clap::Args;

use super::options::Common;
use super::owner::Owner;
use super::terminal::{Screen, shown};
use crate::convert::figures;

#[derive(Debug, Args)]
pub(super) struct StatsOptions {
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(options: &StatsOptions) -> Result<()> {
    let (directory, _) = options.common.data_dir()?;
    let mut owner = Owner::open(&options.common)?;
    let statistics = owner.administer(|sandbox| sandbox.statistics())?;
    let mut screen = Screen::new();
    if options.json {
        let mut figures = figures(&statistics);
        figures["data_dir"] = directory.to_string_lossy().into();
        screen.json(&figures)?;
    } else {
        let dead = bytes(statistics.dead_bytes);
        let lines = [
            ("memories", statistics.living.to_string()),
            ("forgotten", statistics.forgotten.to_string()),
            (
                "journal",
                format!("{} ({dead} of it dead)", bytes(statistics.journal_bytes)),
            ),
            ("index", bytes(statistics.index_bytes)),
            ("damaged lines", statistics.damaged_lines.to_string()),
            ("embedder", shown(&statistics.embedder)),
            ("format", statistics.format.to_string()),
            ("kept in", shown(&directory.to_string_lossy())),
        ];
        for (name, value) in lines {
            screen.line(&format!("{name:<14} {value}"))?;
        }
    }
    screen.finish()?;
    owner.tidy();
    Ok(())
}

/// A size for people: three digits are enough.
pub(super) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    let mut size = bytes as f64 / 1000.0;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    match size < 10.0 {
        true => format!("{size:.1} {}", UNITS[unit]),
        false => format!("{size:.0} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_for_people() {
        let cases = [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (12_345, "12 kB"),
            (7_000_000, "7.0 MB"),
        ];
        for (size, said) in cases {
            assert_eq!(bytes(size), said);
        }
    }
}
