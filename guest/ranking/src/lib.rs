//! Information retrieval without I/O: what a text's terms are, and which texts answer a query best.
//!
//! Both components share it. Nothing here reads a file, a clock or a random number, so the same texts inserted in the
//! same order give the same answer to the same query, natively and in the sandbox.
//!
//! # Layout
//!
//! - [`tokens`]: text to terms, one function for documents and queries
//! - [`bm25`]: an inverted index over those terms that grows and shrinks
//!
//! # Example
//!
//! ```
//! use ranking::bm25::{Bm25Params, Index};
//!
//! let mut index = Index::new(Bm25Params::default());
//! index.insert(0, "the demo is on June 20");
//! index.insert(1, "I prefer dark mode");
//!
//! let hits = index.search("demos", 5, |_| true);
//! assert_eq!(hits.iter().map(|hit| hit.doc).collect::<Vec<_>>(), [0]);
//! assert!(index.search("kangaroo", 5, |_| true).is_empty());
//! ```

pub mod tokens;

pub mod bm25;
