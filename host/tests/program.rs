//! The program starts. (What it does is tested from outside, by the package in `tests/`. Cargo builds a program before
//! the tests of its own package only: this one is why it is there.)

use std::process::Command;

#[test]
fn the_version_is_the_package_s() {
    let output = Command::new(env!("CARGO_BIN_EXE_personal-memory"))
        .arg("--version")
        .output()
        .unwrap();
    let expected = format!("personal-memory {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
