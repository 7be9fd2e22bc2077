//! `personal-memory completions`.

use std::io::Write as _;

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::terminal::Screen;

#[derive(Debug, Args)]
pub(super) struct CompletionsOptions {
    /// The shell to write them for.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(options: &CompletionsOptions) -> Result<()> {
    let mut script = Vec::new();
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(options.shell, &mut command, name, &mut script);
    let mut screen = Screen::new();
    screen.raw().write_all(&script)?;
    screen.finish()
}
