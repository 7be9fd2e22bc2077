//! The command line: parse, run, exit code.

mod options;

mod serve;

mod http;

mod list_tools;

mod save;
mod search;

mod list;
mod show;

mod forget;
mod purge;

mod stats;
mod tags;

mod export;
mod import;

mod connect;

mod doctor;
mod privacy;

mod inspect;

mod evaluate;

mod demo;

mod completions;

mod client;

mod owner;

mod terminal;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};

use self::completions::CompletionsOptions;
use self::connect::{ConnectOptions, DisconnectOptions};
use self::doctor::DoctorOptions;
use self::evaluate::EvaluateOptions;
use self::export::ExportOptions;
use self::forget::IdsOptions;
use self::http::HttpOptions;
use self::import::ImportOptions;
use self::inspect::InspectOptions;
use self::list::ListOptions;
use self::options::{LogLevel, Options};
use self::owner::NothingFound;
use self::purge::PurgeOptions;
use self::save::SaveOptions;
use self::search::SearchOptions;
use self::show::ShowOptions;
use self::stats::StatsOptions;
use self::tags::TagsOptions;
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
    /// Give the memory to an app: write our entry into its settings, and leave the rest as it is.
    Connect(ConnectOptions),
    /// Take our entry out of an app's settings again.
    Disconnect(DisconnectOptions),
    /// Remember something.
    Save(Box<SaveOptions>),
    /// Find memories, best first, as an app would.
    Search(Box<SearchOptions>),
    /// List memories, the newest first.
    List(Box<ListOptions>),
    /// Show memories with everything that is known of them.
    Show(Box<ShowOptions>),
    /// Hide memories: they are not found any more, and can be restored.
    Forget(Box<IdsOptions>),
    /// Bring forgotten memories back.
    Restore(Box<IdsOptions>),
    /// Erase memories for good, from every file of the memory.
    Purge(Box<PurgeOptions>),
    /// List the tags, the most used first.
    Tags(Box<TagsOptions>),
    /// Print figures about the memory.
    Stats(Box<StatsOptions>),
    /// Write all memories to a file, a folder of Markdown, or standard output.
    Export(Box<ExportOptions>),
    /// Read memories from files, folders or standard input. It can be repeated: what is there already is not doubled.
    Import(Box<ImportOptions>),
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
    /// Look for what could be wrong: directory, permissions, journal, lock, apps' settings.
    Doctor(Box<DoctorOptions>),
    /// Say what a component wants, offers and would be granted, without running any of it.
    Inspect(InspectOptions),
    /// Measure how well the memory finds things, on collections with known answers. Touches nothing of yours.
    Evaluate(Box<EvaluateOptions>),
    /// Show that it works: start a server, save, search, restart, and find it again. Touches nothing of yours.
    Demo,
    /// Print a script that completes commands and options, for a shell to load.
    Completions(CompletionsOptions),
}

impl Command {
    /// How much is said on standard error.
    fn log(&self) -> LogLevel {
        let common = match self {
            Command::Save(options) => &options.common,
            Command::Search(options) => &options.common,
            Command::List(options) => &options.common,
            Command::Show(options) => &options.common,
            Command::Forget(options) | Command::Restore(options) => &options.common,
            Command::Purge(options) => &options.common,
            Command::Tags(options) => &options.common,
            Command::Stats(options) => &options.common,
            Command::Export(options) => &options.common,
            Command::Import(options) => &options.common,
            Command::Serve { options, .. } | Command::Run { options, .. } => &options.common,
            Command::Doctor(options) => &options.common,
            Command::Evaluate(evaluate) => &evaluate.options.common,
            Command::Connect(_)
            | Command::Disconnect(_)
            | Command::Inspect(_)
            | Command::Demo
            | Command::Completions(_) => return LogLevel::Warn,
        };
        common.log
    }

    fn run(self) -> Result<()> {
        match self {
            Command::Connect(options) => connect::connect(&options),
            Command::Disconnect(options) => connect::disconnect(&options),
            Command::Save(options) => save::run(&options),
            Command::Search(options) => search::run(&options),
            Command::List(options) => list::run(&options),
            Command::Show(options) => show::run(&options),
            Command::Forget(options) => forget::run(&options),
            Command::Restore(options) => forget::restore(&options),
            Command::Purge(options) => purge::run(&options),
            Command::Tags(options) => tags::run(&options),
            Command::Stats(options) => stats::run(&options),
            Command::Export(options) => export::run(&options),
            Command::Import(options) => import::run(&options),
            Command::Serve { http, options } => run(&options, Some(&http)),
            Command::Run {
                component,
                http,
                options,
            } => {
                let options = options.serving(component)?;
                run(&options, Some(&http))
            }
            Command::Doctor(options) => doctor::run(&options),
            Command::Inspect(options) => inspect::run(&options),
            Command::Evaluate(options) => evaluate::run(&options),
            Command::Demo => demo::run(),
            Command::Completions(options) => completions::run(&options),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  personal-memory demo
      See it work, step by step, in a temporary directory.
  personal-memory connect claude-code
      Give it to Claude Code; or to claude-desktop, cursor, vscode.
  personal-memory --data-dir /home/me/memory --log info
      Serve the memory in a directory of your choice, and say on standard error what happens.
  personal-memory serve --http
      Serve the memory to many apps at once, at http://127.0.0.1:7437/mcp.
  personal-memory search what does Ada like
      Look into the memory yourself; `save`, `list`, `show`, `forget` and others are there too.
  personal-memory import notes.md
      Remember what is in a file.
  personal-memory evaluate collections/first collections/second
      See how well the memory finds what is known to be there.
  personal-memory run retrieval --dir corpus-papers=/home/me/papers:ro
      Serve the retrieval lab, which may read one directory and nothing else.
  personal-memory run other.wasm
      Serve any other component, which gets nothing.

Exit codes: 0 done, 1 failed, 2 the command line makes no sense, 3 nothing fits or no such memory.";

/// Neither done nor failed: a search that finds nothing, an id that leads nowhere. Not 1, as `grep` has it: a script must
/// be able to tell that there is nothing from not having been able to look.
const NOTHING_FOUND: u8 = 3;

/// How long the end of the process waits for whoever reads standard error.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let log = cli
        .command
        .as_ref()
        .map_or(cli.options.common.log, Command::log);
    options::start_logging(log);
    let result = match cli.command {
        Some(command) => command.run(),
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
            match error.is::<NothingFound>() {
                true => ExitCode::from(NOTHING_FOUND),
                false => ExitCode::FAILURE,
            }
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
