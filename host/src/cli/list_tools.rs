//! `--list-tools`: what a model is offered, for a person to read.

use std::io::{self, Write};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::client::Client;
use super::options::Options;

/// Pages that are asked for. A component that says "more" for ever is stopped here.
const MAX_PAGES: usize = 100;

pub(super) fn run(options: &Options) -> Result<()> {
    let mut sandbox = options.sandbox_without_grants(None)?;
    let mut client = Client::new(&sandbox)?;
    let mut output = io::stdout().lock();
    let mut params = json!({});
    for _ in 0..MAX_PAGES {
        let result = match client.request("tools/list", &params, &mut sandbox, None) {
            Ok(result) => result,
            Err(error) => bail!("the component lists no tools ({error})"),
        };
        for tool in result["tools"].as_array().into_iter().flatten() {
            print_tool(&mut output, tool)?;
        }
        match result.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return Ok(()),
        }
    }
    bail!("the component's list of tools has more than {MAX_PAGES} pages")
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
