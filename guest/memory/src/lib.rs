//! The personal memory: what an AI app remembers of the person who uses it, as a component.
//!
//! All that the server *means* is here: what may be asked, what is kept, what is found, and how that is said. What it
//! travels over is the host's. Built for `wasm32-wasip2` this crate is a component that imports WASI only and can reach
//! one directory; built natively it is a plain library, and its tests run without a sandbox.
//!
//! # Layout
//!
//! In the order in which a request passes:
//!
//! - `exports` (wasm only): the contract's interfaces; converts, reads clock and chance, owns the one backend
//! - `bindings` (wasm only): generated code and nothing else
//! - [`request`]: what a request brings from the edge, and how one can be wrong
//! - [`filter`]: which memories a search may find
//! - [`security`]: untrusted values in, checked types or a refusal out
//! - [`consent`]: whether the person agrees, where they want to be asked
//! - [`tools`], [`resources`], [`prompts`], [`completion`]: the doors, one a capability of the protocol
//! - [`render`]: memories as they are shown: a line each, within a budget
//! - [`visible`]: text made harmless where it is shown
//! - [`evaluate`]: how good the search is, on collections with known answers
//! - [`backend`]: save, search, get; the store and an index
//! - [`store`]: the journal, which is the truth, and what it adds up to
//! - [`config`]: every name and bound, once
//!
//! # Example
//!
//! ```
//! use memory::backend::MemoryBackend;
//! use memory::request::Moment;
//! use memory::store::disk::DirDisk;
//! use memory::tools::dispatch;
//! use serde_json::json;
//!
//! let directory = tempfile::tempdir()?;
//! let mut backend = MemoryBackend::new(Box::new(DirDisk::new(directory.path())), Box::new(|| [7; 16]));
//! let moment = Moment::new("2026-11-30T10:00:00Z".parse()?, "session-1");
//!
//! let saved = dispatch("memory_save", &json!({"text": "the demo is on June 20"}), &mut backend, &moment)?;
//! assert_eq!(saved.text, "Saved m0.");
//!
//! let found = dispatch("memory_search", &json!({"query": "demo"}), &mut backend, &moment)?;
//! assert_eq!(found.text, "[m0] (episodic) the demo is on June 20");
//!
//! let refused = dispatch("memory_search", &json!({"query": "demo", "k": 0}), &mut backend, &moment)?;
//! assert_eq!(refused.text, "k must be an integer from 1 to 50, got 0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(target_family = "wasm")]
mod exports;

#[cfg(target_family = "wasm")]
mod bindings;

pub mod request;

pub mod filter;

pub mod security;

pub mod consent;

pub mod tools;

pub mod resources;

pub mod prompts;

pub mod completion;

pub mod render;

pub mod visible;

pub mod evaluate;

pub mod backend;

pub mod store;

pub mod config;

#[cfg(test)]
mod fuzz_tests;
