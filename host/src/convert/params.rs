//! From a request's JSON to the contract's types.

use serde_json::{Map, Value};

use crate::jsonrpc::{RpcError, shorten};
use crate::sandbox::Call;
use crate::sandbox::bindings::exports::personal_memory::mcp::completion::{Argument, Reference};
use crate::sandbox::bindings::personal_memory::mcp::types::{
    ClientCapabilities, Implementation, LogLevel,
};
use crate::version::Version;

/// Parameters of a request.
pub type Params = Map<String, Value>;

/// A list: at most a cursor, which is any string, the empty one too.
pub fn page(params: &Params, call: impl FnOnce(Option<String>) -> Call) -> Result<Call, RpcError> {
    let cursor = if params.contains_key("cursor") {
        Some(string(params, "cursor")?)
    } else {
        None
    };
    Ok(call(cursor))
}

/// `tools/call`
pub fn tool_call(params: &Params) -> Result<Call, RpcError> {
    let arguments = Value::Object(optional_object(params, "arguments")?).to_string();
    Ok(Call::CallTool {
        name: string(params, "name")?,
        arguments,
        resume: None,
    })
}

/// `resources/read`
pub fn resource_read(params: &Params) -> Result<Call, RpcError> {
    Ok(Call::ReadResource {
        uri: uri(params)?,
        resume: None,
    })
}

/// The resource that a request is about.
pub fn uri(params: &Params) -> Result<String, RpcError> {
    string(params, "uri")
}

/// `prompts/get`
pub fn prompt_get(params: &Params) -> Result<Call, RpcError> {
    let arguments = strings(&optional_object(params, "arguments")?, "arguments")?;
    Ok(Call::GetPrompt {
        name: string(params, "name")?,
        arguments,
        resume: None,
    })
}

/// `completion/complete`
pub fn completion(params: &Params) -> Result<Call, RpcError> {
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
    let resolved = optional_object(&optional_object(params, "context")?, "arguments")?;
    let resolved = strings(&resolved, "context.arguments")?;
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
    let got = shorten(&got.to_string());
    RpcError::invalid_params(format!("`{name}` must be {wanted}, not {got}"))
}

/// Reads `clientInfo`.
pub fn client(info: &Value) -> Option<Implementation> {
    let text = |name: &str| Some(info.get(name)?.as_str()?.to_owned());
    Some(Implementation {
        name: text("name")?,
        version: text("version")?,
    })
}

/// Where a capability stands in the object that a client declares.
const CAPABILITIES: [(ClientCapabilities, &[&str]); 5] = [
    (
        ClientCapabilities::ELICITATION_FORM,
        &["elicitation", "form"],
    ),
    (ClientCapabilities::ELICITATION_URL, &["elicitation", "url"]),
    (ClientCapabilities::SAMPLING, &["sampling"]),
    (ClientCapabilities::SAMPLING_TOOLS, &["sampling", "tools"]),
    (ClientCapabilities::ROOTS, &["roots"]),
];

/// Reads the capabilities that a client declares, as far as the contract has a word for them and the revision that it
/// speaks knows of them.
pub fn client_capabilities(declared: &Value, version: Version) -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::empty();
    for (capability, path) in CAPABILITIES {
        if path
            .iter()
            .try_fold(declared, |value, name| value.get(name))
            .is_some()
        {
            capabilities |= capability;
        }
    }
    // `elicitation: {}` was all that could be said before forms got a sibling, so it means forms.
    if declared
        .get("elicitation")
        .is_some_and(|modes| modes.as_object().is_some_and(Map::is_empty))
    {
        capabilities |= ClientCapabilities::ELICITATION_FORM;
    }
    if !version.has_forms() {
        capabilities &= !ClientCapabilities::ELICITATION_FORM;
    }
    if !version.has_visits_and_sampling_tools() {
        capabilities &= !(ClientCapabilities::ELICITATION_URL | ClientCapabilities::SAMPLING_TOOLS);
    }
    capabilities
}

/// The object that a client would have to declare: the inverse of [`client_capabilities`].
pub fn declaration(capabilities: ClientCapabilities) -> Value {
    let mut declared = Value::Object(Map::new());
    for (capability, path) in CAPABILITIES {
        if capabilities.contains(capability) {
            let place = path
                .iter()
                .fold(&mut declared, |value, name| &mut value[name]);
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
        }
    }
    declared
}

