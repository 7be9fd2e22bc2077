//! Finished indexes, kept in a directory that was granted for it, so that a later process need not make them again.
//!
//! A file is a head and [`ranking::Pool`]'s snapshot:
//!
//! ```text
//! 0    8 bytes   "pmindex" and a zero
//! 8    u64       fingerprint of the documents that it was made of
//! 16   u32       CRC-32 of everything behind it
//! 20   ...       the snapshot
//! ```
//!
//! **Invariant:** losing a file loses nothing but time. What doesn't fit the documents, is damaged or was written by another
//! version is made again; what can't be written is not written, and said on standard error by the caller.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ranking::Pool;

use crate::config::SERVER_VERSION;
use crate::corpus::Corpus;

const MAGIC: &[u8; 8] = b"pmindex\0";
const HEAD: usize = 20;

/// What an index is made of, in short: all titles and texts in their order, and the version that read them.
pub fn fingerprint(corpus: &Corpus) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(SERVER_VERSION.as_bytes());
    for document in &corpus.documents {
        // Lengths keep the parts apart.
        hasher.update(&(document.title.len() as u64).to_le_bytes());
        hasher.update(document.title.as_bytes());
        hasher.update(&(document.text.len() as u64).to_le_bytes());
        hasher.update(document.text.as_bytes());
    }
    (u64::from(hasher.finalize()) << 32) | (corpus.bytes & u64::from(u32::MAX))
}

/// The index of a corpus, if there is a sound one of exactly these documents.
pub fn load(directory: &Path, name: &str, corpus: &Corpus) -> Option<Pool> {
    let mut bytes = fs::read(file(directory, name)).ok()?;
    let (head, snapshot) = bytes.split_at_checked(HEAD)?;
    let mut expected = MAGIC.to_vec();
    expected.extend(fingerprint(corpus).to_le_bytes());
    expected.extend(crc32fast::hash(snapshot).to_le_bytes());
    if head != expected {
        return None;
    }
    let pool = Pool::decode(bytes.split_off(HEAD)).ok()?;
    (pool.len() == corpus.documents.len()).then_some(pool)
}

/// Keeps an index, given its snapshot. It is complete under its name or not there.
///
/// # Errors
///
/// When the directory can't be written.
pub fn save(directory: &Path, name: &str, corpus: &Corpus, snapshot: &[u8]) -> io::Result<()> {
    let unfinished = directory.join(format!("{name}.index.new"));
    let mut out = File::create(&unfinished)?;
    out.write_all(MAGIC)?;
    out.write_all(&fingerprint(corpus).to_le_bytes())?;
    out.write_all(&crc32fast::hash(snapshot).to_le_bytes())?;
    out.write_all(snapshot)?;
    drop(out);
    fs::rename(unfinished, file(directory, name))
}

/// Names of corpora are names of grants: letters, digits, `-` and `_`.
fn file(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.index"))
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
