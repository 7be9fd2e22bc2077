//! The command line: parse, run, exit code.

mod demo;
mod list_tools;
mod options;
mod serve;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use self::options::Options;
use crate::stderr::Stderr;

/// Private, durable memory for AI apps, over the Model Context Protocol (MCP).
///
/// Without a command it serves MCP on standard input and output, which is how AI apps start it.
#[derive(Debug, Parser)]
#[command(name = "personal-memory", version, after_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    options: Options,

    /// Print the tools that the component offers, and exit.
    #[arg(long)]
    list_tools: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show that it works: start a server, save, search, restart, and find it again. Touches nothing of yours.
    Demo,
}

const EXAMPLES: &str = "\
Examples:
  personal-memory demo
      See it work, step by step, in a temporary directory.
  claude mcp add --scope user personal-memory -- /absolute/path/to/personal-memory
      Give it to Claude Code.
  personal-memory --data-dir /home/me/memory --log info
      Serve the memory in a directory of your choice, and say on standard error what happens.
  personal-memory --component other.wasm --dir docs=/home/me/docs:ro
      Serve another component, which may read one directory and nothing else.";

/// How long the end of the process waits for whoever reads standard error.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    options::start_logging(cli.options.log);
    let result = match cli.command {
        Some(Command::Demo) => demo::run(),
        None if cli.list_tools => list_tools::run(&cli.options),
        None => serve::run(&cli.options),
    };
    Stderr::flush_within(LAST_WORDS);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever was reading has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done when standard error is gone.
            let _ = writeln!(io::stderr(), "personal-memory: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}

/// Whether a person sits at the keyboard, rather than a program.
fn person_at_stdin() -> bool {
    io::stdin().is_terminal()
}

/// The path of this program, as an app needs it to start it.
fn this_program() -> String {
    std::env::current_exe().map_or_else(
        |_| "/absolute/path/to/personal-memory".to_owned(),
        |path| path.display().to_string(),
    )
}
