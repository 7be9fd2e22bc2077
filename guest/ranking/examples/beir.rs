//! Measures the parts of a recipe on collections in the BEIR layout:
//! `cargo run -p ranking --release --example beir -- DIRECTORY...`
//!
//! Each directory has `corpus.jsonl` (`_id`, `title`, `text`; `metadata.session` and `metadata.created_at` where there are
//! any), `queries.jsonl` (`_id`, `text`) and `qrels/test.tsv`, and is a pool of its own. A row is the mean over all queries
//! of all directories. `--typos` mistypes a third of the longer words of each query first; `--misses` lists what the whole
//! recipe did not find; `--strangers` asks each pool the questions of the next one, to see how many are turned away.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;
use std::{env, fs, io};

use ranking::metrics::{self, Relevant};
use ranking::{Document, Pool, Recipe, Smoothing, Verdict};
use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One directory.
struct Collection {
    name: String,
    pool: Pool,
    texts: Vec<String>,
    queries: Vec<(String, Relevant)>,
}

fn main() -> Result<()> {
    let (flags, directories): (Vec<String>, Vec<String>) = env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    let mut collections = Vec::new();
    for directory in &directories {
        collections.push(load(Path::new(directory), has("--typos"))?);
    }
    let mut out = String::new();
    if has("--misses") {
        misses(&collections, &mut out)?;
    } else if has("--strangers") {
        strangers(&collections, &mut out)?;
    } else {
        writeln!(
            out,
            "recipe                 R@5    R@10   P@5    MRR    nDCG10 p50ms  p95ms  cut"
        )?;
        for (name, recipe) in rows() {
            measure(name, &recipe, &collections, &mut out)?;
        }
    }
    Ok(io::stdout().write_all(out.as_bytes())?)
}

/// The ablation: one part more in each row, then the whole without one.
fn rows() -> Vec<(&'static str, Recipe)> {
    let full = Recipe::FULL;
    let mut rows = Recipe::STEPS.to_vec();
    rows.extend([
        ("- dense", Recipe { dense: 0.0, ..full }),
        (
            "- query idf",
            Recipe {
                query_idf: false,
                ..full
            },
        ),
        ("- soft", Recipe { soft: 0.0, ..full }),
        (
            "- neighbours",
            Recipe {
                smoothing: Smoothing::OFF,
                ..full
            },
        ),
        ("- dates", Recipe { date: 0.0, ..full }),
        ("- labels", Recipe { label: 0.0, ..full }),
        ("- when", Recipe { when: 0.0, ..full }),
        (
            "- questions",
            Recipe {
                question: 0.0,
                ..full
            },
        ),
    ]);
    rows
}

fn measure(
    name: &str,
    recipe: &Recipe,
    collections: &[Collection],
    out: &mut String,
) -> Result<()> {
    let mut times = Vec::new();
    let mut values: [Vec<f32>; 5] = Default::default();
    let mut cut = 0;
    for collection in collections {
        for (query, relevant) in &collection.queries {
            let start = Instant::now();
            let found = collection
                .pool
                .search(&query.as_str().into(), recipe, 10, |_| true);
            times.push(start.elapsed().as_secs_f64() * 1e3);
            cut += usize::from(found.hits.is_empty());
            let ranking: Vec<u32> = found.hits.iter().map(|hit| hit.doc).collect();
            values[0].push(metrics::recall(&ranking, relevant, 5));
            values[1].push(metrics::recall(&ranking, relevant, 10));
            values[2].push(metrics::precision(&ranking, relevant, 5));
            values[3].push(metrics::reciprocal_rank(&ranking, relevant));
            values[4].push(metrics::ndcg(&ranking, relevant, 10));
        }
    }
    write!(out, "{name:22}")?;
    for values in values {
        write!(out, " {:.4}", metrics::mean(values))?;
    }
    let time = |p| metrics::percentile(&times, p).unwrap_or_default();
    writeln!(out, " {:6.3} {:6.3} {cut:4}", time(0.5), time(0.95))?;
    Ok(())
}

/// Relevant documents that the whole recipe did not put among the first ten.
fn misses(collections: &[Collection], out: &mut String) -> Result<()> {
    for collection in collections {
        for (query, relevant) in &collection.queries {
            let found = collection
                .pool
                .search(&query.as_str().into(), &Recipe::FULL, 10, |_| true);
            let first = found.hits.iter().map(|hit| hit.doc).collect::<Vec<_>>();
            for (doc, text) in collection.texts.iter().enumerate() {
                if relevant.gain(doc as u32) > 0.0 && !first.contains(&(doc as u32)) {
                    writeln!(out, "{}\n  {query}\n  {doc}: {text}", collection.name)?;
                }
            }
        }
    }
    Ok(())
}

