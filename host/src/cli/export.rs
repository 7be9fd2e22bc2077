//! `personal-memory export`: everything, in files that other programs and people can read.

pub(super) mod markdown;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use tempfile::NamedTempFile;

use super::options::Common;
use super::owner::Owner;
use super::terminal::{Screen, harmless_json};
use crate::convert::Memory;
use crate::stderr::Stderr;

#[derive(Debug, Args)]
pub(super) struct ExportOptions {
    /// The file, or the folder for Markdown. Default: JSON Lines on standard output.
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,

    /// How it is written. Default: what the path ends in (.jsonl, .json); Markdown for a folder.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// The forgotten ones too.
    #[arg(long)]
    forgotten: bool,

    /// Replace a file that is there.
    #[arg(long)]
    overwrite: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

/// How memories are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One object a line.
    Jsonl,
    /// One document.
    Json,
    /// A folder with a file for each memory.
    Markdown,
}

pub(super) fn run(options: &ExportOptions) -> Result<()> {
    let format = format(options)?;
    let mut owner = Owner::open(&options.common)?;
    match (&options.path, format) {
        (Some(folder), Format::Markdown) => {
            markdown::prepare(folder)?;
            let count = copy(options, &mut owner, |memory| {
                markdown::write(folder, memory)
            })?;
            tell(count, folder);
        }
        (None, Format::Markdown) => bail!("Markdown is a folder of files: name it"),
        (Some(path), format) => {
            let count = to_file(options, &mut owner, path, format)?;
            tell(count, path);
        }
        (None, format) => {
            let mut screen = Screen::new();
            document(options, &mut owner, format, screen.raw())?;
            screen.finish()?;
        }
    }
    owner.tidy();
    Ok(())
}

fn format(options: &ExportOptions) -> Result<Format> {
    if let Some(format) = options.format {
        return Ok(format);
    }
    let Some(path) = &options.path else {
        return Ok(Format::Jsonl);
    };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl" | "ndjson") => Ok(Format::Jsonl),
        Some("json") => Ok(Format::Json),
        None => Ok(Format::Markdown),
        Some(_) => bail!(
            "{} ends in neither .jsonl nor .json; say --format",
            path.display()
        ),
    }
}

/// Writes a file, which is there as a whole or not at all.
fn to_file(options: &ExportOptions, owner: &mut Owner, path: &Path, format: Format) -> Result<u64> {
    if path.exists() && !options.overwrite {
        bail!(
            "{} is there already; say --overwrite to replace it",
            path.display()
        );
    }
    let named = || format!("{} can't be written", path.display());
    let path = std::path::absolute(path).with_context(named)?;
    let folder = path.parent().with_context(named)?;
    let mut file = NamedTempFile::new_in(folder).with_context(named)?;
    let mut out = io::BufWriter::new(&mut file);
    let count = document(options, owner, format, &mut out).with_context(named)?;
    out.flush().with_context(named)?;
    drop(out);
    file.as_file().sync_all().with_context(named)?;
    match options.overwrite {
        true => file.persist(&path).with_context(named)?,
        false => file.persist_noclobber(&path).with_context(named)?,
    };
    Ok(count)
}

/// The document's version, for those who read it later.
const VERSION: u32 = 1;

fn document(
    options: &ExportOptions,
    owner: &mut Owner,
    format: Format,
    out: &mut impl Write,
) -> Result<u64> {
    if format == Format::Jsonl {
        return copy(options, owner, |memory| {
            Ok(writeln!(
                out,
                "{}",
                harmless_json(&serde_json::to_string(memory)?)
            )?)
        });
    }
    write!(
        out,
        "{{\"personal_memory_export\": {VERSION}, \"memories\": ["
    )?;
    let mut separator = "\n";
    let count = copy(options, owner, |memory| {
        write!(
            out,
            "{separator}{}",
            harmless_json(&serde_json::to_string(memory)?)
        )?;
        separator = ",\n";
        Ok(())
    })?;
    writeln!(out, "\n]}}")?;
    Ok(count)
}

/// Has each memory written; returns how many they were.
fn copy(
    options: &ExportOptions,
    owner: &mut Owner,
    mut write: impl FnMut(&Memory) -> Result<()>,
) -> Result<u64> {
    let figures = owner.administer(|sandbox| sandbox.statistics())?;
    let forgotten = if options.forgotten {
        figures.forgotten
    } else {
        0
    };
    let bar = match options.path.is_none() && io::stdout().is_terminal() {
        true => ProgressBar::hidden(),
        false => progress(figures.living + forgotten),
    };
    owner.each(options.forgotten, |memory| {
        bar.inc(1);
        write(&memory)
    })?;
    bar.finish_and_clear();
    Ok(bar.position())
}

/// A bar on standard error, if a person looks at it.
pub(super) fn progress(total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len}, {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn tell(count: u64, path: &Path) {
    Stderr::say(format!(
        "Exported {count} memories to {}.\n",
        path.display()
    ));
}

/// Makes a folder that is to be filled; one that is there must be empty.
fn empty_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{} can't be made", folder.display()))?;
    let mut entries =
        fs::read_dir(folder).with_context(|| format!("{} can't be read", folder.display()))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => bail!("{} is not empty; name a new folder", folder.display()),
    }
}
