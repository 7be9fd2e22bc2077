//! The table of methods: what each is called, in which era it exists, what a component must have for it, and how its
//! parameters become a call.

use serde_json::{Map, Value};

use super::version::Version;
use crate::jsonrpc::{RpcError, shorten};
use crate::sandbox::bindings::exports::personal_memory::mcp::completion::{Argument, Reference};
use crate::sandbox::{Call, Interfaces};

/// Parameters of a request.
type Params = Map<String, Value>;

/// One row of the table.
pub(super) struct Method {
    name: &'static str,
    era: Era,
    /// Whether a component has what the method needs; without it the method does not exist.
    available: fn(&Interfaces) -> bool,
    pub(super) action: Action,
}

#[derive(PartialEq)]
enum Era {
    Legacy,
    Modern,
    Both,
}

/// What a method does.
#[derive(Clone, Copy)]
pub(super) enum Action {
    Initialize,
    Discover,
    Ping,
    SetLogLevel,
    /// Calls the component.
    Call(fn(&Params) -> Result<Call, RpcError>),
}

const METHODS: &[Method] = &[
    row("initialize", Era::Legacy, |_| true, Action::Initialize),
    row("server/discover", Era::Modern, |_| true, Action::Discover),
    row("ping", Era::Legacy, |_| true, Action::Ping),
    row(
        "logging/setLevel",
        Era::Legacy,
        |has| has.notifications,
        Action::SetLogLevel,
    ),
    row(
        "tools/list",
        Era::Both,
        |has| has.tools,
        Action::Call(list_tools),
    ),
    row(
        "tools/call",
        Era::Both,
        |has| has.tools,
        Action::Call(call_tool),
    ),
    row(
        "resources/list",
        Era::Both,
        |has| has.resources,
        Action::Call(list_resources),
    ),
    row(
        "resources/templates/list",
        Era::Both,
        |has| has.resources,
        Action::Call(list_templates),
    ),
    row(
        "resources/read",
        Era::Both,
        |has| has.resources,
        Action::Call(read_resource),
    ),
    row(
        "prompts/list",
        Era::Both,
        |has| has.prompts,
        Action::Call(list_prompts),
    ),
    row(
        "prompts/get",
        Era::Both,
        |has| has.prompts,
        Action::Call(get_prompt),
    ),
    row(
        "completion/complete",
        Era::Both,
        |has| has.completion,
        Action::Call(complete),
    ),
];

const fn row(
    name: &'static str,
    era: Era,
    available: fn(&Interfaces) -> bool,
    action: Action,
) -> Method {
    Method {
        name,
        era,
        available,
        action,
    }
}

/// The method with this name, if it exists for this revision and this component.
pub(super) fn find(
    name: &str,
    version: Version,
    interfaces: &Interfaces,
) -> Option<&'static Method> {
    let other_era = if version.is_modern() {
        Era::Legacy
    } else {
        Era::Modern
    };
    METHODS.iter().find(|method| {
        method.name == name && method.era != other_era && (method.available)(interfaces)
    })
}

/// Whether a method is the legacy handshake.
pub(super) fn opens_a_connection(name: &str) -> bool {
    METHODS
        .iter()
        .any(|method| method.name == name && matches!(method.action, Action::Initialize))
}

fn list_tools(params: &Params) -> Result<Call, RpcError> {
    Ok(Call::ListTools {
        cursor: optional_string(params, "cursor")?,
    })
}

fn call_tool(params: &Params) -> Result<Call, RpcError> {
    let arguments = optional_object(params, "arguments")?;
    let arguments = serde_json::to_string(&arguments)
        .map_err(|error| RpcError::invalid_params(error.to_string()))?;
    Ok(Call::CallTool {
        name: string(params, "name")?,
        arguments,
        resume: None,
    })
}

fn list_resources(params: &Params) -> Result<Call, RpcError> {
    Ok(Call::ListResources {
        cursor: optional_string(params, "cursor")?,
    })
}

fn list_templates(params: &Params) -> Result<Call, RpcError> {
    Ok(Call::ListTemplates {
        cursor: optional_string(params, "cursor")?,
    })
}

fn read_resource(params: &Params) -> Result<Call, RpcError> {
    Ok(Call::ReadResource {
        uri: string(params, "uri")?,
        resume: None,
    })
}

fn list_prompts(params: &Params) -> Result<Call, RpcError> {
    Ok(Call::ListPrompts {
        cursor: optional_string(params, "cursor")?,
    })
}

fn get_prompt(params: &Params) -> Result<Call, RpcError> {
    let arguments = strings(&optional_object(params, "arguments")?, "arguments")?;
    Ok(Call::GetPrompt {
        name: string(params, "name")?,
        arguments,
        resume: None,
    })
}

fn complete(params: &Params) -> Result<Call, RpcError> {
    let reference = object(params, "ref")?;
    let reference = match reference.get("type").and_then(Value::as_str) {
        Some("ref/prompt") => Reference::Prompt(string(reference, "name")?),
        Some("ref/resource") => Reference::Resource(string(reference, "uri")?),
        _ => {
            return Err(RpcError::invalid_params(
                "`ref.type` must be `ref/prompt` or `ref/resource`",
            ));
        }
    };
    let argument = object(params, "argument")?;
    let argument = Argument {
        name: string(argument, "name")?,
        value: string(argument, "value")?,
    };
    let resolved = strings(
        &optional_object(&optional_object(params, "context")?, "arguments")?,
        "context.arguments",
    )?;
    Ok(Call::Complete {
        reference,
        argument,
        resolved,
    })
}

fn string(params: &Params, name: &str) -> Result<String, RpcError> {
    match params.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(wrong_type(name, "a string", other)),
        None => Err(RpcError::invalid_params(format!("`{name}` is missing"))),
    }
}

fn optional_string(params: &Params, name: &str) -> Result<Option<String>, RpcError> {
    if params.contains_key(name) {
        string(params, name).map(Some)
    } else {
        Ok(None)
    }
}

fn object<'a>(params: &'a Params, name: &str) -> Result<&'a Params, RpcError> {
    match params.get(name) {
        Some(Value::Object(object)) => Ok(object),
        Some(other) => Err(wrong_type(name, "an object", other)),
        None => Err(RpcError::invalid_params(format!("`{name}` is missing"))),
    }
}

/// Absent is the same as empty.
fn optional_object(params: &Params, name: &str) -> Result<Params, RpcError> {
    if params.contains_key(name) {
        object(params, name).cloned()
    } else {
        Ok(Params::new())
    }
}

/// An object whose values are all strings.
fn strings(object: &Params, what: &str) -> Result<Vec<(String, String)>, RpcError> {
    let string = |(name, value): (&String, &Value)| match value {
        Value::String(text) => Ok((name.clone(), text.clone())),
        other => Err(wrong_type(
            &format!("{what}.{}", shorten(name)),
            "a string",
            other,
        )),
    };
    object.iter().map(string).collect()
}

fn wrong_type(name: &str, wanted: &str, got: &Value) -> RpcError {
    RpcError::invalid_params(format!(
        "`{name}` must be {wanted}, not {}",
        shorten(&got.to_string())
    ))
}
