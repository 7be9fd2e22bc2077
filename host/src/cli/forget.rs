//! `personal-memory forget` and `personal-memory restore`, each the other's undoing.

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::options::Common;
use super::owner::Owner;
use super::terminal::{Screen, one_line};
use crate::convert::Memory;
use crate::sandbox::{AdminError, Entry, Sandbox};

#[derive(Debug, Args)]
pub(super) struct IdsOptions {
    /// Such as m3.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

/// Hides memories. What was done before one failed stays done, and was said.
pub(super) fn run(options: &IdsOptions) -> Result<()> {
    one_by_one(options, "Forgot", "restore brings it back", Sandbox::forget)
}

/// Brings forgotten memories back.
pub(super) fn restore(options: &IdsOptions) -> Result<()> {
    one_by_one(options, "Restored", "as it was", Sandbox::restore)
}

fn one_by_one(
    options: &IdsOptions,
    done: &str,
    note: &str,
    act: impl Fn(&mut Sandbox, &str) -> Result<Entry, AdminError>,
) -> Result<()> {
    let mut owner = Owner::open(&options.common)?;
    let mut screen = Screen::new();
    let mut changed: Vec<Memory> = Vec::new();
    let mut outcome = Ok(());
    for id in &options.ids {
        match owner.administer(|sandbox| act(sandbox, id)) {
            Ok(entry) => changed.push(entry.into()),
            Err(error) => {
                outcome = Err(error);
                break;
            }
        }
    }
    if options.json {
        screen.json(&json!({"memories": changed}))?;
    } else {
        for memory in &changed {
            let id = memory.id.as_deref().unwrap_or_default();
            screen.line(&format!(
                "{done} {} ({note}): {}",
                one_line(id),
                one_line(&memory.text)
            ))?;
        }
    }
    screen.finish()?;
    owner.tidy();
    outcome
}
