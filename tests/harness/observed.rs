//! The memory in a host of the tests' own, which sees every write at the WASI boundary and can let it fail. That it
//! runs there also shows that nothing but the contract and WASI connects it with the program.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::json;
use wasmtime::component::{Component, Linker, Resource, ResourceTable};
use wasmtime::{Engine, Store, StoreContextMut};
use wasmtime_wasi::filesystem::WasiFilesystemView as _;
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Descriptor, ErrorCode, Host as _, HostDescriptor as _,
};
use wasmtime_wasi::p2::bindings::sync::io::streams::{
    Host as _, HostOutputStream as _, OutputStream, StreamError,
};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

use personal_memory::sandbox::{Code, MEMORY};

/// The contract as any host gets it from the WIT: this one shares nothing with the program's.
pub(super) mod contract {
    wasmtime::component::bindgen!({
        path: ["../wit/mcp", "../wit/memory"],
        world: "personal-memory:memory/memory",
    });
}

use self::contract::Memory;
use self::contract::exports::personal_memory::mcp::tools::ToolOutcome;
use self::contract::exports::personal_memory::mcp::types::{
    ClientCapabilities, ContentBody, RequestContext,
};
use self::contract::exports::personal_memory::memory::admin::NewEntry;

/// Where wasmtime-wasi puts the functions that are watched here. Were that another version's, nothing would be seen and
/// the tests would fail.
pub(super) const FILESYSTEM: &str = "wasi:filesystem/types@0.2.12";
pub(super) const STREAMS: &str = "wasi:io/streams@0.2.12";

/// A call that the memory made. Files and streams are told apart by their handles.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    /// A stream (the second) that appends to a file (the first).
    Append(u32, u32),
    /// Bytes for a stream.
    Write(u32, String),
    /// A file or directory is made durable.
    Sync(u32),
    /// A file is cut.
    SetSize(u64),
}

/// What a disk does wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Fault {
    #[default]
    None,
    Sync,
    Append,
}

#[derive(Default)]
struct Watched {
    events: Vec<Event>,
    fault: Fault,
}

struct Host {
    wasi: WasiCtx,
    table: ResourceTable,
    watched: Arc<Mutex<Watched>>,
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl Host {
    /// Notes an event; returns the fault that is to happen.
    fn note(&self, event: Event) -> Fault {
        let mut watched = self.watched.lock().unwrap();
        watched.events.push(event);
        watched.fault
    }
}

/// The memory over a directory whose every write is watched.
pub(crate) struct Observed {
    store: Store<Host>,
    memory: Memory,
    watched: Arc<Mutex<Watched>>,
}

/// The memory, compiled once.
pub(crate) fn compiled() -> &'static (Engine, Component) {
    static COMPILED: OnceLock<(Engine, Component)> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let Code::Embedded { wasm, .. } = MEMORY else {
            panic!("the memory is embedded")
        };
        let engine = Engine::default();
        let component = Component::from_binary(&engine, wasm).unwrap();
        (engine, component)
    })
}

impl Observed {
    pub(crate) fn start(data: &Path) -> Observed {
        let (engine, component) = compiled();
        let mut linker = Linker::new(engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).unwrap();
        watch(&mut linker).unwrap();
        let mut wasi = WasiCtx::builder();
        wasi.preopened_dir(data, "/data", FsPerms::ReadWrite)
            .unwrap();
        let watched = Arc::<Mutex<Watched>>::default();
        let host = Host {
            wasi: wasi.build(),
            table: ResourceTable::new(),
            watched: Arc::clone(&watched),
        };
        let mut store = Store::new(engine, host);
        let memory = Memory::instantiate(&mut store, component, &linker).unwrap();
        memory
            .personal_memory_mcp_server()
            .call_configure(&mut store, &"{}".to_owned())
            .unwrap()
            .unwrap();
        Observed {
            store,
            memory,
            watched,
        }
    }

    /// Calls a tool; returns its text and whether it is an error.
    pub(crate) fn call(&mut self, tool: &str, arguments: &serde_json::Value) -> (String, bool) {
        let context = request_context();
        let tools = self.memory.personal_memory_mcp_tools();
        let outcome = tools
            .call_call(
                &mut self.store,
                &context,
                tool,
                &arguments.to_string(),
                None,
            )
            .unwrap()
            .unwrap();
        let ToolOutcome::Complete(result) = outcome else {
            panic!("{tool} needs something")
        };
        let ContentBody::Text(text) = &result.content[0].body else {
            panic!("{tool} gave no text")
        };
        (text.clone(), result.is_error)
    }

