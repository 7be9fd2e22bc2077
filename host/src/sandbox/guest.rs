//! What the host keeps for one instance: the WASI view with its grants, the limits, and where notifications go.

use std::sync::Arc;

use wasmtime::ResourceLimiter;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::cli::{WasiCli, WasiCliView as _};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::{cli, filesystem, random};
use wasmtime_wasi::random::{WasiRandom, WasiRandomView as _};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

use super::bindings::personal_memory::mcp::notifications;
use super::bindings::personal_memory::mcp::types::LogLevel;
use super::output::GuestOutput;
use super::{Limits, Notifier, SandboxConfig};

/// Table elements (function pointers, mostly) of an instance. A large Rust program has some thousands.
const MAX_TABLE_ELEMENTS: usize = 1_000_000;

/// Core modules, memories and tables of an instance, each. A component that is made of several languages has a dozen.
const MAX_PARTS: usize = 100;

/// Files, directories, streams and timers that an instance may hold at a time. A process may have 256 files open on some
/// systems, and a component that takes them all leaves none for the lock. Components open a few at a time.
const MAX_HANDLES: usize = 128;

/// Bytes that a component may hand over in one go: the result of a call, or the arguments of a function of the host. An
/// image that fits into a client's message fits as well; the host holds such a thing several times over while it writes
/// it as JSON.
pub(super) const MAX_HANDED_OVER: usize = 8 << 20;

/// The data of a wasmtime `Store`.
pub(super) struct Guest {
    wasi: WasiCtx,
    table: ResourceTable,
    output: GuestOutput,
    pub(super) limiter: Limiter,
    /// Where the current call's notifications go; absent when nobody listens.
    notifier: Option<Arc<dyn Notifier>>,
}

impl Guest {
    /// A guest that has what was granted and nothing else: no environment, no arguments, no network, empty input.
    pub(super) fn new(config: &SandboxConfig) -> wasmtime::Result<Guest> {
        let output = GuestOutput::new();
        let mut wasi = WasiCtx::builder();
        wasi.stdout(output.clone())
            .stderr(output.clone())
            .allow_blocking_current_thread(config.waits_for_files);
        for grant in &config.grants {
            let permissions = if grant.read_only {
                FsPerms::ReadOnly
            } else {
                FsPerms::ReadWrite
            };
            wasi.preopened_dir(&grant.path, format!("/{}", grant.name), permissions)
                .map_err(|error| {
                    error.context(format!(
                        "the directory {} (`{}`) can't be opened",
                        grant.path.display(),
                        grant.name
                    ))
                })?;
        }
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        Ok(Guest {
            wasi: wasi.build(),
            table,
            output,
            limiter: Limiter::new(config.limits.clone()),
            notifier: None,
        })
    }

    /// A new call starts.
    pub(super) fn begin_call(&mut self, notifier: Option<Arc<dyn Notifier>>) {
        self.output.refill();
        self.notifier = notifier;
    }

    /// The call returned; nothing that is said from now on belongs to it.
    pub(super) fn end_call(&mut self) {
        self.notifier = None;
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// Says no to growth beyond the limits, which hold for all memories and tables of an instance together.
pub(super) struct Limiter {
    limits: Limits,
    memory_bytes: usize,
    table_elements: usize,
}

impl Limiter {
    fn new(limits: Limits) -> Limiter {
        Limiter {
            limits,
            memory_bytes: 0,
            table_elements: 0,
        }
    }
}

/// A guest wanted more memory than it may have.
#[derive(Debug)]
pub(super) struct MemoryCap(pub(super) usize);

impl std::fmt::Display for MemoryCap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "memory would grow over {} bytes", self.0)
    }
}

impl std::error::Error for MemoryCap {}

/// A guest wanted a table with more elements than all of its tables may have.
#[derive(Debug)]
struct TableCap {
    wanted: usize,
}

impl std::fmt::Display for TableCap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TableCap { wanted } = self;
        write!(
            f,
            "tables would grow to {wanted} elements, at most {MAX_TABLE_ELEMENTS} are allowed"
        )
    }
}

