//! `personal-memory import`: memories from elsewhere. All files are read before anything is stored.

mod graph;
mod paragraphs;
mod records;

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::export::{markdown, progress};
use super::options::Common;
use super::owner::Owner;
use super::save::STDIN;
use super::terminal::{Screen, shown};
use crate::convert::Memory;
use crate::sandbox::NewEntry;
use crate::stderr::Stderr;

#[derive(Debug, Args)]
pub(super) struct ImportOptions {
    /// Files or folders; `-` is standard input. Our own JSON Lines, JSON and Markdown; the JSON Lines of
    /// @modelcontextprotocol/server-memory; any other Markdown or plain text, a memory for each paragraph.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// What they are. Default: what their names end in, or what they look like.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// A tag for all of them. May be given several times.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// The kind of those that have none: episodic, semantic or procedural.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Store nothing, only say what would be. Twins that are more than a thousand memories apart are counted twice.
    #[arg(long)]
    dry_run: bool,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

/// What can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Objects, one a line or in one document.
    #[value(alias = "jsonl")]
    Json,
    /// A memory for each paragraph or item of a list, with the heading that it stands under.
    Markdown,
    /// A memory for each paragraph.
    Text,
}

/// A memory that was read.
#[derive(Debug, PartialEq)]
struct Candidate {
    memory: Memory,
    /// Where it is: for messages.
    line: usize,
}

/// Memories that are stored at once.
const BATCH: usize = 500;

/// The longest file, in bytes: a million memories. It is in memory while it is imported.
const MAX_FILE_BYTES: u64 = 512 << 20;

pub(super) fn run(options: &ImportOptions) -> Result<()> {
    let mut candidates = Vec::new();
    for path in &options.paths {
        read_path(path, options.format, &mut candidates)?;
    }
    let mut owner = Owner::open(&options.common)?;
    let report = store(options, candidates, &mut owner)?;
    report.say(options)?;
    owner.tidy();
    match report.refused.len() {
        0 => Ok(()),
        refused => bail!("{refused} of them were refused"),
    }
}

/// Where from, and what.
type Found = (String, Candidate);

fn read_path(path: &Path, format: Option<Format>, found: &mut Vec<Found>) -> Result<()> {
    if path.as_os_str() == STDIN {
        let mut text = String::new();
        let input = io::stdin().lock().take(MAX_FILE_BYTES);
        io::BufReader::new(input)
            .read_to_string(&mut text)
            .context("standard input can't be read as text")?;
        if text.len() as u64 == MAX_FILE_BYTES {
            bail!("standard input has {MAX_FILE_BYTES} bytes or more; split it");
        }
        return read_text("standard input", None, &text, format, found);
    }
    if path.is_dir() {
        return read_folder(path, format, found);
    }
    read_file(path, format, found)
}

/// Files that are looked for in a folder.
const EXTENSIONS: [&str; 6] = ["md", "markdown", "txt", "jsonl", "ndjson", "json"];

/// Reads a folder: what is in it by name, our own files by the numbers of their memories, and then what is in its folders.
fn read_folder(folder: &Path, format: Option<Format>, found: &mut Vec<Found>) -> Result<()> {
    let unreadable = || format!("{} can't be read", folder.display());
    let mut paths = fs::read_dir(folder)
        .with_context(unreadable)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<PathBuf>>>()
        .with_context(unreadable)?;
    paths.sort_by_cached_key(|path| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        (path.is_dir(), number(&name), name)
    });
    for path in paths {
        // A link could lead back here.
        let is_folder = path.is_dir() && !path.is_symlink();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if is_folder {
            read_folder(&path, format, found)?;
        } else if extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
            read_file(&path, format, found)?;
        }
    }
    Ok(())
}

/// The number of a memory that a file's name begins with; others come first.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix('m')?;
    let end = digits.find(|character: char| !character.is_ascii_digit())?;
    digits[..end].parse().ok()
}

fn read_file(path: &Path, format: Option<Format>, found: &mut Vec<Found>) -> Result<()> {
    let name = path.display().to_string();
    let length = fs::metadata(path)
        .with_context(|| format!("{name} can't be read"))?
        .len();
    if length > MAX_FILE_BYTES {
        bail!("{name} has {length} bytes; split it, {MAX_FILE_BYTES} is the most");
    }
    let text = fs::read_to_string(path).with_context(|| format!("{name} can't be read as text"))?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    read_text(&name, extension, &text, format, found)
}

