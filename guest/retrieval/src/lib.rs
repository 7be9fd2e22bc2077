//! The retrieval lab: document search that can be measured, as a component.
//!
//! It searches corpora (collections of documents with typed fields) by words, vectors or both, under hard filters, and
//! scores its own search on queries whose answers are known. Corpora and repositories are directories that were granted;
//! one synthetic corpus is made here. It keeps nothing but what it can make again, and that only
//! in a directory that was granted for it.
//!
//! Built for `wasm32-wasip2` this crate is a component that imports WASI and the contract's `notifications`; built
//! natively it is a plain library, and its tests run without a sandbox.
//!
//! # Layout
//!
//! In the order in which a request passes:
//!
//! - `exports` (wasm only): the contract's interfaces; converts, reads the clock, owns the one library
//! - `bindings` (wasm only): generated code and nothing else
//! - [`request`]: what the host and a call bring from the edge, and how a request can be wrong
//! - [`security`]: untrusted values in, checked types or a refusal out
//! - [`tools`], [`resources`], [`prompts`], [`completion`]: the doors, one a capability of the protocol
//! - [`render`]: documents as they are shown
//! - [`evaluation`]: measuring a retriever
//! - [`library`]: the corpora that there are, loaded when needed
//! - [`cache`]: indexes that were kept for later processes
//! - [`retriever`]: ranking in three modes
//! - [`filter`]: which documents a search may find
//! - [`fields`]: types of fields, found by looking at values
//! - [`corpus`]: documents and queries, read from a directory or made by a generator
//! - [`grep`]: lines of files
//! - [`config`]: every name and bound, once
//!
//! # Example
//!
//! ```
//! use retrieval::library::Library;
//! use retrieval::request::{Call, Environment};
//! use retrieval::tools::dispatch;
//! use serde_json::json;
//! use std::time::Duration;
//!
//! let mut library = Library::new(Environment::default());
//! let clock = || Duration::ZERO;
//! let call = Call::new(&clock, Duration::from_secs(10), &|_, _, _| {});
//!
//! let cheap = json!([{"field": "price", "op": "lte", "value": 300_000}]);
//! let arguments = json!({"query": "keeping a pony at home", "filters": cheap, "k": 3});
//! let found = dispatch("search_documents", &arguments, &mut library, &call)?;
//! assert!(found.text.contains("pass the filters price lte 300000"));
//! assert!(found.text.contains("synthetic"));
//!
//! let filters = json!([{"field": "cost", "op": "lte", "value": 1}]);
//! let arguments = json!({"query": "pony", "filters": filters});
//! let refused = dispatch("search_documents", &arguments, &mut library, &call)?;
//! assert!(refused.is_error && refused.text.contains("there is no field \"cost\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(target_family = "wasm")]
mod exports;

#[cfg(target_family = "wasm")]
mod bindings;

pub mod request;

pub mod security;

pub mod tools;

pub mod resources;

pub mod prompts;

pub mod completion;

pub mod render;

pub mod evaluation;

pub mod library;

pub mod cache;

pub mod retriever;

pub mod filter;

pub mod fields;

pub mod corpus;

pub mod grep;

pub mod config;
