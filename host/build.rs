//! Builds the components for wasm32-wasip2, compiles them to native code and leaves both where `src/sandbox/code.rs`
//! embeds them from. So `cargo build` alone gives one binary that starts without a compiler.

#[path = "src/engine_config.rs"]
mod engine_config;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

const GUEST_TARGET: &str = "wasm32-wasip2";

/// The components that lie in the binary, by their packages.
const COMPONENTS: [&str; 2] = ["memory", "retrieval"];

fn main() -> Result<()> {
    let out_dir = PathBuf::from(env::var("OUT_DIR")?);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("the host lies in a workspace")?
        .to_owned();
    for input in [
        "guest",
        "wit",
        "Cargo.lock",
        "Cargo.toml",
        "host/src/engine_config.rs",
        "host/build.rs",
    ] {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(input).display()
        );
    }
    let target = env::var("TARGET")?;
    println!("cargo::rustc-env=PERSONAL_MEMORY_TARGET={target}");

    for component in COMPONENTS {
        let wasm = build_guest(&workspace, &out_dir, component)?;
        let native = precompile(&wasm, &target)?;
        fs::write(out_dir.join(format!("{component}.wasm")), wasm)?;
        fs::write(out_dir.join(format!("{component}.native")), native)?;
    }
    Ok(())
}

/// Builds one component and returns it.
fn build_guest(workspace: &Path, out_dir: &Path, package: &str) -> Result<Vec<u8>> {
    // A target directory of its own: the outer cargo holds the lock of the usual one.
    let target_dir = out_dir.join("guest");
    let status = Command::new(env::var("CARGO")?)
        .current_dir(workspace)
        .args([
            "build",
            "--locked",
            "--package",
            package,
            "--target",
            GUEST_TARGET,
            "--profile",
            "component",
            "--target-dir",
        ])
        .arg(&target_dir)
        // Settings of the outer build that are meant for the host.
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("RUSTC_WRAPPER")
        .env("CARGO_ENCODED_RUSTFLAGS", guest_rustflags(workspace))
        .status()
        .context("cargo can't be started")?;
    if !status.success() {
        bail!(
            "the component `{package}` doesn't build; if the target is missing: rustup target add {GUEST_TARGET}"
        );
    }
    let file = target_dir
        .join(GUEST_TARGET)
        .join("component")
        .join(format!("{package}.wasm"));
    fs::read(&file).with_context(|| format!("{} was not built", file.display()))
}

/// SIMD, which WebAssembly has to be asked for, and no directory of the builder's in messages of panics.
fn guest_rustflags(workspace: &Path) -> String {
    let mut flags = vec!["-Ctarget-feature=+simd128".to_owned()];
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    for (directory, name) in [(Some(workspace.to_owned()), "."), (cargo_home, "cargo")] {
        if let Some(directory) = directory.as_ref().and_then(|path| path.to_str()) {
            flags.push(format!("--remap-path-prefix={directory}={name}"));
        }
    }
    // Cargo separates the flags of this variable by a character that no path has.
    flags.join("\u{1f}")
}

fn precompile(wasm: &[u8], target: &str) -> Result<Vec<u8>> {
    let engine = wasmtime::Engine::new(&engine_config::portable(target)?)?;
    Ok(engine.precompile_component(wasm)?)
}
