//! `personal-memory tags`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::options::Common;
use super::owner::Owner;
use super::terminal::{Screen, one_line};

#[derive(Debug, Args)]
pub(super) struct TagsOptions {
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(options: &TagsOptions) -> Result<()> {
    let mut owner = Owner::open(&options.common)?;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    owner.each(false, |memory| {
        for tag in memory.tags {
            *counts.entry(tag).or_default() += 1;
        }
        Ok(())
    })?;
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    // The most used first, in alphabetical order where they are used alike.
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let mut screen = Screen::new();
    if options.json {
        let tag = |(tag, count): &(String, u64)| json!({"tag": tag, "memories": count});
        let tags: Vec<Value> = counts.iter().map(tag).collect();
        screen.json(&json!({"tags": tags}))?;
    } else {
        for (tag, count) in &counts {
            screen.line(&format!("{count:>6}  {}", one_line(tag)))?;
        }
    }
    screen.finish()?;
    owner.tidy();
    Ok(())
}
