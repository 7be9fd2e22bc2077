//! Lines of files that match a pattern, in directories that were granted.
//!
//! Built of ripgrep's own library, so patterns, globs and ignore files mean what they mean there. Hidden and ignored files,
//! binary ones and large ones are left out.
//!
//! **Invariant:** nothing is written, and no symbolic link is followed. A link that leads out of a directory would not be
//! followed by the sandbox either; here not even one that stays inside is.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder};

use crate::config::{
    LINE_CHARS, MAX_GREP_BYTES, MAX_GREP_DEPTH, MAX_GREP_FILE_BYTES, MAX_GREP_FILES,
    MAX_PATTERN_BYTES,
};
use crate::request::{Call, Granted};
use crate::security::{GrepArgs, echo};

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The repository's name and the path in it.
    pub path: String,
    /// From 1.
    pub number: u64,
    /// Without its end; cut to `LINE_CHARS`.
    pub text: String,
}

/// Why a search ended before everything was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// There are as many lines as were asked for.
    Results,
    /// So many files were opened.
    Files,
    /// So many bytes were read.
    Bytes,
    /// The call's time is nearly over.
    Time,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Found {
    /// In the order of the repositories, and of paths in them.
    pub lines: Vec<Line>,
    /// Files that were searched.
    pub files: usize,
    /// Bytes that were read.
    pub bytes: u64,
    /// Files that were left out because they are larger than `MAX_GREP_FILE_BYTES`.
    pub too_large: usize,
    /// Files and directories that could not be read.
    pub unreadable: usize,
    /// None when everything was searched.
    pub stopped: Option<Stopped>,
}

/// A pattern or a glob that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern(String);

impl std::fmt::Display for BadPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadPattern {}

/// Searches all repositories.
///
/// # Errors
///
/// A pattern that is no regular expression or a huge one; a glob that is none.
pub fn search(
    repositories: &[Granted],
    args: &GrepArgs,
    call: &Call<'_>,
) -> Result<Found, BadPattern> {
    let mut search = Search {
        matcher: matcher(&args.pattern)?,
        searcher: SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .build(),
        buffer: Vec::new(),
        max_results: args.max_results,
        found: Found::default(),
    };
    for repository in repositories {
        let globs = globs(&repository.path, args.path_glob.as_deref())?;
        search.repository(repository, globs, call);
        if search.found.stopped.is_some() {
            break;
        }
    }
    Ok(search.found)
}

/// As `rg --smart-case`: a pattern without capitals matches in any case.
fn matcher(pattern: &str) -> Result<RegexMatcher, BadPattern> {
    RegexMatcherBuilder::new()
        .case_smart(true)
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES)
        .line_terminator(Some(b'\n'))
        .build(pattern)
        .map_err(|error| {
            BadPattern(format!(
                "pattern must be a regular expression as ripgrep has them, got {}: {error}",
                echo(pattern)
            ))
        })
}

fn globs(root: &Path, glob: Option<&str>) -> Result<Override, BadPattern> {
    let mut builder = OverrideBuilder::new(root);
    let bad = |error: ignore::Error| {
        let glob = glob.unwrap_or_default();
        BadPattern(format!(
            "path_glob must be a glob such as src/**/*.rs, got {}: {error}",
            echo(glob)
        ))
    };
    if let Some(glob) = glob {
        builder.add(glob).map_err(bad)?;
    }
    builder.build().map_err(bad)
}

struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    /// Used again for each file.
    buffer: Vec<u8>,
    max_results: usize,
    found: Found,
}

impl Search {
    fn repository(&mut self, repository: &Granted, globs: Override, call: &Call<'_>) {
        let walk = WalkBuilder::new(&repository.path)
            .follow_links(false)
            .max_depth(Some(MAX_GREP_DEPTH))
            .overrides(globs)
            // Files above the directory are not ours to read, nor are the person's own settings.
            .parents(false)
            .git_global(false)
            // What was granted may be a part of a repository.
            .require_git(false)
            .sort_by_file_name(Ord::cmp)
            .build();
        for entry in walk {
            if let Some(stopped) = self.is_spent(call) {
                self.found.stopped = Some(stopped);
                return;
            }
            match entry {
                Ok(entry) if is_file(&entry) => self.file(repository, entry.path()),
                Ok(_) => {}
                Err(_) => self.found.unreadable += 1,
            }
        }
    }

    fn is_spent(&self, call: &Call<'_>) -> Option<Stopped> {
        if self.found.lines.len() > self.max_results {
            Some(Stopped::Results)
        } else if self.found.files >= MAX_GREP_FILES {
            Some(Stopped::Files)
        } else if self.found.bytes >= MAX_GREP_BYTES {
            Some(Stopped::Bytes)
        } else if call.is_nearly_over() {
            Some(Stopped::Time)
        } else {
            None
        }
    }

    fn file(&mut self, repository: &Granted, path: &Path) {
        self.found.files += 1;
        let Ok(length) = read(path, &mut self.buffer) else {
            self.found.unreadable += 1;
            return;
        };
        self.found.bytes += length as u64;
        if length as u64 > MAX_GREP_FILE_BYTES {
            self.found.too_large += 1;
            return;
        }
        let inside = path.strip_prefix(&repository.path).unwrap_or(path);
        let before = self.found.lines.len();
        let mut lines = Lines {
            path: format!("{}/{}", repository.name, inside.display()),
            // One more than is wanted tells that there are more.
            room: (self.max_results + 1).saturating_sub(before),
            lines: &mut self.found.lines,
            binary: false,
        };
        let searched =
            self.searcher
                .search_slice(&self.matcher, &self.buffer[..length], &mut lines);
        let binary = lines.binary;
        if binary || searched.is_err() {
            self.found.lines.truncate(before);
        }
        if searched.is_err() {
            self.found.unreadable += 1;
        }
    }
}

/// A regular file, and no link to one.
fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

/// Room for a file that grows by this much. Most source files fit into the first piece, and are read by two calls.
const PIECE: usize = 128 * 1024;

/// Reads a file into a buffer, or one byte more than is taken of it. Returns how much was read.
///
/// The buffer keeps its room from file to file: in the sandbox a call costs more than the bytes that it brings, so few and
/// large reads are wanted, and room that has been cleared once.
fn read(path: &Path, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut file = File::open(path)?;
    let mut end = 0;
    loop {
        if end == buffer.len() {
            buffer.resize(end + PIECE, 0);
        }
        match file.read(&mut buffer[end..]) {
            Ok(0) => return Ok(end),
            Ok(_) if end as u64 > MAX_GREP_FILE_BYTES => return Ok(end),
            Ok(read) => end += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes matching lines of one file.
struct Lines<'a> {
    path: String,
    room: usize,
    lines: &'a mut Vec<Line>,
    binary: bool,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.room == 0 {
            return Ok(false);
        }
        self.room -= 1;
        self.lines.push(Line {
            path: self.path.clone(),
            number: found.line_number().unwrap_or_default(),
            text: shown(found.bytes()),
        });
        Ok(self.room > 0)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }
}

/// A line without its end, cut, and with signs for bytes that are no text.
fn shown(line: &[u8]) -> String {
    // A character has at most four bytes.
    let line = &line[..line.len().min(4 * LINE_CHARS + 4)];
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\n', '\r']);
    match text.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "grep_tests.rs"]
mod tests;
