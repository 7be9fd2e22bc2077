//! Which era a request belongs to and what is known about its client: decided anew for every message.

use serde_json::{Map, Value};

use super::error;
use super::version::Version;
use crate::convert;
use crate::jsonrpc::{RpcError, shorten};
use crate::sandbox::bindings::personal_memory::mcp::types::{
    ClientCapabilities, Implementation, LogLevel,
};

/// Keys that the protocol reserves for itself in `_meta`. One of them in a request is a claim to be modern.
const RESERVED: &str = "io.modelcontextprotocol/";

/// Methods that exist only in the modern era, so that naming one is a claim to be modern as well.
const MODERN_ONLY: [&str; 2] = ["server/discover", "subscriptions/listen"];

/// What holds for one request.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) version: Version,
    pub(super) client: Option<Implementation>,
    pub(super) capabilities: ClientCapabilities,
    pub(super) log_level: Option<LogLevel>,
    /// A string or an integer, to be sent back as it came.
    pub(super) progress_token: Option<Value>,
}

/// What a legacy connection remembers from its handshake.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    pub(super) version: Version,
    pub(super) client: Option<Implementation>,
    pub(super) capabilities: ClientCapabilities,
}

impl Default for Handshake {
    /// What is assumed of a legacy client that has not shaken hands.
    fn default() -> Handshake {
        Handshake {
            version: Version::LATEST_LEGACY,
            client: None,
            capabilities: ClientCapabilities::empty(),
        }
    }
}

impl Scope {
    /// The scope of a request: modern if it claims to be, what the handshake said otherwise.
    pub(super) fn of(
        method: &str,
        params: &Map<String, Value>,
        handshake: &Handshake,
        log_level: Option<LogLevel>,
    ) -> Result<Scope, RpcError> {
        let meta = params.get("_meta").and_then(Value::as_object);
        let claims = |meta: &Map<String, Value>| meta.keys().any(|key| key.starts_with(RESERVED));
        let progress_token = meta
            .and_then(|meta| meta.get("progressToken"))
            .filter(|token| is_token(token))
            .cloned();
        if MODERN_ONLY.contains(&method) || meta.is_some_and(claims) {
            let nothing = Map::new();
            return Scope::claimed(meta.unwrap_or(&nothing), progress_token);
        }
        Ok(Scope {
            version: handshake.version,
            client: handshake.client.clone(),
            capabilities: handshake.capabilities,
            log_level,
            progress_token,
        })
    }

    /// The scope that a modern request claims for itself.
    fn claimed(
        meta: &Map<String, Value>,
        progress_token: Option<Value>,
    ) -> Result<Scope, RpcError> {
        let key = |name: &str| meta.get(&format!("{RESERVED}{name}"));
        let malformed = |name: &str, wanted: &str| {
            Err(RpcError::invalid_params(format!(
                "`_meta` must have `{RESERVED}{name}`, {wanted}"
            )))
        };
        let Some(requested) = key("protocolVersion").and_then(Value::as_str) else {
            return malformed("protocolVersion", "a string");
        };
        let version = match Version::parse(requested) {
            Some(version) if version.is_modern() => version,
            _ => return Err(error::unsupported_version(requested)),
        };
        let Some(capabilities @ Value::Object(_)) = key("clientCapabilities") else {
            return malformed("clientCapabilities", "an object");
        };
        let client = match key("clientInfo") {
            Some(info) => match implementation(info) {
                Some(client) => Some(client),
                None => {
                    return malformed(
                        "clientInfo",
                        "if at all, with the strings `name` and `version`",
                    );
                }
            },
            None => None,
        };
        let log_level = match key("logLevel") {
            Some(level) => Some(parse_log_level(level)?),
            None => None,
        };
        let capabilities = convert::client_capabilities(capabilities);
        Ok(Scope {
            version,
            client,
            capabilities,
            log_level,
            progress_token,
        })
    }
}

/// Reads `clientInfo`.
pub(super) fn implementation(info: &Value) -> Option<Implementation> {
    let text = |name: &str| Some(info.get(name)?.as_str()?.to_owned());
    Some(Implementation {
        name: text("name")?,
        version: text("version")?,
    })
}

/// Reads a log level.
pub(super) fn parse_log_level(level: &Value) -> Result<LogLevel, RpcError> {
    convert::log_level(level).ok_or_else(|| {
        let levels = "debug, info, notice, warning, error, critical, alert, emergency";
        RpcError::invalid_params(format!(
            "the log level must be one of {levels}, not {}",
            shorten(&level.to_string())
        ))
    })
}

fn is_token(token: &Value) -> bool {
    token.is_string() || token.is_i64() || token.is_u64()
}
