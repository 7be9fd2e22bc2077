//! Runs a component, holds it to its limits, and replaces the instance that broke. The only room that names wasmtime.
//!
//! **Invariant:** a guest reaches nothing that [`SandboxConfig`] does not grant.
//!
//! **Invariant:** after a call that did not return, nothing of its instance is used again. A component that was stopped
//! at an arbitrary instruction has no invariants left; the next call gets a fresh instance.

pub mod bindings;
mod call;
mod code;
mod grant;
mod guest;
mod interfaces;
mod output;
mod ticker;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use tokio::runtime::Runtime;
use wasmtime::component::{InstancePre, Linker};
use wasmtime::{Engine, Store};

use self::bindings::exports::personal_memory::mcp::server::Description;
use self::bindings::personal_memory::mcp::types::{
    Error as ComponentError, LogLevel, RequestContext,
};
pub use self::call::{Abnormal, Call, CallError, Cancel, Outcome};
pub use self::code::{Code, MEMORY, Origin};
pub use self::grant::{BadGrant, Grant};
use self::guest::{Guest, MemoryCap};
pub use self::interfaces::Interfaces;
use self::interfaces::{Exports, Indices};
use self::ticker::Ticker;

/// The longest that a call may take. Interactive work is over in milliseconds; clients give up after 60 seconds.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The most memory that an instance may have, in bytes. A hundred thousand memories take less than a tenth of it.
pub const DEFAULT_MAX_MEMORY: usize = 1 << 30;

/// How long an abandoned instance's file operations are waited for. They are short or, on a pipe that nobody writes to,
/// endless; the latter are left behind.
const IO_GRACE: Duration = Duration::from_secs(1);

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
    /// What it may use.
    pub limits: Limits,
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
}

/// A component with its limits, and the instance that serves calls. One call at a time.
pub struct Sandbox {
    engine: Engine,
    template: InstancePre<Guest>,
    indices: Indices,
    ticker: Ticker,
    config: SandboxConfig,
    profile: Profile,
    origin: Origin,
    instance: Option<Instance>,
}

/// An instance and what dies with it.
struct Instance {
    store: Store<Guest>,
    exports: Exports,
    /// Drives the instance's calls and file operations; they are joined through it.
    runtime: Runtime,
}

impl Sandbox {
    /// Loads a component, makes an instance and asks what it is.
    ///
    /// # Errors
    ///
    /// The code can't be loaded, it imports something that is not offered, a granted directory can't be opened, it does
    /// not export `server`, or it refuses the settings.
    pub fn new(code: &Code, config: SandboxConfig) -> Result<Sandbox> {
        let loaded = code.load()?;
        let mut linker = Linker::new(&loaded.engine);
        guest::link(&mut linker)?;
        let template = linker.instantiate_pre(&loaded.component).map_err(|error| {
            anyhow!(error)
                .context("the component wants something that is not offered to components")
        })?;
        let indices = Indices::new(&template)?;
        let ticker = Ticker::new(loaded.engine.clone());
        let (instance, description) = start(&loaded.engine, &template, &indices, &ticker, &config)?;
        let interfaces = indices.interfaces(&loaded.engine, &loaded.component);
        let profile = Profile {
            description,
            interfaces,
        };
        let instance = Some(instance);
        Ok(Sandbox {
            engine: loaded.engine,
            template,
            indices,
            ticker,
            config,
            profile,
            origin: loaded.origin,
            instance,
        })
    }

    /// What the component is and offers.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// How the component became executable.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Makes one call. Blocks until it returned, its deadline passed, it was cancelled or it broke.
    pub fn call(
        &mut self,
        context: &RequestContext,
        call: &Call,
        cancel: &Cancel,
        notifier: Option<Arc<dyn Notifier>>,
    ) -> Result<Outcome, CallError> {
        let mut instance = self.take_instance().map_err(|error| {
            tracing::error!("the component could not be started: {error:#}");
            CallError::Abnormal(Abnormal::Start)
        })?;
        instance.store.data_mut().begin_call(notifier);
        let timeout = self.config.limits.timeout;
        let Instance {
            store,
            exports,
            runtime,
        } = &mut instance;
        let result = run(
            runtime,
            &self.ticker,
            timeout,
            cancel,
            exports.call(store, context, call),
        );
        instance.store.data_mut().notifier = None;
        match result {
            Ok(outcome) => {
                self.instance = Some(instance);
                outcome
            }
            Err(abnormal) => {
                instance.abandon();
                Err(CallError::Abnormal(abnormal))
            }
        }
    }

    fn take_instance(&mut self) -> Result<Instance> {
        match self.instance.take() {
            Some(instance) => Ok(instance),
            None => Ok(start(
                &self.engine,
                &self.template,
                &self.indices,
                &self.ticker,
                &self.config,
            )?
            .0),
        }
    }
}

impl Instance {
    /// Drops everything and waits for file operations that are still under way on the runtime's threads: the next
    /// instance must not meet them.
    fn abandon(self) {
        let Instance { store, runtime, .. } = self;
        drop(store);
        runtime.shutdown_timeout(IO_GRACE);
    }
}

/// Makes an instance, asks what it is and configures it.
fn start(
    engine: &Engine,
    template: &InstancePre<Guest>,
    indices: &Indices,
    ticker: &Ticker,
    config: &SandboxConfig,
) -> Result<(Instance, Description)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let mut store = Store::new(engine, Guest::new(config)?);
    store.limiter(|guest| &mut guest.limiter);
    store.set_epoch_deadline(1);
    store.epoch_deadline_async_yield_and_update(1);
    let settings = serde_json::to_string(&config.settings)?;

    let started = run(
        &runtime,
        ticker,
        config.limits.timeout,
        &Cancel::default(),
        async {
            let instance = template.instantiate_async(&mut store).await?;
            let exports = indices.load(&mut store, &instance)?;
            let description = exports.server.call_describe(&mut store).await?;
            let configured = exports.server.call_configure(&mut store, &settings).await?;
            Ok((exports, description, configured))
        },
    );
    let (exports, description, configured) =
        started.map_err(|abnormal| anyhow!("the component did not start: {abnormal}"))?;
    configured.map_err(|refusal| anyhow!("the component refuses its settings: {refusal}"))?;
    Ok((
        Instance {
            store,
            exports,
            runtime,
        },
        description,
    ))
}

/// Drives a call to its end, its deadline or its cancellation. A guest that computes yields at each tick, one that sleeps
/// or waits for the host is suspended anyway: in both cases the call is dropped where it stands.
fn run<T>(
    runtime: &Runtime,
    ticker: &Ticker,
    timeout: Duration,
    cancel: &Cancel,
    call: impl Future<Output = wasmtime::Result<T>>,
) -> Result<T, Abnormal> {
    let _ticking = ticker.run();
    runtime.block_on(async {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Abnormal::Cancelled),
            returned = call => returned.map_err(|error| classify(&error)),
            () = tokio::time::sleep(timeout) => Err(Abnormal::Deadline(timeout)),
        }
    })
}

fn classify(error: &wasmtime::Error) -> Abnormal {
    if let Some(MemoryCap(cap)) = error.downcast_ref::<MemoryCap>() {
        return Abnormal::Memory(*cap);
    }
    tracing::error!("the component failed: {error:#}");
    Abnormal::Trap
}

impl From<ComponentError> for CallError {
    fn from(error: ComponentError) -> CallError {
        CallError::Refused(error)
    }
}
