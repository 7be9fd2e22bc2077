//! Options of a server, checked before anything is opened.

use std::collections::BTreeMap;
use std::env::VarError;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use crate::embedder::Embedder;
use crate::protocol::{DEFAULT_ASK_TIMEOUT, Service};
use crate::sandbox::{
    Code, DEFAULT_MAX_MEMORY, DEFAULT_TIMEOUT, Grant, Limits, MEMORY, RETRIEVAL, STORE_GRANT,
    Sandbox, SandboxConfig,
};
use crate::seal_key::SealKey;
use crate::stderr::Stderr;
use crate::transport::stdio::{Bounds, DEFAULT_MAX_LINE_BYTES};
use crate::worker::DEFAULT_MAX_CALLS_PER_SECOND;

/// Names a data directory when `--data-dir` does not.
pub(super) const DATA_DIR_VARIABLE: &str = "PERSONAL_MEMORY_DIR";

/// Holds the key of the embedding provider: not an argument, which other users of the machine could see.
const EMBEDDER_KEY_VARIABLE: &str = "PERSONAL_MEMORY_EMBEDDER_KEY";

/// What the retrieval lab is called.
const RETRIEVAL_NAME: &str = "retrieval";

const MIB: usize = 1 << 20;

/// What every command needs that uses a component.
#[derive(Debug, Args)]
pub(super) struct Common {
    /// Where the memory is kept. Default: $PERSONAL_MEMORY_DIR, else the platform's directory for application data.
    #[arg(long, value_name = "PATH")]
    pub(super) data_dir: Option<PathBuf>,

    /// Configure the component. May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_setting)]
    settings: Vec<(String, String)>,

    /// Use an embedding provider that speaks OpenAI's /v1/embeddings, such as Ollama or LM Studio, besides what is built
    /// in. Texts are sent to it. A key, if it wants one, is taken from $PERSONAL_MEMORY_EMBEDDER_KEY.
    #[arg(long, value_name = "URL", requires = "embedder_model")]
    embedder: Option<String>,

    /// The provider's model.
    #[arg(long, value_name = "NAME", requires = "embedder")]
    embedder_model: Option<String>,

    /// Stop a call that takes longer than this many seconds; fractions are fine.
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_TIMEOUT.as_secs_f64(), value_parser = parse_seconds)]
    timeout: f64,

    /// Stop a call that wants more memory than this many MiB.
    #[arg(long, value_name = "MIB", default_value_t = DEFAULT_MAX_MEMORY / MIB, value_parser = parse_mebibytes)]
    max_memory: usize,

    /// How much to say on standard error.
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    pub(super) log: LogLevel,
}

/// What a server needs besides.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    pub(super) common: Common,

    /// Let the component use a directory, as `/NAME`; with `:ro` it can only read. May be given several times. `--data-dir`
    /// is short for `--dir data=PATH`.
    #[arg(long = "dir", value_name = "NAME=PATH[:ro]")]
    dirs: Vec<Grant>,

    /// Serve this WebAssembly component instead of the memory. It gets only the directories named with --dir and
    /// --data-dir.
    #[arg(long, value_name = "FILE.wasm")]
    component: Option<PathBuf>,

    /// Set by `run`, for a component that lies in the program.
    #[arg(skip)]
    embedded: Option<Code>,

    /// Give up on an answer that the app or its person was asked for after this many seconds; fractions are fine.
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_ASK_TIMEOUT.as_secs_f64(), value_parser = parse_seconds)]
    ask_timeout: f64,

    /// Refuse messages that are longer than this many bytes.
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_MAX_LINE_BYTES, value_parser = parse_line_bytes)]
    max_line_bytes: usize,

    /// Refuse calls beyond this many a second; ten seconds' worth may come at once.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_CALLS_PER_SECOND, value_parser = clap::value_parser!(u32).range(1..=MAX_CALLS_PER_SECOND))]
    max_calls_per_second: u32,

    /// Print the tools that the component offers, and exit.
    #[arg(long)]
    pub(super) list_tools: bool,
}

