//! `personal-memory inspect`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::terminal::{BOLD, GREEN, RED, Screen, YELLOW, one_line};
use crate::sandbox::{self, Code, Inspection};

#[derive(Debug, Args)]
pub(super) struct InspectOptions {
    /// A WebAssembly component.
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &InspectOptions) -> Result<()> {
    let inspection = sandbox::inspect(&Code::File(options.file.clone()))?;
    let mut screen = Screen::new();
    match options.json {
        true => screen.json(&document(&inspection))?,
        false => print(&inspection, &mut screen)?,
    }
    screen.finish()?;
    match &inspection.obstacle {
        None => Ok(()),
        Some(_) => bail!("{} would not start", options.file.display()),
    }
}

fn document(inspection: &Inspection) -> Value {
    let imports = inspection.imports.iter();
    let imports = imports.map(|import| json!({"name": import.name, "gets": import.gets}));
    let exports = inspection.exports.iter();
    let exports = exports.map(|export| json!({"name": export.name, "used": export.is_used}));
    json!({
        "imports": imports.collect::<Vec<_>>(),
        "exports": exports.collect::<Vec<_>>(),
        "starts": inspection.obstacle.is_none(),
        "obstacle": inspection.obstacle,
    })
}

fn print(inspection: &Inspection, screen: &mut Screen) -> Result<()> {
    screen.line(&screen.styled(BOLD, "It imports, and gets"))?;
    if inspection.imports.is_empty() {
        screen.line("  nothing")?;
    }
    for import in &inspection.imports {
        let gets = match import.gets {
            Some(gets) => gets.to_owned(),
            None => screen.styled(RED, "NOT OFFERED"),
        };
        screen.line(&format!("  {:<44} {gets}", one_line(&import.name)))?;
    }
    screen.line(&screen.styled(BOLD, "It exports"))?;
    for export in &inspection.exports {
        let used = match export.is_used {
            true => screen.styled(GREEN, "used"),
            false => screen.styled(YELLOW, "not in the contract, not used"),
        };
        screen.line(&format!("  {:<44} {used}", one_line(&export.name)))?;
    }
    screen.line(&screen.styled(BOLD, "It would"))?;
    match &inspection.obstacle {
        None => screen.line(
            "  start. Network, environment and other files of this machine are out of its reach.",
        ),
        Some(reason) => screen.line(&format!(
            "  {}: {}",
            screen.styled(RED, "not start"),
            one_line(reason)
        )),
    }
}
