//! `--list-tools`: what a model is offered, for a person to read.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::options::Options;
use crate::jsonrpc::{self, Outgoing, OutgoingNotification};
use crate::protocol::{Finished, Outbox, Session, Step};
use crate::sandbox::Sandbox;

/// Pages that are asked for. A component that says "more" for ever is stopped here.
const MAX_PAGES: u64 = 100;

pub(super) fn run(options: &Options) -> Result<()> {
    let mut sandbox = options.sandbox_without_grants(None)?;
    // Through the same door as any client.
    let service = Arc::new(options.service(&sandbox));
    let mut session = Session::new(service, "list-tools".to_owned());
    let mut output = io::stdout().lock();
    let mut params = json!({});
    for number in 1..=MAX_PAGES {
        let request =
            json!({"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": params});
        let response = answer(&request, &mut session, &mut sandbox)?;
        if let Some(message) = response.pointer("/error/message").and_then(Value::as_str) {
            bail!("the component lists no tools ({message})");
        }
        for tool in response
            .pointer("/result/tools")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            print_tool(&mut output, tool)?;
        }
        match response.pointer("/result/nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return Ok(()),
        }
    }
    bail!("the component's list of tools has more than {MAX_PAGES} pages")
}

fn answer(request: &Value, session: &mut Session, sandbox: &mut Sandbox) -> Result<Value> {
    let outbox: Arc<dyn Outbox> = Arc::new(Nobody);
    let response = match session.receive(jsonrpc::parse(request.to_string().as_bytes()), &outbox) {
        Step::Call(pending) => {
            let outcome = sandbox.call(&pending.context, &pending.call, &pending.cancel, None);
            match pending.finish(outcome) {
                Finished::With(response) => Some(response),
                Finished::Silently | Finished::Wanting(..) | Finished::Asking(_) => None,
            }
        }
        Step::Reply(response) => Some(response),
        Step::Nothing | Step::Batch(_) => None,
    };
    Ok(serde_json::to_value(response)?)
}

/// Nothing is said besides the answer.
struct Nobody;

impl Outbox for Nobody {
    fn send(&self, _: Outgoing) {}
    fn offer(&self, _: OutgoingNotification) {}
}

fn print_tool(output: &mut impl Write, tool: &Value) -> io::Result<()> {
    let text = |name: &str| tool[name].as_str().unwrap_or_default();
    writeln!(output, "{}  {}", text("name"), text("title"))?;
    for line in text("description").lines() {
        writeln!(output, "    {line}")?;
    }
    let required = |name: &str| {
        let names = tool["inputSchema"]["required"].as_array();
        names.is_some_and(|names| names.iter().any(|other| other == name))
    };
    for (name, schema) in tool["inputSchema"]["properties"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let mark = if required(name) { "" } else { " (optional)" };
        writeln!(output, "    - {name}{mark}: {}", describe(schema))?;
    }
    writeln!(output)
}

/// What may be given for an argument, as far as its schema says it in the usual words.
fn describe(schema: &Value) -> String {
    let mut parts = Vec::new();
    if let Some(text) = schema["description"].as_str() {
        parts.push(text.to_owned());
    }
    if let Some(values) = schema["enum"].as_array() {
        parts.push(
            values
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" | "),
        );
    }
    let value = |member: &str| match &schema[member] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    };
    if let (Some(least), Some(most)) = (value("minimum"), value("maximum")) {
        parts.push(format!("from {least} to {most}"));
    }
    parts.extend(value("maxLength").map(|most| format!("up to {most} characters")));
    parts.extend(value("default").map(|default| format!("default {default}")));
    parts.join(", ")
}
