//! One instance of a component: made, called under its limits, abandoned when a call did not return.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use tokio::runtime::Runtime;
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Engine, Store};

use super::bindings::exports::personal_memory::mcp::changes::Lists;
use super::bindings::exports::personal_memory::mcp::server::Description;
use super::call::{Abnormal, Cancel};
use super::guest::{self, Guest, MAX_HANDED_OVER, MemoryCap};
use super::interfaces::{Exports, Indices, Interfaces};
use super::ticker::Ticker;
use super::{Notifier, SandboxConfig};

/// How long an abandoned instance's file operations are waited for. They are short or, on a pipe that nobody writes to,
/// endless; the latter are left behind.
const IO_GRACE: Duration = Duration::from_secs(1);

/// Makes instances, all alike.
pub(super) struct Maker {
    engine: Engine,
    template: InstancePre<Guest>,
    indices: Indices,
    ticker: Ticker,
    config: SandboxConfig,
}

/// An instance and what dies with it.
pub(super) struct Instance {
    store: Store<Guest>,
    exports: Exports,
    driver: Driver,
    /// Its store is open, as far as the component says (`maintenance.open`).
    pub(super) is_open: bool,
}

/// What a fresh instance says about its component.
pub(super) struct Introduction {
    pub(super) description: Description,
    pub(super) changing_lists: Lists,
}

/// Drives an instance's calls and file operations. When it is dropped, it waits for those that are still under way: the
/// next instance must not meet them, nor another process that gets the store's lock. Not for ever, as a runtime does
/// that is just dropped.
struct Driver(Option<Runtime>);

impl Driver {
    fn new() -> io::Result<Driver> {
        Ok(Driver(Some(
            tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build()?,
        )))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_timeout(IO_GRACE);
        }
    }
}

impl Maker {
    /// Links a component with what components are offered, and nothing else. Runs nothing of it.
    pub(super) fn new(
        engine: Engine,
        component: &Component,
        config: SandboxConfig,
    ) -> Result<Maker> {
        let mut linker = Linker::new(&engine);
        guest::link(&mut linker)?;
        let template = linker.instantiate_pre(component).map_err(|error| {
            anyhow!(error)
                .context("the component wants something that is not offered to components")
        })?;
        let indices = Indices::new(&template)?;
        let ticker = Ticker::new(engine.clone());
        Ok(Maker {
            engine,
            template,
            indices,
            ticker,
            config,
        })
    }

    /// What the component exports and imports.
    pub(super) fn interfaces(&self) -> Interfaces {
        self.indices
            .interfaces(&self.engine, self.template.component())
    }

    /// Makes an instance, asks what it is and tells it where it is.
    pub(super) fn make(&self) -> Result<(Instance, Introduction)> {
        let driver = Driver::new()?;
        let mut store = Store::new(&self.engine, Guest::new(&self.config)?);
        store.limiter(|guest| &mut guest.limiter);
        store.set_hostcall_fuel(MAX_HANDED_OVER);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let environment = self.config.environment().to_string();

        let started = self.run(&driver, &Cancel::default(), async {
            let instance = self.template.instantiate_async(&mut store).await?;
            let exports = self.indices.load(&mut store, &instance)?;
            let description = exports.server.call_describe(&mut store).await?;
            let configured = exports
                .server
                .call_configure(&mut store, &environment)
                .await?;
            let changing_lists = match &exports.changes {
                Some(changes) => changes.call_can_change(&mut store).await?,
                None => Lists::empty(),
            };
            let introduction = Introduction {
                description,
                changing_lists,
            };
            Ok((exports, introduction, configured))
        });
        let (exports, introduction, configured) =
            started.map_err(|abnormal| anyhow!("the component did not start: {abnormal}"))?;
        configured.map_err(|refusal| anyhow!("the component refuses its settings: {refusal}"))?;
        let is_open = exports.maintenance.is_none();
        let instance = Instance {
            store,
            exports,
            driver,
            is_open,
        };
        Ok((instance, introduction))
    }

    /// Makes calls of an instance. It comes back if they returned, whatever they returned. Otherwise it is gone, and with
    /// it all that it had under way.
    pub(super) fn enter<T>(
        &self,
        mut instance: Instance,
        cancel: &Cancel,
        notifier: Option<Arc<dyn Notifier>>,
        calls: impl AsyncFnOnce(&Exports, &mut Store<Guest>) -> wasmtime::Result<T>,
    ) -> (Result<T, Abnormal>, Option<Instance>) {
        instance.store.data_mut().begin_call(notifier);
        let Instance {
            store,
            exports,
            driver,
            ..
        } = &mut instance;
        match self.run(driver, cancel, calls(exports, store)) {
            Ok(answer) => {
                instance.store.data_mut().end_call();
                (Ok(answer), Some(instance))
            }
            Err(abnormal) => (Err(abnormal), None),
        }
    }

    /// How long a call may take.
    pub(super) fn deadline(&self) -> Duration {
        self.config.limits.timeout
    }

    /// Drives a call to its end, its deadline or its cancellation. A guest that computes yields at each tick, one that
    /// sleeps or waits for the host is suspended anyway: in both cases the call is dropped where it stands.
    fn run<T>(
        &self,
        driver: &Driver,
        cancel: &Cancel,
        call: impl Future<Output = wasmtime::Result<T>>,
    ) -> Result<T, Abnormal> {
        let _ticking = self.ticker.run();
        let timeout = self.config.limits.timeout;
        // Only `drop` takes it.
        let runtime = driver.0.as_ref().ok_or(Abnormal::Start)?;
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(Abnormal::Cancelled),
                returned = call => returned.map_err(|error| classify(&error)),
                () = tokio::time::sleep(timeout) => Err(Abnormal::Deadline(timeout)),
            }
        })
    }
}

fn classify(error: &wasmtime::Error) -> Abnormal {
    if let Some(MemoryCap(cap)) = error.downcast_ref::<MemoryCap>() {
        return Abnormal::Memory(*cap);
    }
    tracing::error!("the component failed: {error:#}");
    Abnormal::Trap
}
