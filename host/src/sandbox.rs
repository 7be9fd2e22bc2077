//! Runs a component, holds it to its limits, and replaces the instance that broke. The only room that names wasmtime.
//!
//! **Invariant:** a guest reaches nothing that [`SandboxConfig`] does not grant.
//!
//! **Invariant:** after a call that did not return, nothing of its instance is used again. A component that was stopped
//! at an arbitrary instruction has no invariants left; the next call gets a fresh instance.

mod admin;
pub mod bindings;
mod call;
mod code;
mod entry;
mod grant;
mod guest;
mod inspect;
mod instance;
mod interfaces;
mod output;
mod ticker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

pub use self::admin::{
    AdminError, Entry, EntryPage, Finding, FindingPage, ImportReport, NewEntry, Statistics,
};
pub use self::bindings::exports::personal_memory::mcp::changes::{ChangeSet, Lists};
use self::bindings::exports::personal_memory::mcp::server::Description;
use self::bindings::personal_memory::mcp::types::{Error as ComponentError, LogLevel};
pub use self::bindings::personal_memory::mcp::types::{Pending, Resumption};
pub use self::call::{Abnormal, Call, CallError, Cancel, Outcome};
use self::code::Loaded;
pub use self::code::{Code, MEMORY, Origin, RETRIEVAL};
pub(crate) use self::entry::BETWEEN_SLICES;
pub use self::entry::{Maintained, Scored, Seen};
pub use self::grant::{BadGrant, Grant, STORE_GRANT};
pub use self::inspect::{Export, Import, Inspection, inspect};
use self::instance::{Instance, Maker};
pub use self::interfaces::Interfaces;
use crate::store_lock::{LockError, StoreLock};

/// The longest that a call may take. Interactive work is over in milliseconds; clients give up after 60 seconds.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The most memory that an instance may have, in bytes: far more than a large store takes, and far less than would bring
/// a person's machine down.
pub const DEFAULT_MAX_MEMORY: usize = 1 << 30;

/// What a component may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Wall-clock time of a call, host functions included.
    pub timeout: Duration,
    /// Bytes of linear memory.
    pub max_memory: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            timeout: DEFAULT_TIMEOUT,
            max_memory: DEFAULT_MAX_MEMORY,
        }
    }
}

/// What a component gets.
#[derive(Clone, Debug, Default)]
pub struct SandboxConfig {
    /// Directories, and nothing else of the machine.
    pub grants: Vec<Grant>,
    /// Settings for `server.configure`.
    pub settings: BTreeMap<String, String>,
    /// Identifies the embedding provider and its model, if there is one.
    pub embedder: Option<String>,
    /// What it may use.
    pub limits: Limits,
    /// Whether a call waits for the file system itself instead of having another thread wait, which is a third of a
    /// short call. What was begun then ends before the call does; but no deadline ends a wait that the operating system
    /// does not end, such as for the other side of a pipe. For a component that we know, in a directory of its own.
    pub waits_for_files: bool,
}

/// Where a running call's notifications go.
pub trait Notifier: Send + Sync {
    /// `notifications.progress`
    fn progress(&self, done: f64, total: Option<f64>, message: Option<String>);
    /// `notifications.log`; `data` is JSON, unchecked.
    fn log(&self, level: LogLevel, logger: Option<String>, data: &str);
}

/// What a component is and offers.
#[derive(Clone, Debug)]
pub struct Profile {
    /// `server.describe`
    pub description: Description,
    /// What it exports and imports.
    pub interfaces: Interfaces,
    /// `changes.can-change`
    pub changing_lists: Lists,
}

#[cfg(test)]
impl Profile {
    /// A component that offers nothing.
    pub(crate) fn of_nothing() -> Profile {
        Profile {
            description: Description {
                name: "nothing".to_owned(),
                title: None,
                version: "1".to_owned(),
                description: None,
                website_url: None,
                icons: Vec::new(),
                instructions: None,
                keeps_store: false,
                extensions: None,
            },
            interfaces: Interfaces::default(),
            changing_lists: Lists::empty(),
        }
    }
}

/// A component with its limits, and the instance that serves calls. One call at a time.
pub struct Sandbox {
    maker: Maker,
    profile: Profile,
    origin: Origin,
    /// Held around each call of a component that keeps a store.
    lock: Option<StoreLock>,
    /// `None` after a call that did not return.
    instance: Option<Instance>,
}

impl Sandbox {
    /// Loads a component, makes an instance and asks what it is.
    ///
    /// # Errors
    ///
    /// The code can't be loaded, it imports something that is not offered, a granted directory can't be opened, it does
    /// not export `server`, or it refuses the settings.
    pub fn new(code: &Code, config: SandboxConfig) -> Result<Sandbox> {
        let Loaded {
            engine,
            component,
            origin,
        } = code.load()?;
        let store = config.store_directory();
        let maker = Maker::new(engine, &component, config)?;
        // Opened before the instance opens the directory: so a replacement after that is noticed.
        let lock = store.map(|directory| StoreLock::new(&directory));
        let (instance, introduction) = maker.make()?;
        let lock = lock.filter(|_| introduction.description.keeps_store);
        let profile = Profile {
            description: introduction.description,
            interfaces: maker.interfaces(),
            changing_lists: introduction.changing_lists,
        };
        Ok(Sandbox {
            maker,
            profile,
            origin,
            lock,
            instance: Some(instance),
        })
    }

    /// What the component is and offers.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Where the component keeps its store, if it keeps one.
    pub fn store_path(&self) -> Option<&Path> {
        self.lock.as_ref().map(StoreLock::directory)
    }

    /// How the component became executable.
    pub fn origin(&self) -> Origin {
        self.origin
    }
}

impl SandboxConfig {
    /// The document for `server.configure`.
    fn environment(&self) -> Value {
        let directory = |grant: &Grant| json!({"name": grant.name, "readOnly": grant.read_only});
        let directories: Vec<Value> = self.grants.iter().map(directory).collect();
        let mut environment = json!({"settings": self.settings, "directories": directories});
        if let Some(embedder) = &self.embedder {
            environment["embedder"] = embedder.as_str().into();
        }
        environment
    }

    /// Where a component that keeps a store keeps it, if it may.
    fn store_directory(&self) -> Option<PathBuf> {
        let store = self
            .grants
            .iter()
            .find(|grant| grant.name == STORE_GRANT && !grant.read_only);
        store.map(|grant| grant.path.clone())
    }
}

impl From<ComponentError> for CallError {
    fn from(error: ComponentError) -> CallError {
        CallError::Refused(error)
    }
}

impl From<LockError> for CallError {
    fn from(error: LockError) -> CallError {
        match error {
            LockError::Abandoned => CallError::Abnormal(Abnormal::Cancelled),
            LockError::Busy { .. } => CallError::Busy(error.to_string()),
            error => CallError::Unavailable(error.to_string()),
        }
    }
}
