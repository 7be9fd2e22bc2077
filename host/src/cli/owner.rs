//! The memory in its owner's hands: the component as servers run it, in the same sandbox, over the same directory. Servers
//! may run meanwhile; each call takes the store's lock like any of theirs.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::Value;

use super::client::{Client, ToolReply};
use super::options::Common;
use super::serve::restrict_new_files;
use crate::convert::Memory;
use crate::embedder::Embedder;
use crate::sandbox::{AdminError, Maintained, Sandbox};

/// Memories on a page: the most that the component gives.
const PAGE: u32 = 1000;

/// How long is tidied up at the end. What is left is done at the end of the next command, or by a server.
const MAX_TIDYING: Duration = Duration::from_secs(10);

/// Nothing fits, or there is no such memory. The exit code tells it from a failure.
#[derive(Debug)]
pub(super) struct NothingFound(pub(super) String);

impl fmt::Display for NothingFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NothingFound {}

/// The memory, and how its tools are called.
pub(super) struct Owner {
    sandbox: Sandbox,
    embedder: Option<Embedder>,
    client: Client,
}

impl Owner {
    /// Opens the memory. Its directory is made if it is not there yet.
    pub(super) fn open(common: &Common) -> Result<Owner> {
        restrict_new_files();
        let embedder = common.embedder()?;
        let sandbox = common.memory(embedder.as_ref())?;
        let client = Client::new(&sandbox)?;
        Ok(Owner {
            sandbox,
            embedder,
            client,
        })
    }

    /// Calls a tool of the memory.
    pub(super) fn call_tool(&mut self, name: &str, arguments: &Value) -> Result<ToolReply> {
        let embedder = self.embedder.as_ref();
        self.client
            .call_tool(name, arguments, &mut self.sandbox, embedder)
    }

    /// Does what only the owner may.
    pub(super) fn administer<T>(
        &mut self,
        act: impl FnOnce(&mut Sandbox) -> Result<T, AdminError>,
    ) -> Result<T> {
        act(&mut self.sandbox).map_err(|error| match error {
            AdminError::NotFound(reason) => anyhow!(NothingFound(reason)),
            error => anyhow!("{error}"),
        })
    }

    /// Shows each memory, in order of their ids; with the forgotten ones on request. Others may save meanwhile.
    pub(super) fn each(
        &mut self,
        forgotten: bool,
        mut show: impl FnMut(Memory) -> Result<()>,
    ) -> Result<()> {
        let mut cursor: Option<String> = None;
        loop {
            let page =
                self.administer(|sandbox| sandbox.export_page(cursor.as_deref(), PAGE, forgotten))?;
            for entry in page.entries {
                show(Memory::from(entry))?;
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Tidies up as a server does that nobody uses, so that the next start is fast. That it can't be done is for the log.
    pub(super) fn tidy(&mut self) {
        let began = Instant::now();
        while began.elapsed() < MAX_TIDYING {
            match self.sandbox.maintain(None) {
                Maintained::More => {}
                // Vectors of a provider are got by servers, which have the time.
                Maintained::Done | Maintained::Wanting(_) | Maintained::Failed => return,
            }
        }
    }
}
