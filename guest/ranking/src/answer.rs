//! What goes into a search and what comes out of it.

use std::fmt;

/// A document as its pool sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// What it says.
    pub text: &'a str,
    /// Further words by which it is found (tags). They don't make it longer, and are not embedded.
    pub extra: &'a str,
    /// What it was saved in. Neighbours in a session help each other; a document without one stands alone.
    pub session: Option<&'a str>,
    /// When it was saved, in seconds since the epoch (UTC).
    pub created: Option<i64>,
}

impl<'a> From<&'a str> for Document<'a> {
    fn from(text: &'a str) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// A vector of somebody else's making. What is stored is eight bits a dimension.
#[derive(Clone, Copy, Debug)]
pub enum Vector<'a> {
    /// Numbers of any length but zero's.
    F32(&'a [f32]),
    /// The same, made small already; only the direction counts.
    I8(&'a [i8]),
}

impl Vector<'_> {
    /// How many dimensions it has.
    pub fn dimensions(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::I8(values) => values.len(),
        }
    }
}

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// In words. There is no syntax.
    pub text: &'a str,
    /// The query's vector and the name of the embedder that made it. Documents are then compared by the vectors that they
    /// were given under that name; the built-in embedder is used without.
    pub vector: Option<(&'a str, Vector<'a>)>,
}

impl<'a> From<&'a str> for Query<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, vector: None }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Best first; of equals the one with the higher number (the newer) comes first.
    pub hits: Vec<Hit>,
    /// Whether they are worth anything.
    pub verdict: Verdict,
    /// How much of the query the best document says word for word: its BM25 score divided by the sum of the idf of all
    /// words of the query, those included that nobody wrote. Some .25 to 1.5 where there is an answer.
    pub coverage: f32,
    /// Words of the query that nobody wrote, and what they were taken for.
    pub corrections: Vec<(String, String)>,
}

/// Whether a search found anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No document says enough of the query's words.
    Nothing,
    /// Something was found, but little of it is what was asked for.
    LowConfidence,
    /// An answer is likely among the hits.
    Found,
}

/// A document that answers the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The number under which it was inserted.
    pub doc: u32,
    /// The sum of the parts. Comparable within one answer only.
    pub score: f32,
    /// Where the score comes from.
    pub parts: Parts,
}

/// What each signal contributed to a score, weights included: the parts add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Its own words, those that are merely alike included.
    pub lexical: f32,
    /// Its vector.
    pub dense: f32,
    /// What was saved right before and after; may be negative.
    pub neighbours: f32,
    /// The best of its sitting.
    pub sitting: f32,
    /// It is of the time that was named.
    pub date: f32,
    /// Its speaker was named.
    pub label: f32,
    /// It names a time, and one was asked for.
    pub when: f32,
    /// It is a question itself; not above 0.
    pub question: f32,
}

impl Parts {
    /// The score that they add up to.
    pub fn sum(&self) -> f32 {
        self.lexical
            + self.dense
            + self.neighbours
            + self.sitting
            + self.date
            + self.label
            + self.when
            + self.question
    }
}

/// Why a vector can't be used.
#[derive(Clone, Debug, PartialEq)]
pub enum VectorError {
    /// No document has that number.
    UnknownDocument(u32),
    /// A vector has no dimensions, or more than any embedder gives.
    Dimensions {
        /// How many it has.
        got: usize,
        /// The most that are taken.
        max: usize,
    },
    /// The vectors of one embedder have one number of dimensions.
    Mismatch {
        /// The embedder's name.
        embedder: String,
        /// How many this one has.
        got: usize,
        /// How many the others have.
        expected: usize,
    },
    /// Not a number, infinite, or zero everywhere: it has no direction.
    NoDirection,
}

impl fmt::Display for VectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownDocument(doc) => write!(f, "no document has the number {doc}"),
            Self::Dimensions { got, max } => {
                write!(f, "the vector has {got} dimensions, not 1 to {max}")
            }
            Self::Mismatch {
                embedder,
                got,
                expected,
            } => write!(
                f,
                "the vector has {got} dimensions, those of {embedder:?} have {expected}"
            ),
            Self::NoDirection => f.write_str(
                "the vector has no direction: it is zero, or a component is no finite number",
            ),
        }
    }
}

impl std::error::Error for VectorError {}
