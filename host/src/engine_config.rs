//! How components are compiled. Shared with `build.rs`, which compiles the embedded one ahead of time: the two must agree
//! or the result is refused at start (and compiled anew, which takes a hundred times as long).

use wasmtime::{Config, Result};

/// Settings that hold for every component, for the CPU that this runs on.
pub(crate) fn native() -> Config {
    let mut config = Config::new();
    // A guest that computes must come up for air, so that its deadline can be seen.
    config.epoch_interruption(true);
    config
}

/// The same for any CPU of a kind: what is compiled on one machine has to run on a person's older one.
pub(crate) fn portable(target: &str) -> Result<Config> {
    let mut config = native();
    config.target(target)?;
    if target.starts_with("x86_64") {
        for flag in X86_64_V2 {
            #[expect(
                unsafe_code,
                reason = "the flags only name instructions; the loader checks that the CPU has them"
            )]
            // SAFETY: wasmtime refuses code whose flags the CPU lacks (`Component::deserialize`).
            unsafe {
                config.cranelift_flag_enable(flag);
            }
        }
    }
    Ok(config)
}

/// The x86-64-v2 level of the psABI: every desktop CPU since about 2009, and what SIMD in WebAssembly wants.
const X86_64_V2: [&str; 6] = [
    "has_cmpxchg16b",
    "has_sse3",
    "has_ssse3",
    "has_sse41",
    "has_sse42",
    "has_popcnt",
];
