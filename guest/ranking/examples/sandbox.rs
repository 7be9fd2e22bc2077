//! What the ranking costs, natively or in the sandbox:
//!
//! ```text
//! cargo run -p ranking --release --example sandbox
//! RUSTFLAGS="-C target-feature=+simd128" cargo build -p ranking --profile component --target wasm32-wasip2 --example sandbox
//! wasmtime run target/wasm32-wasip2/component/examples/sandbox.wasm
//! ```
//!
//! Times in milliseconds, the least and the median of many runs: on a machine that does other things too, the least is the
//! one to compare.

use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{self, Write as _};
use std::time::Instant;

use ranking::scan::Probe;
use ranking::{Document, Pool, Recipe, table, wordpiece};

/// Words that a person uses.
const VOCABULARY: f64 = 20_000.0;
const WORDS_A_TEXT: usize = 35;
const TEXTS_A_SESSION: u32 = 20;

const QUERIES: [&str; 5] = [
    "when did the family visit the museum near the river?",
    "which doctor treated the horse in winter",
    "what does the committee think of the new budget",
    "Who wrote the letter to the minister in March?",
    "guitar lessons for the children after school",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = String::new();
    let mut random = 1;
    scans(&mut out, &mut random)?;
    for count in [10_000, 100_000] {
        searches(&mut out, count)?;
    }
    Ok(io::stdout().write_all(out.as_bytes())?)
}

/// A number that looks random, and is the same in each run.
fn next(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

/// Whole words of the embedding's vocabulary, the frequent ones first: an exponential of a uniform number has about the
/// frequencies of words.
fn text(random: &mut u64) -> String {
    let mut words = Vec::with_capacity(WORDS_A_TEXT);
    while words.len() < WORDS_A_TEXT {
        let name = wordpiece::name(998 + VOCABULARY.powf(next(random)) as u16);
        if name.bytes().all(|letter| letter.is_ascii_lowercase()) {
            words.push(name);
        }
    }
    words.join(" ")
}

fn pool(count: u32) -> Pool {
    let mut random = 1;
    let mut pool = Pool::default();
    for doc in 0..count {
        let session = format!("session {}", doc / TEXTS_A_SESSION);
        let document = Document {
            text: &text(&mut random),
            extra: "",
            session: Some(&session),
            created: Some(1_600_000_000 + i64::from(doc) * 600),
        };
        pool.insert(doc, &document);
    }
    pool.compact();
    pool
}

fn scans(out: &mut String, random: &mut u64) -> io::Result<()> {
    let count = 10_000;
    let rows: Vec<i8> = (0..count * table::DIMENSIONS)
        .map(|_| (next(random) * 255.0 - 127.0) as i8)
        .collect();
    let inverses = vec![0.001; count];
    let mut cosines = Vec::new();
    if let Some(probe) = Probe::new(&table::embed("a dark mode")) {
        time(out, "scan 10k", 200, || {
            probe.cosines(black_box(&rows), &inverses, &mut cosines);
        });
    }
    Ok(())
}

fn searches(out: &mut String, count: u32) -> Result<(), Box<dyn Error>> {
    let bytes = pool(count).encode();
    time(out, &format!("decode {count}"), 9, || {
        black_box(Pool::decode(bytes.clone()).is_ok());
    });
    let mut pool = Pool::decode(bytes)?;
    let runs = if count > 10_000 { 60 } else { 300 };
    let rows = [
        ("lexical", Recipe::LEXICAL),
        ("dense", Recipe::DENSE),
        ("hybrid", Recipe::HYBRID),
        (
            "hybrid+soft",
            Recipe {
                soft: Recipe::FULL.soft,
                ..Recipe::HYBRID
            },
        ),
        (
            "full-soft",
            Recipe {
                soft: 0.0,
                ..Recipe::FULL
            },
        ),
        ("full", Recipe::FULL),
    ];
    for (name, recipe) in rows {
        let mut turn = 0;
        time(out, &format!("{name} {count}"), runs, || {
            turn += 1;
            let query = QUERIES[turn % QUERIES.len()];
            black_box(pool.search(&query.into(), &recipe, 10, |_| true));
        });
    }
    let mut doc = count;
    time(out, &format!("insert+full {count}"), runs, || {
        pool.insert(doc, &"a family in a museum".into());
        doc += 1;
        let query = QUERIES[doc as usize % QUERIES.len()];
        black_box(pool.search(&query.into(), &Recipe::FULL, 10, |_| true));
    });
    Ok(())
}

fn time(out: &mut String, name: &str, runs: usize, mut run: impl FnMut()) {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    // A string takes what is written to it.
    let _ = writeln!(
        out,
        "{name:20} {:8.3} {:8.3}",
        times[0],
        times[times.len() / 2]
    );
}
