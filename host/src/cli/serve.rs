//! The server: what AI apps start.

use std::io::{self, BufReader, Write};
use std::sync::Arc;

use anyhow::{Context, Result};

use super::options::Options;
use super::privacy;
use super::{person_at_stdin, this_program};
use crate::embedder::Embedder;
use crate::sandbox::{Origin, Sandbox};
use crate::stderr::Stderr;
use crate::transport::{self, http, stdio};

pub(super) fn run(options: &Options) -> Result<()> {
    let (sandbox, embedder) = prepare(options)?;
    if person_at_stdin() {
        Stderr::say(explanation(&sandbox));
    }
    let session = transport::connection_id().context("the client can't be told from others")?;
    let service = Arc::new(options.service(&sandbox));
    stdio::serve(
        BufReader::new(io::stdin()),
        transport_output(),
        sandbox,
        service,
        embedder,
        session,
        options.bounds(),
    )
    .context("the client can't be served")
}

/// Serves over HTTP. The address is said on standard error whatever the level of the log is: port 0 is known to nobody
/// else.
pub(super) fn over_http(options: &Options, config: http::Config) -> Result<()> {
    let (sandbox, embedder) = prepare(options)?;
    let address = config.address;
    let service = Arc::new(options.service(&sandbox));
    http::serve(config, sandbox, service, embedder, |address| {
        Stderr::say(format!("listening on http://{address}/mcp\n"));
    })
    .with_context(|| format!("HTTP can't be served on {address}"))
}

fn prepare(options: &Options) -> Result<(Sandbox, Option<Embedder>)> {
    restrict_new_files();
    let embedder = options.embedder()?;
    let sandbox = options.sandbox(embedder.as_ref())?;
    if let Some(path) = sandbox.store_path() {
        privacy::warn(path);
    }
    let made = match sandbox.origin() {
        Origin::Precompiled => "precompiled",
        Origin::Compiled => "compiled at this start",
    };
    tracing::info!("serving {} ({made})", sandbox.profile().description.name);
    Ok((sandbox, embedder))
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
