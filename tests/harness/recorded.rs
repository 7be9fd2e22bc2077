//! The memory in a host that records every change of its disk at the WASI boundary, and can let any of them fail.

mod link;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::Value;
use wasmtime::Store;
use wasmtime::component::{Linker, Resource, ResourceTable};
use wasmtime_wasi::filesystem::WasiFilesystemView as _;
use wasmtime_wasi::p2::StreamError as WasiStreamError;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Descriptor, ErrorCode, Host as _, HostDescriptor as _, OpenFlags,
};
use wasmtime_wasi::p2::bindings::sync::io::streams::{
    Host as _, HostOutputStream as _, OutputStream, StreamError,
};
use wasmtime_wasi::{FsPerms, HostWallClock, WasiCtx, WasiCtxView, WasiView};

use self::link::{OpenArguments, record};
use super::disk::{Image, Op};
use super::observed::contract::Memory;
use super::observed::contract::exports::personal_memory::mcp::maintenance::StepOutcome;
use super::observed::contract::exports::personal_memory::mcp::tools::ToolOutcome;
use super::observed::contract::exports::personal_memory::mcp::types::ContentBody;
use super::observed::contract::exports::personal_memory::memory::admin::{
    Entry, Failure, Finding, NewEntry,
};
use super::observed::{compiled, request_context};

/// How a disk fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Failing {
    /// Input/output error: nothing was done.
    Io,
    /// No space: of a write a half was done.
    Full,
}

/// What was done to a disk, by all processes.
#[derive(Default)]
struct Log {
    ops: Vec<Op>,
    now: Image,
    next_file: usize,
    /// The change that fails: how many come before it, and how. Once, or from then on.
    fault: Option<(usize, Failing, bool)>,
    attempts: usize,
}

impl Log {
    fn failing(&mut self) -> Option<Failing> {
        let number = self.attempts;
        self.attempts += 1;
        let (at, how, for_ever) = self.fault?;
        (number == at || for_ever && number > at).then_some(how)
    }

    fn done(&mut self, op: Op) {
        self.now.apply(&op);
        self.ops.push(op);
    }
}

/// A real directory, everything that happened to it since, and what it was before.
#[derive(Clone)]
pub(crate) struct Disk {
    directory: PathBuf,
    log: Arc<Mutex<Log>>,
    pub(crate) before: Image,
}

impl Disk {
    pub(crate) fn new(directory: &Path) -> Disk {
        let before = Image::of(directory);
        let log = Log {
            now: before.clone(),
            next_file: before.free_number(),
            ..Log::default()
        };
        Disk {
            directory: directory.to_owned(),
            log: Arc::new(Mutex::new(log)),
            before,
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }

    /// All that was done.
    pub(crate) fn ops(&self) -> Vec<Op> {
        self.log().ops.clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.log().ops.len()
    }

    /// Lets a change fail, the `after`th from the beginning.
    pub(crate) fn fail(&self, after: usize, how: Failing, for_ever: bool) {
        self.log().fault = Some((after, how, for_ever));
    }

    /// Lets all changes succeed from now on. Returns whether one has failed.
    pub(crate) fn mend(&self) -> bool {
        let mut log = self.log();
        let fault = log.fault.take();
        fault.is_some_and(|(at, ..)| log.attempts > at)
    }

    /// The record is what the directory has; else it would prove nothing.
    pub(crate) fn assert_is_recorded(&self) {
        let real = Image::of(&self.directory);
        assert_eq!(self.log().now.files(), real.files());
    }
}

/// What a handle of the guest stands for.
#[derive(Clone, Copy)]
enum Opened {
    File(usize),
    Directory,
}

struct Host {
    wasi: WasiCtx,
    table: ResourceTable,
    disk: Disk,
    opened: HashMap<u32, Opened>,
    /// Files that streams append to.
    appending: HashMap<u32, usize>,
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// A clock that stands still.
struct Stopped(u64);

impl HostWallClock for Stopped {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::from_secs(self.0)
    }
}

/// There is no person here who could say yes.
const NOBODY_IS_ASKED: &str = r#"{"settings":{"confirm":"none"}}"#;

/// An instance of the memory over a recorded disk: what a process is to the disk.
pub(crate) struct Process {
    store: Store<Host>,
    memory: Memory,
}

impl Process {
    pub(crate) fn start(disk: &Disk) -> Process {
        Process::start_at(disk, None)
    }

