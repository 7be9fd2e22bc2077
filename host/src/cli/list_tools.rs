//! `--list-tools`: what a model is offered, for a person to read.

use std::io::{self, Write};

use anyhow::{Result, bail};
use serde_json::Value;

use super::options::Options;
use crate::jsonrpc;
use crate::protocol::{Session, Step};

pub(super) fn run(options: &Options) -> Result<()> {
    let mut sandbox = options.sandbox_without_grants()?;
    // Through the same door as any client.
    let mut session = Session::new(sandbox.profile().clone().into(), "list-tools".to_owned());
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let response = match session.receive(jsonrpc::parse(request)) {
        Step::Call(pending) => {
            let outcome = sandbox.call(&pending.context, &pending.call, &pending.cancel, None);
            pending.finish(outcome)
        }
        Step::Reply(response) => Some(response),
        Step::Nothing | Step::Batch(_) => None,
    };
    let response = serde_json::to_value(response)?;
    let Some(tools) = response.pointer("/result/tools").and_then(Value::as_array) else {
        bail!(
            "the component offers no tools: {}",
            response["error"]["message"]
        );
    };
    let mut output = io::stdout().lock();
    for tool in tools {
        print_tool(&mut output, tool)?;
    }
    Ok(())
}

fn print_tool(output: &mut impl Write, tool: &Value) -> io::Result<()> {
    let text = |name: &str| tool[name].as_str().unwrap_or_default();
    writeln!(output, "{}  {}", text("name"), text("title"))?;
    for line in text("description").lines() {
        writeln!(output, "    {line}")?;
    }
    let required = |name: &str| {
        tool["inputSchema"]["required"]
            .as_array()
            .is_some_and(|list| list.contains(&name.into()))
    };
    for (name, schema) in tool["inputSchema"]["properties"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let mark = if required(name) { "" } else { " (optional)" };
        writeln!(
            output,
            "    - {name}{mark}: {}",
            schema["description"].as_str().unwrap_or_default()
        )?;
    }
    writeln!(output)
}
