//! The contract as Rust types, generated from `wit/mcp`. Nothing else is in this file.

#![allow(missing_docs, reason = "the documentation is in wit/mcp, item by item")]
#![allow(unreachable_pub, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../wit/mcp",
    world: "everything",
    exports: { default: async },
});
