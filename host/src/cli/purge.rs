//! `personal-memory purge`.

use std::io::{self, IsTerminal};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;

use super::options::Common;
use super::owner::Owner;
use super::terminal::{Screen, confirmed, one_line};
use crate::convert::Memory;

#[derive(Debug, Args)]
pub(super) struct PurgeOptions {
    /// Such as m3: living or forgotten.
    #[arg(value_name = "ID", required_unless_present = "forgotten")]
    ids: Vec<String>,

    /// All that is forgotten.
    #[arg(long, conflicts_with = "ids")]
    forgotten: bool,

    /// Don't ask.
    #[arg(short, long)]
    yes: bool,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

/// Memories that are shown before it is asked whether they shall go.
const SHOWN: usize = 10;

pub(super) fn run(options: &PurgeOptions) -> Result<()> {
    let mut owner = Owner::open(&options.common)?;
    let doomed = doomed(options, &mut owner)?;
    let mut screen = Screen::new();
    if !options.yes && !doomed.is_empty() && !may_go(&doomed)? {
        bail!("nothing was purged");
    }
    let ids: Vec<String> = doomed
        .iter()
        .filter_map(|memory| memory.id.clone())
        .collect();
    let purged = match ids.is_empty() {
        true => 0,
        false => owner.administer(|sandbox| sandbox.purge(&ids))?,
    };
    match options.json {
        true => screen.json(&json!({"purged": purged, "ids": ids}))?,
        false => screen.line(&format!(
            "Purged {purged}; no file of the memory has them any more."
        ))?,
    }
    screen.finish()?;
    owner.tidy();
    Ok(())
}

fn doomed(options: &PurgeOptions, owner: &mut Owner) -> Result<Vec<Memory>> {
    let mut doomed = Vec::new();
    if options.forgotten {
        owner.each(true, |memory| {
            doomed.extend(Some(memory).filter(|memory| memory.forgotten_at.is_some()));
            Ok(())
        })?;
    }
    for id in &options.ids {
        doomed.push(owner.administer(|sandbox| sandbox.entry(id))?.into());
    }
    Ok(doomed)
}

/// Asks the person, if there is one.
fn may_go(doomed: &[Memory]) -> Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("purging can't be undone and nobody can be asked here; say --yes");
    }
    let mut question = String::new();
    for memory in doomed.iter().take(SHOWN) {
        let id = memory.id.as_deref().unwrap_or_default();
        question += &format!("{}  {}\n", one_line(id), one_line(&memory.text));
    }
    if doomed.len() > SHOWN {
        question += &format!("and {} more\n", doomed.len() - SHOWN);
    }
    confirmed(&format!("{question}Erase {} for good?", doomed.len()))
}
