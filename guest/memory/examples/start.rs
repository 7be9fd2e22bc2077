//! What the first search of a process costs, with the snapshot of the index and without.
//!
//! ```sh
//! cargo run --release -p memory --example start -- 100000
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use memory::backend::MemoryBackend;
use memory::request::Moment;
use memory::security::{RawMemory, SearchArgs};
use memory::store::disk::DirDisk;

/// Words to make texts of; with the numbers among them there are some thousand different ones.
const WORDS: &[&str] = &[
    "garden", "release", "ferry", "coffee", "deploy", "meeting", "budget", "kitchen", "train",
    "review", "doctor", "invoice", "holiday", "backup", "guitar", "marathon", "contract",
    "printer", "birthday", "database",
];

/// Memories in one batch of the import.
const BATCH: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let count: usize = std::env::args()
        .nth(1)
        .unwrap_or("10000".to_owned())
        .parse()?;
    let directory = std::env::temp_dir().join(format!("start-{}", std::process::id()));
    std::fs::create_dir(&directory)?;
    let outcome = measure(&directory, count);
    std::fs::remove_dir_all(&directory)?;
    outcome
}

fn measure(directory: &Path, count: usize) -> Result<(), Box<dyn Error>> {
    let moment = Moment::new(Timestamp::UNIX_EPOCH, "");
    let mut backend = open(directory);
    let texts: Vec<String> = (0..count).map(text).collect();
    for batch in texts.chunks(BATCH) {
        let raw = |text: &String| RawMemory {
            text: text.clone(),
            ..RawMemory::default()
        };
        backend.import(&batch.iter().map(raw).collect::<Vec<_>>(), false, &moment)?;
    }
    let started = Instant::now();
    while !backend.step(moment.now(), &mut || false)? {}
    writeln!(
        stdout(),
        "{count} memories; writing the snapshot took {:?}",
        started.elapsed()
    )?;
    for name in ["journal.jsonl", "index.bin"] {
        let bytes = std::fs::metadata(directory.join(name))?.len();
        writeln!(stdout(), "{name}: {bytes} bytes")?;
    }
    let (opening, searching) = start(directory)?;
    writeln!(
        stdout(),
        "with the snapshot: open {opening:?}, first search {searching:?}"
    )?;
    std::fs::remove_file(directory.join("index.bin"))?;
    let (opening, searching) = start(directory)?;
    writeln!(
        stdout(),
        "without: open {opening:?}, first search {searching:?}"
    )?;
    Ok(())
}

/// Opens and searches in a fresh instance.
fn start(directory: &Path) -> Result<(Duration, Duration), Box<dyn Error>> {
    let mut backend = open(directory);
    let started = Instant::now();
    backend.open(&mut || false)?;
    let opening = started.elapsed();
    let search = SearchArgs::for_query("the garden budget 17".to_owned());
    backend.search(&search, &Moment::new(Timestamp::UNIX_EPOCH, ""))?;
    Ok((opening, started.elapsed() - opening))
}

fn open(directory: &Path) -> MemoryBackend {
    MemoryBackend::new(Box::new(DirDisk::new(directory)), Box::new(|| [7; 16]))
}

/// A different text for each number: about eighty characters.
fn text(number: usize) -> String {
    let word = |by: usize| WORDS[number / by % WORDS.len()];
    format!(
        "note {number}: the {} about the {} comes before the {} with {} and number{}",
        word(1),
        word(20),
        word(7),
        word(3),
        number % 5000
    )
}