fn read_text(
    name: &str,
    extension: Option<&str>,
    text: &str,
    format: Option<Format>,
    found: &mut Vec<Found>,
) -> Result<()> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let candidates = match format.unwrap_or_else(|| guess(extension, text)) {
        Format::Json => records::read(text).with_context(|| format!("{name} can't be imported"))?,
        Format::Text => paragraphs::of_text(text),
        Format::Markdown => match markdown::read(text).with_context(|| name.to_owned())? {
            Some(memory) => vec![Candidate { memory, line: 1 }],
            None => paragraphs::of_markdown(text),
        },
    };
    found.extend(
        candidates
            .into_iter()
            .map(|candidate| (name.to_owned(), candidate)),
    );
    Ok(())
}

fn guess(extension: Option<&str>, text: &str) -> Format {
    match extension {
        Some("md" | "markdown") => Format::Markdown,
        Some("jsonl" | "ndjson" | "json") => Format::Json,
        Some("txt") => Format::Text,
        _ if text.trim_start().starts_with(['{', '[']) => Format::Json,
        _ if markdown::split(text).is_some() => Format::Markdown,
        _ => Format::Text,
    }
}

/// What became of all of them.
#[derive(Default)]
struct Report {
    added: u32,
    merged: u32,
    /// Where each was, and why.
    refused: Vec<(String, String)>,
}

fn store(options: &ImportOptions, found: Vec<Found>, owner: &mut Owner) -> Result<Report> {
    let bar = progress(found.len() as u64);
    let mut report = Report::default();
    for batch in found.chunks(BATCH) {
        let entries: Vec<NewEntry> = batch
            .iter()
            .map(|(_, candidate)| completed(&candidate.memory, options).into())
            .collect();
        let outcome =
            owner.administer(|sandbox| sandbox.import_batch(&entries, options.dry_run))?;
        report.added += outcome.added;
        report.merged += outcome.merged;
        for (position, reason) in outcome.refused {
            let (name, candidate) = &batch[position as usize % batch.len()];
            report
                .refused
                .push((format!("{name}:{}", candidate.line), reason));
        }
        bar.inc(batch.len() as u64);
    }
    bar.finish_and_clear();
    Ok(report)
}

/// A memory with what was said for all of them.
fn completed(memory: &Memory, options: &ImportOptions) -> Memory {
    let mut memory = memory.clone();
    for tag in &options.tags {
        if !memory.tags.contains(tag) {
            memory.tags.push(tag.clone());
        }
    }
    memory.kind = memory.kind.or_else(|| options.kind.clone());
    memory
}

impl Report {
    fn say(&self, options: &ImportOptions) -> Result<()> {
        let mut screen = Screen::new();
        if options.json {
            let refused =
                |(place, reason): &(String, String)| json!({"at": place, "reason": reason});
            screen.json(&json!({
                "added": self.added,
                "merged": self.merged,
                "refused": self.refused.iter().map(refused).collect::<Vec<_>>(),
                "dry_run": options.dry_run,
            }))?;
        } else {
            for (place, reason) in &self.refused {
                Stderr::say(format!("{}: {}\n", shown(place), shown(reason)));
            }
            let done = if options.dry_run {
                "Would import"
            } else {
                "Imported"
            };
            screen.line(&format!(
                "{done} {} new memories; {} were there already, {} are refused.",
                self.added,
                self.merged,
                self.refused.len()
            ))?;
        }
        screen.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_the_name_and_else_by_the_look() {
        let cases = [
            (Some("md"), "{", Format::Markdown),
            (Some("json"), "x", Format::Json),
            (Some("txt"), "{", Format::Text),
            (None, " {\"text\": 1}", Format::Json),
            (None, "[]", Format::Json),
            (None, "---\na: 1\n---\nx", Format::Markdown),
            (None, "I like tea.", Format::Text),
        ];
        for (extension, text, format) in cases {
            assert_eq!(guess(extension, text), format, "{extension:?} {text}");
        }
    }

    #[test]
    fn our_own_files_come_in_the_order_of_their_memories() {
        assert_eq!(number("m12-x.md"), Some(12));
        assert_eq!(number("m3.md"), Some(3));
        for name in ["march.md", "m.md", "12.md", "m12"] {
            assert_eq!(number(name), None, "{name}");
        }
    }
}
