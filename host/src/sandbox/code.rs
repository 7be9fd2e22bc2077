//! Where a component's machine code comes from.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use wasmtime::component::Component;
use wasmtime::{Cache, CacheConfig, Engine};

use crate::engine_config;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod in_place;

/// A component to run.
#[derive(Clone, Debug)]
pub enum Code {
    /// One of those that are part of this program: compiled ahead of time, and as WebAssembly for where that does not fit.
    Embedded {
        /// Machine code from `build.rs`.
        native: &'static [u8],
        /// What it was made from.
        wasm: &'static [u8],
    },
    /// A `.wasm` file. It is compiled at start; wasmtime's cache makes that fast from the second time on.
    File(PathBuf),
}

/// Bytes that begin with a page, as they must to be executed where they lie.
#[repr(C, align(4096))]
struct PageAligned<B: ?Sized>(B);

/// A component that `build.rs` left for us.
macro_rules! embedded {
    ($name:literal) => {
        Code::Embedded {
            native: {
                static NATIVE: &PageAligned<[u8]> = &PageAligned(*include_bytes!(concat!(
                    env!("OUT_DIR"),
                    "/",
                    $name,
                    ".native"
                )));
                &NATIVE.0
            },
            wasm: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".wasm")),
        }
    };
}

/// The personal memory.
pub const MEMORY: Code = embedded!("memory");

/// The retrieval lab.
pub const RETRIEVAL: Code = embedded!("retrieval");

/// How a component became executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The embedded machine code was taken as it is.
    Precompiled,
    /// It was compiled now.
    Compiled,
}

/// A component that is ready to be instantiated.
pub(super) struct Loaded {
    pub(super) engine: Engine,
    pub(super) component: Component,
    pub(super) origin: Origin,
}

impl Code {
    /// Loads it. Nothing of the component runs yet.
    pub(super) fn load(&self) -> Result<Loaded> {
        match self {
            Code::Embedded { native, wasm } => load_precompiled(native).or_else(|error| {
                tracing::warn!("the precompiled component does not fit this machine, compiling it instead: {error:#}");
                compile(wasm)
            }),
            Code::File(path) => compile_file(path),
        }
    }
}

fn load_precompiled(native: &'static [u8]) -> Result<Loaded> {
    let (engine, component) = load_in_place(native).or_else(|error| {
        tracing::debug!("machine code is copied before it is run: {error:#}");
        load_copied(native)
    })?;
    Ok(Loaded {
        engine,
        component,
        origin: Origin::Precompiled,
    })
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use in_place::load as load_in_place;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn load_in_place(_: &'static [u8]) -> Result<(Engine, Component)> {
    bail!("it was not tried on this platform")
}

fn load_copied(native: &[u8]) -> Result<(Engine, Component)> {
    let engine = Engine::new(&engine_config::portable(env!("PERSONAL_MEMORY_TARGET"))?)?;
    #[expect(
        unsafe_code,
        reason = "machine code can only be trusted, and this is part of the program itself"
    )]
    // SAFETY: the bytes were made by `build.rs` and are embedded in the program, as trustworthy as its own code.
    // Version, settings and CPU features are checked by wasmtime.
    let component = unsafe { Component::deserialize(&engine, native) }?;
    Ok((engine, component))
}

fn compile(wasm: &[u8]) -> Result<Loaded> {
    let engine = Engine::new(&engine_config::native())?;
    let component = Component::from_binary(&engine, wasm)?;
    Ok(Loaded {
        engine,
        component,
        origin: Origin::Compiled,
    })
}

/// How every WebAssembly binary begins (core specification, "Binary Format, Modules").
const WASM_MAGIC: &[u8] = b"\0asm";

/// What follows in a component (component model, "Binary Format"): version 13, layer 1.
const COMPONENT_VERSION: &[u8] = &[0x0d, 0x00, 0x01, 0x00];

fn compile_file(path: &Path) -> Result<Loaded> {
    let wasm = std::fs::read(path).with_context(|| format!("{} can't be read", path.display()))?;
    if !wasm.starts_with(WASM_MAGIC) {
        bail!("{} is not a WebAssembly file", path.display());
    }
    if !wasm[WASM_MAGIC.len()..].starts_with(COMPONENT_VERSION) {
        bail!(
            "{} is a WebAssembly module and not a component; build it for wasm32-wasip2",
            path.display()
        );
    }
    let mut config = engine_config::native();
    // Without a cache (no home directory, say) it only takes longer.
    match Cache::new(CacheConfig::new()) {
        Ok(cache) => {
            config.cache(Some(cache));
        }
        Err(error) => tracing::debug!("no cache for compiled components: {error:#}"),
    }
    let engine = Engine::new(&config)?;
    let component = Component::from_binary(&engine, &wasm).map_err(|error| {
        error.context(format!(
            "{} is not a component that can be run",
            path.display()
        ))
    })?;
    Ok(Loaded {
        engine,
        component,
        origin: Origin::Compiled,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machine code that `component` was compiled to with other settings than ours.
    fn foreign(change: impl FnOnce(&mut wasmtime::Config)) -> &'static [u8] {
        let Code::Embedded { wasm, .. } = MEMORY else {
            unreachable!("the memory is embedded")
        };
        let mut config = engine_config::portable(env!("PERSONAL_MEMORY_TARGET")).unwrap();
        change(&mut config);
        Engine::new(&config)
            .unwrap()
            .precompile_component(wasm)
            .unwrap()
            .leak()
    }

    fn load(native: &'static [u8]) -> Origin {
        let Code::Embedded { wasm, .. } = MEMORY else {
            unreachable!("the memory is embedded")
        };
        Code::Embedded { native, wasm }.load().unwrap().origin
    }

    #[test]
    fn the_embedded_component_needs_no_compiler() {
        assert_eq!(MEMORY.load().unwrap().origin, Origin::Precompiled);
    }

    /// One of them runs in place at most: wasmtime panics over code that it knows already.
    #[test]
    fn the_same_code_can_be_loaded_while_it_runs() {
        let first = MEMORY.load().unwrap();
        let second = MEMORY.load().unwrap();
        assert_eq!(first.origin, second.origin);
    }

    fn without_epochs(config: &mut wasmtime::Config) {
        config.epoch_interruption(false);
    }

    #[test]
    fn machine_code_that_does_not_fit_is_compiled_anew() {
        assert_eq!(
            load(foreign(without_epochs)),
            Origin::Compiled,
            "other settings"
        );
        assert_eq!(load(b"no machine code at all"), Origin::Compiled, "garbage");
        assert_eq!(load(b""), Origin::Compiled, "nothing");
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn machine_code_for_a_newer_cpu_is_compiled_anew() {
        // Most CPUs lack some of these. One that has them all can use the code as it is, and must.
        let newer = foreign(|config| {
            for flag in [
                "has_avx",
                "has_avx2",
                "has_fma",
                "has_avx512f",
                "has_avx512vl",
                "has_avx512bitalg",
            ] {
                #[expect(unsafe_code, reason = "the result is only loaded, never run")]
                // SAFETY: as in `engine_config::portable`.
                unsafe {
                    config.cranelift_flag_enable(flag);
                }
            }
        });
        let fits = std::is_x86_feature_detected!("avx512bitalg")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("fma");
        assert_eq!(
            load(newer),
            if fits {
                Origin::Precompiled
            } else {
                Origin::Compiled
            }
        );
    }
}
