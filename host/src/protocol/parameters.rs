//! Arguments of tools that an envelope repeats: those that a tool's schema marks (specification 2026-07-28, "Custom
//! Headers from Tool Parameters").

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::envelope::{Envelope, Field, mismatch};
use super::scope::Scope;
use crate::jsonrpc::{Request, RpcError, shorten};
use crate::sandbox::bindings::exports::personal_memory::mcp::tools::ToolPage;
use crate::sandbox::{Call, Cancel, Outcome, Sandbox};

/// The method that calls a tool.
const CALL: &str = "tools/call";

/// The member of a schema that says under which name an argument is repeated.
const MARK: &str = "x-mcp-header";

/// Pages of tools that are read: far more than clients show, and an end for a list that has none.
const MAX_PAGES: usize = 100;

/// What is known of the tools of a component. Learned from each list of them that goes by.
#[derive(Default)]
pub struct Parameters {
    tools: Mutex<HashMap<String, Arc<[Parameter]>>>,
}

/// One argument that is repeated.
#[derive(Debug, PartialEq, Eq)]
struct Parameter {
    /// In lower case: names in an envelope have no case.
    name: String,
    /// Members of the arguments, from the outermost in.
    path: Vec<String>,
}

impl Parameters {
    /// Asks a component for its tools. What it does not tell is not checked.
    pub fn of(sandbox: &mut Sandbox) -> Parameters {
        let parameters = Parameters::default();
        if !sandbox.profile().interfaces.tools {
            return parameters;
        }
        let context = Scope::of_host().context("");
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let call = Call::ListTools { cursor };
            match sandbox.call(&context, &call, &Cancel::default(), None) {
                Ok(Outcome::Tools(page)) => {
                    parameters.learn(&page);
                    cursor = page.next_cursor;
                }
                Ok(_) => return parameters,
                Err(error) => {
                    tracing::warn!("the tools can't be listed: {error}");
                    return parameters;
                }
            }
            if cursor.is_none() {
                break;
            }
        }
        parameters
    }

    /// Remembers what a page of tools says.
    pub(super) fn learn(&self, page: &ToolPage) {
        for tool in &page.tools {
            let schema = serde_json::from_str(&tool.input_schema).unwrap_or_default();
            let mut marked = Vec::new();
            collect(&schema, &mut Vec::new(), &mut marked);
            self.lock().insert(tool.name.clone(), marked.into());
        }
    }

    /// Checks that an envelope repeats what it must of a request, and nothing else.
    pub(super) fn check(&self, request: &Request, envelope: &Envelope) -> Result<(), RpcError> {
        let name = match request.params.get("name") {
            Some(Value::String(name)) if request.method == CALL => name,
            _ => return Ok(()),
        };
        let marked = self.lock().get(name).cloned();
        for parameter in marked.iter().flat_map(|marked| marked.iter()) {
            let argument = parameter.argument(request.params.get("arguments"));
            let field = envelope.parameters.get(&parameter.name);
            parameter.compare(field.unwrap_or(&Field::Absent), argument)?;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<[Parameter]>>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Finds what is marked below a schema, by way of `properties` alone: elsewhere a mark has no meaning, and clients leave
/// out the tool.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Parameter>) {
    let nothing = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.unwrap_or(&nothing) {
        path.push(name.clone());
        if let Some(mark) = schema.get(MARK).and_then(Value::as_str) {
            found.push(Parameter {
                name: mark.to_ascii_lowercase(),
                path: path.clone(),
            });
        }
        collect(schema, path, found);
        path.pop();
    }
}

impl Parameter {
    /// The argument, where there is one.
    fn argument<'a>(&self, arguments: Option<&'a Value>) -> Option<&'a Value> {
        let value = self
            .path
            .iter()
            .try_fold(arguments?, |value, member| value.get(member))?;
        (!value.is_null()).then_some(value)
    }

    fn compare(&self, field: &Field, argument: Option<&Value>) -> Result<(), RpcError> {
        let name = &self.name;
        let refuse = |what: String| {
            Err(mismatch(format!(
                "the header for the argument {name} {what}"
            )))
        };
        match (field, argument) {
            (Field::Absent, None) => Ok(()),
            // Not what the schema says: for the tool to refuse.
            (_, Some(Value::Array(_) | Value::Object(_) | Value::Null)) => Ok(()),
            (Field::Malformed(why), _) => refuse(format!("can't be used: {why}")),
            (Field::Absent, Some(argument)) => refuse(format!(
                "is missing; the message says {}",
                shorten(&argument.to_string())
            )),
            (Field::Text(text), None) => refuse(format!(
                "says {}, the message has no such argument",
                shorten(text)
            )),
            (Field::Text(text), Some(argument)) if says(text, argument) => Ok(()),
            (Field::Text(text), Some(argument)) => refuse(format!(
                "says {}, the message says {}",
                shorten(text),
                shorten(&argument.to_string())
            )),
        }
    }
}

/// Whether a text stands for an argument. Numbers are compared as such: `42.0` is `42`.
fn says(text: &str, argument: &Value) -> bool {
    match argument {
        Value::String(argument) => text == argument,
        Value::Bool(argument) => text == if *argument { "true" } else { "false" },
        Value::Number(argument) => {
            text == argument.to_string()
                || text
                    .parse()
                    .is_ok_and(|number: f64| Some(number) == argument.as_f64())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn marked(schema: &Value) -> Vec<Parameter> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found);
        found
    }

    #[test]
    fn marks_count_where_only_properties_lead_to_them() {
        let schema = json!({
            "type": "object",
            "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "where": {"type": "object", "properties": {"zone": {"type": "integer", "x-mcp-header": "Zone"}}},
                "list": {"type": "array", "items": {"properties": {"a": {"x-mcp-header": "No"}}}},
                "x-mcp-header": {"type": "string"},
            },
            "oneOf": [{"properties": {"b": {"x-mcp-header": "No"}}}],
        });
        let found: Vec<(String, String)> = marked(&schema)
            .into_iter()
            .map(|parameter| (parameter.name, parameter.path.join(".")))
            .collect();
        let expected = [("region", "region"), ("zone", "where.zone")];
        assert_eq!(
            found,
            expected.map(|(name, path)| (name.to_owned(), path.to_owned()))
        );
    }

    #[test]
    fn an_argument_and_its_repetition_agree_or_are_both_absent() {
        let parameter = Parameter {
            name: "region".to_owned(),
            path: vec!["where".to_owned(), "region".to_owned()],
        };
        let text = |text: &str| Field::Text(text.to_owned());
        for (field, argument, agree) in [
            (text("eu"), json!("eu"), true),
            (text("EU"), json!("eu"), false),
            (text(""), json!(""), true),
            (text("42"), json!(42), true),
            (text("42.0"), json!(42), true),
            (text("-7"), json!(-7), true),
            (text("42"), json!("42"), true),
            (text("43"), json!(42), false),
            (text("x"), json!(42), false),
            (text("true"), json!(true), true),
            (text("True"), json!(true), false),
            (Field::Absent, json!(null), true),
            (Field::Absent, json!("eu"), false),
            (text("null"), json!(null), false),
            (Field::Malformed("why"), json!("eu"), false),
            (text("anything"), json!(["eu"]), true),
        ] {
            let arguments = json!({"where": {"region": argument}});
            let compared = parameter.compare(&field, parameter.argument(Some(&arguments)));
            assert_eq!(compared.is_ok(), agree, "{field:?} {argument}");
        }
        for arguments in [None, Some(&json!({})), Some(&json!({"where": 7}))] {
            assert_eq!(parameter.argument(arguments), None);
        }
    }
}