    pub(crate) fn save(&mut self, text: &str) -> (String, bool) {
        self.call("memory_save", &json!({"text": text}))
    }

    /// Imports texts as one batch; returns how many are new.
    pub(crate) fn import(&mut self, texts: &[String]) -> u32 {
        let entry = |text: &String| NewEntry {
            text: text.clone(),
            kind: None,
            tags: Vec::new(),
            importance: None,
            created_at: None,
            last_accessed: None,
            session: None,
            forgotten_at: None,
        };
        let entries: Vec<NewEntry> = texts.iter().map(entry).collect();
        let admin = self.memory.personal_memory_memory_admin();
        let report = admin.call_import_batch(&mut self.store, &entries, false);
        report.unwrap().unwrap().added
    }

    /// What happened since the last time.
    pub(crate) fn events(&self) -> Vec<Event> {
        std::mem::take(&mut self.watched.lock().unwrap().events)
    }

    pub(crate) fn set_fault(&self, fault: Fault) {
        self.watched.lock().unwrap().fault = fault;
    }
}

/// A client that declares nothing.
pub(super) fn request_context() -> RequestContext {
    RequestContext {
        protocol_version: "2025-11-25".to_owned(),
        client: None,
        client_capabilities: ClientCapabilities::empty(),
        declared_capabilities: "{}".to_owned(),
        session: "session".to_owned(),
        progress: false,
        log_level: None,
        meta: None,
        deadline_ms: 10_000,
    }
}

/// Puts notes in front of what writes.
fn watch(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let mut filesystem = linker.instance(FILESYSTEM)?;
    filesystem.func_wrap(
        "[method]descriptor.append-via-stream",
        |mut store: StoreContextMut<'_, Host>, (fd,): (Resource<Descriptor>,)| {
            let (host, file) = (store.data_mut(), fd.rep());
            let mut view = host.filesystem();
            let stream = match view.append_via_stream(fd) {
                Ok(stream) => stream,
                Err(error) => return Ok((Err(view.convert_error_code(error)?),)),
            };
            host.note(Event::Append(file, stream.rep()));
            Ok((Ok(stream),))
        },
    )?;
    for name in ["[method]descriptor.sync", "[method]descriptor.sync-data"] {
        filesystem.func_wrap(
            name,
            |mut store: StoreContextMut<'_, Host>, (fd,): (Resource<Descriptor>,)| {
                let host = store.data_mut();
                if host.note(Event::Sync(fd.rep())) == Fault::Sync {
                    return Ok((Err(ErrorCode::Io),));
                }
                let mut view = host.filesystem();
                let synced = view.sync_data(fd);
                answer(&mut view, synced)
            },
        )?;
    }
    filesystem.func_wrap(
        "[method]descriptor.set-size",
        |mut store: StoreContextMut<'_, Host>, (fd, size): (Resource<Descriptor>, u64)| {
            let host = store.data_mut();
            host.note(Event::SetSize(size));
            let mut view = host.filesystem();
            let cut = view.set_size(fd, size);
            answer(&mut view, cut)
        },
    )?;
    let mut streams = linker.instance(STREAMS)?;
    for name in [
        "[method]output-stream.write",
        "[method]output-stream.blocking-write-and-flush",
    ] {
        streams.func_wrap(
            name,
            move |mut store: StoreContextMut<'_, Host>,
                  (stream, bytes): (Resource<OutputStream>, Vec<u8>)| {
                let host = store.data_mut();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if host.note(Event::Write(stream.rep(), text)) == Fault::Append {
                    return Ok((Err(StreamError::Closed),));
                }
                let written = if name.ends_with("flush") {
                    host.table.blocking_write_and_flush(stream, bytes)
                } else {
                    host.table.write(stream, bytes)
                };
                match written {
                    Ok(()) => Ok((Ok(()),)),
                    Err(error) => Ok((Err(host.table.convert_stream_error(error)?),)),
                }
            },
        )?;
    }
    Ok(())
}

fn answer(
    view: &mut wasmtime_wasi::filesystem::WasiFilesystemCtxView<'_>,
    outcome: FsResult<()>,
) -> wasmtime::Result<(Result<(), ErrorCode>,)> {
    match outcome {
        Ok(()) => Ok((Ok(()),)),
        Err(error) => Ok((Err(view.convert_error_code(error)?),)),
    }
}
