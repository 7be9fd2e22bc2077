//! `personal-memory`: see `personal-memory --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    personal_memory::cli::main()
}
