//! From a request's JSON to the contract's types.

use serde_json::Value;

use crate::sandbox::bindings::personal_memory::mcp::types::{ClientCapabilities, LogLevel};

/// Reads the capabilities that a client declares. Unknown ones are none of our business.
pub fn client_capabilities(declared: &Value) -> ClientCapabilities {
    let has = |path: &str| declared.pointer(path).is_some();
    let mut capabilities = ClientCapabilities::empty();
    // `elicitation: {}` was all that could be said before forms got a sibling, so it means forms.
    let elicitation = declared.get("elicitation").and_then(Value::as_object);
    if elicitation.is_some_and(|modes| modes.contains_key("form") || !modes.contains_key("url")) {
        capabilities |= ClientCapabilities::ELICITATION_FORM;
    }
    for (path, capability) in [
        ("/elicitation/url", ClientCapabilities::ELICITATION_URL),
        ("/sampling", ClientCapabilities::SAMPLING),
        ("/sampling/tools", ClientCapabilities::SAMPLING_TOOLS),
        ("/roots", ClientCapabilities::ROOTS),
    ] {
        if has(path) {
            capabilities |= capability;
        }
    }
    capabilities
}

/// Reads a log level. `None` for anything that is not one of the eight.
pub fn log_level(level: &Value) -> Option<LogLevel> {
    Some(match level.as_str()? {
        "debug" => LogLevel::Debug,
        "info" => LogLevel::Info,
        "notice" => LogLevel::Notice,
        "warning" => LogLevel::Warning,
        "error" => LogLevel::Error,
        "critical" => LogLevel::Critical,
        "alert" => LogLevel::Alert,
        "emergency" => LogLevel::Emergency,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn capabilities_are_those_that_are_declared() {
        let cases = [
            (json!({}), ClientCapabilities::empty()),
            (
                json!({"elicitation": {}}),
                ClientCapabilities::ELICITATION_FORM,
            ),
            (
                json!({"elicitation": {"url": {}}}),
                ClientCapabilities::ELICITATION_URL,
            ),
            (
                json!({"elicitation": {"url": {}, "form": {}}}),
                ClientCapabilities::ELICITATION_URL | ClientCapabilities::ELICITATION_FORM,
            ),
            (
                json!({"sampling": {"tools": {}}, "roots": {"listChanged": true}, "x": 1}),
                ClientCapabilities::SAMPLING
                    | ClientCapabilities::SAMPLING_TOOLS
                    | ClientCapabilities::ROOTS,
            ),
            (json!("nonsense"), ClientCapabilities::empty()),
        ];
        for (declared, capabilities) in cases {
            assert_eq!(client_capabilities(&declared), capabilities, "{declared}");
        }
    }
}
