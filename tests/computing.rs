//! The ranking gives the same numbers natively, where its own tests run, and in the sandbox, where people meet it.

#[path = "fixtures/computing/src/computed.rs"]
mod computed;

use computed::computed;

use crate::harness::{Builder, fixtures};

#[test]
fn vectors_snapshots_and_scores_are_the_same_in_the_sandbox_to_the_last_bit() {
    let mut server = Builder::component(&fixtures().computing).start();
    let described = server.initialize("2025-11-25");
    let instructions = described["instructions"].as_str().unwrap();
    assert_eq!(instructions, computed());
    assert!(instructions.lines().count() > 8, "{instructions}");
}