impl std::error::Error for TableCap {}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let (cap, total) = (
            self.limits.max_memory,
            grown(self.memory_bytes, current, desired),
        );
        // An error and not a refusal: the guest would abort anyway, and this way the reason is known. So for tables.
        if total > cap {
            return Err(wasmtime::Error::from(MemoryCap(cap)));
        }
        self.memory_bytes = total;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = grown(self.table_elements, current, desired);
        if total > MAX_TABLE_ELEMENTS {
            return Err(wasmtime::Error::from(TableCap { wanted: total }));
        }
        self.table_elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        MAX_PARTS
    }

    fn tables(&self) -> usize {
        MAX_PARTS
    }

    fn memories(&self) -> usize {
        MAX_PARTS
    }
}

/// A total, after one part of it grew. Growth that was allowed and then failed counts all the same: the total may be too
/// high, never too low.
fn grown(total: usize, current: usize, desired: usize) -> usize {
    total.saturating_add(desired.saturating_sub(current))
}

/// Everything that a component can import. WASI is linked interface by interface: what is not named here does not exist
/// for a component, sockets and HTTP above all.
pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    // io, clocks, secure random, standard streams
    wasmtime_wasi::p2::add_to_linker_proxy_interfaces_async(linker)?;
    filesystem::types::add_to_linker::<Guest, WasiFilesystem>(linker, Guest::filesystem)?;
    filesystem::preopens::add_to_linker::<Guest, WasiFilesystem>(linker, Guest::filesystem)?;
    random::insecure::add_to_linker::<Guest, WasiRandom>(linker, Guest::random)?;
    random::insecure_seed::add_to_linker::<Guest, WasiRandom>(linker, Guest::random)?;
    // Present because every program built for WASI names them; all empty.
    cli::environment::add_to_linker::<Guest, WasiCli>(linker, Guest::cli)?;
    cli::exit::add_to_linker::<Guest, WasiCli>(linker, Guest::cli)?;
    cli::terminal_input::add_to_linker::<Guest, WasiCli>(linker, Guest::cli)?;
    cli::terminal_output::add_to_linker::<Guest, WasiCli>(linker, Guest::cli)?;
    cli::terminal_stdin::add_to_linker::<Guest, WasiCli>(linker, Guest::cli)?;
    cli::terminal_stdout::add_to_linker::<Guest, WasiCli>(linker, Guest::cli)?;
    cli::terminal_stderr::add_to_linker::<Guest, WasiCli>(linker, Guest::cli)?;
    notifications::add_to_linker::<Guest, HasNotifications>(linker, |guest| guest)?;
    Ok(())
}

struct HasNotifications;

impl HasData for HasNotifications {
    type Data<'a> = &'a mut Guest;
}

impl notifications::Host for Guest {
    fn progress(&mut self, done: f64, total: Option<f64>, message: Option<String>) {
        if let Some(notifier) = &self.notifier {
            notifier.progress(done, total, message);
        }
    }

    fn log(&mut self, level: LogLevel, logger: Option<String>, data: String) {
        if let Some(notifier) = &self.notifier {
            notifier.log(level, logger, &data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_cap_holds_for_all_memories_together() {
        let mut limiter = Limiter::new(Limits {
            max_memory: 1000,
            ..Limits::default()
        });
        assert!(limiter.memory_growing(0, 600, None).is_ok());
        assert!(limiter.memory_growing(600, 700, None).is_ok());
        assert!(limiter.memory_growing(0, 300, None).is_ok());
        let refused = limiter.memory_growing(0, 1, None).unwrap_err();
        assert_eq!(
            refused
                .downcast_ref::<MemoryCap>()
                .map(|MemoryCap(cap)| *cap),
            Some(1000)
        );
    }

    #[test]
    fn the_table_cap_holds_for_all_tables_together() {
        let mut limiter = Limiter::new(Limits::default());
        assert!(limiter.table_growing(0, MAX_TABLE_ELEMENTS, None).unwrap());
        let refused = limiter.table_growing(0, 1, None).unwrap_err();
        assert!(refused.is::<TableCap>(), "{refused}");
    }
}