    /// One whose clock stands still, at so many seconds since 1970.
    pub(crate) fn start_at(disk: &Disk, seconds: Option<u64>) -> Process {
        let (engine, component) = compiled();
        let mut linker = Linker::new(engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).unwrap();
        record(&mut linker).unwrap();
        let mut wasi = WasiCtx::builder();
        wasi.preopened_dir(&disk.directory, "/data", FsPerms::ReadWrite)
            .unwrap();
        if let Some(seconds) = seconds {
            wasi.wall_clock(Stopped(seconds));
        }
        let host = Host {
            wasi: wasi.build(),
            table: ResourceTable::new(),
            disk: disk.clone(),
            opened: HashMap::new(),
            appending: HashMap::new(),
        };
        let mut store = Store::new(engine, host);
        let memory = Memory::instantiate(&mut store, component, &linker).unwrap();
        memory
            .personal_memory_mcp_server()
            .call_configure(&mut store, &NOBODY_IS_ASKED.to_owned())
            .unwrap()
            .unwrap();
        Process { store, memory }
    }

    /// Calls a tool; its structured content, or the text of its refusal.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let arguments = arguments.to_string();
        let outcome = self.memory.personal_memory_mcp_tools().call_call(
            &mut self.store,
            &request_context(),
            tool,
            &arguments,
            None,
        );
        let ToolOutcome::Complete(result) = outcome.unwrap().unwrap() else {
            panic!("{tool} needs something")
        };
        match (result.is_error, result.structured_content) {
            (false, Some(content)) => Ok(serde_json::from_str(&content).unwrap()),
            _ => match &result.content[0].body {
                ContentBody::Text(text) => Err(text.clone()),
                _ => panic!("{tool} gave no text"),
            },
        }
    }

    /// Every memory, the forgotten ones as well.
    pub(crate) fn export(&mut self) -> Result<Vec<Entry>, Failure> {
        let admin = self.memory.personal_memory_memory_admin();
        let mut entries = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = admin
                .call_export_page(&mut self.store, cursor.as_deref(), 1000, true)
                .unwrap()?;
            entries.extend(page.entries);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(entries);
            }
        }
    }

    pub(crate) fn import(&mut self, batch: &[NewEntry]) -> Result<Vec<String>, Failure> {
        let admin = self.memory.personal_memory_memory_admin();
        let report = admin.call_import_batch(&mut self.store, batch, false);
        report.unwrap().map(|report| report.ids)
    }

    pub(crate) fn restore(&mut self, id: &str) -> Result<(), Failure> {
        let admin = self.memory.personal_memory_memory_admin();
        let restored = admin.call_restore(&mut self.store, id);
        restored.unwrap().map(|_| ())
    }

    pub(crate) fn purge(&mut self, ids: &BTreeSet<String>) -> Result<(), Failure> {
        let ids: Vec<String> = ids.iter().cloned().collect();
        let admin = self.memory.personal_memory_memory_admin();
        admin.call_purge(&mut self.store, &ids).unwrap().map(|_| ())
    }

    pub(crate) fn verify(&mut self) -> Vec<Finding> {
        let admin = self.memory.personal_memory_memory_admin();
        let mut findings = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = admin
                .call_verify(&mut self.store, cursor.as_deref(), 10_000)
                .unwrap()
                .unwrap();
            findings.extend(page.findings);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return findings;
            }
        }
    }

    /// Tidies up to the end, or to a failure.
    pub(crate) fn maintain(&mut self) -> Result<(), String> {
        let maintenance = self.memory.personal_memory_mcp_maintenance();
        loop {
            let outcome = maintenance.call_step(&mut self.store, 1, None).unwrap()?;
            if matches!(outcome, StepOutcome::Done) {
                return Ok(());
            }
        }
    }
}

