//! Which era a request belongs to and what is known about its client: decided anew for every message.

use serde_json::{Map, Value};

use super::{error, methods};
use crate::convert::{self, Params};
use crate::jsonrpc::RpcError;
use crate::sandbox::bindings::personal_memory::mcp::types::{
    Implementation, LogLevel, RequestContext,
};
use crate::version::Version;

/// Keys that the protocol reserves for itself in `_meta`. One of them in a request is a claim to be modern.
const RESERVED: &str = "io.modelcontextprotocol/";

/// The key in `_meta` that asks for progress, in both eras.
const PROGRESS_TOKEN: &str = "progressToken";

/// What holds for one request.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) version: Version,
    pub(super) client: Client,
    pub(super) log_level: Option<LogLevel>,
    /// A legacy client said that it may be sent requests.
    pub(super) is_ready: bool,
    /// A string or an integer, to be sent back as it came.
    pub(super) progress_token: Option<Value>,
    /// What else is in `_meta`.
    pub(super) meta: Option<Map<String, Value>>,
}

/// What is known of a client.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) info: Option<Implementation>,
    /// The capabilities as they were declared.
    pub(super) declared: Map<String, Value>,
}

/// What a legacy connection remembers.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    pub(super) version: Version,
    pub(super) client: Client,
    /// From `logging/setLevel`.
    pub(super) log_level: Option<LogLevel>,
    /// From `notifications/initialized`.
    pub(super) is_ready: bool,
}

impl Default for Handshake {
    /// What is assumed of a legacy client that has not shaken hands.
    fn default() -> Handshake {
        Handshake {
            version: Version::LATEST_LEGACY,
            client: Client::default(),
            log_level: None,
            is_ready: false,
        }
    }
}

impl Scope {
    /// The scope of a request: modern if it claims to be, what the handshake said otherwise.
    pub(super) fn of(
        method: &str,
        params: &Params,
        handshake: &Handshake,
    ) -> Result<Scope, RpcError> {
        let meta = params.get("_meta").and_then(Value::as_object);
        let (version, client, log_level) = if claims_modern(method, meta) {
            read_claim(meta)?
        } else {
            (
                handshake.version,
                handshake.client.clone(),
                handshake.log_level,
            )
        };
        let rest = meta
            .into_iter()
            .flatten()
            .filter(|(key, _)| !key.starts_with(RESERVED) && *key != PROGRESS_TOKEN);
        let rest: Map<String, Value> = rest
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Ok(Scope {
            version,
            client,
            log_level,
            is_ready: handshake.is_ready,
            progress_token: meta
                .and_then(|meta| meta.get(PROGRESS_TOKEN))
                .filter(|token| is_token(token))
                .cloned(),
            meta: (!rest.is_empty()).then_some(rest),
        })
    }
}

impl Scope {
    /// The scope of what the host wants to know for itself.
    pub(super) fn of_host() -> Scope {
        Scope {
            version: Version::MODERN[0],
            client: Client::default(),
            log_level: None,
            is_ready: false,
            progress_token: None,
            meta: None,
        }
    }

    /// What a component is told about the request. `session` is the connection's id.
    pub(super) fn context(&self, session: &str) -> RequestContext {
        let declared = Value::Object(self.client.declared.clone());
        RequestContext {
            protocol_version: self.version.as_str().to_owned(),
            client: self.client.info.clone(),
            client_capabilities: convert::client_capabilities(&declared, self.version),
            declared_capabilities: declared.to_string(),
            session: session.to_owned(),
            progress: self.progress_token.is_some(),
            log_level: self.log_level,
            meta: self
                .meta
                .clone()
                .map(|meta| Value::Object(meta).to_string()),
            // Known to the sandbox, which sets the deadline.
            deadline_ms: 0,
        }
    }
}

/// Whether a request claims to be modern.
pub(super) fn claims_modern(method: &str, meta: Option<&Map<String, Value>>) -> bool {
    let is_reserved = |meta: &Map<String, Value>| meta.keys().any(|key| key.starts_with(RESERVED));
    methods::is_modern_only(method) || meta.is_some_and(is_reserved)
}

/// The version that a modern request names, if it names any.
pub(super) fn claimed_version(meta: Option<&Map<String, Value>>) -> Option<&str> {
    meta?.get(&format!("{RESERVED}protocolVersion"))?.as_str()
}

/// Reads what a modern request claims for itself.
pub(super) fn read_claim(
    meta: Option<&Map<String, Value>>,
) -> Result<(Version, Client, Option<LogLevel>), RpcError> {
    let key = |name: &str| meta?.get(&format!("{RESERVED}{name}"));
    let malformed = |name: &str, wanted: &str| {
        Err(RpcError::invalid_params(format!(
            "`_meta` must have `{RESERVED}{name}`, {wanted}"
        )))
    };
    let Some(requested) = claimed_version(meta) else {
        return malformed("protocolVersion", "a string");
    };
    let version = match Version::parse(requested) {
        Some(version) if version.is_modern() => version,
        _ => return Err(error::unsupported_version(requested)),
    };
    let Some(declared) = key("clientCapabilities").and_then(Value::as_object) else {
        return malformed("clientCapabilities", "an object");
    };
    let info = match key("clientInfo").map(convert::client) {
        Some(None) => {
            return malformed(
                "clientInfo",
                "if at all, with the strings `name` and `version`",
            );
        }
        info => info.flatten(),
    };
    let log_level = key("logLevel").map(convert::log_level).transpose()?;
    Ok((
        version,
        Client {
            info,
            declared: declared.clone(),
        },
        log_level,
    ))
}

fn is_token(token: &Value) -> bool {
    token.is_string() || token.is_i64() || token.is_u64()
}
