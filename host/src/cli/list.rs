//! `personal-memory list`.

use std::collections::VecDeque;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::options::Common;
use super::owner::Owner;
use super::terminal::Screen;
use crate::convert::Memory;

/// A screenful.
const DEFAULT_LIMIT: usize = 20;

#[derive(Debug, Args)]
pub(super) struct ListOptions {
    /// How many at most.
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = DEFAULT_LIMIT)]
    limit: usize,

    /// All of them.
    #[arg(long, conflicts_with = "limit")]
    all: bool,

    /// Only this kind: episodic, semantic or procedural.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Only memories with this tag. May be given several times; a memory must have all of them.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Only what is forgotten and can be restored.
    #[arg(long)]
    forgotten: bool,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

impl ListOptions {
    fn wants(&self, memory: &Memory) -> bool {
        memory.forgotten_at.is_some() == self.forgotten
            && (self.kind.is_none() || self.kind == memory.kind)
            && self.tags.iter().all(|tag| memory.tags.contains(tag))
    }
}

pub(super) fn run(options: &ListOptions) -> Result<()> {
    let limit = if options.all {
        usize::MAX
    } else {
        options.limit
    };
    let mut owner = Owner::open(&options.common)?;
    let (mut newest, mut total) = (VecDeque::new(), 0_usize);
    owner.each(options.forgotten, |memory| {
        if options.wants(&memory) {
            total += 1;
            newest.push_front(memory);
            newest.truncate(limit);
        }
        Ok(())
    })?;
    let mut screen = Screen::new();
    if options.json {
        screen.json(&json!({"memories": newest, "total": total}))?;
    } else {
        for memory in &newest {
            screen.memory(memory)?;
        }
        if newest.len() < total {
            screen.line(&format!("({} of {total}; --all shows all)", newest.len()))?;
        }
    }
    screen.finish()?;
    owner.tidy();
    Ok(())
}