/// Levels of the program's own log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Options {
    /// The component that is to be served.
    fn code(&self) -> Code {
        match (&self.embedded, &self.component) {
            (Some(code), _) => code.clone(),
            (None, Some(file)) => Code::File(file.clone()),
            (None, None) => MEMORY,
        }
    }

    /// The same for another component: one that lies in the program, or a file.
    pub(super) fn serving(self, component: PathBuf) -> Result<Options> {
        if let Some(other) = self.component {
            bail!(
                "two components are given: {} and {}",
                component.display(),
                other.display()
            );
        }
        let embedded = (component.as_os_str() == RETRIEVAL_NAME).then_some(RETRIEVAL);
        Ok(Options {
            component: Some(component),
            embedded,
            ..self
        })
    }

    /// What the component is granted. The data directory is made if it is not there yet.
    fn config(&self) -> Result<SandboxConfig> {
        let mut grants = self.dirs.clone();
        if let Some((path, _)) = self.data_dir()? {
            grants.push(store_grant(path)?);
        }
        self.common.config(grants)
    }

    /// Where the memory is. A component from elsewhere gets a data directory only if the person names one: it must not
    /// see the memory by default.
    fn data_dir(&self) -> Result<Option<(PathBuf, Chosen)>> {
        let has_another = self.dirs.iter().any(|grant| grant.name == STORE_GRANT);
        if self.common.data_dir.is_none() && (self.component.is_some() || has_another) {
            return Ok(None);
        }
        self.common.data_dir().map(Some)
    }

    /// What a client may do at most.
    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            max_line_bytes: self.max_line_bytes,
            max_calls_per_second: self.max_calls_per_second,
        }
    }

    /// The embedding provider, if one is named.
    pub(super) fn embedder(&self) -> Result<Option<Embedder>> {
        self.common.embedder()
    }

    /// Makes the sandbox to serve from.
    pub(super) fn sandbox(&self, embedder: Option<&Embedder>) -> Result<Sandbox> {
        let config = SandboxConfig {
            waits_for_files: self.component.is_none(),
            ..self.config()?
        };
        start(&self.code(), config, embedder)
    }

    /// What all connections to the sandbox share.
    pub(super) fn service(&self, sandbox: &Sandbox) -> Service {
        let key = SealKey::beside(sandbox.store_path());
        let ask_timeout = Duration::from_secs_f64(self.ask_timeout);
        Service::new(sandbox.profile().clone(), key, ask_timeout)
    }

    /// Makes a sandbox that is only asked what it offers: nothing is granted to it, nothing on disk is touched.
    pub(super) fn sandbox_without_grants(&self, embedder: Option<&Embedder>) -> Result<Sandbox> {
        start(&self.code(), self.common.config(Vec::new())?, embedder)
    }
}

impl Common {
    /// The data directory, and how it was chosen.
    pub(super) fn data_dir(&self) -> Result<(PathBuf, Chosen)> {
        if let Some(path) = &self.data_dir {
            return Ok((absolute_data_dir(path)?, Chosen::Flag));
        }
        if let Some(path) = std::env::var_os(DATA_DIR_VARIABLE).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(path);
            if path.is_relative() {
                bail!(
                    "{DATA_DIR_VARIABLE} must be an absolute path, not {}",
                    path.display()
                );
            }
            return Ok((path, Chosen::Variable));
        }
        Ok((platform_dir()?, Chosen::Platform))
    }

    fn config(&self, grants: Vec<Grant>) -> Result<SandboxConfig> {
        for (index, grant) in grants.iter().enumerate() {
            if grants[..index].iter().any(|other| other.name == grant.name) {
                bail!("the directory name `{}` is given twice", grant.name);
            }
        }
        let mut settings = BTreeMap::new();
        for (key, value) in &self.settings {
            if settings.insert(key.clone(), value.clone()).is_some() {
                bail!("the setting `{key}` is given twice");
            }
        }
        let limits = Limits {
            timeout: Duration::from_secs_f64(self.timeout),
            max_memory: self.max_memory.saturating_mul(MIB),
        };
        Ok(SandboxConfig {
            grants,
            settings,
            limits,
            ..SandboxConfig::default()
        })
    }

    /// The embedding provider, if one is named.
    pub(super) fn embedder(&self) -> Result<Option<Embedder>> {
        let (Some(url), Some(model)) = (&self.embedder, &self.embedder_model) else {
            return Ok(None);
        };
        let key = match std::env::var(EMBEDDER_KEY_VARIABLE) {
            Ok(key) => Some(key),
            Err(VarError::NotPresent) => None,
            Err(VarError::NotUnicode(_)) => bail!("{EMBEDDER_KEY_VARIABLE} is not text"),
        };
        Ok(Some(Embedder::new(url, model.clone(), key)?))
    }

    /// Makes the sandbox of the memory, over its data directory, as a server would. The directory is made if it is not
    /// there yet.
    pub(super) fn memory(&self, embedder: Option<&Embedder>) -> Result<Sandbox> {
        let grant = store_grant(self.data_dir()?.0)?;
        let config = SandboxConfig {
            waits_for_files: true,
            ..self.config(vec![grant])?
        };
        start(&MEMORY, config, embedder)
    }
}

