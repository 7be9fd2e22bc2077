//! The memory under wasmtime through the contract: the program's own sandbox, without a process or a wire.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use personal_memory::sandbox::bindings::exports::personal_memory::mcp::{resources, tools};
use personal_memory::sandbox::bindings::personal_memory::mcp::types::{
    CacheScope, ClientCapabilities, ContentBody, Error, RequestContext, ResourceBody,
};
use personal_memory::sandbox::{
    Abnormal, Call, CallError, Cancel, Grant, Limits, MEMORY, Origin, Outcome, Sandbox,
    SandboxConfig,
};

use crate::harness::compiled;

/// The memory over a directory.
fn open(data: &Path, limits: Limits) -> Sandbox {
    let grant = Grant {
        name: "data".to_owned(),
        path: data.to_owned(),
        read_only: false,
    };
    let config = SandboxConfig {
        grants: vec![grant],
        limits,
        ..SandboxConfig::default()
    };
    Sandbox::new(&MEMORY, config).unwrap()
}

fn context() -> RequestContext {
    RequestContext {
        protocol_version: "2026-07-28".to_owned(),
        client: None,
        client_capabilities: ClientCapabilities::empty(),
        declared_capabilities: "{}".to_owned(),
        session: "session".to_owned(),
        progress: false,
        log_level: None,
        meta: None,
        deadline_ms: 10_000,
    }
}

fn make(sandbox: &mut Sandbox, call: &Call) -> Result<Outcome, CallError> {
    sandbox.call(&context(), call, &Cancel::default(), None)
}

fn call(
    sandbox: &mut Sandbox,
    name: &str,
    arguments: &str,
) -> Result<tools::ToolResult, CallError> {
    let call = Call::CallTool {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        resume: None,
    };
    match make(sandbox, &call)? {
        Outcome::Tool(tools::ToolOutcome::Complete(result)) => Ok(result),
        other => panic!("{name} gave {other:?}"),
    }
}

/// The text of a tool's result; an error if the tool says so.
fn text(sandbox: &mut Sandbox, name: &str, arguments: &Value) -> Result<String, String> {
    let result = call(sandbox, name, &arguments.to_string()).unwrap();
    assert_eq!(result.content.len(), 1);
    let ContentBody::Text(text) = &result.content[0].body else {
        panic!("{name} gave no text")
    };
    if result.is_error {
        Err(text.clone())
    } else {
        Ok(text.clone())
    }
}

fn read(sandbox: &mut Sandbox, uri: &str) -> Result<resources::ReadResult, CallError> {
    match make(
        sandbox,
        &Call::ReadResource {
            uri: uri.to_owned(),
            resume: None,
        },
    )? {
        Outcome::Read(resources::ReadOutcome::Complete(result)) => Ok(result),
        other => panic!("{uri} gave {other:?}"),
    }
}

#[test]
fn what_was_saved_is_found_also_by_a_later_instance() {
    let data = tempfile::tempdir().unwrap();
    let mut first = open(data.path(), Limits::default());
    assert_eq!(
        first.origin(),
        Origin::Precompiled,
        "no compiler runs at start"
    );
    assert_eq!(
        text(
            &mut first,
            "memory_save",
            &json!({"text": "the demo is on June 20"})
        )
        .unwrap(),
        "Saved m0."
    );
    drop(first);

    let mut second = open(data.path(), Limits::default());
    assert_eq!(
        text(&mut second, "memory_search", &json!({"query": "demo"})).unwrap(),
        "[m0] (episodic) the demo is on June 20"
    );
    assert_eq!(
        text(&mut second, "memory_search", &json!({"query": "kangaroo"})).unwrap(),
        "No matching memories."
    );
    assert_eq!(
        text(
            &mut second,
            "memory_save",
            &json!({"text": "the demo is on June 20"})
        )
        .unwrap(),
        "Already saved as m0."
    );

    let result = read(&mut second, "memory://entries/m0").unwrap();
    assert!(matches!(result.cache.scope, CacheScope::Private));
    assert_eq!(result.cache.ttl_ms, 0);
    let ResourceBody::Text(text) = &result.contents[0].body else {
        panic!("text was saved")
    };
    assert_eq!(text, "the demo is on June 20");
}

