//! What every request brings from the edge, and how one can be wrong.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::config::{CACHE_GRANT, CORPUS_GRANT, LISTINGS, REPO_GRANT, SERVER_NAME, WORKING_SHARE};
use crate::security::echo;

/// How a call tells how far it is: what is done, out of how much, and what that means.
pub type Progress<'a> = &'a dyn Fn(f64, f64, &str);

/// What one call brings from the edge: a clock, how long it may take, and where its progress goes. So everything behind
/// it is deterministic but for what a clock decides.
pub struct Call<'a> {
    clock: &'a dyn Fn() -> Duration,
    started: Duration,
    limit: Duration,
    progress: Progress<'a>,
}

impl<'a> Call<'a> {
    /// A call that starts now. `clock` never goes back; `limit` is when the host stops the call.
    pub fn new(clock: &'a dyn Fn() -> Duration, limit: Duration, progress: Progress<'a>) -> Self {
        Self {
            clock,
            started: clock(),
            limit,
            progress,
        }
    }

    /// What the clock shows.
    pub fn now(&self) -> Duration {
        (self.clock)()
    }

    /// Whether more than a share of the call's time is gone.
    pub fn is_past(&self, share: f64) -> bool {
        self.now().saturating_sub(self.started) > self.limit.mul_f64(share)
    }

    /// Whether it is time to end with what there is.
    pub fn is_nearly_over(&self) -> bool {
        self.is_past(WORKING_SHARE)
    }

    /// Tells how far the call is.
    pub fn progress(&self, done: usize, total: usize, message: &str) {
        (self.progress)(done as f64, total as f64, message);
    }
}

/// A directory that was granted for a purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// What the person calls it.
    pub name: String,
    /// Where the component sees it.
    pub path: PathBuf,
}

/// What was granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// In the order in which they were granted.
    pub corpora: Vec<Granted>,
    /// In the order in which they were granted.
    pub repositories: Vec<Granted>,
    /// Where finished indexes are kept; none: nowhere.
    pub cache: Option<PathBuf>,
    /// Grants that mean nothing here, and why. Worth telling, and no reason not to start.
    pub unused: Vec<String>,
}

/// Reads what the host tells about where we are: an object, of whose members `settings` (there is none yet) and
/// `directories` concern us.
///
/// # Errors
///
/// Names a setting that is unknown, or says what is malformed.
pub fn read_environment(environment: &str) -> Result<Environment, String> {
    let environment: Value = serde_json::from_str(environment).map_err(|error| {
        format!("the environment must be an object, got malformed JSON: {error}")
    })?;
    let Some(environment) = environment.as_object() else {
        return Err("the environment must be an object".to_owned());
    };
    match environment.get("settings") {
        None => {}
        Some(Value::Object(settings)) => {
            if let Some(key) = settings.keys().next() {
                return Err(format!(
                    "unknown setting {}; {SERVER_NAME} knows none",
                    echo(key)
                ));
            }
        }
        Some(_) => return Err("settings must be an object of strings".to_owned()),
    }
    let directories = match environment.get("directories") {
        None => &[][..],
        Some(Value::Array(directories)) => directories,
        Some(_) => return Err("directories must be an array of objects".to_owned()),
    };
    let mut granted = Environment::default();
    for directory in directories {
        let name = directory.get("name").and_then(Value::as_str);
        let name = name.ok_or("a directory must be an object with a name")?;
        let read_only = directory.get("readOnly") == Some(&Value::Bool(true));
        granted.add(name, read_only);
    }
    Ok(granted)
}

impl Environment {
    fn add(&mut self, grant: &str, read_only: bool) {
        let path = PathBuf::from(format!("/{grant}"));
        if grant == CACHE_GRANT {
            if read_only {
                let reason = format!("{grant}: it is read-only, so nothing can be kept in it");
                self.unused.push(reason);
            } else {
                self.cache = Some(path);
            }
            return;
        }
        let named = |prefix: &str| {
            grant
                .strip_prefix(prefix)
                .filter(|name| !name.is_empty())
                .map(|name| Granted {
                    name: name.to_owned(),
                    path: path.clone(),
                })
        };
        match (named(CORPUS_GRANT), named(REPO_GRANT)) {
            (Some(corpus), _) if corpus.name == LISTINGS => self.unused.push(format!(
                "{CORPUS_GRANT}{LISTINGS}: {LISTINGS} is the built-in corpus; choose another name"
            )),
            (Some(corpus), _) => self.corpora.push(corpus),
            (None, Some(repository)) => self.repositories.push(repository),
            (None, None) => self.unused.push(format!(
                "{grant}: directories are named {CORPUS_GRANT}NAME, {REPO_GRANT}NAME or {CACHE_GRANT}"
            )),
        }
    }
}

/// A request that gets an error instead of a result. (A tool that refuses is not one: it gives a result that says so.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// No tool, prompt or completion reference has this name.
    UnknownName(String),
    /// Nothing is served under this URI.
    UnknownResource {
        /// As it was received.
        uri: String,
        /// Malformed, foreign, or no such document.
        reason: String,
    },
    /// It can't be understood; the text says why.
    InvalidParams(String),
    /// It failed here; the text says what, without internals.
    Internal(String),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName(name) => write!(f, "unknown name {name:?}"),
            Self::UnknownResource { uri, reason } => {
                write!(f, "unknown resource {uri:?}: {reason}")
            }
            Self::InvalidParams(text) | Self::Internal(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for RequestError {}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
