//! What a transport's envelope repeats of the message in it, and whether that is true (specification 2026-07-28,
//! "Request Metadata"): HTTP has headers, standard input has none.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::parameters::Parameters;
use super::{error, methods, scope};
use crate::jsonrpc::{Incoming, Message, Request, RpcError, shorten};
use crate::version::Version;

/// The envelope says something else than the message, or lacks what it must have (2026-07-28).
pub const HEADER_MISMATCH: i64 = -32020;

/// Which member of its parameters a method is routed by.
const NAMES: [(&str, &str); 3] = [
    ("tools/call", "name"),
    ("prompts/get", "name"),
    ("resources/read", "uri"),
];

/// What an envelope says.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    /// The protocol version.
    pub version: Field,
    /// The method.
    pub method: Field,
    /// What the method is about: a tool, a prompt, a resource.
    pub name: Field,
    /// Arguments of a tool that its schema has repeated, by the lower-case names that the schema gives them.
    pub parameters: HashMap<String, Field>,
}

/// One entry of an envelope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Field {
    /// There is none.
    #[default]
    Absent,
    /// Decoded.
    Text(String),
    /// It can't be read; says why.
    Malformed(&'static str),
}

impl Envelope {
    /// Whether a message belongs to the modern era: because the envelope says so, or the message itself.
    ///
    /// # Errors
    ///
    /// The envelope names a version that is not served.
    pub fn is_modern(&self, incoming: &Incoming) -> Result<bool, RpcError> {
        let from_body = match incoming {
            Incoming::Single(Message::Request(request)) => {
                scope::claims_modern(&request.method, meta(request))
            }
            _ => false,
        };
        Ok(from_body || self.version()?.is_some_and(Version::is_modern))
    }

    /// The version that the envelope names, if it names one.
    ///
    /// # Errors
    ///
    /// It is not served, or can't be read.
    pub fn version(&self) -> Result<Option<Version>, RpcError> {
        match &self.version {
            Field::Absent => Ok(None),
            Field::Text(text) => match Version::parse(text) {
                Some(version) => Ok(Some(version)),
                None => Err(error::unsupported_version(text)),
            },
            Field::Malformed(why) => Err(mismatch(format!(
                "the header for the protocol version can't be used: {why}"
            ))),
        }
    }

    /// Checks the envelope of a modern request.
    ///
    /// # Errors
    ///
    /// The request does not say what each modern request must say, or the envelope does not say the same.
    pub fn check(&self, request: &Request, parameters: &Parameters) -> Result<(), RpcError> {
        let meta = meta(request);
        if methods::is_handshake(&request.method) {
            return Err(error::method_not_found(&request.method));
        }
        match scope::claimed_version(meta) {
            Some(claimed) => same("protocol version", &self.version, claimed)?,
            // What is missing is said by whoever reads the claim.
            None => return scope::read_claim(meta).map(|_| ()),
        }
        scope::read_claim(meta)?;
        same("method", &self.method, &request.method)?;
        let named = NAMES.iter().find(|(method, _)| request.method == *method);
        if let Some(name) = named.and_then(|(_, member)| request.params.get(*member)?.as_str()) {
            same("name", &self.name, name)?;
        }
        parameters.check(request, self)
    }
}

fn meta(request: &Request) -> Option<&Map<String, Value>> {
    request.params.get("_meta").and_then(Value::as_object)
}

/// Checks that an entry of the envelope says the same as the message.
fn same(what: &str, field: &Field, expected: &str) -> Result<(), RpcError> {
    match field {
        Field::Text(text) if text == expected => Ok(()),
        Field::Text(text) => Err(mismatch(format!(
            "the header says {what} {}, the message says {}",
            shorten(text),
            shorten(expected)
        ))),
        Field::Absent => Err(mismatch(format!(
            "the header for the {what} is missing; the message says {}",
            shorten(expected)
        ))),
        Field::Malformed(why) => Err(mismatch(format!(
            "the header for the {what} can't be used: {why}"
        ))),
    }
}

pub(super) fn mismatch(message: String) -> RpcError {
    RpcError::new(HEADER_MISMATCH, message)
}
