//! The contract as Rust types, generated from `wit/`. Nothing else is in this file.

#![allow(missing_docs, reason = "the documentation is in wit/mcp, item by item")]
#![allow(unreachable_pub, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../wit/mcp",
    world: "everything",
    exports: { default: async },
});

/// What the command line needs of a component that is a memory, from `wit/memory`.
pub mod administered {
    wasmtime::component::bindgen!({
        path: ["../wit/mcp", "../wit/memory"],
        world: "personal-memory:memory/administered",
        exports: { default: async },
        with: { "personal-memory:mcp/types@0.1.0": super::personal_memory::mcp::types },
    });
}
