//! The command line: parse, run, exit code.

mod demo;
mod evaluate;
mod http;
mod list_tools;
mod options;
mod serve;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};

use self::evaluate::EvaluateOptions;
use self::http::HttpOptions;
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
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the memory: on standard input and output as without a command, or over HTTP to many apps at once.
    #[command(after_long_help = http::EXAMPLES)]
    Serve {
        #[command(flatten)]
        http: HttpOptions,

        #[command(flatten)]
        options: Box<Options>,
    },
    /// Serve another component: `retrieval`, which searches collections of documents and measures how well, or a file.
    ///
    /// It gets only the directories named with --dir and --data-dir.
    Run {
        /// `retrieval`, or the path of a WebAssembly component.
        #[arg(value_name = "COMPONENT")]
        component: PathBuf,

        #[command(flatten)]
        http: HttpOptions,

        #[command(flatten)]
        options: Box<Options>,
    },
    /// Measure how well the memory finds things, on collections with known answers. Touches nothing of yours.
    Evaluate(Box<EvaluateOptions>),
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
  personal-memory serve --http
      Serve the memory to many apps at once, at http://127.0.0.1:7437/mcp.
  personal-memory evaluate collections/first collections/second
      See how well the memory finds what is known to be there.
  personal-memory run retrieval --dir corpus-papers=/home/me/papers:ro
      Serve the retrieval lab, which may read one directory and nothing else.
  personal-memory run other.wasm
      Serve any other component, which gets nothing.";

/// How long the end of the process waits for whoever reads standard error.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let log = match &cli.command {
        Some(Command::Run { options, .. } | Command::Serve { options, .. }) => options.log,
        Some(Command::Evaluate(evaluate)) => evaluate.options.log,
        Some(Command::Demo) | None => cli.options.log,
    };
    options::start_logging(log);
    let result = match cli.command {
        Some(Command::Demo) => demo::run(),
        Some(Command::Evaluate(options)) => evaluate::run(&options),
        Some(Command::Run {
            component,
            http,
            options,
        }) => options
            .serving(component)
            .and_then(|options| run(&options, Some(&http))),
        Some(Command::Serve { http, options }) => run(&options, Some(&http)),
        None => run(&cli.options, None),
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

fn run(options: &Options, http: Option<&HttpOptions>) -> Result<()> {
    if options.list_tools {
        return list_tools::run(options);
    }
    match http.map(|http| http.config(options)).transpose()?.flatten() {
        Some(config) => serve::over_http(options, config),
        None => serve::run(options),
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
