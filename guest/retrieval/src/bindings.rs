//! Generated code and nothing else: the only file that knows WIT.

#![allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    reason = "generated; the contract documents itself in wit/"
)]

wit_bindgen::generate!({
    path: ["../../wit/mcp", "wit"],
    world: "personal-memory:retrieval/retrieval",
    generate_all,
});

export!(Component with_types_in self);

use super::exports::Component;
