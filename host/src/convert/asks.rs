//! What a component asks the client, as the parameters of a request, and what the client answers.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Object, Unusable, json_object};
use crate::jsonrpc::{RpcError, shorten};
use crate::sandbox::bindings::personal_memory::mcp::types::{
    ClientCapabilities, Given, InputRequest,
};
use crate::version::Version;

/// The parameters of the request that asks for this.
pub fn question(request: &InputRequest, version: Version) -> Result<Map<String, Value>, Unusable> {
    match request {
        // Without `mode`, which revisions before 2025-11-25 don't know: it is a form then in all of them.
        InputRequest::ElicitForm(form) => {
            let schema = json_object(&form.requested_schema, "the schema of a form")?;
            Ok(Object::default()
                .with("message", form.message.clone())
                .with("requestedSchema", schema)
                .0)
        }
        // A request like the others. The error -32042, which 2025-11-25 has for it too, can't carry on with the call, and
        // later revisions forbid it.
        InputRequest::ElicitUrl(visit) => {
            let id = visit.elicitation_id.clone();
            Ok(Object::default()
                .with("mode", "url")
                .with("message", visit.message.clone())
                .with("url", visit.url.clone())
                .with_some("elicitationId", (!version.is_modern()).then_some(id))
                .0)
        }
        InputRequest::Sample(params) => json_object(params, "a request for sampling"),
        InputRequest::ListRoots => Ok(Map::new()),
        InputRequest::Other(custom) => json_object(&custom.params, "a request to the client"),
    }
}

/// What a client must declare to be asked this. Nothing for requests that the contract has no word for.
pub fn required(request: &InputRequest, params: &Map<String, Value>) -> ClientCapabilities {
    match request {
        InputRequest::ElicitForm(_) => ClientCapabilities::ELICITATION_FORM,
        InputRequest::ElicitUrl(_) => ClientCapabilities::ELICITATION_URL,
        InputRequest::Sample(_) if params.contains_key("tools") => {
            ClientCapabilities::SAMPLING | ClientCapabilities::SAMPLING_TOOLS
        }
        InputRequest::Sample(_) => ClientCapabilities::SAMPLING,
        InputRequest::ListRoots => ClientCapabilities::ROOTS,
        InputRequest::Other(_) => ClientCapabilities::empty(),
    }
}

/// What a client answered: its result object as it was written, or why there is none.
pub fn given(outcome: Result<Box<RawValue>, RpcError>) -> Given {
    match outcome {
        Ok(result) if result.get().starts_with('{') => Given::Input(result.get().to_owned()),
        Ok(result) => Given::Failed(format!(
            "the client's answer is not an object but {}",
            shorten(result.get())
        )),
        Err(error) => Given::Failed(format!(
            "the client answers with error {}: {}",
            error.code,
            shorten(&error.message)
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sandbox::bindings::personal_memory::mcp::types::{CustomRequest, Form, UrlVisit};

    fn asked(request: &InputRequest, version: Version) -> Value {
        Value::Object(question(request, version).unwrap())
    }

    #[test]
    fn questions_are_asked_as_the_revision_has_them() {
        let form = InputRequest::ElicitForm(Form {
            message: "sure?".to_owned(),
            requested_schema: r#"{"type":"object"}"#.to_owned(),
        });
        let expected = json!({"message": "sure?", "requestedSchema": {"type": "object"}});
        let visit = InputRequest::ElicitUrl(UrlVisit {
            message: "go".to_owned(),
            url: "https://example.org/".to_owned(),
            elicitation_id: "e1".to_owned(),
        });
        let page = json!({"mode": "url", "message": "go", "url": "https://example.org/"});
        let mut named = page.clone();
        named["elicitationId"] = "e1".into();
        for (version, page) in [(Version::V2025_11_25, named), (Version::V2026_07_28, page)] {
            assert_eq!(asked(&form, version), expected);
            assert_eq!(asked(&visit, version), page);
            assert_eq!(asked(&InputRequest::ListRoots, version), json!({}));
        }
    }

    #[test]
    fn what_is_no_object_is_not_asked() {
        for request in [
            InputRequest::Sample("[]".to_owned()),
            InputRequest::Other(CustomRequest {
                method: "x/y".to_owned(),
                params: "7".to_owned(),
            }),
            InputRequest::ElicitForm(Form {
                message: String::new(),
                requested_schema: "{".to_owned(),
            }),
        ] {
            assert!(question(&request, Version::LATEST_LEGACY).is_err());
        }
    }

    #[test]
    fn a_model_with_tools_is_more_than_a_model() {
        let wanted = |params: Value| {
            let request = InputRequest::Sample(params.to_string());
            required(&request, params.as_object().unwrap())
        };
        let plain = ClientCapabilities::SAMPLING;
        assert_eq!(wanted(json!({"messages": []})), plain);
        let both = plain | ClientCapabilities::SAMPLING_TOOLS;
        assert_eq!(wanted(json!({"messages": [], "tools": []})), both);
    }

    #[test]
    fn an_answer_is_an_object_or_the_reason_why_there_is_none() {
        let raw = |text: &str| Ok(RawValue::from_string(text.to_owned()).unwrap());
        let reason = |outcome| match given(outcome) {
            Given::Failed(reason) => reason,
            other => panic!("{other:?}"),
        };
        assert!(matches!(given(raw(r#"{"a": 1}"#)), Given::Input(text) if text == r#"{"a": 1}"#));
        assert!(reason(raw("[]")).ends_with("[]"));
        let refused = RpcError::new(-1, "no ".repeat(1000));
        let reason = reason(Err(refused));
        assert!(
            reason.contains("-1: no no") && reason.len() < 200,
            "{reason}"
        );
    }
}
