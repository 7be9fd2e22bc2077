//! Why the store can't do what it was asked.

use std::{fmt, io};

use super::disk::explain;
use super::event::FORMAT;

/// A failure of the store. The message is for people, and tells nothing of where the files are.
#[derive(Debug)]
pub enum StoreError {
    /// The host granted no directory.
    NoDirectory,
    /// The journal was written by a newer version, and is left alone.
    NewerFormat {
        /// Its format.
        found: u64,
    },
    /// It can't be read.
    Read(io::Error),
    /// It can't be written; nothing has changed.
    Write(io::Error),
    /// The line that holds a memory's text is not what was read before. The text is lost, unless a backup has it.
    Unreadable {
        /// The memory's number.
        id: u64,
    },
    /// A write went wrong and could not be undone, so it may be on the disk or not: only a fresh start can tell.
    InDoubt(String),
    /// A write went wrong earlier, or just now and was undone, in a way that makes the disk unreliable: nothing is
    /// written until a fresh start.
    Frozen(String),
    /// The journal changed during the call, so somebody writes without holding the lock.
    Changed,
    /// All ids were given out.
    NoIdsLeft,
}

/// Carries a format number through code that only knows I/O errors.
#[derive(Debug)]
struct Newer(u64);

impl StoreError {
    /// A journal of a newer format, met while reading.
    pub(super) fn newer(found: u64) -> io::Error {
        io::Error::other(Newer(found))
    }

    /// The failure behind an error while reading.
    pub(super) fn from_read(error: io::Error) -> Self {
        match error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Newer>())
        {
            Some(Newer(found)) => Self::NewerFormat { found: *found },
            None => Self::Read(error),
        }
    }
}

impl fmt::Display for Newer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "format {}", self.0)
    }
}

impl std::error::Error for Newer {}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDirectory => f.write_str(
                "no directory was granted as `data`, so there is nowhere to keep memories; start the server with --data-dir",
            ),
            Self::NewerFormat { found } => write!(
                f,
                "the memory store has format {found}, and this version knows formats up to {FORMAT}; update the program \
                 (the store was not touched)"
            ),
            Self::Read(error) => write!(f, "the memory store can't be read: {}", explain(error)),
            Self::Write(error) => write!(f, "the memory store can't be written: {}", explain(error)),
            Self::Unreadable { id } => write!(
                f,
                "the text of m{id} can't be read any more: its line in the journal was damaged"
            ),
            Self::InDoubt(reason) => write!(
                f,
                "whether this was done is only known when the server is started again, because {reason}; check the disk"
            ),
            Self::Frozen(reason) => write!(
                f,
                "the memory store takes no changes until the server is started again, because {reason}; check the disk"
            ),
            Self::Changed => f.write_str(
                "the memory store changed while it was being written, so another program writes to it without its lock",
            ),
            Self::NoIdsLeft => f.write_str("the memory store has given out its last id"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) | Self::Write(error) => Some(error),
            _ => None,
        }
    }
}
