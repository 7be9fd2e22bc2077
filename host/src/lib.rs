//! The host of personal-memory: runs a WebAssembly component that says what a memory *is*, and carries it to MCP clients.
//!
//! # Layout
//!
//! In the order in which a request passes them; no room calls backwards.
//!
//! - [`cli`]: the command line.
//! - [`transport`]: bytes in, bytes out: lines of standard input and output, or HTTP.
//! - [`worker`]: the thread that owns the component, and what waits for it.
//! - [`jsonrpc`]: the envelope; knows no method names.
//! - [`protocol`]: eras, lifecycle and methods of the Model Context Protocol; where failures become error responses.
//! - [`version`]: the protocol's revisions and what each of them knows.
//! - [`convert`]: JSON to and from the types of the contract in `wit/`.
//! - [`store_lock`]: keeps processes that share a store out of each other's way.
//! - [`seal_key`]: the key under which state is sealed that travels through a client.
//! - [`sandbox`]: runs the component under its limits; the only room that names wasmtime.
//!
//! Beside them: [`embedder`], the person's embedding provider; [`stderr`], where everything is said that is no message;
//! and [`signals`].
//!
//! The host knows nothing of memories. It serves whatever component exports the contract's interfaces.

pub mod cli;
pub mod transport;

pub mod worker;

pub mod jsonrpc;

pub mod protocol;

pub mod version;

pub mod convert;

pub mod store_lock;

pub mod seal_key;

pub mod sandbox;

pub mod embedder;

pub mod stderr;

pub mod signals;

mod engine_config;