#[test]
fn the_profile_says_what_the_memory_has() {
    let data = tempfile::tempdir().unwrap();
    let sandbox = open(data.path(), Limits::default());
    let profile = sandbox.profile();
    assert_eq!(profile.description.name, "personal-memory");
    assert!(profile.description.keeps_store);
    assert!(
        profile.description.instructions.as_ref().unwrap().len() < 2048,
        "clients cut it there"
    );
    let has = profile.interfaces;
    assert!(has.tools && has.resources && has.prompts && has.completion && !has.notifications);
}

/// Whatever comes as arguments, the component answers: a trap would be a way to throw the instance away from outside.
#[test]
fn hostile_arguments_are_refused_without_a_trap() {
    let data = tempfile::tempdir().unwrap();
    let mut sandbox = open(data.path(), Limits::default());
    let long = "x".repeat(100_000);
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let hostile = [
        "{}".to_owned(),
        r#"{"text":null,"query":null}"#.to_owned(),
        r#"{"text":"","query":""}"#.to_owned(),
        r#"{"text":"\u0000","query":"\u0000"}"#.to_owned(),
        r#"{"text":"\u202e\ufeff\u200b","query":"\u202e\ufeff\u200b","k":-9223372036854775808}"#
            .to_owned(),
        r#"{"query":"x","k":1e308}"#.to_owned(),
        r#"{"query":"x","k":-1e308}"#.to_owned(),
        r#"{"query":"x","k":0.999999999999999999}"#.to_owned(),
        r#"{"query":"x","since":"9999-12-31","until":"-009999-01-01"}"#.to_owned(),
        r#"{"query":"x","since":"2026-02-30T99:99:99Z"}"#.to_owned(),
        r#"{"query":"((((\"AND OR NOT *:* /.*/ \\","k":50}"#.to_owned(),
        r#"{"text":"x","importance":1e-400}"#.to_owned(),
        r#"{"text":"x","importance":-0.0}"#.to_owned(),
        r#"{"text":"x","importance":10.000000000000002}"#.to_owned(),
        r#"{"text":"x","tags":[[],{}]}"#.to_owned(),
        r#"{"text":"x","tags":["",""," "]}"#.to_owned(),
        r#"{"text":"x","kind":"Episodic"}"#.to_owned(),
        r#"{"text":"x","__proto__":{}}"#.to_owned(),
        format!(r#"{{"text":"{long}","query":"{long}"}}"#),
        format!(r#"{{"text":"x","tags":["{long}"]}}"#),
        format!(r#"{{"text":"x","{long}":1}}"#),
        format!(r#"{{"text":{deep},"query":{deep}}}"#),
        "[]".to_owned(),
        "7".to_owned(),
    ];
    for arguments in &hostile {
        for tool in ["memory_save", "memory_search"] {
            let result = call(&mut sandbox, tool, arguments).unwrap();
            let shown = &arguments[..arguments.len().min(80)];
            let ContentBody::Text(text) = &result.content[0].body else {
                panic!("{tool} {shown}")
            };
            assert!(text.len() < 1000, "{tool} {shown} repeats what it refuses");
            assert_eq!(
                result.structured_content.is_none(),
                result.is_error,
                "{tool} {shown}"
            );
        }
    }
    // Of all of these only one is a memory: it has letters, after a fashion.
    let Outcome::Resources(page) =
        make(&mut sandbox, &Call::ListResources { cursor: None }).unwrap()
    else {
        panic!("a list")
    };
    let titles: Vec<_> = page
        .resources
        .iter()
        .map(|resource| resource.title.clone().unwrap())
        .collect();
    assert!(page.resources.len() <= 1, "{titles:?}");
    assert!(matches!(
        call(&mut sandbox, "memory_save", "{"),
        Err(CallError::Refused(Error::InvalidParams(_)))
    ));
    assert!(matches!(
        call(&mut sandbox, "no_such", "{}"),
        Err(CallError::Refused(Error::UnknownName(_)))
    ));
}

#[test]
fn uris_that_lead_nowhere_come_back_as_they_were() {
    let data = tempfile::tempdir().unwrap();
    let mut sandbox = open(data.path(), Limits::default());
    text(&mut sandbox, "memory_save", &json!({"text": "x"})).unwrap();
    let long = format!("memory://entries/m{}", "9".repeat(100_000));
    for uri in [
        "",
        "memory://entries/../m0",
        "memory://entries/m0\0",
        "memory://entries/m1",
        "file:///data/journal.jsonl",
        long.as_str(),
    ] {
        match read(&mut sandbox, uri) {
            Err(CallError::Refused(Error::UnknownResource(unknown))) => {
                assert_eq!(unknown.uri, uri);
                assert!(unknown.reason.len() < 500);
            }
            other => panic!("{uri:.80}: {other:?}"),
        }
    }
}

#[test]
fn a_memory_that_may_have_no_memory_says_so() {
    let data = tempfile::tempdir().unwrap();
    // What it needs at start is less than what it needs to know a quarter of a million words.
    let mut roomy = open(data.path(), Limits::default());
    for number in 0..800 {
        let words: Vec<String> = (0..300).map(|word| format!("w{number}x{word}")).collect();
        let save = json!({"text": words.join(" ")});
        text(&mut roomy, "memory_save", &save).unwrap();
    }
    drop(roomy);
    let cap = 4 << 20;
    let mut cramped = open(
        data.path(),
        Limits {
            max_memory: cap,
            ..Limits::default()
        },
    );
    for _ in 0..2 {
        match call(&mut cramped, "memory_search", r#"{"query":"w1x1"}"#) {
            Err(CallError::Abnormal(Abnormal::Memory(bytes))) => assert_eq!(bytes, cap),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_cancelled_call_is_not_made() {
    let data = tempfile::tempdir().unwrap();
    let mut sandbox = open(
        data.path(),
        Limits {
            timeout: Duration::from_secs(600),
            ..Limits::default()
        },
    );
    let cancel = Cancel::default();
    cancel.cancel();
    let save = Call::CallTool {
        name: "memory_save".to_owned(),
        arguments: r#"{"text":"cancelled"}"#.to_owned(),
        resume: None,
    };
    let outcome = sandbox.call(&context(), &save, &cancel, None);
    assert!(
        matches!(outcome, Err(CallError::Abnormal(Abnormal::Cancelled))),
        "{outcome:?}"
    );
    assert_eq!(
        text(
            &mut sandbox,
            "memory_search",
            &json!({"query": "cancelled"})
        )
        .unwrap(),
        "No matching memories."
    );
}

#[test]
fn without_a_directory_the_memory_says_what_to_do() {
    let mut sandbox = Sandbox::new(&MEMORY, SandboxConfig::default()).unwrap();
    let refusal = text(&mut sandbox, "memory_save", &json!({"text": "x"})).unwrap_err();
    assert!(refusal.contains("--data-dir"), "{refusal}");
    let Err(CallError::Refused(Error::Internal(_))) =
        make(&mut sandbox, &Call::ListResources { cursor: None })
    else {
        panic!("a list of what can't be read")
    };
}

/// The memory has to run wherever components run, and to have nothing to reach out with.
#[test]
fn the_memory_imports_wasi_only_and_no_network() {
    let (engine, component) = compiled();
    let component = component.component_type();
    let mut imports = Vec::new();
    for (name, _) in component.imports(engine) {
        let (name, version) = name.split_once('@').unwrap();
        assert!(version.starts_with("0.2."), "{name}@{version}");
        imports.push(name.to_owned());
    }
    imports.sort_unstable();
    assert_eq!(
        imports,
        [
            "wasi:cli/environment",
            "wasi:cli/exit",
            "wasi:cli/stderr",
            "wasi:cli/stdin",
            "wasi:cli/stdout",
            "wasi:cli/terminal-input",
            "wasi:cli/terminal-output",
            "wasi:cli/terminal-stderr",
            "wasi:cli/terminal-stdin",
            "wasi:cli/terminal-stdout",
            "wasi:clocks/monotonic-clock",
            "wasi:clocks/wall-clock",
            "wasi:filesystem/preopens",
            "wasi:filesystem/types",
            "wasi:io/error",
            "wasi:io/poll",
            "wasi:io/streams",
            "wasi:random/insecure-seed",
            "wasi:random/random",
        ]
    );

    let mut exports: Vec<_> = component
        .exports(engine)
        .map(|(name, _)| name.to_owned())
        .collect();
    exports.sort_unstable();
    let expected = [
        "mcp/changes",
        "mcp/completion",
        "mcp/maintenance",
        "mcp/prompts",
        "mcp/resources",
        "mcp/server",
        "mcp/tools",
        "mcp/types",
        "memory/admin",
    ]
    .map(|name| format!("personal-memory:{name}@0.1.0"));
    assert_eq!(exports, expected);
}