impl Host {
    fn file(&self, fd: u32) -> usize {
        match self.opened.get(&fd) {
            Some(Opened::File(file)) => *file,
            _ => panic!("{fd} is no file that was opened"),
        }
    }

    /// Does a change, unless it is to fail.
    fn change<T>(
        &mut self,
        op: Op,
        act: impl FnOnce(&mut Host) -> Result<T, ErrorCode>,
    ) -> Result<T, ErrorCode> {
        let failing = self.disk.log().failing();
        if let Some(how) = failing {
            return Err(match how {
                Failing::Io => ErrorCode::Io,
                Failing::Full => ErrorCode::InsufficientSpace,
            });
        }
        let outcome = act(self)?;
        self.disk.log().done(op);
        Ok(outcome)
    }

    fn open(
        &mut self,
        (fd, path_flags, path, oflags, flags): OpenArguments,
    ) -> Result<Resource<Descriptor>, ErrorCode> {
        let is_directory = path == "." || path.is_empty();
        let known = self.disk.log().now.named(&path);
        let name = path.clone();
        let open = move |host: &mut Host| {
            let mut view = host.filesystem();
            view.open_at(fd, path_flags, path, oflags, flags)
                .map_err(|error| view.convert_error_code(error).unwrap())
        };
        assert!(
            !oflags.contains(OpenFlags::TRUNCATE),
            "a change that is not recorded"
        );
        let (descriptor, opened) = match known {
            None if !is_directory && oflags.contains(OpenFlags::CREATE) => {
                let file = {
                    let mut log = self.disk.log();
                    log.next_file += 1;
                    log.next_file - 1
                };
                let descriptor = self.change(Op::Create { name, file }, open)?;
                (descriptor, Opened::File(file))
            }
            Some(file) => (open(self)?, Opened::File(file)),
            None => (open(self)?, Opened::Directory),
        };
        self.opened.insert(descriptor.rep(), opened);
        Ok(descriptor)
    }

    fn sync(&mut self, fd: u32) -> Result<(), ErrorCode> {
        let op = match self.opened.get(&fd) {
            Some(Opened::File(file)) => Op::SyncFile { file: *file },
            _ => Op::SyncDirectory,
        };
        // The real disk does not crash; it need not be waited for.
        self.change(op, |_| Ok(()))
    }

    fn write(
        &mut self,
        stream: Resource<OutputStream>,
        mut bytes: Vec<u8>,
        flush: bool,
    ) -> Result<(), StreamError> {
        let mut failing = None;
        if let Some(&file) = self.appending.get(&stream.rep()) {
            let mut log = self.disk.log();
            failing = log.failing();
            match failing {
                Some(Failing::Io) => bytes.clear(),
                Some(Failing::Full) => bytes.truncate(bytes.len() / 2),
                None => {}
            }
            let offset = log.now.size(file);
            if !bytes.is_empty() {
                let bytes = bytes.clone();
                log.done(Op::Write {
                    file,
                    offset,
                    bytes,
                });
            }
        }
        let written = if flush || failing.is_some() {
            self.table.blocking_write_and_flush(stream, bytes)
        } else {
            self.table.write(stream, bytes)
        };
        let code = match failing {
            None => None,
            Some(Failing::Io) => Some(5),
            Some(Failing::Full) => Some(28),
        };
        let outcome = match code {
            None => written,
            Some(code) => {
                written.unwrap_or_else(|_| panic!("the real disk fails"));
                let error = std::io::Error::from_raw_os_error(code);
                Err(WasiStreamError::LastOperationFailed(error.into()))
            }
        };
        outcome.map_err(|error| self.table.convert_stream_error(error).unwrap())
    }
}
