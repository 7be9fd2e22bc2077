//! A corpus: documents with typed fields, and queries whose answers are known.
//!
//! # Layout
//!
//! - `files`: bounded reading of a granted directory
//! - `records`: one line of JSON to a document that has no typed fields yet
//! - `directory`: which files make a corpus: the BEIR layout, or files of records
//! - [`listings`]: the synthetic corpus that is made here

mod directory;
mod files;
pub mod listings;
mod records;

pub use directory::read_corpus;

use std::collections::HashMap;
use std::fmt;

use ranking::metrics::Relevant;

use crate::config::{MAX_DOCUMENTS, MAX_FIELDS};
use crate::fields::{Field, FieldValue, Inference, typed};
use crate::filter::{Condition, Filter};
use records::Draft;

/// Whether somebody wrote the documents, or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Its owner says that it is real.
    Real,
    /// It was generated.
    Synthetic,
    /// Its owner doesn't say.
    Unstated,
}

impl Origin {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Real, Self::Synthetic, Self::Unstated];

    /// As it is written everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Synthetic => "synthetic",
            Self::Unstated => "unstated",
        }
    }
}

/// Where a corpus comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Real, synthetic, or nobody says.
    pub origin: Origin,
    /// Who made it, and from what; none if nobody says.
    pub source: Option<String>,
    /// Under which terms it may be used; none if nobody says.
    pub licence: Option<String>,
    /// What its files are.
    pub format: &'static str,
}

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Unique in its corpus; not empty.
    pub id: String,
    /// May be empty.
    pub title: String,
    /// May be empty.
    pub text: String,
    /// One for each field of the corpus, in their order.
    pub values: Vec<Option<FieldValue>>,
}

/// A query whose answers are known.
#[derive(Clone, Debug)]
pub struct Query {
    /// Unique in its corpus.
    pub id: String,
    /// Its words.
    pub text: String,
    /// Constraints that its words don't say.
    pub conditions: Vec<Condition>,
    /// The documents that answer it; at least one. Those that are judged but not in the corpus count too: nobody finds
    /// them, which is what a benchmark expects.
    pub relevant: Relevant,
}

/// Documents, their fields, and queries.
#[derive(Debug)]
pub struct Corpus {
    /// Where it comes from.
    pub about: About,
    /// Those that can be filtered.
    pub fields: Vec<Field>,
    /// Their positions are their numbers.
    pub documents: Vec<Document>,
    /// Only those with judgements.
    pub queries: Vec<Query>,
    /// Bytes of text in it, about what it takes in memory.
    pub bytes: u64,
    numbers: HashMap<String, u32>,
}

impl Corpus {
    /// Finds out the fields of records and makes documents of them. Queries are added when the ids are known.
    fn of(about: About, drafts: Vec<Draft>) -> Result<Self, CorpusError> {
        if drafts.is_empty() {
            return Err(CorpusError::Empty);
        }
        if drafts.len() > MAX_DOCUMENTS {
            return Err(CorpusError::TooLarge {
                what: "documents",
                got: drafts.len() as u64,
                max: MAX_DOCUMENTS as u64,
            });
        }
        let mut inference = Inference::default();
        for (name, value) in drafts.iter().flat_map(|draft| &draft.extras) {
            inference.observe(name, value);
        }
        let fields = inference.fields(MAX_FIELDS);
        let mut numbers = HashMap::with_capacity(drafts.len());
        let mut documents = Vec::with_capacity(drafts.len());
        let mut bytes = 0;
        for (number, draft) in drafts.into_iter().enumerate() {
            if numbers.insert(draft.id.clone(), number as u32).is_some() {
                return Err(CorpusError::Duplicate {
                    place: draft.place(),
                    id: draft.id,
                });
            }
            let value = |field: &Field| {
                let value = draft.extras.get(&field.name)?;
                typed(&field.name, field.kind, value)
            };
            bytes += (draft.title.len() + draft.text.len()) as u64;
            documents.push(Document {
                values: fields.iter().map(value).collect(),
                id: draft.id,
                title: draft.title,
                text: draft.text,
            });
        }
        Ok(Self {
            about,
            fields,
            documents,
            queries: Vec::new(),
            bytes,
            numbers,
        })
    }