/// RFC 5424's levels, least severe first.
const LEVELS: [(LogLevel, &str); 8] = [
    (LogLevel::Debug, "debug"),
    (LogLevel::Info, "info"),
    (LogLevel::Notice, "notice"),
    (LogLevel::Warning, "warning"),
    (LogLevel::Error, "error"),
    (LogLevel::Critical, "critical"),
    (LogLevel::Alert, "alert"),
    (LogLevel::Emergency, "emergency"),
];

/// Reads a log level.
pub fn log_level(level: &Value) -> Result<LogLevel, RpcError> {
    let found = LEVELS.iter().find(|(_, name)| level == name);
    found.map(|(level, _)| *level).ok_or_else(|| {
        let names = LEVELS.map(|(_, name)| name).join(", ");
        let got = shorten(&level.to_string());
        RpcError::invalid_params(format!("the log level must be one of {names}, not {got}"))
    })
}

/// A log level's name, if it is at least as severe as `wanted`.
pub fn log_level_name(level: LogLevel, wanted: LogLevel) -> Option<&'static str> {
    let wanted_or_worse = LEVELS.iter().skip_while(|(other, _)| *other != wanted);
    wanted_or_worse
        .into_iter()
        .find(|(other, _)| *other == level)
        .map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn capabilities_are_those_that_are_declared() {
        let form = ClientCapabilities::ELICITATION_FORM;
        let url = ClientCapabilities::ELICITATION_URL;
        let sampling = ClientCapabilities::SAMPLING;
        let cases = [
            (json!({}), ClientCapabilities::empty()),
            (json!({"elicitation": {}}), form),
            (json!({"elicitation": {"url": {}}}), url),
            (json!({"elicitation": {"url": {}, "form": {}}}), url | form),
            (json!({"sampling": {}}), sampling),
            (
                json!({"sampling": {"tools": {}}, "x": 1}),
                sampling | ClientCapabilities::SAMPLING_TOOLS,
            ),
            (
                json!({"roots": {"listChanged": true}}),
                ClientCapabilities::ROOTS,
            ),
            (json!("nonsense"), ClientCapabilities::empty()),
        ];
        for (declared, capabilities) in cases {
            let read = client_capabilities(&declared, Version::LATEST_LEGACY);
            assert_eq!(read, capabilities, "{declared}");
        }
    }

    #[test]
    fn capabilities_that_a_revision_does_not_know_are_not_there() {
        let all =
            json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}});
        let first = ClientCapabilities::SAMPLING | ClientCapabilities::ROOTS;
        let with_forms = first | ClientCapabilities::ELICITATION_FORM;
        for (version, capabilities) in [
            (Version::V2024_11_05, first),
            (Version::V2025_03_26, first),
            (Version::V2025_06_18, with_forms),
            (Version::V2025_11_25, ClientCapabilities::all()),
            (Version::V2026_07_28, ClientCapabilities::all()),
        ] {
            assert_eq!(
                client_capabilities(&all, version),
                capabilities,
                "{version:?}"
            );
        }
    }

    #[test]
    fn what_is_missing_is_told_as_it_would_be_declared() {
        for bits in 0..32 {
            let mut wanted = ClientCapabilities::empty();
            for (position, (capability, _)) in CAPABILITIES.into_iter().enumerate() {
                if bits & (1 << position) != 0 {
                    wanted |= capability;
                }
            }
            let told = client_capabilities(&declaration(wanted), Version::LATEST_LEGACY);
            assert!(
                told.contains(wanted),
                "{wanted:?} is told as {}",
                declaration(wanted)
            );
        }
        let url = declaration(ClientCapabilities::ELICITATION_URL);
        assert_eq!(url, json!({"elicitation": {"url": {}}}));
    }

    #[test]
    fn a_log_message_needs_the_wanted_severity() {
        assert_eq!(
            log_level_name(LogLevel::Error, LogLevel::Warning),
            Some("error")
        );
        assert_eq!(
            log_level_name(LogLevel::Warning, LogLevel::Warning),
            Some("warning")
        );
        assert_eq!(log_level_name(LogLevel::Info, LogLevel::Warning), None);
    }
}
