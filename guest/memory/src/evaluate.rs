//! How good a search is: documents, questions and judgements in, a report out. The store is not touched.
//!
//! An evaluation goes in slices, for it may take minutes: each does what fits into the time, and says whether there is
//! more, or whether it needs vectors of the provider first.

mod request;
mod rows;
mod tally;

use std::collections::HashMap;

use ranking::{Document, Pool, Query, Vector};
use serde_json::{Value, json};

use crate::backend::{importance_of, lifted, recency_of};
use crate::config::{MAX_EMBED_BYTES, MAX_EMBED_TEXTS, MIN_CONTENDERS};
use crate::request::Given;
use request::{Collection, Request};
use rows::{Lifts, Row};
use tally::Tally;

/// Where an evaluation stands after a slice.
#[derive(Debug, PartialEq)]
pub enum Progress {
    /// The report.
    Done(Value),
    /// There is more to do.
    More,
    /// It goes on with the vectors of these texts.
    Needs {
        /// In the order in which their vectors are to come.
        texts: Vec<String>,
        /// Whether they are questions, which many models embed in another way.
        are_queries: bool,
    },
}

/// An evaluation that is under way.
pub struct Run {
    request: Request,
    embedder: Option<String>,
    /// For each collection its documents in their order, and in one that means nothing.
    plain: Vec<Shelf>,
    shuffled: Vec<Shelf>,
    /// Vectors of questions, by text.
    vectors: HashMap<String, Vec<f32>>,
    /// Texts that the provider was asked for.
    asked: Vec<Asked>,
    /// Row, collection and question that come next.
    next: (usize, usize, usize),
    tallies: Vec<Tally>,
}

/// A text that the provider was asked for.
enum Asked {
    /// Of this collection, the one with this number.
    Document(usize, u32),
    Question(String),
}

/// The documents of a collection in some order.
struct Shelf {
    pool: Pool,
    /// Which document stands in each place.
    order: Vec<u32>,
    /// So many are in the pool.
    filled: usize,
}

impl Shelf {
    fn new(order: Vec<u32>) -> Self {
        Self {
            pool: Pool::default(),
            order,
            filled: 0,
        }
    }

    /// Puts the next document in its place, with the session of that place. False: all are there.
    fn fill(&mut self, collection: &Collection) -> bool {
        let Some(&document) = self.order.get(self.filled) else {
            return false;
        };
        let document = &collection.documents[document as usize];
        let place = &collection.documents[self.filled];
        self.pool.insert(
            self.filled as u32,
            &Document {
                text: &document.text,
                extra: "",
                session: place.session.as_deref(),
                created: document.created,
            },
        );
        self.filled += 1;
        true
    }
}

impl Run {
    /// Reads a request; `embedder` is the configured provider.
    ///
    /// # Errors
    ///
    /// Says what is malformed, unknown or out of bounds.
    pub fn start(request: &str, embedder: Option<&str>) -> Result<Self, String> {
        let request = Request::read(request, embedder.is_some())?;
        let sizes = || {
            request
                .collections
                .iter()
                .map(|one| one.documents.len() as u32)
        };
        let mut random = SplitMix(request.seed);
        Ok(Self {
            embedder: embedder.map(str::to_owned),
            plain: sizes()
                .map(|size| Shelf::new((0..size).collect()))
                .collect(),
            shuffled: sizes()
                .map(|size| Shelf::new(random.shuffled(size)))
                .collect(),
            vectors: HashMap::new(),
            asked: Vec::new(),
            next: (0, 0, 0),
            tallies: request.rows.iter().map(|_| Tally::default()).collect(),
            request,
        })
    }

    /// Works until the time is up. `clock` gives milliseconds since any moment; `given` answers the last need.
    ///
    /// # Errors
    ///
    /// The provider failed; the evaluation is over.
    pub fn advance(
        &mut self,
        given: Option<&Given>,
        clock: &mut dyn FnMut() -> f64,
        budget_ms: f64,
    ) -> Result<Progress, String> {
        let start = clock();
        self.take(given)?;
        loop {
            let (row, collection, question) = self.next;
            let Some(chosen) = self.request.rows.get(row).copied() else {
                return Ok(Progress::Done(self.report()));
            };
            let Some(documents) = self.request.collections.get(collection) else {
                self.next = (row + 1, 0, 0);
                continue;
            };
            let shelf = if chosen.is_shuffled {
                &mut self.shuffled[collection]
            } else {
                &mut self.plain[collection]
            };
            let questions = documents.queries.len();
            if !shelf.fill(documents) {
                if chosen.asks_provider
                    && let Some(needs) = self.needs(collection)
                {
                    return Ok(needs);
                }
                if question < questions {
                    self.answer(&chosen, clock);
                    self.next.2 += 1;
                } else {
                    self.next = (row, collection + 1, 0);
                }
            }
            if clock() - start >= budget_ms {
                return Ok(Progress::More);
            }
        }
    }

