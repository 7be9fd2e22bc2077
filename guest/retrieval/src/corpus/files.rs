//! Bounded reading of a granted directory.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::CorpusError;
use crate::config::{MAX_CORPUS_BYTES, MAX_LINE_BYTES};

/// A corpus's directory. All files that are read from it share one budget.
pub(super) struct Files<'a> {
    root: &'a Path,
    left: u64,
}

impl<'a> Files<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self {
            root,
            left: MAX_CORPUS_BYTES,
        }
    }

    /// The names of files right in the directory that end in one of `extensions`, sorted.
    pub(super) fn with_extension(&self, extensions: &[&str]) -> Result<Vec<String>, CorpusError> {
        let unreadable = |error: io::Error| CorpusError::Unreadable {
            file: "its directory".to_owned(),
            reason: error.to_string(),
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(self.root).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = PathBuf::from(entry.file_name());
            let extension = path.extension().and_then(|extension| extension.to_str());
            if extension.is_some_and(|extension| extensions.contains(&extension))
                && let Some(name) = path.to_str()
                && self.root.join(name).is_file()
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// The text of a file; none if there is no such file.
    pub(super) fn read(&mut self, name: &str) -> Result<Option<String>, CorpusError> {
        let unreadable = |reason: String| CorpusError::Unreadable {
            file: name.to_owned(),
            reason,
        };
        let file = match File::open(self.root.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let mut bytes = Vec::new();
        file.take(self.left + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(error.to_string()))?;
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else {
            return Err(CorpusError::TooLarge {
                what: "bytes or more",
                got: MAX_CORPUS_BYTES + 1,
                max: MAX_CORPUS_BYTES,
            });
        };
        self.left = left;
        let text = String::from_utf8(bytes)
            .map_err(|error| unreadable(format!("it is not UTF-8: {}", error.utf8_error())))?;
        Ok(Some(text))
    }
}

/// The lines of a file that are not blank, with their places for messages.
pub(super) fn lines<'a>(
    name: &'a str,
    text: &'a str,
) -> impl Iterator<Item = Result<(Place<'a>, &'a str), CorpusError>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().enumerate().filter_map(move |(index, line)| {
        let place = Place {
            file: name,
            line: index + 1,
        };
        if line.len() > MAX_LINE_BYTES {
            let reason = format!(
                "the line has {} bytes, at most {MAX_LINE_BYTES} are taken",
                line.len()
            );
            return Some(Err(place.malformed(reason)));
        }
        (!line.trim().is_empty()).then_some(Ok((place, line)))
    })
}

/// Where something stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) line: usize,
}

impl Place<'_> {
    pub(super) fn malformed(self, reason: impl Into<String>) -> CorpusError {
        CorpusError::Malformed {
            place: self.to_string(),
            reason: reason.into(),
        }
    }

    /// A line as an object.
    pub(super) fn object(self, line: &str) -> Result<Map<String, Value>, CorpusError> {
        match serde_json::from_str(line) {
            Ok(Value::Object(members)) => Ok(members),
            Ok(_) => Err(self.malformed("a line must be a JSON object")),
            Err(error) => Err(self.malformed(format!("a line must be a JSON object: {error}"))),
        }
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} line {}", self.file, self.line)
    }
}
