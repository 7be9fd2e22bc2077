//! Opening a conversation: `initialize` in the legacy era, `server/discover` in the modern one.

use serde_json::{Map, Value, json};

use super::scope::{Client, Handshake, Scope};
use crate::convert;
use crate::jsonrpc::RpcError;
use crate::sandbox::{Lists, Profile};
use crate::version::Version;

/// How long a client may rely on what it discovered, in milliseconds. It changes when the program is replaced, and then
/// the process is a new one; an hour is long enough to be worth caching.
const DISCOVERY_TTL_MS: u64 = 3_600_000;

/// Answers `initialize`. The handshake is the connection's state from now on.
///
/// A version that is not served is no error: the client gets the latest one with a handshake and may hang up.
pub(super) fn initialize(
    params: &Map<String, Value>,
    profile: &Profile,
) -> Result<(Handshake, Value), RpcError> {
    let Some(requested) = params.get("protocolVersion").and_then(Value::as_str) else {
        return Err(RpcError::invalid_params(
            "`protocolVersion` is missing or not a string",
        ));
    };
    let version = match Version::parse(requested) {
        Some(version) if !version.is_modern() => version,
        _ => Version::LATEST_LEGACY,
    };
    let declared = params.get("capabilities").and_then(Value::as_object);
    let client = Client {
        info: params.get("clientInfo").and_then(convert::client),
        declared: declared.cloned().unwrap_or_default(),
    };
    let handshake = Handshake {
        version,
        client,
        log_level: None,
        is_ready: false,
    };
    let mut result = json!({
        "protocolVersion": version.as_str(),
        "capabilities": capabilities_of(profile, version),
        "serverInfo": convert::implementation(&profile.description, version),
    });
    if let Some(instructions) = &profile.description.instructions {
        result["instructions"] = instructions.as_str().into();
    }
    Ok((handshake, result))
}

/// Answers `server/discover`.
pub(super) fn discover(profile: &Profile, scope: &Scope) -> Value {
    let mut result = json!({
        "supportedVersions": Version::MODERN.map(Version::as_str),
        "capabilities": capabilities_of(profile, scope.version),
    });
    if let Some(instructions) = &profile.description.instructions {
        result["instructions"] = instructions.as_str().into();
    }
    result["ttlMs"] = DISCOVERY_TTL_MS.into();
    result["cacheScope"] = "public".into();
    result
}

/// What works is what is advertised, and the other way round.
fn capabilities_of(profile: &Profile, version: Version) -> Value {
    let interfaces = profile.interfaces;
    let mut capabilities = Map::new();
    let mut declare = |name: &str, present: bool| {
        if present {
            capabilities.insert(name.to_owned(), json!({}));
        }
    };
    declare(
        "completions",
        interfaces.completion && version.has_completions(),
    );
    declare("logging", interfaces.notifications);
    declare("prompts", interfaces.prompts);
    declare("resources", interfaces.resources);
    declare("tools", interfaces.tools);
    for (name, list) in [
        ("tools", Lists::TOOLS),
        ("prompts", Lists::PROMPTS),
        ("resources", Lists::RESOURCES),
    ] {
        let changes = interfaces.changes && profile.changing_lists.contains(list);
        if let Some(capability) = capabilities.get_mut(name).filter(|_| changes) {
            capability["listChanged"] = true.into();
        }
    }
    if let Some(resources) = capabilities
        .get_mut("resources")
        .filter(|_| interfaces.changes)
    {
        resources["subscribe"] = true.into();
    }
    // A component that gets its own description wrong is not worth refusing to start for.
    let extensions = profile.description.extensions.as_deref();
    if let Some(extensions @ Value::Object(_)) = extensions
        .filter(|_| version.is_modern())
        .and_then(|text| serde_json::from_str(text).ok())
    {
        capabilities.insert("extensions".to_owned(), extensions);
    }
    Value::Object(capabilities)
}