/// How the data directory was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// `--data-dir`
    Flag,
    /// `PERSONAL_MEMORY_DIR`
    Variable,
    /// It is the platform's directory for application data.
    Platform,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Chosen::Flag => f.write_str("named by --data-dir"),
            Chosen::Variable => write!(f, "named by {DATA_DIR_VARIABLE}"),
            Chosen::Platform => f.write_str("the platform's directory for application data"),
        }
    }
}

/// Where the memory is if nobody says anything.
pub(super) fn platform_dir() -> Result<PathBuf> {
    let directories = directories::ProjectDirs::from("", "", "personal-memory").context(
        "there is no home directory to keep the memory in; name a place with --data-dir",
    )?;
    Ok(directories.data_local_dir().to_owned())
}

/// The path that a person means with `--data-dir`.
pub(super) fn absolute_data_dir(path: &Path) -> Result<PathBuf> {
    if path.starts_with("~") {
        bail!(
            "--data-dir {}: only a shell replaces ~; write the path in full",
            path.display()
        );
    }
    Ok(std::path::absolute(path)?)
}

fn store_grant(path: PathBuf) -> Result<Grant> {
    fs::create_dir_all(&path)
        .with_context(|| format!("the data directory {} can't be made", path.display()))?;
    Ok(Grant {
        name: STORE_GRANT.to_owned(),
        path,
        read_only: false,
    })
}

fn start(code: &Code, config: SandboxConfig, embedder: Option<&Embedder>) -> Result<Sandbox> {
    for grant in &config.grants {
        tracing::info!("`/{}` is {}", grant.name, grant.path.display());
    }
    let config = SandboxConfig {
        embedder: embedder.map(Embedder::id),
        ..config
    };
    Sandbox::new(code, config)
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not of the form KEY=VALUE")),
    }
}

/// The shortest deadline that leaves time for anything.
const MIN_SECONDS: f64 = 0.001;

/// A day. Whoever wants no deadline at all has a component that should report `needs` instead.
const MAX_SECONDS: f64 = 86_400.0;

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (MIN_SECONDS..=MAX_SECONDS).contains(&seconds) => Ok(seconds),
        _ => Err(format!(
            "`{text}` is not a number of seconds from {MIN_SECONDS} to {MAX_SECONDS}"
        )),
    }
}

/// All that a 32-bit component can address.
const MAX_MEBIBYTES: usize = 4096;

fn parse_mebibytes(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(mebibytes) if (1..=MAX_MEBIBYTES).contains(&mebibytes) => Ok(mebibytes),
        _ => Err(format!(
            "`{text}` is not a number of MiB from 1 to {MAX_MEBIBYTES}"
        )),
    }
}

/// More than any machine makes: as good as no limit.
const MAX_CALLS_PER_SECOND: i64 = 1_000_000;

/// The shortest useful limit for a line; `initialize` alone takes a few hundred bytes.
const MIN_LINE_BYTES: usize = 1024;

fn parse_line_bytes(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(bytes) if bytes >= MIN_LINE_BYTES => Ok(bytes),
        _ => Err(format!(
            "`{text}` is not a number of bytes from {MIN_LINE_BYTES} up"
        )),
    }
}

/// Sends the program's log to standard error, the only place where it may go.
pub(super) fn start_logging(level: LogLevel) {
    use tracing::level_filters::LevelFilter;

    let filter = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(filter)
        .with_writer(Stderr::default)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .init();
}
