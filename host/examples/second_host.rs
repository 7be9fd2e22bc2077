//! Another host for the same component: `second_host memory.wasm DIRECTORY save TEXT`, or `... search QUERY`.
//!
//! Beside the program it has no MCP, no limits and no lock: one process at a time may use a store (`docs/reuse.md`).

use std::io::Write;

use serde_json::json;
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, Result, Store, bail, format_err};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

use self::contract::Everything;
use self::contract::exports::personal_memory::mcp::tools::ToolOutcome;
use self::contract::personal_memory::mcp::types::{
    ClientCapabilities, ContentBody, RequestContext,
};

/// The contract, as Rust.
mod contract {
    wasmtime::component::bindgen!({ path: "../wit/mcp", world: "everything" });
}

/// What the component gets of this machine.
struct Guest(WasiCtx, ResourceTable);

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.0,
            table: &mut self.1,
        }
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, directory, action, words] = &arguments[..] else {
        bail!("usage: second_host FILE.wasm DIRECTORY save|search WORDS");
    };
    let engine = Engine::default();
    let mut linker = Linker::new(&engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    let mut wasi = WasiCtx::builder();
    wasi.preopened_dir(directory, "/data", FsPerms::ReadWrite)?;
    let mut store = Store::new(&engine, Guest(wasi.build(), ResourceTable::new()));
    let component = Component::from_file(&engine, file)?;
    let memory = Everything::instantiate(&mut store, &component, &linker)?;

    let granted =
        json!({"settings": {}, "directories": [{"name": "data", "readOnly": false}]}).to_string();
    let server = memory.personal_memory_mcp_server();
    server
        .call_configure(&mut store, &granted)?
        .map_err(|refusal| format_err!("{refusal}"))?;
    let maintenance = memory.personal_memory_mcp_maintenance();
    while !maintenance
        .call_open(&mut store, 250)?
        .map_err(|reason| format_err!("{reason}"))?
    {
        // There is more to load.
    }

    let (tool, arguments) = match action.as_str() {
        "save" => ("memory_save", json!({"text": words})),
        _ => ("memory_search", json!({"query": words})),
    };
    let outcome = memory.personal_memory_mcp_tools().call_call(
        &mut store,
        &context(),
        tool,
        &arguments.to_string(),
        None,
    )?;
    let ToolOutcome::Complete(result) = outcome.map_err(|error| format_err!("{error:?}"))? else {
        bail!("{tool} needs something that is not offered here");
    };
    let ContentBody::Text(text) = &result.content[0].body else {
        bail!("{tool} gave no text");
    };
    writeln!(std::io::stdout(), "{text}")?;
    if result.is_error {
        bail!("{tool} refused");
    }
    Ok(())
}

/// Who is calling.
fn context() -> RequestContext {
    RequestContext {
        protocol_version: "2026-07-28".to_owned(),
        client: None,
        client_capabilities: ClientCapabilities::empty(),
        declared_capabilities: "{}".to_owned(),
        session: format!("rust-{}", std::process::id()),
        progress: false,
        log_level: None,
        meta: None,
        deadline_ms: 10_000,
    }
}
