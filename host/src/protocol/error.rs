//! MCP's own error codes, and how a failed call becomes an error response.

use serde_json::{Value, json};

use crate::convert::{self, Unusable};
use crate::jsonrpc::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, shorten};
use crate::sandbox::bindings::personal_memory::mcp::types::{
    ClientCapabilities, CustomError, Error as ComponentError,
};
use crate::sandbox::{Call, CallError};
use crate::version::Version;

/// Nothing is served under this URI; before 2026-07-28, which uses [`INVALID_PARAMS`] for it and forbids this code.
const RESOURCE_NOT_FOUND: i64 = -32002;
/// The request needs a capability that the client does not declare (2026-07-28).
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The request names a revision that is not served per request (2026-07-28).
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// The response to a call that gave no outcome. The one place where that is decided.
pub(super) fn from_call(error: CallError, call: &Call, version: Version) -> RpcError {
    match error {
        CallError::Refused(refusal) => from_component(refusal, call, version),
        CallError::Abnormal(abnormal) => RpcError::new(INTERNAL_ERROR, abnormal.to_string()),
        CallError::Busy(reason) | CallError::Unavailable(reason) => {
            RpcError::new(INTERNAL_ERROR, reason)
        }
        CallError::NotExported(interface) => {
            RpcError::new(METHOD_NOT_FOUND, format!("this server has no {interface}"))
        }
    }
}

fn from_component(error: ComponentError, call: &Call, version: Version) -> RpcError {
    match error {
        ComponentError::UnknownName(name) => {
            RpcError::invalid_params(format!("unknown {}: {}", call.noun(), shorten(&name)))
        }
        ComponentError::InvalidParams(reason) => RpcError::invalid_params(reason),
        ComponentError::UnknownResource(unknown) => {
            let code = if version.is_modern() {
                INVALID_PARAMS
            } else {
                RESOURCE_NOT_FOUND
            };
            RpcError::new(code, format!("resource not found: {}", unknown.reason))
                .with_data(json!({"uri": unknown.uri}))
        }
        ComponentError::Other(error) => custom(error),
        ComponentError::MissingCapability(missing) => missing_capability(missing, version),
        ComponentError::Internal(reason) => RpcError::new(INTERNAL_ERROR, reason),
    }
}

/// The response when a component returned something that is no MCP. The details are for its author, in the log.
pub(super) fn from_unusable(Unusable(reason): Unusable) -> RpcError {
    tracing::error!("the component returned something unusable: {reason}");
    RpcError::new(
        INTERNAL_ERROR,
        "the component returned something that can't be sent; standard error has the details",
    )
}

/// The response to a request that names a revision which is not served per request.
pub(super) fn unsupported_version(requested: &str) -> RpcError {
    let supported = Version::MODERN.map(Version::as_str);
    RpcError::new(
        UNSUPPORTED_VERSION,
        format!("unsupported protocol version: {}", shorten(requested)),
    )
    .with_data(json!({"supported": supported, "requested": requested}))
}

pub(super) fn method_not_found(method: &str) -> RpcError {
    RpcError::new(
        METHOD_NOT_FOUND,
        format!("method not found: {}", shorten(method)),
    )
}

/// The response to a request for which the client would have to be able to do more.
pub(super) fn missing_capability(missing: ClientCapabilities, version: Version) -> RpcError {
    undeclared(convert::declaration(missing), version)
}

/// The same, with what the client would have to declare.
pub(super) fn undeclared(required: Value, version: Version) -> RpcError {
    let message = format!("the client does not declare what this needs: {required}");
    if version.is_modern() {
        RpcError::new(MISSING_CLIENT_CAPABILITY, message)
            .with_data(json!({"requiredCapabilities": required}))
    } else {
        RpcError::invalid_params(message)
    }
}

/// An error in a component's own words. Malformed data is left out: the error itself is worth more.
fn custom(error: CustomError) -> RpcError {
    let data = error.data.and_then(|data| serde_json::from_str(&data).ok());
    RpcError {
        code: error.code.into(),
        message: error.message,
        data,
    }
}
