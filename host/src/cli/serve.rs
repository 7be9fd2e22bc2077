//! The server: what AI apps start.

use std::io::{self, Write};

use anyhow::{Context, Result};

use super::options::Options;
use super::person_at_stdin;
use crate::transport::stdio;

/// What a person sees who starts a server by hand.
const EXPLANATION: &str = "\
personal-memory is a memory for AI apps. It speaks MCP on standard input and output, so an app has to start it:

    claude mcp add personal-memory -- /absolute/path/to/personal-memory

See it work now with `personal-memory demo`; all options are in `personal-memory --help`.
It is waiting for JSON-RPC messages, one a line. Ctrl-D ends it.
";

pub(super) fn run(options: &Options) -> Result<()> {
    restrict_new_files();
    if person_at_stdin() {
        io::stderr().write_all(EXPLANATION.as_bytes())?;
    }
    let sandbox = options.sandbox()?;
    tracing::info!(
        "serving {} ({:?})",
        sandbox.profile().description.name,
        sandbox.origin()
    );
    stdio::serve(
        io::stdin().lock(),
        transport_output(),
        sandbox,
        session_id()?,
        options.max_line_bytes,
    )
    .context("standard input can't be read")
}

/// The process's standard output, which belongs to the transport from here on.
fn transport_output() -> impl Write + Send {
    io::stdout()
}

/// A memory is its owner's business: what is made from now on is readable by nobody else. A component can't set modes.
fn restrict_new_files() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Bytes of randomness in a session id: enough to never repeat.
const SESSION_ID_BYTES: usize = 8;

/// An id for this connection that no other process ever uses.
fn session_id() -> Result<String> {
    let mut bytes = [0; SESSION_ID_BYTES];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
