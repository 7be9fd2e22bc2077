//! What a search costs, and what its parts cost: `cargo bench -p ranking`.
//!
//! Texts are made of the embedding's own vocabulary, some 35 words each as in a conversation, the frequent ones more often
//! than the rare (Zipf), twenty texts a session.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use ranking::scan::Probe;
use ranking::tokens::Analyzer;
use ranking::{Document, Pool, Recipe, table, wordpiece};

fn main() {
    divan::main();
}

/// Words that a person uses.
const VOCABULARY: u64 = 20_000;
const WORDS_A_TEXT: usize = 35;
const TEXTS_A_SESSION: u32 = 20;

/// A number that looks random, and is the same in each run.
fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

/// Whole words of the vocabulary; the first thousand pieces are punctuation and single characters.
fn word(state: &mut u64) -> String {
    loop {
        // An exponential of a uniform number has about the frequencies of words.
        let rank = (VOCABULARY as f64).powf(random(state)) as u16;
        let name = wordpiece::name(998 + rank);
        if name.bytes().all(|letter| letter.is_ascii_lowercase()) {
            return name;
        }
    }
}

fn text(state: &mut u64) -> String {
    let words: Vec<String> = (0..WORDS_A_TEXT).map(|_| word(state)).collect();
    words.join(" ")
}

fn texts(count: usize) -> Vec<String> {
    let mut state = 1;
    (0..count).map(|_| text(&mut state)).collect()
}

fn pool(count: u32) -> Pool {
    let mut state = 1;
    let mut pool = Pool::default();
    for doc in 0..count {
        let session = format!("session {}", doc / TEXTS_A_SESSION);
        let document = Document {
            text: &text(&mut state),
            extra: "",
            session: Some(&session),
            created: Some(1_600_000_000 + i64::from(doc) * 600),
        };
        pool.insert(doc, &document);
    }
    pool.compact();
    pool
}

#[divan::bench]
fn tokens(bencher: Bencher<'_, '_>) {
    let texts = texts(100);
    let analyzer = Analyzer::default();
    bencher
        .counter(ItemsCount::new(texts.len() * WORDS_A_TEXT))
        .bench_local(|| {
            for text in &texts {
                analyzer.document_terms(text, |term, _| {
                    black_box(term);
                });
            }
        });
}

#[divan::bench]
fn embeds(bencher: Bencher<'_, '_>) {
    let texts = texts(100);
    bencher
        .counter(ItemsCount::new(texts.len()))
        .bench_local(|| {
            for text in &texts {
                black_box(table::embed(text));
            }
        });
}

fn rows(count: usize) -> (Vec<i8>, Vec<f32>) {
    let mut state = 1;
    let rows = (0..count * table::DIMENSIONS)
        .map(|_| (random(&mut state) * 255.0 - 127.0) as i8)
        .collect();
    (rows, vec![0.001; count])
}

#[divan::bench(args = [10_000, 100_000, 1_000_000])]
fn scan(bencher: Bencher<'_, '_>, count: usize) {
    let (rows, inverses) = rows(count);
    let probe = Probe::new(&table::embed("a dark mode")).expect("it has a direction");
    let mut cosines = Vec::new();
    bencher
        .counter(BytesCount::new(rows.len()))
        .bench_local(|| probe.cosines(black_box(&rows), &inverses, &mut cosines));
}

/// The least that a scan can cost: every byte is read.
#[divan::bench(args = [10_000, 100_000, 1_000_000])]
fn plain_read(bencher: Bencher<'_, '_>, count: usize) {
    let (rows, _) = rows(count);
    bencher
        .counter(BytesCount::new(rows.len()))
        .bench_local(|| {
            black_box(&rows)
                .as_chunks::<8>()
                .0
                .iter()
                .fold(0_u64, |sum, bytes| {
                    sum ^ u64::from_le_bytes(bytes.map(|byte| byte as u8))
                })
        });
}

const QUERY: &str = "when did the family visit the museum near the river?";

#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 20)]
fn search_full(bencher: Bencher<'_, '_>, count: u32) {
    search(bencher, count, &Recipe::FULL);
}

#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 20)]
fn search_without_soft(bencher: Bencher<'_, '_>, count: u32) {
    let recipe = Recipe {
        soft: 0.0,
        ..Recipe::FULL
    };
    search(bencher, count, &recipe);
}

#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 20)]
fn search_hybrid(bencher: Bencher<'_, '_>, count: u32) {
    search(bencher, count, &Recipe::HYBRID);
}

fn search(bencher: Bencher<'_, '_>, count: u32, recipe: &Recipe) {
    let pool = pool(count);
    pool.search(&QUERY.into(), recipe, 10, |_| true);
    bencher.bench_local(|| pool.search(&QUERY.into(), recipe, 10, |_| true));
}

/// What a search costs after a save.
#[divan::bench(args = [10_000, 100_000], sample_count = 20)]
fn insert_and_search(bencher: Bencher<'_, '_>, count: u32) {
    let mut pool = pool(count);
    let mut doc = count;
    bencher.bench_local(|| {
        pool.insert(doc, &"a family in a museum".into());
        doc += 1;
        pool.search(&QUERY.into(), &Recipe::FULL, 10, |_| true)
    });
}

#[divan::bench(args = [10_000, 100_000], sample_count = 10)]
fn decode(bencher: Bencher<'_, '_>, count: u32) {
    let bytes = pool(count).encode();
    bencher
        .counter(BytesCount::new(bytes.len()))
        .with_inputs(|| bytes.clone())
        .bench_local_values(Pool::decode);
}

#[divan::bench(args = [10_000], sample_count = 5)]
fn encode(bencher: Bencher<'_, '_>, count: u32) {
    let pool = pool(count);
    bencher.bench_local(|| pool.encode());
}
