//! Ranking: which documents answer a query best, in one of three modes.

use ranking::bm25::Bm25Params;
use ranking::recipe::{DENSE_SHARE, SOFT};
use ranking::{Found, Hit, Pool, Recipe, Verdict};

use crate::corpus::{Corpus, Document, Selection};

/// How to rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Words: BM25 over stems.
    Lexical,
    /// Vectors: the cosine of static embeddings.
    Dense,
    /// Both, and words that are merely alike.
    #[default]
    Hybrid,
}

impl Mode {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Lexical, Self::Dense, Self::Hybrid];

    /// As it is written everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Dense => "dense",
            Self::Hybrid => "hybrid",
        }
    }

    /// The mode of this name, written exactly so.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// What counts in it. Documents of a collection have no order and no speakers, so nothing of what memories have is
    /// switched on.
    fn recipe(self) -> Recipe {
        let lexical = Recipe {
            bm25: Bm25Params::ABSTRACTS,
            ..Recipe::LEXICAL
        };
        match self {
            Self::Lexical => lexical,
            Self::Dense => Recipe {
                dense: 1.0,
                ..lexical
            },
            Self::Hybrid => Recipe {
                dense: DENSE_SHARE,
                soft: SOFT,
                ..lexical
            },
        }
    }
}

/// How much a search's answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// The best documents say much of what was asked.
    Good,
    /// Little of it.
    Low,
    /// Next to nothing: most likely no document answers.
    Doubtful,
}

impl Confidence {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Good, Self::Low, Self::Doubtful];

    /// As it is written everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Low => "low",
            Self::Doubtful => "doubtful",
        }
    }
}

/// What a search found.
pub struct Answer {
    /// Best first.
    pub hits: Vec<Hit>,
    /// What they are worth.
    pub confidence: Confidence,
}

/// An index that is being made, a few documents at a time.
#[derive(Default)]
pub struct Indexing {
    pool: Pool,
    done: usize,
}

impl Indexing {
    /// How many documents are in it.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Takes the next document; false if there is none.
    pub fn step(&mut self, corpus: &Corpus) -> bool {
        let Some(document) = corpus.documents.get(self.done) else {
            return false;
        };
        let text = indexed_text(document);
        self.pool.insert(self.done as u32, &text.as_str().into());
        self.done += 1;
        true
    }

    /// The finished index. `keep` sees its snapshot.
    ///
    /// What grew is exchanged for the snapshot itself, which is smaller and faster to search.
    pub fn finish(self, keep: impl FnOnce(&[u8])) -> Retriever {
        let snapshot = self.pool.encode();
        keep(&snapshot);
        // A snapshot that was just made is sound.
        let pool = Pool::decode(snapshot).unwrap_or(self.pool);
        Retriever { pool }
    }
}

/// What a document is found by.
fn indexed_text(document: &Document) -> String {
    format!("{} {}", document.title, document.text)
}

/// An index over all documents of a corpus, under their positions.
pub struct Retriever {
    pool: Pool,
}

impl From<Pool> for Retriever {
    fn from(pool: Pool) -> Self {
        Self { pool }
    }
}

impl Retriever {
    /// Indexes a whole corpus.
    pub fn of(corpus: &Corpus) -> Self {
        let mut indexing = Indexing::default();
        while indexing.step(corpus) {}
        indexing.finish(|_| {})
    }

    /// The `k` best of the documents that were selected.
    pub fn search(&self, query: &str, mode: Mode, selection: &Selection, k: usize) -> Answer {
        let admits = |number: u32| selection.has(number);
        let Found { hits, verdict, .. } =
            self.pool.search(&query.into(), &mode.recipe(), k, admits);
        let confidence = match verdict {
            Verdict::Found => Confidence::Good,
            Verdict::LowConfidence => Confidence::Low,
            Verdict::Nothing => Confidence::Doubtful,
        };
        Answer { hits, confidence }
    }
}

#[cfg(test)]
#[path = "retriever_tests.rs"]
mod tests;
