//! `personal-memory save`.

use std::io::{self, Read};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;

use super::options::Common;
use super::owner::Owner;
use super::terminal::{Screen, shown};

#[derive(Debug, Args)]
pub(super) struct SaveOptions {
    /// What to remember: one self-contained statement. `-` reads it from standard input.
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,

    /// episodic (it happened), semantic (it is so) or procedural (how it is done).
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// How much it matters, from 1 to 10.
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,

    /// A tag. May be given several times.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

/// What stands for standard input.
pub(super) const STDIN: &str = "-";

pub(super) fn run(options: &SaveOptions) -> Result<()> {
    let mut arguments = json!({"text": text(&options.text)?, "tags": options.tags});
    if let Some(kind) = &options.kind {
        arguments["kind"] = kind.as_str().into();
    }
    if let Some(importance) = options.importance {
        arguments["importance"] = importance.into();
    }
    let mut owner = Owner::open(&options.common)?;
    let reply = owner.call_tool("memory_save", &arguments)?;
    let mut screen = Screen::new();
    match options.json {
        true => screen.json(&reply.structured)?,
        false => screen.line(&shown(&reply.text))?,
    }
    screen.finish()?;
    owner.tidy();
    Ok(())
}

fn text(words: &[String]) -> Result<String> {
    if words != [STDIN] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .context("standard input can't be read as text")?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
