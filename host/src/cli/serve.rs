//! The server: what AI apps start.

use std::io::{self, BufReader, Write};

use anyhow::{Context, Result};

use super::options::Options;
use super::privacy;
use super::{person_at_stdin, this_program};
use crate::sandbox::{Origin, Sandbox};
use crate::stderr::Stderr;
use crate::transport::stdio;

pub(super) fn run(options: &Options) -> Result<()> {
    restrict_new_files();
    let embedder = options.embedder()?;
    let sandbox = options.sandbox(embedder.as_ref())?;
    if let Some(path) = sandbox.store_path() {
        privacy::warn(path);
    }
    if person_at_stdin() {
        Stderr::say(explanation(&sandbox));
    }
    let made = match sandbox.origin() {
        Origin::Precompiled => "precompiled",
        Origin::Compiled => "compiled at this start",
    };
    tracing::info!("serving {} ({made})", sandbox.profile().description.name);
    let session = session_id()?;
    stdio::serve(
        BufReader::new(io::stdin()),
        transport_output(),
        sandbox,
        embedder,
        session,
        options.max_line_bytes,
    )
    .context("the client can't be served")
}

/// What a person sees who starts a server by hand.
fn explanation(sandbox: &Sandbox) -> String {
    let description = &sandbox.profile().description;
    let name = description.title.as_ref().unwrap_or(&description.name);
    let what = description
        .description
        .as_deref()
        .unwrap_or("an MCP server");
    let program = this_program();
    let mut text = format!("{name}: {what}.\n");
    if let Some(path) = sandbox.store_path() {
        text += &format!("It is kept in {}.\n", path.display());
    }
    text += &format!(
        "\
It speaks MCP on standard input and output, so an app has to start it. To give it to one of them:

    {program} connect claude-desktop    (or claude-code, cursor, vscode; `print` shows the entry for others)

`{program} demo` shows it at work, `{program} --help` all options.
It is waiting for JSON-RPC messages now, one a line; Ctrl-D ends it.
"
    );
    text
}

/// The process's standard output, which belongs to the transport from here on.
fn transport_output() -> impl Write + Send {
    io::stdout()
}

/// A memory is its owner's business: what is made from now on is readable by nobody else. A component can't set modes.
pub(super) fn restrict_new_files() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Bytes of randomness in a session id: enough to never repeat.
const SESSION_ID_BYTES: usize = 8;

/// An id for this connection that no other process ever uses.
pub(super) fn session_id() -> Result<String> {
    let mut bytes = [0; SESSION_ID_BYTES];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
