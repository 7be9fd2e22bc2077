//! Running machine code where it lies in the program.
//!
//! wasmtime copies precompiled code into memory of its own and makes that executable: six megabytes to copy, and 1,600
//! pages to fetch, at each start. The same code lies in the program's file already. It is mapped with the program, and a
//! page of it is read when it is first used, from the memory of whoever used it before. All that is missing is the
//! permission to execute it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use rustix::mm::{MprotectFlags, mprotect};
use wasmtime::component::Component;
use wasmtime::error::Context;
use wasmtime::{CustomCodeMemory, Engine};

use crate::engine_config;

/// The unit of permissions on this platform. Machine code that `build.rs` made begins with one, within its file.
const PAGE_BYTES: usize = 4096;

/// wasmtime keeps a register of all code in a process, by address: the same code can't be in it twice.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Loads machine code that is part of the program, without a copy.
///
/// # Errors
///
/// Something runs in place already, the code does not begin with a page, or wasmtime or the system refuses it. A copy may
/// work then.
pub(super) fn load(native: &'static [u8]) -> Result<(Engine, Component)> {
    ensure!(
        native.as_ptr().addr().is_multiple_of(PAGE_BYTES),
        "it does not begin with a page"
    );
    ensure!(
        !TAKEN.swap(true, Ordering::Relaxed),
        "other code runs in place already"
    );
    let mut config = engine_config::portable(env!("PERSONAL_MEMORY_TARGET"))?;
    config.with_custom_code_memory(Some(Arc::new(Permissions)));
    let engine = Engine::new(&config)?;
    #[expect(
        unsafe_code,
        reason = "machine code can only be trusted, and this is part of the program itself"
    )]
    // SAFETY: the bytes were made by `build.rs` and are embedded in the program, as trustworthy as its own code, live as
    // long as it does and are never written to. Version, settings and CPU features are checked by wasmtime.
    let component = unsafe { Component::deserialize_raw(&engine, native.into()) }?;
    Ok((engine, component))
}

/// Gives the permission to execute.
struct Permissions;

impl CustomCodeMemory for Permissions {
    fn required_alignment(&self) -> usize {
        PAGE_BYTES
    }

    fn publish_executable(&self, start: *const u8, length: usize) -> wasmtime::Result<()> {
        let flags = MprotectFlags::READ | MprotectFlags::EXEC;
        #[expect(unsafe_code, reason = "permissions of memory are what this is about")]
        // SAFETY: the range is part of the program's constants, which nobody writes to with or without this.
        unsafe { mprotect(start.cast_mut().cast(), length, flags) }
            .context("the system does not let it be executed where it lies")
    }

    /// Does nothing: constants must not become writable, which is what wasmtime would have here.
    fn unpublish_executable(&self, _: *const u8, _: usize) -> wasmtime::Result<()> {
        Ok(())
    }
}
