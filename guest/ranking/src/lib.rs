//! Information retrieval without I/O: what a text's terms are, and which texts answer a query best.
//!
//! Both components share it. Nothing here reads a file, a clock or a random number, so the same texts inserted in the
//! same order give the same answer to the same query, natively and in the sandbox.
//!
//! # Layout
//!
//! What a search is:
//!
//! - [`Pool`]: the documents, kept as a snapshot and what came after; insert, remove, search, encode, decode
//! - [`Recipe`]: which signals count, and how much
//! - [`recipe`]: each weight, with its source
//! - [`answer`]: documents and queries in, hits with their parts out
//!
//! What it is made of:
//!
//! - [`tokens`]: text to terms, one function for documents and queries
//! - [`wordpiece`], [`table`]: text to a vector, with a table that lies in the binary
//! - [`scan`]: one vector against many
//! - [`dates`], [`cues`]: days, speakers, questions
//! - [`bm25`]: what it is worth that a document has a word
//! - [`metrics`]: how good an answer is
//!
//! # Example
//!
//! ```
//! use ranking::{Document, Pool, Recipe};
//!
//! let mut pool = Pool::default();
//! pool.insert(0, &"Ann: I moved to Berlin".into());
//! pool.insert(1, &Document {
//!     text: "the demo is on June 20",
//!     extra: "work",
//!     session: Some("monday"),
//!     created: Some(1_780_000_000),
//! });
//!
//! let found = pool.search(&"when is the demo?".into(), &Recipe::FULL, 5, |_| true);
//! assert_eq!(found.hits[0].doc, 1);
//! assert!(found.hits[0].parts.lexical > 0.0);
//! ```

pub mod answer;
mod pool;
pub mod recipe;

pub mod tokens;

pub mod wordpiece;

pub mod table;

pub mod scan;

pub mod cues;
pub mod dates;

pub mod bm25;

pub mod metrics;

pub use answer::{Document, Found, Hit, Parts, Query, Vector, VectorError, Verdict};
pub use pool::{Pool, SnapshotError};
pub use recipe::{Recipe, Smoothing};