    /// The number of the document with this id.
    pub fn number(&self, id: &str) -> Option<u32> {
        self.numbers.get(id).copied()
    }

    /// The document with this number.
    pub fn document(&self, number: u32) -> Option<&Document> {
        self.documents.get(number as usize)
    }

    /// Different values of the text or list field at this position, and how many documents have each: the most frequent
    /// first.
    pub fn frequent_values(&self, position: usize) -> Vec<(&str, usize)> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        let values = self
            .documents
            .iter()
            .filter_map(|document| document.values.get(position));
        for value in values.flatten() {
            match value {
                FieldValue::Text(text) => *counts.entry(text).or_default() += 1,
                FieldValue::List(items) => {
                    for item in items {
                        *counts.entry(item).or_default() += 1;
                    }
                }
                FieldValue::Number(_) | FieldValue::Date(_) => {}
            }
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_unstable_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
        counts
    }

    /// The documents that pass a filter.
    pub fn select(&self, filter: &Filter) -> Selection {
        if filter.is_empty() {
            return Selection {
                passes: None,
                count: self.documents.len(),
            };
        }
        let documents = self.documents.iter();
        let passes: Vec<bool> = documents
            .map(|document| filter.admits(&document.values))
            .collect();
        Selection {
            count: passes.iter().filter(|&&passes| passes).count(),
            passes: Some(passes),
        }
    }

    /// How many queries have filters.
    pub fn filtered_queries(&self) -> usize {
        let filtered = |query: &&Query| !query.conditions.is_empty();
        self.queries.iter().filter(filtered).count()
    }
}

/// Which documents of a corpus may be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// By number; none when all do.
    passes: Option<Vec<bool>>,
    count: usize,
}

impl Selection {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether the document with this number is one of them.
    pub fn has(&self, number: u32) -> bool {
        match &self.passes {
            None => true,
            Some(passes) => passes.get(number as usize).is_some_and(|&passes| passes),
        }
    }
}

/// Why there is no corpus. The message names the corpus's files as they are called in its directory, never where that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CorpusError {
    /// No corpus has this name.
    Unknown {
        /// The name, as it may be shown.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The directory or a file can't be read.
    Unreadable {
        /// Its name.
        file: String,
        /// What the system says.
        reason: String,
    },
    /// Nothing in the directory looks like a corpus.
    NoCorpus,
    /// A line is not what it has to be.
    Malformed {
        /// File and line.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// Two documents have one id.
    Duplicate {
        /// File and line of the second.
        place: String,
        /// The id.
        id: String,
    },
    /// More than this component takes.
    TooLarge {
        /// Of what.
        what: &'static str,
        /// How many there are.
        got: u64,
        /// How many may be.
        max: u64,
    },
    /// There are no documents in it.
    Empty,
    /// It is being loaded; the next call goes on.
    Loading {
        /// Documents that are indexed.
        done: usize,
        /// Documents in all.
        total: usize,
    },
}

impl fmt::Display for CorpusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => {
                write!(f, "there is no corpus {name}; there are {known}")
            }
            Self::Unreadable { file, reason } => write!(f, "{file} can't be read: {reason}"),
            Self::NoCorpus => f.write_str(
                "its directory has neither corpus.jsonl (with queries.jsonl and qrels/test.tsv, as BEIR has them) nor \
                 any other .jsonl or .ndjson file of records",
            ),
            Self::Malformed { place, reason } => write!(f, "{place}: {reason}"),
            Self::Duplicate { place, id } => {
                write!(f, "{place}: another document has the id {id:?} already")
            }
            Self::TooLarge { what, got, max } => {
                write!(f, "it has {got} {what}, at most {max} are taken")
            }
            Self::Empty => f.write_str("it has no documents"),
            Self::Loading { done, total } => write!(
                f,
                "it is large and still being loaded: {done} of {total} documents are indexed; call again to go on"
            ),
        }
    }
}

impl std::error::Error for CorpusError {}