/// How often a question is turned away by its own pool, and by the next.
fn strangers(collections: &[Collection], out: &mut String) -> Result<()> {
    for foreign in [false, true] {
        let mut counts = [0_usize; 3];
        for (at, collection) in collections.iter().enumerate() {
            let pool = &collections[(at + usize::from(foreign)) % collections.len()].pool;
            for (query, _) in &collection.queries {
                let found = pool.search(&query.as_str().into(), &Recipe::FULL, 10, |_| true);
                if !foreign && found.verdict == Verdict::Nothing {
                    writeln!(out, "  {:.3} {query}", found.coverage)?;
                }
                counts[match found.verdict {
                    Verdict::Nothing => 0,
                    Verdict::LowConfidence => 1,
                    Verdict::Found => 2,
                }] += 1;
            }
        }
        let [nothing, doubtful, found] = counts;
        let whose = if foreign {
            "another pool"
        } else {
            "its own pool"
        };
        writeln!(
            out,
            "{whose}: nothing {nothing}, low confidence {doubtful}, found {found}"
        )?;
    }
    Ok(())
}

fn load(directory: &Path, typos: bool) -> Result<Collection> {
    let mut pool = Pool::default();
    let mut numbers = HashMap::new();
    let mut texts = Vec::new();
    for line in fs::read_to_string(directory.join("corpus.jsonl"))?.lines() {
        let record: Value = serde_json::from_str(line)?;
        let text = format!("{} {}", string(&record, "title")?, string(&record, "text")?);
        let text = text.trim().to_owned();
        let metadata = &record["metadata"];
        let created: Option<jiff::Timestamp> = metadata["created_at"]
            .as_str()
            .map(str::parse)
            .transpose()?;
        let doc = texts.len() as u32;
        let document = Document {
            text: &text,
            extra: "",
            session: metadata["session"].as_str(),
            created: created.map(jiff::Timestamp::as_second),
        };
        pool.insert(doc, &document);
        numbers.insert(string(&record, "_id")?.to_owned(), doc);
        texts.push(text);
    }
    pool.compact();
    let mut gains: HashMap<String, Vec<(u32, f32)>> = HashMap::new();
    for line in fs::read_to_string(directory.join("qrels/test.tsv"))?
        .lines()
        .skip(1)
    {
        let mut fields = line.split('\t');
        if let (Some(query), Some(doc), Some(gain)) = (fields.next(), fields.next(), fields.next())
        {
            let doc = *numbers
                .get(doc)
                .ok_or_else(|| format!("no document {doc:?}"))?;
            gains
                .entry(query.to_owned())
                .or_default()
                .push((doc, gain.parse()?));
        }
    }
    let mut queries = Vec::new();
    let mut random = 7;
    for line in fs::read_to_string(directory.join("queries.jsonl"))?.lines() {
        let record: Value = serde_json::from_str(line)?;
        let mut text = string(&record, "text")?.to_owned();
        if typos {
            text = mistype(&text, &mut random);
        }
        let relevant = Relevant::new(gains.remove(string(&record, "_id")?).unwrap_or_default());
        if !relevant.is_empty() {
            queries.push((text, relevant));
        }
    }
    let name = directory.display().to_string();
    Ok(Collection {
        name,
        pool,
        texts,
        queries,
    })
}

fn string<'a>(record: &'a Value, field: &str) -> Result<&'a str> {
    record[field]
        .as_str()
        .ok_or_else(|| format!("no {field:?} in {record}").into())
}

/// Swaps two letters, or drops, doubles or changes one, in a third of the words of five letters and more.
fn mistype(text: &str, random: &mut u64) -> String {
    let mut next = |below: usize| {
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*random >> 33) as usize % below
    };
    let words = text.split(' ').map(|word| {
        let mut letters: Vec<char> = word.chars().collect();
        if letters.len() < 5 || !letters.iter().all(char::is_ascii_alphabetic) || next(3) > 0 {
            return word.to_owned();
        }
        let at = 1 + next(letters.len() - 2);
        match next(4) {
            0 => letters.swap(at, at + 1),
            1 => drop(letters.remove(at)),
            2 => letters.insert(at, letters[at]),
            _ => letters[at] = (b'a' + next(26) as u8) as char,
        }
        letters.into_iter().collect()
    });
    words.collect::<Vec<String>>().join(" ")
}
