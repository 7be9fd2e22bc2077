//! `personal-memory search`.

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::options::Common;
use super::owner::{NothingFound, Owner};
use super::terminal::{DIM, Screen, shown};
use crate::convert::Memory;

#[derive(Debug, Args)]
pub(super) struct SearchOptions {
    /// Words to look for, or a question.
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,

    /// How many at most.
    #[arg(short, long = "limit", value_name = "NUMBER")]
    k: Option<u32>,

    /// Only this kind: episodic, semantic or procedural.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Only memories with this tag. May be given several times; a memory must have all of them.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Only what was saved then or later: 2026-11-30, or RFC 3339.
    #[arg(long, value_name = "DATE")]
    since: Option<String>,

    /// Only what was saved then or earlier; a date includes its day.
    #[arg(long, value_name = "DATE")]
    until: Option<String>,

    /// Only what is at least this important, from 1 to 10.
    #[arg(long, value_name = "NUMBER")]
    min_importance: Option<f64>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

impl SearchOptions {
    fn arguments(&self) -> Value {
        let mut arguments = json!({"query": self.query.join(" "), "tags": self.tags});
        let texts = [
            ("kind", &self.kind),
            ("since", &self.since),
            ("until", &self.until),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                arguments[name] = value.as_str().into();
            }
        }
        if let Some(k) = self.k {
            arguments["k"] = k.into();
        }
        if let Some(importance) = self.min_importance {
            arguments["min_importance"] = importance.into();
        }
        arguments
    }
}

pub(super) fn run(options: &SearchOptions) -> Result<()> {
    let mut owner = Owner::open(&options.common)?;
    let reply = owner.call_tool("memory_search", &options.arguments())?;
    let Some(found) = reply.structured["memories"].as_array() else {
        bail!(
            "the search returned no list of memories: {}",
            reply.structured
        );
    };
    let mut screen = Screen::new();
    if options.json {
        screen.json(&reply.structured)?;
    } else {
        // What is to be known of the answer stands in brackets before it.
        for note in reply.text.lines().take_while(|line| line.starts_with('(')) {
            screen.line(&screen.styled(DIM, &shown(note)))?;
        }
        for memory in found {
            screen.memory(&serde_json::from_value::<Memory>(memory.clone())?)?;
        }
        if found.iter().any(|memory| memory["truncated"] == true) {
            let note = "(… marks shortened memories; `show ID` has the whole text)";
            screen.line(&screen.styled(DIM, note))?;
        }
    }
    let is_empty = found.is_empty();
    screen.finish()?;
    owner.tidy();
    match is_empty {
        true => bail!(NothingFound("no matching memories".to_owned())),
        false => Ok(()),
    }
}
