//! Black-box tests: the program as its clients meet it, and the component as its host meets it. `RULES.md` says which
//! test holds which rule of the protocol.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is the report; clippy.toml excuses only functions marked #[test]"
)]

/// A server as a child process, the components that tests bring along, and a host that sees every write.
mod harness;

/// The wire, byte by byte: `transcripts/*.txt` are played against the program.
mod transcripts;

/// Rules of the protocol that a transcript can't express: properties of all replies, order, the end of input.
mod protocol;

/// What the memory returns: pages, suggestions, schemas, budgets.
mod contents;

/// Cancellation, progress, logging: more than one message at a time.
mod flow;

/// Asking the client, and through it the person, in both eras.
mod asking;

/// Streamable HTTP.
#[cfg(unix)]
mod http;

/// How processes end, and what becomes of others when one hangs or nobody reads what it says.
#[cfg(unix)]
mod ends;

/// Who is told of changes, whoever made them.
mod subscriptions;

/// When the host opens a component's store, has it tidied up, and looks for changes.
mod unhurried;

/// A component that does everything wrong, and a host that goes on.
mod sandbox;

/// Clients that flood, stall and repeat themselves.
mod clients;

/// Hostile messages by the thousand.
mod fuzz;

/// A component that means harm, through every export that there is.
mod hostile;

/// The memory under wasmtime through the contract, without a process or a wire.
mod component;

/// The same numbers natively and in the sandbox.
mod computing;

/// The memory asks the person, through the contract.
mod consent;

/// What the memory asks of the file system, call by call: written, made durable, acknowledged.
mod durability;

/// A disk that stops, forgets, tears and fails, beneath the memory as it ships.
mod lying_disk;

/// Killed processes and damaged files.
mod recovery;

/// Eight servers on one memory, killed at random.
mod kills;

/// Data directories that go, come back and are exchanged.
#[cfg(unix)]
mod replaced;

/// What happens to people: full disks, directories that can't be written, newer stores, clocks.
#[cfg(unix)]
mod trouble;

/// Several processes on one memory.
mod sharing;

/// A journal that is rewritten while others use it.
mod compaction;

/// Stores that take longer to open than a call may.
mod opening;

/// An embedding provider of the person's own.
mod embedder;

/// The retrieval lab, on the same host.
mod retrieval;

/// The component that the official conformance suite is run against (`interop/conformance.sh`).
mod conformance;

/// The official Rust SDK's client.
mod rmcp;

/// The command line.
mod cli;

/// The memory's owner at the command line.
mod commands;

/// Exports and imports.
mod transfer;

/// Apps and their settings.
mod connect;

/// What the doctor sees.
mod doctor;

/// Components, seen from outside.
mod inspect;

/// `personal-memory demo`.
mod demo;

/// `RULES.md` names tests that exist.
mod rules;

/// House rules that no compiler checks.
mod house;

/// The build compiles wasmtime once.
mod build_once;
