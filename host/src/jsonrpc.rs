//! The JSON-RPC 2.0 envelope: what a line is, ids, error codes. Knows no method names.
//!
//! Two deviations from JSON-RPC that MCP makes: an id is never `null`, and `params` is always an object.

mod id;
mod parse;

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

pub use self::id::Id;
pub use self::parse::parse;

/// Invalid JSON, or JSON that is no message at all.
pub const PARSE_ERROR: i64 = -32700;
/// JSON, but not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// No such method, or not in this era, or not with this component.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The method exists and can't work with these parameters.
pub const INVALID_PARAMS: i64 = -32602;
/// It failed on our side.
pub const INTERNAL_ERROR: i64 = -32603;

/// Something that wants an answer.
#[derive(Debug)]
pub struct Request {
    /// Echoed in the response.
    pub id: Id,
    /// Not checked against anything here.
    pub method: String,
    /// Absent parameters are empty ones.
    pub params: Map<String, Value>,
}

/// Something that is never answered.
#[derive(Debug)]
pub struct Notification {
    /// Not checked against anything here.
    pub method: String,
    /// Unread: nobody could be told what is wrong with them.
    params: Option<Box<RawValue>>,
}

impl Notification {
    /// The id under this name in the parameters, if there is one.
    pub fn id_at(&self, name: &str) -> Option<Id> {
        let params: HashMap<String, &RawValue> =
            serde_json::from_str(self.params.as_ref()?.get()).ok()?;
        Id::from_raw(params.get(name)?)
    }
}

/// The other side's answer to a request of ours.
#[derive(Debug)]
pub struct Reply {
    /// Of the request. `None`: it could not be read, so it is nobody's.
    pub id: Option<Id>,
    /// The result as it was written, any JSON value; or the error, as far as it could be read.
    pub outcome: Result<Box<RawValue>, RpcError>,
}

/// One message from the other side.
#[derive(Debug)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Is never answered.
    Notification(Notification),
    /// Answers a request of ours.
    Response(Reply),
    /// Is none of these.
    Malformed {
        /// The id, where it could be read.
        id: Option<Id>,
        /// What is wrong.
        error: RpcError,
    },
}

/// The content of one line.
#[derive(Debug)]
pub enum Incoming {
    /// An object, or what was taken for one.
    Single(Message),
    /// An array of objects; only one protocol revision has those. Never empty.
    Batch(Vec<Message>),
}

/// The `error` member of a response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// Which kind.
    pub code: i64,
    /// For people: names the offending value and the bound.
    pub message: String,
    /// For programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds data.
    pub fn with_data(self, data: Value) -> RpcError {
        RpcError {
            data: Some(data),
            ..self
        }
    }

    /// [`INVALID_PARAMS`] with a message.
    pub fn invalid_params(message: impl Into<String>) -> RpcError {
        RpcError::new(INVALID_PARAMS, message)
    }
}

/// An answer: exactly one of `result` and `error`.
#[derive(Debug, Serialize)]
pub struct Response {
    jsonrpc: &'static str,
    /// Left out where the outer option is `None`, `null` where the inner one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Option<Id>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

impl Response {
    /// The answer to a request.
    pub fn new(id: Id, outcome: Result<impl Serialize, RpcError>) -> Response {
        let (result, error) = match outcome.and_then(|result| written(&result)) {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Response {
            jsonrpc: "2.0",
            id: Some(Some(id)),
            result,
            error,
        }
    }

    /// The answer to something whose id could not be read: with `"id": null` as JSON-RPC wants it, or without an `id`
    /// as MCP has it since 2025-11-25.
    pub fn to_unknown(error: RpcError, null_id: bool) -> Response {
        Response {
            jsonrpc: "2.0",
            id: null_id.then_some(None),
            result: None,
            error: Some(error),
        }
    }

    /// The code of the error, if it is one.
    pub fn error_code(&self) -> Option<i64> {
        self.error.as_ref().map(|error| error.code)
    }
}

/// A message of ours that is not answered.
#[derive(Debug, Serialize)]
pub struct OutgoingNotification {
    jsonrpc: &'static str,
    method: &'static str,
    params: Box<RawValue>,
}

impl OutgoingNotification {
    /// A notification with parameters.
    ///
    /// # Errors
    ///
    /// They can't be written as JSON.
    pub fn new(
        method: &'static str,
        params: impl Serialize,
    ) -> Result<OutgoingNotification, RpcError> {
        Ok(OutgoingNotification {
            jsonrpc: "2.0",
            method,
            params: written(&params)?,
        })
    }
}

/// A message of ours that wants an answer.
#[derive(Debug, Serialize)]
pub struct OutgoingRequest {
    jsonrpc: &'static str,
    id: Id,
    method: Cow<'static, str>,
    params: Map<String, Value>,
}

impl OutgoingRequest {
    /// A request. Its answer is a [`Reply`] with this id.
    pub fn new(id: Id, method: Cow<'static, str>, params: Map<String, Value>) -> OutgoingRequest {
        OutgoingRequest {
            jsonrpc: "2.0",
            id,
            method,
            params,
        }
    }
}

/// Written at once, and not by way of a [`Value`], which has no place for the integers that an [`Id`] may be.
fn written(value: &impl Serialize) -> Result<Box<RawValue>, RpcError> {
    to_raw_value(value).map_err(|error| {
        RpcError::new(
            INTERNAL_ERROR,
            format!("the message can't be written: {error}"),
        )
    })
}

/// Anything that we send.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Outgoing {
    /// The answer to a request.
    Response(Response),
    /// The answers to a batch. Never empty: a batch of notifications has no answer at all.
    Batch(Vec<Response>),
    /// Not answered.
    Notification(OutgoingNotification),
    /// Answered by the other side.
    Request(OutgoingRequest),
}

/// Enough of a value to recognise it by.
const SHOWN_CHARS: usize = 60;

/// Cuts text that came from outside, so that an error message stays short whatever caused it.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