    /// Answers the next question, and notes how well.
    fn answer(&mut self, row: &Row, clock: &mut dyn FnMut() -> f64) {
        let (number, collection, question) = self.next;
        let documents = &self.request.collections[collection];
        let shelves = if row.is_shuffled {
            &self.shuffled
        } else {
            &self.plain
        };
        let shelf = &shelves[collection];
        let question = &documents.queries[question];
        let vector = self
            .vectors
            .get(&question.text)
            .map(|vector| Vector::F32(vector));
        let query = Query {
            text: &question.text,
            vector: self
                .embedder
                .as_deref()
                .zip(vector)
                .filter(|_| row.asks_provider),
        };
        let depth = self.request.depth;
        let count = if row.lifts.any() {
            MIN_CONTENDERS.max(2 * depth)
        } else {
            depth
        };
        let started = clock();
        let found = shelf.pool.search(&query, &row.recipe, count, |_| true);
        let mut ranking: Vec<u32> = found.hits.iter().map(|hit| hit.doc).collect();
        if row.lifts.any() {
            let scored = found.hits.iter().map(|hit| {
                (
                    u64::from(hit.doc),
                    f64::from(hit.score),
                    lift(documents, hit.doc, row.lifts),
                )
            });
            ranking = lifted(scored.collect())
                .into_iter()
                .map(|doc| doc as u32)
                .collect();
            ranking.truncate(depth);
        }
        let took = clock() - started;
        for place in &mut ranking {
            *place = shelf.order[*place as usize];
        }
        self.tallies[number].add(&ranking, &question.relevant, took);
    }

    /// What the provider has to embed before the questions of a collection can be asked.
    fn needs(&mut self, collection: usize) -> Option<Progress> {
        let embedder = self.embedder.as_deref()?;
        let documents = &self.request.collections[collection];
        let missing = self.plain[collection].pool.without_vector(embedder);
        let are_queries = missing.is_empty();
        let all: Vec<(Asked, &String)> = if are_queries {
            let unknown = documents.queries.iter().map(|question| &question.text);
            unknown
                .filter(|text| !self.vectors.contains_key(*text))
                .map(|text| (Asked::Question(text.clone()), text))
                .collect()
        } else {
            let text = |doc: u32| &documents.documents[doc as usize].text;
            let asked = missing
                .into_iter()
                .map(|doc| (Asked::Document(collection, doc), text(doc)));
            asked.collect()
        };
        let mut bytes = 0;
        let portion = all
            .into_iter()
            .take(MAX_EMBED_TEXTS)
            .take_while(|(_, text)| {
                let fits = bytes < MAX_EMBED_BYTES;
                bytes += text.len();
                fits
            });
        let (asked, texts): (Vec<Asked>, Vec<String>) =
            portion.map(|(asked, text)| (asked, text.clone())).unzip();
        self.asked = asked;
        (!texts.is_empty()).then_some(Progress::Needs { texts, are_queries })
    }

    /// Takes the vectors that were needed.
    fn take(&mut self, given: Option<&Given>) -> Result<(), String> {
        let (embedder, vectors) = match given {
            None => return Ok(()),
            Some(Given::Failed(reason)) => return Err(format!("the provider: {reason}")),
            Some(Given::Vectors { embedder, vectors }) => (embedder, vectors),
        };
        let asked = std::mem::take(&mut self.asked);
        if Some(embedder) != self.embedder.as_ref() || asked.len() != vectors.len() {
            return Err(format!(
                "the provider {embedder:?} gave {} vectors for {} texts",
                vectors.len(),
                asked.len()
            ));
        }
        for (asked, vector) in asked.into_iter().zip(vectors) {
            match asked {
                Asked::Question(text) => drop(self.vectors.insert(text, vector.clone())),
                Asked::Document(collection, doc) => {
                    let pool = &mut self.plain[collection].pool;
                    let set = pool.set_vector(doc, embedder, Vector::F32(vector));
                    set.map_err(|error| format!("the provider: {error}"))?;
                }
            }
        }
        Ok(())
    }

    fn report(&self) -> Value {
        let rows = self.request.rows.iter().zip(&self.tallies);
        let rows: Vec<Value> = rows.map(|(row, tally)| tally.report(row.name)).collect();
        let documents = self
            .request
            .collections
            .iter()
            .map(|one| one.documents.len());
        json!({
            "collections": self.request.collections.len(),
            "documents": documents.sum::<usize>(),
            "k": self.request.depth,
            "embedder": self.embedder,
            "rows": rows,
        })
    }
}

/// What recency and importance add to a document, those that have a say, as of the youngest one: nobody has looked at any
/// since.
fn lift(collection: &Collection, doc: u32, lifts: Lifts) -> f64 {
    let document = &collection.documents[doc as usize];
    let mut lift = 0.0;
    if lifts.recency {
        let age = collection
            .youngest
            .zip(document.created)
            .map_or(0, |(now, then)| now - then);
        lift += recency_of(age as f64 / 3600.0);
    }
    if lifts.importance {
        lift += importance_of(document.importance);
    }
    lift
}

/// Numbers that look random, the same for the same seed (Steele et al., *Fast splittable pseudorandom number generators*,
/// 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// The numbers below `count` in some order.
    fn shuffled(&mut self, count: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count).collect();
        for last in (1..order.len()).rev() {
            let other = self.next() % (last as u64 + 1);
            order.swap(last, other as usize);
        }
        order
    }
}

#[cfg(test)]
#[path = "evaluate_tests.rs"]
mod tests;
