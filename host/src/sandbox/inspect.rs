//! What a component wants and offers, told without running any of it.

use anyhow::Result;
use wasmtime::component::Linker;

use super::code::Code;
use super::guest;
use super::interfaces::{Indices, is_known};

/// What is behind each of the interfaces that are linked (see `guest::link`), as far as it reaches out of the sandbox.
const LINKED: [(&str, &str); 22] = [
    (
        "personal-memory:mcp/notifications",
        "progress and log messages for the client",
    ),
    ("personal-memory:mcp/types", "types only"),
    ("wasi:cli/environment", "no variables, no arguments"),
    ("wasi:cli/exit", "ends the call"),
    ("wasi:cli/stderr", "standard error, so much a call"),
    ("wasi:cli/stdin", "empty"),
    ("wasi:cli/stdout", "standard error, so much a call"),
    ("wasi:cli/terminal-input", "no terminal"),
    ("wasi:cli/terminal-output", "no terminal"),
    ("wasi:cli/terminal-stderr", "no terminal"),
    ("wasi:cli/terminal-stdin", "no terminal"),
    ("wasi:cli/terminal-stdout", "no terminal"),
    ("wasi:clocks/monotonic-clock", "the time"),
    ("wasi:clocks/wall-clock", "the time"),
    (
        "wasi:filesystem/preopens",
        "the directories that are named with --dir and --data-dir, else none",
    ),
    (
        "wasi:filesystem/types",
        "the directories that are named with --dir and --data-dir, else none",
    ),
    ("wasi:io/error", "nothing outside"),
    ("wasi:io/poll", "nothing outside"),
    ("wasi:io/streams", "nothing outside"),
    ("wasi:random/random", "random numbers"),
    ("wasi:random/insecure", "random numbers"),
    ("wasi:random/insecure-seed", "random numbers"),
];

/// The revision of WASI that is linked: 0.2, any patch.
const WASI_VERSION: &str = "0.2.";

/// Something that a component imports.
#[derive(Clone, Debug)]
pub struct Import {
    /// As the component names it, with its version.
    pub name: String,
    /// What it gets; `None`: it is not offered.
    pub gets: Option<&'static str>,
}

/// Something that a component exports.
#[derive(Clone, Debug)]
pub struct Export {
    /// As the component names it, with its version.
    pub name: String,
    /// It is an interface of the contract, and will be used.
    pub is_used: bool,
}

/// What a component is, seen from outside.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// In the component's order.
    pub imports: Vec<Import>,
    /// In the component's order.
    pub exports: Vec<Export>,
    /// Why it would not start; `None` if nothing is in the way. What it says to its settings shows only when it runs.
    pub obstacle: Option<String>,
}

/// Looks at a component.
///
/// # Errors
///
/// It is none, or can't be read or compiled.
pub fn inspect(code: &Code) -> Result<Inspection> {
    let loaded = code.load()?;
    let (engine, component) = (&loaded.engine, &loaded.component);
    let mut linker = Linker::new(engine);
    guest::link(&mut linker)?;
    let linked = linker.instantiate_pre(component);
    let obstacle = linked.and_then(|template| Indices::new(&template)).err();
    let kind = component.component_type();
    let import = |(name, _): (&str, _)| Import {
        name: name.to_owned(),
        gets: gets(name),
    };
    let export = |(name, _): (&str, _)| Export {
        name: name.to_owned(),
        is_used: is_known(name),
    };
    Ok(Inspection {
        imports: kind.imports(engine).map(import).collect(),
        exports: kind.exports(engine).map(export).collect(),
        obstacle: obstacle.map(|error| format!("{error:#}")),
    })
}

/// What an import gets. Versions of WASI are compatible within 0.2; our own are what they are.
fn gets(import: &str) -> Option<&'static str> {
    let (name, version) = import.split_once('@').unwrap_or((import, ""));
    let is_ours = name.starts_with("personal-memory:") && version == "0.1.0";
    let found = LINKED.iter().find(|(linked, _)| *linked == name);
    found
        .filter(|_| is_ours || version.starts_with(WASI_VERSION))
        .map(|(_, gets)| *gets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{MEMORY, RETRIEVAL};

    #[test]
    fn our_own_components_get_all_that_they_want() {
        for code in [MEMORY, RETRIEVAL] {
            let inspection = inspect(&code).unwrap();
            assert_eq!(inspection.obstacle, None);
            for import in &inspection.imports {
                assert!(import.gets.is_some(), "{}", import.name);
            }
            assert!(
                inspection
                    .exports
                    .iter()
                    .any(|export| export.is_used && export.name.contains("mcp/server"))
            );
        }
    }

    /// A linker refuses a name that it has already.
    #[test]
    fn what_is_said_to_be_linked_is_linked_and_nothing_else_of_wasi() {
        const PATCHES: std::ops::Range<u32> = 0..64;
        const WITHHELD: [&str; 6] = [
            "wasi:sockets/tcp",
            "wasi:sockets/network",
            "wasi:sockets/ip-name-lookup",
            "wasi:http/outgoing-handler",
            "wasi:clocks/timezone",
            "wasi:keyvalue/store",
        ];
        let engine = Code::load(&MEMORY).unwrap().engine;
        let mut linker = Linker::new(&engine);
        guest::link(&mut linker).unwrap();
        let mut has = |name: &str| {
            let version = PATCHES.map(|patch| format!("{name}@{WASI_VERSION}{patch}"));
            let ours = std::iter::once(format!("{name}@0.1.0"));
            let mut names = version.chain(ours);
            names.any(|name| linker.root().func_wrap(&name, |_, (): ()| Ok(())).is_err())
        };
        let reaches_out = |(name, _): &&(&str, &str)| *name != "personal-memory:mcp/types";
        for (name, _) in LINKED.iter().filter(reaches_out) {
            assert!(has(name), "{name}");
        }
        for name in WITHHELD {
            assert!(!has(name), "{name}");
        }
    }

    #[test]
    fn what_is_not_linked_is_not_granted() {
        for name in [
            "wasi:sockets/tcp@0.2.6",
            "wasi:http/outgoing-handler@0.2.6",
            "wasi:cli/stdin@0.3.0",
            "env",
            "wasi:cli/stdin",
        ] {
            assert_eq!(gets(name), None, "{name}");
        }
        assert!(gets("wasi:cli/stdin@0.2.0").is_some());
    }
}
